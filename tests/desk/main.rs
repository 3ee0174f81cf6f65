//! The whole program by letter: what arrives, what is sent, and what the ledgers contain afterwards.

mod absences;
mod accept;
mod addresses;
mod attempts;
mod audit;
mod backup;
mod bounds;
mod budgets;
mod chain;
mod challenge;
mod commands;
mod crowd;
mod desk;
mod digest;
mod dossier;
#[path = "../support/doubt.rs"]
mod doubt;
mod gm;
mod gm_acts;
mod gms;
mod house;
mod letters;
mod machines;
mod manual;
mod names;
mod one_letter;
mod outage;
mod parts;
mod people;
mod play;
mod positions;
mod proof;
mod queues;
#[path = "../support/random.rs"]
mod random;
mod reading;
mod schedule;
mod settings;
mod shuffled;
mod spam;
mod strangers;
mod texts;
mod time;
mod trouble;
mod unproven;
mod upkeep;

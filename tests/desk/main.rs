//! The whole program by letter: what comes in, what goes out, and what is in the book afterwards.

mod audit;
mod backup;
mod chain;
mod challenge;
mod commands;
mod crowd;
mod desk;
mod dossier;
mod gm;
mod house;
mod letters;
mod manual;
mod names;
mod outage;
mod people;
mod play;
mod positions;
mod proof;
mod schedule;
mod shuffled;
mod strangers;
mod time;
mod trouble;

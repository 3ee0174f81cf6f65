//! The whole program by letter: what comes in, what goes out, and what is in the book afterwards.

mod audit;
mod backup;
mod challenge;
mod desk;
mod dossier;
mod gm;
mod house;
mod letters;
mod play;
mod proof;
mod time;

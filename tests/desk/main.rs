//! The whole program by letter: incoming and outgoing letters, and the ledgers that result.

mod correspondents;
#[path = "../support/doubt.rs"]
mod doubt;
mod events;
mod fog;
mod golden;
mod links;
mod pages;
mod positions;
#[path = "../support/referee.rs"]
mod referee;
mod screen;
mod site;

/// Incoming letters: their senders, their answers and their order.
mod door {
    mod addresses;
    pub mod attempts;
    mod copies;
    mod crowd;
    mod items;
    mod machines;
    mod manual;
    mod old;
    mod proof;
    mod queues;
    mod senders;
    mod shuffled;
    mod spam;
    mod strangers;
    mod unproven;
    mod writers;
}

/// Letters of players about their matches.
mod seat {
    mod absences;
    pub mod almost_orders;
    mod clauses;
    mod commands;
    mod conditions;
    mod firm;
    mod meant;
    mod offers;
    mod one_letter;
    mod own_words;
    pub mod parts;
    mod short_forms;
    mod understood;
    mod wishes;
}

/// Letters sent: their number and their contents.
mod outbox {
    mod board_links;
    mod boards;
    mod bounds;
    mod budgets;
    mod pins;
    mod returned;
    mod stale;
    mod texts;
    mod trouble;
}

/// Matches: how they begin, and how they continue if a player vanishes.
mod matches {
    mod applicants;
    mod challenge;
    mod chance;
    mod names;
    mod next;
    mod ratings;
    pub mod vanished;
}

/// Players, their settings and their addresses.
mod people {
    pub mod addresses;
    mod forgotten;
    mod players;
    mod settings;
}

/// The GMs: their news and their acts.
mod gm {
    mod accept;
    mod acts;
    mod alarms;
    mod day;
    mod digest;
    mod fog;
    mod grammar;
    mod instructions;
    mod late;
    mod month;
    mod several;
    mod suggested;
    mod unproven;
    mod unread;
}

/// Deadlines, and clocks that fail.
mod clock {
    mod bank;
    mod clocks;
    mod deadlines;
    mod doubted;
    mod outage;
    mod schedule;
    mod zones;
}

/// The house as a player.
mod house {
    mod by_letter;
    pub mod levels;
    mod turns;
    mod whole;
}

/// Matches between two people.
mod play {
    mod filings;
    mod memory;
    mod setups;
    mod twins;
    mod wording;
}

/// The findings of the audit, and its repeated rulings.
mod audit {
    mod after_end;
    mod books;
    mod chain;
    mod columns;
    pub mod database;
    mod derived;
    mod frozen;
    mod holders;
    mod named;
    mod schema;
    pub mod tamper_ways;
    pub mod tampered;
    mod versions;
    pub mod wording;
}

/// Dossiers, and how others check them.
mod dossier {
    pub mod account;
    pub mod check_program;
    pub mod contents;
}

/// Maintenance: backups and disk space.
mod upkeep {
    mod backup;
    mod rejected;
    mod space;
}

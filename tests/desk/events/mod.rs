//! Events by letter: announcing, entering, opening, playing and closing them.

mod bad_input;
mod book;
mod cup;
mod gms;
mod league;
mod people;
mod replaced;
mod restored;
mod terms;
mod year;

use fogpost::club::events::event::Event;
use fogpost::ledger::book::BookEntry;
use fogpost::referee::Match;

use crate::referee::{ANN, BO, GM, Referee, Sent};

pub const CY: &str = "cy@players.example";
pub const DI: &str = "di@players.example";
pub const EVE: &str = "eve@players.example";

/// The plan of a small league of Quad.
pub const LEAGUE: &str = "id = \"EV-SPRING\"\nname = \"Spring League\"\ngame = \"quad\"\nformat = \"league\"\n\
                          section_size = 3\nopens = 2026-05-10\nseason_days = 30\ndays = 3";

/// A club whose people are registered by the GM and known by their answers.
pub fn club(config: &str) -> Referee {
    peopled(Referee::with(config))
}

fn peopled(referee: Referee) -> Referee {
    let people = [(ANN, "Ann"), (BO, "Bo"), (CY, "Cy"), (DI, "Di"), (EVE, "Eve")];
    let lines: Vec<String> =
        people.iter().map(|(address, name)| format!("GM PLAYER ADD {address} {name}")).collect();
    gm(&referee, &lines.join("\n"));
    people.iter().for_each(|(address, _)| referee.answer_for(address));
    referee
}

/// Sends instructions of the GM, and returns the answer.
pub fn gm(referee: &Referee, lines: &str) -> Sent {
    if referee.all_to(GM).is_empty() {
        referee.write(GM, "GM LIST");
    }
    let last = referee.all_to(GM).pop().expect("a letter with the GM's token");
    referee.sent_to(GM);
    referee.reply(GM, &last, lines);
    referee.sent_to(GM).into_iter().find(|sent| sent.in_reply_to.is_some()).expect("an answer")
}

/// Announces an event by this plan, and lets these people enter.
pub fn announced(referee: &Referee, plan: &str, entrants: &[&str]) {
    gm(referee, &format!("GM EVENT NEW\n{plan}\nEND")).says("Players enter with the line ENTER EV-");
    let id = plan.split('"').nth(1).expect("an id");
    for address in entrants {
        referee.write(address, &format!("ENTER {id}"));
        referee.last_to(address).says("You are in");
    }
}

/// The book of an event.
pub fn book(referee: &Referee, id: &str) -> Vec<BookEntry> {
    let rows = referee.block_on(referee.office().store.book(id)).expect("the store answers");
    rows.iter().map(|row| serde_json::from_str(&row.json).expect("an entry")).collect()
}

pub fn event(referee: &Referee, id: &str) -> Event {
    Event::fold(&book(referee, id), &|player| player).expect("a book")
}

/// The matches of the running season, or of the last one.
pub fn matches(referee: &Referee, id: &str) -> Vec<Match> {
    let event = event(referee, id);
    let games = event.season().expect("a season").games.clone();
    games.iter().filter_map(|game| game.match_id.clone()).map(|id| referee.find(&id)).collect()
}

/// A text on one line.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The letters to somebody that contain these words.
pub fn with_words(referee: &Referee, address: &str, words: &str) -> Vec<Sent> {
    referee.all_to(address).into_iter().filter(|sent| flat(&sent.text).contains(words)).collect()
}

/// The last letter to somebody about a match.
#[track_caller]
pub fn about(referee: &Referee, address: &str, id: &str) -> Sent {
    let found = referee.all_to(address).into_iter().rfind(|sent| sent.subject.contains(id));
    found.unwrap_or_else(|| panic!("no letter to {address} about {id}"))
}

pub fn address_of(name: &str) -> String {
    format!("{}@players.example", name.to_lowercase())
}

/// Plays a match of Quad until each has filed, then lets this side resign.
pub fn play_until_resigned(referee: &Referee, game_match: &Match, loser: fogpost::game::Seat) {
    use fogpost::game::Seat;
    let reader = |seat: Seat| address_of(&game_match.players[seat]);
    let first = reader(Seat::First);
    referee.reply(&first, &about(referee, &first, &game_match.id), "MARBLE E5");
    let second = reader(Seat::Second);
    referee.reply(&second, &about(referee, &second, &game_match.id), "MARBLE F6");
    let loser = reader(loser);
    referee.reply(&loser, &about(referee, &loser, &game_match.id), "RESIGN CONFIRM");
    // Results of the same instant would cause all ratings to be recomputed.
    referee.advance(1);
}

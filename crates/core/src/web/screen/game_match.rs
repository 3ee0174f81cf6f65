//! The page of a match: its status, a timeline of its rulings, and the acts of a GM.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::PageFrame;
use super::agenda::AboutMatch;
use crate::game::{BySeat, Seat};
use crate::ledger::{Cause, Entry, EntryCause, Fact};
use crate::referee::{Match, Stage};
use crate::report::TemplateError;

/// Maximum rulings that a page shows.
const SHOWN: usize = 40;

/// Everything that the page of a match shows.
pub struct MatchRows {
    pub game_match: Match,
    pub about: AboutMatch,
    pub ended_at: Option<DateTime<Utc>>,
    /// The numbers of the players; `None` for the house.
    pub players: BySeat<Option<String>>,
    /// The entries of its ledger, and our letters.
    pub entries: Vec<Entry>,
    pub sent: Vec<Sent>,
    /// The seat whose player the GM is about to answer.
    pub answered: Option<Seat>,
}

/// One of our letters about the match.
#[derive(Clone, Debug)]
pub struct Sent {
    pub at: DateTime<Utc>,
    pub kind: String,
    pub seat: Option<Seat>,
    pub status: &'static str,
}

/// A ruling in the timeline.
#[derive(Serialize)]
struct TimelineRuling {
    at: String,
    /// The cause, in words.
    by: String,
    facts: Vec<String>,
    letters: Vec<String>,
}

/// Returns the page of a match.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn page(frame: &PageFrame<'_>, rows: &MatchRows) -> Result<String, TemplateError> {
    let MatchRows { game_match, about, .. } = rows;
    let overview = game_match.overview();
    let rulings = timeline(frame, rows);
    let seats: Vec<Value> = Seat::BOTH.into_iter().map(|seat| seat_facts(rows, seat)).collect();
    let options: Vec<String> =
        overview.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let page = context! {
        about => Serde(about), game => game_match.game.name(), stage => game_match.stage.as_str(),
        is_over => game_match.stage == Stage::Over, turn => overview.due.as_ref().map(|due| due.turn), result => overview.result(), options => options.join(", "),
        due => game_match.deadline.map(|at| frame.at(at)), opened => frame.at(game_match.opened_at),
        ended => rows.ended_at.map(|at| frame.at(at)), event => &game_match.terms.event,
        asked => game_match.asked_gm, protest => game_match.protest.map(|seat| &game_match.players[seat]),
        outlook => Serde(about.outlook.as_ref().map(|(_, consequence)| consequence)),
        at => about.outlook.as_ref().map(|(at, _)| frame.at(*at)),
        seats => seats, terms => terms(game_match), more => rulings.len().saturating_sub(SHOWN),
        rulings => Serde(&rulings[..rulings.len().min(SHOWN)]),
        answered => rows.answered.map(Seat::as_str),
    };
    frame.render("screen/match.html", &format!("/match/{}", about.id), page)
}

fn seat_facts(rows: &MatchRows, seat: Seat) -> Value {
    let MatchRows { game_match, about, .. } = rows;
    let absences: Vec<String> = game_match.absences[seat]
        .iter()
        .map(|absence| format!("{} to {}", absence.from, absence.to))
        .collect();
    context! {
        seat => seat.as_str(), name => &game_match.players[seat], number => &rows.players[seat],
        house => &game_match.house[seat], awaited => game_match.seems_awaited(seat), missed => game_match.missed[seat],
        bank => (game_match.terms.bank > 0).then(|| about.bank[seat]),
        bouncing => game_match.bouncing[seat], away => game_match.away[seat], absences => absences,
    }
}

/// Returns the names and values of the terms, with the values from the next turn on where these differ.
fn terms(game_match: &Match) -> Vec<(String, String)> {
    let values = |terms| match serde_json::to_value(terms) {
        Ok(serde_json::Value::Object(values)) => values,
        _ => serde_json::Map::new(),
    };
    let next = game_match.next_terms.as_ref().map(values).unwrap_or_default();
    let word = |value: &serde_json::Value| match value.as_bool() {
        Some(on) => if on { "on" } else { "off" }.to_owned(),
        None => value.to_string().replace(['"', '[', ']'], "").replace(',', ", "),
    };
    let line = |(name, value): (String, serde_json::Value)| {
        let then = next.get(&name).filter(|then| **then != value);
        let then = then.map(|then| format!(", then {}", word(then))).unwrap_or_default();
        (name.replace('_', " "), word(&value) + &then)
    };
    values(&game_match.terms).into_iter().map(line).collect()
}

/// Returns the rulings, the latest first: their causes, the kinds of facts that they recorded, and the
/// letters that followed. While the match runs, only rulings that both sides were told about: the times at
/// which a seat writes are private, and nothing proves who reads the screen.
fn timeline(frame: &PageFrame<'_>, rows: &MatchRows) -> Vec<TimelineRuling> {
    let names = &rows.game_match.players;
    let is_over = rows.game_match.stage == Stage::Over;
    let mut letters: BTreeMap<DateTime<Utc>, Vec<String>> = BTreeMap::new();
    for sent in &rows.sent {
        let to = sent.seat.map_or("GM", |seat| &names[seat]);
        letters.entry(sent.at).or_default().push(format!("{} to {to}, {}", sent.kind, sent.status));
    }
    let mut rulings: Vec<(u64, TimelineRuling)> = Vec::new();
    let mut causes: BTreeMap<u64, &Cause> = BTreeMap::new();
    for entry in &rows.entries {
        let first = match &entry.cause {
            EntryCause::Cause(cause) => {
                causes.insert(entry.seq, cause);
                entry.seq
            }
            EntryCause::Of(first) => *first,
        };
        if !is_over && !is_told_to_both(&entry.fact) {
            continue;
        }
        let fact = words(&entry.fact, names);
        match rulings.last_mut().filter(|(ruling, _)| *ruling == first) {
            Some((_, ruling)) => ruling.facts.push(in_sentence(&fact)),
            None => {
                let letters = letters.remove(&entry.at).unwrap_or_default();
                let (at, by) = (frame.at(entry.at), by(causes.get(&first).copied(), rows));
                rulings.push((first, TimelineRuling { at, by, facts: vec![fact], letters }));
            }
        }
    }
    rulings.into_iter().rev().map(|(_, ruling)| ruling).collect()
}

/// Returns words as they stand within a sentence.
fn in_sentence(words: &str) -> String {
    let mut rest = words.chars();
    rest.next().map_or(String::new(), |first| first.to_lowercase().chain(rest).collect())
}

/// Describes the cause of a ruling.
fn by(cause: Option<&Cause>, rows: &MatchRows) -> String {
    match cause {
        Some(Cause::Letter(_)) if rows.game_match.stage != Stage::Over => "a letter".to_owned(),
        Some(Cause::Letter(letter)) => format!("a letter from {}", rows.game_match.players[letter.seat]),
        Some(Cause::Clock { .. }) => "the clock".to_owned(),
        Some(Cause::Gm { name, .. }) => name.clone(),
        Some(Cause::House { .. }) => "the house".to_owned(),
        Some(Cause::Program { .. }) | None => "the program".to_owned(),
    }
}

/// Returns the name of a fact's kind as a GM reads it.
fn name(fact: &Fact) -> String {
    let name = match fact {
        Fact::GmAsked { .. } => "A GM was asked to decide",
        Fact::GmTold { .. } => "A GM wrote",
        Fact::GmNoted { .. } => "A GM made a note",
        Fact::DeadlineSlid { .. } => "Deadline moved after an outage",
        Fact::DeadlineRestored { .. } | Fact::ZonesChanged { .. } => "Deadline set again",
        Fact::OpeningSentLate { .. } => "Deadline moved after a late letter",
        Fact::HolderPinned { .. } => "Player of a seat recorded",
        Fact::PlayerSet { .. } => "Settings changed",
        _ => return words_of(fact.kind()),
    };
    name.to_owned()
}

/// Returns the words of a name such as `OrdersSealed`.
fn words_of(kind: &str) -> String {
    let mut words = String::new();
    for c in kind.chars() {
        if c.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
            words.push(c.to_ascii_lowercase());
        } else {
            words.push(c);
        }
    }
    words
}

/// Describes the kind of a fact, with its turn and its seat, and reveals nothing else about it.
fn words(fact: &Fact, names: &BySeat<String>) -> String {
    let mut words = name(fact);
    let body = serde_json::to_value(fact).unwrap_or_default();
    if let Some(turn) = body["body"]["turn"].as_u64() {
        words += &if turn == 0 { " (setup)".to_owned() } else { format!(" (turn {turn})") };
    }
    let seat = body["body"]["seat"].as_str().and_then(Seat::parse);
    seat.map_or(words.clone(), |seat| format!("{words}: {}", names[seat]))
}

/// Whether both sides were told about a fact when it was recorded.
fn is_told_to_both(fact: &Fact) -> bool {
    match fact {
        Fact::MatchOpened { .. }
        | Fact::DeadlineSet { .. }
        | Fact::DeadlineMissed { .. }
        | Fact::DeadlineExtended { .. }
        | Fact::DeadlineSlid { .. }
        | Fact::DeadlineRestored { .. }
        | Fact::ZonesChanged { .. }
        | Fact::GmAsked { .. }
        | Fact::TurnAdjudicated { .. }
        | Fact::MatchClosed { .. }
        | Fact::MatchEnded { .. }
        | Fact::MatchPaused { .. }
        | Fact::MatchResumed { .. }
        | Fact::MatchAnnulled { .. }
        | Fact::TermsChanged { .. }
        | Fact::SubstituteOffered { .. }
        | Fact::SubstituteAgreed { .. }
        | Fact::PlayerReplaced { .. }
        | Fact::PlayerRenamed { .. }
        | Fact::GmTold { .. }
        | Fact::CorrectionMade { .. } => true,
        Fact::MailIdentitySet { .. }
        | Fact::OrdersSealed { .. }
        | Fact::OrdersFirm { .. }
        | Fact::OrdersDeferred { .. }
        | Fact::OrdersRefused { .. }
        | Fact::OrdersChecked { .. }
        | Fact::OrdersWithdrawn { .. }
        | Fact::ConditionsSealed { .. }
        | Fact::ConditionsWithdrawn { .. }
        | Fact::ConditionsFollowed { .. }
        | Fact::LetterAnswered { .. }
        | Fact::BankDayTaken { .. }
        | Fact::OpeningSentLate { .. }
        | Fact::ReminderSent { .. }
        | Fact::ReminderPassed { .. }
        | Fact::ReminderLeftToDigest { .. }
        | Fact::DrawOffered { .. }
        | Fact::ExtensionAsked { .. }
        | Fact::AbsenceNoted { .. }
        | Fact::SubstituteAsked { .. }
        | Fact::Protested { .. }
        | Fact::MessagePassed { .. }
        | Fact::MailReturned { .. }
        | Fact::MailRestored { .. }
        | Fact::AwayNoted { .. }
        | Fact::TokenRenewed { .. }
        | Fact::HolderPinned { .. }
        | Fact::PlayerSet { .. }
        | Fact::GmNoted { .. }
        | Fact::Unsealed { .. }
        | Fact::LettersListed {}
        | Fact::Forgotten { .. } => false,
    }
}

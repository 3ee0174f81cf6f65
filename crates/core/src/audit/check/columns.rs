//! Compares the stored columns that lists show with the ledger and the letters.
//!
//! Compares the stored turns that players owed with those that the repeated rulings closed.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::audit::offers::{OpenedMatch, StoredOffer, offers_of_match};
use crate::audit::{Finding, Place};
use crate::club::reliability::OwedTurn;
use crate::game::{BySeat, Seat};
use crate::ledger::{Cause, Entry, Fact, KeptPin, PinnedKind};
use crate::letter::Digest;

/// The columns of a match that lists show.
pub struct StoredColumns {
    /// The columns of the match whose stored contents differ from the values parsed from them.
    pub unread: Vec<&'static str>,
    /// The pins of the match, with their values.
    pub pins: Vec<KeptPin>,
    pub letters: Vec<LetterColumns>,
    /// The offers that are stored as the origin of the match.
    pub offers: Vec<StoredOffer>,
    pub unproven: Vec<UnprovenColumns>,
    /// The turns that its players owed.
    pub turns: Vec<StoredTurn>,
    /// The numbers of its present players.
    pub players: BySeat<i64>,
}

/// The data of a letter as lists show it, and as its bytes contain it.
pub struct LetterColumns {
    pub digest: Digest,
    /// Its sender and its subject, as they are stored.
    pub listed: (String, String),
    /// Its sender and its subject, according to its bytes.
    pub written: (String, String),
    /// The match and the seat for which it is listed.
    pub place: Option<(String, Seat)>,
    /// The reply tokens in it.
    pub tokens: Vec<String>,
}

/// A letter that was not proven at first, as stored.
pub struct UnprovenColumns {
    pub letter: Digest,
    pub confirmed_by: Option<Digest>,
    pub place: (String, Seat),
    pub is_confirmed: bool,
}

/// The values of a match's entries that columns repeat, collected as the entries are checked.
#[derive(Default)]
pub struct LedgerFacts {
    opened: Option<OpenedMatch>,
    /// The letters that the entries rule on.
    letters: BTreeMap<Digest, RuledOn>,
    confirmed: Vec<ConfirmedLetter>,
    pub(super) turns: LedgerTurns,
}

/// A letter that its player confirmed, according to an entry.
struct ConfirmedLetter {
    seq: u64,
    letter: Digest,
    seat: Seat,
    by: Digest,
}

/// The grounds on which a letter was ruled on in a match.
#[derive(Clone, Copy, Default)]
struct RuledOn {
    /// Whether only a part of it was about the match.
    in_part: bool,
    /// Whether it was not proven at first, and its player confirmed it. It is then listed without a seat.
    confirmed: bool,
}

impl LedgerFacts {
    /// Collects the facts of the next entry.
    pub(super) fn note(&mut self, entry: &Entry) {
        if let Fact::MatchOpened { game, options, lot, .. } = &entry.fact {
            let options = options.clone();
            let lot = lot.as_deref().cloned();
            self.opened = Some(OpenedMatch { game: *game, options, lot });
        }
        self.turns.note(entry);
        let Some(Cause::Letter(cause)) = entry.own_cause() else { return };
        let how = RuledOn { in_part: cause.part.is_some(), confirmed: cause.confirmed_by.is_some() };
        self.letters.insert(cause.letter, how);
        if let Some(by) = cause.confirmed_by {
            let letter = cause.letter;
            let seat = cause.seat;
            self.confirmed.push(ConfirmedLetter { seq: entry.seq, letter, seat, by });
        }
    }

    /// Returns the letters that were not proven at first.
    pub fn confirmed(&self) -> Vec<Digest> {
        self.confirmed.iter().map(|confirmed| confirmed.letter).collect()
    }
}

/// Returns the columns that contradict the ledger of this match, or a letter.
pub fn differences(match_id: &str, facts: &LedgerFacts, columns: &StoredColumns) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !columns.unread.is_empty() {
        let what = format!("its columns {} contradict its snapshot", columns.unread.join(", "));
        findings.push(Finding::at(Place::Kept("the match"), what));
    }
    for letter in &columns.letters {
        let Some(how) = facts.letters.get(&letter.digest) else { continue };
        if let Err(what) = check_letter(match_id, *how, &columns.pins, letter) {
            findings.push(Finding::at(Place::Letter(letter.digest), what));
        }
    }
    if let Some(opened) = &facts.opened {
        findings.extend(offers_of_match(opened, &columns.pins, &columns.offers));
    }
    findings.extend(facts.turns.differences(&columns.turns, &columns.players));
    for ConfirmedLetter { seq, letter, seat, by } in &facts.confirmed {
        let of_letter = columns.unproven.iter().find(|row| row.letter == *letter);
        let is_right = of_letter.is_some_and(|row| {
            let place = (row.place.0.as_str(), row.place.1);
            // A letter with parts is stored for the match of its token alone.
            let in_part = facts.letters.get(letter).is_some_and(|how| how.in_part);
            row.is_confirmed && row.confirmed_by == Some(*by) && (in_part || place == (match_id, *seat))
        });
        if !is_right {
            let what = format!("it is not stored as confirmed as entry #{seq} says");
            findings.push(Finding::at(Place::Letter(*letter), what));
        }
    }
    findings
}

fn check_letter(
    match_id: &str,
    how: RuledOn,
    pins: &[KeptPin],
    letter: &LetterColumns,
) -> Result<(), &'static str> {
    if letter.listed != letter.written {
        return Err("it is listed with a sender or a subject other than its own");
    }
    let Some((listed_match, listed_seat)) = &letter.place else {
        return if how.confirmed {
            Ok(())
        } else {
            Err("it is listed without the seat for which it was ruled on")
        };
    };
    if listed_match != match_id {
        // A letter about several matches is listed under one of them.
        return if how.in_part { Ok(()) } else { Err("it is listed under another match") };
    }
    match seat_by_pins(pins, letter) {
        Some(seat) if seat != *listed_seat => Err("it is listed under the other seat"),
        Some(_) | None => Ok(()),
    }
}

/// Returns the seat whose pinned token a letter has, or else the one from whose player's pinned address it
/// came. `None` if that is true of both or of neither.
fn seat_by_pins(pins: &[KeptPin], letter: &LetterColumns) -> Option<Seat> {
    let by_token = only_seat(pins, PinnedKind::Token, &|token| letter.tokens.iter().any(|own| own == token));
    by_token.or_else(|| only_seat(pins, PinnedKind::Address, &|address| letter.written.0 == address))
}

/// The seat of the pins of this kind that are in the letter, if they are of one seat.
fn only_seat(pins: &[KeptPin], kind: PinnedKind, is_in_letter: &dyn Fn(&str) -> bool) -> Option<Seat> {
    let stands_for = |pin: &&KeptPin| pin.opened.as_ref().is_some_and(|opened| is_in_letter(&opened.value));
    let mut seats = pins.iter().filter(|pin| pin.kind == kind).filter(stands_for).map(|pin| pin.seat);
    let first = seats.next()?;
    seats.all(|seat| seat == first).then_some(first)
}

/// A turn that a player owed, as stored.
pub struct StoredTurn {
    pub turn: OwedTurn,
    pub player: i64,
}

/// The turns that the entries of a match close, collected as rulings are repeated.
#[derive(Default)]
pub struct LedgerTurns {
    owed: BTreeMap<(u64, Seat), OwedTurn>,
    /// The entries of rulings that were not repeated, which may have closed turns.
    unrepeated: Vec<RangeInclusive<u64>>,
    /// The last entry that gave a seat to another player; 0 if none did.
    replaced: BySeat<u64>,
}

impl LedgerTurns {
    pub(super) fn note(&mut self, entry: &Entry) {
        if let Fact::PlayerReplaced { seat, .. } = &entry.fact {
            self.replaced[*seat] = entry.seq;
        }
    }

    pub(super) fn note_owed(&mut self, owed: Vec<OwedTurn>) {
        self.owed.extend(owed.into_iter().map(|turn| ((turn.seq, turn.seat), turn)));
    }

    pub(super) fn note_unrepeated(&mut self, entries: RangeInclusive<u64>) {
        self.unrepeated.push(entries);
    }

    /// Returns the stored turns that differ from these, and those that are missing. `players` hold the seats now.
    pub(super) fn differences(&self, stored: &[StoredTurn], players: &BySeat<i64>) -> Vec<Finding> {
        let mut missing = self.owed.clone();
        let mut wrong = Vec::new();
        for StoredTurn { turn, player } in stored {
            let is_known = !self.unrepeated.iter().any(|entries| entries.contains(&turn.seq));
            let expected = missing.remove(&(turn.seq, turn.seat));
            // Who held the seat before another player took it over, only letters tell.
            let is_players = turn.seq <= self.replaced[turn.seat] || *player == players[turn.seat];
            if is_known && expected.as_ref() != Some(turn) || !is_players {
                wrong.push(turn.seq);
            }
        }
        wrong.extend(missing.into_keys().map(|(seq, _)| seq));
        let finding = |seq| {
            let what = format!("the turn that entry #{seq} closed is not stored as the ledger says");
            Finding::at(Place::Kept("the players' reliability"), what)
        };
        wrong.into_iter().map(finding).collect()
    }
}

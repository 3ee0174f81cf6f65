//! Repeats rulings from the causes that entries name.

use std::sync::Arc;

use serde_json::Value;

use super::house::check_turn;
use super::{Check, short};
use crate::audit::verdict::{Finding, Place};
use crate::game::Seat;
use crate::game::any::GameKind;
use crate::ledger::{self, Entry, Fact, Lot, PinnedLot, SealKey, Source};
use crate::letter::{Digest, Letter, NewText};
use crate::referee::{
    self, Acceptance, Act, Cause, Confirmation, LetterPart, Match, NoticeLimits, Opening,
    QUESTIONS_ONLY_AFTER, Ruling, SeatLetter, Stage,
};

impl Check {
    /// Repeats the ruling on the cause of the first pending entry.
    pub(super) fn ruling(&mut self) -> Result<Ruling, Finding> {
        let first = &self.pending[0];
        let seq = first.link.seq;
        let wrong = |what: &str| Finding { place: Place::Entry(seq), what: what.to_owned() };
        let Some(game_match) = &self.current else {
            return self.opening(&first.json);
        };
        let act = |act: &Value| {
            let mut act =
                serde_json::from_value::<Act>(act.clone()).map_err(|_| wrong("its act is unknown"))?;
            match self.snapshot.as_ref().is_some_and(|snapshot| act.complete(snapshot)) {
                true => Ok(act),
                false => Err(wrong("the match does not keep what its act names by a digest")),
            }
        };
        let (phase_no, at) = (game_match.phase_no, first.link.at);
        match &first.link.cause {
            Source::Clock => Ok(referee::rule(game_match, &Cause::Clock { phase_no }, at)),
            Source::Gm { name, act: Some(done) } => {
                let act = act(done)?;
                Ok(referee::rule(game_match, &Cause::Gm { name, phase_no, act: &act }, at))
            }
            Source::Gm { act: None, .. } => Err(wrong("it does not say what the GM did")),
            Source::House { act: done } => {
                let (act, mut turn) = (act(done)?, None);
                if let Some(house) = self.house.as_ref().filter(|_| seq > self.checked_until) {
                    let checked = check_turn(game_match, &act, &self.record_entries, house.as_ref());
                    turn = checked.map_err(|what| wrong(&what))?;
                }
                let ruling = referee::rule(game_match, &Cause::House { phase_no, act: &act }, at);
                if let Some(turn) = turn {
                    self.note_house_turn(seq, &turn);
                }
                Ok(ruling)
            }
            Source::Letter(digest) => {
                let digest = *digest;
                self.letter_ruling(digest)
            }
        }
    }

    /// Repeats the ruling on the letter that the first pending entry names.
    fn letter_ruling(&mut self, digest: Digest) -> Result<Ruling, Finding> {
        let (seq, at) = (self.pending[0].link.seq, self.pending[0].link.at);
        let wrong = |what: &str| Finding { place: Place::Entry(seq), what: what.to_owned() };
        let in_letter = |reason: &str| Finding {
            place: Place::Letter(digest),
            what: format!("{reason}; entry #{seq} names it"),
        };
        if self.ruled_letters.contains(&short(&digest)) {
            return Err(wrong("its letter was ruled on before"));
        }
        let (letter, written) = self.letter_of_cause(digest).map_err(in_letter)?;
        let Some(seat) = self.sender_seat(&letter) else {
            return Err(in_letter("it has no reply token of a seat whose player sent it"));
        };
        let (confirmed, part) = (self.confirmed_seat(), self.recorded_part());
        self.ruled_letters.insert(short(&digest));
        let Some(game_match) = &self.current else {
            return Err(wrong("the ledger does not start with the opening of the match"));
        };
        let Some(mut asked) = read_recorded(&letter, seat, written, part.map(|(_, part)| part), game_match)
        else {
            return Err(in_letter("it does not hold the part of it that was ruled on"));
        };
        asked.answer_suppressed = self.group_records(&[ANSWER_HELD_BACK]);
        asked.limits = NoticeLimits {
            spares_opponent: self.group_records(&[OPPONENT_SPARED]),
            spares_gm: self.group_records(&[GM_SPARED]),
            holds_resignation: self.group_records(&[RESIGNATION_HELD]),
            gm_is_opponent: self.group_records(&[WORDS_TO_OPPONENT]),
            passes_protest_on: self.group_records(&[PROTEST_PASSED_ON]),
            tells_left_out: self.group_records(&[LEFT_OUT_TOLD]),
        };
        asked.questions_only = game_match.stage == Stage::Over
            && self.ends.last().is_some_and(|ended| at - *ended > QUESTIONS_ONLY_AFTER);
        asked.shows_token = self.group_records(&[TOKEN_RENEWED]);
        if let Some(other_games) = self.recorded_games_of_texts() {
            asked.check_texts(game_match.game, &other_games);
        }
        asked.hint = self.recorded_hint(seat, game_match).map_err(|what| wrong(&what))?;
        asked.signature = self.pending[0].link.dkim;
        asked.received = self.pending[0].link.received;
        asked.acceptance = self.recorded_acceptance();
        asked.confirmation = confirmed.map(|(_, confirmation)| confirmation);
        if asked.lacks_turn() {
            asked.earlier.clone_from(&self.earlier[seat]);
        }
        Ok(referee::rule(game_match, &Cause::Letter(&asked), at))
    }

    /// The seat that a letter acts for, as its sender, its tokens and the first pending entries tell.
    pub(super) fn sender_seat(&self, letter: &Letter) -> Option<Seat> {
        let confirmed = self.confirmed_seat();
        match (self.recorded_part(), &confirmed) {
            // The token of the other match stands in its own ledger.
            (Some((seat, LetterPart { by_other_token: true, .. })), _) => {
                Some(seat).filter(|seat| confirmed.is_some() || self.is_address_of(letter, *seat))
            }
            (_, Some((seat, _))) => Some(*seat).filter(|seat| self.has_token_of(letter, *seat)),
            (_, None) => self.seat_of(letter),
        }
    }

    /// Returns a letter that was read and its new text, if it is stored as the first pending entry says.
    pub(super) fn letter_of_cause(&self, digest: Digest) -> Result<(Arc<Letter>, NewText), &'static str> {
        let Some(read) = self.letters.get(&digest) else { return Err("it is missing") };
        if self.pending[0].link.received.is_some_and(|received| received != read.received_at) {
            return Err("it is stored with another time of arrival");
        }
        if !read.is_ruled {
            return Err("it is not stored as ruled on");
        }
        Ok((Arc::clone(read.letter.as_ref().map_err(|why| *why)?), read.new_text.clone()))
    }

    /// Whether an entry of one of these kinds has the same cause as the first pending one.
    fn group_records(&self, kinds: &[&str]) -> bool {
        self.first_group().any(|link| kinds.contains(&link.kind.as_str()))
    }

    /// Repeats the opening of the match.
    fn opening(&self, first: &str) -> Result<Ruling, Finding> {
        let wrong = |place: Place, what: &str| Finding { place, what: what.to_owned() };
        opening_versions(first).map_err(|what| wrong(Place::Entry(1), &what))?;
        let first: Entry =
            serde_json::from_str(first).map_err(|_| wrong(Place::Entry(1), "it cannot be read"))?;
        let Fact::MatchOpened {
            game,
            options,
            players,
            house,
            terms,
            settings,
            desk,
            key: pin,
            holders,
            lot: pinned_lot,
            ..
        } = first.fact
        else {
            return Err(wrong(Place::Entry(1), "the ledger does not start with the opening of the match"));
        };
        let Some(key) = self.snapshot.as_ref().and_then(|game_match| game_match.key_pinned_by(pin)) else {
            return Err(wrong(Place::Kept("the snapshot"), "its secret is not the one that entry #1 pins"));
        };
        let Ok(terms) = serde_json::from_value(terms) else {
            return Err(wrong(Place::Entry(1), "its terms are unknown"));
        };
        let lot = self.lot_pinned_as(pinned_lot.as_deref(), &key, &first.cause)?;
        let id = first.match_id;
        let settings = *settings;
        let (desk, holders) = (*desk, holders.map(|holders| *holders));
        let opening =
            Opening { id, game, choices: options, players, house, terms, settings, desk, key, lot, holders };
        game.start_with(&opening.choices).map_err(|unknown| wrong(Place::Entry(1), &unknown))?;
        Ok(referee::open(opening, first.cause, first.at))
    }

    /// Returns the lot that the opening pins, if the secret of the match and the seats follow from it.
    fn lot_pinned_as(
        &self,
        pinned: Option<&PinnedLot>,
        secret: &SealKey,
        cause: &Source,
    ) -> Result<Option<Lot>, Finding> {
        let Some(pinned) = pinned else { return Ok(None) };
        let wrong = |place: Place, what: &str| Err(Finding { place, what: what.to_owned() });
        let kept = self.snapshot.as_ref().and_then(|game_match| game_match.lot.as_ref());
        let Some(lot) = kept.filter(|lot| lot.pinned() == *pinned) else {
            return wrong(Place::Kept("the snapshot"), "its lot is not the one that entry #1 pins");
        };
        let Source::Letter(opened_by) = cause else {
            return wrong(Place::Entry(1), "it has a lot, but no letter opened the match");
        };
        if lot.secret(*opened_by) != *secret {
            let what = "its secret does not come from its lot and from the letter that opened the match";
            return wrong(Place::Entry(1), what);
        }
        if !lot.has_drawn_seat(*opened_by) {
            return wrong(Place::Entry(1), "its seats are not those that the lot draws");
        }
        Ok(Some(lot.clone()))
    }

    /// The seat whose player confirmed the letter of the first pending entries, if that entry says so.
    pub(super) fn confirmed_seat(&self) -> Option<(Seat, Confirmation)> {
        let index = self.first_group().position(|link| link.kind == LETTER_CONFIRMED)?;
        let entry: Entry = serde_json::from_str(&self.pending.get(index)?.json).ok()?;
        match entry.fact {
            Fact::LetterConfirmed { seat, by, arrived } => Some((seat, Confirmation { by, arrived })),
            _ => None,
        }
    }

    /// The GM's word that the letter of the first pending entries is to be ruled on, if they say so.
    fn recorded_acceptance(&self) -> Option<Acceptance> {
        let index = self.first_group().position(|link| link.kind == LETTER_ACCEPTED)?;
        let entry: Entry = serde_json::from_str(&self.pending.get(index)?.json).ok()?;
        match entry.fact {
            Fact::LetterAccepted { by, arrived, .. } => Some(Acceptance { by, arrived }),
            _ => None,
        }
    }

    /// The other games whose orders the texts of the letter hold, if the first pending entries say that none was passed on.
    fn recorded_games_of_texts(&self) -> Option<Vec<GameKind>> {
        let index = self.first_group().position(|link| link.kind == TEXTS_WITHHELD)?;
        let entry: Entry = serde_json::from_str(&self.pending.get(index)?.json).ok()?;
        match entry.fact {
            Fact::TextsWithheld { games, .. } => Some(games),
            _ => None,
        }
    }

    /// The part of the letter of the first pending entries that they were ruled on with, if they say so.
    pub(super) fn recorded_part(&self) -> Option<(Seat, LetterPart)> {
        let index = self.first_group().position(|link| link.kind == LETTER_PART_READ)?;
        let entry: Entry = serde_json::from_str(&self.pending.get(index)?.json).ok()?;
        match entry.fact {
            Fact::LetterPartRead { seat, part, by_other_token } => {
                Some((seat, LetterPart { digest: part, by_other_token }))
            }
            _ => None,
        }
    }
}

/// Checks that this program knows the format and the rules that the first entry names.
pub(super) fn opening_versions(first: &str) -> Result<(), String> {
    let first: Value = serde_json::from_str(first).map_err(|_| "it cannot be read".to_owned())?;
    let Some(game) = first["body"]["game"].as_str().and_then(GameKind::parse) else { return Ok(()) };
    let number = |name: &str| first["body"][name].as_u64().and_then(|number| u32::try_from(number).ok());
    ledger::knows_format(number("format").unwrap_or_default())?;
    game.knows_rules(number("rules").unwrap_or_default())
}

/// Reads a letter as the ledger says that it was read: whole, or a part. `None` if it does not hold that part.
pub(super) fn read_recorded(
    letter: &Letter,
    seat: Seat,
    written: NewText,
    part: Option<LetterPart>,
    game_match: &Match,
) -> Option<SeatLetter> {
    let Some(part) = part else { return Some(SeatLetter::of(letter, seat, written, game_match)) };
    let NewText::Lines(lines) = written else { return None };
    let lines = LetterPart::lines(&lines, &game_match.id, part.by_other_token);
    let read = SeatLetter::of_part(letter, seat, lines, part.by_other_token, game_match);
    Some(read).filter(|read| read.part == Some(part))
}

/// The kind of the entry that records which part of a letter was ruled on.
const LETTER_PART_READ: &str = "LetterPartRead";

/// The kind of the entry that records that a letter was confirmed by its seat's player.
const LETTER_CONFIRMED: &str = "LetterConfirmed";

/// The kind of the entry that records that a GM accepted a letter.
const LETTER_ACCEPTED: &str = "LetterAccepted";

/// The kind of the entry that records a protest that stops nothing.
const PROTEST_PASSED_ON: &str = "ProtestPassedOn";

/// The kind of the entry that records a new reply token.
const TOKEN_RENEWED: &str = "TokenRenewed";

/// The kind of the entry that records a suppressed answer.
const ANSWER_HELD_BACK: &str = "AnswerHeldBack";

/// The kinds of the entries that record limits of what a letter causes.
const OPPONENT_SPARED: &str = "OpponentSpared";
const GM_SPARED: &str = "GmSpared";
const RESIGNATION_HELD: &str = "ResignationHeld";
const WORDS_TO_OPPONENT: &str = "WordsToOpponent";
const TEXTS_WITHHELD: &str = "TextsWithheld";
const LEFT_OUT_TOLD: &str = "LeftOutTold";

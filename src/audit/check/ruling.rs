//! Repeats rulings from the causes that entries name.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::house::check_turn;
use super::{Check, short};
use crate::audit::verdict::{Finding, Place};
use crate::game::Seat;
use crate::game::any::GameKind;
use crate::ledger::{Entry, Fact, Lot, PinnedLot, SealKey, Source};
use crate::letter::{Digest, Letter, NewText};
use crate::referee::{
    self, Acceptance, Act, Cause, Confirmation, LetterPart, Match, NoticeLimits, Opening,
    QUESTIONS_ONLY_AFTER, Ruling, SeatLetter, Stage,
};

/// A repeated ruling.
pub(super) struct Repeated {
    pub ruling: Ruling,
    /// The letter that caused it.
    pub letter: Option<Box<Letter>>,
    /// Whether the letter was read as the ledger says, because this version reads it otherwise.
    pub is_as_recorded: bool,
}

impl From<Ruling> for Repeated {
    fn from(ruling: Ruling) -> Repeated {
        Repeated { ruling, letter: None, is_as_recorded: false }
    }
}

impl Check {
    /// Repeats the ruling on the cause of the first pending entry.
    pub(super) fn ruling(&mut self) -> Result<Repeated, Finding> {
        let first = &self.pending[0];
        let seq = first.link.seq;
        let wrong = |what: &str| Finding { place: Place::Entry(seq), what: what.to_owned() };
        let Some(game_match) = &self.current else {
            return self.opening(&first.json).map(Repeated::from);
        };
        game_match.game.knows_rules(first.link.rules).map_err(|unknown| wrong(&unknown))?;
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
            Source::Clock => Ok(referee::rule(game_match, &Cause::Clock { phase_no }, at).into()),
            Source::Gm { name, act: Some(done) } => {
                let act = act(done)?;
                Ok(referee::rule(game_match, &Cause::Gm { name, phase_no, act: &act }, at).into())
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
                Ok(ruling.into())
            }
            Source::Letter(digest) => {
                let digest = *digest;
                self.letter_ruling(digest)
            }
        }
    }

    /// Repeats the ruling on the letter that the first pending entry names.
    ///
    /// Version 0.1.0 asked nothing about repeated orders, left tokens as they were, and passed words on however long ago
    /// a match had ended. So the ledger tells which of these a ruling did.
    fn letter_ruling(&mut self, digest: Digest) -> Result<Repeated, Finding> {
        let (seq, at) = (self.pending[0].link.seq, self.pending[0].link.at);
        let wrong = |what: &str| Finding { place: Place::Entry(seq), what: what.to_owned() };
        let in_letter = |reason: &str| Finding {
            place: Place::Letter(digest),
            what: format!("{reason}; entry #{seq} names it"),
        };
        if self.ruled_letters.contains(&short(&digest)) {
            return Err(wrong("its letter was ruled on before"));
        }
        let (letter, written) = self.take_letter(digest).map_err(in_letter)?;
        let confirmed = self.confirmed_seat();
        let part = self.recorded_part();
        let seat = match &confirmed {
            // The token of the other match stands in its own ledger.
            _ if let Some((seat, LetterPart { by_other_token: true, .. })) = part => {
                Some(seat).filter(|seat| confirmed.is_some() || self.is_address_of(&letter, *seat))
            }
            Some((seat, _)) => Some(*seat).filter(|seat| self.has_token_of(&letter, *seat)),
            None => self.seat_of(&letter),
        };
        let Some(seat) = seat else {
            return Err(in_letter("it has no reply token of a seat whose player sent it"));
        };
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
            together: self.group_records(&[ACTS_TAKEN_TOGETHER]),
            spares_opponent: self.group_records(&[OPPONENT_SPARED]),
            spares_gm: self.group_records(&[GM_SPARED]),
            holds_resignation: self.group_records(&[RESIGNATION_HELD]),
            gm_is_opponent: self.group_records(&[WORDS_TO_OPPONENT]),
            passes_protest_on: self.group_records(&[PROTEST_PASSED_ON]),
            tells_left_out: self.group_records(&[LEFT_OUT_TOLD]),
            merges_receipt: self.group_records(&[ANSWERED_IN_REPORT]),
        };
        asked.questions_only = game_match.stage == Stage::Over
            && self.ends.last().is_some_and(|ended| at - *ended > QUESTIONS_ONLY_AFTER)
            && !self.group_records(&PASSED_ON);
        asked.shows_token = self.group_records(&[TOKEN_RENEWED]) && !letter.other_recipients.is_empty();
        if let Some(other_games) = self.recorded_games_of_texts() {
            asked.check_texts(game_match.game, &other_games);
        }
        asked.hint = self.recorded_hint(seat, game_match).map_err(|what| wrong(&what))?;
        asked.notes_refusal = self.group_records(&[REFUSAL_NOTED]);
        asked.signature = self.pending[0].link.dkim;
        asked.received = self.pending[0].link.received;
        asked.acceptance = self.recorded_acceptance();
        asked.confirmation = confirmed.map(|(_, confirmation)| confirmation);
        if asked.lacks_turn() && !self.group_records(&FILED) {
            asked.earlier.clone_from(&self.earlier[seat]);
        }
        let mut repeated = self.ruling_on(&asked, game_match, at);
        if asked.exceeds_bounds() && !self.is_recorded(&repeated.ruling) {
            // A version without bounds may have ruled on the whole letter.
            let whole = asked.unbounded(game_match.game);
            let ruling_on_whole = self.ruling_on(&whole, game_match, at);
            if self.is_recorded(&ruling_on_whole.ruling) {
                repeated = ruling_on_whole;
            }
        }
        Ok(Repeated { letter: Some(letter), ..repeated })
    }

    /// Returns a letter that was read and its new text, if it is stored as the first pending entry says.
    fn take_letter(&mut self, digest: Digest) -> Result<(Box<Letter>, NewText), &'static str> {
        let Some(read) = self.letters.remove(&digest) else { return Err("it is missing") };
        if self.pending[0].link.received.is_some_and(|received| received != read.received_at) {
            return Err("it is stored with another time of arrival");
        }
        if !read.is_ruled {
            return Err("it is not stored as ruled on");
        }
        Ok((read.letter?, read.new_text))
    }

    /// Whether an entry of one of these kinds has the same cause as the first pending one.
    fn group_records(&self, kinds: &[&str]) -> bool {
        self.first_group().any(|link| kinds.contains(&link.kind.as_str()))
    }

    /// Repeats the ruling on a letter. If the ledger has another one, by an earlier version of the program, the letter is
    /// read as that version did.
    fn ruling_on(&self, letter: &SeatLetter, game_match: &Match, at: DateTime<Utc>) -> Repeated {
        let ruling = referee::rule(game_match, &Cause::Letter(letter), at);
        if self.is_recorded(&ruling) {
            return ruling.into();
        }
        let earlier = self.as_recorded(letter, game_match);
        let earlier = earlier.map(|letter| referee::rule(game_match, &Cause::Letter(&letter), at));
        match earlier.filter(|earlier| self.is_recorded(earlier)) {
            Some(ruling) => Repeated { is_as_recorded: true, ..ruling.into() },
            None => ruling.into(),
        }
    }

    /// Whether the pending entries are those of this ruling, but for words of another version.
    fn is_recorded(&self, ruling: &Ruling) -> bool {
        let Some(last) = ruling.entries.len().checked_sub(1) else { return false };
        let recorded = self.pending.get(last).map(|last| last.hash);
        if recorded == Some(ruling.after.head.hash) || !self.is_of_earlier_version() {
            return recorded == Some(ruling.after.head.hash);
        }
        let mut adopted = ruling.clone();
        self.adopt_recorded_words(&mut adopted);
        recorded == Some(adopted.after.head.hash)
    }

    /// Repeats the opening of the match.
    fn opening(&self, first: &str) -> Result<Ruling, Finding> {
        let wrong = |place: Place, what: &str| Finding { place, what: what.to_owned() };
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
            form,
            holders,
            lot: pinned_lot,
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
        referee::open_under((first.rules, form), opening, first.cause, first.at)
            .map_err(|unknown| wrong(Place::Entry(1), &unknown))
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
    fn confirmed_seat(&self) -> Option<(Seat, Confirmation)> {
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
    fn recorded_part(&self) -> Option<(Seat, LetterPart)> {
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

/// Reads a letter as the ledger says that it was read: whole, or a part. `None` if it does not hold that part.
fn read_recorded(
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

/// The kinds of entries that record words to the other side and to the GM.
const PASSED_ON: [&str; 3] = ["MessagePassed", "Protested", PROTEST_PASSED_ON];

/// The kind of the entry that records a protest that stops nothing.
const PROTEST_PASSED_ON: &str = "ProtestPassedOn";

/// The kind of the entry that records a new reply token.
const TOKEN_RENEWED: &str = "TokenRenewed";

/// The kinds of the entries that record filed orders and conditions.
const FILED: [&str; 2] = ["OrdersSealed", "ConditionsSealed"];

/// The kind of the entry that records a suppressed answer.
const ANSWER_HELD_BACK: &str = "AnswerHeldBack";

/// The kinds of the entries that record limits of what a letter causes.
const ACTS_TAKEN_TOGETHER: &str = "ActsTakenTogether";
const OPPONENT_SPARED: &str = "OpponentSpared";
const GM_SPARED: &str = "GmSpared";
const RESIGNATION_HELD: &str = "ResignationHeld";
const WORDS_TO_OPPONENT: &str = "WordsToOpponent";
const REFUSAL_NOTED: &str = "RefusalNoted";
const TEXTS_WITHHELD: &str = "TextsWithheld";
const LEFT_OUT_TOLD: &str = "LeftOutTold";
const ANSWERED_IN_REPORT: &str = "AnsweredInReport";

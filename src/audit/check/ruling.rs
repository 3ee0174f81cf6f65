//! Repeats rulings from the causes that entries name.

use serde_json::Value;

use super::{Check, short};
use crate::audit::verdict::{Finding, Place};
use crate::game::Seat;
use crate::ledger::{Entry, Fact, Source};
use crate::letter::Letter;
use crate::referee::{self, Act, Cause, NoticeLimits, Opening, Ruling, SeatLetter};

impl Check {
    /// Repeats the ruling on the cause of the first pending entry. Also returns the letter if one caused it.
    pub(super) fn ruling(&mut self) -> Result<(Ruling, Option<Box<Letter>>), Finding> {
        let first = &self.pending[0];
        let seq = first.link.seq;
        let wrong = |what: &str| Finding { place: Place::Entry(seq), what: what.to_owned() };
        let Some(game_match) = &self.current else {
            return self.opening(&first.json).map(|ruling| (ruling, None));
        };
        game_match.game.knows_rules(first.link.rules).map_err(|unknown| wrong(&unknown))?;
        let act =
            |act: &Value| serde_json::from_value::<Act>(act.clone()).map_err(|_| wrong("its act is unknown"));
        let (phase_no, at) = (game_match.phase_no, first.link.at);
        match &first.link.cause {
            Source::Clock => Ok((referee::rule(game_match, &Cause::Clock { phase_no }, at), None)),
            Source::Gm { name, act: Some(done) } => {
                let act = act(done)?;
                Ok((referee::rule(game_match, &Cause::Gm { name, phase_no, act: &act }, at), None))
            }
            Source::Gm { act: None, .. } => Err(wrong("it does not say what the GM did")),
            Source::House { act: done } => {
                let act = act(done)?;
                if let Act::Play { version, .. } = &act
                    && self.replays_house_turns
                {
                    let known = game_match.game.house_version();
                    if *version != known {
                        self.verdict.unable = Some(format!(
                            "entry #{seq} was played by version {version} of the house; this program has version \
                             {known}, so that turn was not repeated"
                        ));
                    } else if game_match.house_turn().as_ref() != Some(&act) {
                        return Err(wrong("the house plays another turn there"));
                    }
                }
                Ok((referee::rule(game_match, &Cause::House { phase_no, act: &act }, at), None))
            }
            Source::Letter(digest) => {
                let digest = *digest;
                let has = |kind: &str| self.first_group().any(|link| link.kind == kind);
                let silent = has(ANSWER_HELD_BACK);
                let limits = NoticeLimits {
                    together: has(ACTS_TAKEN_TOGETHER),
                    spares_opponent: has(OPPONENT_SPARED),
                    spares_gm: has(GM_SPARED),
                    tells_left_out: has(LEFT_OUT_TOLD),
                };
                let files_orders = has(ORDERS_SEALED);
                let in_letter = |reason: &str| Finding {
                    place: Place::Letter(digest),
                    what: format!("{reason}; entry #{seq} names it"),
                };
                if self.ruled_letters.contains(&short(&digest)) {
                    return Err(wrong("its letter was ruled on before"));
                }
                let (letter, written) = match self.letters.remove(&digest) {
                    Some((letter, written)) => (letter.map_err(in_letter)?, written),
                    None => return Err(in_letter("it is missing")),
                };
                let Some(seat) = self.seat_of(&letter) else {
                    return Err(in_letter("it has no reply token of a seat whose player sent it"));
                };
                self.ruled_letters.insert(short(&digest));
                let mut asked = SeatLetter::of(&letter, seat, written, game_match);
                asked.answer_suppressed = silent;
                asked.limits = limits;
                // Version 0.1.0 filed repeated orders without a question, so those that were filed stand.
                if asked.lacks_turn() && !files_orders {
                    asked.earlier = self.earlier[seat].clone();
                }
                Ok((referee::rule(game_match, &Cause::Letter(&asked), at), Some(letter)))
            }
        }
    }

    /// Repeats the opening of the match.
    fn opening(&self, first: &str) -> Result<Ruling, Finding> {
        let wrong = |place: Place, what: &str| Finding { place, what: what.to_owned() };
        let first: Entry =
            serde_json::from_str(first).map_err(|_| wrong(Place::Entry(1), "it cannot be read"))?;
        let Fact::MatchOpened { game, options, players, house, terms, desk, key: pin } = first.fact else {
            return Err(wrong(Place::Entry(1), "the ledger does not start with the opening of the match"));
        };
        let key = self.snapshot.as_ref().map(|game_match| game_match.key.clone());
        let Some(key) = key.filter(|key| key.pin() == pin) else {
            return Err(wrong(Place::Kept("the snapshot"), "its secret is not the one that entry #1 pins"));
        };
        let Ok(terms) = serde_json::from_value(terms) else {
            return Err(wrong(Place::Entry(1), "its terms are unknown"));
        };
        let id = first.match_id;
        let opening = Opening { id, game, choices: options, players, house, terms, desk, key };
        referee::open_under(first.rules, opening, first.cause, first.at)
            .map_err(|unknown| wrong(Place::Entry(1), &unknown))
    }

    /// The seat that a letter may act for: one whose token it has, and from an address that this token was sent to.
    fn seat_of(&self, letter: &Letter) -> Option<Seat> {
        let known = letter.tokens.iter().filter_map(|token| self.tokens.get(&token.to_string()));
        let mut own = known.filter(|(_, addresses)| addresses.contains(letter.from.as_str()));
        own.next().map(|(seat, _)| *seat)
    }
}

/// The kind of the entry that records filed orders.
const ORDERS_SEALED: &str = "OrdersSealed";

/// The kind of the entry that records a suppressed answer.
const ANSWER_HELD_BACK: &str = "AnswerHeldBack";

/// The kinds of the entries that record limits of what a letter causes.
const ACTS_TAKEN_TOGETHER: &str = "ActsTakenTogether";
const OPPONENT_SPARED: &str = "OpponentSpared";
const GM_SPARED: &str = "GmSpared";
const LEFT_OUT_TOLD: &str = "LeftOutTold";

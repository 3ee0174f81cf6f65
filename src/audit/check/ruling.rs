//! Rulings made once more: from the cause that an entry names, with the letter itself where that is the cause.

use serde_json::Value;

use super::{Check, short};
use crate::audit::{Finding, Place};
use crate::game::Seat;
use crate::ledger::{Entry, Fact, Source};
use crate::letter::Letter;
use crate::referee::{self, Act, Cause, Opening, Ruling, SeatLetter};

impl Check {
    /// The ruling on the cause of the first entry that waits, made again; with the letter that caused it.
    pub(super) fn ruling(&mut self) -> Result<(Ruling, Option<Box<Letter>>), Finding> {
        let first = &self.waiting[0];
        let seq = first.link.seq;
        let wrong = |what: &str| Finding { place: Place::Entry(seq), what: what.to_owned() };
        let Some(game_match) = &self.now else {
            return self.opening(&first.json).map(|ruling| (ruling, None));
        };
        game_match.game.knows_rules(first.link.rules).map_err(|unknown| wrong(&unknown))?;
        let act = |act: &Value| {
            serde_json::from_value::<Act>(act.clone()).map_err(|_| wrong("its act is none that is known"))
        };
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
                            "entry #{seq} was played by version {version} of the house; this program knows version \
                             {known}, and has not asked it again"
                        ));
                    } else if game_match.house_turn().as_ref() != Some(&act) {
                        return Err(wrong("the house, asked again, plays otherwise there"));
                    }
                }
                Ok((referee::rule(game_match, &Cause::House { phase_no, act: &act }, at), None))
            }
            Source::Letter(digest) => {
                let digest = *digest;
                let silent = self.group().any(|link| link.kind == ANSWER_HELD_BACK);
                let in_letter = |why: &str| Finding {
                    place: Place::Letter(digest),
                    what: format!("{why}; entry #{seq} names it"),
                };
                if self.ruled.contains(&short(&digest)) {
                    return Err(wrong("its letter was ruled on before"));
                }
                let (letter, written) = match self.letters.remove(&digest) {
                    Some((letter, written)) => (letter.map_err(in_letter)?, written),
                    None => return Err(in_letter("it is missing")),
                };
                let Some(seat) = self.seat_of(&letter) else {
                    return Err(in_letter("it bears no reply token of a seat whose player sent it"));
                };
                self.ruled.insert(short(&digest));
                let mut asked = SeatLetter::of(&letter, seat, written, game_match);
                asked.answer_suppressed = silent;
                Ok((referee::rule(game_match, &Cause::Letter(&asked), at), Some(letter)))
            }
        }
    }

    /// The opening of the match, made again.
    fn opening(&self, first: &str) -> Result<Ruling, Finding> {
        let wrong = |place: Place, what: &str| Finding { place, what: what.to_owned() };
        let first: Entry =
            serde_json::from_str(first).map_err(|_| wrong(Place::Entry(1), "it cannot be read"))?;
        let Fact::MatchOpened { game, options, players, house, terms, desk, key: pin } = first.fact else {
            return Err(wrong(Place::Entry(1), "the ledger does not begin with the match's opening"));
        };
        let key = self.snapshot.as_ref().map(|game_match| game_match.key.clone());
        let Some(key) = key.filter(|key| key.pin() == pin) else {
            return Err(wrong(Place::Kept("the snapshot"), "its secret is not the one that entry #1 pins"));
        };
        let Ok(terms) = serde_json::from_value(terms) else {
            return Err(wrong(Place::Entry(1), "its terms are none that are known"));
        };
        let id = first.match_id;
        let opening = Opening { id, game, choices: options, players, house, terms, desk, key };
        referee::open_under(first.rules, opening, first.cause, first.at)
            .map_err(|unknown| wrong(Place::Entry(1), &unknown))
    }

    /// The seat that a letter may act for: it bears a token that was sent to it, and comes from where it was sent.
    fn seat_of(&self, letter: &Letter) -> Option<Seat> {
        let known = letter.tokens.iter().filter_map(|token| self.tokens.get(&token.to_string()));
        let mut own = known.filter(|(_, addresses)| addresses.contains(letter.from.as_str()));
        own.next().map(|(seat, _)| *seat)
    }
}

/// The kind of the entry that notes an answer which was not sent.
const ANSWER_HELD_BACK: &str = "AnswerHeldBack";

//! The house: a computer player that holds a seat at a level.
//!
//! It moves when its seat is due, knows only what its seat sees, and files by the same rules as everybody
//! else. It gets no letters, and no deadline runs while it alone has to move. Its orders are computed outside
//! a ruling, because that may take a second, and arrive as a [`HousePlay`].

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

use super::matter::SeatLetter;
use super::offer::{self, Offer, OfferRejection};
use super::play::dispatch::{Content, Notice, Reader};
use super::play::game_match::{Match, Stage};
use super::play::ruling::Draft;
use super::play::{adjudication, deadline};
use super::rejection::Rejection;
use super::reply::Reply;
use super::schedule::Terms;
use crate::game::any::{AnySeen, Choices, GameKind};
use crate::game::{Line, Seat};
use crate::house::{self, Chosen, HouseLevel, Level};
use crate::ledger::{self, Hint, HouseFailure, HousePlay};
use crate::letter::Digest;

/// Finds a turn of the house: [`house::play`], unless a test substitutes another function.
pub type HousePlayer = dyn Fn(&AnySeen, &'static HouseLevel, u64) -> Option<Chosen<String>> + Send + Sync;

/// The level that plays for one that fails.
const STAND_IN: &str = "easy";

/// The level against which a player may ask for hints, and the one that gives them.
const TRAINER: &str = "trainer";
const ADVISER: &str = "average";

impl Match {
    /// Returns the seat for which the house has to move now.
    pub fn house_due(&self) -> Option<Seat> {
        if self.stage != Stage::Running {
            return None;
        }
        Seat::BOTH.into_iter().find(|seat| self.house[*seat].is_some() && self.awaits(*seat))
    }

    /// Returns the lowest level that the house's opponent meets after winning this match; `None` if the match
    /// does not advance anybody, or at the top level.
    pub fn advances_to(&self) -> Option<&'static str> {
        let level = self.house.iter().find_map(|(_, level)| level.as_deref())?;
        let levels = house::levels(self.game);
        let next = levels.iter().position(|own| own.name == level)? + 1;
        levels.get(next).filter(|_| self.terms.advance).map(|level| level.name)
    }

    /// Computes the turn of the house, if it has to move. `seen` is everything that its seat was shown and
    /// filed. If its level fails, an easier one plays.
    ///
    /// Deterministic, so that `audit verify` can repeat it: the orders follow from what the seat has seen,
    /// its level, and dice derived from the match's secret and the phase.
    pub fn house_turn(&self, seen: &AnySeen, player: &HousePlayer) -> Option<HousePlay> {
        let seat = self.house_due().filter(|seat| *seat == seen.seat())?;
        let level = house::level(self.game, self.house[seat].as_ref()?)?;
        let dice = self.key.dice(self.phase_no);
        let (orders, failed) = match self.legal_orders(seen, level, dice, player) {
            Ok(orders) => (orders, None),
            Err(failure) => {
                let level = house::level(self.game, STAND_IN)?;
                (self.legal_orders(seen, level, dice, player).ok()?, Some(failure))
            }
        };
        let version = house::version(self.game);
        Some(HousePlay { seat, version, orders, seen: digest_of(seen), failed })
    }

    /// Whether a player may ask for hints: in matches against the weakest level.
    pub fn gives_hints(&self, seat: Seat) -> bool {
        self.house[seat].is_none() && self.house[seat.other()].as_deref() == Some(TRAINER)
    }

    /// Returns the turn that a better level would play now in the player's place, with the player's
    /// knowledge; `None` if nothing is due from the player, or the level fails.
    pub fn hint(&self, seen: &AnySeen) -> Option<Hint> {
        let is_due = self.state.due().is_some_and(|due| due.seats.contains(&seen.seat()));
        let level = house::level(self.game, ADVISER).filter(|_| is_due && self.gives_hints(seen.seat()))?;
        // Use dice other than the house's own in this phase, which the hint must not reveal.
        let dice = !self.key.dice(self.phase_no);
        let orders = self.legal_orders(seen, level, dice, &house::play).ok()?;
        Some(Hint { version: house::version(self.game), orders })
    }

    /// Returns the orders of a level, unless it panics or they are illegal. Panics of the house are caught
    /// only here: they must not cost the turn, or the letter that asks for a hint.
    fn legal_orders(
        &self,
        seen: &AnySeen,
        level: &'static HouseLevel,
        dice: u64,
        player: &HousePlayer,
    ) -> Result<Vec<String>, HouseFailure> {
        let chosen = catch_unwind(AssertUnwindSafe(|| player(seen, level, dice)));
        let orders = chosen.ok().flatten().ok_or(HouseFailure::Panicked)?.orders;
        match self.seal(seen.seat(), &Line::numbered(&orders)) {
            Ok(_) => Ok(orders),
            Err(_faults) => Err(HouseFailure::Refused),
        }
    }
}

/// Returns the digest of the facts that the house was shown, for the ledger.
pub fn digest_of(seen: &AnySeen) -> Digest {
    Digest::of(ledger::canonical(seen).as_bytes())
}

/// Files the orders of the house, and notifies the GM if its level failed to find any.
pub(super) fn play(draft: &mut Draft, phase: u32, play: &HousePlay) -> Result<(), Rejection> {
    let HousePlay { seat, ref orders, failed, .. } = *play;
    if draft.game_match.phase_no != phase {
        return Err(Rejection::Passed);
    }
    if draft.game_match.house_due() != Some(seat) {
        return Err(Rejection::NotDue { seat });
    }
    draft.seal(seat, &Line::numbered(orders))?;
    if let Some(failure) = failed {
        draft.dispatch(Reader::Gm, Content::Notice(Notice::HouseFailed { seat, failure }));
    }
    if draft.game_match.house_due().is_some() {
        // The house holds the other seat, too.
        return Ok(());
    }
    // The house never amends its orders, so the settle time is skipped unless a player may still use it.
    match draft.game_match.due_from_players() {
        None => adjudication::adjudicate(draft, Vec::new()),
        Some(_) => adjudication::adjudicate_if_complete(draft),
    }
    Ok(())
}

/// Answers with the turn that a better level would play in place of the letter's player, as the shell found
/// it.
pub(super) fn hint(draft: &mut Draft, letter: &SeatLetter) -> Reply {
    let seat = letter.cause.seat;
    if !draft.game_match.gives_hints(seat) {
        return Reply::NoHints { levels: house::level(draft.game_match.game, TRAINER).is_some() };
    }
    match &letter.cause.hint {
        Some(hint) => {
            draft.game_match.past.note_hint(seat, hint);
            Reply::Hint { orders: hint.orders.clone() }
        }
        None => Reply::NoHintNow,
    }
}

/// Extends the deadline at once: the house always agrees to more time.
pub(super) fn extend(draft: &mut Draft, seat: Seat, days: u32) -> Reply {
    if draft.game_match.deadline.is_none() {
        return Reply::NoDeadline;
    }
    draft.record(ledger::Fact::ExtensionAsked { seat, days });
    deadline::extend(draft, days);
    Reply::ExtensionAgreed
}

/// The club's defaults for matches against the house.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HouseDefaults {
    pub level: Level,
    /// Whether a player who has beaten a level meets the next one.
    pub advance: bool,
}

impl HouseDefaults {
    /// The defaults of a club that sets none.
    pub const UNSET: HouseDefaults = HouseDefaults { level: Level::Easy, advance: false };

    /// Returns the default level of a game: the club's or, without one, the strongest. `None` if the house
    /// does not play the game.
    pub fn level_in(&self, game: GameKind) -> Option<&'static HouseLevel> {
        house::level(game, self.level.as_str()).or_else(|| house::levels(game).last())
    }
}

/// The match against the house that a player asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HouseMatch {
    pub game: GameKind,
    /// `None`: the club's default.
    pub level: Option<&'static HouseLevel>,
    options: Vec<(String, String)>,
    pub days: Option<u32>,
    /// The player's seat. `None`: drawn by lot.
    pub seat: Option<Seat>,
    /// Whether a player who wins meets the next level in the next match. `None`: the club's default.
    pub advance: Option<bool>,
    /// Whether the match may be rated. `None`: the club's default.
    pub rated: Option<bool>,
    /// Days in the player's bank. `None`: the club's default.
    pub bank: Option<u32>,
}

impl HouseMatch {
    /// Parses a game's name and options. In addition to the game's own options, there are `level=average`,
    /// `advance=on|off`, and either `first=me|house` or `seat=first|second`.
    ///
    /// # Errors
    /// [`OfferRejection`] if the house does not play the game, an option or the level is unknown, an option
    /// has a bad value, the level, the seat or another option is given twice, or `days` is out of bounds.
    pub fn read(
        game: &str,
        level: Option<&str>,
        options: &[(String, String)],
        days: Option<u32>,
    ) -> Result<HouseMatch, OfferRejection> {
        let kind = GameKind::parse(game).ok_or_else(|| no_house(game))?;
        let mut levels = Vec::from_iter(level);
        let (mut advances, mut seats, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for (name, value) in options {
            match name.to_ascii_lowercase().as_str() {
                "level" => levels.push(value.as_str()),
                "advance" => advances.push(value.as_str()),
                "first" => {
                    seats.push(format!("first={value}"));
                    own.push(("seat".to_owned(), seat_of_player(value)?.to_string()));
                }
                "seat" => {
                    seats.push(format!("seat={value}"));
                    own.push((name.clone(), value.clone()));
                }
                _ => own.push((name.clone(), value.clone())),
            }
        }
        if let [first, second, ..] = &seats[..] {
            let reason =
                format!("`{first}` and `{second}` both choose your seat. Please write only one of them.");
            return Err(OfferRejection::BadOption { reason });
        }
        let level = offer::only_value("level", &levels)?.map(|level| house_level(kind, level)).transpose()?;
        let advance = offer::on_or_off("advance", &advances)?;
        let offer = Offer::read(game, &own, days)?.to_one_player()?;
        if house::levels(kind).is_empty() {
            return Err(no_house(kind.name()));
        }
        let given: Vec<_> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        if let Some(fault) = house::limit_fault(kind, &given) {
            return Err(OfferRejection::BadOption { reason: fault + "." });
        }
        own.retain(|(name, _)| {
            !["seat", "rated", "bank"].iter().any(|other| name.eq_ignore_ascii_case(other))
        });
        let Offer { game, seat, rated, bank, .. } = offer;
        Ok(HouseMatch { game, level, options: own, days, seat, advance, rated, bank })
    }

    /// Returns the options of the match at this level.
    pub fn choices(&self, level: &HouseLevel) -> Choices {
        let given: Vec<_> =
            self.options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        house::choices_at(self.game, level, &given).expect("the same options were read for an offer")
    }

    /// Returns the terms of the match, based on the club's. `advances` is the club's default.
    pub fn terms(&self, club: &Terms, advances: bool) -> Terms {
        let advance = self.advance.unwrap_or(advances);
        let rated = self.rated.unwrap_or(club.rated);
        let bank = self.bank.unwrap_or(club.bank);
        Terms { days: self.days.unwrap_or(club.days), advance, rated, bank, ..club.clone() }
    }
}

/// Parses the option `first=me|house` into the player's seat.
fn seat_of_player(first: &str) -> Result<Seat, OfferRejection> {
    match first.to_ascii_lowercase().as_str() {
        "me" => Ok(Seat::First),
        "house" => Ok(Seat::Second),
        _ => {
            let reason = format!("Option `first` cannot be `{first}`; it takes me or house.");
            Err(OfferRejection::BadOption { reason })
        }
    }
}

/// Finds the level called `name` at which the house plays `game`.
///
/// # Errors
/// [`OfferRejection`] if the house does not play the game, or has no such level in it.
pub fn house_level(game: GameKind, name: &str) -> Result<&'static HouseLevel, OfferRejection> {
    let levels = house::levels(game);
    if levels.is_empty() {
        return Err(no_house(game.name()));
    }
    house::level(game, name).ok_or_else(|| OfferRejection::NoLevel {
        level: name.to_owned(),
        game: game.key(),
        game_name: game.name(),
        levels: levels.iter().map(|level| level.name).collect(),
    })
}

fn no_house(game_name: &str) -> OfferRejection {
    let plays = GameKind::ALL.iter().filter(|kind| !house::levels(**kind).is_empty());
    OfferRejection::NoHouse { game_name: game_name.to_owned(), plays: plays.map(|kind| kind.key()).collect() }
}

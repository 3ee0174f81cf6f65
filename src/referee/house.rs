//! The house: a computer player that holds a seat at a level.
//!
//! It moves when its seat is due, knows only what its seat sees, and files by the same rules as everybody else. It
//! gets no letters, and no deadline runs while it alone is to move. Its orders are computed outside a ruling, because
//! that may take a second, and come in as [`Act::Play`].

use super::act::{Act, Rejection};
use super::life::{Draft, Match, Stage};
use super::{Offer, OfferRejection, Reply, Terms};
use crate::game::any::{AnySeen, Choices, GameKind};
use crate::game::{HouseLevel, Line, Seat};
use crate::ledger::Fact;

impl Match {
    /// Returns the seat for which the house is to move now.
    pub fn house_due(&self) -> Option<Seat> {
        if self.stage != Stage::Running {
            return None;
        }
        Seat::BOTH.into_iter().find(|seat| self.house[*seat].is_some() && self.awaits(*seat))
    }

    /// Computes what the house plays, if it is to move. `seen` is all that its seat was told and filed.
    ///
    /// Deterministic, so that `audit verify` can repeat it: the orders follow from what the seat has seen, its level, and
    /// dice derived from the match's secret and the phase.
    pub fn house_turn(&self, seen: &AnySeen) -> Option<Act> {
        let seat = self.house_due().filter(|seat| *seat == seen.seat())?;
        let level = self.game.level(self.house[seat].as_ref()?)?;
        let orders = seen.play(level, self.key.dice(self.phase_no))?.orders;
        Some(Act::Play { seat, version: self.game.house_version(), orders })
    }
}

/// Files the orders of the house.
pub(super) fn play(draft: &mut Draft, seat: Seat, orders: &[String]) -> Result<(), Rejection> {
    if draft.game_match.house_due() != Some(seat) {
        return Err(Rejection::NotDue { seat });
    }
    let lines: Vec<Line> = (1..).zip(orders).map(|(no, text)| Line { no, text: text.clone() }).collect();
    draft.seal(seat, &lines)?;
    // The house never amends its orders, so the settle time is skipped unless a player may still use it.
    match draft.game_match.due_from_players() {
        None => draft.adjudicate(Vec::new()),
        Some(_) => draft.adjudicate_if_complete(),
    }
    Ok(())
}

/// Extends the deadline at once: the house always agrees to more time.
pub(super) fn extend(draft: &mut Draft, seat: Seat, days: u32) -> Reply {
    if draft.game_match.deadline.is_none() {
        return Reply::NoDeadline;
    }
    draft.record(Fact::ExtensionAsked { seat, days });
    draft.extend(days);
    Reply::ExtensionAgreed
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
}

impl HouseMatch {
    /// Parses a game's name and options. Besides the game's own options there are `level=average`, and either
    /// `first=me|house` or `seat=first|second`.
    ///
    /// # Errors
    /// [`OfferRejection`] if the game, an option or the level is unknown, an option has a bad value, `days` is out of
    /// bounds, or the house does not play the game.
    pub fn read(
        game: &str,
        level: Option<&str>,
        options: &[(String, String)],
        days: Option<u32>,
    ) -> Result<HouseMatch, OfferRejection> {
        let mut level = level.map(str::to_owned);
        let mut own = Vec::new();
        for (name, value) in options {
            match name.to_ascii_lowercase().as_str() {
                "level" => level = Some(value.clone()),
                "first" => own.push(("seat".to_owned(), seat_of_player(value)?.to_string())),
                _ => own.push((name.clone(), value.clone())),
            }
        }
        let offer = Offer::read(game, &own, days)?;
        let level = level.map(|level| house_level(offer.game, &level)).transpose()?;
        if offer.game.levels().is_empty() {
            return Err(no_house(offer.game));
        }
        own.retain(|(name, _)| !name.eq_ignore_ascii_case("seat"));
        Ok(HouseMatch { game: offer.game, level, options: own, days, seat: offer.seat })
    }

    /// Returns the options of the match at this level.
    pub fn choices(&self, level: &HouseLevel) -> Choices {
        let given: Vec<_> =
            self.options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.game.choose_at(level, &given).expect("the same options were read for an offer")
    }

    /// Returns the terms of the match, based on the club's.
    pub fn terms(&self, club: &Terms) -> Terms {
        Terms { days: self.days.unwrap_or(club.days), ..club.clone() }
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
    let levels = game.levels();
    if levels.is_empty() {
        return Err(no_house(game));
    }
    game.level(name).ok_or_else(|| OfferRejection::NoLevel {
        level: name.to_owned(),
        game: game.key(),
        game_name: game.name(),
        levels: levels.iter().map(|level| level.name).collect(),
    })
}

fn no_house(game: GameKind) -> OfferRejection {
    let plays = GameKind::ALL.iter().filter(|kind| !kind.levels().is_empty());
    OfferRejection::NoHouse { game_name: game.name(), plays: plays.map(|kind| kind.key()).collect() }
}

//! The house: a computer player that holds a seat at a level.
//!
//! It is due like anybody, knows what its seat sees, and files by the same rules. It reads no letters and gets none,
//! and nobody waits for it: no deadline runs while it alone is to move. What it files is found outside of a ruling,
//! since that may take a second, and comes in as an act of the house, [`Act::Play`].

use super::gm::{self, Rejection};
use super::life::{Draft, Match, Stage};
use super::{Act, Offer, OfferRejection, Reply, Terms};
use crate::game::any::{Choices, GameKind};
use crate::game::{HouseLevel, Line, Seat};
use crate::ledger::Fact;

impl Match {
    /// The seat for which the house is to move now.
    pub fn house_due(&self) -> Option<Seat> {
        let plays = |seat: &Seat| self.house[*seat].is_some() && self.awaits(*seat);
        Seat::BOTH.into_iter().find(plays).filter(|_| self.stage == Stage::Running)
    }

    /// What the house does where it is due. The orders follow from what its seat sees, its level, and dice that the
    /// match's secret and the phase decide: they are the same whenever they are asked for.
    pub fn house_turn(&self) -> Option<Act> {
        let seat = self.house_due()?;
        let orders = self.state.house(seat, self.house[seat].as_ref()?, self.key.dice(self.phase_no))?;
        Some(Act::Play { seat, version: self.game.house_version(), orders })
    }
}

/// Files what the house plays.
pub(super) fn play(draft: &mut Draft, seat: Seat, orders: &[String]) -> Result<(), Rejection> {
    if draft.game_match.house_due() != Some(seat) {
        return Err(Rejection::NotDue { seat });
    }
    let lines: Vec<Line> = (1..).zip(orders).map(|(no, text)| Line { no, text: text.clone() }).collect();
    gm::seal(draft, seat, &lines)?;
    // It amends nothing: nobody waits for that.
    match draft.game_match.due_from_players() {
        None => draft.adjudicate(Vec::new()),
        Some(_) => draft.adjudicate_if_complete(),
    }
    Ok(())
}

/// More time is the player's for the asking.
pub(super) fn extend(draft: &mut Draft, seat: Seat, days: u32) -> Reply {
    if draft.game_match.deadline.is_none() {
        return Reply::NoDeadline;
    }
    draft.record(Fact::ExtensionAsked { seat, days });
    draft.extend(days);
    Reply::ExtensionAgreed
}

/// What a player asks of the house.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HouseMatch {
    pub game: GameKind,
    /// `None`: as the club has it.
    pub level: Option<&'static HouseLevel>,
    options: Vec<(String, String)>,
    pub days: Option<u32>,
    /// The player's seat; `None`: drawn by lot.
    pub seat: Option<Seat>,
}

impl HouseMatch {
    /// Reads a game's name and options. Besides the game's own there are `level=average`, and `first=me|house` or
    /// `seat=first|second`.
    ///
    /// # Errors
    /// Why there can be no such match.
    pub fn read(
        game: &str,
        level: Option<&str>,
        options: &[(String, String)],
        days: Option<u32>,
    ) -> Result<HouseMatch, OfferRejection> {
        let (mut level, mut own) = (level.map(str::to_owned), Vec::new());
        for (name, value) in options {
            let seat = match (name.to_ascii_lowercase().as_str(), value.to_ascii_lowercase().as_str()) {
                ("level", _) => {
                    level = Some(value.clone());
                    continue;
                }
                ("first", "me") => Seat::First,
                ("first", "house") => Seat::Second,
                ("first", _) => {
                    let reason = format!("Option `first` cannot be `{value}`; it takes me or house.");
                    return Err(OfferRejection::BadOption { reason });
                }
                _ => {
                    own.push((name.clone(), value.clone()));
                    continue;
                }
            };
            own.push(("seat".to_owned(), seat.to_string()));
        }
        let offer = Offer::read(game, &own, days)?;
        let level = level.map(|level| house_level(offer.game, &level)).transpose()?;
        if offer.game.levels().is_empty() {
            return Err(no_house(offer.game));
        }
        own.retain(|(name, _)| !name.eq_ignore_ascii_case("seat"));
        Ok(HouseMatch { game: offer.game, level, options: own, days, seat: offer.seat })
    }

    /// The options of the match at this level.
    pub fn choices(&self, level: &HouseLevel) -> Choices {
        let given: Vec<_> =
            self.options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.game.choose_at(level, &given).expect("the same options were read for an offer")
    }

    /// The terms of the match, where `custom` are those of the club.
    pub fn terms(&self, custom: &Terms) -> Terms {
        Terms { days: self.days.unwrap_or(custom.days), ..custom.clone() }
    }
}

/// The level of this name at which the house plays `game`.
///
/// # Errors
/// It does not play that game, or at no such level.
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

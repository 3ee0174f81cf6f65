//! An offer to play, made by letter: what it is for, and what is told of it. Who may take it up is for the shell.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::schedule::Terms;
use crate::game::Seat;
use crate::game::any::{Choices, GameKind};

/// What somebody offers to play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    pub game: GameKind,
    pub choices: Choices,
    /// Days for each turn; `None`: the club's custom.
    pub days: Option<u32>,
    /// The seat that who offers wants to hold; `None`: drawn by lot.
    pub seat: Option<Seat>,
}

impl Offer {
    /// Reads a game's name and options. Besides the game's own there is `seat=first|second`.
    ///
    /// # Errors
    /// Why there can be no such match.
    pub fn read(
        game: &str,
        options: &[(String, String)],
        days: Option<u32>,
    ) -> Result<Offer, OfferRejection> {
        let Some(kind) = GameKind::parse(game) else {
            return Err(OfferRejection::UnknownGame { name: game.to_owned() });
        };
        let bad = |reason: String| OfferRejection::BadOption { reason: format!("{reason}.") };
        let mut seat = None;
        let mut own = Vec::new();
        for (name, value) in options {
            if !name.eq_ignore_ascii_case("seat") {
                own.push((name.as_str(), value.as_str()));
                continue;
            }
            let taken = Seat::parse(value)
                .ok_or_else(|| bad(format!("option `seat` cannot be `{value}`; it takes first or second")))?;
            seat = Some(taken);
        }
        let offer = Offer { game: kind, choices: kind.choose(own).map_err(bad)?, days, seat };
        offer.terms(&Terms::default()).check().map_err(bad)?;
        Ok(offer)
    }

    /// The terms of the match, where `custom` are those of the club.
    pub fn terms(&self, custom: &Terms) -> Terms {
        Terms { days: self.days.unwrap_or(custom.days), ..custom.clone() }
    }

    /// What its readers are told of it.
    pub fn told(&self, custom: &Terms) -> OfferSummary {
        OfferSummary {
            game: self.game.key(),
            game_name: self.game.name(),
            sides: [self.game.sides().first, self.game.sides().second],
            options: self.game.options_in_force(&self.choices),
            days: self.days.unwrap_or(custom.days),
            seat: self.seat,
        }
    }
}

/// Why an offer cannot be made or taken up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum OfferRejection {
    UnknownGame {
        name: String,
    },
    BadOption {
        #[serde(rename = "says")]
        reason: String,
    },
    /// Nobody plays against himself, or against the referee.
    Yourself,
    /// The same is offered already, under this code.
    Standing {
        code: String,
    },
    TooMany {
        most: usize,
    },
    /// The house does not play that game; it plays those.
    NoHouse {
        game_name: &'static str,
        plays: Vec<&'static str>,
    },
    /// The house does not play at that level.
    NoLevel {
        level: String,
        game: &'static str,
        game_name: &'static str,
        levels: Vec<&'static str>,
    },
    /// The house plays so many matches against who asks.
    HouseBusy {
        most: usize,
    },
    /// No offer of this code is open to who asks.
    NoSuchCode {
        code: String,
    },
    /// The sender's address could not be proven.
    Unproven,
}

/// An offer as letters tell it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OfferSummary {
    pub game: &'static str,
    pub game_name: &'static str,
    pub sides: [&'static str; 2],
    pub options: BTreeMap<&'static str, String>,
    pub days: u32,
    pub seat: Option<Seat>,
}

/// An offer to anyone, as GAMES lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenSeat {
    pub code: String,
    /// Who offers.
    pub by: String,
    pub offer: OfferSummary,
    /// When it lapses, for people.
    pub lapses: String,
}

/// A match as MATCHES lists it; nothing that is hidden from either side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatchSummary {
    pub id: String,
    pub game_name: &'static str,
    /// Who plays on the other side.
    pub foe: String,
    /// The phase that is open, or how it ended.
    pub phase: String,
    /// Names.
    pub awaited: Vec<String>,
    pub due: Option<DateTime<Utc>>,
    /// The deadline, for people.
    pub due_at: Option<String>,
}

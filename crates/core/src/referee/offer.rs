//! Offers to play that are made by letter, and how letters show them. The shell decides who may accept one.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::schedule::{MAX_BANK, MAX_DAYS, Terms};
use crate::game::Seat;
use crate::game::any::{Choices, GameKind};
use crate::ledger::Lot;
use crate::letter::Digest;

/// A match that somebody offers to play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    pub game: GameKind,
    pub choices: Choices,
    /// Days for each turn. `None`: the club's default.
    pub days: Option<u32>,
    /// The seat that the offering player wants. `None`: drawn by lot.
    pub seat: Option<Seat>,
    /// The source of the match's chance. The shell fills it in.
    pub lot: Option<Lot>,
    /// The number of times that a standing offer can be taken; `None` for an offer that is taken once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The minimum percentage of turns filed in time for a player who takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reliable: Option<u32>,
    /// Whether the match may be rated. `None`: the club's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated: Option<bool>,
    /// Days in each side's bank. `None`: the club's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bank: Option<u32>,
    /// The terms of an earlier match, in place of the club's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Box<Terms>>,
}

/// Maximum times that a standing offer can be taken.
pub const MAX_TIMES: u32 = 10;

impl Offer {
    /// Parses a game's name and options. In addition to the game's own options, there is `seat=first|second`.
    ///
    /// # Errors
    /// [`OfferRejection`] if the game or an option is unknown, an option has a bad value or is given twice,
    /// or `days` is out of bounds.
    pub fn read(
        game: &str,
        options: &[(String, String)],
        days: Option<u32>,
    ) -> Result<Offer, OfferRejection> {
        let Some(kind) = GameKind::parse(game) else {
            return Err(OfferRejection::UnknownGame { name: game.to_owned() });
        };
        let bad = |reason: String| OfferRejection::BadOption { reason: format!("{reason}.") };
        let (mut seats, mut times, mut reliable) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rated, mut bank) = (Vec::new(), Vec::new());
        let mut own = Vec::new();
        for (name, value) in options {
            match name.to_ascii_lowercase().as_str() {
                "seat" => seats.push(value.as_str()),
                "times" => times.push(value.as_str()),
                "reliable" => reliable.push(value.as_str()),
                "rated" => rated.push(value.as_str()),
                "bank" => bank.push(value.as_str()),
                _ => own.push((name.as_str(), value.as_str())),
            }
        }
        let times = number_within("times", &times, 1, MAX_TIMES)?;
        let reliable = number_within("reliable", &reliable, 1, 100)?;
        let rated = on_or_off("rated", &rated)?;
        let bank = number_within("bank", &bank, 0, MAX_BANK)?;
        let seat = only_value("seat", &seats)?.map(parse_seat).transpose()?;
        if days.is_some_and(|days| !(1..=MAX_DAYS).contains(&days)) {
            return Err(bad(format!("A turn can take 1 to {MAX_DAYS} days")));
        }
        let choices = kind.choose(own).map_err(bad)?;
        Ok(Offer { game: kind, choices, days, seat, lot: None, times, reliable, rated, bank, earlier: None })
    }

    /// Returns the terms of the match, based on the club's.
    pub fn terms(&self, club: &Terms) -> Terms {
        let base = self.earlier.as_deref().unwrap_or(club);
        let (days, rated) = (self.days.unwrap_or(base.days), self.rated.unwrap_or(club.rated));
        Terms { days, rated, bank: self.bank.unwrap_or(base.bank), ..base.clone() }
    }

    /// Returns the offer if it has no option that only an open seat takes.
    ///
    /// # Errors
    /// [`OfferRejection::BadOption`] if it has `times` or `reliable`.
    pub fn to_one_player(self) -> Result<Offer, OfferRejection> {
        let stray = if self.times.is_some() { Some("times") } else { self.reliable.map(|_| "reliable") };
        match stray {
            None => Ok(self),
            Some(name) => Err(OfferRejection::BadOption {
                reason: format!("`{name}` is for OPEN, which offers a seat to anyone: OPEN quad {name}=…"),
            }),
        }
    }

    /// Returns the offer as letters show it.
    pub fn summary(&self, club: &Terms) -> OfferSummary {
        OfferSummary {
            game: self.game.key(),
            game_name: self.game.name(),
            sides: [self.game.sides().first, self.game.sides().second],
            options: self.game.options_in_force(&self.choices),
            days: self.terms(club).days,
            bank: self.terms(club).bank,
            rated: self.terms(club).rated,
            times: self.times,
            reliable: self.reliable,
            seat: self.seat,
            lot: self.lot.as_ref().map(|lot| lot.key.pin()),
        }
    }
}

/// Parses an option that is on or off, given at most once.
pub(super) fn on_or_off(name: &str, values: &[&str]) -> Result<Option<bool>, OfferRejection> {
    let Some(value) = only_value(name, values)? else { return Ok(None) };
    match value.to_ascii_lowercase().as_str() {
        "on" => Ok(Some(true)),
        "off" => Ok(Some(false)),
        _ => {
            let reason = format!("Option `{name}` cannot be `{value}`; it takes on or off.");
            Err(OfferRejection::BadOption { reason })
        }
    }
}

/// Parses a number from `least` to `most`, given at most once.
fn number_within(name: &str, values: &[&str], least: u32, most: u32) -> Result<Option<u32>, OfferRejection> {
    let Some(value) = only_value(name, values)? else { return Ok(None) };
    let number = value.parse::<u32>().ok().filter(|number| (least..=most).contains(number));
    number.map(Some).ok_or_else(|| OfferRejection::BadOption {
        reason: format!("`{name}` is a number from {least} to {most}, for example {name}={}.", most.min(90)),
    })
}

/// Parses the option `seat=first|second`.
fn parse_seat(seat: &str) -> Result<Seat, OfferRejection> {
    Seat::parse(seat).ok_or_else(|| OfferRejection::BadOption {
        reason: format!("option `seat` cannot be `{seat}`; it takes first or second."),
    })
}

/// Returns the value of an option, given at most once.
///
/// # Errors
/// [`OfferRejection::BadOption`] if there are several values, even if they are equal.
pub(super) fn only_value<'a>(name: &str, values: &[&'a str]) -> Result<Option<&'a str>, OfferRejection> {
    let [first, second, ..] = values else { return Ok(values.first().copied()) };
    let reason = format!(
        "`{name}` is given as `{first}` and as `{second}`. Please write it once, for example {name}={second}."
    );
    Err(OfferRejection::BadOption { reason })
}

/// The reason why an offer cannot be made or accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum OfferRejection {
    /// There is no such game.
    UnknownGame { name: String },
    /// An option is unknown, or has a bad value.
    BadOption {
        #[serde(rename = "says")]
        reason: String,
    },
    /// Nobody plays against themselves or against the referee.
    Yourself,
    /// The same offer is already open. The code of an open seat withdraws it; that of a challenge is known to
    /// the invited person alone.
    Standing { code: Option<String> },
    /// `to` does not want to be challenged, or is blocked.
    Unwilling { to: String },
    /// The sender cannot look up other players yet, or wants something that only players can do.
    NamesForPlayers,
    /// Several players go by this name; each is shown with their number.
    SeveralNamed { name: String, players: Vec<String> },
    /// Nobody goes by this name. `nearest` lists similar names, with their numbers.
    NobodyNamed { name: String, nearest: Vec<String> },
    /// BLOCK is for players whom the sender may meet, and not for this one.
    NotToBlock { name: String },
    /// The sender blocks `most` players, the limit.
    BlocksTooMany { most: usize },
    /// The offer rests while its author plays as many matches as they want.
    Resting { by: String },
    /// The sender already plays a match from this standing offer.
    HasSeat { match_id: String },
    /// The sender has filed fewer turns in time than the offer demands.
    Unreliable { percent: u32, says: String },
    /// The match that the sender wants to play again still runs.
    NotOver { match_id: String },
    /// The match already has a rematch. `match_id` is `None` while that offer waits for the opponent.
    RematchMade { match_id: Option<String> },
    /// The opponent has offered the rematch with other options: YES takes theirs.
    RematchDiffers { theirs: Box<OfferSummary>, own: Box<OfferSummary>, code: String },
    /// The opponent of an earlier match has left.
    Gone,
    /// A newcomer's challenge to this address is open already.
    Engaged { to: String },
    /// `to` declined an earlier offer by this newcomer.
    DeclinedBefore { to: String },
    /// A newcomer can challenge at most `most` people a day.
    NewcomerReach { most: u32 },
    /// Others have already caused the maximum number of letters to this address.
    Crowded { to: String },
    /// The sender has `most` offers open, the limit.
    TooMany { most: usize },
    /// The house does not play that game, which may not exist. `plays` lists the games that it does play.
    NoHouse { game_name: String, plays: Vec<&'static str> },
    /// The house has no such level in that game.
    NoLevel { level: String, game: &'static str, game_name: &'static str, levels: Vec<&'static str> },
    /// The house would play itself at these levels. Such matches are opened at the terminal only.
    HouseAgainstItself { game: &'static str, levels: [&'static str; 2] },
    /// The sender already plays `most` matches against the house, the limit.
    HouseBusy { most: usize, running: Vec<String> },
    /// No offer with this code is open to the sender. `near` is the only similar code that is open to them.
    NoSuchCode {
        code: String,
        #[serde(default)]
        near: Option<String>,
    },
    /// Only registered players can play here.
    MembersOnly,
    /// The GM was asked to admit the sender.
    NeedsApproval,
    /// The sender's address could not be proven.
    Unproven,
    /// Few mail servers deliver to the sender's address.
    Unreachable { address: String },
}

/// An offer as letters show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferSummary {
    pub game: &'static str,
    pub game_name: &'static str,
    pub sides: [&'static str; 2],
    pub options: BTreeMap<&'static str, String>,
    pub days: u32,
    /// Days in each side's bank.
    #[serde(default)]
    pub bank: u32,
    /// Whether the match may be rated.
    #[serde(default)]
    pub rated: bool,
    /// The number of times that a standing offer can be taken.
    #[serde(default)]
    pub times: Option<u32>,
    /// The minimum percentage of turns filed in time for a player who takes it.
    #[serde(default)]
    pub reliable: Option<u32>,
    pub seat: Option<Seat>,
    /// The SHA-256 of the key from which the match will be drawn.
    pub lot: Option<Digest>,
}

/// An offer to anyone, as GAMES lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct OpenOffer {
    pub code: String,
    /// The name of the offering player, with the number if the reader may know it.
    pub by: String,
    /// The reliability of that player.
    #[serde(default)]
    pub filed: String,
    pub offer: OfferSummary,
    /// The time at which it lapses, formatted for the reader.
    pub lapses: String,
}

/// A match as MATCHES lists it. Holds nothing that the rules hide from either side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchSummary {
    pub id: String,
    pub game_name: &'static str,
    /// The opponent's name.
    pub foe: String,
    /// The open phase, or the result.
    pub phase: String,
    /// Names of the players who have to move.
    pub awaited: Vec<String>,
    pub due: Option<DateTime<Utc>>,
    /// The deadline, formatted for the reader.
    pub due_at: Option<String>,
}

//! Ratings by Glicko-2, one result at a time. Figures are rounded after each result, and stored and used
//! rounded.
//!
//! The rated results of a match, which follow from its ledger alone, and the table of ratings that follows
//! from all results.
//!
//! The fixed figures of the house, from the matches between its levels (docs/house.md): Average is 1500, and
//! the distance of each other level follows from its wins and losses. Where only a bound of a distance is
//! known, the bound counts.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, glicko2};

use crate::game::any::GameKind;
use crate::game::{BySeat, Outcome, Reason, Seat};
use crate::ledger::{Entry, Fact, HouseFigure, RatingBasis, standing};

/// The growth of the squared deviation on each full day without a rated result.
const GROWTH: f64 = 25.12;

/// The deviation of a player about whom nothing is known, which is also the maximum.
const MAX_DEVIATION: f64 = 350.0;

/// A deviation above this one shows that little is known: the figure has a question mark, and a match against
/// the house is rated.
pub const UNSURE: f64 = 110.0;

/// Rated results below which a player's results change nobody else's rating.
pub const NEWCOMERS_RESULTS: u32 = 3;

/// A rating: figure and deviation in hundredths, volatility in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rating {
    pub figure: i64,
    pub deviation: i64,
    pub volatility: i64,
}

impl Default for Rating {
    fn default() -> Self {
        Rating::of(1500.0, MAX_DEVIATION, 0.06)
    }
}

impl Rating {
    pub fn of(figure: f64, deviation: f64, volatility: f64) -> Rating {
        Rating {
            figure: rounded(figure * 100.0),
            deviation: rounded(deviation * 100.0),
            volatility: rounded(volatility * 1e6),
        }
    }

    /// Returns the figure as letters show it: `1480`, or `1480?` while it is uncertain.
    pub fn shown(&self) -> String {
        let mark = if self.is_unsure() { "?" } else { "" };
        format!("{}{mark}", self.points())
    }

    /// Returns the figure in whole points.
    pub fn points(&self) -> i64 {
        // Half a point rounds up, as everywhere.
        (self.figure + 50).div_euclid(100)
    }

    pub fn is_unsure(&self) -> bool {
        as_float(self.deviation) / 100.0 > UNSURE
    }

    /// Returns the rating after this many full days without a result.
    pub fn grown(&self, days: u32) -> Rating {
        Rating { deviation: rounded(self.deviation_after(days) * 100.0), ..*self }
    }

    fn deviation_after(&self, days: u32) -> f64 {
        let deviation = as_float(self.deviation) / 100.0;
        (deviation * deviation + GROWTH * f64::from(days)).sqrt().min(MAX_DEVIATION)
    }

    fn glicko(&self, days: u32, shift: f64) -> Glicko2Rating {
        Glicko2Rating {
            rating: as_float(self.figure) / 100.0 + shift,
            deviation: self.deviation_after(days),
            volatility: as_float(self.volatility) / 1e6,
        }
    }
}

/// The score of the first seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Score {
    Win,
    Draw,
    Loss,
}

/// One player before a result.
#[derive(Clone, Copy, Debug)]
pub struct RatedSide {
    pub rating: Rating,
    /// Full days since the last rated result.
    pub days: u32,
}

/// Rates one result, and returns both sides after it. `advantage` is the number of points by which the first
/// seat is favoured.
pub fn rate_result(first: RatedSide, second: RatedSide, score: Score, advantage: i32) -> (Rating, Rating) {
    let shift = f64::from(advantage);
    let outcome = match score {
        Score::Win => Outcomes::WIN,
        Score::Draw => Outcomes::DRAW,
        Score::Loss => Outcomes::LOSS,
    };
    let config = Glicko2Config { tau: 0.5, ..Glicko2Config::default() };
    let (first, second) = glicko2(
        &first.rating.glicko(first.days, shift),
        &second.rating.glicko(second.days, 0.0),
        &outcome,
        &config,
    );
    (kept(first, shift), kept(second, 0.0))
}

fn kept(after: Glicko2Rating, shift: f64) -> Rating {
    Rating::of(after.rating - shift, after.deviation, after.volatility)
}

/// Counts the full days between two results.
pub fn full_days(from: DateTime<Utc>, to: DateTime<Utc>) -> u32 {
    u32::try_from((to - from).num_days().max(0)).unwrap_or(u32::MAX)
}

fn rounded(value: f64) -> i64 {
    value.round() as i64
}

fn as_float(value: i64) -> f64 {
    value as f64
}

/// A result that is rated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatedResult {
    pub at: DateTime<Utc>,
    pub match_id: String,
    /// The score of the first seat.
    pub score: Score,
    /// The only seat that is rated, if its first holder gave it up.
    pub only: Option<Seat>,
    pub basis: RatingBasis,
}

/// A player's standing in one game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RatedPlayer {
    pub rating: Rating,
    /// The rated results so far.
    pub results: u32,
    /// The time of the last rated result.
    pub last: Option<DateTime<Utc>>,
}

/// A player's rating after a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatingChange {
    pub player: i64,
    /// The number of the result among the player's in this game, from 1.
    pub no: u32,
    pub match_id: String,
    pub at: DateTime<Utc>,
    pub before: Rating,
    pub after: Rating,
}

impl RatedPlayer {
    /// Returns the rating at `at`, with the growth of its deviation since the last result.
    pub fn at(&self, at: DateTime<Utc>) -> Rating {
        self.rating.grown(self.days(at))
    }

    fn days(&self, at: DateTime<Utc>) -> u32 {
        self.last.map_or(0, |last| full_days(last, at))
    }

    fn side(&self, at: DateTime<Utc>) -> RatedSide {
        RatedSide { rating: self.rating, days: self.days(at) }
    }

    /// Applies a change of this player's rating.
    pub fn take(&mut self, change: &RatingChange) {
        *self = RatedPlayer { rating: change.after, results: change.no, last: Some(change.at) };
    }
}

/// Returns the rated results of a match, oldest first.
pub fn results_of(entries: &[Entry]) -> Vec<RatedResult> {
    let Some(Fact::MatchOpened { rating: Some(basis), .. }) = entries.first().map(|entry| &entry.fact) else {
        return Vec::new();
    };
    let mut followed = Followed::default();
    // Facts that a correction voids do not count, but some facts cannot be voided, so go through all entries.
    let stands: BTreeSet<u64> = standing(entries).iter().map(|entry| entry.seq).collect();
    for entry in entries {
        followed.note(entry, stands.contains(&entry.seq));
    }
    followed.results(entries, basis)
}

/// The state of a match's results while reading its ledger.
#[derive(Default)]
struct Followed {
    filed: BySeat<bool>,
    played: BySeat<bool>,
    /// The time at which each seat's first holder gave it up, and whether that is rated.
    given_up: BySeat<Option<(DateTime<Utc>, bool)>>,
    ended: Option<(DateTime<Utc>, Outcome)>,
    is_unrated: bool,
}

impl Followed {
    fn note(&mut self, entry: &Entry, stands: bool) {
        match &entry.fact {
            Fact::OrdersSealed { seat, .. } if stands => self.filed[*seat] = true,
            Fact::OrdersWithdrawn { seat, .. } if stands => self.filed[*seat] = false,
            Fact::TurnAdjudicated { .. } if stands => {
                for seat in Seat::BOTH {
                    self.played[seat] |= std::mem::take(&mut self.filed[seat]);
                }
            }
            Fact::PlayerReplaced { seat, excused, .. } => {
                let is_rated = !excused && self.have_played();
                self.given_up[*seat].get_or_insert((entry.at, is_rated));
            }
            Fact::CorrectionMade { .. } => self.ended = None,
            Fact::MatchEnded { outcome } => self.ended = Some((entry.at, outcome.clone())),
            Fact::MatchAnnulled { .. } => self.ended = None,
            Fact::TermsChanged { terms } => self.is_unrated |= terms.rated == Some(false),
            _ => {}
        }
    }

    /// Whether a filing of each seat was adjudicated. Before that, nothing is rated.
    fn have_played(&self) -> bool {
        self.played.first && self.played.second
    }

    fn results(&self, entries: &[Entry], basis: &RatingBasis) -> Vec<RatedResult> {
        if self.is_unrated {
            return Vec::new();
        }
        let match_id = entries.first().map(|entry| entry.match_id.clone()).unwrap_or_default();
        let result = |at: DateTime<Utc>, score: Score, only: Option<Seat>| RatedResult {
            at,
            match_id: match_id.clone(),
            score,
            only,
            basis: basis.clone(),
        };
        if self.given_up.first.is_some() || self.given_up.second.is_some() {
            let given_up = Seat::BOTH.into_iter().filter_map(|seat| Some((seat, self.given_up[seat]?)));
            let mut lost: Vec<RatedResult> = given_up
                .filter(|(_, (_, is_rated))| *is_rated)
                .map(|(seat, (at, _))| result(at, lost_by(seat), Some(seat)))
                .collect();
            lost.sort_by_key(|one| one.at);
            return lost;
        }
        let Some((at, outcome)) = self.ended.as_ref().filter(|_| self.have_played()) else {
            return Vec::new();
        };
        let score = match outcome.winner {
            Some(winner) => lost_by(winner.other()),
            // A draw by equal own times says nothing about their play.
            None if outcome.is_draw() && outcome.reason != Reason::LessTime => Score::Draw,
            None => return Vec::new(),
        };
        vec![result(*at, score, None)]
    }
}

fn lost_by(seat: Seat) -> Score {
    if seat == Seat::First { Score::Loss } else { Score::Win }
}

/// Rates a result, given the standings of both players in the game. Returns the changes.
pub fn rate(result: &RatedResult, players: &BySeat<RatedPlayer>) -> Vec<RatingChange> {
    let basis = &result.basis;
    let side = |seat: Seat| match (basis.numbers[seat], basis.house) {
        (None, Some(house)) => RatedSide {
            rating: Rating::of(f64::from(house.figure), f64::from(house.deviation), 0.06),
            days: 0,
        },
        _ => players[seat].side(result.at),
    };
    let (first, second) = rate_result(side(Seat::First), side(Seat::Second), result.score, basis.advantage);
    let after = BySeat::new(first, second);
    let mut changes = Vec::new();
    for seat in Seat::BOTH {
        let Some(player) = basis.numbers[seat].filter(|_| result.only.is_none_or(|only| only == seat)) else {
            continue;
        };
        let other = basis.numbers[seat.other()].map(|_| players[seat.other()].results);
        let is_newcomer = |results: u32| results < NEWCOMERS_RESULTS;
        // A newcomer's rating is too uncertain to change that of an established player.
        if other.is_some_and(is_newcomer) && !is_newcomer(players[seat].results) {
            continue;
        }
        changes.push(RatingChange {
            player,
            no: players[seat].results + 1,
            match_id: result.match_id.clone(),
            at: result.at,
            before: players[seat].rating,
            after: after[seat],
        });
    }
    changes
}

/// Rates all results of a game, in order of time, then of match ID. `same` maps a player's number to the
/// present one, which differs if players were merged.
pub fn table(mut results: Vec<RatedResult>, same: &dyn Fn(i64) -> i64) -> Vec<RatingChange> {
    results.sort_by(|one, other| (one.at, &one.match_id).cmp(&(other.at, &other.match_id)));
    let mut players: BTreeMap<i64, RatedPlayer> = BTreeMap::new();
    let mut changes = Vec::new();
    for mut result in results {
        result.basis.numbers = result.basis.numbers.map(|number| number.map(same));
        let standing = |seat: Seat| {
            let number = result.basis.numbers[seat];
            number.and_then(|number| players.get(&number).copied()).unwrap_or_default()
        };
        for change in rate(&result, &BySeat::from_fn(standing)) {
            players.entry(change.player).or_default().take(&change);
            changes.push(change);
        }
    }
    changes
}

/// The deviation of every level.
const DEVIATION: i32 = 50;

/// Figures by game and level.
const FIGURES: [(&str, &str, i32); 14] = [
    ("quad", "trainer", 947),
    ("quad", "easy", 1202),
    ("quad", "average", 1500),
    ("quad", "expert", 1670),
    ("quantum", "trainer", 242),
    ("quantum", "easy", 540),
    ("quantum", "average", 1500),
    ("quantum", "expert", 1962),
    ("pacific", "trainer", 813),
    ("pacific", "easy", 963),
    ("pacific", "average", 1500),
    ("quadrant-z", "trainer", -120),
    ("quadrant-z", "easy", 540),
    ("quadrant-z", "average", 1500),
];

/// Returns the figure of the house at a level; `None` for a level that was never measured.
pub fn house_figure(game: GameKind, level: &str) -> Option<HouseFigure> {
    let found = FIGURES.iter().find(|(of_game, name, _)| *of_game == game.key() && *name == level);
    found.map(|(_, _, figure)| HouseFigure { figure: *figure, deviation: DEVIATION })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house;

    #[test]
    fn every_level_of_the_house_has_a_figure_and_a_stronger_one_has_a_higher() {
        for game in GameKind::ALL {
            let figures: Vec<i32> = house::levels(*game)
                .iter()
                .map(|level| house_figure(*game, level.name).expect("a figure").figure)
                .collect();
            assert!(figures.is_sorted() && !figures.is_empty(), "{game}: {figures:?}");
        }
    }
}

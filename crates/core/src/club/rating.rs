//! Ratings by Glicko-2, one result at a time. Figures are rounded after each result, and stored and used
//! rounded.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, glicko2};

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
    let kept = |after: Glicko2Rating, shift: f64| {
        Rating::of(after.rating - shift, after.deviation, after.volatility)
    };
    (kept(first, shift), kept(second, 0.0))
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

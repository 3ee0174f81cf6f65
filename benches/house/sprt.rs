//! The test of two players: a generalized sequential probability ratio test over the outcomes of pairs, as fishtest
//! makes it for Stockfish.

/// The outcomes of pairs by the stronger player's points, in halves: 0, ½, 1, 1½ and 2 of 2.
pub type Outcomes = [u32; 5];

/// The difference in rating, in points, that is rejected as too small, and the one that is accepted.
pub const SMALL: f64 = 50.0;
pub const LARGE: f64 = 150.0;
/// The probability of either error.
const ERROR: f64 = 0.01;
/// Added to each outcome's count, because an outcome that did not occur yet is not impossible.
const PRIOR: f64 = 1e-3;

/// What the test says so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Open,
    /// The difference is [`LARGE`] rather than [`SMALL`].
    Stronger,
    NotStronger,
}

/// The expected share of points at a difference in rating.
fn share(points: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-points / 400.0))
}

/// The difference in rating of this share of points, within ±1200.
pub fn points(share: f64) -> f64 {
    let share = share.clamp(0.001, 0.999);
    400.0 * (share / (1.0 - share)).log10()
}

fn frequencies(outcomes: &Outcomes) -> [(f64, f64); 5] {
    let total: f64 = outcomes.iter().map(|count| f64::from(*count) + PRIOR).sum();
    std::array::from_fn(|at| (at as f64 / 4.0, (f64::from(outcomes[at]) + PRIOR) / total))
}

/// The share of points, and its standard error.
pub fn mean(outcomes: &Outcomes) -> (f64, f64) {
    let pairs: f64 = outcomes.iter().map(|count| f64::from(*count)).sum();
    let frequencies = frequencies(outcomes);
    let mean: f64 = frequencies.iter().map(|(share, p)| share * p).sum();
    let variance: f64 = frequencies.iter().map(|(share, p)| (share - mean).powi(2) * p).sum();
    (mean, (variance / pairs.max(1.0)).sqrt())
}

/// The logarithm of the likelihood ratio of [`LARGE`] to [`SMALL`]. Each is the likelihood under the most likely
/// distribution of outcomes with that mean.
pub fn ratio(outcomes: &Outcomes) -> f64 {
    let frequencies = frequencies(outcomes);
    let (small, large) = (tilt(&frequencies, share(SMALL)), tilt(&frequencies, share(LARGE)));
    let pairs: f64 = outcomes.iter().map(|count| f64::from(*count) + PRIOR).sum();
    let gain = |(value, p): &(f64, f64)| {
        let at = |tilt: f64, mean: f64| 1.0 + tilt * (value - mean);
        p * (at(small, share(SMALL)) / at(large, share(LARGE))).ln()
    };
    pairs * frequencies.iter().map(gain).sum::<f64>()
}

/// Solves `Σ p (v - mean) / (1 + t (v - mean)) = 0` for `t`, by bisection: the frequencies divided by that denominator
/// are the most likely ones with this mean.
fn tilt(frequencies: &[(f64, f64); 5], mean: f64) -> f64 {
    let (mut low, mut high) = (-1.0 / (1.0 - mean) + 1e-9, 1.0 / mean - 1e-9);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        let sum: f64 = frequencies.iter().map(|(v, p)| p * (v - mean) / (1.0 + middle * (v - mean))).sum();
        if sum > 0.0 { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

pub fn verdict(outcomes: &Outcomes) -> Verdict {
    let bound = ((1.0 - ERROR) / ERROR).ln();
    match ratio(outcomes) {
        ratio if ratio >= bound => Verdict::Stronger,
        ratio if ratio <= -bound => Verdict::NotStronger,
        _ => Verdict::Open,
    }
}

//! The worth of the first marbles of Quad: a level of the house plays itself from each, after the other side has taken the
//! marble over. The 117 points have 20 kinds, because the board has eight symmetries.

use std::io::Write as _;

use fogpost::game::any::{AnySeen, AnyState, GameKind};
use fogpost::game::{BySeat, Seat};

use crate::arena::{Rules, play};
use crate::player::{Player, Turn};
use crate::players;
use fogpost_testing::random::Random;

/// The centre of the board, as a file and a rank counted from 0.
const CENTRE: i32 = 5;
/// Matches of each kind that are played before the next kind has its turn, so that a test cut short knows something of all.
const BATCH: u32 = 20;

/// A player whose first turn is given.
struct Opened {
    first: Option<&'static str>,
    /// The point of the first turn, if it has one.
    point: String,
    then: Box<dyn Player>,
}

impl Player for Opened {
    fn play(&mut self, state: &AnyState, seen: &AnySeen, seed: u64) -> Turn {
        match self.first.take() {
            Some(verb) => {
                let order = format!("{verb} {}", self.point).trim_end().to_owned();
                Turn { orders: vec![order], positions: 0 }
            }
            None => self.then.play(state, seen, seed),
        }
    }
}

/// One point of each kind: right of the centre or in its file, below the diagonal or on it, and above the centre's rank or in
/// it. The corner is no point.
fn kinds() -> Vec<String> {
    let places = (0..=CENTRE).flat_map(|files| (0..=files).map(move |ranks| (files, ranks)));
    places.filter(|place| *place != (CENTRE, CENTRE)).map(name).collect()
}

fn name((files, ranks): (i32, i32)) -> String {
    format!("{}{}", char::from(b'A' + (CENTRE + files) as u8), CENTRE + ranks + 1)
}

/// The results of matches from one first marble, for the side that owns it.
#[derive(Clone, Copy, Default)]
struct Score {
    won: u32,
    drawn: u32,
    lost: u32,
}

impl Score {
    fn played(self) -> u32 {
        self.won + self.drawn + self.lost
    }

    /// The share of the points, and its standard error, in percent.
    fn share(self) -> (f64, f64) {
        let played = f64::from(self.played().max(1));
        let share = (f64::from(self.won) + f64::from(self.drawn) / 2.0) / played;
        (100.0 * share, 100.0 * (share * (1.0 - share) / played).sqrt())
    }
}

/// Plays `matches` matches from each of `points`, or from one point of each kind, and prints what the owner of the first
/// marble won.
///
/// # Errors
/// Returns a sentence if nobody plays under that name.
pub fn measure(rules: &Rules, level: &str, matches: u32, points: &[&str]) -> Result<(), String> {
    let points: Vec<String> = match points {
        [] => kinds(),
        _ => points.iter().map(|point| point.to_uppercase()).collect(),
    };
    let mut scores = vec![Score::default(); points.len()];
    let mut done = 0;
    while done < matches {
        let batch = BATCH.min(matches - done);
        for (point, score) in points.iter().zip(&mut scores) {
            for number in done..done + batch {
                let owner = opened(rules, level, point, number)?;
                match owner {
                    Some(Seat::Second) => score.won += 1,
                    Some(Seat::First) => score.lost += 1,
                    None => score.drawn += 1,
                }
            }
        }
        done += batch;
        println!("{} {level}, seed {}, after {done} matches from each first marble:", rules.game, rules.seed);
        for (point, score) in points.iter().zip(&scores) {
            let (share, error) = score.share();
            let Score { won, drawn, lost } = score;
            println!(
                "  {point:<3} {won:>3} won {drawn:>3} drawn {lost:>3} lost  {share:5.1} % ± {:.1}",
                1.96 * error
            );
        }
        std::io::stdout().flush().map_err(|fault| fault.to_string())?;
    }
    Ok(())
}

/// Plays one match, and returns its winner. The second side owns the first marble.
fn opened(rules: &Rules, level: &str, point: &str, number: u32) -> Result<Option<Seat>, String> {
    if rules.game != GameKind::Quad {
        return Err(format!("first marbles are of Quad, not of {}", rules.game));
    }
    let player = |verb: &'static str, point: &str| -> Result<Box<dyn Player>, String> {
        let then = players::named(rules.game, level)?;
        Ok(Box::new(Opened { first: Some(verb), point: point.to_owned(), then }))
    };
    let mut sides = BySeat::new(player("MARBLE", point)?, player("SWAP", "")?);
    let seed = Random::new(rules.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(number))).next();
    Ok(play(rules, &mut sides, seed).outcome.and_then(|outcome| outcome.winner))
}

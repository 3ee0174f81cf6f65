//! The time in which the results of ten years are rated: `cargo bench --bench club`. The target: 100,000 results of 500
//! players in two seconds.

#[path = "../tests/support/random.rs"]
mod random;

use std::time::Instant;

use chrono::{DateTime, TimeDelta};
use fogpost::club::rated::{RatedResult, table};
use fogpost::club::rating::Score;
use fogpost::game::BySeat;
use fogpost::ledger::RatingBasis;

use random::Random;

const RESULTS: i64 = 100_000;
const PLAYERS: usize = 500;

fn main() {
    let mut random = Random::new(1);
    let mut results = Vec::new();
    for no in 0..RESULTS {
        let first = random.below(PLAYERS);
        let second = (first + 1 + random.below(PLAYERS - 1)) % PLAYERS;
        let number = |player: usize| i64::try_from(player).ok();
        results.push(RatedResult {
            at: DateTime::UNIX_EPOCH + TimeDelta::minutes(no * 52),
            match_id: format!("QD-{no:05}"),
            score: *random.pick(&[Score::Win, Score::Draw, Score::Loss]),
            only: None,
            basis: RatingBasis {
                numbers: BySeat::new(number(first), number(second)),
                advantage: 220,
                house: None,
            },
        });
    }
    let begun = Instant::now();
    let changes = table(results, &|player| player);
    println!("{RESULTS} results, {} changes of ratings: {:.2?}", changes.len(), begun.elapsed());
}

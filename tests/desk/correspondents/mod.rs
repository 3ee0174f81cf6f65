//! Whole matches between correspondents who know only the text part of our letters.

mod pacific;
mod quad;
mod quadrant_z;
mod quantum;

use fogpost::game::any::GameKind;
use fogpost::referee::Stage;

use crate::referee::{ANN, BO, Referee, Sent};
use fogpost_testing::random::Random;

/// Rounds of letters after which a match has failed. These matches are far shorter.
const MAX_ROUNDS: usize = 1000;

/// Plays a match to its end.
fn plays_to_the_end(game: GameKind, option: (&str, &str)) {
    let referee = Referee::with("[letters]\nanswers_per_hour = 100000\n");
    let id = referee.open(game, &[option]).id;
    let mut random = Random::new(2);
    for _ in 0..MAX_ROUNDS {
        if referee.find(&id).stage == Stage::Over {
            return;
        }
        let mut answered = false;
        for address in [ANN, BO] {
            for letter in referee.sent_to(address) {
                if let Some(orders) = orders(game, &letter, &mut random) {
                    referee.put(&referee.answer(address, &letter, &orders.join("\n")));
                    answered = true;
                }
            }
        }
        assert!(answered, "{id} waits for orders that nobody sends");
        referee.work();
    }
    panic!("{id} did not end");
}

/// Returns the orders for an invitation or a report that asks for some. After a refusal, these are the refusal's examples.
pub fn orders(game: GameKind, letter: &Sent, random: &mut Random) -> Option<Vec<String>> {
    let text = &letter.text;
    if letter.subject.contains("not filed") || text.contains("is not valid") {
        return Some(examples(text)).filter(|orders| !orders.is_empty());
    }
    // A receipt that is also the report of the turn asks for the next orders.
    let is_receipt_alone = text.contains("Your orders are sealed") && !text.contains("What happened");
    if !text.contains("waits for your orders") || is_receipt_alone {
        return None;
    }
    let orders = match game {
        GameKind::QuadrantZ => quadrant_z::orders,
        GameKind::Pacific => pacific::orders,
        GameKind::Quantum => quantum::orders,
        GameKind::Quad => quad::orders,
    };
    Some(orders(text, random))
}

/// Returns the first run of example orders in a letter: lines that begin with `| `.
fn examples(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.trim().strip_prefix("| "))
        .skip_while(Option::is_none)
        .map_while(|order| order.map(str::to_owned))
        .collect()
}

#[test]
fn quadrant_z_can_be_played_to_the_end_from_the_text_part_alone() {
    plays_to_the_end(GameKind::QuadrantZ, ("turn_limit", "12"));
}

/// A debug build takes minutes for the hundreds of turns of a whole match, so a short quiet time ends this one.
#[test]
fn the_pacific_can_be_played_to_the_end_from_the_text_part_alone() {
    plays_to_the_end(GameKind::Pacific, ("quiet_limit", "1"));
}

#[test]
fn quantum_can_be_played_to_the_end_from_the_text_part_alone() {
    plays_to_the_end(GameKind::Quantum, ("quiet_limit", "20"));
}

#[test]
fn quad_can_be_played_to_the_end_from_the_text_part_alone() {
    plays_to_the_end(GameKind::Quad, ("swap", "on"));
}

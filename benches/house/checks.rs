//! Whether a player's orders are legal wherever it stands, and whether a won match can be won again by repeating it.

use fogpost::game::any::AnySeen;
use fogpost::game::{BySeat, Line, Phase, Seat};

use crate::arena::{Played, Rules, adjudicate, play, seed_of};
use crate::players;

/// Asks the player for orders in this many positions of random matches.
///
/// # Errors
/// Returns a sentence that names the player if nobody is called so, or the first position in which the orders are
/// refused.
pub fn legal(rules: &Rules, name: &str, positions: u32) -> Result<(), String> {
    let mut asked = players::named(rules.game, name)?;
    let mut random = players::named(rules.game, "random")?;
    let (mut met, mut matches) = (0, 0);
    while met < positions {
        let seed = rules.seed.wrapping_add(matches);
        matches += 1;
        let mut state = rules.game.start(&rules.choices);
        let mut seen = BySeat::from_fn(|seat| AnySeen::begin(&state, seat));
        for phase in 0.. {
            let Some(due) = state.due().filter(|_| met < positions) else { break };
            let mut lines = BySeat::new(None, None);
            for seat in due.seats {
                let dice = seed_of(seed, phase, seat);
                let chosen = asked.play(&state, &seen[seat], dice).orders;
                state.seal(seat, &Line::numbered(&chosen)).map_err(|faults| {
                    format!("match {seed}, phase {phase}: {seat} {chosen:?} is refused: {faults:?}")
                })?;
                met += 1;
                lines[seat] = Some(random.play(&state, &seen[seat], dice).orders);
            }
            adjudicate(&mut state, &mut seen, &lines);
        }
    }
    println!("{} {name}: legal orders in {met} positions of {matches} random matches", rules.game);
    Ok(())
}

/// Times that a won match is repeated.
const REPETITIONS: u64 = 20;
/// By this phase the repeated match should have left the old one.
const LEFT_BY: usize = 6;
/// Matches to play in search of one that is won.
const TRIES: u64 = 200;

/// Lets `winner` win a match against `loser`, and repeats its orders against other dice.
///
/// # Errors
/// Returns a sentence if nobody plays under one of the names, or `winner` does not win.
pub fn repeat(rules: &Rules, winner: &str, loser: &str) -> Result<(), String> {
    for seat in Seat::BOTH {
        let (won, seed) = won_match(rules, seat, winner, loser)?;
        let (mut left, mut again) = (0, 0);
        for round in 1..=REPETITIONS {
            let (at, is_won) = repeated(rules, &won, seat, loser, seed + round * TRIES)?;
            left += u32::from(at <= LEFT_BY);
            again += u32::from(is_won);
        }
        println!(
            "{} {winner} as {seat} won against {loser} in {} turns; of {REPETITIONS} repetitions {left} left the old \
             match by phase {LEFT_BY}, {again} were won again",
            rules.game, won.phases,
        );
    }
    Ok(())
}

fn won_match(rules: &Rules, seat: Seat, winner: &str, loser: &str) -> Result<(Played, u64), String> {
    for seed in (0..TRIES).map(|number| rules.seed + number) {
        let mut players =
            BySeat::new(players::named(rules.game, winner)?, players::named(rules.game, loser)?);
        if seat == Seat::Second {
            players = BySeat::new(players.second, players.first);
        }
        let played = play(rules, &mut players, seed);
        if played.outcome.as_ref().is_some_and(|outcome| outcome.winner == Some(seat)) {
            return Ok((played, seed));
        }
    }
    Err(format!("{winner} as {seat} did not beat {loser} in {TRIES} matches"))
}

/// Repeats the orders of `seat` as long as they are legal. Returns the phase in which the other side first did something
/// else, apart from its setup, which is always drawn anew, and whether the orders won again.
fn repeated(
    rules: &Rules,
    old: &Played,
    seat: Seat,
    loser: &str,
    seed: u64,
) -> Result<(usize, bool), String> {
    let mut player = players::named(rules.game, loser)?;
    let mut state = rules.game.start(&rules.choices);
    let mut seen = BySeat::from_fn(|seat| AnySeen::begin(&state, seat));
    let mut left_at = usize::MAX;
    for (phase, before) in (0..).zip(&old.filed) {
        let Some(due) = state.due() else { break };
        let mut lines = BySeat::new(None, None);
        if due.seats.contains(&seat.other()) {
            let orders = player.play(&state, &seen[seat.other()], seed_of(seed, phase, seat.other())).orders;
            if due.phase != Phase::Setup && before[seat.other()].as_ref() != Some(&orders) {
                left_at = left_at.min(phase as usize + 1);
            }
            lines[seat.other()] = Some(orders);
        }
        if due.seats.contains(&seat) {
            let orders = before[seat].clone().unwrap_or_default();
            if state.seal(seat, &Line::numbered(&orders)).is_err() {
                return Ok((left_at.min(phase as usize + 1), false));
            }
            lines[seat] = Some(orders);
        }
        adjudicate(&mut state, &mut seen, &lines);
    }
    let is_won = state.outcome().is_some_and(|outcome| outcome.winner == Some(seat));
    Ok((left_at, is_won))
}

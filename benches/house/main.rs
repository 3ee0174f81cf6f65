//! How strong the house is: players of one game meet in pairs of matches, in memory.
//!
//! ```text
//! cargo bench --bench house -- quad expert average              # is `expert` stronger? stops as soon as that is sure
//! cargo bench --bench house -- quad expert mcts --pairs 100 --swap on --threads 2
//! cargo bench --bench house -- legal quad easy 100000           # are its orders legal in random positions?
//! cargo bench --bench house -- repeat quad average expert       # does a won match, repeated, leave the old game?
//! cargo bench --bench house -- first quad average 200 --swap on # what is each first marble worth to its owner?
//! ```
//!
//! A player is a level of the house, `random`, or an opponent of [`outside`]. In games that hide something, `average-blind`
//! guesses from setups alone and `average-cheat` sees the state. An option of the game is set by
//! `--NAME VALUE`. With `--stop false` all pairs are played, because a share of the points is too high where the stronger
//! player's luck ended the test. Everything follows from `--seed`, on any number of threads.

mod alpha_beta;
mod alpha_beta_pacific;
mod alpha_beta_quantum;
mod arena;
mod checks;
mod first_marbles;
mod mcts;
mod mcts_quad;
mod mcts_quantum;
mod outside;
mod plain_pacific;
mod plain_quad;
mod plain_quantum;
mod player;
mod players;
mod random_player;
mod sprt;
mod thumb_quadrant_z;

use std::process::ExitCode;

use fogpost::game::any::{Choices, GameKind};

use crate::arena::Rules;

const USAGE: &str = "cargo bench --bench house -- GAME STRONG WEAK [--pairs N] [--seed N] [--threads N] \
                     [--stop false] [--OPTION VALUE]…; benches/house/main.rs tells more";

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let (words, rules) = parse(arguments)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => {
            println!("{USAGE}");
            Ok(())
        }
        ["legal", game, player, positions] => {
            let positions = positions.parse().map_err(|_| format!("`{positions}` is not a number"))?;
            checks::legal(&rules.of(kind(game)?)?, player, positions)
        }
        ["first", game, player, matches, ref points @ ..] => {
            let matches = matches.parse().map_err(|_| format!("`{matches}` is not a number"))?;
            first_marbles::measure(&rules.of(kind(game)?)?, player, matches, points)
        }
        ["repeat", game, winner, loser] => checks::repeat(&rules.of(kind(game)?)?, winner, loser),
        [game, strong, weak] => arena::compare(&rules.of(kind(game)?)?, strong, weak),
        _ => Err(USAGE.to_owned()),
    }
}

fn kind(name: &str) -> Result<GameKind, String> {
    GameKind::parse(name).ok_or_else(|| format!("there is no game called {name}"))
}

/// What the command line sets, with the options of a game that is not known yet.
struct Given {
    pairs: u32,
    seed: u64,
    threads: usize,
    stop: bool,
    options: Vec<(String, String)>,
}

impl Given {
    fn of(&self, game: GameKind) -> Result<Rules, String> {
        let options = self.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let choices: Choices = game.choose(options)?;
        let Given { pairs, seed, threads, stop, options: _ } = *self;
        Ok(Rules { game, choices, pairs, seed, threads, stop })
    }
}

fn parse(arguments: &[String]) -> Result<(Vec<String>, Given), String> {
    let mut words = Vec::new();
    let mut given = Given { pairs: 400, seed: 1, threads: 1, stop: true, options: Vec::new() };
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let Some(name) = word.strip_prefix("--") else {
            words.push(word.clone());
            continue;
        };
        let value = rest.next().ok_or_else(|| format!("{word} lacks a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{word} takes a number"));
        match name {
            "pairs" => given.pairs = u32::try_from(number()?).map_err(|_| format!("{word} is too large"))?,
            "seed" => given.seed = number()?,
            "threads" => given.threads = usize::try_from(number()?.clamp(1, 64)).unwrap_or(1),
            "stop" => given.stop = value.parse().map_err(|_| format!("{word} takes true or false"))?,
            _ => given.options.push((name.to_owned(), value.clone())),
        }
    }
    Ok((words, given))
}

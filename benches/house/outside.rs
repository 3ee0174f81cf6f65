//! Opponents from outside, which share no code with the house: they measure how strong it is.

use fogpost::game::any::{AnySeen, AnyState, GameKind};
use fogpost::game::pacific::ShipKind;
use fogpost::game::quantum::PieceKind;
use fogpost::game::{Game, Phase, Seat, pacific, quad, quantum};

use crate::plain_quantum::{Cell, Judge};
use crate::player::{Player, Turn};
use crate::random_player::Random;
use crate::thumb_quadrant_z::Thumb;
use crate::{alpha_beta, mcts, plain_pacific, plain_quad, plain_quantum};
use fogpost_testing::random::dice;

/// The players of a game from outside, for messages.
pub const NAMES: &str = "mcts (10,000 playouts), mcts50000, mcts50000-rim (Quad), alpha-beta (3 turns deep), alpha-beta4, \
                         greedy (Pacific), thumb (Quadrant Z)";

/// How an outside opponent thinks.
#[derive(Clone, Copy)]
enum Method {
    /// Tree search with this many playouts a turn.
    Mcts(u32),
    /// Alpha-beta, this many turns deep.
    AlphaBeta(u32),
}

/// Returns a name without its ending, and what a player of Quantum counts who is called so.
fn judge(name: &str) -> (&str, Judge) {
    let endings = [
        ("-pieces", Judge::Pieces),
        ("-squares", Judge::Squares),
        ("-stacks", Judge::Stacks),
        ("-towers", Judge::Towers),
    ];
    let named = endings.iter().find_map(|(ending, judge)| Some((name.strip_suffix(ending)?, *judge)));
    named.unwrap_or((name, Judge::Heights))
}

/// Returns the outside opponent called `name`, such as `mcts50000`.
pub fn named(game: GameKind, name: &str) -> Option<Box<dyn Player>> {
    let (name, opening) = match name.strip_suffix("-rim").filter(|_| game == GameKind::Quad) {
        Some(name) => (name, Opening::Rim),
        None => (name, Opening::Judged),
    };
    let (name, judge) = if game == GameKind::Quantum { judge(name) } else { (name, Judge::Heights) };
    let number = |rest: &str, usual: u32| if rest.is_empty() { Some(usual) } else { rest.parse().ok() };
    let method = match (name.strip_prefix("mcts"), name.strip_prefix("alpha-beta")) {
        (Some(rest), _) => Method::Mcts(number(rest, 10_000)?),
        (_, Some(rest)) => Method::AlphaBeta(number(rest, 3).filter(|depth| *depth > 0)?),
        // It takes what it can, and sees no further.
        (None, None) if name == "greedy" && game == GameKind::Pacific => Method::AlphaBeta(1),
        (None, None) if name == "thumb" && game == GameKind::QuadrantZ => return Some(Box::new(Thumb)),
        (None, None) => return None,
    };
    match (game, method) {
        (GameKind::Quad, Method::Mcts(playouts)) => Some(Box::new(Quad { playouts, opening })),
        (GameKind::Quantum, _) => Some(Box::new(Quantum { method, judge })),
        (GameKind::Pacific, Method::AlphaBeta(depth)) => Some(Box::new(Pacific { depth })),
        _ => None,
    }
}

struct Quantum {
    method: Method,
    judge: Judge,
}

impl Player for Quantum {
    fn play(&mut self, state: &AnyState, _seen: &AnySeen, seed: u64) -> Turn {
        let AnyState::Quantum(state) = state else { unreachable!("it plays Quantum") };
        let position = plain_quantum(state, self.judge);
        let mut dice = dice(seed);
        let mut random = |limit: usize| dice(limit as u32) as usize;
        let turn = match self.method {
            Method::Mcts(playouts) => mcts::best(&position, playouts, &mut random).map(|(turn, _)| turn),
            Method::AlphaBeta(depth) => alpha_beta::best(&position, depth, &mut random),
        };
        Turn { orders: written(turn, 8), positions: 0 }
    }
}

/// Writes a move between two cells of a board with `files` files, if there is one.
fn written(turn: Option<(usize, usize)>, files: usize) -> Vec<String> {
    let square = |cell: usize| format!("{}{}", char::from(b'A' + (cell % files) as u8), cell / files + 1);
    turn.map(|(from, to)| format!("{} {}", square(from), square(to))).into_iter().collect()
}

/// The board in the form of the outside players, who know the usual options only.
fn plain_quantum(state: &quantum::State, judge: Judge) -> plain_quantum::Plain {
    let view = state.view(Seat::First);
    let mut cells = [Cell::default(); 64];
    for (spot, stack) in view.stacks.stacks() {
        cells[spot.index()] = Cell {
            side: stack.side as u8,
            straight: stack.kind != PieceKind::Circle,
            diagonal: stack.kind != PieceKind::Square,
            height: stack.height,
        };
    }
    let mover = view.to_move.unwrap_or(Seat::First) as u8;
    plain_quantum::Plain { cells, mover, quiet: view.quiet, quiet_limit: 100, judge }
}

/// It sets up at random, and leaves its submarines where they are.
struct Pacific {
    depth: u32,
}

impl Player for Pacific {
    fn play(&mut self, state: &AnyState, seen: &AnySeen, seed: u64) -> Turn {
        let mut dice = dice(seed);
        match state.due().map(|due| due.phase) {
            Some(Phase::Submarines) => return Turn { orders: Vec::new(), positions: 0 },
            Some(Phase::Setup) => return Random.play(state, seen, seed),
            _ => {}
        }
        let AnyState::Pacific(state) = state else { unreachable!("it plays War in the Pacific") };
        let position = plain_pacific(state, seen.seat());
        let mut random = |limit: usize| dice(limit as u32) as usize;
        let turn = alpha_beta::best(&position, self.depth, &mut random);
        Turn { orders: written(turn, 16), positions: 0 }
    }
}

/// The surface in the form of the outside players.
fn plain_pacific(state: &pacific::State, mover: Seat) -> plain_pacific::Plain {
    let mut position = plain_pacific::Plain { cells: [None; 256], mover: mover as u8 };
    for (side, fleet) in state.ships().iter() {
        for ship in fleet {
            let (launched, leapt) = match ship.kind {
                ShipKind::Squadron { launched, leapt, .. } => (launched, leapt),
                _ => (false, false),
            };
            position.cells[ship.at.index()] = Some(plain_pacific::Ship {
                side: side as u8,
                letter: ship.class().letter(),
                no: ship.kind.no().unwrap_or_default(),
                launched,
                leapt,
            });
        }
    }
    position
}

/// A player's way with the first marble of Quad.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// It places it neither in the middle nor at the edge, and takes it over if its search says so.
    Judged,
    /// It places it at the edge, and takes over any.
    Rim,
}

struct Quad {
    playouts: u32,
    opening: Opening,
}

impl Player for Quad {
    fn play(&mut self, state: &AnyState, _seen: &AnySeen, seed: u64) -> Turn {
        let AnyState::Quad(state) = state else { unreachable!("it plays Quad") };
        let view = state.view(Seat::First);
        let squares = plain_quad::Squares::new();
        let mut position = plain_quad::Plain::new(&squares);
        let mut dice = dice(seed);
        if view.turn == 0 && view.stars_now() == 0 {
            return Turn { orders: vec![first_marble(self.opening, &mut dice)], positions: 0 };
        }
        if view.may_swap() && self.opening == Opening::Rim {
            return Turn { orders: vec!["SWAP".to_owned()], positions: 0 };
        }
        for seat in Seat::BOTH {
            view.stars[seat].iter().for_each(|&star| position.put_star(seat as usize, index(star)));
            view.marbles[seat].iter().for_each(|&marble| position.put_marble(seat as usize, index(marble)));
            position.marbles_left[seat as usize] = view.left[seat].marbles;
        }
        position.mover = view.to_move.unwrap_or(Seat::First) as usize;
        let mut random = |limit: usize| dice(limit as u32) as usize;
        let found = mcts::best(&position, self.playouts, &mut random);
        let (turn, share) = found.expect("there is a turn");
        // It takes the first marble over if it would rather have it than answer it.
        if view.may_swap() && share < 0.5 {
            return Turn { orders: vec!["SWAP".to_owned()], positions: 0 };
        }
        let stars = turn.stars.iter().map(|&star| format!("STAR {}", name(star)));
        let orders = stars.chain([format!("MARBLE {}", name(turn.marble))]).collect();
        Turn { orders, positions: 0 }
    }
}

fn first_marble(opening: Opening, dice: &mut impl FnMut(u32) -> u32) -> String {
    let points = match opening {
        Opening::Judged => ["B5", "C3", "D2", "B7", "J4", "I9", "E10", "H2"].map(str::to_owned).to_vec(),
        // The edge has nine points on each side: the corners are none.
        Opening::Rim => (1..10).flat_map(|at| [at, 110 + at, 11 * at, 11 * at + 10]).map(name).collect(),
    };
    format!("MARBLE {}", points[dice(points.len() as u32) as usize])
}

fn index(point: quad::Point) -> usize {
    usize::from(point.rank()) * 11 + usize::from(point.file())
}

fn name(point: usize) -> String {
    format!("{}{}", char::from(b'A' + (point % 11) as u8), point / 11 + 1)
}

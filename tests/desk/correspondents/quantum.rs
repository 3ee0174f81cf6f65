//! A correspondent's play of Quantum: from the text board, looking one reply ahead.

use fogpost_testing::random::Random;
use std::collections::BTreeMap;

use super::examples;
use fogpost::game::square::Square;

type Spot = Square<8, 8>;
type Board = BTreeMap<Spot, Stack>;

#[derive(Clone, Copy)]
struct Stack {
    own: bool,
    piece: Piece,
    height: i32,
}

#[derive(Clone, Copy)]
enum Piece {
    Square,
    Circle,
    Queen,
}

/// Height from which a stack is a tower, which neither moves nor can be landed on.
const TOWER: i32 = 6;

const SIDEWAYS: [(i8, i8); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const DIAGONAL: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];

/// Returns the move that gains most, less what the opponent's reply can take. The first letter shows no board, so its
/// example serves as the first move.
pub fn orders(letter: &str, dice: &mut Random) -> Vec<String> {
    let board = read(letter);
    let best = moves(&board, true).into_iter().max_by_key(|&(from, to)| {
        let after = after(&board, from, to);
        let throw = i32::try_from(dice.below(4)).unwrap_or_default();
        4 * gain(&board, (from, to)) - 2 * best_gain(&after, false) + 3 * best_gain(&after, true) + throw
    });
    best.map_or_else(|| examples(letter), |(from, to)| vec![format!("{from} {to}")])
}

fn best_gain(board: &Board, own: bool) -> i32 {
    moves(board, own).into_iter().map(|step| gain(board, step)).max().unwrap_or(0)
}

/// Values what a move stacks: the height it reaches, or far more for a tower.
fn gain(board: &Board, (from, to): (Spot, Spot)) -> i32 {
    match (board.get(&from), board.get(&to)) {
        (Some(stack), Some(below)) if stack.height + below.height >= TOWER => 30,
        (Some(stack), Some(below)) => stack.height + below.height,
        _ => 0,
    }
}

fn after(board: &Board, from: Spot, to: Spot) -> Board {
    let mut board = board.clone();
    if let Some(mut stack) = board.remove(&from) {
        stack.height += board.get(&to).map_or(0, |below| below.height);
        board.insert(to, stack);
    }
    board
}

/// Returns every move of a side: straight lines up to the stack's height, onto empty squares or enemy stacks.
fn moves(board: &Board, own: bool) -> Vec<(Spot, Spot)> {
    let mut moves = Vec::new();
    for (&from, stack) in board.iter().filter(|(_, stack)| stack.own == own && stack.height < TOWER) {
        let directions = match stack.piece {
            Piece::Square => SIDEWAYS.to_vec(),
            Piece::Circle => DIAGONAL.to_vec(),
            Piece::Queen => [SIDEWAYS, DIAGONAL].concat(),
        };
        for (files, ranks) in directions {
            let mut at = from;
            for _ in 0..stack.height {
                let Some(to) = at.step(files, ranks) else { break };
                let there = board.get(&to);
                if there.is_none_or(|there| there.own != own && there.height < TOWER) {
                    moves.push((from, to));
                }
                if there.is_some() {
                    break;
                }
                at = to;
            }
        }
    }
    moves
}

/// Parses board rows such as ` 3   Q     Q2    .  …  3`: capitals are South's, small letters North's. North sees the
/// board turned, with the files from H to A.
fn read(letter: &str) -> Board {
    let is_south = letter.contains("South (you)");
    let mut board = Board::new();
    for line in letter.lines() {
        let Some(row) = line.strip_prefix("    ").filter(|row| row.len() > 52 && row.is_ascii()) else {
            continue;
        };
        let Ok(rank) = row[..3].trim().parse::<u8>() else { continue };
        for column in 0..8 {
            let file = if is_south { column } else { 7 - column };
            let cell = &row[4 + 6 * usize::from(column)..][..6];
            let name = cell.trim_matches([' ', '[', ']', '<', '(', ')', '.']);
            let Some(letter) = name.chars().next() else { continue };
            let piece = match letter.to_ascii_uppercase() {
                'S' => Piece::Square,
                'C' => Piece::Circle,
                'Q' => Piece::Queen,
                _ => continue,
            };
            let height = if name.len() == 1 { Some(1) } else { name[1..].parse().ok() };
            if let (Some(spot), Some(height)) = (Spot::new(file, rank.wrapping_sub(1)), height) {
                board.insert(spot, Stack { own: letter.is_ascii_uppercase() == is_south, piece, height });
            }
        }
    }
    board
}

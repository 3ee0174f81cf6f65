//! Perft: counts the turns that lead on from a position, with the engines and with plain, slow generators.

use fogpost_games::game::quad::{self, Point};
use fogpost_games::game::quantum::{self, PieceKind, Spot};
use fogpost_games::game::{BySeat, Game, Numbered, Options, Seat};

use fogpost_testing::random::dice;

/// Plays legal `orders` of `side`.
fn play<G: Game>(state: &G, side: Seat, orders: Vec<G::Order>) -> G {
    let orders: Vec<_> = orders.into_iter().map(|order| Numbered { line: 1, order }).collect();
    let sealed = G::check(&state.view(side), &orders).expect("the engine's own moves are legal");
    let mut filed = BySeat::new(None, None);
    filed[side] = Some(sealed);
    state.adjudicate(&filed)
}

mod of_quantum {
    use super::*;

    fn start(array: &str, jump: &str) -> quantum::State {
        let mut options = quantum::Options::default();
        options.set("array", array).expect("an array");
        options.set("jump", jump).expect("jump takes it");
        quantum::State::start(&options)
    }

    /// Colour, kind and height of every stack, square by square: everything the plain generator needs.
    type Plain = Vec<Option<(Seat, PieceKind, i32)>>;

    fn plain(state: &quantum::State) -> Plain {
        let view = state.view(Seat::First);
        Spot::all().map(|spot| view.stacks[spot].map(|s| (s.side, s.kind, i32::from(s.height)))).collect()
    }

    /// Whether a stack may go from one square to another, transcribed from clauses 2.1 to 2.3.
    fn goes(board: &Plain, jump: bool, side: Seat, from: usize, to: usize) -> bool {
        let Some((owner, kind, height)) = board[from] else { return false };
        let (files, ranks) = (to as i32 % 8 - from as i32 % 8, to as i32 / 8 - from as i32 / 8);
        let straight = (files == 0) != (ranks == 0);
        let diagonal = files != 0 && files.abs() == ranks.abs();
        let fits = match kind {
            PieceKind::Square => straight,
            PieceKind::Circle => diagonal,
            PieceKind::Queen => straight || diagonal,
        };
        let lands = board[to].is_none_or(|(other, _, height)| other != side && height <= 5);
        if owner != side || height > 5 || !fits || !lands {
            return false;
        }
        let distance = files.abs().max(ranks.abs());
        let between: Vec<_> = (1..distance)
            .map(|n| board[(from as i32 + n * (files.signum() + 8 * ranks.signum())) as usize])
            .collect();
        let slides = distance <= height && between.iter().all(Option::is_none);
        let own_single =
            |stack: &Option<(Seat, PieceKind, i32)>| stack.is_some_and(|(s, _, h)| s == side && h == 1);
        slides || (jump && height == 1 && distance == 2 && own_single(&between[0]))
    }

    fn plain_perft(board: &Plain, jump: bool, side: Seat, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut count = 0;
        for (from, to) in (0..64).flat_map(|from| (0..64).map(move |to| (from, to))) {
            if goes(board, jump, side, from, to) {
                let mut next = board.clone();
                let (side, kind, height) = next[from].take().expect("only a stack goes");
                let below = next[to].map_or(0, |(_, _, below)| below);
                next[to] = Some((side, kind, height + below));
                count += plain_perft(&next, jump, side.other(), depth - 1);
            }
        }
        count
    }

    /// Counts the sequences of `depth` turns of the engine, passes included. A match that ends earlier adds none.
    fn perft(state: &quantum::State, depth: u32) -> u64 {
        let view = state.view(Seat::First);
        let Some(side) = view.to_move else { return 0 };
        let moves = view.moves();
        if depth == 1 {
            // A side without a move passes (N-PASS).
            return moves.len().max(1) as u64;
        }
        if moves.is_empty() {
            return perft(&state.adjudicate(&BySeat::new(None, None)), depth - 1);
        }
        moves.into_iter().map(|order| perft(&play(state, side, vec![order]), depth - 1)).sum()
    }

    const FULL: &str = "SSSSSSSS/CCCCCCCC/QQQQQQQQ";

    #[test]
    fn the_counts_of_the_first_moves_are_unchanged() {
        let tables: [(&str, &str, [u64; 4]); 4] = [
            (FULL, "off", [22, 484, 12_892, 342_712]),
            (FULL, "on", [34, 1156, 45_696, 1_803_770]),
            ("......../CS.QQ.SC/........", "off", [24, 576, 13_488, 315_844]),
            ("Q.C.S.../SSQQCCSS", "on", [31, 961, 31_713, 1_046_529]),
        ];
        for (array, jump, counts) in tables {
            let state = start(array, jump);
            let found = [1, 2, 3, 4].map(|depth| perft(&state, depth));
            assert_eq!(found, counts, "{array}, jump {jump}");
        }
    }

    #[test]
    fn a_plain_generator_counts_the_same_moves() {
        for (array, jump) in [(FULL, "off"), (FULL, "on"), ("Q.C.S.../SSQQCCSS", "on")] {
            let state = start(array, jump);
            for depth in 1..=3 {
                let plain = plain_perft(&plain(&state), jump == "on", Seat::First, depth);
                assert_eq!(plain, perft(&state, depth), "{array}, jump {jump}, depth {depth}");
            }
        }
    }

    /// Tests late positions, where stacks are high, towers stand in the way and sides must pass.
    #[test]
    fn in_random_matches_both_generators_find_the_same_moves() {
        let mut dice = dice(3);
        for game in 0..30 {
            let jump = if game % 2 == 0 { "on" } else { "off" };
            let mut state = start(["S......./Q.......", FULL, "C.Q.S.C./SS..QQCC"][game % 3], jump);
            for _ in 0..120 {
                let Some(due) = state.due() else { break };
                let side = state_side(&state);
                let board = plain(&state);
                let mut moves = state.view(side).moves();
                let pairs = (0..64usize).flat_map(|from| (0..64usize).map(move |to| (from, to)));
                let expected: Vec<_> =
                    pairs.filter(|&(from, to)| goes(&board, jump == "on", side, from, to)).collect();
                moves.sort();
                let found: Vec<_> =
                    moves.iter().map(|order| (order.from.index(), order.to.index())).collect();
                assert_eq!(found, expected);
                assert_eq!(due.seats.is_empty(), expected.is_empty());
                state = if moves.is_empty() {
                    state.adjudicate(&BySeat::new(None, None))
                } else {
                    let order = moves[dice(moves.len() as u32) as usize];
                    play(&state, side, vec![order])
                };
            }
        }
    }

    fn state_side(state: &quantum::State) -> Seat {
        state.view(Seat::First).to_move.expect("the match runs")
    }
}

mod of_quad {
    use super::*;

    /// Counts turns of a marble and at most `stars` stars, in every order of the stars, and separately the won
    /// positions.
    fn perft(state: &quad::State, stars: usize, depth: u32) -> (u64, u64) {
        let Some(side) = state.due().map(|due| due.seats[0]) else { return (1, 1) };
        if depth == 0 {
            return (1, 0);
        }
        let view = state.view(side);
        let mut turns: Vec<Vec<quad::Order>> =
            view.empty().into_iter().map(|point| vec![quad::Order::Marble(point)]).collect();
        if view.stars_now().min(stars) > 0 {
            let pairs = view
                .empty()
                .into_iter()
                .flat_map(|star| view.empty().into_iter().map(move |game_match| (star, game_match)));
            let with_star = pairs.filter(|(star, marble)| star != marble);
            turns.extend(
                with_star.map(|(star, marble)| vec![quad::Order::Star(star), quad::Order::Marble(marble)]),
            );
        }
        let after = turns.into_iter().map(|turn| perft(&play(state, side, turn), stars, depth - 1));
        after.fold((0, 0), |(all, won), (more, more_won)| (all + more, won + more_won))
    }

    /// The marbles of both sides, and the free points.
    type Plain = (BySeat<Vec<Point>>, Vec<Point>);

    fn is_square(four: [Point; 4]) -> bool {
        let mut squared = Vec::new();
        for (i, a) in four.iter().enumerate() {
            for b in &four[i + 1..] {
                let (files, ranks) = (a.file().abs_diff(b.file()), a.rank().abs_diff(b.rank()));
                squared.push(u32::from(files).pow(2) + u32::from(ranks).pow(2));
            }
        }
        squared.sort_unstable();
        squared[0] > 0 && squared[..4].iter().all(|d| *d == squared[0]) && squared[4..] == [2 * squared[0]; 2]
    }

    /// Whether the marble completes a quad with any three of the others.
    fn wins(marbles: &[Point], point: Point) -> bool {
        let n = marbles.len();
        (0..n).any(|i| {
            (i + 1..n).any(|j| (j + 1..n).any(|k| is_square([marbles[i], marbles[j], marbles[k], point])))
        })
    }

    fn plain_perft((marbles, empty): &Plain, side: Seat, depth: u32) -> (u64, u64) {
        if depth == 0 {
            return (1, 0);
        }
        let (mut all, mut won) = (0, 0);
        for &point in empty {
            if wins(&marbles[side], point) {
                (all, won) = (all + 1, won + 1);
                continue;
            }
            let mut next = (marbles.clone(), empty.clone());
            next.0[side].push(point);
            next.1.retain(|&other| other != point);
            let (more, more_won) = plain_perft(&next, side.other(), depth - 1);
            (all, won) = (all + more, won + more_won);
        }
        (all, won)
    }

    /// Returns the first random match to reach its 30th turn, where many quads are within reach.
    fn late() -> quad::State {
        let mut dice = dice(1);
        loop {
            let mut state = quad::State::start(&quad::Options::default());
            while let Some(due) = state.due().filter(|due| due.turn <= 30) {
                let empty = state.view(due.seats[0]).empty();
                let marble = empty[dice(empty.len() as u32) as usize];
                state = play(&state, due.seats[0], vec![quad::Order::Marble(marble)]);
            }
            if state.outcome().is_none() {
                return state;
            }
        }
    }

    #[test]
    fn the_counts_of_the_first_turns_are_unchanged() {
        let start = quad::State::start(&quad::Options::default());
        let marbles_alone = [1, 2].map(|depth| perft(&start, 0, depth));
        assert_eq!(marbles_alone, [(117, 0), (117 * 116, 0)]);
        assert_eq!(perft(&start, 1, 1), (117 + 117 * 116, 0));
    }

    #[test]
    fn a_plain_generator_finds_the_same_turns_and_quads_late_in_a_match() {
        let state = late();
        let view = state.view(Seat::First);
        let plain = (view.marbles.clone(), view.empty());
        let found = [1, 2].map(|depth| perft(&state, 0, depth));
        assert_eq!(found, [(87, 2), (7312, 591)]);
        assert_eq!(found, [1, 2].map(|depth| plain_perft(&plain, Seat::First, depth)));
    }

    #[test]
    fn in_random_matches_both_find_the_same_quads() {
        let mut dice = dice(5);
        let mut won = 0;
        for _ in 0..60 {
            let mut state = quad::State::start(&quad::Options::default());
            while let Some(due) = state.due() {
                let side = due.seats[0];
                let view = state.view(side);
                let empty = view.empty();
                let marble = empty[dice(empty.len() as u32) as usize];
                state = play(&state, side, vec![quad::Order::Marble(marble)]);
                let quads = state.view(side).quads;
                assert_eq!(!quads.is_empty(), wins(&view.marbles[side], marble));
                assert!(quads.iter().all(|quad| is_square(*quad)));
                won += quads.len();
            }
        }
        assert!(won > 10, "{won} quads only: the matches are too tame to show anything");
    }
}

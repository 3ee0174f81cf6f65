//! Counts the surface moves of War in the Pacific and compares them with a second generator: slow, plain, and written
//! from the rules page alone, over a map of squares.

use std::collections::BTreeMap;

use fogpost_games::game::pacific::{Chart, Options, Order, ShipKind, Square, State};
use fogpost_games::game::{Game, Numbered, Phase, Seat};

use fogpost_testing::random::dice;
use fogpost_testing::random_play::RandomPlay as _;

type Sea = BTreeMap<(i32, i32), (Seat, ShipKind)>;
type Step = ((i32, i32), (i32, i32));

fn sea(state: &State) -> Sea {
    let place = |at: Square| (i32::from(at.file()), i32::from(at.rank()));
    let both = state.ships().iter();
    both.flat_map(|(side, fleet)| fleet.iter().map(move |ship| (place(ship.at), (side, ship.kind)))).collect()
}

fn on_board((file, rank): (i32, i32)) -> bool {
    (0..16).contains(&file) && (0..16).contains(&rank)
}

/// Whether the squares strictly between two squares on a line are empty.
fn clear(sea: &Sea, (from, to): Step) -> bool {
    let (files, ranks) = (to.0 - from.0, to.1 - from.1);
    let steps = files.abs().max(ranks.abs());
    (1..steps).all(|n| !sea.contains_key(&(from.0 + files.signum() * n, from.1 + ranks.signum() * n)))
}

/// Whether a move is legal (3.1 to 3.4).
fn legal(sea: &Sea, side: Seat, (from, to): Step) -> bool {
    let Some((holder, kind)) = sea.get(&from) else { return false };
    if *holder != side || from == to || !on_board(to) {
        return false;
    }
    let (files, ranks) = ((to.0 - from.0).abs(), (to.1 - from.1).abs());
    let escort = |no: u16| {
        let mut own = sea.iter().filter(|(_, (holder, _))| *holder == side);
        own.find(
            |(_, (_, kind))| matches!(kind, ShipKind::Squadron { no: of, launched: false, .. } if *of == no),
        )
    };
    let onto_own = sea.get(&to).is_some_and(|(holder, _)| *holder == side);
    let (rook, bishop) = (files == 0 || ranks == 0, files == ranks);
    let (king, knight) = (files.max(ranks) == 1, files * ranks == 2);
    match kind {
        ShipKind::Carrier { no } => match escort(*no) {
            None => king && !onto_own,
            Some((at, _)) => {
                let goes = (at.0 + to.0 - from.0, at.1 + to.1 - from.1);
                let follows = on_board(goes) && (goes == from || !sea.contains_key(&goes));
                king && follows && (!onto_own || to == *at)
            }
        },
        ShipKind::Squadron { leapt, .. } => {
            !onto_own && (((rook || bishop) && clear(sea, (from, to))) || (knight && !leapt))
        }
        ShipKind::Battleship => !onto_own && rook && clear(sea, (from, to)),
        ShipKind::Cruiser => {
            (!onto_own && bishop && clear(sea, (from, to))) || (king && rook && !sea.contains_key(&to))
        }
        ShipKind::Destroyer => !onto_own && knight,
    }
}

fn plain_moves(sea: &Sea, side: Seat) -> Vec<Step> {
    let squares = || (0..16).flat_map(|rank| (0..16).map(move |file| (file, rank)));
    let own = sea.iter().filter(|(_, (holder, _))| *holder == side).map(|(from, _)| *from);
    own.flat_map(|from| squares().map(move |to| (from, to))).filter(|step| legal(sea, side, *step)).collect()
}

fn of_state(state: &State, side: Seat) -> Vec<Step> {
    let place = |at: Square| (i32::from(at.file()), i32::from(at.rank()));
    let mut moves = Vec::new();
    let chart = Chart::new(state.ships(), state.options().squadron_leap);
    chart.each_move(side, |ship, to| moves.push((place(ship.at), place(to))));
    moves.sort_unstable();
    moves
}

/// Counts the moves that a generator finds. The engine plays them.
fn perft(state: &State, depth: u32, moves: fn(&State, Seat) -> Vec<Step>) -> u64 {
    let Some(due) = state.due() else { return u64::from(depth == 0) };
    let moves_now = moves(state, due.seats[0]);
    if depth == 1 {
        return moves_now.len() as u64;
    }
    moves_now.into_iter().map(|step| perft(&after(state, due.seats[0], step), depth - 1, moves)).sum()
}

fn after(state: &State, side: Seat, (from, to): Step) -> State {
    let square = |(file, rank): (i32, i32)| Square::new(file as u8, rank as u8).expect("on the board");
    let order = Order::Move { class: None, from: square(from), to: square(to) };
    let sealed = State::check(&state.view(side), &[Numbered { line: 1, order }]);
    let mut filed = fogpost_games::game::BySeat::new(None, None);
    filed[side] = Some(sealed.expect("a legal move"));
    state.adjudicate(&filed)
}

fn setup(south: &str, north: &str) -> State {
    let options = Options { submarines: false, ..Options::default() };
    let start = State::start(&options);
    let seal = |side: Seat, text: &str| {
        let orders = (1..).zip(text.lines()).flat_map(|(line, text)| {
            let orders = State::parse(text).expect("an order");
            orders.into_iter().map(move |order| Numbered { line, order })
        });
        let orders: Vec<_> = orders.collect();
        Some(State::check(&start.view(side), &orders).expect("a setup without fault"))
    };
    let filed = fogpost_games::game::BySeat::new(seal(Seat::First, south), seal(Seat::Second, north));
    start.adjudicate(&filed)
}

const OPEN_SOUTH: &str = "CARRIER D2 SQUADRON E3\nCARRIER M2 SQUADRON L3\nBATTLESHIP A1 F1 K1 P1\n\
     CRUISER C3 G3 J3 N3\nDESTROYER B5 D5 F5 H5 K5 M5 O5";
const OPEN_NORTH: &str = "CARRIER D15 SQUADRON E14\nCARRIER M15 SQUADRON L14\nBATTLESHIP A16 F16 K16 P16\n\
     CRUISER C14 G14 J14 N14\nDESTROYER B12 D12 F12 H12 K12 M12 O12";
/// Fleets that face each other across the border, crowded, with carriers at the edge of the board.
const CLOSE_SOUTH: &str = "CARRIER A8 SQUADRON A7\nCARRIER H8 SQUADRON I8\nCARRIER P1 SQUADRON O1\n\
     BATTLESHIP B8 C8 D8 E8 F8\nCRUISER B7 C7 D7 E7\nDESTROYER G8 J8 K8 L8 M8 N8 O8";
const CLOSE_NORTH: &str = "CARRIER A9 SQUADRON B9\nCARRIER I9 SQUADRON I10\nBATTLESHIP C9 D9 E9 F9\n\
     CRUISER G9 H9 J9 K9\nDESTROYER L9 M9 N9 O9 P9 P10 O10";

fn assert_perft(state: &State, expected: [u64; 2]) {
    assert_eq!([1, 2].map(|depth| perft(state, depth, of_state)), expected);
    assert_eq!(
        [1, 2].map(|depth| perft(state, depth, |state, side| plain_moves(&sea(state), side))),
        expected
    );
}

#[test]
fn perft_of_an_open_sea() {
    assert_perft(&setup(OPEN_SOUTH, OPEN_NORTH), [263, 68_445]);
}

#[test]
fn perft_of_a_crowded_border() {
    assert_perft(&setup(CLOSE_SOUTH, CLOSE_NORTH), [188, 35_749]);
}

/// Moves from the crowded border, in which squadrons are launched and leap, and a carrier and other ships are sunk.
const MELEE: &str = "J8-K6 I10-D15 I8-D3 J9-N13 D3-F4 N13-N14 H8-I9 K9-P14 K8-L6 H9-F11 F4-E4 D9-D11 E4-I8 A9-B10 \
     O1-M3 F11-A16 F8-F1 A16-F11 K6-J4 D11-E11 F1-K1 F9-F1 N8-O10 O9-M10";

#[test]
fn perft_after_a_melee() {
    let mut state = setup(CLOSE_SOUTH, CLOSE_NORTH);
    for step in MELEE.split_ascii_whitespace() {
        let side = state.due().expect("the match goes on").seats[0];
        let (from, to) = step.split_once('-').expect("two squares");
        let place = |text| Square::parse(text).map(|at| (i32::from(at.file()), i32::from(at.rank())));
        state = after(&state, side, (place(from).expect("a square"), place(to).expect("a square")));
    }
    assert_perft(&state, [226, 41_823]);
}

#[test]
fn both_generators_find_the_same_moves_in_random_play() {
    for seed in 1..=8 {
        let mut dice = dice(seed);
        let mut state = State::start(&Options { submarines: seed % 2 == 0, ..Options::default() });
        for _ in 0..120 {
            let Some(due) = state.due() else { break };
            if due.phase == Phase::Surface {
                for side in Seat::BOTH {
                    assert_eq!(of_state(&state, side), {
                        let mut moves = plain_moves(&sea(&state), side);
                        moves.sort_unstable();
                        moves
                    });
                }
            }
            state = state.play_at_random(&mut dice);
        }
    }
}

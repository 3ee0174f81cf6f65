use fogpost::game::Seat;
use fogpost::game::any::GameKind;

use super::Play;

#[test]
fn quantum_with_a_tower_that_ends_after_quiet_turns() {
    let mut play =
        Play::open(GameKind::Quantum, &[("array", "......../......../QQQQQQQQ"), ("quiet_limit", "2")]);
    play.ann("A3 A5");
    play.ann("A3 A4");
    play.bo("B6 B5");
    for (ann, bo) in [("A4 B5", "A6 B5"), ("C3 C4", "H6 H7"), ("C4 B5", "C6 B5"), ("B3 B4", "H7 H8")] {
        play.ann(ann);
        play.bo(bo);
    }
    play.ann("B4-B5");
    for (bo, ann) in [("H8 H7", "H3 H2"), ("H7 H8", "H2 H1")] {
        play.bo(bo);
        play.ann(ann);
    }
    play.ends("quantum", "more towers", Some(Seat::First));
}

/// The moves of the case `2.4-N-PASS`, after which only the second side can move.
const JAM: [(&str, &str); 11] = [
    ("E2 D3", "E7 D6"),
    ("B2 C3", "B7 A6"),
    ("D3 D4", "D7 C6"),
    ("D4 D5", "C6 D5"),
    ("B1 C1", "D5 F3"),
    ("D2 E2", "F3 E2"),
    ("C3 D4", "E2 F2"),
    ("D4 E3", "F2 E3"),
    ("C1 B2", "E3 F2"),
    ("B2 A2", "F2 C2"),
    ("A2 B2", "C2 B2"),
];

#[test]
fn quantum_where_a_side_without_a_move_passes() {
    let mut play = Play::open(GameKind::Quantum, &[("array", "CQ....../.CSQQ..."), ("quiet_limit", "4")]);
    for (ann, bo) in JAM {
        play.ann(ann);
        play.bo(bo);
    }
    for order in ["A8 B7", "B7 A8", "A8 B7", "B7 A8"] {
        play.bo(order);
    }
    play.ends("quantum-pass", "more towers", Some(Seat::Second));
}

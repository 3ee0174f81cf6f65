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

#[test]
fn quantum_where_a_side_without_a_move_passes() {
    let mut play =
        Play::open(GameKind::Quantum, &[("array", "......../......../Q......."), ("quiet_limit", "2")]);
    play.ann("A3 A4");
    play.bo("A6 A5");
    play.ann("A4 A5");
    play.ann("A5 A6");
    play.ann("A6 A5");
    play.ends("quantum-pass", "drawn on towers", None);
}

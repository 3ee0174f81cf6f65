//! The order lines of every game: the forms in which they are read, and the lines that are none.

use fogpost_games::game::Syntax;
use fogpost_games::game::any::GameKind::{self, Pacific, Quad, QuadrantZ, Quantum};

/// Forms of orders, and the canonical lines that each is filed as.
const FORMS: [(GameKind, &[&str], &str); 37] = [
    (QuadrantZ, &["star a1  3 base"], "STAR A1 3 BASE"),
    (QuadrantZ, &["STAR M2 1."], "STAR M2 1"),
    (
        QuadrantZ,
        &["Ship 1 3/2 a3", "SHIP 1: 3/2: Start: A3", "SHIP 1: 3/2: Start A3 .....,"],
        "SHIP 1 3/2 A3",
    ),
    (
        QuadrantZ,
        &[
            "SHIP 1: A3 to B2",
            "SHIP 1 A3-B2",
            "SHIP 1 A3 - B2",
            "SHIP 1 A3->B2",
            "ship 1 a3xb2",
            "Ship #1 A3 to B2",
            "SHIP 1 moves from A3 to B2",
        ],
        "SHIP 1 A3 TO B2",
    ),
    (QuadrantZ, &["SHIP 1 C1 C2"], "SHIP 1 C1 TO C2"),
    (QuadrantZ, &["ship1 to b2", "SHIP 1 moves to B2"], "SHIP 1 TO B2"),
    (QuadrantZ, &["ship 12 to y4"], "SHIP 12 TO Y4"),
    (QuadrantZ, &["ship 1 holds"], "SHIP 1 HOLD"),
    (QuadrantZ, &["ship 12 hold,"], "SHIP 12 HOLD"),
    (QuadrantZ, &["hold all ships", "\thold ."], "HOLD"),
    (QuadrantZ, &["BUILD 2/1 A1", "BUILD 2/1 on A1", "Build 2/1 at a1"], "BUILD 2/1 AT A1"),
    (QuadrantZ, &["capture star at a1", "capture A1,"], "CAPTURE A1"),
    (QuadrantZ, &["LOSSES #3 #1"], "LOSSES 3 1"),
    (QuadrantZ, &["losses 3, 1, 2"], "LOSSES 3 1 2"),
    (QuadrantZ, &["losses none"], "LOSSES NONE"),
    (QuadrantZ, &["lose q: 3, 1"], "LOSE Q 3 1"),
    (Pacific, &["carrier v1 d2, squadron e3."], "CARRIER V1 D2 SQUADRON E3"),
    (Pacific, &["carrier d2"], "CARRIER D2"),
    (Pacific, &["Battleship  a1 b1, o1; p1"], "BATTLESHIP A1 B1 O1 P1"),
    (Pacific, &["submarine: u1 g5 u2 h6"], "SUBMARINE U1 G5 U2 H6"),
    (Pacific, &["submarine g5 h6"], "SUBMARINE G5 H6"),
    (Pacific, &["d2 e4", "D2 - E4", "move D2 -> E4"], "D2-E4"),
    (Pacific, &["dd2-e4", "D D2 TO E4."], "DD2-E4"),
    (Pacific, &["B12 B1"], "B12-B1"),
    (Pacific, &["BB12 B1"], "BB12-B1"),
    (Pacific, &["asw k7"], "ASW K7"),
    (Pacific, &["u2 k5 m7"], "U2 K5 M7"),
    (Pacific, &["u2 to m7"], "U2 TO M7"),
    (Pacific, &["u2 fire k7"], "U2 FIRE K7"),
    (Pacific, &["u2 sonar k7"], "U2 SONAR K7"),
    (Pacific, &["subs pass."], "SUBS PASS"),
    (
        Quantum,
        &[
            "D3 E4",
            "d3-e4",
            "D3 - e4",
            "  d3 \t e4 ",
            "D3–E4",
            "d3 e4.",
            "D3, E4",
            "d3e4",
            "D3xE4",
            "D3 to E4",
            "D3 -> E4",
            "MOVE D3 TO E4",
            "move d3-e4",
        ],
        "D3 E4",
    ),
    (Quantum, &["QD3-E4", "q d3 e4", "QD3xE4", "MOVE QD3 TO E4"], "QD3 E4"),
    (Quad, &["C4* D5* E6", " c4*  d5*\te6 ", "C4*, D5*, E6."], "STAR C4; STAR D5; MARBLE E6"),
    (Quad, &["star c4, d5", "STARS C4 and D5"], "STAR C4; STAR D5"),
    (Quad, &["Marble e6", "MARBLE AT E6", "marble on e6", "MARBLES E6"], "MARBLE E6"),
    (Quad, &["swap."], "SWAP"),
];

#[test]
fn orders_are_read_in_many_forms_and_as_they_are_written() {
    for (game, forms, canonical) in FORMS {
        let filed: Vec<String> = canonical.split("; ").map(str::to_owned).collect();
        for form in forms {
            assert_eq!(game.canonical(form), Some(filed.clone()), "{game}: {form:?}");
        }
        for line in filed {
            assert_eq!(game.canonical(&line), Some(vec![line.clone()]), "{game}: {line}");
        }
    }
}

#[test]
fn prose_is_not_an_order() {
    for (game, lines) in [
        (QuadrantZ, &["Stars are out", "To B2", "Shipping soon", "."][..]),
        (Pacific, &["Ship ahoy!", "Very best, Vera", "...", "V for victory"]),
        (Quantum, &["Passing by", "| D3 E4", "- D3", "8  s  s", "É3 E4", ""]),
        (Quad, &["Starry night", "| C4* E6", "11 . .", "", "*"]),
    ] {
        for line in lines.iter().chain(&["I hope you are well", "See you at the club on Friday"]) {
            assert_eq!(game.syntax(line), Err(Syntax::Unknown), "{game}: {line:?}");
        }
    }
}

/// Lines that begin like an order, but lack something or have too much.
const HALF: [(GameKind, &[&str]); 4] = [
    (
        QuadrantZ,
        &[
            "Ship ahoy!",
            "SHIP",
            "SHIP 1",
            "SHIP 1 B2",
            "SHIP 1 TO Z9",
            "SHIP 1 A3 TO",
            "SHIP 1000 TO B2",
            "SHIP -1 TO B2",
            "SHIP +1 TO B2",
            "SHIP 1 3/2",
            "SHIP 1 3/2/1 A1",
            "SHIP 1 / A1",
            "STAR A1",
            "STAR A1 3 HOME",
            "BUILD 2 AT A1",
            "HOLD 3",
            "CAPTURE",
            "CAPTURE A1 A2",
            "LOSSES",
            "LOSSES 1 TWO",
            "LOSSES NONE 1",
            "LOSE",
            "LOSE Q",
            "LOSE Q3 1",
            "LOSE Z 1",
        ],
    ),
    (
        Pacific,
        &[
            "D2",
            "D2 to Q4",
            "D2 is under attack",
            "MOVE",
            "ASW",
            "ASW K7 K8",
            "U2",
            "U2 M7",
            "U2 FIRE",
            "FIRE K7",
            "SUBS",
            "CARRIER",
            "CARRIER D2 E3",
            "CARRIER D2 SQUADRON",
            "CRUISER",
            "SUBMARINE U1",
            "SQUADRON E3",
            "A0 A1",
        ],
    ),
    (
        Quantum,
        &["D3", "D3 E9", "I3 E4", "D3 E4 F5", "D3-", "B4 I forget: hello", "a0 a1", "MOVE", "D3 E4 please"],
    ),
    (
        Quad,
        &[
            "STAR",
            "MARBLE",
            "marble A1",
            "STAR L3",
            "C4 *",
            "C4*D5",
            "SWAP E6",
            "MARBLE E6*",
            "STAR of the show",
        ],
    ),
];

#[test]
fn half_an_order_is_malformed() {
    for (game, lines) in HALF {
        for line in lines {
            assert!(matches!(game.syntax(line), Err(Syntax::Malformed { .. })), "{game}: {line}");
        }
    }
}

#[test]
fn a_malformed_order_names_the_words_that_were_not_understood() {
    for (line, words) in [
        ("SHIP 2 HOLD please", "I do not understand \"PLEASE\"."),
        ("SHIP 1 nach B2", "I do not understand \"NACH\"."),
        ("CAPTURE A1 now quickly", "I do not understand \"NOW\" and \"QUICKLY\"."),
    ] {
        let Err(Syntax::Malformed { reason, .. }) = QuadrantZ.syntax(line) else { panic!("{line}") };
        assert!(reason.starts_with(words), "{reason}");
    }
}

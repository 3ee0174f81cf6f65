//! Matches that tests start from.

use fogpost::game::any::GameKind;
use fogpost::referee::Match;

use crate::referee::{ANN, BO, Referee, Sent};

/// The stars that both sides of Quadrant Z place in the neutral sector.
const STARS: &str = "STAR D1 2\nSTAR E1 2\nSTAR H1 2\nSTAR I1 2\nSTAR J1 2\nSTAR L1 2\nSTAR M1 2\nSTAR N1 2\n\
                     STAR P1 2\nSTAR Q1 2\nSTAR R1 2\nSTAR U1 2\nSTAR V1 2\n\
                     STAR D2 1\nSTAR E2 1\nSTAR H2 1\nSTAR I2 1\n";
const NORTH: &str = "STAR A1 3 BASE\nSTAR A4 1\nSTAR B1 3\nSTAR C1 2\nSTAR F1 2\nSTAR G1 2\nSTAR K1 2\n";
const SOUTH: &str = "STAR Y1 3 BASE\nSTAR Y4 1\nSTAR X1 3\nSTAR W1 2\nSTAR T1 2\nSTAR S1 2\nSTAR O1 2\n";

/// A fleet of War in the Pacific without submarines, in the first side's waters.
pub const FLEET: &str = "CARRIER D2 SQUADRON D3\nCARRIER M2 SQUADRON M3\nBATTLESHIP A1 B1 O1 P1\n\
                         CRUISER C1 E1 L1 N1\nDESTROYER A3 C3 E3 G3 I3 K3 O3";

/// The setups of Quadrant Z: Ann's, then Bo's.
pub fn setups() -> [String; 2] {
    [format!("{NORTH}{STARS}SHIP 1 3/2 G1"), format!("{SOUTH}{STARS}SHIP 1 3/2 S1")]
}

/// A match of Quadrant Z in turn 1, with the last letter to each player.
pub fn quadrant_z(referee: &Referee) -> (Match, Sent, Sent) {
    let game_match = referee.open(GameKind::QuadrantZ, &[]);
    let [north, south] = setups();
    referee.reply(ANN, &referee.one_to(ANN), &north);
    referee.reply(BO, &referee.one_to(BO), &south);
    let game_match = referee.find(&game_match.id);
    assert_eq!(game_match.due().map(|due| due.turn), Some(1), "the match has begun");
    (game_match, referee.last_to(ANN), referee.last_to(BO))
}

/// A match of Quad, with the invitation to each player.
pub fn quad(referee: &Referee) -> (Match, Sent, Sent) {
    let game_match = referee.open(GameKind::Quad, &[]);
    (game_match, referee.one_to(ANN), referee.one_to(BO))
}

/// A match of War in the Pacific without submarines in round 1, with the last letter to each player.
pub fn pacific(referee: &Referee) -> (Match, Sent, Sent) {
    let game_match = referee.open(GameKind::Pacific, &[("submarines", "false")]);
    let north = "CARRIER D15 SQUADRON D14\nCARRIER M15 SQUADRON M14\nBATTLESHIP A16 B16 O16 P16\n\
                 CRUISER C16 E16 L16 N16\nDESTROYER A14 C14 E14 G14 I14 K14 O14";
    referee.reply(ANN, &referee.one_to(ANN), FLEET);
    referee.reply(BO, &referee.one_to(BO), north);
    (referee.find(&game_match.id), referee.last_to(ANN), referee.last_to(BO))
}

/// The kinds of a match's entries, in order.
pub fn kinds(referee: &Referee, game_match: &Match) -> Vec<String> {
    let entries =
        referee.block_on(referee.office().store.entries(&game_match.id)).expect("the store answers");
    entries.into_iter().map(|entry| entry.kind).collect()
}

use fogpost::game::Seat;
use fogpost::game::any::GameKind;

use super::Play;

const STARS_OF_ANN: &str = "
STAR A1 3 BASE
STAR A4 1
STAR B1 3
STAR C1 2
STAR F1 2
STAR G1 2
STAR K1 2
STAR D1 2
STAR D4 1
STAR E1 2
STAR E4 1
STAR H1 2
STAR H4 1
STAR I1 2
STAR I4 1
STAR J1 2
STAR L1 2
STAR M1 2
STAR N1 2
STAR P1 2
STAR Q1 2
STAR R1 2
STAR U1 2
STAR V1 2
";
const STARS_OF_BO: &str = "
STAR Y4 3 BASE
STAR Y1 1
STAR X4 3
STAR W4 2
STAR T4 2
STAR S4 2
STAR O4 2
STAR D4 2
STAR E4 2
STAR H4 2
STAR I4 2
STAR J4 2
STAR L4 2
STAR M4 2
STAR N4 2
STAR P4 2
STAR P1 1
STAR Q4 2
STAR Q1 1
STAR R4 2
STAR U4 2
STAR U1 1
STAR V4 2
STAR V1 1
";

#[test]
fn quadrant_z_from_the_setup_to_the_capture_of_a_base() {
    let mut play = Play::open(GameKind::QuadrantZ, &[]);
    play.ann(&format!("{STARS_OF_ANN}SHIP 1 4/2 G1\nSHIP 2 3/1 C1\nSHIP 3 3/2 K4"));
    play.bo(&format!("{STARS_OF_BO}SHIP 1 4/2 S4\nSHIP 2 3/2 O1\nSHIP 3 3/1 O4"));
    // Both capture at home, and a ship tries to go too far.
    play.ann("CAPTURE G1\nSHIP 2 C1 TO H2\nSHIP 3 K4 TO M1");
    play.ann("CAPTURE G1\nSHIP 2 C1 TO H2\nSHIP 3 K4 TO L2");
    play.bo("SHIP 1 S4 TO R2\nSHIP 2 O1 TO N2\nCAPTURE O4");
    // There is a battle in M, a standoff in I, and both build ships.
    play.ann("SHIP 3 L2 TO M2\nSHIP 2 H2 TO I2\nBUILD 1/1 AT A4");
    play.bo("SHIP 1 R2 TO M1\nSHIP 2 N2 TO I3\nSHIP 3 O4 TO J2\nBUILD 2/0 AT Y1");
    play.ann("SHIP 2 I2 TO N2\nLOSSES 4 1");
    play.bo("SHIP 1 M1 TO H1\nSHIP 2 I3 TO I4\nSHIP 3 J2 TO J4");
    // Each side is in the other's home.
    play.ann("SHIP 2 N2 TO O2");
    play.bo("SHIP 1 H1 TO C2\nCAPTURE I4\nCAPTURE J4");
    play.ann("SHIP 2 O2 TO T2");
    play.bo("SHIP 1 C2 TO C1");
    play.ann("SHIP 2 T2 TO Y4");
    play.bo("CAPTURE C1");
    play.ann("CAPTURE Y4");
    play.bo("HOLD");
    play.ends("quadrant-z", "base captured", Some(Seat::First));
}

#[test]
fn quadrant_z_where_a_player_chooses_the_losses() {
    let mut play = Play::open(GameKind::QuadrantZ, &[("casualties", "ask"), ("turn_limit", "3")]);
    play.ann(&format!("{STARS_OF_ANN}SHIP 1 2/2 G1\nSHIP 2 2/2 G1\nSHIP 3 3/1 G1"));
    play.bo(&format!("{STARS_OF_BO}SHIP 1 6/3 S4\nSHIP 2 3/1 Y2"));
    play.ann("SHIP 1 TO H1\nSHIP 2 TO H1\nSHIP 3 TO H1");
    play.bo("SHIP 1 TO R1");
    play.ann("SHIP 1 TO M1\nSHIP 2 TO M1\nSHIP 3 TO M1");
    play.bo("SHIP 1 TO M1");
    play.ann("LOSE M 9");
    play.ann("LOSE M 2");
    play.ann("CAPTURE M1");
    play.bo("HOLD");
    play.ends("quadrant-z-casualties", "most stars", Some(Seat::First));
}

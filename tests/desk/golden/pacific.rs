use fogpost::game::Seat;
use fogpost::game::any::GameKind;

use super::Play;

const SOUTH: &str = "
CARRIER D2 SQUADRON E3
CARRIER M2 SQUADRON L3
BATTLESHIP A1 F1 G1 H1 I1 J1 K1 O1 P1
CRUISER C3 G3 J3 N3
DESTROYER B5 D5 F5 H5 K5 M5 O5
SUBMARINE C7 H7 N7 E10 L10
";
const NORTH: &str = "
CARRIER D15 SQUADRON E14
CARRIER M15 SQUADRON L14
BATTLESHIP A16 F16 G16 H16 I16 J16 K16 O16 P16
CRUISER C14 G14 J14 N14
DESTROYER B12 D12 F12 H12 K12 M12 O12
SUBMARINE C10 H10 N10 E7 L7
";

#[test]
fn pacific_above_and_below_the_surface() {
    let mut play = Play::open(GameKind::Pacific, &[("quiet_limit", "1")]);
    play.ann(&SOUTH.replace("A1 F1", "A9 F1"));
    play.ann(SOUTH);
    play.bo(NORTH);
    play.ann("B5 C7");
    play.bo("ASW D10");
    play.ann("U5 FIRE K12");
    play.bo("U4 FIRE D5");
    play.ann("ASW D7");
    play.bo("A16 A1");
    play.ann("U1 SONAR C9");
    play.bo("U3 N10 N7");
    play.ann("MOVE SE3 TO E9");
    play.bo("D15 C15");
    play.ann("SUBS PASS");
    play.bo("U5 L7 L8");
    play.ends("pacific", "points afloat", Some(Seat::Second));
}

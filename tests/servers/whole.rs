//! A complete match of each game, from the first letter to the result, over Dovecot and Postfix.

use crate::play::{BO, Person, club_on, open_match};
use crate::servers::Servers;

/// A writer, the orders, and the words for which the next writer waits.
type Step = (&'static str, &'static str, &'static str);

/// Plays a match. Ann writes first, when she has read `first_words`; at the end both read the result.
fn play(game: &str, options: &[&str], first_words: &str, steps: &[Step], reason: &str) {
    let Some(servers) = Servers::start() else { return };
    let club = club_on(&servers, "tls");
    let mut people = [Person::new(&servers, "Ann"), Person::new(&servers, "Bo")];
    let id = open_match(&club, game, BO, options);
    let _daemon = club.start();
    let seat = |name: &str| usize::from(name == "Bo");
    let mut letter = people[0].reads(first_words, &club);
    for (number, (name, orders, words)) in steps.iter().enumerate() {
        // A mail program sends every other letter.
        match number % 2 {
            0 => people[seat(name)].answers_by_program(&letter, orders),
            _ => people[seat(name)].answers(&letter, orders),
        }
        if let Some((next, ..)) = steps.get(number + 1) {
            letter = people[seat(next)].reads(words, &club);
        }
    }
    for person in &mut people {
        let result = person.reads(&format!("won this match ({reason})"), &club);
        assert!(result.subject.contains(&format!("[{id}] Result")), "{}", result.subject);
    }
    let verified = club.run(&["audit", "verify", &id]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    assert_eq!(servers.letters("referee", "INBOX").len(), 0);
    assert_eq!(servers.letters("referee", "Processed").len(), steps.len());
}

pub const SOUTH: &str = "CARRIER D2 SQUADRON E3\nCARRIER M2 SQUADRON L3\nBATTLESHIP A1 F1 G1 H1 I1 J1 K1 O1 P1\n\
                     CRUISER C3 G3 J3 N3\nDESTROYER B5 D5 F5 H5 K5 M5 O5\nSUBMARINE C7 H7 N7 E10 L10";
const NORTH: &str = "CARRIER D15 SQUADRON E14\nCARRIER M15 SQUADRON L14\n\
                     BATTLESHIP A16 F16 G16 H16 I16 J16 K16 O16 P16\n\
                     CRUISER C14 G14 J14 N14\nDESTROYER B12 D12 F12 H12 K12 M12 O12\nSUBMARINE C10 H10 N10 E7 L7";

#[test]
fn pacific_is_played_from_the_setup_to_the_points_afloat() {
    let steps = [
        ("Ann", SOUTH, "This match is played with submarines"),
        ("Bo", NORTH, "please send your orders"),
        ("Ann", "B5 C7", "Ann's destroyer went from B5 to C7"),
        ("Bo", "ASW D10", "Bo attacked at D10 with depth charges"),
        ("Ann", "U5 FIRE K12", "You attacked at D10 with depth charges"),
        ("Bo", "U4 FIRE D5", "Your torpedo sank the destroyer on K12"),
        ("Ann", "ASW D7", "Ann attacked at D7 with depth charges"),
        ("Bo", "A16 A1", "Bo's battleship went from A16 to A1"),
        ("Ann", "U1 SONAR C9", "Your battleship went from A16 to A1"),
        ("Bo", "U3 N10 N7", "You attacked at C9 by submarine sonar"),
        ("Ann", "MOVE SE3 TO E9", "Ann's squadron went from E3 to E9"),
        ("Bo", "D15 C15", "Bo's carrier went from D15 to C15"),
        ("Ann", "SUBS PASS", "Your carrier went from D15 to C15"),
        ("Bo", "U5 L7 L8", ""),
    ];
    play("pacific", &["quiet_limit=1"], "This match is played with submarines", &steps, "points afloat");
}

#[test]
fn quantum_is_played_from_the_first_move_to_a_tower() {
    let steps = [
        ("Ann", "A3 A4", "Ann moved from A3 to A4"),
        ("Bo", "B6 B5", "Bo moved from B6 to B5"),
        ("Ann", "A4 B5", "Ann moved from A4 onto B5"),
        ("Bo", "A6 B5", "Bo moved from A6 onto B5"),
        ("Ann", "C3 C4", "Ann moved from C3 to C4"),
        ("Bo", "H6 H7", "Bo moved from H6 to H7"),
        ("Ann", "C4 B5", "Ann moved from C4 onto B5"),
        ("Bo", "C6 B5", "Bo moved from C6 onto B5"),
        ("Ann", "B3 B4", "Ann moved from B3 to B4"),
        ("Bo", "H7 H8", "Bo moved from H7 to H8"),
        ("Ann", "B4-B5", "Ann moved from B4 onto B5"),
        ("Bo", "H8 H7", "Bo moved from H8 to H7"),
        ("Ann", "H3 H2", "Ann moved from H3 to H2"),
        ("Bo", "H7 H8", "Bo moved from H7 to H8"),
        ("Ann", "H2 H1", ""),
    ];
    let options = ["array=......../......../QQQQQQQQ", "quiet_limit=2"];
    play("quantum", &options, "Turn 1", &steps, "more towers");
}

pub const ANN_AT_HOME: &str = "STAR A1 3 BASE\nSTAR A4 1\nSTAR B1 3\nSTAR C1 2\nSTAR F1 2\nSTAR G1 2\nSTAR K1 2\n\
    STAR D1 2\nSTAR D4 1\nSTAR E1 2\nSTAR E4 1\nSTAR H1 2\nSTAR H4 1\nSTAR I1 2\nSTAR I4 1\nSTAR J1 2\n\
    STAR L1 2\nSTAR M1 2\nSTAR N1 2\nSTAR P1 2\nSTAR Q1 2\nSTAR R1 2\nSTAR U1 2\nSTAR V1 2\n\
    SHIP 1 4/2 G1\nSHIP 2 3/1 C1\nSHIP 3 3/2 K4";
const BO_AT_HOME: &str = "STAR Y4 3 BASE\nSTAR Y1 1\nSTAR X4 3\nSTAR W4 2\nSTAR T4 2\nSTAR S4 2\nSTAR O4 2\n\
    STAR D4 2\nSTAR E4 2\nSTAR H4 2\nSTAR I4 2\nSTAR J4 2\nSTAR L4 2\nSTAR M4 2\nSTAR N4 2\nSTAR P4 2\n\
    STAR P1 1\nSTAR Q4 2\nSTAR Q1 1\nSTAR R4 2\nSTAR U4 2\nSTAR U1 1\nSTAR V4 2\nSTAR V1 1\n\
    SHIP 1 4/2 S4\nSHIP 2 3/2 O1\nSHIP 3 3/1 O4";

#[test]
fn quadrant_z_is_played_from_the_setup_to_the_capture_of_a_base() {
    let steps = [
        ("Ann", ANN_AT_HOME, "Stars in your home sector"),
        ("Bo", BO_AT_HOME, "the match begins"),
        ("Ann", "CAPTURE G1\nSHIP 2 C1 TO H2\nSHIP 3 K4 TO L2", "the match begins"),
        ("Bo", "SHIP 1 S4 TO R2\nSHIP 2 O1 TO N2\nCAPTURE O4", "You captured the star at G1"),
        ("Ann", "SHIP 3 L2 TO M2\nSHIP 2 H2 TO I2\nBUILD 1/1 AT A4", "You captured the star at O4"),
        ("Bo", "SHIP 1 R2 TO M1\nSHIP 2 N2 TO I3\nSHIP 3 O4 TO J2\nBUILD 2/0 AT Y1", "Battle in M"),
        ("Ann", "SHIP 2 I2 TO N2\nLOSSES 4 1", "Battle in M"),
        ("Bo", "SHIP 1 M1 TO H1\nSHIP 2 I3 TO I4\nSHIP 3 J2 TO J4", "An enemy force entered H"),
        ("Ann", "SHIP 2 N2 TO O2", "An enemy force entered N"),
        ("Bo", "SHIP 1 H1 TO C2\nCAPTURE I4\nCAPTURE J4", "The enemy captured the star at I4"),
        ("Ann", "SHIP 2 O2 TO T2", "You captured the star at I4"),
        ("Bo", "SHIP 1 C2 TO C1", "Enemies of size 6 are at C1"),
        ("Ann", "SHIP 2 T2 TO Y4", "Enemies of size 4 are at T2"),
        ("Bo", "CAPTURE C1", "The enemy captured the star at C1"),
        ("Ann", "CAPTURE Y4", "You captured the star at C1"),
        ("Bo", "HOLD", ""),
    ];
    play("quadrant-z", &[], "Stars in your home sector", &steps, "base captured");
}

//! Tests of what the cases in `tests/cases/pacific` cannot reach by playing from a setup: endings, passes,
//! secrecy.

use super::rules::{Event, Sighting};
use super::*;
use crate::game::picture::Shape;
use crate::game::{Phase, Reason};

fn at(text: &str) -> Square {
    Square::parse(text).expect("a square")
}

/// Reads `VA1 SB2^ DC3`: ships by class letter and square. `^` means launched. Numbers are given in order.
fn fleet(text: &str) -> Vec<Ship> {
    let mut carriers = 0;
    let mut squadrons = 0;
    let ship = |word: &str| {
        let place = at(word[1..].trim_end_matches('^'));
        let kind = match word.chars().next().and_then(Class::of_letter).expect("a class") {
            Class::Carrier => {
                carriers += 1;
                ShipKind::Carrier { no: carriers }
            }
            Class::Squadron => {
                squadrons += 1;
                ShipKind::Squadron { no: squadrons, launched: word.ends_with('^'), leapt: false }
            }
            Class::Battleship => ShipKind::Battleship,
            Class::Cruiser => ShipKind::Cruiser,
            Class::Destroyer => ShipKind::Destroyer,
        };
        Ship { kind, at: place }
    };
    let mut fleet: Vec<Ship> = text.split_ascii_whitespace().map(ship).collect();
    fleet.sort_unstable_by_key(|ship| ship.at);
    fleet
}

fn below(text: &str) -> Vec<Submarine> {
    (1..).zip(text.split_ascii_whitespace()).map(|(no, text)| Submarine { no, at: at(text) }).collect()
}

fn state(options: Options, stage: Stage, ships: [&str; 2], submarines: [&str; 2]) -> State {
    let mut state = State::new(options);
    state.stage = stage;
    state.ships = BySeat::new(fleet(ships[0]), fleet(ships[1]));
    state.submarines = BySeat::new(below(submarines[0]), below(submarines[1]));
    state
}

fn without_submarines() -> Options {
    Options { submarines: false, ..Options::default() }
}

fn numbered(text: &str) -> Vec<Numbered<Order>> {
    let orders = (1..).zip(text.lines()).flat_map(|(line, text)| {
        let orders = State::parse(text).expect("an order");
        orders.into_iter().map(move |order| Numbered { line, order })
    });
    orders.collect()
}

fn seal(state: &State, seat: Seat, text: &str) -> Sealed<Order> {
    State::check(&state.view(seat), &numbered(text)).expect("orders without fault")
}

fn play(state: &State, seat: Seat, text: &str) -> State {
    let mut filed = BySeat::new(None, None);
    filed[seat] = Some(seal(state, seat, text));
    state.adjudicate(&filed)
}

fn dive(state: &State, first: &str, second: &str) -> State {
    let due = state.due().expect("a submarine turn").seats;
    let file = |seat, text| due.contains(&seat).then(|| seal(state, seat, text));
    state.adjudicate(&BySeat::new(file(Seat::First, first), file(Seat::Second, second)))
}

#[test]
fn a_pass_is_reported_and_counts_as_a_quiet_turn() {
    let start = state(without_submarines(), Stage::Surface(Seat::Second), ["BA1", "BA16"], ["", ""]);
    let next = rules::surface(&start, Seat::Second, None);
    let view = serde_json::to_value(next.view(Seat::First)).expect("plain values");
    assert_eq!(view["news"], json!([{"event": "pass", "side": "second"}]));
    assert_eq!(view["quiet"], 1);
    assert_eq!(view["round"], 2);
}

#[test]
fn a_side_that_cannot_act_owes_nothing() {
    // A side that has ships can almost always act (3.7), so this one has none.
    let start = state(without_submarines(), Stage::Surface(Seat::Second), ["BA1", ""], ["", ""]);
    let due = start.due().expect("the match goes on");
    assert_eq!((due.phase, due.seats), (Phase::Surface, vec![]));
    assert_eq!(start.position()["to_move"], "second");
    assert_ne!(start.adjudicate(&BySeat::new(None, None)), start);
}

#[test]
fn a_surface_move_that_sinks_the_last_ship_ends_the_match_at_once() {
    let start =
        state(Options::default(), Stage::Surface(Seat::Second), ["DA1 SB3^", "BA16 VP16"], ["C3", "K9"]);
    let end = play(&start, Seat::Second, "A16 A1");
    let won = Outcome { winner: Some(Seat::Second), reason: Reason::FleetDefeated };
    assert_eq!(end.outcome(), Some(won), "squadrons and submarines do not save a side");
    assert_eq!(end.due(), None);
    assert_eq!(end.position()["round"], 1);
    assert_eq!(end.position()["to_move"], json!(null));
}

#[test]
fn the_squadron_of_the_last_carrier_goes_down_before_defeat_is_judged() {
    let start = state(without_submarines(), Stage::Surface(Seat::First), ["BA1", "VA9 SB9"], ["", ""]);
    let end = play(&start, Seat::First, "A1 A9");
    assert_eq!(end.ships.second, vec![]);
    assert!(end.outcome().is_some());
}

#[test]
fn two_torpedoes_that_sink_both_last_ships_are_a_draw() {
    let start = state(Options::default(), Stage::Submarines, ["DA1", "DP16"], ["P14", "A3"]);
    let end = dive(&start, "U1 FIRE P16", "U1 FIRE A1");
    assert_eq!(end.outcome(), Some(Outcome { winner: None, reason: Reason::FleetDefeated }));
    assert_eq!(end.round, 1, "the round in which it ended");
    assert_eq!(end.quiet, 0);
}

#[test]
fn a_submarine_turn_ends_before_the_limit_is_checked() {
    let options = Options { quiet_limit: 1, ..Options::default() };
    let start = state(options, Stage::Surface(Seat::First), ["BA1", "BP16"], ["C3", ""]);
    let below = play(&play(&start, Seat::First, "A1 A2"), Seat::Second, "P16 P15");
    assert_eq!(below.due().map(|due| due.seats), Some(vec![Seat::First]));
    assert_eq!(below.quiet, 2);
    assert!(dive(&below, "", "").outcome().is_some());
}

#[test]
fn a_sunk_submarine_does_not_move_and_a_missing_filing_decides_nothing() {
    let start = state(Options::default(), Stage::Submarines, ["DA1", "DP16"], ["D4", "D6 K9"]);
    let next = dive(&start, "U1 SONAR D6", "U1 D6 D9");
    assert_eq!(next.submarines.second, vec![Submarine { no: 2, at: at("K9") }]);
    let only_one = BySeat::new(State::missed(&start.view(Seat::First)), None);
    assert_eq!(start.adjudicate(&only_one), start);
}

#[test]
fn only_a_submarine_turn_can_be_missed() {
    for (stage, may) in
        [(Stage::Setup, false), (Stage::Surface(Seat::First), false), (Stage::Submarines, true)]
    {
        let start = state(Options::default(), stage, ["DA1", "DP16"], ["D4", "D6"]);
        assert_eq!(State::missed(&start.view(Seat::First)).is_some(), may);
    }
}

#[test]
fn a_submarine_move_looks_like_a_pass_to_the_enemy() {
    let start = state(Options::default(), Stage::Submarines, ["DA1", "DP16"], ["D4", "D6"]);
    let shown = |first| dive(&start, first, "").view(Seat::Second);
    assert_eq!(shown("U1 TO D5"), shown("SUBS PASS"));
    assert_eq!(shown("U1 TO D5"), shown(""));
}

#[test]
fn only_the_owner_learns_which_submarine_was_sunk() {
    let start = state(Options::default(), Stage::Surface(Seat::First), ["DA1", "DP16"], ["D4", "K9 A2"]);
    let next = play(&start, Seat::First, "ASW A2");
    assert_eq!(State::extra(&next.view(Seat::Second))["lost"], json!([2]));
    assert_eq!(State::extra(&next.view(Seat::First))["lost"], json!([]));
}

#[test]
fn the_setup_in_the_form_is_legal() {
    for destroyers in [Destroyers::Seven, Destroyers::Eight] {
        for submarines in [true, false] {
            let options = Options { destroyers, submarines, ..Options::default() };
            let start = State::start(&options);
            for seat in Seat::BOTH {
                let view = start.view(seat);
                let lines = State::extra(&view)["examples"].clone();
                let lines: Vec<String> = serde_json::from_value(lines).expect("lines");
                seal(&start, seat, &lines.join("\n"));
            }
        }
    }
}

#[test]
fn the_board_is_narrow_and_marks_what_is_known() {
    let ships = ["DA1 VH8 SP12^ BE2", "DP16 VC9 SD9"];
    let mut start = state(Options::default(), Stage::Surface(Seat::First), ships, ["E2 K5", "F4 K9"]);
    start = play(&start, Seat::First, "ASW F2");
    let text = State::board(&start.view(Seat::First)).text;
    assert!(text.lines().all(|line| line.chars().count() <= 66), "{text}");
    let row = |no: &str| text.lines().find(|line| line.starts_with(no)).expect("a rank").to_owned();
    assert_eq!(row(" 2"), " 2 .   .   .   .   B_? o   o   ?   .   .   .   .   .   .   .   .");
    assert_eq!(row(" 5"), " 5 .   .   .   .   .   .   .   .   .   .   U2  .   .   .   .   .");
    assert_eq!(row(" 9"), " 9 .   .   v1  s1  .   .   .   .   .   .   .   .   .   .   .   .");
    assert_eq!(row("12"), "12 .   .   .   .   .   .   .   .   .   .   .   .   .   .   .   S1^");
    let enemys = State::board(&start.view(Seat::Second)).text;
    assert!(!enemys.contains("U2_") && enemys.contains("  b   "), "{enemys}");
}

#[test]
fn the_picture_shows_the_viewers_submarines() {
    let ships = ["DA1 VH8 SP12^ BE2", "DP16 VC9 SD9"];
    let start = state(Options::default(), Stage::Surface(Seat::First), ships, ["E2 K5", "F4 K9"]);
    let next = play(&start, Seat::First, "ASW F2");
    for seat in Seat::BOTH {
        let picture = State::board(&next.view(seat)).picture;
        let shows = |words: &str| {
            picture.shapes.iter().any(|shape| matches!(shape, Shape::Text { text, .. } if text == words))
        };
        assert!(shows("U2"), "each side sees its own submarines");
    }
}

#[test]
fn two_submarines_on_one_square_are_both_shown() {
    let outcome = Outcome { winner: None, reason: Reason::DrawAgreed };
    let over = state(Options::default(), Stage::Over(outcome), ["BA1", "BA16"], ["C3 A1 E5", "C3 A1 G7"]);
    let board = State::board(&over.view(Seat::First));
    for shown in [" U1+", " B= ", " U3 ", " u3 ", "Two submarines share a square"] {
        assert!(board.text.contains(shown), "{shown:?} is not in\n{}", board.text);
    }
    let places = |label: &str| {
        let at = |shape: &Shape| match shape {
            Shape::Text { x, text, .. } if text == label => Some(*x),
            _ => None,
        };
        board.picture.shapes.iter().filter_map(at).collect::<Vec<_>>()
    };
    // The legend shows another one.
    let drawn = places("U1");
    assert!(matches!(drawn[..], [one, other, _] if one != other), "{drawn:?}");
}

#[test]
fn older_contacts_stay_on_the_board_with_their_turn() {
    let ships = ["BA1", "BA16"];
    let mut later = state(Options::default(), Stage::Surface(Seat::First), ships, ["C3", "E9"]);
    later.round = 12;
    let at = Square::parse("D4").expect("a square");
    let event = Event::Torpedoed { side: Seat::Second, no: 1, at, sunk: Class::Destroyer };
    later.sightings = vec![Sighting { round: 7, event }];
    let shown = |seat| {
        let picture = State::board(&later.view(seat)).picture;
        picture.shapes.iter().any(|shape| matches!(shape, Shape::Text { text, .. } if text == "t7"))
    };
    assert!(shown(Seat::First), "an enemy submarine was near");
    assert!(!shown(Seat::Second), "it was its own");
}

//! The grammar of the GM's instructions.

use fogpost::game::any::GameKind;
use fogpost::game::{Line, Seat};
use fogpost::referee::{
    Act, EventAction, Instruction, InstructionFault, Listing, MatchAction, Readership, instructions,
};

fn parse_one(text: &str) -> Result<Instruction, InstructionFault> {
    instructions(&Line::numbered(&text.lines().collect::<Vec<_>>())).0.remove(0).parsed
}

#[test]
fn an_instruction_names_its_match_turn_and_action() {
    let Ok(Instruction::Match { id, turn, action }) = parse_one("gm match qz-7k3m Extend 3 days TURN 4")
    else {
        panic!("a valid instruction")
    };
    assert_eq!((id.as_str(), turn, action), ("qz-7k3m", Some(4), MatchAction::Act(Act::Extend { days: 3 })));
}

#[test]
fn a_full_stop_behind_a_command_is_none_of_its_words_but_one_of_a_reason() {
    assert_eq!(parse_one("GM LIST running."), Ok(Instruction::List(Listing::Running)));
    assert_eq!(parse_one("GM CLOCK CONFIRM."), Ok(Instruction::ConfirmClock));
    assert_eq!(parse_one("GM MATCH QZ-7K3M EXTEND 3 days."), parse_one("GM MATCH QZ-7K3M EXTEND 3 days"));
    let Ok(Instruction::Match { action: MatchAction::Act(Act::Annul { reason }), .. }) =
        parse_one("GM MATCH QZ-7K3M ANNUL Both asked for it.")
    else {
        panic!("a reason")
    };
    assert_eq!(reason, "Both asked for it.");
}

#[test]
fn orders_for_a_seat_end_at_end_and_parsing_continues() {
    let text = "GM MATCH QU-1 ACT second\nMARBLE E5\n\nEND\nGM LIST late\nthanks";
    let (asked, others) = instructions(&Line::numbered(&text.lines().collect::<Vec<_>>()));
    let orders = vec![Line { no: 2, text: "MARBLE E5".to_owned() }];
    let act = Act::File { seat: Seat::Second, orders };
    let Ok(Instruction::Match { action: MatchAction::Act(read), .. }) = &asked[0].parsed else {
        panic!("{:?}", asked[0].parsed);
    };
    assert_eq!(*read, act);
    assert_eq!(asked[1].parsed, Ok(Instruction::List(Listing::Late)));
    assert_eq!(others.len(), 1);
}

#[test]
fn a_text_ends_at_end_or_at_the_next_instruction() {
    let text = "GM ANNOUNCE quad\nOne\n\nTwo\nGM MATCH QU-1 TELL both Three\nFour\nEND\nGM LIST late\nthanks";
    let (asked, others) = instructions(&Line::numbered(&text.lines().collect::<Vec<_>>()));
    let asked: Vec<_> = asked.into_iter().map(|asked| asked.parsed.expect("it is an instruction")).collect();
    let announced =
        Instruction::Announce { readers: Readership::Game(GameKind::Quad), text: "One\n\nTwo".to_owned() };
    let told = MatchAction::Act(Act::tell(None, "Three\nFour".to_owned()));
    let told = Instruction::Match { id: "QU-1".to_owned(), turn: None, action: told };
    assert_eq!(asked, [announced, told, Instruction::List(Listing::Late)]);
    assert_eq!(others.len(), 1);
}

#[test]
fn a_note_that_ends_in_a_turn_is_limited_to_it_only_in_capitals() {
    let read = |text| match parse_one(text) {
        Ok(Instruction::Match { turn, action: MatchAction::Act(Act::Note { text }), .. }) => (turn, text),
        other => panic!("{other:?}"),
    };
    assert_eq!(read("GM MATCH QU-1 NOTE see turn 4"), (None, "see turn 4".to_owned()));
    assert_eq!(read("GM MATCH QU-1 NOTE see above TURN 4"), (Some(4), "see above".to_owned()));
}

#[test]
fn a_turn_is_reopened_or_decided_again_for_a_reason() {
    let read = |text| match parse_one(text) {
        Ok(Instruction::Match { turn: None, action, .. }) => action,
        other => panic!("{other:?}"),
    };
    let reason = "it was late".to_owned();
    let back = MatchAction::Correct { turn: 3, reason: reason.clone(), orders: None };
    assert_eq!(read("GM MATCH QU-1 ROLLBACK to 3 it was late"), back);
    let orders = Some((Seat::Second, vec![Line { no: 2, text: "MARBLE E5".to_owned() }]));
    let corrected = MatchAction::Correct { turn: 3, reason, orders };
    assert_eq!(read("GM MATCH QU-1 CORRECT 3 second it was late\nMARBLE E5\nEND\nbye"), corrected);
}

#[test]
fn an_event_is_moved_by_days_alone_and_the_word_for_them_is_not_part_of_the_reason() {
    let read = |text: &str| parse_one(&format!("GM EVENT EV-WINTER EXTEND {text}"));
    for text in ["2 too few", "2 days too few", "2 Day too few", "2 days: too few"] {
        let action = EventAction::Extend { days: 2, reason: "too few".to_owned() };
        assert_eq!(read(text), Ok(Instruction::Event { id: "EV-WINTER".to_owned(), action }), "{text}");
    }
    let refused = |text: &str| read(text).expect_err(text).reason;
    for text in ["48 hours The server was down.", "2 weeks", "1 week too few", "2 Months. It is summer."] {
        assert_eq!(refused(text), "An extension takes days, not hours, weeks or months.", "{text}");
    }
    for text in ["2", "2 days", "2 days.", "0 too few", "367 too few", "soon too few"] {
        assert_eq!(refused(text), "An extension needs a number of days, 1 to 366, and a reason.", "{text}");
    }
}

#[test]
fn lines_that_are_not_instructions_are_faults() {
    for text in [
        "GM",
        "GM DANCE",
        "GM MATCH QU-1",
        "GM MATCH QU-1 EXTEND soon",
        "GM MATCH QU-1 ROLLBACK 3",
        "GM MATCH QU-1 CORRECT 3 second",
        "GM MATCH QU-1 CORRECT 3 third why",
        "GM LIST x",
        "GM NEW quad",
    ] {
        assert!(parse_one(text).is_err(), "{text}");
    }
}

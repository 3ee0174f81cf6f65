//! The orders, commands and remarks that are read in the lines of a letter.

use chrono::NaiveDate;
use fogpost::game::Line;
use fogpost::game::any::GameKind;
use fogpost::letter::Address;
use fogpost::request::{COMMAND_WORDS, Command, DoubtKind, Grammar as _, Party, Request};

/// Whether a line starts like an order of Quadrant Z.
fn is_order(line: &str) -> bool {
    let first = line.split(' ').next().unwrap_or_default().to_ascii_uppercase();
    ["STAR", "SHIP", "BUILD", "CAPTURE", "LOSSES", "LOSE", "HOLD"].contains(&first.as_str())
}

fn lines(text: &str) -> Vec<Line> {
    text.lines().enumerate().map(|(i, text)| Line { no: i + 1, text: text.trim().to_owned() }).collect()
}

fn read(text: &str) -> Request {
    Request::read(&lines(text), is_order)
}

fn orders(text: &str) -> Vec<String> {
    read(text).orders.into_iter().map(|line| line.text).collect()
}

fn command(text: &str) -> Command {
    let request = read(text);
    assert_eq!(request.faults, [], "{text}");
    match request.commands.as_slice() {
        [asked] => asked.command.clone(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn prose_about_addresses_and_leaving_is_no_command() {
    for prose in ["address unknown since 5 May", "address", "leave", "leave on the 5th", "Leave it open"] {
        let request = read(prose);
        assert!(request.commands.is_empty() && request.faults.is_empty(), "{prose}: {request:?}");
    }
    assert_eq!(read("LEAVE").commands[0].command, Command::Leave { confirmed: false });
    assert_eq!(read("leave confirm").commands[0].command, Command::Leave { confirmed: true });
    assert_eq!(read("ADDRESS none").faults.len(), 1);
}

#[test]
fn orders_are_read_with_any_decoration() {
    for text in [
        "SHIP 1 A3 TO B2",
        "  SHIP 1:  A3 TO B2. ",
        "- SHIP 1, A3 TO B2;",
        "* SHIP 1 A3 TO B2",
        "1. SHIP 1 A3 TO B2 # the scout",
        "2) SHIP 1 A3 -> B2",
        "(3) SHIP 1 A3 > B2!",
        "• SHIP 1 A3 --> B2",
        "*SHIP 1 A3 TO B2*",
        "*SHIP 1 A3 TO B2",
        "SHIP 1 A3 TO B2*",
        "\"SHIP 1 A3 TO B2\"",
        "SНIP 1 А3 ТО В2",
    ] {
        assert_eq!(orders(text), ["SHIP 1 A3 TO B2"], "{text}");
    }
    assert_eq!(orders("ship #1 to b2"), ["ship #1 to b2"]);
    assert_eq!(orders("SHIP 1 TO B2; SHIP 2 HOLD"), ["SHIP 1 TO B2", "SHIP 2 HOLD"]);
    assert_eq!(orders("LOSSES 3, 1, 2"), ["LOSSES 3 1 2"]);
}

#[test]
fn moves_from_square_to_square_are_read_in_every_game() {
    let like_a_square = |line: &str| line.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    let read = |text: &str| -> Vec<String> {
        Request::read(&lines(text), like_a_square).orders.into_iter().map(|line| line.text).collect()
    };
    assert_eq!(read("D3 -> E4"), ["D3-E4"]);
    assert_eq!(read("d3 to e4."), ["d3-e4"]);
    assert_eq!(read("D3-E4"), ["D3-E4"]);
    assert_eq!(read("1. D3 E4"), ["D3 E4"]);
    assert_eq!(read("C4* D5* E6"), ["C4* D5* E6"]);
    assert_eq!(read("C4* D5*"), ["C4* D5*"]);
    assert_eq!(read("*C4 D5*"), ["C4 D5"]);
}

#[test]
fn other_lines_are_kept_as_remarks() {
    let request = read(
        "Dear referee,\n\nSHIP 1 TO B2\nReport attached, see below.\nTell me what you think\n| SHIP 9 TO C1\nAnn",
    );
    assert_eq!(request.orders.len(), 1);
    let remarks: Vec<_> = request.remarks.iter().map(|line| (line.no, line.text.as_str())).collect();
    assert_eq!(
        remarks,
        [(1, "Dear referee,"), (4, "Report attached, see below."), (5, "Tell me what you think"), (7, "Ann")]
    );
    // A copy of an example is questioned.
    assert_eq!((request.commands.len(), request.faults.len(), request.doubts.len()), (0, 0, 1));
    assert_eq!(request.written(4), Some("Report attached, see below."));
}

#[test]
fn look_alike_letters_are_replaced() {
    let request = read("ЅНІР 1 ТО В2\nПривет");
    assert_eq!(request.orders, [Line { no: 1, text: "SHIP 1 TO B2".into() }]);
    assert_eq!(request.remarks.len(), 1);
}

#[test]
fn check_wait_and_turn_are_recognised_among_the_orders() {
    let request = read("Check.\nTurn 4:\nSHIP 1 TO B2\nWAIT");
    assert!(request.check && request.wait);
    assert_eq!(request.turn, Some(4));
    assert_eq!((request.orders.len(), request.faults.len(), request.remarks.len()), (1, 0, 0));
    assert_eq!(orders("CHECK SHIP 1 TO B2"), ["SHIP 1 TO B2"]);
    assert!(!read("Check this out").check);
    assert_eq!(read("TURN 4\nTURN 5").faults.len(), 1);
    assert_eq!(read("Turn 4 was great").turn, None);
}

#[test]
fn end_ends_the_reading() {
    let request = read("SHIP 1 TO B2\nend.\nSHIP 2 TO C3");
    assert!(request.ended);
    assert_eq!(request.orders.len(), 1);
    assert!(!read("The end of an era").ended);
}

#[test]
fn the_text_of_tell_ends_at_end_and_reading_continues() {
    let request = read("TELL Well played!\n\nSee you # soon\nEND\nSHIP 1 TO B2\nEND\nSHIP 2 HOLD");
    assert_eq!(request.commands[0].command, Command::Tell("Well played!\n\nSee you # soon".into()));
    assert_eq!(request.orders.len(), 1);
    assert!(request.ended);
    assert_eq!(command("tell: good luck\nAnn"), Command::Tell("good luck\nAnn".into()));
    assert_eq!(command("tell him so\nend"), Command::Tell("him so".into()));
}

#[test]
fn orders_in_a_message_are_a_fault() {
    for text in [
        "TELL Good luck\nSHIP 1 TO B2",
        "TELL Good luck\nSHIP 1 TO B2\nEND",
        "TELL Good luck\nRESIGN CONFIRM",
        "TELL",
    ] {
        let request = read(text);
        assert_eq!((request.faults.len(), request.commands.len()), (1, 0), "{text}");
    }
    for text in ["TELL GM My father died\nSHIP 1 TO B2", "PROTEST My order\nSHIP 1 TO B2\nwas refused"] {
        let request = read(text);
        assert_eq!((request.faults.len(), request.commands.len()), (1, 0), "{text}");
    }
}

#[test]
fn words_to_the_gm_are_a_text_like_a_message() {
    let text = "My father has died.\nPlease pause my games.";
    for start in ["TELL GM ", "tell gm: ", "Tell GM, "] {
        assert_eq!(command(&format!("{start}{text}\nEND")), Command::TellGm(text.into()), "{start}");
    }
}

#[test]
fn a_protest_that_is_denied_is_a_remark() {
    for text in ["Protest? No, all is fine.", "PROTEST? No!", "protest? me? never"] {
        let request = read(text);
        assert_eq!(
            (request.remarks.len(), request.commands.len(), request.faults.len()),
            (1, 0, 0),
            "{text}"
        );
    }
    assert_eq!(command("Protest: turn 4 was wrong"), Command::Protest("turn 4 was wrong".into()));
}

#[test]
fn withdraw_stands_alone() {
    assert_eq!(command("withdraw."), Command::Withdraw);
    assert_eq!(read("WITHDRAW\nSHIP 1 TO B2").faults.len(), 1);
}

fn doubts(game: GameKind, text: &str) -> Vec<(usize, Vec<String>)> {
    let request = Request::read(&lines(text), game);
    request.doubts.into_iter().map(|doubt| (doubt.line, doubt.found_orders)).collect()
}

#[test]
fn a_line_that_holds_an_order_is_doubtful_and_not_a_remark() {
    let request = Request::read(&lines("SHIP 1 A3 TO B2\nand SHIP 3 B2 TO B1"), GameKind::QuadrantZ);
    assert_eq!((request.orders.len(), request.doubts.len(), request.remarks.len()), (1, 1, 0));
    assert_eq!(
        (&request.doubts[0].kind, &request.doubts[0].found_orders[..]),
        (&DoubtKind::Inside, &["SHIP 3 B2 TO B1".to_owned()][..])
    );
    let commented = Request::read(&lines("SHIP 1 A3 TO B2\n# and SHIP 3 B2 TO B1"), GameKind::QuadrantZ);
    assert_eq!((commented.orders.len(), commented.doubts.len()), (1, 0));
}

#[test]
fn a_thousand_lines_of_words_are_searched_for_orders() {
    let kind = GameKind::QuadrantZ;
    let below = |lines: usize| doubts(kind, &format!("{}and SHIP 3 B2 TO B1", "hello there\n".repeat(lines)));
    assert_eq!(below(999), [(1000, vec!["SHIP 3 B2 TO B1".to_owned()])]);
    assert_eq!(below(1000), []);
    let text = format!("{}SHIP 3 B2 TO B1", "hello there\n".repeat(1000));
    assert_eq!(orders(&text), ["SHIP 3 B2 TO B1"], "an order is one however much stands above it");
}

#[test]
fn a_misspelt_order_is_doubtful_and_its_right_spelling_suggested() {
    let request = Request::read(&lines("SHPI 4 2/1 G4"), GameKind::QuadrantZ);
    assert_eq!(
        (&request.doubts[0].kind, &request.doubts[0].found_orders[..]),
        (&DoubtKind::Misspelt, &["SHIP 4 2/1 G4".to_owned()][..])
    );
}

/// Whether a line holds an order without being one.
fn is_doubtful(game: GameKind, line: &str) -> bool {
    !Request::read(&lines(line), game).doubts.is_empty()
}

#[test]
fn an_order_among_other_words_is_found() {
    for (game, line) in [
        (GameKind::QuadrantZ, "and SHIP 3 B2 TO B1"),
        (GameKind::QuadrantZ, "also capture b2"),
        (GameKind::QuadrantZ, "If he comes to B2, SHIP 1 A3 TO A4"),
        (GameKind::QuadrantZ, "please move ship 3 to b1, thank you"),
        (GameKind::QuadrantZ, "Then: BUILD 2/1 AT A1"),
        (GameKind::QuadrantZ, "all others HOLD"),
        (GameKind::QuadrantZ, "please hold"),
        (GameKind::QuadrantZ, "Bitte SHIP 1 HOLD"),
        (GameKind::QuadrantZ, "I think it is best if I play SHIP 1 TO B2 and see what he makes of that"),
        (GameKind::Quad, "and E6"),
        (GameKind::Quad, "I play E6."),
        (GameKind::Quad, "my turn: C4* D5* E6"),
        (GameKind::Quad, "I take the marble over: SWAP"),
        (GameKind::Quantum, "I move D3 E4"),
        (GameKind::Quantum, "my move is D3-E4, good luck"),
        (GameKind::Pacific, "then D2-E4 please"),
        (GameKind::Pacific, "and U2 FIRE K7"),
        (GameKind::Pacific, "my attack: ASW K7"),
    ] {
        assert!(is_doubtful(game, line), "{game}: {line}");
    }
}

#[test]
fn an_order_with_a_misspelt_or_missing_first_word_is_found() {
    for (game, line) in [
        (GameKind::QuadrantZ, "SHPI 4 2/1 G4"),
        (GameKind::QuadrantZ, "SIHP 1 TO B2"),
        (GameKind::QuadrantZ, "shp 1 hold"),
        (GameKind::QuadrantZ, "SHIPP 2 A3 TO B1"),
        (GameKind::QuadrantZ, "CAPTRE A1"),
        (GameKind::QuadrantZ, "BIULD 2/1 AT A1"),
        (GameKind::QuadrantZ, "LOSES 3 1"),
        (GameKind::QuadrantZ, "Schiff 1 A3 TO B2"),
        (GameKind::QuadrantZ, "1 A3 TO B2"),
        (GameKind::QuadrantZ, "2 hold"),
        (GameKind::QuadrantZ, "A3-B1"),
        (GameKind::QuadrantZ, "scout goes A3 to B1"),
        (GameKind::QuadrantZ, "Schiff 1 von A3 nach B1"),
        (GameKind::Quad, "MABLE E5"),
        (GameKind::Quad, "STRA C4"),
        (GameKind::Pacific, "DESTROYR E2 F2"),
        (GameKind::Pacific, "ASE K7"),
    ] {
        assert!(is_doubtful(game, line), "{game}: {line}");
    }
}

#[test]
fn prose_holds_no_order() {
    for game in GameKind::ALL {
        for line in [
            "Hello Bo, how are you?",
            "I am away until 3 January 2027.",
            "Sent on 20.11.2026 at 11:00",
            "My phone number is +49 30 123 456",
            "Tel. 030 1234567",
            "10115 Berlin, Invalidenstr. 43",
            "Thanks, turn 4 was great fun!",
            "I will hold on to it for another 3 days, then sell",
            "that was a good hold",
            "See you at 8 in room 12",
            "Good luck with the rest of the game; I did not see that threat at E6 coming at all.",
            "Kind regards, Ann",
            "My PC has 16 GB and it is on hold",
            "Version 2.1 of the rules, clause 3.4",
            "(c) 2026 Example Ltd",
            "",
        ] {
            assert!(!is_doubtful(*game, line), "{game}: {line}");
        }
    }
}

#[test]
fn a_bullet_that_the_grammar_could_mean_is_doubtful() {
    let one = |example: &str| vec![(1, vec![example.to_owned()])];
    assert_eq!(doubts(GameKind::QuadrantZ, "2: hold"), one("SHIP 2 HOLD"));
    assert_eq!(doubts(GameKind::QuadrantZ, "1: A3-B1"), one("SHIP 1 A3-B1"));
    assert_eq!(doubts(GameKind::QuadrantZ, "3) TO B2"), one("SHIP 3 TO B2"));
    assert_eq!(doubts(GameKind::Quad, "*E5"), one("E5*"));
    assert_eq!(doubts(GameKind::Quad, "* e5"), one("E5*"));
    for (game, text) in [
        (GameKind::QuadrantZ, "1. SHIP 1 A3 TO B2"),
        (GameKind::QuadrantZ, "- HOLD"),
        (GameKind::QuadrantZ, "* SHIP 2 HOLD"),
        (GameKind::Quad, "* MARBLE E5"),
        (GameKind::Quad, "1. E5"),
        (GameKind::Quad, "C4* D5* E6"),
        (GameKind::Quantum, "2: D3-E4"),
    ] {
        let request = Request::read(&lines(text), game);
        assert_eq!((request.orders.len(), request.doubts.len()), (1, 0), "{text}");
    }
}

#[test]
fn a_line_with_the_bar_of_our_examples_is_questioned() {
    for (game, text) in [
        (GameKind::QuadrantZ, "| SHIP 1 A3 TO B2"),
        (GameKind::Quad, "|MARBLE E5"),
        (GameKind::Quad, "| DRAW"),
    ] {
        let request = Request::read(&lines(&format!("Hi,\n{text}")), game);
        assert_eq!((request.orders.len(), request.doubts.len(), request.commands.len()), (0, 1, 0), "{text}");
        // A letter of nothing else is no quote.
        let request = Request::read(&lines(text), game);
        assert_eq!(request.orders.len() + request.commands.len(), 1, "{text}");
        assert_eq!(request.doubts.len(), 0, "{text}");
    }
    let table = Request::read(&lines("| STATUS   where the match stands\n| a | b |"), GameKind::Quad);
    assert_eq!((table.doubts.len(), table.remarks.len()), (0, 2));
}

#[test]
fn a_heading_names_the_turn_of_the_orders() {
    for text in [
        "Orders for turn 4:",
        "My orders for turn 4",
        "TURN 4 ORDERS",
        "turn 4",
        "Here are my moves for turn 4.",
    ] {
        assert_eq!(read(text).turn, Some(4), "{text}");
    }
    for text in ["Turn 4 was great", "see you in turn 4", "Orders for turn four"] {
        assert_eq!(read(text).turn, None, "{text}");
    }
}

#[test]
fn other_matches_are_noticed() {
    let request = read("[QD-7K3M] orders\nSHIP 1 TO B2\nsee also qz-aaaa");
    assert_eq!(request.named_matches, ["QD-7K3M", "QZ-AAAA"]);
    assert_eq!(read("MATCH QD-7K3M\nSHIP 1 TO B2").sections, ["QD-7K3M"]);
    assert_eq!(read("the B-52 bomber, ISO-8859, QZ-").named_matches, [""; 0]);
}

#[test]
fn commands_are_read_in_any_case() {
    let day = |text: &str| NaiveDate::parse_from_str(text, "%Y-%m-%d").unwrap();
    let (from, to) = (day("2026-12-20"), day("2027-01-03"));
    for (text, wanted) in [
        ("status?", Command::Status),
        ("REPORT", Command::Report(None)),
        ("report turn 3", Command::Report(Some(3))),
        ("History", Command::History),
        ("RESIGN", Command::Resign { confirmed: false }),
        ("resign confirm", Command::Resign { confirmed: true }),
        ("- DRAW", Command::Draw),
        ("EXTEND 3 days", Command::Extend { days: 3 }),
        ("extend by 2 weeks", Command::Extend { days: 14 }),
        ("AGREE.", Command::Agree),
        ("ABSENT 2026-12-20 TO 2027-01-03", Command::Absent { from: Some(from), to }),
        ("absent from 20.12.2026 until 3.1.2027", Command::Absent { from: Some(from), to }),
        ("ABSENT 2026-12-20 - 2027-01-03", Command::Absent { from: Some(from), to }),
        ("ABSENT 2026-12-20", Command::Absent { from: Some(from), to: from }),
        ("ABSENT until 2027-01-03", Command::Absent { from: None, to }),
        ("absent through 3.1.2027", Command::Absent { from: None, to }),
        ("SUBSTITUTE", Command::Substitute),
        ("help", Command::Help(None)),
        ("HELP Orders", Command::Help(Some("orders".into()))),
        ("GAMES", Command::Games),
        ("RULES", Command::Rules(None)),
        ("rules quadrant z", Command::Rules(Some("quadrant z".into()))),
        ("Matches", Command::Matches),
        ("ACCEPT ABCDEF", Command::Accept("ABCDEF".into())),
        ("decline 7k3m", Command::Decline("7k3m".into())),
        ("JOIN QZ-7K3M", Command::Join("QZ-7K3M".into())),
        (
            "OPEN quadrant-z turn_limit=30",
            Command::Open {
                game: "quadrant-z".into(),
                options: vec![("turn_limit".into(), "30".into())],
                days: None,
            },
        ),
    ] {
        assert_eq!(command(text), wanted, "{text}");
    }
    for text in [
        "CHALLENGE Bo@Example.org War in the Pacific submarines=true days=7",
        "challenge bo@example.org<mailto:bo@example.org> War in the Pacific days=7 submarines=true",
        "CHALLENGE <bo@example.org> War in the Pacific submarines=true, days=7",
    ] {
        let opponent = Party::Player(Address::parse("bo@example.org").unwrap());
        let options = vec![("submarines".into(), "true".into())];
        let game = "War in the Pacific".into();
        assert_eq!(command(text), Command::Challenge { opponent, game, options, days: Some(7) }, "{text}");
    }
}

#[test]
fn the_house_can_be_challenged_at_a_level() {
    for (text, level) in [
        ("CHALLENGE house Quad level=average first=me", None),
        ("challenge HOUSE:expert quad level=average first=me", Some("expert".to_owned())),
    ] {
        let Command::Challenge { opponent, options, .. } = command(text) else { panic!("{text}") };
        assert_eq!(opponent, Party::House(level), "{text}");
        assert_eq!(options[1], ("first".into(), "me".into()), "{text}");
    }
}

#[test]
fn a_malformed_command_is_a_fault_and_prose_is_a_remark() {
    for text in [
        "EXTEND",
        "EXTEND 0 days",
        "extend 3 moons",
        "REPORT yesterday",
        "ABSENT next week",
        "ABSENT 2027-01-03 TO 2026-12-20",
        "absent 2026-13-01",
        "RESIGN NOW",
        "STATUS PLEASE",
        "ACCEPT",
        "CHALLENGE Bo",
        "CHALLENGE bo@example.org",
        "CHALLENGE bo@example.org Quad days=soon",
        "OPEN",
        "JOIN the club now",
    ] {
        let request = read(text);
        assert_eq!((request.faults.len(), request.commands.len()), (1, 0), "{text}");
        // No code is invented.
        let takes_code = text.starts_with("ACCEPT") || text.starts_with("JOIN");
        assert_eq!(request.faults[0].example.is_some(), !takes_code, "{text}");
    }
    for text in [
        "Report attached",
        "Help me understand this",
        "Draw? Never!",
        "Status quo is fine",
        "Accept my apologies",
        "Join us on Friday",
        "Open question: why?",
        "Rules are rules",
        "Resign myself to my fate",
        "I agree",
        "Absent friends",
        "Games night soon",
    ] {
        let request = read(text);
        assert_eq!(
            (request.remarks.len(), request.faults.len(), request.commands.len()),
            (1, 0, 0),
            "{text}"
        );
    }
}

proptest::proptest! {
    #[test]
    fn reading_never_panics(text in "(SHIP|TELL|END|TURN|#|\\*|\\(|1|\\.|\\)|;|:| |\n|А|é|>|-|_|CHALLENGE|a@b.c|=|GM|\"){0,60}") {
        let _ = read(&text).is_empty();
        for game in GameKind::ALL {
            let _ = Request::read(&lines(&text), *game).is_empty();
        }
    }
}

#[test]
fn a_line_of_words_that_starts_like_an_order_is_prose() {
    for line in ["Star Shipping Ltd", "Hold the line, they said", "capture the moment"] {
        assert!(!GameKind::QuadrantZ.begins_order(line), "{line}");
    }
    for line in ["HOLD THE LINE", "hold all", "SHIP 1 TO", "ship one to b2", "Hold"] {
        assert!(GameKind::QuadrantZ.begins_order(line), "{line}");
    }
}

#[test]
fn the_table_of_words_has_every_command() {
    let sources = [
        include_str!("../../crates/core/src/request/command.rs"),
        include_str!("../../crates/core/src/request/mod.rs"),
    ];
    let mut found = 0;
    // Patterns such as `"STATUS" =>` and `["END"] =>`.
    for line in sources.iter().flat_map(|source| source.lines()).filter(|line| line.contains("=>")) {
        let pattern = line.trim_start().trim_start_matches('[');
        let word = pattern.strip_prefix('"').and_then(|rest| rest.split('"').next()).unwrap_or_default();
        if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase()) {
            assert!(COMMAND_WORDS.contains(&word), "{word}");
            found += 1;
        }
    }
    assert!(found >= COMMAND_WORDS.len(), "{found} patterns");
}

#[test]
fn an_order_behind_many_remarks_counts_and_a_long_text_is_passed_on_whole() {
    let request = read(&format!("STAR A1 3\n{}STAR B1 3\n", "a line\n".repeat(9000)));
    assert_eq!((request.orders.len(), request.remarks.len(), request.faults.len()), (2, 9000, 0));
    let text = "word ".repeat(50_000);
    for verb in ["TELL", "TELL GM", "PROTEST"] {
        let told = command(&format!("{verb} {text}\nEND"));
        assert_eq!(told.text().map(str::trim), Some(text.trim()), "{verb}");
    }
}

#[test]
fn capitals_mark_no_long_text_in_a_letter_that_is_wholly_in_capitals() {
    let request = read(&format!("I SHALL BE AWAY, AND NOBODY CAN\nTELL {}\n", "WORD ".repeat(1_000)));
    assert_eq!((request.commands, request.remarks.len()), (Vec::new(), 2));
}

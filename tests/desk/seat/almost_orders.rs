//! Lines that are almost orders: nothing is filed that its author may not have meant.

use fogpost::game::any::GameKind;
use fogpost::game::{Phase, Seat};
use fogpost::referee::{Match, Stage};

use crate::referee::{ANN, BO, GM, Referee, Sent};

/// A legal setup of Quadrant Z for the North-West, without ships.
fn stars() -> String {
    let mut setup =
        String::from("STAR A1 3 BASE\nSTAR A4 1\nSTAR B1 3\nSTAR C1 2\nSTAR F1 2\nSTAR G1 2\nSTAR K1 2\n");
    for (n, quadrant) in "DEHIJLMNPQRUV".chars().enumerate() {
        setup.push_str(&format!("STAR {quadrant}1 2\n"));
        if n < 4 {
            setup.push_str(&format!("STAR {quadrant}2 1\n"));
        }
    }
    setup
}

/// A legal setup of Quadrant Z for the South-East, without ships.
fn stars_of_second() -> String {
    let mut setup =
        String::from("STAR Y1 3 BASE\nSTAR Y4 1\nSTAR X1 3\nSTAR W1 2\nSTAR T1 2\nSTAR S1 2\nSTAR O1 2\n");
    for line in stars().lines().skip(7) {
        setup.push_str(line);
        setup.push('\n');
    }
    setup
}

/// Opens a match of Quadrant Z and plays the setups. Ann has ships 1, 2 and 3. Returns both reports.
pub fn both_set_up(referee: &Referee) -> (Match, Sent, Sent) {
    let game_match = referee.open(GameKind::QuadrantZ, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &to_ann, &format!("{}SHIP 1 3/2 A3\nSHIP 2 2/1 C1\nSHIP 3 1/1 B2\n", stars()));
    referee.reply(BO, &to_bo, &format!("{}SHIP 1 3/2 Y1\n", stars_of_second()));
    let report = referee.last_to(ANN);
    report.says("SHIP 1");
    (referee.find(&game_match.id), report, referee.last_to(BO))
}

/// Like [`both_set_up`], but returns only Ann's report.
fn quadrant_z(referee: &Referee) -> (Match, Sent) {
    let (game_match, report, _) = both_set_up(referee);
    (game_match, report)
}

fn held(referee: &Referee, game_match: &Match, seat: Seat) -> Option<Vec<String>> {
    referee.find(&game_match.id).filed[seat].as_ref().map(|held| held.filing.lines().to_vec())
}

#[test]
fn no_order_is_filed_from_a_letter_with_a_doubtful_line() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    for doubtful in [
        "and SHIP 3 B2 TO B1",
        "also CAPTURE B2",
        "SHPI 3 B2 TO B1",
        "If he comes to A4, SHIP 3 B2 TO B1",
        "3 B2 TO B1",
        "2: hold",
        "B2-B1",
        "please ship 3 to b1, thanks",
        "| SHIP 3 B2 TO B1",
    ] {
        referee.reply(ANN, &report, &format!("SHIP 1 A3 TO A1\n{doubtful}"));
        let refusal = referee.one_to(ANN);
        assert_eq!(held(&referee, &game_match, Seat::First), None, "{doubtful}");
        if !doubtful.starts_with('|') {
            refusal.says(&format!("> {doubtful}")).says("No order in this letter was filed");
        }
    }
}

#[test]
fn yes_files_what_is_beyond_doubt() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1\nand SHIP 3 B2 TO B1");
    let refusal = referee.one_to(ANN);
    refusal
        .says("> and SHIP 3 B2 TO B1")
        .says("You may mean this: | SHIP 3 B2 TO B1")
        .says("To file just these, answer with the single word YES: | SHIP 1 A3 TO A1");
    referee.reply(ANN, &refusal, "Yes.");
    referee.one_to(ANN).says("Your orders are sealed").says("| SHIP 1 A3 TO A1");
    assert_eq!(held(&referee, &game_match, Seat::First), Some(vec!["SHIP 1 A3 TO A1".to_owned()]));
}

#[test]
fn yes_without_an_offer_is_a_remark() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    referee.reply(ANN, &report, "yes");
    referee.one_to(ANN).says("Your words:").says("> yes");
    referee.reply(ANN, &report, "SHIP 1 A3 TO Y1\nand SHIP 3 B2 TO B1");
    referee.one_to(ANN).keeps_silent_of("YES");
    referee.reply(ANN, &report, "YES");
    assert_eq!(held(&referee, &game_match, Seat::First), None);
    referee.sent_to(ANN);
}

#[test]
fn an_offer_ends_with_the_next_letter_that_orders_something() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1\nand SHIP 3 B2 TO B1");
    referee.reply(ANN, &report, "SHIP 2 C1 TO C2");
    referee.reply(ANN, &report, "YES");
    assert_eq!(held(&referee, &game_match, Seat::First), Some(vec!["SHIP 2 C1 TO C2".to_owned()]));
    referee.sent_to(ANN);
}

#[test]
fn a_copied_example_is_named_and_shown_without_its_bar() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    let example = report.text.lines().find(|line| line.contains("| SHIP 1")).expect("an example").trim();
    referee.reply(ANN, &report, &format!("My orders:\n\n{example}"));
    let answer = referee.one_to(ANN);
    answer.says("an example of mine").says(&format!("Without the bar it would be {}", &example[2..]));
    assert_eq!(held(&referee, &game_match, Seat::First), None);
    // It is not ignored next to a valid order either.
    referee.reply(ANN, &report, &format!("{example}\nSHIP 3 B2 TO B1"));
    referee
        .one_to(ANN)
        .says("an example of mine")
        .says("To file just these, answer with the single word YES: | SHIP 3 B2 TO B1");
    assert_eq!(held(&referee, &game_match, Seat::First), None);
    referee.reply(ANN, &report, example);
    assert_eq!(
        held(&referee, &game_match, Seat::First),
        Some(vec![example[2..].to_owned()]),
        "alone it is meant"
    );
}

#[test]
fn a_refusal_shows_the_whole_letter_corrected_and_ready_to_copy() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1\nSHIP 2 C1 TO Y4");
    let refusal = referee.one_to(ANN);
    refusal
        .says("Line 2 is not valid")
        .says("Your whole letter would be valid like this")
        .says("| SHIP 1 A3 TO A1");
    let (_, whole) = refusal.text.split_once("Your whole letter").expect("the corrected letter");
    let lines: Vec<&str> = whole.lines().filter_map(|line| line.trim().strip_prefix("| ")).take(2).collect();
    referee.reply(ANN, &report, &lines.join("\n"));
    assert_eq!(held(&referee, &game_match, Seat::First).map(|held| held.len()), Some(2));
    referee.reply(ANN, &report, "SHIP 2 C1 TO Y4");
    referee.last_to(ANN).keeps_silent_of("Your whole letter");
}

#[test]
fn a_changed_example_is_read_without_its_bar() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    referee.reply(ANN, &report, "| SHIP 1 A3 TO B2\n    | SHIP 3 B2 TO B4");
    referee.one_to(ANN).says("Your orders are sealed");
    let filed = held(&referee, &game_match, Seat::First).expect("orders are filed");
    assert_eq!(filed, ["SHIP 1 A3 TO B2", "SHIP 3 B2 TO B4"]);
}

#[test]
fn two_lines_for_one_ship_are_a_fault_in_a_setup() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::QuadrantZ, &[]);
    referee.reply(ANN, &referee.one_to(ANN), &format!("{}SHIP 3 3/2 A3\nSHIP 3 4/1 A2\n", stars()));
    referee.one_to(ANN).says("each ship has its own number").says("No order in this letter was filed");
    assert_eq!(held(&referee, &game_match, Seat::First), None);
}

#[test]
fn the_last_of_two_orders_for_a_ship_counts_in_a_turn_and_the_receipt_says_so() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1\nSHIP 1 A3 TO A4");
    referee.one_to(ANN).says("Your orders are sealed").says("Left out: > SHIP 1 A3 TO A1");
    assert_eq!(held(&referee, &game_match, Seat::First), Some(vec!["SHIP 1 A3 TO A4".to_owned()]));
}

#[test]
fn orders_in_free_forms_are_understood() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3-A1\nShip #2: C1 C2\nship3 to b1.");
    referee.one_to(ANN).says("Your orders are sealed");
    let filed = held(&referee, &game_match, Seat::First).expect("orders are filed");
    assert_eq!(filed, ["SHIP 1 A3 TO A1", "SHIP 2 C1 TO C2", "SHIP 3 TO B1"]);
}

#[test]
fn a_fault_names_the_words_and_gives_an_example_from_the_position() {
    let referee = Referee::new();
    let (_, report) = quadrant_z(&referee);
    referee.reply(ANN, &report, "SHIP 2 HOLD for 2 turns");
    let refusal = referee.one_to(ANN);
    refusal.says("I do not understand \"FOR\"").says("For example: | SHIP 2 TO");
    let example = refusal.text.lines().find(|line| line.contains("| SHIP 2 TO")).expect("an example");
    referee.reply(ANN, &report, example.trim().trim_start_matches("| "));
    referee.one_to(ANN).says("Your orders are sealed");
}

#[test]
fn a_fault_in_a_setup_gives_an_example_of_a_setup() {
    let referee = Referee::new();
    referee.open(GameKind::QuadrantZ, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, "SHIP 1 B 2");
    referee.one_to(ANN).says("For example: | SHIP 1 3/2 A3");
    referee.reply(ANN, &invitation, "STAR");
    referee.one_to(ANN).says("For example: | STAR D1 2");
}

#[test]
fn pass_in_a_surface_turn_suggests_a_move() {
    let referee = Referee::new();
    referee.open(GameKind::Pacific, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    for (who, letter) in [(ANN, to_ann), (BO, to_bo)] {
        let form = letter.text.lines().filter_map(|line| line.trim().strip_prefix("| "));
        let setup: Vec<String> = form
            .filter(|line| {
                line.chars().next().is_some_and(|c| "CBDS".contains(c)) && !line.starts_with("SETUP")
            })
            .map(str::to_owned)
            .collect();
        referee.reply(who, &letter, &setup.join("\n").replace("DESTROYER", "DESTROYERS"));
    }
    let report = referee.last_to(ANN);
    referee.reply(ANN, &report, "PASS");
    let refusal = referee.one_to(ANN);
    refusal.says("this is a surface turn").keeps_silent_of("SUBS PASS");
    referee.reply(ANN, &report, "V1 D1");
    referee.sent_to(ANN)[0].says("| VD2-D1");
}

#[test]
fn nothing_is_filed_when_the_subject_or_a_line_names_another_match() {
    let referee = Referee::new();
    let first = referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    let second = referee.open(GameKind::Quad, &[]);
    referee.one_to(ANN);
    let wrong = referee
        .answer(ANN, &to_ann, "MARBLE E5")
        .replace(&format!("Re: [{}]", first.id), &format!("Re: [{}]", second.id));
    referee.receive(&wrong);
    referee.one_to(ANN).says(&first.id).says(&second.id).says("cannot tell which match you mean");
    referee.reply(ANN, &to_ann, &format!("[{}]\nMARBLE E5\n[{}]\nMARBLE E6", first.id, second.id));
    referee.one_to(ANN).says(&first.id).says(&second.id).says("cannot tell which match you mean");
    referee.reply(ANN, &to_ann, &format!("[{}] RESIGN CONFIRM", second.id));
    referee.one_to(ANN);
    referee.reply(ANN, &to_ann, &format!("RESIGN CONFIRM\nsee {}", second.id));
    referee.one_to(ANN).says("So I have not carried it out");
    for id in [&first.id, &second.id] {
        assert_eq!((referee.find(id).adjudicated.len(), referee.find(id).stage), (0, Stage::Running), "{id}");
    }
    referee.reply(ANN, &to_ann, &format!("MATCH {}\nMARBLE E5\nlike in {}", first.id, second.id));
    referee.sent_to(ANN)[0].says("Your orders are sealed");
}

#[test]
fn a_heading_for_an_old_turn_is_refused_and_the_answer_says_how_to_reach_the_open_one() {
    let referee = Referee::new();
    let (game_match, report, to_bo) = both_set_up(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1");
    referee.reply(BO, &to_bo, "HOLD");
    let report = referee.last_to(ANN);
    referee.reply(ANN, &report, "Orders for turn 1\nSHIP 3 B2 TO B1");
    referee
        .one_to(ANN)
        .says("Turn 1 was adjudicated on")
        .says("turn 2 is open")
        .says("answer my letter \"Turn 2\", or write TURN 2 above your orders");
    assert_eq!(held(&referee, &game_match, Seat::First), None);
    referee.reply(ANN, &report, "My orders for turn 2:\nSHIP 3 B2 TO B1");
    referee.one_to(ANN).says("Your orders are sealed");
}

#[test]
fn the_side_that_moves_second_can_answer_the_invitation() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "MARBLE A5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2);
    // Now the invitation is old for both players.
    referee.reply(ANN, &to_ann, "MARBLE E6");
    referee.last_to(ANN).says("Turn 1 was adjudicated");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2);
}

#[test]
fn withdraw_takes_the_filed_orders_back() {
    let referee = Referee::new();
    let (game_match, report, to_bo) = both_set_up(&referee);
    referee.reply(ANN, &report, "WITHDRAW");
    referee.one_to(ANN).says("You have filed no orders");
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1");
    referee.one_to(ANN);
    referee.reply(ANN, &report, "Withdraw");
    referee.one_to(ANN).says("Your orders are taken back").says("Turn 1 waits for your orders");
    let after = referee.find(&game_match.id);
    assert_eq!(after.filed[Seat::First], None);
    referee.reply(BO, &to_bo, "HOLD");
    assert_eq!(referee.find(&game_match.id).due().map(|due| (due.phase, due.turn)), Some((Phase::Turn, 1)));
}

#[test]
fn orders_that_wait_for_the_other_side_are_held_by_words_that_take_them_back() {
    for words in [
        "Please bin what I sent you earlier, I will write again tonight.",
        "Извините, передумал. Отмените, пожалуйста, мой последний ход.",
        "Me again. Ship 1 is to go to A2 after all.",
        "Belay that last signal. Ship 1 is to stay in harbour until I have had another look at the chart.",
        "omg no i sent that from my pocket",
    ] {
        let referee = Referee::new();
        let (game_match, report, to_bo) = both_set_up(&referee);
        referee.reply(ANN, &report, "SHIP 1 A3 TO A1");
        let receipt = referee.one_to(ANN);
        referee.reply(ANN, &receipt, words);
        referee.last_to(ANN).says("I have not played your orders");
        referee.reply(BO, &to_bo, "HOLD");
        assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1, "{words}");
        referee.reply(ANN, &receipt, "Thank you!");
        assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1, "{words}");
        referee.reply(ANN, &receipt, "SHIP 1 HOLD");
        assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2, "{words}");
    }
    let referee = Referee::new();
    let (game_match, report, to_bo) = both_set_up(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1");
    let receipt = referee.one_to(ANN);
    referee.reply(ANN, &receipt, "Please bin what I sent you earlier.");
    let question = referee.last_to(ANN);
    referee.reply(BO, &to_bo, "HOLD");
    referee.reply(ANN, &question, "YES");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2, "they are meant after all");
}

#[test]
fn orders_that_wait_for_the_other_side_are_held_by_new_ones_that_are_refused() {
    let referee = Referee::new();
    let (game_match, report, to_bo) = both_set_up(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1");
    let receipt = referee.one_to(ANN);
    referee.reply(ANN, &receipt, "SHIP 1 A3 TO A77");
    referee
        .last_to(ANN)
        .says("No order in this letter was filed. I have not played your earlier orders either");
    referee.reply(BO, &to_bo, "HOLD");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.reply(ANN, &receipt, "SHIP 1 HOLD");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2);
}

#[test]
fn chat_and_a_setting_let_orders_count_that_wait_for_the_other_side() {
    for (settings, words) in [
        ("STATUS", "Never had so much fun by mail."),
        ("STATUS", "I'm not feeling too well today, and it has been snowing since Tuesday."),
        ("SETTINGS words=off", "Please bin what I sent you earlier."),
    ] {
        let referee = Referee::new();
        let (game_match, report, to_bo) = both_set_up(&referee);
        referee.reply(ANN, &report, settings);
        referee.reply(ANN, &report, "SHIP 1 A3 TO A1");
        referee.reply(ANN, &report, words);
        referee.reply(BO, &to_bo, "HOLD");
        assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2, "{words}");
    }
}

#[test]
fn a_letter_with_nothing_to_read_is_answered_with_what_stands() {
    let referee = Referee::new();
    let (_, report) = quadrant_z(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1");
    referee.one_to(ANN);
    for text in ["CANCEL", "Sorry, I meant something else", "What a game."] {
        referee.reply(ANN, &report, text);
        referee.one_to(ANN).says("stand: | SHIP 1 A3 TO A1").says("WITHDRAW").says("Turn 1 waits for Bo");
    }
    referee.reply(ANN, &report, "Protest? No, all is fine");
    referee.one_to(ANN).says("> Protest? No, all is fine");
}

#[test]
fn unread_attachments_are_mentioned() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let letter = referee.answer(ANN, &referee.one_to(ANN), "MARBLE E5");
    let (head, body) = letter.split_once("\n\n").expect("a body");
    let head =
        head.replace("Content-Type: text/plain; charset=utf-8", "Content-Type: multipart/mixed; boundary=x");
    referee.receive(&format!(
        "{head}\n\n--x\nContent-Type: text/plain\n\n{body}\n--x\nContent-Type: application/pdf\n\
         Content-Disposition: attachment; filename=orders.pdf\n\nPDF\n--x--\n"
    ));
    referee.sent_to(ANN)[0]
        .says("Your orders are sealed")
        .says("I did not read what you attached (orders.pdf)");
}

#[test]
fn an_order_glued_to_an_attribution_is_questioned() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    let letter = referee.answer(ANN, &report, "SHIP 1 A3 TO A1\nSHIP 2 HOLD");
    let glued = letter.replace(
        "SHIP 2 HOLD\n\nThe referee wrote:",
        "SHIP 2 HOLD On Sun, 3 May 2026 at 10:00, the referee wrote:",
    );
    assert_ne!(glued, letter);
    referee.receive(&glued);
    referee.one_to(ANN).says("> SHIP 2 HOLD On Sun").says("I do not understand \"ON\" and \"SUN\"");
    assert_eq!(held(&referee, &game_match, Seat::First), None);
}

#[test]
fn struck_out_orders_are_never_filed() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    let letter = referee.answer(ANN, &report, "SHIP 1 A3 TO A1\nSHIP 3 B2 TO B1");
    let (head, body) = letter.split_once("\n\n").expect("a body");
    let head = head.replace(
        "Content-Type: text/plain; charset=utf-8",
        "Content-Type: multipart/alternative; boundary=x",
    );
    referee.receive(&format!(
        "{head}\n\n--x\nContent-Type: text/plain\n\n{body}\n--x\nContent-Type: text/html\n\n\
         <p>SHIP 1 A3 TO A1<br><s>SHIP 3 B2 TO B1</s></p>\n--x--\n"
    ));
    referee.one_to(ANN).says("Your orders are sealed");
    assert_eq!(held(&referee, &game_match, Seat::First), Some(vec!["SHIP 1 A3 TO A1".to_owned()]));
}

#[test]
fn words_for_a_person_reach_the_gm() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, "Dear GM, my father has died.\nPlease pause my games.");
    referee.one_to(ANN).says("the GM has your words now");
    referee.one_to(GM).says("> Dear GM, my father has died.").says("> Please pause my games.");
    referee.reply(ANN, &invitation, "I shall be in hospital for a while.");
    referee.one_to(ANN).says("the GM has your words now");
    referee.one_to(GM).says("> I shall be in hospital for a while.");
    referee.advance(24);
    referee.last_to(GM).says("Words from players").says("I shall be in hospital for a while.");
}

#[test]
fn words_to_the_gm_are_passed_on_without_orders() {
    let referee = Referee::new();
    let (_, report) = quadrant_z(&referee);
    referee.reply(ANN, &report, "TELL GM My father has died.\nPlease pause my games.");
    referee.one_to(ANN).says("Your words were passed on to the GM");
    referee
        .one_to(GM)
        .says("Ann (first) writes")
        .says("> My father has died.")
        .says("> Please pause my games.");
    referee.reply(ANN, &report, "TELL GM I wanted\nSHIP 1 A3 TO A1");
    referee.one_to(ANN).says("stands in the text of TELL GM");
    assert!(referee.sent_to(GM).is_empty());
}

#[test]
fn a_doubt_does_not_hide_the_faults_beside_it() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO Y1\nand SHIP 3 B2 TO B1\nSHIP 2 C1 TO C2");
    let refusal = referee.one_to(ANN);
    refusal.says("> SHIP 1 A3 TO Y1").says("> and SHIP 3 B2 TO B1").keeps_silent_of("YES");
    assert_eq!(held(&referee, &game_match, Seat::First), None);
}

#[test]
fn a_seat_whose_last_letter_was_refused_is_told_again_at_the_deadline_and_before_grace_ends() {
    let referee = Referee::new();
    let (game_match, report, to_bo) = both_set_up(&referee);
    referee.reply(BO, &to_bo, "HOLD");
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1\nand SHIP 3 B2 TO B1");
    referee.sent_to(ANN);
    let deadline = referee.find(&game_match.id).deadline.expect("a deadline");
    let told = || -> Vec<Sent> {
        let sent = referee.sent_to(ANN).into_iter();
        sent.filter(|sent| sent.subject.contains("your last letter was not filed")).collect()
    };
    while referee.now() < deadline - chrono::TimeDelta::hours(2) {
        referee.advance(2);
    }
    told();
    referee.advance(2);
    let [at_deadline] = &told()[..] else { panic!("a letter at the deadline") };
    at_deadline
        .says("Your last letter for turn 1 was not filed")
        .says("> and SHIP 3 B2 TO B1")
        .says("seems to hold one")
        .says("| SHIP 1")
        .says("Orders are still accepted until");
    referee.advance(4);
    assert!(told().is_empty());
    referee.advance(2);
    assert_eq!(told().len(), 1, "six hours before grace ends");
    referee.reply(ANN, at_deadline, "SHIP 1 A3 TO A1");
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(2));
}

#[test]
fn nobody_is_told_again_of_a_refusal_after_filing() {
    let referee = Referee::new();
    let (game_match, report, _) = both_set_up(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO Y1");
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1");
    referee.sent_to(ANN);
    let deadline = referee.find(&game_match.id).deadline.expect("a deadline");
    while referee.now() < deadline + chrono::TimeDelta::hours(8) {
        referee.advance(2);
    }
    let sent = referee.sent_to(ANN);
    assert!(sent.iter().all(|sent| !sent.subject.contains("not filed")), "{sent:?}");
}

#[test]
fn the_subject_says_which_answer_it_is() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    let id = &game_match.id;
    for (text, says) in [
        ("SHIP 1 A3 TO Y1", "not filed"),
        ("SHIP 1 A3 TO A1", "sealed"),
        ("CHECK\nSHIP 1 A3 TO A4", "checked, not filed"),
        ("STATUS", "my answer"),
    ] {
        referee.reply(ANN, &report, text);
        assert_eq!(referee.one_to(ANN).subject, format!("[{id}] Turn 1: {says}"), "{text}");
    }
}

/// The raw answer to a letter with an attached text.
pub fn with_attached(referee: &Referee, to: &Sent, text: &str, attached: &str) -> String {
    let letter = referee.answer(ANN, to, text);
    let (head, body) = letter.split_once("\n\n").expect("a body");
    let head =
        head.replace("Content-Type: text/plain; charset=utf-8", "Content-Type: multipart/mixed; boundary=x");
    format!(
        "{head}\n\n--x\nContent-Type: text/plain\n\n{body}\n--x\nContent-Type: text/plain; name=orders.txt\n\
         Content-Disposition: attachment; filename=orders.txt\n\n{attached}\n--x--\n"
    )
}

#[test]
fn an_attached_text_counts_if_the_letter_holds_no_order() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    for text in ["", "Dear referee,\nmy orders are attached.\n\nAnn"] {
        referee.receive(&with_attached(&referee, &report, text, "SHIP 1 A3 TO A1"));
        referee.one_to(ANN).says("sealed").keeps_silent_of("did not read");
        assert_eq!(held(&referee, &game_match, Seat::First), Some(vec!["SHIP 1 A3 TO A1".to_owned()]));
        referee.reply(ANN, &report, "WITHDRAW");
        referee.one_to(ANN);
    }
    referee.receive(&with_attached(&referee, &report, "SHIP 3 B2 TO B1", "SHIP 1 A3 TO A1"));
    referee.one_to(ANN).says("sealed").says("I did not read what you attached (orders.txt)");
    assert_eq!(held(&referee, &game_match, Seat::First), Some(vec!["SHIP 3 B2 TO B1".to_owned()]));
}

#[test]
fn a_fault_in_an_attached_text_is_quoted() {
    let referee = Referee::new();
    let (game_match, report) = quadrant_z(&referee);
    referee.receive(&with_attached(&referee, &report, "Please see the file.", "SHIP 1 A3 TO Y1"));
    referee.one_to(ANN).says("> SHIP 1 A3 TO Y1").says("No order in this letter was filed");
    assert_eq!(held(&referee, &game_match, Seat::First), None);
}

#[test]
fn a_remark_that_names_another_square_for_a_ship_is_asked_about() {
    for remark in [
        "Pour le 1, je préfère A4 en fait.",
        "For ship 1 I would like A4 better.",
        "Schiff 1 wäre auf A4 doch besser.",
    ] {
        let referee = Referee::new();
        let (game_match, report) = quadrant_z(&referee);
        referee.reply(ANN, &report, &format!("SHIP 1 A3 TO A1\nSHIP 3 B2 TO B1\n\n{remark}"));
        let asked = referee.one_to(ANN);
        assert_eq!(held(&referee, &game_match, Seat::First), None, "{remark}");
        asked.says("No order in this letter was filed").says("answer with the single word");
        referee.reply(ANN, &asked, "YES");
        let mut orders = held(&referee, &game_match, Seat::First).unwrap_or_default();
        orders.sort();
        assert_eq!(orders, ["SHIP 1 A3 TO A4", "SHIP 3 B2 TO B1"]);
    }
}

#[test]
fn words_that_take_back_one_ship_are_offered_with_what_stands() {
    for (words, first) in [
        ("About ship 1: leave it where it is after all, the rest of my orders are fine.", "SHIP 1 HOLD"),
        ("Отмените, пожалуйста, ход первым кораблём, остальное в силе.", "SHIP 1 HOLD"),
        ("Könnte Schiff 1 nach A4 statt A1?", "SHIP 1 A3 TO A4"),
    ] {
        let referee = Referee::new();
        let (game_match, report) = quadrant_z(&referee);
        referee.reply(ANN, &report, "SHIP 1 A3 TO A1\nSHIP 3 B2 TO B1");
        referee.reply(ANN, &referee.one_to(ANN), words);
        let asked = referee.one_to(ANN);
        referee.reply(ANN, &asked, "YES");
        let mut orders = held(&referee, &game_match, Seat::First).unwrap_or_default();
        orders.sort();
        assert_eq!(orders, [first, "SHIP 3 B2 TO B1"], "{words}:\n{}", asked.text);
    }
}

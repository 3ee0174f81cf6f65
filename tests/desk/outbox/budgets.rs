//! Limits on the letters that one person can make the referee send, to others or to themselves.

use fogpost::game::any::GameKind;
use fogpost::ledger::Room;
use fogpost::store::LetterStatus;

use crate::audit::database::letter_causes;
use crate::desk::{ANN, BO, Desk, GM, REFEREE, Sent};

const EVE: &str = "eve@elsewhere.example";

/// The code that follows this word in a letter.
#[track_caller]
fn code(sent: &Sent, word: &str) -> String {
    let line = sent.text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
    line.unwrap_or_else(|| panic!("no {word} in:\n{}", sent.text)).to_owned()
}

fn forged(n: usize) -> String {
    format!("forged{n}@elsewhere.example")
}

/// Delivers a letter without letting the program run.
fn put(desk: &Desk, from: &str, n: usize, body: &str) {
    desk.put(&format!("From: {from}\nTo: {REFEREE}\nMessage-ID: <{n}.{from}>\n\n{body}\n"));
}

/// Asserts that `count` letters that a limit delays are still waiting, and lets the test end with them
/// unsent.
fn leaves_delayed(desk: &Desk, count: u64) {
    let queues = desk.block_on(desk.office().store.queues()).expect("the store answers");
    assert_eq!(queues.dispatches_waiting, count);
    desk.untidy.set(count > 0);
}

#[test]
fn sixty_letters_with_forged_senders_challenge_nobody() {
    let desk = Desk::new();
    for n in 0..60 {
        put(
            &desk,
            &format!("URGENT http://evil.example <{}>", forged(n)),
            n,
            &format!("CHALLENGE {BO} Quad"),
        );
    }
    desk.work();
    assert!(desk.sent_to(BO).is_empty());
    for n in 0..60 {
        desk.one_to(&forged(n)).says("Was it you who wrote this?").says(&format!("> CHALLENGE {BO} Quad"));
    }
    assert!(desk.sent_to(GM).is_empty());
}

#[test]
fn sixty_newcomers_who_answer_have_one_open_challenge_to_an_address() {
    let desk = Desk::new();
    for n in 0..60 {
        desk.answer_for(&forged(n));
        put(
            &desk,
            &format!("URGENT http://evil.example <{}>", forged(n)),
            n,
            &format!("CHALLENGE {BO} Quad"),
        );
    }
    desk.work();
    (0..60).for_each(|n| desk.answer_question(&forged(n)));
    desk.one_to(BO).says("forged").says("@elsewhere.example invites you").keeps_silent_of("URGENT");
    let refused =
        (0..60).filter(|n| desk.one_to(&forged(*n)).text.contains("has an open invitation")).count();
    assert_eq!(refused, 59);
}

#[test]
fn whoever_declined_a_newcomer_is_left_alone() {
    let desk = Desk::new();
    desk.answer_for(EVE);
    // Each takes two answers, of which an address gets twenty an hour.
    for n in 0..10 {
        desk.write(EVE, &format!("CHALLENGE {BO} Quad days={}", n + 1));
        if let [challenge] = &desk.sent_to(BO)[..] {
            desk.write(BO, &format!("DECLINE {}", code(challenge, "DECLINE")));
            desk.one_to(BO).says("no longer stands");
        }
    }
    assert_eq!(desk.all_to(BO).len(), 2);
    desk.all_to(EVE)[2].says("bo@players.example declined your earlier challenge");
}

#[test]
fn a_player_who_challenges_again_and_again_reaches_somebody_ten_times_a_day() {
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[]);
    let to_ann = desk.one_to(ANN);
    let mut invitations = 0;
    for n in 0..14 {
        desk.reply(ANN, &to_ann, &format!("CHALLENGE {EVE} Quad days={}", n + 1));
        for challenge in desk.sent_to(EVE).iter().filter(|sent| sent.subject.contains("invites you")) {
            invitations += 1;
            challenge.says("Ann (P-1) invites you");
            desk.write(EVE, &format!("DECLINE {}", code(challenge, "DECLINE")));
        }
    }
    assert_eq!(invitations, 10);
    leaves_delayed(&desk, 1);
    desk.advance(24);
    desk.last_to(EVE).says("Ann (P-1) invites you");
    leaves_delayed(&desk, 0);
}

#[test]
fn a_newcomer_can_challenge_three_people_a_day() {
    let desk = Desk::new();
    desk.answer_for(EVE);
    for n in 0..5 {
        desk.write(EVE, &format!("CHALLENGE p{n}@players.example Quad"));
    }
    let answers = desk.sent_to(EVE);
    answers[2].says("p2@players.example has been challenged");
    answers[3].says("you can challenge or join 3 people a day");
    assert!(desk.sent_to("p3@players.example").is_empty());
    desk.advance(24);
    desk.write(EVE, "CHALLENGE p3@players.example Quad");
    desk.one_to("p3@players.example").says("eve@elsewhere.example invites you");
}

#[test]
fn a_newcomer_can_join_three_open_seats_a_day() {
    let desk = Desk::new();
    desk.answer_for(EVE);
    let mut seats = Vec::new();
    for n in 0..4 {
        desk.answer_for(&forged(n));
        desk.write(&forged(n), "OPEN Quad");
        seats.push(code(&desk.one_to(&forged(n)), "JOIN"));
    }
    for (n, seat) in seats.iter().enumerate() {
        desk.write(EVE, &format!("JOIN {seat}"));
        assert_eq!(desk.sent_to(&forged(n)).len(), usize::from(n < 3), "seat {n}");
    }
    desk.last_to(EVE).says("you can challenge or join 3 people a day");
    desk.advance(24);
    desk.write(EVE, &format!("JOIN {}", seats[3]));
    desk.last_to(EVE).says("begins");
}

#[test]
fn a_question_is_asked_once_a_day_and_its_answer_carries_out_what_it_showed() {
    let desk = Desk::new();
    desk.write(EVE, &format!("CHALLENGE {BO} Quad"));
    let question = desk.one_to(EVE);
    desk.write(EVE, "OPEN Quantum");
    desk.write(EVE, &format!("CHALLENGE {BO} Quad"));
    assert!(desk.sent_to(EVE).is_empty());
    assert_eq!(desk.last_status(), LetterStatus::Answered);
    desk.write(EVE, "OPEN Quantum\nGAMES");
    desk.one_to(EVE).says("Your OPEN waits for your answer to my earlier question").keeps_silent_of("JOIN");
    desk.write(EVE, "CONFIRM 7K3M9P2X");
    desk.one_to(EVE).says("I have no open question to your address");
    desk.write(ANN, &format!("CONFIRM {}", code(&question, "CONFIRM")));
    desk.one_to(ANN).says("I have no open question to your address");
    assert!(desk.sent_to(BO).is_empty());
    desk.reply(EVE, &question, &format!("confirm {}", code(&question, "CONFIRM").to_lowercase()));
    let next = desk.one_to(EVE);
    next.says("bo@players.example has been challenged").says("> OPEN Quantum").keeps_silent_of("JOIN");
    desk.one_to(BO).says("eve@elsewhere.example invites you");
    desk.reply(EVE, &next, &format!("CONFIRM {}", code(&next, "CONFIRM")));
    desk.one_to(EVE).says("The seat is open to anyone");
    // The answers prove nothing about the next letter.
    desk.write(EVE, "CHALLENGE carl@players.example Quad");
    desk.one_to(EVE).says("Was it you who wrote this?").says("> CHALLENGE carl@players.example Quad");
    assert!(desk.sent_to("carl@players.example").is_empty());
}

#[test]
fn a_question_whose_lines_come_again_is_asked_again_a_day_later() {
    let desk = Desk::new();
    desk.write(EVE, "OPEN Quad");
    let first = desk.one_to(EVE);
    desk.sleep(24);
    desk.write(EVE, "OPEN Quad");
    let again = desk.one_to(EVE);
    assert_eq!(code(&first, "CONFIRM"), code(&again, "CONFIRM"));
    desk.reply(EVE, &first, &format!("CONFIRM {}", code(&first, "CONFIRM")));
    desk.one_to(EVE).says("The seat is open to anyone");
}

#[test]
fn what_waits_for_an_answer_lapses_after_fourteen_days() {
    let desk = Desk::new();
    desk.write(EVE, &format!("CHALLENGE {BO} Quad"));
    let question = desk.one_to(EVE);
    desk.sleep(24);
    desk.write(EVE, "OPEN Quad");
    desk.one_to(EVE).says("Was it you").says("> OPEN Quad").keeps_silent_of("CHALLENGE");
    desk.sleep(14 * 24 + 1);
    desk.write(EVE, &format!("CONFIRM {}", code(&question, "CONFIRM")));
    desk.one_to(EVE).says("A code counts once, for 14 days");
    assert!(desk.sent_to(BO).is_empty());
}

#[test]
fn no_open_seat_of_a_forged_sender_is_listed() {
    let desk = Desk::new();
    for n in 0..40 {
        put(&desk, &forged(n), n, "OPEN Quad\nOPEN Quantum\nOPEN Pacific\nOPEN Quadrant Z");
    }
    desk.work();
    desk.write(EVE, "GAMES");
    desk.one_to(EVE).keeps_silent_of("JOIN").keeps_silent_of("forged");
}

#[test]
fn a_strangers_name_never_reaches_anybody_else() {
    let desk = Desk::new();
    let eve = "\"URGENT click evil example\" <eve@elsewhere.example>";
    desk.answer_for(EVE);
    desk.answer_for(BO);
    desk.write(eve, &format!("CHALLENGE {ANN} Quad\nOPEN Quad"));
    let challenge = desk.one_to(ANN);
    desk.write(BO, "GAMES");
    let games = desk.one_to(BO);
    desk.write(BO, &format!("JOIN {}", code(&games, "JOIN")));
    desk.write(ANN, &format!("ACCEPT {}", code(&challenge, "ACCEPT")));
    for reader in [ANN, BO, GM] {
        for sent in desk.all_to(reader) {
            sent.keeps_silent_of("URGENT");
            assert!(!sent.subject.contains("URGENT"), "{}", sent.subject);
        }
    }
}

#[test]
fn never_stops_challenges_until_they_are_welcome_again() {
    let desk = Desk::new();
    desk.answer_for(EVE);
    desk.write(EVE, &format!("CHALLENGE {BO} Quad"));
    let challenge = desk.one_to(BO);
    desk.reply(BO, &challenge, &format!("NEVER {}", code(&challenge, "NEVER")));
    desk.one_to(BO).says("Nobody can challenge you any more");
    desk.last_to(EVE).says("bo has declined your invitation");
    desk.answer_for("carl@players.example");
    desk.write("carl@players.example", &format!("CHALLENGE {BO} Quantum"));
    desk.one_to("carl@players.example").says("bo@players.example cannot be challenged");
    assert!(desk.sent_to(BO).is_empty());
    desk.answer_for(BO);
    desk.write(BO, "SETTINGS challenges=on");
    desk.one_to(BO).says("You can be challenged again");
    desk.write("carl@players.example", &format!("CHALLENGE {BO} Quantum"));
    desk.one_to(BO).says("carl@players.example invites you");
}

#[test]
fn never_with_a_token_needs_no_code() {
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[]);
    let to_ann = desk.one_to(ANN);
    desk.reply(ANN, &to_ann, "NEVER");
    desk.one_to(ANN).says("Nobody can challenge you any more");
    desk.reply(BO, &desk.one_to(BO), &format!("CHALLENGE {ANN} Quantum"));
    desk.one_to(BO).says("cannot be challenged");
    // Receipts, reports and answers to her own letters still come.
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.one_to(ANN).says("Your orders are sealed").says("What happened");
    desk.reply(ANN, &to_ann, "STATUS");
    desk.one_to(ANN).says("Quad, Ann");
}

#[test]
fn repeated_acts_of_one_letter_are_one_notice() {
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[]);
    desk.sent_to(BO);
    let acts: String = (0..200)
        .map(|n| {
            format!(
                "TELL Message {n}.\nEND\nEXTEND {} days\nSUBSTITUTE\nPROTEST Reason {n}.\nEND\n",
                n % 9 + 1
            )
        })
        .collect();
    desk.reply(ANN, &desk.one_to(ANN), &acts);
    let to_bo = desk.sent_to(BO);
    assert!(to_bo.len() <= 3, "a message, a request and a protest, not {}", to_bo.len());
    let message = to_bo.iter().find(|sent| sent.subject.contains("a message")).expect("a message");
    message.says("> Message 0.").says("> Message 1.");
    assert!(desk.sent_to(GM).len() <= 2, "a protest and a request for a substitute");
    assert_eq!(desk.sent_to(ANN).len(), 1);
}

#[test]
fn absences_of_one_letter_are_told_together() {
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[]);
    desk.sent_to(BO);
    desk.reply(ANN, &desk.one_to(ANN), "ABSENT 2026-06-01\nABSENT 2026-06-05 TO 2026-06-06");
    desk.one_to(BO).says("away from 2026-06-01 to 2026-06-01").says("away from 2026-06-05 to 2026-06-06");
}

#[test]
fn an_opponent_gets_twenty_messages_a_day_and_the_sender_is_told() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    let (to_ann, _) = (desk.one_to(ANN), desk.one_to(BO));
    for n in 0..60 {
        desk.reply(ANN, &to_ann, &format!("TELL Message {n}.\nEND"));
    }
    assert_eq!(desk.sent_to(BO).len(), 20);
    let answers = desk.sent_to(ANN);
    assert_eq!(answers.len(), 60);
    answers[39].says("Your message was passed on to Bo");
    answers[40].says("Your message was not passed on: Bo has had many letters from you");
    leaves_delayed(&desk, 20);
    desk.advance(24);
    assert_eq!(desk.sent_to(BO).iter().filter(|sent| sent.subject.contains("a message")).count(), 20);
    let rooms: Vec<Room> = letter_causes(&desk, &game_match.id).iter().map(|cause| cause.opponent).collect();
    assert_eq!((rooms[0], rooms[35], rooms[40]), (Room::Letters(6), Room::Letters(5), Room::Letters(0)));
    leaves_delayed(&desk, 0);
}

#[test]
fn the_gm_gets_twenty_letters_a_day_from_one_player() {
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[]);
    let to_ann = desk.one_to(ANN);
    for n in 0..60 {
        let act = if n % 2 == 0 { "SUBSTITUTE".to_owned() } else { format!("PROTEST Reason {n}.\nEND") };
        desk.reply(ANN, &to_ann, &format!("{act}\nEXTEND {} days\nnote {n}", n % 7 + 1));
    }
    assert_eq!(desk.sent_to(GM).len(), 20);
    assert_eq!(desk.sent_to(BO).len(), 21, "the invitation, and one day's letters");
    desk.last_to(ANN).says("note 59");
    desk.untidy.set(true);
    desk.advance(24);
    desk.check();
}

#[test]
fn the_same_answer_is_sent_three_times_and_once_more_an_hour_later() {
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[]);
    let to_ann = desk.one_to(ANN);
    for _ in 0..6 {
        desk.reply(ANN, &to_ann, "MARBLE Z99");
    }
    assert_eq!(desk.sent_to(ANN).len(), 3);
    leaves_delayed(&desk, 1);
    desk.advance(2);
    desk.one_to(ANN).says("MARBLE Z99");
    leaves_delayed(&desk, 0);
}

#[test]
fn a_seat_gets_two_hundred_answers_an_hour_and_the_rest_later() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    let to_ann = desk.one_to(ANN);
    for n in 0..205 {
        // Letters that differ in nothing but numbers count as the same.
        desk.put(&desk.answer(ANN, &to_ann, &format!("note {}", "x".repeat(n))));
    }
    desk.work();
    assert_eq!(desk.sent_to(ANN).len(), 200);
    // Reports have no budget, even if they answer a letter.
    desk.reply(ANN, &to_ann, "MARBLE E5");
    assert!(desk.one_to(ANN).subject.contains("Turn 2"));
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
    leaves_delayed(&desk, 5);
    desk.advance(2);
    assert_eq!(desk.sent_to(ANN).len(), 5);
    leaves_delayed(&desk, 0);
}

#[test]
fn strangers_share_a_budget_that_leaves_room_for_first_answers_and_for_seats() {
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[]);
    let to_ann = desk.one_to(ANN);
    for n in 0..450 {
        put(&desk, &forged(n), n, "STATUS");
    }
    desk.work();
    let answered = |desk: &Desk| (0..450).filter(|n| !desk.all_to(&forged(*n)).is_empty()).count();
    assert_eq!(answered(&desk), 400);
    desk.reply(ANN, &to_ann, "STATUS");
    desk.one_to(ANN).says("Quad, Ann (Black)");
    leaves_delayed(&desk, 50);
    desk.advance(2);
    assert_eq!(answered(&desk), 450);
    leaves_delayed(&desk, 0);
}

#[test]
fn answers_that_find_no_room_within_a_day_are_mentioned_in_the_next_one_and_in_the_digest() {
    let desk = Desk::with("[letters]\nanswers_per_hour = 1\n");
    for n in 0..30 {
        desk.write(EVE, &format!("HELP\nnote {n}"));
    }
    assert_eq!(desk.sent_to(EVE).len(), 1);
    leaves_delayed(&desk, 24);
    desk.advance(26);
    assert_eq!(desk.sent_to(EVE).len(), 24);
    desk.last_to(GM).says("Answers left out at a limit: 5");
    desk.write(EVE, "HELP");
    desk.one_to(EVE).says("5 answers to you were left out");
    desk.advance(2);
    desk.write(EVE, "HELP time");
    desk.one_to(EVE).keeps_silent_of("left out");
    leaves_delayed(&desk, 0);
}

#[test]
fn a_closed_club_lets_only_registered_players_play() {
    let desk = Desk::with_club("membership = \"closed\"\n");
    desk.open(GameKind::Quad, &[]);
    desk.sent_to(ANN);
    for command in [format!("CHALLENGE {BO} Quad"), "OPEN Quad".to_owned(), "CHALLENGE house quad".to_owned()]
    {
        desk.write(EVE, &command);
        desk.one_to(EVE).says("only registered players play").keeps_silent_of("CONFIRM");
    }
    desk.answer_for(ANN);
    desk.write(ANN, &format!("CHALLENGE {EVE} Quad"));
    desk.one_to(ANN).says("only registered players play");
    desk.write(ANN, "OPEN Quad");
    desk.one_to(ANN).says("The seat is open to anyone");
    assert!(desk.sent_to(EVE).is_empty());
}

#[test]
fn where_the_gm_admits_newcomers_one_is_told_and_can_be_admitted() {
    let desk = Desk::with_club("membership = \"approval\"\n");
    desk.answer_for(EVE);
    desk.write(EVE, "OPEN Quad");
    desk.one_to(EVE).says("The GM admits newcomers to this club, and has been told of you");
    desk.write(EVE, "CHALLENGE house quad");
    desk.sent_to(EVE);
    let told = desk.one_to(GM);
    told.says("eve@elsewhere.example wants to play here");
    desk.reply(GM, &told, "GM PLAYER ADD eve@elsewhere.example Eve");
    desk.one_to(GM).says("Eve: eve@elsewhere.example");
    desk.write(EVE, "OPEN Quad");
    desk.one_to(EVE).says("The seat is open to anyone");
}

#[test]
fn a_blocked_person_is_told_once_and_not_read_until_unblocked() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    let invitation = desk.one_to(ANN);
    desk.write(GM, "GM LIST");
    let to_gm = desk.one_to(GM);
    desk.reply(GM, &to_gm, &format!("GM PLAYER BLOCK {ANN}"));
    desk.one_to(GM).says("go unread from now on").says(&format!("GM MATCH {} REPLACE", game_match.id));
    desk.one_to(ANN).says("I no longer read your letters").says(GM);
    desk.reply(ANN, &invitation, "MARBLE E5");
    assert_eq!(desk.last_status(), LetterStatus::Ignored);
    desk.write(ANN, "HELP");
    assert!(desk.sent_to(ANN).is_empty());
    desk.advance(24);
    desk.sent_to(ANN);
    desk.last_to(GM).says("Letters ignored: 1").says("2 letters").says("from a blocked person");
    desk.reply(BO, &desk.one_to(BO), &format!("CHALLENGE {ANN} Quantum"));
    desk.one_to(BO).says("ann@players.example cannot be challenged");
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 0);
    desk.reply(GM, &to_gm, &format!("GM PLAYER BLOCK {ANN}\nGM PLAYER UNBLOCK {ANN}"));
    desk.one_to(GM).says("are read again");
    assert!(desk.sent_to(ANN).is_empty());
    desk.reply(ANN, &invitation, "MARBLE E5\n# again");
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
}

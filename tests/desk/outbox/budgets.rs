//! Limits on the letters that one person can make the referee send, to others or to themselves.

use fogpost::game::any::GameKind;
use fogpost::ledger::Allowance;
use fogpost::store::LetterStatus;

use crate::audit::database::letter_causes;
use crate::referee::{ANN, BO, GM, REFEREE, Referee, Sent};

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
fn put(referee: &Referee, from: &str, n: usize, body: &str) {
    referee.put(&format!("From: {from}\nTo: {REFEREE}\nMessage-ID: <{n}.{from}>\n\n{body}\n"));
}

/// Asserts that `count` letters that a limit delays are still waiting, and lets the test end with them
/// unsent.
fn leaves_delayed(referee: &Referee, count: u64) {
    let queues = referee.block_on(referee.office().store.queues()).expect("the store answers");
    assert_eq!(queues.dispatches_waiting, count);
    referee.untidy.set(count > 0);
}

#[test]
fn sixty_letters_with_forged_senders_challenge_nobody() {
    let referee = Referee::new();
    for n in 0..60 {
        put(
            &referee,
            &format!("URGENT http://evil.example <{}>", forged(n)),
            n,
            &format!("CHALLENGE {BO} Quad"),
        );
    }
    referee.work();
    assert!(referee.sent_to(BO).is_empty());
    for n in 0..60 {
        referee.one_to(&forged(n)).says("Was it you who wrote this?").says(&format!("> CHALLENGE {BO} Quad"));
    }
    assert!(referee.sent_to(GM).is_empty());
}

#[test]
fn sixty_newcomers_who_answer_have_one_open_challenge_to_an_address() {
    let referee = Referee::new();
    for n in 0..60 {
        referee.answer_for(&forged(n));
        put(
            &referee,
            &format!("URGENT http://evil.example <{}>", forged(n)),
            n,
            &format!("CHALLENGE {BO} Quad"),
        );
    }
    referee.work();
    (0..60).for_each(|n| referee.answer_question(&forged(n)));
    referee.one_to(BO).says("forged").says("@elsewhere.example invites you").keeps_silent_of("URGENT");
    let refused =
        (0..60).filter(|n| referee.one_to(&forged(*n)).text.contains("has an open invitation")).count();
    assert_eq!(refused, 59);
}

#[test]
fn whoever_declined_a_newcomer_is_left_alone() {
    let referee = Referee::new();
    referee.answer_for(EVE);
    // Each takes two answers, of which an address gets twenty an hour.
    for n in 0..10 {
        referee.write(EVE, &format!("CHALLENGE {BO} Quad days={}", n + 1));
        if let [challenge] = &referee.sent_to(BO)[..] {
            referee.write(BO, &format!("DECLINE {}", code(challenge, "DECLINE")));
            referee.one_to(BO).says("no longer stands");
        }
    }
    assert_eq!(referee.all_to(BO).len(), 2);
    referee.all_to(EVE)[2].says("bo@players.example declined your earlier challenge");
}

#[test]
fn a_player_who_challenges_again_and_again_reaches_somebody_ten_times_a_day() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    let mut invitations = 0;
    for n in 0..14 {
        referee.reply(ANN, &to_ann, &format!("CHALLENGE {EVE} Quad days={}", n + 1));
        for challenge in referee.sent_to(EVE).iter().filter(|sent| sent.subject.contains("invites you")) {
            invitations += 1;
            challenge.says("Ann (P-1) invites you");
            referee.write(EVE, &format!("DECLINE {}", code(challenge, "DECLINE")));
        }
    }
    assert_eq!(invitations, 10);
    leaves_delayed(&referee, 1);
    referee.advance(24);
    referee.last_to(EVE).says("Ann (P-1) invites you");
    leaves_delayed(&referee, 0);
}

#[test]
fn a_newcomer_can_challenge_three_people_a_day() {
    let referee = Referee::new();
    referee.answer_for(EVE);
    for n in 0..5 {
        referee.write(EVE, &format!("CHALLENGE p{n}@players.example Quad"));
    }
    let answers = referee.sent_to(EVE);
    answers[2].says("p2@players.example has been challenged");
    answers[3].says("you can challenge or join 3 people a day");
    assert!(referee.sent_to("p3@players.example").is_empty());
    referee.advance(24);
    referee.write(EVE, "CHALLENGE p3@players.example Quad");
    referee.one_to("p3@players.example").says("eve@elsewhere.example invites you");
}

#[test]
fn a_newcomer_can_join_three_open_seats_a_day() {
    let referee = Referee::new();
    referee.answer_for(EVE);
    let mut seats = Vec::new();
    for n in 0..4 {
        referee.answer_for(&forged(n));
        referee.write(&forged(n), "OPEN Quad");
        seats.push(code(&referee.one_to(&forged(n)), "JOIN"));
    }
    for (n, seat) in seats.iter().enumerate() {
        referee.write(EVE, &format!("JOIN {seat}"));
        assert_eq!(referee.sent_to(&forged(n)).len(), usize::from(n < 3), "seat {n}");
    }
    referee.last_to(EVE).says("you can challenge or join 3 people a day");
    referee.advance(24);
    referee.write(EVE, &format!("JOIN {}", seats[3]));
    referee.last_to(EVE).says("begins");
}

#[test]
fn a_question_is_asked_once_a_day_and_its_answer_carries_out_what_it_showed() {
    let referee = Referee::new();
    referee.write(EVE, &format!("CHALLENGE {BO} Quad"));
    let question = referee.one_to(EVE);
    referee.write(EVE, "OPEN Quantum");
    referee.write(EVE, &format!("CHALLENGE {BO} Quad"));
    assert!(referee.sent_to(EVE).is_empty());
    assert_eq!(referee.last_status(), LetterStatus::Answered);
    referee.write(EVE, "OPEN Quantum\nGAMES");
    referee
        .one_to(EVE)
        .says("Your OPEN waits for your answer to my earlier question")
        .keeps_silent_of("JOIN");
    referee.write(EVE, "CONFIRM 7K3M9P2X");
    referee.one_to(EVE).says("I have no open question to your address");
    referee.write(ANN, &format!("CONFIRM {}", code(&question, "CONFIRM")));
    referee.one_to(ANN).says("I have no open question to your address");
    assert!(referee.sent_to(BO).is_empty());
    referee.reply(EVE, &question, &format!("confirm {}", code(&question, "CONFIRM").to_lowercase()));
    let next = referee.one_to(EVE);
    next.says("bo@players.example has been challenged").says("> OPEN Quantum").keeps_silent_of("JOIN");
    referee.one_to(BO).says("eve@elsewhere.example invites you");
    referee.reply(EVE, &next, &format!("CONFIRM {}", code(&next, "CONFIRM")));
    referee.one_to(EVE).says("The seat is open to anyone");
    // The answers prove nothing about the next letter.
    referee.write(EVE, "CHALLENGE carl@players.example Quad");
    referee.one_to(EVE).says("Was it you who wrote this?").says("> CHALLENGE carl@players.example Quad");
    assert!(referee.sent_to("carl@players.example").is_empty());
}

#[test]
fn a_question_whose_lines_come_again_is_asked_again_a_day_later() {
    let referee = Referee::new();
    referee.write(EVE, "OPEN Quad");
    let first = referee.one_to(EVE);
    referee.sleep(24);
    referee.write(EVE, "OPEN Quad");
    let again = referee.one_to(EVE);
    assert_eq!(code(&first, "CONFIRM"), code(&again, "CONFIRM"));
    referee.reply(EVE, &first, &format!("CONFIRM {}", code(&first, "CONFIRM")));
    referee.one_to(EVE).says("The seat is open to anyone");
}

#[test]
fn what_waits_for_an_answer_lapses_after_fourteen_days() {
    let referee = Referee::new();
    referee.write(EVE, &format!("CHALLENGE {BO} Quad"));
    let question = referee.one_to(EVE);
    referee.sleep(24);
    referee.write(EVE, "OPEN Quad");
    referee.one_to(EVE).says("Was it you").says("> OPEN Quad").keeps_silent_of("CHALLENGE");
    referee.sleep(14 * 24 + 1);
    referee.write(EVE, &format!("CONFIRM {}", code(&question, "CONFIRM")));
    referee.one_to(EVE).says("A code counts once, within 14 days");
    assert!(referee.sent_to(BO).is_empty());
}

#[test]
fn no_open_seat_of_a_forged_sender_is_listed() {
    let referee = Referee::new();
    for n in 0..40 {
        put(&referee, &forged(n), n, "OPEN Quad\nOPEN Quantum\nOPEN Pacific\nOPEN Quadrant Z");
    }
    referee.work();
    referee.write(EVE, "GAMES");
    referee.one_to(EVE).keeps_silent_of("JOIN").keeps_silent_of("forged");
}

#[test]
fn a_strangers_name_never_reaches_anybody_else() {
    let referee = Referee::new();
    let eve = "\"URGENT click evil example\" <eve@elsewhere.example>";
    referee.answer_for(EVE);
    referee.answer_for(BO);
    referee.write(eve, &format!("CHALLENGE {ANN} Quad\nOPEN Quad"));
    let challenge = referee.one_to(ANN);
    referee.write(BO, "GAMES");
    let games = referee.one_to(BO);
    referee.write(BO, &format!("JOIN {}", code(&games, "JOIN")));
    referee.write(ANN, &format!("ACCEPT {}", code(&challenge, "ACCEPT")));
    for reader in [ANN, BO, GM] {
        for sent in referee.all_to(reader) {
            sent.keeps_silent_of("URGENT");
            assert!(!sent.subject.contains("URGENT"), "{}", sent.subject);
        }
    }
}

#[test]
fn never_stops_challenges_until_they_are_welcome_again() {
    let referee = Referee::new();
    referee.answer_for(EVE);
    referee.write(EVE, &format!("CHALLENGE {BO} Quad"));
    let challenge = referee.one_to(BO);
    referee.reply(BO, &challenge, &format!("NEVER {}", code(&challenge, "NEVER")));
    referee.one_to(BO).says("Nobody can challenge you any more");
    referee.last_to(EVE).says("bo has declined your invitation");
    referee.answer_for("carl@players.example");
    referee.write("carl@players.example", &format!("CHALLENGE {BO} Quantum"));
    referee.one_to("carl@players.example").says("bo@players.example cannot be challenged");
    assert!(referee.sent_to(BO).is_empty());
    referee.answer_for(BO);
    referee.write(BO, "SETTINGS challenges=on");
    referee.one_to(BO).says("You can be challenged again");
    referee.write("carl@players.example", &format!("CHALLENGE {BO} Quantum"));
    referee.one_to(BO).says("carl@players.example invites you");
}

#[test]
fn never_with_a_token_needs_no_code() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    referee.reply(ANN, &to_ann, "NEVER");
    referee.one_to(ANN).says("Nobody can challenge you any more");
    referee.reply(BO, &referee.one_to(BO), &format!("CHALLENGE {ANN} Quantum"));
    referee.one_to(BO).says("cannot be challenged");
    // Receipts, reports and answers to her own letters still come.
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.one_to(ANN).says("Your orders are sealed").says("What happened");
    referee.reply(ANN, &to_ann, "STATUS");
    referee.one_to(ANN).says("Quad, Ann");
}

#[test]
fn repeated_acts_of_one_letter_are_one_notice() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    referee.sent_to(BO);
    let acts: String = (0..200)
        .map(|n| {
            format!(
                "TELL Message {n}.\nEND\nEXTEND {} days\nSUBSTITUTE\nPROTEST Reason {n}.\nEND\n",
                n % 9 + 1
            )
        })
        .collect();
    referee.reply(ANN, &referee.one_to(ANN), &acts);
    let to_bo = referee.sent_to(BO);
    assert!(to_bo.len() <= 3, "a message, a request and a protest, not {}", to_bo.len());
    let message = to_bo.iter().find(|sent| sent.subject.contains("a message")).expect("a message");
    message.says("> Message 0.").says("> Message 1.");
    assert!(referee.sent_to(GM).len() <= 2, "a protest and a request for a substitute");
    assert_eq!(referee.sent_to(ANN).len(), 1);
}

#[test]
fn absences_of_one_letter_are_told_together() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    referee.sent_to(BO);
    referee.reply(ANN, &referee.one_to(ANN), "ABSENT 2026-06-01\nABSENT 2026-06-05 TO 2026-06-06");
    referee.one_to(BO).says("away from 2026-06-01 to 2026-06-01").says("away from 2026-06-05 to 2026-06-06");
}

#[test]
fn an_opponent_gets_twenty_messages_a_day_and_the_sender_is_told() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, _) = (referee.one_to(ANN), referee.one_to(BO));
    for n in 0..60 {
        referee.reply(ANN, &to_ann, &format!("TELL Message {n}.\nEND"));
    }
    assert_eq!(referee.sent_to(BO).len(), 20);
    let answers = referee.sent_to(ANN);
    assert_eq!(answers.len(), 60);
    answers[39].says("Your message was passed on to Bo");
    answers[40].says("Your message was not passed on: Bo has had many letters from you");
    leaves_delayed(&referee, 20);
    referee.advance(24);
    assert_eq!(referee.sent_to(BO).iter().filter(|sent| sent.subject.contains("a message")).count(), 20);
    let rooms: Vec<Allowance> =
        letter_causes(&referee, &game_match.id).iter().map(|cause| cause.opponent).collect();
    assert_eq!(
        (rooms[0], rooms[35], rooms[40]),
        (Allowance::Letters(6), Allowance::Letters(5), Allowance::Letters(0))
    );
    leaves_delayed(&referee, 0);
}

#[test]
fn the_gm_gets_twenty_letters_a_day_from_one_player() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    for n in 0..60 {
        let act = if n % 2 == 0 { "SUBSTITUTE".to_owned() } else { format!("PROTEST Reason {n}.\nEND") };
        referee.reply(ANN, &to_ann, &format!("{act}\nEXTEND {} days\nnote {n}", n % 7 + 1));
    }
    assert_eq!(referee.sent_to(GM).len(), 20);
    assert_eq!(referee.sent_to(BO).len(), 21, "the invitation, and one day's letters");
    referee.last_to(ANN).says("note 59");
    referee.untidy.set(true);
    referee.advance(24);
    referee.check();
}

#[test]
fn the_same_answer_is_sent_three_times_and_once_more_an_hour_later() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    for _ in 0..6 {
        referee.reply(ANN, &to_ann, "MARBLE Z99");
    }
    assert_eq!(referee.sent_to(ANN).len(), 3);
    leaves_delayed(&referee, 1);
    referee.advance(2);
    referee.one_to(ANN).says("MARBLE Z99");
    leaves_delayed(&referee, 0);
}

#[test]
fn a_seat_gets_two_hundred_answers_an_hour_and_the_rest_later() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    for n in 0..205 {
        // Letters that differ in nothing but numbers count as the same.
        referee.put(&referee.answer(ANN, &to_ann, &format!("note {}", "x".repeat(n))));
    }
    referee.work();
    assert_eq!(referee.sent_to(ANN).len(), 200);
    // Reports have no budget, even if they answer a letter.
    referee.reply(ANN, &to_ann, "MARBLE E5");
    assert!(referee.one_to(ANN).subject.contains("Turn 2"));
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    leaves_delayed(&referee, 5);
    referee.advance(2);
    assert_eq!(referee.sent_to(ANN).len(), 5);
    leaves_delayed(&referee, 0);
}

#[test]
fn strangers_share_a_budget_that_leaves_room_for_first_answers_and_for_seats() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    for n in 0..450 {
        put(&referee, &forged(n), n, "STATUS");
    }
    referee.work();
    let answered = |referee: &Referee| (0..450).filter(|n| !referee.all_to(&forged(*n)).is_empty()).count();
    assert_eq!(answered(&referee), 400);
    referee.reply(ANN, &to_ann, "STATUS");
    referee.one_to(ANN).says("Quad, Ann (Black)");
    leaves_delayed(&referee, 50);
    referee.advance(2);
    assert_eq!(answered(&referee), 450);
    leaves_delayed(&referee, 0);
}

#[test]
fn answers_that_find_no_room_within_a_day_are_mentioned_in_the_next_one_and_in_the_digest() {
    let referee = Referee::with("[letters]\nanswers_per_hour = 1\n");
    for n in 0..30 {
        referee.write(EVE, &format!("HELP\nnote {n}"));
    }
    assert_eq!(referee.sent_to(EVE).len(), 1);
    leaves_delayed(&referee, 24);
    referee.advance(26);
    assert_eq!(referee.sent_to(EVE).len(), 24);
    referee.last_to(GM).says("Answers left out at a limit: 5");
    referee.write(EVE, "HELP");
    referee.one_to(EVE).says("5 answers to you were left out");
    referee.advance(2);
    referee.write(EVE, "HELP time");
    referee.one_to(EVE).keeps_silent_of("left out");
    leaves_delayed(&referee, 0);
}

#[test]
fn a_closed_club_lets_only_registered_players_play() {
    let referee = Referee::with_club("membership = \"closed\"\n");
    referee.open(GameKind::Quad, &[]);
    referee.sent_to(ANN);
    for command in [format!("CHALLENGE {BO} Quad"), "OPEN Quad".to_owned(), "CHALLENGE house quad".to_owned()]
    {
        referee.write(EVE, &command);
        referee.one_to(EVE).says("only registered players play").keeps_silent_of("CONFIRM");
    }
    referee.answer_for(ANN);
    referee.write(ANN, &format!("CHALLENGE {EVE} Quad"));
    referee.one_to(ANN).says("only registered players play");
    referee.write(ANN, "OPEN Quad");
    referee.one_to(ANN).says("The seat is open to anyone");
    assert!(referee.sent_to(EVE).is_empty());
}

#[test]
fn a_blocked_person_is_told_once_and_not_read_until_unblocked() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.write(GM, "GM LIST");
    let to_gm = referee.one_to(GM);
    referee.reply(GM, &to_gm, &format!("GM PLAYER BLOCK {ANN}"));
    referee.one_to(GM).says("go unread from now on").says(&format!("GM MATCH {} REPLACE", game_match.id));
    referee.one_to(ANN).says("I no longer read your letters").says(GM);
    referee.reply(ANN, &invitation, "MARBLE E5");
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
    referee.write(ANN, "HELP");
    assert!(referee.sent_to(ANN).is_empty());
    referee.advance(24);
    referee.sent_to(ANN);
    referee.last_to(GM).says("Letters ignored: 1").says("2 letters").says("from a blocked person");
    referee.reply(BO, &referee.one_to(BO), &format!("CHALLENGE {ANN} Quantum"));
    referee.one_to(BO).says("ann@players.example cannot be challenged");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    referee.reply(GM, &to_gm, &format!("GM PLAYER BLOCK {ANN}\nGM PLAYER UNBLOCK {ANN}"));
    referee.one_to(GM).says("are read again");
    assert!(referee.sent_to(ANN).is_empty());
    referee.reply(ANN, &invitation, "MARBLE E5\n# again");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}

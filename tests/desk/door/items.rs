//! Batches: letters of several lanes, and matches that are due, decided in one transaction.

use std::collections::BTreeSet;

use fogpost::daemon::items;
use fogpost::daemon::{DueMatches, new_letter};
use fogpost::game::Seat;
use fogpost::post::FetchedLetter;
use fogpost::referee::Stage;
use fogpost::store::{LetterStatus, NewLetter};

use crate::desk::{ANN, BO, Desk, GM, REFEREE};
use crate::door::crowd::Crowd;
use crate::people::addresses::{self, denial_of, titled};
use crate::positions::quad;

/// Stores letters as the mailbox would, without deciding on them.
fn store(desk: &Desk, letters: impl IntoIterator<Item = String>) {
    let letters: Vec<NewLetter> = letters.into_iter().map(|raw| stored(desk, raw)).collect();
    for some in letters.chunks(1000) {
        desk.block_on(desk.office().store.insert_letters(some)).expect("they are stored");
    }
}

fn stored(desk: &Desk, raw: String) -> NewLetter {
    let (size, received_at) = (raw.len() as u64, desk.now());
    let raw = raw.into_bytes();
    let origin = "a test".to_owned();
    new_letter(FetchedLetter {
        raw,
        received_at,
        arrivals: Vec::new(),
        origin,
        cut: false,
        size,
        is_spam: false,
    })
}

fn from(sender: &str, number: usize, text: &str) -> String {
    format!("From: {sender}\nTo: {REFEREE}\nMessage-ID: <{number}.{sender}>\n\n{text}\n")
}

#[test]
fn a_gm_acts_in_many_matches_while_strangers_letters_wait() {
    let crowd = Crowd::new(60, "", &[]);
    let desk = &crowd.desk;
    desk.write(GM, "GM LIST");
    let to_gm = desk.last_to(GM);
    store(desk, (0..10_000).map(|n| from(&format!("stranger{n}@elsewhere.example"), n, "HELP")));
    let pauses: Vec<String> = crowd.ids().iter().map(|id| format!("GM MATCH {id} PAUSE a storm")).collect();
    let letter = stored(desk, desk.answer(GM, &to_gm, &pauses.join("\n")));
    let letter = NewLetter { is_from_gm: true, ..letter };
    desk.block_on(desk.office().store.insert_letters(&[letter])).expect("it is stored");
    let settled = desk.block_on(items::settle_some(desk.office(), None)).expect("a batch");
    assert!(settled.letters <= 33, "{} letters", settled.letters);
    assert!(crowd.ids().iter().all(|id| desk.find(id).stage == Stage::Paused));
    desk.untidy.set(true);
}

#[test]
fn a_due_match_does_not_wait_for_a_flood_of_letters() {
    let crowd = Crowd::new(2, "", &[]);
    let desk = &crowd.desk;
    let (due, other) = (&crowd.ids()[0], &crowd.seats[1][Seat::First]);
    let deadline = desk.find(due).wake_at().expect("a deadline");
    desk.sleep((deadline - desk.now()).num_hours() - 1);
    let flooding = other.player.addresses[0].clone();
    store(desk, (0..20_000).map(|n| from(&flooding, n, &format!("# {n}"))));
    desk.sleep(2);
    let mut matches = DueMatches::new(desk.now(), BTreeSet::new());
    let settled = desk.block_on(items::settle_some(desk.office(), Some(&mut matches))).expect("a batch");
    assert_eq!((settled.letters, settled.matches), (16, 1), "the flood's own match waits for it");
    assert!(desk.find(due).wake_at() > Some(deadline), "the clock has decided");
    desk.untidy.set(true);
}

#[test]
fn a_due_match_waits_for_letters_that_came_in_time() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.sleep(1);
    // The letter is from her address and has no visible token, so it may be about the match.
    store(&desk, [from(ANN, 1, "STATUS")]);
    let deadline = game_match.wake_at().expect("a deadline");
    desk.sleep((deadline - desk.now()).num_hours() + 1);
    let mut due = DueMatches::new(desk.now(), BTreeSet::new());
    let settled = desk.block_on(items::settle_some(desk.office(), Some(&mut due))).expect("a batch");
    assert_eq!((settled.letters, settled.matches), (1, 0));
    let settled = desk.block_on(items::settle_some(desk.office(), Some(&mut due))).expect("a batch");
    assert_eq!((settled.letters, settled.matches), (0, 1));
    assert!(desk.find(&game_match.id).wake_at() > Some(deadline), "{}", to_ann.subject);
    desk.untidy.set(true);
}

#[test]
fn a_due_match_does_not_wait_for_letters_that_came_after_its_time() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let deadline = game_match.wake_at().expect("a deadline");
    desk.sleep((deadline - desk.now()).num_hours() + 1);
    store(&desk, [desk.answer(ANN, &to_ann, "STATUS")]);
    let mut due = DueMatches::new(desk.now(), BTreeSet::new());
    let settled = desk.block_on(items::settle_some(desk.office(), Some(&mut due))).expect("a batch");
    assert_eq!((settled.letters, settled.matches), (1, 1));
    assert!(desk.find(&game_match.id).wake_at() > Some(deadline));
    desk.work();
    desk.sent_to(ANN);
}

#[test]
fn a_due_match_that_the_database_rejects_stops_neither_others_nor_letters() {
    let crowd = Crowd::new(3, "", &[]);
    let desk = &crowd.desk;
    desk.change_database(
        "CREATE TRIGGER refuse BEFORE UPDATE ON match WHEN NEW.first_name = 'ann1' \
         BEGIN SELECT RAISE(ABORT, 'not this one'); END",
    );
    let before: Vec<_> = crowd.ids().iter().map(|id| desk.find(id).wake_at()).collect();
    let hours = before.iter().flatten().max().map(|at| (*at - desk.now()).num_hours() + 1);
    desk.sleep(hours.expect("a deadline"));
    store(desk, [from("eve@elsewhere.example", 1, "HELP")]);
    desk.work();
    let changed: Vec<bool> =
        crowd.ids().iter().zip(&before).map(|(id, before)| desk.find(id).wake_at() != *before).collect();
    assert_eq!(changed, [true, false, true]);
    desk.one_to("eve@elsewhere.example");
    desk.untidy.set(true);
}

#[test]
fn a_letter_whose_rows_cannot_be_read_stops_no_other() {
    let desk = Desk::new();
    desk.change_database(
        "INSERT INTO standing (address, proven_at) VALUES ('eve@elsewhere.example', 9000000000000000000)",
    );
    desk.put(&from("eve@elsewhere.example", 1, "HELP"));
    desk.put(&from("flo@elsewhere.example", 1, "HELP"));
    desk.work();
    desk.one_to("flo@elsewhere.example");
    desk.one_to(GM).says("could not be ruled on in three attempts").says("eve@elsewhere.example");
    let letters = desk.letters();
    let of_eve = letters.iter().find(|row| row.sender.starts_with("eve")).expect("her letter");
    assert_eq!(of_eve.status, LetterStatus::SetAside);
    let left = desk.block_on(desk.office().store.letters_in_work()).expect("the store answers");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn two_letters_of_one_batch_do_not_take_up_one_offer_twice() {
    let desk = Desk::answering("eve@elsewhere.example", "");
    desk.write("eve@elsewhere.example", "OPEN quad");
    let answer = desk.last_to("eve@elsewhere.example");
    let code = answer.text.split_whitespace().skip_while(|word| *word != "JOIN").nth(1).expect("a code");
    let code = code.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    for who in ["flo", "guy"] {
        desk.write(&format!("{who}@elsewhere.example"), &format!("JOIN {code}\nthank you"));
    }
    for who in ["flo@elsewhere.example", "guy@elsewhere.example"] {
        let question = desk.one_to(who);
        let line = question.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM "));
        desk.put(&desk.answer(who, &question, &format!("CONFIRM {}", line.expect("a code"))));
    }
    desk.work();
    let queues = desk.block_on(desk.office().store.queues()).expect("the store answers");
    assert_eq!(queues.matches_running, 1);
}

#[test]
fn a_challenge_and_an_acceptance_of_another_are_of_one_batch() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, &format!("CHALLENGE {BO} Quantum"));
    let invitation = titled(&desk.sent_to(BO), "invites you");
    let code = invitation.text.split_whitespace().skip_while(|word| *word != "ACCEPT").nth(1);
    let code = code.expect("a code").trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    desk.sent_to(ANN);
    desk.put(&desk.answer(ANN, &to_ann, "CHALLENGE eve@elsewhere.example Pacific"));
    desk.sleep(1);
    desk.put(&from(BO, 1, &format!("ACCEPT {code}")));
    desk.work();
    let to_ann = desk.sent_to(ANN);
    assert!(to_ann.iter().any(|sent| sent.text.contains("has been challenged")), "{to_ann:#?}");
    assert!(to_ann.iter().any(|sent| sent.text.contains("A match of Quantum begins")), "{to_ann:#?}");
    desk.one_to("eve@elsewhere.example").says("ACCEPT");
    let queues = desk.block_on(desk.office().store.queues()).expect("the store answers");
    assert_eq!(queues.matches_running, 2);
}

#[test]
fn a_blocked_sender_is_not_answered_in_the_batch_that_blocks_them() {
    let desk = Desk::new();
    desk.write(GM, "GM LIST");
    let to_gm = desk.last_to(GM);
    desk.put(&desk.answer(GM, &to_gm, "GM PLAYER BLOCK eve@elsewhere.example"));
    desk.sleep(1);
    desk.put(&from("eve@elsewhere.example", 1, "HELP"));
    desk.work();
    desk.one_to("eve@elsewhere.example").says("I no longer read your letters");
    let letters = desk.letters();
    let of_eve = letters.iter().find(|row| row.sender.starts_with("eve")).expect("her letter");
    assert_eq!(of_eve.status, LetterStatus::Ignored);
}

#[test]
fn a_report_goes_to_the_address_that_counts_since_an_earlier_letter_of_the_batch() {
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quad(&desk);
    let to_old = addresses::add(&desk, &to_ann, "ann@new.example");
    desk.reply("ann@new.example", &to_ann, "MARBLE E5");
    titled(&desk.sent_to("ann@new.example"), "Turn");
    let turn = desk.find(&game_match.id).adjudicated.len();
    desk.put(&desk.answer(ANN, &to_old, &format!("DENY {}", denial_of(&to_old))));
    desk.sleep(1);
    desk.reply(BO, &to_bo, "MARBLE F6");
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), turn + 1);
    assert!(desk.sent_to("ann@new.example").iter().all(|sent| !sent.subject.contains("Turn")));
    titled(&desk.sent_to(ANN), "Turn");
}

//! Batches: letters of several lanes, and matches that are due, decided in one transaction.

use std::collections::BTreeSet;

use fogpost::daemon::items;
use fogpost::daemon::{DueMatches, new_letter};
use fogpost::game::Seat;
use fogpost::post::FetchedLetter;
use fogpost::referee::Stage;
use fogpost::store::{LetterStatus, NewLetter};

use crate::door::crowd::Crowd;
use crate::people::addresses::{self, denial_of, titled};
use crate::positions::quad;
use crate::referee::{ANN, BO, GM, REFEREE, Referee};

/// Stores letters as the mailbox would, without deciding on them.
fn store(referee: &Referee, letters: impl IntoIterator<Item = String>) {
    let letters: Vec<NewLetter> = letters.into_iter().map(|raw| stored(referee, raw)).collect();
    for some in letters.chunks(1000) {
        referee.block_on(referee.office().store.insert_letters(some)).expect("they are stored");
    }
}

fn stored(referee: &Referee, raw: String) -> NewLetter {
    let (size, received_at) = (raw.len() as u64, referee.now());
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
    let referee = &crowd.referee;
    referee.write(GM, "GM LIST");
    let to_gm = referee.last_to(GM);
    store(referee, (0..10_000).map(|n| from(&format!("stranger{n}@elsewhere.example"), n, "HELP")));
    let pauses: Vec<String> = crowd.ids().iter().map(|id| format!("GM MATCH {id} PAUSE a storm")).collect();
    let letter = stored(referee, referee.answer(GM, &to_gm, &pauses.join("\n")));
    let letter = NewLetter { is_from_gm: true, ..letter };
    referee.block_on(referee.office().store.insert_letters(&[letter])).expect("it is stored");
    let settled = referee.block_on(items::settle_some(referee.office(), None)).expect("a batch");
    assert!(settled.letters <= 33, "{} letters", settled.letters);
    assert!(crowd.ids().iter().all(|id| referee.find(id).stage == Stage::Paused));
    referee.untidy.set(true);
}

#[test]
fn a_due_match_does_not_wait_for_a_flood_of_letters() {
    let crowd = Crowd::new(2, "", &[]);
    let referee = &crowd.referee;
    let (due, other) = (&crowd.ids()[0], &crowd.seats[1][Seat::First]);
    let deadline = referee.find(due).wake_at().expect("a deadline");
    referee.sleep((deadline - referee.now()).num_hours() - 1);
    let flooding = other.player.addresses[0].clone();
    store(referee, (0..20_000).map(|n| from(&flooding, n, &format!("# {n}"))));
    referee.sleep(2);
    let mut matches = DueMatches::new(referee.now(), BTreeSet::new());
    let settled =
        referee.block_on(items::settle_some(referee.office(), Some(&mut matches))).expect("a batch");
    assert_eq!((settled.letters, settled.matches), (16, 1), "the flood's own match waits for it");
    assert!(referee.find(due).wake_at() > Some(deadline), "the clock has decided");
    referee.untidy.set(true);
}

#[test]
fn a_due_match_waits_for_letters_that_came_in_time() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.sleep(1);
    // The letter is from her address and has no visible token, so it may be about the match.
    store(&referee, [from(ANN, 1, "STATUS")]);
    let deadline = game_match.wake_at().expect("a deadline");
    referee.sleep((deadline - referee.now()).num_hours() + 1);
    let mut due = DueMatches::new(referee.now(), BTreeSet::new());
    let settled = referee.block_on(items::settle_some(referee.office(), Some(&mut due))).expect("a batch");
    assert_eq!((settled.letters, settled.matches), (1, 0));
    let settled = referee.block_on(items::settle_some(referee.office(), Some(&mut due))).expect("a batch");
    assert_eq!((settled.letters, settled.matches), (0, 1));
    assert!(referee.find(&game_match.id).wake_at() > Some(deadline), "{}", to_ann.subject);
    referee.untidy.set(true);
}

#[test]
fn a_due_match_does_not_wait_for_letters_that_came_after_its_time() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let deadline = game_match.wake_at().expect("a deadline");
    referee.sleep((deadline - referee.now()).num_hours() + 1);
    store(&referee, [referee.answer(ANN, &to_ann, "STATUS")]);
    let mut due = DueMatches::new(referee.now(), BTreeSet::new());
    let settled = referee.block_on(items::settle_some(referee.office(), Some(&mut due))).expect("a batch");
    assert_eq!((settled.letters, settled.matches), (1, 1));
    assert!(referee.find(&game_match.id).wake_at() > Some(deadline));
    referee.work();
    referee.sent_to(ANN);
}

#[test]
fn a_due_match_that_the_database_rejects_stops_neither_others_nor_letters() {
    let crowd = Crowd::new(3, "", &[]);
    let referee = &crowd.referee;
    referee.change_database(
        "CREATE TRIGGER refuse BEFORE UPDATE ON match WHEN NEW.first_name = 'ann1' \
         BEGIN SELECT RAISE(ABORT, 'not this one'); END",
    );
    let before: Vec<_> = crowd.ids().iter().map(|id| referee.find(id).wake_at()).collect();
    let hours = before.iter().flatten().max().map(|at| (*at - referee.now()).num_hours() + 1);
    referee.sleep(hours.expect("a deadline"));
    store(referee, [from("eve@elsewhere.example", 1, "HELP")]);
    referee.work();
    let changed: Vec<bool> =
        crowd.ids().iter().zip(&before).map(|(id, before)| referee.find(id).wake_at() != *before).collect();
    assert_eq!(changed, [true, false, true]);
    referee.one_to("eve@elsewhere.example");
    referee.untidy.set(true);
}

#[test]
fn a_letter_whose_rows_cannot_be_read_stops_no_other() {
    let referee = Referee::new();
    referee.change_database(
        "INSERT INTO standing (address, proven_at) VALUES ('eve@elsewhere.example', 9000000000000000000)",
    );
    referee.put(&from("eve@elsewhere.example", 1, "HELP"));
    referee.put(&from("flo@elsewhere.example", 1, "HELP"));
    referee.work();
    referee.one_to("flo@elsewhere.example");
    referee.one_to(GM).says("could not be ruled on in three attempts").says("eve@elsewhere.example");
    let letters = referee.letters();
    let of_eve = letters.iter().find(|row| row.sender.starts_with("eve")).expect("her letter");
    assert_eq!(of_eve.status, LetterStatus::SetAside);
    let left = referee.block_on(referee.office().store.letters_in_work()).expect("the store answers");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn two_letters_of_one_batch_do_not_take_up_one_offer_twice() {
    let referee = Referee::answering("eve@elsewhere.example", "");
    referee.write("eve@elsewhere.example", "OPEN quad");
    let answer = referee.last_to("eve@elsewhere.example");
    let code = answer.text.split_whitespace().skip_while(|word| *word != "JOIN").nth(1).expect("a code");
    let code = code.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    for who in ["flo", "guy"] {
        referee.write(&format!("{who}@elsewhere.example"), &format!("JOIN {code}\nthank you"));
    }
    for who in ["flo@elsewhere.example", "guy@elsewhere.example"] {
        let question = referee.one_to(who);
        let line = question.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM "));
        referee.put(&referee.answer(who, &question, &format!("CONFIRM {}", line.expect("a code"))));
    }
    referee.work();
    let queues = referee.block_on(referee.office().store.queues()).expect("the store answers");
    assert_eq!(queues.matches_running, 1);
}

#[test]
fn a_challenge_and_an_acceptance_of_another_are_of_one_batch() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, &format!("CHALLENGE {BO} Quantum"));
    let invitation = titled(&referee.sent_to(BO), "invites you");
    let code = invitation.text.split_whitespace().skip_while(|word| *word != "ACCEPT").nth(1);
    let code = code.expect("a code").trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    referee.sent_to(ANN);
    referee.put(&referee.answer(ANN, &to_ann, "CHALLENGE eve@elsewhere.example Pacific"));
    referee.sleep(1);
    referee.put(&from(BO, 1, &format!("ACCEPT {code}")));
    referee.work();
    let to_ann = referee.sent_to(ANN);
    assert!(to_ann.iter().any(|sent| sent.text.contains("has been challenged")), "{to_ann:#?}");
    assert!(to_ann.iter().any(|sent| sent.text.contains("plays Quantum with you")), "{to_ann:#?}");
    referee.one_to("eve@elsewhere.example").says("ACCEPT");
    let queues = referee.block_on(referee.office().store.queues()).expect("the store answers");
    assert_eq!(queues.matches_running, 2);
}

#[test]
fn a_blocked_sender_is_not_answered_in_the_batch_that_blocks_them() {
    let referee = Referee::new();
    referee.write(GM, "GM LIST");
    let to_gm = referee.last_to(GM);
    referee.put(&referee.answer(GM, &to_gm, "GM PLAYER BLOCK eve@elsewhere.example"));
    referee.sleep(1);
    referee.put(&from("eve@elsewhere.example", 1, "HELP"));
    referee.work();
    referee.one_to("eve@elsewhere.example").says("I no longer read your letters");
    let letters = referee.letters();
    let of_eve = letters.iter().find(|row| row.sender.starts_with("eve")).expect("her letter");
    assert_eq!(of_eve.status, LetterStatus::Ignored);
}

#[test]
fn a_report_goes_to_the_address_that_counts_since_an_earlier_letter_of_the_batch() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    let to_old = addresses::add(&referee, &to_ann, "ann@new.example");
    referee.reply("ann@new.example", &to_ann, "MARBLE E5");
    titled(&referee.sent_to("ann@new.example"), "Turn");
    let turn = referee.find(&game_match.id).adjudicated.len();
    referee.put(&referee.answer(ANN, &to_old, &format!("DENY {}", denial_of(&to_old))));
    referee.sleep(1);
    referee.reply(BO, &to_bo, "MARBLE F6");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), turn + 1);
    assert!(referee.sent_to("ann@new.example").iter().all(|sent| !sent.subject.contains("Turn")));
    titled(&referee.sent_to(ANN), "Turn");
}

//! The order in which letters of players and of strangers are decided on.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fogpost::daemon::{FaultInjection, Moment};

use crate::positions::quad;
use crate::referee::{ANN, BO, GM, REFEREE, Referee};

/// Notes the sender of each letter that is ruled on.
fn note_senders(referee: &mut Referee) -> Arc<Mutex<Vec<String>>> {
    let senders = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&senders);
    let trap: Arc<FaultInjection> = Arc::new(move |step, raw| {
        let text = String::from_utf8_lossy(raw);
        let sender = text.lines().find_map(|line| line.strip_prefix("From: ")).unwrap_or_default();
        if step == Moment::Decide {
            noted.lock().expect("the list").push(sender.to_owned());
        }
    });
    referee.office_mut().set_fault_injection(trap, Duration::from_secs(3600));
    senders
}

fn stranger(number: usize) -> String {
    format!("From: stranger{number}@elsewhere.example\nMessage-ID: <{number}@elsewhere.example>\n\nHELP\n")
}

#[test]
fn letters_of_players_and_gms_are_ruled_on_before_those_of_strangers() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    for number in 0..40 {
        referee.put(&stranger(number));
    }
    // A player who writes from an unknown address has the token of the match.
    referee.put(&referee.answer("ann@elsewhere.example", &to_ann, "MARBLE E5"));
    referee.put(&referee.answer(ANN, &to_ann, "STATUS"));
    referee.put(&format!("From: {GM}\nMessage-ID: <gm@x>\n\nHELP\n"));
    referee.work();
    // Decisions are made in parallel, and their answers are numbered in the order in which they are accepted.
    let mut answers =
        referee.block_on(referee.office().store.list_dispatches(false, 1000)).expect("the store answers");
    answers.sort_by_key(|answer| answer.id);
    let readers: Vec<&str> = answers.iter().skip(2).map(|answer| answer.recipient.as_str()).collect();
    assert!(readers.len() >= 40, "{readers:?}");
    assert_eq!(readers[..3], [ANN, ANN, GM], "{readers:?}");
}

#[test]
fn strangers_have_their_turn_however_many_letters_of_players_wait() {
    let mut referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let senders = note_senders(&mut referee);
    for number in 0..600 {
        referee.put(&referee.answer(ANN, &to_ann, &format!("# {number}")));
    }
    referee.put(&stranger(0));
    referee.work();
    referee.untidy.set(true);
    let senders = senders.lock().expect("the list");
    let before = senders.iter().position(|sender| sender.contains("stranger"));
    assert!(before.is_some_and(|before| before <= 256), "{before:?} letters come first");
}

#[test]
fn a_player_does_not_wait_for_the_flood_of_another() {
    let mut referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    let senders = note_senders(&mut referee);
    for number in 0..500 {
        // Anybody can put Ann's address on a letter.
        referee.put(&format!("From: {ANN}\nTo: {REFEREE}\nMessage-ID: <{number}@x>\n\n# {number}\n"));
    }
    referee.put(&referee.answer(ANN, &to_ann, "# her own"));
    referee.put(&referee.answer(BO, &to_bo, "STATUS"));
    referee.work();
    referee.untidy.set(true);
    let senders = senders.lock().expect("the list");
    let before = senders.iter().position(|sender| sender.contains(BO));
    assert!(before.is_some_and(|before| before <= 32), "{before:?} letters come first");
}

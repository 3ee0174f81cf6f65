//! The order in which letters of players and of strangers are decided on.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fogpost::daemon::{Moment, Trap};

use crate::desk::{ANN, BO, Desk, GM, REFEREE};
use crate::positions::quad;

/// Notes the sender of each letter that is ruled on.
fn note_senders(desk: &mut Desk) -> Arc<Mutex<Vec<String>>> {
    let senders = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&senders);
    let trap: Arc<Trap> = Arc::new(move |step, raw| {
        let text = String::from_utf8_lossy(raw);
        let sender = text.lines().find_map(|line| line.strip_prefix("From: ")).unwrap_or_default();
        if step == Moment::Decide {
            noted.lock().expect("the list").push(sender.to_owned());
        }
    });
    desk.office_mut().set_trap(trap, Duration::from_secs(3600));
    senders
}

fn stranger(number: usize) -> String {
    format!("From: stranger{number}@elsewhere.example\nMessage-ID: <{number}@elsewhere.example>\n\nHELP\n")
}

#[test]
fn letters_of_players_and_gms_are_ruled_on_before_those_of_strangers() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    for number in 0..40 {
        desk.put(&stranger(number));
    }
    // A player who writes from an unknown address has the token of the match.
    desk.put(&desk.answer("ann@elsewhere.example", &to_ann, "MARBLE E5"));
    desk.put(&desk.answer(ANN, &to_ann, "STATUS"));
    desk.put(&format!("From: {GM}\nMessage-ID: <gm@x>\n\nHELP\n"));
    desk.work();
    // Decisions are made in parallel, and their answers are numbered in the order in which they are accepted.
    let mut answers =
        desk.block_on(desk.office().store.list_dispatches(false, 1000)).expect("the store answers");
    answers.sort_by_key(|answer| answer.id);
    let readers: Vec<&str> = answers.iter().skip(2).map(|answer| answer.recipient.as_str()).collect();
    assert!(readers.len() >= 40, "{readers:?}");
    assert_eq!(readers[..3], [ANN, ANN, GM], "{readers:?}");
}

#[test]
fn strangers_have_their_turn_however_many_letters_of_players_wait() {
    let mut desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    let senders = note_senders(&mut desk);
    for number in 0..600 {
        desk.put(&desk.answer(ANN, &to_ann, &format!("# {number}")));
    }
    desk.put(&stranger(0));
    desk.work();
    desk.untidy.set(true);
    let senders = senders.lock().expect("the list");
    let before = senders.iter().position(|sender| sender.contains("stranger"));
    assert!(before.is_some_and(|before| before <= 256), "{before:?} letters come first");
}

#[test]
fn a_player_does_not_wait_for_the_flood_of_another() {
    let mut desk = Desk::new();
    let (_, to_ann, to_bo) = quad(&desk);
    let senders = note_senders(&mut desk);
    for number in 0..500 {
        // Anybody can put Ann's address on a letter.
        desk.put(&format!("From: {ANN}\nTo: {REFEREE}\nMessage-ID: <{number}@x>\n\n# {number}\n"));
    }
    desk.put(&desk.answer(ANN, &to_ann, "# her own"));
    desk.put(&desk.answer(BO, &to_bo, "STATUS"));
    desk.work();
    desk.untidy.set(true);
    let senders = senders.lock().expect("the list");
    let before = senders.iter().position(|sender| sender.contains(BO));
    assert!(before.is_some_and(|before| before <= 32), "{before:?} letters come first");
}

//! Forgetting a player: addresses and letters are deleted, and the chains stay valid.

use fogpost::audit::{AuditVerdict, Place};
use fogpost::daemon::audit::forget;
use fogpost::daemon::audit::verify;
use fogpost::daemon::instruct;
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::ledger::Fact;
use fogpost::letter::Digest;
use fogpost::referee::{Act, Instruction, MatchAction};
use fogpost::report::GmResult;
use fogpost::store::Player;

use crate::audit::database::{cheat, entries, found};
use crate::audit::tampered::tampered;
use crate::desk::{ANN, BO, Desk, Sent};
use crate::people::addresses::{add, code_of, titled};
use crate::seat::parts::of_others;

fn player(desk: &Desk, address: &str) -> Option<Player> {
    desk.block_on(desk.office().store.player_by_address(address)).expect("the store answers")
}

#[test]
fn a_player_whose_matches_are_over_is_forgotten_and_the_chain_stays_whole() {
    let desk = Desk::new();
    let id = desk.open(GameKind::Quad, &[]).id;
    let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    let bo = player(&desk, BO).expect("Bo");
    let number = bo.id;
    let refused = desk.block_on(forget::forget(desk.office(), number)).expect_err("the match is running");
    assert!(refused.to_string().contains("is not over"), "{refused:#}");
    assert!(player(&desk, BO).is_some());
    desk.reply(BO, &to_bo, "RESIGN CONFIRM");
    let head = desk.find(&id).head;
    let letters = desk.letters();
    let matches = desk.block_on(forget::forget(desk.office(), number)).expect("it is forgotten");
    assert_eq!(matches, std::slice::from_ref(&id));
    assert!(player(&desk, BO).is_none() && player(&desk, ANN).is_some());
    let store = &desk.office().store;
    for letter in desk.letters() {
        let raw = desk.block_on(store.letter(letter.digest)).expect("the store answers");
        assert_ne!(letter.sender, BO);
        let was = letters.iter().find(|was| was.digest == letter.digest).expect("the same letter");
        assert_eq!(raw.is_some(), was.sender != BO, "{was:?}");
    }
    let sent = desk.block_on(store.dispatches_of(&id)).expect("the store answers");
    assert!(sent.iter().all(|(row, _)| row.recipient != BO && !row.recipient.is_empty()) && !sent.is_empty());
    let after = desk.find(&id);
    let name = format!("P-{number}");
    assert_eq!(after.players.second, name);
    let verdict = desk.verify(&id);
    assert!(verdict.is_sound() && verdict.head == after.head, "{verdict:#?}");
    assert_eq!(verdict.withheld.as_deref(), Some(&*format!("the letters of P-{number}, who was forgotten")));
    let last = entries(&desk, &id).split_off(usize::try_from(head.seq).expect("a place"));
    let [listed, told] = &last[..] else { panic!("two entries: {last:#?}") };
    assert_eq!(listed.fact, Fact::LettersListed {});
    assert_eq!((listed.told.len(), listed.delivered.len()), (3, 3), "the results");
    assert_eq!(told.fact, Fact::Forgotten { seat: Some(Seat::Second), player: name });
    let again = desk.block_on(forget::forget(desk.office(), number)).expect_err("there is nothing left");
    assert!(again.to_string().contains("there is nothing left to forget"), "{again:#}");
    cheat(
        &desk,
        &["UPDATE entry SET json = replace(json, 'MARBLE E5', 'MARBLE E6') WHERE kind = 'OrdersSealed'"],
    );
    let verdict = desk.verify(&id);
    assert!(verdict.findings[0].what.contains("was changed"), "{verdict:#?}");
}

#[test]
fn what_is_left_of_a_match_with_somebody_forgotten_is_compared() {
    let desk = Desk::new();
    let (id, _) = over(&desk);
    forget(&desk, BO);
    desk.untidy.set(true);
    let anns = "(SELECT id FROM letter WHERE sender = 'ann@players.example' AND status = 'ruled')";
    let to_ann = "(SELECT MAX(id) FROM dispatch WHERE recipient = 'ann@players.example' AND kind = 'report')";
    let packed = "(SELECT bytes FROM dispatch_raw WHERE dispatch_id <> {to_ann} LIMIT 1)";
    let mut unnamed = Vec::new();
    for (statement, named) in [
        ("UPDATE letter_raw SET bytes = {packed} WHERE letter_id IN {anns}", "its bytes were changed"),
        ("DELETE FROM letter_raw WHERE letter_id IN {anns}", "it is missing"),
        (
            "UPDATE letter SET sender = 'eve@players.example' WHERE id IN {anns}",
            "a sender or a subject other",
        ),
        ("UPDATE dispatch_raw SET bytes = {packed} WHERE dispatch_id = {to_ann}", "was changed"),
        ("DELETE FROM dispatch_raw WHERE dispatch_id = {to_ann}", "it is missing"),
        ("UPDATE dispatch SET sent_at = sent_at - 1000 WHERE id = {to_ann}", "not stored as sent"),
        ("UPDATE match SET winner = 'second' WHERE id = '{id}'", "lists show"),
        ("UPDATE match SET reason = 'draw agreed' WHERE id = '{id}'", "lists show"),
        ("UPDATE match SET ended_at = ended_at - 1000 WHERE id = '{id}'", "when the ledger says"),
        (
            "UPDATE seat SET player_id = (SELECT player_id FROM seat WHERE match_id = '{id}' AND seat = 'second') \
             WHERE match_id = '{id}' AND seat = 'first'",
            "is not as the ledger pins it",
        ),
    ] {
        let sql = statement.replace("{packed}", packed).replace("{to_ann}", to_ann);
        let sql = sql.replace("{anns}", anns).replace("{id}", &id);
        let office = tampered(&desk, &[sql]);
        let said = words(&desk.block_on(verify::verify(&office, &id, &|_| ())).expect("the store answers"));
        desk.block_on(office.store.close());
        if !said.contains(named) {
            unnamed.push(format!("{statement}: {said:?}"));
        }
    }
    assert!(unnamed.is_empty(), "{unnamed:#?}");
}

#[test]
fn a_match_whose_letters_are_withheld_for_somebody_whom_the_ledger_does_not_name_is_wrong() {
    let desk = Desk::new();
    let id = desk.open(GameKind::Quad, &[]).id;
    desk.reply(ANN, &desk.one_to(ANN), "RESIGN CONFIRM");
    let number = player(&desk, BO).expect("Bo").id;
    cheat(&desk, &[&format!("UPDATE match SET forgotten = 'P-{number}'")]);
    let verdict = desk.verify(&id);
    assert_eq!(*found(&verdict), Place::Kept("the match"));
    assert!(verdict.findings[0].what.contains("does not record that"), "{verdict:#?}");
}

/// A match that Bo has lost, with the first letter about it to Ann.
fn over(desk: &Desk) -> (String, Sent) {
    let id = desk.open(GameKind::Quad, &[]).id;
    let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.reply(BO, &to_bo, "RESIGN CONFIRM");
    (id, to_ann)
}

/// Forgets the player with this address, and returns the player's name afterwards.
fn forget(desk: &Desk, address: &str) -> String {
    let number = player(desk, address).expect("the player").id;
    desk.block_on(forget::forget(desk.office(), number)).expect("it is forgotten");
    format!("P-{number}")
}

fn words(verdict: &AuditVerdict) -> String {
    verdict.findings.iter().map(|finding| format!("{}: {}; ", finding.place, finding.what)).collect()
}

/// Sends both sides of a match a note from the GM.
fn tell(desk: &Desk, id: &str) -> GmResult {
    let text = "Well played".to_owned();
    let words = MatchAction::Act(Act::Tell { to: None, digest: Digest::of(text.as_bytes()), text });
    let words = Instruction::Match { id: id.to_owned(), turn: None, action: words };
    let done = desk.block_on(instruct::carry_out(desk.office(), &words)).expect("the store answers");
    desk.work();
    done
}

#[test]
fn letters_are_withheld_only_in_matches_whose_ledgers_say_so() {
    let desk = Desk::new();
    over(&desk);
    let other = of_others(&desk).id;
    let ann = forget(&desk, ANN);
    assert_eq!(words(&desk.verify(&other)), "");
    cheat(&desk, &[&format!("UPDATE match SET forgotten = '{ann}' WHERE id = '{other}'")]);
    let said = words(&desk.verify(&other));
    assert!(
        said.contains(&format!("{ann} is stored as forgotten here, but the ledger does not record that")),
        "{said}"
    );
}

#[test]
fn addresses_that_a_player_had_before_are_forgotten_too() {
    const NEW: &str = "ann@new.example";
    let desk = Desk::new();
    let id = desk.open(GameKind::Quad, &[]).id;
    let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
    add(&desk, &to_ann, NEW);
    desk.advance(24 * 7 + 1);
    desk.reply(NEW, &to_ann, &format!("ADDRESS REMOVE {ANN}"));
    let question = titled(&desk.sent_to(NEW), "Remove one of your addresses");
    desk.reply(NEW, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.reply(BO, &to_bo, "RESIGN CONFIRM");
    forget(&desk, NEW);
    let store = &desk.office().store;
    assert!(desk.letters().iter().all(|letter| letter.sender != ANN));
    let sent = desk.block_on(store.list_dispatches(false, 1000)).expect("the store answers");
    assert!(sent.iter().all(|row| row.recipient != ANN));
    let pins = desk.block_on(store.seat_pins(&id)).expect("the store answers");
    assert!(pins.iter().all(|pin| pin.opened.as_ref().is_none_or(|opened| opened.value != ANN)), "{pins:?}");
}

#[test]
fn letters_that_a_player_confirmed_from_elsewhere_are_forgotten_too() {
    const HOLIDAY: &str = "bo@holiday.example";
    let desk = Desk::new();
    let id = desk.open(GameKind::Quad, &[]).id;
    let to_bo = desk.one_to(BO);
    desk.reply(HOLIDAY, &to_bo, "RESIGN CONFIRM");
    let notice = desk.one_to(BO);
    desk.reply("eve@elsewhere.example", &to_bo, "STATUS");
    desk.reply(BO, &notice, &format!("CONFIRM {}", code_of(&notice)));
    assert!(desk.find(&id).outcome().is_some(), "he has resigned");
    forget(&desk, BO);
    let letters = desk.letters();
    let senders: Vec<&str> = letters.iter().map(|letter| letter.sender.as_str()).collect();
    assert!(!senders.contains(&HOLIDAY) && senders.contains(&"eve@elsewhere.example"), "{senders:?}");
    for letter in letters.iter().filter(|letter| letter.sender.is_empty()) {
        assert_eq!(
            desk.block_on(desk.office().store.letter(letter.digest)).expect("the store answers"),
            None
        );
    }
    assert!(desk.verify(&id).is_sound());
}

#[test]
fn a_player_is_not_forgotten_while_a_letter_to_them_is_queued() {
    let desk = Desk::new();
    over(&desk);
    let number = player(&desk, BO).expect("Bo").id;
    cheat(&desk, &["UPDATE dispatch SET sent_at = NULL, due_at = 7 WHERE recipient = 'bo@players.example'"]);
    let refused = desk.block_on(forget::forget(desk.office(), number)).expect_err("letters are queued");
    assert!(refused.to_string().contains("must still be ruled on or sent"), "{refused:#}");
    assert!(player(&desk, BO).is_some());
}

#[test]
fn letters_that_stay_are_read_back_after_a_player_is_forgotten() {
    let desk = Desk::new();
    let (id, _) = over(&desk);
    desk.advance(8 * 24);
    let store = &desk.office().store;
    let sent = || -> Vec<Vec<u8>> {
        let sent = desk.block_on(store.dispatches_of(&id)).expect("the store answers");
        sent.into_iter().filter(|(row, _)| row.recipient == ANN).map(|(_, bytes)| bytes).collect()
    };
    let before = sent();
    forget(&desk, BO);
    assert_eq!(sent(), before);
    let anns = desk.letters().into_iter().find(|letter| letter.sender == ANN).expect("Ann's letter");
    let raw = desk.block_on(store.letter(anns.digest)).expect("the store answers").expect("its bytes");
    assert!(String::from_utf8_lossy(&raw).contains("MARBLE E5"));
}

#[test]
fn a_letter_to_a_match_with_somebody_forgotten_is_answered_and_its_other_parts_count() {
    let desk = Desk::new();
    let (id, _) = over(&desk);
    let to_bo = desk.last_to(BO);
    let other = of_others(&desk).id;
    desk.sent_to(BO);
    let ann = forget(&desk, ANN);
    desk.reply(BO, &to_bo, &format!("TELL Thanks\nEND\nMATCH {other}\nMARBLE E5"));
    let words = format!("Your message was not passed on: {ann} has left the club");
    assert!(desk.sent_to(BO).iter().any(|answer| answer.text.contains(&words)), "{words}");
    assert_eq!(desk.find(&other).adjudicated.len(), 1, "the orders were filed");
    assert!(tell(&desk, &id).is_done());
    desk.last_to(BO).says("Well played");
    assert!(desk.verify(&id).is_sound());
}

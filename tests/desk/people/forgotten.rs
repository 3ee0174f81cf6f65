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
use crate::people::addresses::{add, code_of, titled};
use crate::referee::{ANN, BO, Referee, Sent};
use crate::seat::parts::of_others;

fn player(referee: &Referee, address: &str) -> Option<Player> {
    referee.block_on(referee.office().store.player_by_address(address)).expect("the store answers")
}

#[test]
fn a_player_whose_matches_are_over_is_forgotten_and_the_chain_stays_whole() {
    let referee = Referee::new();
    let id = referee.open(GameKind::Quad, &[]).id;
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    let bo = player(&referee, BO).expect("Bo");
    let number = bo.id;
    let refused =
        referee.block_on(forget::forget(referee.office(), number)).expect_err("the match is running");
    assert!(refused.to_string().contains("is not over"), "{refused:#}");
    assert!(player(&referee, BO).is_some());
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    let head = referee.find(&id).head;
    let letters = referee.letters();
    let matches = referee.block_on(forget::forget(referee.office(), number)).expect("it is forgotten");
    assert_eq!(matches, std::slice::from_ref(&id));
    assert!(player(&referee, BO).is_none() && player(&referee, ANN).is_some());
    let store = &referee.office().store;
    for letter in referee.letters() {
        let raw = referee.block_on(store.letter(letter.digest)).expect("the store answers");
        assert_ne!(letter.sender, BO);
        let was = letters.iter().find(|was| was.digest == letter.digest).expect("the same letter");
        assert_eq!(raw.is_some(), was.sender != BO, "{was:?}");
    }
    let sent = referee.block_on(store.dispatches_of(&id)).expect("the store answers");
    assert!(sent.iter().all(|(row, _)| row.recipient != BO && !row.recipient.is_empty()) && !sent.is_empty());
    let after = referee.find(&id);
    let name = format!("P-{number}");
    assert_eq!(after.players.second, name);
    let verdict = referee.verify(&id);
    assert!(verdict.is_sound() && verdict.head == after.head, "{verdict:#?}");
    assert_eq!(verdict.withheld.as_deref(), Some(&*format!("the letters of P-{number}, who was forgotten")));
    let last = entries(&referee, &id).split_off(usize::try_from(head.seq).expect("a place"));
    let [listed, told] = &last[..] else { panic!("two entries: {last:#?}") };
    assert_eq!(listed.fact, Fact::LettersListed {});
    assert_eq!((listed.pins.len(), listed.delivered.len()), (3, 3), "the results");
    assert_eq!(told.fact, Fact::Forgotten { seat: Some(Seat::Second), player: name });
    let again =
        referee.block_on(forget::forget(referee.office(), number)).expect_err("there is nothing left");
    assert!(again.to_string().contains("there is nothing left to forget"), "{again:#}");
    cheat(
        &referee,
        &["UPDATE entry SET json = replace(json, 'MARBLE E5', 'MARBLE E6') WHERE kind = 'OrdersSealed'"],
    );
    let verdict = referee.verify(&id);
    assert!(verdict.findings[0].what.contains("was changed"), "{verdict:#?}");
}

#[test]
fn what_is_left_of_a_match_with_somebody_forgotten_is_compared() {
    let referee = Referee::new();
    let (id, _) = over(&referee);
    forget(&referee, BO);
    referee.untidy.set(true);
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
        let office = tampered(&referee, &[sql]);
        let said =
            words(&referee.block_on(verify::verify(&office, &id, &|_| ())).expect("the store answers"));
        referee.block_on(office.store.close());
        if !said.contains(named) {
            unnamed.push(format!("{statement}: {said:?}"));
        }
    }
    assert!(unnamed.is_empty(), "{unnamed:#?}");
}

#[test]
fn a_match_whose_letters_are_withheld_for_somebody_whom_the_ledger_does_not_name_is_wrong() {
    let referee = Referee::new();
    let id = referee.open(GameKind::Quad, &[]).id;
    referee.reply(ANN, &referee.one_to(ANN), "RESIGN CONFIRM");
    let number = player(&referee, BO).expect("Bo").id;
    cheat(&referee, &[&format!("UPDATE match SET forgotten = 'P-{number}'")]);
    let verdict = referee.verify(&id);
    assert_eq!(*found(&verdict), Place::Kept("the match"));
    assert!(verdict.findings[0].what.contains("does not record that"), "{verdict:#?}");
}

/// A match that Bo has lost, with the first letter about it to Ann.
fn over(referee: &Referee) -> (String, Sent) {
    let id = referee.open(GameKind::Quad, &[]).id;
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    (id, to_ann)
}

/// Forgets the player with this address, and returns the player's name afterwards.
fn forget(referee: &Referee, address: &str) -> String {
    let number = player(referee, address).expect("the player").id;
    referee.block_on(forget::forget(referee.office(), number)).expect("it is forgotten");
    format!("P-{number}")
}

fn words(verdict: &AuditVerdict) -> String {
    verdict.findings.iter().map(|finding| format!("{}: {}; ", finding.place, finding.what)).collect()
}

/// Sends both sides of a match a note from the GM.
fn tell(referee: &Referee, id: &str) -> GmResult {
    let text = "Well played".to_owned();
    let words = MatchAction::Act(Act::Tell { to: None, digest: Digest::of(text.as_bytes()), text });
    let words = Instruction::Match { id: id.to_owned(), turn: None, action: words };
    let done = referee.block_on(instruct::carry_out(referee.office(), &words)).expect("the store answers");
    referee.work();
    done
}

#[test]
fn letters_are_withheld_only_in_matches_whose_ledgers_say_so() {
    let referee = Referee::new();
    over(&referee);
    let other = of_others(&referee).id;
    let ann = forget(&referee, ANN);
    assert_eq!(words(&referee.verify(&other)), "");
    cheat(&referee, &[&format!("UPDATE match SET forgotten = '{ann}' WHERE id = '{other}'")]);
    let said = words(&referee.verify(&other));
    assert!(
        said.contains(&format!("{ann} is stored as forgotten here, but the ledger does not record that")),
        "{said}"
    );
}

#[test]
fn addresses_that_a_player_had_before_are_forgotten_too() {
    const NEW: &str = "ann@new.example";
    let referee = Referee::new();
    let id = referee.open(GameKind::Quad, &[]).id;
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    add(&referee, &to_ann, NEW);
    referee.advance(24 * 7 + 1);
    referee.reply(NEW, &to_ann, &format!("ADDRESS REMOVE {ANN}"));
    let question = titled(&referee.sent_to(NEW), "Remove one of your addresses");
    referee.reply(NEW, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    forget(&referee, NEW);
    let store = &referee.office().store;
    assert!(referee.letters().iter().all(|letter| letter.sender != ANN));
    let sent = referee.block_on(store.list_dispatches(false, 1000)).expect("the store answers");
    assert!(sent.iter().all(|row| row.recipient != ANN));
    let pins = referee.block_on(store.seat_pins(&id)).expect("the store answers");
    assert!(pins.iter().all(|pin| pin.opened.as_ref().is_none_or(|opened| opened.value != ANN)), "{pins:?}");
}

#[test]
fn letters_that_a_player_confirmed_from_elsewhere_are_forgotten_too() {
    const HOLIDAY: &str = "bo@holiday.example";
    let referee = Referee::new();
    let id = referee.open(GameKind::Quad, &[]).id;
    let to_bo = referee.one_to(BO);
    referee.reply(HOLIDAY, &to_bo, "RESIGN CONFIRM");
    let notice = referee.one_to(BO);
    referee.reply("eve@elsewhere.example", &to_bo, "STATUS");
    referee.reply(BO, &notice, &format!("CONFIRM {}", code_of(&notice)));
    assert!(referee.find(&id).outcome().is_some(), "he has resigned");
    forget(&referee, BO);
    let letters = referee.letters();
    let senders: Vec<&str> = letters.iter().map(|letter| letter.sender.as_str()).collect();
    assert!(!senders.contains(&HOLIDAY) && senders.contains(&"eve@elsewhere.example"), "{senders:?}");
    for letter in letters.iter().filter(|letter| letter.sender.is_empty()) {
        assert_eq!(
            referee.block_on(referee.office().store.letter(letter.digest)).expect("the store answers"),
            None
        );
    }
    assert!(referee.verify(&id).is_sound());
}

#[test]
fn a_player_is_not_forgotten_while_a_letter_to_them_is_queued() {
    let referee = Referee::new();
    over(&referee);
    let number = player(&referee, BO).expect("Bo").id;
    cheat(
        &referee,
        &["UPDATE dispatch SET sent_at = NULL, due_at = 7 WHERE recipient = 'bo@players.example'"],
    );
    let refused = referee.block_on(forget::forget(referee.office(), number)).expect_err("letters are queued");
    assert!(refused.to_string().contains("must still be ruled on or sent"), "{refused:#}");
    assert!(player(&referee, BO).is_some());
}

#[test]
fn letters_that_stay_are_read_back_after_a_player_is_forgotten() {
    let referee = Referee::new();
    let (id, _) = over(&referee);
    referee.advance(8 * 24);
    let store = &referee.office().store;
    let sent = || -> Vec<Vec<u8>> {
        let sent = referee.block_on(store.dispatches_of(&id)).expect("the store answers");
        sent.into_iter().filter(|(row, _)| row.recipient == ANN).map(|(_, bytes)| bytes).collect()
    };
    let before = sent();
    forget(&referee, BO);
    assert_eq!(sent(), before);
    let anns = referee.letters().into_iter().find(|letter| letter.sender == ANN).expect("Ann's letter");
    let raw = referee.block_on(store.letter(anns.digest)).expect("the store answers").expect("its bytes");
    assert!(String::from_utf8_lossy(&raw).contains("MARBLE E5"));
}

#[test]
fn a_letter_to_a_match_with_somebody_forgotten_is_answered_and_its_other_parts_count() {
    let referee = Referee::new();
    let (id, _) = over(&referee);
    let to_bo = referee.last_to(BO);
    let other = of_others(&referee).id;
    referee.sent_to(BO);
    let ann = forget(&referee, ANN);
    referee.reply(BO, &to_bo, &format!("TELL Thanks\nEND\nMATCH {other}\nMARBLE E5"));
    let words = format!("Your message was not passed on: {ann} has left the club");
    assert!(referee.sent_to(BO).iter().any(|answer| answer.text.contains(&words)), "{words}");
    assert_eq!(referee.find(&other).adjudicated.len(), 1, "the orders were filed");
    assert!(tell(&referee, &id).is_done());
    referee.last_to(BO).says("Well played");
    assert!(referee.verify(&id).is_sound());
}

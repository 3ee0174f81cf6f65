//! The audit's findings about rulings by another procedure, and about deadlines by other time zone data.

use chrono::TimeDelta;
use fogpost::audit::{AuditVerdict, Finding, Place};
use fogpost::game::any::GameKind;
use fogpost::ledger::{Entry, Fact};
use fogpost::referee::{Match, PROCEDURE};

use crate::audit::database::{cheat, entries, found, packed, rewrite};
use crate::referee::{ANN, BO, Referee};

/// A desk that follows another procedure, until it is restarted.
fn referee_of_procedure(number: u32) -> Referee {
    let mut referee = Referee::new();
    referee.office_mut().set_procedure(number, "2019a");
    referee.work();
    referee
}

/// A match whose first turn another procedure ruled on, with its desk.
fn played_by_another() -> (Referee, Match) {
    let referee = referee_of_procedure(77);
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &to_ann, "MARBLE A1");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "STATUS");
    (referee, game_match)
}

#[test]
fn rulings_by_another_procedure_are_not_repeated_and_counted() {
    let (referee, game_match) = played_by_another();
    let verdict = referee.verify(&game_match.id);
    assert!(verdict.is_sound(), "{verdict:#?}");
    // The opening, a refusal, a filing and a question.
    assert_eq!(verdict.rulings_by_procedure, [(77, 4)].into());
    assert_eq!(verdict.letters, 3);
}

#[test]
fn rulings_after_a_change_of_the_procedure_are_repeated_from_the_kept_match() {
    let (mut referee, game_match) = played_by_another();
    let before = referee.find(&game_match.id);
    referee.restart();
    referee.reply(BO, &referee.last_to(BO), "TURN 2\nMARBLE A5");
    let verdict = referee.verify(&game_match.id);
    assert!(verdict.is_sound(), "{verdict:#?}");
    assert_eq!(verdict.rulings_by_procedure, [(77, 4)].into());
    let kept =
        referee.block_on(referee.office().store.kept_snapshots(&game_match.id)).expect("the store answers");
    assert_eq!(kept, [before.to_json()]);
    let set = entries(&referee, &game_match.id).into_iter().find_map(|entry| match entry.fact {
        Fact::MailIdentitySet { mail_identity, before: Some(_) } => Some(mail_identity.procedure),
        _ => None,
    });
    assert_eq!(set, Some(PROCEDURE));
}

#[test]
fn without_the_kept_match_later_rulings_are_not_repeated_either() {
    let (mut referee, game_match) = played_by_another();
    referee.restart();
    referee.reply(BO, &referee.last_to(BO), "TURN 2\nMARBLE A5");
    cheat(&referee, &["DELETE FROM kept_snapshot"]);
    let verdict = referee.verify(&game_match.id);
    assert!(verdict.is_sound(), "{verdict:#?}");
    assert_eq!(verdict.rulings_by_procedure, [(77, 6)].into(), "two more: the change, and Bo's letter");
}

/// The findings in a match by another procedure after a change to its entries, with every hash recomputed.
fn after(change: impl FnOnce(&mut Vec<Entry>)) -> Vec<Finding> {
    let (referee, _) = played_by_another();
    let game_match = referee.find(&entries_id(&referee));
    let mut all = entries(&referee, &game_match.id);
    change(&mut all);
    rewrite(&referee, &game_match, all);
    // The letters still contain the ledger lines of the chain as it was before.
    let mut findings = referee.verify(&game_match.id).findings;
    findings.retain(|finding| !matches!(finding.place, Place::Sent(_)));
    findings
}

fn entries_id(referee: &Referee) -> String {
    referee.block_on(referee.office().store.match_ids()).expect("the store answers").remove(0)
}

#[track_caller]
fn change_of<'a>(all: &'a mut [Entry], kind: &str) -> &'a mut Fact {
    &mut all.iter_mut().find(|entry| entry.fact.kind() == kind).expect("an entry of this kind").fact
}

#[test]
fn of_rulings_by_another_procedure_orders_and_adjudications_are_compared() {
    let said = |findings: Vec<Finding>| findings.into_iter().map(|found| found.what).collect::<String>();
    let other = |orders: &mut fogpost::game::OrderLines| {
        *orders = serde_json::from_str(r#"["MARBLE E6"]"#).expect("orders");
    };
    let changed = after(|all| {
        let Fact::OrdersSealed { orders, .. } = change_of(all, "OrdersSealed") else { unreachable!() };
        other(orders);
    });
    assert!(said(changed).contains("not those that it seals"));
    let changed = after(|all| {
        let entry = all.iter_mut().find(|entry| entry.fact.kind() == "OrdersSealed").expect("one");
        let Fact::OrdersSealed { orders, sealed, .. } = &mut entry.fact else { unreachable!() };
        other(orders);
        *sealed = fogpost::ledger::seal_digest(&entry.salt, orders);
    });
    assert!(said(changed).contains("orders that are not in its cause"));
    let changed = after(|all| {
        let Fact::TurnAdjudicated { filings, .. } = change_of(all, "TurnAdjudicated") else { unreachable!() };
        other(filings.first.as_mut().expect("Ann's orders"));
    });
    assert!(said(changed).contains("is not the one that was sealed"));
    let changed = after(|all| {
        let Fact::TurnAdjudicated { state, .. } = change_of(all, "TurnAdjudicated") else { unreachable!() };
        *state = fogpost::letter::Digest::of(b"another state");
    });
    assert!(said(changed).contains("not the one that the filings lead to"));
}

#[test]
fn of_rulings_by_another_procedure_letters_are_compared() {
    let digest = |referee: &Referee| referee.letters().last().expect("a letter").digest;
    for statement in [
        "UPDATE letter_raw SET bytes = x'{other}' WHERE letter_id = (SELECT id FROM letter WHERE digest = '{digest}')",
        "DELETE FROM letter_raw WHERE letter_id = (SELECT id FROM letter WHERE digest = '{digest}')",
        "UPDATE letter SET received_at = received_at - 60000 WHERE digest = '{digest}'",
    ] {
        let (referee, game_match) = played_by_another();
        let digest = digest(&referee);
        let other = packed(b"From: ann@players.example\r\n\r\nMARBLE B1\r\n");
        let statement = statement.replace("{digest}", &digest.to_string()).replace("{other}", &other);
        cheat(&referee, &[&statement]);
        assert_eq!(*found(&referee.verify(&game_match.id)), Place::Letter(digest), "{statement}");
    }
    let (referee, game_match) = played_by_another();
    cheat(&referee, &["UPDATE dispatch SET recipient = 'eve@players.example' WHERE kind = 'report'"]);
    assert!(
        referee.verify(&game_match.id).findings.iter().all(|finding| matches!(finding.place, Place::Sent(_)))
    );
    assert!(!referee.verify(&game_match.id).is_sound());
}

/// Verifies a match whose ledger sets every deadline later than this version's time zone data does.
fn check_of_later_deadlines(mut referee: Referee, hours: i64) -> AuditVerdict {
    let id = referee.open(GameKind::Quad, &[]).id;
    let to_ann = referee.one_to(ANN);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let (mut game_match, mut all) = (referee.find(&id), entries(&referee, &id));
    let later = TimeDelta::hours(hours);
    for entry in &mut all {
        if let Fact::DeadlineSet { deadline, .. } = &mut entry.fact {
            *deadline += later;
        }
    }
    game_match.deadline = game_match.deadline.map(|deadline| deadline + later);
    rewrite(&referee, &game_match, all);
    let millis = later.num_milliseconds();
    cheat(
        &referee,
        &[&format!("UPDATE match SET deadline = deadline + {millis}, wake_at = wake_at + {millis}")],
    );
    referee.restart();
    let mut verdict = referee.verify(&id);
    // The letters still contain the ledger lines of the chain as it was before the test rewrote it.
    verdict.findings.retain(|finding| !matches!(finding.place, Place::Sent(_)));
    verdict
}

#[test]
fn deadlines_of_other_time_zones_are_taken_as_recorded_within_26_hours() {
    let verdict = check_of_later_deadlines(referee_of_procedure(PROCEDURE), 1);
    assert!(verdict.is_sound() && verdict.rulings_by_procedure.is_empty(), "{verdict:#?}");
    for (referee, hours) in [(Referee::new(), 1), (referee_of_procedure(PROCEDURE), 27)] {
        let verdict = check_of_later_deadlines(referee, hours);
        let [Finding { place: Place::Entry(2), what }] = &verdict.findings[..] else {
            panic!("{verdict:#?}")
        };
        assert!(what.contains("body.deadline"), "{what}");
    }
}

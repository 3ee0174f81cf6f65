//! The daily audit reports each finding to the GM once.

use fogpost::daemon::audit;
use fogpost::daemon::audit::unsound;
use fogpost::daemon::sending;
use fogpost::game::any::GameKind;
use fogpost::referee::Stage;

use crate::audit::database::cheat;
use crate::desk::{ANN, BO, Desk, GM, Sent};

const REWRITE: &str = "UPDATE entry SET json = replace(json, 'Ann', 'Eve') WHERE seq = 1";

/// The alarms that the GM got since the last call.
fn alarms(desk: &Desk) -> Vec<Sent> {
    let mut sent = desk.sent_to(GM);
    sent.retain(|sent| sent.subject == "A ledger does not verify");
    sent
}

/// Returns the faults of the status about matches that do not verify.
fn faults(desk: &Desk) -> Vec<String> {
    let office = desk.office();
    let status = fogpost::daemon::status::Status::of(
        &office.store,
        &office.config.database,
        &office.config.outbox.quota,
        desk.now(),
        fogpost::daemon::status::SILENT_AFTER,
    );
    let mut faults = desk.block_on(status).expect("the store answers").faults;
    faults.retain(|fault| fault.contains("not verified"));
    faults
}

/// A club in which an audit has begun, with a match that has ended or one that runs.
fn audited(has_ended: bool) -> (Desk, String) {
    let desk = Desk::new();
    desk.work();
    let id = desk.open(GameKind::Quad, &[]).id;
    let to_ann = desk.one_to(ANN);
    desk.one_to(BO);
    if has_ended {
        desk.reply(ANN, &to_ann, "RESIGN CONFIRM");
    }
    desk.advance(26);
    assert!(alarms(&desk).is_empty() && faults(&desk).is_empty());
    (desk, id)
}

#[test]
fn in_a_month_the_same_finding_brings_one_letter_which_does_not_call_a_finished_match_paused() {
    let (desk, id) = audited(true);
    cheat(&desk, &[REWRITE]);
    desk.advance(34 * 24);
    let alarms = alarms(&desk);
    let [alarm] = &alarms[..] else { panic!("{} letters", alarms.len()) };
    alarm.says(&format!("The ledger of match {id} does not verify.")).keeps_silent_of("paused");
    assert_eq!(desk.find(&id).stage, Stage::Over);
    let [fault] = &faults(&desk)[..] else { panic!("it is in the status") };
    assert!(
        fault.starts_with("1 match or event has not verified for ") && fault.contains("audit acknowledge"),
        "{fault}"
    );
}

#[test]
fn a_running_match_is_paused_and_the_status_tells_it_until_the_gm_acknowledges_it() {
    let (desk, id) = audited(false);
    cheat(&desk, &[REWRITE]);
    desk.advance(24);
    alarms(&desk)[0].says("The match is paused until you decide.");
    assert_eq!((desk.find(&id).stage, faults(&desk).len()), (Stage::Paused, 1));
    let acknowledge =
        |only| desk.block_on(unsound::acknowledge(desk.office(), only)).expect("the store answers");
    assert!(acknowledge(Some("QD-0000")).is_empty());
    assert_eq!((acknowledge(None), faults(&desk).len()), (vec![id.clone()], 0));
    desk.advance(48);
    assert!(alarms(&desk).is_empty() && faults(&desk).is_empty(), "nothing new was found");
    // There is another finding.
    cheat(
        &desk,
        &[
            "UPDATE entry SET json = replace(json, 'Bo', 'Eve') WHERE seq = 1",
            "DELETE FROM entry WHERE seq = 1",
        ],
    );
    desk.advance(24);
    assert_eq!((alarms(&desk).len(), faults(&desk).len()), (1, 1));
}

#[test]
fn a_match_that_verifies_again_leaves_the_status_and_is_told_again_if_it_fails_again() {
    let (desk, _) = audited(true);
    let back = "UPDATE entry SET json = replace(json, 'Eve', 'Ann') WHERE seq = 1";
    for _ in 0..2 {
        cheat(&desk, &[REWRITE]);
        desk.advance(24);
        assert_eq!((alarms(&desk).len(), faults(&desk).len()), (1, 1));
        cheat(&desk, &[back]);
        desk.advance(24);
        assert_eq!((alarms(&desk).len(), faults(&desk).len()), (0, 0));
    }
}

#[test]
fn a_row_with_impossible_contents_is_told_to_the_gm_and_spares_the_other_matches() {
    for (change, what) in [
        ("UPDATE match SET zone = 'x' WHERE id = '{id}'", "x is not a valid"),
        ("UPDATE match SET snapshot = CAST(x'ff' AS TEXT) WHERE id = '{id}'", "the database: "),
        ("UPDATE verified SET seq = -1 WHERE match_id = '{id}'", "-1 is not a valid count"),
    ] {
        let (desk, id) = audited(false);
        let other = desk.open(GameKind::Quad, &[]).id;
        cheat(&desk, &[&change.replace("{id}", &id)]);
        desk.sleep(24);
        let office = desk.office();
        desk.block_on(async { audit::audit_when_due(office).await.and(sending::send_due(office).await) })
            .expect(change);
        let alarms = alarms(&desk);
        let [alarm] = &alarms[..] else { panic!("{change}: {} alarms", alarms.len()) };
        alarm.says(&id).says(what).keeps_silent_of(&other);
    }
}

#[test]
fn a_match_is_noted_as_verified_once_it_verifies_and_goes_on_from_there() {
    let (desk, id) = audited(false);
    let store = &desk.office().store;
    let verified = || desk.block_on(store.verified(&id)).expect("the store answers");
    assert_eq!(verified(), Some(desk.find(&id).head));
    let unverified = || desk.block_on(store.unverified()).expect("the store answers");
    assert!(unverified().is_empty());
    desk.write(ANN, "STATUS");
    cheat(&desk, &[REWRITE]);
    let before = verified();
    desk.open(GameKind::Quad, &[]);
    assert_eq!(unverified().len(), 1);
    desk.advance(24);
    assert_eq!(verified(), before, "it does not verify");
}

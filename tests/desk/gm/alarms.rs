//! The daily audit reports each finding to the GM once.

use fogpost::daemon::{audit, away, sending};
use fogpost::game::any::GameKind;
use fogpost::referee::Stage;
use fogpost::store::StoreError;

use crate::audit::database::cheat;
use crate::referee::{ANN, BO, GM, Referee, Sent};

const REWRITE: &str = "UPDATE entry SET json = replace(json, 'Ann', 'Eve') WHERE seq = 1";

/// The alarms that the GM got since the last call.
fn alarms(referee: &Referee) -> Vec<Sent> {
    let mut sent = referee.sent_to(GM);
    sent.retain(|sent| sent.subject == "A ledger does not verify");
    sent
}

/// Returns the faults of the status about matches that do not verify.
fn faults(referee: &Referee) -> Vec<String> {
    let office = referee.office();
    let status = fogpost::daemon::status::Status::of(
        &office.store,
        &office.config.database,
        &office.config.outbox.quota,
        referee.now(),
        fogpost::daemon::status::SILENT_AFTER,
    );
    let mut faults = referee.block_on(status).expect("the store answers").faults;
    faults.retain(|fault| fault.contains("not verified"));
    faults
}

/// A club in which an audit has begun, with a match that has ended or one that runs.
fn audited(has_ended: bool) -> (Referee, String) {
    let referee = Referee::new();
    referee.work();
    let id = referee.open(GameKind::Quad, &[]).id;
    let to_ann = referee.one_to(ANN);
    referee.one_to(BO);
    if has_ended {
        referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    }
    referee.advance(26);
    assert!(alarms(&referee).is_empty() && faults(&referee).is_empty());
    (referee, id)
}

#[test]
fn in_a_month_the_same_finding_brings_one_letter_which_does_not_call_a_finished_match_paused() {
    let (referee, id) = audited(true);
    cheat(&referee, &[REWRITE]);
    referee.advance(34 * 24);
    let alarms = alarms(&referee);
    let [alarm] = &alarms[..] else { panic!("{} letters", alarms.len()) };
    alarm.says(&format!("The ledger of match {id} does not verify.")).keeps_silent_of("paused");
    assert_eq!(referee.find(&id).stage, Stage::Over);
    let [fault] = &faults(&referee)[..] else { panic!("it is in the status") };
    assert!(
        fault.starts_with("1 match or event has not verified for ") && fault.contains("audit acknowledge"),
        "{fault}"
    );
}

#[test]
fn a_running_match_is_paused_and_the_status_tells_it_until_the_gm_acknowledges_it() {
    let (referee, id) = audited(false);
    cheat(&referee, &[REWRITE]);
    referee.advance(24);
    alarms(&referee)[0].says("The match is paused until you decide.");
    assert_eq!((referee.find(&id).stage, faults(&referee).len()), (Stage::Paused, 1));
    let acknowledge =
        |only| referee.block_on(audit::acknowledge(referee.office(), only)).expect("the store answers");
    assert!(acknowledge(Some("QD-0000")).is_empty());
    assert_eq!((acknowledge(None), faults(&referee).len()), (vec![id.clone()], 0));
    referee.advance(48);
    assert!(alarms(&referee).is_empty() && faults(&referee).is_empty(), "nothing new was found");
    // There is another finding.
    cheat(
        &referee,
        &[
            "UPDATE entry SET json = replace(json, 'Bo', 'Eve') WHERE seq = 1",
            "DELETE FROM entry WHERE seq = 1",
        ],
    );
    referee.advance(24);
    assert_eq!((alarms(&referee).len(), faults(&referee).len()), (1, 1));
}

#[test]
fn a_match_that_verifies_again_leaves_the_status_and_is_told_again_if_it_fails_again() {
    let (referee, _) = audited(true);
    let back = "UPDATE entry SET json = replace(json, 'Eve', 'Ann') WHERE seq = 1";
    for _ in 0..2 {
        cheat(&referee, &[REWRITE]);
        referee.advance(24);
        assert_eq!((alarms(&referee).len(), faults(&referee).len()), (1, 1));
        cheat(&referee, &[back]);
        referee.advance(24);
        assert_eq!((alarms(&referee).len(), faults(&referee).len()), (0, 0));
    }
}

#[test]
fn a_row_with_impossible_contents_is_told_to_the_gm_and_spares_the_other_matches() {
    for (change, what) in [
        ("UPDATE match SET zone = 'x' WHERE id = '{id}'", "x is not a valid"),
        ("UPDATE match SET snapshot = CAST(x'ff' AS TEXT) WHERE id = '{id}'", "the database: "),
        ("UPDATE verified SET seq = -1 WHERE match_id = '{id}'", "-1 is not a valid count"),
    ] {
        let (referee, id) = audited(false);
        let other = referee.open(GameKind::Quad, &[]).id;
        cheat(&referee, &[&change.replace("{id}", &id)]);
        referee.sleep(24);
        let office = referee.office();
        referee
            .block_on(async { audit::audit_when_due(office).await.and(sending::send_due(office).await) })
            .expect(change);
        let alarms = alarms(&referee);
        let [alarm] = &alarms[..] else { panic!("{change}: {} alarms", alarms.len()) };
        alarm.says(&id).says(what).keeps_silent_of(&other);
    }
}

#[test]
fn a_match_is_noted_as_verified_once_it_verifies_and_goes_on_from_there() {
    let (referee, id) = audited(false);
    let store = &referee.office().store;
    let verified = || referee.block_on(store.verified(&id)).expect("the store answers");
    assert_eq!(verified(), Some(referee.find(&id).head));
    let unverified = || referee.block_on(store.unverified()).expect("the store answers");
    assert!(unverified().is_empty());
    referee.write(ANN, "STATUS");
    cheat(&referee, &[REWRITE]);
    let before = verified();
    referee.open(GameKind::Quad, &[]);
    assert_eq!(unverified().len(), 1);
    referee.advance(24);
    assert_eq!(verified(), before, "it does not verify");
}

#[test]
fn a_database_that_did_not_answer_for_minutes_is_told_once_it_does() {
    let referee = Referee::new();
    let fails = || away::note_failure(referee.office(), &StoreError::ReadOnly.into());
    let answers = || referee.block_on(away::tell(referee.office())).expect("the store answers");
    fails();
    answers();
    fails();
    referee.sleep(1);
    fails();
    answers();
    answers();
    referee.sleep(1);
    answers();
    referee.work();
    let mut told = referee.sent_to(GM);
    told.retain(|sent| sent.subject == "The database did not answer");
    assert_eq!(told.len(), 1, "{told:?}");
    told[0].says("From Thu 7 May, 12:00 CEST to Thu 7 May, 13:00 CEST").says("the database is read-only");
}

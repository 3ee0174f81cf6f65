//! What the audit says of letters and rulings that another version of the program made.

use chrono::TimeDelta;
use fogpost::audit::{AuditResult, AuditVerdict, Finding, Place};
use fogpost::game::any::GameKind;
use fogpost::ledger::Fact;
use fogpost::letter::Digest;

use crate::audit::{cheat, entries, forged, rewrite};
use crate::desk::{ANN, BO, Desk};

/// A desk of another version of the program, with other time zones, until it is restarted.
fn earlier_desk() -> Desk {
    let mut desk = Desk::new();
    desk.office_mut().set_program(Digest::of(b"an earlier version"), "2019a");
    desk.work();
    desk
}

#[test]
fn a_letter_with_the_local_times_of_other_time_zones_is_not_wrong_but_is_counted() {
    let (mut desk, game_match, _, to_bo) = forged(earlier_desk(), "20:00 CEST", "19:00 CET");
    desk.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    desk.restart();
    let verdict = desk.verify(&game_match.id);
    assert_eq!((verdict.result(), verdict.sent), (AuditResult::Sound, 0), "{verdict:#?}");
}

/// Verifies a match whose ledger sets every deadline an hour later than this version's time zones do.
fn check_of_later_deadlines(mut desk: Desk) -> AuditVerdict {
    let id = desk.open(GameKind::Quad, &[]).id;
    let to_ann = desk.one_to(ANN);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    let (mut game_match, mut all) = (desk.find(&id), entries(&desk, &id));
    let hour = TimeDelta::hours(1);
    for entry in &mut all {
        if let Fact::DeadlineSet { deadline, .. } = &mut entry.fact {
            *deadline += hour;
        }
    }
    game_match.deadline = game_match.deadline.map(|deadline| deadline + hour);
    rewrite(&desk, &game_match, all);
    cheat(&desk, &["UPDATE match SET deadline = deadline + 3600000, wake_at = wake_at + 3600000"]);
    desk.restart();
    let mut verdict = desk.verify(&id);
    // The letters still contain the ledger lines of the chain as it was before the test rewrote it.
    verdict.findings.retain(|finding| !matches!(finding.place, Place::Sent(_)));
    verdict
}

#[test]
fn deadlines_of_other_time_zones_are_not_wrong_but_are_counted() {
    let verdict = check_of_later_deadlines(earlier_desk());
    assert!(verdict.findings.is_empty(), "{verdict:#?}");
    assert_eq!(verdict.rulings_of_other_versions, 2, "{verdict:#?}");
    let verdict = check_of_later_deadlines(Desk::new());
    let [Finding { place: Place::Entry(2), what }] = &verdict.findings[..] else { panic!("{verdict:#?}") };
    assert!(what.contains("body.deadline"), "{what}");
}

//! Times that were noted while the clock was wrong stop nothing once it is right again, and `status` names them.

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::config::{DatabaseSection, Quota};
use fogpost::daemon::audit;
use fogpost::daemon::new_letter;
use fogpost::daemon::status::Status;
use fogpost::post::FetchedLetter;

use crate::positions::quad;
use crate::referee::{ANN, Referee};

/// A time in 2038.
const AHEAD: &str = "2038-01-19T03:14:07+00:00";
const AHEAD_MS: i64 = 2_147_483_647_000;

fn remember(referee: &Referee, key: &str, value: &str) {
    referee.block_on(referee.office().store.remember(key, value)).expect("the store answers");
}

fn remembered(referee: &Referee, key: &str) -> Option<DateTime<Utc>> {
    let value = referee.block_on(referee.office().store.remembered(key)).expect("the store answers");
    value.and_then(|value| value.parse().ok())
}

fn faults(referee: &Referee) -> String {
    let store = &*referee.office().store;
    let (database, quota) = (DatabaseSection::default(), Quota::default());
    let status = Status::of(store, &database, &quota, referee.now(), TimeDelta::minutes(2));
    referee.block_on(status).expect("the store answers").faults.join("\n")
}

#[test]
fn a_remembered_time_in_the_future_counts_as_now_and_status_names_it() {
    let referee = Referee::new();
    referee.work();
    let keys =
        ["heartbeat", "digest", "unruled letters deleted", "pictures dropped", "letters listed", "audited"];
    for key in keys {
        remember(&referee, key, AHEAD);
        let told = faults(&referee);
        assert!(told.contains(&format!("`{key}` was noted at 2038-01-19")), "{key}: {told}");
    }
    referee.work();
    referee.block_on(audit::audit_when_due(referee.office())).expect("the store answers");
    for key in keys {
        assert!(remembered(&referee, key).is_some_and(|at| at <= referee.now()), "{key}");
    }
    assert!(!faults(&referee).contains("2038"), "{}", faults(&referee));
    // The tasks that these times control continue.
    let audited = remembered(&referee, "audited");
    referee.advance(26);
    referee.block_on(audit::audit_when_due(referee.office())).expect("the store answers");
    assert!(remembered(&referee, "audited") > audited);
    assert!(remembered(&referee, "digest").is_some_and(|at| referee.now() - at < TimeDelta::hours(26)));
}

#[test]
fn a_daemon_that_claims_to_live_in_the_future_does_not_count_as_running() {
    let referee = Referee::new();
    let note = format!(
        r#"{{"who":"pid 7 on turing","version":"0.1.0","since":"{AHEAD}","at":"{AHEAD}","fetched":"{AHEAD}","sent":"{AHEAD}","logins":[],"ended":false,"zone_data":""}}"#
    );
    remember(&referee, "daemon: pid 7 on turing", &note);
    let told = faults(&referee);
    assert!(told.contains("no daemon has ever run"), "{told}");
    assert!(told.contains("`daemon: pid 7 on turing` was noted at 2038-01-19"), "{told}");
}

#[test]
fn what_is_deferred_too_far_is_made_due_and_status_names_it() {
    let referee = Referee::new();
    referee.untidy.set(true);
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS digest=daily");
    referee.sent_to(ANN);
    referee.advance(2);
    // A letter that waits, a letter of ours, Ann's digest and the match's next deadline.
    let raw = referee.answer(ANN, &to_ann, "STATUS").replace('\n', "\r\n").into_bytes();
    let fetched = FetchedLetter {
        size: raw.len() as u64,
        raw,
        received_at: referee.now(),
        arrivals: Vec::new(),
        origin: "a test".to_owned(),
        cut: false,
        is_spam: false,
    };
    let stored = referee.block_on(referee.office().store.insert_letters(&[new_letter(fetched)]));
    assert_eq!(stored.expect("the store answers"), 1);
    let sql = format!(
        "UPDATE letter SET wait_until = {AHEAD_MS} WHERE status = 'waiting'; \
         UPDATE dispatch SET due_at = {AHEAD_MS} WHERE due_at IS NOT NULL; \
         UPDATE player SET digest_at = {AHEAD_MS} WHERE digest_at IS NOT NULL; \
         UPDATE match SET wake_at = {AHEAD_MS} WHERE id = '{}'",
        game_match.id
    );
    referee.change_database(Box::leak(sql.into_boxed_str()));
    let told = faults(&referee);
    for column in ["letter.wait_until", "player.digest_at", "match.wake_at"] {
        assert!(told.contains(&format!("`{column}` reaches to 2038-01-19")), "{column}: {told}");
    }
    referee.advance(4);
    assert!(referee.sent_to(ANN).iter().any(|sent| sent.text.contains("Quad")), "STATUS is answered");
    referee.advance(10 * 24);
    let told = faults(&referee);
    assert!(!told.contains("2038"), "{told}");
    let letters = referee.all_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("is due")), "the deadline is told");
}

//! Letters to the GM about trouble: what does not verify, matches in which the house is stuck, a disk that
//! fills up, a clock in doubt, and a server that takes no mail, or none to some people.

use chrono::{DateTime, TimeDelta, Utc};

use crate::audit::AuditVerdict;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::outbox::alarms;
use crate::desk::outbox::gms::{self, GmTopic};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::post::refusal::doubts_domain;
use crate::referee::DispatchKind;
use crate::report::{ClubLetter, FailedCheck, RefusedPerson, Trouble, format_duration, format_with_year};
use crate::store::DispatchRow;

/// Maximum people that a letter about refusals names.
const MAX_REFUSED: usize = 20;

/// Tells the GM what does not verify, and why.
pub fn alarm(desk: &mut Desk<'_>, failed: &[FailedCheck]) -> Decided<()> {
    let worded = mail::word_club_letter(desk, &ClubLetter::Alarm { failed: failed.to_vec() }, "")?;
    for index in gms::gms_on_duty(desk) {
        // The letter has no token, so without the index all GMs would get the same Message-ID.
        let unique = format!("audit.{}.{}", desk.at().timestamp_millis(), index.0);
        let envelope = PlainEnvelope::to_gm(gms::gm(desk, index), &unique, DispatchKind::Alarm);
        let dispatch = mail::assemble(desk, worded.clone(), "", &envelope, None)?;
        desk.draft.changes.dispatches.push(dispatch);
    }
    Ok(())
}

/// Tells the GM the result of an audit of `checked` matches and events, in words.
pub fn audit_report(desk: &mut Desk<'_>, checked: usize, failed: &[AuditVerdict]) -> Decided<()> {
    let faults = failed.iter().map(|verdict| {
        let found = verdict.findings.iter().map(|found| format!("{}: {}", found.place, found.what));
        (verdict.subject.name(), found.collect())
    });
    let letter = ClubLetter::AuditReport { checked, faults: faults.collect() };
    let unique = format!("report.{}", desk.at().timestamp_millis());
    desk.draft.changes.dispatches = gms::gm_letters(desk, &letter, &unique, GmTopic::Club)?;
    Ok(())
}

/// Tells the GM that disk space is short, so that no more mail is fetched.
pub fn low_space(desk: &mut Desk<'_>, free_mb: u64) -> Decided<()> {
    let min_free_mb = desk.club.config.database.min_free_mb;
    let unique = format!("space.{}", desk.at().timestamp_millis());
    alarms::tell(desk, &Trouble::LowSpace { free_mb, min_free_mb }, &unique, GmTopic::Club)
}

/// Asks the GM whether the clock is right; it was last trusted at `last`. Another daemon may have asked.
pub fn clock_doubted(desk: &mut Desk<'_>, last: DateTime<Utc>) -> Decided<()> {
    let zone = desk.club.config.terms.zone;
    let trouble = Trouble::ClockDoubted {
        now: format_with_year(desk.at(), zone),
        last: format_with_year(last, zone),
        apart: time_apart(desk.at() - last),
    };
    alarms::tell_once(desk, &trouble, &format!("clock.{}", last.timestamp_millis()), GmTopic::Club)
}

/// Returns how much earlier or later something was, such as `2 days earlier`.
pub fn time_apart(ago: TimeDelta) -> String {
    let which = if ago < TimeDelta::zero() { "later" } else { "earlier" };
    format!("{} {which}", format_duration(ago.abs()))
}

/// Tells the GM that nothing has been sent since `since`, because the server refuses everything with these
/// codes. The letter waits like all others, and is sent first. Another daemon, or this one before it was
/// killed, may have reported the same outage.
pub fn cannot_send(
    desk: &mut Desk<'_>,
    since: DateTime<Utc>,
    codes: &str,
    error: &str,
    waiting: u64,
) -> Decided<()> {
    // Two daemons notice an outage within moments, so they derive the Message-ID from the hour and the error,
    // and only one letter goes out.
    let unique = format!("out.{}.{codes}", since.format("%Y%m%d%H"));
    let since = desk.local_time(since);
    let trouble = Trouble::CannotSend { since, error: error.to_owned(), waiting };
    alarms::tell_once(desk, &trouble, &unique, GmTopic::Club)
}

/// Tells the GM which people's letters a mail server keeps refusing: these dispatches still wait. `dns` says what
/// the DNS shows of the club's domain. One such letter is written a day, also by several daemons.
pub fn keeps_refusing(desk: &mut Desk<'_>, waiting: &[DispatchRow], dns: &[String]) -> Decided<()> {
    let mut people: Vec<RefusedPerson> = Vec::new();
    for row in waiting {
        match people.iter_mut().find(|person| person.address == row.recipient) {
            Some(person) => {
                person.letters += 1;
                person.error.clone_from(&row.error);
            }
            None => people.push(RefusedPerson {
                name: desk.player(&row.recipient)?.map(|player| player.name),
                address: row.recipient.clone(),
                letters: 1,
                since: desk.local_time(row.created_at),
                error: row.error.clone(),
            }),
        }
    }
    let is_of_domain = people.iter().any(|person| doubts_domain(&person.error));
    let domain = is_of_domain.then(|| desk.club.config.club.address.domain().to_owned());
    let more = people.len().saturating_sub(MAX_REFUSED);
    people.truncate(MAX_REFUSED);
    let trouble = Trouble::KeepsRefusing { people, more, domain, dns: dns.to_vec() };
    alarms::tell_once(desk, &trouble, &format!("refused.{}", desk.at().format("%Y%m%d")), GmTopic::Club)
}

/// Tells the GM that the mailbox has not been readable since `since`, and why. Another daemon may have
/// reported the same outage.
pub fn cannot_read(desk: &mut Desk<'_>, since: DateTime<Utc>, reason: &str) -> Decided<()> {
    let unique = format!("unread.{}", since.format("%Y%m%d%H%M"));
    let since = desk.local_time(since);
    let trouble = Trouble::CannotRead { since, reason: reason.to_owned() };
    alarms::tell_once(desk, &trouble, &unique, GmTopic::Club)
}

/// Tells the GM that the database did not answer from `since` to `until`, or since then keeps these waiting.
pub fn database_away(
    desk: &mut Desk<'_>,
    since: DateTime<Utc>,
    until: Option<DateTime<Utc>>,
    why: &str,
    waiting: &[String],
) -> Decided<()> {
    let unique = format!("away.{}", since.format("%Y%m%d%H%M"));
    let trouble = Trouble::DatabaseAway {
        since: desk.local_time(since),
        until: until.map(|until| desk.local_time(until)),
        why: why.to_owned(),
        waiting: waiting.to_vec(),
    };
    alarms::tell_once(desk, &trouble, &unique, GmTopic::Club)
}

/// Tells the GM that the house cannot play its turn in a match. Another daemon may have reported the same
/// turn.
pub fn house_stuck(desk: &mut Desk<'_>, match_id: &str, phase_no: u32) -> Decided<()> {
    let Some(loaded) = desk.game_match(match_id)?.cloned() else { return Ok(()) };
    let trouble = Trouble::HouseStuck { match_id: match_id.to_owned() };
    let unique = format!("house.{match_id}.{phase_no}");
    alarms::tell_once(desk, &trouble, &unique, GmTopic::Match(&loaded))
}

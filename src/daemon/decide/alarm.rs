//! Letters to the GM about trouble: matches that do not verify or in which the house is stuck, a disk that fills up, and a
//! server that takes no mail.

use chrono::{DateTime, Utc};

use super::context::RulingContext;
use super::decision::Decision;
use super::gms::About;
use super::mail::PlainEnvelope;
use super::settings::Settings;
use super::undecided::Decided;
use crate::audit::AuditVerdict;
use crate::referee::DispatchKind;
use crate::report::{self, ClubLetter, FailedMatch};
use crate::store::{NewDispatch, Settlement};

/// Tells the GM which matches do not verify, and why.
pub fn alarm(settings: &Settings, context: &RulingContext, failed: &[FailedMatch]) -> Decided<Settlement> {
    let mut decision = Decision::new(settings, context);
    let worded = report::word_alarm(&settings.templates, &settings.stationery.club(), failed)?;
    for index in decision.gms_on_duty() {
        let gm = decision.gm(index);
        let envelope = PlainEnvelope {
            name: &gm.name,
            address: gm.address.as_str(),
            unique: &format!("audit.{}.{}", context.at.timestamp_millis(), index.0),
            kind: DispatchKind::Alarm,
        };
        let dispatch = decision.assemble(worded.clone(), "", &envelope, None)?;
        decision.draft.settlement.dispatches.push(dispatch);
    }
    Ok(decision.draft.settlement)
}

/// Tells the GM the result of an audit of `checked` matches, in words.
pub fn audit_report(
    settings: &Settings,
    context: &RulingContext,
    checked: usize,
    failed: &[AuditVerdict],
) -> Decided<Settlement> {
    let mut decision = Decision::new(settings, context);
    let faults = failed.iter().map(|verdict| {
        let found = verdict.findings.iter().map(|found| format!("{}: {}", found.place, found.what));
        (verdict.match_id.clone(), found.collect())
    });
    let letter = ClubLetter::AuditReport { checked, faults: faults.collect() };
    let unique = format!("report.{}", context.at.timestamp_millis());
    decision.draft.settlement.dispatches = decision.gm_alarms(&letter, &unique, About::Club)?;
    Ok(decision.draft.settlement)
}

/// Tells the GM that space is short, so that the mailbox is not emptied further.
pub fn low_space(settings: &Settings, context: &RulingContext, free_mb: u64) -> Decided<Settlement> {
    let mut decision = Decision::new(settings, context);
    let min_free_mb = settings.config.database.min_free_mb;
    let unique = format!("space.{}", context.at.timestamp_millis());
    let letter = ClubLetter::LowSpace { free_mb, min_free_mb };
    decision.draft.settlement.dispatches = decision.gm_alarms(&letter, &unique, About::Club)?;
    Ok(decision.draft.settlement)
}

/// Tells the GM that nothing has been sent since then, because the server refuses everything with these codes. The letter
/// waits like all others, and is the first that goes. Another daemon, or this one before it was killed, may have told of
/// the same outage.
pub fn cannot_send(
    settings: &Settings,
    context: &RulingContext,
    since: DateTime<Utc>,
    codes: &str,
    error: &str,
    waiting: u64,
) -> Decided<Settlement> {
    let mut decision = Decision::new(settings, context);
    // Two daemons meet an outage within moments.
    let unique = format!("out.{}.{codes}", since.format("%Y%m%d%H"));
    let since = decision.local_time_in(None, since);
    let letter = ClubLetter::CannotSend { since, error: error.to_owned(), waiting };
    let alarms = decision.gm_alarms(&letter, &unique, About::Club)?;
    for alarm in alarms {
        if !decision.is_dispatched(&alarm.message_id)? {
            let alarm = NewDispatch { kind: DispatchKind::Alarm, ..alarm };
            decision.draft.settlement.dispatches.push(alarm);
        }
    }
    Ok(decision.draft.settlement)
}

/// Tells the GM that the house cannot play its turn in a match. Another daemon may have told of the same turn.
pub fn house_stuck(
    settings: &Settings,
    context: &RulingContext,
    match_id: &str,
    phase_no: u32,
) -> Decided<Settlement> {
    let mut decision = Decision::new(settings, context);
    let Some(loaded) = decision.game_match(match_id)?.cloned() else { return Ok(Settlement::default()) };
    let letter = ClubLetter::HouseStuck { match_id: match_id.to_owned() };
    let unique = format!("house.{match_id}.{phase_no}");
    let alarms = decision.gm_alarms(&letter, &unique, About::Match(&loaded))?;
    for alarm in alarms {
        if !decision.is_dispatched(&alarm.message_id)? {
            decision.draft.settlement.dispatches.push(alarm);
        }
    }
    Ok(decision.draft.settlement)
}

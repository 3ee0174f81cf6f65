//! Alarms: letters that tell the GMs about trouble at once. A GM gets one of each kind per hour, which says
//! how many others were left out since the last; hourly upkeep reports those that no other alarm followed.
//!
//! Letters that carry a player's words, a protest or a question are not alarms, and have no such limit.

use super::budgets;
use super::gms::{self, GmTopic};
use crate::config::Gm;
use crate::config::GmIndex;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, or_lacking};
use crate::referee::DispatchKind;
use crate::report::{ClubLetter, Trouble};
use crate::store::{NewDispatch, Urgency};

/// Tells the GMs who read about a subject that there is trouble.
pub fn tell(desk: &mut Desk<'_>, trouble: &Trouble, unique: &str, about: GmTopic<'_>) -> Decided<()> {
    for reader in gms::readers_about(desk, about)? {
        if let Some(more) = budgets::take_alarm(desk, &subject(trouble.kind(), gms::gm(desk, reader)))? {
            push(desk, reader, trouble.clone(), more, unique)?;
        }
    }
    Ok(())
}

/// Like [`tell`], for trouble that another daemon may have reported already.
pub fn tell_once(desk: &mut Desk<'_>, trouble: &Trouble, unique: &str, about: GmTopic<'_>) -> Decided<()> {
    for reader in gms::readers_about(desk, about)? {
        let message_id = desk.club.stationery.message_id(gms::token_of_gm(desk, reader), unique);
        if !desk.is_dispatched(&message_id)?
            && let Some(more) = budgets::take_alarm(desk, &subject(trouble.kind(), gms::gm(desk, reader)))?
        {
            push(desk, reader, trouble.clone(), more, unique)?;
        }
    }
    Ok(())
}

/// Tells each GM how many alarms of each kind were left out in earlier hours, unless a later alarm of that
/// kind has said so.
pub fn tell_left_out(desk: &mut Desk<'_>) -> Decided<()> {
    for reader in gms::all_gms(desk) {
        for kind in Trouble::kinds() {
            let subject = subject(kind, gms::gm(desk, reader));
            if or_lacking(budgets::left_out(desk, &subject))?.unwrap_or_default() == 0 {
                continue;
            }
            if let Some(Some(more)) = or_lacking(budgets::take_rest_of_alarms(desk, &subject))? {
                let unique = format!("more.{kind}.{}", desk.at().timestamp_millis());
                push(desk, reader, Trouble::More { of: kind.to_owned() }, more, &unique)?;
            }
        }
    }
    desk.rows.check()
}

fn push(desk: &mut Desk<'_>, reader: GmIndex, trouble: Trouble, more: u32, unique: &str) -> Decided<()> {
    let letter = ClubLetter::Trouble { trouble, more };
    let alarm = gms::gm_dispatch(desk, reader, &letter, unique, None)?;
    let alarm = NewDispatch { kind: DispatchKind::Alarm, urgency: Urgency::Alarm, ..alarm };
    desk.draft.changes.dispatches.push(alarm);
    Ok(())
}

/// Returns the subjects of the counts of alarms about letters that are set aside.
pub fn subjects_of_set_aside(gms: &[Gm]) -> impl Iterator<Item = String> {
    gms.iter().map(|gm| subject(Trouble::SET_ASIDE, gm))
}

/// Returns the subject of the counts of a GM's alarms of one kind.
fn subject(kind: &str, gm: &Gm) -> String {
    format!("alarm {kind} {}", gm.address)
}

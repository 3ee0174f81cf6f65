//! Letters that did not reach their reader: bounces, absence notes, and dispatches that were given up. A
//! bounce moves a deadline once. After two bounces, no turn of the seat counts as missed until the GM has
//! decided.

use super::alarms;
use super::gms::GmTopic;
use super::ruling_mail;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, or_lacking};
use crate::letter::{Automatic, AutomaticKind};
use crate::post::without_addresses;
use crate::referee::Act;
use crate::report::Trouble;
use crate::store::{DispatchRow, Player};

/// The start of the note on an automatic letter about one of our letters in a match.
pub const MATCHED_NOTE: &str = "about one of our letters: ";

/// An outcome of sending a dispatch that concerns others than the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendingOutcome {
    /// The dispatch is given up. The GM is told, and the seat is marked if the cause is the recipient rather
    /// than the letter.
    GivenUp { error: String, is_undeliverable: bool },
    /// The dispatch was given up, but is queued again.
    Requeued,
    /// The dispatch opened a phase, and the server accepted it late.
    Late,
}

/// Applies the effects of an event in sending a dispatch.
pub fn follow_up(desk: &mut Desk<'_>, row: &DispatchRow, event: &SendingOutcome) -> Decided<()> {
    match event {
        SendingOutcome::GivenUp { error, is_undeliverable } => {
            tell_of_given_up(desk, row, error, *is_undeliverable)
        }
        SendingOutcome::Requeued => restore(desk, row),
        SendingOutcome::Late => slide_for(desk, row),
    }
}

/// Whether an automatic letter reports a failed delivery (`true`) or an absence (`false`). Returns `None` for
/// neither.
pub fn reports_failure(automatic: &Automatic) -> Option<bool> {
    match automatic.kind {
        AutomaticKind::Failed => Some(true),
        AutomaticKind::Absence => Some(false),
        AutomaticKind::Delayed | AutomaticKind::Other => None,
    }
}

/// Marks the seats whose letters an automatic letter refers to. Returns whether it refers to one of our
/// letters.
pub fn note_automatic(desk: &mut Desk<'_>, automatic: &Automatic) -> Decided<bool> {
    let Some(failed) = reports_failure(automatic) else { return Ok(false) };
    let mut about: Vec<&str> = automatic.about.iter().map(String::as_str).collect();
    // Nobody else knows a letter's own return path, so it proves the letter, whatever address the bounce names.
    let mut proven = Vec::new();
    for id in &automatic.return_ids {
        let found = or_lacking(desk.rows.returned_to(id.as_str()))?.flatten();
        proven.extend(found);
        // A bounce often names a letter twice, by its Message-ID and by its return path.
        about.extend(found.filter(|message_id| !automatic.about.iter().any(|id| id == message_id)));
    }
    let mut is_matched = false;
    for message_id in about {
        if let Some(Some(row)) = or_lacking(desk.rows.dispatch(message_id))?
            && (proven.contains(&message_id) || automatic.may_be_about(message_id, &row.recipient))
        {
            is_matched |= row.match_id.is_some();
            or_lacking(mark(desk, row, failed))?;
        }
    }
    desk.rows.check()?;
    Ok(is_matched)
}

/// Tells the GM about a dispatch that was given up, and marks its seat if the recipient is the cause.
fn tell_of_given_up(
    desk: &mut Desk<'_>,
    row: &DispatchRow,
    error: &str,
    is_undeliverable: bool,
) -> Decided<()> {
    if is_undeliverable {
        mark(desk, row, true)?;
    }
    // A letter to the GM about a failed letter to the GM would fail as well.
    if !desk.club.config.club.gm.addresses().any(|gm| gm.as_str() == row.recipient) {
        let trouble = Trouble::GivenUp {
            recipient: row.recipient.clone(),
            kind: row.kind,
            match_id: row.match_id.clone(),
            error: error.to_owned(),
            is_undeliverable,
            is_player: desk.player(&row.recipient)?.is_some(),
        };
        let loaded = match &row.match_id {
            Some(id) => desk.game_match(id)?.cloned(),
            None => None,
        };
        let about = loaded.as_ref().map_or(GmTopic::Club, GmTopic::Match);
        // The time is part of the Message-ID, because a letter can be queued again and given up again.
        let unique = format!("f.{}.{}", row.id, desk.at().timestamp_millis());
        alarms::tell(desk, &trouble, &unique, about)?;
    }
    let error = without_addresses(error);
    tracing::error!(dispatch_id = row.id, kind = %row.kind, attempts = row.tries, error, "gave up sending");
    Ok(())
}

fn slide_for(desk: &mut Desk<'_>, row: &DispatchRow) -> Decided<()> {
    let (Some(id), Some(seat)) = (&row.match_id, row.seat) else { return Ok(()) };
    let Some(loaded) = desk.game_match(id)?.cloned() else { return Ok(()) };
    let act = Act::SentLate { seat, written: row.created_at };
    let ruling = ruling_mail::act(desk, &loaded.game_match, act);
    if ruling.rejection.is_none() {
        tracing::info!(match_id = id, %seat, "deadline moved, because a letter was sent late");
        ruling_mail::record_ruling(desk, loaded, ruling)?;
    }
    Ok(())
}

/// Notes that letters to the seat of a dispatch arrive again.
fn restore(desk: &mut Desk<'_>, row: &DispatchRow) -> Decided<()> {
    let (Some(id), Some(seat)) = (&row.match_id, row.seat) else { return Ok(()) };
    let Some(loaded) = desk.game_match(id)?.cloned() else { return Ok(()) };
    let player = desk.latest(loaded.seats[seat].player.clone());
    if !loaded.game_match.bouncing[seat] || !player.addresses.contains(&row.recipient) {
        return Ok(());
    }
    let ruling = ruling_mail::act(desk, &loaded.game_match, Act::Restored(seat));
    if ruling.rejection.is_none() {
        ruling_mail::record_ruling(desk, loaded, ruling)?;
    }
    if player.bouncing {
        desk.draft.changes.players.push(Player { bouncing: false, ..player });
    }
    Ok(())
}

/// Marks the seat that a dispatch went to. Two bounces of one dispatch count once; a bounce from somebody who
/// no longer holds the seat does not count.
fn mark(desk: &mut Desk<'_>, row: &DispatchRow, failed: bool) -> Decided<()> {
    let returned = desk.added(|changes| &changes.returned).find(|id| **id == row.message_id);
    if row.returned || returned.is_some() {
        return Ok(());
    }
    if failed {
        desk.draft.changes.returned.push(row.message_id.clone());
    }
    let (Some(id), Some(seat)) = (&row.match_id, row.seat) else { return Ok(()) };
    let Some(loaded) = desk.game_match(id)?.cloned() else { return Ok(()) };
    let player = &loaded.seats[seat].player;
    if !player.addresses.contains(&row.recipient) {
        return Ok(());
    }
    let player = desk.latest(player.clone());
    let act = match failed {
        true => Act::Bounced { seat, sent: row.created_at },
        false => Act::Away(seat),
    };
    let ruling = ruling_mail::act(desk, &loaded.game_match, act);
    if ruling.rejection.is_none() {
        tracing::info!(match_id = id, %seat, failed, "a letter did not reach its reader");
        ruling_mail::record_ruling(desk, loaded, ruling)?;
    }
    if failed && !player.bouncing {
        desk.draft.changes.players.push(Player { bouncing: true, ..player });
    }
    Ok(())
}

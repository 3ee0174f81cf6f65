//! Checks our letters: the rulings that sent them, their recipients, and their deliveries.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::holders::ExpectedDispatch;
use super::state::{Check, SentLetter, Unconfirmed};
use crate::audit::Place;
use crate::ledger::{Delivery, Head, PinnedKind, PlaceInMatch, unique_start};
use crate::letter::Digest;
use crate::referee::Ruling;
use crate::report::envelope;

/// Moves the letters of the last ruling to `expected`, with these digests. Returns whether as many were sent.
pub(super) fn confirm(check: &mut Check, pins: &[Digest], expected: &mut Vec<ExpectedDispatch>) -> bool {
    let unconfirmed = std::mem::replace(&mut check.unconfirmed, Unconfirmed::Repeated(Vec::new()));
    let sent = match unconfirmed {
        Unconfirmed::Repeated(sent) if sent.len() == pins.len() => sent,
        Unconfirmed::Repeated(_) => return false,
        Unconfirmed::Unrepeated { head, at } => sent_by(check, head, at, pins.len()),
    };
    for (dispatch, &pin) in sent.into_iter().zip(pins) {
        let stored = dispatch.as_ref().map(|dispatch| SentLetter::of(&dispatch.stored));
        check.undelivered.insert(pin, stored);
        // A missing letter has already been reported.
        let Some(dispatch) = dispatch else { continue };
        expected.push(ExpectedDispatch { pin, ..dispatch });
    }
    if let Some(game_match) = &mut check.current {
        game_match.note_pins(pins.to_vec());
    }
    true
}

/// Compares the deliveries that the first pending entry lists with the stored ones, and notes them in the
/// match.
pub(super) fn note_deliveries(check: &mut Check, seq: u64) {
    let Some(first) = check.pending.front() else { return };
    let delivered = first.link.delivered.clone();
    for Delivery { letter, at, how: _ } in &delivered {
        match check.undelivered.remove(letter) {
            None => {
                check.report(Place::Entry(seq), "it lists the delivery of a letter that was not sent before")
            }
            Some(Some(SentLetter { message_id, sent_at })) if sent_at != Some(*at) => {
                let what = format!("it is not stored as sent when entry #{seq} says that it was");
                check.report(Place::Sent(message_id), what);
            }
            Some(_) => {}
        }
    }
    if let Some(game_match) = &mut check.current {
        game_match.delivered = delivered;
    }
}

/// Returns the letters that a ruling must have sent, each with the stored one, or `None` if that is missing.
pub(super) fn of_ruling(
    check: &mut Check,
    ruling: &Ruling,
    at: DateTime<Utc>,
) -> Vec<Option<ExpectedDispatch>> {
    let game_match = Arc::new(ruling.after.clone());
    let own_templates: Vec<String> = game_match.own_templates().into_keys().collect();
    let mut expected = Vec::new();
    for (index, dispatch) in ruling.dispatches.iter().enumerate() {
        let unique = envelope::unique_part(&game_match, index);
        let Some(stored) = check.dispatches.remove(&unique) else {
            let kind = envelope::kind(&dispatch.content);
            let what = format!("it is missing: entry #{} caused this {kind}", game_match.head.seq);
            check.report(Place::Sent(unique), what);
            expected.push(None);
            continue;
        };
        let mut dispatch = ExpectedDispatch {
            repeated: Some((Arc::clone(&game_match), dispatch.clone())),
            ..check.expect(stored, game_match.head, at)
        };
        if dispatch.stored.seat.is_some() {
            dispatch.own_templates.clone_from(&own_templates);
        }
        check_recipient(check, &dispatch);
        expected.push(Some(dispatch));
    }
    expected
}

/// Returns the letters sent by a ruling that ends with this entry, in order; `count` is the number of pins.
/// `None` stands for a letter that is withheld, or missing, which is reported.
fn sent_by(check: &mut Check, head: Head, at: DateTime<Utc>, count: usize) -> Vec<Option<ExpectedDispatch>> {
    let mut sent = Vec::new();
    let Some(key) = check.first_key() else { return sent };
    for index in 0..count {
        let start = unique_start(&check.stored.id, &key, head.seq, index);
        let names = |unique: &str| unique.starts_with(&start);
        let stored = check.dispatches.keys().find(|unique| names(unique)).cloned();
        let stored = stored.and_then(|unique| check.dispatches.remove(&unique));
        let Some(stored) = stored else {
            if !is_withheld(check, names) {
                let what = format!("it is missing: entry #{} caused this letter", head.seq);
                check.report(Place::Sent(start), what);
            } else {
                check.verdict.withheld_letters += 1;
            }
            sent.push(None);
            continue;
        };
        let dispatch = check.expect(stored, head, at);
        check_recipient(check, &dispatch);
        sent.push(Some(dispatch));
    }
    sent
}

/// Whether a letter with this place in the match is withheld because it went to a forgotten or former player.
fn is_withheld(check: &Check, names: impl Fn(&str) -> bool) -> bool {
    let Some(key) = check.first_key() else { return false };
    check.withheld.sent.iter().any(|(message_id, seat)| {
        let place = PlaceInMatch::read(message_id, &check.stored.id, &key);
        place.is_some_and(|place| names(place.unique))
            && seat.is_none_or(|seat| check.withheld.seats.contains(&seat))
    })
}

/// Checks that one of our letters went to an address of the seat's player, and bears the seat's token.
fn check_recipient(check: &mut Check, dispatch: &ExpectedDispatch) {
    let Some(seat) = dispatch.stored.seat else { return };
    let at = Some(dispatch.at);
    let place = Place::Sent(dispatch.stored.message_id.clone());
    if !check.holders.had(seat, PinnedKind::Address, &dispatch.stored.recipient, at) {
        check.report(place, "it went to an address that no entry pins as one of the seat's player");
    } else if !check.holders.had(seat, PinnedKind::Token, &dispatch.token, at) {
        check.report(place, "its reply token is not the one that an entry pins for the seat");
    }
}

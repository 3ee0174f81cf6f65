//! Compares the data stored beside the ledger with the repeated match.
//!
//! Names the first entry that differs from the repeated ruling, and the differing fields.
//!
//! Accepts deadlines computed with other versions of the time zone data: a country that changes its rules
//! must not make ledgers look forged.

use std::collections::{BTreeSet, VecDeque};

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use serde_json::Value;

use super::holders::StoredPlayer;
use super::play::Play;
use super::reader::PendingEntry;
use super::state::Check;
use crate::audit::{Finding, Place};
use crate::game::Seat;
use crate::ledger::{Cause, ChainedEntry, Entry, Fact, PinnedKind};
use crate::referee::{Match, Ruling, Stage, move_deadline};
use crate::zone;

/// Compares the stored match with the repeated one.
pub(super) fn check_match(check: &mut Check) {
    if let Some(play) = check.play.take() {
        return check_play(check, &play);
    }
    let Some(mut current) = check.current.take() else { return };
    adopt_local(check, &mut current);
    let stored = &check.stored;
    let repeated = serde_json::to_string(&current).expect("a match is plain values");
    if repeated != stored.snapshot {
        let what = match check.snapshot.as_ref().map(|game_match| game_match.head.seq) {
            Some(seq) if seq > current.head.seq => {
                format!("it includes entry #{seq}, but the ledger ends with #{}", current.head.seq)
            }
            Some(_) | None => {
                format!("the repeated match differs in {}", differing_json(&repeated, &stored.snapshot))
            }
        };
        check.report(Place::Kept("the snapshot"), what);
    } else {
        check_lists(check, &current, current.stage == Stage::Over);
    }
}

/// Compares a match whose last rulings were not repeated with the play that the entries record.
fn check_play(check: &mut Check, play: &Play) {
    let Some(snapshot) = check.snapshot.take() else { return };
    let is_over = play.state().outcome().is_some();
    if snapshot.head != check.head {
        check.report(Place::Kept("the snapshot"), "its head is not the last entry of the ledger");
    } else if snapshot.state != *play.state() || (snapshot.stage == Stage::Over) != is_over {
        check.report(Place::Kept("the snapshot"), "its position is not the one that the entries lead to");
    } else {
        check_lists(check, &snapshot, is_over);
    }
}

/// Compares what lists show of the match with the match itself, and its stored end with the entries.
fn check_lists(check: &mut Check, game_match: &Match, is_over: bool) {
    if (&check.stored.overview, check.stored.wake_at) != (&game_match.overview(), game_match.wake_at()) {
        let what =
            "its game, stage, next wake-up, or something else that lists show, differs from its snapshot";
        return check.report(Place::Kept("the match"), what);
    }
    let has_other_player = |seat: &Seat| {
        let own = StoredPlayer {
            name: game_match.players[*seat].clone(),
            settings: game_match.settings[*seat].clone(),
        };
        check.seats[*seat].player.as_ref().is_some_and(|player| *player != own)
    };
    if !is_over && let Some(seat) = Seat::BOTH.into_iter().find(has_other_player) {
        let what = format!("the name or the settings of the {seat} seat's player are not those of the match");
        return check.report(Place::Kept("the players"), what);
    }
    // A correction after which the match is still over may keep the time of its first end.
    let is_end = match check.stored.ended_at {
        Some(ended_at) => is_over && check.ends.contains(&ended_at),
        None => !is_over || check.ends.is_empty(),
    };
    if !is_end {
        let what = "it is not stored as ended when the ledger says that it did";
        check.report(Place::Kept("the match"), what);
    }
}

/// Compares the stored seats with the pins in the last entries.
pub(super) fn check_seats(check: &mut Check) {
    for (seat, stored) in check.seats.clone().iter() {
        let has = |kind, value: &str| check.holders.had(seat, kind, value, None);
        let has_token = has(PinnedKind::Token, &stored.token);
        let are_pinned = check.withheld.seats.contains(&seat)
            || stored.addresses.iter().all(|own| has(PinnedKind::Address, own))
                && stored.addresses.len() == check.holders.address_count(seat);
        if !has_token {
            let what = format!("the token of the {seat} seat is not the pinned one");
            check.report(Place::Kept("the seats"), what);
        } else if !are_pinned {
            let what = format!("the player of the {seat} seat, or an address, is not as the ledger pins it");
            check.report(Place::Kept("the seats"), what);
        }
    }
}

/// Returns the first pending entry that differs from those of the repeated ruling, and removes the ones
/// before it.
pub(super) fn first_difference(pending: &mut VecDeque<PendingEntry>, ruling: &Ruling) -> Option<Finding> {
    let cause = ruling.entries.first().and_then(|first| first.entry.own_cause());
    let cause = cause.map(describe).unwrap_or_default();
    for ChainedEntry { entry, json: repeated, .. } in &ruling.entries {
        let place = Place::Entry(entry.seq);
        let Some(found) = pending.pop_front() else {
            let what = format!("it is missing: {} should follow from {cause}", entry.fact.kind());
            return Some(Finding { place, what });
        };
        if *repeated != found.json {
            let fields = differing_json(repeated, &found.json);
            let what = format!("the repeated ruling on {cause} differs in {fields}");
            return Some(Finding { place, what });
        }
    }
    None
}

/// Describes a cause for people.
fn describe(cause: &Cause) -> String {
    match cause {
        Cause::Letter(cause) => format!("letter {}", cause.letter),
        Cause::Clock { .. } => "the clock".to_owned(),
        Cause::Gm { name, .. } => format!("an act of the GM {name}"),
        Cause::House { .. } => "a turn of the house".to_owned(),
        Cause::Program { .. } => "an act of the referee".to_owned(),
    }
}

/// Returns the names of the fields in which two JSON texts differ.
pub(super) fn differing_json(one: &str, other: &str) -> String {
    let one: Value = serde_json::from_str(one).unwrap_or_default();
    let other: Value = serde_json::from_str(other).unwrap_or_default();
    let mut names = Vec::new();
    differing_fields("", &one, &other, &mut names);
    if names.is_empty() { "its form".to_owned() } else { names.join(", ") }
}

/// Collects the names of differing fields, two levels deep: `body.orders`.
fn differing_fields(prefix: &str, one: &Value, other: &Value, names: &mut Vec<String>) {
    let (Value::Object(one), Value::Object(other)) = (one, other) else { return };
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    for key in keys {
        if one.get(key) == other.get(key) {
            continue;
        }
        let before = names.len();
        if let (Some(one), Some(other), true) = (one.get(key), other.get(key), prefix.is_empty()) {
            differing_fields(&format!("{key}."), one, other, names);
        }
        if names.len() == before {
            names.push(format!("{prefix}{key}"));
        }
    }
}

/// The maximum difference between local clocks: a day may begin up to 26 hours earlier or later elsewhere.
const MOST: TimeDelta = TimeDelta::hours(26);

/// Replaces the deadlines of a repeated ruling with the recorded ones, if the recorded ruling was made with
/// other time zone data and they differ by no more than clocks can.
pub(super) fn adopt_recorded(check: &Check, ruling: &mut Ruling) {
    // The entry that opens a match names the version of the time zone data itself.
    let then = check.current.as_ref().unwrap_or(&ruling.after);
    if then.mail_identity.tzdata == zone::edition() {
        return;
    }
    let mut previous = None;
    for (repeated, recorded) in ruling.entries.iter_mut().zip(&check.pending) {
        let mut entry = repeated.entry.clone();
        if let Some(previous) = previous {
            entry.prev = previous;
        }
        if let Ok(recorded) = serde_json::from_str::<Entry>(&recorded.json) {
            adopt_deadline(&mut entry.fact, recorded.fact, &mut ruling.after, entry.at);
        }
        *repeated = ChainedEntry::from(entry);
        previous = Some(repeated.hash);
    }
    if let Some(last) = ruling.entries.last() {
        ruling.after.head.hash = last.hash;
    }
}

/// Replaces the local time of the deadline, and of the end of a choice, with the stored one, if other zone data were in
/// force before and they differ by no more than clocks can. No ruling depends on it: the cause of one that keeps it names
/// the deadline.
pub(super) fn adopt_local(check: &Check, repeated: &mut Match) {
    let Some(stored) = check.snapshot.as_ref().filter(|_| check.has_other_zones) else { return };
    adopt_time(&mut repeated.local_deadline, stored.local_deadline);
    if let Some(vanished) = &mut repeated.vanished {
        adopt_time(&mut vanished.local_until, stored.vanished.and_then(|stored| stored.local_until));
    }
}

fn adopt_time(here: &mut Option<NaiveDateTime>, there: Option<NaiveDateTime>) {
    if here.zip(there).is_some_and(|(here, there)| (here - there).abs() <= MOST) {
        *here = there;
    }
}

/// Moves the deadline that a fact of a ruling at `at` sets, also in the match after it.
fn adopt_deadline(repeated: &mut Fact, mut recorded: Fact, after: &mut Match, at: DateTime<Utc>) {
    let (Some(repeated), Some(recorded)) = (deadline_in(repeated), deadline_in(&mut recorded)) else {
        return;
    };
    if (*recorded - *repeated).abs() > MOST {
        return;
    }
    if after.deadline == Some(*repeated) {
        move_deadline(after, *recorded, at);
    }
    if let Some(vanished) = after.vanished.as_mut().filter(|vanished| vanished.until == *repeated) {
        vanished.until = *recorded;
    }
    *repeated = *recorded;
}

/// Returns the deadline that a fact sets by a local time.
fn deadline_in(fact: &mut Fact) -> Option<&mut DateTime<Utc>> {
    match fact {
        Fact::DeadlineSet { deadline, .. }
        | Fact::DeadlineExtended { deadline, .. }
        | Fact::BankDayTaken { deadline, .. } => Some(deadline),
        Fact::SubstituteOffered { until, .. } => Some(until),
        Fact::MatchResumed { deadline } => deadline.as_mut(),
        _ => None,
    }
}

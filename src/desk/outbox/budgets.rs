//! Budgets: the number of letters that one address, one seat, or the club may cause. Letters beyond a budget
//! are delayed by up to a day; those that do not fit in even then are left out, and the next letter to the
//! same reader says so.
//!
//! Answers to letters with a token have a budget for each seat, answers to letters without one have a budget
//! for each address and one for the club, and letters caused by other people have a budget for each reader.
//! Reports, results and reminders have none. The counts are rows, so several daemons share them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};

use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::game::Seat;
use crate::ledger::Allowance;
use crate::store::{BudgetKey, BudgetKind, NewDispatch};

/// The subject of the counts of the whole club.
pub const CLUB: &str = "";

/// The subject of the answers to the GM.
pub const GM: &str = "gm";

/// Maximum answers per hour to one seat.
const SEAT_ANSWERS: u32 = 200;

/// Maximum answers per hour to all letters without a token.
const CLUB_ANSWERS: u32 = 200;

/// Maximum further answers per hour, each of which is the first in 24 hours to its address.
const FIRST_ANSWERS: u32 = 200;

/// Maximum identical answers per hour to the same text. One more is sent an hour later.
pub const EQUAL_ANSWERS: u32 = 3;

/// [`EQUAL_ANSWERS`] for a GM, who may look at one list again and again in an hour of work.
pub const EQUAL_ANSWERS_TO_GM: u32 = 20;

/// Maximum letters per day to one reader that are caused by people whom the reader does not play.
const FROM_OTHERS: u32 = 10;

/// Maximum letters per day to one reader that are caused by one opponent.
const FROM_OPPONENT: u32 = 20;

/// Maximum people a newcomer can have us write to per day.
pub const NEWCOMERS_REACH: u32 = 3;

/// Maximum letters per day in which a player can change settings: each adds an entry to all of the player's
/// running matches.
pub const SETTINGS_CHANGES: u32 = 20;

/// Maximum alarms of one kind per hour to one GM.
const ALARMS: u32 = 1;

/// Maximum hours by which an answer is delayed.
const DELAY_HOURS: i32 = 24;

/// The time at which a letter may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Now,
    Later(DateTime<Utc>),
}

impl Slot {
    /// Returns the slot in the `n`th hour or day after the present one, which begins at `begins`.
    fn of(n: i32, begins: DateTime<Utc>) -> Slot {
        if n == 0 { Slot::Now } else { Slot::Later(begins) }
    }

    /// Delays a letter until its slot.
    pub fn apply(self, dispatch: &mut NewDispatch) {
        match self {
            Slot::Now => {}
            Slot::Later(due) => dispatch.due = Some(due),
        }
    }
}

/// The person who causes a letter to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A player whom the reader plays, or who writes to the GM about a match.
    Opponent(i64),
    /// Anybody else.
    Other,
}

/// Returns the beginning of the hour of `at`.
pub fn start_of_hour(at: DateTime<Utc>) -> DateTime<Utc> {
    at.duration_trunc(TimeDelta::hours(1)).expect("hours divide the time since 1970")
}

/// Returns the subject of a seat's counts.
pub fn seat_subject(match_id: &str, seat: Seat) -> String {
    format!("{match_id} {seat}")
}

/// Takes a slot for an answer to a letter without a token, or returns `None` if there is none within a day.
pub fn take_answer_slot(desk: &mut Desk<'_>, address: &str) -> Decided<Option<Slot>> {
    let most = desk.club.config.letters.answers_per_hour;
    // If the config allows one address more than the club's limit, raise the club's limit to the same number.
    let of_club = most.max(CLUB_ANSWERS);
    let since = desk.at() - TimeDelta::days(1);
    let earlier = desk.rows.budget(address)?.iter();
    let mut earlier = earlier
        .filter(|((kind, period), used)| *kind == BudgetKind::Address && *period > since && **used > 0);
    let is_first =
        earlier.next().is_none() && used_count(desk, address, BudgetKind::Address, hour(desk, 0))? == 0;
    for n in 0..=DELAY_HOURS {
        let hour = hour(desk, n);
        if used_count(desk, address, BudgetKind::Address, hour)? >= most {
            continue;
        }
        // A flood of forged letters uses up the club's budget. Even then, somebody who writes for the first
        // time must get an answer.
        let (kind, room) = match used_count(desk, CLUB, BudgetKind::Club, hour)? < of_club {
            true => (BudgetKind::Club, of_club),
            false => (BudgetKind::First, FIRST_ANSWERS),
        };
        if kind == BudgetKind::First && (!is_first || used_count(desk, CLUB, kind, hour)? >= room) {
            continue;
        }
        count(desk, address, BudgetKind::Address, hour, most);
        count(desk, CLUB, kind, hour, room);
        return Ok(Some(Slot::of(n, hour)));
    }
    Ok(None)
}

/// Returns the slot for an answer to a letter with a token, or `None` if there is none within a day.
pub fn slot_with_token(desk: &Desk<'_>, subject: &str) -> Decided<Option<Slot>> {
    for n in 0..=DELAY_HOURS {
        let hour = hour(desk, n);
        if used_count(desk, subject, BudgetKind::Seat, hour)? < most_with_token(desk) {
            return Ok(Some(Slot::of(n, hour)));
        }
    }
    Ok(None)
}

/// Counts an answer to a letter with a token.
pub fn count_with_token(desk: &mut Desk<'_>, subject: &str, slot: Slot) {
    let hour = match slot {
        Slot::Now => hour(desk, 0),
        Slot::Later(due) => start_of_hour(due),
    };
    count(desk, subject, BudgetKind::Seat, hour, most_with_token(desk));
}

/// Returns the slot of an answer that was given `times` times within this hour. The first one beyond `most`
/// is delayed, and stands for all further ones, which get `None`.
pub fn slot_after(desk: &Desk<'_>, times: u32, most: u32) -> Option<Slot> {
    match times.cmp(&most) {
        Ordering::Less => Some(Slot::Now),
        Ordering::Equal => Some(Slot::Later(desk.at() + TimeDelta::hours(1))),
        Ordering::Greater => None,
    }
}

/// Returns the slot of an answer by the number of equal ones. `said` identifies the answer and the text that
/// it answers, and `subject` the people whose answers are counted.
pub fn slot_of_equal(desk: &Desk<'_>, subject: &str, said: &str, most: u32) -> Decided<Option<Slot>> {
    let mut given = 0;
    for n in 0..=DELAY_HOURS {
        given += used_count(desk, subject, BudgetKind::Address, hour(desk, n))?;
        given += used_count(desk, subject, BudgetKind::Seat, hour(desk, n))?;
    }
    // Look this up only if it may matter: the text is not known in advance, so looking up its count costs
    // another round.
    let times = if given < most { given } else { used_count(desk, said, BudgetKind::Equal, hour(desk, 0))? };
    Ok(slot_after(desk, times, most))
}

/// Counts an answer among equal ones.
pub fn count_equal(desk: &mut Desk<'_>, said: &str, most: u32) {
    count(desk, said, BudgetKind::Equal, hour(desk, 0), most + 1);
}

/// Delays a letter that somebody else causes until its reader has room for it, and counts it. Returns whether
/// there is room within a day.
pub fn take_slot_for_others(
    desk: &mut Desk<'_>,
    dispatch: &mut NewDispatch,
    origin: Origin,
) -> Decided<bool> {
    let [left_today, left_tomorrow] = left_for_others(desk, &dispatch.recipient, origin)?;
    let days = match (left_today, left_tomorrow) {
        (1.., _) => 0,
        (0, 1..) => 1,
        (0, 0) => return Ok(false),
    };
    let day = today(desk) + TimeDelta::days(1) * days;
    Slot::of(days, day).apply(dispatch);
    let (subject, kind, most) = counted_for(&dispatch.recipient, origin);
    count(desk, &subject, kind, day, most);
    Ok(true)
}

/// Sends a letter that somebody else causes, at once or the next day. Returns whether there is room for it.
pub fn send_for_others(desk: &mut Desk<'_>, mut dispatch: NewDispatch, origin: Origin) -> Decided<bool> {
    let has_room = take_slot_for_others(desk, &mut dispatch, origin)?;
    if has_room {
        desk.draft.changes.dispatches.push(dispatch);
    }
    Ok(has_room)
}

/// Like [`send_for_others`], for somebody whom the reader does not play, but sends nothing if the letter was
/// sent already.
pub fn send_once_for_others(desk: &mut Desk<'_>, dispatch: NewDispatch) -> Decided<()> {
    if !desk.is_dispatched(&dispatch.message_id)? {
        send_for_others(desk, dispatch, Origin::Other)?;
    }
    Ok(())
}

/// Returns the room that `reader` has for notices caused by `origin`.
pub fn allowance_for_others(desk: &Desk<'_>, reader: &str, origin: Origin) -> Decided<Allowance> {
    let [today, tomorrow] = left_for_others(desk, reader, origin)?;
    let left = u8::try_from(today.saturating_add(tomorrow)).unwrap_or(Allowance::MOST);
    Ok(Allowance::Letters(left.min(Allowance::MOST)))
}

/// Returns how many other people a newcomer may still make the referee write to today.
pub fn reach_left(desk: &Desk<'_>, address: &str) -> Decided<u32> {
    let used = used_count(desk, address, BudgetKind::Newcomer, today(desk))?;
    Ok(NEWCOMERS_REACH.saturating_sub(used))
}

pub fn count_reach(desk: &mut Desk<'_>, address: &str) {
    count(desk, address, BudgetKind::Newcomer, today(desk), NEWCOMERS_REACH);
}

/// Reserves room for an alarm in the current hour, and returns how many were left out since the last one. If
/// there is no room, returns `None`, and counts this one as left out.
pub fn take_alarm(desk: &mut Desk<'_>, subject: &str) -> Decided<Option<u32>> {
    let taken = take_rest_of_alarms(desk, subject)?;
    if taken.is_none() {
        count(desk, subject, BudgetKind::LeftOut, hour(desk, 0), u32::MAX);
    }
    Ok(taken)
}

/// Reserves room for an alarm in the current hour, and returns how many were left out since the last one. If
/// there is no room, returns `None`.
pub fn take_rest_of_alarms(desk: &mut Desk<'_>, subject: &str) -> Decided<Option<u32>> {
    let hour = hour(desk, 0);
    if used_count(desk, subject, BudgetKind::Alarm, hour)? >= ALARMS {
        return Ok(None);
    }
    let more = left_out(desk, subject)?;
    count(desk, subject, BudgetKind::Alarm, hour, ALARMS);
    forget_left_out(desk, subject)?;
    Ok(Some(more))
}

/// Counts a letter in which a player changes settings, and returns whether there was room for it today.
pub fn take_settings_change(desk: &mut Desk<'_>, player_id: i64) -> Decided<bool> {
    let (subject, today) = (format!("P-{player_id}"), today(desk));
    let has_room = used_count(desk, &subject, BudgetKind::Settings, today)? < SETTINGS_CHANGES;
    if has_room {
        count(desk, &subject, BudgetKind::Settings, today, SETTINGS_CHANGES);
    }
    Ok(has_room)
}

/// Notes that an answer is left out. Rows are added only for readers who had an answer recently: somebody who
/// forges a new address for each letter must not fill the table.
pub fn note_left_out(desk: &mut Desk<'_>, subject: &str) -> Decided<()> {
    let hour = hour(desk, 0);
    count(desk, CLUB, BudgetKind::LeftOut, hour, u32::MAX);
    if !desk.rows.budget(subject)?.is_empty() {
        count(desk, subject, BudgetKind::LeftOut, hour, u32::MAX);
    }
    Ok(())
}

/// Returns how many answers to a seat or an address, or alarms of a kind, were left out since the last one.
pub fn left_out(desk: &Desk<'_>, subject: &str) -> Decided<u32> {
    Ok(left_out_by_hour(desk, subject)?.into_values().sum())
}

/// Notes that a letter says how many answers were left out, if any were.
pub fn forget_left_out(desk: &mut Desk<'_>, subject: &str) -> Decided<()> {
    for (period, left_out) in left_out_by_hour(desk, subject)?.into_iter().filter(|(_, count)| *count > 0) {
        let key = BudgetKey { subject: subject.to_owned(), kind: BudgetKind::LeftOut, period };
        desk.draft.changes.restraints.count(key, -i64::from(left_out), u32::MAX);
    }
    Ok(())
}

fn used_count(desk: &Desk<'_>, subject: &str, kind: BudgetKind, period: DateTime<Utc>) -> Decided<u32> {
    let stored = desk.rows.budget(subject)?.get(&(kind, period)).copied().unwrap_or_default();
    let key = BudgetKey { subject: subject.to_owned(), kind, period };
    let added: i64 =
        desk.restraints().filter_map(|changed| changed.uses.get(&key)).map(|used| used.added).sum();
    // The sum is below zero if two daemons have reset the same count.
    Ok(u32::try_from(i64::from(stored) + added).unwrap_or_default())
}

fn count(desk: &mut Desk<'_>, subject: &str, kind: BudgetKind, period: DateTime<Utc>, most: u32) {
    let key = BudgetKey { subject: subject.to_owned(), kind, period };
    desk.draft.changes.restraints.count(key, 1, most);
}

/// Returns the beginning of the `n`th hour from now.
fn hour(desk: &Desk<'_>, n: i32) -> DateTime<Utc> {
    start_of_hour(desk.at()) + TimeDelta::hours(1) * n
}

/// Returns the beginning of today, in UTC.
fn today(desk: &Desk<'_>) -> DateTime<Utc> {
    desk.at().duration_trunc(TimeDelta::days(1)).expect("days divide the time since 1970")
}

/// Returns the maximum answers per hour to one seat. A token never makes the budget smaller.
fn most_with_token(desk: &Desk<'_>) -> u32 {
    desk.club.config.letters.answers_per_hour.max(SEAT_ANSWERS)
}

/// Returns how many letters somebody may still cause to `reader`, today and tomorrow.
fn left_for_others(desk: &Desk<'_>, reader: &str, origin: Origin) -> Decided<[u32; 2]> {
    let (subject, kind, most) = counted_for(reader, origin);
    let first = used_count(desk, &subject, kind, today(desk))?;
    let second = used_count(desk, &subject, kind, today(desk) + TimeDelta::days(1))?;
    Ok([first, second].map(|used| most.saturating_sub(used)))
}

fn left_out_by_hour(desk: &Desk<'_>, subject: &str) -> Decided<BTreeMap<DateTime<Utc>, u32>> {
    let stored = desk.rows.budget(subject)?.keys();
    let added = desk.restraints().flat_map(|changed| changed.uses.keys());
    let added = added.filter(|key| key.subject == subject);
    let all = stored.copied().chain(added.map(|key| (key.kind, key.period)));
    let hours: BTreeSet<DateTime<Utc>> =
        all.filter(|(kind, _)| *kind == BudgetKind::LeftOut).map(|(_, hour)| hour).collect();
    let mut left_out = BTreeMap::new();
    for hour in hours {
        left_out.insert(hour, used_count(desk, subject, BudgetKind::LeftOut, hour)?);
    }
    Ok(left_out)
}

/// Returns the subject and the kind of the count of letters to `reader`, and the limit per day.
fn counted_for(reader: &str, origin: Origin) -> (String, BudgetKind, u32) {
    match origin {
        Origin::Opponent(player) => (format!("{reader} {player}"), BudgetKind::Opponent, FROM_OPPONENT),
        Origin::Other => (reader.to_owned(), BudgetKind::Others, FROM_OTHERS),
    }
}

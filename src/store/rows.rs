//! Rows as the databases return them, and their conversion to the store's values. Both databases have 64-bit integers,
//! text, bytes and booleans; this module uses nothing else.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::packing::{PackedColumns, unpack, unpack_dispatch};
use super::{
    AnswerRow, Claimed, DispatchRow, InvitationStage, LatestTimes, LetterDecision, LetterQueue, LetterRow,
    LetterStatus, MatchRow, Player, Queues, Result, StoreError, TokenRow, Urgency, WaitingLetter,
};
use crate::game::Seat;
use crate::game::any::GameKind;
use crate::letter::{Digest, ReturnId};
use crate::referee::{DispatchKind, Stage};

/// Rows per statement: 118,000 rows/s, and 17,700 one by one. More rows would gain nothing, and these are far below any
/// limit on parameters.
pub const CHUNK: usize = 64;

/// Whether a statement over this many rows is frequent enough to stay prepared: single rows, and full chunks.
pub fn is_common(rows: usize) -> bool {
    rows == 1 || rows == CHUNK
}

/// Replaces NUL, which PostgreSQL cannot store in text.
pub fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

pub fn texts(texts: &[String]) -> Vec<String> {
    texts.iter().map(|one| text(one).into_owned()).collect()
}

pub fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub fn unsound(what: &str, found: impl std::fmt::Display) -> StoreError {
    StoreError::Unsound(format!("{found} is not a valid {what}"))
}

pub fn count(number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| unsound("count", number))
}

fn tries(number: i64) -> Result<u32> {
    u32::try_from(number).map_err(|_| unsound("number of tries", number))
}

pub fn time(milliseconds: i64) -> Result<DateTime<Utc>> {
    DateTime::from_timestamp_millis(milliseconds).ok_or_else(|| unsound("instant", milliseconds))
}

pub fn maybe_time(milliseconds: Option<i64>) -> Result<Option<DateTime<Utc>>> {
    milliseconds.map(time).transpose()
}

pub fn digest(hex: &str) -> Result<Digest> {
    hex.parse().map_err(|_| unsound("digest", hex))
}

pub fn game(key: &str) -> Result<GameKind> {
    GameKind::parse(key).ok_or_else(|| unsound("game", key))
}

pub fn stage(name: &str) -> Result<Stage> {
    Stage::parse(name).ok_or_else(|| unsound("stage", name))
}

pub fn dispatch_kind(name: &str) -> Result<DispatchKind> {
    DispatchKind::parse(name).ok_or_else(|| unsound("dispatch kind", name))
}

pub fn seat(name: &str) -> Result<Seat> {
    Seat::parse(name).ok_or_else(|| unsound("seat", name))
}

#[derive(FromRow)]
pub struct Waiting {
    pub digest: String,
    bytes: Vec<u8>,
    received_at: i64,
    tries: i64,
    known: i64,
    accepted_by: Option<String>,
    is_spam: bool,
}

impl Waiting {
    pub fn read(self) -> Result<WaitingLetter> {
        Ok(WaitingLetter {
            digest: digest(&self.digest)?,
            // If they were damaged, it is an unreadable letter, which holds up no other.
            raw: unpack(&self.bytes).unwrap_or(self.bytes),
            received_at: time(self.received_at)?,
            tries: tries(self.tries)?,
            queue: if self.known == 1 { LetterQueue::Known } else { LetterQueue::Strangers },
            accepted_by: self.accepted_by,
            is_spam: self.is_spam,
        })
    }
}

#[derive(FromRow)]
pub struct Answer {
    recipient: String,
    message_id: String,
    match_id: Option<String>,
    seat: Option<String>,
    asked: Option<String>,
}

impl Answer {
    pub fn read(self) -> Result<AnswerRow> {
        let asked = self.asked.as_deref().map(digest).transpose()?;
        let seat = self.match_id.zip(self.seat.as_deref().map(seat).transpose()?);
        Ok(AnswerRow { recipient: self.recipient, message_id: self.message_id, seat, asked })
    }
}

#[derive(FromRow)]
pub struct Letter {
    digest: String,
    received_at: i64,
    decided_at: Option<i64>,
    sender: String,
    subject: String,
    size: i64,
    status: String,
    note: String,
    match_id: Option<String>,
    seat: Option<String>,
    bytes_deleted_at: Option<i64>,
}

impl Letter {
    pub fn read(self) -> Result<LetterRow> {
        let place = match (self.match_id, self.seat) {
            (Some(match_id), Some(name)) => Some((match_id, seat(&name)?)),
            (_, _) => None,
        };
        Ok(LetterRow {
            digest: digest(&self.digest)?,
            received_at: time(self.received_at)?,
            decided_at: maybe_time(self.decided_at)?,
            sender: self.sender,
            subject: self.subject,
            size: count(self.size)?,
            status: LetterStatus::parse(&self.status)
                .ok_or_else(|| unsound("letter status", &self.status))?,
            note: self.note,
            seat: place,
            bytes_deleted_at: maybe_time(self.bytes_deleted_at)?,
        })
    }
}

/// A player, with one address.
#[derive(FromRow)]
pub struct PlayerAddress {
    id: i64,
    name: String,
    bouncing: bool,
    settings: String,
    address: Option<String>,
}

impl PlayerAddress {
    /// Merges the rows of each player, which are adjacent, and keeps the order.
    pub fn gather(rows: Vec<PlayerAddress>) -> Result<Vec<Player>> {
        let mut players: Vec<Player> = Vec::new();
        for row in rows {
            match players.last_mut() {
                Some(player) if player.id == row.id => player.addresses.extend(row.address),
                _ => players.push(row.player()?),
            }
        }
        Ok(players)
    }

    fn player(self) -> Result<Player> {
        Ok(Player {
            id: self.id,
            name: self.name,
            addresses: self.address.into_iter().collect(),
            bouncing: self.bouncing,
            settings: serde_json::from_str(&self.settings)
                .map_err(|_| unsound("set of settings", &self.settings))?,
        })
    }
}

/// A seat, with one address of its player.
#[derive(FromRow)]
pub struct SeatAddress {
    token: String,
    match_id: String,
    seat: String,
    #[sqlx(flatten)]
    player: PlayerAddress,
}

impl SeatAddress {
    /// Merges the rows of each seat, which are adjacent, and keeps the order.
    pub fn gather(rows: Vec<SeatAddress>) -> Result<Vec<TokenRow>> {
        let mut seats: Vec<TokenRow> = Vec::new();
        for row in rows {
            match seats.last_mut() {
                Some(last) if last.token == row.token => last.player.addresses.extend(row.player.address),
                _ => seats.push(TokenRow {
                    token: row.token,
                    match_id: row.match_id,
                    seat: seat(&row.seat)?,
                    player: row.player.player()?,
                }),
            }
        }
        Ok(seats)
    }
}

#[derive(FromRow)]
pub struct Dispatch {
    id: i64,
    message_id: String,
    recipient: String,
    kind: String,
    match_id: Option<String>,
    seat: Option<String>,
    created_at: i64,
    due_at: Option<i64>,
    sent_at: Option<i64>,
    tries: i64,
    error: String,
    returned_at: Option<i64>,
}

impl Dispatch {
    pub fn read(self) -> Result<DispatchRow> {
        Ok(DispatchRow {
            id: self.id,
            message_id: self.message_id,
            recipient: self.recipient,
            kind: dispatch_kind(&self.kind)?,
            match_id: self.match_id,
            seat: self.seat.as_deref().map(seat).transpose()?,
            created_at: time(self.created_at)?,
            sent_at: maybe_time(self.sent_at)?,
            tries: tries(self.tries)?,
            given_up: self.sent_at.is_none() && self.due_at.is_none(),
            error: self.error,
            returned: self.returned_at.is_some(),
        })
    }
}

#[derive(FromRow)]
pub struct Invitation {
    code: String,
    inviter: String,
    inviter_name: String,
    invited: Option<String>,
    game: String,
    offer: String,
    stage: String,
    match_id: Option<String>,
    created_at: i64,
    lapses_at: i64,
}

impl Invitation {
    pub fn read(self) -> Result<super::Invitation> {
        Ok(super::Invitation {
            code: self.code,
            inviter: self.inviter,
            inviter_name: self.inviter_name,
            invited: self.invited,
            game: game(&self.game)?,
            offer: self.offer,
            stage: InvitationStage::parse(&self.stage).ok_or_else(|| unsound("stage", &self.stage))?,
            match_id: self.match_id,
            created_at: time(self.created_at)?,
            lapses_at: time(self.lapses_at)?,
        })
    }
}

#[derive(FromRow)]
pub struct DispatchBytes {
    #[sqlx(flatten)]
    dispatch: Dispatch,
    #[sqlx(flatten)]
    packed: PackedColumns,
}

impl DispatchBytes {
    pub fn read(self) -> Result<(DispatchRow, Vec<u8>)> {
        Ok((self.dispatch.read()?, unpack_dispatch(self.packed)?))
    }
}

/// Selects the dispatches that are due at `$2`.
pub const OUTGOING: &str = "SELECT d.id, d.message_id, d.recipient, d.kind, d.match_id, d.tries, d.urgency, d.seat, d.created_at, \
    d.return_id, r.bytes, p.picture, d.dropped \
    FROM dispatch d JOIN dispatch_raw r ON r.dispatch_id = d.id \
    LEFT JOIN dispatch_picture p ON p.dispatch_id = d.id WHERE d.due_at <= $2";

/// The columns of [`PackedColumns`].
pub const PACKED: &str = "r.bytes, p.picture, d.dropped";

/// Joins the tables of a dispatch with its bytes.
pub const WITH_BYTES: &str = "dispatch d JOIN dispatch_raw r ON r.dispatch_id = d.id \
    LEFT JOIN dispatch_picture p ON p.dispatch_id = d.id";

#[derive(FromRow)]
pub struct Outgoing {
    pub id: i64,
    message_id: String,
    recipient: String,
    #[sqlx(flatten)]
    packed: PackedColumns,
    kind: String,
    match_id: Option<String>,
    tries: i64,
    urgency: i64,
    seat: Option<String>,
    created_at: i64,
    return_id: Option<String>,
}

impl Outgoing {
    pub fn read(self) -> Result<Claimed> {
        Ok(Claimed {
            id: self.id,
            message_id: self.message_id,
            recipient: self.recipient,
            bytes: unpack_dispatch(self.packed)?,
            kind: dispatch_kind(&self.kind)?,
            match_id: self.match_id,
            tries: tries(self.tries)?,
            urgency: Urgency::of_number(self.urgency)?,
            seat: self.seat.as_deref().map(seat).transpose()?,
            created_at: time(self.created_at)?,
            return_id: self.return_id.as_deref().and_then(ReturnId::parse),
        })
    }
}

/// Selects [`Counts`].
pub const COUNTS: &str = "SELECT \
    (SELECT COUNT(*) FROM letter WHERE status = 'waiting') AS letters_waiting, \
    (SELECT MIN(received_at) FROM letter WHERE status = 'waiting') AS oldest_letter, \
    (SELECT COUNT(*) FROM dispatch WHERE due_at IS NOT NULL) AS dispatches_waiting, \
    (SELECT MIN(CASE WHEN tries = 0 AND due_at > created_at THEN due_at ELSE created_at END) \
     FROM dispatch WHERE due_at IS NOT NULL) AS oldest_dispatch, \
    (SELECT COUNT(*) FROM dispatch WHERE sent_at IS NULL AND due_at IS NULL) AS given_up, \
    (SELECT COUNT(*) FROM dispatch WHERE sent_at IS NULL AND due_at IS NULL AND seen = 0) AS given_up_unseen, \
    (SELECT COUNT(*) FROM match WHERE stage = 'running') AS matches_running, \
    (SELECT COUNT(*) FROM letter WHERE status = 'set_aside') AS set_aside, \
    (SELECT MIN(wake_at) FROM match WHERE wake_at IS NOT NULL) AS next_wake, \
    (SELECT MAX(wait_until) FROM letter WHERE status = 'waiting') AS latest_letter, \
    (SELECT MAX(due_at) FROM dispatch WHERE due_at IS NOT NULL) AS latest_dispatch, \
    (SELECT MAX(digest_at) FROM player WHERE digest_at IS NOT NULL) AS latest_digest, \
    (SELECT MAX(wake_at) FROM match WHERE wake_at IS NOT NULL) AS latest_wake";

#[derive(FromRow)]
pub struct Counts {
    letters_waiting: i64,
    oldest_letter: Option<i64>,
    dispatches_waiting: i64,
    oldest_dispatch: Option<i64>,
    given_up: i64,
    given_up_unseen: i64,
    matches_running: i64,
    set_aside: i64,
    next_wake: Option<i64>,
    latest_letter: Option<i64>,
    latest_dispatch: Option<i64>,
    latest_digest: Option<i64>,
    latest_wake: Option<i64>,
}

impl Counts {
    pub fn read(self) -> Result<Queues> {
        Ok(Queues {
            letters_waiting: count(self.letters_waiting)?,
            oldest_letter: maybe_time(self.oldest_letter)?,
            dispatches_waiting: count(self.dispatches_waiting)?,
            oldest_dispatch: maybe_time(self.oldest_dispatch)?,
            given_up: count(self.given_up)?,
            given_up_unseen: count(self.given_up_unseen)?,
            matches_running: count(self.matches_running)?,
            set_aside: count(self.set_aside)?,
            next_wake: maybe_time(self.next_wake)?,
            latest: LatestTimes {
                letter: maybe_time(self.latest_letter)?,
                dispatch: maybe_time(self.latest_dispatch)?,
                digest: maybe_time(self.latest_digest)?,
                wake: maybe_time(self.latest_wake)?,
            },
        })
    }
}

/// Splits the matches of a settlement into those that exist and those that are new.
///
/// # Errors
/// [`StoreError::Unsound`] if a match occurs twice: one of its snapshots would be lost.
pub fn partition_matches(matches: &[MatchRow]) -> Result<(Vec<&MatchRow>, Vec<&MatchRow>)> {
    let mut ids = BTreeSet::new();
    if let Some(twice) = matches.iter().find(|row| !ids.insert(&row.id)) {
        return Err(StoreError::Unsound(format!("match {} is twice in one settlement", twice.id)));
    }
    Ok(matches.iter().partition(|row| row.version > 0))
}

/// Checks that a statement found every row that was wanted.
///
/// # Errors
/// [`StoreError::Stale`] if one of `wanted` is not among those `found`; it names the first.
pub fn ensure_all_found(
    what: &str,
    mut wanted: impl Iterator<Item = String>,
    found: Vec<(String,)>,
) -> Result<()> {
    let found: BTreeSet<String> = found.into_iter().map(|(one,)| one).collect();
    match wanted.find(|one| !found.contains(one)) {
        Some(changed) => Err(StoreError::Stale(format!("{what} {changed}"))),
        None => Ok(()),
    }
}

/// Pairs named values with the IDs that the database gave to the names.
pub fn with_ids<'a, T>(
    named: impl Iterator<Item = (&'a str, T)>,
    ids: &[(i64, String)],
) -> Result<Vec<(i64, T)>> {
    let ids: BTreeMap<&str, i64> = ids.iter().map(|(id, name)| (name.as_str(), *id)).collect();
    named
        .map(|(name, value)| {
            Ok((*ids.get(name).ok_or_else(|| unsound("name of an inserted row", name))?, value))
        })
        .collect()
}

/// Returns the columns `match_id` and `seat` of the letter that a decision is about.
pub fn seat_columns(decision: &LetterDecision) -> (Option<&str>, Option<&'static str>) {
    match &decision.seat {
        Some((match_id, seat)) => (Some(match_id), Some(seat.as_str())),
        None => (None, None),
    }
}

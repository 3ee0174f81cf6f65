//! Doubts about the machine's clock. A computer without a battery may start in any year. If the clock is
//! ahead, every deadline would be moved as after an outage of that length, or missed.
//!
//! A jump of the clock, at a start or a wake-up, is therefore doubtful until one witness agrees: a letter in
//! the mailbox, the system's time service, the GM, or a person at the terminal. Until then letters wait in
//! the mailbox, nothing is ruled on or moved, and no mail goes out except alarms.
//!
//! Remembered times that turn out to be wrong.
//!
//! A computer that starts with a wrong clock may note that it last did something ten years from now.
//! Believing that would silently stop the work that depends on it until then.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use mail_parser::{HeaderName, HeaderValue, Host, MessageParser};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::load::{self, read::read};
use super::{Office, commit};
use crate::desk::gm::alarm;
use crate::letter::{Limits, bounded_head};
use crate::post::{FetchedLetter, host_name};
use crate::referee::{self, Instruction};
use crate::request;
use crate::store::{Database, RestoredBackup};

/// A longer jump since the clock was last trusted is doubtful. A shorter one counts as an outage or a
/// correction.
pub const MAX_GAP: TimeDelta = TimeDelta::days(7);

/// Maximum difference between the clock and a witness that agrees with it.
const AGREEMENT: TimeDelta = TimeDelta::days(1);

/// Time for which a process trusts the clock without looking at the database again.
const FRESH: TimeDelta = TimeDelta::minutes(1);

/// The keys under which daemons remember when the clock was last trusted, that time again once the clock is
/// in doubt, when it was confirmed, and the beginning and end of its last jump ahead.
const TRUSTED: &str = "clock trusted";
const DOUBTED: &str = "clock doubted";
const CONFIRMED: &str = "clock confirmed";
const JUMP: &str = "clock jumped";
const ALL_KEYS: &str = "clock ";

/// The file that systemd-timesyncd touches whenever it has set the clock (systemd-timesyncd.service(8)).
const SYNCHRONIZED: &str = "/run/systemd/timesync/synchronized";

/// This process's trust in the clock.
#[derive(Default)]
pub struct ClockTrust {
    /// The time at which it was last established, in Unix milliseconds.
    at: AtomicI64,
    is_doubt_logged: AtomicBool,
    /// Held by the loop that asks the GM, because several loops may notice a doubt at the same time.
    asking: Mutex<()>,
}

impl ClockTrust {
    fn is_fresh(&self, now: DateTime<Utc>) -> bool {
        let age = now.timestamp_millis() - self.at.load(Ordering::Relaxed);
        (0..FRESH.num_milliseconds()).contains(&age)
    }
}

/// Whether the clock is trusted. If it has come into doubt, asks the GM.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn is_trusted(office: &Office) -> anyhow::Result<bool> {
    let now = office.now();
    if office.clock_trust.is_fresh(now) {
        return Ok(true);
    }
    let memos = Memos::read(&office.store).await?;
    match memos.doubtful_since(now) {
        Some(last) => {
            doubt(office, last).await?;
            Ok(false)
        }
        None => {
            trust(office, now, &memos).await?;
            Ok(true)
        }
    }
}

/// Whether these letters may be taken from the mailbox: the clock is trusted, or one of them agrees with it.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn may_take(office: &Office, letters: &[FetchedLetter]) -> anyhow::Result<bool> {
    if is_trusted(office).await? {
        return Ok(true);
    }
    let now = office.now();
    let witness = match letters.iter().find_map(|letter| vouches_for(letter, now)) {
        Some(witness) => witness,
        None if has_answer_of_gm(office, letters).await? => "the GM",
        None => return Ok(false),
    };
    tracing::warn!(witness, "the clock is confirmed");
    confirm(office).await?;
    is_trusted(office).await
}

/// Whether a letter that a mail server pipes in may be stored: the clock is not doubtful, or the letter
/// agrees with it.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn may_store(store: &Database, letter: &FetchedLetter, now: DateTime<Utc>) -> anyhow::Result<bool> {
    if Memos::read(store).await?.doubtful_since(now).is_none() {
        return Ok(true);
    }
    let is_confirmed = vouches_for(letter, now).is_some();
    if is_confirmed {
        store.remember(CONFIRMED, &now.to_rfc3339()).await?;
    }
    Ok(is_confirmed)
}

/// Notes that the clock is right now, on the word of a person or another machine.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn confirm(office: &Office) -> anyhow::Result<()> {
    Ok(office.store.remember(CONFIRMED, &office.now().to_rfc3339()).await?)
}

/// Returns when the clock was last trusted, if it is in doubt at `now`.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn doubted_since(store: &Database, now: DateTime<Utc>) -> anyhow::Result<Option<DateTime<Utc>>> {
    let memos = Memos::read(store).await?;
    // A clock that is right again is no longer in doubt, even if no daemon has noted that yet.
    Ok(memos.time(DOUBTED).filter(|last| (now - *last).abs() > MAX_GAP && !memos.vouch_for(now)))
}

/// The remembered times.
struct Memos(BTreeMap<String, String>);

impl Memos {
    async fn read(store: &Database) -> anyhow::Result<Memos> {
        Ok(Memos(store.remembered_under(ALL_KEYS).await?.into_iter().collect()))
    }

    fn time(&self, key: &str) -> Option<DateTime<Utc>> {
        self.0.get(key)?.parse().ok()
    }

    /// Returns when the clock was last trusted, if it has jumped too far since to be trusted without a
    /// witness.
    fn doubtful_since(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let last = self.time(TRUSTED).filter(|last| (now - *last).abs() > MAX_GAP)?;
        (!self.vouch_for(now) && !is_synchronized(now)).then_some(last)
    }

    /// Returns the time that the clock would show if it had not jumped ahead.
    fn without_jump(&self) -> Option<DateTime<Utc>> {
        let (from, to) = self.0.get(JUMP)?.split_once(" to ")?;
        let from: DateTime<Utc> = from.parse().ok()?;
        let to: DateTime<Utc> = to.parse().ok()?;
        Some(from + (self.time(TRUSTED)? - to))
    }

    /// Whether somebody has confirmed the clock, or it has gone back to where it was before it jumped ahead.
    fn vouch_for(&self, now: DateTime<Utc>) -> bool {
        let is_confirmed = self.time(CONFIRMED).is_some_and(|at| agrees(at, now));
        is_confirmed || self.without_jump().is_some_and(|expected| (now - expected).abs() <= MAX_GAP)
    }
}

fn agrees(witness: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    (witness - now).abs() <= AGREEMENT
}

fn is_synchronized(now: DateTime<Utc>) -> bool {
    let touched = fs::metadata(SYNCHRONIZED).and_then(|file| file.modified());
    touched.is_ok_and(|at| agrees(at.into(), now))
}

async fn trust(office: &Office, now: DateTime<Utc>, memos: &Memos) -> anyhow::Result<()> {
    if let Some(last) = memos.time(TRUSTED).filter(|last| now - *last > MAX_GAP) {
        office.store.remember(JUMP, &format!("{} to {}", last.to_rfc3339(), now.to_rfc3339())).await?;
    }
    office.store.remember(TRUSTED, &now.to_rfc3339()).await?;
    for key in [DOUBTED, CONFIRMED] {
        if memos.0.contains_key(key) {
            office.store.forget(key).await?;
        }
    }
    if memos.0.contains_key(DOUBTED) {
        tracing::warn!("the clock is no longer in doubt");
    }
    office.clock_trust.at.store(now.timestamp_millis(), Ordering::Relaxed);
    office.clock_trust.is_doubt_logged.store(false, Ordering::Relaxed);
    Ok(())
}

async fn doubt(office: &Office, last: DateTime<Utc>) -> anyhow::Result<()> {
    // Log a doubt once, and not at each check of the clock.
    if !office.clock_trust.is_doubt_logged.swap(true, Ordering::Relaxed) {
        let now = office.now();
        tracing::error!(
            %now,
            last_trusted = %last,
            "the clock is in doubt, so nothing is decided or moved; if it is right, run fogpost clock confirm"
        );
    }
    let _others_wait = office.clock_trust.asking.lock().await;
    if Memos::read(&office.store).await?.time(DOUBTED) != Some(last) {
        commit::decide_and_commit(office, move |desk| alarm::clock_doubted(desk, last)).await?;
        // Remember this only once the letter is queued: asking the GM twice is better than never.
        office.store.remember(DOUBTED, &last.to_rfc3339()).await?;
    }
    Ok(())
}

/// Returns the witness in a letter that agrees with the clock: the mailbox that received it, or another
/// machine on its way. The modification time of a Maildir file and the stamps of this machine do not count,
/// because they follow the clock in doubt.
fn vouches_for(letter: &FetchedLetter, now: DateTime<Utc>) -> Option<&'static str> {
    // If the mailbox states no usable time, `received_at` is that of our own clock.
    if letter.origin.starts_with("imap:") && letter.arrivals.iter().any(|at| agrees(*at, now)) {
        return Some("the mailbox");
    }
    let head = bounded_head(&letter.raw, &Limits::default());
    let parsed = MessageParser::default().parse_headers(&head)?;
    let mut stamps = parsed.parts.first()?.headers.iter().filter(|field| field.name == HeaderName::Received);
    let is_witness = stamps.any(|field| match &field.value {
        HeaderValue::Received(stamp) => {
            let at = stamp.date.as_ref().and_then(|date| DateTime::from_timestamp(date.to_timestamp(), 0));
            stamp.by.as_ref().is_some_and(|by| !is_this_machine(by)) && at.is_some_and(|at| agrees(at, now))
        }
        _ => false,
    });
    is_witness.then_some("another mail server")
}

/// Whether a mail server is on this machine.
fn is_this_machine(server: &Host<'_>) -> bool {
    match server {
        Host::Name(name) => {
            let name = name.to_ascii_lowercase();
            let own = host_name().to_ascii_lowercase();
            // The config may name this machine with its domain and the system without, or vice versa.
            name == own || name.starts_with("localhost") || first_label(&name) == first_label(&own)
        }
        Host::IpAddr(address) => address.is_loopback(),
    }
}

fn first_label(host: &str) -> &str {
    host.split('.').next().unwrap_or_default()
}

/// Whether one of the letters is a GM's, with the GM's reply token, and confirms the clock.
async fn has_answer_of_gm(office: &Office, letters: &[FetchedLetter]) -> anyhow::Result<bool> {
    let tokens = load::new_rows(office).await?.gm_tokens;
    let confirms = |letter: &FetchedLetter| {
        let Some(Ok(letter)) = read(&office.club, &letter.raw) else { return false };
        let place = office.club.gm_at(&letter.from);
        let own = place.and_then(|place| tokens.get(place.0));
        let is_proven = own.is_some_and(|own| letter.tokens.iter().any(|token| token.to_string() == *own));
        let (instructions, _) = referee::instructions(&request::lines_of(letter.new_text(None)));
        is_proven && instructions.iter().any(|line| line.parsed == Ok(Instruction::ConfirmClock))
    };
    Ok(letters.iter().any(confirms))
}

/// The key under which a daemon remembers the last check of the clock.
pub(super) const HEARTBEAT: &str = "heartbeat";

/// The key under which the last check of the clock before the last outage is remembered.
pub(super) const OUTAGE_SINCE: &str = "outage since";

/// Prefix of the keys under which daemons note their status.
pub(super) const STATUS_KEYS: &str = "daemon: ";

/// Maximum deferral of letters, dispatches and players' digests.
pub(super) const MAX_DEFERRAL: TimeDelta = TimeDelta::days(7);

/// Maximum time until the clock has something to decide in a running match: a phase lasts 365 days at most,
/// and each extension adds up to 366.
pub(super) const MAX_SLEEP: TimeDelta = TimeDelta::days(5 * 366);

/// Returns a remembered time. Replaces a time in the future with now.
///
/// # Errors
/// Returns an error if the database does not answer.
pub(super) async fn remembered_time(office: &Office, key: &str) -> anyhow::Result<Option<DateTime<Utc>>> {
    let now = office.now();
    let Some(noted) = noted_time(office, key).await? else { return Ok(None) };
    if noted <= now {
        return Ok(Some(noted));
    }
    tracing::warn!(key, %noted, "a remembered time is in the future; treating it as now");
    office.store.remember(key, &now.to_rfc3339()).await?;
    Ok(Some(now))
}

/// Returns a remembered time if it is in the future: the clock was set back since.
///
/// # Errors
/// Returns an error if the database does not answer.
pub(super) async fn remembered_time_ahead(
    office: &Office,
    key: &str,
) -> anyhow::Result<Option<DateTime<Utc>>> {
    Ok(noted_time(office, key).await?.filter(|noted| *noted > office.now()))
}

/// Returns a remembered time, which may be in the future; see [`time`].
///
/// # Errors
/// Returns an error if the database does not answer.
pub(super) async fn noted_time(office: &Office, key: &str) -> anyhow::Result<Option<DateTime<Utc>>> {
    let text = office.store.remembered(key).await?;
    // A time that cannot be read counts as never: the work is then done once more.
    Ok(text.and_then(|text| text.parse().ok()))
}

/// The part of a status about single runs, which the note of a program that is started for them holds.
#[derive(Deserialize)]
struct SingleRuns {
    at: DateTime<Utc>,
    /// Seconds.
    gaps: Option<Vec<i64>>,
}

/// Returns the usual time between two runs, if the program was started for single runs when this backup was made: at most
/// the hour within which cron has to start it. The longest one may have been an outage.
///
/// # Errors
/// Returns an error if the database does not answer.
pub(super) async fn gap_between_runs(office: &Office, backup: &RestoredBackup) -> anyhow::Result<TimeDelta> {
    let mut usual = 0;
    for (_, note) in office.store.remembered_under(STATUS_KEYS).await? {
        let Ok(SingleRuns { at, gaps: Some(mut gaps) }) = serde_json::from_str(&note) else { continue };
        gaps.sort_unstable();
        if at >= backup.until - TimeDelta::days(1) {
            usual = usual.max(gaps.iter().rev().nth(1).or(gaps.last()).copied().unwrap_or_default());
        }
    }
    Ok(TimeDelta::seconds(usual).min(TimeDelta::hours(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(origin: &str, received_at: DateTime<Utc>, stamp: &str) -> FetchedLetter {
        let raw = format!("{stamp}From: ann@players.example\n\nHELP\n").into_bytes();
        let cut = false;
        let size = raw.len() as u64;
        let is_spam = false;
        FetchedLetter {
            raw,
            received_at,
            origin: origin.to_owned(),
            cut,
            size,
            is_spam,
            arrivals: vec![received_at],
        }
    }

    #[test]
    fn the_time_of_an_imap_server_is_a_witness_and_that_of_a_file_is_none() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
        let vouches =
            |origin, days| vouches_for(&letter(origin, now - TimeDelta::days(days), ""), now).is_some();
        assert!(vouches("imap:INBOX/1/7", 1) && vouches("imap:INBOX/1/7", -1));
        assert!(!vouches("imap:INBOX/1/7", 2) && !vouches("imap:INBOX/1/7", 700));
        assert!(!vouches("maildir:1.M2P3.host", 0) && !vouches("stdin", 0));
        let untimed = FetchedLetter { arrivals: Vec::new(), ..letter("imap:INBOX/1/7", now, "") };
        assert_eq!(vouches_for(&untimed, now), None, "the mailbox states no time that can be right");
    }

    #[test]
    fn a_stamp_of_any_other_server_on_the_way_is_a_witness() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
        let stamp = |server: &str, at: DateTime<Utc>| {
            format!("Received: from a.example by {server} with ESMTP;\n {}\n", at.to_rfc2822())
        };
        let vouches = |stamps: &str| vouches_for(&letter("stdin", now, stamps), now).is_some();
        let own = stamp(&host_name(), now);
        let old = stamp("mx.provider.example", now - TimeDelta::days(9));
        assert!(!vouches(&own) && !vouches(&old) && !vouches(&stamp("localhost", now)));
        assert!(!vouches("Received: by mx.provider.example\n") && !vouches("Received: x\n"));
        assert!(vouches(&format!("{own}{old}{}", stamp("mx.provider.example", now))));
    }
}

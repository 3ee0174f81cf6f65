//! Verifies matches against their ledgers: loads the rows that `audit/` compares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread;

use anyhow::bail;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::club::{columns_of, row_of};
use super::{book, club};
use crate::audit::columns::LetterColumns;
use crate::audit::witness::PlayersMail;
use crate::audit::{
    AuditVerdict, Check, CheckSubject, ExpectedDispatch, Finding, LedgerBatch, LedgerReader, ParsedLetter,
    Place, StoredDispatch, StoredLetter, StoredMatch, StoredPlayer, StoredSeat, Withheld,
};
use crate::daemon::load::read::turn_to_decode;
use crate::daemon::waiting::run_blocking;
use crate::daemon::{Office, rulings};
use crate::desk::frame::parallel::par_map;
use crate::game::BySeat;
use crate::ledger::{Entry, Fact, KeptPin, PinnedKind};
use crate::letter::Digest;
use crate::report::sent::plain_text;
use crate::store::{
    EntryRow, LetterStatus, MatchRow, NamedLetter, Player, RestoredBackup, SentRow, StoreError,
};

/// Rows read at a time.
const CHUNK: u32 = 256;

/// Maximum attempts to check a match that others keep ruling on.
const MAX_TRIES: u32 = 5;

/// The house's turns that a check recomputes, which takes as long as playing them did.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum HouseTurns {
    /// None: all are accepted as they were played.
    AsPlayed,
    /// Only turns after this entry; earlier ones were checked before.
    After(u64),
}

impl HouseTurns {
    pub const ALL: HouseTurns = HouseTurns::After(0);
}

/// Called with the number of entries that were checked since the last call.
pub type OnProgress<'a> = dyn Fn(u64) + Sync + 'a;

/// Checks one match from its opening to its last entry, and recomputes the house's turns.
///
/// # Errors
/// Returns an error if there is no such match, or if the database does not answer.
pub async fn verify(
    office: &Office,
    match_id: &str,
    progress: &OnProgress<'_>,
) -> anyhow::Result<AuditVerdict> {
    verify_match(office, match_id, HouseTurns::ALL, progress).await
}

/// Checks one match, and recomputes these turns of the house. A row with impossible contents is a finding,
/// not an error.
pub async fn verify_match(
    office: &Office,
    match_id: &str,
    turns: HouseTurns,
    progress: &OnProgress<'_>,
) -> anyhow::Result<AuditVerdict> {
    let verdict = verify_settled(office, match_id, turns, progress).await;
    verdict.or_else(|error| unreadable(&CheckSubject::Match(match_id.to_owned()), error))
}

/// Checks a match, an event or the club. A row with impossible contents is a finding, not an error.
///
/// # Errors
/// Returns an error if there is no such match or event, or if the database does not answer.
pub async fn verify_subject(
    office: &Office,
    subject: &CheckSubject,
    progress: &OnProgress<'_>,
) -> anyhow::Result<AuditVerdict> {
    let verdict = match subject {
        CheckSubject::Match(id) => verify(office, id, progress).await,
        CheckSubject::Event(id) => book::verify(office, id).await,
        CheckSubject::Club {} => club::verify(office).await,
    };
    verdict.or_else(|error| unreadable(subject, error))
}

/// Returns everything that can be checked: all matches, all events, and the club.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn all_subjects(office: &Office) -> anyhow::Result<Vec<CheckSubject>> {
    let matches = office.store.match_ids().await?.into_iter().map(CheckSubject::Match);
    let events = office.store.event_ids().await?.into_iter().map(CheckSubject::Event);
    Ok(matches.chain(events).chain([CheckSubject::Club {}]).collect())
}

/// Checks several of these in parallel, and returns their verdicts in order.
///
/// # Errors
/// Same as [`verify_subject`].
pub async fn verify_several(
    office: &Office,
    subjects: &[CheckSubject],
    progress: &OnProgress<'_>,
) -> anyhow::Result<Vec<AuditVerdict>> {
    // Run twice as many checks as there are processors, because each one sometimes waits for the database.
    let at_once = 2 * thread::available_parallelism().map_or(1, usize::from);
    let checks = stream::iter(subjects).map(|subject| verify_subject(office, subject, progress));
    checks.buffered(at_once).try_collect().await
}

/// Checks the matches and events that are named in letters kept by players, and whether the ledger lines in these
/// letters are on their chains. With `only`, only the lines of that match or event count.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn verify_against(
    office: &Office,
    mails: &[PlayersMail],
    only: Option<&str>,
    progress: &OnProgress<'_>,
) -> anyhow::Result<Vec<AuditVerdict>> {
    let mut named: BTreeMap<&str, BTreeMap<Digest, Vec<&str>>> = BTreeMap::new();
    for PlayersMail { name, lines, .. } in mails {
        for line in lines.iter().filter(|line| only.is_none_or(|id| id == line.chain)) {
            named.entry(&line.chain).or_default().entry(line.hash).or_default().push(name);
        }
    }
    let mut verdicts = Vec::new();
    let known = all_subjects(office).await?;
    for (id, heads) in named {
        let subject = CheckSubject::of(id);
        let is_there = known.contains(&subject);
        verdicts.push(verify_heads(office, subject, is_there, heads, progress).await?);
    }
    explain_restored(office, mails, &mut verdicts).await?;
    Ok(verdicts)
}

/// Explains the ledger lines that lack in the chains because an older backup was restored: the mail was written between
/// the backup and its restore.
async fn explain_restored(
    office: &Office,
    mails: &[PlayersMail],
    verdicts: &mut [AuditVerdict],
) -> anyhow::Result<()> {
    let restores = office.store.restores().await?;
    for finding in verdicts.iter_mut().flat_map(|verdict| &mut verdict.findings) {
        let Place::Mail(hash) = finding.place else { continue };
        let stating = mails.iter().filter(|mail| mail.lines.iter().any(|line| line.hash == hash));
        for mail in stating {
            let lost = |restore: &&RestoredBackup| mail.date.is_some_and(|date| restore.may_have_lost(date));
            let Some(RestoredBackup { until, at, .. }) = restores.iter().find(lost) else { continue };
            finding.what = format!(
                "{}: it is newer than the restored backup: the database was replaced on {} by a backup that knows \
                 nothing after {}",
                mail.name,
                at.format("%Y-%m-%d %H:%M UTC"),
                until.format("%Y-%m-%d %H:%M UTC"),
            );
        }
    }
    Ok(())
}

/// Returns the verdict on something with an impossible row, which somebody must have changed from outside.
/// Passes on any other error.
pub(super) fn unreadable(subject: &CheckSubject, error: anyhow::Error) -> anyhow::Result<AuditVerdict> {
    let what = match error.downcast::<StoreError>()? {
        StoreError::Unsound(what) => what,
        error if error.is_unsound() => error.to_string(),
        error => return Err(error.into()),
    };
    let findings = vec![Finding { place: Place::Kept("the database"), what }];
    Ok(AuditVerdict { findings, ..AuditVerdict::new(subject.clone()) })
}

/// Returns the players who were forgotten in a match according to its ledger.
pub fn forgotten_in(entries: &[EntryRow]) -> BTreeSet<String> {
    let entries = entries.iter().filter_map(|row| serde_json::from_str::<Entry>(&row.json).ok());
    let names = entries.filter_map(|entry| match entry.fact {
        Fact::Forgotten { player, .. } => Some(player),
        _ => None,
    });
    names.collect()
}

/// Checks one match, and starts again if it was ruled on in the meantime.
async fn verify_settled(
    office: &Office,
    match_id: &str,
    turns: HouseTurns,
    progress: &OnProgress<'_>,
) -> anyhow::Result<AuditVerdict> {
    for _ in 0..MAX_TRIES {
        let row = rulings::match_row(office, match_id).await?;
        let version = row.version;
        let verdict = verify_row(office, row, turns, progress).await?;
        // Rows are read in several steps, so a ruling in between would look like a fault.
        if rulings::match_row(office, match_id).await?.version == version {
            return Ok(verdict);
        }
    }
    bail!("gave up on {match_id}: it was ruled on during every check")
}

/// Checks a match or an event, and whether its chain has these heads, each with the letters that state it.
async fn verify_heads(
    office: &Office,
    subject: CheckSubject,
    is_there: bool,
    heads: BTreeMap<Digest, Vec<&str>>,
    progress: &OnProgress<'_>,
) -> anyhow::Result<AuditVerdict> {
    let mut verdict = if is_there {
        verify_subject(office, &subject, progress).await?
    } else {
        AuditVerdict::new(subject.clone())
    };
    let (kind, rows) = match &subject {
        CheckSubject::Event(id) => ("event", office.store.book(id).await?),
        CheckSubject::Match(id) => ("match", office.store.entries(id).await?),
        CheckSubject::Club {} => return Ok(verdict),
    };
    let chain: BTreeSet<Digest> = rows.iter().map(|row| row.hash).collect();
    for (hash, names) in heads.into_iter().filter(|(hash, _)| !chain.contains(hash)) {
        let names = names.join(", ");
        let what = if is_there {
            format!("{names}: it is not on this chain: the ledger or book was rewritten, or the mail was")
        } else {
            format!("{names}: there is no such {kind}: it was deleted, or the mail was changed")
        };
        verdict.findings.push(Finding { place: Place::Mail(hash), what });
    }
    Ok(verdict)
}

async fn verify_row(
    office: &Office,
    row: MatchRow,
    turns: HouseTurns,
    progress: &OnProgress<'_>,
) -> anyhow::Result<AuditVerdict> {
    let id = row.id.clone();
    let mut check = check_of(office, row, turns).await?;
    let mut reader = LedgerReader::new(&id, check.first_key());
    let mut sent_id = i64::MIN;
    let mut listed = Vec::new();
    let mut next = read_on(office, &mut reader, &mut sent_id, &mut listed, progress).await;
    while !check.is_stopped() {
        let batch = next?;
        if batch.is_end() {
            check = repeat_rulings(check, batch).await?;
            break;
        }
        // The next rows are read while these are ruled on again.
        let reading = read_on(office, &mut reader, &mut sent_id, &mut listed, progress);
        let (ruled, read_on) = tokio::join!(repeat_rulings(check, batch), reading);
        check = ruled?;
        next = read_on;
    }
    let mut acted_id = i64::MIN;
    while let Some((last, acted)) = office.store.acted_after(&id, acted_id, CHUNK).await? {
        acted_id = last;
        check.check_acted_letters(&acted);
    }
    let facts = check.take_facts();
    let mut verdict = check.finish();
    if verdict.findings.is_empty() {
        verdict.findings = club::odd_columns(office, &id, &facts, listed).await?;
    }
    if let Some(who) = office.store.forgotten_in(&id).await? {
        verdict.findings.extend(untold_of_forgotten(office, &id, &who).await?);
        verdict.withheld = Some(format!("the letters of {who}, who was forgotten"));
    }
    Ok(verdict)
}

async fn check_of(office: &Office, row: MatchRow, turns: HouseTurns) -> anyhow::Result<Check> {
    let mut seats: BySeat<StoredSeat> = BySeat::default();
    for row in office.store.seats_of(std::slice::from_ref(&row.id)).await? {
        let Player { name, settings, addresses, .. } = row.player;
        let player = Some(StoredPlayer { name, settings });
        seats[row.seat] = StoredSeat { token: row.token, addresses, player };
    }
    let pins = office.store.seat_pins(&row.id).await?;
    let MatchRow { id, overview, wake_at, snapshot, version: _ } = row;
    let dates = office.store.match_dates(std::slice::from_ref(&id)).await?;
    let ended_at = dates.first().and_then(|dates| dates.ended_at);
    let stored = StoredMatch { id: id.clone(), overview, wake_at, ended_at, snapshot };
    let house = match turns {
        HouseTurns::AsPlayed => None,
        HouseTurns::After(_) => Some(Arc::clone(&office.club.house)),
    };
    let withheld = withheld_of(office, &id, &pins).await?;
    let mut check = Check::new(stored, seats, pins, house);
    check.set_withheld(withheld);
    check.set_kept_snapshots(office.store.kept_snapshots(&id).await?);
    if let HouseTurns::After(seq) = turns {
        check.set_checked_until(seq);
    }
    Ok(check)
}

/// Returns the parts of a match that are withheld because a player was forgotten.
async fn withheld_of(office: &Office, id: &str, pins: &[KeptPin]) -> anyhow::Result<Withheld> {
    if office.store.forgotten_in(id).await?.is_none() {
        return Ok(Withheld::default());
    }
    let is_forgotten = |pin: &&KeptPin| pin.kind == PinnedKind::Address && pin.opened.is_none();
    let seats = pins.iter().filter(is_forgotten).map(|pin| pin.seat).collect();
    Ok(Withheld { seats, sent: office.store.withheld_dispatches(id).await? })
}

/// Reads the next entries of a match, the letters that they name, and the letters sent up to the last of
/// them.
async fn read_on(
    office: &Office,
    reader: &mut LedgerReader,
    sent_id: &mut i64,
    listed: &mut Vec<LetterColumns>,
    progress: &OnProgress<'_>,
) -> anyhow::Result<LedgerBatch> {
    let id = reader.match_id().to_owned();
    let seq = reader.seq();
    let mut count = 0;
    let mut take = |entry: EntryRow| {
        count += 1;
        reader.push_entry(row_of(entry));
    };
    // Start at the first row whatever its number: somebody may have added one before entry 1.
    let seq = Some(seq).filter(|seq| *seq > 0);
    office.store.entries_after(&id, seq, CHUNK, &mut take).await?;
    progress(count);
    while reader.needs_dispatches() {
        let mut sent = Vec::new();
        let after = *sent_id;
        let mut take = |row: SentRow| {
            *sent_id = row.id;
            sent.push(sent_row(row));
        };
        office.store.sent_after(&id, after, CHUNK, &mut take).await?;
        reader.push_dispatches(sent);
    }
    let mut letters: Vec<ParsedLetter> = Vec::new();
    let mut take = |mut row: NamedLetter| {
        let raw = std::mem::take(&mut row.raw);
        let stored = letter_of(&row, raw);
        let parsed = {
            let _turn = turn_to_decode(&stored.raw);
            reader.parse_letter(&stored)
        };
        listed.push(columns_of(&row, &stored.raw, &parsed));
        letters.push(parsed);
    };
    office.store.letters_named(&reader.missing_letters(), &mut take).await?;
    let answered: BTreeSet<String> = letters.iter().flat_map(|letter| letter.thread().cloned()).collect();
    let answered = office.store.texts_by_message_id(&Vec::from_iter(answered)).await?;
    let answered = answered.into_iter().map(|(id, bytes)| (id, plain_text(&bytes))).collect();
    reader.push_letters(letters, &answered);
    Ok(reader.take_batch())
}

/// Repeats the rulings of a batch, and compares the resulting letters with the sent ones.
async fn repeat_rulings(mut check: Check, batch: LedgerBatch) -> anyhow::Result<Check> {
    let at_end = batch.is_end();
    run_blocking(move || {
        check.push_batch(batch);
        let before = check.finding_count();
        let expected = check.repeat_pending(at_end);
        check.note_own_templates(&expected);
        check.record_comparisons(par_map(&expected, ExpectedDispatch::compare), before);
        check
    })
    .await
}

fn sent_row(row: SentRow) -> StoredDispatch {
    let SentRow { id: _, message_id, recipient, kind, seat, sent_at, bytes } = row;
    StoredDispatch { message_id, recipient, kind, seat, sent_at, bytes }
}

fn letter_of(row: &NamedLetter, raw: Vec<u8>) -> StoredLetter {
    let is_ruled = row.status == LetterStatus::Ruled;
    StoredLetter { digest: row.digest, received_at: row.received_at, is_ruled, raw }
}

/// Returns a finding for each player who is stored as forgotten in a match but not in its ledger.
async fn untold_of_forgotten(office: &Office, match_id: &str, who: &str) -> anyhow::Result<Vec<Finding>> {
    let forgotten = forgotten_in(&office.store.entries(match_id).await?);
    let untold = who.split(", ").filter(|name| !forgotten.contains(*name));
    let findings = untold.map(|name| {
        let what = format!("{name} is stored as forgotten here, but the ledger does not record that");
        Finding { place: Place::Kept("the match"), what }
    });
    Ok(findings.collect())
}

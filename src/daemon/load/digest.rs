//! Loads the events in the period of a digest.
//!
//! Loads the rows that only GMs ask for: letters by their digests, lists of matches, and the readers of
//! announcements.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use crate::daemon::Office;
use crate::desk::frame::codes::LAPSE;
use crate::desk::frame::rows::{DigestLetter, DigestRows, MissedTurn};
use crate::desk::outbox::budgets::{CLUB, start_of_hour};
use crate::game::Seat;
use crate::game::any::GameKind;
use crate::ledger::{Entry, Fact};
use crate::letter::tokens_in_header;
use crate::referee::{MatchOverview, Readership, Stage, WORDS_NOTE};
use crate::store::{BudgetKind, EntryRow, LetterRow, LetterStatus, Player};

/// Maximum letters, entries of a kind, and newcomers that a digest counts.
const MAX_COUNTED: u32 = 1000;

/// Maximum bytes of letters that are read again for each list of a digest.
const MAX_READ: u64 = 64 * 1024 * 1024;

/// Maximum letters to search for words to the GM: more than the players of a big club write in a day.
const MAX_SEARCHED: u32 = 20_000;

/// The time within which a decided batch is committed. Decisions made shortly before a digest may have been
/// committed after it, so the next digest looks back by this much.
const LOOK_BACK: TimeDelta = TimeDelta::minutes(5);

/// Time after the start of a season at which a digest names the entrants who have not filed once.
const SILENT_FOR: TimeDelta = TimeDelta::days(7);

pub async fn load_digest(office: &Office, last: DateTime<Utc>) -> anyhow::Result<DigestRows> {
    let since = last - LOOK_BACK;
    let mut asked = facts_since(office, "GmAsked", since).await?;
    asked.extend(facts_since(office, "Protested", since).await?);
    let mut unread = facts_since(office, "MailReturned", since).await?;
    unread.extend(facts_since(office, "AwayNoted", since).await?);
    let mut ended = facts_since(office, "MatchEnded", since).await?;
    ended.extend(facts_since(office, "MatchAnnulled", since).await?);
    let queues = office.store.queues().await?;
    let sent = office.store.sent_counts(office.now()).await?;
    Ok(DigestRows {
        since: last,
        refused: facts_since(office, "OrdersRefused", since).await?,
        given_up: office.store.given_up_since(since, MAX_COUNTED).await?,
        set_aside: letters_decided_since(office, LetterStatus::SetAside, since).await?,
        ignored: letters_decided_since(office, LetterStatus::Ignored, since).await?,
        words: words_since(office, since).await?,
        automatic: letters_decided_since(office, LetterStatus::Automatic, since).await?,
        missed: missed_since(office, since).await?,
        asked,
        unread,
        opened: facts_since(office, "MatchOpened", since).await?,
        ended,
        absences: facts_since(office, "AbsenceNoted", since).await?,
        newcomers: office.store.players_since(since, MAX_COUNTED).await?,
        silent: office.store.silent_entrants((last - SILENT_FOR, office.now() - SILENT_FOR)).await?,
        letters_waiting: queues.letters_waiting,
        sent_in_a_day: sent.day.into(),
        dispatches_waiting: queues.dispatches_waiting,
        oldest_dispatch: queues.oldest_dispatch,
        left_out: left_out_since(office, last).await?,
        from_spam: office.store.spam_letters_since(last).await?,
        lapsed: office.store.unanswered_letters(last - LAPSE, office.now() - LAPSE, MAX_COUNTED).await?,
    })
}

/// Returns up to two letters whose digests have this prefix.
pub async fn letters_with(office: &Office, prefix: &str) -> anyhow::Result<Vec<DigestLetter>> {
    let mut letters = Vec::new();
    for row in office.store.letters(None, None, prefix, 2).await? {
        let matches = matches_of_letter(office, &row).await?;
        letters.push(digest_letter(office, row, matches).await?);
    }
    Ok(letters)
}

/// Returns the latest entries of a kind since `since`.
async fn facts_since(office: &Office, kind: &str, since: DateTime<Utc>) -> anyhow::Result<Vec<Entry>> {
    let rows = office.store.entries_since(kind, since).await?;
    let latest = &rows[rows.len().saturating_sub(MAX_COUNTED as usize)..];
    latest.iter().map(parse).collect()
}

/// Returns the turns that seats missed since `since`, each with the time at which they filed after all, if
/// any.
async fn missed_since(office: &Office, since: DateTime<Utc>) -> anyhow::Result<Vec<MissedTurn>> {
    let mut missed = Vec::new();
    for entry in facts_since(office, "DeadlineMissed", since).await? {
        let Fact::DeadlineMissed { turn, seats, .. } = &entry.fact else { continue };
        let mut later: Vec<Entry> = Vec::new();
        for row in office.store.entries(&entry.match_id).await?.iter().filter(|row| row.seq > entry.seq) {
            later.push(parse(row)?);
        }
        for seat in seats {
            let filed = later.iter().find(|later| files(&later.fact, *seat, *turn));
            missed.push(MissedTurn {
                match_id: entry.match_id.clone(),
                seq: entry.seq,
                turn: *turn,
                seat: *seat,
                made_good: filed.map(|filed| filed.at),
            });
        }
    }
    Ok(missed)
}

async fn left_out_since(office: &Office, since: DateTime<Utc>) -> anyhow::Result<u64> {
    let counts = office.store.budgets(&[CLUB.to_owned()], start_of_hour(since)).await?;
    let left_out = counts.iter().filter(|(key, _)| key.kind == BudgetKind::LeftOut);
    Ok(left_out.map(|(_, count)| u64::from(*count)).sum())
}

/// Returns the letters with words for the GM, according to their notes.
async fn words_since(office: &Office, since: DateTime<Utc>) -> anyhow::Result<Vec<DigestLetter>> {
    let mut rows = office.store.letters(Some(LetterStatus::Ruled), None, "", MAX_SEARCHED).await?;
    rows.retain(|row| has_new_words(row, since));
    // Strangers must not fill the digest.
    let mut of_strangers = office.store.letters(Some(LetterStatus::Answered), None, "", MAX_SEARCHED).await?;
    of_strangers.retain(|row| has_new_words(row, since));
    of_strangers.truncate(MAX_COUNTED as usize);
    rows.extend(of_strangers);
    let mut letters = Vec::with_capacity(rows.len());
    for row in rows {
        let matches = row.seat.iter().map(|(id, _)| id.clone()).collect();
        letters.push(digest_letter(office, row, matches).await?);
    }
    Ok(letters)
}

fn has_new_words(row: &LetterRow, since: DateTime<Utc>) -> bool {
    row.note.starts_with(WORDS_NOTE) && row.decided_at.is_some_and(|at| at >= since)
}

async fn digest_letter(
    office: &Office,
    row: LetterRow,
    matches: BTreeSet<String>,
) -> anyhow::Result<DigestLetter> {
    let player = office.store.player_by_address(&row.sender).await?;
    let by_player = match &player {
        Some(player) if matches.is_empty() => plays(office, player).await?,
        Some(_) | None => false,
    };
    Ok(DigestLetter { row, matches, by_player, player: player.map(|player| player.name) })
}

async fn letters_decided_since(
    office: &Office,
    status: LetterStatus,
    since: DateTime<Utc>,
) -> anyhow::Result<Vec<DigestLetter>> {
    let mut rows = office.store.letters(Some(status), None, "", MAX_COUNTED).await?;
    rows.retain(|row| row.decided_at.is_some_and(|at| at >= since));
    let mut letters = Vec::with_capacity(rows.len());
    let mut bytes = 0;
    for row in rows {
        bytes += row.size;
        if bytes > MAX_READ && !letters.is_empty() {
            break;
        }
        let matches = matches_of_letter(office, &row).await?;
        letters.push(digest_letter(office, row, matches).await?);
    }
    Ok(letters)
}

/// Returns the matches whose reply tokens are in the header of a letter.
async fn matches_of_letter(office: &Office, row: &LetterRow) -> anyhow::Result<BTreeSet<String>> {
    let raw = office.store.letter(row.digest).await?.unwrap_or_default();
    let tokens = tokens_in_header(&raw, &office.club.own);
    let tokens: Vec<String> = tokens.iter().map(ToString::to_string).collect();
    if tokens.is_empty() {
        return Ok(BTreeSet::new());
    }
    let seats = office.store.seats_by_token(&tokens).await?;
    Ok(seats.into_iter().map(|row| row.match_id).collect())
}

/// Whether a player has a match that is not over.
async fn plays(office: &Office, player: &Player) -> anyhow::Result<bool> {
    let matches = office.store.matches_of(player.id).await?;
    Ok(matches.iter().any(|(_, overview)| overview.stage != Stage::Over))
}

fn parse(row: &EntryRow) -> anyhow::Result<Entry> {
    Ok(serde_json::from_str(&row.json)?)
}

/// Whether an entry records that this seat filed for this turn.
fn files(fact: &Fact, by: Seat, of: u32) -> bool {
    matches!(fact, Fact::OrdersSealed { seat, turn, .. } if (*seat, *turn) == (by, of))
}

/// Time for which the list of ended matches shows a match.
const SHOWN: TimeDelta = TimeDelta::days(30);

/// Maximum matches in that list.
const MAX_ENDED: usize = 100;

/// Matches whose seats are loaded in one query.
const CHUNK: usize = 200;

/// Returns the IDs of the matches that ended in the last 30 days, the latest first.
pub async fn matches_ended_lately(office: &Office, now: DateTime<Utc>) -> anyhow::Result<Vec<String>> {
    let mut ended: Vec<String> = Vec::new();
    for entry in office.store.entries_since("MatchEnded", now - SHOWN).await?.into_iter().rev() {
        // A match that was reopened may have ended twice.
        if !ended.contains(&entry.chain) && ended.len() < MAX_ENDED {
            ended.push(entry.chain);
        }
    }
    Ok(ended)
}

/// Returns the players who get an announcement to this readership: neither the house, nor blocked ones, nor those who want
/// no challenges and announcements.
pub async fn readers_of_announcements(office: &Office, readers: Readership) -> anyhow::Result<Vec<Player>> {
    let mut players = office.store.players().await?;
    players.retain(|player| !player.addresses.is_empty() && !player.is_house());
    if let Readership::Game(game) = readers {
        let playing = players_of(office, game).await?;
        players.retain(|player| playing.contains(&player.id));
    }
    let addresses: Vec<String> = players.iter().flat_map(|player| player.addresses.clone()).collect();
    let mut unwilling: BTreeSet<String> = BTreeSet::new();
    for chunk in addresses.chunks(CHUNK) {
        for (address, standing) in office.store.standings(chunk).await? {
            if standing.unwilling_since.or(standing.blocked_since).is_some() {
                unwilling.insert(address);
            }
        }
    }
    players.retain(|player| !player.addresses.iter().any(|address| unwilling.contains(address)));
    Ok(players)
}

/// Returns the IDs of the players in the matches of a game that are not over.
async fn players_of(office: &Office, game: GameKind) -> anyhow::Result<BTreeSet<i64>> {
    let mut ids: Vec<String> = Vec::new();
    let mut take = |overview: MatchOverview| {
        if overview.stage != Stage::Over && overview.game == game {
            ids.push(overview.id);
        }
    };
    office.store.list_matches(None, &mut take).await?;
    let mut players = BTreeSet::new();
    for chunk in ids.chunks(CHUNK) {
        players.extend(office.store.seats_of(chunk).await?.into_iter().map(|row| row.player.id));
    }
    Ok(players)
}

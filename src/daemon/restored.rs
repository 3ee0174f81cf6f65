//! Work after an older backup was restored: the processed letters are read again (`intake`), decided in the order in
//! which they came, and then everybody concerned is told once what could not be made again.
//!
//! Answers that prove that an older database was put in place of the club's: they name a letter of the club that it does
//! not know. A Message-ID names the letter's place in the ledger of its match, veiled with the secret of the match, so that
//! nobody but the club can make one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::TimeDelta;

use super::clock::{HEARTBEAT, OUTAGE_SINCE, noted_time};
use super::{Office, clock, commit, events, house, load, rulings};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::stored::snapshot;
use crate::desk::gm::restored::{self, LOST, LostMatches, Missing};
use crate::desk::matches::acts::{CauseOf, by_program};
use crate::ledger::PlaceInMatch;
use crate::letter::ReplyMarks;
use crate::referee::{Act, Stage};
use crate::report::BehindMatch;
use crate::store::{
    Changes, Claimable, GM_LANE, LetterStatus, PROVED_BY_LETTER, PROVED_TURN, Player, ProvedTurn, RESTORED,
    RESTORES, RestoredBackup, Restoring, SnapshotRow, WaitingLetter,
};

/// Maximum letters about lost matches to look at.
const MAX_LETTERS: u32 = 10_000;

/// Notes that the processed letters were read again. They are decided next.
pub async fn note_read(office: &Office, letters: usize, proved_by_letter: bool) -> anyhow::Result<()> {
    let at = office.now();
    let mut restores = office.store.restores().await?;
    // A letter may prove it only long after the older database was put in place, which looked like an outage.
    let outage = noted_time(office, OUTAGE_SINCE).await?.filter(|_| proved_by_letter);
    let is_same =
        |before: &&RestoredBackup| proved_by_letter && outage.is_none_or(|since| since <= before.at);
    let before = restores.last().filter(is_same).map(|before| before.until);
    let until = match before.or(outage) {
        Some(until) => until,
        None => {
            let written = office.store.list_dispatches(false, 1).await?.first().map(|row| row.created_at);
            // An empty backup knows of no time.
            noted_time(office, HEARTBEAT).await?.max(written).unwrap_or_default()
        }
    };
    let restore = RestoredBackup { until: until.min(at), at, letters, again: before.is_some() };
    restores.push(restore);
    office.store.remember(RESTORES, &serde_json::to_string(&restores)?).await?;
    office.store.remember(RESTORED, &serde_json::to_string(&restore)?).await?;
    house::house_all(office).await
}

/// Claims the next letter to decide after a restore. Once there is none, tells what could not be made again. `None` if
/// no work is left after a restore.
pub async fn claim_next(office: &Office) -> anyhow::Result<Option<Claimable>> {
    match office.store.restoring().await? {
        None => Ok(None),
        Some(Restoring::ToBeRead { .. }) => Ok(Some(Claimable::default())),
        Some(Restoring::ToBeDecided(restore)) => {
            match office.store.claim_oldest(office.now(), restore.at).await? {
                None => Ok(Some(Claimable::default())),
                Some(claimable) if claimable.letters.is_empty() => {
                    let running = matches_concerned(office, GM_LANE).await?;
                    catch_up(office, &running, by_program(Act::CatchUp { until: restore.at })).await?;
                    tell(office, restore, claimable).await?;
                    Ok(None)
                }
                Some(claimable) => {
                    let gap = clock::gap_between_runs(office, &restore).await?;
                    for letter in &claimable.letters {
                        events::open_again(office, letter.received_at).await?;
                        let concerned = matches_concerned(office, &letter.lane).await?;
                        catch_up(office, &concerned, before_letter(office, letter, gap)).await?;
                        if house::is_playing(office, &concerned).await? {
                            return Ok(Some(Claimable::default()));
                        }
                    }
                    Ok(Some(claimable))
                }
            }
        }
    }
}

/// Returns the act that ends the waits for second thoughts that were over when this letter came. In a club of single
/// runs, a letter may have been decided, and its wait begun, up to the `gap` between two runs after it came. Whether the wait
/// was over within this time, a letter shows that answers one of a later turn.
fn before_letter(office: &Office, letter: &WaitingLetter, gap: TimeDelta) -> CauseOf {
    let answered = ReplyMarks::of(&letter.raw, &office.club.own).answered;
    let received_at = letter.received_at;
    Arc::new(move |game_match| {
        let key = game_match.first_key();
        let places = answered.iter().filter_map(|id| PlaceInMatch::read(id, &game_match.id, key));
        let turn = places.map(|place| place.turn.parse().unwrap_or(u32::MAX)).max();
        let is_of_open_turn = game_match.due().zip(turn).is_some_and(|(due, turn)| turn <= due.turn);
        let until = if is_of_open_turn { received_at - gap } else { received_at };
        game_match.by_program(Act::CatchUp { until })
    })
}

/// Ends the waits for second thoughts in these matches by this act.
async fn catch_up(office: &Office, ids: &[String], cause: CauseOf) -> anyhow::Result<()> {
    rulings::decide_on_matches(office, office.store.matches(ids).await?, &cause, office.now()).await?;
    if office.store.matches(ids).await?.iter().any(|row| row.overview.awaits_house()) {
        house::house_all(office).await
    } else {
        Ok(())
    }
}

/// Returns the running matches that letters in this lane may be about: all for a GM's, or those of its player, or of both
/// players of its match.
async fn matches_concerned(office: &Office, lane: &str) -> anyhow::Result<Vec<String>> {
    let mut ids: BTreeSet<String> = BTreeSet::new();
    if lane == GM_LANE {
        office.store.list_matches(Some(Stage::Running), &mut |overview| ids.extend([overview.id])).await?;
        return Ok(ids.into_iter().collect());
    }
    let of_match = office.store.seats_of(&[lane.to_owned()]).await?.into_iter().map(|seat| seat.player);
    let people: Vec<Player> = of_match.chain(office.store.player_by_address(lane).await?).collect();
    for player in people.iter().filter(|player| !player.is_house()) {
        let found = office.store.matches_of(player.id).await?.into_iter().map(|(_, overview)| overview);
        ids.extend(found.filter(|overview| overview.stage == Stage::Running).map(|overview| overview.id));
    }
    Ok(ids.into_iter().collect())
}

/// Lets the house play before the next letter is decided, as it did before the restore.
pub async fn play_for_house(office: &Office, changes: &Changes) -> anyhow::Result<()> {
    if changes.matches.iter().any(|row| row.overview.awaits_house()) {
        house::house_all(office).await
    } else {
        Ok(())
    }
}

/// Notes how far players have come by the letters that were decided again: a match that one of them opened was not there
/// yet when they were read.
async fn note_answers_again(office: &Office, restore: &RestoredBackup) -> anyhow::Result<()> {
    for status in [LetterStatus::Ruled, LetterStatus::Answered] {
        let rows = office.store.letters(Some(status), None, "", MAX_LETTERS).await?;
        for row in rows.iter().filter(|row| row.decided_at >= Some(restore.at)) {
            let raw = office.store.letter(row.digest).await?.unwrap_or_default();
            note_if_beyond(office, &ReplyMarks::of(&raw, &office.club.own).answered).await?;
        }
    }
    Ok(())
}

/// Returns the matches, with the open turn, whose deadline passed between the backup and its restore: the clock may have
/// decided it in that time.
async fn overdue_since(office: &Office, restore: &RestoredBackup) -> anyhow::Result<Vec<BehindMatch>> {
    if restore.again {
        return Ok(Vec::new());
    }
    let mut overdue = Vec::new();
    for row in office.store.matches(&matches_concerned(office, GM_LANE).await?).await? {
        let game_match = snapshot(&row.id, &row.snapshot)?;
        let deadline = game_match.deadline.map(|deadline| deadline - game_match.lag());
        if let Some(due) = game_match.due().filter(|_| deadline.is_some_and(|at| restore.may_have_lost(at))) {
            overdue.push(BehindMatch { id: row.id, turn: due.turn });
        }
    }
    Ok(overdue)
}

/// Tells the GMs what was restored and lost, and everybody else who wrote about a lost match. Each gets one letter.
async fn tell(office: &Office, restore: RestoredBackup, claimable: Claimable) -> anyhow::Result<()> {
    let ignored = office.store.letters(Some(LetterStatus::Ignored), None, "", MAX_LETTERS).await?;
    let mut lost: LostMatches = BTreeMap::new();
    for letter in ignored.iter().filter(|letter| letter.decided_at >= Some(restore.at)) {
        let Some(id) = letter.note.strip_prefix(LOST) else { continue };
        let people: &mut BTreeSet<String> = lost.entry(id.to_owned()).or_default();
        people.insert(letter.sender.clone());
    }
    note_answers_again(office, &restore).await?;
    let mut turns: BTreeMap<String, u32> = BTreeMap::new();
    for (key, value) in office.store.remembered_under(PROVED_TURN).await? {
        let Ok(ProvedTurn { turn, told: false }) = serde_json::from_str(&value) else { continue };
        turns.extend(key.strip_prefix(PROVED_TURN).map(|id| (id.to_owned(), turn)));
    }
    let overdue = overdue_since(office, &restore).await?;
    tracing::warn!(letters = restore.letters, lost = lost.len(), "processed letters were decided again");
    let found = Missing { lost, turns, overdue };
    let telling = move |desk: &mut Desk<'_>| restored::tell(desk, &restore, &found);
    let (told, mut changes) = commit::decide(office, load::new_rows(office).await?, telling).await?;
    for (id, turn) in told {
        let told = serde_json::to_string(&ProvedTurn { turn, told: true })?;
        changes.remembered.push((format!("{PROVED_TURN}{id}"), told));
    }
    changes.remembered.push((RESTORED.to_owned(), format!("done {}", office.now().to_rfc3339())));
    office.store.commit_claimed(claimable.claim, &changes).await?;
    commit::wake_loops(office, &changes);
    office.house_to_move.notify_one();
    Ok(())
}

/// Maximum entries by which a letter can lie beyond the end of a ledger. With it, one made-up Message-ID in a thousand
/// million proves something.
const MAX_BEYOND: u64 = 100_000;

/// Notes that the database is older than its mailbox if it does not know the letter of the club with one of these
/// answered Message-IDs. After a restore, it does not know those that were written since the backup and differ now; then
/// one counts only if it lies beyond the end of its match's ledger, in a later turn. Once players were told that a match is
/// behind, more letters tell nothing new. While letters are read again, it only notes how far players have come.
pub async fn note_if_beyond(office: &Office, answered: &[String]) -> anyhow::Result<()> {
    let unknown = unknown_by_match(office, answered).await?;
    if unknown.is_empty() {
        return Ok(());
    }
    let is_read_again = office.store.restoring().await?.is_some();
    let was_restored = !office.store.restores().await?.is_empty();
    for row in office.store.snapshots(&Vec::from_iter(unknown.keys().cloned())).await? {
        let Some(turn) = proved_turn(&row, &unknown[&row.id], was_restored) else { continue };
        let key = format!("{PROVED_TURN}{}", row.id);
        let known = office.store.remembered(&key).await?;
        let known: Option<ProvedTurn> = known.and_then(|known| serde_json::from_str(&known).ok());
        if known.is_some_and(|known| known.told || known.turn >= turn) {
            continue;
        }
        if !is_read_again {
            tracing::warn!(match_id = row.id, "a letter answers one that the database does not know");
            // First what has a consequence: after a crash, the turn counts again.
            office.store.remember(RESTORED, PROVED_BY_LETTER).await?;
        }
        let proved = ProvedTurn { turn, told: false };
        office.store.remember(&key, &serde_json::to_string(&proved)?).await?;
    }
    Ok(())
}

/// Returns the Message-IDs that bear the token of a seat and are not in the database, by match.
async fn unknown_by_match(
    office: &Office,
    answered: &[String],
) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let named = answered.iter().filter_map(|id| Some((id, PlaceInMatch::token_and_match(id)?)));
    let named: Vec<(&String, (&str, String))> = named.collect();
    let tokens: Vec<String> = named.iter().map(|(_, (token, _))| (*token).to_owned()).collect();
    let mut unknown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    if tokens.is_empty() {
        return Ok(unknown);
    }
    let seats = office.store.seats_by_token(&tokens).await?;
    let is_of_seat =
        |token: &str, id: &str| seats.iter().any(|seat| (&*seat.token, &*seat.match_id) == (token, id));
    for (id, (token, match_id)) in named {
        if is_of_seat(token, &match_id) {
            unknown.entry(match_id).or_default().push(id.clone());
        }
    }
    let ids: Vec<String> = unknown.values().flatten().cloned().collect();
    let known = office.store.dispatches_named(&ids).await?;
    unknown.retain(|_, ids| {
        ids.retain(|id| known.iter().all(|row| row.message_id != *id));
        !ids.is_empty()
    });
    Ok(unknown)
}

/// Returns the last turn that was open when letters with these Message-IDs were written, or the highest number if the match
/// was over. If `beyond`, places up to the end of the ledger do not count, and neither does the open turn.
fn proved_turn(row: &SnapshotRow, ids: &[String], beyond: bool) -> Option<u32> {
    // Once a match is over, its secret is told, and anybody can make up a place.
    let game_match = snapshot(&row.id, &row.snapshot).ok().filter(|found| found.stage != Stage::Over)?;
    let end = game_match.head.seq;
    let key = game_match.first_key();
    let least = if beyond { end + 1 } else { 1 };
    let places = ids.iter().filter_map(|id| PlaceInMatch::read(id, &row.id, key));
    let proved = places.filter(|place| (least..=end + MAX_BEYOND).contains(&place.seq));
    let turn = proved.map(|place| place.turn.parse().unwrap_or(u32::MAX)).max()?;
    let is_open = game_match.due().is_some_and(|due| due.turn >= turn);
    Some(turn).filter(|_| !(beyond && is_open))
}

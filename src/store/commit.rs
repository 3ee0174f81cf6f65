//! Writes changes: the matches, letters, entries and dispatches that one or more rulings change, many rows at
//! a time.
//!
//! Each step writes [`CHUNK`] rows with one statement. A statement that changes existing rows returns the
//! ones it changed. If a row is missing, another writer has changed it, and the changes are stale.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::entries::add_to_ledgers;
use super::error::{address_taken, stale_if_serialization_failure};
use super::invitations::set_invitation;
use super::letters::set_unproven;
use super::packing::{PackedDispatch, pack_dispatch};
use super::players::{add_newcomer, merge_players, save_player, set_change};
use super::rows::{CHUNK, ensure_all_found, is_common, partition_matches, text, with_ids};
use super::statement::{Engine, Session, notify};
use super::{
    Changes, Claim, Database, EntryRow, LetterDecision, LetterStatus, MatchRow, NewDispatch, Postponed,
    REMEMBER, Result, SeatRow, SendOutcome, Wakeup, budgets, dispatches, entries, events, matches, ratings,
    sending,
};
use crate::letter::Digest;

/// The kind of the entry that ends a match.
const MATCH_ENDED: &str = "MatchEnded";

impl Database {
    /// Commits changes atomically. Deciding an answered, automatic, ignored or set-aside letter as `Waiting`
    /// requeues it.
    ///
    /// # Errors
    /// [`StoreError::Stale`] if a match, letter or invitation changed after it was loaded, and
    /// [`StoreError::AddressTaken`] if another player has an address of a saved one; nothing is written.
    ///
    /// [`StoreError::Stale`]: super::StoreError::Stale
    /// [`StoreError::AddressTaken`]: super::StoreError::AddressTaken
    pub async fn commit(&self, changes: &Changes) -> Result<()> {
        self.commit_claimed(Claim::default(), changes).await
    }

    /// Commits changes under a claim, and ends the claim even if it fails.
    ///
    /// # Errors
    /// Same as [`Database::commit`].
    pub async fn commit_claimed(&self, claim: Claim, changes: &Changes) -> Result<()> {
        // Compress before the transaction begins, which on SQLite makes all other writers wait.
        let packed = pack_all(&changes.dispatches).await;
        let mut tx = self.backend.begin().await?;
        settle(&mut tx.session(), changes, &packed).await.map_err(stale_if_serialization_failure)?;
        tx.commit().await.map_err(stale_if_serialization_failure)?;
        claim.end().await;
        Ok(())
    }

    /// Records send attempts and ends the claim.
    pub async fn record_outcomes(
        &self,
        claim: Claim,
        at: DateTime<Utc>,
        outcomes: &[(i64, SendOutcome)],
    ) -> Result<()> {
        self.commit_claimed(claim, &Changes { at, outcomes: outcomes.to_vec(), ..Changes::default() }).await
    }
}

/// Packs dispatches, and yields after each: hundreds of them take milliseconds that other tasks need.
async fn pack_all(dispatches: &[NewDispatch]) -> Vec<PackedDispatch> {
    let mut packed = Vec::with_capacity(dispatches.len());
    for dispatch in dispatches {
        packed.push(pack_dispatch(&dispatch.bytes));
        tokio::task::yield_now().await;
    }
    packed
}

/// Writes changes within a transaction.
///
/// # Errors
/// [`StoreError::Stale`] if a row changed after it was loaded: roll back, load and rule again.
async fn settle(session: &mut Session<'_>, changes: &Changes, packed: &[PackedDispatch]) -> Result<()> {
    // Write matches first, because letters, entries and dispatches refer to them.
    write_matches(session, changes).await?;
    write_letters(session, changes).await?;
    add_to_ledgers(session, &changes.entries).await?;
    events::write(session, changes).await?;
    for invitation in &changes.invitations {
        set_invitation(session, invitation, changes.at).await?;
    }
    for chunk in changes.owed_turns.chunks(CHUNK) {
        matches::add_owed_turns(session, chunk).await?;
    }
    for chunk in changes.ratings.chunks(CHUNK) {
        ratings::add_ratings(session, chunk).await?;
    }
    for anew in &changes.ratings_anew {
        ratings::replace_ratings(session, anew).await?;
    }
    for game in &changes.stale_ratings {
        ratings::note_stale(session, *game, changes.at).await?;
    }
    write_dispatches(session, changes, packed).await?;
    for (key, value) in &changes.remembered {
        let statement = session.statement(REMEMBER).bind(key).bind(text(value));
        session.execute(statement).await?;
    }
    budgets::write(session, &changes.restraints).await
}

/// Writes matches, and the people who play them.
async fn write_matches(session: &mut Session<'_>, changes: &Changes) -> Result<()> {
    let (old, new) = partition_matches(&changes.matches)?;
    let ended = ends(&changes.entries);
    lock_matches(session, &old).await?;
    for chunk in new.chunks(CHUNK) {
        add_matches(session, chunk, &ended).await?;
    }
    for chunk in old.chunks(CHUNK) {
        change_matches(session, chunk, &ended).await?;
    }
    for player in &changes.players {
        save_player(session, player).await.map_err(address_taken)?;
    }
    for (merged, into) in &changes.merged {
        merge_players(session, *merged, *into).await?;
    }
    for change in &changes.player_changes {
        set_change(session, change).await?;
    }
    for chunk in changes.seats.chunks(CHUNK) {
        set_seats(session, chunk).await?;
    }
    for chunk in changes.seat_pins.chunks(CHUNK) {
        entries::add_seat_pins(session, chunk).await?;
    }
    for snapshot in &changes.snapshots {
        entries::keep_snapshot(session, snapshot).await?;
    }
    for newcomer in &changes.newcomers {
        let seats = add_newcomer(session, newcomer, changes.at).await.map_err(address_taken)?;
        set_seats(session, &seats).await?;
    }
    Ok(())
}

async fn write_letters(session: &mut Session<'_>, changes: &Changes) -> Result<()> {
    for chunk in changes.decided.chunks(CHUNK) {
        decide_letters(session, changes.at, chunk).await?;
    }
    if changes.decided.iter().any(|decision| decision.status == LetterStatus::Waiting) {
        notify(session, Wakeup::Letters).await?;
    }
    for unproven in &changes.unproven {
        set_unproven(session, unproven).await?;
    }
    for postponed in &changes.postponed {
        postpone_letter(session, postponed).await?;
    }
    Ok(())
}

async fn write_dispatches(
    session: &mut Session<'_>,
    changes: &Changes,
    packed: &[PackedDispatch],
) -> Result<()> {
    if !changes.returned.is_empty() {
        mark_returned(session, changes.at, &changes.returned).await?;
    }
    for chunk in changes.listed.chunks(CHUNK) {
        entries::mark_listed(session, chunk).await?;
    }
    if !changes.requeued.is_empty() {
        dispatches::requeue(session, changes.at, &changes.requeued).await?;
    }
    sending::record(session, changes.at, &changes.outcomes).await?;
    for (reader, kind) in &changes.replaced_digests {
        sending::replace_digests(session, reader, *kind).await?;
    }
    for (chunk, packed) in changes.dispatches.chunks(CHUNK).zip(packed.chunks(CHUNK)) {
        add_dispatches(session, changes.at, chunk, packed).await?;
    }
    lapse_replaced(session, changes.at, &changes.dispatches).await?;
    if !changes.dispatches.is_empty() || !changes.requeued.is_empty() {
        notify(session, Wakeup::Dispatches).await?;
    }
    Ok(())
}

/// Returns the time at which each match ended, by its last `MatchEnded` entry.
fn ends(entries: &[EntryRow]) -> BTreeMap<&str, i64> {
    let ends = entries.iter().filter(|entry| entry.kind == MATCH_ENDED);
    ends.map(|entry| (entry.chain.as_str(), entry.at.timestamp_millis())).collect()
}

/// Locks the matches in the order of their IDs, so that two commits cannot deadlock.
async fn lock_matches(session: &mut Session<'_>, matches: &[&MatchRow]) -> Result<()> {
    let engine = session.engine();
    // SQLite has one writer at a time.
    if engine == Engine::Sqlite || matches.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = matches.iter().map(|row| row.id.clone()).collect();
    let one_of = engine.one_of();
    let for_update = engine.for_update();
    let sql = format!("SELECT id FROM match WHERE id {one_of} ORDER BY id{for_update}");
    let statement = session.statement(sql).bind_texts(&ids);
    session.execute(statement).await
}

async fn add_matches(
    session: &mut Session<'_>,
    chunk: &[&MatchRow],
    ended: &BTreeMap<&str, i64>,
) -> Result<()> {
    let mut insert = session.statement(format!(
        "INSERT INTO match ({}, ended_at, wake_at, snapshot, version) ",
        matches::COLUMNS
    ));
    insert.push_rows(chunk, |values, row| {
        values.bind(&row.id).bind(row.overview.game).bind(row.overview.stage);
        matches::bind_overview(values, &row.overview);
        values
            .bind(ended.get(row.id.as_str()).copied())
            .bind(row.wake_at.map(|at| at.timestamp_millis()))
            .bind(&row.snapshot)
            .bind(1_i64);
    });
    // If another daemon has just taken the name of a match, the changes are stale and are decided again with
    // another name.
    insert.push(" ON CONFLICT (id) DO NOTHING RETURNING id");
    let added = session.fetch_column(insert.persistent(is_common(chunk.len()))).await?;
    ensure_all_found("match", chunk.iter().map(|row| row.id.clone()), added)
}

/// Updates matches. Most letters leave a match's stage and clock alone, and SQLite rewrites index entries
/// even for equal values, so the indexed columns are set only where they change.
async fn change_matches(
    session: &mut Session<'_>,
    chunk: &[&MatchRow],
    ended: &BTreeMap<&str, i64>,
) -> Result<()> {
    let condition = "AND NOT (stage <> n_stage OR wake_at IS DISTINCT FROM n_wake_at)";
    let mut changed = update_matches(session, chunk, ended, "", condition).await?;
    let others: Vec<&MatchRow> = chunk.iter().filter(|row| !changed.contains(&row.id)).copied().collect();
    if !others.is_empty() {
        let indexed = "stage = n_stage, wake_at = n_wake_at, \
                       ended_at = CASE WHEN n_stage = 'over' THEN COALESCE(n_ended_at, ended_at) END, ";
        changed.extend(update_matches(session, &others, ended, indexed, "").await?);
    }
    ensure_all_found("match", chunk.iter().map(|row| row.id.clone()), changed)
}

/// Updates the matches that meet `condition` and are still at the version that was loaded. Returns their IDs.
async fn update_matches(
    session: &mut Session<'_>,
    chunk: &[&MatchRow],
    ended: &BTreeMap<&str, i64>,
    set_indexed: &str,
    condition: &str,
) -> Result<Vec<String>> {
    let mut update = session.statement(format!(
        "WITH new (n_id, n_stage, {}, n_ended_at, n_wake_at, n_snapshot, n_version) AS (",
        matches::bound_columns(|column| format!("n_{column}"))
    ));
    update.push_rows(chunk, |values, row| {
        values.bind(&row.id).bind(row.overview.stage);
        matches::bind_overview(values, &row.overview);
        values
            .bind(ended.get(row.id.as_str()).copied())
            .bind(row.wake_at.map(|at| at.timestamp_millis()))
            .bind(&row.snapshot)
            .bind(row.version);
    });
    update.push(&format!(
        ") UPDATE match SET {set_indexed}{}, snapshot = n_snapshot, version = version + 1 \
         FROM new WHERE id = n_id AND version = n_version {condition} RETURNING id",
        matches::bound_columns(|column| format!("{column} = n_{column}"))
    ));
    session.fetch_column(update.persistent(is_common(chunk.len()))).await
}

async fn set_seats(session: &mut Session<'_>, chunk: &[SeatRow]) -> Result<()> {
    let mut upsert = session.statement("INSERT INTO seat (match_id, seat, player_id, token) ");
    upsert.push_rows(chunk, |values, row| {
        values.bind(&row.match_id).bind(row.seat).bind(row.player_id).bind(&row.token);
    });
    upsert.push(
        " ON CONFLICT (match_id, seat) DO UPDATE SET player_id = excluded.player_id, token = excluded.token",
    );
    session.execute(upsert.persistent(is_common(chunk.len()))).await
}

async fn decide_letters(
    session: &mut Session<'_>,
    at: DateTime<Utc>,
    chunk: &[LetterDecision],
) -> Result<()> {
    let mut update = session
        .statement("WITH decided (d_digest, d_status, d_note, d_match_id, d_seat, d_accepted_by) AS (");
    update.push_rows(chunk, |values, decision| {
        values
            .bind(decision.digest)
            .bind(decision.status)
            .bind(text(&decision.note))
            .bind(decision.seat.as_ref().map(|(match_id, _)| match_id))
            .bind(decision.seat.as_ref().map(|(_, seat)| *seat))
            .bind(decision.accepted_by.as_deref().map(text));
    });
    update.push(
        // A letter that a GM requeues starts with no failures: those counted before would set it aside at
        // once.
        ") UPDATE letter SET status = d_status, note = d_note, match_id = d_match_id, seat = d_seat, \
         accepted_by = COALESCE(d_accepted_by, accepted_by), \
         tries = CASE WHEN d_status = 'waiting' THEN 0 ELSE tries END, decided_at = ",
    );
    update.push_bind(at.timestamp_millis());
    update.push(
        " FROM decided WHERE digest = d_digest \
         AND CASE WHEN d_status = 'waiting' \
         THEN status IN ('answered', 'automatic', 'ignored', 'set_aside') AND bytes_deleted_at IS NULL \
         ELSE status = 'waiting' END RETURNING digest",
    );
    let changed: Vec<Digest> = session.fetch_column(update.persistent(is_common(chunk.len()))).await?;
    ensure_all_found("letter", chunk.iter().map(|decision| decision.digest), changed)
}

/// Defers a letter. If it has no time to wait for, ruling on it has failed, and the failure is counted.
async fn postpone_letter(session: &mut Session<'_>, postponed: &Postponed) -> Result<()> {
    let sql = "UPDATE letter SET wait_until = $2, note = $3, tries = tries + $4, match_id = $5 \
               WHERE digest = $1 AND status = 'waiting'";
    let statement = session
        .statement(sql)
        .bind(postponed.digest)
        .bind(postponed.until.map(|until| until.timestamp_millis()))
        .bind(text(&postponed.note))
        .bind(i64::from(postponed.until.is_none()))
        .bind(postponed.match_id.as_deref());
    session.execute(statement).await
}

/// Adds dispatches, which are due at once unless they are delayed.
async fn add_dispatches(
    session: &mut Session<'_>,
    at: DateTime<Utc>,
    chunk: &[NewDispatch],
    packed: &[PackedDispatch],
) -> Result<()> {
    let at = at.timestamp_millis();
    let mut insert = session.statement(
        "INSERT INTO dispatch \
         (message_id, recipient, kind, match_id, seat, answers, reminds, urgency, pin, \
         return_id, created_at, due_at) ",
    );
    insert.push_rows(chunk, |values, dispatch| {
        values
            .bind(&dispatch.message_id)
            .bind(text(&dispatch.recipient))
            .bind(dispatch.kind)
            .bind(dispatch.match_id.as_deref())
            .bind(dispatch.seat)
            .bind(dispatch.answers)
            .bind(dispatch.reminds.as_deref())
            .bind(dispatch.urgency as i64)
            .bind(dispatch.pin)
            .bind(dispatch.return_id.as_ref())
            .bind(at)
            .bind(dispatch.due.map_or(at, |due| due.timestamp_millis()));
    });
    insert.push(" RETURNING id, message_id");
    let is_persistent = is_common(chunk.len());
    let ids: Vec<(i64, String)> = session.fetch_all(insert.persistent(is_persistent)).await?;
    let names = chunk.iter().map(|dispatch| dispatch.message_id.as_str());
    add_packed(session, &with_ids(names.zip(packed), &ids)?).await
}

/// Lapses the letters that others replace, unless they are being sent or were sent.
async fn lapse_replaced(
    session: &mut Session<'_>,
    at: DateTime<Utc>,
    dispatches: &[NewDispatch],
) -> Result<()> {
    for new in dispatches {
        let Some((pin, match_id)) = new.replaces.zip(new.match_id.as_ref()) else { continue };
        let update = session.statement(
            "UPDATE dispatch SET due_at = NULL \
             WHERE match_id = $1 AND pin = $2 AND due_at > $3 AND tries = 0",
        );
        session.execute(update.bind(match_id).bind(pin).bind(at.timestamp_millis())).await?;
    }
    Ok(())
}

/// Adds the texts and the pictures of dispatches.
async fn add_packed(session: &mut Session<'_>, letters: &[(i64, &PackedDispatch)]) -> Result<()> {
    let mut insert = session.statement("INSERT INTO dispatch_raw (dispatch_id, bytes) ");
    insert.push_rows(letters, |values, (id, letter)| {
        values.bind(*id).bind(&letter.bytes);
    });
    session.execute(insert.persistent(is_common(letters.len()))).await?;
    let pictures: Vec<(i64, &Vec<u8>)> =
        letters.iter().filter_map(|(id, letter)| Some((*id, letter.picture.as_ref()?))).collect();
    if !pictures.is_empty() {
        let mut insert = session.statement("INSERT INTO dispatch_picture (dispatch_id, picture) ");
        insert.push_rows(&pictures, |values, (id, picture)| {
            values.bind(*id).bind(*picture);
        });
        session.execute(insert.persistent(is_common(pictures.len()))).await?;
    }
    Ok(())
}

/// Marks the dispatches with these Message-IDs as returned.
async fn mark_returned(session: &mut Session<'_>, at: DateTime<Utc>, message_ids: &[String]) -> Result<()> {
    let one_of = session.engine().one_of();
    let sql =
        format!("UPDATE dispatch SET returned_at = $2 WHERE returned_at IS NULL AND message_id {one_of}");
    let statement = session.statement(sql).bind_texts(message_ids).bind(at.timestamp_millis());
    session.execute(statement).await
}

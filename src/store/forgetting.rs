//! Forgets a player, and keeps every chain whole.

use chrono::{DateTime, Utc};

use super::columns::integer;
use super::entries::{add_to_ledgers, mark_listed};
use super::error::stale_if_serialization_failure;
use super::rows::{CHUNK, text};
use super::statement::Session;
use super::{Database, EntryRow, Result, StoreError};
use crate::ledger::Head;
use crate::letter::Digest;

/// Everything that the database holds about a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    /// The player's present and former addresses, except former ones that somebody else has now. Sorted.
    pub addresses: Vec<String>,
    /// The matches in which the player holds or held a seat, found by the letters from and to the player.
    /// Sorted.
    pub matches: Vec<String>,
    /// Letters from the player that wait for a ruling, and letters to the player that wait to be sent.
    pub waiting: u64,
}

/// A player to forget, with everything that changes.
#[derive(Clone, Debug)]
pub struct ForgottenPlayer {
    pub id: i64,
    /// The player's name from now on, such as `P-12`.
    pub name: String,
    pub traces: Traces,
    pub matches: Vec<ForgottenMatch>,
    pub at: DateTime<Utc>,
}

/// A match of a player to forget, as it is stored afterwards.
#[derive(Clone, Debug)]
pub struct ForgottenMatch {
    pub id: String,
    /// The version of the match that was loaded. It must not have changed when this is saved.
    pub version: i64,
    pub snapshot: String,
    pub first_name: String,
    pub second_name: String,
    /// The end of its ledger, including the entries that record it.
    pub head: Head,
    pub entries: Vec<EntryRow>,
    /// The pins of dispatches that these entries list as delivered.
    pub listed: Vec<Digest>,
}

impl Database {
    /// Returns the players forgotten in a match, such as `P-12` or `P-3, P-12`, or `None`.
    pub async fn forgotten_in(&self, match_id: &str) -> Result<Option<String>> {
        let select = self.statement("SELECT forgotten FROM match WHERE id = $1").bind(text(match_id));
        let found: Option<(Option<String>,)> = self.read_first(select).await?;
        Ok(found.and_then(|(forgotten,)| forgotten))
    }

    /// Returns the addresses that a player has or had, also those that somebody else has now.
    pub async fn addresses_ever_of(&self, player_id: i64) -> Result<Vec<String>> {
        self.read_column(self.statement(ADDRESSES).bind(player_id)).await
    }

    /// Whether a letter's bytes were deleted because its sender was forgotten, as was this player.
    pub async fn is_forgotten(&self, player_id: i64, letter: Digest) -> Result<bool> {
        let sql = "SELECT COUNT(*) FROM player p, letter l WHERE p.id = $1 AND p.forgotten_at IS NOT NULL \
                   AND l.digest = $2 AND l.forgotten_at IS NOT NULL";
        let (found,): (i64,) = self.read_one(self.statement(sql).bind(player_id).bind(letter)).await?;
        Ok(found > 0)
    }

    /// Returns everything that the database holds about the player with this number.
    pub async fn traces_of(&self, player_id: i64) -> Result<Traces> {
        traces_of(&mut self.backend.reader().await?.session(), player_id).await
    }

    /// Deletes a player's addresses and the bytes of all letters from and to them, renames the player
    /// everywhere, and adds the entries that record it. Digests stay.
    ///
    /// # Errors
    /// [`StoreError::Stale`] if the player's traces or a match have changed since they were loaded, or if a
    /// match is not over; nothing is written.
    pub async fn forget_player(&self, forgotten: &ForgottenPlayer) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        forget(&mut tx.session(), forgotten).await.map_err(stale_if_serialization_failure)?;
        tx.commit().await.map_err(stale_if_serialization_failure)
    }
}

async fn forget(session: &mut Session<'_>, forgotten: &ForgottenPlayer) -> Result<()> {
    // Change the matches first, as in a commit, and because the triggers allow the rest only in such matches.
    for of_match in &forgotten.matches {
        forget_in_match(session, of_match, &forgotten.name).await?;
    }
    // Locking the row waits for a match of the player that is just being opened.
    let sql = format!("SELECT id FROM player WHERE id = $1{}", session.engine().for_update());
    session.execute(session.statement(sql).bind(forgotten.id)).await?;
    if traces_of(session, forgotten.id).await? != forgotten.traces {
        return Err(StoreError::Stale(format!("player {}", forgotten.id)));
    }
    let addresses = &forgotten.traces.addresses;
    forget_letters(session, forgotten).await?;
    forget_traces(session, forgotten.id, addresses, &forgotten.name).await?;
    let sql = "UPDATE player SET name = $2, bouncing = $4, forgotten_at = $3, member = '{}' WHERE id = $1";
    let at = forgotten.at.timestamp_millis();
    let statement = session.statement(sql).bind(forgotten.id).bind(&forgotten.name).bind(at).bind(false);
    session.execute(statement).await
}

async fn forget_in_match(session: &mut Session<'_>, of_match: &ForgottenMatch, name: &str) -> Result<()> {
    let sql = "UPDATE match SET snapshot = $2, first_name = $3, second_name = $4, version = version + 1, \
               forgotten = COALESCE(forgotten || ', ', '') || $5, head_seq = $7, head_hash = $8 \
               WHERE id = $1 AND version = $6 AND stage = 'over'";
    let statement = session
        .statement(sql)
        .bind(&of_match.id)
        .bind(&of_match.snapshot)
        .bind(text(&of_match.first_name))
        .bind(text(&of_match.second_name))
        .bind(name)
        .bind(of_match.version)
        .bind(integer(of_match.head.seq))
        .bind(of_match.head.hash);
    session.change(statement, format!("match {}", of_match.id)).await?;
    // Kept snapshots contain the player's name.
    let kept = session.statement("DELETE FROM kept_snapshot WHERE match_id = $1").bind(text(&of_match.id));
    session.execute(kept).await?;
    let listed = of_match.listed.iter().map(|pin| (of_match.id.clone(), *pin));
    for chunk in listed.collect::<Vec<_>>().chunks(CHUNK) {
        mark_listed(session, chunk).await?;
    }
    add_to_ledgers(session, &of_match.entries).await
}

async fn traces_of(session: &mut Session<'_>, player_id: i64) -> Result<Traces> {
    let addresses = addresses_of(session, player_id).await?;
    let one_of = session.engine().one_of();
    let sql = format!(
        "SELECT match_id FROM seat WHERE player_id = $2 \
         UNION SELECT match_id FROM letter WHERE match_id IS NOT NULL AND sender {one_of} \
         UNION SELECT match_id FROM dispatch WHERE match_id IS NOT NULL AND recipient {one_of} ORDER BY 1"
    );
    let statement = session.statement(sql).bind_texts(&addresses).bind(player_id);
    let matches = session.fetch_column(statement).await?;
    let sql = format!(
        "SELECT (SELECT COUNT(*) FROM letter WHERE status = 'waiting' AND sender {one_of}) \
         + (SELECT COUNT(*) FROM dispatch WHERE due_at IS NOT NULL AND recipient {one_of})"
    );
    let (waiting,) = session.fetch_one(session.statement(sql).bind_texts(&addresses)).await?;
    Ok(Traces { addresses, matches, waiting })
}

/// Selects the addresses that the player `$1` has or had. Addresses that a ledger pins count only if nobody else
/// ever held the seat.
const ADDRESSES: &str = "SELECT address FROM address WHERE player_id = $1 \
    UNION SELECT registered FROM player_change WHERE player_id = $1 \
    UNION SELECT address FROM player_change WHERE player_id = $1 AND stage = 'done' AND kind <> 'leave' \
    UNION SELECT p.value FROM seat_pin p JOIN seat s ON s.match_id = p.match_id AND s.seat = p.seat \
    WHERE s.player_id = $1 AND p.kind = 'address' AND p.value IS NOT NULL AND NOT EXISTS \
    (SELECT 1 FROM entry e WHERE e.match_id = p.match_id AND e.kind = 'PlayerReplaced')";

/// Returns these addresses, except former ones that somebody else has now.
async fn addresses_of(session: &mut Session<'_>, player_id: i64) -> Result<Vec<String>> {
    let sql = format!("{ADDRESSES} EXCEPT SELECT address FROM address WHERE player_id <> $1 ORDER BY 1");
    session.fetch_column(session.statement(sql).bind(player_id)).await
}

/// Deletes the bytes of the letters from and to the player, and the personal data in their rows. A letter
/// that the player has confirmed is theirs, too, whatever its address.
async fn forget_letters(session: &mut Session<'_>, forgotten: &ForgottenPlayer) -> Result<()> {
    let one_of = session.engine().one_of();
    let addresses = &forgotten.traces.addresses;
    let at = forgotten.at.timestamp_millis();
    let sql = format!(
        // `sent_as` goes, too: anyone who guessed an address and a Message-ID could compare their digest with
        // it.
        "UPDATE letter SET forgotten_at = $2, bytes_deleted_at = COALESCE(bytes_deleted_at, $2), sender = '', \
         subject = '', message_id = '', sent_as = NULL WHERE sender {one_of} \
         OR digest IN (SELECT letter FROM unproven_letter WHERE player_id = $3 AND stage = 'confirmed') RETURNING id"
    );
    let statement = session.statement(sql).bind_texts(addresses).bind(at).bind(forgotten.id);
    let letters = session.fetch_column(statement).await?;
    let sql = format!(
        "UPDATE dispatch SET forgotten_at = $2, recipient = '' WHERE recipient {one_of} RETURNING id"
    );
    let statement = session.statement(sql).bind_texts(addresses).bind(at);
    let sent = session.fetch_column(statement).await?;
    // Delete the bytes only now that the rows are marked: the triggers allow it in no others.
    for (table, column, ids) in [
        ("letter_raw", "letter_id", &letters),
        ("dispatch_picture", "dispatch_id", &sent),
        ("dispatch_raw", "dispatch_id", &sent),
    ] {
        let statement =
            session.statement(format!("DELETE FROM {table} WHERE {column} {one_of}")).bind_numbers(ids);
        session.execute(statement).await?;
    }
    Ok(())
}

/// Deletes a player's addresses from all other tables.
async fn forget_traces(
    session: &mut Session<'_>,
    player_id: i64,
    addresses: &[String],
    name: &str,
) -> Result<()> {
    let one_of = session.engine().one_of();
    // Lapse open offers, because nobody could tell the author later that one was taken up or lapsed.
    let lapse = "stage = CASE stage WHEN 'open' THEN 'lapsed' ELSE stage END";
    let sql =
        format!("UPDATE invitation SET inviter = '', inviter_name = $2, {lapse} WHERE inviter {one_of}");
    let statement = session.statement(sql).bind_texts(addresses).bind(name);
    session.execute(statement).await?;
    for sql in [
        format!("UPDATE invitation SET invited = NULL, invited_name = NULL, {lapse} WHERE invited {one_of}"),
        format!("UPDATE unproven_letter SET address = '' WHERE address {one_of}"),
        format!("UPDATE seat_pin SET key = NULL, value = NULL WHERE kind = 'address' AND value {one_of}"),
        format!("DELETE FROM standing WHERE address {one_of}"),
        format!("DELETE FROM question WHERE address {one_of}"),
        format!("DELETE FROM budget WHERE subject {one_of}"),
    ] {
        let statement = session.statement(sql).bind_texts(addresses);
        session.execute(statement).await?;
    }
    for sql in [
        "UPDATE unproven_letter SET address = '' WHERE player_id = $1 AND stage = 'confirmed'",
        "DELETE FROM player_change WHERE player_id = $1",
        "DELETE FROM address WHERE player_id = $1",
    ] {
        let statement = session.statement(sql).bind(player_id);
        session.execute(statement).await?;
    }
    Ok(())
}

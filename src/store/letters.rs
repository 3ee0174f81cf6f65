//! Incoming letters: stored once each, listed, and deleted.
//!
//! Unproven letters: they claim to be from a player or a GM, who is asked and confirms or denies them.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::columns::integer;
use super::packing::{pack, unpack};
use super::rows::{CHUNK, is_common, text, with_ids};
use super::statement::{Session, notify};
use super::{
    Database, FROM_SPAM, LetterFilter, LetterRow, LetterStatus, NewLetter, Result, UnprovenLetter, Wakeup,
};
use crate::letter::Digest;

/// Selects the letters in the index `letter_unruled`: decided, named by no entry, and still with their bytes.
/// The second condition on the status is an expression, because SQLite would otherwise prefer the index by
/// status and sort everything in it.
const UNRULED: &str = "bytes_deleted_at IS NULL AND in_ledger = 0 AND status NOT IN ('waiting', 'ruled') \
                       AND status || '' IN ('answered', 'automatic', 'repeated', 'ignored', 'set_aside')";

/// The columns of [`LetterRow`].
pub const LETTER: &str = "digest, received_at, decided_at, sender, subject, size, status, note, match_id, seat, \
                          bytes_deleted_at";

/// The lane of the letters of all GMs.
pub const GM_LANE: &str = "gm";

impl Database {
    /// Stores letters durably, in order, and returns how many of them wait. Skips known digests; a known
    /// Message-ID, sender and text becomes [`LetterStatus::Repeated`].
    pub async fn insert_letters(&self, letters: &[NewLetter]) -> Result<usize> {
        if letters.is_empty() {
            return Ok(0);
        }
        let mut tx = self.backend.begin_intake().await?;
        let waiting = insert_letters(&mut tx.session(), letters).await?;
        tx.commit().await?;
        Ok(waiting)
    }

    /// Returns the addresses that belong to players. All are in lower case.
    pub async fn registered(&self, addresses: &[String]) -> Result<BTreeSet<String>> {
        registered_addresses(&mut self.backend.reader().await?.session(), addresses).await
    }

    /// Returns, for each of these letters, a stored letter with the same Message-ID and sender, and its size
    /// in bytes.
    pub async fn first_sent_as(&self, letters: &[NewLetter]) -> Result<Vec<Option<(Digest, u64)>>> {
        let wanted: Vec<Option<String>> = letters.iter().map(sent_as).collect();
        let values: Vec<String> = wanted.iter().flatten().cloned().collect();
        let found = stored_as(&mut self.backend.reader().await?.session(), &values).await?;
        Ok(wanted.iter().map(|sent_as| found.get(sent_as.as_ref()?).copied()).collect())
    }

    /// Returns how many of these letters were never stored: neither with these bytes, which a server may have changed
    /// since, nor with this Message-ID and sender.
    pub async fn count_unknown(&self, letters: &[NewLetter]) -> Result<usize> {
        let mut connection = self.backend.reader().await?;
        let mut session = connection.session();
        let digests: Vec<String> = letters.iter().map(|letter| letter.digest.to_string()).collect();
        let known = known_digests(&mut session, &digests).await?;
        let sent_as: Vec<Option<String>> = letters.iter().map(sent_as).collect();
        let values: Vec<String> = sent_as.iter().flatten().cloned().collect();
        let sent = stored_as(&mut session, &values).await?;
        let unknown = digests.iter().zip(&sent_as).filter(|(digest, sent_as)| {
            !known.contains(*digest) && !sent_as.as_ref().is_some_and(|value| sent.contains_key(value))
        });
        Ok(unknown.count())
    }

    /// Returns the bytes of a letter.
    pub async fn letter(&self, digest: Digest) -> Result<Option<Vec<u8>>> {
        let sql = "SELECT r.bytes FROM letter l JOIN letter_raw r ON r.letter_id = l.id WHERE l.digest = $1";
        let found: Option<(Vec<u8>,)> = self.read_first(self.statement(sql).bind(digest)).await?;
        found.map(|(bytes,)| unpack(&bytes)).transpose()
    }

    /// Lists up to `limit` letters with this status, match and hexadecimal digest prefix, newest first.
    pub async fn letters(
        &self,
        status: Option<LetterStatus>,
        match_id: Option<&str>,
        digest_prefix: &str,
        limit: u32,
    ) -> Result<Vec<LetterRow>> {
        let filter = LetterFilter {
            status,
            match_id: match_id.map(str::to_owned),
            digest_prefix: digest_prefix.to_owned(),
            ..LetterFilter::default()
        };
        self.find_letters(&filter, limit).await
    }

    /// Lists up to `limit` letters that fit, newest first.
    pub async fn find_letters(&self, filter: &LetterFilter, limit: u32) -> Result<Vec<LetterRow>> {
        let mut select = self.statement(format!("SELECT {LETTER} FROM letter WHERE TRUE"));
        if let Some(status) = filter.status {
            select.push(" AND status = ").push_bind(status);
        }
        if let Some(match_id) = &filter.match_id {
            select.push(" AND match_id = ").push_bind(text(match_id));
        }
        if !filter.digest_prefix.is_empty() {
            let first = text(&filter.digest_prefix).to_ascii_lowercase();
            // `g` sorts after every hexadecimal digit.
            let beyond = format!("{first}g");
            select.push(" AND digest >= ").push_bind(first).push(" AND digest < ").push_bind(beyond);
        }
        for (place, sender) in filter.senders.iter().enumerate() {
            select.push(if place == 0 { " AND (sender = " } else { " OR sender = " }).push_bind(text(sender));
        }
        if !filter.senders.is_empty() {
            select.push(")");
        }
        if let Some(since) = filter.since {
            select.push(" AND received_at >= ").push_bind(since.timestamp_millis());
        }
        select.push(" ORDER BY received_at DESC, id DESC LIMIT ").push_bind(i64::from(limit));
        self.read(select).await
    }

    /// Returns how many letters were taken from the provider's spam folder since `since`.
    pub async fn spam_letters_since(&self, since: DateTime<Utc>) -> Result<u64> {
        let sql =
            format!("SELECT COUNT(*) FROM letter WHERE received_at >= $1 AND origin LIKE '{FROM_SPAM}%'");
        let (letters,) = self.read_one(self.statement(sql).bind(since.timestamp_millis())).await?;
        Ok(letters)
    }

    /// Deletes the bytes of up to `limit` letters that were received before `received_before` and caused no
    /// ledger entry, oldest first, and returns how many. Keeps those from `kept_senders`. Digest, sender,
    /// subject and note stay, so a copy is still recognized. The database allows this at the earliest seven
    /// days after a letter was received.
    pub async fn delete_unruled(
        &self,
        now: DateTime<Utc>,
        received_before: DateTime<Utc>,
        kept_senders: &[String],
        limit: u32,
    ) -> Result<u64> {
        let one_of = self.one_of();
        let sql = format!(
            "UPDATE letter SET bytes_deleted_at = $2 WHERE id IN \
             (SELECT id FROM letter WHERE received_at < $3 AND {UNRULED} AND NOT (sender {one_of}) \
              ORDER BY received_at LIMIT $4) RETURNING id"
        );
        let update = self
            .statement(sql)
            .bind_texts(kept_senders)
            .bind(now.timestamp_millis())
            .bind(received_before.timestamp_millis())
            .bind(i64::from(limit));
        let mut tx = self.backend.begin().await?;
        let ids = tx.session().fetch_column(update).await?;
        // Delete the bytes only now that the letters are marked: a trigger allows it in no others.
        let delete = format!("DELETE FROM letter_raw WHERE letter_id {one_of}");
        let deleted = tx.session().execute_counted(self.statement(delete).bind_numbers(&ids)).await?;
        tx.commit().await?;
        Ok(deleted)
    }
}

/// A letter to store, with the values by which it is found.
struct Arrival<'a> {
    letter: &'a NewLetter,
    digest: String,
    /// The digest of sender and Message-ID. It also covers the text if an earlier letter has these two and
    /// another text.
    sent_as: Option<String>,
    status: LetterStatus,
    /// The match whose reply token it carries.
    match_id: Option<String>,
    /// Whether it is ruled on before strangers' letters.
    is_known: bool,
}

impl<'a> Arrival<'a> {
    fn of(letter: &'a NewLetter) -> Arrival<'a> {
        let sent_as = sent_as(letter).map(|sent_as| match letter.new_text {
            Some(text) => Digest::of(format!("{sent_as}\n{text}").as_bytes()).to_string(),
            None => sent_as,
        });
        let digest = letter.digest.to_string();
        Arrival { letter, digest, sent_as, status: LetterStatus::Waiting, match_id: None, is_known: false }
    }

    /// Returns the lane within which its letter stays in order: that of its match, of all GMs, or of its
    /// sender.
    fn lane(&self) -> &str {
        match &self.match_id {
            _ if self.letter.is_from_gm => GM_LANE,
            Some(match_id) => match_id,
            None => &self.letter.sender,
        }
    }
}

/// Marks the waiting letters of a sender as known, so that a sender's letters stay in order.
pub async fn move_to_known(session: &mut Session<'_>, sender: &str) -> Result<()> {
    // Update one sender at a time: for a list, SQLite would scan all waiting letters.
    let sql = "UPDATE letter SET known = 1 WHERE status = 'waiting' AND known = 0 AND sender = $1";
    let statement = session.statement(sql).bind(text(sender));
    session.execute(statement).await
}

/// Returns the digest of sender and Message-ID.
fn sent_as(letter: &NewLetter) -> Option<String> {
    // Hash both, because strangers choose their length.
    let both = format!("{}\n{}", letter.sender, letter.message_id);
    (!letter.message_id.is_empty()).then(|| Digest::of(both.as_bytes()).to_string())
}

/// Returns one stored letter, with its size, for each of these digests of senders and Message-IDs. All
/// letters under a digest have the same text, and there may be any number of them, so one is enough.
async fn stored_as(session: &mut Session<'_>, values: &[String]) -> Result<BTreeMap<String, (Digest, u64)>> {
    let items = session.engine().items();
    let sql = format!(
        "SELECT sent_as, digest, size FROM letter WHERE id IN \
         (SELECT (SELECT id FROM letter WHERE sent_as = value LIMIT 1) FROM {items})"
    );
    let statement = session.statement(sql).bind_texts(values);
    let found = session.fetch_all(statement).await?;
    Ok(found.into_iter().map(|(sent_as, digest, size)| (sent_as, (digest, size))).collect())
}

/// Stores letters within a transaction, and returns how many of them wait.
async fn insert_letters(session: &mut Session<'_>, letters: &[NewLetter]) -> Result<usize> {
    let arrivals: Vec<Arrival> = letters.iter().map(Arrival::of).collect();
    let digests: Vec<String> = arrivals.iter().map(|arrival| arrival.digest.clone()).collect();
    let sent_as: Vec<String> = arrivals.iter().filter_map(|arrival| arrival.sent_as.clone()).collect();
    let known = known_digests(session, &digests).await?;
    let sent_before = stored_as(session, &sent_as).await?.into_keys().collect();
    let mut new = deduplicate(arrivals, known, sent_before);
    let matches = matches_by_token(session, &new).await?;
    for arrival in &mut new {
        arrival.match_id = arrival.letter.tokens.iter().find_map(|token| matches.get(token)).cloned();
    }
    mark_known(session, &mut new).await?;
    for chunk in new.chunks(CHUNK) {
        insert_chunk(session, chunk).await?;
    }
    let waiting = new.iter().filter(|arrival| arrival.status == LetterStatus::Waiting).count();
    if waiting > 0 {
        notify(session, Wakeup::Letters).await?;
    }
    Ok(waiting)
}

/// Returns those of the digests that stored letters have.
async fn known_digests(session: &mut Session<'_>, digests: &[String]) -> Result<BTreeSet<String>> {
    let one_of = session.engine().one_of();
    let statement =
        session.statement(format!("SELECT digest FROM letter WHERE digest {one_of}")).bind_texts(digests);
    Ok(session.fetch_column(statement).await?.into_iter().collect())
}

/// Drops arrivals whose digest is `known`. Marks an arrival as repeated if its sender and Message-ID are
/// those of an earlier letter, in this batch or in `sent_before`.
fn deduplicate(
    arrivals: Vec<Arrival<'_>>,
    mut known: BTreeSet<String>,
    mut sent_before: BTreeSet<String>,
) -> Vec<Arrival<'_>> {
    let mut new = Vec::new();
    for mut arrival in arrivals {
        if !known.insert(arrival.digest.clone()) {
            continue;
        }
        if let Some(sent_as) = &arrival.sent_as
            && !sent_before.insert(sent_as.clone())
        {
            arrival.status = LetterStatus::Repeated;
        }
        new.push(arrival);
    }
    new
}

/// Returns the match of each reply token in the letters.
async fn matches_by_token(
    session: &mut Session<'_>,
    arrivals: &[Arrival<'_>],
) -> Result<BTreeMap<String, String>> {
    let tokens: Vec<String> =
        arrivals.iter().flat_map(|arrival| arrival.letter.tokens.iter().cloned()).collect();
    if tokens.is_empty() {
        return Ok(BTreeMap::new());
    }
    let one_of = session.engine().one_of();
    let statement = session
        .statement(format!("SELECT token, match_id FROM seat WHERE token {one_of}"))
        .bind_texts(&tokens);
    let found: Vec<(String, String)> = session.fetch_all(statement).await?;
    Ok(found.into_iter().collect())
}

/// Marks the arrivals that come before strangers' letters.
async fn mark_known(session: &mut Session<'_>, arrivals: &mut [Arrival<'_>]) -> Result<()> {
    let senders: Vec<String> = arrivals.iter().map(|arrival| arrival.letter.sender.clone()).collect();
    let registered = registered_addresses(session, &senders).await?;
    let mut shown = BTreeSet::new();
    for arrival in &mut *arrivals {
        let NewLetter { sender, is_from_gm, .. } = arrival.letter;
        arrival.is_known = *is_from_gm || registered.contains(sender) || arrival.match_id.is_some();
        if arrival.match_id.is_some() && !sender.is_empty() && !registered.contains(sender) {
            shown.insert(sender.clone());
        }
    }
    // One letter with a token makes the sender's others known, so that they stay in order.
    for arrival in &mut *arrivals {
        arrival.is_known |= shown.contains(&arrival.letter.sender);
    }
    for sender in shown {
        move_to_known(session, &sender).await?;
    }
    Ok(())
}

/// See [`Database::registered`].
async fn registered_addresses(session: &mut Session<'_>, addresses: &[String]) -> Result<BTreeSet<String>> {
    let one_of = session.engine().one_of();
    let statement = session.statement(format!("SELECT address FROM address WHERE address {one_of}"));
    Ok(session.fetch_column(statement.bind_texts(addresses)).await?.into_iter().collect())
}

async fn insert_chunk(session: &mut Session<'_>, chunk: &[Arrival<'_>]) -> Result<()> {
    let mut insert = session.statement(
        "INSERT INTO letter \
         (digest, received_at, origin, message_id, sender, subject, size, sent_as, status, lane, known) ",
    );
    insert.push_rows(chunk, |values, arrival| {
        let letter = arrival.letter;
        values
            .bind(&arrival.digest)
            .bind(letter.received_at.timestamp_millis())
            .bind(text(&letter.origin))
            .bind(text(&letter.message_id))
            .bind(text(&letter.sender))
            .bind(text(&letter.subject))
            .bind(integer(letter.raw.len() as u64))
            .bind(arrival.sent_as.as_deref())
            .bind(arrival.status)
            .bind(text(arrival.lane()))
            .bind(i64::from(arrival.is_known));
    });
    insert.push(" RETURNING id, digest");
    let is_persistent = is_common(chunk.len());
    let ids: Vec<(i64, String)> = session.fetch_all(insert.persistent(is_persistent)).await?;
    let bytes = chunk.iter().map(|arrival| (arrival.digest.as_str(), arrival.letter.raw.as_slice()));
    let bytes = with_ids(bytes, &ids)?;
    let mut insert = session.statement("INSERT INTO letter_raw (letter_id, bytes) ");
    insert.push_rows(bytes, |values, (id, bytes)| {
        values.bind(id).bind(pack(bytes));
    });
    session.execute(insert.persistent(is_persistent)).await
}

const COLUMNS: &str =
    "letter, code, player_id, match_id, seat, gm, address, noted_at, told, stage, confirmed_by";

/// Maximum time between a letter's arrival and its note: the letter may wait for the DNS, or for a daemon
/// that is down.
const RECEIVED_BEFORE: TimeDelta = TimeDelta::days(14);

impl Database {
    /// Returns the unproven letters in a player's name that were noted since `since`, oldest first.
    pub async fn unproven_letters(
        &self,
        player_id: i64,
        since: DateTime<Utc>,
    ) -> Result<Vec<UnprovenLetter>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM unproven_letter WHERE player_id = $1 AND noted_at >= $2 \
             ORDER BY noted_at, letter"
        );
        self.read(self.statement(sql).bind(player_id).bind(since.timestamp_millis())).await
    }

    /// Returns the unproven letters in a GM's name that were noted since `since`, oldest first.
    pub async fn unproven_letters_of_gm(
        &self,
        gm: &str,
        since: DateTime<Utc>,
    ) -> Result<Vec<UnprovenLetter>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM unproven_letter WHERE gm = $1 AND noted_at >= $2 ORDER BY noted_at, letter"
        );
        self.read(self.statement(sql).bind(text(gm)).bind(since.timestamp_millis())).await
    }

    /// Returns the unproven letters under the code of a notice that were noted since `since`, oldest first.
    pub async fn unproven_under(&self, code: &str, since: DateTime<Utc>) -> Result<Vec<UnprovenLetter>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM unproven_letter WHERE code = $1 AND noted_at >= $2 ORDER BY noted_at, letter"
        );
        self.read(self.statement(sql).bind(text(code)).bind(since.timestamp_millis())).await
    }

    /// Returns the rows of the letters among these that were unproven at first.
    pub async fn unproven_named(&self, letters: &[Digest]) -> Result<Vec<UnprovenLetter>> {
        let one_of = self.one_of();
        let sql = format!("SELECT {COLUMNS} FROM unproven_letter WHERE letter {one_of} ORDER BY letter");
        self.read(self.statement(sql).bind_digests(letters)).await
    }

    /// Returns up to `limit` unproven letters in players' names that were noted from `from` to `until` and
    /// that nobody has confirmed or denied, oldest first. Finds them through the index of letters by status,
    /// because their own index begins with the player.
    pub async fn unanswered_letters(
        &self,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<UnprovenLetter>> {
        let columns = COLUMNS.split(", ").map(|column| format!("u.{column}")).collect::<Vec<_>>().join(", ");
        let sql = format!(
            "SELECT {columns} FROM letter l JOIN unproven_letter u ON u.letter = l.digest \
             WHERE l.status = 'ignored' AND l.received_at >= $1 AND l.received_at < $3 \
             AND u.player_id IS NOT NULL AND u.stage = 'open' AND u.noted_at >= $2 AND u.noted_at < $3 ORDER BY u.noted_at, u.letter LIMIT $4"
        );
        let statement = self
            .statement(sql)
            .bind((from - RECEIVED_BEFORE).timestamp_millis())
            .bind(from.timestamp_millis())
            .bind(until.timestamp_millis())
            .bind(i64::from(limit));
        self.read(statement).await
    }
}

/// Adds a letter, or notes the player's answer about one that is open.
///
/// # Errors
/// [`StoreError::Stale`](super::StoreError::Stale) if the player has answered already.
pub async fn set_unproven(session: &mut Session<'_>, row: &UnprovenLetter) -> Result<()> {
    let sql = format!(
        // Only an open letter changes, so that the first answer about it counts.
        "INSERT INTO unproven_letter ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
         ON CONFLICT (letter) DO UPDATE SET stage = excluded.stage, confirmed_by = excluded.confirmed_by \
         WHERE unproven_letter.stage = 'open'"
    );
    let statement = session
        .statement(sql)
        .bind(row.letter)
        .bind(&row.code)
        .bind(row.player_id)
        .bind(row.match_id.as_deref())
        .bind(row.seat)
        .bind(row.gm.as_deref().map(text))
        .bind(text(&row.address))
        .bind(row.noted_at.timestamp_millis())
        .bind(row.told)
        .bind(row.stage)
        .bind(row.confirmed_by);
    session.change(statement, format!("unproven letter {}", row.letter)).await
}

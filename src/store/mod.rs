//! A club's database behind one trait: letters, players, matches, ledgers and the outbox. All SQL is in this folder.
//!
//! The store decides nothing. Instants are Unix milliseconds, digests 64 hexadecimal digits. SQLite and PostgreSQL share
//! their SQL and the functions that run it (`database`, `settle`); what differs is in `sqlite` and `postgres`. The URL
//! selects the database ([`open`]).

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

pub use self::budgets::{BudgetKey, BudgetKind, BudgetUse, Question, Restraints, Standing};
pub use self::changes::{ChangeKind, ChangeStage, PlayerChange};
use self::database::Database;
pub use self::entries::EntryRow;
pub use self::error::{Result, StoreError};
pub use self::evidence::{Evidence, NamedLetter};
pub use self::forgetting::{Forgetting, ForgottenMatch, ForgottenPlayer, Traces};
pub use self::letter_lookups::LetterLookups;
pub use self::packing::pack;
pub use self::player_changes::PlayerChanges;
pub use self::player_digests::PlayerDigests;
pub use self::restored::{RESTORED, TO_BE_READ_AGAIN, restore};
pub use self::sending::DispatchQueue;
pub use self::sending_values::*;
pub use self::settlement::Settlement;
pub use self::sqlite::{sqlite_file, sqlite_url};
use self::statement::Tx;
pub use self::values::*;
pub use self::verified::VerifiedMatches;
use crate::game::Seat;
use crate::letter::Digest;
use crate::referee::{MatchOverview, Stage};

mod backend;
mod budgets;
pub mod carry;
mod cell;
mod changes;
mod database;
mod dispatches;
mod entries;
mod error;
mod evidence;
mod forgetting;
mod in_work;
mod letter_lookups;
mod letters;
mod migration;
mod newcomers;
mod notify;
mod overview;
mod packing;
mod pictures;
mod pinned;
mod player_changes;
mod player_digests;
mod players;
mod postgres;
pub mod private;
mod restored;
mod rows;
mod schema;
mod sending;
mod sending_values;
mod settle;
mod settlement;
mod sqlite;
mod statement;
mod unproven;
mod unruled;
mod values;
mod verified;
mod waiting;

/// Receives rows as they are read.
pub type RowSink<'a, T> = &'a mut (dyn FnMut(T) + Send);

/// Keeps other daemons off the database until it is dropped or the process ends.
#[must_use = "the database is locked only as long as this lives"]
#[derive(Debug)]
pub struct DatabaseLock {
    _lock: Option<File>,
}

/// Exclusive use of claimed letters or dispatches, until it is handed back or dropped. It also ends when the process
/// dies, or when the database has not heard from the process for too long.
#[derive(Default)]
pub struct Claim {
    /// Holds the row locks; what is written under the claim is written in this transaction.
    transaction: Option<Tx>,
    /// Ends the claim when its last copy is dropped. A claim that is made while this one is held shares it.
    guard: Option<Arc<dyn Send + Sync>>,
    /// Digests of the claimed letters.
    letters: Vec<String>,
}

impl Claim {
    fn locking(transaction: Tx) -> Claim {
        Claim { transaction: Some(transaction), ..Claim::default() }
    }

    fn guarded(guard: Arc<dyn Send + Sync>) -> Claim {
        Claim { guard: Some(guard), ..Claim::default() }
    }
}

/// Opens the database at `url`, creates a missing SQLite file, and brings the tables up to date.
///
/// Examples: `sqlite:fogpost.db`, `sqlite:/var/lib/fogpost/fogpost.db`, `postgres://user@host/database`.
///
/// # Errors
/// [`StoreError::Open`] if the database cannot be opened, with the reason in one line; [`StoreError::Newer`] if a newer
/// program migrated the database. No error repeats the URL: it may hold a password.
pub async fn open(url: &str) -> Result<Arc<dyn Store>> {
    match url.split_once(':').map(|(scheme, _)| scheme) {
        Some("sqlite") => Ok(Arc::new(Database::new(sqlite::SqliteBackend::open(url).await?))),
        Some("postgres" | "postgresql") => {
            Ok(Arc::new(Database::new(postgres::PostgresBackend::open(url).await?)))
        }
        _ => Err(StoreError::misnamed("its URL begins neither with sqlite: nor with postgres:")),
    }
}

/// Returns the host of the PostgreSQL server that `url` names, if it is another machine and the connection does not
/// verify who answers there: whoever is in between could read and change everything. The URL or PGSSLMODE asks for the
/// verification with `sslmode=verify-full`.
pub fn unverified_server(url: &str) -> Option<String> {
    match url.split_once(':').map(|(scheme, _)| scheme) {
        Some("postgres" | "postgresql") => postgres::unverified_server(url),
        Some(_) | None => None,
    }
}

/// Saves a value under a key, in place of an earlier one.
const REMEMBER: &str = "INSERT INTO memo (key, value) VALUES ($1, $2) \
                        ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/// Selects the version of the tables. Fails if there are no tables yet.
const TABLES_VERSION: &str = "SELECT MAX(version) FROM _sqlx_migrations";

/// A club's database. Several processes may write at once, so reading reserves nothing: only claims are exclusive, and
/// [`Store::commit`] rejects a settlement based on outdated rows.
#[async_trait]
pub trait Store:
    PlayerChanges
    + PlayerDigests
    + LetterLookups
    + DispatchQueue
    + Evidence
    + Forgetting
    + VerifiedMatches
    + Send
    + Sync
{
    /// Locks the database for one daemon, named by `owner`. A no-op on PostgreSQL.
    ///
    /// # Errors
    /// [`StoreError::Locked`], naming the current owner.
    async fn lock(&self, owner: &str) -> Result<DatabaseLock>;

    /// Whether several daemons may work on this database.
    fn is_shared(&self) -> bool;

    /// Acquires or keeps the lease, and returns whether this daemon has it. Call it often: a lost connection drops it.
    async fn try_acquire_lease(&self, lease: &str) -> Result<bool>;

    /// Releases a lease, if this daemon holds it.
    async fn release_lease(&self, lease: &str);

    /// Waits until another process queues work. Never resolves on SQLite, where the loops poll.
    async fn next_wakeup(&self) -> Result<Wakeup>;

    /// Stores letters durably, in order, and returns how many of them wait. Skips known digests; a known Message-ID,
    /// sender and text becomes [`LetterStatus::Repeated`].
    async fn insert_letters(&self, letters: &[NewLetter]) -> Result<usize>;

    /// Returns those of the addresses, in lower case, that belong to players.
    async fn registered(&self, addresses: &[String]) -> Result<BTreeSet<String>>;

    /// Claims up to `limit` waiting letters, oldest first, skipping those deferred past `now`. All are from the queue
    /// `first`, or from the other one if there is nothing to claim in that. Of strangers' letters it claims few, so that
    /// players' need not wait long. A match's letters have one claimant at a time and stay in order. The caller keeps that
    /// order across an uncommitted claim `before`.
    async fn claim_letters(
        &self,
        now: DateTime<Utc>,
        limit: u32,
        first: LetterQueue,
        before: Option<&mut Claim>,
    ) -> Result<(Vec<WaitingLetter>, Claim)>;

    /// Notes, for the time after a crash, which letters the daemon `owner` reads and rules on, in place of those that it
    /// noted before; none when it has done so. Waits for no disk: what is noted survives the process, but perhaps not a power failure.
    async fn note_in_work(&self, owner: &str, letters: &[Digest]) -> Result<()>;

    /// Returns each daemon that has noted letters in work, with these letters.
    async fn letters_in_work(&self) -> Result<Vec<(String, Vec<Digest>)>>;

    /// Returns when the oldest waiting letter arrived, claimed or not, ignoring letters deferred past `now`.
    async fn oldest_waiting(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>>;

    /// Returns the matches with letters that are deferred past `now`.
    async fn matches_with_deferred_letters(&self, now: DateTime<Utc>) -> Result<Vec<String>>;

    /// Returns the bytes of a letter.
    async fn letter(&self, digest: Digest) -> Result<Option<Vec<u8>>>;

    /// Lists letters, newest first, that have this status, match and hexadecimal digest prefix.
    async fn letters(
        &self,
        status: Option<LetterStatus>,
        match_id: Option<&str>,
        digest_prefix: &str,
        limit: u32,
    ) -> Result<Vec<LetterRow>>;

    /// Deletes the bytes of up to `limit` letters that were received before then and caused no ledger entry, oldest
    /// first, and returns how many. Keeps those from `kept_senders`. Digest, sender, subject and note stay, so a copy
    /// is still recognized. The database allows this at the earliest seven days after a letter was received.
    async fn delete_unruled(
        &self,
        now: DateTime<Utc>,
        received_before: DateTime<Utc>,
        kept_senders: &[String],
        limit: u32,
    ) -> Result<u64>;

    /// Deletes the pictures of up to `limit` of our letters that were sent seven days before `now` or earlier, keeps their
    /// digests, and returns how many. The database allows this no earlier.
    async fn drop_pictures(&self, now: DateTime<Utc>, limit: u32) -> Result<u64>;

    /// Returns how the tables, indexes and triggers differ from those of this program, each in a line.
    async fn schema_faults(&self) -> Result<Vec<String>>;

    /// Returns the free bytes on the disk of the database, or `None` if a server stores it.
    fn free_bytes(&self) -> Result<Option<u64>>;

    /// Returns both seats of each match that has a seat with one of these tokens, by match, then seat.
    async fn seats_by_token(&self, tokens: &[String]) -> Result<Vec<TokenRow>>;

    /// Returns both seats of each match.
    async fn seats_of(&self, match_ids: &[String]) -> Result<Vec<TokenRow>>;

    /// Returns when each match was opened, and when it ended.
    async fn match_dates(&self, match_ids: &[String]) -> Result<Vec<MatchDates>>;

    async fn matches(&self, ids: &[String]) -> Result<Vec<MatchRow>>;

    /// Returns what a ruling needs of matches: lists show the rest, and the rest follows from the snapshot.
    async fn snapshots(&self, ids: &[String]) -> Result<Vec<SnapshotRow>>;

    /// Returns all match IDs, sorted.
    async fn match_ids(&self) -> Result<Vec<String>>;

    /// Streams all matches, or those in this stage, by ID.
    async fn list_matches(&self, stage: Option<Stage>, take: RowSink<'_, MatchOverview>) -> Result<()>;

    /// Returns up to `limit` matches whose `wake_at` has come, longest overdue first, starting after the match `after`.
    async fn matches_due(
        &self,
        now: DateTime<Utc>,
        after: Option<&MatchRow>,
        limit: u32,
    ) -> Result<Vec<MatchRow>>;

    /// Returns up to `limit` matches in which the clock has nothing to decide until then, by ID.
    async fn matches_asleep(&self, past: DateTime<Utc>, limit: u32) -> Result<Vec<MatchRow>>;

    /// Claims the house's turns in these matches, but for those that another daemon has claimed, and returns the IDs of the
    /// claimed ones. Does not keep anybody from writing to a match.
    async fn claim_house_turns(&self, matches: &[String]) -> Result<(Vec<String>, Claim)>;

    /// Returns the matches in which this player holds a seat, each with that seat, by ID.
    async fn matches_of(&self, player_id: i64) -> Result<Vec<(Seat, MatchOverview)>>;

    async fn invitation(&self, code: &str) -> Result<Option<Invitation>>;

    /// Returns the open invitations, oldest first; with `lapsing_by`, only those that lapse by then.
    async fn open_invitations(&self, lapsing_by: Option<DateTime<Utc>>) -> Result<Vec<Invitation>>;

    /// Whether the address `invited` declined an offer of the address `inviter`.
    async fn has_declined(&self, inviter: &str, invited: &str) -> Result<bool>;

    /// Returns the counts of these subjects in periods that began at `since` or later.
    async fn budgets(&self, subjects: &[String], since: DateTime<Utc>) -> Result<Vec<(BudgetKey, u32)>>;

    /// Returns what is known of these addresses.
    async fn standings(&self, addresses: &[String]) -> Result<Vec<(String, Standing)>>;

    /// Returns the question to each of these addresses, lapsed or not.
    async fn questions(&self, addresses: &[String]) -> Result<Vec<(String, Question)>>;

    /// Deletes the counts of periods that began before `past`, and the questions that have lapsed by `now`.
    async fn delete_past_restraints(&self, past: DateTime<Utc>, now: DateTime<Utc>) -> Result<()>;

    /// Commits a settlement atomically. Deciding an answered, automatic, ignored or set-aside letter as `Waiting`
    /// requeues it.
    ///
    /// # Errors
    /// [`StoreError::Stale`] if a match, letter or invitation changed after it was loaded; nothing is written.
    async fn commit(&self, settlement: &Settlement) -> Result<()> {
        self.commit_claimed(Claim::default(), settlement).await
    }

    /// Commits a settlement under a claim, and ends the claim even if it fails.
    ///
    /// # Errors
    /// Same as [`Store::commit`].
    async fn commit_claimed(&self, claim: Claim, settlement: &Settlement) -> Result<()>;

    /// Returns a match's entries in order.
    async fn entries(&self, match_id: &str) -> Result<Vec<EntryRow>>;

    /// Returns the entries of this kind since then, in all matches, oldest first.
    async fn entries_since(&self, kind: &str, since: DateTime<Utc>) -> Result<Vec<EntryRow>>;

    /// Streams up to `limit` of a match's entries after the entry `seq`, in order. `None` starts with the first row,
    /// whatever its number.
    async fn entries_after(
        &self,
        match_id: &str,
        seq: Option<u64>,
        limit: u32,
        take: RowSink<'_, EntryRow>,
    ) -> Result<()>;

    /// Returns up to `limit` letters that acted in a match, after the row `id`, with the row ID of the last. Returns
    /// `None` if there are no more.
    async fn acted_after(&self, match_id: &str, id: i64, limit: u32) -> Result<Option<(i64, Vec<Digest>)>>;

    /// Returns all dispatches of a match, oldest first, with their bytes.
    async fn dispatches_of(&self, match_id: &str) -> Result<Vec<(DispatchRow, Vec<u8>)>>;

    /// Lists dispatches, newest first. Unsent ones are queued or were given up.
    async fn list_dispatches(&self, only_unsent: bool, limit: u32) -> Result<Vec<DispatchRow>>;

    /// Returns the dispatches with these Message-IDs.
    async fn dispatches_named(&self, ids: &[String]) -> Result<Vec<DispatchRow>>;

    /// Returns the bytes of the dispatches with these Message-IDs, without their pictures.
    async fn texts_by_message_id(&self, ids: &[String]) -> Result<Vec<(String, Vec<u8>)>>;

    /// Returns the answers to letters that these recipients were sent in at least the two hours after `since`, oldest
    /// first.
    async fn answers_to(&self, recipients: &[String], since: DateTime<Utc>) -> Result<Vec<AnswerRow>>;

    /// Makes letters and dispatches due now that are deferred past then, and lets the digests of players that are due
    /// after then be scheduled anew: the clock was wrong when it deferred them.
    async fn retry_deferred(&self, now: DateTime<Utc>, past: DateTime<Utc>) -> Result<()>;

    /// Returns the player with this address, adding one called `name` if there is none.
    async fn find_or_add_player(&self, address: &str, name: &str, now: DateTime<Utc>) -> Result<Player>;

    /// Saves a player's name, settings, all addresses in order, and whether letters bounce.
    ///
    /// # Errors
    /// [`StoreError::AddressTaken`] if another player has one of the addresses.
    async fn save_player(&self, player: &Player) -> Result<()>;

    async fn player_by_address(&self, address: &str) -> Result<Option<Player>>;

    /// Returns the letters in a player's name that were not proven to be theirs and came since then, oldest first.
    async fn unproven_letters(&self, player_id: i64, since: DateTime<Utc>) -> Result<Vec<UnprovenLetter>>;

    /// Returns all players by ID.
    async fn players(&self) -> Result<Vec<Player>>;

    /// Returns up to `limit` players with an address who were added since then, by ID.
    async fn players_since(&self, since: DateTime<Utc>, limit: u32) -> Result<Vec<Player>>;

    /// Returns how many dispatches were written since then, or a hundred thousand if there are more.
    async fn dispatches_since(&self, since: DateTime<Utc>) -> Result<u64>;

    async fn queues(&self) -> Result<Queues>;

    /// Returns a value that [`Store::remember`] saved, such as a heartbeat or the version that ran last.
    async fn remembered(&self, key: &str) -> Result<Option<String>>;

    async fn remember(&self, key: &str, value: &str) -> Result<()>;
    /// Remembers a value unless there is one, as another daemon may have stored it meanwhile. Returns the one that stands.
    async fn remember_first(&self, key: &str, value: &str) -> Result<String>;

    /// Returns all remembered keys with this prefix and their values, by key.
    async fn remembered_under(&self, prefix: &str) -> Result<Vec<(String, String)>>;

    async fn forget(&self, key: &str) -> Result<()>;

    /// Returns the engine and the version of the tables: `SQLite 3.50.2, tables of version 2`.
    async fn about(&self) -> Result<String>;

    /// Writes a consistent copy of the database while others work on it.
    ///
    /// # Errors
    /// Returns an error if `to` exists or cannot be written, or on PostgreSQL, which has its own tools.
    async fn backup(&self, to: &Path) -> Result<()>;

    /// Flushes and closes the database.
    async fn close(&self);
}

//! What is kept, behind one trait: letters, players, matches, ledgers, the outbox. All SQL lives in this folder.
//!
//! It stores what it is told and decides nothing. Every instant is kept as Unix milliseconds, every digest as 64
//! hexadecimal digits. SQLite and PostgreSQL share one body of SQL (`backend.rs`, `settle.rs`); what differs between
//! them is in their own modules, and the URL of a database chooses ([`open`]).

use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::Acquire;
use sqlx::migrate::{Migrate, MigrateError, Migrator};

use self::database::Database;
pub use self::error::{Result, StoreError};
use self::statement::Tx;
pub use self::values::*;
use crate::letter::Digest;
use crate::referee::Stage;

mod backend;
pub mod carry;
mod database;
mod error;
mod letters;
mod players;
mod postgres;
mod rows;
mod settle;
mod sqlite;
mod statement;
mod values;

/// Everything that one ruling, or many, changes: one transaction.
#[derive(Clone, Debug, Default)]
pub struct Settlement {
    pub at: DateTime<Utc>,
    /// Letters of a match that was played elsewhere; those that come to us are kept by [`Store::insert_letters`].
    pub letters: Vec<NewLetter>,
    pub decided: Vec<LetterDecision>,
    /// Of letters that no longer wait nothing is noted.
    pub postponed: Vec<Postponed>,
    /// Each at most once; `version` is the one the match was loaded with.
    pub matches: Vec<MatchRow>,
    /// Written whole for the matches that are new, or whose holders or tokens change.
    pub seats: Vec<SeatRow>,
    /// Those of a match in their order.
    pub entries: Vec<EntryRow>,
    pub dispatches: Vec<NewDispatch>,
    /// Dispatches that were sent by another club: kept, and never sent from here.
    pub posted: Vec<NewDispatch>,
    /// New ones, and those that are no longer open; one that is new and taken at once stands twice.
    pub invitations: Vec<Invitation>,
    /// Written whole, as by [`Store::save_player`].
    pub players: Vec<Player>,
    /// Players who are gone, each with the one who takes over all seats and addresses.
    pub merged: Vec<(i64, i64)>,
    /// The Message-IDs of dispatches that came back.
    pub returned: Vec<String>,
}

/// Whoever takes rows as they are read.
pub type Take<'a, T> = &'a mut (dyn FnMut(T) + Send);

/// Keeps other daemons off the database for as long as it lives, and no longer than the process.
#[must_use = "the database is held only as long as this lives"]
#[derive(Debug)]
pub struct DatabaseLock {
    _lock: Option<File>,
}

/// What was claimed is nobody else's until this is handed back or dropped; when the process that claimed dies, or the
/// database has heard nothing from it for too long, it is free again.
#[derive(Default)]
pub struct Claim {
    /// Holds the locks of rows, and ends with whatever is written under the claim.
    transaction: Option<Tx>,
    /// Lets go when it, and what was claimed beside it, is dropped.
    guard: Option<Arc<dyn Send + Sync>>,
    /// The letters that are claimed, by their digests.
    letters: Vec<String>,
}

impl Settlement {
    /// Whether it changes nothing but letters that waited and matches, with what is written about them.
    pub fn is_of_matches(&self) -> bool {
        let Settlement {
            at: _,
            letters,
            decided: _,
            postponed: _,
            matches: _,
            seats,
            entries: _,
            dispatches: _,
            posted,
            invitations,
            players,
            merged,
            returned,
        } = self;
        let people = seats.is_empty() && players.is_empty() && merged.is_empty() && invitations.is_empty();
        people && letters.is_empty() && posted.is_empty() && returned.is_empty()
    }

    /// Adds what was decided about other matches at the same time.
    pub fn absorb(&mut self, other: Settlement) {
        let Settlement {
            at: _,
            letters,
            decided,
            postponed,
            matches,
            seats,
            entries,
            dispatches,
            posted,
            invitations,
            players,
            merged,
            returned,
        } = other;
        self.letters.extend(letters);
        self.decided.extend(decided);
        self.postponed.extend(postponed);
        self.matches.extend(matches);
        self.seats.extend(seats);
        self.entries.extend(entries);
        self.dispatches.extend(dispatches);
        self.posted.extend(posted);
        self.invitations.extend(invitations);
        self.players.extend(players);
        self.merged.extend(merged);
        self.returned.extend(returned);
    }
}

impl Claim {
    fn locking(transaction: Tx) -> Claim {
        Claim { transaction: Some(transaction), ..Claim::default() }
    }

    fn guarded(guard: Arc<dyn Send + Sync>) -> Claim {
        Claim { guard: Some(guard), ..Claim::default() }
    }
}

/// What another daemon, or another command, has left to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakeup {
    /// Letters wait to be ruled on.
    Letters,
    /// Dispatches wait to be sent.
    Dispatches,
}

/// Opens the database that `url` names, makes it where it is missing (SQLite) and brings its tables up to date.
///
/// `sqlite:fogpost.db`, `sqlite:/var/lib/fogpost/fogpost.db`, `postgres://user@host/database`.
///
/// # Errors
/// [`StoreError::Open`] in one line that says what is wrong, [`StoreError::Newer`] for a database that a newer
/// program has changed. No error repeats the URL: it may hold a password.
pub async fn open(url: &str) -> Result<Arc<dyn Store>> {
    match url.split_once(':').map(|(scheme, _)| scheme) {
        Some("sqlite") => Ok(Arc::new(Database::new(sqlite::SqliteBackend::open(url).await?))),
        Some("postgres" | "postgresql") => {
            Ok(Arc::new(Database::new(postgres::PostgresBackend::open(url).await?)))
        }
        _ => Err(StoreError::misnamed("its URL begins neither with sqlite: nor with postgres:")),
    }
}

/// Puts the backup `from` in the place of the database that `url` names, and says where the one before it is now.
/// The next daemon reads the letters again that the mailbox has filed as processed.
///
/// # Errors
/// [`StoreError::Locked`] while a daemon works on it; [`StoreError::Open`] when `from` is no database of ours, or for
/// PostgreSQL, which has tools of its own.
pub async fn restore(url: &str, from: &Path) -> Result<Option<PathBuf>> {
    match url.split_once(':').map(|(scheme, _)| scheme) {
        Some("sqlite") => sqlite::restore(url, from).await,
        _ => Err(StoreError::misnamed("a PostgreSQL database is restored with pg_restore")),
    }
}

/// The key under which a restored database says so, until the processed letters are read again.
pub const RESTORED: &str = "restored";

/// What stands under it until then.
pub const TO_BE_READ_AGAIN: &str = "to be read again";

/// The version of the tables; an error before there are any.
const TABLES_VERSION: &str = "SELECT MAX(version) FROM _sqlx_migrations";

/// Says in the log that a database of an earlier program was brought up to date.
fn log_migration(before: Option<i64>, migrations: &Migrator) {
    let now = migrations.iter().map(|migration| migration.version).max();
    if before != now {
        tracing::info!(from = before, to = now, "the tables were brought up to date");
    }
}

/// Brings the tables up to date.
///
/// Not an `async fn`: of that the compiler could not tell that it is `Send` (rust-lang/rust#110338).
fn migrate<'a, A>(
    migrations: &'static Migrator,
    connection: A,
) -> Pin<Box<dyn Future<Output = Result<(), MigrateError>> + Send + 'a>>
where
    A: Acquire<'a> + Send + 'a,
    <A::Connection as Deref>::Target: Migrate,
{
    Box::pin(migrations.run(connection))
}

/// The one door to what is kept.
///
/// Several processes may write to one database at a time (a daemon and the command line; with PostgreSQL several
/// daemons): nothing read through this door is reserved for the reader but what is claimed. What was ruled on
/// old ground is refused by [`Store::commit`].
#[async_trait]
pub trait Store: Send + Sync {
    /// Holds the database for a daemon, of which `who` says where it is to be found: `pid 4711 on turing`. A SQLite
    /// database has one daemon; a PostgreSQL database may have several, and nothing is held.
    ///
    /// # Errors
    /// [`StoreError::Locked`], naming the other.
    async fn lock(&self, who: &str) -> Result<DatabaseLock>;

    /// Whether several daemons may work here.
    fn is_shared(&self) -> bool;

    /// Whether this daemon is the one that has the duty: it keeps it, or takes it if nobody has it. A duty ends with
    /// the daemon, and is to be asked for again and again by whoever has it: its end may be the database's.
    async fn try_acquire_lease(&self, duty: &str) -> Result<bool>;

    /// Leaves a duty to whoever asks for it next; nothing, where this daemon does not have it.
    async fn release_lease(&self, duty: &str);

    /// Waits until somebody else has left something to be done; for ever where there is one daemon.
    async fn next_wakeup(&self) -> Result<Wakeup>;

    /// Keeps letters, durably, in the order given, and says how many of them wait to be ruled on. One that is known
    /// by digest is not kept again; one known by Message-ID and sender is kept as [`LetterStatus::Repeated`].
    async fn insert_letters(&self, letters: &[NewLetter]) -> Result<usize>;

    /// Claims up to `limit` letters that wait and are not put off beyond `now`, those received first first. Letters of
    /// one match are claimed by one at a time, and none of them before those that were received before it.
    ///
    /// Whoever has claimed others `before`, and has yet to commit them, sees to it himself that letters of one match
    /// stay in order.
    async fn claim_letters(
        &self,
        now: DateTime<Utc>,
        limit: u32,
        before: Option<&mut Claim>,
    ) -> Result<(Vec<WaitingLetter>, Claim)>;

    /// When the oldest letter was received that waits and is not put off beyond `now`, claimed or not.
    async fn oldest_waiting(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>>;

    async fn letter(&self, digest: Digest) -> Result<Option<Vec<u8>>>;

    /// The letters whose digest begins so (hexadecimal digits), newest first.
    async fn letters(
        &self,
        status: Option<LetterStatus>,
        match_id: Option<&str>,
        digest_prefix: &str,
        limit: u32,
    ) -> Result<Vec<LetterRow>>;

    /// Both seats of each match in which one of these tokens is a seat's, with their players, by match, then seat.
    async fn seats_by_token(&self, tokens: &[String]) -> Result<Vec<TokenRow>>;

    /// The same of these matches.
    async fn seats_of(&self, match_ids: &[String]) -> Result<Vec<TokenRow>>;

    async fn matches(&self, ids: &[String]) -> Result<Vec<MatchRow>>;

    /// The ids of all matches, in order.
    async fn match_ids(&self) -> Result<Vec<String>>;

    /// All matches, or those in this stage, by id; the snapshot included.
    async fn list_matches(&self, stage: Option<Stage>) -> Result<Vec<MatchRow>>;

    /// Up to `limit` matches whose `wake_at` has come, the one that waits longest first, from behind `after` on.
    async fn matches_due(
        &self,
        now: DateTime<Utc>,
        after: Option<&MatchRow>,
        limit: u32,
    ) -> Result<Vec<MatchRow>>;

    /// The matches in which this player holds a seat, by id.
    async fn matches_of(&self, player_id: i64) -> Result<Vec<MatchRow>>;

    async fn invitation(&self, code: &str) -> Result<Option<Invitation>>;

    /// The open invitations, or those of them that lapse by then, oldest first.
    async fn open_invitations(&self, lapsing_by: Option<DateTime<Utc>>) -> Result<Vec<Invitation>>;

    /// Commits a settlement whole or not at all. A letter that was decided without effect (automatic, ignored, set
    /// aside) can be put back by deciding it [`LetterStatus::Waiting`].
    ///
    /// # Errors
    /// [`StoreError::Stale`] when a match is not at the version it was loaded with (a new one: when there is one of
    /// its id), or a letter no longer waits, or an invitation is no longer open; nothing is changed then.
    async fn commit(&self, settlement: &Settlement) -> Result<()> {
        self.commit_claimed(Claim::default(), settlement).await
    }

    /// The same with what was ruled on under a claim, which ends with it.
    ///
    /// # Errors
    /// As of [`Store::commit`]; what was claimed is free again.
    async fn commit_claimed(&self, claim: Claim, settlement: &Settlement) -> Result<()>;

    /// A match's entries in order.
    async fn entries(&self, match_id: &str) -> Result<Vec<EntryRow>>;

    /// The entries of this kind in all matches since then, oldest first.
    async fn entries_since(&self, kind: &str, since: DateTime<Utc>) -> Result<Vec<EntryRow>>;

    /// Hands over up to `limit` of a match's entries behind the entry `seq`, in order; `None`: from the first row on,
    /// whatever its number.
    async fn entries_after(
        &self,
        match_id: &str,
        seq: Option<u64>,
        limit: u32,
        take: Take<'_, EntryRow>,
    ) -> Result<()>;

    /// Hands over the letters of these digests, with their bytes.
    async fn letters_named(&self, digests: &[Digest], take: Take<'_, (Digest, Vec<u8>)>) -> Result<()>;

    /// Up to `limit` of the letters that acted in a match, behind the one of this number; with the number of the last.
    async fn acted_after(&self, match_id: &str, id: i64, limit: u32) -> Result<Option<(i64, Vec<Digest>)>>;

    /// Hands over up to `limit` dispatches of a match behind the one of this number, in the order they were made, with
    /// the bytes.
    async fn sent_after(&self, match_id: &str, id: i64, limit: u32, take: Take<'_, SentRow>) -> Result<()>;

    /// Every dispatch of a match in the order it was made, with the bytes.
    async fn dispatches_of(&self, match_id: &str) -> Result<Vec<(DispatchRow, Vec<u8>)>>;

    /// Newest first; the unsent ones are those that wait and those given up.
    async fn list_dispatches(&self, only_unsent: bool, limit: u32) -> Result<Vec<DispatchRow>>;

    /// Our own letters with these Message-IDs.
    async fn dispatches_named(&self, ids: &[String]) -> Result<Vec<DispatchRow>>;

    /// The bytes of our own letters with these Message-IDs.
    async fn dispatches_by_message_id(&self, ids: &[String]) -> Result<Vec<(String, Vec<u8>)>>;

    /// The answers to letters that were made for these since then, oldest first: all of the two hours that follow.
    async fn answers_to(&self, recipients: &[String], since: DateTime<Utc>) -> Result<Vec<AnswerRow>>;

    /// Claims up to `limit` dispatches that are due to be sent, oldest first.
    async fn claim_dispatches(&self, now: DateTime<Utc>, limit: u32) -> Result<(Vec<Claimed>, Claim)>;

    /// Notes what came of tries at sending, counts them, and ends the claim. A dispatch once taken stays so. One given
    /// up is taken up again by noting it as [`SendOutcome::Later`].
    async fn record_outcomes(
        &self,
        claim: Claim,
        now: DateTime<Utc>,
        results: &[(i64, SendOutcome)],
    ) -> Result<()>;

    /// Whatever waits for a moment after `now` to be tried again, letters and dispatches, is to be tried now.
    async fn retry_all_now(&self, now: DateTime<Utc>) -> Result<()>;

    /// When the next dispatch that is neither sent nor given up falls due.
    async fn next_dispatch_at(&self) -> Result<Option<DateTime<Utc>>>;

    /// Finds the player with this address, or adds one. An unknown name is taken from `name`.
    async fn find_or_add_player(&self, address: &str, name: &str, now: DateTime<Utc>) -> Result<Player>;

    /// Writes a player's name, addresses (all of them, in order) and whether letters bounce.
    ///
    /// # Errors
    /// [`StoreError::AddressTaken`] when an address is another player's.
    async fn save_player(&self, player: &Player) -> Result<()>;

    async fn player_by_address(&self, address: &str) -> Result<Option<Player>>;

    /// By id.
    async fn players(&self) -> Result<Vec<Player>>;

    async fn queues(&self) -> Result<Queues>;

    /// A remembered value of the daemon: its heartbeat, the version that ran last.
    async fn remembered(&self, key: &str) -> Result<Option<String>>;

    async fn remember(&self, key: &str, value: &str) -> Result<()>;

    /// What is remembered under keys that begin so, by key.
    async fn remembered_under(&self, prefix: &str) -> Result<Vec<(String, String)>>;

    async fn forget(&self, key: &str) -> Result<()>;

    /// The engine and its version, and the version of the tables: `SQLite 3.50.2, tables of version 2`.
    async fn about(&self) -> Result<String>;

    /// Writes a copy of the database as it is at one moment, while others work on it.
    ///
    /// # Errors
    /// `to` is there already or cannot be written; for PostgreSQL, which has tools of its own.
    async fn backup(&self, to: &Path) -> Result<()>;

    /// Flushes and closes.
    async fn close(&self);
}

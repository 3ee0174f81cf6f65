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

pub use self::error::{Result, StoreError};
use crate::game::Seat;
use crate::letter::Digest;

mod backend;
mod error;
mod postgres;
mod rows;
mod settle;
mod sqlite;

/// A letter as it arrived, before anybody has looked at it.
#[derive(Clone, Debug)]
pub struct NewLetter {
    pub digest: Digest,
    pub raw: Vec<u8>,
    pub received_at: DateTime<Utc>,
    /// Where it was found, for people: `imap:INBOX/1/57`.
    pub whence: String,
    /// Its Message-ID and sender together tell a letter that was sent twice; empty when it has none.
    pub message_id: String,
    pub sender: String,
    pub subject: String,
}

/// A letter that waits to be ruled on.
#[derive(Clone, Debug)]
pub struct WaitingLetter {
    pub digest: Digest,
    pub raw: Vec<u8>,
    pub received_at: DateTime<Utc>,
    /// How often ruling on it was tried and failed.
    pub tries: u32,
}

/// What became of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It waits to be ruled on.
    Waiting,
    /// It acted for a seat, and was answered.
    Ruled,
    /// It was answered without touching a match.
    Answered,
    /// From a machine: neither answered nor acted on.
    Automatic,
    /// Met before: no second effect, no second answer.
    Repeated,
    /// Not recognised as anybody's, or beyond the limits; not answered.
    Ignored,
    /// Ruling on it failed three times; the GM is told.
    SetAside,
}

impl Fate {
    pub const ALL: [Fate; 7] = [
        Fate::Waiting,
        Fate::Ruled,
        Fate::Answered,
        Fate::Automatic,
        Fate::Repeated,
        Fate::Ignored,
        Fate::SetAside,
    ];

    /// Its name in the database, and for people who list letters by it.
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Waiting => "waiting",
            Fate::Ruled => "ruled",
            Fate::Answered => "answered",
            Fate::Automatic => "automatic",
            Fate::Repeated => "repeated",
            Fate::Ignored => "ignored",
            Fate::SetAside => "set_aside",
        }
    }

    pub fn parse(name: &str) -> Option<Fate> {
        Fate::ALL.into_iter().find(|fate| fate.as_str() == name)
    }
}

/// What became of one letter, and why.
#[derive(Clone, Debug)]
pub struct Decided {
    pub digest: Digest,
    pub fate: Fate,
    /// One line for the GM: `an absence note`, `no reply token of a seat`.
    pub note: String,
    pub seat: Option<(String, Seat)>,
}

/// One line of the list of letters.
#[derive(Clone, Debug)]
pub struct LetterRow {
    pub digest: Digest,
    pub received_at: DateTime<Utc>,
    /// When its fate was decided.
    pub decided_at: Option<DateTime<Utc>>,
    pub sender: String,
    pub subject: String,
    pub size: u64,
    pub fate: Fate,
    pub note: String,
    pub seat: Option<(String, Seat)>,
}

/// A person who plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Player {
    pub id: i64,
    pub name: String,
    /// Lower case, the one that letters go to first.
    pub addresses: Vec<String>,
    /// Our letters to this player came back.
    pub bouncing: bool,
}

/// A seat found by its reply token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    pub token: String,
    pub match_id: String,
    pub seat: Seat,
    pub player: Player,
}

/// A match as it is kept: its snapshot as JSON beside what it is looked up by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchRow {
    /// `QZ-7K3M`.
    pub id: String,
    pub game: String,
    /// `running`, `paused`, `over` …: for lists.
    pub stage: String,
    /// When the clock has something to decide in it; `None`: never.
    pub wake_at: Option<DateTime<Utc>>,
    pub snapshot: String,
    /// Counts the commits that changed the match; 0 for one not yet stored.
    pub version: i64,
}

/// A seat of a match: who holds it, and the token that its letters bear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatRow {
    pub match_id: String,
    pub seat: Seat,
    pub player_id: i64,
    pub token: String,
}

/// One entry of a match's ledger as it is kept: columns to find it by, and its canonical JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRow {
    pub match_id: String,
    /// From 1, without gaps.
    pub seq: u64,
    pub at: DateTime<Utc>,
    pub kind: String,
    /// The whole entry but its own hash, as canonical JSON (RFC 8785).
    pub json: String,
    pub hash: Digest,
}

/// One mail to one person, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDispatch {
    /// Without angle brackets; the same at every try.
    pub message_id: String,
    pub recipient: String,
    pub bytes: Vec<u8>,
    /// `report`, `receipt` …: for lists.
    pub kind: String,
    pub match_id: Option<String>,
    pub seat: Option<Seat>,
    /// The letter that it answers.
    pub answers: Option<Digest>,
}

/// A dispatch claimed for sending.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Claimed {
    pub id: i64,
    pub message_id: String,
    pub recipient: String,
    pub bytes: Vec<u8>,
    pub kind: String,
    pub match_id: Option<String>,
    /// How often sending was tried before.
    #[sqlx(try_from = "i64")]
    pub tries: u32,
}

/// What came of one try at sending.
#[derive(Clone, Debug)]
pub enum Sent {
    Taken,
    /// To be tried again at this time.
    Later {
        at: DateTime<Utc>,
        error: String,
    },
    /// Given up: the GM is told.
    GivenUp {
        error: String,
    },
}

/// One line of the list of dispatches.
#[derive(Clone, Debug)]
pub struct DispatchRow {
    pub id: i64,
    pub message_id: String,
    pub recipient: String,
    pub kind: String,
    pub match_id: Option<String>,
    pub seat: Option<Seat>,
    pub created_at: DateTime<Utc>,
    pub sent_at: Option<DateTime<Utc>>,
    pub tries: u32,
    pub given_up: bool,
    pub error: String,
    /// It came back: a bounce was about it.
    pub returned: bool,
}

/// An offer to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// By which it is taken up.
    pub code: String,
    /// The address of who offers.
    pub inviter: String,
    pub inviter_name: String,
    /// The address that it is for; `None`: for anyone.
    pub invited: Option<String>,
    pub game: String,
    /// Options, days and seat as JSON.
    pub offer: String,
    pub stage: InvitationStage,
    /// The match that came of it.
    pub match_id: Option<String>,
    pub created_at: DateTime<Utc>,
    pub lapses_at: DateTime<Utc>,
}

/// What became of an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationStage {
    Open,
    Taken,
    Declined,
    Lapsed,
}

impl InvitationStage {
    const ALL: [InvitationStage; 4] =
        [InvitationStage::Open, InvitationStage::Taken, InvitationStage::Declined, InvitationStage::Lapsed];

    pub fn as_str(self) -> &'static str {
        match self {
            InvitationStage::Open => "open",
            InvitationStage::Taken => "taken",
            InvitationStage::Declined => "declined",
            InvitationStage::Lapsed => "lapsed",
        }
    }

    fn parse(name: &str) -> Option<InvitationStage> {
        InvitationStage::ALL.into_iter().find(|stage| stage.as_str() == name)
    }
}

/// Everything that one ruling, or many, changes: one transaction.
#[derive(Clone, Debug, Default)]
pub struct Settlement {
    pub at: DateTime<Utc>,
    /// Letters of a match that was played elsewhere; those that come to us are kept by [`Store::take_in`].
    pub letters: Vec<NewLetter>,
    pub decided: Vec<Decided>,
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

/// Keeps other daemons off the database for as long as it lives, and no longer than the process.
#[must_use = "the database is held only as long as this lives"]
#[derive(Debug)]
pub struct Hold {
    _lock: Option<File>,
}

/// How much waits, and since when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    pub letters_waiting: u64,
    pub oldest_letter: Option<DateTime<Utc>>,
    pub dispatches_waiting: u64,
    pub oldest_dispatch: Option<DateTime<Utc>>,
    pub given_up: u64,
    pub matches_running: u64,
    /// Letters that could not be ruled on.
    pub set_aside: u64,
    /// When the clock has something to decide next; in the past, it is late by so much.
    pub next_wake: Option<DateTime<Utc>>,
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
        Some("sqlite") => Ok(Arc::new(sqlite::SqliteStore::open(url).await?)),
        Some("postgres" | "postgresql") => Ok(Arc::new(postgres::PostgresStore::open(url).await?)),
        _ => Err(StoreError::misnamed("its URL begins neither with sqlite: nor with postgres:")),
    }
}

/// Puts the backup `from` in the place of the database that `url` names, and says where the one before it is now.
/// The next daemon reads the letters again that the mailbox has filed as processed.
///
/// # Errors
/// [`StoreError::Held`] while a daemon works on it; [`StoreError::Open`] when `from` is no database of ours, or for
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
fn tell_migrated(before: Option<i64>, migrations: &Migrator) {
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
/// daemons): nothing read through this door is reserved for the reader but claimed dispatches. What was ruled on
/// old ground is refused by [`Store::commit`].
#[async_trait]
pub trait Store: Send + Sync {
    /// Holds the database for a daemon, of which `who` says where it is to be found: `pid 4711 on turing`. A SQLite
    /// database has one daemon, and the dispatches that the last one had claimed are free again; a PostgreSQL
    /// database may have several, and nothing is held.
    ///
    /// # Errors
    /// [`StoreError::Held`], naming the other.
    async fn hold(&self, who: &str) -> Result<Hold>;

    /// Keeps letters, durably, in the order given, and says how many of them wait to be ruled on. One that is known
    /// by digest is not kept again; one known by Message-ID and sender is kept as [`Fate::Repeated`].
    async fn take_in(&self, letters: &[NewLetter]) -> Result<usize>;

    /// Up to `limit` letters that wait and are not put off beyond `now`, those received first first.
    async fn waiting_letters(&self, now: DateTime<Utc>, limit: u32) -> Result<Vec<WaitingLetter>>;

    /// Lets a letter wait until then; `why` becomes its note.
    async fn put_off(&self, digest: Digest, until: DateTime<Utc>, why: &str) -> Result<()>;

    /// Counts a failed try at a letter that waits; the error becomes its note.
    async fn count_try(&self, digest: Digest, error: &str) -> Result<()>;

    async fn letter(&self, digest: Digest) -> Result<Option<Vec<u8>>>;

    /// The letters whose digest begins so (hexadecimal digits), newest first.
    async fn letters(
        &self,
        fate: Option<Fate>,
        match_id: Option<&str>,
        digest_prefix: &str,
        limit: u32,
    ) -> Result<Vec<LetterRow>>;

    /// The seats to which these tokens belong.
    async fn seats_by_token(&self, tokens: &[String]) -> Result<Vec<TokenRow>>;

    /// Both seats of each of these matches with their players, by match, then seat.
    async fn seats_of(&self, match_ids: &[String]) -> Result<Vec<TokenRow>>;

    async fn matches(&self, ids: &[String]) -> Result<Vec<MatchRow>>;

    /// The ids of all matches, in order.
    async fn match_ids(&self) -> Result<Vec<String>>;

    /// All matches, or those in this stage, by id; the snapshot included.
    async fn list_matches(&self, stage: Option<&str>) -> Result<Vec<MatchRow>>;

    /// Up to `limit` matches whose `wake_at` has come, the one that waits longest first.
    async fn matches_due(&self, now: DateTime<Utc>, limit: u32) -> Result<Vec<MatchRow>>;

    /// The matches in which this player holds a seat, by id.
    async fn matches_of(&self, player_id: i64) -> Result<Vec<MatchRow>>;

    async fn invitation(&self, code: &str) -> Result<Option<Invitation>>;

    /// The open invitations, or those of them that lapse by then, oldest first.
    async fn open_invitations(&self, lapsing_by: Option<DateTime<Utc>>) -> Result<Vec<Invitation>>;

    /// Commits a settlement whole or not at all. A letter that was decided without effect (automatic, ignored, set
    /// aside) can be put back by deciding it [`Fate::Waiting`].
    ///
    /// # Errors
    /// [`StoreError::Stale`] when a match is not at the version it was loaded with (a new one: when there is one of
    /// its id), or a letter no longer waits, or an invitation is no longer open; nothing is changed then.
    async fn commit(&self, settlement: &Settlement) -> Result<()>;

    /// A match's entries in order.
    async fn entries(&self, match_id: &str) -> Result<Vec<EntryRow>>;

    /// The entries of this kind in all matches since then, oldest first.
    async fn entries_since(&self, kind: &str, since: DateTime<Utc>) -> Result<Vec<EntryRow>>;
    /// Up to `limit` of a match's entries behind the entry `seq`, in order.
    async fn entries_after(&self, match_id: &str, seq: u64, limit: u32) -> Result<Vec<EntryRow>>;

    /// The letters of these digests, with their bytes.
    async fn letters_named(&self, digests: &[Digest]) -> Result<Vec<(Digest, Vec<u8>)>>;

    /// Up to `limit` of the letters that acted in a match, behind the one of this number, in order.
    async fn acted_after(&self, match_id: &str, id: i64, limit: u32) -> Result<Vec<(i64, Digest)>>;

    /// Up to `limit` dispatches of a match behind the one of this number, in the order they were made, with the bytes.
    async fn sent_after(&self, match_id: &str, id: i64, limit: u32) -> Result<Vec<(DispatchRow, Vec<u8>)>>;

    /// Every dispatch of a match in the order it was made, with the bytes.
    async fn dispatches_of(&self, match_id: &str) -> Result<Vec<(DispatchRow, Vec<u8>)>>;

    /// Newest first; the unsent ones are those that wait and those given up.
    async fn list_dispatches(&self, only_unsent: bool, limit: u32) -> Result<Vec<DispatchRow>>;

    /// Our own letters with these Message-IDs.
    async fn dispatches_named(&self, ids: &[String]) -> Result<Vec<DispatchRow>>;

    /// The bytes of our own letters with these Message-IDs.
    async fn dispatches_by_message_id(&self, ids: &[String]) -> Result<Vec<(String, Vec<u8>)>>;

    /// How many answers to letters were made for `recipient` since `since`; the letter that the last one answers,
    /// and its bytes.
    async fn answers_to(
        &self,
        recipient: &str,
        since: DateTime<Utc>,
    ) -> Result<(u32, Option<(Digest, Vec<u8>)>)>;

    /// Claims up to `limit` dispatches that are due to be sent, oldest first, until `lease_until`.
    async fn claim_dispatches(
        &self,
        now: DateTime<Utc>,
        lease_until: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<Claimed>>;

    /// Notes what came of tries at sending, and counts them. A dispatch once taken stays so. One given up is taken
    /// up again by noting it as [`Sent::Later`].
    async fn note_sent(&self, now: DateTime<Utc>, results: &[(i64, Sent)]) -> Result<()>;

    /// When the next dispatch that is neither sent nor given up falls due.
    async fn next_dispatch_at(&self) -> Result<Option<DateTime<Utc>>>;

    /// Finds the player with this address, or adds one. An unknown name is taken from `name`.
    async fn player(&self, address: &str, name: &str, now: DateTime<Utc>) -> Result<Player>;

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

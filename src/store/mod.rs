//! A club's database: letters, players, matches, ledgers and the outbox. All SQL is in this folder, in a file
//! for each family of tables, as methods of [`Database`].
//!
//! The store decides nothing. Instants are Unix milliseconds, digests 64 hexadecimal digits (`columns`).
//! SQLite and PostgreSQL share their SQL; the differences are in `sqlite` and `postgres`. The URL selects the
//! database ([`open`]).

use std::fs::File;
use std::sync::Arc;

use self::locks::ClaimedNames;

pub use self::budgets::{BudgetKey, BudgetKind, BudgetQuestion, BudgetUse, Restraints, Standing};
pub use self::changes::Changes;
pub use self::database::Database;
pub use self::entries::{EntryRow, NamedLetter};
pub use self::error::{Result, StoreError};
pub use self::events::{EventEnd, EventMatchRow, EventRow};
pub use self::forgetting::{ForgottenMatch, ForgottenPlayer, Traces};
pub use self::letters::GM_LANE;
pub use self::packing::pack;
pub use self::players::{ChangeKind, ChangeStage, PlayerChange};
pub use self::ratings::STALE_RATINGS;
pub use self::restoring::{
    PROVED_BY_LETTER, PROVED_TURN, ProvedTurn, RESTORED, RESTORES, RestoredBackup, Restoring,
    TO_BE_READ_AGAIN, restore,
};
pub use self::sending::{
    ClaimOrder, DispatchFilter, DispatchScope, Reach, SendOutcome, SentCounts, Urgency, reminds,
};
pub use self::server::{MIN_CONNECTIONS, unverified_server};
pub use self::site::{SiteMatchRow, WordsRow};
pub use self::sqlite::{sqlite_file, sqlite_url};
pub use self::values::*;
pub use self::waiting::{Claimable, MAX_CLAIMED};

mod budgets;
pub mod carry;
mod changes;
mod columns;
mod commit;
mod database;
mod dispatches;
mod entries;
mod error;
mod events;
mod forgetting;
mod invitations;
mod letters;
mod locks;
mod mailboxes;
mod matches;
mod packing;
mod players;
mod postgres;
pub mod private;
mod ratings;
mod restoring;
mod rows;
mod schema;
mod sending;
mod server;
mod site;
mod sqlite;
mod statement;
mod values;
mod waiting;

/// Saves a value under a key, in place of an earlier one.
const REMEMBER: &str = "INSERT INTO memo (key, value) VALUES ($1, $2) \
                        ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/// Selects the version of the tables. Fails if there are no tables yet.
const TABLES_VERSION: &str = "SELECT MAX(version) FROM _sqlx_migrations";

/// Receives rows as they are read.
pub type RowSink<'a, T> = &'a mut (dyn FnMut(T) + Send);

/// Keeps other daemons off the database until it is dropped or the process ends.
#[must_use = "the database is locked only as long as this lives"]
#[derive(Debug)]
pub struct DatabaseLock {
    _lock: Option<File>,
}

/// Exclusive use of claimed letters, dispatches or turns of the house, until it is handed back or dropped. It also
/// ends when the process dies, or when the database has not heard from the process for too long.
#[derive(Default)]
pub struct Claim {
    held: Option<ClaimedNames>,
    /// Ends the claim when it is dropped.
    _guard: Option<Arc<dyn Send + Sync>>,
}

impl Claim {
    fn holding(held: ClaimedNames) -> Claim {
        Claim { held: Some(held), ..Claim::default() }
    }

    /// Adds those of the names that no other claim has, and returns them.
    async fn take(&mut self, names: Vec<String>) -> Result<Vec<String>> {
        match &mut self.held {
            Some(held) => held.take(names).await,
            None => Ok(names),
        }
    }

    /// Gives everything back but one lane of letters.
    pub fn only_lane(mut self, lane: &str) -> Claim {
        if let Some(held) = &mut self.held {
            held.give_back_all_but(&waiting::lane_name(lane));
        }
        self
    }

    /// Ends the claim, and waits until other daemons can claim the same.
    async fn end(self) {
        if let Some(held) = self.held {
            held.give_back().await;
        }
    }
}

/// The default of `database.max_connections`.
pub const MAX_CONNECTIONS: u32 = 10;

/// Opens the database at `url`, creates a missing SQLite file, and brings the tables up to date.
///
/// Examples: `sqlite:fogpost.db`, `sqlite:/var/lib/fogpost/fogpost.db`, `postgres://user@host/database`.
///
/// # Errors
/// [`StoreError::Open`] if the database cannot be opened, with the reason in one line; [`StoreError::Newer`]
/// if a newer program migrated the database. No error repeats the URL: it may hold a password.
pub async fn open(url: &str) -> Result<Arc<Database>> {
    open_with(url, MAX_CONNECTIONS).await
}

/// Like [`open`], with at most this many connections to a PostgreSQL server, and fewer if it permits few.
///
/// # Errors
/// Same as [`open`].
pub async fn open_with(url: &str, max_connections: u32) -> Result<Arc<Database>> {
    open_as(url, max_connections, true).await
}

/// Like [`open_with`], but makes no tables on a PostgreSQL server: a monitor must not be in the way of a dump that is about
/// to be put back.
///
/// # Errors
/// Same as [`open`]; also if there are no tables.
pub async fn open_made(url: &str, max_connections: u32) -> Result<Arc<Database>> {
    open_as(url, max_connections, false).await
}

async fn open_as(url: &str, max_connections: u32, makes_tables: bool) -> Result<Arc<Database>> {
    match url.split_once(':').map(|(scheme, _)| scheme) {
        Some("sqlite") => Ok(Arc::new(Database::new(sqlite::SqliteBackend::open(url).await?))),
        Some("postgres" | "postgresql") => Ok(Arc::new(Database::new(
            postgres::PostgresBackend::open(url, max_connections, makes_tables).await?,
        ))),
        _ => Err(StoreError::misnamed("its URL begins neither with sqlite: nor with postgres:")),
    }
}

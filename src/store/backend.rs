//! The seam between SQLite and PostgreSQL: everything that they do differently.

use std::path::Path;

use async_trait::async_trait;

use super::statement::{Engine, Pooled, Statement, Tx};
use super::{Claim, Claimed, DatabaseLock, DispatchScope, Result, Wakeup};

/// One of the two databases.
#[async_trait]
pub trait Backend: Send + Sync {
    fn engine(&self) -> Engine;

    /// Borrows a connection for reading.
    async fn reader(&self) -> Result<Pooled>;

    /// Borrows a connection that also writes. On SQLite it is the faster one for rows that were just written
    /// or are about to be, because each commit empties the page caches of the readers.
    async fn writer(&self) -> Result<Pooled>;

    /// Begins a transaction that writes.
    async fn begin(&self) -> Result<Tx>;

    /// Begins a transaction during which no other process inserts letters: if two mailboxes hold the same
    /// letter, the second transaction sees the letter of the first.
    async fn begin_intake(&self) -> Result<Tx>;

    /// Runs a statement without waiting for the disk: its changes survive this process, but perhaps not a
    /// power failure.
    async fn write_unsynced(&self, statement: Statement) -> Result<()>;

    /// Begins a claim, which holds nothing yet.
    fn begin_claim(&self) -> Claim;

    /// See [`Database::claim_dispatches`].
    async fn claim_dispatches(&self, now: i64, scope: &DispatchScope) -> Result<(Vec<Claimed>, Claim)>;

    /// See [`Database::claim_house_turns`].
    async fn claim_house_turns(&self, matches: &[String]) -> Result<(Vec<String>, Claim)>;

    /// See [`Database::lock`].
    async fn lock(&self, owner: &str) -> Result<DatabaseLock>;

    /// See [`Database::try_acquire_lease`].
    async fn try_acquire_lease(&self, lease: &str) -> Result<bool>;

    /// See [`Database::release_lease`].
    async fn release_lease(&self, lease: &str);

    /// See [`Database::next_wakeup`].
    async fn next_wakeup(&self) -> Result<Wakeup>;

    /// See [`Database::backup`].
    async fn backup(&self, to: &Path) -> Result<()>;

    /// See [`Database::schema_faults`].
    async fn schema_faults(&self) -> Result<Vec<String>>;

    /// See [`Database::free_bytes`].
    fn free_bytes(&self) -> Result<Option<u64>>;

    /// See [`Database::connections`].
    fn connections(&self) -> Option<u32>;

    /// See [`Database::server_faults`].
    async fn server_faults(&self) -> Result<Vec<String>>;

    /// Closes all connections.
    async fn close(&self);
}

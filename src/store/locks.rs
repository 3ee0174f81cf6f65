//! What this process has claimed in its database: lanes of letters, dispatches, turns of the house, and, on
//! PostgreSQL, the leases of daemons.
//!
//! A claim occupies no connection while it is held. The names that are claimed are in memory; where several
//! daemons share a database, one session of each also holds an advisory lock on every name. The server releases
//! these when the session closes, for whatever reason.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection};
use tokio::time::timeout;

use super::server::{MAX_AGE, is_writable};
use super::{Result, StoreError};

/// Time limit for the database to answer about locks. A query over a dead connection would wait for minutes, and
/// the loop that renews the lease with it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Limits the silence of the session, so that a daemon that hangs loses its locks. A program that runs once may
/// send letters for minutes between two statements. PostgreSQL before 14 has no such setting.
const LIMIT_SILENCE: &str = "SELECT set_config(name, '15min', false) FROM pg_settings \
                             WHERE name = 'idle_session_timeout'";

/// The names that are claimed in a process.
pub type Names = Arc<Mutex<BTreeSet<String>>>;

/// The names of one claim. They are free again when it is dropped.
pub struct ClaimedNames {
    /// The names of all claims of this process.
    all: Names,
    own: BTreeSet<String>,
    /// The locks that keep the daemons of other processes away.
    locks: Option<Arc<Locks>>,
}

impl ClaimedNames {
    pub fn new(all: &Names, locks: Option<&Arc<Locks>>) -> ClaimedNames {
        ClaimedNames { all: Arc::clone(all), own: BTreeSet::new(), locks: locks.cloned() }
    }

    /// Takes those of the names that no other claim has, and returns them, in their order.
    pub async fn take(&mut self, mut names: Vec<String>) -> Result<Vec<String>> {
        let mut new = Vec::new();
        {
            let mut all = guard(&self.all);
            names.retain(|name| {
                let is_new = !self.own.contains(name) && all.insert(name.clone());
                if is_new {
                    new.push(name.clone());
                }
                is_new || self.own.contains(name)
            });
        }
        // From here on they are given back with this claim, even if nobody waits for the answer.
        self.own.extend(new.iter().cloned());
        if let Some(locks) = &self.locks
            && !new.is_empty()
        {
            let locked: BTreeSet<String> = locks.lock(&new).await?.into_iter().collect();
            new.retain(|name| !locked.contains(name));
            let mut all = guard(&self.all);
            for refused in &new {
                self.own.remove(refused);
                all.remove(refused);
            }
            names.retain(|name| !new.contains(name));
        }
        Ok(names)
    }

    /// Gives all names back but this one.
    pub fn give_back_all_but(&mut self, name: &str) {
        let others = self.own.extract_if(.., |own| own != name).collect();
        drop(ClaimedNames { all: Arc::clone(&self.all), own: others, locks: self.locks.clone() });
    }

    /// Gives the names back, and waits until other daemons can take them.
    pub async fn give_back(self) {
        let locks = self.locks.clone();
        drop(self);
        if let Some(locks) = locks {
            locks.unlock_released().await;
        }
    }
}

impl Drop for ClaimedNames {
    fn drop(&mut self) {
        if self.own.is_empty() {
            return;
        }
        if let Some(locks) = self.locks.take() {
            // Note them before they are free in this process: a later claim must lock them anew.
            guard(&locks.released).extend(self.own.iter().cloned());
            // Without a runtime, they are unlocked before the next lock.
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(async move { locks.unlock_released().await });
            }
        }
        let mut all = guard(&self.all);
        for name in &self.own {
            all.remove(name);
        }
    }
}

fn guard<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic cannot leave a set of names half changed.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The advisory locks of this process in a PostgreSQL database.
pub struct Locks {
    options: PgConnectOptions,
    claimed: Names,
    /// Taken out while it is used, so that a session that fails, or whose answer nobody waits for, is closed.
    session: tokio::sync::Mutex<Option<LockSession>>,
    /// Names that are still to be unlocked.
    released: Mutex<Vec<String>>,
}

struct LockSession {
    connection: PgConnection,
    leases: BTreeSet<String>,
    opened: Instant,
}

impl Locks {
    pub fn new(options: PgConnectOptions, claimed: &Names) -> Locks {
        let (session, released) = Default::default();
        Locks { options, claimed: Arc::clone(claimed), session, released }
    }

    /// Locks those of the names that no other session has locked, and returns them.
    async fn lock(&self, names: &[String]) -> Result<Vec<String>> {
        self.unlock_released().await;
        let mut place = self.session.lock().await;
        let was_open = place.is_some();
        match self.try_lock(&mut place, names).await {
            // The connection was broken. The locks on it are gone, and nobody may have noticed yet.
            Err(_) if was_open => self.try_lock(&mut place, names).await,
            locked => locked,
        }
    }

    async fn try_lock(&self, place: &mut Option<LockSession>, names: &[String]) -> Result<Vec<String>> {
        let mut session = self.take_session(place).await?;
        // Do not wait for a name: the daemon that has it is about to do the work anyway.
        let sql = "SELECT name FROM unnest($1::text[]) AS name \
                   WHERE pg_try_advisory_lock(hashtextextended('fogpost ' || name, 0))";
        let query = sqlx::query_scalar(sql).bind(names).fetch_all(&mut session.connection);
        let locked = timeout(ANSWER_TIMEOUT, query).await.map_err(no_answer)??;
        *place = Some(session);
        Ok(locked)
    }

    /// Unlocks the names that were given back.
    async fn unlock_released(&self) {
        let mut place = self.session.lock().await;
        let names = std::mem::take(&mut *guard(&self.released));
        if names.is_empty() {
            return;
        }
        // A session that was closed has lost its locks.
        let Some(mut session) = place.take() else { return };
        let sql = "SELECT pg_advisory_unlock(hashtextextended('fogpost ' || name, 0)) \
                   FROM unnest($1::text[]) AS name";
        let query = sqlx::query(sql).bind(&names).execute(&mut session.connection);
        if matches!(timeout(ANSWER_TIMEOUT, query).await, Ok(Ok(_))) {
            *place = Some(session);
        }
    }

    /// See [`super::Database::try_acquire_lease`].
    pub async fn try_acquire_lease(&self, lease: &str) -> Result<bool> {
        let mut place = self.session.lock().await;
        let is_old = place.as_ref().is_some_and(|session| session.opened.elapsed() > MAX_AGE);
        if is_old && guard(&self.claimed).is_empty() {
            close(&mut place).await;
        }
        let was_open = place.is_some();
        match self.try_lease(&mut place, lease).await {
            Err(_) if was_open => self.try_lease(&mut place, lease).await,
            acquired => acquired,
        }
    }

    async fn try_lease(&self, place: &mut Option<LockSession>, lease: &str) -> Result<bool> {
        let mut session = self.take_session(place).await?;
        let acquired = timeout(ANSWER_TIMEOUT, session.lease(lease)).await.map_err(no_answer)??;
        *place = Some(session);
        Ok(acquired)
    }

    /// See [`super::Database::release_lease`].
    pub async fn release_lease(&self, lease: &str) {
        let mut place = self.session.lock().await;
        let Some(mut session) = place.take() else { return };
        if session.leases.remove(lease) {
            let sql = "SELECT pg_advisory_unlock(hashtextextended('fogpost lease ' || $1, 0))";
            let query = sqlx::query(sql).bind(lease).execute(&mut session.connection);
            if !matches!(timeout(ANSWER_TIMEOUT, query).await, Ok(Ok(_))) {
                // Closing the session releases its locks.
                return;
            }
        }
        *place = Some(session);
    }

    pub async fn close(&self) {
        close(&mut *self.session.lock().await).await;
    }

    async fn take_session(&self, place: &mut Option<LockSession>) -> Result<LockSession> {
        if let Some(session) = place.take() {
            return Ok(session);
        }
        let opening = async {
            let mut connection = PgConnection::connect_with(&self.options).await?;
            sqlx::query(LIMIT_SILENCE).execute(&mut connection).await?;
            // Locks on a standby would keep nobody away.
            if !is_writable(&mut connection).await? {
                return Err(StoreError::ReadOnly);
            }
            Ok(LockSession { connection, leases: BTreeSet::new(), opened: Instant::now() })
        };
        timeout(ANSWER_TIMEOUT, opening).await.map_err(no_answer)?
    }
}

impl LockSession {
    async fn lease(&mut self, lease: &str) -> Result<bool> {
        if self.leases.contains(lease) {
            // The lock lives as long as its session, so an answer shows that it is still held.
            return if is_writable(&mut self.connection).await? {
                Ok(true)
            } else {
                Err(StoreError::ReadOnly)
            };
        }
        let sql = "SELECT pg_try_advisory_lock(hashtextextended('fogpost lease ' || $1, 0))";
        let acquired = sqlx::query_scalar(sql).bind(lease).fetch_one(&mut self.connection).await?;
        if acquired {
            self.leases.insert(lease.to_owned());
        }
        Ok(acquired)
    }
}

/// Closes the session. If the server does not answer, the session ends with the connection.
async fn close(place: &mut Option<LockSession>) {
    if let Some(session) = place.take() {
        let _ = timeout(ANSWER_TIMEOUT, session.connection.close()).await;
    }
}

fn no_answer(_: tokio::time::error::Elapsed) -> StoreError {
    StoreError::NoConnection
}

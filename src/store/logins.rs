//! Logins at mail providers that several daemons share. The store cannot open them.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::Result;
use super::columns::time;
use super::database::Database;

/// A login as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedLogin {
    pub sealed: Vec<u8>,
    /// Counts how often it was replaced.
    pub version: i64,
    /// The time by the database's clock, by which all its daemons go.
    pub now: DateTime<Utc>,
}

impl Database {
    pub async fn sealed_login(&self, name: &str) -> Result<Option<SealedLogin>> {
        let now = self.backend.engine().now_millis();
        let sql = format!("SELECT sealed, version, {now} FROM login WHERE name = $1");
        let rows: Vec<(Vec<u8>, i64, i64)> = self.read_recent(self.statement(sql).bind(name)).await?;
        let login = |(sealed, version, now)| Ok(SealedLogin { sealed, version, now: time(now)? });
        rows.into_iter().next().map(login).transpose()
    }

    /// Stores a login durably, in place of any other with this name.
    pub async fn store_login(&self, name: &str, sealed: &[u8]) -> Result<()> {
        let sql = "INSERT INTO login (name, sealed, version) VALUES ($1, $2, 1) ON CONFLICT (name) \
                   DO UPDATE SET sealed = excluded.sealed, version = login.version + 1";
        self.write(self.statement(sql).bind(name).bind(sealed.to_vec())).await?;
        Ok(())
    }

    /// Replaces the login durably if its version is still this one, and returns whether it was.
    pub async fn replace_login(&self, name: &str, version: i64, sealed: &[u8]) -> Result<bool> {
        let sql = "UPDATE login SET sealed = $3, version = version + 1 WHERE name = $1 AND version = $2";
        let statement = self.statement(sql).bind(name).bind(version).bind(sealed.to_vec());
        Ok(self.write(statement).await? > 0)
    }

    /// Acquires the lease to renew the login, for this long, unless another holder has it. Returns whether it did.
    pub async fn lease_login(&self, name: &str, holder: &str, duration: Duration) -> Result<bool> {
        let now = self.backend.engine().now_millis();
        // A lease that ends later than a new one would was made before the clock was set back.
        let sql = format!(
            "UPDATE login SET holder = $2, leased_until = {now} + $3 WHERE name = $1 \
             AND (holder IS NULL OR leased_until <= {now} OR leased_until > {now} + $3)"
        );
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 2);
        Ok(self.write(self.statement(sql).bind(name).bind(holder).bind(millis)).await? > 0)
    }

    /// Releases the lease, if this holder has it.
    pub async fn release_login(&self, name: &str, holder: &str) -> Result<()> {
        let sql = "UPDATE login SET holder = NULL, leased_until = NULL WHERE name = $1 AND holder = $2";
        self.write(self.statement(sql).bind(name).bind(holder)).await?;
        Ok(())
    }

    /// Returns the time by the database's clock.
    pub async fn database_time(&self) -> Result<DateTime<Utc>> {
        let sql = format!("SELECT {}", self.backend.engine().now_millis());
        let (now,): (i64,) = self.read_one(self.statement(sql)).await?;
        time(now)
    }
}

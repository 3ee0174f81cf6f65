//! A login that several daemons share: its tokens stand in the club's database, sealed, and whoever renews them holds a
//! lease. The database is behind a trait, because this room knows none.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::seal::{SealingKey, fault, random};
use super::tokens::{DatedTokens, LOG_IN, Tokens};
use crate::post::{Error, Secret};

/// How long a lease lasts: longer than a token server may take to answer.
const LEASE: Duration = Duration::from_secs(60);

/// How long to wait for the lease: longer than one lasts whose holder has died.
const LEASE_LIMIT: Duration = Duration::from_secs(90);

/// How often to try to get the lease.
const LEASE_INTERVAL: Duration = Duration::from_millis(100);

/// What a database stores of logins, each under a name.
#[async_trait]
pub trait LoginVault: Send + Sync {
    async fn load(&self, name: &str) -> Result<Option<SealedTokens>, Error>;

    /// Stores a login durably, in place of any other with this name.
    async fn store(&self, name: &str, sealed: Vec<u8>) -> Result<(), Error>;

    /// Replaces the login durably if its version is still this one, and returns whether it was.
    async fn replace(&self, name: &str, version: i64, sealed: Vec<u8>) -> Result<bool, Error>;

    /// Acquires the lease to renew the login, for this long, unless another holder has it.
    async fn lease(&self, name: &str, holder: &str, duration: Duration) -> Result<bool, Error>;

    async fn release(&self, name: &str, holder: &str) -> Result<(), Error>;

    /// Returns the time by the clock that all daemons share.
    async fn time(&self) -> Result<DateTime<Utc>, Error>;
}

/// Tokens as the database stores them.
#[derive(Debug, Clone)]
pub struct SealedTokens {
    pub sealed: Vec<u8>,
    /// Counts how often they were replaced.
    pub version: i64,
    /// The time by the clock that all daemons share.
    pub now: DateTime<Utc>,
}

/// The database that stores logins, once it is open.
#[derive(Clone, Default)]
pub struct OpenVault(Option<Arc<dyn LoginVault>>);

impl OpenVault {
    pub fn new(vault: Arc<dyn LoginVault>) -> OpenVault {
        OpenVault(Some(vault))
    }
}

impl fmt::Debug for OpenVault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "open" } else { "closed" })
    }
}

/// The place of one login in the database.
#[derive(Clone)]
pub struct VaultEntry {
    vault: Arc<dyn LoginVault>,
    name: String,
    key_file: PathBuf,
}

/// The lease to renew a login. It lapses if it is not released.
pub struct VaultLease {
    entry: VaultEntry,
    holder: String,
}

impl VaultEntry {
    pub fn new(vault: &OpenVault, name: String, key_file: &Path) -> Result<VaultEntry, Error> {
        let Some(vault) = vault.0.clone() else {
            let text = "oauth.secret_key_file keeps the login in the database, which cannot be opened";
            return Err(Error::Configuration(text.to_owned()));
        };
        Ok(VaultEntry { vault, name, key_file: key_file.to_owned() })
    }

    pub async fn read(&self) -> Result<Option<DatedTokens>, Error> {
        Ok(self.load().await?.map(|(dated, _version)| dated))
    }

    async fn load(&self) -> Result<Option<(DatedTokens, i64)>, Error> {
        let Some(SealedTokens { sealed, version, now }) = self.vault.load(&self.name).await? else {
            return Ok(None);
        };
        let Some(text) = SealingKey::read(&self.key_file)?.open(&self.name, &sealed) else {
            let what = "does not open the login in the database: it was sealed with another key. Copy the file from \
                        the machine on which `fogpost login` ran, or log in again: fogpost login --new-key";
            return Err(fault(&self.key_file, what));
        };
        // The parser's words could repeat a token.
        let invalid = |_| Error::Login("the login in the database is damaged; run: fogpost login".into());
        let tokens = serde_json::from_slice(&text).map_err(invalid)?;
        Ok(Some((DatedTokens { tokens, now }, version)))
    }

    fn seal(&self, tokens: &Tokens) -> Result<Vec<u8>, Error> {
        let text = serde_json::to_vec(tokens).expect("tokens are plain text");
        SealingKey::read(&self.key_file)?.seal(&self.name, text)
    }

    /// Stores the tokens of a new login.
    pub async fn store(&self, tokens: &Tokens) -> Result<(), Error> {
        self.vault.store(&self.name, self.seal(tokens)?).await
    }

    /// Returns the time by which the tokens go.
    pub async fn time(&self) -> Result<DateTime<Utc>, Error> {
        self.vault.time().await
    }

    /// Makes the key if there is none, and fails if it is not the one with which the stored login is sealed.
    ///
    /// # Errors
    /// [`Error::Configuration`] if the key is missing here although other machines have it, or is another one. With
    /// `is_new`, the key need not open the stored login.
    pub async fn prepare_key(&self, is_new: bool) -> Result<(), Error> {
        let is_stored = self.vault.load(&self.name).await?.is_some();
        if !self.key_file.exists() && (is_new || !is_stored) {
            SealingKey::create(&self.key_file)?;
        }
        if is_stored && !is_new {
            return match self.load().await {
                // One that is damaged is about to be replaced.
                Ok(_) | Err(Error::Login(_)) => Ok(()),
                Err(error) => Err(error),
            };
        }
        SealingKey::read(&self.key_file).map(drop)
    }

    /// Removes an access token that a mail server refused.
    pub async fn forget(&self, token: &Secret) -> Result<(), Error> {
        while let Some((dated, version)) = self.load().await? {
            let Some(tokens) = dated.tokens.without(token) else { break };
            if self.vault.replace(&self.name, version, self.seal(&tokens)?).await? {
                break;
            }
        }
        Ok(())
    }

    /// Waits for the lease. If it is cancelled, the lease may lapse unused.
    pub async fn lease(&self) -> Result<VaultLease, Error> {
        let holder: String = random::<8>()?.iter().map(|byte| format!("{byte:02x}")).collect();
        let began = Instant::now();
        while !self.vault.lease(&self.name, &holder, LEASE).await? {
            if began.elapsed() > LEASE_LIMIT {
                let what = "another daemon is renewing the login, and does not finish";
                return Err(Error::io(what, std::io::ErrorKind::TimedOut.into()));
            }
            tokio::time::sleep(LEASE_INTERVAL).await;
        }
        Ok(VaultLease { entry: self.clone(), holder })
    }
}

impl VaultLease {
    pub async fn read(&self) -> Result<Option<DatedTokens>, Error> {
        self.entry.read().await
    }

    /// Stores what became of the login that had this refresh token, durably, and returns what is stored then: if a
    /// person has logged in meanwhile, the new login stays.
    pub async fn replace(&self, refresh: &Secret, tokens: &Tokens) -> Result<Tokens, Error> {
        let entry = &self.entry;
        while let Some((stored, version)) = entry.load().await? {
            if stored.tokens.refresh != *refresh {
                return Ok(stored.tokens);
            }
            if entry.vault.replace(&entry.name, version, entry.seal(tokens)?).await? {
                return Ok(tokens.clone());
            }
        }
        // Somebody has deleted the login.
        Err(Error::Login(LOG_IN.into()))
    }

    pub async fn release(self) {
        if let Err(error) = self.entry.vault.release(&self.entry.name, &self.holder).await {
            let error = error.to_string();
            tracing::warn!(error, "the lease of the login lapses by itself");
        }
    }
}

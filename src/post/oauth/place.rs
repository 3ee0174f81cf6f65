//! Where the tokens of a login are kept: in a file of this machine, or sealed in the club's database.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

use super::token_file::{self, TokenFile};
use super::tokens::{DatedTokens, Tokens};
use super::vault::{VaultEntry, VaultLease};
use crate::post::{Error, Secret};

/// How long to try to store what the provider answered. Together with the answer it takes no longer than a lease.
const STORE_LIMIT: Duration = Duration::from_secs(25);

/// How often to try.
const STORE_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Clone)]
pub enum TokenPlace {
    File(PathBuf),
    Vault(VaultEntry),
}

/// The right to renew a login, which one program has at a time.
pub enum TokenLock {
    File(TokenFile),
    Vault(VaultLease),
}

impl TokenPlace {
    pub async fn read(&self) -> Result<Option<DatedTokens>, Error> {
        match self {
            TokenPlace::File(path) => Ok(token_file::read(path)?.map(dated)),
            TokenPlace::Vault(entry) => entry.read().await,
        }
    }

    /// Waits for the right to renew the login.
    pub async fn lock(&self) -> Result<TokenLock, Error> {
        Ok(match self {
            TokenPlace::File(path) => TokenLock::File(TokenFile::lock(path).await?),
            TokenPlace::Vault(entry) => TokenLock::Vault(entry.lease().await?),
        })
    }

    /// Stores the tokens of a new login, which `make` makes from the time.
    pub async fn store(&self, make: impl FnOnce(DateTime<Utc>) -> Tokens) -> Result<(), Error> {
        match self {
            TokenPlace::File(path) => TokenFile::lock(path).await?.replace(&make(Utc::now())),
            TokenPlace::Vault(entry) => entry.store(&make(entry.time().await?)).await,
        }
    }

    /// Removes an access token that a mail server refused.
    pub async fn forget(&self, token: &Secret) -> Result<(), Error> {
        match self {
            TokenPlace::File(path) => {
                let file = TokenFile::lock(path).await?;
                match file.read()?.and_then(|tokens| tokens.without(token)) {
                    Some(tokens) => file.replace(&tokens),
                    None => Ok(()),
                }
            }
            TokenPlace::Vault(entry) => entry.forget(token).await,
        }
    }
}

impl TokenLock {
    pub async fn read(&self) -> Result<Option<DatedTokens>, Error> {
        match self {
            TokenLock::File(file) => Ok(file.read()?.map(dated)),
            TokenLock::Vault(lease) => lease.read().await,
        }
    }

    /// Stores what became of the login that had this refresh token, durably, and returns what is stored then. Tries for
    /// a while: if a rotated refresh token is not stored, the login has ended.
    pub async fn replace(&self, refresh: &Secret, tokens: &Tokens) -> Result<Tokens, Error> {
        let began = Instant::now();
        loop {
            let replaced = match self {
                TokenLock::File(file) => file.replace(tokens).map(|()| tokens.clone()),
                TokenLock::Vault(lease) => lease.replace(refresh, tokens).await,
            };
            match replaced {
                Err(Error::Io { .. }) if began.elapsed() < STORE_LIMIT => {
                    tokio::time::sleep(STORE_INTERVAL).await;
                }
                replaced => return replaced,
            }
        }
    }

    pub async fn release(self) {
        match self {
            // Dropping the file releases its lock.
            TokenLock::File(_file) => {}
            TokenLock::Vault(lease) => lease.release().await,
        }
    }
}

/// A file goes by this machine's clock.
fn dated(tokens: Tokens) -> DatedTokens {
    DatedTokens { tokens, now: Utc::now() }
}

//! Where the tokens of a login are kept: in a file of this machine, or sealed in the club's database.

use std::path::PathBuf;

use chrono::{DateTime, Utc};

use super::token_file::{self, TokenFile};
use super::tokens::{Dated, Tokens};
use super::vault::{VaultEntry, VaultLease};
use crate::post::{Error, Secret};

#[derive(Clone)]
pub enum Place {
    File(PathBuf),
    Vault(VaultEntry),
}

/// The right to renew a login, which one program has at a time.
pub enum Locked {
    File(TokenFile),
    Vault(VaultLease),
}

impl Place {
    pub async fn read(&self) -> Result<Option<Dated>, Error> {
        match self {
            Place::File(path) => Ok(token_file::read(path)?.map(dated)),
            Place::Vault(entry) => entry.read().await,
        }
    }

    /// Waits for the right to renew the login.
    pub async fn lock(&self) -> Result<Locked, Error> {
        Ok(match self {
            Place::File(path) => Locked::File(TokenFile::lock(path).await?),
            Place::Vault(entry) => Locked::Vault(entry.lease().await?),
        })
    }

    /// Stores the tokens of a new login, which `make` makes from the time.
    pub async fn store(&self, make: impl FnOnce(DateTime<Utc>) -> Tokens) -> Result<(), Error> {
        match self {
            Place::File(path) => TokenFile::lock(path).await?.replace(&make(Utc::now())),
            Place::Vault(entry) => entry.store(&make(entry.time().await?)).await,
        }
    }

    /// Removes an access token that a mail server refused.
    pub async fn forget(&self, token: &Secret) -> Result<(), Error> {
        match self {
            Place::File(path) => {
                let file = TokenFile::lock(path).await?;
                match file.read()?.and_then(|tokens| tokens.without(token)) {
                    Some(tokens) => file.replace(&tokens),
                    None => Ok(()),
                }
            }
            Place::Vault(entry) => entry.forget(token).await,
        }
    }
}

impl Locked {
    pub async fn read(&self) -> Result<Option<Dated>, Error> {
        match self {
            Locked::File(file) => Ok(file.read()?.map(dated)),
            Locked::Vault(lease) => lease.read().await,
        }
    }

    /// Stores what became of the login that had this refresh token, durably, and returns what is stored then.
    pub async fn replace(&self, refresh: &Secret, tokens: Tokens) -> Result<Tokens, Error> {
        match self {
            Locked::File(file) => file.replace(&tokens).map(|()| tokens),
            Locked::Vault(lease) => lease.replace(refresh, tokens).await,
        }
    }

    pub async fn release(self) {
        match self {
            // Dropping the file releases its lock.
            Locked::File(_file) => {}
            Locked::Vault(lease) => lease.release().await,
        }
    }
}

/// A file goes by this machine's clock.
fn dated(tokens: Tokens) -> Dated {
    Dated { tokens, now: Utc::now() }
}

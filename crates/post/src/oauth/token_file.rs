//! The file with the tokens of a login: private to its owner, replaced by rename, and locked during a
//! renewal.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::tokens::Tokens;
use crate::Error;
use crate::owner::{give_to_owner_at, parent_of};

/// Maximum time to wait for the lock: longer than a token server may take to answer.
const LOCK_LIMIT: Duration = Duration::from_secs(90);

/// Time between attempts to get the lock.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// Time limit for storing the provider's answer. Request and storing together take less than [`LOCK_LIMIT`].
const STORE_LIMIT: Duration = Duration::from_secs(25);

/// Time between attempts to store it.
const STORE_INTERVAL: Duration = Duration::from_millis(100);

const OWNER_ONLY: u32 = 0o600;

/// A token file whose lock is held until this is dropped.
pub struct TokenFile {
    path: PathBuf,
    /// The lock is on a file of its own, because the token file is replaced.
    _lock: File,
}

impl TokenFile {
    /// Waits for the lock. Cancel-safe.
    pub async fn lock(path: &Path) -> Result<TokenFile, Error> {
        let beside = beside(path, ".lock");
        let fault = |error| Error::io(format!("token_file {}", beside.display()), error);
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(OWNER_ONLY)
            .open(&beside)
            .and_then(|lock| give_to_owner_at(&lock, parent_of(path)).map(|()| lock))
            .map_err(fault)?;
        let began = Instant::now();
        loop {
            // Poll for the lock, because a thread that waits in the kernel could not be cancelled.
            match lock.try_lock() {
                Ok(()) => return Ok(TokenFile { path: path.to_owned(), _lock: lock }),
                Err(TryLockError::WouldBlock) if began.elapsed() < LOCK_LIMIT => {
                    tokio::time::sleep(LOCK_INTERVAL).await;
                }
                Err(TryLockError::WouldBlock) => return Err(fault(ErrorKind::TimedOut.into())),
                Err(TryLockError::Error(error)) => return Err(fault(error)),
            }
        }
    }

    pub fn read(&self) -> Result<Option<Tokens>, Error> {
        read(&self.path)
    }

    /// Replaces the file, durably. Retries for a while: if a rotated refresh token is not stored, the login
    /// has ended.
    pub async fn replace_patiently(&self, tokens: &Tokens) -> Result<(), Error> {
        let began = Instant::now();
        loop {
            match self.replace(tokens) {
                Err(_) if began.elapsed() < STORE_LIMIT => tokio::time::sleep(STORE_INTERVAL).await,
                replaced => return replaced,
            }
        }
    }

    /// Replaces the file, durably.
    pub fn replace(&self, tokens: &Tokens) -> Result<(), Error> {
        let fault = |error| Error::io(format!("token_file {}", self.path.display()), error);
        let text = serde_json::to_vec_pretty(tokens).expect("tokens are plain text");
        let new = beside(&self.path, ".new");
        // An interrupted attempt may have left this file.
        let _ = fs::remove_file(&new);
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&new).map_err(fault)?;
        let folder = parent_of(&self.path);
        give_to_owner_at(&file, folder).map_err(fault)?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(fault)?;
        fs::rename(&new, &self.path).map_err(fault)?;
        // A rename lasts only once its folder is synced.
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(fault)
    }
}

/// Reads a token file, if there is one.
pub fn read(path: &Path) -> Result<Option<Tokens>, Error> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(format!("token_file {}", path.display()), error)),
    };
    // The parser's words could repeat a token.
    let invalid = |_| Error::Login(format!("{} is damaged; run: fogpost login", path.display()).into());
    serde_json::from_slice(&text).map(Some).map_err(invalid)
}

/// Returns a file beside `path` whose name ends in `end`.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(end);
    path.with_file_name(name)
}

//! A mailbox on an IMAP server: what is fetched, what is filed, and how faults are got over.
//!
//! A letter over which the session breaks time and again is singled out by asking for fewer and fewer, named in the
//! log and left where it lies, so that it does not hold up the others.

mod conn;
mod literals;
mod mailbox;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Deserialize;

use self::mailbox::Mailbox;
use super::inbox::{
    BatchSender, ConnectionHandle, MAX_BATCH_BYTES, MAX_BATCH_LETTERS, Source, UNREADABLE_RETRY,
};
use super::{Error, Secret, Tls};

/// So often a letter may break the session before it is left alone.
const MAX_FAILURES: u8 = 3;

/// A mailbox on an IMAP server (RFC 3501).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The server's name; its certificate must bear it.
    pub host: String,
    /// The port; by default 993 for TLS, else 143.
    pub port: Option<u16>,
    /// `tls`, `starttls`, or `none`, which is allowed to this machine only.
    #[serde(default)]
    pub tls: Tls,
    /// A PEM file with the authorities to trust, instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// The login name.
    pub user: String,
    /// The password; or else a file that holds it.
    pub password: Option<Secret>,
    pub password_file: Option<PathBuf>,
    /// The folder to read.
    #[serde(default = "inbox")]
    pub folder: String,
    /// The folder to which letters go once they are stored; made if it is missing.
    #[serde(default = "processed")]
    pub processed: String,
    /// How often to look where the server cannot tell of new letters by itself (IDLE), in seconds.
    #[serde(default = "poll_seconds")]
    pub poll_seconds: u64,
    /// How long to wait for the server's word before looking all the same, in seconds; at most 540, since routers
    /// forget connections that are silent for longer.
    #[serde(default = "idle_seconds")]
    pub idle_seconds: u64,
    /// How long the server may keep silent within an answer, in seconds.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
    /// Of a letter larger than this only the beginning is fetched.
    #[serde(default = "max_letter_bytes")]
    pub max_letter_bytes: usize,
}

fn inbox() -> String {
    "INBOX".to_owned()
}

fn processed() -> String {
    "Processed".to_owned()
}

fn poll_seconds() -> u64 {
    60
}

fn idle_seconds() -> u64 {
    240
}

fn timeout_seconds() -> u64 {
    30
}

fn max_letter_bytes() -> usize {
    super::MAX_LETTER_BYTES
}

impl Settings {
    /// The defaults for the mailbox of `user` on the server called `host`.
    pub fn of(host: impl Into<String>, user: impl Into<String>, password: Secret) -> Settings {
        Settings {
            host: host.into(),
            port: None,
            tls: Tls::default(),
            ca_file: None,
            user: user.into(),
            password: Some(password),
            password_file: None,
            folder: inbox(),
            processed: processed(),
            poll_seconds: poll_seconds(),
            idle_seconds: idle_seconds(),
            timeout_seconds: timeout_seconds(),
            max_letter_bytes: max_letter_bytes(),
        }
    }

    fn port(&self) -> u16 {
        self.port.unwrap_or(if self.tls == Tls::Tls { 993 } else { 143 })
    }

    fn idle_time(&self) -> Duration {
        Duration::from_secs(self.idle_seconds.clamp(1, 540))
    }
}

/// A mailbox being read, over however many sessions.
pub(super) struct ImapReader {
    settings: Settings,
    handle: ConnectionHandle,
    /// To which the UIDs below belong.
    uid_validity: u32,
    /// Stored, but not yet gone from the folder: they are not handed over again.
    stored: BTreeSet<u32>,
    /// Left alone since then.
    unreadable: BTreeMap<u32, Instant>,
    /// How often a letter broke the session, or did not come, when asked for alone.
    failures: BTreeMap<u32, u8>,
    /// So many letters are asked for at once.
    batch_limit: usize,
    /// What was being fetched; if it is still set when a session begins, the last one broke over it.
    fetching: Vec<u32>,
    /// How many letters were handed over and stored.
    stored_count: usize,
}

impl ImapReader {
    pub(super) fn new(settings: Settings, handle: ConnectionHandle) -> ImapReader {
        ImapReader {
            settings,
            handle,
            uid_validity: 0,
            stored: BTreeSet::new(),
            unreadable: BTreeMap::new(),
            failures: BTreeMap::new(),
            batch_limit: MAX_BATCH_LETTERS,
            fetching: Vec::new(),
            stored_count: 0,
        }
    }

    fn open(&mut self) -> Result<Mailbox, Error> {
        let mailbox = Mailbox::open(&self.settings, &self.handle)?;
        if mailbox.uid_validity() != self.uid_validity {
            self.uid_validity = mailbox.uid_validity();
            self.stored.clear();
            self.unreadable.clear();
            self.failures.clear();
        }
        Ok(mailbox)
    }

    /// Learns from a session that broke; says whether there is something else to try at once.
    fn narrow_down(&mut self) -> bool {
        match std::mem::take(&mut self.fetching)[..] {
            [] => false,
            [uid] => self.record_failure(uid),
            ref several => {
                self.batch_limit = several.len() / 2;
                true
            }
        }
    }

    /// Counts a failure over one letter; says whether it is now left alone.
    fn record_failure(&mut self, uid: u32) -> bool {
        let failures = self.failures.entry(uid).or_default();
        *failures += 1;
        if *failures < MAX_FAILURES {
            return false;
        }
        self.failures.remove(&uid);
        if self.unreadable.insert(uid, Instant::now()).is_none() {
            let uid_validity = self.uid_validity;
            tracing::error!(uid, uid_validity, "a letter cannot be fetched and is left where it lies");
        }
        true
    }

    /// Takes all that can be taken, until the folder holds nothing more.
    fn read_folder(&mut self, mailbox: &mut Mailbox, sender: &BatchSender) -> Result<(), Error> {
        let mut retried_filing = false;
        loop {
            let listed = mailbox.list()?;
            let there = |uid: &u32| listed.binary_search(uid).is_ok();
            self.stored.retain(there);
            self.unreadable.retain(|uid, _| there(uid));
            self.failures.retain(|uid, _| there(uid));
            if !self.stored.is_empty() {
                if std::mem::replace(&mut retried_filing, true) {
                    return Err(Error::Server("stored letters do not leave the folder".into()));
                }
                mailbox.file(&self.stored.iter().copied().collect::<Vec<_>>())?;
                continue;
            }
            let is_due =
                |uid: &u32| self.unreadable.get(uid).is_none_or(|at| at.elapsed() > UNREADABLE_RETRY);
            let mut waiting: &[u32] = &listed.into_iter().filter(is_due).collect::<Vec<_>>();
            if waiting.is_empty() {
                return Ok(());
            }
            while !waiting.is_empty() {
                let (batch, rest) = waiting.split_at(self.batch_len(mailbox, waiting)?);
                self.read_batch(mailbox, batch, sender)?;
                waiting = rest;
            }
            retried_filing = false;
        }
    }

    /// How many of these make a batch, by number and by size. The server is asked for sizes only where it matters, and
    /// batch by batch: some servers read each letter to tell its size.
    fn batch_len(&self, mailbox: &mut Mailbox, waiting: &[u32]) -> Result<usize, Error> {
        let (batch_limit, limit) = (waiting.len().min(self.batch_limit), self.settings.max_letter_bytes);
        if batch_limit.saturating_mul(limit) <= MAX_BATCH_BYTES {
            return Ok(batch_limit);
        }
        let sizes = mailbox.sizes(&waiting[..batch_limit])?;
        let mut bytes = 0;
        let fit = waiting[..batch_limit].iter().take_while(|uid| {
            let before = bytes;
            // One whose size is not told may be as large as any.
            bytes += sizes.get(uid).map_or(limit, |size| (*size as usize).min(limit));
            before < MAX_BATCH_BYTES
        });
        Ok(fit.count())
    }

    fn read_batch(&mut self, mailbox: &mut Mailbox, uids: &[u32], sender: &BatchSender) -> Result<(), Error> {
        self.fetching = uids.to_vec();
        let fetched = mailbox.fetch(uids)?;
        self.fetching.clear();
        self.batch_limit = (self.batch_limit * 2).min(MAX_BATCH_LETTERS);
        let (fetched_uids, letters): (Vec<u32>, Vec<_>) = fetched.into_iter().unzip();
        for uid in uids {
            if fetched_uids.binary_search(uid).is_ok() {
                self.failures.remove(uid);
                self.unreadable.remove(uid);
            } else {
                self.record_failure(*uid);
            }
        }
        if fetched_uids.len() < uids.len() {
            mailbox.refresh()?; // Those that have vanished are then no longer listed.
        }
        if fetched_uids.is_empty() {
            return Ok(());
        }
        sender.send_batch(letters)?;
        self.stored.extend(&fetched_uids);
        self.stored_count += fetched_uids.len();
        mailbox.file(&fetched_uids)
    }
}

impl Source for ImapReader {
    fn watch(&mut self, sender: &BatchSender) -> Result<Infallible, Error> {
        self.narrow_down();
        loop {
            let broken = self.open().and_then(|mut mailbox| {
                loop {
                    self.read_folder(&mut mailbox, sender)?;
                    sender.report_ok(self.unreadable.len());
                    mailbox.wait(sender)?;
                }
            });
            match broken {
                Err(_) if self.narrow_down() => {}
                broken => return broken,
            }
        }
    }

    fn drain(&mut self, sender: &BatchSender) -> Result<usize, Error> {
        loop {
            let mut mailbox = self.open()?;
            match self.read_folder(&mut mailbox, sender) {
                Ok(()) => {
                    mailbox.close();
                    return Ok(self.stored_count);
                }
                Err(_) if !self.fetching.is_empty() => {
                    self.narrow_down();
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn check(&mut self) -> Result<String, Error> {
        let mut mailbox = self.open()?;
        let found = mailbox.describe()?;
        mailbox.close();
        Ok(found)
    }
}

//! A mailbox on an IMAP server: fetches and files its letters, and survives faults.
//!
//! A letter that repeatedly breaks the session is found by asking for fewer and fewer letters. It is named in
//! the log and left in the folder, so that it does not hold up the others.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use serde::Deserialize;

use self::arrival::ServerClock;
use self::filing::{Aside, Filing, Mark, Returned};
use self::mailbox::{Mailbox, find};
use self::spam::SpamFolder;
use super::refusal::MOMENTARY;
use super::source::{
    BatchSender, ConnectionHandle, MAX_BATCH_BYTES, MAX_BATCH_LETTERS, Remainder, SEARCH_TIME, Source,
};
use super::{Error, FoundLetter, InboxCheck, LeftLetters, Secret, Tls, oauth, tls};

mod arrival;
mod command;
mod connection;
mod fetch;
mod filing;
mod folders;
mod login;
mod mailbox;
mod proof;
mod response;
mod spam;

/// Number of letters up to which all are fetched whole, in order, however old they are.
const FEW_LETTERS: usize = 20;

/// Two passes search letters that may be old for signs of the club. Each is given by the number of letters
/// fetched together and the bytes of each letter. The first is enough for the header and a quoted letter from
/// us, as text and as HTML. The second, for larger letters without a sign there, goes as far as a letter is
/// ever searched.
const SEARCHES: [(usize, usize); 2] = [(64, 64 * 1024), (16, 1_000_000)];

/// Times that a letter may break the session before it is left alone.
const MAX_FAILURES: u8 = 3;

/// A mailbox on an IMAP server (RFC 3501).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImapConfig {
    /// The server's name, for which its certificate must be valid.
    pub host: String,
    /// The port; by default 993 for TLS, else 143.
    pub port: Option<u16>,
    /// `tls`, `starttls`, or `none`, which is allowed only for this machine.
    #[serde(default)]
    pub tls: Tls,
    /// A PEM file with the certificate authorities to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
    pub user: String,
    /// The password; `password_file` may hold it instead.
    pub password: Option<Secret>,
    pub password_file: Option<PathBuf>,
    /// A login by OAuth instead of a password.
    pub oauth: Option<Box<oauth::OauthLogin>>,
    /// The folder to read.
    #[serde(default = "inbox")]
    pub folder: String,
    /// The folder to which stored letters are moved; created if it is missing.
    #[serde(default = "processed")]
    pub processed: String,
    /// The provider's spam folder, if players' letters in it should be read, too.
    pub spam_folder: Option<String>,
    /// Seconds between polls for letters if the server does not announce them (IDLE).
    #[serde(default = "poll_seconds")]
    pub poll_seconds: u64,
    /// Seconds to wait for the server to announce letters before looking anyway; at most 540, because routers
    /// forget connections that are silent for longer.
    #[serde(default = "idle_seconds")]
    pub idle_seconds: u64,
    /// Seconds that the server may be silent within an answer; at most 3600. A whole answer may take ten
    /// times as long, plus the time for its bytes.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
    /// Only the beginning of a larger letter is fetched.
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

impl ImapConfig {
    /// Returns the defaults for the mailbox of `user` on the server called `host`.
    pub fn of(host: impl Into<String>, user: impl Into<String>, password: Secret) -> ImapConfig {
        ImapConfig {
            host: host.into(),
            port: None,
            tls: Tls::default(),
            ca_file: None,
            user: user.into(),
            password: Some(password),
            password_file: None,
            oauth: None,
            folder: inbox(),
            processed: processed(),
            spam_folder: None,
            poll_seconds: poll_seconds(),
            idle_seconds: idle_seconds(),
            timeout_seconds: timeout_seconds(),
            max_letter_bytes: max_letter_bytes(),
        }
    }

    fn port(&self) -> u16 {
        self.port.unwrap_or(if self.tls == Tls::Tls { 993 } else { 143 })
    }

    /// Explains a port that does not speak the kind of TLS that is set.
    pub fn port_advice(&self) -> Option<String> {
        match (self.tls, self.port()) {
            (Tls::StartTls | Tls::None, port @ 993) => Some(tls::speaks_tls(port, "inbox.imap", 143)),
            (Tls::Tls, port @ 143) => Some(tls::speaks_starttls(port, "inbox.imap", 993)),
            _ => None,
        }
    }

    /// Checks that the folders have names, and different ones.
    pub(super) fn check_folders(&self) -> Result<(), String> {
        let named = [
            ("folder", Some(&self.folder)),
            ("processed", Some(&self.processed)),
            ("spam_folder", self.spam_folder.as_ref()),
        ];
        let named: Vec<(&str, &String)> =
            named.into_iter().filter_map(|(key, name)| Some((key, name?))).collect();
        for (place, (key, name)) in named.iter().enumerate() {
            if name.trim().is_empty() || name.chars().any(char::is_control) {
                let example = ["INBOX", "Processed", "Junk"][place];
                return Err(format!(
                    "inbox.imap.{key} is `{}`, which names no folder; try \"{example}\"",
                    name.escape_debug()
                ));
            }
            let is_same = |other: &&(&str, &String)| other.1.to_lowercase() == name.to_lowercase();
            if let Some((other, _)) = named[..place].iter().find(is_same) {
                return Err(format!(
                    "inbox.imap.{other} and inbox.imap.{key} are both `{name}`; letters are moved from one folder to \
                     another, so they must differ"
                ));
            }
        }
        Ok(())
    }

    /// Returns the keys of the login.
    fn login_keys(&self) -> &'static str {
        match (&self.oauth, &self.password_file) {
            (Some(_), _) => "inbox.imap.user and inbox.imap.oauth",
            (None, Some(_)) => "inbox.imap.user and inbox.imap.password_file",
            (None, None) => "inbox.imap.user and inbox.imap.password",
        }
    }

    /// Returns the setting to look at after an error that does not name one.
    pub(super) fn advice(&self, error: &Error) -> Option<String> {
        match error {
            Error::Login(_) => Some(format!("see {}", self.login_keys())),
            Error::Server(refusal) | Error::Misunderstood(refusal) | Error::Goodbye(refusal)
                if refusal.is_momentary() =>
            {
                Some(MOMENTARY.to_owned())
            }
            Error::Io { .. } => Some(
                self.port_advice().unwrap_or_else(|| "see inbox.imap.host and inbox.imap.port".to_owned()),
            ),
            Error::Server(_) | Error::Misunderstood(_) | Error::Goodbye(_) | Error::Malformed => {
                Some(format!("the folder is {}; see inbox.imap.folder", self.folder))
            }
            Error::Configuration(_) | Error::NotStored | Error::Stopped => None,
        }
    }

    fn poll_time(&self) -> Duration {
        Duration::from_secs(self.poll_seconds.max(1))
    }

    fn idle_time(&self) -> Duration {
        Duration::from_secs(self.idle_seconds.clamp(1, 540))
    }
}

/// Reads a mailbox, in as many sessions as it takes.
pub(super) struct ImapReader {
    settings: ImapConfig,
    handle: ConnectionHandle,
    /// The value for which the UIDs below are valid.
    uid_validity: Option<u32>,
    /// Letters that are stored but still in the folder. They are not handed over again.
    filing: Filing,
    /// Letters that the receiver did not take.
    untaken: BTreeSet<u32>,
    /// Letters that may be old, by their times. They are searched once all others are read.
    suspects: BTreeSet<u32>,
    /// Number of them to search at once: more of a fast server.
    search_len: usize,
    /// Number of old letters that were found since they were last logged.
    old_count: usize,
    /// The letters left in the folder, as the receiver knows them.
    left: LeftLetters,
    /// Letters that the server does not send, or for which it sends something else.
    aside: Aside,
    /// Times that a letter, fetched alone, broke the session or did not come.
    failures: BTreeMap<u32, u8>,
    /// Maximum letters to fetch with one command.
    batch_limit: usize,
    /// The letters being fetched. Still set when a session begins if the last one broke over them.
    fetching: Vec<u32>,
    returned: Returned,
    clock: ServerClock,
    /// Number of letters that were handed over and stored.
    stored_count: usize,
    spam: SpamFolder,
    /// Whether the letters that were filed last need no comparison any more.
    is_compared: bool,
    /// Whether the password is the one in the file, which may change.
    is_password_in_file: bool,
}

impl ImapReader {
    pub(super) fn new(settings: ImapConfig, handle: ConnectionHandle, left: LeftLetters) -> ImapReader {
        let is_password_in_file =
            settings.password.is_some() && password_in_file(&settings) == settings.password;
        ImapReader {
            settings,
            handle,
            uid_validity: None,
            filing: Filing::default(),
            untaken: BTreeSet::new(),
            suspects: BTreeSet::new(),
            search_len: FEW_LETTERS,
            old_count: 0,
            is_compared: left.mark.is_none(),
            left,
            aside: Aside::default(),
            failures: BTreeMap::new(),
            batch_limit: MAX_BATCH_LETTERS,
            fetching: Vec::new(),
            returned: Returned::default(),
            clock: ServerClock::default(),
            stored_count: 0,
            spam: SpamFolder::default(),
            is_password_in_file,
        }
    }

    fn open(&mut self) -> Result<Mailbox, Error> {
        if self.is_password_in_file
            && let Some(password) = password_in_file(&self.settings)
        {
            self.settings.password = Some(password);
        }
        let mut mailbox = Mailbox::open(&self.settings, &self.handle)?;
        mailbox.set_clock(self.clock);
        // The server has renumbered its letters, so the old numbers mean nothing.
        if self.uid_validity != Some(mailbox.uid_validity()) {
            self.uid_validity = Some(mailbox.uid_validity());
            let uids = |origins: &BTreeSet<String>| {
                let numbers = origins.iter().filter_map(|origin| origin.strip_prefix(&mailbox.origins()));
                numbers.filter_map(|number| number.parse().ok()).collect()
            };
            self.filing = Filing::of(uids(&self.left.unfiled));
            self.untaken = uids(&self.left.untaken);
            self.suspects.clear();
            self.aside.clear();
            self.failures.clear();
        }
        Ok(mailbox)
    }

    /// Narrows down which letter broke the last session. Returns whether another attempt at once makes sense.
    fn narrow_down(&mut self) -> bool {
        let processed = &self.settings.processed;
        if self.filing.put_off(processed) || self.spam.filing.put_off(processed) {
            return true;
        }
        match std::mem::take(&mut self.fetching)[..] {
            [] => false,
            [uid] => self.record_failure(uid),
            ref several => {
                // Halve the batch until the letter that breaks the session is alone.
                self.batch_limit = several.len() / 2;
                true
            }
        }
    }

    /// Counts a failure over one letter. Returns whether the letter is now left alone.
    fn record_failure(&mut self, uid: u32) -> bool {
        let failures = self.failures.entry(uid).or_default();
        *failures += 1;
        if *failures < MAX_FAILURES {
            return false;
        }
        // Count from the start when the letter is retried later.
        self.failures.remove(&uid);
        self.aside.put(&self.settings.folder, uid, "the server does not send it");
        true
    }

    /// Looks for players' letters in the spam folder, if there is one and it is time to look. Returns whether
    /// it did.
    fn read_spam(&mut self, mailbox: &mut Mailbox, sender: &BatchSender) -> Result<bool, Error> {
        let Some(folder) = self.settings.spam_folder.as_ref().filter(|_| self.spam.is_due()) else {
            return Ok(false);
        };
        self.stored_count += self.spam.read(mailbox, folder, sender)?;
        Ok(true)
    }

    /// Reads the folder until it holds no more letters to read, except those that may be old, or only letters
    /// that were filed before.
    fn read_folder(&mut self, mailbox: &mut Mailbox, sender: &BatchSender) -> Result<(), Error> {
        if !self.is_compared {
            sender.compare_filed(mailbox.filed_last()?)?;
            self.is_compared = true;
        }
        let mut listed = self.list(mailbox)?;
        let before = self.filing.refusal().cloned();
        // Letters that were moved have left the list.
        if self.filing.retry(mailbox)? {
            listed = self.list(mailbox)?;
        }
        self.returned.begin(listed.iter().any(|uid| self.is_due(*uid)));
        loop {
            let waiting: Vec<u32> = listed.iter().copied().filter(|uid| self.is_due(*uid)).collect();
            if waiting.is_empty() {
                break;
            }
            let new = self.without_old(mailbox, waiting, sender)?;
            self.read_letters(mailbox, &new, sender)?;
            if !self.returned.end_round() {
                break;
            }
            listed = self.list(mailbox)?;
        }
        self.clock = mailbox.clock();
        if let Some(error) = self.filing.refusal()
            && before.as_ref() != Some(error)
        {
            tracing::warn!(error, "stored letters stay in their folder; reading goes on");
        }
        self.report_left(mailbox, sender)
    }

    /// Returns the letters that are to be read now. A mailbox that was already in use may hold gigabytes, so if
    /// there are many letters, those that may be old are found by their times and their beginnings: at once if
    /// they may answer one of the club's letters, because the letters of a player are read in order; otherwise
    /// once all others are read.
    fn without_old(
        &mut self,
        mailbox: &mut Mailbox,
        waiting: Vec<u32>,
        sender: &BatchSender,
    ) -> Result<Vec<u32>, Error> {
        let Some(mark) = self.left.mark.filter(|_| waiting.len() > FEW_LETTERS) else { return Ok(waiting) };
        let began = self.left.began.unwrap_or(DateTime::<Utc>::MIN_UTC);
        let arrivals = mailbox.arrivals(&waiting)?;
        let (suspects, others): (Vec<_>, Vec<_>) =
            waiting.into_iter().zip(arrivals).partition(|(_, at)| is_before(*at, began));
        self.suspects.extend(suspects.into_iter().map(|(uid, _)| uid));
        let doubtful = others.iter().filter(|(_, at)| is_before(*at, mark)).map(|(uid, _)| *uid).collect();
        self.leave_old(mailbox, doubtful, sender)?;
        let others = others.into_iter().map(|(uid, _)| uid);
        Ok(others.filter(|uid| !self.untaken.contains(uid)).collect())
    }

    /// Searches the letters that are probably old, for [`SEARCH_TIME`] or a little longer, and reads those that
    /// are not. Returns whether there were any: then new letters may have come in the meantime.
    fn search_suspects(&mut self, mailbox: &mut Mailbox, sender: &BatchSender) -> Result<bool, Error> {
        let started = Instant::now();
        let mut is_searched = false;
        while started.elapsed() < SEARCH_TIME {
            let began = Instant::now();
            let due = self.suspects.iter().copied().filter(|uid| self.aside.is_due(*uid));
            let some: Vec<u32> = due.take(self.search_len).collect();
            if some.is_empty() {
                break;
            }
            is_searched = true;
            self.leave_old(mailbox, some.clone(), sender)?;
            for uid in &some {
                self.suspects.remove(uid);
            }
            let new: Vec<u32> = some.into_iter().filter(|uid| !self.untaken.contains(uid)).collect();
            self.read_letters(mailbox, &new, sender)?;
            self.search_len = if began.elapsed() < SEARCH_TIME / 4 {
                SEARCHES[0].0.min(self.search_len * 2)
            } else {
                self.search_len.div_ceil(2)
            };
        }
        Ok(is_searched)
    }

    /// Leaves the old ones of these letters in the folder, as far as their beginnings show which are old.
    fn leave_old(
        &mut self,
        mailbox: &mut Mailbox,
        mut suspects: Vec<u32>,
        sender: &BatchSender,
    ) -> Result<(), Error> {
        let before = self.untaken.len();
        for (together, bytes) in SEARCHES {
            suspects = self.leave_short_old(mailbox, &suspects, together, bytes, sender)?;
        }
        self.untaken.extend(suspects);
        self.old_count += self.untaken.len() - before;
        Ok(())
    }

    /// Reads these letters, in their order.
    fn read_letters(
        &mut self,
        mailbox: &mut Mailbox,
        uids: &[u32],
        sender: &BatchSender,
    ) -> Result<(), Error> {
        let mut rest = uids;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(self.batch_len(mailbox, rest)?);
            self.read_batch(mailbox, batch, sender)?;
            rest = later;
        }
        Ok(())
    }

    /// Leaves the old ones of these letters in the folder if they are no longer than `bytes`. Returns the
    /// longer ones that are old as far as their first `bytes` show.
    fn leave_short_old(
        &mut self,
        mailbox: &mut Mailbox,
        suspects: &[u32],
        together: usize,
        bytes: usize,
        sender: &BatchSender,
    ) -> Result<Vec<u32>, Error> {
        let mut longer = Vec::new();
        let mut rest = suspects;
        while !rest.is_empty() {
            let (some, later) = rest.split_at(rest.len().min(together).min(self.batch_limit.max(1)));
            rest = later;
            self.fetching = some.to_vec();
            let fetched = mailbox.fetch_beginnings(some, bytes)?;
            self.fetching.clear();
            let found: Vec<(u32, bool)> = fetched.iter().map(|(uid, letter)| (*uid, letter.cut)).collect();
            let letters: Vec<_> = fetched.into_iter().map(|(_, letter)| letter).collect();
            let old = if letters.is_empty() { Vec::new() } else { sender.find_old(letters)? };
            for (uid, cut) in old.into_iter().filter_map(|place| found.get(place)) {
                if *cut {
                    longer.push(*uid);
                } else {
                    self.untaken.insert(*uid);
                }
            }
        }
        Ok(longer)
    }

    /// Lists the letters in the folder, and forgets those that have left it.
    fn list(&mut self, mailbox: &mut Mailbox) -> Result<Vec<u32>, Error> {
        let listed = mailbox.list()?;
        let is_listed = |uid: &u32| listed.binary_search(uid).is_ok();
        self.filing.forget_all_but(&listed);
        self.untaken.retain(is_listed);
        self.suspects.retain(is_listed);
        self.aside.forget_all_but(&listed);
        self.failures.retain(|uid, _| is_listed(uid));
        Ok(listed)
    }

    /// Tells the receiver which letters cannot be moved, and which of those that were left are gone. The
    /// receiver itself knows which letters it did not take.
    fn report_left(&mut self, mailbox: &Mailbox, sender: &BatchSender) -> Result<(), Error> {
        let origins = |uids: &BTreeSet<u32>| uids.iter().map(|uid| mailbox.origin(*uid)).collect();
        let now = LeftLetters {
            untaken: origins(&self.untaken),
            unfiled: origins(self.filing.stored()),
            ..self.left
        };
        if now != self.left {
            sender.report_unfiled(&self.left.unfiled, &now.unfiled)?;
            sender.report_gone(self.left.untaken.difference(&now.untaken).cloned().collect())?;
            self.left = now;
        }
        Ok(())
    }

    /// Reports that the folder was read to its end, and what could not be read or moved.
    fn report_ok(&mut self, mailbox: &Mailbox, sender: &BatchSender) {
        if self.suspects.is_empty() {
            sender.log_old(&mut self.old_count);
        }
        let ImapConfig { folder, processed, poll_seconds, .. } = &self.settings;
        let refusal = self.filing.refusal().or(self.spam.filing.refusal()).cloned();
        let unfiled = refusal.or_else(|| {
            self.returned.gives_back().then(|| {
                format!(
                    "letters that were moved to {processed} come back to {folder}, so it is read only every \
                     {poll_seconds} s; see inbox.imap.processed"
                )
            })
        });
        let spam = self.settings.spam_folder.as_deref().unwrap_or_default();
        let unreadable = self.aside.report(mailbox.folder()).or_else(|| self.spam.aside.report(spam));
        sender.report_ok(Remainder { unreadable_count: self.aside.len(), unreadable, unfiled });
    }

    fn is_due(&self, uid: u32) -> bool {
        let is_left =
            self.filing.contains(uid) || self.untaken.contains(&uid) || self.suspects.contains(&uid);
        !is_left && self.aside.is_due(uid)
    }

    /// Returns the number of these letters that make a batch, limited by number and size. The server is asked
    /// for sizes only if the batch could be too large, and for one batch at a time: some servers read each
    /// letter to determine its size.
    fn batch_len(&self, mailbox: &mut Mailbox, waiting: &[u32]) -> Result<usize, Error> {
        let candidates = &waiting[..waiting.len().min(self.batch_limit)];
        let limit = self.settings.max_letter_bytes;
        if candidates.len() <= 1 || candidates.len().saturating_mul(limit) <= MAX_BATCH_BYTES {
            return Ok(candidates.len());
        }
        let mut bytes = 0_usize;
        let mut count = 0;
        for size in mailbox.sizes(candidates)? {
            if bytes >= MAX_BATCH_BYTES {
                break;
            }
            // A letter of unknown size may be as large as any.
            let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(limit);
            bytes = bytes.saturating_add(size.min(limit));
            count += 1;
        }
        Ok(count)
    }

    fn read_batch(&mut self, mailbox: &mut Mailbox, uids: &[u32], sender: &BatchSender) -> Result<(), Error> {
        self.fetching = uids.to_vec();
        let answer = mailbox.fetch(uids)?;
        self.fetching.clear();
        // The letter that broke the session is alone by now, or gone: batches may grow again.
        self.batch_limit = (self.batch_limit * 2).min(MAX_BATCH_LETTERS);
        let doubtful_count = answer.doubtful.len();
        for (uid, doubt) in &answer.doubtful {
            self.failures.remove(uid);
            self.aside.put(mailbox.folder(), *uid, doubt);
        }
        let (fetched_uids, letters): (Vec<u32>, Vec<_>) = answer.letters.into_iter().unzip();
        for uid in uids {
            if fetched_uids.binary_search(uid).is_ok() {
                self.failures.remove(uid);
                self.aside.remove(*uid);
            } else if !answer.doubtful.iter().any(|(doubtful, _)| doubtful == uid) {
                self.record_failure(*uid);
            }
        }
        if fetched_uids.len() + doubtful_count < uids.len() {
            // Letters that have vanished are no longer listed after this.
            mailbox.refresh()?;
        }
        if fetched_uids.is_empty() {
            return Ok(());
        }
        let marks: Vec<Mark> = letters.iter().map(Returned::mark_of).collect();
        let returned = marks.iter().zip(&fetched_uids).filter(|(mark, _)| self.returned.contains(**mark));
        self.filing.doubt(returned.map(|(_, uid)| *uid));
        let taken = sender.send_batch(letters)?;
        self.returned.note(&taken.divide(marks).0);
        let (stored, untaken) = taken.divide(fetched_uids);
        self.old_count += untaken.len();
        self.untaken.extend(untaken);
        self.stored_count += stored.len();
        self.filing.add(mailbox, &stored)
    }
}

fn is_before(at: Option<DateTime<Utc>>, limit: DateTime<Utc>) -> bool {
    at.is_some_and(|at| at < limit)
}

impl Source for ImapReader {
    fn watch(&mut self, sender: &BatchSender) -> Result<Infallible, Error> {
        self.narrow_down();
        loop {
            let broken = self.open().and_then(|mut mailbox| {
                loop {
                    self.read_folder(&mut mailbox, sender)?;
                    if self.read_spam(&mut mailbox, sender)? {
                        // IDLE announces no letter that came while the other folder was selected.
                        self.read_folder(&mut mailbox, sender)?;
                    }
                    self.report_ok(&mailbox, sender);
                    if self.search_suspects(&mut mailbox, sender)? {
                        // Courier searches only among the letters of which it last told.
                        mailbox.refresh()?;
                        continue;
                    }
                    if self.returned.gives_back() {
                        // IDLE would announce the same letters at once.
                        sender.sleep(self.settings.poll_time())?;
                    } else {
                        mailbox.wait(sender, self.aside.next_wait().unwrap_or(Duration::MAX))?;
                    }
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
            let read = self.read_folder(&mut mailbox, sender).and_then(|()| {
                while self.search_suspects(&mut mailbox, sender)? {
                    self.read_folder(&mut mailbox, sender)?;
                }
                self.read_spam(&mut mailbox, sender)
            });
            match read {
                Ok(_) => {
                    self.report_ok(&mailbox, sender);
                    mailbox.close();
                    return Ok(self.stored_count);
                }
                Err(error) => {
                    let is_over_a_letter = !self.fetching.is_empty();
                    if !self.narrow_down() && !is_over_a_letter {
                        return Err(error);
                    }
                }
            }
        }
    }

    fn check(&mut self) -> Result<InboxCheck, Error> {
        let mut mailbox = self.open()?;
        let checked = mailbox.check()?;
        mailbox.close();
        Ok(checked)
    }

    fn find(&mut self, message_id: &str) -> Result<Option<FoundLetter>, Error> {
        find(&self.settings, &self.handle, message_id)
    }

    fn secret_file(&self) -> Option<&Path> {
        match &self.settings.oauth {
            Some(oauth) => Some(&oauth.token_file),
            None => self.settings.password_file.as_deref().filter(|_| self.is_password_in_file),
        }
    }
}

/// Returns the password in the file that the settings name.
fn password_in_file(settings: &ImapConfig) -> Option<Secret> {
    let password = Secret::in_file(settings.password_file.as_ref()?).ok()?;
    (!password.reveal().is_empty()).then_some(password)
}

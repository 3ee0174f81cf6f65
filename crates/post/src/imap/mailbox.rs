//! A session with an IMAP server, in a selected folder: the few commands that reading a mailbox needs.

use std::time::Duration;

use chrono::{DateTime, Utc};
use imap::Session;
use imap::types::UnsolicitedResponse;

use super::arrival::{Listings, ServerClock};
use super::command::{Idle, SharedConnection, convert_error, idle, quoted_string, unless_refused};
use super::connection::Connection;
use super::fetch::{Fetched, uid_fetch};
use super::folders::Folders;
use super::proof::{doubt, is_suspicious};
use super::{ImapConfig, login};
use crate::source::{BatchSender, COMPARED_BYTES, COMPARED_LETTERS, ConnectionHandle};
use crate::{Error, FetchedLetter, FoundLetter, InboxCheck};

pub(super) use self::moving::Copies;

mod moving;

/// Maximum repetitions of a listing because letters arrived in the meantime.
const MAX_RELISTINGS: usize = 10;

/// Maximum letters to look at if a server finds several by a Message-ID.
const MAX_SEARCHED: usize = 20;

/// Maximum UIDs, and ranges of them, in a command that asks for little about each letter.
const MAX_WINDOW: usize = 5_000;
const MAX_RANGES: usize = 250;

/// A selected folder.
pub(super) struct Mailbox {
    session: Session<SharedConnection>,
    /// The connection of `session`, for the commands that the crate cannot run well.
    connection: SharedConnection,
    settings: ImapConfig,
    /// The selected folder, as people write its name.
    folder: String,
    uid_validity: u32,
    capabilities: Capabilities,
    folders: Folders,
    /// The folder for processed letters, as the server writes its name.
    processed: String,
    /// Whether that folder is known to exist.
    processed_exists: bool,
    /// Whether the last letters that came during IDLE were announced.
    is_idle_proved: bool,
    /// Whether the last wait ended because IDLE announced something, until the next listing.
    was_announced: Option<bool>,
    /// The letters of the folder that the config names, as this session has found them.
    listings: Listings,
    clock: ServerClock,
}

/// The answer to a request for letters.
#[derive(Default)]
pub(super) struct Answer {
    /// The letters, ascending by UID.
    pub letters: Vec<(u32, FetchedLetter)>,
    /// The letters that the server may not have sent, and why.
    pub doubtful: Vec<(u32, String)>,
}

/// A letter, or its beginning, as the server sent it together with others.
struct Part {
    data: Fetched,
    is_suspicious: bool,
}

/// The extensions of RFC 3501 that we use.
#[derive(Debug, Clone, Copy)]
struct Capabilities {
    /// Whether the server announces new letters (RFC 2177).
    idle: bool,
    /// Whether letters can be moved (RFC 6851).
    r#move: bool,
    /// Whether letters can be expunged by UID (RFC 4315).
    uid_plus: bool,
}

impl Mailbox {
    /// Connects, logs in and selects the folder.
    pub(super) fn open(settings: &ImapConfig, handle: &ConnectionHandle) -> Result<Mailbox, Error> {
        let opened = match Mailbox::open_once(settings, handle) {
            // Try once more, because the next access token is a new one.
            Err(login::Failure::TokenRefused(_)) => Mailbox::open_once(settings, handle),
            opened => opened,
        };
        opened.map_err(|(login::Failure::TokenRefused(error) | login::Failure::Other(error))| error)
    }

    fn open_once(settings: &ImapConfig, handle: &ConnectionHandle) -> Result<Mailbox, login::Failure> {
        let connection = SharedConnection::new(Connection::open(settings, handle)?);
        let mut session = login::log_in(settings, &connection)?;
        // A login may change the server's capabilities.
        let offered = session.capabilities().map_err(convert_error)?;
        // Every server offers IMAP itself (RFC 3501, 6.1.1).
        if offered.is_empty() {
            return Err(Error::Malformed.into());
        }
        let capabilities = Capabilities {
            idle: offered.has_str("IDLE"),
            r#move: offered.has_str("MOVE"),
            uid_plus: offered.has_str("UIDPLUS"),
        };
        if offered.has_str("ID") {
            introduce(&mut session)?;
        }
        let folders = Folders::read(&mut connection.borrow(), &|name| offered.has_str(name))?;
        let processed = folders.real_name(&settings.processed);
        let processed_exists = folders.find(&settings.processed).is_some();
        if processed == folders.real_name(&settings.folder) {
            let text = "inbox.imap.folder and inbox.imap.processed are the same folder";
            return Err(Error::Configuration(text.to_owned()).into());
        }
        if let Some(spam) = settings.spam_folder.as_ref().map(|name| folders.real_name(name))
            && (spam == processed || spam == folders.real_name(&settings.folder))
        {
            let key = if spam == processed { "processed" } else { "folder" };
            let text = format!("inbox.imap.spam_folder and inbox.imap.{key} are the same folder");
            return Err(Error::Configuration(text).into());
        }
        let mut mailbox = Mailbox {
            session,
            connection,
            settings: settings.clone(),
            folder: String::new(),
            uid_validity: 0,
            capabilities,
            folders,
            processed,
            processed_exists,
            is_idle_proved: false,
            was_announced: None,
            listings: Listings::default(),
            clock: ServerClock::default(),
        };
        mailbox.switch_to(&settings.folder, "inbox.imap.folder")?;
        Ok(mailbox)
    }

    /// Returns the name of the selected folder.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }

    /// Selects another folder, which the config names by `key`. All later commands concern its letters.
    ///
    /// # Errors
    /// [`Error::Configuration`] if the server refuses it.
    pub(super) fn switch_to(&mut self, folder: &str, key: &str) -> Result<(), Error> {
        let before = Utc::now();
        let selected = self.session.select(self.folders.real_name(folder)).map_err(convert_error);
        let selected = selected.map_err(|error| match error {
            // The folder is not at fault.
            Error::Server(refusal) | Error::Misunderstood(refusal) if refusal.is_momentary() => {
                Error::Server(refusal)
            }
            Error::Server(refusal) | Error::Misunderstood(refusal) => Error::Configuration(format!(
                "the folder {folder} cannot be opened: the server said: {refusal}; see {key}"
            )),
            error => error,
        })?;
        folder.clone_into(&mut self.folder);
        self.uid_validity = selected.uid_validity.unwrap_or(0);
        if let Some(next) = selected.uid_next.filter(|_| self.is_own_folder()) {
            self.listings.note(next.saturating_sub(1), before);
        }
        Ok(())
    }

    /// Selects the spam folder: the one that the config names or, if the server does not list it, the one
    /// that the server marks as such.
    pub(super) fn switch_to_spam(&mut self, folder: &str) -> Result<(), Error> {
        let marked = match self.folders.find(folder) {
            Some(_) => None,
            None => self.folders.junk().map(ToOwned::to_owned),
        };
        self.switch_to(marked.as_deref().unwrap_or(folder), "inbox.imap.spam_folder")
    }

    /// Returns the bytes of the letter with this Message-ID in the folder, up to the limit, and its UID.
    fn letter_with_id(&mut self, message_id: &str) -> Result<Option<(u32, Vec<u8>)>, Error> {
        let found = self.search(&format!("HEADER Message-ID \"<{message_id}>\""))?.0;
        // A server may ignore the search, so check that the letter has the ID.
        for uid in found.into_iter().rev().take(MAX_SEARCHED) {
            let fetched = self.fetch(&[uid])?.letters.into_iter().next().map(|(_, letter)| letter.raw);
            let bears = |raw: &Vec<u8>| memchr::memmem::find(raw, message_id.as_bytes()).is_some();
            if let Some(raw) = fetched.filter(bears) {
                return Ok(Some((uid, raw)));
            }
        }
        Ok(None)
    }

    /// Returns the UIDs of the letters that a query finds, ascending, and whether other letters arrived in
    /// the meantime.
    fn search(&mut self, query: &str) -> Result<(Vec<u32>, bool), Error> {
        drop(self.session.take_all_unsolicited());
        self.connection.borrow().expect_listings(true);
        let found = self.session.uid_search(query);
        self.connection.borrow().expect_listings(false);
        let mut found = Vec::from_iter(found.map_err(convert_error)?);
        found.sort_unstable();
        let mut news = self.session.take_all_unsolicited();
        Ok((found, news.any(|response| matches!(response, UnsolicitedResponse::Exists(_)))))
    }

    /// Returns UIDVALIDITY: while it stays the same, a UID means the same letter (RFC 3501, 2.3.1.1).
    pub(super) fn uid_validity(&self) -> u32 {
        self.uid_validity
    }

    /// Whether the selected folder is the one that is read all the time.
    fn is_own_folder(&self) -> bool {
        self.folder == self.settings.folder
    }

    /// Returns the UIDs of all letters in the folder, in order of arrival.
    pub(super) fn list(&mut self) -> Result<Vec<u32>, Error> {
        let mut relistings = 0;
        loop {
            let before = Utc::now();
            let (found, is_outdated) = self.search("ALL")?;
            // The list may lack a letter that arrived while it was written, and no IDLE announces that letter
            // again.
            if !is_outdated || relistings == MAX_RELISTINGS {
                if self.is_own_folder() {
                    self.listings.note(found.last().copied().unwrap_or(0), before);
                    self.judge_idle();
                }
                return Ok(found);
            }
            relistings += 1;
        }
    }

    /// Notes whether IDLE has announced the letters that came during the last wait.
    fn judge_idle(&mut self) {
        if let Some(was_announced) = self.was_announced.take()
            && self.listings.has_grown()
        {
            self.is_idle_proved = was_announced;
        }
    }

    /// Returns a moment at which a letter had not arrived yet, if the session knows of one.
    fn absent_at(&self, uid: u32) -> Option<DateTime<Utc>> {
        if self.is_own_folder() { self.listings.absent_at(uid) } else { None }
    }

    /// Returns what is known of the server's clock.
    pub(super) fn clock(&self) -> ServerClock {
        self.clock
    }

    /// Takes over what an earlier session has learned of the server's clock.
    pub(super) fn set_clock(&mut self, clock: ServerClock) {
        self.clock = clock;
    }

    /// Learns from the times that the server states for letters.
    fn learn_clock(&mut self, stated: impl Iterator<Item = (u32, Option<DateTime<Utc>>)>) {
        let now = Utc::now();
        for (uid, stated) in stated {
            if let Some(stated) = stated {
                self.clock.learn(now, stated, self.absent_at(uid));
            }
        }
    }

    /// Returns when a letter arrived, or `None` if the server does not say, or cannot be right.
    fn arrival(&self, uid: u32, stated: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
        self.clock.arrival(Utc::now(), stated?, self.absent_at(uid))
    }

    /// Returns the size in bytes of each of these letters, in their order, or `None` if the server does not
    /// say.
    pub(super) fn sizes(&mut self, uids: &[u32]) -> Result<Vec<Option<u64>>, Error> {
        let fetched = uid_fetch(&mut self.connection.borrow(), &uid_set(uids), "(UID RFC822.SIZE)", 0)?;
        Ok(uids.iter().map(|uid| fetched.get(uid)?.size).collect())
    }

    /// Fetches the letters with these ascending UIDs that still exist, without marking them as seen, and only
    /// the beginning of a large letter. An answer that may not be the letter is asked for again, alone.
    pub(super) fn fetch(&mut self, uids: &[u32]) -> Result<Answer, Error> {
        let limit = self.settings.max_letter_bytes;
        let mut answer = Answer::default();
        for (uid, fetched) in self.fetch_parts(uids, limit)? {
            let proved =
                if fetched.is_suspicious { self.prove(uid, fetched.data, limit)? } else { Ok(fetched.data) };
            match proved {
                Ok(data) => answer.letters.extend(self.letter(uid, data, limit).map(|letter| (uid, letter))),
                Err(doubt) => answer.doubtful.push((uid, doubt)),
            }
        }
        Ok(answer)
    }

    /// Fetches at most this many bytes of each letter, except of letters whose answers need proof.
    pub(super) fn fetch_beginnings(
        &mut self,
        uids: &[u32],
        limit: usize,
    ) -> Result<Vec<(u32, FetchedLetter)>, Error> {
        let fetched = self.fetch_parts(uids, limit)?;
        let sound = fetched.into_iter().filter(|(_, part)| !part.is_suspicious);
        Ok(sound.filter_map(|(uid, part)| Some((uid, self.letter(uid, part.data, limit)?))).collect())
    }

    /// Returns the letters that were filed last, and only the beginning of a large one.
    pub(super) fn filed_last(&mut self) -> Result<Vec<FetchedLetter>, Error> {
        // The folder of the letters would have to be opened again, which takes long if it is large.
        if self.lacks_processed() {
            return Ok(Vec::new());
        }
        let folder = self.folder.clone();
        let processed = self.settings.processed.clone();
        let selected = self.switch_to(&processed, "inbox.imap.processed");
        let letters = match selected {
            Ok(()) => {
                let uids = self.list()?;
                let newest = &uids[uids.len().saturating_sub(COMPARED_LETTERS)..];
                match newest {
                    [] => Vec::new(),
                    newest => {
                        let limit = COMPARED_BYTES.min(self.settings.max_letter_bytes);
                        self.fetch_beginnings(newest, limit)?
                    }
                }
            }
            // A server that lists nothing need not have it yet.
            Err(Error::Configuration(_)) => Vec::new(),
            Err(error) => return Err(error),
        };
        self.switch_to(&folder, "inbox.imap.folder")?;
        Ok(letters.into_iter().map(|(_, letter)| letter).collect())
    }

    fn fetch_parts(&mut self, uids: &[u32], limit: usize) -> Result<Vec<(u32, Part)>, Error> {
        // One byte more than the limit shows whether a letter is larger, whatever size the server states.
        let keep = limit.saturating_add(1);
        let items = format!("(UID RFC822.SIZE INTERNALDATE BODY.PEEK[]<0.{keep}>)");
        let fetched = uid_fetch(&mut self.connection.borrow(), &uid_set(uids), &items, keep)?;
        let mut parts: Vec<(u32, Part)> = Vec::new();
        for (uid, data) in fetched.into_iter().filter(|(uid, _)| uids.binary_search(uid).is_ok()) {
            // A server may send one letter for all that it was asked for.
            let is_repeated =
                data.body.is_some() && parts.iter().any(|(_, part)| part.data.body == data.body);
            let is_suspicious = is_repeated || is_suspicious(&data, keep as u64);
            parts.push((uid, Part { data, is_suspicious }));
        }
        self.learn_clock(parts.iter().map(|(uid, part)| (*uid, part.data.received_at)));
        Ok(parts)
    }

    /// Asks twice for one letter, whole, and returns it, or the reason to doubt that it is the letter.
    fn prove(&mut self, uid: u32, fetched: Fetched, limit: usize) -> Result<Result<Fetched, String>, Error> {
        let keep = limit.saturating_add(1);
        // Some servers send nothing if they are asked for more bytes than there are.
        let part =
            if fetched.size.unwrap_or(0) > limit as u64 { format!("<0.{keep}>") } else { String::new() };
        let items = format!("(UID RFC822.SIZE INTERNALDATE ENVELOPE BODY.PEEK[]{part})");
        let mut answers = Vec::new();
        for _ in 0..2 {
            match uid_fetch(&mut self.connection.borrow(), &uid.to_string(), &items, keep) {
                Ok(mut fetched) => answers.push(fetched.remove(&uid).unwrap_or_default()),
                Err(Error::Server(refusal) | Error::Misunderstood(refusal)) => {
                    return Ok(Err(format!("the server said: {refusal}")));
                }
                Err(error) => return Err(error),
            }
        }
        let [first, second] = <[Fetched; 2]>::try_from(answers).expect("asked twice");
        Ok(match doubt(&first, &second, keep as u64) {
            Some(doubt) => Err(doubt.to_owned()),
            None => Ok(first),
        })
    }

    fn letter(&self, uid: u32, fetched: Fetched, limit: usize) -> Option<FetchedLetter> {
        let body = fetched.body?;
        let mut raw = body.bytes;
        raw.truncate(limit);
        let arrival = self.arrival(uid, fetched.received_at);
        Some(FetchedLetter {
            raw,
            received_at: arrival.unwrap_or_else(Utc::now),
            arrivals: Vec::from_iter(arrival),
            origin: self.origin(uid),
            cut: body.size > limit as u64,
            is_spam: false,
            size: fetched.size.unwrap_or(0).max(body.size),
        })
    }

    /// Returns the origin of a letter: unique within the mailbox.
    pub(super) fn origin(&self, uid: u32) -> String {
        format!("{}{uid}", self.origins())
    }

    /// Returns the common beginning of the origins of the folder's letters.
    pub(super) fn origins(&self) -> String {
        format!("imap:{}/{}/", self.folder, self.uid_validity)
    }

    /// Returns the times at which these letters arrived, or `None` where the server does not say, or cannot
    /// be right.
    pub(super) fn arrivals(&mut self, uids: &[u32]) -> Result<Vec<Option<DateTime<Utc>>>, Error> {
        let mut stated = Vec::new();
        for uids in windows(uids) {
            let fetched = uid_fetch(&mut self.connection.borrow(), &uid_set(uids), "(UID INTERNALDATE)", 0)?;
            stated.extend(uids.iter().map(|uid| (*uid, fetched.get(uid).and_then(|data| data.received_at))));
        }
        self.learn_clock(stated.iter().copied());
        Ok(stated.into_iter().map(|(uid, stated)| self.arrival(uid, stated)).collect())
    }

    /// Lets the server report letters that are no longer in the folder.
    pub(super) fn refresh(&mut self) -> Result<(), Error> {
        self.session.noop().map_err(convert_error)
    }

    /// Returns the name of the processed folder for a person.
    pub(super) fn processed(&self) -> String {
        let name = &self.settings.processed;
        if *name == self.processed {
            name.clone()
        } else {
            format!("{name} (on the server: {})", self.processed)
        }
    }

    /// Whether the server lists its folders, and no processed folder among them.
    fn lacks_processed(&self) -> bool {
        !self.processed_exists && !self.folders.is_empty()
    }

    fn mark(&mut self, set: &str, flag: &str) -> Result<(), Error> {
        self.session.uid_store(set, format!("+FLAGS.SILENT ({flag})")).map(drop).map_err(convert_error)
    }

    fn unmark(&mut self, set: &str, flag: &str) -> Result<(), Error> {
        self.session.uid_store(set, format!("-FLAGS.SILENT ({flag})")).map(drop).map_err(convert_error)
    }

    /// Creates the processed folder if the server lists none. If the server refuses, moving letters shows
    /// whether the folder exists all the same.
    fn create_processed(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.processed_exists, true) {
            return Ok(());
        }
        let answer = self.session.create(&self.processed).map_err(convert_error);
        let is_refused = matches!(&answer, Err(Error::Server(refusal)) if !refusal.text.contains("EXISTS"));
        unless_refused(answer)?;
        if is_refused
            && let Some(name) = self.folders.below_inbox(&self.processed)
            && unless_refused(self.session.create(&name).map_err(convert_error))?
        {
            self.processed = name;
        }
        Ok(())
    }

    /// Waits until there may be new letters: the server says so, or it is time to look, at the latest after `limit`.
    pub(super) fn wait(&mut self, sender: &BatchSender, limit: Duration) -> Result<(), Error> {
        let limit = limit.max(Duration::from_secs(1));
        if self.capabilities.idle {
            let mut time = self.settings.idle_time().min(limit);
            // Some servers accept IDLE and announce nothing. Until it has proved itself, look as often as
            // without it.
            if !self.is_idle_proved {
                time = time.min(self.settings.poll_time());
            }
            match idle(&mut self.connection.borrow(), time)? {
                Idle::Over { was_announced } => {
                    self.was_announced = Some(was_announced);
                    return Ok(());
                }
                Idle::Refused => self.capabilities.idle = false,
            }
        }
        sender.sleep(self.settings.poll_time().min(limit))
    }

    /// Describes the mailbox to a person. Changes nothing in it.
    pub(super) fn check(&mut self) -> Result<InboxCheck, Error> {
        let uids = self.list()?;
        let arrivals = self.arrivals(&uids)?;
        let waiting = uids.len();
        let folder = self.folder.clone();
        let ImapConfig { host, tls, poll_seconds, .. } = &self.settings;
        let news = if self.capabilities.idle {
            "announces new letters (IDLE)".to_owned()
        } else {
            format!("polled every {poll_seconds} s (no IDLE)")
        };
        let moving =
            if self.capabilities.r#move { "moves letters (MOVE)" } else { "copies letters (no MOVE)" };
        let port = self.settings.port();
        let processed = self.processed();
        let will_be = if self.lacks_processed() { ", which will be created" } else { "" };
        let found = format!(
            "IMAP {host}:{port} ({tls}), logged in, {folder}: {waiting} waiting; {news} and {moving}, to {processed}{will_be}"
        );
        let filed = self.filed_last()?;
        let mut hints = Vec::new();
        if let Some(spam) = self.settings.spam_folder.clone() {
            self.switch_to_spam(&spam)?;
        } else if let Some(junk) = self.folders.junk() {
            hints.push(format!(
                "players' letters in the spam folder are not read; to read them, set spam_folder = \"{junk}\" in \
                 [inbox.imap]"
            ));
        }
        Ok(InboxCheck { found, hints, arrivals, filed })
    }

    pub(super) fn close(mut self) {
        // A courtesy: the connection is closed whatever the server replies.
        let _ = self.session.logout();
    }
}

/// Looks for the letter with this Message-ID (without angle brackets) in the folders where it may have
/// arrived, for `fogpost doctor --send`.
pub(super) fn find(
    settings: &ImapConfig,
    handle: &ConnectionHandle,
    message_id: &str,
) -> Result<Option<FoundLetter>, Error> {
    let mut mailbox = Mailbox::open(settings, handle)?;
    let processed = settings.processed.as_str();
    let spam = settings.spam_folder.as_deref().or(mailbox.folders.junk()).map(ToOwned::to_owned);
    let mut found = None;
    for (folder, is_spam) in
        [(Some(settings.folder.as_str()), false), (Some(processed), false), (spam.as_deref(), true)]
    {
        let Some(folder) = folder else { continue };
        let selected =
            if is_spam { mailbox.switch_to_spam(folder) } else { mailbox.switch_to(folder, "inbox.imap") };
        match selected {
            // The folder need not exist yet.
            Err(Error::Configuration(_)) => continue,
            selected => selected?,
        }
        if let Some((uid, raw)) = mailbox.letter_with_id(message_id)? {
            let moved =
                if folder == processed { Ok(()) } else { mailbox.file(&[uid], &mut Copies::default()) };
            let unfiled = moved.err().map(|error| format!("{processed}: {error}; see inbox.imap.processed"));
            found = Some(FoundLetter { folder: folder.to_owned(), is_spam, raw, unfiled });
            break;
        }
    }
    mailbox.close();
    Ok(found)
}

/// Identifies this program to the server (RFC 2971). Some providers open no folder before that.
fn introduce(session: &mut Session<SharedConnection>) -> Result<(), Error> {
    let version = quoted_string(env!("CARGO_PKG_VERSION"));
    let id = format!("ID (\"name\" \"fogpost\" \"version\" {version} \"vendor\" \"fogpost\")");
    unless_refused(session.run_command_and_check_ok(id).map_err(convert_error)).map(drop)
}

/// Writes ascending UIDs as a sequence set (RFC 3501, 9), with runs as ranges.
fn uid_set(uids: &[u32]) -> String {
    let parts: Vec<String> = runs(uids)
        .map(|run| match run {
            [one] => one.to_string(),
            run => format!("{}:{}", run[0], run[run.len() - 1]),
        })
        .collect();
    parts.join(",")
}

/// Returns the runs of consecutive UIDs, which are ascending.
fn runs(uids: &[u32]) -> impl Iterator<Item = &[u32]> {
    uids.chunk_by(|a, b| a.checked_add(1) == Some(*b))
}

/// Divides UIDs, ascending, into parts that are short as a set and in the answer.
fn windows(uids: &[u32]) -> Vec<&[u32]> {
    let mut windows = Vec::new();
    let mut rest = uids;
    let mut length = 0;
    let mut ranges = 0;
    for run in uids.chunks(MAX_WINDOW).flat_map(runs) {
        if length + run.len() > MAX_WINDOW || ranges == MAX_RANGES {
            let (window, behind) = rest.split_at(length);
            windows.push(window);
            (rest, length, ranges) = (behind, 0, 0);
        }
        length += run.len();
        ranges += 1;
    }
    windows.extend(Some(rest).filter(|rest| !rest.is_empty()));
    windows
}

#[cfg(test)]
mod tests {
    use super::{MAX_RANGES, MAX_WINDOW, uid_set, windows};

    #[test]
    fn windows_of_uids_are_few_and_have_few_gaps() {
        let lengths = |uids: &[u32]| windows(uids).iter().map(|window| window.len()).collect::<Vec<_>>();
        let dense: Vec<u32> = (1..=12_000).collect();
        assert_eq!(lengths(&dense), [MAX_WINDOW, MAX_WINDOW, 12_000 - 2 * MAX_WINDOW]);
        let sparse: Vec<u32> = (1..=600).map(|uid| 2 * uid).collect();
        assert_eq!(lengths(&sparse), [MAX_RANGES, MAX_RANGES, 600 - 2 * MAX_RANGES]);
        let mixed: Vec<u32> = sparse.iter().copied().chain(2_000..9_000).collect();
        assert_eq!(windows(&mixed).concat(), mixed);
        assert_eq!(lengths(&[]), [0; 0]);
    }

    #[test]
    fn runs_of_uids_become_ranges() {
        assert_eq!(uid_set(&[7]), "7");
        assert_eq!(uid_set(&[1, 2, 3, 5, 7, 8]), "1:3,5,7:8");
        assert_eq!(uid_set(&[u32::MAX - 1, u32::MAX]), "4294967294:4294967295");
    }
}

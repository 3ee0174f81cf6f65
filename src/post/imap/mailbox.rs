//! A session with an IMAP server, in a selected folder: the few commands that reading a mailbox needs.
//!
//! Drop the session after any error: the imap crate's tags may be out of step with the server's.

use std::time::Duration;

use chrono::Utc;
use imap::Session;
use imap::types::UnsolicitedResponse;
use imap_proto::NameAttribute;

use super::connection::{Connection, SharedConnection, failed};
use super::fetch::{Fetched, uid_fetch};
use super::idle::{Idle, idle};
use super::{ImapConfig, login};
use crate::post::source::{BatchSender, ConnectionHandle};
use crate::post::{Error, FetchedLetter, FoundLetter, one_line};

/// A selected folder.
pub(super) struct Mailbox {
    /// Runs all commands except FETCH and IDLE.
    session: Session<SharedConnection>,
    /// The connection of `session`.
    connection: SharedConnection,
    settings: ImapConfig,
    uid_validity: u32,
    capabilities: Capabilities,
    /// Whether the folder for processed letters is known to exist.
    processed_exists: bool,
}

/// The extensions of RFC 3501 that we use.
#[derive(Debug, Clone, Copy)]
struct Capabilities {
    /// The server announces new letters (RFC 2177).
    idle: bool,
    /// Letters can be moved (RFC 6851).
    r#move: bool,
    /// Letters can be expunged by UID (RFC 4315).
    uid_plus: bool,
}

impl Mailbox {
    /// Connects, logs in and selects the folder.
    pub(super) fn open(settings: &ImapConfig, handle: &ConnectionHandle) -> Result<Mailbox, Error> {
        match Mailbox::open_once(settings, handle) {
            // The next access token is a new one.
            Err(login::Failure::TokenRefused(_)) => match Mailbox::open_once(settings, handle) {
                Err(login::Failure::TokenRefused(error) | login::Failure::Other(error)) => Err(error),
                Ok(mailbox) => Ok(mailbox),
            },
            Err(login::Failure::Other(error)) => Err(error),
            Ok(mailbox) => Ok(mailbox),
        }
    }

    fn open_once(settings: &ImapConfig, handle: &ConnectionHandle) -> Result<Mailbox, login::Failure> {
        let connection = SharedConnection::new(Connection::open(settings, handle)?);
        let mut session = login::log_in(settings, &connection)?;
        let offered = session.capabilities().map_err(failed)?;
        let capabilities = Capabilities {
            idle: offered.has_str("IDLE"),
            r#move: offered.has_str("MOVE"),
            uid_plus: offered.has_str("UIDPLUS"),
        };
        let mut mailbox = Mailbox {
            session,
            connection,
            settings: settings.clone(),
            uid_validity: 0,
            capabilities,
            processed_exists: false,
        };
        mailbox.switch_to(&settings.folder)?;
        Ok(mailbox)
    }

    /// Returns the name of the selected folder.
    pub(super) fn folder(&self) -> &str {
        &self.settings.folder
    }

    /// Selects another folder. All later commands concern its letters.
    ///
    /// # Errors
    /// [`Error::Configuration`] if the server refuses it.
    pub(super) fn switch_to(&mut self, folder: &str) -> Result<(), Error> {
        let selected = self.session.select(folder).map_err(|error| match error {
            imap::Error::No(no) => {
                let why = one_line(&no.information);
                Error::Configuration(format!("the folder {folder} cannot be opened: {why}"))
            }
            error => failed(error),
        })?;
        folder.clone_into(&mut self.settings.folder);
        self.uid_validity = selected.uid_validity.unwrap_or(0);
        Ok(())
    }

    /// Returns the folder that the server marks as its spam folder (RFC 6154), if any.
    fn junk_folder(&mut self) -> Result<Option<String>, Error> {
        let names = self.session.list(Some(""), Some("*")).map_err(failed)?;
        let junk = names.iter().find(|name| name.attributes().contains(&NameAttribute::Junk));
        Ok(junk.map(|name| name.name().to_owned()))
    }

    /// Returns the bytes of the letter with this Message-ID in the folder, up to the limit.
    fn letter_with_id(&mut self, message_id: &str) -> Result<Option<Vec<u8>>, Error> {
        let found =
            self.session.uid_search(format!("HEADER Message-ID \"<{message_id}>\"")).map_err(failed)?;
        let Some(uid) = found.into_iter().max() else { return Ok(None) };
        let fetched = self.fetch(&[uid])?;
        Ok(fetched.into_iter().next().map(|(_, letter)| letter.raw))
    }

    /// Returns UIDVALIDITY: while it stays the same, a UID means the same letter (RFC 3501, 2.3.1.1).
    pub(super) fn uid_validity(&self) -> u32 {
        self.uid_validity
    }

    /// Returns the UIDs of all letters in the folder, in order of arrival.
    pub(super) fn list(&mut self) -> Result<Vec<u32>, Error> {
        loop {
            drop(self.session.take_all_unsolicited());
            self.connection.borrow().expect_listings(true);
            let found = self.session.uid_search("ALL").map_err(failed)?;
            self.connection.borrow().expect_listings(false);
            // The list may lack a letter that arrived while it was written, and no IDLE announces that letter
            // again.
            let mut news = self.session.take_all_unsolicited();
            if !news.any(|response| matches!(response, UnsolicitedResponse::Exists(_))) {
                let mut all = Vec::from_iter(found);
                all.sort_unstable();
                return Ok(all);
            }
        }
    }

    /// Returns the size in bytes of each of these letters, in their order, or `None` if the server does not
    /// say.
    pub(super) fn sizes(&mut self, uids: &[u32]) -> Result<Vec<Option<u64>>, Error> {
        let fetched = uid_fetch(&mut self.connection.borrow(), &uid_set(uids), "(UID RFC822.SIZE)", 0)?;
        Ok(uids.iter().map(|uid| fetched.get(uid)?.size).collect())
    }

    /// Fetches the letters with these ascending UIDs that still exist, without marking them as seen, and only
    /// the beginning of a large letter.
    pub(super) fn fetch(&mut self, uids: &[u32]) -> Result<Vec<(u32, FetchedLetter)>, Error> {
        // One byte more than the limit shows whether a letter is larger, whatever size the server states.
        let keep = self.settings.max_letter_bytes.saturating_add(1);
        let items = format!("(UID RFC822.SIZE INTERNALDATE BODY.PEEK[]<0.{keep}>)");
        let fetched = uid_fetch(&mut self.connection.borrow(), &uid_set(uids), &items, keep)?;
        let requested = fetched.into_iter().filter(|(uid, _)| uids.binary_search(uid).is_ok());
        Ok(requested.filter_map(|(uid, fetched)| Some((uid, self.letter(uid, fetched)?))).collect())
    }

    fn letter(&self, uid: u32, fetched: Fetched) -> Option<FetchedLetter> {
        let limit = self.settings.max_letter_bytes;
        let body = fetched.body?;
        let mut raw = body.bytes;
        raw.truncate(limit);
        Some(FetchedLetter {
            raw,
            received_at: fetched.received_at.unwrap_or_else(Utc::now),
            origin: format!("imap:{}/{}/{uid}", self.settings.folder, self.uid_validity),
            cut: body.size > limit as u64,
            is_spam: false,
            size: fetched.size.unwrap_or(0).max(body.size),
        })
    }

    /// Lets the server report letters that have gone.
    pub(super) fn refresh(&mut self) -> Result<(), Error> {
        self.session.noop().map_err(failed)
    }

    /// Marks stored letters as seen and moves them to the processed folder.
    pub(super) fn file(&mut self, uids: &[u32]) -> Result<(), Error> {
        if uids.is_empty() {
            return Ok(());
        }
        let (set, processed) = (uid_set(uids), self.settings.processed.clone());
        if !self.processed_exists {
            match self.session.create(&processed) {
                // The server says NO to a folder that exists.
                Ok(()) | Err(imap::Error::No(_)) => self.processed_exists = true,
                Err(error) => return Err(failed(error)),
            }
        }
        self.run(format!("UID STORE {set} +FLAGS.SILENT (\\Seen)"))?;
        if self.capabilities.r#move {
            return self.session.uid_mv(set, processed).map_err(failed);
        }
        self.session.uid_copy(&set, processed).map_err(failed)?;
        self.run(format!("UID STORE {set} +FLAGS.SILENT (\\Deleted)"))?;
        // Without UIDPLUS there is only EXPUNGE, which also takes what others have marked as deleted.
        self.run(if self.capabilities.uid_plus { format!("UID EXPUNGE {set}") } else { "EXPUNGE".to_owned() })
    }

    fn run(&mut self, command: String) -> Result<(), Error> {
        self.session.run_command_and_check_ok(command).map_err(failed)
    }

    /// Returns when there may be new letters: the server says so, or it is time to look.
    pub(super) fn wait(&mut self, sender: &BatchSender) -> Result<(), Error> {
        if self.capabilities.idle {
            match idle(&mut self.connection.borrow(), self.settings.idle_time())? {
                Idle::Over => return Ok(()),
                Idle::Refused => self.capabilities.idle = false,
            }
        }
        sender.sleep(Duration::from_secs(self.settings.poll_seconds.max(1)))
    }

    /// Describes the mailbox to a person.
    pub(super) fn describe(&mut self) -> Result<String, Error> {
        let waiting = self.list()?.len();
        let ImapConfig { host, tls, folder, poll_seconds, .. } = &self.settings;
        let news = match self.capabilities.idle {
            true => "announces new letters (IDLE)".to_owned(),
            false => format!("polled every {poll_seconds} s (no IDLE)"),
        };
        let moving = match self.capabilities.r#move {
            true => "moves letters (MOVE)",
            false => "copies letters (no MOVE)",
        };
        let port = self.settings.port();
        Ok(format!("IMAP {host}:{port} ({tls}), logged in, {folder}: {waiting} waiting; {news} and {moving}"))
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
    let mut folders = vec![(settings.folder.clone(), false), (settings.processed.clone(), false)];
    let spam = match &settings.spam_folder {
        Some(folder) => Some(folder.clone()),
        None => mailbox.junk_folder()?,
    };
    folders.extend(spam.map(|folder| (folder, true)));
    let mut found = None;
    for (folder, is_spam) in folders {
        match mailbox.switch_to(&folder) {
            // The folder need not exist yet.
            Err(Error::Configuration(_)) => continue,
            selected => selected?,
        }
        if let Some(raw) = mailbox.letter_with_id(message_id)? {
            found = Some(FoundLetter { folder, is_spam, raw });
            break;
        }
    }
    mailbox.close();
    Ok(found)
}

/// Writes ascending UIDs as a sequence set (RFC 3501, 9), with runs as ranges.
fn uid_set(uids: &[u32]) -> String {
    let runs = uids.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let parts: Vec<String> = runs
        .map(|run| match run {
            [one] => one.to_string(),
            run => format!("{}:{}", run[0], run[run.len() - 1]),
        })
        .collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::uid_set;

    #[test]
    fn runs_of_uids_become_ranges() {
        assert_eq!(uid_set(&[7]), "7");
        assert_eq!(uid_set(&[1, 2, 3, 5, 7, 8]), "1:3,5,7:8");
        assert_eq!(uid_set(&[u32::MAX - 1, u32::MAX]), "4294967294:4294967295");
    }
}

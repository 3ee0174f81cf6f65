//! One session with an IMAP server, its folder selected: the few commands that reading a mailbox needs.
//!
//! After any error the session is of no more use: the library's tags may be out of step with the server's.

use std::collections::HashMap;
use std::time::Duration;

use chrono::Utc;
use imap::Session;
use imap::extensions::idle::WaitOutcome;
use imap::types::UnsolicitedResponse;

use super::super::inbox::{BatchSender, ConnectionHandle};
use super::super::{Error, FetchedLetter, Secret, Tls, one_line};
use super::Settings;
use super::conn::Conn;
use super::literals::Literals;

/// A selected folder.
pub(super) struct Mailbox {
    session: Session<Conn>,
    literals: Literals,
    settings: Settings,
    uid_validity: u32,
    capabilities: Capabilities,
    /// The folder for stored letters is known to be there.
    processed_made: bool,
}

/// What the server can do beyond RFC 3501.
#[derive(Debug, Clone, Copy)]
struct Capabilities {
    /// Tell of new letters (RFC 2177).
    idle: bool,
    /// Move letters (RFC 6851).
    r#move: bool,
    /// Expunge letters by UID (RFC 4315).
    uid_plus: bool,
}

impl Mailbox {
    pub(super) fn open(settings: &Settings, handle: &ConnectionHandle) -> Result<Mailbox, Error> {
        let literals = Literals::default();
        let mut client = imap::Client::new(Conn::open(settings, handle, literals.clone())?);
        if settings.tls != Tls::StartTls {
            let greeting = client.read_greeting().map_err(fault)?;
            if !greeting.starts_with(b"* OK") {
                return Err(Error::Server(one_line(&String::from_utf8_lossy(&greeting)).into()));
            }
        }
        let login = client.login(&settings.user, settings.password.as_ref().map_or("", Secret::reveal));
        let mut session = login.map_err(|(error, _client)| match error {
            imap::Error::No(no) => Error::Login(one_line(&no.information).into()),
            error => fault(error),
        })?;
        let offered = session.capabilities().map_err(fault)?;
        let capabilities = Capabilities {
            idle: offered.has_str("IDLE"),
            r#move: offered.has_str("MOVE"),
            uid_plus: offered.has_str("UIDPLUS"),
        };
        let selected = session.select(&settings.folder).map_err(|error| match error {
            imap::Error::No(no) => {
                let why = one_line(&no.information);
                Error::Configuration(format!("the folder {} cannot be opened: {why}", settings.folder))
            }
            error => fault(error),
        })?;
        let uid_validity = selected.uid_validity.unwrap_or(0);
        let (settings, processed_made) = (settings.clone(), false);
        Ok(Mailbox { session, literals, settings, uid_validity, capabilities, processed_made })
    }

    /// While it stays the same, a UID means the same letter (RFC 3501, 2.3.1.1).
    pub(super) fn uid_validity(&self) -> u32 {
        self.uid_validity
    }

    /// The UIDs of all letters in the folder, in order of arrival.
    pub(super) fn list(&mut self) -> Result<Vec<u32>, Error> {
        loop {
            drop(self.session.take_all_unsolicited());
            let found = self.session.uid_search("ALL").map_err(fault)?;
            // What arrived while the list was written may be missing in it, and no IDLE would tell of it again.
            let news = |response| matches!(response, UnsolicitedResponse::Exists(_));
            if !self.session.take_all_unsolicited().any(news) {
                let mut all = Vec::from_iter(found);
                all.sort_unstable();
                return Ok(all);
            }
        }
    }

    /// In bytes, by UID, as far as they are still there.
    pub(super) fn sizes(&mut self, uids: &[u32]) -> Result<HashMap<u32, u32>, Error> {
        let found = self.session.uid_fetch(uid_set(uids), "(UID RFC822.SIZE)").map_err(fault)?;
        Ok(found.iter().filter_map(|fetched| Some((fetched.uid?, fetched.size?))).collect())
    }

    /// The letters with these ascending UIDs as far as they are still there, unmarked; of large ones the beginning.
    pub(super) fn fetch(&mut self, uids: &[u32]) -> Result<Vec<(u32, FetchedLetter)>, Error> {
        let limit = self.settings.max_letter_bytes;
        // One byte more than wanted shows whether a letter is larger, whatever size the server tells.
        let query = format!("(UID RFC822.SIZE INTERNALDATE BODY.PEEK[]<0.{}>)", limit + 1);
        self.literals.forget();
        let found = self.session.uid_fetch(uid_set(uids), query).map_err(fault)?;
        let mut letters = Vec::with_capacity(found.len());
        for fetched in found.iter() {
            let body = fetched.body().and_then(|given| self.literals.of(given));
            let (Some(uid), Some(mut raw)) = (fetched.uid, body) else { continue };
            if uids.binary_search(&uid).is_err() {
                continue;
            }
            let whole = raw.len();
            raw.truncate(limit);
            let arrived = FetchedLetter {
                raw,
                received_at: fetched.internal_date().map_or_else(Utc::now, |date| date.to_utc()),
                origin: format!("imap:{}/{}/{uid}", self.settings.folder, self.uid_validity),
                cut: whole > limit,
                size: u64::from(fetched.size.unwrap_or(0)).max(whole as u64),
            };
            letters.push((uid, arrived));
        }
        letters.sort_by_key(|(uid, _)| *uid);
        letters.dedup_by_key(|(uid, _)| *uid);
        Ok(letters)
    }

    /// Lets the server tell what has gone.
    pub(super) fn refresh(&mut self) -> Result<(), Error> {
        self.session.noop().map_err(fault)
    }

    /// Flags stored letters as seen and moves them to the processed folder.
    pub(super) fn file(&mut self, uids: &[u32]) -> Result<(), Error> {
        if uids.is_empty() {
            return Ok(());
        }
        let (set, processed) = (uid_set(uids), self.settings.processed.clone());
        if !self.processed_made {
            match self.session.create(&processed) {
                Ok(()) | Err(imap::Error::No(_)) => self.processed_made = true, // No: it is there already.
                Err(error) => return Err(fault(error)),
            }
        }
        self.run(format!("UID STORE {set} +FLAGS.SILENT (\\Seen)"))?;
        if self.capabilities.r#move {
            return self.session.uid_mv(set, processed).map_err(fault);
        }
        self.session.uid_copy(&set, processed).map_err(fault)?;
        self.run(format!("UID STORE {set} +FLAGS.SILENT (\\Deleted)"))?;
        self.run(if self.capabilities.uid_plus { format!("UID EXPUNGE {set}") } else { "EXPUNGE".to_owned() })
    }

    fn run(&mut self, command: String) -> Result<(), Error> {
        self.session.run_command_and_check_ok(command).map_err(fault)
    }

    /// Returns when there may be new letters: the server says so, or the time to look has come.
    pub(super) fn wait(&mut self, sender: &BatchSender) -> Result<(), Error> {
        let poll = Duration::from_secs(self.settings.poll_seconds.max(1));
        if !self.capabilities.idle {
            return sender.sleep(poll);
        }
        let mut goodbye = None;
        let outcome = {
            let mut idle = self.session.idle();
            // Its own way of keeping alive calls itself once more for each period.
            idle.timeout(self.settings.idle_time()).keepalive(false);
            idle.wait_while(|news| {
                if let UnsolicitedResponse::Bye { information, .. } = news {
                    goodbye = Some(information.unwrap_or_default());
                }
                false
            })
        };
        match (outcome, goodbye) {
            (_, Some(words)) => Err(Error::Server(one_line(&words).into())),
            (Ok(WaitOutcome::MailboxChanged | WaitOutcome::TimedOut), None) => Ok(()),
            (Err(imap::Error::No(_) | imap::Error::Bad(_)), None) => {
                self.capabilities.idle = false; // Offered, but not meant.
                sender.sleep(poll)
            }
            (Err(error), None) => Err(fault(error)),
        }
    }

    /// What was found, for a person.
    pub(super) fn describe(&mut self) -> Result<String, Error> {
        let waiting = self.list()?.len();
        let Settings { host, tls, folder, poll_seconds, .. } = &self.settings;
        let news = match self.capabilities.idle {
            true => "it tells of new letters (IDLE)".to_owned(),
            false => format!("it is asked every {poll_seconds} s (no IDLE)"),
        };
        let moving =
            if self.capabilities.r#move { "moves letters (MOVE)" } else { "copies letters (no MOVE)" };
        let port = self.settings.port();
        Ok(format!("IMAP {host}:{port} ({tls}), logged in, {folder}: {waiting} waiting; {news} and {moving}"))
    }

    pub(super) fn close(mut self) {
        // A courtesy: whether the server still answers changes nothing.
        let _ = self.session.logout();
    }
}

/// UIDs in ascending order as a sequence set (RFC 3501, 9), runs as ranges.
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

/// The library's error without anything of a letter in it.
fn fault(error: imap::Error) -> Error {
    /// What the library says for an answer that it cannot read.
    const UNREADABLE: &str = "no explanation given";
    match error {
        imap::Error::Io(error) => Error::io("the connection to the mailbox broke", error),
        imap::Error::ConnectionLost => {
            Error::io("the connection to the mailbox broke", std::io::ErrorKind::UnexpectedEof.into())
        }
        imap::Error::No(no) => Error::Server(one_line(&no.information).into()),
        imap::Error::Bad(bad) => Error::Server(one_line(&bad.information).into()),
        imap::Error::Bye(bye) if bye.information != UNREADABLE => {
            Error::Server(one_line(&bye.information).into())
        }
        _ => Error::Malformed,
    }
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

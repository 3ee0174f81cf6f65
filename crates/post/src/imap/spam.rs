//! The provider's spam folder, in which letters of players may end up.
//!
//! The receiver chooses the letters that it takes; the others stay where they are. Only the newest letters
//! are read, each once: a spam folder may hold tens of thousands, and most of them concern nobody.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::filing::{Aside, Filing};
use super::mailbox::Mailbox;
use crate::source::BatchSender;
use crate::{Error, FetchedLetter};

/// Maximum letters to read, newest first.
const MAX_LETTERS: usize = 200;

/// Maximum letters that are held in memory at a time.
const BATCH: usize = 4;

/// Time between polls of the folder.
const INTERVAL: Duration = Duration::from_secs(60);

/// The state of reading the spam folder.
#[derive(Default)]
pub(super) struct SpamFolder {
    /// The value for which the UIDs below are valid.
    uid_validity: u32,
    /// Letters that the receiver did not take.
    left: BTreeSet<u32>,
    looked_at: Option<Instant>,
    /// Whether the folder could not be opened, which is logged once.
    is_missing: bool,
    /// Letters that the server does not send as they are.
    pub(super) aside: Aside,
    /// Letters that the receiver took, while they are in the folder.
    pub(super) filing: Filing,
}

impl SpamFolder {
    pub(super) fn is_due(&self) -> bool {
        self.looked_at.is_none_or(|at| at.elapsed() > INTERVAL)
    }

    /// Hands over the letters in `folder`, files the ones that the receiver took, and returns their number.
    /// Afterwards the mailbox has its own folder selected again.
    pub(super) fn read(
        &mut self,
        mailbox: &mut Mailbox,
        folder: &str,
        sender: &BatchSender,
    ) -> Result<usize, Error> {
        self.looked_at = Some(Instant::now());
        let own = mailbox.folder().to_owned();
        match mailbox.switch_to_spam(folder) {
            Ok(()) => self.is_missing = false,
            // The letters in the inbox matter more than a folder whose name is wrong.
            Err(error @ Error::Configuration(_)) => {
                if !std::mem::replace(&mut self.is_missing, true) {
                    let error = error.to_string();
                    tracing::warn!(error, "failed to open the spam folder");
                }
                mailbox.switch_to(&own, "inbox.imap.folder")?;
                return Ok(0);
            }
            Err(Error::Server(refusal)) if refusal.is_momentary() => {
                tracing::debug!(error = %refusal, "the spam folder cannot be opened for the moment");
                mailbox.switch_to(&own, "inbox.imap.folder")?;
                return Ok(0);
            }
            Err(error) => return Err(error),
        }
        let taken = self.read_selected(mailbox, sender)?;
        mailbox.switch_to(&own, "inbox.imap.folder")?;
        Ok(taken)
    }

    fn read_selected(&mut self, mailbox: &mut Mailbox, sender: &BatchSender) -> Result<usize, Error> {
        if mailbox.uid_validity() != self.uid_validity {
            self.uid_validity = mailbox.uid_validity();
            self.left.clear();
            self.aside.clear();
            self.filing = Filing::default();
        }
        let listed = mailbox.list()?;
        self.filing.forget_all_but(&listed);
        self.aside.forget_all_but(&listed);
        self.filing.retry(mailbox)?;
        let newest = &listed[listed.len().saturating_sub(MAX_LETTERS)..];
        self.left.retain(|uid| newest.binary_search(uid).is_ok());
        let is_unread = |uid: &u32| !self.left.contains(uid) && self.aside.is_due(*uid);
        let unread: Vec<u32> = newest.iter().copied().filter(is_unread).collect();
        let mut count = 0;
        for uids in unread.chunks(BATCH) {
            // Note the letters before fetching them, so that one that breaks the session does so only once.
            self.left.extend(uids);
            let answer = mailbox.fetch(uids)?;
            for (uid, doubt) in answer.doubtful {
                self.left.remove(&uid);
                self.aside.put(mailbox.folder(), uid, &doubt);
            }
            if answer.letters.is_empty() {
                continue;
            }
            let (fetched_uids, letters): (Vec<u32>, Vec<FetchedLetter>) = answer
                .letters
                .into_iter()
                .map(|(uid, letter)| (uid, FetchedLetter { is_spam: true, ..letter }))
                .unzip();
            let stored = sender.send_batch(letters).inspect_err(|_not_stored| {
                // These letters were not stored, so they are handed over again the next time.
                self.left.retain(|uid| !uids.contains(uid));
            });
            for uid in &fetched_uids {
                self.aside.remove(*uid);
            }
            let (taken, _left) = stored?.divide(fetched_uids);
            self.filing.add(mailbox, &taken)?;
            count += taken.len();
        }
        Ok(count)
    }
}

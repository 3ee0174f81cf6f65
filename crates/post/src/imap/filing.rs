//! Moves stored letters out of their folder. A letter that cannot be moved stays, and does not block others.

use std::collections::BTreeSet;

use super::mailbox::{Copies, Mailbox};
use crate::Error;
use crate::refusal::MOMENTARY;
use crate::source::MAX_BATCH_LETTERS;

/// After each session that breaks over a move, the number of polls that only read doubles, up to 64.
const MOST_DOUBLINGS: u32 = 6;

/// The letters of one folder that are stored but still in it.
#[derive(Default)]
pub(super) struct Filing {
    stored: BTreeSet<u32>,
    /// The copies of letters that may be in the processed folder.
    copies: Copies,
    /// The letter at or after which the next attempt starts, so that one bad letter does not block all
    /// others.
    next: u32,
    /// The server's last refusal, with the folder and the key, until letters can be moved again.
    refusal: Option<String>,
    /// Whether letters are being moved. Still set if the session broke over them.
    moving: bool,
    /// The sessions in a row that broke over a move, and the number of coming polls that therefore only read.
    breaks: u32,
    looks_off: u32,
}

impl Filing {
    /// Starts with letters that were stored earlier, and may have been copied.
    pub(super) fn of(stored: BTreeSet<u32>) -> Filing {
        let mut filing = Filing { stored: stored.clone(), ..Filing::default() };
        filing.doubt(stored);
        filing
    }

    /// Notes letters that may be in the processed folder.
    pub(super) fn doubt(&mut self, uids: impl IntoIterator<Item = u32>) {
        self.copies.doubt(uids);
    }

    pub(super) fn contains(&self, uid: u32) -> bool {
        self.stored.contains(&uid)
    }

    pub(super) fn stored(&self) -> &BTreeSet<u32> {
        &self.stored
    }

    /// Returns the reason why letters cannot be moved.
    pub(super) fn refusal(&self) -> Option<&String> {
        self.refusal.as_ref()
    }

    /// Forgets the letters that have left the folder. `listed` is sorted.
    pub(super) fn forget_all_but(&mut self, listed: &[u32]) {
        self.stored.retain(|uid| listed.binary_search(uid).is_ok());
        self.copies.forget_all_but(listed);
    }

    /// Notes that the session broke. If it broke over a move, the next polls only read: some servers close
    /// the connection at each move, and each attempt costs a login. Returns whether it did.
    pub(super) fn put_off(&mut self, processed: &str) -> bool {
        let broke = std::mem::take(&mut self.moving);
        if broke {
            self.looks_off = 1 << self.breaks.min(MOST_DOUBLINGS);
            self.breaks += 1;
            self.refusal = Some(refusal(processed, "the connection broke", true));
        }
        broke
    }

    /// Tries at the beginning of a poll to move one of the letters that could not be moved and, if that
    /// succeeds, all others. Returns whether there were any.
    pub(super) fn retry(&mut self, mailbox: &mut Mailbox) -> Result<bool, Error> {
        if self.looks_off > 0 {
            self.looks_off -= 1;
            return Ok(false);
        }
        let Some(first) = self.stored.range(self.next..).chain(&self.stored).next().copied() else {
            self.refusal = None;
            return Ok(false);
        };
        self.next = first.saturating_add(1);
        self.refusal = self.refusal_of(mailbox, &[first])?;
        if self.refusal.is_none() {
            let others: Vec<u32> = self.stored.iter().copied().filter(|uid| *uid != first).collect();
            for some in others.chunks(MAX_BATCH_LETTERS) {
                self.file(mailbox, some)?;
            }
        }
        Ok(true)
    }

    /// Adds stored letters, and moves them unless the server has just refused others.
    pub(super) fn add(&mut self, mailbox: &mut Mailbox, uids: &[u32]) -> Result<(), Error> {
        self.stored.extend(uids);
        self.file(mailbox, uids)
    }

    fn file(&mut self, mailbox: &mut Mailbox, uids: &[u32]) -> Result<(), Error> {
        if self.refusal.is_none() && !uids.is_empty() {
            self.refusal = self.refusal_of(mailbox, uids)?;
        }
        Ok(())
    }

    fn refusal_of(&mut self, mailbox: &mut Mailbox, uids: &[u32]) -> Result<Option<String>, Error> {
        self.moving = true;
        let refused = match mailbox.file(uids, &mut self.copies) {
            Ok(()) => {
                // Mailutils gives the numbers of an emptied folder to the next letters.
                self.stored.retain(|uid| !uids.contains(uid));
                self.copies.forget(uids);
                None
            }
            Err(Error::Server(text) | Error::Misunderstood(text)) => {
                let reason = format!("the server said: {text}");
                Some(refusal(&mailbox.processed(), &reason, !text.is_momentary()))
            }
            Err(error) => return Err(error),
        };
        self.moving = false;
        self.breaks = 0;
        Ok(refused)
    }
}

fn refusal(processed: &str, reason: &str, is_lasting: bool) -> String {
    let advice = if is_lasting { "see inbox.imap.processed" } else { MOMENTARY };
    format!("stored letters cannot be moved to {processed}: {reason}; {advice}")
}

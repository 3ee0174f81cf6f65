//! Moves stored letters out of their folder. A letter that cannot be moved stays, and does not block others.
//!
//! Letters that stay in their folder because the server does not send them, or sends something else.
//!
//! Letters that a mailbox gives back: a rule of the provider moves them into the folder again, or every folder
//! is the INBOX. Reading such a folder to its end would never end.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::time::{Duration, Instant};

use super::mailbox::{Copies, Mailbox};
use super::proof::message_id;
use crate::backoff::pause_after_refusals;
use crate::refusal::MOMENTARY;
use crate::source::MAX_BATCH_LETTERS;
use crate::{Error, FetchedLetter};

/// Maximum letters that a report names.
const MAX_NAMED: usize = 3;

/// The letters of one folder, by UID, that are left alone for a while.
#[derive(Default)]
pub(super) struct Aside(BTreeMap<u32, Attempts>);

struct Attempts {
    reason: String,
    /// The times that the letter was asked for in vain.
    tries: u32,
    /// The time of the last attempt.
    tried: Instant,
}

impl Attempts {
    /// Returns the time until the letter is asked for again.
    fn wait(&self) -> Duration {
        pause_after_refusals(self.tries).saturating_sub(self.tried.elapsed())
    }
}

impl Aside {
    /// Sets a letter aside, for longer each time.
    pub(super) fn put(&mut self, folder: &str, uid: u32, reason: &str) {
        let tries = self.0.get(&uid).map_or(0, |entry| entry.tries) + 1;
        if tries == 1 {
            tracing::error!(folder, uid, reason, "failed to fetch a letter; it stays in the folder");
        }
        self.0.insert(uid, Attempts { reason: reason.to_owned(), tries, tried: Instant::now() });
    }

    pub(super) fn remove(&mut self, uid: u32) {
        self.0.remove(&uid);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets the letters that have left the folder. `listed` is sorted.
    pub(super) fn forget_all_but(&mut self, listed: &[u32]) {
        self.0.retain(|uid, _| listed.binary_search(uid).is_ok());
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the letter may be asked for now.
    pub(super) fn is_due(&self, uid: u32) -> bool {
        self.0.get(&uid).is_none_or(|entry| entry.wait().is_zero())
    }

    /// Returns the time until the first of the letters is asked for again.
    pub(super) fn next_wait(&self) -> Option<Duration> {
        self.0.values().map(Attempts::wait).min()
    }

    /// Describes the letters to a person.
    pub(super) fn report(&self, folder: &str) -> Option<String> {
        let named: Vec<String> = self
            .0
            .iter()
            .take(MAX_NAMED)
            .map(|(uid, entry)| format!("UID {uid} ({})", entry.reason))
            .collect();
        if named.is_empty() {
            return None;
        }
        let more = match self.0.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "letters in {folder} cannot be read and stay there: {}{more}; the server is asked for them again",
            named.join(", ")
        ))
    }
}

/// Number of stored letters to remember from one look to the next.
const MAX_REMEMBERED: usize = 10_000;

/// Rounds in a row that find nothing but letters stored before, after which the folder is left alone until
/// the next poll. Somebody who moves a letter back causes one.
const MAX_REPEATS: u32 = 2;

/// The hashes by which a letter is recognized.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    /// The hash of its Message-ID if it has one, because servers may add fields to a letter that they move.
    id: u64,
    /// The hash of its Message-ID and of the text below the header.
    whole: u64,
}

/// The letters that were stored, and whether the folder holds anything else.
#[derive(Default)]
pub(super) struct Returned {
    stored: HashSet<u64>,
    whole: HashSet<u64>,
    /// The same letters, oldest first.
    order: VecDeque<Mark>,
    /// Whether the present round has stored a new letter, and whether it has met a known one.
    has_new: bool,
    has_known: bool,
    /// Rounds in a row that met only known letters. A look that finds nothing to read ends the row.
    repeats: u32,
}

impl Returned {
    /// Returns the mark by which a letter is recognized.
    pub(super) fn mark_of(letter: &FetchedLetter) -> Mark {
        let id = message_id(&letter.raw).map_or_else(|| hash_of(&letter.raw), |id| hash_of(&id));
        Mark { id, whole: hash_of(&(id, text_of(&letter.raw))) }
    }

    /// Whether the very same letter was stored before, apart from the server's fields.
    pub(super) fn contains(&self, mark: Mark) -> bool {
        self.whole.contains(&mark.whole)
    }

    /// Notes the marks of letters that are stored.
    pub(super) fn note(&mut self, marks: &[Mark]) {
        for mark in marks {
            let is_new = self.stored.insert(mark.id);
            self.has_new |= is_new;
            self.has_known |= !is_new;
            if self.whole.insert(mark.whole) || is_new {
                self.order.push_back(*mark);
            }
        }
    }

    /// Begins a look at the folder. Within a look nothing is forgotten: otherwise more letters than are
    /// remembered could come back as new ones for ever.
    pub(super) fn begin(&mut self, is_anything_due: bool) {
        if !is_anything_due {
            self.repeats = 0;
        }
        while self.order.len() > MAX_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.stored.remove(&oldest.id);
            self.whole.remove(&oldest.whole);
        }
    }

    /// Ends a round of reading. Returns whether another one makes sense now.
    pub(super) fn end_round(&mut self) -> bool {
        let has_new = std::mem::take(&mut self.has_new);
        let has_known = std::mem::take(&mut self.has_known);
        if has_new {
            self.repeats = 0;
        } else if has_known {
            self.repeats += 1;
        }
        !self.gives_back()
    }

    /// Whether the folder gives back what was filed.
    pub(super) fn gives_back(&self) -> bool {
        self.repeats >= MAX_REPEATS
    }
}

/// Returns what stands below the header.
fn text_of(raw: &[u8]) -> &[u8] {
    let ends: [&[u8]; 2] = [b"\r\n\r\n", b"\n\n"];
    let starts = ends.iter().filter_map(|end| Some(memchr::memmem::find(raw, end)? + end.len()));
    starts.min().map_or(&[], |start| &raw[start..])
}

fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

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

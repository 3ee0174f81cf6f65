//! Letters that a mailbox gives back: a rule of the provider moves them into the folder again, or every folder
//! is the INBOX. Reading such a folder to its end would never end.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher as _};

use super::proof::message_id;
use crate::FetchedLetter;

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

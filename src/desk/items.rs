//! The items of a batch: each is decided alone, and they are accepted in order.
//!
//! An item is a few letters of one lane, oldest first, or a match on which something has to be decided. Lanes
//! only order the work: the rows that an item touches are known from its reads and writes. All items are
//! decided in parallel, as if each were the only one. Then they are accepted one by one; an item that read
//! what an accepted one wrote, or that would exceed a limit together with the accepted ones, is decided again
//! on top of them. An item that read a player whom an accepted one changes waits for the next batch, because
//! the loaded matches still show the player as before.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anyhow::anyhow;

use super::door::entry;
use super::door::sender::ReadLetter;
use super::frame::club::{ClubContext, Moment};
use super::frame::desk::{Desk, Uncommitted};
use super::frame::parallel::par_map;
use super::frame::rows::{Decided, Key, LoadedMatch, LoadedRows, Undecided};
use super::matches::acts::{CauseOf, decide_on};
use super::outbox::alarms;
use super::outbox::gms::GmTopic;
use crate::letter::{Address, Digest, Limits, bounded_head, tokens_in_header};
use crate::report::Trouble;
use crate::store::{BudgetUse, LetterStatus, Postponed, WaitingLetter};

/// Failures after which a letter is set aside.
pub const MAX_ATTEMPTS: u32 = 3;

/// Something that is decided as a whole.
pub enum Item {
    /// Letters of one lane, oldest first.
    Letters(Vec<ReadLetter>),
    /// A match, and the cause of a ruling on it.
    Match { id: String, cause_of: CauseOf },
}

/// Whether a decision may still ask for rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rounds {
    /// Missing rows are loaded, and the decision is made again.
    More,
    /// A letter that still lacks rows counts as failed, so that it does not block the others.
    Last,
}

/// The progress of a decision.
pub enum Progress<T> {
    Done(T),
    /// The decision continues once these rows are loaded.
    Lacks(Vec<Key>),
}

/// The items of one transaction, and the decisions on them so far.
pub struct Batch {
    items: Arc<Vec<Item>>,
    /// The decision on each item as if it were the only one, until it is accepted.
    alone: Vec<Option<DecidedItem>>,
    /// The changes of the items that were accepted so far.
    accepted: Uncommitted,
    written: BTreeSet<Key>,
    /// The number of items that were accepted, failed, or left.
    done: usize,
    /// The matches among the items that were left for the next batch.
    left: Vec<String>,
}

/// The changes of one item, and the rows that they depend on.
struct DecidedItem {
    draft: Uncommitted,
    read: BTreeSet<Key>,
}

impl Batch {
    /// Creates a batch of these items, in order of arrival.
    pub fn new(items: Arc<Vec<Item>>, loaded: &LoadedRows) -> Batch {
        let alone = items.iter().map(|_| None).collect();
        Batch {
            items,
            alone,
            accepted: Uncommitted::new(loaded.at),
            written: BTreeSet::new(),
            done: 0,
            left: Vec::new(),
        }
    }

    /// Decides on all items, and returns their changes, and the matches that are left for the next batch.
    /// Decisions are kept while other items lack rows.
    pub fn decide(
        &mut self,
        club: &ClubContext,
        loaded: &LoadedRows,
        rounds: Rounds,
    ) -> Progress<(Uncommitted, Vec<String>)> {
        let lacking = self.decide_alone(club, loaded, rounds);
        if !lacking.is_empty() {
            return Progress::Lacks(lacking);
        }
        while let Some(item) = self.items.get(self.done) {
            let alone = self.alone[self.done].take();
            if alone.as_ref().is_some_and(|alone| self.changes_a_player_of(alone)) {
                self.done += 1;
                if let Item::Match { id, .. } = item {
                    self.left.push(id.clone());
                }
                continue;
            }
            let decided = match alone.filter(|alone| !self.conflicts(alone, loaded)) {
                Some(alone) => alone,
                None => match decide_item(club, loaded, &self.accepted, item, rounds) {
                    Progress::Done(decided) => decided,
                    Progress::Lacks(lacking) => return Progress::Lacks(lacking),
                },
            };
            self.written.extend(decided.draft.written());
            self.accepted.join(decided.draft);
            self.done += 1;
        }
        Progress::Done((std::mem::take(&mut self.accepted), std::mem::take(&mut self.left)))
    }

    /// Decides on the items that are not decided yet, in parallel. Returns the keys of the rows that they
    /// lack.
    fn decide_alone(&mut self, club: &ClubContext, loaded: &LoadedRows, rounds: Rounds) -> Vec<Key> {
        // Once any item is accepted, all items have been decided alone. An item that lacks rows from then on
        // is decided after the accepted ones.
        if self.done > 0 {
            return Vec::new();
        }
        let open: Vec<usize> = (0..self.items.len()).filter(|at| self.alone[*at].is_none()).collect();
        let nothing = Uncommitted::new(loaded.at);
        let tried = par_map(&open, |at| decide_item(club, loaded, &nothing, &self.items[*at], rounds));
        let mut lacking = Vec::new();
        for (at, tried) in open.into_iter().zip(tried) {
            match tried {
                Progress::Done(decided) => self.alone[at] = Some(decided),
                Progress::Lacks(mut keys) => lacking.append(&mut keys),
            }
        }
        lacking
    }

    /// Whether an accepted item changes a player whom this one read.
    fn changes_a_player_of(&self, item: &DecidedItem) -> bool {
        item.read.iter().any(|key| matches!(key, Key::Holder(_)) && self.written.contains(key))
    }

    /// Whether an item depends on what was accepted before it. An item reads every row that it writes.
    fn conflicts(&self, item: &DecidedItem, loaded: &LoadedRows) -> bool {
        if !item.read.is_disjoint(&self.written) {
            return true;
        }
        let before = &self.accepted.changes.restraints.uses;
        let mut uses = item.draft.changes.restraints.uses.iter();
        uses.any(|(key, BudgetUse { added, most })| {
            let Some(earlier) = before.get(key) else { return false };
            let counts = loaded.budgets.get(&key.subject);
            let stored = counts.and_then(|counts| counts.get(&(key.kind, key.period)));
            // Other daemons may count at the same time; the database checks the limit again.
            let total = i64::from(stored.copied().unwrap_or_default()) + earlier.added + added;
            // An accepted item may already have reduced the same count, and a count must not fall below zero.
            *added < 0 || total > i64::from(*most)
        })
    }
}

/// Counts a failure. After [`MAX_ATTEMPTS`] the letter is set aside, and the GM is told.
pub fn set_back(
    desk: &mut Desk<'_>,
    waiting: &WaitingLetter,
    error: &anyhow::Error,
    rounds: Rounds,
) -> Decided<()> {
    let (letter, attempts) = (waiting.digest, waiting.tries + 1);
    let note = format!("{error:#}");
    tracing::error!(%letter, attempts, error = note, "failed to rule on a letter");
    if attempts >= MAX_ATTEMPTS {
        return set_aside(desk, waiting, note, attempts, rounds);
    }
    desk.draft.changes.postponed.push(Postponed { digest: letter, note, until: None, match_id: None });
    Ok(())
}

/// Sets a letter aside, and tells the GM.
pub fn set_aside(
    desk: &mut Desk<'_>,
    waiting: &WaitingLetter,
    note: String,
    attempts: u32,
    rounds: Rounds,
) -> Decided<()> {
    let sender = sender_in_header(&waiting.raw);
    let digest = waiting.digest.to_string();
    let trouble = Trouble::SetAside { digest, sender, note: note.clone(), attempts };
    match tell_of_set_aside(desk, waiting, &trouble) {
        // Set the letter aside even if the GM cannot be told now, or it would be tried forever. The digest
        // lists it, too.
        Err(Undecided::Lacks) if rounds == Rounds::Last => {}
        told => told?,
    }
    desk.decided(waiting.digest, LetterStatus::SetAside, note);
    Ok(())
}

fn tell_of_set_aside(desk: &mut Desk<'_>, waiting: &WaitingLetter, trouble: &Trouble) -> Decided<()> {
    let about = match_of(desk, &waiting.raw)?.cloned();
    let about = about.as_ref().map_or(GmTopic::Club, GmTopic::Match);
    alarms::tell(desk, trouble, &set_aside_part(waiting.digest), about)
}

/// Decides on an item, on top of the changes of the items before it.
fn decide_item(
    club: &ClubContext,
    loaded: &LoadedRows,
    accepted: &Uncommitted,
    item: &Item,
    rounds: Rounds,
) -> Progress<DecidedItem> {
    let mut desk = Desk::new(club, loaded, accepted);
    let decided = match item {
        Item::Letters(letters) => decide_letters(&mut desk, letters, rounds),
        Item::Match { id, cause_of } => {
            desk.begin_match(id);
            decide_on(&mut desk, id, cause_of).map(drop)
        }
    };
    if decided.is_err() {
        desk.reject();
    }
    if let Err(Undecided::Failed(error)) = &decided {
        let (match_id, failure) = match item {
            Item::Match { id, .. } => (id.as_str(), "failed to rule on a match"),
            Item::Letters(_) => ("", "failed to set a letter aside"),
        };
        tracing::error!(match_id, error = format!("{error:#}"), "{failure}");
    }
    let is_last = rounds == Rounds::Last;
    let (draft, read, lacking) = desk.into_parts();
    match decided {
        Err(Undecided::Lacks) if !is_last => Progress::Lacks(lacking),
        _ => Progress::Done(DecidedItem { draft, read }),
    }
}

/// Decides on the letters of a lane in order. If one fails, those behind it wait, too.
///
/// A letter that lacks rows does not end this round: the letters behind it are decided anyway, which shows
/// the rows that they lack.
fn decide_letters(desk: &mut Desk<'_>, letters: &[ReadLetter], rounds: Rounds) -> Decided<()> {
    let mut is_lacking = false;
    for letter in letters {
        let error = match decide_safely(desk, letter) {
            Ok(()) if !is_lacking => {
                desk.accept();
                continue;
            }
            Err(Undecided::Failed(error)) if !is_lacking => error,
            Err(Undecided::Lacks) if rounds == Rounds::Last => {
                anyhow!("ruling on the letter takes too many queries")
            }
            Ok(()) | Err(_) => {
                is_lacking = true;
                desk.reject();
                continue;
            }
        };
        desk.reject();
        set_back(desk, &letter.waiting, &error, rounds)?;
        desk.accept();
        break;
    }
    if is_lacking { Err(Undecided::Lacks) } else { Ok(()) }
}

/// Decides on one letter. A panic counts as a failure.
fn decide_safely(desk: &mut Desk<'_>, letter: &ReadLetter) -> Decided<()> {
    desk.begin_cause(letter.waiting.digest);
    let _in_work = desk.rows.loaded.in_work.enter(letter.waiting.digest);
    // Safe to unwind: the draft of a letter that panics is dropped.
    let decided = catch_unwind(AssertUnwindSafe(|| {
        desk.club.inject_fault(Moment::Decide, &letter.waiting.raw);
        entry::decide_letter(desk, letter)
    }));
    decided.unwrap_or_else(|_panic| Err(anyhow!("ruling on the letter failed").into()))?;
    desk.rows.check()
}

/// Returns the match of the first reply token in a letter's header.
fn match_of<'d>(desk: &'d Desk<'_>, raw: &[u8]) -> Decided<Option<&'d LoadedMatch>> {
    for token in tokens_in_header(raw, &desk.club.own) {
        if let Some(row) = desk.rows.seat_by_token(token.as_str())? {
            return desk.game_match(&row.match_id);
        }
    }
    Ok(None)
}

/// Returns the unique part of the Message-ID of the GM's notice about a letter that was set aside.
fn set_aside_part(letter: Digest) -> String {
    format!("s.{}", &letter.to_string()[..24])
}

/// Returns the sender in the header of a letter, even if the rest is unreadable.
fn sender_in_header(raw: &[u8]) -> String {
    let head = bounded_head(raw, &Limits::default());
    let mail = mail_parser::MessageParser::default().parse_headers(&head);
    let sender = mail.as_ref().and_then(|mail| mail.from()?.first()?.address()).unwrap_or("nobody");
    match Address::parse(sender) {
        Ok(address) => address.to_string(),
        Err(_) => sender.chars().filter(|c| !c.is_control()).take(200).collect(),
    }
}

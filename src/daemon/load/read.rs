//! Reads letters, and finds the rows that they refer to.
//!
//! Turns for large letters: they are decoded one at a time, because that takes up to ten times their size in
//! memory.
//!
//! Decides whether a letter is authentic, by the report of our mail server or by its DKIM signature.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;

use crate::daemon::Office;
use crate::desk::door::sender::{ReadLetter, ReadResult};
use crate::desk::frame::club::{ClubContext, Moment};
use crate::desk::frame::in_work::InWork;
use crate::desk::frame::parallel::par_map;
use crate::desk::frame::rows::Key;
use crate::desk::outbox::budgets::CLUB;
use crate::desk::outbox::returned;
use crate::letter::authentic::{ReportedDkim, SignatureFault};
use crate::letter::{Automatic, Digest, Letter, Limits};
use crate::post::dkim::DkimVerdict;
use crate::store::WaitingLetter;

/// Parses letters in parallel, and notes the ones in progress.
pub fn read_letters(club: &ClubContext, letters: Vec<WaitingLetter>, in_work: &InWork) -> Vec<ReadLetter> {
    let read = par_map(&letters, |letter| {
        let _turn = turn_to_decode(&letter.raw);
        let _in_work = in_work.enter(letter.digest);
        read_waiting(club, letter)
    });
    let letters = letters.into_iter().zip(read);
    letters.map(|(waiting, read)| ReadLetter { waiting, read }).collect()
}

/// Parses a letter. Returns `None` if that panicked.
pub fn read(club: &ClubContext, raw: &[u8]) -> Option<ReadResult> {
    read_within(club, raw, &club.config.letters.limits())
}

/// Returns the keys of the rows that a letter refers to, to the extent that they are known before anything is
/// loaded.
pub fn keys_of(letter: &ReadLetter) -> Vec<Key> {
    match &letter.read {
        Some(Ok(letter)) => keys_of_read(letter),
        Some(Err(unreadable)) => {
            let address = unreadable.answerable.iter().map(|address| address.as_str().to_owned());
            let answered = address.flat_map(keys_of_answer);
            // The tokens' owners are told of a letter whose sender is unclear.
            let tokens = unreadable.tokens.iter().filter(|_| unreadable.answerable.is_none());
            let tokens = tokens.map(|token| Key::Token(token.to_string()));
            answered.chain(tokens).chain(returned_dispatches(unreadable.automatic.as_ref())).collect()
        }
        None => Vec::new(),
    }
}

/// Parses a waiting letter. A letter that a GM has accepted counts as a person's, and may exceed the limits.
fn read_waiting(club: &ClubContext, letter: &WaitingLetter) -> Option<ReadResult> {
    if letter.accepted_by.is_none() {
        return read(club, &letter.raw);
    }
    let mut read = read_within(club, &letter.raw, &Limits::generous())?;
    if let Ok(letter) = &mut read {
        letter.automatic = None;
    }
    Some(read)
}

fn read_within(club: &ClubContext, raw: &[u8], limits: &Limits) -> Option<ReadResult> {
    let read = || {
        club.inject_fault(Moment::Read, raw);
        Letter::read(raw, &club.own, limits)
    };
    catch_unwind(AssertUnwindSafe(read)).ok()
}

fn keys_of_read(letter: &Letter) -> Vec<Key> {
    let mut keys: Vec<Key> = letter.tokens.iter().map(|token| Key::Token(token.to_string())).collect();
    keys.extend(letter.thread().cloned().map(Key::Text));
    keys.extend(returned_dispatches(letter.automatic.as_ref()));
    if letter.automatic.is_none() {
        // The sender may be blocked.
        keys.push(Key::Sender(letter.from.as_str().to_owned()));
    }
    // A seat's answer goes to its player's first address, which is looked up by the token.
    if letter.tokens.is_empty() && letter.automatic.is_none() {
        keys.push(Key::Player(letter.from.as_str().to_owned()));
        keys.extend(keys_of_answer(letter.from.as_str().to_owned()));
    }
    keys
}

/// Returns the rows that an answer to this address depends on.
fn keys_of_answer(address: String) -> [Key; 2] {
    [Key::Budget(CLUB.to_owned()), Key::Budget(address)]
}

fn returned_dispatches(automatic: Option<&Automatic>) -> Vec<Key> {
    let Some(automatic) = automatic.filter(|automatic| returned::reports_failure(automatic).is_some()) else {
        return Vec::new();
    };
    let about = automatic.about.iter().cloned().map(Key::Dispatch);
    let ids = automatic.return_ids.iter().map(|id| Key::ReturnId(id.as_str().to_owned()));
    about.chain(ids).collect()
}

/// Size in bytes above which a letter is large.
const LARGE: usize = 1_000_000;

/// Maximum time to wait for a turn. A letter takes less than a second, unless its thread hangs.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Whether a large letter is being decoded. One flag for all threads, because they share the program's
/// memory.
static IS_TAKEN: Mutex<bool> = Mutex::new(false);
static FREED: Condvar = Condvar::new();

/// Permission to decode a letter, for as long as this lives.
#[must_use = "others may decode large letters once this is dropped"]
pub struct Turn {
    is_large: bool,
}

/// Waits until this letter may be decoded, which a small one always may.
pub fn turn_to_decode(raw: &[u8]) -> Turn {
    let is_large = raw.len() > LARGE;
    if is_large {
        let is_taken = IS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = FREED.wait_timeout_while(is_taken, MAX_WAIT, |is_taken| *is_taken);
        let (mut is_taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *is_taken = true;
    }
    Turn { is_large }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.is_large {
            *IS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = false;
            FREED.notify_one();
        }
    }
}

/// The verdict on a letter without a valid signature, for a reason that is not known.
const UNSIGNED: DkimVerdict = DkimVerdict::NotPassed(SignatureFault::Missing);

/// Returns the verdicts on people's letters. If letters need not be signed, only the report of our own mail
/// server counts.
pub async fn dkim_verdicts(office: &Office, letters: &[ReadLetter]) -> BTreeMap<Digest, DkimVerdict> {
    let mut verdicts = BTreeMap::new();
    let mut asked = Vec::new();
    let mut queries = JoinSet::new();
    for ReadLetter { waiting, read } in letters {
        let Some(Ok(letter)) = read else { continue };
        if letter.automatic.is_some() {
            continue;
        }
        match reported_dkim(office, letter) {
            ReportedDkim::Passed => drop(verdicts.insert(waiting.digest, DkimVerdict::Passed)),
            ReportedDkim::NotPassed => drop(verdicts.insert(waiting.digest, UNSIGNED)),
            ReportedDkim::Nothing => {
                let Some(verifier) = &office.verifier else { continue };
                let verifier = Arc::clone(verifier);
                let digest = waiting.digest;
                let raw = waiting.raw.clone();
                let from = letter.from.clone();
                let received_at = waiting.received_at;
                asked.push(digest);
                // Verify all letters concurrently, because each may wait for name servers.
                queries.spawn(async move { (digest, verifier.verify(&raw, &from, received_at).await) });
            }
        }
    }
    verdicts.extend(answers(asked, queries).await);
    verdicts
}

fn reported_dkim(office: &Office, letter: &Letter) -> ReportedDkim {
    let trusted = office.config.letters.trusted_authserv_id();
    trusted.map_or(ReportedDkim::Nothing, |authserv_id| letter.reported_dkim(authserv_id))
}

/// Collects the answers to queries about these letters. A letter whose verification panics is not proven:
/// otherwise bytes that make the verifier panic would count as a signature.
async fn answers(
    asked: Vec<Digest>,
    mut queries: JoinSet<(Digest, DkimVerdict)>,
) -> BTreeMap<Digest, DkimVerdict> {
    let mut verdicts: BTreeMap<Digest, DkimVerdict> =
        asked.into_iter().map(|digest| (digest, UNSIGNED)).collect();
    while let Some(answered) = queries.join_next().await {
        verdicts.extend(answered);
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_letter_whose_verification_panics_is_not_proven() {
        let [fine, poisoned] = ["fine", "poisoned"].map(|letter| Digest::of(letter.as_bytes()));
        let mut queries = JoinSet::new();
        queries.spawn(async move { (fine, DkimVerdict::Passed) });
        queries.spawn(async { panic!("a planted panic") });
        let verdicts = answers(vec![fine, poisoned], queries).await;
        assert!(matches!(verdicts[&fine], DkimVerdict::Passed));
        assert_eq!(verdicts[&poisoned], UNSIGNED);
    }
}

//! Stores letters: before they are ruled on, and before the mailbox files them as processed.

pub mod copies;
pub mod old;
pub mod outage;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use tokio::sync::{mpsc, watch};

use self::copies::{Original, row_of, visible_tokens};
use self::old::Ties;
use super::load::read::{read, turn_to_decode};
use super::waiting::run_blocking;
use super::{Office, away, clock, restored, suspects};
use crate::desk::frame::club::ClubContext;
use crate::desk::frame::in_work::InWork;
use crate::desk::frame::parallel::par_map;
use crate::letter::{Digest, ReplyMarks};
use crate::post::{Error, FetchedLetter, FetchedLetters, Health, InboxMessage, LeftLetters, Taken};
use crate::store::{LeftReason, NewLetter, RESTORED, Restoring, StoreError, TO_BE_READ_AGAIN};

/// Letters of a batch that may each wait for a lock. Where more do, somebody has locked the table.
const MAX_LOCKED: usize = 3;

/// Maximum letters compared with earlier ones at a time, so that few are in memory.
const COMPARED_AT_ONCE: usize = 32;

/// Stores each batch, and notes, under the mailbox name `notes`, which letters are left in the mailbox, until
/// the inbox closes the channel.
pub async fn store_until_closed(office: &Office, notes: &str, mut messages: mpsc::Receiver<InboxMessage>) {
    while let Some(message) = messages.recv().await {
        let noted = match message {
            InboxMessage::Letters(batch) => {
                store_batch(office, notes, batch).await;
                Ok(())
            }
            InboxMessage::Beginnings { letters, old } => {
                match old_beginnings(office, notes, letters).await {
                    Ok(found) => drop(old.send(found)),
                    // Without an answer, the inbox asks again later.
                    Err(error) => {
                        tracing::warn!(error = format!("{error:#}"), "failed to identify old letters")
                    }
                }
                Ok(())
            }
            InboxMessage::Filed { letters, compared } => {
                match compare_filed(office, letters).await {
                    Ok(()) => drop(compared.send(())),
                    // Without an answer, the inbox asks again later.
                    Err(error) => {
                        tracing::warn!(error = format!("{error:#}"), "failed to compare processed letters")
                    }
                }
                Ok(())
            }
            InboxMessage::Unfiled(letters) => {
                office.store.note_left(notes, &letters, LeftReason::Unfiled).await
            }
            InboxMessage::Gone(letters) => office.store.forget_left(notes, &letters).await,
        };
        if let Err(error) = noted {
            // Without the note, they are fetched again after the next start, as duplicates.
            tracing::warn!(%error, "failed to note the letters that are left in the mailbox");
        }
    }
}

/// What the header of a letter says about its place among the club's.
struct Signs {
    /// Set if the letter may be old, or may answer another club.
    old: Option<Ties>,
    foreign: Option<Ties>,
    /// The Message-IDs that it answers.
    answered: Vec<String>,
}

async fn store_batch(office: &Office, notes: &str, batch: FetchedLetters) {
    if !away::has_room(office).await {
        // Without an answer, the inbox leaves the letters in the mailbox and fetches them again later.
        return;
    }
    match clock::may_take(office, &batch.letters).await {
        Ok(true) => {}
        Ok(false) => return,
        Err(error) => {
            let error = format!("{error:#}");
            tracing::error!(error, "failed to check the clock; letters stay in the mailbox");
            return;
        }
    }
    match store_letters(office, notes, batch.letters).await {
        Ok(taken) => {
            // The inbox may be gone. The letters are then fetched again, as duplicates.
            let _ = batch.stored.send(taken);
            office.letters_arrived.notify_one();
        }
        // Without an answer, the inbox leaves the letters in the mailbox and fetches them again.
        Err(error) => {
            away::note_unstored(office, &error);
            let error = format!("{error:#}");
            tracing::error!(error, "failed to store letters; they stay in the mailbox");
        }
    }
}

/// Notes which of these letters are old, as far as their beginnings show, and returns their places.
async fn old_beginnings(
    office: &Office,
    notes: &str,
    letters: Vec<FetchedLetter>,
) -> anyhow::Result<Vec<usize>> {
    let mark = mark(office, false).await?;
    let origins: Vec<String> = letters.iter().map(|letter| letter.origin.clone()).collect();
    let club = Arc::clone(&office.club);
    let ties =
        run_blocking(move || par_map(&letters, |letter| old::ties_if_old(letter, mark, &club.own))).await?;
    let old = old::unrelated_letters(office, ties).await?;
    note_old(office, notes, old.iter().map(|place| origins[*place].clone()).collect(), mark).await?;
    Ok(old.into_iter().collect())
}

async fn note_old(
    office: &Office,
    notes: &str,
    origins: Vec<String>,
    mark: DateTime<Utc>,
) -> anyhow::Result<()> {
    if !origins.is_empty() {
        office.store.note_left(notes, &origins, LeftReason::Old).await?;
        tracing::debug!(letters = origins.len(), %mark, "letters from before the club");
    }
    Ok(())
}

async fn note_foreign(office: &Office, notes: &str, origins: Vec<String>) -> anyhow::Result<()> {
    if !origins.is_empty() {
        office.store.note_left(notes, &origins, LeftReason::Foreign).await?;
        tracing::warn!(letters = origins.len(), "answers to another club's letters are left in the mailbox");
    }
    Ok(())
}

/// Returns the letters that are noted as left in the mailbox, its mark, and when the club began.
pub async fn left_letters(office: &Office) -> anyhow::Result<LeftLetters> {
    let mark = Some(mark(office, false).await?);
    let mut left = LeftLetters { mark, began: office.store.earliest_mark().await?, ..LeftLetters::default() };
    let name = office.config.inbox.name();
    let mut rejected = Vec::new();
    for (letter, reason) in office.store.left_letters(&name).await? {
        match reason {
            LeftReason::Old | LeftReason::Foreign => drop(left.untaken.insert(letter)),
            LeftReason::Unfiled => drop(left.unfiled.insert(letter)),
            // Hand it over again: a person may have mended the database.
            LeftReason::Rejected => rejected.push(letter),
        }
    }
    office.store.forget_left(&name, &rejected).await?;
    Ok(left)
}

/// Compares the letters that were filed last with those that the database knows. If it lacks one, or after
/// `fogpost restore`, all processed letters are read again before any other is handed over.
async fn compare_filed(office: &Office, letters: Vec<FetchedLetter>) -> anyhow::Result<()> {
    let letters = old::count_unknown(&office.store, &office.config, &letters, office.now()).await?;
    if letters > 0 {
        tracing::warn!(letters, "the database lacks letters that were processed; it is an older one");
        office.store.remember(RESTORED, TO_BE_READ_AGAIN).await?;
    }
    read_again_if_restored(office).await
}

/// Reads the mailbox's processed letters again if the database was put back. Letters that it knows have no second
/// effect; letters that came after the backup are ruled on.
///
/// Boxed, because storing the letters of a mailbox calls it, and it stores letters.
fn read_again_if_restored(office: &Office) -> Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send + '_>> {
    Box::pin(async move {
        let Some(Restoring::ToBeRead { proved_by_letter }) = office.store.restoring().await? else {
            return Ok(());
        };
        tracing::warn!("the database was restored; reading processed letters again");
        let processed =
            office.config.inbox.processed().context("failed to read the folder of processed letters")?;
        let name = processed.name();
        let (to, messages) = mpsc::channel(2);
        let draining = processed.drain(LeftLetters::default(), to, watch::channel(Health::default()).0);
        let (drained, ()) = tokio::join!(draining, store_until_closed(office, &name, messages));
        let letters = match drained {
            // The mailbox was read up to here, so what is missing is this folder.
            Err(Error::Configuration(error)) => {
                tracing::warn!(error, "there are no processed letters to read again");
                0
            }
            drained => drained.context("failed to read the folder of processed letters")?,
        };
        restored::note_read(office, letters, proved_by_letter).await?;
        office.letters_arrived.notify_one();
        Ok(())
    })
}

async fn store_letters(office: &Office, notes: &str, letters: Vec<FetchedLetter>) -> anyhow::Result<Taken> {
    let _under_way = office.traffic.enter();
    let is_spam = letters.iter().any(|letter| letter.is_spam);
    let mark = mark(office, is_spam).await?;
    let club = Arc::clone(&office.club);
    let (mut letters, signs): (Vec<NewLetter>, Vec<Signs>) = run_blocking(move || {
        let rows = par_map(&letters, |letter| {
            let marks = ReplyMarks::of(&letter.raw, &club.own);
            let foreign = old::ties_if_foreign(&marks);
            let old = old::ties_if_old(letter, mark, &club.own);
            (letter_row(letter, &marks, &club), Signs { old, foreign, answered: marks.answered })
        });
        let with_bytes = rows
            .into_iter()
            .zip(letters)
            .map(|((row, signs), letter)| (NewLetter { raw: letter.raw, ..row }, signs));
        with_bytes.unzip()
    })
    .await?;
    let answered: Vec<String> = signs.iter().flat_map(|signs| signs.answered.iter().cloned()).collect();
    let (old, foreign) = signs.into_iter().map(|signs| (signs.old, signs.foreign)).unzip();
    let old = old::unrelated_letters(office, old).await?;
    let foreign = old::unrelated_letters(office, foreign).await?;
    let taken = if is_spam {
        let wanted = wanted_spam(office, &letters).await?;
        Taken::Only(wanted.into_iter().filter(|at| !old.contains(at) && !foreign.contains(at)).collect())
    } else if old.is_empty() && foreign.is_empty() {
        Taken::All
    } else {
        note_foreign(office, notes, origins_of(&letters, &foreign)).await?;
        note_old(office, notes, origins_of(&letters, &old), mark).await?;
        Taken::Only((0..letters.len()).filter(|at| !old.contains(at) && !foreign.contains(at)).collect())
    };
    letters = taken.divide(letters).0;
    if letters.is_empty() {
        return Ok(taken);
    }
    restored::note_if_beyond(office, &answered).await?;
    // The letters that are read again come from another folder.
    if notes == office.config.inbox.name() {
        read_again_if_restored(office).await?;
    }
    if is_spam {
        tracing::warn!(letters = letters.len(), "letters of players were in the spam folder");
    }
    letters = with_new_texts(office, letters).await?;
    match office.store.insert_letters(&letters).await {
        Ok(new) => {
            tracing::info!(letters = letters.len(), new, "letters stored");
            away::note_stored(office);
            Ok(taken)
        }
        Err(error) if !error.is_transient() || matches!(error, StoreError::RowLocked) => {
            let rejected = store_one_by_one(office, &letters).await?;
            let origins = rejected.iter().map(|place| letters[*place].origin.clone()).collect::<Vec<_>>();
            office.store.note_left(notes, &origins, LeftReason::Rejected).await?;
            let places = match taken {
                Taken::All => (0..letters.len()).collect(),
                Taken::Only(places) => places,
            };
            let stored = places.into_iter().enumerate().filter(|(place, _)| !rejected.contains(place));
            Ok(Taken::Only(stored.map(|(_, place)| place).collect()))
        }
        Err(error) => Err(error.into()),
    }
}

fn origins_of(letters: &[NewLetter], places: &BTreeSet<usize>) -> Vec<String> {
    places.iter().map(|place| letters[*place].origin.clone()).collect()
}

/// Stores letters one by one, because the database does not store them together, and returns the places of those
/// that it rejects: a letter that cannot be stored must not stop those behind it.
///
/// # Errors
/// Returns an error if one of them may be stored later. The others are stored then.
async fn store_one_by_one(office: &Office, letters: &[NewLetter]) -> anyhow::Result<Vec<usize>> {
    let mut rejected = Vec::new();
    let mut locked = 0;
    for (place, letter) in letters.iter().enumerate() {
        match office.store.insert_letters(std::slice::from_ref(letter)).await {
            Ok(_) => {}
            Err(StoreError::RowLocked) if locked < MAX_LOCKED => locked += 1,
            Err(error) if error.is_transient() => return Err(error.into()),
            Err(error) => {
                tracing::error!(letter = %letter.digest, %error, "the database rejects a letter; it stays in the mailbox");
                rejected.push(place);
            }
        }
    }
    if locked > 0 { Err(StoreError::RowLocked.into()) } else { Ok(rejected) }
}

/// Returns the time before which letters in the mailbox, or in its spam folder, are old. Processed letters
/// came through the mailbox, so its mark applies to them, too.
async fn mark(office: &Office, is_spam: bool) -> anyhow::Result<DateTime<Utc>> {
    let inbox = &office.config.inbox;
    let name = inbox.spam_name().filter(|_| is_spam).unwrap_or_else(|| inbox.name());
    Ok(office.store.mailbox_mark(&name, office.now()).await?)
}

/// Notes the texts of letters that only look like copies of earlier ones. A letter that takes too long to
/// read, or on which a daemon died, counts as a copy.
async fn with_new_texts(office: &Office, letters: Vec<NewLetter>) -> anyhow::Result<Vec<NewLetter>> {
    let look_alikes = copies::look_alikes(&office.store, &letters).await?;
    let letters = Arc::new(letters);
    let mut texts: Vec<(usize, Digest)> = Vec::new();
    for some in look_alikes.chunks(COMPARED_AT_ONCE) {
        let mut pairs = Vec::new();
        for look_alike in some {
            let original = copies::original(&office.store, &letters, *look_alike).await?;
            pairs.extend(original.map(|original| (look_alike.place, original)));
        }
        if !pairs.is_empty() {
            texts.extend(compare(office, &letters, pairs).await?);
        }
    }
    let mut letters = Arc::unwrap_or_clone(letters);
    for (place, text) in texts {
        letters[place].new_text = Some(text);
    }
    Ok(letters)
}

/// Compares letters, each at a place in the list, with earlier ones. Returns the digest of each text that
/// differs.
async fn compare(
    office: &Office,
    letters: &Arc<Vec<NewLetter>>,
    pairs: Vec<(usize, Original)>,
) -> anyhow::Result<Vec<(usize, Digest)>> {
    let digests: Vec<Digest> = pairs.iter().map(|(place, _)| letters[*place].digest).collect();
    let mut unread = suspects::note_intake(office, &digests).await?;
    let pairs = Arc::new(pairs);
    let found = loop {
        let club = Arc::clone(&office.club);
        let letters = Arc::clone(letters);
        let pairs = Arc::clone(&pairs);
        let skipped = unread.clone();
        let in_work = InWork::default();
        let working = in_work.clone();
        let reading = run_blocking(move || {
            par_map(&pairs, |(place, original)| {
                let letter = &letters[*place];
                // The copy's size is enough to go by, because the earlier letter is at most twice as large.
                let _turn = turn_to_decode(&letter.raw);
                let _in_work = working.enter(letter.digest);
                let is_skipped = skipped.contains(&letter.digest);
                let text = || copies::new_text(&letter.raw, original, |raw| read(&club, raw));
                if is_skipped { None } else { text().map(|text| (*place, text)) }
            })
        });
        match office.attempts.watch(&in_work, reading).await {
            Ok(found) => break found?,
            Err(overdue) => unread.extend(overdue),
        }
    };
    suspects::end_intake(office).await?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns the places of the letters in the spam folder that concern the club: those from an address of a
/// player or a GM, and those with a reply token.
async fn wanted_spam(office: &Office, letters: &[NewLetter]) -> anyhow::Result<Vec<usize>> {
    let senders: Vec<String> = letters.iter().map(|letter| letter.sender.clone()).collect();
    let registered = office.store.registered(&senders).await?;
    let tokens: Vec<String> = letters.iter().flat_map(|letter| letter.tokens.iter().cloned()).collect();
    let seats = office.store.seats_by_token(&tokens).await?;
    let is_known = |token: &String| seats.iter().any(|row| row.token == *token);
    let wanted = letters.iter().enumerate().filter(|(_, letter)| {
        letter.is_from_gm || registered.contains(&letter.sender) || letter.tokens.iter().any(is_known)
    });
    Ok(wanted.map(|(place, _)| place).collect())
}

/// Returns the row of a letter, without its bytes but with the fields that decide its order among others.
fn letter_row(letter: &FetchedLetter, marks: &ReplyMarks, club: &ClubContext) -> NewLetter {
    let row = row_of(letter);
    NewLetter {
        tokens: visible_tokens(&letter.raw, &marks.tokens, &club.own),
        is_from_gm: club.config.club.gm.is_one_at(&row.sender),
        ..row
    }
}

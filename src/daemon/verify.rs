//! Checks matches against their ledgers: loads the rows that `audit/` compares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::Office;
use super::decide::settings::Settings;
use super::imported::imported_key;
use super::parallel::{par_map, run_blocking};
use crate::audit::{
    AuditVerdict, Check, Compared, CurrentWording, ExpectedDispatch, Finding, LedgerBatch, LedgerReader,
    LedgerRow, ParsedLetter, Place, StoredDispatch, StoredLetter, StoredMatch, StoredSeat, witness,
};
use crate::game::BySeat;
use crate::letter::Digest;
use crate::report::envelope::Stationery;
use crate::report::sent::plain_text;
use crate::report::wording::Wording;
use crate::report::{PictureCache, Templates};
use crate::store::{EntryRow, LetterStatus, MatchRow, NamedLetter, SentRow, StoreError};

/// Rows read at a time.
const CHUNK: u32 = 256;

/// Maximum attempts to check a match that is ruled on at the same time.
const MAX_TRIES: u32 = 5;

/// How much is derived again, besides the rulings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The text of every letter. The house's turns are accepted as they were played: finding them again takes as long
    /// as it took then.
    WithoutHouse,
    /// The text of the letters, and the house's turns, of rulings after this entry. The club's book says that those before
    /// were checked.
    New { after: u64 },
    /// The text of every letter, and the house's turns.
    Words,
    /// Also the HTML and the pictures of every letter.
    Whole,
}

/// Called with the number of entries that were checked since the last call.
pub type Step<'a> = dyn Fn(u64) + Sync + 'a;

impl Office {
    /// Checks one match from its opening to its last entry, and finds the house's turns again.
    ///
    /// # Errors
    /// Returns an error if there is no such match, or if the database does not answer.
    pub async fn verify(&self, match_id: &str, step: &Step<'_>) -> anyhow::Result<AuditVerdict> {
        self.verify_match(match_id, Depth::Words, step).await
    }

    /// Checks one match to the given depth. A row with impossible contents is a finding.
    pub async fn verify_match(
        &self,
        match_id: &str,
        depth: Depth,
        step: &Step<'_>,
    ) -> anyhow::Result<AuditVerdict> {
        let verdict = self.verify_settled(match_id, depth, step).await;
        verdict.or_else(|error| unreadable(match_id, error))
    }

    /// Checks one match, again if it was ruled on meanwhile.
    async fn verify_settled(
        &self,
        match_id: &str,
        depth: Depth,
        step: &Step<'_>,
    ) -> anyhow::Result<AuditVerdict> {
        for _ in 0..MAX_TRIES {
            let row = self.match_row(match_id).await?;
            if let Some(who) = self.store.forgotten_in(&row.id).await? {
                return self.verify_chain(&row, &who).await;
            }
            let version = row.version;
            let verdict = self.verify_row(row, depth, step).await?;
            if self.match_row(match_id).await?.version == version {
                return Ok(verdict);
            }
        }
        let unable = Some("it was ruled on again and again while it was checked".to_owned());
        Ok(AuditVerdict { match_id: match_id.to_owned(), unable, ..AuditVerdict::default() })
    }

    /// Checks several matches in parallel, and returns their verdicts in order. With `whole`, the HTML and the pictures
    /// of all our letters are made again, too.
    ///
    /// # Errors
    /// Same as [`Office::verify`].
    pub async fn verify_several(
        &self,
        ids: &[String],
        whole: bool,
        step: &Step<'_>,
    ) -> anyhow::Result<Vec<AuditVerdict>> {
        let depth = if whole { Depth::Whole } else { Depth::Words };
        // Twice as many as there are processors, because each one waits for the database now and then.
        let at_once = 2 * thread::available_parallelism().map_or(1, usize::from);
        let checks = stream::iter(ids).map(|id| self.verify_match(id, depth, step));
        checks.buffered(at_once).try_collect().await
    }

    /// Checks the matches that a player's mail from us is evidence for, and whether the ledger lines in it are on their
    /// chains. Returns nothing if the mail has no ledger line.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn verify_against(
        &self,
        mail: &[u8],
        only: Option<&str>,
        step: &Step<'_>,
    ) -> anyhow::Result<Vec<AuditVerdict>> {
        let mut verdicts: Vec<AuditVerdict> = Vec::new();
        let mut chains: BTreeMap<String, BTreeMap<Digest, u64>> = BTreeMap::new();
        for line in witness::in_mail(mail) {
            if only.is_some_and(|id| id != line.match_id) {
                continue;
            }
            if !verdicts.iter().any(|verdict| verdict.match_id == line.match_id) {
                let known = !self.store.matches(std::slice::from_ref(&line.match_id)).await?.is_empty();
                verdicts.push(match known {
                    true => self.verify(&line.match_id, step).await?,
                    false => AuditVerdict { match_id: line.match_id.clone(), ..AuditVerdict::default() },
                });
            }
            if !chains.contains_key(&line.match_id) {
                let entries = self.store.entries(&line.match_id).await?;
                let chain = entries.iter().map(|entry| (entry.hash, entry.seq)).collect();
                chains.insert(line.match_id.clone(), chain);
            }
            let found = chains.get(&line.match_id).and_then(|chain| chain.get(&line.hash));
            if found.is_some_and(|found| line.seq.is_none_or(|seq| seq == *found)) {
                continue;
            }
            let what = "it is not on this chain: the ledger was rewritten, or the mail was";
            let finding = Finding { place: Place::Mail(line.hash), what: what.to_owned() };
            verdicts.iter_mut().filter(|verdict| verdict.match_id == line.match_id).for_each(|verdict| {
                verdict.findings.push(finding.clone());
            });
        }
        Ok(verdicts)
    }

    async fn verify_row(&self, row: MatchRow, depth: Depth, step: &Step<'_>) -> anyhow::Result<AuditVerdict> {
        let id = row.id.clone();
        let mut check = self.check_of(row, depth).await?;
        let mut reader = LedgerReader::new(&id, check.first_key());
        let mut sent_id = i64::MIN;
        let mut next = self.read_on(&mut reader, &mut sent_id, step).await;
        while !check.is_stopped() {
            let batch = next?;
            if batch.is_end() {
                check = self.rule_again(check, batch, depth).await?;
                break;
            }
            // The next rows are read while these are ruled on and worded again.
            let (ruled, read_on) = tokio::join!(
                self.rule_again(check, batch, depth),
                self.read_on(&mut reader, &mut sent_id, step),
            );
            check = ruled?;
            next = read_on;
        }
        let mut acted_id = i64::MIN;
        while let Some((last, acted)) = self.store.acted_after(&id, acted_id, CHUNK).await? {
            acted_id = last;
            check.check_acted_letters(&acted);
        }
        let mut verdict = check.finish();
        if verdict.findings.is_empty() {
            verdict.findings = self.odd_columns(&id).await?;
        }
        Ok(verdict)
    }

    /// Returns one of our letters with its picture, which was dropped: the letter is derived again from its match. `None` if
    /// that fails, or another version of this program drew the picture.
    pub async fn redraw(&self, match_id: &str, message_id: &str) -> anyhow::Result<Option<Vec<u8>>> {
        let row = self.match_row(match_id).await?;
        let id = row.id.clone();
        let mut check = self.check_of(row, Depth::WithoutHouse).await?;
        let mut reader = LedgerReader::new(&id, check.first_key());
        let mut sent_id = i64::MIN;
        while !check.is_stopped() {
            let batch = self.read_on(&mut reader, &mut sent_id, &|_| ()).await?;
            let at_end = batch.is_end();
            check.push_batch(batch);
            let expected = check.rule_pending(at_end);
            let Some(at) = expected.iter().position(|letter| letter.message_id() == message_id) else {
                if at_end {
                    break;
                }
                continue;
            };
            let letter = &expected[at..=at];
            let reports = self.reports_of(letter).await?;
            let earlier = self.earlier_wordings(letter).await?;
            return Ok(redraw(&self.settings, &earlier, &letter[0], &reports));
        }
        Ok(None)
    }

    async fn check_of(&self, row: MatchRow, depth: Depth) -> anyhow::Result<Check> {
        let mut addresses = self.addresses_of_seats(&row.id).await?;
        let mut seats: BySeat<StoredSeat> = BySeat::default();
        for row in self.store.seats_of(std::slice::from_ref(&row.id)).await? {
            let addresses = std::mem::take(&mut addresses[row.seat]);
            seats[row.seat] = StoredSeat { token: row.token, addresses };
        }
        let pins = self.store.seat_pins(&row.id).await?;
        let MatchRow { id, overview, wake_at, snapshot, version: _ } = row;
        let dates = self.store.match_dates(std::slice::from_ref(&id)).await?;
        let ended_at = dates.first().and_then(|dates| dates.ended_at);
        let stored = StoredMatch { id: id.clone(), overview, wake_at, ended_at, snapshot };
        let house = match depth {
            Depth::WithoutHouse => None,
            Depth::New { .. } | Depth::Words | Depth::Whole => Some(Arc::clone(&self.settings.house)),
        };
        let mut check = Check::new(stored, seats, pins, self.settings.identity.clone(), house);
        // A match that another club refereed names the anchors of that club.
        if self.store.remembered(&imported_key(&id)).await?.is_none() {
            check.set_anchors(self.anchors().await?.iter().map(|(_, anchored)| anchored.anchor()).collect());
        }
        check.set_verified(self.verified_entries(&id).await?);
        check.set_late(self.late_in(&id).await?);
        if let Depth::New { after } = depth {
            check.set_checked_until(after);
        }
        Ok(check)
    }

    /// Reads the next entries of a match, the letters that they name, and the letters sent until then.
    async fn read_on(
        &self,
        reader: &mut LedgerReader,
        sent_id: &mut i64,
        step: &Step<'_>,
    ) -> anyhow::Result<LedgerBatch> {
        let (id, seq, mut count) = (reader.match_id().to_owned(), reader.seq(), 0);
        let mut take = |entry: EntryRow| {
            count += 1;
            reader.push_entry(row_of(entry));
        };
        // Start at the first row whatever its number: somebody may have added one before entry 1.
        let seq = Some(seq).filter(|seq| *seq > 0);
        self.store.entries_after(&id, seq, CHUNK, &mut take).await?;
        step(count);
        while reader.needs_dispatches() {
            let mut sent = Vec::new();
            let after = *sent_id;
            let mut take = |row: SentRow| {
                *sent_id = row.id;
                sent.push(sent_row(row));
            };
            self.store.sent_after(&id, after, CHUNK, &mut take).await?;
            reader.push_dispatches(sent);
        }
        let mut letters: Vec<ParsedLetter> = Vec::new();
        let mut take = |row: NamedLetter| letters.push(reader.parse_letter(&letter_of(row)));
        self.store.letters_named(&reader.missing_letters(), &mut take).await?;
        let answered: BTreeSet<String> = letters.iter().flat_map(|letter| letter.thread().cloned()).collect();
        let answered = self.store.texts_by_message_id(&Vec::from_iter(answered)).await?;
        let answered = answered.into_iter().map(|(id, bytes)| (id, plain_text(&bytes))).collect();
        reader.push_letters(letters, &answered);
        Ok(reader.take_batch())
    }

    /// Rules again on what was read, words the resulting letters again, and compares them with those that were sent.
    async fn rule_again(&self, mut check: Check, batch: LedgerBatch, depth: Depth) -> anyhow::Result<Check> {
        let at_end = batch.is_end();
        let ruling = run_blocking(move || {
            check.push_batch(batch);
            let before = check.finding_count();
            let expected = check.rule_pending(at_end);
            (check, before, expected)
        });
        let (mut check, before, expected) = ruling.await?;
        let reports = self.reports_of(&expected).await?;
        let settings = Arc::clone(&self.settings);
        let earlier = self.earlier_wordings(&expected).await?;
        run_blocking(move || {
            check.note_own_templates(&expected);
            let current = settings.identity.wording;
            let is_kept = |digest: Digest| digest == current || earlier.contains_key(&digest);
            check.note_missing_wordings(&expected, is_kept);
            let compared = compare(&settings, &earlier, &expected, &reports, depth);
            check.record_comparisons(compared, before);
            check
        })
        .await
    }

    /// Returns the kept wordings of these letters, but for today's.
    async fn earlier_wordings(&self, letters: &[ExpectedDispatch]) -> anyhow::Result<EarlierWordings> {
        let digests: BTreeSet<Digest> = letters.iter().map(ExpectedDispatch::wording).collect();
        let digests: Vec<Digest> =
            digests.into_iter().filter(|digest| *digest != self.settings.identity.wording).collect();
        let mut earlier = EarlierWordings::new();
        if digests.is_empty() {
            return Ok(earlier);
        }
        for (digest, contents) in self.store.wordings(&digests).await? {
            let wording = serde_json::from_str::<Wording>(&contents).ok();
            let Some(wording) = wording.filter(|wording| wording.digest() == digest) else { continue };
            if !wording.is_of_this_version() {
                earlier.insert(digest, None);
            } else if let Ok(Some(restored)) = wording.restore(&self.settings.stationery.address) {
                earlier.insert(digest, Some(restored));
            }
        }
        Ok(earlier)
    }

    /// Returns the bytes of the reports that these letters may repeat, by Message-ID.
    async fn reports_of(&self, letters: &[ExpectedDispatch]) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
        let ids: BTreeSet<&String> = letters.iter().flat_map(ExpectedDispatch::earlier_report_ids).collect();
        let ids: Vec<String> = ids.into_iter().cloned().collect();
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        Ok(self.store.texts_by_message_id(&ids).await?.into_iter().collect())
    }
}

/// Wordings that were in force before, by digest; `None` for one that another version of this program made.
type EarlierWordings = BTreeMap<Digest, Option<(Stationery, Templates)>>;

/// Words letters again, and compares them with those that were sent.
fn compare(
    settings: &Settings,
    earlier: &EarlierWordings,
    letters: &[ExpectedDispatch],
    reports: &BTreeMap<String, Vec<u8>>,
    depth: Depth,
) -> Vec<Result<Compared, Finding>> {
    let whole = depth == Depth::Whole;
    let pictures = PictureCache::default();
    let compare_one = |letter: &ExpectedDispatch| {
        if matches!(depth, Depth::New { after } if letter.seq() <= after) {
            return letter.compare_bytes();
        }
        let wording = wording_of(settings, earlier, letter, &pictures, whole);
        letter.compare(&wording, &repeated_by(letter, reports))
    };
    par_map(letters, compare_one)
}

/// Returns what worded a letter: one that is kept, or today's.
fn wording_of<'a>(
    settings: &'a Settings,
    earlier: &'a EarlierWordings,
    letter: &ExpectedDispatch,
    pictures: &'a PictureCache,
    whole: bool,
) -> CurrentWording<'a> {
    let current = (settings.identity.wording, &settings.stationery, &*settings.templates);
    let digest = letter.wording();
    let (digest, stationery, templates) = earlier
        .get(&digest)
        .and_then(Option::as_ref)
        .map_or(current, |(stationery, templates)| (digest, stationery, templates));
    CurrentWording { stationery, templates, digest, pictures, whole }
}

/// Returns the reports that a letter may repeat.
fn repeated_by(letter: &ExpectedDispatch, reports: &BTreeMap<String, Vec<u8>>) -> Vec<Vec<u8>> {
    letter.earlier_report_ids().iter().filter_map(|id| reports.get(id).cloned()).collect()
}

/// Returns a letter with its picture, if it still has its pin then.
fn redraw(
    settings: &Settings,
    earlier: &EarlierWordings,
    letter: &ExpectedDispatch,
    reports: &BTreeMap<String, Vec<u8>>,
) -> Option<Vec<u8>> {
    let pictures = PictureCache::default();
    letter.redraw(&wording_of(settings, earlier, letter, &pictures, true), &repeated_by(letter, reports))
}

/// Returns the verdict on a match or book of which a row has impossible contents, which somebody else must have changed.
/// Passes on any other error.
pub(super) fn unreadable(id: &str, error: anyhow::Error) -> anyhow::Result<AuditVerdict> {
    let what = match error.downcast::<StoreError>()? {
        StoreError::Unsound(what) => what,
        error if error.is_unsound() => error.to_string(),
        error => return Err(error.into()),
    };
    let findings = vec![Finding { place: Place::Kept("the database"), what }];
    Ok(AuditVerdict { match_id: id.to_owned(), findings, ..AuditVerdict::default() })
}

fn sent_row(row: SentRow) -> StoredDispatch {
    let SentRow { id: _, message_id, recipient, kind, seat, sent_at, bytes } = row;
    StoredDispatch { message_id, recipient, kind, seat, sent_at, bytes }
}

fn letter_of(row: NamedLetter) -> StoredLetter {
    let NamedLetter { digest, received_at, status, raw, .. } = row;
    StoredLetter { digest, received_at, is_ruled: status == LetterStatus::Ruled, raw }
}

/// What the audit compares of an entry.
pub(super) fn row_of(entry: EntryRow) -> LedgerRow {
    let EntryRow { seq, at, kind, json, hash, .. } = entry;
    LedgerRow { seq, at, kind, json, hash }
}

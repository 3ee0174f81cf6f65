//! Reads an arbiter's dossier of a finished match, and checks it as the club itself checks the match.
//!
//! Whoever made the dossier chose everything in it, so only data that the ledger pins is trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{About, DispatchRecord, DossierForm, FORMAT, LetterRecord, SeatHolder};
use crate::audit::{
    AuditVerdict, Check, Finding, LedgerReader, LedgerRow, Place, StoredDispatch, StoredLetter, StoredMatch,
    StoredSeat,
};
use crate::game::BySeat;
use crate::ledger::{Entry, Fact, KeptPin};
use crate::letter::Digest;
use crate::referee::{HousePlayer, Match};
use crate::report::sent::plain_text;

/// A dossier of a finished match, read from its files.
#[derive(Clone, Debug)]
pub struct Dossier {
    players: BySeat<SeatHolder>,
    pins: Vec<KeptPin>,
    /// The match after its last entry.
    game_match: Match,
    /// The entries, each with its line in the file.
    entries: Vec<(Entry, String)>,
    /// The listed letters; without bytes if the file is missing.
    letters: Vec<(LetterRecord, Option<Vec<u8>>)>,
    dispatches: Vec<StoredDispatch>,
}

impl Dossier {
    /// Reads the files of a dossier by name.
    ///
    /// # Errors
    /// Returns a sentence that names the file if one cannot be read, or says why the dossier cannot be
    /// checked this way.
    pub fn read(mut files: BTreeMap<String, Vec<u8>>) -> Result<Dossier, String> {
        let mut file = |name: &str| files.remove(name).ok_or_else(|| format!("{name} is missing"));
        let (about, game_match) = read_about(&file("about.json")?)?;
        let entries = file("entries.jsonl")?;
        let lines = text("entries.jsonl", &entries)?.lines().map(str::to_owned);
        let entries = read_lines("entries.jsonl", &entries)?.into_iter().zip(lines).collect();
        let mut letters = Vec::new();
        for record in read_lines::<LetterRecord>("letters.jsonl", &file("letters.jsonl")?)? {
            if let Some(until) = &record.withheld_until {
                return Err(format!(
                    "the letter {} is withheld until {} ends; please export the dossier again then",
                    record.letter,
                    until.join(" and ")
                ));
            }
            let raw = file(&format!("letters/{}.eml", record.letter)).ok();
            letters.push((record, raw));
        }
        let mut dispatches = Vec::new();
        for record in read_lines::<DispatchRecord>("sent.jsonl", &file("sent.jsonl")?)? {
            let DispatchRecord { file: name, message_id, recipient, kind, seat, sent_at, .. } = record;
            // The check reports a missing letter.
            let Ok(bytes) = file(&name) else { continue };
            dispatches.push(StoredDispatch { message_id, recipient, kind, seat, sent_at, bytes });
        }
        let About { players, pins, .. } = about;
        Ok(Dossier { players, pins, game_match, entries, letters, dispatches })
    }

    /// Repeats every ruling from the letters and compares the results. `house` derives the turns of the house
    /// again.
    pub fn check(self, house: Arc<HousePlayer>) -> AuditVerdict {
        let altered = self.altered_letters();
        let Dossier { players, pins, game_match, entries, letters, dispatches } = self;
        let seats =
            players.map(|SeatHolder { addresses, token, .. }| StoredSeat { token, addresses, player: None });
        let texts: BTreeMap<String, String> = dispatches
            .iter()
            .map(|dispatch| (dispatch.message_id.clone(), plain_text(&dispatch.bytes)))
            .collect();
        let stored = derive_stored_match(&game_match, &entries);
        let mut check = Check::new(stored, seats, pins, Some(house));
        let mut reader = LedgerReader::new(&game_match.id, check.first_key());
        for (entry, json) in entries {
            reader.push_entry(row(&entry, json));
        }
        reader.push_dispatches(dispatches);
        reader.push_dispatches(Vec::new());
        let missing = BTreeSet::from_iter(reader.missing_letters());
        let mut parsed = Vec::new();
        let mut ruled = Vec::new();
        for (record, raw) in letters {
            let LetterRecord { letter: digest, received_at, seat, .. } = record;
            let is_ruled = seat.is_some();
            ruled.extend(is_ruled.then_some(digest));
            if let Some(raw) = raw.filter(|_| missing.contains(&digest)) {
                parsed.push(reader.parse_letter(&StoredLetter { digest, received_at, is_ruled, raw }));
            }
        }
        reader.push_letters(parsed, &texts);
        check.push_batch(reader.take_batch());
        let before = check.finding_count();
        let expected = check.repeat_pending(true);
        // A letter is compared only with its pin, whichever version of the program worded it.
        check.record_comparisons(expected.iter().map(|letter| letter.compare()).collect(), before);
        check.check_acted_letters(&ruled);
        let mut verdict = check.finish();
        verdict.findings.extend(altered);
        verdict
    }

    /// Finds all letters that entries name and that are missing or altered. The check alone would stop at the
    /// first entry whose cause is missing.
    fn altered_letters(&self) -> Vec<Finding> {
        let held: BTreeMap<Digest, Option<&Vec<u8>>> =
            self.letters.iter().map(|(record, raw)| (record.letter, raw.as_ref())).collect();
        let mut named = BTreeMap::new();
        for (entry, _) in &self.entries {
            for letter in entry.letters() {
                named.entry(letter).or_insert(entry.seq);
            }
        }
        let findings = named.into_iter().filter_map(|(letter, seq)| {
            let what = match held.get(&letter) {
                Some(Some(raw)) if Digest::of(raw) == letter => return None,
                Some(Some(_)) => format!("entry #{seq} names it, but its bytes were changed"),
                Some(None) | None => format!("entry #{seq} names it, but it is missing"),
            };
            Some(Finding::at(Place::Letter(letter), what))
        });
        findings.collect()
    }
}

/// Returns the match as the check expects it beside its ledger. A dossier has no columns for lists, so they
/// are derived from the snapshot and the ledger.
fn derive_stored_match(game_match: &Match, entries: &[(Entry, String)]) -> StoredMatch {
    let is_end = |(entry, _): &&(Entry, String)| matches!(entry.fact, Fact::MatchEnded { .. });
    StoredMatch {
        id: game_match.id.clone(),
        overview: game_match.overview(),
        wake_at: game_match.wake_at(),
        ended_at: entries.iter().rev().find(is_end).map(|(entry, _)| entry.at),
        snapshot: serde_json::to_string(game_match).expect("a match is plain values"),
    }
}

fn row(entry: &Entry, json: String) -> LedgerRow {
    let kind = entry.fact.kind().to_owned();
    LedgerRow { seq: entry.seq, at: entry.at, kind, hash: Digest::of(json.as_bytes()), json }
}

fn read_about(contents: &[u8]) -> Result<(About, Match), String> {
    let fault = |error: serde_json::Error| format!("about.json: {error}");
    let value: serde_json::Value = serde_json::from_slice(contents).map_err(fault)?;
    if value["fogpost"].as_u64() != Some(FORMAT.into()) {
        return Err(format!("about.json: its format is unknown; this program reads format {FORMAT}"));
    }
    let mut about: About = serde_json::from_value(value).map_err(fault)?;
    if about.form == DossierForm::Public {
        let why = "it is a public dossier, without the letters: check.py checks it, and `audit export --arbiter` \
                   writes one that holds them";
        return Err(why.to_owned());
    }
    let Some(game_match) = about.snapshot.take() else {
        return Err(format!(
            "{} is not over, and the rulings on a running match cannot be repeated without its secret; check.py checks the \
             rest",
            about.match_id
        ));
    };
    if game_match.id != about.match_id {
        return Err("about.json names two matches".to_owned());
    }
    game_match.game.knows_rules(game_match.rules).map_err(|unknown| unknown.to_string())?;
    Ok((about, game_match))
}

fn text<'a>(name: &str, contents: &'a [u8]) -> Result<&'a str, String> {
    std::str::from_utf8(contents).map_err(|_| format!("{name} is not text"))
}

fn read_lines<T: DeserializeOwned>(name: &str, contents: &[u8]) -> Result<Vec<T>, String> {
    let read = (1..).zip(text(name, contents)?.lines()).map(|(number, line)| {
        serde_json::from_str(line).map_err(|error| format!("{name}, line {number}: {error}"))
    });
    read.collect()
}

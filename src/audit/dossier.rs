//! The dossier of a match: files that a third party can check without our programs, and that another club can import.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::account::{self, ArchivedDispatch, MatchArchive};
use crate::game::{BySeat, Seat};
use crate::ledger::{self, Entry, Fact, LedgerForm, SealKey};
use crate::letter::Digest;
use crate::referee::{DispatchKind, Match};
use crate::report::{TemplateError, Templates, pin};

/// Instructions for a third party on how to check a dossier.
const CHECK: &str = include_str!("CHECK.txt");

/// What another club needs besides the ledger and the letters (`about.json`).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The version of the dossier's format.
    pub fogpost: u32,
    /// The club where the match was played.
    pub club: String,
    pub players: BySeat<SeatHolder>,
    /// The match after its last entry.
    pub snapshot: Match,
}

/// Who holds a seat.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeatHolder {
    pub name: String,
    pub addresses: Vec<String>,
    pub token: String,
}

/// A received letter, without its bytes (a line of `letters.jsonl`).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LetterRecord {
    pub letter: Digest,
    pub received_at: DateTime<Utc>,
    pub seat: Seat,
    /// The matches that must be over before a dossier holds the whole letter. Until then it holds the part for its match,
    /// if the letter was ruled on in parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld_until: Option<Vec<String>>,
}

/// One of our letters, without its bytes (a line of `sent.jsonl`).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DispatchRecord {
    pub file: String,
    /// The file whose SHA-256 is the letter's pin in the ledger, if that is another one: its canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<String>,
    pub message_id: String,
    pub recipient: String,
    pub kind: DispatchKind,
    pub seat: Option<Seat>,
    pub created_at: DateTime<Utc>,
    pub sent_at: Option<DateTime<Utc>>,
    /// The pin of a letter that is withheld because it answers one that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Digest>,
}

/// Returns the files of a dossier by name.
///
/// # Errors
/// [`TemplateError`] if a template of the account is faulty.
pub fn files(
    templates: &Templates,
    archive: &MatchArchive,
    letters: &[LetterRecord],
    about: &About,
) -> Result<BTreeMap<String, Vec<u8>>, TemplateError> {
    let mut files = BTreeMap::new();
    let mut put = |name: &str, contents: Vec<u8>| files.insert(name.to_owned(), contents);
    let entries = &archive.entries;
    put("entries.jsonl", lines(entries.iter().map(Entry::canonical)));
    put("entries.sha256", lines(entries.iter().map(|entry| entry.hash().to_string())));
    put("states.jsonl", lines(states(archive)));
    let record = ledger::record(entries).map(|record| record.to_string()).unwrap_or_default();
    put("record.toml", record.into_bytes());
    put("about.json", serde_json::to_vec_pretty(about).expect("it is plain values"));
    let keys = archive.game_match.earlier_keys.iter().chain([&archive.game_match.key]);
    put("key.txt", lines(keys.map(SealKey::reveal)));
    put("letters.jsonl", lines(letters.iter().map(|letter| json!(letter).to_string())));
    put("letters.mbox", mbox(archive, letters));
    for (digest, raw) in &archive.letters {
        put(&format!("letters/{digest}.eml"), raw.clone());
    }
    for (digest, withheld) in &archive.withheld {
        if let Some(part) = &withheld.part {
            put(&format!("parts/{digest}.txt"), part.clone().into_bytes());
        }
    }
    let mut records = Vec::new();
    for (number, dispatch) in (1..).zip(&archive.dispatches) {
        let to = dispatch.seat.map_or("gm", Seat::as_str);
        let file = format!("sent/{to}/{number:04}-{}.eml", dispatch.kind);
        let mut record = record_of(dispatch, file, archive.game_match.form);
        if !dispatch.withheld {
            put(&record.file, dispatch.bytes.clone());
            record.contents = contents_of(dispatch, archive.game_match.form).map(|contents| {
                let name = record.file.replace(".eml", ".json");
                put(&name, contents.into_bytes());
                name
            });
        }
        records.push(json!(record).to_string());
    }
    put("sent.jsonl", lines(records));
    put("account.html", account::html(templates, archive)?.into_bytes());
    put("CHECK.txt", CHECK.as_bytes().to_vec());
    let sums = lines(files.iter().map(|(name, contents)| format!("{}  {name}", Digest::of(contents))));
    files.insert("SHA256SUMS".to_owned(), sums);
    Ok(files)
}

/// The contents of a file with these lines.
fn lines(lines: impl IntoIterator<Item = String>) -> Vec<u8> {
    lines.into_iter().map(|line| line + "\n").collect::<String>().into_bytes()
}

/// Returns the canonical form of a letter, if that is what the ledger pins.
fn contents_of(dispatch: &ArchivedDispatch, form: LedgerForm) -> Option<String> {
    match form {
        LedgerForm::Bytes => None,
        LedgerForm::Contents => Some(pin::canonical(&dispatch.bytes, None)),
    }
}

fn record_of(dispatch: &ArchivedDispatch, file: String, form: LedgerForm) -> DispatchRecord {
    let ArchivedDispatch { message_id, recipient, kind, seat, created_at, sent_at, bytes, withheld } =
        dispatch.clone();
    let withheld = withheld.then(|| pin::pin_in(form, &bytes));
    DispatchRecord { file, contents: None, message_id, recipient, kind, seat, created_at, sent_at, withheld }
}

/// The state after each adjudication, in the form whose digest the ledger contains.
fn states(archive: &MatchArchive) -> Vec<String> {
    let mut states = Vec::new();
    ledger::replay(&archive.entries, |entry, state| {
        if matches!(entry.fact, Fact::TurnAdjudicated { .. }) {
            states.push(ledger::canonical(state));
        }
    });
    states
}

/// The letters in order of arrival, for a mail program (mboxrd: RFC 4155 with `>` before `From `).
fn mbox(archive: &MatchArchive, letters: &[LetterRecord]) -> Vec<u8> {
    let mut mbox = Vec::new();
    for letter in letters {
        let Some(raw) = archive.letters.get(&letter.letter) else { continue };
        let at = letter.received_at.format("%a %b %e %H:%M:%S %Y");
        mbox.extend(format!("From {} {at}\n", letter.seat).into_bytes());
        for line in raw.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let needs_quote =
                line.iter().position(|byte| *byte != b'>').is_some_and(|at| line[at..].starts_with(b"From "));
            mbox.extend(needs_quote.then_some(b'>'));
            mbox.extend(line);
            mbox.push(b'\n');
        }
        mbox.push(b'\n');
    }
    mbox
}

/// A dossier, read from its files.
#[derive(Clone, Debug)]
pub struct Dossier {
    pub about: About,
    pub entries: Vec<Entry>,
    pub letters: Vec<(LetterRecord, Vec<u8>)>,
    pub dispatches: Vec<(DispatchRecord, Vec<u8>)>,
}

/// Reads the files of a dossier. [`Check`](super::Check) verifies what they say.
///
/// # Errors
/// Returns a sentence that names the file if one is missing or cannot be read.
pub fn read(mut files: BTreeMap<String, Vec<u8>>) -> Result<Dossier, String> {
    let mut file = |name: &str| files.remove(name).ok_or_else(|| format!("{name} is missing"));
    let about: About =
        serde_json::from_slice(&file("about.json")?).map_err(|error| format!("about.json: {error}"))?;
    if about.fogpost != 1 {
        return Err(format!("about.json: the format is {}; this program reads format 1", about.fogpost));
    }
    let entries = read_lines("entries.jsonl", &file("entries.jsonl")?)?;
    let mut letters = Vec::new();
    for record in read_lines::<LetterRecord>("letters.jsonl", &file("letters.jsonl")?)? {
        if let Some(until) = &record.withheld_until {
            return Err(format!(
                "the letter {} is withheld until {} ends; please export the dossier again then",
                record.letter,
                until.join(" and ")
            ));
        }
        let raw = file(&format!("letters/{}.eml", record.letter))?;
        letters.push((record, raw));
    }
    let mut dispatches = Vec::new();
    for record in read_lines::<DispatchRecord>("sent.jsonl", &file("sent.jsonl")?)? {
        let bytes = file(&record.file)?;
        dispatches.push((record, bytes));
    }
    Ok(Dossier { about, entries, letters, dispatches })
}

fn read_lines<T: serde::de::DeserializeOwned>(name: &str, contents: &[u8]) -> Result<Vec<T>, String> {
    let text = std::str::from_utf8(contents).map_err(|_| format!("{name} is not text"))?;
    let read = (1..).zip(text.lines()).map(|(number, line)| {
        serde_json::from_str(line).map_err(|error| format!("{name}, line {number}: {error}"))
    });
    read.collect()
}

//! The dossier of a match: files that a third person can check without any program of ours, and that another club
//! can take in.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::account::{self, ArchivedDispatch, MatchArchive};
use crate::game::{BySeat, Seat};
use crate::ledger::{self, Entry, Fact};
use crate::letter::Digest;
use crate::referee::{DispatchKind, Match};
use crate::report::{TemplateError, Templates};

/// How a third person checks a dossier.
const CHECK: &str = include_str!("CHECK.txt");

/// What another club needs beside the ledger and the letters.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The version of this form.
    pub fogpost: u32,
    /// The club where the match was played.
    pub club: String,
    pub players: BySeat<SeatHolder>,
    /// The match as its ledger leaves it.
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

/// A letter that came, beside its bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LetterRecord {
    pub letter: Digest,
    pub received_at: DateTime<Utc>,
    pub seat: Seat,
}

/// A letter of ours, beside its bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DispatchRecord {
    pub file: String,
    pub message_id: String,
    pub recipient: String,
    pub kind: DispatchKind,
    pub seat: Option<Seat>,
    pub created_at: DateTime<Utc>,
    pub sent_at: Option<DateTime<Utc>>,
}

/// The files of a dossier by name, in the order of their names.
///
/// # Errors
/// [`TemplateError`]: a template of the account is at fault.
pub fn files(
    templates: &Templates,
    material: &MatchArchive,
    came: &[LetterRecord],
    about: &About,
) -> Result<BTreeMap<String, Vec<u8>>, TemplateError> {
    let mut files = BTreeMap::new();
    let mut put = |name: &str, contents: Vec<u8>| files.insert(name.to_owned(), contents);
    let lines =
        |lines: Vec<String>| lines.into_iter().map(|line| line + "\n").collect::<String>().into_bytes();
    let entries = &material.entries;
    put("entries.jsonl", lines(entries.iter().map(Entry::canonical).collect()));
    put("entries.sha256", lines(entries.iter().map(|entry| entry.hash().to_string()).collect()));
    put("states.jsonl", lines(states(material)));
    let record = ledger::record(entries).map(|record| record.to_string()).unwrap_or_default();
    put("record.toml", record.into_bytes());
    put("about.json", serde_json::to_vec_pretty(about).expect("it is plain values"));
    put("key.txt", (material.game_match.key.reveal() + "\n").into_bytes());
    put("letters.jsonl", lines(came.iter().map(|came| json!(came).to_string()).collect()));
    put("letters.mbox", mbox(material, came));
    for (digest, raw) in &material.letters {
        put(&format!("letters/{digest}.eml"), raw.clone());
    }
    let mut went = Vec::new();
    for (number, posted) in (1..).zip(&material.posted) {
        let to = posted.seat.map_or("gm", Seat::as_str);
        let file = format!("sent/{to}/{number:04}-{}.eml", posted.kind);
        put(&file, posted.bytes.clone());
        went.push(json!(of(posted, file)).to_string());
    }
    put("sent.jsonl", lines(went));
    put("account.html", account::html(templates, material)?.into_bytes());
    put("CHECK.txt", CHECK.as_bytes().to_vec());
    let sums = files.iter().map(|(name, contents)| format!("{}  {name}", Digest::of(contents)));
    let sums = lines(sums.collect());
    files.insert("SHA256SUMS".to_owned(), sums);
    Ok(files)
}

fn of(posted: &ArchivedDispatch, file: String) -> DispatchRecord {
    let ArchivedDispatch { message_id, recipient, kind, seat, created_at, sent_at, bytes: _ } =
        posted.clone();
    DispatchRecord { file, message_id, recipient, kind, seat, created_at, sent_at }
}

/// The state after each adjudication by the rules, as the ledger digests it.
fn states(material: &MatchArchive) -> Vec<String> {
    let mut states = Vec::new();
    ledger::replay(&material.entries, |entry, state| {
        if matches!(entry.fact, Fact::TurnAdjudicated { .. }) {
            states.push(ledger::canonical(state));
        }
    });
    states
}

/// The letters in the order in which they came, for a mail program (mboxrd: RFC 4155 with `>` before `From `).
fn mbox(material: &MatchArchive, came: &[LetterRecord]) -> Vec<u8> {
    let mut mbox = Vec::new();
    for came in came {
        let Some(raw) = material.letters.get(&came.letter) else { continue };
        let at = came.received_at.format("%a %b %e %H:%M:%S %Y");
        mbox.extend(format!("From {} {at}\n", came.seat).into_bytes());
        for line in raw.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let quoted =
                line.iter().position(|byte| *byte != b'>').is_some_and(|at| line[at..].starts_with(b"From "));
            mbox.extend(quoted.then_some(b'>'));
            mbox.extend(line);
            mbox.push(b'\n');
        }
        mbox.push(b'\n');
    }
    mbox
}

/// A dossier as another club takes it in.
#[derive(Clone, Debug)]
pub struct Dossier {
    pub about: About,
    pub entries: Vec<Entry>,
    pub letters: Vec<(LetterRecord, Vec<u8>)>,
    pub dispatches: Vec<(DispatchRecord, Vec<u8>)>,
}

/// Reads the files of a dossier. Whether they are true is for [`Check`](super::Check).
///
/// # Errors
/// The file that is missing, or cannot be read.
pub fn read(mut files: BTreeMap<String, Vec<u8>>) -> Result<Dossier, String> {
    let mut file = |name: &str| files.remove(name).ok_or_else(|| format!("{name} is missing"));
    let about: About =
        serde_json::from_slice(&file("about.json")?).map_err(|error| format!("about.json: {error}"))?;
    if about.fogpost != 1 {
        return Err(format!("it is of form {}; this program reads form 1", about.fogpost));
    }
    let entries = read_lines("entries.jsonl", &file("entries.jsonl")?)?;
    let mut came = Vec::new();
    for one in read_lines::<LetterRecord>("letters.jsonl", &file("letters.jsonl")?)? {
        let raw = file(&format!("letters/{}.eml", one.letter))?;
        came.push((one, raw));
    }
    let mut went = Vec::new();
    for one in read_lines::<DispatchRecord>("sent.jsonl", &file("sent.jsonl")?)? {
        let bytes = file(&one.file)?;
        went.push((one, bytes));
    }
    Ok(Dossier { about, entries, letters: came, dispatches: went })
}

fn read_lines<T: serde::de::DeserializeOwned>(name: &str, contents: &[u8]) -> Result<Vec<T>, String> {
    let text = std::str::from_utf8(contents).map_err(|_| format!("{name} is no text"))?;
    let read = (1..).zip(text.lines()).map(|(number, line)| {
        serde_json::from_str(line).map_err(|error| format!("{name}, line {number}: {error}"))
    });
    read.collect()
}

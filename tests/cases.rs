//! The cases: `tests/cases/<game>/<clause>-<words>.toml`, each the record of a match that shows one clause of the
//! rules page.
//!
//! A case is a record file with two things more: `what = "one sentence"` at the top, and one or more
//! `[[expect]]`, each of which speaks of one line that `fogpost replay --json` prints for the record:
//!
//! ```toml
//! [[expect]]                                 # at an adjudication, counted from 1, by JSON pointer
//! adjudication = 2
//! json = "/views/first/battles/0/enemy/damage"
//! is = 3                                     # or `null = true`, or `absent = true`
//!
//! [[expect]]                                 # a filing refused, counted from 0, all filings counted
//! refused = 4
//! lines = [2, 5]                             # exactly the lines at fault; [] if the filing as a whole is
//! says = "part of a reason"                  # may be left out
//! ```
//!
//! Every refusal is to be expected: a case in which a filing is refused that no `[[expect]]` names has failed.

use std::fs;
use std::path::{Path, PathBuf};

use fogpost::game::any::GameKind;
use fogpost::game::record::{Record, Step, adjudication_json, refusal_json};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Case {
    what: String,
    expect: Vec<Expect>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Expect {
    Adjudication(AtAdjudication),
    Refusal(AtRefusal),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AtAdjudication {
    adjudication: usize,
    json: String,
    is: Option<Value>,
    #[serde(default)]
    null: bool,
    #[serde(default)]
    absent: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AtRefusal {
    refused: usize,
    lines: Vec<usize>,
    says: Option<String>,
}

/// What a replay prints.
#[derive(Default)]
struct Account {
    adjudications: Vec<Value>,
    refusals: Vec<Value>,
}

fn account(record: &Record) -> Account {
    let mut account = Account::default();
    record.replay(|step| match step {
        Step::Adjudicated(done) => account.adjudications.push(adjudication_json(&done, None)),
        Step::Refused { index, filed, faults } => {
            account.refusals.push(refusal_json(index, filed, &faults));
        }
    });
    account
}

impl Expect {
    /// `Err` says what was found instead.
    fn holds(&self, account: &Account) -> Result<(), String> {
        match self {
            Expect::Adjudication(at) => at.holds(account),
            Expect::Refusal(at) => at.holds(account),
        }
    }

    fn names_refusal(&self, refused: &Value) -> bool {
        matches!(self, Expect::Refusal(at) if refused["refused"] == at.refused)
    }
}

impl AtAdjudication {
    fn holds(&self, account: &Account) -> Result<(), String> {
        let AtAdjudication { adjudication, json, .. } = self;
        let line = adjudication.checked_sub(1).and_then(|index| account.adjudications.get(index));
        let many = account.adjudications.len();
        let line = line.ok_or_else(|| format!("adjudication {adjudication}: there are only {many}"))?;
        let wanted = match (&self.is, self.null, self.absent) {
            (Some(value), false, false) => Some(value),
            (None, true, false) => Some(&Value::Null),
            (None, false, true) => None,
            _ => return Err("expects not exactly one of `is`, `null = true`, `absent = true`".to_owned()),
        };
        let found = line.pointer(json);
        if found == wanted {
            return Ok(());
        }
        let written = |value: Option<&Value>| value.map_or("absent".to_owned(), Value::to_string);
        let (wanted, found) = (written(wanted), written(found));
        Err(format!("adjudication {adjudication}: {json} is {found}; the case expects {wanted}"))
    }
}

impl AtRefusal {
    fn holds(&self, account: &Account) -> Result<(), String> {
        let AtRefusal { refused, lines, says } = self;
        let line = account.refusals.iter().find(|line| line["refused"] == *refused);
        let line = line.ok_or_else(|| format!("filing {refused} was not refused"))?;
        let faults = line["faults"].as_array().map_or(&[][..], Vec::as_slice);
        let at_fault: Vec<_> = faults.iter().filter_map(|fault| fault["line"].as_u64()).collect();
        if !lines.iter().map(|line| *line as u64).eq(at_fault) {
            return Err(format!("filing {refused}: not the lines {lines:?} are at fault: {line}"));
        }
        let said =
            |part: &String| faults.iter().any(|f| f["reason"].as_str().is_some_and(|r| r.contains(part)));
        match says {
            Some(part) if !said(part) => Err(format!("filing {refused}: no reason says {part:?}: {line}")),
            _ => Ok(()),
        }
    }
}

/// Everything that is wrong with the case in this file, game and form included.
fn faults(path: &Path, kind: GameKind) -> Vec<String> {
    let read = || -> Result<(Case, Record), String> {
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let case: Case = toml::from_str(&text).map_err(|error| error.to_string())?;
        let mut record: toml::Table = toml::from_str(&text).map_err(|error| error.to_string())?;
        record.remove("what");
        record.remove("expect");
        let record = Record::parse(&record.to_string()).map_err(|error| error.to_string())?;
        Ok((case, record))
    };
    let (case, record) = match read() {
        Ok(read) => read,
        Err(fault) => return vec![fault],
    };
    let mut faults = Vec::new();
    if case.what.trim().is_empty() || case.expect.is_empty() {
        faults.push("says nothing of what it shows, or expects nothing".to_owned());
    }
    if record.game != kind {
        faults.push(format!("is a match of {}", record.game));
    }
    let account = account(&record);
    faults.extend(case.expect.iter().filter_map(|expect| expect.holds(&account).err()));
    let unexpected =
        account.refusals.iter().filter(|line| !case.expect.iter().any(|expect| expect.names_refusal(line)));
    faults.extend(unexpected.map(|line| format!("unexpected: {line}")));
    faults
}

/// The case files of a game, by name.
fn files(kind: GameKind) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(kind.key());
    let entries = fs::read_dir(&folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect());
    let mut files: Vec<PathBuf> = entries.unwrap_or_default();
    files.sort();
    files
}

fn holds(kind: GameKind) {
    let files = files(kind);
    assert!(!files.is_empty(), "{kind} has no case");
    let mut failed = Vec::new();
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.extension().is_none_or(|extension| extension != "toml") {
            failed.push(format!("{kind}/{name}: is no case file"));
            continue;
        }
        failed.extend(faults(path, kind).into_iter().map(|fault| format!("{kind}/{name}: {fault}")));
    }
    assert!(failed.is_empty(), "{} of {} cases:\n{}", failed.len(), files.len(), failed.join("\n"));
}

#[test]
fn every_case_of_quadrant_z_holds() {
    holds(GameKind::QuadrantZ);
}

#[test]
fn every_case_of_pacific_holds() {
    holds(GameKind::Pacific);
}

#[test]
fn every_case_of_quantum_holds() {
    holds(GameKind::Quantum);
}

#[test]
fn every_case_of_quad_holds() {
    holds(GameKind::Quad);
}

#[test]
fn every_game_has_its_folder_of_cases_and_no_other_has_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let found = fs::read_dir(folder).expect("the folder of cases").flatten();
    let mut found: Vec<String> =
        found.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let mut games: Vec<String> = GameKind::ALL.iter().map(|kind| kind.key().to_owned()).collect();
    found.sort();
    games.sort();
    assert_eq!(found, games);
}

//! The dossier of a match: files that a third party can check, the [`account`] of the match among them. It
//! has two forms ([`DossierForm`]); [`Dossier`] reads the arbiter's.
//!
//! Blacks out the mail addresses and reply tokens that a public dossier must not show.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::account::{ArchivedDispatch, MatchArchive};
use crate::game::any::AnyState;
use crate::game::{BySeat, Seat};
use crate::ledger::{self, Entry, Fact, Head, KeptPin, SealKey};
use crate::letter::{Digest, LINK_SIGNS, Token, is_of_data};
use crate::referee::{DispatchKind, Match};
use crate::report::sent::plain_text;
use crate::report::{TemplateError, pin};

pub mod account;
mod read;

pub use self::read::Dossier;

/// Instructions for a third party on how to check a dossier by hand.
const CHECK: &str = include_str!("../CHECK.txt");

/// A program that checks a dossier.
/// The program that checks a dossier, or the book of an event.
pub const CHECK_PROGRAM: &str = include_str!("../check.py");

/// The form of a dossier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DossierForm {
    /// For everybody: without addresses, reply tokens and the bytes of letters.
    Public,
    /// For an arbiter: every byte that may be shown.
    Arbiter,
}

/// The version of the dossier's format.
pub const FORMAT: u32 = 1;

/// Facts that are in no other file (`about.json`).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Always [`FORMAT`].
    pub fogpost: u32,
    pub form: DossierForm,
    /// The club where the match was played.
    pub club: String,
    #[serde(rename = "match")]
    pub match_id: String,
    pub over: bool,
    pub players: BySeat<SeatHolder>,
    /// The opened pins of the seats' holders, in an arbiter's dossier.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<KeptPin>,
    /// The last entry of the ledger.
    pub head: Head,
    /// The digests of the letters that the last ruling sent, which no entry lists yet.
    pub last_pins: Vec<Digest>,
    /// The match after its last entry. It contains the key, so only an arbiter's dossier of a finished match
    /// has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Match>,
}

/// The holder of a seat.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeatHolder {
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub token: String,
}

/// A received letter that an entry names, without its bytes (a line of `letters.jsonl`).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LetterRecord {
    pub letter: Digest,
    pub received_at: DateTime<Utc>,
    /// The seat of the writer. `None` if the letter was not ruled on in the match, but proves something, such
    /// as an absence.
    pub seat: Option<Seat>,
    /// The matches that must be over before a dossier contains the whole letter. Until then it contains only
    /// the part about its own match, if the letter was ruled on in parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld_until: Option<Vec<String>>,
    /// Whether addresses or tokens are blacked out in the text of the letter.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blacked_out: bool,
}

/// One of our letters, without its bytes (a line of `sent.jsonl`).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DispatchRecord {
    pub file: String,
    /// The file whose SHA-256 is the letter's pin in the ledger (its canonical form), if that is not the file
    /// above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message_id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub recipient: String,
    pub kind: DispatchKind,
    pub seat: Option<Seat>,
    pub created_at: DateTime<Utc>,
    pub sent_at: Option<DateTime<Utc>>,
    /// The pin of a letter that is withheld because it answers a withheld letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Digest>,
    /// The pin of a letter whose file is only its text, with addresses and tokens blacked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blacked_out: Option<Digest>,
}

/// Returns the files of a dossier by name. For the public form, `archive` must not hold the bytes of letters.
///
/// # Errors
/// [`TemplateError`] if a template of the account is faulty.
pub fn files(
    archive: &MatchArchive,
    letters: &[LetterRecord],
    about: &About,
) -> Result<BTreeMap<String, Vec<u8>>, TemplateError> {
    let mut files = BTreeMap::new();
    let mut put = |name: &str, contents: Vec<u8>| files.insert(name.to_owned(), contents);
    let entries = &archive.entries;
    put("entries.jsonl", lines(entries.iter().map(Entry::canonical)));
    put("entries.sha256", lines(entries.iter().map(|entry| entry.hash().to_string())));
    let states = states(archive);
    put("states.jsonl", lines(states.iter().map(ledger::canonical)));
    put("positions.jsonl", lines(states.iter().map(|state| state.position().to_string())));
    let record = ledger::record(entries).map(|record| record.to_string()).unwrap_or_default();
    put("record.toml", record.into_bytes());
    put("about.json", serde_json::to_vec_pretty(about).expect("it is plain values"));
    if about.over {
        let keys = archive.game_match.earlier_keys.iter().chain([&archive.game_match.key]);
        put("key.txt", lines(keys.map(SealKey::reveal)));
        if let Some(lot) = &archive.game_match.lot {
            put("lot.txt", lines([lot.key.reveal()]));
        }
    }
    let mut account = account::html(archive)?;
    if about.form == DossierForm::Public {
        account = black_out(&account);
    }
    put("account.html", account.into_bytes());
    put("CHECK.txt", CHECK.as_bytes().to_vec());
    put("check.py", CHECK_PROGRAM.as_bytes().to_vec());
    put_letters(&mut files, archive, letters, about.form);
    put_dispatches(&mut files, archive, about.form);
    let sums = lines(files.iter().map(|(name, contents)| format!("{}  {name}", Digest::of(contents))));
    files.insert("SHA256SUMS".to_owned(), sums);
    Ok(files)
}

fn put_letters(
    files: &mut BTreeMap<String, Vec<u8>>,
    archive: &MatchArchive,
    letters: &[LetterRecord],
    form: DossierForm,
) {
    let mut records = Vec::new();
    for letter in letters {
        let mut record = letter.clone();
        let part = archive.withheld.get(&letter.letter).and_then(|withheld| withheld.part.as_ref());
        if let Some(part) = part {
            let shown = match form {
                DossierForm::Public => black_out(part),
                DossierForm::Arbiter => part.clone(),
            };
            record.blacked_out = shown != *part;
            files.insert(format!("parts/{}.txt", letter.letter), shown.into_bytes());
        }
        records.push(json!(record).to_string());
    }
    files.insert("letters.jsonl".to_owned(), lines(records));
    if form == DossierForm::Arbiter {
        files.insert("letters.mbox".to_owned(), mbox(archive, letters));
    }
    for (digest, raw) in &archive.letters {
        files.insert(format!("letters/{digest}.eml"), raw.clone());
    }
}

fn put_dispatches(files: &mut BTreeMap<String, Vec<u8>>, archive: &MatchArchive, form: DossierForm) {
    let mut records = Vec::new();
    for (number, dispatch) in (1..).zip(&archive.dispatches) {
        let to = dispatch.seat.map_or("gm", Seat::as_str);
        let name = format!("sent/{to}/{number:04}-{}", dispatch.kind);
        let (file, shown) = match form {
            DossierForm::Public => {
                (format!("{name}.txt"), black_out(&plain_text(&dispatch.bytes)).into_bytes())
            }
            DossierForm::Arbiter => (format!("{name}.eml"), dispatch.bytes.clone()),
        };
        let mut record = record_of(dispatch, file, form);
        if !dispatch.withheld {
            files.insert(record.file.clone(), shown);
            if form == DossierForm::Arbiter {
                let name = format!("{name}.json");
                files.insert(name.clone(), pin::canonical(&dispatch.bytes).into_bytes());
                record.contents = Some(name);
            }
        }
        records.push(json!(record).to_string());
    }
    files.insert("sent.jsonl".to_owned(), lines(records));
}

/// Returns the contents of a file with these lines.
fn lines(lines: impl IntoIterator<Item = String>) -> Vec<u8> {
    lines.into_iter().map(|line| line + "\n").collect::<String>().into_bytes()
}

fn record_of(dispatch: &ArchivedDispatch, file: String, form: DossierForm) -> DispatchRecord {
    let pin = pin::pin(&dispatch.bytes);
    let is_blacked_out = form == DossierForm::Public && !dispatch.withheld;
    let (message_id, recipient) = match form {
        DossierForm::Public => (String::new(), String::new()),
        DossierForm::Arbiter => (dispatch.message_id.clone(), dispatch.recipient.clone()),
    };
    DispatchRecord {
        file,
        contents: None,
        message_id,
        recipient,
        kind: dispatch.kind,
        seat: dispatch.seat,
        created_at: dispatch.created_at,
        sent_at: dispatch.sent_at,
        withheld: dispatch.withheld.then_some(pin),
        blacked_out: is_blacked_out.then_some(pin),
    }
}

/// Returns the state after each adjudication.
fn states(archive: &MatchArchive) -> Vec<AnyState> {
    let mut states = Vec::new();
    ledger::replay(&archive.entries, |entry, state| {
        if matches!(entry.fact, Fact::TurnAdjudicated { .. }) {
            states.push(state.clone());
        }
    });
    states
}

/// Returns the letters in order of arrival, for a mail program (mboxrd: RFC 4155 with `>` before `From `).
fn mbox(archive: &MatchArchive, letters: &[LetterRecord]) -> Vec<u8> {
    let mut mbox = Vec::new();
    for letter in letters {
        let Some(raw) = archive.letters.get(&letter.letter) else { continue };
        let at = letter.received_at.format("%a %b %e %H:%M:%S %Y");
        let from = letter.seat.map_or("player", Seat::as_str);
        mbox.extend(format!("From {from} {at}\n").into_bytes());
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

/// The text that replaces blacked-out text.
const BLACK: &str = "[blacked out]";

/// Replaces everything in a text that looks like a mail address or a reply token.
fn black_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_of_word) {
        let (before, word) = rest.split_at(start);
        let (word, after) = word.split_at(word.find(|c| !is_of_word(c)).unwrap_or(word.len()));
        out.push_str(before);
        push_word(word, &mut out);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Whether a character can occur within an address, or between the parts of a Message-ID.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '@' | '.' | '_' | '+' | '-' | '%' | '=' | '\'' | '~' | '!' | '/' | '?')
}

fn push_word(word: &str, out: &mut String) {
    let is_address = word.split_once('@').is_some_and(|(local, domain)| {
        !local.is_empty() && domain.starts_with(|c: char| c.is_alphanumeric())
    });
    if is_address {
        // The full stop that ends a sentence is not part of the address.
        let end = word.trim_end_matches(['.', '!', '?', '\'', '-']).len();
        out.push_str(BLACK);
        out.push_str(&word[end..]);
        return;
    }
    for piece in word.split_inclusive(|c: char| !is_of_data(c)) {
        let data = piece.trim_end_matches(|c: char| !is_of_data(c));
        if is_link_data(data) {
            out.push_str(BLACK);
            out.push_str(&piece[data.len()..]);
        } else {
            push_pieces(piece, out);
        }
    }
}

fn push_pieces(word: &str, out: &mut String) {
    for piece in word.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let letters = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        if is_token(letters) {
            out.push_str(BLACK);
            out.push_str(&piece[letters.len()..]);
        } else {
            out.push_str(piece);
        }
    }
}

/// Whether this can be a piece of a link to the board, which holds the position and the reply token. A digest is no secret.
fn is_link_data(word: &str) -> bool {
    let is_digest = word.len() == 64 && word.bytes().all(|sign| sign.is_ascii_hexdigit());
    word.len() >= LINK_SIGNS && !is_digest && word.contains(|c: char| c.is_ascii_alphanumeric())
}

/// Whether a word can be a reply token. One token in 240 has no digit, so words of 16 letters from the same
/// alphabet, such as "straightforwards", are blacked out as well.
fn is_token(word: &str) -> bool {
    Token::parse(word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_tokens_are_blacked_out_and_nothing_else() {
        for (text, expected) in [
            ("Write to ann@players.example.", "Write to [blacked out]."),
            ("<ann.o'hara+x@players.example>, bo", "<[blacked out]>, bo"),
            ("Reply token: v8xbmqnsc1pba95x", "Reply token: [blacked out]"),
            ("mailto:referee+V8XBMQNSC1PBA95X@club.example?subject=x", "mailto:[blacked out]"),
            ("v8xbmqnsc1pba95x.qd-1", "[blacked out].qd-1"),
            (
                "SHIP 4 B2 TO B4, A3-B1 @media @ B2 a@ e.g. 12:30",
                "SHIP 4 B2 TO B4, A3-B1 @media @ B2 a@ e.g. 12:30",
            ),
            (
                "https://club.example/play/#RY5BCsIwEEXv8tdZtLZqm5X_gtdwMwRjE5hJmUm-0LtLC is cut\n> RY5BCsIwEEXv8tdZtLZqm5X_gtdwMwRjE5hJmUmL",
                "https://club.example/play/#[blacked out] is cut\n> [blacked out]",
            ),
            (
                "| 5f1c00000000000000000000000000000000000000000000000000000000abcd",
                "| 5f1c00000000000000000000000000000000000000000000000000000000abcd",
            ),
            (
                "é5f1c00000000000000000000000000000000000000000000000000000000abcd",
                "é5f1c00000000000000000000000000000000000000000000000000000000abcd",
            ),
        ] {
            assert_eq!(black_out(text), expected);
        }
    }
}

//! Reads a corpus of letters, written by people's mail programs and by machines.
//!
//! `NAME.toml` beside each `tests/letters/**/NAME.eml` states what the letter contains. A person's letter is read
//! twice: with the letter of the referee that it answers, and without.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use fogpost::dialect::DIALECT;
use fogpost::game::any::GameKind;
use fogpost::letter::AutomaticKind;
use fogpost::letter::{Address, Letter, Limits, OwnIdentity, UnreadableContent, UnreadableLetter};
use fogpost::request::{Request, Writer, lines_of};
use proptest::prelude::*;
use serde::Deserialize;

#[path = "letters/beside.rs"]
mod beside;
#[path = "letters/doubt.rs"]
mod doubt;
#[path = "letters/languages.rs"]
mod languages;
#[path = "letters/meant.rs"]
mod meant;
#[path = "letters/memory.rs"]
mod memory;
#[path = "letters/request.rs"]
mod request;
#[path = "support/doubt.rs"]
mod support_doubt;
#[path = "support/worst_letters.rs"]
mod worst_letters;

/// What a letter contains. A person wrote it if neither `automatic` nor `unreadable` is set.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expected {
    /// What is special about the letter, in a few words.
    what: String,
    from: Option<String>,
    /// The file of the referee's letter that it answers.
    answers: Option<String>,
    orders: Vec<String>,
    /// The other new lines.
    remarks: Vec<String>,
    /// Lines that hold an order without being one.
    doubts: Vec<String>,
    /// Requests in the quote of the referee's letter that it does not hold.
    in_quote: Vec<String>,
    /// The result without the referee's letter, if it differs.
    unseen: Option<Unseen>,
    commands: usize,
    faults: usize,
    token: Option<String>,
    /// `failed`, `delayed`, `absence` or `other`.
    automatic: Option<String>,
    /// Message-IDs of the referee's letters that a machine's letter is about.
    about: Vec<String>,
    /// The reason why it cannot be read.
    unreadable: Option<String>,
    /// What the letter contains instead of text.
    instead: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Unseen {
    orders: Vec<String>,
    remarks: Vec<String>,
    doubts: Vec<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/letters")
}

/// All letters of the corpus, by path.
fn corpus() -> BTreeMap<PathBuf, Vec<u8>> {
    let mut letters = BTreeMap::new();
    let mut folders = vec![folder()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the corpus") {
            let path = entry.expect("an entry of the corpus").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "eml") {
                let raw = fs::read(&path).expect("a letter of the corpus");
                letters.insert(path, raw);
            }
        }
    }
    letters
}

fn own() -> OwnIdentity {
    OwnIdentity {
        address: Address::parse("referee@club.example").unwrap(),
        message_id_domain: "fogpost.club.example".into(),
        return_path: None,
        dialect: &DIALECT,
    }
}

fn read(raw: &[u8]) -> Result<Letter, Box<UnreadableLetter>> {
    Letter::read(raw, &own(), &Limits::default())
}

/// Describes how a letter differs from what was expected.
fn differences(raw: &[u8], expected: &Expected) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut same = |what: &str, found: String, wanted: String| {
        if found != wanted {
            wrong.push(format!("{what}: found {found}, wanted {wanted}"));
        }
    };
    let letter = match read(raw) {
        Ok(letter) => letter,
        Err(unreadable) => {
            let automatic = unreadable.automatic.as_ref();
            same(
                "unreadable",
                format!("{:?}", Some(format!("{:?}", unreadable.reason))),
                format!("{:?}", expected.unreadable),
            );
            same(
                "automatic",
                format!("{:?}", automatic.map(|a| kind(a.kind))),
                format!("{:?}", expected.automatic.as_deref()),
            );
            same(
                "about",
                format!("{:?}", automatic.map_or(&[][..], |a| &a.about[..])),
                format!("{:?}", expected.about),
            );
            return wrong;
        }
    };
    same("unreadable", "None".into(), format!("{:?}", expected.unreadable));
    same(
        "automatic",
        format!("{:?}", letter.automatic.as_ref().map(|a| kind(a.kind))),
        format!("{:?}", expected.automatic.as_deref()),
    );
    let about = letter.automatic.as_ref().map_or(&[][..], |a| &a.about[..]);
    if letter.automatic.is_some() {
        same("about", format!("{about:?}"), format!("{:?}", expected.about));
        return wrong;
    }
    if let Some(from) = &expected.from {
        same("from", letter.from.to_string(), from.clone());
    }
    same(
        "token",
        format!("{:?}", letter.tokens.first().map(|t| t.as_str())),
        format!("{:?}", expected.token.as_deref()),
    );
    wrong.extend(text_differences(&letter, expected));
    wrong
}

/// Describes how a letter's new text and request differ from what was expected, with and without the letter that it
/// answers.
fn text_differences(letter: &Letter, expected: &Expected) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut same = |what: &str, found: String, wanted: String| {
        if found != wanted {
            wrong.push(format!("{what}: found {found}, wanted {wanted}"));
        }
    };
    let answered =
        expected.answers.as_ref().map(|name| fs::read_to_string(folder().join("ours").join(name)).unwrap());
    for (how, answered) in [("seen", answered.as_deref()), ("unseen", None)] {
        let (orders, remarks, doubts) = match &expected.unseen {
            Some(unseen) if answered.is_none() => (&unseen.orders, &unseen.remarks, &unseen.doubts),
            _ => (&expected.orders, &expected.remarks, &expected.doubts),
        };
        let written = letter.new_text(answered);
        if answered.is_some() {
            same("in the quote", format!("{:?}", written.in_quote), format!("{:?}", expected.in_quote));
        }
        let (introduction, instead) = (written.introduction, written.unreadable);
        let lines = lines_of(written);
        let mut request = Request::read(&lines, GameKind::QuadrantZ);
        if let (Some(no), Some(last)) = (introduction, lines.last()) {
            request.doubt_age(no + 1..=last.no);
        }
        let texts = |lines: &[fogpost::game::Line]| {
            format!("{:?}", lines.iter().map(|l| &l.text).collect::<Vec<_>>())
        };
        same(&format!("orders {how}"), texts(&request.orders), format!("{orders:?}"));
        same(&format!("remarks {how}"), texts(&request.remarks), format!("{remarks:?}"));
        let doubtful = request.doubts.iter().filter_map(|doubt| request.written(doubt.line));
        same(&format!("doubts {how}"), format!("{:?}", doubtful.collect::<Vec<_>>()), format!("{doubts:?}"));
        same(&format!("commands {how}"), request.commands.len().to_string(), expected.commands.to_string());
        same(&format!("faults {how}"), request.faults.len().to_string(), expected.faults.to_string());
        same(
            &format!("instead {how}"),
            format!("{:?}", instead.map(name)),
            format!("{:?}", expected.instead.as_deref()),
        );
    }
    wrong
}

fn kind(kind: AutomaticKind) -> &'static str {
    match kind {
        AutomaticKind::Failed => "failed",
        AutomaticKind::Delayed => "delayed",
        AutomaticKind::Absence => "absence",
        AutomaticKind::Other => "other",
    }
}

fn name(what: UnreadableContent) -> &'static str {
    match what {
        UnreadableContent::Encrypted => "encrypted",
        UnreadableContent::OpaqueSigned => "opaque-signed",
        UnreadableContent::Winmail => "winmail",
        UnreadableContent::OfficeDocument => "office",
        UnreadableContent::Pdf => "pdf",
        UnreadableContent::Picture => "picture",
        UnreadableContent::Forwarded => "forwarded",
        UnreadableContent::OtherFile => "file",
    }
}

#[test]
fn every_letter_of_the_corpus_is_read_as_expected() {
    let (mut wrong, mut letters, mut with_orders) = (String::new(), 0, 0);
    for (path, raw) in corpus() {
        let beside = path.with_extension("toml");
        let text = fs::read_to_string(&beside).unwrap_or_else(|e| panic!("{}: {e}", beside.display()));
        let expected: Expected =
            toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", beside.display()));
        assert!(!expected.what.is_empty(), "{}: `what` is empty", beside.display());
        letters += 1;
        with_orders += usize::from(!expected.orders.is_empty());
        for difference in differences(&raw, &expected) {
            wrong.push_str(&format!("{}: {difference}\n", path.strip_prefix(folder()).unwrap().display()));
        }
    }
    println!("corpus: {letters} letters, {with_orders} with orders; misread: {}", wrong.lines().count());
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits =
            three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        encoded.extend([18, 12, 6, 0].map(|at| char::from(DIGITS[(bits >> at & 63) as usize])));
    }
    encoded
}

/// Changes a letter in some places, as damage in transit might.
fn damaged(raw: &[u8], changes: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut raw = raw.to_vec();
    for (at, how, byte) in changes {
        let at = at % raw.len().max(1);
        match how % 5 {
            0 => raw.insert(at, *byte),
            1 if !raw.is_empty() => drop(raw.remove(at)),
            2 if !raw.is_empty() => raw[at] = *byte,
            3 => raw.truncate(at.max(1)),
            _ => {
                let end = raw.len().min(at + 200);
                let piece = raw[at..end].to_vec();
                raw.splice(at..at, piece);
            }
        }
    }
    raw
}

fn read_all_of(raw: &[u8]) {
    if let Ok(letter) = read(raw) {
        for answered in [None, Some("## write your orders above this line ##\n\nTurn 4\n")] {
            let lines = lines_of(letter.new_text(answered));
            // Restoring line breaks must not multiply the lines.
            assert!(lines.len() <= Limits::default().max_lines);
            let _ = Request::read(&lines, GameKind::QuadrantZ).beside(Writer::STRANGER);
        }
        assert!(letter.in_reply_to.len() + letter.references.len() <= 200);
        let _ = letter.reported_dkim("mx.club.example");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_any_bytes_never_panics(raw: Vec<u8>) {
        read_all_of(&raw);
    }

    #[test]
    fn reading_a_damaged_letter_never_panics(
        which: prop::sample::Index,
        changes in prop::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 1..12),
    ) {
        let letters: Vec<_> = corpus().into_values().collect();
        let raw: &Vec<u8> = which.get(letters.as_slice());
        read_all_of(&damaged(raw, &changes));
    }
}

/// The CPU time of this thread if the system reports it, else the elapsed time. CPU time makes the test independent of
/// other processes.
fn cpu_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat");
    let nanos = schedstat.ok().and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

fn few(piece: &str) -> String {
    piece.repeat(6_000)
}

fn many(piece: &str) -> String {
    piece.repeat(500_000 / piece.len())
}

fn numbered(before: &str, after: &str) -> String {
    (0..9_000).map(|n| format!("{before}line {n} of nine thousand{after}\r\n")).collect()
}

#[test]
fn hostile_letters_are_read_in_bounded_time() {
    let head = b"From: ann@example.org\r\nTo: referee@club.example\r\nSubject: x\r\n";
    let letter = |rest: Vec<u8>| [head.as_slice(), &rest].concat();
    let plain =
        |body: String| letter([b"Content-Type: text/plain\r\n\r\n".as_slice(), body.as_bytes()].concat());
    let html =
        |body: String| letter([b"Content-Type: text/html\r\n\r\n".as_slice(), body.as_bytes()].concat());
    let both = |plain: String, html: String| {
        let part = |kind: &str, text: &str| format!("--x\r\nContent-Type: text/{kind}\r\n\r\n{text}\r\n");
        let parts = part("plain", &plain) + &part("html", &html);
        letter(
            format!("Content-Type: multipart/alternative; boundary=x\r\n\r\n{parts}--x--\r\n").into_bytes(),
        )
    };
    let encoded = "Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n";
    let digest = "Content-Type: multipart/digest; boundary=a\r\n\r\n";
    let hostile = [
        plain(many("a")),
        plain(many(">")),
        plain(few("> a\r\nb c d e f g h i j k l m n o p\r\n")),
        plain(few("On 20.11.2026 at 11:00 a@b wrote\r\n")),
        plain(few("From: x\r\nTo: y\r\n")),
        plain(few("Turn 4 is due\r\n")),
        plain(many("Reply token: ")),
        plain(few("--\r\n")),
        plain(few("_____________________\r\n")),
        plain(many("А")),
        // A word that takes something back is searched behind each of the courtesies.
        plain(format!("{}snow\r\n\r\n", "thanks ".repeat(390)).repeat(140)),
        plain(format!("{}雪\r\n\r\n", "ありがとう ".repeat(390)).repeat(60)),
        plain(format!("I say that it would\r\n{}be so", few("hold\r\n"))),
        plain(format!("{}RESIGN CONFIRM\r\n", few("I do not want to\r\nEXTEND 3 days\r\n\r\n"))),
        html(many("<div>")),
        html(many("<")),
        html(many("<a b=\"")),
        html(many("&amp")),
        html(many("</p><style>")),
        html(many("<!--")),
        html(few("<p>a b c</p>\n")),
        both(numbered("", ""), numbered("<p>", "</p>")),
        both("a".repeat(40) + &"\r\na".repeat(9_000), numbered("<p>a", "</p>")),
        letter(many("Received: x\r\n").into_bytes()),
        letter(many("Content-Type: message/rfc822\r\n\r\n").into_bytes()),
        letter(many("Content-Type : message/rfc822\r\n\r\n").into_bytes()),
        letter([encoded, &base64(&few("Content-Type: message/rfc822\n\n"))].concat().into_bytes()),
        letter(
            [digest, &"--a\nContent-Type: multipart/digest; boundary=a\n\n".repeat(300)]
                .concat()
                .into_bytes(),
        ),
        letter(
            [
                digest,
                "--a\nContent-Transfer-Encoding: base64\n\n",
                &base64(&few("Content-Type: message/rfc822\n\n")),
            ]
            .concat()
            .into_bytes(),
        ),
        letter(many("Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n").into_bytes()),
        letter([b"References: ".to_vec(), many("<a@b> ").into_bytes(), b"\r\n\r\n".to_vec()].concat()),
        letter(
            [
                b"Authentication-Results: mx.club.example".to_vec(),
                "; dkim=fail".repeat(15_000).into_bytes(),
                b"\r\n\r\nx".to_vec(),
            ]
            .concat(),
        ),
    ];
    assert_bounded(&hostile);
}

#[test]
fn repetitive_letters_are_read_in_bounded_time() {
    let head = "From: ann@example.org\r\nTo: referee@club.example\r\n";
    let said = "2026 began and nobody said a word, nor did any of the others who had come:\r\n";
    let ids = (0..9_000).map(|n| format!("<{n}@b> ")).collect::<String>();
    let part = |kind: &str, line: &str, times| {
        format!("--x\r\nContent-Type: text/{kind}\r\n\r\n{}", format!("{line}\r\n").repeat(times))
    };
    let parts = part("plain", &"a".repeat(1_990), 400) + &part("html", "<p>a</p>", 9_000);
    let letters = [
        format!("{head}\r\n{}", said.repeat(6_000)),
        format!("{head}Subject: {}\r\n\r\nx", "[".repeat(190_000)),
        format!("{head}In-Reply-To: {ids}\r\nReferences: {ids}\r\n\r\nx"),
        format!("{head}Content-Type: multipart/alternative; boundary=x\r\n\r\n{parts}--x--\r\n"),
    ];
    assert_bounded(&letters.map(String::into_bytes));
}

fn assert_bounded(letters: &[Vec<u8>]) {
    for (which, raw) in letters.iter().enumerate() {
        let start = cpu_time();
        read_all_of(raw);
        // Generous, because tests are built without optimization; quadratic work would take minutes.
        let took = cpu_time() - start;
        assert!(took.as_secs() < 20, "letter {which} took {took:?}");
    }
}

//! Letters that a stranger could write to keep the referee busy, each with the processor time that it takes: read,
//! ruled on as a seat's letter, and answered. The largest also with the memory.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Seat};
use fogpost::ledger::{Cause, LetterCause, SealKey};
use fogpost::letter::{Letter, Limits};
use fogpost::referee::{self, HouseDefaults, Match, Matter, Opening};
use fogpost::report::envelope::{AnsweredLetter, Envelope, Stationery};
use fogpost::report::{self, PictureCache, Templates, WordingInput};
use fogpost::request::lines_of;

use super::own;
use super::worst_letters::SHAPES;

/// Maximum lines of a letter, so that a case is as long as it can be.
const LINES: usize = 9_900;

const TOKEN: &str = "0123456789abcdef";

struct Case {
    name: &'static str,
    raw: Vec<u8>,
}

/// Prints the processor time of each case whose name contains `part`.
pub fn print(part: &str) {
    let club = Club::new();
    println!("{:<44} {:>9} {:>9} {:>10}", "worst letters", "kB", "CPU ms", "answers kB");
    for case in cases().into_iter().filter(|case| case.name.contains(part)) {
        let mut answers = 0;
        let least = (0..3).map(|_| {
            let began = cpu_nanoseconds();
            answers = club.settle(&case.raw);
            cpu_nanoseconds() - began
        });
        let least = least.min().unwrap_or_default() as f64 / 1e6;
        println!("{:<44} {:>9} {least:>9.1} {:>10}", case.name, case.raw.len() / 1000, answers / 1000);
    }
    for (name, line) in [
        ("a GM's instructions", "GM LIST late\n"),
        ("a GM's texts without an end", "GM ANNOUNCE quad\n"),
        ("a GM's orders without an end", "GM MATCH QZ-7K3M ACT first\n"),
    ]
    .into_iter()
    .filter(|(name, _)| name.contains(part))
    {
        let raw = lines(line.trim_end());
        let least = (0..3).map(|_| {
            let began = cpu_nanoseconds();
            let letter = Letter::read(&raw, &own(), &Limits::default()).expect("it is within the limits");
            assert!(!referee::instructions(&lines_of(letter.new_text(None))).0.is_empty());
            cpu_nanoseconds() - began
        });
        let least = least.min().unwrap_or_default() as f64 / 1e6;
        println!("{name:<44} {:>9} {least:>9.1} {:>10}", raw.len() / 1000, "-");
    }
    println!("{:<44} {:>9} {:>9} {:>10}", "largest letters", "kB", "CPU ms", "memory MB");
    for (name, build) in SHAPES.iter().filter(|(name, _)| name.contains(part)) {
        let raw = build();
        // Resets the peak of the memory that this process occupies.
        fs::write("/proc/self/clear_refs", "5").expect("Linux offers it");
        let began = cpu_nanoseconds();
        club.settle(&raw);
        let spent = (cpu_nanoseconds() - began) as f64 / 1e6;
        println!("{name:<44} {:>9} {spent:>9.1} {:>10}", raw.len() / 1000, peak_memory_mb());
    }
}

/// The most memory that this process has occupied since the peak was reset.
fn peak_memory_mb() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux counts it");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    peak.and_then(|kb| kb.parse::<usize>().ok()).expect("a number") / 1000
}

/// The time that this thread has spent on a processor.
fn cpu_nanoseconds() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts it");
    stat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("the first field")
}

struct Club {
    game_match: Match,
    templates: Templates,
    stationery: Stationery,
}

impl Club {
    fn new() -> Club {
        let own = own();
        let (players, key) = (BySeat::new("Ann", "Bo"), SealKey::new([7; 32]));
        let opening = Opening::new("QZ-7K3M", GameKind::QuadrantZ, players, own.address.as_str(), key);
        Club {
            game_match: referee::open(opening, Cause::opening(None), at()).after,
            templates: Templates::new(&Default::default()).expect("our templates parse"),
            stationery: Stationery {
                club_name: "The Fog Club".to_owned(),
                address: own.address,
                plus_addresses: false,
                board_page: None,
                message_id_domain: own.message_id_domain,
                house: HouseDefaults::UNSET,
            },
        }
    }

    /// Reads, rules and answers, and returns the bytes of the answers.
    fn settle(&self, raw: &[u8]) -> usize {
        let Ok(letter) = Letter::read(raw, &own(), &Limits::default()) else { return 0 };
        let cause = LetterCause::new(letter.digest, Seat::First, at());
        let read = referee::prepare(&self.game_match, cause, &letter, letter.new_text(None));
        let read = read.expect("the whole letter");
        let ruling = referee::rule(&self.game_match, &Matter::Letter(&read), at());
        let (game_match, pictures) = (Arc::new(ruling.after), PictureCache::default());
        let (club, answered) = (self.stationery.club(), AnsweredLetter::new(&letter));
        let mut bytes = 0;
        for dispatch in &ruling.dispatches {
            let input = WordingInput {
                club: &club,
                game_match: &game_match,
                dispatch,
                token: TOKEN,
                notes: &[],
                gm_plays: false,
                at: at(),
            };
            let worded = report::word(&self.templates, &input, &pictures).expect("it is worded");
            let envelope = Envelope {
                token: TOKEN,
                to_name: "Ann",
                to: "ann@players.example",
                message_id: "1@fogpost.club.example",
                match_id: Some("QZ-7K3M"),
                keeps_subject: false,
                date: at(),
            };
            bytes +=
                self.stationery.mail(worded, &envelope, Some(&answered)).expect("it is assembled").0.len();
        }
        bytes
    }
}

fn at() -> DateTime<Utc> {
    "2026-05-14T09:12:00Z".parse().expect("an instant")
}

const HEADER: &str = "From: Ann <ann@players.example>\nTo: referee@club.example\n\
                      Subject: Re: [QZ-7K3M] Setup\nMessage-ID: <1@players.example>\n";

fn letter(header: &str, body: &str) -> Vec<u8> {
    format!("{HEADER}{header}\n{body}").replace('\n', "\r\n").into_bytes()
}

fn lines(line: &str) -> Vec<u8> {
    letter("", &format!("{line}\n").repeat(LINES))
}

fn html(body: &str) -> Vec<u8> {
    letter("Content-Type: text/html; charset=utf-8\n", body)
}

fn cases() -> Vec<Case> {
    let case = |name, raw| Case { name, raw };
    let mut cases = vec![
        case("a reply of one order", letter("", "SHIP 1 HOLD\n")),
        case("orders", lines("SHIP 1 G1 TO L1")),
        case(
            "orders between semicolons",
            letter("", &format!("{}\n", "SHIP 1 HOLD; ".repeat(75)).repeat(950)),
        ),
        case("faulty orders", lines("SHIP 99 A1 TO Z99 AND BACK 12 TIMES")),
        case("one page of the rules, again and again", lines("RULES quadrant-z")),
        case("every question", letter("", &every_question())),
        case("faulty commands", lines("EXTEND soon")),
        case("tell me", lines("tell me more about this")),
        case("TELL and END", letter("", &"TELL hello\nEND\n".repeat(LINES / 2))),
        case("remarks", lines("These are fifty characters of nothing in particular")),
        case("MATCH lines", lines("MATCH QD-7K3M")),
        case("quotes", lines("> These are fifty characters of nothing in particular")),
        case("nested quotes", lines(&format!("{} deep", ">".repeat(45)))),
        case("attributions", lines("On Mon, 1 Jan 2024 at 10:00, Ann <ann@players.example> wrote:")),
        case("signatures", lines("-- ")),
        case("markers", lines("## write your orders above this line ##")),
        case("look-alike letters", lines("ЅНІР 1 ТО В2 and some more of the same words")),
        case("one line", letter("", &"word ".repeat(195_000))),
        case(
            "flowed lines",
            letter("Content-Type: text/plain; format=flowed\n", &"word word word word \n".repeat(45_000)),
        ),
        case("reply tokens", letter("", &many(|n| format!("Reply token: {n:016x}\n"), LINES))),
        case("one blank after another", letter("", &" ".repeat(990_000))),
        case("doubtful lines", lines("and SHIP 3 B2 TO B1")),
        case("200 orders, then doubtful lines", {
            let orders = many(|n| format!("SHIP {n} G1 TO L1\n"), 200);
            letter("", &format!("{orders}{}", "SHPI 4 2/1 G4\n".repeat(LINES - 200)))
        }),
        case("quotes of quotes", {
            let depths = |n| format!("{} On Mon, Ann <ann@players.example> wrote:\n", ">".repeat(n % 40));
            letter("", &many(depths, LINES))
        }),
        case("digits and hyphens", lines("1. 2) (3) - * a) 4: 5. 6. 7. 8. 9. 10. 11. 12.")),
    ];
    cases.extend(words_cases());
    cases.extend(html_cases());
    cases.extend(header_cases());
    cases.extend(structure_cases());
    cases.extend(encoded_cases());
    cases.extend(large_cases());
    cases
}

/// Words in which players ask for something.
fn words_cases() -> Vec<Case> {
    let case = |name, raw| Case { name, raw };
    let wish = "please give me two more days, i am on holiday until friday ";
    vec![
        case("words: dates", lines("I am away from 3 December 2026 until Friday 11 Dec")),
        case("words: dates in numbers", lines("bis 24.12.2026 oder 2026-12-24 oder 12/24/2026")),
        case("words: wishes", lines(wish.trim_end())),
        case("words: wishes on one line", letter("", &wish.repeat(900_000 / wish.len()))),
        case(
            "words: a long TELL",
            letter("", &format!("TELL {}\n", "hello again and again\n".repeat(9_800))),
        ),
        case(
            "words: a long TELL on one line",
            letter("", &format!("TELL {}\n", "hello again ".repeat(75_000))),
        ),
        case(
            "words: prose that begins like orders",
            lines("Ship happens, and a lot of other sad things with it"),
        ),
        case("words: prose with squares", lines("SHIP B2 summit was awful, so we sat in traffic for hours")),
        case("words: Good luck, line by line", lines("Good luck!")),
        case("words: changes below an order", {
            letter(
                "",
                &format!("SHIP 1 TO B2\n{}", "rather the first one to B3, not that\n".repeat(LINES - 1)),
            )
        }),
        case("words: HTML blanks", html(&"&nbsp;".repeat(160_000))),
        case(
            "words: attributions glued to words",
            lines("see you thenOn Mon, 1 Jan 2024 at 10:00, Ann <ann@players.example> wrote:"),
        ),
    ]
}

fn many(line: impl Fn(usize) -> String, count: usize) -> String {
    (0..count).map(line).collect()
}

fn every_question() -> String {
    let mut asked = String::from("STATUS\nHISTORY\nREPORT\nMATCHES\nGAMES\nHELP\nRULES\n");
    for kind in GameKind::ALL {
        writeln!(asked, "RULES {}", kind.key()).expect("a string");
    }
    for topic in ["orders", "commands", "time", "challenge", "gm"] {
        writeln!(asked, "HELP {topic}").expect("a string");
    }
    asked
}

fn html_cases() -> Vec<Case> {
    let case = |name, raw| Case { name, raw };
    let paragraphs = many(|n| format!("<p>SHIP {n} to B2 and some words</p>\n"), 9000);
    let plain = many(|n| format!("SHIP {n} to B2 and some words\n"), 9000);
    let run = plain.replace('\n', " ");
    let both = |plain: &str| {
        let body = format!(
            "--b\nContent-Type: text/plain\n\n{plain}\n--b\nContent-Type: text/html\n\n{paragraphs}\n--b--\n"
        );
        letter("Content-Type: multipart/alternative; boundary=b\n", &body)
    };
    vec![
        case("HTML: nested divisions", html(&"<div>".repeat(200_000))),
        case("HTML: nested quotes", html(&"<blockquote>a".repeat(75_000))),
        case("HTML: tables", html(&"<table><tr><td>a".repeat(60_000))),
        case("HTML: entities", html(&"&amp;&#1234;".repeat(80_000))),
        case("HTML: attributes", html(&format!("<p {}>a", "a=b ".repeat(240_000)))),
        case("HTML: unclosed tags", html(&"<p".repeat(480_000))),
        case("HTML: paragraphs", html(&paragraphs)),
        case("text and HTML", both(&plain)),
        case("text that lost its line breaks, and HTML", both(&run)),
        case("text that wrapped, and HTML", both(&plain.replace(" and ", " and\n"))),
    ]
}

fn header_cases() -> Vec<Case> {
    let case = |name, raw| Case { name, raw };
    let ids = many(|n| format!("\n <{n:08}@elsewhere.example>"), 5000);
    vec![
        case("header: References", letter(&format!("References:{ids}\n"), "STATUS\n")),
        case("header: many fields", letter(&many(|n| format!("X-{n}: y\n"), 17_000), "STATUS\n")),
        case(
            "header: Received",
            letter(&"Received: from a by b; Mon, 1 Jan 2024\n".repeat(4900), "STATUS\n"),
        ),
        case(
            "header: recipients",
            letter(&format!("Cc: {}\n", "a@b.example,\n ".repeat(13_000)), "STATUS\n"),
        ),
        case(
            "header: encoded words",
            letter(&format!("X: {}\n", "=?utf-8?q?a?=\n ".repeat(12_000)), "STATUS\n"),
        ),
        case("header: beyond its limit", {
            let junk = many(|n| format!("X-{n}: y\n"), 700_000);
            format!("{junk}{HEADER}\nSTATUS\n").into_bytes()
        }),
        case("header: senders beyond its limit", {
            let senders = "From: ann@players.example\n".repeat(350_000);
            format!("{}{senders}\nSTATUS\n", "X: y\n".repeat(50_000)).into_bytes()
        }),
        case("a hundred parts", parts(100, 9_000)),
        case("nested parts", nested(20)),
        case("attached letters", letter("", &"Content-Type: message/rfc822\n\n".repeat(390))),
    ]
}

/// Structures that the parser would multiply.
fn structure_cases() -> Vec<Case> {
    let case = |name, raw| Case { name, raw };
    let mixed = "Content-Type: multipart/mixed; boundary=b\n";
    let endless = many(|n| format!("--b\nContent-Type: multipart/mixed; boundary=c{n}\n\nx\n"), 80);
    let parameters = many(|n| format!("; a{n}*1=b"), 10_000);
    vec![
        case("structure: parts without a type", letter(mixed, &"--b\n\nx\n".repeat(120_000))),
        case(
            "structure: small parts in base64",
            letter(mixed, &"--b\nContent-Transfer-Encoding: base64\n\nQQ==\n".repeat(20_000)),
        ),
        case("structure: fields of a part", letter(mixed, &format!("--b\n{}", "X: y\n".repeat(150_000)))),
        case(
            "structure: multiparts without an end",
            letter(mixed, &format!("{endless}{}", "word ".repeat(190_000))),
        ),
        case("structure: blanks in names", letter("", &"C ontent-Type: message/rfc822\n\n".repeat(30_000))),
        case("structure: letters in base64", {
            let head = "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n";
            letter(head, &format!("{}\n", "Q29udGVudC1UeXBlOiBtZXNzYWdlL3JmYzgyMgoK\n".repeat(24_000)))
        }),
        case("structure: parameters", letter(&format!("Content-Type: text/plain{parameters}\n"), "STATUS\n")),
        case("structure: short parameters", {
            let some = many(|n| format!("; a{n}*1=b"), 900);
            letter(mixed, &format!("--b\nContent-Type: text/plain{some}\n\nSTATUS\n").repeat(15))
        }),
    ]
}

/// Texts in a transfer encoding.
fn encoded_cases() -> Vec<Case> {
    let case = |name, raw| Case { name, raw };
    let encoded = |name: &str, body: &str| {
        letter(&format!("Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: {name}\n"), body)
    };
    vec![
        case("base64: blank lines", encoded("base64", &format!("{}\n", "CgoK".repeat(19)).repeat(12_000))),
        case("base64: orders", encoded("base64", &"U0hJUCAxIEhPTEQK\n".repeat(LINES))),
        case("quoted-printable: blank lines", encoded("quoted-printable", &"=0A".repeat(330_000))),
        case("quoted-printable: soft line breaks", encoded("quoted-printable", &"=\n".repeat(330_000))),
        case("quoted-printable: equals signs", encoded("quoted-printable", &"= ".repeat(490_000))),
    ]
}

fn parts(count: usize, bytes: usize) -> Vec<u8> {
    let part = format!("--b\nContent-Type: text/plain\n\n{}\n", "word\n".repeat(bytes / 50 / 5));
    letter("Content-Type: multipart/mixed; boundary=b\n", &format!("{}--b--\n", part.repeat(count - 2)))
}

fn nested(depth: usize) -> Vec<u8> {
    let open = many(|n| format!("--b{n}\nContent-Type: multipart/mixed; boundary=b{}\n\n", n + 1), depth - 2);
    let body = format!("{open}{}", "word\n".repeat(LINES / 2));
    letter("Content-Type: multipart/mixed; boundary=b0\n", &body)
}

/// Letters of nearly 10 MB.
fn large_cases() -> Vec<Case> {
    let case = |name, raw| Case { name, raw };
    let base64 = format!("{}\n", "QUJD".repeat(19)).repeat(125_000);
    let with_file = |kind: &str, encoding: &str, file: &str| {
        let body = format!(
            "--b\nContent-Type: text/plain\n\nSTATUS\n--b\nContent-Type: {kind}\nContent-Transfer-Encoding: {encoding}\n\
             Content-Disposition: attachment; filename=message.bin\n\n{file}\n--b--\n"
        );
        letter("Content-Type: multipart/mixed; boundary=b\n", &body)
    };
    vec![
        case("9.7 MB: a photo", with_file("image/jpeg", "base64", &base64)),
        case("9.7 MB: a text file", with_file("text/plain", "base64", &base64)),
        case(
            "9.7 MB: a file of the word message",
            with_file("image/jpeg", "8bit", &"message\n".repeat(1_200_000)),
        ),
        case("9.7 MB: a file of m", with_file("image/jpeg", "8bit", &"mmmmmmm\n".repeat(1_200_000))),
        case("9.7 MB: a file of blank lines", with_file("image/jpeg", "base64", &"\n".repeat(4_800_000))),
        case("9.7 MB: text in long lines", letter("", &format!("{}\n", "word ".repeat(97)).repeat(LINES))),
        case("9.7 MB: one line", letter("", &"word ".repeat(1_940_000))),
        case("9.7 MB: too many lines", letter("", &"a\n".repeat(3_200_000))),
        case("9.7 MB: HTML", html(&format!("<p>{}</p>\n", "word ".repeat(95)).repeat(LINES))),
        case("9.7 MB: HTML of tags", html(&"<b>a</b>".repeat(1_200_000))),
    ]
}

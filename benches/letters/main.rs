//! Reading letters, from the raw bytes to the request, on one core; and the letters that cost most, from the raw bytes
//! to the bytes of the answers.
//!
//! `cargo bench --bench letters -- worst [PART]` prints only the latter, of those whose names contain PART. Their unit is processor time, so that other programs
//! do not disturb it.

mod worst;
#[path = "../../tests/support/worst_letters.rs"]
mod worst_letters;

use std::fs;
use std::path::Path;

use divan::Bencher;
use divan::counter::ItemsCount;
use fogpost::dialect::DIALECT;
use fogpost::game::Syntax;
use fogpost::game::any::GameKind;
use fogpost::letter::{Address, Letter, Limits, OwnIdentity};
use fogpost::request::{Request, lines_of};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let only_worst = words.first().is_some_and(|word| word == "worst");
    if !only_worst {
        divan::main();
    }
    // Cargo passes this flag to benches only when it measures.
    if std::env::args().any(|argument| argument == "--bench") {
        worst::print(&words.get(1).filter(|_| only_worst).cloned().unwrap_or_default());
    }
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/letters"))
}

fn read(raw: &[u8], own: &OwnIdentity, answered: Option<&str>) -> usize {
    let Ok(letter) = Letter::read(raw, own, &Limits::default()) else { return 0 };
    let lines = lines_of(letter.new_text(answered));
    let begins_order = |line: &str| !matches!(GameKind::QuadrantZ.syntax(line), Err(Syntax::Unknown));
    Request::read(&lines, begins_order).orders.len()
}

fn own() -> OwnIdentity {
    OwnIdentity {
        address: Address::parse("referee@club.example").expect("an address"),
        message_id_domain: "fogpost.club.example".to_owned(),
        return_path: None,
        dialect: &DIALECT,
    }
}

/// A reply of 3 kB that quotes our letter, as plain text or as plain text and HTML.
#[divan::bench(args = ["mutt", "gmail-web-top", "outlook-english", "roundcube-html"])]
fn reply(bencher: Bencher, name: &str) {
    let raw = fs::read(folder().join(format!("people/{name}.eml"))).expect("a letter of the corpus");
    let ours = fs::read_to_string(folder().join("ours/turn4.txt")).expect("a letter of ours");
    let own = own();
    bencher.counter(ItemsCount::new(1usize)).bench(|| read(&raw, &own, Some(&ours)));
}

/// All letters in a folder of the corpus.
#[divan::bench(args = ["people", "robots"])]
fn corpus(bencher: Bencher, name: &str) {
    let files = fs::read_dir(folder().join(name)).expect("a folder of the corpus");
    let paths =
        files.map(|file| file.expect("a file").path()).filter(|p| p.extension().is_some_and(|e| e == "eml"));
    let letters: Vec<Vec<u8>> = paths.map(|path| fs::read(path).expect("a letter")).collect();
    let own = own();
    bencher
        .counter(ItemsCount::new(letters.len()))
        .bench(|| letters.iter().map(|raw| read(raw, &own, None)).sum::<usize>());
}

//! Bounds the memory that reading a letter occupies at a time, however large it is. It is counted, so that a
//! finding repeats on any machine.

#![no_main]

use std::sync::LazyLock;

use fogpost::dialect::DIALECT;
use fogpost::game::any::GameKind;
use fogpost::letter::{Address, Letter, Limits, NewText, OwnIdentity};
use fogpost::request::{Request, lines_of};
use libfuzzer_sys::fuzz_target;
use peak_alloc::PeakAlloc;

// The program's own allocator is left out when it is fuzzed.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Maximum bytes that a letter of the allowed size may occupy, itself included.
const MAX_MEMORY: usize = 150_000_000;

/// Bytes of a letter that is repeated until it is as large as is allowed.
const LARGE: usize = 9_900_000;

const OURS: &str = include_str!("../../tests/letters/ours/turn4.txt");

static OWN: LazyLock<OwnIdentity> = LazyLock::new(|| {
    let address = Address::parse("referee@club.example").expect("an address");
    let own =
        OwnIdentity {
            address,
            message_id_domain: "fogpost.club.example".to_owned(),
            return_path: None,
            dialect: &DIALECT,
        };
    // The first letter pays for the tables of words that all letters share.
    let first = Letter::read(b"From: ann@players.example\n\nHello", &own, &Limits::default());
    first.expect("a letter").new_text(Some(OURS));
    own
});

// The first line of the input is the type of the content, the rest is repeated below it.
fuzz_target!(|input: &[u8]| {
    let own = &*OWN;
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (content_type, part) = (&input[..end], input.get(end + 1..).unwrap_or_default());
    let head = [b"From: ann@players.example\nContent-Type: ".as_slice(), content_type, b"\n\n"].concat();
    if part.is_empty() {
        return;
    }
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let mut raw = Vec::with_capacity(LARGE + part.len());
    raw.extend(head);
    while raw.len() < LARGE {
        raw.extend(part);
    }
    if let Ok(letter) = Letter::read(&raw, own, &Limits::default())
    {
        let lines = lines_of(letter.new_text(Some(OURS)));
        let _ = Request::read(&lines, GameKind::QuadrantZ);
    }
    let peak = ALLOCATOR.peak_usage().saturating_sub(before);
    assert!(
        peak <= MAX_MEMORY,
        "a letter of {} bytes occupies {peak}, at most {MAX_MEMORY} are allowed",
        raw.len()
    );
});

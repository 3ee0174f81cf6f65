//! Bounds the work that one letter causes, from its bytes to the text of the answer: bytes allocated, lines parsed as
//! orders, and bytes answered. All three are counted, not timed, so that a finding repeats on any machine.

#![no_main]

use std::alloc::System;
use std::cell::Cell;
use std::sync::{Arc, LazyLock};

use fogpost::dialect::DIALECT;
use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Seat, Syntax};
use fogpost::ledger::{Cause, LetterCause, SealKey};
use fogpost::letter::{Address, Letter, Limits, NewText, OwnIdentity};
use fogpost::referee::{self, HouseDefaults, Match, Matter, Opening};
use fogpost::report::{self, Letterhead, PictureCache, Templates, WordingInput};
use fogpost::request::{Request, lines_of};
use libfuzzer_sys::fuzz_target;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

// The program's own allocator is left out when it is fuzzed.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that reading may allocate for each byte of a letter, and for any letter.
const READING_PER_BYTE: usize = 400;
const READING: usize = 2_000_000;

/// Bytes that ruling and wording may allocate, whatever the letter asks for.
const ANSWERING: usize = 60_000_000;

/// Maximum bytes of the text and the HTML of an answer.
const MAX_ANSWER: usize = 120_000;

const OURS: &str = include_str!("../../tests/letters/ours/turn4.txt");

struct Desk {
    own: OwnIdentity,
    templates: Templates,
    open: Vec<Match>,
}

static DESK: LazyLock<Desk> = LazyLock::new(|| {
    let address = Address::parse("referee@club.example").expect("an address");
    let own = OwnIdentity {
        address,
        message_id_domain: "fogpost.club.example".to_owned(),
        return_path: None,
        dialect: &DIALECT,
    };
    // The first letter pays for the tables of words that all letters share.
    let first = Letter::read(b"From: ann@players.example\n\nHello", &own, &Limits::default());
    first.expect("a letter").new_text(Some(OURS));
    let open = |kind: &GameKind| {
        let (players, key) = (BySeat::new("Ann", "Bo"), SealKey::new([7; 32]));
        let opening = Opening::new("QZ-7K3M", *kind, players, "referee@club.example", key);
        referee::open(opening, Cause::opening(None), Default::default()).after
    };
    Desk {
        own,
        templates: Templates::new(&Default::default()).expect("our templates parse"),
        open: GameKind::ALL.iter().map(open).collect(),
    }
});

fuzz_target!(|input: &[u8]| {
    let desk = &*DESK;
    // A few bytes ask for much only if they are repeated.
    let (count, part) = input.split_first().map_or((0, input), |(count, part)| (usize::from(*count), part));
    let mut raw = b"From: ann@players.example\nSubject: Re: [QZ-7K3M] Setup\n".to_vec();
    for _ in 0..=count {
        raw.extend(part);
    }
    let region = Region::new(ALLOCATOR);
    let Ok(letter) = Letter::read(&raw, &desk.own, &Limits::default()) else { return };
    let written = letter.new_text(Some(OURS));
    let reading = region.change().bytes_allocated;
    let most = READING + READING_PER_BYTE * raw.len();
    assert!(reading <= most, "reading {} bytes allocates {reading}, at most {most} are allowed", raw.len());

    let lines = lines_of(written.clone());
    let length: usize = lines.iter().map(|line| line.text.len() + 1).sum();
    for game_match in &desk.open {
        let asked = Cell::new(0);
        let is_order = |line: &str| {
            asked.set(asked.get() + line.len() + 1);
            !matches!(game_match.game.syntax(line), Err(Syntax::Unknown))
        };
        let _ = Request::read(&lines, is_order);
        assert!(asked.get() <= 8 * length + 1000, "{} bytes parsed as orders, of {length}", asked.get());

        let region = Region::new(ALLOCATOR);
        let cause = LetterCause::new(letter.digest, Seat::First, Default::default());
        let read = referee::prepare(game_match, cause, &letter, written.clone());
        let Ok(read) = read else { panic!("the whole letter can be read") };
        let ruling = referee::rule(game_match, &Matter::Letter(&read), Default::default());
        let house = HouseDefaults::UNSET;
        let club =
            Letterhead { name: "The Fog Club", address: "referee@club.example", board_page: None, house };
        let (game_match, pictures) = (&Arc::new(ruling.after), PictureCache::default());
        for dispatch in ruling.dispatches.iter().take(1) {
            let input = WordingInput {
                club: &club,
                game_match,
                dispatch,
                token: "",
                notes: &[],
                gm_plays: false,
                at: Default::default(),
            };
            let answer = report::word(&desk.templates, &input, &pictures).expect("it is worded");
            let bytes = answer.text.len() + answer.html.len();
            assert!(bytes <= MAX_ANSWER, "an answer of {bytes} bytes");
        }
        let answering = region.change().bytes_allocated;
        let most = ANSWERING + READING_PER_BYTE * length;
        assert!(
            answering <= most,
            "answering {length} bytes allocates {answering}, at most {most} are allowed"
        );
    }
});

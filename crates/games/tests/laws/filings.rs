//! Laws of orders as they are written, legal and illegal.

use fogpost_games::game::any::{Filing, GameKind};
use fogpost_games::game::{Fault, Line, Seat};

use fogpost_testing::play::{Play, filings, matches, numbered, through};
use fogpost_testing::random::Random;

/// Lines that no mail program should send, and some that only resemble orders.
const ODD: &[&str] = &[
    "",
    " ",
    "\t",
    "\u{0}",
    "\u{FEFF}SHIP 1 TO A1",
    "🚢 1 → A1",
    "ŠHIP 1 TO A1",
    "ship",
    "SHIP 1",
    "SHIP 99999999999999999999 TO A1",
    "SHIP -1 TO A1",
    "SHIP 1 65535/65535 A1",
    "SHIP 1 0/0 A1",
    "BUILD 999999/999999 AT A1",
    "STAR A1 255 BASE",
    "LOSSES 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    "LOSE",
    "CAPTURE",
    "HOLD HOLD",
    "CARRIER V65536 A1 SQUADRON A2",
    "DESTROYER A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1",
    "U9999 FIRE A1",
    "U1 A99999999999999999999",
    "ASW P16",
    "A0 A1",
    "A17 Z99",
    "D3-",
    "-D3",
    "D3 D3 D3 D3",
    "C4* D5* E6* F7* G8* H9* J10* A2",
    "******",
    "MARBLE",
    "SWAP SWAP",
    "é1 é2",
    "A１ A２",
    "ß ẞ ﬁ",
    "%s%n{{ 7*7 }}{% raw %}",
];

/// Damages a line: removes, doubles, changes or swaps characters, or removes or doubles a word.
fn damaged(line: &str, random: &mut Random) -> String {
    const CHARS: &[char] =
        &['A', 'Z', 'z', '0', '9', '*', '-', '/', ' ', ':', '"', 'é', '\u{0}', '\u{200B}', '漢', '🚢'];
    let mut chars: Vec<char> = line.chars().collect();
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if chars.is_empty() || words.is_empty() {
        return random.pick(CHARS).to_string();
    }
    let (at, word) = (random.below(chars.len()), random.below(words.len()));
    match random.below(7) {
        0 => drop(chars.remove(at)),
        1 => chars.insert(at, chars[at]),
        2 => chars[at] = *random.pick(CHARS),
        3 => chars.insert(at, *random.pick(CHARS)),
        4 => {
            let other = random.below(chars.len());
            chars.swap(at, other);
        }
        5 => {
            words.remove(word);
            return words.join(" ");
        }
        _ => {
            words.insert(random.below(words.len()), words[word]);
            return words.join(" ");
        }
    }
    chars.into_iter().collect()
}

/// Damages a filing: damages, removes, doubles, replaces or reorders lines.
fn damaged_filing(lines: &[String], random: &mut Random) -> Vec<String> {
    let mut lines = lines.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(lines.len() + 1);
        match random.below(6) {
            0 => lines.insert(at, (*random.pick(ODD)).to_owned()),
            1 | 2 if at < lines.len() => lines[at] = damaged(&lines[at], random),
            3 if at < lines.len() => drop(lines.remove(at)),
            4 if at < lines.len() => lines.insert(0, lines[at].clone()),
            _ if at < lines.len() => {
                let last = lines.len() - 1;
                lines.swap(at, last);
            }
            _ => lines.push((*random.pick(ODD)).to_owned()),
        }
    }
    lines
}

/// Asserts that there are faults: those of lines first, in line order and at most one per line, then those of the whole
/// filing. Each reason is a sentence, and each example an order.
fn assert_listed_well(kind: GameKind, lines: &[Line], faults: &[Fault]) {
    assert!(!faults.is_empty(), "{kind}: refused for nothing: {lines:?}");
    let at: Vec<usize> = faults.iter().filter_map(|fault| fault.line).collect();
    assert!(at.is_sorted_by(|before, after| before < after), "{kind}: {lines:?}: {faults:?}");
    assert!(at.iter().all(|no| lines.iter().any(|line| line.no == *no)), "{kind}: {lines:?}: {faults:?}");
    assert!(
        faults.iter().skip_while(|fault| fault.line.is_some()).all(|fault| fault.line.is_none()),
        "{kind}: the faults of lines come first: {faults:?}"
    );
    for fault in faults {
        let reason = &fault.reason;
        let sentence = !reason.starts_with(|first: char| first.is_ascii_lowercase()) && reason.ends_with('.');
        assert!(sentence, "{kind}: {reason:?} is no sentence");
        let examples = fault.example.iter().flat_map(|example| example.lines());
        for example in examples {
            assert_eq!(kind.syntax(example), Ok(()), "{kind}: the example {example:?} is no order");
        }
    }
}

/// The same lines in lower case, with additional blanks.
fn carelessly_written(filing: &Filing) -> Vec<String> {
    let lines = filing.lines();
    lines.iter().map(|line| format!("  {} ", line.to_lowercase().replace(' ', "   "))).collect()
}

#[test]
fn canonical_orders_seal_as_the_same_filing() {
    for (kind, seed) in matches(40) {
        let mut play = Play::new(kind, seed);
        loop {
            let before = play.state.clone();
            let Some(tries) = play.step() else { break };
            for (seat, filing) in filings(&tries).iter() {
                let Some(filing) = filing else { continue };
                let again = before.seal(seat, &numbered(&filing.lines()));
                assert_eq!(again.as_ref(), Ok(filing), "{kind} {seed} {seat}");
                let careless = before.seal(seat, &numbered(&carelessly_written(filing)));
                assert_eq!(careless.as_ref(), Ok(filing), "{kind} {seed} {seat}");
            }
        }
    }
}

#[test]
fn faults_are_listed_in_order_and_once_a_line() {
    let mut refused = 0;
    for (kind, seed) in matches(40) {
        let mut play = Play::new(kind, seed);
        while let Some(tries) = play.step() {
            for attempt in tries {
                if let Err(faults) = &attempt.sealed {
                    assert_listed_well(kind, &numbered(&attempt.lines), faults);
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 100, "random play tries too few illegal orders: {refused}");
}

#[test]
fn damaged_orders_are_sealed_or_refused_with_their_faults() {
    let (mut refused, mut sealed) = (0, 0);
    for (kind, seed) in matches(12) {
        through(kind, seed, |play| {
            for seat in play.state.due().map(|due| due.seats).unwrap_or_default() {
                let orders = play.orders(seat);
                let lines = numbered(&damaged_filing(&orders, &mut play.random));
                match play.state.seal(seat, &lines) {
                    Err(faults) => {
                        assert_listed_well(kind, &lines, &faults);
                        refused += 1;
                    }
                    Ok(filing) => {
                        let again = play.state.seal(seat, &numbered(&filing.lines()));
                        assert_eq!(again, Ok(filing), "{kind} {seed} {seat}: {lines:?}");
                        sealed += 1;
                    }
                }
            }
        });
    }
    assert!(refused > 500 && sealed > 200, "{refused} refused, {sealed} sealed");
}

#[test]
fn no_line_makes_a_game_panic() {
    let mut random = Random::new(7);
    for kind in GameKind::ALL {
        let mut play = Play::new(*kind, 1);
        for _ in 0..6 {
            for seat in Seat::BOTH {
                for odd in ODD {
                    let _ = kind.syntax(odd);
                    let _ = play.state.seal(seat, &[Line { no: 1, text: (*odd).to_owned() }]);
                }
                // The orders of every game, unchanged and damaged.
                for other in GameKind::ALL {
                    let lines = Play::new(*other, 2).tries(Seat::First).pop().map(|last| last.lines);
                    let lines = damaged_filing(&lines.unwrap_or_default(), &mut random);
                    let _ = play.state.seal(seat, &numbered(&lines));
                }
            }
            play.step();
        }
    }
}

#[test]
fn orders_of_a_seat_that_is_not_due_are_refused() {
    for (kind, seed) in matches(12) {
        through(kind, seed, |play| {
            let due = play.state.due().map(|due| due.seats).unwrap_or_default();
            for seat in Seat::BOTH {
                if !due.contains(&seat) {
                    let faults = play.state.seal(seat, &[]).expect_err("nothing is due");
                    assert_listed_well(kind, &[], &faults);
                }
            }
        });
    }
}

#[test]
fn stored_orders_unseal_only_for_their_own_state() {
    let mut illegal = 0;
    for (kind, seed) in matches(12) {
        let mut play = Play::new(kind, seed);
        loop {
            let before = play.state.clone();
            let Some(tries) = play.step() else { break };
            let filed = filings(&tries);
            let stored = filed.as_ref().map(|filing| filing.as_ref().map(Filing::lines));
            assert_eq!(before.unseal(&stored).expect("sealed for this state"), filed, "{kind} {seed}");
            illegal += usize::from(play.state.unseal(&stored).is_err());
        }
    }
    assert!(illegal > 100, "{illegal}");
}

//! Laws of records.

use fogpost_games::game::any::{AnyState, GameKind};
use fogpost_games::game::record::{Filed, Record, Replayed, adjudication_json, refusal_json};
use serde_json::Value;

use fogpost_testing::play::{Play, filed, matches};
use fogpost_testing::random::Random;

/// Returns what `replay --json` prints, and the final state.
fn account(record: &Record) -> (Vec<Value>, Option<AnyState>) {
    let (mut lines, mut last) = (Vec::new(), None);
    record.replay(|step| match step {
        Replayed::Adjudicated(done) => {
            lines.push(adjudication_json(&done, None));
            last = Some(done.state.clone());
        }
        Replayed::Refused { index, filed, faults } => lines.push(refusal_json(index, filed, &faults)),
    });
    (lines, last)
}

#[test]
fn a_record_replays_to_the_state_that_was_played() {
    for (kind, seed) in matches(60) {
        let mut play = Play::new(kind, seed);
        let (mut filings, mut refused) = (Vec::new(), 0);
        while let Some(tries) = play.step() {
            refused += tries.iter().filter(|attempt| attempt.sealed.is_err()).count();
            filings.extend(tries.iter().map(filed));
        }
        let record = play.record(filings);
        let (mut steps, mut last) = (0, None);
        record.replay(|step| {
            steps += 1;
            if let Replayed::Adjudicated(done) = step {
                last = (done.number == play.adjudications).then(|| done.state.clone());
            }
        });
        assert_eq!(last.as_ref(), Some(&play.state), "{kind} {seed}");
        assert_eq!(steps, play.adjudications + refused, "{kind} {seed}");
    }
}

#[test]
fn a_record_survives_being_written_and_read() {
    for (kind, seed) in matches(12) {
        let mut play = Play::new(kind, seed);
        let mut filings = Vec::new();
        while let Some(tries) = play.step() {
            filings.extend(tries.iter().map(filed));
        }
        let record = play.record(filings);
        let read = Record::parse(&record.to_string()).expect("as it was written");
        assert_eq!((read.game, &read.options), (record.game, &record.options), "{kind} {seed}");
        assert_eq!(read.players, record.players, "{kind} {seed}");
        assert_eq!(account(&read), account(&record), "{kind} {seed}");
        assert_eq!(read.to_string(), record.to_string(), "{kind} {seed}");
    }
}

/// The filings of one phase, in reverse order if `swapped`.
fn in_order(mut filings: Vec<Filed>, swapped: bool) -> Vec<Filed> {
    if swapped {
        filings.reverse();
    }
    filings
}

#[test]
fn the_order_of_arrival_changes_nothing() {
    let mut random = Random::new(11);
    let mut both = 0;
    for (kind, seed) in matches(12) {
        let mut play = Play::new(kind, seed);
        let (mut one, mut other) = (Vec::new(), Vec::new());
        while let Some(tries) = play.step() {
            let sealed: Vec<_> = tries.iter().filter(|t| t.sealed.is_ok()).map(filed).collect();
            both += usize::from(sealed.len() == 2);
            one.extend(in_order(sealed.clone(), random.once_in(2)));
            other.extend(in_order(sealed, random.once_in(2)));
        }
        let (one, other) = (play.record(one), play.record(other));
        assert_eq!(account(&one), account(&other), "{kind} {seed}");
    }
    assert!(both > 200, "{both}");
}

#[test]
fn the_last_filing_before_an_adjudication_counts() {
    for (kind, seed) in matches(8) {
        let mut play = Play::new(kind, seed);
        let mut filings = Vec::new();
        while let Some(due) = play.state.due() {
            let mut tries = Vec::new();
            if due.seats.len() == 2 {
                // Filed, and replaced before the other side files.
                tries.extend(play.tries(due.seats[0]));
            }
            tries.extend(due.seats.iter().flat_map(|seat| play.tries(*seat)));
            filings.extend(tries.iter().map(filed));
            play.adjudicate(&due, &fogpost_testing::play::filings(&tries));
        }
        let (_, last) = account(&play.record(filings));
        assert_eq!(last.as_ref(), Some(&play.state), "{kind} {seed}");
    }
}

#[test]
fn a_record_with_an_option_that_no_match_takes_names_its_line() {
    for (option, says) in [
        ("quiet_limit = 0", "a whole number from 1 to 999"),
        ("quiet_limit = 1000", "a whole number from 1 to 999"),
        ("array = \"SSSSSSSSS\"", "one to three ranks"),
        ("jump = [1]", "one plain value"),
        ("speed = 3", "no option"),
    ] {
        let text = format!("fogpost = 1\ngame = \"quantum\"\n[options]\n{option}\n");
        let error = Record::parse(&text).expect_err(option);
        assert_eq!(error.line, 4, "{error}");
        assert!(error.reason.contains(says), "{error}");
    }
}

#[test]
fn a_side_that_forfeits_loses() {
    let text = "fogpost = 1\ngame = \"quad\"\n[[filings]]\nseat = \"referee\"\norders = \"FORFEIT first\"\n";
    let (lines, _) = account(&Record::parse(text).expect("a record"));
    assert_eq!(lines[0]["result"]["winner"], "second");
    assert_eq!(lines[0]["result"]["reason"], "forfeited");
}

#[test]
fn a_record_names_the_version_of_the_rules_that_it_was_played_under() {
    for kind in GameKind::ALL {
        let text = |rules: &str| format!("fogpost = 1\ngame = \"{}\"\n{rules}", kind.key());
        let known = kind.rules();
        let record = Record::parse(&text(&format!("rules = {known}\n"))).expect("the version in force");
        assert_eq!(Record::parse(&record.to_string()), Ok(record), "{kind}");
        let error = Record::parse(&text(&format!("rules = {}\n", known + 1))).expect_err("a later version");
        assert_eq!(error.line, 3, "{error}");
        assert!(error.reason.contains("is not known; this program knows"), "{error}");
    }
}

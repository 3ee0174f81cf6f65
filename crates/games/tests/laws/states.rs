//! Laws of states.

use fogpost_games::game::any::AnyState;
use fogpost_games::game::{Outcome, Reason, Seat};

use fogpost_testing::play::{Play, matches, through};

/// The maximum width of a board, in columns.
const BOARD: usize = 68;

#[test]
fn every_state_survives_json() {
    for (kind, seed) in matches(40) {
        through(kind, seed, |play| {
            // Only some states use the canonical form, whose digest the ledger holds, because it is slower.
            let is_canonical = play.adjudications.is_multiple_of(8);
            let written = |state: &AnyState| match is_canonical {
                true => serde_json_canonicalizer::to_string(state).expect("a state is plain JSON"),
                false => serde_json::to_string(state).expect("a state is plain JSON"),
            };
            let json = written(&play.state);
            let read: AnyState = serde_json::from_str(&json).expect("as it was written");
            assert_eq!(read, play.state, "{kind} {seed}");
            assert_eq!(written(&read), json, "{kind} {seed}");
            for seat in Seat::BOTH {
                assert_eq!(read.view(seat), play.state.view(seat), "{kind} {seed} {seat}");
            }
        });
    }
}

#[test]
fn every_random_match_ends() {
    for (kind, seed) in matches(60) {
        let mut play = Play::new(kind, seed);
        while play.step().is_some() {
            assert_eq!(play.state.outcome().is_some(), play.state.due().is_none(), "{kind} {seed}");
        }
        assert!(play.state.outcome().is_some(), "{kind} {seed}");
    }
}

#[test]
fn a_match_can_be_closed_at_any_time_and_discloses_everything() {
    for (kind, seed) in matches(12) {
        through(kind, seed, |play| {
            if play.state.outcome().is_some() {
                return;
            }
            let mut closed = play.state.clone();
            let outcome = Outcome { winner: None, reason: Reason::DrawAgreed };
            closed.close(outcome.clone());
            assert_eq!(closed.outcome(), Some(outcome), "{kind} {seed}");
            assert_eq!(closed.due(), None, "{kind} {seed}");
            for seat in Seat::BOTH {
                assert!(closed.seal(seat, &[]).is_err(), "{kind} {seed} {seat}");
                assert_eq!(closed.missed(seat), None, "{kind} {seed} {seat}");
            }
            assert_eq!(closed.open_board(None), play.state.open_board(None), "{kind} {seed}");
            let json = serde_json::to_string(&closed).expect("a state is plain JSON");
            let again: AnyState = serde_json::from_str(&json).expect("as it was written");
            assert_eq!(again, closed, "{kind} {seed}");
        });
    }
}

#[test]
fn a_board_is_narrow() {
    for (kind, seed) in matches(6) {
        through(kind, seed, |play| {
            for seat in Seat::BOTH {
                let board = play.state.board(seat);
                assert!(board.text.ends_with('\n'), "{kind} {seed} {seat}");
                for line in board.text.lines() {
                    assert!(line.chars().count() <= BOARD, "{kind} {seed} {seat}: {line}");
                }
            }
        });
    }
}

#[test]
fn what_counts_as_filed_for_a_missed_turn_is_legal() {
    for (kind, seed) in matches(12) {
        through(kind, seed, |play| {
            for seat in Seat::BOTH {
                let due = play.state.due().is_some_and(|due| due.seats.contains(&seat));
                let Some(filing) = play.state.missed(seat) else { continue };
                assert!(due, "{kind} {seed} {seat}");
                let lines = fogpost_testing::play::numbered(&filing.lines());
                assert_eq!(play.state.seal(seat, &lines), Ok(filing), "{kind} {seed} {seat}");
            }
        });
    }
}

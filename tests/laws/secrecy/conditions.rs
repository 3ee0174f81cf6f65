//! Conditional orders: nobody but their author learns of them unless they are met.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::{Match, Reader, Ruling};
use fogpost::report::WordedLetter;

use super::{Comparison, History, orders};
use crate::referee::{held, receive, templates, worded};
use fogpost_testing::play::{Play, matches};

/// The letters of a ruling to one seat, with digests blacked out: the salt of a seal depends on how much was sealed.
fn letters(ruling: &Ruling, game_match: &Match, to: Seat) -> Vec<WordedLetter> {
    let templates = templates();
    let own = ruling.dispatches.iter().filter(|dispatch| dispatch.to == Reader::Seat(to));
    let letters = own.map(|dispatch| worded(&templates, game_match, to, dispatch.content.clone()));
    letters
        .map(|letter| WordedLetter {
            text: without_digests(&letter.text),
            html: without_digests(&letter.html),
            ..letter
        })
        .collect()
}

fn without_digests(text: &str) -> String {
    let is_digest = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    parts
        .map(|part| {
            let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            if is_digest(word) { part.replace(word, "(digest)") } else { part.to_owned() }
        })
        .collect()
}

/// Asserts that all letters to `mover` are equal, also those that its next move causes.
fn assert_alike(one: &Match, other: &Match, mover: Seat, orders: &[Vec<String>], played: &[String]) {
    let templates = templates();
    let compared = Comparison { templates: &templates, viewer: mover, letters: true };
    let [before, after] = [one, other].map(|game_match| {
        let ruling = receive(game_match, mover, played);
        let after = Match { head: one.head, ..ruling.after.clone() };
        (compared.letters(&History::of(game_match.clone()), orders), letters(&ruling, &after, mover))
    });
    assert!(!before.1.is_empty(), "{played:?}");
    assert_eq!(before, after, "{played:?}");
}

#[test]
fn conditions_of_the_other_seat_change_no_letter_unless_they_are_met() {
    let mut compared = 0;
    for (kind, seed) in matches(6).filter(|(kind, _)| matches!(kind, GameKind::Quantum | GameKind::Quad)) {
        let mut play = Play::new(kind, seed);
        while let Some(due) = play.state.due() {
            if let [mover] = due.seats[..] {
                let before = held(&play);
                let mut legal = || play.tries(mover).pop().expect("the filing that was sealed");
                let (played, expected) = (legal(), legal());
                let line = format!("IF {0} THEN {0}", expected.lines.join(" "));
                let ruling = receive(&before, mover.other(), &[line]);
                let is_own = |to: Reader| to == Reader::Seat(mover.other());
                assert!(ruling.dispatches.iter().all(|dispatch| is_own(dispatch.to)), "{kind} {seed}");
                let other = Match { head: before.head, ..ruling.after };
                if other.conditions[mover.other()].is_some() && played.sealed != expected.sealed {
                    compared += 1;
                    if compared % 20 == 1 {
                        let orders = orders(&mut play, mover);
                        assert_alike(&before, &other, mover, &orders, &played.lines);
                    }
                }
            }
            play.step();
        }
    }
    assert!(compared > 100, "{compared}");
}

//! The book: one chain that a judge can check alone.

use fogpost::club::events::verify::verify;
use fogpost::game::Seat;

use super::{CY, LEAGUE, announced, club, matches, play_until_resigned};
use crate::desk::{ANN, BO, Desk};

fn rows(desk: &Desk) -> Vec<(String, fogpost::letter::Digest)> {
    let rows = desk.block_on(desk.office().store.book("EV-SPRING")).expect("the store answers");
    rows.into_iter().map(|row| (row.json, row.hash)).collect()
}

#[test]
fn a_book_verifies_and_what_was_changed_in_it_is_found() {
    let desk = club("");
    announced(&desk, LEAGUE, &[ANN, BO, CY]);
    desk.advance(4 * 24);
    matches(&desk, "EV-SPRING").iter().for_each(|one| play_until_resigned(&desk, one, Seat::First));
    desk.advance(1);
    let book = rows(&desk);
    assert_eq!(verify(&book), Vec::<String>::new());
    assert!(
        !book.iter().any(|(json, _)| json.contains("\"Ann") || json.contains('@')),
        "players are numbers"
    );
    for at in 0..book.len() {
        let mut changed = book.clone();
        changed[at].0 = changed[at].0.replace("2026-05", "2026-06");
        assert!(!verify(&changed).is_empty(), "entry {at}");
    }
    let mut short = book.clone();
    short.remove(3);
    assert!(!verify(&short).is_empty());
}

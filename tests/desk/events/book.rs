//! The book: one chain that a judge can check alone.

use fogpost::club::events::verify;
use fogpost::game::Seat;

use super::{CY, LEAGUE, announced, book, club, matches, play_until_resigned};
use crate::referee::{ANN, BO};

#[test]
fn a_book_of_a_whole_season_follows_from_itself_and_names_nobody() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    matches(&referee, "EV-SPRING").iter().for_each(|one| play_until_resigned(&referee, one, Seat::First));
    referee.advance(1);
    let entries = book(&referee, "EV-SPRING");
    assert_eq!(verify(&entries), []);
    let json = serde_json::to_string(&entries).expect("JSON");
    assert!(!json.contains("\"Ann") && !json.contains('@'), "players are numbers");
    for kind in ["SectionsDrawn", "StandingsClosed"] {
        let mut changed = entries.clone();
        let at = changed.iter().position(|entry| entry.fact.kind() == kind).expect("one");
        let before = changed.remove(at - 1);
        assert!(!verify(&changed).is_empty(), "{kind} without {before:?}");
    }
}

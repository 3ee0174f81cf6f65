//! Players who become one, or take over from another, in an event that they had left.

use fogpost::referee::{Match, Stage};

use super::{CY, DI, LEAGUE, announced, club, event, gm, matches};
use crate::referee::{ANN, BO};

#[test]
fn two_who_entered_become_one_once_one_of_them_is_struck_and_the_event_goes_on() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY, DI]);
    let merge = format!("GM PLAYER MERGE {DI} INTO {ANN}");
    gm(&referee, &merge).says("because both are in EV-SPRING.");
    gm(&referee, "GM EVENT EV-SPRING STRIKE Di She is Ann.").says("Done. The event now:");
    gm(&referee, &merge).says("Ann (P-1): ann@players.example, di@players.example");
    referee.write(BO, "EVENTS");
    referee.last_to(BO).says("EV-SPRING");
    referee.advance(4 * 24);
    assert_eq!(event(&referee, "EV-SPRING").season().map(|season| season.list.clone()), Some(vec![1, 2, 3]));
    let all = matches(&referee, "EV-SPRING");
    assert!(all.len() == 6 && all.iter().all(|one| one.stage != Stage::Over));
}

#[test]
fn whoever_was_struck_plays_the_matches_that_they_take_over_later() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    for act in ["ENTER Di They asked me.", "STRIKE Di They are away.", "REPLACE Cy Di Cy is ill."] {
        gm(&referee, &format!("GM EVENT EV-SPRING {act}")).says("Done. The event now:");
    }
    referee.advance(2);
    let all = matches(&referee, "EV-SPRING");
    assert!(all.iter().all(|one| one.stage != Stage::Over));
    let own = |one: &&Match| one.players.first == "Di" || one.players.second == "Di";
    assert_eq!(all.iter().filter(own).count(), 4);
}

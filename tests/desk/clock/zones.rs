//! Zone data of a newer edition.

use chrono::{TimeDelta, Timelike as _};
use fogpost::game::any::GameKind;
use fogpost::ledger::{Entry, Fact};
use fogpost::referee::{Match, PROCEDURE};

use crate::audit::database::{cheat, entries};
use crate::referee::{ANN, BO, Referee};

/// Moves the local time that players read as the deadline of a match, as if an older edition had other rules.
fn move_local_deadline(referee: &Referee, game_match: &Match, later: TimeDelta) {
    let stored = referee.find(&game_match.id);
    let other = Match { local_deadline: stored.local_deadline.map(|local| local + later), ..stored };
    let snapshot = other.to_json().replace('\'', "''");
    cheat(referee, &[&format!("UPDATE match SET snapshot = '{snapshot}' WHERE id = '{}'", game_match.id)]);
}

#[test]
fn a_deadline_that_newer_zone_data_move_is_set_again_once_and_both_players_are_told() {
    let mut referee = Referee::new();
    referee.office_mut().set_procedure(PROCEDURE, "2019a");
    referee.work();
    let [moved, same, early] = [(); 3].map(|()| referee.open(GameKind::Quad, &[]));
    assert_eq!(moved.local_deadline.expect("a deadline").hour(), 20);
    // By the old edition, one deadline is an hour later on the players' clocks, and one has long passed.
    move_local_deadline(&referee, &moved, TimeDelta::hours(1));
    move_local_deadline(&referee, &early, -TimeDelta::days(20));
    let before = [ANN, BO].map(|address| referee.all_to(address).len());
    referee.restart();
    referee.advance(1);
    referee.advance(1);
    let after = referee.find(&moved.id);
    assert_eq!(after.deadline, moved.deadline.map(|deadline| deadline + TimeDelta::hours(1)));
    assert_eq!(after.local_deadline.expect("a deadline").hour(), 21);
    for (address, before) in [ANN, BO].into_iter().zip(before) {
        let told = referee.all_to(address).split_off(before);
        let [told] = &told[..] else { panic!("{told:?}") };
        assert!(told.subject.contains(&moved.id) && told.subject.contains("the deadline has moved"));
        told.says("clocks in Europe/Berlin change otherwise than I knew").says("21:00 CEST");
    }
    for other in [&same, &early] {
        assert_eq!(referee.find(&other.id).deadline, other.deadline);
    }
    let zones_changed = |entry: &Entry| matches!(entry.fact, Fact::ZonesChanged { .. });
    assert_eq!(entries(&referee, &moved.id).iter().filter(|entry| zones_changed(entry)).count(), 1);
    for game_match in [&moved, &same] {
        let verdict = referee.verify(&game_match.id);
        assert!(verdict.is_sound(), "{verdict:#?}");
    }
}

//! Zone data of a newer edition.

use chrono::{TimeDelta, Timelike as _};
use fogpost::daemon::audit::book;
use fogpost::game::any::GameKind;
use fogpost::ledger::{Entry, Fact};
use fogpost::referee::{Match, PROCEDURE};
use fogpost::zone::Zone;

use crate::audit::database::{cheat, entries};
use crate::events::{CY, LEAGUE, announced, club, event};
use crate::matches::vanished::vanished;
use crate::referee::{ANN, BO, Referee};

/// Moves the local time that players read as the deadline of a match, or as the end of a choice, as if an older edition
/// had other rules.
fn move_local_deadline(referee: &Referee, game_match: &Match, later: TimeDelta) {
    let mut other = referee.find(&game_match.id);
    let local = match &mut other.vanished {
        Some(vanished) => &mut vanished.local_until,
        None => &mut other.local_deadline,
    };
    *local = local.map(|local| local + later);
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
        told.says("clocks in Europe/Berlin change on other days than I knew").says("21:00 CEST");
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

#[test]
fn the_choice_about_a_vanished_player_keeps_its_local_time() {
    let (mut referee, game_match) = vanished();
    referee.office_mut().set_procedure(PROCEDURE, "2019a");
    referee.work();
    let until = |referee: &Referee| referee.find(&game_match.id).vanished.expect("a choice").until;
    let before = until(&referee);
    referee.change_database("UPDATE memo SET value = '2019a' WHERE key = 'zone data'");
    move_local_deadline(&referee, &game_match, TimeDelta::hours(1));
    referee.sent_to(ANN);
    referee.sent_to(BO);
    referee.restart();
    referee.advance(1);
    assert_eq!(until(&referee), before + TimeDelta::hours(1));
    for address in [ANN, BO] {
        let told = referee.one_to(address);
        told.says("clocks in Europe/Berlin change on other days than I knew").says("21:00 CEST");
    }
    let verdict = referee.verify(&game_match.id);
    assert!(verdict.is_sound(), "{verdict:#?}");
}

#[test]
fn the_end_of_a_season_keeps_its_local_time() {
    let mut referee = club("");
    referee.office_mut().set_procedure(PROCEDURE, "2019a");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    let ends = |referee: &Referee| event(referee, "EV-SPRING").season().expect("a season").ends;
    let before = ends(&referee);
    referee.change_database("UPDATE memo SET value = '2019a' WHERE key = 'zone data'");
    let local = before.with_timezone(&Zone::named("Europe/Berlin").expect("a zone")).naive_local();
    cheat(
        &referee,
        &[&format!(
            "UPDATE event SET told = replace(told, '{}', '{}')",
            local.format("%Y-%m-%dT%H:"),
            (local + TimeDelta::hours(1)).format("%Y-%m-%dT%H:")
        )],
    );
    referee.restart();
    referee.advance(2);
    assert_eq!(ends(&referee), before + TimeDelta::hours(1));
    referee.restart();
    referee.advance(2);
    assert_eq!(ends(&referee), before + TimeDelta::hours(1), "it moves once");
    let verdict = referee.block_on(book::verify(referee.office(), "EV-SPRING")).expect("the store answers");
    assert!(verdict.is_sound(), "{verdict:#?}");
}

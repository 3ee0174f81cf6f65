//! The end of a season, own time, and players who vanish.

use fogpost::club::events::event::EventStage;
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::ledger::book::BookOutcome;
use fogpost::referee::Match;
use fogpost::zone::Zone;

use super::{
    CY, LEAGUE, about, address_of, announced, club, event, flat, gm, matches, play_until_resigned, with_words,
};
use crate::referee::{ANN, BO, GM, Sent};

#[test]
fn at_the_end_whoever_used_less_own_time_wins() {
    let referee = club("");
    let plan = LEAGUE.replace("season_days = 30", "season_days = 20").replace("days = 3", "days = 30");
    announced(&referee, &plan, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    let all = matches(&referee, "EV-SPRING");
    // In one match, the first side moves at once, and the second side never does.
    let first = address_of(&all[0].players.first);
    referee.reply(&first, &about(&referee, &first, &all[0].id), "MARBLE E5");
    referee.advance(11 * 24);
    let told = with_words(&referee, &first, "These matches of yours run");
    assert_eq!(told.len(), 1);
    told[0].says(&format!("- {} against {}: you 0 d", all[0].id, all[0].players.second));
    referee.advance(10 * 24);
    let over = event(&referee, "EV-SPRING");
    assert_eq!(over.stage, EventStage::Entries);
    let games = &over.season().expect("a season").games;
    let of = |id: &str| games.iter().find(|game| game.match_id.as_deref() == Some(id)).expect("a game");
    assert_eq!(of(&all[0].id).result.as_ref().expect("a result").outcome, BookOutcome::First);
    // In the other matches, the first side owed a turn all the time.
    for one in &all[1..] {
        assert_eq!(of(&one.id).result.as_ref().expect("a result").outcome, BookOutcome::Second);
    }
    about(&referee, &first, &all[0].id).says("less time");
}

#[test]
fn whoever_vanishes_loses_and_is_struck_from_the_next_season() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    let all = matches(&referee, "EV-SPRING");
    let (with_cy, others): (Vec<_>, Vec<_>) =
        all.iter().partition(|one| one.players.first == "Cy" || one.players.second == "Cy");
    others.iter().for_each(|one| play_until_resigned(&referee, one, Seat::First));
    for one in with_cy.iter().filter(|one| one.players.second == "Cy") {
        let first = address_of(&one.players.first);
        referee.reply(&first, &about(&referee, &first, &one.id), "MARBLE E5");
    }
    referee.advance(12 * 24);
    let closed = event(&referee, "EV-SPRING");
    assert_eq!(closed.stage, EventStage::Entries);
    let season = closed.season().expect("a season");
    assert_eq!(season.vanished.len(), 1);
    assert_eq!(closed.entrants.len(), 2);
    with_words(&referee, CY, "This is how you all finished:")[0].says("You are not in; to enter");
    referee.write(CY, "ENTER EV-SPRING");
    referee.last_to(CY).says("You lost matches by missed turns lately");
    with_words(&referee, GM, "Vanished: Cy.")[0].says("Season 1 of Spring League is over");
}

#[test]
fn too_few_entrants_are_told_to_the_gm_once_and_entries_stay_open() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO]);
    referee.advance(5 * 24);
    assert_eq!(with_words(&referee, GM, "Spring League should begin now, but 2 are in").len(), 1);
    assert!(event(&referee, "EV-SPRING").seasons.is_empty());
    referee.write(CY, "ENTER EV-SPRING");
    referee.advance(1);
    assert_eq!(matches(&referee, "EV-SPRING").len(), 6);
}

#[test]
fn an_event_match_that_ended_without_a_result_waits_for_the_gm() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    let all = matches(&referee, "EV-SPRING");
    let id = &all[0].id;
    gm(&referee, &format!("GM EVENT EV-SPRING RESULT {id} first Bo agreed."))
        .says(&format!("{id} runs. To close it"));
    gm(&referee, &format!("GM MATCH {id} ABANDON"));
    referee.advance(1);
    assert!(event(&referee, "EV-SPRING").season().expect("a season").games[0].result.is_none());
    gm(&referee, &format!("GM EVENT EV-SPRING RESULT {id} first Bo agreed.")).says("Done. The event now:");
    let result = event(&referee, "EV-SPRING").season().expect("a season").games[0].result.clone();
    assert_eq!(result.expect("a result").outcome, BookOutcome::First);
    gm(&referee, &format!("GM EVENT EV-SPRING RESULT {id} second No.")).says("It is corrected as a match");
    referee.write(ANN, "STANDINGS");
    referee.last_to(ANN).says(&format!("decided {id}: Bo agreed."));
}

#[test]
fn a_reopened_match_voids_its_result_and_the_last_one_counts() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    let all = matches(&referee, "EV-SPRING");
    play_until_resigned(&referee, &all[0], Seat::First);
    referee.advance(1);
    let outcome = || {
        event(&referee, "EV-SPRING").season().expect("a season").games[0].result.clone().map(|r| r.outcome)
    };
    assert_eq!(outcome(), Some(BookOutcome::Second));
    gm(&referee, &format!("GM MATCH {} ROLLBACK 2 It was a slip.", all[0].id));
    referee.advance(1);
    assert_eq!(outcome(), None);
    let loser = address_of(&all[0].players.second);
    referee.reply(&loser, &about(&referee, &loser, &all[0].id), "RESIGN CONFIRM");
    referee.advance(1);
    assert_eq!(outcome(), Some(BookOutcome::First));
}

#[test]
fn a_player_who_is_replaced_hands_over_matches_points_and_place() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    let all = matches(&referee, "EV-SPRING");
    gm(&referee, &format!("GM MATCH {} REPLACE first di@players.example", all[0].id))
        .says("GM EVENT EV-SPRING REPLACE Bo Cy");
    gm(&referee, "GM EVENT EV-SPRING REPLACE Cy Di He is ill.").says("Done. The event now:");
    referee.advance(1);
    let names: Vec<String> = matches(&referee, "EV-SPRING")
        .iter()
        .flat_map(|one| [one.players.first.clone(), one.players.second.clone()])
        .collect();
    assert_eq!(names.iter().filter(|name| *name == "Di").count(), 4);
    assert!(!names.iter().any(|name| name == "Cy"));
    referee.write(BO, "STANDINGS EV-SPRING");
    referee.last_to(BO).says("gave the place of Cy to Di: He is ill.");
}

#[test]
fn an_absence_in_a_match_of_an_event_is_answered_with_the_end_of_the_season() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    let all = matches(&referee, "EV-SPRING");
    let is_anns = |one: &&Match| [&one.players.first, &one.players.second].contains(&&"Ann".to_owned());
    let in_event = all.iter().find(is_anns).expect("a match");
    let friendly = referee.open(GameKind::Quad, &[]);
    let ends = event(&referee, "EV-SPRING").running().expect("a season").ends;
    let zone = Zone::named("Europe/Berlin").expect("a zone");
    let ends = ends.with_timezone(&zone).format("%a %-d %b, %H:%M %Z");
    let ends = format!(
        "The season of Spring League (EV-SPRING) ends {ends}; neither an absence nor more time moves that day."
    );
    let says = |sent: &Sent, words: &str| flat(&sent.text).contains(words);
    let absent = |id: &str, lines: &str| {
        referee.reply(ANN, &about(&referee, ANN, id), lines);
        about(&referee, ANN, id)
    };
    let answer = absent(&in_event.id, "ABSENT 2026-06-08 TO 2026-06-12");
    assert!(says(&answer, &ends), "{}", answer.text);
    assert!(says(&answer, "whoever kept the other waiting less wins it, and the days away count."));
    // So is a wish for more time, and its acceptance.
    let answer = absent(&in_event.id, "EXTEND 20");
    assert!(says(&answer, &ends), "{}", answer.text);
    // Announced in another match, it counts in the event, too, unless it is meant for that match alone.
    let answer = absent(&friendly.id, "ABSENT 2026-06-20 TO 2026-06-21");
    assert!(says(&answer, &ends), "{}", answer.text);
    let answer = absent(&friendly.id, &format!("MATCH {}\nABSENT 2026-06-24", friendly.id));
    assert!(says(&answer, "You are away from 2026-06-24") && !says(&answer, "season"), "{}", answer.text);
    let answer = absent(&friendly.id, "EXTEND 20");
    assert!(!says(&answer, "season"), "{}", answer.text);
}

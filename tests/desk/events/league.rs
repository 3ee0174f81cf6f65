//! A league from the announcement to the next season.

use fogpost::club::events::event::EventStage;
use fogpost::game::Seat;

use super::{
    CY, DI, EVE, LEAGUE, announced, book, club, event, gm, matches, play_until_resigned, with_words,
};
use crate::referee::{ANN, BO, GM};

#[test]
fn a_league_opens_on_its_day_with_one_letter_about_all_opponents() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(3 * 24);
    assert_eq!(event(&referee, "EV-SPRING").stage, EventStage::Entries);
    referee.advance(24);
    let opened = matches(&referee, "EV-SPRING");
    assert_eq!(opened.len(), 6);
    assert!(opened.iter().all(|one| one.terms.event.as_deref() == Some("EV-SPRING") && one.terms.days == 3));
    for (address, other, third) in [(ANN, "Bo", "Cy"), (BO, "Ann", "Cy"), (CY, "Ann", "Bo")] {
        let begins = with_words(&referee, address, "Spring League begins.");
        assert_eq!(begins.len(), 1, "{address}");
        let text = &begins[0].text;
        assert_eq!(text.matches(&format!("against {other}")).count(), 2, "{text}");
        assert_eq!(text.matches(&format!("against {third}")).count(), 2, "{text}");
        begins[0].says("LEAVE EV-SPRING CONFIRM").says("Book EV-SPRING sha256").keeps_silent_of("@players");
        assert_eq!(with_words(&referee, address, "plays Quad with you").len(), 4, "{address}");
    }
    referee.advance(24);
    assert_eq!(matches(&referee, "EV-SPRING").len(), 6, "nothing opens twice");
}

#[test]
fn an_event_opens_at_its_hour_on_a_day_on_which_clocks_change_too() {
    let referee = club("");
    for (id, day, opens) in [
        ("EV-MARCH", "2027-03-28", "2027-03-28T18:00:00Z"),
        ("EV-JUNE", "2027-06-01", "2027-06-01T18:00:00Z"),
        ("EV-OCTOBER", "2027-10-31", "2027-10-31T19:00:00Z"),
    ] {
        announced(&referee, &LEAGUE.replace("EV-SPRING", id).replace("2026-05-10", day), &[]);
        assert_eq!(event(&referee, id).opens, Some(opens.parse().expect("an instant")), "{id}");
    }
    gm(&referee, "GM EVENT EV-MARCH EXTEND 300 days Too few");
    let moved = event(&referee, "EV-MARCH").opens;
    assert_eq!(moved, Some("2028-01-22T19:00:00Z".parse().expect("an instant")));
}

#[test]
fn a_league_closes_with_its_last_result_and_the_next_season_follows_a_week_later() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    for (no, one) in matches(&referee, "EV-SPRING").iter().enumerate() {
        play_until_resigned(&referee, one, if no % 2 == 0 { Seat::First } else { Seat::Second });
    }
    referee.write(ANN, "STANDINGS EV-SPRING");
    referee.advance(1);
    let closed = event(&referee, "EV-SPRING");
    assert_eq!(closed.stage, EventStage::Entries);
    for address in [ANN, BO, CY] {
        let told = with_words(&referee, address, "This is how you all finished:");
        assert_eq!(told.len(), 1, "{address}");
        told[0].says("The next season begins on").says("Division 1").says("STANDINGS EV-SPRING 1");
    }
    let report = with_words(&referee, GM, "Season 1 of Spring League is over: 3 players, 6 matches.");
    assert_eq!(report.len(), 1);
    referee.write(DI, "ENTER EV-SPRING");
    referee.last_to(DI).says("You are in: Spring League");
    referee.write(CY, "LEAVE EV-SPRING CONFIRM");
    referee.last_to(CY).says("You have left EV-SPRING.");
    referee.advance(7 * 24);
    let next = event(&referee, "EV-SPRING");
    let season = next.season().expect("a season");
    assert_eq!((season.no, season.list.len()), (2, 3));
    assert_eq!(matches(&referee, "EV-SPRING").len(), 6);
    assert!(season.list.iter().all(|player| *player != 3), "Cy has left: {:?}", season.list);
    let kinds: Vec<&str> = book(&referee, "EV-SPRING").iter().map(|entry| entry.fact.kind()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "ResultEntered").count(), 6, "{kinds:?}");
    gm(&referee, "GM EVENT EV-SPRING CLOSE").says("Done. The event now:");
    referee.write(EVE, "ENTER EV-SPRING");
    referee.last_to(EVE).says("EV-SPRING takes no entries any more");
}

#[test]
fn whoever_leaves_after_the_start_resigns_the_running_matches_and_cannot_enter_for_a_month() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    referee.write(CY, "LEAVE EV-SPRING");
    referee.last_to(CY).says("your 4 running matches are resigned").says("LEAVE EV-SPRING CONFIRM");
    referee.write(CY, "LEAVE EV-SPRING CONFIRM");
    referee.advance(1);
    with_words(&referee, CY, "You have left EV-SPRING.")[0].says("Your 4 matches in it are resigned");
    let over = matches(&referee, "EV-SPRING").iter().filter(|one| one.outcome().is_some()).count();
    assert_eq!(over, 4);
    let results = event(&referee, "EV-SPRING");
    let results =
        results.season().expect("a season").games.iter().filter(|game| game.result.is_some()).count();
    assert_eq!(results, 4);
    referee.write(CY, "ENTER EV-SPRING");
    referee.last_to(CY).says("You can enter events again after");
}

//! GMs and events: a GM who plays, cancels, or decides unfinished matches; and outages.

use chrono::TimeDelta;
use fogpost::club::events::event::EventStage;
use fogpost::game::Seat;
use fogpost::ledger::book::BookOutcome;
use fogpost::referee::Stage;

use super::{
    CY, DI, LEAGUE, address_of, announced, event, gm, matches, peopled, play_until_resigned, with_words,
};
use crate::events::club;
use crate::referee::{ANN, BO, GM, Referee, Sent};

/// Two GMs, one of whom is Bo, who plays.
const GM_AND_BO: &str = "[[club.gm]]\nname = \"The GM\"\naddress = \"gm@club.example\"\n\
    [[club.gm]]\nname = \"Bo\"\naddress = \"bo.the.gm@club.example\"\nalso = [\"bo@players.example\"]\n";

fn answer_to_bo(referee: &Referee, lines: &str) -> Sent {
    let own = "bo.the.gm@club.example";
    if referee.all_to(own).is_empty() {
        referee.write(own, "GM LIST");
    }
    let last =
        referee.all_to(own).into_iter().rfind(|sent| sent.text.contains("Reply token")).expect("a token");
    referee.sent_to(own);
    referee.reply(own, &last, lines);
    referee.sent_to(own).into_iter().find(|sent| sent.in_reply_to.is_some()).expect("an answer")
}

#[test]
fn a_gm_who_plays_in_an_event_neither_commands_it_nor_rules_on_its_matches_nor_reads_who_is_silent() {
    let referee = peopled(Referee::with_gms(GM_AND_BO));
    announced(&referee, LEAGUE, &[ANN, CY, DI]);
    answer_to_bo(&referee, "GM EVENT EV-SPRING NOTE I shall play, too.").says("Done. The event now:");
    referee.write(BO, "ENTER EV-SPRING");
    let refused = "You play in EV-SPRING, so another GM has to do this.";
    answer_to_bo(&referee, "GM EVENT EV-SPRING STRIKE Ann She is too strong.").says(refused);
    referee.advance(4 * 24);
    let all = matches(&referee, "EV-SPRING");
    let others =
        all.iter().find(|one| one.players.first != "Bo" && one.players.second != "Bo").expect("a match");
    for act in ["PAUSE", "EXTEND 3 days", "FORFEIT first"] {
        answer_to_bo(&referee, &format!("GM MATCH {} {act}", others.id)).says(refused);
    }
    assert_eq!(referee.find(&others.id).stage, Stage::Running);
    gm(&referee, &format!("GM MATCH {} EXTEND 3 days", others.id)).says("Done. The match now");
    referee.advance(8 * 24);
    assert!(!with_words(&referee, GM, "Ann in EV-SPRING").is_empty(), "the other GM reads who is silent");
    assert!(with_words(&referee, "bo.the.gm@club.example", "Ann in EV-SPRING").is_empty());
}

#[test]
fn the_only_gm_commands_an_event_in_which_they_play_but_does_not_read_who_is_silent() {
    let referee = club("");
    gm(&referee, &format!("GM EVENT NEW\n{LEAGUE}\nEND"));
    for address in [ANN, CY] {
        referee.write(address, "ENTER EV-SPRING");
    }
    gm(&referee, &format!("GM EVENT EV-SPRING ENTER {GM} I play.")).says("Done. The event now:");
    referee.advance(4 * 24);
    gm(&referee, "GM EVENT EV-SPRING NOTE All are here.").says("Done. The event now:");
    referee.advance(8 * 24);
    assert!(with_words(&referee, GM, "Ann in EV-SPRING").is_empty());
}

#[test]
fn an_outage_over_the_end_moves_it_by_its_length() {
    let referee = club("");
    announced(&referee, &LEAGUE.replace("\ndays = 3", "\ndays = 30"), &[ANN, BO, CY]);
    referee.advance(4 * 24);
    let ends = event(&referee, "EV-SPRING").running().expect("a season").ends;
    let hours = (ends - referee.now()).num_hours() - 5;
    referee.advance(hours);
    referee.sleep(20);
    referee.work();
    let moved = event(&referee, "EV-SPRING").running().expect("the season goes on").ends;
    assert_eq!(moved - ends, TimeDelta::hours(20));
    assert!(matches(&referee, "EV-SPRING").iter().all(|one| one.stage != Stage::Over));
    referee.advance(4);
    assert_eq!(event(&referee, "EV-SPRING").stage, EventStage::Running);
    referee.advance(2);
    assert_eq!(event(&referee, "EV-SPRING").stage, EventStage::Entries);
}

#[test]
fn unfinished_matches_are_left_to_the_gm_if_the_plan_says_so() {
    let referee = club("");
    let plan = LEAGUE.replace("season_days = 30", "season_days = 20\nunfinished = \"gm\"");
    announced(&referee, &plan.replace("days = 3", "days = 30"), &[ANN, BO, CY]);
    referee.advance(4 * 24);
    let all = matches(&referee, "EV-SPRING");
    with_words(&referee, ANN, "Spring League begins.")[0]
        .says("the GM decides the matches that still run then");
    let first = address_of(&all[0].players.first);
    with_words(&referee, &first, "plays Quad with you")[0].says("If it still runs then, the GM decides it.");
    play_until_resigned(&referee, &all[0], Seat::First);
    referee.advance(11 * 24);
    with_words(&referee, &first, "The GM decides the matches that still run then")[0]
        .keeps_silent_of("you would");
    referee.advance(10 * 24);
    let asked = "its plan leaves unfinished matches to you";
    with_words(&referee, GM, asked)[0].says(&all[1].id).keeps_silent_of(&format!("{},", all[0].id));
    assert_eq!(event(&referee, "EV-SPRING").stage, EventStage::Running);
    // The GM grants more time, and is asked again at the new end.
    gm(&referee, "GM EVENT EV-SPRING EXTEND 2 days They are slow.").says("Done. The event now:");
    referee.advance(24);
    assert_eq!(with_words(&referee, GM, asked).len(), 1);
    referee.advance(3 * 24);
    assert_eq!(with_words(&referee, GM, asked).len(), 2);
    gm(&referee, &format!("GM MATCH {} ABANDON", all[1].id));
    for one in &all[2..] {
        gm(&referee, &format!("GM MATCH {} FORFEIT first", one.id));
    }
    referee.advance(1);
    let closed = event(&referee, "EV-SPRING");
    assert_eq!(closed.stage, EventStage::Entries);
    let games = &closed.season().expect("a season").games;
    let outcomes: Vec<BookOutcome> =
        games.iter().filter_map(|game| Some(game.result.as_ref()?.outcome)).collect();
    assert_eq!(outcomes[1], BookOutcome::None);
    assert!(outcomes[2..].iter().all(|outcome| *outcome == BookOutcome::Second), "{outcomes:?}");
    // A GM's decision does not make anybody count as vanished.
    assert_eq!(closed.entrants.len(), 3);
    referee.write(CY, "LEAVE EV-SPRING CONFIRM");
    gm(
        &referee,
        &format!("GM EVENT NEW\n{}\nEND", plan.replace("SPRING", "NEXT").replace("2026-05", "2026-08")),
    );
    referee.write(CY, "ENTER EV-NEXT");
    referee.last_to(CY).says("You are in");
}

#[test]
fn a_cancelled_event_tells_its_players_and_its_matches_go_on() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    gm(&referee, "GM EVENT EV-SPRING CANCEL").says("CANCEL needs words behind it.");
    referee.advance(4 * 24);
    gm(&referee, "CHECK\nGM EVENT EV-SPRING CANCEL Too many are away.").says("This would be done");
    assert_eq!(event(&referee, "EV-SPRING").stage, EventStage::Running);
    gm(&referee, "GM EVENT EV-SPRING CANCEL Too many are away.").says("Done. The event now:");
    for address in [ANN, BO, CY] {
        let told = with_words(&referee, address, "has cancelled Spring League");
        assert_eq!(told.len(), 1, "{address}");
        told[0].says("> Too many are away.").says("Your matches in it go on as friendly ones.");
    }
    let all = matches(&referee, "EV-SPRING");
    assert!(all.iter().all(|one| one.stage != Stage::Over));
    play_until_resigned(&referee, &all[0], Seat::First);
    referee.advance(1);
    assert_eq!(event(&referee, "EV-SPRING").stage, EventStage::Cancelled);
    gm(&referee, "GM EVENT EV-SPRING OPEN").says("EV-SPRING is cancelled; nothing of it changes any more.");
    referee.write(DI, "ENTER EV-SPRING");
    referee.last_to(DI).says("EV-SPRING takes no entries any more: it is cancelled.");
}

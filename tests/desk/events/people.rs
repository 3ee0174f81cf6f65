//! Players who leave, lose their addresses or are merged, and the names that a newcomer may read.

use fogpost::club::events::event::EventStage;
use fogpost::club::events::verify;
use fogpost::daemon::instruct;
use fogpost::game::Seat;
use fogpost::ledger::book::{BookFact, BookOutcome};
use fogpost::referee::{EventAction, ImportedResult, Instruction};

use super::{
    CY, DI, EVE, LEAGUE, about, announced, book, club, event, gm, matches, play_until_resigned, with_words,
};
use crate::referee::{ANN, BO, GM};

#[test]
fn a_player_without_an_address_loses_without_a_move_and_the_event_goes_on() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY, DI]);
    // The audit names the letters of those who never had an address.
    referee.untidy.set(true);
    referee.change_database("DELETE FROM address WHERE address = 'di@players.example'");
    // The next address is lost when the sections are drawn but not yet opened.
    let open = Instruction::Event { id: "EV-SPRING".to_owned(), action: EventAction::Open };
    referee.block_on(instruct::carry_out(referee.office(), &open)).expect("drawn");
    assert_eq!(event(&referee, "EV-SPRING").season().map(|season| season.list.len()), Some(3));
    referee.change_database("DELETE FROM address WHERE address = 'cy@players.example'");
    referee.work();
    assert_eq!(matches(&referee, "EV-SPRING").len(), 2);
    with_words(&referee, GM, "has begun without Cy")[0].says("Their opponents have won these matches");
    let games = event(&referee, "EV-SPRING").season().expect("a season").games.clone();
    let lost = games.iter().filter_map(|game| game.result.as_ref());
    assert_eq!(lost.clone().count(), 4);
    assert!(lost.clone().all(|result| result.match_id.is_none() && result.vanished.is_some()));
    assert_eq!(lost.filter(|result| result.outcome == BookOutcome::First).count(), 2);
    let started = with_words(&referee, ANN, "Spring League begins.");
    assert_eq!(started[0].text.matches("against Bo").count(), 2);
    started[0].keeps_silent_of("against Cy");
    matches(&referee, "EV-SPRING").iter().for_each(|one| play_until_resigned(&referee, one, Seat::First));
    referee.advance(1);
    let closed = event(&referee, "EV-SPRING");
    assert_eq!((closed.stage, closed.entrants.len()), (EventStage::Entries, 2));
    assert_eq!(verify(&book(&referee, "EV-SPRING")), []);
}

#[test]
fn whoever_leaves_the_club_leaves_its_events() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY, DI]);
    referee.advance(4 * 24);
    let letter =
        referee.all_to(DI).into_iter().rfind(|sent| sent.text.contains("Reply token")).expect("a letter");
    referee.sent_to(DI);
    referee.reply(DI, &letter, "LEAVE CONFIRM");
    let asked = with_words(&referee, DI, "you want to leave").pop().expect("a question");
    let code = asked.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM ")).expect("a code");
    referee.reply(DI, &asked, &format!("CONFIRM {code}"));
    let left =
        book(&referee, "EV-SPRING").into_iter().filter(|entry| matches!(entry.fact, BookFact::Left { .. }));
    assert_eq!(left.count(), 1);
    assert_eq!(event(&referee, "EV-SPRING").entrants.len(), 3);
}

#[test]
fn two_who_become_one_keep_the_blocks_of_both_and_cannot_be_in_one_event() {
    let referee = club("");
    // SETTINGS and BLOCK need a known sender; these have no matches.
    referee.write(BO, "BLOCK Cy");
    gm(&referee, &format!("GM PLAYER BLOCK {CY}"));
    gm(&referee, &format!("GM PLAYER MERGE {CY} INTO {DI}")).says("Letters from this player go unread.");
    referee.write(DI, "CHALLENGE Bo quad");
    assert!(with_words(&referee, DI, "challenge").is_empty(), "a GM's block holds for both addresses");
    gm(&referee, &format!("GM PLAYER UNBLOCK {DI}"));
    referee.write(DI, "CHALLENGE Bo quad");
    referee.last_to(DI).says("Bo (P-2) cannot be challenged.");
    announced(&referee, LEAGUE, &[ANN, EVE]);
    assert_eq!(event(&referee, "EV-SPRING").entrants.len(), 2);
    gm(&referee, &format!("GM PLAYER MERGE {ANN} INTO {EVE}"))
        .says("Ann and Eve cannot become one player, because both are in EV-SPRING.");
}

#[test]
fn whoever_becomes_another_player_keeps_the_place_in_an_event_and_its_book_verifies() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    gm(&referee, &format!("GM PLAYER MERGE {CY} INTO {DI}")).says("Plays in");
    for one in matches(&referee, "EV-SPRING") {
        gm(&referee, &format!("GM MATCH {} FORFEIT first", one.id));
    }
    referee.advance(1);
    let closed = event(&referee, "EV-SPRING");
    assert_eq!((closed.stage, closed.entrants.len()), (EventStage::Entries, 3));
    with_words(&referee, DI, "This is how you all finished:")[0].says("They are one person.");
    referee.advance(8 * 24);
    assert_eq!(event(&referee, "EV-SPRING").season().map(|season| season.no), Some(2));
}

#[test]
fn a_newcomer_who_enters_an_event_reads_no_names() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN]);
    let zed = "zed@players.example";
    referee.answer_for(zed);
    referee.write(zed, "ENTER EV-SPRING");
    referee.last_to(zed).says("You are in");
    referee.write(zed, "PROFILE Bo");
    referee.last_to(zed).says("Nobody of that name takes challenges from strangers");
    // A player whom the GM enters counts as registered by the GM.
    gm(&referee, "GM EVENT EV-SPRING ENTER yan@players.example He asked me.");
    referee.answer_for("yan@players.example");
    referee.write("yan@players.example", "PROFILE Bo");
    referee.last_to("yan@players.example").says("Bo (P-");
}

#[test]
fn acts_below_the_standings_name_a_player_who_is_not_public_only_to_opponents() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    let all = matches(&referee, "EV-SPRING");
    let of_bo =
        all.iter().find(|one| one.players.first == "Bo" || one.players.second == "Bo").expect("a match");
    referee.reply(BO, &about(&referee, BO, &of_bo.id), "SETTINGS public=off");
    referee.last_to(BO).says("| public=off");
    let acts = "GM EVENT EV-SPRING STRIKE Bo He did not answer.\nGM EVENT EV-SPRING ENTER Bo He is back.";
    gm(&referee, acts).says("Done. The event now:");
    for (reader, shown) in [(ANN, "Bo"), (BO, "Bo"), (DI, "P-2")] {
        referee.write(reader, "STANDINGS EV-SPRING");
        let told = referee.last_to(reader);
        told.says(&format!("struck {shown}: He did not answer."));
        told.says(&format!("let {shown} in: He is back."));
    }
}

/// Rows are loaded together: a decision that asked for people one by one would give up.
#[test]
fn an_event_of_many_is_taken_over_opened_decided_and_drawn_again() {
    let referee = club("");
    let plan = LEAGUE.replace("league", "ladder").replace("season_days = 30", "season_days = 14");
    let plan = plan.replace("section_size = 3", "games = 1").replace("\ndays = 3", "\ndays = 30");
    gm(&referee, &format!("GM EVENT NEW\n{plan}\nEND"));
    let person = |no: u64| format!("player{no}@players.example");
    let row = |no: u64| ImportedResult {
        line: no,
        section: u32::try_from(no).expect("few"),
        first: person(2 * no),
        second: person(2 * no + 1),
        outcome: (no > 35).then_some(BookOutcome::Draw),
    };
    let action = EventAction::Import { rows: (1..=37).map(row).collect() };
    let import = Instruction::Event { id: "EV-SPRING".to_owned(), action };
    referee.block_on(instruct::carry_out(referee.office(), &import)).expect("taken over");
    referee.work();
    assert_eq!(matches(&referee, "EV-SPRING").len(), 35);
    let stored = referee.block_on(referee.office().store.event("EV-SPRING")).expect("the store answers");
    assert_eq!(stored.expect("an event").version, 3, "announced, taken over, and all sections opened");
    referee.advance(15 * 24);
    let closed = event(&referee, "EV-SPRING");
    assert_eq!((closed.stage, closed.entrants.len()), (EventStage::Entries, 74));
    // Imported results do not count as acts of the GM.
    for no in [2, 74] {
        with_words(&referee, &person(no), "is over.")[0].keeps_silent_of("the GM, ");
    }
    referee.advance(7 * 24);
    assert_eq!(event(&referee, "EV-SPRING").season().map(|season| season.no), Some(2));
    assert_eq!(matches(&referee, "EV-SPRING").len(), 37);
    gm(&referee, "GM EVENT EV-SPRING CANCEL It was a test.").says("Done. The event now:");
}

#[test]
fn an_entry_for_an_event_makes_nobody_less_of_a_newcomer() {
    let referee = club("");
    announced(&referee, LEAGUE, &[]);
    let new = "new@elsewhere.example";
    referee.answer_for(new);
    referee.write(new, "ENTER EV-SPRING");
    referee.last_to(new).says("You are in");
    for n in 0..5 {
        referee.write(new, &format!("CHALLENGE p{n}@players.example Quad"));
    }
    referee.last_to(new).says("you can challenge or join 3 people a day");
    referee.one_to("p0@players.example").says("new@elsewhere.example invites you");
    assert!(referee.sent_to("p3@players.example").is_empty());
}

#[test]
fn words_about_a_running_event_are_answered_in_a_few_lines() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    let begins =
        referee.sent_to(ANN).into_iter().find(|sent| sent.subject.contains("begins")).expect("a letter");
    for text in ["How many games do I still have to play?", "Combien de parties me reste-t-il ?"] {
        referee.reply(ANN, &begins, text);
        let answer = referee.one_to(ANN);
        answer.says("your 4 matches in it have no result yet").keeps_silent_of("S-B");
        assert!(answer.text.lines().count() < 25, "{}", answer.text);
    }
    for text in ["Four at once is too much, can I drop two?", "What if Cy quits in the middle?"] {
        referee.reply(ANN, &begins, text);
        referee.one_to(ANN).says("Nobody can drop single matches").keeps_silent_of("S-B");
    }
    for text in [
        "Can I see the standings?",
        "Who leads the table?",
        "who's first",
        "Auf welchem Platz stehe ich?",
        "Qui est en tête ?",
        "¿Quién va primero?",
        "Chi guida la classifica?",
        "Kto prowadzi?",
        "Кто на первом месте?",
        "首位は誰ですか。",
    ] {
        referee.reply(ANN, &begins, text);
        referee.last_to(ANN).says("S-B");
    }
}

//! A cup from the first round to its final.

use fogpost::club::events::event::EventStage;
use fogpost::game::Seat;

use super::{
    CY, DI, EVE, LEAGUE, address_of, announced, club, event, gm, matches, play_until_resigned, with_words,
};
use crate::referee::{ANN, BO, GM};
use crate::screen::Browser;
use crate::site;

#[test]
fn a_cup_goes_on_although_it_takes_no_entries_and_with_whoever_takes_over_a_place() {
    let referee = club("");
    let cup = LEAGUE.replace("league", "cup").replace("section_size = 3", "section_size = 2\ngames = 1");
    announced(&referee, &cup, &[ANN, BO, CY, DI]);
    gm(&referee, "GM EVENT EV-SPRING CLOSE").says("Done. The event now:");
    referee.advance(4 * 24);
    let begun = "EV-SPRING has begun: nobody can enter it any more, and it ends with its final.";
    gm(&referee, "GM EVENT EV-SPRING CLOSE").says(begun);
    let first = matches(&referee, "EV-SPRING");
    assert_eq!(first.len(), 2);
    first.iter().for_each(|one| play_until_resigned(&referee, one, Seat::First));
    referee.advance(1);
    for one in &first {
        let winner = address_of(&one.players.second);
        assert_eq!(with_words(&referee, &winner, "and you are in. If you").len(), 1, "{winner}");
        let loser = address_of(&one.players.first);
        assert_eq!(with_words(&referee, &loser, "without you this time").len(), 1, "{loser}");
    }
    gm(&referee, "GM EVENT EV-SPRING CLOSE").says(begun);
    assert_eq!(event(&referee, "EV-SPRING").stage, EventStage::Entries);
    let folder = tempfile::tempdir().expect("a folder");
    site::build(&referee, folder.path());
    let files = site::files(folder.path());
    for path in ["events/index.html", "events/EV-SPRING/index.html"] {
        assert!(files[path].contains("<span class=\"tag\">between rounds</span>"), "{}", files[path]);
        assert!(!files[path].contains("ENTER%20"), "nobody can enter: {}", files[path]);
    }
    referee.write(EVE, "EVENTS");
    referee.last_to(EVE).says("Round 2 begins").keeps_silent_of("ENTER EV-SPRING");
    let browser = Browser::of_gm(&referee);
    browser.get("/events?q=between+rounds").says("EV-SPRING");
    browser.get("/event/EV-SPRING").says("between rounds");
    let ill = &first[0].players.second;
    gm(&referee, &format!("GM EVENT EV-SPRING REPLACE {ill} Eve They are ill.")).says("Done. The event now:");
    referee.advance(8 * 24);
    let last = matches(&referee, "EV-SPRING");
    assert_eq!((last.len(), event(&referee, "EV-SPRING").seasons.len()), (1, 2));
    let finalists = [Seat::First, Seat::Second].map(|seat| last[0].players[seat].clone());
    assert!(finalists.contains(&"Eve".to_owned()) && !finalists.contains(ill), "{finalists:?}");
}

#[test]
fn whoever_is_left_in_a_cup_goes_on_and_without_anybody_it_can_only_be_cancelled() {
    let referee = club("");
    let cup = LEAGUE.replace("league", "cup").replace("section_size = 3", "section_size = 2\ngames = 1");
    announced(&referee, &cup, &[ANN, BO, CY, DI]);
    referee.advance(4 * 24);
    let first = matches(&referee, "EV-SPRING");
    first.iter().for_each(|one| play_until_resigned(&referee, one, Seat::First));
    referee.advance(1);
    let leaves = |name: &str| gm(&referee, &format!("GM EVENT EV-SPRING STRIKE {name} They are ill."));
    // Whoever came next in a section goes on instead of its winner who leaves.
    let [one, other] = &first[..] else { panic!("{first:?}") };
    leaves(&one.players.second).says("is out");
    leaves(&one.players.first).says("is out");
    leaves(&other.players.second).says("is out");
    gm(&referee, "CHECK\nGM EVENT EV-SPRING OPEN").says("This would be done");
    leaves(&other.players.first).says("is out");
    gm(&referee, "GM EVENT EV-SPRING OPEN")
        .says("Nobody is left who goes on in EV-SPRING. To end it, write GM EVENT EV-SPRING CANCEL");
    referee.advance(9 * 24);
    assert_eq!(with_words(&referee, GM, "but nobody is left who goes on.").len(), 1);
}

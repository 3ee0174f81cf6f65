//! An older backup is restored: the clock opens the matches of an event again, and the letters in them count.

use std::collections::BTreeMap;

use fogpost::game::Seat;
use fogpost::referee::{Match, Stage};

use super::{CY, LEAGUE, about, address_of, announced, club, matches, play_until_resigned, with_words};
use crate::referee::{ANN, BO, GM};

/// What a restore must bring about again, by the names of the players.
fn essence(matches: Vec<Match>) -> BTreeMap<[String; 2], (String, String, usize, Stage)> {
    let entry = |one: Match| {
        let players = Seat::BOTH.map(|seat| one.players[seat].clone());
        (players, (one.id.clone(), one.first_key().veil(1), one.adjudicated.len(), one.stage))
    };
    matches.into_iter().map(entry).collect()
}

#[test]
fn matches_that_the_clock_opened_since_the_backup_open_again_and_the_letters_in_them_count() {
    let mut referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO]);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    referee.advance(24);
    referee.write(CY, "ENTER EV-SPRING");
    referee.advance(3 * 24);
    let opened = matches(&referee, "EV-SPRING");
    assert_eq!(opened.len(), 6);
    for (no, one) in opened.iter().take(5).enumerate() {
        play_until_resigned(&referee, one, if no % 2 == 0 { Seat::First } else { Seat::Second });
    }
    let [.., last] = &opened[..] else { panic!("no match") };
    let first = address_of(&last.players.first);
    let to_first = about(&referee, &first, &last.id);
    referee.reply(&first, &to_first, "MARBLE E5");
    let second = address_of(&last.players.second);
    let to_second = about(&referee, &second, &last.id);
    let before = essence(matches(&referee, "EV-SPRING"));
    referee.sleep(1);

    referee.restore(&backup);
    referee.work();
    assert_eq!(essence(matches(&referee, "EV-SPRING")), before);
    assert!(with_words(&referee, ANN, "A match was lost").is_empty());
    let told = with_words(&referee, GM, "replaced by a backup");
    assert_eq!(told.len(), 1);
    told[0].keeps_silent_of("does not know them");
    // A letter from before the restore is still good to answer.
    referee.reply(&second, &to_second, "MARBLE F6");
    assert_eq!(referee.find(&last.id).adjudicated.len(), 2);
    referee.advance(2);
    assert_eq!(matches(&referee, "EV-SPRING").len(), 6, "nothing opens twice");
}

#[test]
fn an_answer_to_a_letter_about_an_event_counts_again() {
    let mut referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    referee.advance(4 * 24);
    let begins = about(&referee, ANN, "[EV-SPRING]");
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    referee.sleep(1);
    referee.reply(ANN, &begins, "EVENTS");
    let told = referee.all_to(ANN).len();
    referee.sleep(1);

    referee.restore(&backup);
    referee.work();
    assert!(with_words(&referee, ANN, "A match was lost").is_empty());
    assert_eq!(referee.all_to(ANN).len(), told + 1, "the answer goes out again");
    with_words(&referee, GM, "replaced by a backup")[0].keeps_silent_of("does not know them");
}

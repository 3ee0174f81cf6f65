//! The next opponent: REMATCH, challenges by name and number, standing offers, BLOCK, PROFILE, and how reliably
//! players file.

use fogpost::game::any::GameKind;
use fogpost::referee::{Match, Stage};

use crate::desk::{ANN, BO, Desk, GM, Sent};
use crate::positions::quad;

const CY: &str = "cy@players.example";
const EVE: &str = "eve@elsewhere.example";

/// The code that follows this word in a letter.
fn code(sent: &Sent, word: &str) -> String {
    let line = sent.text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
    line.unwrap_or_else(|| panic!("no {word} in:\n{}", sent.text)).to_owned()
}

/// Whether this person was told that a match begins.
fn begins(desk: &Desk, reader: &str) -> bool {
    desk.sent_to(reader).iter().any(|sent| sent.text.contains("begins; its first letter"))
}

fn matches(desk: &Desk) -> Vec<Match> {
    let ids = desk.block_on(desk.office().store.match_ids()).expect("the store answers");
    ids.iter().map(|id| desk.find(id)).collect()
}

/// The running match other than `first`.
fn other(desk: &Desk, first: &Match) -> Match {
    let mut others = matches(desk);
    others.retain(|one| one.id != first.id && one.stage == Stage::Running);
    assert_eq!(others.len(), 1, "one more match");
    others.remove(0)
}

fn gm(desk: &Desk, lines: &str) -> Sent {
    if desk.all_to(GM).is_empty() {
        desk.write(GM, "GM LIST");
    }
    let last = desk.all_to(GM).pop().expect("a letter with the GM's token");
    desk.sent_to(GM);
    desk.reply(GM, &last, lines);
    desk.sent_to(GM).into_iter().find(|sent| sent.in_reply_to.is_some()).expect("an answer")
}

/// A match of Quad that Ann has resigned, and the result letters.
fn resigned(desk: &Desk) -> (Match, Sent, Sent) {
    let (game_match, to_ann, _) = quad(desk);
    desk.reply(ANN, &to_ann, "RESIGN CONFIRM");
    let to_ann =
        desk.sent_to(ANN).into_iter().find(|sent| sent.subject.contains("has won")).expect("a result");
    (game_match, to_ann, desk.last_to(BO))
}

#[test]
fn two_who_ask_for_a_rematch_get_one_match_with_the_seats_exchanged() {
    let desk = Desk::new();
    let (first, to_ann, to_bo) = resigned(&desk);
    to_ann.says("To play the same again").says("| REMATCH");
    assert!(to_ann.html.contains("Play again"), "a link");
    desk.reply(ANN, &to_ann, "REMATCH");
    desk.one_to(ANN).says("Bo is offered a rematch").keeps_silent_of("bo@players");
    let invitation = desk.one_to(BO);
    invitation.says(&format!("Ann (P-1) offers you a rematch after {}", first.id));
    invitation.says("Ann has not owed a turn to anybody here so far.").says("| ACCEPT");
    desk.reply(BO, &to_bo, "REMATCH");
    assert!(begins(&desk, BO), "an answer");
    let again = other(&desk, &first);
    assert_eq!((again.players.first.as_str(), again.terms.days), ("Bo", first.terms.days));
    desk.sent_to(ANN);
    desk.reply(ANN, &to_ann, "REMATCH");
    desk.one_to(ANN).says(&format!("The rematch has begun: it is {}", again.id));
    assert_eq!(matches(&desk).len(), 2, "one match follows another");
}

#[test]
fn whoever_wants_another_rematch_reads_both_and_may_answer_yes() {
    let desk = Desk::new();
    let (first, to_ann, to_bo) = resigned(&desk);
    desk.reply(ANN, &to_ann, "REMATCH days=3");
    desk.reply(ANN, &to_ann, "REMATCH days=3");
    desk.last_to(ANN).says("It waits for your opponent");
    desk.sent_to(BO);
    desk.reply(BO, &to_bo, "REMATCH days=5 swap=on");
    let both = desk.one_to(BO);
    both.says("Quad, 3 days a turn").says("You wanted:").says("Quad, 5 days a turn").says("| YES");
    desk.reply(BO, &both, "YES");
    let again = other(&desk, &first);
    assert_eq!((again.players.first.as_str(), again.terms.days), ("Bo", 3));
}

#[test]
fn a_rematch_waits_for_the_end_and_lapses_thirty_days_after_it() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "REMATCH");
    desk.one_to(ANN).says(&format!("{} still runs", game_match.id));
    desk.reply(ANN, &to_ann, "RESIGN CONFIRM");
    let result = desk.last_to(BO);
    desk.sent_to(ANN);
    desk.advance(31 * 24);
    desk.reply(BO, &result, "REMATCH");
    desk.last_to(BO).says("The match is over; this no longer has any effect.");
    assert!(desk.sent_to(ANN).is_empty());
}

#[test]
fn a_rematch_against_the_house_begins_at_once_at_the_same_level() {
    let desk = Desk::answering(ANN, "");
    desk.write(ANN, "CHALLENGE house quad level=easy first=me");
    let invitation =
        desk.sent_to(ANN).into_iter().find(|sent| sent.text.contains("Reply token")).expect("it begins");
    let first = matches(&desk).remove(0);
    desk.reply(ANN, &invitation, "RESIGN CONFIRM");
    let result =
        desk.sent_to(ANN).into_iter().find(|sent| sent.subject.contains("has won")).expect("a result");
    desk.reply(ANN, &result, "REMATCH");
    let again = other(&desk, &first);
    assert_eq!(again.house.first.as_deref(), Some("easy"), "the seats are exchanged");
}

#[test]
fn a_player_is_challenged_by_name_or_number_and_no_address_is_told() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    for opponent in ["Bo", "bo", "P-2"] {
        desk.reply(ANN, &to_ann, &format!("CHALLENGE {opponent} Quantum days=3"));
        let told = desk.one_to(ANN);
        told.says("Bo (P-2) has been challenged").keeps_silent_of("bo@players");
        let invitation = desk.one_to(BO);
        invitation.says("Ann (P-1) invites you to a match").keeps_silent_of("ann@players");
        let decline = format!("DECLINE {}", code(&invitation, "DECLINE"));
        desk.reply(BO, &invitation, &decline);
        desk.one_to(ANN).says("has declined").keeps_silent_of("bo@players");
        desk.sent_to(BO);
    }
    desk.reply(ANN, &to_ann, "CHALLENGE Boo quad");
    desk.one_to(ANN).says("Nobody here goes by Boo. Did you mean Bo (P-2)?");
    desk.reply(ANN, &to_ann, "CHALLENGE P-9 quad");
    desk.one_to(ANN).says("Nobody here goes by P-9");
    desk.reply(ANN, &to_ann, "CHALLENGE Ann quad");
    desk.one_to(ANN).says("An opponent must be somebody else");
    gm(&desk, &format!("GM PLAYER ADD {CY} Bo Baker\nGM PLAYER ADD bob@players.example Bo Brown"));
    desk.reply(ANN, &to_ann, "CHALLENGE Bo B quad");
    desk.one_to(ANN).says("Several players go by Bo B").says("- Bo Baker (P-").says("- Bo Brown (P-");
    desk.reply(ANN, &to_ann, "CHALLENGE Bo quad");
    desk.one_to(ANN).says("Bo (P-2) has been challenged");
}

#[test]
fn a_stranger_learns_nobodys_name_or_number() {
    let desk = Desk::answering(EVE, "");
    quad(&desk);
    for line in ["CHALLENGE Bo quad", "CHALLENGE P-2 quad", "CHALLENGE Nobody quad", "PROFILE Bo", "BLOCK Bo"]
    {
        desk.write(EVE, line);
        desk.one_to(EVE).says("Nobody of that name takes challenges from strangers; OPEN finds anyone.");
        assert!(desk.sent_to(BO).is_empty(), "{line}");
    }
    // The same holds for somebody who has played only the house.
    desk.write(EVE, "CHALLENGE house quad level=easy first=me");
    desk.sent_to(EVE);
    desk.write(EVE, "PROFILE Bo");
    desk.one_to(EVE).says("Nobody of that name takes challenges from strangers");
}

#[test]
fn a_player_who_is_not_public_is_found_by_opponents_alone() {
    let desk = Desk::new();
    let (_, to_ann, to_bo) = quad(&desk);
    desk.reply(BO, &to_bo, "SETTINGS public=off limit=0\nSETTINGS public=off");
    desk.one_to(BO).says("The limit is a number of matches from 1 to 500").says("| SETTINGS limit=8");
    desk.reply(BO, &to_bo, "SETTINGS public=off limit=8");
    desk.one_to(BO).says("| public=off").says("| limit=8");
    gm(&desk, &format!("GM PLAYER ADD {CY} Cy Young"));
    desk.answer_for(CY);
    desk.write(CY, "PROFILE Bo");
    desk.one_to(CY).says("Nobody here goes by Bo.").keeps_silent_of("P-2");
    desk.write(CY, "PROFILE P-2");
    desk.one_to(CY).says("Nobody here goes by P-2.");
    desk.reply(ANN, &to_ann, "PROFILE Bo");
    desk.one_to(ANN).says("Bo (P-2)").says("Running matches: 1").says("| CHALLENGE P-2 quad");
}

#[test]
fn a_block_keeps_both_apart_and_nobody_is_told() {
    let desk = Desk::new();
    let (_, to_ann, to_bo) = quad(&desk);
    desk.reply(ANN, &to_ann, "BLOCK Bo");
    let told = desk.one_to(ANN);
    told.says("You and Bo (P-2) no longer take each other's offers").says("| UNBLOCK P-2");
    assert!(desk.sent_to(BO).is_empty());
    desk.reply(BO, &to_bo, "CHALLENGE Ann quad");
    desk.one_to(BO).says("Ann (P-1) cannot be challenged.");
    desk.reply(ANN, &to_ann, "CHALLENGE Bo quad\nOPEN quad");
    let opened = desk.one_to(ANN);
    opened.says("Bo (P-2) cannot be challenged.");
    let code = code(&opened, "JOIN");
    desk.reply(BO, &to_bo, &format!("GAMES\nJOIN {code}"));
    // Without the seat, the list would tell Bo of the block. Ann's own list leaves Bo's out.
    desk.one_to(BO).says("Ann cannot be challenged.").says(&format!("| JOIN {code}"));
    desk.reply(BO, &to_bo, "OPEN quad");
    desk.sent_to(BO);
    desk.reply(ANN, &to_ann, "GAMES");
    desk.one_to(ANN).says(&format!("| JOIN {code}")).keeps_silent_of("Bo (P-2) offers");
    desk.reply(ANN, &to_ann, "UNBLOCK P-2");
    desk.one_to(ANN).says("can take each other's offers again");
    desk.reply(BO, &to_bo, &format!("JOIN {code}"));
    assert!(begins(&desk, BO), "an answer");
    desk.sent_to(ANN);
    for (line, says) in [
        ("BLOCK Ann", "You can BLOCK a player whose offers you do not want"),
        ("BLOCK house", "You can BLOCK a player whose offers you do not want"),
        ("BLOCK Nobody", "Nobody here goes by Nobody."),
        ("BLOCK", "The line lacks the name or the number of a player."),
    ] {
        desk.reply(ANN, &to_ann, line);
        desk.one_to(ANN).says(says);
    }
}

#[test]
fn a_standing_offer_is_taken_so_often_and_once_by_a_person() {
    let desk = Desk::new();
    let (_, to_ann, to_bo) = quad(&desk);
    desk.answer_for(CY);
    desk.reply(ANN, &to_ann, "OPEN quad times=2 days=3");
    let opened = desk.one_to(ANN);
    opened.says("times can be taken 2 times").says("| CLOSE");
    let code = code(&opened, "JOIN");
    desk.reply(BO, &to_bo, &format!("JOIN {code}"));
    desk.sent_to(BO);
    desk.reply(BO, &to_bo, &format!("JOIN {code}"));
    desk.one_to(BO).says("You have taken this offer already").says("Yours is QD-");
    desk.write(CY, "GAMES");
    desk.one_to(CY).says("can be taken once more").says(&format!("| JOIN {code}"));
    desk.write(CY, &format!("JOIN {code}"));
    let first = matches(&desk);
    assert_eq!(first.len(), 3);
    let keys: Vec<_> = first.iter().filter_map(|one| one.lot.as_ref()).map(|lot| lot.key.pin()).collect();
    assert_ne!(keys[0], keys[1], "each match has a key of its own");
    desk.sent_to(CY);
    desk.write(CY, &format!("JOIN {code}"));
    desk.one_to(CY).says("is open to you");
    desk.sent_to(ANN);
    for (line, says) in [
        ("OPEN quad times=11", "`times` is a number from 1 to 10"),
        ("CHALLENGE Bo quad times=2", "`times` is for OPEN"),
        ("OPEN quad reliable=0", "`reliable` is a number from 1 to 100"),
        ("CLOSE 7K3M9P", "No offer with the code 7K3M9P is open to you"),
    ] {
        desk.reply(ANN, &to_ann, line);
        desk.one_to(ANN).says(says);
    }
}

#[test]
fn a_standing_offer_lapses_after_thirty_days_rests_at_the_limit_and_can_be_closed() {
    let desk = Desk::new();
    let (_, to_ann, to_bo) = quad(&desk);
    desk.reply(ANN, &to_ann, "SETTINGS limit=1\nOPEN quantum times=3");
    let code = code(&desk.one_to(ANN), "JOIN");
    desk.reply(BO, &to_bo, &format!("GAMES\nJOIN {code}"));
    desk.one_to(BO).says("Ann plays as many matches as they want at present").keeps_silent_of("Open seats");
    desk.reply(ANN, &to_ann, "SETTINGS limit=off");
    desk.sent_to(ANN);
    desk.reply(BO, &to_bo, "GAMES");
    desk.one_to(BO).says("Ann (P-1) offers");
    desk.reply(ANN, &to_ann, &format!("CLOSE {code}\nOPEN quantum times=3"));
    desk.one_to(ANN).says("no longer stands");
    desk.advance(31 * 24);
    let lapsed = desk.sent_to(ANN);
    assert!(lapsed.iter().any(|sent| sent.text.contains("it has lapsed")));
}

#[test]
fn turns_filed_late_stand_in_the_letter_that_asks_somebody_to_play() {
    let desk = Desk::with("days = 1\ngrace_hours = 12\nforfeit_after = 9\n");
    let (_, to_ann, _) = quad(&desk);
    // Ann is in time, then late.
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.sent_to(ANN);
    desk.reply(BO, &desk.last_to(BO), "MARBLE F6");
    desk.advance(24 + 14);
    desk.reply(ANN, &desk.last_to(ANN), "MARBLE G7");
    desk.sent_to(ANN);
    desk.sent_to(BO);
    desk.reply(ANN, &to_ann, "CHALLENGE Bo quantum");
    desk.one_to(ANN).says("Bo (P-2) has been challenged");
    desk.last_to(BO).says("Ann has filed 1 of 2 turns in time so far.");
    desk.write(BO, "PROFILE");
    desk.last_to(BO).says("Bo has filed 1 of 1 turns in time so far.").says("Running matches: 1");
}

#[test]
fn an_offer_for_reliable_players_refuses_who_files_late() {
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quad(&desk);
    let rows: Vec<String> = (0..10)
        .map(|n| format!("('{}', {}, 'second', 2, {n}, {})", game_match.id, 1000 + n, i32::from(n > 0)))
        .collect();
    let sql = format!(
        "INSERT INTO owed_turn (match_id, seq, seat, player_id, at, in_time) VALUES {}",
        rows.join(", ")
    );
    // The audit names turns that no entry closed.
    desk.untidy.set(true);
    desk.change_database(Box::leak(sql.into_boxed_str()));
    desk.reply(ANN, &to_ann, "OPEN quantum reliable=95");
    let code = code(&desk.one_to(ANN), "JOIN");
    desk.reply(BO, &to_bo, &format!("JOIN {code}"));
    desk.one_to(BO).says("who file 95 of 100 turns in time. Bo filed 9 of his last 10 turns in time.");
    // A player who has owed few turns meets every condition.
    desk.answer_for(CY);
    desk.write(CY, &format!("JOIN {code}"));
    assert!(begins(&desk, CY), "an answer");
}

#[test]
fn open_seats_stand_in_a_digest_that_goes_anyway() {
    let desk = Desk::new();
    let (_, to_ann, to_bo) = quad(&desk);
    desk.answer_for(EVE);
    desk.reply(BO, &to_bo, "OPEN quantum times=2");
    desk.write(EVE, "OPEN pacific");
    desk.reply(ANN, &to_ann, "SETTINGS digest=daily");
    desk.sent_to(ANN);
    desk.advance(24);
    let digest = desk.sent_to(ANN).into_iter().find(|sent| sent.subject.contains("waits for your orders"));
    let digest = digest.expect("a digest");
    digest.says("Bo (P-2) offers Quantum").says("| JOIN");
    digest.keeps_silent_of("Pacific").keeps_silent_of("eve@");
}

#[test]
fn a_name_that_was_given_up_is_kept_for_a_year_and_none_is_a_number_or_a_level() {
    let desk = Desk::new();
    let (_, to_ann, to_bo) = quad(&desk);
    desk.reply(BO, &to_bo, "SETTINGS name=Bodo");
    desk.sent_to(BO);
    desk.sent_to(ANN);
    desk.reply(ANN, &to_ann, "SETTINGS name=Bo");
    desk.one_to(ANN).says("Somebody here goes by this name or did so lately");
    for name in ["P-7", "Quad", "easy", "Rematch", "War in the Pacific"] {
        desk.reply(ANN, &to_ann, &format!("SETTINGS name={name}"));
        desk.one_to(ANN).says("A name is one line of at most 40 letters or digits");
    }
    desk.reply(BO, &to_bo, "SETTINGS name=Bo");
    desk.one_to(BO).says("| name=Bo");
}

#[test]
fn prose_with_the_words_of_commands_is_prose() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(
        ANN,
        &to_ann,
        "MARBLE E5\nrematch some day?\nblock that line\nclose game so far\nchallenge accepted",
    );
    assert!(desk.find(&game_match.id).held.first.is_some(), "the orders count");
    assert_eq!(matches(&desk).len(), 1);
    assert_eq!(GameKind::Quad, game_match.game);
}

#[test]
fn a_mistyped_code_is_answered_with_the_one_that_was_meant_among_those_that_the_sender_may_see() {
    let desk = Desk::new();
    gm(&desk, &format!("GM PLAYER ADD {ANN} Ann\nGM PLAYER ADD {BO} Bo\nGM PLAYER ADD {CY} Cy"));
    [ANN, BO, CY].iter().for_each(|address| desk.answer_for(address));
    desk.write(ANN, "CHALLENGE Bo quad");
    let challenge = code(&desk.last_to(BO), "ACCEPT");
    desk.sent_to(ANN);
    desk.write(ANN, "OPEN quantum");
    let seat = code(&desk.last_to(ANN), "CLOSE");
    // Replace the last character.
    let mistyped =
        |code: &str| format!("{}{}", &code[..code.len() - 1], if code.ends_with('7') { "8" } else { "7" });
    desk.write(BO, &format!("ACCEPT {}", mistyped(&challenge)));
    desk.last_to(BO).says(&format!("Did you mean {challenge}?"));
    desk.write(BO, &format!("JOIN {}", mistyped(&seat)));
    desk.last_to(BO).says(&format!("Did you mean {seat}?"));
    desk.write(ANN, &format!("CLOSE {}", mistyped(&seat)));
    desk.last_to(ANN).says(&format!("Did you mean {seat}?"));
    // Neither a challenge to somebody else nor a less similar code is revealed.
    desk.write(CY, &format!("ACCEPT {}", mistyped(&challenge)));
    desk.last_to(CY).says("It may have been").keeps_silent_of(&challenge);
    desk.write(BO, "ACCEPT 222222");
    desk.last_to(BO).keeps_silent_of("Did you mean");
    desk.write(BO, &format!("ACCEPT {challenge}"));
    assert!(begins(&desk, BO));
}

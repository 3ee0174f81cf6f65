//! The next opponent: REMATCH, challenges by name and number, standing offers, BLOCK, PROFILE, and how reliably
//! players file.

use fogpost::game::any::GameKind;
use fogpost::referee::{Match, Stage};

use crate::positions::quad;
use crate::referee::{ANN, BO, GM, Referee, Sent};

const CY: &str = "cy@players.example";
const EVE: &str = "eve@elsewhere.example";

/// The code that follows this word in a letter.
fn code(sent: &Sent, word: &str) -> String {
    let line = sent.text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
    line.unwrap_or_else(|| panic!("no {word} in:\n{}", sent.text)).to_owned()
}

/// Whether this person was told that a match begins.
fn begins(referee: &Referee, reader: &str) -> bool {
    referee.sent_to(reader).iter().any(|sent| sent.text.contains("begins; its first letter"))
}

fn matches(referee: &Referee) -> Vec<Match> {
    let ids = referee.block_on(referee.office().store.match_ids()).expect("the store answers");
    ids.iter().map(|id| referee.find(id)).collect()
}

/// The running match other than `first`.
fn other(referee: &Referee, first: &Match) -> Match {
    let mut others = matches(referee);
    others.retain(|one| one.id != first.id && one.stage == Stage::Running);
    assert_eq!(others.len(), 1, "one more match");
    others.remove(0)
}

fn gm(referee: &Referee, lines: &str) -> Sent {
    if referee.all_to(GM).is_empty() {
        referee.write(GM, "GM LIST");
    }
    let last = referee.all_to(GM).pop().expect("a letter with the GM's token");
    referee.sent_to(GM);
    referee.reply(GM, &last, lines);
    referee.sent_to(GM).into_iter().find(|sent| sent.in_reply_to.is_some()).expect("an answer")
}

/// A match of Quad that Ann has resigned, and the result letters.
fn resigned(referee: &Referee) -> (Match, Sent, Sent) {
    let (game_match, to_ann, _) = quad(referee);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    let to_ann =
        referee.sent_to(ANN).into_iter().find(|sent| sent.subject.contains("has won")).expect("a result");
    (game_match, to_ann, referee.last_to(BO))
}

#[test]
fn two_who_ask_for_a_rematch_get_one_match_with_the_seats_exchanged() {
    let referee = Referee::new();
    let (first, to_ann, to_bo) = resigned(&referee);
    to_ann.says("To play the same again").says("| REMATCH");
    assert!(to_ann.html.contains("Play again"), "a link");
    referee.reply(ANN, &to_ann, "REMATCH");
    referee.one_to(ANN).says("Bo is offered a rematch").keeps_silent_of("bo@players");
    let invitation = referee.one_to(BO);
    invitation.says(&format!("Ann (P-1) offers you a rematch after {}", first.id));
    invitation.says("Ann has had no turn to play here yet.").says("| ACCEPT");
    referee.reply(BO, &to_bo, "REMATCH");
    assert!(begins(&referee, BO), "an answer");
    let again = other(&referee, &first);
    assert_eq!((again.players.first.as_str(), again.terms.days), ("Bo", first.terms.days));
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "REMATCH");
    referee.one_to(ANN).says(&format!("The rematch has begun: it is {}", again.id));
    assert_eq!(matches(&referee).len(), 2, "one match follows another");
}

#[test]
fn whoever_wants_another_rematch_reads_both_and_may_answer_yes() {
    let referee = Referee::new();
    let (first, to_ann, to_bo) = resigned(&referee);
    referee.reply(ANN, &to_ann, "REMATCH days=3");
    referee.reply(ANN, &to_ann, "REMATCH days=3");
    referee.last_to(ANN).says("It waits for your opponent");
    referee.sent_to(BO);
    referee.reply(BO, &to_bo, "REMATCH days=5 swap=on");
    let both = referee.one_to(BO);
    both.says("Quad, 3 days a turn").says("You wanted:").says("Quad, 5 days a turn").says("| YES");
    referee.reply(BO, &both, "YES");
    let again = other(&referee, &first);
    assert_eq!((again.players.first.as_str(), again.terms.days), ("Bo", 3));
}

#[test]
fn a_rematch_waits_for_the_end_and_lapses_thirty_days_after_it() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "REMATCH");
    referee.one_to(ANN).says(&format!("{} still runs", game_match.id));
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    let result = referee.last_to(BO);
    referee.sent_to(ANN);
    referee.advance(31 * 24);
    referee.reply(BO, &result, "REMATCH");
    referee.last_to(BO).says("The match is over; this no longer has any effect.");
    assert!(referee.sent_to(ANN).is_empty());
}

#[test]
fn a_rematch_against_the_house_begins_at_once_at_the_same_level() {
    let referee = Referee::answering(ANN, "");
    referee.write(ANN, "CHALLENGE house quad level=easy first=me");
    let invitation =
        referee.sent_to(ANN).into_iter().find(|sent| sent.text.contains("Reply token")).expect("it begins");
    let first = matches(&referee).remove(0);
    referee.reply(ANN, &invitation, "RESIGN CONFIRM");
    let result =
        referee.sent_to(ANN).into_iter().find(|sent| sent.subject.contains("has won")).expect("a result");
    referee.reply(ANN, &result, "REMATCH");
    let again = other(&referee, &first);
    assert_eq!(again.house.first.as_deref(), Some("easy"), "the seats are exchanged");
}

#[test]
fn a_player_is_challenged_by_name_or_number_and_no_address_is_told() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    for opponent in ["Bo", "bo", "P-2"] {
        referee.reply(ANN, &to_ann, &format!("CHALLENGE {opponent} Quantum days=3"));
        let told = referee.one_to(ANN);
        told.says("Bo (P-2) has been challenged").keeps_silent_of("bo@players");
        let invitation = referee.one_to(BO);
        invitation.says("Ann (P-1) invites you to a match").keeps_silent_of("ann@players");
        let decline = format!("DECLINE {}", code(&invitation, "DECLINE"));
        referee.reply(BO, &invitation, &decline);
        referee.one_to(ANN).says("has declined").keeps_silent_of("bo@players");
        referee.sent_to(BO);
    }
    referee.reply(ANN, &to_ann, "CHALLENGE Boo quad");
    referee.one_to(ANN).says("Nobody here goes by Boo. Did you mean Bo (P-2)?");
    referee.reply(ANN, &to_ann, "CHALLENGE P-9 quad");
    referee.one_to(ANN).says("Nobody here goes by P-9");
    referee.reply(ANN, &to_ann, "CHALLENGE Ann quad");
    referee.one_to(ANN).says("An opponent must be somebody else");
    gm(&referee, &format!("GM PLAYER ADD {CY} Bo Baker\nGM PLAYER ADD bob@players.example Bo Brown"));
    referee.reply(ANN, &to_ann, "CHALLENGE Bo B quad");
    referee.one_to(ANN).says("Several players go by Bo B").says("- Bo Baker (P-").says("- Bo Brown (P-");
    referee.reply(ANN, &to_ann, "CHALLENGE Bo quad");
    referee.one_to(ANN).says("Bo (P-2) has been challenged");
}

#[test]
fn a_stranger_learns_nobodys_name_or_number() {
    let referee = Referee::answering(EVE, "");
    quad(&referee);
    for line in ["CHALLENGE Bo quad", "CHALLENGE P-2 quad", "CHALLENGE Nobody quad", "PROFILE Bo", "BLOCK Bo"]
    {
        referee.write(EVE, line);
        referee.one_to(EVE).says("Nobody of that name takes challenges from strangers; OPEN finds anyone.");
        assert!(referee.sent_to(BO).is_empty(), "{line}");
    }
    // The same holds for somebody who has played only the house.
    referee.write(EVE, "CHALLENGE house quad level=easy first=me");
    referee.sent_to(EVE);
    referee.write(EVE, "PROFILE Bo");
    referee.one_to(EVE).says("Nobody of that name takes challenges from strangers");
}

#[test]
fn a_player_who_is_not_public_is_found_by_opponents_alone() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    referee.reply(BO, &to_bo, "SETTINGS public=off limit=0\nSETTINGS public=off");
    referee.one_to(BO).says("The limit is a number of matches from 1 to 500").says("| SETTINGS limit=8");
    referee.reply(BO, &to_bo, "SETTINGS public=off limit=8");
    referee.one_to(BO).says("| public=off").says("| limit=8");
    gm(&referee, &format!("GM PLAYER ADD {CY} Cy Young"));
    referee.answer_for(CY);
    referee.write(CY, "PROFILE Bo");
    referee.one_to(CY).says("Nobody here goes by Bo.").keeps_silent_of("P-2");
    referee.write(CY, "PROFILE P-2");
    referee.one_to(CY).says("Nobody here goes by P-2.");
    referee.reply(ANN, &to_ann, "PROFILE Bo");
    referee.one_to(ANN).says("Bo (P-2)").says("Running matches: 1").says("| CHALLENGE P-2 quad");
}

#[test]
fn a_block_keeps_both_apart_and_nobody_is_told() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "BLOCK Bo");
    let told = referee.one_to(ANN);
    told.says("You and Bo (P-2) no longer take each other's offers").says("| UNBLOCK P-2");
    assert!(referee.sent_to(BO).is_empty());
    referee.reply(BO, &to_bo, "CHALLENGE Ann quad");
    referee.one_to(BO).says("Ann (P-1) cannot be challenged.");
    referee.reply(ANN, &to_ann, "CHALLENGE Bo quad\nOPEN quad");
    let opened = referee.one_to(ANN);
    opened.says("Bo (P-2) cannot be challenged.");
    let code = code(&opened, "JOIN");
    referee.reply(BO, &to_bo, &format!("GAMES\nJOIN {code}"));
    // Without the seat, the list would tell Bo of the block. Ann's own list leaves Bo's out.
    referee.one_to(BO).says("Ann cannot be challenged.").says(&format!("| JOIN {code}"));
    referee.reply(BO, &to_bo, "OPEN quad");
    referee.sent_to(BO);
    referee.reply(ANN, &to_ann, "GAMES");
    referee.one_to(ANN).says(&format!("| JOIN {code}")).keeps_silent_of("Bo (P-2) offers");
    referee.reply(ANN, &to_ann, "UNBLOCK P-2");
    referee.one_to(ANN).says("can take each other's offers again");
    referee.reply(BO, &to_bo, &format!("JOIN {code}"));
    assert!(begins(&referee, BO), "an answer");
    referee.sent_to(ANN);
    for (line, says) in [
        ("BLOCK Ann", "You can BLOCK a player whose offers you do not want"),
        ("BLOCK house", "You can BLOCK a player whose offers you do not want"),
        ("BLOCK Nobody", "Nobody here goes by Nobody."),
        ("BLOCK", "The line lacks the name or the number of a player."),
    ] {
        referee.reply(ANN, &to_ann, line);
        referee.one_to(ANN).says(says);
    }
}

#[test]
fn a_standing_offer_is_taken_so_often_and_once_by_a_person() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    referee.answer_for(CY);
    referee.reply(ANN, &to_ann, "OPEN quad times=2 days=3");
    let opened = referee.one_to(ANN);
    opened.says("times can be taken 2 times").says("| CLOSE");
    let code = code(&opened, "JOIN");
    referee.reply(BO, &to_bo, &format!("JOIN {code}"));
    referee.sent_to(BO);
    referee.reply(BO, &to_bo, &format!("JOIN {code}"));
    referee.one_to(BO).says("You have taken this offer already").says("Yours is QD-");
    referee.write(CY, "GAMES");
    referee.one_to(CY).says("can be taken once more").says(&format!("| JOIN {code}"));
    referee.write(CY, &format!("JOIN {code}"));
    let first = matches(&referee);
    assert_eq!(first.len(), 3);
    let keys: Vec<_> = first.iter().filter_map(|one| one.lot.as_ref()).map(|lot| lot.key.pin()).collect();
    assert_ne!(keys[0], keys[1], "each match has a key of its own");
    referee.sent_to(CY);
    referee.write(CY, &format!("JOIN {code}"));
    referee.one_to(CY).says("is open to you");
    referee.sent_to(ANN);
    for (line, says) in [
        ("OPEN quad times=11", "`times` is a number from 1 to 10"),
        ("CHALLENGE Bo quad times=2", "`times` is for OPEN"),
        ("OPEN quad reliable=0", "`reliable` is a number from 1 to 100"),
        ("CLOSE 7K3M9P", "No offer with the code 7K3M9P is open to you"),
    ] {
        referee.reply(ANN, &to_ann, line);
        referee.one_to(ANN).says(says);
    }
}

#[test]
fn a_standing_offer_lapses_after_thirty_days_rests_at_the_limit_and_can_be_closed() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS limit=1\nOPEN quantum times=3");
    let code = code(&referee.one_to(ANN), "JOIN");
    referee.reply(BO, &to_bo, &format!("GAMES\nJOIN {code}"));
    referee
        .one_to(BO)
        .says("Ann plays as many matches as they want at present")
        .keeps_silent_of("Open seats");
    referee.reply(ANN, &to_ann, "SETTINGS limit=off");
    referee.sent_to(ANN);
    referee.reply(BO, &to_bo, "GAMES");
    referee.one_to(BO).says("Ann (P-1) offers");
    referee.reply(ANN, &to_ann, &format!("CLOSE {code}\nOPEN quantum times=3"));
    referee.one_to(ANN).says("no longer stands");
    referee.advance(31 * 24);
    let lapsed = referee.sent_to(ANN);
    assert!(lapsed.iter().any(|sent| sent.text.contains("it has lapsed")));
}

#[test]
fn turns_filed_late_stand_in_the_letter_that_asks_somebody_to_play() {
    let referee = Referee::with("days = 1\ngrace_hours = 12\nforfeit_after = 9\n");
    let (_, to_ann, _) = quad(&referee);
    // Ann is in time, then late.
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.sent_to(ANN);
    referee.reply(BO, &referee.last_to(BO), "MARBLE F6");
    referee.advance(24 + 14);
    referee.reply(ANN, &referee.last_to(ANN), "MARBLE G7");
    referee.sent_to(ANN);
    referee.sent_to(BO);
    referee.reply(ANN, &to_ann, "CHALLENGE Bo quantum");
    referee.one_to(ANN).says("Bo (P-2) has been challenged");
    referee.last_to(BO).says("Ann has filed 1 of 2 turns in time so far.");
    referee.write(BO, "PROFILE");
    referee.last_to(BO).says("Bo has filed 1 of 1 turns in time so far.").says("Running matches: 1");
}

#[test]
fn an_offer_for_reliable_players_refuses_who_files_late() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    let rows: Vec<String> = (0..10)
        .map(|n| format!("('{}', {}, 'second', 2, {n}, {})", game_match.id, 1000 + n, i32::from(n > 0)))
        .collect();
    let sql = format!(
        "INSERT INTO owed_turn (match_id, seq, seat, player_id, at, in_time) VALUES {}",
        rows.join(", ")
    );
    // The audit names turns that no entry closed.
    referee.untidy.set(true);
    referee.change_database(Box::leak(sql.into_boxed_str()));
    referee.reply(ANN, &to_ann, "OPEN quantum reliable=95");
    let code = code(&referee.one_to(ANN), "JOIN");
    referee.reply(BO, &to_bo, &format!("JOIN {code}"));
    referee.one_to(BO).says("who file 95 of 100 turns in time. Bo filed 9 of his last 10 turns in time.");
    // A player who has owed few turns meets every condition.
    referee.answer_for(CY);
    referee.write(CY, &format!("JOIN {code}"));
    assert!(begins(&referee, CY), "an answer");
}

#[test]
fn open_seats_stand_in_a_digest_that_goes_anyway() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    referee.answer_for(EVE);
    referee.reply(BO, &to_bo, "OPEN quantum times=2");
    referee.write(EVE, "OPEN pacific");
    referee.reply(ANN, &to_ann, "SETTINGS digest=daily");
    referee.sent_to(ANN);
    referee.advance(24);
    let digest = referee.sent_to(ANN).into_iter().find(|sent| sent.subject.contains("waits for your orders"));
    let digest = digest.expect("a digest");
    digest.says("Bo (P-2) offers Quantum").says("| JOIN");
    digest.keeps_silent_of("Pacific").keeps_silent_of("eve@");
}

#[test]
fn a_name_that_was_given_up_is_kept_for_a_year_and_none_is_a_number_or_a_level() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    referee.reply(BO, &to_bo, "SETTINGS name=Bodo");
    referee.sent_to(BO);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "SETTINGS name=Bo");
    referee.one_to(ANN).says("Somebody here goes by this name or did so lately");
    for name in ["P-7", "Quad", "easy", "Rematch", "War in the Pacific"] {
        referee.reply(ANN, &to_ann, &format!("SETTINGS name={name}"));
        referee.one_to(ANN).says("A name is one line of at most 40 letters or digits");
    }
    referee.reply(BO, &to_bo, "SETTINGS name=Bo");
    referee.one_to(BO).says("| name=Bo");
}

#[test]
fn prose_with_the_words_of_commands_is_prose() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(
        ANN,
        &to_ann,
        "MARBLE E5\nrematch some day?\nblock that line\nclose game so far\nchallenge accepted",
    );
    assert!(referee.find(&game_match.id).filed.first.is_some(), "the orders count");
    assert_eq!(matches(&referee).len(), 1);
    assert_eq!(GameKind::Quad, game_match.game);
}

#[test]
fn a_mistyped_code_is_answered_with_the_one_that_was_meant_among_those_that_the_sender_may_see() {
    let referee = Referee::new();
    gm(&referee, &format!("GM PLAYER ADD {ANN} Ann\nGM PLAYER ADD {BO} Bo\nGM PLAYER ADD {CY} Cy"));
    [ANN, BO, CY].iter().for_each(|address| referee.answer_for(address));
    referee.write(ANN, "CHALLENGE Bo quad");
    let challenge = code(&referee.last_to(BO), "ACCEPT");
    referee.sent_to(ANN);
    referee.write(ANN, "OPEN quantum");
    let seat = code(&referee.last_to(ANN), "CLOSE");
    // Replace the last character.
    let mistyped =
        |code: &str| format!("{}{}", &code[..code.len() - 1], if code.ends_with('7') { "8" } else { "7" });
    referee.write(BO, &format!("ACCEPT {}", mistyped(&challenge)));
    referee.last_to(BO).says(&format!("Did you mean {challenge}?"));
    referee.write(BO, &format!("JOIN {}", mistyped(&seat)));
    referee.last_to(BO).says(&format!("Did you mean {seat}?"));
    referee.write(ANN, &format!("CLOSE {}", mistyped(&seat)));
    referee.last_to(ANN).says(&format!("Did you mean {seat}?"));
    // Neither a challenge to somebody else nor a less similar code is revealed.
    referee.write(CY, &format!("ACCEPT {}", mistyped(&challenge)));
    referee.last_to(CY).says("It may have been").keeps_silent_of(&challenge);
    referee.write(BO, "ACCEPT 222222");
    referee.last_to(BO).keeps_silent_of("Did you mean");
    referee.write(BO, &format!("ACCEPT {challenge}"));
    assert!(begins(&referee, BO));
}

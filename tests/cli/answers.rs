//! Answers of the terminal to a GM who has read nothing but the help.

use serde_json::Value;

use super::{Folder, assert_says};

const ANN: &str = "ann@players.example";
const BO: &str = "bo@players.example";
const RUDE: &str = "rude@elsewhere.example";

fn lines_of(json: &str) -> Vec<Value> {
    json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn who_is_blocked_is_listed_whether_a_player_or_not_and_unblocked_once() {
    let folder = Folder::club();
    let id = folder.open();
    let check = folder.run(&["player", "block", BO, "--check"]).success();
    assert_says(&check, &["would go unread", "Deadlines would run", &id, "would go to bo"]);
    assert_says(&folder.run(&["player", "unblock", BO]).failure(1), &["bo is not blocked"]);
    for who in [BO, RUDE] {
        assert_says(&folder.run(&["player", "block", who]).success(), &["letters --status ignored"]);
        assert_says(&folder.run(&["player", "block", who]).failure(1), &["is blocked already"]);
    }
    let listed = folder.run(&["player", "list"]).success();
    assert_eq!(listed.matches("letters go unread").count(), 2, "{listed}");
    assert_says(&listed, &["(no player)", RUDE]);
    let blocked = lines_of(&folder.run(&["player", "list", "--json"]).success());
    assert_eq!(blocked.iter().filter(|line| line["blocked"] == true).count(), 2, "{blocked:?}");
    assert_says(
        &folder.run(&["player", "show", RUDE]).failure(1),
        &["Nobody has", "letters from it go unread"],
    );
    folder.run(&["player", "unblock", RUDE]).success();
    assert!(!folder.run(&["player", "list"]).success().contains(RUDE));
}

#[test]
fn a_seat_is_named_by_its_player_and_a_match_ends_for_a_reason() {
    let folder = Folder::club();
    let (id, other) = (folder.open(), folder.open());
    let tell = |who: &str| folder.run(&["match", "tell", &id, who, "Hello."]);
    assert_says(&tell("ann").success(), &["goes to Ann and bo"]);
    assert_says(&tell("Zorro").failure(1), &["nobody in", "Ann (first) and bo (second)"]);
    let check = ["match", "forfeit", &id, BO, "--reason", "He gave up.", "--check"];
    assert_says(&folder.run(&check).success(), &["would first be told: He gave up.", "Ann won"]);
    assert_says(
        &folder.run(&["match", "forfeit", &id, BO, "--reason", "He gave up."]).success(),
        &["Ann won"],
    );
    let refused = ["match", "forfeit", &id, BO, "--reason", "Why not."];
    assert_says(&folder.run(&refused).failure(1), &["the match is over"]);
    folder.run(&["match", "abandon", &other, "--reason", "It was a test."]).success();
    let told = folder.letters_to(ANN);
    assert_says(&told, &["> He gave up.", "> It was a test."]);
    assert!(!told.contains("Why not."), "{told}");
}

#[test]
fn several_matches_are_answered_below_one_heading() {
    let folder = Folder::club();
    let (one, two) = (folder.open(), folder.open());
    let extend = ["match", "extend", &one, &two, "2"];
    let check = folder.run(&[&extend[..], &["--check"]].concat()).success();
    assert_eq!(check.matches("This would be done in 2 matches").count(), 1, "{check}");
    assert_says(&check, &[&one, &two, "would go to 2 players"]);
    assert_says(&folder.run(&extend).success(), &["Done in 2 matches", "go to 2 players"]);
    let none = folder.run(&["match", "list", "--late"]);
    assert_eq!((none.success().lines().count(), none.stderr()), (1, "No match is late.\n".to_owned()));
    assert_says(
        &folder.run(&["match", "list", "--player", "Anx"]).failure(1),
        &["Nobody is called Anx. Nearest: Ann (P-1)"],
    );
}

#[test]
fn a_player_is_shown_with_running_matches_and_the_commands_for_the_rest() {
    let folder = Folder::club();
    let (running, ended) = (folder.open(), folder.open());
    folder.run(&["match", "abandon", &ended]).success();
    let shown = folder.run(&["player", "show", "ann"]).success();
    assert_says(
        &shown,
        &["Ann (P-1): ", &running, "bo (second)", "due ", "Finished matches: 1;", "--from P-1`"],
    );
    assert!(!shown.contains(&ended), "{shown}");
    assert_says(&folder.run(&["match", "list", "--player", "P-1", "--stage", "over"]).success(), &[&ended]);
    let added = ["player", "add", "eve@players.example", "Eve Ewing", "--check"];
    assert_says(&folder.run(&added).success(), &["would become the player Eve Ewing"]);
}

#[test]
fn a_healthy_club_is_told_so_and_newcomers_are_counted() {
    let folder = Folder::club();
    folder.run(&["run", "--once"]).success();
    assert_says(&folder.run(&["status"]).success(), &["newcomers     none waits", "Nothing is wrong."]);
    let status = lines_of(&folder.run(&["status", "--json"]).success());
    assert_eq!(status[0]["applicants_waiting"], 0);
    folder.run(&["backup", "copy.db"]).success();
    assert_says(&folder.run(&["backup", "copy.db"]).failure(1), &["copy.db exists already; name a new file"]);
    folder.open();
    folder.open();
    assert_says(&folder.run(&["audit", "verify", "--all"]).success(), &["3 checked, all sound"]);
}

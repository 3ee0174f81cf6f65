//! The GM's commands at the terminal: matches, players, match lists, the digest.

use serde_json::Value;

use super::{Folder, Ran, assert_says};

const ANN: &str = "ann@players.example";
const BO: &str = "bo@players.example";

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.success()).expect("one line of JSON")
}

impl Folder {
    /// Sends waiting mail and returns the text of all letters to `address`.
    pub fn letters_to(&self, address: &str) -> String {
        self.run(&["run", "--once"]).success();
        let folder = self.path("mail").join(address).join("new");
        let entries = std::fs::read_dir(folder).expect("a mailbox");
        let read = |entry: std::io::Result<std::fs::DirEntry>| {
            let raw = std::fs::read(entry.expect("an entry").path()).expect("a letter");
            let mail = mail_parser::MessageParser::default().parse(&raw).expect("a letter");
            format!("{}\n{}", mail.subject().unwrap_or_default(), mail.body_text(0).unwrap_or_default())
        };
        let all: String = entries.map(read).collect();
        all.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn a_deadline_moves_only_in_the_named_turn() {
    let folder = Folder::club();
    let id = folder.open();
    assert_says(
        &folder.run(&["match", "extend", &id, "3", "--turn", "4"]).failure(1),
        &["you meant turn 4", "turn 1 is open"],
    );
    let before = json(&folder.run(&["match", "show", &id, "--json"]))["deadline"].clone();
    let done = json(&folder.run(&["match", "extend", &id, "3", "--turn", "1", "--json"]));
    assert_eq!((&done["done"], &done["line"]["id"]), (&"match".into(), &id.clone().into()));
    assert_ne!(json(&folder.run(&["match", "show", &id, "--json"]))["deadline"], before);
    for reader in [ANN, BO] {
        assert_says(&folder.letters_to(reader), &["The GM has moved the deadline"]);
    }
    for days in ["0", "367", "some"] {
        assert_eq!(folder.run(&["match", "extend", &id, days]).status(), 2);
    }
    assert_says(&folder.run(&["match", "extend", "QD-0000", "3"]).failure(1), &["There is no match QD-0000"]);
}

#[test]
fn the_gm_adjudicates_a_phase_or_files_for_a_seat() {
    let folder = Folder::club();
    let id = folder.open();
    assert_says(&folder.run(&["match", "adjudicate", &id]).failure(1), &["first must file orders"]);
    folder.write("orders", "MARBLE A1\n");
    assert_says(
        &folder.run(&["match", "act-as", &id, "first", "orders"]).failure(1),
        &["the orders cannot stand", "Line 1: A1 is a corner"],
    );
    folder.write("orders", "# for Ann\nMARBLE E5\n");
    assert_says(
        &folder.run(&["match", "act-as", &id, "second", "orders"]).failure(1),
        &["nothing is due from the seat second"],
    );
    assert_says(&folder.run(&["match", "act-as", &id, "first", "missing"]).failure(1), &["missing"]);
    let done = json(&folder.run(&["match", "act-as", &id, "first", "orders", "--json"]));
    assert_eq!(done["line"]["phase"], "in turn 2");
    assert_says(
        &folder.run_with(&["match", "act-as", &id, "second", "-", "--turn", "2"], "MARBLE A5").success(),
        &["in turn 3"],
    );
    assert_says(&folder.letters_to(BO), &["The GM has filed orders for Ann"]);
}

#[test]
fn a_turn_is_reopened_or_decided_again() {
    let folder = Folder::club();
    let id = folder.open();
    for (seat, order) in [("first", "MARBLE E5"), ("second", "MARBLE A5"), ("first", "MARBLE E6")] {
        folder.run_with(&["match", "act-as", &id, seat, "-"], order).success();
    }
    let correct = |order: &str| {
        folder.run_with(
            &["match", "correct", &id, "second", "-", "--turn", "2", "--reason", "it was misread"],
            order,
        )
    };
    assert_says(&correct("MARBLE A1").failure(1), &["the orders cannot stand"]);
    assert_says(&correct("MARBLE B8").success(), &["Done", "in turn 3: waits for Ann"]);
    let back =
        |to: &str| folder.run(&["match", "rollback", &id, "--to", to, "--reason", "both agreed", "--json"]);
    assert_says(&back("7").failure(1), &["turn 7 was not adjudicated"]);
    assert_eq!(json(&back("1"))["line"]["phase"], "in turn 1");
    assert_eq!(folder.run(&["match", "rollback", &id, "--to", "1"]).status(), 2, "a reason is needed");
    assert_says(
        &folder.letters_to(ANN),
        &["This is a correction by the GM", "> it was misread", "> both agreed", "turn 1 is open again"],
    );
    assert_says(&folder.run(&["audit", "verify", &id]).success(), &[&id]);
}

#[test]
fn a_check_tells_the_turns_that_would_be_void_and_whether_somebody_who_leaves_is_rated() {
    let folder = Folder::club();
    let id = folder.open();
    for (seat, order) in [("first", "MARBLE E5"), ("second", "MARBLE A5"), ("first", "MARBLE E6")] {
        folder.run_with(&["match", "act-as", &id, seat, "-"], order).success();
    }
    let back = ["match", "rollback", &id, "--to", "2", "--reason", "both agreed", "--check"];
    assert_says(
        &folder.run(&back).success(),
        &[
            "Turns 2 to 3 would be void; turn 2 would be open again",
            "in turn 2: waits for bo",
            "due ",
            "would go to Ann and bo",
        ],
    );
    let correct = ["match", "correct", &id, "second", "-", "--turn", "2", "--reason", "misread", "--check"];
    assert_says(
        &folder.run_with(&correct, "MARBLE B8").success(),
        &["Turn 3 would be void; turn 2 would be decided again", "in turn 3: waits for Ann"],
    );
    let replace = ["match", "replace", &id, "first", "Eva Berg <eva@new.example>", "--check"];
    let told = "would go to Ann, Eva Berg and bo";
    assert_says(
        &folder.run(&replace).success(),
        &["Eva Berg (first)", "Ann would be rated as having lost", told],
    );
    let excused = [&replace[..], &["--excused"]].concat();
    assert_says(&folder.run(&excused).success(), &["Ann would be excused", "not be rated for them"]);
    assert_says(&folder.run(&excused[..5]).success(), &["goes to Ann, Eva Berg and bo"]);
    assert!(!folder.letters_to(ANN).contains("You are excused"));
    let house = ["match", "replace", &id, "second", "house", "--excused"];
    folder.run(&house).success();
    assert_says(&folder.letters_to(BO), &["You are excused: the match is not rated for you."]);
}

#[test]
fn a_seat_gets_another_player_and_a_new_token() {
    let folder = Folder::club();
    let id = folder.open();
    let replace = |address: &str| folder.run(&["match", "replace", &id, "first", address, "--json"]);
    assert_says(&replace(BO).failure(1), &["bo holds a seat of that match already"]);
    assert_eq!(json(&replace("eve@elsewhere.example"))["line"]["names"][0], "eve");
    assert_eq!(json(&replace("Eva Berg <eva@elsewhere.example>"))["line"]["names"][0], "Eva Berg");
    assert_says(&folder.letters_to("eve@elsewhere.example"), &["The GM has given you a seat"]);
    assert_says(&folder.letters_to(ANN), &["The GM has given the seat of Ann to eve"]);
    assert_says(&folder.run(&["player", "token", &id, "second"]).success(), &["Done", &id]);
    assert_says(&folder.letters_to(BO), &["a new reply token"]);
    assert_says(
        &folder.run(&["player", "token", "QD-0000", "second"]).failure(1),
        &["There is no match QD-0000"],
    );
    assert_says(&folder.run(&["player", "token", &id, "third"]).failure(1), &["nobody in", "(second)"]);
    assert_says(&folder.run(&["club", "gm-token"]).success(), &["a new reply token"]);
}

#[test]
fn a_note_stays_with_the_gm_what_both_are_told_reaches_them_and_a_forfeit_ends_the_match() {
    let folder = Folder::club();
    let id = folder.open();
    assert_says(&folder.run(&["match", "note", &id, "the", "sixth", "counts"]).success(), &["Done"]);
    assert_eq!(folder.run(&["match", "note", &id]).status(), 2, "a text is needed");
    assert_says(
        &folder.run(&["match", "tell", &id, "both", "the", "seventh", "counts"]).success(),
        &["Done"],
    );
    let done = json(&folder.run(&["match", "forfeit", &id, "first", "--json"]));
    assert_eq!(done["line"]["phase"], "bo won (forfeited)");
    let to_bo = folder.letters_to(BO);
    assert_says(&to_bo, &["> the seventh counts", "You have won this match: Ann has forfeited it."]);
    assert!(!to_bo.contains("the sixth counts"), "a note is for GMs");
    for act in [
        &["pause", &id][..],
        &["resume", &id],
        &["extend", &id, "2"],
        &["adjudicate", &id],
        &["abandon", &id],
    ] {
        folder.run(&[&["match"], act].concat()).failure(1);
    }
    assert_says(&folder.run(&["match", "pause", &id]).failure(1), &[&id, "the match is over"]);
}

#[test]
fn players_are_added_listed_shown_renamed_merged_and_cleared() {
    let folder = Folder::club();
    let id = folder.open();
    assert_says(
        &folder.run(&["player", "add", "eve@elsewhere.example", "Eve", "Evans"]).success(),
        &["Eve Evans (P-3): eve@elsewhere.example"],
    );
    let long = "x".repeat(41);
    assert_says(
        &folder.run(&["player", "add", "x@elsewhere.example", &long]).failure(1),
        &["at most 40 letters"],
    );
    let shown = json(&folder.run(&["player", "show", ANN, "--json"]));
    assert_eq!((&shown["name"], &shown["matches"][0]), (&"Ann".into(), &id.clone().into()));
    assert_says(
        &folder.run(&["player", "show", "nobody@x.example"]).failure(1),
        &["Nobody has the address nobody@x.example"],
    );
    assert_says(
        &folder.run(&["player", "rename", ANN, "Anna", "Archer"]).success(),
        &["Anna Archer (P-1): ann@players.example"],
    );
    assert_says(&folder.run(&["match", "show", &id]).success(), &["first         Anna Archer"]);
    assert_says(
        &folder.run(&["player", "rename", "nobody@x.example", "Nobody"]).failure(1),
        &["Nobody has the address"],
    );
    assert_says(&folder.run(&["player", "merge", ANN, BO]).failure(1), &["cannot become one player"]);
    assert_says(
        &folder.run(&["player", "merge", "eve@elsewhere.example", ANN]).success(),
        &["Anna Archer (P-1): ann@players.example, eve@elsewhere.example"],
    );
    let listed = folder.run(&["player", "list", "--json"]).success();
    let listed: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert_says(&folder.run(&["player", "list"]).success(), &["Anna Archer", "eve@elsewhere.example"]);
    assert_says(&folder.run(&["player", "bounce-clear", ANN]).success(), &["Anna Archer"]);
    assert_says(&folder.run(&["player", "bounce-clear", "nobody@x.example"]).failure(1), &["Nobody has"]);
    assert_says(&folder.run(&["player", "show", "not-a-name"]).failure(1), &["Nobody is called not-a-name."]);
}

#[test]
fn the_digest_can_be_printed_at_any_time() {
    let folder = Folder::club();
    assert_says(&folder.run(&["club", "digest"]).success(), &["There is nothing to report"]);
    assert_eq!(json(&folder.run(&["club", "digest", "--json"]))["digest"], Value::Null);
    let id = folder.open();
    folder.run(&["run", "--once"]).success();
    folder.run_with(
        &["receive"],
        "Return-Path: <>\r\nFrom: MAILER-DAEMON@mx.example\r\nTo: referee@club.example\r\nSubject: x\r\n\r\nno\r\n",
    ).success();
    folder.run_with(&["match", "act-as", &id, "first", "-"], "MARBLE E5").success();
    assert_says(&folder.run(&["club", "digest"]).success(), &["New matches: 1", &id]);
}

const LIST: &str = "\
game,first,second,options,days,zone
quad,Ann <ann@players.example>,bo@players.example,swap=on,3,
\"quadrant-z\",\"Carl Coe <carl@players.example>\",ann@players.example,turn_limit=30 torpedoes=off,,Europe/Berlin
pacific,bo@players.example,Carl Coe <carl@players.example>,,,
";

#[test]
fn many_matches_are_opened_from_a_csv_file() {
    let folder = Folder::club();
    folder.write("pairs.csv", &LIST.replace(" torpedoes=off", ""));
    let opened = folder.run(&["match", "new", "--from", "pairs.csv", "--json"]).success();
    assert_eq!(opened.lines().count(), 3, "{opened}");
    let listed = folder.run(&["match", "list", "--json"]).success();
    let matches: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let quad = matches.iter().find(|game_match| game_match["game"] == "quad").expect("the match of Quad");
    assert_eq!((&quad["options"]["swap"], &quad["players"]["first"]), (&"on".into(), &"Ann".into()));
    let galaxy = matches
        .iter()
        .find(|game_match| game_match["game"] == "quadrant-z")
        .expect("the match of Quadrant Z");
    assert_eq!(galaxy["players"]["first"], "Carl Coe");
    assert_says(
        &folder.letters_to("carl@players.example"),
        &["plays Quadrant Z with you", "Europe/Berlin", "plays War in the Pacific with you"],
    );
}

#[test]
fn faults_of_the_terminal_say_what_would_do() {
    let folder = Folder::club();
    let id = folder.open();
    let usage = folder.run(&["match", "extend", &id, "x"]);
    assert_eq!(usage.status(), 2);
    assert_says(&usage.stderr(), &["the number of days, 1 to 366", "match extend [OPTIONS]"]);
    folder.write("pairs.csv", "game,first,second\n");
    let empty = folder.run(&["match", "new", "--from", "pairs.csv"]).failure(1);
    assert_says(&empty, &["there is no match below the line with the columns"]);
    for address in ["referee@club.example", "referee+x@club.example"] {
        let own = folder.run(&["match", "new", "quad", address, BO]).failure(1);
        assert_says(&own, &["referee@club.example is the club's own address"]);
    }
    let checked = folder.run(&["player", "forget", "P-1", "--check"]);
    assert_ne!(checked.status(), 2, "{}", checked.stderr());
    folder.write("taken", "");
    let taken = folder.run(&["backup", "taken"]).failure(1);
    assert_says(&taken, &["taken", "exists"]);
}

#[test]
fn a_csv_file_with_errors_opens_nothing_and_each_error_names_its_line() {
    let folder = Folder::club();
    let rows = "chess,a@x.example,b@x.example,,,\nquad,Ann,b@x.example,,,\nquad,a@x.example,a@x.example,,,\n\
                quad,a@x.example,b@x.example,size=9,,\nquad,a@x.example,b@x.example,swap,,\nquad,a@x.example,,,,\n\
                quad,a@x.example,b@x.example,,never,\nquad,a@x.example,b@x.example,,0,\n\
                quad,a@x.example,b@x.example,,3,Mars\nquad,a@x.example,b@x.example,,3,UTC,more\n";
    let long = format!("quad,{} <a@x.example>,b@x.example,,,\n", "x".repeat(41));
    folder.write("pairs.csv", &format!("{LIST}{rows}{long}"));
    let ran = folder.run(&["match", "new", "--from", "pairs.csv"]);
    assert_eq!(ran.status(), 1);
    let said = ran.stderr();
    let faults = [
        "no match was opened",
        "line 3: ",
        "line 5: game `chess`: known games are quadrant-z",
        "line 6: first `Ann`: Nobody is called Ann. Somebody new needs an address: name@example.org or Name",
        "line 7: both seats have the same address",
        "line 8: ",
        "line 9: option `swap`: try name=value",
        "line 10: `second` is missing",
        "line 11: days `never` is not a number",
        "line 12: days is 0; it must be from 1 to 365",
        "line 13: zone `Mars`: try a name such as Europe/Berlin",
        "line 14: it has more fields than the first line",
        "line 15: first `xxx",
    ];
    assert_says(&said, &faults);
    assert_eq!(said.lines().count(), faults.len(), "{said}");
    for end in ["\r\n", "\r"] {
        folder.write("pairs.csv", &format!("{LIST}{rows}{long}").replace('\n', end));
        assert_eq!(folder.run(&["match", "new", "--from", "pairs.csv"]).stderr(), said);
    }
    assert_eq!(folder.run(&["match", "list", "--json"]).success(), "");
    assert_eq!(folder.run(&["player", "list", "--json"]).success(), "");
    for (heading, says) in [
        ("game,first,third\n", "there is no column `third`"),
        ("game,first\nquad,a@x.example\n", "the column `second` is missing"),
        ("game,first,second,first\n", "there are two columns `first`"),
        ("", "the column `game` is missing"),
    ] {
        folder.write("pairs.csv", heading);
        assert_says(
            &folder.run(&["match", "new", "--from", "pairs.csv"]).failure(1),
            &["pairs.csv, line 1", says],
        );
    }
    assert_says(&folder.run(&["match", "new", "--from", "missing.csv"]).failure(1), &["missing.csv"]);
}

#[test]
fn a_match_needs_two_players_not_two_addresses_of_one() {
    let folder = Folder::club();
    for address in [ANN, "ann@work.example"] {
        folder.run(&["player", "add", address, "Ann"]).success();
    }
    folder.run(&["player", "merge", "ann@work.example", ANN]).success();
    folder.write("pairs.csv", "game,first,second\nquad,ann@players.example,bo@players.example\nquad,ann@players.example,ann@work.example\n");
    let said = folder.run(&["match", "new", "--from", "pairs.csv"]).failure(1);
    assert_says(&said, &["no match was opened; match 2 of 2 cannot be", "Ann cannot play both sides"]);
    assert_eq!(folder.run(&["match", "list", "--json"]).success(), "");
    let ran = folder.run(&["match", "new", "quad", "ann@players.example", "ann@work.example"]);
    assert_says(&ran.failure(1), &["Ann cannot play both sides"]);
}

#[test]
fn matches_are_listed_by_game_player_and_lateness_and_json_has_the_addresses() {
    let folder = Folder::club();
    let id = folder.open();
    let other = folder.run(&["match", "new", "quantum", "Cy <cy@players.example>", ANN, "--json"]);
    let other = json(&other)["match"].as_str().expect("a name").to_owned();
    let listed = |arguments: &[&str]| -> Vec<String> {
        let out = folder.run(&[&["match", "list", "--json"], arguments].concat()).success();
        let id = |line: &str| {
            serde_json::from_str::<Value>(line).expect("JSON")["match"].as_str().map(str::to_owned)
        };
        out.lines().filter_map(id).collect()
    };
    assert_eq!(listed(&["--game", "quad"]).join(" "), id);
    assert_eq!(listed(&["--player", "cy"]).join(" "), other);
    assert_eq!(listed(&["--player", "CY@players.example"]).join(" "), other);
    assert_eq!(listed(&["--player", ANN]).len(), 2);
    assert_eq!(listed(&["--player", ANN, "--game", "quantum", "--stage", "running"]).join(" "), other);
    let nobody = folder.run(&["match", "list", "--player", "dee", "--json"]).failure(1);
    assert_says(&nobody, &["Nobody is called dee."]);
    assert_eq!(listed(&["--late"]).len(), 0);
    let shown = json(&folder.run(&["match", "show", &id, "--json"]));
    assert_eq!(shown["addresses"]["second"][0], BO);
    folder.run(&["match", "forfeit", &id, "first"]).success();
    assert_says(&folder.run(&["match", "list", "--stage", "over"]).success(), &["second won"]);
    assert_says(&folder.run(&["audit", "verify", "qd-*"]).success(), &[&id]);
    assert_says(&folder.run(&["audit", "verify", "XX-*"]).failure(1), &["no match or event is called XX-*"]);
}

#[test]
fn every_act_can_be_checked_and_then_does_nothing() {
    let folder = Folder::club();
    let id = folder.open();
    folder.write("orders", "MARBLE E5\n");
    let before = folder.run(&["match", "list", "--json"]).success();
    for act in [
        &["match", "pause", &id][..],
        &["match", "abandon", &id],
        &["match", "annul", &id, "--reason", "why"],
        &["match", "extend", &id, "3"],
        &["match", "terms", &id, "days=5"],
        &["match", "forfeit", &id, "first"],
        &["match", "note", &id, "a note"],
        &["match", "tell", &id, "first", "a text"],
        &["match", "replace", &id, "first", "eve@players.example"],
        &["match", "act-as", &id, "first", "orders"],
        &["player", "token", &id, "first"],
        &["player", "add", "eve@players.example"],
        &["player", "rename", ANN, "Anna"],
        &["player", "block", ANN],
        &["player", "bounce-clear", ANN],
    ] {
        let said = folder.run(&[act, &["--check"]].concat()).success();
        assert_says(&said, &["This would be done; nothing has changed"]);
    }
    assert_says(&folder.run(&["match", "resume", &id, "--check"]).failure(1), &["that is already the case"]);
    let new = ["match", "new", "quad", "eve@players.example", ANN, "--check"];
    assert_says(&folder.run(&new).success(), &["This would open 1 match; nothing was done"]);
    assert_eq!(folder.run(&["match", "list", "--json"]).success(), before);
    assert_eq!(folder.run(&["player", "list"]).success().matches("eve@").count(), 0);
}

#[test]
fn several_matches_are_paused_resumed_and_extended_at_once() {
    let folder = Folder::club();
    let (one, two) = (folder.open(), folder.open());
    let done = folder.run(&["match", "pause", &one, &two, "--reason", "a move", "--json"]).success();
    assert_eq!(done.lines().count(), 2, "{done}");
    let ran = folder.run(&["match", "resume", &one, "QD-0000", &two]);
    assert_says(&ran.stderr(), &["There is no match QD-0000", "nothing was done in 1 of 3"]);
    assert_eq!(ran.status(), 1);
    let deadline = |id: &str| json(&folder.run(&["match", "show", id, "--json"]))["deadline"].clone();
    let before = [deadline(&one), deadline(&two)];
    folder.run(&["match", "extend", &one, &two, "2"]).success();
    assert!(deadline(&one) != before[0] && deadline(&two) != before[1]);
    assert_says(&folder.run(&["match", "extend", "--all-late", "2"]).success(), &["No match is late"]);
    for arguments in [&["2"][..], &["--all-late", &one, "2"], &[&one, &two]] {
        assert_eq!(folder.run(&[&["match", "extend"], arguments].concat()).status(), 2, "{arguments:?}");
    }
}

#[test]
fn a_new_match_takes_all_terms_and_says_that_no_daemon_runs() {
    let folder = Folder::club();
    let flags = [
        "match",
        "new",
        "quad",
        ANN,
        BO,
        "--days",
        "3",
        "--hour",
        "9",
        "--weekends",
        "off",
        "--grace-hours",
        "24",
        "--reminders-hours",
        "24,6",
        "--forfeit-after",
        "3",
        "--forfeit",
        "lose",
        "--absence-days",
        "10",
        "--press",
        "none",
        "--settle-minutes",
        "30",
        "--zone",
        "America/New_York",
        "--json",
    ];
    let ran = folder.run(&flags);
    assert_says(&ran.stderr(), &["No daemon is running"]);
    ran.success();
    assert_says(&folder.letters_to(ANN), &["America/New_York"]);
    folder.write(
        "pairs.csv",
        "game,first,second,hour,grace_hours,reminders_hours,forfeit\nquad,cy@x.example,di@x.example,7,48,24 6,lose\n",
    );
    folder.run(&["match", "new", "--from", "pairs.csv"]).success();
    assert_says(&folder.letters_to("cy@x.example"), &["07:00"]);
    let mut wrong = flags.to_vec();
    wrong[8] = "99";
    assert_says(&folder.run(&wrong).failure(1), &["hour is 99; it must be from 0 to 23"]);
}

#[test]
fn letters_are_shown_and_asked_about_before_they_are_sent_again() {
    let folder = Folder::club();
    let id = folder.open();
    folder.run(&["run", "--once"]).success();
    let resend = ["letters", "resend", "--match", &id];
    let checked = folder.run(&[&resend[..], &["--check"]].concat()).success();
    assert_says(
        &checked,
        &[ANN, BO, "invitation", "sent", "2 letters would be sent again; nothing was done"],
    );
    let refused = folder.run_with(&resend, "n\n");
    assert_says(&refused.stderr(), &["Send 2 letters again? [y/N]"]);
    assert_says(&refused.stdout(), &[ANN, "Nothing was sent"]);
    assert_eq!(refused.status(), 1);
    assert_says(&folder.run_with(&resend, "y\n").success(), &["2 sent before are queued again"]);
    assert_says(
        &folder.run(&["letters", "resend", "--to", "nobody@x.example"]).success(),
        &["0 letters would"],
    );
    folder.run(&["run", "--once"]).success();
    let again = ["letters", "resend", "--to", ANN, "--check"];
    assert_says(&folder.run(&again).success(), &["1 letter would be sent again"]);
    let unknown = folder.run(&["letters", "resend", "--match", "QZ-0000", "--check"]);
    assert_says(&unknown.failure(1), &["there is no match QZ-0000"]);
}

#[test]
fn blocking_a_player_suggests_commands_of_the_terminal_that_can_be_run() {
    let folder = Folder::club();
    let id = folder.open();
    let said = folder.run(&["player", "block", BO]).success();
    let commands: Vec<&str> = said.lines().filter_map(|line| line.trim().strip_prefix("fogpost ")).collect();
    assert_eq!(commands.len(), 2, "{said}");
    for command in commands {
        assert!(command.contains(&format!("{id} second")), "{command}");
        let words: Vec<&str> = command.split(' ').chain(["--check"]).collect();
        assert_says(&folder.run(&words).success(), &["This would be done"]);
    }
}

#[test]
fn a_player_is_shown_by_number_too() {
    let folder = Folder::club();
    folder.open();
    for number in ["P-1", "p-1", "1"] {
        assert_says(&folder.run(&["player", "show", number]).success(), &[ANN]);
    }
    assert_says(&folder.run(&["player", "show", "P-99"]).failure(1), &["There is no player P-99."]);
    assert_says(&folder.run(&["player", "rename", "P-2", "Bob"]).success(), &["Bob"]);
}

#[test]
fn two_people_of_one_name_are_told_by_number_and_two_at_one_mailbox_are_offered_a_plus_address() {
    let folder = Folder::club();
    folder.run(&["player", "add", ANN, "Ann"]).success();
    folder.run(&["player", "add", ANN, "ANN"]).success();
    let other = folder.run(&["player", "add", ANN, "Al Archer"]);
    assert_eq!(other.status(), 1);
    assert_says(&other.stderr(), &["is Ann (P-1)", "ann+al@players.example"]);
    let alike = "The name of Ann (P-2) looks like that of Ann (P-1).";
    assert_says(&folder.run(&["player", "add", "ann@work.example", "Ann"]).success(), &[alike]);
    let opened = folder.run(&["match", "new", "quad", "Ann <ann@work.example>", BO]);
    assert!(opened.status() == 0 && opened.stderr().contains(alike), "{}", opened.stderr());
    let alike = "The name of \u{410}nn (P-3) looks like that of Ann (P-1), Ann (P-2).";
    assert_says(&folder.run(&["player", "rename", BO, "\u{410}nn"]).success(), &[alike]);
    let both = folder.run(&["match", "new", "quad", "Ann <ann@players.example>", "Al <ann@players.example>"]);
    assert_says(&both.failure(1), &["cannot play both sides", "such as ann+al@players.example"]);
}

//! What a seat of a running match wrote is shown at the terminal only to a GM without a seat in it, who says why.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use super::{Folder, assert_says};
use crate::club::CONFIG;

const ANN: &str = "ann@players.example";

/// Stands in the subject and in the text of a letter.
const WORDS: &str = "wombat";

/// The reply token in one of the letters to Ann.
fn token_of_ann(folder: &Folder) -> String {
    let inbox = folder.path("mail").join(ANN).join("new");
    let invitation =
        std::fs::read_dir(inbox).expect("a mailbox").next().expect("an invitation").expect("a file");
    let raw = std::fs::read(invitation.path()).expect("a letter");
    let mail = mail_parser::MessageParser::default().parse(&raw).expect("a letter");
    let text = mail.body_text(0).expect("a text").into_owned();
    text.lines().find_map(|line| line.strip_prefix("Reply token: ")).expect("a token").to_owned()
}

/// A club in which Ann wrote orders and words, and her letter was ruled on; the match, and the digest of the letter.
fn club() -> (Folder, String, String) {
    let folder = Folder::club();
    let bo = "[[club.gm]]\nname = \"Bo\"\naddress = \"bo@players.example\"\n";
    folder.write(
        "config.toml",
        &CONFIG.replace("[club.gm]", "[[club.gm]]").replacen(
            "[inbox.maildir]",
            &format!("{bo}[inbox.maildir]"),
            1,
        ),
    );
    let id = folder.open();
    folder.run(&["run", "--once"]).success();
    let token = token_of_ann(&folder);
    let letter = format!(
        "From: Ann <{ANN}>\r\nTo: referee@club.example\r\nSubject: {WORDS}\r\nMessage-ID: <1@players.example>\r\n\r\n\
         MARBLE E5\r\nTELL GM My {WORDS} is ill, please be patient with me.\r\nEND\r\nReply token: {token}\r\n"
    );
    folder.run_with(&["receive"], &letter).success();
    folder.run(&["run", "--once"]).success();
    let list = ["letters", "--json", "--unseal", "a test", "--gm", "The GM"];
    let listed: Value = serde_json::from_str(&folder.run(&list).success()).expect("one letter");
    assert_eq!(listed["status"], "ruled", "{listed}");
    (folder, id, listed["letter"].as_str().expect("a digest").to_owned())
}

/// Returns the commands that `--help` lists, at every depth.
fn commands(folder: &Folder, above: &[String]) -> Vec<Vec<String>> {
    let arguments: Vec<&str> = above.iter().map(String::as_str).chain(["--help"]).collect();
    let help = folder.run(&arguments).success();
    let lines =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let mut found = Vec::new();
    for name in names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        let command: Vec<String> = above.iter().cloned().chain([name.to_owned()]).collect();
        let below = commands(folder, &command);
        if below.is_empty() || above.is_empty() && name == "letters" {
            found.push(command);
        }
        found.extend(below);
    }
    found
}

/// How each command is run that could show what a seat wrote. A command that is missing here fails the test.
const RUN: [(&str, &[&str]); 72] = [
    ("audit acknowledge", &["ID"]),
    ("audit check", &["orders"]),
    ("audit export", &["ID", "new.zip"]),
    ("audit show", &["ID"]),
    ("audit verify", &["ID"]),
    ("backup", &["new.db"]),
    ("clock confirm", &[]),
    ("club announce", &["Welcome."]),
    ("club digest", &[]),
    ("club gm-token", &[]),
    ("completions", &["bash"]),
    ("db move", &["sqlite:fogpost.db", "sqlite:new.db"]),
    ("demo", &["--game", "quad"]),
    ("doctor", &[]),
    ("games", &[]),
    ("event cancel", &["EV-X", "why"]),
    ("event close", &["EV-X"]),
    ("event enter", &["EV-X", "Ann", "why"]),
    ("event extend", &["EV-X", "3", "why"]),
    ("event import", &["EV-X", "orders"]),
    ("event list", &[]),
    ("event new", &["orders"]),
    ("event note", &["EV-X", "why"]),
    ("event open", &["EV-X"]),
    ("event replace", &["EV-X", "Ann", "Bo", "why"]),
    ("event result", &["EV-X", "ID", "first", "why"]),
    ("event show", &["EV-X"]),
    ("event standings", &["EV-X"]),
    ("event strike", &["EV-X", "Ann", "why"]),
    ("init", &[]),
    ("letters", &[]),
    ("letters accept", &["DIGEST"]),
    ("letters given-up", &[]),
    ("letters resend", &["--match", "ID", "--yes"]),
    ("login", &[]),
    ("man", &[]),
    ("match abandon", &["ID"]),
    ("match act-as", &["ID", "second", "orders"]),
    ("match adjudicate", &["ID"]),
    ("match annul", &["ID", "--reason", "why"]),
    ("match correct", &["ID", "first", "orders", "--turn", "1", "--reason", "why"]),
    ("match extend", &["ID", "1"]),
    ("match forfeit", &["ID", "first"]),
    ("match list", &["--json"]),
    ("match new", &["quad", "eve@players.example", "bo@players.example"]),
    ("match note", &["ID", "a note"]),
    ("match pause", &["ID"]),
    ("match replace", &["ID", "first", "eve@players.example"]),
    ("match resume", &["ID"]),
    ("match rollback", &["ID", "--to", "1", "--reason", "why"]),
    ("match show", &["ID"]),
    ("match tell", &["ID", "first", "a text"]),
    ("match terms", &["ID", "days=5"]),
    ("player add", &["eve@players.example"]),
    ("player address", &["Ann", "new@players.example"]),
    ("player block", &[ANN]),
    ("player bounce-clear", &[ANN]),
    ("player decline", &["eve@elsewhere.example"]),
    ("player forget", &["P-1", "--yes"]),
    ("player list", &[]),
    ("player merge", &[ANN, "bo@players.example"]),
    ("player rename", &[ANN, "Anna"]),
    ("player show", &[ANN]),
    ("player token", &["ID", "first"]),
    ("player unblock", &[ANN]),
    ("receive", &[]),
    ("replay", &["orders"]),
    ("restore", &["new.db"]),
    ("run", &["--once"]),
    ("screen", &[]),
    ("site build", &["site"]),
    ("status", &[]),
];

#[test]
fn no_command_shows_what_a_seat_of_a_running_match_wrote() {
    let (folder, id, digest) = club();
    folder.write("orders", "MARBLE A5\n");
    let known: BTreeMap<&str, &[&str]> = RUN.into_iter().collect();
    let raw: &[&str] = &["--raw", "DIGEST"];
    let mut runs: Vec<(String, &[&str])> =
        vec![("letters".to_owned(), raw), ("letters".to_owned(), &["--json"])];
    let manual = include_str!("../../docs/commands.md");
    for command in commands(&folder, &[]) {
        let command = command.join(" ");
        let arguments = known.get(command.as_str());
        let arguments = arguments.unwrap_or_else(|| panic!("say how `{command}` is run in this test"));
        assert!(
            manual.contains(&format!("`fogpost {command}")),
            "docs/commands.md does not name `{command}`"
        );
        runs.push((command, arguments));
    }
    for (command, arguments) in runs {
        let copy = Folder::empty();
        let from = format!("{}/.", folder.path("").display());
        assert!(Command::new("cp").args(["-a", &from]).arg(copy.path("")).status().expect("cp").success());
        let arguments = arguments.iter().map(|argument| match *argument {
            "ID" => id.as_str(),
            "DIGEST" => &digest[..12],
            other => other,
        });
        let ran = copy.run(&command.split(' ').chain(arguments).collect::<Vec<_>>());
        let said = ran.stdout() + &ran.stderr();
        assert!(!said.to_lowercase().contains(WORDS), "{command}: {said}");
        assert!(!copy.path("new.zip").exists(), "{command} wrote a dossier");
    }
}

#[test]
fn a_letter_is_shown_to_a_gm_who_says_why_and_the_ledger_says_so_first() {
    let (folder, id, digest) = club();
    let letter = &digest[..12];
    let entries = || folder.run(&["audit", "verify", &id, "--json"]).success();
    let before = entries();
    for (refused, words) in [
        (&["letters", "--raw", letter][..], &["is not over", "--unseal REASON --gm NAME"][..]),
        (&["letters", "--raw", letter, "--unseal", "why", "--gm", "Eve"], &["no GM is called Eve"]),
        (&["letters", "--raw", letter, "--unseal", " ", "--gm", "The GM"], &["the reason is empty"]),
        (&["letters", "--raw", letter, "--unseal", "why", "--gm", "Bo"], &["Bo plays in", "another GM"]),
        (&["letters", "--unseal", "why", "--gm", "Bo"], &["Bo plays in", "another GM"]),
        (&["audit", "show", &id, "--unseal", "why", "--gm", "Bo"], &["Bo plays in", "another GM"]),
        (&["audit", "export", &id, "new.zip", "--unseal", "why", "--gm", "Bo"], &["Bo plays in"]),
    ] {
        assert_says(&folder.run(refused).failure(1), words);
    }
    let without_gm = folder.run(&["letters", "--raw", letter, "--unseal", "why"]).failure(1);
    assert_says(&without_gm, &["--unseal needs --gm NAME"]);
    assert_eq!(entries(), before, "nothing is written if it is refused");
    let listed = folder.run(&["letters"]).success();
    assert_says(&listed, &["in which a GM plays", &id, "not listed", "--unseal REASON --gm NAME"]);

    let asked = ["--unseal", "Bo doubts what Ann wrote", "--gm", "the gm"];
    assert_says(&folder.run(&[&["letters", "--raw", letter][..], &asked].concat()).success(), &[WORDS]);
    assert_says(&folder.run(&[&["letters", "--match", &id][..], &asked].concat()).success(), &[WORDS]);
    assert_says(&folder.run(&[&["audit", "show", &id][..], &asked].concat()).success(), &[WORDS]);
    folder.run(&["match", "abandon", &id]).success();
    folder.run(&["run", "--once"]).success();
    for reader in [ANN, "bo@players.example"] {
        let told = folder.letters_to(reader);
        for what in [&format!("letter {letter}"), "the list of letters", "the account"] {
            assert_says(
                &told,
                &[&format!("the GM The GM read {what}, for this reason:"), "> Bo doubts what Ann wrote"],
            );
        }
    }
    // The match is over.
    assert_says(&folder.run(&["letters", "--raw", letter]).success(), &[WORDS]);
    folder.run(&["audit", "verify", &id]).success();
}

/// Whoever sits at the terminal may be the GM who plays: what the other seat writes changes no byte there.
#[test]
fn letters_of_a_match_in_which_a_gm_plays_change_no_list() {
    let (folder, id, _) = club();
    let lists: [&[&str]; 11] = [
        &["letters"],
        &["letters", "--json"],
        &["letters", "--from", ANN],
        &["letters", "--since", "2000-01-01"],
        &["letters", "--unsent"],
        &["letters", "given-up"],
        &["audit", "verify", &id],
        &["audit", "verify", "--all", "--json"],
        &["match", "show", &id],
        &["match", "list", "--json"],
        &["player", "show", ANN],
    ];
    let look = || lists.map(|list| folder.run(list).success());
    let before = look();
    let token = token_of_ann(&folder);
    for (n, automatic) in ["", "Auto-Submitted: auto-replied\r\n"].iter().enumerate() {
        let letter = format!(
            "From: Ann <{ANN}>\r\nTo: referee@club.example\r\nSubject: more\r\n{automatic}\
             Message-ID: <more{n}@players.example>\r\n\r\nSTATUS\r\nReply token: {token}\r\n"
        );
        folder.run_with(&["receive"], &letter).success();
        folder.run(&["run", "--once"]).success();
        assert_eq!(look(), before, "{automatic}");
    }
    let resend = ["letters", "resend", "--match", &id, "--check"];
    assert_says(&folder.run(&resend).failure(1), &["is not over", "--unseal REASON --gm NAME"]);
    let asked = ["--unseal", "a question", "--gm", "The GM"];
    assert_says(&folder.run(&[&resend[..], &asked].concat()).success(), &["answer"]);
}

#[test]
fn a_protest_is_listed_with_the_lines_that_show_it_and_go_on() {
    let (folder, id, _) = club();
    let token = token_of_ann(&folder);
    let letter = format!(
        "From: Ann <{ANN}>\r\nTo: referee@club.example\r\nSubject: {WORDS}\r\nMessage-ID: <3@players.example>\r\n\r\n\
         PROTEST The {WORDS} was mine.\r\nEND\r\nReply token: {token}\r\n"
    );
    folder.run_with(&["receive"], &letter).success();
    folder.run(&["run", "--once"]).success();
    assert_says(&folder.run(&["match", "list", "--late"]).success(), &[&id, "GM: protest"]);
    let resume = format!("fogpost match resume {id}");
    let joined = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let digest = joined(folder.run(&["club", "digest", "--gm", "The GM"]).success());
    let shown = joined(folder.run(&["match", "show", &id]).success());
    for said in [&digest, &shown] {
        assert_says(said, &["fogpost letters --raw ", " --unseal REASON --gm NAME", &resume]);
        let (_, raw) = said.split_once("--raw ").expect("it was just found");
        let raw = &raw[..12];
        let asked = ["letters", "--raw", raw, "--unseal", "a protest", "--gm", "The GM"];
        assert_says(&folder.run(&asked).success(), &[&format!("The {WORDS} was mine")]);
    }
}

#[test]
fn a_letter_that_names_several_running_matches_needs_them_all() {
    let (folder, id, _) = club();
    // No GM plays, so the letters are listed.
    folder.write("config.toml", CONFIG);
    assert_says(&folder.run(&["letters", "--from", "ann"]).success(), &[ANN, "(sealed)", &id]);
    let since = folder.run(&["letters", "--since", "2000-01-01"]);
    assert_eq!((since.success().lines().count(), since.stderr()), (1, "No letter fits.\n".to_owned()));
    assert_says(&folder.run(&["letters", "--from", "zorro"]).failure(1), &["Nobody is called zorro"]);
    assert_says(&folder.run(&["letters", "--match", "QD-XXXX"]).failure(1), &["there is no match QD-XXXX"]);
    assert_says(&folder.run(&["letters", "--raw", ""]).failure(1), &["name the letter by the first digits"]);
    let other = folder.0.open("quad", ["Eve <eve@players.example>", "bo@players.example"], &[]);
    let letter = format!(
        "From: Eve <eve@players.example>\r\nTo: referee@club.example\r\nSubject: {WORDS}\r\n\
         Message-ID: <2@players.example>\r\n\r\nHow do {id} and {other} go?\r\n"
    );
    folder.run_with(&["receive"], &letter).success();
    let listed = folder.run(&["letters", "--status", "waiting", "--json"]).success();
    let listed: Value = serde_json::from_str(&listed).expect("one letter");
    let sealed: Vec<&str> =
        listed["sealed_by"].as_array().expect("matches").iter().filter_map(Value::as_str).collect();
    assert!(sealed.contains(&id.as_str()) && sealed.contains(&other.as_str()), "{listed}");
    assert!(listed["subject"].is_null() && listed["received_at"].is_null(), "{listed}");
    assert_says(&folder.run(&["letters"]).success(), &["(sealed)", "--unseal REASON --gm NAME"]);
    let digest = listed["letter"].as_str().expect("a digest");
    let asked = ["letters", "--raw", digest, "--unseal", "a question", "--gm", "The GM"];
    assert_says(&folder.run(&asked).success(), &[WORDS]);
    for id in [&id, &other] {
        let account = ["audit", "show", id, "--unseal", "a question", "--gm", "The GM"];
        assert_says(&folder.run(&account).success(), &[&format!("letter {}", &digest[..12])]);
    }
}

//! The command line as a person or a script uses it: every command by its output and its exit status.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

#[path = "cli/config.rs"]
mod config;
#[path = "cli/gm.rs"]
mod gm;

/// A club on Maildirs in its own folder.
const CONFIG: &str = include_str!("tools/club.toml");

/// A folder in which `fogpost` is run.
struct Folder(TempDir);

impl Folder {
    fn empty() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    /// A folder with a config and the mailbox that it names.
    fn club() -> Folder {
        let folder = Folder::empty();
        folder.write("config.toml", CONFIG);
        for part in ["cur", "new", "tmp"] {
            fs::create_dir_all(folder.path("mail/referee").join(part)).expect("the mailbox");
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fogpost"))
            .args(arguments)
            .current_dir(self.0.path())
            .env_remove("FOGPOST_CONFIG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("fogpost runs");
        // It may end without having read all of it.
        let _ = child.stdin.take().expect("asked for").write_all(input.as_bytes());
        Ran(child.wait_with_output().expect("our child"))
    }

    /// Opens a match of Quad; its name.
    fn open(&self) -> String {
        let ran =
            self.run(&["match", "new", "quad", "Ann <ann@players.example>", "bo@players.example", "--json"]);
        let found: Value = serde_json::from_str(&ran.well()).expect("JSON");
        found["match"].as_str().expect("a name").to_owned()
    }
}

struct Ran(Output);

impl Ran {
    fn out(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).expect("text")
    }

    fn complaint(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).expect("text")
    }

    fn status(&self) -> i32 {
        self.0.status.code().expect("it ended by itself")
    }

    /// What it printed, having done what it was asked.
    #[track_caller]
    fn well(&self) -> String {
        assert_eq!(self.status(), 0, "{}{}", self.out(), self.complaint());
        self.out()
    }

    /// The one line by which it says what is wrong, with this exit status.
    #[track_caller]
    fn fault(&self, status: i32) -> String {
        let complaint = self.complaint();
        assert_eq!((self.status(), complaint.lines().count()), (status, 1), "{}{complaint}", self.out());
        complaint
    }
}

#[track_caller]
fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
}

#[test]
fn doctor_says_of_each_part_whether_it_is_well() {
    let folder = Folder::club();
    let said = folder.run(&["doctor"]).well();
    assert_eq!(said.lines().filter(|line| line.starts_with("ok    ")).count(), 5, "{said}");
    folder.write("config.toml", &format!("{CONFIG}[database]\nurl = \"sqlite:nowhere/at/all.db\"\n"));
    let ran = folder.run(&["doctor"]);
    assert_eq!(ran.status(), 1);
    assert_says(&ran.out(), &["FAULT database", "its folder must exist and be writable", "ok    inbox"]);
}

#[test]
fn doctor_names_a_template_that_cannot_be_rendered() {
    let folder = Folder::club();
    fs::create_dir(folder.path("own")).expect("a folder");
    folder.write("own/report.txt", "Subject: x\n\n{{ nothing.of.the.kind }}\n");
    folder.write("config.toml", &format!("{CONFIG}[templates]\nfolder = \"own\"\n"));
    let ran = folder.run(&["doctor"]);
    assert_eq!(ran.status(), 1);
    assert_says(&ran.out(), &["FAULT templates", "report.txt"]);
}

#[test]
fn a_match_is_opened_listed_shown_paused_resumed_and_abandoned() {
    let folder = Folder::club();
    let id = folder.open();
    assert_says(&folder.run(&["match", "list"]).well(), &[&id, "Ann", "turn 1 (move)"]);
    assert_eq!(folder.run(&["match", "list", "--stage", "over"]).well().lines().count(), 1);
    let shown = folder.run(&["match", "show", &id.to_lowercase()]).well();
    assert_says(&shown, &["stage         running", "waits for     Ann", "swap=off"]);
    let shown: Value =
        serde_json::from_str(&folder.run(&["match", "show", &id, "--json"]).well()).expect("JSON");
    assert_eq!(
        (&shown["match"], &shown["game"], &shown["stage"]),
        (&id.clone().into(), &"quad".into(), &"running".into())
    );
    let stage = |act: &[&str]| {
        assert_says(&folder.run(&[&["match"], act].concat()).well(), &["Done", &id]);
        folder.run(&["match", "show", &id]).well()
    };
    assert_says(&stage(&["pause", &id, "--reason", "the summer"]), &["stage         paused"]);
    assert_says(&stage(&["resume", &id]), &["stage         running"]);
    assert_says(&stage(&["abandon", &id]), &["stage         over"]);
    let listed = folder.run(&["match", "list", "--stage", "over", "--json"]).well();
    let over: Value = serde_json::from_str(&listed).expect("one line of JSON");
    assert_eq!(over["outcome"]["reason"], "abandoned");
}

#[test]
fn the_house_is_seated_by_its_level_alone_or_from_a_list() {
    let folder = Folder::club();
    let ann = "Ann <ann@players.example>";
    assert_says(&folder.run(&["match", "new", "quad", "house:trainer", ann]).well(), &["is open"]);
    folder.run(&["run", "--once"]).well();
    let list = folder.run(&["match", "list"]).well();
    assert_says(&list, &["the house (trainer)", "turn 2 (move)"]);
    let id = list.split_whitespace().find(|word| word.starts_with("QD-")).expect("a name").to_owned();
    assert_says(&folder.run(&["match", "show", &id]).well(), &["trainer=on", "waits for     Ann"]);
    assert_says(&folder.run(&["audit", "verify", &id]).well(), &[&id]);
    folder.write(
        "pairs.csv",
        "game,first,second,options\nquad,a@b.example,house,\nquad,house:EXPERT,a@b.example,swap=on\n",
    );
    let opened = folder.run(&["match", "new", "--from", "pairs.csv"]).well();
    assert_says(&opened, &["a against the house (easy)", "the house (expert) against a"]);
    for (arguments, words) in [
        (["quad", ann, "house:master"], "the house plays Quad at the levels trainer, easy, average, expert"),
        (["quantum", "house", ann], "the house does not play Quantum"),
        (["quad", "house", "house:expert"], "one of the two seats at least is a player's"),
        (["quad", "house", "house"], "cannot play both sides"),
    ] {
        assert_says(&folder.run(&[&["match", "new"], &arguments[..]].concat()).fault(1), &[words]);
    }
    folder.write("pairs.csv", "game,first,second\nquad,house,house:expert\npacific,a@b.example,house\n");
    let refused = folder.run(&["match", "new", "--from", "pairs.csv"]);
    assert_eq!(refused.status(), 1);
    assert_says(
        &refused.complaint(),
        &["line 2: the house holds both seats", "line 3: second `house`: the house does not play"],
    );
}

#[test]
fn what_cannot_be_done_to_a_match_is_said_in_one_line() {
    let folder = Folder::club();
    assert_says(&folder.run(&["match", "show", "QD-0000"]).fault(1), &["no match QD-0000", "match list"]);
    assert_says(&folder.run(&["match", "pause", "QD-0000"]).fault(1), &["QD-0000"]);
    let people = ["ann@players.example", "bo@players.example"];
    let new = |more: &[&str]| folder.run(&[&["match", "new", "quad"][..], &people, more].concat());
    assert_says(&new(&["--option", "swap"]).fault(1), &["swap", "NAME=VALUE"]);
    assert_says(&new(&["--option", "swap=maybe"]).fault(1), &["swap", "off", "on"]);
    assert_says(&new(&["--option", "size=9"]).fault(1), &["size", "swap", "trainer"]);
    // These are faults of the command line itself.
    for (arguments, words) in [
        (&["match", "new", "chess", "a@b.example", "c@d.example"][..], "known games are quadrant-z"),
        (&["match", "new", "quad", "Ann", "c@d.example"], "name@example.org"),
        (&["match", "list", "--stage", "asleep"], "running, paused, over"),
    ] {
        let ran = folder.run(arguments);
        assert_eq!(ran.status(), 2);
        assert_says(&ran.complaint(), &[words]);
    }
    assert_eq!(folder.run(&["match", "list", "--json"]).well(), "");
}

/// A letter of Ann's, as a mail server hands it over.
const LETTER: &str = "From: Ann <ann@players.example>\r\nTo: referee@club.example\r\nSubject: orders\r\n\
                      Message-ID: <1@players.example>\r\n\r\nSTATUS\r\n";

#[test]
fn a_letter_on_standard_input_is_taken_in_once_and_comes_out_byte_for_byte() {
    let folder = Folder::club();
    for _ in 0..2 {
        assert_eq!(folder.run_with(&["receive"], LETTER).well(), "");
    }
    let listed = folder.run(&["letters", "--json"]).well();
    let letter: Value =
        serde_json::from_str(&listed).expect("one line: the second time it was the same letter");
    assert_eq!((&letter["fate"], &letter["from"]), (&"waiting".into(), &"ann@players.example".into()));
    assert_says(&folder.run(&["letters"]).well(), &["ann@players.example", "orders", "waiting"]);
    let digest = letter["letter"].as_str().expect("a digest");
    assert_eq!(folder.run(&["letters", "--raw", &digest[..8]]).well(), LETTER);
    assert_says(
        &folder.run(&["letters", "--raw", "0000"]).fault(1),
        &["no letter's digest begins with 0000"],
    );
    let unknown = folder.run(&["letters", "--status", "eaten"]);
    assert_eq!(unknown.status(), 2);
    assert_says(&unknown.complaint(), &["known statuses are"]);
}

#[test]
fn a_letter_that_cannot_be_stored_is_left_with_the_mail_server() {
    let folder = Folder::club();
    folder.write("config.toml", &format!("{CONFIG}[database]\nurl = \"sqlite:nowhere/at/all.db\"\n"));
    assert_says(&folder.run_with(&["receive"], LETTER).fault(75), &["fogpost: "]);
    folder.write("config.toml", "[club\n");
    assert_says(&folder.run_with(&["receive"], LETTER).fault(75), &["config.toml, line 1"]);
}

#[test]
fn run_once_does_what_there_is_to_do_and_ends() {
    let folder = Folder::club();
    let id = folder.open();
    folder.run_with(&["receive"], LETTER).well();
    folder.run(&["run", "--once"]).well();
    let to_ann = fs::read_dir(folder.path("mail/ann@players.example/new")).expect("her mailbox").count();
    assert_eq!(to_ann, 2, "the invitation and an answer");
    let listed = folder.run(&["letters"]).well();
    assert!(!listed.contains("waiting"), "{listed}");
    assert_eq!(folder.run(&["letters", "--unsent"]).well().lines().count(), 1, "only the head of the table");
    folder.run(&["match", "show", &id]).well();
}

const RECORD: &str = r#"fogpost = 1
game = "quad"

[seats]
first = "Ann"
second = "Bo"

[[filings]]
seat = "first"
orders = "MARBLE E5"

[[filings]]
seat = "second"
orders = "MARBLE A5"

[[filings]]
seat = "first"
orders = "MARBLE E6"
"#;

#[test]
fn replay_tells_each_turn_as_json_for_everybody_or_for_one_seat() {
    let folder = Folder::empty();
    folder.write("match.toml", RECORD);
    let lines = |arguments: &[&str]| -> Vec<Value> {
        let out = folder.run(&[&["replay", "match.toml", "--json"][..], arguments].concat()).well();
        out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let all = lines(&[]);
    assert_eq!(all.iter().map(|line| line["adjudication"].clone()).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(lines(&["--turn", "2"]), all[1..2]);
    assert_eq!(lines(&["--turn", "9"]), [Value::Null; 0]);
    let own = lines(&["--as", "second"]);
    assert_eq!(own.len(), 3);
    assert!(own[0] != all[0] && own[0].get("state").is_none(), "{}", own[0]);
    let from_input = folder.run_with(&["replay", "-", "--json"], RECORD).well();
    assert_eq!(from_input.lines().count(), 3);
    assert_says(&folder.run(&["replay", "match.toml"]).well(), &["E6"]);
}

#[test]
fn replay_ends_with_2_where_a_filing_is_refused_and_1_where_nothing_can_be_read() {
    let folder = Folder::empty();
    folder.write("refused.toml", &RECORD.replace("MARBLE A5", "MARBLE E5"));
    let ran = folder.run(&["replay", "refused.toml", "--json"]);
    assert_eq!(ran.status(), 2, "{}", ran.complaint());
    assert_says(&ran.out(), &["refused"]);
    // The refusal is the other seat's; the exit status says it all the same.
    let ran = folder.run(&["replay", "refused.toml", "--json", "--as", "first"]);
    assert_eq!(ran.status(), 2);
    assert!(!ran.out().contains(r#""seat":"second""#), "{}", ran.out());
    folder.write("fault.toml", &RECORD.replace("seat = \"second\"", "seat = \"third\""));
    assert_says(&folder.run(&["replay", "fault.toml"]).fault(1), &["fault.toml", "line 13", "third"]);
    folder.write("game.toml", &RECORD.replace("quad", "chess"));
    assert_says(&folder.run(&["replay", "game.toml"]).fault(1), &["game.toml", "chess"]);
    let ran = folder.run(&["replay", "refused.toml", "--as", "third"]);
    assert_eq!(ran.status(), 2);
    assert_says(&ran.complaint(), &["first or second"]);
}

#[test]
fn games_completions_and_the_manual_page_need_no_club() {
    let folder = Folder::empty();
    assert_says(&folder.run(&["games"]).well(), &["quadrant-z", "pacific", "quantum", "quad", "turn_limit"]);
    let games = folder.run(&["games", "--json"]).well();
    let games: Value = serde_json::from_str(&games).expect("JSON");
    assert_eq!(games.as_array().map(Vec::len), Some(4));
    assert_eq!(games[3]["house"][2]["name"], "average");
    assert_says(&folder.run(&["games"]).well(), &["house:trainer", "house:expert"]);
    for shell in ["bash", "zsh", "fish"] {
        assert_says(&folder.run(&["completions", shell]).well(), &["fogpost", "doctor"]);
    }
    assert_says(&folder.run(&["man"]).well(), &[".TH fogpost", "receive"]);
}

/// Every argument and every command of `command` and below that says nothing of itself.
fn without_help(command: &clap::Command, path: &str, silent: &mut Vec<String>) {
    if command.get_about().is_none() {
        silent.push(path.to_owned());
    }
    let unnamed = command.get_arguments().filter(|argument| argument.get_help().is_none());
    silent.extend(unnamed.map(|argument| format!("{path} {}", argument.get_id())));
    for below in command.get_subcommands() {
        without_help(below, &format!("{path} {}", below.get_name()), silent);
    }
}

#[test]
fn every_command_and_argument_says_what_it_is() {
    let mut silent = Vec::new();
    without_help(&<fogpost::cli::Cli as clap::CommandFactory>::command(), "fogpost", &mut silent);
    assert_eq!(silent, [""; 0]);
}

#[test]
fn a_reader_who_has_gone_and_a_full_disk_are_no_panic() {
    let folder = Folder::empty();
    for arguments in [&["games"][..], &["completions", "bash"], &["man"], &["games", "--json"]] {
        let full = fs::File::options().write(true).open("/dev/full").expect("Linux");
        let mut command = Command::new(env!("CARGO_BIN_EXE_fogpost"));
        let full =
            command.args(arguments).current_dir(folder.0.path()).stdout(full).output().expect("it runs");
        assert_says(&Ran(full).fault(1), &["fogpost: standard output: No space left on device"]);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let gone = command.stdout(writer).output().expect("it runs");
        assert_eq!(Ran(gone).complaint(), "");
    }
}

#[test]
fn a_man_page_is_written_for_every_command() {
    let folder = Folder::empty();
    assert_says(&folder.run(&["man", "nowhere"]).fault(1), &["nowhere: No such file or directory"]);
    fs::create_dir(folder.path("pages")).expect("a folder");
    folder.run(&["man", "pages"]).well();
    for page in ["fogpost.1", "fogpost-run.1", "fogpost-match-new.1"] {
        assert_says(&fs::read_to_string(folder.path("pages").join(page)).expect(page), &[".TH"]);
    }
}

#[test]
fn a_club_is_moved_to_another_database_and_goes_on_there() {
    let folder = Folder::club();
    let id = folder.open();
    folder.run_with(&["receive"], LETTER).well();
    folder.run(&["run", "--once"]).well();
    let before = folder.run(&["match", "list", "--json"]).well();
    let moved = folder.run(&["db", "move", "sqlite:fogpost.db", "sqlite:new.db"]).well();
    assert_says(&moved, &["letter_raw    1", "the ledgers of all matches (1) are whole", "database.url"]);
    let again = folder.run(&["db", "move", "sqlite:fogpost.db", "sqlite:new.db"]).fault(1);
    assert_says(&again, &["not empty: table player"]);
    folder.write("config.toml", &format!("{CONFIG}[database]\nurl = \"sqlite:new.db\"\n"));
    assert_eq!(folder.run(&["match", "list", "--json"]).well(), before);
    folder.run(&["audit", "verify", "--all"]).well();
    folder.run(&["match", "pause", &id]).well();
    let same = folder.run(&["db", "move", "sqlite:new.db", "sqlite:new.db"]).fault(1);
    assert_says(&same, &["is the one to move from"]);
    let missing = folder.run(&["db", "move", "sqlite:nowhere.db", "sqlite:other.db"]).fault(1);
    assert_says(&missing, &["the database to move from is not there"]);
    assert!(!folder.path("nowhere.db").exists());
}

//! The command line as people and scripts use it: the output and exit status of every command.

mod answers;
mod audit;
#[path = "../support/club.rs"]
mod club;
mod config;
mod demo;
mod event;
mod fog;
mod gm;
mod ground;
mod limits;
mod login;
mod screen;
mod service;
mod suggested;
#[path = "../support/worst_letters.rs"]
mod worst_letters;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::club::{CONFIG, Club};

/// A folder in which to run `fogpost`.
struct Folder(Club);

impl Folder {
    fn empty() -> Folder {
        Folder(Club::empty())
    }

    /// A folder with a config and the mailbox that it names.
    fn club() -> Folder {
        Folder(Club::new())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    /// Writes a file that nobody else may read.
    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).expect("it is ours");
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = self.0.command(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("fogpost runs");
        // The program may exit before it has read all of its input.
        let _ = child.stdin.take().expect("asked for").write_all(input.as_bytes());
        Ran(child.wait_with_output().expect("our child"))
    }

    /// Opens a match of Quad and returns its name.
    fn open(&self) -> String {
        self.0.open("quad", ["Ann <ann@players.example>", "bo@players.example"], &[])
    }
}

struct Ran(Output);

impl Ran {
    fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).expect("text")
    }

    fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).expect("text")
    }

    fn status(&self) -> i32 {
        self.0.status.code().expect("it ended by itself")
    }

    /// Asserts success and returns the output.
    #[track_caller]
    fn success(&self) -> String {
        assert_eq!(self.status(), 0, "{}{}", self.stdout(), self.stderr());
        self.stdout()
    }

    /// Asserts failure with this exit status and a single line of error, which it returns.
    #[track_caller]
    fn failure(&self, status: i32) -> String {
        let stderr = self.stderr();
        assert_eq!((self.status(), stderr.lines().count()), (status, 1), "{}{stderr}", self.stdout());
        stderr
    }
}

#[track_caller]
fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
}

#[test]
fn doctor_reports_on_each_part() {
    let folder = Folder::club();
    let said = folder.run(&["doctor"]).success();
    assert_eq!(said.lines().filter(|line| line.starts_with("ok    ")).count(), 8, "{said}");
    folder.write("config.toml", &format!("{CONFIG}[database]\nurl = \"sqlite:nowhere/at/all.db\"\n"));
    let ran = folder.run(&["doctor"]);
    assert_eq!(ran.status(), 1);
    assert_says(&ran.stdout(), &["FAULT database", "its folder must exist and be writable", "ok    inbox"]);
}

#[test]
fn doctor_names_a_template_that_does_not_render() {
    let folder = Folder::club();
    fs::create_dir_all(folder.path("own/match")).expect("a folder");
    folder.write("own/match/report.txt", "Subject: x\n\n{{ nothing.of.the.kind }}\n");
    folder.write("config.toml", &format!("{CONFIG}[templates]\nfolder = \"own\"\n"));
    let ran = folder.run(&["doctor"]);
    assert_eq!(ran.status(), 1);
    assert_says(&ran.stdout(), &["FAULT templates", "match/report.txt"]);
}

#[test]
fn a_match_is_opened_listed_shown_paused_resumed_and_abandoned() {
    let folder = Folder::club();
    let id = folder.open();
    assert_says(&folder.run(&["match", "list"]).success(), &[&id, "Ann", "turn 1", "first"]);
    assert_eq!(folder.run(&["match", "list", "--stage", "over"]).success().lines().count(), 1);
    let shown = folder.run(&["match", "show", &id.to_lowercase()]).success();
    assert_says(&shown, &["stage         running", "waits for     Ann", "swap=off"]);
    let shown: Value =
        serde_json::from_str(&folder.run(&["match", "show", &id, "--json"]).success()).expect("JSON");
    assert_eq!(
        (&shown["match"], &shown["game"], &shown["stage"]),
        (&id.clone().into(), &"quad".into(), &"running".into())
    );
    let stage = |act: &[&str]| {
        assert_says(&folder.run(&[&["match"], act].concat()).success(), &["Done", &id]);
        folder.run(&["match", "show", &id]).success()
    };
    assert_says(&stage(&["pause", &id, "--reason", "the summer"]), &["stage         paused"]);
    assert_says(&stage(&["resume", &id]), &["stage         running"]);
    assert_says(&stage(&["abandon", &id]), &["stage         over"]);
    let listed = folder.run(&["match", "list", "--stage", "over", "--json"]).success();
    let over: Value = serde_json::from_str(&listed).expect("one line of JSON");
    assert_eq!(over["outcome"]["reason"], "abandoned");
}

#[test]
fn the_house_takes_a_seat_by_its_level_or_from_a_csv_file() {
    let folder = Folder::club();
    let ann = "Ann <ann@players.example>";
    assert_says(&folder.run(&["match", "new", "quad", "house:trainer", ann]).success(), &["is open"]);
    folder.run(&["run", "--once"]).success();
    let list = folder.run(&["match", "list"]).success();
    assert_says(&list, &["the house (trainer)", "turn 2"]);
    let id = list.split_whitespace().find(|word| word.starts_with("QD-")).expect("a name").to_owned();
    assert_says(&folder.run(&["match", "show", &id]).success(), &["trainer=on", "waits for     Ann"]);
    assert_says(&folder.run(&["audit", "verify", &id]).success(), &[&id]);
    folder.write(
        "pairs.csv",
        "game,first,second,options\nquad,a@b.example,house,\nquad,house:EXPERT,a@b.example,swap=on\n",
    );
    let opened = folder.run(&["match", "new", "--from", "pairs.csv"]).success();
    assert_says(&opened, &["a against the house (easy)", "the house (expert) against a"]);
    for (arguments, words) in [
        (["quad", ann, "house:master"], "the house plays Quad at the levels trainer, easy, average, expert"),
        (
            ["quadrant-z", "house:expert", ann],
            "the house plays Quadrant Z at the levels trainer, easy, average",
        ),
    ] {
        assert_says(&folder.run(&[&["match", "new"], &arguments[..]].concat()).failure(1), &[words]);
    }
    folder.write(
        "pairs.csv",
        "game,first,second\nquad,house,house:expert\nquadrant-z,a@b.example,house:expert\n",
    );
    let refused = folder.run(&["match", "new", "--from", "pairs.csv"]);
    assert_eq!(refused.status(), 1);
    assert_says(&refused.stderr(), &["line 3: second `house:expert`: the house plays"]);
    assert!(!refused.stderr().contains("line 2"), "{}", refused.stderr());
}

#[test]
fn people_are_named_in_one_way_everywhere() {
    let folder = Folder::club();
    for (address, name) in [("bo@players.example", "Bo Baker"), ("bob@players.example", "Bobby Brown")] {
        folder.run(&["player", "add", address, name]).success();
    }
    for named in ["bo baker", "Baker", "P-1", "bo@players.example", "Bo Baker <bo@players.example>", "bo b"] {
        assert_says(
            &folder.run(&["player", "show", named]).success(),
            &["Bo Baker (P-1): bo@players.example"],
        );
    }
    let asked = folder.run(&["player", "show", "bo"]).failure(1);
    assert_says(&asked, &["Several players fit bo: Bo Baker (P-1), Bobby Brown (P-2)."]);
    assert_says(&folder.run(&["player", "show", "Bobby Braun"]).failure(1), &["Nearest: Bobby Brown (P-2)"]);
    let id = folder.0.open("quad", ["baker", "P-2"], &[]);
    assert_says(&folder.run(&["match", "list", "--player", "brown"]).success(), &[&id]);
    assert_says(&folder.run(&["match", "new", "quad", "bo", "P-2"]).failure(1), &["Several players fit bo"]);
    folder.write("pairs.csv", "game,first,second\nquad,Baker,house:easy\n");
    folder.run(&["match", "new", "--from", "pairs.csv"]).success();
    folder.run(&["player", "add", "cy@players.example", "Cy Young"]).success();
    assert_says(&folder.run(&["match", "replace", &id, "second", "young"]).success(), &["Cy Young"]);
    folder.run(&["player", "block", "young"]).success();
    folder.run(&["player", "merge", "brown", "young"]).success();
    folder.run(&["player", "rename", "baker", "Robert", "Baker"]).success();
    assert_says(&folder.run(&["player", "list"]).success(), &["Robert Baker"]);
    // A match that no person plays can be acted on, too.
    let id = folder.0.open("quad", ["house:trainer", "house:easy"], &[]);
    folder.run(&["match", "abandon", &id]).success();
}

#[test]
fn the_house_plays_against_itself_to_the_end_and_no_player_gets_a_letter() {
    let folder = Folder::club();
    let id = folder.0.open("quad", ["house:trainer", "house:easy"], &[]);
    let shown = |id: &str| -> Value {
        serde_json::from_str(&folder.run(&["match", "show", id, "--json"]).success()).expect("JSON")
    };
    let opened = shown(&id);
    assert_eq!((&opened["stage"], &opened["outcome"]), (&"running".into(), &Value::Null));
    assert_says(&folder.run(&["match", "list"]).success(), &["the house (trainer)", "the house (easy)"]);
    folder.run(&["run", "--once"]).success();
    let ended = shown(&id);
    assert_eq!(ended["stage"], "over", "{ended}");
    assert!(ended["outcome"]["reason"].is_string() && ended["ended_at"].is_string(), "{ended}");
    folder.run(&["audit", "verify", &id]).success();
    // Nobody is told; the mailbox is the referee's own.
    let mut mailboxes: Vec<_> = fs::read_dir(folder.path("mail"))
        .expect("the mailboxes")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    mailboxes.sort();
    assert_eq!(mailboxes, ["referee"]);
    let unsent = folder.run(&["letters", "--unsent"]).success();
    assert_eq!(unsent.lines().count(), 1, "only the head of the table: {unsent}");
}

#[test]
fn a_list_of_matches_may_come_from_any_spreadsheet_and_names_that_are_not_used_are_told() {
    let folder = Folder::club();
    folder.run(&["match", "new", "quad", "Ann <ann@players.example>", "bo@players.example"]).success();
    folder.write(
        "pairs.csv",
        "\u{feff}game;first;second;options\r\nquad;Anna <ann@players.example>;Bo <bo@players.example>;swap=off\r\n",
    );
    let ran = folder.run(&["match", "new", "--from", "pairs.csv"]);
    assert_says(&ran.success(), &["Ann against bo"]);
    assert_says(&ran.stderr(), &["ann@players.example is registered as Ann; the name Anna is not used"]);
    let list = folder.run(&["match", "list", "--game", "quad", "--player", "ann@players.example", "--json"]);
    for line in list.success().lines() {
        assert_says(
            line,
            &[r#""opened_at":"2"#, r#""ended_at":null"#, r#""addresses":{"first":["ann@players.example"]"#],
        );
    }
}

#[test]
fn an_impossible_action_on_a_match_is_a_one_line_error() {
    let folder = Folder::club();
    assert_says(&folder.run(&["match", "show", "QD-0000"]).failure(1), &["no match QD-0000", "match list"]);
    assert_says(&folder.run(&["match", "pause", "QD-0000"]).failure(1), &["QD-0000"]);
    let people = ["ann@players.example", "bo@players.example"];
    let new = |more: &[&str]| folder.run(&[&["match", "new", "quad"][..], &people, more].concat());
    assert_says(&new(&["--option", "swap"]).failure(1), &["swap", "NAME=VALUE"]);
    assert_says(&new(&["--option", "swap=maybe"]).failure(1), &["swap", "off", "on"]);
    assert_says(&new(&["--option", "size=9"]).failure(1), &["size", "swap", "trainer"]);
    // These are errors in the command line itself.
    for (arguments, words) in [
        (&["match", "new", "chess", "a@b.example", "c@d.example"][..], "known games are quadrant-z"),
        (&["match", "new", "quad", "a@", "c@d.example"], "name@example.org"),
        (&["match", "list", "--stage", "asleep"], "running, paused, over"),
    ] {
        let ran = folder.run(arguments);
        assert_eq!(ran.status(), 2);
        assert_says(&ran.stderr(), &[words]);
    }
    assert_eq!(folder.run(&["match", "list", "--json"]).success(), "");
}

/// A letter from Ann, as a mail server pipes it in.
const LETTER: &str = "From: Ann <ann@players.example>\r\nTo: referee@club.example\r\nSubject: orders\r\n\
                      Message-ID: <1@players.example>\r\n\r\nSTATUS\r\n";

#[test]
fn a_letter_on_standard_input_is_stored_once_and_printed_byte_for_byte() {
    let folder = Folder::club();
    for _ in 0..2 {
        assert_eq!(folder.run_with(&["receive"], LETTER).success(), "");
    }
    let listed = folder.run(&["letters", "--json"]).success();
    let letter: Value =
        serde_json::from_str(&listed).expect("one line: the second time it was the same letter");
    assert_eq!((&letter["status"], &letter["from"]), (&"waiting".into(), &"ann@players.example".into()));
    assert_says(&folder.run(&["letters"]).success(), &["ann@players.example", "orders", "waiting"]);
    let digest = letter["letter"].as_str().expect("a digest");
    assert_eq!(folder.run(&["letters", "--raw", &digest[..8]]).success(), LETTER);
    assert_says(
        &folder.run(&["letters", "--raw", "0000"]).failure(1),
        &["no letter's digest begins with 0000"],
    );
    let unknown = folder.run(&["letters", "--status", "eaten"]);
    assert_eq!(unknown.status(), 2);
    assert_says(&unknown.stderr(), &["known statuses are"]);
}

#[test]
fn a_letter_that_cannot_be_stored_is_left_with_the_mail_server() {
    let folder = Folder::club();
    folder.write("config.toml", &format!("{CONFIG}[database]\nurl = \"sqlite:nowhere/at/all.db\"\n"));
    assert_says(&folder.run_with(&["receive"], LETTER).failure(75), &["fogpost: "]);
    folder.write("config.toml", "[club\n");
    assert_says(&folder.run_with(&["receive"], LETTER).failure(75), &["config.toml, line 1"]);
}

#[test]
fn run_once_does_the_waiting_work_and_exits() {
    let folder = Folder::club();
    let id = folder.open();
    folder.run_with(&["receive"], LETTER).success();
    folder.run(&["run", "--once"]).success();
    let to_ann = fs::read_dir(folder.path("mail/ann@players.example/new")).expect("her mailbox").count();
    assert_eq!(to_ann, 2, "the invitation and an answer");
    let listed = folder.run(&["letters"]).success();
    assert!(!listed.contains("waiting"), "{listed}");
    assert_eq!(
        folder.run(&["letters", "--unsent"]).success().lines().count(),
        1,
        "only the head of the table"
    );
    folder.run(&["match", "show", &id]).success();
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
fn replay_prints_each_turn_as_json_for_both_seats_or_one() {
    let folder = Folder::empty();
    folder.write("match.toml", RECORD);
    let lines = |arguments: &[&str]| -> Vec<Value> {
        let out = folder.run(&[&["replay", "match.toml", "--json"][..], arguments].concat()).success();
        out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let all = lines(&[]);
    assert_eq!(all.iter().map(|line| line["adjudication"].clone()).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(lines(&["--turn", "2"]), all[1..2]);
    assert_eq!(lines(&["--turn", "9"]), [Value::Null; 0]);
    let own = lines(&["--as", "second"]);
    assert_eq!(own.len(), 3);
    assert!(own[0] != all[0] && own[0].get("state").is_none(), "{}", own[0]);
    let from_input = folder.run_with(&["replay", "-", "--json"], RECORD).success();
    assert_eq!(from_input.lines().count(), 3);
    assert_says(&folder.run(&["replay", "match.toml"]).success(), &["E6"]);
}

#[test]
fn replay_exits_with_2_after_a_refused_filing_and_1_for_an_unreadable_record() {
    let folder = Folder::empty();
    folder.write("refused.toml", &RECORD.replace("MARBLE A5", "MARBLE E5"));
    let ran = folder.run(&["replay", "refused.toml", "--json"]);
    assert_eq!(ran.status(), 2, "{}", ran.stderr());
    assert_says(&ran.stdout(), &["refused"]);
    // The refused filing is the other seat's, but the exit status still reports it.
    let ran = folder.run(&["replay", "refused.toml", "--json", "--as", "first"]);
    assert_eq!(ran.status(), 2);
    assert!(!ran.stdout().contains(r#""seat":"second""#), "{}", ran.stdout());
    folder.write("fault.toml", &RECORD.replace("seat = \"second\"", "seat = \"third\""));
    assert_says(&folder.run(&["replay", "fault.toml"]).failure(1), &["fault.toml", "line 13", "third"]);
    folder.write("game.toml", &RECORD.replace("quad", "chess"));
    assert_says(&folder.run(&["replay", "game.toml"]).failure(1), &["game.toml", "chess"]);
    let ran = folder.run(&["replay", "refused.toml", "--as", "third"]);
    assert_eq!(ran.status(), 2);
    assert_says(&ran.stderr(), &["first or second"]);
}

#[test]
fn games_completions_and_the_manual_page_need_no_club() {
    let folder = Folder::empty();
    assert_says(
        &folder.run(&["games"]).success(),
        &["quadrant-z", "pacific", "quantum", "quad", "turn_limit"],
    );
    let games = folder.run(&["games", "--json"]).success();
    let games: Value = serde_json::from_str(&games).expect("JSON");
    assert_eq!(games.as_array().map(Vec::len), Some(4));
    assert_eq!(games[3]["house"][2]["name"], "average");
    assert_says(&folder.run(&["games"]).success(), &["house:trainer", "house:expert"]);
    for shell in ["bash", "zsh", "fish"] {
        assert_says(&folder.run(&["completions", shell]).success(), &["fogpost", "doctor"]);
    }
    assert_says(&folder.run(&["man"]).success(), &[".TH fogpost", "receive"]);
}

/// Collects every subcommand and argument of `command` that has no help text.
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
fn every_command_and_argument_has_help() {
    let mut silent = Vec::new();
    without_help(&<fogpost::cli::Cli as clap::CommandFactory>::command(), "fogpost", &mut silent);
    assert_eq!(silent, [""; 0]);
}

#[test]
fn a_closed_pipe_and_a_full_disk_do_not_panic() {
    let folder = Folder::empty();
    for arguments in [&["games"][..], &["completions", "bash"], &["man"], &["games", "--json"]] {
        let full = fs::File::options().write(true).open("/dev/full").expect("Linux");
        let full = folder.0.command(arguments).stdout(full).output().expect("it runs");
        assert_says(&Ran(full).failure(1), &["fogpost: standard output: No space left on device"]);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let gone = folder.0.command(arguments).stdout(writer).output().expect("it runs");
        assert_eq!(Ran(gone).stderr(), "");
    }
}

#[test]
fn a_man_page_is_written_for_every_command() {
    let folder = Folder::empty();
    assert_says(&folder.run(&["man", "nowhere"]).failure(1), &["nowhere: No such file or directory"]);
    fs::create_dir(folder.path("pages")).expect("a folder");
    folder.run(&["man", "pages"]).success();
    for page in ["fogpost.1", "fogpost-run.1", "fogpost-match-new.1"] {
        assert_says(&fs::read_to_string(folder.path("pages").join(page)).expect(page), &[".TH"]);
    }
}

#[test]
fn a_club_moves_to_another_database_and_continues_there() {
    let folder = Folder::club();
    let id = folder.open();
    folder.run_with(&["receive"], LETTER).success();
    folder.run(&["run", "--once"]).success();
    let before = folder.run(&["match", "list", "--json"]).success();
    let moved = folder.run(&["db", "move", "sqlite:fogpost.db", "sqlite:new.db"]).success();
    assert_says(
        &moved,
        &["letter_raw        1", "the ledgers of all matches (1) are intact", "database.url"],
    );
    let again = folder.run(&["db", "move", "sqlite:fogpost.db", "sqlite:new.db"]).failure(1);
    assert_says(&again, &["not empty: table player"]);
    folder.write("config.toml", &format!("{CONFIG}[database]\nurl = \"sqlite:new.db\"\n"));
    assert_eq!(folder.run(&["match", "list", "--json"]).success(), before);
    folder.run(&["audit", "verify", "--all"]).success();
    folder.run(&["match", "pause", &id]).success();
    let same = folder.run(&["db", "move", "sqlite:new.db", "sqlite:new.db"]).failure(1);
    assert_says(&same, &["both URLs name the same database"]);
    let missing = folder.run(&["db", "move", "sqlite:nowhere.db", "sqlite:other.db"]).failure(1);
    assert_says(&missing, &["the database to move from does not exist"]);
    assert!(!folder.path("nowhere.db").exists());
}

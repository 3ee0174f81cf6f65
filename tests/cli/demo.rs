//! `fogpost demo`: each recorded match by letter. `--play`: what is refused before anything is created, and the beginning
//! of a match by letter.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use mail_parser::MessageParser;

use super::{Folder, Ran, assert_says};

const YOU: &str = "you@players.example";

/// A letter from the referee, as a mail program shows it.
struct Letter {
    subject: String,
    text: String,
    reply_to: String,
    message_id: String,
}

impl Letter {
    fn parse(raw: &[u8]) -> Letter {
        let mail = MessageParser::default().parse(raw).expect("a letter");
        let reply_to = mail.reply_to().and_then(|to| to.first()?.address()).expect("an address");
        Letter {
            subject: mail.subject().expect("a subject").to_owned(),
            text: mail.body_text(0).expect("a text").into_owned(),
            reply_to: reply_to.to_owned(),
            message_id: mail.message_id().expect("a Message-ID").to_owned(),
        }
    }

    /// The first example among the orders, without its bar.
    fn example(&self) -> &str {
        self.text.lines().find_map(|line| line.trim().strip_prefix("| ")).expect("an example")
    }

    /// A reply as mutt writes it: the order above the quoted letter, which contains the reply token.
    fn reply(&self, order: &str) -> String {
        let quoted: String = self.text.lines().map(|line| format!("> {line}\n")).collect();
        format!(
            "From: You <{YOU}>\nTo: {}\nSubject: Re: {}\nMessage-ID: <1@players.example>\nIn-Reply-To: <{}>\n\n\
             {order}\n\nOn Thu, May 14, The Demo Club wrote:\n{quoted}",
            self.reply_to, self.subject, self.message_id
        )
    }
}

/// Returns the letters in a Maildir.
fn letters(mailbox: &Path) -> Vec<Letter> {
    let mut letters = letters_in(&mailbox.join("cur"));
    letters.extend(letters_in(&mailbox.join("new")));
    letters
}

/// Returns the letters in a folder, or none if it does not exist.
fn letters_in(folder: &Path) -> Vec<Letter> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.map(|path| Letter::parse(&fs::read(path).expect("a letter"))).collect()
}

/// Runs the demo of a game, and returns what it prints and what Ann read.
fn demo(game: &str) -> (String, String) {
    let folder = Folder::empty();
    let told = folder.run(&["demo", "--game", game, "--folder", "mine"]).success();
    let read = folder.path("mine/mail/ann@players.example");
    let letters = ["new", "cur"].into_iter().flat_map(|part| letters_in(&read.join(part)));
    (told, letters.map(|letter| letter.text).collect())
}

/// What Ann is told when her letter with a mistake comes.
const REFUSED: &str = "No order in this letter was filed.";

const PROVEN: &str = "The record of the match, replayed, gives the same result.";

#[test]
fn the_demo_of_quadrant_z_tells_of_battles_and_a_base() {
    let (told, read) = demo("quadrant-z");
    let result = "The referee read 41 letters";
    assert_says(&told, &["Battle in ", "You captured the enemy's home base at Y2!", result, PROVEN]);
    assert_says(&read, &["Hello Ann, good luck to both of us!", REFUSED]);
}

#[test]
fn the_demo_of_the_pacific_tells_of_torpedoes() {
    let (told, read) = demo("pacific");
    assert_says(&told, &["sank", "Bo won (fleet defeated).", "The referee read 87 letters", PROVEN]);
    assert_says(&read, &["Hello Ann! My submarines send their love.", REFUSED]);
}

#[test]
fn the_demo_of_quantum_tells_of_towers() {
    let (told, read) = demo("quantum");
    assert_says(
        &told,
        &["tower, which stays", "Ann won (three towers).", "The referee read 40 letters", PROVEN],
    );
    assert_says(&read, &["Good luck, Ann.", "Your conditions are sealed", REFUSED]);
}

#[test]
fn the_demo_of_quad_tells_of_a_quad() {
    let (told, read) = demo("quad");
    assert_says(&told, &["It completes the quad", "Ann won (quad).", "The referee read 24 letters", PROVEN]);
    assert_says(&read, &["I gladly take that one.", "Your conditions are sealed", REFUSED]);
}

#[test]
fn a_demo_with_an_unknown_level_is_refused_before_its_folder_is_created() {
    let folder = Folder::empty();
    let ran = folder.run(&["demo", "--play", "quad", "--level", "master", "--folder", "mine"]);
    assert_says(
        &ran.failure(1),
        &["the house has no level master in Quad; try trainer, easy, average, expert"],
    );
    assert!(!folder.path("mine").exists());
}

#[test]
fn a_demo_in_a_folder_that_mutt_would_misread_is_refused_before_it_is_created() {
    let folder = Folder::empty();
    let refused = |name: &str, words: &str| {
        let ran = folder.run(&["demo", "--play", "quad", "--folder", name]);
        assert_says(&ran.failure(1), &[words, "choose another folder with --folder"]);
        assert!(!folder.path(name).exists(), "{name:?}");
    };
    for (name, character) in [
        ("it's", r"'\''"),
        ("say \"x\"", r"' '"),
        ("\"x\"", r#"'"'"#),
        ("my games/quad", r"' '"),
        ("x\\y", r"'\\'"),
        ("$HOME", "'$'"),
        ("`x`", "'`'"),
        ("two\nlines", r"'\n'"),
        ("right\u{202e}tfel", r"'\u{202e}'"),
    ] {
        refused(name, &format!("mutt would misread {character} in the path"));
    }
    assert!(!folder.path("my games").exists());
    // What counts is where a symbolic link leads.
    fs::create_dir(folder.path("my games")).expect("a folder");
    symlink(folder.path("my games"), folder.path("games")).expect("a link");
    refused("games/quad", "mutt would misread ' ' in the path");
    let latin1 = std::ffi::OsStr::from_bytes(b"f\xfcr mich");
    let mut command = folder.0.command(&["demo", "--folder"]);
    let ran = Ran(command.arg(latin1).output().expect("fogpost runs"));
    assert_says(&ran.failure(1), &["is not UTF-8"]);
    assert!(!folder.0.folder().join(latin1).exists());
}

#[test]
fn a_person_plays_against_the_house_with_the_files_that_the_demo_writes_for_mutt() {
    let folder = Folder::empty();
    let (club, own) = (&folder.0, folder.path("mine/mail").join(YOU));
    let mut command = club.command(&["demo", "--play", "quad", "--level", "trainer", "--folder", "mine"]);
    command.stdin(Stdio::null()).stdout(File::create(folder.path("said")).expect("a file"));
    let daemon = club.spawn(command);
    let said = || fs::read_to_string(folder.path("said")).expect("its output");
    club.wait_for("the demo to say how to go on", || said().contains("Ctrl-C stops the referee here."));

    let place = fs::canonicalize(folder.path("mine")).expect("the folder");
    let place = place.to_str().expect("UTF-8");
    assert_says(&said(), &["Quad between you and the house (trainer)", &format!("mutt -F '{place}/muttrc'")]);
    assert_says(
        &fs::read_to_string(folder.path("mine/muttrc")).expect("the config of mutt"),
        &[
            &format!("set from = \"{YOU}\"\n"),
            &format!("set spoolfile = \"{place}/mail/{YOU}\"\n"),
            &format!("set sendmail = \"{place}/send\"\n"),
        ],
    );
    let [invitation] = &letters(&own)[..] else { panic!("there is more than the invitation") };
    assert_says(
        &invitation.text,
        &["Opponent:  the house (trainer)", "Reply token: ", "Turn 1 waits for your orders."],
    );

    // mutt calls the program with the recipients and writes the letter to its standard input.
    let mut send = Command::new(folder.path("mine/send"))
        .args(["--", &invitation.reply_to])
        .stdin(Stdio::piped())
        .spawn()
        .expect("an executable script");
    let order = invitation.example();
    let reply = invitation.reply(order);
    send.stdin.take().expect("asked for").write_all(reply.as_bytes()).expect("it reads the letter");
    assert!(send.wait().expect("our child").success());
    club.wait_for("the house to move", || {
        letters(&own).iter().any(|letter| letter.subject.ends_with("Turn 3: your move"))
    });
    let answers: String = letters(&own).into_iter().map(|letter| letter.text).collect();
    assert_says(&answers, &["Your orders are sealed:", order, "What happened in turns 1 and 2"]);

    assert_eq!(daemon.stop(club), Some(0));
    let config = format!("{place}/config.toml");
    let last = said().lines().last().expect("a line").to_owned();
    assert!(
        last.starts_with("To go on later: ") && last.ends_with(&format!(" demo --resume '{place}'")),
        "{last}"
    );
    folder.run(&["--config", &config, "run", "--once"]).success();
    let listed = folder.run(&["--config", &config, "match", "list"]).success();
    assert_says(&listed, &["the house (trainer)", "turn 3"]);
}

#[test]
fn a_person_answers_at_the_prompt_and_sees_the_house_move() {
    let folder = Folder::empty();
    let typed = folder.path("typed");
    fs::write(&typed, "END\nMARBLE E5\nMARBLE E6\nend\nMARBLE E5\nEND\nq\n").expect("a file");
    let mut command = folder.0.command(&["demo", "--play", "quad", "--level", "trainer", "--folder", "mine"]);
    command.stdin(File::open(&typed).expect("the file")).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let said = Ran(command.output().expect("fogpost runs")).success();
    assert_says(
        &said,
        &[
            "Turn 1 waits for your orders.",
            "mine/board.png",
            "mine/board.html",
            "Nothing was sent.",
            "No order in this letter was filed.",
            "Turn 3: your move",
            " demo --resume '",
        ],
    );
    assert!(fs::read(folder.path("mine/board.png")).expect("the board").starts_with(b"\x89PNG"));
    let board = fs::read_to_string(folder.path("mine/board.html")).expect("the page that opens the board");
    let page = board.split_once("url=file://").and_then(|(_, url)| url.split_once('#')).expect("a link").0;
    assert!(Path::new(page).is_file() && page.ends_with("/mine/site/play/index.html"), "{page}");
    let page = fs::read_to_string(page).expect("the page");
    assert!(page.contains("paste it at the prompt") && !page.contains("mail program"), "{page}");

    // The footer of a letter from the board ends it, with or without an END behind it.
    fs::write(&typed, "TURN 3\nMARBLE G7\nReply token: 0123456789abcdefEND\n\nEND\nq\n").expect("a file");
    let mut command = folder.0.command(&["demo", "--resume", "mine"]);
    command.stdin(File::open(&typed).expect("the file")).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let said = Ran(command.output().expect("fogpost runs")).success();
    assert_says(&said, &["Turn 3: your move", "Turn 5: your move", " demo --resume '"]);
    assert!(!said.contains("Turn 1 waits") && !said.contains("Nothing was sent."), "{said}");
    let refused = |folder_name: &str, says: &str| {
        assert_says(&folder.run(&["demo", "--resume", folder_name]).failure(1), &[says]);
    };
    refused("nowhere", "nowhere");
    fs::create_dir(folder.path("empty")).expect("a folder");
    refused("empty", "holds no match of `demo --play`");
}

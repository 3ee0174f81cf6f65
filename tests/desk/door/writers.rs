//! Who wrote a command: every command with every proof. Without the one that it needs, nothing changes and
//! nobody else is written to.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use fogpost::game::any::GameKind;
use fogpost::referee::Match;
use fogpost::request::{Command as Asked, CommandKind, Proof, Request};
use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};
use strum::VariantArray as _;
use tempfile::TempDir;

use crate::events::{CY, DI, EVE, LEAGUE, announced, club};
use crate::referee::{ANN, BO, GM, Referee, Sent};

/// A player whom nobody knows yet.
const NEW: &str = "new@elsewhere.example";

/// Two matches between Ann and Bo that run, one that is over, and the letters and codes that prove something.
#[derive(Clone)]
struct Scene {
    game_match: Match,
    /// Letters to Ann: about the match, about another that runs, and about one that is over.
    letter: Sent,
    other_letter: Sent,
    last_letter: Sent,
    /// The codes of the open seats of Ann and of Bo, which anybody can read.
    own_seat: String,
    open_seat: String,
    /// The code of Cy's challenge, and of a notice about a letter in Ann's name. Nobody but Ann was told.
    challenge: String,
    notice: String,
}

/// The code that follows this word in a letter.
fn code(sent: &Sent, word: &str) -> String {
    let line = sent.text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
    line.unwrap_or_else(|| panic!("no {word} in:\n{}", sent.text)).to_owned()
}

/// The first letter to somebody about a match.
fn invitation(referee: &Referee, address: &str, game_match: &Match) -> Sent {
    let found = referee.all_to(address).into_iter().find(|sent| sent.subject.contains(&game_match.id));
    found.expect("an invitation")
}

/// The scene, and the folder of its club. It is made once and copied for each command, because it takes
/// forty letters.
static SCENE: LazyLock<(Scene, TempDir)> = LazyLock::new(|| {
    let (mut referee, scene) = made();
    let copy = tempfile::tempdir().expect("a folder");
    referee.restart_after(|folder| copy_folder(folder, copy.path()));
    (scene, copy)
});

/// A club in which the scene is set.
fn set() -> Referee {
    let mut referee = Referee::new();
    referee.restart_after(|folder| copy_folder(SCENE.1.path(), folder));
    // The numbers of the letters that the scene took are used up.
    (0..100).for_each(|_| drop(referee.letter(ANN, "")));
    referee.sent_to(ANN);
    referee
}

fn copy_folder(from: &Path, to: &Path) {
    let (from, to) = (from.join("."), to.join("."));
    assert!(Command::new("cp").arg("-a").args([from, to]).status().expect("cp").success());
}

fn made() -> (Referee, Scene) {
    let referee = club("");
    announced(&referee, &LEAGUE.replace("SPRING", "AUTUMN"), &[]);
    announced(&referee, LEAGUE, &[ANN, BO, CY, DI]);
    let game_match = referee.open(GameKind::Quad, &[]);
    let letter = invitation(&referee, ANN, &game_match);
    let other = referee.open(GameKind::Quantum, &[]);
    let other_letter = invitation(&referee, ANN, &other);
    let over = referee.open(GameKind::Quad, &[]);
    referee.reply(BO, &invitation(&referee, BO, &over), "RESIGN CONFIRM");
    let last_letter = referee.all_to(ANN).into_iter().rfind(|sent| sent.subject.contains(&over.id));
    referee.write(ANN, "OPEN quad");
    let own_seat = code(&referee.last_to(ANN), "CLOSE");
    referee.write(BO, "OPEN pacific");
    let open_seat = code(&referee.last_to(BO), "CLOSE");
    referee.write(CY, &format!("CHALLENGE {ANN} quantum"));
    let challenge = code(&referee.last_to(ANN), "ACCEPT");
    referee.write(ANN, "BLOCK Di");
    referee.last_to(ANN).says("no longer take each other's offers");
    referee.reply("ann@holiday.example", &other_letter, "STATUS");
    let notice = code(&referee.last_to(ANN), "CONFIRM");
    let last_letter = last_letter.expect("the result");
    let scene =
        Scene { game_match, letter, other_letter, last_letter, own_seat, open_seat, challenge, notice };
    (referee, scene)
}

/// A command as Ann writes it, and the words that answer it once it is carried out. A new kind of command does
/// not compile without an example.
fn examples(kind: CommandKind) -> Vec<(String, &'static str)> {
    let scene = &SCENE.0;
    let written = |line: &str, says: &'static str| vec![(line.to_owned(), says)];
    match kind {
        CommandKind::Status => written("STATUS", "Quad, Ann (Black) against Bo"),
        CommandKind::Report => written("REPORT", "There is no such report"),
        CommandKind::History => written("HISTORY", "There is no such report"),
        CommandKind::Hint => written("HINT", "I give hints only in matches against the house"),
        CommandKind::Tell => written("TELL Well played.\nEND", "Your message was passed on to Bo"),
        CommandKind::Resign => written("RESIGN CONFIRM", "You have resigned"),
        CommandKind::Draw => written("DRAW", "Your offer of a draw stands"),
        CommandKind::Extend => written("EXTEND 3 days", "Bo has been asked for 3 more days"),
        CommandKind::Agree => written("AGREE", "has not asked for anything"),
        CommandKind::Claim => written("CLAIM", "There is no win to claim"),
        CommandKind::Absent => written("ABSENT 2026-06-01 TO 2026-06-03", "You are away from"),
        CommandKind::Substitute => written("SUBSTITUTE", "The GM has been asked to find somebody"),
        CommandKind::Protest => written("PROTEST It was wrong.\nEND", "Your protest is before the GM"),
        CommandKind::Withdraw => written("WITHDRAW", "You have filed no orders"),
        CommandKind::TellGm => written("TELL GM Good morning.\nEND", "passed"),
        CommandKind::Help => written("HELP", "How to play by letter"),
        CommandKind::Games => written("GAMES", "Quantum"),
        CommandKind::Rules => written("RULES quad", "G. Keith Still"),
        CommandKind::Matches => written("MATCHES", "Quad against Bo"),
        CommandKind::Challenge => vec![
            (format!("CHALLENGE {NEW} quad"), "has been challenged"),
            ("CHALLENGE house quad".to_owned(), "begins; its first letter"),
        ],
        CommandKind::ChallengeNamed => written("CHALLENGE Eve quad", "has been challenged"),
        CommandKind::Accept => written(&format!("ACCEPT {}", scene.challenge), "begins; its first letter"),
        CommandKind::Decline => vec![
            (format!("DECLINE {}", scene.challenge), "no longer stands"),
            (format!("DECLINE {}", scene.own_seat), "no longer stands"),
        ],
        CommandKind::Open => written("OPEN quantum", "The seat is open to anyone"),
        CommandKind::Join => written(&format!("JOIN {}", scene.open_seat), "begins; its first letter"),
        CommandKind::Close => written(&format!("CLOSE {}", scene.own_seat), "no longer stands"),
        CommandKind::Rematch => written("REMATCH", "is offered a rematch"),
        CommandKind::Block => vec![
            ("BLOCK Bo".to_owned(), "no longer take each other's offers"),
            ("UNBLOCK Di".to_owned(), "can take each other's offers again"),
        ],
        CommandKind::Profile => written("PROFILE", "Ann (P-"),
        CommandKind::Ratings => written("RATINGS quad", "Ratings in Quad"),
        CommandKind::Events => written("EVENTS", "EV-AUTUMN"),
        CommandKind::Enter => written("ENTER EV-AUTUMN", "You are in"),
        CommandKind::LeaveEvent => written("LEAVE EV-SPRING CONFIRM", "You have left EV-SPRING"),
        CommandKind::Standings => written("STANDINGS EV-SPRING", "EV-SPRING has had no season yet"),
        CommandKind::Confirm => written(&format!("CONFIRM {}", scene.notice), "You confirmed the letter"),
        CommandKind::Deny => written(&format!("DENY {}", scene.notice), "new reply token"),
        CommandKind::Address => written("ADDRESS ann@new.example", "to ask whether that is what you want"),
        CommandKind::Misaddressed => written("CHALLENGE bo@[192.0.2.1] quad", "is not a mail address"),
        CommandKind::Leave => written("LEAVE CONFIRM", "to ask whether that is what you want"),
        CommandKind::Never => vec![
            (format!("NEVER {}", scene.challenge), "Nobody can challenge you any more"),
            ("NEVER".to_owned(), "Nobody can challenge you any more"),
        ],
        CommandKind::Settings => vec![
            ("SETTINGS".to_owned(), "Your settings:"),
            ("SETTINGS challenges=off".to_owned(), "Nobody can challenge you any more"),
            ("SETTINGS zone=Europe/Paris name=Annette".to_owned(), "| name=Annette"),
        ],
    }
}

/// The command in an example.
fn read(line: &str) -> Asked {
    let lines: Vec<&str> = line.lines().collect();
    let request = Request::read(&fogpost::game::Line::numbered(&lines), |_: &str| false);
    let [asked] = &request.commands[..] else { panic!("{line} is not one command: {request:?}") };
    asked.command.clone()
}

/// A command, the lines with it, and the words that answer it.
type Example = (Asked, String, &'static str);

/// Every example of every command.
fn every_example() -> Vec<Example> {
    let mut found = Vec::new();
    for kind in CommandKind::VARIANTS {
        for (line, says) in examples(*kind) {
            let command = read(&line);
            assert_eq!(CommandKind::from(&command), *kind, "{line}");
            found.push((command, line, says));
        }
    }
    found
}

/// Everything that a command can change for a person. Questions, letters and counts are left out, and so is
/// the time at which an address was first known to read our letters.
fn state(referee: &Referee) -> String {
    const TABLES: [&str; 11] = [
        "SELECT * FROM player",
        "SELECT * FROM address",
        "SELECT * FROM match",
        "SELECT * FROM seat",
        "SELECT * FROM entry",
        "SELECT * FROM invitation",
        "SELECT * FROM event",
        "SELECT * FROM book_entry",
        "SELECT * FROM player_change",
        "SELECT letter, stage FROM unproven_letter",
        "SELECT address, unwilling_since, blocked_since FROM standing \
         WHERE unwilling_since IS NOT NULL OR blocked_since IS NOT NULL",
    ];
    let url = format!("sqlite:{}", referee.folder().join("fogpost.db").display());
    referee.block_on(async {
        let mut file = SqliteConnection::connect(&url).await.expect("the database");
        let mut shown = String::new();
        for select in TABLES {
            let columns =
                format!("SELECT group_concat(name) FROM pragma_table_xinfo('{}')", table_in(select));
            let all: String =
                sqlx::query(AssertSqlSafe(columns)).fetch_one(&mut file).await.expect("it").get(0);
            let columns = match select.strip_prefix("SELECT *") {
                Some(_) => all,
                None => select["SELECT ".len()..].split(" FROM").next().expect("columns").to_owned(),
            };
            let quoted: Vec<String> =
                columns.split(',').map(|column| format!("quote({})", column.trim())).collect();
            let rest = &select[select.find(" FROM").expect("a table")..];
            let rows = format!("SELECT {} AS line{rest} ORDER BY line", quoted.join(" || '|' || "));
            for row in sqlx::query(AssertSqlSafe(rows)).fetch_all(&mut file).await.expect("rows") {
                shown.push_str(&format!("{} {}\n", table_in(select), row.get::<String, _>(0)));
            }
        }
        shown
    })
}

fn table_in(select: &str) -> &str {
    select.split(" FROM ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a table")
}

/// The number of letters to everybody but Ann so far.
fn letters_to_others(referee: &Referee, but: &str) -> usize {
    let others = [BO, CY, DI, EVE, GM, NEW, "ann@holiday.example", "ann@new.example"];
    others.iter().filter(|other| **other != but).map(|other| referee.all_to(other).len()).sum()
}

/// A letter from Ann's address that nobody proves: no token, no thread, and no code but public ones. Ann
/// answered a question of ours before.
fn forge(referee: &Referee, line: &str) {
    referee.receive(&referee.letter(ANN, line));
}

/// Whether Ann alone was told the code in this line.
fn bears_secret(line: &str) -> bool {
    line.contains(&SCENE.0.challenge) || line.contains(&SCENE.0.notice)
}

#[test]
fn a_letter_that_only_bears_an_address_changes_nothing() {
    let (scene, referee) = (&SCENE.0, set());
    for (command, line, _) in every_example() {
        let line = line.replace(&scene.challenge, &scene.own_seat).replace(&scene.notice, &scene.own_seat);
        let before = state(&referee);
        // The GM reads words to the GM from anybody, with the address that they came from.
        let but = if matches!(command, Asked::TellGm(_)) { GM } else { ANN };
        let letters = letters_to_others(&referee, but);
        forge(&referee, &line);
        let after = state(&referee);
        // The question about a new address, or about leaving, is a row, too.
        let is_asked =
            |line: &&str| command.proof() == Proof::OwnQuestion && line.starts_with("player_change");
        let after: String =
            after.lines().filter(|line| !is_asked(line)).map(|line| format!("{line}\n")).collect();
        assert_eq!(after, before, "{line}");
        assert_eq!(letters_to_others(&referee, but), letters, "{line}");
        referee.change_database("DELETE FROM player_change");
    }
    // So many answers to one address wait for the next hours.
    referee.untidy.set(true);
}

#[test]
fn the_answer_to_our_question_carries_out_the_line_that_it_showed() {
    for (command, line, says) in every_example() {
        let asks = match command.proof() {
            Proof::Answer => true,
            // The code of one's own open seat stands in public.
            Proof::Code => !bears_secret(&line),
            Proof::MatchToken | Proof::AnyToken | Proof::OwnQuestion | Proof::Nothing => false,
        };
        if !asks {
            continue;
        }
        let referee = set();
        let before = state(&referee);
        forge(&referee, &line);
        let question = referee.one_to(ANN);
        question.says("Was it you who wrote this?").says(&format!("> {line}"));
        assert_eq!(state(&referee), before, "{line}");
        referee.reply(ANN, &question, &format!("CONFIRM {}", code(&question, "CONFIRM")));
        assert_answered(&referee, &line, says);
    }
}

#[test]
fn a_code_that_only_its_reader_was_told_is_proof_enough() {
    for (_, line, says) in every_example() {
        if bears_secret(&line) {
            let referee = set();
            forge(&referee, &line);
            assert_answered(&referee, &line, says);
        }
    }
}

#[test]
fn the_matchs_own_token_carries_out_every_command() {
    for (command, line, says) in every_example() {
        let (scene, referee) = (&SCENE.0, set());
        let letter = match command {
            Asked::Rematch { .. } => &scene.last_letter,
            _ => &scene.letter,
        };
        referee.reply(ANN, letter, &line);
        // Carrying out DENY would change the match that the letter is about.
        let says = if matches!(command, Asked::Deny(_)) { "Your DENY has no effect" } else { says };
        assert_answered(&referee, &line, says);
    }
}

#[test]
fn the_token_of_another_match_does_not_play_this_one() {
    for (command, line, says) in every_example() {
        if matches!(command, Asked::Rematch { .. } | Asked::Deny(_)) {
            continue;
        }
        let (scene, referee) = (&SCENE.0, set());
        referee.reply(ANN, &scene.other_letter, &format!("MATCH {}\n{line}", scene.game_match.id));
        if command.proof() == Proof::MatchToken {
            let refused = format!("Your {} was not carried out: for that, please answer", command.name());
            assert_answered(&referee, &line, &refused);
        } else {
            assert_answered(&referee, &line, says);
        }
    }
}

#[test]
fn lines_that_the_question_did_not_show_get_one_of_their_own() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    referee.sent_to(ANN);
    referee.write(ANN, "OPEN quantum");
    let question = referee.one_to(ANN);
    referee.write(ANN, &format!("CHALLENGE {NEW} quad"));
    assert!(referee.sent_to(ANN).is_empty(), "a question a day");
    referee.reply(ANN, &question, &format!("CONFIRM {}", code(&question, "CONFIRM")));
    let answer = referee.one_to(ANN);
    answer.says("The seat is open to anyone").says(&format!("> CHALLENGE {NEW} quad"));
    assert!(referee.sent_to(NEW).is_empty());
    assert_ne!(code(&question, "CONFIRM"), code(&answer, "CONFIRM"));
    referee.reply(ANN, &answer, &format!("CONFIRM {}", code(&answer, "CONFIRM")));
    referee.one_to(NEW).says("invites you to a match");
    referee.sent_to(ANN);
    // An earlier answer proves nothing about a later letter.
    referee.write(ANN, "OPEN pacific");
    referee.one_to(ANN).says("Was it you who wrote this?");
}

/// Asserts that the answers to the last letter hold these words.
#[track_caller]
fn assert_answered(referee: &Referee, line: &str, says: &str) {
    let texts: Vec<String> = referee.sent_to(ANN).into_iter().map(|sent| sent.text).collect();
    let answers = texts.join("\n").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(answers.contains(says), "{line}: {says:?} is not in {answers}");
}

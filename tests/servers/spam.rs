//! What SpamAssassin's local tests say of the letters of a match, from the invitation to the result, and of others.

use std::fs;
use std::path::Path;
use std::process::Command;

use fogpost::game::any::GameKind;
use tempfile::TempDir;

use crate::referee::{ANN, BO, GM, Referee};
use crate::servers;
use crate::whole::{ANN_AT_HOME, SOUTH};

/// A person who is not registered.
const CY: &str = "cy@players.example";

/// The highest score that a letter may have. Most mail servers refuse or set aside a letter at 5.
const MAX_SCORE: f64 = 1.0;

/// Folders of the unpacked packages in which Perl looks for modules.
const MODULES: [&str; 4] = [
    "usr/share/perl5",
    "usr/lib/x86_64-linux-gnu/perl5/5.36",
    "usr/share/perl/5.36",
    "usr/lib/x86_64-linux-gnu/perl/5.36",
];

/// The letters of a match: invitations, receipts, refusals, answers to commands, reminders, reports and the result.
fn letters_of_a_match(game: GameKind) -> Vec<Vec<u8>> {
    let orders = match game {
        GameKind::Quad => "MARBLE F6",
        GameKind::Quantum => "A3 A4",
        GameKind::Pacific => SOUTH,
        GameKind::QuadrantZ => ANN_AT_HOME,
    };
    let referee = Referee::new();
    referee.open(game, &[]);
    let [to_ann, to_bo] = [ANN, BO].map(|address| referee.last_to(address));
    for body in
        ["", "NOT AN ORDER 1", "STATUS", &format!("CHECK\n{orders}"), &format!("{orders}\n\nGood luck!")]
    {
        referee.reply(ANN, &to_ann, body);
    }
    if game == GameKind::Quad {
        for body in
            ["Hello, I do not know what to do.", "RULES", "EXTEND 3 days", "DRAW", "MESSAGE\nHello.\nEND"]
        {
            referee.reply(BO, &to_bo, body);
        }
        // A reminder, a missed turn and the GM's digest.
        referee.advance(24 * 9);
    }
    referee.reply(BO, &to_bo, "RESIGN");
    [ANN, BO, GM].iter().flat_map(|address| referee.raw_to(address)).collect()
}

/// Letters about no match: the manual, answers to strangers, challenges and settings.
fn other_letters() -> Vec<Vec<u8>> {
    let referee = Referee::new();
    for body in
        ["HELP", "What is this?", "RULES quad", "RULES pacific", "HELP settings", "CHALLENGE house Quad"]
    {
        referee.write(CY, body);
    }
    referee.write(ANN, &format!("CHALLENGE {BO} Quantum"));
    referee.answer_question(ANN);
    referee.write(ANN, "SETTINGS digest=daily");
    referee.advance(24);
    [ANN, BO, CY, GM].iter().flat_map(|address| referee.raw_to(address)).collect()
}

#[test]
fn no_letter_of_ours_looks_like_spam() {
    if servers::folder().is_none() {
        return;
    }
    let mut letters = other_letters();
    letters.extend(GameKind::ALL.iter().flat_map(|game| letters_of_a_match(*game)));
    let folder = TempDir::new().expect("a folder");
    let files: Vec<_> = (0..letters.len()).map(|number| folder.path().join(number.to_string())).collect();
    for (file, letter) in files.iter().zip(&letters) {
        fs::write(file, letter).expect("written");
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = tests.join("target/mail-programs");
    let judged = Command::new("perl")
        .args(MODULES.map(|modules| format!("-I{}", programs.join(modules).display())))
        .arg(tests.join("tests/servers/spam.pl"))
        .arg(&programs)
        .args(&files)
        .output()
        .expect("perl");
    let scores = String::from_utf8_lossy(&judged.stdout);
    assert_eq!(scores.lines().count(), letters.len(), "{}", String::from_utf8_lossy(&judged.stderr));
    for (line, letter) in scores.lines().zip(&letters) {
        let score: f64 = line.split(' ').nth(1).and_then(|score| score.parse().ok()).expect("a score");
        assert!(score <= MAX_SCORE, "{line}\n{}", String::from_utf8_lossy(letter));
    }
}

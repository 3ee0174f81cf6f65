//! Replies that mail programs compose themselves: the new text is read, and nothing of the quote.

use std::fs;
use std::path::Path;
use std::process::Command;

use fogpost::post::maildir;
use tempfile::TempDir;

use crate::club::Club;
use crate::servers;

const PROGRAMS: [&str; 6] = ["alpine", "mailutils", "mutt", "nmh", "notmuch", "s-nail"];

const TEXT: &str = "MARBLE E5\n\nThank you, a fine game.\n";

/// Lets a program reply to a letter, and returns what it hands to its mail server.
fn reply(program: &str, letter: &[u8], address: &str) -> Vec<u8> {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("letter"), letter).expect("written");
    fs::write(folder.path().join("text"), TEXT).expect("written");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("bash")
        .arg(tests.join("tests/servers/reply.sh"))
        .args([program.as_ref(), folder.path().as_os_str(), address.as_ref()])
        .env("PROGRAMS", tests.join("target/mail-programs"))
        .output()
        .expect("bash");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&said));
    fs::read(folder.path().join("sent")).expect("a reply")
}

#[test]
fn orders_are_read_from_what_six_programs_write_and_none_from_their_quotes() {
    if servers::folder().is_none() {
        return;
    }
    let club = Club::new();
    let address = |program: &str| format!("{program}@club.example");
    for program in PROGRAMS {
        club.open("quad", [&format!("Ann <{}>", address(program)), "Bo <bo@club.example>"], &[]);
    }
    let daemon = club.start();
    let replies = PROGRAMS.map(|program| {
        let letter = club.letters_to(&address(program), 1);
        reply(program, letter.as_bytes(), &address(program))
    });
    for reply in &replies {
        maildir::deliver(&club.mailbox(), reply).expect("delivered");
    }
    let filed = "Your orders are sealed:\n\n    | MARBLE E5\n\n##";
    let words = "words and not as orders:\n\n    > Thank you, a fine game.\n\nBo moves next.";
    for (program, reply) in PROGRAMS.into_iter().zip(&replies) {
        let letters = club.letters_to(&address(program), 2);
        let read = letters.contains(filed) && letters.contains(words);
        assert!(read, "{program} wrote\n{}\n\nand was told\n{letters}", String::from_utf8_lossy(reply));
    }
    daemon.stop(&club);
}

//! Twins: two matches that differ only in how many letters one side wrote. The other side gets byte-equal mail in both, once
//! hashes, digests, tokens, boundaries and the name of the match are replaced by placeholders.

use fogpost::game::any::GameKind;
use fogpost::referee::Match;

use crate::positions::setups;
use crate::referee::{ANN, BO, Referee, Sent};

/// Letters by which one side reveals nothing to the other.
const BUSY: [&str; 7] = [
    "STATUS",
    "HELP",
    "What a nice day.",
    "CHECK\nSTATUS",
    "NO SUCH ORDER 7",
    "STATUS\nSTATUS",
    "GAMES\nMATCHES",
];

/// The letters of both sides in a phase: Ann's, Bo's first orders, and the orders that he files in the end.
struct Phase<'a> {
    ann: &'a str,
    amended: &'a [&'a str],
    bo: &'a str,
}

/// The shortest run of hexadecimal digits that is a hash, a digest, the mark of a text or a veiled number.
const SHORTEST_DIGEST: usize = 12;

/// Replaces everything that may differ between the two matches.
fn with_placeholders(text: &str, game_match: &Match, token: &str) -> String {
    let text = text.replace(&game_match.id, "MATCH").replace(&game_match.id.to_lowercase(), "match");
    let text = text.replace(token, "TOKEN");
    let (mut out, mut run) = (String::new(), String::new());
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_digit() || ('a'..='f').contains(&c) {
            run.push(c);
            continue;
        }
        out.push_str(if run.len() >= SHORTEST_DIGEST { "DIGEST" } else { &run });
        run.clear();
        out.push(c);
    }
    out
}

/// Sends a letter of Ann, under a Message-ID that does not count the letters of others.
fn ann_writes(referee: &Referee, to: &Sent, id: &str, body: &str) {
    let raw = referee.answer(ANN, to, body);
    let counted = raw.lines().find(|line| line.starts_with("Message-ID: ")).expect("a Message-ID").to_owned();
    referee.receive(&raw.replace(&counted, &format!("Message-ID: <{id}@players.example>")));
}

/// Plays a match in which Bo is busy or not, and returns Ann's mail.
fn mail_of_ann(game: GameKind, phases: &[Phase<'_>], is_busy: bool) -> Vec<String> {
    let referee = Referee::new();
    let game_match = referee.open(game, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    for (number, Phase { ann, amended, bo }) in phases.iter().enumerate() {
        let bothers = |letters: &[&str]| {
            for letter in letters.iter().filter(|_| is_busy) {
                referee.reply(BO, &to_bo, letter);
            }
        };
        bothers(&BUSY);
        ann_writes(&referee, &to_ann, &format!("asked-{number}"), "STATUS");
        bothers(amended);
        ann_writes(&referee, &to_ann, &format!("filed-{number}"), ann);
        bothers(&BUSY[..3]);
        referee.reply(BO, &to_bo, bo);
        ann_writes(&referee, &to_ann, &format!("then-{number}"), "STATUS\nREPORT");
    }
    let mails = referee.raw_to(ANN).into_iter().map(|raw| {
        let raw = String::from_utf8(raw).expect("mail is text");
        with_placeholders(&raw.replace("\r\n", "\n").replace("=\n", ""), &game_match, to_ann.token())
    });
    mails.collect()
}

#[test]
fn the_number_of_the_opponents_letters_changes_no_byte_of_a_seats_mail() {
    let quad = [
        Phase { ann: "MARBLE E5", amended: &[], bo: "TURN 2\nMARBLE A5" },
        Phase { ann: "STATUS please", amended: &["TURN 2\nMARBLE E5"], bo: "HELP" },
    ];
    let quantum = [Phase { ann: "NO SUCH ORDER 8", amended: &["NO SUCH ORDER 9"], bo: "STATUS" }];
    // Do not use ready setups, which are drawn from the secret of the match.
    let [north, south] = setups();
    let quadrant_z = [Phase {
        ann: &north,
        amended: &["SETUP balanced", "NO SUCH ORDER 9", "SETUP raid", "WITHDRAW"],
        bo: &south,
    }];
    let pacific = [Phase {
        ann: "NO SUCH ORDER 8",
        amended: &["SETUP line", "NO SUCH ORDER 9", "SETUP deep", "WITHDRAW"],
        bo: "STATUS",
    }];
    let plans: [(GameKind, &[Phase<'_>]); 4] = [
        (GameKind::Quad, &quad),
        (GameKind::Quantum, &quantum),
        (GameKind::QuadrantZ, &quadrant_z),
        (GameKind::Pacific, &pacific),
    ];
    for (game, phases) in plans {
        let (quiet, busy) = (mail_of_ann(game, phases, false), mail_of_ann(game, phases, true));
        assert!(quiet.len() >= 4, "{game}: {} letters", quiet.len());
        assert_eq!(quiet.len(), busy.len(), "{game}");
        for (place, (quiet, busy)) in quiet.iter().zip(&busy).enumerate() {
            let differing = quiet.lines().zip(busy.lines()).find(|(quiet, busy)| quiet != busy);
            assert!(quiet == busy, "{game}, letter {place}: {differing:?}");
        }
    }
}

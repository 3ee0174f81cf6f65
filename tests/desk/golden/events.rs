//! A league by letter: every kind of letter that an event sends, and the answers to its commands.

use fogpost::game::Line;
use fogpost::request::matches_named_in;

use crate::events::{CY, LEAGUE, club, gm, matches, play_until_resigned};
use crate::referee::{ANN, BO, GM, Referee, Sent};

/// Replaces everything that differs between runs: names of matches, tokens and hashes.
fn stable(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let named = matches_named_in(&Line::numbered(&lines));
    let text = named.iter().fold(text.to_owned(), |text, id| text.replace(id, "QD-0000"));
    let is_hash = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lines = text.lines().map(|line| match line {
        line if line.starts_with("Reply token: ") => "Reply token: (token)".to_owned(),
        line => line
            .split(' ')
            .map(|word| if is_hash(word) { "(hash)" } else { word })
            .collect::<Vec<_>>()
            .join(" "),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn collect(referee: &Referee, text: &mut String, about_events: bool) {
    for reader in [ANN, BO, CY, GM] {
        for Sent { subject, text: body, .. } in referee.sent_to(reader) {
            if !about_events || subject.contains("EV-") || subject.contains("hello") {
                *text += &format!("==== {reader} reads: {}\n{}\n", stable(&subject), stable(&body));
            }
        }
    }
}

#[test]
fn the_letters_of_an_event() {
    let referee = club("");
    let mut text = String::new();
    collect(&referee, &mut String::new(), false);
    let answer = gm(&referee, &format!("GM EVENT NEW\n{LEAGUE}\nEND"));
    text += &format!("==== {GM} reads: {}\n{}\n", answer.subject, stable(&answer.text));
    for (from, line) in
        [(ANN, "EVENTS"), (ANN, "ENTER EV-SPRING"), (BO, "ENTER EV-SPRING"), (CY, "ENTER EV-SPRING")]
    {
        referee.write(from, line);
        text += &format!("==== {from} writes: {line}\n");
        collect(&referee, &mut text, true);
    }
    referee.advance(4 * 24);
    collect(&referee, &mut text, true);
    let all = matches(&referee, "EV-SPRING");
    play_until_resigned(&referee, &all[0], fogpost::game::Seat::First);
    referee.write(ANN, "STANDINGS");
    collect(&referee, &mut text, true);
    referee.write(CY, "LEAVE EV-SPRING");
    referee.write(CY, "LEAVE EV-SPRING CONFIRM");
    referee.advance(1);
    collect(&referee, &mut text, true);
    play_until_resigned(&referee, &all[1], fogpost::game::Seat::First);
    referee.advance(1);
    collect(&referee, &mut text, true);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("events", text));
}

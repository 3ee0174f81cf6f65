use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::game::Syntax;
use crate::request::Request;

/// Lines that are too wide, and lines that would be read as orders or commands if the letter came back from a mail
/// program that quotes without a prefix.
fn faults(letter: &WordedLetter) -> Vec<String> {
    let lines: Vec<Line> =
        (1..).zip(letter.text.lines()).map(|(no, text)| Line { no, text: text.to_owned() }).collect();
    let is_order =
        |line: &str| GameKind::ALL.iter().any(|kind| !matches!(kind.syntax(line), Err(Syntax::Unknown)));
    let request = Request::read(&lines, |line: &str| is_order(line) && !line.starts_with("Line "));
    let (instructions, _) = referee::instructions(&lines);
    let wide = lines.iter().filter(|line| line.text.chars().count() > 70);
    let mut faults: Vec<String> = wide.map(|line| format!("wide: {}", line.text)).collect();
    faults.extend(misplaced_headings(&letter.text));
    let glued = lines.iter().filter(|line| has_glued_sentences(&line.text));
    faults.extend(glued.map(|line| format!("no blank between sentences: {}", line.text)));
    let subject = &letter.subject;
    faults.extend(request.commands.iter().map(|command| format!("read as {command:?}: {subject}")));
    faults.extend(request.faults.iter().map(|fault| format!("read as {fault:?}: {subject}")));
    faults.extend(instructions.iter().map(|instruction| format!("read as {instruction:?}: {subject}")));
    if request.check || request.wait || request.turn.is_some() {
        faults.push(format!("read as CHECK, WAIT or TURN: {subject}\n{}", letter.text));
    }
    faults
}

/// Headings that follow a line of text: the HTML would make a heading of the whole paragraph.
fn misplaced_headings(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &str| line.len() > 2 && line.bytes().all(|byte| byte == b'-');
    let found = lines.windows(3).filter(|three| is_rule(three[2]) && !three[0].is_empty());
    found.map(|three| format!("not a heading of its own: {} / {}", three[0], three[1])).collect()
}

/// Whether a sentence begins right after the full stop of another one.
fn has_glued_sentences(line: &str) -> bool {
    let chars: Vec<char> = line.chars().collect();
    chars.windows(3).any(|three| three[0].is_lowercase() && three[1] == '.' && three[2].is_uppercase())
}

fn assert_none(faults: BTreeSet<String>) {
    assert!(faults.is_empty(), "{}", faults.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn club_letters_are_narrow_and_hold_no_order_or_command() {
    let templates = Templates::new(&BTreeMap::new()).expect("our templates parse");
    let mut found = BTreeSet::new();
    for letter in club_letters() {
        let worded = word_club_letter(&templates, &CLUB, &letter, TOKEN);
        found.extend(faults(&worded.expect("it is worded")));
    }
    assert_none(found);
}

#[test]
fn letters_about_a_match_are_narrow_and_hold_no_order_or_command() {
    let templates = Templates::new(&BTreeMap::new()).expect("our templates parse");
    let mut found = BTreeSet::new();
    for kind in GameKind::ALL {
        let open = open_match(*kind);
        let asked = Match { asked_gm: true, ..open.clone() };
        let over = resigned(open.clone());
        for game_match in [open, asked, over].map(Arc::new) {
            for dispatch in dispatches(&game_match) {
                let worded = word_without_picture(&templates, &game_match, &dispatch, TOKEN);
                found.extend(faults(&worded.expect("it is worded")));
            }
        }
    }
    assert_none(found);
}

/// Sends every content to each reader who may get it: only notices go to readers without a seat.
fn dispatches(game_match: &Match) -> Vec<Dispatch> {
    let mut dispatches = Vec::new();
    for content in contents(game_match) {
        let mut readers = vec![Reader::Seat(Seat::First), Reader::Seat(Seat::Second)];
        if matches!(content, Content::Notice(_)) {
            readers.extend([Reader::Former(Seat::Second), Reader::Gm]);
        }
        dispatches.extend(readers.into_iter().map(|to| Dispatch { to, content: content.clone() }));
    }
    dispatches
}

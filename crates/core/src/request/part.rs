//! The parts of a letter about several matches. A line `MATCH QZ-7K3M` begins the part for that match; the
//! lines before the first such line are for the match of the letter that this one answers.
//!
//! `END` ends the reading of its own part only: the parts below are still read.

use super::normalized::NormalizedLine;
use crate::game::Line;
use crate::game::any::GameKind;

/// Maximum bytes of a line `MATCH QZ-7K3M`, with its bullets and punctuation.
const MAX_MATCH_LINE: usize = 60;

/// Returns the matches that `MATCH …` lines name, each once, in order.
pub fn matches_with_parts(lines: &[Line]) -> Vec<String> {
    each_once(lines.iter().filter_map(|line| match_line(&line.text)))
}

/// Returns the number of the first line `MATCH …`.
pub fn first_match_line(lines: &[Line]) -> Option<usize> {
    lines.iter().find(|line| match_line(&line.text).is_some()).map(|line| line.no)
}

/// Returns the matches that the lines name anywhere, each once, in order.
pub fn matches_named_in(lines: &[Line]) -> Vec<String> {
    let lines = lines.iter().filter(|line| line.text.contains('-'));
    each_once(lines.flat_map(|line| line.text.split_whitespace()).filter_map(match_named_by))
}

fn each_once(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut found = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Returns the lines for one match, including the `MATCH` lines that introduce them. With `from_start`, these
/// include the lines before the first `MATCH` line.
pub fn part_for(lines: &[Line], match_id: &str, from_start: bool) -> Vec<Line> {
    let mut is_ours = from_start;
    let mut part = Vec::new();
    for line in lines {
        if let Some(name) = match_line(&line.text) {
            is_ours = name.eq_ignore_ascii_case(match_id);
        }
        if is_ours {
            part.push(line.clone());
        }
    }
    part
}

/// Returns the match that a line `MATCH QZ-7K3M` names, in capitals.
pub(super) fn match_line(text: &str) -> Option<String> {
    if text.len() > MAX_MATCH_LINE || !text.contains('-') {
        return None;
    }
    let wording = NormalizedLine::of(text);
    let words: Vec<&str> = wording.words().collect();
    match words[..] {
        [verb, name] if verb.eq_ignore_ascii_case("match") => match_named_by(name),
        _ => None,
    }
}

/// Whether the word is the name of a match: the prefix of a game, a hyphen, and a code.
fn is_match_name(word: &str) -> bool {
    word.split_once('-').is_some_and(|(prefix, code)| {
        GameKind::ALL.iter().any(|kind| prefix.eq_ignore_ascii_case(kind.prefix()))
            && (3..=8).contains(&code.len())
            && code.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Returns the match that a word names, with or without brackets, in capitals.
pub fn match_named_by(word: &str) -> Option<String> {
    let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    is_match_name(bare).then(|| bare.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Line> {
        Line::numbered(&text.lines().collect::<Vec<_>>())
    }

    fn texts(lines: &[Line]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn a_match_line_begins_a_part() {
        let letter = lines(
            "SHIP 1 HOLD\nEND\n- match qd-7k3m:\nMARBLE E5\nMATCH QZ-AAAA\nWAIT\nMatch QD-7K3M\nSTATUS",
        );
        assert_eq!(matches_with_parts(&letter), ["QD-7K3M", "QZ-AAAA"]);
        assert_eq!(
            texts(&part_for(&letter, "QZ-AAAA", true)),
            ["SHIP 1 HOLD", "END", "MATCH QZ-AAAA", "WAIT"]
        );
        let other = part_for(&letter, "QD-7K3M", false);
        assert_eq!(texts(&other), ["- match qd-7k3m:", "MARBLE E5", "Match QD-7K3M", "STATUS"]);
        assert_eq!(other[1].no, 4, "lines keep their numbers");
    }

    #[test]
    fn matches_are_named_anywhere_in_a_line() {
        let letter = lines("MATCH qd-7k3m\nas in (QZ-AAAA), or QD-7K3M.\nB-52s are no match");
        assert_eq!(matches_named_in(&letter), ["QD-7K3M", "QZ-AAAA"]);
    }

    #[test]
    fn other_lines_that_name_a_match_begin_no_part() {
        for text in ["see QD-7K3M", "MATCH", "MATCH QD-7K3M tomorrow", "match B-52", "[QD-7K3M]"] {
            assert_eq!(matches_with_parts(&lines(text)), [""; 0], "{text}");
        }
    }
}

//! Words to a person: what a letter says besides orders and commands, and when it goes to the GM.

use std::mem;

use serde::{Deserialize, Serialize};

use crate::game::Syntax;
use crate::game::any::GameKind;
use crate::request::{Command, Request, wish};

/// Remarks beside orders that are long enough to be meant for a person.
const MANY_LINES: usize = 3;

/// Maximum characters of a text that is passed on.
const MAX_CHARACTERS: usize = 4000;

/// The start of the note on a letter with words for the GM; the words follow.
pub const WORDS_NOTE: &str = "words: ";

/// Maximum characters of the words in a note.
const MAX_WORDS_NOTE: usize = 500;

/// Words for the GM. A letter that has one goes to the GM at once.
const GM: &str = "gm gamemaster organizer organiser administrator spielleiter spielleitung";

/// Words of trouble, in the languages that players write most. Remarks with one are passed on beside orders.
const TROUBLE: &str = include_str!("words/trouble.txt");

/// The way of a letter's words to the GM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passing {
    AtOnce,
    InDigest,
}

/// A letter's words to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub passing: Passing,
    pub text: String,
}

impl Words {
    /// Returns the words of a letter that are for a person: those of a letter without orders and commands,
    /// and beside them those of trouble, those that name the GM, and long ones. Trouble, complaints and what
    /// names the GM are urgent.
    pub fn of(request: &Request) -> Option<Words> {
        if request.remarks.is_empty() || wish::is_reaction(&request.remarks) {
            return None;
        }
        let text: Vec<&str> = request.remarks.iter().map(|line| line.text.as_str()).collect();
        let text = cut(&text.join("\n"));
        let is_urgent = has_any(&text, GM) || wish::is_urgent(&request.remarks);
        let is_for_a_person =
            is_urgent || request.is_empty() || request.remarks.len() > MANY_LINES || tells_of_trouble(&text);
        let passing = if is_urgent { Passing::AtOnce } else { Passing::InDigest };
        is_for_a_person.then_some(Words { passing, text })
    }
}

/// Whether a text speaks of illness or death, or of stopping.
pub fn tells_of_trouble(text: &str) -> bool {
    has_any(text, TROUBLE)
}

fn has_any(text: &str, list: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.any(|word| list.split_whitespace().any(|known| known == word))
}

/// Returns the games whose orders may stand in a letter about a match: its own, or any if it names others.
pub fn games_in(request: &Request, game: GameKind) -> Vec<GameKind> {
    match request.named_matches.is_empty() && request.sections.is_empty() {
        true => vec![game],
        false => GameKind::ALL.to_vec(),
    }
}

/// Returns a text for the GM without the lines that read as orders of these games, well-formed or not: the GM
/// may know the other side.
pub fn without_order_lines(text: &str, games: &[GameKind]) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut left_out = 0;
    for line in text.lines() {
        if games.iter().any(|game| reads_as_order(line, *game)) {
            left_out += 1;
            continue;
        }
        kept.extend(left_out_lines(mem::take(&mut left_out)));
        kept.push(line.to_owned());
    }
    kept.extend(left_out_lines(left_out));
    kept.join("\n")
}

/// Whether a line reads as an order of the game, well-formed or not, also behind `#`, a bar or a quote mark.
pub fn reads_as_order(line: &str, game: GameKind) -> bool {
    let bare = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '|' | '>'));
    !matches!(game.syntax(bare), Err(Syntax::Unknown))
}

/// Whether a line reads as an order of some game, well-formed or not.
pub fn is_order_of_any_game(line: &str) -> bool {
    GameKind::ALL.iter().any(|game| reads_as_order(line, *game))
}

fn left_out_lines(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("(1 order line)".to_owned()),
        _ => Some(format!("({count} order lines)")),
    }
}

/// Returns the note on a letter of a seat: its words for the GM, on one line, or nothing.
pub fn note_of_words(request: &Request, game: GameKind) -> String {
    let games = games_in(request, game);
    let words = Words::of(request);
    words.map(|words| note_of_text(&without_order_lines(&words.text, &games))).unwrap_or_default()
}

/// Returns the note on a letter with these words for the GM, on one line.
pub fn note_of_text(text: &str) -> String {
    let text = text.lines().collect::<Vec<_>>().join(" / ");
    WORDS_NOTE.chars().chain(text.chars().take(MAX_WORDS_NOTE)).collect()
}

/// Returns the start of a text that is passed on.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}\n[…]", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether one of the texts that a letter passes on is cut.
pub fn cuts_a_text(request: &Request, passes_remarks_on: bool) -> bool {
    let length = |kind: fn(&Command) -> Option<&String>| -> usize {
        let texts = request.commands.iter().filter_map(|asked| kind(&asked.command));
        texts.map(|text| text.chars().count()).sum()
    };
    let tell = length(|command| if let Command::Tell(text) = command { Some(text) } else { None });
    let tell_gm = length(|command| if let Command::TellGm(text) = command { Some(text) } else { None });
    let protest = length(|command| if let Command::Protest(text) = command { Some(text) } else { None });
    let remarks: usize = request.remarks.iter().map(|line| line.text.chars().count() + 1).sum();
    [tell, tell_gm, protest].into_iter().any(|length| length > MAX_CHARACTERS)
        || passes_remarks_on && remarks > MAX_CHARACTERS + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Line;

    fn passing(text: &str) -> Option<Passing> {
        let lines: Vec<&str> = text.lines().collect();
        let request = Request::read(&Line::numbered(&lines), GameKind::Quad);
        Words::of(&request).map(|words| words.passing)
    }

    #[test]
    fn lines_that_read_as_orders_are_counted_instead_of_quoted() {
        let text = "Hello\n# MARBLE E5\nmarble x99\nis that so?\nSTAR A5";
        let kept = "Hello\n(2 order lines)\nis that so?\n(1 order line)";
        assert_eq!(without_order_lines(text, &[GameKind::Quad]), kept);
        assert_eq!(without_order_lines("Hello", &[GameKind::Quad]), "Hello");
    }

    #[test]
    fn words_without_orders_are_passed_on() {
        assert_eq!(passing("Thanks!"), Some(Passing::InDigest));
        assert_eq!(passing("Dear GM, my father has died.\nPlease pause my games."), Some(Passing::AtOnce));
        assert_eq!(passing(""), None);
    }

    #[test]
    fn words_beside_orders_are_passed_on_if_they_concern_a_person() {
        assert_eq!(passing("MARBLE E5\nbest wishes"), None);
        assert_eq!(passing("MARBLE E5\nI am in hospital"), Some(Passing::InDigest));
        assert_eq!(passing("MARBLE E5\nplease tell the GM that I move house"), Some(Passing::AtOnce));
        assert_eq!(passing("MARBLE E5\nHello\nhow are you\nI am well\nbye"), Some(Passing::InDigest));
        assert_eq!(passing("STATUS\nbye"), None);
    }
}

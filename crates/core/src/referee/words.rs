//! Words to a person: the parts of a letter other than orders and commands, and when they go to the GM.

use std::collections::BTreeMap;
use std::mem;

use serde::{Deserialize, Serialize};

use crate::game::Line;
use crate::game::any::GameKind;
use crate::language::{LANGUAGES, Word, any_has, fold};
use crate::letter::split_words;
use crate::request::{self, Command, Request, wish};

/// Maximum lines of remarks, in a letter with orders, that need not be meant for a person.
const MANY_LINES: usize = 3;

/// Characters of a line on a page.
const PAGE_WIDTH: usize = 72;

/// Maximum characters of a text that is passed on.
const MAX_CHARACTERS: usize = 4000;

/// The start of the note on a letter with words for the GM; the words follow, with their line ends.
pub const WORDS_NOTE: &str = "words: ";

/// The time at which a letter's words go to the GM.
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
    /// Returns the words of a letter that are for a person: all words of a letter without orders and commands;
    /// otherwise words that ask or wish for something, words of trouble, words that name the GM, and long ones.
    /// Words that mention trouble, complain or name the GM are urgent.
    pub fn of(request: &Request) -> Option<Words> {
        let said = request.said();
        if said.is_empty() || wish::is_reaction(&said) {
            return None;
        }
        let text: Vec<&str> = said.iter().map(|line| line.text.as_str()).collect();
        let text = cut(&text.join("\n"));
        let is_urgent = names_gm(&text) || wish::is_urgent(&said);
        let is_for_a_person = is_urgent
            || request.is_empty()
            || lines_shown(&said) > MANY_LINES
            || tells_of_trouble(&text)
            || wish::asks_or_wishes(&said);
        let passing = if is_urgent { Passing::AtOnce } else { Passing::InDigest };
        is_for_a_person.then_some(Words { passing, text })
    }

    /// Returns everything that a letter says to the GM: what its commands pass on at once, and its words to a person.
    pub fn to_gm(request: &Request) -> Option<Words> {
        let commands = request.commands.iter().filter(|_| !request.check);
        let told = commands.filter_map(|asked| match &asked.command {
            Command::TellGm(text) => Some(text.clone()),
            Command::Substitute => Some(asked.command.name().to_owned()),
            _ => None,
        });
        let mut texts: Vec<String> = told.collect();
        let others = Words::of(request);
        if texts.is_empty() {
            return others;
        }
        texts.extend(others.map(|words| words.text));
        Some(Words { passing: Passing::AtOnce, text: texts.join("\n\n") })
    }
}

/// Returns the number of lines that words take on a page: many programs send a paragraph as one line.
fn lines_shown(said: &[Line]) -> usize {
    said.iter().map(|line| line.text.chars().count().div_ceil(PAGE_WIDTH).max(1)).sum()
}

/// Whether a text names the GM. Such a letter goes to the GM at once.
fn names_gm(text: &str) -> bool {
    split_words(text).any(|word| any_has(&fold(word), |language| &language.club.gm))
}

/// Whether a text mentions illness, death or stopping.
pub fn tells_of_trouble(text: &str) -> bool {
    let words: Vec<Word> = split_words(text).map(|word| Word::new(fold(word), 0, 0)).collect();
    LANGUAGES.iter().any(|language| language.trouble.words.any_in(&words))
}

/// Returns a text for a GM without the lines that read as orders of the match's game, well-formed or not.
pub fn without_order_lines(text: &str, game: GameKind) -> String {
    without_lines(text, "order ", |line| reads_as_order(line, game))
}

/// Returns a text for a GM who plays against its author, without the lines that may reveal something about a
/// position.
pub fn without_lines_of_play(text: &str) -> String {
    without_lines(text, "", may_tell_of_play)
}

/// Returns a text with lines of some kind counted instead of quoted.
fn without_lines(text: &str, kind: &str, is_left_out: impl Fn(&str) -> bool) -> String {
    let counted = |count: usize| match count {
        0 => None,
        1 => Some(format!("(1 {kind}line)")),
        _ => Some(format!("({count} {kind}lines)")),
    };
    let mut kept: Vec<String> = Vec::new();
    let mut left_out = 0;
    for line in text.lines() {
        if is_left_out(line) {
            left_out += 1;
            continue;
        }
        kept.extend(counted(mem::take(&mut left_out)));
        kept.push(line.to_owned());
    }
    kept.extend(counted(left_out));
    kept.join("\n")
}

/// Whether a line reads as an order of the game, well-formed or not, even after `#`, a bar or a quote mark.
pub fn reads_as_order(line: &str, game: GameKind) -> bool {
    request::reads_as_order(without_marks(line), game)
}

/// Whether a line reads as an order of some game, well-formed or not.
pub fn is_order_of_any_game(line: &str) -> bool {
    GameKind::ALL.iter().any(|game| reads_as_order(line, *game))
}

/// Whether a line may reveal something about a position: it reads as an order of some game, or names a square
/// or the number of a piece.
pub fn may_tell_of_play(line: &str) -> bool {
    let line = without_marks(line);
    has_square(line) || names_numbered_piece(line) || is_order_of_any_game(line)
}

fn without_marks(line: &str) -> &str {
    line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '|' | '>'))
}

/// Whether a line has a square: one or two letters and one or two digits, in any writing, even separated (`A
/// 3`) or in words (`A three`).
fn has_square(line: &str) -> bool {
    let chars: Vec<char> = line.chars().collect();
    let is_letter = |c: char| c.is_alphabetic() && !is_ideographic(c);
    let glued = (0..chars.len()).filter(|at| chars[*at].is_ascii_digit()).any(|at| {
        let letters = chars[..at].iter().rev().take_while(|c| is_letter(**c)).count();
        let digits = chars[at..].iter().take_while(|c| c.is_ascii_digit()).count();
        let ends = chars.get(at + digits).is_none_or(|c| !is_letter(*c) || matches!(c, 'x' | 'X'));
        (1..=2).contains(&letters) && (1..=2).contains(&digits) && ends
    });
    let words: Vec<&str> = split_words(line).collect();
    let is_apart = |two: &[&str]| two[0].chars().count() == 1 && is_letter_word(two[0]) && is_number(two[1]);
    glued || words.windows(2).any(is_apart)
}

/// Whether a word of one letter names a file or a quadrant.
fn is_letter_word(word: &str) -> bool {
    word.chars().all(|c| c.is_alphabetic() && !is_ideographic(c))
        && !LANGUAGES.iter().any(|language| language.position.letters.contains(word))
}

fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}')
}

/// Whether a line names a piece and a number.
fn names_numbered_piece(line: &str) -> bool {
    let lower = line.to_lowercase();
    let has_piece = LANGUAGES.iter().any(|language| match language.joined {
        true => language.position.pieces.iter().any(|piece| lower.contains(piece)),
        false => split_words(&lower).any(|word| language.position.names_piece(word)),
    });
    has_piece && (lower.contains(char::is_numeric) || split_words(&lower).any(is_number))
}

fn is_number(word: &str) -> bool {
    let word_in_lower_case = word.to_ascii_lowercase();
    let is_written =
        || LANGUAGES.iter().any(|language| language.position.numbers.contains(&word_in_lower_case));
    word.bytes().all(|byte| byte.is_ascii_digit()) || is_written()
}

/// Returns the note on a letter of a seat: its words for the GM. `to_opponent` is whether only GMs who play against
/// its author read it.
pub fn note_of_words(words: &Words, game: GameKind, to_opponent: bool) -> String {
    let text = without_order_lines(&words.text, game);
    note_of_text(&if to_opponent { without_lines_of_play(&text) } else { text })
}

/// Returns the note on a letter with these words for the GM.
pub fn note_of_text(text: &str) -> String {
    format!("{WORDS_NOTE}{}", cut(text))
}

/// Returns the start of a text that is passed on.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}\n[…]", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether one of the texts that a letter passes on is truncated.
pub fn cuts_a_text(request: &Request, passes_remarks_on: bool) -> bool {
    let mut lengths: BTreeMap<&str, usize> = BTreeMap::new();
    for command in request.commands.iter().map(|asked| &asked.command) {
        let length = command.text().map_or(0, |text| text.chars().count());
        *lengths.entry(command.name()).or_default() += length;
    }
    let remarks: usize = request.remarks.iter().map(|line| line.text.chars().count() + 1).sum();
    lengths.into_values().any(|length| length > MAX_CHARACTERS)
        || passes_remarks_on && remarks > MAX_CHARACTERS + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passing(text: &str) -> Option<Passing> {
        let lines: Vec<&str> = text.lines().collect();
        let request = Request::read(&Line::numbered(&lines), GameKind::Quad);
        Words::of(&request).map(|words| words.passing)
    }

    #[test]
    fn lines_that_read_as_orders_are_counted_instead_of_quoted() {
        let text = "Hello\n# MARBLE E5\nmarble x99\nis that so?\nSTAR A5";
        let kept = "Hello\n(2 order lines)\nis that so?\n(1 order line)";
        assert_eq!(without_order_lines(text, GameKind::Quad), kept);
        assert_eq!(without_order_lines("Hello", GameKind::Quad), "Hello");
    }

    #[test]
    fn a_remark_is_no_order_line() {
        for text in [
            "Hold everything please, I'm in hospital with a broken leg.",
            "Ship me your condolences: my father died yesterday.",
            "Star Shipping Ltd is my employer",
        ] {
            assert_eq!(without_order_lines(text, GameKind::QuadrantZ), text);
            assert_eq!(without_lines_of_play(text), text);
        }
    }

    #[test]
    fn an_opponent_reads_no_line_with_a_square_or_the_number_of_a_ship() {
        for line in [
            "SHIP 1 A3 TO B2",
            "Nave 1 da A3 a B2",
            "船1をA3からB2へ移動",
            "Statek 3 zostaje",
            "Ship one from A three to B two",
            "I go from a3 to K 4",
            "my sub number two is safe",
            "корабль 2 на Б4",
            "skepp två går",
        ] {
            assert_eq!(without_lines_of_play(line), "(1 line)", "{line}");
        }
        for line in
            ["I am ill, back in 3 weeks", "On 3 January I have 2 exams", "My carrier died", "Dear GM,"]
        {
            assert_eq!(without_lines_of_play(line), line);
        }
    }

    #[test]
    fn words_without_orders_are_passed_on() {
        assert_eq!(passing("Thanks!"), Some(Passing::InDigest));
        assert_eq!(passing("Dear GM, my father has died.\nPlease pause my games."), Some(Passing::AtOnce));
        assert_eq!(passing(""), None);
    }

    #[test]
    fn a_doubtful_line_that_asks_is_passed_on_whole() {
        for question in [
            "Last week I wrote MARBLE E5 twice in one letter, was that wrong?",
            "Gestern schrieb ich MARBLE E5 statt STAR E5, hat das etwas geändert?",
            "Hier j'ai écrit MARBLE E5 par erreur, est-ce que cela compte ?",
        ] {
            let request = Request::read(&Line::numbered(&[question]), GameKind::Quad);
            assert_eq!(Words::of(&request).map(|words| words.text).as_deref(), Some(question));
        }
        assert_eq!(passing("put a MARBLE E5 please"), None);
    }

    #[test]
    fn words_beside_orders_are_passed_on_if_they_concern_a_person() {
        assert_eq!(passing("MARBLE E5\nbest wishes"), None);
        assert_eq!(passing("MARBLE E5\nI am in hospital"), Some(Passing::AtOnce));
        assert_eq!(passing("MARBLE E5\nFråga spelledaren"), Some(Passing::AtOnce));
        for trouble in ["jag vill sluta", "byłem w szpitalu", "昨日は葬儀でした"] {
            assert!(passing(&format!("MARBLE E5\n{trouble}")).is_some(), "{trouble}");
        }
        assert_eq!(passing("MARBLE E5\nplease tell the GM that I move house"), Some(Passing::AtOnce));
        assert_eq!(passing("MARBLE E5\nHello\nhow are you\nI am well\nbye"), Some(Passing::InDigest));
        assert_eq!(passing("STATUS\nbye"), None);
        for absence in [
            "The router is packed: from Friday until the 20th nobody answers.",
            "Vom 8. bis 15. Dezember bauen wir das Bad um.",
            "Du 12 au 19 décembre la maison sera fermée.",
        ] {
            assert_eq!(passing(&format!("MARBLE E5\n{absence}")), Some(Passing::InDigest), "{absence}");
        }
    }
}

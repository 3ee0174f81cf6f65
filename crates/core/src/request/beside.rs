//! The words of a letter beside its orders and commands.
//!
//! No list of phrases knows every way to take something back. So the words that say nothing are listed
//! (courtesies), and everything else counts as other words.

use std::collections::BTreeSet;
use std::iter;
use std::sync::LazyLock;

use deunicode::deunicode;
use serde::{Deserialize, Serialize};

use super::LineKind;
use super::bounds::start_of;
use super::wish::{names_a_piece, names_a_square};
use super::wording::Wording;
use crate::game::Line;
use crate::language::{
    LANGUAGES, Language, Section, Sentence, any_has, fold, is_joined, longest_phrase, sentences,
};
use crate::letter::split_words;

/// The words of a letter beside its orders and commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Beside {
    /// Nothing, or courtesies alone.
    #[default]
    Nothing,
    /// Other words.
    Words,
    /// Other words with a sign that they may take something back: a sentence begins with a word that does, a
    /// line runs into an order or a command, or a question mark stands beside an order.
    Sign,
}

/// The writer of a letter, as far as known.
#[derive(Clone, Copy)]
pub struct Writer<'a> {
    /// The names of both players, and the name on the letter.
    pub names: &'a [&'a str],
    /// Whether a line ends all letters of this writer.
    pub is_footer: &'a dyn Fn(&str) -> bool,
}

impl Writer<'_> {
    /// Somebody of whom nothing is known.
    pub const STRANGER: Writer<'static> = Writer { names: &[], is_footer: &|_| false };
}

/// Maximum lines of words to compare with the lists. The limit keeps the work small; nobody writes so much beside a move.
const MAX_LINES: usize = 300;

/// Maximum bytes of a line of courtesies.
const MAX_COURTESY: usize = 300;

/// Maximum words of a name behind a greeting or below a sign-off, and of a beginning.
const MAX_NAME: usize = 3;

/// Maximum words of a greeting with its name.
const MAX_GREETING: usize = 8;

/// Maximum words of a phrase of courtesy.
const MAX_PHRASE: usize = 6;

/// Maximum letters that a form of a name has more or less.
const MAX_ENDING: usize = 3;

/// The lines of a letter, as they were read.
pub struct LetterLines<'a> {
    lines: &'a [Line],
    kinds: &'a [LineKind],
    writer: Writer<'a>,
    names: Vec<String>,
}

impl<'a> LetterLines<'a> {
    /// `kinds` are the meanings of the lines; lines without one were not read.
    pub fn new(lines: &'a [Line], kinds: &'a [LineKind], writer: Writer<'a>) -> LetterLines<'a> {
        let written = writer.names.iter().flat_map(|name| split_words(name));
        let names = written.flat_map(|name| [fold(name), in_ascii(name)]).collect();
        LetterLines { lines: &lines[..kinds.len().min(lines.len())], kinds, writer, names }
    }

    pub fn beside(&self) -> Beside {
        if self.is_long() {
            return Beside::Sign;
        }
        let other = self.other_words();
        match other.contains(&true) {
            false => Beside::Nothing,
            true if self.has_sign(&other) => Beside::Sign,
            true => Beside::Words,
        }
    }

    fn is_long(&self) -> bool {
        self.kinds.iter().filter(|kind| **kind == LineKind::Remark).count() > MAX_LINES
    }

    /// Returns the lines of other words.
    pub fn other_lines(&self) -> impl Iterator<Item = &'a str> {
        let other = if self.is_long() { Vec::new() } else { self.other_words() };
        self.lines.iter().zip(other).filter(|(_, is_other)| *is_other).map(|(line, _)| line.text.as_str())
    }

    /// For each line, whether it holds other words.
    fn other_words(&self) -> Vec<bool> {
        // Below a sign-off stands a name.
        let mut follows_sign_off = false;
        let mut is_first = true;
        let mut other = Vec::with_capacity(self.lines.len());
        for (line, kind) in self.lines.iter().zip(self.kinds) {
            let text = line.text.trim();
            let is_said = match kind {
                LineKind::Blank => {
                    other.push(false);
                    continue;
                }
                LineKind::Remark => {
                    let is_known = self.is_courtesy(text) && !announces_anothers(text)
                        || (self.writer.is_footer)(text)
                        || is_first && (self.is_greeting(text) || is_address(text))
                        || self.is_signed(text)
                        || follows_sign_off && self.is_name(text);
                    follows_sign_off = is_known && is_sign_off(line);
                    !is_known
                }
                LineKind::Order
                | LineKind::Modifier
                | LineKind::Command
                | LineKind::Doubtful
                | LineKind::Elsewhere => {
                    follows_sign_off = false;
                    false
                }
            };
            is_first = false;
            other.push(is_said);
        }
        other
    }

    /// Whether a line says nothing: its words are courtesies of one language, names and numbers.
    fn is_courtesy(&self, text: &str) -> bool {
        if text.len() > MAX_COURTESY || text.contains(['?', '？']) {
            return false;
        }
        let words: Vec<String> = split_words(text).map(fold).filter(|word| !word.is_empty()).collect();
        let place = words_of_place(text);
        LANGUAGES.iter().any(|language| match language.joined && text.contains(is_joined) {
            true => self.is_joined_courtesy(&words.concat(), language),
            false => self.is_separated_courtesy(without_place(&words, place, language), language),
        })
    }

    /// Whether words are phrases and words of courtesy in a language, names and numbers.
    fn is_separated_courtesy(&self, words: &[String], language: &Language) -> bool {
        let mut rest = words;
        while let Some(first) = rest.first() {
            let longest = longest_phrase(rest, 1..=MAX_PHRASE, |phrase| is_courtesy_in(phrase, language));
            let is_known =
                || self.is_name_of_player(first) || first.bytes().all(|byte| byte.is_ascii_digit());
            match longest {
                Some(length) => rest = &rest[length..],
                None if is_known() => rest = &rest[1..],
                None => return false,
            }
        }
        true
    }

    /// Whether a word is a player's name, or a form of it: `Bobby`, `Bo` and `Bobe` for `Bob`. A word that takes
    /// something back is none, even if a player is called `Noa`.
    fn is_name_of_player(&self, written: &str) -> bool {
        let word = in_ascii(written);
        !takes_back_alone(written)
            && self.names.iter().any(|name| {
                let lengths = name.chars().count().abs_diff(word.chars().count());
                lengths <= MAX_ENDING
                    && word.chars().count() > 1
                    && (word.starts_with(name.as_str()) || name.starts_with(word.as_str()))
            })
    }

    /// Whether a text without blanks consists of courtesies and names.
    fn is_joined_courtesy(&self, text: &str, language: &Language) -> bool {
        let mut rest = text;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            if rest.is_empty() {
                return true;
            }
            let pieces = language.beside.courtesies.iter().chain(&self.names);
            let longest = pieces.filter(|piece| rest.starts_with(piece.as_str())).map(String::len).max();
            let longest = longest.or_else(|| foreign_name(rest));
            let Some(length) = longest.filter(|length| *length > 0) else { return false };
            rest = &rest[length..];
        }
    }

    /// Whether a line greets somebody by a name, such as `Hi Bobby,`.
    fn is_greeting(&self, text: &str) -> bool {
        let greets = |word: &&str| {
            let word = fold(word);
            LANGUAGES.iter().any(|language| language.beside.greetings.contains(&word))
        };
        let words: Vec<&str> = split_words(start_of(text)).take(MAX_GREETING + 1).collect();
        let greeting = words.iter().take_while(|word| greets(word)).count();
        let rest = &words[greeting..];
        greeting > 0
            && words.len() <= MAX_GREETING
            && !text.contains(['?', '？'])
            && rest.len() <= MAX_NAME
            && rest.iter().all(|word| may_be_name(word))
            && (rest.is_empty() || self.knows_any(rest))
    }

    /// Whether one of these words is a known name, or its first letter: other words with capitals may say anything.
    fn knows_any(&self, words: &[&str]) -> bool {
        words.iter().map(|word| in_ascii(word)).any(|word| {
            let is_initial = |name: &String| word.len() == 1 && name.starts_with(word.as_str());
            self.is_name_of_player(&word) || self.names.iter().any(is_initial)
        })
    }

    /// Whether a line closes the letter with a name behind a comma, such as `С уважением, Анна`.
    fn is_signed(&self, text: &str) -> bool {
        let signed = text.trim_end_matches(['.', ',']).rsplit_once([',', '،']);
        signed.is_some_and(|(closing, name)| {
            let closes = Line { no: 1, text: closing.to_owned() };
            is_sign_off(&closes) && self.is_courtesy(closing) && self.is_name(name)
        })
    }

    /// Whether a line is only the name of a writer who is known, such as `- Ann Adams`.
    fn is_name(&self, text: &str) -> bool {
        let words: Vec<&str> = split_words(text).take(MAX_NAME + 1).collect();
        let is_part = |word: &&str| may_be_name(word) || any_has(word, |language| &language.beside.particles);
        words.len() <= MAX_NAME
            && !text.contains(['?', '？', '!'])
            && words.first().is_none_or(|word| may_be_name(word))
            && words.iter().all(is_part)
            && (words.is_empty() || self.knows_any(&words))
    }

    fn has_sign(&self, other: &[bool]) -> bool {
        let sentences = self.sentences(other);
        sentences
            .iter()
            .any(|sentence| self.takes_back(sentence) || asks_about_play(sentence) || undoes(sentence))
            || (1..self.lines.len()).any(|at| self.runs_into(at, other))
            || self.asks_beside_order(other)
    }

    /// Returns the sentences in paragraphs that hold other words.
    fn sentences(&self, other: &[bool]) -> Vec<Sentence> {
        let mut found = Vec::new();
        let mut start = 0;
        while start < self.lines.len() {
            let is_said = |at: &usize| self.kinds[*at] == LineKind::Remark;
            let end = (start..self.lines.len()).find(|at| !is_said(at)).unwrap_or(self.lines.len());
            if other[start..end].contains(&true) {
                found.extend(sentences(&self.lines[start..end]));
            }
            start = end + 1;
        }
        found
    }

    /// Whether a sentence begins, perhaps behind courtesies, with a word that may take something back.
    fn takes_back(&self, sentence: &Sentence) -> bool {
        let words: Vec<&str> = sentence.words.iter().map(|word| word.text.as_str()).collect();
        let begins = |start: usize| {
            let words = &words[start..words.len().min(start + MAX_NAME)];
            LANGUAGES.iter().any(|language| match language.joined {
                true => {
                    let text = words.concat();
                    language.beside.first.iter().any(|first| text.starts_with(first.as_str()))
                }
                false => {
                    let is_first = |phrase: &str| language.beside.first.contains(phrase);
                    longest_phrase(words, 1..=words.len(), is_first).is_some()
                }
            })
        };
        let mut at = courteous_phrase(&words);
        // "LOL no"
        if words.len() <= MAX_NAME && (at..words.len()).any(begins) {
            return true;
        }
        while let Some(word) = words.get(at) {
            if begins(at) {
                return true;
            }
            at += match courteous_phrase(&words[at..]) {
                0 if is_courteous(word) || self.is_name_of_player(word) => 1,
                0 => return false,
                length => length,
            };
        }
        false
    }

    /// Whether the line above an order or a command goes on in it.
    fn runs_into(&self, at: usize, other: &[bool]) -> bool {
        let is_target = matches!(self.kinds[at], LineKind::Order | LineKind::Command);
        let above = self.lines[at - 1].text.trim_end_matches(|c: char| {
            c.is_whitespace() || matches!(c, ')' | '"' | '\'' | '”' | '»' | '*' | '_')
        });
        is_target
            && other[at - 1]
            && !above.ends_with(['.', '!', '?', '…', '。', '！', '？'])
            && !ends_with_a_face(&self.lines[at - 1].text)
    }

    /// Whether a question mark stands in the paragraph of an order.
    fn asks_beside_order(&self, other: &[bool]) -> bool {
        let paragraphs = self.kinds.split(|kind| *kind == LineKind::Blank);
        let mut start = 0;
        for paragraph in paragraphs {
            let lines = start..start + paragraph.len();
            start = lines.end + 1;
            let asks = |at: usize| other[at] && self.lines[at].text.contains(['?', '？']);
            if paragraph.contains(&LineKind::Order) && lines.into_iter().any(asks) {
                return true;
            }
        }
        false
    }
}

/// Whether a line ends with an emoticon or an emoji, which ends a sentence as a full stop does: `So close :-)`
fn ends_with_a_face(line: &str) -> bool {
    let last = line.split_whitespace().last().unwrap_or_default();
    let is_emoji =
        |c: char| !c.is_ascii() && !c.is_alphanumeric() && !matches!(c, '–' | '—' | '，' | '、' | '：');
    let is_mouth = |c: char| ")(DPp/|*3oO^-'".contains(c);
    let drawn = last.strip_prefix([':', ';', '=']).unwrap_or_default();
    last.ends_with(is_emoji) || !drawn.is_empty() && drawn.chars().all(is_mouth)
}

/// Returns the number of words at the end of a line that may name a place.
fn words_of_place(text: &str) -> usize {
    let written: Vec<&str> = split_words(text).filter(|word| !fold(word).is_empty()).collect();
    written.iter().rev().take(MAX_PLACE).take_while(|word| may_be_name(word)).count()
}

/// Returns the words of a line without the `place` at their end, if the line greets from it: `Greetings from Exeter`.
fn without_place<'w>(words: &'w [String], place: usize, language: &Language) -> &'w [String] {
    match words.len().checked_sub(place + 1) {
        Some(at) if place > 0 && at > 0 && language.beside.from.contains(&words[at]) => &words[..at],
        _ => words,
    }
}

/// Maximum words of the name of a place.
const MAX_PLACE: usize = 2;

/// Whether a line announces a move that is not its writer's: `Your move:`.
fn announces_anothers(text: &str) -> bool {
    let is_anothers = |word: &str| any_has(&fold(word), |language| &language.trouble.theirs);
    let Some(said) = text.strip_suffix([':', '：']) else { return false };
    said.rsplit(['.', '!', ',']).next().is_some_and(|last| split_words(last).any(is_anothers))
}

/// Returns a word in small ASCII letters, as far as these stand for it.
fn in_ascii(word: &str) -> String {
    fold(&deunicode(word))
}

/// Whether a line addresses somebody by whatever they are called: `Hi ref,`.
fn is_address(text: &str) -> bool {
    let Some(called) = text.trim_end().strip_suffix([',', '，']) else { return false };
    let is_plain = |c: char| c.is_alphabetic() || c.is_whitespace() || matches!(c, '-' | '\'' | '’');
    let words: Vec<String> = split_words(called).map(fold).collect();
    let greets = |word: &String| LANGUAGES.iter().any(|language| language.beside.greetings.contains(word));
    let denies = |word: &String| {
        takes_back_alone(word) || LANGUAGES.iter().any(|language| language.words.not.contains(word))
    };
    called.chars().all(is_plain)
        && words.first().is_some_and(greets)
        && words.len() <= MAX_NAME
        && words.iter().filter(|word| !greets(word)).count() <= 1
        && !words.iter().any(denies)
}

/// Whether a sentence of a line begins with a word that may take something back.
pub fn takes_back(line: &str) -> bool {
    let line = [Line { no: 1, text: line.to_owned() }];
    let letter = LetterLines::new(&line, &[LineKind::Remark], Writer::STRANGER);
    letter.sentences(&[true]).iter().any(|sentence| letter.takes_back(sentence))
}

/// Returns the bytes of a name in katakana with what belongs to names, at the beginning of a text.
fn foreign_name(text: &str) -> Option<usize> {
    let length = text.find(|c| !is_katakana(c))?;
    let (name, rest) = text.split_at(length);
    let title =
        ["さん", "さま", "様", "くん", "へ", "より"].into_iter().find(|title| rest.starts_with(title))?;
    ((1..=MAX_FOREIGN_NAME).contains(&name.chars().count())).then_some(length + title.len())
}

/// Maximum characters of a name in katakana.
const MAX_FOREIGN_NAME: usize = 8;

/// Whether a character is of the script in which foreign names are written.
fn is_katakana(c: char) -> bool {
    matches!(c, '\u{30a0}'..='\u{30ff}')
}

/// Whether a phrase is a courtesy, or agrees to something.
fn is_courtesy_in(phrase: &str, language: &Language) -> bool {
    language.beside.courtesies.contains(phrase) || language.answers.yes.contains(phrase)
}

/// The first words of phrases of courtesy in all languages. Few sentences begin with one, so a long letter is read quickly.
static PHRASE_BEGINNINGS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let phrases = LANGUAGES.iter().flat_map(|language| language.beside.courtesies.iter());
    phrases.filter_map(|phrase| phrase.split_once(' ')).map(|(first, _)| first).collect()
});

/// Returns the number of words of the courtesy that these begin with, if it has at least two. `Sorry` alone may take
/// something back; `Sorry for the delay` does not.
fn courteous_phrase(words: &[&str]) -> usize {
    if !words.first().is_some_and(|first| PHRASE_BEGINNINGS.contains(first)) {
        return 0;
    }
    let lengths = LANGUAGES.iter().filter_map(|language| {
        longest_phrase(words, 2..=MAX_PHRASE, |phrase| language.beside.courtesies.contains(phrase))
    });
    lengths.max().unwrap_or_default()
}

/// Whether a word is a courtesy in some language.
fn is_courteous(word: &str) -> bool {
    LANGUAGES.iter().any(|language| language.beside.courtesies.contains(word))
}

/// Whether a sentence denies or limits what the letter says, such as `The line above is a draft`.
fn undoes(sentence: &Sentence) -> bool {
    LANGUAGES.iter().any(|language| {
        if language.joined {
            let text = sentence.joined();
            let points = language.beside.pointers.iter().any(|pointer| text.contains(pointer.as_str()));
            return points && language.beside.undoing.any_in(&sentence.words);
        }
        let words: Vec<String> = sentence.words.iter().map(|word| word.text.clone()).collect();
        language.beside.pointers.any_in(&words)
            && (language.words.not.any_in(&words) || language.beside.undoing.any_in(&sentence.words))
    })
}

/// Whether a line begins with the words that close a letter.
fn is_sign_off(line: &Line) -> bool {
    Wording::of(iter::once((line.no, line.text.as_str()))).begins_with(Section::Closings)
}

/// Whether a word can be a name: it begins with a capital letter, or is in katakana, as foreign names are, and takes
/// nothing back.
fn may_be_name(word: &str) -> bool {
    word.chars().all(char::is_alphabetic)
        && (word.starts_with(char::is_uppercase) || word.chars().all(is_katakana))
        && !takes_back_alone(&fold(word))
}

/// Whether a word by itself may take something back.
fn takes_back_alone(word: &str) -> bool {
    LANGUAGES.iter().any(|language| language.beside.first.contains(word))
}

/// Whether a sentence is a question about a square or a piece.
fn asks_about_play(sentence: &Sentence) -> bool {
    sentence.is_question && (names_a_square(sentence) || names_a_piece(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_and_a_name_behind_a_closing_say_nothing() {
        let letter = LetterLines::new(&[], &[], Writer { names: &["Anna Adams", "Ana"], ..Writer::STRANGER });
        for text in
            ["С уважением, Анна", "Saludos, Ana", "Met vriendelijke groet, Anna de Vries", "Cheers, A."]
        {
            assert!(letter.is_signed(text), "{text}");
        }
        for text in [
            "Best, Still Thinking",
            "Best, not now",
            "Thanks, Stop",
            "Danke, G8",
            "Saludos, Ana?",
            "Play it, Ann",
            "Best not, Ann",
        ] {
            assert!(!letter.is_signed(text), "{text}");
        }
        for text in ["Hi ref,", "Hallo Schiri,", "Dear Mr Umpire,"] {
            assert!(is_address(text), "{text}");
        }
        for text in ["Hi, wait,", "Hi stop,", "Morgen entscheide ich,", "Hi ref", "Hi 7,", "Play this,"] {
            assert!(!is_address(text), "{text}");
        }
    }

    #[test]
    fn a_line_that_limits_the_letter_is_a_sign() {
        let is_sign = |text: &str| {
            let lines = Line::numbered(&["MARBLE E5", "", text]);
            let kinds = [LineKind::Order, LineKind::Blank, LineKind::Remark];
            LetterLines::new(&lines, &kinds, Writer::STRANGER).beside() == Beside::Sign
        };
        for text in [
            "The line above is still from yesterday's draft.",
            "My cat walked over the keys, so this does not count.",
            "Everything here holds only if I write nothing else tonight.",
            "Die Zeile oben stammt noch aus dem Entwurf.",
            "La ligne du dessus est un brouillon.",
            "La riga sopra vale solo se non scrivo altro.",
            "Mijn dochter zat aan de knoppen, dus dit telt niet.",
            "Строка выше из черновика.",
            "Bu hamle geçerli değil.",
            "上の行は下書きです。",
            "LOL no",
            "Das war nur zum Ausprobieren, ob die Mail durchkommt.",
            "To wysłał mój wnuk przez przypadek.",
            "Alleen als Bo vandaag niets doet.",
            "Det där blev fel, nytt kommer i kväll.",
            "Celui-là est faux, le bon arrive ce soir.",
        ] {
            assert!(is_sign(text), "{text}");
        }
        for text in ["What a lovely day we had", "Bei uns liegt schon Schnee", "Il pleut depuis lundi"] {
            assert!(!is_sign(text), "{text}");
        }
    }
}

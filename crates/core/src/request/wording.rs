//! The words of lines that belong together, in which people postpone or question the orders next to them.

use crate::language::{Edges, LANGUAGES, Language, Phrases, Section, Word};

/// The words of some lines that belong together.
pub struct Wording {
    words: Vec<Word>,
    /// Each line in lower case, with its number.
    lines: Vec<(usize, String)>,
}

impl Wording {
    /// Reads lines that belong together, each with its number. A sentence may continue from one to the next.
    pub fn of<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Wording {
        let lines: Vec<(usize, String)> = lines.map(|(no, text)| (no, text.to_lowercase())).collect();
        let mut words: Vec<Word> = Vec::new();
        for (line, text) in &lines {
            for (word, end, after) in words_with_gaps(text) {
                let begins_sentence = words.last().is_none_or(|before| before.edges.ends_sentence);
                // The full stops of `P.S.` do not end a sentence.
                let is_abbreviated = word.chars().nth(1).is_none() && after.starts_with('.');
                let ends_sentence = !is_abbreviated && after.contains(['.', '!', '?', '…', ':']);
                let ends_clause = ends_sentence || after.contains([',', ';', '(', ')', '-', '"']);
                let edges = Edges { begins_sentence, ends_clause, ends_sentence };
                words.push(Word { edges, ..Word::new(word.to_owned(), *line, end) });
            }
        }
        if let Some(last) = words.last_mut() {
            (last.edges.ends_clause, last.edges.ends_sentence) = (true, true);
        }
        Wording { words, lines }
    }

    pub fn count(&self) -> usize {
        self.words.len()
    }

    /// Returns the number of the first line with a phrase of a section.
    pub fn find(&self, section: Section) -> Option<usize> {
        let separated = (0..self.words.len()).find(|at| self.has_phrase_at(section, *at));
        separated.map(|at| self.words[at].line).or_else(|| self.find_joined(section))
    }

    /// Whether it begins with a phrase of a section.
    pub fn begins_with(&self, section: Section) -> bool {
        let joined = self.lines.first().map_or("", |(_, text)| text.trim_start());
        self.has_phrase_at(section, 0) || any(section, |phrases| phrases.any_joined_begins(joined))
    }

    /// Whether the last sentence begins with a phrase of a section.
    pub fn last_sentence_begins_with(&self, section: Section) -> bool {
        let begin = self.words.iter().rposition(|word| word.edges.begins_sentence);
        begin.is_some_and(|at| self.has_phrase_at(section, at)) || self.find_joined(section).is_some()
    }

    /// Whether a phrase of a section begins at a word.
    fn has_phrase_at(&self, section: Section, at: usize) -> bool {
        any(section, |phrases| phrases.begins_at(&self.words, at))
    }

    fn find_joined(&self, section: Section) -> Option<usize> {
        let has_any = |text: &str| any(section, |phrases| phrases.any_joined_in(text));
        self.lines.iter().find(|(_, text)| has_any(text)).map(|(no, _)| *no)
    }
}

/// Whether something holds for the section of one of the languages.
fn any(section: Section, is_meant: impl Fn(&Phrases) -> bool) -> bool {
    LANGUAGES.iter().any(|Language { clauses, .. }| is_meant(clauses.section(section)))
}

/// Returns the words of a text, each with its end and the text between it and the next word.
fn words_with_gaps(text: &str) -> Vec<(&str, usize, &str)> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let from = &rest[start..];
        let end = from.find(|c: char| !c.is_alphanumeric()).unwrap_or(from.len());
        let after = &from[end..];
        let gap = after.find(char::is_alphanumeric).unwrap_or(after.len());
        words.push((&from[..end], text.len() - after.len(), &after[..gap]));
        rest = after;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wording(text: &str) -> Wording {
        Wording::of((1..).zip(text.lines()))
    }

    #[test]
    fn a_phrase_is_found_as_whole_words() {
        assert_eq!(wording("Hello\nthis is just\na draft, ok").find(Section::Postponing), Some(2));
        assert_eq!(wording("Not yet!").find(Section::Postponing), Some(1));
        assert_eq!(wording("I have not yet read it").find(Section::Postponing), None);
        assert_eq!(wording("これは下書きです").find(Section::Postponing), Some(1));
        assert_eq!(wording("a draftsman").find(Section::Postponing), None);
        assert_eq!(wording("Hej\ndet är bara\nett utkast").find(Section::Postponing), Some(2));
        assert_eq!(wording("Inte än!").find(Section::Postponing), Some(1));
        assert_eq!(wording("Inte än har jag läst den").find(Section::Postponing), None);
    }

    #[test]
    fn accents_tell_words_of_clauses_apart() {
        assert!(wording("È una buona mossa?").last_sentence_begins_with(Section::Asking));
        assert!(!wording("E una buona mossa?").last_sentence_begins_with(Section::Asking));
        assert!(wording("Ska jag lägga").last_sentence_begins_with(Section::Asking));
        assert!(wording("eller F6?").begins_with(Section::Or));
        assert!(wording("Rättelse: G7").begins_with(Section::Postscripts));
        assert!(wording("Vänliga hälsningar Ann").begins_with(Section::Closings));
    }
}

//! Words and phrases of mail programs and mail servers in many languages.
//!
//! Each list is a file in `words/`, sorted, with one entry on each line: in lower case, and normalised as by
//! [`clean`](super::clean::clean).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// A sorted list of words or phrases.
pub struct WordList {
    words: LazyLock<Vec<&'static str>>,
    /// Finds all words in one pass.
    finder: LazyLock<AhoCorasick>,
}

macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident = $file:literal;)+) => {
        $($(#[$doc])* pub static $name: WordList = WordList {
            words: LazyLock::new(|| include_str!(concat!("words/", $file, ".txt")).lines().collect()),
            finder: LazyLock::new(|| AhoCorasick::new($name.words.iter()).expect("a short list")),
        };)+

        #[cfg(test)]
        const ALL: &[(&str, &WordList)] = &[$(($file, &$name)),+];
    };
}

lists! {
    // Labels in quoted headers, without their colons.
    FROM = "from";
    DATE = "date";
    /// Labels of To, Cc and Reply-To.
    TO = "to";
    SUBJECT = "subject";

    // Frames of quotes.
    /// The verb "wrote" in attribution lines.
    WROTE = "wrote";
    /// First words of attribution lines, which may be wrapped before their verb.
    LEADS = "leads";
    /// Starts of attribution lines that only name the answered letter.
    IN_REPLY_TO = "in_reply_to";
    /// Words between the dashes of the line above a quoted letter.
    ORIGINAL = "original";
    /// Words between the dashes of the line above a forwarded letter, or alone on a line.
    FORWARDED = "forwarded";

    // Advertisements that phones, web mailers and virus scanners put under a letter.
    /// Starts of such lines.
    SENT_FROM = "sent_from";
    /// Ends of such lines, in languages that put the verb last.
    SENT_FROM_ENDS = "sent_from_ends";
    /// Products that such lines name.
    PRODUCTS = "products";

    // Senders.
    /// Local parts of addresses that send bounces and the like.
    DAEMONS = "daemons";
    /// Local parts, or pieces of them, of addresses that take no replies. Any punctuation may separate the
    /// words.
    NO_REPLY = "no_reply";

    // Starts of subjects.
    /// Absence notes and other automatic replies.
    ABSENCE_SUBJECTS = "absence_subjects";
    /// Shared by absence notes and by people who mention their holidays.
    AWAY_SUBJECTS = "away_subjects";
    /// Other letters that only machines write.
    NOTICE_SUBJECTS = "notice_subjects";
    /// Bounces only.
    BOUNCE_SUBJECTS = "bounce_subjects";

    // Anywhere in a subject.
    /// Words for a failure to deliver.
    FAILURE_WORDS = "failure_words";
    /// Words for a delay.
    DELAY_WORDS = "delay_words";

    // Anywhere in a text.
    /// Found in bounces only.
    BOUNCE_TEXT = "bounce_text";
    /// Written by machines only.
    MACHINE_TEXT = "machine_text";
    /// Written by machines only, at the beginning of a text: a single one is enough.
    MACHINE_OPENINGS = "machine_openings";
    /// Written by machines, and sometimes by people.
    MACHINE_HINTS = "machine_hints";
    /// Found in absence notes but not in bounces.
    AWAY_TEXT = "away_text";
    /// Also found in absence notes: the day of return, and who can help.
    AWAY_HINTS = "away_hints";
    /// Phrases with which offices address their correspondents: "your enquiry", "our opening hours", "please
    /// contact my colleague".
    OFFICE_TEXT = "office_text";
    /// Single words that people use for themselves, their families and games.
    PERSON_WORDS = "person_words";

    /// Signs for "I", "game", "to take part" and "club" in languages that do not separate words.
    PERSON_SIGNS = "person_signs";

    // Names in HTML and headers.
    /// Elements that end a line.
    BLOCK_ELEMENTS = "block_elements";
    /// Classes and IDs of the elements that mail programs put around attribution lines.
    INTRODUCTION_NAMES = "introduction_names";
    /// Classes and IDs of the elements that mail programs put around quotes together with their attribution lines.
    QUOTE_NAMES = "quote_names";
    /// Classes and IDs of the elements that mail programs put around signatures.
    SIGNATURE_NAMES = "signature_names";
    /// Header fields that only machines write, such as receipts of certified mail in Italy (`x-ricevuta`).
    MACHINE_FIELDS = "machine_fields";
}

impl WordList {
    /// Whether `text` is an entry.
    pub fn contains(&self, text: &str) -> bool {
        self.words.binary_search(&text).is_ok()
    }

    /// Whether an entry occurs in `text`.
    pub fn any_in(&self, text: &str) -> bool {
        self.finder.is_match(text)
    }

    /// Counts the entries that occur in `text`, up to `limit`.
    pub fn count_in(&self, text: &str, limit: usize) -> usize {
        let mut found = BTreeSet::new();
        for word in self.finder.find_overlapping_iter(text) {
            found.insert(word.pattern());
            if found.len() == limit {
                break;
            }
        }
        found.len()
    }

    /// Counts the entries that occur in `text` without sharing a word, up to `limit`.
    pub fn count_apart_in(&self, text: &str, limit: usize) -> usize {
        let mut found = BTreeSet::new();
        found.extend(self.finder.find_iter(text).map(|word| word.pattern()));
        found.len().min(limit)
    }

    /// Whether `text` starts with an entry.
    pub fn any_prefix_of(&self, text: &str) -> bool {
        self.with_first_byte_of(text).iter().any(|word| text.starts_with(word))
    }

    /// Whether `text` starts with an entry that ends at a word boundary before the end of `text`.
    pub fn any_first_word_of(&self, text: &str) -> bool {
        self.with_first_byte_of(text).iter().any(|word| {
            let next = text.strip_prefix(*word).and_then(|rest| rest.chars().next());
            next.is_some_and(|next| !next.is_alphanumeric())
        })
    }

    /// Returns the entries with the same first byte as `text`. They are adjacent, because the list is sorted.
    fn with_first_byte_of(&self, text: &str) -> &[&'static str] {
        let first = text.as_bytes().first();
        let from = self.words.partition_point(|word| word.as_bytes().first() < first);
        let count = self.words[from..].partition_point(|word| word.as_bytes().first() == first);
        &self.words[from..from + count]
    }

    /// Whether an entry meets a condition.
    pub fn any(&self, mut condition: impl FnMut(&str) -> bool) -> bool {
        self.words.iter().any(|word| condition(word))
    }
}

/// The meaning of a line in a quoted header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    From,
    Date,
    To,
    Subject,
}

/// Returns the meaning of a header line's label, given without its colon.
pub fn label(text: &str) -> Option<Label> {
    if text.len() > 60 {
        return None;
    }
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '-')).to_lowercase();
    LABELS.get(text.as_str()).copied()
}

/// The labels of all lists in one map, because most lines have none.
static LABELS: LazyLock<BTreeMap<&'static str, Label>> = LazyLock::new(|| {
    let lists = [(&FROM, Label::From), (&DATE, Label::Date), (&SUBJECT, Label::Subject), (&TO, Label::To)];
    lists.into_iter().flat_map(|(list, label)| list.words.iter().map(move |word| (*word, label))).collect()
});

#[cfg(test)]
mod tests {
    use super::super::clean::clean;
    use super::*;

    #[test]
    fn lists_are_sorted_and_hold_lower_case_cleaned_text() {
        for (file, list) in ALL {
            assert!(!list.words.is_empty(), "{file}");
            assert!(
                list.words.windows(2).all(|two| two[0] < two[1]),
                "{file} is not sorted, or has a duplicate"
            );
            for word in list.words.iter() {
                assert_eq!(*word, clean(word).to_lowercase(), "{file}");
                assert!(!word.is_empty(), "{file}");
            }
        }
    }

    #[test]
    fn every_label_has_one_meaning() {
        let lists = [&FROM, &DATE, &TO, &SUBJECT];
        for list in lists {
            for word in list.words.iter() {
                assert_eq!(lists.iter().filter(|list| list.contains(word)).count(), 1, "{word}");
            }
        }
    }
}

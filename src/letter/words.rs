//! The words by which mail programs and mail servers of many languages are known.
//!
//! Each list is a file in `words/`: one entry a line, in lower case, as [`clean`](super::clean::clean) leaves it,
//! sorted.

use std::sync::LazyLock;

/// A list of words or phrases.
pub struct WordList(LazyLock<Vec<&'static str>>);

macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident = $file:literal;)+) => {
        $($(#[$doc])* pub static $name: WordList =
            WordList(LazyLock::new(|| include_str!(concat!("words/", $file, ".txt")).lines().collect()));)+

        #[cfg(test)]
        const ALL: &[(&str, &WordList)] = &[$(($file, &$name)),+];
    };
}

lists! {
    /// Labels in quoted headers, without their colons.
    FROM = "from";
    DATE = "date";
    /// To, Cc and Reply-To.
    TO = "to";
    SUBJECT = "subject";
    /// "Wrote", as attribution lines have it.
    WROTE = "wrote";
    /// How lines begin that lead to a quote and may be wrapped before they come to the point.
    LEADS = "leads";
    /// Inside the dashes of the line above a quoted letter.
    ORIGINAL = "original";
    /// Inside the dashes of the line above a forwarded letter, or alone on a line.
    FORWARDED = "forwarded";
    /// What phones, web mailers and virus scanners put under a letter: how the line begins.
    SENT_FROM = "sent_from";
    /// How it ends, in languages that have the verb last.
    SENT_FROM_ENDS = "sent_from_ends";
    /// What such a line speaks of.
    PRODUCTS = "products";
    /// Local parts that send bounces and the like.
    DAEMONS = "daemons";
    /// Local parts, or pieces of them, behind which nobody reads; any punctuation may part the words.
    NO_REPLY = "no_reply";
    /// How subjects of absence notes and other automatic answers begin.
    ABSENCE = "absence";
    /// How subjects begin that absence notes share with people who tell of their holidays.
    AWAY_SUBJECTS = "away_subjects";
    /// How subjects of other letters begin that only machines write.
    NOTICES = "notices";
    /// How subjects begin that only bounces have.
    CERTAIN = "certain";
    /// What stands in subjects of bounces.
    FAILED = "failed";
    /// What stands in subjects of notices of delay.
    DELAYED = "delayed";
    /// What only bounces have in their text.
    RETURNED = "returned";
    /// What only machines write into a text.
    MACHINE = "machine";
    /// What only machines write at the beginning of a text: one such phrase is enough.
    SURE = "sure";
    /// How lines begin that are addressed to us.
    VERBS = "verbs";
    /// What stands in such texts, and now and then in people's letters.
    HINTS = "hints";
    /// What stands in absence notes and not in bounces.
    AWAY = "away";
    /// What else they say: until when, and who can help.
    NOTES = "notes";
    /// What players speak of, and machines do not.
    GAME = "game";
}

impl WordList {
    pub fn is(&self, text: &str) -> bool {
        self.0.binary_search(&text).is_ok()
    }

    /// Whether `text` holds an entry.
    pub fn stand_in(&self, text: &str) -> bool {
        self.0.iter().any(|word| text.contains(word))
    }

    /// How many entries `text` holds, `most` at most.
    pub fn count_in(&self, text: &str, most: usize) -> usize {
        self.0.iter().filter(|word| text.contains(*word)).take(most).count()
    }

    pub fn begin(&self, text: &str) -> bool {
        self.alike(text).iter().any(|word| text.starts_with(word))
    }

    /// Whether `text` begins with an entry as a word of its own.
    pub fn lead(&self, text: &str) -> bool {
        let behind = |word: &&str| text.strip_prefix(*word).and_then(|rest| rest.chars().next());
        self.alike(text).iter().any(|word| behind(word).is_some_and(|next| !next.is_alphanumeric()))
    }

    /// The entries that begin with the same byte as `text`. They stand together, since the list is sorted.
    fn alike(&self, text: &str) -> &[&'static str] {
        let first = text.as_bytes().first();
        let from = self.0.partition_point(|word| word.as_bytes().first() < first);
        let count = self.0[from..].partition_point(|word| word.as_bytes().first() == first);
        &self.0[from..from + count]
    }

    pub fn end(&self, text: &str) -> bool {
        self.0.iter().any(|word| text.ends_with(word))
    }

    pub fn any(&self, fits: impl FnMut(&&'static str) -> bool) -> bool {
        self.0.iter().any(fits)
    }
}

/// What a line of a quoted header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    From,
    Date,
    To,
    Subject,
}

/// What the label of a header line, without its colon, stands for.
pub fn label(text: &str) -> Option<Label> {
    if text.len() > 60 {
        return None;
    }
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '-')).to_lowercase();
    let lists = [(&FROM, Label::From), (&DATE, Label::Date), (&SUBJECT, Label::Subject), (&TO, Label::To)];
    lists.into_iter().find(|(list, _)| list.is(&text)).map(|(_, label)| label)
}

#[cfg(test)]
mod tests {
    use super::super::clean::clean;
    use super::*;

    #[test]
    fn lists_are_sorted_and_in_the_form_in_which_texts_are_compared() {
        for (file, words) in ALL {
            assert!(!words.0.is_empty(), "{file}");
            assert!(
                words.0.windows(2).all(|two| two[0] < two[1]),
                "{file} is not sorted, or says something twice"
            );
            for word in words.0.iter() {
                assert_eq!(*word, clean(word).to_lowercase(), "{file}");
                assert!(!word.is_empty(), "{file}");
            }
        }
    }

    #[test]
    fn a_label_means_one_thing() {
        let lists = [&FROM, &DATE, &TO, &SUBJECT];
        for list in lists {
            for word in list.0.iter() {
                assert_eq!(lists.iter().filter(|list| list.is(word)).count(), 1, "{word}");
            }
        }
    }
}

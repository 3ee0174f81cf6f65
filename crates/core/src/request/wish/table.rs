//! The phrases of each language, from the files in `words/`: one file for each language, which a translator
//! can extend. Phrases are compared as by [`fold`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize};
use strum::VariantArray;

use super::text::{Beginning, Sentence, Word, fold};
use crate::letter::split_words;

/// The subject of a wish. If a letter has several, the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    Address,
    LessMail,
    Resign,
    Withdraw,
    /// A complaint about the opponent or the program.
    Foul,
    Leave,
    /// A question about the time after the deadline.
    Late,
    Absence,
    MoreTime,
    Pause,
    Draw,
    Rematch,
    /// Another opponent, or another match.
    Opponent,
    Report,
    /// All reports so far.
    History,
    OpponentName,
    /// A message to the opponent.
    Tell,
    /// A setup that the referee draws.
    Setup,
    /// Name, time zone, reminders or the form of letters.
    Settings,
    /// The signs on the board.
    Legend,
    /// Correcting orders.
    Change,
    /// The arrival of orders or letters.
    Arrived,
    /// The turn: who has to move, and until when.
    Due,
    Ranking,
    /// The rules, or their section about something.
    Rules,
    /// Asks about membership.
    Join,
    /// Takes back an earlier letter.
    NeverMind,
    Thanks,
}

impl Topic {
    pub const ALL: &'static [Topic] = Topic::VARIANTS;
}

/// A language, as its file describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Language {
    /// Whether it writes words without blanks between them.
    #[serde(default)]
    pub joined: bool,
    pub wishes: BTreeMap<Topic, Phrases>,
    /// Phrases for the words under which the rules explain something.
    pub about: BTreeMap<String, Phrases>,
    pub trouble: TroublePhrases,
    pub answers: Answers,
    pub words: TimeWords,
    pub orders: OrderWords,
    pub beside: OtherWords,
}

/// Phrases about people in trouble.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TroublePhrases {
    pub grief: Phrases,
    /// Sympathy with somebody else.
    pub condolences: Phrases,
    pub family: Phrases,
    /// Words before `family` that make it the writer's, or somebody else's.
    pub mine: WordSet,
    pub theirs: WordSet,
    pub death: Phrases,
    pub illness: Phrases,
    pub ill: Phrases,
}

/// Whole answers to questions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    pub yes: WordSet,
    pub no: WordSet,
    pub was_me: WordSet,
    /// Answers that ask for no more letters.
    pub stop: WordSet,
    /// Phrases that agree to a wish of the opponent.
    pub agrees: Phrases,
    pub polite: WordSet,
}

/// Words beside orders.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherWords {
    /// Words of greetings, thanks, good wishes and sign-offs, and of lines that announce orders. A line of
    /// nothing else says nothing about the orders.
    pub courtesies: WordSet,
    /// Words with which a letter begins: a name may follow them.
    pub greetings: WordSet,
    /// Words with which a sentence begins that may take back what the letter orders.
    pub first: WordSet,
}

/// Words for times and numbers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeWords {
    pub not: WordSet,
    /// Words that set a condition or leave a choice.
    #[serde(rename = "if")]
    pub if_: WordSet,
    #[serde(deserialize_with = "numbers")]
    pub numbers: Numbers,
    pub day: WordSet,
    pub week: WordSet,
    pub month: WordSet,
    /// Names of months, numbered from 1.
    #[serde(deserialize_with = "numbered_from::<1, _>")]
    pub months: Numbers,
    /// Names of weekdays, Monday being 0.
    #[serde(deserialize_with = "numbered_from::<0, _>")]
    pub weekdays: Numbers,
    pub today: WordSet,
    pub tomorrow: WordSet,
    pub next_week: Phrases,
    pub until: WordSet,
    pub from: WordSet,
    pub back: Phrases,
}

/// Words of orders.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderWords {
    pub ship: WordSet,
    pub marble: WordSet,
    pub star: WordSet,
    pub capture: WordSet,
    /// Words and phrases that say that a ship stays where it is, or that nothing is done.
    pub hold: WordSet,
    /// Words for all ships, or the others.
    pub all: WordSet,
    pub turn: WordSet,
    pub to: WordSet,
    /// Other words that may surround the piece and the squares of an order.
    pub verbs: WordSet,
    /// Letters of another script, each with the letter that it stands for in squares.
    #[serde(default)]
    pub letters: BTreeMap<char, char>,
}

/// Words or whole phrases, compared as by [`single_blanks`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct WordSet(BTreeSet<String>);

/// Numbers by their names, which are compared as by [`single_blanks`].
type Numbers = BTreeMap<String, u32>;

/// A piece of a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Word(String),
    /// The beginning of a word.
    Stem(String),
    /// Up to [`MAX_GAP`] words.
    Gap,
}

/// A phrase of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase(Vec<Piece>);

/// Maximum words in a gap.
const MAX_GAP: usize = 4;

/// A list of phrases. One in a script that does not separate words is found anywhere in a sentence.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct Phrases {
    joined: Vec<String>,
    /// Each with the beginning of its first word.
    separated: Vec<(Beginning, Phrase)>,
    /// A bit set of the beginnings of all phrases. Most words begin none, which saves comparing them with
    /// thousands.
    beginnings: u128,
}

/// The languages, with the codes of ISO 639-1.
pub const FILES: [(&str, &str); 12] = [
    ("en", include_str!("words/en.toml")),
    ("de", include_str!("words/de.toml")),
    ("fr", include_str!("words/fr.toml")),
    ("es", include_str!("words/es.toml")),
    ("it", include_str!("words/it.toml")),
    ("pt", include_str!("words/pt.toml")),
    ("nl", include_str!("words/nl.toml")),
    ("pl", include_str!("words/pl.toml")),
    ("cs", include_str!("words/cs.toml")),
    ("ru", include_str!("words/ru.toml")),
    ("tr", include_str!("words/tr.toml")),
    ("ja", include_str!("words/ja.toml")),
];

/// All languages, in the order of [`FILES`]. A word that means yes in one and no in another means neither.
pub static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let read = |text: &str| toml::from_str::<Language>(text).expect("a test reads each file");
    let mut languages: Vec<Language> = FILES.iter().map(|(_, text)| read(text)).collect();
    let all = |of: fn(&Language) -> &WordSet| -> BTreeSet<String> {
        languages.iter().flat_map(|language| of(language).iter().cloned()).collect()
    };
    let (yes, no) = (all(|language| &language.answers.yes), all(|language| &language.answers.no));
    for Language { answers, .. } in &mut languages {
        answers.yes.0.retain(|phrase| !no.contains(phrase));
        answers.no.0.retain(|phrase| !yes.contains(phrase));
    }
    languages
});

impl TimeWords {
    /// Returns the words for a day, a week and a month, each with its number of days.
    pub fn units(&self) -> impl Iterator<Item = (&String, u32)> {
        let units = [(&self.day, 1), (&self.week, 7), (&self.month, 30)].into_iter();
        units.flat_map(|(names, days)| names.iter().map(move |name| (name, days)))
    }
}

impl OrderWords {
    /// Returns the nouns of pieces and the verbs for capturing, each with its English equivalent.
    pub fn pieces(&self) -> impl Iterator<Item = (&String, &'static str)> {
        self.nouns().into_iter().flat_map(|(names, piece)| names.iter().map(move |name| (name, piece)))
    }

    /// Returns the English word for the piece that a word names.
    pub fn piece(&self, word: &str) -> Option<&'static str> {
        self.nouns().into_iter().find_map(|(names, piece)| names.contains(word).then_some(piece))
    }

    fn nouns(&self) -> [(&WordSet, &'static str); 4] {
        [(&self.ship, "SHIP"), (&self.marble, "MARBLE"), (&self.star, "STAR"), (&self.capture, "CAPTURE")]
    }
}

/// Returns a phrase with one blank between its words, as sentences are compared.
pub fn single_blanks(text: &str) -> String {
    split_words(text).map(fold).collect::<Vec<_>>().join(" ")
}

impl WordSet {
    pub fn contains(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    pub fn iter(&self) -> impl Iterator<Item = &String> {
        self.0.iter()
    }
}

impl From<Vec<String>> for WordSet {
    fn from(list: Vec<String>) -> Self {
        WordSet(list.iter().map(|text| single_blanks(text)).collect())
    }
}

fn numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Numbers, D::Error> {
    let names = Numbers::deserialize(deserializer)?;
    Ok(names.into_iter().map(|(name, number)| (single_blanks(&name), number)).collect())
}

/// Numbers names in order. An entry may hold several names for a number, separated by blanks.
fn numbered_from<'de, const FIRST: u32, D: Deserializer<'de>>(deserializer: D) -> Result<Numbers, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let each = (FIRST..).zip(&names);
    let each =
        each.flat_map(|(number, names)| names.split(' ').map(move |name| (single_blanks(name), number)));
    Ok(each.collect())
}

impl From<Vec<String>> for Phrases {
    fn from(list: Vec<String>) -> Self {
        let mut phrases = Phrases::default();
        for text in &list {
            if text.contains(is_joined) {
                phrases.joined.push(single_blanks(text).replace(' ', ""));
            } else {
                let phrase = Phrase::new(text);
                if let Some(beginning) = phrase.beginning() {
                    phrases.beginnings |= beginning.bit();
                    phrases.separated.push((beginning, phrase));
                }
            }
        }
        phrases
    }
}

/// Whether the character belongs to a script that does not separate words: kana and Chinese characters.
pub fn is_joined(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

impl Phrases {
    /// Whether one of the phrases may occur among words with these beginnings.
    pub fn may_be_among(&self, beginnings: u128) -> bool {
        self.beginnings & beginnings != 0 || !self.joined.is_empty()
    }

    /// Whether a phrase is in a sentence.
    pub fn any_in(&self, sentence: &Sentence) -> bool {
        self.any_where(sentence, |_| true)
    }

    /// Whether a sentence contains a phrase that begins at a word whose index satisfies the condition. A
    /// phrase in a script that does not separate words counts as beginning with the sentence.
    pub fn any_where(&self, sentence: &Sentence, is_meant: impl Fn(usize) -> bool) -> bool {
        if !self.joined.is_empty() && sentence.words.iter().any(|word| !word.folded.is_ascii()) {
            let text = sentence.joined();
            if is_meant(0) && self.joined.iter().any(|phrase| text.contains(phrase.as_str())) {
                return true;
            }
        }
        let words = sentence.words.iter().enumerate();
        let mut starts = words.filter(|(_, word)| self.beginnings & word.beginning.bit() != 0);
        starts.any(|(start, word)| {
            let mut alike = self.separated.iter().filter(|(of_phrase, _)| *of_phrase == word.beginning);
            is_meant(start) && alike.any(|(_, phrase)| begin_with(&sentence.words[start..], &phrase.0))
        })
    }
}

impl Phrase {
    fn new(text: &str) -> Phrase {
        let mut pieces = Vec::new();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            match (word, word.strip_suffix('*')) {
                ("…", _) => pieces.push(Piece::Gap),
                (_, Some(stem)) => pieces.push(Piece::Stem(fold(stem))),
                (_, None) => {
                    pieces.extend(single_blanks(word).split(' ').map(|word| Piece::Word(word.to_owned())))
                }
            }
        }
        Phrase(pieces)
    }

    /// `None` if it does not begin with a word, so that it is never found. A stem has at least two letters.
    fn beginning(&self) -> Option<Beginning> {
        match self.0.first()? {
            Piece::Word(text) | Piece::Stem(text) => Some(Beginning::of(text)),
            Piece::Gap => None,
        }
    }
}

/// Whether the words begin with those that the pieces match.
fn begin_with(words: &[Word], pieces: &[Piece]) -> bool {
    match (pieces.split_first(), words.first()) {
        (None, _) => true,
        (Some((Piece::Gap, rest)), _) => {
            let most = MAX_GAP.min(words.len());
            (0..=most).any(|gap| begin_with(&words[gap..], rest))
        }
        (Some((Piece::Word(word), rest)), Some(first)) => {
            first.folded == *word && begin_with(&words[1..], rest)
        }
        (Some((Piece::Stem(stem), rest)), Some(first)) => {
            first.folded.starts_with(stem.as_str()) && begin_with(&words[1..], rest)
        }
        (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every topic is worded in every language, and every file can be read.
    #[test]
    fn every_language_has_all_of_the_table() {
        for (code, text) in FILES {
            let language: Language = toml::from_str(text).unwrap_or_else(|error| panic!("{code}: {error}"));
            assert_eq!(language.wishes.len(), Topic::ALL.len(), "{code} lacks a topic");
            assert!(language.about.keys().eq(LANGUAGES[0].about.keys()), "{code} lacks a word of the rules");
            let lists: BTreeMap<String, toml::Value> = toml::from_str(text).expect("it was read above");
            let wishes = lists["wishes"].as_table().expect("a table");
            for phrase in wishes.values().flat_map(|list| list.as_array().expect("a list")) {
                let phrase = phrase.as_str().expect("a text");
                assert_eq!(phrase, phrase.to_lowercase(), "{code}: {phrase} is not in lower case");
                let bare = phrase.replace([' ', '*', '…', '、'], "");
                assert!(!bare.is_empty(), "{code}");
                assert!(bare.chars().all(char::is_alphanumeric), "{code}: {phrase} has punctuation");
            }
            for (name, count) in [("months", 12), ("weekdays", 7)] {
                assert_eq!(lists["words"][name].as_array().expect("a list").len(), count, "{code}");
            }
        }
        assert_eq!(LANGUAGES.len(), FILES.len());
    }

    #[test]
    fn no_word_means_yes_in_one_language_and_no_in_another() {
        let yes: BTreeSet<&String> =
            LANGUAGES.iter().flat_map(|language| language.answers.yes.iter()).collect();
        let no: BTreeSet<&String> =
            LANGUAGES.iter().flat_map(|language| language.answers.no.iter()).collect();
        assert_eq!(yes.intersection(&no).collect::<Vec<_>>(), Vec::<&&String>::new());
        // Polish "no" is a yes, German "nie" is never and Polish "nie" is no.
        for word in ["no", "nie"] {
            assert!(!yes.contains(&word.to_owned()) && !no.contains(&word.to_owned()), "{word}");
        }
        for language in LANGUAGES.iter() {
            assert!(language.answers.yes.iter().count() > 8 && language.answers.no.iter().count() > 4);
            for other in LANGUAGES.iter() {
                let shared: Vec<_> =
                    language.answers.yes.iter().filter(|word| other.words.not.contains(word)).collect();
                assert!(shared.is_empty(), "{shared:?}");
            }
        }
    }
}

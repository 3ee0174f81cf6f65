//! The phrases of each language, from the files in `words/`: one file a language, which a translator can
//! extend. Phrases are compared as by [`fold`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::text::{Sentence, Word, fold};

/// The subject of a wish. If a letter has several, the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    Address,
    LessMail,
    Leave,
    Resign,
    Withdraw,
    /// A complaint about the opponent or the program.
    Foul,
    Absence,
    MoreTime,
    Pause,
    Draw,
    Rematch,
    /// Another opponent, or another match.
    Opponent,
    Report,
    OpponentName,
    /// A message to the opponent.
    Tell,
    Rules,
    /// Correcting orders.
    Change,
    /// The arrival of orders or letters.
    Arrived,
    /// The turn: who has to move, and until when.
    Due,
    Ranking,
    Thanks,
}

impl Topic {
    pub const ALL: [Topic; 21] = [
        Topic::Address,
        Topic::LessMail,
        Topic::Leave,
        Topic::Resign,
        Topic::Withdraw,
        Topic::Foul,
        Topic::Absence,
        Topic::MoreTime,
        Topic::Pause,
        Topic::Draw,
        Topic::Rematch,
        Topic::Opponent,
        Topic::Report,
        Topic::OpponentName,
        Topic::Tell,
        Topic::Rules,
        Topic::Change,
        Topic::Arrived,
        Topic::Due,
        Topic::Ranking,
        Topic::Thanks,
    ];
}

/// A language as its file describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageFile {
    #[serde(default)]
    joined: bool,
    wishes: BTreeMap<Topic, Vec<String>>,
    trouble: TroubleFile,
    answers: AnswersFile,
    words: WordsFile,
    orders: OrdersFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TroubleFile {
    grief: Vec<String>,
    family: Vec<String>,
    death: Vec<String>,
    illness: Vec<String>,
    ill: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswersFile {
    yes: Vec<String>,
    no: Vec<String>,
    was_me: Vec<String>,
    polite: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WordsFile {
    not: Vec<String>,
    numbers: BTreeMap<String, u32>,
    day: Vec<String>,
    week: Vec<String>,
    month: Vec<String>,
    months: Vec<String>,
    weekdays: Vec<String>,
    today: Vec<String>,
    tomorrow: Vec<String>,
    next_week: Vec<String>,
    until: Vec<String>,
    from: Vec<String>,
    back: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrdersFile {
    ship: Vec<String>,
    marble: Vec<String>,
    star: Vec<String>,
    to: Vec<String>,
    verbs: Vec<String>,
    capture: Vec<String>,
}

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

/// A list of phrases, in one language.
#[derive(Clone, Debug, Default)]
pub struct Phrases {
    joined: bool,
    /// The phrases by their first character, because most words begin none.
    by_first: BTreeMap<char, Vec<Phrase>>,
}

/// The words of a language.
pub struct Language {
    pub joined: bool,
    pub wishes: BTreeMap<Topic, Phrases>,
    pub grief: Phrases,
    pub family: Phrases,
    pub death: Phrases,
    pub illness: Phrases,
    pub ill: Phrases,
    pub yes: BTreeSet<String>,
    pub no: BTreeSet<String>,
    pub was_me: BTreeSet<String>,
    pub polite: BTreeSet<String>,
    pub not: BTreeSet<String>,
    pub numbers: BTreeMap<String, u32>,
    /// Words for a day, a week and a month, with their days.
    pub units: Vec<(String, u32)>,
    /// Names of months, and their number from 1.
    pub months: BTreeMap<String, u32>,
    /// Names of weekdays, and their number from Monday, 0.
    pub weekdays: BTreeMap<String, u32>,
    pub today: BTreeSet<String>,
    pub tomorrow: BTreeSet<String>,
    pub next_week: Phrases,
    pub until: BTreeSet<String>,
    pub from: BTreeSet<String>,
    pub back: Phrases,
    /// Nouns of pieces, each with the English one.
    pub pieces: BTreeMap<String, &'static str>,
    /// Words that may stand in an order around its piece and squares.
    pub order_words: BTreeSet<String>,
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
    let read = |text: &str| toml::from_str::<LanguageFile>(text).expect("a test reads each file");
    let files = FILES.iter().map(|(_, text)| read(text));
    let mut languages: Vec<Language> = files.map(Language::from_file).collect();
    let all = |of: fn(&Language) -> &BTreeSet<String>| -> BTreeSet<String> {
        languages.iter().flat_map(|language| of(language).iter().cloned()).collect()
    };
    let (yes, no) = (all(|language| &language.yes), all(|language| &language.no));
    for language in &mut languages {
        language.yes.retain(|phrase| !no.contains(phrase));
        language.no.retain(|phrase| !yes.contains(phrase));
    }
    languages
});

impl Language {
    fn from_file(file: LanguageFile) -> Language {
        let joined = file.joined;
        let phrases = |list: &[String]| Phrases::new(joined, list);
        let WordsFile { day, week, month, .. } = &file.words;
        let units = [(day, 1), (week, 7), (month, 30)].into_iter();
        let units = units.flat_map(|(names, days)| names.iter().map(move |name| (folded(name), days)));
        let orders = file.orders;
        let pieces = [
            (&orders.ship, "SHIP"),
            (&orders.marble, "MARBLE"),
            (&orders.star, "STAR"),
            (&orders.capture, "CAPTURE"),
        ]
        .into_iter();
        let pieces = pieces.flat_map(|(names, piece)| names.iter().map(move |name| (folded(name), piece)));
        Language {
            joined,
            wishes: file.wishes.iter().map(|(topic, list)| (*topic, phrases(list))).collect(),
            grief: phrases(&file.trouble.grief),
            family: phrases(&file.trouble.family),
            death: phrases(&file.trouble.death),
            illness: phrases(&file.trouble.illness),
            ill: phrases(&file.trouble.ill),
            yes: set(&file.answers.yes),
            no: set(&file.answers.no),
            was_me: set(&file.answers.was_me),
            polite: set(&file.answers.polite),
            not: set(&file.words.not),
            numbers: file.words.numbers.iter().map(|(name, number)| (folded(name), *number)).collect(),
            units: units.collect(),
            months: numbered(&file.words.months, 1),
            weekdays: numbered(&file.words.weekdays, 0),
            today: set(&file.words.today),
            tomorrow: set(&file.words.tomorrow),
            next_week: phrases(&file.words.next_week),
            until: set(&file.words.until),
            from: set(&file.words.from),
            back: phrases(&file.words.back),
            pieces: pieces.collect(),
            order_words: orders.to.iter().chain(&orders.verbs).map(|word| folded(word)).collect(),
        }
    }
}

/// Returns a phrase with one blank between its words, as sentences are compared.
pub fn folded(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(fold).collect::<Vec<_>>().join(" ")
}

fn set(list: &[String]) -> BTreeSet<String> {
    list.iter().map(|text| folded(text)).collect()
}

/// Numbers the names; several for one number are separated by blanks.
fn numbered(names: &[String], first: u32) -> BTreeMap<String, u32> {
    let each = (first..).zip(names);
    each.flat_map(|(number, names)| names.split(' ').map(move |name| (folded(name), number))).collect()
}

impl Phrases {
    fn new(joined: bool, list: &[String]) -> Phrases {
        let mut by_first: BTreeMap<char, Vec<Phrase>> = BTreeMap::new();
        for phrase in list.iter().map(|text| Phrase::new(joined, text)) {
            by_first.entry(phrase.first()).or_default().push(phrase);
        }
        Phrases { joined, by_first }
    }

    /// Returns where a phrase begins and ends in a sentence, in words. In languages that do not separate
    /// words, the end alone means something.
    pub fn find(&self, sentence: &Sentence) -> Option<(usize, usize)> {
        if self.joined {
            let text = sentence.joined();
            let any = self.by_first.values().flatten().any(|phrase| phrase.is_in(&text));
            return any.then_some((0, sentence.words.len()));
        }
        let starts = 0..sentence.words.len();
        starts.into_iter().find_map(|start| {
            let rest = &sentence.words[start..];
            let first = rest[0].folded.chars().next()?;
            let list = self.by_first.get(&first).map(Vec::as_slice).unwrap_or_default();
            let mut ends = list.iter().filter_map(|phrase| matched(&phrase.0, rest));
            ends.next().map(|length| (start, start + length))
        })
    }

    pub fn any_in(&self, sentence: &Sentence) -> bool {
        self.find(sentence).is_some()
    }
}

impl Phrase {
    fn new(joined: bool, text: &str) -> Phrase {
        if joined {
            return Phrase(vec![Piece::Word(folded(text).replace(' ', ""))]);
        }
        let mut pieces = Vec::new();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            match (word, word.strip_suffix('*')) {
                ("…", _) => pieces.push(Piece::Gap),
                (_, Some(stem)) => pieces.push(Piece::Stem(fold(stem))),
                (_, None) => pieces.extend(folded(word).split(' ').map(|word| Piece::Word(word.to_owned()))),
            }
        }
        Phrase(pieces)
    }

    fn first(&self) -> char {
        match self.0.first() {
            Some(Piece::Word(text) | Piece::Stem(text)) => text.chars().next().unwrap_or(' '),
            Some(Piece::Gap) | None => ' ',
        }
    }

    fn is_in(&self, joined: &str) -> bool {
        matches!(&self.0[..], [Piece::Word(text)] if joined.contains(text.as_str()))
    }
}

/// Returns how many words at the beginning of `words` the pieces match.
fn matched(pieces: &[Piece], words: &[Word]) -> Option<usize> {
    match (pieces.split_first(), words.first()) {
        (None, _) => Some(0),
        (Some((Piece::Gap, rest)), _) => {
            let most = MAX_GAP.min(words.len());
            (0..=most).find_map(|gap| matched(rest, &words[gap..]).map(|length| gap + length))
        }
        (Some((Piece::Word(word), rest)), Some(first)) if first.folded == *word => {
            matched(rest, &words[1..]).map(|length| length + 1)
        }
        (Some((Piece::Stem(stem), rest)), Some(first)) if first.folded.starts_with(stem.as_str()) => {
            matched(rest, &words[1..]).map(|length| length + 1)
        }
        (Some(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every topic is worded in every language, and every file can be read.
    #[test]
    fn every_language_has_all_of_the_table() {
        for (code, text) in FILES {
            let file: LanguageFile = toml::from_str(text).unwrap_or_else(|error| panic!("{code}: {error}"));
            assert_eq!(file.wishes.len(), Topic::ALL.len(), "{code} lacks a topic");
            assert!(file.wishes.values().all(|list| !list.is_empty()), "{code}");
            assert_eq!((file.words.months.len(), file.words.weekdays.len()), (12, 7), "{code}");
            for list in file.wishes.values() {
                for phrase in list {
                    assert_eq!(*phrase, phrase.to_lowercase(), "{code}: {phrase} is not in lower case");
                    let bare = phrase.replace([' ', '*', '…', '、'], "");
                    assert!(bare.chars().all(char::is_alphanumeric), "{code}: {phrase} has punctuation");
                }
            }
        }
        assert_eq!(LANGUAGES.len(), FILES.len());
    }

    #[test]
    fn no_word_means_yes_in_one_language_and_no_in_another() {
        let yes: BTreeSet<&String> = LANGUAGES.iter().flat_map(|language| &language.yes).collect();
        let no: BTreeSet<&String> = LANGUAGES.iter().flat_map(|language| &language.no).collect();
        assert_eq!(yes.intersection(&no).collect::<Vec<_>>(), Vec::<&&String>::new());
        // Polish "no" is a yes, German "nie" is never and Polish "nie" is no.
        for word in ["no", "nie"] {
            assert!(!yes.contains(&word.to_owned()) && !no.contains(&word.to_owned()), "{word}");
        }
        for language in LANGUAGES.iter() {
            assert!(language.yes.len() > 8 && language.no.len() > 4);
            for other in LANGUAGES.iter() {
                let shared: Vec<_> = language.yes.intersection(&other.not).collect();
                assert!(shared.is_empty(), "{shared:?}");
            }
        }
    }
}

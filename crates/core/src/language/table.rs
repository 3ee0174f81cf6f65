//! What a language brings: the sections of its file in `words/`, which a translator fills. A file that lacks one is
//! not read.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use strum::{Display, VariantArray};

use super::glossary::Glossary;
use super::phrases::{Phrases, WordSet, as_written};
use super::word::{fold, single_blanks};

/// The subject of a wish. If a letter has several, the first counts.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, VariantArray, Display,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
    /// A wish for all reports so far.
    History,
    Report,
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
    #[serde(deserialize_with = "of_each_topic")]
    pub wishes: BTreeMap<Topic, Phrases>,
    /// Phrases for the words under which the rules explain something.
    pub about: BTreeMap<String, Phrases>,
    pub trouble: TroublePhrases,
    pub answers: Answers,
    pub words: TimeWords,
    pub orders: OrderWords,
    pub beside: OtherWords,
    pub clauses: Clauses,
    pub position: PositionWords,
    pub club: ClubWords,
    pub gm: GmWords,
    pub glossary: Glossary,
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
    /// Words of trouble that pass remarks on even beside orders.
    pub words: Phrases,
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
    /// Negations that agree: `no problem`, `why not`.
    pub idioms: Phrases,
}

/// Words beside orders.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherWords {
    /// Words before the place that somebody greets from: `Greetings from Exeter`.
    pub from: WordSet,
    /// Words of greetings, thanks, good wishes and sign-offs, and of lines that announce orders. A line of
    /// nothing else says nothing about the orders.
    pub courtesies: WordSet,
    /// Words with which a letter begins: a name may follow them.
    pub greetings: WordSet,
    /// Words inside names: `van`, `de`.
    pub particles: WordSet,
    /// Words with which a sentence begins that may take back what the letter orders.
    pub first: WordSet,
    /// Words that point to the letter or its orders: `this`, `the line above`.
    pub pointers: WordSet,
    /// Phrases that, beside a pointer, may take it back, as a negation may: `only if`, `a draft`.
    pub undoing: Phrases,
}

/// Phrases of the clauses next to orders, with which people clearly postpone or question them. Accents count.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clauses {
    #[serde(deserialize_with = "as_written")]
    postponing: Phrases,
    #[serde(deserialize_with = "as_written")]
    asking: Phrases,
    #[serde(deserialize_with = "as_written")]
    or: Phrases,
    #[serde(deserialize_with = "as_written")]
    postscripts: Phrases,
    #[serde(deserialize_with = "as_written")]
    closings: Phrases,
}

/// A list of [`Clauses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    Postponing,
    /// Beginnings of a sentence that asks whether to give an order.
    Asking,
    /// Beginnings of a line that continues with a question about the order above it.
    Or,
    /// Beginnings of a postscript.
    Postscripts,
    /// Beginnings of the lines that close a letter.
    Closings,
}

/// Words that may tell of a position, as they are written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionWords {
    /// Beginnings of the words for pieces with numbers.
    pub pieces: BTreeSet<String>,
    /// Numbers in words, up to the highest of ships and squares.
    pub numbers: BTreeSet<String>,
    /// Words of one letter that occur before numbers in prose, so that they name no file or quadrant.
    pub letters: BTreeSet<String>,
}

/// Words about the club.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClubWords {
    /// Words for the GM.
    pub gm: WordSet,
    /// Words of players for events.
    pub events: WordSet,
    /// Words about the places in an event's table.
    pub places: Phrases,
    /// Words for rules and manuals.
    pub rules: Phrases,
    /// Vocabulary of players that machines do not use, in lower case.
    pub topic: Vec<String>,
}

/// Words of GMs about events and matches, by what they may want.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GmWords {
    pub events: Phrases,
    /// Formats of events.
    pub cup: Phrases,
    pub ladder: Phrases,
    pub new: Phrases,
    /// Acts on an event.
    pub open: Phrases,
    pub postpone: Phrases,
    pub cancel: Phrases,
    pub strike: Phrases,
    /// First words of a question.
    pub asks: Phrases,
    /// Units of time.
    pub day: Phrases,
    pub week: Phrases,
    /// Acts on a match.
    pub extend: Phrases,
    pub pause: Phrases,
    pub tell: Phrases,
    pub rollback: Phrases,
    pub forfeit: Phrases,
    /// Words that say who wins, not who gives up.
    pub wins: Phrases,
    pub abandon: Phrases,
    pub replace: Phrases,
    pub adjudicate: Phrases,
    /// Keeping somebody out.
    pub block: Phrases,
    /// Lists of matches.
    pub late: Phrases,
    pub due: Phrases,
    pub paused: Phrases,
    pub protests: Phrases,
    pub ended: Phrases,
    /// All players, as those to whom something is told.
    pub everybody: Phrases,
    pub announce: Phrases,
    /// Somebody who does the GM's work.
    pub deputy: Phrases,
}

/// Words for times and numbers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeWords {
    pub not: WordSet,
    /// Words that set a condition or leave a choice.
    #[serde(rename = "if")]
    pub if_: WordSet,
    /// Words of `if_` that say little alone: they are common in another language, too, or ask for a time.
    pub weak_if: WordSet,
    #[serde(deserialize_with = "numbers")]
    pub numbers: Numbers,
    pub day: WordSet,
    pub week: WordSet,
    pub fortnight: WordSet,
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
    /// Words between a day and its month: `20 de diciembre`.
    pub of: WordSet,
    /// Endings of the number of a day: `20th`.
    pub ordinals: WordSet,
    /// Words that link "tell Bo" to the message, as they are written.
    pub that: BTreeSet<String>,
    /// Words that say nothing about the subject of a question, in lower case.
    pub empty: BTreeSet<String>,
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
    /// Words before a square that is replaced: `B1 instead of B2`.
    pub instead: WordSet,
    /// Words for what somebody prefers: `rather B1`.
    pub rather: WordSet,
    /// Words behind a square that deny it: `A1 değil`.
    pub denying_behind: WordSet,
    pub submarine: Phrases,
    pub fire: Phrases,
    /// Words that say that a ship stays where it was.
    pub stays: Phrases,
    /// Words that except something from what is said.
    pub except: Phrases,
    /// Beginnings of the words for first to fifth.
    #[serde(deserialize_with = "folded")]
    pub nth: Vec<String>,
    /// Words between the two squares of a move.
    pub between: WordSet,
    /// Words that deny or condition what a line of orders says, so that it offers none.
    pub denying: WordSet,
    /// Letters of another script, each with the letter that it stands for in squares.
    #[serde(default)]
    pub letters: BTreeMap<char, char>,
}

/// Numbers by their names, which are compared as by [`single_blanks`].
type Numbers = BTreeMap<String, u32>;

impl TimeWords {
    /// Returns the words for a day, a week, a fortnight and a month, each with its number of days.
    pub fn units(&self) -> impl Iterator<Item = (&String, u32)> {
        let units = [(&self.day, 1), (&self.week, 7), (&self.fortnight, 14), (&self.month, 30)].into_iter();
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

impl PositionWords {
    /// Whether a word begins like the name of a piece.
    pub fn names_piece(&self, word: &str) -> bool {
        self.pieces.iter().any(|piece| word.starts_with(piece.as_str()))
    }
}

impl Clauses {
    pub fn section(&self, section: Section) -> &Phrases {
        match section {
            Section::Postponing => &self.postponing,
            Section::Asking => &self.asking,
            Section::Or => &self.or,
            Section::Postscripts => &self.postscripts,
            Section::Closings => &self.closings,
        }
    }
}

fn of_each_topic<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Topic, Phrases>, D::Error> {
    let wishes = BTreeMap::<Topic, Phrases>::deserialize(deserializer)?;
    match Topic::ALL.iter().find(|topic| !wishes.contains_key(topic)) {
        Some(topic) => Err(D::Error::custom(format!("missing field `{topic}`"))),
        None => Ok(wishes),
    }
}

fn folded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    Ok(words.iter().map(|word| fold(word)).collect())
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

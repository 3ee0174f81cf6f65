//! The GM's digest as its template sees it: decisions first, then late matches, people's words, and counts.
//! It holds nothing that the rules hide from its reader.

use std::mem;

use serde::{Deserialize, Serialize};

use crate::game::{Reason, Seat};
use crate::referee::EventLine;

/// The daily digest for a GM. Its news does not repeat items of an earlier digest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct GmDigest {
    pub since: String,
    pub running: usize,
    /// Matches that have begun to wait for a GM.
    pub decisions: ShortList<Decision>,
    /// Matches that an earlier digest has named, and that still wait for a GM.
    pub waiting: ShortList<Decision>,
    /// Matches and letters that wait for a lock of another session of the database.
    pub locked: ShortList<String>,
    /// Newcomers who wait to be admitted.
    pub applicants: ShortList<ApplicantNote>,
    /// Events whose next season has not begun.
    #[serde(default)]
    pub entries: ShortList<EntriesNote>,
    /// Letters that could not be ruled on.
    pub set_aside: ShortList<LetterNote>,
    /// Matches past the deadline but within the grace period, ordered by the end of that period.
    pub late: Vec<LateMatches>,
    /// The number of matches that became late, and how many of them are not shown.
    pub late_count: usize,
    pub late_more: usize,
    /// Turns that seats missed.
    pub missed: ShortList<MissedNote>,
    /// Messages to a person, the gravest first.
    pub words: ShortList<WordsNote>,
    /// The same letters in full, those of seats first. Stands below everything else.
    pub in_full: ShortList<FullWords>,
    /// People whom letters do not reach, or who may not read them.
    pub unread: ShortList<UnreadNote>,
    pub began: ShortList<String>,
    pub ended: ShortList<EndedNote>,
    pub newcomers: ShortList<PersonNote>,
    /// The players who have filed nothing a week after their season began, each with the event.
    pub silent: ShortList<String>,
    pub absences: ShortList<AbsenceNote>,
    pub refused: ShortList<RefusalCount>,
    /// Letters in players' names that lapsed because nobody confirmed or denied them.
    pub lapsed: ShortList<LapsedLetter>,
    pub ignored: ShortList<LetterNote>,
    /// Letters taken for automatic mail.
    pub automatic: ShortList<LetterNote>,
    /// The number of letters taken from the provider's spam folder.
    pub from_spam: u64,
    /// The number of answers left out because a limit was reached for more than a day.
    pub left_out: u64,
    /// The number of letters that wait to be read. It alone is not news.
    pub letters_waiting: u64,
    /// Set if the config limits sending, or if letters have been waiting for long. It alone is not news.
    pub sending: Option<SendingSummary>,
}

/// A list that shows its first items and counts the others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShortList<T> {
    pub shown: Vec<T>,
    pub more: usize,
}

impl<T> Default for ShortList<T> {
    fn default() -> Self {
        ShortList { shown: Vec::new(), more: 0 }
    }
}

impl<T> ShortList<T> {
    /// Shows at most `most` of these items.
    pub fn of(mut items: Vec<T>, most: usize) -> Self {
        let more = items.len().saturating_sub(most);
        items.truncate(most);
        ShortList { shown: items, more }
    }

    fn has_any(&self) -> bool {
        !self.shown.is_empty()
    }

    /// Reduces the items shown to at most `most`.
    fn shorten(&mut self, most: usize) {
        self.more += self.shown.len().saturating_sub(most);
        self.shown.truncate(most);
    }
}

impl GmDigest {
    pub fn has_news(&self) -> bool {
        self.decisions.has_any()
            || self.waiting.has_any()
            || self.applicants.has_any()
            || self.entries.shown.iter().any(|note| note.is_due)
            || self.set_aside.has_any()
            || !self.late.is_empty()
            || self.missed.has_any()
            || self.words.has_any()
            || self.unread.has_any()
            || self.began.has_any()
            || self.ended.has_any()
            || self.newcomers.has_any()
            || self.silent.has_any()
            || self.absences.has_any()
            || self.refused.has_any()
            || self.lapsed.has_any()
            || self.ignored.has_any()
            || self.automatic.has_any()
            || self.locked.has_any()
            || self.from_spam > 0
            || self.left_out > 0
    }

    /// Shows fewer items: at most `acted_on` in lists that a GM has to act on, and at most `told` in the
    /// others.
    pub fn shorten(&mut self, acted_on: usize, told: usize) {
        self.decisions.shorten(acted_on);
        self.waiting.shorten(acted_on);
        self.applicants.shorten(acted_on);
        self.words.shorten(acted_on);
        self.late.truncate(acted_on);
        self.late.iter_mut().for_each(|group| group.matches.shorten(acted_on));
        let shown: usize = self.late.iter().map(|group| group.matches.shown.len() + group.matches.more).sum();
        self.late_more = self.late_count.saturating_sub(shown);
        self.entries.shorten(told);
        self.set_aside.shorten(told);
        self.missed.shorten(told);
        self.unread.shorten(told);
        self.began.shorten(told);
        self.ended.shorten(told);
        self.newcomers.shorten(told);
        self.silent.shorten(told);
        self.absences.shorten(told);
        self.refused.shorten(told);
        self.lapsed.shorten(told);
        self.ignored.shorten(told);
        self.automatic.shorten(told);
    }

    /// Counts the words quoted from people.
    pub fn quoted_words(&self) -> usize {
        self.words.shown.iter().map(|note| note.text.split_whitespace().count()).sum()
    }
}

/// A match that waits for a GM: a protest, or seats that have not filed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decision {
    pub id: String,
    /// The player who protests, as `Ann (first)`.
    pub protests: Option<String>,
    /// The first words of the protest; empty if the GM may not read them.
    pub words: String,
    /// The first digits of the digest of the letter that protests, at the terminal.
    #[serde(default)]
    pub letter: Option<String>,
    /// The players who owe orders, in the same form.
    pub awaited: Vec<String>,
    /// The turn that they owe orders for; 0 is the setup.
    pub turn: u32,
    /// The number of days that it has waited.
    pub days: i64,
    /// Whether the rules assume orders for those who have not filed.
    pub can_adjudicate: bool,
    /// Whether the GM plays in it, and may not write to its players.
    pub gm_plays: bool,
}

/// Late matches whose grace ends at the same time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LateMatches {
    pub was_due: String,
    pub grace_until: String,
    pub matches: ShortList<LateMatch>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LateMatch {
    pub id: String,
    pub awaited: Vec<String>,
    pub turn: u32,
}

/// A turn that a player missed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MissedNote {
    pub id: String,
    pub turn: u32,
    pub who: String,
    /// The time at which the orders came after all.
    pub made_good: Option<String>,
}

/// Messages from one person about one match, or about none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WordsNote {
    /// The player's name or the address.
    pub who: String,
    /// The match and the seat, if the letter is about one.
    pub about: Option<(String, Seat)>,
    /// The text of the gravest letter, on one line.
    pub text: String,
    /// The number of further letters.
    pub more: usize,
}

/// The words of one letter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FullWords {
    /// The player's name or the address.
    pub who: String,
    /// The match and the seat, if the letter is about one.
    pub about: Option<(String, Seat)>,
    pub lines: Vec<String>,
}

impl FullWords {
    fn size(&self) -> usize {
        self.lines.iter().map(|line| line.len() + 1).sum()
    }
}

impl ShortList<FullWords> {
    /// Keeps as many letters as have at most `bytes` together, and returns the others.
    pub fn split_beyond(&mut self, bytes: usize) -> ShortList<FullWords> {
        let mut left = bytes;
        let fits = |words: &&FullWords| {
            let rest = left.checked_sub(words.size());
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        let kept = self.shown.iter().take_while(fits).count();
        ShortList { shown: self.shown.split_off(kept), more: mem::take(&mut self.more) }
    }
}

/// A person whom letters do not reach, or who may not read them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct UnreadNote {
    /// The player's name or the address.
    pub who: String,
    pub bounces: bool,
    /// Whether a machine answers their mail.
    pub is_away: bool,
    /// The last letter of that machine, which a GM can accept.
    pub letter: Option<String>,
    /// The kind of mail that the letter was classified as, with its first line.
    pub note: String,
    /// The reason why the last letter to them was given up.
    pub given_up: Option<String>,
    pub matches: Vec<String>,
}

/// A match that ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndedNote {
    pub id: String,
    pub winner: Option<String>,
    pub reason: Reason,
}

/// An absence that affects these matches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AbsenceNote {
    pub who: String,
    pub days: String,
    pub matches: Vec<String>,
}

/// A newcomer who waits to be admitted, and what they wrote.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApplicantNote {
    pub name: String,
    pub address: String,
    pub lines: Vec<String>,
}

/// An event that waits for its next season.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EntriesNote {
    pub id: String,
    pub name: String,
    /// The number of players who are in, and the lowest with which a season can begin.
    pub entrants: usize,
    pub least: usize,
    /// The day of the draw; `None` if it is as soon as the event is full.
    pub opens: Option<String>,
    /// Whether that day has come without enough players.
    pub is_due: bool,
    /// Whether it is a cup between two rounds, which nobody can enter any more.
    #[serde(default)]
    pub is_next_round: bool,
}

/// A person in a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PersonNote {
    pub name: String,
    pub address: String,
}

/// The number of filings refused in a match.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RefusalCount {
    pub id: String,
    pub count: usize,
}

/// Received letters of one sender, in a few words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LetterNote {
    pub sender: String,
    pub count: usize,
    /// The beginning of the last one's digest.
    pub digest: String,
    pub note: String,
}

/// A letter in the name of a player who did not answer our notice.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LapsedLetter {
    pub match_id: String,
    /// The address that it came from.
    pub sender: String,
}

/// The use of the mail provider's quota, and the letters that wait.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SendingSummary {
    /// Letters sent in the last 24 hours.
    pub sent: u64,
    /// The number that the config allows in 24 hours.
    pub per_day: Option<u32>,
    pub waiting: u64,
}

/// A match in a list for the GM. It holds nothing that the rules hide from either side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GmMatchSummary {
    pub id: String,
    pub game_name: &'static str,
    pub names: [String; 2],
    pub phase: String,
    pub awaited: Vec<String>,
    pub due_at: Option<String>,
    /// Points that the GM should know about the match, each in a few words.
    pub marks: Vec<String>,
}

/// The subjects of a GM's words, with the lines that may do what they say. Nothing was done.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct GmMeant {
    /// Whether the letter holds only thanks and the like.
    pub is_courtesy: bool,
    pub events: Vec<EventLine>,
    /// Matches that the letter names, or those of a list that it asks for.
    pub matches: Vec<GmMatchSummary>,
    /// The names of matches that there are not.
    pub unknown: Vec<String>,
    /// Further matches that are not shown.
    pub more: usize,
    /// The list that it asks for.
    pub list: Option<String>,
    /// The lines of each act.
    pub acts: Vec<Vec<String>>,
    /// Lines that only ask.
    pub lines: Vec<String>,
    /// The match that the letter would take back to an earlier turn, if none of it has been adjudicated.
    pub nothing_adjudicated: Option<String>,
    /// The address of somebody who is to do a GM's work.
    pub deputy: Option<String>,
}

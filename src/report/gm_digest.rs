//! The GM's digest as its template sees it, most urgent first, without anything that the rules hide.

use serde::{Deserialize, Serialize};

use crate::game::Reason;
use crate::referee::DispatchKind;

/// The daily digest for a GM.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct GmDigest {
    pub since: String,
    pub running: usize,
    pub letters_waiting: u64,
    pub protests: Vec<GmMatchSummary>,
    /// Letters with words for a person; the note holds the words.
    pub words: Vec<LetterSummary>,
    /// Matches past the grace period, in which the GM was asked to decide.
    pub overdue: Vec<GmMatchSummary>,
    /// Turns that seats missed since the last digest.
    pub missed: Vec<MatchNote>,
    /// Matches past the deadline but within the grace period.
    pub late: Vec<GmMatchSummary>,
    /// Matches with a player whose mail bounces, or who may be away.
    pub unread: Vec<GmMatchSummary>,
    /// The number of matches for which these lists have no room.
    pub more_matches: usize,
    pub failed: Vec<FailedSend>,
    pub refused: Vec<RefusalCount>,
    pub began: Vec<MatchNote>,
    pub ended: Vec<MatchNote>,
    pub newcomers: Vec<PersonNote>,
    pub absences: Vec<MatchNote>,
    /// Letters in players' names that lapsed because nobody confirmed or denied them.
    pub lapsed: Vec<LapsedLetter>,
    /// The number of letters taken from the provider's spam folder.
    pub from_spam: u64,
    /// The number of answers left out because a limit was reached for more than a day.
    pub left_out: u64,
    pub set_aside: Vec<LetterSummary>,
    pub ignored: Vec<LetterSummary>,
    /// Letters taken for automatic mail.
    pub automatic: Vec<LetterSummary>,
    /// The number of letters written. It is no news by itself.
    pub written: u64,
    /// Set if the config limits sending, or if letters wait for long. It is no news by itself.
    pub sending: Option<SendingSummary>,
}

impl GmDigest {
    pub fn has_news(&self) -> bool {
        let matches = [&self.protests, &self.overdue, &self.late, &self.unread];
        let notes = [&self.missed, &self.began, &self.ended, &self.absences];
        let letters = [&self.words, &self.set_aside, &self.ignored, &self.automatic];
        matches.iter().any(|lines| !lines.is_empty())
            || notes.iter().any(|notes| !notes.is_empty())
            || letters.iter().any(|letters| !letters.is_empty())
            || !self.newcomers.is_empty()
            || !self.refused.is_empty()
            || !self.failed.is_empty()
            || !self.lapsed.is_empty()
            || self.from_spam > 0
            || self.left_out > 0
    }
}

/// The use of the mail provider's quota, and the letters that wait.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SendingSummary {
    /// Letters sent in the last 24 hours.
    pub sent: u64,
    /// The number of them that the config allows.
    pub per_day: Option<u32>,
    pub waiting: u64,
}

/// An event of a match, in a few words. The list determines which fields are set.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MatchNote {
    pub id: String,
    pub game_name: &'static str,
    pub names: [String; 2],
    /// The player who missed a turn, announced an absence, or won.
    pub who: Option<String>,
    pub turn: Option<u32>,
    /// The time at which the missed orders came after all.
    pub made_good: Option<String>,
    pub reason: Option<Reason>,
    /// The days of an absence.
    pub days: Option<String>,
}

impl MatchNote {
    pub fn of(line: &GmMatchSummary) -> MatchNote {
        MatchNote {
            id: line.id.clone(),
            game_name: line.game_name,
            names: line.names.clone(),
            ..MatchNote::default()
        }
    }
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

/// A dispatch that was given up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FailedSend {
    pub recipient: String,
    pub kind: DispatchKind,
    pub error: String,
}

/// A received letter, in a few words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LetterSummary {
    pub digest: String,
    pub at: String,
    pub sender: String,
    pub note: String,
}

/// A letter in a player's name whose player did not answer our notice.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LapsedLetter {
    pub match_id: String,
    /// The address that it came from.
    pub sender: String,
    pub noted: String,
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
    /// The time until which orders still count, in a list of late matches.
    pub grace_until: Option<String>,
    /// Points that the GM should know about the match, each in a few words.
    pub marks: Vec<String>,
}

//! Letters that are about no running match: answers to anybody, offers to play.

use serde::Serialize;

use crate::game::Line;
use crate::referee::{DispatchKind, OfferRejection, OfferSummary, Rejection, Reply};

/// What such a letter says.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "plain", rename_all = "snake_case")]
pub enum ClubLetter {
    /// The answer to somebody who holds no seat; `why`: what the letter lacked.
    Stranger { replies: Vec<Reply>, remarks: Vec<Line>, why: String },
    /// To who is challenged.
    Challenge { by: String, offer: OfferSummary, code: String, lapses: String },
    /// To who offered: it was declined by `to`.
    Declined { to: String, offer: OfferSummary },
    /// To who offered: nobody took it up.
    Lapsed { to: Option<String>, offer: OfferSummary, code: String },
    /// To the GM: what came of each line of his letter; `why`: why nothing was done.
    GmAnswer { check: bool, items: Vec<GmItem>, replies: Vec<Reply>, remarks: Vec<Line>, why: String },
    /// To the GM, once a day.
    Digest { digest: GmDigest },
    /// To the GM: a mail could not be sent.
    GivenUp { recipient: String, kind: DispatchKind, match_id: Option<String>, error: String },
    /// To the GM: a letter could not be ruled on.
    SetAside { digest: String, sender: String, note: String },
    /// To a player: a letter in his name could not be proven his.
    Unproven { match_id: String },
}

/// One line of the GM's letter, and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct GmItem {
    pub asked: String,
    pub done: GmResult,
}

/// What came of one thing that the GM asked.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "done", rename_all = "snake_case")]
pub enum GmResult {
    /// It is done; how the match stands now.
    Match {
        line: GmMatchSummary,
    },
    /// A check: it would be done.
    Would,
    #[serde(rename = "untaken")]
    Rejection {
        id: String,
        untaken: Rejection,
    },
    NoMatch {
        id: String,
    },
    TurnPassed {
        id: String,
        turn: u32,
        open: Option<u32>,
    },
    List {
        lines: Vec<GmMatchSummary>,
    },
    Opened {
        id: String,
    },
    NoOffer {
        no: OfferRejection,
    },
    Player {
        name: String,
        addresses: Vec<String>,
        bouncing: bool,
        matches: Vec<String>,
    },
    NoPlayer {
        address: String,
    },
    Refused {
        says: String,
    },
    /// The line was not understood.
    NotRead {
        says: String,
        example: &'static str,
    },
    Digest {
        digest: Option<GmDigest>,
    },
}

impl GmResult {
    /// Whether something was done, or told.
    pub fn is_done(&self) -> bool {
        match self {
            GmResult::Match { .. }
            | GmResult::Would
            | GmResult::List { .. }
            | GmResult::Opened { .. }
            | GmResult::Player { .. }
            | GmResult::Digest { .. } => true,
            GmResult::Rejection { .. }
            | GmResult::NoMatch { .. }
            | GmResult::TurnPassed { .. }
            | GmResult::NoOffer { .. }
            | GmResult::NoPlayer { .. }
            | GmResult::Refused { .. }
            | GmResult::NotRead { .. } => false,
        }
    }
}

/// A match as the GM reads it: nothing that is hidden from either side.
#[derive(Clone, Debug, Serialize)]
pub struct GmMatchSummary {
    pub id: String,
    pub game_name: &'static str,
    pub names: [String; 2],
    pub phase: String,
    pub awaited: Vec<String>,
    pub due_at: Option<String>,
    /// What the GM should know, in a few words each.
    pub marks: Vec<String>,
}

/// What a digest tells.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GmDigest {
    pub since: String,
    pub running: usize,
    pub letters_waiting: u64,
    pub protests: Vec<GmMatchSummary>,
    /// The GM was asked.
    pub overdue: Vec<GmMatchSummary>,
    /// The deadline has passed, the grace has not.
    pub late: Vec<GmMatchSummary>,
    /// Letters come back, or somebody may be away.
    pub unread: Vec<GmMatchSummary>,
    pub refused: Vec<RefusalCount>,
    pub failed: Vec<FailedSend>,
    pub set_aside: Vec<LetterSummary>,
    pub ignored: Vec<LetterSummary>,
}

impl GmDigest {
    pub fn has_news(&self) -> bool {
        let matches = [&self.protests, &self.overdue, &self.late, &self.unread];
        matches.iter().any(|lines| !lines.is_empty())
            || !self.refused.is_empty()
            || !self.failed.is_empty()
            || !self.set_aside.is_empty()
            || !self.ignored.is_empty()
    }
}

/// How many filings were refused in a match.
#[derive(Clone, Debug, Serialize)]
pub struct RefusalCount {
    pub id: String,
    pub count: usize,
}

/// A mail that was given up.
#[derive(Clone, Debug, Serialize)]
pub struct FailedSend {
    pub recipient: String,
    pub kind: DispatchKind,
    pub error: String,
}

/// A letter that came, in a few words.
#[derive(Clone, Debug, Serialize)]
pub struct LetterSummary {
    pub digest: String,
    pub at: String,
    pub sender: String,
    pub note: String,
}

impl ClubLetter {
    pub(super) fn template(&self) -> &'static str {
        match self {
            ClubLetter::Stranger { .. } => "stranger.txt",
            ClubLetter::Challenge { .. } => "challenge.txt",
            ClubLetter::Declined { .. } | ClubLetter::Lapsed { .. } => "offer-ended.txt",
            ClubLetter::GmAnswer { .. } => "gm-answer.txt",
            ClubLetter::Digest { .. } => "gm-digest.txt",
            ClubLetter::GivenUp { .. } | ClubLetter::SetAside { .. } => "gm-trouble.txt",
            ClubLetter::Unproven { .. } => "unproven.txt",
        }
    }

    /// The replies in it, which may want pages of the manual.
    pub(super) fn replies(&self) -> &[Reply] {
        match self {
            ClubLetter::Stranger { replies, .. } | ClubLetter::GmAnswer { replies, .. } => replies,
            ClubLetter::Challenge { .. }
            | ClubLetter::Declined { .. }
            | ClubLetter::Lapsed { .. }
            | ClubLetter::Digest { .. }
            | ClubLetter::GivenUp { .. }
            | ClubLetter::SetAside { .. }
            | ClubLetter::Unproven { .. } => &[],
        }
    }
}

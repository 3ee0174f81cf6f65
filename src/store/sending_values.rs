//! Values about sending: the dispatches to claim, their order, and the outcomes of attempts.

use chrono::{DateTime, Utc};
use strum::FromRepr;

use crate::referee::DispatchKind;

/// The urgency of a dispatch, which counts if not all can be sent. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, FromRepr)]
#[repr(i64)]
pub enum Urgency {
    /// A letter to the GM that something is wrong.
    Alarm = 0,
    /// An answer to a seat or a GM.
    Receipt = 1,
    /// A seat's turn result, or an invitation.
    Report = 2,
    /// News about a match that is over.
    Result = 3,
    Notice = 4,
    /// An answer to a letter without a token.
    Stranger = 5,
    Reminder = 6,
    Digest = 7,
    Announcement = 8,
}

impl Urgency {
    /// Returns how urgent a dispatch of this kind is, about a match or not.
    pub fn of(kind: DispatchKind, is_about_match: bool) -> Urgency {
        match kind {
            DispatchKind::Alarm => Urgency::Alarm,
            DispatchKind::Answer if is_about_match => Urgency::Receipt,
            DispatchKind::Answer => Urgency::Stranger,
            DispatchKind::Report | DispatchKind::Invitation => Urgency::Report,
            DispatchKind::Reminder => Urgency::Reminder,
            DispatchKind::Missed | DispatchKind::Notice | DispatchKind::Challenge | DispatchKind::Offer => {
                Urgency::Notice
            }
        }
    }
}

/// The selection of due dispatches to claim.
#[derive(Clone, Copy, Debug)]
pub struct DispatchScope {
    pub limit: u32,
    pub order: ClaimOrder,
    pub reach: Reach,
}

/// The dispatches that a quota lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    All,
    AllButStrangers,
    Alarms,
}

/// The order in which due dispatches are claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimOrder {
    /// The most urgent first; of these, the oldest.
    MostUrgent,
    /// The fewest attempts first; of these, the most urgent.
    FewestTries,
}

/// The outcome of one attempt to send a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    Taken,
    /// Failed; to be retried at this time.
    Later {
        at: DateTime<Utc>,
        error: String,
    },
    /// Failed permanently; the GM is told.
    GivenUp {
        error: String,
    },
    /// Not tried, because the subject of this reminder has changed.
    Lapsed,
}

impl ClaimOrder {
    /// Returns the columns by which dispatches are ordered; `d` is `dispatch`.
    pub fn columns(self) -> &'static str {
        match self {
            ClaimOrder::MostUrgent => "d.urgency, d.due_at, d.created_at, d.id",
            ClaimOrder::FewestTries => "d.tries, d.urgency, d.due_at, d.created_at, d.id",
        }
    }
}

impl Reach {
    /// Returns the condition on dispatches; `d` is `dispatch`.
    pub fn condition(self) -> String {
        match self {
            Reach::All => "TRUE".to_owned(),
            Reach::AllButStrangers => format!("d.urgency <> {}", Urgency::Stranger as i64),
            Reach::Alarms => format!("d.urgency = {}", Urgency::Alarm as i64),
        }
    }
}

/// The dispatches to find; an empty filter finds all of them.
#[derive(Clone, Debug, Default)]
pub struct DispatchFilter {
    pub match_id: Option<String>,
    pub recipient: Option<String>,
    /// The number of one dispatch.
    pub id: Option<i64>,
    pub only_given_up: bool,
    /// Only dispatches created at this time or later.
    pub since: Option<DateTime<Utc>>,
}

/// The numbers of letters sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentCounts {
    /// In the present minute.
    pub minute: u32,
    /// In the last 24 hours.
    pub day: u32,
    /// In the last 24 hours, in answer to letters without a token.
    pub strangers: u32,
}

impl SentCounts {
    /// Adds letters that are sent now.
    pub fn and(self, letters: impl Iterator<Item = Urgency>) -> SentCounts {
        letters.fold(self, |sent, urgency| SentCounts {
            minute: sent.minute + 1,
            day: sent.day + 1,
            strangers: sent.strangers + u32::from(urgency == Urgency::Stranger),
        })
    }
}

//! What is claimed for sending, in which order, and what became of it.

use chrono::{DateTime, Utc};

use super::columns::unsound;
use super::error::Result;
use crate::referee::DispatchKind;

/// Which dispatches go first when not all can be sent. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// To the GM: something is wrong.
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
    pub const ALL: [Urgency; 9] = [
        Urgency::Alarm,
        Urgency::Receipt,
        Urgency::Report,
        Urgency::Result,
        Urgency::Notice,
        Urgency::Stranger,
        Urgency::Reminder,
        Urgency::Digest,
        Urgency::Announcement,
    ];

    /// Reads a stored urgency.
    ///
    /// # Errors
    /// [`StoreError::Unsound`] if there is none with this number.
    pub fn of_number(number: i64) -> Result<Urgency> {
        let found = Urgency::ALL.into_iter().find(|urgency| *urgency as i64 == number);
        found.ok_or_else(|| unsound("urgency", number))
    }

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

/// Which of the due dispatches to claim.
#[derive(Clone, Debug)]
pub struct DispatchScope {
    pub limit: u32,
    pub order: ClaimOrder,
    pub urgencies: Vec<Urgency>,
}

/// Which due dispatches are claimed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimOrder {
    /// The most urgent ones, and the oldest of them.
    MostUrgent,
    /// Those that were tried least often, and the most urgent of them.
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
    /// Failed for good; the GM is told.
    GivenUp {
        error: String,
    },
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

impl DispatchScope {
    /// Returns the scope of any due dispatches.
    pub fn all(limit: u32, order: ClaimOrder) -> DispatchScope {
        DispatchScope { limit, order, urgencies: Urgency::ALL.to_vec() }
    }

    /// Returns the condition that a dispatch is in scope; `d` is `dispatch`.
    pub fn condition(&self) -> String {
        if self.urgencies.len() == Urgency::ALL.len() {
            return "TRUE".to_owned();
        }
        let numbers: Vec<String> =
            self.urgencies.iter().map(|urgency| (*urgency as i64).to_string()).collect();
        format!("d.urgency IN ({})", numbers.join(", "))
    }
}

/// Which dispatches to find; an empty filter finds all of them.
#[derive(Clone, Debug, Default)]
pub struct DispatchFilter {
    pub match_id: Option<String>,
    pub recipient: Option<String>,
    pub only_given_up: bool,
    /// Written then or later.
    pub since: Option<DateTime<Utc>>,
}

/// How many letters were sent, of some urgency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentCount {
    pub urgency: Urgency,
    /// In the present minute.
    pub minute: u32,
    /// In the last 24 hours.
    pub day: u32,
}

//! The kinds of dispatches.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// The kind of a dispatch, as lists, the database and dossiers name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DispatchKind {
    /// To a player who gets a seat, in a new match or in place of another player.
    Invitation,
    /// An answer to a letter.
    Answer,
    /// A seat's turn result.
    Report,
    Reminder,
    /// Which seats missed the deadline, and what follows.
    Missed,
    /// Any other news, and most letters to the GM.
    Notice,
    /// A match offered to one address.
    Challenge,
    /// To the player who made an offer: it lapsed, or was declined.
    Offer,
    /// To the GM: a match does not verify.
    Alarm,
}

impl DispatchKind {
    const ALL: [DispatchKind; 9] = [
        DispatchKind::Invitation,
        DispatchKind::Answer,
        DispatchKind::Report,
        DispatchKind::Reminder,
        DispatchKind::Missed,
        DispatchKind::Notice,
        DispatchKind::Challenge,
        DispatchKind::Offer,
        DispatchKind::Alarm,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            DispatchKind::Invitation => "invitation",
            DispatchKind::Answer => "answer",
            DispatchKind::Report => "report",
            DispatchKind::Reminder => "reminder",
            DispatchKind::Missed => "missed",
            DispatchKind::Notice => "notice",
            DispatchKind::Challenge => "challenge",
            DispatchKind::Offer => "offer",
            DispatchKind::Alarm => "alarm",
        }
    }

    pub fn parse(name: &str) -> Option<DispatchKind> {
        DispatchKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl Display for DispatchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

//! The kinds of dispatches.

use crate::game::names::named_enum;

named_enum! {
    /// The kind of a dispatch, as lists, the database and dossiers name it.
    pub enum DispatchKind {
        /// To a player who gets a seat, in a new match or in place of another player.
        Invitation = "invitation",
        /// An answer to a letter.
        Answer = "answer",
        /// A seat's turn result.
        Report = "report",
        Reminder = "reminder",
        /// Which seats missed the deadline, and what follows.
        Missed = "missed",
        /// Any other news, and most letters to the GM.
        Notice = "notice",
        /// A match offered to one address.
        Challenge = "challenge",
        /// To the player who made an offer: it lapsed, or was declined.
        Offer = "offer",
        /// To the GM: a match does not verify.
        Alarm = "alarm",
    }
}

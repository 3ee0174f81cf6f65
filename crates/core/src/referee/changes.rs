//! The answers to ADDRESS and LEAVE, and to players' answers about such changes.

use serde::{Deserialize, Serialize};

/// The status of a change of a player's addresses, or of the wish to leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ChangeReply {
    /// The registered address `to` was asked, and can answer until `lapses`.
    Asked { to: String, lapses: String },
    /// It was asked less than a day ago.
    AskedBefore { to: String },
    /// The registered address agreed, and the new address was asked.
    AskedNew { address: String, lapses: String },
    /// The registered address agreed before, and the new one has not answered yet.
    NewAwaited { address: String, lapses: String },
    /// Letters go to this address first from now on. Until `undo_until` the change can be undone.
    Added { address: String, undo_until: String },
    /// Letters no longer go to the address.
    Removed { address: String },
    /// The player has resigned these matches, and plays on in those that the question did not list.
    Left { matches: Vec<String>, kept: Vec<String> },
    /// The change was discarded before it took effect.
    Denied,
    /// The change was undone.
    Undone { address: String },
    /// The sender is not registered.
    NoPlayer,
    /// The player already has the address.
    Own { address: String },
    /// The address is not one of the player's.
    NotOwn { address: String },
    /// The address is another player's.
    Taken { address: String },
    /// The address is the referee's own, or one that few mail servers deliver to.
    Unusable { address: String },
    /// The player has `most` addresses already, the limit.
    TooManyAddresses { most: usize },
    /// Too many changes wait for answers.
    TooManyOpen,
    /// The player has asked for `most` changes within a day, the limit.
    TooManyToday { most: usize },
    /// Without this address, the player would have none left, or only new ones.
    NoneLeft { address: String },
    /// The letter came from an address that was added a few days ago. It cannot be used for `command` until
    /// `until`.
    TooNew { command: &'static str, until: String },
    /// The new address has reached its daily limit of letters, so it was not asked.
    Crowded { address: String },
    /// A newcomer can have at most `most` people written to a day, so the new address was not asked.
    NewcomerReach { most: u32 },
    /// LEAVE without CONFIRM.
    LeaveUnconfirmed,
    /// The answer was in a letter about a match.
    AnswerApart,
}

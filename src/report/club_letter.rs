//! Letters that are not about a running match: answers to strangers, offers to play, and mail to the GM.
//!
//! Templates see these values under their serialized names.

use serde::{Deserialize, Serialize};

use super::gm_digest::{GmDigest, GmMatchSummary};
use super::text::wrapped;
use crate::game::Line;
use crate::letter::{Limits, UnreadableReason};
use crate::referee::{DispatchKind, MatchSummary, OfferRejection, OfferSummary, Passing, Rejection, Reply};

/// The content of a letter that is not about a running match.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "plain", rename_all = "snake_case")]
pub enum ClubLetter {
    /// To a sender without a seat's token. `why` says what the letter lacked; `commands_left_out` counts the commands
    /// that were not followed, because there were too many.
    Stranger {
        replies: Vec<Reply>,
        remarks: Vec<Line>,
        why: String,
        question: Option<AskedSender>,
        commands_left_out: usize,
        /// Whether and when the GM gets the letter's words.
        passed_on: Option<Passing>,
    },
    /// To the GM: what somebody wrote who has no seat, or whose letter has no token.
    Words { address: String, message: Vec<String> },
    /// To a challenged player.
    Challenge { by: String, offer: OfferSummary, code: String, lapses: String },
    /// To the player whose offer `to` declined.
    Declined { to: String, offer: OfferSummary },
    /// To the player whose offer lapsed.
    Lapsed { to: Option<String>, offer: OfferSummary, code: String },
    /// To the GM: the result of each line of the GM's letter. `why` says why nothing was done.
    GmAnswer {
        check: bool,
        items: Vec<GmItem>,
        replies: Vec<Reply>,
        remarks: Vec<Line>,
        why: String,
        commands_left_out: usize,
    },
    /// To the GM, daily.
    Digest { digest: Box<GmDigest> },
    /// To the GM: a mail could not be sent.
    GivenUp {
        recipient: String,
        kind: DispatchKind,
        match_id: Option<String>,
        error: String,
        /// The recipient is to blame, and not the letter.
        is_undeliverable: bool,
    },
    /// To the GM: a letter could not be ruled on.
    SetAside { digest: String, sender: String, note: String, attempts: u32 },
    /// To the GM: space is short, and the mailbox is not emptied further.
    LowSpace { free_mb: u64, min_free_mb: u64 },
    /// To the GM: the result of an audit that the GM asked for. `faults` holds what was found in each match that is not
    /// sound.
    AuditReport { checked: usize, faults: Vec<(String, Vec<String>)> },
    /// To the GM: since then the mail server has taken no letter.
    CannotSend { since: String, error: String, waiting: u64 },
    /// To the GM: the house cannot play its turn.
    HouseStuck { match_id: String },
    /// To the GM: a letter in the GM's name came at this time, and is not signed.
    GmUnsigned { at: String },
    /// To a player: a letter in the player's name was not proven to be theirs.
    Unproven { letter: UnprovenSummary, code: String },
    /// About a change of a player's addresses, or about leaving.
    Change { letter: ChangeLetter },
    /// To a player, daily, by the player's wish: the matches that wait for the player's orders.
    PlayerDigest { matches: Vec<MatchSummary> },
    /// To a player and each opponent: the player has a new name, in these matches of the reader.
    Renamed { from: String, to: String, matches: Vec<String> },
    /// To a player: what a GM writes to all, or to all who play a game.
    Announcement {
        gm: String,
        #[serde(borrow)]
        game_name: Option<&'static str>,
        lines: Vec<String>,
    },
    /// To a person whose letters go unread from now on; `gm` is the GM's address.
    Blocked { gm: String },
    /// To the GM: a newcomer wants to play, and waits to be admitted.
    Newcomer { address: String },
    /// To an opponent: a player is away, in these matches of the reader. `days` are the first and last of each absence.
    Absent { name: String, days: Vec<(String, String)>, matches: Vec<String> },
    /// To a player or the GM: a letter reads like an automatic reply. `None` for the GM.
    Suspected { match_id: Option<String> },
    /// To the sender of a letter that cannot be read.
    Unreadable { reason: UnreadableReason, limits: LimitSummary },
}

/// A letter in a player's name, as the player reads of it: nothing that its sender worded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UnprovenSummary {
    pub match_id: String,
    /// When it came, in the zone of the match.
    pub at: String,
    /// Where it claims to be from.
    pub address: String,
    /// It has the player's own address, but no valid signature.
    pub unsigned: bool,
    /// What it asks for: legal words of orders, and the verbs of commands.
    pub asks: Vec<String>,
    /// How many more lines it has.
    pub more: usize,
}

/// A letter about a change that a player asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ChangeLetter {
    /// To a registered address: is `address` to be added?
    AskAdd { address: String, code: String, lapses: String },
    /// To another registered address: is `address` to be removed?
    AskRemove { address: String, code: String, lapses: String },
    /// To a registered address: are these matches to be resigned?
    AskLeave { matches: Vec<String>, code: String, lapses: String },
    /// To a new address: does its owner play here?
    AskNew { code: String, lapses: String },
    /// To an older address: `address` was added.
    Added { address: String, code: String, undo_until: String },
    /// To an address that was removed. Without a code the removal cannot be undone.
    Removed { code: Option<String>, undo_until: String },
    /// To a player whose address another player wanted to add.
    Claimed { address: String },
    /// To the GM: a player undid a change, and has new tokens in these matches.
    Undone { name: String, address: String, matches: Vec<String> },
    /// To the GM: a player left, and resigned these matches.
    Left { name: String, matches: Vec<String> },
}

/// The question to a sender whether a letter came from them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AskedSender {
    pub code: String,
    /// The commands that wait for the answer, as written.
    pub commands: Vec<String>,
    /// Until when they wait, formatted for the reader.
    pub lapses: String,
}

/// One line of the GM's letter and its result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct GmItem {
    pub asked: String,
    pub done: GmResult,
}

/// The result of one of the GM's instructions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
#[serde(tag = "done", rename_all = "snake_case")]
pub enum GmResult {
    /// The instruction was carried out; `line` shows the match after it.
    Match {
        line: GmMatchSummary,
    },
    /// The instruction was only checked; it could be carried out.
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
        /// Whether letters from the first address go unread.
        blocked: bool,
        matches: Vec<String>,
    },
    NoPlayer {
        address: String,
    },
    /// The person was blocked or unblocked, and plays in these matches.
    Blocked {
        address: String,
        on: bool,
        matches: Vec<String>,
    },
    /// The text went to so many readers, or would go with `check`.
    Announced {
        readers: usize,
        lines: Vec<String>,
        check: bool,
    },
    /// The letter waits again, and is ruled on next.
    Accepted {
        letter: String,
        sender: String,
    },
    Refused {
        says: String,
    },
    /// The line has a syntax fault.
    NotRead {
        says: String,
        example: String,
    },
    Digest {
        digest: Option<Box<GmDigest>>,
    },
    /// Nothing was done yet: before a rollback the GM reads what each side saw of the turns that would be void.
    Voided {
        id: String,
        turn: u32,
        seen: Vec<SeenTurn>,
    },
}

/// The news of one adjudication, as one side read it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SeenTurn {
    pub turn: u32,
    pub by: String,
    pub lines: Vec<String>,
}

impl GmResult {
    /// Whether the instruction was carried out, or answered.
    pub fn is_done(&self) -> bool {
        match self {
            GmResult::Match { .. }
            | GmResult::Would
            | GmResult::List { .. }
            | GmResult::Opened { .. }
            | GmResult::Player { .. }
            | GmResult::Blocked { .. }
            | GmResult::Accepted { .. }
            | GmResult::Announced { .. }
            | GmResult::Digest { .. } => true,
            GmResult::Rejection { .. }
            | GmResult::NoMatch { .. }
            | GmResult::TurnPassed { .. }
            | GmResult::NoOffer { .. }
            | GmResult::NoPlayer { .. }
            | GmResult::Voided { .. }
            | GmResult::Refused { .. }
            | GmResult::NotRead { .. } => false,
        }
    }
}

/// The limits on letters, in the units in which people are told.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LimitSummary {
    pub megabytes: usize,
    pub header_kilobytes: usize,
    pub parts: usize,
    pub nesting: usize,
    pub lines: usize,
}

impl ClubLetter {
    /// The letter that passes somebody's words on to the GM.
    pub fn words(address: &str, text: &str) -> ClubLetter {
        ClubLetter::Words { address: address.to_owned(), message: wrapped(text) }
    }

    /// Tells a sender that their letter cannot be read, and why.
    pub fn unreadable(reason: UnreadableReason, limits: &Limits) -> ClubLetter {
        let limits = LimitSummary {
            // Rounded down: a letter of this size is surely read.
            megabytes: limits.max_bytes / 1_000_000,
            header_kilobytes: limits.max_header_bytes / 1000,
            parts: limits.max_parts,
            nesting: limits.max_nesting,
            lines: limits.max_lines,
        };
        ClubLetter::Unreadable { reason, limits }
    }

    pub(super) fn template(&self) -> &'static str {
        match self {
            ClubLetter::Stranger { .. } => "club/stranger.txt",
            ClubLetter::Challenge { .. } => "club/challenge.txt",
            ClubLetter::Declined { .. } | ClubLetter::Lapsed { .. } => "club/offer-ended.txt",
            ClubLetter::GmAnswer { .. } => "gm/answer.txt",
            ClubLetter::Digest { .. } => "gm/digest.txt",
            ClubLetter::GivenUp { .. }
            | ClubLetter::SetAside { .. }
            | ClubLetter::LowSpace { .. }
            | ClubLetter::CannotSend { .. }
            | ClubLetter::HouseStuck { .. }
            | ClubLetter::GmUnsigned { .. } => "gm/trouble.txt",
            ClubLetter::AuditReport { .. } => "gm/audit.txt",
            ClubLetter::Unproven { .. } => "club/unproven.txt",
            ClubLetter::Change { .. } => "club/change.txt",
            ClubLetter::Announcement { .. } => "club/announcement.txt",
            ClubLetter::Blocked { .. } => "club/blocked.txt",
            ClubLetter::PlayerDigest { .. } => "club/digest.txt",
            ClubLetter::Renamed { .. } => "club/renamed.txt",
            ClubLetter::Absent { .. } => "club/absent.txt",
            ClubLetter::Newcomer { .. } => "gm/newcomer.txt",
            ClubLetter::Words { .. } => "gm/words.txt",
            ClubLetter::Suspected { .. } => "club/suspected.txt",
            ClubLetter::Unreadable { .. } => "club/unreadable.txt",
        }
    }

    /// The letter's replies, some of which may be pages of the manual.
    pub(super) fn replies(&self) -> &[Reply] {
        match self {
            ClubLetter::Stranger { replies, .. } | ClubLetter::GmAnswer { replies, .. } => replies,
            ClubLetter::Challenge { .. }
            | ClubLetter::Declined { .. }
            | ClubLetter::Lapsed { .. }
            | ClubLetter::Digest { .. }
            | ClubLetter::GivenUp { .. }
            | ClubLetter::SetAside { .. }
            | ClubLetter::LowSpace { .. }
            | ClubLetter::AuditReport { .. }
            | ClubLetter::CannotSend { .. }
            | ClubLetter::HouseStuck { .. }
            | ClubLetter::GmUnsigned { .. }
            | ClubLetter::Unproven { .. }
            | ClubLetter::Change { .. }
            | ClubLetter::Announcement { .. }
            | ClubLetter::Blocked { .. }
            | ClubLetter::PlayerDigest { .. }
            | ClubLetter::Renamed { .. }
            | ClubLetter::Absent { .. }
            | ClubLetter::Newcomer { .. }
            | ClubLetter::Words { .. }
            | ClubLetter::Suspected { .. }
            | ClubLetter::Unreadable { .. } => &[],
        }
    }
}

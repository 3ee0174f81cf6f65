//! The values that the store takes and returns.

use chrono::{DateTime, Utc};

use super::Result;
use super::packing::{read_maybe_damaged, read_our_letter};
use super::rows::{Record, Row, read_place, record};
use super::sending::Urgency;
use crate::club::member::Member;
use crate::club::rating::RatingChange;
use crate::club::reliability::OwedTurn;
use crate::game::any::GameKind;
use crate::game::{Seat, named_enum};
use crate::ledger::PlayerSettings;
use crate::letter::{Digest, ReturnId};
use crate::referee::{DispatchKind, MatchOverview};

/// The beginning of the origin of a letter that was found in the provider's spam folder.
pub const FROM_SPAM: &str = "spam:";

/// A letter as it arrived, not yet parsed.
#[derive(Clone, Debug)]
pub struct NewLetter {
    pub digest: Digest,
    pub raw: Vec<u8>,
    pub received_at: DateTime<Utc>,
    /// Its place in the mailbox, as text for people: `imap:INBOX/1/57`.
    pub origin: String,
    /// Identifies, together with the sender, a letter that was sent twice. Empty if it has none.
    pub message_id: String,
    /// The digest of its text, if an earlier letter has the same Message-ID and sender but another text.
    pub new_text: Option<Digest>,
    pub sender: String,
    pub subject: String,
    /// The reply tokens that are found without decoding it. The first one names its lane, and a letter with a
    /// seat's token comes before strangers' letters.
    pub tokens: Vec<String>,
    /// Whether it is from a GM, and so comes before strangers' letters.
    pub is_from_gm: bool,
}

record! {
    /// A letter that waits for a ruling.
    #[derive(Clone, Debug)]
    pub struct WaitingLetter {
        pub digest: Digest,
        #[read_with(read_maybe_damaged)]
        pub raw: Vec<u8>,
        pub received_at: DateTime<Utc>,
        /// Failed attempts to rule on it.
        pub tries: u32,
        /// The lane in which letters stay in order: the match of the first visible reply token, or else the
        /// sender.
        pub lane: String,
        /// Whether it is from the address of a player or a GM, or has a seat's reply token.
        pub known: u32,
        /// The GM who accepted it, after it was taken for a machine's or could not be ruled on.
        pub accepted_by: Option<String>,
        /// Whether it was found in the provider's spam folder.
        pub is_spam: bool,
    }
}

impl WaitingLetter {
    /// Returns a letter without the data in its row.
    pub fn new(digest: Digest, raw: Vec<u8>, received_at: DateTime<Utc>) -> WaitingLetter {
        let (tries, lane, known, accepted_by, is_spam) = Default::default();
        WaitingLetter { digest, raw, received_at, tries, lane, known, accepted_by, is_spam }
    }
}

named_enum! {
    /// The status of a letter.
    pub enum LetterStatus {
        /// Waits for a ruling.
        Waiting = "waiting",
        /// It acted for a seat, and was answered.
        Ruled = "ruled",
        /// Answered without affecting a match.
        Answered = "answered",
        /// Sent by a machine: neither answered nor acted on.
        Automatic = "automatic",
        /// A copy of an earlier letter: no second effect, no second answer.
        Repeated = "repeated",
        /// Not from a known sender, or beyond the limits; not answered.
        Ignored = "ignored",
        /// Ruling on it failed three times, and the GM was told.
        SetAside = "set_aside",
    }
}

/// A decision on a letter, with the reason.
#[derive(Clone, Debug)]
pub struct LetterDecision {
    pub digest: Digest,
    pub status: LetterStatus,
    /// One line for the GM: `an absence note`, `no reply token of a seat`.
    pub note: String,
    pub seat: Option<(String, Seat)>,
    /// The GM who accepts it by this decision; it then waits to be ruled on as a person's letter.
    pub accepted_by: Option<String>,
}

/// A letter that is deferred.
#[derive(Clone, Debug)]
pub struct Postponed {
    pub digest: Digest,
    /// The reason, for the GM.
    pub note: String,
    /// The earliest time to rule on it again. `None` means at once: ruling on it failed, and the failure is
    /// counted.
    pub until: Option<DateTime<Utc>>,
    /// The match in which it will act. Nobody is late in it until the letter is ruled on.
    pub match_id: Option<String>,
}

record! {
    /// A letter in a list.
    #[derive(Clone, Debug)]
    pub struct LetterRow {
        pub digest: Digest,
        pub received_at: DateTime<Utc>,
        pub decided_at: Option<DateTime<Utc>>,
        pub sender: String,
        pub subject: String,
        pub size: u64,
        pub status: LetterStatus,
        pub note: String,
        #[read_with(read_place)]
        pub seat: Option<(String, Seat)>,
        /// The time at which its bytes were deleted, because it caused no ledger entry.
        pub bytes_deleted_at: Option<DateTime<Utc>>,
    }
}

record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Player {
        pub id: i64,
        pub name: String,
        /// Addresses in lower case; letters go to the first. Each row of the database holds one of them.
        #[read_with(read_address)]
        pub addresses: Vec<String>,
        /// Whether our letters to this player bounce.
        pub bouncing: bool,
        pub settings: PlayerSettings,
        pub member: Member,
    }
}

impl Player {
    /// Whether it is the house, whose name takes the place of an address.
    pub fn is_house(&self) -> bool {
        self.addresses.iter().any(|address| !address.contains('@'))
    }
}

/// Reads one of a player's addresses, or none.
fn read_address(row: Row<'_>) -> Result<Vec<String>> {
    Ok(row.get::<Option<String>>("address")?.into_iter().collect())
}

record! {
    /// A seat found by its reply token.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TokenRow {
        pub token: String,
        pub match_id: String,
        pub seat: Seat,
        #[read_with(Record::from_row)]
        pub player: Player,
    }
}

/// The letters to find; an empty filter finds all of them.
#[derive(Clone, Debug, Default)]
pub struct LetterFilter {
    pub status: Option<LetterStatus>,
    /// Only letters that were ruled on in this match.
    pub match_id: Option<String>,
    /// The first hexadecimal digits of the digest.
    pub digest_prefix: String,
    /// Only letters from one of these addresses; empty: from anybody.
    pub senders: Vec<String>,
    /// Only letters received at this time or later.
    pub since: Option<DateTime<Utc>>,
}

/// A match as it was stored before the procedure changed, under the SHA-256 of its JSON, which an entry
/// names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSnapshot {
    pub match_id: String,
    pub json: String,
}

record! {
    /// A stored match: its snapshot as JSON, and the columns that find it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MatchRow {
        /// `QZ-7K3M`.
        pub id: String,
        /// The columns that lists show.
        #[read_with(Record::from_row)]
        pub overview: MatchOverview,
        /// The next time at which the clock has to decide something, or `None` for never.
        pub wake_at: Option<DateTime<Utc>>,
        pub snapshot: String,
        /// Number of commits that changed the match; 0 if it is not stored yet.
        pub version: i64,
    }
}

record! {
    /// The snapshot of a stored match, as JSON, and the version at which it was loaded: see [`MatchRow`].
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SnapshotRow {
        pub id: String,
        pub snapshot: String,
        pub version: i64,
    }
}

impl From<MatchRow> for SnapshotRow {
    fn from(row: MatchRow) -> SnapshotRow {
        SnapshotRow { id: row.id, snapshot: row.snapshot, version: row.version }
    }
}

/// A seat: its player, and the reply token of its letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatRow {
    pub match_id: String,
    pub seat: Seat,
    pub player_id: i64,
    pub token: String,
}

/// A player to add, with the seats that they get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newcomer {
    pub name: String,
    /// Letters go to the first.
    pub addresses: Vec<String>,
    /// Match, seat and reply token of each.
    pub seats: Vec<(String, Seat, String)>,
}

/// One mail to one person, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDispatch {
    /// Without angle brackets; the same at every attempt.
    pub message_id: String,
    pub recipient: String,
    pub bytes: Vec<u8>,
    pub kind: DispatchKind,
    pub match_id: Option<String>,
    pub seat: Option<Seat>,
    /// The letter that it answers.
    pub answers: Option<Digest>,
    /// The subject of a reminder, by [`reminds`](super::reminds): the reminder lapses once that has changed.
    pub reminds: Option<String>,
    /// The earliest time to send it, if a budget delays it.
    pub due: Option<DateTime<Utc>>,
    /// The pin of a letter of the same match that it replaces, unless that one is being sent.
    pub replaces: Option<Digest>,
    pub urgency: Urgency,
    /// Its pin, if the ledger of its match lists deliveries.
    pub pin: Option<Digest>,
    /// The ID in its return path, if the config asks for one.
    pub return_id: Option<ReturnId>,
}

record! {
    /// A dispatch claimed for sending.
    #[derive(Clone, Debug)]
    pub struct Claimed {
        pub id: i64,
        pub message_id: String,
        pub recipient: String,
        #[read_with(read_our_letter)]
        pub bytes: Vec<u8>,
        pub kind: DispatchKind,
        pub match_id: Option<String>,
        /// Earlier attempts to send it.
        pub tries: u32,
        pub urgency: Urgency,
        /// The seat that it is written to.
        pub seat: Option<Seat>,
        pub created_at: DateTime<Utc>,
        /// The ID in its return path, if it was given one.
        pub return_id: Option<ReturnId>,
        /// Whether it is a reminder whose subject has changed.
        pub has_lapsed: bool,
    }
}

record! {
    /// The times at which a match was opened and ended.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MatchDates {
        pub id: String,
        /// `None` if its ledger has lost its beginning.
        pub opened_at: Option<DateTime<Utc>>,
        /// `None` while it is not over, even if it was over before.
        pub ended_at: Option<DateTime<Utc>>,
    }
}

record! {
    /// A dispatch in a list.
    #[derive(Clone, Debug)]
    pub struct DispatchRow {
        pub id: i64,
        pub message_id: String,
        pub recipient: String,
        pub kind: DispatchKind,
        pub match_id: Option<String>,
        pub seat: Option<Seat>,
        pub created_at: DateTime<Utc>,
        pub sent_at: Option<DateTime<Utc>>,
        pub tries: u32,
        /// Whether it is going to be sent.
        pub waiting: bool,
        pub given_up_at: Option<DateTime<Utc>>,
        pub error: String,
        /// Whether it bounced.
        pub returned: bool,
    }
}

record! {
    /// A dispatch with its bytes.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SentRow {
        pub id: i64,
        pub message_id: String,
        pub recipient: String,
        pub kind: DispatchKind,
        pub seat: Option<Seat>,
        pub sent_at: Option<DateTime<Utc>>,
        #[read_with(read_our_letter)]
        pub bytes: Vec<u8>,
    }
}

record! {
    /// An offer to play.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Invitation {
        /// Players accept the invitation by this code.
        pub code: String,
        /// Address of the player who offers.
        pub inviter: String,
        pub inviter_name: String,
        /// Address of the invited player, or `None` for anyone.
        pub invited: Option<String>,
        pub game: GameKind,
        /// Options, days and seat as JSON.
        pub offer: String,
        pub stage: InvitationStage,
        /// The match that was opened when it was accepted.
        pub match_id: Option<String>,
        pub created_at: DateTime<Utc>,
        pub lapses_at: DateTime<Utc>,
        /// The invited person as the offer named them: by name and number, or by an address as its author
        /// wrote it. Letters to its author show no other address.
        pub invited_name: Option<String>,
        /// The match that a REMATCH follows.
        pub rematch_of: Option<String>,
        /// The code of the standing offer that this seat was taken from.
        pub taken_from: Option<String>,
        /// The number of times that a standing offer was taken.
        pub taken: u32,
    }
}

/// A turn that a player owed, as [`owed_turns`](crate::club::reliability::owed_turns) found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedTurnRow {
    pub match_id: String,
    pub player_id: i64,
    pub turn: OwedTurn,
}

/// A player's rating in a game after a rated result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatingRow {
    pub game: GameKind,
    pub change: RatingChange,
}

/// All ratings of a game, recomputed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatingsAnew {
    pub game: GameKind,
    /// Their number when they were loaded.
    pub loaded: usize,
    pub rows: Vec<RatingRow>,
}

record! {
    /// A player as the club lists them.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ListedPlayer {
        pub id: i64,
        pub name: String,
        pub member: Member,
        /// The first address; `None` if the player was forgotten.
        pub address: Option<String>,
    }
}

impl ListedPlayer {
    /// Whether it is a person with an address, rather than the house, whose name takes the place of an
    /// address.
    pub fn is_person(&self) -> bool {
        self.address.as_deref().is_some_and(|address| address.contains('@'))
    }
}

named_enum! {
    /// The reason why a letter is left in its folder.
    pub enum LeftReason {
        /// It arrived before the mark of its mailbox.
        Old = "old",
        /// It answers a letter of another club, which reads the same mailbox.
        Foreign = "foreign",
        /// It is stored, but the mailbox did not let it be moved.
        Unfiled = "unfiled",
        /// The database rejects it.
        Rejected = "rejected",
    }
}

named_enum! {
    /// The state of an invitation.
    pub enum InvitationStage {
        Open = "open",
        Taken = "taken",
        Declined = "declined",
        Lapsed = "lapsed",
    }
}

record! {
    /// A letter with the reply token of a seat or a GM that was not proven to be from its owner.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct UnprovenLetter {
        pub letter: Digest,
        /// The code by which the player answers the notice about it. Letters from one address share it.
        pub code: String,
        /// The player in whose name it came, and the match and the seat of its token. `None` for a GM's
        /// letter.
        pub player_id: Option<i64>,
        pub match_id: Option<String>,
        pub seat: Option<Seat>,
        /// The registered address of the GM in whose name it came.
        pub gm: Option<String>,
        /// The address that the letter claims as its sender.
        pub address: String,
        pub noted_at: DateTime<Utc>,
        /// Whether a notice was sent because of this letter.
        pub told: bool,
        pub stage: UnprovenStage,
        /// The player's letter that confirmed it.
        pub confirmed_by: Option<Digest>,
    }
}

named_enum! {
    /// The player's answer about an unproven letter.
    pub enum UnprovenStage {
        Open = "open",
        Confirmed = "confirmed",
        Denied = "denied",
    }
}

record! {
    /// The lengths of the queues, and the times at which their oldest items began to wait.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Queues {
        pub letters_waiting: u64,
        pub oldest_letter: Option<DateTime<Utc>>,
        pub dispatches_waiting: u64,
        /// A time in the future if a budget delays every waiting dispatch.
        pub oldest_dispatch: Option<DateTime<Utc>>,
        /// The error of the waiting dispatch that was tried in vain and is the oldest of these.
        pub dispatch_error: Option<String>,
        pub given_up: u64,
        /// Dispatches given up that nobody has acknowledged.
        pub given_up_unseen: u64,
        pub matches_running: u64,
        /// Letters set aside because ruling on them failed.
        pub set_aside: u64,
        /// The next time at which the clock has to decide something. If it is in the past, the clock is late.
        pub next_wake: Option<DateTime<Utc>>,
        #[read_with(Record::from_row)]
        pub latest: LatestTimes,
    }
}

record! {
    /// The latest time to which items of each kind are deferred.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct LatestTimes {
        pub letter: Option<DateTime<Utc>>,
        pub dispatch: Option<DateTime<Utc>>,
        pub digest: Option<DateTime<Utc>>,
        pub wake: Option<DateTime<Utc>>,
    }
}

named_enum! {
    /// Work that another daemon or command queued.
    pub enum Wakeup {
        /// Letters wait for a ruling.
        Letters = "letters",
        /// Dispatches wait to be sent.
        Dispatches = "dispatches",
    }
}

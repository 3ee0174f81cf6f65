//! Letters that are not about a running match: answers to strangers, offers to play, and mail to the GM.
//!
//! Templates see these values under their serialized names.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use super::gm_digest::{FullWords, GmDigest, GmMatchSummary, GmMeant, ShortList};
use super::text::wrap_lines;
use crate::game::{Line, Seat};
use crate::ledger::TermsChange;
use crate::letter::authentic::SignatureFault;
use crate::letter::{Limits, UnreadableReason};
use crate::referee::{
    DispatchKind, EventLine, EventLoad, MatchSummary, OfferRejection, OfferSummary, OpenOffer, Passing,
    PlanFault, Rejection, Reply, Standings,
};

/// The content of a letter that is not about a running match.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "plain", rename_all = "snake_case")]
pub enum ClubLetter {
    /// Answers a sender without a seat's token. `why` says what the letter lacked; `commands_left_out` counts
    /// the commands that were not followed because there were too many.
    Stranger {
        replies: Vec<Reply>,
        remarks: Vec<Line>,
        why: String,
        question: Option<AskedSender>,
        commands_left_out: usize,
        /// Whether and when the GM gets the letter's words.
        passed_on: Option<Passing>,
        /// The lines that answer our question to the sender, repeated.
        asked_again: Vec<String>,
        /// Whether the sender is a player.
        is_known: bool,
        /// Whether the letter asks for no more mail.
        wishes_no_mail: bool,
        /// Whether the letter speaks of playing.
        wants_to_play: bool,
    },
    /// Passes a message on to the GM, from somebody who has no seat or whose letter has no token.
    Words { address: String, message: Vec<String> },
    /// Invites a challenged player. `filed` is the author's reliability, `again` the match that a REMATCH
    /// follows.
    Challenge {
        by: String,
        filed: String,
        offer: OfferSummary,
        code: String,
        lapses: String,
        again: Option<String>,
    },
    /// Tells a player that `to` declined their offer.
    Declined { to: String, offer: OfferSummary },
    /// Tells a player that their offer lapsed.
    Lapsed { to: Option<String>, offer: OfferSummary, code: String },
    /// Tells the GM the result of each line of the GM's letter, or in `why` the reason why nothing was done.
    GmAnswer {
        check: bool,
        items: Vec<GmItem>,
        replies: Vec<Reply>,
        remarks: Vec<Line>,
        why: String,
        commands_left_out: usize,
        /// Present if the letter holds nothing but words.
        meant: Option<GmMeant>,
    },
    /// Sums up the day for the GM.
    Digest { digest: Box<GmDigest> },
    /// Brings the words of players in full that the day's digest has no room for.
    WordsInFull { words: ShortList<FullWords> },
    /// Alerts the GM to trouble at once. `more` counts further trouble of the same kind since the last such
    /// letter.
    Trouble { trouble: Trouble, more: u32 },
    /// Warns the GM at once of what does not verify.
    Alarm { failed: Vec<FailedCheck> },
    /// Tells the GM the result of a requested audit. `faults` names what is unsound, each
    /// with its findings.
    AuditReport { checked: usize, faults: Vec<(String, Vec<String>)> },
    /// Asks a GM about a letter in their name that was not proven to be theirs.
    GmUnproven { letter: GmUnprovenSummary, code: String },
    /// Asks a player about a letter in their name that was not proven to be theirs.
    Unproven { letter: UnprovenSummary, code: String },
    /// Tells a player, or a GM if there is no match, that a letter waits until a name server shows whether its
    /// signature is valid, at the latest until `until`.
    SignatureWaits { match_id: Option<String>, at: String, until: String },
    /// Tells a player that letters in their name were confirmed from the unregistered address that they came
    /// from.
    ConfirmedFromAlias { address: String, letters: usize, matches: Vec<String> },
    /// Gives a GM a new reply token.
    GmToken,
    /// Asks or tells about a change of a player's addresses, or about leaving.
    Change { letter: ChangeLetter },
    /// Lists, once a day, the matches that wait for a player's orders. Players can ask for it. `seats` holds
    /// open seats of other players.
    PlayerDigest { matches: Vec<MatchSummary>, seats: Vec<OpenOffer> },
    /// Tells a player and each opponent the player's new name; `matches` holds the reader's matches.
    Renamed { from: String, to: String, matches: Vec<String> },
    /// Passes on a GM's message to all players, or to all players of a game.
    Announcement {
        gm: String,
        #[serde(borrow)]
        game_name: Option<&'static str>,
        lines: Vec<String>,
    },
    /// Tells a player that their rating was recomputed, because a result was corrected or voided.
    Rerated { game: &'static str, game_name: &'static str, before: String, after: String },
    /// Tells players or GMs about an event.
    Event { event: Box<EventLine>, letter: EventLetter },
    /// Tells a person that their letters go unread from now on; `gm` is the GM's address.
    Blocked { gm: String },
    /// Tells the GM that a newcomer is waiting to be admitted, and what they wrote.
    Newcomer { address: String, name: String, lines: Vec<String> },
    /// Tells a newcomer that they are admitted; `lines` holds the commands that nobody carried out.
    Admitted { name: String, lines: Vec<String> },
    /// Tells a newcomer that they are not admitted; `gm` is the GM's address.
    NotAdmitted { words: String, gm: String },
    /// Tells an opponent in these matches that a player is away. `days` holds the first and last day of each
    /// absence.
    Absent { name: String, days: Vec<(String, String)>, matches: Vec<String> },
    /// Asks a player, or the GM if there is no match, about a letter that reads like an automatic reply.
    Suspected { match_id: Option<String>, matches: Vec<MatchSummary> },
    /// Tells a GM that a backup was restored, which knows nothing later than `until`: that letters since then were
    /// decided again, which matches no letter opens again, which are still `behind` what their players have, and of
    /// which the clock may have decided the open turn. `again`: a letter has proved that more is missing since then.
    Restored {
        until: String,
        letters: usize,
        again: bool,
        lost: ShortList<LostMatch>,
        behind: ShortList<BehindMatch>,
        overdue: ShortList<BehindMatch>,
    },
    /// Tells a person who wrote about matches that a restored backup does not know that these are lost; `gm` is the
    /// GM's address. A match whose name their letters do not show is empty.
    Lost { until: String, matches: Vec<String>, gm: String },
    /// Tells a player that matches stand again where a restored backup has them, which knows nothing later than
    /// `until`.
    Behind { until: String, matches: Vec<BehindMatch> },
    /// Tells a sender that their letter cannot be read.
    Unreadable { reason: UnreadableReason, limits: LimitSummary },
}

/// The news of an event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum EventLetter {
    /// Tells a player of a section that it begins. Missing `missed` turns in a row loses a match.
    Started {
        section: usize,
        sections: usize,
        matches: Vec<StartedMatch>,
        decides: String,
        missed: u32,
        gm: String,
    },
    /// Tells a player what would be decided if the season ended now.
    Ending { matches: Vec<EndingMatch>, decides: String },
    /// Tells a player the standings at the end; `on` says whether the player is in the next season.
    Standings { standings: Box<Standings>, on: bool },
    /// Tells a player that a GM cancelled the event.
    Cancelled { gm: String, reason: String, has_begun: bool },
    /// Asks a GM to decide, because too few have entered.
    TooFew { least: usize },
    /// Tells a GM that matches of a section did not open, because no letter reaches these players.
    Unreachable { players: Vec<String> },
    /// Asks a GM to decide the matches that run at the end.
    Unfinished { matches: Vec<String> },
    /// Tells a GM how a season went. `without` is the number of matches without a result.
    Report { players: usize, matches: usize, without: usize, top: Vec<String>, vanished: Vec<String> },
}

/// A match that begins in an event, as one of its players reads it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StartedMatch {
    pub id: String,
    pub foe: String,
    /// The name of the reader's side.
    pub side: String,
}

/// A match that runs near the end of its season, as one of its players reads it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndingMatch {
    pub id: String,
    pub foe: String,
    /// The time that the reader has used, such as `31 d 4 h`.
    pub own: String,
    pub theirs: String,
    /// `won`, `lost` or `drawn`.
    pub decided: String,
}

/// Trouble that GMs are told about at once, within limits.
#[derive(Clone, Debug, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(tag = "is", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Trouble {
    /// A mail could not be sent.
    GivenUp {
        recipient: String,
        kind: DispatchKind,
        match_id: Option<String>,
        error: String,
        /// Whether the recipient is at fault rather than the letter.
        is_undeliverable: bool,
        /// Whether a player has this address.
        is_player: bool,
    },
    /// A letter could not be ruled on.
    SetAside { digest: String, sender: String, note: String, attempts: u32 },
    /// Space is short, and no more mail is fetched.
    LowSpace { free_mb: u64, min_free_mb: u64 },
    /// The clock has jumped since it was last trusted, and the GM is asked whether it is right.
    ClockDoubted { now: String, last: String, apart: String },
    /// The mail server has accepted no letter since `since`.
    CannotSend { since: String, error: String, waiting: u64 },
    /// The mailbox has been unreadable since `since`.
    CannotRead { since: String, reason: String },
    /// The database did not answer from `since` until `until`; without an end, these matches are waiting for a lock in it.
    DatabaseAway { since: String, until: Option<String>, why: String, waiting: Vec<String> },
    /// A mail server keeps refusing the letters to these people, and to `more` others.
    /// `domain` is the club's own, if the server doubts that the letters are from there, and `dns` says what the
    /// DNS shows of it.
    KeepsRefusing { people: Vec<RefusedPerson>, more: usize, domain: Option<String>, dns: Vec<String> },
    /// The house cannot play its turn.
    HouseStuck { match_id: String },
    /// A list or a forwarder before the club's mailbox puts its own address into the From of players' letters.
    Relayed { address: String },
    /// Stands for further alarms of a kind, which are only counted.
    More { of: String },
}

impl Trouble {
    /// The kind of [`Trouble::SetAside`].
    pub const SET_ASIDE: &'static str = "set_aside";

    /// Returns the kinds that are counted.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        Trouble::VARIANTS.iter().copied().filter(|kind| *kind != "more")
    }

    /// Returns the kind by which alarms are counted.
    pub fn kind(&self) -> &str {
        match self {
            Trouble::More { of } => of,
            counted => counted.into(),
        }
    }
}

/// A person whose letters a mail server keeps refusing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RefusedPerson {
    /// The player with this address, if there is one.
    pub name: Option<String>,
    pub address: String,
    /// Number of letters that wait.
    pub letters: usize,
    /// The time at which the first of them was written, in the club's zone.
    pub since: String,
    /// The server's last words.
    pub error: String,
}

/// Something that does not verify, as the alarm to the GM describes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FailedCheck {
    /// A noun phrase, such as `The ledger of match QZ-7K3M`.
    pub name: String,
    /// Whether it is a match that is paused because of that.
    pub is_paused: bool,
    /// The findings, each a clause.
    pub findings: Vec<String>,
}

/// A match that a restored backup does not know, and the addresses of those who wrote about it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LostMatch {
    pub id: String,
    pub people: Vec<String>,
}

/// A match about which its players have later letters than the restored backup knows, and its open turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BehindMatch {
    pub id: String,
    pub turn: u32,
}

/// A letter in a player's name, as described to the player, without any of the sender's own text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UnprovenSummary {
    pub match_id: String,
    /// The time at which it came, in the zone of the match.
    pub at: String,
    /// The sender's address, as claimed.
    pub address: String,
    /// Why its signature proves nothing, if it has the player's own address.
    pub fault: Option<SignatureFault>,
    /// Whether the address is that of a list or a forwarder, which took the place of the sender's.
    pub relayed: bool,
    /// Its requests: the legal words of its orders, and the verbs of its commands.
    pub asks: Vec<String>,
    /// The number of its other lines.
    pub more: usize,
}

/// A letter in a GM's name, as described to the GM, without any free text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GmUnprovenSummary {
    /// The time at which it came, in the club's zone.
    pub at: String,
    /// The sender's address, as claimed.
    pub address: String,
    /// Why its signature proves nothing, if it is from an address of the GM.
    pub fault: Option<SignatureFault>,
    /// The beginnings of its instructions.
    pub asks: Vec<String>,
    /// The number of its other instructions.
    pub more: usize,
}

/// A letter about a change that a player asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ChangeLetter {
    /// Asks a registered address whether to add `address`.
    AskAdd { address: String, code: String, lapses: String },
    /// Asks another registered address whether to remove `address`.
    AskRemove { address: String, code: String, lapses: String },
    /// Asks a registered address whether to resign these matches, each with its game and the opponent.
    AskLeave { matches: Vec<String>, code: String, lapses: String },
    /// Asks a new address whether its owner plays here.
    AskNew { code: String, lapses: String },
    /// Tells an older address that `address` was added.
    Added { address: String, code: String, undo_until: String },
    /// Tells each address of a player that a GM has added `address`, or has made it the first.
    AddedByGm { address: String, gm: String },
    /// Tells an address that it was removed. Without a code the removal cannot be undone.
    Removed { code: Option<String>, undo_until: String },
    /// Tells a player that another player wanted to add their address.
    Claimed { address: String },
    /// Tells the GM that a player undid a change and has new tokens in these matches.
    Undone { name: String, address: String, matches: Vec<String> },
    /// Tells the GM that a player left and resigned these matches.
    Left { name: String, matches: Vec<String> },
}

/// The question to a sender whether they wrote a letter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AskedSender {
    pub code: String,
    /// The commands that wait for the answer, as written.
    pub commands: Vec<String>,
    /// The time until which they wait, formatted for the reader.
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
    /// The instruction was carried out; `line` shows the match after it, `told` the players who get a letter about it, and
    /// `terms` the terms that it changed.
    Match { line: GmMatchSummary, told: Vec<String>, terms: Option<TermsChange> },
    /// The instruction was only checked; it can be carried out.
    Would {
        /// A sentence that says what would be done; empty if the rest or the instruction itself says it.
        #[serde(default)]
        says: String,
        /// The match as it would be, unless that would tell how an open turn ends.
        #[serde(default)]
        line: Option<Box<GmMatchSummary>>,
        /// The event as it would be.
        #[serde(default)]
        event: Option<Box<EventLine>>,
        /// The terms that would change.
        #[serde(default)]
        terms: Option<TermsChange>,
        /// The players who would get a letter about it.
        #[serde(default)]
        told: Vec<String>,
    },
    #[serde(rename = "untaken")]
    /// The match did not accept the act.
    Rejection { id: String, untaken: Rejection },
    /// The deadlines of these late matches were moved by these days, or would be with `check`; `more` counts those that
    /// were left for the next time.
    ExtendedLate { days: u32, matches: Vec<String>, more: usize, check: bool },
    /// There is no such match.
    NoMatch { id: String },
    /// The instruction was for another turn than the open one.
    TurnPassed { id: String, turn: u32, open: Option<u32> },
    /// The matches of a list.
    List { lines: Vec<GmMatchSummary> },
    /// A match was opened. `namesakes` says whose names look like those of its players.
    Opened { id: String, namesakes: Vec<String> },
    /// No match can be opened like that.
    NoOffer { no: OfferRejection },
    /// A player, as they are registered.
    Player {
        name: String,
        addresses: Vec<String>,
        bouncing: bool,
        /// Whether letters from the first address go unread.
        blocked: bool,
        matches: Vec<String>,
        /// A sentence, if the names of others look like this one.
        namesakes: Vec<String>,
        /// Whether they waited to be admitted, and were told that they are.
        #[serde(default)]
        admitted: bool,
        /// Such as `P-12`.
        #[serde(default)]
        number: String,
        /// The matches that are not over, if they were asked for.
        #[serde(default)]
        running: Vec<GmMatchSummary>,
        /// The number of those that are over, if they were asked for.
        #[serde(default)]
        finished: usize,
    },
    /// The person was not admitted, and is told so.
    NotAdmitted { address: String, name: String },
    /// Nobody is registered with this address.
    NoPlayer { address: String },
    /// The person was blocked or unblocked, and plays in these matches.
    Blocked { address: String, on: bool, matches: Vec<HeldSeat> },
    /// The event after an act, or with `load` as it was announced; with `check` as it would be. `says` tells whom the act
    /// was about, and what follows at once.
    Event {
        event: Box<EventLine>,
        load: Option<EventLoad>,
        #[serde(default)]
        says: String,
        check: bool,
    },
    /// A plan was refused, for these faults.
    PlanRefused { faults: Vec<PlanFault> },
    /// The text went to this many readers, or would go to them if `check` is set.
    Announced { readers: usize, lines: Vec<String>, check: bool },
    /// The letter is queued again, and is ruled on next.
    Accepted { letter: String, sender: String },
    /// The instruction cannot be carried out, for this reason.
    Refused { says: String },
    /// The form is older than a change of what it is about.
    Stale,
    /// The machine's clock counts as right.
    ClockConfirmed,
    /// The line has a syntax fault.
    NotRead { says: String, example: String },
    /// The digest, if there is news for it.
    Digest { digest: Option<Box<GmDigest>> },
    /// Nothing has been done yet. Before a rollback, the GM reads what each side saw of the turns that would
    /// be voided.
    Voided { id: String, turn: u32, seen: Vec<SeenTurn> },
}

/// The seat that a person holds in a match.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HeldSeat {
    pub id: String,
    pub seat: Seat,
}

/// The news of one adjudication, as one side read it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SeenTurn {
    pub turn: u32,
    pub by: String,
    pub lines: Vec<String>,
}

impl GmResult {
    /// Refuses an instruction with a sentence.
    pub fn refused(says: impl Into<String>) -> GmResult {
        GmResult::Refused { says: says.into() }
    }

    /// Says what would be done.
    pub fn would(says: impl Into<String>) -> GmResult {
        GmResult::Would { says: says.into(), line: None, event: None, terms: None, told: Vec::new() }
    }

    /// Whether the instruction was carried out, or answered.
    pub fn is_done(&self) -> bool {
        !matches!(
            self,
            GmResult::Rejection { .. }
                | GmResult::NoMatch { .. }
                | GmResult::TurnPassed { .. }
                | GmResult::NoOffer { .. }
                | GmResult::NoPlayer { .. }
                | GmResult::Voided { .. }
                | GmResult::Refused { .. }
                | GmResult::Stale
                | GmResult::PlanRefused { .. }
                | GmResult::NotRead { .. }
        )
    }
}

/// The limits on letters, in the units used in letters.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LimitSummary {
    pub megabytes: usize,
    pub header_kilobytes: usize,
    pub parts: usize,
    pub nesting: usize,
    pub lines: usize,
}

impl ClubLetter {
    /// Passes somebody's words on to the GM.
    pub fn words(address: &str, text: &str) -> ClubLetter {
        ClubLetter::Words { address: address.to_owned(), message: wrap_lines(text) }
    }

    /// Tells a sender that their letter cannot be read, and why.
    pub fn unreadable(reason: UnreadableReason, limits: &Limits) -> ClubLetter {
        let limits = LimitSummary {
            // Round down, so that a letter of this size is always read.
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
            ClubLetter::WordsInFull { .. } => "gm/more-words.txt",
            ClubLetter::Trouble { .. } => "gm/trouble.txt",
            ClubLetter::GmUnproven { .. } => "gm/unproven.txt",
            ClubLetter::GmToken => "gm/token.txt",
            ClubLetter::Alarm { .. } => "gm/alarm.txt",
            ClubLetter::AuditReport { .. } => "gm/audit.txt",
            ClubLetter::Unproven { .. } => "club/unproven.txt",
            ClubLetter::SignatureWaits { .. } => "club/signature-waits.txt",
            ClubLetter::ConfirmedFromAlias { .. } => "club/confirmed.txt",
            ClubLetter::Change { .. } => "club/change.txt",
            ClubLetter::Event { .. } => "club/event.txt",
            ClubLetter::Announcement { .. } => "club/announcement.txt",
            ClubLetter::Blocked { .. } => "club/blocked.txt",
            ClubLetter::Rerated { .. } => "club/rerated.txt",
            ClubLetter::PlayerDigest { .. } => "club/digest.txt",
            ClubLetter::Renamed { .. } => "club/renamed.txt",
            ClubLetter::Absent { .. } => "club/absent.txt",
            ClubLetter::Newcomer { .. } => "gm/newcomer.txt",
            ClubLetter::Admitted { .. } => "club/admitted.txt",
            ClubLetter::NotAdmitted { .. } => "club/not-admitted.txt",
            ClubLetter::Words { .. } => "gm/words.txt",
            ClubLetter::Suspected { .. } => "club/suspected.txt",
            ClubLetter::Restored { .. } => "gm/restored.txt",
            ClubLetter::Lost { .. } => "club/lost.txt",
            ClubLetter::Behind { .. } => "club/behind.txt",
            ClubLetter::Unreadable { .. } => "club/unreadable.txt",
        }
    }

    /// Returns the letter's replies, some of which may be pages of the manual.
    pub(super) fn replies(&self) -> &[Reply] {
        let (ClubLetter::Stranger { replies, .. } | ClubLetter::GmAnswer { replies, .. }) = self else {
            return &[];
        };
        replies
    }
}

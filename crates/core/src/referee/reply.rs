//! The answers to commands.

use serde::{Deserialize, Serialize};

use super::changes::ChangeReply;
use super::event_reply::{EventLine, EventRejection, EventWord, Standings};
use super::offer::{MatchSummary, OfferRejection, OfferSummary, OpenOffer};
use super::profile::{Profile, RatingLine};
use super::rejection::ClaimRejection;
use super::settings::SettingFault;
use crate::game::any::GameKind;
use crate::letter::Digest;

/// The person who confirms letters that were not proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmer {
    /// A player, from a registered address.
    Player,
    /// The address that the letters came from, which counts once.
    Alias,
    Gm,
}

/// The answer to one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Reply {
    /// The state of the match.
    Status,
    /// An earlier report: the one on `turn`, or the last one if no turn is given.
    Report { turn: Option<u32> },
    /// Every earlier report.
    History,
    /// The turn that a better player would make.
    Hint { orders: Vec<String> },
    /// This match gives no hints. `levels` is set if the house plays the game at a level that does.
    NoHints { levels: bool },
    /// Nothing is due from the seat now.
    NoHintNow,
    /// A page of the manual, or its contents.
    Help { topic: Option<String> },
    /// The shell fills in the open seats.
    Games { seats: Vec<OpenOffer> },
    /// The rules of a game, or a list of the games that have rules.
    Rules { game: Option<String> },
    /// The shell fills in the sender's matches.
    Matches { matches: Vec<MatchSummary> },
    /// A challenge was sent. Its code is not here, because only the challenged person gets it.
    Challenged { to: String, offer: OfferSummary, lapses: String },
    /// Anyone can take the open seat with its code.
    Opened { code: String, offer: OfferSummary, lapses: String },
    /// The opponent is offered a rematch.
    RematchOffered { to: String, offer: OfferSummary, lapses: String },
    /// The sender blocked or unblocked a player.
    BlockSet { player: String, on: bool },
    /// The profile of a player.
    Profile { profile: Box<Profile> },
    /// The ratings in a game, the highest first; `more` are left out.
    Ratings { game: String, lines: Vec<RatingLine>, more: usize },
    /// The events of the club.
    Events { events: Vec<EventLine> },
    /// A word about an event that runs, and in which the sender plays.
    EventWord { word: EventWord },
    /// The sender has entered an event.
    EventEntered { event: Box<EventLine> },
    /// The sender has left an event, and resigned its `running` matches.
    EventLeft { event: String, running: usize, until: Option<String> },
    /// The standings of a season of an event.
    Standings { standings: Box<Standings> },
    /// A command about an event had no effect.
    NoEvent { command: &'static str, event: String, why: EventRejection },
    /// ACCEPT or JOIN has opened a match. `next_key` is the SHA-256 of the key from which the next match of a
    /// standing offer will be drawn.
    Joined { match_id: String, next_key: Option<Digest> },
    /// The offer was declined, and its author is notified.
    Declined { code: String },
    /// The commands that waited for the sender's answer, and their replies.
    Confirmed { replies: Vec<Reply> },
    /// No question to the sender has this code.
    NoQuestion { code: String },
    /// The command waits for the answer to a question that was sent earlier.
    Waits { command: &'static str },
    /// Whether the sender can be challenged from now on.
    Challenges { on: bool },
    /// The sender's settings, each as it is written, after this letter's changes.
    Settings { shown: Vec<String>, changed: bool },
    /// No setting was changed, because of these faults.
    SettingsRefused { faults: Vec<SettingFault> },
    /// No setting was changed, because the sender has changed them `most` times today.
    SettingsTooOften { most: u32 },
    /// SETTINGS from somebody who is no player, other than `challenges`.
    SettingsForPlayers,
    /// The number of answers to the sender that were suppressed before this one.
    LeftOut { count: u32 },
    /// CONFIRM: these letters from `address` are followed now. With ALWAYS, `change` is the status of the
    /// address.
    LettersConfirmed { address: String, letters: usize, by: Confirmer, change: Option<ChangeReply> },
    /// The command counts only from a registered address. With `once`, CONFIRM with this code counts from the
    /// sender's address, too.
    RegisteredOnly { command: &'static str, once: Option<String> },
    /// The answer to ADDRESS or LEAVE, or to the answer to a question about them.
    Change { change: ChangeReply },
    /// DENY: the letters are discarded, and the seats in these matches have new reply tokens.
    LettersDenied { matches: Vec<String> },
    /// CONFIRM or DENY names no letter that waits for the sender's word.
    NothingToConfirm { code: String },
    /// The command had no effect, because this word is not a mail address that we can write to.
    Misaddressed { command: &'static str, word: String },
    /// CHALLENGE, OPEN, ACCEPT, DECLINE or JOIN had no effect.
    NoOffer { command: &'static str, why: OfferRejection },
    /// The letter says `CHECK`, so this command changed nothing.
    CheckedOnly { command: &'static str },
    /// An earlier command of the letter asks the same, so its answer is not repeated.
    Repeated,
    /// The letter answers one about another match, whose token does not allow this command.
    NeedsOwnToken { command: &'static str },
    /// The letter names another match, so this command changed nothing.
    WhichMatch { command: &'static str },
    /// The message was passed on.
    MessagePassed,
    /// The match is played without messages.
    NoPress,
    /// The message was not passed on: the opponent has had too many letters from the sender today.
    MessageHeldBack,
    /// The message was not passed on: the opponent was forgotten.
    MessageUndeliverable,
    /// The GM was not asked: the GM has had too many letters from the sender today.
    RequestHeldBack,
    /// The command was carried out together with another of its kind.
    TakenTogether,
    /// The match has ended with the loss of the sender.
    Resigned,
    /// `RESIGN` without `CONFIRM`.
    ResignUnconfirmed,
    /// The letter came from an address that was added a few days ago.
    ResignationHeld,
    /// The offer stands until the next adjudication.
    DrawOffered,
    /// The match has ended in a draw.
    DrawAgreed,
    /// The opponent has been asked for more time.
    ExtensionAsked { days: u32 },
    /// The seat's player has vanished: no deadline runs.
    ExtensionOfVanished,
    /// Players can agree on `most` days at a time.
    ExtensionTooLong { most: u32 },
    /// The deadline has moved.
    ExtensionAgreed,
    /// The opponent has asked for nothing.
    NothingToAgree,
    /// CLAIM ended the match.
    Claimed,
    /// CLAIM had no effect.
    NothingToClaim { why: ClaimRejection },
    /// The house plays on in place of the player who has vanished.
    SubstituteAgreed,
    /// There is no deadline to move, because the house has to move.
    NoDeadline,
    /// The house does not read messages.
    HouseReadsNothing,
    /// The house never agrees to a draw.
    HousePlaysOn,
    /// `begins` and `ends` are the instants, formatted for the player.
    AbsenceNoted { from: chrono::NaiveDate, to: chrono::NaiveDate, begins: String, ends: String },
    /// The match is over, so the absence concerns only the player's other matches, if there are any.
    AbsenceElsewhere { from: chrono::NaiveDate, to: chrono::NaiveDate },
    /// `left` days of absence remain in the match.
    AbsenceRefused { from: chrono::NaiveDate, to: chrono::NaiveDate, left: i64 },
    /// The GM has been asked for somebody to take over the seat.
    SubstituteAsked,
    /// The match is paused until the GM decides.
    Protested,
    /// The protest stops nothing, because it is not the first.
    ProtestPassedOn,
    /// The filing, or the conditional orders, were withdrawn.
    Withdrawn { orders: Vec<String> },
    /// The conditional orders were withdrawn, because the letter's words may take them back.
    ConditionsDoubted,
    /// The seat has filed nothing.
    NothingToWithdraw,
    /// The GM gets the words.
    PassedToGm,
    /// The match is over, so the command has no effect.
    MatchOver,
    /// The command belongs in a letter without a match, or in the GM's letters.
    NotHere { command: String },
}

impl Reply {
    /// Returns the reply to RULES. Names the game by its key, followed by `strategy` if that page is asked
    /// for, or as written if there is no such game.
    pub fn rules(page: Option<&str>) -> Reply {
        let game = page.map(|page| {
            let (game, topic) = match without_strategy(page) {
                Some(game) => (game, " strategy"),
                None => (page, ""),
            };
            GameKind::parse(game).map_or_else(|| page.to_owned(), |kind| format!("{kind}{topic}"))
        });
        Reply::Rules { game }
    }

    /// Whether it may fill pages.
    pub fn may_be_long(&self) -> bool {
        matches!(
            self,
            Reply::Help { .. }
                | Reply::Rules { .. }
                | Reply::Games { .. }
                | Reply::Matches { .. }
                | Reply::Profile { .. }
                | Reply::Ratings { .. }
                | Reply::Events { .. }
                | Reply::Standings { .. }
                | Reply::EventWord { .. }
                | Reply::Report { .. }
                | Reply::History
        )
    }
}

/// Returns the game of a page like `quad strategy`.
fn without_strategy(page: &str) -> Option<&str> {
    let (game, topic) = page.trim().rsplit_once(' ')?;
    topic.eq_ignore_ascii_case("strategy").then_some(game)
}

//! The rows that decisions read.
//!
//! The shell loads rows ahead of a decision and cannot know all of them. A decision that lacks one notes its
//! key and ends with [`Undecided::Lacks`]; the shell loads the missing rows and decides again. A decision
//! also notes what it read, and each change names what it writes: of two items of a batch, one that read what
//! the other wrote is decided again.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::in_work::InWork;
use super::stored::{both_seats, snapshot};
use crate::club::events::event::Event;
use crate::club::events::steps::Mailed;
use crate::club::reliability::Reliability;
use crate::config::GmIndex;
use crate::game::any::GameKind;
use crate::game::{BySeat, Seat};
use crate::ledger::{Delivery, Entry};
use crate::letter::Digest;
use crate::post::dkim::DkimVerdict;
use crate::referee::{Match, MatchOverview, Readership};
use crate::store::{
    BudgetKind, BudgetQuestion, DispatchRow, EventRow, Invitation, LetterRow, ListedPlayer, Player,
    PlayerChange, RatingRow, RestoredBackup, SnapshotRow, Standing, TokenRow, UnprovenLetter,
};

/// A row, or a range of rows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// The seat with this reply token, with its match and both seats.
    Token(String),
    /// The match with this ID, with both seats.
    Match(String),
    /// Whether a match has this name.
    Name(String),
    /// The ledger of a match.
    Entries(String),
    /// The reports that were made in a match.
    Reports(String),
    /// The text of our letter with this Message-ID.
    Text(String),
    /// The row of our letter with this Message-ID.
    Dispatch(String),
    /// The Message-ID of our letter with this ID in its return path.
    ReturnId(String),
    /// The player with this address.
    Player(String),
    /// The player with this address; if there is none, one is added under this name.
    NewPlayer((String, String)),
    /// The addresses and settings of a player, by ID.
    Holder(i64),
    /// A summary of all players: names, numbers and wishes.
    PlayerNames,
    /// The reliability of a player.
    Reliability(i64),
    /// A player's last rated results in a game.
    Ratings((i64, GameKind)),
    /// The times at which two players, the lower number first, opened rated matches with each other.
    RatedOpenings((i64, i64)),
    /// The ratings of all players in a game.
    RatingList(GameKind),
    /// The event with this ID.
    Event(String),
    /// A summary of all events.
    EventList,
    /// The times at which a player lost matches by missed turns.
    Losses(i64),
    /// The matches of a player.
    MatchesOf(i64),
    /// The unproven letters in a player's name.
    UnprovenOf(i64),
    /// The unproven letters in the name of the GM with this address.
    UnprovenOfGm(String),
    /// The unproven letters under the code of a notice.
    UnprovenUnder(String),
    /// The changes that a player asked for.
    ChangesOf(i64),
    /// The change under this code.
    Change(String),
    /// The invitation with this code.
    Invitation(String),
    OpenInvitations,
    /// The offers that follow a match by REMATCH.
    Rematches(String),
    /// The seats taken from a standing offer.
    TakenFrom(String),
    /// The standing of an address, and the open questions to it.
    Sender(String),
    /// The counts of a subject.
    Budget(String),
    /// Whether the second address declined an offer of the first.
    Declined((String, String)),
    /// Everybody who waits to be admitted.
    Applicants,
    /// Every match, without snapshots.
    Overviews,
    /// The matches that ended last.
    Ended,
    /// Letters whose digests have this prefix.
    Letters(String),
    /// The readers of announcements.
    Readers(Readership),
    /// The events since this time, for a digest.
    Digest(DateTime<Utc>),
}

/// The result of a decision.
pub type Decided<T> = Result<T, Undecided>;

/// The reason why there is no decision.
#[derive(Debug)]
pub enum Undecided {
    /// Rows are missing, whose keys were noted: load them and decide again.
    Lacks,
    /// The decision failed, and a repetition would fail too.
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Undecided {
    fn from(error: E) -> Self {
        Undecided::Failed(error.into())
    }
}

/// A match with both its seats, as it is stored or as earlier letters of the batch left it.
#[derive(Clone, Debug)]
pub struct LoadedMatch {
    pub game_match: Match,
    /// The version that it was loaded with.
    pub version: i64,
    pub seats: BySeat<TokenRow>,
}

/// An event, as it is stored or as earlier decisions of the batch left it.
#[derive(Clone, Debug)]
pub struct LoadedEvent {
    pub event: Event,
    pub told: Mailed,
    /// The version that it was loaded with; 0 for a new one.
    pub version: i64,
}

/// The stored facts about somebody who writes without a token.
#[derive(Clone, Debug, Default)]
pub struct KnownSender {
    pub standing: Standing,
    pub questions: Vec<BudgetQuestion>,
}

/// The counts of one subject.
pub type Counts = BTreeMap<(BudgetKind, DateTime<Utc>), u32>;

/// The rows that were loaded for the decisions of a batch, and the keys for which there are none.
///
/// Loading more never replaces a row: earlier decisions stay valid, and at the commit the version of each
/// match shows whether somebody else has changed it.
#[derive(Default)]
pub struct LoadedRows {
    /// The time of the decision, in whole milliseconds as in the ledger.
    pub at: DateTime<Utc>,
    /// 256 random bits from the system.
    pub seed: [u8; 32],
    /// The club's secret, from which the random numbers of letters follow.
    pub secret: [u8; 32],
    /// The time at which an older backup was restored, while letters from before that are decided again.
    pub restored_at: Option<DateTime<Utc>>,
    /// All restores of older backups, the latest last.
    pub restores: Vec<RestoredBackup>,
    /// The reply token that letters to each GM carry, in the order of the config.
    pub gm_tokens: Vec<String>,
    /// The addresses that the club has, or had.
    pub own_addresses: BTreeSet<String>,
    /// Verdicts on the signatures of people's letters. A letter without a verdict has no entry.
    pub dkim: BTreeMap<Digest, DkimVerdict>,
    pub tokens: BTreeMap<String, Option<TokenRow>>,
    /// `None` if there is no such match, or this program cannot rule on it.
    pub matches: BTreeMap<String, Option<LoadedMatch>>,
    /// Whether a match has this name.
    pub names: BTreeMap<String, bool>,
    pub entries: BTreeMap<String, Vec<Entry>>,
    /// The row and the bytes of each report, in the order in which they were made.
    pub reports: BTreeMap<String, Vec<(DispatchRow, Vec<u8>)>>,
    /// The text of our letters that were found, by Message-ID.
    pub texts: BTreeMap<String, String>,
    /// The letters that threads are ruling on at this moment.
    pub in_work: InWork,
    pub dispatches: BTreeMap<String, Option<DispatchRow>>,
    /// The Message-IDs of dispatches by the IDs in their return paths.
    pub return_ids: BTreeMap<String, Option<String>>,
    pub players: BTreeMap<String, Option<Player>>,
    /// Players who were found or added, by address.
    pub seated: BTreeMap<String, Player>,
    /// A summary of every player.
    pub listed_players: Option<Vec<ListedPlayer>>,
    /// Keys and values of those who wait to be admitted, or no longer wait.
    pub applicants: Option<Vec<(String, String)>>,
    /// `None` if there is no such event.
    pub events: BTreeMap<String, Option<LoadedEvent>>,
    pub event_list: Option<Vec<EventRow>>,
    pub losses: BTreeMap<i64, Vec<DateTime<Utc>>>,
    pub reliability: BTreeMap<i64, Reliability>,
    /// A player's last rated results in a game, the latest first.
    pub ratings: BTreeMap<(i64, GameKind), Vec<RatingRow>>,
    /// The times at which rated matches of two players were opened within a year.
    pub rated_openings: BTreeMap<(i64, i64), Vec<DateTime<Utc>>>,
    pub rating_lists: BTreeMap<GameKind, Vec<RatingRow>>,
    /// Each player's matches with the player's seat, by ID, without snapshots.
    pub matches_of: BTreeMap<i64, Vec<(Seat, MatchOverview)>>,
    pub invitations: BTreeMap<String, Option<Invitation>>,
    pub open_invitations: Option<Vec<Invitation>>,
    /// The offers that follow a match by REMATCH, by the match.
    pub rematches: BTreeMap<String, Vec<Invitation>>,
    /// The seats taken from a standing offer, by its code.
    pub taken_from: BTreeMap<String, Vec<Invitation>>,
    /// The unproven letters in a player's name that have not lapsed, oldest first.
    pub unproven: BTreeMap<i64, Vec<UnprovenLetter>>,
    /// The unproven letters in GMs' names, by their registered addresses.
    pub unproven_of_gm: BTreeMap<String, Vec<UnprovenLetter>>,
    /// Unproven letters of both kinds, by the codes of their notices.
    pub unproven_under: BTreeMap<String, Vec<UnprovenLetter>>,
    /// The changes that a player asked for and that are open, or can be undone.
    pub changes: BTreeMap<i64, Vec<PlayerChange>>,
    pub changes_by_code: BTreeMap<String, Option<PlayerChange>>,
    pub senders: BTreeMap<String, KnownSender>,
    /// The counts of the last two days, and of the hours and days to come, by subject.
    pub budgets: BTreeMap<String, Counts>,
    /// Whether the second address declined an offer of the first.
    pub declined: BTreeMap<(String, String), bool>,
    /// Up to two letters by the beginning of their digests.
    pub letters: BTreeMap<String, Vec<DigestLetter>>,
    pub overviews: Option<Vec<MatchOverview>>,
    /// The IDs of the matches that ended last, the latest first.
    pub ended: Option<Vec<String>>,
    /// The players who read announcements.
    pub readers_of: BTreeMap<Readership, Vec<Player>>,
    pub digest: Option<DigestRows>,
}

/// The rows that a digest reports on. Some are a little older than `since`, because they had not been
/// committed when the last digest was made. The last digest contained the others from that time.
#[derive(Clone, Debug)]
pub struct DigestRows {
    pub since: DateTime<Utc>,
    /// The entries about refused filings.
    pub refused: Vec<Entry>,
    /// Dispatches that were given up in this period.
    pub given_up: Vec<DispatchRow>,
    pub set_aside: Vec<DigestLetter>,
    pub ignored: Vec<DigestLetter>,
    /// Letters with words for the GM.
    pub words: Vec<DigestLetter>,
    pub automatic: Vec<DigestLetter>,
    pub missed: Vec<MissedTurn>,
    /// The entries that made a match wait for a GM.
    pub asked: Vec<Entry>,
    /// The entries that noted that letters to a seat bounce, or that its player is away.
    pub unread: Vec<Entry>,
    /// The entries that opened a match in this period.
    pub opened: Vec<Entry>,
    /// The entries that ended or annulled a match in this period.
    pub ended: Vec<Entry>,
    pub absences: Vec<Entry>,
    pub newcomers: Vec<Player>,
    /// The event, the player and a match of each who has not filed once a week after the season began.
    pub silent: Vec<(String, i64, String)>,
    pub letters_waiting: u64,
    /// Letters sent in the last 24 hours, and those that wait to be sent.
    pub sent_in_a_day: u64,
    pub dispatches_waiting: u64,
    pub oldest_dispatch: Option<DateTime<Utc>>,
    /// Answers that were suppressed because a budget was used up.
    pub left_out: u64,
    /// Letters that were fetched from the provider's spam folder.
    pub from_spam: u64,
    /// Letters in players' names that lapsed in this period.
    pub lapsed: Vec<UnprovenLetter>,
}

/// A letter in a digest, and the matches whose reply tokens it carries.
#[derive(Clone, Debug)]
pub struct DigestLetter {
    pub row: LetterRow,
    pub matches: BTreeSet<String>,
    /// Whether it names no match although its author plays in a running one.
    pub by_player: bool,
    /// The name of the player who has the sender's address.
    pub player: Option<String>,
}

/// A turn that a seat missed.
#[derive(Clone, Debug)]
pub struct MissedTurn {
    pub match_id: String,
    /// The number of the entry that records it.
    pub seq: u64,
    pub turn: u32,
    pub seat: Seat,
    /// Time at which the seat filed after all.
    pub made_good: Option<DateTime<Utc>>,
}

impl LoadedMatch {
    /// Reads a match. `delivered` are our letters in it that were delivered since its last entry.
    ///
    /// # Errors
    /// Returns an error if the snapshot cannot be read, if its rules are unknown, or if a seat is missing.
    pub fn of(
        row: &SnapshotRow,
        seats: &[TokenRow],
        delivered: Vec<Delivery>,
    ) -> anyhow::Result<LoadedMatch> {
        let game_match = Match { delivered, ..snapshot(&row.id, &row.snapshot)? };
        let seats = both_seats(seats, &row.id)?;
        Ok(LoadedMatch { game_match, version: row.version, seats })
    }
}

impl LoadedRows {
    pub fn new(at: DateTime<Utc>, seed: [u8; 32]) -> LoadedRows {
        LoadedRows { at, seed, ..LoadedRows::default() }
    }
}

/// The loaded rows as one decision reads them, with notes of the keys that it read and those that it lacked.
pub struct Rows<'a> {
    pub loaded: &'a LoadedRows,
    // Cells, because read-only functions share the desk but still note what they read.
    read: RefCell<BTreeSet<Key>>,
    lacking: RefCell<Vec<Key>>,
}

impl<'a> Rows<'a> {
    pub fn new(loaded: &'a LoadedRows) -> Rows<'a> {
        Rows { loaded, read: RefCell::default(), lacking: RefCell::default() }
    }

    /// Fails if any row was lacking so far.
    pub fn check(&self) -> Decided<()> {
        if self.lacking.borrow().is_empty() { Ok(()) } else { Err(Undecided::Lacks) }
    }

    /// Returns the keys of the rows that were read, and of those that were lacking, in order.
    pub fn into_notes(self) -> (BTreeSet<Key>, Vec<Key>) {
        (self.read.into_inner(), self.lacking.into_inner())
    }

    /// Notes that a row was read.
    pub fn note(&self, key: Key) {
        self.read.borrow_mut().insert(key);
    }

    /// Returns what was found under a key, and notes the key as read, or as lacking.
    fn row<T>(&self, found: Option<T>, key: Key) -> Decided<T> {
        match found {
            Some(found) => {
                self.note(key);
                Ok(found)
            }
            None => {
                self.lacking.borrow_mut().push(key);
                Err(Undecided::Lacks)
            }
        }
    }

    /// Returns the list found under a key, and notes the key as read, or as lacking.
    fn list<T>(&self, found: Option<&'a Vec<T>>, key: Key) -> Decided<&'a [T]> {
        self.row(found.map(Vec::as_slice), key)
    }

    /// Returns what is stored under a key, which may be nothing, and notes the key as read, or as lacking.
    fn optional<T>(&self, found: Option<&'a Option<T>>, key: Key) -> Decided<Option<&'a T>> {
        self.row(found.map(Option::as_ref), key)
    }

    /// Returns the GM whose reply token this is.
    pub fn gm_with_token(&self, token: &str) -> Option<GmIndex> {
        self.loaded.gm_tokens.iter().position(|own| own == token).map(GmIndex)
    }

    pub fn seat_by_token(&self, token: &str) -> Decided<Option<&'a TokenRow>> {
        let found = self.optional(self.loaded.tokens.get(token), Key::Token(token.to_owned()))?;
        if let Some(row) = found {
            // The row also contains the player, so it is outdated if the match or the player changes.
            self.note(Key::Match(row.match_id.clone()));
            self.note(Key::Holder(row.player.id));
        }
        Ok(found)
    }

    pub fn game_match(&self, id: &str) -> Decided<Option<&'a LoadedMatch>> {
        let found = self.optional(self.loaded.matches.get(id), Key::Match(id.to_owned()))?;
        for (_, row) in found.iter().flat_map(|loaded| loaded.seats.iter()) {
            self.note(Key::Holder(row.player.id));
        }
        Ok(found)
    }

    /// Whether a stored match has this name; it may be one that this program cannot rule on.
    pub fn is_taken(&self, name: &str) -> Decided<bool> {
        self.row(self.loaded.names.get(name).copied(), Key::Name(name.to_owned()))
    }

    /// Returns the stored entries of a match.
    pub fn entries(&self, match_id: &str) -> Decided<&'a [Entry]> {
        // Drafts name the matches they rule on, not the entries they add.
        self.note(Key::Match(match_id.to_owned()));
        self.list(self.loaded.entries.get(match_id), Key::Entries(match_id.to_owned()))
    }

    pub fn reports(&self, match_id: &str) -> Decided<&'a [(DispatchRow, Vec<u8>)]> {
        self.note(Key::Match(match_id.to_owned()));
        self.list(self.loaded.reports.get(match_id), Key::Reports(match_id.to_owned()))
    }

    pub fn dispatch(&self, message_id: &str) -> Decided<Option<&'a DispatchRow>> {
        self.optional(self.loaded.dispatches.get(message_id), Key::Dispatch(message_id.to_owned()))
    }

    /// Returns the Message-ID of the dispatch with this ID in its return path.
    pub fn returned_to(&self, return_id: &str) -> Decided<Option<&'a str>> {
        let found = self.loaded.return_ids.get(return_id).map(Option::as_deref);
        self.row(found, Key::ReturnId(return_id.to_owned()))
    }

    /// Returns the stored player with this address.
    pub fn player(&self, address: &str) -> Decided<Option<&'a Player>> {
        let found = self.optional(self.loaded.players.get(address), Key::Player(address.to_owned()))?;
        // Changes of names and settings are written under the ID.
        found.iter().for_each(|player| self.note(Key::Holder(player.id)));
        Ok(found)
    }

    /// Returns the player with this address, who is added under `name` if there is none.
    pub fn player_or_new(&self, address: &str, name: &str) -> Decided<&'a Player> {
        let key = Key::NewPlayer((address.to_owned(), name.to_owned()));
        let found = self.row(self.loaded.seated.get(address), key)?;
        // A draft that adds this player names this key.
        self.note(Key::Player(address.to_owned()));
        self.note(Key::Holder(found.id));
        Ok(found)
    }

    /// Returns a summary of every stored player.
    pub fn applicants(&self) -> Decided<&'a [(String, String)]> {
        self.row(self.loaded.applicants.as_deref(), Key::Applicants)
    }

    pub fn listed_players(&self) -> Decided<&'a [ListedPlayer]> {
        self.row(self.loaded.listed_players.as_deref(), Key::PlayerNames)
    }

    /// Returns a player's last rated results in a game, the latest first.
    pub fn ratings(&self, player_id: i64, game: GameKind) -> Decided<&'a [RatingRow]> {
        self.list(self.loaded.ratings.get(&(player_id, game)), Key::Ratings((player_id, game)))
    }

    /// Returns the times at which rated matches of two players were opened within a year.
    pub fn rated_openings(&self, one: i64, other: i64) -> Decided<&'a [DateTime<Utc>]> {
        let pair = (one.min(other), one.max(other));
        self.list(self.loaded.rated_openings.get(&pair), Key::RatedOpenings(pair))
    }

    /// Returns all rated results of a game, by player and number.
    pub fn rating_list(&self, game: GameKind) -> Decided<&'a [RatingRow]> {
        self.list(self.loaded.rating_lists.get(&game), Key::RatingList(game))
    }

    pub fn event(&self, id: &str) -> Decided<Option<&'a LoadedEvent>> {
        self.optional(self.loaded.events.get(id), Key::Event(id.to_owned()))
    }

    /// Returns a summary of all stored events, by ID.
    pub fn event_list(&self) -> Decided<&'a [EventRow]> {
        self.row(self.loaded.event_list.as_deref(), Key::EventList)
    }

    /// Returns the times in the last years at which a player lost matches against people by missed turns.
    pub fn losses(&self, player_id: i64) -> Decided<&'a [DateTime<Utc>]> {
        self.list(self.loaded.losses.get(&player_id), Key::Losses(player_id))
    }

    pub fn reliability(&self, player_id: i64) -> Decided<Reliability> {
        self.row(self.loaded.reliability.get(&player_id).copied(), Key::Reliability(player_id))
    }

    /// Returns a player's matches with the player's seat, by ID.
    pub fn matches_of(&self, player_id: i64) -> Decided<&'a [(Seat, MatchOverview)]> {
        self.list(self.loaded.matches_of.get(&player_id), Key::MatchesOf(player_id))
    }

    pub fn invitation(&self, code: &str) -> Decided<Option<&'a Invitation>> {
        self.optional(self.loaded.invitations.get(code), Key::Invitation(code.to_owned()))
    }

    pub fn open_invitations(&self) -> Decided<&'a [Invitation]> {
        self.row(self.loaded.open_invitations.as_deref(), Key::OpenInvitations)
    }

    /// Returns the stored offers that follow a match by REMATCH.
    pub fn rematches(&self, match_id: &str) -> Decided<&'a [Invitation]> {
        self.list(self.loaded.rematches.get(match_id), Key::Rematches(match_id.to_owned()))
    }

    /// Returns the stored seats that were taken from a standing offer.
    pub fn taken_from(&self, code: &str) -> Decided<&'a [Invitation]> {
        self.list(self.loaded.taken_from.get(code), Key::TakenFrom(code.to_owned()))
    }

    pub fn unproven_of(&self, player_id: i64) -> Decided<&'a [UnprovenLetter]> {
        self.list(self.loaded.unproven.get(&player_id), Key::UnprovenOf(player_id))
    }

    pub fn unproven_of_gm(&self, gm: &str) -> Decided<&'a [UnprovenLetter]> {
        self.list(self.loaded.unproven_of_gm.get(gm), Key::UnprovenOfGm(gm.to_owned()))
    }

    /// Returns the stored unproven letters under the code of a notice that have not lapsed.
    pub fn unproven_under(&self, code: &str) -> Decided<&'a [UnprovenLetter]> {
        self.list(self.loaded.unproven_under.get(code), Key::UnprovenUnder(code.to_owned()))
    }

    pub fn changes_of(&self, player_id: i64) -> Decided<&'a [PlayerChange]> {
        self.list(self.loaded.changes.get(&player_id), Key::ChangesOf(player_id))
    }

    pub fn change_under(&self, code: &str) -> Decided<Option<&'a PlayerChange>> {
        self.optional(self.loaded.changes_by_code.get(code), Key::Change(code.to_owned()))
    }

    pub fn sender(&self, address: &str) -> Decided<&'a KnownSender> {
        self.row(self.loaded.senders.get(address), Key::Sender(address.to_owned()))
    }

    pub fn budget(&self, subject: &str) -> Decided<&'a Counts> {
        self.row(self.loaded.budgets.get(subject), Key::Budget(subject.to_owned()))
    }

    /// Whether `invited` declined an offer of `inviter`.
    pub fn has_declined(&self, inviter: &str, invited: &str) -> Decided<bool> {
        let pair = (inviter.to_owned(), invited.to_owned());
        self.row(self.loaded.declined.get(&pair).copied(), Key::Declined(pair))
    }

    /// Returns up to two letters whose digests have this prefix.
    pub fn letters_with(&self, prefix: &str) -> Decided<&'a [DigestLetter]> {
        self.list(self.loaded.letters.get(prefix), Key::Letters(prefix.to_owned()))
    }

    /// Returns every stored match, by ID.
    pub fn overviews(&self) -> Decided<&'a [MatchOverview]> {
        self.row(self.loaded.overviews.as_deref(), Key::Overviews)
    }

    /// Returns the IDs of the matches that ended last, the latest first.
    pub fn ended(&self) -> Decided<&'a [String]> {
        self.row(self.loaded.ended.as_deref(), Key::Ended)
    }

    /// Returns the players who read an announcement to these readers.
    pub fn readers_of(&self, readers: Readership) -> Decided<&'a [Player]> {
        self.list(self.loaded.readers_of.get(&readers), Key::Readers(readers))
    }

    pub fn digest_rows(&self, since: DateTime<Utc>) -> Decided<&'a DigestRows> {
        self.row(self.loaded.digest.as_ref().filter(|rows| rows.since == since), Key::Digest(since))
    }
}

/// Continues without a value whose rows are missing, so that one round of loading serves several questions.
/// The caller must call [`Rows::check`] before using the answers.
///
/// # Errors
/// Returns an error if the decision failed for another reason.
pub fn or_lacking<T>(decided: Decided<T>) -> anyhow::Result<Option<T>> {
    match decided {
        Ok(value) => Ok(Some(value)),
        Err(Undecided::Lacks) => Ok(None),
        Err(Undecided::Failed(error)) => Err(error),
    }
}

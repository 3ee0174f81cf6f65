//! The rows that a decision reads, and the time and the random seed, for which it cannot ask the system.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::gm_index::GmIndex;
use super::in_work::InWork;
use super::stored::{both_seats, snapshot};
use super::summary::Summary;
use super::undecided::{Decided, Undecided};
use crate::game::{BySeat, Seat};
use crate::ledger::{Delivery, Entry};
use crate::letter::Digest;
use crate::post::dkim::DkimVerdict;
use crate::referee::{Match, MatchOverview, Readership};
use crate::report::PictureCache;
use crate::store::{
    BudgetKind, DispatchRow, Invitation, LetterRow, Player, PlayerChange, Question, SnapshotRow, Standing,
    TokenRow, UnprovenLetter,
};

/// A match with both its seats, as it is stored or as earlier letters of the batch left it.
#[derive(Clone, Debug)]
pub struct LoadedMatch {
    pub game_match: Match,
    /// The version that it was loaded with.
    pub version: i64,
    pub seats: BySeat<TokenRow>,
    pub changed: bool,
}

/// An answer that a reader got in the last hour.
#[derive(Clone, Debug)]
pub struct RecentAnswer {
    /// The seat whose letter it answered, if any.
    pub seat: Option<(String, Seat)>,
    /// A digest of the text that it answered.
    pub asked: Option<Digest>,
    pub text: AnswerText,
}

/// Our knowledge of somebody who writes without a token.
#[derive(Clone, Debug, Default)]
pub struct KnownSender {
    pub standing: Standing,
    pub question: Option<Question>,
}

/// The counts of one subject.
pub type Counts = BTreeMap<(BudgetKind, DateTime<Utc>), u32>;

/// The place of the text of an answer.
#[derive(Clone, Debug)]
pub enum AnswerText {
    /// In the database, under this Message-ID.
    InDatabase(String),
    /// Decided in the same batch; its bytes. Shared, because the list of answers is copied for each letter.
    Unsaved(Arc<Vec<u8>>),
}

/// The data needed to rule on a batch.
///
/// It also notes which lookups found nothing, so that a row counts as missing only if nobody has looked it up. Loading
/// more never replaces a row: earlier decisions stay valid, and at the commit the version of each match shows whether
/// somebody else has changed it.
#[derive(Default)]
pub struct RulingContext {
    /// The time of the decision, in whole milliseconds as the ledger has it.
    pub at: DateTime<Utc>,
    /// 256 random bits from the system.
    pub seed: [u8; 32],
    /// The reply token that letters to each GM carry, in the order of the config.
    pub gm_tokens: Vec<String>,
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
    /// The Message-IDs that none of our letters has.
    pub no_texts: BTreeSet<String>,
    /// The letters that threads rule on at this moment.
    pub in_work: InWork,
    /// The boards drawn for this batch: matches that are opened together begin with equal boards.
    pub pictures: PictureCache,
    pub dispatches: BTreeMap<String, Option<DispatchRow>>,
    /// The Message-IDs of dispatches by the IDs in their return paths.
    pub return_ids: BTreeMap<String, Option<String>>,
    pub players: BTreeMap<String, Option<Player>>,
    /// Players who were found or added, by address.
    pub seated: BTreeMap<String, Player>,
    /// The name of every player.
    pub player_names: Option<Vec<(i64, String)>>,
    /// Each player's matches with the player's seat, by ID, without snapshots.
    pub matches_of: BTreeMap<i64, Vec<(Seat, MatchOverview)>>,
    pub invitations: BTreeMap<String, Option<Invitation>>,
    pub open_invitations: Option<Vec<Invitation>>,
    /// The unproven letters in a player's name that have not lapsed, oldest first.
    pub unproven: BTreeMap<i64, Vec<UnprovenLetter>>,
    /// The changes that a player asked for and that are open, or can be undone.
    pub changes: BTreeMap<i64, Vec<PlayerChange>>,
    pub changes_by_code: BTreeMap<String, Option<PlayerChange>>,
    /// The answers of the last hour by reader, oldest first.
    pub answers: BTreeMap<String, Vec<RecentAnswer>>,
    pub senders: BTreeMap<String, KnownSender>,
    /// The counts of the last two days, and of the hours and days to come, by subject.
    pub budgets: BTreeMap<String, Counts>,
    /// Whether the second address declined an offer of the first.
    pub declined: BTreeMap<(String, String), bool>,
    /// Up to two letters by the beginning of their digests.
    pub letters: BTreeMap<String, Vec<DigestLetter>>,
    pub summaries: Option<Vec<Summary>>,
    /// The IDs of the matches that ended last, the latest first.
    pub ended: Option<Vec<String>>,
    /// The players who read announcements.
    pub readers_of: Vec<(Readership, Vec<Player>)>,
    pub digest: Option<DigestRows>,
}

/// The rows that a digest reports on.
#[derive(Clone, Debug)]
pub struct DigestRows {
    pub since: DateTime<Utc>,
    /// The number of refused filings by match.
    pub refused: BTreeMap<String, usize>,
    /// Dispatches that were given up in this period.
    pub given_up: Vec<DispatchRow>,
    pub set_aside: Vec<DigestLetter>,
    pub ignored: Vec<DigestLetter>,
    /// Letters with words for the GM.
    pub words: Vec<DigestLetter>,
    pub automatic: Vec<DigestLetter>,
    pub missed: Vec<MissedTurn>,
    /// The entries that opened a match in this period.
    pub opened: Vec<Entry>,
    pub ended: Vec<Entry>,
    pub absences: Vec<Entry>,
    pub newcomers: Vec<Player>,
    /// Number of letters written.
    pub written: u64,
    pub letters_waiting: u64,
    /// How many letters were sent in the last 24 hours, and what waits to be sent.
    pub sent_in_a_day: u64,
    pub dispatches_waiting: u64,
    pub oldest_dispatch: Option<DateTime<Utc>>,
    /// Answers that were left out, because a budget was used up.
    pub left_out: u64,
    /// Letters that were taken from the provider's spam folder.
    pub from_spam: u64,
    /// Letters in players' names that lapsed in this period.
    pub lapsed: Vec<UnprovenLetter>,
}

/// A letter in a digest, and the matches whose reply tokens it bears.
#[derive(Clone, Debug)]
pub struct DigestLetter {
    pub row: LetterRow,
    pub matches: BTreeSet<String>,
    /// Whether it names no match, and whoever wrote it plays one that runs.
    pub by_player: bool,
}

/// A turn that a seat missed.
#[derive(Clone, Debug)]
pub struct MissedTurn {
    pub match_id: String,
    pub turn: u32,
    pub seat: Seat,
    /// Time at which the seat filed after all.
    pub made_good: Option<DateTime<Utc>>,
}

impl LoadedMatch {
    /// Whether letters can be sent to a seat. The house reads none, and a player who was forgotten has no address.
    pub fn can_be_told(&self, seat: Seat) -> bool {
        self.game_match.house[seat].is_none() && !self.seats[seat].player.addresses.is_empty()
    }

    /// Reads a match, in which our letters were `delivered` since its last entry.
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
        Ok(LoadedMatch { game_match, version: row.version, seats, changed: false })
    }
}

impl RulingContext {
    pub fn new(at: DateTime<Utc>, seed: [u8; 32], gm_tokens: Vec<String>) -> RulingContext {
        RulingContext { at, seed, gm_tokens, ..RulingContext::default() }
    }

    /// Returns the GM whose reply token this is.
    pub fn gm_with_token(&self, token: &str) -> Option<GmIndex> {
        self.gm_tokens.iter().position(|own| own == token).map(GmIndex)
    }

    pub fn seat_by_token(&self, token: &str) -> Decided<Option<&TokenRow>> {
        let found = self.tokens.get(token).map(Option::as_ref);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.tokens, token))
    }

    pub fn game_match(&self, id: &str) -> Decided<Option<&LoadedMatch>> {
        let found = self.matches.get(id).map(Option::as_ref);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.matches, id))
    }

    /// Whether a stored match has this name; it may be one that this program cannot rule on.
    pub fn is_taken(&self, name: &str) -> Decided<bool> {
        let found = self.names.get(name).copied();
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.names, name))
    }

    /// Returns the stored entries of a match.
    pub fn entries(&self, match_id: &str) -> Decided<&[Entry]> {
        let found = self.entries.get(match_id).map(Vec::as_slice);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.entries, match_id))
    }

    pub fn reports(&self, match_id: &str) -> Decided<&[(DispatchRow, Vec<u8>)]> {
        let found = self.reports.get(match_id).map(Vec::as_slice);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.reports, match_id))
    }

    /// Returns the text of our letter with this Message-ID.
    pub fn text(&self, message_id: &str) -> Decided<Option<&str>> {
        match self.texts.get(message_id) {
            Some(text) => Ok(Some(text)),
            None if self.no_texts.contains(message_id) => Ok(None),
            None => Err(Undecided::lacks(|wanted| &mut wanted.texts, message_id)),
        }
    }

    pub fn dispatch(&self, message_id: &str) -> Decided<Option<&DispatchRow>> {
        let found = self.dispatches.get(message_id).map(Option::as_ref);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.dispatches, message_id))
    }

    /// Returns the Message-ID of the dispatch with this ID in its return path.
    pub fn returned_to(&self, return_id: &str) -> Decided<Option<&str>> {
        let found = self.return_ids.get(return_id).map(Option::as_deref);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.return_ids, return_id))
    }

    /// Returns the stored player with this address.
    pub fn player(&self, address: &str) -> Decided<Option<&Player>> {
        let found = self.players.get(address).map(Option::as_ref);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.addresses, address))
    }

    /// Returns the player with this address, who is added under `name` if there is none.
    pub fn player_or_new(&self, address: &str, name: &str) -> Decided<&Player> {
        self.seated.get(address).ok_or_else(|| {
            Undecided::needs(|wanted| wanted.seated.extend([(address.to_owned(), name.to_owned())]))
        })
    }

    /// Returns the name of every stored player.
    pub fn player_names(&self) -> Decided<&[(i64, String)]> {
        let found = self.player_names.as_deref();
        found.ok_or_else(|| Undecided::needs(|wanted| wanted.player_names = true))
    }

    /// Returns a player's matches with the player's seat, by ID.
    pub fn matches_of(&self, player_id: i64) -> Decided<&[(Seat, MatchOverview)]> {
        let found = self.matches_of.get(&player_id).map(Vec::as_slice);
        found.ok_or_else(|| Undecided::needs(|wanted| wanted.matches_of.extend([player_id])))
    }

    pub fn invitation(&self, code: &str) -> Decided<Option<&Invitation>> {
        let found = self.invitations.get(code).map(Option::as_ref);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.invitations, code))
    }

    pub fn open_invitations(&self) -> Decided<&[Invitation]> {
        let found = self.open_invitations.as_deref();
        found.ok_or_else(|| Undecided::needs(|wanted| wanted.open_invitations = true))
    }

    pub fn unproven_of(&self, player_id: i64) -> Decided<&[UnprovenLetter]> {
        let found = self.unproven.get(&player_id).map(Vec::as_slice);
        found.ok_or_else(|| Undecided::needs(|wanted| wanted.unproven_of.extend([player_id])))
    }

    pub fn changes_of(&self, player_id: i64) -> Decided<&[PlayerChange]> {
        let found = self.changes.get(&player_id).map(Vec::as_slice);
        found.ok_or_else(|| Undecided::needs(|wanted| wanted.changes_of.extend([player_id])))
    }

    pub fn change_under(&self, code: &str) -> Decided<Option<&PlayerChange>> {
        let found = self.changes_by_code.get(code).map(Option::as_ref);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.change_codes, code))
    }

    pub fn answers_to(&self, reader: &str) -> Decided<&[RecentAnswer]> {
        let found = self.answers.get(reader).map(Vec::as_slice);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.readers, reader))
    }

    pub fn sender(&self, address: &str) -> Decided<&KnownSender> {
        let found = self.senders.get(address);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.senders, address))
    }

    pub fn budget(&self, subject: &str) -> Decided<&Counts> {
        let found = self.budgets.get(subject);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.budgets, subject))
    }

    /// Whether `invited` declined an offer of `inviter`.
    pub fn has_declined(&self, inviter: &str, invited: &str) -> Decided<bool> {
        let pair = (inviter.to_owned(), invited.to_owned());
        let found = self.declined.get(&pair).copied();
        found.ok_or_else(|| Undecided::needs(|wanted| wanted.declined.extend([pair])))
    }

    /// Returns up to two letters whose digests begin so.
    pub fn letters_with(&self, prefix: &str) -> Decided<&[DigestLetter]> {
        let found = self.letters.get(prefix).map(Vec::as_slice);
        found.ok_or_else(|| Undecided::lacks(|wanted| &mut wanted.letters, prefix))
    }

    /// Returns a summary of every stored match, by ID.
    pub fn summaries(&self) -> Decided<&[Summary]> {
        let found = self.summaries.as_deref();
        found.ok_or_else(|| Undecided::needs(|wanted| wanted.summaries = true))
    }

    /// Returns the IDs of the matches that ended last, the latest first.
    pub fn ended(&self) -> Decided<&[String]> {
        self.ended.as_deref().ok_or_else(|| Undecided::needs(|wanted| wanted.ended = true))
    }

    /// Returns the players who read an announcement to these readers.
    pub fn readers_of(&self, readers: Readership) -> Decided<&[Player]> {
        let found = self.readers_of.iter().find(|(of, _)| *of == readers);
        let found = found.map(|(_, players)| players.as_slice());
        found.ok_or_else(|| Undecided::needs(|wanted| wanted.readers_of.push(readers)))
    }

    pub fn digest_rows(&self, since: DateTime<Utc>) -> Decided<&DigestRows> {
        let found = self.digest.as_ref().filter(|rows| rows.since == since);
        found.ok_or_else(|| Undecided::needs(|wanted| wanted.digest_since = Some(since)))
    }
}

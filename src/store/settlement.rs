//! What a transaction writes.

use chrono::{DateTime, Utc};

use super::{
    BookChange, EntryRow, Invitation, KeptSnapshot, LetterDecision, LotChange, MatchRow, NewDispatch,
    NewLetter, Newcomer, Player, PlayerChange, Postponed, Restraints, SeatRow, UnprovenLetter,
};
use crate::ledger::KeptPin;
use crate::letter::Digest;

/// Everything that one or more rulings change, written in one transaction.
#[derive(Clone, Debug, Default)]
pub struct Settlement {
    pub at: DateTime<Utc>,
    /// Letters of a match that another club refereed. [`Store::insert_letters`] stores our own.
    pub letters: Vec<NewLetter>,
    pub decided: Vec<LetterDecision>,
    /// Ignored for letters that no longer wait.
    pub postponed: Vec<Postponed>,
    /// At most one row for each match, with the `version` that was loaded.
    pub matches: Vec<MatchRow>,
    /// Seats of new matches, and seats whose player or token changes.
    pub seats: Vec<SeatRow>,
    /// What the ledgers pin of who holds a seat, with the match of each.
    pub seat_pins: Vec<(String, KeptPin)>,
    /// Matches as they were before the procedure changed.
    pub snapshots: Vec<KeptSnapshot>,
    /// Players who are added together with their seats.
    pub newcomers: Vec<Newcomer>,
    /// Each match's entries in order.
    pub entries: Vec<EntryRow>,
    pub dispatches: Vec<NewDispatch>,
    /// The pins of dispatches that entries list as delivered, each with its match.
    pub listed: Vec<(String, Digest)>,
    /// Dispatches that another club sent: stored, and never sent from here.
    pub posted: Vec<NewDispatch>,
    /// New invitations, and those that close. One that is made and taken in the same settlement occurs twice.
    pub invitations: Vec<Invitation>,
    /// Saved as by [`Store::save_player`].
    pub players: Vec<Player>,
    /// Players to delete, each with the player who gets all their seats and addresses.
    pub merged: Vec<(i64, i64)>,
    /// The Message-IDs of dispatches that bounced.
    pub returned: Vec<String>,
    /// Addresses whose dispatches are queued again if they were given up.
    pub requeued: Vec<String>,
    pub restraints: Restraints,
    /// Letters in a player's name that were not proven to be theirs, and those about which the player has decided.
    pub unproven: Vec<UnprovenLetter>,
    /// Changes that players ask for, each at its new stage.
    pub changes: Vec<PlayerChange>,
    /// Books with their new entries.
    pub books: Vec<BookChange>,
    /// Keys and values, saved as by [`Store::remember`].
    pub remembered: Vec<(String, String)>,
    /// In order: one address can have several.
    pub lots: Vec<LotChange>,
}

impl Settlement {
    /// Whether it changes only matches and waiting letters, with their entries and dispatches.
    pub fn is_of_matches(&self) -> bool {
        let Settlement {
            at: _,
            letters,
            decided: _,
            postponed: _,
            matches: _,
            seats,
            seat_pins: _,
            snapshots: _,
            newcomers,
            entries: _,
            dispatches: _,
            listed: _,
            posted,
            invitations,
            players,
            merged,
            returned,
            requeued,
            // Counts exceed no limit when they are written, so the next batch may be decided before.
            restraints: Restraints { uses: _, standings, questions },
            unproven,
            changes,
            books,
            remembered,
            lots,
        } = self;
        let senders = standings.is_empty() && questions.is_empty();
        let people = seats.is_empty()
            && newcomers.is_empty()
            && players.is_empty()
            && merged.is_empty()
            && invitations.is_empty()
            && changes.is_empty()
            && lots.is_empty();
        let letters = letters.is_empty()
            && requeued.is_empty()
            && posted.is_empty()
            && returned.is_empty()
            && unproven.is_empty()
            && books.is_empty()
            && remembered.is_empty();
        people && senders && letters
    }

    /// Adds another settlement, which is about other matches.
    pub fn absorb(&mut self, other: Settlement) {
        let Settlement {
            at: _,
            letters,
            decided,
            postponed,
            matches,
            seats,
            seat_pins,
            snapshots,
            newcomers,
            entries,
            dispatches,
            listed,
            posted,
            invitations,
            players,
            merged,
            returned,
            requeued,
            restraints,
            unproven,
            changes,
            books,
            remembered,
            lots,
        } = other;
        self.letters.extend(letters);
        self.decided.extend(decided);
        self.postponed.extend(postponed);
        self.matches.extend(matches);
        self.seats.extend(seats);
        self.seat_pins.extend(seat_pins);
        self.snapshots.extend(snapshots);
        self.newcomers.extend(newcomers);
        self.entries.extend(entries);
        self.dispatches.extend(dispatches);
        self.listed.extend(listed);
        self.posted.extend(posted);
        self.invitations.extend(invitations);
        self.players.extend(players);
        self.merged.extend(merged);
        self.returned.extend(returned);
        self.requeued.extend(requeued);
        self.restraints.absorb(restraints);
        self.unproven.extend(unproven);
        self.changes.extend(changes);
        self.books.extend(books);
        self.remembered.extend(remembered);
        self.lots.extend(lots);
    }
}

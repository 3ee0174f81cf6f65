//! The changes that one transaction writes.

use chrono::{DateTime, Utc};

use super::{
    EntryRow, Invitation, KeptSnapshot, LetterDecision, MatchRow, NewDispatch, Newcomer, Player,
    PlayerChange, Postponed, Restraints, SeatRow, UnprovenLetter,
};
use crate::ledger::KeptPin;
use crate::letter::Digest;

/// Everything that one or more rulings change, written in one transaction.
#[derive(Clone, Debug, Default)]
pub struct Settlement {
    pub at: DateTime<Utc>,
    pub decided: Vec<LetterDecision>,
    /// Ignored for letters that no longer wait.
    pub postponed: Vec<Postponed>,
    /// One row at most for each match, with the `version` that was loaded.
    pub matches: Vec<MatchRow>,
    /// Seats of new matches, and seats whose player or token changes.
    pub seats: Vec<SeatRow>,
    /// The pins of who holds a seat, each with its match.
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
    /// Invitations that are new or close. One that is made and taken in the same settlement occurs twice.
    pub invitations: Vec<Invitation>,
    /// Saved as by [`Database::save_player`].
    pub players: Vec<Player>,
    /// Players to delete, each with the player who gets all their seats and addresses.
    pub merged: Vec<(i64, i64)>,
    /// The Message-IDs of dispatches that bounced.
    pub returned: Vec<String>,
    /// Addresses whose dispatches are queued again if they were given up.
    pub requeued: Vec<String>,
    pub restraints: Restraints,
    /// Letters in a player's name that were not proven to be theirs, new or confirmed or denied by the player.
    pub unproven: Vec<UnprovenLetter>,
    /// Changes that players ask for, each at its new stage.
    pub changes: Vec<PlayerChange>,
    /// Keys and values, saved as by [`Database::remember`].
    pub remembered: Vec<(String, String)>,
}

impl Settlement {
    /// Whether it changes only matches and waiting letters, with their entries and dispatches.
    pub fn is_of_matches(&self) -> bool {
        let Settlement {
            at: _,
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
            invitations,
            players,
            merged,
            returned,
            requeued,
            // Counts exceed no limit when they are written, so the next batch may be decided before.
            restraints: Restraints { uses: _, standings, questions },
            unproven,
            changes,
            remembered,
        } = self;
        let senders = standings.is_empty() && questions.is_empty();
        let people = seats.is_empty()
            && newcomers.is_empty()
            && players.is_empty()
            && merged.is_empty()
            && invitations.is_empty()
            && changes.is_empty();
        let letters =
            requeued.is_empty() && returned.is_empty() && unproven.is_empty() && remembered.is_empty();
        people && senders && letters
    }

    /// Adds another settlement, which is about other matches.
    pub fn absorb(&mut self, other: Settlement) {
        let Settlement {
            at: _,
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
            invitations,
            players,
            merged,
            returned,
            requeued,
            restraints,
            unproven,
            changes,
            remembered,
        } = other;
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
        self.invitations.extend(invitations);
        self.players.extend(players);
        self.merged.extend(merged);
        self.returned.extend(returned);
        self.requeued.extend(requeued);
        self.restraints.absorb(restraints);
        self.unproven.extend(unproven);
        self.changes.extend(changes);
        self.remembered.extend(remembered);
    }
}

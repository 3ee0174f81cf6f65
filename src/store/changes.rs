//! The changes that one transaction writes.

use chrono::{DateTime, Utc};

use super::{
    EntryRow, EventEnd, EventMatchRow, EventRow, Invitation, KeptSnapshot, LetterDecision, MatchRow,
    NewDispatch, Newcomer, OwedTurnRow, Player, PlayerChange, Postponed, RatingRow, RatingsAnew, Restraints,
    SeatRow, SendOutcome, UnprovenLetter,
};
use crate::game::any::GameKind;
use crate::ledger::KeptPin;
use crate::letter::Digest;
use crate::referee::DispatchKind;

/// Everything that one or more rulings change, written in one transaction.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub at: DateTime<Utc>,
    pub decided: Vec<LetterDecision>,
    /// Ignored for letters that no longer wait.
    pub postponed: Vec<Postponed>,
    /// One row at most for each match, with the `version` that was loaded.
    pub matches: Vec<MatchRow>,
    /// Seats of new matches, and seats whose player or token changes.
    pub seats: Vec<SeatRow>,
    /// Pins of the holders of seats, each with its match.
    pub seat_pins: Vec<(String, KeptPin)>,
    /// Matches as they were before the procedure changed.
    pub snapshots: Vec<KeptSnapshot>,
    /// Players who are added together with their seats.
    pub newcomers: Vec<Newcomer>,
    /// Each match's entries in order.
    pub entries: Vec<EntryRow>,
    pub dispatches: Vec<NewDispatch>,
    /// The outcomes of dispatches, oldest first.
    pub outcomes: Vec<(i64, SendOutcome)>,
    /// The readers and kinds of digests that take the place of earlier ones, if those still wait to be sent.
    pub replaced_digests: Vec<(String, DispatchKind)>,
    /// The pins of dispatches that entries list as delivered, each with its match.
    pub listed: Vec<(String, Digest)>,
    /// Invitations that are added or closed. One that is made and taken in the same changes occurs twice.
    pub invitations: Vec<Invitation>,
    /// Turns that rulings closed.
    pub owed_turns: Vec<OwedTurnRow>,
    /// Ratings after results.
    pub ratings: Vec<RatingRow>,
    /// Ratings of whole games, which replace those that are stored.
    pub ratings_anew: Vec<RatingsAnew>,
    /// Games whose ratings must be recomputed.
    pub stale_ratings: Vec<GameKind>,
    /// One row at most for each event, with the `version` that was loaded.
    pub events: Vec<EventRow>,
    /// Each book's entries in order; `chain` is the event.
    pub book_entries: Vec<EntryRow>,
    pub event_matches: Vec<EventMatchRow>,
    /// Ends of matches that events have processed, and whether each is a result that counts.
    pub event_ends: Vec<EventEnd>,
    /// The events whose season is closed.
    pub closed_seasons: Vec<String>,
    /// Players, each with all addresses in order.
    pub players: Vec<Player>,
    /// Players to delete, each with the player who gets all their seats and addresses.
    pub merged: Vec<(i64, i64)>,
    /// The Message-IDs of dispatches that bounced.
    pub returned: Vec<String>,
    /// Addresses whose dispatches are queued again if they were given up.
    pub requeued: Vec<String>,
    pub restraints: Restraints,
    /// Unproven letters in players' names: new ones, and ones that the player has confirmed or denied.
    pub unproven: Vec<UnprovenLetter>,
    /// Changes that players ask for, each at its new stage.
    pub player_changes: Vec<PlayerChange>,
    /// Keys and values, saved as by [`Database::remember`].
    pub remembered: Vec<(String, String)>,
}

impl Changes {
    /// Adds later changes.
    pub fn absorb(&mut self, other: Changes) {
        // Name every field, so that the compiler reports a new one.
        let Changes {
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
            outcomes,
            replaced_digests,
            listed,
            invitations,
            owed_turns,
            ratings,
            ratings_anew,
            stale_ratings,
            events,
            book_entries,
            event_matches,
            event_ends,
            closed_seasons,
            players,
            merged,
            returned,
            requeued,
            restraints,
            unproven,
            player_changes,
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
        self.outcomes.extend(outcomes);
        self.replaced_digests.extend(replaced_digests);
        self.listed.extend(listed);
        self.invitations.extend(invitations);
        self.owed_turns.extend(owed_turns);
        self.ratings.extend(ratings);
        self.ratings_anew.extend(ratings_anew);
        self.stale_ratings.extend(stale_ratings);
        self.events.extend(events);
        self.book_entries.extend(book_entries);
        self.event_matches.extend(event_matches);
        self.event_ends.extend(event_ends);
        self.closed_seasons.extend(closed_seasons);
        self.players.extend(players);
        self.merged.extend(merged);
        self.returned.extend(returned);
        self.requeued.extend(requeued);
        self.restraints.absorb(restraints);
        self.unproven.extend(unproven);
        self.player_changes.extend(player_changes);
        self.remembered.extend(remembered);
    }
}

//! Sums up a match in one line: for the GM's lists, for digests, and for players who ask for their matches.

use chrono::{DateTime, Utc};

use crate::game::Seat;
use crate::referee::{DUE_SOON, Listing, MatchOverview, MatchSummary, Stage};
use crate::report::{GmMatchSummary, format_local};
use crate::zone::Zone;

/// Whether a match is on one of the GM's lists.
pub fn is_on(game_match: &MatchOverview, listing: Listing, now: DateTime<Utc>) -> bool {
    match listing {
        Listing::All => game_match.stage != Stage::Over,
        Listing::Running => game_match.stage == Stage::Running,
        Listing::Late => game_match.is_late(now),
        Listing::Paused => game_match.stage == Stage::Paused,
        Listing::Protests => game_match.protest.is_some(),
        Listing::Due => running_deadline(game_match).is_some_and(|due| due > now && due <= now + DUE_SOON),
        Listing::Ended => game_match.stage == Stage::Over,
    }
}

/// Sums up a match in one line at `now`, for the player of `seat`, in the time zone that the player has
/// chosen.
pub fn match_line(
    game_match: &MatchOverview,
    seat: Seat,
    zone: Option<Zone>,
    now: DateTime<Utc>,
) -> MatchSummary {
    let phase = match (&game_match.due, &game_match.outcome) {
        (Some(_), _) if game_match.stage == Stage::Paused => "paused".to_owned(),
        (Some(due), _) if due.turn == 0 => "in its setup".to_owned(),
        (Some(due), _) => format!("in turn {}", due.turn),
        (None, Some(outcome)) => format!("over ({})", outcome.reason),
        (None, None) => String::new(),
    };
    let deadline = running_deadline(game_match);
    MatchSummary {
        id: game_match.id.clone(),
        game_name: game_match.game.name(),
        foe: game_match.players[seat.other()].clone(),
        phase,
        awaited: game_match.awaited.iter().map(|seat| game_match.players[*seat].clone()).collect(),
        due: deadline,
        due_at: deadline.map(|deadline| format_local(deadline, zone.unwrap_or(game_match.zone), now)),
    }
}

/// Sums up a match in a few words for the GM, without anything that is hidden from one side.
pub fn gm_line(game_match: &MatchOverview, now: DateTime<Utc>) -> GmMatchSummary {
    // Either seat will do, because only fields that both sides see are used.
    let line = match_line(game_match, Seat::First, None, now);
    let mut marks = Vec::new();
    if game_match.asked_gm {
        marks.push("waits for your decision".to_owned());
    }
    for seat in Seat::BOTH {
        let player = &game_match.players[seat];
        if game_match.bouncing[seat] {
            marks.push(format!("letters to {player} come back"));
        }
        if game_match.away[seat] {
            marks.push(format!("{player} may be away"));
        }
        if game_match.protest == Some(seat) {
            marks.push(format!("{player} protests"));
        }
    }
    GmMatchSummary {
        id: line.id,
        game_name: line.game_name,
        names: [game_match.players.first.clone(), game_match.players.second.clone()],
        phase: game_match.result().unwrap_or(line.phase),
        awaited: line.awaited,
        due_at: line.due_at,
        marks,
    }
}

/// Returns the deadline of a match, if it runs.
pub fn running_deadline(game_match: &MatchOverview) -> Option<DateTime<Utc>> {
    game_match.deadline.filter(|_| game_match.stage == Stage::Running)
}

//! The consequence of a deadline whose grace is over.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{bank, bounce};
use crate::game::Seat;
use crate::referee::play::game_match::{Match, Stage};
use crate::referee::schedule::{ForfeitRule, Substitute};

/// The consequence of a missed deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "step", content = "of", rename_all = "snake_case")]
pub enum Consequence {
    /// The GM is asked; `bouncing` are the seats whose mail bounces, if that is the reason.
    AskGm { bouncing: Vec<Seat> },
    /// These seats take a day of their banks.
    TakeDays { takers: Vec<Seat> },
    /// The opponent may go on against the house in this seat.
    OfferSubstitute(Seat),
    /// The seat loses the match.
    Forfeit(Seat),
    /// Both seats lose the match.
    BothForfeit,
    /// The phase is adjudicated on the orders that the rules assume. A side that must move itself gets a new
    /// deadline.
    Assume,
}

/// The seats that miss the phase, and the consequence.
pub struct Enforcement {
    pub missed: Vec<Seat>,
    pub consequence: Consequence,
}

/// Applies the terms to the seats that are late.
pub fn enforcement(game_match: &Match, late: &[Seat]) -> Enforcement {
    let takes_day = |seat: &Seat| bank::takes_day(game_match, *seat);
    // No day of a bank is taken while letters to the seat bounce.
    let is_bouncing = |seat: &Seat| {
        bounce::is_unreachable(game_match, *seat) || game_match.bouncing[*seat] && takes_day(seat)
    };
    let bouncing: Vec<Seat> = late.iter().copied().filter(is_bouncing).collect();
    if !bouncing.is_empty() {
        return Enforcement { missed: Vec::new(), consequence: Consequence::AskGm { bouncing } };
    }
    let takers: Vec<Seat> = late.iter().copied().filter(takes_day).collect();
    let is_new = |seat: &Seat| !game_match.missed_phase[*seat] && !takers.contains(seat);
    let missed: Vec<Seat> = late.iter().copied().filter(is_new).collect();
    let limit = game_match.terms.forfeit_after;
    let is_over = |seat: &Seat| game_match.missed[*seat] + 1 >= limit;
    let over: Vec<Seat> = missed.iter().copied().filter(is_over).collect();
    // If a side must move itself, no move can be assumed for it while the other side takes its days.
    let can_wait = missed.iter().all(|seat| game_match.state.missed(*seat).is_some());
    let consequence = match (over[..].first(), game_match.terms.forfeit) {
        (None, _) if !takers.is_empty() && can_wait => Consequence::TakeDays { takers },
        (Some(seat), _) if over.len() == 1 && game_match.may_substitute() => {
            Consequence::OfferSubstitute(*seat)
        }
        (Some(seat), ForfeitRule::Lose) if over.len() == 1 => Consequence::Forfeit(*seat),
        (Some(_), ForfeitRule::Lose) if game_match.terms.substitute == Substitute::None => {
            Consequence::BothForfeit
        }
        (Some(_), _) => Consequence::AskGm { bouncing: Vec::new() },
        (None, _) => Consequence::Assume,
    };
    Enforcement { missed, consequence }
}

impl Match {
    /// Returns what happens, and when, if nobody files and no GM acts. `None`: the match waits. Depends on
    /// nothing that is hidden from either side.
    pub fn outlook(&self) -> Option<(DateTime<Utc>, Consequence)> {
        if self.stage != Stage::Running || self.asked_gm {
            return None;
        }
        if let Some(vanished) = self.vanished {
            return Some((vanished.until, Consequence::Forfeit(vanished.seat)));
        }
        let late = self.awaited();
        let at = self.deadline.filter(|_| !late.is_empty())? + self.terms.grace();
        Some((at, enforcement(self, &late).consequence))
    }
}

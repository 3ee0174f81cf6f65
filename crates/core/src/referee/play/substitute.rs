//! A player who has vanished: the opponent goes on against the house, or claims the win.

use chrono::TimeDelta;

use super::dispatch::{Content, Notice};
use super::game_match::{Match, Stage};
use super::kept::Vanished;
use super::ruling::Draft;
use super::{adjudication, deadline};
use crate::game::Seat;
use crate::game::record::Ending;
use crate::house;
use crate::ledger::{Cause, Fact};
use crate::referee::rejection::ClaimRejection;
use crate::referee::reply::Reply;
use crate::referee::schedule::{ForfeitRule, Substitute};

/// Days that the opponent has to choose. Silence means taking the win.
const DAYS_TO_CHOOSE: u32 = 7;

impl Match {
    /// Whether the house may take over a seat, by the terms and the rules of the game.
    pub fn may_substitute(&self) -> bool {
        let is_between_people = self.house == Default::default();
        self.terms.substitute == Substitute::House
            && is_between_people
            && !house::levels(self.game).is_empty()
    }

    /// Returns the seat that the house takes over, because the opponent of the player who vanished agreed.
    pub fn seat_for_house(&self) -> Option<Seat> {
        self.vanished.filter(|vanished| vanished.agreed).map(|vanished| vanished.seat)
    }
}

/// Returns the seat whose player has vanished, if `chooser` now decides on it.
pub fn vanished_from(game_match: &Match, chooser: Seat) -> Option<Seat> {
    let open =
        game_match.vanished.filter(|vanished| !vanished.agreed && game_match.stage == Stage::Running)?;
    Some(open.seat).filter(|seat| *seat != chooser)
}

/// Returns the seat against which `claimant` can claim the win.
fn claimable_by(game_match: &Match, claimant: Seat) -> Result<Seat, ClaimRejection> {
    if game_match.house[claimant.other()].is_some() {
        return Err(ClaimRejection::OpponentIsHouse);
    }
    let Some(vanished) = game_match.vanished else { return Err(rejection_of_early_claim(game_match)) };
    if !vanished.agreed && game_match.stage != Stage::Running {
        Err(ClaimRejection::Paused)
    } else if vanished.seat == claimant {
        Err(ClaimRejection::SenderVanished)
    } else if vanished.agreed {
        Err(ClaimRejection::AgreedToHouse)
    } else {
        Ok(vanished.seat)
    }
}

/// Returns why there is no win to claim while no player has vanished.
fn rejection_of_early_claim(game_match: &Match) -> ClaimRejection {
    if game_match.asked_gm {
        return ClaimRejection::GmDecides;
    }
    if game_match.may_substitute() {
        return ClaimRejection::NotVanished;
    }
    match game_match.terms.forfeit {
        ForfeitRule::Ask => ClaimRejection::GmDecides,
        ForfeitRule::Lose => ClaimRejection::LossIsAutomatic,
    }
}

/// Whether the player of this seat has vanished, and the opponent has not chosen yet.
pub fn has_vanished(game_match: &Match, seat: Seat) -> bool {
    game_match.vanished.is_some_and(|vanished| vanished.seat == seat && !vanished.agreed)
}

/// Lets the opponent of a player who has vanished choose.
pub fn offer(draft: &mut Draft, seat: Seat) {
    let absences = &draft.game_match.absences[seat.other()];
    let until = draft.game_match.terms.deadline(draft.at, DAYS_TO_CHOOSE, absences);
    let mut vanished = Vanished { seat, until, local_until: None, agreed: false };
    vanished.choose_by(until, draft.game_match.terms.zone);
    draft.game_match.vanished = Some(vanished);
    // From now on, AGREE means going on against the house.
    draft.game_match.extension = None;
    draft.record(Fact::SubstituteOffered { seat, until });
    draft.dispatch_to_both(Content::Notice(Notice::Vanished { seat, deadline: until }));
}

/// Ends the match if the opponent has not chosen in time. Returns whether there was a choice to make.
pub fn lapse(draft: &mut Draft) -> bool {
    let Some(Vanished { seat, until, .. }) = draft.game_match.vanished else { return false };
    if until <= draft.at {
        adjudication::close(draft, Ending::Forfeit(seat));
    }
    true
}

/// Gives the opponent this much more time to choose.
pub fn prolong(draft: &mut Draft, by: TimeDelta) {
    if let Some(vanished) = &mut draft.game_match.vanished {
        vanished.choose_by(vanished.until + by, draft.game_match.terms.zone);
    }
}

/// Continues play with a vanished player who is back and has filed. The other side gets a new deadline if it
/// has not filed yet.
pub fn come_back(draft: &mut Draft, seat: Seat) {
    if draft.game_match.vanished.take_if(|vanished| vanished.seat == seat).is_some()
        && !draft.game_match.awaited().is_empty()
    {
        deadline::start(draft);
    }
}

/// Claims the win over a player who has vanished.
pub fn claim(draft: &mut Draft, by: Seat) -> Reply {
    match claimable_by(&draft.game_match, by) {
        Ok(seat) => {
            adjudication::close(draft, Ending::Forfeit(seat));
            Reply::Claimed
        }
        Err(why) => Reply::NothingToClaim { why },
    }
}

/// Goes on against the house in the place of a player who has vanished. The shell seats the house.
pub fn agree(draft: &mut Draft, by: Seat) -> Reply {
    let Some(seat) = vanished_from(&draft.game_match, by) else { return Reply::NothingToAgree };
    draft.game_match.vanished =
        draft.game_match.vanished.map(|vanished| Vanished { agreed: true, ..vanished });
    // Nobody is late now. The successor gets a deadline, or the other side does once the house has moved.
    deadline::clear(&mut draft.game_match);
    draft.record(Fact::SubstituteAgreed { seat });
    Reply::SubstituteAgreed
}

/// Whether the program may seat the house: only if the opponent of a player who has vanished agreed. GMs may
/// always.
pub fn may_seat(draft: &Draft, seat: Seat) -> bool {
    draft.game_match.seat_for_house() == Some(seat) || !is_by_program(draft)
}

/// Whether the program itself is the cause.
pub fn is_by_program(draft: &Draft) -> bool {
    matches!(draft.cause, Cause::Program { .. })
}

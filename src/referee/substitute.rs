//! A player who has vanished: the opponent goes on against the house, or takes the win.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::kept::Vanished;
use super::life::{Draft, Match};
use super::schedule::{ForfeitRule, Substitute};
use super::stage::Stage;
use super::{Content, Notice, Reply};
use crate::game::Seat;
use crate::game::record::Ending;
use crate::house;
use crate::ledger::{Cause, Fact};

/// Days in which the opponent chooses. Silence takes the win.
const DAYS_TO_CHOOSE: u32 = 7;

/// Why CLAIM takes no win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimRejection {
    /// The house holds the opponent's seat.
    OpponentIsHouse,
    /// The sender agreed to go on against the house.
    AgreedToHouse,
    /// The sender has missed too many turns, so that the opponent may choose.
    SenderVanished,
    /// The opponent has missed too many turns, but nobody can choose while the match is paused.
    Paused,
    /// The GM decides, by the terms or because the GM was asked.
    GmDecides,
    /// The terms let a player who misses too many turns lose without a claim.
    LossIsAutomatic,
    /// The opponent has missed too few turns, is back, or has more time.
    NotVanished,
}

impl Match {
    /// Whether the house may take over a seat, by the terms and the rules of the game.
    pub fn may_substitute(&self) -> bool {
        let is_between_people = self.house == Default::default();
        self.terms.substitute == Substitute::House
            && is_between_people
            && !house::levels(self.game).is_empty()
    }

    /// Whether a deadline that passes has consequences, because nobody was asked to decide what they are.
    pub(super) fn enforces_deadline(&self) -> bool {
        !self.asked_gm && self.vanished.is_none()
    }

    /// Returns the seat that the house is to have, because the opponent of the player who vanished agreed.
    pub fn seat_for_house(&self) -> Option<Seat> {
        self.vanished.filter(|vanished| vanished.agreed).map(|vanished| vanished.seat)
    }

    /// Returns the seat whose player has vanished, if it is now for `chooser` to say what becomes of it.
    pub(super) fn vanished_from(&self, chooser: Seat) -> Option<Seat> {
        let open = self.vanished.filter(|vanished| !vanished.agreed && self.stage == Stage::Running)?;
        Some(open.seat).filter(|seat| *seat != chooser)
    }

    /// Returns the seat over which `claimant` can take the win.
    fn claimable_by(&self, claimant: Seat) -> Result<Seat, ClaimRejection> {
        if self.house[claimant.other()].is_some() {
            return Err(ClaimRejection::OpponentIsHouse);
        }
        let Some(vanished) = self.vanished else { return Err(self.rejection_of_early_claim()) };
        if !vanished.agreed && self.stage != Stage::Running {
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
    fn rejection_of_early_claim(&self) -> ClaimRejection {
        if self.asked_gm {
            return ClaimRejection::GmDecides;
        }
        if self.may_substitute() {
            return ClaimRejection::NotVanished;
        }
        match self.terms.forfeit {
            ForfeitRule::Ask => ClaimRejection::GmDecides,
            ForfeitRule::Lose => ClaimRejection::LossIsAutomatic,
        }
    }

    /// Whether the player of this seat has vanished, and the opponent has not chosen yet.
    pub(super) fn has_vanished(&self, seat: Seat) -> bool {
        self.vanished.is_some_and(|vanished| vanished.seat == seat && !vanished.agreed)
    }
}

/// Lets the opponent of a player who has vanished choose.
pub(super) fn offer(draft: &mut Draft, seat: Seat) {
    let absences = &draft.game_match.absences[seat.other()];
    let until = draft.game_match.terms.deadline(draft.at, DAYS_TO_CHOOSE, absences);
    draft.game_match.vanished = Some(Vanished { seat, until, agreed: false });
    // From now on, AGREE means the house.
    draft.game_match.extension = None;
    draft.record(Fact::SubstituteOffered { seat, until });
    draft.dispatch_to_both(Content::Notice(Notice::Vanished { seat, deadline: until }));
}

/// Ends the match if the opponent has not chosen in time. Returns whether the choice is open or was made now.
pub(super) fn lapse(draft: &mut Draft) -> bool {
    let Some(Vanished { seat, until, .. }) = draft.game_match.vanished else { return false };
    if until <= draft.at {
        draft.close(Ending::Forfeit(seat));
    }
    true
}

/// Gives the opponent as much more time to choose.
pub(super) fn prolong(draft: &mut Draft, by: TimeDelta) {
    if let Some(vanished) = &mut draft.game_match.vanished {
        vanished.until += by;
    }
}

/// The vanished player is back, and has filed. The other side gets a new deadline if it has not filed yet.
pub(super) fn come_back(draft: &mut Draft, seat: Seat) {
    if draft.game_match.vanished.take_if(|vanished| vanished.seat == seat).is_some()
        && !draft.game_match.awaited().is_empty()
    {
        draft.set_deadline(draft.game_match.phase_days());
    }
}

/// Takes the win over a player who has vanished.
pub(super) fn claim(draft: &mut Draft, by: Seat) -> Reply {
    match draft.game_match.claimable_by(by) {
        Ok(seat) => {
            draft.close(Ending::Forfeit(seat));
            Reply::Claimed
        }
        Err(why) => Reply::NothingToClaim { why },
    }
}

/// Goes on against the house in the place of a player who has vanished. The shell seats the house.
pub(super) fn agree(draft: &mut Draft, by: Seat) -> Reply {
    let Some(seat) = draft.game_match.vanished_from(by) else { return Reply::NothingToAgree };
    draft.game_match.vanished =
        draft.game_match.vanished.map(|vanished| Vanished { agreed: true, ..vanished });
    // Nobody is late any more. Who takes the seat gets a deadline, or the other side once the house has moved.
    draft.game_match.deadline = None;
    draft.record(Fact::SubstituteAgreed { seat });
    Reply::SubstituteAgreed
}

/// Whether the program may seat the house: only where the opponent of a player who has vanished agreed. GMs may always.
pub(super) fn may_seat(draft: &Draft, seat: Seat) -> bool {
    draft.game_match.seat_for_house() == Some(seat) || !is_by_program(draft)
}

/// Whether the program itself is the cause.
pub(super) fn is_by_program(draft: &Draft) -> bool {
    matches!(draft.cause, Cause::Program { .. })
}

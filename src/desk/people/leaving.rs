//! LEAVE: a player gives up all running matches, once a registered address has agreed.

use super::changes;
use crate::desk::events::entering;
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedMatch, or_lacking};
use crate::desk::frame::standing;
use crate::desk::matches::offers;
use crate::desk::outbox::ruling_mail;
use crate::game::Seat;
use crate::referee::{Act, ChangeReply, Stage};
use crate::report::ChangeLetter;
use crate::store::{ChangeKind, ChangeStage, Invitation, InvitationStage, Player, PlayerChange};

/// Asks the registered address whether the player wants to leave, with a list of the matches that would end.
pub fn ask_to_leave(desk: &mut Desk<'_>, asker: &Asker, confirmed: bool) -> Decided<ChangeReply> {
    if !confirmed {
        return Ok(ChangeReply::LeaveUnconfirmed);
    }
    let Some(player) = changes::asking_player(desk, asker)? else { return Ok(ChangeReply::NoPlayer) };
    if let Some(refused) = standing::refuse_new_address(desk, &player, &asker.sender, "LEAVE")? {
        return Ok(refused);
    }
    let Some(registered) = standing::trusted_addresses(desk, &player)?.into_iter().next() else {
        return Ok(ChangeReply::NoPlayer);
    };
    changes::propose(desk, asker, &player, ChangeKind::Leave, "", registered)
}

/// Resigns the matches that the question listed, withdraws the player's offers, and tells the GM. A match
/// that the player joined after the question continues, because nobody agreed to resign it.
pub fn leave(desk: &mut Desk<'_>, asker: &Asker, row: PlayerChange, player: &Player) -> Decided<ChangeReply> {
    let mut loaded = desk.matches_with(player.id)?;
    loaded.retain(|loaded| loaded.game_match.stage != Stage::Over);
    let is_listed = |loaded: &LoadedMatch| row.matches.contains(&loaded.game_match.id);
    let (loaded, kept): (Vec<LoadedMatch>, Vec<LoadedMatch>) = loaded.into_iter().partition(is_listed);
    let kept = kept.into_iter().map(|loaded| loaded.game_match.id).collect();
    // Ask for all entries first, so that one round loads the records of all matches.
    for ending in &loaded {
        or_lacking(desk.rows.entries(&ending.game_match.id))?;
    }
    desk.rows.check()?;
    let mut matches = Vec::new();
    for ending in loaded {
        let seats = Seat::BOTH.into_iter();
        for seat in seats.filter(|seat| ending.seats[*seat].player.id == player.id) {
            let ruling = ruling_mail::act(desk, &ending.game_match, Act::Leave(seat));
            matches.push(ending.game_match.id.clone());
            ruling_mail::record_ruling(desk, ending.clone(), ruling)?;
        }
    }
    for offer in offers::open_offers_of(desk, asker)? {
        let withdrawn = Invitation { stage: InvitationStage::Declined, ..offer };
        desk.draft.changes.invitations.push(withdrawn);
    }
    entering::leave_all(desk, player.id, asker.letter)?;
    let letter = ChangeLetter::Left { name: player.name.clone(), matches: matches.clone() };
    changes::tell_gm_of_change(desk, &row, letter)?;
    changes::set_stage(desk, row, ChangeStage::Done);
    Ok(ChangeReply::Left { matches, kept })
}

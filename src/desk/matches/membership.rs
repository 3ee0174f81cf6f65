//! Membership: whether somebody whom the GM has not registered can make and take up offers.

use crate::config::Membership;
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::referee::{OfferRejection, Reply};
use crate::request::Command;

/// Returns the rejection of a newcomer's command if the newcomer cannot play here yet.
pub fn refuse_newcomer(desk: &Desk<'_>, asker: &Asker, command: &Command) -> Option<Reply> {
    if !would_admit_newcomer(desk, asker, command) {
        return None;
    }
    let needs_approval = desk.club.config.club.membership == Membership::Approval;
    let why = rejection_of_newcomer(desk, asker, command);
    let why = why.or(needs_approval.then_some(OfferRejection::NeedsApproval))?;
    Some(Reply::NoOffer { command: command.name(), why })
}

/// Returns the reason to reject a newcomer that does not depend on who they are.
pub fn rejection_of_newcomer(desk: &Desk<'_>, asker: &Asker, command: &Command) -> Option<OfferRejection> {
    if !would_admit_newcomer(desk, asker, command) {
        None
    } else if !asker.sender.is_reachable() {
        Some(OfferRejection::Unreachable { address: asker.from.clone() })
    } else {
        (desk.club.config.club.membership == Membership::Closed).then_some(OfferRejection::MembersOnly)
    }
}

/// Whether a command would make somebody a player.
fn would_admit_newcomer(desk: &Desk<'_>, asker: &Asker, command: &Command) -> bool {
    asker.player_id.is_none() && !desk.club.is_gm(&asker.sender) && lets_play(command)
}

/// Whether a command can lead to a match.
fn lets_play(command: &Command) -> bool {
    matches!(
        command,
        Command::Challenge { .. }
            | Command::ChallengeNamed { .. }
            | Command::Open { .. }
            | Command::Accept(_)
            | Command::Join(_)
            | Command::Enter(_)
    )
}

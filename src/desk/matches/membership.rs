//! Membership: whether somebody whom the GM has not registered can make and take up offers.

use crate::config::Membership;
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::outbox::budgets;
use crate::desk::outbox::gms::{self, GmTopic};
use crate::letter::Digest;
use crate::referee::{OfferRejection, Reply};
use crate::report::ClubLetter;
use crate::request::Command;

/// Returns the rejection of a newcomer's command if the newcomer cannot play here. If the GM admits newcomers,
/// tells the GM of this one.
pub fn refuse_newcomer(desk: &mut Desk<'_>, asker: &Asker, command: &Command) -> Decided<Option<Reply>> {
    if !would_admit_newcomer(desk, asker, command) {
        return Ok(None);
    }
    let mut why = rejection_of_newcomer(desk, asker, command);
    if why.is_none() && desk.club.config.club.membership == Membership::Approval {
        tell_gm_of_newcomer(desk, asker)?;
        why = Some(OfferRejection::NeedsApproval);
    }
    let command = command.name();
    Ok(why.map(|why| Reply::NoOffer { command, why }))
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

/// Tells the GM of a newcomer, once a day.
fn tell_gm_of_newcomer(desk: &mut Desk<'_>, asker: &Asker) -> Decided<()> {
    let day = desk.at().date_naive();
    let address = Digest::of(asker.from.as_bytes()).to_string();
    let plain = ClubLetter::Newcomer { address: asker.from.clone() };
    let unique = format!("n.{}.{day}", &address[..24]);
    for dispatch in gms::gm_letters(desk, &plain, &unique, GmTopic::Club)? {
        // If there is no room now, the newcomer's next letter tells the GM.
        budgets::send_once_for_others(desk, dispatch)?;
    }
    Ok(())
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

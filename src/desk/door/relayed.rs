//! Letters that a list or a forwarder has relayed under an address of its own. Their From does not say who wrote them,
//! and an answer to it would reach everybody on the list, or nobody.

use super::sender::{Sender, sender_of};
use crate::desk::frame::asker::Evidence;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::outbox::alarms;
use crate::desk::outbox::gms::GmTopic;
use crate::desk::people::{commands, confirm};
use crate::letter::{Digest, Letter};
use crate::referee::Reply;
use crate::report::Trouble;
use crate::request::{Command, Request, lines_of};
use crate::store::LetterStatus;

/// Returns the person whose valid reply token a relayed letter bears; they are asked at their registered address as
/// about any unknown one, and the GM is told of the relay once. Returns `None` for any other letter.
pub fn sender_behind(desk: &mut Desk<'_>, letter: &Letter) -> Decided<Option<Sender>> {
    let sender = match sender_of(desk, letter)? {
        sender @ (Sender::Unknown(_) | Sender::GmImpostor(_)) => sender,
        // The relay kept the From of the person, who is asked alike, because everybody on a list may know the token.
        Sender::Seat(row) => return Ok(Some(Sender::Unknown(row))),
        Sender::Gm { .. } | Sender::Stranger => return Ok(None),
    };
    let address = letter.from.as_str();
    let unique = format!("relay.{}", &Digest::of(address.as_bytes()).to_string()[..24]);
    let trouble = Trouble::Relayed { address: address.to_owned() };
    alarms::tell_once(desk, &trouble, &unique, GmTopic::Club)?;
    Ok(Some(sender))
}

/// Confirms letters whose code a relayed letter bears, because whoever must write through the relay could not confirm
/// anything otherwise. Returns whether there were any. The registered address is told, and the relay is not.
pub fn follow_code(desk: &mut Desk<'_>, letter: &Letter) -> Decided<bool> {
    let asker = commands::asker(desk, letter, Evidence::Unsigned)?;
    let request = Request::read(&lines_of(letter.new_text(None)), |_: &str| false);
    let mut is_confirmed = false;
    for asked in &request.commands {
        if let Command::Confirm { code, .. } = &asked.command {
            let reply = confirm::confirm_letters(desk, &asker, code, false)?;
            is_confirmed |= matches!(reply, Reply::LettersConfirmed { .. });
        }
    }
    if is_confirmed {
        let note = "confirmed letters that came the same way".to_owned();
        desk.decided(letter.digest, LetterStatus::Answered, note);
    }
    Ok(is_confirmed)
}

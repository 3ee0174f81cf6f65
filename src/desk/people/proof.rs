//! Whether the letter with a command proves its writer, looked at in one place before any command is carried
//! out. [`Proof`] says what each command needs.

use crate::desk::frame::asker::{Asker, Evidence};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::matches::offers;
use crate::request::{Command, Proof};

/// The verdict on the proof in a command's letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Enough to carry out the command.
    Proven,
    /// Too little: only a token says which match is meant.
    NeedsToken,
    /// Too little: the command waits for the answer to our question to the sender.
    Asks,
    /// Too little, because the letter lacks a signature that it must have.
    Unsigned,
}

/// Compares what a command needs with what its letter shows.
pub fn verdict(desk: &Desk<'_>, asker: &Asker, command: &Command) -> Decided<Verdict> {
    let is_proven = match command.proof() {
        Proof::Nothing => true,
        // The ruling on a letter with a token has looked at which match's it is.
        Proof::MatchToken | Proof::AnyToken if asker.has_token() => true,
        Proof::MatchToken | Proof::AnyToken => return Ok(Verdict::NeedsToken),
        // The code proves the sender even if the letter is unsigned. It is looked up for the sender's address,
        // so the code of a letter to somebody else is as good as none.
        Proof::Code if matches!(command, Command::Confirm { .. } | Command::Deny(_)) => true,
        Proof::OwnQuestion => asker.evidence > Evidence::Unsigned,
        Proof::Code if asker.evidence == Evidence::Address => offers::knows_code(desk, asker, command)?,
        Proof::Code | Proof::Answer => asker.evidence >= Evidence::Answer,
    };
    Ok(match asker.evidence {
        _ if is_proven => Verdict::Proven,
        Evidence::Unsigned => Verdict::Unsigned,
        Evidence::Address | Evidence::Answer | Evidence::Token => Verdict::Asks,
    })
}

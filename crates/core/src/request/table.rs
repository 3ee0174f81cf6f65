//! The table of commands: the name of each, and what proves that its sender wrote it.

use super::command::Command;

/// What proves the writer of a command. Anybody can put somebody else's address on a letter, so the address
/// proves nothing, and neither does an earlier letter from it. The desk looks at this before it carries out
/// any command; `referee::SeatLetter` does so for the commands of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The reply token of the match that it is about.
    MatchToken,
    /// The reply token of any match of the player.
    AnyToken,
    /// A code that we told to the sender alone. That of an open seat stands in public and proves nothing: such
    /// a command needs what [`Proof::Answer`] needs.
    Code,
    /// The answer to our question to the sender's address, in which the command stands, or any token.
    Answer,
    /// The answer to a question that the command itself causes, even if it comes with a token.
    OwnQuestion,
    /// Nothing: it changes nothing for anybody, and only its sender reads the answer.
    Nothing,
}

impl Command {
    /// Returns the command's name, as in letters, and what proves its writer.
    fn described(&self) -> (&'static str, Proof) {
        match self {
            Command::Status => ("STATUS", Proof::AnyToken),
            Command::Report(_) => ("REPORT", Proof::AnyToken),
            Command::History => ("HISTORY", Proof::AnyToken),
            Command::Hint => ("HINT", Proof::AnyToken),
            Command::Tell(_) => ("TELL", Proof::MatchToken),
            Command::Resign { .. } => ("RESIGN", Proof::MatchToken),
            Command::Draw => ("DRAW", Proof::MatchToken),
            Command::Extend { .. } => ("EXTEND", Proof::MatchToken),
            Command::Agree => ("AGREE", Proof::MatchToken),
            Command::Claim => ("CLAIM", Proof::MatchToken),
            Command::Absent { .. } => ("ABSENT", Proof::AnyToken),
            Command::Substitute => ("SUBSTITUTE", Proof::MatchToken),
            Command::Protest(_) => ("PROTEST", Proof::MatchToken),
            Command::Withdraw => ("WITHDRAW", Proof::AnyToken),
            // The GM reads from which address the words came, and whoever has lost a mailbox has no token.
            Command::TellGm(_) => ("TELL GM", Proof::Nothing),
            Command::Help(_) => ("HELP", Proof::Nothing),
            Command::Games => ("GAMES", Proof::Nothing),
            Command::Rules(_) => ("RULES", Proof::Nothing),
            Command::Matches => ("MATCHES", Proof::Nothing),
            Command::Challenge { .. } | Command::ChallengeNamed { .. } => ("CHALLENGE", Proof::Answer),
            Command::Accept(_) => ("ACCEPT", Proof::Code),
            Command::Decline(_) => ("DECLINE", Proof::Code),
            Command::Open { .. } => ("OPEN", Proof::Answer),
            Command::Join(_) => ("JOIN", Proof::Answer),
            Command::Close(_) => ("CLOSE", Proof::Answer),
            // Only a token says which match it follows.
            Command::Rematch { .. } => ("REMATCH", Proof::AnyToken),
            Command::Block { on: true, .. } => ("BLOCK", Proof::Answer),
            Command::Block { on: false, .. } => ("UNBLOCK", Proof::Answer),
            Command::Profile(_) => ("PROFILE", Proof::Nothing),
            Command::Ratings(_) => ("RATINGS", Proof::Nothing),
            Command::Events => ("EVENTS", Proof::Nothing),
            Command::Enter(_) => ("ENTER", Proof::Answer),
            Command::LeaveEvent { .. } => ("LEAVE", Proof::Answer),
            Command::Standings { .. } => ("STANDINGS", Proof::Nothing),
            Command::Confirm { .. } => ("CONFIRM", Proof::Code),
            Command::Deny(_) => ("DENY", Proof::Code),
            Command::Address { .. } => ("ADDRESS", Proof::OwnQuestion),
            Command::Misaddressed { command, .. } => (command, Proof::Nothing),
            Command::Leave { .. } => ("LEAVE", Proof::OwnQuestion),
            Command::Never(Some(_)) => ("NEVER", Proof::Code),
            Command::Never(None) => ("NEVER", Proof::Answer),
            Command::Settings(settings) if settings.is_empty() => ("SETTINGS", Proof::Nothing),
            Command::Settings(_) => ("SETTINGS", Proof::Answer),
        }
    }

    pub fn name(&self) -> &'static str {
        self.described().0
    }

    pub fn proof(&self) -> Proof {
        self.described().1
    }

    /// Whether it changes something, which `CHECK` suppresses.
    pub fn changes_something(&self) -> bool {
        match self {
            Command::Status | Command::Report(_) | Command::History | Command::Hint => false,
            // One is passed on to the GM. The other was meant to change something.
            Command::TellGm(_) | Command::Misaddressed { .. } => true,
            _ => self.proof() != Proof::Nothing,
        }
    }
}

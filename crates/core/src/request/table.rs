//! The table of commands: the name of each, what proves that its sender wrote it, and what other words in its letter
//! do to it.

use super::beside::Beside;
use super::command::Command;

/// The proof that a command needs of its writer. Anybody can put somebody else's address on a letter, so the address
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

/// The effect of other words in the letter on a command, because they may take it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finality {
    /// It cannot be taken back, so beside other words it is asked for alone.
    Final,
    /// People give their reasons with it. It is asked for alone only beside a sign that the words take it back.
    WithWords,
    /// It asks a question of its own before anything changes.
    AsksFirst,
    /// It takes something back itself, and is always carried out.
    TakesBack,
    /// It only asks.
    Question,
}

impl Command {
    /// Returns the command's name, as in letters, what proves its writer, and what other words do to it.
    fn described(&self) -> (&'static str, Proof, Finality) {
        use Finality::{AsksFirst, Final, Question, TakesBack, WithWords};
        match self {
            Command::Status => ("STATUS", Proof::AnyToken, Question),
            Command::Report(_) => ("REPORT", Proof::AnyToken, Question),
            Command::History => ("HISTORY", Proof::AnyToken, Question),
            Command::Hint => ("HINT", Proof::AnyToken, Question),
            Command::Tell(_) => ("TELL", Proof::MatchToken, WithWords),
            Command::Resign { confirmed: true } => ("RESIGN", Proof::MatchToken, Final),
            Command::Resign { confirmed: false } => ("RESIGN", Proof::MatchToken, AsksFirst),
            Command::Draw => ("DRAW", Proof::MatchToken, Final),
            Command::Extend { .. } => ("EXTEND", Proof::MatchToken, WithWords),
            Command::Agree => ("AGREE", Proof::MatchToken, WithWords),
            Command::Claim => ("CLAIM", Proof::MatchToken, Final),
            Command::Absent { .. } => ("ABSENT", Proof::AnyToken, WithWords),
            Command::Substitute => ("SUBSTITUTE", Proof::MatchToken, WithWords),
            Command::Protest(_) => ("PROTEST", Proof::MatchToken, WithWords),
            Command::Withdraw => ("WITHDRAW", Proof::AnyToken, TakesBack),
            // The GM reads from which address the words came, and whoever has lost a mailbox has no token.
            Command::TellGm(_) => ("TELL GM", Proof::Nothing, WithWords),
            Command::Help(_) => ("HELP", Proof::Nothing, Question),
            Command::Games => ("GAMES", Proof::Nothing, Question),
            Command::Rules(_) => ("RULES", Proof::Nothing, Question),
            Command::Matches => ("MATCHES", Proof::Nothing, Question),
            Command::Challenge { .. } | Command::ChallengeNamed { .. } => {
                ("CHALLENGE", Proof::Answer, WithWords)
            }
            Command::Accept(_) => ("ACCEPT", Proof::Code, WithWords),
            Command::Decline(_) => ("DECLINE", Proof::Code, TakesBack),
            Command::Open { .. } => ("OPEN", Proof::Answer, WithWords),
            Command::Join(_) => ("JOIN", Proof::Answer, WithWords),
            Command::Close(_) => ("CLOSE", Proof::Answer, WithWords),
            // Only a token says which match it follows.
            Command::Rematch { .. } => ("REMATCH", Proof::AnyToken, WithWords),
            Command::Block { on: true, .. } => ("BLOCK", Proof::Answer, WithWords),
            Command::Block { on: false, .. } => ("UNBLOCK", Proof::Answer, WithWords),
            Command::Profile(_) => ("PROFILE", Proof::Nothing, Question),
            Command::Ratings(_) => ("RATINGS", Proof::Nothing, Question),
            Command::Events => ("EVENTS", Proof::Nothing, Question),
            Command::Enter(_) => ("ENTER", Proof::Answer, WithWords),
            Command::LeaveEvent { confirmed: true, .. } => ("LEAVE", Proof::Answer, Final),
            Command::LeaveEvent { confirmed: false, .. } => ("LEAVE", Proof::Answer, AsksFirst),
            Command::Standings { .. } => ("STANDINGS", Proof::Nothing, Question),
            Command::Confirm { always: true, .. } => ("CONFIRM", Proof::Code, Final),
            Command::Confirm { always: false, .. } => ("CONFIRM", Proof::Code, WithWords),
            Command::Deny(_) => ("DENY", Proof::Code, TakesBack),
            Command::Address { .. } => ("ADDRESS", Proof::OwnQuestion, AsksFirst),
            Command::Misaddressed { command, .. } => (command, Proof::Nothing, Question),
            Command::Leave { .. } => ("LEAVE", Proof::OwnQuestion, AsksFirst),
            Command::Never(Some(_)) => ("NEVER", Proof::Code, WithWords),
            Command::Never(None) => ("NEVER", Proof::Answer, WithWords),
            Command::Settings(settings) if settings.is_empty() => ("SETTINGS", Proof::Nothing, Question),
            Command::Settings(_) => ("SETTINGS", Proof::Answer, WithWords),
        }
    }

    pub fn name(&self) -> &'static str {
        self.described().0
    }

    pub fn proof(&self) -> Proof {
        self.described().1
    }

    /// Whether a letter that also says this must not carry it out.
    pub fn is_held_back_by(&self, beside: Beside) -> bool {
        match self.described().2 {
            Finality::Final => beside > Beside::Nothing,
            Finality::WithWords => beside == Beside::Sign,
            Finality::AsksFirst | Finality::TakesBack | Finality::Question => false,
        }
    }

    /// Whether it changes something, which `CHECK` suppresses.
    pub fn changes_something(&self) -> bool {
        match self {
            Command::Status | Command::Report(_) | Command::History | Command::Hint => false,
            // TELL GM reaches the GM, and a misaddressed command was meant to change something.
            Command::TellGm(_) | Command::Misaddressed { .. } => true,
            _ => self.proof() != Proof::Nothing,
        }
    }
}

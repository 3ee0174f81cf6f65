//! Which commands of a letter only ask, and which change something.

use crate::game::any::GameKind;
use crate::request::Command;

/// The commands of one letter that only ask. Each is answered once, because a page of the manual is a thousand times as
/// long as the line that asks for it.
#[derive(Default)]
pub struct Questions(Vec<Command>);

impl Questions {
    /// Whether an earlier command asks the same. If not, notes the command.
    pub fn is_repeated(&mut self, command: &Command) -> bool {
        if changing_command(command).is_some() {
            return false;
        }
        let question = match command {
            // A game has several names, but one page.
            Command::Rules(Some(name)) => Command::Rules(Some(
                GameKind::parse(name).map_or(name.to_lowercase(), |kind| kind.key().into()),
            )),
            other => other.clone(),
        };
        if self.0.contains(&question) {
            return true;
        }
        self.0.push(question);
        false
    }
}

/// Returns the name of a command that changes something, which `CHECK` suppresses; `None` for other commands.
pub fn changing_command(command: &Command) -> Option<&'static str> {
    match command {
        Command::Tell(_) => Some("TELL"),
        Command::Resign { .. } => Some("RESIGN"),
        Command::Draw => Some("DRAW"),
        Command::Extend { .. } => Some("EXTEND"),
        Command::Agree => Some("AGREE"),
        Command::Claim => Some("CLAIM"),
        Command::Absent { .. } => Some("ABSENT"),
        Command::Substitute => Some("SUBSTITUTE"),
        Command::Protest(_) => Some("PROTEST"),
        Command::Withdraw => Some("WITHDRAW"),
        Command::TellGm(_) => Some("TELL GM"),
        Command::Challenge { .. } => Some("CHALLENGE"),
        Command::Accept(_) => Some("ACCEPT"),
        Command::Decline(_) => Some("DECLINE"),
        Command::Open { .. } => Some("OPEN"),
        Command::Join(_) => Some("JOIN"),
        Command::Confirm { .. } => Some("CONFIRM"),
        Command::Deny(_) => Some("DENY"),
        Command::Address { .. } => Some("ADDRESS"),
        Command::Leave { .. } => Some("LEAVE"),
        Command::Never(_) => Some("NEVER"),
        Command::Settings(settings) if settings.is_empty() => None,
        Command::Settings(_) => Some("SETTINGS"),
        Command::Status
        | Command::Report(_)
        | Command::History
        | Command::Hint
        | Command::Help(_)
        | Command::Games
        | Command::Rules(_)
        | Command::Matches
        | Command::Gm(_) => None,
    }
}

//! Repeated commands of one letter. Acts that affect others are carried out together, so that a letter causes
//! one notice of each kind; a repeated question is answered once.

use std::mem::discriminant;

use crate::game::any::GameKind;
use crate::referee::words;
use crate::request::{Command, Request};

/// The treatment of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandTreatment<'a> {
    AsWritten(&'a Command),
    /// Joined with the texts of the others of its kind.
    Joined(Command),
    /// Carried out together with another of its kind.
    WithAnother,
}

/// Whether a letter repeats acts that others are notified of.
pub fn repeats_acts(request: &Request) -> bool {
    let commands = commands_of(request);
    (1..commands.len()).any(|index| holds_like(&commands[..index], commands[index]))
}

/// Returns the treatment of each command of a letter if repeated acts are carried out together: messages are
/// joined, and the last of several requests for more time counts.
pub fn taken_together(request: &Request) -> Vec<CommandTreatment<'_>> {
    let commands = commands_of(request);
    let taken = commands.iter().enumerate().map(|(index, &command)| {
        let comes_again = holds_like(&commands[index + 1..], command);
        match command {
            Command::Extend { .. } if comes_again => CommandTreatment::WithAnother,
            Command::Tell(_) | Command::TellGm(_) | Command::Protest(_) | Command::Substitute
                if holds_like(&commands[..index], command) =>
            {
                CommandTreatment::WithAnother
            }
            Command::Tell(_) if comes_again => {
                CommandTreatment::Joined(Command::Tell(join_texts(&commands, command)))
            }
            Command::TellGm(_) if comes_again => {
                CommandTreatment::Joined(Command::TellGm(join_texts(&commands, command)))
            }
            Command::Protest(_) if comes_again => {
                CommandTreatment::Joined(Command::Protest(join_texts(&commands, command)))
            }
            _ => CommandTreatment::AsWritten(command),
        }
    });
    taken.collect()
}

fn commands_of(request: &Request) -> Vec<&Command> {
    request.commands.iter().map(|asked| &asked.command).collect()
}

/// Whether there is another act of the same kind, and a letter causes only one notice of that kind. A second
/// draw offer, agreement or resignation has no effect, and the other commands concern nobody else in the
/// match.
fn holds_like(commands: &[&Command], command: &Command) -> bool {
    let is_told_once = matches!(
        command,
        Command::Tell(_)
            | Command::TellGm(_)
            | Command::Protest(_)
            | Command::Extend { .. }
            | Command::Substitute
            | Command::Absent { .. }
    );
    is_told_once && commands.iter().any(|other| discriminant(*other) == discriminant(command))
}

/// Joins the texts of all commands of the same kind.
fn join_texts(commands: &[&Command], command: &Command) -> String {
    let alike = commands.iter().filter(|other| discriminant(**other) == discriminant(command));
    let texts: Vec<&str> = alike.filter_map(|other| other.text()).collect();
    words::cut(&texts.join("\n\n"))
}

/// The commands of one letter that only ask. Each is answered once, because a page of the manual is a
/// thousand times as long as the line that asks for it.
#[derive(Default)]
pub struct Questions(Vec<Command>);

impl Questions {
    /// Whether an earlier command asks the same. If not, notes the command.
    pub fn is_repeated(&mut self, command: &Command) -> bool {
        if command.changes_something() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Line;

    fn request(text: &str) -> Request {
        let lines = text.lines().enumerate().map(|(no, text)| Line { no: no + 1, text: text.to_owned() });
        Request::read(&lines.collect::<Vec<_>>(), |_: &str| false)
    }

    #[test]
    fn messages_are_joined_and_the_last_extension_counts() {
        let request = request("EXTEND 2 days\nTELL One.\nEND\nEXTEND 3 days\nTELL Two.\nEND\nSUBSTITUTE");
        assert!(repeats_acts(&request));
        assert_eq!(
            taken_together(&request),
            [
                CommandTreatment::WithAnother,
                CommandTreatment::Joined(Command::Tell("One.\n\nTwo.".to_owned())),
                CommandTreatment::AsWritten(&Command::Extend { days: 3 }),
                CommandTreatment::WithAnother,
                CommandTreatment::AsWritten(&Command::Substitute),
            ]
        );
    }

    #[test]
    fn acts_of_different_kinds_are_not_repeated() {
        assert!(!repeats_acts(&request("STATUS\nSTATUS\nDRAW\nEXTEND 3 days\nTELL One.\nEND")));
    }

    #[test]
    fn joined_messages_are_cut_at_four_thousand_characters() {
        let long = format!("TELL {}\nEND\n", "ä".repeat(3000));
        let request = request(&long.repeat(2));
        let [CommandTreatment::Joined(Command::Tell(text)), CommandTreatment::WithAnother] =
            &taken_together(&request)[..]
        else {
            panic!("two messages are joined");
        };
        assert_eq!(text.chars().count(), 4004);
    }
}

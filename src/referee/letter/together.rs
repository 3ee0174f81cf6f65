//! The commands of one letter that say the same. Acts towards others are taken together, so that a letter
//! causes one notice of a kind; a repeated question is answered once.

use crate::game::any::GameKind;
use crate::referee::words;
use crate::request::{Command, Request};

/// The treatment of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken<'a> {
    AsWritten(&'a Command),
    /// With the texts of the others of its kind.
    Joined(Command),
    /// Carried out together with another of its kind.
    WithAnother,
}

/// A kind of act for which a letter causes only one notice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tell,
    TellGm,
    Protest,
    Extend,
    Substitute,
    Absent,
}

/// Whether a letter repeats acts that others are told of.
pub fn repeats_acts(request: &Request) -> bool {
    let kinds: Vec<Kind> = request.commands.iter().filter_map(|asked| kind(&asked.command)).collect();
    (1..kinds.len()).any(|index| kinds[..index].contains(&kinds[index]))
}

/// Returns the treatment of each command of a letter if repeated acts are taken together: messages are
/// joined, and the last of several requests for more time counts.
pub fn taken_together(request: &Request) -> Vec<Taken<'_>> {
    let commands = || request.commands.iter().map(|asked| &asked.command);
    let kinds: Vec<Option<Kind>> = commands().map(kind).collect();
    let taken = commands().enumerate().map(|(index, command)| {
        let (before, after) = (&kinds[..index], &kinds[index + 1..]);
        let kind = kinds[index];
        match kind {
            Some(Kind::Extend) if after.contains(&kind) => Taken::WithAnother,
            Some(Kind::Tell | Kind::TellGm | Kind::Protest | Kind::Substitute) if before.contains(&kind) => {
                Taken::WithAnother
            }
            Some(Kind::Tell) if after.contains(&kind) => {
                Taken::Joined(Command::Tell(joined(commands(), Kind::Tell)))
            }
            Some(Kind::TellGm) if after.contains(&kind) => {
                Taken::Joined(Command::TellGm(joined(commands(), Kind::TellGm)))
            }
            Some(Kind::Protest) if after.contains(&kind) => {
                Taken::Joined(Command::Protest(joined(commands(), Kind::Protest)))
            }
            Some(
                Kind::Tell | Kind::TellGm | Kind::Protest | Kind::Extend | Kind::Substitute | Kind::Absent,
            )
            | None => Taken::AsWritten(command),
        }
    });
    taken.collect()
}

fn kind(command: &Command) -> Option<Kind> {
    match command {
        Command::Tell(_) => Some(Kind::Tell),
        Command::TellGm(_) => Some(Kind::TellGm),
        Command::Protest(_) => Some(Kind::Protest),
        Command::Extend { .. } => Some(Kind::Extend),
        Command::Substitute => Some(Kind::Substitute),
        Command::Absent { .. } => Some(Kind::Absent),
        // A second draw offer, agreement or resignation has no effect, and the others concern nobody else in
        // the match.
        _ => None,
    }
}

/// Joins the texts of all commands of a kind.
fn joined<'a>(commands: impl Iterator<Item = &'a Command>, of: Kind) -> String {
    let mut texts = Vec::new();
    for command in commands.filter(|command| kind(command) == Some(of)) {
        if let Command::Tell(text) | Command::TellGm(text) | Command::Protest(text) = command {
            texts.push(text.as_str());
        }
    }
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
                Taken::WithAnother,
                Taken::Joined(Command::Tell("One.\n\nTwo.".to_owned())),
                Taken::AsWritten(&Command::Extend { days: 3 }),
                Taken::WithAnother,
                Taken::AsWritten(&Command::Substitute),
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
        let [Taken::Joined(Command::Tell(text)), Taken::WithAnother] = &taken_together(&request)[..] else {
            panic!("two messages are joined");
        };
        assert_eq!(text.chars().count(), 4004);
    }
}

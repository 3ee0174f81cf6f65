//! The questions of a letter.

use crate::game::any::GameKind;
use crate::request::Command;

/// The commands of one letter that only ask. Each is answered once, because a page of the manual is a thousand times as
/// long as the line that asks for it.
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

//! The forms of the screen: their fields make the line that a GM would write in a letter.

use minijinja::context;
use minijinja::value::Serde;

use super::PageFrame;
use crate::game::{BySeat, Line};
use crate::referee::{Act, Instruction, InstructionFault, MatchAction, instruction};
use crate::report::{SeenTurn, TemplateError};

/// A form as a browser sends it: names and values, in the order sent.
#[derive(Clone, Debug, Default)]
pub struct Form(pub Vec<(String, String)>);

/// The fields that a form keeps when it asks for confirmation.
const KEPT: [&str; 5] = ["guard", "back", "do", "word", "below"];

impl Form {
    /// Returns the first field of this name; empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// Returns the path on this site that the form came from.
    pub fn back(&self) -> &str {
        let back = self.get("back");
        let is_path = back.starts_with('/') && !back.starts_with("//");
        let is_plain = back.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-".contains(&byte));
        if is_path && is_plain { back } else { "/" }
    }

    /// Reads the instruction: the words of `do` and of each `word`, and `below`, none of whose lines is an
    /// instruction of its own.
    ///
    /// # Errors
    /// [`InstructionFault`] if they are not an instruction.
    pub fn instruction(&self) -> Result<Instruction, InstructionFault> {
        // A browser sends the pressed button, which says what to do, after the fields above it.
        let of_line = self.0.iter().filter(|(name, _)| name == "word").map(|(_, value)| value.as_str());
        let words: Vec<&str> =
            std::iter::once(self.get("do")).chain(of_line).flat_map(str::split_whitespace).collect();
        let below: Vec<&str> = self.get("below").lines().collect();
        instruction(&words, Line::numbered(&below))
    }

    /// Whether the GM has confirmed the act after seeing its consequences.
    pub fn is_sure(&self) -> bool {
        self.get("sure") == "yes"
    }

    /// Returns the page that shows the consequences, with the same form once more. `seen` is what each side
    /// saw of the turns that would be voided.
    ///
    /// # Errors
    /// [`TemplateError`] if the template cannot be rendered.
    pub fn ask(
        &self,
        frame: &PageFrame<'_>,
        (id, names): (&str, &BySeat<String>),
        act: &Instruction,
        seen: &[SeenTurn],
    ) -> Result<String, TemplateError> {
        let fields: Vec<_> = self.0.iter().filter(|(name, _)| KEPT.contains(&name.as_str())).collect();
        let page = context! {
            id => id, names => Serde(names), back => self.back(), fields => Serde(fields), seen => Serde(seen), ..follows(act)
        };
        frame.render("screen/ask.html", "", page)
    }
}

/// Whether a form first shows the consequences, because the act cannot be undone or voids turns.
pub fn asks_first(instruction: &Instruction) -> bool {
    let Instruction::Match { action, .. } = instruction else { return false };
    matches!(
        action,
        MatchAction::Correct { .. }
            | MatchAction::Act(Act::Forfeit(_) | Act::Abandon | Act::Annul { .. } | Act::Adjudicate)
    )
}

/// Describes an act for the template.
fn follows(instruction: &Instruction) -> minijinja::Value {
    let Instruction::Match { action, .. } = instruction else { return context! { act => "" } };
    match action {
        MatchAction::Act(Act::Forfeit(seat)) => {
            context! { act => "forfeit", seat => seat.as_str(), winner => seat.other().as_str() }
        }
        MatchAction::Act(Act::Abandon) => context! { act => "abandon" },
        MatchAction::Act(Act::Annul { reason }) => context! { act => "annul", reason => reason },
        MatchAction::Act(Act::Adjudicate) => context! { act => "adjudicate" },
        MatchAction::Correct { turn, reason, orders } => {
            let lines = orders.as_ref().map(|(_, lines)| lines.iter().map(|line| line.text.clone()));
            context! {
                act => if orders.is_some() { "correct" } else { "rollback" }, turn => turn, reason => reason,
                seat => orders.as_ref().map(|(seat, _)| seat.as_str()),
                lines => lines.map(Vec::from_iter).unwrap_or_default(),
            }
        }
        _ => context! { act => "" },
    }
}

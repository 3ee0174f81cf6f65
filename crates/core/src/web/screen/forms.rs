//! The forms of the screen: their fields make the line that a GM would write in a letter.

use minijinja::context;
use minijinja::value::Serde;

use super::PageFrame;
use crate::club::events::event::Event;
use crate::game::{BySeat, Line};
use crate::letter::Digest;
use crate::referee::{Act, EventAction, Instruction, InstructionFault, MatchAction, instruction};
use crate::report::{SeenTurn, TemplateError};

/// A form as a browser sends it: names and values, in the order sent.
#[derive(Clone, Debug, Default)]
pub struct Form(pub Vec<(String, String)>);

/// The fields that a form keeps when it asks for confirmation.
const KEPT: [&str; 6] = ["guard", "back", "do", "word", "who", "below"];

impl Form {
    /// Returns the first field of this name; empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// Returns the SHA-256 of all fields.
    pub fn digest(&self) -> Digest {
        let fields: Vec<String> = self
            .0
            .iter()
            .map(|(name, value)| format!("{}{name}{}{value}", name.len(), value.len()))
            .collect();
        Digest::of(fields.concat().as_bytes())
    }

    /// Returns the form with another guard.
    pub fn guarded(&self, guard: String) -> Form {
        let fields = self.0.iter().filter(|(name, _)| name != "guard").cloned();
        Form(fields.chain([("guard".to_owned(), guard)]).collect())
    }

    /// Returns the fields to send again; none if nobody typed anything into one.
    pub fn typed(&self) -> Vec<(String, String)> {
        let is_typed = |name: &str| matches!(name, "word" | "who" | "below");
        if !self.0.iter().any(|(name, value)| is_typed(name) && !value.trim().is_empty()) {
            return Vec::new();
        }
        self.0.iter().filter(|(name, _)| KEPT.contains(&name.as_str())).cloned().collect()
    }

    /// Returns the form with an address, or the house, in each field `who`, in which a GM names a person in any way.
    ///
    /// # Errors
    /// Returns what `address_of` says of a field that names nobody.
    pub fn with_addresses(
        &self,
        address_of: impl Fn(&str) -> Result<String, String>,
    ) -> Result<Form, String> {
        let field = |(name, value): &(String, String)| match name.as_str() {
            "who" => Ok(("word".to_owned(), address_of(value)?)),
            _ => Ok((name.clone(), value.clone())),
        };
        self.0.iter().map(field).collect::<Result<_, _>>().map(Form)
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
        subject: Subject<'_>,
        act: &Instruction,
        seen: &[SeenTurn],
    ) -> Result<String, TemplateError> {
        let fields: Vec<_> = self.0.iter().filter(|(name, _)| KEPT.contains(&name.as_str())).collect();
        let follows = match (subject, act) {
            (Subject::Match(id, names), Instruction::Match { action, .. }) => {
                context! { id => id, names => Serde(names), ..follows_in_match(action) }
            }
            (Subject::Event(event), Instruction::Event { action, .. }) => follows_in_event(event, action),
            _ => context! { act => "" },
        };
        let page = context! { back => self.back(), fields => Serde(fields), seen => Serde(seen), ..follows };
        frame.render("screen/ask.html", "", page)
    }
}

/// The subject of an act: a match with the names of its players, or an event.
pub enum Subject<'a> {
    Match(&'a str, &'a BySeat<String>),
    Event(&'a Event),
}

/// Whether a form first shows the consequences, because the act cannot be undone or voids turns.
pub fn asks_first(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Match { action, .. } => matches!(
            action,
            MatchAction::Correct { .. }
                | MatchAction::Act(Act::Forfeit(_) | Act::Abandon | Act::Annul { .. } | Act::Adjudicate)
        ),
        Instruction::Event { action, .. } => matches!(
            action,
            EventAction::Open
                | EventAction::Close
                | EventAction::Cancel { .. }
                | EventAction::Strike { .. }
                | EventAction::Replace { .. }
        ),
        _ => false,
    }
}

/// Describes an act on an event for the template.
fn follows_in_event(event: &Event, action: &EventAction) -> minijinja::Value {
    let open =
        event.running().map_or(0, |season| season.games.iter().filter(|game| game.result.is_none()).count());
    let (act, words) = match action {
        EventAction::Open => ("begin", String::new()),
        EventAction::Close => ("close", String::new()),
        EventAction::Cancel { reason } => ("cancel", reason.clone()),
        EventAction::Strike { words } => ("strike", words.join(" ")),
        EventAction::Replace { words } => ("replace", words.join(" ")),
        _ => ("", String::new()),
    };
    context! {
        id => &event.plan.id, act => act, words => words, entrants => event.next_entrants(), open => open,
        span => event.plan.format.span(), is_running => event.running().is_some(), has_begun => !event.seasons.is_empty(),
    }
}

/// Describes an act on a match for the template.
fn follows_in_match(action: &MatchAction) -> minijinja::Value {
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

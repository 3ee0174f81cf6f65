//! Writes the part of a position that the rules let a seat know, for the account.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use minijinja::value::Serde;
use minijinja::{Value, context};

use super::lazy::{LazyView, TemplateContext};
use super::report_step;
use crate::game::any::{AnyState, Memories, OwnPart};
use crate::game::{BySeat, Phase, Seat};
use crate::referee::Adjudication;
use crate::report::text::isolated_names;
use crate::report::{TemplateError, Templates, normalize_blanks};

/// A position of a match, and the adjudications that led to it in one ruling.
#[derive(Clone, Copy, Debug)]
pub struct Position<'a> {
    pub names: &'a BySeat<String>,
    pub steps: &'a [Adjudication],
    pub state: &'a AnyState,
    pub memories: &'a Memories,
    /// The times at which the phases of the match were adjudicated.
    pub adjudicated: &'a [(Phase, u32, DateTime<Utc>)],
}

/// Writes everything that the rules let `seat` know of a position: the news that led to it, and its view. The
/// account passes the program's own templates, so that readers see what a club's own templates should have
/// said.
///
/// # Errors
/// [`TemplateError`] if a template cannot be rendered.
pub fn word_position(
    templates: &Templates,
    position: &Position<'_>,
    seat: Seat,
) -> Result<String, TemplateError> {
    let text = templates.render("account/seat.txt", context_of(position, seat))?;
    Ok(normalize_blanks(&text))
}

/// Returns the context of a position as `seat` knows it.
fn context_of(position: &Position<'_>, seat: Seat) -> TemplateContext {
    let Position { names, steps, state, memories, adjudicated } = *position;
    let last = steps.last().filter(|last| last.state == *state);
    let view = match last {
        Some(last) => LazyView::after(last, seat, Some(memories)),
        None => LazyView::of_position(state, seat, memories),
    };
    let own = last.map(|last| OwnPart { before: &last.before, filed: last.filings[seat].as_ref() });
    let board = state.shown_board(seat, Some(memories), own);
    let phases = adjudicated.iter().map(|(phase, turn, at)| {
        context! { phase => Serde(phase), turn => turn, at => at.format("%-d %b %H:%M").to_string() }
    });
    let own = [
        ("match", context! { game => state.kind().key() }),
        ("steps", steps.iter().map(|step| report_step(step, names, &view, seat)).collect()),
        ("due", Value::from(Serde(state.due()))),
        ("me", Value::from(Serde(seat))),
        ("foe", Value::from(Serde(seat.other()))),
        ("names", Value::from(Serde(isolated_names(names)))),
        ("options", Value::from(Serde(state.options()))),
        ("adjudicated", context! { zone => "UTC", phases => phases.collect::<Value>() }),
        ("board", Value::from(board.text.trim_end())),
        ("html", Value::from(false)),
    ];
    TemplateContext::new(Some(Arc::clone(&view))).with(own)
}

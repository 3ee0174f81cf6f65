//! Finds what the rules hide from a GM who may be a player, too.

use super::{GmIndex, Office, commit, load};
use crate::desk::outbox::fog;

pub use crate::desk::outbox::fog::Fog;

/// Returns what the screen hides from a GM.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn on_screen(office: &Office, gm: GmIndex) -> anyhow::Result<Fog> {
    let rows = load::new_rows(office).await?;
    Ok(commit::decide(office, rows, move |desk| fog::of_gm(desk, gm)).await?.0)
}

/// Returns what the terminal hides: whoever sits there may be any of the GMs.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn at_terminal(office: &Office) -> anyhow::Result<Fog> {
    let rows = load::new_rows(office).await?;
    Ok(commit::decide(office, rows, |desk| fog::at_terminal(desk)).await?.0)
}

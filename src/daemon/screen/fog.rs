//! Finds what the rules hide from a GM, who may be a player, too.

use super::super::{GmIndex, Office, commit, load};
use crate::desk::gm::fog::{self, Fog};

pub async fn fog_of(office: &Office, gm: GmIndex) -> anyhow::Result<Fog> {
    let rows = load::new_rows(office).await?;
    Ok(commit::decide(office, rows, move |desk| fog::on_screen(desk, gm)).await?.0)
}

//! Acts on a match: of the clock, the program and a GM.

use anyhow::Context as _;

use super::desk::Desk;
use super::rows::{Decided, LoadedMatch};
use super::summary::gm_line;
use super::{gms, holders, ruling_mail};
use crate::referee::Act;
use crate::report::GmResult;
use crate::store::Player;

/// Rules on an act of the GM, and gives a seat its new player or its new token if that is the act.
pub fn act_as_gm(
    desk: &mut Desk<'_>,
    mut loaded: LoadedMatch,
    act: &Act,
    successor: Option<Player>,
) -> Decided<GmResult> {
    let matter = loaded.game_match.by_gm(&gms::acting_gm(desk).name, act.clone());
    let mut ruling = ruling_mail::rule(desk, &loaded.game_match, &matter);
    let id = loaded.game_match.id.clone();
    if let Some(untaken) = ruling.rejection {
        return Ok(GmResult::Rejection { id, untaken });
    }
    let mut former = None;
    if let Act::Replace { seat, .. } | Act::RenewToken(seat) | Act::RenewOwnToken(seat) = act {
        let token = desk.random().token().to_string();
        let row = &mut loaded.seats[*seat];
        former = Some(row.clone());
        row.token = token;
        row.player = successor.unwrap_or_else(|| row.player.clone());
        holders::save_seat(desk, row);
        let hold = holders::hold(desk, &loaded, *seat, None);
        ruling = ruling_mail::rule_with(desk, &loaded.game_match, &[hold], &matter);
    }
    ruling_mail::keep_unasked(desk, loaded, ruling, former.as_ref())?;
    let loaded = desk.game_match(&id)?.context("a match that was just ruled on")?;
    Ok(GmResult::Match { line: gm_line(&loaded.game_match.overview()) })
}

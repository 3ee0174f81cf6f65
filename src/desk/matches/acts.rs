//! Rules on a match without a letter from a seat: for the clock, for the program, and for a GM.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};

use super::holders;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedMatch};
use crate::desk::outbox::{fog, gms, ruling_mail};
use crate::game::Seat;
use crate::referee::{Act, Match, Matter, Reader, Ruling};
use crate::report::GmResult;
use crate::store::Player;

/// Makes the cause of a ruling from the loaded match, so that the cause is about the phase that is open when
/// the match is loaded.
pub type CauseOf = Arc<dyn Fn(&Match) -> Matter<'static> + Send + Sync>;

/// Rules on an act of the GM. If the act gives a seat a new player or a new token, saves that, too.
pub fn act_as_gm(
    desk: &mut Desk<'_>,
    loaded: LoadedMatch,
    act: &Act,
    successor: Option<Player>,
) -> Decided<GmResult> {
    let fog = fog::of_acting_gm(desk)?;
    let matter = loaded.game_match.by_gm(&gms::acting_gm(desk).name, act.clone());
    // Rule before drawing a token, because a rejected act must pin nothing.
    let ruling = ruling_mail::request_ruling(desk, &loaded.game_match, &matter);
    let (id, written) = (loaded.game_match.id.clone(), desk.draft.changes.dispatches.len());
    if let Some(untaken) = ruling.rejection {
        return Ok(GmResult::Rejection { id, untaken });
    }
    let former = former_told(&loaded, &ruling);
    if let Act::Replace { seat, .. } | Act::RenewToken(seat) | Act::RenewOwnToken(seat) = act {
        let player = successor.unwrap_or_else(|| loaded.seats[*seat].player.clone());
        holders::hand_over(desk, loaded, *seat, player, &matter)?;
    } else {
        ruling_mail::record_ruling(desk, loaded, ruling)?;
    }
    let loaded = desk.game_match(&id)?.context("a match that was just ruled on is missing")?;
    let new = &desk.draft.changes.dispatches[written..];
    let is_told = |seat: &Seat| {
        new.iter().any(|letter| letter.match_id.as_ref() == Some(&id) && letter.seat == Some(*seat))
    };
    let told = Seat::BOTH.into_iter().filter(is_told).map(|seat| loaded.game_match.players[seat].clone());
    Ok(GmResult::Match {
        told: former.into_iter().chain(told).collect(),
        terms: if let Act::Terms(change) = act { Some(change.clone()) } else { None },
        line: fog.line(loaded.game_match.overview(), desk.at()),
    })
}

/// Returns the player who gives up a seat by a ruling, if a letter tells them so.
pub fn former_told(loaded: &LoadedMatch, ruling: &Ruling) -> Option<String> {
    ruling.dispatches.iter().find_map(|dispatch| match dispatch.to {
        Reader::Former(seat) if !loaded.seats[seat].player.addresses.is_empty() => {
            Some(loaded.game_match.players[seat].clone())
        }
        Reader::Former(_) | Reader::Seat(_) | Reader::Gm => None,
    })
}

/// Returns the clock as the cause, for a match whose deadline or other time has come.
pub fn by_clock() -> CauseOf {
    Arc::new(Match::by_clock)
}

/// Returns an act of the program as the cause.
pub fn by_program(act: Act) -> CauseOf {
    Arc::new(move |game_match| game_match.by_program(act.clone()))
}

/// Rules on one match, and returns whether anything was decided. A panic is a failure of this match alone.
pub fn decide_on(desk: &mut Desk<'_>, match_id: &str, cause_of: &CauseOf) -> Decided<bool> {
    let ruled = catch_unwind(AssertUnwindSafe(|| decide_on_match(desk, match_id, cause_of)));
    ruled.unwrap_or_else(|_panic| Err(anyhow!("ruling on the match panicked").into()))
}

fn decide_on_match(desk: &mut Desk<'_>, match_id: &str, cause_of: &CauseOf) -> Decided<bool> {
    // A match that this program cannot rule on was logged when it was loaded.
    let Some(loaded) = desk.game_match(match_id)?.cloned() else { return Ok(false) };
    let ruling = ruling_mail::request_ruling(desk, &loaded.game_match, &cause_of(&loaded.game_match));
    if ruling.after == loaded.game_match {
        return Ok(false);
    }
    ruling_mail::record_ruling(desk, loaded, ruling)?;
    Ok(true)
}

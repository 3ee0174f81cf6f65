//! Compares the data stored beside the ledger with the repeated match.

use super::deadlines;
use super::difference;
use super::holders::StoredPlayer;
use super::play::Play;
use super::state::Check;
use crate::audit::verdict::Place;
use crate::game::Seat;
use crate::ledger::PinnedKind;
use crate::referee::{Match, Stage};

/// Compares the stored match with the repeated one.
pub(super) fn check_match(check: &mut Check) {
    if let Some(play) = check.play.take() {
        return check_play(check, &play);
    }
    let Some(mut current) = check.current.take() else { return };
    deadlines::adopt_local(check, &mut current);
    let stored = &check.stored;
    let repeated = serde_json::to_string(&current).expect("a match is plain values");
    if repeated != stored.snapshot {
        let what = match check.snapshot.as_ref().map(|game_match| game_match.head.seq) {
            Some(seq) if seq > current.head.seq => {
                format!("it includes entry #{seq}, but the ledger ends with #{}", current.head.seq)
            }
            Some(_) | None => {
                format!(
                    "the repeated match differs in {}",
                    difference::differing_json(&repeated, &stored.snapshot)
                )
            }
        };
        check.report(Place::Kept("the snapshot"), what);
    } else {
        check_lists(check, &current, current.stage == Stage::Over);
    }
}

/// Compares a match whose last rulings were not repeated with the play that the entries record.
fn check_play(check: &mut Check, play: &Play) {
    let Some(snapshot) = check.snapshot.take() else { return };
    let is_over = play.state().outcome().is_some();
    if snapshot.head != check.head {
        check.report(Place::Kept("the snapshot"), "its head is not the last entry of the ledger");
    } else if snapshot.state != *play.state() || (snapshot.stage == Stage::Over) != is_over {
        check.report(Place::Kept("the snapshot"), "its position is not the one that the entries lead to");
    } else {
        check_lists(check, &snapshot, is_over);
    }
}

/// Compares what lists show of the match with the match itself, and its stored end with the entries.
fn check_lists(check: &mut Check, game_match: &Match, is_over: bool) {
    if (&check.stored.overview, check.stored.wake_at) != (&game_match.overview(), game_match.wake_at()) {
        let what =
            "its game, stage, next wake-up, or something else that lists show, differs from its snapshot";
        return check.report(Place::Kept("the match"), what);
    }
    let has_other_player = |seat: &Seat| {
        let own = StoredPlayer {
            name: game_match.players[*seat].clone(),
            settings: game_match.settings[*seat].clone(),
        };
        check.seats[*seat].player.as_ref().is_some_and(|player| *player != own)
    };
    if !is_over && let Some(seat) = Seat::BOTH.into_iter().find(has_other_player) {
        let what = format!("the name or the settings of the {seat} seat's player are not those of the match");
        return check.report(Place::Kept("the players"), what);
    }
    // A correction after which the match is still over may keep the time of its first end.
    let is_end = match check.stored.ended_at {
        Some(ended_at) => is_over && check.ends.contains(&ended_at),
        None => !is_over || check.ends.is_empty(),
    };
    if !is_end {
        let what = "it is not stored as ended when the ledger says that it did";
        check.report(Place::Kept("the match"), what);
    }
}

/// Compares the stored seats with the pins in the last entries.
pub(super) fn check_seats(check: &mut Check) {
    for (seat, stored) in check.seats.clone().iter() {
        let has = |kind, value: &str| check.holders.had(seat, kind, value, None);
        let has_token = has(PinnedKind::Token, &stored.token);
        let are_pinned = check.withheld.seats.contains(&seat)
            || stored.addresses.iter().all(|own| has(PinnedKind::Address, own))
                && stored.addresses.len() == check.holders.address_count(seat);
        if !has_token {
            let what = format!("the token of the {seat} seat is not the pinned one");
            check.report(Place::Kept("the seats"), what);
        } else if !are_pinned {
            let what = format!("the player of the {seat} seat, or an address, is not as the ledger pins it");
            check.report(Place::Kept("the seats"), what);
        }
    }
}

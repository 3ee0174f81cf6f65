//! Before a rollback in a game with hidden information, the GM reads what each side saw of the turns to be
//! voided, because it cannot be unseen.

use anyhow::anyhow;

use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedMatch};
use crate::desk::matches::acts;
use crate::desk::outbox::gms;
use crate::game::Seat;
use crate::ledger::Fact;
use crate::referee::{Act, Adjudication, Correction, Match, Stage};
use crate::report::{self, GmResult, SeenTurn};

/// Returns why no turn of a match can be decided again, if its result has shown both sides what the rules
/// hide.
pub fn refuse_after_the_end(desk: &Desk<'_>, game_match: &Match) -> Option<GmResult> {
    if game_match.stage != Stage::Over || !game_match.game.hides_something() {
        return None;
    }
    let says = format!(
        "The result of {} has told both sides what the rules hide, so no turn of it can be played again. A new match \
         can be opened with {}.",
        game_match.id,
        desk.worded("`fogpost match new`", "GM NEW")
    );
    Some(GmResult::refused(says))
}

/// Returns the facts that the GM must know before a turn is decided again, or `None` if the correction can go
/// ahead.
pub fn before_correction(
    desk: &mut Desk<'_>,
    loaded: &LoadedMatch,
    correction: &Correction,
) -> Decided<Option<GmResult>> {
    let game_match = &loaded.game_match;
    let turn = correction.turn;
    let Some(keeps) = correction.first_voided().filter(|_| game_match.game.hides_something()) else {
        return Ok(None);
    };
    // The entry is found again by this text, so a new wording would ask every GM once more.
    let what = format!("what each side saw of the turns from {turn} on, before a rollback");
    let entries = desk.rows.entries(&game_match.id)?.iter().rev();
    // Ignore disclosures before the last adjudication, because the GM has not read that turn.
    let mut since = entries.take_while(|entry| !matches!(entry.fact, Fact::TurnAdjudicated { .. }));
    if since.any(|entry| matches!(&entry.fact, Fact::Unsealed { what: shown, .. } if *shown == what)) {
        return Ok(None);
    }
    if gms::is_seated(gms::acting_gm(desk), &loaded.seats) {
        let says = format!(
            "You play in {}. Before a rollback a GM reads what each side saw of the turns that would be void, and \
             whoever plays cannot.",
            game_match.id
        );
        return Ok(Some(GmResult::refused(says)));
    }
    let seen = seen_turns(desk, game_match, correction, keeps)?;
    let id = game_match.id.clone();
    acts::act_as_gm(desk, loaded.clone(), &Act::Unseal { what, reason: correction.reason.clone() }, None)?;
    Ok(Some(GmResult::Voided { id, turn, seen }))
}

/// Says which turns a correction would void, and what would follow.
pub fn would_void(game_match: &Match, correction: &Correction) -> String {
    let turn = correction.turn;
    let last = correction.decided.last().map_or(turn, |(_, last, _)| *last);
    let void = match correction.orders {
        None => format!("{} would be void", turns(turn, last)),
        Some(_) if last > turn => format!("{} would be void", turns(turn + 1, last)),
        Some(_) => "No later turn would be void".to_owned(),
    };
    let name = if turn == 0 { "the setup".to_owned() } else { format!("turn {turn}") };
    let follows = match correction.orders {
        None => format!("{name} would be open again, and orders would have to be sent anew"),
        Some(_) => format!("{name} would be decided again with these orders"),
    };
    let seen = match game_match.game.hides_something() {
        true => " Before that, you would read what each side saw of the void turns.",
        false => "",
    };
    format!("{void}; {follows}.{seen}")
}

/// Names turns, of which the first may be the setup.
fn turns(first: u32, last: u32) -> String {
    match (first, last) {
        (0, 0) => "The setup".to_owned(),
        (0, last) => format!("The setup and all turns up to turn {last}"),
        (first, last) if first == last => format!("Turn {first}"),
        (first, last) => format!("Turns {first} to {last}"),
    }
}

/// Returns each side's news of each adjudication, starting with number `keeps`.
fn seen_turns(
    desk: &Desk<'_>,
    game_match: &Match,
    correction: &Correction,
    keeps: usize,
) -> anyhow::Result<Vec<SeenTurn>> {
    let start = game_match.game.start_with(&correction.choices);
    let mut state = start.map_err(|unknown| anyhow!(unknown))?;
    let mut seen = Vec::new();
    for (index, (phase, turn, filings)) in correction.decided.iter().enumerate() {
        let filed = state.unseal(filings).map_err(|_| anyhow!("a sealed filing does not fit its turn"))?;
        let before = state.clone();
        state.adjudicate(&filed);
        if index < keeps {
            continue;
        }
        let step = Adjudication { phase: *phase, turn: *turn, before, filings: filed, state: state.clone() };
        for seat in Seat::BOTH {
            let news = report::word_news(&desk.club.templates, &step, &game_match.players, seat)?;
            seen.push(SeenTurn {
                turn: *turn,
                by: game_match.players[seat].clone(),
                lines: news.lines().map(str::to_owned).collect(),
            });
        }
    }
    Ok(seen)
}

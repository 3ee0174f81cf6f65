//! Imports a league that was begun elsewhere: its sections, and the results so far.

use std::collections::{BTreeMap, BTreeSet};

use super::book::record;
use super::people::{ActRefusal, Done, refuse, take_player};
use crate::club::events::event::EventStage;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{LoadedEvent, Undecided};
use crate::desk::matches::player_names::fit_name;
use crate::desk::matches::{openings, player_names};
use crate::game::BySeat;
use crate::ledger::book::{BookCause, BookFact, BookOutcome, BookResult};
use crate::letter::Address;
use crate::referee::ImportedResult;
use crate::store::Player;

/// Imports the sections and the results of a league. The clock later opens the pairs without a result.
pub fn import(
    desk: &mut Desk<'_>,
    loaded: &mut LoadedEvent,
    rows: &[ImportedResult],
    cause: &BookCause,
) -> Done {
    if loaded.event.stage != EventStage::Entries || !loaded.event.seasons.is_empty() {
        return refuse("Results are taken over before the first season only.");
    }
    let mut sections: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    let mut results = Vec::new();
    for row in rows {
        let mut pair = Vec::new();
        for name in [&row.first, &row.second] {
            match player_of(desk, name) {
                Ok(Some(player)) => pair.push(player.id),
                Ok(None) => return refuse(format!("Line {}: Nobody is called {name}.", row.line)),
                Err(ActRefusal::Says(says)) => return refuse(format!("Line {}: {says}", row.line)),
                // Ask for the rows of all lines first, so that one round loads them.
                Err(ActRefusal::Undecided(Undecided::Lacks)) => {}
                Err(failed) => return Err(failed),
            }
        }
        let [first, second] = pair[..] else { continue };
        let section = sections.entry(row.section).or_default();
        section.extend(
            [first, second].iter().filter(|player| !section.contains(player)).copied().collect::<Vec<_>>(),
        );
        results.extend(row.outcome.map(|outcome| (row.line, first, second, outcome)));
    }
    desk.rows.check()?;
    let list: Vec<i64> = sections.values().flatten().copied().collect();
    if sections.values().any(|section| section.len() < 2)
        || list.iter().collect::<BTreeSet<_>>().len() < list.len()
    {
        return refuse("Each player is in one section, with at least one other.");
    }
    let missing: Vec<i64> =
        list.iter().filter(|player| !loaded.event.entrants.contains(player)).copied().collect();
    for player in missing {
        record(desk, loaded, cause, BookFact::Entered { player });
    }
    let ends = desk.at() + loaded.event.plan.season();
    let sections = sections.into_values().collect();
    let figures = Vec::new();
    let drawn = BookFact::SectionsDrawn { season: 1, list, figures, sections, ends, given: true };
    record(desk, loaded, cause, drawn);
    for (line, first, second, outcome) in results {
        if let Err(says) = enter(desk, loaded, (first, second), outcome, cause) {
            return refuse(format!("Line {line}: {says}."));
        }
    }
    Ok(())
}

/// Returns the player whom a field of the table means: a name, a number, an address, or `Ann <ann@example.org>`. Returns
/// `None` if nobody is called so.
fn player_of(desk: &mut Desk<'_>, written: &str) -> Done<Option<Player>> {
    let Some((name, address)) = written.strip_suffix('>').and_then(|text| text.rsplit_once('<')) else {
        let words: Vec<String> = written.split_whitespace().map(str::to_owned).collect();
        let (player, rest) = take_player(desk, &words)?;
        return Ok(rest.is_empty().then_some(player));
    };
    let name = name.trim().trim_matches('"');
    if !name.is_empty() {
        fit_name(name).map_err(ActRefusal::Says)?;
    }
    let address = Address::parse_given(address.trim())
        .map_err(|fault| ActRefusal::Says(format!("{written} is {fault}.")))?;
    let player = player_names::player_called(desk, name, &address)?;
    Ok(Some(openings::register(desk, player)))
}

fn enter(
    desk: &mut Desk<'_>,
    loaded: &mut LoadedEvent,
    (first, second): (i64, i64),
    outcome: BookOutcome,
    cause: &BookCause,
) -> Result<(), &'static str> {
    let games = loaded.event.running().map(|season| season.games.as_slice()).unwrap_or_default();
    let is_free = |pair: (i64, i64)| {
        games.iter().any(|game| (game.first, game.second) == pair && game.result.is_none())
    };
    // If pairs play one match, the other player may have had the first seat.
    let (first, second, outcome) = match (is_free((first, second)), outcome) {
        (true, _) => (first, second, outcome),
        (false, _) if !is_free((second, first)) => return Err("this pair has all its results already"),
        (false, BookOutcome::First) => (second, first, BookOutcome::Second),
        (false, BookOutcome::Second) => (second, first, BookOutcome::First),
        (false, other) => (second, first, other),
    };
    let result = BookResult { match_id: None, end: None, outcome, vanished: None, own: BySeat::new(0, 0) };
    record(desk, loaded, cause, BookFact::ResultEntered { season: 1, first, second, result });
    Ok(())
}

//! The people of an event: their names, figures and addresses.

use std::collections::BTreeMap;

use chrono::TimeDelta;

use crate::club::events::event::Event;
use crate::club::member::number;
use crate::club::names;
use crate::club::rating::Rating;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, Undecided};
use crate::desk::matches::{openings, player_names};
use crate::letter::Address;
use crate::store::Player;

/// Period whose highest figure counts at a draw.
const FIGURES_WITHIN: TimeDelta = TimeDelta::days(365);

/// Returns, in hundredths, the highest figure within twelve months of everybody who may be in the next
/// season. Players without a result in that period count with their last figure, and others with that of a
/// newcomer to the game.
pub fn figures(desk: &Desk<'_>, event: &Event) -> Decided<BTreeMap<i64, i64>> {
    let newcomer = Rating::default().figure;
    let mut found: BTreeMap<i64, i64> = event.entrants.iter().map(|player| (*player, newcomer)).collect();
    found
        .extend(event.season().into_iter().flat_map(|season| &season.list).map(|player| (*player, newcomer)));
    let since = desk.at() - FIGURES_WITHIN;
    let mut highest: BTreeMap<i64, (bool, i64)> = BTreeMap::new();
    for row in desk.rows.rating_list(event.plan.game)? {
        let (is_recent, figure) = (row.change.at > since, row.change.after.figure);
        let kept = highest.entry(row.change.player).or_insert((is_recent, figure));
        *kept = match (kept.0, is_recent) {
            (true, _) => (true, kept.1.max(figure)),
            (false, _) => (is_recent, figure),
        };
    }
    for (player, figure) in &mut found {
        *figure = highest.get(player).map_or(*figure, |(_, highest)| *highest);
    }
    Ok(found)
}

/// Returns how a reader sees a player: by name, or only by number if the player is not public and the reader
/// is not an opponent.
pub fn shown_name(desk: &Desk<'_>, id: i64, is_opponent: bool) -> Decided<String> {
    let listed = desk.rows.listed_players()?.iter().find(|listed| listed.id == id);
    let listed = listed.filter(|listed| listed.member.public || is_opponent);
    Ok(listed.map_or_else(|| number(id), |listed| listed.name.clone()))
}

/// Returns a player's name for GMs.
pub fn name(desk: &Desk<'_>, id: i64) -> Decided<String> {
    shown_name(desk, id, true)
}

/// Returns the players whom no letter reaches.
pub fn unreachable(desk: &Desk<'_>, players: &[i64]) -> Decided<Vec<i64>> {
    desk.ask_for_all(players)?;
    let mut found = Vec::new();
    for player in players {
        found.extend(desk.reachable(*player)?.is_none().then_some(*player));
    }
    Ok(found)
}

/// The outcome of an act.
pub type Done<T = ()> = Result<T, ActRefusal>;

/// The reason why an act was not carried out.
pub enum ActRefusal {
    /// A sentence for the GM.
    Says(String),
    Undecided(Undecided),
}

impl From<Undecided> for ActRefusal {
    fn from(undecided: Undecided) -> ActRefusal {
        ActRefusal::Undecided(undecided)
    }
}

pub fn refuse<T>(says: impl Into<String>) -> Done<T> {
    Err(ActRefusal::Says(says.into()))
}

/// Finds the player whose address, name or number the words begin with. Also returns the rest of the words.
pub fn take_player<'w>(desk: &mut Desk<'_>, words: &'w [String]) -> Done<(Player, &'w [String])> {
    let Some((first, rest)) = words.split_first() else {
        return refuse("The line lacks the name, number or address of a player.");
    };
    if let Ok(address) = Address::parse_given(first.trim_matches(['<', '>'])) {
        let player = player_names::player_called(desk, "", &address)?;
        return Ok((openings::register(desk, player), rest));
    }
    let known = desk.named_people()?;
    // Prefer the longest exact name, because names may have several words.
    let exact = (1..=words.len().min(6)).rev().find(|at| {
        let written = names::lower_case(&words[..*at].join(" "));
        known.iter().any(|player| names::lower_case(&player.name) == written)
    });
    let (written, rest) = words.split_at(exact.unwrap_or(1));
    let written = written.join(" ");
    let id = names::find_player(&written, &known).only(&written).map_err(ActRefusal::Says)?;
    match desk.reachable(id)? {
        Some((player, _)) => Ok((player, rest)),
        None => refuse(format!("{} has no address.", number(id))),
    }
}

//! The GM's lists of matches.

use std::collections::BTreeMap;

use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::summary::{gm_line, is_on, running_deadline};
use crate::referee::{Listing, MatchOverview};
use crate::report::GmMatchSummary;

/// Returns the matches on one of the GM's lists.
pub fn listed(desk: &Desk<'_>, listing: Listing) -> Decided<Vec<GmMatchSummary>> {
    let mut matches = overviews(desk)?;
    matches.retain(|game_match| is_on(game_match, listing, desk.at()));
    match listing {
        Listing::Due => matches.sort_by_key(running_deadline),
        // An overview does not show when its match ended, so the loaded IDs give the order.
        Listing::Ended => {
            let ended = desk.rows.ended()?;
            let place = |game_match: &MatchOverview| ended.iter().position(|id| *id == game_match.id);
            matches.retain(|game_match| place(game_match).is_some());
            matches.sort_by_key(place);
        }
        Listing::All | Listing::Running | Listing::Late | Listing::Paused | Listing::Protests => {}
    }
    Ok(matches.iter().map(|game_match| gm_line(game_match, desk.at())).collect())
}

/// Returns every match as this transaction leaves it so far: the stored ones by ID, then those that the
/// transaction opens.
pub fn overviews(desk: &Desk<'_>) -> Decided<Vec<MatchOverview>> {
    let stored = desk.rows.overviews()?.iter();
    let mut by_id: BTreeMap<&str, MatchOverview> =
        stored.map(|overview| (overview.id.as_str(), overview.clone())).collect();
    for loaded in desk.all_ruled_on() {
        by_id.insert(&loaded.game_match.id, loaded.game_match.overview());
    }
    let mut overviews: Vec<MatchOverview> = by_id.into_values().collect();
    // A match that was just opened exists only as a new row, and is not among the matches ruled on.
    overviews.extend(desk.added(|changes| &changes.matches).map(|row| row.overview.clone()));
    Ok(overviews)
}

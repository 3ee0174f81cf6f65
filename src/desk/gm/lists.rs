//! The GM's lists of matches.

use std::collections::BTreeMap;

use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::summary::Summary;
use crate::referee::Listing;
use crate::report::GmMatchSummary;

/// Returns the matches on one of the GM's lists.
pub fn listed(desk: &Desk<'_>, listing: Listing) -> Decided<Vec<GmMatchSummary>> {
    let mut summaries = summaries(desk)?;
    summaries.retain(|summary| summary.is_on(listing));
    match listing {
        Listing::Due => summaries.sort_by_key(|summary| summary.deadline),
        // A summary does not tell when its match ended, so the loaded IDs give the order.
        Listing::Ended => {
            let ended = desk.rows.ended()?;
            let place = |summary: &Summary| ended.iter().position(|id| *id == summary.line.id);
            summaries.retain(|summary| place(summary).is_some());
            summaries.sort_by_key(place);
        }
        Listing::All | Listing::Running | Listing::Late | Listing::Paused | Listing::Protests => {}
    }
    Ok(summaries.into_iter().map(|summary| summary.line).collect())
}

/// Sums up every match as this transaction leaves it so far: stored ones by ID, then those that it opens.
pub fn summaries(desk: &Desk<'_>) -> Decided<Vec<Summary>> {
    let stored = desk.rows.summaries()?.iter();
    let mut by_id: BTreeMap<&str, Summary> =
        stored.map(|summary| (summary.line.id.as_str(), summary.clone())).collect();
    for loaded in desk.all_ruled_on() {
        by_id.insert(&loaded.game_match.id, Summary::of(&loaded.game_match.overview(), desk.at()));
    }
    let mut summaries: Vec<Summary> = by_id.into_values().collect();
    // A match that was just opened is only a new row so far, and not among those ruled on.
    for row in desk.added(|changes| &changes.matches) {
        summaries.push(Summary::of(&row.overview, desk.at()));
    }
    Ok(summaries)
}

//! The GM's lists of matches.

use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::summary::{is_on, running_deadline};
use crate::desk::outbox::fog;
use crate::referee::{Listing, MatchOverview};
use crate::report::GmMatchSummary;

/// Returns the matches on one of the GM's lists.
pub fn listed_matches(desk: &Desk<'_>, listing: Listing) -> Decided<Vec<GmMatchSummary>> {
    let mut matches = desk.overviews()?;
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
    let fog = fog::of_acting_gm(desk)?;
    Ok(matches.into_iter().map(|game_match| fog.line(game_match, desk.at())).collect())
}

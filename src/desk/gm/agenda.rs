//! What waits for a GM: one value, which the digest tells and the screen shows.

use chrono::{DateTime, Utc};

use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::matches::applicants::{self, Applicant};
use crate::desk::outbox::fog::Fog;
use crate::desk::outbox::gms;
use crate::referee::{Ask, MatchOverview};

/// What waits for a GM, as far as the GM may know it.
pub struct Agenda {
    /// The matches that the GM looks after.
    pub matches: Vec<MatchOverview>,
    /// Newcomers who wait to be admitted.
    pub applicants: Vec<Applicant>,
    /// What the rules hide from the GM.
    pub fog: Fog,
}

impl Agenda {
    /// Returns the matches that ask for something, the one whose deadline is the earliest first.
    pub fn asking(&self, now: DateTime<Utc>) -> Vec<(Ask, &MatchOverview)> {
        let asking = self.matches.iter().filter_map(|overview| Some((overview.ask(now)?, overview)));
        let mut asking: Vec<(Ask, &MatchOverview)> = asking.collect();
        asking.sort_by_key(|(_, overview)| overview.deadline);
        asking
    }
}

/// Returns what waits for the acting GM.
pub fn of_acting_gm(desk: &Desk<'_>, fog: Fog) -> Decided<Agenda> {
    let mut matches = desk.overviews()?;
    matches.retain(|overview| gms::acting_gm(desk).looks_after(overview.game, &overview.id));
    Ok(Agenda { matches, applicants: applicants::all(desk)?, fog })
}

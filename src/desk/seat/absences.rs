//! Absences: one line `ABSENT` counts in all matches of its player, unless it comes after a line `MATCH`.
//! Each opponent gets one notice for all matches with the player.

use std::collections::BTreeSet;

use anyhow::Context as _;
use chrono::NaiveDate;

use super::ruling::PartRuling;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedMatch};
use crate::desk::outbox::budgets::{self, Origin};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::desk::outbox::ruling_mail;
use crate::game::{Line, Seat};
use crate::ledger::{LetterCause, TokenOf};
use crate::letter::{Digest, NewText};
use crate::referee::{AbsentElsewhere, Act, DispatchKind, Rejection, Reply, Stage};
use crate::report::ClubLetter;
use crate::request::{first_match_line, lines_of};
use crate::store::{Player, TokenRow};

/// Maximum absences of a letter that are carried into other matches, and [`MAX_MATCHES`] for those matches.
/// Each absence costs a ruling in each match.
const MAX_ABSENCES: usize = 5;
const MAX_MATCHES: usize = 100;

/// The other matches in which the absences of a letter count.
#[derive(Default)]
pub struct SpreadAbsences {
    days: Vec<(NaiveDate, NaiveDate)>,
    noted: Vec<NotedIn>,
    refused: Vec<String>,
    events: BTreeSet<String>,
}

struct NotedIn {
    match_id: String,
    opponent: Player,
    /// Whether the opponent is the house, which reads no letters.
    is_house: bool,
    /// Whether the absence was not noted there before.
    is_new: bool,
}

/// The outcome of absences in another match.
enum NotedThere {
    Noted { is_new: bool },
    Refused,
}

impl SpreadAbsences {
    /// Returns the matches in the form in which the answer lists them.
    pub fn elsewhere(&self) -> AbsentElsewhere {
        let noted = self.noted.iter().map(|noted| noted.match_id.clone()).collect();
        AbsentElsewhere { noted, refused: self.refused.clone(), events: self.events.clone() }
    }

    /// Returns the matches with this opponent in which the absences are new.
    pub fn matches_with(&self, opponent: i64) -> Vec<String> {
        let common = self.noted.iter().filter(|noted| noted.is_new && noted.opponent.id == opponent);
        common.map(|noted| noted.match_id.clone()).collect()
    }
}

/// Carries the absences that a letter has announced in its own match into the player's other matches.
/// Absences after a line `MATCH` count in that match alone.
pub fn spread_absences(
    desk: &mut Desk<'_>,
    row: &TokenRow,
    ruled: &mut PartRuling,
    written: &NewText,
) -> Decided<SpreadAbsences> {
    let days = absences_for_all(ruled, &lines_of(written.clone()));
    let mut spread = SpreadAbsences { days, ..SpreadAbsences::default() };
    if spread.days.is_empty() {
        return Ok(spread);
    }
    let mut others = desk.matches_with(row.player.id)?;
    others.retain(|loaded| loaded.game_match.id != row.match_id && loaded.game_match.stage != Stage::Over);
    for loaded in others.into_iter().take(MAX_MATCHES) {
        let id = loaded.game_match.id.clone();
        let Some(seat) = loaded.seats.iter().find(|(_, seat)| seat.player.id == row.player.id) else {
            continue;
        };
        let seat = seat.0;
        let opponent = loaded.seats[seat.other()].player.clone();
        let is_house = loaded.game_match.house[seat.other()].is_some();
        let event = loaded.game_match.terms.event.clone();
        match note_absences(desk, loaded, seat, &spread.days, &ruled.letter().cause)? {
            NotedThere::Noted { is_new } => {
                spread.noted.push(NotedIn { match_id: id, opponent, is_house, is_new });
                spread.events.extend(event);
            }
            NotedThere::Refused => spread.refused.push(id),
        }
    }
    Ok(spread)
}

/// Tells the opponents in the player's other matches, each in one letter. `told` is the opponent in the
/// letter's own match, if they read it there.
pub fn tell_absences(
    desk: &mut Desk<'_>,
    row: &TokenRow,
    spread: &SpreadAbsences,
    letter: Digest,
    told: Option<i64>,
) -> Decided<()> {
    let mut done: Vec<i64> = told.into_iter().collect();
    for NotedIn { opponent, is_house, is_new, .. } in &spread.noted {
        if *is_house || !is_new || done.contains(&opponent.id) {
            continue;
        }
        done.push(opponent.id);
        let Some(address) = opponent.addresses.first() else { continue };
        let day = |day: &NaiveDate| day.to_string();
        let plain = ClubLetter::Absent {
            name: row.player.name.clone(),
            days: spread.days.iter().map(|(from, to)| (day(from), day(to))).collect(),
            matches: spread.matches_with(opponent.id),
        };
        let page = mail::as_player_wants(mail::word_club_letter(desk, &plain, "")?, opponent);
        // Derive it from the letter, so that the notice keeps its Message-ID when the letter is decided
        // again.
        let unique = format!("b.{}.{}", opponent.id, &letter.to_string()[..24]);
        let kind = DispatchKind::Notice;
        let to = PlainEnvelope { name: &opponent.name, address, unique: &unique, kind };
        let dispatch = mail::assemble(desk, page, "", &to, None)?;
        budgets::send_for_others(desk, dispatch, Origin::Opponent(row.player.id))?;
    }
    Ok(())
}

/// Notes absences in a match.
fn note_absences(
    desk: &mut Desk<'_>,
    mut loaded: LoadedMatch,
    seat: Seat,
    days: &[(NaiveDate, NaiveDate)],
    cause: &LetterCause,
) -> Decided<NotedThere> {
    let id = loaded.game_match.id.clone();
    let (mut is_refused, mut is_new) = (false, false);
    for (from, to) in days {
        let (letter, confirmed_by) = (cause.letter, cause.confirmed_by);
        let act = Act::Absent { seat, from: *from, to: *to, letter, confirmed_by };
        let ruling = ruling_mail::act(desk, &loaded.game_match, act);
        match &ruling.rejection {
            None => {
                ruling_mail::record_ruling(desk, loaded, ruling)?;
                let after = desk.game_match(&id)?;
                loaded = after.context("a match that was just ruled on is missing")?.clone();
                is_new = true;
            }
            // A match that has already noted these days does not refuse them.
            Some(why) => is_refused |= *why != Rejection::Already,
        }
    }
    Ok(if is_refused { NotedThere::Refused } else { NotedThere::Noted { is_new } })
}

/// Returns the absences of a letter that count in all matches: those before its first line `MATCH` that its
/// own match has noted, or had noted already.
fn absences_for_all(ruled: &mut PartRuling, written: &[Line]) -> Vec<(NaiveDate, NaiveDate)> {
    let end = first_match_line(written).unwrap_or(usize::MAX);
    let replies = ruled.replies();
    let letter = ruled.letter();
    let commands = letter.request.commands.iter().filter(|_| letter.cause.token == TokenOf::Own);
    let noted = commands.zip(&replies).filter(|(asked, _)| asked.line < end);
    let absences = noted.filter_map(|(_, reply)| match reply {
        Reply::AbsenceNoted { from, to, .. } | Reply::AbsenceElsewhere { from, to } => Some((*from, *to)),
        _ => None,
    });
    absences.take(MAX_ABSENCES).collect()
}

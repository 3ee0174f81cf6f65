//! Hides from a GM who plays what the rules hide from a player: in digests and lists of letters, on the screen and
//! at the terminal.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::gms;
use crate::config::GmIndex;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, DigestLetter, or_lacking};
use crate::desk::frame::summary::gm_line;
use crate::game::{BySeat, Seat};
use crate::referee::{MatchOverview, Stage};
use crate::report::GmMatchSummary;
use crate::store::LetterStatus;

/// The matches and people that the rules hide from a GM who plays.
#[derive(Default)]
pub struct Fog {
    /// The running matches in which the GM plays.
    pub matches: BTreeSet<String>,
    /// The subset that some GM without a seat can read about. If every GM plays in a match, one of them must
    /// read what people write there; it contains no orders.
    pub read_by_others: BTreeSet<String>,
    /// The addresses of the other seats in matches that another GM reads about.
    addresses: BTreeSet<String>,
    /// The seats that the owners of these addresses hold, in any running match.
    seats: BTreeSet<(String, Seat)>,
    /// Whether the reader may be any GM, so that players' letters outside a match are hidden, too.
    without_letter: bool,
}

impl Fog {
    /// Whether a letter comes from a match in which the GM plays.
    pub fn is_of_own_match(&self, letter: &DigestLetter) -> bool {
        self.hides(letter) || !letter.matches.is_disjoint(&self.matches)
    }

    /// Whether letters from this address may be about one of the GM's own matches.
    pub fn hides_sender(&self, sender: &str) -> bool {
        self.addresses.contains(sender)
    }

    pub fn hides(&self, letter: &DigestLetter) -> bool {
        self.without_letter && letter.by_player
            || self.addresses.contains(&letter.row.sender)
            || !letter.matches.is_disjoint(&self.read_by_others)
    }

    /// Whether even a list of letters without their contents and times would show the GM how often the other
    /// seat writes. `sealed_by` are the running matches that a letter may be about.
    pub fn hides_arrival(&self, sealed_by: &[String], status: LetterStatus) -> bool {
        let may_need_a_gm = match status {
            LetterStatus::Automatic | LetterStatus::Ignored | LetterStatus::SetAside => true,
            LetterStatus::Waiting | LetterStatus::Ruled | LetterStatus::Answered | LetterStatus::Repeated => {
                false
            }
        };
        let hiding = if may_need_a_gm { &self.read_by_others } else { &self.matches };
        sealed_by.iter().any(|id| hiding.contains(id))
    }

    /// Whether it is hidden that the seat's player may be away. Only an automatic letter from the player tells
    /// that, whichever of their matches it is about.
    pub fn hides_absence(&self, match_id: &str, seat: Seat) -> bool {
        self.seats.contains(&(match_id.to_owned(), seat))
    }

    /// Returns which seats' players may be away, as far as the GM may know that.
    pub fn away(&self, match_id: &str, away: BySeat<bool>) -> BySeat<bool> {
        BySeat::from_fn(|seat| away[seat] && !self.hides_absence(match_id, seat))
    }

    /// Sums up a match in one line.
    pub fn line(&self, game_match: MatchOverview, now: DateTime<Utc>) -> GmMatchSummary {
        let away = self.away(&game_match.id, game_match.away);
        gm_line(&MatchOverview { away, ..game_match }, now)
    }
}

/// Returns what the rules hide from this GM.
pub fn of_gm(desk: &Desk<'_>, gm: GmIndex) -> Decided<Fog> {
    of_gms(desk, &[gm])
}

/// Returns what the rules hide from the acting GM, who may play. At the terminal and on the screen nothing proves
/// which GM acts.
pub fn of_acting_gm(desk: &Desk<'_>) -> Decided<Fog> {
    if desk.without_letter { at_terminal(desk) } else { of_gm(desk, desk.acting) }
}

/// Returns what the rules hide from any GM: whoever sits at the terminal may be each of them.
pub fn at_terminal(desk: &Desk<'_>) -> Decided<Fog> {
    of_gms(desk, &gms::all_gms(desk))
}

/// Returns what a digest that is made without a letter leaves out: nothing from any running match is in it.
pub fn of_digest_without_letter(desk: &Desk<'_>) -> Decided<Fog> {
    let running = desk.overviews()?.into_iter().filter(|overview| overview.stage != Stage::Over);
    let matches: BTreeSet<String> = running.map(|overview| overview.id).collect();
    Ok(Fog { read_by_others: matches.clone(), matches, without_letter: true, ..at_terminal(desk)? })
}

fn of_gms(desk: &Desk<'_>, gms: &[GmIndex]) -> Decided<Fog> {
    let mut fog = Fog::default();
    let addresses = gms.iter().flat_map(|index| gms::gm(desk, *index).addresses());
    for address in addresses {
        let player = or_lacking(desk.player(address.as_str()))?.flatten();
        let Some(player) = player else { continue };
        let Some(matches) = or_lacking(desk.rows.matches_of(player.id))? else {
            continue;
        };
        let running = matches.iter().filter(|(_, overview)| overview.stage != Stage::Over);
        for (seat, overview) in running {
            fog.matches.insert(overview.id.clone());
            let loaded = or_lacking(desk.game_match(&overview.id))?.flatten();
            let Some(loaded) = loaded else { continue };
            let opponent = &loaded.seats[seat.other()].player;
            let is_read_by_others = match overview.game.hides_something() {
                true => !or_lacking(gms::impartial_gms(desk, opponent.id))?.unwrap_or_default().is_empty(),
                false => !gms::all_gms_play(desk, &loaded.seats),
            };
            if is_read_by_others {
                fog.read_by_others.insert(overview.id.clone());
                // A letter without a token names no match, so only its address shows whether it is from an
                // opponent.
                fog.addresses.extend(opponent.addresses.iter().cloned());
                let theirs = or_lacking(desk.rows.matches_of(opponent.id))?.unwrap_or_default();
                let theirs = theirs.iter().filter(|(_, overview)| overview.stage != Stage::Over);
                fog.seats.extend(theirs.map(|(seat, overview)| (overview.id.clone(), *seat)));
            }
        }
    }
    desk.rows.check()?;
    Ok(fog)
}

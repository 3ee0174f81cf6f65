//! Hides from a GM who plays, in digests and lists of letters, what the rules hide from a player.

use std::collections::BTreeSet;

use super::lists;
use crate::config::GmIndex;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, DigestLetter, or_lacking};
use crate::desk::outbox::gms;
use crate::referee::Stage;

/// The matches and addresses that the rules hide from a GM who plays.
#[derive(Default)]
pub struct Fog {
    /// The running matches in which the GM plays.
    pub matches: BTreeSet<String>,
    /// The subset that some GM without a seat can read about. If every GM plays in a match, one of them must
    /// read what people write there; it contains no orders.
    pub read_by_others: BTreeSet<String>,
    /// The addresses of the other seats in matches that another GM reads about.
    addresses: BTreeSet<String>,
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
}

/// Returns what the rules hide from this GM, on the screen.
pub fn on_screen(desk: &mut Desk<'_>, gm: GmIndex) -> Decided<Fog> {
    desk.acting = gm;
    of_gm(desk)
}

/// Returns what the rules hide from the acting GM, who may play.
pub fn of_gm(desk: &Desk<'_>) -> Decided<Fog> {
    let mut fog = Fog::default();
    for address in gms::acting_gm(desk).addresses() {
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
            }
        }
    }
    desk.rows.check()?;
    Ok(fog)
}

/// Returns the fog for a GM who acts without a letter, which covers all running matches.
pub fn without_letter(desk: &Desk<'_>) -> Decided<Fog> {
    let running = lists::overviews(desk)?.into_iter().filter(|overview| overview.stage != Stage::Over);
    let matches: BTreeSet<String> = running.map(|overview| overview.id).collect();
    Ok(Fog { read_by_others: matches.clone(), matches, addresses: BTreeSet::new(), without_letter: true })
}

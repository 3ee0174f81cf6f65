//! The GMs: the author of a GM's letter, and the readers of letters to the GMs.
//!
//! A letter from a seat reaches only GMs without a seat in that match; of these, those who are on duty and
//! look after the match. If there are none, duty is ignored; if there are still none, responsibility is
//! ignored, too.

use chrono::Datelike as _;

use super::mail::{self, PlainEnvelope};
use crate::config::Gm;
use crate::config::GmIndex;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedMatch, or_lacking};
use crate::game::BySeat;
use crate::game::any::GameKind;
use crate::referee::{DispatchKind, Match, Stage};
use crate::report::ClubLetter;
use crate::report::envelope::AnsweredLetter;
use crate::store::{NewDispatch, Player, TokenRow, Urgency};

/// The subject of a letter to the GMs.
#[derive(Clone, Copy)]
pub enum GmTopic<'a> {
    Club,
    Match(&'a LoadedMatch),
    /// This player's words outside a match, which may be about any of the player's matches.
    WordsOf(&'a Player),
}

/// Whether a GM holds a seat.
pub fn is_seated(gm: &Gm, seats: &BySeat<TokenRow>) -> bool {
    seats.iter().any(|(_, row)| row.player.addresses.iter().any(|address| gm.has_address(address)))
}

pub fn gm<'a>(desk: &Desk<'a>, index: GmIndex) -> &'a Gm {
    &desk.club.config.club.gm.all()[index.0]
}

/// Returns the GM whom letters to players name.
pub fn first_gm<'a>(desk: &Desk<'a>) -> &'a Gm {
    gm(desk, GmIndex::default())
}

/// Returns the GM who acts: the writer of the letter that is carried out, or at the terminal, the first GM.
pub fn acting_gm<'a>(desk: &Desk<'a>) -> &'a Gm {
    gm(desk, desk.acting)
}

/// Prefix of the keys under which the GMs' tokens are remembered.
pub const TOKEN_KEYS: &str = "gm_token";

/// Returns the key under which a GM's reply token is remembered.
pub fn token_key(gm: &Gm) -> String {
    format!("{TOKEN_KEYS} {}", gm.address)
}

/// Gives a GM a new reply token, and sends it to the registered address.
pub fn renew_token(desk: &mut Desk<'_>, index: GmIndex) -> Decided<()> {
    let gm = gm(desk, index);
    let token = desk.random("token of a GM").token().to_string();
    let page = mail::word_club_letter(desk, &ClubLetter::GmToken, &token)?;
    let unique = format!("token.{}", desk.at().timestamp_millis());
    let to = PlainEnvelope::to_gm(gm, &unique, DispatchKind::Notice);
    let dispatch = mail::assemble(desk, page, &token, &to, None)?;
    desk.draft.changes.dispatches.push(dispatch);
    desk.draft.changes.remembered.push((token_key(gm), token));
    Ok(())
}

/// Returns the reply token that letters to a GM carry.
pub fn token_of_gm<'a>(desk: &Desk<'a>, index: GmIndex) -> &'a str {
    desk.rows.loaded.gm_tokens.get(index.0).map_or("", String::as_str)
}

/// Returns the GMs who read letters from a seat of a match; at least one.
pub fn readers_of(desk: &Desk<'_>, game_match: &Match, seats: &BySeat<TokenRow>) -> Vec<GmIndex> {
    best_of(desk, all_gms(desk), game_match, seats)
}

/// Picks the GMs who read letters from a seat of a match; at least one.
fn best_of(desk: &Desk<'_>, gms: Vec<GmIndex>, game_match: &Match, seats: &BySeat<TokenRow>) -> Vec<GmIndex> {
    // Secrecy matters most: if no GM meets all three conditions, being on duty is dropped first, then being
    // responsible, and only then being unseated.
    let unseated = preferring(gms, |index| !is_seated(gm(desk, index), seats));
    let responsible =
        preferring(unseated, |index| gm(desk, index).looks_after(game_match.game, &game_match.id));
    preferring(responsible, |index| is_on_duty(desk, index))
}

/// Whether every GM holds a seat of the match.
pub fn all_gms_play(desk: &Desk<'_>, seats: &BySeat<TokenRow>) -> bool {
    desk.club.config.club.gm.all().iter().all(|gm| is_seated(gm, seats))
}

/// Writes an urgent letter to each GM who reads it. It asks a question, or reports what a person wrote or
/// did. For trouble, see [`alarms`](super::alarms).
pub fn gm_letters(
    desk: &Desk<'_>,
    plain: &ClubLetter,
    unique: &str,
    about: GmTopic<'_>,
) -> Decided<Vec<NewDispatch>> {
    let alarm = |index| {
        let dispatch = gm_dispatch(desk, index, plain, unique, None)?;
        Ok(NewDispatch { urgency: Urgency::Alarm, ..dispatch })
    };
    readers_about(desk, about)?.into_iter().map(alarm).collect()
}

/// Returns the GMs who read urgent letters about a subject; at least one.
pub fn readers_about(desk: &Desk<'_>, about: GmTopic<'_>) -> Decided<Vec<GmIndex>> {
    Ok(match about {
        GmTopic::Club => gms_on_duty(desk),
        GmTopic::WordsOf(player) => readers_of_words(desk, player)?,
        GmTopic::Match(loaded) => readers_of(desk, &loaded.game_match, &loaded.seats),
    })
}

/// Writes a letter to one GM. An answer goes to the address from which the GM wrote.
pub fn gm_dispatch(
    desk: &Desk<'_>,
    index: GmIndex,
    plain: &ClubLetter,
    unique: &str,
    answered: Option<(&AnsweredLetter, &str)>,
) -> Decided<NewDispatch> {
    let (gm, token) = (gm(desk, index), token_of_gm(desk, index));
    let page = mail::word_club_letter(desk, plain, token)?;
    let to = PlainEnvelope {
        name: &gm.name,
        address: answered.map_or(gm.address.as_str(), |(_, from)| from),
        unique,
        kind: if answered.is_some() { DispatchKind::Answer } else { DispatchKind::Notice },
    };
    let dispatch = mail::assemble(desk, page, token, &to, answered.map(|(letter, _)| letter))?;
    let urgency = if answered.is_some() { Urgency::Receipt } else { dispatch.urgency };
    Ok(NewDispatch { urgency, ..dispatch })
}

/// Returns the GMs on duty, or all of them if none is.
pub fn gms_on_duty(desk: &Desk<'_>) -> Vec<GmIndex> {
    preferring(all_gms(desk), |index| is_on_duty(desk, index))
}

/// The GMs who read a player's words.
pub struct WordReaders {
    /// The GMs, at least one.
    pub gms: Vec<GmIndex>,
    /// Whether they hold a seat in a match of the player that hides something, because every GM does. Lines
    /// that may reveal a position are then left out.
    pub are_opponents: bool,
}

/// Returns the GMs who read a player's words outside a match: those who do not play against the player, or
/// all of them if all do.
fn readers_of_words(desk: &Desk<'_>, player: &Player) -> Decided<Vec<GmIndex>> {
    let impartial = impartial_gms(desk, player.id)?;
    let unseated = gms_without_seat(desk, player.id, |_| true)?;
    let gms = if impartial.is_empty() { all_gms(desk) } else { impartial };
    let gms = preferring(gms, |index| unseated.contains(&index));
    Ok(preferring(gms, |index| is_on_duty(desk, index)))
}

/// Returns the GMs without a seat in any running match of a player that hides something. If no running match
/// hides anything, these are all GMs.
pub fn impartial_gms(desk: &Desk<'_>, player_id: i64) -> Decided<Vec<GmIndex>> {
    gms_without_seat(desk, player_id, GameKind::hides_something)
}

/// Returns the GMs without a seat in any running match of a player whose game meets a condition.
fn gms_without_seat(
    desk: &Desk<'_>,
    player_id: i64,
    counts: impl Fn(GameKind) -> bool,
) -> Decided<Vec<GmIndex>> {
    let mut gms = all_gms(desk);
    for (_, overview) in desk.rows.matches_of(player_id)? {
        if overview.stage == Stage::Over || !counts(overview.game) {
            continue;
        }
        // Ask for all matches before the check below ends the round, so that they are loaded together.
        let Some(loaded) = or_lacking(desk.game_match(&overview.id))?.flatten() else {
            continue;
        };
        gms.retain(|index| !is_seated(gm(desk, *index), &loaded.seats));
    }
    desk.rows.check()?;
    Ok(gms)
}

/// Returns the GMs who read a player's words in a match.
pub fn readers_of_seat(desk: &Desk<'_>, loaded: &LoadedMatch, player_id: i64) -> Decided<WordReaders> {
    let readers = readers_of(desk, &loaded.game_match, &loaded.seats);
    let impartial = impartial_gms(desk, player_id)?;
    if impartial.is_empty() {
        return Ok(WordReaders { gms: readers, are_opponents: true });
    }
    // A player's words may also be about another match, so prefer readers who do not play against the player
    // anywhere.
    let both: Vec<GmIndex> = readers.iter().copied().filter(|index| impartial.contains(index)).collect();
    let gms =
        if both.is_empty() { best_of(desk, impartial, &loaded.game_match, &loaded.seats) } else { both };
    Ok(WordReaders { gms, are_opponents: false })
}

pub fn all_gms(desk: &Desk<'_>) -> Vec<GmIndex> {
    (0..desk.club.config.club.gm.all().len()).map(GmIndex).collect()
}

fn is_on_duty(desk: &Desk<'_>, index: GmIndex) -> bool {
    let today = desk.at().with_timezone(&desk.club.config.terms.zone).weekday();
    gm(desk, index).is_on_duty(today)
}

/// Returns the GMs who meet a condition, or all of them if none does.
fn preferring(gms: Vec<GmIndex>, condition: impl Fn(GmIndex) -> bool) -> Vec<GmIndex> {
    let chosen: Vec<GmIndex> = gms.iter().copied().filter(|index| condition(*index)).collect();
    if chosen.is_empty() { gms } else { chosen }
}

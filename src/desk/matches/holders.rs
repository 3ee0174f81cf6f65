//! The holder of a seat: pinned in the ledger of the match when it opens, and whenever the reply token or the
//! player's addresses change.

use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedMatch};
use crate::desk::frame::stored::seat_row;
use crate::desk::outbox::ruling_mail::{self, Readers};
use crate::game::Seat;
use crate::ledger::{Act, KeptPin, PinKey, PinnedKind, SeatPins};
use crate::letter::Digest;
use crate::referee::Matter;
use crate::store::{Player, TokenRow};

/// Pins a seat's reply token and its player's addresses, each under a key of its own, and saves the keys.
pub fn pin_seat(desk: &mut Desk<'_>, row: &TokenRow) -> SeatPins {
    // With one key for all pins, anybody who got it to open one pin could find the others by guessing.
    let mut random = desk.random("keys of pins");
    let mut pin = |kind: PinnedKind, value: &str| {
        let kept = KeptPin::new(row.seat, kind, PinKey::new(random.bytes()), value);
        let pin = kept.pin;
        desk.draft.changes.seat_pins.push((row.match_id.clone(), kept));
        pin
    };
    SeatPins {
        token: pin(PinnedKind::Token, &row.token),
        addresses: row.player.addresses.iter().map(|own| pin(PinnedKind::Address, own)).collect(),
    }
}

/// Returns the act that notes in the ledger the present holder of a seat of `loaded`.
pub fn hold(desk: &mut Desk<'_>, loaded: &LoadedMatch, seat: Seat, letter: Option<Digest>) -> Act {
    Act::PinHolder { seat, pins: pin_seat(desk, &loaded.seats[seat]), letter }
}

/// Notes the addresses of these players, who were merged into one, in the ledgers of their matches. Includes
/// matches that are over, because their players' letters are still compared with the noted addresses.
pub fn hold_seats_of(
    desk: &mut Desk<'_>,
    players: &[i64],
    player: &Player,
    letter: Option<Digest>,
) -> Decided<()> {
    for id in players {
        for mut loaded in desk.matches_with(*id)? {
            let is_own = |seat: &Seat| players.contains(&loaded.seats[*seat].player.id);
            // A player holds at most one seat of a match, because players who play each other cannot be
            // merged.
            let Some(seat) = Seat::BOTH.into_iter().find(is_own) else { continue };
            loaded.seats[seat].player = player.clone();
            let act = hold(desk, &loaded, seat, letter);
            let ruling = ruling_mail::act(desk, &loaded.game_match, act);
            ruling_mail::record_ruling(desk, loaded, ruling)?;
        }
    }
    Ok(())
}

/// Saves a seat whose token has changed.
pub fn save_seat(desk: &mut Desk<'_>, row: &TokenRow) {
    let seats = &mut desk.draft.changes.seats;
    // A letter may renew a token twice; the later one counts.
    seats.retain(|saved| (&saved.match_id, saved.seat) != (&row.match_id, row.seat));
    seats.push(seat_row(row));
}

/// Gives a seat a new reply token, if this player still holds it.
pub fn renew_token(desk: &mut Desk<'_>, match_id: &str, seat: Seat, player_id: Option<i64>) -> Decided<bool> {
    let Some(loaded) = desk.game_match(match_id)?.cloned() else { return Ok(false) };
    if Some(loaded.seats[seat].player.id) != player_id {
        return Ok(false);
    }
    // The player's addresses may have changed in this transaction, and the new token must go to the right
    // one.
    let player = desk.latest(loaded.seats[seat].player.clone());
    let matter = loaded.game_match.by_program(Act::RenewOwnToken(seat));
    hand_over(desk, loaded, seat, player, &matter)?;
    Ok(true)
}

/// Gives a seat to a player with a new reply token, and rules on the matter that calls for it.
pub fn hand_over(
    desk: &mut Desk<'_>,
    mut loaded: LoadedMatch,
    seat: Seat,
    player: Player,
    matter: &Matter<'_>,
) -> Decided<()> {
    let former = loaded.seats[seat].clone();
    let token = desk.draw_token(&player).to_string();
    loaded.seats[seat] = TokenRow { token, player, ..former.clone() };
    save_seat(desk, &loaded.seats[seat]);
    let hold = hold(desk, &loaded, seat, None);
    let mut ruling = ruling_mail::request_ruling_and_pin(desk, &loaded.game_match, &[hold], matter);
    let readers = Readers { former: Some(&former), ..Readers::seats(&loaded.seats) };
    let rows = ruling_mail::word_and_pin(desk, &mut ruling, &readers)?;
    ruling_mail::keep_ruling(desk, loaded, ruling, rows);
    Ok(())
}

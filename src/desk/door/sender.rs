//! Identifies the sender of a letter by its address and reply tokens.

use crate::config::GmIndex;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::letter::{Letter, UnreadableLetter};
use crate::referee;
use crate::request;
use crate::store::{TokenRow, WaitingLetter};

/// A parsed letter, not yet matched to a seat.
pub type ReadResult = Result<Letter, Box<UnreadableLetter>>;

/// A waiting letter and the result of reading it, or `None` if that panicked.
pub struct ReadLetter {
    pub waiting: WaitingLetter,
    pub read: Option<ReadResult>,
}

/// The sender of a letter.
pub enum Sender {
    Seat(TokenRow),
    /// A GM who writes from a registered address, with or without the GM's own token.
    Gm {
        gm: GmIndex,
        has_token: bool,
    },
    /// Uses the token of this seat, but is not from an address of its player. Gets no answer.
    Unknown(TokenRow),
    /// Uses this GM's token, but is not from an address of a GM. Gets no answer.
    GmImpostor(GmIndex),
    Stranger,
}

/// Identifies the sender: a seat's letter carries the seat's token and is from an address of its player.
pub fn sender_of(desk: &Desk<'_>, letter: &Letter) -> Decided<Sender> {
    let gm = desk.club.gm_at(&letter.from);
    let mut unknown = None;
    let mut impersonated = None;
    for token in &letter.tokens {
        match desk.rows.seat_by_token(token.as_str())? {
            Some(row) if row.player.addresses.iter().any(|address| address == letter.from.as_str()) => {
                return Ok(Sender::Seat(row.clone()));
            }
            Some(row) if unknown.is_none() => unknown = Some(row.clone()),
            Some(_) => {}
            None => match (desk.rows.gm_with_token(token.as_str()), gm) {
                (None, _) => {}
                (Some(owner), Some(gm)) if owner == gm => return Ok(Sender::Gm { gm, has_token: true }),
                // The token comes from a letter to another GM. Each GM acts by their own token.
                (Some(_), Some(_)) => {}
                (Some(owner), None) => impersonated = Some(owner),
            },
        }
    }
    Ok(match (impersonated, unknown) {
        (Some(owner), _) => Sender::GmImpostor(owner),
        (None, Some(row)) => Sender::Unknown(row),
        (None, None) => {
            match gm.filter(|_| referee::has_instruction(&request::lines_of(letter.new_text(None)))) {
                Some(gm) => Sender::Gm { gm, has_token: false },
                None => Sender::Stranger,
            }
        }
    })
}

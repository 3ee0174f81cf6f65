//! The holders of each seat over time: compares letters from and to a seat with the pins in the entries.
//!
//! Compares letters that we sent with their pins in the chain, and with the data in their rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use mail_parser::MessageParser;

use crate::audit::{Finding, Place, witness};
use crate::game::{BySeat, Seat};
use crate::ledger::{
    Entry, Fact, Head, KeptPin, LetterCause, PinnedKind, PlaceInMatch, PlayerSettings, SealKey, SeatPins,
    TokenOf,
};
use crate::letter::{Digest, Letter};
use crate::referee::{Dispatch, DispatchKind, Match, Reader};
use crate::report::envelope;
use crate::report::pin::pin_of;

/// A seat as stored: its reply token, and the addresses of its player.
#[derive(Clone, Debug, Default)]
pub struct StoredSeat {
    pub token: String,
    pub addresses: Vec<String>,
    /// Its player's name and settings. `None` in a dossier, which has none beside the match.
    pub player: Option<StoredPlayer>,
}

/// The name and the settings of a player, as stored. A running match has the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPlayer {
    pub name: String,
    pub settings: PlayerSettings,
}

/// The holders of each seat, as the entries so far pin them.
pub(super) struct Holders {
    kept: BTreeMap<Digest, KeptPin>,
    held: Vec<PinPeriod>,
}

/// A pin that an entry names, and the time at which a later entry ended it.
struct PinPeriod {
    seat: Seat,
    pin: Digest,
    until: Option<DateTime<Utc>>,
}

impl Holders {
    pub fn new(kept: Vec<KeptPin>) -> Holders {
        Holders { kept: kept.into_iter().map(|kept| (kept.pin, kept)).collect(), held: Vec::new() }
    }

    /// Notes who holds a seat from `at` on. Fails if the value of a pin is not kept, or does not match the
    /// pin.
    fn note(&mut self, seat: Seat, pins: &SeatPins, at: DateTime<Utc>) -> Result<(), &'static str> {
        for held in self.held.iter_mut().filter(|held| held.seat == seat && held.until.is_none()) {
            held.until = Some(at);
        }
        let addresses = pins.addresses.iter().map(|pin| (PinnedKind::Address, *pin));
        for (kind, pin) in addresses.chain([(PinnedKind::Token, pins.token)]) {
            let kept = self.kept.get(&pin).filter(|kept| (kept.seat, kept.kind) == (seat, kind));
            if !kept.ok_or("it pins an address or a token that is not kept")?.is_sound() {
                return Err("the address or the token that is kept for one of its pins was changed");
            }
            self.held.push(PinPeriod { seat, pin, until: None });
        }
        Ok(())
    }

    /// Whether a seat had this token or address at some time since `since`. Unknown for a forgotten player.
    pub(super) fn had(
        &self,
        seat: Seat,
        kind: PinnedKind,
        value: &str,
        since: Option<DateTime<Utc>>,
    ) -> bool {
        let of_seat = self.held.iter().filter(|held| held.seat == seat);
        let mut in_time =
            of_seat.filter(|held| held.until.is_none_or(|until| since.is_some_and(|since| until >= since)));
        in_time.any(|held| {
            self.kept.get(&held.pin).is_some_and(|kept| {
                kept.kind == kind && kept.opened.as_ref().is_none_or(|opened| opened.value == value)
            })
        })
    }

    /// Counts the addresses of a seat's player.
    pub(super) fn address_count(&self, seat: Seat) -> usize {
        let now = self.held.iter().filter(|held| held.seat == seat && held.until.is_none());
        now.filter(|held| self.kept.get(&held.pin).is_some_and(|kept| kept.kind == PinnedKind::Address))
            .count()
    }

    /// Notes the holders of seats that an entry pins. Returns the faults of its pins, as clauses.
    pub(super) fn note_entry(&mut self, entry: &Entry) -> Vec<&'static str> {
        let pinned: BySeat<Option<&SeatPins>> = match &entry.fact {
            Fact::MatchOpened { holders: Some(holders), .. } => {
                BySeat::new(Some(&holders.first), Some(&holders.second))
            }
            Fact::HolderPinned { seat, pins, .. } => BySeat::from_fn(|own| (own == *seat).then_some(pins)),
            _ => return Vec::new(),
        };
        let pinned = pinned.iter().filter_map(|(seat, pins)| pins.map(|pins| (seat, pins)));
        pinned.filter_map(|(seat, pins)| self.note(seat, pins, entry.at).err()).collect()
    }

    /// Returns the seat that a letter acts for, according to its sender, its tokens and its circumstances.
    pub(super) fn sender_seat(&self, letter: &Letter, cause: &LetterCause) -> Option<Seat> {
        let is_confirmed = cause.confirmed_by.is_some();
        let stated = Some(cause.seat);
        match cause.token {
            // The token of the other match is pinned in that match's ledger.
            TokenOf::Other => stated.filter(|seat| is_confirmed || self.is_address_of(*seat, letter, cause)),
            TokenOf::Own if is_confirmed => stated.filter(|seat| self.has_token_of(*seat, letter, cause)),
            TokenOf::Own => Seat::BOTH.into_iter().find(|seat| {
                self.has_token_of(*seat, letter, cause) && self.is_address_of(*seat, letter, cause)
            }),
        }
    }

    /// Whether a letter comes from an address that this seat's player had when it arrived.
    fn is_address_of(&self, seat: Seat, letter: &Letter, cause: &LetterCause) -> bool {
        self.had(seat, PinnedKind::Address, letter.from.as_str(), Some(cause.received))
    }

    /// Whether a letter has a reply token that this seat had when it arrived.
    fn has_token_of(&self, seat: Seat, letter: &Letter, cause: &LetterCause) -> bool {
        let mut tokens = letter.tokens.iter().map(ToString::to_string);
        tokens.any(|token| self.had(seat, PinnedKind::Token, &token, Some(cause.received)))
    }
}

/// One of our letters as it is stored.
#[derive(Clone, Debug)]
pub struct StoredDispatch {
    pub message_id: String,
    pub recipient: String,
    pub kind: DispatchKind,
    pub seat: Option<Seat>,
    pub sent_at: Option<DateTime<Utc>>,
    pub bytes: Vec<u8>,
}

impl StoredDispatch {
    /// Returns the place in the match that its Message-ID names.
    pub(super) fn place(&self, match_id: &str, key: &SealKey) -> Option<PlaceInMatch<'_>> {
        PlaceInMatch::read(&self.message_id, match_id, key)
    }
}

/// A letter that a ruling must have sent, with the one that was sent.
pub struct ExpectedDispatch {
    pub(super) stored: StoredDispatch,
    /// Its pin according to the ledger.
    pub(super) pin: Digest,
    pub(super) match_id: Arc<str>,
    /// The last entry of the ruling that sent it.
    pub(super) head: Head,
    pub(super) at: DateTime<Utc>,
    /// The reply token at the start of its Message-ID; empty if there is none.
    pub(super) token: String,
    /// The dispatch of the repeated ruling, and the match after it. `None` if the ruling was not repeated.
    pub(super) repeated: Option<(Arc<Match>, Dispatch)>,
    /// The club's own templates that may have shaped it.
    pub(super) own_templates: Vec<String>,
}

impl ExpectedDispatch {
    /// Compares the letter with its pin, its ledger line with the chain, and the data in its row with its own
    /// header.
    ///
    /// # Errors
    /// [`Finding`] if the letter was changed or is stored under wrong data.
    pub fn compare(&self) -> Result<(), Finding> {
        let bytes = &self.stored.bytes[..];
        let mail = MessageParser::default().parse(bytes);
        let text = mail.as_ref().and_then(|mail| mail.body_text(0)).unwrap_or_default();
        let names_head = witness::in_text(&text)
            .last()
            .is_some_and(|line| (&*line.chain, line.hash) == (&*self.match_id, self.head.hash));
        if !names_head {
            return self.finding("its ledger line differs from the ledger: it was changed");
        }
        if mail.as_ref().map(|mail| pin_of(bytes, mail)) != Some(self.pin) {
            return self.finding("it was changed: the ledger pins another letter");
        }
        if self.expected_kind().is_some_and(|expected| expected != (self.stored.seat, self.stored.kind)) {
            return self.finding("it is stored as a letter of another kind or to another seat");
        }
        let to = mail.as_ref().and_then(|mail| mail.to()?.first()?.address());
        if (mail.as_ref().and_then(|mail| mail.message_id()), to)
            != (Some(self.stored.message_id.as_str()), Some(self.stored.recipient.as_str()))
        {
            return self.finding("it is stored under a Message-ID or recipient other than its own");
        }
        Ok(())
    }

    /// Returns the seat and the kind under which the repeated ruling sends it.
    fn expected_kind(&self) -> Option<(Option<Seat>, DispatchKind)> {
        let (_, dispatch) = self.repeated.as_ref()?;
        let seat = match dispatch.to {
            Reader::Seat(seat) => Some(seat),
            Reader::Former(_) | Reader::Gm => None,
        };
        Some((seat, envelope::kind(&dispatch.content)))
    }

    fn finding<T>(&self, what: &str) -> Result<T, Finding> {
        Err(Finding::at(Place::Sent(self.stored.message_id.clone()), what))
    }
}

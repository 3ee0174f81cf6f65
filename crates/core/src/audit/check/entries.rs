//! Notes the entries of a ruling, and compares the letters that they name in addition to their cause. Each of
//! these proves who opened a match, confirmed a letter, changed the holder of a seat, or announced an absence
//! in another match.

use super::state::Check;
use crate::audit::Place;
use crate::game::Seat;
use crate::ledger::{Act, Cause, Entry, Fact, PinnedKind};
use crate::letter::Digest;
use crate::zone;

/// Notes the facts that later rulings depend on, and compares the letters and pins that the entries of a
/// ruling name.
pub(super) fn note<'a>(check: &mut Check, entries: impl Iterator<Item = &'a Entry> + Clone) {
    for entry in entries.clone() {
        if matches!(entry.fact, Fact::MatchEnded { .. }) {
            check.ends.push(entry.at);
        }
        if let Fact::MatchOpened { mail_identity, .. } | Fact::MailIdentitySet { mail_identity, .. } =
            &entry.fact
        {
            check.has_other_zones |= mail_identity.tzdata != zone::edition();
            check.identity = Some((**mail_identity).clone());
        }
        for what in check.holders.note_entry(entry) {
            check.report(Place::Entry(entry.seq), what);
        }
        check.facts.note(entry);
    }
    for entry in entries.clone() {
        check_named_letters(check, entry);
    }
    check.record_entries.extend(entries.filter(|entry| is_of_record(&entry.fact)).cloned());
}

/// Whether the game record depends on this fact.
fn is_of_record(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::MatchOpened { .. }
            | Fact::TurnAdjudicated { .. }
            | Fact::MatchClosed { .. }
            | Fact::CorrectionMade { .. }
            | Fact::ConditionsSealed { .. }
            | Fact::ConditionsWithdrawn { .. }
            | Fact::ConditionsFollowed { .. }
            | Fact::PlayerRenamed { .. }
            | Fact::PlayerReplaced { .. }
    )
}

/// The required sender of a letter that an entry names.
#[derive(Clone, Copy)]
enum RequiredSender {
    /// The player of this seat.
    Seat(Seat),
    /// The player of this seat, or the writer of the letter that this one confirms.
    Confirmer { seat: Seat, of: Digest },
    /// A player of the match.
    Player,
    /// Anybody, because the sender may have had another address at the time.
    Anybody,
}

/// Checks that the letters that an entry names in addition to its cause are present, whole, and from the
/// right sender.
fn check_named_letters(check: &mut Check, entry: &Entry) {
    let mut named: Vec<(Digest, RequiredSender)> = Vec::new();
    match entry.own_cause() {
        Some(Cause::Letter(cause)) => {
            let confirmer = RequiredSender::Confirmer { seat: cause.seat, of: cause.letter };
            named.extend(cause.confirmed_by.map(|letter| (letter, confirmer)));
        }
        Some(Cause::Gm { act, .. } | Cause::Program { act, .. }) => match act {
            Act::Open { letter } => {
                let offer = match &entry.fact {
                    Fact::MatchOpened { lot: Some(lot), .. } => Some(lot.offer),
                    _ => None,
                };
                let offer = offer.filter(|offer| Some(*offer) != *letter);
                named.extend(offer.map(|offer| (offer, RequiredSender::Anybody)));
                named.extend(letter.map(|letter| (letter, RequiredSender::Player)));
            }
            Act::PinHolder { seat, letter, .. } => {
                named.extend(letter.map(|letter| (letter, RequiredSender::Seat(*seat))));
            }
            Act::Absent { seat, letter, confirmed_by, .. } => {
                let holder = RequiredSender::Seat(*seat);
                named.push((*letter, if confirmed_by.is_some() { RequiredSender::Anybody } else { holder }));
                let confirmer = RequiredSender::Confirmer { seat: *seat, of: *letter };
                named.extend(confirmed_by.map(|letter| (letter, confirmer)));
            }
            _ => {}
        },
        Some(Cause::Clock { .. } | Cause::House { .. }) | None => {}
    }
    for (letter, sender) in named {
        check_named_letter(check, entry.seq, letter, sender);
    }
}

fn check_named_letter(check: &mut Check, seq: u64, digest: Digest, sender: RequiredSender) {
    let may_be_withheld = match sender {
        RequiredSender::Seat(seat) | RequiredSender::Confirmer { seat, .. } => {
            check.withheld.seats.contains(&seat)
        }
        RequiredSender::Player | RequiredSender::Anybody => !check.withheld.seats.is_empty(),
    };
    let what = match check.letters.get(&digest) {
        None if may_be_withheld => {
            check.verdict.withheld_letters += 1;
            return;
        }
        None => "it is missing",
        Some((read, _)) => match &read.letter {
            Err(why) => why,
            Ok(letter) => {
                let is_from = |seat: Seat| {
                    let address = letter.from.as_str();
                    let since = Some(read.received_at);
                    check.holders.had(seat, PinnedKind::Address, address, since)
                };
                let wrote = |other: Digest| {
                    let other = check.letters.get(&other).and_then(|(read, _)| read.letter.as_ref().ok());
                    other.is_some_and(|other| other.from == letter.from)
                };
                let is_sender = match sender {
                    RequiredSender::Seat(seat) => is_from(seat),
                    // The code of a notice is also valid in a letter from the address that the notice is
                    // about.
                    RequiredSender::Confirmer { seat, of } => is_from(seat) || wrote(of),
                    RequiredSender::Player => Seat::BOTH.into_iter().any(is_from),
                    RequiredSender::Anybody => true,
                };
                if is_sender {
                    return;
                }
                "it is not from a player of the seat"
            }
        },
    };
    check.report(Place::Letter(digest), format!("{what}; entry #{seq} names it"));
}

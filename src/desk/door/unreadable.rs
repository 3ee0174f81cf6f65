//! Letters beyond the limits, or without exactly one sender: one short answer says what is wrong. If the
//! sender is unclear, the answer goes to the registered addresses that the letter names, and to the owners of
//! its reply tokens.

use super::automatic;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, or_lacking};
use crate::desk::frame::standing;
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::desk::outbox::{budgets, gms, returned};
use crate::letter::{Address, Digest, UnreadableLetter};
use crate::referee::DispatchKind;
use crate::report::ClubLetter;
use crate::report::envelope::AnsweredLetter;
use crate::store::LetterStatus;

/// Tells the sender, in the letter's thread, why the letter cannot be read. If the sender is unclear, tells
/// each registered address that the letter names as its sender, and the owners of its reply tokens. Tells
/// nobody whom the GM has blocked.
pub fn answer_unreadable(desk: &mut Desk<'_>, letter: &UnreadableLetter) -> Decided<()> {
    // The owners of its reply tokens are told of a person's letter that came through a list or a forwarder.
    if let Some(automatic) =
        letter.automatic.as_ref().filter(|automatic| !automatic.may_be_relayed() || letter.tokens.is_empty())
    {
        returned::note_automatic(desk, automatic)?;
        let note = automatic::note_on_automatic(desk, automatic, &letter.tokens)?;
        desk.decided(letter.digest, LetterStatus::Automatic, note);
        return Ok(());
    }
    let mut readers: Vec<Address> = letter.answerable.iter().cloned().collect();
    for address in &letter.named_senders {
        let player = or_lacking(desk.player(address.as_str()))?;
        if player.flatten().is_some() || desk.club.is_gm(address) {
            readers.push(address.clone());
        }
    }
    // The sender is unclear, so also tell the owners of the reply tokens that the letter uses.
    if letter.answerable.is_none() {
        for token in &letter.tokens {
            let registered = or_lacking(registered_by_token(desk, token.as_str()))?.flatten();
            readers.extend(registered.filter(|address| !readers.contains(address)));
        }
    }
    let readers = without_blocked(desk, readers)?;
    desk.rows.check()?;
    for reader in &readers {
        tell_limit(desk, letter, reader)?;
    }
    let status = if readers.is_empty() { LetterStatus::Ignored } else { LetterStatus::Answered };
    desk.decided(letter.digest, status, letter.reason.to_string());
    Ok(())
}

/// Returns these readers except those whom the GM has blocked. The caller must then check the rows.
fn without_blocked(desk: &Desk<'_>, readers: Vec<Address>) -> Decided<Vec<Address>> {
    let mut told = Vec::new();
    for reader in readers {
        let standing = or_lacking(standing::standing(desk, reader.as_str()))?;
        let is_blocked = standing.is_some_and(|standing| standing.blocked_since.is_some());
        if !is_blocked || desk.club.is_gm(&reader) {
            told.push(reader);
        }
    }
    Ok(told)
}

/// Returns the address at which the owner of a reply token gets questions.
fn registered_by_token(desk: &Desk<'_>, token: &str) -> Decided<Option<Address>> {
    if let Some(gm) = desk.rows.gm_with_token(token) {
        return Ok(Some(gms::gm(desk, gm).address.clone()));
    }
    let Some(row) = desk.rows.seat_by_token(token)? else { return Ok(None) };
    let player = desk.latest(row.player.clone());
    // Skip addresses that were added recently: they may be a thief's.
    let trusted = standing::trusted_addresses(desk, &player)?;
    Ok(trusted.first().and_then(|address| Address::parse(address).ok()))
}

/// Notifies one address, at most once an hour.
fn tell_limit(desk: &mut Desk<'_>, letter: &UnreadableLetter, to: &Address) -> Decided<()> {
    let reader = Digest::of(to.as_str().as_bytes()).to_string();
    let unique = format!("l.{}.{}", &reader[..24], desk.at().format("%Y%m%d%H"));
    if desk.is_dispatched(&desk.club.stationery.message_id("", &unique))? {
        return Ok(());
    }
    let limits = desk.club.config.letters.limits();
    let plain = ClubLetter::unreadable(letter.reason, &limits);
    let answered = AnsweredLetter {
        digest: letter.digest,
        message_id: letter.message_id.clone(),
        references: letter.references.clone(),
        subject: letter.subject.clone(),
    };
    let page = mail::as_reader_wants(desk, mail::word_club_letter(desk, &plain, "")?, to.as_str())?;
    let envelope =
        PlainEnvelope { name: "", address: to.as_str(), unique: &unique, kind: DispatchKind::Answer };
    let mut dispatch = mail::assemble_once(desk, page, "", &envelope, &answered)?;
    if let Some(slot) = budgets::take_answer_slot(desk, to.as_str())? {
        slot.apply(&mut dispatch);
        desk.draft.changes.dispatches.push(dispatch);
    }
    Ok(())
}

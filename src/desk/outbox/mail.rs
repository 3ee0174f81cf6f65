//! Letters that are not about a running match: answers to anybody, offers, and letters to the GM.

use chrono::{DateTime, Utc};

use crate::config::Gm;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::letter::Address;
use crate::referee::{DispatchKind, LetterFormat};
use crate::report::envelope::{AnsweredLetter, Envelope};
use crate::report::{self, ClubLetter, WordedLetter};
use crate::store::{NewDispatch, Player, Urgency};

/// The reader, the Message-ID and the kind of a letter that is not about a running match.
pub struct PlainEnvelope<'a> {
    pub name: &'a str,
    pub address: &'a str,
    /// The unique part of its Message-ID.
    pub unique: &'a str,
    pub kind: DispatchKind,
}

impl<'a> PlainEnvelope<'a> {
    /// Addresses a letter to a GM.
    pub fn to_gm(gm: &'a Gm, unique: &'a str, kind: DispatchKind) -> PlainEnvelope<'a> {
        PlainEnvelope { name: &gm.name, address: gm.address.as_str(), unique, kind }
    }
}

/// Makes the dispatch of a letter that is not an answer.
pub fn plain_dispatch(desk: &Desk<'_>, plain: &ClubLetter, to: &PlainEnvelope<'_>) -> Decided<NewDispatch> {
    plain_letter(desk, plain, to, None)
}

/// Queues a letter that is not an answer.
pub fn send(desk: &mut Desk<'_>, plain: &ClubLetter, to: &PlainEnvelope<'_>) -> Decided<()> {
    let dispatch = plain_dispatch(desk, plain, to)?;
    desk.draft.changes.dispatches.push(dispatch);
    Ok(())
}

/// Writes an answer that acts for no seat.
pub fn plain_answer(
    desk: &Desk<'_>,
    plain: &ClubLetter,
    to: &Address,
    unique: &str,
    answered: &AnsweredLetter,
) -> Decided<NewDispatch> {
    let to = PlainEnvelope { name: "", address: to.as_str(), unique, kind: DispatchKind::Answer };
    plain_letter(desk, plain, &to, Some(answered))
}

fn plain_letter(
    desk: &Desk<'_>,
    plain: &ClubLetter,
    to: &PlainEnvelope<'_>,
    answered: Option<&AnsweredLetter>,
) -> Decided<NewDispatch> {
    let page = word_club_letter(desk, plain, "")?;
    let page = as_reader_wants(desk, page, to.address)?;
    let message_id = desk.club.stationery.marked_message_id("", to.unique, &page);
    envelop(desk, page, "", to, answered, message_id)
}

pub fn word_club_letter(desk: &Desk<'_>, plain: &ClubLetter, token: &str) -> Decided<WordedLetter> {
    let club = desk.club.stationery.club();
    Ok(report::word_club_letter(&desk.club.templates, &club, plain, token)?)
}

/// Removes the HTML if the address is that of a player who wants none.
pub fn as_reader_wants(desk: &Desk<'_>, page: WordedLetter, address: &str) -> Decided<WordedLetter> {
    Ok(match desk.player(address)? {
        Some(player) => as_player_wants(page, &player),
        None => page,
    })
}

/// Removes the HTML if the player wants none.
pub fn as_player_wants(mut page: WordedLetter, player: &Player) -> WordedLetter {
    if player.settings.format == LetterFormat::Text {
        page.html.clear();
    }
    page
}

/// Formats a time in the zone of an address's owner, or in the club's.
pub fn local_time_at(desk: &Desk<'_>, address: &str, at: DateTime<Utc>) -> Decided<String> {
    let zone = desk.player(address)?.and_then(|player| player.settings.zone);
    Ok(desk.local_time_in(zone, at))
}

/// Puts a worded letter into its envelope. `answered` is the letter that it answers, if any.
pub fn assemble(
    desk: &Desk<'_>,
    page: WordedLetter,
    token: &str,
    to: &PlainEnvelope<'_>,
    answered: Option<&AnsweredLetter>,
) -> Decided<NewDispatch> {
    let stationery = &desk.club.stationery;
    let message_id = match answered {
        Some(_) => stationery.marked_message_id(token, to.unique, &page),
        None => stationery.message_id(token, to.unique),
    };
    envelop(desk, page, token, to, answered, message_id)
}

/// Like [`assemble`], for an answer that is given once in a while, however many letters there are: its Message-ID
/// shows whether it was given.
pub fn assemble_once(
    desk: &Desk<'_>,
    page: WordedLetter,
    token: &str,
    to: &PlainEnvelope<'_>,
    answered: &AnsweredLetter,
) -> Decided<NewDispatch> {
    let message_id = desk.club.stationery.message_id(token, to.unique);
    envelop(desk, page, token, to, Some(answered), message_id)
}

fn envelop(
    desk: &Desk<'_>,
    page: WordedLetter,
    token: &str,
    to: &PlainEnvelope<'_>,
    answered: Option<&AnsweredLetter>,
    message_id: String,
) -> Decided<NewDispatch> {
    let envelope = Envelope {
        token,
        to_name: to.name,
        to: to.address,
        message_id: &message_id,
        match_id: None,
        keeps_subject: false,
        date: desk.at(),
    };
    let (bytes, pin) = desk.club.stationery.mail(page, &envelope, answered)?;
    Ok(NewDispatch {
        message_id,
        recipient: to.address.to_owned(),
        bytes,
        kind: to.kind,
        match_id: None,
        seat: None,
        answers: answered.map(|letter| letter.digest),
        reminds: None,
        due: None,
        replaces: None,
        urgency: Urgency::of(to.kind, false),
        pin: Some(pin),
        return_id: None,
    })
}

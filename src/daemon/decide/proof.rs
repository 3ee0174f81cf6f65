//! Letters with a seat's reply token that are not proven to be its player's.
//!
//! Nothing in such a letter is done, and its sender hears nothing. The player is told at the registered address, and
//! answers with CONFIRM or DENY and the code of that notice. A confirmed letter waits again, and is ruled on as of its
//! arrival.

use std::collections::BTreeSet;

use anyhow::Context as _;
use chrono::TimeDelta;

use super::addresses;
use super::asker::Asker;
use super::changes;
use super::desk::Desk;
use super::holders;
use super::mail;
use super::mail::PlainEnvelope;
use super::offers::in_code_letters;
use super::one_letter;
use super::openings::CODE_LETTERS;
use super::parts;
use super::random::Random;
use super::rows::Decided;
use super::ruling_mail;
use super::seat;
use super::signatures;
use crate::game::Seat;
use crate::ledger::Signature;
use crate::letter::Letter;
use crate::referee::{Act, DispatchKind, Match, Reply};
use crate::report::{ClubLetter, UnprovenSummary, format_local};
use crate::request::Request;
use crate::store::{LetterDecision, LetterStatus, TokenRow, UnprovenLetter, UnprovenStage, WaitingLetter};

/// Time for which an unproven letter waits for the player's word.
pub const LAPSE: TimeDelta = TimeDelta::days(14);

/// Maximum letters in one player's name that wait for the player's word, because strangers can add to them.
const MAX_OPEN: usize = 20;

/// The period in which a player gets one notice about each address, and up to [`MAX_NOTICES`] in all.
const NOTICE_PERIOD: TimeDelta = TimeDelta::days(1);

const MAX_NOTICES: usize = 10;

/// Maximum lines of an unproven letter that its notice repeats.
const MAX_ASKS: usize = 20;

/// The note on a letter that lacks a required signature.
pub const UNPROVEN: &str = "not proven to be its sender's (DKIM)";

/// The note on a letter from an unknown address.
const UNKNOWN_ADDRESS: &str = "a reply token, but not from that player's address";

/// Why a letter is not proven to be its player's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It is from an address that is not the player's.
    Address,
    /// It is from the player's address, but lacks a valid signature.
    Unsigned,
}

/// Asks the player of a seat whether an unproven letter is theirs, or rules on it if they have confirmed it.
pub fn ask_player(
    desk: &mut Desk<'_>,
    waiting: &WaitingLetter,
    letter: &Letter,
    row: &TokenRow,
    doubt: Doubt,
) -> Decided<()> {
    let known = unproven_letters_of(desk, row.player.id)?;
    let found = known.iter().find(|unproven| unproven.letter == waiting.digest);
    if let Some(by) = found.and_then(|found| found.confirmed_by) {
        if doubt == Doubt::Unsigned {
            signatures::end_habit(desk, letter.from.as_str())?;
        }
        return parts::rule_on_seat_letter(desk, waiting, letter, row, Some(by));
    }
    if found.is_none() {
        hold_unproven(desk, waiting, letter, row, doubt, &known)?;
    }
    let note = match doubt {
        Doubt::Address => UNKNOWN_ADDRESS,
        Doubt::Unsigned => UNPROVEN,
    };
    one_letter::decided(desk, waiting, LetterStatus::Ignored, note.to_owned());
    Ok(())
}

/// Keeps an unproven letter for the player's word, and tells the player of it, unless the player was told of others
/// from that address within a day.
fn hold_unproven(
    desk: &mut Desk<'_>,
    waiting: &WaitingLetter,
    letter: &Letter,
    row: &TokenRow,
    doubt: Doubt,
    known: &[UnprovenLetter],
) -> Decided<()> {
    let player = desk.latest(row.player.clone());
    let open: Vec<&UnprovenLetter> =
        known.iter().filter(|unproven| unproven.stage == UnprovenStage::Open).collect();
    if open.len() >= MAX_OPEN {
        // Strangers fill the table no further. The letter stands only in the GM's digest, as ignored.
        return Ok(());
    }
    let trusted = changes::trusted_addresses(desk, &player)?;
    let Some(registered) = trusted.first() else { return Ok(()) };
    let address = letter.from.as_str();
    let same = open.iter().find(|unproven| unproven.address == address);
    let code = same.map(|same| same.code.clone()).unwrap_or_else(|| draw_code(&mut desk.random()));
    let since = desk.at() - NOTICE_PERIOD;
    let told: Vec<&UnprovenLetter> =
        known.iter().filter(|unproven| unproven.told && unproven.noted_at > since).collect();
    let tells = told.len() < MAX_NOTICES && !told.iter().any(|told| told.address == address);
    if tells {
        let letter = unproven_summary(desk, waiting, letter, row, doubt)?;
        let plain = ClubLetter::Unproven { letter, code: code.clone() };
        let unique = format!("u.{}", &waiting.digest.to_string()[..24]);
        let envelope = PlainEnvelope {
            name: &player.name,
            address: registered,
            unique: &unique,
            kind: DispatchKind::Notice,
        };
        let notice = mail::plain_dispatch(desk, &plain, &envelope)?;
        desk.draft.settlement.dispatches.push(notice);
    }
    desk.draft.settlement.unproven.push(UnprovenLetter {
        letter: waiting.digest,
        code,
        player_id: player.id,
        address: address.to_owned(),
        match_id: row.match_id.clone(),
        seat: row.seat,
        noted_at: desk.at(),
        told: tells,
        stage: UnprovenStage::Open,
        confirmed_by: None,
    });
    Ok(())
}

/// Whether the player has confirmed an unsigned letter. It then counts as of its arrival, even if such letters need
/// no proof any more.
pub fn is_confirmed(desk: &Desk<'_>, waiting: &WaitingLetter, row: &TokenRow) -> Decided<bool> {
    if signatures::signature(desk, waiting) != Some(Signature::Missing) {
        return Ok(false);
    }
    let known = unproven_letters_of(desk, row.player.id)?;
    let mut known = known.iter().filter(|unproven| unproven.letter == waiting.digest);
    Ok(known.any(|unproven| unproven.confirmed_by.is_some()))
}

/// Sums up a letter with all its parts, because CONFIRM rules on all of them.
fn unproven_summary(
    desk: &mut Desk<'_>,
    waiting: &WaitingLetter,
    letter: &Letter,
    row: &TokenRow,
    doubt: Doubt,
) -> Decided<UnprovenSummary> {
    let written = letter.new_text(letter.quotable_text(&desk.rows.loaded.texts).as_deref());
    let mut shown = Vec::new();
    let mut lines = 0;
    for part in parts::parts_of(desk, letter, row, &written)? {
        let request = parts::read_part(desk, waiting, letter, &part, &written)?.request;
        let loaded = desk.game_match(&part.row.match_id)?.context("a part's match is missing")?;
        let mut asked = asks(&request, &loaded.game_match);
        lines += request.orders.len() + request.commands.len() + request.faults.len();
        if part.by_other_token && !asked.is_empty() {
            asked.insert(0, format!("MATCH {}", part.row.match_id));
            lines += 1;
        }
        shown.extend(asked);
    }
    shown.truncate(MAX_ASKS);
    let loaded = desk.game_match(&row.match_id)?.context("the token's match is missing")?;
    Ok(UnprovenSummary {
        match_id: row.match_id.clone(),
        at: format_local(waiting.received_at, loaded.game_match.zone_of(row.seat)),
        address: letter.from.as_str().to_owned(),
        unsigned: doubt == Doubt::Unsigned,
        more: lines.saturating_sub(shown.len()),
        asks: shown,
    })
}

/// Returns the unproven letters in a player's name as this transaction leaves them so far.
fn unproven_letters_of(desk: &Desk<'_>, player_id: i64) -> Decided<Vec<UnprovenLetter>> {
    let mut known = desk.rows.unproven_of(player_id)?.to_vec();
    for row in desk.added(|settlement| &settlement.unproven).filter(|row| row.player_id == player_id) {
        known.retain(|other| other.letter != row.letter);
        known.push(row.clone());
    }
    Ok(known)
}

/// Confirms the letters under a code: they wait again, oldest first. With `always`, their address becomes one of the
/// player's once its owner has agreed.
///
/// The code was sent to the registered address alone, so it proves the sender.
pub fn confirm_letters(desk: &mut Desk<'_>, asker: &Asker, code: &str, always: bool) -> Decided<Reply> {
    let code = in_code_letters(code);
    let open = open_under(desk, asker, &code)?;
    let Some(address) = open.first().map(|row| row.address.clone()) else {
        return Ok(Reply::NothingToConfirm { code });
    };
    let letters = open.len();
    for row in open {
        let note = "confirmed by the player".to_owned();
        let decision = LetterDecision {
            digest: row.letter,
            status: LetterStatus::Waiting,
            note,
            seat: None,
            accepted_by: None,
        };
        desk.draft.settlement.decided.push(decision);
        let stage = UnprovenStage::Confirmed;
        let confirmed = UnprovenLetter { stage, confirmed_by: Some(asker.letter), ..row };
        desk.draft.settlement.unproven.push(confirmed);
    }
    let change = if always { Some(addresses::add_confirmed(desk, asker, &address)?) } else { None };
    Ok(Reply::LettersConfirmed { address, letters, change })
}

/// Discards the letters under a code, and renews the tokens of the seats that they were for.
pub fn deny_letters(desk: &mut Desk<'_>, asker: &Asker, code: &str) -> Decided<Reply> {
    let code = in_code_letters(code);
    let open = open_under(desk, asker, &code)?;
    if open.is_empty() {
        return Ok(Reply::NothingToConfirm { code });
    }
    let seats: BTreeSet<(String, Seat)> = open.iter().map(|row| (row.match_id.clone(), row.seat)).collect();
    for row in open {
        let denied = UnprovenLetter { stage: UnprovenStage::Denied, ..row };
        desk.draft.settlement.unproven.push(denied);
    }
    let mut matches = Vec::new();
    for (match_id, seat) in seats {
        if renew_token(desk, &match_id, seat, asker.player_id)? {
            matches.push(match_id);
        }
    }
    Ok(Reply::LettersDenied { matches })
}

/// Returns the stored letters that wait for the asker's word under a code.
fn open_under(desk: &mut Desk<'_>, asker: &Asker, code: &str) -> Decided<Vec<UnprovenLetter>> {
    let Some(id) = asker.player_id else { return Ok(Vec::new()) };
    let mut open = desk.rows.unproven_of(id)?.to_vec();
    open.retain(|row| row.stage == UnprovenStage::Open && row.code == code);
    // A letter of this transaction may have answered already.
    let is_answered = |row: &UnprovenLetter| {
        desk.added(|settlement| &settlement.unproven).any(|other| other.letter == row.letter)
    };
    open.retain(|row| !is_answered(row));
    Ok(open)
}

/// Gives a seat a new reply token, if it is still this player's.
pub fn renew_token(desk: &mut Desk<'_>, match_id: &str, seat: Seat, player_id: Option<i64>) -> Decided<bool> {
    let Some(mut loaded) = desk.game_match(match_id)?.cloned() else { return Ok(false) };
    if Some(loaded.seats[seat].player.id) != player_id {
        return Ok(false);
    }
    // The player's addresses may have changed in this transaction, and the new token must go to the right one.
    loaded.seats[seat].player = desk.latest(loaded.seats[seat].player.clone());
    loaded.seats[seat].token = desk.random().token().to_string();
    let hold = holders::hold(desk, &loaded, seat, None);
    let matter = loaded.game_match.by_program(Act::RenewOwnToken(seat));
    let ruling = ruling_mail::rule_with(desk, &loaded.game_match, &[hold], &matter);
    seat::save_seat(desk, &loaded.seats[seat]);
    ruling_mail::keep_unasked(desk, loaded, ruling, None)?;
    Ok(true)
}

/// Returns what a letter asks for, without anything that its sender worded freely: orders that the game can parse, and
/// the verbs of commands.
fn asks(request: &Request, game_match: &Match) -> Vec<String> {
    let orders = request.orders.iter().filter(|line| game_match.game.syntax(&line.text).is_ok());
    let mut asks: Vec<String> = orders.map(|line| line.text.clone()).collect();
    for command in &request.commands {
        let verb = request
            .written(command.line)
            .and_then(|line| line.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty()));
        asks.extend(verb.map(str::to_ascii_uppercase));
    }
    asks
}

/// Draws ten letters, the first of which is a digit, so that a code never looks like a word.
pub fn draw_code(random: &mut Random) -> String {
    let letters: [u8; 10] = random.bytes();
    let mut code = letters.map(|byte| char::from(CODE_LETTERS[usize::from(byte % 32)]));
    code[0] = char::from(b'2' + letters[0] % 8);
    code.iter().collect()
}

//! Letters with a seat's reply token that are not proven to be its player's.
//!
//! Nothing in such a letter is carried out, and its sender hears nothing. The player gets a notice at the
//! registered address, and answers it with CONFIRM or DENY and its code. A confirmed letter is queued again,
//! and is ruled on as of its arrival.

use anyhow::Context as _;
use chrono::TimeDelta;

use crate::desk::frame::desk::{Desk, latest_rows};
use crate::desk::frame::rows::Decided;
use crate::desk::frame::{codes, standing};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::desk::seat::parts;
use crate::ledger::Signature;
use crate::letter::Letter;
use crate::referee::{DispatchKind, Match};
use crate::report::{ClubLetter, UnprovenSummary, format_local};
use crate::request::Request;
use crate::store::{LetterStatus, TokenRow, UnprovenLetter, UnprovenStage, WaitingLetter};

/// Maximum letters in one player's name that await confirmation. Strangers can add to them, so there is a
/// limit.
const MAX_OPEN: usize = 20;

/// The period in which a player gets one notice about each address, and up to [`MAX_NOTICES`] in all.
const NOTICE_PERIOD: TimeDelta = TimeDelta::days(1);

const MAX_NOTICES: usize = 10;

/// Maximum lines of an unproven letter that are repeated in its notice.
const MAX_ASKS: usize = 20;

/// The note on a letter that lacks a required signature.
pub const UNPROVEN: &str = "not proven to be its sender's (DKIM)";

/// The note on a letter from an unknown address.
const UNKNOWN_ADDRESS: &str = "a reply token, but not from that player's address";

/// The reason why a letter is not proven to be its player's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofDoubt {
    /// It is from an address that is not the player's.
    Address,
    /// A list or a forwarder has put its own address in place of the sender's.
    Relayed,
    /// It is from the player's address, but lacks a valid signature.
    Unsigned,
}

/// Asks the player of a seat whether an unproven letter is theirs, or rules on it if they have confirmed it.
pub fn ask_player(
    desk: &mut Desk<'_>,
    waiting: &WaitingLetter,
    letter: &Letter,
    row: &TokenRow,
    doubt: ProofDoubt,
) -> Decided<()> {
    let known = unproven_letters_of(desk, row.player.id)?;
    let found = known.iter().find(|unproven| unproven.letter == waiting.digest);
    if let Some(by) = found.and_then(|found| found.confirmed_by) {
        if doubt == ProofDoubt::Unsigned {
            standing::end_habit(desk, letter.from.as_str())?;
        }
        return parts::decide_seat_letter(desk, waiting, letter, row, Some(by));
    }
    if found.is_none() {
        hold_unproven(desk, waiting, letter, row, doubt, &known)?;
    }
    let note = match doubt {
        ProofDoubt::Address | ProofDoubt::Relayed => UNKNOWN_ADDRESS,
        ProofDoubt::Unsigned => UNPROVEN,
    };
    desk.decided(waiting.digest, LetterStatus::Ignored, note.to_owned());
    Ok(())
}

/// Whether the player has confirmed an unsigned letter. It then counts as of its arrival, even if such
/// letters no longer need proof.
pub fn is_confirmed(desk: &Desk<'_>, waiting: &WaitingLetter, row: &TokenRow) -> Decided<bool> {
    if standing::signature(desk, waiting) != Some(Signature::Missing) {
        return Ok(false);
    }
    let known = unproven_letters_of(desk, row.player.id)?;
    let mut known = known.iter().filter(|unproven| unproven.letter == waiting.digest);
    Ok(known.any(|unproven| unproven.confirmed_by.is_some()))
}

/// Keeps an unproven letter until the player confirms or denies it. Notifies the player, unless a notice
/// about the same sender address went out within a day.
fn hold_unproven(
    desk: &mut Desk<'_>,
    waiting: &WaitingLetter,
    letter: &Letter,
    row: &TokenRow,
    doubt: ProofDoubt,
    known: &[UnprovenLetter],
) -> Decided<()> {
    let player = desk.latest(row.player.clone());
    let trusted = standing::trusted_addresses(desk, &player)?;
    let Some(registered) = trusted.first() else { return Ok(()) };
    let address = letter.from.as_str();
    let Some((code, tells)) = notice_about(desk, known, address) else { return Ok(()) };
    if tells {
        let letter = unproven_summary(desk, waiting, letter, row, doubt)?;
        let plain = ClubLetter::Unproven { letter, code: code.clone() };
        // An answer in words shows by its thread that its sender has read the notice, so the Message-ID holds
        // the code. The digest is known to whoever wrote the letter.
        let unique = format!("u.{}.{}", code.to_lowercase(), &waiting.digest.to_string()[..24]);
        let envelope = PlainEnvelope {
            name: &player.name,
            address: registered,
            unique: &unique,
            kind: DispatchKind::Notice,
        };
        mail::send(desk, &plain, &envelope)?;
    }
    desk.draft.changes.unproven.push(UnprovenLetter {
        letter: waiting.digest,
        code,
        player_id: Some(player.id),
        match_id: Some(row.match_id.clone()),
        seat: Some(row.seat),
        gm: None,
        address: address.to_owned(),
        noted_at: desk.at(),
        told: tells,
        stage: UnprovenStage::Open,
        confirmed_by: None,
    });
    Ok(())
}

/// Returns the code of the notice about a new letter from an address, and whether the notice is sent now.
/// Returns `None` if too many letters wait already. `known` are the unproven letters in the same name.
pub fn notice_about(desk: &mut Desk<'_>, known: &[UnprovenLetter], address: &str) -> Option<(String, bool)> {
    let open: Vec<&UnprovenLetter> =
        known.iter().filter(|unproven| unproven.stage == UnprovenStage::Open).collect();
    if open.len() >= MAX_OPEN {
        // Strangers must not fill the table. Their further letters appear only in the GM's digest, as
        // ignored.
        return None;
    }
    // All letters from an address share a code, so that one CONFIRM is enough.
    let same = open.iter().find(|unproven| unproven.address == address);
    let code = same
        .map(|same| same.code.clone())
        .unwrap_or_else(|| codes::draw_code(&mut desk.random("code of a notice")));
    let since = desk.at() - NOTICE_PERIOD;
    let noticed: Vec<&UnprovenLetter> =
        known.iter().filter(|unproven| unproven.told && unproven.noted_at > since).collect();
    // Once a notice is confirmed, the next letter from its address needs a new one, because nobody knows the
    // new code.
    let waits =
        |notice: &&UnprovenLetter| notice.address == address && notice.stage != UnprovenStage::Confirmed;
    let tells = noticed.len() < MAX_NOTICES && !noticed.iter().any(waits);
    Some((code, tells))
}

/// Sums up a letter with all its parts, because CONFIRM rules on all of them.
fn unproven_summary(
    desk: &Desk<'_>,
    waiting: &WaitingLetter,
    letter: &Letter,
    row: &TokenRow,
    doubt: ProofDoubt,
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
        at: format_local(waiting.received_at, loaded.game_match.zone_of(row.seat), desk.at()),
        address: letter.from.as_str().to_owned(),
        fault: (doubt == ProofDoubt::Unsigned).then(|| standing::signature_fault(desk, waiting)),
        relayed: doubt == ProofDoubt::Relayed,
        more: lines.saturating_sub(shown.len()),
        asks: shown,
    })
}

/// Returns the unproven letters in a player's name as this transaction leaves them so far.
fn unproven_letters_of(desk: &Desk<'_>, player_id: i64) -> Decided<Vec<UnprovenLetter>> {
    let changed = desk.added(|changes| &changes.unproven).filter(|row| row.player_id == Some(player_id));
    Ok(latest_rows(desk.rows.unproven_of(player_id)?, changed, |row| &row.letter))
}

/// Returns a letter's requests, without anything that its sender worded freely: orders that the game can
/// parse, and the verbs of commands.
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

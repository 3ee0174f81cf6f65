//! Finds letters that are not for the club and stay in the mailbox, unread: old ones, from before it began, and those
//! to another club that reads the same mailbox.
//!
//! A mailbox that was already in use may hold years of old letters; they are neither answered nor touched. A letter is
//! old if every time at which it is known to have arrived lies before the mark of its mailbox, and if nothing ties it
//! to the club. Its `Date` says nothing, because its sender wrote it.
//!
//! The letters that were filed last prove that an older database was put in place of the club's, if it does not know them.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use mail_parser::{HeaderValue, Message, MessageParser};

use super::copies::row_of;
use crate::config::Config;
use crate::daemon::{Office, load};
use crate::desk::frame::club::own_identity;
use crate::letter::{Letter, Limits, OwnIdentity, ReplyMarks};
use crate::post::FetchedLetter;
use crate::store::{Database, NewLetter};

/// Time by which the clock of a mail server may differ from ours: better to answer a letter that was sent
/// just before the club began than to leave one that was sent just after.
const CLOCK_SKEW: TimeDelta = TimeDelta::minutes(2);

/// Earlier times come from a machine without a clock, and say nothing. Mail with MIME began in 1992.
const FIRST_USABLE: DateTime<Utc> = DateTime::from_timestamp(694_224_000, 0).expect("in range");

/// Maximum size of a letter whose text is searched for a token, and the maximum number of tokens and
/// Message-IDs.
const MAX_SEARCHED_BYTES: usize = 1_000_000;
const MAX_TIES: usize = 64;

/// The signs in a letter that may tie it to the club.
pub struct Ties {
    tokens: Vec<String>,
    /// Message-IDs of letters that it answers.
    answered: Vec<String>,
}

/// Returns the ties of a letter that arrived before the mark, as far as its times are known, or `None` if it
/// is new.
pub fn ties_if_old(letter: &FetchedLetter, mark: DateTime<Utc>, own: &OwnIdentity) -> Option<Ties> {
    let usable = |at: &DateTime<Utc>| *at >= FIRST_USABLE;
    // Most letters are new and need not be parsed here.
    if letter.arrivals.iter().copied().filter(usable).any(|at| !is_before(at, mark)) {
        return None;
    }
    let mail = MessageParser::default().parse_headers(&letter.raw);
    let received = mail.as_ref().and_then(topmost_received).filter(usable);
    let mut times = letter.arrivals.iter().copied().filter(usable).chain(received).peekable();
    (times.peek().is_some() && times.all(|at| is_before(at, mark))).then(|| ties(&letter.raw, own))
}

/// Whether a letter that arrived at this time arrived before the mark.
pub fn is_before(at: DateTime<Utc>, mark: DateTime<Utc>) -> bool {
    at + CLOCK_SKEW < mark
}

/// Returns the marks of a letter that may answer another club, which reads the same mailbox: it has a reply token, but
/// neither our address nor our domain. It may also answer a letter from before our club moved.
pub fn ties_if_foreign(marks: &ReplyMarks) -> Option<Ties> {
    (!marks.are_ours && !marks.tokens.is_empty()).then(|| Ties {
        tokens: marks.tokens.iter().take(MAX_TIES).map(ToString::to_string).collect(),
        answered: marks.answered.iter().take(MAX_TIES).cloned().collect(),
    })
}

/// Returns the places of the letters that have ties, none of them to this club: their tokens and Message-IDs are not
/// in its database.
pub async fn unrelated_letters(office: &Office, ties: Vec<Option<Ties>>) -> anyhow::Result<BTreeSet<usize>> {
    if ties.iter().all(Option::is_none) {
        return Ok(BTreeSet::new());
    }
    let seats = office.store.seats_by_token(&all_signs(&ties, |ties| &ties.tokens)).await?;
    let dispatches = office.store.dispatches_named(&all_signs(&ties, |ties| &ties.answered)).await?;
    let tokens: BTreeSet<String> =
        seats.into_iter().map(|seat| seat.token).chain(load::gm_tokens(office).await?).collect();
    let sent: BTreeSet<String> = dispatches.into_iter().map(|dispatch| dispatch.message_id).collect();
    let is_ours = |ties: &Ties| {
        ties.tokens.iter().any(|token| tokens.contains(token))
            || ties.answered.iter().any(|id| sent.contains(id))
    };
    let unrelated =
        ties.iter().enumerate().filter(|(_, ties)| ties.as_ref().is_some_and(|ties| !is_ours(ties)));
    Ok(unrelated.map(|(place, _)| place).collect())
}

fn all_signs(ties: &[Option<Ties>], signs: fn(&Ties) -> &Vec<String>) -> Vec<String> {
    ties.iter().flatten().flat_map(signs).cloned().collect()
}

/// Returns the time at which the last server on the way, ours, received the letter.
fn topmost_received(mail: &Message<'_>) -> Option<DateTime<Utc>> {
    let (_, received) = mail.headers_raw().find(|(name, _)| name.eq_ignore_ascii_case("Received"))?;
    // RFC 5321, 4.4: the time follows the last semicolon.
    let date = mail_parser::DateTime::parse_rfc822(received.rsplit_once(';')?.1)
        .filter(mail_parser::DateTime::is_valid)?;
    DateTime::from_timestamp(date.to_timestamp(), 0)
}

fn ties(raw: &[u8], own: &OwnIdentity) -> Ties {
    let raw = &raw[..raw.len().min(MAX_SEARCHED_BYTES)];
    let tokens = match Letter::read(raw, own, &Limits::default()) {
        Ok(letter) => letter.tokens,
        Err(unreadable) => unreadable.tokens,
    };
    let mail = MessageParser::default().parse_headers(raw);
    let threads = mail.iter().flat_map(|mail| [mail.in_reply_to(), mail.references()]);
    let answered = threads.flat_map(texts_of).take(MAX_TIES).collect();
    Ties { tokens: tokens.iter().take(MAX_TIES).map(ToString::to_string).collect(), answered }
}

fn texts_of(value: &HeaderValue<'_>) -> Vec<String> {
    match value {
        HeaderValue::Text(text) => vec![text.to_string()],
        HeaderValue::TextList(texts) => texts.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

/// Returns the number of these filed letters that the database lacks.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn count_unknown(
    store: &Database,
    config: &Config,
    letters: &[FetchedLetter],
    now: DateTime<Utc>,
) -> anyhow::Result<usize> {
    let mark = store.mailbox_mark(&config.inbox.name(), now).await?;
    let own = own_identity(config);
    let proves = |letter: &&FetchedLetter| {
        // Another club that reads the same mailbox files its letters there, too, and the program itself may have filed
        // one that it sent to test the way.
        !letter.cut
            && ReplyMarks::of(&letter.raw, &own).is_to_us
            && ties_if_old(letter, mark, &own).is_none()
            && row_of(letter).sender != config.club.address.as_str()
    };
    let filed: Vec<NewLetter> = letters.iter().filter(proves).map(row_of).collect();
    Ok(store.count_unknown(&filed).await?)
}

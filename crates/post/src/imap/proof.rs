//! Whether the bytes that a server sends are the letter that was asked for.
//!
//! Servers misstate sizes, send nothing for a letter that they have, or send words of their own for one that
//! they cannot open. A letter that is stored leaves the folder, so bytes that may not be its own must not be
//! stored.

use chrono::{DateTime, FixedOffset};

use super::fetch::{Envelope, Fetched};

/// Words with which servers stand in for a letter that they cannot read: Courier, and hMailServer.
const STAND_INS: [&str; 3] =
    ["message unavailable", "no longer available on the server", "message file not found"];

/// The subject of the letter with which Exchange stands in for one that it cannot convert.
const OF_EXCHANGE: &str = "retrieval using the imap4 protocol failed";

/// Size up to which the text of a letter is searched for such words.
const MAX_STAND_IN: usize = 2000;

/// Names under which mail systems write, in lower case. They give their letters a date and an ID, except for
/// those that they make up while a mailbox is read.
const OF_MAIL_SYSTEMS: [&str; 6] =
    ["root@", "postmaster@", "mailer-daemon", "@localhost", "administrator", "microsoft exchange"];

/// The fields that show whose letter it is, unfolded.
#[derive(Default)]
struct HeaderFields {
    message_id: Option<String>,
    date: Option<String>,
    subject: String,
    from: String,
    is_received: bool,
}

impl HeaderFields {
    fn of(raw: &[u8]) -> HeaderFields {
        let mut header = HeaderFields::default();
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in raw.split(|b| *b == b'\n') {
            let line = String::from_utf8_lossy(line);
            let line = line.trim_end_matches('\r');
            if line.is_empty() {
                break;
            }
            if line.starts_with([' ', '\t']) {
                if let Some((_, value)) = fields.last_mut() {
                    value.push_str(line);
                }
            } else if let Some((name, value)) = line.split_once(':') {
                fields.push((name.trim_end().to_ascii_lowercase(), value.to_owned()));
            }
        }
        for (name, value) in fields {
            let value = value.trim().to_owned();
            match name.as_str() {
                "message-id" => header.message_id = header.message_id.or(Some(value)),
                "date" => header.date = header.date.or(Some(value)),
                "subject" => header.subject = value.to_lowercase(),
                "from" => header.from = value.to_lowercase(),
                "received" => header.is_received = true,
                _ => {}
            }
        }
        header
    }

    /// Whether nothing in it shows that a mail program or a mail server made it.
    fn is_bare(&self) -> bool {
        self.message_id.is_none() && self.date.is_none() && !self.is_received
    }
}

/// Returns the Message-ID of a letter, without brackets.
pub(super) fn message_id(raw: &[u8]) -> Option<String> {
    HeaderFields::of(raw).message_id.map(|id| bare_id(&id)).filter(|id| !id.is_empty())
}

/// Whether an answer needs proof that it is the letter. `asked` bytes of the letter were asked for.
pub(super) fn is_suspicious(fetched: &Fetched, asked: u64) -> bool {
    let Some(body) = &fetched.body else { return true };
    fetched.is_contradicted
        || is_blank(&body.bytes)
        || differs_in_size(fetched, asked)
        || HeaderFields::of(&body.bytes).is_bare()
        || is_stand_in(&body.bytes)
}

/// Whether the body is shorter or longer than the size that the server states. Some servers state the size
/// that a letter takes on their disk, so this alone proves nothing.
fn differs_in_size(fetched: &Fetched, asked: u64) -> bool {
    let sent = fetched.body.as_ref().map_or(0, |body| body.size);
    fetched.size.is_some_and(|size| size.min(asked) != sent)
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_whitespace)
}

/// Whether the server has written these bytes itself, instead of the letter. Whatever arrived by mail has a
/// Received field.
fn is_stand_in(raw: &[u8]) -> bool {
    let header = HeaderFields::of(raw);
    if header.is_received {
        return false;
    }
    let text = String::from_utf8_lossy(&raw[..raw.len().min(MAX_STAND_IN)]).to_lowercase();
    let is_known = STAND_INS.iter().any(|words| text.contains(words));
    let is_of_system =
        header.from.is_empty() || OF_MAIL_SYSTEMS.iter().any(|name| header.from.contains(name));
    header.subject.contains(OF_EXCHANGE) || header.is_bare() && (is_known || is_of_system)
}

/// Returns why two answers about a letter that was asked for alone do not prove that their body is the
/// letter, or `None` if they do.
pub(super) fn doubt(first: &Fetched, second: &Fetched, asked: u64) -> Option<&'static str> {
    let (Some(body), Some(again)) = (&first.body, &second.body) else {
        return Some("the server sends no body");
    };
    let header = HeaderFields::of(&body.bytes);
    let envelope = first.envelope.as_ref().or(second.envelope.as_ref());
    let is_off = differs_in_size(first, asked);
    let is_unnamed = header.message_id.is_none() && !header.is_received;
    if is_blank(&body.bytes) {
        Some("the server sends an empty letter")
    } else if body != again || first.is_contradicted || second.is_contradicted {
        Some("the server sends a different letter each time")
    } else if envelope.is_some_and(|envelope| contradicts(&header, envelope)) {
        Some("the server sends another letter than its ENVELOPE describes")
    } else if is_stand_in(&body.bytes) {
        Some("the server sends a notice of its own instead of the letter")
    } else if is_off && (is_unnamed || envelope.is_none()) {
        Some("the letter's size is not the one that the server states")
    } else {
        None
    }
}

/// Whether the server's ENVELOPE describes another letter. A server may leave out a field that it cannot
/// parse, but not both, and it cannot invent one.
fn contradicts(header: &HeaderFields, envelope: &Envelope) -> bool {
    let sent_id = header.message_id.as_deref().map(bare_id);
    let stated_id = &envelope.message_id;
    let is_same_id = match stated_id.as_deref().map(bare_id) {
        Some(stated) if Some(&stated) != sent_id.as_ref() => return true,
        stated => stated.is_some(),
    };
    match (&header.date, &envelope.date) {
        (Some(sent), Some(stated)) => !is_same_date(sent, stated),
        (None, Some(_)) => !is_same_id,
        (Some(_), None) => sent_id.is_some() && stated_id.is_none(),
        (None, None) => false,
    }
}

/// Returns a Message-ID without the brackets and blanks that servers add or remove.
pub(super) fn bare_id(id: &str) -> String {
    id.chars().filter(|c| !c.is_whitespace() && !matches!(c, '<' | '>')).collect()
}

/// Whether two dates mean the same moment, or, if a date is malformed, may do so.
fn is_same_date(sent: &str, stated: &str) -> bool {
    match (moment(sent), moment(stated)) {
        (Some(sent), Some(stated)) => sent == stated,
        (None, _) | (_, None) => true,
    }
}

fn moment(date: &str) -> Option<DateTime<FixedOffset>> {
    let words: Vec<&str> = date.split_whitespace().collect();
    DateTime::parse_from_rfc2822(&words.join(" ")).ok()
}

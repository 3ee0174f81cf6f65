//! Tells whether a machine wrote a letter. Such a letter is never answered and never acted on.
//!
//! Any single mark is enough. `X-Auto-Response-Suppress` is none: Exchange adds it to people's mail. A letter without
//! a mark in its header is searched for the wording of a bounce or an absence note ([`phrases`]).

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

use super::address::Address;
use super::automatic::{Automatic, AutomaticKind, MAX_RECEIVED, Mark};
use super::body::{Texts, mime_type};
use super::header::{self, Header, is_own_id};
use super::identity::OwnIdentity;
use super::own_letter::is_marker;
use super::phrases::{self, Excerpt};
use super::text_line::Layer;
use super::words::{DAEMONS, NO_REPLY};

/// The parts of a letter that classification looks at.
pub(super) struct Evidence<'a> {
    pub headers: &'a [Header],
    pub message: &'a Message<'a>,
    pub texts: Option<&'a Texts>,
    pub from: Option<&'a Address>,
    pub subject: &'a str,
    pub own: &'a OwnIdentity,
}

/// Returns why the letter counts as a machine's, or `None` for a person's.
pub(super) fn classify(evidence: &Evidence<'_>) -> Option<Automatic> {
    let excerpt = excerpt(evidence.texts);
    let text = excerpt.text.as_str();
    let mark = evidence
        .own_mark()
        .or_else(|| evidence.header_mark())
        .or_else(|| evidence.report().map(|_| Mark::Report))
        .or_else(|| evidence.sender_mark())
        .or_else(|| phrases::mark(evidence.subject, &excerpt))?;
    let kind = evidence.kind(&mark, text);
    Some(Automatic { mark, kind, about: evidence.about(), recipients: evidence.failed_recipients() })
}

/// Bytes of text that are searched for phrases. Bounces explain themselves at the top.
const MAX_EXCERPT: usize = 20_000;

/// Characters of each line that are searched.
const MAX_EXCERPT_LINE: usize = 500;

fn excerpt(texts: Option<&Texts>) -> Excerpt {
    let mut excerpt = Excerpt { text: String::new(), has_request: false, has_quote: false };
    let Some(texts) = texts else { return excerpt };
    let mut above_marker = true;
    for line in texts.plain.iter().chain(&texts.html).chain(&texts.attached) {
        excerpt.has_quote |= line.layer == Layer::Quoted && !line.is_blank();
        above_marker &= !is_marker(&line.text);
        if line.layer != Layer::Unmarked || excerpt.text.len() > MAX_EXCERPT {
            continue;
        }
        // Below the marker are the examples of our own letter, which a bounce returns.
        excerpt.has_request |= above_marker && phrases::is_request(&line.text);
        let start: String = line.text.chars().take(MAX_EXCERPT_LINE).collect();
        excerpt.text.push_str(&start.to_lowercase());
        excerpt.text.push('\n');
    }
    excerpt
}

impl Evidence<'_> {
    fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.iter().filter(move |h| h.name == name).map(|h| h.value.as_str())
    }

    fn own_mark(&self) -> Option<Mark> {
        if self.values("x-fogpost-loop").next().is_some() {
            return Some(Mark::OwnLoop);
        }
        if self.values("message-id").flat_map(header::message_ids).any(|id| is_own_id(&id, self.own)) {
            return Some(Mark::OwnMessageId);
        }
        let from = self.from?;
        let is_own = self.own.addresses().any(|own| from == own || own.plus_of(from).is_some());
        is_own.then_some(Mark::OwnAddress)
    }

    fn header_mark(&self) -> Option<Mark> {
        if self.values("return-path").any(|value| matches!(value.replace(' ', "").as_str(), "<>" | "")) {
            return Some(Mark::NullReturnPath);
        }
        for value in self.values("auto-submitted") {
            let value = first_word(value);
            if value != "no" && !value.is_empty() {
                return Some(Mark::AutoSubmitted(value));
            }
        }
        for value in
            ["precedence", "x-precedence", "preference"].into_iter().flat_map(|name| self.values(name))
        {
            let value = first_word(value);
            if matches!(value.as_str(), "bulk" | "junk" | "list" | "auto_reply" | "auto-reply" | "autoreply")
            {
                return Some(Mark::Precedence(value));
            }
        }
        for header in self.headers {
            if is_machine_field(&header.name, &header.value) {
                return Some(Mark::Field(header.name.clone()));
            }
            if header.name.starts_with("list-")
                || matches!(
                    header.name.as_str(),
                    "mailing-list" | "x-mailing-list" | "x-mlserver" | "x-ml-name" | "x-mailman-version"
                )
            {
                return Some(Mark::List(header.name.clone()));
            }
        }
        (self.values("received").count() > MAX_RECEIVED).then_some(Mark::Hops)
    }

    fn sender_mark(&self) -> Option<Mark> {
        // Some bounces have no address in From: `MAILER-DAEMON (Mail Delivery System)`.
        let raw = self.values("from").next().unwrap_or_default().to_lowercase();
        let bare = self.from.is_none() && DAEMONS.any_in(&raw);
        let sender = self.from.is_some_and(|from| is_daemon(from.local()));
        let envelope = ["return-path", "sender", "x-envelope-from"]
            .into_iter()
            .flat_map(|name| self.values(name))
            .any(|value| value.rsplit('<').next().and_then(|v| v.split('@').next()).is_some_and(is_daemon));
        (bare || sender || envelope).then_some(Mark::Sender)
    }

    /// Returns the report, if the letter is one (RFC 6522, 3464, 8098) or has the parts of one. A delivery status that
    /// names its action comes first.
    fn report(&self) -> Option<Report> {
        let mut found = None;
        for part in &self.message.parts {
            let (kind, subtype) = mime_type(part);
            let this = match (kind.as_str(), subtype.as_str()) {
                ("message", "delivery-status" | "global-delivery-status") => Report::Delivery(action(part)),
                ("message", "disposition-notification" | "global-disposition-notification") => Report::Other,
                ("message", "feedback-report") => Report::Other,
                // An answer to an invitation, which calendars may send on their own.
                ("text", "calendar") if is_calendar_reply(part) => Report::Other,
                ("multipart", "report") if report_type(part) == Some("delivery-status") => {
                    Report::Delivery(None)
                }
                ("multipart", "report") => Report::Other,
                _ => continue,
            };
            if found.is_none() || matches!(this, Report::Delivery(Some(_))) {
                found = Some(this);
            }
        }
        found
    }

    fn kind(&self, mark: &Mark, text: &str) -> AutomaticKind {
        match self.report() {
            Some(Report::Delivery(Some(action))) => return action,
            Some(Report::Delivery(None)) => {
                return phrases::failure(self.subject, text).unwrap_or(AutomaticKind::Failed);
            }
            Some(Report::Other) => return AutomaticKind::Other,
            None => {}
        }
        match mark {
            Mark::OwnLoop | Mark::OwnMessageId | Mark::OwnAddress => AutomaticKind::Other,
            Mark::Hops | Mark::List(_) | Mark::NoticeSubject => AutomaticKind::Other,
            Mark::AbsenceSubject => AutomaticKind::Absence,
            Mark::BounceSubject | Mark::MachineText if phrases::is_away(text) => AutomaticKind::Absence,
            Mark::BounceSubject => phrases::failure(self.subject, text).unwrap_or(AutomaticKind::Failed),
            Mark::MachineText => phrases::failure(self.subject, text).unwrap_or(AutomaticKind::Other),
            Mark::Field(name) if name == "x-failed-recipients" => {
                phrases::failure(self.subject, text).unwrap_or(AutomaticKind::Failed)
            }
            Mark::Field(name) if matches!(name.as_str(), "x-ricevuta" | "x-cron-env" | "x-fd-auto") => {
                phrases::failure(self.subject, text).unwrap_or(AutomaticKind::Other)
            }
            Mark::Field(_) => phrases::failure(self.subject, text).unwrap_or(AutomaticKind::Absence),
            Mark::Precedence(value) if value.starts_with("auto") => AutomaticKind::Absence,
            Mark::NullReturnPath
            | Mark::Report
            | Mark::AutoSubmitted(_)
            | Mark::Precedence(_)
            | Mark::Sender => {
                let replied = self.values("auto-submitted").any(|v| first_word(v) == "auto-replied");
                let away = replied || phrases::is_absence(self.subject);
                let otherwise = if away { AutomaticKind::Absence } else { AutomaticKind::Other };
                phrases::failure(self.subject, text).unwrap_or(otherwise)
            }
        }
    }

    /// Returns the recipients to whom nothing could be delivered, as far as fields name them.
    fn failed_recipients(&self) -> Vec<String> {
        let mut found = Vec::new();
        for part in &self.message.parts {
            let (kind, subtype) = mime_type(part);
            if kind == "message" && matches!(subtype.as_str(), "delivery-status" | "global-delivery-status") {
                add_recipients(&String::from_utf8_lossy(part.contents()), &mut found);
            }
        }
        for value in self.values("x-failed-recipients").flat_map(|value| value.split(',')) {
            add_recipient(value, &mut found);
        }
        found
    }

    /// Returns our Message-IDs anywhere in the letter: in its header, in the letter that it returns, in its text.
    fn about(&self) -> Vec<String> {
        let mut found = Vec::new();
        find_own_ids(&self.message.raw_message, self.own, &mut found);
        // Transfer encodings hide them from the search of the raw bytes.
        for part in &self.message.parts {
            let decoded: &[u8] = match &part.body {
                PartType::Text(text) | PartType::Html(text) => text.as_bytes(),
                PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes,
                PartType::Message(inner) => &inner.raw_message,
                PartType::Multipart(_) => continue,
            };
            find_own_ids(decoded, self.own, &mut found);
        }
        found
    }
}

/// A machine-readable report part.
enum Report {
    /// A delivery status, with what its action means if it has a known one.
    Delivery(Option<AutomaticKind>),
    Other,
}

/// Returns the meaning of a delivery status's `Action:` (RFC 3464 2.3.3).
fn action(part: &MessagePart<'_>) -> Option<AutomaticKind> {
    let text = String::from_utf8_lossy(part.contents()).to_lowercase();
    let mut actions = text.lines().filter_map(|line| line.trim().strip_prefix("action:")).map(str::trim);
    actions.find_map(|action| match first_word(action).as_str() {
        "failed" => Some(AutomaticKind::Failed),
        "delayed" => Some(AutomaticKind::Delayed),
        "delivered" | "relayed" | "expanded" => Some(AutomaticKind::Other),
        _ => None,
    })
}

/// Adds the recipients of a delivery status (RFC 3464 2.3): those of our letter, and those to whom it was forwarded.
fn add_recipients(status: &str, found: &mut Vec<String>) {
    for line in status.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        if matches!(name.trim().to_ascii_lowercase().as_str(), "final-recipient" | "original-recipient") {
            // `rfc822; ann@example.org`
            add_recipient(value.split_once(';').map_or(value, |(_, address)| address), found);
        }
    }
}

fn add_recipient(text: &str, found: &mut Vec<String>) {
    let text = text.trim().trim_start_matches('<').trim_end_matches('>').to_ascii_lowercase();
    if text.contains('@') && found.len() < MAX_ABOUT && !found.contains(&text) {
        found.push(text);
    }
}

fn is_calendar_reply(part: &MessagePart<'_>) -> bool {
    part.content_type()
        .and_then(|ct| ct.attribute("method"))
        .is_some_and(|method| method.eq_ignore_ascii_case("reply"))
}

fn report_type<'a>(part: &'a MessagePart<'_>) -> Option<&'a str> {
    part.content_type()?.attribute("report-type")
}

fn first_word(value: &str) -> String {
    value
        .trim()
        .split(|c: char| c.is_whitespace() || matches!(c, ';' | '('))
        .next()
        .unwrap_or_default()
        .to_lowercase()
}

/// Whether only machines write this header field.
fn is_machine_field(name: &str, value: &str) -> bool {
    const NAMES: [&str; 31] = [
        "x-autoreply",
        "x-auto-reply",
        "x-autorespond",
        "x-autoresponder",
        "x-autoreply-from",
        "x-auto-reply-from",
        "x-autorespond-for",
        "x-mail-autoreply",
        "x-autogenerated",
        "x-auto-generated",
        "x-vacation",
        "x-vacation-message",
        "x-oof",
        "x-out-of-office",
        "x-failed-recipients",
        "x-mddsn-message",
        "x-ms-exchange-inbox-rules-loop",
        "x-cron-env",
        "x-amazon-auto-reply",
        "x-fc-machinegenerated",
        "x-bounced-recipient",
        "x-dsn-error",
        "x-otrs-loop",
        "x-boxtrapper",
        "x-spamarrest-noauth",
        "x-qq-autoreply",
        "x-rt-loop-prevention",
        "x-jira-fingerprint",
        // Certified mail in Italy (PEC): a receipt or a refusal.
        "x-ricevuta",
        "x-hmxmroriginalrecipient",
        "x-fd-auto",
    ];
    let value = value.trim().to_lowercase();
    match name {
        _ if NAMES.contains(&name) => !matches!(value.as_str(), "no" | "false" | "0"),
        "x-ms-exchange-generated-message-source" => true,
        "x-post-messageclass" => value.contains("autoresponder"),
        "x-mailer" | "user-agent" => {
            ["autoresponder", "autoreply", "auto-reply", "vacation"].iter().any(|word| value.contains(word))
        }
        "delivered-to" => value == "autoresponder",
        "x-apple-action" => value.contains("vacation"),
        "content-type" => {
            value.starts_with("multipart/report")
                || value.starts_with("message/delivery-status")
                || value.starts_with("message/disposition-notification")
                || value.contains("report-type=")
        }
        _ => false,
    }
}

/// Whether nobody reads the mailbox with this local part.
fn is_daemon(local: &str) -> bool {
    let local = local.to_lowercase();
    let listed = DAEMONS.any(|daemon| {
        local.strip_prefix(daemon).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '+', '=']))
    });
    listed
        // As in `post_master`.
        || DAEMONS.contains(&local.replace('_', ""))
        || takes_no_reply(&local)
        || local.starts_with("microsoftexchange")
        || local.starts_with("owner-")
        || ["-bounces", "-owner", "-request"].iter().any(|end| local.ends_with(end))
        || local.contains("-bounces+")
        || local.starts_with("prvs=") && local.contains("bounce")
}

/// What separates the pieces of a local part.
const SEPARATORS: [char; 5] = ['.', '-', '_', '+', '='];

/// Whether a local part, or a piece of it, starts with words for "no reply": `do-not-reply` and `club.noreply` do,
/// `bruno.reply` and `autor.eply` do not.
fn takes_no_reply(local: &str) -> bool {
    let pieces = local.match_indices(SEPARATORS).map(|(at, _)| at + 1);
    std::iter::once(0)
        .chain(pieces)
        .take(16)
        .any(|start| NO_REPLY.any(|words| starts_with_words(&local[start..], words)))
}

/// Whether `local` starts with these words, with or without separators between them.
fn starts_with_words(local: &str, words: &str) -> bool {
    let mut rest = local;
    for word in words.split(' ') {
        let Some(after) = rest.strip_prefix(word) else { return false };
        rest = after.trim_start_matches(SEPARATORS);
    }
    true
}

/// Maximum number of our Message-IDs that a machine's letter can be about.
const MAX_ABOUT: usize = 50;

/// Collects the Message-IDs in `bytes` that have our domain.
fn find_own_ids(bytes: &[u8], own: &OwnIdentity, found: &mut Vec<String>) {
    let domain = own.message_id_domain.as_bytes();
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|b| *b == b'@').map(|p| at + p) {
        at = next + 1;
        let own_domain = bytes.get(at..at + domain.len()).is_some_and(|d| d.eq_ignore_ascii_case(domain));
        let ends = bytes
            .get(at + domain.len())
            .is_none_or(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'.' | b'-'));
        if !own_domain || !ends || found.len() >= MAX_ABOUT {
            continue;
        }
        // A bound on the local part keeps the search linear.
        let length = bytes[..next]
            .iter()
            .rev()
            .take(100)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
            .count();
        if length > 0 {
            let local = String::from_utf8_lossy(&bytes[next - length..next]).into_owned();
            let id = format!("{local}@{}", own.message_id_domain);
            if !found.contains(&id) {
                found.push(id);
            }
        }
    }
}

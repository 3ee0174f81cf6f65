//! Decides whether a machine wrote a letter.
//!
//! Any single mark in the header or in the structure is enough; such a letter is never answered and never
//! acted on. `X-Auto-Response-Suppress` is not a mark: Exchange adds it to people's mail. A letter without a
//! mark is searched for the wording of a bounce or an absence note ([`phrases`]), which only makes it
//! suspicious.

use std::cell::OnceCell;

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

use super::automatic::{Automatic, AutomaticKind, AutomaticMark, MAX_RECEIVED};
use super::mailboxes::{is_daemon, is_list_software, is_machine};
use super::phrases::{HeaderSigns, Program};
use super::{excerpt, phrases};
use crate::mail::address::{Address, Token};
use crate::mail::header::{self, Header};
use crate::mail::identity::{OwnIdentity, has_own_domain, is_own_id, token_of_id};
use crate::mail::limits::add_new;
use crate::mail::return_id;
use crate::mail::subject::Subject;
use crate::text::body::{Texts, mime_type};
use crate::text::words::{DAEMONS, MACHINE_FIELDS};

/// The parts of a letter that classification looks at.
pub struct Evidence<'a> {
    pub headers: &'a [Header],
    pub message: &'a Message<'a>,
    pub texts: Option<&'a Texts>,
    pub from: Option<&'a Address>,
    pub subject: &'a str,
    /// Whether the header contains a reply token.
    pub has_token: bool,
    pub own: &'a OwnIdentity,
    /// The lines that the sender has just written. Finding them takes long and is seldom needed.
    pub written_now: OnceCell<Vec<&'a str>>,
}

/// Minimum by which the points for a machine exceed those for a person. A letter with a token is suspected
/// sooner, because its writer is then asked, whereas any other writer would get no answer.
const THRESHOLD: i32 = 3;
const THRESHOLD_WITH_TOKEN: i32 = 2;

/// The value of Auto-Submitted in a letter that a rule has forwarded; its author may be a person.
const FORWARDED: &str = "auto-forwarded";

/// Classifies a letter, and returns `None` for a person's.
pub fn classify(evidence: &Evidence<'_>) -> Option<Automatic> {
    let text = excerpt::beginning(evidence.texts);
    let mark = evidence
        .own_mark()
        .or_else(|| evidence.header_mark())
        .or_else(|| evidence.report().map(|_| AutomaticMark::Report))
        .or_else(|| evidence.sender_mark())
        .or_else(|| evidence.list_mark())
        .or_else(|| evidence.word_mark(&text))?;
    let may_be_relayed = evidence.may_be_relayed(&mark, &text);
    let kind = evidence.kind(&mark, &text);
    let first_line = excerpt::first_line(evidence.written_now(), evidence.own.dialect);
    let recipients = evidence.failed_recipients();
    let return_ids = return_id::in_header(evidence.headers, evidence.own);
    let about = evidence.about();
    let returned = evidence.returned();
    Some(Automatic { mark, may_be_relayed, kind, about, returned, return_ids, recipients, first_line })
}

impl<'a> Evidence<'a> {
    fn written_now(&self) -> &[&'a str] {
        self.written_now.get_or_init(|| excerpt::lines_written_now(self.texts, self.own))
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.iter().filter(move |h| h.name == name).map(|h| h.value.as_str())
    }

    fn own_mark(&self) -> Option<AutomaticMark> {
        if self.values(self.own.dialect.loop_field).next().is_some()
            || self.values("x-loop").flat_map(header::addresses).any(|address| self.own.has_address(&address))
        {
            return Some(AutomaticMark::OwnLoop);
        }
        if self.values("message-id").flat_map(header::message_ids).any(|id| is_own_id(&id, self.own)) {
            return Some(AutomaticMark::OwnMessageId);
        }
        self.from.filter(|from| self.own.has_address(from)).map(|_| AutomaticMark::OwnAddress)
    }

    fn header_mark(&self) -> Option<AutomaticMark> {
        self.answer_mark().or_else(|| self.precedence_mark()).or_else(|| self.field_mark())
    }

    fn answer_mark(&self) -> Option<AutomaticMark> {
        if self.values("return-path").any(|value| matches!(value.replace(' ', "").as_str(), "<>" | "")) {
            return Some(AutomaticMark::NullReturnPath);
        }
        let mut submitted = self.values("auto-submitted").map(first_word);
        let is_mark = |value: &String| !["no", "", FORWARDED].contains(&value.as_str());
        submitted.find(is_mark).map(AutomaticMark::AutoSubmitted)
    }

    fn precedence_mark(&self) -> Option<AutomaticMark> {
        let names = ["precedence", "x-precedence", "preference"].into_iter();
        let mut precedence = names.flat_map(|name| self.values(name)).map(first_word);
        let bulk = ["bulk", "junk", "auto_reply", "auto-reply", "autoreply"];
        precedence.find(|value| bulk.contains(&value.as_str())).map(AutomaticMark::Precedence)
    }

    fn field_mark(&self) -> Option<AutomaticMark> {
        if let Some(header) = self.headers.iter().find(|h| is_machine_field(&h.name, &h.value)) {
            return Some(AutomaticMark::Field(header.name.clone()));
        }
        (self.values("received").count() > MAX_RECEIVED).then_some(AutomaticMark::Hops)
    }

    /// Whether a list or a forwarder alone may have left this mark: such programs put their own address in place of the
    /// writer's, in From (for DMARC) or in the envelope, and their fields into the header.
    fn may_be_relayed(&self, mark: &AutomaticMark, text: &str) -> bool {
        let is_listed = self.list_mark().is_some();
        let is_of_list = |mark: &AutomaticMark| {
            matches!(mark, AutomaticMark::Precedence(value) if value == "bulk") && is_listed
        };
        if !matches!(mark, AutomaticMark::OwnAddress | AutomaticMark::Sender | AutomaticMark::List(_))
            && !is_of_list(mark)
        {
            return false;
        }
        let is_own = matches!(mark, AutomaticMark::OwnAddress);
        let envelope = self.envelope_senders().any(|local| is_machine(local) && !local.starts_with("bounce"));
        self.from.is_some_and(|from| is_own || !is_machine(from.local()))
            && !envelope
            && self.answer_mark().is_none()
            && self.precedence_mark().is_none_or(|mark| is_of_list(&mark))
            && self.field_mark().is_none()
            && self.report().is_none()
            && self.word_mark(text).is_none()
    }

    /// Returns the local parts of the addresses in fields that name the envelope sender, or who sent for the author.
    fn envelope_senders(&self) -> impl Iterator<Item = &str> {
        let fields = ["return-path", "sender", "x-envelope-from"].into_iter();
        fields
            .flat_map(|name| self.values(name))
            .filter_map(|value| value.rsplit('<').next()?.split('@').next())
    }

    /// Returns a mark of mailing list software, or of a rule that forwards. People write through these too.
    fn list_mark(&self) -> Option<AutomaticMark> {
        let is_list_field = |name: &str| {
            name.starts_with("list-")
                || matches!(
                    name,
                    "mailing-list"
                        | "x-mailing-list"
                        | "x-mlserver"
                        | "x-ml-name"
                        | "x-mailman-version"
                        | "x-ms-exchange-inbox-rules-loop"
                )
        };
        if let Some(header) = self.headers.iter().find(|header| is_list_field(&header.name)) {
            return Some(AutomaticMark::List(header.name.clone()));
        }
        if self.values("auto-submitted").any(|value| first_word(value) == FORWARDED) {
            return Some(AutomaticMark::List("auto-submitted".to_owned()));
        }
        let precedence = |value: &str| first_word(value) == "list";
        let names = ["precedence", "x-precedence"];
        let found = names.into_iter().find(|name| self.values(name).any(precedence));
        found.map(|name| AutomaticMark::List(name.to_owned()))
    }

    /// Returns a mark that the wording alone shows. Only the text that the sender has just written counts,
    /// not quotes. Finding that text is expensive, so letters without a suspicious phrase are skipped.
    fn word_mark(&self, text: &str) -> Option<AutomaticMark> {
        let label = self.own.dialect.token_label;
        let has_token = self.has_token || !label.is_empty() && text.contains(label);
        let threshold = match has_token {
            true => THRESHOLD_WITH_TOKEN,
            false => THRESHOLD,
        };
        let signs = self.header_signs();
        if !phrases::may_be_machine(self.subject, text, signs, threshold) {
            return None;
        }
        let written_now = excerpt::written_now(self.written_now(), self.texts, self.own);
        phrases::mark(self.subject, &written_now, signs, threshold)
    }

    fn header_signs(&self) -> HeaderSigns {
        let thread = ["in-reply-to", "references"].into_iter().flat_map(|name| self.values(name));
        let answers_us = thread.flat_map(header::message_ids).any(|id| has_own_domain(&id, self.own));
        let fields = ["to", "cc"].into_iter().flat_map(|name| self.values(name));
        let recipients: Vec<Address> = fields.flat_map(header::addresses).collect();
        let modern = ["mime-version", "content-type", "user-agent", "x-mailer"];
        let is_modern = modern.iter().any(|name| self.values(name).next().is_some());
        let is_sentence = |value: &str| value.trim_start().starts_with(char::is_alphabetic);
        HeaderSigns {
            has_own_subject: answers_us
                && !Subject::of(self.subject).is_answer()
                && !self.subject.contains('[')
                && !self.subject.trim().is_empty(),
            is_misaddressed: self.from.is_some_and(|from| recipients.contains(from))
                && !recipients.iter().any(|address| self.own.has_address(address)),
            program: match is_modern {
                true => Program::Modern,
                false if answers_us && !self.values("in-reply-to").any(is_sentence) => Program::Script,
                false => Program::Old,
            },
        }
    }

    fn sender_mark(&self) -> Option<AutomaticMark> {
        // Some bounces have no address in From: `MAILER-DAEMON (Mail Delivery System)`.
        let raw = self.values("from").next().unwrap_or_default().to_lowercase();
        let bare = self.from.is_none() && DAEMONS.any_in(&raw);
        let sender = self.from.is_some_and(|from| is_daemon(from.local()));
        let envelope = self
            .envelope_senders()
            // A list replaces the envelope sender of a person's letter.
            .any(|local| is_daemon(local) && !(is_list_software(local) && self.list_mark().is_some()));
        (bare || sender || envelope).then_some(AutomaticMark::Sender)
    }

    /// Returns the kind of report, if the letter is one (RFC 6522, 3464, 8098) or has the parts of one.
    /// Prefers a delivery status that names its action.
    fn report(&self) -> Option<Report> {
        let mut found = None;
        let parts: &[MessagePart<'_>] = match self.is_forwarded_by_hand() {
            true => &[],
            false => &self.message.parts,
        };
        for part in parts {
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

    /// Whether somebody forwards or answers a report, and their mail program attached its parts again.
    fn is_forwarded_by_hand(&self) -> bool {
        let is_report = self.message.parts.first().is_some_and(|part| mime_type(part).1 == "report");
        !is_report && Subject::of(self.subject).is_answer()
    }

    fn kind(&self, mark: &AutomaticMark, text: &str) -> AutomaticKind {
        let failure = || phrases::failure(self.subject, text);
        match self.report() {
            Some(Report::Delivery(Some(action))) => return action,
            Some(Report::Delivery(None)) => return failure().unwrap_or(AutomaticKind::Failed),
            Some(Report::Other) => return AutomaticKind::Other,
            None => {}
        }
        match mark {
            AutomaticMark::OwnLoop | AutomaticMark::OwnMessageId | AutomaticMark::OwnAddress => {
                AutomaticKind::Other
            }
            AutomaticMark::Hops | AutomaticMark::List(_) | AutomaticMark::NoticeSubject => {
                AutomaticKind::Other
            }
            AutomaticMark::AbsenceSubject | AutomaticMark::AbsenceText => AutomaticKind::Absence,
            AutomaticMark::BounceSubject | AutomaticMark::MachineText if phrases::is_away(text) => {
                AutomaticKind::Absence
            }
            AutomaticMark::BounceSubject => failure().unwrap_or(AutomaticKind::Failed),
            AutomaticMark::MachineText => failure().unwrap_or(AutomaticKind::Other),
            AutomaticMark::Field(name) if name == "x-failed-recipients" => {
                failure().unwrap_or(AutomaticKind::Failed)
            }
            AutomaticMark::Field(name)
                if matches!(name.as_str(), "x-ricevuta" | "x-cron-env" | "x-fd-auto") =>
            {
                failure().unwrap_or(AutomaticKind::Other)
            }
            AutomaticMark::Field(_) => failure().unwrap_or(AutomaticKind::Absence),
            AutomaticMark::Precedence(value) if value.starts_with("auto") => AutomaticKind::Absence,
            AutomaticMark::NullReturnPath
            | AutomaticMark::Report
            | AutomaticMark::AutoSubmitted(_)
            | AutomaticMark::Precedence(_)
            | AutomaticMark::Sender => {
                let replied = self.values("auto-submitted").any(|v| first_word(v) == "auto-replied");
                let away = replied || phrases::is_absence(&Subject::of(self.subject));
                let otherwise = if away { AutomaticKind::Absence } else { AutomaticKind::Other };
                failure().unwrap_or(otherwise)
            }
        }
    }

    /// Returns the recipients whose delivery failed: those named in fields or, if there are none, all
    /// addresses in the text and in the returned letter.
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
        if found.is_empty() {
            for part in &self.message.parts {
                let bytes: &[u8] = match &part.body {
                    PartType::Message(inner) => &inner.raw_message,
                    PartType::Text(_) | PartType::Html(_) => part.contents(),
                    PartType::Binary(_) if mime_type(part).0 == "text" => part.contents(),
                    PartType::Binary(_) | PartType::InlineBinary(_) | PartType::Multipart(_) => continue,
                };
                for address in header::addresses(&String::from_utf8_lossy(bytes)) {
                    add_recipient(address.as_str(), &mut found);
                }
            }
        }
        found
    }

    /// Returns our Message-IDs anywhere in the letter: in its header, in its text, in the returned letter.
    fn about(&self) -> Vec<String> {
        let mut found = Vec::new();
        find_own_ids(&self.message.raw_message, self.own, &mut found);
        // Transfer encodings hide these IDs from the search of the raw bytes.
        for decoded in self.decoded_parts() {
            find_own_ids(decoded, self.own, &mut found);
        }
        found
    }

    /// Returns the Message-IDs of our letters that this one returns: those in a field `Message-ID:` below its header, or
    /// in one that reports it, such as Gmail's `X-Original-Message-ID:`.
    fn returned(&self) -> Vec<String> {
        let mut found = Vec::new();
        for part in self.decoded_parts() {
            let mut lines = part.split(|byte| *byte == b'\n').map(without_prefix);
            while let Some(line) = lines.next() {
                let Some(value) = value_of_message_id(line) else { continue };
                // A long ID may be folded.
                let id = if value.is_empty() { lines.next().unwrap_or_default() } else { value };
                find_own_ids(id, self.own, &mut found);
            }
        }
        found
    }

    fn decoded_parts(&self) -> impl Iterator<Item = &[u8]> {
        self.message.parts.iter().filter_map(|part| match &part.body {
            PartType::Text(text) | PartType::Html(text) => Some(text.as_bytes()),
            PartType::Binary(bytes) | PartType::InlineBinary(bytes) => Some(bytes.as_ref()),
            PartType::Message(inner) => Some(inner.raw_message.as_ref()),
            PartType::Multipart(_) => None,
        })
    }
}

/// Returns a line without blanks at both ends and without a quote prefix.
fn without_prefix(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'>' | b'|'));
    start.map_or(b"", |start| line[start..].trim_ascii_end())
}

/// Returns the value of a field whose name ends in `Message-ID`.
fn value_of_message_id(line: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"message-id";
    let (name, value) = line.split_at(line.iter().take(MAX_FIELD_NAME).position(|byte| *byte == b':')?);
    let is_named = name.len() >= NAME.len() && name[name.len() - NAME.len()..].eq_ignore_ascii_case(NAME);
    (is_named && !name.contains(&b' ')).then(|| value[1..].trim_ascii())
}

/// Maximum bytes of a field's name.
const MAX_FIELD_NAME: usize = 60;

/// A machine-readable report part.
enum Report {
    /// A delivery status, and the meaning of its action, if it is known.
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

/// Adds the recipients of a delivery status (RFC 3464 2.3), and those it was forwarded to.
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
    let text = text.trim().trim_start_matches('<').trim_end_matches('>');
    let text = Address::parse(text).map_or_else(|_| text.to_ascii_lowercase(), |address| address.to_string());
    if text.contains('@') {
        add_new(found, text, MAX_ABOUT);
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
    let value = value.trim().to_lowercase();
    match name {
        _ if MACHINE_FIELDS.contains(name) => !matches!(value.as_str(), "no" | "false" | "0"),
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

/// Maximum number of our Message-IDs that a machine's letter can be about.
const MAX_ABOUT: usize = 50;

/// Collects the Message-IDs in `bytes` that have our domain, or a token: those from before a club moved to another domain.
fn find_own_ids(bytes: &[u8], own: &OwnIdentity, found: &mut Vec<String>) {
    let is_of_domain = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-');
    let is_of_local = |b: &&u8| is_of_domain(b) || **b == b'_';
    for at in memchr::memchr_iter(b'@', bytes) {
        let (before, after) = (&bytes[..at], &bytes[at + 1..]);
        // Bounds on both parts keep the search linear.
        let domain = &after[..after.iter().take(255).take_while(is_of_domain).count()];
        let local = &before[at - before.iter().rev().take(100).take_while(is_of_local).count()..];
        let has_own_domain = domain.eq_ignore_ascii_case(own.message_id_domain.as_bytes());
        let may_have_token = local.get(Token::LENGTH) == Some(&b'.');
        if local.is_empty() || !has_own_domain && !may_have_token || found.len() >= MAX_ABOUT {
            continue;
        }
        let local = String::from_utf8_lossy(local);
        let id = format!("{local}@{}", String::from_utf8_lossy(domain));
        if has_own_domain {
            add_new(found, format!("{local}@{}", own.message_id_domain), MAX_ABOUT);
        } else if token_of_id(&id).is_some() {
            add_new(found, id, MAX_ABOUT);
        }
    }
}

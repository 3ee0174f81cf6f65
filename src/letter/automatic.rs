//! Whether a machine wrote a letter. Such a letter is never answered and never acted on.
//!
//! Any one mark is enough. `X-Auto-Response-Suppress` is none: Exchange puts it on people's mail. What bears no mark
//! in its header at all is asked for the words of a bounce or an absence note (see [`bounce`](super::bounce)).

use std::fmt::{self, Display};

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

use super::OwnIdentity;
use super::address::Address;
use super::body::{Texts, mime_type};
use super::bounce::{self, Excerpt};
use super::header::{Header, is_own_id};
use super::own_letter::is_marker;
use super::text_line::Layer;
use super::words::{DAEMONS, NO_REPLY};

/// More hops than this are a loop.
const MAX_RECEIVED: usize = 50;

/// Why a letter is taken for a machine's, and what it reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automatic {
    pub mark: Mark,
    pub kind: AutomaticKind,
    about: Vec<String>,
}

/// The first mark found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    OwnLoop,
    OwnMessageId,
    OwnAddress,
    NullReturnPath,
    Report,
    AutoSubmitted(String),
    Precedence(String),
    /// A header field that only machines write, by its name.
    Field(String),
    List(String),
    Sender,
    Hops,
    SubjectOfAbsence,
    SubjectOfNotice,
    SubjectOfBounce,
    TextOfMachine,
}

/// What a machine's letter reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutomaticKind {
    /// A letter could not be delivered.
    Failed,
    /// A letter is delayed.
    Delayed,
    /// Somebody is away, or has a machine answer for him.
    Absence,
    Other,
}

impl Automatic {
    /// The Message-IDs of our letters that it answers or returns, without angle brackets.
    pub fn about(&self) -> &[String] {
        &self.about
    }
}

impl Display for Automatic {
    /// A few words for the GM.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            AutomaticKind::Failed => "a bounce: ",
            AutomaticKind::Delayed => "a notice of delay: ",
            AutomaticKind::Absence => "an absence note: ",
            AutomaticKind::Other => "",
        })?;
        match &self.mark {
            Mark::OwnLoop => f.write_str("it bears our own loop header"),
            Mark::OwnMessageId => f.write_str("it bears a Message-ID of ours"),
            Mark::OwnAddress => f.write_str("it comes from our own address"),
            Mark::NullReturnPath => f.write_str("its return path is empty"),
            Mark::Report => f.write_str("it is a delivery or disposition report"),
            Mark::AutoSubmitted(value) => write!(f, "Auto-Submitted: {value}"),
            Mark::Precedence(value) => write!(f, "Precedence: {value}"),
            Mark::Field(name) => write!(f, "it has the header field {name}"),
            Mark::List(name) => write!(f, "it came over a list ({name})"),
            Mark::Sender => f.write_str("its sender is a daemon or takes no replies"),
            Mark::Hops => write!(f, "more than {MAX_RECEIVED} hops"),
            Mark::SubjectOfAbsence => f.write_str("its subject is that of an automatic reply"),
            Mark::SubjectOfNotice => f.write_str("its subject is that of a machine's notice"),
            Mark::SubjectOfBounce => f.write_str("its subject is that of a bounce"),
            Mark::TextOfMachine => f.write_str("it reads as only machines write"),
        }
    }
}

/// All that a letter is judged by.
pub(super) struct Evidence<'a> {
    pub headers: &'a [Header],
    pub message: &'a Message<'a>,
    pub texts: Option<&'a Texts>,
    pub from: Option<&'a Address>,
    pub subject: &'a str,
    pub own: &'a OwnIdentity,
}

/// Why the letter is a machine's; `None` for a person's.
pub(super) fn classify(evidence: &Evidence<'_>) -> Option<Automatic> {
    let excerpt = excerpt(evidence.texts);
    let text = excerpt.text.as_str();
    let mark = evidence
        .own_mark()
        .or_else(|| evidence.header_mark())
        .or_else(|| evidence.report().map(|_| Mark::Report))
        .or_else(|| evidence.sender_mark())
        .or_else(|| bounce::mark(evidence.subject, &excerpt))?;
    let kind = evidence.kind(&mark, text);
    Some(Automatic { mark, kind, about: evidence.about() })
}

/// The beginning of the text: enough to know a bounce by.
fn excerpt(texts: Option<&Texts>) -> Excerpt {
    let mut excerpt = Excerpt { text: String::new(), asks: false, quotes: false };
    let Some(texts) = texts else { return excerpt };
    let mut above = true;
    for line in texts.plain.iter().chain(&texts.html).chain(&texts.attached) {
        excerpt.quotes |= line.layer == Layer::Quoted && !line.is_blank();
        above &= !is_marker(&line.text);
        if line.layer != Layer::Unmarked || excerpt.text.len() > 20_000 {
            continue;
        }
        excerpt.asks |= above && bounce::asks(&line.text);
        excerpt.text.push_str(&line.text.chars().take(500).collect::<String>().to_lowercase());
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
        let own_id = |value: &str| super::header::message_ids(value).iter().any(|id| is_own_id(id, self.own));
        if self.values("message-id").any(own_id) {
            return Some(Mark::OwnMessageId);
        }
        let from = self.from?;
        let ours = [Some(&self.own.address), self.own.return_path.as_ref()];
        let own = |own: &Address| from == own || own.plus_of(from).is_some();
        ours.into_iter().flatten().any(own).then_some(Mark::OwnAddress)
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
        // A bounce's From may be no address at all: `MAILER-DAEMON (Mail Delivery System)`.
        let raw = self.values("from").next().unwrap_or_default().to_lowercase();
        let bare = self.from.is_none() && DAEMONS.stand_in(&raw);
        let sender = self.from.is_some_and(|from| is_daemon(from.local()));
        let envelope = ["return-path", "sender", "x-envelope-from"]
            .into_iter()
            .flat_map(|name| self.values(name))
            .any(|value| value.rsplit('<').next().and_then(|v| v.split('@').next()).is_some_and(is_daemon));
        (bare || sender || envelope).then_some(Mark::Sender)
    }

    /// The report part, if the letter is a report (RFC 3462, 3464, 8098) or holds the parts of one.
    fn report(&self) -> Option<Report> {
        let mut found = None;
        for part in &self.message.parts {
            let (kind, subtype) = mime_type(part);
            let this = match (kind.as_str(), subtype.as_str()) {
                ("message", "delivery-status" | "global-delivery-status") => Report::Delivery(action(part)),
                ("message", "disposition-notification" | "global-disposition-notification") => Report::Other,
                ("message", "feedback-report") => Report::Other,
                // A calendar accepts or declines.
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
                return bounce::failure(self.subject, text).unwrap_or(AutomaticKind::Failed);
            }
            Some(Report::Other) => return AutomaticKind::Other,
            None => {}
        }
        match mark {
            Mark::OwnLoop | Mark::OwnMessageId | Mark::OwnAddress => AutomaticKind::Other,
            Mark::Hops | Mark::List(_) | Mark::SubjectOfNotice => AutomaticKind::Other,
            Mark::SubjectOfAbsence => AutomaticKind::Absence,
            Mark::SubjectOfBounce | Mark::TextOfMachine if bounce::is_away(text) => AutomaticKind::Absence,
            Mark::SubjectOfBounce => bounce::failure(self.subject, text).unwrap_or(AutomaticKind::Failed),
            Mark::TextOfMachine => bounce::failure(self.subject, text).unwrap_or(AutomaticKind::Other),
            Mark::Field(name) if name == "x-failed-recipients" => {
                bounce::failure(self.subject, text).unwrap_or(AutomaticKind::Failed)
            }
            Mark::Field(name) if matches!(name.as_str(), "x-ricevuta" | "x-cron-env" | "x-fd-auto") => {
                bounce::failure(self.subject, text).unwrap_or(AutomaticKind::Other)
            }
            Mark::Field(_) => bounce::failure(self.subject, text).unwrap_or(AutomaticKind::Absence),
            Mark::Precedence(value) if value.starts_with("auto") => AutomaticKind::Absence,
            _ => {
                let replied = self.values("auto-submitted").any(|v| first_word(v) == "auto-replied");
                let away = replied || bounce::is_absence(self.subject);
                let otherwise = if away { AutomaticKind::Absence } else { AutomaticKind::Other };
                bounce::failure(self.subject, text).unwrap_or(otherwise)
            }
        }
    }

    /// The Message-IDs of ours anywhere in the letter: in its header, in what it returns, in its text.
    fn about(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut look = |bytes: &[u8]| find_own_ids(bytes, self.own, &mut found);
        look(&self.message.raw_message);
        for part in &self.message.parts {
            match &part.body {
                PartType::Text(text) | PartType::Html(text) => look(text.as_bytes()),
                PartType::Binary(bytes) | PartType::InlineBinary(bytes) => look(bytes),
                PartType::Message(inner) => look(&inner.raw_message),
                PartType::Multipart(_) => {}
            }
        }
        found
    }
}

enum Report {
    Delivery(Option<AutomaticKind>),
    Other,
}

/// `Action:` of a delivery status (RFC 3464 2.3.3).
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

/// Fields that only machines write into what they send.
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
        // Certified mail in Italy: a receipt or a refusal.
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

/// Local parts behind which nobody reads.
fn is_daemon(local: &str) -> bool {
    let local = local.to_lowercase();
    let listed = |daemon: &&str| {
        local.strip_prefix(*daemon).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '+', '=']))
    };
    // `post_master`.
    DAEMONS.any(listed)
        || DAEMONS.is(&local.replace('_', ""))
        || takes_no_reply(&local)
        || local.starts_with("microsoftexchange")
        || local.starts_with("owner-")
        || ["-bounces", "-owner", "-request"].iter().any(|end| local.ends_with(end))
        || local.contains("-bounces+")
        || local.starts_with("prvs=") && local.contains("bounce")
}

/// Whether the words for it begin the local part or a piece of it: `do-not-reply`, `club.noreply`, but not `bruno.reply`
/// nor `autor.eply`.
fn takes_no_reply(local: &str) -> bool {
    const PARTS: [char; 5] = ['.', '-', '_', '+', '='];
    let starts = local.match_indices(PARTS).map(|(at, _)| at + 1);
    let begins = |from: usize, words: &str| {
        let mut rest = &local[from..];
        words.split(' ').all(|word| match rest.strip_prefix(word) {
            Some(behind) => {
                rest = behind.trim_start_matches(PARTS);
                true
            }
            None => false,
        })
    };
    std::iter::once(0).chain(starts).take(16).any(|start| NO_REPLY.any(|words| begins(start, words)))
}

/// Collects `<…@domain>` with our Message-ID domain.
fn find_own_ids(bytes: &[u8], own: &OwnIdentity, found: &mut Vec<String>) {
    const MOST: usize = 50;
    let domain = own.message_id_domain.as_bytes();
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|b| *b == b'@').map(|p| at + p) {
        at = next + 1;
        let ours = bytes.get(at..at + domain.len()).is_some_and(|d| d.eq_ignore_ascii_case(domain));
        let ends = bytes
            .get(at + domain.len())
            .is_none_or(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'.' | b'-'));
        if !ours || !ends || found.len() >= MOST {
            continue;
        }
        let is_atom = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
        let length = bytes[..next].iter().rev().take(100).take_while(|b| is_atom(b)).count();
        if length > 0 {
            let local = String::from_utf8_lossy(&bytes[next - length..next]).into_owned();
            let id = format!("{local}@{}", own.message_id_domain);
            if !found.contains(&id) {
                found.push(id);
            }
        }
    }
}

//! Letters from machines: the marks that identify them, and the events that they report.

use std::fmt::{self, Display};

use crate::mail::return_id::ReturnId;

/// Maximum hops of a letter from a person; with more, it is in a mail loop.
pub(super) const MAX_RECEIVED: usize = 50;

/// The classification of a machine's letter, and the event that the letter reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automatic {
    /// The first mark found.
    pub(super) mark: AutomaticMark,
    /// Whether a list or a forwarder may have left the mark on a person's letter: nothing else speaks of a machine.
    pub(super) may_be_relayed: bool,
    pub kind: AutomaticKind,
    /// The Message-IDs of our letters that it answers or returns, without angle brackets.
    pub about: Vec<String>,
    /// Those of them that it returns: a bounce ends with the letter that failed.
    pub(super) returned: Vec<String>,
    /// The IDs of the return paths that it was sent to.
    pub return_ids: Vec<ReturnId>,
    /// The recipients that a delivery report names, or else all addresses in a bounce, in lower case.
    pub(super) recipients: Vec<String>,
    /// The first line that its sender wrote, unless it looks like an order or a command.
    pub first_line: Option<String>,
}

/// The certainty that a machine wrote a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Its header or its structure says so.
    Marked,
    /// It came through a list or a forwarder. People also write through these, but not to answer a letter to their
    /// seat.
    Relayed,
    /// Its words read like those of a machine.
    Suspected,
}

/// Evidence that a machine wrote a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AutomaticMark {
    OwnLoop,
    OwnMessageId,
    OwnAddress,
    NullReturnPath,
    Report,
    AutoSubmitted(String),
    Precedence(String),
    /// A header field that only machines write, by its name.
    Field(String),
    /// A field of mailing list software, by its name, including `Precedence: list`.
    List(String),
    Sender,
    Hops,
    AbsenceSubject,
    AbsenceText,
    NoticeSubject,
    BounceSubject,
    MachineText,
}

/// The kind of report in a machine's letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutomaticKind {
    /// A letter could not be delivered.
    Failed,
    /// A letter is delayed.
    Delayed,
    /// Somebody is away, or lets a machine answer.
    Absence,
    Other,
}

impl Automatic {
    /// Whether it can be about our letter with this Message-ID to this address. A bounce must return that letter or name
    /// the address: if a host forwards the letter, the bounce names only the address beyond. An absence note need
    /// not.
    pub fn may_be_about(&self, message_id: &str, recipient: &str) -> bool {
        let is_named = self.recipients.contains(&recipient.to_ascii_lowercase());
        match self.kind {
            AutomaticKind::Failed => is_named || self.returned.iter().any(|id| id == message_id),
            AutomaticKind::Delayed | AutomaticKind::Absence | AutomaticKind::Other => {
                is_named || self.recipients.is_empty()
            }
        }
    }

    /// Whether a list or a forwarder may have put its own address in place of that of a person, in From or in the
    /// envelope. A reply token then still names the person.
    pub fn may_be_relayed(&self) -> bool {
        self.may_be_relayed
    }

    pub fn certainty(&self) -> Certainty {
        match self.mark {
            _ if self.may_be_relayed => Certainty::Relayed,
            AutomaticMark::OwnLoop
            | AutomaticMark::OwnMessageId
            | AutomaticMark::OwnAddress
            | AutomaticMark::NullReturnPath
            | AutomaticMark::Report
            | AutomaticMark::AutoSubmitted(_)
            | AutomaticMark::Precedence(_)
            | AutomaticMark::Field(_)
            | AutomaticMark::Sender
            | AutomaticMark::Hops => Certainty::Marked,
            AutomaticMark::List(_) => Certainty::Relayed,
            AutomaticMark::AbsenceSubject
            | AutomaticMark::AbsenceText
            | AutomaticMark::NoticeSubject
            | AutomaticMark::BounceSubject
            | AutomaticMark::MachineText => Certainty::Suspected,
        }
    }
}

impl Display for Automatic {
    /// Describes the letter in a few words, for the GM.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            AutomaticKind::Failed => "a bounce: ",
            AutomaticKind::Delayed => "a notice of delay: ",
            AutomaticKind::Absence => "an absence note: ",
            AutomaticKind::Other => "",
        })?;
        match &self.mark {
            AutomaticMark::OwnLoop => f.write_str("it has our own loop header"),
            AutomaticMark::OwnMessageId => f.write_str("it has one of our Message-IDs"),
            AutomaticMark::OwnAddress => f.write_str("it comes from our own address"),
            AutomaticMark::NullReturnPath => f.write_str("its return path is empty"),
            AutomaticMark::Report => f.write_str("it is a delivery or disposition report"),
            AutomaticMark::AutoSubmitted(value) => write!(f, "Auto-Submitted: {value}"),
            AutomaticMark::Precedence(value) => write!(f, "Precedence: {value}"),
            AutomaticMark::Field(name) => write!(f, "it has the header field {name}"),
            AutomaticMark::List(name) => write!(f, "it came through a mailing list ({name})"),
            AutomaticMark::Sender => f.write_str("its sender is a daemon or takes no replies"),
            AutomaticMark::Hops => write!(f, "more than {MAX_RECEIVED} hops"),
            AutomaticMark::AbsenceSubject => f.write_str("its subject is that of an automatic reply"),
            AutomaticMark::AbsenceText => f.write_str("it reads like an absence note"),
            AutomaticMark::NoticeSubject => f.write_str("its subject is that of an automatic notice"),
            AutomaticMark::BounceSubject => f.write_str("its subject is that of a bounce"),
            AutomaticMark::MachineText => f.write_str("it reads like an automatic message"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounce_is_about_a_letter_that_it_returns_whatever_address_it_names() {
        let bounce = Automatic {
            mark: AutomaticMark::Report,
            kind: AutomaticKind::Failed,
            may_be_relayed: false,
            about: vec!["a.1@club.example".into(), "a.2@club.example".into()],
            returned: vec!["a.2@club.example".into()],
            return_ids: Vec::new(),
            recipients: vec!["gone@example.org".into()],
            first_line: None,
        };
        assert!(bounce.may_be_about("a.2@club.example", "ann@example.org"));
        assert!(bounce.may_be_about("a.1@club.example", "Gone@example.org"));
        assert!(!bounce.may_be_about("a.1@club.example", "ann@example.org"));
    }
}

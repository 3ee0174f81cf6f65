//! The section `[outbox]`: how letters are sent, and limits on their number.
//!
//! The return path: the address for bounces.

use serde::Deserialize;

use crate::letter::{Address, ReturnId};
use crate::post::{maildirs, outbox, sendmail, smtp};

/// The way in which letters are sent, with limits on their number.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Section")]
pub struct OutboxSection {
    pub way: outbox::OutboxConfig,
    pub quota: Quota,
}

/// Maximum letters that the mail provider accepts. Further ones wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    pub per_minute: Option<u32>,
    /// Letters in any 24 hours.
    pub per_day: Option<u32>,
}

impl Quota {
    pub fn is_unlimited(&self) -> bool {
        *self == Quota::default()
    }
}

/// The section as written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    smtp: Option<smtp::SmtpConfig>,
    sendmail: Option<sendmail::SendmailConfig>,
    maildir: Option<maildirs::MaildirsConfig>,
    per_minute: Option<u32>,
    per_day: Option<u32>,
}

impl TryFrom<Section> for OutboxSection {
    type Error = &'static str;

    fn try_from(section: Section) -> Result<OutboxSection, &'static str> {
        let Section { smtp, sendmail, maildir, per_minute, per_day } = section;
        let way = match (smtp, sendmail, maildir) {
            (Some(smtp), None, None) => outbox::OutboxConfig::Smtp(smtp),
            (None, Some(sendmail), None) => outbox::OutboxConfig::Sendmail(sendmail),
            (None, None, Some(maildir)) => outbox::OutboxConfig::Maildir(maildir),
            (None, None, None) => return Err("no kind of outbox is given; add [outbox.smtp], for example"),
            _ => return Err("two kinds are given; remove one"),
        };
        if per_minute == Some(0) || per_day == Some(0) {
            return Err("a limit of 0 would stop all mail; remove it, or set what your mail provider allows");
        }
        Ok(OutboxSection { way, quota: Quota { per_minute, per_day } })
    }
}

/// The address for bounces: one for all letters, or one for each letter.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct ReturnPath {
    /// The address, without the ID in its plus part.
    pub address: Address,
    pub has_ids: bool,
}

/// The placeholder for the ID in the config.
const ID: &str = "+{id}@";

impl ReturnPath {
    /// Returns the return path of the letter with this ID.
    pub fn of(&self, id: &ReturnId) -> Address {
        self.address.with_plus(id.as_str()).expect("the config leaves room for the ID")
    }
}

impl TryFrom<String> for ReturnPath {
    type Error = String;

    fn try_from(text: String) -> Result<ReturnPath, String> {
        let has_ids = text.contains(ID);
        let address = Address::parse(&text.replacen(ID, "@", 1))
            .ok()
            .filter(|address| !has_ids || address.with_plus(&"0".repeat(ReturnId::LENGTH)).is_ok());
        let address = address.filter(|address| !address.as_str().contains(['{', '}']));
        let address = address.ok_or_else(|| {
            format!(
                "`{text}` is not a mail address; try bounce@example.org, or bounce+{{id}}@example.org if that mailbox \
                 takes plus addresses"
            )
        })?;
        Ok(ReturnPath { address, has_ids })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<(String, bool)> {
        let path = ReturnPath::try_from(text.to_owned()).ok()?;
        Some((path.address.as_str().to_owned(), path.has_ids))
    }

    #[test]
    fn a_return_path_is_an_address_and_may_have_room_for_an_id() {
        assert_eq!(parse("Bounce@club.example"), Some(("bounce@club.example".to_owned(), false)));
        assert_eq!(parse("bounce+{id}@club.example"), Some(("bounce@club.example".to_owned(), true)));
        let nested = ReturnPath::try_from("referee+b+{id}@club.example".to_owned()).expect("a return path");
        let id = ReturnId::from_random([0; 12]);
        assert_eq!(nested.of(&id).as_str(), "referee+b+000000000000000000000000@club.example");
        let long = format!("{}+{{id}}@club.example", "x".repeat(50));
        for text in
            ["", "bounce", "bounce-{id}@club.example", "b+{id}@club+{id}@x", "{id}@club.example", &long]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

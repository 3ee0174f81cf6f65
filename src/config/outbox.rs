//! The section `[outbox]`: how letters are sent, and limits on their number.

use serde::Deserialize;

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

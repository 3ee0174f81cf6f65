//! What the settings of the post office hold that must be completed before they are used: paths and passwords.

use std::path::PathBuf;

use super::Secret;
use super::inbox::Inbox;
use super::outbox;

/// A login's password, and the file that may hold it.
pub type Login<'a> = (&'a mut Option<Secret>, &'a mut Option<PathBuf>);

impl Inbox {
    /// Every path of the settings.
    pub fn paths(&mut self) -> Vec<&mut PathBuf> {
        match self {
            Inbox::Imap(imap) => imap.ca_file.iter_mut().chain(&mut imap.password_file).collect(),
            Inbox::Maildir(maildir) => vec![&mut maildir.path],
        }
    }

    /// The password that the mailbox asks for.
    pub fn login(&mut self) -> Option<Login<'_>> {
        match self {
            Inbox::Imap(imap) => Some((&mut imap.password, &mut imap.password_file)),
            Inbox::Maildir(_) => None,
        }
    }
}

impl outbox::Settings {
    /// Every path of the settings but that of a command, which is looked for as it is.
    pub fn paths(&mut self) -> Vec<&mut PathBuf> {
        match self {
            outbox::Settings::Smtp(smtp) => smtp.ca_file.iter_mut().chain(&mut smtp.password_file).collect(),
            outbox::Settings::Maildir(maildir) => vec![&mut maildir.path],
            outbox::Settings::Sendmail(_) => Vec::new(),
        }
    }

    /// The password that the mail server asks for, where there is a login.
    pub fn login(&mut self) -> Option<Login<'_>> {
        match self {
            outbox::Settings::Smtp(smtp) if smtp.user.is_some() => {
                Some((&mut smtp.password, &mut smtp.password_file))
            }
            outbox::Settings::Smtp(_) | outbox::Settings::Maildir(_) | outbox::Settings::Sendmail(_) => None,
        }
    }
}

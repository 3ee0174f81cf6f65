//! Access to the paths and passwords in the settings, which the config completes before they are used.

use std::path::PathBuf;

use super::Secret;
use super::inbox::Inbox;
use super::outbox;

/// A login's password, and the file that may contain it.
pub type Login<'a> = (&'a mut Option<Secret>, &'a mut Option<PathBuf>);

impl Inbox {
    /// Returns all paths in the settings.
    pub fn paths(&mut self) -> Vec<&mut PathBuf> {
        match self {
            Inbox::Imap(imap) => imap.ca_file.iter_mut().chain(&mut imap.password_file).collect(),
            Inbox::Maildir(maildir) => vec![&mut maildir.path],
        }
    }

    /// Explains a port that does not speak the kind of TLS that is set.
    pub fn port_advice(&self) -> Option<String> {
        match self {
            Inbox::Imap(imap) => imap.port_advice(),
            Inbox::Maildir(_) => None,
        }
    }

    /// Returns the mailbox's login, if it has one.
    pub fn login(&mut self) -> Option<Login<'_>> {
        match self {
            Inbox::Imap(imap) => Some((&mut imap.password, &mut imap.password_file)),
            Inbox::Maildir(_) => None,
        }
    }
}

impl outbox::Settings {
    /// Returns all paths in the settings, except that of a command, which is used as it is written.
    pub fn paths(&mut self) -> Vec<&mut PathBuf> {
        match self {
            outbox::Settings::Smtp(smtp) => smtp.ca_file.iter_mut().chain(&mut smtp.password_file).collect(),
            outbox::Settings::Maildir(maildir) => vec![&mut maildir.path],
            outbox::Settings::Sendmail(_) => Vec::new(),
        }
    }

    /// Explains a port that does not speak the kind of TLS that is set.
    pub fn port_advice(&self) -> Option<String> {
        match self {
            outbox::Settings::Smtp(smtp) => smtp.port_advice(),
            outbox::Settings::Maildir(_) | outbox::Settings::Sendmail(_) => None,
        }
    }

    /// Returns the mail server's login, if there is one.
    pub fn login(&mut self) -> Option<Login<'_>> {
        match self {
            outbox::Settings::Smtp(smtp) if smtp.user.is_some() => {
                Some((&mut smtp.password, &mut smtp.password_file))
            }
            outbox::Settings::Smtp(_) | outbox::Settings::Maildir(_) | outbox::Settings::Sendmail(_) => None,
        }
    }
}

//! Access to the paths and passwords in the settings, which the config completes before they are used.

use std::net::IpAddr;
use std::path::PathBuf;

use super::inbox::Inbox;
use super::{Secret, oauth, outbox};

/// A login's password, and the file that may contain it.
pub type Login<'a> = (&'a mut Option<Secret>, &'a mut Option<PathBuf>);

impl Inbox {
    /// Keeps the mailbox's path as the config has it: it identifies the mailbox wherever the program is
    /// started, and after the club has moved to another folder or machine.
    pub fn keep_written_path(&mut self) {
        if let Inbox::Maildir(maildir) = self {
            maildir.written_path = Some(maildir.path.clone());
        }
    }

    /// Returns all paths in the settings.
    pub fn paths(&mut self) -> Vec<&mut PathBuf> {
        match self {
            Inbox::Imap(imap) => {
                let oauth = imap.oauth.iter_mut().flat_map(|oauth| oauth.paths());
                imap.ca_file.iter_mut().chain(&mut imap.password_file).chain(oauth).collect()
            }
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
            Inbox::Imap(imap) if imap.oauth.is_none() => Some((&mut imap.password, &mut imap.password_file)),
            Inbox::Imap(_) | Inbox::Maildir(_) => None,
        }
    }

    /// Returns the mailbox's login by OAuth, if it has one.
    pub fn oauth(&self) -> Option<&oauth::OauthLogin> {
        match self {
            Inbox::Imap(imap) => imap.oauth.as_deref(),
            Inbox::Maildir(_) => None,
        }
    }

    /// # Errors
    /// Returns a sentence that names the key if a folder has no name, or two have the same.
    pub fn check_folders(&self) -> Result<(), String> {
        match self {
            Inbox::Imap(imap) => imap.check_folders(),
            Inbox::Maildir(maildir) => maildir.check_folders(),
        }
    }

    /// # Errors
    /// Returns a sentence that names the key if the login is incomplete, or given in two ways.
    pub fn check_login(&self) -> Result<(), String> {
        let Inbox::Imap(imap) = self else { return Ok(()) };
        check_password("inbox.imap", imap.password.is_some(), imap.password_file.is_some())?;
        let has_password = imap.password.is_some() || imap.password_file.is_some();
        check_oauth("inbox.imap", imap.oauth.as_deref(), has_password)
    }

    /// # Errors
    /// Returns a sentence that names the key if the host is not a name of a machine, or the port is invalid.
    pub fn check_server(&self) -> Result<(), String> {
        match self {
            Inbox::Imap(imap) => check_host("inbox.imap", &imap.host, imap.port),
            Inbox::Maildir(_) => Ok(()),
        }
    }
}

impl outbox::OutboxConfig {
    /// Returns all paths in the settings, except a command's, which is used as written.
    pub fn paths(&mut self) -> Vec<&mut PathBuf> {
        match self {
            outbox::OutboxConfig::Smtp(smtp) => {
                let oauth = smtp.oauth.iter_mut().flat_map(|oauth| oauth.paths());
                smtp.ca_file.iter_mut().chain(&mut smtp.password_file).chain(oauth).collect()
            }
            outbox::OutboxConfig::Maildir(maildir) => vec![&mut maildir.path],
            outbox::OutboxConfig::Sendmail(_) => Vec::new(),
        }
    }

    /// Explains a port that does not speak the kind of TLS that is set.
    pub fn port_advice(&self) -> Option<String> {
        match self {
            outbox::OutboxConfig::Smtp(smtp) => smtp.port_advice(),
            outbox::OutboxConfig::Maildir(_) | outbox::OutboxConfig::Sendmail(_) => None,
        }
    }

    /// Returns the name of the mail server, if letters are sent by SMTP.
    pub fn smtp_host(&self) -> Option<&str> {
        match self {
            outbox::OutboxConfig::Smtp(smtp) => Some(&smtp.host),
            outbox::OutboxConfig::Maildir(_) | outbox::OutboxConfig::Sendmail(_) => None,
        }
    }

    /// Returns the mail server's login, if there is one.
    pub fn login(&mut self) -> Option<Login<'_>> {
        match self {
            outbox::OutboxConfig::Smtp(smtp) if smtp.user.is_some() && smtp.oauth.is_none() => {
                Some((&mut smtp.password, &mut smtp.password_file))
            }
            outbox::OutboxConfig::Smtp(_)
            | outbox::OutboxConfig::Maildir(_)
            | outbox::OutboxConfig::Sendmail(_) => None,
        }
    }

    /// Returns the mail server's login by OAuth, if there is one.
    pub fn oauth(&self) -> Option<&oauth::OauthLogin> {
        match self {
            outbox::OutboxConfig::Smtp(smtp) => smtp.oauth.as_deref(),
            outbox::OutboxConfig::Maildir(_) | outbox::OutboxConfig::Sendmail(_) => None,
        }
    }

    /// # Errors
    /// Returns a sentence that names the key if the login is incomplete, or given in two ways.
    pub fn check_login(&self) -> Result<(), String> {
        let outbox::OutboxConfig::Smtp(smtp) = self else { return Ok(()) };
        if smtp.oauth.is_some() && smtp.user.is_none() {
            return Err("outbox.smtp.oauth needs outbox.smtp.user, the address that logs in".to_owned());
        }
        check_password("outbox.smtp", smtp.password.is_some(), smtp.password_file.is_some())?;
        let has_password = smtp.password.is_some() || smtp.password_file.is_some();
        check_oauth("outbox.smtp", smtp.oauth.as_deref(), has_password)
    }

    /// # Errors
    /// Returns a sentence that names the key if the host is not a name of a machine, or the port is invalid.
    pub fn check_server(&self) -> Result<(), String> {
        match self {
            outbox::OutboxConfig::Smtp(smtp) => check_host("outbox.smtp", &smtp.host, smtp.port),
            outbox::OutboxConfig::Maildir(_) | outbox::OutboxConfig::Sendmail(_) => Ok(()),
        }
    }
}

fn check_password(section: &str, has_password: bool, has_file: bool) -> Result<(), String> {
    match has_password && has_file {
        true => Err(format!("{section} has a password and a password_file; remove one")),
        false => Ok(()),
    }
}

/// Checks a host and its port. People paste `mail.example.org:993` or a URL.
fn check_host(section: &str, host: &str, port: Option<u16>) -> Result<(), String> {
    if port == Some(0) {
        return Err(format!("{section}.port is 0; a port is from 1 to 65535, or leave it out"));
    }
    if host.parse::<IpAddr>().is_ok() {
        return Ok(());
    }
    let bare = host.split_once("://").map_or(host, |(_, rest)| rest).trim_end_matches('/').trim();
    let (name, number) = match bare.rsplit_once(':') {
        Some((name, number)) if number.parse::<u16>().is_ok() => (name, Some(number)),
        Some(_) | None => (bare, None),
    };
    let is_name = |text: &str| !text.is_empty() && !text.contains([':', '/', '@', ' ', '[', ']']);
    match (is_name(host), number) {
        (true, _) => Ok(()),
        (false, Some(number)) if is_name(name) => Err(format!(
            "{section}.host is `{host}`; write host = \"{name}\" and port = {number}, each on a line of its own"
        )),
        (false, None) if is_name(name) => Err(format!("{section}.host is `{host}`; write host = \"{name}\"")),
        (false, _) => {
            Err(format!("{section}.host is `{host}`; try the name alone, such as mail.example.org"))
        }
    }
}

fn check_oauth(section: &str, oauth: Option<&oauth::OauthLogin>, has_password: bool) -> Result<(), String> {
    let Some(oauth) = oauth else { return Ok(()) };
    if has_password {
        return Err(format!("{section} has a password and [{section}.oauth]; remove one"));
    }
    oauth.check().map_err(|reason| format!("{section}.{reason}"))
}

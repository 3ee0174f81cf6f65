//! Access to the paths and passwords in the settings, which the config completes before they are used.

use std::net::IpAddr;
use std::path::PathBuf;

use super::imap::ImapConfig;
use super::inbox::Inbox;
use super::outbox::OutboxConfig;
use super::smtp::SmtpConfig;
use super::{Secret, oauth};

/// A login's password, and the file that may contain it.
pub type Login<'a> = (&'a mut Option<Secret>, &'a mut Option<PathBuf>);

impl Inbox {
    fn imap(&self) -> Option<&ImapConfig> {
        match self {
            Inbox::Imap(imap) => Some(imap),
            Inbox::Maildir(_) => None,
        }
    }

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
        self.imap()?.port_advice()
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
        self.imap()?.oauth.as_deref()
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
        let Some(imap) = self.imap() else { return Ok(()) };
        check_passwords("inbox.imap", &imap.password, &imap.password_file, imap.oauth.as_deref())
    }

    /// # Errors
    /// Returns a sentence that names the key if the host is not a name of a machine, or the port is invalid.
    pub fn check_server(&self) -> Result<(), String> {
        self.imap().map_or(Ok(()), |imap| check_host("inbox.imap", &imap.host, imap.port))
    }
}

impl OutboxConfig {
    fn smtp(&self) -> Option<&SmtpConfig> {
        match self {
            OutboxConfig::Smtp(smtp) => Some(smtp),
            OutboxConfig::Maildir(_) | OutboxConfig::Sendmail(_) => None,
        }
    }

    /// Returns all paths in the settings, except a command's, which is used as written.
    pub fn paths(&mut self) -> Vec<&mut PathBuf> {
        match self {
            OutboxConfig::Smtp(smtp) => {
                let oauth = smtp.oauth.iter_mut().flat_map(|oauth| oauth.paths());
                smtp.ca_file.iter_mut().chain(&mut smtp.password_file).chain(oauth).collect()
            }
            OutboxConfig::Maildir(maildir) => vec![&mut maildir.path],
            OutboxConfig::Sendmail(_) => Vec::new(),
        }
    }

    /// Explains a port that does not speak the kind of TLS that is set.
    pub fn port_advice(&self) -> Option<String> {
        self.smtp()?.port_advice()
    }

    /// Returns the name of the mail server, if letters are sent by SMTP.
    pub fn smtp_host(&self) -> Option<&str> {
        Some(&self.smtp()?.host)
    }

    /// Returns the mail server's login, if there is one.
    pub fn login(&mut self) -> Option<Login<'_>> {
        match self {
            OutboxConfig::Smtp(smtp) if smtp.user.is_some() && smtp.oauth.is_none() => {
                Some((&mut smtp.password, &mut smtp.password_file))
            }
            OutboxConfig::Smtp(_) | OutboxConfig::Maildir(_) | OutboxConfig::Sendmail(_) => None,
        }
    }

    /// Returns the mail server's login by OAuth, if there is one.
    pub fn oauth(&self) -> Option<&oauth::OauthLogin> {
        self.smtp()?.oauth.as_deref()
    }

    /// # Errors
    /// Returns a sentence that names the key if the login is incomplete, or given in two ways.
    pub fn check_login(&self) -> Result<(), String> {
        let Some(smtp) = self.smtp() else { return Ok(()) };
        if smtp.oauth.is_some() && smtp.user.is_none() {
            return Err("outbox.smtp.oauth needs outbox.smtp.user, the address that logs in".to_owned());
        }
        check_passwords("outbox.smtp", &smtp.password, &smtp.password_file, smtp.oauth.as_deref())
    }

    /// # Errors
    /// Returns a sentence that names the key if the host is not a name of a machine, or the port is invalid.
    pub fn check_server(&self) -> Result<(), String> {
        self.smtp().map_or(Ok(()), |smtp| check_host("outbox.smtp", &smtp.host, smtp.port))
    }
}

fn check_passwords(
    section: &str,
    password: &Option<Secret>,
    file: &Option<PathBuf>,
    oauth: Option<&oauth::OauthLogin>,
) -> Result<(), String> {
    if password.is_some() && file.is_some() {
        return Err(format!("{section} has a password and a password_file; remove one"));
    }
    let Some(oauth) = oauth else { return Ok(()) };
    if password.is_some() || file.is_some() {
        return Err(format!("{section} has a password and [{section}.oauth]; remove one"));
    }
    oauth.check().map_err(|reason| format!("{section}.{reason}"))
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

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains([':', '/', '@', ' ', '[', ']'])
}

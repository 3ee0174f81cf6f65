//! Config files for mail providers: what `fogpost init --provider` writes.
//!
//! docs/providers.md tells what to click at each provider, and names the provider's own pages.

use super::EXAMPLE;
use crate::post::Tls;

/// A provider whose settings are known, or an own server.
#[derive(Debug)]
pub struct Preset {
    /// The name on the command line.
    pub key: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// A stand-in for the club's address, which the GM replaces.
    address: &'static str,
    /// Whether the mailbox takes letters to `name+anything@`.
    plus_addresses: bool,
    imap_host: &'static str,
    /// The login name for IMAP; by default the whole address.
    imap_user: Option<&'static str>,
    smtp_host: &'static str,
    smtp_tls: Tls,
    /// Where the provider puts what it takes for spam.
    spam_folder: &'static str,
    limits: Limits,
    /// The selectors with which the provider signs for domains of its customers (DKIM), as far as they are known.
    dkim_selectors: &'static [&'static str],
    pub login: Login,
    /// The provider's instructions.
    page: &'static str,
}

/// How a provider lets programs in.
#[derive(Debug)]
pub enum Login {
    /// By a password of this kind.
    Password(&'static str),
    /// By Microsoft's OAuth, for accounts of this tenant.
    Microsoft(&'static str),
}

/// How many letters a provider takes.
#[derive(Debug)]
enum Limits {
    /// As its page says.
    Published { per_minute: Option<u32>, per_day: u32, page: &'static str, note: Option<&'static str> },
    /// It publishes no number; the sentence says what is known.
    Unpublished(&'static str),
}

/// The file for the password of presets.
pub const PASSWORD_FILE: &str = "mail.secret";

/// The first lines of the sections about mail, and of the section after them, in the example config.
const MAIL_BEGINS: &str = "# Where letters come from";
const MAIL_ENDS: &str = "# Terms of new matches";

pub const PRESETS: [Preset; 8] = [
    Preset {
        key: "gmail",
        name: "Gmail and Google Workspace",
        address: "your.club@gmail.com",
        plus_addresses: true,
        imap_host: "imap.gmail.com",
        imap_user: None,
        smtp_host: "smtp.gmail.com",
        smtp_tls: Tls::Tls,
        spam_folder: "[Gmail]/Spam",
        limits: Limits::Published {
            per_minute: None,
            per_day: 500,
            page: "https://support.google.com/mail/answer/22839",
            note: Some("Google Workspace allows 2,000 letters a day; then set 1800."),
        },
        dkim_selectors: &["google"],
        login: Login::Password("an app password (https://support.google.com/accounts/answer/185833)"),
        page: "https://support.google.com/mail/answer/7126229",
    },
    Preset {
        key: "microsoft365",
        name: "Microsoft 365",
        address: "your.club@your-organisation.example",
        plus_addresses: true,
        imap_host: "outlook.office365.com",
        imap_user: None,
        smtp_host: "smtp.office365.com",
        smtp_tls: Tls::StartTls,
        spam_folder: "Junk Email",
        limits: Limits::Published {
            per_minute: Some(30),
            per_day: 10_000,
            page: "https://learn.microsoft.com/office365/servicedescriptions/exchange-online-service-description/\
                   exchange-online-limits",
            note: None,
        },
        dkim_selectors: &["selector1", "selector2"],
        login: Login::Microsoft("organizations"),
        page: "https://learn.microsoft.com/en-us/exchange/client-developer/legacy-protocols/\
               how-to-authenticate-an-imap-pop-smtp-application-by-using-oauth",
    },
    Preset {
        key: "outlook",
        name: "Outlook.com",
        address: "your.club@outlook.com",
        plus_addresses: true,
        imap_host: "outlook.office365.com",
        imap_user: None,
        smtp_host: "smtp-mail.outlook.com",
        smtp_tls: Tls::StartTls,
        spam_folder: "Junk",
        limits: Limits::Published {
            per_minute: None,
            per_day: 5_000,
            page: "https://support.microsoft.com/en-us/office/\
                   sending-limits-in-outlook-com-279ee200-594c-40f0-9ec8-bb6af7735c2e",
            note: Some("Without a subscription to Microsoft 365 they are lower, and depend on the account."),
        },
        dkim_selectors: &[],
        login: Login::Microsoft("consumers"),
        page: "https://support.microsoft.com/en-us/office/\
               pop-imap-and-smtp-settings-for-outlook-com-d088b986-291d-42b8-9564-9c414e2aa040",
    },
    Preset {
        key: "fastmail",
        name: "Fastmail",
        address: "your.club@fastmail.com",
        plus_addresses: true,
        imap_host: "imap.fastmail.com",
        imap_user: None,
        smtp_host: "smtp.fastmail.com",
        smtp_tls: Tls::Tls,
        spam_folder: "Spam",
        limits: Limits::Unpublished("Fastmail's limits depend on the plan and the age of the account."),
        dkim_selectors: &["fm1", "fm2", "fm3"],
        login: Login::Password("an app password (https://www.fastmail.help/hc/en-us/articles/360058752854)"),
        page: "https://www.fastmail.help/hc/en-us/articles/1500000278342",
    },
    Preset {
        key: "icloud",
        name: "iCloud Mail",
        address: "your.club@icloud.com",
        plus_addresses: true,
        imap_host: "imap.mail.me.com",
        imap_user: Some("your.club"),
        smtp_host: "smtp.mail.me.com",
        smtp_tls: Tls::StartTls,
        spam_folder: "Junk",
        limits: Limits::Published {
            per_minute: None,
            per_day: 1_000,
            page: "https://support.apple.com/102198",
            note: None,
        },
        dkim_selectors: &[],
        login: Login::Password("an app-specific password (https://support.apple.com/en-us/102654)"),
        page: "https://support.apple.com/en-us/102525",
    },
    Preset {
        key: "mailbox-org",
        name: "mailbox.org",
        address: "your.club@mailbox.org",
        plus_addresses: true,
        imap_host: "imap.mailbox.org",
        imap_user: None,
        smtp_host: "smtp.mailbox.org",
        smtp_tls: Tls::Tls,
        spam_folder: "Junk",
        limits: Limits::Unpublished("mailbox.org publishes no number."),
        dkim_selectors: &[],
        login: Login::Password(
            "that of the mailbox, or with two-factor authentication an application password",
        ),
        page: "https://kb.mailbox.org/en/private/e-mail/e-mail-configuration",
    },
    Preset {
        key: "gmx",
        name: "GMX",
        address: "your.club@gmx.net",
        plus_addresses: false,
        imap_host: "imap.gmx.net",
        imap_user: None,
        smtp_host: "mail.gmx.net",
        smtp_tls: Tls::Tls,
        spam_folder: "Spamverdacht",
        limits: Limits::Unpublished("GMX publishes no number."),
        dkim_selectors: &[],
        login: Login::Password(
            "that of the mailbox, or with two-factor authentication an application-specific one",
        ),
        page: "https://hilfe.gmx.net/pop-imap/imap/imap-serverdaten.html",
    },
    Preset {
        key: "own",
        name: "a mail server of your own",
        address: "referee@your-club.example",
        plus_addresses: true,
        imap_host: "mail.your-club.example",
        imap_user: None,
        smtp_host: "mail.your-club.example",
        smtp_tls: Tls::Tls,
        spam_folder: "Junk",
        limits: Limits::Unpublished("Your server may have limits of its own."),
        dkim_selectors: &[],
        login: Login::Password("that of the mailbox"),
        page: "docs/operation.md",
    },
];

impl Preset {
    /// Returns the preset with this key.
    pub fn named(key: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.key == key)
    }

    /// Returns the config file of a club at this provider: the example with other sections about mail.
    pub fn config(&self) -> String {
        let (before, rest) = EXAMPLE.split_once(MAIL_BEGINS).expect("the example has sections about mail");
        let (_, after) = rest.split_once(MAIL_ENDS).expect("the example has terms after them");
        let before = before
            .replace("address = \"referee@club.example\"", &format!("address = \"{}\"", self.address))
            .replace("plus_addresses = false", &format!("plus_addresses = {}", self.plus_addresses));
        format!("{before}{}\n{MAIL_ENDS}{after}", self.mail_sections())
    }

    fn mail_sections(&self) -> String {
        let Preset { name, page, address, imap_host, smtp_host, smtp_tls, spam_folder, .. } = self;
        let imap_user = self.imap_user.unwrap_or(address);
        let (for_inbox, for_outbox) = (self.login.keys("inbox.imap"), self.login.keys("outbox.smtp"));
        let limits = self.limits.section();
        let connections = match self.login {
            // https://learn.microsoft.com/en-us/exchange/troubleshoot/send-emails/smtp-submission-improvements
            Login::Microsoft(_) => "# Microsoft allows three at a time.\nconnections = 3\n",
            Login::Password(_) => "",
        };
        format!(
            "\
# Where letters come from: {name}.
# Instructions: {page}
# config.example.toml shows every key.
[inbox.imap]
host = \"{imap_host}\"
user = \"{imap_user}\"
# Letters of players in it are seen, too.
spam_folder = \"{spam_folder}\"
{for_inbox}
{limits}
# Where letters go.
[outbox.smtp]
host = \"{smtp_host}\"
tls = \"{smtp_tls}\"
user = \"{address}\"
{connections}{for_outbox}"
        )
    }
}

impl Limits {
    /// Returns the section with the limits, a tenth below what the provider allows: people may write from the same
    /// account.
    fn section(&self) -> String {
        match self {
            Limits::Published { per_minute, per_day, page, note } => {
                let note = note.map(|note| format!("# {note}\n")).unwrap_or_default();
                let per_minute = per_minute.map(|limit| format!("per_minute = {}\n", less_a_tenth(limit)));
                format!(
                    "\
# How many letters go out, a tenth below what the provider allows. Others wait.
# Limits: {page}
{note}[outbox]
{}per_day = {} # in any 24 hours
",
                    per_minute.unwrap_or_default(),
                    less_a_tenth(*per_day)
                )
            }
            Limits::Unpublished(known) => format!(
                "\
# How many letters go out. {known}
# What the provider refuses waits. If you know a limit, set one a tenth below it:
# [outbox]
# per_minute = 20
# per_day = 450
"
            ),
        }
    }
}

fn less_a_tenth(limit: u32) -> u32 {
    limit - limit.div_ceil(10)
}

impl Login {
    /// Returns the lines with the login, the last of the section with this name.
    fn keys(&self, section: &str) -> String {
        match self {
            Login::Password(kind) => {
                format!("# The file holds the password: {kind}.\npassword_file = \"{PASSWORD_FILE}\"\n")
            }
            Login::Microsoft(tenant) => format!(
                "\
# docs/providers.md tells how to get the ID. Then log in with: fogpost login
[{section}.oauth]
provider = \"microsoft\"
tenant = \"{tenant}\"
client_id = \"00000000-0000-0000-0000-000000000000\"
"
            ),
        }
    }
}

/// Returns the DKIM selectors of the provider with this SMTP server for a customer's domain. For addresses at the
/// provider's own domain, it publishes keys itself.
pub fn dkim_selectors(smtp_host: &str, domain: &str) -> &'static [&'static str] {
    let of_provider = |preset: &&Preset| preset.smtp_host.eq_ignore_ascii_case(smtp_host);
    match PRESETS.iter().find(of_provider) {
        Some(preset) if !preset.address.ends_with(&format!("@{domain}")) => preset.dkim_selectors,
        Some(_) | None => &[],
    }
}

/// Whether a config file is as `fogpost init` wrote it, so that nobody could write to its addresses.
pub fn is_untouched(text: &str) -> bool {
    let is_same = |original: &str| text.trim() == original.trim();
    is_same(EXAMPLE) || PRESETS.iter().any(|preset| is_same(&preset.config()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Quota};
    use crate::post::inbox::Inbox;
    use crate::post::outbox;

    #[test]
    fn keys_are_looked_for_at_own_domains_with_the_selectors_of_the_provider() {
        assert_eq!(dkim_selectors("smtp.fastmail.com", "club.org"), ["fm1", "fm2", "fm3"]);
        for (host, domain) in [("smtp.fastmail.com", "fastmail.com"), ("mail.club.org", "club.org")] {
            assert!(dkim_selectors(host, domain).is_empty(), "{host}");
        }
    }

    #[test]
    fn every_preset_is_a_valid_config_with_a_login_for_both_ways_and_the_published_limits() {
        for preset in &PRESETS {
            let text = preset.config();
            let mut config = Config::parse(&text, preset.key).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(config.club.address.as_str(), preset.address);
            assert_eq!(config.club.plus_addresses, preset.plus_addresses, "{}", preset.key);
            assert!(matches!(config.inbox, Inbox::Imap(_)), "{}", preset.key);
            assert!(matches!(config.outbox.way, outbox::Settings::Smtp(_)), "{}", preset.key);
            assert_eq!((config.inbox.port_advice(), config.outbox.way.port_advice()), (None, None));
            let has_password = config.inbox.login().is_some() && config.outbox.way.login().is_some();
            let has_oauth = config.inbox.oauth().is_some() && config.outbox.way.oauth().is_some();
            assert!(has_password != has_oauth, "{}", preset.key);
            let Quota { per_minute, per_day } = config.outbox.quota;
            let limits = match preset.key {
                "gmail" => (None, Some(450)),
                "microsoft365" => (Some(27), Some(9_000)),
                "outlook" => (None, Some(4_500)),
                "icloud" => (None, Some(900)),
                _ => (None, None),
            };
            assert_eq!((per_minute, per_day), limits, "{}", preset.key);
            assert!(is_untouched(&text) && !is_untouched(&text.replace("The Fog Club", "Our Club")));
        }
    }
}

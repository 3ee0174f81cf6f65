//! Config files for mail providers, for `fogpost init --provider`.
//!
//! docs/providers.md describes the steps at each provider, and links to the provider's own pages.

use std::sync::LazyLock;

use serde::Deserialize;

use super::EXAMPLE;

/// A provider whose settings are known, or the user's own server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// The name on the command line.
    pub key: String,
    /// The name as people know it.
    pub name: String,
    /// A placeholder for the club's address, which the GM replaces.
    address: String,
    /// Whether the mailbox takes letters to `name+anything@`.
    plus_addresses: bool,
    imap_host: String,
    /// The login name for IMAP; by default the whole address.
    imap_user: Option<String>,
    smtp_host: String,
    smtp_tls: String,
    /// The provider's spam folder.
    spam_folder: String,
    limits: SendingLimits,
    /// The DKIM selectors with which the provider signs for its customers' domains, as far as they are known.
    #[serde(default)]
    dkim_selectors: Vec<String>,
    pub login: LoginWay,
    /// The provider's instructions.
    page: String,
}

/// The way in which programs log in at a provider.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoginWay {
    /// A password of this kind.
    Password(String),
    /// Microsoft's OAuth, for accounts of this tenant.
    Microsoft(String),
}

/// A provider's sending limits.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SendingLimits {
    /// Limits that the provider publishes on its page.
    Published { per_minute: Option<u32>, per_day: u32, page: String, note: Option<String> },
    /// No limit is published. The sentence says what is known.
    Unpublished(String),
}

/// The file for the password of presets.
pub const PASSWORD_FILE: &str = "mail.secret";

/// The first lines of the sections about mail, and of the section after them, in the example config.
const MAIL_BEGINS: &str = "# Where letters come from";
const MAIL_ENDS: &str = "# Terms of new matches";

/// The contents of `presets.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Presets {
    preset: Vec<Preset>,
}

static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let Presets { preset } = toml::from_str(include_str!("presets.toml")).expect("a test reads it");
    preset
});

impl Preset {
    pub fn all() -> &'static [Preset] {
        &PRESETS
    }

    /// Returns the preset with this key.
    pub fn named(key: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.key == key)
    }

    /// Returns the config file of a club at this provider: the example with its sections about mail.
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
        let imap_user = self.imap_user.as_ref().unwrap_or(address);
        let for_inbox = self.login.keys("inbox.imap");
        let for_outbox = self.login.keys("outbox.smtp");
        let limits = self.limits.section();
        let connections = match self.login {
            // https://learn.microsoft.com/en-us/exchange/troubleshoot/send-emails/smtp-submission-improvements
            LoginWay::Microsoft(_) => "# Microsoft allows three at a time.\nconnections = 3\n",
            LoginWay::Password(_) => "",
        };
        format!(
            "\
# Where letters come from: {name}.
# Instructions: {page}
# config.example.toml shows every key.
[inbox.imap]
host = \"{imap_host}\"
user = \"{imap_user}\"
# Letters of players in it are read, too.
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

impl SendingLimits {
    /// Returns the section with the limits, a tenth below the provider's, because people may also send
    /// letters from the account.
    fn section(&self) -> String {
        match self {
            SendingLimits::Published { per_minute, per_day, page, note } => {
                let note = note.as_ref().map(|note| format!("# {note}\n")).unwrap_or_default();
                let per_minute = per_minute.map(|limit| format!("per_minute = {}\n", less_a_tenth(limit)));
                format!(
                    "\
# Limits on outgoing letters, a tenth below the provider's. Further letters wait.
# Limits: {page}
{note}[outbox]
{}per_day = {} # in any 24 hours
",
                    per_minute.unwrap_or_default(),
                    less_a_tenth(*per_day)
                )
            }
            SendingLimits::Unpublished(known) => format!(
                "\
# Limits on outgoing letters. {known}
# Letters that the provider refuses wait. If you know a limit, set one a tenth below it:
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

impl LoginWay {
    /// Returns the lines with the login, which end the section of this name.
    fn keys(&self, section: &str) -> String {
        match self {
            LoginWay::Password(kind) => {
                format!("# The file holds the password: {kind}.\npassword_file = \"{PASSWORD_FILE}\"\n")
            }
            LoginWay::Microsoft(tenant) => format!(
                "\
# docs/providers.md explains how to get the ID. Then log in with: fogpost login
[{section}.oauth]
provider = \"microsoft\"
tenant = \"{tenant}\"
client_id = \"00000000-0000-0000-0000-000000000000\"
"
            ),
        }
    }
}

/// Returns the DKIM selectors of the provider with this SMTP server for a customer's domain. For its own
/// domain, the provider publishes the keys itself.
pub fn dkim_selectors(smtp_host: &str, domain: &str) -> &'static [String] {
    let of_provider = |preset: &&Preset| preset.smtp_host.eq_ignore_ascii_case(smtp_host);
    match PRESETS.iter().find(of_provider) {
        Some(preset) if !preset.address.ends_with(&format!("@{domain}")) => &preset.dkim_selectors,
        Some(_) | None => &[],
    }
}

/// Whether a config file is unchanged since `fogpost init` wrote it, so that its addresses do not exist.
pub fn is_untouched(text: &str) -> bool {
    text.trim() == EXAMPLE.trim() || PRESETS.iter().any(|preset| text.trim() == preset.config().trim())
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
        for preset in Preset::all() {
            let text = preset.config();
            let mut config = Config::parse(&text, &preset.key).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(config.club.address.as_str(), preset.address);
            assert_eq!(config.club.plus_addresses, preset.plus_addresses, "{}", preset.key);
            assert!(matches!(config.inbox, Inbox::Imap(_)), "{}", preset.key);
            assert!(matches!(config.outbox.way, outbox::OutboxConfig::Smtp(_)), "{}", preset.key);
            assert_eq!((config.inbox.port_advice(), config.outbox.way.port_advice()), (None, None));
            let has_password = config.inbox.login().is_some() && config.outbox.way.login().is_some();
            let has_oauth = config.inbox.oauth().is_some() && config.outbox.way.oauth().is_some();
            assert!(has_password != has_oauth, "{}", preset.key);
            let Quota { per_minute, per_day } = config.outbox.quota;
            let limits = match preset.key.as_str() {
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

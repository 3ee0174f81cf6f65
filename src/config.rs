//! `config.toml`: what the club is called, where letters come from and go to, and its customs.
//!
//! Each fault is one line that names the key, where it stands, what was found and what would do. Relative paths
//! are relative to the file's own folder.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};
use tracing_subscriber::filter::Targets;

use crate::game::HouseLevel;
use crate::game::any::GameKind;
use crate::letter::{Address, Limits};
use crate::post::Secret;
use crate::post::inbox::Inbox;
use crate::post::outbox;
use crate::referee::{OfferRejection, Terms, house_level};

/// The example that `init` writes; every key with its default.
pub const EXAMPLE: &str = include_str!("../config.example.toml");

/// All settings of one club.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub club: Club,
    #[serde(default)]
    pub database: Database,
    pub inbox: Inbox,
    pub outbox: outbox::Settings,
    /// The terms of new matches, unless others are given with one.
    #[serde(default, rename = "match")]
    pub terms: Terms,
    #[serde(default)]
    pub house: House,
    #[serde(default)]
    pub letters: Letters,
    #[serde(default)]
    pub templates: TemplateFolder,
    #[serde(default)]
    pub audit: Audit,
    #[serde(default)]
    pub status: StatusPage,
    #[serde(default)]
    pub log: Log,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Club {
    pub name: String,
    /// The referee's address: letters come to it and bear it as their sender.
    #[serde(deserialize_with = "address")]
    pub address: Address,
    /// Where bounces go; by default the referee's address.
    #[serde(default, deserialize_with = "some_address")]
    pub return_path: Option<Address>,
    /// Whether the mailbox takes `local+anything@domain`; reply tokens then ride in the Reply-To address.
    #[serde(default)]
    pub plus_addresses: bool,
    /// The domain of our letters' Message-IDs, which nobody else's may bear; by default `fogpost.` and that of the
    /// referee's address.
    pub message_id_domain: Option<String>,
    pub gm: Gm,
}

impl Club {
    pub fn return_path(&self) -> &Address {
        self.return_path.as_ref().unwrap_or(&self.address)
    }

    pub fn message_id_domain(&self) -> String {
        let own = || format!("fogpost.{}", self.address.domain());
        self.message_id_domain.as_ref().map_or_else(own, |domain| domain.to_lowercase())
    }
}

/// The human in charge.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gm {
    pub name: String,
    /// Letters to the GM go here.
    #[serde(deserialize_with = "address")]
    pub address: Address,
    /// Letters from these are the GM's as well.
    #[serde(default)]
    pub also: Vec<Address>,
    /// The hour of the day at which the digest is sent, 0 to 23, in the zone of new matches.
    #[serde(default = "Gm::digest_hour")]
    pub digest_hour: u32,
}

impl Gm {
    fn digest_hour() -> u32 {
        8
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Database {
    /// `sqlite:FILE` or `postgres://USER@HOST/NAME`.
    pub url: String,
}

impl Default for Database {
    fn default() -> Self {
        Database { url: "sqlite:fogpost.db".to_owned() }
    }
}

/// Bounds on what comes in and what goes out in answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Letters {
    /// A larger letter is not acted on.
    pub max_bytes: usize,
    pub max_parts: usize,
    pub max_nesting: usize,
    /// More than this many answers to one address in an hour are not sent.
    pub answers_per_hour: u32,
    /// A letter acts for a seat or the GM only with a DKIM signature of its sender's domain.
    pub require_dkim: bool,
    /// The name with which the own mail server signs its Authentication-Results; they are believed.
    pub trusted_authserv_id: Option<String>,
}

impl Default for Letters {
    fn default() -> Self {
        let limits = Limits::default();
        Letters {
            max_bytes: limits.max_bytes,
            max_parts: limits.max_parts,
            max_nesting: limits.max_nesting,
            answers_per_hour: 20,
            require_dkim: false,
            trusted_authserv_id: None,
        }
    }
}

impl Letters {
    pub fn limits(&self) -> Limits {
        let Letters { max_bytes, max_parts, max_nesting, .. } = *self;
        Limits { max_bytes, max_parts, max_nesting, ..Limits::default() }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TemplateFolder {
    /// Files in it take the place of the templates of the same name.
    pub folder: Option<PathBuf>,
}

/// Matches against the house, where who asks for one does not say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct House {
    /// The level; of a game that has none of this name, its weakest.
    pub level: String,
    /// Whether a player who has beaten a level meets the one above it in his next match.
    pub advance: bool,
}

impl Default for House {
    fn default() -> Self {
        House { level: "easy".to_owned(), advance: false }
    }
}

impl House {
    /// The level that is named, or the club's own.
    ///
    /// # Errors
    /// The house does not play the game, or at no such level.
    pub fn level(&self, game: GameKind, named: Option<&str>) -> Result<&'static HouseLevel, OfferRejection> {
        let name = named.unwrap_or(&self.level);
        let weakest = game.levels().first().filter(|_| named.is_none());
        house_level(game, name).or_else(|no| weakest.ok_or(no))
    }
}

/// How often matches are checked against their ledgers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Audit {
    /// 0: never.
    pub every_hours: u32,
}

impl Default for Audit {
    fn default() -> Self {
        Audit { every_hours: 24 }
    }
}

/// The page for monitors.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StatusPage {
    /// `127.0.0.1:9118`; without it there is no page.
    pub listen: Option<SocketAddr>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// `error`, `warn`, `info`, `debug`, or a filter such as `fogpost=debug`.
    pub filter: String,
    /// One JSON object a line, for programs.
    pub json: bool,
}

impl Default for Log {
    fn default() -> Self {
        Log { filter: "info".to_owned(), json: false }
    }
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{path}: {error}; `fogpost init` writes a config file to begin with")]
    Missing { path: String, error: std::io::Error },
    #[error("{path} cannot be read: {error}")]
    Unreadable { path: String, error: std::io::Error },
    #[error("{path}, line {line}: {reason}")]
    Fault { path: String, line: usize, reason: String },
    #[error("{path}: {reason}")]
    Value { path: String, reason: String },
}

impl Config {
    /// Reads the file at `path`, and passwords from where it says.
    ///
    /// # Errors
    /// [`ConfigError`]: one line for the person at the terminal.
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => ConfigError::Missing { path: name.clone(), error },
            _ => ConfigError::Unreadable { path: name.clone(), error },
        })?;
        let mut config = Config::parse(&text, &name)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        config.settle_paths(folder);
        config.find_passwords(&name, |variable| std::env::var(variable).ok())?;
        Ok(config)
    }

    /// Reads the text of a config file called `name`.
    ///
    /// # Errors
    /// [`ConfigError`]: the key, the line, what was found and what would do.
    pub fn parse(text: &str, name: &str) -> Result<Config, ConfigError> {
        let config: Config = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
            let key = key_at(text, line);
            let reason = plain(&error.message().lines().collect::<Vec<_>>().join(" "));
            ConfigError::Fault { path: name.to_owned(), line, reason: format!("{key}{reason}") }
        })?;
        let value = |reason| ConfigError::Value { path: name.to_owned(), reason };
        config.terms.check().map_err(value)?;
        let levels: Vec<&str> =
            GameKind::ALL.iter().flat_map(|kind| kind.levels()).map(|level| level.name).collect();
        let level = &config.house.level;
        if !levels.contains(&level.as_str()) {
            return Err(value(format!("house.level is `{level}`; {} would do", levels.join(", "))));
        }
        let domain = config.club.message_id_domain();
        if !domain.is_ascii() || Address::parse(&format!("id@{domain}")).is_err() {
            return Err(value(format!(
                "club.message_id_domain is `{domain}`; a domain such as fogpost.club.example would do"
            )));
        }
        let filter = &config.log.filter;
        filter.parse::<Targets>().map_err(|error| {
            value(format!(
                "log.filter is `{filter}`: {error}; `info` would do, or `info,fogpost::post=debug`"
            ))
        })?;
        if config.letters.answers_per_hour == 0 {
            return Err(value(
                "letters.answers_per_hour is 0: nobody would be answered; 20 would do".to_owned(),
            ));
        }
        let hour = config.club.gm.digest_hour;
        if hour > 23 {
            return Err(value(format!("club.gm.digest_hour is {hour}; 0 to 23 would do")));
        }
        Ok(config)
    }

    /// Makes relative paths relative to `folder`.
    fn settle_paths(&mut self, folder: &Path) {
        let settle = |path: &mut PathBuf| {
            if path.is_relative() {
                *path = folder.join(&*path);
            }
        };
        self.inbox.paths().into_iter().for_each(settle);
        self.outbox.paths().into_iter().for_each(settle);
        self.templates.folder.as_mut().into_iter().for_each(settle);
        if let Some(file) = self.database.url.strip_prefix("sqlite:") {
            let mut file = PathBuf::from(file.trim_start_matches("//"));
            settle(&mut file);
            self.database.url = format!("sqlite:{}", file.display());
        }
    }

    /// Passwords from the environment or a file, where the config holds none.
    fn find_passwords(
        &mut self,
        name: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<(), ConfigError> {
        let logins = [
            ("inbox.imap", "FOGPOST_IMAP_PASSWORD", self.inbox.login()),
            ("outbox.smtp", "FOGPOST_SMTP_PASSWORD", self.outbox.login()),
        ];
        for (section, from_environment, login) in logins {
            let Some((password, file)) = login else { continue };
            if let Some(found) = variable(from_environment).filter(|found| !found.is_empty()) {
                *password = Some(Secret::new(found));
            } else if let Some(file) = file {
                let found = std::fs::read_to_string(&*file).map_err(|error| ConfigError::Value {
                    path: name.to_owned(),
                    reason: format!("{section}.password_file {}: {error}", file.display()),
                })?;
                *password = Some(Secret::new(found.trim_end_matches(['\r', '\n'])));
            }
            if password.as_ref().is_some_and(|password| password.reveal().is_empty()) {
                return Err(ConfigError::Value {
                    path: name.to_owned(),
                    reason: format!("{section}: its password is empty"),
                });
            }
            if password.is_none() {
                return Err(ConfigError::Value {
                    path: name.to_owned(),
                    reason: format!(
                        "{section} has no password: give `password_file`, `password`, or {from_environment} in the environment"
                    ),
                });
            }
        }
        Ok(())
    }
}

/// The key on a line of TOML, or the section that it opens, to be put before what is wrong with it.
fn key_at(text: &str, line: usize) -> String {
    let found = text.lines().nth(line - 1).unwrap_or_default().trim();
    match found.split_once('=') {
        _ if found.starts_with('#') => String::new(),
        Some((key, _)) => format!("`{}`: ", key.trim()),
        None if found.starts_with('[') && found.ends_with(']') => format!("`{found}`: "),
        None => String::new(),
    }
}

/// What a parser says, in words for people and with what would do.
fn plain(reason: &str) -> String {
    let example = match reason {
        "invalid socket address syntax" => "; an address and a port such as 127.0.0.1:9118 would do",
        _ if reason.starts_with("failed to parse timezone") => "; a name such as Europe/Berlin would do",
        _ => "",
    };
    let reason = reason
        .replace("wanted exactly 1 element, more than 1 element", "two kinds of it are given; one would do");
    let (said, wanted) = reason.rsplit_once(", expected ").unwrap_or((&reason, ""));
    let number = ["u8", "u16", "u32", "u64", "usize"].contains(&wanted);
    let wanted = if number { "a whole number, 0 or more" } else { wanted };
    let comma = if wanted.is_empty() { "" } else { ", expected " };
    format!("{said}{comma}{wanted}{example}")
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Address, D::Error> {
    let text = String::deserialize(deserializer)?;
    Address::parse(&text).map_err(|_| {
        serde::de::Error::custom(format!("`{text}` is no mail address; name@example.org would do"))
    })
}

fn some_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Address>, D::Error> {
    address(deserializer).map(Some)
}

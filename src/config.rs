//! `config.toml`: the club's name, its mailbox and mail server, and its defaults for matches.
//!
//! Each error is one line that names the key, its line, the value found, and a valid value. Relative paths
//! are relative to the file's folder.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer};
use tracing_subscriber::filter::Targets;

use crate::letter::{Address, Limits, ReturnId};
use crate::post::inbox::Inbox;
use crate::post::{Secret, oauth, text_file};
use crate::referee::Terms;
use crate::store::{self, Database, MAX_CONNECTIONS, MIN_CONNECTIONS, sqlite_url, unverified_server};

mod games;
mod gms;
mod outbox;
pub mod presets;

pub use self::games::{HouseSection, RatingsSection};
pub use self::gms::{Gm, GmIndex, Gms, SharedMailbox};
pub use self::outbox::{OutboxSection, Quota, ReturnPath};

/// The config file that `init` writes. It shows every key with its default.
pub const EXAMPLE: &str = include_str!("../config.example.toml");

/// Minimum of `letters.keep_unruled_days`. The database allows no earlier deletion either.
const MIN_KEEP_DAYS: u32 = 7;

/// All settings of a club.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub club: Club,
    #[serde(default)]
    pub database: DatabaseSection,
    pub inbox: Inbox,
    pub outbox: OutboxSection,
    /// The terms of new matches, unless they are opened with others.
    #[serde(default, rename = "match")]
    pub terms: Terms,
    #[serde(default)]
    pub house: HouseSection,
    #[serde(default)]
    pub ratings: RatingsSection,
    #[serde(default)]
    pub letters: LettersSection,
    #[serde(default)]
    pub templates: TemplateFolder,
    #[serde(default)]
    pub audit: Audit,
    #[serde(default)]
    pub status: StatusPage,
    #[serde(default)]
    pub screen: ScreenSection,
    #[serde(default)]
    pub site: SiteSection,
    #[serde(default)]
    pub log: Log,
    /// The last modification of the config file, or of a file that the mailbox's login needs.
    #[serde(skip)]
    pub login_changed: Option<DateTime<Utc>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Club {
    pub name: String,
    /// The referee's address, to which players write and from which they get letters.
    #[serde(deserialize_with = "address")]
    pub address: Address,
    /// The address for bounces. By default the referee's address.
    pub return_path: Option<ReturnPath>,
    /// Whether the mailbox accepts `local+anything@domain`. If so, Reply-To addresses contain the token, too.
    #[serde(default)]
    pub plus_addresses: bool,
    /// Domain of our Message-IDs. We recognize our own letters by it, so nobody else may use it. By default
    /// `fogpost.` and the domain of the referee's address.
    pub message_id_domain: Option<String>,
    /// Whether unregistered people may make and take up offers.
    #[serde(default)]
    pub membership: Membership,
    /// `[club.gm]`, or several `[[club.gm]]`.
    pub gm: Gms,
}

/// Whether people whom the GM has not registered can play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Membership {
    #[default]
    Open,
    /// The GM approves each of them.
    Approval,
    Closed,
}

impl Club {
    /// Returns the return path of letters without an ID of their own.
    pub fn return_path(&self) -> &Address {
        self.return_path.as_ref().map_or(&self.address, |path| &path.address)
    }

    /// Returns the return path of the letter with this ID.
    pub fn return_path_of(&self, id: Option<&ReturnId>) -> Address {
        match (&self.return_path, id) {
            (Some(path), Some(id)) if path.has_ids => path.of(id),
            (Some(_) | None, _) => self.return_path().clone(),
        }
    }

    /// Whether each letter has a return path of its own.
    pub fn has_return_ids(&self) -> bool {
        self.return_path.as_ref().is_some_and(|path| path.has_ids)
    }

    pub fn message_id_domain(&self) -> String {
        match &self.message_id_domain {
            Some(domain) => domain.to_ascii_lowercase(),
            None => format!("fogpost.{}", self.address.domain()),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DatabaseSection {
    /// `sqlite:FILE` or `postgres://USER@HOST/NAME`.
    pub url: String,
    /// Whether a PostgreSQL server on another machine may be used without `sslmode=verify-full`.
    pub allow_unverified_tls: bool,
    /// Maximum connections to a PostgreSQL server.
    pub max_connections: u32,
    /// Free space in megabytes below which no mail is fetched, so that letters cannot fill the disk.
    pub min_free_mb: u64,
}

impl Default for DatabaseSection {
    fn default() -> Self {
        DatabaseSection {
            url: "sqlite:fogpost.db".to_owned(),
            allow_unverified_tls: false,
            max_connections: MAX_CONNECTIONS,
            min_free_mb: 200,
        }
    }
}

impl DatabaseSection {
    /// Opens the database.
    ///
    /// # Errors
    /// Same as [`store::open`].
    pub async fn open(&self) -> store::Result<Arc<Database>> {
        store::open_with(&self.url, self.max_connections).await
    }

    /// Returns the free megabytes if they are fewer than `min_free_mb`.
    pub fn shortage(&self, free_bytes: u64) -> Option<u64> {
        let free_mb = free_bytes / 1_000_000;
        (free_mb < self.min_free_mb).then_some(free_mb)
    }

    fn check(&self) -> Result<(), String> {
        if self.max_connections < MIN_CONNECTIONS {
            return Err(format!(
                "database.max_connections is {}; a daemon needs at least {MIN_CONNECTIONS}",
                self.max_connections
            ));
        }
        match unverified_server(&self.url) {
            Some(host) if !self.allow_unverified_tls => Err(format!(
                "database.url names the PostgreSQL server {host}, and nothing proves that server's identity; \
                 add sslmode=verify-full to the URL, or set database.allow_unverified_tls = true if you trust the \
                 network in between"
            )),
            Some(_) | None => Ok(()),
        }
    }
}

/// Limits on incoming letters and their answers, and how senders are verified.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LettersSection {
    /// Larger letters are not read; their sender is told.
    pub max_bytes: usize,
    pub max_parts: usize,
    pub max_nesting: usize,
    /// Maximum answers per hour to one address that writes without a token. Others are delayed by up to a
    /// day.
    pub answers_per_hour: u32,
    /// Whether letters from players and the GM must have a valid DKIM signature by their sender's domain.
    pub require_dkim: bool,
    /// Days after which the bytes of letters that caused no ledger entry are deleted; 0 for never.
    pub keep_unruled_days: u32,
    /// The `authserv-id` (RFC 8601) of our own mail server, whose Authentication-Results we trust.
    pub trusted_authserv_id: Option<String>,
    /// Whether that server adds Authentication-Results to every letter, above its own Received. If it does
    /// not, a letter could carry a forged field, so no field counts.
    pub authserv_marks_every_letter: bool,
}

impl Default for LettersSection {
    fn default() -> Self {
        let limits = Limits::default();
        LettersSection {
            max_bytes: limits.max_bytes,
            max_parts: limits.max_parts,
            max_nesting: limits.max_nesting,
            answers_per_hour: 20,
            require_dkim: false,
            keep_unruled_days: 90,
            trusted_authserv_id: None,
            authserv_marks_every_letter: false,
        }
    }
}

impl LettersSection {
    /// Returns the `authserv-id` of the server whose Authentication-Results count, if there is one.
    pub fn trusted_authserv_id(&self) -> Option<&str> {
        self.trusted_authserv_id.as_deref().filter(|_| self.authserv_marks_every_letter)
    }

    pub fn limits(&self) -> Limits {
        let LettersSection { max_bytes, max_parts, max_nesting, .. } = *self;
        Limits { max_bytes, max_parts, max_nesting, ..Limits::default() }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TemplateFolder {
    /// Files in this folder override the built-in templates with the same path, such as `match/report.txt`.
    pub folder: Option<PathBuf>,
}

/// The regular verification of ledgers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Audit {
    /// Hours between two verifications of all matches; 0 for never.
    pub every_hours: u32,
}

impl Default for Audit {
    fn default() -> Self {
        Audit { every_hours: 24 }
    }
}

/// The HTTP page for monitoring.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StatusPage {
    /// The address of the page, such as `127.0.0.1:9118`. Without it, there is no page.
    pub listen: Option<SocketAddr>,
}

/// The GM's screen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScreenSection {
    /// The address of the screen, such as `127.0.0.1:9119`. Without it, there is no screen.
    pub listen: Option<SocketAddr>,
}

impl ScreenSection {
    fn check(&self) -> Result<(), String> {
        match self.listen {
            Some(listen) if !listen.ip().is_loopback() => Err(format!(
                "screen.listen is {listen}, which other machines could reach; try 127.0.0.1:{}, and from elsewhere \
                 `ssh -L`",
                listen.port()
            )),
            Some(_) | None => Ok(()),
        }
    }
}

/// The club's site: plain files that any web server can serve.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SiteSection {
    /// The folder into which the daemon writes the site. Without it, only `fogpost site build` makes one.
    pub folder: Option<PathBuf>,
    /// The URL at which the folder is served. If set, results link to their replays, and letters that ask for orders to
    /// the page on which they can be composed.
    pub url: Option<String>,
    /// Whether letters link that page.
    pub board_links: bool,
}

impl Default for SiteSection {
    fn default() -> SiteSection {
        SiteSection { folder: None, url: None, board_links: true }
    }
}

impl SiteSection {
    /// Returns the URL of a match's replay.
    pub fn replay_url(&self, match_id: &str) -> Option<String> {
        self.url.as_ref().map(|url| format!("{}/matches/{match_id}/", url.trim_end_matches('/')))
    }

    /// Returns the URL of the page on which readers compose letters, if letters link it.
    pub fn board_page(&self) -> Option<String> {
        let url = self.url.as_ref().filter(|_| self.board_links)?;
        // Only a web server knows which page of a folder is meant.
        let page = if url.starts_with("file:") { "index.html" } else { "" };
        Some(format!("{}/play/{page}", url.trim_end_matches('/')))
    }

    fn check(&self) -> Result<(), String> {
        match &self.url {
            Some(url)
                if !["https://", "http://", "file:///"].iter().any(|start| url.starts_with(start))
                    || url.contains(char::is_whitespace) =>
            {
                Err(format!("site.url is `{url}`; try https://club.example"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// The level (`error`, `warn`, `info` or `debug`), or a filter such as `fogpost=debug`.
    pub filter: String,
    /// Whether the log is JSON, one object per line.
    pub json: bool,
}

/// The words of a log filter that mean a level.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The crates, apart from fogpost, whose level a log filter can set.
const LOGGING_CRATES: [&str; 9] =
    ["sqlx", "axum", "hyper", "hyper_util", "rustls", "tokio", "mail_auth", "imap", "h2"];

impl Log {
    /// # Errors
    /// Returns a sentence if the filter cannot be read, or names a level or a part of the program that does
    /// not exist: such a filter would silently log nothing.
    fn check(&self) -> Result<(), String> {
        let fault = |why: String| {
            format!(
                "log.filter is `{}`: {why}; try `info` or `info,fogpost_post=debug`, with the levels {}",
                self.filter,
                LEVELS.join(", ")
            )
        };
        if let Err(error) = self.filter.parse::<Targets>() {
            return Err(fault(error.to_string()));
        }
        for directive in self.filter.split(',') {
            // `Targets` would read these as the name of a part, and log nothing.
            if directive.is_empty() || directive.trim() != directive {
                return Err(fault("it must contain neither spaces nor empty parts".to_owned()));
            }
            let is_level = LEVELS.iter().any(|level| level.eq_ignore_ascii_case(directive));
            let target = directive.split('=').next().unwrap_or_default();
            if !is_level && !is_target(target) {
                return Err(fault(format!("there is no level or part `{target}`")));
            }
        }
        Ok(())
    }
}

/// Whether a part of the program that logs has this name.
fn is_target(target: &str) -> bool {
    let mut parts = target.split("::");
    match (parts.next(), parts.next()) {
        (Some("fogpost"), None) => true,
        (Some("fogpost"), Some(room)) => ROOMS_THAT_LOG.contains(&room),
        (Some(name), _) => LOGGING_CRATES.contains(&name),
        (None, _) => false,
    }
}

/// The parts of this program that log.
const ROOMS_THAT_LOG: [&str; 6] = ["store", "post", "config", "desk", "daemon", "cli"];

impl Default for Log {
    fn default() -> Self {
        Log { filter: "info".to_owned(), json: false }
    }
}

/// A config file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{path}: {error}; `fogpost init` writes one to start from")]
    Missing { path: String, error: std::io::Error },
    #[error("{path} cannot be read: {error}")]
    Unreadable { path: String, error: std::io::Error },
    #[error("{path}, line {line}: {reason}")]
    Fault { path: String, line: usize, reason: String },
    #[error("{path}: {reason}")]
    Value { path: String, reason: String },
}

impl Config {
    /// Returns the selectors under which the mail provider publishes DKIM keys for the club's domain, as far as they
    /// are known.
    pub fn dkim_selectors(&self) -> Vec<String> {
        let domain = self.club.address.domain();
        let host = self.outbox.way.smtp_host();
        host.map(|host| presets::dkim_selectors(host, domain).to_vec()).unwrap_or_default()
    }

    /// Reads the file at `path`, and the passwords to which it refers.
    ///
    /// # Errors
    /// [`ConfigError`] if a file cannot be read or the config is faulty; it is one line for the terminal.
    pub fn load_with_passwords(path: &Path) -> Result<Config, ConfigError> {
        let mut config = Config::load(path)?;
        config
            .read_passwords(|variable| std::env::var(variable).ok())
            .map_err(|reason| ConfigError::Value { path: path.display().to_string(), reason })?;
        let files = config.inbox.paths().into_iter().map(|file| file.as_path()).chain([path]);
        let changes = files.filter_map(|file| file.metadata().ok()?.modified().ok());
        config.login_changed = changes.max().map(DateTime::from);
        Ok(config)
    }

    /// Reads the file at `path`, without the passwords to which it refers: only the service may have access
    /// to them, and most commands use neither the mailbox nor the mail server.
    ///
    /// # Errors
    /// [`ConfigError`] if the file cannot be read or is faulty; it is one line for the terminal.
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        let name = path.display().to_string();
        let text = text_file::read(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => ConfigError::Missing { path: name.clone(), error },
            _ => ConfigError::Unreadable { path: name.clone(), error },
        })?;
        let mut config = Config::parse(&text, &name)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        config.resolve_paths(folder);
        Ok(config)
    }

    /// Parses and checks the text of a config file called `name`.
    ///
    /// # Errors
    /// [`ConfigError`] if the text is faulty; it names the key, its line, the value found, and a valid one.
    pub fn parse(text: &str, name: &str) -> Result<Config, ConfigError> {
        let config: Config = toml::from_str(text).map_err(|error| fault(text, name, &error))?;
        config.check().map_err(|reason| ConfigError::Value { path: name.to_owned(), reason })?;
        Ok(config)
    }

    /// Checks values that their types do not restrict.
    fn check(&self) -> Result<(), String> {
        self.terms.check().map_err(|says| format!("match.{says}"))?;
        if self.terms.event.is_some() {
            return Err("match.event is set by the plan of an event; see fogpost event new".to_owned());
        }
        if self.terms.advance {
            return Err(
                "match.advance is a default of matches against the house; try house.advance".to_owned()
            );
        }
        self.inbox.check_login()?;
        self.inbox.check_server()?;
        self.inbox.check_folders()?;
        self.outbox.way.check_login()?;
        self.outbox.way.check_server()?;
        self.database.check()?;
        self.house.check()?;
        self.ratings.check()?;
        let own = &self.club.address;
        // lettre, which assembles our letters, refuses such a sender, as do many mail servers.
        if own.as_str().parse::<lettre::Address>().is_err() {
            return Err(format!(
                "club.address is `{own}`, which not every mail server takes; try referee@club.example"
            ));
        }
        let domain = self.club.message_id_domain();
        if !domain.is_ascii() || Address::parse(&format!("id@{domain}")).is_err() {
            let example = "try a domain such as fogpost.club.example";
            return Err(format!("club.message_id_domain is `{domain}`; {example}"));
        }
        self.log.check()?;
        self.screen.check()?;
        self.site.check()?;
        if self.letters.answers_per_hour == 0 {
            return Err("letters.answers_per_hour is 0, so nobody would get an answer; try 20".to_owned());
        }
        for (key, value, example) in
            [("max_bytes", self.letters.max_bytes, 10_000_000), ("max_parts", self.letters.max_parts, 100)]
        {
            if value == 0 {
                return Err(format!("letters.{key} is 0, so no letter could be read; try {example}"));
            }
        }
        let days = self.letters.keep_unruled_days;
        if (1..MIN_KEEP_DAYS).contains(&days) {
            return Err(format!(
                "letters.keep_unruled_days is {days}; it must be at least {MIN_KEEP_DAYS}, or 0 to keep all letters"
            ));
        }
        self.club.gm.check()
    }

    /// Resolves relative paths against `folder`.
    fn resolve_paths(&mut self, folder: &Path) {
        let resolve = |path: &mut PathBuf| {
            if path.is_relative() {
                *path = folder.join(&*path);
            }
        };
        self.inbox.keep_written_path();
        self.inbox.paths().into_iter().for_each(resolve);
        self.outbox.way.paths().into_iter().for_each(resolve);
        self.templates.folder.as_mut().into_iter().for_each(resolve);
        self.site.folder.as_mut().into_iter().for_each(resolve);
        if let Some(file) = self.database.url.strip_prefix("sqlite:") {
            let file = file.trim_start_matches("//");
            let folder = if Path::new(file).is_relative() { folder } else { Path::new("") };
            self.database.url = sqlite_url(&folder.join("")) + file;
        }
    }

    /// Returns the files that hold passwords, tokens and keys.
    pub fn password_files(&mut self) -> Vec<PathBuf> {
        let tokens: Vec<PathBuf> =
            self.oauth_logins().into_iter().flat_map(oauth::OauthLogin::secret_files).collect();
        let logins = [self.inbox.login(), self.outbox.way.login()];
        logins.into_iter().flatten().filter_map(|(_, file)| file.clone()).chain(tokens).collect()
    }

    /// Returns the logins by OAuth, each once.
    pub fn oauth_logins(&self) -> Vec<&oauth::OauthLogin> {
        let mut logins: Vec<&oauth::OauthLogin> =
            self.inbox.oauth().into_iter().chain(self.outbox.way.oauth()).collect();
        logins.dedup_by_key(|login| &login.token_file);
        logins
    }

    /// Reads passwords from the environment, which takes precedence, or from files.
    fn read_passwords(&mut self, variable: impl Fn(&str) -> Option<String>) -> Result<(), String> {
        let logins = [
            ("inbox.imap", "FOGPOST_IMAP_PASSWORD", self.inbox.login()),
            ("outbox.smtp", "FOGPOST_SMTP_PASSWORD", self.outbox.way.login()),
        ];
        for (section, variable_name, login) in logins {
            let Some((password, file)) = login else { continue };
            if let Some(found) = variable(variable_name).filter(|found| !found.is_empty()) {
                *password = Some(Secret::new(found));
            } else if let Some(file) = file {
                let found = Secret::in_file(file)
                    .map_err(|error| format!("{section}.password_file {}: {error}", file.display()))?;
                *password = Some(found);
            }
            match password {
                Some(password) if password.reveal().is_empty() => {
                    let place = file
                        .as_ref()
                        .map_or(String::new(), |file| format!("; write it into {}", file.display()));
                    return Err(format!("{section} has an empty password{place}"));
                }
                Some(_) => {}
                None => {
                    return Err(format!(
                        "{section} has no password: set `password_file`, `password`, or {variable_name} in the environment"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Turns a parser's error into one line.
fn fault(text: &str, name: &str, error: &toml::de::Error) -> ConfigError {
    let start = error.span().map_or(0, |span| span.start);
    let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
    let message = error.message().lines().collect::<Vec<_>>().join(" ");
    // The parser reports a missing section as a fault of the whole file.
    if let (0, Some(section)) = (start, message.strip_prefix("missing field ").filter(|_| line == 1)) {
        let section = section.trim_matches('`');
        let reason =
            format!("the section [{section}] is missing; `fogpost init` writes a config with all of them");
        return ConfigError::Fault { path: name.to_owned(), line: text.lines().count(), reason };
    }
    let reason = format!("{}{}", key_at(text, line), reword(&message));
    ConfigError::Fault { path: name.to_owned(), line, reason }
}

/// Returns the key or the section on a line of TOML, as the beginning of an error message.
fn key_at(text: &str, line: usize) -> String {
    let found = text.lines().nth(line - 1).unwrap_or_default().trim();
    match found.split_once('=') {
        _ if found.starts_with('#') => String::new(),
        Some((key, _)) => format!("`{}`: ", key.trim()),
        None if found.starts_with('[') && found.ends_with(']') => format!("`{found}`: "),
        None => String::new(),
    }
}

/// Rewords a parser's message for people, and adds an example where it helps.
fn reword(message: &str) -> String {
    if let Some(reworded) = reword_type(message) {
        return reworded;
    }
    let example = match message {
        "invalid socket address syntax" => "; try an address and a port such as 127.0.0.1:9118",
        _ => "",
    };
    let message =
        message.replace("wanted exactly 1 element, more than 1 element", "two kinds are given; remove one");
    // Replace the Rust types in the parser's message, which mean nothing to the reader.
    match message.rsplit_once(", expected ") {
        Some((found, "u8" | "u16" | "u32" | "u64" | "usize")) => {
            format!("{found}, expected a whole number, 0 or more{example}")
        }
        Some((found, "i32")) => format!("{found}, expected a whole number"),
        _ => format!("{message}{example}"),
    }
}

/// Rewords an error about a value of the wrong type. Suggests a valid value, derived from the wrong one if
/// possible.
fn reword_type(message: &str) -> Option<String> {
    let (found, expected) = message.split_once(", expected ")?;
    let (kind, value) = found.split_once(": ")?.1.split_once(' ')?;
    let value = value.trim_matches('`');
    let bare = value.trim_matches('"');
    let is_number = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit());
    Some(match expected {
        "u16" if is_number && kind != "string" => {
            format!("{bare} is not a port; a port is from 1 to 65535, such as 993")
        }
        "a sequence" => format!("it must be a list in brackets, such as [{value}]"),
        "a boolean" => format!("it is {value}; it must be true or false, without quotes"),
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" if kind == "string" && is_number => {
            format!("it must be a number without quotes: {bare}")
        }
        "a string" if matches!(kind, "integer" | "float" | "boolean") => {
            format!("it must be in quotes: \"{value}\"")
        }
        _ => return None,
    })
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Address, D::Error> {
    let text = String::deserialize(deserializer)?;
    Address::parse_given(&text)
        .map_err(|fault| serde::de::Error::custom(format!("`{text}` is {fault}; try name@example.org")))
}

//! The PostgreSQL server that a URL names: how to reach it, and why it cannot be used.

use std::borrow::Cow;
use std::net::IpAddr;
use std::str::FromStr as _;
use std::time::{Duration, Instant};

use sqlx::migrate::MigrateError;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{AssertSqlSafe, Connection as _, FromRow, PgConnection};

use super::{Result, StoreError};

/// Age at which a connection is replaced: after a failover, it may still lead to the former primary.
pub const MAX_AGE: Duration = Duration::from_secs(600);

/// The fewest connections that a daemon uses: one for its locks, and two, so that a long statement does not make
/// all others wait.
pub const MIN_CONNECTIONS: u32 = 3;

/// Connections that a daemon leaves to commands if the server permits few.
const LEFT_TO_COMMANDS: u32 = 2;

/// Time to wait for a server that starts, or that has no connection left.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time between two attempts to connect.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// Encodings in which every letter can be stored. `SQL_ASCII` takes any bytes.
const USABLE_ENCODINGS: [&str; 2] = ["UTF8", "SQL_ASCII"];

/// Selects the encoding, the connections that the server permits this user, and a parameter of the startup packet,
/// which a pooler may have dropped. `reserved_connections` is new in PostgreSQL 16.
const ABOUT: &str = "SELECT current_setting('server_encoding'), (SELECT LEAST(NULLIF(r.rolconnlimit, -1), \
    NULLIF(d.datconnlimit, -1), current_setting('max_connections')::int \
    - current_setting('superuser_reserved_connections')::int \
    - COALESCE(current_setting('reserved_connections', true), '0')::int)::text \
    FROM pg_roles r, pg_database d WHERE r.rolname = current_user AND d.datname = current_database()), \
    current_setting('fogpost.direct', true)";

/// Signs that end the user and the password in a URL, and how they are written there.
const ESCAPES: [(char, &str); 3] = [('#', "%23"), ('/', "%2F"), ('?', "%3F")];

/// What is said of several hosts.
const SEVERAL_HOSTS: &str = "its URL names several hosts, but this program connects to one server; name one, or an \
                             address that follows the primary";

/// What is said of a pooler that shares sessions.
const SHARES_SESSIONS: &str = "a pooler in between gives each transaction another session (pool_mode = transaction), \
    which loses this program's locks; set pool_mode = session for this database, or name the server itself in \
    database.url";

/// Returns how to connect to the server that a URL names.
///
/// # Errors
/// [`StoreError::Open`] if the URL is malformed, with the way to write it.
pub fn options_of(url: &str) -> Result<PgConnectOptions> {
    if let Some(fault) = fault_of(url) {
        return Err(StoreError::misnamed(fault));
    }
    let parsed = PgConnectOptions::from_str(url).map_err(|error| {
        StoreError::misnamed(format!(
            "{error}; its URL must look like postgres://user:password@host:5432/name, with %23, %2F, %3F and %40 for \
             `#`, `/`, `?` and `@` in the password"
        ))
    });
    let mut options = parsed?;
    if options.get_host().contains(',') {
        return Err(StoreError::misnamed(SEVERAL_HOSTS));
    }
    // sqlx leaves an IPv6 address in its brackets.
    if let Some(ip) = options.get_host().strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        let ip = ip.to_owned();
        options = options.host(&ip);
    }
    // A URL may set a limit of its own.
    let has_limit = options.get_options().is_some_and(|given| given.contains("lock_timeout"));
    if !has_limit {
        // Another program's session may hold a row for hours.
        options = options.options([("lock_timeout", "5s")]);
    }
    Ok(options.application_name("fogpost").options([
        // With these, the server frees the locks of a vanished machine after 11 seconds instead of two hours.
        ("tcp_keepalives_idle", "5"),
        ("tcp_keepalives_interval", "2"),
        ("tcp_keepalives_count", "3"),
        // Shows whether these parameters have arrived.
        ("fogpost.direct", "yes"),
    ]))
}

/// Returns what is wrong with a URL that would otherwise be taken for another one.
fn fault_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let (authority, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let escape = |sign: char| ESCAPES.iter().find(|(escaped, _)| *escaped == sign);
    // An `@` may stand in the value of a parameter, but in no name of a database.
    let is_cut = behind.split_once('@').is_some_and(|(before, _)| !before.contains('='));
    let sign = if behind.contains('#') { Some('#') } else { behind.chars().next().filter(|_| is_cut) };
    if let Some((sign, escaped)) = sign.and_then(escape) {
        return Some(format!("a `{sign}` in a password must be written {escaped} in its URL"));
    }
    let hosts = authority.rsplit('@').next().unwrap_or_default();
    hosts.contains(',').then(|| SEVERAL_HOSTS.to_owned())
}

/// Returns the host of the PostgreSQL server that `url` names, if it is another machine and the connection
/// does not verify its identity: a machine in between could read and change everything. `sslmode=verify-full`
/// in the URL or in PGSSLMODE turns the verification on.
pub fn unverified_server(url: &str) -> Option<String> {
    if !url.starts_with("postgres") {
        return None;
    }
    let options = options_of(url).ok()?;
    let host = options.get_host();
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let is_local = options.get_socket().is_some()
        || host.starts_with('/')
        || name == "localhost"
        // RFC 6761, 6.3
        || name.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
    match options.get_ssl_mode() {
        PgSslMode::VerifyFull => None,
        _ if is_local => None,
        _ => Some(host.to_owned()),
    }
}

/// Returns the database and its server, without the password: `club on db.example:5432`.
pub fn place_of(options: &PgConnectOptions) -> String {
    let name = options.get_database().unwrap_or(options.get_username());
    match options.get_socket() {
        Some(folder) => format!("{name} on {}", folder.display()),
        None => format!("{name} on {}:{}", options.get_host(), options.get_port()),
    }
}

/// Whether the server takes writes at present: it is not a standby, and nobody has made it read-only.
pub async fn is_writable(connection: &mut PgConnection) -> sqlx::Result<bool> {
    let sql = "SELECT current_setting('transaction_read_only') = 'off'";
    sqlx::query_scalar(sql).fetch_one(connection).await
}

/// Checks that the server can be used, and returns how many connections a daemon may open there: at most `wanted`,
/// and fewer if the server permits few, so that commands can connect as well.
///
/// # Errors
/// [`StoreError::Open`] with the reason and what to do about it.
pub async fn examine(options: &PgConnectOptions, wanted: u32) -> Result<u32> {
    let mut connection = connect(options).await.map_err(|error| explain(options, &error))?;
    // By the simple protocol, because a pooler may give each message of the extended one another session.
    let row = sqlx::raw_sql(ABOUT).fetch_one(&mut connection).await?;
    let (encoding, permitted, direct): (String, Option<String>, Option<String>) = FromRow::from_row(&row)?;
    if !USABLE_ENCODINGS.contains(&encoding.as_str()) {
        let user = options.get_username();
        let why = format!(
            "its encoding is {encoding}, in which not every letter can be stored; make a database in UTF8 and name it \
             in database.url: createdb --template=template0 --encoding=UTF8 --locale=C --owner={user} NAME"
        );
        return Err(unusable_server(options, why, false));
    }
    if direct.is_none() && shares_sessions(options, &mut connection).await? {
        return Err(unusable_server(options, SHARES_SESSIONS.to_owned(), false));
    }
    connection.close().await?;
    let permitted = permitted.and_then(|limit| limit.parse().ok()).unwrap_or(u32::MAX);
    Ok(wanted.min(permitted.saturating_sub(LEFT_TO_COMMANDS).max(MIN_CONNECTIONS)))
}

/// Connects once the server has a connection to give, which may take a moment.
async fn connect(options: &PgConnectOptions) -> sqlx::Result<PgConnection> {
    let began = Instant::now();
    loop {
        match PgConnection::connect_with(options).await {
            // 53300: too many connections; 57P03: the server is starting.
            Err(error) if matches!(&*code(&error), "53300" | "57P03") && began.elapsed() < PATIENCE => {
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
            connected => return connected,
        }
    }
}

/// Whether a session keeps nothing for its client: another one finds what this one has set. A pooler hands out
/// first the session that it got back last.
async fn shares_sessions(options: &PgConnectOptions, connection: &mut PgConnection) -> Result<bool> {
    let mark = getrandom::u64().map_err(|error| StoreError::Unsound(error.to_string()))?;
    let set = format!("SELECT set_config('fogpost.session', '{mark}', false)");
    sqlx::raw_sql(AssertSqlSafe(set)).execute(connection).await?;
    let mut other = connect(options).await.map_err(|error| explain(options, &error))?;
    let get = sqlx::raw_sql("SELECT current_setting('fogpost.session', true)");
    let (found,): (Option<String>,) = FromRow::from_row(&get.fetch_one(&mut other).await?)?;
    other.close().await?;
    Ok(found == Some(mark.to_string()))
}

/// Explains why the server cannot be used.
fn explain(options: &PgConnectOptions, error: &sqlx::Error) -> StoreError {
    let message = match error.as_database_error() {
        Some(refusal) => refusal.message().to_owned(),
        None => error.to_string(),
    };
    let advice = match &*code(error) {
        "53300" => "; see database.max_connections",
        // PgBouncer has no code of its own for this.
        _ if message.contains("unsupported startup parameter") => {
            "; a pooler is in between: name the server itself in database.url, or set pool_mode = session and \
             ignore_startup_parameters = extra_float_digits, options in the pooler"
        }
        _ => "",
    };
    // Classes 28 and 3D: the server rejects this user, or has no such database, and retrying does not help.
    // https://www.postgresql.org/docs/current/errcodes-appendix.html
    let is_lasting = ["28", "3D"].iter().any(|class| code(error).starts_with(class));
    unusable_server(options, format!("{message}{advice}"), !is_lasting)
}

/// Explains a lack of rights on the tables, or on their schema: since PostgreSQL 15, only the owner of a database may
/// create any in it.
pub fn explain_rights(options: &PgConnectOptions, error: StoreError) -> StoreError {
    let of_server = match &error {
        StoreError::Database(error)
        | StoreError::Migrate(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => {
            error
        }
        _ => return error,
    };
    let Some(message) =
        of_server.as_database_error().filter(|_| code(of_server) == "42501").map(|refusal| refusal.message())
    else {
        return error;
    };
    let user = options.get_username();
    let name = options.get_database().unwrap_or(options.get_username());
    let why = format!(
        "{message}; give {user} the rights, as a superuser: ALTER DATABASE {name} OWNER TO {user}, or in {name}: \
         GRANT ALL ON SCHEMA public TO {user}; GRANT ALL ON ALL TABLES IN SCHEMA public TO {user}"
    );
    unusable_server(options, why, false)
}

/// Returns the error of a server that cannot be used.
pub fn unusable_server(options: &PgConnectOptions, why: String, transient: bool) -> StoreError {
    StoreError::Open { database: place_of(options), why, transient }
}

/// Returns the SQLSTATE of an error, or nothing.
fn code(error: &sqlx::Error) -> Cow<'_, str> {
    error.as_database_error().and_then(|refusal| refusal.code()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        options_of(url).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_sign_that_cuts_a_password_short_is_named_with_its_escape() {
        let url = |password: String| format!("postgres://fog:{password}@127.0.0.1:5432/club");
        for (sign, escaped) in ESCAPES {
            for password in ["p{}a", "12{}a", "{}", "a@b{}c", "1{}2{}3"] {
                let raw = url(password.replace("{}", &sign.to_string()));
                let said = refusal(&raw);
                let expected = format!("a `{sign}` in a password must be written {escaped}");
                assert!(said.contains(&expected), "{raw}: {said}");
                let found = options_of(&url(password.replace("{}", escaped))).expect("it is escaped");
                let place = (found.get_host(), found.get_port(), found.get_database());
                assert_eq!(place, ("127.0.0.1", 5432, Some("club")));
            }
        }
        let said = refusal("postgres://fog:a?b=c@host/club");
        assert!(said.contains("%3F") && !said.contains("b=c"), "{said}");
        for url in [
            "postgres:///club?host=/tmp/x@y&user=a@b",
            "postgres://fog:a@b@host/club",
            "postgres://host/club?password=x%23y",
        ] {
            assert_eq!(refusal(url), "", "{url}");
        }
    }

    #[test]
    fn several_hosts_are_refused_by_name() {
        for url in [
            "postgres://fog@a:5432,b:5433/club",
            "postgres://fog@a,b/club",
            "postgres:///club?host=a,b",
            "postgres://fog:x@[::1]:5432,[::2]:5432/club",
        ] {
            assert!(refusal(url).contains("several hosts"), "{url}: {}", refusal(url));
        }
        assert_eq!(refusal("postgres://fog:a,b@host/club,old"), "");
    }

    #[test]
    fn every_name_of_this_machine_is_local() {
        for host in [
            "[::1]",
            "127.0.0.1",
            "127.8.9.10",
            "localhost",
            "LOCALHOST",
            "localhost.",
            "db.localhost",
            "[::ffff:127.0.0.1]",
        ] {
            assert_eq!(unverified_server(&format!("postgres://fog@{host}:5432/club")), None, "{host}");
        }
        for (host, shown) in
            [("db.example", "db.example"), ("[2001:db8::1]", "2001:db8::1"), ("10.0.0.1", "10.0.0.1")]
        {
            let url = format!("postgres://fog@{host}:5432/club");
            assert_eq!(unverified_server(&url).as_deref(), Some(shown), "{host}");
            assert_eq!(unverified_server(&format!("{url}?sslmode=verify-full")), None, "{host}");
        }
    }
}

//! A login by OAuth that several daemons share: its tokens are in their database, sealed with a key that each has.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::Duration;

use chrono::Utc;
use fogpost::config::{Config, DatabaseSection, Quota};
use fogpost::daemon::share_logins;
use fogpost::daemon::status::{SILENT_AFTER, Status};
use fogpost::post::maildir;
use fogpost::post::oauth::Settings;
use fogpost::post::outbox::Outbox;
use fogpost::store;
use futures_util::future::join_all;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::fakes::imap;
use crate::fakes::smtp::Smtp;
use crate::fakes::tokens::Tokens;
use crate::oauth::{inbox_with, outbox_with, send, smtp_with_oauth, xoauth2};
use crate::place::Place;
use crate::support::{PATIENCE, drain, letter, subjects};

/// Another key than any that is made.
const OTHER_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// A database, a token server, and a folder for keys.
struct Club {
    place: Place,
    server: Tokens,
    folder: TempDir,
}

/// An empty club on each kind of database.
async fn clubs() -> Vec<Club> {
    let mut places = vec![Place::sqlite().await];
    places.extend(Place::postgres().await);
    let mut clubs = Vec::new();
    for place in places {
        let folder = TempDir::new().expect("a folder");
        clubs.push(Club { place, server: Tokens::start().await, folder });
    }
    clubs
}

impl Club {
    fn config(&self, key: &str) -> String {
        let url = format!("http://127.0.0.1:{}", self.server.port);
        let key = self.folder.path().join(key).display().to_string();
        format!(
            "[club]\nname = 'Club'\naddress = 'referee@club.test'\n[club.gm]\nname = 'GM'\naddress = 'gm@gm.test'\n\
             [inbox.maildir]\npath = 'in'\n[outbox.smtp]\nhost = '127.0.0.1'\nuser = 'gm@club.test'\n\
             [outbox.smtp.oauth]\nclient_id = 'club'\ntoken_url = '{url}/token'\ndevice_url = '{url}/device'\n\
             scopes = ['offline_access']\nsecret_key_file = '{key}'\n"
        )
    }

    /// Returns the login as a daemon has it that knows this key.
    async fn daemon(&self, key: &str) -> Settings {
        daemon(self.place.url.clone(), self.config(key)).await
    }

    /// Logs in as a person does. The access token is good for so many seconds.
    async fn log_in(&self, login: &Settings, lifetime: u64) {
        login.prepare_key(false).await.expect("a key");
        self.finish_login(login, lifetime).await;
    }

    async fn finish_login(&self, login: &Settings, lifetime: u64) {
        self.server.state().lifetime = lifetime;
        let waiting = login.begin_device_login().await.expect("begun");
        login.finish_device_login(&waiting).await.expect("logged in");
        self.server.state().lifetime = 3600;
    }

    /// How often a daemon asked for new tokens.
    fn renewals(&self) -> usize {
        self.server.state().count("refresh_token")
    }

    async fn wait_for_a_renewal(&self) {
        let asked = async {
            while self.renewals() == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, asked).await.expect("in time");
    }

    async fn status(&self, login: &Settings) -> Status {
        let (config, quota) = (DatabaseSection::default(), Quota::default());
        let status = Status::of(&self.place.store, &config, &quota, Utc::now(), SILENT_AFTER);
        let mut status = status.await.expect("the database answers");
        status.note_logins(&[login]).await;
        status
    }

    /// Makes the database take changes of the login again.
    async fn allow_changes(&self) {
        let sql = match self.place.url.starts_with("sqlite:") {
            true => "DROP TRIGGER trip",
            false => "DROP TRIGGER trip ON login",
        };
        self.place.execute(sql).await.expect("there was one");
    }

    /// Makes the database refuse to change the login.
    async fn refuse_changes(&self) {
        let statements: &[&'static str] = match self.place.url.starts_with("sqlite:") {
            true => &["CREATE TRIGGER trip BEFORE UPDATE OF sealed ON login \
                       BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"],
            false => &[
                "CREATE FUNCTION trip() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$",
                "CREATE TRIGGER trip BEFORE UPDATE OF sealed ON login FOR EACH ROW EXECUTE FUNCTION trip()",
            ],
        };
        for &sql in statements {
            self.place.execute(sql).await.expect("a trigger");
        }
    }
}

/// A daemon's login, with connections to the database that no other has.
async fn daemon(url: String, config: String) -> Settings {
    let store = store::open(&url).await.expect("a database");
    let mut config = Config::parse(&config, "config").expect("a config");
    share_logins(&mut config, &store);
    config.oauth_logins()[0].clone()
}

impl Club {
    /// Writes a config for the program, which sends letters to this server and logs everything.
    fn configure(&self, smtp: &Smtp) {
        let config =
            self.config("club.key").replace("host = '127.0.0.1'", "host = '127.0.0.1'\ntls = 'none'");
        let config = config.replace("user =", &format!("port = {}\nuser =", smtp.port));
        let url = &self.place.url;
        let config = format!("{config}[database]\nurl = '{url}'\n[log]\nfilter = 'trace'\n");
        fs::write(self.folder.path().join("config.toml"), config).expect("written");
        maildir::create(&self.folder.path().join("in")).expect("a mailbox");
    }

    fn program(&self, arguments: &[&str]) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_fogpost"));
        program.args(arguments).current_dir(self.folder.path()).env_remove("FOGPOST_CONFIG");
        program
    }

    /// Runs the program in the club's folder, and returns everything that it prints.
    async fn run(&self, arguments: &[&str]) -> String {
        let ran = timeout(PATIENCE, self.program(arguments).output());
        let ran = ran.await.expect("in time").expect("fogpost runs");
        String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned()
    }

    /// Starts a daemon, which is killed at the latest at the end of the test.
    fn start_daemon(&self) -> Child {
        let mut program = self.program(&["run"]);
        program.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        program.spawn().expect("fogpost runs")
    }

    /// Waits until `fogpost status` counts this many broken logins.
    async fn until_broken_logins(&self, number: u32) {
        let counted = format!("\"logins_broken\":{number}");
        let shown = async {
            while !self.run(&["status", "--json"]).await.contains(&counted) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(PATIENCE, shown).await.expect("in time");
    }

    /// Kills one daemon while it renews the login, lets another find out, and logs in again.
    async fn a_daemon_is_killed_while_it_renews(self) {
        let smtp = smtp_with_oauth().await;
        self.configure(&smtp);
        self.server.state().lifetime = 0;
        let login = self.run(&["login"]).await;
        assert!(login.contains("Logged in"), "{login}");
        self.server.state().lifetime = 3600;
        self.run(&["match", "new", "quad", "Ann <ann@players.test>", "house:easy"]).await;

        self.server.state().holds_renewals = true;
        let mut killed = self.start_daemon();
        self.wait_for_a_renewal().await;
        killed.kill().await.expect("it ran");
        self.server.state().holds_renewals = false;
        // The lease of the killed daemon lapses.
        let lapsed = self.place.execute("UPDATE login SET leased_until = 0 WHERE holder IS NOT NULL").await;
        assert_eq!(lapsed.expect("a table"), 1);
        let _other = self.start_daemon();
        self.until_broken_logins(1).await;
        assert!(smtp.seen().letters.is_empty(), "the provider replaced the refresh token that is stored");

        let login = self.run(&["login"]).await;
        assert!(login.contains("Logged in"), "{login}");
        let sent = async {
            while smtp.seen().letters.is_empty() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(PATIENCE, sent).await.expect("the daemon that runs sends, without a restart");
        self.until_broken_logins(0).await;
    }
}

#[tokio::test]
async fn the_program_logs_in_sends_and_shows_no_secret_even_at_trace_level() {
    for club in clubs().await {
        let smtp = smtp_with_oauth().await;
        smtp.accept_tokens(|token| token == "access-2");
        club.configure(&smtp);
        let login = club.run(&["login"]).await;
        assert!(login.contains("enter the code ABCD-EFGH"), "{login}");
        assert!(login.contains("Logged in; the tokens are in the database, sealed with"), "{login}");
        assert!(login.contains("club.key to every other machine"), "{login}");
        let opened = club.run(&["match", "new", "quad", "Ann <ann@players.test>", "house:easy"]).await;
        let log = club.run(&["run", "--once"]).await;
        assert!(!smtp.seen().letters.is_empty(), "{opened}{log}");
        assert!(log.contains("DEBUG sqlx") && log.contains("login renewed"), "{log}");
        let status = club.run(&["status", "--json"]).await;
        assert!(status.contains("\"logins_broken\":0"), "{status}");
        let doctor = club.run(&["doctor"]).await;
        assert!(doctor.contains("ok    login: logged in"), "{doctor}");
        let key = fs::read_to_string(club.folder.path().join("club.key")).expect("a key");
        let shown = [login, opened, log, status, doctor].concat();
        let on_the_wire = ["access-1", "access-2"].map(xoauth2);
        let secrets = ["refresh-", "access-", key.trim()].into_iter();
        for secret in secrets.chain(on_the_wire.iter().map(String::as_str)) {
            let told: Vec<&str> = shown.lines().filter(|line| line.contains(secret)).take(3).collect();
            assert!(told.is_empty(), "{secret:?} is in {told:#?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_daemons_renew_a_rotated_login_once_each_time_it_ends() {
    for club in clubs().await {
        let daemons = [club.daemon("club.key").await, club.daemon("club.key").await];
        club.log_in(&daemons[0], 0).await;
        let smtp = smtp_with_oauth().await;
        // The first access token expires; the mail server refuses the others.
        for (before, token) in ["access-2", "access-3", "access-4"].into_iter().enumerate() {
            smtp.accept_tokens(move |shown| shown == token);
            let outboxes: Vec<Outbox> =
                (0..8).map(|number| outbox_with(smtp.port, &daemons[number % 2])).collect();
            for sent in join_all(outboxes.iter().map(send)).await {
                sent.expect("taken");
            }
            assert_eq!(club.renewals(), before + 1);
        }
        let requests = club.server.state().requests.clone();
        let used: Vec<&String> = requests.iter().filter_map(|form| form.get("refresh_token")).collect();
        assert_eq!(used, ["refresh-1", "refresh-2", "refresh-3"]);
    }
}

#[tokio::test]
async fn the_mailbox_is_opened_with_the_shared_login() {
    for club in clubs().await {
        let login = club.daemon("club.key").await;
        club.log_in(&login, 0).await;
        let imap = imap::Imap::start(|_, _| imap::Act::Proper).await;
        imap.mail().capabilities = "IMAP4rev1 SASL-IR AUTH=XOAUTH2 MOVE";
        imap.deliver([letter("hello")]);
        let letters = drain(inbox_with(imap.port, &login)).await.expect("drained");
        assert_eq!(subjects(&letters), ["hello"]);
        assert_eq!(club.renewals(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_daemon_died_between_renewal_and_storing_mail_waits_in_the_red_until_a_person_logs_in() {
    for club in clubs().await {
        let login = club.daemon("club.key").await;
        club.log_in(&login, 0).await;
        let smtp = smtp_with_oauth().await;
        club.server.state().holds_renewals = true;
        let dying = Runtime::new().expect("a runtime");
        let its_login = dying.spawn(daemon(club.place.url.clone(), club.config("club.key")));
        let its_outbox = outbox_with(smtp.port, &its_login.await.expect("a daemon"));
        dying.spawn(async move { send(&its_outbox).await });
        club.wait_for_a_renewal().await;
        let dead = tokio::task::spawn_blocking(move || dying.shutdown_timeout(PATIENCE));
        dead.await.expect("its threads end");
        club.server.state().holds_renewals = false;
        // The lease of the dead daemon lapses.
        let lapsed = club.place.execute("UPDATE login SET leased_until = 0 WHERE holder IS NOT NULL").await;
        assert_eq!(lapsed.expect("a table"), 1);

        let out = outbox_with(smtp.port, &login);
        let error = send(&out).await.expect_err("the refresh token was replaced");
        assert!(error.is_transient() && error.is_configuration(), "the letter is not at fault: {error}");
        assert!(error.to_string().contains("run: fogpost login"), "{error}");
        let other = club.daemon("club.key").await;
        let status = club.status(&other).await;
        assert!(
            status.faults.iter().any(|fault| fault.contains("the provider has ended the login")),
            "{:?}",
            status.faults
        );
        assert!(status.metrics().contains("fogpost_logins_broken 1\n"), "{}", status.metrics());
        let asked = club.renewals();
        send(&outbox_with(smtp.port, &other)).await.expect_err("still no token");
        assert_eq!(club.renewals(), asked, "the provider is not asked for every letter");
        assert!(smtp.seen().letters.is_empty());

        club.log_in(&other, 3600).await;
        send(&out).await.expect("taken, by the same outbox");
        assert_eq!(club.status(&login).await.logins_broken, 0);
    }
}

/// The daemon that goes on tries again after a minute, as it does in every outage.
#[tokio::test]
async fn a_daemon_killed_while_it_renews_leaves_mail_waiting_in_the_red_and_a_person_who_logs_in_mends_it() {
    join_all(clubs().await.into_iter().map(Club::a_daemon_is_killed_while_it_renews)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_login_is_not_used_until_the_database_has_taken_it() {
    for club in clubs().await {
        let login = club.daemon("club.key").await;
        club.log_in(&login, 0).await;
        club.refuse_changes().await;
        let smtp = smtp_with_oauth().await;
        let out = outbox_with(smtp.port, &login);
        let sending = tokio::spawn(async move { send(&out).await });
        club.wait_for_a_renewal().await;
        assert_eq!(smtp.seen().count("AUTH"), 0);
        club.allow_changes().await;
        sending.await.expect("no panic").expect("taken");
        assert_eq!((club.renewals(), smtp.seen().count("AUTH")), (1, 1));
        let stored = club.daemon("club.key").await;
        send(&outbox_with(smtp.port, &stored)).await.expect("taken");
        assert_eq!(club.renewals(), 1, "the new token is stored");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_logs_in_while_a_daemon_renews_the_old_login_is_not_overruled() {
    for club in clubs().await {
        let login = club.daemon("club.key").await;
        club.log_in(&login, 0).await;
        let smtp = smtp_with_oauth().await;
        smtp.accept_tokens(|token| token == "access-3");
        club.server.state().holds_renewals = true;
        let out = outbox_with(smtp.port, &login);
        let sending = tokio::spawn(async move { send(&out).await });
        club.wait_for_a_renewal().await;
        club.log_in(&club.daemon("club.key").await, 3600).await;
        club.server.state().holds_renewals = false;
        sending.await.expect("no panic").expect("taken with the token of the new login");
        assert_eq!(club.renewals(), 1);
    }
}

#[tokio::test]
async fn a_login_is_sealed_and_a_wrong_or_missing_key_is_named() {
    for club in clubs().await {
        let login = club.daemon("club.key").await;
        club.log_in(&login, 3600).await;
        let key = club.folder.path().join("club.key");
        assert_eq!(fs::metadata(&key).expect("a file").permissions().mode() & 0o777, 0o600);
        let stored = club.place.store.sealed_login(&login.id()).await.expect("a table").expect("a login");
        let sealed = String::from_utf8_lossy(&stored.sealed).into_owned();
        assert!(!sealed.contains("refresh") && !sealed.contains("access"), "{sealed}");
        let text = fs::read_to_string(&key).expect("a key");
        assert!(!format!("{login:?}").contains(text.trim()), "no key in a log");

        let smtp = smtp_with_oauth().await;
        fs::write(club.folder.path().join("other.key"), OTHER_KEY).expect("written");
        for (name, what) in [("other.key", "does not open the login"), ("none.key", "does not exist")] {
            let stranger = club.daemon(name).await;
            let error = send(&outbox_with(smtp.port, &stranger)).await.expect_err("no key");
            assert!(error.is_configuration(), "{error}");
            let refused = stranger.prepare_key(false).await.expect_err("it would lock the others out");
            for said in [error.to_string(), refused.to_string()] {
                assert!(said.contains("oauth.secret_key_file") && said.contains(name), "{said}");
                assert!(said.contains(what) && said.contains("fogpost login --new-key"), "{said}");
            }
            assert_eq!(club.status(&stranger).await.logins_broken, 1);
        }
        assert!(!club.folder.path().join("none.key").exists());
        send(&outbox_with(smtp.port, &login)).await.expect("the others are not concerned");

        let newcomer = club.daemon("new.key").await;
        newcomer.prepare_key(true).await.expect("a new key");
        club.finish_login(&newcomer, 3600).await;
        send(&outbox_with(smtp.port, &newcomer)).await.expect("taken");
        let error = send(&outbox_with(smtp.port, &login)).await.expect_err("sealed with another key");
        assert!(error.to_string().contains("club.key does not open the login"), "{error}");
    }
}

//! A login by OAuth from the terminal to the mail server: what the program and its daemons do with a token file.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::config::Config;
use fogpost::post::maildir;
use fogpost::post::oauth::OauthLogin;
use fogpost::post::outbox::Outbox;
use futures_util::future::join_all;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::fakes::smtp::Smtp;
use crate::fakes::tokens::Tokens;
use crate::oauth_outbox::{outbox_with, send, smtp_with_oauth, xoauth2};
use crate::place::Place;
use crate::support::PATIENCE;

/// A database, a token server, and the folder of one machine.
struct Club {
    place: Place,
    server: Tokens,
    folder: TempDir,
}

impl Club {
    async fn at(place: Place) -> Club {
        Club { place, server: Tokens::start().await, folder: TempDir::new().expect("a folder") }
    }

    async fn new() -> Club {
        Club::at(Place::sqlite().await).await
    }

    fn config(&self) -> String {
        let url = format!("http://127.0.0.1:{}", self.server.port);
        let file = self.folder.path().join("oauth.token").display().to_string();
        format!(
            "[club]\nname = 'Club'\naddress = 'referee@club.test'\n[club.gm]\nname = 'GM'\naddress = 'gm@gm.test'\n\
             [inbox.maildir]\npath = 'in'\n[outbox.smtp]\nhost = '127.0.0.1'\nuser = 'gm@club.test'\n\
             [outbox.smtp.oauth]\nclient_id = 'club'\ntoken_url = '{url}/token'\ndevice_url = '{url}/device'\n\
             scopes = ['offline_access']\ntoken_file = '{file}'\n"
        )
    }

    fn login(&self) -> OauthLogin {
        let config = Config::parse(&self.config(), "config").expect("a config");
        config.oauth_logins()[0].clone()
    }

    /// Logs in as a person does. The access token is good for so many seconds.
    async fn log_in(&self, login: &OauthLogin, lifetime: u64) {
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

    /// Writes a config for the program, which sends letters to this server and logs everything.
    fn configure(&self, smtp: &Smtp) {
        let config = self.config().replace("host = '127.0.0.1'", "host = '127.0.0.1'\ntls = 'none'");
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

    /// Waits until `fogpost status` says this.
    async fn until_status_says(&self, words: &str) {
        let shown = async {
            while !self.run(&["status", "--json"]).await.contains(words) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(PATIENCE, shown).await.expect("in time");
    }

    /// Makes the last renewal so many days older.
    fn make_older(&self, days: i64) {
        let file = self.folder.path().join("oauth.token");
        let mut tokens: Value = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
        for at in ["/renewed_at", "/access/renew_at"] {
            let time = tokens.pointer_mut(at).expect("a time");
            let then: DateTime<Utc> = time.as_str().expect("a time").parse().expect("a time");
            *time = Value::from((then - TimeDelta::days(days)).to_rfc3339());
        }
        fs::write(file, tokens.to_string()).expect("written");
    }
}

#[tokio::test]
async fn the_program_logs_in_sends_and_shows_no_secret_even_at_trace_level() {
    let club = Club::new().await;
    let smtp = smtp_with_oauth().await;
    smtp.accept_tokens(|token| token == "access-2");
    club.configure(&smtp);
    let login = club.run(&["login"]).await;
    assert!(login.contains("enter the code ABCD-EFGH"), "{login}");
    assert!(login.contains("Logged in; the tokens are in") && login.contains("oauth.token"), "{login}");
    let opened = club.run(&["match", "new", "quad", "Ann <ann@players.test>", "house:easy"]).await;
    let log = club.run(&["run", "--once"]).await;
    assert!(!smtp.seen().letters.is_empty(), "{opened}{log}");
    assert!(log.contains("DEBUG sqlx") && log.contains("login renewed"), "{log}");
    let status = club.run(&["status"]).await;
    assert!(
        status.contains("login         /") && status.contains("renewed less than a minute ago"),
        "{status}"
    );
    let json = club.run(&["status", "--json"]).await;
    assert!(json.contains("\"logins_broken\":0"), "{json}");
    let doctor = club.run(&["doctor"]).await;
    assert!(doctor.contains("ok    login: logged in"), "{doctor}");
    let shown = [login, opened, log, status, json, doctor].concat();
    let on_the_wire = ["access-1", "access-2"].map(xoauth2);
    for secret in ["refresh-", "access-"].into_iter().chain(on_the_wire.iter().map(String::as_str)) {
        let told: Vec<&str> = shown.lines().filter(|line| line.contains(secret)).take(3).collect();
        assert!(told.is_empty(), "{secret:?} is in {told:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_login_is_renewed_once_each_time_it_ends_however_many_use_it() {
    let club = Club::new().await;
    let login = club.login();
    club.log_in(&login, 0).await;
    let smtp = smtp_with_oauth().await;
    // The first access token expires; the mail server refuses the others.
    for (before, token) in ["access-2", "access-3", "access-4"].into_iter().enumerate() {
        smtp.accept_tokens(move |shown| shown == token);
        let outboxes: Vec<Outbox> = (0..8).map(|_| outbox_with(smtp.port, &login)).collect();
        for sent in join_all(outboxes.iter().map(send)).await {
            sent.expect("taken");
        }
        assert_eq!(club.renewals(), before + 1);
    }
    let requests = club.server.state().requests.clone();
    let used: Vec<&String> = requests.iter().filter_map(|form| form.get("refresh_token")).collect();
    assert_eq!(used, ["refresh-1", "refresh-2", "refresh-3"]);
}

/// The daemon that goes on tries again after a minute, as it does in every outage.
#[tokio::test]
async fn a_daemon_killed_while_it_renews_leaves_mail_waiting_in_the_red_and_a_person_who_logs_in_mends_it() {
    let club = Club::new().await;
    let smtp = smtp_with_oauth().await;
    club.configure(&smtp);
    club.server.state().lifetime = 0;
    let login = club.run(&["login"]).await;
    assert!(login.contains("Logged in"), "{login}");
    club.server.state().lifetime = 3600;
    club.run(&["match", "new", "quad", "Ann <ann@players.test>", "house:easy"]).await;

    club.server.state().holds_renewals = true;
    let mut killed = club.start_daemon();
    club.wait_for_a_renewal().await;
    killed.kill().await.expect("it ran");
    club.server.state().holds_renewals = false;
    let _other = club.start_daemon();
    club.until_status_says("\"logins_broken\":1").await;
    assert!(smtp.seen().letters.is_empty(), "the provider replaced the refresh token that is stored");

    let login = club.run(&["login"]).await;
    assert!(login.contains("Logged in"), "{login}");
    let sent = async {
        while smtp.seen().letters.is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, sent).await.expect("the daemon that runs sends, without a restart");
    club.until_status_says("\"logins_broken\":0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_login_is_not_used_until_the_token_file_has_taken_it() {
    let club = Club::new().await;
    let login = club.login();
    club.log_in(&login, 0).await;
    // Nothing can be written in its place.
    let obstacle = club.folder.path().join("oauth.token.new");
    fs::create_dir(&obstacle).expect("a folder");
    let smtp = smtp_with_oauth().await;
    let out = outbox_with(smtp.port, &login);
    let sending = tokio::spawn(async move { send(&out).await });
    club.wait_for_a_renewal().await;
    assert_eq!(smtp.seen().count("AUTH"), 0);
    fs::remove_dir(obstacle).expect("ours");
    sending.await.expect("no panic").expect("taken");
    assert_eq!((club.renewals(), smtp.seen().count("AUTH")), (1, 1));
    send(&outbox_with(smtp.port, &club.login())).await.expect("taken");
    assert_eq!(club.renewals(), 1, "the new token is stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_logs_in_while_a_daemon_renews_the_old_login_is_not_overruled() {
    let club = Club::new().await;
    let login = club.login();
    club.log_in(&login, 0).await;
    let smtp = smtp_with_oauth().await;
    club.server.state().holds_renewals = true;
    let out = outbox_with(smtp.port, &login);
    let sending = tokio::spawn(async move { send(&out).await });
    club.wait_for_a_renewal().await;
    let waiting = login.begin_device_login().await.expect("begun");
    let person = tokio::spawn(async move { login.finish_device_login(&waiting).await });
    while club.server.state().number < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    club.server.state().holds_renewals = false;
    sending.await.expect("no panic").expect("taken");
    person.await.expect("no panic").expect("logged in");
    let stored = fs::read_to_string(club.folder.path().join("oauth.token")).expect("a file");
    assert!(stored.contains("refresh-3"), "{stored}");
    assert_eq!(club.renewals(), 1);
}

#[tokio::test]
async fn a_daemon_that_stands_by_renews_its_login_each_week_although_it_sends_nothing() {
    let mut places = vec![Place::sqlite().await];
    places.extend(Place::postgres().await);
    for place in places {
        let club = Club::at(place).await;
        let smtp = smtp_with_oauth().await;
        club.configure(&smtp);
        // As while another daemon reads the mailbox. A SQLite database has one daemon, which has nothing to do here.
        assert!(club.place.store.try_acquire_lease("maildir in").await.expect("a database"));
        club.log_in(&club.login(), 3600).await;
        club.make_older(5);
        let mut early = club.start_daemon();
        club.until_status_says("\"daemons_working\":1").await;
        early.kill().await.expect("it ran");
        assert_eq!(club.renewals(), 0, "it is not due yet");
        club.make_older(1);
        let _daemon = club.start_daemon();
        club.wait_for_a_renewal().await;
        club.until_status_says("\"logins_broken\":0").await;
        if !club.place.url.starts_with("sqlite:") {
            club.until_status_says("\"last_fetch\":null").await;
        }
        let state = club.login().state().expect("readable").expect("a login");
        assert!(Utc::now() - state.renewed_at < TimeDelta::hours(1));
        assert!(smtp.seen().letters.is_empty());
    }
}

#[tokio::test]
async fn a_login_that_nobody_has_renewed_for_a_week_is_a_fault() {
    let club = Club::new().await;
    club.configure(&smtp_with_oauth().await);
    club.log_in(&club.login(), 3600).await;
    club.make_older(9);
    let status = club.run(&["status"]).await;
    assert!(status.contains("the login to the mailbox has not been renewed for 9 days"), "{status}");
    club.run(&["run", "--once"]).await;
    let status = club.run(&["status"]).await;
    assert!(!status.contains("has not been renewed"), "{status}");
}

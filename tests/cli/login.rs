//! Logins by OAuth that are kept in the database, sealed with a key from a file.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use fogpost::store;
use tokio::runtime::Runtime;

use super::{CONFIG, Folder, assert_says};

const OAUTH: &str = "[inbox.imap]\nhost = \"127.0.0.1\"\nuser = \"referee\"\nport = 1\n\
                     [inbox.imap.oauth]\nclient_id = \"club\"\ntoken_url = \"http://127.0.0.1:1/token\"\n\
                     device_url = \"http://127.0.0.1:1/device\"\nsecret_key_file = \"club.key\"\n";

const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";

/// A club whose login is kept in the database.
fn club() -> Folder {
    let folder = Folder::club();
    folder.write("config.toml", &CONFIG.replace("[inbox.maildir]\npath = \"mail/referee\"\n", OAUTH));
    folder
}

/// Stores what another machine has sealed with its own key.
fn store_a_login(folder: &Folder) {
    let url = format!("sqlite:{}", folder.path("fogpost.db").display());
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = store::open(&url).await.expect("the database");
        store.store_login("http://127.0.0.1:1/token club", b"sealed elsewhere").await.expect("a table");
        store.close().await;
    });
}

#[test]
fn doctor_and_status_name_a_key_that_does_not_open_the_login() {
    let folder = club();
    let said = folder.run(&["doctor"]).stdout();
    assert_says(&said, &["FAULT login: nobody has logged in yet; run: fogpost login"]);
    store_a_login(&folder);
    for (text, what) in [
        (None, "club.key does not exist; copy it from the machine on which `fogpost login` made it"),
        (Some("hunter2\n"), "club.key holds no key; it should hold 32 random bytes in base64"),
        (Some(KEY), "club.key does not open the login in the database: it was sealed with another key"),
    ] {
        if let Some(text) = text {
            folder.write("club.key", text);
        }
        let said = folder.run(&["doctor"]).stdout();
        assert_says(&said, &["FAULT login: oauth.secret_key_file", what]);
        let status = folder.run(&["status"]).stdout();
        assert_says(&status, &["the login to the mailbox cannot be read: oauth.secret_key_file", what]);
        assert!(
            !said.contains("hunter2") && !said.contains(KEY.trim()) && !status.contains(KEY.trim()),
            "{said}"
        );
    }
}

#[test]
fn login_asks_nobody_while_this_machine_lacks_the_key_of_the_others() {
    let folder = club();
    store_a_login(&folder);
    let said = folder.run(&["login"]).failure(1);
    assert_says(&said, &["club.key does not exist; copy it from the machine", "fogpost login --new-key"]);
    assert!(!folder.path("club.key").exists());
    folder.write("club.key", KEY);
    assert_says(&folder.run(&["login"]).failure(1), &["club.key does not open the login in the database"]);
    // With a new key it goes on to the provider, whom nobody plays here.
    assert_says(&folder.run(&["login", "--new-key"]).failure(1), &["cannot reach the token server"]);
}

#[test]
fn inbox_and_outbox_share_a_login_only_with_one_key() {
    let folder = club();
    let oauth = OAUTH.split_once("[inbox.imap.oauth]").expect("a section").1.replace("club.key", "other.key");
    let smtp = format!("[outbox.smtp]\nhost = \"127.0.0.1\"\nuser = \"referee\"\n[outbox.smtp.oauth]{oauth}");
    let config = CONFIG
        .replace("[inbox.maildir]\npath = \"mail/referee\"\n", OAUTH)
        .replace("[outbox.maildir]\npath = \"mail\"\n", &smtp);
    folder.write("config.toml", &config);
    let said = folder.run(&["match", "list"]).failure(1);
    assert_says(
        &said,
        &["inbox.imap.oauth and outbox.smtp.oauth are one login; give both the same secret_key_file"],
    );
    folder.write("config.toml", &config.replace("other.key", "club.key"));
    folder.run(&["match", "list"]).success();
}

#[test]
fn doctor_names_a_key_file_that_others_may_read() {
    let folder = club();
    folder.write("club.key", KEY);
    fs::set_permissions(folder.path("club.key"), fs::Permissions::from_mode(0o644)).expect("ours");
    let said = folder.run(&["doctor"]).stdout();
    assert_says(&said, &["FAULT files: others may read", "club.key (mode 644)"]);
}

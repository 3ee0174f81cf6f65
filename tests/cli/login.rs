//! Logins by OAuth.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{CONFIG, Folder, assert_says};

const OAUTH: &str = "[inbox.imap]\nhost = \"127.0.0.1\"\nuser = \"referee\"\nport = 1\n\
                     [inbox.imap.oauth]\nclient_id = \"club\"\ntoken_url = \"http://127.0.0.1:1/token\"\n\
                     device_url = \"http://127.0.0.1:1/device\"\n";

#[test]
fn doctor_says_that_nobody_has_logged_in_and_names_a_token_file_that_others_may_read() {
    let folder = Folder::club();
    folder.write("config.toml", &CONFIG.replace("[inbox.maildir]\npath = \"mail/referee\"\n", OAUTH));
    let said = folder.run(&["doctor"]).stdout();
    assert_says(&said, &["FAULT login: nobody has logged in yet; run: fogpost login"]);
    folder.write("oauth.token", "{");
    fs::set_permissions(folder.path("oauth.token"), fs::Permissions::from_mode(0o644)).expect("ours");
    let said = folder.run(&["doctor"]).stdout();
    assert_says(&said, &["FAULT files: others may read", "oauth.token (mode 644)"]);
    assert_says(&said, &["FAULT login: ", "oauth.token is damaged; run: fogpost login"]);
}

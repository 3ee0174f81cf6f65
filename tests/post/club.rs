//! A club that reads the mailbox of a fake server.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use fogpost::config::Config;
use fogpost::daemon::Office;
use fogpost::store;
use tempfile::TempDir;

use crate::fakes::imap::Imap;

/// The time at which most clubs are opened.
pub const NOW: &str = "2026-11-07T08:12:00Z";

/// Opens a club that reads this server's mailbox at this time.
pub async fn office(folder: &TempDir, server: &Imap, now: &str) -> Office {
    let config = format!(
        "[club]\nname = \"Club\"\naddress = \"referee@club.test\"\n[club.gm]\nname = \"GM\"\naddress = \"gm@gm.test\"\n\
         [database]\nurl = \"sqlite:{0}/fogpost.db\"\n[inbox.imap]\nhost = \"127.0.0.1\"\nport = {1}\ntls = \"none\"\n\
         user = \"gm\"\npassword = \"hush\"\n[outbox.maildir]\npath = \"{0}/out\"\n",
        folder.path().display(),
        server.port
    );
    let config = Config::parse(&config, "config").expect("a config");
    let store = store::open(&config.database.url).await.expect("a database");
    let now: DateTime<Utc> = now.parse().expect("a time");
    Office::new(config, store, Arc::new(move || now)).expect("an office")
}

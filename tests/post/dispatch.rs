//! The daemon's outbox against a fake server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::Utc;
use fogpost::config::Config;
use fogpost::daemon::{Holder, NamedAddress, NewMatch, Office, instruct, loops, sending};
use fogpost::game::BySeat;
use fogpost::game::any::GameKind;
use fogpost::letter::Address;
use fogpost::post::{ShutdownSignal, maildir};
use fogpost::{house, store};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use crate::fakes::smtp::{Act, Smtp};
use crate::support::PATIENCE;

async fn office(server: &Smtp) -> (TempDir, Arc<Office>) {
    let folder = tempfile::tempdir().expect("a folder");
    maildir::create(&folder.path().join("in")).expect("a mailbox");
    let config = format!(
        "[club]\nname = \"Club\"\naddress = \"referee@club.test\"\n[club.gm]\nname = \"GM\"\naddress = \"gm@club.test\"\n\
         [database]\nurl = \"sqlite:{0}/fogpost.db\"\n[inbox.maildir]\npath = \"{0}/in\"\n\
         [outbox.smtp]\nhost = \"127.0.0.1\"\nport = {1}\ntls = \"none\"\nconnections = 2\n",
        folder.path().display(),
        server.port
    );
    let config = Config::parse(&config, "config").expect("a config");
    let store = store::open(&config.database.url).await.expect("a database");
    (folder, Arc::new(Office::new(config, store, Arc::new(Utc::now)).expect("an office")))
}

/// Opens a match against the house, so that one letter goes out.
async fn invite(office: &Office, name: &str) {
    let address = Address::parse(&format!("{name}@players.test")).expect("an address");
    let player = Holder::Player(NamedAddress { name: name.to_owned(), address });
    let new = NewMatch {
        game: GameKind::Quad,
        choices: Default::default(),
        players: BySeat::new(player, Holder::House(&house::levels(GameKind::Quad)[0])),
        terms: office.config.terms.clone(),
    };
    instruct::open(office, new).await.expect("the match opens");
}

async fn until(what: &str, mut come: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !come().await {
        assert!(began.elapsed() < PATIENCE, "waited for {what}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_server_delays_only_that_reader_and_not_the_shutdown() {
    let hangs = |step: &str, n| if step == "LETTER" && n == 0 { Act::Hang } else { Act::Proper };
    let server = Smtp::start(hangs).await;
    let (_folder, office) = office(&server).await;
    let (stopper, stop) = ShutdownSignal::new();
    let running = tokio::spawn(loops::run(Arc::clone(&office), stop));
    invite(&office, "ann").await;
    until("the first letter", async || server.seen().letters.len() == 1).await;
    // A later letter to the same reader waits for it. Letters to others do not.
    invite(&office, "ann").await;
    for name in ["bo", "cy", "di"] {
        invite(&office, name).await;
    }
    until("the others", async || server.seen().letters.len() == 4).await;
    let waiting = async || office.store.queues().await.expect("the store answers").dispatches_waiting;
    until("their outcomes", async || waiting().await == 2).await;
    let seen = server.seen();
    let to = |name: &str| {
        seen.lines.iter().filter(|line| **line == format!("RCPT TO:<{name}@players.test>")).count()
    };
    assert_eq!(["ann", "bo", "cy", "di"].map(to), [1, 1, 1, 1]);
    stopper.stop();
    // The server would stay silent for longer than this.
    timeout(PATIENCE, running).await.expect("in time").expect("no panic").expect("it runs");
    let unsent = office.store.list_dispatches(true, 10).await.expect("the store answers");
    let unsent: Vec<_> = unsent.iter().map(|row| (row.recipient.as_str(), row.tries)).collect();
    assert_eq!(unsent, [("ann@players.test", 0), ("ann@players.test", 0)], "both are retried");
    // Both are due again at once.
    sending::send_due(&office).await.expect("the store answers");
    assert_eq!(waiting().await, 0);
    assert_eq!(server.seen().letters.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_letter_is_sent_once_and_each_readers_letters_in_order() {
    let server = Smtp::start(|_, _| Act::Proper).await;
    let (_folder, office) = office(&server).await;
    for n in 0..100 {
        invite(&office, ["ann", "bo", "cy"][n % 3]).await;
    }
    sending::send_due(&office).await.expect("the store answers");
    let seen = server.seen();
    assert_eq!(seen.letters.len(), 100);
    let made = office.store.list_dispatches(false, 1000).await.expect("the store answers");
    assert!(made.iter().all(|row| row.sent_at.is_some() && row.tries == 1));
    for name in ["ann", "bo", "cy"] {
        let own = made.iter().rev().filter(|row| row.recipient == format!("{name}@players.test"));
        let places: Vec<_> = own
            .map(|row| {
                let bears = |letter: &Vec<u8>| String::from_utf8_lossy(letter).contains(&row.message_id);
                seen.letters.iter().position(bears).expect("it was sent")
            })
            .collect();
        assert!(places.is_sorted(), "{name}: {places:?}");
    }
}

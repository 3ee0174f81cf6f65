//! Plays a match by letter on both databases and verifies it, before and after changes to its rows.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use fogpost::audit::Place as Where;
use fogpost::config::Config;
use fogpost::daemon::audit::verify;
use fogpost::daemon::{Holder, NamedAddress, NewMatch, Office, instruct, loops};
use fogpost::game::BySeat;
use fogpost::game::any::GameKind;
use fogpost::letter::Address;
use fogpost::post::maildir;

use crate::place::Place;

/// A club on Maildirs in its own folder.
const CONFIG: &str = include_str!("../support/club.toml");

pub async fn audit_names_changes_made_past_the_triggers(place: Place) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.toml"), CONFIG).unwrap();
    let inbox = folder.path().join("mail/referee");
    maildir::create(&inbox).unwrap();
    let config = Config::load(&folder.path().join("config.toml")).unwrap();
    let now: DateTime<Utc> = "2026-05-07T10:00:00Z".parse().unwrap();
    let office = Office::new(config, Arc::clone(&place.store), Arc::new(move || now)).unwrap();
    let office = Arc::new(office);
    let seated = |name: &str| NamedAddress {
        name: name.to_owned(),
        address: Address::parse(&format!("{}@players.example", name.to_lowercase())).unwrap(),
    };
    let new = NewMatch {
        game: GameKind::Quad,
        choices: GameKind::Quad.choose([]).unwrap(),
        players: BySeat::new(seated("Ann"), seated("Bo")).map(Holder::Player),
        terms: office.config.terms.clone(),
    };
    let id = instruct::open(&office, new).await.unwrap().id;
    let invitation = place.store.dispatches_of(&id).await.unwrap()[0].0.message_id.clone();
    let letter = format!(
        "From: ann@players.example\r\nTo: referee@club.example\r\nSubject: Re: [{id}] Turn 1\r\n\
         Message-ID: <1@players.example>\r\nIn-Reply-To: <{invitation}>\r\n\r\nMARBLE E5\r\n"
    );
    maildir::deliver(&inbox, letter.as_bytes()).unwrap();
    loops::once(&office).await.unwrap();
    let verify = async || verify::verify(&office, &id, &|_| ()).await.unwrap();
    let sound = verify().await;
    assert!(sound.is_sound() && sound.letters == 1 && sound.sent == 4, "{sound:#?}");

    // SQLite cannot disable a trigger, so drop it there.
    let past_the_triggers = match place.url.starts_with("postgres") {
        true => ["ALTER TABLE entry DISABLE TRIGGER USER", "ALTER TABLE dispatch DISABLE TRIGGER USER"],
        false => ["DROP TRIGGER entry_is_not_changed", "DROP TRIGGER dispatch_is_not_changed"],
    };
    for statement in past_the_triggers {
        place.execute(statement).await.unwrap();
    }
    for (change, undo, sent) in [
        (
            "UPDATE entry SET json = replace(json, 'MARBLE E5', 'MARBLE E6') WHERE kind = 'OrdersSealed'",
            "UPDATE entry SET json = replace(json, 'MARBLE E6', 'MARBLE E5') WHERE kind = 'OrdersSealed'",
            false,
        ),
        (
            "UPDATE dispatch SET recipient = 'eve@players.example' WHERE kind = 'report' AND seat = 'second'",
            "UPDATE dispatch SET recipient = 'bo@players.example' WHERE kind = 'report' AND seat = 'second'",
            true,
        ),
    ] {
        assert_eq!(place.execute(change).await.unwrap(), 1, "{change}");
        let verdict = verify().await;
        assert!(!verdict.findings.is_empty(), "{change}");
        for finding in &verdict.findings {
            assert_eq!(matches!(finding.place, Where::Sent(_)), sent, "{verdict:#?}");
            assert_eq!(matches!(finding.place, Where::Entry(_)), !sent, "{verdict:#?}");
        }
        assert_eq!(place.execute(undo).await.unwrap(), 1, "{undo}");
        assert!(verify().await.is_sound());
    }
}

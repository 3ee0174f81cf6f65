//! A club and a dossier that version 0.1.0 wrote, before the tables had columns for lists and for compressed letters.
//! Matches of all four games are open; one of Quad is over, and in another it is Cy's turn.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use flate2::read::GzDecoder;
use fogpost::audit::{AuditResult, dossier};
use fogpost::config::Config;
use fogpost::daemon::Office;
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::post::maildir;
use fogpost::referee::{MatchOverview, Stage};
use fogpost::store::open;
use tempfile::TempDir;
use zip::ZipArchive;

const CONFIG: &str = include_str!("../support/club.toml");
const CLUB: &[u8] = include_bytes!("../fixtures/club-0.1.db.gz");
const DOSSIER: &[u8] = include_bytes!("../fixtures/QD-DV6F-0.1.zip");
const OVER: &str = "QD-DV6F";
const RUNNING: &str = "QD-9Z8S";

/// An hour after the last letter of the club.
fn now() -> DateTime<Utc> {
    "2026-11-22T18:00:00Z".parse().unwrap()
}

/// Opens a club in its own folder, with a copy of this database if one is given.
async fn club(database: Option<&[u8]>) -> (Arc<Office>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.toml"), CONFIG).unwrap();
    maildir::create(&folder.path().join("mail/referee")).unwrap();
    let file = folder.path().join("fogpost.db");
    if let Some(compressed) = database {
        let mut bytes = Vec::new();
        GzDecoder::new(compressed).read_to_end(&mut bytes).unwrap();
        std::fs::write(&file, bytes).unwrap();
    }
    let store = open(&format!("sqlite:{}", file.display())).await.unwrap();
    let config = Config::load(&folder.path().join("config.toml")).unwrap();
    (Arc::new(Office::new(config, store, Arc::new(now)).unwrap()), folder)
}

async fn overviews(office: &Office) -> BTreeMap<String, MatchOverview> {
    let mut found = BTreeMap::new();
    let mut take = |row: MatchOverview| drop(found.insert(row.id.clone(), row));
    office.store.list_matches(None, &mut take).await.unwrap();
    found
}

/// Nothing is wrong, but nobody can say that the letters of that version follow from the matches.
async fn assert_sound(office: &Office) {
    for id in office.store.match_ids().await.unwrap() {
        let verdict = office.verify(&id, &|_| ()).await.unwrap();
        assert!(verdict.is_sound(), "{verdict:#?}");
        assert!(verdict.unchecked >= verdict.sent_in_other_words && verdict.unchecked > 0, "{verdict:#?}");
        assert_eq!(verdict.result(), AuditResult::NotChecked);
    }
}

/// The files of an archive, by name.
fn unpacked(archive: &'static [u8]) -> BTreeMap<String, Vec<u8>> {
    let mut zip = ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut files = BTreeMap::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index(index).unwrap();
        let name = file.name().unwrap().into_owned();
        let mut contents = Vec::new();
        file.read_to_end(&mut contents).unwrap();
        files.insert(name, contents);
    }
    files
}

/// Cy's reply with `orders` to the newest letter of the running match.
async fn orders_of_cy(office: &Office, orders: &str) -> String {
    let sent = office.store.dispatches_of(RUNNING).await.unwrap();
    let (report, _) = sent.iter().rfind(|(row, _)| row.seat == Some(Seat::Second)).unwrap();
    format!(
        "From: cy@players.example\r\nTo: referee@club.example\r\nSubject: Re: [{RUNNING}] Turn 2\r\n\
         Message-ID: <later@players.example>\r\nIn-Reply-To: <{}>\r\n\r\n{orders}\r\n",
        report.message_id
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_club_of_an_earlier_version_is_migrated_verified_and_played_on() {
    let (office, folder) = club(Some(CLUB)).await;
    assert_sound(&office).await;

    let before = overviews(&office).await;
    let games: Vec<GameKind> = before.values().map(|row| row.game).collect();
    assert_eq!(
        games,
        [GameKind::Quad, GameKind::Quad, GameKind::Quantum, GameKind::QuadrantZ, GameKind::Pacific]
    );
    let over = &before[OVER];
    assert_eq!((over.stage, over.due.clone(), over.players.second.as_str()), (Stage::Over, None, "Bo"));
    assert_eq!(over.outcome.as_ref().map(|outcome| outcome.winner), Some(Some(Seat::First)));
    let running = &before[RUNNING];
    assert_eq!(running.due.as_ref().map(|due| due.turn), Some(2));
    assert_eq!((running.stage, &running.awaited[..]), (Stage::Running, &[Seat::Second][..]));

    let letter = orders_of_cy(&office, "MARBLE D6").await;
    maildir::deliver(&folder.path().join("mail/referee"), letter.as_bytes()).unwrap();
    office.once().await.unwrap();
    let after = overviews(&office).await;
    assert_eq!(after[RUNNING].due.as_ref().map(|due| due.turn), Some(3));
    assert_eq!(after[RUNNING].awaited, [Seat::First]);
    assert_sound(&office).await;
}

#[tokio::test]
async fn a_dossier_of_an_earlier_version_is_verified_and_imported() {
    let (office, _folder) = club(None).await;
    let brought = dossier::read(unpacked(DOSSIER)).unwrap();
    let verdict = office.take_dossier(brought).await.unwrap();
    assert!(verdict.is_sound(), "{verdict:#?}");
    assert_eq!(overviews(&office).await[OVER].stage, Stage::Over);
    assert_sound(&office).await;
}

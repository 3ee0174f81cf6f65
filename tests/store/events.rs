//! Events, their matches and results, and several daemons that open the same sections.

use std::collections::BTreeSet;
use std::sync::Arc;

use fogpost::club::events::event::EventStage;
use fogpost::club::events::steps::Mailed;
use fogpost::config::Config;
use fogpost::daemon::{Office, events, instruct};
use fogpost::game::any::GameKind;
use fogpost::game::{Outcome, Reason, Seat};
use fogpost::letter::Digest;
use fogpost::referee::{EventAction, Instruction, Stage};
use fogpost::store::{Changes, Database, EventEnd, EventMatchRow, EventRow, MatchRow, StoreError, open};

use crate::place::Place;
use crate::samples::*;

fn event(id: &str, version: i64) -> EventRow {
    EventRow {
        id: id.to_owned(),
        name: "Spring".to_owned(),
        game: GameKind::QuadrantZ,
        stage: EventStage::Running,
        wake_at: Some(at(9)),
        told: Mailed { ending: 1, ..Mailed::default() },
        version,
    }
}

fn event_match(match_id: &str, first: i64, second: i64) -> EventMatchRow {
    EventMatchRow {
        match_id: match_id.to_owned(),
        event_id: "EV-SPRING".to_owned(),
        season: 1,
        first,
        second,
    }
}

/// Two matches of an event, with seats.
async fn with_two_matches(store: &Arc<Database>) {
    add_matches(store, &["QZ-AAAA", "QZ-BBBB"]).await;
    add_seats(store, "QZ-AAAA").await;
    add_seats(store, "QZ-BBBB").await;
    let event_matches = vec![event_match("QZ-AAAA", 1, 2), event_match("QZ-BBBB", 2, 1)];
    let events = vec![event("EV-SPRING", 0)];
    store.commit(&Changes { events, event_matches, ..changes() }).await.unwrap();
}

/// Ends a match that is stored at this version, or reopens it.
async fn change_match(store: &Arc<Database>, id: &str, version: i64, outcome: Option<Outcome>) -> Digest {
    let mut row = match_row(id, version);
    row.overview.stage = if outcome.is_some() { Stage::Over } else { Stage::Running };
    row.overview.outcome = outcome;
    let seq = u64::try_from(version).unwrap();
    let mut end = entry(id, seq);
    end.kind = if row.overview.stage == Stage::Over { "MatchEnded" } else { "CorrectionMade" }.to_owned();
    let hash = end.hash;
    let matches: Vec<MatchRow> = vec![row];
    store.commit(&Changes { at: at(50), matches, entries: vec![end], ..changes() }).await.unwrap();
    hash
}

fn won(reason: Reason) -> Option<Outcome> {
    Some(Outcome { winner: Some(Seat::First), reason })
}

async fn to_look_at(store: &Arc<Database>) -> Vec<String> {
    let found = store.event_matches_to_look_at(10).await.unwrap();
    found.into_iter().map(|(_, id)| id).collect()
}

pub async fn an_event_changes_at_its_version_and_is_found_when_it_is_due(place: Place) {
    let store = &place.store;
    let put = async |row: EventRow| store.commit(&Changes { events: vec![row], ..changes() }).await;
    put(event("EV-SPRING", 0)).await.unwrap();
    put(EventRow { wake_at: None, ..event("EV-AUTUMN", 0) }).await.unwrap();
    assert!(matches!(put(event("EV-SPRING", 0)).await, Err(StoreError::Stale(_))));
    assert_eq!(store.events_due(at(8)).await.unwrap(), Vec::<String>::new());
    assert_eq!(store.events_due(at(9)).await.unwrap(), ["EV-SPRING"]);
    let later = EventRow { stage: EventStage::Over, wake_at: None, ..event("EV-SPRING", 1) };
    put(later.clone()).await.unwrap();
    assert!(matches!(put(later.clone()).await, Err(StoreError::Stale(_))));
    assert_eq!(store.events_due(at(9)).await.unwrap(), Vec::<String>::new());
    let found = store.event("EV-SPRING").await.unwrap();
    assert_eq!(found, Some(EventRow { version: 2, ..later }));
    let ids: Vec<String> = store.events().await.unwrap().into_iter().map(|row| row.id).collect();
    assert_eq!(ids, ["EV-AUTUMN", "EV-SPRING"]);
    assert_eq!(store.event("EV-NONE").await.unwrap(), None);
}

pub async fn a_pair_meets_once_a_season_and_an_end_counts_once(place: Place) {
    let store = &place.store;
    with_two_matches(store).await;
    add_matches(store, &["QZ-CCCC"]).await;
    let again = Changes { event_matches: vec![event_match("QZ-CCCC", 1, 2)], ..changes() };
    assert!(matches!(store.commit(&again).await, Err(StoreError::Stale(_))));
    let end = EventEnd { match_id: "QZ-AAAA".to_owned(), end: Some(Digest::of(b"an end")), counts: true };
    let counted = Changes { event_ends: vec![end.clone()], ..changes() };
    store.commit(&counted).await.unwrap();
    assert!(matches!(store.commit(&counted).await, Err(StoreError::Stale(_))));
    let other = EventEnd { end: Some(Digest::of(b"another end")), ..end };
    store.commit(&Changes { event_ends: vec![other.clone()], ..changes() }).await.unwrap();
    let closed = Changes { closed_seasons: vec!["EV-SPRING".to_owned()], ..changes() };
    store.commit(&closed).await.unwrap();
    let late = EventEnd { end: Some(Digest::of(b"a late end")), ..other };
    assert!(matches!(
        store.commit(&Changes { event_ends: vec![late], ..changes() }).await,
        Err(StoreError::Stale(_))
    ));
}

pub async fn an_end_is_to_be_looked_at_until_an_event_has_seen_it(place: Place) {
    let store = &place.store;
    with_two_matches(store).await;
    assert_eq!(to_look_at(store).await, Vec::<String>::new());
    let hash = change_match(store, "QZ-BBBB", 1, won(Reason::Resigned)).await;
    assert_eq!(to_look_at(store).await, ["QZ-BBBB"]);
    let seen = |end| EventEnd { match_id: "QZ-BBBB".to_owned(), end, counts: true };
    store.commit(&Changes { event_ends: vec![seen(Some(hash))], ..changes() }).await.unwrap();
    assert_eq!(to_look_at(store).await, Vec::<String>::new());
    change_match(store, "QZ-BBBB", 2, None).await;
    assert_eq!(to_look_at(store).await, ["QZ-BBBB"], "it is open again");
    store.commit(&Changes { event_ends: vec![seen(None)], ..changes() }).await.unwrap();
    assert_eq!(to_look_at(store).await, Vec::<String>::new());
    change_match(store, "QZ-BBBB", 3, won(Reason::Resigned)).await;
    let closed = Changes { closed_seasons: vec!["EV-SPRING".to_owned()], ..changes() };
    store.commit(&closed).await.unwrap();
    assert_eq!(to_look_at(store).await, Vec::<String>::new(), "a closed season takes no results");
}

pub async fn losses_by_missed_turns_and_silent_entrants_are_found(place: Place) {
    let store = &place.store;
    with_two_matches(store).await;
    let ids: Vec<i64> = store.listed_players().await.unwrap().iter().map(|player| player.id).collect();
    let silent = async || store.silent_entrants((at(-1), at(1))).await.unwrap();
    assert_eq!(silent().await, Vec::new(), "no season was drawn between");
    let filed = |id: &str, seq: u64, kind: &str, json: &str| {
        let mut row = entry(id, seq);
        row.kind = kind.to_owned();
        row.json = format!("{{\"seq\":{seq},\"match\":\"{id}\",{json}}}");
        row.hash = Digest::of(row.json.as_bytes());
        row
    };
    let opened = ["QZ-AAAA", "QZ-BBBB"].map(|id| filed(id, 1, "MatchOpened", "\"key\":1"));
    store.commit(&Changes { entries: opened.into(), ..changes() }).await.unwrap();
    assert_eq!(silent().await.len(), 4);
    let entries = vec![filed("QZ-AAAA", 2, "OrdersSealed", "\"seat\":\"second\"")];
    store.commit(&Changes { entries, ..changes() }).await.unwrap();
    let left: Vec<i64> = silent().await.into_iter().map(|(_, player, _)| player).collect();
    assert_eq!(left, [ids[0], ids[0]], "whoever filed in one match is not silent");
    let losses = async |player: i64| store.losses_by_missed_turns(player, at(0)).await.unwrap().len();
    assert_eq!((losses(ids[0]).await, losses(ids[1]).await), (0, 0));
    change_match_after(store, "QZ-AAAA", 3, won(Reason::Forfeited)).await;
    assert_eq!((losses(ids[0]).await, losses(ids[1]).await), (0, 1));
    let both = Some(Outcome { winner: None, reason: Reason::BothForfeited });
    change_match_after(store, "QZ-BBBB", 2, both).await;
    assert_eq!((losses(ids[0]).await, losses(ids[1]).await), (1, 2));
}

/// Ends a match stored at version 1, by the entry with this number.
async fn change_match_after(store: &Arc<Database>, id: &str, seq: u64, outcome: Option<Outcome>) {
    let mut row = match_row(id, 1);
    row.overview.stage = Stage::Over;
    row.overview.outcome = outcome;
    let mut end = entry(id, seq);
    end.kind = "MatchEnded".to_owned();
    store.commit(&Changes { at: at(50), matches: vec![row], entries: vec![end], ..changes() }).await.unwrap();
}

const CONFIG: &str = r#"
[club]
name = "The Club"
address = "referee@club.example"
[club.gm]
name = "The GM"
address = "gm@club.example"
[database]
url = "{url}"
[inbox.maildir]
path = "{folder}/mail"
[outbox.maildir]
path = "{folder}/out"
"#;

const PLAN: &str = "id = \"EV-SPRING\"\nname = \"Spring\"\ngame = \"quad\"\nformat = \"league\"\nsection_size = 3\n\
                    opens = \"full\"\nmax_entrants = 9";

/// Three daemons draw and open three sections, and then close the season, all at the same time.
pub async fn three_daemons_open_sections_and_close_a_season_exactly_once(place: Place) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let config =
        CONFIG.replace("{url}", &place.url).replace("{folder}", &folder.path().display().to_string());
    std::fs::write(&path, config).unwrap();
    let mut offices = Vec::new();
    for _ in 0..3 {
        let store = open(&place.url).await.unwrap();
        offices.push(Arc::new(Office::new(Config::load(&path).unwrap(), store, Arc::new(|| at(0))).unwrap()));
    }
    let office = &offices[0];
    let of_event = |action| Instruction::Event { id: "EV-SPRING".to_owned(), action };
    instruct::carry_out(office, &Instruction::NewEvent { plan: PLAN.to_owned() }).await.unwrap();
    for no in 0..9 {
        let words = vec![format!("player{no}@players.example"), "a test".to_owned()];
        instruct::carry_out(office, &of_event(EventAction::Enter { words })).await.unwrap();
    }
    all_at_once(&offices).await;
    let matches = office.store.match_ids().await.unwrap();
    assert_eq!(matches.len(), 18);
    let dispatches = office.store.list_dispatches(false, 1000).await.unwrap();
    assert_eq!(dispatches.len(), 2 * 18 + 9, "an invitation a seat, and a letter a player");
    for id in &matches {
        let forfeit = fogpost::referee::MatchAction::Act(fogpost::ledger::Act::Forfeit(Seat::First));
        let act = Instruction::Match { id: id.clone(), turn: None, action: forfeit };
        instruct::carry_out(office, &act).await.unwrap();
    }
    all_at_once(&offices).await;
    let book = office.store.book("EV-SPRING").await.unwrap();
    let count = |kind: &str| book.iter().filter(|row| row.kind == kind).count();
    assert_eq!(
        ["SectionsDrawn", "MatchOpened", "ResultEntered", "StandingsClosed"].map(count),
        [1, 18, 18, 1]
    );
    let named: BTreeSet<&str> = matches.iter().map(String::as_str).collect();
    assert_eq!(named.len(), 18);
}

/// Lets each daemon do what is due, until nothing is.
async fn all_at_once(offices: &[Arc<Office>]) {
    let run = |office: &Arc<Office>| {
        let office = Arc::clone(office);
        tokio::spawn(async move { events::run_when_due(&office, at(0)).await })
    };
    let running: Vec<_> = offices.iter().map(run).collect();
    for one in running {
        // Another daemon may have been faster so often that this one gave up until the next tick.
        let _ = one.await.unwrap();
    }
    events::run_when_due(&offices[0], at(0)).await.unwrap();
}

//! Copies of a whole club from one database to another and back.

use fogpost::club::events::event::EventStage;
use fogpost::club::events::steps::Mailed;
use fogpost::club::rating::{Rating, RatingChange};
use fogpost::club::reliability::OwedTurn;
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::ledger::{Head, KeptPin, PinKey, PinnedKind};
use fogpost::letter::Digest;
use fogpost::store::carry::{self, Carried};
use fogpost::store::{
    BudgetKey, BudgetKind, BudgetQuestion, ChangeKind, ChangeStage, Changes, Claim, EventEnd, EventMatchRow,
    EventRow, Invitation, InvitationStage, KeptSnapshot, LeftReason, LetterStatus, NewLetter, OwedTurnRow,
    PlayerChange, RatingRow, Restraints, SendOutcome, Standing, StoreError, UnprovenLetter, UnprovenStage,
    open,
};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

use crate::place::Place;
use crate::samples::*;

const SILENT: carry::OnProgress<'static> = &|_, _, _| ();

/// A change of address that both have agreed to.
fn change(player_id: i64) -> PlayerChange {
    PlayerChange {
        matches: Vec::new(),
        code: "7K3M9P2Q4R".to_owned(),
        other_code: "8K3M9P2Q4R".to_owned(),
        player_id,
        kind: ChangeKind::Add,
        address: "bo@new.test".to_owned(),
        registered: "bö@player.test".to_owned(),
        with_token: true,
        stage: ChangeStage::Agreed,
        asked_at: at(0),
        changed_at: at(1),
        version: 1,
    }
}

/// An open seat.
fn invitation() -> Invitation {
    Invitation {
        code: "K7M3".to_owned(),
        inviter: "ann@player.test".to_owned(),
        inviter_name: "Ann".to_owned(),
        invited: None,
        game: GameKind::Quad,
        offer: "{}".to_owned(),
        stage: InvitationStage::Open,
        match_id: None,
        created_at: at(0),
        lapses_at: at(60),
        invited_name: None,
        rematch_of: None,
        taken_from: None,
        taken: 0,
    }
}

/// Rows that follow from ledgers.
fn derived(player_id: i64) -> (OwedTurnRow, RatingRow) {
    let match_id = "QZ-AAAA".to_owned();
    let turn = OwedTurn { seq: 2, seat: Seat::First, at: at(1), in_time: true };
    let before = Rating::default();
    let change = RatingChange {
        player: player_id,
        no: 1,
        match_id: match_id.clone(),
        at: at(1),
        before,
        after: before,
    };
    (OwedTurnRow { match_id, player_id, turn }, RatingRow { game: GameKind::QuadrantZ, change })
}

/// Fills every table: more than one page of letters, arbitrary bytes, and text that needs escaping.
async fn furnish(place: &Place) {
    let store = &place.store;
    store.insert_letters(&letters(0..1200)).await.unwrap();
    let raw: Vec<u8> = (0..=255).cycle().take(5000).collect();
    let odd = NewLetter {
        digest: Digest::of(&raw),
        raw,
        subject: "Grüße 🎲 'quoted' \"twice\" \\ ".to_owned(),
        message_id: String::new(),
        ..letter(5000)
    };
    store.insert_letters(&[odd]).await.unwrap();
    add_matches(store, &["QZ-AAAA", "QZ-BBBB"]).await;
    add_seats(store, "QZ-AAAA").await;
    let mut bo = store.find_or_add_player("Bö@player.test", "Bö", at(0)).await.unwrap();
    bo.bouncing = true;
    bo.addresses.push("a_second.one@player.test".to_owned());
    store.commit(&with_player(&bo)).await.unwrap();
    let unproven = UnprovenLetter {
        letter: letter(3).digest,
        code: "7K3M9P2Q4R".to_owned(),
        player_id: Some(bo.id),
        match_id: Some("QZ-AAAA".to_owned()),
        seat: Some(Seat::Second),
        gm: None,
        address: "bo@elsewhere.test".to_owned(),
        noted_at: at(0),
        told: true,
        stage: UnprovenStage::Confirmed,
        confirmed_by: Some(letter(2).digest),
    };
    let pin = KeptPin::new(Seat::First, PinnedKind::Token, PinKey::new([7; 16]), "a token");
    let entries = [("QZ-AAAA", 1), ("QZ-AAAA", 2), ("QZ-BBBB", 1)];
    let cy = store.find_or_add_player("cy@player.test", "Cy", at(0)).await.unwrap();
    let (owed_turn, rating) = derived(bo.id);
    let changes = Changes {
        owed_turns: vec![owed_turn],
        ratings: vec![rating],
        merged: vec![(cy.id, bo.id)],
        decided: vec![decided(&letter(3), LetterStatus::Ignored)],
        entries: entries.map(|(id, seq)| entry(id, seq)).into(),
        invitations: vec![invitation()],
        unproven: vec![unproven],
        player_changes: vec![change(bo.id)],
        dispatches: vec![dispatch_with_picture(70)],
        restraints: restraints(),
        seat_pins: vec![("QZ-AAAA".to_owned(), pin)],
        snapshots: vec![KeptSnapshot { match_id: "QZ-AAAA".to_owned(), json: "{}".to_owned() }],
        ..with_an_event((bo.id, cy.id))
    };
    store.commit(&changes).await.unwrap();
    let head = Head { seq: 1, hash: Digest::of(b"an entry") };
    store.note_verified(&[("QZ-AAAA".to_owned(), head)]).await.unwrap();
    add_dispatches(store, 0..70).await;
    store.remember("heartbeat", "now").await.unwrap();
    let page = [("index.html".to_owned(), "0".to_owned())].into();
    store.set_site_files("/srv/club", &[].into(), &page).await.unwrap();
    store.mailbox_mark("imap gm mail.test INBOX", at(0)).await.unwrap();
    let left = ["imap:INBOX/7/1".to_owned()];
    store.note_left("imap gm mail.test INBOX", &left, LeftReason::Old).await.unwrap();
    store.record_outcomes(Claim::default(), at(1), &[(1, SendOutcome::Taken)]).await.unwrap();
}

/// Changes with one event, in which these players meet.
fn with_an_event((first, second): (i64, i64)) -> Changes {
    let event = EventRow {
        id: "EV-SPRING".to_owned(),
        name: "Spring".to_owned(),
        game: GameKind::QuadrantZ,
        stage: EventStage::Running,
        wake_at: Some(at(9)),
        told: Mailed::default(),
        version: 0,
    };
    let event_match = EventMatchRow {
        match_id: "QZ-AAAA".to_owned(),
        event_id: event.id.clone(),
        season: 1,
        first,
        second,
    };
    let ended = EventEnd { match_id: "QZ-AAAA".to_owned(), end: Some(Digest::of(b"an end")), counts: true };
    Changes {
        book_entries: vec![entry(&event.id, 1)],
        events: vec![event],
        event_matches: vec![event_match],
        event_ends: vec![ended],
        ..changes()
    }
}

fn restraints() -> Restraints {
    let mut restraints = Restraints::default();
    let bo = "bö@player.test".to_owned();
    for kind in [BudgetKind::Address, BudgetKind::LeftOut] {
        restraints.count(BudgetKey { subject: bo.clone(), kind, period: at(0) }, 1, 20);
    }
    restraints
        .standings
        .insert(bo.clone(), Standing { proven_at: Some(at(1)), signed: 5, ..Standing::default() });
    let lines = vec!["OPEN \"Quad\"".to_owned()];
    let question =
        BudgetQuestion { code: "K7M3".to_owned(), lines, asked_at: Some(at(2)), lapses_at: at(60) };
    restraints.questions.insert((bo, question.code.clone()), Some(question));
    restraints
}

/// Asserts that two SQLite files hold identical rows in every table, none of which is empty. Returns their
/// number.
async fn assert_same(one: &str, other: &str) -> i64 {
    let mut connection = SqliteConnection::connect(one).await.unwrap();
    let attach = format!("ATTACH '{}' AS other", other.trim_start_matches("sqlite:"));
    sqlx::query(AssertSqlSafe(attach)).execute(&mut connection).await.unwrap();
    let tables = "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' \
                  AND name NOT LIKE 'sqlite%'";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut connection).await.unwrap();
    let mut rows = 0;
    for table in tables {
        let sql = format!(
            "SELECT (SELECT COUNT(*) FROM main.{table}), \
             (SELECT COUNT(*) FROM (SELECT * FROM main.{table} EXCEPT SELECT * FROM other.{table})), \
             (SELECT COUNT(*) FROM (SELECT * FROM other.{table} EXCEPT SELECT * FROM main.{table}))"
        );
        let found: (i64, i64, i64) =
            sqlx::query_as(AssertSqlSafe(sql)).fetch_one(&mut connection).await.unwrap();
        assert!(found.0 > 0 && found.1 == 0 && found.2 == 0, "{table}: {found:?}");
        rows += found.0;
    }
    rows
}

#[tokio::test]
async fn a_club_copied_to_postgres_and_back_is_identical() {
    let Some(postgres) = Place::postgres().await else { return };
    let (first, second) = (Place::sqlite().await, Place::sqlite().await);
    furnish(&first).await;
    let there = carry::carry(&first.url, &postgres.url, SILENT).await.unwrap();
    // The copy must assign new row IDs after the copied ones.
    postgres.store.find_or_add_player("new@player.test", "New", at(0)).await.unwrap();
    let other = Place::postgres().await.expect("as before");
    assert_eq!(carry::carry(&first.url, &other.url, SILENT).await.unwrap(), there);
    let back = carry::carry(&other.url, &second.url, SILENT).await.unwrap();
    assert_eq!(digests(&there), digests(&back));
    let rows: u64 = there.iter().map(|part| part.rows).sum();
    assert_eq!(assert_same(&first.url, &second.url).await, i64::try_from(rows).unwrap());
    second.store.find_or_add_player("new@player.test", "New", at(0)).await.unwrap();
}

#[tokio::test]
async fn a_database_that_rows_were_moved_to_was_not_made_with_them() {
    let (from, to) = (Place::sqlite().await, Place::sqlite().await);
    // In the same second, as far as SQLite knows.
    from.store.find_or_add_player("new@player.test", "New", chrono::Utc::now()).await.unwrap();
    assert!(from.store.made().await.unwrap().is_some());
    carry::carry(&from.url, &to.url, SILENT).await.unwrap();
    assert_eq!(to.store.made().await.unwrap(), None);
}

fn digests(carried: &[Carried]) -> Vec<&Digest> {
    carried.iter().map(|part| &part.digest).collect()
}

#[tokio::test]
async fn a_target_with_data_is_refused_and_unchanged() {
    let (from, to) = (Place::sqlite().await, Place::sqlite().await);
    furnish(&from).await;
    to.store.remember("heartbeat", "another's").await.unwrap();
    let refused = carry::carry(&from.url, &to.url, SILENT).await.unwrap_err();
    assert!(
        matches!(&refused, StoreError::Unsound(why) if why.contains("not empty: table memo")),
        "{refused}"
    );
    assert_eq!(to.store.remembered("heartbeat").await.unwrap().as_deref(), Some("another's"));
    assert_eq!(to.store.queues().await.unwrap().letters_waiting, 0);
}

#[tokio::test]
async fn a_failed_copy_leaves_the_target_empty() {
    let (from, to) = (Place::sqlite().await, Place::sqlite().await);
    furnish(&from).await;
    to.execute("CREATE TRIGGER trip BEFORE INSERT ON dispatch_raw BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
        .await
        .unwrap();
    let broken = carry::carry(&from.url, &to.url, SILENT).await.unwrap_err();
    assert!(broken.to_string().contains("the disk is full"), "{broken}");
    assert_eq!(to.store.match_ids().await.unwrap(), [""; 0]);
    to.execute("DROP TRIGGER trip").await.unwrap();
    carry::carry(&from.url, &to.url, SILENT).await.unwrap();
}

#[tokio::test]
async fn a_copy_that_differs_from_its_source_is_rolled_back() {
    let (from, to) = (Place::sqlite().await, Place::sqlite().await);
    furnish(&from).await;
    to.execute("CREATE TRIGGER fray AFTER INSERT ON player BEGIN UPDATE player SET name = 'Mallory'; END")
        .await
        .unwrap();
    let unequal = carry::carry(&from.url, &to.url, SILENT).await.unwrap_err();
    assert!(
        unequal.to_string().contains("the rows written to player differ from the rows read"),
        "{unequal}"
    );
    assert!(to.store.players().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_unknown_table_is_an_error() {
    let (from, to) = (Place::sqlite().await, Place::sqlite().await);
    from.execute("CREATE TABLE secret_diary (line TEXT)").await.unwrap();
    let refused = carry::carry(&from.url, &to.url, SILENT).await.unwrap_err();
    assert!(refused.to_string().contains("secret_diary"), "{refused}");
    assert!(!carry::is_there("sqlite:/nowhere/at/all.db").unwrap());
    assert!(carry::is_there(&from.url).unwrap());
    // The failed copy left no lock behind.
    open(&from.url).await.unwrap().remember("heartbeat", "now").await.unwrap();
}

#[tokio::test]
async fn a_club_on_postgres_is_not_moved_while_a_daemon_uses_it() {
    let Some(postgres) = Place::postgres().await else { return };
    postgres.store.insert_letters(&letters(0..3)).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let to = format!("sqlite:{}", folder.path().join("moved.db").display());
    let run = || {
        let mut fogpost = std::process::Command::new(env!("CARGO_BIN_EXE_fogpost"));
        fogpost.args(["db", "move", &postgres.url, &to]).output().unwrap()
    };
    let now = chrono::Utc::now();
    let note = |ended: bool| {
        let who = "pid 4711 on turing";
        serde_json::json!({
            "who": who, "version": "0.1.0", "since": now, "at": now, "logins": [], "ended": ended, "zone_data": "2026f",
        })
    };
    postgres.store.remember("daemon: pid 4711 on turing", &note(false).to_string()).await.unwrap();
    let refused = run();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && said.contains("pid 4711 on turing; stop it"), "{said}");
    postgres.store.remember("daemon: pid 4711 on turing", &note(true).to_string()).await.unwrap();
    let moved = run();
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stderr));
    assert_eq!(open(&to).await.unwrap().queues().await.unwrap().letters_waiting, 3);
    let other = Place::postgres().await.expect("as before");
    let mut back = std::process::Command::new(env!("CARGO_BIN_EXE_fogpost"));
    let moved = back.args(["db", "move", &to, &other.url]).output().unwrap();
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stderr));
    assert_eq!(other.store.queues().await.unwrap().letters_waiting, 3, "letters move while they wait");
}

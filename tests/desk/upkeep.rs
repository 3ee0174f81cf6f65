//! What keeps strangers' letters from filling the disk: old ones lose their bytes, and a full disk leaves new ones in the
//! mailbox.

use std::fs;
use std::path::Path;

use chrono::TimeDelta;
use fogpost::audit::dossier::DossierForm;
use fogpost::report::pin::lacks_picture;
use fogpost::store::{DispatchFilter, LetterRow, LetterStatus};
use sqlx::Connection as _;

use crate::desk::{ANN, BO, Desk, GM};
use crate::positions::quad;

const EVE: &str = "eve@elsewhere.example";

fn letter_of(desk: &Desk, sender: &str) -> LetterRow {
    let found = desk.letters().into_iter().find(|letter| letter.sender == sender);
    found.unwrap_or_else(|| panic!("no letter from {sender}"))
}

fn has_bytes(desk: &Desk, letter: &LetterRow) -> bool {
    desk.block_on(desk.office().store.letter(letter.digest)).expect("the store answers").is_some()
}

#[test]
fn old_letters_that_caused_no_entry_lose_their_bytes_and_ledgers_still_verify() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.write(EVE, "Hello, what is this?");
    desk.write(GM, "How are you?");
    desk.reply(ANN, &to_ann, "MARBLE E5");
    let raw =
        desk.put(&format!("From: {EVE}\nSubject: again\nMessage-ID: <again@elsewhere.example>\n\nHello?\n"));
    let raw = fs::read_to_string(raw).expect("the letter");
    desk.work();
    let letters = [letter_of(&desk, EVE), letter_of(&desk, GM), letter_of(&desk, ANN)];
    desk.sleep(89 * 24);
    desk.work();
    assert!(letters.iter().all(|letter| has_bytes(&desk, letter)), "they are not old enough");
    desk.sleep(2 * 24);
    desk.work();
    let [stranger, gm, ruled] = letters;
    assert!(!has_bytes(&desk, &stranger));
    assert!(has_bytes(&desk, &gm), "a letter of the GM is evidence");
    assert!(has_bytes(&desk, &ruled), "the ledger names it");
    let after = letter_of(&desk, EVE);
    assert_eq!(
        (after.digest, after.sender, after.subject, after.status, after.note),
        (stranger.digest, stranger.sender, stranger.subject, stranger.status, stranger.note)
    );
    assert!(after.bytes_deleted_at.is_some());
    assert!(desk.verify(&game_match.id).is_sound());
    // A copy is still recognized.
    let before = desk.letters().len();
    desk.receive(&raw);
    assert_eq!(desk.letters().len(), before);
}

/// The bytes that the letters of a match take in the database.
fn stored_bytes(desk: &Desk, sum: &'static str) -> i64 {
    let path = desk.folder().join("fogpost.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).read_only(true);
    desk.block_on(async {
        let mut file = sqlx::SqliteConnection::connect_with(&options).await.expect("the file opens");
        sqlx::query_scalar(sum).fetch_one(&mut file).await.expect("a sum")
    })
}

#[test]
fn a_match_that_ended_long_ago_takes_little_room_and_still_verifies() {
    let texts = "SELECT (SELECT SUM(length(bytes)) FROM dispatch_raw WHERE dispatch_id IN \
                     (SELECT id FROM dispatch WHERE match_id IS NOT NULL)) \
                 + (SELECT SUM(length(bytes)) FROM letter_raw)";
    let pictures = "SELECT SUM(length(picture)) FROM dispatch_picture";
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    desk.reply(BO, &desk.last_to(BO), "RESIGN CONFIRM");
    let before = (stored_bytes(&desk, texts), stored_bytes(&desk, pictures));
    let letter = letter_of(&desk, ANN);
    let raw = desk.block_on(desk.office().store.letter(letter.digest)).expect("the store answers");
    desk.sleep(13 * 24);
    desk.work();
    assert_eq!(stored_bytes(&desk, pictures), before.1, "it did not end long enough ago");
    desk.sleep(2 * 24);
    desk.work();
    let after = (stored_bytes(&desk, texts), stored_bytes(&desk, pictures));
    assert!(after.0 < before.0 && after.1 < before.1, "{before:?} {after:?}");
    let whole = desk.office().verify_several(std::slice::from_ref(&game_match.id), &|_| ());
    let verdict = desk.block_on(whole).expect("the store answers").remove(0);
    assert!(verdict.is_sound(), "{verdict:#?}");
    let again = desk.block_on(desk.office().store.letter(letter.digest)).expect("the store answers");
    assert_eq!(again, raw, "the letter is read as it came");
    // A second time nothing is left to do, and nothing can be changed.
    desk.sleep(24);
    desk.work();
    assert_eq!((stored_bytes(&desk, texts), stored_bytes(&desk, pictures)), after);
    let files = desk.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let other = Desk::new();
    let read = fogpost::audit::dossier::read(files).expect("a dossier");
    assert!(other.block_on(other.office().take_dossier(read)).expect("it verifies").is_sound());
}

#[test]
fn a_picture_that_was_dropped_is_drawn_again_when_the_letter_is_sent_again() {
    let desk = Desk::new();
    let (_, to_ann, to_bo) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    desk.reply(BO, &desk.last_to(BO), "RESIGN CONFIRM");
    let reports = DispatchFilter { recipient: Some(ANN.to_owned()), ..DispatchFilter::default() };
    let sent = desk.raw_to(ANN);
    desk.sleep(15 * 24);
    desk.work();
    let (_, kept) =
        desk.block_on(desk.office().store.find_dispatches(&reports, 1)).expect("the store answers").remove(0);
    assert!(lacks_picture(&kept));
    desk.block_on(desk.office().resend(&reports)).expect("the store answers");
    desk.work();
    let again = desk.raw_to(ANN).split_off(sent.len());
    assert_eq!(again.len(), sent.len());
    let body = |raw: &[u8]| {
        let raw = String::from_utf8(raw.to_vec()).expect("mail is text").replace("\r\n", "\n");
        raw.split_once("\n\n").expect("a body").1.to_owned()
    };
    for (again, sent) in again.iter().zip(&sent) {
        assert_eq!(body(again), body(sent));
    }
}

#[test]
fn letters_are_kept_forever_if_the_club_wants_that() {
    let desk = Desk::with("[letters]\nkeep_unruled_days = 0\n");
    desk.write(EVE, "Hello, what is this?");
    desk.sleep(5000 * 24);
    desk.work();
    assert!(has_bytes(&desk, &letter_of(&desk, EVE)));
}

/// Sets the free space below which the mailbox is left alone.
fn set_floor(folder: &Path, megabytes: u64) {
    let file = folder.join("config.toml");
    let config = fs::read_to_string(&file).expect("the config");
    let lines = config.lines().filter(|line| !line.starts_with("min_free_mb"));
    let config = lines.collect::<Vec<_>>().join("\n");
    let floor = format!("[database]\nmin_free_mb = {megabytes}");
    fs::write(&file, config.replace("[database]", &floor)).expect("the config");
}

/// More than any disk has.
const NEVER_ENOUGH: u64 = u64::MAX / 2_000_000;

#[test]
fn a_full_disk_leaves_letters_in_the_mailbox_tells_the_gm_once_and_makes_nobody_late() {
    let mut desk = Desk::with("days = 1\n");
    let (game_match, to_ann, _) = quad(&desk);
    desk.sent_to(GM);
    desk.restart_after(|folder| set_floor(folder, NEVER_ENOUGH));
    let letter = desk.put(&desk.answer(ANN, &to_ann, "MARBLE E5"));
    for _ in 0..30 {
        desk.sleep(2);
        desk.work();
    }
    assert!(letter.exists(), "it waits in the mailbox");
    assert!(desk.letters().is_empty());
    assert_eq!(desk.find(&game_match.id).missed.first, 0, "nobody is late while the mailbox is not read");
    desk.one_to(GM).says("MB left, and I stop at").says("New letters stay in the mailbox");
    desk.restart_after(|folder| set_floor(folder, 0));
    desk.work();
    let after = desk.find(&game_match.id);
    assert_eq!((after.missed.first, after.adjudicated.len()), (0, 1), "the letter counts after all");
    assert!(after.deadline.expect("a deadline") - desk.now() >= TimeDelta::hours(12));
    // The next time, the GM hears of it again.
    desk.sent_to(GM);
    desk.restart_after(|folder| set_floor(folder, NEVER_ENOUGH));
    desk.work();
    desk.one_to(GM).says("MB left");
}

#[test]
fn stored_letters_are_ruled_on_although_the_disk_is_full() {
    let mut desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let raw = desk.answer(ANN, &to_ann, "MARBLE E5").replace('\n', "\r\n");
    let fetched = fogpost::post::FetchedLetter {
        size: raw.len() as u64,
        raw: raw.into_bytes(),
        received_at: desk.now(),
        origin: "test".to_owned(),
        cut: false,
        is_spam: false,
    };
    let letters = [fogpost::daemon::new_letter(fetched)];
    let stored = desk.office().store.insert_letters(&letters);
    assert_eq!(desk.block_on(stored).expect("the store answers"), 1);
    desk.restart_after(|folder| set_floor(folder, NEVER_ENOUGH));
    desk.work();
    assert_eq!(desk.last_status(), LetterStatus::Ruled);
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
    desk.sent_to(ANN)[0].says("Your orders are sealed");
}

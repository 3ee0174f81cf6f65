//! Saving disk space: the bytes of strangers' old letters and the pictures of our old letters are deleted, and if the
//! disk is full, new letters stay in the mailbox.

use std::fs;
use std::path::Path;

use chrono::TimeDelta;
use fogpost::audit::dossier::DossierForm;
use fogpost::daemon::sending::resend::{self, Resent};
use fogpost::game::any::GameKind;
use fogpost::letter::pictures::dropped_from;
use fogpost::store::{DispatchFilter, LetterRow, LetterStatus};
use sqlx::Connection as _;

use crate::audit::database::cheat;
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

/// The result of a query for one number.
fn stored(desk: &Desk, sum: &'static str) -> i64 {
    let path = desk.folder().join("fogpost.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).read_only(true);
    desk.block_on(async {
        let mut file = sqlx::SqliteConnection::connect_with(&options).await.expect("the file opens");
        sqlx::query_scalar(sum).fetch_one(&mut file).await.expect("a sum")
    })
}

#[test]
fn pictures_are_dropped_a_week_after_their_letter_was_sent_and_the_match_still_verifies() {
    let pictures = "SELECT COUNT(*) FROM dispatch_picture";
    let desk = Desk::with("days = 30\n");
    let (game_match, to_ann, to_bo) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    let early = stored(&desk, pictures);
    desk.sleep(6 * 24);
    desk.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    let all = stored(&desk, pictures);
    assert!(early > 0 && all > early, "the first letters have pictures, and the report of turn 2");
    desk.sleep(25);
    desk.work();
    assert_eq!(stored(&desk, pictures), all - early, "of a running match, too");
    assert!(desk.verify(&game_match.id).is_sound());
    desk.reply(ANN, &desk.last_to(ANN), "RESIGN CONFIRM");
    desk.sleep(8 * 24);
    desk.work();
    assert_eq!(stored(&desk, pictures), 0);
    assert!(desk.verify(&game_match.id).is_sound());
}

/// The stored letters to Ann, each with its picture if that is kept.
fn kept(desk: &Desk) -> Vec<Vec<u8>> {
    let to_ann = DispatchFilter { recipient: Some(ANN.to_owned()), ..DispatchFilter::default() };
    let found = desk.block_on(desk.office().store.find_dispatches(&to_ann, 99)).expect("the store answers");
    found.into_iter().map(|(_, bytes)| bytes).collect()
}

#[test]
fn a_picture_that_was_dropped_is_drawn_again_for_the_player_and_for_the_arbiter() {
    let desk = Desk::new();
    // Its reports mark what their reader did, and its boards show what their reader remembers.
    let game_match = desk.open(GameKind::QuadrantZ, &[]);
    for orders in ["SETUP balanced", "HOLD", "HOLD", "HOLD"] {
        for player in [ANN, BO] {
            desk.reply(player, &desk.last_to(player), orders);
        }
    }
    desk.reply(BO, &desk.last_to(BO), "RESIGN CONFIRM");
    let sent = desk.raw_to(ANN);
    let whole = kept(&desk);
    desk.sleep(8 * 24);
    desk.work();
    let dropped = kept(&desk).iter().filter(|letter| dropped_from(letter).is_some()).count();
    assert!(dropped >= 5, "{dropped} pictures");
    let to_ann = DispatchFilter { recipient: Some(ANN.to_owned()), ..DispatchFilter::default() };
    let resent = desk.block_on(resend::resend(desk.office(), &to_ann)).expect("the store answers");
    assert_eq!(resent, Resent { copied: sent.len(), ..Resent::default() });
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
    let files = desk.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    for letter in whole {
        assert!(files.values().any(|file| *file == letter), "{}", String::from_utf8_lossy(&letter));
    }
}

#[test]
fn a_letter_whose_picture_cannot_be_drawn_as_it_was_is_sent_again_without_it() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    // Pretend that another version drew the picture.
    cheat(&desk, &["UPDATE dispatch_picture SET picture = x'00'"]);
    let before = desk.raw_to(BO).len();
    desk.sleep(8 * 24);
    desk.work();
    let invitation = DispatchFilter { recipient: Some(BO.to_owned()), ..DispatchFilter::default() };
    let found =
        desk.block_on(desk.office().store.find_dispatches(&invitation, 99)).expect("the store answers");
    let resent = desk.block_on(resend::resend(desk.office(), &invitation)).expect("the store answers");
    assert_eq!((resent.copied, resent.without_picture > 0), (found.len(), true));
    desk.work();
    let again = desk.raw_to(BO).split_off(before);
    assert!(again.iter().all(|raw| !String::from_utf8_lossy(raw).contains("This picture was dropped")));
}

#[test]
fn letters_are_kept_forever_if_the_club_wants_that() {
    let desk = Desk::with("[letters]\nkeep_unruled_days = 0\n");
    desk.write(EVE, "Hello, what is this?");
    desk.sleep(5000 * 24);
    desk.work();
    assert!(has_bytes(&desk, &letter_of(&desk, EVE)));
}

/// Sets the free space below which no mail is fetched.
fn set_floor(folder: &Path, megabytes: u64) {
    let file = folder.join("config.toml");
    let config = fs::read_to_string(&file).expect("the config");
    let lines = config.lines().filter(|line| !line.starts_with("min_free_mb"));
    let config = lines.collect::<Vec<_>>().join("\n");
    let floor = format!("[database]\nmin_free_mb = {megabytes}");
    fs::write(&file, config.replace("[database]", &floor)).expect("the config");
}

/// A number of megabytes that no disk has.
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
        arrivals: Vec::new(),
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

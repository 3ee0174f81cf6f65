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
use crate::positions::quad;
use crate::referee::{ANN, BO, GM, Referee};

const EVE: &str = "eve@elsewhere.example";

fn letter_of(referee: &Referee, sender: &str) -> LetterRow {
    let found = referee.letters().into_iter().find(|letter| letter.sender == sender);
    found.unwrap_or_else(|| panic!("no letter from {sender}"))
}

fn has_bytes(referee: &Referee, letter: &LetterRow) -> bool {
    referee.block_on(referee.office().store.letter(letter.digest)).expect("the store answers").is_some()
}

#[test]
fn old_letters_that_caused_no_entry_lose_their_bytes_and_ledgers_still_verify() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.write(EVE, "Hello, what is this?");
    referee.write(GM, "How are you?");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let raw = referee
        .put(&format!("From: {EVE}\nSubject: again\nMessage-ID: <again@elsewhere.example>\n\nHello?\n"));
    let raw = fs::read_to_string(raw).expect("the letter");
    referee.work();
    let letters = [letter_of(&referee, EVE), letter_of(&referee, GM), letter_of(&referee, ANN)];
    referee.sleep(89 * 24);
    referee.work();
    assert!(letters.iter().all(|letter| has_bytes(&referee, letter)), "they are not old enough");
    referee.sleep(2 * 24);
    referee.work();
    let [stranger, gm, ruled] = letters;
    assert!(!has_bytes(&referee, &stranger));
    assert!(has_bytes(&referee, &gm), "a letter of the GM is evidence");
    assert!(has_bytes(&referee, &ruled), "the ledger names it");
    let after = letter_of(&referee, EVE);
    assert_eq!(
        (after.digest, after.sender, after.subject, after.status, after.note),
        (stranger.digest, stranger.sender, stranger.subject, stranger.status, stranger.note)
    );
    assert!(after.bytes_deleted_at.is_some());
    assert!(referee.verify(&game_match.id).is_sound());
    // A copy is still recognized.
    let before = referee.letters().len();
    referee.receive(&raw);
    assert_eq!(referee.letters().len(), before);
}

/// The result of a query for one number.
fn stored(referee: &Referee, sum: &'static str) -> i64 {
    let path = referee.folder().join("fogpost.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).read_only(true);
    referee.block_on(async {
        let mut file = sqlx::SqliteConnection::connect_with(&options).await.expect("the file opens");
        sqlx::query_scalar(sum).fetch_one(&mut file).await.expect("a sum")
    })
}

#[test]
fn pictures_are_dropped_a_week_after_their_letter_was_sent_and_the_match_still_verifies() {
    let pictures = "SELECT COUNT(*) FROM dispatch_picture";
    let referee = Referee::with("days = 30\n");
    let (game_match, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let early = stored(&referee, pictures);
    referee.sleep(6 * 24);
    referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    let all = stored(&referee, pictures);
    assert!(early > 0 && all > early, "the first letters have pictures, and the report of turn 2");
    referee.sleep(25);
    referee.work();
    assert_eq!(stored(&referee, pictures), all - early, "of a running match, too");
    assert!(referee.verify(&game_match.id).is_sound());
    referee.reply(ANN, &referee.last_to(ANN), "RESIGN CONFIRM");
    referee.sleep(8 * 24);
    referee.work();
    assert_eq!(stored(&referee, pictures), 0);
    assert!(referee.verify(&game_match.id).is_sound());
}

/// The stored letters to Ann, each with its picture if that is kept.
fn kept(referee: &Referee) -> Vec<Vec<u8>> {
    let to_ann = DispatchFilter { recipient: Some(ANN.to_owned()), ..DispatchFilter::default() };
    let found =
        referee.block_on(referee.office().store.find_dispatches(&to_ann, 99)).expect("the store answers");
    found.into_iter().map(|(_, bytes)| bytes).collect()
}

#[test]
fn a_picture_that_was_dropped_is_drawn_again_for_the_player_and_for_the_arbiter() {
    let referee = Referee::new();
    // Its reports mark what their reader did, and its boards show what their reader remembers.
    let game_match = referee.open(GameKind::QuadrantZ, &[]);
    for orders in ["SETUP balanced", "HOLD", "HOLD", "HOLD"] {
        for player in [ANN, BO] {
            referee.reply(player, &referee.last_to(player), orders);
        }
    }
    referee.reply(BO, &referee.last_to(BO), "RESIGN CONFIRM");
    let sent = referee.raw_to(ANN);
    let whole = kept(&referee);
    referee.sleep(8 * 24);
    referee.work();
    let dropped = kept(&referee).iter().filter(|letter| dropped_from(letter).is_some()).count();
    assert!(dropped >= 5, "{dropped} pictures");
    let to_ann = DispatchFilter { recipient: Some(ANN.to_owned()), ..DispatchFilter::default() };
    let resent = referee.block_on(resend::resend(referee.office(), &to_ann)).expect("the store answers");
    assert_eq!(resent, Resent { copied: sent.len(), ..Resent::default() });
    referee.work();
    let again = referee.raw_to(ANN).split_off(sent.len());
    assert_eq!(again.len(), sent.len());
    let body = |raw: &[u8]| {
        let raw = String::from_utf8(raw.to_vec()).expect("mail is text").replace("\r\n", "\n");
        raw.split_once("\n\n").expect("a body").1.to_owned()
    };
    for (again, sent) in again.iter().zip(&sent) {
        assert_eq!(body(again), body(sent));
    }
    let files = referee.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    for letter in whole {
        assert!(files.values().any(|file| *file == letter), "{}", String::from_utf8_lossy(&letter));
    }
}

#[test]
fn a_letter_whose_picture_cannot_be_drawn_as_it_was_is_sent_again_without_it() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    // Pretend that another version drew the picture.
    cheat(&referee, &["UPDATE dispatch_picture SET picture = x'00'"]);
    let before = referee.raw_to(BO).len();
    referee.sleep(8 * 24);
    referee.work();
    let invitation = DispatchFilter { recipient: Some(BO.to_owned()), ..DispatchFilter::default() };
    let found =
        referee.block_on(referee.office().store.find_dispatches(&invitation, 99)).expect("the store answers");
    let resent = referee.block_on(resend::resend(referee.office(), &invitation)).expect("the store answers");
    assert_eq!((resent.copied, resent.without_picture > 0), (found.len(), true));
    referee.work();
    let again = referee.raw_to(BO).split_off(before);
    assert!(again.iter().all(|raw| !String::from_utf8_lossy(raw).contains("This picture was dropped")));
}

#[test]
fn letters_are_kept_forever_if_the_club_wants_that() {
    let referee = Referee::with("[letters]\nkeep_unruled_days = 0\n");
    referee.write(EVE, "Hello, what is this?");
    referee.sleep(5000 * 24);
    referee.work();
    assert!(has_bytes(&referee, &letter_of(&referee, EVE)));
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
    let mut referee = Referee::with("days = 1\n");
    let (game_match, to_ann, _) = quad(&referee);
    referee.sent_to(GM);
    referee.restart_after(|folder| set_floor(folder, NEVER_ENOUGH));
    let letter = referee.put(&referee.answer(ANN, &to_ann, "MARBLE E5"));
    for _ in 0..30 {
        referee.sleep(2);
        referee.work();
    }
    assert!(letter.exists(), "it waits in the mailbox");
    assert!(referee.letters().is_empty());
    assert_eq!(referee.find(&game_match.id).missed.first, 0, "nobody is late while the mailbox is not read");
    referee.one_to(GM).says("MB left, and I stop at").says("New letters stay in the mailbox");
    referee.restart_after(|folder| set_floor(folder, 0));
    referee.work();
    let after = referee.find(&game_match.id);
    assert_eq!((after.missed.first, after.adjudicated.len()), (0, 1), "the letter counts after all");
    assert!(after.deadline.expect("a deadline") - referee.now() >= TimeDelta::hours(12));
    // The next time, the GM hears of it again.
    referee.sent_to(GM);
    referee.restart_after(|folder| set_floor(folder, NEVER_ENOUGH));
    referee.work();
    referee.one_to(GM).says("MB left");
}

#[test]
fn stored_letters_are_ruled_on_although_the_disk_is_full() {
    let mut referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let raw = referee.answer(ANN, &to_ann, "MARBLE E5").replace('\n', "\r\n");
    let fetched = fogpost::post::FetchedLetter {
        size: raw.len() as u64,
        raw: raw.into_bytes(),
        received_at: referee.now(),
        arrivals: Vec::new(),
        origin: "test".to_owned(),
        cut: false,
        is_spam: false,
    };
    let letters = [fogpost::daemon::new_letter(fetched)];
    let stored = referee.office().store.insert_letters(&letters);
    assert_eq!(referee.block_on(stored).expect("the store answers"), 1);
    referee.restart_after(|folder| set_floor(folder, NEVER_ENOUGH));
    referee.work();
    assert_eq!(referee.last_status(), LetterStatus::Ruled);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.sent_to(ANN)[0].says("Your orders are sealed");
}

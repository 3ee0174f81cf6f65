//! Maildirs as an inbox and as an outbox.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fogpost_post::inbox::Inbox;
use fogpost_post::maildir::{self, MaildirConfig};
use fogpost_post::maildirs::{self, folder_of};
use fogpost_post::outbox::{self, Outbox, Outgoing, SendError};
use fogpost_post::{Health, InboxMessage, LeftLetters, Taken};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::support::{Running, drain, letter, subjects};

/// A new Maildir that contains these letters.
fn maildir_with(names: &[&str]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    maildir::create(folder.path()).expect("a Maildir");
    for name in names {
        maildir::deliver(folder.path(), &letter(name)).expect("delivered");
    }
    folder
}

fn inbox(folder: &TempDir) -> Inbox {
    Inbox::Maildir(MaildirConfig::at(folder.path()))
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).expect("a folder").count()
}

#[tokio::test]
async fn letters_arrive_in_order_and_are_filed_only_after_they_are_stored() {
    let folder = maildir_with(&[]);
    for (age, name) in [(10, "third"), (30, "first"), (20, "second")] {
        let path = maildir::deliver(folder.path(), &letter(name)).expect("delivered");
        let when = SystemTime::now() - Duration::from_secs(age);
        fs::File::options().write(true).open(path).and_then(|f| f.set_modified(when)).expect("dated");
    }
    let mut running = Running::start(inbox(&folder));
    let batch = running.batch().await;
    assert_eq!(subjects(&batch.letters), ["first", "second", "third"]);
    assert_eq!(batch.letters[0].raw, letter("first"));
    assert_eq!(batch.letters[0].size, letter("first").len() as u64);
    assert!(batch.letters[0].received_at < batch.letters[1].received_at);
    assert_eq!(count(&folder.path().join("new")), 3, "nothing is filed before it is stored");
    batch.stored.send(Taken::All).expect("the inbox waits");
    running.until(|health| health.last_ok.is_some()).await;
    assert_eq!(count(&folder.path().join("new")), 0);
    let filed = folder.path().join(".Processed/cur");
    assert_eq!(count(&filed), 3);
    assert!(
        fs::read_dir(&filed).expect("it is there").all(|e| e
            .expect("entry")
            .path()
            .to_string_lossy()
            .ends_with(":2,S"))
    );
    running.stop().await;
}

#[tokio::test]
async fn letters_seen_by_a_mail_program_are_read_too() {
    let folder = maildir_with(&["fresh"]);
    let path = maildir::deliver(folder.path(), &letter("seen")).expect("delivered");
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    fs::rename(path, folder.path().join("cur").join(format!("{name}:2,RS"))).expect("moved");
    let letters = drain(inbox(&folder)).await.expect("drained");
    assert_eq!(subjects(&letters), ["fresh", "seen"]);
    assert_eq!(letters[1].origin, format!("maildir:{name}"), "the name does not depend on the flags");
    assert_eq!(drain(inbox(&folder)).await.expect("drained").len(), 0);
}

#[tokio::test]
async fn letters_that_were_not_stored_stay_and_arrive_again() {
    let folder = maildir_with(&["one"]);
    let mut running = Running::start(inbox(&folder));
    drop(running.batch().await);
    running.until(|health| health.trouble.is_some()).await;
    assert_eq!(subjects(&running.letters().await), ["one"]);
    running.until(|health| health.trouble.is_none()).await;
    running.stop().await;
}

#[tokio::test]
async fn a_stored_letter_that_cannot_be_filed_is_not_handed_over_again() {
    let folder = maildir_with(&["one"]);
    fs::write(folder.path().join(".Processed"), "in the way").expect("written");
    let mut running = Running::start(inbox(&folder));
    assert_eq!(running.letters().await.len(), 1);
    running.until_left(|left| left.unfiled.len() == 1).await;
    running.until(|health| health.unfiled.as_ref().is_some_and(|reason| reason.contains("Processed"))).await;
    maildir::deliver(folder.path(), &letter("beside")).expect("delivered");
    assert_eq!(subjects(&running.letters().await), ["beside"], "reading goes on");
    fs::remove_file(folder.path().join(".Processed")).expect("removed");
    running.until_left(|left| left.unfiled.is_empty()).await;
    running.until(|health| health.unfiled.is_none() && health.trouble.is_none()).await;
    assert_eq!(count(&folder.path().join(".Processed/cur")), 2);
    maildir::deliver(folder.path(), &letter("two")).expect("delivered");
    assert_eq!(subjects(&running.letters().await), ["two"]);
    running.stop().await;
}

#[tokio::test]
async fn a_large_letter_is_cut_and_says_so() {
    let folder = maildir_with(&["large"]);
    let size = letter("large").len();
    let of =
        |limit| Inbox::Maildir(MaildirConfig { max_letter_bytes: limit, ..MaildirConfig::at(folder.path()) });
    let (to, mut messages) = tokio::sync::mpsc::channel(1);
    let draining =
        tokio::spawn(of(size - 1).drain(LeftLetters::default(), to, watch::channel(Health::default()).0));
    let Some(InboxMessage::Letters(batch)) = messages.recv().await else { panic!("no batch") };
    assert_eq!((batch.letters[0].cut, batch.letters[0].size), (true, size as u64));
    assert_eq!(batch.letters[0].raw, letter("large")[..size - 1]);
    drop(batch);
    assert!(draining.await.expect("no panic").is_err(), "a batch that was not stored is an error");
    assert!(!drain(of(size)).await.expect("drained")[0].cut);
}

#[tokio::test]
async fn more_letters_than_fit_into_a_batch_all_arrive() {
    let folder = maildir_with(&[]);
    for i in 0..1100 {
        fs::write(folder.path().join(format!("new/{i:05}.x")), letter(&i.to_string())).expect("written");
    }
    let mut running = Running::start(inbox(&folder));
    let mut sizes = Vec::new();
    while sizes.iter().sum::<usize>() < 1100 {
        sizes.push(running.letters().await.len());
    }
    assert_eq!(sizes, [500, 500, 100]);
    running.until(|health| health.last_ok.is_some()).await;
    assert_eq!(count(&folder.path().join(".Processed/cur")), 1100);
    running.stop().await;
}

#[tokio::test]
async fn letters_from_before_the_club_are_read_after_all_others() {
    let folder = maildir_with(&[]);
    let began = SystemTime::now() - Duration::from_secs(30 * 86_400);
    for i in 0..150 {
        let path = folder.path().join(format!("new/{i:05}.x"));
        fs::write(&path, letter("old")).expect("written");
        let file = fs::File::options().write(true).open(path).expect("opened");
        file.set_modified(began - Duration::from_secs(1)).expect("set");
    }
    for name in ["orders", "other orders"] {
        maildir::deliver(folder.path(), &letter(name)).expect("delivered");
    }
    let began = Some(began.into());
    let left = LeftLetters { mark: began, began, ..LeftLetters::default() };
    let mut running = Running::start_with(inbox(&folder), left);
    assert_eq!(subjects(&running.letters().await), ["orders", "other orders"]);
    let old = running.batch().await;
    assert_eq!(old.letters.len(), 150);
    old.stored.send(Taken::Only(Vec::new())).expect("the inbox waits for it");
    running.until(|health| health.last_ok.is_some()).await;
    assert_eq!(count(&folder.path().join("new")), 150, "they stay");
    running.stop().await;
}

#[tokio::test]
async fn folders_and_hidden_files_are_left_alone() {
    let folder = maildir_with(&["one"]);
    fs::create_dir(folder.path().join("new/folder")).expect("made");
    fs::write(folder.path().join("new/.hidden"), "x").expect("written");
    assert_eq!(drain(inbox(&folder)).await.expect("drained").len(), 1);
    assert_eq!(count(&folder.path().join("new")), 2);
}

#[tokio::test]
async fn a_name_already_filed_is_not_overwritten() {
    let folder = maildir_with(&[]);
    for text in ["first", "second"] {
        fs::write(folder.path().join("new/same-name"), letter(text)).expect("written");
        assert_eq!(subjects(&drain(inbox(&folder)).await.expect("drained")), [text]);
    }
    assert_eq!(count(&folder.path().join(".Processed/cur")), 2);
}

#[tokio::test]
async fn a_missing_maildir_is_an_error_to_check_and_to_drain() {
    let inbox = Inbox::Maildir(MaildirConfig::at("/nowhere/at/all"));
    assert!(inbox.check().await.expect_err("missing").to_string().contains("/nowhere/at/all"));
    assert!(drain(inbox).await.is_err());
    let folder = maildir_with(&["one", "two"]);
    assert!(
        Inbox::Maildir(MaildirConfig::at(folder.path()))
            .check()
            .await
            .expect("fine")
            .found
            .contains("2 waiting")
    );
}

#[tokio::test]
async fn an_inbox_stops_while_it_waits_for_a_batch_to_be_stored() {
    let folder = maildir_with(&["one"]);
    let mut running = Running::start(inbox(&folder));
    let _unanswered = running.batch().await;
    running.stop().await;
}

#[tokio::test]
async fn each_recipient_gets_a_maildir_with_the_envelope_on_top() {
    let root = TempDir::new().expect("a folder");
    let settings = outbox::OutboxConfig::Maildir(maildirs::MaildirsConfig { path: root.path().to_owned() });
    let out = Outbox::new(settings).expect("nothing to open");
    let bytes = letter("report");
    let send = Outgoing { return_path: Some("bounces@club.test"), to: "Anna@Home.test", bytes: &bytes };
    out.send(&send).await.expect("delivered");
    out.send(&Outgoing { return_path: None, to: "boris@home.test", ..send }).await.expect("delivered");
    let letters = drain(Inbox::Maildir(MaildirConfig::at(folder_of(root.path(), "anna@home.test"))))
        .await
        .expect("read");
    let text = String::from_utf8(letters[0].raw.clone()).expect("text");
    assert!(text.starts_with(
        "Return-Path: <bounces@club.test>\nDelivered-To: Anna@Home.test\nFrom: anna@club.test\n"
    ));
    assert!(!text.contains('\r'));
    let letters = drain(Inbox::Maildir(MaildirConfig::at(folder_of(root.path(), "boris@home.test"))))
        .await
        .expect("read");
    assert!(letters[0].raw.starts_with(b"Return-Path: <>\n"));
    assert_eq!(count(&folder_of(root.path(), "anna@home.test").join("tmp")), 0);
}

#[tokio::test]
async fn one_failing_delivery_does_not_stop_concurrent_ones() {
    let root = TempDir::new().expect("a folder");
    fs::write(root.path().join("anna@home.test"), "in the way").expect("written");
    let settings = outbox::OutboxConfig::Maildir(maildirs::MaildirsConfig { path: root.path().to_owned() });
    let out = Arc::new(Outbox::new(settings).expect("nothing to open"));
    let mut sending = JoinSet::new();
    for number in 0..40 {
        let (out, to) = (Arc::clone(&out), ["boris@home.test", "carla@home.test"][number % 2]);
        let to = if number == 20 { "anna@home.test" } else { to };
        sending.spawn(async move {
            let bytes = letter(&number.to_string());
            let sent = out.send(&Outgoing { return_path: None, to, bytes: &bytes }).await;
            assert_eq!(sent.is_err(), number == 20, "{sent:?}");
        });
    }
    sending.join_all().await;
    let mut arrived = Vec::new();
    for to in ["boris@home.test", "carla@home.test"] {
        let letters =
            drain(Inbox::Maildir(MaildirConfig::at(folder_of(root.path(), to)))).await.expect("read");
        arrived
            .extend(subjects(&letters).into_iter().map(|number| number.parse::<usize>().expect("a number")));
    }
    arrived.sort_unstable();
    assert_eq!(arrived, Vec::from_iter((0..40).filter(|number| *number != 20)));
}

#[tokio::test]
async fn an_invalid_address_is_refused_for_good() {
    let root = TempDir::new().expect("a folder");
    let settings = outbox::OutboxConfig::Maildir(maildirs::MaildirsConfig { path: root.path().to_owned() });
    let out = Outbox::new(settings).expect("nothing to open");
    for to in ["", "anna", "a b@home.test", "anna@home.test\r\nRCPT TO:<x@y.test>", "@home.test", "../x"] {
        let error = out.send(&Outgoing { return_path: None, to, bytes: b"x" }).await.expect_err("no address");
        assert!(matches!(error, SendError::Refused(_)), "{to:?}: {error}");
    }
    assert_eq!(count(root.path()), 0);
}

#[tokio::test]
async fn an_unwritable_folder_is_a_transient_fault() {
    let root = TempDir::new().expect("a folder");
    fs::write(root.path().join("anna@home.test"), "in the way").expect("written");
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).expect("set");
    let settings = outbox::OutboxConfig::Maildir(maildirs::MaildirsConfig { path: root.path().to_owned() });
    let out = Outbox::new(settings).expect("nothing to open");
    let error = out.send(&Outgoing { return_path: None, to: "anna@home.test", bytes: b"x" }).await;
    assert!(error.expect_err("in the way").is_transient());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

#[test]
fn what_we_make_is_private_whatever_the_umask_is() {
    let folder = TempDir::new().expect("a folder");
    let root = folder.path().join("mail/ann@players.example");
    let letter = maildir::deliver(&root, &letter("one")).expect("delivered");
    assert_eq!(mode(&letter), 0o600);
    for part in ["..", ".", "tmp", "new", "cur"] {
        assert_eq!(mode(&root.join(part)), 0o700, "{part}");
    }
}

#[test]
fn the_group_reads_letters_in_a_folder_that_its_owner_shares_with_it() {
    for (permissions, for_letters, for_folders) in [(0o770, 0o640, 0o750), (0o707, 0o600, 0o700)] {
        let folder = TempDir::new().expect("a folder");
        let shared = folder.path().join("mail");
        fs::create_dir(&shared).expect("a folder");
        fs::set_permissions(&shared, fs::Permissions::from_mode(permissions)).expect("ours");
        if std::os::unix::fs::chown(&shared, Some(65534), None).is_err() {
            eprintln!("not run: only root can give a folder away");
            return;
        }
        let root = shared.join("ann@players.example");
        let letter = maildir::deliver(&root, &letter("one")).expect("delivered");
        assert_eq!((mode(&letter), mode(&root.join("new"))), (for_letters, for_folders));
    }
}

#[tokio::test]
async fn a_moved_letter_gets_a_fresh_name_that_keeps_its_time_its_sizes_and_its_flags() {
    let names = [
        ("1795882088.53_1.mx,U=1:2,", "1795882088", ":2,S"),
        ("1795882089.M1P2.mx,S=98,W=101:2,FRa", "1795882089", ",S=98,W=101:2,FRS"),
        ("1795882090.x.mx,S=98,FMD5=0fe1,U=4:2,ST", "1795882090", ",S=98:2,ST"),
        ("1795882091.y.mx,U=5", "1795882091", ":2,S"),
    ];
    let folder = maildir_with(&[]);
    for (number, (name, _, _)) in names.iter().enumerate() {
        fs::write(folder.path().join("cur").join(name), letter(&number.to_string())).expect("written");
    }
    assert_eq!(drain(inbox(&folder)).await.expect("drained").len(), names.len());
    let filed = fs::read_dir(folder.path().join(".Processed/cur")).expect("it is there");
    let mut filed: Vec<String> =
        filed.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    filed.sort();
    for (found, (old, time, end)) in filed.iter().zip(names) {
        assert!(found.starts_with(&format!("{time}.M")) && found.ends_with(end), "{old} became {found}");
        assert!(!found.contains("U=") && !found.contains("FMD5"), "{old} became {found}");
    }
}

#[tokio::test]
async fn a_processed_folder_that_is_the_inbox_itself_is_told() {
    let folder = maildir_with(&["0"]);
    std::os::unix::fs::symlink(".", folder.path().join(".Processed")).expect("a link");
    let mut running = Running::start(inbox(&folder));
    assert_eq!(subjects(&running.letters().await), ["0"]);
    running.until(|health| health.unfiled.as_ref().is_some_and(|reason| reason.contains("is read"))).await;
    // The letter is not read again.
    let seen = running.health.borrow().last_ok;
    running.until(|health| health.last_ok > seen).await;
    running.stop().await;
}

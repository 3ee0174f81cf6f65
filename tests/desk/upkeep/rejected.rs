//! Letters that the database rejects.

use fogpost::daemon::status::{SILENT_AFTER, Status};

use crate::desk::Desk;

fn letter(name: &str, subject: &str) -> String {
    format!(
        "From: {name}@new.example\r\nTo: referee@club.example\r\nSubject: {subject}\r\n\
         Message-ID: <{name}@new.example>\r\n\r\nHELP\r\n"
    )
}

#[test]
fn a_letter_that_the_database_rejects_stays_in_the_mailbox_and_stops_no_other() {
    let desk = Desk::new();
    let is_named = || {
        let (store, config) = (&desk.office().store, &desk.office().config);
        let status = Status::of(store, &config.database, &config.outbox.quota, desk.now(), SILENT_AFTER);
        let faults = desk.block_on(status).expect("the store answers").faults;
        faults.iter().any(|fault| fault.contains("the database rejects 1 letter"))
    };
    desk.change_database(
        "CREATE TRIGGER odd BEFORE INSERT ON letter WHEN NEW.subject = 'odd' \
         BEGIN SELECT RAISE(ABORT, 'it has no such sign'); END",
    );
    let kept = desk.put(&letter("zoe", "odd"));
    let moved = desk.put(&letter("yan", "even"));
    desk.work();
    assert!(kept.exists() && !moved.exists() && is_named());
    assert_eq!((desk.sent_to("zoe@new.example").len(), desk.sent_to("yan@new.example").len()), (0, 1));
    desk.change_database("DROP TRIGGER odd");
    desk.work();
    assert!(!kept.exists() && !is_named());
    assert_eq!((desk.sent_to("zoe@new.example").len(), desk.sent_to("yan@new.example").len()), (1, 0));
}

//! Letters that the database rejects.

use fogpost::daemon::status::{SILENT_AFTER, Status};

use crate::referee::Referee;

fn letter(name: &str, subject: &str) -> String {
    format!(
        "From: {name}@new.example\r\nTo: referee@club.example\r\nSubject: {subject}\r\n\
         Message-ID: <{name}@new.example>\r\n\r\nHELP\r\n"
    )
}

#[test]
fn a_letter_that_the_database_rejects_stays_in_the_mailbox_and_stops_no_other() {
    let referee = Referee::new();
    let is_named = || {
        let (store, config) = (&referee.office().store, &referee.office().config);
        let status = Status::of(store, &config.database, &config.outbox.quota, referee.now(), SILENT_AFTER);
        let faults = referee.block_on(status).expect("the store answers").faults;
        faults.iter().any(|fault| fault.contains("the database rejects 1 letter"))
    };
    referee.change_database(
        "CREATE TRIGGER odd BEFORE INSERT ON letter WHEN NEW.subject = 'odd' \
         BEGIN SELECT RAISE(ABORT, 'it has no such sign'); END",
    );
    let kept = referee.put(&letter("zoe", "odd"));
    let moved = referee.put(&letter("yan", "even"));
    referee.work();
    assert!(kept.exists() && !moved.exists() && is_named());
    assert_eq!((referee.sent_to("zoe@new.example").len(), referee.sent_to("yan@new.example").len()), (0, 1));
    referee.change_database("DROP TRIGGER odd");
    referee.work();
    assert!(!kept.exists() && !is_named());
    assert_eq!((referee.sent_to("zoe@new.example").len(), referee.sent_to("yan@new.example").len()), (1, 0));
}

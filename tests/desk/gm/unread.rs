//! A mailbox that cannot be read: the status says so, and the GM gets one letter.

use std::fs;

use fogpost::daemon::loops;
use fogpost::daemon::status::{SILENT_AFTER, Status};

use crate::referee::{GM, Referee, Sent};

fn faults(referee: &Referee) -> Vec<String> {
    let office = referee.office();
    let (database, quota) = (&office.config.database, &office.config.outbox.quota);
    let status = Status::of(&office.store, database, quota, referee.now(), SILENT_AFTER);
    let mut faults = referee.block_on(status).expect("the store answers").faults;
    faults.retain(|fault| fault.contains("mailbox"));
    faults
}

fn told(referee: &Referee) -> Vec<Sent> {
    let mut sent = referee.sent_to(GM);
    sent.retain(|sent| sent.subject == "The mailbox cannot be read");
    sent
}

#[test]
fn the_gm_is_told_once_that_the_mailbox_cannot_be_read() {
    let referee = Referee::new();
    referee.work();
    assert_eq!(faults(&referee), [""; 0]);
    let (mailbox, away) = (referee.folder().join("mail/referee"), referee.folder().join("away"));
    fs::rename(&mailbox, &away).expect("moved");
    let works = |referee: &Referee| referee.block_on(loops::once(referee.office())).is_ok();
    assert!(!works(&referee));
    assert_eq!(told(&referee).len(), 0, "it may pass");
    referee.sleep(1);
    assert!(!works(&referee) && !works(&referee));
    let letters = told(&referee);
    assert_eq!(letters.len(), 1);
    letters[0].says("mail/referee").says("Nobody is late meanwhile").says("fogpost doctor");
    let fault = faults(&referee).join("\n");
    assert!(
        fault.contains("cannot be read (1 hour so far)") && fault.contains("inbox.maildir.path"),
        "{fault}"
    );
    referee.sleep(1);
    assert!(!works(&referee));
    assert_eq!(told(&referee).len(), 0, "one letter for one outage");
    fs::rename(&away, &mailbox).expect("moved back");
    referee.work();
    assert_eq!(faults(&referee), [""; 0]);
}

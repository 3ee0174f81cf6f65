//! A mailbox that cannot be read: the status says so, and the GM gets one letter.

use std::fs;

use fogpost::daemon::loops::run;
use fogpost::daemon::status::{SILENT_AFTER, Status};

use crate::desk::{Desk, GM, Sent};

fn faults(desk: &Desk) -> Vec<String> {
    let office = desk.office();
    let (database, quota) = (&office.config.database, &office.config.outbox.quota);
    let status = Status::of(&office.store, database, quota, desk.now(), SILENT_AFTER);
    let mut faults = desk.block_on(status).expect("the store answers").faults;
    faults.retain(|fault| fault.contains("mailbox"));
    faults
}

fn told(desk: &Desk) -> Vec<Sent> {
    let mut sent = desk.sent_to(GM);
    sent.retain(|sent| sent.subject == "The mailbox cannot be read");
    sent
}

#[test]
fn the_gm_is_told_once_that_the_mailbox_cannot_be_read() {
    let desk = Desk::new();
    desk.work();
    assert_eq!(faults(&desk), [""; 0]);
    let (mailbox, away) = (desk.folder().join("mail/referee"), desk.folder().join("away"));
    fs::rename(&mailbox, &away).expect("moved");
    let works = |desk: &Desk| desk.block_on(run::once(desk.office())).is_ok();
    assert!(!works(&desk));
    assert_eq!(told(&desk).len(), 0, "it may pass");
    desk.sleep(1);
    assert!(!works(&desk) && !works(&desk));
    let letters = told(&desk);
    assert_eq!(letters.len(), 1);
    letters[0].says("mail/referee").says("Nobody is late meanwhile").says("fogpost doctor");
    let fault = faults(&desk).join("\n");
    assert!(
        fault.contains("cannot be read (1 hour so far)") && fault.contains("inbox.maildir.path"),
        "{fault}"
    );
    desk.sleep(1);
    assert!(!works(&desk));
    assert_eq!(told(&desk).len(), 0, "one letter for one outage");
    fs::rename(&away, &mailbox).expect("moved back");
    desk.work();
    assert_eq!(faults(&desk), [""; 0]);
}

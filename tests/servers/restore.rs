//! Restoring an older backup: the letters processed since are read again.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use crate::play::{BO, Person, club_on, open_match};
use crate::servers::Servers;
use crate::support::PATIENCE;

#[test]
fn after_a_restore_processed_letters_are_read_again_and_nothing_is_answered_twice() {
    let Some(servers) = Servers::start() else { return };
    let club = club_on(&servers, "tls");
    let (mut ann, mut bo) = (Person::new(&servers, "Ann"), Person::new(&servers, "Bo"));
    let id = open_match(&club, "quad", BO, &[]);
    let daemon = club.start();
    let to_ann = ann.reads("Turn 1", &club);
    ann.answers(&to_ann, "MARBLE E5");
    ann.reads("Your orders are sealed", &club);
    let to_bo = bo.reads("please send your orders", &club);
    let copy = club.path("copy.db").display().to_string();
    assert!(club.run(&["backup", &copy]).status.success(), "while the daemon runs");
    bo.answers(&to_bo, "MARBLE A5");
    bo.reads("Your orders are sealed", &club);
    ann.reads("please send your orders", &club);
    // Each player has the invitation and the reports of two turns, one of them with the receipt.
    let before = ["ann", "bo"].map(|name| has(&servers, name, 3));
    let refused = club.run(&["restore", &copy]);
    assert_eq!(refused.status.code(), Some(1), "the daemon runs");
    daemon.kill();
    let restored = club.run(&["restore", &copy]);
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    let _daemon = club.start();
    // Bo's letter is not in the backup. It is ruled on again, and answered once more.
    bo.reads("Your orders are sealed", &club);
    let to_ann = ann.reads("please send your orders", &club);
    // Ann's letter is in the backup and has no effect. What she writes now is for the open turn.
    ann.answers(&to_ann, "MARBLE E6");
    ann.reads("Your orders are sealed", &club);
    bo.reads("please send your orders", &club);
    // The turn was decided at another time, so its reports name another ledger head: with another text, they have other
    // Message-IDs.
    let after = [has(&servers, "ann", 5), has(&servers, "bo", 5)];
    assert_eq!(after.each_ref().map(BTreeSet::len), [5, 5], "{}", club.report());
    assert!(before[0].is_subset(&after[0]) && before[1].is_subset(&after[1]));
    assert!(servers.letters("bo", "INBOX").len() > 4, "the report came a second time");
    let verified = club.run(&["audit", "verify", &id]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    assert_eq!(servers.letters("referee", "INBOX").len(), 0);
    assert_eq!(servers.letters("referee", "Processed").len(), 3);
}

/// Waits until somebody has `count` letters with different Message-IDs, and returns these.
fn has(servers: &Servers, name: &str, count: usize) -> BTreeSet<String> {
    let id = |raw: &Vec<u8>| {
        let mail = mail_parser::MessageParser::default().parse(raw).expect("a letter");
        mail.message_id().expect("our letters bear one").to_owned()
    };
    let began = Instant::now();
    loop {
        let ids: BTreeSet<String> = servers.letters(name, "INBOX").iter().map(id).collect();
        if ids.len() >= count || began.elapsed() > PATIENCE {
            return ids;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

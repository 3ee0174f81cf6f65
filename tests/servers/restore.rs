//! A backup put back while the mailbox has gone on: what the folder of processed letters holds is read again.

use crate::play::{Club, Person};
use crate::servers::Servers;

#[test]
fn after_a_restore_the_processed_letters_are_read_again_and_nothing_is_answered_twice() {
    let Some(servers) = Servers::start() else { return };
    let mut club = Club::new(&servers, "tls");
    let (mut ann, mut bo) = (Person::new(&servers, "Ann"), Person::new(&servers, "Bo"));
    let id = club.open("quad", "Bo <bo@club.test>", &[]);
    club.start();
    let to_ann = ann.reads("Turn 1", &club);
    ann.answers(&to_ann, "MARBLE E5");
    ann.reads("Your orders are sealed", &club);
    let to_bo = bo.reads("please send your orders", &club);
    let copy = club.path("copy.db").display().to_string();
    assert!(club.run(&["backup", &copy]).status.success(), "while the daemon runs");
    bo.answers(&to_bo, "MARBLE A5");
    bo.reads("Your orders are sealed", &club);
    ann.reads("please send your orders", &club);
    let refused = club.run(&["restore", &copy]);
    assert_eq!(refused.status.code(), Some(1), "the daemon runs");
    club.kill();
    let (ann_has, bo_has) = (servers.letters("ann", "INBOX").len(), servers.letters("bo", "INBOX").len());
    let restored = club.run(&["restore", &copy]);
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    club.start();
    // Bo's letter is not in the backup: it is ruled on again, and the letters that come of it are those that came.
    bo.reads("Your orders are sealed", &club);
    bo.reads("Turn 3", &club);
    let to_ann = ann.reads("please send your orders", &club);
    // Ann's is, and brings nothing; what she writes now is for the turn that is open.
    ann.answers(&to_ann, "MARBLE E6");
    ann.reads("Your orders are sealed", &club);
    bo.reads("please send your orders", &club);
    for (name, before, since) in [("ann", ann_has, 3), ("bo", bo_has, 3)] {
        let letters = servers.letters(name, "INBOX");
        assert_eq!(letters.len(), before + since, "{name}\n{}", club.log());
    }
    let mut ids: Vec<String> = servers.letters("bo", "INBOX").iter().map(|raw| message_id(raw)).collect();
    ids.sort();
    let sent = ids.len();
    ids.dedup();
    assert_eq!(
        sent - ids.len(),
        2,
        "the receipt and the report came a second time, as the letters that they were"
    );
    let verified = club.run(&["audit", "verify", &id]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    assert_eq!(servers.letters("referee", "INBOX").len(), 0);
    assert_eq!(servers.letters("referee", "Processed").len(), 3);
}

fn message_id(raw: &[u8]) -> String {
    let mail = mail_parser::MessageParser::default().parse(raw).expect("a letter");
    mail.message_id().expect("our letters bear one").to_owned()
}

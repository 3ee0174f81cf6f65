//! Backups, made while the program runs, and what a restored program does about letters received since.

use std::collections::BTreeSet;

use fogpost::game::any::GameKind;
use fogpost::store;

use crate::desk::{ANN, BO, Desk};

#[test]
fn letters_received_since_a_backup_are_read_again_and_those_before_it_are_not_answered_twice() {
    let mut desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
    desk.reply(ANN, &to_ann, "STATUS");
    desk.reply(ANN, &to_ann, "MARBLE E5");
    let backup = desk.folder().join("backup.db");
    desk.block_on(desk.office().store.backup(&backup)).expect("a backup");
    assert!(desk.block_on(desk.office().store.backup(&backup)).is_err(), "a backup is not overwritten");
    desk.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    let at_the_end = desk.find(&game_match.id);
    let (ann, bo) = (desk.all_to(ANN), desk.all_to(BO));
    let url = desk.office().config.database.url.clone();
    let mut replaced = None;
    desk.restart_after(|_| {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        replaced = runtime.block_on(store::restore(&url, &backup)).expect("restored");
    });
    assert!(replaced.expect("the database before is kept").exists());
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1, "Bo's letter is not in the backup");
    desk.work();
    let after = desk.find(&game_match.id);
    assert_eq!((after.state, after.adjudicated.len()), (at_the_end.state, 2));
    // Ann has nothing new but the report of turn 2, which is the letter that she has, by its Message-ID.
    let (ann_now, bo_now) = (desk.all_to(ANN), desk.all_to(BO));
    let ids = |letters: &[crate::desk::Sent]| -> BTreeSet<String> {
        letters.iter().map(|sent| sent.message_id.clone()).collect()
    };
    assert_eq!(ids(&ann_now), ids(&ann));
    assert_eq!(ids(&bo_now), ids(&bo));
    assert_eq!(ann_now.len(), ann.len() + 1);
    desk.work();
    desk.restart();
    desk.work();
    assert_eq!((desk.all_to(ANN).len(), desk.all_to(BO).len()), (ann_now.len(), bo_now.len()));
}

#[test]
fn what_is_no_database_of_ours_is_not_restored() {
    let desk = Desk::new();
    let bad = desk.folder().join("bad.db");
    std::fs::write(&bad, "no database").expect("written");
    let url = desk.office().config.database.url.clone();
    assert!(desk.block_on(store::restore(&url, &bad)).is_err());
    assert!(!desk.folder().join("fogpost.db.restoring").exists());
    desk.work();
    let hold = desk.block_on(desk.office().store.lock("this test")).expect("held");
    let refused = desk.block_on(store::restore(&url, &bad)).expect_err("a daemon works on it");
    assert!(refused.to_string().contains("this test"), "{refused}");
    drop(hold);
}

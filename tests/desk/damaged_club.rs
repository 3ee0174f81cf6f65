//! Damage to the club's own book: letters go out all the same, and the GM is told of it once a day.

use fogpost::game::any::GameKind;

use crate::desk::{ANN, Desk, GM};

/// Ways to damage the book, some of which keep anything from being written to it.
const DAMAGES: [&str; 3] = [
    "UPDATE book SET snapshot = 'x'",
    "UPDATE book SET kind = 'x'",
    "DROP TRIGGER book_entry_is_not_deleted; \
     DELETE FROM book_entry WHERE seq = (SELECT MAX(seq) FROM book_entry)",
];

/// Runs the program for so long that the clock is checked often enough, and returns whether an error was reported.
fn advance(desk: &Desk, hours: i64) -> bool {
    let mut has_failed = false;
    for _ in 0..hours / 2 {
        desk.sleep(2);
        has_failed |= desk.block_on(desk.office().once()).is_err();
    }
    has_failed
}

/// How many alarms the GM got since the last call.
fn alarms(desk: &Desk) -> usize {
    desk.sent_to(GM).iter().filter(|sent| sent.subject == "A ledger does not verify").count()
}

#[test]
fn a_damaged_book_is_told_once_a_day_and_keeps_no_letter_back() {
    for damage in DAMAGES {
        let desk = Desk::new();
        desk.untidy.set(true);
        desk.work();
        desk.open(GameKind::Quad, &[]);
        let to_ann = desk.one_to(ANN);
        desk.advance(26);
        assert_eq!(alarms(&desk), 0);
        desk.sent_to(ANN);
        desk.change_database(damage);
        desk.put(&desk.answer(ANN, &to_ann, "STATUS"));
        assert!(advance(&desk, 26), "{damage}");
        assert!(!desk.sent_to(ANN).is_empty(), "{damage}");
        assert_eq!(alarms(&desk), 1, "{damage}");
        advance(&desk, 24);
        assert_eq!(alarms(&desk), 1, "{damage}");
    }
}

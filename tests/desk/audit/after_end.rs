//! After the end of a match, an entry lists its last letters and says that they arrived, so that the chain pins them.

use fogpost::daemon::audit::verify;
use fogpost::game::any::GameKind;
use fogpost::ledger::{Entry, Fact};

use crate::audit::database::{cheat, entries};
use crate::audit::tampered::tampered;
use crate::desk::{ANN, BO, Desk, Sent};

/// A match that Ann has just resigned, and her invitation to it.
fn ended(desk: &Desk) -> (String, Sent) {
    let id = desk.open(GameKind::Quad, &[]).id;
    let to_ann = desk.one_to(ANN);
    desk.one_to(BO);
    desk.reply(ANN, &to_ann, "RESIGN CONFIRM");
    (id, to_ann)
}

/// The entries that list letters.
fn listings(desk: &Desk, id: &str) -> Vec<Entry> {
    let mut all = entries(desk, id);
    all.retain(|entry| entry.fact == Fact::LettersListed {});
    all
}

#[test]
fn the_pins_and_deliveries_of_the_result_are_listed_once_and_send_no_letter() {
    let desk = Desk::new();
    let (id, _) = ended(&desk);
    let told = desk.find(&id).told;
    assert_eq!((listings(&desk, &id).len(), told.len()), (0, 3), "the results have just been sent");
    let _ = (desk.sent_to(ANN), desk.sent_to(BO));
    desk.advance(50);
    let [listed] = &listings(&desk, &id)[..] else { panic!("one entry lists them") };
    let delivered: Vec<_> = listed.delivered.iter().map(|delivery| delivery.letter).collect();
    assert_eq!((&listed.told, &delivered), (&told, &told));
    assert!(desk.find(&id).told.is_empty());
    assert!(desk.sent_to(ANN).is_empty() && desk.sent_to(BO).is_empty());
    assert!(desk.verify(&id).is_sound());
}

#[test]
fn letters_after_the_end_are_listed_too() {
    let desk = Desk::new();
    let (id, to_ann) = ended(&desk);
    desk.advance(2);
    desk.reply(ANN, &to_ann, "STATUS");
    desk.advance(4);
    let [_, later] = &listings(&desk, &id)[..] else { panic!("two entries list letters") };
    assert_eq!((later.told.len(), later.delivered.len()), (1, 1), "the answer");
    assert!(desk.verify(&id).is_sound());
}

#[test]
fn a_running_match_gets_no_such_entry() {
    let desk = Desk::new();
    let id = desk.open(GameKind::Quad, &[]).id;
    desk.advance(30);
    assert!(listings(&desk, &id).is_empty());
}

#[test]
fn letters_that_were_given_up_are_listed_by_their_pins() {
    let desk = Desk::new();
    let (id, _) = ended(&desk);
    cheat(&desk, &["UPDATE dispatch SET sent_at = NULL WHERE pin IS NOT NULL AND listed = 0"]);
    desk.advance(2);
    let [listed] = &listings(&desk, &id)[..] else { panic!("one entry lists them") };
    assert_eq!((listed.told.len(), listed.delivered.len()), (3, 0));
    desk.advance(30);
    assert_eq!(listings(&desk, &id).len(), 1, "nothing is new");
}

/// Ways to tamper with the stored data of a finished match, each with words of the finding. `{result}` is the result
/// to Ann.
const WAYS: &[(&str, &str)] = &[
    (
        "DELETE FROM dispatch_picture WHERE dispatch_id = {result}; \
         UPDATE dispatch_raw SET bytes = x'28b52ffd2000010000' WHERE dispatch_id = {result}",
        "was changed",
    ),
    ("UPDATE dispatch SET sent_at = sent_at - 1000 WHERE id = {result}", "is not stored as sent when entry"),
    ("UPDATE dispatch SET sent_at = NULL WHERE id = {result}", "is not stored as sent when entry"),
    (
        "DELETE FROM dispatch_picture WHERE dispatch_id = {result}; DELETE FROM dispatch_raw WHERE dispatch_id = {result}; \
         DELETE FROM dispatch WHERE id = {result}",
        "it is missing",
    ),
    ("DELETE FROM entry WHERE kind = 'LettersListed'", "does not list the letters of the last ruling"),
    ("UPDATE match SET ended_at = ended_at - 1000", "when the ledger says"),
    ("UPDATE match SET ended_at = NULL", "when the ledger says"),
];

#[test]
fn tampering_with_a_match_that_is_over_is_named() {
    let desk = Desk::new();
    let (id, _) = ended(&desk);
    desk.advance(50);
    let result = format!("(SELECT MAX(id) FROM dispatch WHERE match_id = '{id}' AND recipient = '{ANN}')");
    let mut unnamed = Vec::new();
    for (sql, named) in WAYS {
        let sql = sql.replace("{result}", &result);
        let statements: Vec<String> = sql.split("; ").map(str::to_owned).collect();
        let office = tampered(&desk, &statements);
        let said = desk.block_on(async {
            let verdict = verify::verify(&office, &id, &|_| ()).await.expect("the store answers");
            office.store.close().await;
            format!("{:?}", verdict.findings)
        });
        if !said.contains(named) {
            unnamed.push(format!("{sql}: {named:?} is not in {said}"));
        }
    }
    assert!(unnamed.is_empty(), "{}", unnamed.join("\n"));
}

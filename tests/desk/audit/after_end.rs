//! After the end of a match, an entry lists its last letters and says that they arrived, so that the chain pins them.

use fogpost::daemon::audit::verify;
use fogpost::game::any::GameKind;
use fogpost::ledger::{Entry, Fact};

use crate::audit::database::{cheat, entries};
use crate::audit::tampered::tampered;
use crate::referee::{ANN, BO, Referee, Sent};

/// A match that Ann has just resigned, and her invitation to it.
fn ended(referee: &Referee) -> (String, Sent) {
    let id = referee.open(GameKind::Quad, &[]).id;
    let to_ann = referee.one_to(ANN);
    referee.one_to(BO);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    (id, to_ann)
}

/// The entries that list letters.
fn listings(referee: &Referee, id: &str) -> Vec<Entry> {
    let mut all = entries(referee, id);
    all.retain(|entry| entry.fact == Fact::LettersListed {});
    all
}

#[test]
fn the_pins_and_deliveries_of_the_result_are_listed_once_and_send_no_letter() {
    let referee = Referee::new();
    let (id, _) = ended(&referee);
    let told = referee.find(&id).pins;
    assert_eq!((listings(&referee, &id).len(), told.len()), (0, 3), "the results have just been sent");
    let _ = (referee.sent_to(ANN), referee.sent_to(BO));
    referee.advance(50);
    let [listed] = &listings(&referee, &id)[..] else { panic!("one entry lists them") };
    let delivered: Vec<_> = listed.delivered.iter().map(|delivery| delivery.letter).collect();
    assert_eq!((&listed.pins, &delivered), (&told, &told));
    assert!(referee.find(&id).pins.is_empty());
    assert!(referee.sent_to(ANN).is_empty() && referee.sent_to(BO).is_empty());
    assert!(referee.verify(&id).is_sound());
}

#[test]
fn letters_after_the_end_are_listed_too() {
    let referee = Referee::new();
    let (id, to_ann) = ended(&referee);
    referee.advance(2);
    referee.reply(ANN, &to_ann, "STATUS");
    referee.advance(4);
    let [_, later] = &listings(&referee, &id)[..] else { panic!("two entries list letters") };
    assert_eq!((later.pins.len(), later.delivered.len()), (1, 1), "the answer");
    assert!(referee.verify(&id).is_sound());
}

#[test]
fn a_running_match_gets_no_such_entry() {
    let referee = Referee::new();
    let id = referee.open(GameKind::Quad, &[]).id;
    referee.advance(30);
    assert!(listings(&referee, &id).is_empty());
}

#[test]
fn letters_that_were_given_up_are_listed_by_their_pins() {
    let referee = Referee::new();
    let (id, _) = ended(&referee);
    cheat(&referee, &["UPDATE dispatch SET sent_at = NULL WHERE pin IS NOT NULL AND listed = 0"]);
    referee.advance(2);
    let [listed] = &listings(&referee, &id)[..] else { panic!("one entry lists them") };
    assert_eq!((listed.pins.len(), listed.delivered.len()), (3, 0));
    referee.advance(30);
    assert_eq!(listings(&referee, &id).len(), 1, "nothing is new");
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
    let referee = Referee::new();
    let (id, _) = ended(&referee);
    referee.advance(50);
    let result = format!("(SELECT MAX(id) FROM dispatch WHERE match_id = '{id}' AND recipient = '{ANN}')");
    let mut unnamed = Vec::new();
    for (sql, named) in WAYS {
        let sql = sql.replace("{result}", &result);
        let statements: Vec<String> = sql.split("; ").map(str::to_owned).collect();
        let office = tampered(&referee, &statements);
        let said = referee.block_on(async {
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

//! What the daily audit writes to the club's book, and what the book proves of letters that no ledger lists.

use std::collections::BTreeMap;

use fogpost::audit::AuditVerdict;
use fogpost::club::{BookEntry, BookFact, Verified};
use fogpost::game::any::GameKind;

use crate::audit::cheat;
use crate::club::{assert_club_is_sound, book};
use crate::desk::{ANN, BO, Desk, GM};
use crate::tamper_ways::WITH_WHAT_THE_BOOK_LISTS;
use crate::tampered::tampered;

fn words(verdict: &AuditVerdict) -> String {
    verdict.findings.iter().map(|finding| format!("{}: {}; ", finding.place, finding.what)).collect()
}

/// The matches that the book verified, each with where its ledger ended.
fn verified(desk: &Desk) -> Vec<(String, u64)> {
    let verified = book(desk).into_iter().filter_map(|entry| match entry.fact {
        BookFact::Verified(Verified { match_id, head, .. }) => Some((match_id, head.seq)),
        _ => None,
    });
    verified.collect()
}

/// How many matches each audit checked, and how many were not sound.
fn audits(desk: &Desk) -> Vec<(u64, u64)> {
    let rows = desk.block_on(desk.office().store.book_entries_of_kind("CLUB", "Audited"));
    let rows = rows.expect("the store answers").into_iter();
    let audits =
        rows.filter_map(|json| match serde_json::from_str::<BookEntry>(&json).expect("an entry").fact {
            BookFact::Audited { matches, unsound, .. } => Some((matches, unsound)),
            _ => None,
        });
    audits.collect()
}

#[test]
fn the_daily_audit_verifies_what_is_new_once() {
    let desk = Desk::new();
    desk.work();
    let id = desk.open(GameKind::Quad, &[]).id;
    let to_ann = desk.one_to(ANN);
    desk.advance(26);
    let first = desk.find(&id).head.seq;
    assert_eq!((verified(&desk), audits(&desk)), (vec![(id.clone(), first)], vec![(1, 0)]));
    desk.advance(24);
    assert_eq!(verified(&desk).len(), 1, "nothing was new");
    desk.reply(ANN, &to_ann, "STATUS");
    desk.advance(24);
    let last = desk.find(&id).head.seq;
    assert_eq!(verified(&desk), [(id.clone(), first), (id.clone(), last)]);
    assert_eq!(audits(&desk), [(1, 0), (1, 0), (1, 0)]);
    assert!(desk.verify(&id).is_sound());
    assert_club_is_sound(&desk);
}

#[test]
fn a_match_that_fails_is_not_noted_as_verified_and_the_gm_is_told_at_once() {
    let desk = Desk::new();
    desk.work();
    let id = desk.open(GameKind::Quad, &[]).id;
    cheat(&desk, &["UPDATE entry SET json = replace(json, 'Ann', 'Eve') WHERE seq = 1"]);
    desk.advance(26);
    assert_eq!((verified(&desk), audits(&desk)), (Vec::new(), vec![(1, 1)]));
    assert!(desk.sent_to(GM).iter().any(|letter| letter.text.contains(&id)), "the GM is told");
}

#[test]
fn a_ledger_that_is_rewritten_after_it_was_verified_is_named_with_the_entry_of_the_book() {
    let desk = Desk::new();
    desk.work();
    let id = desk.open(GameKind::Quad, &[]).id;
    desk.advance(26);
    let head = desk.find(&id).head.hash.to_string();
    let (from, to) = (&head[..8], if head.starts_with('0') { "11111111" } else { "00000000" });
    cheat(
        &desk,
        &[&format!("UPDATE book_entry SET json = replace(json, '{from}', '{to}') WHERE kind = 'Verified'")],
    );
    let said = words(&desk.verify(&id));
    assert!(said.contains("verified another entry in its place"), "{said}");
}

#[test]
fn a_wrong_anchor_is_all_that_is_said_of_the_book() {
    let (desk, id) = ended();
    let wrong = "UPDATE anchor_secret SET secret = replace(secret, substr(secret, 1, 8), '00000000') \
                 WHERE book_seq = (SELECT MAX(book_seq) FROM anchor_secret)";
    let said = said_after(&desk, &id, &[wrong.to_owned()]);
    assert!(said.ends_with("the secret of its anchor is not the one that it pins; "), "{said}");
    assert_eq!(said.matches("; ").count(), 1, "{said}");
}

#[test]
fn a_row_with_impossible_contents_is_told_to_the_gm_and_spares_the_other_matches() {
    for (change, place, what) in [
        ("UPDATE match SET zone = 'x' WHERE id = '{id}'", "{id}", "x is not a valid"),
        ("UPDATE match SET snapshot = CAST(x'ff' AS TEXT) WHERE id = '{id}'", "{id}", "the database: "),
        ("UPDATE verified SET seq = -1 WHERE match_id = '{id}'", "{id}", "-1 is not a valid count"),
        (
            "UPDATE book_entry SET hash = 'x' || substr(hash, 2) WHERE kind = 'Anchored'",
            "CLUB",
            "is not a valid digest",
        ),
        (
            "UPDATE anchor_secret SET secret = 'x' || substr(secret, 2)",
            "CLUB",
            "is not a valid secret of an anchor",
        ),
    ] {
        let desk = Desk::new();
        desk.work();
        let id = desk.open(GameKind::Quad, &[]).id;
        let other = desk.open(GameKind::Quad, &[]).id;
        desk.advance(26);
        desk.sent_to(GM);
        cheat(&desk, &[&change.replace("{id}", &id)]);
        desk.sleep(24);
        let office = desk.office();
        desk.block_on(async { office.work_on_club().await.and(office.dispatch_all().await) }).expect(change);
        let place = place.replace("{id}", &id);
        let alarm = desk.one_to(GM);
        alarm.says(&place).says(what).keeps_silent_of(&other);
        assert_eq!(audits(&desk).last(), Some(&(2, u64::from(place == id))), "{change}");
    }
}

/// A match that ended, letters about no match, and two days after which all is anchored and audited.
fn ended() -> (Desk, String) {
    let desk = Desk::new();
    desk.work();
    let id = desk.open(GameKind::Quad, &[]).id;
    let to_ann = desk.one_to(ANN);
    desk.one_to(BO);
    desk.receive("From: cy@players.example\r\nSubject: Hello\r\nMessage-ID: <1@cy>\r\n\r\nHELP\r\n");
    desk.reply(ANN, &to_ann, "RESIGN CONFIRM");
    desk.advance(50);
    (desk, id)
}

/// What the checks of the match and of the book say after these statements.
fn said_after(desk: &Desk, id: &str, statements: &[String]) -> String {
    let office = tampered(desk, statements);
    desk.block_on(async {
        let of_match = office.verify(id, &|_| ()).await.expect("the store answers");
        let club = office.verify_club().await.expect("the store answers");
        office.store.close().await;
        format!("{}{}", words(&of_match), words(&club))
    })
}

#[test]
fn deliveries_that_no_ledger_lists_stand_in_the_book() {
    let (desk, id) = ended();
    let listed = book(&desk).into_iter().filter_map(|entry| match entry.fact {
        BookFact::Delivered { letters } => Some(letters),
        _ => None,
    });
    let mut by_match: BTreeMap<Option<String>, usize> = BTreeMap::new();
    for late in listed.flatten() {
        *by_match.entry(late.match_id).or_default() += 1;
    }
    assert!(
        by_match.get(&None).is_some_and(|letters| *letters > 0),
        "the answer to a stranger: {by_match:?}"
    );
    assert!(by_match.get(&Some(id)).is_some_and(|letters| *letters >= 2), "the results: {by_match:?}");
    assert_club_is_sound(&desk);
}

#[test]
fn tampering_with_what_the_book_lists_is_named() {
    let anchored = "(SELECT MIN(at) FROM book_entry WHERE kind = 'Anchored')";
    let plain = "(SELECT MAX(id) FROM dispatch WHERE match_id IS NULL AND listed = 1)";
    let result = "(SELECT MAX(d.id) FROM dispatch d JOIN late_delivery l ON l.dispatch_id = d.id WHERE d.match_id = '{id}')";
    let (desk, id) = ended();
    assert_eq!(said_after(&desk, &id, &[]), "", "before anything is done");
    let mut unnamed = Vec::new();
    for (what, sql, named) in WITH_WHAT_THE_BOOK_LISTS {
        let sql = sql
            .replace("{anchored}", anchored)
            .replace("{plain}", plain)
            .replace("{result}", result)
            .replace("{id}", &id);
        let statements: Vec<String> = sql.split("; ").map(str::to_owned).collect();
        let said = said_after(&desk, &id, &statements);
        if !said.contains(named) {
            unnamed.push(format!("{what}: {named:?} is not in {said:?}"));
        }
    }
    assert!(unnamed.is_empty(), "{}", unnamed.join("\n"));
}

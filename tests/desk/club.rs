//! The club's own book: the daily anchor, how letters tell it, and how the audit checks it.

use fogpost::audit::{AnchorVerdict, AnchorWitness, AuditVerdict};
use fogpost::club::{BookEntry, BookFact};
use fogpost::game::any::GameKind;
use fogpost::store::EntryRow;

use crate::audit::cheat;
use crate::desk::{ANN, BO, Desk};

/// The entries of the club's book.
pub fn book(desk: &Desk) -> Vec<BookEntry> {
    let mut rows: Vec<EntryRow> = Vec::new();
    let mut take = |row| rows.push(row);
    desk.block_on(desk.office().store.book_entries("CLUB", None, 1000, &mut take))
        .expect("the store answers");
    rows.iter().map(|row| serde_json::from_str(&row.json).expect("an entry")).collect()
}

/// The days that are anchored.
fn days(desk: &Desk) -> Vec<String> {
    let days = book(desk).into_iter().filter_map(|entry| match entry.fact {
        BookFact::Anchored(anchored) => Some(anchored.day.to_string()),
        _ => None,
    });
    days.collect()
}

#[track_caller]
pub fn assert_club_is_sound(desk: &Desk) -> AuditVerdict {
    let verdict = desk.block_on(desk.office().verify_club()).expect("the store answers");
    assert!(verdict.is_sound(), "{verdict:#?}");
    verdict
}

/// The lines of the footer that tell the anchor.
fn anchor_lines(text: &str) -> String {
    let from = text.find("Anchor of ").map_or("", |at| &text[at..]);
    from.lines().take(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn ledgers_are_anchored_once_a_day_and_after_an_outage_once() {
    let desk = Desk::new();
    desk.work();
    assert_eq!(days(&desk), [] as [&str; 0], "the first day has no hour behind it");
    desk.advance(14);
    assert_eq!(days(&desk), [] as [&str; 0]);
    desk.advance(2);
    assert_eq!(days(&desk), ["2026-05-08"], "in a club without matches, too");
    desk.open(GameKind::Quad, &[]);
    desk.advance(24);
    assert_eq!(days(&desk), ["2026-05-08", "2026-05-09"]);
    desk.sleep(72);
    desk.work();
    desk.advance(4);
    assert_eq!(days(&desk), ["2026-05-08", "2026-05-09", "2026-05-12"]);
    assert_club_is_sound(&desk);
}

#[test]
fn both_players_are_told_the_same_anchor_in_their_next_letters() {
    let desk = Desk::new();
    let id = desk.open(GameKind::Quad, &[]).id;
    let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
    to_ann.keeps_silent_of("Anchor of");
    desk.advance(20);
    desk.reply(ANN, &to_ann, "STATUS");
    let answer = desk.one_to(ANN);
    let told = anchor_lines(&answer.text);
    assert!(told.starts_with("Anchor of 2026-05-08 sha256 | "), "{told}");
    assert!(answer.html.contains("Anchor of 2026-05-08 sha256"));
    desk.reply(BO, &to_bo, "STATUS");
    assert_eq!(anchor_lines(&desk.one_to(BO).text), told);
    // Nothing was written, and yet the next anchor differs: it does not show whether a ledger has grown.
    desk.advance(24);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    let next: Vec<String> =
        desk.sent_to(ANN).iter().chain(&desk.sent_to(BO)).map(|sent| anchor_lines(&sent.text)).collect();
    assert!(next.len() >= 2 && next.iter().all(|lines| *lines == next[0]), "{next:?}");
    assert!(next[0].starts_with("Anchor of 2026-05-09 sha256 | "), "{next:?}");
    assert_ne!(next[0][32..], told[32..]);
    let verdict = desk.verify(&id);
    assert!(verdict.is_sound(), "{verdict:#?}");
    assert_club_is_sound(&desk);
}

/// What the mails of both players in their mailboxes prove.
fn proven(desk: &Desk, mails: &[(&str, Vec<u8>)]) -> AnchorVerdict {
    let witnesses = mails.iter().map(|(name, raw)| AnchorWitness::of_mail(name, raw)).collect();
    desk.block_on(desk.office().verify_anchors(witnesses)).expect("the store answers")
}

/// A match in which both players were told two anchors, and the last letter to each.
fn anchored() -> (Desk, String, Vec<(&'static str, Vec<u8>)>) {
    let desk = Desk::new();
    let id = desk.open(GameKind::Quad, &[]).id;
    let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
    desk.open(GameKind::Quantum, &[]);
    desk.advance(20);
    desk.reply(ANN, &to_ann, "STATUS");
    desk.advance(24);
    desk.reply(BO, &to_bo, "STATUS");
    let last = |address| desk.raw_to(address).pop().expect("a letter");
    let mails = vec![("ann.eml", last(ANN)), ("bo.eml", last(BO))];
    (desk, id, mails)
}

#[test]
fn two_players_letters_prove_that_a_ledger_was_as_long_by_a_day() {
    let (desk, id, mails) = anchored();
    let verdict = proven(&desk, &mails);
    assert!(verdict.is_sound(), "{verdict:#?}");
    let told: Vec<(String, &[String])> =
        verdict.told.iter().map(|told| (told.anchor.day.to_string(), &told.told_by[..])).collect();
    assert_eq!(
        told,
        [
            ("2026-05-08".to_owned(), &["ann.eml".to_owned()][..]),
            ("2026-05-09".to_owned(), &["bo.eml".to_owned()][..])
        ]
    );
    let [dated] = &verdict.entries[..] else { panic!("one entry is anchored: {verdict:#?}") };
    assert_eq!((&dated.match_id, dated.day.to_string(), dated.is_told), (&id, "2026-05-09".to_owned(), true));
    assert_eq!(verdict.later.len(), 1, "the last letter is younger than the last anchor");
    // A hash that somebody wrote down proves the same.
    let witness = desk.block_on(desk.office().witness_of_hash(dated.hash)).expect("the store answers");
    assert_eq!(witness.ledgers.len(), 1);
    let alone = desk.block_on(desk.office().verify_anchors(vec![witness])).expect("the store answers");
    assert!(alone.is_sound() && !alone.entries[0].is_told, "{alone:#?}");
}

#[test]
fn a_player_who_was_told_another_root_is_named() {
    let (desk, _, mut mails) = anchored();
    let root = proven(&desk, &mails).told[0].anchor.root.to_string();
    let text = String::from_utf8(mails[0].1.clone()).expect("ASCII");
    assert!(text.contains(&root));
    mails[0].1 = text.replace(&root, &format!("00{}", &root[2..])).into_bytes();
    let verdict = proven(&desk, &mails);
    let said = format!("{:?}", verdict.findings);
    assert!(said.contains("ann.eml was told another root"), "{said}");
}

#[test]
fn a_rewritten_book_or_ledger_is_named_by_the_check_of_the_book() {
    for (change, named) in [
        (
            "UPDATE book_entry SET json = replace(json, '2026-05-08', '2026-05-07') WHERE kind = 'Anchored'",
            "was changed",
        ),
        ("UPDATE book_entry SET at = at + 1 WHERE seq = 1", "time or kind"),
        ("DELETE FROM book_entry WHERE seq = 1", "is missing"),
        ("DELETE FROM book_entry WHERE seq = (SELECT MAX(seq) FROM book_entry)", "the snapshot"),
        ("DELETE FROM book_entry", "the snapshot"),
        ("UPDATE book SET snapshot = replace(snapshot, '2026-05-09', '2026-05-10')", "the snapshot"),
        ("UPDATE anchor_secret SET secret = replace(secret, '0', '1')", "the secret"),
        ("UPDATE anchored_head SET seq = seq - 1", "does not follow from the ledgers"),
        ("DELETE FROM anchored_head", "does not follow from the ledgers"),
        ("UPDATE entry SET hash = '00' || substr(hash, 3) WHERE seq = 2", "does not follow from the ledgers"),
    ] {
        let (desk, ..) = anchored();
        cheat(&desk, &[change]);
        let verdict = desk.block_on(desk.office().verify_club()).expect("the store answers");
        let said: String =
            verdict.findings.iter().map(|finding| format!("{}: {}; ", finding.place, finding.what)).collect();
        assert!(said.contains(named), "{change}: {named:?} is not in {said:?}");
    }
}

#[test]
fn an_anchor_that_the_book_does_not_hold_is_named_by_the_check_of_the_match() {
    let (desk, id, _) = anchored();
    cheat(&desk, &["DELETE FROM book_entry", "DELETE FROM book"]);
    let verdict = desk.verify(&id);
    let said = format!("{:?}", verdict.findings);
    assert!(said.contains("that the club's book does not hold"), "{said}");
}

#[test]
fn letters_with_an_anchor_are_equal_whether_the_opponent_has_written_or_not() {
    let told = |bo_writes: bool| {
        let desk = Desk::new();
        let id = desk.open(GameKind::Quad, &[]).id;
        let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
        if bo_writes {
            desk.reply(BO, &to_bo, "STATUS");
        }
        desk.advance(20);
        if bo_writes {
            desk.reply(BO, &to_bo, "STATUS");
        }
        desk.advance(2);
        desk.reply(ANN, &to_ann, "STATUS");
        let answer = desk.one_to(ANN);
        let text = answer.text.replace(answer.token(), "TOKEN").replace(&id, "MATCH");
        let is_hash = |line: &str| line.len() == 66 && line.starts_with("| ");
        let lines = text.lines().map(|line| if is_hash(line) { "| HASH" } else { line });
        lines.collect::<Vec<_>>().join("\n")
    };
    let with = told(true);
    assert_eq!(with, told(false));
    assert!(with.contains("Anchor of 2026-05-08 sha256\n| HASH\n"), "{with}");
}

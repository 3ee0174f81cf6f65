//! Columns that repeat parts of a ledger for use in lists: `audit verify` names each that contradicts the
//! ledger.

use fogpost::daemon::audit::verify;
use fogpost::game::any::GameKind;

use crate::audit::tampered::tampered;
use crate::referee::{ANN, BO, Referee, Sent};

/// The code that follows this word in a letter.
fn code(sent: &Sent, word: &str) -> String {
    let line = sent.text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
    line.unwrap_or_else(|| panic!("no {word} in:\n{}", sent.text)).to_owned()
}

/// A running match that resulted from a challenge, and in which Ann confirmed a letter and wrote another one.
fn scene() -> (Referee, String) {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.write("Ann <ann@players.example>", &format!("CHALLENGE {BO} Quad seat=first"));
    referee.sent_to(ANN);
    let invitation = referee.one_to(BO);
    referee.reply(BO, &invitation, &format!("ACCEPT {}", code(&invitation, "ACCEPT")));
    let to_ann = referee.one_to(ANN);
    referee.reply("ann@holiday.example", &to_ann, "MARBLE E5");
    let notice = referee.one_to(ANN);
    referee.reply(ANN, &notice, &format!("CONFIRM {}", code(&notice, "CONFIRM")));
    referee.reply(ANN, &to_ann, "STATUS");
    let ids = referee.block_on(referee.office().store.match_ids()).expect("the store answers");
    referee.open(GameKind::Quad, &[]);
    referee.work();
    (referee, ids[0].clone())
}

#[test]
fn every_column_that_says_something_else_is_named() {
    let (referee, id) = scene();
    referee.untidy.set(true);
    let of_match = format!("WHERE id = '{id}'");
    let ruled = format!("WHERE match_id = '{id}' AND status = 'ruled'");
    let other = format!("(SELECT id FROM match WHERE id <> '{id}')");
    let mut unnamed = Vec::new();
    for (statement, named) in [
        (String::new(), ""),
        (format!("UPDATE match SET winner = 'first' {of_match}"), "columns winner contradict"),
        (format!("UPDATE match SET winner = 'second', reason = 'resigned' {of_match}"), "lists show"),
        (format!("UPDATE match SET marks = marks || ' settled' {of_match}"), "columns marks contradict"),
        (format!("UPDATE match SET deadline = deadline + 1000 {of_match}"), "lists show"),
        (format!("UPDATE match SET first_name = 'Eve' {of_match}"), "lists show"),
        (
            format!("UPDATE letter SET sender = 'eve@elsewhere.example' {ruled}"),
            "a sender or a subject other",
        ),
        (format!("UPDATE letter SET subject = 'I give up' {ruled}"), "a sender or a subject other"),
        (format!("UPDATE letter SET seat = 'second' {ruled}"), "under the other seat"),
        (format!("UPDATE letter SET match_id = NULL, seat = NULL {ruled}"), "without the seat"),
        (format!("UPDATE letter SET match_id = {other} {ruled}"), "under another match"),
        (format!("UPDATE letter SET received_at = received_at + 1000 {ruled}"), "another time of arrival"),
        (format!("UPDATE invitation SET game = 'pacific' WHERE match_id = '{id}'"), "with another game"),
        (
            format!("UPDATE invitation SET stage = 'declined' WHERE match_id = '{id}'"),
            "not stored as taken up",
        ),
        (
            format!("UPDATE invitation SET inviter = 'eve@elsewhere.example' WHERE match_id = '{id}'"),
            "somebody who does not play",
        ),
        ("UPDATE unproven_letter SET stage = 'denied'".to_owned(), "not stored as confirmed"),
        ("UPDATE unproven_letter SET confirmed_by = NULL".to_owned(), "not stored as confirmed"),
        ("UPDATE unproven_letter SET seat = 'second'".to_owned(), "not stored as confirmed"),
    ] {
        let statements: Vec<String> =
            Some(statement.clone()).into_iter().filter(|sql| !sql.is_empty()).collect();
        let office = tampered(&referee, &statements);
        let verdict = referee.block_on(verify::verify(&office, &id, &|_| ())).expect("the store answers");
        referee.block_on(office.store.close());
        let said: Vec<String> = verdict.findings.iter().map(|finding| finding.what.clone()).collect();
        let is_named = if named.is_empty() { said.is_empty() } else { said.join("; ").contains(named) };
        if !is_named {
            unnamed.push(format!("{statement}: {said:?}"));
        }
    }
    assert!(unnamed.is_empty(), "{unnamed:#?}");
}

#[test]
fn the_columns_of_an_ended_match_are_compared() {
    let referee = Referee::new();
    let id = referee.open(GameKind::Quad, &[]).id;
    let to_ann = referee.one_to(ANN);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    referee.untidy.set(true);
    for (statement, named) in [
        (
            "UPDATE seat SET player_id = (SELECT player_id FROM seat WHERE match_id = '{id}' AND seat = 'second') \
             WHERE match_id = '{id}' AND seat = 'first'",
            "is not as the ledger pins it",
        ),
        ("UPDATE match SET winner = 'first' WHERE id = '{id}'", "lists show"),
        ("UPDATE match SET ended_at = ended_at - 1000 WHERE id = '{id}'", "when the ledger says"),
        ("UPDATE match SET ended_at = NULL WHERE id = '{id}'", "when the ledger says"),
    ] {
        let office = tampered(&referee, &[statement.replace("{id}", &id)]);
        let verdict = referee.block_on(verify::verify(&office, &id, &|_| ())).expect("the store answers");
        referee.block_on(office.store.close());
        let said: Vec<String> = verdict.findings.iter().map(|finding| finding.what.clone()).collect();
        assert!(said.join("; ").contains(named), "{statement}: {said:?}");
    }
}

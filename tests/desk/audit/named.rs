//! Letters that entries name in addition to their cause are compared like causes: the one that opened the match, a
//! player's CONFIRM, and the one that changed the holder of a seat.

use fogpost::audit::Place;
use fogpost::ledger::{Act, Cause, Entry, EntryCause};
use fogpost::letter::Digest;

use crate::audit::database::{cheat, entries, found, letter_causes, packed, rewrite};
use crate::desk::{ANN, BO, Desk, Sent};
use crate::positions::quad;

/// The code that follows this word in a letter.
fn code(sent: &Sent, word: &str) -> String {
    let line = sent.text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
    line.unwrap_or_else(|| panic!("no {word} in:\n{}", sent.text)).to_owned()
}

fn only_match(desk: &Desk) -> String {
    desk.block_on(desk.office().store.match_ids()).expect("the store answers").remove(0)
}

/// A match that Bo opened with an ACCEPT, and the digest of that letter.
fn opened() -> (Desk, String, Digest) {
    let desk = Desk::new();
    desk.answer_for(ANN);
    desk.write(ANN, &format!("CHALLENGE {BO} Quad"));
    let invitation = desk.one_to(BO);
    desk.reply(BO, &invitation, &format!("ACCEPT {}", code(&invitation, "ACCEPT")));
    let id = only_match(&desk);
    let opening = entries(&desk, &id).remove(0);
    (desk, id, opening.letters()[0])
}

/// A match in which Ann confirmed a letter from elsewhere, and the digest of her CONFIRM.
fn confirmed() -> (Desk, String, Digest) {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply("ann@holiday.example", &to_ann, "MARBLE E5");
    let notice = desk.one_to(ANN);
    desk.reply(ANN, &notice, &format!("CONFIRM {}", code(&notice, "CONFIRM")));
    let by = letter_causes(&desk, &game_match.id).into_iter().find_map(|cause| cause.confirmed_by);
    (desk, game_match.id, by.expect("it was confirmed"))
}

/// A match in which Ann got another address, and the digest of the letter that agreed to it.
fn moved() -> (Desk, String, Digest) {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "ADDRESS ann@new.example");
    let letters = desk.sent_to(ANN);
    let question = letters.iter().find(|sent| sent.subject.contains("A new address")).expect("a question");
    desk.reply(ANN, question, &format!("CONFIRM {}", code(question, "CONFIRM")));
    let question = desk.one_to("ann@new.example");
    desk.reply("ann@new.example", &question, &format!("CONFIRM {}", code(&question, "CONFIRM")));
    let letter = entries(&desk, &game_match.id).into_iter().find_map(|entry| match entry.cause {
        EntryCause::Cause(Cause::Program { act: Act::Hold { letter, .. }, .. }) => letter,
        _ => None,
    });
    (desk, game_match.id, letter.expect("a letter changed the holder"))
}

#[test]
fn a_named_letter_must_be_there_and_whole() {
    for scene in [opened, confirmed, moved] {
        for (change, says) in [
            ("UPDATE letter_raw SET bytes = x'00' WHERE letter_id = {id}", ""),
            ("DELETE FROM letter_raw WHERE letter_id = {id}", "it is missing; entry #"),
            (
                "UPDATE letter SET digest = substr(digest, 3) || substr(digest, 1, 2) WHERE id = {id}",
                "it is missing; entry #",
            ),
        ] {
            let (desk, id, letter) = scene();
            assert!(desk.verify(&id).is_sound());
            let of = format!("(SELECT id FROM letter WHERE digest = '{letter}')");
            cheat(&desk, &[&change.replace("{id}", &of)]);
            let verdict = desk.verify(&id);
            if says.is_empty() {
                assert!(!verdict.is_sound(), "{change}");
                continue;
            }
            assert_eq!(*found(&verdict), Place::Letter(letter), "{change}");
            assert!(verdict.findings[0].what.starts_with(says), "{verdict:#?}");
        }
    }
}

#[test]
fn a_named_letter_with_other_words_is_found() {
    for scene in [opened, confirmed, moved] {
        let (desk, id, letter) = scene();
        let raw = desk.block_on(desk.office().store.letter(letter)).expect("the store answers");
        let mut raw = raw.expect("its bytes");
        raw.extend(b"More words\r\n");
        cheat(
            &desk,
            &[&format!(
                "UPDATE letter_raw SET bytes = x'{}' WHERE letter_id = \
                 (SELECT id FROM letter WHERE digest = '{letter}')",
                packed(&raw)
            )],
        );
        let verdict = desk.verify(&id);
        assert_eq!(*found(&verdict), Place::Letter(letter));
        assert!(verdict.findings[0].what.starts_with("its bytes were changed; entry #"), "{verdict:#?}");
    }
}

#[test]
fn a_named_letter_must_be_from_the_player() {
    // Bo's letter is stored unchanged, but does not prove what Ann wrote.
    let (desk, id, _) = confirmed();
    let to_bo = desk.last_to(BO);
    desk.reply(BO, &to_bo, "STATUS");
    let bos = desk.letters().into_iter().find(|letter| letter.sender == BO).expect("Bo's letter").digest;
    let mut all: Vec<Entry> = entries(&desk, &id);
    for entry in &mut all {
        if let EntryCause::Cause(Cause::Letter(cause)) = &mut entry.cause
            && let Some(by) = &mut cause.confirmed_by
        {
            *by = bos;
        }
    }
    rewrite(&desk, &desk.find(&id), all);
    let findings = desk.verify(&id).findings;
    let said = findings.iter().find(|finding| finding.place == Place::Letter(bos));
    assert!(said.is_some_and(|finding| finding.what.starts_with("it is not from a player")), "{findings:#?}");
}

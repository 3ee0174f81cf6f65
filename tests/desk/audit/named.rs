//! Letters that entries name in addition to their cause are compared like causes: the one that opened the match, a
//! player's CONFIRM, and the one that changed the holder of a seat.

use fogpost::audit::Place;
use fogpost::ledger::{Act, Cause, Entry, EntryCause};
use fogpost::letter::Digest;

use crate::audit::database::{cheat, entries, found, letter_causes, packed, rewrite};
use crate::positions::quad;
use crate::referee::{ANN, BO, Referee, Sent};

/// The code that follows this word in a letter.
fn code(sent: &Sent, word: &str) -> String {
    let line = sent.text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
    line.unwrap_or_else(|| panic!("no {word} in:\n{}", sent.text)).to_owned()
}

fn only_match(referee: &Referee) -> String {
    referee.block_on(referee.office().store.match_ids()).expect("the store answers").remove(0)
}

/// A match that Bo opened with an ACCEPT, and the digest of that letter.
fn opened() -> (Referee, String, Digest) {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.write(ANN, &format!("CHALLENGE {BO} Quad"));
    let invitation = referee.one_to(BO);
    referee.reply(BO, &invitation, &format!("ACCEPT {}", code(&invitation, "ACCEPT")));
    let id = only_match(&referee);
    let opening = entries(&referee, &id).remove(0);
    (referee, id, opening.letters()[0])
}

/// A match in which Ann confirmed a letter from elsewhere, and the digest of her CONFIRM.
fn confirmed() -> (Referee, String, Digest) {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply("ann@holiday.example", &to_ann, "MARBLE E5");
    let notice = referee.one_to(ANN);
    referee.reply(ANN, &notice, &format!("CONFIRM {}", code(&notice, "CONFIRM")));
    let by = letter_causes(&referee, &game_match.id).into_iter().find_map(|cause| cause.confirmed_by);
    (referee, game_match.id, by.expect("it was confirmed"))
}

/// A match in which Ann got another address, and the digest of the letter that agreed to it.
fn moved() -> (Referee, String, Digest) {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "ADDRESS ann@new.example");
    let letters = referee.sent_to(ANN);
    let question = letters.iter().find(|sent| sent.subject.contains("A new address")).expect("a question");
    referee.reply(ANN, question, &format!("CONFIRM {}", code(question, "CONFIRM")));
    let question = referee.one_to("ann@new.example");
    referee.reply("ann@new.example", &question, &format!("CONFIRM {}", code(&question, "CONFIRM")));
    let letter = entries(&referee, &game_match.id).into_iter().find_map(|entry| match entry.cause {
        EntryCause::Cause(Cause::Program { act: Act::PinHolder { letter, .. }, .. }) => letter,
        _ => None,
    });
    (referee, game_match.id, letter.expect("a letter changed the holder"))
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
            let (referee, id, letter) = scene();
            assert!(referee.verify(&id).is_sound());
            let of = format!("(SELECT id FROM letter WHERE digest = '{letter}')");
            cheat(&referee, &[&change.replace("{id}", &of)]);
            let verdict = referee.verify(&id);
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
        let (referee, id, letter) = scene();
        let raw = referee.block_on(referee.office().store.letter(letter)).expect("the store answers");
        let mut raw = raw.expect("its bytes");
        raw.extend(b"More words\r\n");
        cheat(
            &referee,
            &[&format!(
                "UPDATE letter_raw SET bytes = x'{}' WHERE letter_id = \
                 (SELECT id FROM letter WHERE digest = '{letter}')",
                packed(&raw)
            )],
        );
        let verdict = referee.verify(&id);
        assert_eq!(*found(&verdict), Place::Letter(letter));
        assert!(verdict.findings[0].what.starts_with("its bytes were changed; entry #"), "{verdict:#?}");
    }
}

#[test]
fn a_named_letter_must_be_from_the_player() {
    // Bo's letter is stored unchanged, but does not prove what Ann wrote.
    let (referee, id, _) = confirmed();
    let to_bo = referee.last_to(BO);
    referee.reply(BO, &to_bo, "STATUS");
    let bos = referee.letters().into_iter().find(|letter| letter.sender == BO).expect("Bo's letter").digest;
    let mut all: Vec<Entry> = entries(&referee, &id);
    for entry in &mut all {
        if let EntryCause::Cause(Cause::Letter(cause)) = &mut entry.cause
            && let Some(by) = &mut cause.confirmed_by
        {
            *by = bos;
        }
    }
    rewrite(&referee, &referee.find(&id), all);
    let findings = referee.verify(&id).findings;
    let said = findings.iter().find(|finding| finding.place == Place::Letter(bos));
    assert!(said.is_some_and(|finding| finding.what.starts_with("it is not from a player")), "{findings:#?}");
}

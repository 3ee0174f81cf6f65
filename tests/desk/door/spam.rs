//! The provider's spam folder: letters that concern the club are fetched from it, and trusted only if they are
//! signed.

use fogpost::daemon::intake;
use fogpost::post::{Batch, FetchedLetter, InboxMessage, Taken};
use tokio::sync::{mpsc, oneshot};

use crate::desk::{ANN, Desk, GM};
use crate::positions::quad;

/// Delivers letters as the reader of a spam folder does, and returns those that were taken.
fn from_spam(desk: &Desk, letters: &[String]) -> Taken {
    let (to, batches) = mpsc::channel(1);
    let (stored, taken) = oneshot::channel();
    let letters = letters.iter().enumerate().map(|(uid, raw)| FetchedLetter {
        size: raw.len() as u64,
        raw: raw.replace('\n', "\r\n").into_bytes(),
        received_at: desk.now(),
        arrivals: vec![desk.now()],
        origin: format!("imap:Spam/1/{uid}"),
        cut: false,
        is_spam: true,
    });
    to.try_send(InboxMessage::Letters(Batch { letters: letters.collect(), stored })).expect("room for one");
    drop(to);
    desk.block_on(intake::store_until_closed(desk.office(), "a mailbox", batches));
    desk.block_on(taken).expect("an answer")
}

#[test]
fn only_letters_with_a_token_or_from_a_registered_address_are_taken_from_the_spam_folder() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    let letters = [
        "From: pills@shop.example\nMessage-ID: <1@shop.example>\nSubject: cheap\n\nBuy!\n".to_owned(),
        desk.answer(ANN, &to_ann, "MARBLE E5"),
        "From: pills@shop.example\nMessage-ID: <2@shop.example>\nSubject: cheap\n\nBuy!\n".to_owned(),
        desk.answer("ann@work.example", &to_ann, "MARBLE E5"),
        format!("From: {ANN}\nMessage-ID: <3@players.example>\n\nHELP\n"),
    ];
    assert_eq!(from_spam(&desk, &letters), Taken::Only(vec![1, 3, 4]));
    assert_eq!(desk.letters().len(), 3);
    assert_eq!(from_spam(&desk, &letters[..1]), Taken::Only(Vec::new()));
    desk.work();
    desk.sent_to(ANN);
}

#[test]
fn the_digest_tells_how_many_letters_were_in_the_spam_folder() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    from_spam(&desk, &[desk.answer(ANN, &to_ann, "STATUS"), desk.answer(ANN, &to_ann, "HISTORY")]);
    desk.advance(24);
    desk.last_to(GM).says("From the mailbox's spam folder: 2");
    desk.reply(ANN, &to_ann, "PROTEST It is slow.");
    desk.advance(24);
    desk.last_to(GM).keeps_silent_of("spam folder");
}

#[test]
fn an_unsigned_letter_from_the_spam_folder_waits_for_the_word_of_the_player() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    assert_eq!(from_spam(&desk, &[desk.answer(ANN, &to_ann, "MARBLE E5")]), Taken::Only(vec![0]));
    desk.work();
    assert!(desk.find(&game_match.id).adjudicated.is_empty());
    let notice = desk.one_to(ANN);
    notice.says("> MARBLE E5");
    let code = notice.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM ")).expect("a code");
    desk.reply(ANN, &notice, &format!("CONFIRM {code}"));
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
    assert!(desk.sent_to(ANN).iter().any(|sent| sent.text.contains("Your orders are sealed")));
}

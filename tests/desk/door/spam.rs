//! The provider's spam folder: letters that concern the club are fetched from it, and trusted only if they are
//! signed.

use fogpost::daemon::intake;
use fogpost::post::{FetchedLetter, FetchedLetters, InboxMessage, Taken};
use tokio::sync::{mpsc, oneshot};

use crate::positions::quad;
use crate::referee::{ANN, GM, Referee};

/// Delivers letters as the reader of a spam folder does, and returns those that were taken.
fn from_spam(referee: &Referee, letters: &[String]) -> Taken {
    let (to, batches) = mpsc::channel(1);
    let (stored, taken) = oneshot::channel();
    let letters = letters.iter().enumerate().map(|(uid, raw)| FetchedLetter {
        size: raw.len() as u64,
        raw: raw.replace('\n', "\r\n").into_bytes(),
        received_at: referee.now(),
        arrivals: vec![referee.now()],
        origin: format!("imap:Spam/1/{uid}"),
        cut: false,
        is_spam: true,
    });
    to.try_send(InboxMessage::Letters(FetchedLetters { letters: letters.collect(), stored }))
        .expect("room for one");
    drop(to);
    referee.block_on(intake::store_until_closed(referee.office(), "a mailbox", batches));
    referee.block_on(taken).expect("an answer")
}

#[test]
fn only_letters_with_a_token_or_from_a_registered_address_are_taken_from_the_spam_folder() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let letters = [
        "From: pills@shop.example\nMessage-ID: <1@shop.example>\nSubject: cheap\n\nBuy!\n".to_owned(),
        referee.answer(ANN, &to_ann, "MARBLE E5"),
        "From: pills@shop.example\nMessage-ID: <2@shop.example>\nSubject: cheap\n\nBuy!\n".to_owned(),
        referee.answer("ann@work.example", &to_ann, "MARBLE E5"),
        format!("From: {ANN}\nMessage-ID: <3@players.example>\n\nHELP\n"),
    ];
    assert_eq!(from_spam(&referee, &letters), Taken::Only(vec![1, 3, 4]));
    assert_eq!(referee.letters().len(), 3);
    assert_eq!(from_spam(&referee, &letters[..1]), Taken::Only(Vec::new()));
    referee.work();
    referee.sent_to(ANN);
}

#[test]
fn the_digest_tells_how_many_letters_were_in_the_spam_folder() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    from_spam(&referee, &[referee.answer(ANN, &to_ann, "STATUS"), referee.answer(ANN, &to_ann, "HISTORY")]);
    referee.advance(24);
    referee.last_to(GM).says("From the mailbox's spam folder: 2");
    referee.reply(ANN, &to_ann, "PROTEST It is slow.");
    referee.advance(24);
    referee.last_to(GM).keeps_silent_of("spam folder");
}

#[test]
fn an_unsigned_letter_from_the_spam_folder_waits_for_the_word_of_the_player() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    assert_eq!(from_spam(&referee, &[referee.answer(ANN, &to_ann, "MARBLE E5")]), Taken::Only(vec![0]));
    referee.work();
    assert!(referee.find(&game_match.id).adjudicated.is_empty());
    let notice = referee.one_to(ANN);
    notice.says("> MARBLE E5");
    let code = notice.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM ")).expect("a code");
    referee.reply(ANN, &notice, &format!("CONFIRM {code}"));
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    assert!(referee.sent_to(ANN).iter().any(|sent| sent.text.contains("Your orders are sealed")));
}

//! A mailbox that was in use before the club: its old letters are neither answered nor touched.

use std::fs::{self, File};
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta, Utc};
use fogpost::store::LeftReason;

use crate::positions::quad;
use crate::referee::{ANN, BO, Referee, Sent};

const EVE: &str = "eve@elsewhere.example";

/// Puts a letter into the mailbox, in a file of this name and time.
fn put(referee: &Referee, name: &str, at: DateTime<Utc>, raw: &str) -> PathBuf {
    let path = referee.folder().join("mail/referee/new").join(name);
    fs::write(&path, raw.replace('\n', "\r\n")).expect("written");
    File::options().append(true).open(&path).expect("a file").set_modified(at.into()).expect("its time");
    path
}

/// A letter with `received` in its header, from somebody who has not written otherwise.
fn help(received: &str) -> String {
    let n = received.len();
    format!("{received}From: eve{n}@elsewhere.example\nSubject: help\nMessage-ID: <{n}@x.example>\n\nHELP\n")
}

/// The time of an old file, and a file name that contains it.
fn long_ago(referee: &Referee, number: u32) -> (DateTime<Utc>, String) {
    let at = referee.now() - TimeDelta::days(3 * 365);
    (at, format!("{}.M{number}P1.host", at.timestamp()))
}

#[test]
fn letters_from_before_the_club_are_left_alone() {
    let mut referee = Referee::new();
    let (at, name) = long_ago(&referee, 1);
    let received = "Received: from x by y; Tue, 5 Mar 2024 10:00:00 +0100\n";
    let files =
        [put(&referee, &name, at, &help("")), put(&referee, &long_ago(&referee, 2).1, at, &help(received))];
    referee.work();
    referee.restart();
    referee.write(EVE, "HELP");
    assert_eq!(referee.all_to(EVE).len(), 1, "only the new letter is answered");
    assert_eq!(referee.letters().len(), 1, "old letters are not stored");
    assert!(files.iter().all(|file| file.exists()), "they stay unread");
    let left = referee.block_on(referee.office().store.left_letters(&referee.office().config.inbox.name()));
    assert_eq!(left.expect("the store answers").len(), 2);
    // They are not looked at again, even if a file's time becomes new.
    File::options()
        .append(true)
        .open(&files[0])
        .expect("a file")
        .set_modified(referee.now().into())
        .expect("its time");
    referee.work();
    assert_eq!(referee.letters().len(), 1);
}

#[test]
fn a_letter_is_new_if_any_time_says_so_or_none_is_known() {
    let referee = Referee::new();
    let (at, name) = long_ago(&referee, 1);
    let now = referee.now();
    let today = format!("Received: from x by y; {}\n", now.to_rfc2822());
    put(&referee, &name, at, &help(&today));
    put(&referee, &long_ago(&referee, 2).1, now, &help("X-A: b\n"));
    put(&referee, &format!("{}.M1.host", now.timestamp()), at, &help("X-B: cd\n"));
    put(&referee, "a-letter", DateTime::UNIX_EPOCH, &help("X-C: def\n"));
    // A mail server's clock may be a minute slow.
    put(&referee, "slow", now - TimeDelta::minutes(1), &help("X-D: efgh\n"));
    referee.work();
    assert_eq!(referee.letters().len(), 5);
}

#[test]
fn an_answer_to_one_of_our_letters_is_new_whatever_its_times() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let at = "2001-09-09T01:46:40Z".parse().expect("a time");
    let token = format!("> Reply token: {}\n", to_ann.token());
    let own = to_ann.token().to_string();
    let (first, rest) = own.split_at(4);
    let head = format!("From: {ANN}\nTo: referee@club.example\nSubject: Re: x\n");
    let base64 = STANDARD.encode(format!("STATUS\n\n{token}"));
    let letters = [
        format!("{head}Message-ID: <a@x>\nIn-Reply-To: <{}>\n\nSTATUS\n", to_ann.message_id),
        format!("{head}Message-ID: <b@x>\n\nSTATUS\n\n{token}"),
        format!(
            "{head}Message-ID: <c@x>\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\
             Content-Transfer-Encoding: base64\n\n{base64}\n"
        ),
        format!(
            "{head}Message-ID: <e@x>\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n\
             <p>MATCHES</p><blockquote><b>Reply</b> token:&nbsp;<i>{first}</i>{rest}</blockquote>\n"
        ),
    ];
    for (number, raw) in letters.iter().enumerate() {
        put(&referee, &format!("1000000000.M{number}.host"), at, raw);
    }
    let other = "Message-ID: <d@x>\nIn-Reply-To: <0123456789abcdef.1@fogpost.club.example>\n";
    put(&referee, "1000000000.M9.host", at, &format!("{head}{other}\nReply token: 0123456789abcdef\n"));
    referee.work();
    assert_eq!(referee.letters().len(), 4, "a token that nobody has ties a letter to nothing");
}

#[test]
fn the_mark_of_a_mailbox_that_is_named_later_is_its_first_opening() {
    let referee = Referee::new();
    let store = &referee.office().store;
    let mark = |name: &str, at| referee.block_on(store.mailbox_mark(name, at)).expect("the store answers");
    let began = referee.now();
    let first = mark(&referee.office().config.inbox.name(), began);
    assert_eq!(first, began, "the database was made later than now, by the test's clock");
    let later = began + TimeDelta::days(3);
    assert_eq!(mark("imap gm mail.example Club", later), later);
    assert_eq!(mark("imap gm mail.example Club", later + TimeDelta::days(1)), later);
    // A mark is never in the future, even if it was set while the clock was wrong.
    assert_eq!(mark("imap gm mail.example Club", began), began);
    assert_eq!(mark("imap gm mail.example Club", later), began);
}

#[test]
fn answers_to_another_club_on_the_same_mailbox_stay_there_unread() {
    let mut referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let own_domain = referee.office().config.club.message_id_domain();
    let now = referee.now();
    let token = "0123456789abcdef";
    let answer = |to: &str, id: &str| {
        format!(
            "From: {ANN}\nTo: {to}\nSubject: Re: x\nMessage-ID: <{}@x.example>\n{id}\n\nMARBLE E5\n",
            id.len()
        )
    };
    let files: Vec<PathBuf> = [
        answer("games@other.example", &format!("In-Reply-To: <{token}.7@other.example>")),
        answer("referee@club.example", &format!("References: <a@x> <{token}.71@other.example>")),
        answer(&format!("games+{token}@other.example"), "X-A: b"),
        answer("pacific@club.example", &format!("In-Reply-To: <{token}.700@{own_domain}>")),
    ]
    .iter()
    .enumerate()
    .map(|(n, raw)| put(&referee, &format!("{}.M{n}P1.host", now.timestamp()), now, raw))
    .collect();
    referee.work();
    referee.restart();
    referee.work();
    assert!(files.iter().all(|file| file.exists()), "they stay unread");
    assert!(referee.letters().is_empty() && referee.sent_to(ANN).is_empty());
    let left = referee.block_on(referee.office().store.left_letters(&referee.office().config.inbox.name()));
    let left = left.expect("the store answers");
    assert!(left.len() == 4 && left.iter().all(|(_, reason)| *reason == LeftReason::Foreign), "{left:?}");
    // A token of ours that is no longer valid is not another club's.
    referee.receive(&answer("referee@club.example", &format!("In-Reply-To: <{token}.7000@{own_domain}>")));
    assert_eq!(referee.letters().len(), 1);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn letters_from_before_the_club_moved_are_answered_as_before() {
    let mut referee = Referee::with("settle_words = 0\n");
    let (game_match, to_ann, to_bo) = quad(&referee);
    referee.restart_after(|folder| {
        let file = folder.join("config.toml");
        let config = fs::read_to_string(&file).expect("a config");
        let moved = config.replace(
            "address = \"referee@club.example\"\n",
            "address = \"games@newhost.example\"\nmessage_id_domain = \"ids.newhost.example\"\n",
        );
        assert_ne!(moved, config);
        fs::write(file, moved).expect("written");
    });
    // Neither a quotation nor a plus address: the Message-ID alone, to the old address, which forwards.
    let bare = |from: &str, to: &Sent, n: u32, body: &str| {
        format!(
            "From: {from}\nTo: referee@club.example\nSubject: Re: x\nMessage-ID: <{n}@phone.example>\nIn-Reply-To: <{}>\n\n{body}\n",
            to.message_id
        )
    };
    referee.receive(&bare(ANN, &to_ann, 1, "STATUS"));
    referee.one_to(ANN).says("Quad");
    referee.receive(&bare(ANN, &to_ann, 2, "MARBLE E5"));
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    let report = referee.sent_to(ANN).pop().expect("a report");
    assert_eq!(report.token(), to_ann.token(), "the club's old address is nobody else's");
    assert!(report.message_id.ends_with("@ids.newhost.example"), "{}", report.message_id);
    // A bounce of a letter from before the move.
    referee.receive(&format!(
        "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example\nTo: referee@club.example\nSubject: Undelivered Mail Returned to Sender\n\
         Message-ID: <b@mx.example>\n\nYour message could not be delivered to <{BO}>.\n\nMessage-ID: <{}>\n",
        to_bo.message_id
    ));
    assert!(referee.find(&game_match.id).bouncing.second);
    referee.sent_to(BO);
}

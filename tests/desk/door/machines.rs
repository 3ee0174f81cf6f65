//! Machines and people: which letters are taken for automatic mail, and the answers to their writers.

use std::collections::BTreeSet;

use fogpost::daemon::instruct;
use fogpost::daemon::{GmIndex, Holder, NamedAddress, NewMatch};
use fogpost::game::BySeat;
use fogpost::game::any::GameKind;
use fogpost::letter::Address;
use fogpost::store::LetterStatus;

use crate::doubt::{Answered, Marks, Note, people, robots, unrecognised};
use crate::positions::quad;
use crate::referee::{ANN, BO, GM, REFEREE, Referee, Sent};

const ASKED: &str =
    "I took this for an automatic reply and did nothing. If you wrote it, answer with what you need.";

/// The letter that answers ours with this subject and this text, and nothing else.
fn bare_answer(from: &str, to: &Sent, id: &str, subject: &str, body: &str) -> String {
    format!(
        "From: {from}\nTo: {}\nSubject: {subject}\nMessage-ID: <{id}@players.example>\nIn-Reply-To: <{}>\n\n{body}\n",
        to.reply_to, to.message_id
    )
}

fn digest(referee: &Referee) -> Sent {
    referee.advance(26);
    referee.sent_to(GM).into_iter().find(|sent| sent.subject.starts_with("The day at")).expect("a digest")
}

#[test]
fn a_suspected_letter_gets_one_short_answer_a_day() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let away = |id: &str, body: &str| bare_answer(ANN, &to_ann, id, "Out of office next week", body);
    referee.receive(&away("a", "I'm out of the office until Monday."));
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    let asked = referee.one_to(ANN);
    asked.says(ASKED);
    assert_eq!(asked.in_reply_to.as_deref(), Some("a@players.example"));
    referee.receive(&away("b", "I'm out of the office until Tuesday."));
    assert!(referee.sent_to(ANN).is_empty(), "the second one of the day");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    referee.reply(ANN, &asked, "MARBLE E5");
    referee.sent_to(ANN)[0].says("Your orders are sealed");
}

#[test]
fn a_suspected_letter_is_asked_about_again_the_next_day() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    for id in ["a", "b"] {
        referee.receive(&bare_answer(ANN, &to_ann, id, "Urlaub", "Bin bis 5.1. im Urlaub."));
        let asked = referee.one_to(ANN);
        asked.says(ASKED);
        assert_eq!(asked.in_reply_to, Some(format!("{id}@players.example")));
        referee.advance(24);
        referee.sent_to(ANN);
    }
}

#[test]
fn a_suspected_letter_from_elsewhere_is_not_answered_and_one_without_a_token_once_a_day() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.sent_to(ANN);
    let text = "This is an automatically generated reply. I am out of the office until Monday.";
    referee.receive(&bare_answer("desk@elsewhere.example", &to_ann, "a", "Automatic reply: Turn 1", text));
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    for (id, answers) in [("b", 1), ("c", 0)] {
        referee.receive(&format!(
            "From: {ANN}\nTo: {REFEREE}\nSubject: Automatic reply: Turn 1\nMessage-ID: <{id}@players.example>\n\n{text}\n"
        ));
        assert_eq!(referee.last_status(), LetterStatus::Automatic);
        let asked = referee.sent_to(ANN);
        assert_eq!(asked.len(), answers);
        asked.iter().for_each(|letter| {
            letter.says(ASKED).says("Your matches:");
        });
    }
    assert!(referee.sent_to("desk@elsewhere.example").is_empty());
}

#[test]
fn a_players_plain_holiday_note_is_answered_and_an_offices_note_is_asked_about_once() {
    let referee = Referee::new();
    quad(&referee);
    for note in ["Bin bis 5.1. im Urlaub.", "I'm away until Monday, visiting my parents. Talk then!"] {
        referee.write(ANN, note);
        referee.one_to(ANN);
    }
    let mut asked = 0;
    for note in [
        "Vielen Dank für Ihre Nachricht. Ich bin bis 5.1. im Urlaub. In dringenden Fällen wenden Sie sich an Frau Berg.",
        "Our office is closed until 5 January. We will respond to your enquiry upon our return.",
    ] {
        referee.write(ANN, note);
        assert_eq!(referee.last_status(), LetterStatus::Automatic, "{note}");
        asked += referee
            .sent_to(ANN)
            .iter()
            .filter(|letter| letter.text.contains("automatic reply and did nothing"))
            .count();
    }
    assert_eq!(asked, 1, "once a day");
    digest(&referee).says("Letters that may go unread: 1").says("Our office is closed until 5 January");
}

#[test]
fn a_blocked_person_hears_nothing_about_letters_that_look_automatic_or_cannot_be_read() {
    let referee = Referee::with("[letters]\nmax_bytes = 1000000\n");
    let (_, to_ann, _) = quad(&referee);
    referee.write(GM, "GM LIST");
    let to_gm = referee.one_to(GM);
    referee.reply(GM, &to_gm, &format!("GM PLAYER BLOCK {ANN}"));
    referee.one_to(ANN).says("I no longer read your letters");
    referee.receive(&bare_answer(ANN, &to_ann, "a", "Urlaub", "Bin bis 5.1. im Urlaub."));
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    let photo = "a photo taken with a telephone\n".repeat(40_000);
    referee.receive(&bare_answer(ANN, &to_ann, "big", "Re: turn", &photo));
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
    let two = format!("From: {ANN}, {BO}\nTo: {REFEREE}\nMessage-ID: <b@x>\n\nMARBLE E5\n");
    referee.receive(&two);
    referee.one_to(BO).says("names you and others as its senders");
    assert!(referee.sent_to(ANN).is_empty());
}

#[test]
fn list_fields_are_suspicious_in_an_answer_and_a_mark_elsewhere() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let answer = bare_answer(ANN, &to_ann, "a", "Re: turn", "MARBLE E5");
    referee.receive(&format!("List-Id: <family.example>\nPrecedence: list\n{answer}"));
    // Everybody on a list may know its letters' tokens.
    let question = referee.one_to(ANN);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    let code = question.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM ")).expect("a code");
    let code = code.split(' ').next().expect("a word");
    let confirmed = bare_answer(ANN, &question, "c", "Re: turn", &format!("CONFIRM {code}"));
    referee.receive(&format!("List-Id: <family.example>\nPrecedence: list\n{confirmed}"));
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.sent_to(ANN);
    referee.receive(&format!(
        "List-Id: <family.example>\nFrom: eve@elsewhere.example\nTo: {REFEREE}\nMessage-ID: <b@x.example>\n\nHELP\n"
    ));
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    assert!(referee.sent_to("eve@elsewhere.example").is_empty());
}

#[test]
fn a_loop_field_with_our_address_is_a_mark() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let answer = bare_answer(ANN, &to_ann, "a", "Re: turn", "MARBLE E5");
    referee.receive(&format!("X-Loop: {REFEREE}\n{answer}"));
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    assert!(referee.sent_to(ANN).is_empty());
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    // Somebody else's loop field says nothing about us.
    let other = bare_answer(ANN, &to_ann, "b", "Re: turn", "MARBLE E5");
    referee.receive(&format!("X-Loop: list@elsewhere.example\n{other}"));
    assert_eq!(referee.last_status(), LetterStatus::Ruled);
    referee.sent_to(ANN)[0].says("Your orders are sealed");
}

#[test]
fn a_bounce_counts_only_if_it_names_the_address_that_we_wrote_to() {
    let referee = Referee::new();
    let (game_match, _, to_bo) = quad(&referee);
    let bounce = |words: &str| {
        referee.receive(&format!(
            "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example\nSubject: Undelivered Mail Returned to Sender\n\
             Message-ID: <{}@mx.example>\nIn-Reply-To: <{}>\n\nYour message could not be delivered{words}.\n",
            words.len(),
            to_bo.message_id,
        ));
        referee.find(&game_match.id).bouncing.second
    };
    assert!(!bounce(""));
    assert!(!bounce(" to <carl@players.example>"));
    assert!(bounce(&format!(" to <{BO}>")));
}

#[test]
fn a_question_about_a_bounce_marks_nothing() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let quoted: String = to_ann.text.lines().map(|line| format!("> {line}\n")).collect();
    let asks = format!(
        "Your last letter came back: \"550 5.1.1 User unknown, message could not be delivered\". Is my address wrong?\n\n\
         The referee wrote:\n{quoted}"
    );
    referee.receive(&bare_answer(ANN, &to_ann, "a", "Re: Undelivered Mail Returned to Sender", &asks));
    assert_eq!(referee.last_status(), LetterStatus::Ruled);
    referee.one_to(ANN);
    // A letter that only quotes the server is taken for a bounce, but it comes from Ann's address, so that
    // address works.
    let pasted =
        "Your message could not be delivered to one or more recipients. Final-Recipient: rfc822; ann";
    referee.receive(&bare_answer(ANN, &to_ann, "b", "Undelivered Mail Returned to Sender", pasted));
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    referee.one_to(ANN).says(ASKED);
    assert!(!referee.find(&game_match.id).bouncing.first, "no letter to Ann came back");
}

#[test]
fn the_digest_shows_the_first_line_of_what_was_taken_for_automatic() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.receive(&bare_answer(
        ANN,
        &to_ann,
        "a",
        "Urlaub",
        "MARBLE E5 - ach nein\nBin bis 5.1. im Urlaub.",
    ));
    referee.receive(&format!(
        "Auto-Submitted: auto-replied\nFrom: {BO}\nTo: {REFEREE}\nSubject: Away\nMessage-ID: <b@x.example>\n\nGone fishing.\n"
    ));
    digest(&referee).says("Letters that may go unread: 1").says("Gone fishing.").keeps_silent_of("MARBLE E5");
}

#[test]
fn a_gm_who_plays_in_the_match_does_not_see_first_lines() {
    let referee = Referee::new();
    let seated = |name: &str, address: &str| NamedAddress {
        name: name.to_owned(),
        address: Address::parse(address).expect("an address"),
    };
    let new = NewMatch {
        game: GameKind::Quad,
        choices: GameKind::Quad.choose([]).expect("options of the game"),
        players: BySeat::new(seated("Ann", ANN), seated("The GM", GM)).map(Holder::Player),
        terms: referee.office().config.terms.clone(),
    };
    referee.block_on(instruct::open(referee.office(), new)).expect("the match opens");
    referee.work();
    let to_ann = referee.one_to(ANN);
    referee.sent_to(GM);
    referee.receive(&bare_answer(
        ANN,
        &to_ann,
        "a",
        "Urlaub",
        "Bin bis 5.1. im Urlaub, mein Plan ist geheim.",
    ));
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    referee.one_to(ANN).says(ASKED);
    digest(&referee).says("Letters that may go unread: 1").keeps_silent_of("geheim");
}

#[test]
fn a_letter_beyond_a_limit_is_answered_in_its_thread_once_an_hour() {
    let referee = Referee::with("[letters]\nmax_bytes = 1000000\n");
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "STATUS");
    referee.sent_to(ANN);
    let photo = "MARBLE E5\n".to_owned() + &"a photo taken with a telephone\n".repeat(40_000);
    referee.receive(&bare_answer(ANN, &to_ann, "big", "Re: turn", &photo));
    let told = referee.one_to(ANN);
    told.says("bigger than 1 MB").says("Please send only your orders or your question");
    assert_eq!(told.in_reply_to.as_deref(), Some("big@players.example"));
    referee.receive(&bare_answer(ANN, &to_ann, "big2", "Re: turn", &photo));
    assert!(referee.sent_to(ANN).is_empty(), "once an hour");
    referee.advance(2);
    referee.receive(&bare_answer(ANN, &to_ann, "big3", "Re: turn", &photo));
    referee.one_to(ANN).says("bigger than 1 MB");
}

#[test]
fn a_letter_beyond_any_limit_is_answered_in_its_thread_and_the_answer_names_the_limit() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let plain = |id: &str, body: &str| bare_answer(ANN, &to_ann, id, "Re: turn", body);
    let mixed = |id: &str, parts: &str| {
        let head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b";
        format!("{head}\n{}", plain(id, &format!("{parts}\n--b--")))
    };
    let part = "\n--b\nContent-Type: text/plain\n\nMARBLE E5\n";
    let nested: String =
        (0..30).map(|n| format!("--b{n}\nContent-Type: multipart/mixed; boundary=b{}\n\n", n + 1)).collect();
    let nested = format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b0\n{}",
        plain("deep", &format!("{nested}--b30\nContent-Type: text/plain\n\nMARBLE E5\n--b30--"))
    );
    for (letter, says) in [
        (
            plain("head", "MARBLE E5").replacen(
                "\n\n",
                &format!("\nX-Long: {}\n\n", "x ".repeat(200_000)),
                1,
            ),
            "The header of your letter",
        ),
        (mixed("parts", &part.repeat(120)), "more than 100 parts"),
        (nested, "more than 20 deep"),
        (plain("lines", &"MARBLE E5\n".repeat(200_000)), "lines, the most that I read"),
    ] {
        referee.receive(&letter);
        assert_eq!(referee.last_status(), LetterStatus::Answered, "{says}");
        let told = referee.one_to(ANN);
        told.says(says).says("Nothing in it was done");
        assert!(told.in_reply_to.is_some(), "{says}: in its thread");
        referee.advance(2);
        referee.sent_to(ANN);
    }
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
}

#[test]
fn the_writer_of_a_letter_is_found_behind_any_header() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let letter = |id: &str| bare_answer(ANN, &to_ann, id, "Re: turn", "MARBLE E5");
    let junk = format!("X-Spam-Report: {}\n", "yes ".repeat(12)).repeat(5_000);
    let photo = "a photo taken with a telephone\n".repeat(350_000);
    for (id, body, says) in [("head", "", "The header of your letter"), ("big", &photo, "bigger than 10 MB")]
    {
        referee.receive(&format!("{junk}{}{body}", letter(id)));
        assert_eq!(
            (referee.last_status(), referee.letters()[0].sender.as_str()),
            (LetterStatus::Answered, ANN)
        );
        let told = referee.one_to(ANN);
        told.says(says).says("Nothing in it was done");
        assert_eq!(told.in_reply_to, Some(format!("{id}@players.example")));
        referee.advance(2);
    }
    // A machine behind such a header is not answered.
    referee.receive(&format!("{junk}Auto-Submitted: auto-replied\n{}", letter("away")));
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    // Without a sender, nobody can be told, but the GM sees the reason.
    referee.receive(&format!("{junk}Subject: a riddle\n\nMARBLE E5\n"));
    let row = referee.letters().remove(0);
    assert_eq!((row.status, row.note.as_str()), (LetterStatus::Ignored, "its header is too big"));
    assert!(referee.sent_to(ANN).is_empty());
    digest(&referee).says("its header is too big");
}

#[test]
fn of_what_cannot_be_read_the_answer_says_what_to_send_instead() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    for (n, (kind, name, says)) in [
        ("application/ms-tnef", "winmail.dat", "Please send it as plain text"),
        ("application/pdf", "orders.pdf", "write your orders into the letter itself"),
        ("application/msword", "orders.doc", "write your orders into the letter itself"),
        ("application/pkcs7-mime; smime-type=enveloped-data", "smime.p7m", "Please send it unencrypted"),
    ]
    .into_iter()
    .enumerate()
    {
        let body = format!(
            "--b\nContent-Type: {kind}; name={name}\nContent-Disposition: attachment; filename={name}\n\nabc\n--b--"
        );
        let letter = bare_answer(ANN, &to_ann, &format!("a{n}"), "Re: turn", &body);
        referee.receive(&format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n{letter}"));
        referee.one_to(ANN).says(says).says(&format!("I did not read what you attached ({name})"));
    }
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
}

#[test]
fn a_letter_without_a_clear_sender_is_told_to_the_registered_addresses_that_it_names() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let letter = bare_answer("FROM", &to_ann, "a", "Re: turn", "MARBLE E5");
    for (n, from) in [
        format!("\"Ann <{ANN}>"),
        format!("Ann <{ANN}>, <eve@elsewhere.example>"),
        format!("Ann {ANN}, Eve eve@elsewhere.example"),
    ]
    .iter()
    .enumerate()
    {
        referee.receive(&letter.replace("FROM", from).replace("<a@", &format!("<a{n}@")));
        let status = referee.last_status();
        let told = referee.sent_to(ANN);
        if status != LetterStatus::Ruled {
            assert_eq!(told.len(), 1, "{from}: {status:?}");
            told[0].says("Please");
            assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0, "{from}");
        }
        referee.advance(2);
        referee.sent_to(ANN);
    }
    assert!(referee.sent_to("eve@elsewhere.example").is_empty(), "Eve is not registered");
}

#[test]
fn an_unmarked_ticket_robot_does_not_get_answer_after_answer() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let mut last = to_ann;
    let mut answers = 0;
    for ticket in 4711..4731 {
        let body =
            format!("Hello,\nyour letter has the number {ticket} here.\nThe office of Ann Smith & Sons");
        referee.receive(&bare_answer(
            ANN,
            &last,
            &format!("t{ticket}"),
            &format!("Your letter #{ticket}"),
            &body,
        ));
        for sent in referee.sent_to(ANN) {
            answers += 1;
            last = sent;
        }
    }
    // The last repetition is sent an hour later.
    referee.advance(2);
    answers += referee.sent_to(ANN).len();
    assert!(answers <= 4, "{answers} answers to a robot");
}

/// Number of matches to which the letters of the corpus belong.
const MATCHES: usize = 40;

/// Opens matches, and returns the letter that each seat got.
fn crowd(referee: &Referee) -> Vec<Answered> {
    let seated = |name: String| NamedAddress {
        address: Address::parse(&format!("{name}@players.example")).expect("an address"),
        name,
    };
    let new: Vec<NewMatch> = (0..MATCHES)
        .map(|n| NewMatch {
            game: GameKind::Quad,
            choices: GameKind::Quad.choose([]).expect("options of the game"),
            players: BySeat::new(seated(format!("ann{n}")), seated(format!("bo{n}"))).map(Holder::Player),
            terms: referee.office().config.terms.clone(),
        })
        .collect();
    referee
        .block_on(instruct::open_all(referee.office(), GmIndex::default(), &new))
        .expect("the matches open");
    referee.work();
    let names =
        (0..MATCHES).flat_map(|n| [format!("ann{n}@players.example"), format!("bo{n}@players.example")]);
    names.map(|reader| answered(&referee.one_to(&reader), reader)).collect()
}

fn answered(sent: &Sent, reader: String) -> Answered {
    Answered {
        reader,
        reply_to: sent.reply_to.clone(),
        message_id: sent.message_id.clone(),
        subject: sent.subject.clone(),
        text: sent.text.clone(),
    }
}

/// The Message-IDs that our letters to these readers answer.
fn answered_ids(referee: &Referee, readers: impl Iterator<Item = String>) -> BTreeSet<String> {
    readers.flat_map(|reader| referee.sent_to(&reader)).filter_map(|sent| sent.in_reply_to).collect()
}

fn assert_untouched(referee: &Referee) {
    for id in referee.block_on(referee.office().store.match_ids()).expect("the store answers") {
        let game_match = referee.find(&id);
        assert!(game_match.filed.iter().all(|(_, held)| held.is_none()), "{id}: orders were filed");
        assert_eq!(game_match.adjudicated.len(), 0, "{id}");
        assert_eq!(game_match.protest, None, "{id}");
    }
}

#[test]
fn every_person_of_the_corpus_is_answered_and_nothing_is_done_by_mistake() {
    let referee = Referee::with("[letters]\nanswers_per_hour = 1000\n");
    let seats = crowd(&referee);
    let notes = people();
    for (index, note) in notes.iter().enumerate() {
        referee.put(&note.by_a_person(index, &seats[index % seats.len()]));
    }
    referee.work();
    let writer = |index: usize| notes[index].writer(index, &seats[index % seats.len()]);
    let writers: BTreeSet<String> = (0..notes.len()).map(writer).collect();
    let sent: Vec<(String, Sent)> = writers
        .into_iter()
        .flat_map(|writer| referee.sent_to(&writer).into_iter().map(move |sent| (writer.clone(), sent)))
        .collect();
    let answered: BTreeSet<&str> = sent.iter().filter_map(|(_, sent)| sent.in_reply_to.as_deref()).collect();
    // Nobody is asked twice a day.
    let is_question = |sent: &Sent| sent.text.contains("I took this for an automatic reply");
    let asked: BTreeSet<&String> =
        sent.iter().filter(|(_, sent)| is_question(sent)).map(|(writer, _)| writer).collect();
    let silent: Vec<&str> = (0..notes.len())
        .filter(|index| !answered.contains(format!("person{index}@players.example").as_str()))
        .filter(|index| !asked.contains(&writer(*index)))
        .map(|index| notes[index].name.as_str())
        .collect();
    assert!(silent.is_empty(), "{} of {} met silence: {silent:#?}", silent.len(), notes.len());
    assert_untouched(&referee);
}

/// Sends these machines' letters with and without their marks, and returns the names of those without that were
/// answered.
fn answered_machines(notes: &[Note]) -> Vec<&str> {
    let referee = Referee::with("[letters]\nanswers_per_hour = 1000\n");
    let seats = crowd(&referee);
    for (n, marks) in [Marks::Usual, Marks::None].into_iter().enumerate() {
        for (index, note) in notes.iter().enumerate() {
            let seat = &seats[(2 * index + n) % 4];
            referee.put(&note.by_a_machine(index, marks, seat));
        }
    }
    referee.work();
    let readers = (0..notes.len()).map(|index| format!("service{index}@referee.example"));
    let readers = readers.chain(seats.iter().map(|seat| seat.reader.clone()));
    let answered = answered_ids(&referee, readers.chain(["mail@mx.example.org".to_owned()]));
    let marked: Vec<_> = answered.iter().filter(|id| id.starts_with("marked")).collect();
    assert!(marked.is_empty(), "marked letters were answered: {marked:?}");
    assert_untouched(&referee);
    let bare =
        answered.iter().filter_map(|id| id.strip_prefix("bare")?.split('@').next()?.parse::<usize>().ok());
    bare.map(|index| notes[index].name.as_str()).collect()
}

#[test]
fn no_machine_of_the_corpus_is_acted_on_and_hardly_any_is_answered() {
    let notes = robots();
    let names = answered_machines(&notes);
    assert!(names.len() * 50 < 2 * notes.len(), "{} answered: {names:#?}", names.len());
}

#[test]
fn of_machines_that_read_like_people_few_are_answered() {
    let notes = unrecognised();
    let names = answered_machines(&notes);
    // Most of these come from strangers. Absence notes from a seat's own address may be its player's, and are answered.
    assert!(names.len() * 3 < notes.len(), "{} of {} answered: {names:#?}", names.len(), notes.len());
}

#[test]
fn a_stranger_in_whose_letter_nothing_speaks_for_a_person_is_told_to_the_gm_alone() {
    let referee = Referee::new();
    let shop = "service@shop.example";
    referee.write(shop, "The parcel has left our warehouse and arrives on Friday.");
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    assert!(referee.sent_to(shop).is_empty());
    digest(&referee).says("Taken for automatic mail: 1").says("The parcel has left our warehouse");
    for text in [
        "What do you sell here exactly and to whom?",
        "SHIP 1 A3 TO A4 and SHIP 2 HOLD",
        "GAMES",
        "hello",
        "We would like to take part in your games.",
    ] {
        referee.write("dora@elsewhere.example", text);
        referee.one_to("dora@elsewhere.example");
    }
    // A player's address is known, and so is one that has answered us.
    referee.answer_for("eve@elsewhere.example");
    referee.write("eve@elsewhere.example", "OPEN quad");
    referee.one_to("eve@elsewhere.example");
    referee.write("eve@elsewhere.example", "The parcel has left our warehouse and arrives on Friday.");
    referee.one_to("eve@elsewhere.example");
}

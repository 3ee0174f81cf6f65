//! Arriving letters: which are copies of others, for whom they act, and what marks them as a machine's.

use fogpost::game::any::GameKind;
use fogpost::referee::Stage;
use fogpost::store::LetterStatus;

use crate::positions::{quad, quadrant_z};
use crate::referee::{ANN, BO, GM, REFEREE, Referee, Sent};

/// An answer of Ann's with this Message-ID, and nothing else that a mail program adds.
fn answer(to: &Sent, id: &str, body: &str) -> String {
    format!(
        "From: {ANN}\nTo: {}\nSubject: Re: turn\nMessage-ID: <{id}@players.example>\nIn-Reply-To: <{}>\n\n{body}\n",
        to.reply_to, to.message_id
    )
}

#[test]
fn a_letter_with_the_message_id_of_another_is_answered_if_its_text_is_new() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.receive(&answer(&to_ann, "same", "STATUS"));
    referee.one_to(ANN).says("Quad, Ann");
    referee.receive(&answer(&to_ann, "same", "MARBLE E5"));
    referee.one_to(ANN).says("Your orders are sealed");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    // Copies of both letters that arrived by other routes: another header, other blanks, another encoding.
    let encoded = answer(&to_ann, "same", "=4DARBLE E5").replacen(
        "\n\n",
        "\nContent-Transfer-Encoding: quoted-printable\n\n",
        1,
    );
    let status = answer(&to_ann, "same", "STATUS  ");
    for copy in [format!("Received: from elsewhere\n{status}"), encoded] {
        referee.receive(&copy);
        assert_eq!(referee.last_status(), LetterStatus::Repeated, "{copy}");
    }
    assert!(referee.sent_to(ANN).is_empty());
    // The same happens if they arrive together.
    for body in ["HISTORY", "MATCHES", "HISTORY "] {
        referee.put(&answer(&to_ann, "together", body));
    }
    referee.work();
    assert_eq!(referee.sent_to(ANN).len(), 2);
}

#[test]
fn a_large_letter_with_a_known_message_id_is_answered_if_its_text_is_new() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let large = answer(&to_ann, "same", &"a long story\n".repeat(5_000));
    for (letter, status) in [
        (answer(&to_ann, "same", "STATUS"), LetterStatus::Ruled),
        (large.clone(), LetterStatus::Ruled),
        (format!("Received: from elsewhere\n{large}"), LetterStatus::Repeated),
    ] {
        referee.receive(&letter);
        assert_eq!(referee.last_status(), status);
        assert_eq!(referee.sent_to(ANN).len(), usize::from(status == LetterStatus::Ruled));
    }
    // The same happens if the large one is the first.
    for (letter, status) in [
        (large.replace("<same@", "<other@"), LetterStatus::Ruled),
        (answer(&to_ann, "other", "HISTORY"), LetterStatus::Ruled),
        (answer(&to_ann, "other", "HISTORY "), LetterStatus::Repeated),
    ] {
        referee.receive(&letter);
        assert_eq!(referee.last_status(), status);
    }
}

/// Whether this letter of Ann's is ruled on.
fn is_ruled_on(referee: &Referee, head: &str, body: &str, id: &str) -> bool {
    referee.receive(&format!(
        "From: {ANN}\nSubject: orders\nMessage-ID: <{id}@players.example>\n{head}\n\n{body}\n"
    ));
    referee.last_status() == LetterStatus::Ruled
}

#[test]
fn each_place_in_which_a_letter_carries_the_token_is_enough() {
    let referee = Referee::with_club("plus_addresses = true\n");
    let (_, to_ann, _) = quad(&referee);
    let (token, to) = (to_ann.token().to_owned(), format!("To: {REFEREE}"));
    assert_eq!(to_ann.reply_to, format!("referee+{token}@club.example"));
    assert!(to_ann.message_id.starts_with(&format!("{token}.")));
    let places = [
        (format!("To: {}", to_ann.reply_to), "STATUS".to_owned()),
        (format!("Cc: Referee <{}>", to_ann.reply_to), "GAMES".to_owned()),
        (format!("{to}\nIn-Reply-To: <{}>", to_ann.message_id), "HELP".to_owned()),
        (format!("{to}\nReferences: <{}> <1@players.example>", to_ann.message_id), "MATCHES".to_owned()),
        (to.clone(), format!("HISTORY\n\n> Reply token: {token}")),
    ];
    for (n, (head, body)) in places.iter().enumerate() {
        assert!(is_ruled_on(&referee, head, body, &format!("place{n}")), "{head}\n\n{body}");
        referee.one_to(ANN);
    }
    assert!(!is_ruled_on(&referee, &to, "REPORT", "none"));
    referee.one_to(ANN).says("reply token");
    let other = token.chars().rev().collect::<String>();
    assert!(!is_ruled_on(&referee, &to, &format!("REPORT\n\n> Reply token: {other}"), "other"));
    referee.sent_to(ANN);
}

#[test]
fn every_mark_of_automatic_mail_keeps_a_letter_from_being_answered_or_acted_on() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let marks = [
        "Return-Path: <>".to_owned(),
        "Auto-Submitted: auto-generated".to_owned(),
        "Auto-Submitted: auto-replied (vacation)".to_owned(),
        "Precedence: bulk".to_owned(),
        "Precedence: junk".to_owned(),
        "Precedence: auto_reply".to_owned(),
        "X-Autoreply: yes".to_owned(),
        "X-Autorespond: Urlaub".to_owned(),
        format!("X-Loop: {REFEREE}"),
        format!("X-Fogpost-Loop: {REFEREE}"),
        "Received: from a by b; Mon, 4 May 2026 10:00:00 +0200\n".repeat(51).trim_end().to_owned(),
        "Sender: MAILER-DAEMON@players.example".to_owned(),
    ];
    for (n, mark) in marks.iter().enumerate() {
        referee.receive(&format!("{mark}\n{}", answer(&to_ann, &format!("mark{n}"), "MARBLE E5")));
        assert_eq!(referee.last_status(), LetterStatus::Automatic, "{mark}");
    }
    let report = "--b\nContent-Type: text/plain\n\nMARBLE E5\n--b\nContent-Type: message/disposition-notification\n\n\
                  Final-Recipient: rfc822; ann@players.example\nDisposition: manual-action/MDN-sent-manually; displayed\n--b--";
    let kind =
        "MIME-Version: 1.0\nContent-Type: multipart/report; report-type=disposition-notification; boundary=b";
    referee.receive(&format!("{kind}\n{}", answer(&to_ann, "report", report)));
    assert_eq!(referee.last_status(), LetterStatus::Automatic, "a report");
    referee.receive(&answer(&to_ann, "from", "MARBLE E5").replacen(ANN, "postmaster@players.example", 1));
    assert_eq!(referee.last_status(), LetterStatus::Automatic, "a postmaster");
    // A list or a forwarder may have put such an address in place of Ann's.
    for from in ["no-reply@players.example", REFEREE] {
        referee.receive(&answer(&to_ann, &format!("from{}", from.len()), "MARBLE E5").replacen(ANN, from, 1));
        assert_eq!(referee.last_status(), LetterStatus::Ignored, "{from}");
        assert!(referee.sent_to(from).is_empty(), "{from}");
        referee.one_to(ANN).says("with your reply token, but from");
    }
    referee.receive(&answer(&to_ann, "own", "MARBLE E5").replace("own@players.example", &to_ann.message_id));
    assert_eq!(referee.last_status(), LetterStatus::Automatic, "our own Message-ID");
    assert!(referee.sent_to(ANN).is_empty());
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    // None of these marks a machine.
    for (field, question) in [
        ("X-Auto-Response-Suppress: All", "STATUS"),
        ("Auto-Submitted: no", "HISTORY"),
        ("Precedence: normal", "GAMES"),
        ("Return-Path: <ann@players.example>", "HELP"),
        ("X-Loop: list@elsewhere.example", "MATCHES"),
    ] {
        referee.receive(&format!("{field}\n{}", answer(&to_ann, question, question)));
        assert_eq!(referee.last_status(), LetterStatus::Ruled, "{field}");
        referee.one_to(ANN);
    }
}

#[test]
fn a_forwarded_or_attached_message_is_never_an_order() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let inline = "Look at this:\n\n---------- Forwarded message ---------\nFrom: Bo <bo@players.example>\n\
                  Date: Mon, 4 May 2026 at 10:00\nSubject: my move\nTo: Ann <ann@players.example>\n\nMARBLE E5\n";
    referee.receive(&answer(&to_ann, "inline", inline).replacen("Re: turn", "Fwd: my move", 1));
    let attached = format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n{}",
        answer(
            &to_ann,
            "attached",
            "--b\nContent-Type: text/plain\n\nWhat do you think of the letter below?\n\n--b\n\
             Content-Type: message/rfc822\n\nFrom: bo@players.example\nSubject: my move\n\nMARBLE E5\n\n--b--"
        )
    );
    referee.receive(&attached);
    let whole = format!(
        "MIME-Version: 1.0\nContent-Type: message/rfc822\n{}",
        answer(&to_ann, "whole", "From: ann@players.example\nSubject: my move\n\nMARBLE E5")
    );
    referee.receive(&whole);
    assert_eq!(referee.sent_to(ANN).len(), 3, "each is answered");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
}

#[test]
fn a_player_gets_the_form_at_the_registered_address_that_wrote_without_a_token() {
    let referee = Referee::new();
    referee.write(GM, "GM LIST");
    let to_gm = referee.one_to(GM);
    let home = "ann@home.example";
    referee.reply(GM, &to_gm, &format!("GM PLAYER ADD {home} Ann\nGM PLAYER ADD {ANN} Ann"));
    referee.reply(GM, &to_gm, &format!("GM PLAYER MERGE {home} INTO {ANN}"));
    let (game_match, _, _) = quad(&referee);
    referee.write(home, &format!("[{}] MARBLE E5", game_match.id));
    referee.one_to(home).says("Nothing was filed").says("Your orders for turn 1");
    assert!(referee.sent_to(ANN).is_empty());
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
}

#[test]
fn an_answer_continues_the_thread_of_the_letter() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let thread = format!("References: <root@players.example> <{}>\n", to_ann.message_id);
    referee.receive(&format!("{thread}{}", answer(&to_ann, "reply", "STATUS")));
    assert_eq!(referee.one_to(ANN).in_reply_to.as_deref(), Some("reply@players.example"));
    let raw = String::from_utf8(referee.raw_to(ANN).pop().expect("a letter")).expect("text");
    let unfolded = raw.replace("\r\n", "\n").replace("\n ", " ").replace("\n\t", " ");
    let references = unfolded.lines().find_map(|line| line.strip_prefix("References: ")).expect("References");
    let own = format!("<{}>", to_ann.message_id);
    let place = |id: &str| references.split_whitespace().position(|found| found == id);
    let places = ["<root@players.example>", &own, "<reply@players.example>"].map(place);
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{references}");
    assert!(references.ends_with("<reply@players.example>"), "{references}");
}

#[test]
fn orders_below_and_between_quotes_count_and_those_in_quotes_do_not() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quadrant_z(&referee);
    let quoted: Vec<String> = to_ann.text.lines().map(|line| format!("> {line}")).collect();
    let (above, below) = quoted.split_at(quoted.len() / 2);
    let body = format!(
        "The referee wrote:\n{}\nSHIP 1 TO L1\n{}\n> SHIP 1 HOLD\n\nWAIT\n",
        above.join("\n"),
        below.join("\n")
    );
    referee.receive(&answer(&to_ann, "between", &body));
    referee.one_to(ANN).says("Your orders are sealed").says("| SHIP 1 TO L1").says("You asked to WAIT");
    let held = referee.find(&game_match.id).filed.first.expect("a filing");
    assert_eq!(held.filing.lines().join("\n"), "SHIP 1 TO L1");
}

#[test]
fn nothing_below_a_line_end_is_read() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "STATUS\nEND\nMARBLE E5\nRESIGN CONFIRM\nMARBLE Z99");
    referee.one_to(ANN).says("Quad, Ann").keeps_silent_of("Z99");
    let after = referee.find(&game_match.id);
    assert_eq!((after.adjudicated.len(), after.stage), (0, Stage::Running));
    assert!(referee.sent_to(BO).is_empty());
}

#[test]
fn a_receipt_holds_the_orders_the_remarks_what_comes_next_and_the_digest_of_what_was_sealed() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "ship 1 hold\nwith best wishes");
    let receipt = referee.one_to(ANN);
    receipt.says("Your orders are sealed: | SHIP 1 HOLD").says("> with best wishes");
    receipt
        .says("Turn 1 waits for Bo. Until then you can replace your orders.")
        .says("It is due Thu 14 May, 20:00 CEST");
    let entries =
        referee.block_on(referee.office().store.entries(&game_match.id)).expect("the store answers");
    let sealed = entries.iter().rev().find(|entry| entry.kind == "OrdersSealed").expect("an entry");
    let digest = receipt.text.lines().map(str::trim).find(|line| line.len() == 66 && line.starts_with("| "));
    let digest = digest.unwrap_or_else(|| panic!("no digest in:\n{}", receipt.text));
    assert!(sealed.json.contains(&digest[2..]), "{}", sealed.json);
}

#[test]
fn an_order_in_look_alike_letters_full_width_forms_or_typographic_dashes_is_understood() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quadrant_z(&referee);
    for (n, order) in [
        "ЅНІР 1 ТО L1",
        "ＳＨＩＰ １ ＴＯ Ｌ１",
        "SHIP\u{a0}1 → L1",
        "\u{feff}SHIP 1 TO\u{200b} L1",
        "• SHIP 1: TO L1.",
    ]
    .iter()
    .enumerate()
    {
        let letter = answer(&to_ann, &format!("odd{n}"), order);
        referee.receive(&letter.replacen("\n\n", "\nContent-Type: text/plain; charset=utf-8\n\n", 1));
        referee.one_to(ANN).says("sealed").says("| SHIP 1 TO L1");
        // The fourth answer to the same orders would wait for an hour.
        referee.advance(2);
    }
    assert!(referee.find(&game_match.id).filed.first.is_some());
}

#[test]
fn invitation_report_and_result_show_the_board_and_the_head_of_the_ledger() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (invitation, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &invitation, "MARBLE E5");
    let report = referee.one_to(BO);
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    let (to_winner, to_loser) = (referee.last_to(ANN), referee.last_to(BO));
    for sent in [&invitation, &report, &to_winner, &to_loser] {
        assert_eq!(sent.pictures, 1, "{}", sent.subject);
        let mut lines = sent.text.lines();
        assert!(lines.any(|line| line == format!("Ledger {} sha256", game_match.id)), "{}", sent.text);
        let head = lines.next().and_then(|line| line.trim().strip_prefix("| ")).expect("the head");
        assert!(head.len() == 64 && head.bytes().all(|byte| byte.is_ascii_hexdigit()), "{head}");
    }
    to_winner.keeps_silent_of("Everything is revealed now");
    assert_eq!(to_winner.attachments.len(), 1, "the record");
    let head = referee.find(&game_match.id).head.hash.to_string();
    assert!(to_winner.text.contains(&head), "the result names the last entry");
}

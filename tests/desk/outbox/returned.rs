//! Servers that change the Message-ID of our letters in transit: bounces are matched by the return path, and replies by
//! the reply token.

use fogpost::game::any::GameKind;

use crate::referee::{ANN, BO, Referee, Sent};

const RETURN_PATH: &str = "return_path = \"bounce+{id}@club.example\"\n";

/// Returns the return path of the last letter to this address.
fn return_path(referee: &Referee, address: &str) -> String {
    let raw = referee.raw_to(address).pop().expect("a letter");
    let text = String::from_utf8_lossy(&raw).into_owned();
    let path = text.lines().find_map(|line| line.strip_prefix("Return-Path: <")?.strip_suffix('>'));
    path.expect("a return path").to_owned()
}

/// A mail server's report on a letter of the referee whose Message-ID it has changed.
fn bounce(return_path: &str, failed: &str) -> String {
    let id = failed.len() + return_path.len();
    format!(
        "Return-Path: <>\nFrom: MAILER-DAEMON@relay.example\nTo: {return_path}\n\
         Subject: Undelivered Mail Returned to Sender\nMessage-ID: <b{id}@relay.example>\n\
         Auto-Submitted: auto-replied\nMIME-Version: 1.0\n\
         Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n\
         --b\nContent-Type: text/plain\n\nI could not deliver your message.\n\
         --b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; relay.example\n\n\
         Final-Recipient: rfc822; {failed}\nAction: failed\nStatus: 5.1.1\n\
         --b\nContent-Type: text/rfc822-headers\n\nMessage-ID: <changed@relay.example>\nTo: {failed}\n--b--\n"
    )
}

#[test]
fn a_bounce_is_matched_by_its_return_path_where_the_message_id_was_changed() {
    let referee = Referee::with_club(RETURN_PATH);
    let game_match = referee.open(GameKind::Quad, &[]);
    let [of_ann, of_bo] = [ANN, BO].map(|address| return_path(&referee, address));
    assert!(of_bo.starts_with("bounce+") && of_bo != of_ann, "{of_ann} {of_bo}");
    referee.receive(&bounce(&of_bo, BO));
    let marked = referee.find(&game_match.id);
    assert!(marked.bouncing.second && !marked.bouncing.first);
}

#[test]
fn a_bounce_to_a_letters_own_return_path_counts_whatever_address_it_names() {
    let referee = Referee::with_club(RETURN_PATH);
    let game_match = referee.open(GameKind::Quad, &[]);
    let of_bo = return_path(&referee, BO);
    referee.receive(&bounce("bounce+000000000000000000000000@club.example", BO));
    referee.receive(&bounce("referee@club.example", BO));
    let unmarked = referee.find(&game_match.id);
    assert!(!unmarked.bouncing.second && !unmarked.bouncing.first);
    // A host forwarded the letter.
    referee.receive(&bounce(&of_bo, "carol@elsewhere.example"));
    let marked = referee.find(&game_match.id);
    assert!(marked.bouncing.second && !marked.bouncing.first);
}

#[test]
fn a_reply_counts_by_its_plus_address_or_its_footer_where_the_message_id_was_changed() {
    for plus_addresses in [true, false] {
        let referee = Referee::with_club(&format!("plus_addresses = {plus_addresses}\n"));
        referee.open(GameKind::Quad, &[]);
        referee.one_to(BO);
        let invitation = Sent { message_id: "changed@relay.example".to_owned(), ..referee.one_to(ANN) };
        let reply = match plus_addresses {
            // Nothing is quoted, so only the address contains the token.
            true => format!(
                "From: {ANN}\nTo: {}\nSubject: Re: {}\nMessage-ID: <1@players.example>\n\
                 In-Reply-To: <changed@relay.example>\nReferences: <changed@relay.example>\n\nMARBLE E5\n",
                invitation.reply_to, invitation.subject
            ),
            false => referee.answer(ANN, &invitation, "MARBLE E5"),
        };
        referee.receive(&reply);
        referee.one_to(BO).says("E5");
    }
}

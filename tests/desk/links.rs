//! The links of letters, as a mail program follows them.

use crate::referee::{Referee, Sent};

/// Returns the labels and targets of all links in a letter.
pub fn links(sent: &Sent) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for piece in sent.html.split("<a href=\"").skip(1) {
        let (href, rest) = piece.split_once("\">").expect("an end");
        let (label, _) = rest.split_once("</a>").expect("an end");
        let href = href.replace("&amp;", "&");
        assert!(href.len() <= 1900, "{href}");
        found.push((label.replace('\n', " "), decoded(&href)));
    }
    found
}

fn decoded(href: &str) -> String {
    let (bytes, mut decoded, mut at) = (href.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at] == b'%' {
            decoded.push(u8::from_str_radix(&href[at + 1..at + 3], 16).expect("two digits"));
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(decoded).expect("text")
}

/// Returns the target of the link with this label.
pub fn link(sent: &Sent, label: &str) -> Option<String> {
    links(sent).into_iter().find(|(found, _)| found == label).map(|(_, target)| target)
}

/// Sends the letter of a link, with more words after its first line.
pub fn follow_with(referee: &Referee, from: &str, target: &str, words: &str) {
    let (to, rest) = target.strip_prefix("mailto:").and_then(|rest| rest.split_once('?')).expect("a link");
    let (subject, body) =
        rest.strip_prefix("subject=").and_then(|rest| rest.split_once("&body=")).expect("a letter");
    let n = referee.letters().len();
    let body = body.replace("\r\n", "\n");
    let (first, rest) = body.split_once('\n').unwrap_or((&body, ""));
    referee.receive(&format!(
        "From: {from}\nTo: {to}\nSubject: {subject}\nMessage-ID: <link{n}@players.example>\n\n{first}{words}\n{rest}"
    ));
}

/// Sends the letter of a link.
pub fn follow(referee: &Referee, from: &str, target: &str) {
    follow_with(referee, from, target, "");
}

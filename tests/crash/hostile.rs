//! Letters of people who mean harm: floods, bombs, amplifiers and malformed ones, each from another address. The club
//! keeps each of them once, answers it once at most, and the players' letters are none the worse for them.

use crate::people::{Person, Sent};
use crate::servers::Servers;
use fogpost_testing::random::Random;

/// Sends a letter of a random kind, and returns its sender.
pub fn send(servers: &Servers, sent: &mut Sent, random: &mut Random) -> Person {
    let number = sent.hostile.len();
    let stranger = Person::new(format!("mallory{number}"));
    let (from, to, id) = (stranger.address(), "referee@club.test", format!("{number}.mallory@people.test"));
    let (fields, body) = content(random.below(KINDS), &from);
    let raw = format!("{fields}To: {to}\nSubject: letter {number}\nMessage-ID: <{id}>\n\n{body}\n");
    servers.deliver(raw.replace('\n', "\r\n").as_bytes(), &from, to);
    sent.hostile.insert(id);
    stranger
}

const KINDS: usize = 8;

/// The fields that tell the sender and the content, and the content.
fn content(kind: usize, from: &str) -> (String, String) {
    let plain = format!("From: {from}\n");
    match kind {
        0 => (plain, "RULES quadrant-z\n".repeat(5000)),
        1 => (plain, "HISTORY\nSTATUS\nREPORT\nHELP\n".repeat(25)),
        2 => (plain, "SHIP 99 A1 TO Z99 AND BACK\n".repeat(2_000)),
        3 => (plain, "CHALLENGE victim@club.test QUAD\n".repeat(60)),
        4 => (format!("From: {from}, other@club.test\n"), "HELP\n".to_owned()),
        5 => (format!("{plain}Auto-Submitted: auto-replied\n"), "I am away.\n".to_owned()),
        6 => (format!("{plain}Content-Type: multipart/mixed; boundary=b\n"), "--b\n\nHELP\n".repeat(20_000)),
        _ => (plain, "C ontent-Type: message/rfc822\n\n".repeat(10_000)),
    }
}

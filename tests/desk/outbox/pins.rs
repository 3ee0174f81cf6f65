//! The pins of our letters: the parts that they cover, and the canonical form of which they are the digest.

use fogpost::ledger;
use fogpost::letter::Digest;
use fogpost::letter::pictures::stand_in;
use fogpost::report::WordedLetter;
use fogpost::report::mime::{self, Header};
use fogpost::report::pin::{canonical, pin, pin_of_new};
use proptest::prelude::*;

const PICTURE: &[u8] = b"\x89PNG a picture that is longer than one line of base64, which has 76 characters";

fn letter() -> WordedLetter {
    WordedLetter {
        subject: "[QZ-7K3M] Turn 4: your report, whose subject is so long that the line has to be folded"
            .to_owned(),
        text: "What happened\n\nMünchen fell.\n".to_owned(),
        html: "<p>What happened</p>\n<p>München fell.</p>\n".to_owned(),
        picture: Some(PICTURE.to_vec()),
        attachments: vec![("QZ-7K3M.toml".to_owned(), "game = \"quadrant-z\"\n".to_owned())],
    }
}

fn mail(change: impl FnOnce(&mut WordedLetter)) -> Vec<u8> {
    let mut letter = letter();
    change(&mut letter);
    made_of(&letter)
}

fn made_of(letter: &WordedLetter) -> Vec<u8> {
    let header = Header {
        from_name: "The club",
        from: "referee@club.example",
        reply_to: "referee+token@club.example",
        to_name: "Änn",
        to: "ann@players.example",
        message_id: "token.7@club.example",
        in_reply_to: None,
        references: &[],
        date: "2026-11-23T10:00:00Z".parse().unwrap(),
    };
    mime::mail(letter, &header).unwrap()
}

#[test]
fn the_pin_covers_each_field_and_each_part() {
    let letter = mail(|_| {});
    let pinned = pin(&letter);
    for changed in [
        mail(|letter| letter.subject.push('!')),
        mail(|letter| letter.text = letter.text.replace("fell", "held")),
        mail(|letter| letter.html = letter.html.replace("fell", "held")),
        mail(|letter| letter.picture = None),
        mail(|letter| letter.picture = Some(b"another".to_vec())),
        mail(|letter| letter.attachments[0].0 = "other.toml".to_owned()),
        mail(|letter| letter.attachments[0].1.push('x')),
        mail(|letter| letter.attachments.clear()),
        [b"Cc: bo@players.example\r\n", &letter[..]].concat(),
    ] {
        assert_ne!(pin(&changed), pinned, "{}", canonical(&changed));
    }
}

#[test]
fn the_canonical_form_holds_the_letter_in_plain_words() {
    let form: serde_json::Value = serde_json::from_str(&canonical(&mail(|_| {}))).unwrap();
    assert_eq!(form["text"], "What happened\n\nMünchen fell.");
    assert_eq!(form["html"], "<p>What happened</p>\n<p>München fell.</p>");
    assert_eq!(form["files"][0]["name"], "board");
    assert_eq!(form["files"][0]["sha256"], Digest::of(PICTURE).to_string());
    assert_eq!(form["files"][1]["name"], "QZ-7K3M.toml");
    assert_eq!(form["files"][1]["sha256"], Digest::of(b"game = \"quadrant-z\"").to_string());
    assert_eq!(form["header"][0][0], "From");
}

#[test]
fn the_canonical_form_is_canonical_json() {
    let form = canonical(&mail(|letter| letter.text = "\u{1}\t\"\\ \u{7f} München \u{1f600}".to_owned()));
    let read: serde_json::Value = serde_json::from_str(&form).unwrap();
    assert_eq!(form, ledger::canonical(&read));
}

#[test]
fn a_letter_keeps_its_pin_without_its_picture() {
    let whole = mail(|_| {});
    let dropped = |digest: Digest| mail(|letter| letter.picture = Some(stand_in(digest).into_bytes()));
    assert_eq!(pin(&dropped(Digest::of(PICTURE))), pin(&whole));
    assert_ne!(pin(&dropped(Digest::of(b"another"))), pin(&whole));
}

proptest! {
    /// Whatever a letter quotes, its pin is the same before it is encoded and after it is decoded.
    #[test]
    fn a_letter_that_was_just_made_has_the_pin_of_its_bytes(
        text in "(?s)(.|\r\n|[ \t\r\n.=\\-\u{feff}\u{0}]|é){0,300}",
        html in "(?s)(.|\r\n|[ \t\r\n.=<>&\\-]|日){0,300}",
        attached in "(?s)(.|[ \t\r\n=]){0,200}",
        has: [bool; 3],
    ) {
        let [has_html, has_picture, is_attached] = has;
        let mut made = letter();
        made.text = text;
        made.html = if has_html { html } else { String::new() };
        made.picture = made.picture.filter(|_| has_picture);
        made.attachments = if is_attached { vec![("QZ-7K3M.toml".to_owned(), attached)] } else { Vec::new() };
        let mail = made_of(&made);
        prop_assert_eq!(pin_of_new(&mail, &made), pin(&mail));
    }
}

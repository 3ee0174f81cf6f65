//! Reads any bytes as a letter, classifies it, and extracts its new text.

#![no_main]

use fogpost::dialect::DIALECT;
use fogpost::letter::{Address, Letter, Limits, OwnIdentity};
use fogpost::request::{Request, lines_of};
use libfuzzer_sys::fuzz_target;

const OURS: &str = include_str!("../../tests/letters/ours/turn4.txt");

fuzz_target!(|raw: &[u8]| {
    let own = OwnIdentity {
        address: Address::parse("referee@club.example").expect("an address"),
        message_id_domain: "fogpost.club.example".to_owned(),
        return_path: None,
        dialect: &DIALECT,
    };
    let letter = match Letter::read(raw, &own, &Limits::default()) {
        Ok(letter) => letter,
        Err(unreadable) => {
            let _ =
                (unreadable.reason.to_string(), unreadable.automatic.map(|automatic| automatic.to_string()));
            return;
        }
    };
    let _ = (letter.automatic.as_ref().map(ToString::to_string), letter.reported_dkim("mx.club.example"));
    for answered in [None, Some(OURS)] {
        let written = letter.new_text(answered);
        assert!(written.lines.iter().all(|line| line.no > 0 && !line.text.contains('\n')));
        let _ = Request::read(&lines_of(written), |_: &str| false);
    }
});

//! Parses any text as the record of a match, and replays it.

#![no_main]

use fogpost::game::record::Record;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(record) = Record::parse(text) {
        record.replay(|_| ());
    }
});

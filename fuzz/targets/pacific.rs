//! Parses any line as orders. Each of them, written out, must parse as the same order again.

#![no_main]

use fogpost::game::Game;
use fogpost::game::pacific::State;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &str| {
    if line.trim().is_empty() || line.contains(['\n', '\r']) {
        return;
    }
    for order in State::parse(line).unwrap_or_default() {
        assert_eq!(State::parse(&order.to_string()), Ok(vec![order]));
    }
});

//! Parses any text as the config of a club.

#![no_main]

use fogpost::config::Config;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = Config::parse(text, "config.toml") {
        assert!(!error.to_string().is_empty());
    }
});

//! Modified UTF-7, in which the names of folders are sent (RFC 3501, 5.1.3).
//!
//! The crate utf7-imap is not used, because it panics over a name that is not base64.

use base64::Engine as _;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &IMAP_MUTF7,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Writes a name as servers expect it: `Entw&APw-rfe` for `Entwürfe`.
pub(super) fn encode(name: &str) -> String {
    let mut encoded = String::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let (run, after) = rest.split_at(rest.find(|c| is_plain(c) != is_plain(first)).unwrap_or(rest.len()));
        if is_plain(first) {
            encoded.push_str(&run.replace('&', "&-"));
        } else {
            let utf16: Vec<u8> = run.encode_utf16().flat_map(u16::to_be_bytes).collect();
            encoded = format!("{encoded}&{}-", BASE64.encode(utf16));
        }
        rest = after;
    }
    encoded
}

/// Reads a name as servers send it. Malformed parts stay as they are.
pub(super) fn decode(name: &str) -> String {
    let mut decoded = String::new();
    let mut rest = name;
    while let Some((plain, shifted)) = rest.split_once('&') {
        decoded.push_str(plain);
        let run = shifted.split_once('-').and_then(|(run, after)| match run {
            "" => Some(("&".to_owned(), after)),
            run => Some((decode_run(run)?, after)),
        });
        let (text, after) = run.unwrap_or_else(|| ("&".to_owned(), shifted));
        decoded.push_str(&text);
        rest = after;
    }
    decoded + rest
}

fn decode_run(run: &str) -> Option<String> {
    let bytes = BASE64.decode(run).ok()?;
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
    String::from_utf16(&units).ok().filter(|_| bytes.len() % 2 == 0)
}

fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_and_are_written_as_servers_write_them() {
        for (name, encoded) in [
            ("INBOX", "INBOX"),
            ("Courrier indésirable", "Courrier ind&AOk-sirable"),
            ("Spam-Кор", "Spam-&BBoEPgRA-"),
            ("Отправленные", "&BB4EQgQ,BEAEMAQyBDsENQQ9BD0ESwQ1-"),
            ("théâtre", "th&AOkA4g-tre"),
            ("A & B", "A &- B"),
            ("&é", "&-&AOk-"),
            ("🎲", "&2Dzfsg-"),
            ("", ""),
        ] {
            assert_eq!(encode(name), encoded);
            assert_eq!(decode(encoded), name);
        }
    }

    #[test]
    fn malformed_names_stay_as_they_are() {
        for name in ["a&b", "&", "&*-", "&AOk", "&AA-", "&2Dw-", "ü"] {
            assert_eq!(decode(name), name);
        }
    }
}

//! Decodes the bytes of a text part.
//!
//! Charset labels are often wrong: UTF-8 is labelled Latin-1, Windows-1252 is labelled UTF-8 or not at all.
//! So the bytes themselves are examined first.

use std::borrow::Cow;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::{MessagePart, MimeHeaders};

/// Returns the bytes of a leaf part, without its transfer encoding. Skips invalid characters.
pub fn transfer_decoded<'a>(raw: &'a [u8], part: &MessagePart<'_>) -> Cow<'a, [u8]> {
    let body = raw.get(part.offset_body as usize..part.offset_end as usize).unwrap_or_default();
    let encoding = part.content_transfer_encoding().unwrap_or_default().trim().to_ascii_lowercase();
    match encoding.as_str() {
        "quoted-printable" => Cow::Owned(quoted_printable(body)),
        "base64" => Cow::Owned(base64(body)),
        _ => Cow::Borrowed(body),
    }
}

fn hex_digit(byte: Option<&u8>) -> Option<u32> {
    byte.and_then(|byte| char::from(*byte).to_digit(16))
}

/// Decodes quoted-printable (RFC 2045 6.7). A `=` that does not start a valid code stands for itself.
fn quoted_printable(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut i = 0;
    while i < body.len() {
        if body[i] != b'=' {
            out.push(body[i]);
            i += 1;
            continue;
        }
        if let (Some(high), Some(low)) = (hex_digit(body.get(i + 1)), hex_digit(body.get(i + 2))) {
            out.push((high << 4 | low) as u8);
            i += 3;
            continue;
        }
        // A soft line break, perhaps with trailing blanks added in transit.
        let blanks = body[i + 1..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
        if i + 1 + blanks == body.len() || body[i + 1 + blanks] == b'\n' {
            i += blanks + 2;
        } else {
            out.push(b'=');
            i += 1;
        }
    }
    out
}

/// Decodes base64 (RFC 2045 6.8). Skips other characters, and pads a truncated end.
fn base64(body: &[u8]) -> Vec<u8> {
    let mut digits: Vec<u8> =
        body.iter().copied().filter(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/')).collect();
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    digits.resize(digits.len().next_multiple_of(4), b'=');
    base64_decode(&digits).unwrap_or_default()
}

/// Labels under which valid UTF-8 is decoded as such. Text in these charsets is hardly ever UTF-8 by chance.
const MISUSED_LABELS: [&str; 10] =
    ["utf-8", "utf8", "iso-8859", "latin", "windows-125", "cp125", "koi8", "unknown", "x-unknown", "default"];

fn decoder(label: &str) -> Option<fn(&[u8]) -> String> {
    if label.is_empty() { None } else { charset_decoder(label.as_bytes()) }
}

/// Decodes `bytes` with the charset `label`, or with the charset that was evidently meant.
pub fn decode<'a>(bytes: &'a [u8], label: Option<&str>) -> Cow<'a, str> {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => return String::from_utf8_lossy(rest),
        [0xff, 0xfe, rest @ ..] => return utf16(rest, u16::from_le_bytes).into(),
        [0xfe, 0xff, rest @ ..] => return utf16(rest, u16::from_be_bytes).into(),
        _ => {}
    }
    let label =
        label.unwrap_or_default().trim().trim_matches(['"', '\'']).to_ascii_lowercase().replace('_', "-");
    if label.starts_with("utf-16") || label.starts_with("utf16") {
        return if is_utf16(bytes, 0) || label.ends_with("be") && !is_utf16(bytes, 1) {
            utf16(bytes, u16::from_be_bytes).into()
        } else {
            utf16(bytes, u16::from_le_bytes).into()
        };
    }
    if bytes.contains(&0) && bytes.len() >= 4 {
        if is_utf16(bytes, 1) {
            return utf16(bytes, u16::from_le_bytes).into();
        }
        if is_utf16(bytes, 0) {
            return utf16(bytes, u16::from_be_bytes).into();
        }
    }
    if bytes.windows(2).any(|two| two == b"\x1b$") {
        // Only ISO 2022 has these escapes.
        if let Some(decode) = decoder(if label.starts_with("iso-2022") { &label } else { "iso-2022-jp" }) {
            return decode(bytes).into();
        }
    }
    let may_be_utf8 = label.is_empty()
        || label.contains("ascii")
        || MISUSED_LABELS.iter().any(|misused| label.starts_with(misused));
    if may_be_utf8 && let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    // Text labelled UTF-8 or ASCII that is neither is usually Windows-1252.
    let is_vague =
        label.is_empty() || label.contains("ascii") || label.starts_with("utf") || label.contains("unknown");
    if (!is_vague || label == "utf-7")
        && let Some(decode) = decoder(&label)
    {
        return decode(bytes).into();
    }
    match (std::str::from_utf8(bytes), decoder("windows-1252")) {
        (Ok(text), _) => text.into(),
        (Err(_), Some(decode)) => decode(bytes).into(),
        (Err(_), None) => String::from_utf8_lossy(bytes),
    }
}

/// Whether most bytes at every second place, starting at `from`, are zero, as in Western text in UTF-16.
fn is_utf16(bytes: &[u8], from: usize) -> bool {
    let halves = bytes.iter().skip(from).step_by(2);
    let zeros = halves.clone().filter(|b| **b == 0).count();
    zeros * 10 >= halves.count() * 7
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|two| unit([two[0], two[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wrong_labels_are_overruled_by_the_bytes() {
        assert_eq!(decode("Grüße".as_bytes(), Some("iso-8859-1")), "Grüße");
        assert_eq!(decode(b"Gr\xfc\xdfe", Some("utf-8")), "Grüße");
        assert_eq!(decode(b"Gr\xfc\xdfe", None), "Grüße");
        assert_eq!(decode(b"\x93hm\x94", Some("iso-8859-1")), "“hm”");
        assert_eq!(decode(b"S\0H\0I\0P\0", None), "SHIP");
        assert_eq!(decode(b"\0S\0H\0I\0P", Some("utf-16")), "SHIP");
        assert_eq!(decode(b"S\0H\0I\0P\0", Some("utf-16be")), "SHIP");
        assert_eq!(decode("Ünïcode".as_bytes(), Some("no-such-charset")), "Ünïcode");
    }

    #[test]
    fn charsets_of_other_scripts_are_decoded() {
        assert_eq!(decode(b"\xf0\xf2\xe9\xf7\xe5\xf4", Some("koi8-r")), "ПРИВЕТ");
        assert_eq!(decode(b"\xcf\xd0\xc8\xc2\xc5\xd2", Some("windows-1251")), "ПРИВЕТ");
        assert_eq!(decode(b"\x1b$B$O$$\x1b(B OK", Some("iso-2022-jp")), "はい OK");
        assert_eq!(decode(b"\x1b$B$O$$\x1b(B OK", None), "はい OK");
        assert_eq!(decode(b"\x82\xcd\x82\xa2", Some("Shift_JIS")), "はい");
        assert_eq!(decode(b"\xc4\xe3\xba\xc3", Some("GB2312")), "你好");
    }

    #[test]
    fn broken_transfer_encodings_are_decoded_as_far_as_possible() {
        assert_eq!(quoted_printable(b"a=3Db=\r\nc = d=C3=A4=  \n=e"), "a=bc = dä=e".as_bytes());
        assert_eq!(base64(b"U0hJ\r\nUCAx!!"), b"SHIP 1");
        assert_eq!(base64(b"U0hJUCAxU"), b"SHIP 1");
    }

    proptest! {
        #[test]
        fn decoding_never_panics(bytes: Vec<u8>, label in proptest::option::of("[a-z0-9-]{0,12}|utf-16|utf-7|iso-2022-jp|gb18030|shift_jis|big5|euc-kr")) {
            let _ = decode(&bytes, label.as_deref());
            let _ = (quoted_printable(&bytes), base64(&bytes));
        }
    }
}

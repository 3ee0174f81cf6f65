//! From the bytes of a text part to its characters, whatever its label says.
//!
//! Labels lie: UTF-8 is sent as Latin-1, Windows-1252 as UTF-8 or as nothing. So the bytes are asked first.

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::{MessagePart, MimeHeaders};

/// The bytes of a leaf part with its transfer encoding undone; what does not belong there is passed over.
pub fn transfer_decoded(raw: &[u8], part: &MessagePart<'_>) -> Vec<u8> {
    let body = raw.get(part.offset_body as usize..part.offset_end as usize).unwrap_or_default();
    let encoding = part.content_transfer_encoding().unwrap_or_default().trim().to_ascii_lowercase();
    match encoding.as_str() {
        "quoted-printable" => quoted_printable(body),
        "base64" => base64(body),
        _ => body.to_vec(),
    }
}

/// RFC 2045 6.7, tolerant: a `=` that begins no code stands for itself.
fn quoted_printable(body: &[u8]) -> Vec<u8> {
    let digit = |b: Option<&u8>| b.and_then(|b| char::from(*b).to_digit(16));
    let mut out = Vec::with_capacity(body.len());
    let mut i = 0;
    while i < body.len() {
        if body[i] != b'=' {
            out.push(body[i]);
            i += 1;
            continue;
        }
        if let (Some(high), Some(low)) = (digit(body.get(i + 1)), digit(body.get(i + 2))) {
            out.push((high << 4 | low) as u8);
            i += 3;
            continue;
        }
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

fn base64(body: &[u8]) -> Vec<u8> {
    let mut digits: Vec<u8> =
        body.iter().copied().filter(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/')).collect();
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    digits.resize(digits.len().next_multiple_of(4), b'=');
    base64_decode(&digits).unwrap_or_default()
}

/// The characters that `bytes` stand for under the charset `label`, or under what it must have been.
pub fn decode(bytes: &[u8], label: Option<&str>) -> String {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => return String::from_utf8_lossy(rest).into_owned(),
        [0xff, 0xfe, rest @ ..] => return utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return utf16(rest, u16::from_be_bytes),
        _ => {}
    }
    let label =
        label.unwrap_or_default().trim().trim_matches(['"', '\'']).to_ascii_lowercase().replace('_', "-");
    let named = |label: &str| (!label.is_empty()).then(|| charset_decoder(label.as_bytes())).flatten();
    if label.starts_with("utf-16") || label.starts_with("utf16") {
        return if is_utf16(bytes, 0) || label.ends_with("be") && !is_utf16(bytes, 1) {
            utf16(bytes, u16::from_be_bytes)
        } else {
            utf16(bytes, u16::from_le_bytes)
        };
    }
    if bytes.contains(&0) && bytes.len() >= 4 {
        if is_utf16(bytes, 1) {
            return utf16(bytes, u16::from_le_bytes);
        }
        if is_utf16(bytes, 0) {
            return utf16(bytes, u16::from_be_bytes);
        }
    }
    if bytes.windows(2).any(|two| two == b"\x1b$") {
        // Only ISO 2022 has these escapes.
        if let Some(decoder) = named(if label.starts_with("iso-2022") { &label } else { "iso-2022-jp" }) {
            return decoder(bytes);
        }
    }
    let one_byte = label.is_empty()
        || label.contains("ascii")
        || [
            "utf-8",
            "utf8",
            "iso-8859",
            "latin",
            "windows-125",
            "cp125",
            "koi8",
            "unknown",
            "x-unknown",
            "default",
        ]
        .iter()
        .any(|known| label.starts_with(known));
    if one_byte && let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    // What claims to be UTF-8 or ASCII and is not is Windows-1252 as a rule.
    let vague =
        label.is_empty() || label.contains("ascii") || label.starts_with("utf") || label.contains("unknown");
    match named(&label) {
        Some(decoder) if !vague || label == "utf-7" => decoder(bytes),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => named("windows-1252")
                .map_or_else(|| String::from_utf8_lossy(bytes).into_owned(), |decoder| decoder(bytes)),
        },
    }
}

/// Whether nearly every second byte, from `from`, is zero, as in Western text in UTF-16.
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
    fn labels_that_lie_are_not_believed() {
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
    fn charsets_of_other_scripts_are_read() {
        assert_eq!(decode(b"\xf0\xf2\xe9\xf7\xe5\xf4", Some("koi8-r")), "ПРИВЕТ");
        assert_eq!(decode(b"\xcf\xd0\xc8\xc2\xc5\xd2", Some("windows-1251")), "ПРИВЕТ");
        assert_eq!(decode(b"\x1b$B$O$$\x1b(B OK", Some("iso-2022-jp")), "はい OK");
        assert_eq!(decode(b"\x1b$B$O$$\x1b(B OK", None), "はい OK");
        assert_eq!(decode(b"\x82\xcd\x82\xa2", Some("Shift_JIS")), "はい");
        assert_eq!(decode(b"\xc4\xe3\xba\xc3", Some("GB2312")), "你好");
    }

    #[test]
    fn broken_transfer_encodings_lose_nothing_readable() {
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

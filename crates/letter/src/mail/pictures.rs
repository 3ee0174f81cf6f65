//! The picture in one of our letters: taken out, put back, replaced by its digest, or left out.
//!
//! The ledger pins a letter by the digest of its picture, so putting a picture back must restore exactly the
//! same bytes: a picture is taken out only if encoding it again gives the same characters.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem::{find, rfind};

use super::digest::Digest;

/// The header field of a picture's part in our letters.
const PICTURE_FIELD: &[u8] = b"\r\nContent-Type: image/png\r\n";

/// Start of the line between two parts.
const DELIMITER: &[u8] = b"\r\n--";

/// Characters in a line of base64 (RFC 2045, section 6.8).
const LINE: usize = 76;

/// Start of the text that replaces a dropped picture.
const DROPPED: &str = "This picture was dropped. Its SHA-256 is ";

/// Splits a letter into its text and its first picture. Returns `None` if it has none, or if the picture's
/// base64 is not written as [`put_in`] writes it.
pub fn take_out(letter: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let start = place(letter)?;
    let end = start + find(&letter[start..], DELIMITER)?;
    let picture = decode(&letter[start..end])?;
    Some(([&letter[..start], &letter[end..]].concat(), picture))
}

/// Rejoins a letter that [`take_out`] split. Returns `None` if the text has no place for a picture.
pub fn put_in(text: &[u8], picture: &[u8]) -> Option<Vec<u8>> {
    let (before, after) = text.split_at(place(text)?);
    Some([before, &encode(picture), after].concat())
}

/// Returns the text that replaces a dropped picture with this digest.
pub fn stand_in(picture: Digest) -> String {
    format!("{DROPPED}{picture}")
}

/// Returns the digest of the dropped picture that these bytes replace, if they replace one.
pub fn stands_for(bytes: &[u8]) -> Option<Digest> {
    std::str::from_utf8(bytes.strip_prefix(DROPPED.as_bytes())?).ok()?.parse().ok()
}

/// Returns the digest of the picture that was dropped from a letter, if one was.
pub fn dropped_from(letter: &[u8]) -> Option<Digest> {
    stands_for(&take_out(letter)?.1)
}

/// Returns a letter without its pictures, or `None` if it has none. The HTML then shows their descriptions.
pub fn without_pictures(letter: &[u8]) -> Option<Vec<u8>> {
    let mut kept = letter.to_vec();
    while let Some(field) = find(&kept, PICTURE_FIELD) {
        let start = rfind(&kept[..field], DELIMITER)?;
        let end = field + find(&kept[field..], DELIMITER)?;
        kept.drain(start..end);
    }
    (kept.len() < letter.len()).then_some(kept)
}

/// Returns the offset at which the base64 of the first picture begins. It does not depend on the picture, so
/// a letter without its picture has the same place.
fn place(letter: &[u8]) -> Option<usize> {
    let field = find(letter, PICTURE_FIELD)?;
    // The field's own line break may be the first half of the empty line that ends the header.
    let header_end = field + PICTURE_FIELD.len() - 2;
    Some(header_end + find(&letter[header_end..], b"\r\n\r\n")? + 4)
}

/// Decodes the output of [`encode`] and nothing else: the decoder accepts only canonical base64.
fn decode(lines: &[u8]) -> Option<Vec<u8>> {
    let mut joined = Vec::with_capacity(lines.len());
    let mut chunks = lines.chunks(LINE + 2).peekable();
    while let Some(chunk) = chunks.next() {
        let is_last = chunks.peek().is_none();
        joined.extend_from_slice(if is_last { chunk } else { chunk.strip_suffix(b"\r\n")? });
        if is_last && chunk.len() > LINE {
            return None;
        }
    }
    STANDARD.decode(joined).ok()
}

/// Encodes as base64 in lines of [`LINE`] characters, without a line break at the end.
fn encode(bytes: &[u8]) -> Vec<u8> {
    let encoded = STANDARD.encode(bytes);
    let mut lines = Vec::with_capacity(encoded.len() + encoded.len() / LINE * 2);
    for line in encoded.as_bytes().chunks(LINE) {
        if !lines.is_empty() {
            lines.extend_from_slice(b"\r\n");
        }
        lines.extend_from_slice(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(picture: &[u8], line_end: &str) -> Vec<u8> {
        let body = String::from_utf8(encode(picture)).unwrap().replace("\r\n", line_end);
        format!(
            "Subject: x\r\n\r\n--=r=\r\n\r\nThe board\r\n--=r=\r\nContent-Type: image/png\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n{body}\r\n--=r=--\r\n"
        )
        .into_bytes()
    }

    #[test]
    fn a_letter_comes_back_byte_for_byte() {
        let bytes: Vec<u8> = (0..=255).cycle().take(5_000).collect();
        for length in [0, 1, 2, 3, 56, 57, 58, 114, 5_000] {
            let whole = letter(&bytes[..length], "\r\n");
            let (text, picture) = take_out(&whole).expect("a picture");
            assert_eq!((picture.len(), text), (length, letter(&[], "\r\n")));
            assert_eq!(put_in(&letter(&[], "\r\n"), &picture), Some(whole));
        }
    }

    #[test]
    fn a_picture_in_another_form_is_not_taken_out() {
        assert_eq!(take_out(&letter(&[7; 500], "\n")), None);
        let picture = encode(&[7; 500]);
        for wrong in
            [[&picture[..], b"\r\n"].concat(), [b"AAAA\r\n", &picture[..]].concat(), b"AAB=".to_vec()]
        {
            assert!(decode(&wrong).is_none_or(|bytes| encode(&bytes) == wrong));
        }
        for short in
            [&b""[..], b"x", b"\r\nContent-Type: image/png\r\n", b"\r\nContent-Type: image/png\r\n\r\n"]
        {
            assert_eq!(take_out(short), None);
        }
        assert_eq!(put_in(b"Subject: x\r\n\r\nNo board\r\n", b"picture"), None);
    }

    #[test]
    fn a_letter_names_the_digest_of_the_picture_that_was_dropped() {
        let digest = Digest::of(b"a picture");
        let dropped = put_in(&letter(&[], "\r\n"), stand_in(digest).as_bytes()).expect("a place");
        assert_eq!(dropped_from(&dropped), Some(digest));
        assert_eq!(dropped_from(&letter(b"a picture", "\r\n")), None);
    }

    #[test]
    fn pictures_are_left_out_and_the_other_parts_stay() {
        let letter = "Subject: x\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Hello</p>\r\n\
                      --b\r\nContent-ID: <board>\r\nContent-Type: image/png\r\n\r\niVBO\r\nRw0K\r\n--b--\r\n";
        let without = "Subject: x\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Hello</p>\r\n--b--\r\n";
        assert_eq!(without_pictures(letter.as_bytes()).expect("a picture"), without.as_bytes());
        assert_eq!(without_pictures(without.as_bytes()), None);
    }
}

//! Leaves the pictures out of a letter that a server finds too large.

use memchr::memmem::{find, rfind};

/// The header field of a picture's part, as our letters have it.
const PICTURE_FIELD: &[u8] = b"\r\nContent-Type: image/png\r\n";

/// Begins the line between two parts.
const DELIMITER: &[u8] = b"\r\n--";

/// Returns one of our letters without its pictures, or `None` if it has none. The HTML then shows their descriptions.
pub fn without_pictures(letter: &[u8]) -> Option<Vec<u8>> {
    let mut kept = letter.to_vec();
    while let Some(field) = find(&kept, PICTURE_FIELD) {
        let start = rfind(&kept[..field], DELIMITER)?;
        let end = field + find(&kept[field..], DELIMITER)?;
        kept.drain(start..end);
    }
    (kept.len() < letter.len()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_left_out_and_the_other_parts_stay() {
        let letter = "Subject: x\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Hello</p>\r\n\
                      --b\r\nContent-ID: <board>\r\nContent-Type: image/png\r\n\r\niVBO\r\nRw0K\r\n--b--\r\n";
        let without = "Subject: x\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Hello</p>\r\n--b--\r\n";
        assert_eq!(without_pictures(letter.as_bytes()).expect("a picture"), without.as_bytes());
        assert_eq!(without_pictures(without.as_bytes()), None);
    }
}

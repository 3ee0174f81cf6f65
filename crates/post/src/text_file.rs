//! Text files that a person wrote with any editor: configs, passwords, templates, tables.

use std::io::{Error, ErrorKind};
use std::path::Path;
use std::{fs, io};

/// Reads the text of a file, as [`decode`] does.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub fn read(path: &Path) -> io::Result<String> {
    decode(fs::read(path)?)
}

/// Returns text as its writer sees it: without the byte order mark with which Notepad, PowerShell and spreadsheets
/// begin UTF-8.
///
/// # Errors
/// [`ErrorKind::InvalidData`] if the bytes are not UTF-8, or are UTF-16, which the same programs also write. The
/// message says what to do, and shows nothing of the text, which may be a password.
pub fn decode(bytes: Vec<u8>) -> io::Result<String> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || bytes.contains(&0) {
        return Err(invalid("it is UTF-16, or no text; please save it as UTF-8".to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
        invalid(format!("line {line} is not UTF-8; please save it as UTF-8 (in a spreadsheet, as CSV UTF-8)"))
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    })
}

fn invalid(says: String) -> Error {
    Error::new(ErrorKind::InvalidData, says)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_text_and_other_encodings_are_named() {
        assert_eq!(decode(b"\xef\xbb\xbfa\xc3\xa9\r\n".to_vec()).unwrap(), "a\u{e9}\r\n");
        assert_eq!(decode(b"a\xef\xbb\xbf".to_vec()).unwrap(), "a\u{feff}", "only at the start");
        for (bytes, says) in [
            (&b"\xff\xfes\0e\0"[..], "it is UTF-16"),
            (b"\xfe\xff\0s\0e", "it is UTF-16"),
            (b"s\0e\0", "it is UTF-16"),
            (b"Ann\nJ\xf6rg\n", "line 2 is not UTF-8"),
        ] {
            let error = decode(bytes.to_vec()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData);
            assert!(error.to_string().starts_with(says), "{error}");
        }
    }
    #[test]
    fn a_password_ends_before_the_line_break_and_begins_after_the_byte_order_mark() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for bytes in [&b"s3cret "[..], b"s3cret \n", b"\xef\xbb\xbfs3cret \r\n"] {
            fs::write(file.path(), bytes).unwrap();
            assert_eq!(Secret::in_file(file.path()).unwrap().reveal(), "s3cret ");
        }
    }
}

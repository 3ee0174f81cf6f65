//! Reads a letter that a mail server pipes to standard input.

use std::io::{self, Read};

use chrono::Utc;

use super::FetchedLetter;

/// Reads one letter from standard input, and keeps at most `max_letter_bytes` of it.
///
/// # Errors
/// Returns an error if standard input cannot be read, or is empty.
pub fn read(max_letter_bytes: usize) -> io::Result<FetchedLetter> {
    read_from(io::stdin().lock(), max_letter_bytes)
}

fn read_from(mut input: impl Read, max_letter_bytes: usize) -> io::Result<FetchedLetter> {
    let mut raw = Vec::new();
    input.by_ref().take(max_letter_bytes as u64).read_to_end(&mut raw)?;
    // Read the rest too: to the mail server, a closed pipe looks like a failed delivery.
    let rest = io::copy(&mut input, &mut io::sink())?;
    if raw.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "there is no letter on standard input"));
    }
    let size = raw.len() as u64 + rest;
    Ok(FetchedLetter {
        raw,
        received_at: Utc::now(),
        arrivals: Vec::new(),
        origin: "stdin".to_owned(),
        cut: rest > 0,
        size,
        is_spam: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_within_the_limit_is_read_whole() {
        let letter = read_from(&b"Subject: x\n\nSHIP 4 TO C1\n"[..], 100).expect("in memory");
        assert_eq!((letter.raw.len(), letter.size, letter.cut), (25, 25, false));
    }

    #[test]
    fn a_letter_beyond_the_limit_is_cut_and_says_so() {
        let letter = read_from(&[b'x'; 1000][..], 100).expect("in memory");
        assert_eq!((letter.raw.len(), letter.size, letter.cut), (100, 1000, true));
    }

    #[test]
    fn an_empty_input_is_no_letter() {
        assert!(read_from(&b""[..], 100).is_err());
    }
}

//! The bytes of letters, taken out of the server's answers before the IMAP library reads these.
//!
//! The library reads an answer line by line and parses all of it anew after each: a letter, once for each of its
//! lines. So every literal of a FETCH (RFC 3501, 4.3 and 7.4.2) is kept here, and the library is given its number.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The literals of the answers to the last command, in order; shared by the connection and who reads from it.
#[derive(Clone, Default)]
pub(super) struct Literals(Arc<Mutex<Vec<Vec<u8>>>>);

/// Begins what stands in the place of a literal: it can stand in no string (RFC 3501, 9).
const MARK: u8 = 0;

impl Literals {
    /// To be called before each command whose answers hold literals.
    pub(super) fn forget(&self) {
        self.kept().clear();
    }

    /// The literal that the library has as `given`; a string that is none is itself.
    pub(super) fn of(&self, given: &[u8]) -> Option<Vec<u8>> {
        let Some((&MARK, number)) = given.split_first() else { return Some(given.to_vec()) };
        let number: usize = std::str::from_utf8(number).ok()?.parse().ok()?;
        self.kept().get_mut(number).map(std::mem::take)
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What comes from the server, on its way to the library.
pub(super) struct LiteralFilter {
    literals: Literals,
    /// Of a literal no more bytes are kept.
    most: usize,
    /// The line that is not yet ended.
    line: Vec<u8>,
    /// Whether the line goes on an answer to a FETCH.
    of_fetch: bool,
    /// So many bytes of the last literal are still to come.
    missing: usize,
}

impl LiteralFilter {
    /// `most` bytes of each literal are kept: a server may send more than it was asked for.
    pub(super) fn new(literals: Literals, most: usize) -> LiteralFilter {
        LiteralFilter { literals, most, line: Vec::new(), of_fetch: false, missing: 0 }
    }

    /// Appends to `passed` what the library is to read of `bytes`, whole lines.
    pub(super) fn pass(&mut self, mut bytes: &[u8], passed: &mut Vec<u8>) {
        while !bytes.is_empty() {
            if self.missing > 0 {
                let (literal, rest) = bytes.split_at(self.missing.min(bytes.len()));
                if let Some(last) = self.literals.kept().last_mut() {
                    last.extend_from_slice(&literal[..literal.len().min(self.most - last.len())]);
                }
                self.missing -= literal.len();
                bytes = rest;
                continue;
            }
            let Some(end) = bytes.iter().position(|&b| b == b'\n') else {
                self.line.extend_from_slice(bytes);
                return;
            };
            let (ended, rest) = bytes.split_at(end + 1);
            self.line.extend_from_slice(ended);
            self.pass_line(passed);
            bytes = rest;
        }
    }

    /// Appends to `passed` a line that has no end, as no more will come.
    pub(super) fn end(&mut self, passed: &mut Vec<u8>) {
        passed.append(&mut self.line);
    }

    fn pass_line(&mut self, passed: &mut Vec<u8>) {
        self.of_fetch = self.of_fetch || is_fetch(&self.line);
        if let Some((before, size)) = announced(&self.line).filter(|_| self.of_fetch) {
            let mut kept = self.literals.kept();
            let number = kept.len().to_string();
            kept.push(Vec::with_capacity(size.min(self.most)));
            self.missing = size;
            passed.extend_from_slice(&self.line[..before]);
            passed.extend_from_slice(format!("{{{}}}\r\n", 1 + number.len()).as_bytes());
            passed.push(MARK);
            passed.extend_from_slice(number.as_bytes());
        } else {
            passed.extend_from_slice(&self.line);
            self.of_fetch = false;
        }
        self.line.clear();
    }
}

/// Whether an answer begins so: `* 12 FETCH (`.
fn is_fetch(line: &[u8]) -> bool {
    let number = line.strip_prefix(b"* ").unwrap_or_default();
    let word = &number[number.iter().take_while(|b| b.is_ascii_digit()).count()..];
    word.len() < number.len() && word.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b" FETCH "))
}

/// The size of the literal that a line announces by its end, `{1305}` and CRLF, and what is before that.
fn announced(line: &[u8]) -> Option<(usize, usize)> {
    let line = line.strip_suffix(b"}\r\n")?;
    let before = line.iter().rposition(|b| !b.is_ascii_digit()).filter(|&at| line[at] == b'{')?;
    let size = std::str::from_utf8(&line[before + 1..]).ok().filter(|size| !size.is_empty())?;
    Some((before, size.parse().unwrap_or(usize::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the library reads when this comes in pieces of some size, and what is kept.
    fn filtered(answer: &str, piece: usize) -> (String, Vec<String>) {
        let literals = Literals::default();
        let mut filter = LiteralFilter::new(literals.clone(), 40);
        let mut passed = Vec::new();
        for bytes in answer.as_bytes().chunks(piece) {
            filter.pass(bytes, &mut passed);
        }
        filter.end(&mut passed);
        let kept = literals.kept().iter().map(|kept| String::from_utf8_lossy(kept).into_owned()).collect();
        (String::from_utf8_lossy(&passed).into_owned(), kept)
    }

    #[test]
    fn literals_are_kept_and_all_else_passes() {
        let letter = "A: b\r\n\r\n* 9 FETCH (BODY[] {7}\r\n";
        let answer = format!(
            "* 1 FETCH (UID 5 BODY[]<0> {{{}}}\r\n{letter} RFC822.SIZE 31)\r\n\
             * 2 FETCH (UID 6 BODY[]<0> \"short\")\r\n\
             * 3 fetch (BODY[]<0> {{0}}\r\n UID 7 BODY[TEXT] {{3}}\r\n}}\r\n)\r\n\
             a4 OK as you like {{3}}\r\n* 4 EXISTS\r\n* LIST () \"/\" {{2}}\r\nIN\r\nno end",
            letter.len()
        );
        let read = "* 1 FETCH (UID 5 BODY[]<0> {2}\r\n\u{0}0 RFC822.SIZE 31)\r\n\
                    * 2 FETCH (UID 6 BODY[]<0> \"short\")\r\n\
                    * 3 fetch (BODY[]<0> {2}\r\n\u{0}1 UID 7 BODY[TEXT] {2}\r\n\u{0}2)\r\n\
                    a4 OK as you like {3}\r\n* 4 EXISTS\r\n* LIST () \"/\" {2}\r\nIN\r\nno end";
        for piece in [1, 2, 7, 1000] {
            let (passed, kept) = filtered(&answer, piece);
            assert_eq!(passed, read, "in pieces of {piece}");
            assert_eq!(kept, [letter, "", "}\r\n"], "in pieces of {piece}");
        }
    }

    #[test]
    fn of_a_literal_larger_than_asked_for_the_beginning_is_kept() {
        let answer = format!("* 1 FETCH (BODY[]<0> {{99}}\r\n{})\r\na2 OK\r\n", "x".repeat(99));
        for piece in [1, 30, 1000] {
            let (passed, kept) = filtered(&answer, piece);
            assert_eq!(passed, "* 1 FETCH (BODY[]<0> {2}\r\n\u{0}0)\r\na2 OK\r\n");
            assert_eq!(kept, ["x".repeat(40)]);
        }
    }

    #[test]
    fn what_the_library_was_given_leads_to_the_literal() {
        let literals = Literals::default();
        literals.kept().push(b"a letter".to_vec());
        assert_eq!(literals.of(b"\x000").as_deref(), Some(&b"a letter"[..]));
        assert_eq!(literals.of(b"0").as_deref(), Some(&b"0"[..]), "a string");
        assert_eq!(literals.of(b"\x001"), None);
    }
}

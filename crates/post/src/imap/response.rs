//! The server's untagged responses: their lines, with the literals in them, and the tokens that they consist
//! of (RFC 3501, 7 and 9).
//!
//! Everything is bytes: servers put any of them into names and remarks.

use std::vec;

use super::connection::{Connection, announced_literal};
use crate::Error;

/// Maximum literals in a response. We ask for one.
const MAX_LITERALS: usize = 16;

/// A string from the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// Its beginning, up to the limit.
    pub bytes: Vec<u8>,
    /// Its whole size in bytes.
    pub size: u64,
}

/// A response: lines, each with the literal that follows it.
pub(super) type Response = Vec<(Vec<u8>, Option<Text>)>;

/// Limits on the bytes of an answer's literals.
pub(super) struct LiteralLimits {
    /// Maximum size of a literal; a larger one is malformed.
    pub longest: u64,
    /// Bytes to keep of each literal.
    pub each: usize,
    /// Bytes to keep of all literals.
    pub all: usize,
}

impl LiteralLimits {
    /// Returns enough room for the names of folders, which servers may send as literals.
    pub(super) fn for_names() -> LiteralLimits {
        LiteralLimits { longest: 4096, each: 4096, all: 1024 * 1024 }
    }
}

/// Reads a response that begins with `line`. Subtracts the bytes that it keeps from `room`, and fails before
/// it keeps more than that.
pub(super) fn read_response(
    connection: &mut Connection,
    line: Vec<u8>,
    room: &mut LiteralLimits,
) -> Result<Response, Error> {
    let mut response = Vec::new();
    let mut line = line;
    while let Some((start, size)) = announced_literal(&line) {
        if response.len() == MAX_LITERALS || size > room.longest {
            return Err(Error::Malformed);
        }
        let kept = usize::try_from(size).unwrap_or(room.each).min(room.each);
        room.all = room.all.checked_sub(kept).ok_or(Error::Malformed)?;
        line.truncate(start);
        let literal = Text { bytes: connection.read_literal(size, room.each)?, size };
        response.push((line, Some(literal)));
        line = connection.read_line()?;
    }
    response.push((line, None));
    Ok(response)
}

/// A piece of a response (RFC 3501, 9).
pub(super) enum Token {
    Open,
    Close,
    /// A number, an atom, or an item's name such as `BODY[HEADER.FIELDS (DATE)]<0>`.
    Word(Vec<u8>),
    /// A quoted string or a literal.
    String(Text),
}

pub(super) struct Tokens {
    rest: vec::IntoIter<(Vec<u8>, Option<Text>)>,
    line: Vec<u8>,
    /// Offset in `line` at which the next token starts.
    at: usize,
    /// The literal that follows `line`.
    literal: Option<Text>,
}

impl Tokens {
    pub(super) fn new(response: Response) -> Tokens {
        Tokens { rest: response.into_iter(), line: Vec::new(), at: 0, literal: None }
    }

    pub(super) fn word(&mut self) -> Option<Vec<u8>> {
        match self.next()? {
            Token::Word(word) => Some(word),
            Token::Open | Token::Close | Token::String(_) => None,
        }
    }

    pub(super) fn number<N: std::str::FromStr>(&mut self) -> Option<N> {
        String::from_utf8(self.word()?).ok()?.parse().ok()
    }

    /// Reads a string. The inner `None` stands for `NIL`.
    pub(super) fn string(&mut self) -> Option<Option<Text>> {
        match self.next()? {
            Token::String(text) => Some(Some(text)),
            Token::Word(nil) if nil.eq_ignore_ascii_case(b"NIL") => Some(None),
            Token::Word(_) | Token::Open | Token::Close => None,
        }
    }

    /// Skips a word, a string, or a list with all that is in it.
    pub(super) fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.next()? {
                Token::Open => depth += 1,
                Token::Close => depth = depth.checked_sub(1)?,
                Token::Word(_) | Token::String(_) => {}
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn quoted(&mut self) -> Option<Token> {
        let mut bytes = Vec::new();
        loop {
            self.at += 1;
            match *self.line.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    self.at += 1;
                    bytes.push(*self.line.get(self.at)?);
                }
                byte => bytes.push(byte),
            }
        }
        self.at += 1;
        let size = bytes.len() as u64;
        Some(Token::String(Text { bytes, size }))
    }

    /// Reads up to a space or a parenthesis, except those in brackets.
    fn unquoted(&mut self) -> Token {
        let start = self.at;
        let mut in_brackets = false;
        while let Some(&byte) = self.line.get(self.at) {
            match byte {
                b'[' => in_brackets = true,
                b']' => in_brackets = false,
                b' ' | b'(' | b')' if !in_brackets => break,
                _ => {}
            }
            self.at += 1;
        }
        Token::Word(self.line[start..self.at].to_vec())
    }
}

impl Iterator for Tokens {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            match self.line.get(self.at) {
                Some(b' ') => self.at += 1,
                Some(b'(') => {
                    self.at += 1;
                    return Some(Token::Open);
                }
                Some(b')') => {
                    self.at += 1;
                    return Some(Token::Close);
                }
                Some(b'"') => return self.quoted(),
                Some(_) => return Some(self.unquoted()),
                None => {
                    if let Some(literal) = self.literal.take() {
                        return Some(Token::String(literal));
                    }
                    (self.line, self.literal) = self.rest.next()?;
                    self.at = 0;
                }
            }
        }
    }
}

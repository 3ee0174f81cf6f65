//! Limits on the work that raw bytes can cause in the MIME parser, checked before it runs.
//!
//! mail-parser reads any input in one pass, but some of it costs more than its size: each part and each field
//! becomes a record of two hundred bytes, the end of each multipart is searched for in the whole letter, and
//! the parameters of a field are compared with each other. So parts, multiparts and the bytes of all headers
//! are counted first. Each count is an upper bound on what the parser can find.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use mail_parser::MessageParser;
use memchr::{memchr_iter, memmem};

use super::limits::{Limits, UnreadableReason};

pub const CONTENT_TYPE: &[u8] = b"content-type";
pub const CONTENT_DISPOSITION: &[u8] = b"content-disposition";
const TRANSFER_ENCODING: &[u8] = b"content-transfer-encoding";

/// Maximum marks of parts for each allowed part. More than one, because a quoted header also looks like a
/// mark.
const MARKS_PER_PART: usize = 4;

/// [`Limits::max_header_bytes`] divided by this is the maximum for a field with parameters, because the
/// parser compares each parameter with all others.
pub const PARAMETERS_SHARE: usize = 20;

/// Maximum product of a letter's bytes and its number of multiparts, per part that [`Limits::max_parts`]
/// allows: the parser searches the whole letter for the end of each multipart.
const BYTES_PER_MULTIPART: usize = 1_500_000;

/// Bytes of a field to search for a transfer encoding. Mail programs write only a few.
const MAX_ENCODING: usize = 200;

/// Bytes above which only the texts of a letter are decoded.
const LARGE: usize = 1_000_000;

/// Checks parts, multiparts and the headers of parts.
///
/// Only blocks that the parser may take for a header are searched: a person may quote a whole raw letter, whose fields
/// are text.
///
/// # Errors
/// [`UnreadableReason`] if the parser would have too much to do.
pub fn check(raw: &[u8], limits: &Limits) -> Result<(), UnreadableReason> {
    let mut blocks = HeaderBlocks {
        raw,
        limits,
        max_marks: limits.max_parts.saturating_mul(MARKS_PER_PART),
        ends: BTreeMap::new(),
        bytes: 0,
        fields: 0,
        multiparts: 0,
        boundaries: BTreeSet::new(),
        begins: vec![Begin { at: 0, is_digest: false }],
    };
    let mut found = 0;
    while let Some(begin) = blocks.begins.pop() {
        found += 1;
        if found > blocks.max_marks {
            return Err(UnreadableReason::TooManyParts);
        }
        blocks.visit(begin)?;
    }
    Ok(())
}

/// The offset at which the header of a part may begin.
#[derive(Clone, Copy)]
struct Begin {
    at: usize,
    /// Whether the part is in a digest, where parts without a type are attached letters.
    is_digest: bool,
}

/// The blocks of a letter that the parser may take for the header of a part. Each one announces others: below it, or
/// wherever its boundary occurs.
struct HeaderBlocks<'a> {
    raw: &'a [u8],
    limits: &'a Limits,
    max_marks: usize,
    /// The end of each block, by its beginning. Blocks do not overlap.
    ends: BTreeMap<usize, usize>,
    /// The bytes of all blocks but the first, which is bounded on its own.
    bytes: usize,
    /// The types and dispositions in them.
    fields: usize,
    multiparts: usize,
    boundaries: BTreeSet<String>,
    /// The offsets still to visit.
    begins: Vec<Begin>,
}

impl HeaderBlocks<'_> {
    fn visit(&mut self, begin: Begin) -> Result<(), UnreadableReason> {
        let block = self.block(begin.at);
        let end = match self.ends.range(..=begin.at).next_back() {
            Some((_, end)) if block.is_empty() => *end,
            Some(_) | None => self.end_at(block.end),
        };
        if begin.is_digest {
            self.announce(Begin { at: end, is_digest: false })?;
        }
        if block.is_empty() {
            return Ok(());
        }
        self.ends.insert(block.start, end);
        if block.start > 0 {
            self.bytes += block.len();
        }
        if self.bytes > self.limits.max_header_bytes {
            return Err(UnreadableReason::HeaderTooBig);
        }
        self.read(block, end)
    }

    /// Returns the block at `at`, up to the next one that is known; empty if it is within a known one. Every byte is
    /// searched only once.
    fn block(&self, at: usize) -> Range<usize> {
        if self.ends.range(..=at).next_back().is_some_and(|(_, end)| *end > at) {
            return at..at;
        }
        let next = self.ends.range(at..).next().map_or(self.raw.len(), |(next, _)| *next);
        at..end_of_block(&self.raw[..next], at)
    }

    /// Returns where the block that reaches `at` ends.
    fn end_at(&self, at: usize) -> usize {
        self.ends.get(&at).copied().unwrap_or(at)
    }

    /// Reads the types and dispositions in a part of the block that ends at `end`.
    fn read(&mut self, block: Range<usize>, end: usize) -> Result<(), UnreadableReason> {
        let raw = self.raw;
        let max_field = self.limits.max_header_bytes / PARAMETERS_SHARE;
        // A field may continue in the next part of its block.
        let text = &raw[block.start..end];
        let within = |field: &Range<usize>| field.start < block.len();
        let types = fields(text, CONTENT_TYPE, max_field).take_while(within);
        let dispositions = fields(text, CONTENT_DISPOSITION, max_field).take_while(within);
        for (field, is_type) in
            types.map(|field| (field, true)).chain(dispositions.map(|field| (field, false)))
        {
            self.fields += 1;
            if self.fields > self.max_marks {
                return Err(UnreadableReason::TooManyParts);
            }
            if field.len() > max_field {
                return Err(UnreadableReason::HeaderTooBig);
            }
            if is_type && let Some(found) = part_type(&text[field]) {
                self.follow(&found, end)?;
            }
        }
        Ok(())
    }

    /// Announces the parts that a type leads to. `end` is the end of its block.
    fn follow(&mut self, found: &PartType, end: usize) -> Result<(), UnreadableReason> {
        if found.kind == "message" {
            self.announce(Begin { at: end, is_digest: false })?;
        }
        let Some(boundary) = found.boundary.as_ref().filter(|boundary| !boundary.is_empty()) else {
            return Ok(());
        };
        self.multiparts += 1;
        let work = self.multiparts.saturating_mul(self.raw.len());
        if work > self.limits.max_parts.saturating_mul(BYTES_PER_MULTIPART) {
            return Err(UnreadableReason::TooManyParts);
        }
        let is_digest = found.subtype == "digest";
        let mark = format!("--{boundary}");
        if !self.boundaries.insert(format!("{is_digest} {mark}")) {
            return Ok(());
        }
        let raw = self.raw;
        memmem::find_iter(raw, &mark)
            .try_for_each(|at| self.announce(Begin { at: at + mark.len(), is_digest }))
    }

    fn announce(&mut self, begin: Begin) -> Result<(), UnreadableReason> {
        // All types in a block announce the same letter below it.
        if self.begins.last().is_some_and(|last| last.at == begin.at && last.is_digest == begin.is_digest) {
            return Ok(());
        }
        self.begins.push(begin);
        if self.begins.len() > self.max_marks { Err(UnreadableReason::TooManyParts) } else { Ok(()) }
    }
}

/// Finds the fields called `name`, given in lower case: each from its name to the end of its last fold, or a
/// little more than `max` bytes of it. The parser ignores blanks in a name, and colons before it.
pub fn fields<'a>(raw: &'a [u8], name: &'a [u8], max: usize) -> impl Iterator<Item = Range<usize>> + 'a {
    memchr_iter(b':', raw).filter_map(move |colon| {
        let mut wanted = name.iter().rev();
        let mut next = wanted.next();
        let mut start = colon;
        while let (Some(letter), Some(before)) = (next, start.checked_sub(1)) {
            let found = raw[before];
            if found.to_ascii_lowercase() == *letter {
                next = wanted.next();
            } else if found == b'\n' || !found.is_ascii_whitespace() {
                return None;
            }
            start = before;
        }
        next.is_none().then(|| start..end_of_field(raw, colon, max))
    })
}

/// Returns where the field that contains `at` ends, before its line feed, or where it exceeds `max` bytes.
pub fn end_of_field(raw: &[u8], at: usize, max: usize) -> usize {
    let raw = &raw[..at.saturating_add(max).saturating_add(1).min(raw.len())];
    let ends = memchr_iter(b'\n', &raw[at..]).map(|end| at + end);
    let mut last = ends.filter(|end| !matches!(raw.get(end + 1), Some(b' ' | b'\t')));
    last.next().unwrap_or(raw.len())
}

/// Returns where the block at `at` ends, after its blank line.
fn end_of_block(raw: &[u8], at: usize) -> usize {
    let ends = memchr_iter(b'\n', &raw[at..]).map(|end| at + end + 1);
    let mut blank = ends.filter(|next| matches!(raw[*next..], [b'\n', ..] | [b'\r', b'\n', ..]));
    blank.next().map_or(raw.len(), |next| next + 1)
}

/// A Content-Type as the parser reads it, in lower case except for the boundary.
struct PartType {
    kind: String,
    subtype: String,
    boundary: Option<String>,
}

/// Parses a field with the parser that reads the letter.
fn part_type(field: &[u8]) -> Option<PartType> {
    // The parser completes the last word of a field only at its line feed.
    let field = [field, b"\n"].concat();
    let message = MessageParser::default().parse_headers(&field)?;
    let content_type = message.parts.first()?.headers.first()?.value.as_content_type()?;
    Some(PartType {
        kind: content_type.ctype().to_owned(),
        subtype: content_type.subtype().unwrap_or_default().to_owned(),
        boundary: content_type.attribute("boundary").map(str::to_owned),
    })
}

/// Hides attached letters and, in a large letter, encoded files and HTML from the parser, which would unpack
/// them although nothing reads the result.
///
/// The parser's result is nested as deeply as the attached letters, so dropping it could overflow the stack.
/// [`check`] counts them, except in a transfer encoding, which RFC 2046 5.2.1 forbids, and in digests, which
/// need not label them. The content of such letters is never read. In a large letter, files are not decoded
/// either.
pub fn without_hidden_letters(raw: &[u8]) -> Cow<'_, [u8]> {
    let is_large = raw.len() > LARGE;
    if !is_large && find(raw, b"message").chain(find(raw, b"digest")).next().is_none() {
        return Cow::Borrowed(raw);
    }
    let mut out = raw.to_vec();
    let mut from = 0;
    while from < out.len() {
        let rest = &out[from..];
        let blank_line = rest.windows(2).position(|two| two == b"\n\n" || two == b"\n\r");
        let length = blank_line.map_or(rest.len(), |end| end + 2);
        hide_in_block(&mut out[from..from + length], is_large);
        from += length;
    }
    Cow::Owned(out)
}

fn hide_in_block(block: &mut [u8], is_large: bool) {
    if memchr::memchr(b':', block).is_none() {
        return;
    }
    let is_encoded = find(block, TRANSFER_ENCODING).next().is_some()
        || fields(block, TRANSFER_ENCODING, 0).next().is_some();
    // An encoded word (`=?`) may spell either of them.
    let encodings: [&[u8]; 3] = [b"base64", b"quoted-printable", b"=?"];
    if is_encoded
        && find(block, b"message").next().is_some()
        && encodings.iter().any(|word| find(block, word).next().is_some())
    {
        hide(block, b"rfc822");
        hide(block, b"global");
    }
    hide(block, b"multipart/digest");
    let types: Vec<Range<usize>> = fields(block, CONTENT_TYPE, block.len()).collect();
    let mut is_file = false;
    for field in types {
        let Some(found) = part_type(&block[field.clone()]) else { continue };
        match found.kind.as_str() {
            "multipart" if found.subtype == "digest" => hide(&mut block[field], b"digest"),
            // The parser would decode the HTML, although it is decoded again when it is read.
            "text" if is_large && found.subtype == "html" => hide(&mut block[field], b"text"),
            "text" | "message" | "multipart" => {}
            _ => is_file = true,
        }
    }
    // Once for all types, because this searches the whole block.
    if is_file && is_large {
        hide_encoding(block);
    }
}

/// Hides the transfer encoding of a file, so that the parser leaves the file encoded.
fn hide_encoding(block: &mut [u8]) {
    let fields: Vec<Range<usize>> = fields(block, TRANSFER_ENCODING, MAX_ENCODING).collect();
    for field in fields {
        hide(&mut block[field.clone()], b"base64");
        hide(&mut block[field], b"quoted-printable");
    }
}

/// Finds the offsets of `word`, given in lower case, in `text`, ignoring case.
fn find<'a>(text: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let first = word[0];
    let begins = move |at: &usize| {
        text.get(*at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    memchr::memchr2_iter(first, first.to_ascii_uppercase(), text).filter(begins)
}

/// Overwrites the last character of each `word`.
fn hide(text: &mut [u8], word: &[u8]) {
    let found: Vec<usize> = find(text, word).collect();
    for at in found {
        text[at + word.len() - 1] = b'x';
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::dialect::example::DIALECT;
    use crate::{Address, Letter, OwnIdentity};

    const FROM: &str = "From: ann@players.example\n";

    fn read(raw: &str) -> Result<(), UnreadableReason> {
        let own = OwnIdentity {
            address: Address::parse("referee@club.example").unwrap(),
            message_id_domain: "fogpost.club.example".to_owned(),
            return_path: None,
            dialect: &DIALECT,
        };
        Letter::read(raw.as_bytes(), &own, &Limits::default())
            .map(drop)
            .map_err(|unreadable| unreadable.reason)
    }

    #[test]
    fn attached_letters_are_counted_however_their_fields_are_written() {
        for name in ["Content-Type:", "C ontent-Type:", ": Content- Type\t:"] {
            let nested = format!("{name} message/rfc822\n\n").repeat(100_000);
            assert_eq!(
                read(&format!("{FROM}{nested}SHIP 1 HOLD\n")),
                Err(UnreadableReason::TooManyParts),
                "{name}"
            );
        }
    }

    #[test]
    fn attached_letters_in_a_transfer_encoding_are_not_unpacked() {
        let nested = "C ontent-Type: message/rfc822\n\n".repeat(100_000);
        let printable = nested.replace('=', "=3D");
        for encoding in ["quoted-printable", "=?utf-8?q?quoted-printable?="] {
            for name in ["Content-Transfer-Encoding", "Content- Transfer-Encoding"] {
                let head = format!("{FROM}Content-Type: message/rfc822\n{name}: {encoding}\n\n");
                // The bound on fields would reject the letter too, so their colons are encoded.
                let raw = format!("{head}{}", printable.replace(':', "=3A"));
                assert_eq!(read(&raw), Ok(()), "{name}: {encoding}");
                let digest = "Content-Type: multipart/(x)digest; boundary=b\n\n--b\n";
                let raw = format!("{FROM}{digest}{name}: {encoding}\n\n{}", printable.replace(':', "=3A"));
                assert_eq!(read(&raw), Err(UnreadableReason::TooManyLines), "{name}: {encoding} in a digest");
            }
        }
    }

    /// GNU Mailutils and bsd-mailx quote a whole letter behind tabs, its blank lines included.
    #[test]
    fn a_raw_letter_that_a_person_quotes_is_text() {
        let quoted = "Turn 3 is open: please send your orders.\n".repeat(400);
        for (tab, field) in [
            ("\t", "Content-Type: text/plain"),
            ("\t", "Content-Type: multipart/mixed; boundary=b"),
            ("  ", "Content-Type: message/rfc822"),
            ("  ", "Content-Disposition: inline"),
        ] {
            let body: String = [field, &quoted]
                .iter()
                .flat_map(|text| text.lines())
                .map(|line| format!("{tab}{line}\n"))
                .collect();
            for body in [format!("SHIP 1 HOLD\n\n{body}"), format!("SHIP 1 HOLD\n{field}\n{body}")] {
                let plain = format!("{FROM}Content-Type: text/plain\n\n{body}");
                assert_eq!(read(&plain), Ok(()), "{field}");
                let part = "--b\nContent-Type: text/plain\n\n";
                let mixed = format!("{FROM}Content-Type: multipart/mixed; boundary=b\n\n{part}{body}--b--\n");
                assert_eq!(read(&mixed), Ok(()), "{field} in a part");
            }
        }
        let many = "Content-Type: text/plain\nContent-Type: message/rfc822\n\n".repeat(2000);
        assert_eq!(read(&format!("{FROM}\n{many}")), Ok(()));
    }

    #[test]
    fn parts_without_a_type_are_counted() {
        let multipart = format!("{FROM}Content-Type: multipart/mixed; boundary=b\n\n");
        let parts = |count| format!("{multipart}{}--b--\n", "--b\n\nx\n".repeat(count));
        assert_eq!(read(&parts(90)), Ok(()));
        assert_eq!(read(&parts(100_000)), Err(UnreadableReason::TooManyParts));
    }

    #[test]
    fn types_in_one_block_announce_one_attached_letter() {
        let attached = "Content-Type: message/rfc822\n".repeat(350);
        let multipart = format!("{FROM}{attached}Content-Type: multipart/mixed; boundary=b\n\n");
        let raw = format!("{multipart}{}--b--\n", "--b\n\nx\n".repeat(90));
        assert_eq!(check(raw.as_bytes(), &Limits::default()), Ok(()));
    }

    #[test]
    fn the_headers_of_all_parts_are_bounded_together() {
        let multipart = format!("{FROM}Content-Type: multipart/mixed; boundary=b\n\n--b\n");
        let fields = |count| format!("{multipart}{}\nx\n--b--\n", "X: y\n".repeat(count));
        assert_eq!(read(&fields(1000)), Ok(()));
        assert_eq!(read(&fields(100_000)), Err(UnreadableReason::HeaderTooBig));
        let attached = format!("{FROM}Content-Type: message/rfc822\n\n{}\n", "X: y\n".repeat(100_000));
        assert_eq!(read(&attached), Err(UnreadableReason::HeaderTooBig));
    }

    #[test]
    fn multiparts_that_never_end_are_bounded_in_a_large_letter() {
        let parts: String =
            (0..90).map(|n| format!("--b\nContent-Type: multipart/mixed; boundary=c{n}\n\nx\n")).collect();
        let letter = |bytes: usize| {
            let text = "word ".repeat(bytes / 5);
            format!("{FROM}Content-Type: multipart/mixed; boundary=b\n\n{parts}--b\n\n{text}\n--b--\n")
        };
        assert_eq!(read(&letter(100_000)), Ok(()));
        assert_eq!(read(&letter(5_000_000)), Err(UnreadableReason::TooManyParts));
    }

    #[test]
    fn a_field_with_thousands_of_parameters_is_not_parsed() {
        let parameters: String = (0..10_000).map(|n| format!("; a{n}*1=b")).collect();
        for name in ["Content-Type: text/plain", "Content-Disposition: inline"] {
            let raw = format!("{FROM}{name}{parameters}\n\nSHIP 1 HOLD\n");
            assert_eq!(read(&raw), Err(UnreadableReason::HeaderTooBig), "{name}");
        }
    }
}

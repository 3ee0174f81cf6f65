//! Truncates an oversized header but keeps the fields that identify the sender and the thread, so that we can
//! still answer a person and ignore a machine.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memrchr_iter};

use super::header::head;
use super::limits::Limits;
use super::structure::{CONTENT_DISPOSITION, CONTENT_TYPE, PARAMETERS_SHARE, end_of_field, fields};

/// Fields to keep beyond the limit: sender, thread, tokens, and the common marks of machines.
const TELLING: [&[u8]; 14] = [
    b"from",
    b"sender",
    b"to",
    b"cc",
    b"delivered-to",
    b"subject",
    b"message-id",
    b"in-reply-to",
    b"references",
    b"return-path",
    b"auto-submitted",
    b"precedence",
    b"list-id",
    b"x-autoreply",
];

/// The end of the names of fields against mail loops, such as `X-Loop`.
const LOOP: &[u8] = b"-loop";

/// Returns the header without fields that have too many parameters. Truncates a header beyond the limit, but
/// keeps the later fields that identify the sender.
pub fn bounded_head<'a>(raw: &'a [u8], limits: &Limits) -> Cow<'a, [u8]> {
    let scanned = &raw[..raw.len().min(limits.max_bytes)];
    let mut head = head(scanned);
    if head.len() == scanned.len() && head.len() > limits.max_header_bytes {
        // A header without a blank line below it was truncated, here or by the mailbox. Half a field could
        // hold half an address, which may be somebody else's.
        head = &head[..last_field_start(head)];
    }
    if head.len() <= limits.max_header_bytes {
        return without_long_fields(head, limits);
    }
    let (begin, rest) = head.split_at(last_field_start(&head[..=limits.max_header_bytes]));
    let mut bounded = without_long_fields(begin, limits).into_owned();
    bounded.extend_from_slice(&telling_fields(rest, limits));
    Cow::Owned(bounded)
}

/// Returns where the last field begins. `head` may end within that field.
fn last_field_start(head: &[u8]) -> usize {
    let mut starts = memrchr_iter(b'\n', head).map(|end| end + 1);
    starts.find(|start| !matches!(head.get(*start), None | Some(b' ' | b'\t'))).unwrap_or(0)
}

/// Removes the fields that have too many parameters for the parser.
fn without_long_fields<'a>(head: &'a [u8], limits: &Limits) -> Cow<'a, [u8]> {
    let max_field = max_field(limits);
    let structured = [CONTENT_TYPE, CONTENT_DISPOSITION];
    let found = structured.into_iter().flat_map(|name| fields(head, name, max_field));
    let mut too_long: Vec<Range<usize>> = found.filter(|field| field.len() > max_field).collect();
    if too_long.is_empty() {
        return Cow::Borrowed(head);
    }
    too_long.sort_unstable_by_key(|field| field.start);
    let mut out = Vec::with_capacity(head.len());
    let mut from = 0;
    for field in too_long {
        // A field in the folds of another ends with it: search for their end only once.
        if field.start >= from {
            out.extend_from_slice(&head[from..field.start]);
            let end = end_of_field(head, field.start, head.len());
            from = (end + 1).min(head.len());
        }
    }
    out.extend_from_slice(&head[from..]);
    Cow::Owned(out)
}

fn max_field(limits: &Limits) -> usize {
    limits.max_header_bytes / PARAMETERS_SHARE
}

/// Returns the fields that identify the sender, up to the maximum size of a header. Keeps only the name of a
/// field that is too long: a second sender counts, but half an address may be somebody else's.
fn telling_fields(rest: &[u8], limits: &Limits) -> Vec<u8> {
    let mut found: Vec<u8> = Vec::new();
    // The offsets in `found` of the field being copied and of its value.
    let mut field: Option<Range<usize>> = None;
    for line in rest.split_inclusive(|b| *b == b'\n') {
        if !matches!(line.first(), Some(b' ' | b'\t')) {
            field = telling_name(line).map(|name| found.len()..found.len() + name.len() + 1);
        }
        let Some(at) = field.clone() else { continue };
        found.extend_from_slice(line);
        if found.len() - at.start > max_field(limits) {
            found.truncate(at.end);
            found.push(b'\n');
            field = None;
        }
        if found.len() > limits.max_header_bytes {
            found.truncate(at.start);
            break;
        }
    }
    found
}

/// Returns the name of the field that a line begins, if it is one of [`TELLING`].
fn telling_name(line: &[u8]) -> Option<&[u8]> {
    let name = &line[..memchr(b':', line)?];
    let is_loop_field = name.to_ascii_lowercase().ends_with(LOOP);
    let is_telling = is_loop_field || TELLING.iter().any(|telling| name.eq_ignore_ascii_case(telling));
    is_telling.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { max_bytes: 8000, max_header_bytes: 2000, max_parts: 9, max_nesting: 9, max_lines: 9 };

    fn bounded(head: &str) -> String {
        String::from_utf8(bounded_head(head.as_bytes(), &LIMITS).into_owned()).expect("text")
    }

    fn junk(bytes: usize) -> String {
        format!("X: {}\n", "y".repeat(bytes - 4))
    }

    #[test]
    fn a_header_within_the_limit_is_returned_as_it_is() {
        assert_eq!(bounded("From: a@b\nX: y\n\nTo: c\n"), "From: a@b\nX: y\n");
        assert_eq!(bounded("From: a@b"), "From: a@b");
        assert_eq!(bounded(""), "");
    }

    #[test]
    fn the_sender_and_the_thread_are_found_beyond_the_limit() {
        let many = junk(20).repeat(150);
        let found =
            bounded(&format!("{many}FROM: Ann\n <a@b>\n{many}Message-ID: <1@b>\nX-From: c@d\n\nTo: c\n"));
        let (begin, rest) = found.split_at(2000);
        assert!(many.starts_with(begin));
        assert_eq!(rest, "FROM: Ann\n <a@b>\nMessage-ID: <1@b>\n");
    }

    #[test]
    fn a_field_across_the_limit_is_whole_or_left_out() {
        for before in 1970..=2001 {
            let found = bounded(&format!("{}From: ann@players.example\n{}\n", junk(before), junk(100)));
            assert!(found.ends_with("From: ann@players.example\n"), "{before}: {found}");
        }
        let cut = format!("{}From: ann@players.example\n", junk(7990));
        assert_eq!(bounded(&cut), "", "the letter's limit is within the address");
    }

    #[test]
    fn only_the_name_of_a_field_that_is_too_long_is_kept() {
        let long = format!("From: {}e@f\n", "a@b,\n ".repeat(30));
        assert_eq!(bounded(&format!("{}{long}Subject: x\n\n", junk(2500))), "From:\nSubject: x\n");
    }

    #[test]
    fn the_fields_kept_beyond_the_limit_are_bounded() {
        let found = bounded(&format!("{}{}\n", junk(2500), "From: a@b\n".repeat(300)));
        assert_eq!(found, "From: a@b\n".repeat(200));
    }

    #[test]
    fn a_field_with_thousands_of_parameters_is_left_out() {
        let parameters: String = (0..10_000).map(|n| format!("; a{n}*1=b")).collect();
        let head = format!("Content-Type: text/plain{parameters}\n b\nFrom: a@b\nSubject: x\n\n");
        assert_eq!(bounded_head(head.as_bytes(), &Limits::default()), b"From: a@b\nSubject: x\n".as_slice());
    }
}

//! Reads letters that we sent: reports to repeat, and the texts that a reply may quote.

use super::mime;
use crate::referee::{PastReport, PastReports, Reply};

/// Maximum bytes of the reports that one answer repeats: some ten reports, which leaves room for its other words (see
/// `MAX_TEXT` in the room's main file).
const MAX_REPEATED: usize = 32_000;

/// Whether a reply repeats reports.
pub fn repeats_reports(reply: &Reply) -> bool {
    matches!(reply, Reply::Report { .. } | Reply::History)
}

/// Returns the reports that each reply repeats. `sent` holds those that the seat has received so far, in order.
pub fn repeated_reports<'a>(replies: &[Reply], sent: impl Iterator<Item = &'a [u8]>) -> Vec<PastReports> {
    let all: Vec<PastReport> = sent.map(past_report).collect();
    let mut left = MAX_REPEATED;
    let mut repeated = Vec::with_capacity(replies.len());
    for reply in replies {
        let selected: Vec<&PastReport> = match reply {
            Reply::History => all.iter().collect(),
            Reply::Report { turn: None } => all.last().into_iter().collect(),
            Reply::Report { turn: Some(turn) } => {
                // The report on a turn is titled with the turn that it opens.
                let title = format!("] Turn {}:", u64::from(*turn) + 1);
                all.iter().filter(|report| report.title.contains(&title)).collect()
            }
            _ => Vec::new(),
        };
        repeated.push(latest_within(&selected, &mut left));
    }
    repeated
}

/// Returns the latest of the reports that fit into `left` bytes, and reduces `left` by their length.
fn latest_within(reports: &[&PastReport], left: &mut usize) -> PastReports {
    let mut first = reports.len();
    for report in reports.iter().rev() {
        let length: usize = report.lines.iter().map(|line| line.len() + 1).sum();
        if length > *left {
            break;
        }
        *left -= length;
        first -= 1;
    }
    PastReports {
        reports: reports[first..].iter().map(|report| (*report).clone()).collect(),
        left_out: first,
    }
}

/// A report without the marker and the reply token: the letter that repeats it has its own.
fn past_report(bytes: &[u8]) -> PastReport {
    let mail = parse_text_part(bytes);
    let title = mail.as_ref().and_then(|mail| mail.subject()).unwrap_or_default().to_owned();
    let text = mail.as_ref().and_then(|mail| mail.body_text(0)).unwrap_or_default();
    let is_content = |line: &&str| !line.starts_with("##") && !line.starts_with("Reply token:");
    PastReport { title, lines: text.lines().filter(is_content).map(str::to_owned).collect() }
}

/// The plain text of a letter that we sent; empty if it cannot be parsed.
pub fn plain_text(bytes: &[u8]) -> String {
    parse_text_part(bytes)
        .and_then(|mail| mail.body_text(0).map(|text| text.into_owned()))
        .unwrap_or_default()
}

/// Parses one of our letters, but only to the end of its text, which is its first part. Parsing the rest would decode
/// the picture for nothing. The line that ends the part is kept: without it, the parser leaves quoted-printable as it
/// is.
pub fn parse_text_part(bytes: &[u8]) -> Option<mail_parser::Message<'_>> {
    let mut parts = memchr::memmem::find_iter(bytes, mime::ALTERNATIVE_DELIMITER);
    let end = parts.nth(1).and_then(|at| Some(at + 2 + memchr::memchr(b'\n', &bytes[at + 2..])? + 1));
    let end = end.unwrap_or(bytes.len());
    mail_parser::MessageParser::default().parse(&bytes[..end])
}

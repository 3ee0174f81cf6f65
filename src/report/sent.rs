//! Reads letters that we sent: reports to repeat, and the texts that a reply may quote.

use super::mime;
use crate::referee::PastReport;

/// Which of a seat's reports to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportSelection {
    All,
    Last,
    Turn(u32),
}

impl ReportSelection {
    /// The report on `turn`, or the last one if no turn is given.
    pub fn of(turn: Option<u32>) -> ReportSelection {
        turn.map_or(ReportSelection::Last, ReportSelection::Turn)
    }
}

/// Selects from `sent`, the reports that a seat has received so far, in order.
pub fn select_reports<'a>(
    sent: impl Iterator<Item = &'a [u8]>,
    selection: ReportSelection,
) -> Vec<PastReport> {
    let mut reports: Vec<PastReport> = sent.map(past_report).collect();
    match selection {
        ReportSelection::All => {}
        ReportSelection::Last => reports = reports.pop().into_iter().collect(),
        ReportSelection::Turn(turn) => {
            // The report on a turn is titled with the turn that it opens.
            let title = format!("] Turn {}:", turn + 1);
            reports.retain(|report| report.title.contains(&title));
        }
    }
    reports
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
/// the picture for nothing.
pub fn parse_text_part(bytes: &[u8]) -> Option<mail_parser::Message<'_>> {
    let mut parts = memchr::memmem::find_iter(bytes, mime::ALTERNATIVE_DELIMITER);
    let end = parts.nth(1).unwrap_or(bytes.len());
    mail_parser::MessageParser::default().parse(&bytes[..end])
}

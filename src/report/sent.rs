//! Letters of ours once more: a report as it was sent, the text that an answer may quote.

use super::mime;
use crate::referee::PastReport;

/// Which of a seat's reports are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportSelection {
    All,
    Last,
    Turn(u32),
}

impl ReportSelection {
    /// That of `turn`, or the last one.
    pub fn of(turn: Option<u32>) -> ReportSelection {
        turn.map_or(ReportSelection::Last, ReportSelection::Turn)
    }
}

/// The reports that are wanted, of all that were sent to the seat until now, in order.
pub fn select_reports<'a>(sent: impl Iterator<Item = &'a [u8]>, wanted: ReportSelection) -> Vec<PastReport> {
    let mut reports: Vec<PastReport> = sent.map(unframed).collect();
    match wanted {
        ReportSelection::All => {}
        ReportSelection::Last => reports = reports.pop().into_iter().collect(),
        ReportSelection::Turn(turn) => {
            let title = format!("] Turn {}:", turn + 1);
            reports.retain(|report| report.title.contains(&title));
        }
    }
    reports
}

/// A letter of ours as it was sent, without the lines that frame it.
fn unframed(bytes: &[u8]) -> PastReport {
    let mail = parse_text_part(bytes);
    let title = mail.as_ref().and_then(|mail| mail.subject()).unwrap_or_default().to_owned();
    let text = mail.as_ref().and_then(|mail| mail.body_text(0)).unwrap_or_default();
    let framed = |line: &&str| !line.starts_with("##") && !line.starts_with("Reply token:");
    PastReport { title, lines: text.lines().filter(framed).map(str::to_owned).collect() }
}

/// The plain text of a letter of ours.
pub fn plain_text(bytes: &[u8]) -> String {
    parse_text_part(bytes)
        .and_then(|mail| mail.body_text(0).map(|text| text.into_owned()))
        .unwrap_or_default()
}

/// A letter of ours as far as its text, which is its first part. What follows, pictures above all, is not read.
pub fn parse_text_part(bytes: &[u8]) -> Option<mail_parser::Message<'_>> {
    let windows = bytes.windows(mime::PART_BEGINS.len()).enumerate();
    let mut begins = windows.filter(|(_, window)| *window == mime::PART_BEGINS.as_bytes());
    let end = begins.nth(1).map_or(bytes.len(), |(at, _)| at);
    mail_parser::MessageParser::default().parse(&bytes[..end])
}

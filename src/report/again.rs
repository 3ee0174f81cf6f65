//! Letters of ours once more: a report as it was sent, the text that an answer may quote.

use super::mime;
use crate::referee::PastReport;

/// Which of a seat's reports are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    All,
    Last,
    Turn(u32),
}

impl Wanted {
    /// That of `turn`, or the last one.
    pub fn of(turn: Option<u32>) -> Wanted {
        turn.map_or(Wanted::Last, Wanted::Turn)
    }
}

/// The reports that are wanted, of all that were sent to the seat until now, in order.
pub fn again<'a>(sent: impl Iterator<Item = &'a [u8]>, wanted: Wanted) -> Vec<PastReport> {
    let mut reports: Vec<PastReport> = sent.map(unframed).collect();
    match wanted {
        Wanted::All => {}
        Wanted::Last => reports = reports.pop().into_iter().collect(),
        Wanted::Turn(turn) => {
            let title = format!("] Turn {}:", turn + 1);
            reports.retain(|report| report.title.contains(&title));
        }
    }
    reports
}

/// A letter of ours as it was sent, without the lines that frame it.
fn unframed(bytes: &[u8]) -> PastReport {
    let mail = first_part(bytes);
    let title = mail.as_ref().and_then(|mail| mail.subject()).unwrap_or_default().to_owned();
    let text = mail.as_ref().and_then(|mail| mail.body_text(0)).unwrap_or_default();
    let framed = |line: &&str| !line.starts_with("##") && !line.starts_with("Reply token:");
    PastReport { title, lines: text.lines().filter(framed).map(str::to_owned).collect() }
}

/// The plain text of a letter of ours.
pub fn text_of(bytes: &[u8]) -> String {
    first_part(bytes).and_then(|mail| mail.body_text(0).map(|text| text.into_owned())).unwrap_or_default()
}

/// A letter of ours as far as its text, which is its first part. What follows, pictures above all, is not read.
pub fn first_part(bytes: &[u8]) -> Option<mail_parser::Message<'_>> {
    let windows = bytes.windows(mime::PART_BEGINS.len()).enumerate();
    let mut begins = windows.filter(|(_, window)| *window == mime::PART_BEGINS.as_bytes());
    let end = begins.nth(1).map_or(bytes.len(), |(at, _)| at);
    mail_parser::MessageParser::default().parse(&bytes[..end])
}

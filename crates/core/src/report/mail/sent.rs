//! Reads letters that we sent: reports to repeat, and the texts that a reply may quote.

use super::mime;
use crate::referee::{Match, PastReport, PastReports, Reply};

/// Maximum bytes of the reports that one answer repeats: about ten reports, which leaves room for its other
/// text (see `MAX_TEXT` in `report`).
const MAX_REPEATED: usize = 32_000;

/// Whether a reply repeats reports.
pub fn repeats_reports(reply: &Reply) -> bool {
    matches!(reply, Reply::Report { .. } | Reply::History)
}

/// Returns the reports that each reply repeats: those of a turn, or the last one, and only those still in
/// force. `sent` holds the reports that the seat has received so far, in order.
pub fn repeated_reports<'a>(
    replies: &[Reply],
    sent: impl Iterator<Item = &'a [u8]>,
    game_match: &Match,
) -> Vec<PastReports> {
    let all: Vec<DatedReport> = sent.map(past_report).collect();
    let standing = || all.iter().filter(|dated| dated.stands(game_match)).map(|dated| &dated.report);
    let mut left = MAX_REPEATED;
    let mut repeated = Vec::with_capacity(replies.len());
    for reply in replies {
        let selected: Vec<&PastReport> = match reply {
            Reply::History => all.iter().map(|dated| &dated.report).collect(),
            Reply::Report { turn: None } => standing().next_back().into_iter().collect(),
            Reply::Report { turn: Some(turn) } => {
                standing().filter(|report| report.title.contains(&report_title(*turn))).collect()
            }
            _ => Vec::new(),
        };
        repeated.push(latest_within(&selected, &mut left));
    }
    repeated
}

/// A report, and the time, in whole seconds, at which it was written.
struct DatedReport {
    report: PastReport,
    at: Option<i64>,
}

impl DatedReport {
    /// Whether no rollback has voided it. Reports are written at an adjudication, or at the end of the match.
    fn stands(&self, game_match: &Match) -> bool {
        if self.report.title.contains("] Result:") {
            return game_match.due().is_none();
        }
        game_match.adjudicated.iter().any(|(_, _, at)| self.at == Some(at.timestamp()))
    }
}

/// Returns the part of a report's title after the match's name: the turn that it opens.
fn report_title(turn: u32) -> String {
    match turn {
        0 => "] Setup:".to_owned(),
        turn => format!("] Turn {turn}:"),
    }
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

/// Returns a report without the marker and the reply token, because the letter that repeats it has its own.
fn past_report(bytes: &[u8]) -> DatedReport {
    let mail = parse_text_part(bytes);
    let title = mail.as_ref().and_then(|mail| mail.subject()).unwrap_or_default().to_owned();
    let text = mail.as_ref().and_then(|mail| mail.body_text(0)).unwrap_or_default();
    let is_content = |line: &&str| !line.starts_with("##") && !line.starts_with("Reply token:");
    let lines = text.lines().filter(is_content).map(str::to_owned).collect();
    let at = mail.as_ref().and_then(|mail| Some(mail.date()?.to_timestamp()));
    DatedReport { report: PastReport { title, lines }, at }
}

/// Returns the plain text of a letter that we sent; empty if it cannot be parsed.
pub fn plain_text(bytes: &[u8]) -> String {
    parse_text_part(bytes)
        .and_then(|mail| mail.body_text(0).map(|text| text.into_owned()))
        .unwrap_or_default()
}

/// Parses one of our letters up to the end of its text, which is its first part. Parsing the rest would
/// decode the picture for nothing. Keeps the line that ends the part: without it, the parser does not decode
/// quoted-printable.
pub fn parse_text_part(bytes: &[u8]) -> Option<mail_parser::Message<'_>> {
    let mut parts = memchr::memmem::find_iter(bytes, mime::ALTERNATIVE_DELIMITER);
    let end = parts.nth(1).and_then(|at| Some(at + 2 + memchr::memchr(b'\n', &bytes[at + 2..])? + 1));
    let end = end.unwrap_or(bytes.len());
    mail_parser::MessageParser::default().parse(&bytes[..end])
}

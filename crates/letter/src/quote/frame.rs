//! Finds the lines that mail programs put before a quote: attribution lines, header blocks and rules.
//!
//! For each such frame it finds the end and the author of the letter below; [`scanner`](super::scanner)
//! decides about the lines that follow.

use super::frame_line::{
    COLONS, FrameKind, attribution_kind, field_value, header_line, is_dashed, is_mailbox_line,
    is_part_delimiter, is_raw_field, is_table_rule, is_transport_field, labelled_value, leads, mentions,
    separator_line,
};
use crate::mail::address::Address;
use crate::mail::dialect::Dialect;
use crate::text::patterns::{has_address, has_date, has_time, has_word};
use crate::text::words::{IN_REPLY_TO, Label, WROTE, label};

/// Maximum bytes of a line in a frame. Every search below is linear in the length of a line, and starts at
/// each line.
const MAX_LINE: usize = 600;

/// Maximum lines of an attribution.
const MAX_ATTRIBUTION: usize = 4;

/// Maximum lines of an attribution that is split.
const MAX_SPLIT: usize = 6;

/// Minimum lines of a header block in an unknown language.
const MIN_LABELS: usize = 3;

/// The last letter of the Latin script that languages of Europe use.
const MAX_LATIN: char = '\u{24f}';

/// Maximum lines of a header block, without blank lines.
const MAX_BLOCK: usize = 14;

/// Maximum lines of the header of a raw letter.
const MAX_RAW_HEADER: usize = 60;

/// Minimum fields of the header of a raw letter, unless the line of a mailbox file stands above it.
const MIN_RAW_HEADER: usize = 3;

/// Maximum lines of a header block that is drawn as a table.
const MAX_TABLE: usize = 24;

/// The lines that introduce a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The index of the first line after the frame.
    pub end: usize,
    pub kind: FrameKind,
    pub author: Author,
}

/// The author of the quoted letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    Us,
    Other,
    Unknown,
}

/// The two correspondents whose letters a letter may quote.
#[derive(Clone, Copy, Debug)]
pub struct Correspondents<'a> {
    /// The address that the letter was sent to.
    pub own: &'a Address,
    pub dialect: &'a Dialect,
    /// The sender's name in lower case; empty if it cannot identify anybody.
    pub sender: &'a str,
}

/// Finds frames in the lines of a letter.
pub struct FrameFinder<'a> {
    /// `None` for lines that cannot belong to a frame.
    lines: Vec<Option<&'a str>>,
    correspondents: Correspondents<'a>,
}

impl<'a> FrameFinder<'a> {
    pub fn new(lines: Vec<Option<&'a str>>, correspondents: Correspondents<'a>) -> FrameFinder<'a> {
        let lines = lines.into_iter().map(|line| line.filter(|line| line.len() <= MAX_LINE)).collect();
        FrameFinder { lines, correspondents }
    }

    fn line(&self, at: usize) -> Option<&'a str> {
        self.lines.get(at).copied().flatten().filter(|line| !line.trim().is_empty())
    }

    /// Whether the line at `at` is blank. Lines outside the letter, or excluded from frames, do not count as
    /// blank.
    fn is_blank(&self, at: usize) -> bool {
        self.lines.get(at).copied().flatten().is_some_and(|line| line.trim().is_empty())
    }

    /// Returns `at`, or the next line that is not blank; skips up to `limit` lines.
    fn skip_blanks(&self, mut at: usize, limit: usize) -> usize {
        let last = at + limit;
        while at < last && self.is_blank(at) {
            at += 1;
        }
        at
    }

    /// Returns the frame that starts at line `at`.
    pub fn frame(&self, at: usize) -> Option<Frame> {
        let line = self.line(at)?;
        if let Some(kind) = separator_line(line) {
            let next = self.skip_blanks(at + 1, 2);
            let inner = self.block(next, 2).or_else(|| self.attribution(next));
            let inner = inner.unwrap_or(Frame { end: at + 1, kind, author: Author::Unknown });
            return Some(Frame { kind, ..inner });
        }
        if is_table_rule(line) {
            return self.table(at);
        }
        if is_dashed(line)
            && let Some(frame) = self.foreign_rule(at)
        {
            return Some(frame);
        }
        if line.len() >= 10 && line.trim().chars().all(|c| matches!(c, '_' | '-' | '=')) {
            let next = self.skip_blanks(at + 1, 2);
            let from_alone = || self.block(next, 1).filter(|frame| frame.author != Author::Unknown);
            return self.block(next, 2).or_else(from_alone);
        }
        self.raw_header(at)
            .or_else(|| self.block(at, 3))
            .or_else(|| self.attribution(at))
            .or_else(|| self.bare_block(at))
            .or_else(|| self.foreign_block(at))
            .or_else(|| self.own_from(at))
    }

    /// Finds the header of a raw letter, which old programs quote whole, or that of one of its parts.
    fn raw_header(&self, at: usize) -> Option<Frame> {
        let first = self.line(at)?;
        let is_mailbox_line = is_mailbox_line(first);
        let is_delimiter = is_part_delimiter(first);
        if !is_mailbox_line && !is_delimiter && !is_transport_field(first) {
            return None;
        }
        let above = usize::from(is_mailbox_line || is_delimiter);
        let fields: Vec<&str> = (at + above..at + MAX_RAW_HEADER)
            .map_while(|l| self.line(l))
            .take_while(|line| is_raw_field(line))
            .collect();
        // The fields of a raw header have English names. Looking for others would take long at each line.
        let sender = fields.iter().find_map(|line| field_value(line, "from:"));
        let is_header = match (is_mailbox_line, is_delimiter) {
            (true, _) => true,
            (_, true) => fields.first().is_some_and(|line| is_transport_field(line)),
            (false, false) => sender.is_some() && fields.len() >= MIN_RAW_HEADER,
        };
        let author = match sender {
            Some(value) => self.author(value),
            // Parts follow only in the letter to which they belong.
            None if is_delimiter => Author::Us,
            None => self.author(first),
        };
        is_header.then_some(Frame { end: at + above + fields.len(), kind: FrameKind::HeaderBlock, author })
    }

    /// Finds a header of which only our own address is left: `From: "The Club" <referee@club.example>`.
    fn own_from(&self, at: usize) -> Option<Frame> {
        let (label, value) = header_line(self.line(at)?)?;
        let is_ours = label == Label::From && self.author(value) == Author::Us;
        is_ours.then_some(Frame { end: at + 1, kind: FrameKind::LikelyAttribution, author: Author::Us })
    }

    /// Finds a rule such as `---- Original Message ----` in an unknown language: words between dashes, and a
    /// header block below them.
    fn foreign_rule(&self, at: usize) -> Option<Frame> {
        let next = self.skip_blanks(at + 1, 2);
        let blocks = [self.block(next, 2), self.foreign_block(next)];
        let inner = blocks.into_iter().flatten().max_by_key(|frame| frame.end)?;
        Some(Frame { kind: FrameKind::HeaderBlock, ..inner })
    }

    /// Finds a header block with at least `kinds` different labels, such as `From:`.
    fn block(&self, at: usize, kinds: usize) -> Option<Frame> {
        if let Some(frame) = self.one_line_block(at) {
            return Some(frame);
        }
        let mut seen = Vec::new();
        let mut here = at;
        let mut end = at;
        // Lines since the last label.
        let mut loose = 0;
        let mut author = Author::Unknown;
        for _ in 0..MAX_BLOCK {
            here = self.skip_blanks(here, if seen.is_empty() { 0 } else { 1 });
            let Some(line) = self.line(here) else { break };
            match header_line(line) {
                Some((kind, value)) => {
                    if kind == Label::From {
                        // A second `From:` starts another letter's block.
                        if seen.contains(&Label::From) {
                            break;
                        }
                        // A person gives an order in two lines: `From: C3`, `To: C4`.
                        if (self.correspondents.dialect.is_request)(value.trim()) {
                            return None;
                        }
                        author = self.author(value);
                    }
                    if !seen.contains(&kind) {
                        seen.push(kind);
                    }
                    loose = 0;
                    end = here + 1;
                }
                // A subject or a list of recipients may continue on the next line.
                None if !seen.is_empty()
                    && loose < 2
                    && !self.is_blank(here - 1)
                    && attribution_kind(line).is_none() =>
                {
                    if seen == [Label::From] && author == Author::Unknown {
                        author = self.author(line);
                    }
                    loose += 1;
                }
                None => break,
            }
            here += 1;
        }
        let enough = seen.len() >= kinds && (seen.contains(&Label::From) || seen.contains(&Label::Subject));
        enough.then_some(Frame { end, kind: FrameKind::HeaderBlock, author })
    }

    /// Finds a header block of Notes 5 and 6, drawn as a table: `|---------+--->` above and below, `|` before
    /// each line.
    fn table(&self, at: usize) -> Option<Frame> {
        let rows: Vec<&str> = (at..at + MAX_TABLE)
            .map_while(|l| self.line(l))
            .take_while(|line| line.trim().starts_with('|') || is_table_rule(line))
            .collect();
        let sender = rows.iter().find(|row| row.contains('@'))?;
        let labels = rows.iter().filter(|row| header_line(row).is_some()).count();
        (labels >= 2).then(|| Frame {
            end: at + rows.len(),
            kind: FrameKind::HeaderBlock,
            author: self.author(sender),
        })
    }

    /// Finds a header block that lost its line breaks: `From: … Sent: … To: … Subject: …`, or only the first
    /// two if both are complete.
    fn one_line_block(&self, at: usize) -> Option<Frame> {
        let line = self.line(at)?;
        header_line(line)?;
        let mut seen: Vec<Label> =
            line.split_whitespace().filter_map(|word| label(word.strip_suffix(':')?)).collect();
        seen.sort_unstable();
        seen.dedup();
        let first_two = [Label::From, Label::Date].iter().all(|label| seen.contains(label));
        let complete = first_two && has_address(line) && has_date(line) && has_time(line);
        (complete || seen.len() >= 4).then(|| Frame {
            end: at + 1,
            kind: FrameKind::HeaderBlock,
            author: self.author(line),
        })
    }

    /// Finds a header block in an unknown language: at least three lines with a label and a value (two if the
    /// labels are known), one with an address and one with a date and a time.
    fn foreign_block(&self, at: usize) -> Option<Frame> {
        let mut values = Vec::new();
        let mut here = at;
        let mut end = at;
        while let Some(value) = self.line(here).and_then(labelled_value).filter(|_| values.len() < MAX_BLOCK)
        {
            values.push(value);
            end = here + 1;
            here = self.skip_blanks(end, 1);
        }
        let addressed = values.iter().any(|value| has_address(value));
        let dated = values.iter().any(|value| has_date(value) && has_time(value));
        let known = (at..end).filter_map(|l| header_line(self.line(l)?)).count();
        if !addressed || !dated || values.len() < 3 && known < 2 {
            return None;
        }
        // The sender comes first in all languages.
        let author = self.author(values[0]);
        Some(Frame { end, kind: FrameKind::HeaderBlock, author })
    }

    /// Finds a header block of Notes, in which each label is alone on its line, without a colon.
    fn bare_block(&self, at: usize) -> Option<Frame> {
        self.line(at).filter(|line| label(line).is_some() || line.contains('@'))?;
        let mut seen = Vec::new();
        let mut here = at;
        let mut end = at;
        let mut author = Author::Unknown;
        for _ in 0..MAX_BLOCK + 4 {
            here = self.skip_blanks(here, 2);
            let Some(line) = self.line(here) else { break };
            if let Some(kind @ (Label::To | Label::Subject | Label::From)) =
                label(line).filter(|_| line.trim().len() > 1)
            {
                seen.push(kind);
                end = here + 1;
            } else if self.author(line) != Author::Unknown && here < at + 4 {
                author = self.author(line);
            } else if seen.is_empty() && here > at + 4 {
                return None;
            }
            here += 1;
        }
        let complete = seen.contains(&Label::To) && seen.contains(&Label::Subject);
        // The subject itself is on the line after its label.
        let end = if complete { self.skip_blanks(end, 1) + 1 } else { end };
        complete.then(|| Frame { end: end.min(self.lines.len()), kind: FrameKind::HeaderBlock, author })
    }

    /// Finds an attribution: one to four lines that say who wrote, and when.
    fn attribution(&self, at: usize) -> Option<Frame> {
        let mut joined = String::new();
        for lines in 0..MAX_ATTRIBUTION {
            let line = self.line(at + lines)?;
            if lines > 0 && !self.wraps(&joined) {
                return None;
            }
            joined.push(' ');
            joined.push_str(line.trim());
            if let Some(kind) = attribution_kind(&joined) {
                // Text above a complete attribution is the person's own, unless it looks like the
                // attribution's first line.
                let complete_below = (at + 1..=at + lines).any(|from| {
                    let rest: Vec<_> = (from..=at + lines).filter_map(|l| self.line(l)).collect();
                    attribution_kind(&rest.join(" ")) == Some(FrameKind::Attribution)
                });
                let first = self.line(at)?;
                if complete_below && !leads(first) && !first.contains("<") {
                    return None;
                }
                return Some(Frame { end: at + lines + 1, kind, author: self.author(&joined) });
            }
        }
        None
    }

    /// Returns the index of the first line after what looks like a frame at line `at` without being certain: an
    /// attribution that [`FrameFinder::frame`] takes for likely, one that is split, or labels in an unknown script. Only
    /// what stands below shows whether it is one. Words about the game are the person's.
    pub fn likely_frame_end(&self, at: usize) -> Option<usize> {
        let dialect = self.correspondents.dialect;
        let end = self
            .attribution(at)
            .map(|frame| frame.end)
            .or_else(|| self.split_attribution(at))
            .or_else(|| self.labels(at))?;
        let is_ours = |line: &str| {
            let lower = line.trim().to_lowercase();
            let introduces = WROTE.any_in(&lower) || IN_REPLY_TO.any_prefix_of(&lower);
            (dialect.begins_like_request)(line) || !introduces && (dialect.is_on_topic)(&lower)
        };
        (!(at..end).filter_map(|l| self.line(l)).any(is_ours)).then_some(end)
    }

    /// Finds an attribution that a mail program has split: a date and a time, and a line that ends with a colon.
    fn split_attribution(&self, at: usize) -> Option<usize> {
        if at.checked_sub(1).is_some_and(|above| self.line(above).is_some()) {
            return None;
        }
        let mut joined = String::new();
        let mut here = at;
        for _ in 0..MAX_SPLIT {
            let line = self.line(here)?.trim();
            if joined.ends_with(['.', '!', '?']) {
                return None;
            }
            joined.push(' ');
            joined.push_str(line);
            if line.ends_with(COLONS) {
                let names_writer = has_address(&joined) || has_date(&joined) && has_time(&joined);
                return names_writer.then_some(here + 1);
            }
            here = self.skip_blanks(here + 1, 1);
        }
        None
    }

    /// Finds lines `Label: value` in an unknown language, as in a header block: at least three in another script, or with
    /// an address or a date.
    fn labels(&self, at: usize) -> Option<usize> {
        let labelled = |l: usize| {
            let line = self.line(l)?.trim();
            let value = labelled_value(line)?;
            let is_request = (self.correspondents.dialect.is_request)(value.trim());
            (!is_request).then_some((line, value))
        };
        if at.checked_sub(1).is_some_and(|above| labelled(above).is_some()) {
            return None;
        }
        let lines: Vec<(&str, &str)> = (at..at + MAX_BLOCK).map_while(labelled).collect();
        let is_foreign = lines.iter().all(|(line, value)| {
            let label = &line[..line.len() - value.len()];
            label.chars().any(|c| c.is_alphabetic() && c > MAX_LATIN)
        });
        let is_header = is_foreign
            || lines.iter().any(|(_, value)| has_address(value) || has_date(value) && has_time(value));
        (lines.len() >= MIN_LABELS && is_header).then_some(at + lines.len())
    }

    /// Whether an attribution that starts with `so_far` may continue on the next line.
    fn wraps(&self, so_far: &str) -> bool {
        let ended = so_far.ends_with(COLONS);
        !ended && (leads(so_far) || so_far.contains('@') || has_date(so_far))
    }

    fn author(&self, text: &str) -> Author {
        let text = text.to_lowercase();
        let Correspondents { own, sender, .. } = self.correspondents;
        if text.contains('@') {
            if mentions(&text, own) { Author::Us } else { Author::Other }
        } else if !sender.is_empty() && has_word(&text, sender) {
            Author::Other
        } else {
            Author::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::dialect::example::DIALECT;

    fn own() -> Address {
        Address::parse("referee@club.example").unwrap()
    }

    fn frame(text: &str) -> Option<Frame> {
        let own = own();
        let correspondents = Correspondents { own: &own, dialect: &DIALECT, sender: "ann smith" };
        FrameFinder::new(text.lines().map(Some).collect(), correspondents).frame(0)
    }

    #[test]
    fn attributions_in_many_languages_are_found() {
        for text in [
            "On Mon, Nov 20, 2026 at 11:00 AM Referee <referee@club.example> wrote:",
            "On Mon, Nov 20, 2026 at 11:00 AM Referee <referee+0123@club.example>\nwrote:",
            "On Nov 20, 2026, at 11:00, Referee <referee@club.example> wrote:",
            "On Monday, 20 November\n2026 at 11:00 AM, Referee\n<referee@club.example>\nwrote:",
            "Am 20.11.26 um 11:00 schrieb Referee:",
            "Posted by Referee on 11/20/2026",
            "Am Fr., 20. Nov. 2026 um 11:00 Uhr schrieb Referee <\nreferee@club.example>:",
            "Le ven. 20 nov. 2026 à 11:00, Referee <referee@club.example> a écrit :",
            "El vie, 20 nov 2026 a las 11:00, Referee (<referee@club.example>) escribió:",
            "Il giorno ven 20 nov 2026 alle ore 11:00 Referee <referee@club.example> ha scritto:",
            "Em sex., 20 de nov. de 2026 às 11:00, Referee <referee@club.example> escreveu:",
            "Op vr 20 nov 2026 om 11:00 schreef Referee <referee@club.example>:",
            "Den fre 20 nov. 2026 kl 11:00 skrev Referee <referee@club.example>:",
            "fre. 20. nov. 2026 kl. 11:00 skrev Referee <referee@club.example>:",
            "pt., 20 lis 2026 o 11:00 Referee <referee@club.example> napisał(a):",
            "пт, 20 нояб. 2026 г. в 11:00, Referee <referee@club.example>:",
            "pá 20. 11. 2026 v 11:00 odesílatel Referee <referee@club.example> napsal:",
            "pe 20. marrask. 2026 klo 11.00 Referee (referee@club.example) kirjoitti:",
            "Referee <referee@club.example>, 20 Kas 2026 Cum, 11:00 tarihinde şunu yazdı:",
            "Referee <referee@club.example> ezt írta (időpont: 2026. nov. 20., P, 11:00):",
            "2026年11月20日(金) 11:00 Referee <referee@club.example>:",
            "Referee <referee@club.example> 于2026年11月20日周五 11:00写道:",
            "2026년 11월 20일 (금) 오전 11:00, Referee <referee@club.example>님이 작성:",
            "---- On Fri, 20 Nov 2026 11:00:00 +0000 Referee <referee@club.example> wrote ----",
            "20.11.2026, 11:00, \"Referee\" <referee@club.example>:",
            "2026/11/20 Referee <referee@club.example>",
            "Le vendredi 20 novembre 2026, Referee nous a dit :",
            "In reply to: Referee <referee@club.example>, 20 November 2026 11:00",
            "In reply to your message of Fri, 20 Nov 2026 11:00:00 +0100",
            "2026 թ. նոյեմբերի 20, 11:00 Referee <referee@club.example> գրել է՝",
            "Ուրբ, 20 նոյ 2026, 11:00-ին, Referee <referee@club.example>։",
            "On Fri, 20 Nov 2026 at 11:00 Referee <\nmailto:referee@club.example\nwrote:",
        ] {
            let found = frame(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.end, found.kind), (text.lines().count(), FrameKind::Attribution), "{text}");
            assert_ne!(found.author, Author::Other, "{text}");
        }
        for likely in ["Referee wrote:", "From: Referee <referee@club.example>"] {
            assert_eq!(frame(likely).unwrap().kind, FrameKind::LikelyAttribution);
        }
        let other = frame("On Mon, Nov 20, 2026 at 11:00 AM Ann <ann@example.org> wrote:").unwrap();
        assert_eq!(other.author, Author::Other);
        assert_eq!(
            frame("Am 20.11.26 um 11:00 schrieb thereferee@club.example:").unwrap().author,
            Author::Other
        );
    }

    #[test]
    fn header_blocks_in_many_languages_are_found() {
        for text in [
            "From: Referee <referee@club.example>\nSent: Friday, 20 November 2026 11:00\nTo: Ann\nSubject: Turn 4",
            "*From:* Referee <referee@club.example>\n*Sent:* Friday\n*To:* Ann\n*Subject:* Turn 4",
            "Von: Referee [mailto:referee@club.example]\nGesendet: Freitag, 20. November 2026 11:00\nAn: Ann\nBetreff: Turn 4",
            "De : Referee <referee@club.example>\nEnvoyé : vendredi\nÀ : Ann\nObjet : Turn 4",
            "De: Referee\nEnviado el: viernes\nPara: Ann\nAsunto: Turn 4",
            "Från: Referee\nSkickat: den 20 november\nTill: Ann;\n Bo <bo@example.org>\nÄmne: Turn 4",
            "差出人: Referee <referee@club.example>\n送信日時: 2026年11月20日\n宛先: Ann\n件名: Turn 4",
            "发件人： Referee <referee@club.example>\n发送时间： 2026年11月20日\n收件人： Ann\n主题： Turn 4",
            "От: Referee\nОтправлено: пятница\nКому: Ann\nТема: Turn 4",
            "-----Original Message-----\nFrom: Referee\nSubject: Turn 4",
            "-------- Ursprüngliche Nachricht --------\n\nVon: Referee\nDatum: 20.11.26 11:00 (GMT+01:00)\nAn: Ann\nBetreff: Turn 4",
            "________________________________\nFrom: Referee\nSent: Friday\nTo: Ann\nSubject: Turn 4",
            "From: Referee Sent: Friday, 20 November 2026 To: Ann Subject: Turn 4",
            "From: referee@club.example Date: Fri, 20 Nov 2026 11:00:00 +0100",
            "From: Referee\n<referee@club.example>\nSent: Friday\nTo: Ann\nSubject: Turn 4",
            "Date: Fri, 20 Nov 2026 11:00:00 +0100\nTo: ann@example.org",
            "_____________\nFrom: referee@club.example",
            "From referee@club.example Fri Nov 20 11:00:00 2026",
            "From referee@club.example Fri Nov 20 11:00:00 2026\nReturn-Path: <referee@club.example>\nReceived: from x\n\tby y\nFrom: Referee <referee@club.example>\nSubject: Turn 4",
            "Received: from x\n by y\nMessage-ID: <1@club.example>\nFrom: Referee <referee@club.example>\nTo: Ann",
            "--=_boundary\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: 8bit",
            "Ումից։ Referee <referee@club.example>\nԵրբ։ 20 նոյեմբեր 2026, 11:00\nՈւմ։ Ann <ann@example.org>",
            "---- ओरिजिनल मेसेज ----\nFrom: Referee <referee@club.example>\nSubject: Turn 4",
            "-----Mesaĝo originala-----\n\nDe: Referee <referee@club.example>\nDato: 20.11.2026 11:00\nAl: Ann <ann@example.org>",
        ] {
            let found = frame(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.end, found.kind), (text.lines().count(), FrameKind::HeaderBlock), "{text}");
            assert_ne!(found.author, Author::Other, "{text}");
        }
        let forwarded =
            frame("---------- Forwarded message ---------\nFrom: Ann <ann@x.org>\nDate: x\nSubject: y")
                .unwrap();
        assert_eq!((forwarded.kind, forwarded.end), (FrameKind::Forward, 4));
    }

    #[test]
    fn lines_that_people_write_are_not_frames() {
        for text in [
            "SHIP 1 TO B2",
            "SHIP 1: A3 to B2",
            "Here are my orders for turn 4:",
            "Hello,\nOn Mon, Nov 20, 2026 at 11:00 AM Referee <referee@club.example> wrote:",
            "SHIP 1 TO B2\nOn Mon, Nov 20, 2026 at 11:00 AM Referee <referee@club.example> wrote:",
            "To: all\nHello",
            "-----",
            "I wrote to you at 11:00 but got no answer",
            "--- my orders ---\nSHIP 1 TO B2",
            "---- turn 4 ----",
            "From: C3\nTo: C4",
            "From C3 to C4 at 8:00",
            "From tomorrow I am away until 2026-12-20, 11:00",
            "Content-Type: what is that?",
            "--my-orders\nSHIP 1 TO B2",
        ] {
            assert_eq!(frame(text), None, "{text}");
        }
    }
}

//! What mail programs put round a quote: attribution lines, header blocks, rules.
//!
//! It says where such a frame stands and whose letter it announces; what follows from that is decided in
//! [`quote`](super::quote).

use super::address::Address;
use super::patterns::{has_address, has_date, has_time, has_word};
use super::words::{FORWARDED, LEADS, Label, ORIGINAL, WROTE, label};

/// A line longer than this is no part of a frame.
const MAX_LINE: usize = 600;

/// An attribution takes this many lines at most.
const MAX_ATTRIBUTION: usize = 4;

/// A header block takes this many lines at most, blank ones not counted.
const MAX_BLOCK: usize = 14;

/// And one that is drawn as a table so many.
const MAX_TABLE: usize = 24;

/// Lines that announce a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The first line behind it.
    pub end: usize,
    pub kind: FrameKind,
    pub author: Author,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A header block or a rule: below it stands the letter as it was, with what that one quotes.
    Block,
    /// An attribution with date and author.
    Certain,
    /// An attribution only if a quote follows.
    Likely,
    /// What follows was forwarded.
    Forwarded,
}

/// Whose letter is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    Us,
    Other,
    Unknown,
}

/// By what frames tell who wrote.
#[derive(Clone, Copy, Debug)]
pub struct Correspondents<'a> {
    pub own: &'a Address,
    /// The name of the sender, in lower case; empty where it says nothing.
    pub sender: &'a str,
}

/// The lines of a letter in which frames are looked for: `None` where a line can be no part of one.
pub struct FrameFinder<'a> {
    lines: Vec<Option<&'a str>>,
    correspondents: Correspondents<'a>,
}

impl<'a> FrameFinder<'a> {
    pub fn new(lines: Vec<Option<&'a str>>, correspondents: Correspondents<'a>) -> FrameFinder<'a> {
        let usable = |line: &'a str| line.len() <= MAX_LINE;
        FrameFinder {
            lines: lines.into_iter().map(|line| line.filter(|line| usable(line))).collect(),
            correspondents,
        }
    }

    fn line(&self, at: usize) -> Option<&'a str> {
        self.lines.get(at).copied().flatten().filter(|line| !line.trim().is_empty())
    }

    /// Whether there is a blank line at `at`; what is no line at all is none.
    fn is_blank(&self, at: usize) -> bool {
        self.lines.get(at).copied().flatten().is_some_and(|line| line.trim().is_empty())
    }

    fn skip_blanks(&self, mut at: usize, most: usize) -> usize {
        let last = at + most;
        while at < last && self.is_blank(at) {
            at += 1;
        }
        at
    }

    /// The frame that begins at line `at`.
    pub fn frame(&self, at: usize) -> Option<Frame> {
        let line = self.line(at)?;
        if let Some(kind) = rule(line) {
            let next = self.skip_blanks(at + 1, 2);
            let inner = self.block(next, 2).or_else(|| self.attribution(next));
            let inner = inner.unwrap_or(Frame { end: at + 1, kind, author: Author::Unknown });
            return Some(Frame { kind, ..inner });
        }
        if is_table_rule(line) {
            return self.table(at);
        }
        if line.len() >= 10 && line.trim().chars().all(|c| matches!(c, '_' | '-' | '=')) {
            let next = self.skip_blanks(at + 1, 2);
            let from_alone = || self.block(next, 1).filter(|frame| frame.author != Author::Unknown);
            return self.block(next, 2).or_else(from_alone);
        }
        self.block(at, 3)
            .or_else(|| self.attribution(at))
            .or_else(|| self.bare_block(at))
            .or_else(|| self.foreign_block(at))
    }

    /// A header block: `From:` and its like, `kinds` different labels at least.
    fn block(&self, at: usize, kinds: usize) -> Option<Frame> {
        if let Some(frame) = self.one_line_block(at) {
            return Some(frame);
        }
        let mut seen = Vec::new();
        let (mut here, mut end, mut loose, mut author) = (at, at, 0, Author::Unknown);
        for _ in 0..MAX_BLOCK {
            here = self.skip_blanks(here, if seen.is_empty() { 0 } else { 1 });
            let Some(line) = self.line(here) else { break };
            match header_line(line) {
                Some((kind, value)) => {
                    if kind == Label::From {
                        // A second `From:` begins the block of another letter.
                        if seen.contains(&Label::From) {
                            break;
                        }
                        author = self.author(value);
                    }
                    if !seen.contains(&kind) {
                        seen.push(kind);
                    }
                    loose = 0;
                    end = here + 1;
                }
                // A list of recipients or a subject may go on in a second line.
                None if !seen.is_empty()
                    && loose < 2
                    && !self.is_blank(here - 1)
                    && attributes(line).is_none() =>
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
        enough.then_some(Frame { end, kind: FrameKind::Block, author })
    }

    /// A header block of Notes 5 and 6, drawn as a table: `|---------+--->` above and below, `|` before each line.
    fn table(&self, at: usize) -> Option<Frame> {
        let row = |l: &usize| self.line(*l).is_some_and(|l| l.trim().starts_with('|') || is_table_rule(l));
        let end = (at..at + MAX_TABLE).take_while(row).last()? + 1;
        let rows: Vec<&str> = (at..end).filter_map(|l| self.line(l)).collect();
        let sender = rows.iter().find(|row| row.contains('@'))?;
        let labelled = |row: &&str| header_line(row).is_some();
        (rows.iter().filter(|row| labelled(row)).count() >= 2).then(|| Frame {
            end,
            kind: FrameKind::Block,
            author: self.author(sender),
        })
    }

    /// A header block that lost its line breaks: `From: … Sent: … To: … Subject: …`, or the two first of them whole.
    fn one_line_block(&self, at: usize) -> Option<Frame> {
        let line = self.line(at)?;
        header_line(line)?;
        let mut seen: Vec<Label> =
            line.split_whitespace().filter_map(|word| label(word.strip_suffix(':')?)).collect();
        seen.sort_unstable();
        seen.dedup();
        let two = [Label::From, Label::Date].iter().all(|label| seen.contains(label));
        let whole = two && has_address(line) && has_date(line) && has_time(line);
        (whole || seen.len() >= 4).then(|| Frame {
            end: at + 1,
            kind: FrameKind::Block,
            author: self.author(line),
        })
    }

    /// A header block in a language that is not known here: three lines of a label and a value at least (two if the
    /// labels are known), one with an address and one with a date and a time.
    fn foreign_block(&self, at: usize) -> Option<Frame> {
        let value = |line: &'a str| {
            let (label, value) = line.trim().split_once([':', '：'])?;
            (label.chars().count() <= 24 && !label.contains(['@', '<', '>']) && !value.trim().is_empty())
                .then_some(value)
        };
        let (mut values, mut here, mut end) = (Vec::new(), at, at);
        while let Some(value) = self.line(here).and_then(value).filter(|_| values.len() < MAX_BLOCK) {
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
        // Who wrote stands first in all languages.
        let author = self.author(values[0]);
        Some(Frame { end, kind: FrameKind::Block, author })
    }

    /// A header block of Notes: labels alone on their lines, without colons.
    fn bare_block(&self, at: usize) -> Option<Frame> {
        self.line(at).filter(|line| label(line).is_some() || line.contains('@'))?;
        let mut seen = Vec::new();
        let (mut here, mut end, mut author) = (at, at, Author::Unknown);
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
        // The subject itself stands in the line behind its label.
        let end = if complete { self.skip_blanks(end, 1) + 1 } else { end };
        complete.then(|| Frame { end: end.min(self.lines.len()), kind: FrameKind::Block, author })
    }

    /// One to four lines that say who wrote, and when.
    fn attribution(&self, at: usize) -> Option<Frame> {
        let mut joined = String::new();
        for lines in 0..MAX_ATTRIBUTION {
            let line = self.line(at + lines)?;
            if lines > 0 && !self.wraps(&joined) {
                return None;
            }
            joined.push(' ');
            joined.push_str(line.trim());
            if let Some(kind) = attributes(&joined) {
                let whole_below = (at + 1..=at + lines).any(|from| {
                    let rest: Vec<_> = (from..=at + lines).filter_map(|l| self.line(l)).collect();
                    attributes(&rest.join(" ")) == Some(FrameKind::Certain)
                });
                let first = self.line(at)?;
                if whole_below && !leads(first) && !first.contains("<") {
                    return None;
                }
                return Some(Frame { end: at + lines + 1, kind, author: self.author(&joined) });
            }
        }
        None
    }

    /// Whether what was read of an attribution so far may go on in the next line.
    fn wraps(&self, so_far: &str) -> bool {
        let ended = so_far.ends_with([':', '：']);
        !ended && (leads(so_far) || so_far.contains('@') || has_date(so_far))
    }

    fn author(&self, text: &str) -> Author {
        let text = text.to_lowercase();
        if !text.contains('@') {
            let by_sender =
                !self.correspondents.sender.is_empty() && has_word(&text, self.correspondents.sender);
            return if by_sender { Author::Other } else { Author::Unknown };
        }
        let own = self.correspondents.own;
        let local = own.local();
        let ours = text.match_indices(local).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let rest = &text[at + local.len()..];
            let rest = rest
                .strip_prefix('+')
                .map_or(rest, |plus| plus.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
            before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '-' | '_' | '+'))
                && rest.strip_prefix('@').is_some_and(|rest| rest.starts_with(own.domain()))
        });
        if ours { Author::Us } else { Author::Other }
    }
}

/// A line that is drawn above, within or below a header block of old Notes.
fn is_table_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 20
        && line.starts_with(['|', '>'])
        && line.ends_with(['|', '>'])
        && line.contains("------")
        && line.chars().all(|c| matches!(c, '|' | '>' | '-' | '+'))
}

/// The label of a header line and its value.
fn header_line(line: &str) -> Option<(Label, &str)> {
    let line = line.trim().trim_start_matches(['*', '_', '|', ' ']);
    let (before, value) = line.split_once([':', '：'])?;
    (before.chars().count() <= 24).then_some(())?;
    Some((label(before)?, value))
}

/// A line such as `-----Original Message-----` or `---------- Forwarded message ---------`.
fn rule(line: &str) -> Option<FrameKind> {
    let line = line.trim().trim_matches(['*', '_', ' ']);
    let inner = line.trim_matches(['-', '=', '_', ' ', '<', '>', '~', '*', ':']);
    if inner.len() > 120 || inner.is_empty() {
        return None;
    }
    let edge = |c: char| matches!(c, '-' | '=' | '_' | '<' | '~');
    let framed = line.starts_with(edge) && line.len() > inner.len() + 1;
    let inner = inner.to_lowercase();
    if FORWARDED.begin(&inner) && (framed || line.ends_with(':')) {
        Some(FrameKind::Forwarded)
    } else if ORIGINAL.begin(&inner) && (framed || inner.split(' ').count() <= 2) {
        Some(FrameKind::Block)
    } else {
        None
    }
}

fn leads(text: &str) -> bool {
    let text = text.trim_start_matches([' ', '*', '_', '"']).to_lowercase();
    (LEADS.lead(&text) || text.starts_with(|c: char| c.is_ascii_digit()))
        && text.chars().any(|c| c.is_ascii_digit())
}

/// Whether the text says that somebody wrote, or when a letter came from whom.
fn attributes(text: &str) -> Option<FrameKind> {
    let text = text.trim().trim_matches(['*', '_', ' ']);
    let dashed = text.starts_with("--") && text.ends_with("--");
    let bare = text.trim_matches(['-', ' ', '*', '_']).to_lowercase();
    // `2026/11/20 Referee <referee@club.example>`, `2026-11-20 17:21 GMT+01:00 Referee` and `Posted by Referee on
    // 11/20/2026` have no colon.
    let dated =
        bare.starts_with(|c: char| c.is_ascii_digit()) && (bare.ends_with('>') || bare.contains(" gmt"));
    let entry = (dated || bare.starts_with("posted by ")) && has_date(&bare);
    if !(bare.ends_with([':', '：']) || dashed || entry || bare.ends_with("wrote")) {
        return None;
    }
    let (date, address) = (has_date(&bare), has_address(&bare));
    if date && address {
        return Some(FrameKind::Certain);
    }
    let short = |words| bare.split(' ').count() <= words;
    let wrote = (date || address || short(8)) && WROTE.any(|verb| has_word(&bare, verb));
    match (date, wrote) {
        (true, true) => Some(FrameKind::Certain),
        (false, true) if address || bare.len() < 100 => Some(FrameKind::Likely),
        // In a language whose verb is not known here.
        (true, false) if has_time(&bare) && short(10) => Some(FrameKind::Likely),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Address {
        Address::parse("referee@club.example").unwrap()
    }

    fn frame(text: &str) -> Option<Frame> {
        let own = own();
        FrameFinder::new(text.lines().map(Some).collect(), Correspondents { own: &own, sender: "ann smith" })
            .frame(0)
    }

    #[test]
    fn attributions_of_many_languages_are_known() {
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
        ] {
            let found = frame(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.end, found.kind), (text.lines().count(), FrameKind::Certain), "{text}");
            assert_ne!(found.author, Author::Other, "{text}");
        }
        assert_eq!(frame("Referee wrote:").unwrap().kind, FrameKind::Likely);
        let other = frame("On Mon, Nov 20, 2026 at 11:00 AM Ann <ann@example.org> wrote:").unwrap();
        assert_eq!(other.author, Author::Other);
        assert_eq!(
            frame("Am 20.11.26 um 11:00 schrieb thereferee@club.example:").unwrap().author,
            Author::Other
        );
    }

    #[test]
    fn header_blocks_of_many_languages_are_known() {
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
        ] {
            let found = frame(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.end, found.kind), (text.lines().count(), FrameKind::Block), "{text}");
            assert_ne!(found.author, Author::Other, "{text}");
        }
        let forwarded =
            frame("---------- Forwarded message ---------\nFrom: Ann <ann@x.org>\nDate: x\nSubject: y")
                .unwrap();
        assert_eq!((forwarded.kind, forwarded.end), (FrameKind::Forwarded, 4));
    }

    #[test]
    fn what_people_write_is_no_frame() {
        for text in [
            "SHIP 1 TO B2",
            "SHIP 1: A3 to B2",
            "Here are my orders for turn 4:",
            "Hello,\nOn Mon, Nov 20, 2026 at 11:00 AM Referee <referee@club.example> wrote:",
            "SHIP 1 TO B2\nOn Mon, Nov 20, 2026 at 11:00 AM Referee <referee@club.example> wrote:",
            "To: all\nHello",
            "-----",
            "I wrote to you at 11:00 but got no answer",
        ] {
            assert_eq!(frame(text), None, "{text}");
        }
    }
}

//! Which lines of a letter were written now.
//!
//! A line of ours that came back, a line behind `>`, the frame round a quote, a signature or a footer was not. A
//! quote without any prefix is harder: if it is a letter of ours, what stands between its lines was written now;
//! if it is another's, or the player's own of an earlier day, nothing below its frame counts.

use super::frame::{Author, Correspondents, Frame, FrameFinder, FrameKind};
use super::own_letter::{OwnLetter, is_closing, is_digest, is_footer, is_marker, words};
use super::text_line::{Layer, TextLine};
use super::words::{PRODUCTS, SENT_FROM, SENT_FROM_ENDS};

/// A `--` without its blank begins a signature only if this many lines follow at most.
const MAX_SIGNATURE: usize = 8;

/// Where the reading stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    NewText,
    /// Among the lines of the letter of ours that we have.
    OwnLetter,
    /// Among those of a letter of ours that we do not have; its footer ends it.
    UnknownOwnLetter,
    /// In another's letter, to the end.
    Foreign,
    /// Behind the footer of a letter of ours, where a line or two close it.
    Closing,
    /// In a quote whose lines are indented.
    Indented,
    Signature,
}

/// The lines written now, in order, with one blank line where blank or other lines stood between them.
pub fn written<'a>(
    lines: &'a [TextLine],
    ours: Option<&OwnLetter>,
    correspondents: Correspondents<'a>,
) -> Vec<&'a str> {
    let mut scanner = QuoteScanner::new(lines, ours, correspondents);
    let mut at = 0;
    while at < lines.len() {
        at = scanner.step(at);
    }
    scanner.written
}

struct QuoteScanner<'a> {
    lines: &'a [TextLine],
    is_ours: Vec<bool>,
    frames: Vec<Option<Frame>>,
    last_marker: Option<usize>,
    /// Which lines stand in a quote that is set in as a whole.
    set_in: Vec<bool>,
    correspondents: Correspondents<'a>,
    region: Region,
    written: Vec<&'a str>,
    /// A blank line is due before the next line.
    gap: bool,
}

impl<'a> QuoteScanner<'a> {
    fn new(
        lines: &'a [TextLine],
        ours: Option<&OwnLetter>,
        correspondents: Correspondents<'a>,
    ) -> QuoteScanner<'a> {
        let is_ours: Vec<bool> = match ours {
            Some(ours) => {
                let mut follow = ours.follow();
                lines.iter().map(|line| follow.takes(&line.text)).collect()
            }
            None => vec![false; lines.len()],
        };
        let usable = |(line, ours): (&'a TextLine, &bool)| {
            (line.layer == Layer::Unmarked && !ours && !is_marker(&line.text)).then_some(line.text.as_str())
        };
        let finder = FrameFinder::new(lines.iter().zip(&is_ours).map(usable).collect(), correspondents);
        let frames: Vec<_> = (0..lines.len()).map(|at| finder.frame(at)).collect();
        let last_marker = lines.iter().rposition(|line| is_marker(&line.text));
        let set_in = set_in_quotes(lines, &frames);
        let (region, written, gap) = (Region::NewText, Vec::new(), false);
        QuoteScanner { lines, is_ours, frames, last_marker, set_in, correspondents, region, written, gap }
    }

    /// Reads the line at `at`, or the frame that begins there; the line to go on with.
    fn step(&mut self, at: usize) -> usize {
        let line = &self.lines[at];
        if line.is_blank() {
            self.gap = true;
            return at + 1;
        }
        if line.layer != Layer::Unmarked || self.set_in[at] {
            if self.is_quoted(at) && self.region == Region::Signature {
                self.region = Region::NewText;
            }
            self.gap = true;
            return at + 1;
        }
        if self.region == Region::Indented {
            if line.is_set_in() {
                self.gap = true;
                return at + 1;
            }
            self.region = Region::NewText;
        }
        if self.is_ours[at] || is_marker(&line.text) {
            self.enter_ours(at);
            return at + 1;
        }
        if self.region != Region::Foreign
            && let Some(frame) = self.frames[at]
            && let Some(region) = self.behind(at, &frame)
        {
            self.region = region;
            self.gap = true;
            return frame.end.max(at + 1);
        }
        match self.region {
            Region::Foreign | Region::Indented | Region::Signature => {}
            Region::Closing if is_closing(&line.text, self.correspondents.own) => {}
            // Between two letters of ours stands the player's own of an earlier day.
            Region::Closing if self.quotes_us_below(at) => self.region = Region::Foreign,
            Region::UnknownOwnLetter => {
                if is_footer(&line.text) {
                    self.region = Region::Closing;
                    return self.behind_footer(at);
                }
            }
            Region::Closing | Region::NewText | Region::OwnLetter => self.open_line(at),
        }
        at + 1
    }

    /// A line of a letter of ours, without a prefix.
    fn enter_ours(&mut self, at: usize) {
        self.gap = true;
        let text = &self.lines[at].text;
        match self.region {
            Region::Foreign | Region::UnknownOwnLetter => {}
            _ if self.is_ours[at] && is_footer(text) => self.region = Region::Closing,
            Region::Closing if !is_marker(text) => {}
            _ => self.region = if self.is_ours[at] { Region::OwnLetter } else { Region::UnknownOwnLetter },
        }
    }

    /// Whether a letter of ours begins below `at`, under whatever prefix.
    fn quotes_us_below(&self, at: usize) -> bool {
        self.last_marker.is_some_and(|marker| marker > at)
    }

    /// The token may have been wrapped onto the line behind its label.
    fn behind_footer(&self, at: usize) -> usize {
        let token = |line: &TextLine| super::address::Token::parse(line.text.trim()).is_some();
        at + 1 + usize::from(self.lines.get(at + 1).is_some_and(token))
    }

    /// A line that the person may have written.
    fn open_line(&mut self, at: usize) {
        let text = self.lines[at].text.as_str();
        if self.begins_signature(at) {
            self.region = Region::Signature;
            self.gap = true;
            return;
        }
        let stands_for_picture = text.trim().starts_with('[') && text.trim().ends_with(']');
        let of_ours = self.region == Region::OwnLetter && (words(text).is_empty() || stands_for_picture);
        if of_ours || is_footer(text) || is_digest(text) || is_sent_from(text) || self.is_torn_off(at) {
            self.gap = true;
            return;
        }
        if self.gap && !self.written.is_empty() {
            self.written.push("");
        }
        self.gap = false;
        self.written.push(text);
    }

    /// What the lines behind a frame are; `None` if it is no frame after all.
    fn behind(&self, at: usize, frame: &Frame) -> Option<Region> {
        if frame.kind == FrameKind::Forwarded {
            return Some(Region::Foreign);
        }
        let mut next = (frame.end..self.lines.len()).filter(|l| !self.lines[*l].is_blank());
        let Some(first) = next.next() else {
            return (frame.kind != FrameKind::Likely).then_some(self.region);
        };
        let in_a_letter = self.region != Region::NewText;
        let quoted = self.is_quoted(first);
        let frame_below = self.frames[first].is_some() && frame.kind != FrameKind::Likely;
        match (frame.kind, frame.author) {
            // Another's letter, which may itself begin with a quote.
            (FrameKind::Block, Author::Other) => return Some(Region::Foreign),
            (FrameKind::Block, Author::Unknown) if quoted => return Some(Region::Foreign),
            (FrameKind::Block, _) if quoted => return Some(Region::NewText),
            (FrameKind::Block, _) => {}
            (_, author) if !in_a_letter && self.is_set_in(first, at) => {
                // A letter of another that begins with set-in lines may go on without.
                let other = author == Author::Other;
                return Some(if other { Region::Foreign } else { Region::Indented });
            }
            (_, Author::Other) if self.quotes_at_once(first) => return Some(Region::Foreign),
            _ if quoted => return Some(Region::NewText),
            (FrameKind::Likely, _) if self.region == Region::UnknownOwnLetter => return None,
            _ => {}
        }
        if frame_below && frame.author != Author::Us {
            return Some(Region::Foreign);
        }
        let begins_ours = |l: &usize| self.is_ours[*l] || is_marker(&self.lines[*l].text);
        let looked_at = match frame.author {
            Author::Us => 6,
            Author::Unknown => 2,
            Author::Other => 0,
        };
        let ours = std::iter::once(first).chain(next).take(looked_at).find(begins_ours);
        match (ours, frame.author, frame.kind) {
            (Some(line), ..) if self.is_ours[line] => Some(Region::OwnLetter),
            (Some(_), ..) => Some(Region::UnknownOwnLetter),
            (None, Author::Other, _) => Some(Region::Foreign),
            // Some programs put the attribution below the quote.
            (None, ..) if at > 0 && self.is_quoted(at - 1) => Some(Region::NewText),
            (None, Author::Us, _) => Some(Region::UnknownOwnLetter),
            (None, _, FrameKind::Likely) if !in_a_letter => None,
            (None, ..) => Some(Region::Foreign),
        }
    }

    /// Whether the quote that begins at `first` is, behind its outermost prefix, a letter of ours, or has a frame of
    /// its own there: then it is not the letter that the frame before it announces, but stands in that.
    fn quotes_at_once(&self, first: usize) -> bool {
        let quote = self.lines[first..].iter().take(MAX_SIGNATURE * 2);
        let whole = self.lines[first].depth + usize::from(self.set_in[first]);
        let depth = |at: usize| self.lines[at].depth + usize::from(self.set_in[at]);
        let quote = quote.enumerate().take_while(|(l, line)| {
            self.is_quoted(first + l) && depth(first + l) <= whole.max(1) || line.is_blank()
        });
        let quote: Vec<_> = quote.map(|(_, line)| line).collect();
        let finder = FrameFinder::new(
            quote.iter().map(|line| Some(line.text.as_str())).collect(),
            self.correspondents,
        );
        let frame = finder.frame(0).filter(|frame| frame.kind != FrameKind::Likely);
        let text = finder.frame(0).map_or(0, |frame| frame.end);
        let below = quote.iter().skip(text).find(|line| !line.is_blank());
        below.is_some_and(|line| frame.is_some() || is_marker(&line.text))
    }

    fn is_quoted(&self, at: usize) -> bool {
        self.lines[at].layer == Layer::Quoted || self.set_in[at]
    }

    /// Whether the lines from `below` are set in, without a prefix, and the line at `at` is not.
    fn is_set_in(&self, below: usize, at: usize) -> bool {
        let mut set_in = self.lines[below..].iter().take_while(|line| line.is_blank() || line.is_set_in());
        !self.lines[at].is_set_in() && set_in.any(|line| line.layer == Layer::Unmarked && !line.is_blank())
    }

    fn begins_signature(&self, at: usize) -> bool {
        let line = self.lines[at].text.as_str();
        let rule = line.len() >= 20 && line.bytes().all(|b| b == b'_');
        if line != "-- " && line != "--" && !rule {
            return false;
        }
        let below = self.lines[at + 1..].iter().enumerate();
        let below: Vec<&str> = below
            .take_while(|(l, line)| line.layer != Layer::Quoted && !self.begins_quote(at + 1 + l))
            .map(|(_, line)| line.text.as_str())
            .filter(|line| !line.trim().is_empty())
            .take(MAX_SIGNATURE + 1)
            .collect();
        if rule {
            let listed = |line: &&str| line.contains("http") || line.contains("mailing list");
            return below.len() <= MAX_SIGNATURE && below.iter().any(listed);
        }
        line == "-- " || below.len() <= MAX_SIGNATURE
    }

    /// Whether a quote, or the frame of one, begins at the line.
    fn begins_quote(&self, at: usize) -> bool {
        self.is_ours[at] || is_marker(&self.lines[at].text) || self.frames[at].is_some()
    }

    /// The end of a quoted line that the sender's program wrapped without giving it a `>` of its own.
    fn is_torn_off(&self, at: usize) -> bool {
        let quoted = |line: Option<&TextLine>| {
            line.is_some_and(|line| line.layer == Layer::Quoted && !line.is_blank())
        };
        let text = &self.lines[at].text;
        let Some(before) = at.checked_sub(1).and_then(|before| self.lines.get(before)) else { return false };
        quoted(Some(before))
            && quoted(self.lines.get(at + 1))
            && text.starts_with(char::is_lowercase)
            && before.text.len() + text.len() > 74
            && before.text.len() > 50
    }
}

/// Which lines stand in a quote that is set in as a whole, in a letter that is not: our first line or a frame tells
/// how far, and as far as lines are set in so far, above it and below it, they belong to that quote.
fn set_in_quotes(lines: &[TextLine], frames: &[Option<Frame>]) -> Vec<bool> {
    let mut found = vec![false; lines.len()];
    let text = |line: &&TextLine| line.layer != Layer::Signature && !line.is_blank();
    let margin = lines.iter().filter(text).map(|line| line.indent).min().unwrap_or(0);
    let framed = |at: usize, line: &TextLine| {
        let frame = frames[at].filter(|frame| frame.kind != FrameKind::Likely);
        let below = frame.and_then(|frame| (frame.end..lines.len()).find(|l| text(&&lines[*l])));
        // One frame below another may be set in alone.
        below.is_some_and(|below| lines[below].indent >= line.indent && frames[below].is_none())
    };
    let sign = |at: usize, line: &TextLine| is_marker(&line.text) || framed(at, line);
    let first = lines.iter().enumerate().find(|(at, line)| line.indent >= margin + 2 && sign(*at, line));
    let Some((first, width)) = first.map(|(at, line)| (at, line.indent)) else { return found };
    let inside = |line: &TextLine| line.is_blank() || line.indent >= width;
    let begin = lines[..first].iter().rposition(|line| !inside(line)).map_or(0, |above| above + 1);
    // What answers between its lines is not set in, or less.
    let last = (first..lines.len()).rev().find(|at| {
        let line = &lines[*at];
        line.indent >= width && (is_marker(&line.text) || is_footer(&line.text) || frames[*at].is_some())
    });
    let end = last.unwrap_or(first);
    let end = lines[end..].iter().position(|line| !inside(line)).map_or(lines.len(), |below| end + below);
    for at in begin..end {
        found[at] = inside(&lines[at]);
    }
    found
}

/// What a phone, a web mailer or a virus scanner puts under a letter.
fn is_sent_from(line: &str) -> bool {
    if line.len() > 240 {
        return false;
    }
    let line = line.trim().trim_start_matches(['-', '*', '_', ' ', '[']).to_lowercase();
    (SENT_FROM.begin(&line) || SENT_FROM_ENDS.end(line.trim_end_matches('.'))) && PRODUCTS.stand_in(&line)
        || line.starts_with("sent from my ")
        || line.starts_with("发自我的")
}

#[cfg(test)]
mod tests {
    use super::super::address::Address;
    use super::super::text_line::plain_lines;
    use super::*;

    const LETTER: &str = "## write your orders above this line ##\n\nTurn 4 was adjudicated. You saw nothing.\n\n    | SHIP 1 TO B2\n\nIt is due on Saturday.\n\nReply token: 0123456789abcdef\n";

    fn read(text: &str, answered: bool) -> Vec<String> {
        let own = Address::parse("referee@club.example").unwrap();
        let correspondents = Correspondents { own: &own, sender: "ann smith" };
        let ours = OwnLetter::new(LETTER);
        let lines = plain_lines(text, false, false);
        written(&lines, answered.then_some(&ours), correspondents).into_iter().map(str::to_owned).collect()
    }

    const HEADER: &str =
        "From: Referee <referee@club.example>\nSent: Friday\nTo: Ann <ann@example.org>\nSubject: Turn 4\n\n";

    #[test]
    fn orders_above_below_and_between_a_quote_count() {
        for answered in [true, false] {
            let quoted =
                "> ## write your orders above this line ##\n>\n> Turn 4 was adjudicated. You saw nothing.\n";
            assert_eq!(read(&format!("A\n\nReferee wrote:\n{quoted}"), answered), ["A"]);
            assert_eq!(
                read(&format!("Referee wrote:\n{quoted}\nB\n> It is due\nC"), answered),
                ["B", "", "C"]
            );
            assert_eq!(read(&format!("A\n\n{HEADER}{LETTER}"), answered), ["A"]);
            assert_eq!(read(&format!("{HEADER}{LETTER}\nB"), answered), ["B"]);
        }
        let between = LETTER.replace("It is due", "SHIP 2 TO B4\nIt is due");
        assert_eq!(read(&format!("A\n\n{HEADER}{between}"), true), ["A", "", "SHIP 2 TO B4"]);
    }

    #[test]
    fn nothing_below_the_frame_of_another_letter_counts() {
        let own_old = "From: Ann <ann@example.org>\nSent: Thursday\nTo: Referee <referee@club.example>\nSubject: Turn 4\n\nSHIP 9 TO C1\n\n";
        for answered in [true, false] {
            assert_eq!(read(&format!("A\n\n{own_old}{HEADER}{LETTER}"), answered), ["A"]);
            assert_eq!(read(&format!("A\n\n{HEADER}{LETTER}\n{own_old}"), answered), ["A"]);
            assert_eq!(read("A\n\nOn 19.11.2026 at 9:00 Ann wrote:\n\nSHIP 9 TO C1", answered), ["A"]);
            let nested = "A\n> q\nOn 19.11.2026 at 9:00 Ann <ann@example.org> wrote:\n\nSHIP 9 TO C1";
            assert_eq!(read(nested, answered), ["A"]);
            assert_eq!(read("A\n---------- Forwarded message ---------\nSHIP 9 TO C1", answered), ["A"]);
        }
    }

    #[test]
    fn signatures_and_footers_are_left_out() {
        assert_eq!(read("A\n-- \nAnn\nHOLD the line\n> q\nB", false), ["A", "", "B"]);
        assert_eq!(read("A\n\nSent from my iPhone\n\nB", false), ["A", "", "B"]);
        assert_eq!(read("A\nVon meinem iPhone gesendet", false), ["A"]);
        assert_eq!(
            read("A\n_______________________________________________\nGames mailing list\nhttp://x", false),
            ["A"]
        );
        assert_eq!(read("von meiner Seite ist alles gut", false), ["von meiner Seite ist alles gut"]);
    }
}

//! Decides which lines of a letter are new.
//!
//! Lines of our own letters that came back, lines after `>`, frames of quotes, signatures and footers are not
//! new. Quotes without a prefix are harder: other lines between those of our own letter are new, but nothing
//! is new below the frame of another letter, even an earlier one from the player.
//!
//! Hand-written: the only crate for this, `email_reply_parser`, knows quotes with a `>` and English headers,
//! and cannot compare a quote with the letter that we sent.

use std::ops::Range;

use super::frame::{Author, Correspondents, Frame, FrameFinder};
use super::frame_line::{
    COLONS, FrameKind, is_base64, is_dashed, is_encoded, is_part_note, is_raw_field, is_transport_field,
};
use super::own_letter::{
    LineLikeness, OwnLetter, before_footer, is_closing, is_digest, is_footer, is_marker, joined_words,
};
use crate::mail::address::{Address, Token};
use crate::mail::dialect::Dialect;
use crate::text::lines::{Layer, TextLine};
use crate::text::words::{PRODUCTS, SENT_FROM, SENT_FROM_ENDS};

/// Maximum lines after a signature delimiter without its blank (`--`), and after a mailing list's rule. If
/// more follow, it is a rule that the person drew.
const MAX_SIGNATURE: usize = 8;

/// Maximum bytes of a line of a signature that is searched for words that take something back.
const MAX_SIGNATURE_LINE: usize = 300;

/// Lines of a quote to search for a marker or a frame.
const MAX_QUOTE_START: usize = 16;

/// Places in an attribution at which the words before it may end.
const MAX_JOINTS: usize = 8;

/// Maximum words in the heading of a list of links.
const MAX_HEADING: usize = 3;

/// The bar before the examples in our letters.
const BAR: char = '|';

/// The part of the letter that the scanner is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    NewText,
    /// In a quote of a letter we sent and still have.
    OwnLetter,
    /// In a quote of one of our letters that we do not have; its footer ends it.
    UnknownOwnLetter,
    /// In somebody else's letter, which extends to the end.
    Foreign,
    /// After the footer of one of our letters, which is followed by a closing line or two.
    Closing,
    /// In a quote whose lines are indented.
    Indented,
    Signature,
}

/// The new lines of a text.
pub struct ScannedText<'a> {
    /// In order, with one blank line in place of each run of blank or other lines.
    pub lines: Vec<&'a str>,
    /// The first of them that looks like the introduction of a quote, although nothing below it marks one.
    pub introduction: Option<&'a str>,
    /// The first lines of the signature.
    pub signature: Vec<&'a str>,
}

/// Returns the new lines, in order, with one blank line in place of each run of blank or other lines.
pub fn new_lines<'a>(
    lines: &'a [TextLine],
    own_letter: Option<&'a OwnLetter>,
    correspondents: Correspondents<'a>,
) -> Vec<&'a str> {
    scan(lines, own_letter, correspondents).lines
}

/// Returns the new lines, and whether one of them may introduce a quote.
pub fn scan<'a>(
    lines: &'a [TextLine],
    own_letter: Option<&'a OwnLetter>,
    correspondents: Correspondents<'a>,
) -> ScannedText<'a> {
    let mut scanner = QuoteScanner::new(lines, own_letter, correspondents);
    let mut at = 0;
    while at < lines.len() {
        at = scanner.step(at);
    }
    let QuoteScanner { new_lines: lines, introduction, signature, .. } = scanner;
    ScannedText { lines, introduction, signature }
}

struct QuoteScanner<'a> {
    lines: &'a [TextLine],
    /// Whether each line belongs to our letter.
    is_own: Vec<bool>,
    finder: FrameFinder<'a>,
    /// The frame that starts at each line.
    frames: Vec<Option<Frame>>,
    last_marker: Option<usize>,
    /// Whether each line is a copy of one of our examples, bar included, outside a quote.
    copied: Vec<bool>,
    /// The answered letter, if we have it and so can distinguish our lines from the person's.
    own_letter: Option<&'a OwnLetter>,
    /// Whether each line belongs to a quote that is indented as a whole, or is a mail program's note about a part of
    /// the quoted letter.
    set_apart: Vec<bool>,
    /// The start of the list of our links that a mail program put below everything, or the number of lines.
    list_of_links: usize,
    correspondents: Correspondents<'a>,
    region: Region,
    /// Whether the last lines were a header block, so that our letter may be about to begin.
    is_below_header: bool,
    new_lines: Vec<&'a str>,
    introduction: Option<&'a str>,
    signature: Vec<&'a str>,
    /// Whether a blank line belongs before the next new line.
    gap: bool,
}

impl<'a> QuoteScanner<'a> {
    fn new(
        lines: &'a [TextLine],
        own_letter: Option<&'a OwnLetter>,
        correspondents: Correspondents<'a>,
    ) -> QuoteScanner<'a> {
        let likeness: Vec<Option<LineLikeness>> = match own_letter {
            Some(own_letter) => {
                let mut follower = own_letter.follow();
                lines.iter().map(|line| follower.recognise(&line.text)).collect()
            }
            None => vec![None; lines.len()],
        };
        let is_own: Vec<bool> = likeness.iter().map(Option::is_some).collect();
        let frame_lines = lines.iter().zip(&likeness).enumerate().map(|(at, (line, likeness))| {
            let is_unmarked = line.layer == Layer::Unmarked || closes_address(lines, at);
            // A line that only resembles ours may be the second one of an attribution.
            let is_ours =
                *likeness == Some(LineLikeness::Same) || is_marker(&line.text, correspondents.dialect);
            (is_unmarked && !is_ours).then_some(line.text.as_str())
        });
        let finder = FrameFinder::new(frame_lines.collect(), correspondents);
        let frames: Vec<_> = (0..lines.len()).map(|at| finder.frame(at)).collect();
        QuoteScanner {
            lines,
            copied: find_copied_examples(lines, &is_own, &frames, correspondents.dialect),
            own_letter,
            is_own,
            last_marker: lines.iter().rposition(|line| is_marker(&line.text, correspondents.dialect)),
            set_apart: find_set_apart(lines, &frames, correspondents.dialect),
            list_of_links: own_letter
                .and_then(|own| find_list_of_links(lines, own, correspondents))
                .unwrap_or(lines.len()),
            finder,
            frames,
            correspondents,
            region: Region::NewText,
            is_below_header: false,
            new_lines: Vec::new(),
            introduction: None,
            signature: Vec::new(),
            gap: false,
        }
    }

    fn dialect(&self) -> &'a Dialect {
        self.correspondents.dialect
    }

    /// Reads the line at `at`, or the frame that starts there, and returns the index of the next line.
    fn step(&mut self, at: usize) -> usize {
        let line = &self.lines[at];
        if line.is_blank() || at >= self.list_of_links {
            self.gap = true;
            return at + 1;
        }
        if line.layer != Layer::Unmarked || self.set_apart[at] {
            if self.is_quoted(at) && self.region == Region::Signature {
                self.region = Region::NewText;
            }
            self.gap = true;
            return at + 1;
        }
        if self.region == Region::Indented {
            if line.is_indented() {
                self.gap = true;
                return at + 1;
            }
            self.region = Region::NewText;
        }
        if self.copied[at] && self.region == Region::NewText || self.before_quote(at).is_some() {
            self.read_candidate(at);
            return at + 1;
        }
        if self.is_own[at] || is_marker(&line.text, self.dialect()) {
            self.enter_own_letter(at);
            return at + 1;
        }
        if self.region != Region::Foreign
            && let Some(frame) = self.frames[at]
            && let Some(region) = self.region_after(at, &frame)
        {
            // An order that a mail program joined to an attribution is the person's, and must not vanish with
            // it.
            let is_attribution = matches!(frame.kind, FrameKind::Attribution | FrameKind::LikelyAttribution);
            let is_joined =
                (self.dialect().begins_like_request)(&line.text) || self.before_attribution(at).is_some();
            if is_attribution && is_joined {
                self.read_candidate(at);
            }
            self.region = region;
            self.is_below_header = frame.kind == FrameKind::HeaderBlock;
            self.gap = true;
            return frame.end.max(at + 1);
        }
        match self.region {
            Region::Signature if self.signature.len() < MAX_SIGNATURE => {
                self.signature.push(&line.text[..line.text.floor_char_boundary(MAX_SIGNATURE_LINE)]);
            }
            Region::Foreign | Region::Indented | Region::Signature => {}
            Region::Closing if is_closing(&line.text, self.correspondents.own, self.dialect()) => {}
            // The text between two of our letters is an earlier letter from the player.
            Region::Closing if self.last_marker.is_some_and(|marker| marker > at) => {
                self.region = Region::Foreign;
            }
            Region::UnknownOwnLetter => {
                if is_footer(&line.text, self.dialect()) {
                    self.region = Region::Closing;
                    return self.skip_footer(at);
                }
            }
            Region::Closing | Region::NewText | Region::OwnLetter => self.read_candidate(at),
        }
        at + 1
    }

    /// Reads a line of one of our letters that has no prefix.
    fn enter_own_letter(&mut self, at: usize) {
        self.gap = true;
        self.is_below_header = false;
        let text = &self.lines[at].text;
        match self.region {
            Region::Foreign | Region::UnknownOwnLetter => {}
            _ if self.is_own[at] && is_footer(text, self.dialect()) => self.region = Region::Closing,
            Region::Closing if !is_marker(text, self.dialect()) => {}
            _ => {
                self.region = if self.is_own[at] { Region::OwnLetter } else { Region::UnknownOwnLetter };
            }
        }
    }

    /// Returns the index of the line after a footer. The token may be on the line after its label.
    fn skip_footer(&self, at: usize) -> usize {
        let wrapped = self.lines.get(at + 1).is_some_and(|line| Token::parse(line.text.trim()).is_some());
        at + 1 + usize::from(wrapped)
    }

    /// Reads a line that the person may have written.
    fn read_candidate(&mut self, at: usize) {
        let line = self.lines[at].text.as_str();
        // A program that joins all lines into one puts the footer behind the person's words.
        let joined = before_footer(line, self.dialect())
            .filter(|before| !self.is_own[at] && self.is_written(before))
            .or_else(|| self.before_attribution(at))
            .or_else(|| self.before_quote(at));
        let text = joined.unwrap_or(line);
        if self.starts_signature(at) {
            self.region = Region::Signature;
            self.gap = true;
            return;
        }
        // Some mail programs put `[image: map]` in place of the picture in our letter.
        let is_placeholder = text.trim().starts_with('[') && text.trim().ends_with(']');
        let is_own_decoration =
            self.region == Region::OwnLetter && (joined_words(text).is_empty() || is_placeholder);
        if is_own_decoration
            || is_footer(text, self.dialect())
            || is_digest(text)
            || is_advertisement(text)
            || self.is_banner(at)
            || self.is_torn_off(at)
            || self.is_rule_above_ours(at)
            || self.is_field_above_ours(at)
        {
            self.gap = true;
            return;
        }
        if self.gap && !self.new_lines.is_empty() {
            self.new_lines.push("");
        }
        self.gap = false;
        // Above the quote, a line with our bar that we did not write is an example that the person changed.
        if self.introduction.is_none() && self.region == Region::NewText && self.may_introduce_quote(at) {
            self.introduction = Some(text);
        }
        let is_changed_example =
            self.own_letter.is_some() && self.region == Region::NewText && !self.is_own[at];
        self.new_lines.push(match text.trim_start().strip_prefix(BAR) {
            Some(changed) if is_changed_example => changed.trim_end_matches(BAR).trim(),
            Some(_) | None => text,
        });
    }

    /// Whether a person wrote this in front of our footer: a request, or other words that are not ours.
    fn is_written(&self, before: &str) -> bool {
        let is_ours = |own: &OwnLetter| own.follow().recognise(before).is_some();
        (self.dialect().begins_like_request)(before)
            || self.region == Region::NewText
                && before.contains(char::is_alphanumeric)
                && !before.split_whitespace().any(is_digest)
                && !self.own_letter.is_some_and(is_ours)
    }

    /// Returns what a person typed in front of the first line of a quote: `HOLD> Turn 4 was adjudicated.`
    fn before_quote(&self, at: usize) -> Option<&'a str> {
        let (before, after) = self.lines[at].text.split_once("> ")?;
        // The sign also ends arrows (`A1-> B2`) and addresses.
        let is_written = before.ends_with(ends_word) && !before.contains('<');
        // The attribution above may already have announced our letter.
        let is_open = matches!(self.region, Region::NewText | Region::OwnLetter | Region::UnknownOwnLetter);
        if !is_written || !is_open {
            return None;
        }
        let is_ours = |own: &OwnLetter| own.follow().recognise(after) == Some(LineLikeness::Same);
        let is_above_quote = self.lines.get(at + 1).is_some_and(|below| below.layer == Layer::Quoted);
        (is_above_quote || self.own_letter.is_some_and(is_ours)).then_some(before)
    }

    /// Returns what a person typed in front of an attribution, without a blank between them: `HOLDOn 29 Nov, Ann wrote:`.
    /// Either it is a request, or its last word begins with a small letter, as the first half of McDonald does not.
    fn before_attribution(&self, at: usize) -> Option<&'a str> {
        let line = self.lines[at].text.as_str();
        if self.region != Region::NewText || self.frames[at].is_none() {
            return None;
        }
        let is_written = |before: &str| {
            let last = before.split_whitespace().next_back().unwrap_or_default();
            let is_word = last.starts_with(char::is_lowercase) && last.chars().count() > 2;
            (self.dialect().is_request)(before) || is_word && !before.contains(|c: char| c.is_ascii_digit())
        };
        let is_attribution = |after: &str| {
            let below = self.lines[at + 1..].iter().take(MAX_QUOTE_START);
            let lines = std::iter::once(after).chain(below.map(|line| line.text.as_str())).map(Some);
            let frame = FrameFinder::new(lines.collect(), self.correspondents).frame(0);
            frame.is_some_and(|frame| frame.kind == FrameKind::Attribution)
        };
        let mut pieces = joints(line).take(MAX_JOINTS).map(|at| line.split_at(at));
        pieces.find(|(before, after)| is_written(before) && is_attribution(after)).map(|(before, _)| before)
    }

    /// Whether the line looks like the introduction of a quote, although nothing below it marks one: an attribution that
    /// names no date, or that is split; a header block in an unknown language.
    fn may_introduce_quote(&self, at: usize) -> bool {
        let Some(end) = self.finder.likely_frame_end(at) else { return false };
        let below = (end..self.lines.len()).find(|below| !self.lines[*below].is_blank());
        below.is_some_and(|below| !self.is_quoted(below) && !self.starts_quote(below))
    }

    /// Whether the sender's mail server put the line above our letter, in words of its own: "CAUTION: external
    /// sender". It stands between the header block of a quote and the first line of ours, where people write, too.
    /// But a banner repeats: an earlier answer of ours in the thread lists it among the words that were not understood.
    fn is_banner(&self, at: usize) -> bool {
        let text = &self.lines[at].text;
        let was_answered =
            |own: &OwnLetter| own.follow().recognise(&format!("> {text}")) == Some(LineLikeness::Same);
        self.region == Region::OwnLetter
            && self.is_below_header
            && !(self.dialect().begins_like_request)(text)
            && self.own_letter.is_some_and(was_answered)
    }

    /// Whether the line is a rule such as `---- Original Message ----`, in some language, above one of our
    /// letters.
    fn is_rule_above_ours(&self, at: usize) -> bool {
        let line = self.lines[at].text.as_str();
        let inner = line.trim_matches(|c: char| !c.is_alphanumeric());
        let below = (at + 1..self.lines.len()).find(|below| !self.lines[*below].is_blank());
        is_dashed(line)
            && below
                .is_some_and(|below| self.is_own[below] || is_marker(&self.lines[below].text, self.dialect()))
            && !(self.dialect().is_request)(inner)
    }

    /// Whether the line is a header field of one of our letters or of a part of it, quoted without the rest of the header.
    fn is_field_above_ours(&self, at: usize) -> bool {
        let is_ours = |line: usize| self.is_own[line] || is_marker(&self.lines[line].text, self.dialect());
        let mut below = at + 1..self.lines.len().min(at + MAX_QUOTE_START);
        let is_of_header = |line: usize| self.lines[line].is_blank() || is_raw_field(&self.lines[line].text);
        is_transport_field(&self.lines[at].text)
            && below.find(|line| is_ours(*line) || !is_of_header(*line)).is_some_and(is_ours)
    }

    /// Returns the region of the lines after a frame, or `None` if it turns out not to be a frame.
    fn region_after(&self, at: usize, frame: &Frame) -> Option<Region> {
        if frame.kind == FrameKind::Forward {
            return Some(Region::Foreign);
        }
        let mut next = (frame.end..self.lines.len()).filter(|l| !self.lines[*l].is_blank());
        let Some(first) = next.next() else {
            return (frame.kind != FrameKind::LikelyAttribution).then_some(self.region);
        };
        let in_a_letter = self.region != Region::NewText;
        let quoted = self.is_quoted(first);
        let frame_below = self.frames[first].is_some() && frame.kind != FrameKind::LikelyAttribution;
        match (frame.kind, frame.author) {
            // This is somebody else's letter, which may itself start with a quote.
            (FrameKind::HeaderBlock, Author::Other) => return Some(Region::Foreign),
            (FrameKind::HeaderBlock, Author::Unknown) if quoted => return Some(Region::Foreign),
            (FrameKind::HeaderBlock, _) if quoted => return Some(Region::NewText),
            (FrameKind::HeaderBlock, _) => {}
            (_, author) if !in_a_letter && self.indentation_starts(first, at) => {
                // Somebody else's letter may start with indented lines and continue without indentation.
                let other = author == Author::Other;
                return Some(if other { Region::Foreign } else { Region::Indented });
            }
            (_, Author::Other) if self.starts_with_nested_quote(first) => return Some(Region::Foreign),
            _ if quoted => return Some(Region::NewText),
            (FrameKind::LikelyAttribution, _) if self.region == Region::UnknownOwnLetter => return None,
            _ => {}
        }
        if frame_below && frame.author != Author::Us {
            return Some(Region::Foreign);
        }
        let search_depth = match frame.author {
            Author::Us => 6,
            Author::Unknown => 2,
            Author::Other => 0,
        };
        let own_line = std::iter::once(first)
            .chain(next)
            .take(search_depth)
            .find(|l| self.is_own[*l] || is_marker(&self.lines[*l].text, self.dialect()));
        match (own_line, frame.author, frame.kind) {
            (Some(line), ..) if self.is_own[line] => Some(Region::OwnLetter),
            (Some(_), ..) => Some(Region::UnknownOwnLetter),
            (None, Author::Other, _) => Some(Region::Foreign),
            // Some programs put the attribution below the quote.
            (None, ..) if at > 0 && self.is_quoted(at - 1) => Some(Region::NewText),
            (None, Author::Us, _) => Some(Region::UnknownOwnLetter),
            (None, _, FrameKind::LikelyAttribution) if !in_a_letter => None,
            (None, ..) => Some(Region::Foreign),
        }
    }

    /// Whether the quote that starts at `first`, inside its outermost prefix, is one of our letters or has a
    /// frame of its own. If so, the letter that the frame above introduces contains this quote, and is not
    /// the quote itself.
    fn starts_with_nested_quote(&self, first: usize) -> bool {
        let depth = |at: usize| self.lines[at].depth + usize::from(self.set_apart[at]);
        let outermost = depth(first).max(1);
        let quote: Vec<&TextLine> = (first..self.lines.len())
            .take(MAX_QUOTE_START)
            .take_while(|at| self.lines[*at].is_blank() || self.is_quoted(*at) && depth(*at) <= outermost)
            .map(|at| &self.lines[at])
            .collect();
        let text = quote.iter().map(|line| Some(line.text.as_str())).collect();
        let frame = FrameFinder::new(text, self.correspondents).frame(0);
        let below_frame = quote.iter().skip(frame.map_or(0, |frame| frame.end)).find(|line| !line.is_blank());
        let certain = frame.is_some_and(|frame| frame.kind != FrameKind::LikelyAttribution);
        below_frame.is_some_and(|line| certain || is_marker(&line.text, self.dialect()))
    }

    fn is_quoted(&self, at: usize) -> bool {
        self.lines[at].layer == Layer::Quoted || self.set_apart[at]
    }

    /// Whether the lines from `below` are indented, without a prefix, and the line at `at` is not.
    fn indentation_starts(&self, below: usize, at: usize) -> bool {
        let mut indented =
            self.lines[below..].iter().take_while(|line| line.is_blank() || line.is_indented());
        !self.lines[at].is_indented()
            && indented.any(|line| line.layer == Layer::Unmarked && !line.is_blank())
    }

    fn starts_signature(&self, at: usize) -> bool {
        let line = self.lines[at].text.as_str();
        let is_rule = line.len() >= 20 && line.bytes().all(|b| b == b'_');
        if line != "-- " && line != "--" && !is_rule {
            return false;
        }
        let below: Vec<&str> = (at + 1..self.lines.len())
            .take_while(|l| self.lines[*l].layer != Layer::Quoted && !self.starts_quote(*l))
            .map(|l| self.lines[l].text.as_str())
            .filter(|line| !line.trim().is_empty())
            .take(MAX_SIGNATURE + 1)
            .collect();
        if is_rule {
            let is_list_footer =
                below.iter().any(|line| line.contains("http") || line.contains("mailing list"));
            return below.len() <= MAX_SIGNATURE && is_list_footer;
        }
        line == "-- " || below.len() <= MAX_SIGNATURE
    }

    /// Whether a quote, or its frame, starts at the line.
    fn starts_quote(&self, at: usize) -> bool {
        self.is_own[at] || is_marker(&self.lines[at].text, self.dialect()) || self.frames[at].is_some()
    }

    /// Whether the line is the end of a quoted line that was wrapped without repeating the `>`.
    fn is_torn_off(&self, at: usize) -> bool {
        let Some(above) = at.checked_sub(1).and_then(|above| self.lines.get(above)) else { return false };
        let Some(below) = self.lines.get(at + 1) else { return false };
        let text = &self.lines[at].text;
        [above, below].iter().all(|line| line.layer == Layer::Quoted && !line.is_blank())
            && text.starts_with(char::is_lowercase)
            && above.text.len() + text.len() > 74
            && above.text.len() > 50
    }
}

/// Returns the places within words at which another word seems to begin: `c3|On`, `soon.|On`, `HOLD|On`.
fn joints(line: &str) -> impl Iterator<Item = usize> {
    let signs = line.char_indices().zip(line.chars().skip(1)).zip(line.chars().skip(2));
    signs.filter_map(|(((at, end), start), next)| {
        let is_end = ends_word(end) && (!end.is_uppercase() || next.is_lowercase());
        (is_end && start.is_uppercase()).then_some(at + end.len_utf8())
    })
}

/// Whether a character can be the last one of a word or a sentence.
fn ends_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '!' | '?' | ')')
}

/// Finds the list of links that some programs add at the end when they turn HTML into text: a heading in any language,
/// perhaps a rule, and the number and target of each link. A list with any other targets than ours is the person's.
fn find_list_of_links(
    lines: &[TextLine],
    own: &OwnLetter,
    correspondents: Correspondents<'_>,
) -> Option<usize> {
    let is_rule = |line: &str| !line.contains(char::is_alphanumeric);
    let (mut start, mut links, mut numbers) = (lines.len(), 0, 0);
    for at in (0..lines.len()).rev().filter(|at| !lines[*at].is_blank()) {
        let line = lines[at].text.trim();
        let (number, rest) = line.split_at(line.find(char::is_whitespace).unwrap_or(line.len()));
        let is_number =
            number.bytes().all(|b| b.is_ascii_digit() || b"[]().:".contains(&b)) && !is_rule(number);
        let link = if is_number { rest.trim() } else { line };
        let is_link = is_own_mailto(link, correspondents.own) || own.has_link_to(link);
        let is_entry = is_link || is_rule(link);
        if lines[at].layer != Layer::Unmarked || !is_entry {
            let is_heading = (line.ends_with(COLONS)
                || lines.get(start).is_some_and(|line| is_rule(&line.text)))
                && line.split_whitespace().count() <= MAX_HEADING
                && lines[at].layer == Layer::Unmarked
                && !(correspondents.dialect.begins_like_request)(line);
            start = if is_heading { at } else { start };
            break;
        }
        links += usize::from(is_link);
        numbers += usize::from(is_number);
        start = at;
    }
    (links > 0 && numbers > 0).then_some(start)
}

/// Whether a link opens a letter to us (RFC 6068).
fn is_own_mailto(link: &str, own: &Address) -> bool {
    let to = link.strip_prefix("mailto:").and_then(|rest| rest.split('?').next());
    to.and_then(|to| Address::parse(to).ok()).is_some_and(|to| to.base() == own.base())
}

/// Finds our lines with a bar that precede the person's own lines, the top of a quote, or the end. In a
/// quote, other lines of our letter would follow them.
fn find_copied_examples(
    lines: &[TextLine],
    is_own: &[bool],
    frames: &[Option<Frame>],
    dialect: &Dialect,
) -> Vec<bool> {
    let mut copied = vec![false; lines.len()];
    let mut ends_here = true;
    for at in (0..lines.len()).rev().filter(|at| !lines[*at].is_blank()) {
        let line = &lines[at];
        let is_barred = line.text.trim_start().starts_with(BAR);
        if is_own[at] && is_barred && line.layer == Layer::Unmarked {
            copied[at] = ends_here;
        } else {
            let is_top =
                is_marker(&line.text, dialect) || frames[at].is_some() || line.layer != Layer::Unmarked;
            ends_here = is_top || !is_own[at];
        }
    }
    copied
}

/// Finds the lines that belong to a quote although they have no prefix.
fn find_set_apart(lines: &[TextLine], frames: &[Option<Frame>], dialect: &Dialect) -> Vec<bool> {
    let mut found = find_indented_quotes(lines, frames, dialect);
    let (mut is_below_note, mut is_data) = (false, false);
    for (line, found) in lines.iter().zip(&mut found) {
        let text = line.text.trim();
        // Alpine writes several such lines, of which only the first names a type: `[ Unable to print this part. ]`
        let is_boxed = text.starts_with("[ ") && text.ends_with(" ]");
        is_below_note = is_part_note(text) || is_below_note && is_boxed;
        // The last line of encoded data may be short, but is hardly a word.
        is_data =
            is_encoded(text) || is_data && is_base64(text) && !text.bytes().all(|b| b.is_ascii_alphabetic());
        *found |= is_below_note || is_data;
    }
    found
}

/// Finds the lines of a quote that is indented as a whole, in a letter that is not. Our marker or a frame
/// shows its indentation; lines above and below that are indented at least as far belong to it.
fn find_indented_quotes(lines: &[TextLine], frames: &[Option<Frame>], dialect: &Dialect) -> Vec<bool> {
    let mut found = vec![false; lines.len()];
    let margin = lines.iter().filter(|line| has_content(line)).map(|line| line.indent).min().unwrap_or(0);
    let first = (0..lines.len()).find(|at| {
        let line = &lines[*at];
        line.indent >= margin + 2
            && (is_marker(&line.text, dialect) || introduces_indented(lines, frames, *at))
    });
    let Some(first) = first else { return found };
    let width = lines[first].indent;
    let inside = |line: &TextLine| line.is_blank() || line.indent >= width;
    let begin = lines[..first].iter().rposition(|line| !inside(line)).map_or(0, |above| above + 1);
    // Answers between the quoted lines are indented less, or not at all.
    let last = (first..lines.len()).rev().find(|at| {
        let line = &lines[*at];
        line.indent >= width
            && (is_marker(&line.text, dialect) || is_footer(&line.text, dialect) || frames[*at].is_some())
    });
    let last = last.unwrap_or(first);
    let end = lines[last..].iter().position(|line| !inside(line)).map_or(lines.len(), |below| last + below);
    let begin = begin_of_quote(lines, frames, dialect, begin..end, first);
    for at in begin..end {
        found[at] = inside(&lines[at]);
    }
    found
}

/// Returns where the quote in an indented `block` begins: at its start or, if the lines above its attribution are the
/// person's, which they indented as much, at the attribution. They are if the letter begins with them and has no
/// request outside the block; elsewhere they may be an earlier letter of the person's, quoted without a frame.
fn begin_of_quote(
    lines: &[TextLine],
    frames: &[Option<Frame>],
    dialect: &Dialect,
    block: Range<usize>,
    first: usize,
) -> usize {
    let outside = |line: &&TextLine| line.layer == Layer::Unmarked && !line.is_blank();
    let above = &lines[..block.start];
    let is_requested_below =
        lines[block.end..].iter().filter(outside).any(|line| (dialect.begins_like_request)(&line.text));
    if above.iter().any(has_content) || is_requested_below {
        return block.start;
    }
    (block.start..=first).find(|at| frames[*at].is_some()).unwrap_or(block.start)
}

/// Whether the `>` of a line is not a quote prefix but the end of an address that a mail program spread over
/// three lines: `<`, `mailto:referee@club.example`, `> wrote:`.
fn closes_address(lines: &[TextLine], at: usize) -> bool {
    let line = &lines[at];
    let Some(above) = at.checked_sub(2).map(|first| &lines[first..at]) else { return false };
    line.layer == Layer::Quoted
        && line.depth == 1
        && line.text.trim_end().ends_with(COLONS)
        && above.iter().all(|line| line.layer == Layer::Unmarked)
        && above[0].text.trim_end().ends_with('<')
        && above[1].text.contains('@')
        && !above[1].text.contains('>')
}

fn has_content(line: &TextLine) -> bool {
    line.layer != Layer::Signature && !line.is_blank()
}

/// Whether a definite frame starts at `at` and the text after it is indented at least as far. The upper of
/// two frames in a row may be indented alone.
fn introduces_indented(lines: &[TextLine], frames: &[Option<Frame>], at: usize) -> bool {
    let Some(frame) = frames[at].filter(|frame| frame.kind != FrameKind::LikelyAttribution) else {
        return false;
    };
    let below = (frame.end..lines.len()).find(|l| has_content(&lines[*l]));
    below.is_some_and(|below| lines[below].indent >= lines[at].indent && frames[below].is_none())
}

/// Whether a phone, a web mailer or a virus scanner added the line.
fn is_advertisement(line: &str) -> bool {
    if line.len() > 240 {
        return false;
    }
    let line = line.trim().trim_start_matches(['-', '*', '_', ' ', '[']).to_lowercase();
    (SENT_FROM.any_prefix_of(&line) || SENT_FROM_ENDS.any(|end| line.trim_end_matches('.').ends_with(end)))
        && PRODUCTS.any_in(&line)
        || line.starts_with("sent from my ")
        || line.starts_with("发自我的")
}

#[cfg(test)]
mod tests;

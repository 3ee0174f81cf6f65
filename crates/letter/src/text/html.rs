//! Turns HTML letters into lines of text, each marked as quoted, as a signature, or not at all.
//!
//! Hand-written, because libraries that turn HTML into text (mail-parser's `body_text` among them) drop the
//! elements that mail programs put around quotes, which are needed here. It is not a full HTML parser: it
//! never fails, and does not render anything.

use std::collections::BTreeMap;

use mail_parser::decoders::html::add_html_token;

use super::clean::clean;
use super::html_tag::Tag;
use super::lines::{Layer, TextLine};
use crate::mail::limits::{LineBudget, UnreadableReason};

/// Maximum open elements that are tracked; deeper ones share the context of the last.
const MAX_OPEN: usize = 256;

/// Tags that count as a line, so that the limit on lines also bounds the tags.
const TAGS_PER_LINE: usize = 40;

/// Maximum bytes of an entity, including `&` and `;`.
const MAX_ENTITY: usize = 34;

/// The content of an HTML text.
pub struct HtmlText {
    /// Cleaned.
    pub lines: Vec<TextLine>,
    /// Whether text outside quotes is struck out. It is dropped here, but a plain text part in the same
    /// letter shows it like any other text.
    pub has_struck_out: bool,
}

/// Reads an HTML text. Block elements, rows and list items end a line; head, style, script, hidden and
/// struck-out elements are dropped.
///
/// # Errors
/// [`UnreadableReason::TooManyLines`] if the budget is too small for its lines.
pub fn read(html: &str, budget: &mut LineBudget) -> Result<HtmlText, UnreadableReason> {
    let mut scan = HtmlScanner::new(html, budget);
    scan.run()?;
    scan.end_line()?;
    Ok(HtmlText { lines: scan.lines, has_struck_out: scan.has_struck_out })
}

/// The properties that apply inside the open elements.
#[derive(Clone, Copy, Default)]
struct ElementContext {
    hidden: bool,
    quoted: bool,
    introduction: bool,
    container: bool,
    signature: bool,
    keep_blanks: bool,
}

struct HtmlScanner<'a> {
    html: &'a str,
    budget: &'a mut LineBudget,
    at: usize,
    tags: usize,
    /// The open elements, each with the context outside it.
    open: Vec<(String, ElementContext)>,
    /// Number of open elements of each name, so that a million unmatched end tags do not search `open`.
    open_names: BTreeMap<String, usize>,
    context: ElementContext,
    /// The current line.
    line: String,
    /// The layer of the current line: that of its first character.
    layer: Option<Layer>,
    /// Whether a blank belongs before the next character.
    blank: bool,
    lines: Vec<TextLine>,
    has_struck_out: bool,
}

impl<'a> HtmlScanner<'a> {
    fn new(html: &'a str, budget: &'a mut LineBudget) -> HtmlScanner<'a> {
        HtmlScanner {
            html,
            budget,
            at: 0,
            tags: 0,
            open: Vec::new(),
            open_names: BTreeMap::new(),
            context: ElementContext::default(),
            line: String::new(),
            layer: None,
            blank: false,
            lines: Vec::new(),
            has_struck_out: false,
        }
    }

    fn run(&mut self) -> Result<(), UnreadableReason> {
        while let Some(found) = self.html[self.at..].find('<') {
            let start = self.at;
            self.text(start, start + found)?;
            self.at = start + found;
            self.markup()?;
        }
        self.text(self.at, self.html.len())
    }

    /// Reads a tag, a comment, a declaration, or a literal `<`.
    fn markup(&mut self) -> Result<(), UnreadableReason> {
        let rest = &self.html[self.at..];
        let end_of = |mark: &str| rest.find(mark).map_or(rest.len(), |found| found + mark.len());
        let after = rest[1..].chars().next();
        let length = if rest.starts_with("<!--") {
            end_of("-->")
        } else if matches!(after, Some('!' | '?')) {
            end_of(">")
        } else if after.is_some_and(|c| c.is_ascii_alphabetic() || c == '/') {
            self.tags += 1;
            if self.tags.is_multiple_of(TAGS_PER_LINE) {
                self.budget.take(0)?;
            }
            let tag = Tag::parse(rest);
            let length = tag.length;
            self.tag(&tag)?;
            length
        } else {
            self.push('<')?;
            1
        };
        self.at += length;
        Ok(())
    }

    fn tag(&mut self, tag: &Tag<'a>) -> Result<(), UnreadableReason> {
        let name = tag.name.as_str();
        match name {
            "br" if tag.closing => return Ok(()),
            "br" => return self.break_line(),
            "hr" => return self.end_line(),
            "td" | "th" if !tag.closing => self.blank = true,
            _ if tag.is_block() => self.end_line()?,
            _ => {}
        }
        if tag.closing {
            self.close(name);
        } else if !tag.is_void() {
            self.open(tag);
        }
        Ok(())
    }

    fn open(&mut self, tag: &Tag<'a>) {
        let name = tag.name.as_str();
        if matches!(name, "style" | "script" | "title" | "template" | "noscript" | "xml") {
            return self.skip_raw(tag);
        }
        // The end tags of these elements are optional: a new one closes its predecessor.
        if matches!(name, "p" | "li" | "tr" | "td" | "th" | "option")
            && self.open.last().is_some_and(|o| o.0 == name)
        {
            self.close(name);
        }
        let outer = self.context;
        let style = tag.style();
        let is_struck_out = is_struck_out(name, &style);
        self.has_struck_out |= is_struck_out && !outer.quoted && !outer.container;
        let context = ElementContext {
            hidden: outer.hidden || name == "head" || tag.is_hidden(&style) || is_struck_out,
            quoted: outer.quoted || tag.is_quote(&style),
            introduction: outer.introduction || tag.is_introduction(),
            container: outer.container || tag.is_container(),
            signature: outer.signature || tag.is_signature(),
            keep_blanks: (outer.keep_blanks || name == "pre" || style.contains("white-space:pre"))
                && !style.contains("white-space:normal"),
        };
        if self.open.len() < MAX_OPEN {
            self.open.push((tag.name.clone(), outer));
            *self.open_names.entry(tag.name.clone()).or_default() += 1;
            self.context = context;
        }
    }

    fn close(&mut self, name: &str) {
        if !self.open_names.contains_key(name) {
            return;
        }
        while let Some((open, outer)) = self.open.pop() {
            if let Some(count) = self.open_names.get_mut(&open) {
                *count -= 1;
                if *count == 0 {
                    self.open_names.remove(&open);
                }
            }
            self.context = outer;
            if open == name {
                return;
            }
        }
    }

    /// Skips an element whose content is not text.
    fn skip_raw(&mut self, tag: &Tag<'a>) {
        let inside = self.at + tag.length;
        let end = find_end_tag(&self.html[inside..], &tag.name).unwrap_or(self.html.len() - inside);
        // `markup` adds the length of the start tag.
        self.at += end;
    }

    fn text(&mut self, from: usize, to: usize) -> Result<(), UnreadableReason> {
        if self.context.hidden {
            return Ok(());
        }
        let mut rest = &self.html[from..to];
        while let Some(c) = rest.chars().next() {
            let (length, decoded) = if c == '&' { entity(rest) } else { (c.len_utf8(), None) };
            match decoded {
                Some(text) => text.chars().try_for_each(|c| self.push(c))?,
                None => self.push(c)?,
            }
            rest = &rest[length..];
        }
        Ok(())
    }

    fn push(&mut self, c: char) -> Result<(), UnreadableReason> {
        if self.context.hidden {
            return Ok(());
        }
        match c {
            '\n' if self.context.keep_blanks => return self.break_line(),
            '\r' if self.context.keep_blanks => return Ok(()),
            ' ' | '\t' if self.context.keep_blanks => {}
            ' ' | '\t' | '\n' | '\r' | '\u{c}' => {
                self.blank = true;
                return Ok(());
            }
            _ => {}
        }
        if self.layer.is_none() {
            self.layer = Some(self.layer());
        }
        if self.blank && !self.line.is_empty() {
            self.line.push(' ');
        }
        self.blank = false;
        self.line.push(c);
        self.budget.has_room_for(self.line.len())
    }

    fn layer(&self) -> Layer {
        match self.context {
            ElementContext { quoted: true, .. } => Layer::Quoted,
            ElementContext { introduction: true, .. } => Layer::Introduction,
            ElementContext { container: true, .. } => Layer::Container,
            ElementContext { signature: true, .. } => Layer::Signature,
            _ => Layer::Unmarked,
        }
    }

    /// Ends the line at an explicit line break, which may leave a blank line.
    fn break_line(&mut self) -> Result<(), UnreadableReason> {
        if self.context.hidden {
            return Ok(());
        }
        let layer = self.layer.take().unwrap_or_else(|| self.layer());
        self.add_line(layer)
    }

    /// Ends the current line, if there is one, at the end of a block.
    fn end_line(&mut self) -> Result<(), UnreadableReason> {
        self.blank = false;
        self.layer.take().map_or(Ok(()), |layer| self.add_line(layer))
    }

    fn add_line(&mut self, layer: Layer) -> Result<(), UnreadableReason> {
        self.blank = false;
        // Cleaning turns Unicode line separators into line breaks.
        for text in clean(&std::mem::take(&mut self.line)).split('\n') {
            let text = text.trim_end();
            self.budget.take(text.len())?;
            self.lines.push(TextLine { layer, depth: 0, indent: 0, text: text.to_owned() });
        }
        Ok(())
    }
}

/// Whether the text of an element is struck out: its author deleted it.
fn is_struck_out(name: &str, style: &str) -> bool {
    matches!(name, "s" | "del" | "strike") || style.contains("line-through")
}

/// Finds the offset of `</name` in `text`, ignoring case.
fn find_end_tag(text: &str, name: &str) -> Option<usize> {
    text.match_indices("</").map(|(at, _)| at).find(|at| {
        text.as_bytes()
            .get(at + 2..at + 2 + name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    })
}

/// Returns the length of the entity that `text` starts with, and the text that it stands for.
fn entity(text: &str) -> (usize, Option<String>) {
    let name =
        text[1..].bytes().take(MAX_ENTITY).take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
    let mut out = String::new();
    if name > 0 && text[1 + name..].starts_with(';') {
        add_html_token(&mut out, &text.as_bytes()[..name + 2], false);
        return (name + 2, Some(out));
    }
    for (known, c) in [("&nbsp", ' '), ("&amp", '&'), ("&lt", '<'), ("&gt", '>'), ("&quot", '"')] {
        if text.starts_with(known) {
            return (known.len(), Some(c.to_string()));
        }
    }
    (1, None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mail::limits::Limits;

    fn read_within(html: &str, max_lines: usize) -> Result<HtmlText, UnreadableReason> {
        read(html, &mut LineBudget::new(&Limits { max_lines, ..Limits::default() }))
    }

    fn read_all(html: &str) -> HtmlText {
        read_within(html, usize::MAX).expect("no limit")
    }

    fn new_lines(html: &str) -> Vec<String> {
        read_all(html)
            .lines
            .into_iter()
            .filter(|line| line.layer == Layer::Unmarked)
            .map(|line| line.text)
            .collect()
    }

    #[test]
    fn blocks_rows_and_list_items_end_a_line() {
        assert_eq!(
            new_lines(
                "<html><head><title>x</title><style>p{}</style></head><body><p>SHIP 1<br>HOLD<div>a  b\n c</div><ul><li>d<li>e</ul><table><tr><td>f</td><td>g</td></tr><tr><td>h</table>"
            ),
            ["SHIP 1", "HOLD", "a b c", "d", "e", "f g", "h"]
        );
        assert_eq!(
            new_lines("<pre>a\n  b</pre><div><br></div>&lt;c&gt;&amp;&nbsp;&#66;&#x43;"),
            ["a", "  b", "", "<c>& BC"]
        );
    }

    #[test]
    fn an_end_tag_closes_the_last_element_of_its_name_and_those_inside_it() {
        assert_eq!(new_lines("a<blockquote>b<div><i>c</x></blockquote>d</div></i>e"), ["a", "d", "e"]);
    }

    #[test]
    fn scanning_stops_beyond_the_limit_of_lines() {
        for piece in ["<p>a", "a<br>", "a\u{2028}", "a\u{b}", "a\u{85}", "a&#10;"] {
            let html = format!("<pre>{}", piece.repeat(9));
            assert!(read_within(&html, 10).is_ok_and(|read| read.lines.len() >= 9), "{piece:?}");
            let html = format!("<pre>{}", piece.repeat(11));
            assert_eq!(read_within(&html, 10).err(), Some(UnreadableReason::TooManyLines), "{piece:?}");
        }
        assert_eq!(read_within(&"word ".repeat(300), 10).err(), Some(UnreadableReason::TooManyLines));
        assert!(read_within(&"<b></b>".repeat(150), 10).is_ok());
        assert_eq!(read_within(&"<b></b>".repeat(300), 10).err(), Some(UnreadableReason::TooManyLines));
    }

    #[test]
    fn hidden_elements_are_dropped() {
        assert_eq!(
            new_lines(
                "<script>HOLD</script><span style='DISPLAY: None'>x<b>y</b></span><p hidden>z</p><!-- <p>q --> ok <p>1 < 2"
            ),
            ["ok", "1 < 2"]
        );
    }

    #[test]
    fn struck_out_text_is_dropped() {
        let html = "SHIP 1 A3 TO <del>B1</del> A4<br><s>SHIP 2 HOLD</s><p><span style='text-decoration: line-through'>SHIP 3 HOLD</span>";
        assert_eq!(new_lines(html), ["SHIP 1 A3 TO A4"]);
        assert!(read_all(html).has_struck_out);
        assert!(
            !read_all("<strong>x</strong><blockquote type=cite><s>SHIP 1 HOLD</s></blockquote>")
                .has_struck_out
        );
    }

    #[test]
    fn quotes_are_recognised_by_their_elements() {
        assert_eq!(new_lines("a<blockquote type=cite>b<blockquote>c</blockquote></blockquote>d"), ["a", "d"]);
        assert_eq!(
            new_lines("a<blockquote style='margin:0 0 0 40px;border:none;padding:0px'>b</blockquote>"),
            ["a", "b"]
        );
        assert_eq!(
            new_lines(
                "<div>a</div><div class=\"gmail_quote\"><div class=gmail_attr>On … wrote:</div><blockquote class=\"gmail_quote\">q</blockquote><div>b</div></div>"
            ),
            ["a", "b"]
        );
        assert_eq!(
            new_lines("a<div id='ydp1yahoo_quoted_2'><div>On … wrote:</div><div>q</div></div>"),
            ["a"]
        );
        assert_eq!(new_lines("a<div name=\"quote\">q</div><div class='gmail_signature'>s</div>"), ["a"]);
    }

    proptest! {
        #[test]
        fn scanning_never_panics(html in "(<|>|/|!--|-->|&|;|nbsp|#x4|div|p|style|pre| |=|'|\"|ä|\n|blockquote|script){0,80}") {
            let _ = read_all(&html);
        }
    }
}

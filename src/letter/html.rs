//! HTML letters as lines of text, each known to be written, quoted or a signature.
//!
//! Written by hand, because libraries that turn HTML into text drop just what is needed here: which client put
//! which element round its quotes. It is no HTML parser: it never fails, and shows nothing.

use mail_parser::decoders::html::add_html_token;

use super::text_line::{Layer, TextLine};

/// Elements deeper than this are read, but no longer told apart.
const MAX_OPEN: usize = 256;

/// The longest name of an entity, `&` and `;` included.
const MAX_ENTITY: usize = 34;

/// The lines of an HTML text, not yet cleaned. Block elements, rows and list items end a line; head, style, script
/// and hidden elements are left out.
pub fn lines(html: &str) -> Vec<TextLine> {
    let mut scan = HtmlScanner { html, ..HtmlScanner::default() };
    scan.run();
    scan.end_line();
    scan.lines
}

#[derive(Clone, Copy, Default)]
struct ElementContext {
    hidden: bool,
    quoted: bool,
    signature: bool,
    keep_blanks: bool,
}

#[derive(Default)]
struct HtmlScanner<'a> {
    html: &'a str,
    at: usize,
    open: Vec<(String, ElementContext)>,
    context: ElementContext,
    /// The line being put together, and its layer once it has a character.
    line: String,
    layer: Option<Layer>,
    /// A blank is due before the next character.
    blank: bool,
    lines: Vec<TextLine>,
}

impl<'a> HtmlScanner<'a> {
    fn run(&mut self) {
        while let Some(found) = self.html[self.at..].find('<') {
            let start = self.at;
            self.text(start, start + found);
            self.at = start + found;
            self.markup();
        }
        self.text(self.at, self.html.len());
    }

    /// Reads what begins with `<`.
    fn markup(&mut self) {
        let rest = &self.html[self.at..];
        let end_of = |mark: &str| rest.find(mark).map_or(rest.len(), |found| found + mark.len());
        let after = rest[1..].chars().next();
        let length = if rest.starts_with("<!--") {
            end_of("-->")
        } else if matches!(after, Some('!' | '?')) {
            end_of(">")
        } else if after.is_some_and(|c| c.is_ascii_alphabetic() || c == '/') {
            let tag = Tag::read(rest);
            let length = tag.length;
            self.tag(&tag);
            length
        } else {
            self.push('<');
            1
        };
        self.at += length;
    }

    fn tag(&mut self, tag: &Tag<'a>) {
        let name = tag.name.as_str();
        match name {
            "br" => {
                return if !tag.closing {
                    self.break_line()
                };
            }
            "hr" => return self.end_line(),
            "td" | "th" if !tag.closing => self.blank = true,
            _ if is_block(name) => self.end_line(),
            _ => {}
        }
        if tag.closing {
            self.close(name);
        } else if !tag.is_empty() {
            self.open(tag);
        }
    }

    fn open(&mut self, tag: &Tag<'a>) {
        let name = tag.name.as_str();
        if matches!(name, "style" | "script" | "title" | "template" | "noscript" | "xml") {
            return self.skip_raw(tag);
        }
        // These end one another where their end tags are left out.
        if matches!(name, "p" | "li" | "tr" | "td" | "th" | "option")
            && self.open.last().is_some_and(|o| o.0 == name)
        {
            self.close(name);
        }
        let outer = self.context;
        let style = tag.style();
        let context = ElementContext {
            hidden: outer.hidden || name == "head" || tag.is_hidden(&style),
            quoted: outer.quoted || tag.is_quote(&style),
            signature: outer.signature || tag.is_signature(),
            keep_blanks: (outer.keep_blanks || name == "pre" || style.contains("white-space:pre"))
                && !style.contains("white-space:normal"),
        };
        if self.open.len() < MAX_OPEN {
            self.open.push((tag.name.clone(), outer));
            self.context = context;
        }
    }

    fn close(&mut self, name: &str) {
        if let Some(found) = self.open.iter().rposition(|(open, _)| open == name) {
            self.context = self.open[found].1;
            self.open.truncate(found);
        }
    }

    /// Passes over the whole of an element whose content is no text.
    fn skip_raw(&mut self, tag: &Tag<'a>) {
        let inside = self.at + tag.length;
        let end = find_end_tag(&self.html[inside..], &tag.name).unwrap_or(self.html.len() - inside);
        // `markup` adds the tag's own length.
        self.at += end;
    }

    fn text(&mut self, from: usize, to: usize) {
        if self.context.hidden {
            return;
        }
        let mut rest = &self.html[from..to];
        while let Some(c) = rest.chars().next() {
            let (length, decoded) = if c == '&' { entity(rest) } else { (c.len_utf8(), None) };
            match decoded {
                Some(text) => text.chars().for_each(|c| self.push(c)),
                None => self.push(c),
            }
            rest = &rest[length..];
        }
    }

    fn push(&mut self, c: char) {
        if self.context.hidden {
            return;
        }
        match c {
            '\n' if self.context.keep_blanks => return self.break_line(),
            '\r' if self.context.keep_blanks => return,
            ' ' | '\t' if self.context.keep_blanks => {}
            ' ' | '\t' | '\n' | '\r' | '\u{c}' => {
                self.blank = true;
                return;
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
    }

    fn layer(&self) -> Layer {
        match self.context {
            ElementContext { quoted: true, .. } => Layer::Quoted,
            ElementContext { signature: true, .. } => Layer::Signature,
            _ => Layer::Unmarked,
        }
    }

    /// A line break that was asked for: the line may be a blank one.
    fn break_line(&mut self) {
        if self.context.hidden {
            return;
        }
        let layer = self.layer.take().unwrap_or_else(|| self.layer());
        self.lines.push(TextLine { layer, depth: 0, indent: 0, text: std::mem::take(&mut self.line) });
        self.blank = false;
    }

    /// The end of a block: ends a line if one was begun.
    fn end_line(&mut self) {
        self.blank = false;
        if let Some(layer) = self.layer.take() {
            self.lines.push(TextLine { layer, depth: 0, indent: 0, text: std::mem::take(&mut self.line) });
        }
    }
}

/// The offset of `</name` in `text`, in any case.
fn find_end_tag(text: &str, name: &str) -> Option<usize> {
    text.match_indices("</").map(|(at, _)| at).find(|at| {
        text.as_bytes()
            .get(at + 2..at + 2 + name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    })
}

/// The length of the entity that `text` begins with, and what it stands for.
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

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "center"
            | "dd"
            | "details"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "html"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "option"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "tfoot"
            | "thead"
            | "tr"
            | "ul"
            | "caption"
            | "head"
            | "o:p"
    ) && name != "o:p"
}

struct Tag<'a> {
    name: String,
    closing: bool,
    attributes: Vec<(String, &'a str)>,
    /// From `<` to `>`.
    length: usize,
}

impl<'a> Tag<'a> {
    fn read(text: &'a str) -> Tag<'a> {
        let bytes = text.as_bytes();
        let closing = bytes.get(1) == Some(&b'/');
        let mut at = 1 + usize::from(closing);
        let run = |from: usize, stop: fn(u8) -> bool| {
            bytes[from..].iter().position(|b| stop(*b)).map_or(bytes.len(), |found| from + found)
        };
        let name_end = run(at, |b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/' | b'<'));
        let name = text[at..name_end].to_ascii_lowercase();
        let mut attributes = Vec::new();
        at = name_end;
        loop {
            at = run(at, |b| !b.is_ascii_whitespace() && b != b'/');
            match bytes.get(at) {
                None | Some(b'<') => break,
                Some(b'>') => {
                    at += 1;
                    break;
                }
                Some(_) => {}
            }
            let key_end = run(at + 1, |b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/' | b'='));
            let key = text.get(at..key_end).unwrap_or_default().to_ascii_lowercase();
            at = run(key_end, |b| !b.is_ascii_whitespace());
            let mut value = "";
            if bytes.get(at) == Some(&b'=') {
                at = run(at + 1, |b| !b.is_ascii_whitespace());
                let (from, to, next) = match bytes.get(at) {
                    Some(quote @ (b'"' | b'\'')) => {
                        let to = bytes[at + 1..]
                            .iter()
                            .position(|b| b == quote)
                            .map_or(bytes.len(), |n| at + 1 + n);
                        (at + 1, to, (to + 1).min(bytes.len()))
                    }
                    _ => {
                        let to = run(at, |b| b.is_ascii_whitespace() || b == b'>');
                        (at, to, to)
                    }
                };
                value = text.get(from..to).unwrap_or_default();
                at = next;
            }
            if attributes.len() < 32 {
                attributes.push((key, value));
            }
        }
        Tag { name, closing, attributes, length: at.max(1) }
    }

    fn attribute(&self, key: &str) -> &'a str {
        self.attributes.iter().find(|(k, _)| k == key).map_or("", |(_, value)| value)
    }

    /// Written without content, by its kind or by `/>` in the manner of XML for elements that are known by a colon.
    fn is_empty(&self) -> bool {
        matches!(
            self.name.as_str(),
            "area"
                | "base"
                | "col"
                | "embed"
                | "img"
                | "input"
                | "link"
                | "meta"
                | "param"
                | "source"
                | "track"
                | "wbr"
        )
    }

    /// The style in lower case without blanks.
    fn style(&self) -> String {
        self.attribute("style").chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
    }

    fn is_hidden(&self, style: &str) -> bool {
        self.attributes.iter().any(|(key, _)| key == "hidden")
            || ["display:none", "visibility:hidden", "mso-hide:all", "max-height:0"]
                .iter()
                .any(|s| style.contains(s))
            || style.split(';').any(|rule| matches!(rule, "font-size:0" | "font-size:0px" | "opacity:0"))
    }

    /// Whether a client puts this element round what it quotes, or round the line that leads to it.
    fn is_quote(&self, style: &str) -> bool {
        let class = self.attribute("class").to_ascii_lowercase();
        let id = self.attribute("id").to_ascii_lowercase();
        if self.name == "blockquote" {
            // Gmail and others indent what a person writes with a blockquote that has no border.
            let cited = self.attribute("type") == "cite"
                || class.contains("quote")
                || !self.attribute("cite").is_empty();
            return cited || !style.contains("border:none") && !style.contains("border:0");
        }
        const NAMES: [&str; 14] = [
            "gmail_attr",
            "yahoo_quoted",
            "moz-cite-prefix",
            "moz-email-headers-table",
            "protonmail_quote",
            "zmail_extra",
            "tutanota_quote",
            "olk_src_body_section",
            "reply-intro",
            "quoted-content",
            "wordquote",
            "replyforwardcontainer",
            "mailquote",
            "history_container",
        ];
        let named = |text: &str| NAMES.iter().any(|name| text.contains(name));
        named(&class)
            || named(&id)
            || matches!(self.attribute("name"), "quote" | "quoted-content" | "messageReplySection")
    }

    fn is_signature(&self) -> bool {
        const NAMES: [&str; 9] = [
            "gmail_signature",
            "moz-signature",
            "applemailsignature",
            "protonmail_signature_block",
            "ms-outlook-mobile-signature",
            "composer_signature",
            "ymail_android_signature",
            "bloop_sign",
            "k9mail-signature",
        ];
        let class = self.attribute("class").to_ascii_lowercase();
        let id = self.attribute("id").to_ascii_lowercase();
        NAMES.iter().any(|name| class.contains(name) || id.contains(name))
            || id == "signature"
            || id == "_signature"
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(html: &str) -> Vec<String> {
        lines(html).into_iter().filter(|line| line.layer == Layer::Unmarked).map(|line| line.text).collect()
    }

    #[test]
    fn blocks_rows_and_items_end_a_line() {
        assert_eq!(
            written(
                "<html><head><title>x</title><style>p{}</style></head><body><p>SHIP 1<br>HOLD<div>a  b\n c</div><ul><li>d<li>e</ul><table><tr><td>f</td><td>g</td></tr><tr><td>h</table>"
            ),
            ["SHIP 1", "HOLD", "a b c", "d", "e", "f g", "h"]
        );
        assert_eq!(
            written("<pre>a\n  b</pre><div><br></div>&lt;c&gt;&amp;&nbsp;&#66;&#x43;"),
            ["a", "  b", "", "<c>&\u{a0}BC"]
        );
    }

    #[test]
    fn what_is_hidden_is_no_text() {
        assert_eq!(
            written(
                "<script>HOLD</script><span style='DISPLAY: None'>x<b>y</b></span><p hidden>z</p><!-- <p>q --> ok <p>1 < 2"
            ),
            ["ok", "1 < 2"]
        );
    }

    #[test]
    fn quotes_are_known_by_their_elements() {
        assert_eq!(written("a<blockquote type=cite>b<blockquote>c</blockquote></blockquote>d"), ["a", "d"]);
        assert_eq!(
            written("a<blockquote style='margin:0 0 0 40px;border:none;padding:0px'>b</blockquote>"),
            ["a", "b"]
        );
        assert_eq!(
            written(
                "<div>a</div><div class=\"gmail_quote\"><div class=gmail_attr>On … wrote:</div><blockquote class=\"gmail_quote\">q</blockquote><div>b</div></div>"
            ),
            ["a", "b"]
        );
        assert_eq!(written("a<div id='ydp1yahoo_quoted_2'><div>On … wrote:</div><div>q</div></div>"), ["a"]);
        assert_eq!(written("a<div name=\"quote\">q</div><div class='gmail_signature'>s</div>"), ["a"]);
    }

    proptest! {
        #[test]
        fn scanning_never_panics(html in "(<|>|/|!--|-->|&|;|nbsp|#x4|div|p|style|pre| |=|'|\"|ä|\n|blockquote|script){0,80}") {
            let _ = lines(&html);
        }
    }
}

//! The lines of a letter's text, before the new ones are separated from the rest.

use std::borrow::Cow;

use crate::mail::limits::{LineBudget, UnreadableReason};

/// Minimum lines of a quote by bars.
const MIN_BARRED: usize = 6;

/// Minimum empty lines among them.
const MIN_EMPTY: usize = 2;

/// The layer of a letter to which markup or a prefix assigns a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    Unmarked,
    /// After `>`, or in an HTML element for quotes.
    Quoted,
    /// In an HTML element for signatures.
    Signature,
    /// In an HTML element for the line that introduces a quote. A person who types above that line types into the
    /// element too; `introduction::settle` replaces this layer.
    Introduction,
    /// In an HTML element for a quote and the line that introduces it; replaced in the same way.
    Container,
}

/// A line without its quote prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine {
    pub layer: Layer,
    /// Number of `>` in its prefix.
    pub depth: usize,
    /// Leading spaces of the raw line; always 0 in HTML.
    pub indent: usize,
    pub text: String,
}

impl TextLine {
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Whether it is indented, as quotes are in some programs.
    pub fn is_indented(&self) -> bool {
        self.indent >= 2
    }
}

/// Splits a cleaned plain text into lines. `flowed` is `format=flowed` (RFC 3676), `del_sp` its `DelSp=yes`.
///
/// # Errors
/// [`UnreadableReason::TooManyLines`] if the budget is too small for the lines.
pub fn plain_lines(
    text: &str,
    flowed: bool,
    del_sp: bool,
    budget: &mut LineBudget,
) -> Result<Vec<TextLine>, UnreadableReason> {
    let mut lines: Vec<TextLine> = Vec::new();
    // The depth of the last line, if it continues on the next.
    let mut open: Option<usize> = None;
    let is_barred = is_quoted_by_bars(text);
    let marked = |raw| match str::strip_prefix(raw, '|').filter(|_| is_barred) {
        Some(quoted) => Cow::Owned(format!(">{quoted}")),
        None => Cow::Borrowed(raw),
    };
    let mut raws = text.lines().map(marked).peekable();
    while let Some(raw) = raws.next() {
        // A program writes one kind of prefix. Above a bare `>`, `HOLD> Turn 4` was typed into the quote.
        let raw = raw.as_ref();
        let is_above_quote = raws.peek().is_some_and(|below| below.starts_with('>'));
        let is_typed = is_above_quote && raw.starts_with(char::is_alphabetic);
        let (depth, mut rest) = if is_typed { (0, raw) } else { quote_prefix(raw, flowed) };
        if flowed {
            rest = rest.strip_prefix(' ').unwrap_or(rest);
        }
        let layer = if depth > 0 { Layer::Quoted } else { Layer::Unmarked };
        let continues = flowed && rest.ends_with(' ') && rest != "-- ";
        let part = if continues && del_sp { &rest[..rest.len() - 1] } else { rest };
        match lines.last_mut() {
            Some(last) if open == Some(depth) && rest != "-- " => last.text.push_str(part),
            last => {
                // Count the previous line now that it is complete.
                last.map_or(Ok(()), |last| budget.take(last.text.len()))?;
                lines.push(TextLine { layer, depth, indent: indent(raw), text: part.to_owned() });
            }
        }
        open = continues.then_some(depth);
    }
    lines.last().map_or(Ok(()), |last| budget.take(last.text.len()))?;
    for line in &mut lines {
        let end = if line.text == "-- " { 3 } else { line.text.trim_end().len() };
        line.text.truncate(end);
    }
    remove_code_bars(&mut lines);
    Ok(lines)
}

/// Whether a letter is quoted by `|` at the beginning of its lines. Our examples begin with a bar too, but there are no
/// empty lines among them, and in a table there are none either.
fn is_quoted_by_bars(text: &str) -> bool {
    let barred = text.lines().filter(|line| line.starts_with('|')).count();
    let empty = text.lines().filter(|line| line.trim_end() == "|").count();
    barred >= MIN_BARRED && empty >= MIN_EMPTY
}

/// Removes the bars that Thunderbird writes around an HTML element for code, which may have several lines: `|HOLD|` and,
/// around an example of ours, `|| HOLD|`. They touch what they enclose. The rows of a table, which have bars between
/// their cells, are kept.
fn remove_code_bars(lines: &mut [TextLine]) {
    // The last line with a bar that no other has closed.
    let mut opening: Option<usize> = None;
    for at in 0..lines.len() {
        let text = lines[at].text.as_str();
        let start = text.len() - text.trim_start().len();
        let bars = text.matches('|').count();
        let opens = text[start..].starts_with('|')
            && text[start + 1..].starts_with(|c: char| c == '|' || touches_bar(c));
        let closes = text.strip_suffix('|').is_some_and(|rest| rest.ends_with(touches_bar));
        let is_example = text[start..].starts_with("||") || text[start..].starts_with("| ");
        if text.is_empty() {
            opening = None;
        } else if closes && opens && (bars == 2 || is_example) {
            lines[at].text.pop();
            lines[at].text.remove(start);
            opening = None;
        } else if closes && (bars == 1 || bars == 2 && is_example) {
            lines[at].text.pop();
            if let Some(opening) = opening.take() {
                let text = &mut lines[opening].text;
                text.remove(text.len() - text.trim_start().len());
            }
        } else if opens && (bars == 1 || is_example) {
            opening = Some(at);
        }
    }
}

/// Whether a bar beside the character may enclose it.
fn touches_bar(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '*' | '"' | '\'' | '.' | '!' | '?' | ')' | '#')
}

/// Counts the leading spaces.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the quote depth of a line, and the text after its prefix. Ignores blanks before and between the
/// `>`, and the name that some programs put before them (`AB> `, `Ann> `).
fn quote_prefix(line: &str, flowed: bool) -> (usize, &str) {
    let mut rest = line;
    let mut depth = 0;
    // Supercite's attribution: `>>>>> "Ann" == Ann Smith <ann@example.org> writes:`.
    if line.starts_with(">>>>> \"") && line.contains("\" == ") {
        return (0, line.trim_start_matches('>'));
    }
    loop {
        let trimmed = if flowed && depth > 0 { rest } else { rest.trim_start_matches([' ', '\t']) };
        // A rule in the header tables of old Notes versions: `  >------------|`.
        if depth == 0 && trimmed.starts_with(">-----") && trimmed.trim_end().ends_with('|') {
            return (0, line);
        }
        match trimmed.strip_prefix('>') {
            Some(after) => {
                depth += 1;
                rest = after;
            }
            // The quote prefix of s-nail.
            None if depth == 0 && line.starts_with(" |") => return (1, &line[2..]),
            None if depth == 0 => match strip_name_prefix(trimmed) {
                Some(after) => {
                    depth = 1;
                    rest = after;
                }
                None => return (0, line),
            },
            None => return (depth, if flowed { rest } else { rest.strip_prefix(' ').unwrap_or(rest) }),
        }
    }
}

/// Returns the text after `AB>` or `Ann> `. An order such as `A3> B2` has no such prefix: it has a digit.
fn strip_name_prefix(line: &str) -> Option<&str> {
    let (name, after) = line.split_at_checked(line.bytes().take(16).position(|b| b == b'>')?)?;
    let after = &after[1..];
    let initials = name.len() <= 3 && name.bytes().all(|b| b.is_ascii_uppercase()) && !after.starts_with('=');
    let word = name.chars().all(char::is_alphabetic) && (after.is_empty() || after.starts_with([' ', '>']));
    (!name.is_empty() && (initials || word)).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::limits::Limits;

    fn shown(text: &str, flowed: bool, del_sp: bool) -> Vec<String> {
        plain_lines(text, flowed, del_sp, &mut LineBudget::new(&Limits::default()))
            .expect("few lines")
            .into_iter()
            .map(|line| format!("{}{}", if line.layer == Layer::Quoted { "Q:" } else { "" }, line.text))
            .collect()
    }

    #[test]
    fn flowed_lines_are_joined_within_their_depth() {
        assert_eq!(
            shown("SHIP 1 TO \nB2\n> quoted \n> more\n>> deep\n From stuffed\n-- \nAnn", true, false),
            ["SHIP 1 TO B2", "Q:quoted more", "Q:deep", "From stuffed", "-- ", "Ann"]
        );
        assert_eq!(shown("CAP \nTURE", true, true), ["CAPTURE"]);
        assert_eq!(shown("a \nb", false, false), ["a", "b"]);
    }

    #[test]
    fn the_bars_around_code_are_removed() {
        for (line, without) in [
            ("|MARBLE G7|", "MARBLE G7"),
            ("  |E6* F5|", "  E6* F5"),
            ("MARBLE G7|", "MARBLE G7"),
            ("|| MARBLE F5|", "| MARBLE F5"),
            ("> || MARBLE F5|", "Q:| MARBLE F5"),
            ("| MARBLE F5|", "| MARBLE F5"),
            ("|| STAR E6 | MARBLE F5|", "| STAR E6 | MARBLE F5"),
            ("|STAR E6 MARBLE F5|", "STAR E6 MARBLE F5"),
        ] {
            assert_eq!(shown(line, false, false), [without]);
        }
        for kept in [
            "| A1 | A2 |",
            "|A1|A2|",
            "A1 | A2|",
            "| A1 |",
            "|------|",
            "|",
            "||",
            "| MARBLE F5",
            "|MARBLE F5",
            "a |",
        ] {
            assert_eq!(shown(kept, false, false), [kept]);
        }
    }

    #[test]
    fn bars_before_all_lines_are_quote_prefixes() {
        let quoted = "| Turn 3 is open.\n|\n|     | MARBLE F5\nMARBLE G7\n|\n| Turn 3 waits.\n| Bye";
        assert_eq!(
            shown(quoted, false, false),
            ["Q:Turn 3 is open.", "Q:", "Q:    | MARBLE F5", "MARBLE G7", "Q:", "Q:Turn 3 waits.", "Q:Bye"]
        );
        for kept in ["| MARBLE F5", "| A1 | A2 |"] {
            let text = [kept; 9].join("\n");
            assert_eq!(shown(&text, false, false), [kept; 9]);
        }
    }

    #[test]
    fn quote_prefixes_of_many_programs_are_stripped() {
        assert_eq!(
            shown("> a\n>b\n  > c\n> > d\nAB> e\n    Ann> f\nA3 > B2\nA3> B2\n>", false, false),
            ["Q:a", "Q:b", "Q:c", "Q:d", "Q:e", "Q:f", "A3 > B2", "A3> B2", "Q:"]
        );
        assert_eq!(
            shown(" |a\n ||    | b\n    | c\n| d\n  >-------|", false, false),
            ["Q:a", "Q:|    | b", "    | c", "| d", "  >-------|"]
        );
    }
}

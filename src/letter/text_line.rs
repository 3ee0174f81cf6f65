//! A letter's text as lines, before it is known which of them were written now.

/// What the text's own form says of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    Unmarked,
    /// Behind `>`, or in an element for quotes.
    Quoted,
    /// In an element for signatures, or behind `-- ` in flowed text.
    Signature,
}

/// One line, without its quote prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine {
    pub layer: Layer,
    /// How many `>` stood before it.
    pub depth: usize,
    /// How far it was set in, with the `>` before it; always 0 in HTML.
    pub indent: usize,
    pub text: String,
}

impl TextLine {
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Whether it is set in as some programs set in what they quote.
    pub fn is_set_in(&self) -> bool {
        self.indent >= 2
    }
}

/// The lines of a cleaned plain text. `flowed`: `format=flowed` (RFC 3676); `del_sp`: its `DelSp=yes`.
pub fn plain_lines(text: &str, flowed: bool, del_sp: bool) -> Vec<TextLine> {
    let mut lines: Vec<TextLine> = Vec::new();
    // The depth of the line before, if it goes on in the next.
    let mut open: Option<usize> = None;
    for raw in text.lines() {
        let (depth, mut rest) = quote_prefix(raw, flowed);
        if flowed {
            rest = rest.strip_prefix(' ').unwrap_or(rest);
        }
        let layer = if depth > 0 { Layer::Quoted } else { Layer::Unmarked };
        let goes_on = flowed && rest.ends_with(' ') && rest != "-- ";
        let part = if goes_on && del_sp { &rest[..rest.len() - 1] } else { rest };
        match lines.last_mut() {
            Some(last) if open == Some(depth) && rest != "-- " => last.text.push_str(part),
            _ => lines.push(TextLine { layer, depth, indent: indent(raw), text: part.to_owned() }),
        }
        open = goes_on.then_some(depth);
    }
    for line in &mut lines {
        let end = if line.text == "-- " { 3 } else { line.text.trim_end().len() };
        line.text.truncate(end);
    }
    lines
}

/// How many columns of blanks stand before a line.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The quote depth of a line, and what stands behind the prefix. Blanks before and between the `>` do not matter,
/// nor does the name that some clients put before them (`AB> `, `Ann> `).
fn quote_prefix(line: &str, flowed: bool) -> (usize, &str) {
    let mut rest = line;
    let mut depth = 0;
    // Supercite's attribution: `>>>>> "Ann" == Ann Smith <ann@example.org> writes:`.
    if line.starts_with(">>>>> \"") && line.contains("\" == ") {
        return (0, line.trim_start_matches('>'));
    }
    loop {
        let trimmed = if flowed && depth > 0 { rest } else { rest.trim_start_matches([' ', '\t']) };
        // A rule in the header tables of old Notes: `  >------------|`.
        if depth == 0 && trimmed.starts_with(">-----") && trimmed.trim_end().ends_with('|') {
            return (0, line);
        }
        match trimmed.strip_prefix('>') {
            Some(behind) => {
                depth += 1;
                rest = behind;
            }
            // The quotes of s-nail.
            None if depth == 0 && line.starts_with(" |") => return (1, &line[2..]),
            None if depth == 0 => match behind_name(trimmed) {
                Some(behind) => {
                    depth = 1;
                    rest = behind;
                }
                None => return (0, line),
            },
            None => return (depth, if flowed { rest } else { rest.strip_prefix(' ').unwrap_or(rest) }),
        }
    }
}

/// What stands behind `AB>` or `Ann> `.
fn behind_name(line: &str) -> Option<&str> {
    let (name, behind) = line.split_at_checked(line.bytes().take(16).position(|b| b == b'>')?)?;
    let behind = &behind[1..];
    let initials =
        name.len() <= 3 && name.bytes().all(|b| b.is_ascii_uppercase()) && !behind.starts_with('=');
    let word = name.chars().all(char::is_alphabetic) && (behind.is_empty() || behind.starts_with([' ', '>']));
    (!name.is_empty() && (initials || word)).then_some(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, flowed: bool, del_sp: bool) -> Vec<String> {
        plain_lines(text, flowed, del_sp)
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
    fn prefixes_of_all_sorts_mark_a_quote() {
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

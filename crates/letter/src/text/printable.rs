//! Makes text from strangers safe to print: in a list, on a terminal, in a log.
//!
//! Names, subjects, addresses and servers' answers may hold escape sequences that rewrite the terminal, line
//! breaks that forge a log entry, or direction controls that show a name backwards. Each such character
//! becomes [`REPLACEMENT`], so that it is visible and has no other effect.

use std::borrow::Cow;

/// Stands for a character that must not be printed.
pub const REPLACEMENT: char = '\u{fffd}';

/// Whether a character is safe to print: not a control (C0, DEL, C1), line or paragraph separator, direction
/// control, invisible annotation or tag.
pub fn is_printable(c: char) -> bool {
    !(c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'))
}

/// Makes a text safe to print on one line.
pub fn printable_line(text: &str) -> Cow<'_, str> {
    replace_unless(text, is_printable)
}

/// Makes a text of several lines safe to print. Line feeds and tabs stay.
pub fn printable_text(text: &str) -> Cow<'_, str> {
    replace_unless(text, |c| is_printable(c) || matches!(c, '\n' | '\t'))
}

/// Makes JSON safe to print without changing its meaning: such characters can occur only in its strings,
/// where an escape means the same.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    if json.chars().all(|c| is_printable(c) || c == '\n') {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_printable(c) || c == '\n' {
            out.push(c);
        } else {
            // Beyond U+FFFF, JSON escapes a character as a pair.
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    Cow::Owned(out)
}

fn replace_unless(text: &str, is_fit: impl Fn(char) -> bool) -> Cow<'_, str> {
    match text.chars().all(&is_fit) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.chars().map(|c| if is_fit(c) { c } else { REPLACEMENT }).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_line_breaks_and_direction_controls_are_replaced_and_letters_stay() {
        assert_eq!(
            printable_line("Bo\u{1b}[2J\r\nroot\u{9b}1m\u{7f}"),
            "Bo\u{fffd}[2J\u{fffd}\u{fffd}root\u{fffd}1m\u{fffd}"
        );
        assert_eq!(
            printable_line("a\u{202e}b\u{2066}c\u{2028}d\u{e0041}"),
            "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}"
        );
        let plain = "Grüße, Άννα 👩\u{200d}🚀 \u{fffd} «…» a\u{301}";
        assert!(matches!(printable_line(plain), Cow::Borrowed(same) if same == plain));
        assert_eq!(printable_text("a\n\tb\rc"), "a\n\tb\u{fffd}c");
    }

    #[test]
    fn escaped_json_means_the_same() {
        let name = "a\u{9b}\u{202e}\u{7f}\u{e0041}\n\u{1b}";
        let json = serde_json::to_string(name).expect("a string is JSON");
        let printed = printable_json(&json);
        assert!(printed.chars().all(is_printable), "{printed}");
        assert_eq!(serde_json::from_str::<String>(&printed).expect("JSON"), name);
    }
}

//! Normalises the characters of a text: removes invisible ones and replaces typographic ones by plain ones.
//!
//! Look-alike letters of other scripts are replaced only in orders, not in all text: see [`latin`].

/// The indentation that replaces a tab at the start of a line.
const TAB: &str = "        ";

/// Returns the text with `\n` as line breaks, without invisible characters, and with plain blanks, quotes,
/// dashes and arrows instead of typographic and full-width ones.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                if chars.peek() == Some(&'\n') {
                    chars.next();
                }
                out.push('\n');
            }
            '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            ' '..='~' => out.push(c),
            // Distinguishes indentation from the spaces between words.
            '\t' if out.is_empty() || out.ends_with('\n') => out.push_str(TAB),
            _ if is_invisible(c) => {}
            _ if is_blank(c) => out.push(' '),
            _ => match plain_form(c) {
                Some(plain) => out.push_str(plain),
                None => out.push(full_width(c).unwrap_or(c)),
            },
        }
    }
    out
}

/// Whether a character is invisible: byte-order marks, zero-width characters, soft hyphens, directional
/// marks, variation selectors, controls.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
        || c.is_control() && c != '\t'
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{2800}' | '\u{3164}')
}

fn plain_form(c: char) -> Option<&'static str> {
    Some(match c {
        '‘' | '’' | '‚' | '‛' | '′' | '‵' | '´' | '‹' | '›' => "'",
        '“' | '”' | '„' | '‟' | '″' | '‶' | '«' | '»' | '〝' | '〞' => "\"",
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '﹘' | '﹣' | '⸺' | '⸻' | '➖' | '─' => {
            "-"
        }
        '→' | '➔' | '➙' | '➛' | '➜' | '➝' | '➞' | '➡' | '➤' | '⇒' | '⇢' | '⇨' | '⟶' | '⟹' | '⮕' | '►'
        | '▶' => "->",
        '…' => "...",
        '。' | '．' => ".",
        '、' | '，' => ",",
        '∕' | '⁄' => "/",
        '∗' | '⁎' | '★' | '☆' => "*",
        '｡' => ".",
        _ => return None,
    })
}

/// Returns the ASCII character for a full-width form.
fn full_width(c: char) -> Option<char> {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0),
        _ => None,
    }
}

/// Replaces Cyrillic and Greek look-alikes by Latin letters. Returns `None` if nothing changes.
///
/// A word changes as a whole or not at all: only if all its letters are Latin or look-alikes, and if there
/// are Latin letters in it or elsewhere in the line, or the line has look-alikes only. So Russian prose stays
/// Russian.
pub fn latin(line: &str) -> Option<String> {
    if line.is_ascii() {
        return None;
    }
    let latin_line = line.chars().any(|c| c.is_ascii_alphabetic())
        || line.chars().filter(|c| c.is_alphabetic()).all(|c| look_alike(c).is_some());
    let mut changed = false;
    let mut out = String::with_capacity(line.len());
    for word in line.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let letters = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let replaceable = letters.chars().all(|c| c.is_ascii_alphanumeric() || look_alike(c).is_some());
        let among_latin = latin_line || letters.chars().any(|c| c.is_ascii_alphanumeric());
        if !letters.is_ascii() && replaceable && among_latin {
            changed = true;
            out.extend(letters.chars().map(|c| look_alike(c).unwrap_or(c)));
            out.push_str(&word[letters.len()..]);
        } else {
            out.push_str(word);
        }
    }
    changed.then_some(out)
}

/// Returns the Latin letter or the digit that a letter looks like: Cyrillic ones come first, then Greek ones.
fn look_alike(c: char) -> Option<char> {
    Some(match c {
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'С' => 'C',
        'Е' | 'Ё' | 'Ε' => 'E',
        'Ԍ' => 'G',
        'Н' | 'Η' => 'H',
        'І' | 'Ї' | 'Ӏ' | 'Ι' => 'I',
        'Ј' => 'J',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'Ν' => 'N',
        'О' | 'Ο' => 'O',
        'Р' | 'Ρ' => 'P',
        'Ԛ' => 'Q',
        'Ѕ' => 'S',
        'Т' | 'Τ' => 'T',
        'Ѵ' => 'V',
        'Ԝ' => 'W',
        'Х' | 'Χ' => 'X',
        'У' | 'Ү' | 'Υ' => 'Y',
        'Ζ' => 'Z',
        'а' | 'α' => 'a',
        'в' => 'b',
        'с' => 'c',
        'ԁ' => 'd',
        'е' | 'ё' => 'e',
        'һ' | 'н' => 'h',
        'і' | 'ї' | 'ӏ' | 'ι' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'м' => 'm',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' => 'u',
        'ѵ' | 'ν' => 'v',
        'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'ү' => 'y',
        'З' => '3',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn invisible_characters_are_removed_and_typographic_ones_replaced() {
        assert_eq!(clean("\u{feff}SHIP\u{a0}1\u{200b} TO B\u{ad}2\u{202e}"), "SHIP 1 TO B2");
        assert_eq!(clean("ＳＨＩＰ　１：Ａ３"), "SHIP 1:A3");
        assert_eq!(clean("A3 → B2, D2–E4, “hm” it’s…"), "A3 -> B2, D2-E4, \"hm\" it's...");
        assert_eq!(clean("a\r\nb\rc\u{2028}d\u{b}e"), "a\nb\nc\nd\ne");
        assert_eq!(clean("a\tb\u{0}c\n\td"), "a bc\n        d");
    }

    #[test]
    fn look_alikes_are_replaced_only_among_latin_letters() {
        assert_eq!(latin("ЅНІР 1 ТО А3").as_deref(), Some("SHIP 1 TO A3"));
        assert_eq!(latin("SHIP 1 TO В2").as_deref(), Some("SHIP 1 TO B2"));
        assert_eq!(latin("НОLD").as_deref(), Some("HOLD"));
        assert_eq!(latin("SHIP 1 TO B2"), None);
        assert_eq!(latin("Спасибо, сосна растёт"), None);
        assert_eq!(latin("Grüße aus Köln"), None);
    }

    proptest! {
        #[test]
        fn cleaning_is_idempotent(text in ".*") {
            let once = clean(&text);
            prop_assert_eq!(clean(&once), once.clone());
            let _ = latin(&once);
        }
    }
}

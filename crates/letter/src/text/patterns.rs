//! Words in a text, and names, addresses and dates in a line, which show that it refers to a letter.

/// Returns the words of a text; an apostrophe also separates words.
pub fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether `text` contains `word` as a whole word. In scripts without spaces between words (U+0E00 and
/// above), any occurrence counts.
pub fn has_word(text: &str, word: &str) -> bool {
    let letter = |c: char| c.is_alphabetic() && (c as u32) < 0x0e00;
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(letter)
            && !text[at + word.len()..].chars().next().is_some_and(letter)
    })
}

/// Whether `text` contains something like `a@b`.
pub fn has_address(text: &str) -> bool {
    text.match_indices('@').any(|(at, _)| {
        text[..at].chars().next_back().is_some_and(char::is_alphanumeric)
            && text[at + 1..].chars().next().is_some_and(char::is_alphanumeric)
    })
}

/// Whether `text` contains a time of day, such as `8:01` or `20:01`.
pub fn has_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.windows(4).any(|four| four[1] == b':' && [four[0], four[2], four[3]].iter().all(u8::is_ascii_digit))
}

/// Whether `text` contains a year, a time of day, or two numbers as in a date.
pub fn has_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len()).any(|at| is_year(bytes, at) || is_time(bytes, at) || is_day_and_month(bytes, at))
}

fn is_digit(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(u8::is_ascii_digit)
}

/// Whether a year of this or the last century is at `at`.
fn is_year(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at..at + 2), Some(b"20" | b"19"))
        && is_digit(bytes, at + 2)
        && is_digit(bytes, at + 3)
        && !is_digit(bytes, at + 4)
        && (at == 0 || !is_digit(bytes, at - 1))
}

/// Whether the end of a time of day, such as `8:01`, `8.01` or `8h01`, is at `at`.
fn is_time(bytes: &[u8], at: usize) -> bool {
    is_digit(bytes, at)
        && matches!(bytes.get(at + 1), Some(b':' | b'.' | b'h'))
        && is_digit(bytes, at + 2)
        && is_digit(bytes, at + 3)
}

/// Whether two numbers as in `20.11.`, `11/20` or `11-20` meet at `at`.
fn is_day_and_month(bytes: &[u8], at: usize) -> bool {
    is_digit(bytes, at) && matches!(bytes.get(at + 1), Some(b'/' | b'.' | b'-')) && is_digit(bytes, at + 2)
}

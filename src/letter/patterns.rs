//! Names, addresses and dates in a line, which show that it refers to a letter.

/// Whether `text` contains `word` as a whole word. In scripts without spaces between words (U+0E00 and above), any
/// occurrence counts.
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
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let year = |at: usize| {
        (text.get(at..at + 2) == Some("20") || text.get(at..at + 2) == Some("19"))
            && digit(at + 2)
            && digit(at + 3)
            && !digit(at + 4)
            && (at == 0 || !digit(at - 1))
    };
    let time = |at: usize| {
        digit(at) && matches!(bytes.get(at + 1), Some(b':' | b'.' | b'h')) && digit(at + 2) && digit(at + 3)
    };
    let date =
        |at: usize| digit(at) && matches!(bytes.get(at + 1), Some(b'/' | b'.' | b'-')) && digit(at + 2);
    (0..bytes.len()).any(|at| year(at) || time(at) || date(at))
}

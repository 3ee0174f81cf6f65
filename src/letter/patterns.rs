//! By what a line shows that it tells of a letter: names, addresses, dates.

/// Whether `text` holds `word` with no letter on either side (where the script parts its words at all).
pub fn has_word(text: &str, word: &str) -> bool {
    let letter = |c: char| c.is_alphabetic() && (c as u32) < 0x0e00;
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(letter)
            && !text[at + word.len()..].chars().next().is_some_and(letter)
    })
}

/// Something like `a@b`.
pub fn has_address(text: &str) -> bool {
    text.match_indices('@').any(|(at, _)| {
        text[..at].chars().next_back().is_some_and(char::is_alphanumeric)
            && text[at + 1..].chars().next().is_some_and(char::is_alphanumeric)
    })
}

/// A time of day, as `8:01` or `20:01`.
pub fn has_time(text: &str) -> bool {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    text.match_indices(':').any(|(at, _)| {
        let mut behind = text[at + 1..].chars();
        digit(text[..at].chars().next_back()) && digit(behind.next()) && digit(behind.next())
    })
}

/// A year, or a time of day.
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

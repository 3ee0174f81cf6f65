//! What follows the commands by which somebody says who wrote a letter in their name.

/// What a command says, or what is wrong with it and a correct example.
type Parsed<T> = Result<T, (String, &'static str)>;

/// Parses what follows CONFIRM: a code, and perhaps ALWAYS before or after it. Returns both.
pub fn confirm(rest: &[&str]) -> Parsed<(String, bool)> {
    let (always, words): (Vec<&str>, Vec<&str>) =
        rest.iter().partition(|word| word.eq_ignore_ascii_case("always"));
    match words[..] {
        [code] if always.len() <= 1 && is_code(code) => Ok((code.to_owned(), !always.is_empty())),
        _ => Err(("CONFIRM wants the code of my letter that asked you.".to_owned(), "CONFIRM 7K3M9P2Q4R")),
    }
}

/// Parses what follows DENY: a code.
pub fn deny(rest: &[&str]) -> Parsed<String> {
    match rest {
        [code] if is_code(code) => Ok((*code).to_owned()),
        _ => Err(("DENY wants the code of my letter that asked you.".to_owned(), "DENY 7K3M9P2Q4R")),
    }
}

/// Whether a word can be a code. All have a digit, so that no prose does.
fn is_code(word: &str) -> bool {
    (6..=20).contains(&word.len())
        && word.chars().all(|c| c.is_ascii_alphanumeric())
        && word.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_confirmed_once_always_or_denied() {
        let code = || "7K3M9P2Q4R".to_owned();
        assert_eq!(confirm(&["7K3M9P2Q4R"]), Ok((code(), false)));
        assert_eq!(confirm(&["ALWAYS", "7K3M9P2Q4R"]), Ok((code(), true)));
        assert_eq!(confirm(&["7K3M9P2Q4R", "always"]), Ok((code(), true)));
        assert_eq!(deny(&["7K3M9P2Q4R"]), Ok(code()));
        for rest in [&[][..], &["always"], &["the", "date"], &["7K3M9P2Q4R", "7K3M9P2Q4R"], &["tomorrow"]] {
            assert!(confirm(rest).is_err() && deny(rest).is_err(), "{rest:?}");
        }
    }
}

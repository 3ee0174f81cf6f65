//! The arguments of the commands about a person's letters and addresses (CONFIRM, DENY and ADDRESS), and the
//! CONFIRM after other commands.

use crate::letter::Address;

/// The arguments of a command, or the fault in them and a correct example. The example is empty where it
/// would have to invent a code.
pub type Parsed<T> = Result<T, (String, &'static str)>;

/// Parses the arguments of CONFIRM: a code, and perhaps ALWAYS before or after it. Returns both.
pub fn confirm(rest: &[&str]) -> Parsed<(String, bool)> {
    let (always, words): (Vec<&str>, Vec<&str>) =
        rest.iter().partition(|word| word.eq_ignore_ascii_case("always"));
    match words[..] {
        [code] if always.len() <= 1 && is_code(code) => Ok((code.to_owned(), !always.is_empty())),
        _ => Err(("CONFIRM needs the code in my letter that asked you.".to_owned(), "")),
    }
}

/// Parses the argument of DENY: a code.
pub fn deny(rest: &[&str]) -> Parsed<String> {
    match rest {
        [code] if is_code(code) => Ok((*code).to_owned()),
        _ => Err(("DENY needs the code in my letter that asked you.".to_owned(), "")),
    }
}

/// Parses the arguments of ADDRESS. Returns the address, and whether to remove it: REMOVE comes before it.
pub fn address(rest: &[&str]) -> Parsed<(Address, bool)> {
    let fault = || {
        ("ADDRESS needs a mail address, or REMOVE and a mail address.".to_owned(), "ADDRESS ann@example.org")
    };
    // The sender's mail program may have added a link to the address.
    let rest = match rest {
        [rest @ .., link] if link.starts_with("<mailto") => rest,
        _ => rest,
    };
    let (rest, remove) = match rest {
        [remove, rest @ ..] if remove.eq_ignore_ascii_case("remove") => (rest, true),
        rest => (rest, false),
    };
    let word = match rest {
        [word] => word,
        // A name may come before an address in angle brackets.
        [.., word] if word.starts_with('<') => word,
        _ => return Err(fault()),
    };
    let address = if remove { Address::parse(&without_brackets(word)).ok() } else { dressed_address(word) };
    address.map(|address| (address, remove)).ok_or_else(fault)
}

/// Parses the argument of a command that counts only with CONFIRM, and returns whether it is confirmed.
pub fn parse_confirm(rest: &[&str], reason: &str, example: &'static str) -> Parsed<bool> {
    match rest {
        [] => Ok(false),
        [word] if word.eq_ignore_ascii_case("confirm") => Ok(true),
        _ => Err((reason.to_owned(), example)),
    }
}

/// Returns the address to write to in a word that a mail program may have decorated: `a@b.c<mailto:a@b.c>`.
pub fn dressed_address(word: &str) -> Option<Address> {
    Address::parse_given(&without_brackets(word)).ok()
}

fn without_brackets(word: &str) -> String {
    let bare = word.trim_start_matches(['<', '*', '[']);
    let end = bare.find(['<', '>', '*', '[', ']']).unwrap_or(bare.len());
    // The opening quote of a local part may have been removed as punctuation.
    bare[..end].trim_start_matches("mailto:").replace('"', "")
}

/// Returns the first word that is meant as a mail address but is not one that we can write to.
pub fn invalid_address<'a>(words: &[&'a str]) -> Option<&'a str> {
    words.iter().copied().find(|word| word.contains('@') && dressed_address(word).is_none())
}

/// Whether a word can be a code. All codes have a digit, so that prose is not taken for one.
fn is_code(word: &str) -> bool {
    (6..=20).contains(&word.len())
        && word.chars().all(|c| c.is_ascii_alphanumeric())
        && word.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_added_or_removed() {
        let ann = || Address::parse("ann@example.org").unwrap();
        assert_eq!(address(&["Ann@Example.org"]), Ok((ann(), false)));
        assert_eq!(address(&["remove", "<ann@example.org>"]), Ok((ann(), true)));
        assert_eq!(address(&["ann@example.org<mailto:ann@example.org>"]), Ok((ann(), false)));
        assert_eq!(address(&["ann@example.org", "<mailto:ann@example.org>"]), Ok((ann(), false)));
        assert_eq!(address(&["Ann", "Smith", "<ann@example.org>"]), Ok((ann(), false)));
        for rest in [&[][..], &["is", "unknown"], &["REMOVE"], &["ADD", "ann@example.org"], &["the@"]] {
            assert!(address(rest).is_err(), "{rest:?}");
        }
    }

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

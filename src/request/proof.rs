//! Commands by which a player says who wrote a letter in their name.

use super::command::{Command, Parsed};

/// Parses what follows CONFIRM: the notice's code, and perhaps ALWAYS before or after it.
pub fn confirm(rest: &[&str]) -> Parsed {
    let fault = || ("CONFIRM needs the code of my letter that asked you.".to_owned(), "CONFIRM 7K3M9P2Q4R");
    let is_always = |word: &&&str| word.eq_ignore_ascii_case("always");
    let always = rest.iter().any(|word| is_always(&word));
    match rest.iter().filter(|word| !is_always(word)).collect::<Vec<_>>()[..] {
        [code] if rest.len() <= 2 && is_code(code) => {
            Ok(Command::Confirm { code: (*code).to_owned(), always })
        }
        _ => Err(fault()),
    }
}

/// Parses what follows DENY: the notice's code.
pub fn deny(rest: &[&str]) -> Parsed {
    match rest {
        [code] if is_code(code) => Ok(Command::Deny((*code).to_owned())),
        _ => Err(("DENY needs the code of my letter that asked you.".to_owned(), "DENY 7K3M9P2Q4R")),
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
        let command = |always| Command::Confirm { code: "7K3M9P2Q4R".to_owned(), always };
        assert_eq!(confirm(&["7K3M9P2Q4R"]), Ok(command(false)));
        assert_eq!(confirm(&["ALWAYS", "7K3M9P2Q4R"]), Ok(command(true)));
        assert_eq!(confirm(&["7K3M9P2Q4R", "always"]), Ok(command(true)));
        assert_eq!(deny(&["7K3M9P2Q4R"]), Ok(Command::Deny("7K3M9P2Q4R".to_owned())));
        for rest in [&[][..], &["always"], &["the", "date"], &["7K3M9P2Q4R", "7K3M9P2Q4R"], &["tomorrow"]] {
            assert!(confirm(rest).is_err() && deny(rest).is_err(), "{rest:?}");
        }
    }
}

//! Recognises orders and commands by their form, without knowing the match or its game.

use super::words::VERBS;

/// Whether a line looks like an order or a command: one of our verbs in capitals or followed by a number or a
/// square, two squares and little else, or a single square.
pub fn is_request(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['-', '*', ' ']);
    if line.starts_with("TELL ") || line.starts_with("PROTEST ") {
        return true;
    }
    if line.len() > 80 || !line.is_ascii() {
        return false;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some((first, rest)) = words.split_first() else { return false };
    if let [alone] = words[..] {
        let alone = alone.trim_end_matches(['.', '!']).to_ascii_lowercase();
        if is_square(&alone)
            || matches!(alone.as_str(), "hold" | "wait" | "swap" | "draw" | "agree" | "claim")
        {
            return true;
        }
    }
    let squares = line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| is_square(word)).count();
    let capitals = !line.bytes().any(|b| b.is_ascii_lowercase());
    let numbered =
        rest.first().is_some_and(|next| is_square(next) || next.starts_with(|c: char| c.is_ascii_digit()));
    squares >= 2 && rest.len() <= 3 && line.len() <= 20
        || VERBS.contains(&first.to_ascii_lowercase()) && rest.len() <= 24 && (capitals || numbered)
}

/// Whether a line begins like an order, whatever follows it, such as an attribution that a mail program
/// joined to it.
pub fn begins_like_order(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(5).collect();
    words.first().is_some_and(|first| is_square(first)) || is_request(&words.join(" "))
}

/// Whether a word is a square, such as `A1` or `Y16`, or one after the letter of a ship class, such as `VD2`.
pub fn is_square(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    let digits = word.len() - letters;
    (1..=2).contains(&letters)
        && (1..=2).contains(&digits)
        && word[letters..].bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_commands_of_all_games_are_requests() {
        for line in [
            "SHIP 1 TO B2",
            "hold".to_uppercase().as_str(),
            "extend 5 days",
            "d3-e4",
            "VD2-D3",
            "TELL Hello",
            "- U1 C7 C4",
            "d4",
            "hold.",
        ] {
            assert!(is_request(line), "{line}");
        }
        for line in [
            "Status: 5.1.1",
            "STATUS: FAILURE_WORDS",
            "550 5.1.1 User unknown",
            "Report a problem",
            "Room B12",
            "| SHIP 1 TO B2",
            "HOST UNKNOWN",
            "move on",
        ] {
            assert!(!is_request(line), "{line}");
        }
    }
}

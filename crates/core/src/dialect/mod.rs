//! The conventions between the referee and its correspondents: orders and commands by their form, without knowing the
//! match or its game, and the marks of our own letters.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::language::LANGUAGES;
use crate::letter::Dialect;

mod subject_tag;

pub use subject_tag::{SubjectTag, own_subjects};

/// The dialect of the referee's mail. The templates of its letters hold the marks.
pub static DIALECT: Dialect = Dialect {
    is_request,
    begins_like_request,
    is_on_topic: |line| TOPIC.is_match(line),
    marker: "write your orders above this line",
    token_label: "reply token:",
    is_closing: |line| line.ends_with("the referee:") || line.contains("send help for the manual"),
    loop_field: "x-fogpost-loop",
};

/// The subject of the letter by which `fogpost doctor --send` tests whether mail arrives.
pub const DOCTOR_SUBJECT: &str = "fogpost doctor: does mail arrive?";

/// The words that begin a command or another line to the referee, in capitals. No other line of our letters
/// begins with one: if the letter came back unquoted, that line would be read.
pub const COMMAND_WORDS: [&str; 46] = [
    "ABSENT",
    "ACCEPT",
    "ADDRESS",
    "AGREE",
    "BLOCK",
    "CHALLENGE",
    "CHECK",
    "CLAIM",
    "CLOSE",
    "CONFIRM",
    "DECLINE",
    "DENY",
    "DRAW",
    "END",
    "ENTER",
    "EVENTS",
    "EXTEND",
    "GAMES",
    "GM",
    "HELP",
    "HINT",
    "HISTORY",
    "JOIN",
    "LEAVE",
    "MATCH",
    "MATCHES",
    "NEVER",
    "OPEN",
    "PROFILE",
    "PROTEST",
    "RATING",
    "RATINGS",
    "REMATCH",
    "REPORT",
    "RESIGN",
    "RULES",
    "SETTINGS",
    "STANDINGS",
    "STATUS",
    "SUBSTITUTE",
    "TELL",
    "TURN",
    "UNBLOCK",
    "WAIT",
    "WITHDRAW",
    "YES",
];

/// First words of orders, and of the commands that bounces and absence notes do not begin with either.
static VERBS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| include_str!("verbs.txt").lines().collect());

/// Vocabulary of players that machines do not use; `topic.txt` has that of further languages.
static TOPIC: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let own = LANGUAGES.iter().flat_map(|language| &language.club.topic).map(String::as_str);
    AhoCorasick::new(own.chain(include_str!("topic.txt").lines())).expect("a short list")
});

/// Whether a line looks like an order or a command: one of our verbs in capitals or followed by a number or a
/// square, two squares and little else, a single square, or a command with arguments that prose has not.
fn is_request(line: &str) -> bool {
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
        || VERBS.contains(first.to_ascii_lowercase().as_str()) && rest.len() <= 24 && (capitals || numbered)
        || COMMAND_WORDS.contains(first) && rest.iter().all(|word| is_argument(word))
}

/// Whether a word can be an argument of a command and is rare in prose: `words=off`, an address, a code, a day, CONFIRM.
fn is_argument(word: &str) -> bool {
    word.contains(|c: char| matches!(c, '=' | '@') || c.is_ascii_digit()) || COMMAND_WORDS.contains(&word)
}

/// Whether a line begins like an order, whatever follows it, such as an attribution that a mail program
/// joined to it.
fn begins_like_request(line: &str) -> bool {
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
            "WITHDRAW",
            "SETTINGS words=off zone=Europe/Berlin",
            "ADDRESS ann@new.example",
            "CONFIRM 7K3M9P2Q4R",
            "LEAVE CONFIRM",
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
            "ADDRESS REJECTED",
            "SETTINGS are nice",
            "move on",
        ] {
            assert!(!is_request(line), "{line}");
        }
    }
}

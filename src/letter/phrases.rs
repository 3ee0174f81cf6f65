//! Recognises bounces, absence notes and other automatic notices by their wording, for letters without a mark in
//! their header.
//!
//! A subject that only machines write is enough. Other wording must occur twice, because people write about mail too.

use super::automatic::{AutomaticKind, Mark};
use super::words::{
    ABSENCE_SUBJECTS, AWAY_HINTS, AWAY_SUBJECTS, AWAY_TEXT, BOUNCE_SUBJECTS, BOUNCE_TEXT, DELAY_WORDS,
    FAILURE_WORDS, GAME_WORDS, MACHINE_HINTS, MACHINE_OPENINGS, MACHINE_TEXT, NOTICE_SUBJECTS, VERBS,
};

/// The part of a letter's text that tells a machine from a person.
pub struct Excerpt {
    /// The beginning of the text, in lower case, without lines that have a quote prefix.
    pub text: String,
    /// Whether it contains an order or a command.
    pub has_request: bool,
    /// Whether it quotes something with a prefix, as people's mail programs do.
    pub has_quote: bool,
}

/// Bytes at the beginning in which a phrase of [`MACHINE_OPENINGS`] is enough.
const BEGINNING: usize = 600;

/// Maximum bytes of an absence note.
const MAX_NOTE: usize = 1500;

/// A letter with fewer bytes than this that asks a question is a person's.
const MAX_QUESTION: usize = 200;

/// Returns the mark that the wording gives, for letters whose header gives none.
pub fn mark(subject: &str, excerpt: &Excerpt) -> Option<Mark> {
    // Machines give no orders. People who do may mention bounces and absences, and even quote them.
    if excerpt.has_request {
        return None;
    }
    let text = excerpt.text.as_str();
    let asks_question = asks_question(text);
    if asks_question && text.trim().len() < MAX_QUESTION && !excerpt.has_quote {
        return None;
    }
    let lower = subject.to_lowercase();
    let announced = has_foreign_prefix(&lower) && !is_reply(subject);
    let strong = BOUNCE_TEXT.count_in(text, 2) + MACHINE_TEXT.count_in(text, 2);
    let hints = MACHINE_HINTS.count_in(text, 3);
    let notes = AWAY_HINTS.count_in(text, 3).max(hints);
    let mut end = BEGINNING.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // Machines ask no questions and do not talk about the game.
    let personal = excerpt.has_quote
        || asks_question
        || text.lines().any(|line| !line.contains(['[', '@']) && GAME_WORDS.any_in(line));
    let away = AWAY_TEXT.any_in(text) && text.len() < MAX_NOTE && !personal;
    if NOTICE_SUBJECTS.any_prefix_of(&lower) && !lower.ends_with('?') && !personal {
        Some(Mark::NoticeSubject)
    } else if is_absence(subject) && (!is_reply(subject) || away || strong > 0)
        || AWAY_SUBJECTS.any_prefix_of(bare(&lower))
            && !excerpt.has_quote
            && (strong > 0 || hints + usize::from(away) >= 2)
        || away && notes + usize::from(announced) > 0
    {
        Some(Mark::AbsenceSubject)
    } else if BOUNCE_SUBJECTS.any_prefix_of(&lower) && (strong + hints > 0 || !lower.ends_with('?'))
        || says_failed(&lower) && strong + hints + usize::from(announced) > 0
    {
        Some(Mark::BounceSubject)
    } else if MACHINE_OPENINGS.any_in(&text[..end])
        || strong > 0 && strong + hints >= 2 && !excerpt.has_quote && (!personal || strong + hints > 2)
        || strong > 0 && strong + notes >= 2 && !personal
    {
        Some(Mark::MachineText)
    } else {
        None
    }
}

/// Whether a line looks like an order or a command: one of our verbs in capitals or followed by a number or a square,
/// two squares and little else, or a single square.
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
        if is_square(&alone) || matches!(alone.as_str(), "hold" | "wait" | "swap" | "draw" | "agree") {
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

/// Whether a line begins like an order, whatever follows, such as an attribution that was glued to it.
pub fn begins_like_order(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(5).collect();
    words.first().is_some_and(|first| is_square(first)) || is_request(&words.join(" "))
}

/// Whether a word is a square, such as `A1` or `Y16`, or a square after a ship class's letter, such as `VD2`.
fn is_square(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    let digits = word.len() - letters;
    (1..=2).contains(&letters)
        && (1..=2).contains(&digits)
        && word[letters..].bytes().all(|b| b.is_ascii_digit())
}

fn says_failed(subject: &str) -> bool {
    FAILURE_WORDS.any_in(subject) || DELAY_WORDS.any_in(subject)
}

/// Whether the text asks a question. The `?` in a link does not count.
fn asks_question(text: &str) -> bool {
    let mut followers =
        text.match_indices(['?', '؟']).map(|(at, mark)| text[at + mark.len()..].chars().next());
    followers.any(|next| next.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '=' | '/' | '%' | '&')))
}

/// Longest word for "reply" that mail programs put before a subject, in characters.
const MAX_REPLY_WORD: usize = 5;

/// Whether a prefix other than `Re:` and the like, such as `Undeliverable:`, precedes one of our subjects.
fn has_foreign_prefix(subject: &str) -> bool {
    let subject = without_reply_prefix(subject);
    let Some((before, _)) = subject.split_once('[') else { return false };
    let before = before.trim_end();
    before.strip_suffix([':', '：']).is_some_and(|words| words.trim().chars().count() > MAX_REPLY_WORD)
}

/// Whether the subject is that of an absence note and could be nothing else.
pub fn is_absence(subject: &str) -> bool {
    let subject = without_reply_prefix(subject).to_lowercase();
    let subject = bare(&subject);
    let closing = [
        "(out of office)",
        "[out of office]",
        "autoreply",
        "auto-reply",
        "automatic reply",
        "(automatic reply)",
    ];
    let bracket = subject.strip_suffix([')', ']']).and_then(|s| s.rfind(['(', '[']).map(|at| &s[at + 1..]));
    ABSENCE_SUBJECTS.any_prefix_of(subject)
        || ABSENCE_SUBJECTS.any_prefix_of(untagged(subject))
        || bracket.is_some_and(|words| ABSENCE_SUBJECTS.any_prefix_of(words))
        || closing.iter().any(|words| subject.ends_with(words))
}

/// Returns a subject from its first word or bracket on.
fn bare(subject: &str) -> &str {
    subject.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '[')
}

/// Returns a text from its first word on.
fn to_word(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_alphanumeric())
}

/// Returns a subject in lower case without the tags that gateways add, such as `[EXTERNAL]`, and without the bracket
/// before its first word.
fn untagged(subject: &str) -> &str {
    const TAGS: [&str; 4] = ["external", "extern", "ext", "spam"];
    let rest = to_word(subject);
    let tagged =
        TAGS.iter().find_map(|tag| rest.strip_prefix(tag)).filter(|rest| rest.starts_with([']', '*', ')']));
    tagged.map_or(rest, to_word)
}

fn is_reply(subject: &str) -> bool {
    without_reply_prefix(subject) != subject.trim()
}

/// Whether the text is that of an absence note rather than of a bounce.
pub fn is_away(text: &str) -> bool {
    AWAY_TEXT.any_in(text) && !BOUNCE_TEXT.any_in(text)
}

/// Whether a letter was returned or is delayed, if the wording tells.
pub fn failure(subject: &str, text: &str) -> Option<AutomaticKind> {
    let subject = subject.to_lowercase();
    if DELAY_WORDS.any_in(&subject) {
        return Some(AutomaticKind::Delayed);
    }
    (FAILURE_WORDS.any_in(&subject) || BOUNCE_TEXT.any_in(text)).then_some(AutomaticKind::Failed)
}

/// Returns the subject without `Re:` and the like, however many there are.
fn without_reply_prefix(subject: &str) -> &str {
    const PREFIXES: [&str; 14] = [
        "re:", "aw:", "antw:", "sv:", "vs:", "odp:", "ynt:", "rif:", "r:", "res:", "fw:", "fwd:", "wg:",
        "tr:",
    ];
    let mut rest = subject.trim();
    loop {
        let prefix = PREFIXES
            .iter()
            .find(|prefix| rest.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)));
        match prefix {
            Some(prefix) => rest = rest[prefix.len()..].trim_start(),
            None => return rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark_of(subject: &str, text: &str) -> Option<Mark> {
        let has_request = text.lines().any(is_request);
        mark(subject, &Excerpt { text: text.to_lowercase(), has_request, has_quote: false })
    }

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

    #[test]
    fn automatic_subjects_are_recognised() {
        for subject in [
            "Automatic reply: [QZ-7K3M] Turn 4",
            "Abwesenheitsnotiz: [QZ-7K3M] Turn 4",
            "Réponse automatique : [QZ-7K3M] Turn 4",
            "自動応答: Turn 4",
        ] {
            assert_eq!(mark_of(subject, ""), Some(Mark::AbsenceSubject), "{subject}");
        }
        for subject in ["Undelivered Mail Returned to Sender", "failure notice", "Unzustellbar: Turn 4"] {
            assert_eq!(mark_of(subject, ""), Some(Mark::BounceSubject), "{subject}");
        }
        assert_eq!(mark_of("Gelesen: [QZ-7K3M] Turn 4", ""), Some(Mark::NoticeSubject));
    }

    #[test]
    fn letters_about_mail_are_not_automatic() {
        for (subject, text) in [
            ("Re: [QZ-7K3M] Turn 4", "your last mail could not be delivered, i think: mailbox full"),
            ("Re: [QZ-7K3M] Turn 4", "i am out of office next week\nABSENT 2026-12-20 to 2026-12-27"),
            ("Delivery report missing?", "where is my report of turn 3?"),
            ("holidays", "i'll be on holiday"),
            ("Out of office next week", "hello\nABSENT 2026-12-20 to 2026-12-27"),
            ("Turn 4 - my spam filter", "it went to spam"),
            ("Re: Automatic reply: [QZ-7K3M] Turn 4", "is anybody there?"),
            ("Out of office next week, my orders", "SHIP 1 TO B2"),
            ("Out of office next week", "hello, just to let you know that i am away next week"),
            ("failure notice?", "did you get my letter?"),
            ("Re: [QZ-7K3M] Turn 4", "i lost my train ticket and its case number, so i am late with my turn"),
            ("Your message was rejected", "so says my server: it exceeds the maximum size. what shall i do?"),
            ("Mail delivery failed", "the server said: mailbox full, 550 user unknown\nCAPTURE C1"),
        ] {
            assert_eq!(mark_of(subject, text), None, "{subject}");
        }
    }
}

//! Signs that a person, not a machine, wrote a stranger's letter.
//!
//! Machines without a mark write about orders, tickets, passwords and newsletters in more words than any list
//! can hold. People write about themselves or about games, or they ask something. So a stranger's letter is
//! searched for a person's words, in many languages, rather than for a machine's.

use super::phrases::asks_question;
use crate::text::patterns::split_words;
use crate::text::words::{PERSON_SIGNS, PERSON_WORDS};

/// Maximum words of a letter that counts as a person's if it has no link: machines write sentences.
const MAX_SHORT: usize = 5;

/// Words after `I` in English. The letter alone is a word in other languages too.
const AFTER_I: [&str; 36] = [
    "am", "can", "cannot", "could", "couldn", "d", "did", "didn", "do", "don", "enjoy", "forgot", "get",
    "got", "had", "have", "heard", "hope", "just", "keep", "know", "like", "ll", "lost", "m", "need", "only",
    "read", "still", "think", "ve", "want", "was", "will", "wish", "would",
];

/// Whether a person may have written this. Sentences that may quote an address do not count, and neither does a subject of
/// ours.
pub fn speaks_for_a_person(subject: &str, lines: &[&str]) -> bool {
    let own = lines.iter().flat_map(|line| sentences(line)).filter(|sentence| !sentence.contains('@'));
    let text: String = own.flat_map(|sentence| [sentence, "\n"]).collect();
    let is_short = lines.iter().flat_map(|line| line.split_whitespace()).nth(MAX_SHORT).is_none()
        && !lines.iter().any(|line| line.contains("://"));
    // Ignore a subject with a tag: a machine's subject may repeat that of our letter.
    let subject = if subject.contains('[') { "" } else { subject };
    is_short || asks_question(&text) || has_words(&text) || subject.ends_with('?') || has_words(subject)
}

/// Splits a line behind each blank that follows the end of a sentence.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    line.split_inclusive(move |c: char| {
        let ends = c == ' ' && matches!(before, '.' | '!' | '?');
        before = c;
        ends
    })
}

fn has_words(text: &str) -> bool {
    if says_i_within_a_sentence(text) {
        return true;
    }
    let text = text.to_lowercase();
    let words: Vec<&str> = split_words(&text).collect();
    let says_i = words.windows(2).any(|two| two[0] == "i" && AFTER_I.contains(&two[1]));
    says_i || words.iter().any(|word| PERSON_WORDS.contains(word)) || PERSON_SIGNS.any_in(&text)
}

/// Whether the word `I` occurs within a sentence. Only English has it there; at the beginning of a sentence
/// it may be a word of another language, such as the Italian article.
fn says_i_within_a_sentence(text: &str) -> bool {
    text.match_indices(" I ").any(|(at, found)| {
        let (before, after) = (&text[..at], &text[at + found.len()..]);
        before.ends_with(|c: char| c.is_alphanumeric() || c == ',')
            && after.starts_with(|c: char| c.is_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_ask_or_write_about_themselves_or_games() {
        for text in [
            "How much does it cost to take part?",
            "I'd like to try this.",
            "Mein Name ist Karl, bitte alles anhalten.",
            "Oynamak istiyorum, nasıl başlarım",
            "私はゲームに参加したいです",
            "hello there",
            "My father played under ann@players.example. He died, and I am going through his mail.",
            "Yesterday I sent my entry by post.",
            "We act for the estate of Mrs Adams. Please confirm whether any fees are outstanding.",
            "Wir zeigen an, dass wir die Erben unserer Mandantin vertreten.",
            "Nous représentons notre cliente et demandons la clôture du compte.",
        ] {
            assert!(speaks_for_a_person("", &[text]), "{text}");
        }
        assert!(speaks_for_a_person("Can anybody take part?", &["Greetings from the north, yours Karl"]));
    }

    #[test]
    fn machines_do_not() {
        for text in [
            "The parcel has left our warehouse and arrives on Friday.",
            "Ihre Rechnung steht im Kundenportal bereit.",
            "Nyheter i maj: allt till halva priset.",
            "I premi della settimana sono online.",
            "Contact sales@shop.example for more. The offer ends on Friday, and shipping is free.",
            "Read more at https://shop.example/news?id=7",
        ] {
            assert!(!speaks_for_a_person("Re: [QZ-7K3M] game", &[text]), "{text}");
        }
    }
}

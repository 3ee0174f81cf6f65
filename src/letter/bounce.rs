//! The words of bounces, absence notes and other notices, for those that bear no mark in their header.
//!
//! A subject that only machines write is enough. Of other words two must meet, since people write about mail too.

use super::automatic::{AutomaticKind, Mark};
use super::words::{
    ABSENCE, AWAY, AWAY_SUBJECTS, CERTAIN, DELAYED, FAILED, GAME, HINTS, MACHINE, NOTES, NOTICES, RETURNED,
    SURE, VERBS,
};

/// What a letter says, as far as that tells a machine from a person.
pub struct Excerpt {
    /// Its beginning, in lower case, without what stands behind a quote prefix.
    pub text: String,
    /// Somebody wrote an order or a command.
    pub asks: bool,
    /// Something is quoted behind a prefix, as people's programs quote.
    pub quotes: bool,
}

/// What only machines say stands at the beginning: so many bytes.
const BEGINNING: usize = 600;

/// An absence note is no longer than this.
const MAX_NOTE: usize = 1500;

/// A letter shorter than this that asks something is a person's.
const MAX_QUESTION: usize = 200;

/// What the words say, where the header says nothing.
pub fn mark(subject: &str, excerpt: &Excerpt) -> Option<Mark> {
    // No machine gives orders; a person may speak of bounces and absences, and even quote them.
    if excerpt.asks {
        return None;
    }
    let text = excerpt.text.as_str();
    let questions = questions(text);
    if questions && text.trim().len() < MAX_QUESTION && !excerpt.quotes {
        return None;
    }
    let lower = subject.to_lowercase();
    let announced = announces(&lower) && !is_reply(subject);
    let strong = RETURNED.count_in(text, 2) + MACHINE.count_in(text, 2);
    let hints = HINTS.count_in(text, 3);
    let notes = NOTES.count_in(text, 3).max(hints);
    let mut end = BEGINNING.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // Machines ask nothing, and know of no orders.
    let personal = excerpt.quotes
        || questions
        || text.lines().any(|line| !line.contains(['[', '@']) && GAME.stand_in(line));
    let away = AWAY.stand_in(text) && text.len() < MAX_NOTE && !personal;
    if NOTICES.begin(&lower) && !lower.ends_with('?') && !personal {
        Some(Mark::SubjectOfNotice)
    } else if is_absence(subject) && (!is_reply(subject) || away || strong > 0)
        || AWAY_SUBJECTS.begin(bare(&lower))
            && !excerpt.quotes
            && (strong > 0 || hints + usize::from(away) >= 2)
        || away && notes + usize::from(announced) > 0
    {
        Some(Mark::SubjectOfAbsence)
    } else if CERTAIN.begin(&lower) && (strong + hints > 0 || !lower.ends_with('?'))
        || says_failed(&lower) && strong + hints + usize::from(announced) > 0
    {
        Some(Mark::SubjectOfBounce)
    } else if SURE.stand_in(&text[..end])
        || strong > 0 && strong + hints >= 2 && !excerpt.quotes && (!personal || strong + hints > 2)
        || strong > 0 && strong + notes >= 2 && !personal
    {
        Some(Mark::TextOfMachine)
    } else {
        None
    }
}

/// Whether a line is an order or a command: a verb of ours in capitals or with a number or a square behind it, or
/// two squares and little else, or one square alone.
pub fn asks(line: &str) -> bool {
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
        || VERBS.is(&first.to_ascii_lowercase()) && rest.len() <= 24 && (capitals || numbered)
}

/// `A1` to `Y16`, the letter of a class before it or not.
fn is_square(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    let digits = word.len() - letters;
    (1..=2).contains(&letters)
        && (1..=2).contains(&digits)
        && word[letters..].bytes().all(|b| b.is_ascii_digit())
}

fn says_failed(subject: &str) -> bool {
    FAILED.stand_in(subject) || DELAYED.stand_in(subject)
}

/// Whether the text asks something; the `?` in a link does not.
fn questions(text: &str) -> bool {
    let mut behind = text.match_indices(['?', '؟']).map(|(at, mark)| text[at + mark.len()..].chars().next());
    behind.any(|next| next.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '=' | '/' | '%' | '&')))
}

/// Whether something other than `Re:` and its like stands, with a colon, before a subject of ours.
fn announces(subject: &str) -> bool {
    let subject = without_reply_prefix(subject);
    let Some((before, _)) = subject.split_once('[') else { return false };
    // No client has a longer word for a reply.
    let before = before.trim_end();
    before.strip_suffix([':', '：']).is_some_and(|words| words.trim().chars().count() > 5)
}

/// Whether the subject is that of an absence note, and of nothing else.
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
    ABSENCE.begin(subject)
        || ABSENCE.begin(untagged(subject))
        || bracket.is_some_and(|words| ABSENCE.begin(words))
        || closing.iter().any(|words| subject.ends_with(words))
}

/// A subject without what stands before its first word.
fn bare(subject: &str) -> &str {
    subject.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '[')
}

fn to_word(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_alphanumeric())
}

/// A subject in lower case without the tags that gateways put before it, and the bracket round its first words.
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
    AWAY.stand_in(text) && !RETURNED.stand_in(text)
}

/// Whether a letter came back, or is delayed, if the words tell.
pub fn failure(subject: &str, text: &str) -> Option<AutomaticKind> {
    let subject = subject.to_lowercase();
    if DELAYED.stand_in(&subject) {
        return Some(AutomaticKind::Delayed);
    }
    (FAILED.stand_in(&subject) || RETURNED.stand_in(text)).then_some(AutomaticKind::Failed)
}

/// The subject without `Re:` and its like, as often as they stand there.
fn without_reply_prefix(subject: &str) -> &str {
    const PREFIXES: [&str; 14] = [
        "re:", "aw:", "antw:", "sv:", "vs:", "odp:", "ynt:", "rif:", "r:", "res:", "fw:", "fwd:", "wg:",
        "tr:",
    ];
    let mut rest = subject.trim();
    loop {
        let begins =
            |prefix: &&&str| rest.get(..prefix.len()).is_some_and(|r| r.eq_ignore_ascii_case(prefix));
        match PREFIXES.iter().find(begins) {
            Some(prefix) => rest = rest[prefix.len()..].trim_start(),
            None => return rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(subject: &str, text: &str) -> Option<Mark> {
        let asks = text.lines().any(asks);
        mark(subject, &Excerpt { text: text.to_lowercase(), asks, quotes: false })
    }

    #[test]
    fn orders_and_commands_are_known_in_general() {
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
            assert!(asks(line), "{line}");
        }
        for line in [
            "Status: 5.1.1",
            "STATUS: FAILED",
            "550 5.1.1 User unknown",
            "Report a problem",
            "Room B12",
            "| SHIP 1 TO B2",
            "HOST UNKNOWN",
            "move on",
        ] {
            assert!(!asks(line), "{line}");
        }
    }

    #[test]
    fn subjects_of_machines_are_known() {
        for subject in [
            "Automatic reply: [QZ-7K3M] Turn 4",
            "Abwesenheitsnotiz: [QZ-7K3M] Turn 4",
            "Réponse automatique : [QZ-7K3M] Turn 4",
            "自動応答: Turn 4",
        ] {
            assert_eq!(said(subject, ""), Some(Mark::SubjectOfAbsence), "{subject}");
        }
        for subject in ["Undelivered Mail Returned to Sender", "failure notice", "Unzustellbar: Turn 4"] {
            assert_eq!(said(subject, ""), Some(Mark::SubjectOfBounce), "{subject}");
        }
        assert_eq!(said("Gelesen: [QZ-7K3M] Turn 4", ""), Some(Mark::SubjectOfNotice));
    }

    #[test]
    fn people_who_write_about_mail_are_no_machines() {
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
            assert_eq!(said(subject, text), None, "{subject}");
        }
    }
}

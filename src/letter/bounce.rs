//! The words of bounces, absence notes and other notices, for those that bear no mark in their header.
//!
//! A subject that only machines write is enough. Of other words two must meet, since people write about mail too.

use super::automatic::{Kind, Mark};
use super::words::{
    ABSENCE, AWAY, AWAY_SUBJECTS, CERTAIN, DELAYED, FAILED, HINTS, MACHINE, NOTICES, RETURNED,
};

/// What the words say, where the header says nothing. `text` is in lower case.
pub fn mark(subject: &str, text: &str) -> Option<Mark> {
    // A person who is away says so with a command.
    let told = text.lines().any(|line| line.trim_start().starts_with("absent "));
    if is_absence(subject) && !told {
        return Some(Mark::SubjectOfAbsence);
    }
    let lower = subject.to_lowercase();
    if NOTICES.begin(&lower) {
        return Some(Mark::SubjectOfNotice);
    }
    let strong = RETURNED.count_in(text, 2) + MACHINE.count_in(text, 2);
    let hints = HINTS.count_in(text, 1);
    if CERTAIN.begin(&lower) || says_failed(&lower) && strong + hints > 0 {
        Some(Mark::SubjectOfBounce)
    } else if strong + hints >= 2 && strong > 0 {
        Some(Mark::TextOfBounce)
    } else {
        None
    }
}

fn says_failed(subject: &str) -> bool {
    FAILED.stand_in(subject) || DELAYED.stand_in(subject)
}

/// Whether the subject is that of an absence note.
pub fn is_absence(subject: &str) -> bool {
    let subject = without_reply_prefix(subject).to_lowercase();
    let subject = subject.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '[');
    let closing = [
        "(out of office)",
        "[out of office]",
        "autoreply",
        "auto-reply",
        "automatic reply",
        "(automatic reply)",
    ];
    ABSENCE.begin(subject)
        || AWAY_SUBJECTS.begin(subject)
        || closing.iter().any(|words| subject.ends_with(words))
}

/// Whether the text is that of an absence note rather than of a bounce.
pub fn is_away(text: &str) -> bool {
    AWAY.stand_in(text) && !RETURNED.stand_in(text)
}

/// Whether a letter came back, or is delayed, if the words tell.
pub fn failure(subject: &str, text: &str) -> Option<Kind> {
    let subject = subject.to_lowercase();
    if DELAYED.stand_in(&subject) {
        return Some(Kind::Delayed);
    }
    (FAILED.stand_in(&subject) || RETURNED.stand_in(text)).then_some(Kind::Failed)
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

    #[test]
    fn subjects_of_machines_are_known() {
        for subject in [
            "Automatic reply: [QZ-7K3M] Turn 4",
            "Abwesenheitsnotiz: [QZ-7K3M] Turn 4",
            "Réponse automatique : [QZ-7K3M] Turn 4",
            "Re: Out of Office: away",
            "自動応答: Turn 4",
        ] {
            assert_eq!(mark(subject, ""), Some(Mark::SubjectOfAbsence), "{subject}");
        }
        for subject in ["Undelivered Mail Returned to Sender", "failure notice", "Unzustellbar: Turn 4"] {
            assert_eq!(mark(subject, ""), Some(Mark::SubjectOfBounce), "{subject}");
        }
        assert_eq!(mark("Gelesen: [QZ-7K3M] Turn 4", ""), Some(Mark::SubjectOfNotice));
    }

    #[test]
    fn people_who_write_about_mail_are_no_machines() {
        for (subject, text) in [
            ("Re: [QZ-7K3M] Turn 4", "your last mail could not be delivered, i think: mailbox full"),
            ("Re: [QZ-7K3M] Turn 4", "i am out of office next week\nabsent 2026-12-20 to 2026-12-27"),
            ("Delivery report missing?", "where is my report of turn 3?"),
            ("holidays", "i'll be on holiday"),
            ("Out of office next week", "hello\nabsent 2026-12-20 to 2026-12-27"),
            ("Turn 4 - my spam filter", "it went to spam"),
        ] {
            assert_eq!(mark(subject, text), None, "{subject}");
        }
    }
}

//! Recognises bounces, absence notes and other automatic notices by their wording if the header has no mark.
//!
//! People write about mail, holidays and bounces too, so no phrase decides alone. Signs of a machine and
//! signs of a person are counted in points, and the difference decides.

use super::automatic::{AutomaticKind, AutomaticMark};
use crate::mail::subject::Subject;
use crate::text::patterns::has_address;
use crate::text::words::{
    ABSENCE_SUBJECTS, AWAY_HINTS, AWAY_SUBJECTS, AWAY_TEXT, BOUNCE_SUBJECTS, BOUNCE_TEXT, DELAY_WORDS,
    FAILURE_WORDS, MACHINE_HINTS, MACHINE_OPENINGS, MACHINE_TEXT, NOTICE_SUBJECTS, OFFICE_TEXT,
};

/// The part of a letter's text that distinguishes a machine from a person.
pub struct Excerpt {
    /// The beginning of the text, in lower case.
    pub text: String,
    /// Whether it contains an order or a command.
    pub has_request: bool,
    /// Whether it has the vocabulary of people who write to us.
    pub is_on_topic: bool,
    pub quote: Quote,
}

/// The quote in a letter, made as by people's mail programs: after a prefix, or below an attribution. A
/// bounce returns a letter without either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quote {
    Nothing,
    Something,
    OurLetter,
}

/// Signs of a machine in the header. People's mail programs seldom cause one, and never several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderSigns {
    /// It answers a letter of ours under a subject of its own, as vacation programs do. People leave ours.
    pub has_own_subject: bool,
    /// It is addressed to its sender instead of us, as GNU sieve does.
    pub is_misaddressed: bool,
    pub program: Program,
}

/// The kind of program that wrote a letter, by its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Program {
    /// It has fields of MIME, or the name of the program.
    #[default]
    Modern,
    /// It has neither. People use such programs too, GNU Mailutils for one.
    Old,
    /// It has neither, but answers a letter of ours by its Message-ID alone, as `formail -r` does. The old programs that
    /// people use write a sentence there: `Your message of Wed, 13 May 2026`.
    Script,
}

/// Bytes at the beginning of a text in which a phrase of [`MACHINE_OPENINGS`] counts.
const BEGINNING: usize = 600;

/// Maximum bytes of an absence note.
const MAX_NOTE: usize = 1500;

/// Maximum points of an absence note that does not sound like an office. They are enough to ask its writer if
/// the note has a reply token; otherwise it counts as a person's.
const MAX_OF_PLAIN_NOTE: i32 = 2;

/// Maximum bytes of a text that a single hint makes an absence note, if the header has signs of a machine.
const MAX_SHORT_NOTE: usize = 200;

/// Bytes below which a letter that asks a question counts as a person's.
const MAX_QUESTION: usize = 200;

/// The kind of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubjectKind {
    Absence,
    Notice,
    Bounce,
    Other,
}

/// The signs of a machine in a subject and a text.
struct MachineEvidence {
    subject: SubjectKind,
    /// Whether the text is that of an absence note, or the subject mentions an absence.
    is_away: bool,
    points: i32,
}

/// Returns the mark for the wording, if its points for a machine exceed those for a person by at least
/// `threshold`.
pub fn mark(subject: &str, excerpt: &Excerpt, signs: HeaderSigns, threshold: i32) -> Option<AutomaticMark> {
    // Machines give no orders. People who do may mention bounces and absences, and even quote them.
    if excerpt.has_request {
        return None;
    }
    let machine = machine_evidence(&Subject::of(subject), &excerpt.text, signs);
    // Count the points for a person only where they matter: the words of the games are searched line by line.
    let is_machine = machine.points >= threshold && machine.points - personal_points(excerpt) >= threshold;
    is_machine.then(|| machine.mark())
}

/// Whether the wording has enough points for a machine, before those for a person are subtracted.
pub fn may_be_machine(subject: &str, text: &str, signs: HeaderSigns, threshold: i32) -> bool {
    machine_evidence(&Subject::of(subject), text, signs).points >= threshold
}

fn machine_evidence(subject: &Subject, text: &str, signs: HeaderSigns) -> MachineEvidence {
    let (kind, mut points) = subject_evidence(subject);
    let beginning = &text[..text.floor_char_boundary(BEGINNING)];
    points += 3 * i32::from(MACHINE_OPENINGS.any_in(beginning));
    points += 2 * count(BOUNCE_TEXT.count_in(text, 2) + MACHINE_TEXT.count_in(text, 2)).min(2);
    let mentions_absence = !subject.is_answer() && AWAY_SUBJECTS.any_prefix_of(subject.bare());
    let is_note = text.len() < MAX_NOTE && AWAY_TEXT.any_in(text);
    // A program writes for an office in answer to a letter. Of somebody new, an address in the text proves nothing.
    let is_answer = kind != SubjectKind::Other || subject.is_answer() || signs.has_own_subject;
    let office = if is_note || is_answer { office_points(text, is_note) } else { 0 };
    if is_note {
        let hints = count(AWAY_HINTS.count_in(text, 2)).max(office.min(2));
        let note = 1 + i32::from(mentions_absence) + hints;
        // People also write how long they will be away, but only machines write that to nobody in particular.
        points += if office == 0 { note.min(MAX_OF_PLAIN_NOTE) } else { note };
    } else {
        let hints = if points > 0 { count(MACHINE_HINTS.count_in(text, 2)) } else { 0 };
        points += hints.max(if office > 1 { office } else { 0 });
    }
    // A complaint or a bounce that consists of the returned letter.
    points += i32::from(kind == SubjectKind::Bounce && text.trim().is_empty());
    let is_hinted = text.trim().len() < MAX_SHORT_NOTE && AWAY_HINTS.any_in(text);
    let is_away = is_note || mentions_absence || is_hinted && signs.has_own_subject;
    points += i32::from(is_away && !is_note && signs.has_own_subject);
    let names_our_letter = names_a_subject(text);
    points += i32::from(names_our_letter)
        + i32::from(signs.has_own_subject)
        + 2 * i32::from(signs.is_misaddressed)
        + match signs.program {
            Program::Old if names_our_letter => 2,
            // Nothing is known of a letter whose text is missing or long.
            Program::Script if (1..MAX_NOTE).contains(&text.trim().len()) => 2,
            Program::Modern | Program::Old | Program::Script => 0,
        };
    MachineEvidence { subject: kind, is_away, points }
}

/// Whether a sentence of the text names a subject of ours. Vacation programs put the subject that they answer into their
/// text: `Your mail concerning "[QZ-7K3M] Turn 4" will be read …`. People begin a line with the match.
fn names_a_subject(text: &str) -> bool {
    text.lines().filter_map(|line| line.split_once('[')).any(|(before, rest)| {
        let (tag, title) = rest.split_once("] ").unwrap_or_default();
        let (word, number) = title.split_once(' ').unwrap_or_default();
        before.contains(char::is_alphabetic)
            && tag.contains('-')
            && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && word.chars().all(char::is_alphabetic)
            && number.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Returns the points of a text that sounds like an office. An address or a telephone number only adds to
/// others: without them, it may be a person's new one.
fn office_points(text: &str, is_note: bool) -> i32 {
    let phrases = count(OFFICE_TEXT.count_apart_in(text, 3));
    let has_contact = (is_note || phrases > 0) && names_a_contact(text);
    phrases + 2 * i32::from(has_contact)
}

/// Whether the text names an address to write to or a number to call.
fn names_a_contact(text: &str) -> bool {
    text.lines().any(|line| has_address(line) || has_telephone_number(line))
}

/// Whether a line has a telephone number: groups of digits that begin with `0` or `+`.
fn has_telephone_number(line: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | ' ' | '-' | '(' | ')' | '/');
    line.split(|c| !is_part(c)).any(is_telephone_number)
}

/// Whether groups of digits are a telephone number. The first group of a date or a time may begin with `0`
/// too, but has two digits; in a telephone number it has more, or all groups have two and there are at least
/// five of them.
fn is_telephone_number(text: &str) -> bool {
    let groups: Vec<&str> =
        text.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).collect();
    let digits: usize = groups.iter().map(|group| group.len()).sum();
    let Some(first) = groups.first().filter(|_| digits >= 7) else { return false };
    let are_pairs = groups.len() >= 5 && groups.iter().all(|group| group.len() == 2);
    text.trim_start().starts_with('+') || (first.starts_with('0') && (first.len() > 2 || are_pairs))
}

/// Returns the kind of a subject and its points. A question has no points, and neither has the subject of a
/// letter that this one forwards or answers.
fn subject_evidence(subject: &Subject) -> (SubjectKind, i32) {
    let lower = subject.lower();
    if subject.is_forward || lower.ends_with(['?', '？']) {
        return (SubjectKind::Other, 0);
    }
    if subject.is_reply {
        // Some programs add to the subject that they answer: `Re: Turn 4 [Automatische Antwort]`.
        return if closes_as_absence(subject) { (SubjectKind::Absence, 3) } else { (SubjectKind::Other, 0) };
    }
    let announces_ours = subject.announces_another();
    let bracketed = subject.bare().starts_with('[');
    let prefixed = 2 + 2 * i32::from(announces_ours) + i32::from(bracketed);
    if is_absence(subject) {
        (SubjectKind::Absence, prefixed)
    } else if NOTICE_SUBJECTS.any_prefix_of(lower) {
        (SubjectKind::Notice, prefixed)
    } else if BOUNCE_SUBJECTS.any_prefix_of(lower) {
        (SubjectKind::Bounce, prefixed)
    } else if announces_ours && AWAY_SUBJECTS.any_prefix_of(subject.bare()) {
        // As in `On holiday Re: [QZ-7K3M] Turn 4`.
        (SubjectKind::Absence, 3)
    } else if says_failed(lower) {
        (SubjectKind::Bounce, 1 + 2 * i32::from(announces_ours))
    } else {
        (SubjectKind::Other, 0)
    }
}

impl MachineEvidence {
    fn mark(&self) -> AutomaticMark {
        match self.subject {
            SubjectKind::Absence => AutomaticMark::AbsenceSubject,
            SubjectKind::Notice => AutomaticMark::NoticeSubject,
            SubjectKind::Bounce => AutomaticMark::BounceSubject,
            SubjectKind::Other if self.is_away => AutomaticMark::AbsenceText,
            SubjectKind::Other => AutomaticMark::MachineText,
        }
    }
}

/// Returns the points for a person: for a question, a quote, and the vocabulary of players.
fn personal_points(excerpt: &Excerpt) -> i32 {
    let text = excerpt.text.as_str();
    let asking = match asks_question(text) {
        true if text.trim().len() < MAX_QUESTION => 4,
        true => 2,
        false => 0,
    };
    let quoting = match excerpt.quote {
        Quote::Nothing => 0,
        Quote::Something => 1,
        Quote::OurLetter => 2,
    };
    asking + quoting + 2 * i32::from(excerpt.is_on_topic)
}

fn count(found: usize) -> i32 {
    i32::try_from(found).unwrap_or(i32::MAX)
}

fn says_failed(subject: &str) -> bool {
    FAILURE_WORDS.any_in(subject) || DELAY_WORDS.any_in(subject)
}

/// Whether the text asks a question. The `?` in a link does not count.
pub fn asks_question(text: &str) -> bool {
    let mut followers =
        text.match_indices(['?', '؟', '？']).map(|(at, mark)| text[at + mark.len()..].chars().next());
    followers.any(|next| next.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '=' | '/' | '%' | '&')))
}

/// Whether the subject can only be that of an absence note.
pub fn is_absence(subject: &Subject) -> bool {
    ABSENCE_SUBJECTS.any_prefix_of(subject.bare())
        || ABSENCE_SUBJECTS.any_prefix_of(subject.untagged())
        || closes_as_absence(subject)
}

/// Whether a subject ends in the words of an absence note, usually in brackets, after another subject.
fn closes_as_absence(subject: &Subject) -> bool {
    const CLOSING: [&str; 3] = ["autoreply", "auto-reply", "automatic reply"];
    let lower = subject.lower();
    let bracket = lower.strip_suffix([')', ']']).and_then(|s| s.rfind(['(', '[']).map(|at| &s[at + 1..]));
    bracket.is_some_and(|words| words == "out of office" || ABSENCE_SUBJECTS.any_prefix_of(words))
        || CLOSING.iter().any(|words| lower.ends_with(words))
}

/// Whether the text is that of an absence note rather than of a bounce.
pub fn is_away(text: &str) -> bool {
    AWAY_TEXT.any_in(text) && !BOUNCE_TEXT.any_in(text)
}

/// Returns whether a letter failed or is delayed, if the wording shows it.
pub fn failure(subject: &str, text: &str) -> Option<AutomaticKind> {
    let subject = subject.to_lowercase();
    if DELAY_WORDS.any_in(&subject) {
        return Some(AutomaticKind::Delayed);
    }
    (FAILURE_WORDS.any_in(&subject) || BOUNCE_TEXT.any_in(text)).then_some(AutomaticKind::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::dialect::example::DIALECT;
    use crate::sender::excerpt::is_on_topic;

    fn mark_of(subject: &str, text: &str) -> Option<AutomaticMark> {
        let has_request = text.lines().any(DIALECT.is_request);
        let text = text.to_lowercase();
        let is_on_topic = text.lines().any(|line| is_on_topic(line, &DIALECT));
        let excerpt = Excerpt { text, has_request, is_on_topic, quote: Quote::Nothing };
        mark(subject, &excerpt, HeaderSigns::default(), 2)
    }

    #[test]
    fn automatic_subjects_are_recognised() {
        for subject in [
            "Automatic reply: [QZ-7K3M] Turn 4",
            "Abwesenheitsnotiz: [QZ-7K3M] Turn 4",
            "Réponse automatique : [QZ-7K3M] Turn 4",
            "自動応答: Turn 4",
        ] {
            assert_eq!(mark_of(subject, ""), Some(AutomaticMark::AbsenceSubject), "{subject}");
        }
        for subject in ["Undelivered Mail Returned to Sender", "failure notice", "Unzustellbar: Turn 4"] {
            assert_eq!(mark_of(subject, ""), Some(AutomaticMark::BounceSubject), "{subject}");
        }
        assert_eq!(mark_of("Gelesen: [QZ-7K3M] Turn 4", ""), Some(AutomaticMark::NoticeSubject));
    }

    #[test]
    fn a_short_note_about_an_absence_is_suspicious_only_in_an_answer() {
        let text = "i'll be on holiday".to_owned();
        let excerpt = Excerpt { text, has_request: false, is_on_topic: false, quote: Quote::Nothing };
        let signs = HeaderSigns::default();
        assert_eq!(mark("holidays", &excerpt, signs, 2), Some(AutomaticMark::AbsenceText));
        assert_eq!(mark("holidays", &excerpt, signs, 3), None);
    }

    #[test]
    fn signs_in_the_header_add_to_the_words_of_a_note() {
        let excerpt = |text: &str| Excerpt {
            text: text.to_lowercase(),
            has_request: false,
            is_on_topic: is_on_topic(&text.to_lowercase(), &DIALECT),
            quote: Quote::Nothing,
        };
        let person = HeaderSigns::default();
        let own = HeaderSigns { has_own_subject: true, ..person };
        let misaddressed = HeaderSigns { is_misaddressed: true, ..person };
        let [old, script] = [Program::Old, Program::Script].map(|program| HeaderSigns { program, ..person });
        let ours = "Re: [QZ-7K3M] Turn 4";
        for (subject, text, signs) in [
            ("gone fishing", "I am fishing until Monday.", own),
            ("sailing", "Back on 5 May.", own),
            ("gone fishing", "The fish bite.", HeaderSigns { has_own_subject: true, ..misaddressed }),
            (ours, "The fish bite.", misaddressed),
            (ours, "Les poissons mordent.", script),
            (ours, "Hello, I am out of the office.", script),
        ] {
            assert!(mark(subject, &excerpt(text), signs, 2).is_some(), "{text}");
            assert_eq!(mark(subject, &excerpt(text), person, 2), None, "{text}");
        }
        let about_ours = |words: &str| format!("{words}\nYour mail concerning \"[QZ-7K3M] Turn 4\"\nwaits.");
        let default_text = about_ours("I will not be reading my mail for a while.");
        assert_eq!(
            mark("away from my mail", &excerpt(&default_text), person, 3),
            Some(AutomaticMark::AbsenceText)
        );
        let recorded = about_ours("Ceci est un enregistrement.");
        assert!(mark("enregistrement", &excerpt(&recorded), old, 3).is_some());
        for (subject, text, signs) in [
            ("Sorry", "The last letter went to my brother, he is very much amused by it.", own),
            (ours, "Thanks for the nice game.", old),
            (ours, "I shall look at it until Monday.", old),
            (ours, "", script),
            (ours, "May I bring a friend?", script),
            (ours, "I take my turn tomorrow.", script),
            (ours, "Nothing came of [QZ-7K3M] Turn 4.", person),
            ("hello", "[QZ-7K3M] MARBLE E5", old),
            ("hello", "My line for [QZ-7K3M]: MARBLE E5", old),
        ] {
            assert_eq!(mark(subject, &excerpt(text), signs, 2), None, "{text}");
        }
    }

    #[test]
    fn a_date_is_no_telephone_number() {
        for line in ["020 7946 0018", "call 0171/1234567.", "06 12 34 56 78", "tel: +43 1 234 567"] {
            assert!(has_telephone_number(line), "{line}");
        }
        for line in [
            "until 2026-01-05",
            "05/01/2026 - 10/01/2026",
            "05.01.2026",
            "08:00-17:00",
            "0 to 3",
            "no 1234567",
        ] {
            assert!(!has_telephone_number(line), "{line}");
        }
    }

    #[test]
    fn letters_about_mail_are_not_automatic() {
        for (subject, text) in [
            ("Re: [QZ-7K3M] Turn 4", "your last mail could not be delivered, i think: mailbox full"),
            ("Re: [QZ-7K3M] Turn 4", "i am out of office next week\nABSENT 2026-12-20 to 2026-12-27"),
            ("Delivery report missing?", "where is my report of turn 3?"),
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

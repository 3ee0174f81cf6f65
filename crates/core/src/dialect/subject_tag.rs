//! The match and the turn that the subject of a letter names.

/// The match and the turn that a subject names: `[QZ-7K3M] Turn 4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectTag {
    /// In capitals.
    pub match_name: String,
    pub turn: Option<u32>,
}

impl SubjectTag {
    /// Finds `[QZ-7K3M] Turn 4` anywhere in a subject, ignoring case.
    pub fn find(subject: &str) -> Option<SubjectTag> {
        let found = subject.match_indices('[').find_map(|(at, _)| {
            let inner = &subject[at + 1..];
            // Names are short: with a bounded search, a subject of nothing but `[` takes linear time.
            let end = inner.bytes().take("QQQQ-AAAAAAAA]".len()).position(|b| b == b']')?;
            is_match_name(&inner[..end]).then(|| (inner[..end].to_ascii_uppercase(), &inner[end..]))
        });
        let (match_name, rest) = found?;
        let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let turn =
            words.find(|word| word.eq_ignore_ascii_case("turn")).and_then(|_| words.next()?.parse().ok());
        Some(SubjectTag { match_name, turn })
    }
}

fn is_match_name(name: &str) -> bool {
    let Some((prefix, code)) = name.split_once('-') else { return false };
    (1..=4).contains(&prefix.len())
        && prefix.bytes().all(|b| b.is_ascii_alphabetic())
        && (3..=8).contains(&code.len())
        && code.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Returns the words of a subject before the name of a match, without `Re:` and its like, and those behind our own
/// subject: `Re: [QZ-7K3M] Turn 3: your move - please ignore`. `players` are the names that our subject may end with.
pub fn own_subjects<'s>(subject: &'s str, players: &[&str]) -> impl Iterator<Item = &'s str> {
    let behind = subject.split_once(']').and_then(|(_, ours)| {
        let behind = |end: &str| Some(&ours[ours.find(end)? + end.len()..]);
        let named = ["against ", "a message from "].into_iter().filter_map(behind);
        let named = named.flat_map(|rest| players.iter().filter_map(|name| rest.strip_prefix(name)));
        OUR_SUBJECTS.into_iter().filter_map(behind).chain(named).min_by_key(|rest| rest.len())
    });
    before_tag(subject)
        .into_iter()
        .chain(behind.filter(|own| own.contains(char::is_alphanumeric)).map(str::trim))
}

/// The ends of our subjects about a match, but for names and dates.
const OUR_SUBJECTS: [&str; 32] = [
    "sealed",
    "not filed",
    "my answer",
    "do you mean your orders?",
    "your move",
    " moves",
    "your report",
    "you have won",
    " has won",
    "a draw is offered",
    "a request for more time",
    "the deadline has moved",
    "an absence",
    "absences",
    "paused",
    "resumed",
    "a protest",
    "a day of the bank",
    "a message from the GM",
    "orders filed by the GM",
    "another player",
    "missed turns",
    "a new reply token",
    "another name",
    "annulled",
    "other terms",
    "is open again",
    "news",
    "the deadline has passed",
    "you take over",
    "whenever you can",
    "A letter in your name",
];

fn before_tag(subject: &str) -> Option<&str> {
    let mut own = subject.split('[').next().unwrap_or_default().trim();
    while let Some((prefix, rest)) = own.split_once([':', '：']) {
        let is_prefix = prefix.chars().count() <= MAX_REPLY_PREFIX && !prefix.contains(' ');
        if !is_prefix {
            break;
        }
        own = rest.trim();
    }
    Some(own).filter(|own| own.contains(char::is_alphanumeric))
}

/// Maximum characters of what mail programs put before the subject of an answer, such as `Antw:`.
const MAX_REPLY_PREFIX: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_and_behind_our_subject_are_their_writers() {
        for (subject, own) in [
            ("Re: [QD-7K3M] Turn 3: your move", &[][..]),
            ("AW: [QD-7K3M] Turn 3: Bo moves", &[]),
            ("Re: [QZ-7K3M] Setup: Quadrant Z against Bo", &[]),
            ("Re: [QZ-7K3M] Setup: Quadrant Z against Bo (not yet)", &["(not yet)"]),
            ("Re: [QD-7K3M] Zug 3: dein Zug", &[]),
            ("Re: [QD-7K3M] Turn 3: your move - please ignore", &["- please ignore"]),
            ("AW: [QD-7K3M] Turn 3: sealed doch nicht", &["doch nicht"]),
            ("DRAFT Re: [QD-7K3M] Turn 3: your report", &["DRAFT Re:"]),
            ("Not yet", &["Not yet"]),
        ] {
            assert_eq!(own_subjects(subject, &["Ann", "Bo"]).collect::<Vec<_>>(), own, "{subject}");
        }
    }
}

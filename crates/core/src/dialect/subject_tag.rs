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

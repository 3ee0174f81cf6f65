//! Subjects of letters: the words that mail programs add.

/// Words for "reply" before a subject, in lower case.
const REPLY_WORDS: &str =
    "re aw antw antwort sv vs odp ynt rif r res ref réf ats atb bls vá отв ответ 回复 答复 回覆 返信 답장";

/// Words for "forward" before a subject, in lower case.
const FORWARD_WORDS: &str =
    "fw fwd wg tr i rv enc vl vb pd fs doorst továbbítás i̇lt пересл 转发 轉寄 転送 전달";

/// Maximum characters of a word for "reply" or "forward". Words that announce a different letter are longer.
const MAX_ANSWER_WORD: usize = 10;

/// Tags that gateways put before a subject.
const GATEWAY_TAGS: [&str; 4] = ["external", "extern", "ext", "spam"];

/// A subject without the prefixes of replies and forwarded letters.
pub struct Subject {
    rest: String,
    pub is_reply: bool,
    pub is_forward: bool,
}

impl Subject {
    pub fn of(subject: &str) -> Subject {
        let lower = subject.to_lowercase();
        let mut rest = lower.trim();
        let (mut is_reply, mut is_forward) = (false, false);
        while let Some((word, after)) = prefix(rest) {
            if REPLY_WORDS.split(' ').any(|known| known == word) {
                is_reply = true;
            } else if FORWARD_WORDS.split(' ').any(|known| known == word) {
                is_forward = true;
            } else {
                break;
            }
            rest = after;
        }
        Subject { rest: rest.to_owned(), is_reply, is_forward }
    }

    /// Whether the rest is the subject of a letter that this one answers or forwards.
    pub fn is_answer(&self) -> bool {
        self.is_reply || self.is_forward
    }

    /// Returns the rest in lower case.
    pub fn lower(&self) -> &str {
        &self.rest
    }

    /// Returns the rest from its first word or bracket on.
    pub fn bare(&self) -> &str {
        self.rest.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '[')
    }

    /// Returns the rest from its first word on, without tags of gateways such as `[EXTERNAL]`.
    pub fn untagged(&self) -> &str {
        let rest = to_word(&self.rest);
        let tagged = GATEWAY_TAGS
            .iter()
            .find_map(|tag| rest.strip_prefix(tag))
            .filter(|rest| rest.starts_with([']', '*', ')']));
        tagged.map_or(rest, to_word)
    }

    /// Whether words such as `Undeliverable:` precede one of our subjects, which begin with `[` and a match.
    pub fn announces_another(&self) -> bool {
        let Some((before, _)) = self.untagged().split_once('[') else { return false };
        let words = before.trim_end().strip_suffix([':', '：']);
        words.is_some_and(|words| words.chars().any(char::is_alphanumeric))
    }
}

/// Splits `Re[2]: rest` into `re` and `rest`.
fn prefix(subject: &str) -> Option<(&str, &str)> {
    let (before, rest) = subject.split_once([':', '：'])?;
    let word = before.trim_end_matches(|c: char| !c.is_alphabetic());
    (!word.is_empty() && before.chars().count() <= MAX_ANSWER_WORD).then(|| (word, rest.trim_start()))
}

/// Returns a text from its first word on.
fn to_word(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_replies_and_forwarded_letters_are_removed() {
        for (subject, rest, is_reply, is_forward) in [
            ("Re: Turn 4", "turn 4", true, false),
            ("RE : Turn 4", "turn 4", true, false),
            ("Re[2]: AW: Turn 4", "turn 4", true, false),
            ("WG: Unzustellbar: Turn 4", "unzustellbar: turn 4", false, true),
            ("I: R: Turn 4", "turn 4", true, true),
            ("RV: Turn 4", "turn 4", false, true),
            ("转发：Turn 4", "turn 4", false, true),
            ("Orders: A3 to B2", "orders: a3 to b2", false, false),
            ("Turn 4", "turn 4", false, false),
        ] {
            let found = Subject::of(subject);
            assert_eq!(
                (found.lower(), found.is_reply, found.is_forward),
                (rest, is_reply, is_forward),
                "{subject}"
            );
        }
    }

    #[test]
    fn words_before_our_subject_announce_another_letter() {
        assert!(Subject::of("Lu : [QZ-7K3M] Turn 4").announces_another());
        assert!(Subject::of("Automatic reply: Re: [QZ-7K3M] Turn 4").announces_another());
        assert!(!Subject::of("Re: [QZ-7K3M] Turn 4").announces_another());
        assert!(Subject::of("[EXTERNAL] Automatic reply: [QZ-7K3M] Turn 4").announces_another());
        assert!(!Subject::of("Undeliverable: my orders").announces_another());
    }
}

//! The lines of our own letters when they come back.
//!
//! We have the letter that was answered, so most of a quote is known word by word, under any prefix, wrapped anew,
//! or taken from our HTML. What a person wrote is never taken for ours unless it repeats whole lines of ours; and
//! no line of ours begins like an order, since examples stand behind `| `.

use std::ops::Index;

use super::address::{Address, Token};

/// What stands before the reply token in the last lines of a letter to a seat.
pub const TOKEN_LABEL: &str = "Reply token:";

/// So many lines of a letter of ours may begin with one word before the search for it is given up.
const MAX_CANDIDATES: usize = 64;

/// Fewer words than this are taken for a line of ours only as a whole line.
const ENOUGH_WORDS: usize = 4;

/// The words of a letter of ours.
pub struct OwnLetter {
    words: WordBuffer,
    /// Where lines begin, in `words`; ascending.
    starts: Vec<usize>,
    /// The same, by their first words.
    by_word: Vec<usize>,
}

/// Words in lower case, in one piece of memory.
#[derive(Default)]
struct WordBuffer {
    text: String,
    ends: Vec<usize>,
}

/// Follows our letter through a reply.
pub struct Follower<'a> {
    ours: &'a OwnLetter,
    /// Where the line that was last recognised ended.
    at: usize,
}

impl WordBuffer {
    fn of(line: &str) -> WordBuffer {
        let mut words = WordBuffer::default();
        words.add(line);
        words
    }

    fn add(&mut self, line: &str) {
        each_word(line, |word| {
            let begin = self.text.len();
            if word.is_ascii() {
                self.text.push_str(word);
                self.text[begin..].make_ascii_lowercase();
            } else {
                self.text.push_str(&word.to_lowercase());
            }
            self.ends.push(self.text.len());
        });
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn from(&self, at: usize) -> impl Iterator<Item = &str> {
        (at..self.len()).map(|at| &self[at])
    }
}

impl Index<usize> for WordBuffer {
    type Output = str;

    fn index(&self, at: usize) -> &str {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..self.ends[at]]
    }
}

impl OwnLetter {
    pub fn new(text: &str) -> OwnLetter {
        let (mut words, mut starts) = (WordBuffer::default(), Vec::new());
        for line in text.lines() {
            let start = words.len();
            words.add(line);
            if words.len() > start {
                starts.push(start);
            }
        }
        let mut by_word = starts.clone();
        by_word.sort_by(|one, other| words[*one].cmp(&words[*other]));
        OwnLetter { words, starts, by_word }
    }

    /// Where lines begin with this word; ascending.
    fn beginning_with(&self, word: &str) -> &[usize] {
        let from = self.by_word.partition_point(|start| &self.words[*start] < word);
        let count = self.by_word[from..].partition_point(|start| &self.words[*start] == word);
        &self.by_word[from..from + count]
    }

    pub fn follow(&self) -> Follower<'_> {
        Follower { ours: self, at: 0 }
    }

    fn begins_line(&self, at: usize) -> bool {
        self.starts.binary_search(&at).is_ok()
    }

    fn ends_line(&self, at: usize) -> bool {
        at == self.words.len() || self.begins_line(at)
    }
}

impl Follower<'_> {
    /// Whether `line` is one of ours, or a piece of one where the lines before were wrapped anew.
    pub fn takes(&mut self, line: &str) -> bool {
        let line = WordBuffer::of(line);
        if line.len() == 0 {
            return false;
        }
        let starts = self.ours.beginning_with(&line[0]);
        let ahead = starts.partition_point(|start| *start < self.at);
        let nearest =
            starts[ahead..].iter().chain(starts[..ahead].iter().rev()).copied().take(MAX_CANDIDATES);
        let found = std::iter::once(self.at).chain(nearest).find_map(|start| self.fits(start, &line));
        if let Some(end) = found {
            self.at = end;
        }
        found.is_some()
    }

    /// Where `line` ends if it stands at `start` in our words.
    fn fits(&self, start: usize, line: &WordBuffer) -> Option<usize> {
        let ours = &self.ours.words;
        let end = start + line.len();
        if end <= ours.len() && ours.from(start).zip(line.from(0)).all(|(ours, word)| ours == word) {
            let piece = !self.ours.begins_line(start) || line.len() >= ENOUGH_WORDS;
            return (piece || self.ours.ends_line(end)).then_some(end);
        }
        // A client may change a word or two of a long line, such as an address that it makes a link.
        if line.len() < 6 || is_bar(&line[0]) {
            return None;
        }
        let (mut same, mut at) = (0, start);
        for word in line.from(0) {
            let mut next = ours.from(at).take(3).take_while(|ours| !is_bar(ours));
            if let Some(skipped) = next.position(|ours| ours == word) {
                same += 1;
                at += skipped + 1;
            }
        }
        (same * 4 >= line.len() * 3).then_some(at)
    }
}

/// The words of a line in lower case, without what clients add to it. A `|`, or a `>` at its start, is a word: so an
/// order that we gave as an example, or gave back, is not taken for the same order written again.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_word(line, |word| words.push(word.to_lowercase()));
    words
}

/// What clients set before or behind an address, a link or a picture.
const ADDED: [&str; 7] = ["<mailto:", "<http:", "<https:", "<tel:", "[cid:", "[image:", "[mailto:"];

fn each_word<'a>(line: &'a str, mut take: impl FnMut(&'a str)) {
    let mut rest = line.trim();
    if rest.starts_with('>') {
        take(&rest[..1]);
        rest = &rest[1..];
    }
    while let Some(at) = rest.find(|c: char| c.is_alphanumeric() || matches!(c, '<' | '[' | '|')) {
        rest = &rest[at..];
        let end = match rest.as_bytes()[0] {
            b'|' => 1,
            b'<' | b'[' => {
                let begins = |with: &&str| {
                    rest.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with))
                };
                let added = ADDED.iter().any(begins).then(|| rest.find(['>', ']']));
                rest = added.map_or(&rest[1..], |end| end.map_or("", |end| &rest[end + 1..]));
                continue;
            }
            _ => rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len()),
        };
        take(&rest[..end]);
        rest = &rest[end..];
    }
}

/// What bars a line of ours from being taken for one without it.
fn is_bar(word: &str) -> bool {
    matches!(word, "|" | ">")
}

/// Whether the line is the first line of a letter of ours.
pub fn is_marker(line: &str) -> bool {
    // Few lines bear this word, and to find it costs less than to take the line apart.
    let may_be = line.as_bytes().windows(5).any(|word| word.eq_ignore_ascii_case(b"above"));
    may_be && line.len() < 200 && words(line).join(" ").contains("write your orders above this line")
}

/// Whether the line is, or holds, the footer with the reply token.
pub fn is_footer(line: &str) -> bool {
    line.get(..400.min(line.len())).is_some_and(|line| line.to_lowercase().contains("reply token:"))
}

/// Whether the line is a digest such as each letter of ours ends with: its first letters may look like an order.
pub fn is_digest(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['|', ' ']);
    line.len() == 64 && line.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether the line is one of those behind the footer that close a letter of ours.
pub fn is_closing(line: &str, own: &Address) -> bool {
    line.len() < 400 && {
        let line = line.to_lowercase();
        line.contains(own.as_str())
            || line.ends_with("the referee:")
            || line.contains("send help for the manual")
    }
}

/// The tokens behind [`TOKEN_LABEL`] in a text, under any quote prefix, wrapped or not.
pub fn tokens(text: &str) -> Vec<Token> {
    let lower = text.to_ascii_lowercase();
    let label = TOKEN_LABEL.to_ascii_lowercase();
    let behind = |at: usize| {
        let rest = lower[at + label.len()..].trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        Token::parse(&rest[..end])
    };
    lower.match_indices(&label).filter_map(|(at, _)| behind(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LETTER: &str = "## write your orders above this line ##\n\nTurn 4 was adjudicated on 14 May. Nothing was seen of the\nenemy in the North. For example: SHIP 4 TO C1 would do.\n\nYour ships\n----------\n    | SHIP 1 TO B2\n    | HOLD\n\nReply token: 0123456789abcdef\n";

    #[test]
    fn our_lines_are_known_under_any_wrapping() {
        let ours = OwnLetter::new(LETTER);
        let mut follow = ours.follow();
        for line in [
            "## write your orders above this line ##",
            "Turn 4 was adjudicated on 14 May. Nothing",
            "was seen",
            "of the enemy in the North. For example: SHIP 4 TO C1",
            "would do.",
            "*Your ships*",
            "| SHIP 1 TO B2",
            "   | HOLD",
            "Reply token: 0123456789abcdef",
        ] {
            assert!(follow.takes(line), "{line}");
        }
        assert!(
            ours.follow()
                .takes("Turn 4 was adjudicated on 14 May. Nothing was seen of the enemy in the North.")
        );
    }

    #[test]
    fn what_a_person_wrote_is_not_ours_even_in_our_words() {
        let ours = OwnLetter::new(LETTER);
        let mut follow = ours.follow();
        for line in ["SHIP 1 TO B2", "HOLD", "SHIP 4 TO C1", "TURN 4", "ships", "", "-----"] {
            assert!(!follow.takes(line), "{line}");
        }
        assert!(follow.takes("Your ships"));
        for line in ["SHIP 1 TO B2", "HOLD", "TURN 4"] {
            assert!(!follow.takes(line), "{line}");
        }
    }

    #[test]
    fn a_long_example_written_out_is_the_persons_own() {
        let ours = OwnLetter::new(
            "Place your fleet, for example\n\n    | CRUISER C1 D1 E1 F1 G1 H1 I1\n\nand so on.",
        );
        let mut follow = ours.follow();
        assert!(follow.takes("Place your fleet, for example"));
        assert!(!follow.takes("CRUISER C1 D1 E1 F1 G1 H1 I1"));
        assert!(follow.takes("| CRUISER C1 D1 E1 F1 G1 H1 I1"));
        let ours = OwnLetter::new("Line 2 cannot stand:\n\n    > SHIP 4 B2 TO D1\n");
        assert!(!ours.follow().takes("SHIP 4 B2 TO D1"));
    }

    #[test]
    fn a_digest_is_no_order_though_it_may_begin_like_a_move() {
        assert!(is_digest(&"b29f1dc9".repeat(8)) && is_digest(&format!("    | {}", "b29f1dc9".repeat(8))));
        assert!(!is_digest("B2 F1") && !is_digest(&"B2-F1 ".repeat(11)));
    }

    #[test]
    fn the_footer_gives_its_token_wrapped_or_quoted() {
        let token = Token::parse("0123456789abcdef").unwrap();
        assert_eq!(tokens("> Reply token: 0123456789ABCDEF.\n"), std::slice::from_ref(&token));
        assert_eq!(tokens("> reply token:\n> 0123456789abcdef"), [token]);
        assert_eq!(tokens("Reply token: none"), []);
    }
}

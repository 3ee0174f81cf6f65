//! Recognises the lines of our own letters when they appear in a reply.
//!
//! We have the letter that was answered, so its words are recognised despite any prefix or wrapping, and in
//! HTML. A person's line is mistaken for one of ours only if it repeats a whole line. None of our lines
//! starts like an order, because examples have the prefix `| `.

use std::collections::BTreeSet;
use std::ops::Index;

use crate::mail::address::{Address, Token};
use crate::mail::dialect::Dialect;

/// Maximum lines of ours to try for each quoted line, so that a letter of lines that start alike takes linear
/// time.
const MAX_CANDIDATES: usize = 64;

/// Minimum words by which the first part of a line is recognised without the rest.
const ENOUGH_WORDS: usize = 4;

/// Minimum signs of base64url in a row that are taken for data in one of our links.
pub const LINK_SIGNS: usize = 40;

/// Minimum signs in a row by which a piece of such a link is recognised, wherever it was cut.
const ENOUGH_SIGNS: usize = 20;

/// The words of one or more of our letters, as they were sent.
pub struct OwnLetter {
    /// The lines with long links.
    links: Vec<LinkLine>,
    /// The beginnings of all links, such as `https://club.example`.
    origins: BTreeSet<String>,
    words: WordBuffer,
    /// Indices in `words` at which lines start, ascending.
    starts: Vec<usize>,
    /// The same indices, sorted by the word at each.
    by_word: Vec<usize>,
}

/// A line of ours with a link that holds data: mail programs cut it anywhere, and its words in the middle.
struct LinkLine {
    data: String,
    /// The other words of the line, in lower case.
    words: Vec<String>,
}

/// Words in lower case, in a single allocation.
#[derive(Default)]
struct WordBuffer {
    text: String,
    ends: Vec<usize>,
}

/// A position in our letter, which advances as its lines are found in a reply.
pub struct Follower<'a> {
    letter: &'a OwnLetter,
    /// The index of the word after the last recognised line.
    at: usize,
    /// The link in whose data the last line ended, and the number of signs before that place.
    in_link: Option<(usize, usize)>,
}

impl WordBuffer {
    fn from_line(line: &str) -> WordBuffer {
        let mut words = WordBuffer::default();
        words.add(line);
        words
    }

    fn add(&mut self, line: &str) {
        each_word(line, |word| {
            let start = self.text.len();
            if word.is_ascii() {
                self.text.push_str(word);
                self.text[start..].make_ascii_lowercase();
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
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[at]]
    }
}

impl OwnLetter {
    pub fn new(text: &str) -> OwnLetter {
        let mut words = WordBuffer::default();
        let mut starts = Vec::new();
        let mut links = Vec::new();
        let mut origins = BTreeSet::new();
        for line in text.lines() {
            links.extend(LinkLine::of(line));
            origins.extend(line.split_whitespace().filter_map(origin).map(str::to_owned));
            let start = words.len();
            words.add(line);
            if words.len() > start {
                starts.push(start);
            }
        }
        let mut by_word = starts.clone();
        by_word.sort_by(|one, other| words[*one].cmp(&words[*other]));
        OwnLetter { links, origins, words, starts, by_word }
    }

    /// Returns the starts of the lines whose first word is `word`, ascending.
    fn lines_starting_with(&self, word: &str) -> &[usize] {
        let from = self.by_word.partition_point(|start| &self.words[*start] < word);
        let count = self.by_word[from..].partition_point(|start| &self.words[*start] == word);
        &self.by_word[from..from + count]
    }

    pub fn follow(&self) -> Follower<'_> {
        Follower { letter: self, at: 0, in_link: None }
    }

    /// Whether a link leads to where one in our letter leads.
    pub fn has_link_to(&self, url: &str) -> bool {
        origin(url).is_some_and(|origin| self.origins.contains(origin))
    }

    fn starts_line(&self, at: usize) -> bool {
        self.starts.binary_search(&at).is_ok()
    }

    fn ends_line(&self, at: usize) -> bool {
        at == self.words.len() || self.starts_line(at)
    }
}

/// The likeness of a line to one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineLikeness {
    Same,
    /// A word or two differ. The line may also come from the mail program: an attribution that names us has most words
    /// of our own footer.
    Similar,
}

impl Follower<'_> {
    /// Returns how `line` resembles one of ours, or the next piece of a rewrapped one. If it does, moves past it.
    pub fn recognise(&mut self, line: &str) -> Option<LineLikeness> {
        if self.recognise_link(line) {
            return Some(LineLikeness::Same);
        }
        let line = WordBuffer::from_line(line);
        if line.len() == 0 {
            return None;
        }
        let starts = self.letter.lines_starting_with(&line[0]);
        let ahead = starts.partition_point(|start| *start < self.at);
        let nearest =
            starts[ahead..].iter().chain(starts[..ahead].iter().rev()).copied().take(MAX_CANDIDATES);
        let found = std::iter::once(self.at).chain(nearest).find_map(|start| self.match_at(start, &line));
        let (end, likeness) = found?;
        self.at = end;
        Some(likeness)
    }

    /// Whether `line` is a piece of a link of ours, cut anywhere, with no word that is not of the link's line. If it is,
    /// moves past it.
    fn recognise_link(&mut self, line: &str) -> bool {
        let links = &self.letter.links;
        let line = line.trim_start_matches(['>', ' ', '\t']).trim_end();
        // Some programs put a blank line after each.
        if line.is_empty() {
            return false;
        }
        self.in_link = links.iter().enumerate().find_map(|(no, link)| {
            // What follows a piece is told by its place alone; nothing else stands beside it.
            let next = self.in_link.filter(|(in_link, _)| *in_link == no).map(|(_, at)| at);
            let is_next = next.is_some_and(|at| link.data[at..].starts_with(line));
            let end = if is_next { next.map(|at| at + line.len()) } else { link.end_of(line) };
            Some((no, end?))
        });
        self.in_link.is_some()
    }

    /// Returns where `line` ends in our words, if it matches them from `start` on.
    fn match_at(&self, start: usize, line: &WordBuffer) -> Option<(usize, LineLikeness)> {
        let own = &self.letter.words;
        let end = start + line.len();
        if end <= own.len() && own.from(start).zip(line.from(0)).all(|(own, word)| own == word) {
            let is_piece = !self.letter.starts_line(start) || line.len() >= ENOUGH_WORDS;
            return (is_piece || self.letter.ends_line(end)).then_some((end, LineLikeness::Same));
        }
        // Mail programs may change a word or two of a long line, such as an address that becomes a link.
        if line.len() < 6 || is_bar(&line[0]) {
            return None;
        }
        let mut same = 0;
        let mut at = start;
        for word in line.from(0) {
            let mut next = own.from(at).take(3).take_while(|own| !is_bar(own));
            if let Some(skipped) = next.position(|own| own == word) {
                same += 1;
                at += skipped + 1;
            }
        }
        (same * 4 >= line.len() * 3).then_some((at, LineLikeness::Similar))
    }
}

impl LinkLine {
    fn of(line: &str) -> Option<LinkLine> {
        let data = longest_data(line);
        let mut words = Vec::new();
        each_word(&line.replacen(data, " ", 1), |word| words.push(word.to_lowercase()));
        (data.len() >= LINK_SIGNS && line.contains("://")).then(|| LinkLine { data: data.to_owned(), words })
    }

    /// Returns the number of signs of the data after a line that holds a piece of it, and no word that is not of this
    /// line: enough signs from anywhere, or the first ones after the words.
    fn end_of(&self, line: &str) -> Option<usize> {
        let longest = longest_data(line);
        let last = line.rsplit(|c| !is_of_data(c)).next().unwrap_or_default();
        let (data, least) = if longest.len() < ENOUGH_SIGNS { (last, 2) } else { (longest, 0) };
        let start = self.data.find(data).filter(|start| least == 0 || *start == 0 && !data.is_empty())?;
        let (mut count, mut is_known) = (0, true);
        each_word(&line.replacen(data, " ", 1), |word| {
            count += 1;
            // Programs that list links at the end number them.
            let is_number = word.bytes().all(|sign| sign.is_ascii_digit());
            is_known &= is_number || self.has_word(&word.to_lowercase());
        });
        (is_known && count >= least).then_some(start + data.len())
    }

    /// Whether this is one of the words, or the end of one that was cut.
    fn has_word(&self, word: &str) -> bool {
        self.words.iter().any(|own| own.ends_with(word))
    }
}

/// Returns the scheme and host of a link.
fn origin(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"))?;
    let host = rest.split(['/', '?', '#']).next()?;
    Some(&url[..scheme.len() + "://".len() + host.len()])
}

/// Returns the longest run of base64url signs in a line.
fn longest_data(line: &str) -> &str {
    line.split(|c| !is_of_data(c)).max_by_key(|run| run.len()).unwrap_or_default()
}

/// Whether a character belongs to the alphabet of base64url (RFC 4648, 5).
pub fn is_of_data(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// Joins the words of a line by blanks, in lower case, without the additions of mail programs. A `|` counts
/// as a word, and so does a `>` at the start, so that an order in our examples or quotes differs from the
/// same order written by the player.
pub fn joined_words(line: &str) -> String {
    let mut words = String::with_capacity(line.len());
    each_word(line, |word| {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(&word.to_lowercase());
    });
    words
}

/// Starts of the additions that mail programs make to addresses, links and pictures.
const ADDED: [&str; 7] = ["<mailto:", "<http:", "<https:", "<tel:", "[cid:", "[image:", "[mailto:"];

fn each_word<'a>(line: &'a str, mut visit: impl FnMut(&'a str)) {
    let mut rest = line.trim();
    if rest.starts_with('>') {
        visit(&rest[..1]);
        rest = &rest[1..];
    }
    while let Some(at) = rest.find(|c: char| c.is_alphanumeric() || matches!(c, '<' | '[' | '|')) {
        rest = &rest[at..];
        let end = match rest.as_bytes()[0] {
            b'|' => 1,
            b'<' | b'[' => {
                let is_added = ADDED.iter().any(|added| {
                    rest.get(..added.len()).is_some_and(|start| start.eq_ignore_ascii_case(added))
                });
                rest = if is_added {
                    rest.find(['>', ']']).map_or("", |end| &rest[end + 1..])
                } else {
                    &rest[1..]
                };
                continue;
            }
            _ => rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len()),
        };
        visit(&rest[..end]);
        rest = &rest[end..];
    }
}

/// Whether the word marks an example or a quoted line; a line with the mark never matches one without it.
fn is_bar(word: &str) -> bool {
    matches!(word, "|" | ">")
}

/// Whether the line is the marker at the top of our letters.
pub fn is_marker(line: &str, dialect: &Dialect) -> bool {
    // Searching for its first word is cheaper than splitting every line into words.
    let first = dialect.marker.split(' ').next().unwrap_or_default().as_bytes();
    !dialect.marker.is_empty()
        && line.len() < 200
        && contains_word(line.as_bytes(), first)
        && joined_words(line).contains(dialect.marker)
}

/// Whether `line` contains `word`, which is ASCII in lower case, in any case.
fn contains_word(line: &[u8], word: &[u8]) -> bool {
    let Some(first) = word.first() else { return true };
    memchr::memchr2_iter(*first, first.to_ascii_uppercase(), line)
        .any(|at| line.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)))
}

/// Whether the line contains the label of the reply token.
pub fn is_footer(line: &str, dialect: &Dialect) -> bool {
    let has_label = |line: &str| line.to_lowercase().contains(dialect.token_label);
    !dialect.token_label.is_empty() && line.get(..400.min(line.len())).is_some_and(has_label)
}

/// Returns what stands before the label of the reply token in a line, without the delimiter of a signature.
pub fn before_footer<'a>(line: &'a str, dialect: &Dialect) -> Option<&'a str> {
    let at =
        line.to_ascii_lowercase().find(dialect.token_label).filter(|_| !dialect.token_label.is_empty())?;
    Some(line[..at].trim_end_matches(['-', ' ']))
}

/// Whether the line is a digest, as at the end of our letters. Its first characters may look like an order.
pub fn is_digest(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['|', ' ']);
    line.len() == 64 && line.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether the line follows the footer in our letters.
pub fn is_closing(line: &str, own: &Address, dialect: &Dialect) -> bool {
    line.len() < 400 && {
        let line = line.to_lowercase();
        line.contains(own.as_str()) || (dialect.is_closing)(&line)
    }
}

/// Returns the reply tokens in a text, under any quote prefix, wrapped or not.
pub fn tokens(text: &str, dialect: &Dialect) -> Vec<Token> {
    let lower = text.to_ascii_lowercase();
    let labels = lower.match_indices(dialect.token_label).filter(|(_, label)| !label.is_empty());
    labels.filter_map(|(at, label)| leading_token(&lower[at + label.len()..])).collect()
}

/// Returns the token that follows a label, after blanks and prefixes.
fn leading_token(text: &str) -> Option<Token> {
    let rest = text.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    Token::parse(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::dialect::example::DIALECT;

    const LETTER: &str = "## write your orders above this line ##\n\nTurn 4 was adjudicated on 14 May. Nothing was seen of the\nenemy in the North. For example: SHIP 4 TO C1 would do.\n\nYour ships\n----------\n    | SHIP 1 TO B2\n    | HOLD\n\nReply token: 0123456789abcdef\n";

    #[test]
    fn a_link_is_ours_wherever_it_was_cut_and_words_beside_it_are_not() {
        let data = "RY5BCsIwEEXv8tdZtLZqm5XbgtdwMwRjE5hJmUmK0LtLC_oCvMd7Z-bK3wL9gq7xQ-QkN3LMpVyrxw-5";
        let link = format!("To move on the board: https://club.example/play/#{data}");
        let letter = OwnLetter::new(&format!("{LETTER}\n{link}\n"));
        for width in 1..link.len() {
            let mut follower = letter.follow();
            follower.recognise(&link[..width]);
            follower.recognise(">");
            let rest = format!("> {}", &link[width..]);
            assert_eq!(follower.recognise(&rest), Some(LineLikeness::Same), "{rest}");
        }
        let mut follower = letter.follow();
        let whole = [
            format!("Move on the board <https://club.example/play/#{data}>"),
            format!(" [1] https://club.example/play/#{data}"),
        ];
        for line in whole {
            assert_eq!(follower.recognise(&line), Some(LineLikeness::Same), "{line}");
        }
        for line in
            [format!("My sister sees nothing at https://club.example/play/#{data}"), data[5..24].to_owned()]
        {
            assert_eq!(letter.follow().recognise(&line), None, "{line}");
        }
    }

    #[test]
    fn our_lines_are_recognised_under_any_wrapping() {
        let letter = OwnLetter::new(LETTER);
        let mut follower = letter.follow();
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
            assert_eq!(follower.recognise(line), Some(LineLikeness::Same), "{line}");
        }
        let joined = "Turn 4 was adjudicated on 14 May. Nothing was seen of the enemy in the North.";
        assert_eq!(letter.follow().recognise(joined), Some(LineLikeness::Same));
        let linked = "Turn 4 was adjudicated on 14 May, nothing is seen of the enemy";
        assert_eq!(letter.follow().recognise(linked), Some(LineLikeness::Similar));
    }

    #[test]
    fn short_lines_in_our_words_are_the_persons_own() {
        let letter = OwnLetter::new(LETTER);
        let mut follower = letter.follow();
        for line in ["SHIP 1 TO B2", "HOLD", "SHIP 4 TO C1", "TURN 4", "ships", "", "-----"] {
            assert_eq!(follower.recognise(line), None, "{line}");
        }
        assert_eq!(follower.recognise("Your ships"), Some(LineLikeness::Same));
        for line in ["SHIP 1 TO B2", "HOLD", "TURN 4"] {
            assert_eq!(follower.recognise(line), None, "{line}");
        }
    }

    #[test]
    fn a_copied_example_without_its_bar_is_the_persons_own() {
        let letter = OwnLetter::new(
            "Place your fleet, for example\n\n    | CRUISER C1 D1 E1 F1 G1 H1 I1\n\nand so on.",
        );
        let mut follower = letter.follow();
        assert_eq!(follower.recognise("Place your fleet, for example"), Some(LineLikeness::Same));
        assert_eq!(follower.recognise("CRUISER C1 D1 E1 F1 G1 H1 I1"), None);
        assert_eq!(follower.recognise("| CRUISER C1 D1 E1 F1 G1 H1 I1"), Some(LineLikeness::Same));
        let letter = OwnLetter::new("Line 2 cannot stand:\n\n    > SHIP 4 B2 TO D1\n");
        assert_eq!(letter.follow().recognise("SHIP 4 B2 TO D1"), None);
    }

    #[test]
    fn a_digest_that_starts_like_a_move_is_a_digest() {
        assert!(is_digest(&"b29f1dc9".repeat(8)) && is_digest(&format!("    | {}", "b29f1dc9".repeat(8))));
        assert!(!is_digest("B2 F1") && !is_digest(&"B2-F1 ".repeat(11)));
    }

    #[test]
    fn the_token_is_found_in_a_wrapped_or_quoted_footer() {
        let token = Token::parse("0123456789abcdef").unwrap();
        assert_eq!(tokens("> Reply token: 0123456789ABCDEF.\n", &DIALECT), std::slice::from_ref(&token));
        assert_eq!(tokens("> reply token:\n> 0123456789abcdef", &DIALECT), [token]);
        assert_eq!(tokens("Reply token: none", &DIALECT), []);
    }
}

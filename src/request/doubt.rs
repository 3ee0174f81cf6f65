//! Finds the order in a line that is not an order itself: `and SHIP 3 B2 TO B1`, `SHPI 4 2/1 G4`, `If he moves, HOLD`.
//!
//! Such a line is neither filed nor ignored, because its author may have meant it. The only consequence is a question,
//! so one question too many is better than a missed order; but prose about squares, as players write it to each other,
//! should not lead to one.

use super::grammar::Grammar;
use super::normalized;

/// Maximum words of an order inside a line. Longer orders, such as the fleets of a setup, stand on lines of their own.
const MAX_ORDER: usize = 12;

/// Maximum words of a line to search. Players write no longer lines, and the limit keeps the work per letter linear.
const MAX_WORDS: usize = 400;

/// Maximum other words around an order of one word, such as a point. Longer lines only mention it.
const MAX_AROUND_WORD: usize = 4;

/// Maximum words of a line that is read as an order with a misspelt or missing first word.
const MAX_MISSPELT: usize = 10;

/// Orders of one word that people use in prose too.
const WORD_ORDERS: [&str; 3] = ["HOLD", "SWAP", "PASS"];

/// Words between the two squares of a move, in several languages.
const TO: [&str; 10] = ["TO", "NACH", "VERS", "NAAR", "HACIA", "PARA", "TIL", "TILL", "ZU", "->"];

/// Returns the order that a line holds, if it holds one. `line` is normalized, and not an order as a whole.
pub fn held_order(grammar: &impl Grammar, line: &str) -> Option<String> {
    if !may_hold_order(line) {
        return None;
    }
    let line = normalized::as_order(line);
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).take(MAX_WORDS).collect();
    inside(grammar, &words).or_else(|| misspelt(grammar, &words)).or_else(|| squares(grammar, &words))
}

/// Whether the line has a digit, as squares and ships have, or one of the [`WORD_ORDERS`].
fn may_hold_order(line: &str) -> bool {
    line.bytes().any(|byte| byte.is_ascii_digit())
        || line.split(|c: char| !c.is_alphanumeric()).any(|word| is_any_of(word, &WORD_ORDERS))
}

fn is_any_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|listed| word.eq_ignore_ascii_case(listed))
}

/// Returns an order among other words.
fn inside(grammar: &impl Grammar, words: &[&str]) -> Option<String> {
    for start in 0..words.len() {
        let first = trimmed(words[start]);
        if !is_any_of(first, grammar.verbs()) && !has_coordinate(first) {
            continue;
        }
        let most = MAX_ORDER.min(words.len() - start);
        for length in (1..=most).rev().filter(|length| *length < words.len()) {
            let piece = words[start..start + length].iter().map(|word| trimmed(word));
            let piece = piece.collect::<Vec<_>>().join(" ");
            if grammar.is_order(&piece) && (length > 1 || counts_alone(&piece, words.len() - 1)) {
                return Some(piece);
            }
        }
    }
    None
}

/// Whether an order of one word is more than a mention, among this number of other words.
fn counts_alone(word: &str, others: usize) -> bool {
    let in_capitals = !word.chars().any(char::is_lowercase);
    match is_any_of(word, &WORD_ORDERS) {
        true => in_capitals || others <= 1,
        false => others <= MAX_AROUND_WORD,
    }
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '*' | '#'))
}

/// Whether the word is a square, alone or with a prefix or a second square: `A3`, `U2`, `DD2-E4`.
fn has_coordinate(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    (1..=2).contains(&letters) && word.as_bytes().get(letters).is_some_and(u8::is_ascii_digit)
}

/// Returns the order that the line becomes with another first word, or with one word added before it.
fn misspelt(grammar: &impl Grammar, words: &[&str]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    if rest.is_empty() || words.len() > MAX_MISSPELT {
        return None;
    }
    let spelt = grammar.verbs().iter().find_map(|verb| {
        let order = format!("{verb} {}", rest.join(" "));
        // A list of numbers is an order only by its first word, so that word must be meant.
        let alike =
            is_misspelt(first, verb) || rest.len() >= 3 && rest.iter().any(|word| has_coordinate(word));
        (alike && grammar.is_order(&order)).then_some(order)
    });
    spelt.or_else(|| {
        let starts_like_one = first.starts_with(|c: char| c.is_ascii_digit() || c == '#');
        let has_more = words.iter().any(|word| has_coordinate(word) || is_any_of(word, &WORD_ORDERS));
        if !starts_like_one || !has_more {
            return None;
        }
        let line = words.join(" ");
        let mut added = grammar.verbs().iter().map(|verb| format!("{verb} {line}"));
        added.find(|order| grammar.is_order(order))
    })
}

/// Whether `word` is `verb` with a letter or two wrong, missing, doubled or swapped.
fn is_misspelt(word: &str, verb: &str) -> bool {
    let word = word.to_ascii_uppercase();
    // Accented characters do not count as typing mistakes, and without them bytes are enough.
    if !word.is_ascii() || word.len().abs_diff(verb.len()) > 2 || word.len() > 16 {
        return false;
    }
    let most = if verb.len() > 4 { 2 } else { 1 };
    distance(word.as_bytes(), verb.as_bytes()) <= most
}

/// Returns the number of letters to insert, delete, replace or swap with the next to make one word from the other (the
/// restricted Damerau-Levenshtein distance).
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

/// Returns the move from square to square in a short line, in a game whose orders say more than that.
fn squares(grammar: &impl Grammar, words: &[&str]) -> Option<String> {
    if grammar.verbs().is_empty() || words.len() > MAX_MISSPELT {
        return None;
    }
    let is_square = |word: &str| normalized::is_square(trimmed(word));
    let spaced =
        words.windows(3).find(|three| is_square(three[0]) && is_any_of(three[1], &TO) && is_square(three[2]));
    let glued = words.iter().map(|word| trimmed(word)).find(|word| is_glued_move(word));
    spaced.map(|three| three.join(" ")).or_else(|| glued.map(str::to_owned))
}

/// Whether the word is `A3-B1` or `A3xB1`.
fn is_glued_move(word: &str) -> bool {
    let squares = word.split_once(['-', 'x', 'X']);
    squares.is_some_and(|(from, to)| normalized::is_square(from) && normalized::is_square(to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::any::GameKind;

    fn held(game: GameKind, line: &str) -> Option<String> {
        held_order(&game, line)
    }

    #[test]
    fn an_order_among_other_words_is_found() {
        for (game, line) in [
            (GameKind::QuadrantZ, "and SHIP 3 B2 TO B1"),
            (GameKind::QuadrantZ, "also capture b2"),
            (GameKind::QuadrantZ, "If he comes to B2, SHIP 1 A3 TO A4"),
            (GameKind::QuadrantZ, "please move ship 3 to b1, thank you"),
            (GameKind::QuadrantZ, "Then: BUILD 2/1 AT A1"),
            (GameKind::QuadrantZ, "all others HOLD"),
            (GameKind::QuadrantZ, "please hold"),
            (GameKind::QuadrantZ, "Bitte SHIP 1 HOLD"),
            (GameKind::QuadrantZ, "I think it is best if I play SHIP 1 TO B2 and see what he makes of that"),
            (GameKind::Quad, "and E6"),
            (GameKind::Quad, "I play E6."),
            (GameKind::Quad, "my turn: C4* D5* E6"),
            (GameKind::Quad, "I take the marble over: SWAP"),
            (GameKind::Quantum, "I move D3 E4"),
            (GameKind::Quantum, "my move is D3-E4, good luck"),
            (GameKind::Pacific, "then D2-E4 please"),
            (GameKind::Pacific, "and U2 FIRE K7"),
            (GameKind::Pacific, "my attack: ASW K7"),
        ] {
            assert!(held(game, line).is_some(), "{game}: {line}");
        }
    }

    #[test]
    fn an_order_with_a_misspelt_or_missing_first_word_is_found() {
        for (game, line) in [
            (GameKind::QuadrantZ, "SHPI 4 2/1 G4"),
            (GameKind::QuadrantZ, "SIHP 1 TO B2"),
            (GameKind::QuadrantZ, "shp 1 hold"),
            (GameKind::QuadrantZ, "SHIPP 2 A3 TO B1"),
            (GameKind::QuadrantZ, "CAPTRE A1"),
            (GameKind::QuadrantZ, "BIULD 2/1 AT A1"),
            (GameKind::QuadrantZ, "LOSES 3 1"),
            (GameKind::QuadrantZ, "Schiff 1 A3 TO B2"),
            (GameKind::QuadrantZ, "1 A3 TO B2"),
            (GameKind::QuadrantZ, "2 hold"),
            (GameKind::QuadrantZ, "A3-B1"),
            (GameKind::QuadrantZ, "scout goes A3 to B1"),
            (GameKind::QuadrantZ, "Schiff 1 von A3 nach B1"),
            (GameKind::Quad, "MABLE E5"),
            (GameKind::Quad, "STRA C4"),
            (GameKind::Pacific, "DESTROYR E2 F2"),
            (GameKind::Pacific, "ASE K7"),
        ] {
            assert!(held(game, line).is_some(), "{game}: {line}");
        }
    }

    #[test]
    fn prose_holds_no_order() {
        for game in GameKind::ALL {
            for line in [
                "Hello Bo, how are you?",
                "I am away until 3 January 2027.",
                "Sent on 20.11.2026 at 11:00",
                "My phone number is +49 30 123 456",
                "Tel. 030 1234567",
                "10115 Berlin, Invalidenstr. 43",
                "Thanks, turn 4 was great fun!",
                "I will hold on to it for another 3 days, then sell",
                "that was a good hold",
                "See you at 8 in room 12",
                "Good luck with the rest of the game; I did not see that threat at E6 coming at all.",
                "Kind regards, Ann",
                "My PC has 16 GB and it is on hold",
                "Version 2.1 of the rules, clause 3.4",
                "(c) 2026 Example Ltd",
                "",
            ] {
                assert_eq!(held(*game, line), None, "{game}: {line}");
            }
        }
    }

    #[test]
    fn letters_swapped_count_as_one_mistake() {
        assert_eq!(distance(b"SHPI", b"SHIP"), 1);
        assert_eq!(distance(b"SHIP", b"SHIP"), 0);
        assert_eq!(distance(b"", b"SHIP"), 4);
        assert_eq!(distance(b"CAPTRE", b"CAPTURE"), 1);
    }

    proptest::proptest! {
        #[test]
        fn searching_a_line_never_panics(line in "(SHIP|SHPI|TO|A3|B1|-|x|2/1|HOLD|and|#|\\*|é|А|:|;|,| ){0,40}") {
            for game in GameKind::ALL {
                let _ = held(*game, &line);
            }
        }
    }
}

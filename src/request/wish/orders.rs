//! Orders in words of the twelve languages: `Schiff 1 A3 nach B2`, `nave 1 da A3 a B2`, `船1をA3からB2へ移動`.
//!
//! They all have one form: the noun of a piece, its number if it has one, and one or two squares in order,
//! with words of orders around them. A line with any other word, a negation included, means no order.

use super::table::{LANGUAGES, Language};
use super::text::fold;

/// A word of such a line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// The English word for a piece or for capturing.
    Noun(&'static str),
    Number(String),
    Square(String),
}

/// Maximum characters of such a line.
const MAX_LINE: usize = 300;

/// Returns the orders that a line means, in the form of the games. Whether they are legal is not known here.
pub fn orders_in_words(line: &str) -> Option<Vec<String>> {
    if line.len() > MAX_LINE || !line.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    // Orders in English are read by the games themselves.
    LANGUAGES.iter().skip(1).find_map(|language| {
        let tokens = if language.joined { joined_tokens(line, language) } else { tokens(line, language) };
        orders(&tokens?)
    })
}

/// Reads the words of a line. `None` if one of them belongs in no order.
fn tokens(line: &str, language: &Language) -> Option<Vec<Token>> {
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut tokens = Vec::new();
    for word in words {
        let folded = fold(word);
        if let Some(noun) = language.pieces.get(&folded) {
            tokens.push(Token::Noun(noun));
        } else if is_square(&folded) {
            tokens.push(Token::Square(folded.to_ascii_uppercase()));
        } else if folded.bytes().all(|byte| byte.is_ascii_digit()) {
            tokens.push(Token::Number(folded));
        } else if !language.order_words.contains(&folded) && !language.polite.contains(&folded) {
            return None;
        }
    }
    Some(tokens)
}

/// Reads a line in a language that does not separate words.
fn joined_tokens(line: &str, language: &Language) -> Option<Vec<Token>> {
    let text: String = line.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let mut rest = text.as_str();
    let mut tokens = Vec::new();
    while let Some(c) = rest.chars().next() {
        let square = rest.bytes().skip(1).take(2).take_while(u8::is_ascii_digit).count();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let noun = language
            .pieces
            .iter()
            .find_map(|(noun, piece)| Some((rest.strip_prefix(noun.as_str())?, *piece)));
        if let Some((after, piece)) = noun {
            tokens.push(Token::Noun(piece));
            rest = after;
        } else if c.is_ascii_lowercase() && square > 0 {
            tokens.push(Token::Square(rest[..1 + square].to_ascii_uppercase()));
            rest = &rest[1 + square..];
        } else if digits > 0 {
            tokens.push(Token::Number(rest[..digits].to_owned()));
            rest = &rest[digits..];
        } else {
            let words = language.order_words.iter().filter_map(|word| rest.strip_prefix(word.as_str()));
            rest = words.min_by_key(|after| after.len())?;
        }
    }
    Some(tokens)
}

/// Whether the word is a letter and one or two digits.
fn is_square(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_lowercase())
        && (1..=2).contains(&(word.len() - 1))
        && bytes.all(|byte| byte.is_ascii_digit())
}

/// Puts the tokens into orders, each of which begins with a noun.
fn orders(tokens: &[Token]) -> Option<Vec<String>> {
    let starts: Vec<usize> = (0..tokens.len()).filter(|at| matches!(tokens[*at], Token::Noun(_))).collect();
    if starts.first() != Some(&0) {
        return None;
    }
    let ends = starts.iter().skip(1).copied().chain([tokens.len()]);
    starts.iter().zip(ends).map(|(start, end)| order(&tokens[*start..end])).collect()
}

fn order(tokens: &[Token]) -> Option<String> {
    match tokens {
        [Token::Noun("SHIP"), Token::Number(no), Token::Square(from), Token::Square(to)] => {
            Some(format!("SHIP {no} {from} TO {to}"))
        }
        [Token::Noun("SHIP"), Token::Number(no), Token::Square(to)] => Some(format!("SHIP {no} TO {to}")),
        [Token::Noun(piece @ ("MARBLE" | "STAR" | "CAPTURE")), Token::Square(square)] => {
            Some(format!("{piece} {square}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_gives_orders_by_one_skeleton() {
        for line in [
            "Schiff 1 A3 nach B2",
            "vaisseau 1 : A3 vers B2",
            "Nave 1 de A3 a B2",
            "nave 1 da A3 a B2",
            "Navio 1 de A3 para B2",
            "Schip 1 van A3 naar B2",
            "Statek 1 z A3 na B2",
            "Loď 1 z A3 na B2",
            "Корабль 1 из A3 в B2",
            "Gemi 1 A3'ten B2'ye",
            "船1をA3からB2へ移動",
        ] {
            assert_eq!(orders_in_words(line).as_deref(), Some(&["SHIP 1 A3 TO B2".to_owned()][..]), "{line}");
        }
        let both = ["STAR F5".to_owned(), "MARBLE G6".to_owned()];
        for line in ["Stern F5, Kugel G6", "Stella in F5 e biglia in G6", "Étoile en F5 puis bille en G6"] {
            assert_eq!(orders_in_words(line).as_deref(), Some(&both[..]), "{line}");
        }
    }

    #[test]
    fn other_words_and_negations_mean_no_order() {
        for line in [
            "Schiff 1 bleibt auf A3",
            "Schiff 1 nicht nach B2",
            "Wenn Schiff 1 A3 nach B2 zieht",
            "Kugel",
            "G7, bitte",
            "Mein Schiff 1 wurde auf A3 von B2 versenkt",
            "statek 1 nie z A3 na B2",
        ] {
            assert_eq!(orders_in_words(line), None, "{line}");
        }
    }
}

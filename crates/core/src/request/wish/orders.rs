//! Orders in words of each language: `Schiff 1 A3 nach B2`, `nave 1 da A3 a B2`, `船1をA3からB2へ移動`,
//! `ship one from A three to B two and ship three stays`.
//!
//! All follow one pattern: the noun of a piece, its number if it has one, and one or two squares or a word for
//! staying, with words of orders around them. A line with any other word, a negation included, is not an
//! order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::language::{LANGUAGES, Language, WordSet, contraction, fold, folded_words, longest_phrase};
use crate::letter::clean::latin;
use crate::letter::split_words;
use crate::request::normalized::is_square;

/// A word of a line of orders.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// The English word for a piece or for capturing.
    Noun(&'static str),
    Number(String),
    Square(String),
    /// A word for staying.
    Hold,
    /// A word for all ships, or the others.
    All,
}

/// Maximum bytes of a line of orders.
const MAX_LINE: usize = 300;

/// Stands for an order for each possible capture.
pub const CAPTURE_ALL: &str = "CAPTURE";

/// Maximum bytes of a line that says that ships stay.
const MAX_HOLD: usize = 120;

/// Returns the orders that a line means, in the form of the games, the two squares of a move as `A3-B2`, or
/// [`CAPTURE_ALL`]. They may be illegal.
pub fn orders_in_words(line: &str) -> Option<Vec<String>> {
    let may_hold = may_hold_orders(line);
    // A script that does not separate words may hold the name of a piece inside a word.
    if !may_hold && line.is_ascii() {
        return None;
    }
    let readings: Vec<Vec<Token>> = readings(line).collect();
    let whole = readings.iter().filter(|_| may_hold).find_map(|tokens| orders(tokens));
    let captures = || {
        (line.len() <= MAX_HOLD && readings.iter().any(|tokens| is_capturing(tokens)))
            .then(|| vec![CAPTURE_ALL.to_owned()])
    };
    whole.or_else(captures).or_else(|| orders_beside_chat(line))
}

/// The nouns of pieces in all languages. Most lines contain none, so a long letter is read quickly.
static PIECES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let pieces = LANGUAGES.iter().flat_map(|language| language.orders.pieces());
    pieces.map(|(name, _)| name.as_str()).collect()
});

/// Whether a line has a digit or names a piece.
fn may_hold_orders(line: &str) -> bool {
    line.contains(|c: char| c.is_ascii_digit())
        || split_words(line).any(|word| PIECES.contains(fold(word).as_str()))
}

/// Maximum words of a clause in a line of orders that is about something else.
const MAX_CHAT: usize = 8;

/// Returns the orders of a line with clauses about something else: `Stawiam kulkę na G7. Powodzenia!`
fn orders_beside_chat(line: &str) -> Option<Vec<String>> {
    if line.len() > MAX_LINE || !may_hold_orders(line) {
        return None;
    }
    let ends: [fn(char) -> bool; 2] = [ends_sentence, ends_clause];
    ends.into_iter().find_map(|is_end| {
        let clauses: Vec<&str> =
            line.split(is_end).filter(|clause| split_words(clause).next().is_some()).collect();
        // A single one was read as a whole line.
        if clauses.len() <= 1 {
            return None;
        }
        let clauses: Vec<(&str, Languages)> =
            clauses.into_iter().map(|clause| (clause, Languages::of_orders(clause))).collect();
        Languages::ALL.iter().find_map(|language| orders_of_clauses(&clauses, language))
    })
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ';' | '。' | '！' | '？')
}

fn ends_clause(c: char) -> bool {
    ends_sentence(c) || matches!(c, ',' | '、' | '，')
}

fn orders_of_clauses(
    clauses: &[(&str, Languages)],
    (index, language): (usize, &Language),
) -> Option<Vec<String>> {
    // Most lines hold no order, and chat takes longer to recognize.
    if !clauses.iter().any(|(_, languages)| languages.has(index)) {
        return None;
    }
    let mut found = Vec::new();
    for (clause, languages) in clauses {
        let read = || reading(clause, language).and_then(|tokens| orders(&tokens));
        match languages.has(index).then(read).flatten() {
            Some(orders) => found.extend(orders),
            None if is_chat(clause, language) => {}
            None => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Whether a clause names no piece, number and square, sets no condition, and denies nothing but that the
/// others move.
fn is_chat(clause: &str, language: &Language) -> bool {
    let words: Vec<String> = folded_words(clause).collect();
    let both = [language, &LANGUAGES[0]];
    let is_any = |is: fn(&Language, &str) -> bool| {
        words.iter().any(|word| both.iter().any(|language| is(language, word)))
    };
    let denies =
        is_any(|language, word| language.words.not.contains(word) || language.words.if_.contains(word));
    words.len() <= MAX_CHAT
        && !clause.contains(|c: char| c.is_ascii_digit())
        && !is_any(|language, word| language.orders.piece(word).is_some())
        && (!denies || is_any(|language, word| language.orders.all.contains(word)))
}

/// Whether a line says only that all ships or the others stay, or that nothing is done.
pub fn holds_in_words(line: &str) -> bool {
    line.len() <= MAX_HOLD
        && readings(line).any(|tokens| read_all_stay(&tokens).is_some_and(<[Token]>::is_empty))
}

/// Returns the only square that a line names, if its other words are those of orders: `A minha jogada é G5.`
pub fn square_in_words(line: &str) -> Option<String> {
    let clauses = line.split(ends_clause).filter(|clause| clause.contains(|c: char| c.is_ascii_digit()));
    let [clause] = clauses.collect::<Vec<_>>()[..] else { return None };
    readings(clause).find_map(|tokens| match &tokens[..] {
        [Token::Square(square)] => Some(square.clone()),
        _ => None,
    })
}

/// Whether a line says only that everything possible is captured.
fn is_capturing(tokens: &[Token]) -> bool {
    let is_part = |token: &Token| matches!(token, Token::All | Token::Noun("CAPTURE" | "STAR"));
    tokens.contains(&Token::Noun("CAPTURE")) && tokens.contains(&Token::All) && tokens.iter().all(is_part)
}

/// Returns the turn that a line names in one of the languages, if it says nothing else: `für Zug 2:`.
pub fn turn_in_words(line: &str) -> Option<u32> {
    // Most lines have no number, and a long letter has thousands.
    if !line.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let words: Vec<String> = split_words(line).map(fold).collect();
    let number = words.iter().find(|word| is_digits(word))?.parse().ok()?;
    let names_it = |language: &Language| {
        let is_known = |word: &String| is_word_of_orders(word, language) || is_digits(word);
        words.iter().filter(|word| is_digits(word)).count() == 1
            && words.iter().any(|word| language.orders.turn.contains(word))
            && words.iter().all(|word| is_known(word) || language.orders.turn.contains(word))
    };
    LANGUAGES.iter().any(names_it).then_some(number)
}

/// Reads a line in each language in which all its words belong in orders.
fn readings(line: &str) -> impl Iterator<Item = Vec<Token>> {
    let languages = if line.len() <= MAX_LINE { Languages::of_orders(line) } else { Languages::default() };
    languages.iter().filter_map(|(_, language)| reading(line, language))
}

/// A set of languages, by their places in [`LANGUAGES`].
#[derive(Clone, Copy, Default)]
struct Languages(u32);

/// The languages in whose orders each word may occur. A stranger's letter of thousands of lines is read for each game,
/// and hardly any of its words occur in any.
static VOCABULARY: LazyLock<BTreeMap<&str, Languages>> = LazyLock::new(|| {
    let mut all: BTreeMap<&str, Languages> = BTreeMap::new();
    for (index, language) in Languages::ALL.iter() {
        // English words may occur in all.
        let languages = if index == 0 { u32::MAX } else { 1 << index };
        for word in phrases_of_orders(language).flat_map(|phrase| phrase.split(' ')) {
            all.entry(word).or_default().0 |= languages;
        }
    }
    all
});

/// Returns all words and phrases that may occur in a language's orders.
fn phrases_of_orders(language: &Language) -> impl Iterator<Item = &String> {
    let Language { orders, answers, words, .. } = language;
    let sets = [&orders.hold, &orders.all, &orders.to, &orders.verbs, &answers.polite];
    let pieces = orders.pieces().map(|(name, _)| name);
    let numbers = words.numbers.keys();
    sets.into_iter().flat_map(WordSet::iter).chain(pieces).chain(numbers)
}

/// The languages that do not separate words: there, a run of characters may be several words.
static JOINED: LazyLock<Languages> = LazyLock::new(|| {
    let joined = Languages::ALL.iter().filter(|(_, language)| language.joined);
    Languages(joined.fold(0, |all, (index, _)| all | 1 << index))
});

impl Languages {
    const ALL: Languages = Languages(u32::MAX);

    /// Returns at least the languages in whose orders all words of a line may occur. Numbers, single letters
    /// and squares may occur in the orders of any language.
    fn of_orders(line: &str) -> Languages {
        let mut languages = Languages::ALL.0;
        let words =
            split_words(line).filter(|word| word.chars().count() > 1 && !word.contains(char::is_numeric));
        for word in words {
            let folded = fold(word);
            let stem = contraction(&folded).map_or(folded.as_str(), |(stem, _)| stem);
            let known = VOCABULARY.get(stem).copied().unwrap_or_default();
            languages &= if word.is_ascii() { known.0 } else { known.0 | JOINED.0 };
            if languages == 0 {
                break;
            }
        }
        Languages(languages)
    }

    fn has(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }

    fn iter(self) -> impl Iterator<Item = (usize, &'static Language)> {
        LANGUAGES.iter().enumerate().filter(move |(index, _)| self.has(*index))
    }
}

fn reading(line: &str, language: &Language) -> Option<Vec<Token>> {
    if language.joined { joined_tokens(line, language) } else { tokens(line, language) }
}

/// Whether the word may surround the piece and the squares of an order.
fn is_word_of_orders(word: &str, language: &Language) -> bool {
    let Language { orders, answers, .. } = language;
    orders.to.contains(word) || orders.verbs.contains(word) || answers.polite.contains(word)
}

/// Reads the words of a line. `None` if one of them belongs in no order. Players mix their language with the
/// English of our letters.
fn tokens(line: &str, language: &Language) -> Option<Vec<Token>> {
    let words: Vec<String> = folded_words(line).collect();
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if let Some(length) = phrase_of_holding(&words[at..], language) {
            tokens.push(Token::Hold);
            at += length;
            continue;
        }
        at += 1;
        let next = words.get(at).and_then(|next| number(next, language));
        if let (true, Some(next)) = (is_letter(word), next) {
            tokens.push(Token::Square(format!("{word}{next}").to_ascii_uppercase()));
            at += 1;
            continue;
        }
        let follows_ship = matches!(tokens.last(), Some(Token::Noun("SHIP") | Token::Number(_)));
        let spoken = number(word, language).filter(|_| follows_ship || is_digits(word));
        match square(word, language).map(Token::Square).or(spoken.map(Token::Number)) {
            Some(token) => tokens.push(token),
            // "Two stars, one on E6": the squares count.
            None if number(word, language).is_some() => {}
            None => tokens.extend(word_token(word, language)?),
        }
    }
    Some(tokens)
}

/// Maximum words of a phrase for doing nothing.
const MAX_PHRASE: usize = 5;

/// The first words of phrases for doing nothing, in all languages.
static BEGINNINGS_OF_HOLDING: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let phrases = LANGUAGES.iter().flat_map(|language| language.orders.hold.iter());
    phrases.filter_map(|phrase| Some(phrase.split_once(' ')?.0.to_owned())).collect()
});

/// Returns the number of words of the phrase for doing nothing at the beginning, if there is one of several
/// words.
fn phrase_of_holding(words: &[String], language: &Language) -> Option<usize> {
    let begins = words.first().is_some_and(|word| BEGINNINGS_OF_HOLDING.contains(word));
    let most = if begins { MAX_PHRASE.min(words.len()) } else { 0 };
    longest_phrase(words, 2..=most, |phrase| {
        [language, &LANGUAGES[0]].iter().any(|language| language.orders.hold.contains(phrase))
    })
}

/// Returns the token of a word, or `Some(None)` for a word that may only surround tokens. `None` if it
/// belongs in no order.
fn word_token(word: &str, language: &Language) -> Option<Option<Token>> {
    [language, &LANGUAGES[0]].into_iter().find_map(|language| {
        let orders = &language.orders;
        if let Some(noun) = orders.piece(word) {
            Some(Some(Token::Noun(noun)))
        } else if orders.hold.contains(word) {
            Some(Some(Token::Hold))
        } else if orders.all.contains(word) {
            Some(Some(Token::All))
        } else {
            is_word_of_orders(word, language).then_some(None)
        }
    })
}

/// Reads a line in a language that does not separate words.
fn joined_tokens(line: &str, language: &Language) -> Option<Vec<Token>> {
    let text: String = line.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let orders = &language.orders;
    let mut rest = text.as_str();
    let mut tokens = Vec::new();
    while let Some(c) = rest.chars().next() {
        let square = rest.bytes().skip(1).take(2).take_while(u8::is_ascii_digit).count();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if c.is_ascii_lowercase() && square > 0 {
            tokens.push(Token::Square(rest[..1 + square].to_ascii_uppercase()));
            rest = &rest[1 + square..];
            continue;
        }
        if digits > 0 {
            tokens.push(Token::Number(rest[..digits].to_owned()));
            rest = &rest[digits..];
            continue;
        }
        let nouns = orders.pieces().map(|(name, noun)| (name, Some(Token::Noun(noun))));
        let holds = orders.hold.iter().map(|name| (name, Some(Token::Hold)));
        let all = orders.all.iter().map(|name| (name, Some(Token::All)));
        let others = orders.to.iter().chain(orders.verbs.iter()).chain(language.answers.polite.iter());
        let words = nouns.chain(holds).chain(all).chain(others.map(|name| (name, None)));
        let found = words.filter_map(|(name, token)| Some((rest.strip_prefix(name.as_str())?, token)));
        let (after, token) = found.min_by_key(|(after, _)| after.len())?;
        tokens.extend(token);
        rest = after;
    }
    Some(tokens)
}

fn is_letter(word: &str) -> bool {
    word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_digits(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads a number in digits or in a word.
fn number(word: &str, language: &Language) -> Option<String> {
    if is_digits(word) {
        return Some(word.to_owned());
    }
    let numbers = [language, &LANGUAGES[0]].into_iter().find_map(|language| language.words.numbers.get(word));
    numbers.filter(|_| !is_letter(word)).map(|number| number.to_string())
}

/// Reads a letter, perhaps of another script, and one or two digits.
fn square(word: &str, language: &Language) -> Option<String> {
    let letters = &language.orders.letters;
    let word: String = word.chars().map(|c| letters.get(&c).copied().unwrap_or(c)).collect();
    let word = latin(&word).unwrap_or(word).to_ascii_uppercase();
    is_square(&word).then_some(word)
}

/// Turns the tokens into orders. "The others stay" needs none.
fn orders(tokens: &[Token]) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = tokens;
    while !rest.is_empty() {
        // "Ship 3 to B1. 1 and 2 stay."
        let goes_on = found.last().is_some_and(|last: &String| last.starts_with("SHIP"));
        let ships = || matches!(rest, [Token::Number(_), ..]).then(|| ship(rest)).flatten();
        if let Some((orders, after)) = if goes_on { ships().or_else(|| order(rest)) } else { order(rest) } {
            found.extend(orders);
            rest = after;
        } else {
            rest = read_all_stay(rest)?;
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Reads the orders at the beginning of the tokens, and returns the tokens after them.
fn order(tokens: &[Token]) -> Option<(Vec<String>, &[Token])> {
    use Token::{Hold, Noun, Number, Square};
    let one = |order: String, rest| Some((vec![order], rest));
    match tokens {
        [Noun("SHIP"), Number(_), ..] => ship(&tokens[1..]),
        // As in "das 1. Schiff" and "1 numaralı gemi".
        [Number(no), Noun("SHIP"), rest @ ..] => {
            let (orders, after) = aim(no, rest)?;
            Some((vec![orders], after))
        }
        [Hold, Noun("SHIP"), Number(no), rest @ ..] => one(format!("SHIP {no} HOLD"), rest),
        [Noun("CAPTURE"), Noun("STAR"), Square(square), rest @ ..]
        | [Square(square), Noun("STAR"), Noun("CAPTURE"), rest @ ..] => {
            one(format!("CAPTURE {square}"), rest)
        }
        [Noun(piece @ "STAR"), rest @ ..] if several_squares(rest) > 1 => {
            let (squares, after) = rest.split_at(several_squares(rest));
            let named = squares
                .iter()
                .filter_map(|token| if let Square(square) = token { Some(square) } else { None });
            Some((named.map(|square| format!("{piece} {square}")).collect(), after))
        }
        [Noun(piece @ ("MARBLE" | "STAR" | "CAPTURE")), Square(square), rest @ ..]
        | [Square(square), Noun(piece @ ("MARBLE" | "STAR" | "CAPTURE")), rest @ ..] => {
            one(format!("{piece} {square}"), rest)
        }
        [Square(from), Square(to), rest @ ..] => one(format!("{from}-{to}"), rest),
        _ => None,
    }
}

/// Counts the squares at the beginning that belong to the piece before them. In `E6 F5 G4 marble` the last one belongs to
/// the marble.
fn several_squares(tokens: &[Token]) -> usize {
    let squares = tokens.iter().take_while(|token| matches!(token, Token::Square(_))).count();
    match tokens[squares..] {
        [Token::Noun(_), Token::Square(_), ..] | [] => squares,
        [Token::Noun(_), ..] => squares.saturating_sub(1),
        [..] => squares,
    }
}

/// Reads the numbers of ships, and what they do.
fn ship(tokens: &[Token]) -> Option<(Vec<String>, &[Token])> {
    let numbers: Vec<&String> = tokens
        .iter()
        .map_while(|token| if let Token::Number(number) = token { Some(number) } else { None })
        .collect();
    let rest = &tokens[numbers.len()..];
    let orders: Vec<(String, &[Token])> =
        numbers.iter().map(|number| aim(number, rest)).collect::<Option<_>>()?;
    let after = orders.first()?.1;
    Some((orders.into_iter().map(|(order, _)| order).collect(), after))
}

/// Reads what a ship does: the squares of its move, or that it stays or captures.
fn aim<'t>(no: &str, tokens: &'t [Token]) -> Option<(String, &'t [Token])> {
    use Token::{Hold, Noun, Square};
    let capture = |square: &String, rest| Some((format!("CAPTURE {square}"), rest));
    match tokens {
        [Noun("CAPTURE"), Square(square), rest @ ..]
        | [Noun("CAPTURE"), Noun("STAR"), Square(square), rest @ ..]
        | [Square(square), Noun("CAPTURE"), rest @ ..]
        | [Square(square), Noun("STAR"), Noun("CAPTURE"), rest @ ..] => capture(square, rest),
        [Square(_), Hold, ..] => Some((format!("SHIP {no} HOLD"), without_holds(&tokens[1..]))),
        [Hold, ..] => {
            let rest = without_holds(tokens);
            // The square where it stays.
            let after = if let [Square(_), after @ ..] = rest { after } else { rest };
            Some((format!("SHIP {no} HOLD"), after))
        }
        [Square(from), Square(to), rest @ ..] => Some((format!("SHIP {no} {from} TO {to}"), rest)),
        [Square(to), rest @ ..] => Some((format!("SHIP {no} TO {to}"), rest)),
        _ => None,
    }
}

fn without_holds(tokens: &[Token]) -> &[Token] {
    let holds = tokens.iter().take_while(|token| **token == Token::Hold).count();
    &tokens[holds..]
}

/// Reads a statement that all ships or the others stay: `alle Schiffe bleiben stehen`.
fn read_all_stay(tokens: &[Token]) -> Option<&[Token]> {
    let is_part = |token: &&Token| matches!(token, Token::Hold | Token::All | Token::Noun("SHIP"));
    let count = tokens.iter().take_while(is_part).count();
    // A ship with a number begins another order.
    let is_next = matches!(tokens.get(count), Some(Token::Number(_)))
        && tokens[..count].last() == Some(&Token::Noun("SHIP"));
    let count = count - usize::from(is_next);
    tokens[..count].contains(&Token::Hold).then(|| &tokens[count..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_language_that_can_read_a_line_is_left_out() {
        for (_, language) in Languages::ALL.iter() {
            for name in phrases_of_orders(language) {
                for line in
                    [name.clone(), format!("ship 1 {name} a 3 b2"), format!("{name} \u{ff11} Б4, {name}")]
                {
                    let readable = Languages::of_orders(&line);
                    for (index, language) in Languages::ALL.iter() {
                        assert!(readable.has(index) || reading(&line, language).is_none(), "{line}");
                    }
                }
            }
        }
        assert_eq!(Languages::of_orders("Best regards, Ann").iter().count(), 0);
    }

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
            "Skepp 1 från A3 till B2",
            "skepp ett fran A3 till B2",
        ] {
            assert_eq!(orders_in_words(line).as_deref(), Some(&["SHIP 1 A3 TO B2".to_owned()][..]), "{line}");
        }
        let both = ["STAR F5".to_owned(), "MARBLE G6".to_owned()];
        for line in [
            "Stern F5, Kugel G6",
            "Stella in F5 e biglia in G6",
            "Étoile en F5 puis bille en G6",
            "Stjärna på F5, kula på G6",
        ] {
            assert_eq!(orders_in_words(line).as_deref(), Some(&both[..]), "{line}");
        }
    }

    #[test]
    fn other_words_and_negations_mean_no_order() {
        for line in [
            "Schiff 1 nicht nach B2",
            "Wenn Schiff 1 A3 nach B2 zieht",
            "Kugel",
            "Rest bleibt",
            "G7, bitte",
            "Mein Schiff 1 wurde auf A3 von B2 versenkt",
            "statek 1 nie z A3 na B2",
            "skepp 1 inte till B2",
            "Om Bo väntar går skepp 1 till B2",
            "Schiff 1 nach B2, aber nur wenn Bo kommt",
            // Letters and numbers in words alone name neither a piece nor a square.
            "a one b two",
        ] {
            assert_eq!(orders_in_words(line), None, "{line}");
        }
    }

    #[test]
    fn a_line_may_hold_several_orders_and_say_who_stays() {
        let moves = ["SHIP 1 A3 TO B2".to_owned(), "SHIP 3 B2 TO B1".to_owned()];
        for line in [
            "Navio 1 de A3 para B2, navio 3 de B2 para B1. Os outros ficam.",
            "Ship one from A three to B two and ship three from B two to B one everything else stays put thanks",
            "Schiff 1 von A3 nach B2 und Schiff 3 von B2 nach B1, alle anderen bleiben stehen",
            "Le vaisseau 1 va de A3 à B2, le vaisseau 3 de B2 à B1, les autres restent sur place.",
            "Nave uno da A tre a B due, nave tre da B due a B uno",
            "船1をA3からB2へ、船3をB2からB1へ移動、他はそのままでお願いします。",
            "1 numaralı gemi A3'ten B2'ye, 3 numaralı gemi B2'den B1'e, diğerleri yerinde kalsın",
            "Skepp 1 går från A3 till B2 och skepp 3 från B2 till B1, alla andra står kvar",
        ] {
            assert_eq!(orders_in_words(line).as_deref(), Some(&moves[..]), "{line}");
        }
        let stays = ["SHIP 1 A3 TO B2".to_owned(), "SHIP 3 HOLD".to_owned()];
        for line in [
            "Hi, hier meine orders: SHIP 1 A3 nach B2, ship 3 hold bitte. Cheers",
            "Statek 1 z A3 na B2, statek 3 zostaje na B2",
            "船1をA3からB2へ、船3は待機",
        ] {
            assert_eq!(orders_in_words(line).as_deref(), Some(&stays[..]), "{line}");
        }
        for (line, order) in [
            ("Ich setze meine Kugel auf G7. Schönen Sonntag noch!", "MARBLE G7"),
            ("Stawiam kulkę na G7. Powodzenia!", "MARBLE G7"),
            ("Bilyemi G7'ye koyuyorum. Bol şans!", "MARBLE G7"),
            ("Le vaisseau 1 va en B2. Les autres ne bougent pas.", "SHIP 1 TO B2"),
            ("Schiff 2 erobert den Stern auf A4", "CAPTURE A4"),
            ("船2でA4を占領", "CAPTURE A4"),
            ("Skepp 2 erövrar stjärnan på A4", "CAPTURE A4"),
            ("Jag lägger min kula på G7. Lycka till!", "MARBLE G7"),
            ("Д3-Д4", "D3-D4"),
            ("D3 nach D4", "D3-D4"),
            ("hold ship 3 please", "SHIP 3 HOLD"),
        ] {
            assert_eq!(orders_in_words(line).as_deref(), Some(&[order.to_owned()][..]), "{line}");
        }
    }

    #[test]
    fn each_language_says_that_all_ships_stay() {
        for line in [
            "Everything stays where it is.",
            "Alles bleibt stehen diese Runde.",
            "Tous les vaisseaux restent sur place.",
            "Todas las naves se quedan en su sitio.",
            "Tutte le navi restano ferme.",
            "Todos os navios ficam onde estão.",
            "Alles blijft staan deze beurt.",
            "Wszystkie statki zostają na miejscu.",
            "Všechny lodě zůstávají na místě.",
            "Все корабли остаются на месте.",
            "Bütün gemiler yerinde kalsın",
            "全艦待機でお願いします。",
            "Alla skepp stannar där de är.",
        ] {
            assert!(holds_in_words(line), "{line}");
        }
        for line in ["Hold the line, Bo!", "All the best", "Alles klar", "Ship 1 stays", "Stay well!"] {
            assert!(!holds_in_words(line), "{line}");
        }
    }

    #[test]
    fn each_language_names_the_turn() {
        for line in [
            "for turn 2:",
            "Für Zug 2",
            "Pour le tour 2 :",
            "Para el turno 2",
            "Per il turno 2",
            "Na 2. turę",
            "För drag 2:",
        ] {
            assert_eq!(turn_in_words(line), Some(2), "{line}");
        }
        for line in ["turn 2 was great", "2 turns 3", "Zug 2 fährt um 3"] {
            assert_eq!(turn_in_words(line), None, "{line}");
        }
    }
}

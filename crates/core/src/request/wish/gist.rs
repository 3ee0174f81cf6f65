//! The orders that somebody's own words mean, told by the pieces and squares in them: `make 4 go C2 and leave the rest`.
//!
//! Nobody can list the words with which people give orders, so this reads only which ship, or which noun of a piece, is
//! followed by which squares. The words between them do not count, unless they deny something or set a condition: then
//! nothing is read. What is read is offered, never filed.

use super::corrections::{change_meant, confirms};
use super::tokens::{ENDS, Token, asks, is_condition, square, squares, tokens, words_of};
use crate::game::any::GameKind;

/// Maximum words of a letter that gives orders in words.
const MAX_WORDS: usize = 80;

/// Maximum words of a line whose only square is meant although it names no piece.
const MAX_AROUND_POINT: usize = 6;

/// Maximum words of a sentence, among others, whose only square is meant although it names no piece.
const MAX_IN_SENTENCE: usize = 4;

/// Ends of all sentences.
const ENDS_OF_ALL: [char; 8] = ['.', '!', '…', ';', '。', '！', '?', '？'];

/// Returns the orders that these lines mean, in the form of the game or as `A3-B2`. They may be illegal. Empty if the
/// lines leave open what they mean.
pub fn orders_meant(lines: &[&str], game: GameKind) -> Vec<String> {
    if lines.iter().map(|line| words_of(line).len()).sum::<usize>() > MAX_WORDS {
        return Vec::new();
    }
    // A sentence may go on in the next line, and ends with its paragraph.
    let ends_paragraph = |line: &&str| line.trim().is_empty();
    let text: String =
        lines.iter().flat_map(|line| [if ends_paragraph(line) { "." } else { line }, " "]).collect();
    // "That is a knight's hop, if I understand it" sets no condition.
    let is_about_play = |sentence: &&str| {
        let counts = |token: &Token| match token {
            Token::Word | Token::Instead => false,
            // Only ships have numbers.
            Token::Number(_) => matches!(game, GameKind::QuadrantZ | GameKind::Pacific),
            _ => true,
        };
        tokens(&words_of(sentence), game).iter().any(counts)
    };
    let said: Vec<&str> = text.split_inclusive(ENDS_OF_ALL).filter(is_about_play).collect();
    let is_open = |sentence: &&str| asks(sentence) || words_of(sentence).into_iter().any(is_condition);
    if said.iter().any(is_open) {
        return Vec::new();
    }
    let words: Vec<&str> = said.iter().flat_map(|sentence| words_of(sentence)).collect();
    let around_point = words_around_point(lines, game);
    read_orders(&words, game, around_point).or_else(|| corrected_orders(&said, game)).unwrap_or_default()
}

fn read_orders(words: &[&str], game: GameKind, around_point: usize) -> Option<Vec<String>> {
    let tokens = tokens(words, game);
    match game {
        GameKind::QuadrantZ => ships(&tokens),
        GameKind::Quad => points(&tokens, around_point),
        GameKind::Quantum => only_move(&tokens),
        GameKind::Pacific => submarine(&tokens).or_else(|| only_move(&tokens)),
    }
}

/// Reads orders that later sentences correct: `My marble goes to F5. No, better G7. Yes, G7.`
fn corrected_orders(sentences: &[&str], game: GameKind) -> Option<Vec<String>> {
    let (first, rest) = sentences.split_first()?;
    let words = words_of(first);
    let mut orders = read_orders(&words, game, words.len())?;
    for sentence in rest {
        orders = change_meant(sentence, game, &orders)
            .or_else(|| confirms(sentence, game, &orders).then(|| orders.clone()))?;
    }
    Some(orders)
}

/// Returns the words of the sentence that holds the first point, or of the whole letter if that is as short.
fn words_around_point(lines: &[&str], game: GameKind) -> usize {
    let sentences = lines.iter().flat_map(|line| line.split(ENDS)).map(words_of);
    let mut with_point = sentences.filter(|words| words.iter().any(|word| square(word, game).is_some()));
    let all: usize = lines.iter().map(|line| words_of(line).len()).sum();
    // A sentence among others says little else.
    with_point.next().map_or(all, |words| all.min(words.len() + MAX_AROUND_POINT - MAX_IN_SENTENCE))
}

/// Reads ships by their numbers, each with what follows up to the next ship.
fn ships(tokens: &[Token]) -> Option<Vec<String>> {
    let is_ship = |token: &Token| matches!(token, Token::Number(_));
    let first = tokens.iter().position(is_ship)?;
    // A square before the first ship may be its goal, or anything.
    if !squares(&tokens[..first]).is_empty() {
        return None;
    }
    let mut orders = Vec::new();
    let mut waiting: Vec<&str> = Vec::new();
    let mut rest = &tokens[first..];
    while let Some((Token::Number(no), after)) = rest.split_first() {
        let length = after.iter().position(is_ship).unwrap_or(after.len());
        let (said, next) = after.split_at(length);
        rest = next;
        waiting.push(no);
        let captures = said.contains(&Token::Capture);
        let goals = squares(said);
        let order = |no: &&str| match goals[..] {
            [square] if captures => Some(format!("CAPTURE {square}")),
            [to] => Some(format!("SHIP {no} TO {to}")),
            [from, to] => Some(format!("SHIP {no} {from} TO {to}")),
            [] if said.contains(&Token::Hold) => Some(format!("SHIP {no} HOLD")),
            _ => None,
        };
        if goals.is_empty() && !said.contains(&Token::Hold) && !rest.is_empty() {
            // "Ships 1 and 3 to B2".
            continue;
        }
        orders.extend(waiting.drain(..).map(|no| order(&no)).collect::<Option<Vec<_>>>()?);
    }
    waiting.is_empty().then_some(orders)
}

/// Reads stars and a marble by their nouns. A single point in a short letter is the marble's.
fn points(tokens: &[Token], words: usize) -> Option<Vec<String>> {
    let all = squares(tokens);
    let names_marble = tokens.contains(&Token::Marble);
    let names_star = tokens.contains(&Token::Star);
    if let ([point], false) = (&all[..], names_star) {
        return (names_marble || words <= MAX_AROUND_POINT).then(|| vec![format!("MARBLE {point}")]);
    }
    let is_square = |token: &&Token| matches!(token, Token::Square(_));
    let is_replaced = all.len() < tokens.iter().filter(is_square).count();
    if !names_marble || is_replaced {
        return None;
    }
    let mut noun = None;
    let mut orders = Vec::new();
    for token in tokens {
        match token {
            Token::Star => noun = Some("STAR"),
            Token::Marble => noun = Some("MARBLE"),
            Token::Square(point) => orders.extend(noun.map(|noun| format!("{noun} {point}"))),
            _ => {}
        }
    }
    // The marble ends a turn, whatever was said first.
    orders.sort_by_key(|order| order.starts_with("MARBLE"));
    let marbles = orders.iter().filter(|order| order.starts_with("MARBLE")).count();
    (marbles == 1).then_some(orders)
}

/// Reads the only move in the tokens.
fn only_move(tokens: &[Token]) -> Option<Vec<String>> {
    match squares(tokens)[..] {
        [from, to] => Some(vec![format!("{from}-{to}")]),
        _ => None,
    }
}

/// Reads the order of a submarine by its number.
fn submarine(tokens: &[Token]) -> Option<Vec<String>> {
    let at = tokens.iter().position(|token| *token == Token::Submarine)?;
    let no =
        tokens[at..].iter().find_map(|token| if let Token::Number(no) = token { Some(no) } else { None })?;
    let order = match squares(tokens)[..] {
        [to] if tokens.contains(&Token::Fire) => format!("U{no} FIRE {to}"),
        [to] if tokens.contains(&Token::Sonar) => format!("U{no} SONAR {to}"),
        [to] => format!("U{no} TO {to}"),
        [from, to] => format!("U{no} {from} {to}"),
        _ => return None,
    };
    Some(vec![order])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(game: GameKind, text: &str) -> Vec<String> {
        orders_meant(&text.lines().collect::<Vec<_>>(), game)
    }

    #[test]
    fn ships_are_read_by_their_numbers_whatever_words_surround_them() {
        for (text, orders) in [
            ("All ships hold except 1, which goes to B2.", "SHIP 1 TO B2"),
            ("Make 4 go C2 and leave everything else as I said before", "SHIP 4 TO C2"),
            ("Ich habe mich vertippt, Schiff 1 soll nach B1 statt B2.", "SHIP 1 TO B1"),
            (
                "Okay send this ship one to B two full stop ship three to B one full stop thank you",
                "SHIP 1 TO B2/SHIP 3 TO B1",
            ),
            ("Az 1-es hajó menjen A3-ról B2-re", "SHIP 1 A3 TO B2"),
            ("Ship 1 to be two", "SHIP 1 TO B2"),
            ("Jag skrev fel, skepp 1 ska till B1 istället för B2.", "SHIP 1 TO B1"),
            ("1 and 3 both to B2 please", "SHIP 1 TO B2/SHIP 3 TO B2"),
            ("Birinci gemiyi A3'ten B2'ye götürmek istiyorum, diğerleri yerinde kalsın.", "SHIP 1 A3 TO B2"),
            ("Mein drittes Schiff fliegt nach B1, danke", "SHIP 3 TO B1"),
        ] {
            assert_eq!(meant(GameKind::QuadrantZ, text).join("/"), orders, "{text}");
        }
    }

    #[test]
    fn a_point_beside_few_words_is_the_marbles() {
        for text in ["Marvel G7", "g7 👍", "Marbleg7", "G7'ye koyuyorum", "我下G7。谢谢！", "G7 not G8"]
        {
            assert_eq!(meant(GameKind::Quad, text), ["MARBLE G7"], "{text}");
        }
        let text = "Bo's E5 has to be blocked I think... Star D4, then my marble goes to D5 I guess";
        assert_eq!(meant(GameKind::Quad, text), ["STAR D4", "MARBLE D5"]);
        let text = "Meine Kugel kommt auf F5. Vorher bitte einen Stern auf E6, damit er dort nicht stört.";
        assert_eq!(meant(GameKind::Quad, text), ["STAR E6", "MARBLE F5"]);
        for text in [
            "Pongo mi canica en F5. No, espera, mejor en G7. Sí, G7.",
            "My marble goes on F5. No wait, I meant G7, not F5.",
        ] {
            assert_eq!(meant(GameKind::Quad, text), ["MARBLE G7"], "{text}");
        }
    }

    #[test]
    fn sentences_about_something_else_leave_the_order_as_it_is() {
        let text = "The one on O5, please send it forward to N7. That's a knight's hop if I understand it.";
        assert_eq!(meant(GameKind::Pacific, text), ["O5-N7"]);
        let text = "bu sefer F5'e oynuyorum. Bir sonraki tur ne zaman?";
        assert_eq!(meant(GameKind::Quad, text), ["MARBLE F5"]);
        // A condition may be wrapped.
        assert_eq!(meant(GameKind::Pacific, "Please, if he\nattacks me there, then O5 to N7."), [""; 0]);
    }

    #[test]
    fn a_point_in_a_short_sentence_is_the_marbles() {
        for text in [
            "hi i am ben im 8 i want to putt my marbel on g7 pleez and wen do i win",
            "hallo ich bin emma und papa hat gesagt ich darf heute spielen. ich nehme G7",
            "The boiler broke, and the dog ran away.\nPS: G7",
        ] {
            assert_eq!(meant(GameKind::Quad, text), ["MARBLE G7"], "{text}");
        }
    }

    #[test]
    fn moves_and_submarines_are_read_by_their_squares() {
        assert_eq!(meant(GameKind::Quantum, "the queen from d3 to d4 please"), ["D3-D4"]);
        assert_eq!(meant(GameKind::Quantum, "hey um move d three to d four please, bye"), ["D3-D4"]);
        assert_eq!(meant(GameKind::Pacific, "destroyer b5 to c7"), ["B5-C7"]);
        assert_eq!(meant(GameKind::Pacific, "I would like my submarine number 2 at H9"), ["U2 TO H9"]);
        assert_eq!(meant(GameKind::Pacific, "let sub 2 shoot at H9"), ["U2 FIRE H9"]);
        assert_eq!(meant(GameKind::Pacific, "ubåt 2 skjuter mot H9"), ["U2 FIRE H9"]);
    }

    #[test]
    fn what_leaves_its_meaning_open_is_not_read() {
        for text in [
            "If he attacks A3 then ship 1 goes to B2",
            "Is ship 1 at B2?",
            "ship 1 to B2 or B3",
            "I have 3 ships",
            "B2 looks nice for 1",
            "ship 1 to B2 unless Bo is there",
            "skepp 1 till B2 om Bo går till A3",
        ] {
            assert_eq!(meant(GameKind::QuadrantZ, text), [""; 0], "{text}");
        }
        for text in [
            "B4 I go to bed: what a lovely game this is!",
            "G7 or G8",
            "Should I play G7?",
            "Nice, F6 G7 and H8 in a row",
        ] {
            assert_eq!(meant(GameKind::Quad, text), [""; 0], "{text}");
        }
    }
}

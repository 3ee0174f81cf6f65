//! Orders as words beside them, or in a later letter, change them: `please make A2 an A1`, `leave ship 3 where it is`.

use std::collections::BTreeSet;

use super::tokens::{
    ENDS, Token, asks, is_condition, is_ship, only, square, squares, squares_of, tokens, words_of,
};
use crate::game::any::GameKind;
use crate::language::{LANGUAGES, Language, OrderWords, Phrases, Topic, Word, any_has, fold};
use crate::request;
use crate::request::normalized::is_square;

/// Whether a sentence names no other squares than those of the orders, but for squares that another replaces, and no
/// other number.
pub(super) fn confirms(sentence: &str, game: GameKind, orders: &[String]) -> bool {
    let tokens = tokens(&words_of(sentence), game);
    let is_ordered = |square: &&str| orders.iter().any(|order| squares_of(order).any(|own| own == *square));
    !asks(sentence)
        && !squares(&tokens).is_empty()
        && squares(&tokens).iter().all(is_ordered)
        && !tokens.iter().any(|token| matches!(token, Token::Number(_)))
}

/// Maximum words of a line that corrects an order by another square, whatever else it says: `Err, H7.`
const MAX_SHORT_CORRECTION: usize = 3;

/// Maximum bytes of a line whose sentences each correct something.
const MAX_CORRECTING: usize = 400;

/// Maximum words of a letter that replaces a square of the orders that are filed.
const MAX_CORRECTION: usize = 30;

/// Returns the filed orders as a letter corrects them: `please make A2 an A1`, `I meant G8`. They may be illegal. `None` if
/// it leaves open what it corrects.
pub fn correction_meant(lines: &[&str], game: GameKind, filed: &[String]) -> Option<Vec<String>> {
    let words: Vec<&str> = lines.iter().flat_map(|line| words_of(line)).collect();
    if filed.is_empty() || words.len() > MAX_CORRECTION {
        return None;
    }
    // "If it is not too late, could ship 4 go to G2 and not G1?" denies the old square, so that it is no musing.
    let muses = lines.iter().any(|line| asks(line)) || words.iter().any(|word| is_condition(word));
    let is_open = muses || lines.iter().any(|line| request::takes_back(line));
    let corrects = !muses && lines.iter().any(|line| corrects(line));
    by_squares(&words, game, filed, is_open)
        .or_else(|| corrects.then(|| by_new_squares(&words, game, filed)).flatten())
}

/// Returns the orders of a letter as a line beside them changes them, as a whole or sentence by sentence: it names the
/// ship of one of them and another square, such as `For 2 I would rather have F4`, says that a square or a move replaces
/// another, or that a ship stays.
pub fn change_meant(line: &str, game: GameKind, orders: &[String]) -> Option<Vec<String>> {
    let change = |said: &str, orders: &[String]| {
        one_change(said, game, orders).or_else(|| stay_meant(&[said], game, orders))
    };
    change(line, orders).or_else(|| {
        if line.len() > MAX_CORRECTING {
            return None;
        }
        let mut changed = orders.to_vec();
        for sentence in line.split_inclusive(ENDS) {
            match change(sentence, &changed) {
                Some(next) => changed = next,
                None if confirms(sentence, game, &changed) => {}
                // What is not understood may be about the orders, too.
                None if sentence.contains(|c: char| c.is_numeric()) => return None,
                None => {}
            }
        }
        Some(changed).filter(|changed| changed != orders)
    })
}

fn one_change(said: &str, game: GameKind, orders: &[String]) -> Option<Vec<String>> {
    let words = words_of(said);
    if words.len() > MAX_CORRECTION {
        return None;
    }
    let of_ship = (game == GameKind::QuadrantZ).then(|| by_ship(&words, game, orders)).flatten();
    let is_short = words.len() <= MAX_SHORT_CORRECTION && !asks(said);
    if !is_short && !corrects(said) {
        return of_ship;
    }
    // "C9 is not as good as C6" denies no square.
    of_ship
        .or_else(|| by_squares(&words, game, orders, !was_meant_otherwise(said)))
        .or_else(|| (!asks(said)).then(|| by_new_squares(&words, game, orders)).flatten())
}

/// Whether a line corrects something: it says that something is replaced or preferred, or was meant otherwise.
pub fn corrects(line: &str) -> bool {
    let replaces = |word: &str| {
        let word = fold(word);
        any_has(&word, |language| &language.orders.instead)
            || any_has(&word, |language| &language.orders.rather)
    };
    was_meant_otherwise(line) || words_of(line).into_iter().any(replaces)
}

/// Whether a line begins with a word that takes back, or says that something was meant otherwise.
fn was_meant_otherwise(line: &str) -> bool {
    let said: Vec<Word> = words_of(line).iter().map(|word| Word::new(fold(word), 0, 0)).collect();
    let says = |language: &Language| {
        language.wishes.get(&Topic::Change).is_some_and(|said_so| said_so.any_in(&said))
    };
    request::takes_back(line) || LANGUAGES.iter().any(says)
}

/// Corrects the orders that end with one of the two squares that are named, if no order has the other.
fn by_squares(words: &[&str], game: GameKind, orders: &[String], is_open: bool) -> Option<Vec<String>> {
    // Each square, and whether a word before or behind it denies it.
    let mut named: Vec<(String, bool)> = Vec::new();
    let mut start = 0;
    for (at, word) in words.iter().enumerate() {
        let Some(square) = square(word, game) else { continue };
        let before = words[start..at].iter().rev().take(3);
        let is_denied = before.into_iter().any(|word| denies(&fold(word)))
            || words
                .get(at + 1)
                .is_some_and(|next| any_has(&fold(next), |language| &language.orders.denying_behind));
        start = at + 1;
        if named.iter().all(|(known, _)| *known != square) {
            named.push((square, is_denied));
        }
    }
    let is_ordered = |square: &str| orders.iter().any(|order| squares_of(order).any(|word| word == square));
    // `It was D5-C7` names a move.
    let is_move = matches!(game, GameKind::Quantum | GameKind::Pacific)
        && words.windows(2).any(|two| two.iter().all(|word| square(word, game).is_some()))
        && named.iter().all(|(_, is_denied)| !is_denied);
    if is_move {
        return None;
    }
    let (old, new, is_old_denied) = match &named[..] {
        [(one, old), (other, false)] if is_ordered(one) && !is_ordered(other) => (one, other, *old),
        [(one, false), (other, old)] if is_ordered(other) && !is_ordered(one) => (other, one, *old),
        _ => return None,
    };
    let is_changed = |order: &String| order.ends_with(old.as_str());
    if is_open && !is_old_denied || !orders.iter().any(is_changed) {
        return None;
    }
    let changed = orders.iter().map(|order| match is_changed(order) {
        true => format!("{}{new}", &order[..order.len() - old.len()]),
        false => order.clone(),
    });
    Some(changed.collect())
}

/// Corrects the only order with a square by the only other square that is named, or by a whole move.
fn by_new_squares(words: &[&str], game: GameKind, orders: &[String]) -> Option<Vec<String>> {
    let has_point = |order: &&String| squares_of(order).count() > 0 && !order.starts_with("STAR");
    let old = only(orders.iter().filter(has_point))?;
    let is_move = matches!(game, GameKind::Quantum | GameKind::Pacific) && squares_of(old).count() == 2;
    if is_move && let Some(new) = other_move(words, game, old) {
        return Some(with(orders, old, new));
    }
    let tokens = tokens(words, game);
    // A number names another piece.
    if tokens.iter().any(|token| matches!(token, Token::Number(_))) {
        return None;
    }
    let mut named = squares(&tokens);
    named.dedup();
    // A line that names a square of the order, too, may compare them.
    let names_own = words
        .iter()
        .filter_map(|word| square(word, game))
        .any(|named| squares_of(old).any(|own| own == named));
    let new = match named[..] {
        [square] if !names_own => {
            let last = squares_of(old).last()?;
            format!("{}{square}", &old[..old.rfind(last)?])
        }
        _ => return None,
    };
    Some(with(orders, old, new))
}

/// Returns the only move beside the one that is ordered, unless it is denied.
fn other_move(words: &[&str], game: GameKind, ordered: &str) -> Option<String> {
    let moves = words.windows(2).enumerate().filter_map(|(at, two)| {
        let (from, to) = (square(two[0], game)?, square(two[1], game)?);
        let is_other = !squares_of(ordered).eq([from.as_str(), to.as_str()]);
        is_other.then(|| (at, format!("{from}-{to}")))
    });
    let (at, new) = only(moves)?;
    let is_denied = at > 0 && denies(&fold(words[at - 1]));
    (!is_denied).then_some(new)
}

/// Returns these orders with the one with which a ship stays, if words say so of one ship whose order moves it, or take that
/// order back: `about ship 1: leave it where it is`.
pub fn stay_meant(lines: &[&str], game: GameKind, orders: &[String]) -> Option<Vec<String>> {
    let words: Vec<&str> = lines.iter().flat_map(|line| words_of(line)).collect();
    let asks = lines.iter().any(|line| asks(line));
    if game != GameKind::QuadrantZ || asks || words.len() > MAX_CORRECTION {
        return None;
    }
    let said: Vec<Word> = words.iter().map(|word| Word::new(fold(word), 0, 0)).collect();
    let has =
        |of: fn(&OrderWords) -> &Phrases| LANGUAGES.iter().any(|language| of(&language.orders).any_in(&said));
    let takes_back = lines.iter().any(|line| request::takes_back(line));
    if words.iter().any(|word| is_condition(word))
        || has(|orders| &orders.except)
        || !takes_back && !has(|orders| &orders.stays)
    {
        return None;
    }
    let tokens = tokens(&words, game);
    // "Another try" names no ship 1.
    let names_ship = said.iter().any(|word| is_ship(&word.text));
    let no =
        only_ship(&tokens).filter(|no| names_ship || words.iter().any(|word| word.contains(no.as_str())))?;
    let order = orders.iter().find(|order| is_of_ship(order, no))?;
    let is_of_order = |square: &&str| order.split(' ').any(|word| word == *square);
    let moves = !order.ends_with("HOLD");
    (moves && squares(&tokens).iter().all(is_of_order))
        .then(|| with(orders, order, format!("SHIP {no} HOLD")))
}

/// Returns the orders with another one in place of one of them.
fn with(orders: &[String], old: &String, new: String) -> Vec<String> {
    orders.iter().map(|order| if order == old { new.clone() } else { order.clone() }).collect()
}

/// Whether an order is about the ship of this number.
fn is_of_ship(order: &str, no: &str) -> bool {
    let mut words = order.split(' ');
    words.next().is_some_and(|verb| verb.eq_ignore_ascii_case("SHIP")) && words.next() == Some(no)
}

/// Returns the number of the only ship that words name: `ship 3`, `3`, `the third ship`.
fn only_ship(tokens: &[Token]) -> Option<&String> {
    let numbers: BTreeSet<&String> = tokens
        .iter()
        .filter_map(|token| if let Token::Number(no) = token { Some(no) } else { None })
        .collect();
    only(numbers.into_iter())
}

/// Corrects the order of the only ship that is named by the only other square.
fn by_ship(words: &[&str], game: GameKind, orders: &[String]) -> Option<Vec<String>> {
    let tokens = tokens(words, game);
    let no = only_ship(&tokens)?;
    let order = only(orders.iter().filter(|order| is_of_ship(order, no)))?;
    let is_of_order = |square: &str| order.split(' ').any(|word| word.eq_ignore_ascii_case(square));
    let mut others: Vec<&str> = squares(&tokens).into_iter().filter(|square| !is_of_order(square)).collect();
    others.dedup();
    let [square] = others[..] else { return None };
    let (before, last) = order.rsplit_once(' ')?;
    let changed = match is_square(last) {
        true => format!("{before} {square}"),
        false => format!("SHIP {no} TO {square}"),
    };
    Some(with(orders, order, changed))
}

/// Whether a word denies something, or says that something is replaced.
fn denies(word: &str) -> bool {
    any_has(word, |language| &language.orders.instead) || any_has(word, |language| &language.words.not)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_squares_correct_what_is_filed() {
        let filed = ["SHIP 1 F3 TO A2".to_owned(), "SHIP 2 HOLD".to_owned()];
        let corrected = |text: &str| {
            joined(correction_meant(&text.lines().collect::<Vec<_>>(), GameKind::QuadrantZ, &filed))
        };
        for text in [
            "In the orders I sent this morning, please change A2 into A1.",
            "Me equivoqué: el barco 1 no va a A2 sino a A1.",
            "A1 statt A2 bitte",
            "not A2, A1",
        ] {
            assert_eq!(corrected(text), "SHIP 1 F3 TO A1/SHIP 2 HOLD", "{text}");
        }
        for text in
            ["A2, not A1", "nicht A1, sondern A2", "A1 or A2?", "A1 and A3", "if he goes to A1 then A2"]
        {
            assert_eq!(corrected(text), "", "{text}");
        }
    }

    #[test]
    fn a_question_corrects_only_if_it_denies_the_old_square() {
        let filed = ["SHIP 4 F1 TO G1".to_owned()];
        let corrected = |text: &str| joined(correction_meant(&[text], GameKind::QuadrantZ, &filed));
        for text in [
            "If it's not too late, could ship 4 go to G2 and not G1?",
            "Könnte Schiff 4 nach G2 statt G1?",
            "Le vaisseau 4 pourrait-il aller en G2 et pas G1 ?",
        ] {
            assert_eq!(corrected(text), "SHIP 4 F1 TO G2", "{text}");
        }
        for text in ["Is G2 better than G1?", "Ist G2 besser als G1?", "Could ship 4 reach G2?"] {
            assert_eq!(corrected(text), "", "{text}");
        }
    }

    #[test]
    fn a_ship_whose_order_is_taken_back_stays() {
        let filed = ["SHIP 1 G4 TO L2".to_owned(), "SHIP 3 B2 TO C1".to_owned()];
        let stays = |text: &str| joined(stay_meant(&[text], GameKind::QuadrantZ, &filed));
        for text in [
            "About ship 3: leave it where it is after all, the others as I said.",
            "Отмените ход третьим кораблём, остальное в силе.",
            "Schiff 3 soll doch lieber stehen bleiben, alles andere gilt.",
            "Annulez l'ordre du vaisseau 3, le reste est bon.",
        ] {
            assert_eq!(stays(text), "SHIP 1 G4 TO L2/SHIP 3 HOLD", "{text}");
        }
        for text in [
            "Cancel everything except ship 3",
            "Leave ship 1 and ship 3",
            "Ship 2 stays where it is",
            "Where is ship 3?",
            "If he comes, leave ship 3",
            "Ship 3 is a beauty",
            "Oh, too far. Another try:",
        ] {
            assert_eq!(stays(text), "", "{text}");
        }
    }

    #[test]
    fn a_remark_about_the_ship_of_an_order_changes_it() {
        let orders = ["SHIP 1 G4 TO L2".to_owned(), "SHIP 2 K2 TO F3".to_owned()];
        let changed = |text: &str| joined(change_meant(text, GameKind::QuadrantZ, &orders));
        for text in [
            "Pour le 2, je préfère F4 en fait.",
            "With ship 2 I would like F4 better than F3.",
            "Schiff 2 wäre auf F4 doch besser.",
        ] {
            assert_eq!(changed(text), "SHIP 1 G4 TO L2/SHIP 2 K2 TO F4", "{text}");
        }
        let text = "Sorry, I meant L1 for ship 1. And ship 2 stays where it is!";
        assert_eq!(changed(text), "SHIP 1 G4 TO L1/SHIP 2 HOLD");
        assert_eq!(changed("Ship 1 to L1 please. I wonder about F4."), "");
        for text in ["Ship 2 leaves K2 at last", "F4 looks empty", "My 2 cats like it", "Ships 1 and 2 to F4"]
        {
            assert_eq!(changed(text), "", "{text}");
        }
    }

    #[test]
    fn a_remark_that_corrects_an_order_changes_it_in_every_game() {
        for (game, order, text, changed) in [
            (GameKind::Quad, "MARBLE C6", "Perdón, quise decir C9.", "MARBLE C9"),
            (GameKind::Quad, "MARBLE C6", "Nein, doch lieber C9", "MARBLE C9"),
            (GameKind::Quad, "MARBLE C6", "C9 instead of C6 please", "MARBLE C9"),
            (GameKind::Quad, "MARBLE C6", "Err, C9.", "MARBLE C9"),
            (GameKind::Quantum, "D3 D4", "scratch that e3-e4", "E3-E4"),
            (GameKind::Quantum, "D3 D4", "Nah, rather E3-E4.", "E3-E4"),
            (GameKind::Quantum, "D3 D4", "Lieber E3-E4 statt D3-D4", "E3-E4"),
            (GameKind::Quantum, "D3 D4", "Sorry, D5 not D4", "D3 D5"),
            (GameKind::Pacific, "B5-C7", "Espere, o meu dedo escorregou: era D5-C7.", "D5-C7"),
            (GameKind::Pacific, "B5-C7", "oops, I meant D6", "B5-D6"),
        ] {
            assert_eq!(joined(change_meant(text, game, &[order.to_owned()])), changed, "{text}");
        }
        for text in
            ["After C9 I fear C6", "C9 is not as good as C6", "I do not fear C9", "C9 looks so empty", "C9?"]
        {
            assert_eq!(joined(change_meant(text, GameKind::Quad, &["MARBLE C6".to_owned()])), "", "{text}");
        }
        let order = ["B5-C7".to_owned()];
        let text = "Ошибся строкой, правильный ход пришлю вечером.";
        assert_eq!(joined(change_meant(text, GameKind::Pacific, &order)), "");
        let orders = ["STAR E8".to_owned(), "MARBLE D4".to_owned()];
        let corrected = correction_meant(&["I meant D5, not D4"], GameKind::Quad, &orders);
        assert_eq!(joined(corrected), "STAR E8/MARBLE D5");
        let orders = ["SHIP 1 A3 TO B2".to_owned()];
        let corrected = correction_meant(&["Ich wollte nicht B2, sondern B1"], GameKind::QuadrantZ, &orders);
        assert_eq!(joined(corrected), "SHIP 1 A3 TO B1");
    }

    fn joined(orders: Option<Vec<String>>) -> String {
        orders.unwrap_or_default().join("/")
    }
}

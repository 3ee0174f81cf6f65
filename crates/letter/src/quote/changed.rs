//! Requests that a person wrote into the quote of our letter, such as over the form in it.
//!
//! Nothing in a quote is new text. But a line there that we did not write may be meant for us, so its author can be
//! asked about it.

use super::own_letter::{LineLikeness, OwnLetter};
use crate::mail::dialect::Dialect;
use crate::text::lines::{Layer, TextLine};

/// Maximum lines to return. Forms are shorter.
const MAX_CHANGED: usize = 20;

/// Returns the requests among the quoted lines of our letter that are none of its lines. Unless the letter `asks_nothing`
/// else, one with our bar may be of a letter that we no longer have, and one of our examples may have lost its bar on the
/// way, so neither counts.
///
/// They stand directly between lines of ours, or at the end of the quote: in the quote of another letter, such as an
/// earlier one from the same person, other lines are next to them.
pub fn changed_lines<'a>(
    lines: &'a [TextLine],
    own_letter: &OwnLetter,
    dialect: &Dialect,
    asks_nothing: bool,
) -> Vec<&'a str> {
    let is_example =
        |text: &str| own_letter.follow().recognise(&format!("| {text}")) == Some(LineLikeness::Same);
    let mut follower = own_letter.follow();
    let mut found = Vec::new();
    // Those whose next line is still to come.
    let mut pending = Vec::new();
    let mut is_below_ours = false;
    for line in lines {
        let is_own = follower.recognise(&line.text).is_some();
        if line.is_blank() {
            continue;
        }
        let text = line.text.trim().trim_matches('|').trim();
        let is_in_quote = line.layer == Layer::Quoted && line.depth <= 1;
        let is_changed = is_in_quote && !is_own && is_below_ours && (dialect.begins_like_request)(text);
        if !is_changed {
            if is_own || !is_in_quote {
                found.append(&mut pending);
            }
            pending.clear();
        } else if found.len() + pending.len() < MAX_CHANGED
            && (asks_nothing || !line.text.trim_start().starts_with('|') && !is_example(text))
        {
            pending.push(text);
        }
        is_below_ours = is_in_quote && is_own || is_changed;
    }
    found.append(&mut pending);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::dialect::example::DIALECT;
    use crate::mail::limits::{Limits, LineBudget};
    use crate::text::html;
    use crate::text::lines::plain_lines;

    const LETTER: &str = "Turn 4 is open.\n\nYour orders, for example:\n\n    | SHIP 1 TO B2\n    | SHIP 2 HOLD\n\nSend HELP for the manual.\n";

    fn changed(text: &str) -> Vec<String> {
        changed_in(text, true)
    }

    fn changed_in(text: &str, asks_nothing: bool) -> Vec<String> {
        let mut budget = LineBudget::new(&Limits::default());
        let lines = match text.starts_with('<') {
            true => html::read(text, &mut budget).expect("few lines").lines,
            false => plain_lines(text, false, false, &mut budget).expect("few lines"),
        };
        changed_lines(&lines, &OwnLetter::new(LETTER), &DIALECT, asks_nothing)
            .into_iter()
            .map(str::to_owned)
            .collect()
    }

    fn quoted(text: &str) -> String {
        text.lines().map(|line| format!("> {line}\n")).collect()
    }

    #[test]
    fn a_form_that_was_overwritten_in_the_quote_is_found() {
        for (written, found) in [
            ("    | SHIP 1 TO C3\n    | SHIP 2 HOLD", &["SHIP 1 TO C3"][..]),
            ("    SHIP 1 TO C3\n    SHIP 2 TO D4", &["SHIP 1 TO C3", "SHIP 2 TO D4"]),
            ("SHIP 1 TO B2", &["SHIP 1 TO B2"]),
            ("|SHIP 1 TO C3|", &["SHIP 1 TO C3"]),
            ("    | SHIP 1 TO B2\n    | SHIP 2 HOLD\n    | SHIP 3 HOLD", &["SHIP 3 HOLD"]),
            ("    | SHIP 1 TO B2\n    | SHIP 2 HOLD", &[]),
            ("my ship would like to go to B2", &[]),
        ] {
            let text = LETTER.replace("    | SHIP 1 TO B2\n    | SHIP 2 HOLD", written);
            assert_eq!(changed(&quoted(&text)), found, "{written}");
            let html = format!("<blockquote type=cite><pre>{text}</pre></blockquote>");
            assert_eq!(changed(&html), found, "{written}");
        }
    }

    #[test]
    fn what_may_be_an_example_of_ours_is_found_only_in_a_letter_that_asks_for_nothing_else() {
        let written = "    SHIP 1 TO B2\n    | SHIP 3 HOLD\n    SHIP 3 TO B2";
        let text = quoted(&LETTER.replace("    | SHIP 1 TO B2", written));
        assert_eq!(changed_in(&text, true), ["SHIP 1 TO B2", "SHIP 3 HOLD", "SHIP 3 TO B2"]);
        assert_eq!(changed_in(&text, false), ["SHIP 3 TO B2"]);
    }

    #[test]
    fn an_earlier_letter_of_the_person_is_not_found() {
        for text in [
            format!("Ann wrote:\n> SHIP 9 TO C1\n>\n> Referee wrote:\n{}", quoted(&quoted(LETTER))),
            format!("SHIP 1 TO C3\n\n{}", quoted(LETTER)),
            format!("{}> On Friday Ann wrote:\n> SHIP 9 TO C1\n", quoted(LETTER)),
            format!("{}>> SHIP 9 TO C1\n", quoted(LETTER)),
            format!("{}\nSHIP 9 TO C1\n", quoted(LETTER)),
            quoted("Turn 4 is open.\n    | SHIP 9 TO C1\nThe enemy was told of it."),
        ] {
            assert_eq!(changed(&text), [""; 0], "{text}");
        }
    }

    #[test]
    fn the_number_of_lines_found_is_bounded() {
        let text = format!("{}{}", quoted("Turn 4 is open."), "> SHIP 1 TO C3\n".repeat(5_000));
        assert_eq!(changed(&text).len(), MAX_CHANGED);
    }
}

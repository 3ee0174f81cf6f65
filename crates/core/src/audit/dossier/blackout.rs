//! Blacks out the mail addresses and reply tokens that a public dossier must not show.

use crate::letter::{LINK_SIGNS, Token, is_of_data};

/// The text that replaces blacked-out text.
pub const BLACK: &str = "[blacked out]";

/// Replaces everything in a text that looks like a mail address or a reply token.
pub fn black_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_of_word) {
        let (before, word) = rest.split_at(start);
        let (word, after) = word.split_at(word.find(|c| !is_of_word(c)).unwrap_or(word.len()));
        out.push_str(before);
        push_word(word, &mut out);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Whether a character can occur within an address, or between the parts of a Message-ID.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '@' | '.' | '_' | '+' | '-' | '%' | '=' | '\'' | '~' | '!' | '/' | '?')
}

fn push_word(word: &str, out: &mut String) {
    let is_address = word.split_once('@').is_some_and(|(local, domain)| {
        !local.is_empty() && domain.starts_with(|c: char| c.is_alphanumeric())
    });
    if is_address {
        // The full stop that ends a sentence is not part of the address.
        let end = word.trim_end_matches(['.', '!', '?', '\'', '-']).len();
        out.push_str(BLACK);
        out.push_str(&word[end..]);
        return;
    }
    for piece in word.split_inclusive(|c: char| !is_of_data(c)) {
        let data = piece.trim_end_matches(|c: char| !is_of_data(c));
        if is_link_data(data) {
            out.push_str(BLACK);
            out.push_str(&piece[data.len()..]);
        } else {
            push_pieces(piece, out);
        }
    }
}

fn push_pieces(word: &str, out: &mut String) {
    for piece in word.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let letters = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        if is_token(letters) {
            out.push_str(BLACK);
            out.push_str(&piece[letters.len()..]);
        } else {
            out.push_str(piece);
        }
    }
}

/// Whether this can be a piece of a link to the board, which holds the position and the reply token. A digest is no secret.
fn is_link_data(word: &str) -> bool {
    let is_digest = word.len() == 64 && word.bytes().all(|sign| sign.is_ascii_hexdigit());
    word.len() >= LINK_SIGNS && !is_digest && word.contains(|c: char| c.is_ascii_alphanumeric())
}

/// Whether a word can be a reply token. One token in 240 has no digit, so words of 16 letters from the same
/// alphabet, such as "straightforwards", are blacked out as well.
fn is_token(word: &str) -> bool {
    Token::parse(word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_tokens_are_blacked_out_and_nothing_else() {
        for (text, expected) in [
            ("Write to ann@players.example.", "Write to [blacked out]."),
            ("<ann.o'hara+x@players.example>, bo", "<[blacked out]>, bo"),
            ("Reply token: v8xbmqnsc1pba95x", "Reply token: [blacked out]"),
            ("mailto:referee+V8XBMQNSC1PBA95X@club.example?subject=x", "mailto:[blacked out]"),
            ("v8xbmqnsc1pba95x.qd-1", "[blacked out].qd-1"),
            (
                "SHIP 4 B2 TO B4, A3-B1 @media @ B2 a@ e.g. 12:30",
                "SHIP 4 B2 TO B4, A3-B1 @media @ B2 a@ e.g. 12:30",
            ),
            (
                "https://club.example/play/#RY5BCsIwEEXv8tdZtLZqm5X_gtdwMwRjE5hJmUm-0LtLC is cut\n> RY5BCsIwEEXv8tdZtLZqm5X_gtdwMwRjE5hJmUmL",
                "https://club.example/play/#[blacked out] is cut\n> [blacked out]",
            ),
            (
                "| 5f1c00000000000000000000000000000000000000000000000000000000abcd",
                "| 5f1c00000000000000000000000000000000000000000000000000000000abcd",
            ),
            (
                "é5f1c00000000000000000000000000000000000000000000000000000000abcd",
                "é5f1c00000000000000000000000000000000000000000000000000000000abcd",
            ),
        ] {
            assert_eq!(black_out(text), expected);
        }
    }
}

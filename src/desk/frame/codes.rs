//! Codes that people copy from our letters: how they are drawn and read, and how long they are valid.

use chrono::TimeDelta;

use super::random::RandomStream;

/// Time for which an unproven letter, or a change that a player asked for, waits to be confirmed.
pub const LAPSE: TimeDelta = TimeDelta::days(14);

/// Crockford's alphabet, in which no two letters look alike, for names and codes.
const CODE_LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Replaces the letters in a written code that look like digits, as Crockford's alphabet demands.
pub fn in_code_letters(written: &str) -> String {
    let mut code = String::with_capacity(written.len());
    for c in written.chars() {
        code.push(match c.to_ascii_uppercase() {
            'O' => '0',
            'I' | 'L' => '1',
            c => c,
        });
    }
    code
}

/// Maps each random byte to a letter of the alphabet.
pub fn letters_of<const N: usize>(bytes: [u8; N]) -> [char; N] {
    // 256 is a multiple of 32, so each letter is equally likely.
    bytes.map(|byte| char::from(CODE_LETTERS[usize::from(byte % 32)]))
}

/// Draws ten letters, the first of which is a digit, so that a code never looks like a word.
pub fn draw_code(random: &mut RandomStream) -> String {
    let bytes: [u8; 10] = random.bytes();
    let mut code = letters_of(bytes);
    code[0] = digit_of(bytes[0]);
    code.iter().collect()
}

/// Draws fewer letters, with at least one digit, so that a code never looks like a word.
pub fn draw_short_code<const N: usize>(random: &mut RandomStream) -> String {
    let bytes: [u8; N] = random.bytes();
    let mut code = letters_of(bytes);
    if !code.iter().any(char::is_ascii_digit) {
        code[0] = digit_of(bytes[0]);
    }
    code.iter().collect()
}

/// Returns a digit from 2 on, because people read 0 and 1 as letters. The eight that remain divide 256 evenly
/// as well.
fn digit_of(byte: u8) -> char {
    char::from(b'2' + byte % 8)
}

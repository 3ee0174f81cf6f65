//! Codes that people copy from our letters: how they are drawn and read, and how long they are valid.
//! Invitations and questions to senders draw shorter ones of the same letters.

use chrono::TimeDelta;

use super::random::Random;

/// Time for which an unproven letter, or a change that a player asked for, waits for the player's word.
pub const LAPSE: TimeDelta = TimeDelta::days(14);

/// Crockford's alphabet, in which no two letters look alike, for names and codes.
pub const CODE_LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

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

/// Draws ten letters, the first of which is a digit, so that a code never looks like a word.
pub fn draw_code(random: &mut Random) -> String {
    let letters: [u8; 10] = random.bytes();
    // 256 is a multiple of 32, so each letter is equally likely.
    let mut code = letters.map(|byte| char::from(CODE_LETTERS[usize::from(byte % 32)]));
    // Digits start at 2, because people read 0 and 1 as letters. The eight that remain divide 256 evenly as
    // well.
    code[0] = char::from(b'2' + letters[0] % 8);
    code.iter().collect()
}

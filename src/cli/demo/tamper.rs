//! `fogpost demo --tamper`: alters one letter in the database, and shows that the audit names it.
//!
//! The store has no way to do that, so this opens a connection of its own, as somebody with a database tool
//! would.

use std::path::Path;

use anyhow::Context as _;
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

use crate::cli::audit::verify::show;
use crate::cli::output::program;
use crate::daemon::Office;
use crate::daemon::audit::verify::verify;
use crate::daemon::instruct::Fog;
use crate::letter::Digest;
use crate::referee::Match;
use crate::store::{self, LetterStatus};

/// Changes a digit in the orders of a letter from the middle of the match, and verifies the match.
pub async fn tamper(office: &Office, game_match: &Match, folder: &Path) -> anyhow::Result<()> {
    let mut letters = office.store.letters(None, Some(&game_match.id), "", u32::MAX).await?;
    letters.retain(|letter| letter.status == LetterStatus::Ruled);
    let chosen = letters.get(letters.len() / 2).context("the match has letters")?;
    let mut bytes = office.store.letter(chosen.digest).await?.context("the letter is there")?;
    let (before, after) = alter(&mut bytes).context("the letter has an order with a number")?;
    replace(&office.config.database.url, chosen.digest, &bytes)
        .await
        .context("the database is not altered")?;
    println!();
    println!("Somebody with a database tool changes one character of a letter from {}:", chosen.sender);
    println!("    {before}");
    println!("    {after}");
    let program = program();
    println!("{program} --config {}/config.toml audit verify {}", folder.display(), game_match.id);
    show(&verify(office, &game_match.id, &|_| {}).await?, &Fog::default(), false);
    Ok(())
}

/// Replaces the bytes of a letter in the demo's database. Drops the trigger that forbids it, and restores it
/// afterwards.
async fn replace(url: &str, digest: Digest, bytes: &[u8]) -> sqlx::Result<()> {
    const TRIGGER: &str = "letter_raw_is_not_changed";
    let mut connection = SqliteConnection::connect(url).await?;
    let select = sqlx::query_scalar("SELECT sql FROM sqlite_master WHERE name = ?").bind(TRIGGER);
    let trigger: String = select.fetch_one(&mut connection).await?;
    sqlx::query(AssertSqlSafe(format!("DROP TRIGGER {TRIGGER}"))).execute(&mut connection).await?;
    sqlx::query("UPDATE letter_raw SET bytes = ? WHERE letter_id = (SELECT id FROM letter WHERE digest = ?)")
        .bind(store::pack(bytes))
        .bind(digest.to_string())
        .execute(&mut connection)
        .await?;
    sqlx::query(AssertSqlSafe(trigger)).execute(&mut connection).await?;
    connection.close().await
}

/// Changes the first digit of the letter's body. Returns its line before and after.
fn alter(letter: &mut [u8]) -> Option<(String, String)> {
    let body = letter.windows(4).position(|bytes| bytes == b"\r\n\r\n").map_or(0, |at| at + 4);
    let at = body + letter[body..].iter().position(u8::is_ascii_digit)?;
    let line = |letter: &[u8]| {
        let start = letter[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        let end = letter[at..]
            .iter()
            .position(|byte| matches!(byte, b'\r' | b'\n'))
            .map_or(letter.len(), |place| at + place);
        String::from_utf8_lossy(&letter[start..end]).into_owned()
    };
    let before = line(letter);
    letter[at] = if letter[at] == b'9' { b'1' } else { letter[at] + 1 };
    Some((before, line(letter)))
}

#[cfg(test)]
mod tests {
    use super::alter;

    #[test]
    fn one_digit_of_the_body_changes() {
        let mut letter = *b"Subject: Turn 5\r\n\r\nMARBLE E9\r\n";
        assert_eq!(alter(&mut letter), Some(("MARBLE E9".to_owned(), "MARBLE E1".to_owned())));
        assert!(letter.starts_with(b"Subject: Turn 5\r\n"));
        assert_eq!(alter(&mut b"Subject: Turn 5\r\n\r\nHOLD\r\n".to_vec()), None);
    }
}

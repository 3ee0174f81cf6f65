//! Mailboxes: the marks that distinguish old letters from new ones, and the letters that are left in their
//! folders.

use chrono::{DateTime, Utc};

use super::rows::{CHUNK, text, texts};
use super::{Database, LeftReason, Result};

impl Database {
    /// Returns the mark of a mailbox or folder: letters that arrived before it are old. If it has none yet,
    /// it is set: for the first mailbox to the time at which the database was made, for any other to now.
    pub async fn mailbox_mark(&self, mailbox: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>> {
        let select = self.statement("SELECT mark FROM mailbox WHERE name = $1").bind(text(mailbox));
        let known: Option<i64> = self.read_column(select).await?.pop();
        let millis = match known {
            Some(mark) if mark <= now.timestamp_millis() => mark,
            // The clock was ahead when the mark was set.
            Some(_) => {
                let sql = "UPDATE mailbox SET mark = $2 WHERE name = $1";
                self.write(self.statement(sql).bind(text(mailbox)).bind(now.timestamp_millis())).await?;
                now.timestamp_millis()
            }
            None => self.set_mark(mailbox, now).await?,
        };
        Ok(DateTime::from_timestamp_millis(millis).unwrap_or(now))
    }

    /// Returns the mark of each mailbox.
    pub async fn mailbox_marks(&self) -> Result<Vec<(String, DateTime<Utc>)>> {
        self.read(self.statement("SELECT name, mark FROM mailbox ORDER BY name")).await
    }

    /// Returns when the database was made. `None` if it has no rows yet, or some from before that: it was moved here
    /// from another one, or the clock was wrong.
    pub async fn made(&self) -> Result<Option<DateTime<Utc>>> {
        let made = self.backend.engine().select_made();
        let sql = format!(
            "SELECT ({made}), (SELECT MIN(created_at) FROM player), (SELECT MIN(received_at) FROM letter)"
        );
        let (made, player, letter): (i64, Option<i64>, Option<i64>) =
            self.read_one(self.statement(sql)).await?;
        let is_first = [player, letter].into_iter().flatten().min().is_some_and(|first| made <= first);
        Ok(DateTime::from_timestamp_millis(made).filter(|_| is_first))
    }

    async fn set_mark(&self, mailbox: &str, now: DateTime<Utc>) -> Result<i64> {
        let now = now.timestamp_millis();
        let (mailboxes,): (i64,) = self.read_one(self.statement("SELECT COUNT(*) FROM mailbox")).await?;
        let mark = if mailboxes > 0 {
            now
        } else {
            let (made,): (i64,) = self.read_one(self.statement(self.backend.engine().select_made())).await?;
            made.min(now)
        };
        // If two daemons open a new mailbox at once, the first mark stays.
        let sql = "INSERT INTO mailbox (name, mark) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
        self.write(self.statement(sql).bind(text(mailbox)).bind(mark)).await?;
        Ok(mark)
    }

    /// Returns the earliest mark of all mailboxes: no letter of ours is older.
    pub async fn earliest_mark(&self) -> Result<Option<DateTime<Utc>>> {
        let (mark,): (Option<i64>,) = self.read_one(self.statement("SELECT MIN(mark) FROM mailbox")).await?;
        Ok(mark.and_then(DateTime::from_timestamp_millis))
    }

    /// Returns the letters that are left in a mailbox, by origin, each with the reason.
    pub async fn left_letters(&self, mailbox: &str) -> Result<Vec<(String, LeftReason)>> {
        let sql = "SELECT letter, reason FROM left_letter WHERE mailbox = $1 ORDER BY letter";
        self.read(self.statement(sql).bind(text(mailbox))).await
    }

    /// Returns how many letters are left in mailboxes because the database rejects them.
    pub async fn rejected_letters(&self) -> Result<u64> {
        let sql = "SELECT COUNT(*) FROM left_letter WHERE reason = 'rejected'";
        let (letters,) = self.read_one(self.statement(sql)).await?;
        Ok(letters)
    }

    /// Notes that letters are left in a mailbox.
    pub async fn note_left(&self, mailbox: &str, letters: &[String], reason: LeftReason) -> Result<()> {
        for chunk in letters.chunks(CHUNK) {
            let mut insert = self.statement("INSERT INTO left_letter (mailbox, letter, reason) ");
            insert.push_rows(chunk, |row, letter| {
                row.bind(text(mailbox)).bind(text(letter)).bind(reason);
            });
            insert.push(" ON CONFLICT (mailbox, letter) DO UPDATE SET reason = excluded.reason");
            self.write(insert).await?;
        }
        Ok(())
    }

    /// Forgets letters that are no longer in a mailbox.
    pub async fn forget_left(&self, mailbox: &str, letters: &[String]) -> Result<()> {
        for chunk in letters.chunks(CHUNK) {
            let sql = format!("DELETE FROM left_letter WHERE letter {} AND mailbox = $2", self.one_of());
            self.write(self.statement(sql).bind_texts(&texts(chunk)).bind(text(mailbox))).await?;
        }
        Ok(())
    }
}

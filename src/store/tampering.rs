//! Alters history, for the demo of the audit alone: it shows that this leaves a trace.

use super::packing::pack;
use super::rows::text;
use super::{Database, Result};
use crate::letter::Digest;

/// The trigger that forbids it.
const TRIGGER: &str = "letter_raw_is_not_changed";

impl Database {
    /// Replaces the bytes of a letter behind the program's back, as somebody with a database tool could. SQLite
    /// only.
    pub async fn tamper_with_letter(&self, digest: Digest, bytes: &[u8]) -> Result<()> {
        let select = self.statement("SELECT sql FROM sqlite_master WHERE name = $1").bind(text(TRIGGER));
        let (trigger,): (String,) = self.read_one(select).await?;
        self.write(self.statement(format!("DROP TRIGGER {TRIGGER}"))).await?;
        let update =
            "UPDATE letter_raw SET bytes = $1 WHERE letter_id = (SELECT id FROM letter WHERE digest = $2)";
        self.write(self.statement(update).bind(pack(bytes)).bind(digest)).await?;
        self.write(self.statement(trigger)).await?;
        Ok(())
    }
}

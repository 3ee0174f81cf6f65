//! The rows that only the GM's screen shows.

use chrono::{DateTime, Utc};

use super::dispatches::DISPATCH;
use super::letters::LETTER;
use super::record::record;
use super::rows::text;
use super::{Database, DispatchRow, LetterRow, Result};
use crate::game::Seat;
use crate::letter::Digest;
use crate::referee::WORDS_NOTE;

record! {
    /// A letter from a seat with words for the GM.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WordsRow {
        pub digest: Digest,
        pub received_at: DateTime<Utc>,
        pub match_id: String,
        pub seat: Seat,
    }
}

/// Acts of GMs that settle what a player wrote to them.
const SETTLES: &str = "'GmTold', 'GmNoted', 'MatchPaused', 'MatchResumed', 'PlayerReplaced', 'MatchEnded'";

impl Database {
    /// Returns up to `limit` letters with words for the GM, received since `since`, in whose matches no GM
    /// has acted after the ruling, oldest first.
    pub async fn unsettled_words(&self, since: DateTime<Utc>, limit: u32) -> Result<Vec<WordsRow>> {
        let sql = format!(
            "SELECT digest, received_at, match_id, seat FROM letter WHERE status = 'ruled' AND received_at >= $1 \
             AND match_id IS NOT NULL AND seat IS NOT NULL AND note LIKE '{WORDS_NOTE}%' AND NOT EXISTS (SELECT 1 \
             FROM entry e WHERE e.match_id = letter.match_id AND e.at > letter.decided_at AND e.kind IN ({SETTLES})) \
             ORDER BY received_at LIMIT $2"
        );
        self.read(self.statement(sql).bind(since.timestamp_millis()).bind(i64::from(limit))).await
    }

    /// Returns the snapshots of these matches, to be shown: no change may follow from them.
    pub async fn shown_snapshots(&self, ids: &[String]) -> Result<Vec<String>> {
        let sql = format!("SELECT snapshot FROM match WHERE id {} ORDER BY id", self.one_of());
        self.read_column(self.statement(sql).bind_texts(ids)).await
    }

    /// Returns when the last turn of each running match was adjudicated, or when the match was opened.
    pub async fn last_turns(&self) -> Result<Vec<(String, DateTime<Utc>)>> {
        let sql = "SELECT id, (SELECT e.at FROM entry e WHERE e.match_id = m.id AND e.kind IN ('TurnAdjudicated', \
                   'MatchOpened') ORDER BY e.seq DESC LIMIT 1) AS at FROM match m WHERE m.stage = 'running' ORDER BY id";
        let rows: Vec<(String, Option<DateTime<Utc>>)> = self.read(self.statement(sql)).await?;
        Ok(rows.into_iter().filter_map(|(id, at)| Some((id, at?))).collect())
    }

    /// Returns up to `limit` letters received from these senders since `since`, newest first.
    pub async fn letters_from(
        &self,
        senders: &[String],
        since: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<LetterRow>> {
        let sql = format!(
            "SELECT {LETTER} FROM letter WHERE sender {} AND received_at >= $2 \
             ORDER BY received_at DESC, id DESC LIMIT $3",
            self.one_of()
        );
        let select = self.statement(sql).bind_texts(senders).bind(since.timestamp_millis());
        self.read(select.bind(i64::from(limit))).await
    }

    /// Returns the dispatches of a match, newest first, without their bytes.
    pub async fn dispatches_about(&self, match_id: &str, limit: u32) -> Result<Vec<DispatchRow>> {
        let sql =
            format!("SELECT {DISPATCH} FROM dispatch d WHERE d.match_id = $1 ORDER BY d.id DESC LIMIT $2");
        self.read(self.statement(sql).bind(text(match_id)).bind(i64::from(limit))).await
    }

    /// Returns the dispatches given up that nobody has acknowledged, newest first.
    pub async fn given_up_unseen(&self, limit: u32) -> Result<Vec<DispatchRow>> {
        let sql = format!(
            "SELECT {DISPATCH} FROM dispatch d WHERE d.given_up_at IS NOT NULL AND d.seen = 0 ORDER BY d.id DESC LIMIT $1"
        );
        self.read(self.statement(sql).bind(i64::from(limit))).await
    }
}

//! The rows that the site shows.
//!
//! The rows that only the GM's screen shows.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::dispatches::DISPATCH;
use super::letters::LETTER;
use super::matches::{read_options, read_outcome};
use super::rows::{CHUNK, is_common, record, text, texts};
use super::{Database, DispatchRow, LetterRow, Result};
use crate::game::any::GameKind;
use crate::game::{BySeat, Outcome, Seat};
use crate::letter::Digest;
use crate::referee::{Stage, WORDS_NOTE};

record! {
    struct SiteColumns {
        id: String,
        game: GameKind,
        stage: Stage,
        first_name: String,
        second_name: String,
        first_player: Option<i64>,
        second_player: Option<i64>,
        options: String,
        turn: Option<i64>,
        ended_at: Option<DateTime<Utc>>,
        winner: Option<String>,
        reason: Option<String>,
        head_hash: String,
        event: Option<String>,
    }
}

/// The public data of a match.
#[derive(Clone, Debug)]
pub struct SiteMatchRow {
    pub id: String,
    pub game: GameKind,
    pub names: BySeat<String>,
    /// The numbers of the players; `None` for the house.
    pub players: BySeat<Option<i64>>,
    pub options: BTreeMap<String, String>,
    pub turn: Option<u32>,
    /// The ID of its event.
    pub event: Option<String>,
    /// The end of a match that is over, and the head of its ledger.
    pub end: Option<(Outcome, DateTime<Utc>, String)>,
}

impl Database {
    /// Returns the public data of all matches, by ID.
    pub async fn site_matches(&self) -> Result<Vec<SiteMatchRow>> {
        let sql = format!(
            "SELECT id, game, stage, first_name, second_name, {}, {}, options, turn, ended_at, winner, reason, \
             head_hash, event FROM match ORDER BY id",
            player_column(Seat::First),
            player_column(Seat::Second)
        );
        let rows: Vec<SiteColumns> = self.read(self.statement(sql)).await?;
        rows.into_iter().map(SiteColumns::read).collect()
    }
}

fn player_column(seat: Seat) -> String {
    format!("(SELECT player_id FROM seat WHERE match_id = match.id AND seat = '{seat}') AS {seat}_player")
}

impl Database {
    /// Returns the files of the site in a folder, by path, each with the digest of what it was made from.
    pub async fn site_files(&self, folder: &str) -> Result<BTreeMap<String, String>> {
        let sql = "SELECT path, digest FROM site_file WHERE folder = $1";
        let rows: Vec<(String, String)> = self.read(self.statement(sql).bind(text(folder))).await?;
        Ok(rows.into_iter().collect())
    }

    /// Replaces the files of the site in a folder, `before`, by those that are there now.
    pub async fn set_site_files(
        &self,
        folder: &str,
        before: &BTreeMap<String, String>,
        now: &BTreeMap<String, String>,
    ) -> Result<()> {
        let gone: Vec<String> = before.keys().filter(|path| !now.contains_key(*path)).cloned().collect();
        let new: Vec<_> = now.iter().filter(|(path, digest)| before.get(*path) != Some(digest)).collect();
        let mut tx = self.backend.begin().await?;
        for chunk in gone.chunks(CHUNK) {
            let sql = format!("DELETE FROM site_file WHERE path {} AND folder = $2", self.one_of());
            let delete = self.statement(sql).bind_texts(&texts(chunk)).bind(text(folder));
            tx.session().execute(delete).await?;
        }
        for chunk in new.chunks(CHUNK) {
            let mut insert = self.statement("INSERT INTO site_file (folder, path, digest) ");
            insert.push_rows(chunk, |row, (path, digest)| {
                row.bind(text(folder)).bind(path.as_str()).bind(digest.as_str());
            });
            insert.push(" ON CONFLICT (folder, path) DO UPDATE SET digest = excluded.digest");
            tx.session().execute(insert.persistent(is_common(chunk.len()))).await?;
        }
        tx.commit().await
    }
}

impl SiteColumns {
    fn read(self) -> Result<SiteMatchRow> {
        let end = match (self.stage, self.ended_at) {
            (Stage::Over, Some(at)) => read_outcome(self.winner.as_deref(), self.reason.as_deref())?
                .map(|outcome| (outcome, at, self.head_hash)),
            _ => None,
        };
        Ok(SiteMatchRow {
            game: self.game,
            names: BySeat::new(self.first_name, self.second_name),
            players: BySeat::new(self.first_player, self.second_player),
            options: read_options(&self.options)?,
            turn: self.turn.and_then(|turn| u32::try_from(turn).ok()),
            end,
            event: self.event,
            id: self.id,
        })
    }
}

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

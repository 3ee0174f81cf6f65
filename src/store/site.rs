//! The rows that the site shows.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::matches::{read_options, read_outcome};
use super::record::record;
use super::rows::{CHUNK, is_common, text, texts};
use super::{Database, Result};
use crate::game::any::GameKind;
use crate::game::{BySeat, Outcome, Seat};
use crate::referee::Stage;

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
        let player = |seat: Seat| {
            format!(
                "(SELECT player_id FROM seat WHERE match_id = match.id AND seat = '{seat}') AS {seat}_player"
            )
        };
        let sql = format!(
            "SELECT id, game, stage, first_name, second_name, {}, {}, options, turn, ended_at, winner, reason, \
             head_hash, event FROM match ORDER BY id",
            player(Seat::First),
            player(Seat::Second)
        );
        let rows: Vec<SiteColumns> = self.read(self.statement(sql)).await?;
        rows.into_iter().map(SiteColumns::read).collect()
    }
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

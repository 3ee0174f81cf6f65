//! [`Store`] for both databases: everything except connecting, claiming, locking and backing up, which is left to a
//! [`Backend`].
//!
//! The SQL is a subset that both databases understand, with `$1` for parameters.

use std::path::Path;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::backend::Backend;
use super::dispatches;
use super::entries::{EntryColumns, OF_LEDGERS};
use super::error::{address_taken, stale_if_serialization_failure};
use super::letters::{insert_letters, letter_bytes, list_letters, registered};
use super::overview::{self, MatchColumns, OverviewColumns, SeatOverview};
use super::pictures::drop_pictures;
use super::rows::{self, integer, text};
use super::settle::{PackedDispatches, settle};
use super::statement::{Record, Statement};
use super::unruled::delete_unruled;
use super::*;

/// A database of either kind.
pub struct Database {
    pub(super) backend: Box<dyn Backend>,
}

impl Database {
    pub fn new(backend: impl Backend + 'static) -> Database {
        Database { backend: Box::new(backend) }
    }

    pub(super) fn statement(&self, sql: impl Into<String>) -> Statement {
        Statement::new(self.backend.engine(), sql)
    }

    pub(super) fn one_of(&self) -> &'static str {
        self.backend.engine().one_of()
    }

    pub(super) async fn read<T: Record>(&self, statement: Statement) -> Result<Vec<T>> {
        self.backend.reader().await?.session().fetch_all(statement).await
    }

    pub(super) async fn read_first<T: Record>(&self, statement: Statement) -> Result<Option<T>> {
        self.backend.reader().await?.session().fetch_first(statement).await
    }

    pub(super) async fn read_one<T: Record>(&self, statement: Statement) -> Result<T> {
        self.backend.reader().await?.session().fetch_one(statement).await
    }

    /// Reads on the connection that writes; see [`Backend::writer`].
    pub(super) async fn read_recent<T: Record>(&self, statement: Statement) -> Result<Vec<T>> {
        self.backend.writer().await?.session().fetch_all(statement).await
    }

    pub(super) async fn write(&self, statement: Statement) -> Result<u64> {
        self.backend.writer().await?.session().execute(statement).await
    }

    /// Reads rows, converts each, and passes it on as soon as it is read.
    pub(super) async fn stream<R: Record, T>(
        &self,
        statement: Statement,
        convert: fn(R) -> Result<T>,
        take: RowSink<'_, T>,
    ) -> Result<()> {
        let mut pass_on = |row: R| {
            take(convert(row)?);
            Ok(())
        };
        self.backend.reader().await?.session().for_each(statement, &mut pass_on).await
    }
}

/// Selects the columns of an invitation.
pub const INVITATIONS: &str = "SELECT code, inviter, inviter_name, invited, game, offer, stage, match_id, created_at, \
                           lapses_at FROM invitation ";

/// Selects seats, one row for each address of their players.
const SEATS: &str = "SELECT s.token, s.match_id, s.seat, p.id, p.name, p.bouncing, p.settings, \
                     a.address FROM seat s \
                     JOIN player p ON p.id = s.player_id LEFT JOIN address a ON a.player_id = p.id ";

/// Selects the columns of a ledger entry.

#[async_trait]
impl Store for Database {
    async fn lock(&self, owner: &str) -> Result<DatabaseLock> {
        self.backend.lock(owner).await
    }

    fn is_shared(&self) -> bool {
        self.backend.engine().is_shared()
    }

    async fn try_acquire_lease(&self, lease: &str) -> Result<bool> {
        self.backend.try_acquire_lease(lease).await
    }

    async fn release_lease(&self, lease: &str) {
        self.backend.release_lease(lease).await
    }

    async fn next_wakeup(&self) -> Result<Wakeup> {
        self.backend.next_wakeup().await
    }

    async fn insert_letters(&self, letters: &[NewLetter]) -> Result<usize> {
        if letters.is_empty() {
            return Ok(0);
        }
        let mut tx = self.backend.begin_intake().await?;
        let waiting = insert_letters(&mut tx.session(), letters).await?;
        tx.commit().await?;
        Ok(waiting)
    }

    async fn registered(&self, addresses: &[String]) -> Result<BTreeSet<String>> {
        registered(&mut self.backend.reader().await?.session(), addresses).await
    }

    async fn claim_letters(
        &self,
        now: DateTime<Utc>,
        limit: u32,
        first: LetterQueue,
        before: Option<&mut Claim>,
    ) -> Result<(Vec<WaitingLetter>, Claim)> {
        let now = now.timestamp_millis();
        let (rows, claim) = self.backend.claim_letters(now, limit, first, before).await?;
        let letters: Result<_> = rows.into_iter().map(rows::Waiting::read).collect();
        Ok((letters?, claim))
    }

    async fn note_in_work(&self, owner: &str, letters: &[Digest]) -> Result<()> {
        self.backend.write_unsynced(in_work::note(self.backend.engine(), owner, letters)).await
    }

    async fn letters_in_work(&self) -> Result<Vec<(String, Vec<Digest>)>> {
        in_work::read(self.remembered_under(in_work::KEYS).await?)
    }

    async fn oldest_waiting(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        waiting::oldest(&mut self.backend.reader().await?.session(), now).await
    }

    async fn matches_with_deferred_letters(&self, now: DateTime<Utc>) -> Result<Vec<String>> {
        waiting::matches_with_deferred(&mut self.backend.reader().await?.session(), now).await
    }

    async fn letter(&self, digest: Digest) -> Result<Option<Vec<u8>>> {
        letter_bytes(&mut self.backend.reader().await?.session(), digest).await
    }

    async fn letters(
        &self,
        status: Option<LetterStatus>,
        match_id: Option<&str>,
        digest_prefix: &str,
        limit: u32,
    ) -> Result<Vec<LetterRow>> {
        let mut reader = self.backend.reader().await?;
        list_letters(&mut reader.session(), status, match_id, digest_prefix, limit).await
    }

    async fn delete_unruled(
        &self,
        now: DateTime<Utc>,
        received_before: DateTime<Utc>,
        kept_senders: &[String],
        limit: u32,
    ) -> Result<u64> {
        let mut tx = self.backend.begin().await?;
        let session = &mut tx.session();
        let deleted = delete_unruled(session, now, received_before, kept_senders, limit).await?;
        tx.commit().await?;
        Ok(deleted)
    }

    async fn drop_pictures(&self, now: DateTime<Utc>, limit: u32) -> Result<u64> {
        let mut tx = self.backend.begin().await?;
        let dropped = drop_pictures(&mut tx.session(), now, limit).await?;
        tx.commit().await?;
        Ok(dropped)
    }

    async fn schema_faults(&self) -> Result<Vec<String>> {
        self.backend.schema_faults().await
    }

    fn free_bytes(&self) -> Result<Option<u64>> {
        self.backend.free_bytes()
    }

    async fn seats_by_token(&self, tokens: &[String]) -> Result<Vec<TokenRow>> {
        let sql = format!(
            "{SEATS}WHERE s.match_id IN (SELECT match_id FROM seat WHERE token {}) \
             ORDER BY s.match_id, s.seat, a.rank",
            self.one_of()
        );
        rows::SeatAddress::gather(self.read_recent(self.statement(sql).bind_texts(tokens)).await?)
    }

    async fn seats_of(&self, match_ids: &[String]) -> Result<Vec<TokenRow>> {
        let sql = format!("{SEATS}WHERE s.match_id {} ORDER BY s.match_id, s.seat, a.rank", self.one_of());
        rows::SeatAddress::gather(self.read_recent(self.statement(sql).bind_texts(match_ids)).await?)
    }

    async fn match_dates(&self, match_ids: &[String]) -> Result<Vec<MatchDates>> {
        let sql = format!("{} {}", overview::DATES, self.one_of());
        let rows: Vec<_> = self.read_recent(self.statement(sql).bind_texts(match_ids)).await?;
        rows.into_iter().map(overview::read_dates).collect()
    }

    async fn matches(&self, ids: &[String]) -> Result<Vec<MatchRow>> {
        let sql = format!(
            "SELECT {}, wake_at, snapshot, version FROM match WHERE id {} ORDER BY id",
            overview::COLUMNS,
            self.one_of()
        );
        let rows: Vec<MatchColumns> = self.read_recent(self.statement(sql).bind_texts(ids)).await?;
        rows.into_iter().map(MatchColumns::read).collect()
    }

    async fn snapshots(&self, ids: &[String]) -> Result<Vec<SnapshotRow>> {
        let sql = format!("SELECT id, snapshot, version FROM match WHERE id {} ORDER BY id", self.one_of());
        let rows: Vec<(String, String, i64)> = self.read_recent(self.statement(sql).bind_texts(ids)).await?;
        Ok(rows.into_iter().map(|(id, snapshot, version)| SnapshotRow { id, snapshot, version }).collect())
    }

    async fn match_ids(&self) -> Result<Vec<String>> {
        let ids: Vec<(String,)> = self.read(self.statement("SELECT id FROM match ORDER BY id")).await?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    async fn list_matches(&self, stage: Option<Stage>, take: RowSink<'_, MatchOverview>) -> Result<()> {
        let columns = overview::COLUMNS;
        let select = match stage {
            Some(stage) => self
                .statement(format!("SELECT {columns} FROM match WHERE stage = $1 ORDER BY id"))
                .bind(stage.as_str()),
            None => self.statement(format!("SELECT {columns} FROM match ORDER BY id")),
        };
        self.stream(select, OverviewColumns::read, take).await
    }

    async fn matches_due(
        &self,
        now: DateTime<Utc>,
        after: Option<&MatchRow>,
        limit: u32,
    ) -> Result<Vec<MatchRow>> {
        overview::due(&mut self.backend.reader().await?.session(), now, after, limit).await
    }

    async fn matches_asleep(&self, past: DateTime<Utc>, limit: u32) -> Result<Vec<MatchRow>> {
        overview::asleep(&mut self.backend.reader().await?.session(), past, limit).await
    }

    async fn claim_house_turns(&self, matches: &[String]) -> Result<(Vec<String>, Claim)> {
        self.backend.claim_house_turns(matches).await
    }

    async fn matches_of(&self, player_id: i64) -> Result<Vec<(Seat, MatchOverview)>> {
        let sql = format!(
            "SELECT {}, s.seat AS own_seat FROM match JOIN seat s ON s.match_id = match.id \
             WHERE s.player_id = $1 ORDER BY id",
            overview::COLUMNS
        );
        let rows: Vec<SeatOverview> = self.read(self.statement(sql).bind(player_id)).await?;
        rows.into_iter().map(SeatOverview::read).collect()
    }

    async fn invitation(&self, code: &str) -> Result<Option<Invitation>> {
        let sql = format!("{INVITATIONS}WHERE code = $1");
        let row: Option<rows::Invitation> = self.read_first(self.statement(sql).bind(text(code))).await?;
        row.map(rows::Invitation::read).transpose()
    }

    async fn open_invitations(&self, lapsing_by: Option<DateTime<Utc>>) -> Result<Vec<Invitation>> {
        let sql = format!("{INVITATIONS}WHERE stage = 'open' AND lapses_at <= $1 ORDER BY created_at, code");
        let by = lapsing_by.map_or(i64::MAX, |by| by.timestamp_millis());
        let rows: Vec<rows::Invitation> = self.read(self.statement(sql).bind(by)).await?;
        rows.into_iter().map(rows::Invitation::read).collect()
    }

    async fn has_declined(&self, inviter: &str, invited: &str) -> Result<bool> {
        let statement = budgets::select_declined(self.backend.engine(), inviter, invited);
        Ok(self.read_first::<(String,)>(statement).await?.is_some())
    }

    async fn budgets(&self, subjects: &[String], since: DateTime<Utc>) -> Result<Vec<(BudgetKey, u32)>> {
        let statement = budgets::select(self.backend.engine(), subjects, since);
        let rows: Vec<budgets::BudgetColumns> = self.read_recent(statement).await?;
        rows.into_iter().map(budgets::BudgetColumns::read).collect()
    }

    async fn standings(&self, addresses: &[String]) -> Result<Vec<(String, Standing)>> {
        let statement = budgets::select_standings(self.backend.engine(), addresses);
        let rows: Vec<budgets::StandingColumns> = self.read_recent(statement).await?;
        rows.into_iter().map(budgets::StandingColumns::read).collect()
    }

    async fn questions(&self, addresses: &[String]) -> Result<Vec<(String, Question)>> {
        let statement = budgets::select_questions(self.backend.engine(), addresses);
        let rows: Vec<budgets::QuestionColumns> = self.read_recent(statement).await?;
        rows.into_iter().map(budgets::QuestionColumns::read).collect()
    }

    async fn delete_past_restraints(&self, past: DateTime<Utc>, now: DateTime<Utc>) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        budgets::delete_past(&mut tx.session(), past, now).await?;
        sending::delete_past(&mut tx.session(), now).await?;
        tx.commit().await
    }

    async fn commit_claimed(&self, mut claim: Claim, settlement: &Settlement) -> Result<()> {
        // Compress before the transaction begins, which on SQLite makes all other writers wait.
        let packed = PackedDispatches::of(settlement).await;
        let mut tx = self.backend.begin_under(&mut claim).await?;
        settle(&mut tx.session(), settlement, &packed).await.map_err(stale_if_serialization_failure)?;
        tx.commit().await.map_err(stale_if_serialization_failure)
    }

    async fn entries(&self, match_id: &str) -> Result<Vec<EntryRow>> {
        let statement =
            self.statement(format!("{OF_LEDGERS}WHERE match_id = $1 ORDER BY seq")).bind(text(match_id));
        let rows: Vec<EntryColumns> = self.read(statement).await?;
        rows.into_iter().map(EntryColumns::read).collect()
    }

    async fn entries_since(&self, kind: &str, since: DateTime<Utc>) -> Result<Vec<EntryRow>> {
        let statement = self
            .statement(format!("{OF_LEDGERS}WHERE kind = $1 AND at >= $2 ORDER BY at, match_id, seq"))
            .bind(text(kind))
            .bind(since.timestamp_millis());
        let rows: Vec<EntryColumns> = self.read(statement).await?;
        rows.into_iter().map(EntryColumns::read).collect()
    }

    async fn entries_after(
        &self,
        match_id: &str,
        seq: Option<u64>,
        limit: u32,
        take: RowSink<'_, EntryRow>,
    ) -> Result<()> {
        let statement = self
            .statement(format!("{OF_LEDGERS}WHERE match_id = $1 AND seq > $2 ORDER BY seq LIMIT $3"))
            .bind(text(match_id))
            .bind(seq.map_or(i64::MIN, integer))
            .bind(i64::from(limit));
        self.stream(statement, EntryColumns::read, take).await
    }

    async fn acted_after(&self, match_id: &str, id: i64, limit: u32) -> Result<Option<(i64, Vec<Digest>)>> {
        // Aggregate into one row: transferring many small rows takes longer than finding them.
        let sql = "SELECT max(id), string_agg(digest, ' ') FROM (SELECT id, digest FROM letter \
                   WHERE match_id = $1 AND status = 'ruled' AND id > $2 ORDER BY id LIMIT $3) AS acted";
        let statement = self.statement(sql).bind(text(match_id)).bind(id).bind(i64::from(limit));
        let (last, acted): (Option<i64>, Option<String>) = self.read_one(statement).await?;
        let acted = acted.iter().flat_map(|acted| acted.split(' ')).map(rows::digest);
        Ok(last.zip(Some(acted.collect::<Result<_>>()?)))
    }

    async fn dispatches_of(&self, match_id: &str) -> Result<Vec<(DispatchRow, Vec<u8>)>> {
        dispatches::of_match(&mut self.backend.reader().await?.session(), match_id).await
    }

    async fn list_dispatches(&self, only_unsent: bool, limit: u32) -> Result<Vec<DispatchRow>> {
        let mut reader = self.backend.reader().await?;
        dispatches::list(&mut reader.session(), only_unsent, limit).await
    }

    async fn dispatches_named(&self, ids: &[String]) -> Result<Vec<DispatchRow>> {
        dispatches::named(&mut self.backend.reader().await?.session(), ids).await
    }

    async fn texts_by_message_id(&self, ids: &[String]) -> Result<Vec<(String, Vec<u8>)>> {
        dispatches::texts(&mut self.backend.writer().await?.session(), ids).await
    }

    async fn answers_to(&self, recipients: &[String], since: DateTime<Utc>) -> Result<Vec<AnswerRow>> {
        dispatches::answers_to(&mut self.backend.writer().await?.session(), recipients, since).await
    }

    async fn retry_deferred(&self, now: DateTime<Utc>, past: DateTime<Utc>) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        dispatches::retry_deferred(&mut tx.session(), now, past).await?;
        tx.commit().await
    }

    async fn find_or_add_player(&self, address: &str, name: &str, now: DateTime<Utc>) -> Result<Player> {
        if let Some(player) = self.player_by_address(address).await? {
            return Ok(player);
        }
        let mut tx = self.backend.begin().await?;
        if players::add_player(&mut tx.session(), address, name, now).await? {
            tx.commit().await?;
        } else {
            tx.rollback().await?;
        }
        let player = self.player_by_address(address).await?;
        player.ok_or_else(|| StoreError::Unsound("a stored address disappeared".to_owned()))
    }

    async fn save_player(&self, player: &Player) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        players::save_player(&mut tx.session(), player).await.map_err(address_taken)?;
        tx.commit().await
    }

    async fn player_by_address(&self, address: &str) -> Result<Option<Player>> {
        players::player_by_address(&mut self.backend.reader().await?.session(), address).await
    }

    async fn unproven_letters(&self, player_id: i64, since: DateTime<Utc>) -> Result<Vec<UnprovenLetter>> {
        unproven::unproven_letters(&mut self.backend.reader().await?.session(), player_id, since).await
    }

    async fn players(&self) -> Result<Vec<Player>> {
        players::players(&mut self.backend.reader().await?.session()).await
    }

    async fn players_since(&self, since: DateTime<Utc>, limit: u32) -> Result<Vec<Player>> {
        players::players_since(&mut self.backend.reader().await?.session(), since, limit).await
    }

    async fn dispatches_since(&self, since: DateTime<Utc>) -> Result<u64> {
        dispatches::count_since(&mut self.backend.reader().await?.session(), since).await
    }

    async fn queues(&self) -> Result<Queues> {
        self.read_one::<rows::Counts>(self.statement(rows::COUNTS)).await?.read()
    }

    async fn remembered(&self, key: &str) -> Result<Option<String>> {
        let statement = self.statement("SELECT value FROM memo WHERE key = $1").bind(key);
        let found: Option<(String,)> = self.read_first(statement).await?;
        Ok(found.map(|(value,)| value))
    }

    async fn remember(&self, key: &str, value: &str) -> Result<()> {
        self.write(self.statement(REMEMBER).bind(key).bind(text(value))).await?;
        Ok(())
    }

    async fn remember_first(&self, key: &str, value: &str) -> Result<String> {
        let sql = "INSERT INTO memo (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";
        self.write(self.statement(sql).bind(key).bind(text(value))).await?;
        Ok(self.remembered(key).await?.unwrap_or_else(|| value.to_owned()))
    }

    async fn remembered_under(&self, prefix: &str) -> Result<Vec<(String, String)>> {
        let sql = "SELECT key, value FROM memo WHERE key LIKE $1 ORDER BY key";
        self.read(self.statement(sql).bind(format!("{prefix}%"))).await
    }

    async fn forget(&self, key: &str) -> Result<()> {
        self.write(self.statement("DELETE FROM memo WHERE key = $1").bind(key)).await?;
        Ok(())
    }

    async fn about(&self) -> Result<String> {
        let engine = self.statement(self.backend.engine().select_name());
        let (engine,): (String,) = self.read_one(engine).await?;
        let (tables,): (i64,) = self.read_one(self.statement(TABLES_VERSION)).await?;
        Ok(format!("{engine}, tables of version {tables}"))
    }

    async fn backup(&self, to: &Path) -> Result<()> {
        self.backend.backup(to).await
    }

    async fn close(&self) {
        self.backend.close().await
    }
}

//! The body that both databases share: `impl Store`, but for what opens and holds a database.
//!
//! The SQL is such as both understand, with `$1` for parameters. What differs comes in as arguments: how a list is
//! one parameter (`one_of`, always `$1`, bound by the module's `list`), and whether several daemons may work there.
//! Transactions, claims and duties come from the module itself.

macro_rules! backend {
    ($store:ident, $db:ty, one_of: $one_of:literal, shared: $shared:literal) => {
        #[async_trait]
        impl Store for $store {
            async fn lock(&self, who: &str) -> Result<DatabaseLock> {
                self.hold_for(who).await
            }

            fn is_shared(&self) -> bool {
                $shared
            }

            async fn try_acquire_lease(&self, duty: &str) -> Result<bool> {
                self.keep_duty(duty).await
            }

            async fn release_lease(&self, duty: &str) {
                self.end_duty(duty).await
            }

            async fn next_wakeup(&self) -> Result<Wakeup> {
                self.hear().await
            }

            async fn insert_letters(&self, letters: &[NewLetter]) -> Result<usize> {
                if letters.is_empty() {
                    return Ok(0);
                }
                let mut tx = self.begin_alone().await?;
                let waiting = insert_letters(&mut tx, letters).await?;
                tx.commit().await?;
                Ok(waiting)
            }

            async fn claim_letters(
                &self,
                now: DateTime<Utc>,
                limit: u32,
                before: Option<&mut Claim>,
            ) -> Result<(Vec<WaitingLetter>, Claim)> {
                let (rows, claim) = self.claim_waiting(now.timestamp_millis(), limit, before).await?;
                let letters: Result<_> = rows.into_iter().map(rows::Waiting::read).collect();
                Ok((letters?, claim))
            }

            async fn oldest_waiting(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
                let sql = "SELECT received_at FROM letter \
                           WHERE fate = 'waiting' AND (wait_until IS NULL OR wait_until <= $1) \
                           ORDER BY received_at, id LIMIT 1";
                maybe_time(
                    sqlx::query_scalar(sql)
                        .bind(now.timestamp_millis())
                        .fetch_optional(&self.reader)
                        .await?,
                )
            }

            async fn letter(&self, digest: Digest) -> Result<Option<Vec<u8>>> {
                let sql = "SELECT r.bytes FROM letter l JOIN letter_raw r ON r.letter_id = l.id WHERE l.digest = $1";
                Ok(sqlx::query_scalar(sql).bind(digest.to_string()).fetch_optional(&self.reader).await?)
            }

            async fn letters(
                &self,
                status: Option<LetterStatus>,
                match_id: Option<&str>,
                digest_prefix: &str,
                limit: u32,
            ) -> Result<Vec<LetterRow>> {
                let mut query = QueryBuilder::<$db>::new(
                    "SELECT digest, received_at, decided_at, sender, subject, size, fate, note, match_id, seat FROM letter \
                     WHERE TRUE",
                );
                if let Some(status) = status {
                    query.push(" AND fate = ").push_bind(status.as_str());
                }
                if let Some(match_id) = match_id {
                    query.push(" AND match_id = ").push_bind(text(match_id));
                }
                if !digest_prefix.is_empty() {
                    let first = text(digest_prefix).to_ascii_lowercase();
                    let beyond = format!("{first}g");
                    query.push(" AND digest >= ").push_bind(first).push(" AND digest < ").push_bind(beyond);
                }
                query.push(" ORDER BY received_at DESC, id DESC LIMIT ").push_bind(i64::from(limit));
                let rows: Vec<rows::Letter> = query.build_query_as().fetch_all(&self.reader).await?;
                rows.into_iter().map(rows::Letter::read).collect()
            }

            async fn seats_by_token(&self, tokens: &[String]) -> Result<Vec<TokenRow>> {
                let sql = concat!(
                    seat_columns!(),
                    "WHERE s.match_id IN (SELECT match_id FROM seat WHERE token ",
                    $one_of,
                    ") ORDER BY s.match_id, s.seat, a.rank"
                );
                rows::SeatAddress::gather(
                    sqlx::query_as(sql).bind(list(tokens)).fetch_all(&self.writer).await?,
                )
            }

            async fn seats_of(&self, match_ids: &[String]) -> Result<Vec<TokenRow>> {
                let sql =
                    concat!(seat_columns!(), "WHERE s.match_id ", $one_of, " ORDER BY s.match_id, s.seat, a.rank");
                rows::SeatAddress::gather(
                    sqlx::query_as(sql).bind(list(match_ids)).fetch_all(&self.writer).await?,
                )
            }

            async fn matches(&self, ids: &[String]) -> Result<Vec<MatchRow>> {
                let sql = concat!(match_columns!(), "WHERE id ", $one_of, " ORDER BY id");
                let rows: Vec<rows::Match> =
                    sqlx::query_as(sql).bind(list(ids)).fetch_all(&self.writer).await?;
                rows.into_iter().map(rows::Match::read).collect()
            }

            async fn match_ids(&self) -> Result<Vec<String>> {
                Ok(sqlx::query_scalar("SELECT id FROM match ORDER BY id").fetch_all(&self.reader).await?)
            }

            async fn list_matches(&self, stage: Option<Stage>) -> Result<Vec<MatchRow>> {
                let query = match stage {
                    Some(stage) => sqlx::query_as(concat!(match_columns!(), "WHERE stage = $1 ORDER BY id"))
                        .bind(stage.as_str()),
                    None => sqlx::query_as(concat!(match_columns!(), "ORDER BY id")),
                };
                let rows: Vec<rows::Match> = query.fetch_all(&self.reader).await?;
                rows.into_iter().map(rows::Match::read).collect()
            }

            async fn matches_due(
                &self,
                now: DateTime<Utc>,
                after: Option<&MatchRow>,
                limit: u32,
            ) -> Result<Vec<MatchRow>> {
                let sql = concat!(
                    match_columns!(),
                    "WHERE wake_at <= $1 AND wake_at >= $2 AND (wake_at > $2 OR id > $3) \
                     ORDER BY wake_at, id LIMIT $4"
                );
                let (wake_at, id) = after.map_or((None, ""), |row| (row.wake_at, row.id.as_str()));
                let rows: Vec<rows::Match> = sqlx::query_as(sql)
                    .bind(now.timestamp_millis())
                    .bind(wake_at.map_or(i64::MIN, |at| at.timestamp_millis()))
                    .bind(id)
                    .bind(i64::from(limit))
                    .fetch_all(&self.reader)
                    .await?;
                rows.into_iter().map(rows::Match::read).collect()
            }

            async fn matches_of(&self, player_id: i64) -> Result<Vec<MatchRow>> {
                let sql = concat!(
                    match_columns!(),
                    "WHERE id IN (SELECT match_id FROM seat WHERE player_id = $1) ORDER BY id"
                );
                let rows: Vec<rows::Match> =
                    sqlx::query_as(sql).bind(player_id).fetch_all(&self.reader).await?;
                rows.into_iter().map(rows::Match::read).collect()
            }

            async fn invitation(&self, code: &str) -> Result<Option<Invitation>> {
                let sql = concat!(invitation_columns!(), "WHERE code = $1");
                let row: Option<rows::Invitation> =
                    sqlx::query_as(sql).bind(text(code)).fetch_optional(&self.reader).await?;
                row.map(rows::Invitation::read).transpose()
            }

            async fn open_invitations(
                &self,
                lapsing_by: Option<DateTime<Utc>>,
            ) -> Result<Vec<Invitation>> {
                let sql = concat!(
                    invitation_columns!(),
                    "WHERE stage = 'open' AND lapses_at <= $1 ORDER BY created_at, code"
                );
                let by = lapsing_by.map_or(i64::MAX, |by| by.timestamp_millis());
                let rows: Vec<rows::Invitation> =
                    sqlx::query_as(sql).bind(by).fetch_all(&self.reader).await?;
                rows.into_iter().map(rows::Invitation::read).collect()
            }

            async fn commit_claimed(&self, mut claim: Claim, settlement: &Settlement) -> Result<()> {
                let mut tx = self.begin_under(&mut claim).await?;
                settle(&mut tx, settlement).await.map_err(stale_if_serialization_failure)?;
                tx.commit().await.map_err(|error| stale_if_serialization_failure(error.into()))
            }

            async fn entries(&self, match_id: &str) -> Result<Vec<EntryRow>> {
                let sql = "SELECT match_id, seq, at, kind, json, hash FROM entry WHERE match_id = $1 ORDER BY seq";
                let rows: Vec<rows::Entry> =
                    sqlx::query_as(sql).bind(text(match_id)).fetch_all(&self.reader).await?;
                rows.into_iter().map(rows::Entry::read).collect()
            }

            async fn entries_since(&self, kind: &str, since: DateTime<Utc>) -> Result<Vec<EntryRow>> {
                let sql = "SELECT match_id, seq, at, kind, json, hash FROM entry \
                           WHERE kind = $1 AND at >= $2 ORDER BY at, match_id, seq";
                let rows: Vec<rows::Entry> = sqlx::query_as(sql)
                    .bind(text(kind))
                    .bind(since.timestamp_millis())
                    .fetch_all(&self.reader)
                    .await?;
                rows.into_iter().map(rows::Entry::read).collect()
            }

            async fn entries_after(
                &self,
                match_id: &str,
                seq: Option<u64>,
                limit: u32,
                take: Take<'_, EntryRow>,
            ) -> Result<()> {
                let sql = "SELECT match_id, seq, at, kind, json, hash FROM entry \
                           WHERE match_id = $1 AND seq > $2 ORDER BY seq LIMIT $3";
                let query = sqlx::query_as(sql)
                    .bind(text(match_id))
                    .bind(seq.map_or(i64::MIN, integer))
                    .bind(i64::from(limit));
                hand_over(query.fetch(&self.reader), rows::Entry::read, take).await
            }

            async fn letters_named(
                &self,
                digests: &[Digest],
                take: Take<'_, (Digest, Vec<u8>)>,
            ) -> Result<()> {
                let digests: Vec<String> = digests.iter().map(Digest::to_string).collect();
                let sql = concat!(
                    "SELECT l.digest, r.bytes FROM letter l JOIN letter_raw r ON r.letter_id = l.id WHERE l.digest ",
                    $one_of
                );
                let read = |(hex, bytes): (String, Vec<u8>)| Ok((rows::digest(&hex)?, bytes));
                hand_over(sqlx::query_as(sql).bind(list(&digests)).fetch(&self.reader), read, take).await
            }

            async fn acted_after(
                &self,
                match_id: &str,
                id: i64,
                limit: u32,
            ) -> Result<Option<(i64, Vec<Digest>)>> {
                // One row: to hand over many small ones takes longer than to find them.
                let sql = "SELECT max(id), string_agg(digest, ' ') FROM (SELECT id, digest FROM letter \
                           WHERE match_id = $1 AND fate = 'ruled' AND id > $2 ORDER BY id LIMIT $3) AS acted";
                let (last, acted): (Option<i64>, Option<String>) = sqlx::query_as(sql)
                    .bind(text(match_id))
                    .bind(id)
                    .bind(i64::from(limit))
                    .fetch_one(&self.reader)
                    .await?;
                let acted = acted.iter().flat_map(|acted| acted.split(' ')).map(rows::digest);
                Ok(last.zip(Some(acted.collect::<Result<_>>()?)))
            }

            async fn sent_after(
                &self,
                match_id: &str,
                id: i64,
                limit: u32,
                take: Take<'_, SentRow>,
            ) -> Result<()> {
                let sql = "SELECT d.id, d.message_id, d.recipient, d.kind, d.seat, r.bytes FROM dispatch d \
                           JOIN dispatch_raw r ON r.dispatch_id = d.id \
                           WHERE d.match_id = $1 AND d.id > $2 ORDER BY d.id LIMIT $3";
                let query = sqlx::query_as(sql).bind(text(match_id)).bind(id).bind(i64::from(limit));
                hand_over(query.fetch(&self.reader), rows::SentBytes::read, take).await
            }

            async fn dispatches_of(&self, match_id: &str) -> Result<Vec<(DispatchRow, Vec<u8>)>> {
                let sql = concat!(
                    "SELECT ",
                    dispatch_columns!(),
                    ", r.bytes FROM dispatch d JOIN dispatch_raw r ON r.dispatch_id = d.id \
                     WHERE d.match_id = $1 ORDER BY d.id"
                );
                let rows: Vec<rows::DispatchBytes> =
                    sqlx::query_as(sql).bind(text(match_id)).fetch_all(&self.reader).await?;
                rows.into_iter().map(rows::DispatchBytes::read).collect()
            }

            async fn list_dispatches(&self, only_unsent: bool, limit: u32) -> Result<Vec<DispatchRow>> {
                let sql = if only_unsent {
                    concat!(
                        "SELECT ",
                        dispatch_columns!(),
                        "FROM dispatch d WHERE d.id IN (SELECT id FROM dispatch WHERE due_at IS NOT NULL \
                         UNION ALL SELECT id FROM dispatch WHERE sent_at IS NULL AND due_at IS NULL) \
                         ORDER BY d.id DESC LIMIT $1"
                    )
                } else {
                    concat!("SELECT ", dispatch_columns!(), "FROM dispatch d ORDER BY d.id DESC LIMIT $1")
                };
                let rows: Vec<rows::Dispatch> =
                    sqlx::query_as(sql).bind(i64::from(limit)).fetch_all(&self.reader).await?;
                rows.into_iter().map(rows::Dispatch::read).collect()
            }

            async fn dispatches_named(&self, ids: &[String]) -> Result<Vec<DispatchRow>> {
                let sql = concat!(
                    "SELECT ",
                    dispatch_columns!(),
                    "FROM dispatch d WHERE d.message_id ",
                    $one_of,
                    " ORDER BY d.id"
                );
                let rows: Vec<rows::Dispatch> =
                    sqlx::query_as(sql).bind(list(ids)).fetch_all(&self.reader).await?;
                rows.into_iter().map(rows::Dispatch::read).collect()
            }

            async fn dispatches_by_message_id(&self, ids: &[String]) -> Result<Vec<(String, Vec<u8>)>> {
                let sql = concat!(
                    "SELECT d.message_id, r.bytes FROM dispatch d JOIN dispatch_raw r ON r.dispatch_id = d.id \
                     WHERE d.message_id ",
                    $one_of,
                    " ORDER BY d.id"
                );
                Ok(sqlx::query_as(sql).bind(list(ids)).fetch_all(&self.writer).await?)
            }

            async fn answers_to(&self, recipients: &[String], since: DateTime<Utc>) -> Result<Vec<AnswerRow>> {
                let sql = concat!(
                    "SELECT recipient, message_id, asked FROM dispatch WHERE recipient ",
                    $one_of,
                    " AND created_at / 3600000 IN ($2 / 3600000, $2 / 3600000 + 1, $2 / 3600000 + 2) \
                     AND created_at >= $2 AND answers IS NOT NULL ORDER BY created_at, id"
                );
                let rows: Vec<rows::Answer> = sqlx::query_as(sql)
                    .bind(list(recipients))
                    .bind(since.timestamp_millis())
                    .fetch_all(&self.writer)
                    .await?;
                rows.into_iter().map(rows::Answer::read).collect()
            }

            async fn claim_dispatches(
                &self,
                now: DateTime<Utc>,
                limit: u32,
            ) -> Result<(Vec<Claimed>, Claim)> {
                self.claim_due(now.timestamp_millis(), limit).await
            }

            async fn record_outcomes(
                &self,
                mut claim: Claim,
                now: DateTime<Utc>,
                results: &[(i64, SendOutcome)],
            ) -> Result<()> {
                let mut tx = self.begin_under(&mut claim).await?;
                for chunk in results.chunks(CHUNK) {
                    let mut query =
                        QueryBuilder::<$db>::new("WITH result (r_id, r_sent_at, r_due_at, r_error) AS (");
                    query.push_values(chunk, |mut row, (id, sent)| {
                        let (sent_at, due_at, error) = outcome(sent, now);
                        row.push_bind(*id).push_bind(sent_at).push_bind(due_at).push_bind(error);
                    });
                    query.push(
                        ") UPDATE dispatch SET tries = tries + 1, sent_at = r_sent_at, \
                         due_at = r_due_at, error = r_error FROM result WHERE id = r_id AND sent_at IS NULL",
                    );
                    query.build().persistent(is_common(chunk.len())).execute(&mut *tx).await?;
                }
                Ok(tx.commit().await?)
            }

            async fn retry_all_now(&self, now: DateTime<Utc>) -> Result<()> {
                let mut tx = self.begin().await?;
                for sql in [
                    "UPDATE letter SET wait_until = $1 WHERE fate = 'waiting' AND wait_until > $1",
                    "UPDATE dispatch SET due_at = $1 WHERE due_at > $1",
                ] {
                    sqlx::query(sql).bind(now.timestamp_millis()).execute(&mut *tx).await?;
                }
                Ok(tx.commit().await?)
            }

            async fn next_dispatch_at(&self) -> Result<Option<DateTime<Utc>>> {
                let sql = "SELECT MIN(due_at) FROM dispatch WHERE due_at IS NOT NULL";
                maybe_time(sqlx::query_scalar(sql).fetch_one(&self.reader).await?)
            }

            async fn find_or_add_player(&self, address: &str, name: &str, now: DateTime<Utc>) -> Result<Player> {
                if let Some(player) = self.player_by_address(address).await? {
                    return Ok(player);
                }
                let mut tx = self.begin().await?;
                let sql = "INSERT INTO player (name, created_at) VALUES ($1, $2) RETURNING id";
                let id: i64 = sqlx::query_scalar(sql)
                    .bind(text(name))
                    .bind(now.timestamp_millis())
                    .fetch_one(&mut *tx)
                    .await?;
                let sql = "INSERT INTO address (address, player_id, rank) VALUES ($1, $2, 0) \
                           ON CONFLICT (address) DO NOTHING";
                let added = sqlx::query(sql)
                    .bind(text(&address.to_lowercase()))
                    .bind(id)
                    .execute(&mut *tx)
                    .await?;
                if added.rows_affected() == 1 {
                    tx.commit().await?;
                } else {
                    // Somebody else has just added the same.
                    tx.rollback().await?;
                }
                let player = self.player_by_address(address).await?;
                player.ok_or_else(|| StoreError::Unsound("an address was kept and is gone".to_owned()))
            }

            async fn save_player(&self, player: &Player) -> Result<()> {
                let mut tx = self.begin().await?;
                save_player(&mut tx, player).await.map_err(address_taken)?;
                Ok(tx.commit().await?)
            }

            async fn player_by_address(&self, address: &str) -> Result<Option<Player>> {
                let sql = concat!(
                    player_columns!(),
                    "WHERE p.id = (SELECT player_id FROM address WHERE address = $1) ORDER BY a.rank"
                );
                let rows = sqlx::query_as(sql)
                    .bind(text(&address.to_lowercase()))
                    .fetch_all(&self.reader)
                    .await?;
                Ok(rows::PlayerAddress::gather(rows).pop())
            }

            async fn players(&self) -> Result<Vec<Player>> {
                let sql = concat!(player_columns!(), "ORDER BY p.id, a.rank");
                Ok(rows::PlayerAddress::gather(sqlx::query_as(sql).fetch_all(&self.reader).await?))
            }

            async fn queues(&self) -> Result<Queues> {
                let counts: rows::Counts = sqlx::query_as(
                    "SELECT \
                     (SELECT COUNT(*) FROM letter WHERE fate = 'waiting') AS letters_waiting, \
                     (SELECT MIN(received_at) FROM letter WHERE fate = 'waiting') AS oldest_letter, \
                     (SELECT COUNT(*) FROM dispatch WHERE due_at IS NOT NULL) AS dispatches_waiting, \
                     (SELECT MIN(created_at) FROM dispatch WHERE due_at IS NOT NULL) AS oldest_dispatch, \
                     (SELECT COUNT(*) FROM dispatch WHERE sent_at IS NULL AND due_at IS NULL) AS given_up, \
                     (SELECT COUNT(*) FROM match WHERE stage = 'running') AS matches_running, \
                     (SELECT COUNT(*) FROM letter WHERE fate = 'set_aside') AS set_aside, \
                     (SELECT MIN(wake_at) FROM match WHERE wake_at IS NOT NULL) AS next_wake",
                )
                .fetch_one(&self.reader)
                .await?;
                counts.read()
            }

            async fn remembered(&self, key: &str) -> Result<Option<String>> {
                let sql = "SELECT value FROM memo WHERE key = $1";
                Ok(sqlx::query_scalar(sql).bind(key).fetch_optional(&self.reader).await?)
            }

            async fn remember(&self, key: &str, value: &str) -> Result<()> {
                let sql = "INSERT INTO memo (key, value) VALUES ($1, $2) \
                           ON CONFLICT (key) DO UPDATE SET value = excluded.value";
                sqlx::query(sql).bind(key).bind(text(value)).execute(&self.writer).await?;
                Ok(())
            }

            async fn remembered_under(&self, prefix: &str) -> Result<Vec<(String, String)>> {
                let sql = "SELECT key, value FROM memo WHERE key LIKE $1 ORDER BY key";
                Ok(sqlx::query_as(sql).bind(format!("{prefix}%")).fetch_all(&self.reader).await?)
            }

            async fn forget(&self, key: &str) -> Result<()> {
                sqlx::query("DELETE FROM memo WHERE key = $1").bind(key).execute(&self.writer).await?;
                Ok(())
            }

            async fn about(&self) -> Result<String> {
                let engine: String = sqlx::query_scalar(ENGINE).fetch_one(&self.reader).await?;
                let tables: i64 = sqlx::query_scalar(TABLES_VERSION).fetch_one(&self.reader).await?;
                Ok(format!("{engine}, tables of version {tables}"))
            }

            async fn backup(&self, to: &Path) -> Result<()> {
                self.back_up_to(to).await
            }

            async fn close(&self) {
                self.let_go().await;
                self.reader.close().await;
                self.writer.close().await;
            }
        }
    };
}

pub(super) use backend;

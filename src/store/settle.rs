//! What writes more than a row at a time, for both databases: letters as they come in, a settlement, a player.
//!
//! Each step writes [`CHUNK`](super::rows::CHUNK) rows with one statement. A statement that changes what exists
//! says what it changed, and what is missing there has been changed by somebody else.

macro_rules! settling {
    ($db:ty, one_of: $one_of:literal, for_update: $for_update:literal) => {
        /// Keeps letters; those that wait are counted.
        async fn insert_letters(tx: &mut Transaction<'_, $db>, letters: &[NewLetter]) -> Result<usize> {
            let arrivals: Vec<Arrival> = letters.iter().map(Arrival::of).collect();
            let digests: Vec<String> = arrivals.iter().map(|arrival| arrival.digest.clone()).collect();
            let sent_as: Vec<String> = arrivals.iter().filter_map(|arrival| arrival.sent_as.clone()).collect();
            let known: Vec<String> =
                sqlx::query_scalar(concat!("SELECT digest FROM letter WHERE digest ", $one_of))
                    .bind(list(&digests))
                    .fetch_all(&mut **tx)
                    .await?;
            let met: Vec<String> =
                sqlx::query_scalar(concat!("SELECT sent_as FROM letter WHERE sent_as ", $one_of))
                    .bind(list(&sent_as))
                    .fetch_all(&mut **tx)
                    .await?;
            let mut kept = Arrival::deduplicate(arrivals, known.into_iter().collect(), met.into_iter().collect());
            let lanes = lanes(tx, &kept).await?;
            for arrival in &mut kept {
                arrival.lane = arrival.letter.tokens.iter().find_map(|token| lanes.get(token)).cloned();
            }
            for chunk in kept.chunks(CHUNK) {
                keep_letters(tx, chunk).await?;
            }
            let waiting = kept.iter().filter(|arrival| arrival.status == LetterStatus::Waiting).count();
            if waiting > 0 {
                announce(tx, Wakeup::Letters).await?;
            }
            Ok(waiting)
        }

        async fn keep_letters(tx: &mut Transaction<'_, $db>, chunk: &[Arrival<'_>]) -> Result<()> {
            let mut query = QueryBuilder::<$db>::new(
                "INSERT INTO letter (digest, received_at, whence, message_id, sender, subject, size, sent_as, fate, lane) ",
            );
            query.push_values(chunk, |mut row, arrival| {
                let letter = arrival.letter;
                row.push_bind(&arrival.digest)
                    .push_bind(letter.received_at.timestamp_millis())
                    .push_bind(text(&letter.origin))
                    .push_bind(text(&letter.message_id))
                    .push_bind(text(&letter.sender))
                    .push_bind(text(&letter.subject))
                    .push_bind(integer(letter.raw.len() as u64))
                    .push_bind(&arrival.sent_as)
                    .push_bind(arrival.status.as_str())
                    .push_bind(arrival.lane.as_deref().unwrap_or_default());
            });
            query.push(" RETURNING id, digest");
            let ids: Vec<(i64, String)> =
                query.build_query_as().persistent(is_common(chunk.len())).fetch_all(&mut **tx).await?;
            let bytes = chunk.iter().map(|arrival| (arrival.digest.as_str(), arrival.letter.raw.as_slice()));
            let mut query = QueryBuilder::<$db>::new("INSERT INTO letter_raw (letter_id, bytes) ");
            query.push_values(numbered(bytes, &ids)?, |mut row, (id, bytes)| {
                row.push_bind(id).push_bind(bytes);
            });
            query.build().persistent(is_common(chunk.len())).execute(&mut **tx).await?;
            Ok(())
        }

        async fn settle(tx: &mut Transaction<'_, $db>, settlement: &Settlement) -> Result<()> {
            let (old, new) = sort_matches(&settlement.matches)?;
            lock_matches(tx, &old).await?;
            for chunk in new.chunks(CHUNK) {
                add_matches(tx, chunk).await?;
            }
            for chunk in old.chunks(CHUNK) {
                change_matches(tx, chunk).await?;
            }
            for player in &settlement.players {
                save_player(tx, player).await.map_err(address_taken)?;
            }
            for (gone, into) in &settlement.merged {
                merge_players(tx, *gone, *into).await?;
            }
            for chunk in settlement.seats.chunks(CHUNK) {
                set_seats(tx, chunk).await?;
            }
            if !settlement.letters.is_empty() {
                insert_letters(tx, &settlement.letters).await?;
            }
            for chunk in settlement.decided.chunks(CHUNK) {
                decide_letters(tx, settlement.at, chunk).await?;
            }
            for postponed in &settlement.postponed {
                postpone_letter(tx, postponed).await?;
            }
            for chunk in settlement.entries.chunks(CHUNK) {
                add_entries(tx, chunk).await?;
            }
            for invitation in &settlement.invitations {
                set_invitation(tx, invitation).await?;
            }
            if !settlement.returned.is_empty() {
                let sql = concat!(
                    "UPDATE dispatch SET returned_at = $2 WHERE returned_at IS NULL AND message_id ",
                    $one_of
                );
                sqlx::query(sql)
                    .bind(list(&settlement.returned))
                    .bind(settlement.at.timestamp_millis())
                    .execute(&mut **tx)
                    .await?;
            }
            for chunk in settlement.dispatches.chunks(CHUNK) {
                add_dispatches(tx, settlement.at, chunk, false).await?;
            }
            if !settlement.dispatches.is_empty() {
                announce(tx, Wakeup::Dispatches).await?;
            }
            for chunk in settlement.posted.chunks(CHUNK) {
                add_dispatches(tx, settlement.at, chunk, true).await?;
            }
            Ok(())
        }

        /// Locks rows in one order, so that no two settlements wait for each other.
        async fn lock_matches(tx: &mut Transaction<'_, $db>, matches: &[&MatchRow]) -> Result<()> {
            if !$for_update.is_empty() {
                let ids: Vec<String> = matches.iter().map(|row| row.id.clone()).collect();
                let sql = concat!("SELECT id FROM match WHERE id ", $one_of, " ORDER BY id ", $for_update);
                sqlx::query(sql).bind(list(&ids)).execute(&mut **tx).await?;
            }
            Ok(())
        }

        async fn add_matches(tx: &mut Transaction<'_, $db>, chunk: &[&MatchRow]) -> Result<()> {
            let mut query =
                QueryBuilder::<$db>::new("INSERT INTO match (id, game, stage, wake_at, snapshot, version) ");
            query.push_values(chunk, |mut row, new| {
                row.push_bind(&new.id)
                    .push_bind(new.game.key())
                    .push_bind(new.stage.as_str())
                    .push_bind(new.wake_at.map(|at| at.timestamp_millis()))
                    .push_bind(&new.snapshot)
                    .push_bind(1_i64);
            });
            query.push(" ON CONFLICT (id) DO NOTHING RETURNING id");
            let added: Vec<String> =
                query.build_query_scalar().persistent(is_common(chunk.len())).fetch_all(&mut **tx).await?;
            all_there("match", chunk.iter().map(|row| row.id.clone()), &added)
        }

        /// Most letters leave a match's stage and clock as they are. SQLite writes into an index whatever it is told
        /// to, be it what stands there: so these columns are set only where they change.
        async fn change_matches(tx: &mut Transaction<'_, $db>, chunk: &[&MatchRow]) -> Result<()> {
            let sql = "snapshot = n_snapshot, version = version + 1 FROM new WHERE id = n_id AND version = n_version \
                       AND NOT (stage <> n_stage OR wake_at IS DISTINCT FROM n_wake_at) RETURNING id";
            let mut changed = update_matches(tx, chunk, sql).await?;
            let moved: Vec<&MatchRow> =
                chunk.iter().filter(|row| !changed.contains(&row.id)).copied().collect();
            if !moved.is_empty() {
                let sql = "stage = n_stage, wake_at = n_wake_at, snapshot = n_snapshot, version = version + 1 \
                           FROM new WHERE id = n_id AND version = n_version RETURNING id";
                changed.extend(update_matches(tx, &moved, sql).await?);
            }
            all_there("match", chunk.iter().map(|row| row.id.clone()), &changed)
        }

        /// The ids of those that are changed.
        async fn update_matches(
            tx: &mut Transaction<'_, $db>,
            chunk: &[&MatchRow],
            sql: &str,
        ) -> Result<Vec<String>> {
            let mut query =
                QueryBuilder::<$db>::new("WITH new (n_id, n_stage, n_wake_at, n_snapshot, n_version) AS (");
            query.push_values(chunk, |mut row, new| {
                row.push_bind(&new.id)
                    .push_bind(new.stage.as_str())
                    .push_bind(new.wake_at.map(|at| at.timestamp_millis()))
                    .push_bind(&new.snapshot)
                    .push_bind(new.version);
            });
            query.push(") UPDATE match SET ").push(sql);
            Ok(query.build_query_scalar().persistent(is_common(chunk.len())).fetch_all(&mut **tx).await?)
        }

        async fn set_seats(tx: &mut Transaction<'_, $db>, chunk: &[SeatRow]) -> Result<()> {
            let mut query = QueryBuilder::<$db>::new("INSERT INTO seat (match_id, seat, player_id, token) ");
            query.push_values(chunk, |mut row, seat| {
                row.push_bind(&seat.match_id)
                    .push_bind(seat.seat.as_str())
                    .push_bind(seat.player_id)
                    .push_bind(&seat.token);
            });
            query.push(
                " ON CONFLICT (match_id, seat) DO UPDATE SET player_id = excluded.player_id, token = excluded.token",
            );
            query.build().persistent(is_common(chunk.len())).execute(&mut **tx).await?;
            Ok(())
        }

        async fn decide_letters(
            tx: &mut Transaction<'_, $db>,
            at: DateTime<Utc>,
            chunk: &[LetterDecision],
        ) -> Result<()> {
            let mut query =
                QueryBuilder::<$db>::new("WITH decided (d_digest, d_fate, d_note, d_match_id, d_seat) AS (");
            query.push_values(chunk, |mut row, decided| {
                let (match_id, seat) = place(decided);
                row.push_bind(decided.digest.to_string())
                    .push_bind(decided.status.as_str())
                    .push_bind(text(&decided.note))
                    .push_bind(match_id)
                    .push_bind(seat);
            });
            query.push(
                ") UPDATE letter SET fate = d_fate, note = d_note, match_id = d_match_id, seat = d_seat, \
                 tries = CASE WHEN d_fate = 'waiting' THEN 0 ELSE tries END, decided_at = ",
            );
            query.push_bind(at.timestamp_millis());
            query.push(
                " FROM decided WHERE digest = d_digest \
                 AND CASE WHEN d_fate = 'waiting' THEN fate IN ('automatic', 'ignored', 'set_aside') \
                 ELSE fate = 'waiting' END RETURNING digest",
            );
            let changed: Vec<String> =
                query.build_query_scalar().persistent(is_common(chunk.len())).fetch_all(&mut **tx).await?;
            all_there("letter", chunk.iter().map(|decided| decided.digest.to_string()), &changed)
        }

        async fn postpone_letter(tx: &mut Transaction<'_, $db>, postponed: &Postponed) -> Result<()> {
            let sql = "UPDATE letter SET wait_until = $2, note = $3, tries = tries + $4 \
                       WHERE digest = $1 AND fate = 'waiting'";
            sqlx::query(sql)
                .bind(postponed.digest.to_string())
                .bind(postponed.until.map(|until| until.timestamp_millis()))
                .bind(text(&postponed.note))
                .bind(i64::from(postponed.until.is_none()))
                .execute(&mut **tx)
                .await?;
            Ok(())
        }

        async fn add_entries(tx: &mut Transaction<'_, $db>, chunk: &[EntryRow]) -> Result<()> {
            let mut query = QueryBuilder::<$db>::new("INSERT INTO entry (match_id, seq, at, kind, json, hash) ");
            query.push_values(chunk, |mut row, entry| {
                row.push_bind(&entry.match_id)
                    .push_bind(integer(entry.seq))
                    .push_bind(entry.at.timestamp_millis())
                    .push_bind(&entry.kind)
                    .push_bind(&entry.json)
                    .push_bind(entry.hash.to_string());
            });
            query.build().persistent(is_common(chunk.len())).execute(&mut **tx).await?;
            Ok(())
        }

        async fn add_dispatches(
            tx: &mut Transaction<'_, $db>,
            at: DateTime<Utc>,
            chunk: &[NewDispatch],
            posted: bool,
        ) -> Result<()> {
            let at = at.timestamp_millis();
            let mut query = QueryBuilder::<$db>::new(
                "INSERT INTO dispatch \
                 (message_id, recipient, kind, match_id, seat, answers, asked, created_at, due_at, sent_at) ",
            );
            query.push_values(chunk, |mut row, dispatch| {
                row.push_bind(&dispatch.message_id)
                    .push_bind(text(&dispatch.recipient))
                    .push_bind(dispatch.kind.as_str())
                    .push_bind(&dispatch.match_id)
                    .push_bind(dispatch.seat.map(|seat| seat.as_str()))
                    .push_bind(dispatch.answers.map(|digest| digest.to_string()))
                    .push_bind(dispatch.asked.map(|digest| digest.to_string()))
                    .push_bind(at)
                    .push_bind((!posted).then_some(at))
                    .push_bind(posted.then_some(at));
            });
            query.push(" RETURNING id, message_id");
            let ids: Vec<(i64, String)> =
                query.build_query_as().persistent(is_common(chunk.len())).fetch_all(&mut **tx).await?;
            let bytes = chunk.iter().map(|dispatch| (dispatch.message_id.as_str(), dispatch.bytes.as_slice()));
            let mut query = QueryBuilder::<$db>::new("INSERT INTO dispatch_raw (dispatch_id, bytes) ");
            query.push_values(numbered(bytes, &ids)?, |mut row, (id, bytes)| {
                row.push_bind(id).push_bind(bytes);
            });
            query.build().persistent(is_common(chunk.len())).execute(&mut **tx).await?;
            Ok(())
        }

        /// Adds an invitation, or closes one that is open.
        async fn set_invitation(tx: &mut Transaction<'_, $db>, new: &Invitation) -> Result<()> {
            let sql = "INSERT INTO invitation (code, inviter, inviter_name, invited, game, offer, stage, match_id, \
                       created_at, lapses_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
                       ON CONFLICT (code) DO UPDATE SET stage = excluded.stage, match_id = excluded.match_id \
                       WHERE invitation.stage = 'open' AND excluded.stage <> 'open'";
            let changed = sqlx::query(sql)
                .bind(&new.code)
                .bind(text(&new.inviter))
                .bind(text(&new.inviter_name))
                .bind(new.invited.as_deref().map(text))
                .bind(new.game.key())
                .bind(text(&new.offer))
                .bind(new.stage.as_str())
                .bind(&new.match_id)
                .bind(new.created_at.timestamp_millis())
                .bind(new.lapses_at.timestamp_millis())
                .execute(&mut **tx)
                .await?;
            if changed.rows_affected() == 0 {
                return Err(StoreError::Stale(format!("invitation {}", new.code)));
            }
            Ok(())
        }

        /// All that `gone` holds becomes that of `into`. Nobody can play both sides of a match.
        async fn merge_players(tx: &mut Transaction<'_, $db>, gone: i64, into: i64) -> Result<()> {
            let sql = "SELECT COUNT(*) FROM seat a JOIN seat b ON a.match_id = b.match_id \
                       WHERE a.player_id = $1 AND b.player_id = $2";
            let both: i64 = sqlx::query_scalar(sql).bind(gone).bind(into).fetch_one(&mut **tx).await?;
            if both > 0 || gone == into {
                return Err(StoreError::Unsound(format!("players {gone} and {into} hold both sides of a match")));
            }
            sqlx::query("UPDATE seat SET player_id = $2 WHERE player_id = $1")
                .bind(gone)
                .bind(into)
                .execute(&mut **tx)
                .await?;
            let sql = "UPDATE address SET player_id = $2, \
                       rank = rank + 1 + (SELECT COALESCE(MAX(rank), 0) FROM address WHERE player_id = $2) \
                       WHERE player_id = $1";
            sqlx::query(sql).bind(gone).bind(into).execute(&mut **tx).await?;
            sqlx::query("DELETE FROM player WHERE id = $1").bind(gone).execute(&mut **tx).await?;
            Ok(())
        }

        async fn save_player(tx: &mut Transaction<'_, $db>, player: &Player) -> Result<()> {
            let changed = sqlx::query("UPDATE player SET name = $1, bouncing = $2 WHERE id = $3")
                .bind(text(&player.name))
                .bind(player.bouncing)
                .bind(player.id)
                .execute(&mut **tx)
                .await?;
            if changed.rows_affected() == 0 {
                return Err(StoreError::Unsound(format!("there is no player {}", player.id)));
            }
            sqlx::query("DELETE FROM address WHERE player_id = $1").bind(player.id).execute(&mut **tx).await?;
            for (rank, address) in (0_i64..).zip(&player.addresses) {
                sqlx::query("INSERT INTO address (address, player_id, rank) VALUES ($1, $2, $3)")
                    .bind(text(&address.to_lowercase()))
                    .bind(player.id)
                    .bind(rank)
                    .execute(&mut **tx)
                    .await?;
            }
            Ok(())
        }
    };
}

pub(super) use settling;

//! [`Forgetting`] for both databases: a player is forgotten, and every chain stays whole.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::database::Database;
use super::rows::text;
use super::statement::Session;
use super::{Player, Result};

/// A match of a player who is forgotten, as it is listed afterwards.
#[derive(Clone, Debug)]
pub struct ForgottenMatch {
    pub id: String,
    pub snapshot: String,
    pub first_name: String,
    pub second_name: String,
}

/// Forgets players.
#[async_trait]
pub trait Forgetting {
    /// Returns who was forgotten in a match, such as `P-12`, or `None` if nobody was.
    async fn forgotten_in(&self, match_id: &str) -> Result<Option<String>>;

    /// Returns the matches in which a player holds a seat or held one: those of letters from or to the player.
    async fn matches_ever_of(&self, player: &Player) -> Result<Vec<String>>;

    /// Deletes the addresses of a player and the bytes of all letters from and to them, and calls the player `name` from
    /// now on, also in these matches. Digests stay.
    async fn forget_player(
        &self,
        player: &Player,
        name: &str,
        matches: &[ForgottenMatch],
        now: DateTime<Utc>,
    ) -> Result<()>;
}

#[async_trait]
impl Forgetting for Database {
    async fn forgotten_in(&self, match_id: &str) -> Result<Option<String>> {
        let statement = self.statement("SELECT forgotten FROM match WHERE id = $1").bind(text(match_id));
        let found: Option<(Option<String>,)> = self.read_first(statement).await?;
        Ok(found.and_then(|(forgotten,)| forgotten))
    }

    async fn matches_ever_of(&self, player: &Player) -> Result<Vec<String>> {
        let one_of = self.one_of();
        let sql = format!(
            "SELECT match_id FROM seat WHERE player_id = $2 \
             UNION SELECT match_id FROM letter WHERE match_id IS NOT NULL AND sender {one_of} \
             UNION SELECT match_id FROM dispatch WHERE match_id IS NOT NULL AND recipient {one_of} ORDER BY 1"
        );
        let ids: Vec<(String,)> =
            self.read(self.statement(sql).bind_texts(&player.addresses).bind(player.id)).await?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    async fn forget_player(
        &self,
        player: &Player,
        name: &str,
        matches: &[ForgottenMatch],
        now: DateTime<Utc>,
    ) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        let session = &mut tx.session();
        forget_letters(session, &player.addresses, now).await?;
        forget_traces(session, player, name).await?;
        let sql = "UPDATE player SET name = $2, bouncing = $4, forgotten_at = $3 WHERE id = $1";
        let statement =
            session.statement(sql).bind(player.id).bind(name).bind(now.timestamp_millis()).bind(false);
        session.execute(statement).await?;
        for forgotten in matches {
            let sql = "UPDATE match SET snapshot = $2, first_name = $3, second_name = $4, version = version + 1, \
                       forgotten = COALESCE(forgotten || ', ', '') || $5 WHERE id = $1";
            let statement = session
                .statement(sql)
                .bind(&forgotten.id)
                .bind(&forgotten.snapshot)
                .bind(text(&forgotten.first_name))
                .bind(text(&forgotten.second_name))
                .bind(name);
            session.execute(statement).await?;
        }
        tx.commit().await
    }
}

/// Deletes the bytes of the letters from and to these addresses, and what their rows tell of the person.
async fn forget_letters(session: &mut Session<'_>, addresses: &[String], now: DateTime<Utc>) -> Result<()> {
    let one_of = session.engine().one_of();
    let at = now.timestamp_millis();
    let sql = format!(
        "UPDATE letter SET forgotten_at = $2, bytes_deleted_at = COALESCE(bytes_deleted_at, $2), sender = '', \
         subject = '', message_id = '', sent_as = NULL WHERE fate <> 'waiting' AND sender {one_of} RETURNING id"
    );
    let statement = session.statement(sql).bind_texts(addresses).bind(at);
    let letters = numbers(session.fetch_all(statement).await?);
    let sql = format!(
        "UPDATE dispatch SET forgotten_at = $2, recipient = '' WHERE due_at IS NULL AND recipient {one_of} RETURNING id"
    );
    let statement = session.statement(sql).bind_texts(addresses).bind(at);
    let sent = numbers(session.fetch_all(statement).await?);
    for (table, column, ids) in [
        ("letter_raw", "letter_id", &letters),
        ("dispatch_picture", "dispatch_id", &sent),
        ("dispatch_raw", "dispatch_id", &sent),
    ] {
        let statement =
            session.statement(format!("DELETE FROM {table} WHERE {column} {one_of}")).bind_numbers(ids);
        session.execute(statement).await?;
    }
    Ok(())
}

fn numbers(ids: Vec<(i64,)>) -> Vec<i64> {
    ids.into_iter().map(|(id,)| id).collect()
}

/// Deletes a player's addresses wherever else they stand.
async fn forget_traces(session: &mut Session<'_>, player: &Player, name: &str) -> Result<()> {
    let one_of = session.engine().one_of();
    let lapse = "stage = CASE stage WHEN 'open' THEN 'lapsed' ELSE stage END";
    let sql =
        format!("UPDATE invitation SET inviter = '', inviter_name = $2, {lapse} WHERE inviter {one_of}");
    let statement = session.statement(sql).bind_texts(&player.addresses).bind(name);
    session.execute(statement).await?;
    for sql in [
        format!("UPDATE invitation SET invited = NULL, {lapse} WHERE invited {one_of}"),
        format!("UPDATE unproven_letter SET address = '' WHERE address {one_of}"),
        format!("UPDATE seat_pin SET key = NULL, value = NULL WHERE kind = 'address' AND value {one_of}"),
        format!("DELETE FROM standing WHERE address {one_of}"),
        format!("DELETE FROM question WHERE address {one_of}"),
        format!("DELETE FROM lot WHERE address {one_of}"),
        format!("DELETE FROM budget WHERE subject {one_of}"),
    ] {
        let statement = session.statement(sql).bind_texts(&player.addresses);
        session.execute(statement).await?;
    }
    for sql in ["DELETE FROM player_change WHERE player_id = $1", "DELETE FROM address WHERE player_id = $1"]
    {
        let statement = session.statement(sql).bind(player.id);
        session.execute(statement).await?;
    }
    Ok(())
}

//! Players and their addresses.

use chrono::{DateTime, Utc};

use super::letters::move_to_known;
use super::rows::{self, text};
use super::statement::Session;
use super::{Newcomer, Player, Result, SeatRow, StoreError};

/// Selects players, one row for each address.
const PLAYERS: &str = "SELECT p.id, p.name, p.bouncing, p.settings, a.address FROM player p LEFT JOIN address a ON a.player_id = p.id ";

/// Returns all players by ID.
pub async fn players(session: &mut Session<'_>) -> Result<Vec<Player>> {
    let statement = session.statement(format!("{PLAYERS}ORDER BY p.id, a.rank"));
    rows::PlayerAddress::gather(session.fetch_all(statement).await?)
}

/// Returns the IDs and names of all players, by ID.
pub async fn player_names(session: &mut Session<'_>) -> Result<Vec<(i64, String)>> {
    let statement = session.statement("SELECT id, name FROM player ORDER BY id");
    session.fetch_all(statement).await
}

/// Returns up to `limit` players with an address who were added since then, by ID.
pub async fn players_since(
    session: &mut Session<'_>,
    since: DateTime<Utc>,
    limit: u32,
) -> Result<Vec<Player>> {
    let sql = format!(
        "{PLAYERS}WHERE p.id IN (SELECT id FROM player WHERE created_at >= $1 \
         AND id IN (SELECT player_id FROM address) ORDER BY id LIMIT $2) ORDER BY p.id, a.rank"
    );
    let statement = session.statement(sql).bind(since.timestamp_millis()).bind(i64::from(limit));
    rows::PlayerAddress::gather(session.fetch_all(statement).await?)
}

pub async fn player_by_address(session: &mut Session<'_>, address: &str) -> Result<Option<Player>> {
    let sql =
        format!("{PLAYERS}WHERE p.id = (SELECT player_id FROM address WHERE address = $1) ORDER BY a.rank");
    let statement = session.statement(sql).bind(text(&address.to_ascii_lowercase()));
    Ok(rows::PlayerAddress::gather(session.fetch_all(statement).await?)?.pop())
}

/// Adds a player, and returns whether the address was free. If it was not, roll back: another writer has just added
/// the same player.
pub async fn add_player(
    session: &mut Session<'_>,
    address: &str,
    name: &str,
    now: DateTime<Utc>,
) -> Result<bool> {
    let id = insert_player(session, name, now).await?;
    let sql = "INSERT INTO address (address, player_id, rank) VALUES ($1, $2, 0) \
               ON CONFLICT (address) DO NOTHING";
    let address = text(&address.to_ascii_lowercase()).into_owned();
    let statement = session.statement(sql).bind(&address).bind(id);
    if session.execute(statement).await? == 0 {
        return Ok(false);
    }
    move_to_known(session, &address).await?;
    Ok(true)
}

async fn insert_player(session: &mut Session<'_>, name: &str, now: DateTime<Utc>) -> Result<i64> {
    let statement = session
        .statement("INSERT INTO player (name, created_at) VALUES ($1, $2) RETURNING id")
        .bind(text(name))
        .bind(now.timestamp_millis());
    let (id,): (i64,) = session.fetch_one(statement).await?;
    Ok(id)
}

/// Adds a player with their addresses, and returns their seats.
pub async fn add_newcomer(
    session: &mut Session<'_>,
    newcomer: &Newcomer,
    now: DateTime<Utc>,
) -> Result<Vec<SeatRow>> {
    let player_id = insert_player(session, &newcomer.name, now).await?;
    insert_addresses(session, player_id, &newcomer.addresses).await?;
    let seats = newcomer.seats.iter().map(|(match_id, seat, token)| SeatRow {
        match_id: match_id.clone(),
        seat: *seat,
        player_id,
        token: token.clone(),
    });
    Ok(seats.collect())
}

pub async fn save_player(session: &mut Session<'_>, player: &Player) -> Result<()> {
    let statement = session
        .statement(
            "UPDATE player SET name = $1, bouncing = $2, settings = $3, \
             digest_at = CASE WHEN $4 THEN COALESCE(digest_at, 0) END WHERE id = $5",
        )
        .bind(text(&player.name))
        .bind(player.bouncing)
        .bind(serde_json::to_string(&player.settings).expect("settings are plain values"))
        .bind(player.settings.digest_hour.is_some())
        .bind(player.id);
    if session.execute(statement).await? == 0 {
        return Err(StoreError::Unsound(format!("there is no player {}", player.id)));
    }
    let statement = session.statement("DELETE FROM address WHERE player_id = $1").bind(player.id);
    session.execute(statement).await?;
    insert_addresses(session, player.id, &player.addresses).await
}

async fn insert_addresses(session: &mut Session<'_>, player_id: i64, addresses: &[String]) -> Result<()> {
    for (rank, address) in (0_i64..).zip(addresses) {
        let address = text(&address.to_ascii_lowercase()).into_owned();
        move_to_known(session, &address).await?;
        let statement = session
            .statement("INSERT INTO address (address, player_id, rank) VALUES ($1, $2, $3)")
            .bind(&address)
            .bind(player_id)
            .bind(rank);
        session.execute(statement).await?;
    }
    Ok(())
}

/// Returns the players whose digest is due by now, and those whose first one is not scheduled yet (`None`).
pub async fn digests_due(
    session: &mut Session<'_>,
    now: DateTime<Utc>,
    limit: u32,
) -> Result<Vec<(Player, Option<DateTime<Utc>>)>> {
    let sql = "SELECT id, digest_at FROM player WHERE digest_at <= $1 ORDER BY digest_at, id LIMIT $2";
    let statement = session.statement(sql).bind(now.timestamp_millis()).bind(i64::from(limit));
    let rows: Vec<(i64, i64)> = session.fetch_all(statement).await?;
    let mut due = Vec::with_capacity(rows.len());
    for (id, digest_at) in rows {
        let statement = session.statement(format!("{PLAYERS}WHERE p.id = $1 ORDER BY a.rank")).bind(id);
        let found = rows::PlayerAddress::gather(session.fetch_all(statement).await?)?;
        let digest_at = if digest_at == 0 { None } else { Some(rows::time(digest_at)?) };
        due.extend(found.into_iter().map(|player| (player, digest_at)));
    }
    Ok(due)
}

/// Sets when a player's next digest is due, unless the player wants none by now.
pub async fn schedule_digest(
    session: &mut Session<'_>,
    player_id: i64,
    at: Option<DateTime<Utc>>,
) -> Result<()> {
    let statement = session
        .statement("UPDATE player SET digest_at = $2 WHERE id = $1 AND digest_at IS NOT NULL")
        .bind(player_id)
        .bind(at.map(|at| at.timestamp_millis()));
    session.execute(statement).await?;
    Ok(())
}

/// Transfers the seats and addresses of `merged` to `into`, and deletes `merged`.
///
/// # Errors
/// [`StoreError::Unsound`] if together they hold both seats of a match, which no player may, or if they are the same
/// player.
pub async fn merge_players(session: &mut Session<'_>, merged: i64, into: i64) -> Result<()> {
    let sql = "SELECT COUNT(*) FROM seat a JOIN seat b ON a.match_id = b.match_id \
               WHERE a.player_id = $1 AND b.player_id = $2";
    let statement = session.statement(sql).bind(merged).bind(into);
    let (shared,): (i64,) = session.fetch_one(statement).await?;
    if shared > 0 || merged == into {
        return Err(StoreError::Unsound(format!("players {merged} and {into} hold both seats of a match")));
    }
    let statement =
        session.statement("UPDATE seat SET player_id = $2 WHERE player_id = $1").bind(merged).bind(into);
    session.execute(statement).await?;
    let sql = "UPDATE address SET player_id = $2, \
               rank = rank + 1 + (SELECT COALESCE(MAX(rank), 0) FROM address WHERE player_id = $2) \
               WHERE player_id = $1";
    let statement = session.statement(sql).bind(merged).bind(into);
    session.execute(statement).await?;
    let statement = session.statement("DELETE FROM player WHERE id = $1").bind(merged);
    session.execute(statement).await?;
    Ok(())
}

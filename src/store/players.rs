//! Players, their addresses, seats and daily digests.
//!
//! Changes to a player's addresses, and requests to leave, that wait for an answer or can still be undone.

use chrono::{DateTime, Utc};

use super::columns::time;
use super::letters::move_to_known;
use super::rows::{record, text};
use super::statement::Session;
use super::{Database, ListedPlayer, Newcomer, Player, Result, SeatRow, StoreError, TokenRow};
use crate::game::named_enum;

/// Selects players, one row for each address.
const PLAYERS: &str = "SELECT p.id, p.name, p.bouncing, p.settings, p.member, a.address FROM player p LEFT JOIN address a ON a.player_id = p.id ";

/// Selects seats, one row for each address of their players.
const SEATS: &str = "SELECT s.token, s.match_id, s.seat, p.id, p.name, p.bouncing, p.settings, p.member, \
                     a.address FROM seat s \
                     JOIN player p ON p.id = s.player_id LEFT JOIN address a ON a.player_id = p.id ";

impl Database {
    /// Returns all players by ID.
    pub async fn players(&self) -> Result<Vec<Player>> {
        let sql = format!("{PLAYERS}ORDER BY p.id, a.rank");
        Ok(merge_addresses(self.read(self.statement(sql)).await?))
    }

    /// Returns the player with this ID.
    pub async fn player_by_id(&self, id: i64) -> Result<Option<Player>> {
        let select = self.statement(format!("{PLAYERS}WHERE p.id = $1 ORDER BY a.rank")).bind(id);
        Ok(merge_addresses(self.read(select).await?).pop())
    }

    /// Returns up to `limit` players with these words in their names or addresses, by ID. Case matters only
    /// in letters beyond ASCII.
    pub async fn players_named(&self, words: &str, limit: u32) -> Result<Vec<Player>> {
        let sql = format!(
            "{PLAYERS}WHERE p.id IN (SELECT id FROM player WHERE LOWER(name) LIKE $1 ESCAPE '!' OR name LIKE $2 \
             ESCAPE '!' OR id IN (SELECT player_id FROM address WHERE address LIKE $1 ESCAPE '!') ORDER BY id \
             LIMIT $3) ORDER BY p.id, a.rank"
        );
        let escaped: String =
            words.chars().flat_map(|c| "!%_".contains(c).then_some('!').into_iter().chain([c])).collect();
        let lower = format!("%{}%", escaped.to_lowercase());
        let given = format!("%{escaped}%");
        let select = self.statement(sql).bind(text(&lower)).bind(text(&given)).bind(i64::from(limit));
        Ok(merge_addresses(self.read(select).await?))
    }

    /// Returns a short entry for each player, by ID. A new name must differ from all of theirs.
    pub async fn listed_players(&self) -> Result<Vec<ListedPlayer>> {
        let sql = "SELECT id, name, member, \
                   (SELECT address FROM address WHERE player_id = player.id ORDER BY rank LIMIT 1) AS address \
                   FROM player ORDER BY id";
        self.read(self.statement(sql)).await
    }

    /// Returns up to `limit` players with an address who were added since `since`, by ID.
    pub async fn players_since(&self, since: DateTime<Utc>, limit: u32) -> Result<Vec<Player>> {
        let sql = format!(
            "{PLAYERS}WHERE p.id IN (SELECT id FROM player WHERE created_at >= $1 \
             AND id IN (SELECT player_id FROM address) ORDER BY id LIMIT $2) ORDER BY p.id, a.rank"
        );
        let select = self.statement(sql).bind(since.timestamp_millis()).bind(i64::from(limit));
        Ok(merge_addresses(self.read(select).await?))
    }

    pub async fn player_by_address(&self, address: &str) -> Result<Option<Player>> {
        Ok(self.players_by_address(&[address.to_ascii_lowercase()]).await?.pop())
    }

    /// Returns the players who have one of these addresses, which are in lower case.
    pub async fn players_by_address(&self, addresses: &[String]) -> Result<Vec<Player>> {
        let sql = format!(
            "{PLAYERS}WHERE p.id IN (SELECT player_id FROM address WHERE address {}) ORDER BY p.id, a.rank",
            self.one_of()
        );
        Ok(merge_addresses(self.read(self.statement(sql).bind_texts(addresses)).await?))
    }

    /// Returns the player with this address, adding one called `name` if there is none.
    pub async fn find_or_add_player(&self, address: &str, name: &str, now: DateTime<Utc>) -> Result<Player> {
        // Most addresses are known, and looking first keeps SQLite's only writer free.
        if let Some(player) = self.player_by_address(address).await? {
            return Ok(player);
        }
        let mut tx = self.backend.begin().await?;
        if add_player(&mut tx.session(), address, name, now).await? {
            tx.commit().await?;
        } else {
            tx.rollback().await?;
        }
        let player = self.player_by_address(address).await?;
        player.ok_or_else(|| StoreError::Unsound("a stored address disappeared".to_owned()))
    }

    /// Returns both seats of each match that has a seat with one of these tokens, by match, then seat.
    pub async fn seats_by_token(&self, tokens: &[String]) -> Result<Vec<TokenRow>> {
        let one_of = self.one_of();
        self.seats(&format!("IN (SELECT match_id FROM seat WHERE token {one_of})"), tokens).await
    }

    /// Returns both seats of each match.
    pub async fn seats_of(&self, match_ids: &[String]) -> Result<Vec<TokenRow>> {
        self.seats(self.one_of(), match_ids).await
    }

    /// Returns the seats of matches whose ID meets a condition on the texts `$1`.
    async fn seats(&self, condition: &str, texts: &[String]) -> Result<Vec<TokenRow>> {
        let sql = format!("{SEATS}WHERE s.match_id {condition} ORDER BY s.match_id, s.seat, a.rank");
        let rows: Vec<TokenRow> = self.read_recent(self.statement(sql).bind_texts(texts)).await?;
        let mut seats: Vec<TokenRow> = Vec::new();
        for row in rows {
            match seats.last_mut() {
                // The rows of each seat are adjacent.
                Some(last) if last.token == row.token => last.player.addresses.extend(row.player.addresses),
                _ => seats.push(row),
            }
        }
        Ok(seats)
    }

    /// Returns up to `limit` players whose digest is due by `now`, with that time; `None` if none is
    /// scheduled yet.
    pub async fn digests_due(
        &self,
        now: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<(Player, Option<DateTime<Utc>>)>> {
        let sql = "SELECT id, digest_at FROM player WHERE digest_at <= $1 ORDER BY digest_at, id LIMIT $2";
        let select = self.statement(sql).bind(now.timestamp_millis()).bind(i64::from(limit));
        let mut due = Vec::new();
        for (id, digest_at) in self.read::<(i64, i64)>(select).await? {
            let digest_at = if digest_at == 0 { None } else { Some(time(digest_at)?) };
            due.extend(self.player_by_id(id).await?.map(|player| (player, digest_at)));
        }
        Ok(due)
    }

    /// Sets when a player's next digest is due, unless the player no longer wants any.
    pub async fn schedule_digest(&self, player_id: i64, at: Option<DateTime<Utc>>) -> Result<()> {
        let sql = "UPDATE player SET digest_at = $2 WHERE id = $1 AND digest_at IS NOT NULL";
        let update = self.statement(sql).bind(player_id).bind(at.map(|at| at.timestamp_millis()));
        self.write(update).await
    }
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

/// Saves a player's name, settings, all addresses in order, and whether letters bounce.
pub async fn save_player(session: &mut Session<'_>, player: &Player) -> Result<()> {
    let statement = session
        .statement(
            // A digest that is already scheduled keeps its time; 0 lets the next look schedule one.
            "UPDATE player SET name = $1, bouncing = $2, settings = $3, member = $6, \
             digest_at = CASE WHEN $4 THEN COALESCE(digest_at, 0) END WHERE id = $5",
        )
        .bind(text(&player.name))
        .bind(player.bouncing)
        .bind(&player.settings)
        .bind(player.settings.digest_hour.is_some())
        .bind(player.id)
        .bind(&player.member);
    if session.execute_counted(statement).await? == 0 {
        return Err(StoreError::Unsound(format!("there is no player {}", player.id)));
    }
    // Replace all rows at once: ranks are unique for each player, so moving one address at a time could
    // collide.
    let statement = session.statement("DELETE FROM address WHERE player_id = $1").bind(player.id);
    session.execute(statement).await?;
    insert_addresses(session, player.id, &player.addresses).await
}

/// Transfers the seats and addresses of `merged` to `into`, and deletes `merged`.
///
/// # Errors
/// [`StoreError::Unsound`] if together they hold both seats of a match, which no player may, or if they are
/// the same player.
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
    let statement =
        session.statement("UPDATE owed_turn SET player_id = $2 WHERE player_id = $1").bind(merged).bind(into);
    session.execute(statement).await?;
    note_merger(session, merged, into).await?;
    // Append them to the addresses of `into`, because ranks are unique for each player.
    let sql = "UPDATE address SET player_id = $2, \
               rank = rank + 1 + (SELECT COALESCE(MAX(rank), 0) FROM address WHERE player_id = $2) \
               WHERE player_id = $1";
    let statement = session.statement(sql).bind(merged).bind(into);
    session.execute(statement).await?;
    let statement = session.statement("DELETE FROM player WHERE id = $1").bind(merged);
    session.execute(statement).await
}

/// Notes into which player another one was merged. Their two sequences of ratings become one only when all
/// ratings are recomputed.
async fn note_merger(session: &mut Session<'_>, merged: i64, into: i64) -> Result<()> {
    let statement =
        session.statement("UPDATE merged_player SET into_id = $2 WHERE into_id = $1").bind(merged).bind(into);
    session.execute(statement).await?;
    let statement = session
        .statement("INSERT INTO merged_player (gone, into_id) VALUES ($1, $2)")
        .bind(merged)
        .bind(into);
    session.execute(statement).await
}

/// Merges the rows of each player, which are adjacent, and keeps the order.
fn merge_addresses(rows: Vec<Player>) -> Vec<Player> {
    let mut players: Vec<Player> = Vec::new();
    for row in rows {
        match players.last_mut() {
            Some(player) if player.id == row.id => player.addresses.extend(row.addresses),
            _ => players.push(row),
        }
    }
    players
}

/// Adds a player, and returns whether the address was free. If it was not, roll back: another writer has just
/// added the same player.
async fn add_player(
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
    if session.execute_counted(statement).await? == 0 {
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

async fn insert_addresses(session: &mut Session<'_>, player_id: i64, addresses: &[String]) -> Result<()> {
    for (rank, address) in (0_i64..).zip(addresses) {
        let address = text(&address.to_ascii_lowercase()).into_owned();
        // Its waiting letters came from a stranger, and are now those of a player.
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

const COLUMNS: &str = "code, other_code, player_id, kind, address, registered, with_token, stage, asked_at, \
                       changed_at, version, matches";

record! {
    /// A change that a player asked for, or that somebody asked for in a player's name.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PlayerChange {
        /// The code with which a registered address agrees, denies or undoes. Sent to no other address.
        pub code: String,
        /// The code with which the owner of `address` agrees to its addition or undoes its removal.
        pub other_code: String,
        pub player_id: i64,
        pub kind: ChangeKind,
        /// The address that is added or removed; empty for [`ChangeKind::Leave`].
        pub address: String,
        /// The running matches that the question whether to leave listed. Only these are resigned.
        pub matches: Vec<String>,
        /// The address that was asked.
        pub registered: String,
        /// Whether the letter that asked for it had a reply token.
        pub with_token: bool,
        pub stage: ChangeStage,
        /// The time at which the last question about it was sent.
        pub asked_at: DateTime<Utc>,
        /// The time at which it reached its stage.
        pub changed_at: DateTime<Utc>,
        /// Starts at 1 and grows by one with each change of this row.
        pub version: i64,
    }
}

named_enum! {
    pub enum ChangeKind {
        Add = "add",
        Remove = "remove",
        /// The listed matches are resigned.
        Leave = "leave",
    }
}

named_enum! {
    pub enum ChangeStage {
        /// A registered address was asked.
        Asked = "asked",
        /// The registered address agreed, and the new one was asked.
        Agreed = "agreed",
        Done = "done",
        /// Denied before or undone after it took effect.
        Denied = "denied",
    }
}

impl Database {
    /// Returns the changes of a player that reached their stage since `since`, oldest first.
    pub async fn changes_of(&self, player_id: i64, since: DateTime<Utc>) -> Result<Vec<PlayerChange>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM player_change WHERE player_id = $1 AND changed_at >= $2 \
             ORDER BY changed_at, code"
        );
        self.read(self.statement(sql).bind(player_id).bind(since.timestamp_millis())).await
    }

    /// Returns the change that has this code as either of its codes.
    pub async fn change_under(&self, code: &str) -> Result<Option<PlayerChange>> {
        let sql = format!("SELECT {COLUMNS} FROM player_change WHERE code = $1 OR other_code = $1");
        self.read_first(self.statement(sql).bind(text(code))).await
    }
}

/// Adds a change, or moves one to another stage.
///
/// # Errors
/// [`StoreError::Stale`](super::StoreError::Stale) if it has changed since it was loaded.
pub async fn set_change(session: &mut Session<'_>, row: &PlayerChange) -> Result<()> {
    let sql = format!(
        // The version shows whether somebody else has changed the row since it was loaded.
        "INSERT INTO player_change ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
         ON CONFLICT (code) DO UPDATE SET matches = excluded.matches, registered = excluded.registered, \
         with_token = excluded.with_token, stage = excluded.stage, asked_at = excluded.asked_at, \
         changed_at = excluded.changed_at, version = excluded.version \
         WHERE player_change.version = excluded.version - 1"
    );
    let statement = session
        .statement(sql)
        .bind(&row.code)
        .bind(&row.other_code)
        .bind(row.player_id)
        .bind(row.kind)
        .bind(text(&row.address))
        .bind(text(&row.registered))
        .bind(row.with_token)
        .bind(row.stage)
        .bind(row.asked_at.timestamp_millis())
        .bind(row.changed_at.timestamp_millis())
        .bind(row.version)
        .bind(&row.matches);
    session.change(statement, "a change of a player".to_owned()).await
}

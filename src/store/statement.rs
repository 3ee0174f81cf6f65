//! The seam between the store's functions and sqlx: one statement, and the session that runs it, for either
//! database.
//!
//! Functions generic over `sqlx::Database` would have to repeat a dozen bounds on its associated types,
//! because Rust does not imply them. Enums need none, and the functions are compiled once instead of once for
//! each database.

use futures_util::TryStreamExt as _;
use sqlx::error::BoxDynError;
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgArguments;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments as _, AssertSqlSafe, PgConnection, Postgres, Sqlite, SqliteConnection, Transaction};

use super::columns::{FromColumn, Value};
use super::rows::{Cell, Record, Row, texts};
use super::{Result, RowSink, StoreError, Wakeup};
use crate::letter::Digest;

/// The database engine that a statement is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    /// Returns the statement that selects the name and the version of the database.
    pub fn select_name(self) -> &'static str {
        match self {
            Engine::Sqlite => "SELECT 'SQLite ' || sqlite_version()",
            Engine::Postgres => "SELECT 'PostgreSQL ' || current_setting('server_version')",
        }
    }

    /// Returns the statement that selects when the tables were first made, in Unix milliseconds.
    pub fn select_made(self) -> &'static str {
        match self {
            Engine::Sqlite => {
                "SELECT 1000 * CAST(strftime('%s', MIN(installed_on)) AS INTEGER) FROM _sqlx_migrations"
            }
            Engine::Postgres => {
                "SELECT CAST(1000 * EXTRACT(EPOCH FROM MIN(installed_on)) AS BIGINT) FROM _sqlx_migrations"
            }
        }
    }

    /// Whether several daemons may work on one database.
    pub fn is_shared(self) -> bool {
        match self {
            Engine::Sqlite => false,
            Engine::Postgres => true,
        }
    }

    /// Returns the condition that a column equals an item of the list bound as `$1`. The list is a single
    /// parameter, so that one prepared statement serves all lengths.
    pub fn one_of(self) -> &'static str {
        match self {
            Engine::Sqlite => "IN (SELECT value FROM json_each($1))",
            Engine::Postgres => "= ANY($1)",
        }
    }

    /// Returns the table of the items of the list bound as `$1`, in a column `value`.
    pub fn items(self) -> &'static str {
        match self {
            Engine::Sqlite => "json_each($1)",
            Engine::Postgres => "unnest($1::text[]) AS value",
        }
    }

    /// Returns the lock clause of a SELECT. SQLite has one writer at a time, and needs none.
    pub fn for_update(self) -> &'static str {
        match self {
            Engine::Sqlite => "",
            Engine::Postgres => " FOR UPDATE",
        }
    }
}

/// SQL with its parameters.
pub struct Statement {
    sql: String,
    arguments: Arguments,
    /// The first value that could not be encoded.
    error: Option<BoxDynError>,
    is_persistent: bool,
}

enum Arguments {
    Sqlite(SqliteArguments),
    Postgres(PgArguments),
}

impl Statement {
    /// Creates a statement that stays prepared on its connection.
    pub fn new(engine: Engine, sql: impl Into<String>) -> Statement {
        let arguments = match engine {
            Engine::Sqlite => Arguments::Sqlite(SqliteArguments::default()),
            Engine::Postgres => Arguments::Postgres(PgArguments::default()),
        };
        Statement { sql: sql.into(), arguments, error: None, is_persistent: true }
    }

    /// Sets whether the statement stays prepared. One whose text is rare would only push others out of the
    /// cache.
    pub fn persistent(mut self, is_persistent: bool) -> Statement {
        self.is_persistent = is_persistent;
        self
    }

    /// Binds the next of the parameters `$1`, `$2` … that the SQL names.
    pub fn bind<'v>(mut self, value: impl Value<'v>) -> Statement {
        self.add(value);
        self
    }

    /// Binds a list, for [`Engine::one_of`] and [`Engine::items`].
    pub fn bind_texts(mut self, items: &[String]) -> Statement {
        let items = texts(items);
        match self.arguments {
            Arguments::Sqlite(_) => {
                // SQLite has no arrays. As JSON a list is one parameter, so its length does not change the
                // statement.
                self.add(serde_json::to_string(&items).expect("a list of strings is JSON"));
            }
            Arguments::Postgres(ref mut arguments) => keep_first(&mut self.error, arguments.add(items)),
        }
        self
    }

    /// Binds a list of digests, for [`Engine::one_of`].
    pub fn bind_digests(self, items: &[Digest]) -> Statement {
        self.bind_texts(&items.iter().map(Digest::to_string).collect::<Vec<_>>())
    }

    /// Binds a list of numbers, for [`Engine::one_of`].
    pub fn bind_numbers(mut self, items: &[i64]) -> Statement {
        match self.arguments {
            Arguments::Sqlite(_) => {
                self.add(serde_json::to_string(items).expect("a list of integers is JSON"));
            }
            Arguments::Postgres(ref mut arguments) => keep_first(&mut self.error, arguments.add(items)),
        }
        self
    }

    pub fn push(&mut self, sql: &str) -> &mut Statement {
        self.sql.push_str(sql);
        self
    }

    /// Appends a parameter and binds it.
    pub fn push_bind<'v>(&mut self, value: impl Value<'v>) -> &mut Statement {
        self.add(value);
        match &self.arguments {
            // A bare `?`: SQLite searches all earlier names for each `$N`, which is quadratic in hundreds of
            // parameters.
            Arguments::Sqlite(_) => self.sql.push('?'),
            Arguments::Postgres(arguments) => self.sql.push_str(&format!("${}", arguments.len())),
        }
        self
    }

    /// Appends `VALUES (…), (…)`, with one row for each item, which `write` fills.
    pub fn push_rows<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        write: impl Fn(&mut RowValues<'_>, T),
    ) -> &mut Statement {
        self.push("VALUES ");
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.push_row(|row| write(row, item));
        }
        self
    }

    /// Appends `(…)`, which `write` fills.
    pub fn push_row(&mut self, write: impl FnOnce(&mut RowValues<'_>)) -> &mut Statement {
        self.push("(");
        write(&mut RowValues { statement: self, is_empty: true });
        self.push(")")
    }

    fn add<'v>(&mut self, value: impl Value<'v>) {
        let added = match &mut self.arguments {
            Arguments::Sqlite(arguments) => arguments.add(value.into_stored()),
            Arguments::Postgres(arguments) => arguments.add(value.into_stored()),
        };
        // Keep the error for later, so that calls can be chained.
        keep_first(&mut self.error, added);
    }

    /// Splits into the parts that sqlx takes, or fails if a value could not be encoded.
    fn into_parts(self) -> Result<(AssertSqlSafe<String>, Arguments, bool)> {
        match self.error {
            // The SQL consists of constants and placeholders; every value is bound.
            None => Ok((AssertSqlSafe(self.sql), self.arguments, self.is_persistent)),
            Some(error) => Err(StoreError::Database(sqlx::Error::Encode(error))),
        }
    }
}

/// A list of values in brackets, such as one row of a VALUES list.
pub struct RowValues<'s> {
    statement: &'s mut Statement,
    is_empty: bool,
}

impl RowValues<'_> {
    pub fn bind<'v>(&mut self, value: impl Value<'v>) -> &mut Self {
        if !self.is_empty {
            self.statement.push(", ");
        }
        self.is_empty = false;
        self.statement.push_bind(value);
        self
    }

    pub fn bind_cells(&mut self, cells: &[Cell]) {
        for cell in cells {
            match cell {
                Cell::Integer(value) => self.bind(*value),
                Cell::Text(value) => self.bind(value.as_deref()),
                Cell::Bytes(value) => self.bind(value.as_deref()),
                Cell::Truth(value) => self.bind(*value),
            };
        }
    }
}

/// A connection borrowed from a pool.
pub enum Pooled {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(PoolConnection<Postgres>),
}

impl Pooled {
    pub fn session(&mut self) -> Session<'_> {
        match self {
            Pooled::Sqlite(connection) => Session::Sqlite(connection),
            Pooled::Postgres(connection) => Session::Postgres(connection),
        }
    }
}

/// A transaction, rolled back when it is dropped.
pub enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

impl Tx {
    pub fn session(&mut self) -> Session<'_> {
        match self {
            Tx::Sqlite(tx) => Session::Sqlite(tx),
            Tx::Postgres(tx) => Session::Postgres(tx),
        }
    }

    pub async fn commit(self) -> Result<()> {
        match self {
            Tx::Sqlite(tx) => Ok(tx.commit().await?),
            Tx::Postgres(tx) => Ok(tx.commit().await?),
        }
    }

    pub async fn rollback(self) -> Result<()> {
        match self {
            Tx::Sqlite(tx) => Ok(tx.rollback().await?),
            Tx::Postgres(tx) => Ok(tx.rollback().await?),
        }
    }
}

/// A connection that runs statements, inside a transaction or not.
pub enum Session<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

impl Session<'_> {
    pub fn engine(&self) -> Engine {
        match self {
            Session::Sqlite(_) => Engine::Sqlite,
            Session::Postgres(_) => Engine::Postgres,
        }
    }

    /// Creates a statement for this session.
    pub fn statement(&self, sql: impl Into<String>) -> Statement {
        Statement::new(self.engine(), sql)
    }

    pub async fn fetch_all<T: Record>(&mut self, statement: Statement) -> Result<Vec<T>> {
        self.fetch_with(statement, T::from_row).await
    }

    /// Returns what `read` makes of each row.
    pub async fn fetch_with<T: Send>(
        &mut self,
        statement: Statement,
        mut read: impl FnMut(Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        let mut take = |row: Row<'_>| {
            found.push(read(row)?);
            Ok(())
        };
        self.for_each_row(statement, &mut take).await?;
        Ok(found)
    }

    /// Returns the only column of each row.
    pub async fn fetch_column<T: FromColumn>(&mut self, statement: Statement) -> Result<Vec<T>> {
        self.fetch_with(statement, |row| row.get(0)).await
    }

    /// Returns the first row.
    pub async fn fetch_first<T: Record>(&mut self, statement: Statement) -> Result<Option<T>> {
        Ok(self.fetch_all(statement).await?.into_iter().next())
    }

    /// Returns the row of a statement that always yields one.
    pub async fn fetch_one<T: Record>(&mut self, statement: Statement) -> Result<T> {
        Ok(self.fetch_first(statement).await?.ok_or(sqlx::Error::RowNotFound)?)
    }

    /// Runs a statement.
    pub async fn execute(&mut self, statement: Statement) -> Result<()> {
        self.execute_counted(statement).await.map(drop)
    }

    /// Runs a statement, and returns how many rows it changed.
    pub async fn execute_counted(&mut self, statement: Statement) -> Result<u64> {
        let (sql, arguments, is_persistent) = statement.into_parts()?;
        Ok(match (self, arguments) {
            (Session::Sqlite(connection), Arguments::Sqlite(arguments)) => {
                let query = sqlx::query_with(sql, arguments).persistent(is_persistent);
                query.execute(&mut **connection).await?.rows_affected()
            }
            (Session::Postgres(connection), Arguments::Postgres(arguments)) => {
                let query = sqlx::query_with(sql, arguments).persistent(is_persistent);
                query.execute(&mut **connection).await?.rows_affected()
            }
            (Session::Sqlite(_), Arguments::Postgres(_)) | (Session::Postgres(_), Arguments::Sqlite(_)) => {
                unreachable!("a statement is written for the session that runs it")
            }
        })
    }

    /// Runs a statement that changes the row of `what`, unless another writer has changed it.
    ///
    /// # Errors
    /// [`StoreError::Stale`] if no row was changed.
    pub async fn change(&mut self, statement: Statement, what: String) -> Result<()> {
        match self.execute_counted(statement).await? {
            0 => Err(StoreError::Stale(what)),
            _ => Ok(()),
        }
    }

    /// Passes each row to `take` as it is read: `take` works on one while the database finds the next, and
    /// only a few are in memory.
    pub async fn for_each<T: Record>(&mut self, statement: Statement, take: RowSink<'_, T>) -> Result<()> {
        let mut take = |row: Row<'_>| {
            take(T::from_row(row)?);
            Ok(())
        };
        self.for_each_row(statement, &mut take).await
    }

    async fn for_each_row(
        &mut self,
        statement: Statement,
        take: &mut (dyn FnMut(Row<'_>) -> Result<()> + Send),
    ) -> Result<()> {
        let (sql, arguments, is_persistent) = statement.into_parts()?;
        match (self, arguments) {
            (Session::Sqlite(connection), Arguments::Sqlite(arguments)) => {
                let query = sqlx::query_with(sql, arguments).persistent(is_persistent);
                let mut rows = query.fetch(&mut **connection);
                while let Some(row) = rows.try_next().await? {
                    take(Row::Sqlite(&row))?;
                }
            }
            (Session::Postgres(connection), Arguments::Postgres(arguments)) => {
                let query = sqlx::query_with(sql, arguments).persistent(is_persistent);
                let mut rows = query.fetch(&mut **connection);
                while let Some(row) = rows.try_next().await? {
                    take(Row::Postgres(&row))?;
                }
            }
            (Session::Sqlite(_), Arguments::Postgres(_)) | (Session::Postgres(_), Arguments::Sqlite(_)) => {
                unreachable!("a statement is written for the session that runs it")
            }
        }
        Ok(())
    }
}

fn keep_first(error: &mut Option<BoxDynError>, added: Result<(), BoxDynError>) {
    if let Err(new) = added {
        error.get_or_insert(new);
    }
}

/// The channel of NOTIFY on which PostgreSQL wakes the other daemons.
pub const CHANNEL: &str = "fogpost";

/// Wakes the other daemons once the transaction commits. A SQLite database has none.
pub async fn notify(session: &mut Session<'_>, wakeup: Wakeup) -> Result<()> {
    if session.engine().is_shared() {
        let statement = session.statement("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(wakeup.as_str());
        session.execute(statement).await?;
    }
    Ok(())
}

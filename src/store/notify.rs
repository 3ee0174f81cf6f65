//! Wakes other daemons on a PostgreSQL database.

use super::statement::Session;
use super::{Result, Wakeup};

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

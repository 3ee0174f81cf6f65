//! Writes the club's books: their rows, their entries, and what entries are made of.

use super::entries::add_to_books;
use super::rows::{CHUNK, integer, is_common};
use super::statement::Session;
use super::{AnchorRows, BookChange, BookRow, Result, StoreError, VerifiedRow};

/// Writes books and their entries, within a transaction.
///
/// # Errors
/// [`StoreError::Stale`] if a book is not at the version that it was loaded with.
pub async fn write(session: &mut Session<'_>, changes: &[BookChange]) -> Result<()> {
    for BookChange { row, entries, anchor, late, verified } in changes {
        write_row(session, row).await?;
        add_to_books(session, entries).await?;
        if let Some(anchor) = anchor {
            write_anchor(session, anchor).await?;
        }
        add_late(session, late).await?;
        add_verified(session, verified).await?;
    }
    Ok(())
}

async fn write_row(session: &mut Session<'_>, row: &BookRow) -> Result<()> {
    let wake_at = row.wake_at.map(|at| at.timestamp_millis());
    let statement = if row.version > 0 {
        let sql = "UPDATE book SET wake_at = $3, snapshot = $4, version = version + 1 \
                   WHERE id = $1 AND version = $2";
        session.statement(sql).bind(&row.id).bind(row.version).bind(wake_at).bind(&row.snapshot)
    } else {
        let sql = "INSERT INTO book (id, kind, stage, wake_at, snapshot, version) \
                   VALUES ($1, $2, 'open', $3, $4, 1) ON CONFLICT (id) DO NOTHING";
        session.statement(sql).bind(&row.id).bind(row.kind.as_str()).bind(wake_at).bind(&row.snapshot)
    };
    match session.execute(statement).await? {
        0 => Err(StoreError::Stale(format!("book {}", row.id))),
        _ => Ok(()),
    }
}

/// Writes what an anchor is made of, within a transaction.
async fn write_anchor(session: &mut Session<'_>, anchor: &AnchorRows) -> Result<()> {
    let book_seq = integer(anchor.book_seq);
    let sql = "INSERT INTO anchor_secret (book_seq, secret) VALUES ($1, $2)";
    let statement = session.statement(sql).bind(book_seq).bind(anchor.secret.to_string());
    session.execute(statement).await?;
    for chunk in anchor.grown.chunks(CHUNK) {
        let mut insert = session.statement("INSERT INTO anchored_head (book_seq, match_id, seq) ");
        insert.push_rows(chunk, |values, (match_id, seq)| {
            values.bind(book_seq).bind(match_id).bind(integer(*seq));
        });
        session.execute(insert.persistent(is_common(chunk.len()))).await?;
    }
    Ok(())
}

/// Notes, within a transaction, which entries of the book verified matches.
async fn add_verified(session: &mut Session<'_>, rows: &[VerifiedRow]) -> Result<()> {
    for chunk in rows.chunks(CHUNK) {
        let mut insert = session.statement("INSERT INTO verified (match_id, seq, book_seq) ");
        insert.push_rows(chunk, |values, row| {
            values.bind(&row.match_id).bind(integer(row.seq)).bind(integer(row.book_seq));
        });
        insert.push(" ON CONFLICT (match_id, seq) DO NOTHING");
        session.execute(insert.persistent(is_common(chunk.len()))).await?;
    }
    Ok(())
}

/// Notes, within a transaction, that the entry `book_seq` lists these dispatches.
async fn add_late(session: &mut Session<'_>, late: &[(i64, u64)]) -> Result<()> {
    for chunk in late.chunks(CHUNK) {
        let mut insert = session.statement("INSERT INTO late_delivery (dispatch_id, book_seq) ");
        insert.push_rows(chunk, |values, (id, book_seq)| {
            values.bind(*id).bind(integer(*book_seq));
        });
        insert.push(" ON CONFLICT (dispatch_id) DO NOTHING");
        session.execute(insert.persistent(is_common(chunk.len()))).await?;
        let ids: Vec<i64> = chunk.iter().map(|(id, _)| *id).collect();
        let sql = format!("UPDATE dispatch SET listed = 1 WHERE id {}", session.engine().one_of());
        let statement = session.statement(sql).bind_numbers(&ids);
        session.execute(statement).await?;
    }
    Ok(())
}

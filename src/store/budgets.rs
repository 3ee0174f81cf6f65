//! Limits that keep one letter from causing many others: counts by hour or day, the standing of addresses,
//! and questions that wait for an answer.

use std::collections::BTreeMap;

use crate::game::named_enum;
use chrono::{DateTime, Utc};

use super::rows::{CHUNK, Record, Row, is_common, record, text, texts};
use super::statement::Session;
use super::{Database, Result, StoreError};

named_enum! {
    /// A limited kind of act.
    pub enum BudgetKind {
        /// Answers to a seat, by hour.
        Seat = "seat",
        /// Answers to an address that wrote without a token, by hour.
        Address = "address",
        /// All such answers of the club, by hour.
        Club = "club",
        /// The first such answer to an address within 24 hours, by hour. Strangers who write a lot therefore
        /// leave room for others.
        First = "first",
        /// Answers that say the same to the same text, by hour.
        Equal = "equal",
        /// Letters to an address that were caused by people who are not its opponents, by day.
        Others = "others",
        /// Letters to an address that were caused by one of its opponents, by day.
        Opponent = "opponent",
        /// Other people to whom the referee wrote because of a newcomer, by day.
        Newcomer = "newcomer",
        /// Alarms of one kind to a GM, by hour.
        Alarm = "alarm",
        /// Answers and alarms suppressed by a limit, by hour.
        LeftOut = "left_out",
        /// Letters in which a player changed settings, by day.
        Settings = "settings",
        /// Letters that a mail server took, by minute.
        Sent = "sent",
        /// Letters that a mail server took and that answer letters without a token, by minute.
        SentToStrangers = "sent_to_strangers",
    }
}

/// Identifies a count: its subject, its kind, and the beginning of its minute, hour or day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BudgetKey {
    /// An address, a seat, a player, a digest of the words, a kind of alarm and its reader, the outbox, or
    /// empty for the whole club.
    pub subject: String,
    pub kind: BudgetKind,
    pub period: DateTime<Utc>,
}

/// A change of one count, which must not exceed `most` afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetUse {
    pub added: i64,
    pub most: u32,
}

record! {
    /// The standing of an address, whether or not a player has it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Standing {
        /// The first time that a letter from it showed that its owner reads our letters.
        pub proven_at: Option<DateTime<Utc>>,
        /// The time since which nobody may challenge it.
        pub unwilling_since: Option<DateTime<Utc>>,
        /// The time since which the GM has blocked it.
        pub blocked_since: Option<DateTime<Utc>>,
        /// Letters in a row with a valid signature of their domain, up to the number at which counting stops.
        pub signed: u32,
    }
}

record! {
    /// A question to an address: did these lines come from you?
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct BudgetQuestion {
        pub code: String,
        /// The commands that wait for the answer, as written. Once a letter has asked, they stay as it showed
        /// them.
        pub lines: Vec<String>,
        /// The time at which a letter last asked; `None` if none has done so yet.
        pub asked_at: Option<DateTime<Utc>>,
        pub lapses_at: DateTime<Utc>,
    }
}

/// The changes that keep letters from causing many others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restraints {
    pub uses: BTreeMap<BudgetKey, BudgetUse>,
    /// Keyed by address.
    pub standings: BTreeMap<String, Standing>,
    /// The open questions to each address by their codes, or `None` for one that has been answered.
    pub questions: BTreeMap<(String, String), Option<BudgetQuestion>>,
}

impl Restraints {
    /// Adds to a count.
    pub fn count(&mut self, key: BudgetKey, added: i64, most: u32) {
        let used = self.uses.entry(key).or_insert(BudgetUse { added: 0, most });
        *used = BudgetUse { added: used.added + added, most };
    }

    /// Adds later restraints.
    pub fn absorb(&mut self, other: Restraints) {
        let Restraints { uses, standings, questions } = other;
        for (key, BudgetUse { added, most }) in uses {
            self.count(key, added, most);
        }
        self.standings.extend(standings);
        self.questions.extend(questions);
    }
}

impl Database {
    /// Returns the counts of these subjects in periods that began at `since` or later.
    pub async fn budgets(&self, subjects: &[String], since: DateTime<Utc>) -> Result<Vec<(BudgetKey, u32)>> {
        let one_of = self.one_of();
        let sql =
            format!("SELECT subject, kind, period, used FROM budget WHERE subject {one_of} AND period >= $2");
        let select = self.statement(sql).bind_texts(subjects).bind(since.timestamp_millis());
        let rows = self.read_recent(select).await?;
        let read = |(subject, kind, period, used): (_, _, _, i64)| {
            // A count that two daemons reset at once can fall below zero.
            (BudgetKey { subject, kind, period }, u32::try_from(used).unwrap_or_default())
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// Returns the standing of these addresses.
    pub async fn standings(&self, addresses: &[String]) -> Result<Vec<(String, Standing)>> {
        let sql = format!(
            "SELECT address, proven_at, unwilling_since, blocked_since, signed FROM standing WHERE address {}",
            self.one_of()
        );
        self.read_of_addresses(&sql, addresses).await
    }

    /// Returns the addresses that the GM has blocked, whether or not a player has them.
    pub async fn blocked_addresses(&self) -> Result<Vec<String>> {
        let sql = "SELECT address FROM standing WHERE blocked_since IS NOT NULL ORDER BY address";
        let rows: Vec<(String,)> = self.read(self.statement(sql)).await?;
        Ok(rows.into_iter().map(|(address,)| address).collect())
    }

    /// Returns the questions to these addresses, lapsed or not.
    pub async fn questions(&self, addresses: &[String]) -> Result<Vec<(String, BudgetQuestion)>> {
        let one_of = self.one_of();
        let sql =
            format!("SELECT address, code, lines, asked_at, lapses_at FROM question WHERE address {one_of}");
        self.read_of_addresses(&sql, addresses).await
    }

    /// Returns values with the addresses that they are about.
    async fn read_of_addresses<T: Record>(
        &self,
        sql: &str,
        addresses: &[String],
    ) -> Result<Vec<(String, T)>> {
        let select = self.statement(sql).bind_texts(addresses);
        let read = |row: Row<'_>| Ok((row.get("address")?, T::from_row(row)?));
        self.backend.writer().await?.session().fetch_with(select, read).await
    }

    /// Deletes the counts of periods that began before `past`, and the questions that have lapsed by `now`.
    pub async fn delete_past_restraints(&self, past: DateTime<Utc>, now: DateTime<Utc>) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        let budgets = self.statement("DELETE FROM budget WHERE period < $1").bind(past.timestamp_millis());
        tx.session().execute(budgets).await?;
        let questions = self.statement("DELETE FROM question WHERE lapses_at <= $1");
        tx.session().execute(questions.bind(now.timestamp_millis())).await?;
        tx.commit().await
    }
}

/// Writes the restraints among changes.
///
/// # Errors
/// [`StoreError::Stale`] if a count would exceed its limit, because another daemon has used it up.
pub async fn write(session: &mut Session<'_>, restraints: &Restraints) -> Result<()> {
    // Write in the order of the keys: two daemons that lock the rows in different orders would deadlock.
    let uses: Vec<(&BudgetKey, &BudgetUse)> = restraints.uses.iter().collect();
    for chunk in uses.chunks(CHUNK) {
        add_uses(session, chunk).await?;
    }
    for (address, standing) in &restraints.standings {
        let sql = "INSERT INTO standing (address, proven_at, unwilling_since, blocked_since, signed) \
                   VALUES ($1, $2, $3, $4, $5) ON CONFLICT (address) DO UPDATE SET \
                   proven_at = excluded.proven_at, unwilling_since = excluded.unwilling_since, \
                   blocked_since = excluded.blocked_since, signed = excluded.signed";
        let statement = session
            .statement(sql)
            .bind(text(address))
            .bind(standing.proven_at.map(|at| at.timestamp_millis()))
            .bind(standing.unwilling_since.map(|at| at.timestamp_millis()))
            .bind(standing.blocked_since.map(|at| at.timestamp_millis()))
            .bind(i64::from(standing.signed));
        session.execute(statement).await?;
    }
    for ((address, code), question) in &restraints.questions {
        match question {
            Some(question) => save_question(session, address, question).await?,
            None => {
                let sql = "DELETE FROM question WHERE address = $1 AND code = $2";
                let statement = session.statement(sql).bind(text(address)).bind(text(code));
                session.execute(statement).await?;
            }
        }
    }
    Ok(())
}

/// Adds to counts. A count that would exceed its limit is not returned, so that two daemons never exceed it
/// together.
async fn add_uses(session: &mut Session<'_>, chunk: &[(&BudgetKey, &BudgetUse)]) -> Result<()> {
    let mut upsert = session.statement("INSERT INTO budget (subject, kind, period, used, most) ");
    upsert.push_rows(chunk, |values, (key, used)| {
        values
            .bind(text(&key.subject))
            .bind(key.kind)
            .bind(key.period.timestamp_millis())
            .bind(used.added)
            .bind(i64::from(used.most));
    });
    // Check the limits in the statement: another daemon may have counted since the counts were read.
    upsert.push(
        " ON CONFLICT (subject, kind, period) DO UPDATE SET used = budget.used + excluded.used, \
         most = excluded.most WHERE budget.used + excluded.used <= excluded.most RETURNING subject",
    );
    let changed = session.fetch_all::<(String,)>(upsert.persistent(is_common(chunk.len()))).await?;
    // Compare the numbers of rows rather than the subjects, because a subject can have counts of several
    // kinds.
    if changed.len() == chunk.len() { Ok(()) } else { Err(StoreError::Stale("a budget".to_owned())) }
}

async fn save_question(session: &mut Session<'_>, address: &str, question: &BudgetQuestion) -> Result<()> {
    let sql = "INSERT INTO question (address, code, lines, asked_at, lapses_at) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (address, code) DO UPDATE SET lines = excluded.lines, \
               asked_at = excluded.asked_at, lapses_at = excluded.lapses_at";
    let statement = session
        .statement(sql)
        .bind(text(address))
        .bind(&question.code)
        .bind(texts(&question.lines))
        .bind(question.asked_at.map(|at| at.timestamp_millis()))
        .bind(question.lapses_at.timestamp_millis());
    session.execute(statement).await
}

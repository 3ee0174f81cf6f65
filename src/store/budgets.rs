//! What keeps one letter from causing many others: counts by hour or by day, what is known of an address, and the
//! questions that wait for an answer.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::rows::{CHUNK, is_common, maybe_time, text, time, unsound};
use super::statement::{Engine, Session, Statement};
use super::{Result, StoreError};

/// What a budget limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BudgetKind {
    /// Delayed answers to a seat, by hour.
    Seat,
    /// Answers to an address that wrote without a token, by hour.
    Address,
    /// All such answers of the club, by hour.
    Club,
    /// The first such answer to an address within 24 hours, by hour: strangers who write much leave room for others.
    First,
    /// Letters to an address that people it does not play caused, by day.
    Others,
    /// Letters to an address that one of its opponents caused, by day.
    Opponent,
    /// Other people to whom a newcomer made the referee write, by day.
    Newcomer,
    /// Answers that were left out, by hour.
    LeftOut,
    /// Letters in which a player changed settings, by day.
    Settings,
}

impl BudgetKind {
    const ALL: [BudgetKind; 9] = [
        BudgetKind::Seat,
        BudgetKind::Address,
        BudgetKind::Club,
        BudgetKind::First,
        BudgetKind::Others,
        BudgetKind::Opponent,
        BudgetKind::Newcomer,
        BudgetKind::LeftOut,
        BudgetKind::Settings,
    ];

    fn as_str(self) -> &'static str {
        match self {
            BudgetKind::Seat => "seat",
            BudgetKind::Address => "address",
            BudgetKind::Club => "club",
            BudgetKind::First => "first",
            BudgetKind::Others => "others",
            BudgetKind::Opponent => "opponent",
            BudgetKind::Newcomer => "newcomer",
            BudgetKind::LeftOut => "left_out",
            BudgetKind::Settings => "settings",
        }
    }

    fn parse(name: &str) -> Option<BudgetKind> {
        BudgetKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// One count: whose, of what, and the beginning of its hour or day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BudgetKey {
    /// An address, a seat, a player, or empty for the whole club.
    pub subject: String,
    pub kind: BudgetKind,
    pub period: DateTime<Utc>,
}

/// A change of one count, which must not exceed `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetUse {
    pub added: i64,
    pub most: u32,
}

/// What is known of an address, besides the player who has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// When a letter from there showed that its owner reads our letters.
    pub proven_at: Option<DateTime<Utc>>,
    /// Since when nobody may challenge it.
    pub unwilling_since: Option<DateTime<Utc>>,
    /// Since when the GM lets its letters go unread.
    pub blocked_since: Option<DateTime<Utc>>,
    /// How many letters in a row had a valid signature of their domain, as far as that is counted.
    pub signed: u32,
}

/// The question to an address whether a letter came from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub code: String,
    /// The commands that wait for the answer, as written.
    pub lines: Vec<String>,
    pub asked_at: DateTime<Utc>,
    pub lapses_at: DateTime<Utc>,
}

/// The part of a settlement that keeps letters from causing many others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restraints {
    pub uses: BTreeMap<BudgetKey, BudgetUse>,
    /// By address.
    pub standings: BTreeMap<String, Standing>,
    /// The open question to each address. `None`: it is answered.
    pub questions: BTreeMap<String, Option<Question>>,
}

impl Restraints {
    /// Adds to a count.
    pub fn count(&mut self, key: BudgetKey, added: i64, most: u32) {
        let used = self.uses.entry(key).or_insert(BudgetUse { added: 0, most });
        *used = BudgetUse { added: used.added + added, most };
    }

    /// Adds those of another settlement.
    pub fn absorb(&mut self, other: Restraints) {
        let Restraints { uses, standings, questions } = other;
        for (key, BudgetUse { added, most }) in uses {
            self.count(key, added, most);
        }
        self.standings.extend(standings);
        self.questions.extend(questions);
    }
}

#[derive(FromRow)]
pub struct BudgetColumns {
    subject: String,
    kind: String,
    period: i64,
    used: i64,
}

impl BudgetColumns {
    pub fn read(self) -> Result<(BudgetKey, u32)> {
        let kind = BudgetKind::parse(&self.kind).ok_or_else(|| unsound("kind of budget", &self.kind))?;
        // A count that two daemons reset at once can fall below zero.
        let used = u32::try_from(self.used).unwrap_or_default();
        Ok((BudgetKey { subject: self.subject, kind, period: time(self.period)? }, used))
    }
}

/// Selects the counts of these subjects in periods that began at `since` or later.
pub fn select(engine: Engine, subjects: &[String], since: DateTime<Utc>) -> Statement {
    let sql = format!(
        "SELECT subject, kind, period, used FROM budget WHERE subject {} AND period >= $2",
        engine.one_of()
    );
    Statement::new(engine, sql).bind_texts(subjects).bind(since.timestamp_millis())
}

#[derive(FromRow)]
pub struct StandingColumns {
    address: String,
    proven_at: Option<i64>,
    unwilling_since: Option<i64>,
    blocked_since: Option<i64>,
    signed: i64,
}

impl StandingColumns {
    pub fn read(self) -> Result<(String, Standing)> {
        let standing = Standing {
            proven_at: maybe_time(self.proven_at)?,
            unwilling_since: maybe_time(self.unwilling_since)?,
            blocked_since: maybe_time(self.blocked_since)?,
            signed: u32::try_from(self.signed).unwrap_or_default(),
        };
        Ok((self.address, standing))
    }
}

/// Selects what is known of these addresses.
pub fn select_standings(engine: Engine, addresses: &[String]) -> Statement {
    let one_of = engine.one_of();
    let sql = format!(
        "SELECT address, proven_at, unwilling_since, blocked_since, signed FROM standing \
         WHERE address {one_of}"
    );
    Statement::new(engine, sql).bind_texts(addresses)
}

#[derive(FromRow)]
pub struct QuestionColumns {
    address: String,
    code: String,
    lines: String,
    asked_at: i64,
    lapses_at: i64,
}

impl QuestionColumns {
    pub fn read(self) -> Result<(String, Question)> {
        let lines = serde_json::from_str(&self.lines).map_err(|_| unsound("list of lines", &self.lines))?;
        let (asked_at, lapses_at) = (time(self.asked_at)?, time(self.lapses_at)?);
        Ok((self.address, Question { code: self.code, lines, asked_at, lapses_at }))
    }
}

/// Selects the questions to these addresses, lapsed or not.
pub fn select_questions(engine: Engine, addresses: &[String]) -> Statement {
    let one_of = engine.one_of();
    let sql =
        format!("SELECT address, code, lines, asked_at, lapses_at FROM question WHERE address {one_of}");
    Statement::new(engine, sql).bind_texts(addresses)
}

/// Selects a declined offer of one address to another.
pub fn select_declined(engine: Engine, inviter: &str, invited: &str) -> Statement {
    let sql =
        "SELECT code FROM invitation WHERE inviter = $1 AND invited = $2 AND stage = 'declined' LIMIT 1";
    Statement::new(engine, sql).bind(text(inviter)).bind(text(invited))
}

/// Writes the restraints of a settlement.
///
/// # Errors
/// [`StoreError::Stale`] if a count would exceed its limit, because another daemon has used it up.
pub async fn write(session: &mut Session<'_>, restraints: &Restraints) -> Result<()> {
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
    for (address, question) in &restraints.questions {
        match question {
            Some(question) => save_question(session, address, question).await?,
            None => {
                let sql = "DELETE FROM question WHERE address = $1";
                let statement = session.statement(sql).bind(text(address));
                session.execute(statement).await?;
            }
        }
    }
    Ok(())
}

/// Adds to counts. A count that would exceed its limit is not returned, so that two daemons never exceed it together.
async fn add_uses(session: &mut Session<'_>, chunk: &[(&BudgetKey, &BudgetUse)]) -> Result<()> {
    let mut upsert = session.statement("INSERT INTO budget (subject, kind, period, used, most) ");
    upsert.push_rows(chunk, |values, (key, used)| {
        values
            .bind(text(&key.subject))
            .bind(key.kind.as_str())
            .bind(key.period.timestamp_millis())
            .bind(used.added)
            .bind(i64::from(used.most));
    });
    upsert.push(
        " ON CONFLICT (subject, kind, period) DO UPDATE SET used = budget.used + excluded.used, \
         most = excluded.most WHERE budget.used + excluded.used <= excluded.most RETURNING subject",
    );
    let changed = session.fetch_all::<(String,)>(upsert.persistent(is_common(chunk.len()))).await?;
    // A subject can have counts of several kinds, so their number is compared.
    if changed.len() == chunk.len() { Ok(()) } else { Err(StoreError::Stale("a budget".to_owned())) }
}

async fn save_question(session: &mut Session<'_>, address: &str, question: &Question) -> Result<()> {
    let lines: Vec<String> = question.lines.iter().map(|line| text(line).into_owned()).collect();
    let lines = serde_json::to_string(&lines).map_err(|error| StoreError::Unsound(error.to_string()))?;
    let sql = "INSERT INTO question (address, code, lines, asked_at, lapses_at) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (address) DO UPDATE SET code = excluded.code, lines = excluded.lines, \
               asked_at = excluded.asked_at, lapses_at = excluded.lapses_at";
    let statement = session
        .statement(sql)
        .bind(text(address))
        .bind(&question.code)
        .bind(lines)
        .bind(question.asked_at.timestamp_millis())
        .bind(question.lapses_at.timestamp_millis());
    session.execute(statement).await?;
    Ok(())
}

/// Deletes the counts of periods that began before `past`, and the questions that have lapsed by `now`.
pub async fn delete_past(session: &mut Session<'_>, past: DateTime<Utc>, now: DateTime<Utc>) -> Result<()> {
    let statement = session.statement("DELETE FROM budget WHERE period < $1").bind(past.timestamp_millis());
    session.execute(statement).await?;
    let statement =
        session.statement("DELETE FROM question WHERE lapses_at <= $1").bind(now.timestamp_millis());
    session.execute(statement).await?;
    Ok(())
}

//! The cost of a letter does not grow with the club: no SQL statement that a letter or the clock causes scans a table.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use fogpost::game::any::GameKind;
use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::referee::{ANN, BO, Referee};

/// Collects the SQL statements that the database driver logs.
#[derive(Clone, Default)]
struct Statements(Arc<Mutex<BTreeSet<String>>>);

impl<S: Subscriber> Layer<S> for Statements {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "sqlx::query" {
            let mut statement = Statement::default();
            event.record(&mut statement);
            let whole = if statement.whole.trim().is_empty() { statement.summary } else { statement.whole };
            self.0.lock().expect("nothing panics").insert(whole.trim().to_owned());
        }
    }
}

#[derive(Default)]
struct Statement {
    summary: String,
    whole: String,
}

impl Visit for Statement {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "summary" => self.summary = value.to_owned(),
            "db.statement" => self.whole = value.to_owned(),
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

/// Tables that may be scanned: those with few rows, and lists that are bound to the statement.
const SMALL: [&str; 7] = ["memo", "mailbox", "_sqlx_migrations", "json_each", "new", "decided", "result"];

/// The steps in which SQLite carries out each of these statements.
fn plans(referee: &Referee, statements: BTreeSet<String>) -> Vec<(String, Vec<String>)> {
    referee.block_on(async {
        let url = format!("sqlite:{}", referee.folder().join("fogpost.db").display());
        let mut connection = SqliteConnection::connect(&url).await.expect("the database");
        let mut plans = Vec::new();
        for statement in statements {
            if !["SELECT", "WITH", "UPDATE", "INSERT", "DELETE"]
                .iter()
                .any(|verb| statement.starts_with(verb))
            {
                continue;
            }
            let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
            let rows = sqlx::raw_sql(explain).fetch_all(&mut connection).await.expect("a plan");
            let steps: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
            plans.push((statement, steps));
        }
        plans
    })
}

#[test]
fn no_statement_for_a_letter_scans_a_table() {
    let logged = Statements::default();
    tracing_subscriber::registry().with(logged.clone()).init();
    let referee = Referee::with("forfeit = \"lose\"\n");
    referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.advance(5 * 24 + 7);
    logged.0.lock().expect("nothing panics").clear();
    // A reminder, a refusal, an adjudication, questions and an offer.
    referee.advance(2);
    referee.reply(ANN, &to_ann, "MARBLE Z99");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "STATUS\nREPORT\nTELL Good luck\nEND");
    referee.write("stranger@elsewhere.example", "HELP");
    referee.write("stranger@elsewhere.example", "CHALLENGE carl@players.example QUAD");
    let mut statements = std::mem::take(&mut *logged.0.lock().expect("nothing panics"));
    let question = referee.last_to("stranger@elsewhere.example");
    let code = question.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM "));
    logged.0.lock().expect("nothing panics").clear();
    referee.write("stranger@elsewhere.example", &format!("CONFIRM {}", code.expect("a code")));
    statements.append(&mut logged.0.lock().expect("nothing panics"));
    // The test's own look at the outbox scans it. The driver may log that after the list was cleared.
    statements.retain(|statement| !statement.ends_with("FROM dispatch d ORDER BY d.id DESC LIMIT $1"));
    referee.one_to("carl@players.example").says("invites you");
    assert!(statements.len() > 25, "{statements:#?}");
    let plans = plans(&referee, statements);
    let scans = |step: &&String| {
        let table = step.strip_prefix("SCAN ").and_then(|rest| rest.split_whitespace().next());
        table.is_some_and(|table| !SMALL.contains(&table))
            && !step.contains("CONSTANT ROW")
            && !step.contains("-ROW VALUES")
    };
    let sorts = |step: &&String| step.contains("TEMP B-TREE");
    let mut faults = Vec::new();
    for (statement, steps) in plans {
        // SQLite scans `dispatch` for rows that reference a new letter only if a deferred foreign key is violated,
        // which never happens here.
        let never =
            |step: &&String| statement.starts_with("INSERT INTO letter ") && step.contains("SCAN dispatch");
        // A page is limited by its own query; what is done with its rows afterwards is cheap.
        let has_page = statement.starts_with("WITH page AS");
        let of_page = |step: &&String| {
            has_page && ["SCAN page", "SCAN s", "SCAN (subquery"].iter().any(|scan| step.starts_with(scan))
        };
        // It holds only letters that are not sent, in the order in which they go.
        let of_queue = |step: &&String| step.ends_with("INDEX dispatch_queue");
        // It holds the pictures of a week, of which the scan reads the numbers.
        let of_week = |step: &&String| *step == "SCAN p" && statement.contains("FROM dispatch_picture p");
        let is_bounded = |step: &&String| never(step) || of_page(step) || of_queue(step) || of_week(step);
        let scans = steps.iter().filter(scans).filter(|step| !is_bounded(step));
        faults.extend(scans.map(|step| format!("{step}: {statement}")));
        // In an old club nearly every match is over, so this search would read the whole table.
        let is_of_over = |step: &&String| statement.contains("stage = 'over'") && step.ends_with("(stage=?)");
        faults.extend(steps.iter().filter(is_of_over).map(|step| format!("{step}: {statement}")));
        // With a LIMIT, sorting would still read every row.
        let sorts =
            steps.iter().filter(sorts).filter(|_| statement.contains("LIMIT")).skip(usize::from(has_page));
        faults.extend(sorts.map(|step| format!("{step}: {statement}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

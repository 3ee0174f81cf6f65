//! `fogpost db`: moves the club to another database.

use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use chrono::Utc;
use indicatif::{ProgressBar, ProgressStyle};

use super::output::print_table;
use crate::daemon::status::{SILENT_AFTER, running_daemons, this_daemon};
use crate::ledger::Head;
use crate::store::{self, Database, EntryRow, carry};

/// Move the club from one database to another
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Move(Move),
}

/// Copy everything from SQLite to PostgreSQL, or back, while no daemon runs
///
/// The database to move to must be empty; a missing SQLite file is created. Every table is then read back and
/// compared, and the hash chain of every match's ledger is verified. A move that fails leaves nothing
/// behind, and the old database is never changed. No letter may be waiting before a move to PostgreSQL.
#[derive(clap::Args)]
pub struct Move {
    /// The old database: sqlite:FILE or postgres://USER@HOST/NAME. Pass a password in PGPASSWORD rather than
    /// here
    from: String,
    /// The new database, in the same form
    to: String,
    /// Use a PostgreSQL server on another machine without sslmode=verify-full
    #[arg(long)]
    allow_unverified_tls: bool,
}

/// Number of entries to read at a time.
const PAGE: u32 = 256;

impl Args {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Move(args) => super::block_on(args.run()),
        }
    }
}

impl Move {
    fn refuse_unverified(&self) -> anyhow::Result<()> {
        for (which, url) in [("from", &self.from), ("to", &self.to)] {
            let unverified = store::unverified_server(url).filter(|_| !self.allow_unverified_tls);
            if let Some(host) = unverified {
                bail!(
                    "the database to move {which} is on the server {host}, and nothing proves that server's \
                     identity; add sslmode=verify-full to its URL, or use --allow-unverified-tls"
                );
            }
        }
        Ok(())
    }

    async fn run(self) -> anyhow::Result<ExitCode> {
        self.refuse_unverified()?;
        if !carry::is_there(&self.from).context("failed to open the database to move from")? {
            bail!("the database to move from does not exist");
        }
        ensure!(self.from != self.to, "both URLs name the same database");
        let from = store::open(&self.from).await.context("failed to open the database to move from")?;
        let to = store::open(&self.to).await.context("failed to open the database to move to")?;
        let who = format!("a move, {}", this_daemon());
        let _from_held = from.lock(&who).await.context("failed to open the database to move from")?;
        let _to_held = to.lock(&who).await.context("failed to open the database to move to")?;
        if from.is_shared() {
            none_works(&from).await?;
        }
        let bar = ProgressBar::no_length().with_style(
            ProgressStyle::with_template("{spinner} {msg} {human_pos} of {human_len} ({elapsed})")
                .expect("a progress template"),
        );
        let carried = carry::carry(&self.from, &self.to, &|table, rows, all| {
            bar.set_message(table);
            bar.set_length(all);
            bar.set_position(rows);
        })
        .await?;
        let matches = follow_ledgers(&to, &bar).await?;
        bar.finish_and_clear();
        let rows = carried.iter().map(|part| {
            vec![part.table.to_owned(), part.rows.to_string(), part.digest.to_string()[..16].to_owned()]
        });
        print_table(&["table", "rows", "digest on both sides"], rows.collect());
        println!("Everything was copied and compared; the ledgers of all matches ({matches}) are intact.");
        println!("Now set database.url in the config to the new database. The old one is unchanged.");
        from.close().await;
        to.close().await;
        Ok(ExitCode::SUCCESS)
    }
}

/// Fails if a daemon works on the database. PostgreSQL has no lock for daemons, but stores a heartbeat of
/// each.
async fn none_works(store: &Database) -> anyhow::Result<()> {
    // A single run notes its heartbeat when it is done.
    let daemons = running_daemons(store, Utc::now()).await?;
    if let Some(daemon) = daemons.iter().find(|daemon| daemon.stays()) {
        bail!(
            "another fogpost is using the database to move from: {}; stop it (a killed one counts as stopped after \
             {} minutes)",
            daemon.who,
            SILENT_AFTER.num_minutes()
        );
    }
    Ok(())
}

/// Verifies the chain of every ledger to its end, and returns how many ledgers there are.
async fn follow_ledgers(store: &Database, bar: &ProgressBar) -> anyhow::Result<usize> {
    let ids = store.match_ids().await?;
    bar.set_message("ledgers");
    bar.set_length(ids.len() as u64);
    for (done, id) in ids.iter().enumerate() {
        bar.set_position(done as u64);
        let mut head = Head::default();
        loop {
            let mut entries = Vec::new();
            store.entries_after(id, Some(head.seq), PAGE, &mut |entry| entries.push(entry)).await?;
            if !follow(&mut head, &entries, &format!("the ledger of {id}"))? {
                break;
            }
        }
        ensure!(head.seq > 0, "everything was copied, but match {id} has no ledger");
    }
    Ok(ids.len())
}

/// Verifies a chain to the end of these entries. Returns whether there were any.
fn follow(head: &mut Head, entries: &[EntryRow], chain: &str) -> anyhow::Result<bool> {
    for entry in entries {
        let followed = head.follow(&entry.json, entry.hash);
        followed.with_context(|| format!("everything was copied, but {chain} is not intact"))?;
    }
    Ok(!entries.is_empty())
}

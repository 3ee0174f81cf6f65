//! What the demo leaves behind and tells: the reports as pages, the record, the story in a few lines.

use std::path::Path;

use anyhow::{Context, ensure};
use mail_parser::{MessageParser, MimeHeaders};

use crate::daemon::Office;
use crate::game::Seat;
use crate::game::record::{Record, Step};
use crate::ledger::{self, Entry};
use crate::referee::Match;

/// Turns of which the story tells, at most.
const MOMENTS: usize = 8;

/// Writes the pages and the record, replays it, and tells how it went.
pub async fn tell(office: &Office, m: &Match, entries: &[Entry], folder: &Path) -> anyhow::Result<()> {
    let reports = write_reports(office, m, folder).await?;
    let record = ledger::record(entries).context("the ledger does not begin with the opening")?;
    let file = folder.join(format!("{}.toml", m.id));
    std::fs::write(&file, record.to_string())?;
    for line in moments(&reports) {
        println!("{line}");
    }
    let outcome = m.state.outcome().context("the match is over")?;
    match outcome.winner {
        Some(winner) => println!("{} won: {}.", m.players[winner], outcome.reason),
        None => println!("Nobody won: {}.", outcome.reason),
    }
    let letters = office.store.letters(None, Some(&m.id), "", u32::MAX).await?.len();
    let sent = office.store.dispatches_of(&m.id).await?.len();
    println!(
        "{letters} letters were read, {sent} were written; the ledger has {} entries and verifies.",
        m.head.seq
    );
    replay(&record, m)?;
    println!("Its record, replayed, gives the same result.");
    println!();
    let name = folder.display();
    println!("In {name}:");
    println!("  mail/…                the mailboxes: mutt -f {name}/mail/ann@players.example");
    println!("  reports/…             every report as a page");
    println!("  {}.toml          the record: fogpost replay {}", m.id, file.display());
    println!("  fogpost.db            the database: fogpost --config {name}/config.toml match show {}", m.id);
    Ok(())
}

/// Replays the record as anybody can, and compares where it ends.
fn replay(record: &Record, m: &Match) -> anyhow::Result<()> {
    let record = Record::parse(&record.to_string())?;
    let mut last = None;
    record.replay(|step| {
        if let Step::Adjudicated(done) = step {
            last = Some(done.state.clone());
        }
    });
    ensure!(last.as_ref() == Some(&m.state), "the record, replayed, ends otherwise than the match");
    Ok(())
}

struct Report {
    seat: Seat,
    subject: String,
    text: String,
}

/// Writes every report as a page with its picture beside it.
async fn write_reports(office: &Office, m: &Match, folder: &Path) -> anyhow::Result<Vec<Report>> {
    let pages = folder.join("reports");
    std::fs::create_dir_all(&pages)?;
    let mut reports = Vec::new();
    for (about, bytes) in office.store.dispatches_of(&m.id).await? {
        let Some(seat) = about.seat.filter(|_| about.kind == "report") else { continue };
        let mail = MessageParser::default().parse(&bytes).context("a report of ours cannot be read")?;
        let number = reports.iter().filter(|report: &&Report| report.seat == seat).count() + 1;
        let name = format!("{}-{number:02}", m.players[seat].to_lowercase());
        let mut html = mail.body_html(0).unwrap_or_default().into_owned();
        if let Some(picture) = mail.attachments().find(|part| part.content_id() == Some("board")) {
            std::fs::write(pages.join(format!("{name}.png")), picture.contents())?;
            html = html.replace("cid:board", &format!("{name}.png"));
        }
        std::fs::write(pages.join(format!("{name}.html")), html)?;
        reports.push(Report {
            seat,
            subject: mail.subject().unwrap_or_default().to_owned(),
            text: mail.body_text(0).unwrap_or_default().into_owned(),
        });
    }
    Ok(reports)
}

/// A few turns as the first player was told of them.
fn moments(reports: &[Report]) -> Vec<String> {
    let mut told = Vec::new();
    for report in reports.iter().filter(|report| report.seat == Seat::First) {
        let bullet = report.text.lines().find_map(|line| line.strip_prefix("- ")).unwrap_or_default();
        let quiet = bullet.contains("nothing to tell");
        if !quiet && !bullet.is_empty() {
            let title = report.subject.split(':').next().unwrap_or_default();
            told.push(format!("  {title:<20} {bullet}"));
        }
    }
    let step = told.len().div_ceil(MOMENTS).max(1);
    told.into_iter().step_by(step).collect()
}

//! The demo's output: the reports as HTML pages, the record, and a summary of the match on the terminal.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use mail_parser::{MessageParser, MimeHeaders};

use crate::cli::output::program;
use crate::daemon::Office;
use crate::game::Seat;
use crate::game::record::{Record, Replayed};
use crate::ledger::{self, Entry, SealKey};
use crate::referee::{DispatchKind, Match};
use crate::web::replay::{FinishedMatch, ReplayPages};
use crate::web::{self, Site};

/// Maximum number of turns in the summary.
const MOMENTS: usize = 8;

/// Parts of words that mark a turn as dramatic; the summary prefers such turns.
const DRAMATIC: [&str; 8] =
    ["attle", "sank", "sunk", "home base", "tower", "high now", "blocked", "completes"];

/// Line width: terminals have at least this many columns.
const COLUMNS: usize = 80;

/// Writes the pages and the record, verifies the record by a replay, and prints the summary.
pub async fn tell(
    office: &Office,
    game_match: &Match,
    entries: &[Entry],
    folder: &Path,
) -> anyhow::Result<()> {
    let letters = write_reports(office, game_match, folder).await?;
    let record = ledger::record(entries).context("the ledger does not begin with the opening")?;
    let file = folder.join(format!("{}.toml", game_match.id));
    std::fs::write(&file, record.to_string())?;
    println!("What {} read in some of the letters:", game_match.players.first);
    for moment in moments(&letters) {
        moment.lines().for_each(|line| println!("{line}"));
    }
    let outcome = game_match.state.outcome().context("the match is over")?;
    match outcome.winner {
        Some(winner) => println!("{} won ({}).", game_match.players[winner], outcome.reason),
        None => println!("Nobody won ({}).", outcome.reason),
    }
    let read = office.store.letters(None, Some(&game_match.id), "", u32::MAX).await?.len();
    let sent = office.store.dispatches_of(&game_match.id).await?.len();
    println!(
        "The referee read {read} letters and sent {sent}; the ledger has {} entries and verifies.",
        game_match.head.seq
    );
    replay(&record, game_match)?;
    println!("The record of the match, replayed, gives the same result.");
    println!();
    let (name, program) = (folder.display(), program());
    println!("In {name}:");
    println!("  mail/…                the mailboxes: mutt -f {name}/mail/ann@players.example");
    println!("  reports/…             every report as a page");
    println!("  {}.toml          the record: {program} replay {}", game_match.id, file.display());
    println!(
        "  fogpost.db            the database: {program} --config {name}/config.toml match show {}",
        game_match.id
    );
    let page = write_replay(folder, office, game_match, record)?;
    println!();
    println!("To see the match as each side saw it and as it was, open {}", page.display());
    Ok(())
}

/// Writes the replay of the match, and beside it the match in words, as pages that need nothing else. Returns the path of
/// the replay.
pub fn write_replay(
    folder: &Path,
    office: &Office,
    game_match: &Match,
    record: Record,
) -> anyhow::Result<PathBuf> {
    let club = &office.config.club;
    let finished = FinishedMatch {
        id: game_match.id.clone(),
        record,
        outcome: game_match.outcome().context("the match is over")?,
        event: None,
        ended_at: game_match.adjudicated.last().map(|(_, _, at)| *at),
        head: game_match.head.hash.to_string(),
        keys: game_match.keys().map(SealKey::reveal).collect(),
        has_record: false,
    };
    let site = Site::of_one_page(&club.name, club.address.as_str());
    let ReplayPages { page, words } = web::replay::pages(&office.templates, &site, &finished)?;
    let path = folder.join("replay.html");
    std::fs::write(&path, page)?;
    std::fs::write(folder.join("words.html"), words)?;
    Ok(path)
}

/// Replays the record, as anyone can, and compares its final state with that of the match.
fn replay(record: &Record, game_match: &Match) -> anyhow::Result<()> {
    let record = Record::parse(&record.to_string())?;
    let mut last = None;
    record.replay(|step| {
        if let Replayed::Adjudicated(done) = step {
            last = Some(done.state.clone());
        }
    });
    ensure!(last.as_ref() == Some(&game_match.state), "the replayed record does not end like the match");
    Ok(())
}

/// An invitation or a report.
struct SentLetter {
    seat: Seat,
    /// The phase that it opens, such as `Turn 4`.
    title: String,
    text: String,
}

/// Writes every report as an HTML page, with its picture beside it.
async fn write_reports(
    office: &Office,
    game_match: &Match,
    folder: &Path,
) -> anyhow::Result<Vec<SentLetter>> {
    let pages = folder.join("reports");
    std::fs::create_dir_all(&pages)?;
    let mut letters: Vec<SentLetter> = Vec::new();
    for (about, bytes) in office.store.dispatches_of(&game_match.id).await? {
        let is_report = about.kind == DispatchKind::Report;
        let Some(seat) = about.seat.filter(|_| is_report || about.kind == DispatchKind::Invitation) else {
            continue;
        };
        let mail = MessageParser::default().parse(&bytes).context("cannot parse a sent letter")?;
        if is_report {
            let number = letters.iter().filter(|letter| letter.seat == seat).count();
            let name = format!("{}-{number:02}", game_match.players[seat].to_lowercase());
            let mut html = mail.body_html(0).unwrap_or_default().into_owned();
            if let Some(picture) = mail.attachments().find(|part| part.content_id() == Some("board")) {
                std::fs::write(pages.join(format!("{name}.png")), picture.contents())?;
                html = html.replace("cid:board", &format!("{name}.png"));
            }
            std::fs::write(pages.join(format!("{name}.html")), html)?;
        }
        let subject = mail.subject().unwrap_or_default();
        let title = subject.split_once("] ").and_then(|(_, rest)| rest.split(':').next());
        letters.push(SentLetter {
            seat,
            title: title.unwrap_or_default().to_owned(),
            text: mail.body_text(0).unwrap_or_default().into_owned(),
        });
    }
    Ok(letters)
}

/// Picks a few turns, including the last, as the first player's reports describe them.
fn moments(letters: &[SentLetter]) -> Vec<String> {
    let own: Vec<&SentLetter> = letters.iter().filter(|letter| letter.seat == Seat::First).collect();
    let mut moments = Vec::new();
    // A report describes the phase that the letter before it opened.
    for (before, report) in own.iter().zip(own.iter().skip(1)) {
        let mut bullets = bullets(&report.text);
        let dramatic = bullets.iter().find(|bullet| is_dramatic(bullet)).cloned();
        let has_drama = dramatic.is_some();
        if bullets.iter().map(String::len).sum::<usize>() > 2 * COLUMNS {
            let first = bullets.swap_remove(0);
            bullets = vec![dramatic.unwrap_or(first)];
        }
        if !bullets.is_empty() {
            let line = format!("  {:<10}{}", before.title, bullets.join(" "));
            let options = textwrap::Options::new(COLUMNS).subsequent_indent("            ");
            moments.push((has_drama, textwrap::fill(&line, options)));
        }
    }
    if moments.iter().filter(|(dramatic, _)| *dramatic).count() >= MOMENTS {
        moments.retain(|(dramatic, _)| *dramatic);
    }
    let step = moments.len().div_ceil(MOMENTS).max(1);
    let chosen = moments.into_iter().rev().step_by(step).map(|(_, line)| line);
    chosen.collect::<Vec<_>>().into_iter().rev().collect()
}

fn is_dramatic(bullet: &str) -> bool {
    DRAMATIC.iter().any(|word| bullet.contains(word))
}

/// Returns the bullet points under `What happened in turn 3`, each on one line.
fn bullets(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let happened = text.lines().skip_while(|line| !line.starts_with("What happened in ")).skip(2);
    for line in
        happened.take_while(|line| line.is_empty() || line.starts_with("- ") || line.starts_with("  "))
    {
        if let Some(bullet) = line.strip_prefix("- ") {
            found.push(bullet.to_owned());
        } else if let Some(last) = found.last_mut().filter(|_| !line.is_empty()) {
            last.push(' ');
            last.push_str(line.trim());
        }
    }
    found.retain(|bullet| {
        !bullet.contains("nothing to tell you") && !bullet.contains("everything is revealed now")
    });
    found
}

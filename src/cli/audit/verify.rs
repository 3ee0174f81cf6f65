//! `fogpost audit verify`: repeats every ruling from the letters and compares the result with what is stored.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::audit::witness::PlayersMail;
use crate::audit::{AuditVerdict, CheckSubject};
use crate::cli::arguments::read_file;
use crate::cli::output::print_json;
use crate::daemon::audit::verify;
use crate::daemon::instruct::Fog;
use crate::daemon::{Office, audit, instruct, ratings};
use crate::game::any::GameKind;
use crate::letter::printable::printable_text;
use crate::report::count_of;

/// Maximum bytes of a player's mail.
const MAX_MAIL_BYTES: u64 = 64 * 1024 * 1024;

/// Walk the ledger, repeat every ruling, find every sent letter by its pin, and compare
///
/// Rulings that followed another procedure are not repeated, but they are counted, and their letters, orders
/// and adjudications are compared.
///
/// Exit status: 0 sound; 1 wrong.
#[derive(clap::Args)]
pub struct Args {
    /// Match to check, or event such as EV-SPRING, or CLUB for offers, mailboxes and the GMs' tokens; `*` stands for any
    /// characters, so that 'QZ-*' means all matches of Quadrant Z
    #[arg(value_name = "MATCH", required_unless_present_any = ["all", "against", "ratings"], conflicts_with = "all")]
    id: Option<String>,
    /// Check every match, every event, and the club
    #[arg(long)]
    all: bool,
    /// Check the matches and events named in the ledger lines of these letters, taken from players' own mailboxes, and
    /// check that each line is in its chain. This also reveals a deleted match. Letters without a line are named
    #[arg(long, value_name = "LETTER.eml", num_args = 1.., conflicts_with = "all")]
    against: Vec<PathBuf>,
    /// Recompute the ratings from the ledgers, and compare them with the stored ones
    #[arg(long, conflicts_with_all = ["id", "all", "against", "report"])]
    ratings: bool,
    /// Also mail the result to the GM
    #[arg(long, conflicts_with = "against")]
    report: bool,
    /// Print JSON, one object per line for each match
    #[arg(long)]
    json: bool,
}

/// Number of matches and events to check in parallel before showing their verdicts.
const BATCH_SIZE: usize = 16;

impl Args {
    pub async fn run(self, office: &Office) -> anyhow::Result<ExitCode> {
        if self.ratings {
            return verify_ratings(office, self.json).await;
        }
        let verdicts = self.verdicts(office).await?;
        Ok(match verdicts.iter().all(AuditVerdict::is_sound) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }

    /// Reads players' letters, and names those without a ledger line, or, with `only`, without one of that chain.
    /// At least one must have one.
    fn mails(&self, only: Option<&str>) -> anyhow::Result<Vec<PlayersMail>> {
        let mut mails = Vec::new();
        for path in &self.against {
            let name = path.display().to_string();
            let mail = PlayersMail::read(&name, &read_file(path, MAX_MAIL_BYTES)?);
            if mail.lines.iter().any(|line| only.is_none_or(|id| id == line.chain)) {
                mails.push(mail);
            } else {
                eprintln!("{}: it has no ledger line{}", printable_text(&name), of_chain(only));
            }
        }
        ensure!(!mails.is_empty(), "none of these letters has a ledger line{}", of_chain(only));
        Ok(mails)
    }

    /// Checks what was asked for and shows the verdicts, batch by batch. Returns all verdicts that are not sound,
    /// and perhaps others.
    async fn verdicts(&self, office: &Office) -> anyhow::Result<Vec<AuditVerdict>> {
        let id = self.id.as_ref().map(|id| id.to_ascii_uppercase());
        let fog = instruct::fog_at_terminal(office).await?;
        // The bar counts entries.
        let bar = if fog.matches.is_empty() { bar() } else { ProgressBar::hidden() };
        let step = |entries| bar.inc(entries);
        if !self.against.is_empty() {
            let mails = self.mails(id.as_deref())?;
            let verdicts = verify::verify_against(office, &mails, id.as_deref(), &step).await?;
            bar.finish_and_clear();
            verdicts.iter().for_each(|verdict| show(verdict, &fog, self.json));
            return Ok(verdicts);
        }
        let mut verdicts = Vec::new();
        let subjects = match id {
            Some(pattern) if pattern.contains('*') => {
                let mut subjects = verify::all_subjects(office).await?;
                subjects.retain(|subject| fits(subject.id(), &pattern));
                ensure!(!subjects.is_empty(), "no match or event is called {pattern}");
                subjects
            }
            Some(id) => vec![CheckSubject::of(&id)],
            None => verify::all_subjects(office).await?,
        };
        for (number, batch) in subjects.chunks(BATCH_SIZE).enumerate() {
            bar.set_message(format!("{} of {} matches and events,", number * BATCH_SIZE, subjects.len()));
            let checked = verify::verify_several(office, batch, &step).await?;
            bar.suspend(|| checked.iter().for_each(|verdict| show(verdict, &fog, self.json)));
            // Drop the sound verdicts: a club may have thousands.
            verdicts.extend(checked.into_iter().filter(|verdict| !verdict.is_sound()));
        }
        bar.finish_and_clear();
        if subjects.len() > 1 && !self.json {
            let wrong = match verdicts.len() {
                0 => "all sound".to_owned(),
                wrong => format!("{wrong} WRONG"),
            };
            println!("{} checked, {wrong}", subjects.len());
        }
        if self.report {
            audit::report_audit(office, subjects.len(), verdicts.clone()).await?;
        }
        Ok(verdicts)
    }
}

/// Compares the ratings of each game with those that follow from the ledgers.
async fn verify_ratings(office: &Office, json: bool) -> anyhow::Result<ExitCode> {
    let mut is_sound = true;
    for game in GameKind::ALL {
        let (results, differences) = ratings::verify(office, *game).await?;
        is_sound &= differences.is_empty();
        if json {
            print_json(&json!({ "game": game.key(), "results": results, "differences": differences }));
            continue;
        }
        let word = if differences.is_empty() { "sound" } else { "WRONG" };
        println!("{word} ratings in {}: {}", game.name(), count_of(results, "rated result", "rated results"));
        differences.iter().for_each(|difference| println!("  {difference}"));
    }
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints a verdict, in words or as JSON: of a running match in which a GM plays, only its findings, because all
/// numbers in it show how often the other seat writes.
pub fn show(verdict: &AuditVerdict, fog: &Fog, json: bool) {
    let (id, is_sound) = (verdict.subject.id(), verdict.is_sound());
    if fog.matches.contains(id) {
        if json {
            print_json(&json!({ "match": id, "findings": verdict.findings, "sound": is_sound }));
            return;
        }
        println!(
            "{id}: {}; a GM plays in it, so it is not counted",
            if is_sound { "sound" } else { "WRONG" }
        );
        show_findings(verdict);
        return;
    }
    if json {
        let mut line = json!(verdict);
        line["sound"] = json!(is_sound);
        print_json(&line);
        return;
    }
    let AuditVerdict { subject, entries, letters, sent, head, .. } = verdict;
    let word = if is_sound { "sound" } else { "WRONG" };
    let compared = match subject {
        CheckSubject::Match(_) | CheckSubject::Event(_) => format!(
            "{}, {}, {} (head {})",
            count_of(*entries, "entry", "entries"),
            count_of(*letters, "letter", "letters"),
            count_of(*sent, "sent letter", "sent letters"),
            head.hash
        ),
        CheckSubject::Club {} => "offers, mailboxes and the GMs' tokens".to_owned(),
    };
    println!("{id}: {word}; {compared}");
    for (procedure, rulings) in &verdict.rulings_by_procedure {
        println!(
            "  {} by procedure {procedure}, of another version of the program: not repeated, which is normal; their letters, orders \
             and adjudications agree",
            count_of(*rulings, "ruling", "rulings")
        );
    }
    if verdict.house_turns_of_other_versions > 0 {
        println!(
            "  of the house's turns and hints, {} from another version of it; they are legal, and based on what its \
             seat had been told",
            count_of(verdict.house_turns_of_other_versions, "comes", "come")
        );
    }
    for seq in &verdict.house_failures {
        println!("  entry #{seq}: the house failed, and its level `easy` played instead");
    }
    for (name, letters) in &verdict.own_templates {
        let letters = count_of(*letters, "sent letter was", "sent letters were");
        println!("  {letters} worded while the club had a template {name} of its own");
    }
    show_findings(verdict);
    if let Some(why) = &verdict.withheld {
        println!(
            "  withheld: {why}; {} missing, and {} not repeated",
            count_of(verdict.withheld_letters, "letter is", "letters are"),
            count_of(verdict.unrepeated, "ruling was", "rulings were")
        );
    }
}

fn show_findings(verdict: &AuditVerdict) {
    verdict.findings.iter().for_each(|finding| println!("  {}: {}", finding.place, finding.what));
}

/// Says of which chain a letter lacks a line, if only one counts.
fn of_chain(only: Option<&str>) -> String {
    only.map_or_else(String::new, |id| format!(" of {id}"))
}

/// Whether a name fits a pattern in which `*` stands for any characters.
fn fits(id: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return id == pattern };
    let Some(id) = id.strip_prefix(start) else { return false };
    (0..=id.len()).filter_map(|at| id.get(at..)).any(|tail| fits(tail, rest))
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} {human_pos} entries ({elapsed})");
    ProgressBar::no_length().with_style(style.expect("the template is valid"))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_stands_for_any_letters() {
        for pattern in ["QZ-7K3M", "*", "QZ-*", "*3M", "Q*K*M", "QZ-7K3M*"] {
            assert!(fits("QZ-7K3M", pattern), "{pattern}");
        }
        for pattern in ["QZ-7K3", "QD-*", "*3", "Q*X*M", ""] {
            assert!(!fits("QZ-7K3M", pattern), "{pattern}");
        }
    }
}

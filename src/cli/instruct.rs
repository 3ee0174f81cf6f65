//! Carries out GMs' instructions from the terminal and prints the results.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::bail;

use super::arguments::{ActingGm, Output};
use super::output::print_json;
use crate::daemon::Office;
use crate::daemon::instruct;
use crate::daemon::status::running_daemons;
use crate::desk::gm::digest::MAX_LOCKED;
use crate::letter::printable::printable_line;
use crate::referee::{Instruction, PlanFault};
use crate::report::gm_digest::ShortList;
use crate::report::{GmMatchSummary, GmResult, count_of};

/// Carries out a GM's instruction and prints the result, for people or as JSON.
///
/// # Errors
/// Returns an error, of one line, if nothing was done.
pub(super) async fn carry_out(
    office: &Office,
    gm: &ActingGm,
    instruction: &Instruction,
    output: Output,
) -> anyhow::Result<ExitCode> {
    let gm = gm.index(&office.config.club.gm)?;
    let mut done = instruct::carry_out_as(office, gm, instruction, None, output.check).await?;
    if let GmResult::Digest { digest: Some(digest) } = &mut done {
        // Only the daemons know what waits for the database.
        let daemons = running_daemons(&office.store, office.now()).await?;
        let locked = daemons.into_iter().flat_map(|daemon| daemon.locked).collect();
        digest.locked = ShortList::of(locked, MAX_LOCKED);
        if !digest.has_news() && digest.entries.shown.is_empty() {
            done = GmResult::Digest { digest: None };
        }
    }
    print(office, &done, output)?;
    Ok(ExitCode::SUCCESS)
}

/// Carries out several instructions independently, and prints the results. A failed one does not stop the
/// others.
///
/// # Errors
/// Returns an error if nothing was done for one of them.
pub(super) async fn carry_out_each(
    office: &Office,
    gm: &ActingGm,
    instructions: &[Instruction],
    output: Output,
) -> anyhow::Result<ExitCode> {
    if let [one] = instructions {
        return carry_out(office, gm, one, output).await;
    }
    let gm = gm.index(&office.config.club.gm)?;
    let (mut failed, mut lines, mut told) = (0, Vec::new(), BTreeSet::new());
    for instruction in instructions {
        let done = instruct::carry_out_as(office, gm, instruction, None, output.check).await;
        let printed = match done {
            Ok(GmResult::Would { line: Some(line), told: readers, .. }) if !output.json => {
                lines.push(*line);
                told.extend(readers);
                Ok(())
            }
            Ok(GmResult::Match { line, told: readers, .. }) if !output.json => {
                lines.push(line);
                told.extend(readers);
                Ok(())
            }
            done => done.and_then(|done| print(office, &done, output)),
        };
        if let Err(error) = printed {
            eprintln!("{}", printable_line(&format!("fogpost: {error:#}")));
            failed += 1;
        }
    }
    print_together(office, lines, told.len(), output)?;
    if failed > 0 {
        bail!("nothing was done in {failed} of {}", instructions.len());
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the matches on which one instruction each was carried out, or would be, below one heading.
fn print_together(
    office: &Office,
    lines: Vec<GmMatchSummary>,
    told: usize,
    output: Output,
) -> anyhow::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let (matches, players) = (count_of(lines.len(), "match", "matches"), count_of(told, "player", "players"));
    match output.check {
        true => println!("This would be done in {matches}; nothing has changed. They would then be:"),
        false => println!("Done in {matches}, which are now:"),
    }
    println!();
    print!("{}", instruct::tell(office, &GmResult::List { lines })?);
    if told > 0 {
        println!();
        println!("Letters about it {} {players}.", if output.check { "would go to" } else { "go to" });
    }
    Ok(())
}

/// Returns a text that is laid out for a letter as one line.
pub(super) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Says what is wrong with a plan: a line for each fault.
fn plan_refused(faults: &[PlanFault]) -> String {
    let mut text = "the plan cannot stand, and nothing was announced:".to_owned();
    let between = if faults.len() == 1 { " " } else { "\n" };
    for PlanFault { line, says, example } in faults {
        let place = if *line > 0 { format!("Line {line}: ") } else { String::new() };
        let _ = write!(text, "{between}{place}{says}. For example: {example}");
    }
    text
}

/// Prints the result of an instruction.
///
/// # Errors
/// Returns an error, of one line, if nothing was done.
pub(super) fn print(office: &Office, done: &GmResult, output: Output) -> anyhow::Result<()> {
    if let GmResult::PlanRefused { faults } = done {
        bail!("{}", plan_refused(faults));
    }
    let text = instruct::tell(office, done)?;
    if !done.is_done() {
        // The text is laid out for a letter; an error is one line.
        bail!("{}", in_one_line(&text));
    }
    if output.json {
        print_json(done);
    } else {
        print!("{text}");
    }
    Ok(())
}

//! Carries out GMs' instructions from the terminal and prints the results.

use std::process::ExitCode;

use anyhow::bail;

use super::arguments::{ActingGm, Output};
use super::output::print_json;
use crate::daemon::Office;
use crate::daemon::instruct;
use crate::daemon::status::running_daemons;
use crate::desk::gm::digest::MAX_LOCKED;
use crate::letter::printable::printable_line;
use crate::referee::Instruction;
use crate::report::GmResult;
use crate::report::gm_digest::ShortList;

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
    let mut failed = 0;
    for instruction in instructions {
        let done = instruct::carry_out_as(office, gm, instruction, None, output.check).await;
        if let Err(error) = done.and_then(|done| print(office, &done, output)) {
            eprintln!("{}", printable_line(&format!("fogpost: {error:#}")));
            failed += 1;
        }
    }
    if failed > 0 {
        bail!("nothing was done in {failed} of {}", instructions.len());
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the result of an instruction.
fn print(office: &Office, done: &GmResult, output: Output) -> anyhow::Result<()> {
    let text = instruct::tell(office, done)?;
    if !done.is_done() {
        // The text is laid out for a letter; an error is one line.
        bail!("{}", text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    if output.json {
        print_json(done);
    } else {
        print!("{text}");
    }
    Ok(())
}

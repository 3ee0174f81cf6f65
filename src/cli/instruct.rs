//! Carries out a GM's instruction from the terminal and prints the result.

use std::process::ExitCode;

use anyhow::bail;

use super::arguments::ActingGm;
use super::output::print_json;
use crate::daemon::Office;
use crate::daemon::instruct;
use crate::referee::Instruction;

/// Carries out a GM's instruction and prints the result, for people or as JSON.
///
/// # Errors
/// Returns an error if nothing was done. It says why in one line.
pub(super) async fn carry_out(
    office: &Office,
    gm: &ActingGm,
    instruction: &Instruction,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let gm = gm.index(&office.config.club.gm)?;
    let done = instruct::carry_out_as(office, gm, instruction).await?;
    let text = instruct::tell(office, &done)?;
    if !done.is_done() {
        // The text is laid out for a letter; an error is one line.
        bail!("{}", text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    if json {
        print_json(&done);
    } else {
        print!("{text}");
    }
    Ok(ExitCode::SUCCESS)
}

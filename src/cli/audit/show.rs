//! `fogpost audit show`: the account of a match, for the GM who decides a protest.

use std::process::ExitCode;

use anyhow::Context;

use crate::audit::account;
use crate::cli::arguments::UnsealingRequest;
use crate::daemon::Office;
use crate::daemon::audit::dossier;

/// The words before a reply token in our letters.
const TOKEN_LABEL: &str = "Reply token: ";

/// Show who filed what and when, every question and answer, and every report, ready to print
#[derive(clap::Args)]
pub struct Args {
    /// Match, such as QZ-7K3M
    #[arg(value_name = "MATCH")]
    id: String,
    /// Show this turn only; 0 is the setup
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    #[command(flatten)]
    unsealing: UnsealingRequest,
}

impl Args {
    pub async fn run(self, office: &Office) -> anyhow::Result<ExitCode> {
        let what = self.turn.map_or("the account".to_owned(), |turn| format!("the account of turn {turn}"));
        let asked = self.unsealing.asked(&office.config.club.gm)?;
        let material = dossier::material(office, &self.id, asked.as_ref(), &what).await?;
        let page = account::text(&material, self.turn).context("failed to write the account")?;
        let turn = self.turn.unwrap_or_default();
        let page = page.with_context(|| format!("{} has no turn {turn}", material.game_match.id))?;
        print!("{}", without_tokens(&page));
        Ok(ExitCode::SUCCESS)
    }
}

/// Removes the reply tokens of quoted letters: whoever has one can write for its seat.
fn without_tokens(page: &str) -> String {
    let mut parts = page.split_inclusive(TOKEN_LABEL);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push('…');
        shown.push_str(part.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_of_a_quoted_letter_is_shown() {
        let page = "Reply token: x5cw2shvf4y7kp2m\n> Reply token: abc\nThe end";
        assert_eq!(without_tokens(page), "Reply token: …\n> Reply token: …\nThe end");
    }
}

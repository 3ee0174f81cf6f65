//! `fogpost replay`: what comes of a record.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use crate::game::Seat;
use crate::game::record::{self, By, Record, Step};

/// Play a record file through and show what happened
#[derive(clap::Args)]
pub struct Args {
    /// The record file, `-` for standard input
    file: PathBuf,
    /// Print one JSON object a line: every adjudication and every filing refused
    #[arg(long)]
    json: bool,
    /// Show what this side was told, and nothing else
    #[arg(long = "as", value_name = "SEAT", value_parser = seat)]
    viewer: Option<Seat>,
    /// Show this turn only
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
}

fn seat(text: &str) -> Result<Seat, String> {
    Seat::parse(text).ok_or_else(|| "it is first or second".to_owned())
}

/// The exit status when some filing was refused.
const REFUSED: u8 = 2;

impl Args {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let name = self.file.display();
        let text = match self.file.to_str() {
            Some("-") => std::io::read_to_string(std::io::stdin()).context("standard input")?,
            _ => std::fs::read_to_string(&self.file).with_context(|| name.to_string())?,
        };
        let record = Record::parse(&text).map_err(|fault| anyhow::anyhow!("{name}, {fault}"))?;
        let mut out = BufWriter::new(std::io::stdout().lock());
        let (mut written, mut refused) = (Ok(()), false);
        record.replay(|step| {
            refused |= matches!(step, Step::Refused { .. });
            if written.is_ok() {
                written = self.show(&mut out, &step);
            }
        });
        match written.and_then(|()| out.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            other => other.context("standard output")?,
        }
        Ok(if refused { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS })
    }

    fn show(&self, out: &mut impl Write, step: &Step<'_>) -> std::io::Result<()> {
        let line = match step {
            Step::Adjudicated(done) if self.turn.is_none_or(|turn| turn == done.turn) => {
                record::adjudication_json(done, self.viewer)
            }
            Step::Refused { index, filed, faults } if self.shows_refusal_of(&filed.by) => {
                record::refusal_json(*index, filed, faults)
            }
            Step::Adjudicated(_) | Step::Refused { .. } => return Ok(()),
        };
        writeln!(out, "{line}")
    }

    fn shows_refusal_of(&self, by: &By) -> bool {
        let own = match by {
            By::Seat(seat, _) => self.viewer.is_none_or(|viewer| viewer == *seat),
            By::Referee(_) => self.viewer.is_none(),
        };
        own && self.turn.is_none()
    }
}

//! `fogpost replay`: replays a game record and shows the result.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::arguments::read_text;
use super::output::PrintableWriter;
use crate::game::any::AnyState;
use crate::game::condition::{ConditionNews, ConditionOutcome};
use crate::game::record::{self, Adjudicated, By, Filed, Record, Replayed};
use crate::game::{Fault, Outcome, Seat};
use crate::letter::printable::printable_line;
use crate::referee::Adjudication;
use crate::report::{self, Templates};

/// Replay a record file and show what happened
#[derive(clap::Args)]
pub struct Args {
    /// The record file; `-` for standard input
    file: PathBuf,
    /// Print one JSON object per line: every adjudication and every refused filing
    #[arg(long)]
    json: bool,
    /// Show only what this side was told
    #[arg(long = "as", value_name = "SEAT", value_parser = super::arguments::side_of_match)]
    viewer: Option<Seat>,
    /// Show only this turn
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
}

/// Exit status if any filing was refused, even one that `--as` or `--turn` hides.
const REFUSED: u8 = 2;

/// Whether the error is that the reader closed our output (`| head`), which is not a failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

impl Args {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let name = self.file.display();
        let text = read_text(&self.file)?;
        let mut record = Record::parse(&text).map_err(|fault| anyhow::anyhow!("{name}, {fault}"))?;
        if !self.json {
            record.players = record.players.map(|name| printable_line(&name).into_owned());
        }
        // A record may come from anybody, so a terminal must not obey what it contains.
        let out = BufWriter::new(std::io::stdout().lock());
        let mut out = PrintableWriter { inner: out, json: self.json };
        let mut account =
            ReplayPrinter { args: &self, record: &record, templates: Templates::of_program(), last: None };
        let mut written = Ok(());
        let mut refused = false;
        if !self.json {
            written = account.head(&mut out).map_err(Into::into);
        }
        record.replay(|step| {
            refused |= matches!(step, Replayed::Refused { .. });
            if written.is_ok() {
                written = match self.json {
                    true => self.show(&mut out, &step).map_err(Into::into),
                    false => account.show(&mut out, &step),
                };
            }
        });
        if !self.json && written.is_ok() {
            written = account.end(&mut out).map_err(Into::into);
        }
        match written.and_then(|()| Ok(out.flush()?)) {
            Err(error) if is_broken_pipe(&error) => {}
            other => other.context("standard output")?,
        }
        Ok(if refused { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS })
    }

    fn show(&self, out: &mut impl Write, step: &Replayed<'_>) -> std::io::Result<()> {
        let line = match step {
            Replayed::Adjudicated(done) if self.shows_turn(done.turn) => {
                record::adjudication_json(done, self.viewer)
            }
            Replayed::Refused { index, filed, faults } if self.shows_refusal_of(&filed.by) => {
                record::refusal_json(*index, filed, faults)
            }
            Replayed::Adjudicated(_) | Replayed::Refused { .. } => return Ok(()),
        };
        writeln!(out, "{line}")
    }

    fn shows_turn(&self, turn: u32) -> bool {
        self.turn.is_none_or(|wanted| wanted == turn)
    }

    fn shows_refusal_of(&self, by: &By) -> bool {
        let own = match by {
            By::Seat(seat, _) => self.viewer.is_none_or(|viewer| viewer == *seat),
            By::Referee(_) => self.viewer.is_none(),
        };
        own && self.turn.is_none()
    }
}

/// Prints a replay for people: the news of each adjudication, then the board and the result.
struct ReplayPrinter<'a> {
    args: &'a Args,
    record: &'a Record,
    templates: Templates,
    /// The last state shown.
    last: Option<AnyState>,
}

impl ReplayPrinter<'_> {
    fn head(&self, out: &mut impl Write) -> std::io::Result<()> {
        let Record { game, players, options, .. } = self.record;
        let sides = game.sides();
        let [first, second] = Seat::BOTH.map(|seat| format!("{} ({})", players[seat], sides[seat]));
        writeln!(out, "{}: {first} against {second}", game.name())?;
        if !options.is_empty() {
            writeln!(out, "{options}")?;
        }
        Ok(())
    }

    fn show(&mut self, out: &mut impl Write, step: &Replayed<'_>) -> anyhow::Result<()> {
        match step {
            Replayed::Adjudicated(done) if self.args.shows_turn(done.turn) => {
                let title = match done.turn {
                    0 => "Setup".to_owned(),
                    turn => format!("Turn {turn}"),
                };
                writeln!(out, "\n{title}")?;
                self.news(out, done)?;
                self.conditions(out, done.conditions)?;
                self.last = Some(done.state.clone());
            }
            Replayed::Refused { index, filed, faults } if self.args.shows_refusal_of(&filed.by) => {
                self.refusal(out, *index, filed, faults)?;
            }
            Replayed::Adjudicated(_) | Replayed::Refused { .. } => {}
        }
        Ok(())
    }

    /// Prints what each side was told, or only the requested side. If both were told the same, prints it
    /// once.
    fn news(&self, out: &mut impl Write, done: &Adjudicated<'_>) -> anyhow::Result<()> {
        let alike = done.view(Seat::First) == done.view(Seat::Second);
        let adjudication = Adjudication::from(done);
        for seat in Seat::BOTH {
            let wanted = self.args.viewer.is_none_or(|viewer| viewer == seat);
            if !wanted || (alike && seat == Seat::Second && self.args.viewer.is_none()) {
                continue;
            }
            writeln!(out, "  {} was told:", self.record.players[seat])?;
            let news = report::word_news(&self.templates, &adjudication, &self.record.players, seat)?;
            for line in news.lines().filter(|line| !line.trim().is_empty()) {
                writeln!(out, "    {line}")?;
            }
        }
        Ok(())
    }

    /// Prints the outcomes of conditional orders that were sent ahead.
    fn conditions(&self, out: &mut impl Write, conditions: &[ConditionNews]) -> std::io::Result<()> {
        for ConditionNews { seat, outcome } in conditions {
            if self.args.viewer.is_some_and(|viewer| viewer != *seat) {
                continue;
            }
            let name = &self.record.players[*seat];
            match outcome {
                ConditionOutcome::Met { expected, answer, .. } => {
                    writeln!(out, "  {name} had sent {answer} ahead as the answer to {expected}.")?;
                }
                ConditionOutcome::Illegal { expected, answer, reason } => {
                    writeln!(
                        out,
                        "  {name} had sent {answer} ahead as the answer to {expected}, but: {reason}"
                    )?;
                }
                ConditionOutcome::Void { lines } => {
                    writeln!(out, "  None of {name}'s conditions was met: {}", lines.join("; "))?;
                }
            }
        }
        Ok(())
    }

    fn refusal(
        &self,
        out: &mut impl Write,
        index: usize,
        filed: &Filed,
        faults: &[Fault],
    ) -> std::io::Result<()> {
        let by = match &filed.by {
            By::Seat(seat, _) => &self.record.players[*seat],
            By::Referee(_) => "the referee",
        };
        writeln!(out, "\nFiling {} by {by} was refused:", index + 1)?;
        for fault in faults {
            let place = fault.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            writeln!(out, "    {place}{}", fault.reason)?;
        }
        Ok(())
    }

    fn end(&self, out: &mut impl Write) -> std::io::Result<()> {
        let Some(state) = &self.last else { return Ok(()) };
        let board = match self.args.viewer {
            Some(seat) => state.board(seat),
            None => state.open_board(None),
        };
        writeln!(out, "\n{}", board.text.trim_end())?;
        match state.outcome() {
            Some(Outcome { winner: Some(winner), reason }) => {
                writeln!(out, "\n{} won: {reason}.", self.record.players[winner])
            }
            Some(Outcome { winner: None, reason }) => writeln!(out, "\nNobody won: {reason}."),
            None => writeln!(out, "\nThe match is not over."),
        }
    }
}

//! The log on standard error: text for people, or JSON.

use std::fmt;
use std::io::IsTerminal;

use anyhow::Context;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{DefaultFields, Writer};
use tracing_subscriber::fmt::{FormatFields, layer};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, reload};

use super::output::PrintableWriter;
use crate::config::Log;
use crate::letter::printable::printable_line;

/// A handle that changes the log filter while the program runs.
pub struct LogFilter(reload::Handle<Targets, Registry>);

impl LogFilter {
    pub fn set(&self, filter: &str) -> anyhow::Result<()> {
        Ok(self.0.reload(targets(filter)?)?)
    }
}

/// Starts the log.
pub fn start(log: &Log) -> anyhow::Result<LogFilter> {
    let (filter, handle) = reload::Layer::new(targets(&log.filter)?);
    let registry = tracing_subscriber::registry().with(filter);
    match log.json {
        true => {
            let lines = || PrintableWriter { inner: std::io::stderr(), json: true };
            registry.with(layer().json().with_writer(lines)).try_init()
        }
        false => {
            let lines = layer().with_writer(std::io::stderr).fmt_fields(PrintableFields);
            registry.with(lines.with_ansi(std::io::stderr().is_terminal())).try_init()
        }
    }
    .context("failed to start the log")?;
    Ok(LogFilter(handle))
}

fn targets(filter: &str) -> anyhow::Result<Targets> {
    filter.parse().with_context(|| format!("log.filter `{filter}`"))
}

/// Formats the fields of an event on one line, whatever a server or a letter put into them. Colours are
/// unaffected, because the log itself adds them outside the fields.
struct PrintableFields;

impl<'writer> FormatFields<'writer> for PrintableFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut text = String::new();
        DefaultFields::new().format_fields(Writer::new(&mut text), fields)?;
        writer.write_str(&printable_line(&text))
    }
}

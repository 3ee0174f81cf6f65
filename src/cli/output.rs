//! Standard output. Text from players and strangers is made safe to print here, for all commands.

use std::io::{self, Write};

use comfy_table::presets::NOTHING;
use serde::Serialize;

use crate::letter::printable::{printable_json, printable_line, printable_text};

/// Writes bytes unchanged, and ends the program if that fails.
pub fn put(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) {
        if error.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        eprintln!("fogpost: standard output: {error}");
        std::process::exit(1);
    }
}

/// Prints one line.
pub fn put_line(line: &str) {
    put(format!("{}\n", printable_line(line)).as_bytes());
}

/// Prints a text of several lines.
pub fn put_text(text: &str) {
    put(printable_text(text).as_bytes());
}

/// Prints a value as one line of JSON.
pub fn print_json(value: &impl Serialize) {
    let json = serde_json::to_string(value).expect("it is plain values");
    put(format!("{}\n", printable_json(&json)).as_bytes());
}

/// Prints a table for people: aligned columns without rules.
pub fn print_table(head: &[&str], rows: Vec<Vec<String>>) {
    let cells =
        |row: &Vec<String>| row.iter().map(|cell| printable_line(cell).into_owned()).collect::<Vec<_>>();
    let mut table = comfy_table::Table::new();
    table.load_preset(NOTHING).set_header(head).add_rows(rows.iter().map(cells));
    for line in table.lines() {
        put_line(line.trim_end());
    }
}

/// A writer that makes text fit to print.
pub struct PrintableWriter<W> {
    pub inner: W,
    /// Whether the output is JSON, whose characters are escaped rather than replaced.
    pub json: bool,
}

impl<W: Write> Write for PrintableWriter<W> {
    /// Accepts only whole characters, as the macros of the standard library write them.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let printable = if self.json { printable_json(&text) } else { printable_text(&text) };
        self.inner.write_all(printable.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

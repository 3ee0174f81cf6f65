//! Standard output. Text from players and strangers is made safe to print here, for all commands.

use std::io::{self, IsTerminal as _, Write};

use chrono::{DateTime, Utc};
use comfy_table::presets::NOTHING;
use serde::Serialize;
use textwrap::core::display_width;

use crate::letter::printable::{printable_json, printable_line, printable_text};
use crate::report::format_local;
use crate::zone::Zone;

/// Returns the program as it was called, which may be in no folder of the shell's search path.
pub(super) fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "fogpost".to_owned())
}

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

/// Minimum columns of a list: on a narrower terminal its rows are wrapped rather than cut further.
const MIN_WIDTH: usize = 60;

/// Columns that a cut cell keeps at least.
const MIN_CELL: usize = 7;

/// Columns that a wrapped explanation has at least, and that another wrapped cell has at most.
const MIN_WRAPPED: usize = 20;
const MAX_NAMED: usize = 18;

/// Heads of columns that are never cut: what one has to type, and times.
const WHOLE: [&str; 6] = ["match", "due", "letter", "received", "number", "written"];

/// Formats a time for a list, whose rows have no room for the day of the week: `16 May, 20:00 CEST`.
pub fn list_time_with_zone(at: DateTime<Utc>, zone: Zone, now: DateTime<Utc>) -> String {
    let whole = format_local(at, zone, now);
    whole.split_once(' ').map_or(whole.as_str(), |(_, rest)| rest).to_owned()
}

/// Formats a time for a list all of whose times are in the club's zone: `16 May, 20:00`.
pub fn list_time(at: DateTime<Utc>, zone: Zone, now: DateTime<Utc>) -> String {
    let whole = list_time_with_zone(at, zone, now);
    whole.rsplit_once(' ').map_or(whole.as_str(), |(rest, _)| rest).to_owned()
}

/// Prints a list as a table. If it is empty, says so; only programs that read it get the head alone.
pub fn print_list(head: &[&str], rows: Vec<Vec<String>>, empty: &str) {
    if rows.is_empty() {
        eprintln!("{}", printable_line(empty));
    }
    if !rows.is_empty() || !io::stdout().is_terminal() {
        print_table(head, rows);
    }
}

/// Prints a table for people: aligned columns without rules. On a terminal, each row fits into one line: the longest cells
/// are cut, and whole in the JSON.
pub fn print_table(head: &[&str], rows: Vec<Vec<String>>) {
    let is_whole: Vec<bool> = head.iter().map(|name| WHOLE.contains(name)).collect();
    let head: Vec<String> = head.iter().copied().map(str::to_owned).collect();
    let printable = |row: Vec<String>| row.iter().map(|cell| printable_line(cell).into_owned()).collect();
    let mut rows: Vec<Vec<String>> = std::iter::once(head).chain(rows.into_iter().map(printable)).collect();
    if let Some(width) = terminal_width() {
        cut_to(width, &is_whole, &mut rows);
    }
    print_rows(rows);
}

fn print_rows(rows: Vec<Vec<String>>) {
    let mut table = comfy_table::Table::new();
    table.load_preset(NOTHING).add_rows(rows);
    for line in table.lines() {
        put_line(line.trim_end());
    }
}

/// Prints a table whose last column explains the others: on a terminal, cells are wrapped, and nothing is cut.
pub fn print_wrapped_table(head: &[&str], rows: Vec<Vec<String>>) {
    let head: Vec<String> = head.iter().copied().map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let Some(width) = terminal_width() else { return print_rows(rows) };
    let mut rooms = vec![0; rows[0].len()];
    for row in &rows {
        rooms.iter_mut().zip(row).for_each(|(room, cell)| *room = display_width(cell).max(*room));
    }
    if let Some((last, others)) = rooms.split_last_mut() {
        others.iter_mut().for_each(|room| *room = MAX_NAMED.min(*room));
        // Each column has a blank on both sides, of which the last one is not printed.
        let taken: usize = others.iter().map(|room| room + 2).sum();
        *last = width.saturating_sub(taken + 1).max(MIN_WRAPPED);
    }
    print_rows(rows.iter().flat_map(|row| wrapped(row, &rooms)).collect());
}

/// Wraps the cells of a row to these widths.
fn wrapped(row: &[String], rooms: &[usize]) -> Vec<Vec<String>> {
    let cells: Vec<Vec<String>> = row
        .iter()
        .zip(rooms)
        .map(|(cell, room)| textwrap::wrap(cell, *room).into_iter().map(|line| line.into_owned()).collect())
        .collect();
    let lines = cells.iter().map(Vec::len).max().unwrap_or_default();
    let line = |at: usize| cells.iter().map(|cell| cell.get(at).cloned().unwrap_or_default()).collect();
    (0..lines).map(line).collect()
}

/// Returns the columns of the terminal, if standard output is one.
fn terminal_width() -> Option<usize> {
    let columns = rustix::termios::tcgetwinsize(io::stdout()).ok()?.ws_col;
    (columns > 0).then(|| usize::from(columns).max(MIN_WIDTH))
}

/// Cuts the cells of the widest columns until a row fits, but none of a column that `is_whole`. The table's own arrangement
/// would cut short columns, too.
fn cut_to(width: usize, is_whole: &[bool], rows: &mut [Vec<String>]) {
    let mut columns: Vec<usize> = Vec::new();
    for row in &*rows {
        columns.resize(columns.len().max(row.len()), 0);
        columns.iter_mut().zip(row).for_each(|(column, cell)| *column = (*column).max(display_width(cell)));
    }
    // Each column has a blank on both sides, of which the last one is not printed.
    let room = (width + 1).saturating_sub(2 * columns.len());
    while columns.iter().sum::<usize>() > room {
        let cut =
            columns.iter_mut().zip(is_whole).filter(|(_, is_whole)| !**is_whole).map(|(column, _)| column);
        let Some(widest) = cut.max().filter(|widest| **widest > MIN_CELL) else { break };
        *widest -= 1;
    }
    for row in rows {
        for (cell, column) in
            row.iter_mut().zip(&columns).filter(|(cell, column)| display_width(cell) > **column)
        {
            while display_width(cell) >= *column {
                cell.pop();
            }
            cell.push('…');
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A row with cells of these widths.
    fn row_of(widths: &[usize]) -> Vec<String> {
        widths.iter().map(|width| "x".repeat(*width)).collect()
    }

    #[test]
    fn the_longest_cells_are_cut_until_a_row_fits() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let whole = [
            row(["match", "first", "due"]),
            row(["QD-7K3M", "Maximilian of the Many Names", "Mon 7 Dec, 20:00"]),
        ];
        let mut rows = whole.clone();
        let is_whole = [true, false, true];
        cut_to(80, &is_whole, &mut rows);
        assert_eq!(rows, whole);
        cut_to(45, &is_whole, &mut rows);
        assert_eq!(rows[1], row(["QD-7K3M", "Maximilian of th…", "Mon 7 Dec, 20:00"]));
        cut_to(10, &is_whole, &mut rows);
        assert_eq!(rows[1], row(["QD-7K3M", "Maximi…", "Mon 7 Dec, 20:00"]));
        let mut wide =
            vec![row(["a", "\u{738b}\u{4f1f}\u{738b}\u{4f1f}\u{738b}\u{4f1f}\u{738b}\u{4f1f}", "b"])];
        cut_to(10, &is_whole, &mut wide);
        assert_eq!(display_width(&wide[0][1]), 7);
        let mut letters = vec![row_of(&[12, 18, 40, 40, 9, 13, 80])];
        cut_to(80, &[true, true, false, false, false, false, false], &mut letters);
        let shown: usize = letters[0].iter().map(|cell| display_width(cell)).sum();
        assert!(shown + 2 * letters[0].len() <= 81, "{letters:?}");
    }
}

//! Tables as CSV: read as the spreadsheets of all countries save them, and written so that no spreadsheet runs them.
//!
//! The first line names the columns, in any order. Commas, semicolons or tabs separate them, or what a first line
//! such as `sep=;` says. Empty columns and lines, which spreadsheets add at the ends of a table, are skipped.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{anyhow, bail};

use super::arguments::read_text;
use super::output::put;
use crate::club::names::begins_like_formula;
use crate::letter::printable::printable_line;

/// A kind of table.
pub struct TableKind<'a> {
    /// The columns that the table may have.
    pub columns: &'a [&'a str],
    /// The columns that the table must have.
    pub required: &'a [&'a str],
    /// What a line stands for, such as `match`.
    pub item: &'a str,
    /// What is done with a line, such as `opened`.
    pub done: &'a str,
}

/// A line of a table below the names of the columns.
pub struct TableRow<'a> {
    /// The number of the line in the file, from 1.
    pub line: u64,
    /// The fields by column, without the empty ones.
    fields: BTreeMap<&'a str, &'a str>,
}

impl TableRow<'_> {
    pub fn get(&self, column: &str) -> Option<&str> {
        self.fields.get(column).copied()
    }

    /// # Errors
    /// Returns a sentence if the field is empty.
    pub fn required(&self, column: &str) -> Result<&str, String> {
        self.get(column).ok_or_else(|| format!("`{column}` is missing"))
    }
}

/// Reads a table, each line by `parse`.
///
/// # Errors
/// Returns an error if the file cannot be read or a line is faulty. It names every faulty line by its number.
pub fn read<T>(
    path: &Path,
    kind: &TableKind<'_>,
    parse: impl Fn(&TableRow<'_>) -> Result<T, String>,
) -> anyhow::Result<Vec<T>> {
    let name = path.display();
    // After a carriage return, the reader of tables would count one line too few.
    let text = read_text(path)?.replace("\r\n", "\n").replace('\r', "\n");
    let (separator, declaration) = separator(&text);
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .flexible(true)
        .delimiter(separator)
        // The reader skips and counts the empty line that remains of a declaration.
        .from_reader(&text.as_bytes()[declaration..]);
    let columns: Vec<String> = reader.headers()?.iter().map(str::to_ascii_lowercase).collect();
    let line = if declaration > 0 { 2 } else { 1 };
    check_columns(&columns, kind).map_err(|fault| anyhow!("{name}, line {line}: {fault}"))?;
    let mut items = Vec::new();
    let mut faults = Vec::new();
    for record in reader.records() {
        let position = match &record {
            Ok(record) => record.position(),
            Err(error) => error.position(),
        };
        let line = position.map_or(0, csv::Position::line);
        let read = record.map_err(|error| error.to_string());
        let read = read.and_then(|record| match row(&columns, &record, line)? {
            Some(row) => parse(&row).map(Some),
            None => Ok(None),
        });
        match read {
            Ok(item) => items.extend(item),
            Err(fault) => faults.push(format!("line {line}: {fault}")),
        }
    }
    let TableKind { item, done, .. } = kind;
    if !faults.is_empty() {
        bail!("{name}: no {item} was {done}\n{}", faults.join("\n"));
    }
    if items.is_empty() {
        bail!("{name}: there is no {item} below the line with the columns");
    }
    Ok(items)
}

/// Prints a table as CSV. A cell that a spreadsheet would run as a formula gets an apostrophe first, which marks it
/// as text.
///
/// # Errors
/// Returns an error if the rows differ in length.
pub fn print_csv(head: &[&str], rows: &[Vec<String>]) -> anyhow::Result<()> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(head)?;
    for row in rows {
        writer.write_record(row.iter().map(|cell| {
            let cell = printable_line(cell);
            if begins_like_formula(&cell) { format!("'{cell}") } else { cell.into_owned() }
        }))?;
    }
    put(&writer.into_inner()?);
    Ok(())
}

/// Returns the separator of the columns, and the length of a line that declares it. No column's name contains one.
fn separator(text: &str) -> (u8, usize) {
    let first = text.lines().next().unwrap_or_default();
    let declared = first.trim_matches('"').as_bytes();
    if let [s, e, p, b'=', separator] = declared
        && [*s, *e, *p].eq_ignore_ascii_case(b"sep")
    {
        return (*separator, first.len());
    }
    let used = [b';', b'\t'].into_iter().find(|separator| first.as_bytes().contains(separator));
    (used.unwrap_or(b','), 0)
}

fn check_columns(columns: &[String], kind: &TableKind<'_>) -> Result<(), String> {
    let known = || kind.columns.join(", ");
    let mut named = columns.iter().filter(|name| !name.is_empty());
    if let Some(unknown) = named.find(|name| !kind.columns.contains(&name.as_str())) {
        return Err(format!("there is no column `{unknown}`; the columns are {}", known()));
    }
    if let Some(missing) = kind.required.iter().find(|name| !columns.iter().any(|column| column == *name)) {
        return Err(format!("the column `{missing}` is missing; the columns are {}", known()));
    }
    let mut numbered = columns.iter().enumerate();
    match numbered.find(|(at, name)| !name.is_empty() && columns[..*at].contains(name)) {
        Some((_, repeated)) => Err(format!("there are two columns `{repeated}`")),
        None => Ok(()),
    }
}

/// Returns the fields of a line, or `None` if all are empty.
fn row<'r>(
    columns: &'r [String],
    record: &'r csv::StringRecord,
    line: u64,
) -> Result<Option<TableRow<'r>>, String> {
    let mut fields = BTreeMap::new();
    for (at, value) in record.iter().enumerate().filter(|(_, value)| !value.is_empty()) {
        match columns.get(at).filter(|name| !name.is_empty()) {
            Some(name) => fields.insert(name.as_str(), value),
            None => return Err(format!("it has more fields than the first line: `{value}`")),
        };
    }
    Ok((!fields.is_empty()).then_some(TableRow { line, fields }))
}

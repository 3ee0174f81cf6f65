//! Parses a case file into statements. Does not know the rules of any game.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::value;

pub struct Case {
    /// Game options, by name.
    pub options: Vec<(String, Value)>,
    /// The statements, with their line numbers from 1.
    pub statements: Vec<(usize, Statement)>,
}

pub enum Statement {
    Filing(Filing),
    /// A fault of the filing above. `line` counts the filing's lines in the case file from 1, leaving out those of a
    /// setup file; `None` means the filing as a whole.
    Fault {
        line: Option<usize>,
        says: String,
    },
    /// The referee passes for this seat.
    Pass(String),
    /// A condition that this seat sent ahead was met, and its answer is adjudicated.
    Answer(String),
    /// A value in the last adjudication; `None` means that there is no such value.
    Assertion {
        name: String,
        expected: Option<Value>,
    },
}

pub struct Filing {
    /// `first`, `second` or `referee`.
    pub by: String,
    pub orders: Vec<String>,
    /// How many of the orders come from a setup file. They come first, and faults count lines from the next one.
    pub from_setup: usize,
}

const SEATS: [&str; 2] = ["first", "second"];

/// Parses the text of a case; `setups` is the folder of the game's setup files.
///
/// # Errors
/// Returns the first syntax error, with its line.
pub fn parse(text: &str, setups: &Path) -> Result<Case, String> {
    let title = text.lines().next().unwrap_or_default();
    if title.strip_prefix('#').is_none_or(|title| title.trim().is_empty()) {
        return Err("line 1: start with a comment that says what the case shows".to_owned());
    }
    let case = statements(text, setups)?;
    if case.statements.iter().all(|(_, statement)| matches!(statement, Statement::Filing(_))) {
        return Err("line 1: the case asserts nothing".to_owned());
    }
    Ok(case)
}

fn statements(text: &str, setups: &Path) -> Result<Case, String> {
    let mut parser = Parser { setups, options: Vec::new(), statements: Vec::new(), is_open: false };
    for (number, line) in (1..).zip(text.lines()) {
        parser.line(number, line)?;
    }
    parser.close()?;
    Ok(Case { options: parser.options, statements: parser.statements })
}

struct Parser<'a> {
    setups: &'a Path,
    options: Vec<(String, Value)>,
    statements: Vec<(usize, Statement)>,
    /// Whether indented lines may follow.
    is_open: bool,
}

impl Parser<'_> {
    fn line(&mut self, number: usize, line: &str) -> Result<(), String> {
        if line.starts_with('#') || line.trim().is_empty() {
            return Ok(());
        }
        if line.starts_with(' ') {
            return self.indented(line.trim()).map_err(|fault| format!("line {number}: {fault}"));
        }
        self.close()?;
        self.statement(number, line.trim_end()).map_err(|fault| format!("line {number}: {fault}"))
    }

    /// A line of the filing above it.
    fn indented(&mut self, order: &str) -> Result<(), String> {
        match self.statements.last_mut() {
            Some((_, Statement::Filing(filing))) if self.is_open => {
                filing.orders.push(order.to_owned());
                Ok(())
            }
            _ => Err("an indented line belongs to a filing, and there is none above".to_owned()),
        }
    }

    /// Ends the filing above.
    fn close(&mut self) -> Result<(), String> {
        if let Some((number, Statement::Filing(filing))) = self.statements.last()
            && self.is_open
            && filing.orders.is_empty()
        {
            return Err(format!(
                "line {number}: a filing without orders is written `{}: nothing`",
                filing.by
            ));
        }
        self.is_open = false;
        Ok(())
    }

    fn statement(&mut self, number: usize, line: &str) -> Result<(), String> {
        if let Some((by, orders)) = line.split_once(':')
            && (SEATS.contains(&by) || by == "referee")
        {
            self.filing(number, by, orders.trim());
            return Ok(());
        }
        if let Some(seat) = line.strip_suffix(" passes")
            && SEATS.contains(&seat)
        {
            self.statements.push((number, Statement::Pass(seat.to_owned())));
            return Ok(());
        }
        if let Some(seat) = line.strip_suffix(" answers")
            && SEATS.contains(&seat)
        {
            self.statements.push((number, Statement::Answer(seat.to_owned())));
            return Ok(());
        }
        match line.split_once('=') {
            Some((name, value)) => self.assignment(number, name.trim(), value.trim()),
            None => Err(format!("`{line}` is not a statement; tests/rules/cases/mod.rs lists them")),
        }
    }

    fn filing(&mut self, number: usize, by: &str, orders: &str) {
        self.is_open = orders.is_empty();
        let orders = match orders {
            "" | "nothing" => Vec::new(),
            order => vec![order.to_owned()],
        };
        let filing = Filing { by: by.to_owned(), orders, from_setup: 0 };
        self.statements.push((number, Statement::Filing(filing)));
    }

    fn assignment(&mut self, number: usize, name: &str, text: &str) -> Result<(), String> {
        if let Some(option) = name.strip_prefix("option ") {
            if !self.statements.is_empty() {
                return Err("options come before the first filing".to_owned());
            }
            self.options.push((option.to_owned(), value::parse(text)?));
            return Ok(());
        }
        if name == "setup" {
            for seat in SEATS {
                let filing = self.setup(seat, text)?;
                self.statements.push((number, Statement::Filing(filing)));
            }
            return Ok(());
        }
        if let Some(seat) = name.strip_suffix(".setup") {
            let filing = self.setup(seat, text)?;
            self.statements.push((number, Statement::Filing(filing)));
            self.is_open = true;
            return Ok(());
        }
        if let Some(line) = name.strip_prefix("fault") {
            let line = match line.trim() {
                "" => None,
                line => Some(line.parse().map_err(|_| format!("`{line}` is not the number of a line"))?),
            };
            let says = value::parse(text)?;
            let says = says.as_str().ok_or("what a fault says is a string")?.to_owned();
            self.statements.push((number, Statement::Fault { line, says }));
            return Ok(());
        }
        let expected = if text == "absent" { None } else { Some(value::parse(text)?) };
        self.statements.push((number, Statement::Assertion { name: name.to_owned(), expected }));
        Ok(())
    }

    /// The filing of `seat` in the setup file that `text` names.
    fn setup(&self, seat: &str, text: &str) -> Result<Filing, String> {
        let name = value::parse(text)?;
        let name = name.as_str().ok_or("a setup is named by a string")?;
        let path = self.setups.join(format!("{name}.txt"));
        let text = fs::read_to_string(path).map_err(|error| format!("setup {name}: {error}"))?;
        let setup = statements(&text, self.setups).map_err(|fault| format!("setup {name}: {fault}"))?;
        let mut filings = setup.statements.into_iter().filter_map(|(_, statement)| match statement {
            Statement::Filing(filing) if filing.by == seat => Some(filing),
            _ => None,
        });
        let filing = filings.next_back().ok_or_else(|| format!("setup {name} has nothing for `{seat}`"))?;
        Ok(Filing { from_setup: filing.orders.len(), ..filing })
    }
}

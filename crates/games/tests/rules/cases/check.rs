//! Replays a case and compares the results with what the case states.

use std::collections::VecDeque;

use fogpost_games::game::any::GameKind;
use fogpost_games::game::record::{Record, Replayed, adjudication_json, refusal_json};
use serde_json::{Value, json};

use super::case::{Case, Filing, Statement};

/// Returns everything in which the replay differs from the case, each with its line.
pub fn faults(game: GameKind, case: &Case) -> Vec<String> {
    let mut check = Check {
        game,
        case,
        filings: 0,
        filing_line: 0,
        shown: Shown::Nothing,
        next: VecDeque::new(),
        faults: Vec::new(),
    };
    // Otherwise, a fault of the options, for example, would be reported at every filing.
    if let Err(fault) = check.events(0) {
        return vec![fault];
    }
    for (line, statement) in &case.statements {
        if let Err(fault) = check.statement(*line, statement) {
            check.faults.push(format!("line {line}: {fault}"));
        }
    }
    check.finish_filing();
    check.faults
}

/// One line of a replay.
#[derive(Clone)]
enum Event {
    Adjudicated(Value),
    /// The faults, as `replay --json` prints them.
    Refused(VecDeque<Value>),
}

/// What assertions and faults refer to.
enum Shown {
    /// No adjudication since the last filing.
    Nothing,
    Adjudication(Value),
    /// The last filing was refused; its faults that the case has not stated yet.
    Refusal {
        faults: VecDeque<Value>,
        from_setup: usize,
    },
}

struct Check<'a> {
    game: GameKind,
    case: &'a Case,
    /// How many filings have been made.
    filings: usize,
    /// The line of the last filing.
    filing_line: usize,
    shown: Shown,
    /// Passes and answers sent ahead that followed it and that the case has not stated yet.
    next: VecDeque<Value>,
    faults: Vec<String>,
}

impl Check<'_> {
    fn statement(&mut self, line: usize, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::Filing(filing) => {
                self.finish_filing();
                self.filing_line = line;
                self.file(filing)
            }
            Statement::Fault { line, says } => self.fault(*line, says),
            Statement::Pass(seat) => self.pass(seat),
            Statement::Answer(seat) => self.answer(seat),
            Statement::Assertion { name, expected } => self.assertion(name, expected.as_ref()),
        }
    }

    fn file(&mut self, filing: &Filing) -> Result<(), String> {
        let before = self.events(self.filings)?.len();
        self.filings += 1;
        let events = self.events(self.filings)?;
        self.shown = Shown::Nothing;
        for event in events.into_iter().skip(before) {
            match event {
                Event::Refused(faults) => {
                    self.shown = Shown::Refusal { faults, from_setup: filing.from_setup }
                }
                Event::Adjudicated(json) if matches!(self.shown, Shown::Nothing) => {
                    self.shown = Shown::Adjudication(json);
                }
                Event::Adjudicated(json) => self.next.push_back(json),
            }
        }
        Ok(())
    }

    /// Everything that the first `count` filings cause. A replay does not tell which filing caused an adjudication, so
    /// a case is replayed again after each filing.
    fn events(&self, count: usize) -> Result<Vec<Event>, String> {
        let record = Record::parse(&self.record(count)).map_err(|error| error.reason)?;
        let mut events = Vec::new();
        record.replay(|step| match step {
            Replayed::Adjudicated(done) => events.push(Event::Adjudicated(adjudication_json(&done, None))),
            Replayed::Refused { index, filed, faults } => {
                let line = refusal_json(index, filed, &faults);
                events.push(Event::Refused(line["faults"].as_array().cloned().unwrap_or_default().into()));
            }
        });
        Ok(events)
    }

    /// The first `count` filings as a record file.
    fn record(&self, count: usize) -> String {
        let mut record = format!("fogpost = 1\ngame = \"{}\"\n[options]\n", self.game.key());
        for (name, value) in &self.case.options {
            // A JSON string, number or boolean is also valid in TOML.
            record += &format!("{name} = {value}\n");
        }
        let filings = self.case.statements.iter().filter_map(|(_, statement)| match statement {
            Statement::Filing(filing) => Some(filing),
            _ => None,
        });
        for filing in filings.take(count) {
            let orders = Value::from(filing.orders.join("\n"));
            record += &format!("[[filings]]\nseat = \"{}\"\norders = {orders}\n", filing.by);
        }
        record
    }

    /// Checks that the case has stated every fault and every pass that the last filing caused.
    fn finish_filing(&mut self) {
        let line = self.filing_line;
        if !self.next.is_empty() {
            self.next.clear();
            self.faults.push(format!(
                "line {line}: the referee has passed or answered for a seat; state `first passes` or `first answers`"
            ));
        }
        if let Shown::Refusal { faults, from_setup } = &self.shown
            && !faults.is_empty()
        {
            let told: Vec<_> = faults.iter().map(|fault| told(fault, *from_setup)).collect();
            self.faults.push(format!("line {line}: refused: {}", told.join("; ")));
        }
    }

    fn fault(&mut self, line: Option<usize>, says: &str) -> Result<(), String> {
        let Shown::Refusal { faults, from_setup } = &mut self.shown else {
            return Err("the filing above has no such fault".to_owned());
        };
        let Some(fault) = faults.pop_front() else {
            return Err("the filing above has no further fault".to_owned());
        };
        let wanted = line.map(|line| line + *from_setup);
        if fault["line"] != json!(wanted) {
            return Err(format!("the fault is of {}", told(&fault, *from_setup)));
        }
        match fault["reason"].as_str() {
            Some(reason) if reason.contains(says) => Ok(()),
            _ => Err(format!("the fault says: {}", fault["reason"].as_str().unwrap_or_default())),
        }
    }

    fn pass(&mut self, seat: &str) -> Result<(), String> {
        let Some(next) = self.next.pop_front() else {
            return Err("the referee passes for nobody here".to_owned());
        };
        let Shown::Adjudication(before) = std::mem::replace(&mut self.shown, Shown::Adjudication(next))
        else {
            return Err("a pass follows an adjudication".to_owned());
        };
        if before["due"]["seats"] != json!([]) || before["state"]["to_move"] != *seat {
            return Err(format!("it is not {seat} that passes: {}", before["due"]));
        }
        Ok(())
    }

    fn answer(&mut self, seat: &str) -> Result<(), String> {
        let Some(next) = self.next.pop_front() else {
            return Err("no condition was met here".to_owned());
        };
        let Shown::Adjudication(before) = std::mem::replace(&mut self.shown, Shown::Adjudication(next))
        else {
            return Err("an answer follows an adjudication".to_owned());
        };
        let is_met = |news: &Value| news["seat"] == *seat && news["outcome"] == "met";
        match before["conditions"].as_array().is_some_and(|news| news.iter().any(is_met)) {
            true => Ok(()),
            false => Err(format!("no condition of {seat} was met: {}", before["conditions"])),
        }
    }

    fn assertion(&self, name: &str, expected: Option<&Value>) -> Result<(), String> {
        let adjudication = match &self.shown {
            Shown::Adjudication(json) => json,
            Shown::Refusal { .. } => return Err("the filing above was refused".to_owned()),
            Shown::Nothing => return Err("nothing has been adjudicated since the filing above".to_owned()),
        };
        let found = find(adjudication, name)?;
        if found.as_ref().is_some_and(|found| found.equals(expected)) || found.is_none() && expected.is_none()
        {
            return Ok(());
        }
        let written = |value: Option<&Value>| value.map_or("absent".to_owned(), Value::to_string);
        let found = written(found.as_ref().map(|found| &found.value));
        Err(format!("{name} is {found}; the case expects {}", written(expected)))
    }
}

fn told(fault: &Value, from_setup: usize) -> String {
    let reason = fault["reason"].as_str().unwrap_or_default();
    match fault["line"].as_u64().map(|line| line as i64 - from_setup as i64) {
        Some(line) => format!("line {line}: {reason}"),
        None => format!("the whole filing: {reason}"),
    }
}

/// A value and the keys by which a name selected it from a list.
struct Found {
    value: Value,
    keys: &'static [&'static str],
}

impl Found {
    /// An object need not repeat the keys that selected it.
    fn equals(&self, expected: Option<&Value>) -> bool {
        let Some(expected) = expected else { return false };
        if *expected == self.value {
            return true;
        }
        let mut rest = self.value.clone();
        if let Some(entries) = rest.as_object_mut() {
            entries.retain(|key, _| !self.keys.contains(&key.as_str()));
        }
        *expected == rest
    }
}

/// Follows a name through the JSON of an adjudication. Returns `None` if only its last part is missing.
fn find(adjudication: &Value, name: &str) -> Result<Option<Found>, String> {
    let head = name.split('.').next().unwrap_or_default();
    let mut value = match head {
        "first" | "second" => &adjudication["views"],
        _ if adjudication.get(head).is_some() => adjudication,
        _ => &adjudication["state"],
    };
    let mut keys: &[&str] = &[];
    let mut parts = name.split('.').peekable();
    while let Some(part) = parts.next() {
        if let (Value::Array(items), "count", None) = (value, part, parts.peek()) {
            return Ok(Some(Found { value: items.len().into(), keys: &[] }));
        }
        let found = match value {
            Value::Array(items) => select(items, part)?,
            _ => value.get(part).or_else(|| value.get(format!("{part}s"))).map(|value| (value, &[][..])),
        };
        match found {
            Some(found) => (value, keys) = found,
            None if parts.peek().is_none() => return Ok(None),
            None => return Err(format!("`{name}`: there is no `{part}` in the adjudication")),
        }
    }
    Ok(Some(Found { value: value.clone(), keys }))
}

/// The item of a list that `part` identifies, by the game's name for it or by its position from 1.
fn select<'a>(
    items: &'a [Value],
    part: &str,
) -> Result<Option<(&'a Value, &'static [&'static str])>, String> {
    /// The keys that may identify an item, tried in this order. A ship of War in the Pacific is named by class and
    /// number, like `V1`, or by its square.
    const IDENTITIES: [&[&str]; 4] = [&["class", "no"], &["no"], &["quadrant"], &["at"]];
    for keys in IDENTITIES {
        let identity = |item: &Value| {
            let parts = keys.iter().map(|key| item.get(key).map(plain));
            parts.collect::<Option<String>>()
        };
        let mut found = items.iter().filter(|item| identity(item).is_some_and(|identity| identity == part));
        match (found.next(), found.next()) {
            (Some(item), None) => return Ok(Some((item, keys))),
            (Some(_), Some(_)) => return Err(format!("there are several items `{part}`")),
            (None, _) => {}
        }
    }
    let position = part.parse::<usize>().ok().and_then(|position| position.checked_sub(1));
    let has_identity = items.iter().any(|item| item.get("no").is_some() && item.get("class").is_none());
    Ok(position
        .filter(|_| !has_identity)
        .and_then(|position| items.get(position))
        .map(|item| (item, &[][..])))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

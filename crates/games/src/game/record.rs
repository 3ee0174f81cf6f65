//! The record file: a match as TOML, from which everything else follows deterministically.
//!
//! [`Record::parse`] reads a record and [`Record::replay`] plays it. Records hold no times and no letters.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toml::Spanned;

use super::any::{self, AnyState, Choices, Filing, GameKind, Memories, OwnPart};
use super::condition::{self, ConditionNews, Conditions};
use super::{BySeat, Due, Fault, Line, Outcome, Phase, Reason, Seat};

/// A match: the game, its options, and the orders as filed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub game: GameKind,
    /// The rules version under which the match is played.
    pub rules: u32,
    pub players: BySeat<String>,
    pub options: Choices,
    pub filings: Vec<Filed>,
}

/// A filing, accepted or refused. A record lists filings in the order in which the referee met them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filed {
    pub by: By,
    /// The phase that the filing is meant for, if the record names it. The name is not checked: a filing for
    /// an unknown phase is refused, since that phase is never due.
    pub phase: Option<String>,
}

/// The author of a filing: a seat, with its orders as written, or the referee, with an [`Ending`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    Seat(Seat, String),
    Referee(Ending),
}

/// An ending from outside the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    Resign(Seat),
    Draw,
    Abandon,
    Forfeit(Seat),
    /// Both sides missed too many turns at the same time.
    #[serde(rename = "both forfeit")]
    BothForfeit,
    /// The time for the match ran out. This seat had used more time of its own; `None` if both had used about as
    /// much.
    #[serde(rename = "less time")]
    MoreTime(Option<Seat>),
}

impl Ending {
    pub fn outcome(self) -> Outcome {
        let (winner, reason) = match self {
            Ending::Resign(seat) => (Some(seat.other()), Reason::Resigned),
            Ending::Draw => (None, Reason::DrawAgreed),
            Ending::Abandon => (None, Reason::Abandoned),
            Ending::Forfeit(seat) => (Some(seat.other()), Reason::Forfeited),
            Ending::BothForfeit => (None, Reason::BothForfeited),
            Ending::MoreTime(seat) => (seat.map(Seat::other), Reason::LessTime),
        };
        Outcome { winner, reason }
    }

    /// Parses `RESIGN first`, `DRAW`, `ABANDON`, `FORFEIT first` (or both) or `TIME first` (or both). Ignores case,
    /// comments and blank lines.
    fn parse(orders: &str) -> Option<Ending> {
        let words =
            lines(orders).iter().map(|line| line.text.to_ascii_lowercase()).collect::<Vec<_>>().join(" ; ");
        match words.split_ascii_whitespace().collect::<Vec<_>>()[..] {
            ["resign", seat] => Seat::parse(seat).map(Ending::Resign),
            ["draw"] => Some(Ending::Draw),
            ["abandon"] => Some(Ending::Abandon),
            ["forfeit", "both"] => Some(Ending::BothForfeit),
            ["forfeit", seat] => Seat::parse(seat).map(Ending::Forfeit),
            ["time", "both"] => Some(Ending::MoreTime(None)),
            ["time", seat] => Seat::parse(seat).map(|seat| Ending::MoreTime(Some(seat))),
            _ => None,
        }
    }
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ending::Resign(seat) => write!(f, "RESIGN {seat}"),
            Ending::Draw => f.write_str("DRAW"),
            Ending::Abandon => f.write_str("ABANDON"),
            Ending::Forfeit(seat) => write!(f, "FORFEIT {seat}"),
            Ending::BothForfeit => f.write_str("FORFEIT both"),
            Ending::MoreTime(Some(seat)) => write!(f, "TIME {seat}"),
            Ending::MoreTime(None) => f.write_str("TIME both"),
        }
    }
}

/// The reason why a text is not a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ParseRecordError {
    /// The line at fault, counted from 1.
    pub line: usize,
    pub reason: String,
}

/// Returns the order lines of a text. Drops comments and blank lines, but counts them in the lines' numbers.
pub fn lines(orders: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for (no, line) in (1..).zip(orders.lines()) {
        let text = line.split('#').next().unwrap_or_default().trim();
        if !text.is_empty() {
            lines.push(Line { no, text: text.to_owned() });
        }
    }
    lines
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRecord {
    fogpost: Spanned<i64>,
    game: Spanned<String>,
    /// The rules version; 1 if the record names none.
    rules: Option<Spanned<u32>>,
    #[serde(default)]
    seats: RawSeats,
    #[serde(default)]
    options: toml::map::Map<String, toml::Value>,
    #[serde(default)]
    filings: Vec<RawFiling>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawSeats {
    first: String,
    second: String,
}

impl Default for RawSeats {
    fn default() -> Self {
        RawSeats { first: "First".to_owned(), second: "Second".to_owned() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFiling {
    seat: Spanned<String>,
    phase: Option<String>,
    orders: Spanned<String>,
}

impl Record {
    /// Reads a record file.
    ///
    /// # Errors
    /// [`ParseRecordError`] if the TOML is bad, or a key, game, rules version, seat, referee order, option or
    /// value is unknown.
    pub fn parse(text: &str) -> Result<Record, ParseRecordError> {
        let raw: RawRecord = toml::from_str(text).map_err(|error| {
            let reason = error.message().lines().collect::<Vec<_>>().join("; ");
            error_at(text, error.span().unwrap_or(0..0), reason)
        })?;
        if *raw.fogpost.get_ref() != 1 {
            let reason =
                format!("record format {} is not known; this program reads 1", raw.fogpost.get_ref());
            return Err(error_at(text, raw.fogpost.span(), reason));
        }
        let Some(game) = GameKind::ALL.iter().copied().find(|kind| kind.key() == raw.game.get_ref()) else {
            let known: Vec<_> = GameKind::ALL.iter().map(|kind| kind.key()).collect();
            let reason = format!("unknown game `{}`; known are {}", raw.game.get_ref(), known.join(", "));
            return Err(error_at(text, raw.game.span(), reason));
        };
        let rules = raw.rules.as_ref().map_or(1, |rules| *rules.get_ref());
        game.knows_rules(rules).map_err(|reason| {
            let span = raw.rules.map_or(raw.game.span(), |rules| rules.span());
            error_at(text, span, reason)
        })?;
        let options = read_options(game, &raw.options)
            .map_err(|(name, reason)| ParseRecordError { line: line_of_option(text, &name), reason })?;
        let mut filings = Vec::new();
        for filing in raw.filings {
            filings.push(read_filing(filing).map_err(|(span, reason)| error_at(text, span, reason))?);
        }
        let players = BySeat::new(raw.seats.first, raw.seats.second);
        Ok(Record { game, rules, players, options, filings })
    }

    /// Plays the record and passes each step to `each`.
    pub fn replay(&self, mut each: impl FnMut(Replayed<'_>)) {
        let Ok(start) = self.game.start_with(&self.options) else { return };
        let mut replay = Replay::new(start);
        replay.pass_on(&mut each);
        for (index, filed) in self.filings.iter().enumerate() {
            if let Err(faults) = replay.file(filed, &mut each) {
                each(Replayed::Refused { index, filed, faults });
            }
        }
    }
}

impl std::fmt::Display for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "fogpost = 1\ngame = \"{}\"", self.game.key())?;
        if self.rules != 1 {
            writeln!(f, "rules = {}", self.rules)?;
        }
        writeln!(f, "\n[seats]")?;
        writeln!(f, "first = {}\nsecond = {}", quoted(&self.players.first), quoted(&self.players.second))?;
        if !self.options.is_empty() {
            writeln!(f, "\n[options]")?;
        }
        for (name, value) in self.options.iter() {
            // Numbers and booleans need no quotes; the parser accepts them either way.
            let bare = value == "true" || value == "false" || value.parse::<u32>().is_ok();
            writeln!(f, "{name} = {}", if bare { value.to_owned() } else { quoted(value) })?;
        }
        for Filed { by, phase } in &self.filings {
            let (seat, mut orders) = match by {
                By::Seat(seat, orders) => (seat.as_str(), orders.clone()),
                By::Referee(ending) => ("referee", ending.to_string()),
            };
            writeln!(f, "\n[[filings]]\nseat = \"{seat}\"")?;
            if let Some(phase) = phase {
                writeln!(f, "phase = {}", quoted(phase))?;
            }
            if orders.contains('\n') && !orders.ends_with('\n') {
                orders.push('\n');
            }
            let plain = orders.chars().all(|c| c == '\n' || !c.is_control() && c != '\\' && c != '"');
            if plain && orders.contains('\n') {
                writeln!(f, "orders = \"\"\"\n{orders}\"\"\"")?;
            } else {
                writeln!(f, "orders = {}", quoted(&orders))?;
            }
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn error_at(text: &str, span: Range<usize>, reason: String) -> ParseRecordError {
    let line = 1 + text.bytes().take(span.start).filter(|byte| *byte == b'\n').count();
    ParseRecordError { line, reason }
}

fn read_options(
    game: GameKind,
    options: &toml::map::Map<String, toml::Value>,
) -> Result<Choices, (String, String)> {
    let mut wanted = Vec::new();
    for (name, value) in options {
        let value = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(_) | toml::Value::Boolean(_) => value.to_string(),
            toml::Value::Float(_)
            | toml::Value::Datetime(_)
            | toml::Value::Array(_)
            | toml::Value::Table(_) => {
                return Err((name.clone(), format!("option `{name}` is one plain value")));
            }
        };
        // Options are first checked one by one, so that a fault is reported on the line of its option.
        game.choose([(name.as_str(), value.as_str())]).map_err(|reason| (name.clone(), reason))?;
        wanted.push((name.as_str(), value));
    }
    game.choose(wanted.iter().map(|(name, value)| (*name, value.as_str())))
        .map_err(|reason| (String::new(), reason))
}

/// The line of the option `name`, or of the `[options]` header if there is none.
fn line_of_option(text: &str, name: &str) -> usize {
    let header = text.lines().position(|line| line.trim_start().starts_with("[options]")).unwrap_or(0);
    let after = text.lines().skip(header + 1);
    let found = after.take_while(|line| !line.trim_start().starts_with('[')).position(|line| {
        let key = line.split('=').next().unwrap_or_default().trim();
        key.trim_matches(['"', '\'']) == name
    });
    1 + header + found.map_or(0, |offset| offset + 1)
}

fn read_filing(raw: RawFiling) -> Result<Filed, (Range<usize>, String)> {
    let by = if raw.seat.get_ref() == "referee" {
        let ending = Ending::parse(raw.orders.get_ref()).ok_or_else(|| {
            let reason =
                "the referee's orders are `RESIGN first`, `FORFEIT first`, `TIME first`, `DRAW` or `ABANDON`";
            (raw.orders.span(), reason.to_owned())
        })?;
        By::Referee(ending)
    } else {
        let seat =
            Seat::BOTH.into_iter().find(|seat| seat.as_str() == raw.seat.get_ref()).ok_or_else(|| {
                (
                    raw.seat.span(),
                    format!("unknown seat `{}`; known are first, second, referee", raw.seat.get_ref()),
                )
            })?;
        By::Seat(seat, raw.orders.into_inner())
    };
    Ok(Filed { by, phase: raw.phase })
}

/// A step of a replay.
pub enum Replayed<'a> {
    Adjudicated(Adjudicated<'a>),
    Refused { index: usize, filed: &'a Filed, faults: Vec<Fault> },
}

/// An adjudication: the phase decided, and the state after it.
pub struct Adjudicated<'a> {
    /// The number of the adjudication, counted from 1.
    pub number: usize,
    pub phase: Phase,
    /// The number by which players know the decided phase.
    pub turn: u32,
    pub before: &'a AnyState,
    pub filings: &'a BySeat<Option<Filing>>,
    pub state: &'a AnyState,
    /// The seats' memories after it.
    pub memories: &'a Memories,
    /// The outcomes of conditional orders, each for its author.
    pub conditions: &'a [ConditionNews],
}

impl Adjudicated<'_> {
    /// Returns the view that `seat` is shown after it.
    pub fn view(&self, seat: Seat) -> Value {
        let own = OwnPart { before: self.before, filed: self.filings[seat].as_ref() };
        self.state.shown_view(seat, Some(self.memories), Some(own))
    }
}

/// A match being replayed: its state and the filings for the open phase.
struct Replay {
    state: AnyState,
    held: BySeat<Option<Filing>>,
    adjudications: usize,
    memories: Memories,
    conditions: BySeat<Option<Conditions>>,
}

impl Replay {
    fn new(state: AnyState) -> Self {
        let memories = Memories::empty(state.kind());
        Replay { state, held: BySeat::default(), adjudications: 0, memories, conditions: BySeat::default() }
    }

    fn file(&mut self, filed: &Filed, each: &mut impl FnMut(Replayed<'_>)) -> Result<(), Vec<Fault>> {
        let Some(due) = self.state.due() else {
            return Err(vec![Fault::whole("The match is over.")]);
        };
        if let Some(phase) = filed.phase.as_ref().filter(|phase| *phase != due.phase.as_str()) {
            return Err(vec![Fault::whole(format!("The phase due is {}, not {phase}.", due.phase))]);
        }
        match &filed.by {
            By::Referee(ending) => {
                self.held = BySeat::default();
                self.decide(&due, each, |state, _| state.close(ending.outcome()));
            }
            By::Seat(seat, orders) if Conditions::are_in(self.state.kind(), &lines(orders)) => {
                self.conditions[*seat] = Some(read_conditions(&self.state, &due, *seat, orders)?);
            }
            By::Seat(seat, orders) => {
                self.held[*seat] = Some(self.state.seal(*seat, &lines(orders))?);
                if self.is_complete(&due) {
                    self.decide(&due, each, AnyState::adjudicate);
                    self.pass_on(each);
                }
            }
        }
        Ok(())
    }

    /// Adjudicates the passes that the referee makes for a side that cannot move, and conditional orders that
    /// were met.
    fn pass_on(&mut self, each: &mut impl FnMut(Replayed<'_>)) {
        while let Some(due) = self.state.due().filter(|due| self.is_complete(due)) {
            self.decide(&due, each, AnyState::adjudicate);
        }
    }

    fn is_complete(&self, due: &Due) -> bool {
        due.seats.iter().all(|seat| self.held[*seat].is_some())
    }

    /// Adjudicates the filings for the open phase, and passes the adjudication to `each`.
    fn decide(
        &mut self,
        due: &Due,
        each: &mut impl FnMut(Replayed<'_>),
        change: impl FnOnce(&mut AnyState, &BySeat<Option<Filing>>),
    ) {
        let before = self.state.clone();
        let filings = std::mem::take(&mut self.held);
        self.memories.remember(&before);
        change(&mut self.state, &filings);
        self.adjudications += 1;
        let mut conditions = Vec::new();
        for (seat, followed) in any::follow(&mut self.conditions, &due.seats, &self.state) {
            self.held[seat] = followed.filing;
            conditions.push(ConditionNews { seat, outcome: followed.outcome });
        }
        each(Replayed::Adjudicated(Adjudicated {
            number: self.adjudications,
            phase: due.phase,
            turn: due.turn,
            before: &before,
            filings: &filings,
            state: &self.state,
            memories: &self.memories,
            conditions: &conditions,
        }));
    }
}

fn read_conditions(state: &AnyState, due: &Due, seat: Seat, orders: &str) -> Result<Conditions, Vec<Fault>> {
    if due.seats.contains(&seat) {
        Err(vec![Fault::whole(condition::NOT_NOW)])
    } else {
        Conditions::read(state.kind(), &lines(orders))
    }
}

/// The line that `replay --json` prints for an adjudication. `only` limits it to what that seat was told; without
/// it, the line also has the orders of both seats, with the first adjudication the position at the start, and
/// whatever else the rules hide until the end.
pub fn adjudication_json(done: &Adjudicated<'_>, only: Option<Seat>) -> Value {
    let seats = Seat::BOTH.into_iter().filter(|seat| only.is_none_or(|only| only == *seat));
    let views: serde_json::Map<_, _> = seats.map(|seat| (seat.to_string(), done.view(seat))).collect();
    let due = done.state.due().map(|due| json!({ "phase": due.phase, "seats": due.seats }));
    let mut line = json!({
        "adjudication": done.number,
        "phase": done.phase,
        "views": views,
        "due": due,
        "result": done.state.outcome(),
    });
    let conditions: Vec<_> =
        done.conditions.iter().filter(|news| only.is_none_or(|only| only == news.seat)).collect();
    if !conditions.is_empty() {
        line["conditions"] = json!(conditions);
    }
    if only.is_none() {
        line["state"] = done.state.position();
        line["filings"] = json!(done.filings);
        if done.number == 1 {
            line["start"] = done.before.position();
        }
        if let Value::Object(beside) = done.state.beside_position() {
            line.as_object_mut().expect("it is an object").extend(beside);
        }
    }
    line
}

/// A fault as `replay --json` prints it.
#[derive(Serialize)]
struct FaultLine<'a> {
    line: Option<usize>,
    text: &'a str,
    reason: String,
}

/// The line that `replay --json` prints for a refused filing.
pub fn refusal_json(index: usize, filed: &Filed, faults: &[Fault]) -> Value {
    let (seat, orders) = match &filed.by {
        By::Seat(seat, orders) => (seat.as_str(), orders.as_str()),
        By::Referee(_) => ("referee", ""),
    };
    let faults = faults.iter().map(|fault| FaultLine {
        line: fault.line,
        text: fault.line.and_then(|line| orders.lines().nth(line - 1)).unwrap_or_default().trim(),
        reason: sentences(fault),
    });
    json!({ "refused": index, "seat": seat, "faults": faults.collect::<Vec<_>>() })
}

/// The reason of a fault, followed by its example.
fn sentences(fault: &Fault) -> String {
    let mut text = fault.reason.clone();
    if let Some(example) = &fault.example {
        text.push_str(" For example: ");
        text.push_str(example);
    }
    text
}

//! The agenda: matters that wait for the GM, slow matches, mail trouble, and the state of the program.

use chrono::{DateTime, TimeDelta, Utc};
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::PageFrame;
use crate::game::{BySeat, Seat};
use crate::referee::Consequence;
use crate::report::{TemplateError, format_duration};

/// Maximum slow matches that the agenda shows.
const SLOW: usize = 10;

/// Days without a turn after which a match can count as slow.
const SLOW_DAYS: i64 = 3;

/// Everything that the agenda shows.
#[derive(Clone, Debug, Default)]
pub struct DeskRows {
    /// The matters to show, and the number of others.
    pub waiting: Vec<Waiting>,
    pub more: usize,
    /// The running matches.
    pub running: Vec<RunningMatch>,
    pub trouble: Vec<MailTrouble>,
    /// IDs, names and stages of the events that are not over.
    pub events: Vec<(String, String, &'static str)>,
    pub state: AgendaState,
}

/// A matter that waits for a person.
#[derive(Clone, Debug)]
pub struct Waiting {
    pub since: DateTime<Utc>,
    /// The match that it is about, as it is now.
    pub about: Option<AboutMatch>,
    pub matter: AgendaKind,
}

/// A match that waits for a person.
#[derive(Clone, Debug, Serialize)]
pub struct AboutMatch {
    pub id: String,
    pub names: BySeat<String>,
    pub turn: u32,
    /// The seats that owe orders.
    pub awaited: Vec<Seat>,
    /// Missed turns in a row of each seat.
    pub missed: BySeat<u32>,
    /// Days left in each seat's bank when the open turn began. The present number would reveal how late the
    /// seat is.
    pub bank: BySeat<u32>,
    pub has_bank: bool,
    pub can_adjudicate: bool,
    /// The words of a protest that waits; empty if the GM plays.
    pub protest_words: String,
    /// The consequence of doing nothing, and its time.
    #[serde(skip)]
    pub outlook: Option<(DateTime<Utc>, Consequence)>,
    /// The guard of its forms.
    pub guard: String,
    /// Whether the GM plays in it.
    pub plays: bool,
}

/// A kind of matter.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgendaKind {
    /// Past the deadline; `asked` if deadlines are not enforced until a GM decides.
    Late {
        asked: bool,
    },
    Protest {
        by: Seat,
    },
    /// A player wrote to the GM. The message itself is in the GM's mail.
    Words {
        by: Seat,
    },
    /// A newcomer wants to be admitted.
    Applicant {
        name: String,
        address: String,
        lines: Vec<String>,
    },
    /// A letter that could not be ruled on.
    SetAside {
        sender: String,
        digest: String,
        /// Whether a running match hides the time at which it came.
        is_sealed: bool,
    },
}

/// A running match and its last turn.
#[derive(Clone, Debug, Serialize)]
pub struct RunningMatch {
    pub id: String,
    pub names: BySeat<String>,
    pub awaited: Vec<Seat>,
    pub turn: u32,
    #[serde(skip)]
    pub last_turn: DateTime<Utc>,
}

/// Mail that does not arrive.
#[derive(Clone, Debug, Serialize)]
pub struct MailTrouble {
    pub who: String,
    pub what: String,
    pub matches: Vec<String>,
}

/// The state of the program.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AgendaState {
    #[serde(skip)]
    pub last_fetch: Option<DateTime<Utc>>,
    pub letters_waiting: u64,
    pub dispatches_waiting: u64,
    pub sent_in_a_day: u64,
    pub per_day: Option<u32>,
    pub paused: usize,
    pub faults: Vec<String>,
}

/// Returns the agenda.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn page(frame: &PageFrame<'_>, rows: &DeskRows) -> Result<String, TemplateError> {
    let waiting: Vec<Value> = rows.waiting.iter().map(|waiting| line(frame, waiting)).collect();
    let median = median(rows.running.iter().map(|game_match| frame.days_since(game_match.last_turn)));
    let is_late = |waiting: &&Waiting| matches!(waiting.matter, AgendaKind::Late { .. });
    let page = context! {
        late => rows.waiting.iter().filter(is_late).count(),
        waiting => waiting, more => rows.more, count => rows.waiting.len() + rows.more,
        slow => slow(frame, &rows.running, median), median => median,
        trouble => Serde(&rows.trouble),
        events => Serde(&rows.events),
        state => Serde(&rows.state), read => rows.state.last_fetch.map(|at| frame.ago(at)),
        running => rows.running.len(),
    };
    frame.render("screen/agenda.html", "/", page)
}

fn line(frame: &PageFrame<'_>, Waiting { since, about, matter }: &Waiting) -> Value {
    let outlook = about.as_ref().and_then(|about| about.outlook.as_ref());
    let span = frame.now - *since;
    context! {
        since => frame.at(*since),
        days => frame.days_since(*since),
        how_long => (span > TimeDelta::zero()).then(|| format_duration(span)),
        matter => Serde(matter),
        about => Serde(about),
        outlook => Serde(outlook.map(|(_, consequence)| consequence)),
        at => outlook.map(|(at, _)| frame.at(*at)),
    }
}

fn median(days: impl Iterator<Item = i64>) -> i64 {
    let mut days: Vec<i64> = days.collect();
    days.sort_unstable();
    days.get(days.len() / 2).copied().unwrap_or(0)
}

/// Returns the matches that wait longer than most, the slowest first.
fn slow(frame: &PageFrame<'_>, running: &[RunningMatch], median: i64) -> Vec<Value> {
    let days = |game_match: &RunningMatch| frame.days_since(game_match.last_turn);
    let mut slow: Vec<&RunningMatch> =
        running.iter().filter(|game_match| days(game_match) > median.max(SLOW_DAYS)).collect();
    slow.sort_by_key(|game_match| game_match.last_turn);
    slow.truncate(SLOW);
    let row = |game_match| context! { days => days(game_match), ..Value::from(Serde(game_match.clone())) };
    slow.into_iter().map(row).collect()
}

//! The replay of a finished match: one page with every step, as each side saw it and as it really was.

use chrono::{DateTime, Utc};
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::Site;
use super::boards::{self, Boards};
use super::characters::{self, TextBoards};
use crate::game::any::{GameKind, OwnPart};
use crate::game::record::{Adjudicated, Record, Replayed};
use crate::game::{BySeat, Outcome, Phase, Seat};
use crate::referee::Adjudication;
use crate::report::{self, TemplateError, Templates};

/// A finished match.
#[derive(Clone, Debug)]
pub struct FinishedMatch {
    pub id: String,
    /// The record, with the names that the club shows.
    pub record: Record,
    pub outcome: Outcome,
    /// The ID and the name of its event.
    pub event: Option<(String, String)>,
    pub ended_at: Option<DateTime<Utc>>,
    /// The hash of the last entry of the ledger.
    pub head: String,
    /// The keys by which the salts of sealed orders are checked, oldest first.
    pub keys: Vec<String>,
    /// Whether the record is published beside the page.
    pub has_record: bool,
}

/// A step of the page.
#[derive(Serialize)]
struct ReplayStep {
    id: String,
    /// Its name in the list of all turns.
    short: String,
    turn: u32,
    phase: Phase,
    board: String,
    told: Vec<StepReport>,
    /// The orders of each side that filed some, as a letter has them.
    orders: Vec<(String, Vec<String>)>,
    text: String,
}

/// A report on a step.
#[derive(Serialize)]
struct StepReport {
    /// The views that show it; empty for all.
    class: &'static str,
    /// The player who was told, where the sides were told different things.
    name: Option<String>,
    items: Vec<String>,
}

/// The steps of a match before they are drawn.
#[derive(Default)]
struct Played {
    pictures: Vec<Vec<crate::game::picture::Picture>>,
    texts: Vec<Vec<String>>,
    steps: Vec<ReplayStep>,
}

/// Returns the page of a finished match.
///
/// # Errors
/// [`TemplateError`] if a template cannot be rendered.
pub fn page(templates: &Templates, site: &Site, finished: &FinishedMatch) -> Result<String, TemplateError> {
    let record = &finished.record;
    let hides = record.game.hides_something();
    let Played { pictures, texts, mut steps } = play(templates, record)?;
    // If the game hides something, show the truth first, else the first player's side.
    let Boards { symbols, steps: drawn, legend: signs, width, height } =
        boards::draw(pictures, if hides { 2 } else { 0 });
    let TextBoards { steps: written, legend } = characters::write(&texts);
    for ((step, board), text) in steps.iter_mut().zip(drawn).zip(written) {
        (step.board, step.text) = (board, text);
    }
    let signs_bytes: usize = signs.iter().map(|line| line.sample.len() + line.words.len() + SIGN_BYTES).sum();
    keep_within_limit(&mut steps, symbols.len() + signs_bytes);
    let last_turn = steps.last().map(|step| step.turn);
    let result = result_of(templates, &record.players, &finished.outcome, last_turn)?;
    let root = Value::from_safe_string("../../".to_owned());
    let page = context! {
        site => Serde(site), root => root, here => "matches", id => &finished.id,
        names => Serde(&record.players), game => game(record.game), hides => hides, result => result,
        symbols => symbols, signs => Serde(&signs), width => width, height => height,
        ratio => format!("{:.3}", f64::from(width) / f64::from(height.max(1))),
        dark => boards::dark_style(record.game), steps => Serde(&steps), characters => legend,
        options => record.options.to_string(), event => &finished.event,
        ended => finished.ended_at.map(|at| at.format("%-d %B %Y").to_string()),
        head => &finished.head, key => finished.keys.join(", "), record => finished.has_record,
    };
    templates.render("site/replay.html", page)
}

/// The expected bytes of a page apart from its steps, about half of them its frame, and of each step.
const PAGE_BYTES: usize = 15_000;
const STEP_BYTES: usize = 5_000;
/// Maximum bytes of all parts of a page together, so that it can stand alone in a letter.
const MOST_BYTES: usize = 120_000;
/// The bytes of a step's frame, heading and links, of the frame of a side's orders, and of a sign in the legend.
const FRAME_BYTES: usize = 600;
const ORDERS_BYTES: usize = 130;
const SIGN_BYTES: usize = 160;

/// Omits the orders if the page would become too large, and then all boards in characters except the last.
fn keep_within_limit(steps: &mut [ReplayStep], drawn_once: usize) {
    let words = |step: &ReplayStep| {
        step.told.iter().flat_map(|told| &told.items).map(|item| item.len() + 5).sum::<usize>()
    };
    let orders = |step: &ReplayStep| {
        let lines = step.orders.iter().flat_map(|(_, lines)| lines).map(|line| line.len() + 1);
        lines.sum::<usize>() + step.orders.len() * ORDERS_BYTES
    };
    let size =
        |step: &ReplayStep| step.board.len() + step.text.len() + orders(step) + words(step) + FRAME_BYTES;
    let most = MOST_BYTES.min(PAGE_BYTES + STEP_BYTES * steps.len());
    let is_too_large = |steps: &[ReplayStep]| drawn_once + steps.iter().map(size).sum::<usize>() > most;
    if is_too_large(steps) {
        steps.iter_mut().for_each(|step| step.orders.clear());
    }
    if is_too_large(steps)
        && let Some((_, others)) = steps.split_last_mut()
    {
        others.iter_mut().for_each(|step| step.text.clear());
    }
}

fn game(game: GameKind) -> Value {
    context! { key => game.key(), name => game.name() }
}

/// Returns a sentence on how a match between these players ended.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn result_of(
    templates: &Templates,
    names: &BySeat<String>,
    outcome: &Outcome,
    turn: Option<u32>,
) -> Result<String, TemplateError> {
    let context = context! {
        winner => outcome.winner.map(|seat| &names[seat]),
        loser => outcome.winner.map(|seat| &names[seat.other()]),
        reason => outcome.reason.as_str(), turn => turn,
    };
    Ok(templates.render("site/result.txt", context)?.trim().to_owned())
}

fn play(templates: &Templates, record: &Record) -> Result<Played, TemplateError> {
    let mut played = Ok(Played::default());
    record.replay(|step| {
        if let (Ok(so_far), Replayed::Adjudicated(done)) = (&mut played, step)
            && let Err(error) = so_far.add(templates, record, &done)
        {
            played = Err(error);
        }
    });
    played
}

impl Played {
    fn add(
        &mut self,
        templates: &Templates,
        record: &Record,
        done: &Adjudicated<'_>,
    ) -> Result<(), TemplateError> {
        let mut boards: Vec<_> = Seat::BOTH
            .into_iter()
            .map(|seat| {
                let own = OwnPart { before: done.before, filed: done.filings[seat].as_ref() };
                done.state.shown_board(seat, None, Some(own))
            })
            .collect();
        if record.game.hides_something() {
            boards.push(done.state.open_board());
        }
        let (pictures, texts) = boards.into_iter().map(|board| (board.picture, board.text)).unzip();
        self.pictures.push(pictures);
        self.texts.push(texts);
        let place = self.steps.iter().rev().take_while(|step| step.turn == done.turn).count();
        let letter = (place > 0).then(|| char::from(b'a' + u8::try_from(place.min(25)).unwrap_or(25)));
        let letter = letter.map(String::from).unwrap_or_default();
        self.steps.push(ReplayStep {
            id: format!("t{}{letter}", done.turn),
            short: format!("{}{letter}", done.turn),
            turn: done.turn,
            phase: done.phase,
            board: String::new(),
            told: step_reports(templates, record, done)?,
            orders: Seat::BOTH
                .into_iter()
                .filter_map(|seat| {
                    let filed = done.filings[seat].as_ref()?;
                    Some((report::isolated(&record.players[seat]), filed.lines().to_vec()))
                })
                .collect(),
            text: String::new(),
        });
        Ok(())
    }
}

/// Returns the reports to both sides on a step, or one report if both were told the same.
fn step_reports(
    templates: &Templates,
    record: &Record,
    done: &Adjudicated<'_>,
) -> Result<Vec<StepReport>, TemplateError> {
    let adjudication = Adjudication::from(done);
    let news =
        |seat| report::word_news(templates, &adjudication, &record.players, seat).map(|text| items(&text));
    if !record.game.hides_something() {
        // The report to the other side names the player who moved.
        let mover = done.before.due().and_then(|due| due.seats.first().copied()).unwrap_or(Seat::First);
        return Ok(vec![StepReport { class: "", name: None, items: news(mover.other())? }]);
    }
    let mut told = Vec::new();
    for (seat, class) in [(Seat::First, "ft"), (Seat::Second, "st")] {
        told.push(StepReport {
            class,
            name: Some(report::isolated(&record.players[seat])),
            items: news(seat)?,
        });
    }
    Ok(told)
}

/// Returns the points of a list, each on one line.
fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match (line.strip_prefix("- "), items.last_mut()) {
            (None, Some(last)) => {
                last.push(' ');
                last.push_str(line.trim());
            }
            (item, _) => items.push(item.unwrap_or(line).trim().to_owned()),
        }
    }
    items
}

//! The replay of a finished match: one page with every step, as each side saw it and as it really was, and beside it the
//! same in words and characters.

use chrono::{DateTime, Utc};
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::Site;
use super::boards::{self, Boards};
use super::characters;
use crate::game::any::{GameKind, OwnPart};
use crate::game::picture::Picture;
use crate::game::record::{Adjudicated, Record, Replayed};
use crate::game::{Board, BySeat, Outcome, Phase, Seat};
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
    /// The board in characters, as it really was.
    text: String,
    /// Whether the page leaves out orders or characters, which the page in words has.
    is_cut: bool,
    boards: Vec<StepBoard>,
}

/// A board of a step in words.
#[derive(Serialize)]
struct StepBoard {
    /// The class of the views that show it; empty for all.
    class: &'static str,
    /// The player who saw it; `None` for all, or for what really was.
    seen_by: Option<String>,
    /// The position in a few words.
    name: String,
    text: String,
}

/// The pages of a finished match.
#[derive(Clone, Debug)]
pub struct ReplayPages {
    pub page: String,
    /// The match in words and characters.
    pub words: String,
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
    steps: Vec<ReplayStep>,
}

/// Returns the pages of a finished match.
///
/// # Errors
/// [`TemplateError`] if a template cannot be rendered.
pub fn pages(
    templates: &Templates,
    site: &Site,
    finished: &FinishedMatch,
) -> Result<ReplayPages, TemplateError> {
    let record = &finished.record;
    let hides = record.game.hides_something();
    let Played { pictures, mut steps } = play(templates, record)?;
    // If the game hides something, show the truth first, else the first player's side.
    let Boards { symbols, steps: drawn, legend: signs, width, height } =
        boards::draw(pictures, if hides { 2 } else { 0 });
    for (step, board) in steps.iter_mut().zip(drawn) {
        step.board = board;
    }
    let last_turn = steps.last().map(|step| step.turn);
    let result = result_of(templates, &record.players, &finished.outcome, last_turn)?;
    let root = Value::from_safe_string("../../".to_owned());
    let legend = steps.last().and_then(|step| step.boards.last());
    let legend = legend.map(|board| characters::split(&board.text).1.to_owned());
    let common = context! {
        site => Serde(site), root => root, here => "matches", id => &finished.id, names => Serde(&record.players),
        sides => Serde(record.game.sides()), game => game(record.game), hides => hides, result => result,
    };
    let words = context! { steps => Serde(&steps), ..common.clone() };
    let words = templates.render("site/words.html", words)?;
    let signs_bytes: usize = signs.iter().map(|line| line.sample.len() + line.words.len() + SIGN_BYTES).sum();
    let most = PAGE_BYTES + STEP_BYTES * steps.len();
    let most = if site.sheet.is_some() { most.min(MOST_BYTES) } else { most };
    keep_within_limit(&mut steps, symbols.len() + signs_bytes, most);
    let page = context! {
        symbols => symbols, signs => Serde(&signs), width => width, height => height,
        ratio => format!("{:.3}", f64::from(width) / f64::from(height.max(1))),
        dark => boards::dark_style(record.game), steps => Serde(&steps), characters => legend,
        options => record.options.to_string(), event => &finished.event,
        ended => finished.ended_at.map(|at| at.format("%-d %B %Y").to_string()),
        head => &finished.head, key => finished.keys.join(", "), record => finished.has_record,
        ..common
    };
    Ok(ReplayPages { page: templates.render("site/replay.html", page)?, words })
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
const NAME_BYTES: usize = 22;

/// Omits the orders if the page would become too large, then all boards in characters, and then the names of all boards
/// except those that show what really was.
fn keep_within_limit(steps: &mut [ReplayStep], drawn_once: usize, most: usize) {
    let words = |step: &ReplayStep| {
        step.told.iter().flat_map(|told| &told.items).map(|item| item.len() + 5).sum::<usize>()
    };
    let orders = |step: &ReplayStep| {
        let lines = step.orders.iter().flat_map(|(_, lines)| lines).map(|line| line.len() + 1);
        lines.sum::<usize>() + step.orders.len() * ORDERS_BYTES
    };
    let names =
        |step: &ReplayStep| step.boards.iter().map(|board| board.name.len() + NAME_BYTES).sum::<usize>();
    let size = |step: &ReplayStep| {
        step.board.len() + step.text.len() + orders(step) + words(step) + names(step) + FRAME_BYTES
    };
    let is_too_large = |steps: &[ReplayStep]| drawn_once + steps.iter().map(size).sum::<usize>() > most;
    if is_too_large(steps) {
        for step in steps.iter_mut() {
            step.is_cut = true;
            step.orders.clear();
        }
    }
    if is_too_large(steps) {
        steps.iter_mut().for_each(|step| step.text.clear());
    }
    if is_too_large(steps) {
        steps.iter_mut().for_each(|step| drop(step.boards.drain(..step.boards.len() - 1)));
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
        let (boards, pictures) = step_boards(record, done);
        self.pictures.push(pictures);
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
            text: boards.last().map(|board| characters::short(&board.text)).unwrap_or_default(),
            is_cut: false,
            boards,
        });
        Ok(())
    }
}

/// Returns the boards of a step and their pictures: in games that hide something, as each side saw it and as it was. In
/// others, one board has two pictures, from both sides.
fn step_boards(record: &Record, done: &Adjudicated<'_>) -> (Vec<StepBoard>, Vec<Picture>) {
    let own = |seat| OwnPart { before: done.before, filed: done.filings[seat].as_ref() };
    let (mut boards, mut pictures) = (Vec::new(), Vec::new());
    let mut add = |class, seen_by, Board { text, picture, name }| {
        boards.push(StepBoard { class, seen_by, name, text });
        pictures.push(picture);
    };
    if record.game.hides_something() {
        for (seat, class) in Seat::BOTH.into_iter().zip(["f", "s"]) {
            let name = report::isolated(&record.players[seat]);
            add(class, Some(name), done.state.replay_board(seat, done.memories, own(seat)));
        }
        add("t", None, done.state.open_board(Some((done.before, done.filings))));
    } else {
        add("", None, done.state.shown_board(Seat::First, None, Some(own(Seat::First))));
        pictures.push(done.state.shown_board(Seat::Second, None, Some(own(Seat::Second))).picture);
    }
    (boards, pictures)
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

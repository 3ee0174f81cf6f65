//! Laws of sheets: a second reading of their JSON offers exactly the lines that may stand.

use std::collections::BTreeSet;

use fogpost_games::game::any::{AnyState, GameKind};
use fogpost_games::game::condition::Conditions;
use fogpost_games::game::{Line, Seat};
use fogpost_testing::play::{Play, filings, matches, numbered};
use serde_json::Value;

/// A sheet as its page reads it.
struct Page {
    sheet: Value,
    width: usize,
    height: usize,
    block: usize,
}

/// A piece and its sets of targets, or a text.
#[derive(Clone, Debug)]
enum Filled {
    Piece { id: String, at: usize, targets: Vec<Vec<usize>> },
    Cell(usize),
    Text(String),
}

fn size(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("a number")).expect("a small number")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

impl Page {
    fn of(state: &AnyState, seat: Seat) -> Option<Page> {
        let sheet = serde_json::to_value(state.sheet(seat, None)?).expect("plain JSON");
        let [width, height, block, _] = list(&sheet["g"]) else { panic!("no grid: {sheet}") };
        Some(Page { width: size(width), height: size(height), block: size(block), sheet })
    }

    fn name(&self, cell: usize) -> String {
        let (x, y, block) = (cell % self.width, cell / self.width, self.block);
        let letter = |n: usize| char::from(b'A' + u8::try_from(n).expect("few letters"));
        if block == 0 {
            return format!("{}{}", letter(x), self.height - y);
        }
        format!(
            "{}{}",
            letter(y / block * (self.width / block) + x / block),
            y % block * block + x % block + 1
        )
    }

    /// Follows a walk; `from` is the piece's own cell.
    fn cells(&self, walk: &Value, from: Option<usize>) -> Vec<usize> {
        let count = self.width * self.height;
        let (mut at, mut ahead, mut cells) = (from.unwrap_or(count - 1), 0, Vec::new());
        for step in text(walk).bytes() {
            ahead += if step == b'~' { 90 } else { usize::from(step - b'#') };
            if step != b'~' {
                at = (at + ahead) % count;
                ahead = 0;
                cells.push(at);
            }
        }
        cells
    }

    fn pieces(&self, group: usize) -> impl Iterator<Item = Filled> {
        list(&self.sheet["p"]).iter().filter(move |piece| size(&piece[4]) == group).map(|piece| {
            let at = size(&piece[1]);
            let targets = list(piece)[6..].iter().map(|walk| self.cells(walk, Some(at))).collect();
            Filled::Piece { id: text(&piece[0]).to_owned(), at, targets }
        })
    }

    /// Returns the square of the seat's own piece with this ID.
    fn square_of(&self, own: &str) -> Option<String> {
        self.pieces(0).find_map(|piece| match piece {
            Filled::Piece { id, at, .. } if id == own => Some(self.name(at)),
            Filled::Piece { .. } | Filled::Cell(_) | Filled::Text(_) => None,
        })
    }

    /// Returns the values of a field after those before it. Of numbers, the lowest and the highest; of a sequence, all of it
    /// and its first text.
    fn values(&self, field: &Value, before: &[Filled]) -> Vec<Filled> {
        let near = |a: usize, b: usize| {
            a != b
                && (a % self.width).abs_diff(b % self.width) < 2
                && (a / self.width).abs_diff(b / self.width) < 2
        };
        match (text(&field[0]), before.last()) {
            ("p", _) => self.pieces(size(&field[1])).collect(),
            ("t", Some(Filled::Piece { targets, .. })) => {
                targets[size(&field[1])].iter().map(|at| Filled::Cell(*at)).collect()
            }
            ("c", _) => self.cells(&field[2], None).into_iter().map(Filled::Cell).collect(),
            ("k", Some(Filled::Cell(last))) => {
                let beside = self.cells(&field[2], None).into_iter().filter(|at| near(*last, *at));
                beside.map(Filled::Cell).collect()
            }
            ("o", _) => list(&field[2]).iter().map(|choice| Filled::Text(text(choice).to_owned())).collect(),
            ("#", _) => [size(&field[2]), size(&field[3])].map(|n| Filled::Text(n.to_string())).to_vec(),
            ("s", _) => {
                let all: Vec<&str> = list(&field[2]).iter().map(text).collect();
                [all.join(" "), all[0].to_owned()].map(Filled::Text).to_vec()
            }
            other => panic!("a strange field: {other:?}"),
        }
    }

    fn write(&self, form: &str, values: &[Filled]) -> String {
        let mut line = form.replace("{+}", "1");
        for (place, value) in (1..).zip(values) {
            let (shown, at) = match value {
                Filled::Piece { id, at, .. } => (id.clone(), self.name(*at)),
                Filled::Cell(at) => (self.name(*at), String::new()),
                Filled::Text(text) => (text.clone(), String::new()),
            };
            line = line.replace(&format!("{{{place}@}}"), &at).replace(&format!("{{{place}}}"), &shown);
        }
        line
    }

    /// Returns every line that the page can compose. Numbers of a line are not all 0, and not above the tallies.
    fn lines(&self) -> BTreeSet<String> {
        let mut lines = BTreeSet::new();
        for kind in list(&self.sheet["o"]) {
            let mut open = vec![Vec::new()];
            for field in list(&kind["q"]) {
                let each = |filled: Vec<Filled>| {
                    self.values(field, &filled).into_iter().map(move |value| [&filled[..], &[value]].concat())
                };
                open = open.into_iter().flat_map(each).collect();
            }
            let numbers = list(&kind["q"]).iter().filter(|field| field[0] == "#").count();
            let highest =
                list(&kind["q"]).iter().find(|field| field[0] == "#").map_or(0, |field| size(&field[3]));
            let sum = |filled: &[Filled]| -> usize {
                filled[..numbers]
                    .iter()
                    .map(|value| match value {
                        Filled::Text(number) => number.parse().unwrap_or(0),
                        Filled::Piece { .. } | Filled::Cell(_) => 0,
                    })
                    .sum()
            };
            open.retain(|filled| numbers == 0 || (1..=highest).contains(&sum(filled)));
            lines.extend(open.iter().map(|filled| self.write(text(&kind["l"]), filled)));
        }
        lines
    }
}

/// Whether lines of a letter can stand: only the letter as a whole may lack something.
fn may_stand(state: &AnyState, seat: Seat, lines: &[String]) -> bool {
    let faults = state.seal(seat, &numbered(lines)).err().unwrap_or_default();
    faults.iter().all(|fault| fault.line.is_none() || fault.reason.starts_with("A ready setup"))
}

/// Whether a capture can stand once the whole stock is built on its square.
fn may_stand_after_building(state: &AnyState, seat: Seat, line: &str, stock: &Value) -> bool {
    let Some(star) = line.strip_prefix("CAPTURE ") else { return false };
    may_stand(state, seat, &[format!("BUILD {stock}/0 AT {star}"), line.to_owned()])
}

/// Returns the lines of a sealed filing as a page writes them: one for each thing, with the square of what moves.
fn as_composed(line: &str, page: &Page, from_page: &BTreeSet<String>) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let begins =
        |start: String| from_page.iter().find_map(|line| line.starts_with(&start).then(|| start.clone()));
    match words[..] {
        ["HOLD"] | ["LOSSES" | "LOSE", ..] => Vec::new(),
        ["SHIP", no, "TO", to] => {
            page.square_of(no).map(|at| format!("SHIP {no} {at} TO {to}")).into_iter().collect()
        }
        ["SHIP", no, _, "TO", _] if begins(format!("SHIP {no} ")).is_none() => Vec::new(),
        ["SHIP", _, class, at] => {
            // Only the lowest and the highest numbers are enumerated.
            assert!(class.contains('/'), "{line}");
            vec![format!("SHIP 1 0/15 {at}")]
        }
        ["BUILD", _, "AT", at] => vec![format!("BUILD 0/{} AT {at}", stock_of(page))],
        ["CARRIER", number, ref rest @ ..] if number.starts_with('V') => {
            vec![format!("CARRIER {}", rest.join(" "))]
        }
        [class @ ("BATTLESHIP" | "CRUISER" | "DESTROYER" | "SUBMARINE"), ref at @ ..] => {
            at.iter().map(|at| format!("{class} {at}")).collect()
        }
        [number, "TO", to] => {
            page.square_of(number).map(|at| format!("{number} {at} {to}")).into_iter().collect()
        }
        [step] if step.contains('-') => {
            let letters = step.bytes().take_while(u8::is_ascii_alphabetic).count();
            vec![step[letters - 1..].to_owned()]
        }
        _ => vec![line.to_owned()],
    }
}

fn stock_of(page: &Page) -> &Value {
    let build = list(&page.sheet["o"]).iter().find(|kind| kind["n"] == "Build");
    build.map_or(&Value::Null, |build| &build["q"][0][3])
}

#[test]
fn every_line_of_a_sheet_may_stand_and_every_order_is_on_it() {
    let (mut offered, mut composed) = (0, 0);
    for (kind, seed) in matches(6) {
        let mut play = Play::new(kind, seed);
        loop {
            let before = play.state.clone();
            let is_checked = play.adjudications < 3 || play.adjudications.is_multiple_of(9);
            let Some(tries) = play.step() else { break };
            for (seat, filing) in filings(&tries).iter().filter(|_| is_checked) {
                let Some(filing) = filing else { continue };
                let page = Page::of(&before, seat).expect("orders are due");
                let lines = page.lines();
                for line in lines.iter().step_by(if lines.len() > 400 { 7 } else { 1 }) {
                    let stands = may_stand(&before, seat, std::slice::from_ref(line))
                        || may_stand_after_building(&before, seat, line, stock_of(&page));
                    assert!(stands, "{kind} {seed} {seat}: {line}");
                    offered += 1;
                }
                for line in filing.lines().iter().flat_map(|line| as_composed(line, &page, &lines)) {
                    assert!(lines.contains(&line), "{kind} {seed} {seat}: {line} is not offered");
                    composed += 1;
                }
            }
        }
    }
    assert!(offered > 20_000 && composed > 1_000, "{offered} lines, {composed} orders");
}

#[test]
fn moves_and_captures_that_a_sheet_lacks_are_refused() {
    let mut refused = 0;
    for (kind, seed) in matches(2) {
        let mut play = Play::new(kind, seed);
        loop {
            let due = play.state.due().map(|due| due.seats).unwrap_or_default();
            for &seat in due.iter().filter(|_| play.adjudications % 12 == 1) {
                let page = Page::of(&play.state, seat).expect("orders are due");
                let lines = page.lines();
                // Every offered line with each other square in the place of its last one.
                let cells: Vec<String> = (0..page.width * page.height).map(|at| page.name(at)).collect();
                for line in
                    lines.iter().step_by(5).filter(|line| cells.iter().any(|at| line.ends_with(at.as_str())))
                {
                    let Some(start) = line.rfind([' ', '-']) else { continue };
                    for other in cells.iter().step_by(3) {
                        let other = format!("{}{other}", &line[..=start]);
                        if lines.contains(&other) {
                            continue;
                        }
                        let stands = may_stand(&play.state, seat, std::slice::from_ref(&other));
                        assert!(!stands, "{kind} {seed} {seat}: {other} is not offered");
                        refused += 1;
                    }
                }
            }
            if play.step().is_none() {
                break;
            }
        }
    }
    assert!(refused > 1_000, "{refused}");
}

#[test]
fn a_seat_that_waits_is_offered_conditions_that_may_stand() {
    for (kind, seed) in matches(2).filter(|(kind, _)| kind.takes_conditions()) {
        let mut play = Play::new(kind, seed);
        for _ in 0..12 {
            let waits = play.state.due().filter(|due| due.seats.len() == 1).map(|due| due.seats[0].other());
            if let Some(seat) = waits {
                let page = Page::of(&play.state, seat).expect("conditions can be sent");
                let lines = page.lines();
                assert!(!lines.is_empty(), "{kind} {seed}");
                for line in lines.iter().step_by(97) {
                    let read = Conditions::read(kind, &[Line { no: 1, text: line.clone() }]);
                    assert!(read.is_ok(), "{kind} {seed}: {line} {read:?}");
                }
            }
            play.step();
        }
    }
}

#[test]
fn a_seat_that_can_send_nothing_has_no_sheet() {
    for &kind in GameKind::ALL {
        let mut play = Play::new(kind, 3);
        while play.step().is_some() {
            let due = play.state.due().map(|due| due.seats).unwrap_or_default();
            for seat in Seat::BOTH {
                let is_offered = play.state.sheet(seat, None).is_some();
                let may_send = due.contains(&seat) || !due.is_empty() && kind.takes_conditions();
                assert_eq!(is_offered, may_send, "{kind} {seat}");
            }
        }
    }
}

//! A seat's board as data for a page that composes order lines: squares, pieces with their targets, the forms of the
//! lines and the limits of a letter.
//!
//! The page knows no rule. A game makes this value from one seat's view, with the functions by which it checks orders,
//! so that nothing is offered that it would refuse. The JSON has short keys because it travels in a link.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::ser::{Serialize, Serializer};
use serde_json::json;

use super::Seat;

/// A board of squares. The page numbers them row by row from the top left: these numbers are the *cells* below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    width: u8,
    height: u8,
    block: u8,
}

impl Grid {
    /// A board whose squares are named by file and rank: A1 is at the bottom left.
    pub(super) const fn of_ranks(width: u8, height: u8) -> Grid {
        Grid { width, height, block: 0 }
    }

    /// A board whose squares are lettered by blocks of `block` × `block`, and numbered within each.
    pub(super) const fn of_blocks(width: u8, height: u8, block: u8) -> Grid {
        Grid { width, height, block }
    }

    /// Returns the cell at a file and a rank, both counted from 0.
    pub(super) fn cell(self, file: u8, rank: u8) -> usize {
        usize::from(self.height - 1 - rank) * usize::from(self.width) + usize::from(file)
    }

    fn count(self) -> usize {
        usize::from(self.width) * usize::from(self.height)
    }

    /// Makes a set of cells, written as a walk round the board.
    pub(super) fn walk(self, cells: impl IntoIterator<Item = usize>) -> Walk {
        // The walk begins before the first cell.
        self.walk_from(self.count() - 1, cells)
    }

    /// Makes a set of cells, written as a walk that begins at a piece's own cell. Pieces with equal moves thus have equal
    /// walks, which compress well.
    pub(super) fn walk_from(self, from: usize, cells: impl IntoIterator<Item = usize>) -> Walk {
        let steps = |cell| (cell + self.count() - from - 1) % self.count() + 1;
        Walk(cells.into_iter().map(steps).collect())
    }
}

/// Cells in their order round the board, as steps from its start. In JSON, each character is a step forward from the cell
/// before, `$` by one, `%` by two, … `}` by ninety, and each `~` adds ninety to the next step. After the last cell comes
/// the first one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk(BTreeSet<usize>);

const LONGEST_STEP: usize = 90;

impl Walk {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The shape and the side of a mark or a piece, such as `Oa`. The page has sixteen shapes: `*` star, `H` home base, `o`
/// and `v` taken stars, `B` ship, `x` enemy, `?` and `.` signs, `S` star, `O` disc, `R` square, `Q` queen, `T` tower, `D`
/// and `d` warships, `u` submarine; and the sides `a`, `b` and `n` for neither.
pub(super) fn look(shape: char, side: Seat) -> String {
    format!("{shape}{}", side_letter(side))
}

/// The letter of a side in a look, and of its ground in a zone.
pub(super) fn side_letter(side: Seat) -> char {
    match side {
        Seat::First => 'a',
        Seat::Second => 'b',
    }
}

/// Everything on the page except the names of the match and the address of the letter.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct SheetBody {
    #[serde(rename = "g")]
    pub grid: Grid,
    /// The colour of each ground and its cells: `a` and `b` the sides', `c` a chequer, `x` no squares.
    #[serde(rename = "z")]
    pub zones: Vec<(char, Walk)>,
    #[serde(rename = "k")]
    pub marks: Vec<Mark>,
    /// The names of looks in the key.
    #[serde(rename = "n", skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, Cow<'static, str>>,
    #[serde(rename = "p")]
    pub pieces: Vec<Piece>,
    /// The kinds of lines, in the order of the letter.
    #[serde(rename = "o")]
    pub kinds: Vec<LineKind>,
    #[serde(rename = "r")]
    pub tallies: Vec<Tally>,
    /// The line of an empty letter; without it, an empty letter is not ready.
    #[serde(rename = "e", skip_serializing_if = "Option::is_none")]
    pub empty: Option<&'static str>,
    #[serde(rename = "h")]
    pub hint: &'static str,
}

/// A sign on the board that cannot be ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub look: String,
    pub text: String,
    pub cells: Walk,
    pub weight: MarkWeight,
}

/// The order in which marks are left out of a link that would be too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkWeight {
    /// News of earlier turns: left out first.
    Memory,
    /// Left out next.
    Plain,
    /// Part of the board.
    Board,
}

/// A piece that can be ordered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The name in an order; empty if orders name only its square.
    pub id: String,
    pub at: usize,
    pub text: String,
    pub look: String,
    /// 0 for the seat's own pieces, 1 for the opponent's, whose moves a condition expects.
    pub group: u8,
    /// The strength that it adds to its square; see [`LineKind::needs`].
    pub weight: u16,
    /// Sets of targets, walks from its own cell, which fields name by their index.
    pub targets: Vec<Walk>,
}

/// A kind of line: its form, and how lines of it exclude each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct LineKind {
    #[serde(rename = "n")]
    pub label: Cow<'static, str>,
    /// The line, in which `{1}` stands for the first field, `{1@}` for the square of a piece, and `{+}` for the next free
    /// number of this kind.
    #[serde(rename = "l")]
    pub form: Cow<'static, str>,
    #[serde(rename = "q")]
    pub fields: Vec<Field>,
    /// Texts that only one line of a letter may hold, filled like the form. A new line replaces lines with an equal one.
    #[serde(rename = "u", skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<Cow<'static, str>>,
    /// The look of what the line puts on its first square, and its text, filled like the form.
    #[serde(rename = "m", skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// Squares, and the weight that must stay there: that of the pieces without a line that leaves, and of what lines put
    /// there.
    #[serde(rename = "d", skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<(Walk, u16)>,
    /// The indices of the fields that hold a weight and the square where the line puts it.
    #[serde(rename = "w", skip_serializing_if = "Option::is_none")]
    pub puts: Option<(u8, u8)>,
    /// Whether the piece leaves its square.
    #[serde(rename = "a", skip_serializing_if = "std::ops::Not::not", serialize_with = "as_one")]
    pub leaves: bool,
    /// Whether the line stands alone in its letter.
    #[serde(rename = "x", skip_serializing_if = "std::ops::Not::not", serialize_with = "as_one")]
    pub alone: bool,
    /// The rank among the lines, if it is not that of the kind.
    #[serde(rename = "y", skip_serializing_if = "Option::is_none")]
    pub rank: Option<u8>,
}

impl LineKind {
    pub(super) fn new(
        label: impl Into<Cow<'static, str>>,
        form: impl Into<Cow<'static, str>>,
        fields: Vec<Field>,
    ) -> LineKind {
        LineKind { label: label.into(), form: form.into(), fields, ..LineKind::default() }
    }

    /// Adds texts that only one line of a letter may hold.
    pub(super) fn unique(mut self, keys: &[&'static str]) -> LineKind {
        self.keys.extend(keys.iter().map(|key| Cow::Borrowed(*key)));
        self
    }
}

/// A part of a line that the board or a form fills in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// A piece of a group.
    Piece(u8),
    /// One of the targets of the piece before it, in the set of this index.
    Target(u8),
    /// The same for the south-west corner of an area of 2 × 2 squares.
    TargetArea(u8),
    /// A square.
    Cell(&'static str, Walk),
    /// The south-west corner of an area of 2 × 2 squares.
    Area(&'static str, Walk),
    /// A square beside the one before it.
    Beside(&'static str, Walk),
    Choice(&'static str, Vec<String>),
    /// A number: the lowest, the highest and the first one shown. Not all numbers of a line are 0.
    Number(&'static str, u16, u16, u16),
    /// One or more of the texts in some order, each at most once.
    Sequence(&'static str, Vec<String>),
}

/// A limit on the lines of some kinds. Above `high` the page takes no line; below `low` a letter is not ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    pub label: &'static str,
    /// The indices of the kinds; for [`Measure::Sum`] with the price of a line, or 0 for the sum of its values.
    pub kinds: Vec<(u8, u16)>,
    pub measure: Measure,
    pub low: u16,
    pub high: u16,
    /// Whether the limit holds for each block of the board by itself.
    pub each_block: bool,
    /// The cells that count; all if `None`.
    pub cells: Option<Walk>,
}

/// The quantity that a tally limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Lines,
    /// The numbers and choices of the lines, or their prices.
    Sum,
    /// The lines with this value.
    LinesOf(u16),
}

impl Tally {
    pub(super) fn new(label: &'static str, kinds: &[u8], measure: Measure, low: u16, high: u16) -> Tally {
        let kinds = kinds.iter().map(|kind| (*kind, 0)).collect();
        Tally { label, kinds, measure, low, high, each_block: false, cells: None }
    }
}

impl SheetBody {
    pub(super) fn new(grid: Grid, hint: &'static str) -> SheetBody {
        SheetBody { grid, hint, ..SheetBody::default() }
    }

    /// Adds a kind and returns its index.
    pub(super) fn add(&mut self, kind: LineKind) -> u8 {
        self.kinds.push(kind);
        u8::try_from(self.kinds.len() - 1).expect("a game has few kinds of lines")
    }

    pub(super) fn name(&mut self, look: impl Into<String>, name: impl Into<Cow<'static, str>>) {
        self.names.insert(look.into(), name.into());
    }

    /// Adds a cell to the mark of this look and text.
    pub(super) fn mark(
        &mut self,
        look: impl Into<String>,
        text: impl Into<String>,
        weight: MarkWeight,
        at: usize,
    ) {
        let cells = self.grid.walk([at]);
        let mark = Mark { look: look.into(), text: text.into(), weight, cells };
        let is_same =
            |other: &&mut Mark| (&other.look, &other.text, other.weight) == (&mark.look, &mark.text, weight);
        match self.marks.iter_mut().find(is_same) {
            Some(other) => other.cells.0.extend(mark.cells.0),
            None => self.marks.push(mark),
        }
    }
}

fn as_one<S: Serializer>(_: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(1)
}

impl Serialize for Grid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The last place is reserved.
        (self.width, self.height, self.block, 0).serialize(serializer)
    }
}

impl Serialize for Walk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut walk = String::with_capacity(self.0.len());
        let mut at = 0;
        for step in &self.0 {
            let mut ahead = step - at;
            while ahead > LONGEST_STEP {
                walk.push('~');
                ahead -= LONGEST_STEP;
            }
            // At most 90, so at most `}`.
            walk.push(char::from(b'#' + ahead as u8));
            at = *step;
        }
        serializer.serialize_str(&walk)
    }
}

impl Serialize for Mark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.look, &self.text, &self.cells).serialize(serializer)
    }
}

impl Serialize for Piece {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Piece { id, at, text, look, group, weight, targets } = self;
        let mut list = vec![json!(id), json!(at), json!(text), json!(look), json!(group), json!(weight)];
        list.extend(targets.iter().map(|set| json!(set)));
        list.serialize(serializer)
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Field::Piece(group) => ("p", group).serialize(serializer),
            Field::Target(set) => ("t", set).serialize(serializer),
            Field::TargetArea(set) => ("t", set, 2).serialize(serializer),
            Field::Cell(label, cells) => ("c", label, cells).serialize(serializer),
            Field::Area(label, cells) => ("c", label, cells, 2).serialize(serializer),
            Field::Beside(label, cells) => ("k", label, cells).serialize(serializer),
            Field::Choice(label, texts) => ("o", label, texts).serialize(serializer),
            Field::Number(label, low, high, first) => ("#", label, low, high, first).serialize(serializer),
            Field::Sequence(label, texts) => ("s", label, texts).serialize(serializer),
        }
    }
}

impl Serialize for Tally {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Tally { label, kinds, measure, low, high, each_block, cells } = self;
        let kinds =
            kinds.iter().map(|(kind, price)| if *price == 0 { json!(kind) } else { json!([kind, price]) });
        let what = match measure {
            Measure::Lines => "#".to_owned(),
            Measure::Sum => "+".to_owned(),
            Measure::LinesOf(value) => format!("={value}"),
        };
        let mut list = vec![json!(label), kinds.collect(), json!(what), json!(low), json!(high)];
        if *each_block || cells.is_some() {
            list.push(json!(u8::from(*each_block)));
        }
        list.extend(cells.iter().map(|cells| json!(cells)));
        list.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_steps_round_the_board_from_its_start() {
        let grid = Grid::of_ranks(11, 11);
        for (from, cells, expected) in [
            (None, vec![0, 1, 3], "$$%"),
            (None, vec![120, 0], "$~A"),
            (None, vec![0, 0], "$"),
            (Some(5), vec![6, 4], "$~@"),
            (Some(5), vec![], ""),
            (None, vec![89, 90], "}$"),
            (None, vec![90], "~$"),
        ] {
            let walk = match from {
                Some(from) => grid.walk_from(from, cells.iter().copied()),
                None => grid.walk(cells.iter().copied()),
            };
            assert_eq!(json!(walk), expected, "{from:?} {cells:?}");
        }
        assert_eq!(json!(Grid::of_ranks(16, 16).walk([255])), "~~o");
    }
}

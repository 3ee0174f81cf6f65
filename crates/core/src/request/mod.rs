//! Reads orders and commands, line by line, in the new text of a letter.
//!
//! A line that starts like an order or a command is one. A line that holds an order without being one is
//! doubtful: nothing is filed, and its author is asked. Any other line is a remark, which is kept and has no
//! effect. The game decides whether the orders are legal, and the referee whether the commands are carried
//! out.
//!
//! `END` ends the text of a `TELL` or a `PROTEST`, and reading continues below; elsewhere it ends the
//! reading. A line `MATCH QZ-7K3M` also ends such a text, and begins the part of the letter for that match.
//! Orders never reach the opponent in a message: a `TELL` with a line in its text that starts like an order
//! is a fault.
//!
//! The number of requests in one letter is bounded: see [`LeftOut`].

use std::cell::OnceCell;
use std::ops::RangeInclusive;

use beside::LetterLines;
use bounds::{MAX_LINE, start_of};
use command::ParsedLine;
use grammar::orders_of;
use normalized::NormalizedLine;
use part::match_named_by;

pub use crate::dialect::COMMAND_WORDS;
use crate::game::any::GameKind;
use crate::game::{Fault, Line};
use crate::letter::{NewText, WrittenLine, split_words};

mod beside;
mod bounds;
mod command;
mod doubt;
mod grammar;
mod meant;
mod normalized;
mod part;
mod proof;
mod table;
mod texts;
pub mod wish;
mod wording;

pub use beside::{Beside, Writer, takes_back};
pub use bounds::{LeftOut, MAX_COMMANDS, MAX_FAULTS, MAX_ORDERS};
pub use command::{Command, CommandKind, NumberedCommand, Party, Whom};
pub use doubt::{Doubt, DoubtKind};
pub use grammar::Grammar;
pub use part::{first_match_line, matches_named_in, matches_with_parts, part_for};
pub use table::Proof;
pub use texts::says_nothing;
pub use wish::CAPTURE_ALL;

/// The orders, commands and remarks in a letter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `CHECK`: check the orders, but file nothing.
    pub check: bool,
    /// `WAIT`: do not adjudicate the phase before its deadline.
    pub wait: bool,
    /// `TURN n`: the turn of the orders.
    pub turn: Option<u32>,
    /// The orders, ready to parse: without bullets, comments, stray punctuation and look-alike letters.
    /// Several orders on one line of the letter share its number.
    pub orders: Vec<Line>,
    pub commands: Vec<NumberedCommand>,
    /// Lines that are neither orders nor commands, as written.
    pub remarks: Vec<Line>,
    /// Lines that are orders of another game, as written. They have no effect here, and are not remarks,
    /// which somebody else may read.
    pub elsewhere: Vec<OrderElsewhere>,
    /// Commands that were not understood, and contradictions. If there are any, nothing is filed.
    pub faults: Vec<Fault>,
    /// Lines that leave open whether they give an order. If there are any, nothing is filed, and the author
    /// is asked.
    pub doubts: Vec<Doubt>,
    /// The number of a line `YES`, which files the orders that the last answer offered to file.
    pub yes: Option<usize>,
    /// The matches in lines `MATCH QZ-7K3M`.
    pub sections: Vec<String>,
    /// The matches named in other lines: remarks and headings.
    pub named_matches: Vec<String>,
    /// Whether a line `END` ended the reading.
    pub ended: bool,
    /// Counts of the items beyond the bounds, which are missing above.
    pub left_out: LeftOut,
    written: Vec<Line>,
    /// The meanings of the lines in `written`, as far as they were read.
    kinds: Vec<LineKind>,
}

/// Returns the new lines of a letter as lines of orders; none if it has no text that can be read.
pub fn lines_of(written: NewText) -> Vec<Line> {
    written.lines.into_iter().map(|WrittenLine { no, text }| Line { no, text }).collect()
}

impl Request {
    /// Reads the new lines of a letter. `grammar` knows the orders of the match's game; without a match, pass
    /// `|_: &str| false`.
    pub fn read(lines: &[Line], grammar: impl Grammar) -> Request {
        RequestParser::new(lines, grammar, &[]).read()
    }

    /// Reads the new lines of a letter whose texts are passed on. A line in such a text that starts like an
    /// order of one of the `other_games` is also a fault, and then none of the letter's texts is passed on.
    pub fn read_with_texts(lines: &[Line], game: GameKind, other_games: &[GameKind]) -> Request {
        let mut parser = RequestParser::new(lines, game, other_games);
        parser.withholds_all_texts = true;
        parser.read()
    }

    /// Whether the letter has a text that is passed on.
    pub fn passes_texts_on(&self) -> bool {
        self.commands.iter().any(|asked| asked.command.text().is_some())
    }

    /// Whether the letter asks for nothing.
    pub fn is_empty(&self) -> bool {
        !self.check
            && !self.wait
            && self.turn.is_none()
            && self.orders.is_empty()
            && self.commands.is_empty()
            && self.faults.is_empty()
            && self.doubts.is_empty()
    }

    /// Returns what the letter says beside its orders and commands.
    pub fn beside(&self, writer: Writer<'_>) -> Beside {
        LetterLines::new(&self.written, &self.kinds, writer).beside()
    }

    /// Returns the lines of a letter that are neither orders nor commands nor courtesies.
    pub fn other_lines<'a>(&'a self, writer: Writer<'a>) -> Vec<&'a str> {
        LetterLines::new(&self.written, &self.kinds, writer).other_lines().collect()
    }

    /// Returns the lines that may be meant for a person: the remarks, and the doubtful lines that say more than an order.
    pub fn said(&self) -> Vec<Line> {
        let is_new = |line: &Line| self.remarks.iter().all(|remark| remark.no != line.no);
        let doubtful = self.doubts.iter().filter_map(|doubt| {
            let text = self.written(doubt.line)?;
            doubt.is_about_words(text).then(|| Line { no: doubt.line, text: text.to_owned() })
        });
        let mut said: Vec<Line> = doubtful.filter(is_new).chain(self.remarks.iter().cloned()).collect();
        said.sort_by_key(|line| line.no);
        said.dedup();
        said
    }

    /// Whether the letter has words that may change or take back orders that stand. `setups` are the names of ready
    /// setups where one is due.
    pub fn may_change_what_stands(&self, setups: &[&str]) -> bool {
        use DoubtKind::{Changes, Denied, InWords, Postponed};
        let changes = |doubt: &Doubt| matches!(doubt.kind, Changes | Denied | InWords | Postponed);
        self.doubts.iter().any(changes) || wish::may_take_orders_back(&self.said(), setups)
    }

    /// Lets the letter's words count as the line that our question asks for.
    pub fn take_words_as_answer(&mut self) {
        self.remarks.clear();
        self.kinds
            .iter_mut()
            .filter(|kind| **kind == LineKind::Remark)
            .for_each(|kind| *kind = LineKind::Modifier);
    }

    /// Turns commands that the letter's other words may take back into faults, which ask for their lines alone.
    pub fn hold_back(mut self, beside: Beside) -> Request {
        self.hold_back_if(|asked| asked.command.is_held_back_by(beside), BESIDE_WORDS);
        self
    }

    fn hold_back_if(&mut self, is_held_back: impl Fn(&NumberedCommand) -> bool, reason: &str) {
        let Request { commands, faults, written, .. } = self;
        commands.retain(|asked| {
            if !is_held_back(asked) {
                return true;
            }
            let line = written.iter().find(|line| line.no == asked.line).map_or("", |line| line.text.trim());
            if faults.len() < MAX_FAULTS {
                faults.push(with_example(Fault::doubt(asked.line, reason), line));
            }
            false
        });
    }

    /// Puts the orders, `YES` and the commands on these lines in doubt, because an older letter may hold them.
    pub fn doubt_age(&mut self, lines: RangeInclusive<usize>) {
        let orders = self.orders.iter().map(|order| order.no).chain(self.yes);
        let is_doubted = |no: &usize| self.doubts.iter().any(|doubt| doubt.line == *no);
        let mut old: Vec<usize> = orders.filter(|no| lines.contains(no) && !is_doubted(no)).collect();
        old.sort_unstable();
        old.dedup();
        self.doubts.extend(old.into_iter().map(|no| Doubt::new(no, DoubtKind::MayBeOld)));
        self.hold_back_if(
            |asked| lines.contains(&asked.line) && asked.command.is_held_back_by(Beside::Sign),
            MAY_BE_OLD,
        );
    }

    /// Adds a line below the letter's own lines, and a doubt about it.
    pub fn doubt(&mut self, text: &str, kind: DoubtKind, held: Vec<String>) {
        let line = self.written.last().map_or(0, |last| last.no) + 1;
        self.written.push(Line { no: line, text: text.to_owned() });
        self.doubts.push(Doubt { line, kind, found_orders: held });
    }

    /// Replaces malformed lines of orders, and doubts that found no order, by one doubt about what the letter's own
    /// words mean.
    pub fn doubt_words(&mut self, kind: DoubtKind, found_orders: Vec<String>) {
        let is_said =
            |kind: &LineKind| matches!(kind, LineKind::Remark | LineKind::Order | LineKind::Doubtful);
        let said = self.written.iter().zip(&self.kinds).find(|(_, kind)| is_said(kind));
        let Some(line) = said.map(|(line, _)| line.no) else { return };
        self.orders.clear();
        self.doubts.clear();
        self.remarks.retain(|remark| remark.no != line);
        self.doubts.push(Doubt { line, kind, found_orders });
    }

    /// Returns all lines, as written.
    pub fn lines(&self) -> &[Line] {
        &self.written
    }

    /// Returns line `no` of the letter, as written.
    pub fn written(&self, no: usize) -> Option<&str> {
        // Lines that a mail program joined have one number; the first of them stands for all.
        let first = self.written.partition_point(|line| line.no < no);
        self.written.get(first).filter(|line| line.no == no).map(|line| line.text.as_str())
    }
}

/// Whether [`read`] takes a line for an order of a game, well-formed or not.
pub fn reads_as_order(line: &str, game: GameKind) -> bool {
    let wording = NormalizedLine::of(line);
    !wording.is_empty() && orders_of(&game, &wording).is_some()
}

/// Why a command is not carried out beside other words.
const BESIDE_WORDS: &str = "Your letter says more than this line, and I cannot tell whether the rest takes it back. So I have not carried it out. If you mean it, please answer with this line alone:";

/// Why a command is not carried out below a line that may introduce an older letter.
const MAY_BE_OLD: &str = "This stands below what may be the heading of an older letter, so I have not carried it out. If you mean it now, please answer with this line alone:";

/// The meaning of a line of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// It is empty, or a comment.
    Blank,
    Order,
    /// `CHECK`, `WAIT`, `TURN 4`, `MATCH QZ-7K3M`, `END` or `YES`.
    Modifier,
    /// A command, even a faulty one, or a line of its text.
    Command,
    /// It holds an order without being one.
    Doubtful,
    /// It is an order of another game.
    Elsewhere,
    Remark,
}

/// A line that is an order of a game other than that of the letter's match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderElsewhere {
    pub line: Line,
    pub game: GameKind,
}

struct RequestParser<'a, G> {
    lines: &'a [Line],
    at: usize,
    /// The meaning of the lines that were read so far.
    kinds: Vec<LineKind>,
    /// Whether capitals mark a command. In a letter that is wholly in capitals, they mark nothing.
    capitals_mark: bool,
    /// Whether only one line says anything.
    is_one_line: bool,
    /// The last line `END`, found when first needed. Searching again at each `tell me …` would be quadratic.
    last_end: OnceCell<Option<usize>>,
    grammar: G,
    /// Other games of the player, whose orders no text may hold either.
    other_games: &'a [GameKind],
    /// Whether a text that holds an order keeps the letter's other texts from being passed on.
    withholds_all_texts: bool,
    /// The first line in a text that reads as an order or a command, and so is not meant for its reader.
    held_in_text: Option<usize>,
    request: Request,
}

/// Maximum remarks of a letter that is searched for one that says that all ships stay.
const MAX_HOLD_LINES: usize = 50;

/// Maximum lines that begin like orders and are taken for words. The referee explains each doubt, and bounds only orders.
const MAX_PROSE: usize = 10;

/// Maximum lines of words in a letter that are searched for orders. No person writes more; further lines stay words.
const MAX_WORDS: usize = 1_000;

/// Maximum words of a modifier, such as `TURN 4`, with the words around it.
const MAX_MODIFIER: usize = 16;

/// Maximum words of each of the two lines on which an order may stand.
const MAX_WORDS_OF_HALF: usize = 4;

/// Maximum settings that one letter can change.
pub const MAX_SETTINGS: usize = 20;

/// The bar before the examples in our letters, which keeps a quote of them from being read as orders.
const BAR: char = '|';

impl<'a, G: Grammar> RequestParser<'a, G> {
    fn new(lines: &'a [Line], grammar: G, other_games: &'a [GameKind]) -> Self {
        RequestParser {
            lines,
            at: 0,
            kinds: Vec::with_capacity(lines.len()),
            capitals_mark: !is_in_capitals(lines),
            is_one_line: lines.iter().filter(|line| !line.text.trim().is_empty()).take(2).count() == 1,
            last_end: OnceCell::new(),
            grammar,
            other_games,
            withholds_all_texts: false,
            held_in_text: None,
            request: Request::default(),
        }
    }

    fn read(mut self) -> Request {
        while self.at < self.lines.len() && !self.request.ended {
            let kind = self.line();
            // A text command takes several lines, all of the same kind.
            self.kinds.resize(self.at, kind);
        }
        self.take_prose_as_words();
        self.doubt_meaning();
        self.doubt_unread_orders();
        self.check_withdrawal();
        if let Some(held) = self.held_in_text.filter(|_| self.withholds_all_texts) {
            self.withhold_texts(held);
        }
        self.request.written = self.lines.to_vec();
        self.request.kinds = self.kinds;
        self.request.bound();
        self.request
    }

    /// Adds a command. All SETTINGS lines of a letter are one command: all are accepted, or none is.
    fn add_command(&mut self, line: usize, command: Command) {
        if let Command::Settings(settings) = &command
            && let Some(earlier) =
                self.request.commands.iter_mut().find_map(|earlier| match &mut earlier.command {
                    Command::Settings(earlier) => Some(earlier),
                    _ => None,
                })
        {
            earlier.extend(settings.iter().cloned());
            // Keep one more than allowed, so that the answer can tell that there are too many.
            earlier.truncate(MAX_SETTINGS + 1);
            return;
        }
        self.request.commands.push(NumberedCommand { line, command });
    }

    /// Reads the line at `at`, and the lines below that belong to it. Returns its meaning.
    fn line(&mut self) -> LineKind {
        let line = &self.lines[self.at];
        self.at += 1;
        let is_long = line.text.len() > MAX_LINE;
        if is_long && !self.begins_text(line) {
            return self.long_line(line);
        }
        // A letter of one line is no quote of our examples, so the bar in front of it was copied with the example.
        let example = line.text.trim_start().strip_prefix(BAR).filter(|_| self.is_one_line);
        let wording = NormalizedLine::of(example.unwrap_or(&line.text)).in_letter(self.capitals_mark);
        if wording.is_empty() {
            return LineKind::Blank;
        }
        if let Some(doubt) = self.bullet_doubt(line.no, &wording) {
            self.request.doubts.push(doubt);
            return LineKind::Doubtful;
        }
        // No long line is an order.
        let orders = if is_long { None } else { orders_of(&self.grammar, &wording) };
        let are_whole = orders.as_ref().is_some_and(|orders| self.are_whole(orders));
        if let Some(order) = self.order_of_two_lines(line, &wording, are_whole) {
            self.at += 1;
            self.request.orders.push(Line { no: line.no, text: order });
            return LineKind::Order;
        }
        if let Some(orders) = orders.filter(|orders| !self.is_prose_in_capitals(orders)) {
            let doubt = || self.doubt_about_malformed(line.no, &wording, &orders);
            if let Some(doubt) = (!are_whole).then(doubt).flatten() {
                self.request.doubts.push(doubt);
                return LineKind::Doubtful;
            }
            self.request.orders.extend(orders.into_iter().map(|text| Line { no: line.no, text }));
            return LineKind::Order;
        }
        if !self.ends_sentence(&wording)
            && let Some(kind) = self.modifier(line.no, &wording).or_else(|| self.command(line.no, &wording))
        {
            return kind;
        }
        if wording.plain.contains('-') {
            self.request.named_matches.extend(wording.words().filter_map(match_named_by));
        }
        if let Some(game) = self.grammar.game_elsewhere(&normalized::as_order(&wording.plain)) {
            self.request.elsewhere.push(OrderElsewhere { line: line.clone(), game });
            return LineKind::Elsewhere;
        }
        match self.copied_example(line.no, &wording).or_else(|| self.doubt(line.no, &wording)) {
            Some(doubt) => {
                self.request.doubts.push(doubt);
                LineKind::Doubtful
            }
            None => {
                self.request.remarks.push(line.clone());
                LineKind::Remark
            }
        }
    }

    fn are_whole(&self, orders: &[String]) -> bool {
        orders.iter().all(|order| self.grammar.is_order(order))
    }

    /// Returns the order that a line and the next one hold together, if they are not an order each: `SHIP 1 A3` above
    /// `TO B2`.
    fn order_of_two_lines(&self, line: &Line, wording: &NormalizedLine, is_order: bool) -> Option<String> {
        let is_short = |wording: &NormalizedLine| (1..=MAX_WORDS_OF_HALF).contains(&wording.words().count());
        let continues = |next: &&Line| next.text.contains(|c: char| c.is_ascii_digit());
        let next = self.lines.get(self.at).filter(continues).filter(|_| is_short(wording))?;
        let below = NormalizedLine::of(&next.text).in_letter(self.capitals_mark);
        if !is_short(&below) || is_order && orders_of(&self.grammar, &below).is_some() {
            return None;
        }
        let both = NormalizedLine::of(&format!("{} {}", line.text, next.text)).in_letter(self.capitals_mark);
        let orders = orders_of(&self.grammar, &both).filter(|orders| self.are_whole(orders))?;
        <[String; 1]>::try_from(orders).ok().map(|[order]| order)
    }

    /// Whether a line only begins like an order, without a number, in a letter that is wholly in capitals.
    fn is_prose_in_capitals(&self, orders: &[String]) -> bool {
        let is_prose = |order: &String| {
            !order.contains(|c: char| c.is_ascii_digit())
                && order.split(' ').count() > 2
                && !self.grammar.is_order(order)
        };
        !self.capitals_mark && orders.iter().all(is_prose)
    }

    /// Takes a few lines that only begin like orders for words, if the letter has no other orders: "Ship happens!" One with
    /// a square stays in doubt.
    fn take_prose_as_words(&mut self) {
        let is_prose =
            |order: &Line| !self.grammar.is_order(&order.text) && doubt::is_prose(&self.grammar, &order.text);
        if self.request.orders.len() > MAX_PROSE || !self.request.orders.iter().all(is_prose) {
            return;
        }
        for order in std::mem::take(&mut self.request.orders) {
            let Some(at) = self.lines.iter().position(|line| line.no == order.no) else { continue };
            if split_words(&order.text).any(normalized::is_square) {
                self.kinds[at] = LineKind::Doubtful;
                self.request.doubts.push(Doubt::new(order.no, DoubtKind::Inside));
            } else {
                self.kinds[at] = LineKind::Remark;
                self.request.remarks.push(self.lines[at].clone());
            }
        }
        self.request.remarks.sort_by_key(|remark| remark.no);
    }

    /// Adds doubts, because of the words around them, about orders that parse and about `YES`.
    fn doubt_meaning(&mut self) {
        let read = &self.lines[..self.kinds.len()];
        let with_order_at = |no: usize| -> Vec<LineKind> {
            let kinds = read.iter().zip(&self.kinds);
            kinds.map(|(line, kind)| if line.no == no { LineKind::Order } else { *kind }).collect()
        };
        let Request { orders, doubts, yes, .. } = &mut self.request;
        if !orders.is_empty() {
            doubts.extend(meant::doubts(read, &self.kinds));
        } else if let Some(no) = *yes {
            doubts.extend(meant::doubts(read, &with_order_at(no)));
        }
    }

    /// Adds the doubts about a letter that asks for nothing, but says that all ships stay, or holds its orders
    /// below a line `END`.
    fn doubt_unread_orders(&mut self) {
        if !self.request.is_empty() || self.request.yes.is_some() {
            return;
        }
        let below = self.lines[self.kinds.len()..].iter().filter(|_| self.request.ended);
        let held = below.filter_map(|line| {
            let held = orders_of(&self.grammar, &NormalizedLine::of(&line.text))?;
            self.are_whole(&held).then_some(Doubt {
                line: line.no,
                kind: DoubtKind::BelowEnd,
                found_orders: held,
            })
        });
        let below: Vec<Doubt> = held.collect();
        let remarks = self.request.remarks.iter().take(MAX_HOLD_LINES);
        let hold = remarks.into_iter().find(|line| wish::holds_in_words(&line.text));
        let order = ["HOLD", "PASS"].into_iter().find(|order| self.grammar.is_order(order));
        if let (true, Some(line), Some(order)) = (below.is_empty(), hold, order) {
            let held = vec![order.to_owned()];
            self.request.doubts.push(Doubt { line: line.no, kind: DoubtKind::InWords, found_orders: held });
        } else if let (true, Some((no, square))) = (below.is_empty(), self.square_in_words()) {
            let kind = DoubtKind::InWords;
            self.request.doubts.push(Doubt { line: no, kind, found_orders: vec![square] });
        }
        self.request.doubts.extend(below);
    }

    /// Returns the only square that remarks name among words of orders, with the number of its line, if it is an order.
    fn square_in_words(&self) -> Option<(usize, String)> {
        let remarks = self.request.remarks.iter().take(MAX_HOLD_LINES);
        let named = remarks.filter(|line| line.text.contains(|c: char| c.is_ascii_digit()));
        let [line] = named.collect::<Vec<_>>()[..] else { return None };
        let square = wish::square_in_words(&line.text).filter(|square| self.grammar.is_order(square))?;
        Some((line.no, square))
    }

    /// Returns the doubt about a line that begins like an order, but continues with other words: `SHIP 1 A3
    /// nach B2`, `MARBLE G7, good luck!`
    fn doubt_about_malformed(&self, no: usize, wording: &NormalizedLine, orders: &[String]) -> Option<Doubt> {
        let [order] = orders else { return None };
        if !doubt::has_foreign_word(&self.grammar, order) {
            return None;
        }
        self.doubt_in_words(no, wording)
            .or_else(|| doubt::order_and_words(&self.grammar, no, &wording.plain))
            .or_else(|| doubt::denied_order(no, &wording.plain))
    }

    /// Returns the doubt about a line of orders in words.
    fn doubt_in_words(&self, no: usize, wording: &NormalizedLine) -> Option<Doubt> {
        let written = wording.as_written();
        let held = wish::orders_in_words(written)?;
        let is_possible = |order: &String| {
            self.grammar.is_order(order)
                || doubt::is_move(&self.grammar, order)
                || self.grammar.verbs().contains(&order.as_str())
        };
        held.iter().all(is_possible).then_some(Doubt {
            line: no,
            kind: DoubtKind::InWords,
            found_orders: held,
        })
    }

    /// Returns the doubt about a line whose number or bullet may belong to the order.
    fn bullet_doubt(&self, no: usize, wording: &NormalizedLine) -> Option<Doubt> {
        let bullet = wording.bullet();
        if bullet.is_empty() {
            return None;
        }
        let meant = self.grammar.with_bullet(bullet, &normalized::as_order(&wording.plain))?;
        Some(Doubt { line: no, kind: DoubtKind::Bullet(bullet.to_owned()), found_orders: vec![meant] })
    }

    /// Returns the doubt about a line with the bar of our examples. Only lines without it are orders, because
    /// a reply may quote all our examples.
    fn copied_example(&self, no: usize, wording: &NormalizedLine) -> Option<Doubt> {
        let bare = NormalizedLine::of(wording.plain.strip_prefix(BAR)?);
        let is_command = || matches!(command::read(&bare, || false), ParsedLine::Command(_));
        if orders_of(&self.grammar, &bare).is_none() && !is_command() {
            return None;
        }
        Some(Doubt { line: no, kind: DoubtKind::Example, found_orders: vec![bare.plain] })
    }

    /// Returns the doubt about a line that holds an order.
    fn doubt(&self, no: usize, wording: &NormalizedLine) -> Option<Doubt> {
        let words = self.request.remarks.len() + self.request.doubts.len();
        if self.grammar.verbs().is_empty() || words >= MAX_WORDS {
            return None;
        }
        let in_words = self.doubt_in_words(no, wording);
        let held = match self.capitals_mark {
            true => doubt::order_and_words(&self.grammar, no, &wording.plain)
                .or_else(|| doubt::held_orders(&self.grammar, no, &wording.plain)),
            // There, `HOLD` is only a word.
            false => doubt::held_orders(&self.grammar, no, &wording.plain.to_lowercase()),
        };
        // An order that the line contains verbatim needs no translation.
        let is_same = in_words.as_ref().zip(held.as_ref()).is_some_and(|(one, other)| {
            let both = one.found_orders.iter().zip(&other.found_orders);
            other.kind == DoubtKind::Inside
                && one.found_orders.len() == other.found_orders.len()
                && both.clone().all(|(one, other)| one.eq_ignore_ascii_case(other))
        });
        let found = if is_same { held } else { in_words.or(held) };
        // "Delete SHIP 1 A3 TO B2" offers nothing.
        found.map(|doubt| doubt::unless_denied(takes_back(wording.as_written()), doubt))
    }

    /// Adds a fault for `WITHDRAW` together with new orders, which could mean either the old or the new ones.
    fn check_withdrawal(&mut self) {
        let request = &mut self.request;
        let withdrawal = request.commands.iter().find(|asked| asked.command == Command::Withdraw);
        if let Some(NumberedCommand { line, .. }) = withdrawal.filter(|_| !request.orders.is_empty()) {
            let reason = "This letter takes orders back and also holds orders. New orders replace the old ones by themselves; WITHDRAW stands alone.";
            request.faults.push(Fault::on(*line, reason).with_example("WITHDRAW"));
        }
    }

    /// Reads a line that is too long for an order or a command.
    fn long_line(&mut self, line: &Line) -> LineKind {
        let wording = NormalizedLine::of(start_of(&line.text));
        let is_command = !matches!(command::read(&wording, || false), ParsedLine::Remark);
        if !is_command && orders_of(&self.grammar, &wording).is_none() {
            self.request.remarks.push(line.clone());
            return LineKind::Remark;
        }
        let reason = format!(
            "This line has {} characters. Please give each order and each command a line of its own.",
            line.text.chars().count()
        );
        self.request.faults.push(Fault::on(line.no, reason));
        LineKind::Command
    }

    /// Whether a line is the last word of a sentence that was wrapped: "… I do not want a / draw."
    fn ends_sentence(&self, wording: &NormalizedLine) -> bool {
        let is_word = wording.words().count() == 1 && wording.plain.starts_with(char::is_lowercase);
        is_word && meant::breaks_off(&self.lines[..self.kinds.len()], &self.kinds)
    }

    /// Reads `END`, `CHECK`, `WAIT` and `TURN n`. Returns the kind of the line if it is one of them.
    fn modifier(&mut self, no: usize, wording: &NormalizedLine) -> Option<LineKind> {
        // One word too many shows that the line is no modifier.
        let words: Vec<String> =
            wording.words().take(MAX_MODIFIER + 1).map(str::to_ascii_uppercase).collect();
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["END"] => self.request.ended = true,
            ["CHECK"] => self.request.check = true,
            ["CHECK", ref rest @ ..] if rest.len() < MAX_MODIFIER && doubt::points_at_orders(rest) => {
                self.request.check = true
            }
            ["WAIT"] => self.request.wait = true,
            ["MATCH", name] if match_named_by(name).is_some() => {
                self.request.sections.extend(match_named_by(name));
            }
            ["YES"] => self.request.yes = Some(no),
            ["CHECK", ..] => {
                let rest = wording.after_first_word();
                let order = normalized::as_order(rest);
                if !self.grammar.begins_order(&order) {
                    return None;
                }
                self.request.check = true;
                self.request.orders.push(Line { no, text: order });
                return Some(LineKind::Order);
            }
            [..] => {
                let turn = named_turn(&words).or_else(|| turn_in_words(wording))?;
                if self.request.turn.is_some_and(|before| before != turn) {
                    let fault =
                        Fault::on(no, "The letter names two turns. Write the orders of one turn only.");
                    self.request.faults.push(fault.with_example(format!("TURN {turn}")));
                }
                self.request.turn = Some(turn);
            }
        }
        Some(LineKind::Modifier)
    }

    /// Reads a command. Returns the kind of the line if it is a command, understood or not.
    fn command(&mut self, no: usize, wording: &NormalizedLine) -> Option<LineKind> {
        match command::read(wording, || self.has_end()) {
            ParsedLine::Remark => return None,
            ParsedLine::Command(command) => self.add_command(no, command),
            ParsedLine::Fault { reason, example } => {
                self.request.faults.push(with_example(Fault::on(no, reason), example));
            }
            ParsedLine::Tell => self.passed_on(no, wording, &texts::TELL),
            ParsedLine::TellGm => self.passed_on(no, wording, &texts::TELL_GM),
            ParsedLine::Protest => self.passed_on(no, wording, &texts::PROTEST),
        }
        Some(LineKind::Command)
    }
}

/// Returns the fault with an example, unless that is empty.
fn with_example(fault: Fault, example: &str) -> Fault {
    if example.is_empty() { fault } else { fault.with_example(example) }
}

/// Minimum words of a line of prose, which distinguishes a letter that is wholly in capitals from one of
/// commands.
const PROSE: usize = 5;

/// Whether a letter is wholly in capitals: it has no small letters, but it has a line of prose.
fn is_in_capitals(lines: &[Line]) -> bool {
    let is_word =
        |word: &&str| word.chars().any(char::is_alphabetic) && !word.contains(|c: char| c.is_ascii_digit());
    let is_prose = |line: &Line| line.text.split_whitespace().filter(is_word).take(PROSE).count() == PROSE;
    lines.iter().any(is_prose) && !lines.iter().any(|line| line.text.contains(char::is_lowercase))
}

/// Maximum words of a line without a colon that names a turn in other words than `TURN 4`.
const MAX_TURN_WORDS: usize = 4;

/// Returns the turn that a heading names in one of the languages.
fn turn_in_words(wording: &NormalizedLine) -> Option<u32> {
    let text = wording.uncommented();
    let is_heading = text.ends_with([':', '：'])
        || (wording.words().count() <= MAX_TURN_WORDS && !text.ends_with(['.', '。']));
    if is_heading && !wording.is_asked() { wish::turn_in_words(&wording.plain) } else { None }
}

/// Words that may surround `TURN 4` in a heading such as `My orders for turn 4:`.
const HEADING: [&str; 11] =
    ["MY", "THE", "HERE", "ARE", "IS", "ORDER", "ORDERS", "MOVE", "MOVES", "FOR", "OF"];

/// The words of a heading that announce orders below it.
const SUBJECTS: [&str; 4] = ["ORDER", "ORDERS", "MOVE", "MOVES"];

/// Returns the turn that a line in capitals names, if the line says nothing else: `TURN 4`, or a heading.
fn named_turn(words: &[String]) -> Option<u32> {
    let is_heading = words.iter().any(|word| SUBJECTS.contains(&word.as_str()));
    let rest: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !is_heading || !HEADING.contains(word)).collect();
    match rest[..] {
        ["TURN", number] => number.parse().ok(),
        _ => None,
    }
}

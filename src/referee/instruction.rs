//! The GM's instructions, by letter or at the terminal: `GM MATCH QZ-7K3M EXTEND 3 days TURN 4`. Parsed here and
//! carried out by the shell.

use super::act::Act;
use crate::game::{Line, Seat};
use crate::letter::Address;
use crate::request::Party;

/// One instruction from the GM.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    Match {
        id: String,
        /// The turn it is meant for. If another turn is open, nothing is done.
        turn: Option<u32>,
        action: MatchAction,
    },
    List(Listing),
    New {
        game: String,
        first: Party,
        second: Party,
        options: Vec<(String, String)>,
        days: Option<u32>,
    },
    PlayerAdd {
        address: Address,
        name: String,
    },
    PlayerShow(Address),
    PlayerRename {
        address: Address,
        name: String,
    },
    /// Gives everything that belongs to `gone` to `into`.
    PlayerMerge {
        gone: Address,
        into: Address,
    },
    PlayerBounceClear(Address),
    /// Letters from the player go unread, or are read again.
    PlayerBlock {
        address: Address,
        on: bool,
    },
    Digest,
}

/// What the GM wants done with a match.
#[derive(Clone, Debug, PartialEq)]
pub enum MatchAction {
    Act(Act),
    /// Gives the seat to another player or to the house.
    Replace {
        seat: Seat,
        by: Party,
    },
    /// Reopens an adjudicated turn, or decides it on other orders. The shell adds the rest of the `Correction` from the
    /// ledger.
    Correct {
        turn: u32,
        reason: String,
        orders: Option<(Seat, Vec<Line>)>,
    },
}

impl Instruction {
    /// Whether it changes a match or a person, and does not only ask.
    pub fn changes_something(&self) -> bool {
        match self {
            Instruction::Match { .. }
            | Instruction::New { .. }
            | Instruction::PlayerAdd { .. }
            | Instruction::PlayerRename { .. }
            | Instruction::PlayerMerge { .. }
            | Instruction::PlayerBounceClear(_)
            | Instruction::PlayerBlock { .. } => true,
            Instruction::List(_) | Instruction::PlayerShow(_) | Instruction::Digest => false,
        }
    }
}

/// Which matches to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    /// Every match that is not over.
    #[default]
    All,
    Running,
    /// The deadline has passed, or the GM was asked.
    Late,
    Paused,
    Protests,
}

impl Listing {
    pub fn parse(text: &str) -> Option<Listing> {
        match text.to_ascii_lowercase().as_str() {
            "all" => Some(Listing::All),
            "running" => Some(Listing::Running),
            "late" => Some(Listing::Late),
            "paused" => Some(Listing::Paused),
            "protests" => Some(Listing::Protests),
            _ => None,
        }
    }
}

/// A line that begins with `GM`: its instruction, or what is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionLine {
    pub line: Line,
    pub parsed: Result<Instruction, InstructionFault>,
}

/// Why a line is not a valid instruction, as a sentence, and an example of a valid one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFault {
    pub reason: String,
    pub example: &'static str,
}

impl InstructionFault {
    fn new(reason: impl Into<String>, example: &'static str) -> Self {
        InstructionFault { reason: reason.into(), example }
    }
}

/// Splits the lines of a GM's letter into instructions and the lines that do not begin with `GM`.
pub fn instructions(lines: &[Line]) -> (Vec<InstructionLine>, Vec<Line>) {
    let mut found = Vec::new();
    let mut others = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let Some(words) = words_after_gm(&line.text) else {
            others.push(line.clone());
            continue;
        };
        let mut orders = Vec::new();
        if takes_orders(&words) {
            let rest = &lines[at..];
            let end = rest.iter().position(|line| line.text.trim().eq_ignore_ascii_case("end"));
            orders = rest[..end.unwrap_or(rest.len())].to_vec();
            orders.retain(|line| !line.text.trim().is_empty());
            at += end.map_or(rest.len(), |end| end + 1);
        }
        found.push(InstructionLine { line: line.clone(), parsed: parse(&words, orders) });
    }
    (found, others)
}

/// Returns the words after `GM`, or `None` if the line does not begin with it.
fn words_after_gm(line: &str) -> Option<Vec<&str>> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '•'));
    let mut words = line.split_whitespace();
    words.next().filter(|first| first.trim_end_matches(':').eq_ignore_ascii_case("gm"))?;
    Some(words.collect())
}

/// Whether the lines below, up to `END`, are orders that belong to the instruction.
fn takes_orders(words: &[&str]) -> bool {
    matches!(words, [first, _, verb, ..] if is(first, "match") && (is(verb, "act") || is(verb, "correct")))
}

fn is(word: &str, wanted: &str) -> bool {
    word.eq_ignore_ascii_case(wanted)
}

type Parsed<T = Instruction> = Result<T, InstructionFault>;

/// The example for faults in which nothing more specific was recognized.
const EXTEND_EXAMPLE: &str = "GM MATCH QZ-7K3M EXTEND 3 days";

fn parse(words: &[&str], orders: Vec<Line>) -> Parsed {
    let Some((first, rest)) = words.split_first() else {
        return Err(InstructionFault::new("GM must be followed by a command.", "GM LIST late"));
    };
    match first.to_ascii_uppercase().as_str() {
        "MATCH" => parse_match(rest, orders),
        "LIST" => parse_list(rest),
        "NEW" => parse_new(rest),
        "PLAYER" => parse_player(rest),
        "DIGEST" if rest.is_empty() => Ok(Instruction::Digest),
        _ => Err(InstructionFault::new(format!("I do not know the command GM {first}."), EXTEND_EXAMPLE)),
    }
}

fn parse_list(rest: &[&str]) -> Parsed {
    let listing = match rest {
        [] => Some(Listing::All),
        [which] => Listing::parse(which),
        _ => None,
    };
    listing.map(Instruction::List).ok_or_else(|| {
        InstructionFault::new("GM LIST takes all, late, running, paused or protests.", "GM LIST late")
    })
}

fn parse_match(rest: &[&str], orders: Vec<Line>) -> Parsed {
    let [id, verb, rest @ ..] = rest else {
        return Err(InstructionFault::new("GM MATCH needs a match and a command.", EXTEND_EXAMPLE));
    };
    let verb = verb.to_ascii_uppercase();
    let (turn, rest) = split_turn(&verb, rest);
    let action = match_action(&verb, rest, orders)?;
    Ok(Instruction::Match { id: (*id).to_owned(), turn, action })
}

/// Splits a final `TURN 4` off the words after `verb`.
fn split_turn<'a>(verb: &str, rest: &'a [&'a str]) -> (Option<u32>, &'a [&'a str]) {
    let [before @ .., word, number] = rest else { return (None, rest) };
    // Free text may end in `turn 4` by chance, so there TURN counts only in capitals.
    let is_text = matches!(verb, "NOTE" | "PAUSE" | "ROLLBACK" | "CORRECT");
    let is_turn = *word == "TURN" || (!is_text && is(word, "turn"));
    match number.parse() {
        Ok(turn) if is_turn => (Some(turn), before),
        _ => (None, rest),
    }
}

fn match_action(verb: &str, rest: &[&str], orders: Vec<Line>) -> Parsed<MatchAction> {
    let text = rest.join(" ");
    let act = match verb {
        "EXTEND" => Act::Extend { days: parse_days(rest)? },
        "PAUSE" if text.is_empty() => Act::Pause { reason: "no reason is given".to_owned() },
        "PAUSE" => Act::Pause { reason: text },
        "RESUME" => Act::Resume,
        "ABANDON" => Act::Abandon,
        "ADJUDICATE" => Act::Adjudicate,
        "NOTE" if text.is_empty() => {
            let example = "GM MATCH QZ-7K3M NOTE The map was wrong.";
            return Err(InstructionFault::new("NOTE needs a text.", example));
        }
        "NOTE" => Act::Note { text },
        "FORFEIT" => Act::Forfeit(parse_seat(rest, "GM MATCH QZ-7K3M FORFEIT first")?),
        "TOKEN" => Act::RenewToken(parse_seat(rest, "GM MATCH QZ-7K3M TOKEN first")?),
        "ACT" => {
            let example = "GM MATCH QZ-7K3M ACT first\nSHIP 1 TO B2\nEND";
            Act::File { seat: parse_seat(rest, example)?, orders }
        }
        "REPLACE" => return parse_replace(rest),
        "ROLLBACK" => return parse_rollback(rest),
        "CORRECT" => return parse_correct(rest, orders),
        _ => {
            return Err(InstructionFault::new(format!("I do not know the command {verb}."), EXTEND_EXAMPLE));
        }
    };
    Ok(MatchAction::Act(act))
}

fn parse_replace(rest: &[&str]) -> Parsed<MatchAction> {
    let example = "GM MATCH QZ-7K3M REPLACE first name@example.org";
    let [seat, by] = rest else {
        return Err(InstructionFault::new("REPLACE needs a seat and a mail address.", example));
    };
    Ok(MatchAction::Replace { seat: parse_seat(&[seat], example)?, by: parse_party(by, example)? })
}

fn parse_rollback(rest: &[&str]) -> Parsed<MatchAction> {
    let example = "GM MATCH QZ-7K3M ROLLBACK 3 Bo's letter came in time.";
    let rest = if rest.first().is_some_and(|word| is(word, "to")) { &rest[1..] } else { rest };
    match rest {
        [turn, reason @ ..] if !reason.is_empty() => turn.parse().ok().map(|turn| (turn, reason.join(" "))),
        _ => None,
    }
    .map(|(turn, reason)| MatchAction::Correct { turn, reason, orders: None })
    .ok_or_else(|| InstructionFault::new("ROLLBACK needs a turn and a reason.", example))
}

fn parse_correct(rest: &[&str], orders: Vec<Line>) -> Parsed<MatchAction> {
    let example = "GM MATCH QZ-7K3M CORRECT 3 second It was misread.\nSHIP 1 TO B2\nEND";
    let parts = match rest {
        [turn, seat, reason @ ..] if !reason.is_empty() => turn.parse().ok().map(|turn| (turn, seat, reason)),
        _ => None,
    };
    let Some((turn, seat, reason)) = parts else {
        let wrong = "CORRECT needs a turn, a seat, a reason, and the orders in the lines below.";
        return Err(InstructionFault::new(wrong, example));
    };
    let seat = parse_seat(&[seat], example)?;
    Ok(MatchAction::Correct { turn, reason: reason.join(" "), orders: Some((seat, orders)) })
}

fn parse_days(rest: &[&str]) -> Parsed<u32> {
    let number: Option<u32> = match rest {
        [number] => number.parse().ok(),
        [number, unit] if is(unit, "day") || is(unit, "days") => number.parse().ok(),
        _ => None,
    };
    number
        .filter(|days| (1..=366).contains(days))
        .ok_or_else(|| InstructionFault::new("EXTEND needs a number of days, 1 to 366.", EXTEND_EXAMPLE))
}

fn parse_seat(rest: &[&str], example: &'static str) -> Parsed<Seat> {
    let found = match rest {
        [word] => Seat::parse(word),
        _ => None,
    };
    found.ok_or_else(|| InstructionFault::new("This command needs a seat, first or second.", example))
}

fn parse_address(word: &str, example: &'static str) -> Parsed<Address> {
    let bare = word.trim_matches(['<', '>']);
    Address::parse(bare).map_err(|_| InstructionFault::new(format!("{word} is not a mail address."), example))
}

fn parse_party(word: &str, example: &'static str) -> Parsed<Party> {
    match Party::parse(word) {
        Some(Party::House(level)) => Ok(Party::House(level)),
        _ => parse_address(word, example).map(Party::Player),
    }
}

fn parse_new(rest: &[&str]) -> Parsed {
    let example = "GM NEW quad ann@example.org bo@example.org swap=off days=3";
    // A game's name may have several words.
    let name_words =
        rest.iter().take_while(|word| !word.contains('@') && Party::parse(word).is_none()).count();
    let (game, rest) = rest.split_at(name_words);
    let [first, second, rest @ ..] = rest else {
        return Err(InstructionFault::new("GM NEW needs a game and two mail addresses.", example));
    };
    let mut options = Vec::new();
    let mut days = None;
    for word in rest {
        let Some((name, value)) = word.split_once('=') else {
            let wrong = format!("{word} is not an option; options are written name=value.");
            return Err(InstructionFault::new(wrong, example));
        };
        if is(name, "days") {
            let Ok(number) = value.parse() else {
                let wrong = format!("The days in {word} are not a number.");
                return Err(InstructionFault::new(wrong, example));
            };
            days = Some(number);
        } else {
            options.push((name.to_ascii_lowercase(), value.to_owned()));
        }
    }
    Ok(Instruction::New {
        game: game.join(" "),
        first: parse_party(first, example)?,
        second: parse_party(second, example)?,
        options,
        days,
    })
}

fn parse_player(rest: &[&str]) -> Parsed {
    let example = "GM PLAYER SHOW ann@example.org";
    let [verb, address, rest @ ..] = rest else {
        return Err(InstructionFault::new("GM PLAYER needs a command and a mail address.", example));
    };
    let address = parse_address(address, example)?;
    let name = rest.join(" ");
    match (verb.to_ascii_uppercase().as_str(), rest) {
        ("ADD", _) => Ok(Instruction::PlayerAdd { address, name }),
        ("SHOW", []) => Ok(Instruction::PlayerShow(address)),
        ("RENAME", [_, ..]) => Ok(Instruction::PlayerRename { address, name }),
        ("MERGE", [word, into]) if is(word, "into") => {
            Ok(Instruction::PlayerMerge { gone: address, into: parse_address(into, example)? })
        }
        ("MERGE", _) => {
            let example = "GM PLAYER MERGE old@example.org INTO new@example.org";
            Err(InstructionFault::new("MERGE needs two mail addresses.", example))
        }
        ("BLOCK", []) => Ok(Instruction::PlayerBlock { address, on: true }),
        ("UNBLOCK", []) => Ok(Instruction::PlayerBlock { address, on: false }),
        ("BOUNCE-CLEAR", []) => Ok(Instruction::PlayerBounceClear(address)),
        _ => Err(InstructionFault::new(format!("I do not understand GM PLAYER {verb}."), example)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_one(text: &str) -> Parsed {
        let lines: Vec<Line> =
            (1..).zip(text.lines()).map(|(no, text)| Line { no, text: text.to_owned() }).collect();
        instructions(&lines).0.remove(0).parsed
    }

    #[test]
    fn an_instruction_names_its_match_turn_and_action() {
        let Ok(Instruction::Match { id, turn, action }) = parse_one("gm match qz-7k3m Extend 3 days TURN 4")
        else {
            panic!("a valid instruction")
        };
        assert_eq!(
            (id.as_str(), turn, action),
            ("qz-7k3m", Some(4), MatchAction::Act(Act::Extend { days: 3 }))
        );
    }

    #[test]
    fn orders_for_a_seat_end_at_end_and_parsing_continues() {
        let text = "GM MATCH QU-1 ACT second\nMARBLE E5\n\nEND\nGM LIST late\nthanks";
        let lines: Vec<Line> =
            (1..).zip(text.lines()).map(|(no, text)| Line { no, text: text.to_owned() }).collect();
        let (asked, others) = instructions(&lines);
        let orders = vec![Line { no: 2, text: "MARBLE E5".to_owned() }];
        let act = Act::File { seat: Seat::Second, orders };
        assert!(
            matches!(&asked[0].parsed, Ok(Instruction::Match { action: MatchAction::Act(read), .. }) if *read == act)
        );
        assert_eq!(asked[1].parsed, Ok(Instruction::List(Listing::Late)));
        assert_eq!(others.len(), 1);
    }

    #[test]
    fn a_note_that_ends_in_a_turn_is_limited_to_it_only_in_capitals() {
        let read = |text| match parse_one(text) {
            Ok(Instruction::Match { turn, action: MatchAction::Act(Act::Note { text }), .. }) => (turn, text),
            other => panic!("{other:?}"),
        };
        assert_eq!(read("GM MATCH QU-1 NOTE see turn 4"), (None, "see turn 4".to_owned()));
        assert_eq!(read("GM MATCH QU-1 NOTE see above TURN 4"), (Some(4), "see above".to_owned()));
    }

    #[test]
    fn a_turn_is_reopened_or_decided_again_for_a_reason() {
        let read = |text| match parse_one(text) {
            Ok(Instruction::Match { turn: None, action, .. }) => action,
            other => panic!("{other:?}"),
        };
        let reason = "it was late".to_owned();
        let back = MatchAction::Correct { turn: 3, reason: reason.clone(), orders: None };
        assert_eq!(read("GM MATCH QU-1 ROLLBACK to 3 it was late"), back);
        let orders = Some((Seat::Second, vec![Line { no: 2, text: "MARBLE E5".to_owned() }]));
        let corrected = MatchAction::Correct { turn: 3, reason, orders };
        assert_eq!(read("GM MATCH QU-1 CORRECT 3 second it was late\nMARBLE E5\nEND\nbye"), corrected);
    }

    #[test]
    fn lines_that_are_not_instructions_are_faults() {
        for text in [
            "GM",
            "GM DANCE",
            "GM MATCH QU-1",
            "GM MATCH QU-1 EXTEND soon",
            "GM MATCH QU-1 ROLLBACK 3",
            "GM MATCH QU-1 CORRECT 3 second",
            "GM MATCH QU-1 CORRECT 3 third why",
            "GM LIST x",
            "GM NEW quad",
        ] {
            assert!(parse_one(text).is_err(), "{text}");
        }
    }
}

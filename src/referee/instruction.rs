//! What the GM asks, by letter or at the terminal: `GM MATCH QZ-7K3M EXTEND 3 days TURN 4`. It is read here and carried
//! out by the shell.

use super::gm::Act;
use crate::game::{Line, Seat};
use crate::letter::Address;
use crate::request::Party;

/// One thing that the GM asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    Match {
        id: String,
        /// The turn that is meant; if another one is open, nothing is done.
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
    /// All of the first becomes the second's.
    PlayerMerge {
        gone: Address,
        into: Address,
    },
    PlayerBounceClear(Address),
    Digest,
}

/// What is to be done with a match.
#[derive(Clone, Debug, PartialEq)]
pub enum MatchAction {
    Act(Act),
    /// Somebody else takes over the seat.
    Replace {
        seat: Seat,
        by: Party,
    },
    /// Back to a turn that was adjudicated; the shell looks the rest up in the ledger.
    Correct {
        turn: u32,
        reason: String,
        orders: Option<(Seat, Vec<Line>)>,
    },
}

/// Which matches are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    /// All that are not over.
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

/// A line that begins with `GM`, and what it asks; or what is wrong with it, and one that would do.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionLine {
    pub line: Line,
    pub parsed: Result<Instruction, (String, &'static str)>,
}

/// Reads the lines of the GM's letter: what he asks, and the lines that do not begin with `GM`.
pub fn instructions(lines: &[Line]) -> (Vec<InstructionLine>, Vec<Line>) {
    let (mut asked, mut others) = (Vec::new(), Vec::new());
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
        asked.push(InstructionLine { line: line.clone(), parsed: read(&words, orders) });
    }
    (asked, others)
}

/// The words behind `GM`; `None`: the line is not for the GM's acts.
fn words_after_gm(line: &str) -> Option<Vec<&str>> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '•'));
    let mut words = line.split_whitespace();
    words.next().filter(|first| first.trim_end_matches(':').eq_ignore_ascii_case("gm"))?;
    Some(words.collect())
}

fn takes_orders(words: &[&str]) -> bool {
    matches!(words, [first, _, action, ..] if is(first, "match") && (is(action, "act") || is(action, "correct")))
}

fn is(word: &str, wanted: &str) -> bool {
    word.eq_ignore_ascii_case(wanted)
}

type Read<T = Instruction> = Result<T, (String, &'static str)>;

fn read(words: &[&str], orders: Vec<Line>) -> Read {
    let Some((first, rest)) = words.split_first() else {
        return Err(("GM wants to be told what to do.".to_owned(), "GM LIST late"));
    };
    match first.to_ascii_uppercase().as_str() {
        "MATCH" => read_match(rest, orders),
        "LIST" => read_list(rest),
        "NEW" => read_new(rest),
        "PLAYER" => read_player(rest),
        "DIGEST" if rest.is_empty() => Ok(Instruction::Digest),
        _ => Err((format!("GM {first} is nothing that I know."), "GM MATCH QZ-7K3M EXTEND 3 days")),
    }
}

fn read_list(rest: &[&str]) -> Read {
    let listing = match rest {
        [] => Some(Listing::All),
        [which] => Listing::parse(which),
        _ => None,
    };
    let wrong = || ("GM LIST takes late, running, paused or protests.".to_owned(), "GM LIST late");
    listing.map(Instruction::List).ok_or_else(wrong)
}

fn read_match(rest: &[&str], orders: Vec<Line>) -> Read {
    let example = "GM MATCH QZ-7K3M EXTEND 3 days";
    let [id, action, rest @ ..] = rest else {
        return Err(("GM MATCH wants a match and what is to be done.".to_owned(), example));
    };
    let action = action.to_ascii_uppercase();
    // A sentence may end with these words too: there they must be written as a command.
    let is_text = matches!(action.as_str(), "NOTE" | "PAUSE" | "ROLLBACK" | "CORRECT");
    let (turn, rest) = match rest {
        [rest @ .., word, number]
            if (*word == "TURN" || !is_text && is(word, "turn")) && number.parse::<u32>().is_ok() =>
        {
            (number.parse().ok(), rest)
        }
        _ => (None, rest),
    };
    let text = rest.join(" ");
    let in_match = |action: MatchAction| Instruction::Match { id: (*id).to_owned(), turn, action };
    let act = match action.as_str() {
        "EXTEND" => Act::Extend { days: days(rest)? },
        "PAUSE" if text.is_empty() => Act::Pause { reason: "no reason is given".to_owned() },
        "PAUSE" => Act::Pause { reason: text },
        "RESUME" => Act::Resume,
        "ABANDON" => Act::Abandon,
        "ADJUDICATE" => Act::Adjudicate,
        "NOTE" if text.is_empty() => {
            return Err(("NOTE wants a text.".to_owned(), "GM MATCH QZ-7K3M NOTE The map was wrong."));
        }
        "NOTE" => Act::Note { text },
        "FORFEIT" => Act::Forfeit(seat(rest, "GM MATCH QZ-7K3M FORFEIT first")?),
        "TOKEN" => Act::RenewToken(seat(rest, "GM MATCH QZ-7K3M TOKEN first")?),
        "ACT" => Act::File { seat: seat(rest, "GM MATCH QZ-7K3M ACT first\nSHIP 1 TO B2\nEND")?, orders },
        "REPLACE" => {
            let example = "GM MATCH QZ-7K3M REPLACE first name@example.org";
            let [seat_word, written] = rest else {
                return Err(("REPLACE wants a seat and a mail address.".to_owned(), example));
            };
            let (seat, by) = (seat(&[seat_word], example)?, party(written, example)?);
            return Ok(in_match(MatchAction::Replace { seat, by }));
        }
        "ROLLBACK" => {
            let example = "GM MATCH QZ-7K3M ROLLBACK 3 Bo's letter came in time.";
            let rest = if rest.first().is_some_and(|word| is(word, "to")) { &rest[1..] } else { rest };
            let (turn, reason) = turn_and_reason(rest, "ROLLBACK wants a turn and a reason.", example)?;
            return Ok(in_match(MatchAction::Correct { turn, reason, orders: None }));
        }
        "CORRECT" => {
            let example = "GM MATCH QZ-7K3M CORRECT 3 second It was misread.\nSHIP 1 TO B2\nEND";
            let wrong = "CORRECT wants a turn, a seat, a reason, and the orders in the lines below.";
            let [turn, seat_word, reason @ ..] = rest else { return Err((wrong.to_owned(), example)) };
            let (turn, reason) = turn_and_reason(&[&[*turn], reason].concat(), wrong, example)?;
            let seat = seat(&[seat_word], example)?;
            return Ok(in_match(MatchAction::Correct { turn, reason, orders: Some((seat, orders)) }));
        }
        _ => return Err((format!("{action} is nothing that can be done with a match."), example)),
    };
    Ok(in_match(MatchAction::Act(act)))
}

/// A turn that was adjudicated, and why the match goes back to it.
fn turn_and_reason(rest: &[&str], wrong: &str, example: &'static str) -> Read<(u32, String)> {
    let read = match rest {
        [turn, reason @ ..] if !reason.is_empty() => turn.parse().ok().map(|turn| (turn, reason.join(" "))),
        _ => None,
    };
    read.ok_or_else(|| (wrong.to_owned(), example))
}

fn days(rest: &[&str]) -> Read<u32> {
    let number = match rest {
        [number] => number.parse().ok(),
        [number, unit] if is(unit, "day") || is(unit, "days") => number.parse().ok(),
        _ => None,
    };
    let wrong = || ("EXTEND wants a number of days, 1 to 366.".to_owned(), "GM MATCH QZ-7K3M EXTEND 3 days");
    number.filter(|days| (1..=366).contains(days)).ok_or_else(wrong)
}

fn seat(rest: &[&str], example: &'static str) -> Read<Seat> {
    let found = match rest {
        [word] => Seat::parse(word),
        _ => None,
    };
    found.ok_or_else(|| ("It wants a seat, first or second.".to_owned(), example))
}

fn address(word: &str, example: &'static str) -> Read<Address> {
    let bare = word.trim_matches(['<', '>']);
    Address::parse(bare).map_err(|_| (format!("{word} is no mail address."), example))
}

fn party(word: &str, example: &'static str) -> Read<Party> {
    match Party::parse(word) {
        Some(Party::House(level)) => Ok(Party::House(level)),
        _ => address(word, example).map(Party::Player),
    }
}

fn read_new(rest: &[&str]) -> Read {
    let example = "GM NEW quad ann@example.org bo@example.org swap=off days=3";
    let is_party = |word: &str| word.contains('@') || Party::parse(word).is_some();
    let named = rest.iter().take_while(|word| !is_party(word)).count();
    let (game, rest) = (rest[..named].join(" "), &rest[named..]);
    let [first, second, rest @ ..] = rest else {
        return Err(("GM NEW wants a game and two mail addresses.".to_owned(), example));
    };
    let (mut options, mut days) = (Vec::new(), None);
    for word in rest {
        match word.split_once('=') {
            Some((name, value)) if is(name, "days") => {
                days = Some(value.parse().map_err(|_| (format!("{word}: days are a number."), example))?);
            }
            Some((name, value)) => options.push((name.to_ascii_lowercase(), value.to_owned())),
            None => return Err((format!("{word} is no option: write name=value."), example)),
        }
    }
    let (first, second) = (party(first, example)?, party(second, example)?);
    Ok(Instruction::New { game, first, second, options, days })
}

fn read_player(rest: &[&str]) -> Read {
    let example = "GM PLAYER SHOW ann@example.org";
    let [action, written, rest @ ..] = rest else {
        return Err(("GM PLAYER wants what is to be done, and a mail address.".to_owned(), example));
    };
    let (address, name) = (address(written, example)?, rest.join(" "));
    match (action.to_ascii_uppercase().as_str(), rest) {
        ("ADD", _) => Ok(Instruction::PlayerAdd { address, name }),
        ("SHOW", []) => Ok(Instruction::PlayerShow(address)),
        ("RENAME", [_, ..]) => Ok(Instruction::PlayerRename { address, name }),
        ("MERGE", [word, into]) if is(word, "into") => {
            Ok(Instruction::PlayerMerge { gone: address, into: self::address(into, example)? })
        }
        ("MERGE", _) => {
            let example = "GM PLAYER MERGE old@example.org INTO new@example.org";
            Err(("MERGE wants two mail addresses.".to_owned(), example))
        }
        ("BOUNCE-CLEAR", []) => Ok(Instruction::PlayerBounceClear(address)),
        _ => Err((format!("GM PLAYER {action} cannot be understood."), example)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(text: &str) -> Read {
        let lines: Vec<Line> =
            (1..).zip(text.lines()).map(|(no, text)| Line { no, text: text.to_owned() }).collect();
        instructions(&lines).0.remove(0).parsed
    }

    #[test]
    fn a_command_of_the_gm_names_match_turn_and_deed() {
        let Ok(Instruction::Match { id, turn, action }) = read_one("gm match qz-7k3m Extend 3 days TURN 4")
        else {
            panic!("it is read")
        };
        assert_eq!(
            (id.as_str(), turn, action),
            ("qz-7k3m", Some(4), MatchAction::Act(Act::Extend { days: 3 }))
        );
    }

    #[test]
    fn orders_for_a_seat_go_up_to_end_and_the_reading_goes_on() {
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
    fn a_note_that_ends_with_a_turn_is_for_that_turn_only_in_capitals() {
        let read = |text| match read_one(text) {
            Ok(Instruction::Match { turn, action: MatchAction::Act(Act::Note { text }), .. }) => (turn, text),
            other => panic!("{other:?}"),
        };
        assert_eq!(read("GM MATCH QU-1 NOTE see turn 4"), (None, "see turn 4".to_owned()));
        assert_eq!(read("GM MATCH QU-1 NOTE see above TURN 4"), (Some(4), "see above".to_owned()));
    }

    #[test]
    fn a_turn_is_opened_again_or_decided_anew_for_a_reason() {
        let read = |text| match read_one(text) {
            Ok(Instruction::Match { turn: None, action, .. }) => action,
            other => panic!("{other:?}"),
        };
        let reason = "it was late".to_owned();
        let back = MatchAction::Correct { turn: 3, reason: reason.clone(), orders: None };
        assert_eq!(read("GM MATCH QU-1 ROLLBACK to 3 it was late"), back);
        let orders = Some((Seat::Second, vec![Line { no: 2, text: "MARBLE E5".to_owned() }]));
        let anew = MatchAction::Correct { turn: 3, reason, orders };
        assert_eq!(read("GM MATCH QU-1 CORRECT 3 second it was late\nMARBLE E5\nEND\nbye"), anew);
    }

    #[test]
    fn what_is_not_understood_brings_an_example() {
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
            assert!(read_one(text).is_err(), "{text}");
        }
    }
}

//! The commands to the referee.

use chrono::NaiveDate;

use super::normalized::NormalizedLine;
use crate::game::any;
use crate::letter::Address;

/// One command, and the line on which it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedCommand {
    pub line: usize,
    pub command: Command,
}

/// Who is to play: whoever has this address, or the house, at a level or as the club has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Party {
    Player(Address),
    House(Option<String>),
}

impl Party {
    /// Reads `name@example.org`, `house` or `house:average`.
    pub fn parse(word: &str) -> Option<Party> {
        match word.split_once(':') {
            Some((house, level)) if house.eq_ignore_ascii_case("house") => {
                Some(Party::House(Some(level.to_owned())))
            }
            None if word.eq_ignore_ascii_case("house") => Some(Party::House(None)),
            _ => Address::parse(word).ok().map(Party::Player),
        }
    }
}

/// What may be asked of the referee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Status,
    /// The report of a turn, or the last one.
    Report(Option<u32>),
    History,
    /// A message to the opponent.
    Tell(String),
    Resign {
        confirmed: bool,
    },
    Draw,
    Extend {
        days: u32,
    },
    Agree,
    /// Both days included.
    Absent {
        from: NaiveDate,
        to: NaiveDate,
    },
    Substitute,
    Protest(String),
    Help(Option<String>),
    Games,
    Rules(Option<String>),
    Matches,
    Challenge {
        opponent: Party,
        game: String,
        options: Vec<(String, String)>,
        days: Option<u32>,
    },
    Accept(String),
    Decline(String),
    Open {
        game: String,
        options: Vec<(String, String)>,
        days: Option<u32>,
    },
    Join(String),
    /// What stands behind `GM`.
    Gm(String),
}

/// What a line is to the referee.
pub enum ParsedLine {
    Remark,
    Command(Command),
    Fault {
        reason: String,
        example: &'static str,
    },
    /// A message begins; its text goes on below.
    Tell,
    Protest,
}

/// Days that may be asked for at once.
const MAX_DAYS: u32 = 366;

/// Reads a line. `has_end` says whether a line `END` is still to come.
///
/// In capitals the first word alone makes a command, and what follows must fit. In small letters the line may be
/// prose ("report attached", "tell me"): it is a command only if all of it fits.
pub fn read(line: &NormalizedLine, has_end: impl Fn() -> bool) -> ParsedLine {
    let words: Vec<&str> = line.words().collect();
    let Some((first, rest)) = words.split_first() else { return ParsedLine::Remark };
    let verb = first.to_ascii_uppercase();
    match verb.as_str() {
        "TELL" => {
            let marked =
                line.shouts() || rest.is_empty() || line.plain.to_ascii_uppercase().starts_with("TELL:");
            return if marked || has_end() { ParsedLine::Tell } else { ParsedLine::Remark };
        }
        "PROTEST" => return ParsedLine::Protest,
        "GM" => return ParsedLine::Command(Command::Gm(line.after_first_word().to_owned())),
        _ => {}
    }
    match parse(&verb, rest, line) {
        None => ParsedLine::Remark,
        Some(Ok(command)) => ParsedLine::Command(command),
        // Prose, unless it was written as a command or is nothing but one.
        Some(Err(_)) if !line.shouts() && !rest.is_empty() && !rest.iter().any(|word| has_digit(word)) => {
            ParsedLine::Remark
        }
        Some(Err((reason, example))) => ParsedLine::Fault { reason, example },
    }
}

fn has_digit(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
}

/// A command, or what is wrong with it and one that would do.
type Parsed<T = Command> = Result<T, (String, &'static str)>;

fn parse(verb: &str, rest: &[&str], line: &NormalizedLine) -> Option<Parsed> {
    let alone = |command: Command, example: &'static str| {
        if rest.is_empty() {
            Ok(command)
        } else {
            Err((format!("{example} stands alone on its line."), example))
        }
    };
    Some(match verb {
        "STATUS" => alone(Command::Status, "STATUS"),
        "REPORT" => report(rest),
        "HISTORY" => alone(Command::History, "HISTORY"),
        "RESIGN" => match rest {
            [] => Ok(Command::Resign { confirmed: false }),
            [word] if word.eq_ignore_ascii_case("confirm") => Ok(Command::Resign { confirmed: true }),
            _ => Err(("To give the match up, write RESIGN CONFIRM.".into(), "RESIGN CONFIRM")),
        },
        "DRAW" => alone(Command::Draw, "DRAW"),
        "EXTEND" => extend(rest),
        "AGREE" => alone(Command::Agree, "AGREE"),
        "ABSENT" => absent(rest),
        "SUBSTITUTE" => alone(Command::Substitute, "SUBSTITUTE"),
        "HELP" => match rest {
            [] => Ok(Command::Help(None)),
            [topic] => Ok(Command::Help(Some(topic.to_lowercase()))),
            _ => Err(("HELP takes one topic at most.".into(), "HELP orders")),
        },
        "GAMES" => alone(Command::Games, "GAMES"),
        "RULES" => rules(rest, line.shouts()),
        "MATCHES" => alone(Command::Matches, "MATCHES"),
        "CHALLENGE" => challenge(rest),
        "ACCEPT" => {
            code(rest, line, "ACCEPT wants the code of the invitation.", "ACCEPT 7K3M9P").map(Command::Accept)
        }
        "DECLINE" => code(rest, line, "DECLINE wants the code of the invitation.", "DECLINE 7K3M9P")
            .map(Command::Decline),
        "OPEN" => open(rest, line.shouts()),
        "JOIN" => code(rest, line, "JOIN wants the code of the open seat.", "JOIN 7K3M9P").map(Command::Join),
        _ => return None,
    })
}

fn report(rest: &[&str]) -> Parsed {
    let number = match rest {
        [] => return Ok(Command::Report(None)),
        [number] => number.parse().ok(),
        [turn, number] if turn.eq_ignore_ascii_case("turn") => number.parse().ok(),
        _ => None,
    };
    number
        .map(|turn| Command::Report(Some(turn)))
        .ok_or(("REPORT takes the number of a turn, or nothing.".into(), "REPORT 3"))
}

fn extend(rest: &[&str]) -> Parsed {
    let wrong = || (format!("EXTEND wants a number of days, {MAX_DAYS} at most."), "EXTEND 3 days");
    let rest = match rest {
        [by, rest @ ..] if by.eq_ignore_ascii_case("by") => rest,
        _ => rest,
    };
    let (number, unit) = match rest {
        [number] => (number, 1),
        [number, unit] => match unit.to_ascii_lowercase().as_str() {
            "day" | "days" => (number, 1),
            "week" | "weeks" => (number, 7),
            _ => return Err(wrong()),
        },
        _ => return Err(wrong()),
    };
    let days = number.parse::<u32>().ok().and_then(|number| number.checked_mul(unit));
    match days {
        Some(days @ 1..=MAX_DAYS) => Ok(Command::Extend { days }),
        _ => Err(wrong()),
    }
}

fn absent(rest: &[&str]) -> Parsed {
    let example = "ABSENT 2026-12-20 TO 2027-01-03";
    let linking = |word: &&&str| {
        !["from", "to", "until", "till", "through", "and", "-", "--"]
            .iter()
            .any(|link| word.eq_ignore_ascii_case(link))
    };
    let days: Vec<&&str> = rest.iter().filter(linking).collect();
    let read: Option<Vec<NaiveDate>> = days.iter().map(|word| date(word)).collect();
    match read.as_deref() {
        Some([day]) => Ok(Command::Absent { from: *day, to: *day }),
        Some([from, to]) if from <= to => Ok(Command::Absent { from: *from, to: *to }),
        Some([_, _]) => Err(("The first day of an absence cannot lie behind its last.".into(), example)),
        _ => Err(("ABSENT wants the first and the last day, each as year-month-day.".into(), example)),
    }
}

/// `2026-12-20`, or `20.12.2026`.
fn date(word: &str) -> Option<NaiveDate> {
    ["%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d"].iter().find_map(|form| NaiveDate::parse_from_str(word, form).ok())
}

fn rules(rest: &[&str], shouts: bool) -> Parsed {
    let game = rest.join(" ");
    match rest {
        [] => Ok(Command::Rules(None)),
        _ if shouts || any::GameKind::parse(&game).is_some() => Ok(Command::Rules(Some(game))),
        _ => Err(("RULES wants the name of a game. GAMES lists them.".into(), "RULES Quadrant Z")),
    }
}

fn code(rest: &[&str], line: &NormalizedLine, reason: &str, example: &'static str) -> Parsed<String> {
    let fits = |code: &str| {
        code.len() >= 3
            && code.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            && (line.shouts() || has_digit(code) || code.contains('-'))
    };
    match rest {
        [code] if fits(code) => Ok((*code).to_owned()),
        _ => Err((reason.to_owned(), example)),
    }
}

fn challenge(rest: &[&str]) -> Parsed {
    let example = "CHALLENGE bo@example.org Quadrant Z days=7";
    let Some((opponent, rest)) = rest.split_first() else {
        return Err(("CHALLENGE wants a mail address and the name of a game.".into(), example));
    };
    let opponent = address(opponent)
        .map(Party::Player)
        .or_else(|| Party::parse(opponent))
        .ok_or_else(|| (format!("{opponent} is no mail address that I could write to."), example))?;
    // A link that the sender's program made of the address.
    let rest = match rest {
        [link, rest @ ..] if link.starts_with("<mailto") => rest,
        _ => rest,
    };
    let (game, options, days) = terms(rest, example)?;
    Ok(Command::Challenge { opponent, game, options, days })
}

fn open(rest: &[&str], shouts: bool) -> Parsed {
    let example = "OPEN Quadrant Z days=7";
    let (game, options, days) = terms(rest, example)?;
    if !shouts && any::GameKind::parse(&game).is_none() {
        return Err(("OPEN wants the name of a game. GAMES lists them.".into(), example));
    }
    Ok(Command::Open { game, options, days })
}

/// The address in a word that a mail program may have dressed up: `a@b.c<mailto:a@b.c>`.
fn address(word: &str) -> Option<Address> {
    let bare = word.trim_start_matches(['<', '*', '[']);
    let end = bare.find(['<', '>', '*', '[', ']']).unwrap_or(bare.len());
    Address::parse(bare[..end].trim_start_matches("mailto:")).ok()
}

type Terms = (String, Vec<(String, String)>, Option<u32>);

/// The name of a game, options, and `days=7`.
fn terms(rest: &[&str], example: &'static str) -> Parsed<Terms> {
    let named = rest.iter().take_while(|word| !word.contains('=')).count();
    let game = rest[..named].join(" ");
    if game.is_empty() {
        return Err(("The line lacks the name of a game. GAMES lists them.".into(), example));
    }
    let (mut options, mut days) = (Vec::new(), None);
    for word in &rest[named..] {
        match word.split_once('=') {
            Some((name, value)) if name.eq_ignore_ascii_case("days") => match value.parse::<u32>() {
                Ok(number @ 1..=MAX_DAYS) if days.is_none() => days = Some(number),
                _ => return Err((format!("{word}: the days of a turn are a number, once."), example)),
            },
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                options.push((name.to_ascii_lowercase(), value.to_owned()));
            }
            _ => return Err((format!("{word} is no option: write name=value, without blanks."), example)),
        }
    }
    Ok((game, options, days))
}

//! Commands to the referee.

use chrono::NaiveDate;
use strum::{EnumDiscriminants, VariantArray};

use super::normalized::{NormalizedLine, is_any_of};
use super::proof::{self, Parsed};
use super::wish;
use crate::dialect::COMMAND_WORDS;
use crate::game::any::GameKind;
use crate::letter::Address;

/// A command and the number of its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedCommand {
    pub line: usize,
    pub command: Command,
}

/// A party to a match: the owner of an address, or the house at a level (`None` for the club's default).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Party {
    Player(Address),
    House(Option<String>),
}

impl Party {
    /// Parses `name@example.org`, `house` or `house:average`.
    pub fn parse(word: &str) -> Option<Party> {
        match word.split_once(':') {
            Some((house, level)) if house.eq_ignore_ascii_case("house") => {
                Some(Party::House(Some(level.to_owned())))
            }
            None if word.eq_ignore_ascii_case("house") => Some(Party::House(None)),
            _ => Address::parse_given(word).ok().map(Party::Player),
        }
    }
}

/// A person as a GM names one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whom {
    Address(Address),
    /// A name, a part of one, or a number such as `P-12`.
    Named(String),
}

impl Whom {
    /// Reads `ann@example.org`, `Ann <ann@example.org>`, `P-12` or `12`, a name or a part of one. `None` if it is
    /// empty.
    pub fn read(text: &str) -> Option<Whom> {
        let text = text.trim();
        let bare =
            text.strip_suffix('>').and_then(|text| text.rsplit_once('<')).map_or(text, |(_, inner)| inner);
        match Address::parse(bare) {
            Ok(address) => Some(Whom::Address(address)),
            Err(_) if text.is_empty() => None,
            Err(_) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(Whom::Named(format!("P-{text}")))
            }
            Err(_) => Some(Whom::Named(text.to_owned())),
        }
    }
}

/// A command to the referee. [`Proof`](super::Proof) says what each of them needs.
#[derive(Clone, Debug, PartialEq, Eq, EnumDiscriminants)]
#[strum_discriminants(name(CommandKind), derive(VariantArray))]
pub enum Command {
    /// The state of the match.
    Status,
    /// The report of a turn; `None` for the last one.
    Report(Option<u32>),
    /// All earlier reports.
    History,
    /// A hint: the move of a better player, in a match against the weakest level of the house.
    Hint,
    /// A message to the opponent.
    Tell(String),
    /// The sender gives up the match, if confirmed.
    Resign { confirmed: bool },
    /// Offers a draw, or accepts the opponent's.
    Draw,
    /// Asks the opponent for more time.
    Extend { days: u32 },
    /// Agrees to more time, or to going on against the house.
    Agree,
    /// The sender claims the win over a player who has vanished.
    Claim,
    /// An absence, both days included. Without a first day it begins on the day of the letter.
    Absent { from: Option<NaiveDate>, to: NaiveDate },
    /// Asks the GM for somebody to take over the seat.
    Substitute,
    /// A protest, for the GM.
    Protest(String),
    /// Withdraws the filed orders.
    Withdraw,
    /// A message to the GM.
    TellGm(String),
    /// A page of the manual, or its contents.
    Help(Option<String>),
    /// The games and the open seats.
    Games,
    /// The rules of a game, or a list of the games that have rules.
    Rules(Option<String>),
    /// The sender's matches.
    Matches,
    /// A challenge to an address or to the house.
    Challenge { opponent: Party, game: String, options: Vec<(String, String)>, days: Option<u32> },
    /// A challenge to a player by name, by the beginning of the name, or by number.
    ChallengeNamed { player: String, game: String, options: Vec<(String, String)>, days: Option<u32> },
    /// Accepts the challenge with this code.
    Accept(String),
    /// Declines the challenge with this code.
    Decline(String),
    /// Offers a seat to anyone.
    Open { game: String, options: Vec<(String, String)>, days: Option<u32> },
    /// Takes the open seat with this code.
    Join(String),
    /// Ends an open offer of the sender.
    Close(String),
    /// Offers the opponent of a finished match another one on the same terms, with the seats exchanged.
    Rematch { options: Vec<(String, String)>, days: Option<u32> },
    /// Blocks or unblocks a player: while one is blocked, neither can take up an offer by the other.
    Block { player: String, on: bool },
    /// The club's page about a player; without a name, about the sender.
    Profile(Option<String>),
    /// The ratings in a game.
    Ratings(String),
    /// The events of the club.
    Events,
    /// Enters an event.
    Enter(String),
    /// Leaves an event, and gives up its running matches.
    LeaveEvent { event: String, confirmed: bool },
    /// The standings of an event; without a name, of the sender's event.
    Standings { event: Option<String>, season: Option<u32> },
    /// Confirms that the sender wrote the commands in the question with this code, or the letters in the
    /// notice with this code; with `always`, all letters from that address.
    Confirm { code: String, always: bool },
    /// Denies that the sender wrote the letters in the notice with this code.
    Deny(String),
    /// Adds an address to which letters to the player go first, or removes one.
    Address { address: Address, remove: bool },
    /// CHALLENGE or ADDRESS with a word that is not a mail address that we can write to. Not a fault, so that
    /// orders in the same letter are filed.
    Misaddressed { command: &'static str, word: String },
    /// The player gives up all matches.
    Leave { confirmed: bool },
    /// Refuses all further challenges. Contains the code of one unless the letter has a token.
    Never(Option<String>),
    /// Changes the player's own settings, each a name and a value as written. Without any, asks for all.
    Settings(Vec<(String, String)>),
}

impl Command {
    /// Whether it takes effect at once, and nobody can take that back.
    pub fn is_irrevocable(&self) -> bool {
        match self {
            Command::Resign { confirmed }
            | Command::Leave { confirmed }
            | Command::LeaveEvent { confirmed, .. } => *confirmed,
            Command::Claim | Command::Agree | Command::Confirm { .. } => true,
            _ => false,
        }
    }

    /// Returns how a command that ends a match is written, or nothing for the others.
    pub(super) fn as_written(&self) -> &'static str {
        match self {
            Command::Claim => "CLAIM",
            Command::Resign { confirmed: true } => "RESIGN CONFIRM",
            _ => "",
        }
    }
}

/// The meaning of a line.
pub enum ParsedLine {
    Remark,
    Command(Command),
    Fault {
        reason: String,
        example: &'static str,
    },
    /// A message to the opponent; its text continues below.
    Tell,
    /// A message to the GM; its text continues below.
    TellGm,
    /// A protest; its text continues below.
    Protest,
}

/// Maximum days of one extension, and of a turn.
const MAX_DAYS: u32 = 366;

/// Reads a line. `has_end` returns whether a line `END` follows.
///
/// If the first word is in capitals, it makes the line a command, and the rest must fit. In lower case the
/// line may be prose ("report attached", "tell me"): it is a command only if all of it fits.
pub fn read(line: &NormalizedLine, has_end: impl Fn() -> bool) -> ParsedLine {
    let words: Vec<&str> = line.words().collect();
    let Some((first, rest)) = words.split_first() else { return ParsedLine::Remark };
    let verb = first.to_ascii_uppercase();
    match verb.as_str() {
        "TELL" if rest.first().is_some_and(|word| word.eq_ignore_ascii_case("gm")) => {
            return ParsedLine::TellGm;
        }
        "TELL" => {
            let before_pronoun = rest.first().is_some_and(|word| is_any_of(word, &TOLD));
            let is_marked = line.starts_in_capitals() && !before_pronoun
                || rest.is_empty()
                || line.plain.to_ascii_uppercase().starts_with("TELL:");
            return if is_marked || has_end() { ParsedLine::Tell } else { ParsedLine::Remark };
        }
        // "Protest? No, all is fine."
        "PROTEST" if is_asked(&line.plain, first) && !rest.is_empty() => {
            return ParsedLine::Remark;
        }
        // In a sentence, such as "Protest as I may, …", it is a word.
        "PROTEST"
            if !line.starts_in_capitals()
                && !rest.is_empty()
                && !line.plain[first.len()..].starts_with(':')
                && !has_end() =>
        {
            return ParsedLine::Remark;
        }
        "PROTEST" => return ParsedLine::Protest,
        // "HELP!!! I have no idea what to do here"
        "HELP" if *first == "HELP" && goes_on(rest) => {
            return ParsedLine::Command(Command::Help(None));
        }
        _ => {}
    }
    match parse(&verb, rest, line) {
        None => ParsedLine::Remark,
        Some(Ok(Command::Open { game, .. })) if !is_game(&game) && goes_on(rest) => ParsedLine::Remark,
        Some(Ok(command)) if line.is_asked() && command.is_irrevocable() => ParsedLine::Fault {
            reason:
                "There is a question mark behind this command, so I have not carried it out. If you mean it, \
                     please send it without one."
                    .to_owned(),
            example: command.as_written(),
        },
        Some(Ok(command)) => ParsedLine::Command(command),
        // The line is prose, unless it is in capitals, is a single word, or has a number.
        Some(Err(_))
            if !line.starts_in_capitals() && !rest.is_empty() && !rest.iter().any(|word| has_digit(word)) =>
        {
            ParsedLine::Remark
        }
        Some(Err(_)) if goes_on(rest) => ParsedLine::Remark,
        Some(Err((reason, example))) => ParsedLine::Fault { reason, example },
    }
}

/// Pronouns for the person who is told something.
const TOLD: [&str; 5] = ["ME", "US", "HIM", "HER", "THEM"];

/// Pronouns that show that a line continues as a sentence after its first word.
const PRONOUNS: [&str; 17] = [
    "I", "ME", "MY", "YOU", "YOUR", "HE", "HIM", "HIS", "SHE", "HER", "WE", "US", "OUR", "THEY", "THEM",
    "MIND", "MINE",
];

/// Minimum number of words after the first that make a line a sentence.
const SENTENCE: usize = 4;

/// Whether a line continues as a sentence after its first word, and so is prose although that word is in
/// capitals.
fn goes_on(rest: &[&str]) -> bool {
    let is_pronoun = |word: &&str| is_any_of(word.split('\'').next().unwrap_or(word), &PRONOUNS);
    rest.iter().any(is_pronoun)
        || rest.len() >= SENTENCE && !rest.iter().any(|word| word.contains(['=', '@']) || has_digit(word))
}

/// Whether a `?` follows the first word of a line.
fn is_asked(line: &str, first: &str) -> bool {
    line.get(first.len()..).is_some_and(|rest| rest.trim_start().starts_with('?'))
}

fn has_digit(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
}

/// Returns `None` for a line that is not a command and begins in lower case: "address unknown" is prose.
fn parsed_or_prose(parsed: Parsed<Command>, line: &NormalizedLine) -> Option<Parsed<Command>> {
    Some(parsed).filter(|parsed| parsed.is_ok() || line.starts_in_capitals())
}

/// Returns a command, or a [`Command::Misaddressed`] with the word that a line in capitals has in place of a
/// mail address.
fn or_misaddressed(parsed: Parsed<Command>, command: &'static str, line: &NormalizedLine) -> Parsed<Command> {
    let words: Vec<&str> = line.words_as_written().collect();
    match proof::invalid_address(&words).filter(|_| parsed.is_err() && line.starts_in_capitals()) {
        Some(word) => Ok(Command::Misaddressed { command, word: word.chars().take(MAX_WORD).collect() }),
        None => parsed,
    }
}

/// Maximum characters of a word to repeat in an answer.
const MAX_WORD: usize = 100;

/// Returns a command that takes no arguments, or a fault if there are any.
fn alone(verb: &str, command: Command, rest: &[&str]) -> Parsed<Command> {
    let verb = COMMAND_WORDS.into_iter().find(|word| *word == verb).unwrap_or_default();
    if rest.is_empty() { Ok(command) } else { Err((format!("{verb} stands alone on its line."), verb)) }
}

/// The argument of an answer to an invitation.
const INVITATION: &str = "the code in the letter that invited you";

/// Parses the command with this verb, or returns `None` if there is none.
fn parse(verb: &str, rest: &[&str], line: &NormalizedLine) -> Option<Parsed<Command>> {
    let in_capitals = line.starts_in_capitals();
    Some(match verb {
        // In lower case the words are prose.
        "HINT" | "CLAIM" | "REMATCH" | "BLOCK" | "UNBLOCK" | "PROFILE" | "RATINGS" | "EVENTS"
        | "STANDINGS"
            if !in_capitals =>
        {
            return None;
        }
        "STATUS" => alone(verb, Command::Status, rest),
        "REPORT" => report(rest),
        "HISTORY" => alone(verb, Command::History, rest),
        "HINT" => alone(verb, Command::Hint, rest),
        "RESIGN" => resign(rest),
        "DRAW" => alone(verb, Command::Draw, rest),
        "EXTEND" => extend(rest),
        "CLAIM" => alone(verb, Command::Claim, rest),
        "AGREE" => alone(verb, Command::Agree, rest),
        "ABSENT" => absent(rest),
        "WITHDRAW" => alone(verb, Command::Withdraw, rest),
        "SUBSTITUTE" => alone(verb, Command::Substitute, rest),
        "HELP" => match wish::without_polite(rest) {
            [] => Ok(Command::Help(None)),
            [topic] => Ok(Command::Help(Some(topic.to_lowercase()))),
            [_, _] | [_, _, _] if in_capitals => {
                Ok(Command::Help(Some(rest.join(" ").to_lowercase().chars().take(MAX_WORD).collect())))
            }
            _ => Err(("HELP takes one topic at most.".into(), "HELP orders")),
        },
        "GAMES" => alone(verb, Command::Games, rest),
        "RULES" => rules(rest, in_capitals),
        "MATCHES" => alone(verb, Command::Matches, rest),
        "CHALLENGE" => or_misaddressed(challenge(rest, line), "CHALLENGE", line),
        "ACCEPT" => code(verb, rest, line, INVITATION).map(Command::Accept),
        "DECLINE" => code(verb, rest, line, INVITATION).map(Command::Decline),
        "OPEN" => open(rest, in_capitals),
        "CONFIRM" => proof::confirm(rest).map(|(code, always)| Command::Confirm { code, always }),
        "DENY" => proof::deny(rest).map(Command::Deny),
        "ADDRESS" => {
            let words: Vec<&str> = line.words_as_written().skip(1).collect();
            let parsed = proof::address(&words).map(|(address, remove)| Command::Address { address, remove });
            return parsed_or_prose(or_misaddressed(parsed, "ADDRESS", line), line);
        }
        "LEAVE" if rest.first().is_some_and(|word| is_event(word)) => leave_event(rest),
        "LEAVE" if rest.is_empty() && !in_capitals => return None,
        "LEAVE" => {
            let reason = "To give up all your matches, write LEAVE CONFIRM.";
            let confirmed = proof::parse_confirm(rest, reason, "LEAVE CONFIRM");
            return parsed_or_prose(confirmed.map(|confirmed| Command::Leave { confirmed }), line);
        }
        // In lower case the word alone is prose.
        "NEVER" if rest.is_empty() && in_capitals => Ok(Command::Never(None)),
        "NEVER" if rest.is_empty() || goes_on(rest) => return None,
        "NEVER" => code(verb, rest, line, INVITATION).map(|code| Command::Never(Some(code))),
        "SETTINGS" => settings(rest, line),
        "CLOSE" => code(verb, rest, line, "the code of your open offer").map(Command::Close),
        "REMATCH" => rematch(rest),
        "BLOCK" => player_name(line, "BLOCK Bo").map(|player| Command::Block { player, on: true }),
        "UNBLOCK" => player_name(line, "UNBLOCK Bo").map(|player| Command::Block { player, on: false }),
        // A player's rating stands in the profile.
        "RATING" if GameKind::parse(&rest.join(" ")).is_some() => Ok(Command::Ratings(rest.join(" "))),
        "PROFILE" | "RATING" => Ok(Command::Profile(player_name(line, "PROFILE Bo").ok())),
        "RATINGS" if rest.is_empty() => {
            Err(("RATINGS needs the name of a game. GAMES lists them.".to_owned(), "RATINGS quad"))
        }
        "RATINGS" => Ok(Command::Ratings(rest.join(" "))),
        "JOIN" => code(verb, rest, line, "the code of the open seat. GAMES lists them").map(Command::Join),
        "ENTER" => return parsed_or_prose(enter(rest), line),
        "EVENTS" => alone(verb, Command::Events, rest),
        "STANDINGS" => standings(rest),
        _ => return None,
    })
}

/// Whether a word can be the name of an event, such as `EV-SPRING`.
fn is_event(word: &str) -> bool {
    let rest = word.get(..3).filter(|start| start.eq_ignore_ascii_case("EV-")).and(word.get(3..));
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
}

fn enter(rest: &[&str]) -> Parsed<Command> {
    match rest {
        [event] if is_event(event) => Ok(Command::Enter(event.to_ascii_uppercase())),
        _ => Err(("ENTER needs the name of an event. EVENTS lists them.".to_owned(), "ENTER EV-SPRING")),
    }
}

fn leave_event(rest: &[&str]) -> Parsed<Command> {
    let reason = "To give up one event, name it alone.";
    let confirmed = proof::parse_confirm(&rest[1..], reason, "LEAVE EV-SPRING CONFIRM")?;
    Ok(Command::LeaveEvent { event: rest[0].to_ascii_uppercase(), confirmed })
}

fn standings(rest: &[&str]) -> Parsed<Command> {
    let fault = || ("STANDINGS takes an event and a season.".to_owned(), "STANDINGS EV-SPRING 2");
    let (event, rest) = match rest {
        [event, rest @ ..] if is_event(event) => (Some(event.to_ascii_uppercase()), rest),
        _ => (None, rest),
    };
    let season = match rest {
        [] => None,
        [number] => Some(number.parse().map_err(|_| fault())?),
        _ => return Err(fault()),
    };
    Ok(Command::Standings { event, season })
}

fn report(rest: &[&str]) -> Parsed<Command> {
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

fn extend(rest: &[&str]) -> Parsed<Command> {
    let fault = (format!("EXTEND needs a number of days, at most {MAX_DAYS}."), "EXTEND 3 days");
    let rest = match rest {
        [by, rest @ ..] if by.eq_ignore_ascii_case("by") => rest,
        _ => rest,
    };
    let (number, unit) = match rest {
        [number] => (number, 1),
        [number, unit] => match unit.to_ascii_lowercase().as_str() {
            "day" | "days" => (number, 1),
            "week" | "weeks" => (number, 7),
            _ => return Err(fault),
        },
        _ => return Err(fault),
    };
    let days = number.parse::<u32>().ok().and_then(|number| number.checked_mul(unit));
    match days {
        Some(days @ 1..=MAX_DAYS) => Ok(Command::Extend { days }),
        _ => Err(fault),
    }
}

/// Words that link the two days of an absence.
const LINKING_WORDS: [&str; 8] = ["from", "to", "until", "till", "through", "and", "-", "--"];

/// Words before the last day of an absence that begins on the day of the letter.
const UNTIL: [&str; 4] = ["until", "till", "through", "to"];

fn absent(rest: &[&str]) -> Parsed<Command> {
    let example = "ABSENT 2026-12-20 TO 2027-01-03";
    if let [word, day] = rest
        && let Some(day) = date(day)
    {
        if is_any_of(word, &UNTIL) {
            return Ok(Command::Absent { from: None, to: day });
        }
        if word.eq_ignore_ascii_case("from") {
            let reason = format!("ABSENT from {day}: please write the last day as well, as in this example.");
            return Err((reason, example));
        }
    }
    let days = rest.iter().filter(|word| !is_any_of(word, &LINKING_WORDS));
    let dates: Option<Vec<NaiveDate>> = days.map(|word| date(word)).collect();
    match dates.as_deref() {
        Some([day]) => Ok(Command::Absent { from: Some(*day), to: *day }),
        Some([from, to]) if from <= to => Ok(Command::Absent { from: Some(*from), to: *to }),
        Some([_, _]) => Err(("The first day of an absence cannot come after its last.".into(), example)),
        _ => Err(("ABSENT needs the first and the last day, each as year-month-day.".into(), example)),
    }
}

/// Parses `2026-12-20`, `20.12.2026` or `2026/12/20`.
fn date(word: &str) -> Option<NaiveDate> {
    ["%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d"].iter().find_map(|form| NaiveDate::parse_from_str(word, form).ok())
}

fn is_game(name: &str) -> bool {
    GameKind::parse(name).is_some()
}

fn rules(rest: &[&str], in_capitals: bool) -> Parsed<Command> {
    let game = rest.join(" ");
    match rest {
        [] => Ok(Command::Rules(None)),
        [name @ .., last] if last.eq_ignore_ascii_case("strategy") && is_game(&name.join(" ")) => {
            Ok(Command::Rules(Some(game)))
        }
        _ if in_capitals || is_game(&game) => Ok(Command::Rules(Some(game))),
        _ => Err(("RULES needs the name of a game. GAMES lists them.".into(), "RULES Quadrant Z")),
    }
}

/// Splits `zone=Europe/Berlin name=Ann Lee` into names and values, which are checked later, together.
fn settings(rest: &[&str], line: &NormalizedLine) -> Parsed<Command> {
    // Do not use the plain line, which has Latin letters in place of look-alikes: names may be in any
    // alphabet.
    let text = line.raw_after_first_word().split(" #").next().unwrap_or_default();
    let text = text.replace(" =", "=").replace("= ", "=");
    let mut settings: Vec<(String, String)> = Vec::new();
    for word in text.split_whitespace().take(MAX_SETTING_WORDS) {
        match (word.split_once('='), settings.last_mut()) {
            (Some((name, value)), _) => settings.push((name.to_ascii_lowercase(), value.to_owned())),
            (None, Some((_, value))) => {
                value.push(' ');
                value.push_str(word);
            }
            (None, None) if line.starts_in_capitals() => settings.push((word.to_owned(), String::new())),
            (None, None) => {
                let reason = "SETTINGS takes names and values, such as receipts=faults.";
                return Err((reason.to_owned(), "SETTINGS receipts=faults"));
            }
        }
    }
    if settings.is_empty() && !line.starts_in_capitals() && !rest.is_empty() {
        return Err(("SETTINGS stands alone or with names and values.".to_owned(), "SETTINGS"));
    }
    Ok(Command::Settings(settings))
}

/// Maximum words to read in one SETTINGS line.
const MAX_SETTING_WORDS: usize = 40;

/// Parses the code of an invitation or an open seat, which `what` describes. In a line of lower case, it must
/// have a digit or a hyphen. A fault has no example, which would have to invent a code.
fn code(verb: &str, rest: &[&str], line: &NormalizedLine, what: &str) -> Parsed<String> {
    match rest {
        [code]
            if code.len() >= 3
                && code.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
                && (line.starts_in_capitals() || has_digit(code) || code.contains('-')) =>
        {
            Ok((*code).to_owned())
        }
        _ => Err((format!("{verb} needs {what}."), "")),
    }
}

fn challenge(rest: &[&str], line: &NormalizedLine) -> Parsed<Command> {
    let example = "CHALLENGE bo@example.org Quadrant Z days=7";
    let lacks =
        || ("CHALLENGE needs a player, by name, number or mail address, and a game.".to_owned(), example);
    let (Some((opponent, rest)), Some(as_written)) = (rest.split_first(), line.words_as_written().nth(1))
    else {
        return Err(lacks());
    };
    let Some(opponent) =
        proof::dressed_address(as_written).map(Party::Player).or_else(|| Party::parse(opponent))
    else {
        if opponent.contains('@') {
            return Err((format!("{opponent} is not a mail address that I can write to."), example));
        }
        return challenge_named(line).ok_or_else(lacks)?;
    };
    // The sender's mail program may have added a link to the address.
    let rest = match rest {
        [link, rest @ ..] if link.starts_with("<mailto") => rest,
        _ => rest,
    };
    let example = match opponent {
        Party::Player(_) => example,
        Party::House(_) => "CHALLENGE house quad level=easy first=me",
    };
    let (game, options, days) = terms(rest, example)?;
    Ok(Command::Challenge { opponent, game, options, days })
}

/// Parses a challenge to a player by name or number. In lower case the line is one only if it names a game.
fn challenge_named(line: &NormalizedLine) -> Option<Parsed<Command>> {
    let words: Vec<&str> = line.words_as_written().skip(1).collect();
    let (player, rest) = player_before_game(&words)?;
    Some(terms(&rest, "CHALLENGE Bo quad days=7").and_then(|(game, options, days)| {
        if !line.starts_in_capitals() && !is_game(&game) {
            return Err((
                "CHALLENGE needs the name of a game. GAMES lists them.".into(),
                "CHALLENGE Bo quad",
            ));
        }
        let player = player.chars().take(MAX_WORD).collect();
        Ok(Command::ChallengeNamed { player, game, options, days })
    }))
}

/// Parses the options of REMATCH, which replace those of the match that is over.
fn rematch(rest: &[&str]) -> Parsed<Command> {
    let (options, days) = options_and_days(rest, "REMATCH days=3")?;
    Ok(Command::Rematch { options, days })
}

fn resign(rest: &[&str]) -> Parsed<Command> {
    let reason = "To give the match up, write RESIGN CONFIRM.";
    Ok(Command::Resign { confirmed: proof::parse_confirm(rest, reason, "RESIGN CONFIRM")? })
}

/// Parses the name of a player, as written after a command.
fn player_name(line: &NormalizedLine, example: &'static str) -> Parsed<String> {
    let words: Vec<&str> = line.words_as_written().skip(1).take(MAX_NAME_WORDS).collect();
    let name: String = words.join(" ").chars().take(MAX_WORD).collect();
    if name.is_empty() {
        return Err(("The line lacks the name or the number of a player.".to_owned(), example));
    }
    Ok(name)
}

/// Maximum words of a player's name.
const MAX_NAME_WORDS: usize = 12;

/// Splits `Bo Baker Quadrant Z days=7` into a player's name and the rest, which begins with the name of the
/// game. Takes the shortest name of a player after which the name of a game follows; if there is none, the
/// first word is the player.
fn player_before_game<'w>(words: &[&'w str]) -> Option<(String, Vec<&'w str>)> {
    let until_options = words.iter().take_while(|word| !word.contains('=')).count();
    let is_split = |at: &usize| is_game(&words[*at..until_options].join(" "));
    let at = (1..until_options).find(is_split).or((until_options > 1).then_some(1))?;
    Some((words[..at].join(" "), words[at..].to_vec()))
}

fn open(rest: &[&str], in_capitals: bool) -> Parsed<Command> {
    let example = "OPEN Quadrant Z days=7";
    let (game, options, days) = terms(rest, example)?;
    if !in_capitals && !is_game(&game) {
        return Err(("OPEN needs the name of a game. GAMES lists them.".into(), example));
    }
    Ok(Command::Open { game, options, days })
}

/// The name of a game, its options, and the days of a turn.
type Terms = (String, Vec<(String, String)>, Option<u32>);

/// Parses the name of a game, options `name=value`, and `days=7`.
fn terms(rest: &[&str], example: &'static str) -> Parsed<Terms> {
    let name_length = rest.iter().take_while(|word| !word.contains('=')).count();
    let game = rest[..name_length].join(" ");
    if game.is_empty() {
        return Err(("The line lacks the name of a game. GAMES lists them.".into(), example));
    }
    let (options, days) = options_and_days(&rest[name_length..], example)?;
    Ok((game, options, days))
}

/// Options `name=value`, and the days of a turn.
type OptionsAndDays = (Vec<(String, String)>, Option<u32>);

fn options_and_days(words: &[&str], example: &'static str) -> Parsed<OptionsAndDays> {
    let mut options = Vec::new();
    let mut days = None;
    for word in words {
        match word.split_once('=') {
            Some((name, value)) if name.eq_ignore_ascii_case("days") => match value.parse::<u32>() {
                Ok(number @ 1..=MAX_DAYS) if days.is_none() => days = Some(number),
                _ => return Err((format!("{word}: give the days of a turn once, as a number."), example)),
            },
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                options.push((name.to_ascii_lowercase(), value.to_owned()));
            }
            _ => {
                return Err((format!("{word} is not an option: write name=value, without spaces."), example));
            }
        }
    }
    Ok((options, days))
}

//! The grammar of the GM's instructions.

use super::instruction::{
    EventAction, Instruction, InstructionFault, InstructionLine, Listing, MatchAction, PlayerAct, Readership,
};
use crate::game::any::GameKind;
use crate::game::{Line, Seat};
use crate::ledger::book::BookOutcome;
use crate::letter::Address;
use crate::referee::{Act, cut, read_terms_change};
use crate::request::{Whom, says_nothing};

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
        let is_text = takes_text(&words);
        let mut below: Vec<Line> = Vec::new();
        if is_text || takes_orders(&words) {
            // Without END, the next instruction ends a text.
            let ends = |line: &Line| is_end(line) || (is_text && words_after_gm(&line.text).is_some());
            below.extend(lines[at..].iter().take_while(|line| !ends(line)).cloned());
            at += below.len();
            at += usize::from(lines.get(at).is_some_and(is_end));
            below.retain(|line| is_text || !line.text.trim().is_empty());
        }
        let parsed = instruction(&words, below.clone()).or_else(|fault| {
            // A full stop ends a sentence. It belongs to a reason, but to no other argument.
            let unstopped = without_full_stop(&words).ok_or_else(|| fault.clone())?;
            instruction(&unstopped, below).map_err(|_| fault)
        });
        found.push(InstructionLine { line: line.clone(), parsed });
    }
    (found, others)
}

/// Whether one of the lines is an instruction, valid or not.
pub fn has_instruction(lines: &[Line]) -> bool {
    lines.iter().any(|line| words_after_gm(&line.text).is_some())
}

fn is_end(line: &Line) -> bool {
    line.text.trim().eq_ignore_ascii_case("end")
}

/// Returns the words after `GM`, or `None` if the line does not begin with it.
fn words_after_gm(line: &str) -> Option<Vec<&str>> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '•'));
    let mut words = line.split_whitespace();
    words.next().filter(|first| first.trim_end_matches(':').eq_ignore_ascii_case("gm"))?;
    Some(words.collect())
}

/// Returns the words without a full stop at the end, if there is one.
fn without_full_stop<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let (last, before) = words.split_last()?;
    Some([before, &[last.strip_suffix('.')?]].concat())
}

/// Whether the lines below, up to `END`, are orders that belong to the instruction.
fn takes_orders(words: &[&str]) -> bool {
    matches!(words, [first, _, verb, ..] if is(first, "match") && (is(verb, "act") || is(verb, "correct")))
}

/// Whether the lines below, up to `END` or the next instruction, are a text that belongs to the instruction.
fn takes_text(words: &[&str]) -> bool {
    match words {
        [first, ..] if is(first, "announce") => true,
        [first, verb, ..] if is(first, "event") && is(verb, "new") => true,
        [first, _, verb, ..] => is(first, "match") && is(verb, "tell"),
        _ => false,
    }
}

fn is(word: &str, wanted: &str) -> bool {
    word.eq_ignore_ascii_case(wanted)
}

/// A part of an instruction, or the reason why it is not valid.
type InstructionResult<T = Instruction> = Result<T, InstructionFault>;

fn fault<T>(reason: impl Into<String>, example: &'static str) -> InstructionResult<T> {
    Err(InstructionFault { reason: reason.into(), example })
}

/// The example for faults in which nothing more specific was recognized.
const EXTEND_EXAMPLE: &str = "GM MATCH QZ-7K3M EXTEND 3 days";

/// Parses an instruction from the words after `GM` and the lines below them, none of which begins another
/// instruction.
///
/// # Errors
/// [`InstructionFault`] if they are not an instruction.
pub fn instruction(words: &[&str], below: Vec<Line>) -> InstructionResult {
    let Some((first, rest)) = words.split_first() else {
        return fault("GM must be followed by a command.", "GM LIST late");
    };
    match first.to_ascii_uppercase().as_str() {
        "MATCH" => parse_match(rest, below),
        "LATE" => parse_late(rest),
        "LIST" => parse_list(rest),
        "NEW" => parse_new(rest),
        "PLAYER" => parse_player(rest),
        "ACCEPT" => parse_accept(rest),
        "ANNOUNCE" => parse_announce(rest, &below),
        "EVENT" => parse_event(rest, &below),
        "DIGEST" if rest.is_empty() => Ok(Instruction::Digest),
        "CLOCK" => match rest {
            [word] if is(word, "confirm") => Ok(Instruction::ConfirmClock),
            _ => fault("CLOCK takes CONFIRM.", "GM CLOCK CONFIRM"),
        },
        _ => fault(format!("I do not know the command GM {first}."), EXTEND_EXAMPLE),
    }
}

fn parse_list(rest: &[&str]) -> InstructionResult {
    let listing = match rest {
        [] => Some(Listing::All),
        [which] => Listing::parse(which),
        _ => None,
    };
    match listing {
        Some(listing) => Ok(Instruction::List(listing)),
        None => fault("GM LIST takes all, late, due, running, paused, protests or ended.", "GM LIST late"),
    }
}

fn parse_late(rest: &[&str]) -> InstructionResult {
    let example = "GM LATE EXTEND 3 days";
    let (turn, rest) = split_turn("LATE", rest);
    let [verb, number, rest @ ..] = rest else {
        return fault("LATE needs EXTEND and a number of days.", example);
    };
    let rest =
        if rest.first().is_some_and(|word| is(word, "day") || is(word, "days")) { &rest[1..] } else { rest };
    let of = match rest {
        [] => None,
        [word] => Some((*word).to_owned()),
        _ => return fault("After the days, LATE takes a match, a game or an event.", example),
    };
    match is(verb, "extend") {
        true => Ok(Instruction::ExtendLate { of, turn, days: parse_days(&[number])? }),
        false => fault(format!("I do not understand GM LATE {verb}."), example),
    }
}

/// Minimum digits of a digest that identify a letter.
const MIN_DIGEST_DIGITS: usize = 6;

fn parse_accept(rest: &[&str]) -> InstructionResult {
    match rest {
        [digest] if is_digest_prefix(digest) => {
            Ok(Instruction::AcceptLetter { digest: digest.to_ascii_lowercase() })
        }
        _ => fault("ACCEPT needs the number of a letter.", "GM ACCEPT 5f1c0a93b2d4"),
    }
}

/// Whether a word can be the beginning of a letter's digest.
pub fn is_digest_prefix(word: &str) -> bool {
    (MIN_DIGEST_DIGITS..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn parse_announce(rest: &[&str], below: &[Line]) -> InstructionResult {
    let example = "GM ANNOUNCE quad\nOn Sunday I move the club to a new server.\nEND";
    let [word] = rest else {
        return fault("ANNOUNCE needs ALL or a game, and the text below it.", example);
    };
    let readers = match GameKind::parse(word) {
        Some(game) => Readership::Game(game),
        None if is(word, "all") => Readership::All,
        None => return fault(format!("{word} is not a game."), example),
    };
    match text_of(&[], below) {
        text if text.is_empty() => fault("ANNOUNCE needs a text below it.", example),
        text => Ok(Instruction::Announce { readers, text }),
    }
}

/// Returns the text that begins with these words and continues on the lines below.
fn text_of(words: &[&str], below: &[Line]) -> String {
    let mut text = words.join(" ");
    for line in below {
        text.push('\n');
        text.push_str(line.text.trim_end());
    }
    text.trim().to_owned()
}

/// The example for faults of instructions about events.
const EVENT_EXAMPLE: &str = "GM EVENT EV-SPRING STRIKE Bo He asked for it.";

fn parse_event(rest: &[&str], below: &[Line]) -> InstructionResult {
    if let [verb] = rest
        && is(verb, "new")
    {
        return match text_of(&[], below) {
            plan if plan.is_empty() => {
                let example = "GM EVENT NEW\nid = \"EV-SPRING\"\n…\nEND";
                fault("EVENT NEW needs the lines of a plan below it.", example)
            }
            plan => Ok(Instruction::NewEvent { plan }),
        };
    }
    let [id, verb, rest @ ..] = rest else {
        return fault("GM EVENT needs an event and a command, or NEW.", EVENT_EXAMPLE);
    };
    let words: Vec<String> = rest.iter().map(|word| (*word).to_owned()).collect();
    let text = words.join(" ");
    let action = match verb.to_ascii_uppercase().as_str() {
        "OPEN" if rest.is_empty() => EventAction::Open,
        "CLOSE" if rest.is_empty() => EventAction::Close,
        "CANCEL" if !text.is_empty() => EventAction::Cancel { reason: text },
        "NOTE" if !text.is_empty() => EventAction::Note { text },
        "ENTER" => EventAction::Enter { words },
        "STRIKE" => EventAction::Strike { words },
        "REPLACE" => EventAction::Replace { words },
        "EXTEND" => return parse_event_extension(id, rest),
        "RESULT" => return parse_event_result(id, rest),
        "CANCEL" | "NOTE" => {
            let example = "GM EVENT EV-SPRING CANCEL Too few could play.";
            return fault(format!("{verb} needs words behind it."), example);
        }
        _ => {
            let takes = "GM EVENT takes OPEN, CLOSE, CANCEL, NOTE, ENTER, STRIKE, REPLACE, EXTEND or RESULT.";
            return fault(takes, EVENT_EXAMPLE);
        }
    };
    Ok(Instruction::Event { id: (*id).to_owned(), action })
}

fn parse_event_extension(id: &str, rest: &[&str]) -> InstructionResult {
    let example = "GM EVENT EV-SPRING EXTEND 14 days The server was down.";
    if let [number, words @ ..] = rest
        && let Ok(days @ 1..=366) = number.parse::<u32>()
    {
        let action = EventAction::extend(days, words).or_else(|says| fault(says, example))?;
        return Ok(Instruction::Event { id: id.to_owned(), action });
    }
    fault(DAYS_AND_REASON, example)
}

/// The sentence for an extension of an event that lacks its days or its reason.
const DAYS_AND_REASON: &str = "An extension needs a number of days, 1 to 366, and a reason.";

impl EventAction {
    /// Moves an event by a number of days. `words` are those behind the number: a reason, with or without `days`
    /// before it.
    ///
    /// # Errors
    /// Returns a sentence if the number counts something other than days, or if the reason is missing.
    pub fn extend(days: u32, words: &[&str]) -> Result<EventAction, &'static str> {
        let unit = words.first().map(|word| word.trim_end_matches(['.', ',', ':']).to_ascii_lowercase());
        let reason = match unit.as_deref() {
            Some("day" | "days") => &words[1..],
            Some("hour" | "hours" | "week" | "weeks" | "month" | "months" | "year" | "years") => {
                return Err("An extension takes days, not hours, weeks or months.");
            }
            _ => words,
        };
        match reason {
            [] => Err(DAYS_AND_REASON),
            _ => Ok(EventAction::Extend { days, reason: reason.join(" ") }),
        }
    }
}

fn parse_event_result(id: &str, rest: &[&str]) -> InstructionResult {
    let example = "GM EVENT EV-SPRING RESULT QD-7K3M draw Both agreed.";
    let outcomes = [BookOutcome::First, BookOutcome::Second, BookOutcome::Draw, BookOutcome::None];
    if let [match_id, outcome, reason @ ..] = rest
        && let Some(outcome) = BookOutcome::parse(outcome).filter(|outcome| outcomes.contains(outcome))
        && !reason.is_empty()
    {
        let (match_id, reason) = ((*match_id).to_owned(), reason.join(" "));
        let action = EventAction::Result { match_id, outcome, reason };
        return Ok(Instruction::Event { id: id.to_owned(), action });
    }
    fault("RESULT needs a match, first, second, draw or none, and a reason.", example)
}

fn parse_match(rest: &[&str], below: Vec<Line>) -> InstructionResult {
    let [id, verb, rest @ ..] = rest else {
        return fault("GM MATCH needs a match and a command.", EXTEND_EXAMPLE);
    };
    let verb = verb.to_ascii_uppercase();
    let (turn, rest) = split_turn(&verb, rest);
    let action = match_action(&verb, rest, below)?;
    Ok(Instruction::Match { id: (*id).to_owned(), turn, action })
}

/// Splits a final `TURN 4` off the words after `verb`.
fn split_turn<'a>(verb: &str, rest: &'a [&'a str]) -> (Option<u32>, &'a [&'a str]) {
    let [before @ .., word, number] = rest else { return (None, rest) };
    // Free text may end in `turn 4` by chance, so there TURN counts only in capitals.
    let is_text = matches!(verb, "NOTE" | "PAUSE" | "ROLLBACK" | "CORRECT" | "TELL" | "ANNUL");
    let is_turn = *word == "TURN" || (!is_text && is(word, "turn"));
    match number.parse() {
        Ok(turn) if is_turn => (Some(turn), before),
        _ => (None, rest),
    }
}

fn match_action(verb: &str, rest: &[&str], below: Vec<Line>) -> InstructionResult<MatchAction> {
    let text = rest.join(" ");
    let act = match verb {
        "EXTEND" => Act::Extend { days: parse_days(rest)? },
        "PAUSE" if text.is_empty() => Act::pause("no reason is given".to_owned()),
        "PAUSE" => Act::pause(text),
        "RESUME" => Act::Resume,
        "ABANDON" => Act::Abandon,
        "ADJUDICATE" => Act::Adjudicate,
        "ANNUL" if text.is_empty() => {
            return fault("ANNUL needs a reason.", "GM MATCH QZ-7K3M ANNUL One person held both seats.");
        }
        "ANNUL" => Act::Annul { reason: text },
        "TERMS" => {
            let example = "GM MATCH QZ-7K3M TERMS days=5 grace=24";
            Act::Terms(read_terms_change(rest).or_else(|says| fault(format!("TERMS: {says}."), example))?)
        }
        "NOTE" if text.is_empty() => {
            return fault("NOTE needs a text.", "GM MATCH QZ-7K3M NOTE The map was wrong.");
        }
        "NOTE" => Act::Note { text },
        "TELL" => parse_tell(rest, &below)?,
        "FORFEIT" => Act::Forfeit(parse_seat(rest, "GM MATCH QZ-7K3M FORFEIT first")?),
        "TOKEN" => Act::RenewToken(parse_seat(rest, "GM MATCH QZ-7K3M TOKEN first")?),
        "ACT" => {
            let example = "GM MATCH QZ-7K3M ACT first\nSHIP 1 TO B2\nEND";
            Act::File { seat: parse_seat(rest, example)?, orders: below }
        }
        "REPLACE" => return parse_replace(rest),
        "ROLLBACK" => return parse_rollback(rest),
        "CORRECT" => return parse_correct(rest, below),
        _ => return fault(format!("I do not know the command {verb}."), EXTEND_EXAMPLE),
    };
    Ok(MatchAction::Act(act))
}

fn parse_tell(rest: &[&str], below: &[Line]) -> InstructionResult<Act> {
    let example = "GM MATCH QZ-7K3M TELL first Please write from your own address.";
    let Some((seat, words)) = rest.split_first() else {
        return fault("TELL needs first, second or both, and a text.", example);
    };
    let to = if is(seat, "both") { None } else { Some(parse_seat(&[seat], example)?) };
    match text_of(words, below) {
        text if says_nothing(&text) => fault("TELL needs a text of yours.", example),
        text => Ok(Act::tell(to, cut(&text))),
    }
}

fn parse_replace(rest: &[&str]) -> InstructionResult<MatchAction> {
    let example = "GM MATCH QZ-7K3M REPLACE first Cy";
    let (rest, excused) = match rest {
        [rest @ .., last] if is(last, "excused") => (rest, true),
        _ => (rest, false),
    };
    match rest {
        [seat, by @ ..] if !by.is_empty() => {
            Ok(MatchAction::Replace { seat: parse_seat(&[seat], example)?, by: by.join(" "), excused })
        }
        _ => fault("REPLACE needs a seat and a person: a name, a number or an address.", example),
    }
}

fn parse_rollback(rest: &[&str]) -> InstructionResult<MatchAction> {
    let example = "GM MATCH QZ-7K3M ROLLBACK 3 Bo's letter came in time.";
    let rest = if rest.first().is_some_and(|word| is(word, "to")) { &rest[1..] } else { rest };
    if let [turn, reason @ ..] = rest
        && let Ok(turn) = turn.parse()
        && !reason.is_empty()
    {
        return Ok(MatchAction::Correct { turn, reason: reason.join(" "), orders: None });
    }
    fault("ROLLBACK needs a turn and a reason.", example)
}

fn parse_correct(rest: &[&str], orders: Vec<Line>) -> InstructionResult<MatchAction> {
    let example = "GM MATCH QZ-7K3M CORRECT 3 second It was misread.\nSHIP 1 TO B2\nEND";
    if let [turn, seat, reason @ ..] = rest
        && let Ok(turn) = turn.parse()
        && !reason.is_empty()
    {
        let orders = Some((parse_seat(&[seat], example)?, orders));
        return Ok(MatchAction::Correct { turn, reason: reason.join(" "), orders });
    }
    fault("CORRECT needs a turn, a seat, a reason, and the orders in the lines below.", example)
}

fn parse_days(rest: &[&str]) -> InstructionResult<u32> {
    let number: Option<u32> = match rest {
        [number] => number.parse().ok(),
        [number, unit] if is(unit, "day") || is(unit, "days") => number.parse().ok(),
        _ => None,
    };
    match number {
        Some(days @ 1..=366) => Ok(days),
        _ => fault("EXTEND needs a number of days, 1 to 366.", EXTEND_EXAMPLE),
    }
}

fn parse_seat(rest: &[&str], example: &'static str) -> InstructionResult<Seat> {
    if let [word] = rest
        && let Some(seat) = Seat::parse(word)
    {
        return Ok(seat);
    }
    fault("This command needs a seat, first or second.", example)
}

fn parse_address(word: &str, example: &'static str) -> InstructionResult<Address> {
    let bare = word.trim_matches(['<', '>']);
    Address::parse(bare).or_else(|_| fault(format!("{word} is not a mail address."), example))
}

fn parse_new(rest: &[&str]) -> InstructionResult {
    let example = "GM NEW quad Ann Bo swap=off days=3";
    // A game's name may have several words.
    let is_game = |count: &usize| GameKind::parse(&rest[..*count].join(" ")).is_some();
    let (game, rest) = rest.split_at((1..=rest.len()).rev().find(is_game).unwrap_or(rest.len().min(1)));
    let is_option = |word: &&str| word.contains('=') && !word.contains('@');
    let (players, given) = rest.split_at(rest.iter().position(is_option).unwrap_or(rest.len()));
    if players.len() < 2 {
        return fault("GM NEW needs a game and two people: names, numbers or addresses.", example);
    }
    let mut options = Vec::new();
    let mut days = None;
    for word in given {
        let Some((name, value)) = word.split_once('=') else {
            return fault(format!("{word} is not an option; options are written name=value."), example);
        };
        if is(name, "days") {
            let Ok(number) = value.parse() else {
                return fault(format!("The days in {word} are not a number."), example);
            };
            days = Some(number);
        } else {
            options.push((name.to_ascii_lowercase(), value.to_owned()));
        }
    }
    Ok(Instruction::New {
        game: game.join(" "),
        words: players.iter().map(|&word| word.to_owned()).collect(),
        options,
        days,
    })
}

fn parse_player(rest: &[&str]) -> InstructionResult {
    let example = "GM PLAYER SHOW ann@example.org";
    let [verb, rest @ ..] = rest else {
        return fault("GM PLAYER needs a command and a person.", example);
    };
    let verb = verb.to_ascii_uppercase();
    if let "ADD" | "DECLINE" = verb.as_str() {
        let example = "GM PLAYER ADD ann@example.org Ann";
        let [address, rest @ ..] = rest else {
            return fault(format!("GM PLAYER {verb} needs a mail address."), example);
        };
        let (address, words) = (parse_address(address, example)?, rest.join(" "));
        return Ok(match verb.as_str() {
            "ADD" => Instruction::PlayerAdd { address, name: words },
            _ => Instruction::PlayerDecline { address, words },
        });
    }
    let (person, act, example) = match verb.as_str() {
        "SHOW" => (rest, PlayerAct::Show, example),
        "BLOCK" => (rest, PlayerAct::Block, "GM PLAYER BLOCK ann@example.org"),
        "UNBLOCK" => (rest, PlayerAct::Unblock, "GM PLAYER UNBLOCK ann@example.org"),
        "BOUNCE-CLEAR" => (rest, PlayerAct::BounceClear, "GM PLAYER BOUNCE-CLEAR ann@example.org"),
        "RENAME" => {
            let example = "GM PLAYER RENAME Bo Baker TO Robert Baker";
            let (person, name) = split_rename(rest);
            if name.is_empty() {
                return fault("RENAME needs a person and the new name.", example);
            }
            (person, PlayerAct::Rename(name.join(" ")), example)
        }
        "ADDRESS" => {
            let example = "GM PLAYER ADDRESS Bo TO bo@example.org";
            let [person @ .., address] = rest else {
                return fault("ADDRESS needs a person and a mail address.", example);
            };
            let address = parse_address(address, example)?;
            match person {
                [person @ .., verb] if is(verb, "remove") => {
                    (person, PlayerAct::RemoveAddress(address), example)
                }
                [person @ .., verb] if is(verb, "to") => (person, PlayerAct::AddAddress(address), example),
                _ => (person, PlayerAct::AddAddress(address), example),
            }
        }
        "MERGE" => {
            let example = "GM PLAYER MERGE old@example.org INTO new@example.org";
            let at = rest.iter().position(|word| is(word, "into")).unwrap_or(rest.len());
            let into = rest.get(at + 1..).and_then(|words| Whom::read(&words.join(" ")));
            let Some(into) = into else {
                return fault("MERGE needs two people, and INTO between them.", example);
            };
            (&rest[..at], PlayerAct::MergeInto(into), example)
        }
        _ => return fault(format!("I do not understand GM PLAYER {verb}."), example),
    };
    match Whom::read(&person.join(" ")) {
        Some(whom) => Ok(Instruction::Player { whom, act }),
        None => fault(format!("GM PLAYER {verb} needs a person: a name, a number or an address."), example),
    }
}

/// Splits the words of RENAME into the person and the new name: at `TO`, unless the first word is an address or a number,
/// or else after the first word.
fn split_rename<'a, 'w>(words: &'a [&'w str]) -> (&'a [&'w str], &'a [&'w str]) {
    let is_one_word = words.first().is_some_and(|word| {
        let number = word.strip_prefix("P-").or_else(|| word.strip_prefix("p-"));
        word.contains('@') || number.is_some_and(|digits| digits.parse::<i64>().is_ok())
    });
    match words.iter().position(|word| is(word, "to")).filter(|at| *at > 0 && !is_one_word) {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => words.split_at(words.len().min(1)),
    }
}

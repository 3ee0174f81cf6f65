//! A ruling follows from the match before, its cause and its letter alone: made again from the stored JSON of all three, its
//! entries are equal byte for byte. And no letter has more effect than its cause gives it room for.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::house;
use fogpost::ledger::{
    self, Act, Allowance, Cause, Entry, EntryCause, Hint, LetterCause, PauseReason, Permission, Question,
    Signature, TokenOf,
};
use fogpost::letter::{Digest, Letter, Limits, NewText};
use fogpost::referee::{self, Content, Match, Matter, Reader, Ruling, SeatLetter, Stage, part_digest};
use fogpost::request::{lines_of, part_for};

use crate::referee::open_against;
use fogpost_testing::play::{Play, matches};
use fogpost_testing::random::Random;

/// Lines of letters besides orders.
const COMMANDS: [&str; 36] = [
    "STATUS",
    "REPORT",
    "HISTORY",
    "HINT",
    "HELP",
    "CHECK",
    "WAIT",
    "YES",
    "TURN 1",
    "TELL Well played.\nEND",
    "TELL Again.\nEND",
    "TELL GM I shall be late.\nEND",
    "TELL MARBLE E5\nEND",
    "PROTEST That was wrong.\nEND",
    "DRAW",
    "AGREE",
    "CLAIM",
    "EXTEND 3 days",
    "EXTEND 5 days",
    "EXTEND 99 days",
    "ABSENT 1970-02-01 TO 1970-02-03",
    "ABSENT 1970-03-01 TO 1970-03-02",
    "ABSENT 1960-03-01 TO 1960-03-02",
    "SUBSTITUTE",
    "WITHDRAW",
    "RESIGN",
    "CHALLENGE bo@players.example QUAD",
    "SETTINGS receipts=faults",
    "Dear GM, I am in hospital.",
    "Thank you!",
    "and also C4, I think",
    "MATCH QD-OTHER",
    "END",
    "SHIP 99 A1 B2 C3",
    "IF D3-E4 THEN E6-D5",
    "IF MARBLE E5 THEN MARBLE C4",
];

/// Facts that random matches must lead to, or the letters are too tame.
const REACHED: [&str; 28] = [
    "AbsenceNoted",
    "AwayNoted",
    "ConditionsSealed",
    "DeadlineExtended",
    "DeadlineMissed",
    "DeadlineSet",
    "DrawOffered",
    "ExtensionAsked",
    "GmTold",
    "LetterAnswered",
    "MailReturned",
    "MatchClosed",
    "MatchEnded",
    "MatchPaused",
    "MatchResumed",
    "MessagePassed",
    "OrdersChecked",
    "OrdersDeferred",
    "OrdersFirm",
    "OrdersRefused",
    "OrdersSealed",
    "OrdersWithdrawn",
    "Protested",
    "ReminderSent",
    "SubstituteAsked",
    "TokenRenewed",
    "TurnAdjudicated",
    "GmAsked",
];

fn pick<T: Clone>(random: &mut Random, of: &[T]) -> T {
    random.pick(of).clone()
}

/// The lines of a letter of any kind.
fn lines(play: &mut Play, game_match: &Match, seat: Seat) -> Vec<String> {
    let mut lines = Vec::new();
    let is_due = game_match.due().is_some_and(|due| due.seats.contains(&seat));
    if is_due && !play.random.once_in(3) {
        play.state = game_match.state.clone();
        lines.extend(play.orders(seat));
    }
    for _ in 0..play.random.below(4) {
        let command = pick(&mut play.random, &COMMANDS);
        let at = if play.random.once_in(2) { 0 } else { lines.len() };
        lines.splice(at..at, command.lines().map(str::to_owned));
    }
    if play.random.once_in(4) {
        lines.push(
            pick(&mut play.random, &["We have snow in the garden.", "Wait, there is snow."]).to_owned(),
        );
    }
    if play.random.once_in(60) {
        lines.push("RESIGN CONFIRM".to_owned());
    }
    if play.random.once_in(6) {
        lines.insert(play.random.below(lines.len() + 1), format!("MATCH {}", game_match.id));
    }
    lines
}

fn room(random: &mut Random) -> Allowance {
    match random.below(9) {
        0 => Allowance::Unreachable,
        left @ 1..=6 => Allowance::Letters(u8::try_from(left - 1).expect("a small number")),
        _ => Allowance::default(),
    }
}

/// Circumstances of any kind.
fn circumstances(random: &mut Random, letter: Digest, seat: Seat, received: DateTime<Utc>) -> LetterCause {
    LetterCause {
        dkim: pick(random, &[None, Some(Signature::Passed), Some(Signature::Missing)]),
        token: if random.once_in(5) { TokenOf::Other } else { TokenOf::Own },
        confirmed_by: random.once_in(6).then(|| Digest::of(b"CONFIRM")),
        accepted_by: random.once_in(6).then(|| "Gill".to_owned()),
        shows_token: random.once_in(8),
        answer: if random.once_in(4) { Permission::Suppressed } else { Permission::Now },
        opponent: room(random),
        gm: room(random),
        gm_plays: random.once_in(6),
        holds_resignation: random.once_in(3),
        left_out: u32::try_from(random.below(3)).expect("a small number"),
        question: pick(
            random,
            &[None, Some(Question::Extension), Some(Question::Draw), Some(Question::Withdrawal)],
        ),
        hint: random.once_in(3).then(|| Hint { version: 1, orders: vec!["MARBLE E5".to_owned()] }),
        ..LetterCause::new(letter, seat, received)
    }
}

/// A letter of `seat`, as bytes.
fn raw(random: &mut Random, game_match: &Match, lines: &[String]) -> String {
    let turn = game_match.due().map_or(0, |due| due.turn);
    let subject = match random.below(4) {
        0 => "Subject: Orders".to_owned(),
        1 => format!("Subject: Re: [{}] Turn {}", game_match.id, turn.saturating_sub(1)),
        2 => "Subject: [QZ-AAAA] Turn 3".to_owned(),
        _ => format!("Subject: Re: [{}] Turn {turn}", game_match.id),
    };
    format!("From: Ann <ann@players.example>\r\n{subject}\r\n\r\n{}\r\n", lines.join("\r\n"))
}

fn read(game_match: &Match, raw: &str) -> (Letter, NewText) {
    let own = game_match.mail_identity.own_identity().expect("an address");
    let letter = Letter::read(raw.as_bytes(), &own, &Limits::default()).expect("a letter");
    let written = letter.new_text(None);
    (letter, written)
}

/// Reads a letter of any kind, with circumstances of any kind.
fn written(play: &mut Play, game_match: &Match, seat: Seat, at: DateTime<Utc>) -> (String, SeatLetter) {
    let lines = lines(play, game_match, seat);
    let raw = raw(&mut play.random, game_match, &lines);
    let (letter, new_text) = read(game_match, &raw);
    let received = at - TimeDelta::minutes(i64::try_from(play.random.below(3000)).expect("minutes"));
    let mut cause = circumstances(&mut play.random, letter.digest, seat, received);
    if !new_text.lines.is_empty() && (play.random.once_in(4) || cause.token == TokenOf::Other) {
        cause.part = Some(part_digest(&part_for(
            &lines_of(new_text.clone()),
            &game_match.id,
            cause.token == TokenOf::Own,
        )));
    }
    let mut read = referee::prepare(game_match, cause, &letter, new_text).expect("the part is there");
    read.withhold_texts(game_match.game, &[GameKind::Quad, GameKind::Quantum]);
    (raw, read)
}

/// Asserts that the ruling follows from the stored match, cause and letter.
fn assert_derived(before: &Match, ruling: &Ruling, raw: Option<&str>) {
    let Some(first) = ruling.entries.first() else {
        return assert_eq!(before, &ruling.after, "a ruling without entries changes nothing");
    };
    let entry: Entry = serde_json::from_str(&first.json).expect("an entry");
    for next in &ruling.entries[1..] {
        assert_eq!(next.entry.cause, EntryCause::Of(entry.seq));
    }
    let before: Match = serde_json::from_str(&before.to_json()).expect("a match");
    let complete = |mut act: Act| {
        assert!(act.complete(&ruling.after), "{act:?}");
        act
    };
    let EntryCause::Cause(cause) = entry.cause else { panic!("the first entry holds the cause") };
    let read_again;
    let matter = match cause {
        Cause::Letter(cause) => {
            let (letter, written) = read(&before, raw.expect("a letter"));
            read_again = referee::prepare(&before, *cause, &letter, written).expect("its part");
            Matter::Letter(&read_again)
        }
        Cause::Clock { phase } => Matter::Clock { phase },
        Cause::House { phase, play } => Matter::House { phase, play },
        Cause::Gm { name, phase, act } => Matter::Gm { name, phase, act: complete(act) },
        Cause::Program { phase, act } => Matter::Program { phase, act: complete(act) },
    };
    let again = referee::rule(&before, &matter, entry.at);
    let json = |ruling: &Ruling| ruling.entries.iter().map(|entry| entry.json.clone()).collect::<Vec<_>>();
    assert_eq!(json(&again), json(ruling));
    assert_eq!(again.after.to_json(), ruling.after.to_json());
}

/// Asserts that a letter told nobody more than its cause gave room for.
fn assert_within_room(letter: &SeatLetter, ruling: &Ruling) {
    let cause = &letter.cause;
    let told = |to: Reader| {
        let notices = ruling.dispatches.iter();
        notices.filter(|dispatch| dispatch.to == to && matches!(dispatch.content, Content::Notice(_))).count()
    };
    let most = |room| match room {
        Allowance::Unreachable => 0,
        Allowance::Letters(most) => usize::from(most),
    };
    let (opponent, gm) = (told(Reader::Seat(cause.seat.other())), told(Reader::Gm));
    assert!(opponent <= most(cause.opponent) && gm <= most(cause.gm), "{opponent}, {gm}: {letter:#?}");
    let (tells_opponent, tells_gm) = letter.tells();
    assert!(tells_opponent || opponent == 0, "{letter:#?}");
    assert!(tells_gm || gm == 0, "{letter:#?}");
    let answers = ruling.dispatches.iter().filter(|dispatch| matches!(dispatch.content, Content::Answer(_)));
    let is_held = cause.answer == Permission::Suppressed && !cause.shows_token;
    assert!(answers.count() <= usize::from(!is_held), "{letter:#?}");
}

/// An act of a GM or of the program, of any kind that needs nothing from the shell.
fn act(random: &mut Random, seat: Seat) -> Act {
    match random.below(9) {
        0 => Act::Pause { reason: PauseReason::Gm("a move".to_owned()) },
        1 | 2 => Act::Resume,
        3 => Act::Extend { days: 2 },
        4 => Act::Adjudicate,
        5 => Act::tell(Some(seat), "Please write soon.".to_owned()),
        6 => Act::Bounced { seat, sent: DateTime::UNIX_EPOCH },
        7 => Act::RenewOwnToken(seat),
        _ => Act::Away(seat),
    }
}

/// Plays a match by letters, acts, the clock and the house, and checks every ruling. Returns the kinds of its facts.
fn assert_rulings_follow(kind: GameKind, seed: u64, against_house: bool) -> BTreeSet<&'static str> {
    let mut play = Play::new(kind, seed);
    let opening = open_against(&play, against_house.then(|| "trainer".to_owned()));
    let mut entries: Vec<Entry> = opening.entries.iter().map(|chained| chained.entry.clone()).collect();
    let mut game_match = opening.after;
    let mut at = DateTime::UNIX_EPOCH;
    for _ in 0..150 {
        at += TimeDelta::minutes(i64::try_from(play.random.below(600)).expect("minutes"));
        if play.random.once_in(15) {
            at += TimeDelta::days(8);
        }
        let seat = if against_house || play.random.once_in(2) { Seat::First } else { Seat::Second };
        let (mut raw, mut letter) = (None, None);
        let matter = if let Some(seat) = game_match.house_due().filter(|_| !play.random.once_in(3)) {
            let seen = ledger::what_seat_saw(&entries, seat).expect("a sound ledger");
            let turn = game_match.house_turn(&seen, &house::play).expect("the house plays");
            Matter::House { phase: game_match.phase_no, play: turn }
        } else if play.random.once_in(8) {
            let by_gm = play.random.once_in(2);
            let act = act(&mut play.random, seat);
            if by_gm { game_match.by_gm("Gill", act) } else { game_match.by_program(act) }
        } else if game_match.wake_at().is_some_and(|wake| wake <= at) {
            game_match.by_clock()
        } else {
            let (bytes, read) = written(&mut play, &game_match, seat, at);
            raw = Some(bytes);
            Matter::Letter(letter.insert(read))
        };
        let ruling = referee::rule(&game_match, &matter, at);
        assert_derived(&game_match, &ruling, raw.as_deref());
        if let Matter::Letter(letter) = matter {
            assert!(!ruling.entries.is_empty(), "every letter leaves an entry");
            assert_within_room(letter, &ruling);
        }
        entries.extend(ruling.entries.iter().map(|chained| chained.entry.clone()));
        let told = (0..ruling.dispatches.len()).map(|n| Digest::of(&n.to_be_bytes()));
        game_match = ruling.after;
        game_match.pins.extend(told);
        if game_match.stage == Stage::Over && play.random.once_in(10) {
            break;
        }
    }
    entries.iter().map(|entry| entry.fact.kind()).collect()
}

#[test]
fn every_ruling_follows_from_its_cause_and_its_letter_alone() {
    let kinds: BTreeSet<&str> =
        matches(6).flat_map(|(kind, seed)| assert_rulings_follow(kind, seed, false)).collect();
    for kind in REACHED {
        assert!(kinds.contains(kind), "no letter or act led to {kind}");
    }
}

#[test]
fn every_ruling_against_the_house_follows_from_its_cause_and_its_letter_alone() {
    for (kind, seed) in matches(4) {
        if matches!(kind, GameKind::Quad | GameKind::Quantum) {
            assert_rulings_follow(kind, seed, true);
        }
    }
}

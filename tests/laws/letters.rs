//! Laws of the letters: every line is narrow, and none is an order or a command when a reply quotes it.

use std::collections::{BTreeMap, BTreeSet};

use fogpost::game::any::{GameKind, OwnPart};
use fogpost::game::{Phase, Seat, Syntax};
use fogpost::referee::{Content, Match, Reader, Reply};
use fogpost::report::{COMPILED_IN, Templates, WordedLetter, png};
use fogpost::request::Request;

use crate::referee::{answers, open, receive, templates, worded};
use fogpost_testing::play::{Play, Try, filings, matches, numbered};

/// The maximum width of a line, in columns.
const WIDTH: usize = 70;

/// How many letters of each kind are checked for each phase of a game.
const ENOUGH: usize = 2;

/// Returns what is wrong with a letter of a match of `game`: wide lines, except quotes of a player's own `written`
/// lines, and lines that would have an effect in a reply. The lines of `reasons`, which say why orders cannot stand,
/// may begin like an order (`Ship 4 is in B.`), but must not be one.
fn faults(game: GameKind, page: &WordedLetter, written: &[String], reasons: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    for line in page.text.lines() {
        let width = line.chars().count();
        let echo = line.trim_start().strip_prefix("| ");
        let is_board_link = line.starts_with("To move on the board: https://club.example/play/#");
        if width > WIDTH
            && !is_board_link
            && !echo.is_some_and(|echo| written.iter().any(|written| written == echo))
        {
            faults.push(format!("{width} columns: {line}"));
        }
    }
    // Read the whole text as if a mail program quoted it without a prefix. The match's own game reads it, so an order
    // of another game does no harm.
    let lines: Vec<String> = page.text.lines().map(str::to_owned).collect();
    let begins_order = |line: &str| !matches!(game.syntax(line), Err(Syntax::Unknown));
    let request = Request::read(&numbered(&lines), begins_order);
    let is_reason = |no: usize| reasons.iter().any(|reason| reason.contains(lines[no - 1].trim()));
    let orders =
        request.orders.iter().filter(|order| !is_reason(order.no) || game.syntax(&order.text).is_ok());
    faults.extend(orders.map(|order| format!("read as an order: {}", lines[order.no - 1])));
    faults.extend(request.commands.iter().map(|command| format!("read as a command: {command:?}")));
    faults.extend(request.faults.iter().map(|fault| format!("read as a command at fault: {fault:?}")));
    if request.check || request.wait || request.turn.is_some() {
        faults.push(format!("read as a word to the referee: {request:?}"));
    }
    faults
}

/// The letters checked so far, by game, phase and kind, and what was wrong with them.
#[derive(Default)]
struct Seen {
    letters: BTreeMap<(GameKind, Option<Phase>, &'static str), usize>,
    faults: BTreeSet<String>,
}

impl Seen {
    /// Words a letter and checks it, unless enough of its kind were checked.
    fn look(
        &mut self,
        templates: &Templates,
        game_match: &Match,
        seat: Seat,
        content: &Content,
        written: &[String],
    ) {
        let name = name(content);
        let seen =
            self.letters.entry((game_match.game, game_match.due().map(|due| due.phase), name)).or_default();
        *seen += 1;
        // Spread the samples over the match, so that late positions are among them.
        if *seen <= ENOUGH || seen.is_power_of_two() {
            let page = worded(templates, game_match, seat, content.clone());
            assert!(!page.subject.is_empty() && page.subject.starts_with(&format!("[{}]", game_match.id)));
            let reasons: Vec<String> = match content {
                Content::Answer(answer) => answer.all_faults().map(|fault| fault.reason.clone()).collect(),
                _ => Vec::new(),
            };
            let faults = faults(game_match.game, &page, written, &reasons);
            self.faults
                .extend(faults.into_iter().map(|fault| format!("{} of {}: {fault}", name, game_match.game)));
        }
    }

    fn has(&self, kind: GameKind, phase: Option<Phase>, name: &'static str) -> bool {
        self.letters.contains_key(&(kind, phase, name))
    }
}

fn name(content: &Content) -> &'static str {
    match content {
        Content::Invitation => "invitation",
        Content::Answer(_) => "answer",
        Content::Report { .. } => "report",
        Content::Reminder => "reminder",
        Content::Missed { .. } => "missed",
        Content::Succession => "succession",
        Content::Notice(_) => "notice",
    }
}

/// The seat's attempts to file, none of them blank: a blank letter files nothing.
fn written(play: &mut Play, seat: Seat) -> Vec<Try> {
    loop {
        let tries = play.tries(seat);
        if tries.iter().all(|attempt| attempt.lines.iter().any(|line| !line.trim().is_empty())) {
            return tries;
        }
    }
}

/// Plays a match by letter and checks what the referee writes.
fn by_letter(kind: GameKind, seed: u64, templates: &Templates, seen: &mut Seen) {
    let mut play = Play::new(kind, seed);
    let opening = open(&play);
    let mut game_match = opening.after;
    for dispatch in &opening.dispatches {
        if let Reader::Seat(seat) = dispatch.to {
            seen.look(templates, &game_match, seat, &dispatch.content, &[]);
        }
    }
    while let Some(due) = play.state.due() {
        let tries: Vec<_> = due.seats.iter().flat_map(|seat| written(&mut play, *seat)).collect();
        for seat in Seat::BOTH {
            for content in [Content::Reminder, Content::Missed { seats: due.seats.clone() }] {
                seen.look(templates, &game_match, seat, &content, &[]);
            }
            for content in answers(&receive(&game_match, seat, &["STATUS".to_owned()]), seat) {
                seen.look(templates, &game_match, seat, &content, &[]);
            }
        }
        for attempt in &tries {
            let ruling = receive(&game_match, attempt.seat, &attempt.lines);
            game_match = ruling.after;
            let canonical = attempt.sealed.as_ref().map(|filing| filing.lines().to_vec()).unwrap_or_default();
            for dispatch in &ruling.dispatches {
                if let Reader::Seat(seat) = dispatch.to {
                    seen.look(templates, &game_match, seat, &dispatch.content, &canonical);
                }
            }
        }
        if !due.seats.is_empty() {
            play.adjudicate(&due, &filings(&tries));
            while let Some(pass) = play.state.due().filter(|due| due.seats.is_empty()) {
                play.adjudicate(&pass, &filings(&[]));
            }
        }
        assert_eq!(game_match.state, play.state, "{kind} {seed}");
    }
}

#[test]
fn no_line_of_a_letter_is_wide_or_reads_as_an_order() {
    let templates = templates();
    let mut seen = Seen::default();
    for (kind, seed) in matches(3) {
        by_letter(kind, seed, &templates, &mut seen);
    }
    assert!(seen.faults.is_empty(), "{}", seen.faults.into_iter().collect::<Vec<_>>().join("\n"));
    for kind in GameKind::ALL {
        assert!(seen.has(*kind, None, "report"), "no letter of the end of {kind}");
    }
    let phases = [
        (GameKind::QuadrantZ, Phase::Setup),
        (GameKind::QuadrantZ, Phase::Turn),
        (GameKind::QuadrantZ, Phase::Casualties),
        (GameKind::Pacific, Phase::Setup),
        (GameKind::Pacific, Phase::Surface),
        (GameKind::Pacific, Phase::Submarines),
        (GameKind::Quantum, Phase::Move),
        (GameKind::Quad, Phase::Move),
    ];
    for (kind, phase) in phases {
        for name in ["answer", "reminder", "report", "missed"] {
            // There are no reports before the setups are adjudicated.
            assert!(
                phase == Phase::Setup || seen.has(kind, Some(phase), name),
                "no {name} in {kind} {phase}"
            );
        }
    }
}

#[test]
fn no_line_of_the_manual_is_wide_or_reads_as_an_order() {
    let templates = templates();
    let rules = |kind: &GameKind| Reply::Rules { game: Some(kind.key().to_owned()) };
    let mut pages =
        vec![Reply::Help { topic: None }, Reply::Games { seats: Vec::new() }, Reply::Rules { game: None }];
    let topics = COMPILED_IN.iter().filter_map(|(name, _)| name.strip_prefix("help/")?.strip_suffix(".txt"));
    pages.extend(topics.map(|topic| Reply::Help { topic: Some(topic.to_owned()) }));
    pages.extend(GameKind::ALL.iter().map(rules));
    let mut found = BTreeSet::new();
    for kind in GameKind::ALL {
        let game_match = open(&Play::new(*kind, 0)).after;
        for reply in &pages {
            let answer = fogpost::referee::Answer { replies: vec![reply.clone()], ..Default::default() };
            let page = worded(&templates, &game_match, Seat::First, Content::Answer(Box::new(answer)));
            let faults = self::faults(*kind, &page, &[], &[]);
            found.extend(faults.into_iter().map(|fault| format!("{reply:?}: {fault}")));
        }
    }
    assert!(found.is_empty(), "{}", found.into_iter().collect::<Vec<_>>().join("\n"));
}

/// The size of a board's picture, in bytes, that a letter has room for.
const PICTURE: usize = 60_000;

#[test]
fn a_board_is_small_enough_for_a_letter() {
    for (kind, seed) in matches(1) {
        let mut play = Play::new(kind, seed);
        for phase in 1..=24 {
            let before = play.state.clone();
            let Some(tries) = play.step() else { break };
            let filed = filings(&tries);
            for seat in Seat::BOTH.into_iter().filter(|_| phase % 12 == 0) {
                let own = OwnPart { before: &before, filed: filed[seat].as_ref() };
                let board = play.state.shown_board(seat, Some(&play.memories), Some(own));
                let bytes = png(&board.picture).expect("it has pixels").len();
                assert!(bytes <= PICTURE, "{kind}: {bytes} bytes");
            }
        }
    }
}

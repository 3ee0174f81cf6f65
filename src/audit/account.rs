//! The account of a match: who filed what and when, what was asked and answered, what each seat was told.
//!
//! It shows everything. The caller decides whether it may be shown.

mod sentence;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use mail_parser::MessageParser;
use minijinja::value::Serde;
use serde_json::{Value, json};

use self::sentence::sentence;
use crate::game::{Due, OrderLines, Phase, Seat};
use crate::ledger::{self, Entry, Fact, FaultyLine, Source};
use crate::letter::{Digest, Letter, Limits, NewText};
use crate::referee::{DispatchKind, Match, Stage};
use crate::report::envelope::PlaceInMatch;
use crate::report::pin::pin;
use crate::report::sent::plain_text;
use crate::report::{self, TemplateError, Templates};

/// One of our letters with all its bytes.
#[derive(Clone, Debug)]
pub struct ArchivedDispatch {
    pub message_id: String,
    pub recipient: String,
    pub kind: DispatchKind,
    /// `None` for a letter to the GM.
    pub seat: Option<Seat>,
    pub created_at: DateTime<Utc>,
    pub sent_at: Option<DateTime<Utc>>,
    pub bytes: Vec<u8>,
    /// Whether it may repeat words of a letter that is withheld, and so is withheld itself.
    pub withheld: bool,
}

impl MatchArchive {
    /// Withholds the letters that answered or passed on a letter of which nothing can be shown yet, but not reports, which
    /// only show what was decided.
    pub fn withhold_answers(&mut self) {
        let is_hidden =
            |digest: &Digest| self.withheld.get(digest).is_some_and(|letter| letter.part.is_none());
        let entries = self.entries.iter();
        let hidden: BTreeSet<u64> = entries
            .filter(|entry| matches!(&entry.cause, Source::Letter(digest) if is_hidden(digest)))
            .map(|entry| entry.seq)
            .collect();
        for dispatch in &mut self.dispatches {
            let seq = seq_of(&dispatch.message_id, &self.game_match);
            dispatch.withheld =
                dispatch.kind != DispatchKind::Report && seq.is_some_and(|seq| hidden.contains(&seq));
        }
    }
}

/// A letter of which at most a part can be shown yet.
#[derive(Clone, Debug)]
pub struct WithheldLetter {
    /// Who wrote it, if the ledger says that a part of it was ruled on.
    pub seat: Option<Seat>,
    /// The part for this match, if only that was ruled on.
    pub part: Option<String>,
    /// The matches that must be over before the whole letter is shown. None in a public dossier, which never shows it.
    pub until: Vec<String>,
}

/// Everything that is stored about a match.
#[derive(Clone, Debug)]
pub struct MatchArchive {
    pub game_match: Match,
    pub entries: Vec<Entry>,
    pub letters: BTreeMap<Digest, Vec<u8>>,
    /// The letters that are also about other matches, which are not over.
    pub withheld: BTreeMap<Digest, WithheldLetter>,
    pub dispatches: Vec<ArchivedDispatch>,
}

/// Returns the account as plain text, limited to `turn` if one is given. `None` if the match has no such turn.
///
/// # Errors
/// [`TemplateError`] if a template is faulty.
pub fn text(
    templates: &Templates,
    archive: &MatchArchive,
    turn: Option<u32>,
) -> Result<Option<String>, TemplateError> {
    let context = context(archive, turn);
    if context["chapters"].as_array().is_none_or(Vec::is_empty) {
        return Ok(None);
    }
    let page = templates.render("account.txt", Serde(context))?;
    Ok(Some(page.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()))
}

/// Returns the whole account as an HTML page with inline boards.
///
/// # Errors
/// [`TemplateError`] if a template is faulty.
pub fn html(templates: &Templates, archive: &MatchArchive) -> Result<String, TemplateError> {
    templates.render("account.html", Serde(context(archive, None)))
}

/// A phase of the match: its rulings, up to and including its adjudication.
#[derive(Default)]
struct Chapter {
    /// The phase that was adjudicated at its end, or that is still due. `None` if there is none.
    due: Option<Due>,
    events: Vec<Value>,
}

/// `Turn 3`, or `Turn 3, surface, Ann` in a turn with several phases.
fn chapter_title(due: Option<&Due>, game_match: &Match) -> String {
    let Some(Due { phase, turn, seats }) = due else { return "After the end".to_owned() };
    let turn = if *turn == 0 { "Setup".to_owned() } else { format!("Turn {turn}") };
    match (phase, &seats[..]) {
        (Phase::Setup | Phase::Turn | Phase::Move, _) => turn,
        (phase, [only]) => format!("{turn}, {phase}, {}", game_match.players[*only]),
        (phase, _) => format!("{turn}, {phase}"),
    }
}

fn context(archive: &MatchArchive, only: Option<u32>) -> Value {
    let MatchArchive { game_match, .. } = archive;
    let mut chapters = chapters(archive);
    if let Some(last) = chapters.last_mut() {
        last.due = last.due.take().or_else(|| game_match.due());
    }
    chapters
        .retain(|chapter| only.is_none_or(|only| chapter.due.as_ref().is_some_and(|due| due.turn == only)));
    let chapters = chapters.into_iter().map(|Chapter { due, events }| {
        json!({ "title": chapter_title(due.as_ref(), game_match), "events": events })
    });
    json!({
        "match": game_match.id,
        "game": game_match.game.name(),
        "stage": game_match.stage,
        "names": game_match.players,
        "sides": game_match.game.sides(),
        "options": game_match.state.options(),
        "opened_at": utc(game_match.opened_at),
        "outcome": game_match.state.outcome(),
        "head": { "seq": game_match.head.seq, "hash": game_match.head.hash },
        "key": (game_match.stage == Stage::Over).then(|| game_match.key.reveal()),
        "chapters": chapters.collect::<Vec<_>>(),
    })
}

/// The public board after every adjudication and every correction, by the number of its entry.
fn boards(entries: &[Entry]) -> BTreeMap<u64, Value> {
    let mut boards = BTreeMap::new();
    ledger::replay(entries, |entry, state| {
        let title = match &entry.fact {
            Fact::TurnAdjudicated { turn, .. } => format!("The board after {}", title(*turn)),
            Fact::CorrectionMade { turn, .. } => format!("The board before {}, again", title(*turn)),
            // Closing a match leaves the position as it is.
            _ => return,
        };
        let board = state.open_board();
        boards.insert(
            entry.seq,
            json!({ "title": title, "text": board.text, "svg": report::svg(&board.picture) }),
        );
    });
    boards
}

fn chapters(archive: &MatchArchive) -> Vec<Chapter> {
    let boards = boards(&archive.entries);
    let mut chapters: Vec<Chapter> = vec![Chapter::default()];
    let mut rest = &archive.entries[..];
    while let Some(first) = rest.first() {
        let length =
            rest.iter().take_while(|entry| entry.cause == first.cause && entry.at == first.at).count();
        let (ruling, after) = rest.split_at(length);
        rest = after;
        let adjudicated = adjudicated_phase(ruling);
        let next = next_phase(ruling);
        let reopens = ruling.iter().any(|entry| matches!(entry.fact, Fact::CorrectionMade { .. }));
        let ends = adjudicated.is_some() || reopens;
        let event = event(archive, ruling, &boards);
        let Some(chapter) = chapters.last_mut() else { break };
        let opened = next.clone().filter(|_| !ends);
        chapter.due = chapter.due.take().or(adjudicated).or(opened);
        chapter.events.push(event);
        if ends && !rest.is_empty() {
            chapters.push(Chapter { due: next, ..Chapter::default() });
        }
    }
    chapters
}

/// The phase that a ruling adjudicates, if any.
fn adjudicated_phase(ruling: &[Entry]) -> Option<Due> {
    ruling.iter().find_map(|entry| match &entry.fact {
        Fact::TurnAdjudicated { phase, turn, filings, .. } => {
            let filed = Seat::BOTH.into_iter().filter(|seat| filings[*seat].is_some());
            Some(Due { phase: *phase, turn: *turn, seats: filed.collect() })
        }
        _ => None,
    })
}

/// The phase that is due after a ruling, if the ruling sets its deadline.
fn next_phase(ruling: &[Entry]) -> Option<Due> {
    ruling.iter().rev().find_map(|entry| match &entry.fact {
        Fact::DeadlineSet { phase, turn, seats, .. } => {
            Some(Due { phase: *phase, turn: *turn, seats: seats.clone() })
        }
        _ => None,
    })
}

/// Describes a ruling: its cause, the letter, the decisions, and the letters that it sent.
fn event(archive: &MatchArchive, ruling: &[Entry], boards: &BTreeMap<u64, Value>) -> Value {
    let first = &ruling[0];
    let game_match = &archive.game_match;
    let (cause, letter) = match &first.cause {
        Source::Letter(digest) => ("a letter".to_owned(), Some(*digest)),
        Source::Clock => ("the clock".to_owned(), None),
        Source::Gm { name, .. } => (format!("the GM {name}"), None),
        Source::House { act } if act["act"] == "play" => ("the house".to_owned(), None),
        Source::House { .. } => ("the referee".to_owned(), None),
    };
    let entries = ruling.iter().map(|entry| {
        let says = sentence(&entry.fact, game_match);
        let (digest, lines) = details(&entry.fact, game_match);
        json!({ "seq": entry.seq, "says": says, "digest": digest, "lines": lines, "hash": entry.hash() })
    });
    let (from, to) = (first.seq, ruling[ruling.len() - 1].seq);
    let told = archive.dispatches.iter().filter(|dispatch| {
        seq_of(&dispatch.message_id, game_match).is_some_and(|seq| (from..=to).contains(&seq))
    });
    let told = told.map(|dispatch| {
        let mail = MessageParser::default().parse_headers(&dispatch.bytes[..]);
        let subject = mail.as_ref().and_then(|mail| mail.subject()).unwrap_or_default();
        json!({
            "to": dispatch.seat.map_or("the GM", |seat| game_match.players[seat].as_str()),
            "kind": dispatch.kind,
            "subject": subject,
            "digest": pin(&dispatch.bytes),
            "sent_at": dispatch.sent_at.map(utc),
            "lines": lines_of(dispatch),
        })
    });
    json!({
        "at": utc(first.at),
        "cause": cause,
        "letter": letter.map(|digest| written(archive, digest)),
        "entries": entries.collect::<Vec<_>>(),
        "boards": ruling.iter().filter_map(|entry| boards.get(&entry.seq)).collect::<Vec<_>>(),
        "told": told.collect::<Vec<_>>(),
    })
}

/// The text of one of our letters, as far as it can be shown.
fn lines_of(dispatch: &ArchivedDispatch) -> Vec<String> {
    if dispatch.withheld {
        return vec!["(withheld with the letter that it answers)".to_owned()];
    }
    plain_text(&dispatch.bytes).lines().map(|line| line.trim_end().to_owned()).collect()
}

/// The number of the last entry of the ruling that sent a letter, taken from its Message-ID.
fn seq_of(message_id: &str, game_match: &Match) -> Option<u64> {
    PlaceInMatch::read(message_id, &game_match.id, game_match.first_key()).map(|place| place.seq)
}

/// The new text of a letter.
fn written(archive: &MatchArchive, digest: Digest) -> Value {
    if let Some(WithheldLetter { seat, part, until }) = archive.withheld.get(&digest) {
        let when = match &until[..] {
            [] => String::new(),
            ids => format!(" until {} ends", ids.join(" and ")),
        };
        let subject = match part {
            Some(_) => format!("(a part; the rest is withheld{when})"),
            None => format!("(withheld{when})"),
        };
        let lines: Vec<&str> = part.iter().flat_map(|part| part.lines()).collect();
        let from = seat.map_or("", |seat| archive.game_match.players[seat].as_str());
        return json!({ "digest": digest, "from": from, "subject": subject, "lines": lines });
    }
    let letter = archive.letters.get(&digest).and_then(|raw| {
        let own = archive.game_match.desk.own_identity()?;
        // An accepted letter stays readable if the limit is lowered.
        Letter::read(raw, &own, &Limits { max_bytes: usize::MAX, ..Limits::default() }).ok()
    });
    let Some(letter) = letter else {
        return json!({ "digest": digest, "from": "", "subject": "", "lines": [] });
    };
    let quotable =
        archive.dispatches.iter().filter(|dispatch| letter.thread().any(|id| *id == dispatch.message_id));
    let quotable =
        quotable.map(|dispatch| (dispatch.message_id.clone(), plain_text(&dispatch.bytes))).collect();
    let lines = match letter.new_text(letter.quotable_text(&quotable).as_deref()) {
        NewText::Lines(lines) => lines.into_iter().map(|line| line.text).collect(),
        NewText::Blank => Vec::new(),
        NewText::Unreadable(what) => vec![what.advice().to_owned()],
    };
    json!({ "digest": digest, "from": letter.from.as_str(), "subject": letter.subject, "lines": lines })
}

fn utc(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

fn title(turn: u32) -> String {
    if turn == 0 { "the setup".to_owned() } else { format!("turn {turn}") }
}

/// Like [`title`], but for the start of a sentence.
fn heading(turn: u32) -> String {
    if turn == 0 { "The setup".to_owned() } else { format!("Turn {turn}") }
}

fn reasons(faults: &[FaultyLine]) -> impl Iterator<Item = String> {
    faults.iter().map(|FaultyLine { line, kind }| match line {
        Some(line) => format!("(line {line}: {})", kind.as_str()),
        None => format!("({})", kind.as_str()),
    })
}

/// Returns what follows the sentence: the digest of the sealed orders or of the state, then orders, faults or a reason.
fn details(fact: &Fact, game_match: &Match) -> (Option<Digest>, Vec<String>) {
    match fact {
        Fact::ConditionsSealed { conditions, sealed, .. } => (Some(*sealed), conditions.lines()),
        Fact::OrdersSealed { orders, sealed, .. } => (Some(*sealed), orders.iter().cloned().collect()),
        Fact::OrdersRefused { orders, faults, .. } | Fact::OrdersChecked { orders, faults, .. } => {
            (None, orders.iter().cloned().chain(reasons(faults)).collect())
        }
        Fact::TurnAdjudicated { filings, state, .. } => {
            let filed =
                filings.iter().map(|(seat, filing)| filed_line(&game_match.players[seat], filing.as_ref()));
            (Some(*state), filed.collect())
        }
        Fact::CorrectionMade { reason, state, .. } => (Some(*state), vec![reason.clone()]),
        _ => (None, Vec::new()),
    }
}

fn filed_line(name: &str, filing: Option<&OrderLines>) -> String {
    format!("{name}: {}", filing.map_or("none due".to_owned(), |filing| filing.join("; ")))
}

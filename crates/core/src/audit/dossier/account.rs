//! The account of a match: all filings and their times, questions and answers, and the letters to each seat.
//!
//! The account shows everything; the caller decides whether it may be shown. It uses the program's own
//! templates in `templates/account`, so that readers can compare a club's wording with the program's.
//!
//! The positions of a match, derived from its ledger alone.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use mail_parser::MessageParser;
use minijinja::value::Serde;
use serde_json::{Value, json};

use crate::game::any::{AnyState, Memories};
use crate::game::{Due, Seat};
use crate::ledger::{self, Cause, Entry, EntryCause, Fact, PlaceInMatch};
use crate::letter::{Digest, Letter, Limits};
use crate::referee::{self, Adjudication, DispatchKind, Match, Stage};
use crate::report::pin::pin;
use crate::report::sent::plain_text;
use crate::report::{self, Position, TemplateError, Templates};

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
    /// Whether it is withheld because it may repeat words of a withheld letter.
    pub withheld: bool,
}

impl MatchArchive {
    /// Withholds the letters that answered or passed on a letter that cannot be shown at all yet, but not
    /// reports, because these show only decisions.
    pub fn withhold_answers(&mut self) {
        let is_hidden =
            |digest: &Digest| self.withheld.get(digest).is_some_and(|letter| letter.part.is_none());
        let mut hidden: BTreeSet<u64> = BTreeSet::new();
        for entry in &self.entries {
            let is_of_hidden = match &entry.cause {
                EntryCause::Cause(cause) => cause.letter().is_some_and(|cause| is_hidden(&cause.letter)),
                EntryCause::Of(first) => hidden.contains(first),
            };
            if is_of_hidden {
                hidden.insert(entry.seq);
            }
        }
        for dispatch in &mut self.dispatches {
            let seq = seq_of(&dispatch.message_id, &self.game_match);
            dispatch.withheld =
                dispatch.kind != DispatchKind::Report && seq.is_some_and(|seq| hidden.contains(&seq));
        }
    }
}

/// A letter that can be shown only in part so far, or not at all.
#[derive(Clone, Debug)]
pub struct WithheldLetter {
    /// The seat of its writer, if the ledger says that a part of it was ruled on.
    pub seat: Option<Seat>,
    /// The part for this match, if only that was ruled on.
    pub part: Option<String>,
    /// The matches that must be over before the whole letter is shown. None in a public dossier.
    pub until: Vec<String>,
}

/// Everything that is stored about a match.
#[derive(Clone, Debug)]
pub struct MatchArchive {
    pub game_match: Match,
    pub entries: Vec<Entry>,
    pub letters: BTreeMap<Digest, Vec<u8>>,
    /// The letters that are also about other matches that are not over.
    pub withheld: BTreeMap<Digest, WithheldLetter>,
    pub dispatches: Vec<ArchivedDispatch>,
}

/// Returns the account as plain text, limited to `turn` if given. `None` if the match has no such turn.
///
/// # Errors
/// [`TemplateError`] if a template is faulty.
pub fn text(archive: &MatchArchive, turn: Option<u32>) -> Result<Option<String>, TemplateError> {
    let account = Account::of(archive);
    let context = account.context(turn)?;
    if context["chapters"].as_array().is_none_or(Vec::is_empty) {
        return Ok(None);
    }
    let page = account.templates.render("account/page.txt", Serde(context))?;
    Ok(Some(page.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()))
}

/// Returns the whole account as an HTML page with inline boards.
///
/// # Errors
/// [`TemplateError`] if a template is faulty.
pub fn html(archive: &MatchArchive) -> Result<String, TemplateError> {
    let account = Account::of(archive);
    account.templates.render("account/page.html", Serde(account.context(None)?))
}

/// A phase of the match: its rulings, up to and including its adjudication.
#[derive(Default)]
struct Chapter {
    /// The phase that was adjudicated at its end, or that is still due. `None` if there is none.
    due: Option<Due>,
    events: Vec<Value>,
}

/// The sources of the account.
struct Account<'a> {
    templates: Templates,
    archive: &'a MatchArchive,
    /// The positions of the match, by the numbers of the entries that led to them.
    reached: BTreeMap<u64, Reached>,
}

impl Account<'_> {
    fn of(archive: &MatchArchive) -> Account<'_> {
        Account { templates: Templates::of_program(), archive, reached: positions_after(&archive.entries) }
    }

    /// Renders one line.
    fn line(&self, template: &str, context: Value) -> Result<String, TemplateError> {
        Ok(self.templates.render(template, Serde(context))?.trim().replace('\n', " "))
    }

    fn context(&self, only: Option<u32>) -> Result<Value, TemplateError> {
        let game_match = &self.archive.game_match;
        let mut chapters = self.chapters()?;
        if let Some(last) = chapters.last_mut() {
            last.due = last.due.take().or_else(|| game_match.due());
        }
        chapters.retain(|chapter| {
            only.is_none_or(|only| chapter.due.as_ref().is_some_and(|due| due.turn == only))
        });
        let chapters = chapters.into_iter().map(|Chapter { due, events }| {
            let title = json!({ "board": null, "due": due, "names": game_match.players });
            Ok(json!({ "title": self.line("account/title.txt", title)?, "events": events }))
        });
        Ok(json!({
            "match": game_match.id,
            "game": game_match.game.name(),
            "stage": game_match.stage,
            "names": game_match.players,
            "sides": game_match.game.sides(),
            "options": game_match.state.options(),
            "opened_at": utc(game_match.opened_at),
            "outcome": game_match.outcome(),
            "head": { "seq": game_match.head.seq, "hash": game_match.head.hash },
            "key": (game_match.stage == Stage::Over).then(|| game_match.key.reveal()),
            "chapters": chapters.collect::<Result<Vec<_>, _>>()?,
        }))
    }

    fn chapters(&self) -> Result<Vec<Chapter>, TemplateError> {
        let mut chapters: Vec<Chapter> = vec![Chapter::default()];
        let mut rest = &self.archive.entries[..];
        while let Some(first) = rest.first() {
            let of_first = |entry: &&Entry| entry.cause == EntryCause::Of(first.seq);
            let length = 1 + rest[1..].iter().take_while(of_first).count();
            let (ruling, after) = rest.split_at(length);
            rest = after;
            let adjudicated = adjudicated_phase(ruling);
            let next = next_phase(ruling);
            let reopens = ruling.iter().any(|entry| matches!(entry.fact, Fact::CorrectionMade { .. }));
            let ends = adjudicated.is_some() || reopens;
            let event = self.event(ruling)?;
            let Some(chapter) = chapters.last_mut() else { break };
            let opened = next.clone().filter(|_| !ends);
            chapter.due = chapter.due.take().or(adjudicated).or(opened);
            chapter.events.push(event);
            if ends && !rest.is_empty() {
                chapters.push(Chapter { due: next, ..Chapter::default() });
            }
        }
        Ok(chapters)
    }

    /// Describes a ruling: its cause, the letter, the decisions, and the letters that it sent.
    fn event(&self, ruling: &[Entry]) -> Result<Value, TemplateError> {
        let first = &ruling[0];
        let last = &ruling[ruling.len() - 1];
        let game_match = &self.archive.game_match;
        let cause = first.own_cause();
        let letter = cause.and_then(Cause::letter).map(|cause| self.written(cause.letter)).transpose()?;
        let sent: Vec<&ArchivedDispatch> = self
            .archive
            .dispatches
            .iter()
            .filter(|dispatch| {
                seq_of(&dispatch.message_id, game_match)
                    .is_some_and(|seq| (first.seq..=last.seq).contains(&seq))
            })
            .collect();
        let beside = self.beside(ruling, &sent)?;
        let is_beside = |dispatch: &ArchivedDispatch| {
            let report = dispatch.seat.and_then(|seat| report_to(seat, &sent));
            !beside.is_empty() && report.is_some_and(|report| report.message_id == dispatch.message_id)
        };
        let others = sent.iter().filter(|dispatch| !is_beside(dispatch));
        Ok(json!({
            "at": utc(first.at),
            "cause": self.line("account/cause.txt", json!({ "cause": cause }))?,
            "letter": letter,
            "circumstances": self.circumstances(cause)?,
            "entries": ruling.iter().map(|entry| self.entry(entry)).collect::<Result<Vec<_>, _>>()?,
            "boards": ruling.iter().filter_map(|entry| self.board(entry)).collect::<Result<Vec<_>, _>>()?,
            "beside": beside,
            "told": others.map(|dispatch| self.sent_letter(dispatch)).collect::<Vec<_>>(),
        }))
    }

    /// Returns, line by line, the facts about a letter that are not in its bytes.
    fn circumstances(&self, cause: Option<&Cause>) -> Result<Vec<String>, TemplateError> {
        let context = json!({ "cause": cause, "names": self.archive.game_match.players });
        let worded = self.templates.render("account/circumstances.txt", Serde(context))?;
        Ok(worded.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }

    fn entry(&self, entry: &Entry) -> Result<Value, TemplateError> {
        let context = json!({ "fact": entry.fact, "names": self.archive.game_match.players });
        let digest = match &entry.fact {
            Fact::OrdersSealed { sealed, .. } | Fact::ConditionsSealed { sealed, .. } => Some(sealed),
            Fact::TurnAdjudicated { state, .. } | Fact::CorrectionMade { state, .. } => Some(state),
            _ => None,
        };
        let lines = self.templates.render("account/lines.txt", Serde(context.clone()))?;
        let says = self.line("account/fact.txt", context)?;
        let lines: Vec<&str> = lines.lines().collect();
        Ok(json!({ "seq": entry.seq, "says": says, "digest": digest, "lines": lines, "hash": entry.hash() }))
    }

    /// Returns the board after an adjudication or a correction. Closing a match leaves the position as it is.
    fn board(&self, entry: &Entry) -> Option<Result<Value, TemplateError>> {
        let (board, turn) = match &entry.fact {
            Fact::TurnAdjudicated { turn, .. } => ("adjudicated", turn),
            Fact::CorrectionMade { turn, .. } => ("corrected", turn),
            _ => return None,
        };
        let title = self.line("account/title.txt", json!({ "board": board, "turn": turn }));
        let board = self.reached.get(&entry.seq)?.state.open_board(None);
        let drawn = |title| json!({ "title": title, "text": board.text, "svg": report::svg(&board.picture) });
        Some(title.map(drawn))
    }

    /// Returns what the rules let each seat know after a change of the position, and the report that the seat
    /// was sent.
    fn beside(&self, ruling: &[Entry], sent: &[&ArchivedDispatch]) -> Result<Vec<Value>, TemplateError> {
        let game_match = &self.archive.game_match;
        let reached: Vec<&Reached> = ruling.iter().filter_map(|entry| self.reached.get(&entry.seq)).collect();
        let Some(last) = reached.last() else { return Ok(Vec::new()) };
        let steps: Vec<_> = reached.iter().filter_map(|reached| reached.step.clone()).collect();
        let position = Position {
            names: &game_match.players,
            steps: &steps,
            state: &last.state,
            memories: &last.memories,
            adjudicated: &game_match.adjudicated,
        };
        let of_seat = |seat: Seat| {
            let knows = report::word_position(&self.templates, &position, seat)?;
            let report = report_to(seat, sent);
            let compared = report.filter(|report| !report.withheld);
            let lines: Option<BTreeSet<String>> =
                compared.map(|report| lines_of(report).into_iter().collect());
            let knows = knows.lines().map(|line| {
                let is_told = lines.as_ref().is_none_or(|lines| lines.contains(line));
                json!({ "line": line, "told": is_told })
            });
            Ok(json!({
                "name": game_match.players[seat],
                "knows": knows.collect::<Vec<_>>(),
                "letter": report.map(|report| self.sent_letter(report)),
            }))
        };
        Seat::BOTH.into_iter().map(of_seat).collect()
    }

    /// Describes one of our letters.
    fn sent_letter(&self, dispatch: &ArchivedDispatch) -> Value {
        let game_match = &self.archive.game_match;
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
    }

    /// Describes a received letter: its sender, its subject and its new text.
    fn written(&self, digest: Digest) -> Result<Value, TemplateError> {
        let archive = self.archive;
        if let Some(WithheldLetter { seat, part, until }) = archive.withheld.get(&digest) {
            let subject =
                self.line("account/subject.txt", json!({ "part": part.is_some(), "until": until }))?;
            let lines: Vec<&str> = part.iter().flat_map(|part| part.lines()).collect();
            let from = seat.map_or("", |seat| archive.game_match.players[seat].as_str());
            return Ok(json!({ "digest": digest, "from": from, "subject": subject, "lines": lines }));
        }
        let letter = archive.letters.get(&digest).and_then(|raw| {
            let own = archive.game_match.mail_identity.own_identity()?;
            // An accepted letter stays readable if the limit is lowered.
            Letter::read(raw, &own, &Limits { max_bytes: usize::MAX, ..Limits::default() }).ok()
        });
        let Some(letter) = letter else {
            return Ok(json!({ "digest": digest, "from": "", "subject": "", "lines": [] }));
        };
        let quotable =
            archive.dispatches.iter().filter(|dispatch| letter.thread().any(|id| *id == dispatch.message_id));
        let quotable =
            quotable.map(|dispatch| (dispatch.message_id.clone(), plain_text(&dispatch.bytes))).collect();
        let written = letter.new_text(letter.quotable_text(&quotable).as_deref());
        let lines: Vec<String> = match written.unreadable {
            Some(what) => vec![referee::advice(what).to_owned()],
            None => written.lines.into_iter().map(|line| line.text).collect(),
        };
        Ok(
            json!({ "digest": digest, "from": letter.from.as_str(), "subject": letter.subject, "lines": lines }),
        )
    }
}

/// Returns the report to a seat among these letters.
fn report_to<'a>(seat: Seat, sent: &[&'a ArchivedDispatch]) -> Option<&'a ArchivedDispatch> {
    sent.iter().copied().find(|sent| sent.seat == Some(seat) && sent.kind == DispatchKind::Report)
}

/// Returns the phase that a ruling adjudicates, if any.
fn adjudicated_phase(ruling: &[Entry]) -> Option<Due> {
    ruling.iter().find_map(|entry| match &entry.fact {
        Fact::TurnAdjudicated { phase, turn, filings, .. } => {
            let filed = Seat::BOTH.into_iter().filter(|seat| filings[*seat].is_some());
            Some(Due { phase: *phase, turn: *turn, seats: filed.collect() })
        }
        _ => None,
    })
}

/// Returns the phase that is due after a ruling, if the ruling sets its deadline.
fn next_phase(ruling: &[Entry]) -> Option<Due> {
    ruling.iter().rev().find_map(|entry| match &entry.fact {
        Fact::DeadlineSet { phase, turn, seats, .. } => {
            Some(Due { phase: *phase, turn: *turn, seats: seats.clone() })
        }
        _ => None,
    })
}

/// Returns the text of one of our letters, as far as it can be shown.
fn lines_of(dispatch: &ArchivedDispatch) -> Vec<String> {
    if dispatch.withheld {
        return vec!["(withheld with the letter that it answers)".to_owned()];
    }
    plain_text(&dispatch.bytes).lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Returns the number of the last entry of the ruling that sent a letter, taken from its Message-ID.
fn seq_of(message_id: &str, game_match: &Match) -> Option<u64> {
    PlaceInMatch::read(message_id, &game_match.id, game_match.first_key()).map(|place| place.seq)
}

fn utc(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// The position after an entry.
struct Reached {
    /// The adjudication, if the entry is one.
    pub step: Option<Adjudication>,
    pub state: AnyState,
    /// The seats' memories of the adjudications in force.
    pub memories: Memories,
}

/// Returns the position after every adjudication, closing and correction, by the number of the entry.
fn positions_after(entries: &[Entry]) -> BTreeMap<u64, Reached> {
    let mut reached = BTreeMap::new();
    let Some(first) = entries.first() else { return reached };
    let Fact::MatchOpened { game, options, .. } = &first.fact else { return reached };
    let Ok(mut state) = game.start_with(options) else { return reached };
    // The states before the adjudications in force.
    let mut before: Vec<AnyState> = Vec::new();
    ledger::replay(entries, |entry, after| {
        let mut step = None;
        match &entry.fact {
            Fact::TurnAdjudicated { phase, turn, filings, .. } => {
                step = state.unseal(filings).ok().map(|filings| Adjudication {
                    phase: *phase,
                    turn: *turn,
                    before: state.clone(),
                    filings,
                    state: after.clone(),
                });
                before.push(state.clone());
            }
            Fact::CorrectionMade { keeps, .. } => before.truncate(*keeps),
            _ => {}
        }
        state = after.clone();
        let mut memories = Memories::empty(*game);
        before.iter().for_each(|state| memories.remember(state));
        reached.insert(entry.seq, Reached { step, state: state.clone(), memories });
    });
    reached
}

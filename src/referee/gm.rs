//! What the GM decides. An act names the phase it meant; one for a phase that has passed does nothing.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::clock::adjudicate_now;
use super::life::{Draft, FiledOrders, Stage};
use super::{Content, Notice, Reader};
use crate::game::any::{Choices, Filing};
use crate::game::record::Ending;
use crate::game::{BySeat, Fault, Line, Phase, Seat};
use crate::ledger::{self, Fact, MailIdentity};
use crate::letter::Digest;

/// An act upon one match: of the GM, or of the house where that is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", content = "of", rename_all = "snake_case")]
pub enum Act {
    /// Deadlines stand still.
    Pause {
        reason: String,
    },
    Resume,
    Abandon,
    Extend {
        days: u32,
    },
    /// On what is there, with what the rules take as filed for the others.
    Adjudicate,
    Note {
        text: String,
    },
    Forfeit(Seat),
    /// Somebody else holds the seat; the name, and the level if it is the house. Who, and his token, is for the
    /// shell.
    Replace {
        seat: Seat,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        house: Option<String>,
    },
    /// The seat has a new reply token; that is for the shell.
    RenewToken(Seat),
    /// The player of the seat bears another name.
    Rename {
        seat: Seat,
        name: String,
    },
    /// Files these orders for the seat.
    File {
        seat: Seat,
        orders: Vec<Line>,
    },
    /// Goes back to a turn that was adjudicated.
    Correct(Correction),
    /// The house: letters to the seat come back.
    Returned(Seat),
    /// The house: an absence note came from the seat.
    Away(Seat),
    /// The house plays the seat that it holds; by which version of it.
    Play {
        seat: Seat,
        version: u32,
        orders: Vec<String>,
    },
    /// Letters to the seat arrive again.
    Restored(Seat),
    /// The house: the referee could not be reached since then; a deadline that fell into the outage moves on by as
    /// long.
    Slide {
        since: DateTime<Utc>,
    },
    /// The referee's address or wording is another from here on.
    Desk(MailIdentity),
    /// What the rules hide is shown: the ledger keeps who asked, and for what.
    Unseal {
        what: String,
    },
}

/// An act as the ledger keeps it.
pub(super) fn act_json(act: &Act) -> serde_json::Value {
    serde_json::to_value(act).expect("acts are plain values")
}

/// A turn that was decided wrongly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    pub turn: u32,
    pub reason: String,
    pub choices: Choices,
    /// The adjudications that stand, from the ledger: phase, turn and filings.
    pub decided: Vec<(Phase, u32, BySeat<Option<Filing>>)>,
    /// The orders that should have counted; `None`: the turn is open again and both file anew.
    pub orders: Option<(Seat, Vec<Line>)>,
}

/// Why an act has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Rejection {
    /// Another phase is open than the one that it meant.
    Passed,
    Over,
    /// It is so already.
    Already,
    /// These must move themselves.
    MustMove {
        seats: Vec<Seat>,
    },
    /// The orders cannot stand.
    Faulty {
        faults: Vec<Fault>,
    },
    /// Nothing is due from that seat.
    NotDue {
        seat: Seat,
    },
    NoSuchTurn {
        turn: u32,
    },
    /// No deadline runs that could be moved: only the house is awaited.
    NoDeadline,
}

/// Carries an act out. What it does not take leaves the match as it is.
///
/// # Errors
/// [`Rejection`]: why not.
pub(super) fn rule(draft: &mut Draft, phase_no: u32, act: &Act) -> Result<(), Rejection> {
    // In every phase: nothing in the match changes by it.
    if let Act::Unseal { what } = act {
        draft.record(Fact::Unsealed { what: what.clone() });
        return Ok(());
    }
    // Letters are written in every stage, and in every phase.
    if let Act::Desk(desk) = act {
        draft.game_match.desk = desk.clone();
        draft.record(Fact::DeskSet { desk: desk.clone() });
        return Ok(());
    }
    if draft.game_match.phase_no != phase_no {
        return Err(Rejection::Passed);
    }
    let is_allowed_after_the_end = matches!(
        act,
        Act::Resume
            | Act::Correct(_)
            | Act::Note { .. }
            | Act::RenewToken(_)
            | Act::Rename { .. }
            | Act::Returned(_)
            | Act::Away(_)
            | Act::Restored(_)
    );
    if draft.game_match.stage == Stage::Over && !is_allowed_after_the_end {
        return Err(Rejection::Over);
    }
    match act {
        Act::Pause { reason } => {
            if draft.game_match.stage != Stage::Running {
                return Err(Rejection::Already);
            }
            draft.pause(reason);
            draft.dispatch_to_both(Content::Notice(Notice::Paused { reason: reason.clone() }));
        }
        Act::Resume => return resume(draft),
        Act::Abandon => draft.close(Ending::Abandon),
        Act::Extend { days } => return extend(draft, *days),
        Act::Adjudicate => return adjudicate(draft),
        Act::Note { text } => {
            draft.record(Fact::GmNoted { text: text.clone() });
            draft.dispatch_to_both(Content::Notice(Notice::NoteOfGm { text: text.clone() }));
        }
        Act::Forfeit(seat) => draft.close(Ending::Forfeit(*seat)),
        Act::Replace { seat, name, house } => replace(draft, *seat, name, house.clone()),
        Act::RenewToken(seat) => {
            draft.record(Fact::TokenRenewed { seat: *seat });
            draft.dispatch_to_both(Content::Notice(Notice::TokenRenewed { seat: *seat }));
        }
        Act::Rename { seat, name } => return rename(draft, *seat, name),
        Act::File { seat, orders } => return file(draft, *seat, orders),
        Act::Play { seat, orders, .. } => return super::house::play(draft, *seat, orders),
        Act::Correct(correction) => return correct(draft, correction),
        Act::Returned(seat) => {
            mark(&mut draft.game_match.bouncing[*seat], true)?;
            draft.record(Fact::MailReturned { seat: *seat });
        }
        Act::Away(seat) => {
            mark(&mut draft.game_match.away[*seat], true)?;
            draft.record(Fact::AwayNoted { seat: *seat });
        }
        Act::Restored(seat) => {
            mark(&mut draft.game_match.bouncing[*seat], false)?;
            draft.record(Fact::MailRestored { seat: *seat });
        }
        Act::Slide { since } => extend_after_outage(draft, *since),
        Act::Desk(_) | Act::Unseal { .. } => {}
    }
    Ok(())
}

/// Decides the open phase, and with it what a pause or a protest was about.
fn adjudicate(draft: &mut Draft) -> Result<(), Rejection> {
    let stage = std::mem::replace(&mut draft.game_match.stage, Stage::Running);
    adjudicate_now(draft).map_err(|seats| {
        draft.game_match.stage = stage;
        Rejection::MustMove { seats }
    })?;
    (draft.game_match.paused_at, draft.game_match.protest) = (None, None);
    Ok(())
}

fn rename(draft: &mut Draft, seat: Seat, name: &str) -> Result<(), Rejection> {
    let from = std::mem::replace(&mut draft.game_match.players[seat], name.to_owned());
    if from == name {
        return Err(Rejection::Already);
    }
    draft.record(Fact::PlayerRenamed { seat, from: from.clone(), to: name.to_owned() });
    draft.dispatch_to_both(Content::Notice(Notice::Renamed { from, to: name.to_owned() }));
    Ok(())
}

/// The clock goes on, with as much time as there was when it stopped and the grace at least.
fn resume(draft: &mut Draft) -> Result<(), Rejection> {
    if draft.game_match.stage == Stage::Over && draft.game_match.protest.take().is_some() {
        draft.record(Fact::MatchResumed { deadline: None });
        return Ok(());
    }
    if draft.game_match.stage != Stage::Paused {
        return Err(Rejection::Already);
    }
    draft.game_match.stage = Stage::Running;
    draft.game_match.protest = None;
    let stood = draft.game_match.paused_at.take().map(|since| draft.at - since).unwrap_or_default();
    if let Some(deadline) = draft.game_match.deadline {
        let least = draft.at + draft.game_match.terms.grace();
        draft.move_deadline((deadline + stood).max(least));
    }
    draft.record(Fact::MatchResumed { deadline: draft.game_match.deadline });
    draft.dispatch_to_both(Content::Notice(Notice::Resumed));
    draft.adjudicate_if_complete();
    Ok(())
}

fn extend(draft: &mut Draft, days: u32) -> Result<(), Rejection> {
    let deadline = draft.extend(days).ok_or(Rejection::NoDeadline)?;
    draft.dispatch_to_both(Content::Notice(Notice::Extension { deadline }));
    Ok(())
}

/// The orders of a player who was replaced are void, and so is what was asked in his name.
fn replace(draft: &mut Draft, seat: Seat, name: &str, house: Option<String>) {
    let from = std::mem::replace(&mut draft.game_match.players[seat], name.to_owned());
    let before = std::mem::replace(&mut draft.game_match.house[seat], house);
    draft.game_match.held[seat] = None;
    draft.game_match.settle_at = None;
    draft.game_match.draw_offer = draft.game_match.draw_offer.filter(|by| *by != seat);
    draft.game_match.extension = draft.game_match.extension.filter(|(by, _)| *by != seat);
    (draft.game_match.missed[seat], draft.game_match.bouncing[seat], draft.game_match.away[seat]) =
        (0, false, false);
    draft.game_match.absences[seat].clear();
    draft.record(Fact::PlayerReplaced { seat, from: from.clone(), to: name.to_owned() });
    // Nobody takes over a seat with no time left.
    if draft.game_match.deadline.is_none_or(|deadline| deadline < draft.at + draft.game_match.terms.grace())
        || draft.game_match.due_from_players().is_none()
    {
        draft.game_match.asked_gm = false;
        draft.set_deadline(draft.game_match.phase_days());
    }
    let notice = Notice::Replaced { seat, from, to: name.to_owned() };
    if before.is_none() {
        draft.dispatch(Reader::Former(seat), Content::Notice(notice.clone()));
    }
    draft.dispatch(Reader::Seat(seat.other()), Content::Notice(notice));
    draft.dispatch(Reader::Seat(seat), Content::Succession);
}

/// Files for a seat as its player's letter would.
fn file(draft: &mut Draft, seat: Seat, orders: &[Line]) -> Result<(), Rejection> {
    seal(draft, seat, orders)?;
    draft.dispatch_to_both(Content::Notice(Notice::FiledByGm { seat }));
    draft.adjudicate_if_complete();
    Ok(())
}

/// Seals orders for a seat that come in no letter of its own.
pub(super) fn seal(draft: &mut Draft, seat: Seat, orders: &[Line]) -> Result<(), Rejection> {
    let due =
        draft.game_match.due().filter(|due| due.seats.contains(&seat)).ok_or(Rejection::NotDue { seat })?;
    let filing = draft.game_match.state.seal(seat, orders).map_err(|faults| Rejection::Faulty { faults })?;
    let sealed = ledger::seal_digest(&draft.next_salt(), &filing);
    let (phase, turn) = (due.phase, due.turn);
    draft.record(Fact::OrdersSealed { seat, phase, turn, orders: filing.clone(), wait: false, sealed });
    draft.game_match.held[seat] = Some(FiledOrders { filing, at: draft.at, wait: false });
    Ok(())
}

/// Restores the match as it was when the turn was open; decides it on other orders, or opens it again.
fn correct(draft: &mut Draft, correction: &Correction) -> Result<(), Rejection> {
    let turn = correction.turn;
    let found = correction.decided.iter().position(|(_, decided, filings)| {
        let owed = |seat| filings[seat].is_some();
        *decided == turn && correction.orders.as_ref().is_none_or(|(seat, _)| owed(*seat))
    });
    let keeps = found.ok_or(Rejection::NoSuchTurn { turn })?;
    let (game, rules) = (draft.game_match.game, draft.game_match.rules);
    let start = game.start_under(rules, &correction.choices);
    let mut state = start.map_err(|_| Rejection::NoSuchTurn { turn })?;
    for (_, _, filings) in &correction.decided[..keeps] {
        state.adjudicate(filings).map_err(|_| Rejection::NoSuchTurn { turn })?;
    }
    let mut held = BySeat::default();
    if let Some((seat, orders)) = &correction.orders {
        let filing = state.seal(*seat, orders).map_err(|faults| Rejection::Faulty { faults })?;
        let (_, _, filings) = &correction.decided[keeps];
        let at = draft.at;
        held = filings.clone().map(|filing| filing.map(|filing| FiledOrders { filing, at, wait: false }));
        held[*seat] = Some(FiledOrders { filing, at, wait: false });
    }
    draft.game_match.state = state;
    draft.game_match.held = held;
    draft.game_match.phase_no += 1;
    draft.game_match.adjudicated.truncate(keeps);
    draft.game_match.stage = Stage::Running;
    (draft.game_match.paused_at, draft.game_match.protest) = (None, None);
    let reason = correction.reason.clone();
    let state = Digest::of(ledger::canonical(&draft.game_match.state).as_bytes());
    draft.record(Fact::CorrectionMade { turn, keeps, reason: reason.clone(), state });
    if correction.orders.is_some() {
        draft.adjudicate_for(Vec::new(), Some(reason));
    } else {
        draft.open_phase();
        draft.dispatch_to_both(Content::Notice(Notice::Reopened { turn, reason }));
    }
    Ok(())
}

/// Sets or takes away a mark of a seat, unless it is so already.
fn mark(mark: &mut bool, to: bool) -> Result<(), Rejection> {
    if std::mem::replace(mark, to) == to { Err(Rejection::Already) } else { Ok(()) }
}

/// Nobody is late because the referee was away.
fn extend_after_outage(draft: &mut Draft, since: DateTime<Utc>) {
    let fell_in = |deadline: &DateTime<Utc>| {
        *deadline + draft.game_match.terms.grace() > since && *deadline <= draft.at
    };
    let Some(deadline) =
        draft.game_match.deadline.filter(fell_in).filter(|_| draft.game_match.stage == Stage::Running)
    else {
        return;
    };
    let least = draft.at + draft.game_match.terms.grace();
    let deadline = (deadline + (draft.at - since)).max(least);
    draft.move_deadline(deadline);
    draft.record(Fact::DeadlineSlid { deadline });
    draft.dispatch_to_both(Content::Notice(Notice::Slid));
}

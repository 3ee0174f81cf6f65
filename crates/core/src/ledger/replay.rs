//! Reconstructs a match from its entries: the entries in force, its record, its successive states.

use std::collections::BTreeSet;

use super::{Cause, Entry, EntryCause, Fact};
use crate::game::any::{AnySeen, AnyState};
use crate::game::condition::ConditionOutcome;
use crate::game::record::{By, Filed, Record};
use crate::game::{BySeat, OrderLines, Phase, Seat};
use crate::letter::Digest;

/// Returns the entries in force: all but the adjudications and endings that a correction voided.
pub fn standing(entries: &[Entry]) -> Vec<&Entry> {
    let mut standing: Vec<&Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Fact::CorrectionMade { keeps, .. } = &entry.fact {
            let mut remaining = *keeps;
            standing.retain(|entry| match entry.fact {
                Fact::TurnAdjudicated { .. } => {
                    let is_kept = remaining > 0;
                    remaining = remaining.saturating_sub(1);
                    is_kept
                }
                Fact::MatchClosed { .. } | Fact::MatchEnded { .. } => false,
                _ => true,
            });
        }
        standing.push(entry);
    }
    standing
}

/// Returns the adjudications in force, in order: phase, turn and filings of each.
pub fn adjudications(entries: &[Entry]) -> Vec<(Phase, u32, BySeat<Option<OrderLines>>)> {
    let adjudicated = standing(entries).into_iter().filter_map(|entry| match &entry.fact {
        Fact::TurnAdjudicated { phase, turn, filings, .. } => Some((*phase, *turn, filings.clone())),
        _ => None,
    });
    adjudicated.collect()
}

/// Returns the letter that brought the last protest.
pub fn letter_of_protest(entries: &[Entry]) -> Option<Digest> {
    let protest = entries.iter().rfind(|entry| matches!(entry.fact, Fact::Protested { .. }))?;
    let first = match protest.cause {
        EntryCause::Cause(_) => protest,
        EntryCause::Of(seq) => entries.iter().find(|entry| entry.seq == seq)?,
    };
    match &first.cause {
        EntryCause::Cause(Cause::Letter(cause)) => Some(cause.letter),
        EntryCause::Cause(_) | EntryCause::Of(_) => None,
    }
}

/// Returns the record of a match: the filings of each adjudication in force, and how the match was closed, if
/// the rules did not end it. `None` if the first entry does not open a match.
pub fn record(entries: &[Entry]) -> Option<Record> {
    let first = entries.first()?;
    let Fact::MatchOpened { game, rules, options, players, .. } = &first.fact else { return None };
    let mut players = players.clone();
    for entry in entries {
        if let Fact::PlayerRenamed { seat, to, .. } | Fact::PlayerReplaced { seat, to, .. } = &entry.fact {
            players[*seat].clone_from(to);
        }
    }
    let filings = RecordedFilings::of(&standing(entries)).in_force();
    Some(Record { game: *game, rules: *rules, players, options: options.clone(), filings })
}

/// Returns what `seat` was shown and filed in the adjudications in force. `None` if the first entry does not
/// open a match, or an entry does not fit its state.
pub fn what_seat_saw(entries: &[Entry], seat: Seat) -> Option<AnySeen> {
    let first = entries.first()?;
    let Fact::MatchOpened { game, options, .. } = &first.fact else { return None };
    let mut state = game.start_with(options).ok()?;
    let mut seen = AnySeen::begin(&state, seat);
    for (_, _, filings) in adjudications(entries) {
        let filed = state.unseal(&filings).ok()?;
        state.adjudicate(&filed);
        seen.add(&filed, &state);
    }
    Some(seen)
}

/// The filings of a record, in order. Conditional orders stand for the moves that followed from them, unless
/// something other than play cut them off: a withdrawal, a new player, or a correction. Then the moves are
/// filed as plain orders.
#[derive(Default)]
struct RecordedFilings {
    filings: Vec<(Filed, FilingOrigin)>,
    /// The numbers of each seat's undecided conditions; the last ones replace those before.
    sent: BySeat<Vec<usize>>,
    /// The conditions from which the next move of a seat follows.
    met: BySeat<Option<usize>>,
    /// Number of conditions sent.
    count: usize,
    cut: BTreeSet<usize>,
}

/// The origin of a filing. Conditions are numbered from 0.
enum FilingOrigin {
    Plain,
    Conditions(usize),
    Answer(usize),
}

impl RecordedFilings {
    fn of(standing: &[&Entry]) -> RecordedFilings {
        let mut recorded = RecordedFilings::default();
        for entry in standing {
            recorded.add(&entry.fact);
        }
        recorded
    }

    fn add(&mut self, fact: &Fact) {
        match fact {
            Fact::TurnAdjudicated { phase, filings: both, .. } => {
                for (seat, filing) in both.iter() {
                    let Some(filing) = filing else { continue };
                    let origin = self.met[seat].take().map_or(FilingOrigin::Plain, FilingOrigin::Answer);
                    let by = By::Seat(seat, filing.join("\n"));
                    self.filings.push((Filed { by, phase: Some(phase.to_string()) }, origin));
                }
            }
            Fact::MatchClosed { ending } => {
                self.filings.push((Filed { by: By::Referee(*ending), phase: None }, FilingOrigin::Plain));
            }
            Fact::ConditionsSealed { seat, conditions, .. } => {
                let filed = Filed { by: By::Seat(*seat, conditions.lines().join("\n")), phase: None };
                self.filings.push((filed, FilingOrigin::Conditions(self.count)));
                self.sent[*seat].push(self.count);
                self.count += 1;
            }
            Fact::ConditionsFollowed { seat, outcome } => self.follow(*seat, outcome),
            // The conditions that these replaced must not come into force again.
            Fact::ConditionsWithdrawn { seat, .. } | Fact::PlayerReplaced { seat, .. } => {
                self.cut.extend(self.sent[*seat].drain(..));
            }
            Fact::CorrectionMade { .. } => {
                self.cut.extend(0..self.count);
                self.met = BySeat::default();
            }
            _ => {}
        }
    }

    fn follow(&mut self, seat: Seat, outcome: &ConditionOutcome) {
        let waits = match outcome {
            ConditionOutcome::Met { waiting, .. } => {
                self.met[seat] = self.sent[seat].last().copied();
                !waiting.is_empty()
            }
            ConditionOutcome::Illegal { .. } | ConditionOutcome::Void { .. } => false,
        };
        if !waits {
            self.sent[seat].clear();
        }
    }

    fn in_force(self) -> Vec<Filed> {
        let cut = self.cut;
        let is_in_force = |origin: &FilingOrigin| match origin {
            FilingOrigin::Plain => true,
            FilingOrigin::Conditions(number) => !cut.contains(number),
            FilingOrigin::Answer(number) => cut.contains(number),
        };
        self.filings.into_iter().filter(|(_, origin)| is_in_force(origin)).map(|(filed, _)| filed).collect()
    }
}

/// Replays a match, including turns that were corrected later. `visit` gets the state after every
/// adjudication, closing and correction. Stops at an entry that does not fit the state.
pub fn replay(entries: &[Entry], mut visit: impl FnMut(&Entry, &AnyState)) {
    let Some(first) = entries.first() else { return };
    let Fact::MatchOpened { game, options, .. } = &first.fact else { return };
    let Ok(start) = game.start_with(options) else { return };
    let mut state = start.clone();
    let mut adjudicated = Vec::new();
    for entry in entries {
        let fits = match &entry.fact {
            Fact::TurnAdjudicated { filings, .. } => {
                adjudicated.push(filings);
                adjudicate(&mut state, filings)
            }
            Fact::MatchClosed { ending } => {
                state.close(ending.outcome());
                true
            }
            Fact::CorrectionMade { keeps, .. } => {
                adjudicated.truncate(*keeps);
                state = start.clone();
                adjudicated.iter().all(|filings| adjudicate(&mut state, filings))
            }
            _ => continue,
        };
        if !fits {
            return;
        }
        visit(entry, &state);
    }
}

/// Adjudicates a phase with stored filings. Returns whether they fit the state.
fn adjudicate(state: &mut AnyState, filings: &BySeat<Option<OrderLines>>) -> bool {
    let unsealed = state.unseal(filings);
    unsealed.map(|filed| state.adjudicate(&filed)).is_ok()
}

//! The match that the entries tell of: what stands of it, its record, its states one after the other.

use super::{Entry, Fact};
use crate::game::any::AnyState;
use crate::game::record::{By, Filed, Record};
use crate::game::{BySeat, OrderLines, Phase};

/// The entries by which a match stands as it does: those without the adjudications and endings that a correction
/// made void.
pub fn standing(entries: &[Entry]) -> Vec<&Entry> {
    let mut standing: Vec<&Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Fact::CorrectionMade { keeps, .. } = &entry.fact {
            let mut left = *keeps;
            standing.retain(|entry| match entry.fact {
                Fact::TurnAdjudicated { .. } => {
                    let kept = left > 0;
                    left = left.saturating_sub(1);
                    kept
                }
                Fact::MatchClosed { .. } | Fact::MatchEnded { .. } => false,
                _ => true,
            });
        }
        standing.push(entry);
    }
    standing
}

/// The adjudications that stand, in order: phase, turn and the filings that each was decided on.
pub fn adjudications(entries: &[Entry]) -> Vec<(Phase, u32, BySeat<Option<OrderLines>>)> {
    let decided = standing(entries).into_iter().filter_map(|entry| match &entry.fact {
        Fact::TurnAdjudicated { phase, turn, filings, .. } => Some((*phase, *turn, filings.clone())),
        _ => None,
    });
    decided.collect()
}

/// The record of a match from its entries, in order: the filings that each phase was decided on, and how it was
/// ended from outside the rules. `None` when the first entry does not open a match.
pub fn record(entries: &[Entry]) -> Option<Record> {
    let first = entries.first()?;
    let Fact::MatchOpened { game, options, players, .. } = &first.fact else { return None };
    let (mut filings, mut players) = (Vec::new(), players.clone());
    for entry in entries {
        if let Fact::PlayerRenamed { seat, to, .. } | Fact::PlayerReplaced { seat, to, .. } = &entry.fact {
            players[*seat].clone_from(to);
        }
    }
    for entry in standing(entries) {
        match &entry.fact {
            Fact::TurnAdjudicated { phase, filings: decided_on, .. } => {
                for (seat, filing) in decided_on.iter() {
                    let Some(filing) = filing else { continue };
                    let by = By::Seat(seat, filing.join("\n"));
                    filings.push(Filed { by, phase: Some(phase.to_string()) });
                }
            }
            Fact::MatchClosed { ending } => filings.push(Filed { by: By::Referee(*ending), phase: None }),
            _ => {}
        }
    }
    Some(Record { game: *game, rules: first.rules, players, options: options.clone(), filings })
}

/// Plays a match through as its entries tell it, what was corrected later included: `each` gets the state that every
/// adjudication, every ending from outside the rules and every correction left. Ends where an entry does not fit.
pub fn replay(entries: &[Entry], mut each: impl FnMut(&Entry, &AnyState)) {
    let Some(first) = entries.first() else { return };
    let Fact::MatchOpened { game, options, .. } = &first.fact else { return };
    let Ok(start) = game.start_under(first.rules, options) else { return };
    let (mut state, mut decided) = (start.clone(), Vec::new());
    for entry in entries {
        let fits = match &entry.fact {
            Fact::TurnAdjudicated { filings, .. } => {
                decided.push(filings);
                adjudicate(&mut state, filings)
            }
            Fact::MatchClosed { ending } => {
                state.close(ending.outcome());
                true
            }
            Fact::CorrectionMade { keeps, .. } => {
                decided.truncate(*keeps);
                state = start.clone();
                decided.iter().all(|filings| adjudicate(&mut state, filings))
            }
            _ => continue,
        };
        if !fits {
            return;
        }
        each(entry, &state);
    }
}

/// Decides a phase on stored filings. Returns whether they fit the state.
fn adjudicate(state: &mut AnyState, filings: &BySeat<Option<OrderLines>>) -> bool {
    let unsealed = state.unseal(filings);
    unsealed.map(|filed| state.adjudicate(&filed)).is_ok()
}

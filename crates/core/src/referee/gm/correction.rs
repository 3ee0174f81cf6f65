//! Corrections: the GM reopens an adjudicated turn, or decides it on other orders. Also completes acts that
//! were read from a ledger.

use crate::game::any::Memories;
use crate::game::{BySeat, OrderLines};
use crate::ledger::{self, Act, Correction, Fact};
use crate::letter::Digest;
use crate::referee::play::dispatch::{Content, Notice};
use crate::referee::play::game_match::{FiledOrders, Match, Stage};
use crate::referee::play::ruling::Draft;
use crate::referee::play::{adjudication, deadline};
use crate::referee::rejection::Rejection;

/// Restores the match to the moment when the turn was open, then decides it on other orders or leaves it
/// open.
pub(super) fn correct(draft: &mut Draft, correction: &Correction) -> Result<(), Rejection> {
    let turn = correction.turn;
    let played = &draft.game_match;
    // The result has disclosed to both sides what the rules hide.
    if played.stage == Stage::Over && played.game.hides_something() {
        return Err(Rejection::Over);
    }
    let no_such_turn = correction.no_such_turn();
    let keeps = correction.first_voided().ok_or_else(|| no_such_turn.clone())?;
    let game = draft.game_match.game;
    let start = game.start_with(&correction.choices);
    let mut state = start.map_err(|_| no_such_turn.clone())?;
    let mut memories = Memories::empty(game);
    for (_, _, filings) in &correction.decided[..keeps] {
        let filed = state.unseal(filings).map_err(|_| no_such_turn.clone())?;
        memories.remember(&state);
        state.adjudicate(&filed);
    }
    let mut held = BySeat::default();
    if let Some((seat, orders)) = &correction.orders {
        let filing = state.seal(*seat, orders).map_err(|faults| Rejection::Faulty { faults })?;
        let (_, _, filings) = &correction.decided[keeps];
        let filed = state.unseal(filings).map_err(|_| no_such_turn.clone())?;
        let at = draft.at;
        held = filed.map(|filing| filing.map(|filing| FiledOrders::new(filing, at)));
        held[*seat] = Some(FiledOrders::new(filing, at));
    }
    let game_match = &mut draft.game_match;
    game_match.state = state;
    game_match.memories = Some(memories).filter(|_| keeps > 0 && game.keeps_memory());
    game_match.filed = held;
    game_match.conditions = BySeat::default();
    game_match.untold = None;
    // A cause that was meant for the phase open until now must not affect the reopened one.
    game_match.phase_no += 1;
    game_match.restore_bank(turn, correction.orders.is_some());
    game_match.adjudicated.truncate(keeps);
    game_match.stage = Stage::Running;
    game_match.annulled = false;
    game_match.paused_at = None;
    game_match.protest = None;
    game_match.protest_words.clear();
    let reason = correction.reason.clone();
    let state = Digest::of(ledger::canonical(&draft.game_match.state).as_bytes());
    let new_key = correction.new_key.as_ref();
    let key = new_key.map(|new| new.pin);
    draft.record(Fact::CorrectionMade { turn, keeps, reason: reason.clone(), state, key });
    if let Some(key) = new_key.and_then(|new| new.key.clone()) {
        let earlier = std::mem::replace(&mut draft.game_match.key, key);
        draft.game_match.earlier_keys.push(earlier);
    }
    if correction.orders.is_some() {
        adjudication::adjudicate_and_report(draft, Vec::new(), Some(reason));
    } else {
        deadline::open_phase(draft);
        draft.dispatch_to_both(Content::Notice(Notice::Reopened { turn, reason }));
    }
    Ok(())
}

impl Correction {
    /// Returns why the turn cannot be decided again, and the last one that can.
    fn no_such_turn(&self) -> Rejection {
        let seat = self.orders.as_ref().map(|(seat, _)| *seat);
        let fits = |filings: &BySeat<Option<OrderLines>>| seat.is_none_or(|seat| filings[seat].is_some());
        let last = self.decided.iter().rev().find(|(_, _, filings)| fits(filings)).map(|(_, turn, _)| *turn);
        Rejection::NoSuchTurn { turn: self.turn, seat, last }
    }
}

impl Act {
    /// Completes an act that was read from a ledger with data that only the match keeps: texts of GMs, and
    /// secrets. Returns whether the match has them.
    pub fn complete(&mut self, game_match: &Match) -> bool {
        match self {
            Act::Tell { digest, text, .. } => {
                let found = game_match.gm_messages.iter().find(|message| message.digest() == *digest);
                found.inspect(|message| text.clone_from(&message.text)).is_some()
            }
            Act::Correct(Correction { new_key: Some(new), .. }) => {
                new.key = game_match.key_pinned_by(new.pin);
                new.key.is_some()
            }
            _ => true,
        }
    }
}

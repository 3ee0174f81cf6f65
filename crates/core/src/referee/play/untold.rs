//! The turns that have not been reported to a player yet, because the house moves next.
//!
//! Each turn is a separate ruling, but a player reads about them in one letter, once a player has to move or
//! the match ends. The receipt of the player's own letter waits for it a few seconds in the outbox.

use super::dispatch::{Adjudication, Content, News, Reader};
use super::game_match::{FiledOrders, Match, Stage};
use super::kept::{DelayedLetter, DelayedReceipt, Untold, UntoldTurn};
use super::ruling::Draft;
use crate::game::any::{AnyState, Filing};
use crate::game::{BySeat, Seat};
use crate::ledger::Cause;
use crate::letter::Digest;
use crate::referee::answer::{Answer, Orders};
use crate::referee::matter::SeatLetter;

/// Maximum turns in one report. If there are more, only the last ones are reported.
const MOST_TURNS: usize = 20;

impl DelayedReceipt {
    /// Returns the receipt if it can wait: it files orders, and contains nothing urgent and nothing that the
    /// shell has yet to fill in.
    pub fn of(answer: &Answer, letter: &SeatLetter) -> Option<DelayedReceipt> {
        let Orders::Sealed { filing, sealed, wait: false, firm_at: None, replaced, dropped, .. } =
            &answer.orders
        else {
            return None;
        };
        let is_simple = answer.replies.is_empty()
            && answer.faults.is_empty()
            && answer.offered.is_none()
            && answer.elsewhere_orders.is_empty()
            && answer.wishes.is_empty()
            && !answer.token_renewed
            && answer.accepted_since.is_none()
            && answer.unread.is_none()
            && !answer.cuts_text
            && answer.left_out == Default::default()
            && letter.cause.part.is_none();
        is_simple.then(|| DelayedReceipt {
            to: letter.cause.letter,
            message_id: letter.message_id.clone(),
            orders: filing.lines(),
            sealed: *sealed,
            replaced: *replaced,
            dropped: dropped.clone(),
            remarks: answer.remarks.clone(),
            overridden: answer.replaced.clone(),
            attachments: answer.attachments.clone(),
            passed_on: answer.passed_on,
            gm_is_opponent: answer.gm_is_opponent,
        })
    }

    /// Returns the receipt of orders that were adjudicated as `filing`; `None` if others were.
    fn answer(self, filing: &Filing) -> Option<Answer> {
        let DelayedReceipt { to, message_id, orders, sealed, replaced, dropped, .. } = self;
        (orders == filing.lines()).then(|| Answer {
            to: Some(to),
            message_id,
            orders: Orders::Sealed {
                filing: filing.clone(),
                sealed,
                wait: false,
                firm_at: None,
                asks: false,
                replaced,
                is_confirmed: false,
                dropped,
            },
            remarks: self.remarks,
            replaced: self.overridden,
            attachments: self.attachments,
            passed_on: self.passed_on,
            gm_is_opponent: self.gm_is_opponent,
            ..Answer::default()
        })
    }
}

impl Untold {
    /// Stores news until it is reported. `now` is the state after it.
    fn of(news: News, letter: Option<DelayedLetter>, now: &AnyState) -> Untold {
        let News { mut steps, left_out, missed, filed, conditions, correction: _ } = news;
        let surplus = steps.len().saturating_sub(MOST_TURNS);
        steps.drain(..surplus);
        let before = steps.first().map_or(now, |first| &first.before).clone();
        let turns = steps.into_iter().map(|step| UntoldTurn {
            phase: step.phase,
            turn: step.turn,
            filings: step.filings.as_ref().map(|filing| filing.as_ref().map(Filing::lines)),
        });
        Untold {
            before,
            turns: turns.collect(),
            left_out: left_out + surplus,
            missed,
            conditions,
            filed: filed.map(|filed| filed.map(|filed| filed.at)),
            letter,
        }
    }

    /// Replays the turns. Returns the news, and the letter that reports some of it.
    fn into_news(self) -> (News, Option<DelayedLetter>) {
        let Untold { before: mut state, turns, left_out, missed, conditions, filed, letter } = self;
        let mut steps = Vec::with_capacity(turns.len());
        for UntoldTurn { phase, turn, filings } in turns {
            let before = state.clone();
            // The filings were sealed for this state, so it can unseal them.
            let filings = state.unseal(&filings).unwrap_or_default();
            state.adjudicate(&filings);
            steps.push(Adjudication { phase, turn, before, filings, state: state.clone() });
        }
        let filed = BySeat::from_fn(|seat| {
            let (first, at) = steps.first().zip(filed[seat])?;
            let filing = first.filings[seat].clone()?;
            Some(FiledOrders::new(filing, at))
        });
        (News { steps, left_out, missed, correction: None, filed, conditions }, letter)
    }
}

impl Match {
    /// Whether only the house has to move, and a player of this match reads about its move.
    pub fn waits_for_house_alone(&self) -> bool {
        let awaited = self.awaited();
        let held = Seat::BOTH.into_iter().filter_map(|seat| self.filed[seat].as_ref());
        self.stage == Stage::Running
            && !awaited.is_empty()
            && awaited.iter().all(|seat| self.house[*seat].is_some())
            && self.house.iter().any(|(_, level)| level.is_none())
            && (self.due_from_players().is_none() || self.terms.settle_time().is_zero())
            && held.into_iter().all(|held| !held.wait && held.firm_at.is_none())
    }

    /// Notes the pins of the letters of a ruling, which the next entry lists.
    pub fn note_pins(&mut self, told: Vec<Digest>) {
        if let Some(letter) = self.untold.as_mut().and_then(|untold| untold.letter.as_mut())
            && letter.pin.is_none()
        {
            letter.pin = told.get(letter.index).copied();
        }
        self.pins = told;
    }
}

/// Reports adjudications to both sides, with earlier ones that they have not read yet. If the house alone
/// moves next, and no letter asks for an answer, the report waits.
pub fn report(draft: &mut Draft, news: News) {
    let (news, letter) = match draft.game_match.untold.take() {
        Some(untold) => append_news(untold.into_news(), news),
        None => (news, None),
    };
    let asks = !matches!(draft.cause, Cause::House { .. } | Cause::Clock { .. }) || news.correction.is_some();
    if !asks && draft.game_match.waits_for_house_alone() {
        draft.game_match.untold = Some(Untold::of(news, letter, &draft.game_match.state));
        return;
    }
    for seat in Seat::BOTH {
        let held = letter.as_ref().filter(|letter| letter.to == seat);
        let receipt = held.and_then(|held| {
            let filing = news.steps.first()?.filings[seat].as_ref()?;
            held.receipt.clone()?.answer(filing).map(Box::new)
        });
        let replaces = held.and_then(|held| held.pin);
        let news = Box::new(news.clone());
        draft.dispatch(Reader::Seat(seat), Content::Report { news, receipt, replaces });
    }
}

/// Appends news to earlier ones.
fn append_news(
    (mut all, letter): (News, Option<DelayedLetter>),
    news: News,
) -> (News, Option<DelayedLetter>) {
    if all.steps.is_empty() {
        return (News { left_out: all.left_out, ..news }, letter);
    }
    all.steps.extend(news.steps);
    all.missed.extend(news.missed.into_iter().filter(|seat| !all.missed.contains(seat)).collect::<Vec<_>>());
    all.conditions.extend(news.conditions);
    all.correction = news.correction;
    let surplus = all.steps.len().saturating_sub(MOST_TURNS);
    all.steps.drain(..surplus);
    all.left_out += surplus;
    (all, letter)
}

/// Makes the answer to a letter that filed orders wait in the outbox, if the house alone moves next.
/// `receipt` is `None` for a player who wants none.
pub fn delay_receipt(draft: &mut Draft, seat: Seat, receipt: Option<DelayedReceipt>) {
    if !draft.game_match.waits_for_house_alone() {
        return;
    }
    let Some((index, content)) = draft.hold_for_house(seat) else { return };
    let news = match content {
        Content::Report { news, .. } => *news,
        _ => News::default(),
    };
    let letter = DelayedLetter { to: seat, index, pin: None, turns: news.steps.len(), receipt };
    draft.game_match.untold = Some(Untold::of(news, Some(letter), &draft.game_match.state));
}

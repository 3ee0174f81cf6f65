//! The play of a match as its entries record it: sealed orders must be in the letter, and adjudications must
//! follow from the filings. This needs only the rules, and no procedure.

use std::collections::BTreeSet;

use crate::game::any::AnyState;
use crate::game::{BySeat, Line, OrderLines, Seat};
use crate::ledger::{self, Entry, Fact, SealKey, seal_digest};
use crate::letter::Digest;
use crate::referee::Match;

/// The reason why a ruling is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unrepeated {
    /// It, or an earlier ruling, followed this procedure, from which this program cannot continue.
    Procedure(u32),
    /// Letters of the match are withheld.
    Withheld,
}

/// The play of a match up to an entry.
pub(super) struct Play {
    /// The reason why rulings are not repeated from its beginning on.
    pub why: Unrepeated,
    start: AnyState,
    state: AnyState,
    /// The orders that are sealed for the open phase.
    sealed: BySeat<Option<OrderLines>>,
    /// The lines of the conditional orders that each seat sent.
    conditions: BySeat<Vec<String>>,
    /// The orders in each seat's refused letters of the open phase, which `YES` may file.
    refused: BySeat<Vec<String>>,
    /// The filings of the adjudications in force.
    adjudicated: Vec<BySeat<Option<OrderLines>>>,
    /// Whether the ruling decides a turn again, with filings that are not sealed a second time.
    is_corrected: bool,
}

impl Play {
    /// Returns the play of a match from its opening on. `None` if the first entry does not open a match that
    /// the rules know.
    pub fn of_opening(entry: &Entry, why: Unrepeated) -> Option<Play> {
        let Fact::MatchOpened { game, options, .. } = &entry.fact else { return None };
        let start = game.start_with(options).ok()?;
        Some(Play {
            why,
            state: start.clone(),
            start,
            sealed: BySeat::default(),
            conditions: BySeat::default(),
            refused: BySeat::default(),
            adjudicated: Vec::new(),
            is_corrected: false,
        })
    }

    /// Returns the play of a match as the last repeated ruling left it; `entries` are the entries of its
    /// record.
    pub fn of_match(game_match: &Match, entries: &[Entry], why: Unrepeated) -> Option<Play> {
        let mut play = Play::of_opening(entries.first()?, why)?;
        play.state = game_match.state.clone();
        play.sealed = game_match.filed.as_ref().map(|held| held.as_ref().map(|held| held.filing.lines()));
        play.conditions = game_match
            .conditions
            .as_ref()
            .map(|sent| sent.as_ref().map(|sent| sent.lines()).unwrap_or_default());
        play.refused = game_match
            .offered
            .as_ref()
            .map(|offered| offered.iter().flat_map(|offered| offered.orders.clone()).collect());
        play.adjudicated =
            ledger::adjudications(entries).into_iter().map(|(_, _, filings)| filings).collect();
        Some(play)
    }

    pub fn state(&self) -> &AnyState {
        &self.state
    }

    /// Begins a ruling.
    pub fn begin(&mut self) {
        self.is_corrected = false;
    }

    /// Continues with the next entry. `written` holds the lines of its cause, or is `None` if that is
    /// withheld. `key` draws ready setups.
    ///
    /// # Errors
    /// Returns what is wrong, as a clause.
    pub fn follow(&mut self, entry: &Entry, written: Option<&[String]>, key: &SealKey) -> Result<(), String> {
        match &entry.fact {
            Fact::OrdersSealed { seat, orders, sealed, .. } => {
                self.check_seal(entry, orders, *sealed)?;
                self.check_written(*seat, orders, written, key)?;
                self.sealed[*seat] = Some(orders.clone());
            }
            Fact::ConditionsSealed { seat, conditions, sealed, .. } => {
                let lines = conditions.lines();
                self.check_seal(entry, &lines, *sealed)?;
                self.check_written(*seat, &lines, written, key)?;
                self.conditions[*seat] = lines;
            }
            Fact::OrdersRefused { seat, orders, offered, .. } => {
                self.refused[*seat].extend(orders.iter().chain(offered).cloned());
            }
            Fact::OrdersWithdrawn { seat, .. } => self.sealed[*seat] = None,
            Fact::ConditionsWithdrawn { seat, .. } => self.conditions[*seat].clear(),
            Fact::PlayerReplaced { seat, .. } => {
                self.sealed[*seat] = None;
                self.conditions[*seat].clear();
            }
            Fact::TurnAdjudicated { filings, state, .. } => {
                self.refused = BySeat::default();
                self.adjudicate(filings, *state)?;
            }
            Fact::MatchClosed { ending } => {
                self.state.close(ending.outcome());
                self.sealed = BySeat::default();
            }
            Fact::MatchEnded { outcome } if self.state.outcome().as_ref() != Some(outcome) => {
                return Err("the match did not end like that".to_owned());
            }
            Fact::CorrectionMade { keeps, state, .. } => self.correct(*keeps, *state)?,
            _ => {}
        }
        Ok(())
    }

    fn check_seal(&self, entry: &Entry, orders: &[String], sealed: Digest) -> Result<(), String> {
        if seal_digest(&entry.salt, orders) == sealed {
            Ok(())
        } else {
            Err("its orders are not those that it seals".to_owned())
        }
    }

    /// Checks that sealed orders are in their cause, or follow from earlier letters of the seat.
    fn check_written(
        &self,
        seat: Seat,
        orders: &[String],
        written: Option<&[String]>,
        key: &SealKey,
    ) -> Result<(), String> {
        let Some(lines) = written else { return Ok(()) };
        let game = self.state.kind();
        let sent = lines.iter().chain(&self.refused[seat]);
        let sent: Vec<Line> = Line::numbered(&sent.collect::<Vec<_>>());
        let (written_out, _) = self.state.write_out(seat, &sent);
        // Another procedure may expand short forms differently.
        if written_out != sent {
            return Ok(());
        }
        let sent: BTreeSet<String> =
            sent.iter().filter_map(|line| game.canonical(&line.text)).flatten().collect();
        let follows =
            |order: &String| self.conditions[seat].iter().any(|condition| condition.contains(order.as_str()));
        if orders.iter().all(|order| sent.contains(order) || follows(order)) {
            return Ok(());
        }
        let is_assumed = || self.state.missed(seat).is_some_and(|assumed| *assumed.lines() == *orders);
        if is_assumed() || lines.iter().any(|line| self.is_ready_setup(seat, line, orders, key)) {
            return Ok(());
        }
        Err("it seals orders that are not in its cause".to_owned())
    }

    /// Whether a line asks for a ready setup, and these orders are that setup.
    fn is_ready_setup(&self, seat: Seat, line: &str, orders: &[String], key: &SealKey) -> bool {
        let line = Line { no: 1, text: line.to_owned() };
        let setup = self.state.ready_setup(seat, &[line], key.setup_dice(seat));
        let setup: Option<BTreeSet<String>> =
            setup.map(|lines| lines.into_iter().map(|line| line.text).collect());
        setup.is_some_and(|setup| orders.iter().all(|order| setup.contains(order)))
    }

    fn adjudicate(&mut self, filings: &BySeat<Option<OrderLines>>, after: Digest) -> Result<(), String> {
        for (seat, filing) in filings.iter() {
            let sealed = self.sealed[seat].take().filter(|_| !self.is_corrected);
            let assumed = || self.state.missed(seat).map(|assumed| assumed.lines());
            if !self.is_corrected && *filing != sealed && (sealed.is_some() || *filing != assumed()) {
                return Err(format!("the filing of the {seat} seat is not the one that was sealed"));
            }
        }
        let filed = self.state.unseal(filings).map_err(|_| "its filings cannot stand".to_owned())?;
        self.state.adjudicate(&filed);
        self.adjudicated.push(filings.clone());
        self.compare_state(after)
    }

    fn correct(&mut self, keeps: usize, after: Digest) -> Result<(), String> {
        self.adjudicated.truncate(keeps);
        self.state = self.start.clone();
        for filings in &self.adjudicated {
            let filed =
                self.state.unseal(filings).map_err(|_| "an earlier filing cannot stand".to_owned())?;
            self.state.adjudicate(&filed);
        }
        (self.sealed, self.conditions) = (BySeat::default(), BySeat::default());
        self.is_corrected = true;
        self.compare_state(after)
    }

    fn compare_state(&self, recorded: Digest) -> Result<(), String> {
        if Digest::of(ledger::canonical(&self.state).as_bytes()) == recorded {
            Ok(())
        } else {
            Err("its state is not the one that the filings lead to".to_owned())
        }
    }
}

//! The house, a computer player: what it is given, and how a game names its own.
//!
//! It knows what a player of its seat knows: what the seat was told and what it filed. No state is in the signature of
//! [`House::play`], so the house cannot look at what the rules hide.

use serde::{Serialize, Serializer};

use super::{Dice, Game, OrderLines, Sealed, Seat};

pub(in crate::game) mod level;
pub(in crate::game) mod mixture;
pub(in crate::game) mod quiet;
pub(in crate::game) mod root;
pub(in crate::game) mod table;

/// Everything that a seat was told and filed in a match, in order, up to now.
///
/// Only [`AnySeen`](super::any::AnySeen) and tests make one, from [`Game::view`]. Adjudications that a correction voided
/// are not in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen<V, O> {
    seat: Seat,
    /// The views before the present one. Each has what the seat filed for the phase that it shows.
    before: Vec<(V, Option<Sealed<O>>)>,
    now: V,
}

impl<V, O> Seen<V, O> {
    /// Returns what `seat` is told as the match starts.
    pub(super) fn begin<G: Game<View = V, Order = O>>(state: &G, seat: Seat) -> Seen<V, O> {
        Seen { seat, before: Vec::new(), now: state.view(seat) }
    }

    /// Adds an adjudication: what the seat had filed, if anything was due from it, and the state that followed.
    pub(super) fn add<G: Game<View = V, Order = O>>(&mut self, filed: Option<Sealed<O>>, after: &G) {
        let before = std::mem::replace(&mut self.now, after.view(self.seat));
        self.before.push((before, filed));
    }

    /// Takes the last adjudication back, and returns the view that followed it; `None` if there is none.
    pub(super) fn take_last(&mut self) -> Option<V> {
        let (before, _) = self.before.pop()?;
        Some(std::mem::replace(&mut self.now, before))
    }

    pub fn seat(&self) -> Seat {
        self.seat
    }

    /// The present view.
    pub fn now(&self) -> &V {
        &self.now
    }

    /// The earlier views, oldest first.
    pub fn before(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.before.iter().map(|(view, _)| view)
    }

    /// What the seat filed in the phase that each of the earlier views shows; `None` where nothing was due from it.
    pub fn filed(&self) -> impl DoubleEndedIterator<Item = Option<&[O]>> {
        self.before.iter().map(|(_, filed)| filed.as_ref().map(Sealed::orders))
    }
}

/// Ledger entries pin the digest of this JSON, so its form must not change.
impl<V: Serialize, O: std::fmt::Display> Serialize for Seen<V, O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Told<'a, V> {
            seat: Seat,
            views: Vec<&'a V>,
            filed: Vec<Option<OrderLines>>,
        }
        let views = self.before().chain([&self.now]).collect();
        let filed = self.before.iter().map(|(_, filed)| filed.as_ref().map(OrderLines::of)).collect();
        Told { seat: self.seat, views, filed }.serialize(serializer)
    }
}

/// The computer player of a game.
#[derive(Clone, Copy, Debug)]
pub struct House<V, O> {
    /// Rises with every change that can alter a turn, because an audit can derive a turn again only with the version
    /// that played it.
    pub version: u32,
    /// The levels at which it plays, the weakest first.
    pub levels: &'static [HouseLevel],
    /// Chooses legal orders for a seat from which some are due. The same arguments give the same orders: it reads no
    /// clock, counts the positions that it looks at, and calculates in integers. It may take a second.
    pub play: fn(&Seen<V, O>, &HouseLevel, Dice) -> Chosen<O>,
    /// Plays the highest level with another insight, to measure what its own is worth. No match is played so. `None` in a
    /// game that hides nothing.
    pub with_insight: Option<WithInsight<V, O>>,
}

/// Chooses orders as [`House::play`] does at the highest level, from other guesses.
pub type WithInsight<V, O> = fn(&Seen<V, O>, Insight<'_, V>, Dice) -> Chosen<O>;

/// What the house makes its guesses of hidden things from.
#[derive(Clone, Copy, Debug)]
pub enum Insight<'a, V> {
    /// Everything that its seat was told: so it plays every match.
    Told,
    /// Setups that the enemy may have filed, and no news of its ships since. What the enemy has captured (Quadrant Z) and how
    /// many submarines it has left (Pacific) still count.
    Blind,
    /// The truth: a view of the same turn that hides nothing.
    Open(&'a V),
}

/// What the house plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen<O> {
    pub orders: Vec<O>,
    /// The number of positions that it looked at, for measurements.
    pub positions: u64,
}

/// A level at which the house plays a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HouseLevel {
    /// One lower-case word.
    pub name: &'static str,
    /// Other names that players may write.
    pub aliases: &'static [&'static str],
    /// How it plays, in a few words, for `games` and GAMES.
    pub says: &'static str,
    /// Options, by name and value, of a match at this level unless others are chosen.
    pub options: &'static [(&'static str, &'static str)],
}

impl HouseLevel {
    /// The name that stands in for a player's.
    pub fn player_name(&self) -> String {
        format!("the house ({})", self.name)
    }

    /// Whether the level goes by this name, ignoring case.
    pub fn is_called(&self, name: &str) -> bool {
        std::iter::once(&self.name).chain(self.aliases).any(|own| own.eq_ignore_ascii_case(name))
    }
}

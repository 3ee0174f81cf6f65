//! Everything that one seat knows of a match: its views and its filings.

use serde::{Serialize, Serializer};

use super::{Game, OrderLines, Sealed, Seat};

/// Everything that a seat was told and filed in a match, in order, up to now.
///
/// Only [`AnySeen`](super::any::AnySeen) and tests make one, from [`Game::view`]. It omits adjudications that
/// a correction voided.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen<V, O> {
    seat: Seat,
    /// The views before the present one, each with the seat's filing for the phase that it shows.
    before: Vec<(V, Option<Sealed<O>>)>,
    now: V,
}

impl<V, O> Seen<V, O> {
    /// Returns what `seat` is told as the match starts.
    pub(crate) fn begin<G: Game<View = V, Order = O>>(state: &G, seat: Seat) -> Seen<V, O> {
        Seen { seat, before: Vec::new(), now: state.view(seat) }
    }

    /// Adds an adjudication: the seat's filing, if one was due from it, and the state that followed.
    pub(crate) fn add<G: Game<View = V, Order = O>>(&mut self, filed: Option<Sealed<O>>, after: &G) {
        let before = std::mem::replace(&mut self.now, after.view(self.seat));
        self.before.push((before, filed));
    }

    /// Takes the last adjudication back, and returns the view that followed it; `None` if there is none.
    pub(crate) fn take_last(&mut self) -> Option<V> {
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

    /// The seat's filing for the phase of each earlier view; `None` where nothing was due from it.
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

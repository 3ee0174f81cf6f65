//! Shows a state to a seat, together with the seat's memory and its own actions.
//!
//! Everything that a seat of any game was told and filed.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{AnySeen, AnyState, Filing, GameKind, Memories, Remembering, sealed_orders};
use crate::game::sheet::SheetBody;
use crate::game::{Board, BySeat, Game, Sealed, Seat};

/// One seat's part in the adjudication that led to a state.
#[derive(Clone, Copy, Debug)]
pub struct OwnPart<'a> {
    pub before: &'a AnyState,
    pub filed: Option<&'a Filing>,
}

/// Everything that `viewer` may know of a state, to be serialized: with the keys `memory` and `did` in the games
/// that hide something. `did` describes the seat's actions in the adjudication `own`.
///
/// # Panics
/// Serializing panics if the parts are not of one match.
#[derive(Clone, Copy, Debug)]
pub struct ShownView<'a> {
    pub state: &'a AnyState,
    pub viewer: Seat,
    pub memories: Option<&'a Memories>,
    pub own: Option<OwnPart<'a>>,
}

impl Serialize for ShownView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ShownView { state, viewer, memories, own } = *self;
        on_state!(state, state => seat_view(state, viewer, memories, own).serialize(serializer))
    }
}

impl AnyState {
    /// Returns [`ShownView`] as JSON.
    ///
    /// # Panics
    /// Panics if the arguments are not of one match.
    pub fn shown_view(&self, viewer: Seat, memories: Option<&Memories>, own: Option<OwnPart<'_>>) -> Value {
        let view = ShownView { state: self, viewer, memories, own };
        serde_json::to_value(view).expect("a view has string keys and plain values")
    }

    /// The board as `viewer` may know and remember it, with its own moves in the adjudication `own`.
    ///
    /// # Panics
    /// Panics if the arguments are not of one match.
    pub fn shown_board(&self, viewer: Seat, memories: Option<&Memories>, own: Option<OwnPart<'_>>) -> Board {
        on_state!(self, state of State => State::board(&seat_view(state, viewer, memories, own)))
    }

    /// The board that [`shown_board`](AnyState::shown_board) draws, as the readers of a replay see it; see
    /// [`Game::show_readers`].
    ///
    /// # Panics
    /// Panics if the arguments are not of one match.
    pub fn replay_board(&self, viewer: Seat, memories: &Memories, own: OwnPart<'_>) -> Board {
        on_state!(self, state of State => {
            let mut view = seat_view(state, viewer, Some(memories), Some(own));
            State::show_readers(&mut view);
            State::board(&view)
        })
    }

    /// The board with everything disclosed and, if `step` led here, with what both sides did in it: the state before, and
    /// the filings.
    ///
    /// # Panics
    /// Panics if they are not of one match.
    pub fn open_board(&self, step: Option<(&AnyState, &BySeat<Option<Filing>>)>) -> Board {
        on_state!(self, state of State => State::board(&open_view(state, step)))
    }

    /// Returns what a page needs to compose the orders of `viewer`, as far as it may know and remember; see
    /// [`Game::sheet`].
    ///
    /// # Panics
    /// Panics if the arguments are not of one match.
    pub fn sheet(&self, viewer: Seat, memories: Option<&Memories>) -> Option<SheetBody> {
        on_state!(self, state of State => State::sheet(&remembered_view(state, viewer, memories)))
    }
}

impl Memories {
    /// Adds the news of `state` before the next adjudication replaces it.
    pub fn remember(&mut self, state: &AnyState) {
        if state.kind().keeps_memory() {
            on_state!(state, state => remember(state, self));
        }
    }
}

impl GameKind {
    /// Whether a seat's memory has to be kept beside the state.
    pub fn keeps_memory(self) -> bool {
        on_game!(self, State => State::KEEPS_MEMORY)
    }
}

fn seat_view<'a, G: Remembering + 'a>(
    state: &G,
    viewer: Seat,
    memories: Option<&Memories>,
    own: Option<OwnPart<'a>>,
) -> G::View
where
    &'a G: TryFrom<&'a AnyState, Error = GameKind>,
    Sealed<G::Order>: TryFrom<Filing, Error = GameKind>,
{
    let mut view = remembered_view(state, viewer, memories);
    if let Some(OwnPart { before, filed }) = own {
        let before = <&G>::try_from(before).expect("a match stays one of its game");
        let filed = filed.map(sealed_orders::<G::Order>);
        let filed = filed.as_ref().map(Sealed::orders).unwrap_or_default();
        G::tell_deeds(&mut view, &before.view(viewer), filed);
    }
    view
}

fn open_view<'a, G: Remembering + 'a>(
    state: &G,
    step: Option<(&'a AnyState, &BySeat<Option<Filing>>)>,
) -> G::View
where
    &'a G: TryFrom<&'a AnyState, Error = GameKind>,
    Sealed<G::Order>: TryFrom<Filing, Error = GameKind>,
{
    let Some((before, filings)) = step else { return state.open_view(None) };
    let before = <&G>::try_from(before).expect("a match stays one of its game");
    let filed = filings.as_ref().map(|filing| filing.as_ref().map(sealed_orders::<G::Order>));
    let orders = filed.as_ref().map(|filed| filed.as_ref().map(Sealed::orders).unwrap_or_default());
    state.open_view(Some((before, orders)))
}

/// The view of a state, with its seat's memory.
fn remembered_view<G: Remembering>(state: &G, viewer: Seat, memories: Option<&Memories>) -> G::View {
    let mut view = state.view(viewer);
    match memories.and_then(G::memories) {
        Some(own) => G::recall(&mut view, &own[viewer]),
        None => G::recall(&mut view, &G::Memory::default()),
    }
    view
}

fn remember<G: Remembering>(state: &G, memories: &mut Memories) {
    let Some(own) = G::memories_mut(memories) else { return };
    for seat in Seat::BOTH {
        G::remember(&mut own[seat], &state.view(seat));
    }
}

impl AnySeen {
    /// Adds an adjudication: the seat's own filing, taken from `filed`, and the state that followed.
    ///
    /// # Panics
    /// Panics if they are of another game.
    pub fn add(&mut self, filed: &BySeat<Option<Filing>>, after: &AnyState) {
        on_seen!(self, seen of State => {
            let after = <&State>::try_from(after).expect("a match stays one of its game");
            seen.add(filed[seen.seat()].as_ref().map(sealed_orders), after);
        });
    }

    /// The seat whose knowledge and filings these are.
    pub fn seat(&self) -> Seat {
        on_seen!(self, seen => seen.seat())
    }
}

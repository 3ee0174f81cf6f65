//! The view of one seat, built from nothing. Both sides see the surface; each sees only its own submarines
//! until the match is over (4.5, 4.6).
//!
//! Data that both the text and the picture of the board show.
//!
//! The submarine order of a seat, for its own report. Its surface moves are in the news to both sides.

use serde::{Serialize, Serializer};

use super::Options;
use super::fleet::{Area, Class, Ship, Square, Submarine};
use super::order::{Order, SubmarineOrder, submarine_order};
use super::rules::{Event, Logged, Stage, State, written_out};
use crate::game::{BySeat, Phase, Seat, Step};

/// The side to move, as the JSON names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToMove {
    First,
    Second,
    Both,
}

impl ToMove {
    pub fn at(stage: &Stage) -> Option<ToMove> {
        match stage {
            Stage::Surface(Seat::First) => Some(ToMove::First),
            Stage::Surface(Seat::Second) => Some(ToMove::Second),
            Stage::Setup | Stage::Submarines => Some(ToMove::Both),
            Stage::Over(_) => None,
        }
    }
}

/// The submarines of one side: their squares, or only their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Depths {
    Charted(Vec<Submarine>),
    Counted(usize),
}

/// An item of the news.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Notice {
    /// A ship moved, and its squadron with it if that was not launched (3).
    Move {
        side: Seat,
        from: Square,
        to: Square,
        sunk: Option<Class>,
        #[serde(skip_serializing_if = "Option::is_none")]
        squadron_to: Option<Square>,
    },
    /// A squadron went down with its carrier (3.5).
    SquadronLost { side: Seat, at: Square },
    /// Ships attacked an area (3.6).
    Asw { side: Seat, area: Area, sunk: u8, contact: bool },
    /// A submarine searched an area (4.3).
    Sonar { side: Seat, area: Area, sunk: u8, contact: bool },
    /// A submarine sank a ship (4.2).
    Torpedo { side: Seat, at: Square, sunk: Class },
    /// A side had no move (3.7).
    Pass { side: Seat },
}

/// A submarine order, disclosed at the end of the match (4.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Opened {
    pub round: u32,
    pub side: Seat,
    #[serde(serialize_with = "as_written")]
    pub order: SubmarineOrder,
}

fn as_written<S: Serializer>(order: &SubmarineOrder, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(order)
}

/// An attack by or on submarines, as both sides were told about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sighted {
    pub round: u32,
    #[serde(flatten)]
    pub notice: Notice,
}

/// The news about submarines that both sides were told in earlier turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    pub sightings: Vec<Sighted>,
}

/// The submarine order of a seat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Deeds {
    /// `None` in other phases, and if all submarines passed.
    pub submarine: Option<SubmarineOrder>,
    /// Whether the submarine was sunk before it could move (P-SUBTURN).
    pub prevented: bool,
}

/// Everything that one seat may know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    pub(crate) round: u32,
    pub(super) to_move: Option<ToMove>,
    pub(crate) ships: BySeat<Vec<Ship>>,
    pub(crate) submarines: BySeat<Depths>,
    pub(super) quiet: u32,
    pub(super) news: Vec<Notice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) log: Option<Vec<Opened>>,
    /// In a view that is shown to its seat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) memory: Option<Memory>,
    /// In a view that is shown to its seat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) did: Option<Deeds>,

    #[serde(skip)]
    pub(crate) viewer: Seat,
    #[serde(skip)]
    pub(crate) options: Options,
    /// The phase that is due; `None` once the match is over.
    #[serde(skip)]
    pub(crate) phase: Option<Phase>,
    /// Every depth charge, sonar search and torpedo so far.
    #[serde(skip)]
    pub(crate) sightings: Vec<Sighted>,
    /// The numbers of the viewer's own submarines that the last adjudication sank.
    #[serde(skip)]
    pub(super) lost: Vec<u16>,
    /// In a view for the readers of a replay.
    #[serde(skip)]
    pub(super) readers: Option<Readers>,
}

/// What the readers of a replay see beside a view: nothing, or what really happened to the submarines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readers {
    pub is_open: bool,
    /// The squares between which submarines of a side moved.
    pub moved: Vec<(Seat, Square, Square)>,
    pub sunk: Vec<Square>,
}

impl View {
    /// The side from which the board is seen.
    pub(super) fn seen_from(&self) -> Seat {
        if self.readers.is_some() { Seat::First } else { self.viewer }
    }

    /// Whether the board shows what this side's searches heard.
    pub(super) fn hears(&self, side: Seat) -> bool {
        side == self.viewer || self.readers.as_ref().is_some_and(|readers| readers.is_open)
    }

    /// The viewer's own submarines, ordered by number.
    pub fn own_submarines(&self) -> &[Submarine] {
        match &self.submarines[self.viewer] {
            Depths::Charted(submarines) => submarines,
            Depths::Counted(_) => &[],
        }
    }

    pub fn own_ships(&self) -> &[Ship] {
        &self.ships[self.viewer]
    }
}

/// The phase that is due at this stage.
pub fn phase(stage: &Stage) -> Option<Phase> {
    match stage {
        Stage::Setup => Some(Phase::Setup),
        Stage::Surface(_) => Some(Phase::Surface),
        Stage::Submarines => Some(Phase::Submarines),
        Stage::Over(_) => None,
    }
}

/// Returns what `viewer` may know. A state holds nothing of a setup until both are filed, so it cannot leak.
pub fn view(state: &State, viewer: Seat) -> View {
    view_of(state, viewer, matches!(state.stage, Stage::Over(_)))
}

/// Implements [`crate::game::Game::open_view`].
pub fn open_view(state: &State, step: Option<Step<'_, State>>) -> View {
    let mut readers = Readers { is_open: true, ..Readers::default() };
    for event in state.events.iter().filter(|_| step.is_some()) {
        match *event {
            Event::SubmarineMoved { side, no, to } => {
                let fleet = step.iter().flat_map(|(before, _)| &before.submarines[side]);
                let from = fleet.filter(|submarine| submarine.no == no).map(|submarine| submarine.at);
                readers.moved.extend(from.map(|from| (side, from, to)));
            }
            Event::SubmarineSunk { at, .. } => readers.sunk.push(at),
            Event::Moved { .. }
            | Event::SquadronLost { .. }
            | Event::DepthCharged { .. }
            | Event::Torpedoed { .. }
            | Event::Sounded { .. }
            | Event::Passed { .. } => {}
        }
    }
    let mut view = view_of(state, Seat::First, true);
    if step.is_none() {
        view.news.clear();
    }
    view.phase = None;
    view.readers = Some(readers);
    view
}

/// The view of a state, with everything disclosed if the match is `over`.
fn view_of(state: &State, viewer: Seat, over: bool) -> View {
    let submarines = BySeat::from_fn(|side| {
        if over || side == viewer {
            Depths::Charted(state.submarines[side].clone())
        } else {
            Depths::Counted(state.submarines[side].len())
        }
    });
    let sighted = state.sightings.iter().filter_map(|sighting| {
        let notice = disclose(&sighting.event, viewer)?;
        Some(Sighted { round: sighting.round, notice })
    });
    View {
        round: state.round,
        to_move: ToMove::at(&state.stage),
        ships: state.ships.clone(),
        submarines,
        quiet: state.quiet,
        news: state.events.iter().filter_map(|event| disclose(event, viewer)).collect(),
        log: over.then(|| state.log.iter().map(open).collect()),
        memory: None,
        did: None,
        viewer,
        options: state.options.clone(),
        phase: phase(&state.stage),
        sightings: sighted.collect(),
        lost: state.events.iter().filter_map(|event| own_loss(event, viewer)).collect(),
        readers: None,
    }
}

/// Returns what `viewer` is told about an event (4.5). Both sides are told what happens on the surface and
/// what attacks achieved. Neither is told which submarine acted or what became of it; its own side sees that
/// on its board.
fn disclose(event: &Event, _viewer: Seat) -> Option<Notice> {
    match *event {
        Event::Moved { side, from, to, sunk, squadron_to } => {
            Some(Notice::Move { side, from, to, sunk, squadron_to })
        }
        Event::SquadronLost { side, at } => Some(Notice::SquadronLost { side, at }),
        Event::DepthCharged { side, area, sunk, contact } => Some(Notice::Asw { side, area, sunk, contact }),
        Event::Sounded { side, no: _, area, sunk, contact } => {
            Some(Notice::Sonar { side, area, sunk, contact })
        }
        Event::Torpedoed { side, no: _, at, sunk } => Some(Notice::Torpedo { side, at, sunk }),
        Event::Passed { side } => Some(Notice::Pass { side }),
        Event::SubmarineSunk { .. } | Event::SubmarineMoved { .. } => None,
    }
}

/// The number of the submarine that `viewer` lost in this event.
fn own_loss(event: &Event, viewer: Seat) -> Option<u16> {
    match *event {
        Event::SubmarineSunk { side, no, at: _ } => (side == viewer).then_some(no),
        Event::Moved { .. }
        | Event::SquadronLost { .. }
        | Event::DepthCharged { .. }
        | Event::Sounded { .. }
        | Event::Torpedoed { .. }
        | Event::SubmarineMoved { .. }
        | Event::Passed { .. } => None,
    }
}

fn open(logged: &Logged) -> Opened {
    Opened { round: logged.round, side: logged.side, order: logged.order }
}

/// The rounds for which an attack with depth charges or sonar stays on the board, including the open one. A
/// submarine that was heard earlier can be anywhere by now.
const ROUNDS_SHOWN: u32 = 2;

/// The attacks with depth charges or sonar that the board still shows.
pub fn recent_attacks(view: &View) -> impl Iterator<Item = &Notice> {
    let is_recent = |sighted: &&Sighted| sighted.round + ROUNDS_SHOWN > view.round;
    view.sightings.iter().filter(is_recent).map(|sighted| &sighted.notice)
}

/// Maximum number of older contacts on the board.
const CONTACTS_SHOWN: usize = 4;

/// Squares where the other side's submarines were noticed before the attacks that the board still shows, with
/// the round, latest first: the squares of ships that they torpedoed, and the south-west squares of areas
/// around which one was heard.
pub fn old_contacts(view: &View) -> impl Iterator<Item = (u32, Square)> {
    let is_old = |sighted: &&Sighted| view.phase.is_some() && sighted.round + ROUNDS_SHOWN <= view.round;
    let contact = |sighted: &Sighted| match &sighted.notice {
        Notice::Torpedo { side, at, .. } if *side != view.viewer => Some((sighted.round, *at)),
        Notice::Asw { side, area, contact: true, .. } | Notice::Sonar { side, area, contact: true, .. }
            if *side == view.viewer =>
        {
            Some((sighted.round, area.corner()))
        }
        Notice::Torpedo { .. }
        | Notice::Asw { .. }
        | Notice::Sonar { .. }
        | Notice::Move { .. }
        | Notice::SquadronLost { .. }
        | Notice::Pass { .. } => None,
    };
    view.sightings.iter().rev().filter(is_old).filter_map(contact).take(CONTACTS_SHOWN)
}

/// The submarines whose squares the viewer knows: its own, and, once the match is over, those of both sides.
pub fn known_submarines(view: &View) -> impl Iterator<Item = (Seat, Submarine)> {
    view.submarines.iter().flat_map(|(side, depths)| {
        let known = match depths {
            Depths::Charted(submarines) => submarines.as_slice(),
            Depths::Counted(_) => &[],
        };
        known.iter().map(move |submarine| (side, *submarine))
    })
}

/// Returns what the seat of both views did, for [`crate::game::Game::tell_deeds`].
pub fn deeds(before: &View, filed: &[Order], after: &View) -> Deeds {
    if before.phase != Some(Phase::Submarines) {
        return Deeds::default();
    }
    let order = submarine_order(filed).filter(|order| *order != SubmarineOrder::Pass);
    let submarine = order.map(|order| written_out(order, before.own_submarines()));
    let prevented = matches!(submarine, Some(SubmarineOrder::Move { no, .. }) if after.lost.contains(&no));
    Deeds { submarine, prevented }
}

/// Returns what a seat remembers. The state keeps all sightings; only those in this turn's news are left out.
pub fn memory(view: &View) -> Memory {
    let is_attack = |notice: &&Notice| match notice {
        Notice::Asw { .. } | Notice::Sonar { .. } | Notice::Torpedo { .. } => true,
        Notice::Move { .. } | Notice::SquadronLost { .. } | Notice::Pass { .. } => false,
    };
    let new = view.news.iter().filter(is_attack).count();
    let earlier = view.sightings.len().saturating_sub(new);
    Memory { sightings: view.sightings[..earlier].to_vec() }
}

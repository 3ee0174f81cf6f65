//! The view of a seat (clauses 3.3 to 3.5, 4 and 5), built from nothing.

use serde::{Deserialize, Serialize};

use super::Options;
use super::combat::Ship;
use super::galaxy::{Quadrant, Quadrants, Square};
use super::order::Order;
use super::rules::{Event, Score, Stage, State};
use crate::game::{BySeat, Phase, Seat};

/// Everything that one seat knows about a match.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct View {
    pub turn: u16,
    pub stock: u16,
    pub ships: Vec<Ship>,
    /// The standing `LOSSES`.
    pub losses: Vec<u16>,
    pub stars: Vec<KnownStar>,
    pub entries: Vec<Quadrant>,
    pub intruders: Vec<Intruder>,
    pub standoffs: Vec<Quadrant>,
    pub battles: Vec<Battle>,
    pub captures: Vec<Capture>,
    pub score: BySeat<Score>,
    /// Present only once the match is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enemy_ships: Option<Vec<Ship>>,
    /// The latest news of earlier turns, in a view that is shown to its seat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Box<Memory>>,
    /// The seat's own actions in the adjudication that led here, in a view that is shown to its seat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did: Option<Box<Deeds>>,
    #[serde(skip)]
    pub(crate) context: ViewContext,
}

/// Data for `check` and `board` that the serialized view omits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ViewContext {
    pub viewer: Seat,
    pub options: Options,
    /// The open phase; `None` once the match is over.
    pub phase: Option<Phase>,
    /// The highest number that a ship of this seat ever had.
    pub highest: u16,
    /// The quadrants in which the seat knows every star.
    pub charted: Quadrants,
    /// In the phase `casualties`: the seat's own ships that fight, by quadrant.
    pub fighting: Vec<(Quadrant, Vec<u16>)>,
    /// In the phase `casualties`: what the seat had and ordered at the beginning of the turn.
    pub unfinished: Option<Unfinished>,
    /// In a view for the readers of a replay.
    pub readers: Option<Readers>,
}

/// What the readers of a replay see beside a view: nothing, or what the other side did and where either lost ships.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Readers {
    pub is_open: bool,
    pub moved: Vec<Movement>,
    /// The squares on which ships were lost.
    pub lost: Vec<Square>,
}

impl View {
    /// The side that is drawn in dark colours: the viewer's or, in a replay, always the same one.
    pub(super) fn dark_side(&self) -> Seat {
        if self.context.readers.is_some() { Seat::First } else { self.context.viewer }
    }

    /// Whether the board shows everything that both sides have and did.
    pub(super) fn is_open(&self) -> bool {
        self.context.readers.as_ref().is_some_and(|readers| readers.is_open)
    }
}

/// The seat's own part of the beginning of a turn that waits for casualties.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unfinished {
    pub ships: Vec<Ship>,
    pub orders: Vec<Order>,
}

/// A star as a seat knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct KnownStar {
    pub at: Square,
    pub value: u16,
    pub captured_by: Option<Seat>,
    /// Whether it is a home base: the seat's own, and both once the match is over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub base: bool,
}

/// Enemy ships on one square of the seat's home sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intruder {
    pub at: Square,
    pub size: u16,
}

/// A battle in one quadrant, as one side is told about it (`Z-BATTLE-NEWS`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Battle {
    pub quadrant: Quadrant,
    pub own: Side<Vec<u16>>,
    pub enemy: Side<u16>,
}

/// One side of a battle. `lost` holds the numbers of the seat's own ships, or the total size of the enemy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side<Lost> {
    pub offence: u16,
    pub defence: u16,
    pub damage: u16,
    pub lost: Lost,
}

/// A star captured in this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Capture {
    pub by: Seat,
    pub at: Square,
    pub value: u16,
    pub offence: u16,
}

/// The latest news of each place from earlier turns, in the order of the places. Places in this turn's news
/// may be included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Enemies in the seat's home sector: those of the last turn in which the seat was told of any in that
    /// quadrant.
    pub intruders: Vec<Past<Intruder>>,
    /// Neutral quadrants that the enemy entered.
    pub entries: Vec<Past<Place>>,
    /// Quadrants in which ships of both sides met without a battle.
    pub standoffs: Vec<Past<Place>>,
    pub battles: Vec<Past<Battle>>,
}

/// News of an earlier turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past<News> {
    pub turn: u16,
    #[serde(flatten)]
    pub news: News,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub quadrant: Quadrant,
}

/// A seat's own actions in a turn (`did` in its view).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Deeds {
    /// The ships built (clause 3.1).
    pub built: Vec<Ship>,
    /// The moves made (clause 3.2).
    pub moved: Vec<Movement>,
    /// The quadrants whose stars the seat learnt because somebody entered them (clause 3.3).
    pub opened: Vec<Opened>,
    /// The squares of the captured stars (clause 3.5). The news to both sides says more.
    pub captured: Vec<Square>,
    /// The captures that failed (clause 3.5).
    pub failed: Vec<FailedCapture>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Movement {
    pub no: u16,
    pub from: Square,
    pub to: Square,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Opened {
    pub quadrant: Quadrant,
    pub stars: Vec<KnownStar>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailedCapture {
    pub at: Square,
    pub value: u16,
    pub reason: FailureReason,
}

/// The reason why a capture that was legal to file was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// The ships that stayed and survived have too little offence.
    TooWeak,
    /// Enemy ships are left on the square (`Z-CONTESTED`).
    Contested,
}

/// The news of one event to one side.
enum Notice {
    Entry(Quadrant),
    Intruder(Intruder),
    Standoff(Quadrant),
    Battle(Battle),
    Capture(Capture),
}

/// Returns what `viewer` is told about an event; `None` for nothing.
fn disclose(event: &Event, viewer: Seat) -> Option<Notice> {
    match event {
        Event::Entered { by, quadrant } => (*by != viewer).then_some(Notice::Entry(*quadrant)),
        Event::Intruded { by, at, size } => {
            (*by != viewer).then_some(Notice::Intruder(Intruder { at: *at, size: *size }))
        }
        Event::Met { quadrant } => Some(Notice::Standoff(*quadrant)),
        Event::Fought { quadrant, sides } => {
            let own = &sides[viewer];
            let enemy = &sides[viewer.other()];
            Some(Notice::Battle(Battle {
                quadrant: *quadrant,
                own: Side {
                    offence: own.offence,
                    defence: own.defence,
                    damage: own.damage,
                    lost: own.lost.clone(),
                },
                enemy: Side {
                    offence: enemy.offence,
                    defence: enemy.defence,
                    damage: enemy.damage,
                    lost: enemy.lost_size,
                },
            }))
        }
        Event::Captured { by, at, value, offence } => {
            Some(Notice::Capture(Capture { by: *by, at: *at, value: *value, offence: *offence }))
        }
    }
}

/// Implements [`crate::game::Game::view`].
pub fn view(state: &State, viewer: Seat) -> View {
    let Stage::Casualties(pending) = &state.stage else {
        return plain(state, viewer, matches!(state.stage, Stage::Over(_)));
    };
    // Z-CASUALTIES, ask: everyone sees the previous turn; a seat that is asked also sees its ships and
    // battles of this turn.
    let mut view = plain(&pending.before, viewer, false);
    view.context.phase = Some(Phase::Casualties);
    view.context.unfinished =
        Some(Unfinished { ships: view.ships.clone(), orders: pending.orders[viewer].clone() });
    if pending.asked[viewer] {
        let ships = &state.sides[viewer].ships;
        view.ships.clone_from(ships);
        view.battles.clear();
        for fight in &pending.fights {
            let own = fight.sides[viewer];
            let enemy = fight.sides[viewer.other()];
            view.battles.push(Battle {
                quadrant: fight.quadrant,
                own: Side {
                    offence: own.offence,
                    defence: own.defence,
                    damage: own.damage,
                    lost: Vec::new(),
                },
                enemy: Side { offence: enemy.offence, defence: enemy.defence, damage: enemy.damage, lost: 0 },
            });
            let fighting = fight.fighting(viewer, ships).map(|ship| ship.no).collect();
            view.context.fighting.push((fight.quadrant, fighting));
        }
    }
    view
}

/// The view of a state without a half-decided turn, with everything disclosed if the match is `over`.
pub fn plain(state: &State, viewer: Seat, over: bool) -> View {
    let side = &state.sides[viewer];
    let mut view = View {
        turn: state.turn,
        stock: side.stock,
        ships: side.ships.clone(),
        losses: side.losses.clone(),
        stars: known_stars(state, viewer, over),
        entries: Vec::new(),
        intruders: Vec::new(),
        standoffs: Vec::new(),
        battles: Vec::new(),
        captures: Vec::new(),
        score: state.stars.score(),
        enemy_ships: over.then(|| state.sides[viewer.other()].ships.clone()),
        memory: None,
        did: None,
        context: ViewContext {
            viewer,
            options: state.options,
            phase: state.phase(),
            highest: side.highest,
            charted: side.charted,
            fighting: Vec::new(),
            unfinished: None,
            readers: None,
        },
    };
    for event in &state.news {
        match disclose(event, viewer) {
            Some(Notice::Entry(quadrant)) => view.entries.push(quadrant),
            Some(Notice::Intruder(intruder)) => view.intruders.push(intruder),
            Some(Notice::Standoff(quadrant)) => view.standoffs.push(quadrant),
            Some(Notice::Battle(battle)) => view.battles.push(battle),
            Some(Notice::Capture(capture)) => view.captures.push(capture),
            None => {}
        }
    }
    view
}

/// Returns the stars that `viewer` knows: captured stars, all stars in quadrants that it has charted, and
/// elsewhere its own at the value that it placed. All stars once the match is `over`.
pub(super) fn known_stars(state: &State, viewer: Seat, over: bool) -> Vec<KnownStar> {
    let charted = state.sides[viewer].charted;
    let mut known = Vec::new();
    for (at, star) in state.stars.iter() {
        let is_open = over || star.captured_by.is_some() || charted.contains(at.quadrant());
        let value = if is_open { star.value() } else { u16::from(star.placed[viewer]) };
        if value > 0 {
            let base = state.base_of(at).is_some_and(|owner| over || owner == viewer);
            known.push(KnownStar { at, value, captured_by: star.captured_by, base });
        }
    }
    known
}

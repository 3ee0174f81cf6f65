//! The part of a side's knowledge that plans read. In a search it comes from a guessed state.

use crate::game::Seat;
use crate::game::quadrant_z::{
    Event, Intruder, KnownStar, Layout, Quadrant, Quadrants, Ship, Square, Star, State, View,
};

#[derive(Debug, PartialEq)]
pub(super) struct Known<'a> {
    pub me: Seat,
    pub layout: Layout,
    pub ships: &'a [Ship],
    pub stock: u16,
    /// The highest number that a ship of this side ever had.
    pub highest: u16,
    pub charted: Quadrants,
    /// The stars that nobody has captured.
    pub stars: Vec<KnownStar>,
    /// The intruders that survived battles.
    pub intruders: Vec<Intruder>,
}

impl Known<'_> {
    pub fn from_view(view: &View) -> Known<'_> {
        let context = &view.context;
        Known {
            me: context.viewer,
            layout: context.options.layout,
            ships: &view.ships,
            stock: view.stock,
            highest: context.highest,
            charted: context.charted,
            stars: view.stars.iter().filter(|star| star.captured_by.is_none()).copied().collect(),
            intruders: remaining_intruders(
                view.intruders.clone(),
                view.battles.iter().map(|battle| (battle.quadrant, battle.enemy.lost)),
            ),
        }
    }

    /// The knowledge that a view of `me` would hold.
    pub fn from_state(state: &State, me: Seat) -> Known<'_> {
        let side = &state.sides[me];
        let intruder = |event: &Event| match *event {
            Event::Intruded { by, at, size } if by != me => Some(Intruder { at, size }),
            _ => None,
        };
        let battle = |event: &Event| match event {
            Event::Fought { quadrant, sides } => Some((*quadrant, sides[me.other()].lost_size)),
            _ => None,
        };
        let star = |(at, star): (Square, Star)| {
            let is_open = side.charted.contains(at.quadrant());
            let value = if is_open { star.value() } else { u16::from(star.placed[me]) };
            let base = side.base == Some(at);
            (star.captured_by.is_none() && value > 0).then_some(KnownStar {
                at,
                value,
                captured_by: None,
                base,
            })
        };
        let mut stars = Vec::with_capacity(Square::COUNT);
        stars.extend(state.stars.iter().filter_map(star));
        Known {
            me,
            layout: state.options.layout,
            ships: &side.ships,
            stock: side.stock,
            highest: side.highest,
            charted: side.charted,
            stars,
            intruders: remaining_intruders(
                state.news.iter().filter_map(intruder).collect(),
                state.news.iter().filter_map(battle),
            ),
        }
    }
}

/// Returns the intruders left after combat; they are reported as they were before it (3.3, 3.4). Each battle
/// is a quadrant and the size of the ships that the enemy lost there.
fn remaining_intruders(
    mut intruders: Vec<Intruder>,
    battles: impl Iterator<Item = (Quadrant, u16)>,
) -> Vec<Intruder> {
    for (quadrant, mut lost) in battles {
        for intruder in intruders.iter_mut().filter(|intruder| intruder.at.quadrant() == quadrant) {
            let sunk = lost.min(intruder.size);
            intruder.size -= sunk;
            lost -= sunk;
        }
    }
    intruders.retain(|intruder| intruder.size > 0);
    intruders
}

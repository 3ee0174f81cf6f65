//! Random play; see [`crate::game::testing`].

use super::chart::{Chart, REACH, reaches};
use super::fleet::{Area, Class, Ship, Square, in_friendly_waters};
use super::order::{Order, SubmarineOrder};
use super::rules::{submarine_goes, torpedo_reaches};
use super::setup::basic_fleet;
use super::state::{Stage, State};
use super::view::View;
use crate::game::testing::{Perft, RandomPlay, Rng, Turn};
use crate::game::{BySeat, Phase, Sealed, Seat};

impl RandomPlay for State {
    fn random_filing(view: &View, rng: Rng<'_>) -> Vec<String> {
        let orders = match view.phase {
            Some(Phase::Setup) => random_setup(view, rng),
            Some(Phase::Surface) => random_surface(view, rng).into_iter().collect(),
            Some(Phase::Submarines) => random_dive(view, rng).into_iter().map(Order::Submarine).collect(),
            Some(Phase::Turn | Phase::Casualties | Phase::Move) | None => Vec::new(),
        };
        orders.iter().map(Order::to_string).collect()
    }
}

impl State {
    /// Returns every legal surface move of `side` as a pair of squares: from, to. Excludes attacks on submarines.
    pub fn surface_moves(&self, side: Seat) -> Vec<(Square, Square)> {
        let mut moves = Vec::new();
        Chart::new(&self.ships, self.options.squadron_leap)
            .each_move(side, |ship, to| moves.push((ship.at, to)));
        moves
    }
}

impl Perft for State {
    /// Counts surface moves only, for matches without submarines.
    fn turns(&self) -> Vec<Turn<State>> {
        let Stage::Surface(side) = self.stage else { return Vec::new() };
        let mut turns = Vec::new();
        for (from, to) in self.surface_moves(side) {
            let mut turn = BySeat::new(None, None);
            turn[side] = Some(Sealed::new(vec![Order::Move { class: None, from, to }]));
            turns.push(turn);
        }
        turns
    }
}

fn pick<T: Copy>(from: &[T], rng: Rng<'_>) -> Option<T> {
    let len = u32::try_from(from.len()).ok().filter(|len| *len > 0)?;
    from.get(rng(len) as usize).copied()
}

fn random_setup(view: &View, rng: Rng<'_>) -> Vec<Order> {
    let mut free: Vec<Square> = Square::all().filter(|at| in_friendly_waters(view.viewer, *at)).collect();
    // Ways to spend 25 points: carriers, squadrons, battleships, cruisers and destroyers beyond the basic fleet.
    const PURCHASES: [[usize; 5]; 5] =
        [[0, 0, 0, 0, 0], [1, 1, 1, 0, 0], [1, 0, 0, 3, 1], [0, 0, 5, 0, 0], [0, 0, 0, 1, 7]];
    let bought = PURCHASES[rng(5) as usize];
    let many = |class: Class| basic_fleet(class, &view.options) + bought[class as usize];
    let mut orders = Vec::new();
    let numbered = rng(2) == 0;
    for no in 1..=many(Class::Carrier) {
        let Some(at) = take(&mut free, None, rng) else { continue };
        let squadron = if no <= many(Class::Squadron) { take(&mut free, Some(at), rng) } else { None };
        let no = numbered.then(|| u16::try_from(no).unwrap_or(u16::MAX));
        orders.push(Order::Carrier { no, at, squadron });
    }
    for class in [Class::Battleship, Class::Cruiser, Class::Destroyer] {
        let at = (0..many(class)).filter_map(|_| take(&mut free, None, rng)).collect();
        orders.push(Order::Ships { class, at });
    }
    if view.options.submarines {
        let mut placed: Vec<(Option<u16>, Square)> = Vec::new();
        while placed.len() < 5 {
            let anywhere = placed.len() < 2;
            let waters: Vec<Square> =
                Square::all().filter(|at| anywhere || in_friendly_waters(view.viewer, *at)).collect();
            let at = pick(&waters, rng).filter(|at| placed.iter().all(|(_, taken)| taken != at));
            placed.extend(at.map(|at| (None, at)));
        }
        orders.push(Order::Submarines(placed));
    }
    orders
}

/// Takes a random free square, next to `near` if that is given.
fn take(free: &mut Vec<Square>, near: Option<Square>, rng: Rng<'_>) -> Option<Square> {
    let fits = |at: &Square| near.is_none_or(|near| near.king_steps(*at) == 1);
    let room: Vec<Square> = free.iter().copied().filter(fits).collect();
    let at = room.get(rng(room.len().max(1) as u32) as usize).copied()?;
    free.retain(|square| *square != at);
    Some(at)
}

fn random_surface(view: &View, rng: Rng<'_>) -> Option<Order> {
    let chart = Chart::new(&view.ships, view.options.squadron_leap);
    let mut moves: Vec<(Ship, Square)> = Vec::new();
    let mut hits: Vec<(Ship, Square)> = Vec::new();
    chart.each_move(view.viewer, |ship, to| {
        moves.push((*ship, to));
        if chart.holder(to).is_some_and(|holder| holder != view.viewer) {
            hits.push((*ship, to));
        }
    });
    if view.options.submarines && (rng(8) == 0 || moves.is_empty()) {
        let areas: Vec<Area> = Area::all().filter(|area| reaches(view.own_ships(), *area)).collect();
        return pick(&areas, rng).map(|area| Order::Asw(area.corner()));
    }
    let chosen = if rng(4) > 0 { pick(&hits, rng) } else { None };
    let (ship, to) = chosen.or_else(|| pick(&moves, rng))?;
    let class = (rng(2) == 0).then(|| ship.class());
    Some(Order::Move { class, from: ship.at, to })
}

fn random_dive(view: &View, rng: Rng<'_>) -> Option<SubmarineOrder> {
    let own = view.own_submarines();
    let enemy = &view.ships[view.viewer.other()];
    let in_range = |from: Square, ship: &Ship| {
        !ship.is_squadron() && torpedo_reaches(view.options.torpedo, from.king_steps(ship.at))
    };
    let shots: Vec<SubmarineOrder> = own
        .iter()
        .flat_map(|u| {
            let targets = enemy.iter().filter(|ship| in_range(u.at, ship));
            targets.map(|ship| SubmarineOrder::Fire { no: u.no, at: ship.at })
        })
        .collect();
    let submarine = pick(own, rng)?;
    let (no, from) = (submarine.no, submarine.at);
    match rng(12) {
        0 => None,
        1 => Some(SubmarineOrder::Pass),
        2..=4 => {
            let areas: Vec<Area> = Area::all().filter(|area| area.distance(from) <= REACH).collect();
            pick(&areas, rng).map(|area| SubmarineOrder::Sonar { no, area: area.corner() })
        }
        5..=8 if !shots.is_empty() => pick(&shots, rng),
        _ => {
            let goes = |to: &Square| submarine_goes(from, *to) && own.iter().all(|own| own.at != *to);
            let targets: Vec<Square> = Square::all().filter(goes).collect();
            let from = (rng(2) == 0).then_some(from);
            pick(&targets, rng).map(|to| SubmarineOrder::Move { no, from, to })
        }
    }
}

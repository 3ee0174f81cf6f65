//! Random play of War in the Pacific.

use fogpost_games::game::pacific::{
    Area, Chart, Class, Order, REACH, Ship, Square, State, SubmarineOrder, basic_fleet, in_friendly_waters,
    reaches, submarine_goes, torpedo_reaches,
};
use fogpost_games::game::{Game, Phase, Seat};

use super::{RandomPlay, Rng};

impl RandomPlay for State {
    fn random_filing(&self, seat: Seat, rng: Rng<'_>) -> Vec<String> {
        let orders = match self.due().map(|due| due.phase) {
            Some(Phase::Setup) => random_setup(self, seat, rng),
            Some(Phase::Surface) => random_surface(self, seat, rng).into_iter().collect(),
            Some(Phase::Submarines) => {
                random_dive(self, seat, rng).into_iter().map(Order::Submarine).collect()
            }
            Some(Phase::Turn | Phase::Casualties | Phase::Move) | None => Vec::new(),
        };
        orders.iter().map(Order::to_string).collect()
    }
}

fn pick<T: Copy>(from: &[T], rng: Rng<'_>) -> Option<T> {
    let len = u32::try_from(from.len()).ok().filter(|len| *len > 0)?;
    from.get(rng(len) as usize).copied()
}

fn random_setup(state: &State, seat: Seat, rng: Rng<'_>) -> Vec<Order> {
    let mut free: Vec<Square> = Square::all().filter(|at| in_friendly_waters(seat, *at)).collect();
    // Ways to spend 25 points: carriers, squadrons, battleships, cruisers and destroyers beyond the basic fleet.
    const PURCHASES: [[usize; 5]; 5] =
        [[0, 0, 0, 0, 0], [1, 1, 1, 0, 0], [1, 0, 0, 3, 1], [0, 0, 5, 0, 0], [0, 0, 0, 1, 7]];
    let bought = PURCHASES[rng(5) as usize];
    let many = |class: Class| basic_fleet(class, state.options()) + bought[class as usize];
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
    if state.options().submarines {
        let mut placed: Vec<(Option<u16>, Square)> = Vec::new();
        while placed.len() < 5 {
            let anywhere = placed.len() < 2;
            let waters: Vec<Square> =
                Square::all().filter(|at| anywhere || in_friendly_waters(seat, *at)).collect();
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

fn random_surface(state: &State, seat: Seat, rng: Rng<'_>) -> Option<Order> {
    let chart = Chart::new(state.ships(), state.options().squadron_leap);
    let mut moves: Vec<(Ship, Square)> = Vec::new();
    let mut hits: Vec<(Ship, Square)> = Vec::new();
    chart.each_move(seat, |ship, to| {
        moves.push((*ship, to));
        if chart.holder(to).is_some_and(|holder| holder != seat) {
            hits.push((*ship, to));
        }
    });
    if state.options().submarines && (rng(8) == 0 || moves.is_empty()) {
        let areas: Vec<Area> = Area::all().filter(|area| reaches(&state.ships()[seat], *area)).collect();
        return pick(&areas, rng).map(|area| Order::Asw(area.corner()));
    }
    let chosen = if rng(4) > 0 { pick(&hits, rng) } else { None };
    let (ship, to) = chosen.or_else(|| pick(&moves, rng))?;
    let class = (rng(2) == 0).then(|| ship.class());
    Some(Order::Move { class, from: ship.at, to })
}

fn random_dive(state: &State, seat: Seat, rng: Rng<'_>) -> Option<SubmarineOrder> {
    let view = state.view(seat);
    let own = view.own_submarines();
    let enemy = &state.ships()[seat.other()];
    let in_range = |from: Square, ship: &Ship| {
        !ship.is_squadron() && torpedo_reaches(state.options().torpedo, from.king_steps(ship.at))
    };
    let shots: Vec<SubmarineOrder> = own
        .iter()
        .flat_map(|u| {
            let targets = enemy.iter().filter(|ship| in_range(u.at, ship));
            targets.map(|ship| SubmarineOrder::Fire { no: u.no, at: ship.at })
        })
        .collect();
    let submarine = pick(own, rng)?;
    let no = submarine.no;
    let from = submarine.at;
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

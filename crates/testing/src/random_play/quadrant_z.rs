//! Random play of Quadrant Z.

use fogpost_games::game::quadrant_z::{Casualties, Class, Order, Quadrant, Ship, Square, State, View};
use fogpost_games::game::{Game, Phase, Seat};
use serde::Deserialize;

use super::{RandomPlay, Rng};

impl RandomPlay for State {
    /// Ships head for the enemy and for stars, so that a match has battles and an end.
    fn random_filing(&self, seat: Seat, rng: Rng<'_>) -> Vec<String> {
        let mut orders = match self.due().map(|due| due.phase) {
            Some(Phase::Setup) => [stars(self, seat, rng), fleet(self, seat, rng)].concat(),
            Some(Phase::Turn) => turn(self, seat, rng),
            Some(Phase::Casualties) => casualties(&self.view(seat), rng),
            Some(Phase::Surface | Phase::Submarines | Phase::Move) | None => Vec::new(),
        };
        if rng(40) == 0 {
            let at = any_square(rng);
            let stray = [Order::Capture { at }, Order::Move { no: 1, from: None, to: at }];
            orders.push(stray[rng(2) as usize].clone());
        }
        orders.iter().map(Order::to_string).collect()
    }
}

fn any_square(rng: Rng<'_>) -> Square {
    pick(&Square::all().collect::<Vec<_>>(), rng)
}

fn pick<T: Copy>(items: &[T], rng: Rng<'_>) -> T {
    items[rng(items.len() as u32) as usize]
}

fn shuffle<T>(items: &mut [T], rng: Rng<'_>) {
    for end in (1..items.len()).rev() {
        items.swap(end, rng(end as u32 + 1) as usize);
    }
}

/// Stars worth 15 in the home sector and 30 in the neutral sector.
fn stars(state: &State, seat: Seat, rng: Rng<'_>) -> Vec<Order> {
    let layout = state.options().layout;
    let mut places = Vec::new();
    for letter in layout.home(seat).chars() {
        let quadrant = Quadrant::parse(&letter.to_string()).expect("home sectors are named by letters");
        let mut squares: Vec<Square> = quadrant.squares().collect();
        shuffle(&mut squares, rng);
        places.extend(squares.into_iter().take(2));
    }
    shuffle(&mut places[1..], rng); // the first is in the home quadrant and becomes the base
    let threes = rng(3);
    let ones = (15 - 3 * threes) % 2 + 2 * rng(3);
    let twos = (15 - 3 * threes - ones) / 2;
    let mut values = [vec![3; threes as usize], vec![1; ones as usize], vec![2; twos as usize]].concat();
    shuffle(&mut values, rng);
    let star = |(at, value)| Order::Star { at, value, base: at == places[0] };
    let mut orders: Vec<Order> = places.iter().copied().zip(values).map(star).collect();

    let mut neutral: Vec<Vec<u16>> = layout.neutral().map(|_| vec![1 + rng(2) as u16]).collect();
    let mut tries = 0;
    while neutral.iter().flatten().sum::<u16>() < 30 {
        tries += 1;
        let there = pick_mut(&mut neutral, rng);
        match there[..] {
            [1] if rng(2) == 0 => there[0] = 2,
            [_] => there.push(1),
            // All quadrants may have two small stars.
            [1, _] if tries > 200 => there[0] = 2,
            _ => {}
        }
    }
    for (quadrant, values) in layout.neutral().zip(neutral) {
        let first = rng(4) as u8;
        for (cell, value) in (first..).zip(values) {
            orders.push(Order::Star { at: quadrant.square(cell), value, base: false });
        }
    }
    orders
}

fn pick_mut<'a, T>(items: &'a mut [T], rng: Rng<'_>) -> &'a mut T {
    let index = rng(items.len() as u32) as usize;
    &mut items[index]
}

/// Ships for 15 points.
fn fleet(state: &State, seat: Seat, rng: Rng<'_>) -> Vec<Order> {
    let home: Vec<char> = state.options().layout.home(seat).chars().collect();
    let mut orders = Vec::new();
    let mut points = 15;
    for no in 1.. {
        if points == 0 {
            break;
        }
        let class = class(points.min(1 + rng(6) as u16), rng);
        points -= class.size();
        let quadrant =
            Quadrant::parse(&pick(&home, rng).to_string()).expect("home sectors are named by letters");
        orders.push(Order::Place { no, class, at: quadrant.square(rng(4) as u8) });
    }
    orders
}

/// A ship of this size, with more offence than defence on average.
fn class(size: u16, rng: Rng<'_>) -> Class {
    let defence = rng(u32::from(size) / 2 + 1) as u16;
    Class { offence: size - defence, defence }
}

fn turn(state: &State, seat: Seat, rng: Rng<'_>) -> Vec<Order> {
    let view = state.view(seat);
    let mut orders = Vec::new();
    let home = Quadrant::home(seat);
    let yard = view.stars.iter().find(|star| star.at.quadrant() == home && star.captured_by.is_none());
    if let Some(yard) = yard
        && view.stock > 0
        && rng(2) == 0
    {
        let class = class(1 + rng(u32::from(view.stock)) as u16, rng);
        orders.push(Order::Build { class, at: yard.at });
    }
    let mut squares: Vec<Square> = view.ships.iter().map(|ship| ship.at).collect();
    squares.sort_unstable();
    squares.dedup();
    for at in squares {
        let ships = || view.ships.iter().filter(|ship| ship.at == at);
        let offence: u16 = ships().map(|ship| ship.class.offence).sum();
        let star = view.stars.iter().find(|star| star.at == at && star.captured_by.is_none() && !star.base);
        if star.is_some_and(|star| star.value <= offence) && rng(8) > 0 {
            orders.push(Order::Capture { at });
            continue;
        }
        for ship in ships() {
            if rng(6) == 0 {
                continue;
            }
            let from = (rng(3) == 0).then_some(at);
            orders.push(Order::Move { no: ship.no, from, to: destination(&view, seat, ship, rng) });
        }
    }
    if state.options().casualties == Casualties::Standing && rng(5) == 0 {
        let mut ships: Vec<u16> = view.ships.iter().map(|ship| ship.no).collect();
        shuffle(&mut ships, rng);
        ships.truncate(rng(ships.len() as u32 + 1) as usize);
        orders.push(Order::Losses { ships });
    }
    shuffle(&mut orders, rng);
    orders
}

/// Chooses a destination, usually closer to the enemy and on a star.
fn destination(view: &View, seat: Seat, ship: &Ship, rng: Rng<'_>) -> Square {
    let goal = Quadrant::home(seat.other());
    let here = ship.at.quadrant();
    let reached: Vec<Square> = Square::all().filter(|&to| ship.at.reaches(to)).collect();
    let onward = |to: &Square| to.quadrant().distance(goal) < here.distance(goal);
    let has_star = |to: &Square| view.stars.iter().any(|star| star.at == *to && star.captured_by.is_none());
    let mut wanted = reached.clone();
    if rng(3) > 0 {
        wanted.retain(onward);
    }
    if rng(4) > 0 && wanted.iter().any(has_star) {
        wanted.retain(has_star);
    }
    pick(if wanted.is_empty() { &reached } else { &wanted }, rng)
}

/// The ships of a seat that fight in a quadrant.
#[derive(Deserialize)]
struct Fighting {
    quadrant: Quadrant,
    ships: Vec<u16>,
}

fn casualties(view: &View, rng: Rng<'_>) -> Vec<Order> {
    let mut orders = Vec::new();
    let fighting: Vec<Fighting> =
        serde_json::from_value(State::extra(view)["fighting"].take()).expect("ships");
    for Fighting { quadrant, mut ships } in fighting {
        if rng(3) == 0 {
            continue;
        }
        shuffle(&mut ships, rng);
        ships.truncate(1 + rng(ships.len() as u32) as usize);
        orders.push(Order::Lose { quadrant, ships });
    }
    orders
}

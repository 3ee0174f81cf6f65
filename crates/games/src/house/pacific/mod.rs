//! The house: a computer player for War in the Pacific, at three levels.
//!
//! On the surface it searches the moves of both sides, and beneath it guesses where the enemy's submarines
//! are, from what its seat was told. The same arguments give the same turn, so that an audit can repeat it.
//!
//! The setups of the house: families of purchases. Dice place every ship, so nobody can foresee a square.

use belief::{Belief, Fleets};
use position::{Move, PASS, Position};

use crate::game::pacific::{Class, Options, Order, Square, View, basic_fleet};
use crate::game::{Dice, Phase, Seat, Seen};
use crate::house::engine::root::Choice;
use crate::house::engine::{Chosen, House, HouseLevel, Insight, Level};

mod belief;
mod depths;
mod position;
mod search;

/// The computer player. Debug builds search less and so play other turns, which makes them another version.
pub(super) const HOUSE: House<View, Order> = House {
    version: if cfg!(debug_assertions) { 0 } else { 1 },
    levels: LEVELS,
    play,
    with_insight: Some(with_insight),
};

/// The levels, the weakest first.
const LEVELS: &[HouseLevel] = &[
    Level::Trainer.described("looks at your next move, and overlooks most of it", &[]),
    Level::Easy.described("looks at your next move, and overlooks one threat in eight", &[]),
    Level::Average.described("looks a few moves ahead, and hunts your submarines", &[]),
];

/// Positions that Average looks at in a turn. Debug builds look at fewer, because they are slow.
const POSITIONS: u32 = if cfg!(debug_assertions) { 100 } else { 30_000 };
/// Number of guesses that Average makes of the enemy's submarines.
const GUESSES: usize = if cfg!(debug_assertions) { 8 } else { 256 };
/// The moves that the dice may choose from: in the opening, and later.
const IN_OPENING: Choice = Choice { margin: 12, wide: false };
const LATER: Choice = Choice { margin: 4, wide: false };
/// Number of rounds that count as the opening.
const OPENING_ROUNDS: u32 = 6;

/// The abilities of a level.
struct Skill<'a> {
    /// Positions to look at in a search; 0 to look only at the enemy's next move.
    positions: u32,
    /// Number of guesses of the enemy's submarines.
    guesses: usize,
    /// The source of the guesses.
    insight: Insight<'a, View>,
    /// The number of threats or shots, out of eight, that are overlooked.
    overlooked: usize,
}

fn skill(level: Level) -> Skill<'static> {
    let (positions, guesses, overlooked) = match level {
        Level::Trainer => (0, 0, 5),
        Level::Easy => (0, 8, 1),
        Level::Average | Level::Expert => (POSITIONS, GUESSES, 0),
    };
    Skill { positions, guesses, insight: Insight::Told, overlooked }
}

/// Chooses the orders of a seat. Its present view lists all reports of submarines so far, and the earlier
/// views show where its ships were.
fn play(seen: &Seen<View, Order>, level: &HouseLevel, dice: Dice) -> Chosen<Order> {
    choose(seen.now(), &fleets(seen), &skill(Level::of(level)), dice)
}

/// Plays Average with another insight.
fn with_insight(seen: &Seen<View, Order>, insight: Insight<'_, View>, dice: Dice) -> Chosen<Order> {
    choose(seen.now(), &fleets(seen), &Skill { insight, ..skill(Level::Average) }, dice)
}

/// The fleet of the seat in each submarine phase so far.
fn fleets(seen: &Seen<View, Order>) -> Fleets<'_> {
    let phases = seen.before().filter(|view| view.phase == Some(Phase::Submarines));
    phases.map(|view| (view.round, view.own_ships())).collect()
}

/// Chooses orders for the viewer, who must owe some.
fn choose(view: &View, fleets: &Fleets<'_>, skill: &Skill<'_>, mut dice: Dice) -> Chosen<Order> {
    let (orders, positions) = match view.phase {
        Some(Phase::Setup) => (draw(view.viewer, &view.options, &mut dice), 0),
        Some(Phase::Surface) => surface(view, fleets, skill, &mut dice),
        Some(Phase::Submarines) => {
            let belief = belief(view, fleets, skill, &mut dice);
            let order = depths::choose(view, &belief, skill.overlooked, &mut dice);
            (vec![Order::Submarine(order)], 1)
        }
        Some(Phase::Turn | Phase::Casualties | Phase::Move) | None => (Vec::new(), 0),
    };
    Chosen { orders, positions }
}

fn belief(view: &View, fleets: &Fleets<'_>, skill: &Skill<'_>, dice: &mut Dice) -> Belief {
    match skill.insight {
        Insight::Told => Belief::new(view, fleets, skill.guesses, dice),
        Insight::Blind => Belief::blind(view, skill.guesses, dice),
        Insight::Open(open) => Belief::open(open),
    }
}

/// Chooses a surface turn, and returns how many positions it looked at.
fn surface(view: &View, fleets: &Fleets<'_>, skill: &Skill<'_>, dice: &mut Dice) -> (Vec<Order>, u64) {
    let belief = belief(view, fleets, skill, dice);
    let attack = depths::attack(view, &belief);
    let danger = if skill.guesses == 0 { position::SAFE } else { belief.danger() };
    let values = position::values(view, &danger);
    let mut position = Position::new(&view.ships, view.viewer, view.options.squadron_leap, &values);
    let worth = attack.map(|(_, worth)| worth);
    let (turn, looked_at) = if skill.positions == 0 {
        (search::shallow_best(&mut position, worth, skill.overlooked, dice), 1)
    } else {
        let choice = if view.round <= OPENING_ROUNDS { IN_OPENING } else { LATER };
        let (rated, looked_at) = search::best(&mut position, worth, skill.positions, choice);
        (rated[dice.below(rated.len())].turn, looked_at)
    };
    let order = match attack {
        Some((area, _)) if turn == PASS => Order::Asw(area.corner()),
        _ => to_order(&position, turn),
    };
    (vec![order], looked_at.into())
}

fn to_order(position: &Position<'_>, turn: Move) -> Order {
    let class = position.hull(turn.from).map(|hull| hull.class);
    Order::Move { class, from: square_at(turn.from), to: square_at(turn.to) }
}

fn square_at(at: u8) -> Square {
    Square::new(at & 15, at >> 4).expect("the house moves on the board")
}

/// Purchases for 25 points (1.3): carriers, squadrons, battleships, cruisers and destroyers.
const PURCHASES: [[usize; 5]; 4] = [[0, 0, 5, 0, 0], [0, 0, 2, 3, 1], [1, 1, 1, 0, 0], [0, 0, 0, 4, 3]];

/// The ranks, counted from home, in which ships of a class start.
fn ranks(class: Class) -> std::ops::Range<u8> {
    match class {
        Class::Carrier => 0..2,
        Class::Squadron => 0..4,
        Class::Battleship => 0..2,
        Class::Cruiser => 1..4,
        Class::Destroyer => 2..5,
    }
}

/// The ranks in which submarines start: three in front of their own fleet, two where the enemy's probably is.
const AT_HOME: std::ops::Range<u8> = 2..8;
const ABROAD: std::ops::Range<u8> = 9..15;

/// The squares that are still free, in random order.
struct Free(Vec<Square>);

impl Free {
    fn new(dice: &mut Dice) -> Free {
        let mut squares: Vec<Square> = Square::all().collect();
        dice.shuffle(&mut squares);
        Free(squares)
    }

    /// Takes a square that `fits`.
    fn take(&mut self, fits: impl Fn(Square) -> bool) -> Square {
        let place = self.0.iter().position(|&at| fits(at)).expect("the ranks have room for every fleet");
        self.0.remove(place)
    }
}

/// Draws a legal setup for `side`.
fn draw(side: Seat, options: &Options, dice: &mut Dice) -> Vec<Order> {
    let bought = PURCHASES[dice.below(PURCHASES.len())];
    let many = |class: Class| basic_fleet(class, options) + bought[class as usize];
    let from_home = |at: Square| if side == Seat::First { at.rank() } else { 15 - at.rank() };
    let mut free = Free::new(dice);
    let mut orders = Vec::new();
    // Carriers start on every third file, so that each has room for its squadron.
    for no in 1..=many(Class::Carrier) {
        let at = free.take(|at| ranks(Class::Carrier).contains(&from_home(at)) && at.file() % 3 == 1);
        let beside = |to: Square| at.king_steps(to) == 1 && ranks(Class::Squadron).contains(&from_home(to));
        let squadron = (no <= many(Class::Squadron)).then(|| free.take(beside));
        orders.push(Order::Carrier { no: Some(no as u16), at, squadron });
    }
    for class in [Class::Battleship, Class::Cruiser, Class::Destroyer] {
        let fits = |at: Square| ranks(class).contains(&from_home(at));
        orders.push(Order::Ships { class, at: (0..many(class)).map(|_| free.take(fits)).collect() });
    }
    if options.submarines {
        let mut free = Free::new(dice);
        let mut squares: Vec<Square> =
            (0..3).map(|_| free.take(|at| AT_HOME.contains(&from_home(at)))).collect();
        squares.extend((0..2).map(|_| free.take(|at| ABROAD.contains(&from_home(at)))));
        dice.shuffle(&mut squares);
        orders.push(Order::Submarines((1..).map(Some).zip(squares).collect()));
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::pacific::{
        Area, Chart, Class, Depths, Notice, Options, Ship, ShipKind, Sighted, Square, State, SubmarineOrder,
    };
    use crate::game::{BySeat, Game, Outcome, Reason, Sealed, Seat};
    use crate::house::support::{options, score, seal_orders};
    use crate::random_play::RandomPlay;

    /// Average with so few positions that debug builds finish soon.
    const FEW: Skill<'static> = Skill { positions: 60, guesses: 8, insight: Insight::Told, overlooked: 0 };

    /// A match, and what each seat has been told and has filed in it.
    struct Play {
        state: State,
        seen: BySeat<Seen<View, Order>>,
    }

    impl Play {
        fn start(options: &Options) -> Play {
            let state = State::start(options);
            Play { seen: BySeat::from_fn(|seat| Seen::begin(&state, seat)), state }
        }

        /// Plays the phase that is due; each seat files what `file` returns.
        fn step(&mut self, mut file: impl FnMut(&State, &Seen<View, Order>) -> Option<Sealed<Order>>) {
            let mut filed = BySeat::new(None, None);
            for seat in self.state.due().expect("it runs").seats {
                filed[seat] = file(&self.state, &self.seen[seat]);
            }
            self.state = self.state.adjudicate(&filed);
            for seat in Seat::BOTH {
                self.seen[seat].add(filed[seat].clone(), &self.state);
            }
        }

        /// Plays the phase that is due as the house does with these skills.
        fn step_by(&mut self, skills: &BySeat<Skill<'_>>, dice: &mut Dice) {
            self.step(|_, seen| {
                let dice = Dice::new(dice.below(1 << 30) as u64);
                Some(seal_orders::<State>(seen.now(), &asked(seen, &skills[seen.seat()], dice).orders))
            });
        }

        /// A match after the setups of the house.
        fn set_up(seed: u64) -> Play {
            let mut play = Play::start(&options(&[]));
            play.step_by(&BySeat::new(FEW, FEW), &mut Dice::new(seed));
            play
        }
    }

    /// The orders that the house files after this history.
    fn asked(seen: &Seen<View, Order>, skill: &Skill<'_>, dice: Dice) -> Chosen<Order> {
        choose(seen.now(), &fleets(seen), skill, dice)
    }

    /// Calls `met` with positions of random matches in which a seat is due, and what the seat has seen.
    fn in_random_matches(matches: u64, mut met: impl FnMut(&State, &Seen<View, Order>)) {
        for seed in 0..matches {
            let chosen = match seed % 4 {
                0 => options(&[("submarines", "false"), ("squadron_leap", "always")]),
                1 => options(&[("torpedo", "within"), ("destroyers", "8")]),
                _ => options(&[]),
            };
            let mut play = Play::start(&chosen);
            let mut dice = Dice::new(seed);
            while play.state.due().is_some() {
                play.step(|state, seen| {
                    met(state, seen);
                    state.random_orders(seen.seat(), &mut |n| dice.below(n as usize) as u32)
                });
            }
        }
    }

    #[test]
    fn the_search_knows_the_moves_of_the_rules_and_what_they_do() {
        let mut moves_seen = 0;
        let mut number = 0;
        in_random_matches(8, |state, seen| {
            number += 1;
            let seat = seen.seat();
            let view = seen.now();
            if view.phase != Some(Phase::Surface) || number % 5 > 0 {
                return;
            }
            let values = position::values(view, &position::SAFE);
            let leap = view.options.squadron_leap;
            let mut position = Position::new(&view.ships, seat, leap, &values);
            let key = position.key;
            let worth = position.worth();
            let at = |square: Square| square.index() as u8;
            let mut legal = Vec::new();
            Chart::new(state.ships(), leap).each_move(seat, |ship, to| legal.push((at(ship.at), at(to))));
            let turns = position.moves(false);
            let mut known: Vec<(u8, u8)> = turns.iter().map(|turn| (turn.from, turn.to)).collect();
            legal.sort_unstable();
            known.sort_unstable();
            assert_eq!(known, legal);
            for turn in turns {
                let order = to_order(&position, turn);
                let mut filed = BySeat::new(None, None);
                filed[seat] = Some(seal_orders::<State>(view, std::slice::from_ref(&order)));
                let next = state.adjudicate(&filed);
                let undo = position.play(turn);
                let again = Position::new(&next.view(seat).ships, seat.other(), leap, &values);
                assert_eq!((position.key, position.worth()), (again.key, again.worth()), "{order}");
                assert_eq!(position.count, again.count, "{order}");
                position.take_back(&undo);
                assert_eq!((position.key, position.worth()), (key, worth), "{order}");
                moves_seen += 1;
            }
        });
        assert!(moves_seen > 10_000, "{moves_seen}");
    }

    /// A match after its setups, with two submarines of North, at D4 and E5, in the waters of South.
    fn with_submarines_in_the_south() -> Play {
        let mut play = Play::start(&options(&[]));
        let mut setups = Seat::BOTH.map(|seat| draw(seat, play.state.options(), &mut Dice::new(3)));
        for order in &mut setups[1] {
            let Order::Submarines(submarines) = order else { continue };
            for ((_, at), square) in submarines.iter_mut().zip(["D4", "E5", "B12", "H13", "N14"]) {
                *at = Square::parse(square).expect("a square");
            }
        }
        play.step(|_, seen| Some(seal_orders::<State>(seen.now(), &setups[seen.seat() as usize])));
        play
    }

    /// The view of South, which has one submarine, on `own`; the enemy has these ships on the surface.
    fn beneath(own: &str, enemy: &[(Class, &str)]) -> View {
        let mut view = Play::set_up(1).state.view(Seat::First);
        let at = |text: &str| Square::parse(text).expect("a square");
        view.phase = Some(Phase::Submarines);
        let mut submarine = view.own_submarines()[0];
        submarine.at = at(own);
        view.submarines.first = Depths::Charted(vec![submarine]);
        let kind = |class: Class| match class {
            Class::Battleship => ShipKind::Battleship,
            Class::Cruiser => ShipKind::Cruiser,
            Class::Carrier | Class::Squadron | Class::Destroyer => ShipKind::Destroyer,
        };
        let ship = |&(class, text): &(Class, &str)| Ship { kind: kind(class), at: at(text) };
        view.ships.second = enemy.iter().map(ship).collect();
        // So there is nothing to search for with sonar.
        view.submarines.second = Depths::Counted(0);
        view
    }

    #[test]
    fn a_submarine_fires_at_the_dearest_ship_in_range_and_otherwise_comes_nearer() {
        let average = skill(Level::Average);
        let view =
            beneath("H8", &[(Class::Destroyer, "H10"), (Class::Battleship, "J9"), (Class::Cruiser, "A1")]);
        let target = Square::parse("J9").expect("a square");
        let fired = choose(&view, &Fleets::new(), &average, Dice::new(1)).orders;
        assert_eq!(fired, [Order::Submarine(SubmarineOrder::Fire { no: 1, at: target })]);
        let view = beneath("H8", &[(Class::Battleship, "H14")]);
        let moved = choose(&view, &Fleets::new(), &average, Dice::new(1)).orders;
        let [Order::Submarine(SubmarineOrder::Move { to, .. })] = moved[..] else { panic!("{moved:?}") };
        assert!(to.king_steps(Square::parse("H14").expect("a square")) < 5, "{to}");
    }

    #[test]
    fn guesses_follow_what_was_told() {
        let mut view = beneath("H8", &[(Class::Battleship, "A9")]);
        (view.round, view.submarines.second) = (2, Depths::Counted(5));
        let at = Square::parse("D4").expect("a square");
        let torpedo = Notice::Torpedo { side: Seat::Second, at, sunk: Class::Cruiser };
        view.sightings = vec![Sighted { round: 1, notice: torpedo }];
        let belief = Belief::new(&view, &Fleets::new(), 64, &mut Dice::new(1));
        let near: i32 =
            Area::all().filter(|area| area.distance(at) <= 2).map(|area| belief.expected(area)).sum();
        let far: i32 =
            Area::all().filter(|area| area.distance(at) > 2).map(|area| belief.expected(area)).sum();
        assert!(near > far / 4, "a submarine is near {at}: {near} {far}");
        // A search there that sinks one leaves the guesses without a submarine in the area.
        let area = Area::new(at).expect("an area");
        let search = Notice::Asw { side: Seat::First, area, sunk: 1, contact: false };
        view.sightings.push(Sighted { round: 2, notice: search });
        view.submarines.second = Depths::Counted(4);
        let belief = Belief::new(&view, &Fleets::new(), 64, &mut Dice::new(1));
        assert_eq!(belief.expected(area), 0);
    }

    #[test]
    fn guesses_shun_places_from_which_the_enemy_would_have_fired() {
        let mut view = beneath("H8", &[(Class::Battleship, "A9")]);
        (view.round, view.submarines.second) = (2, Depths::Counted(5));
        let at = |text: &str| Square::parse(text).expect("a square");
        let destroyer = at("D4");
        let battleship = at("M4");
        let fleet = [
            Ship { kind: ShipKind::Destroyer, at: destroyer },
            Ship { kind: ShipKind::Battleship, at: battleship },
        ];
        let fleets: Fleets<'_> = [(1, &fleet[..])].into();
        let danger =
            |view: &View, fleets: &Fleets<'_>| Belief::new(view, fleets, 256, &mut Dice::new(1)).danger();
        // The enemy sank the destroyer, so it had no shot at the battleship.
        let torpedo = Notice::Torpedo { side: Seat::Second, at: destroyer, sunk: Class::Destroyer };
        view.sightings = vec![Sighted { round: 1, notice: torpedo }];
        let told = danger(&view, &fleets);
        let untold = danger(&view, &Fleets::new());
        assert!(told[battleship.index()] * 2 < untold[battleship.index()], "{told:?} {untold:?}");
        // The enemy was quiet, so its nearest submarine moved to where it can fire.
        view.sightings.clear();
        let told = danger(&view, &fleets);
        let untold = danger(&view, &Fleets::new());
        assert!(told[battleship.index()] > untold[battleship.index()], "{told:?} {untold:?}");
    }

    #[test]
    fn a_submarine_keeps_away_from_ships_of_an_enemy_who_finds_submarines() {
        let destroyer = Square::parse("H11").expect("a square");
        let mut view = beneath("H8", &[(Class::Destroyer, "H11")]);
        let average = skill(Level::Average);
        let goal = |view: &View| match choose(view, &Fleets::new(), &average, Dice::new(1)).orders[..] {
            [Order::Submarine(SubmarineOrder::Move { to, .. })] => to.king_steps(destroyer),
            ref orders => panic!("{orders:?}"),
        };
        assert_eq!(goal(&view), 2, "it comes within range");
        let area = Area::new(Square::parse("A1").expect("a square")).expect("an area");
        let hit = Notice::Asw { side: Seat::Second, area, sunk: 1, contact: false };
        view.sightings = vec![Sighted { round: 1, notice: hit.clone() }, Sighted { round: 2, notice: hit }];
        assert!(goal(&view) > 3, "it leaves the reach of depth charges");
    }

    #[test]
    fn a_blind_player_guesses_the_same_whatever_was_told_and_one_that_sees_all_is_right() {
        let state = with_submarines_in_the_south().state;
        let at = Square::parse("D4").expect("a square");
        let mut view = state.view(Seat::First);
        view.round = 2;
        let blind = |view: &View| Belief::blind(view, 16, &mut Dice::new(1)).danger();
        let before = blind(&view);
        let torpedo = Notice::Torpedo { side: Seat::Second, at, sunk: Class::Cruiser };
        view.sightings = vec![Sighted { round: 1, notice: torpedo }];
        assert_eq!(blind(&view), before);
        let over = state.close(Outcome { winner: None, reason: Reason::DrawAgreed });
        let open = Belief::open(&over.view(Seat::First));
        assert_eq!(open.expected(Area::new(at).expect("an area")), 2000);
    }

    #[test]
    fn average_beats_easy() {
        let average = || Skill { positions: 600, guesses: 16, insight: Insight::Told, overlooked: 0 };
        let (won, lost) = score([Level::Average, Level::Easy], 4, |levels, seed| {
            let skills = levels.map(|level| if level == Level::Average { average() } else { skill(level) });
            let mut play = Play::start(&options(&[]));
            let mut dice = Dice::new(seed);
            while play.state.due().is_some() {
                play.step_by(&skills, &mut dice);
            }
            play.state.outcome().and_then(|outcome| outcome.winner)
        });
        assert!(won - lost >= 2, "{won} to {lost}");
    }
}

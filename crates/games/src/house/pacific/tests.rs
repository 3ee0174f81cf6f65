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
        let (mut play, mut dice) = (Play::start(&chosen), Dice::new(seed));
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
    let (mut moves_seen, mut number) = (0, 0);
    in_random_matches(8, |state, seen| {
        number += 1;
        let (seat, view) = (seen.seat(), seen.now());
        if view.phase != Some(Phase::Surface) || number % 5 > 0 {
            return;
        }
        let values = values::values(view, &values::SAFE);
        let leap = view.options.squadron_leap;
        let mut position = Position::new(&view.ships, seat, leap, &values);
        let (key, worth) = (position.key, position.worth());
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
    let mut setups = Seat::BOTH.map(|seat| setup::draw(seat, play.state.options(), &mut Dice::new(3)));
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
    let view = beneath("H8", &[(Class::Destroyer, "H10"), (Class::Battleship, "J9"), (Class::Cruiser, "A1")]);
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
    let near: i32 = Area::all().filter(|area| area.distance(at) <= 2).map(|area| belief.expected(area)).sum();
    let far: i32 = Area::all().filter(|area| area.distance(at) > 2).map(|area| belief.expected(area)).sum();
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
    let (destroyer, battleship) = (at("D4"), at("M4"));
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
    let (told, untold) = (danger(&view, &fleets), danger(&view, &Fleets::new()));
    assert!(told[battleship.index()] * 2 < untold[battleship.index()], "{told:?} {untold:?}");
    // The enemy was quiet, so its nearest submarine moved to where it can fire.
    view.sightings.clear();
    let (told, untold) = (danger(&view, &fleets), danger(&view, &Fleets::new()));
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
        let (mut play, mut dice) = (Play::start(&options(&[])), Dice::new(seed));
        while play.state.due().is_some() {
            play.step_by(&skills, &mut dice);
        }
        play.state.outcome().and_then(|outcome| outcome.winner)
    });
    assert!(won - lost >= 2, "{won} to {lost}");
}

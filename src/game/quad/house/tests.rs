use super::*;
use crate::game::quad::{Options, Quad as Rules, State};
use crate::game::{BySeat, Game, Numbered, Options as _, Reason};

fn options(swap: bool) -> Options {
    let mut options = Options::default();
    options.set("swap", if swap { "on" } else { "off" }).expect("swap takes both");
    options
}

/// The state after these lines; they are legal.
fn play(state: &State, side: Seat, lines: &[String]) -> State {
    let orders: Vec<_> = (1..)
        .zip(lines)
        .flat_map(|(line, text)| {
            let orders = Rules::parse(text).expect("the house writes orders");
            orders.into_iter().map(move |order| Numbered { line, order })
        })
        .collect();
    let sealed = Rules::check(&Rules::view(state, side), &orders).expect("the house plays by the rules");
    let mut filed = BySeat::new(None, None);
    filed[side] = Some(sealed);
    Rules::adjudicate(state, &filed)
}

/// One match of two levels; the state at its end.
fn matched(levels: BySeat<Level>, seed: u64, nodes: u32, mut each: impl FnMut(&State, &State)) -> State {
    let mut state = Rules::start(&options(seed % 4 == 3));
    while let Some(side) = state.to_move {
        let view = Rules::view(&state, side);
        let next = play(&state, side, &choose_within(&view, levels[side], seed, nodes));
        each(&state, &next);
        state = next;
    }
    state
}

#[test]
#[ignore]
fn tune() {
    let n: u64 = std::env::var("N").map_or(20, |n| n.parse().unwrap());
    let nodes: u32 = std::env::var("NODES").map_or(EXPERT_NODES, |n| n.parse().unwrap());
    let pairs = [
        (Level::Trainer, Level::Easy),
        (Level::Easy, Level::Average),
        (Level::Average, Level::Expert),
        (Level::Trainer, Level::Expert),
    ];
    let only: Option<usize> = std::env::var("ONLY").ok().map(|n| n.parse().unwrap());
    for (_, (a, b)) in pairs.into_iter().enumerate().filter(|(i, _)| only.is_none_or(|o| o == *i)) {
        let (mut wins, mut losses, mut draws, mut turns, mut stars) = (0, 0, 0, 0, 0);
        let mut first = 0;
        let start = std::time::Instant::now();
        for seed in 0..n {
            let strong = if seed % 2 == 0 { Seat::First } else { Seat::Second };
            let mut levels = BySeat::new(a, a);
            levels[strong] = b;
            let end = matched(levels, seed, nodes, |_, _| {});
            let outcome = end.outcome.unwrap();
            turns += end.turn;
            if outcome.reason != Reason::Quad {
                stars += 1;
            }
            if outcome.winner == Some(Seat::First) {
                first += 1;
            }
            match outcome.winner {
                Some(w) if w == strong => wins += 1,
                Some(_) => losses += 1,
                None => draws += 1,
            }
        }
        println!(
            "{b} v {a}: +{wins} -{losses} ={draws}, turns {}, not quad {stars}, first wins {first}, {:?}/turn",
            turns as u64 / n,
            start.elapsed() / turns
        );
    }
}

#[test]
#[ignore]
fn watch() {
    let levels = BySeat::new(Level::Average, Level::Expert);
    let end = matched(levels, 2, EXPERT_NODES, |_, next| {
        let last = next.last.as_ref().unwrap();
        let t = next.threats();
        println!(
            "{:>2} {} {} * {:?}  threats B {} W {}  stars B {} W {}",
            next.turn,
            last.side,
            last.marble,
            last.stars.iter().map(ToString::to_string).collect::<Vec<_>>(),
            t.first.len(),
            t.second.len(),
            6 - next.stars.first.len(),
            6 - next.stars.second.len()
        );
    });
    println!("{:?}", end.outcome);
}

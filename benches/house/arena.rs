//! Pairs of matches with exchanged seats and equal dice, until one player is surely stronger.

use std::collections::BTreeMap;
use std::time::Duration;

use fogpost::game::any::{AnySeen, AnyState, Choices, GameKind};
use fogpost::game::quantum::TOWER;
use fogpost::game::{BySeat, Game as _, Line, Outcome, Seat};

use crate::player::Player;
use crate::players;
use crate::sprt::{self, Outcomes, Verdict};
use fogpost_testing::random::Random;

/// How matches are played.
pub struct Rules {
    pub game: GameKind,
    pub choices: Choices,
    /// Pairs at most.
    pub pairs: u32,
    pub seed: u64,
    pub threads: usize,
    /// Whether the test ends as soon as it is decided.
    pub stop: bool,
}

/// Phases after which a match counts as drawn, so that two timid players come to an end.
const MAX_PHASES: u32 = 2_000;

/// What one player's turns took.
#[derive(Clone, Default)]
pub struct Effort {
    positions: u64,
    times: Vec<Duration>,
}

impl Effort {
    fn add(&mut self, other: &Effort) {
        self.positions += other.positions;
        self.times.extend(&other.times);
    }
}

/// A match that was played to its end.
pub struct Played {
    pub outcome: Option<Outcome>,
    /// The end in a few words.
    pub ending: String,
    pub phases: u32,
    pub efforts: BySeat<Effort>,
    /// What was filed in each phase.
    pub filed: Vec<BySeat<Option<Vec<String>>>>,
}

/// The seed of a seat's dice in a phase. Both matches of a pair have the same.
pub fn seed_of(pair: u64, phase: u32, seat: Seat) -> u64 {
    let seat = u64::from(seat == Seat::Second);
    Random::new(pair.wrapping_mul(0x1_0000_0001).wrapping_add(u64::from(phase) * 2 + seat)).next()
}

/// Plays a match.
///
/// # Panics
/// Panics if a player files illegal orders.
pub fn play(rules: &Rules, players: &mut BySeat<Box<dyn Player>>, pair: u64) -> Played {
    let mut state = rules.game.start(&rules.choices);
    let mut seen = BySeat::from_fn(|seat| AnySeen::begin(&state, seat));
    let mut played = Played {
        outcome: None,
        ending: String::new(),
        phases: 0,
        efforts: BySeat::default(),
        filed: Vec::new(),
    };
    while let Some(due) = state.due().filter(|_| played.phases < MAX_PHASES) {
        let mut lines = BySeat::new(None, None);
        for seat in due.seats {
            let began = cpu_time();
            let turn = players[seat].play(&state, &seen[seat], seed_of(pair, played.phases, seat));
            let effort = &mut played.efforts[seat];
            effort.times.push(cpu_time().saturating_sub(began));
            effort.positions += turn.positions;
            lines[seat] = Some(turn.orders);
        }
        adjudicate(&mut state, &mut seen, &lines);
        played.filed.push(lines);
        played.phases += 1;
    }
    played.outcome = state.outcome();
    played.ending = ending(&state);
    played
}

/// Tells how a match ended; of one drawn in Quantum, whether a side has nothing left that could be stacked upon, and at
/// how many towers of each side.
fn ending(state: &AnyState) -> String {
    let Some(outcome) = state.outcome() else { return format!("cut off after {MAX_PHASES} phases") };
    let AnyState::Quantum(state) = state else { return outcome.reason.to_string() };
    let view = state.view(Seat::First);
    let low =
        |seat| view.stacks.stacks().filter(|(_, stack)| stack.side == seat && stack.height < TOWER).count();
    if outcome.winner.is_some() || Seat::BOTH.iter().all(|&seat| low(seat) > 0) {
        return outcome.reason.to_string();
    }
    format!("{} at {} each, all stacks of a side taken", outcome.reason, view.towers.first)
}

/// Decides a phase on these lines.
///
/// # Panics
/// Panics if they are illegal.
pub fn adjudicate(state: &mut AnyState, seen: &mut BySeat<AnySeen>, lines: &BySeat<Option<Vec<String>>>) {
    let mut filed = BySeat::new(None, None);
    for (seat, lines) in lines.iter() {
        let Some(lines) = lines else { continue };
        let sealed = state.seal(seat, &Line::numbered(lines));
        filed[seat] = Some(sealed.unwrap_or_else(|faults| panic!("{seat} filed {lines:?}: {faults:?}")));
    }
    state.adjudicate(&filed);
    for seat in Seat::BOTH {
        seen[seat].add(&filed, state);
    }
}

/// The time that this thread has had on a processor: other programs may run beside.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|word| word.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

/// Both matches of a pair: the points of `strong`, in halves, and both players' efforts.
struct Pair {
    halves: usize,
    endings: Vec<String>,
    phases: u32,
    strong: Effort,
    weak: Effort,
}

fn play_pair(rules: &Rules, strong: &str, weak: &str, number: u32) -> Pair {
    let seed = Random::new(rules.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(number))).next();
    let mut pair = Pair {
        halves: 0,
        endings: Vec::new(),
        phases: 0,
        strong: Effort::default(),
        weak: Effort::default(),
    };
    for seat in Seat::BOTH {
        let player = |name: &str| players::named(rules.game, name).expect("it was found before");
        let mut players = BySeat::from_fn(|of| player(if of == seat { strong } else { weak }));
        let played = play(rules, &mut players, seed);
        pair.halves += match played.outcome.as_ref().and_then(|outcome| outcome.winner) {
            Some(winner) if winner == seat => 2,
            Some(_) => 0,
            None => 1,
        };
        pair.endings.push(format!("{}, {}", whose(&played, seat), played.ending));
        pair.phases += played.phases;
        pair.strong.add(&played.efforts[seat]);
        pair.weak.add(&played.efforts[seat.other()]);
    }
    pair
}

/// Which player won, and with which seat; `strong` had this one.
fn whose(played: &Played, seat: Seat) -> String {
    match played.outcome.as_ref().and_then(|outcome| outcome.winner) {
        Some(winner) if winner == seat => format!("won as {winner}"),
        Some(winner) => format!("lost to {winner}"),
        None => "drawn".to_owned(),
    }
}

/// Plays pairs until the test ends, and prints what came of it.
///
/// # Errors
/// Returns a sentence if nobody plays under one of the names.
pub fn compare(rules: &Rules, strong: &str, weak: &str) -> Result<(), String> {
    players::named(rules.game, strong)?;
    players::named(rules.game, weak)?;
    let mut outcomes: Outcomes = [0; 5];
    let mut endings: BTreeMap<String, u32> = BTreeMap::new();
    let (mut phases, mut efforts) = (0, [Effort::default(), Effort::default()]);
    let mut done = 0;
    let mut verdict = Verdict::Open;
    let ends = |verdict: Verdict| rules.stop && verdict != Verdict::Open;
    while !ends(verdict) && done < rules.pairs {
        let batch: Vec<u32> = (done..rules.pairs).take(rules.threads).collect();
        let pairs: Vec<Pair> = std::thread::scope(|scope| {
            let threads: Vec<_> = batch
                .iter()
                .map(|number| scope.spawn(move || play_pair(rules, strong, weak, *number)))
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("a pair is played")).collect()
        });
        // In the order of their numbers, so that the result is the same on any number of threads.
        for pair in pairs {
            if ends(verdict) {
                break;
            }
            done += 1;
            outcomes[pair.halves] += 1;
            pair.endings.into_iter().for_each(|ending| *endings.entry(ending).or_default() += 1);
            phases += pair.phases;
            efforts[0].add(&pair.strong);
            efforts[1].add(&pair.weak);
            verdict = sprt::verdict(&outcomes);
        }
        let (share, error) = sprt::mean(&outcomes);
        eprint!("\r{done} pairs, {outcomes:?}, {:.1} % ± {:.1} ", 100.0 * share, 196.0 * error);
    }
    eprintln!();
    print_result(rules, [strong, weak], &outcomes, verdict);
    let endings: Vec<String> = endings.iter().map(|(ending, count)| format!("{count} {ending}")).collect();
    println!("  {}", endings.join("; "));
    println!("  {:.1} turns a match", f64::from(phases) / f64::from(2 * done.max(1)));
    for (name, effort) in [strong, weak].into_iter().zip(&mut efforts) {
        print_effort(name, effort);
    }
    Ok(())
}

fn print_result(rules: &Rules, [strong, weak]: [&str; 2], outcomes: &Outcomes, verdict: Verdict) {
    let (share, error) = sprt::mean(outcomes);
    println!(
        "{} {strong} against {weak}, seed {}: {} after {} pairs",
        rules.game,
        rules.seed,
        match verdict {
            Verdict::Open => "undecided",
            Verdict::Stronger => "stronger (H1)",
            Verdict::NotStronger => "not stronger (H0)",
        },
        outcomes.iter().sum::<u32>(),
    );
    println!(
        "  pairs with 0, 1/2, 1, 3/2, 2 points: {outcomes:?}; {:.1} % of the points (95 %: {:.1} to {:.1})",
        100.0 * share,
        100.0 * (share - 1.96 * error).max(0.0),
        100.0 * (share + 1.96 * error).min(1.0),
    );
    println!(
        "  {:+.0} points ({:+.0} to {:+.0}); LLR {:.2} for {} against {} points",
        sprt::points(share),
        sprt::points(share - 1.96 * error),
        sprt::points(share + 1.96 * error),
        sprt::ratio(outcomes),
        sprt::LARGE,
        sprt::SMALL,
    );
}

fn print_effort(name: &str, effort: &mut Effort) {
    effort.times.sort();
    let turns = effort.times.len().max(1);
    let at =
        |percent: usize| effort.times.get(effort.times.len() * percent / 100).copied().unwrap_or_default();
    println!(
        "  {name}: {} positions a turn; CPU a turn p50 {:.1?}, p99 {:.1?}, most {:.1?}",
        effort.positions / turns as u64,
        at(50),
        at(99),
        effort.times.last().copied().unwrap_or_default(),
    );
}

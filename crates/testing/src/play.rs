//! Random matches, the same for the same seed.

use fogpost_games::game::any::{AnyState, Choices, Filing, GameKind, Memories};
use fogpost_games::game::record::{By, Filed, Record};
use fogpost_games::game::{BySeat, Due, Fault, Line, OptionRule, Seat, Values};

use crate::random::Random;
use crate::random_play::RandomPlay as _;

/// The maximum length of a random match, in adjudications.
pub const LONGEST: usize = 4_000;

/// Maximum attempts of random play at a legal filing.
const TRIES: usize = 200;

/// Every game, with seeds for `many` matches of each.
pub fn matches(many: u64) -> impl Iterator<Item = (GameKind, u64)> {
    GameKind::ALL.iter().flat_map(move |kind| (0..many).map(|seed| (*kind, seed)))
}

/// Chooses options of a game: some at their default, the others at random.
pub fn choices(kind: GameKind, random: &mut Random) -> Choices {
    let mut wanted = Vec::new();
    for rule in kind.option_rules() {
        if !random.once_in(3) {
            wanted.push((rule.name, value(rule, random)));
        }
    }
    kind.choose(wanted.iter().map(|(name, value)| (*name, value.as_str())))
        .expect("values that the game takes")
}

fn value(rule: &OptionRule, random: &mut Random) -> String {
    match rule.values {
        Values::OneOf(values) => (*random.pick(values)).to_owned(),
        Values::Limit => (1 + random.below(20)).to_string(),
        Values::Text(_) => {
            assert_eq!(rule.name, "array", "random play knows no values of this option");
            let mut ranks = Vec::new();
            for _ in 0..=random.below(3) {
                ranks.push((0..8).map(|_| *random.pick(&['S', 'C', 'Q', '.'])).collect::<String>());
            }
            // An array needs at least one piece.
            ranks[0].replace_range(..1, "Q");
            ranks.join("/")
        }
    }
}

/// Orders as they were written, and the result of sealing them.
#[derive(Clone, Debug)]
pub struct Try {
    pub seat: Seat,
    pub lines: Vec<String>,
    pub sealed: Result<Filing, Vec<Fault>>,
}

/// A match in which both sides play at random.
pub struct Play {
    pub kind: GameKind,
    pub choices: Choices,
    pub state: AnyState,
    /// What both seats remember.
    pub memories: Memories,
    pub random: Random,
    pub adjudications: usize,
}

impl Play {
    pub fn new(kind: GameKind, seed: u64) -> Play {
        let mut random = Random::new(seed);
        let choices = choices(kind, &mut random);
        Play::with(kind, choices, random)
    }

    pub fn with(kind: GameKind, choices: Choices, random: Random) -> Play {
        let state = kind.start(&choices);
        Play { kind, choices, state, memories: Memories::empty(kind), random, adjudications: 0 }
    }

    /// Files for `seat`: attempts that were refused, and a last one that was sealed.
    pub fn tries(&mut self, seat: Seat) -> Vec<Try> {
        let mut tries = Vec::new();
        loop {
            let lines = self.orders(seat);
            let sealed = self.state.seal(seat, &numbered(&lines));
            let done = sealed.is_ok();
            tries.push(Try { seat, lines, sealed });
            if done {
                return tries;
            }
            assert!(tries.len() < TRIES, "random play of {} finds no orders: {tries:?}", self.kind);
        }
    }

    /// Makes random orders, mostly legal, as a player would write them.
    pub fn orders(&mut self, seat: Seat) -> Vec<String> {
        let random = &mut self.random;
        self.state.random_filing(seat, &mut |n| u32::try_from(random.below(n as usize)).expect("below a u32"))
    }

    /// Plays the phase that is due and returns what was filed; `None` once the match is over.
    pub fn step(&mut self) -> Option<Vec<Try>> {
        let due = self.state.due()?;
        let tries: Vec<Try> = due.seats.iter().flat_map(|seat| self.tries(*seat)).collect();
        self.adjudicate(&due, &filings(&tries));
        Some(tries)
    }

    pub fn adjudicate(&mut self, due: &Due, filed: &BySeat<Option<Filing>>) {
        assert!(
            due.seats.iter().all(|seat| filed[*seat].is_some()),
            "random play files for all that are due"
        );
        self.memories.remember(&self.state);
        self.state.adjudicate(filed);
        self.adjudications += 1;
        assert!(self.adjudications < LONGEST, "a match of {} ({}) does not end", self.kind, self.choices);
    }

    pub fn record(&self, filings: Vec<Filed>) -> Record {
        let players = BySeat::new("Ann".to_owned(), "Bo \"the\" \\Bold".to_owned());
        Record { game: self.kind, rules: self.kind.rules(), players, options: self.choices.clone(), filings }
    }
}

/// Plays a whole match. Calls `each` before every phase and at the end.
pub fn through(kind: GameKind, seed: u64, mut each: impl FnMut(&mut Play)) {
    let mut play = Play::new(kind, seed);
    each(&mut play);
    while play.step().is_some() {
        each(&mut play);
    }
}

/// Returns the filings that were sealed.
pub fn filings(tries: &[Try]) -> BySeat<Option<Filing>> {
    let mut filed = BySeat::new(None, None);
    for attempt in tries {
        if let Ok(filing) = &attempt.sealed {
            filed[attempt.seat] = Some(filing.clone());
        }
    }
    filed
}

/// Numbers lines like those of a letter.
pub fn numbered(lines: &[String]) -> Vec<Line> {
    let written = (1..).zip(lines).filter(|(_, text)| !text.trim().is_empty());
    written.map(|(no, text)| Line { no, text: text.clone() }).collect()
}

/// Converts an attempt to a filing of a record.
pub fn filed(attempt: &Try) -> Filed {
    Filed { by: By::Seat(attempt.seat, attempt.lines.join("\n")), phase: None }
}

//! Random letters of every kind through the whole program: the audit makes each ruling again from its cause and its
//! letter, including the effects of readers' budgets, suppressed answers and words for GMs.

use fogpost::daemon::instruct;
use fogpost::game::any::{AnyState, GameKind};
use fogpost::game::{BySeat, Seat};
use fogpost::ledger::{Allowance, LetterCause, Permission, TokenOf};
use fogpost::referee::{Act, Instruction, MatchAction, Stage};

use crate::audit::database::letter_causes;
use crate::house::levels::opened;
use crate::referee::{ANN, BO, Referee, Sent};
use fogpost_testing::random::Random;
use fogpost_testing::random_play::RandomPlay as _;

const HOLIDAY: &str = "ann@holiday.example";

/// Lines of letters other than orders.
const COMMANDS: [&str; 24] = [
    "STATUS",
    "REPORT",
    "HISTORY",
    "HINT",
    "CHECK",
    "WAIT",
    "YES",
    "TELL Well played.\nEND",
    "TELL Well played.\nEND",
    "TELL GM I shall be late.\nEND",
    "TELL I shall play\nSHIP 1 HOLD\nEND",
    "PROTEST That was wrong.\nEND",
    "DRAW",
    "AGREE",
    "EXTEND 3 days",
    "EXTEND 4 days",
    "ABSENT 2026-06-01 TO 2026-06-03",
    "ABSENT 2026-07-01 TO 2026-07-02",
    "SUBSTITUTE",
    "WITHDRAW",
    "SETTINGS receipts=faults",
    "SETTINGS receipts=all",
    "Dear GM, I am in hospital.",
    "and also C4, I think",
];

/// Several matches of Ann and Bo, and the random source of their letters.
struct Club {
    referee: Referee,
    random: Random,
    matches: Vec<String>,
}

impl Club {
    fn new(seed: u64) -> Club {
        let referee = Referee::with("[letters]\nanswers_per_hour = 3\n");
        let mut matches: Vec<String> = [GameKind::Quad, GameKind::Quantum, GameKind::QuadrantZ]
            .into_iter()
            .map(|game| referee.open(game, &[]).id)
            .collect();
        matches.push(opened(&referee, "trainer", Seat::First).id);
        Club { referee, random: Random::new(seed), matches }
    }

    /// The last letter about a match that this player can answer.
    fn last_about(&self, reader: &str, id: &str) -> Option<Sent> {
        let about = |sent: &Sent| sent.subject.contains(id) && sent.text.contains("Reply token: ");
        self.referee.all_to(reader).into_iter().rfind(about)
    }

    /// Orders that may be legal in the open phase.
    fn orders(&mut self, id: &str, seat: Seat) -> Vec<String> {
        let state: AnyState = self.referee.find(id).state;
        if state.due().is_none_or(|due| !due.seats.contains(&seat)) {
            return Vec::new();
        }
        let random = &mut self.random;
        state.random_filing(seat, &mut |n| u32::try_from(random.below(n as usize)).expect("below a u32"))
    }

    /// The lines about one match.
    fn lines(&mut self, id: &str, seat: Seat) -> Vec<String> {
        let mut lines = if self.random.once_in(2) { self.orders(id, seat) } else { Vec::new() };
        for _ in 0..self.random.below(3) {
            let command = *self.random.pick(&COMMANDS);
            lines.splice(0..0, command.lines().map(str::to_owned));
        }
        lines
    }

    /// Sends a letter from one of the players, perhaps about two matches, from another address, or several
    /// times.
    fn write(&mut self) {
        let id = self.random.pick(&self.matches).clone();
        let house = self.referee.find(&id).house;
        let seat =
            if house == BySeat::default() && self.random.once_in(2) { Seat::Second } else { Seat::First };
        let writer = if seat == Seat::First { ANN } else { BO };
        let Some(letter) = self.last_about(writer, &id) else { return };
        let mut lines = self.lines(&id, seat);
        if self.random.once_in(4) {
            let other = self.random.pick(&self.matches).clone();
            lines.push(format!("MATCH {other}"));
            lines.extend(self.lines(&other, seat));
        }
        let from = if writer == ANN && self.random.once_in(6) { HOLIDAY } else { writer };
        let times = if self.random.once_in(8) { 6 } else { 1 };
        for _ in 0..times {
            self.referee.reply(from, &letter, &lines.join("\n"));
        }
    }

    /// Lets Ann confirm the letters that came from another address.
    fn confirm(&mut self) {
        let code = |sent: &Sent| {
            sent.text.lines().find_map(|line| Some(line.trim().strip_prefix("| CONFIRM ")?.to_owned()))
        };
        let notices = self.referee.all_to(ANN).into_iter();
        if let Some((notice, code)) =
            notices.filter_map(|sent| code(&sent).map(|code| (sent, code))).next_back()
        {
            self.referee.reply(ANN, &notice, &format!("CONFIRM {code}"));
        }
    }

    fn act(&mut self) {
        let id = self.random.pick(&self.matches).clone();
        let act = match self.random.below(4) {
            0 => Act::pause("a move".to_owned()),
            1 | 2 => Act::Resume,
            _ => Act::Extend { days: 2 },
        };
        let instruction = Instruction::Match { id, turn: None, action: MatchAction::Act(act) };
        self.referee
            .block_on(instruct::carry_out(self.referee.office(), &instruction))
            .expect("the store answers");
        self.referee.work();
    }

    /// Sends twenty-one messages, which exhaust the opponent's budget, and six equal letters, which exhaust
    /// that of answers.
    fn exhaust_budgets(&self) {
        if let Some(letter) = self.last_about(BO, &self.matches[0]) {
            for n in 0..45 {
                self.referee.reply(
                    BO,
                    &letter,
                    &format!("TELL Message {n}.\nEND\nEXTEND {} days", n % 9 + 1),
                );
            }
        }
    }

    fn step(&mut self) {
        match self.random.below(12) {
            0 => self.confirm(),
            1 => self.act(),
            2 => self.referee.advance(1),
            3 => self.referee.advance(20),
            _ => self.write(),
        }
    }
}

#[test]
fn the_audit_derives_every_ruling_on_random_letters() {
    let mut causes: Vec<LetterCause> = Vec::new();
    for seed in 0..3 {
        let mut club = Club::new(seed);
        for _ in 0..60 {
            club.step();
        }
        if seed == 0 {
            club.exhaust_budgets();
        }
        club.referee.advance(48);
        for id in &club.matches {
            let verdict = club.referee.verify(id);
            assert!(verdict.is_sound(), "{seed}: {verdict:#?}");
            causes.extend(letter_causes(&club.referee, id));
        }
        assert!(club.matches.iter().any(|id| club.referee.find(id).stage != Stage::Over), "they play on");
    }
    let has = |what: &str, is: fn(&LetterCause) -> bool| {
        assert!(causes.iter().any(is), "no letter {what} among {}", causes.len());
    };
    has("in part", |cause| cause.part.is_some());
    has("with the token of another match", |cause| cause.token == TokenOf::Other);
    has("that was confirmed", |cause| cause.confirmed_by.is_some());
    has("whose answer was held", |cause| cause.answer == Permission::Suppressed);
    has("after answers that were left out", |cause| cause.left_out > 0);
    has("with a hint", |cause| cause.hint.is_some());
    has("with little room", |cause| matches!(cause.opponent, Allowance::Letters(1..6)));
    has("without room", |cause| cause.opponent == Allowance::Letters(0));
    has("with a text that holds another game's order", |cause| !cause.withheld_for.is_empty());
}

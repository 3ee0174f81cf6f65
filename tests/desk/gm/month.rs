//! A month of a club as its GM reads it: players who are late, vanish, fall ill or protest, and robots.

use std::collections::BTreeSet;

use fogpost::daemon::instruct;
use fogpost::daemon::{Holder, NamedAddress, NewMatch};
use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Seat};
use fogpost::letter::Address;

use crate::referee::{GM, REFEREE, Referee, Sent};
use fogpost_testing::random::Random;
use fogpost_testing::random_play::RandomPlay as _;

const PLAYERS: usize = 12;
const MATCHES: usize = 20;
const DAYS: u32 = 30;

/// Maximum letters to a GM in the month: 1.3 per day.
const MOST_LETTERS: usize = 39;

const DIGEST: &str = "The day at The Test Club";

/// Players who stop writing in the course of the month.
const VANISHED: [usize; 2] = [3, 8];
const VANISH_ON: u32 = 9;

/// Words that players write apart from their games.
const WORDS: [&str; 6] = [
    "Thank you for running this club, I enjoy it very much.",
    "My daughter has learned to walk this week, what a joy.",
    "Lovely weather here. How are things at the club?",
    "That was a bad move of mine, but a good game so far.",
    "My mother died last night. I cannot think of games now.",
    "I am in hospital since Monday, with a broken leg.",
];

fn address(player: usize) -> String {
    format!("p{player}@players.example")
}

struct Month {
    referee: Referee,
    random: Random,
    /// Each match with its players.
    matches: Vec<(String, BySeat<usize>)>,
}

impl Month {
    fn begin() -> Month {
        // The desk verifies every match at the end of the test, so daily audits would repeat that.
        let referee = Referee::with("[audit]\nevery_hours = 720\n");
        let mut month = Month { referee, random: Random::new(7), matches: Vec::new() };
        for n in 0..MATCHES {
            let players = BySeat::new(n % PLAYERS, (n + 1 + n / PLAYERS) % PLAYERS);
            month.open(GameKind::ALL[n % GameKind::ALL.len()], players);
        }
        month.referee.work();
        month
    }

    fn open(&mut self, game: GameKind, players: BySeat<usize>) {
        let office = self.referee.office();
        let seated = |player: usize| {
            let address = Address::parse(&address(player)).expect("an address");
            Holder::Player(NamedAddress { name: format!("Player {player}"), address })
        };
        let new = NewMatch {
            game,
            choices: game.choose([]).expect("options of the game"),
            players: BySeat::new(seated(players.first), seated(players.second)),
            terms: office.config.terms.clone(),
        };
        let opened = self.referee.block_on(instruct::open(office, new)).expect("the match opens");
        self.matches.push((opened.id, players));
    }

    /// The last letter to a seat.
    fn letter_to(&self, id: &str, player: usize) -> Sent {
        let all = self.referee.all_to(&address(player));
        all.into_iter().rev().find(|sent| sent.subject.contains(id)).expect("a letter about the match")
    }

    /// Lets about half of the players who owe orders file, and everything else of the day happen.
    fn day(&mut self, day: u32) {
        for (id, players) in self.matches.clone() {
            let found = self.referee.find(&id);
            for seat in Seat::BOTH {
                let player = players[seat];
                let has_vanished = VANISHED.contains(&player) && day >= VANISH_ON;
                if !found.awaits(seat) || has_vanished || !self.random.once_in(2) {
                    continue;
                }
                let random = &mut self.random;
                let lines = found.state.random_filing(seat, &mut |n| {
                    u32::try_from(random.below(n as usize)).expect("below a u32")
                });
                let to = self.letter_to(&id, player);
                self.referee.put(&self.referee.answer(&address(player), &to, &lines.join("\n")));
            }
        }
        self.referee.work();
    }

    /// Words, robots, bounces, protests and advertisements of a day.
    fn besides(&mut self, day: u32) {
        let (id, players) = self.matches[self.random.below(MATCHES)].clone();
        let player = players.first;
        if self.referee.find(&id).outcome().is_some() || VANISHED.contains(&player) {
            return;
        }
        let (from, to) = (address(player), self.letter_to(&id, player));
        match day % 5 {
            1 => self.referee.reply(&from, &to, self.random.pick::<&str>(&WORDS)),
            2 => self.referee.receive(&format!(
                "Auto-Submitted: auto-replied\n{}",
                self.referee.answer(&from, &to, "I am away until next week.")
            )),
            3 => self.referee.receive(&format!(
                "From: news@shop{day}.example\nTo: {REFEREE}\nSubject: Our offers\nMessage-ID: <o{day}@shop.example>\n\
                 List-Unsubscribe: <https://shop.example>\nPrecedence: bulk\n\nBuy now.\n"
            )),
            4 if day == 14 => self.referee.reply(&from, &to, "PROTEST My letter said something else.\nEND"),
            _ => {}
        }
    }
}

/// The lines of a digest that name something new.
fn items(digest: &Sent) -> Vec<String> {
    digest.text.lines().filter(|line| line.starts_with("- ")).map(str::to_owned).collect()
}

/// The number of words in a digest, except those that players wrote.
fn own_words(digest: &Sent) -> usize {
    let text =
        WORDS.iter().fold(digest.text.split_whitespace().collect::<Vec<_>>().join(" "), |text, words| {
            text.replace(words, "")
        });
    text.split_whitespace().count()
}

#[test]
fn a_month_of_digests_is_short_repeats_nothing_and_comes_with_few_other_letters() {
    let mut month = Month::begin();
    month.referee.sent_to(GM);
    let (mut told, mut letters) = (BTreeSet::new(), Vec::new());
    for day in 1..=DAYS {
        month.day(day);
        month.besides(day);
        month.referee.advance(24);
        let new = month.referee.sent_to(GM);
        for digest in new.iter().filter(|sent| sent.subject == DIGEST) {
            let items = items(digest);
            let is_quiet = items.is_empty() && !digest.text.contains("Still waiting");
            let most = if is_quiet { 40 } else { 300 };
            assert!(own_words(digest) <= most, "day {day}\n{}", digest.text);
            for item in items {
                assert!(told.insert(item.clone()), "day {day} tells again: {item}\n{}", digest.text);
            }
        }
        letters.extend(new);
    }
    let alarms = letters.iter().filter(|sent| sent.subject != DIGEST);
    let asks = |sent: &&Sent| {
        ["a protest", "your decision, please", "words for the GM"]
            .iter()
            .any(|end| sent.subject.ends_with(end))
    };
    assert!(alarms.clone().count() > 2, "matches wait for a decision");
    let others: Vec<&str> = alarms.filter(|sent| !asks(sent)).map(|sent| &*sent.subject).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(letters.len() <= MOST_LETTERS, "{} letters", letters.len());
}

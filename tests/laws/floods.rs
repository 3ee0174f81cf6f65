//! The law against floods: between two letters of players, play causes at most two letters to either side, however often
//! the house moves alone in between. Every turn is told.

use std::collections::BTreeSet;

use chrono::DateTime;
use fogpost::game::any::AnyState;
use fogpost::game::{BySeat, Phase, Seat};
use fogpost::house;
use fogpost::ledger::HousePlay;
use fogpost::letter::Digest;
use fogpost::referee::{self, Content, Match, Matter, News, Reader, Ruling, Stage};

use crate::referee::{open, open_against, receive};
use fogpost_testing::play::{Play, matches};

/// The letters that a match causes.
struct Post {
    game_match: Match,
    /// Since the last letter of a player.
    sent: BySeat<usize>,
    /// The turns that reports to the first side told, apart from those that another report replaces.
    told: BTreeSet<(&'static str, u32)>,
    most: usize,
    /// The most turns that one report told.
    longest: usize,
}

impl Post {
    fn take(&mut self, ruling: Ruling) {
        for dispatch in &ruling.dispatches {
            let Reader::Seat(seat) = dispatch.to else { continue };
            self.sent[seat] += 1;
            let Content::Report { news, .. } = &dispatch.content else { continue };
            let News { steps, left_out, .. } = &**news;
            assert!(steps.len() <= 20);
            self.longest = self.longest.max(steps.len() + left_out);
            if seat == Seat::First && !dispatch.waits_for_house {
                self.told.extend(steps.iter().map(|step| (step.phase.as_str(), step.turn)));
            }
        }
        self.game_match = serde_json::from_str(&ruling.after.to_json()).expect("a snapshot");
        assert_eq!(self.game_match.to_json(), ruling.after.to_json());
        self.most = self.most.max(self.sent.first).max(self.sent.second);
    }
}

/// Plays a match by letter, in which the house, if it holds the second seat, plays at random, too.
fn play_by_letter(mut play: Play, with_house: bool) -> Post {
    let level = with_house.then(|| house::levels(play.kind)[0].name.to_owned());
    let opened = if with_house { open_against(&play, level) } else { open(&play) };
    let sent = BySeat::default();
    let mut post =
        Post { game_match: opened.after.clone(), sent, told: BTreeSet::new(), most: 0, longest: 0 };
    post.take(opened);
    while post.game_match.stage == Stage::Running {
        let before = post.game_match.clone();
        play.state = before.state.clone();
        let ruling = match before.house_due() {
            Some(seat) => {
                let tries = play.tries(seat);
                let orders = tries.last().expect("a legal one").lines.clone();
                let orders = legal(&play.state, seat, orders);
                let (version, seen) = (house::version(play.kind), Digest::of(b"not looked at"));
                let play = HousePlay { seat, version, orders, seen, failed: None };
                referee::rule(&before, &Matter::House { phase: before.phase_no, play }, DateTime::UNIX_EPOCH)
            }
            None => {
                let seat = before.awaited()[0];
                let tries = play.tries(seat);
                let lines = legal(&play.state, seat, tries.last().expect("a legal one").lines.clone());
                post.sent = BySeat::default();
                let lines = if lines.is_empty() { vec!["HOLD".to_owned()] } else { lines };
                receive(&before, seat, &lines)
            }
        };
        assert_ne!(ruling.after, before, "{}: {:?}", play.kind, ruling.rejection);
        post.take(ruling);
    }
    post
}

/// The orders of a legal filing in their canonical form.
fn legal(state: &AnyState, seat: Seat, lines: Vec<String>) -> Vec<String> {
    state
        .seal(seat, &fogpost_testing::play::numbered(&lines))
        .expect("a legal filing")
        .lines()
        .iter()
        .cloned()
        .collect()
}

#[test]
fn between_two_letters_play_causes_at_most_two_letters_to_a_side() {
    for (kind, seed) in matches(12) {
        for with_house in [false, true] {
            let post = play_by_letter(Play::new(kind, seed), with_house);
            assert!(post.most <= 2, "{kind}, seed {seed}, house {with_house}: {} letters", post.most);
            let played = post.game_match.adjudicated.iter().map(|(phase, turn, _)| (phase.as_str(), *turn));
            let is_told = |turn: &(&'static str, u32)| post.told.contains(turn);
            assert!(played.into_iter().all(|turn| is_told(&turn)), "{kind}, seed {seed}: a turn is not told");
        }
    }
}

#[test]
fn a_side_that_can_only_pass_reads_of_all_turns_in_one_letter() {
    // The case `2.4-N-PASS`: the second side moves on alone until the limit.
    let kind = fogpost::game::any::GameKind::Quantum;
    let options = [("array", "CQ....../.CSQQ..."), ("quiet_limit", "30")];
    let choices = kind.choose(options).expect("options of the game");
    let play = Play::with(kind, choices, fogpost_testing::random::Random::new(1));
    let opened = open_against(&play, Some("easy".to_owned()));
    let sent = BySeat::default();
    let mut post =
        Post { game_match: opened.after.clone(), sent, told: BTreeSet::new(), most: 0, longest: 0 };
    post.take(opened);
    let moves = include_str!("../../crates/games/tests/cases/quantum/2.4-N-PASS.txt");
    let moves = moves.lines().filter_map(|line| line.split_once(": "));
    let moves: Vec<(&str, &str)> = moves.filter(|(side, _)| ["first", "second"].contains(side)).collect();
    for (side, order) in &moves {
        file(&mut post, side, order);
    }
    let mut there = true;
    while post.game_match.stage == Stage::Running {
        // The house walks to and fro.
        file(&mut post, "second", if there { "B7 A8" } else { "A8 B7" });
        there = !there;
    }
    assert!(post.most <= 2, "{} letters", post.most);
    assert!(post.longest > 20, "{} turns", post.longest);
    assert!(post.told.iter().all(|(phase, _)| *phase == Phase::Move.as_str()));
}

/// Files one order, by letter or for the house.
fn file(post: &mut Post, side: &str, order: &str) {
    let before = post.game_match.clone();
    let orders = vec![order.to_owned()];
    let ruling = if side == "first" {
        post.sent = BySeat::default();
        receive(&before, Seat::First, &orders)
    } else {
        let (seat, seen) = (Seat::Second, Digest::of(b"not looked at"));
        let play = HousePlay { seat, version: 0, orders, seen, failed: None };
        referee::rule(&before, &Matter::House { phase: before.phase_no, play }, DateTime::UNIX_EPOCH)
    };
    assert_ne!(ruling.after, before, "{side} {order}: {:?}", ruling.rejection);
    post.take(ruling);
}

//! Letters in any order and with copies: the time of receipt decides, and each letter counts once.

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::game::any::GameKind;
use fogpost::store::LetterStatus;

use crate::positions::{kinds, setups};
use crate::referee::{ANN, BO, Referee};
use fogpost_testing::random::Random;

/// A letter, and its time of receipt in minutes after the start.
struct Post {
    raw: String,
    minutes: i64,
}

/// Puts letters into the mailbox in this order, each with its time of receipt.
fn lay(referee: &Referee, began: DateTime<Utc>, post: &[Post]) {
    for Post { raw, minutes } in post {
        let path = referee.put(raw);
        let came = began + TimeDelta::minutes(*minutes);
        let file = std::fs::File::options().append(true).open(path).expect("the letter");
        file.set_modified(came.into()).expect("its time");
    }
}

/// Returns the same letter by another route: other bytes, but the same Message-ID.
fn on_another_way(raw: &str, n: usize) -> String {
    format!("Received: from mx{n}.example by mx.club.example; Thu, 7 May 2026 10:0{n}:00 +0000\n{raw}")
}

#[test]
fn shuffled_and_copied_letters_have_the_effect_of_ordered_ones() {
    let [north, south] = setups();
    // Both send other orders first. Ann's clock is wrong: according to the Date field, her later letter is the
    // older one.
    let other = north.replace("SHIP 1 3/2 G1", "SHIP 1 2/2 G1");
    let elsewhere = south.replace("SHIP 1 3/2 S1", "SHIP 1 2/2 S1");
    let mut outcomes = Vec::new();
    for seed in 1..=5 {
        let referee = Referee::new();
        let game_match = referee.open(GameKind::QuadrantZ, &[]);
        let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
        let dated = |date: &str, raw: String| format!("Date: {date}\n{raw}");
        let first = dated("Fri, 8 May 2026 23:00:00 +0000", referee.answer(ANN, &to_ann, &other));
        let second = dated("Mon, 4 May 2026 01:00:00 +0000", referee.answer(ANN, &to_ann, &north));
        let wait = referee.answer(BO, &to_bo, &format!("WAIT\n{elsewhere}"));
        let last = referee.answer(BO, &to_bo, &south);
        let late = referee.answer(ANN, &to_ann, &other);
        let mut post = vec![
            Post { raw: first.clone(), minutes: 1 },
            Post { raw: wait.clone(), minutes: 2 },
            Post { raw: second.clone(), minutes: 3 },
            Post { raw: last.clone(), minutes: 6 },
            // Copies that arrive after the letters that replaced them.
            Post { raw: on_another_way(&first, 1), minutes: 4 },
            Post { raw: on_another_way(&wait, 2), minutes: 5 },
            Post { raw: on_another_way(&second, 3), minutes: 7 },
            Post { raw: on_another_way(&last, 4), minutes: 8 },
            // Orders for a turn that has been adjudicated.
            Post { raw: late, minutes: 9 },
        ];
        let mut random = Random::new(seed);
        random.shuffle(&mut post);
        let began = referee.now();
        referee.sleep(1);
        lay(&referee, began, &post);
        referee.work();
        // Every letter arrives once more after the decision.
        random.shuffle(&mut post);
        lay(&referee, began, &post);
        referee.work();
        let after = referee.find(&game_match.id);
        let kinds = kinds(&referee, &game_match);
        let count = |kind: &str| kinds.iter().filter(|found| *found == kind).count();
        assert_eq!((after.adjudicated.len(), count("TurnAdjudicated")), (1, 1), "seed {seed}: {kinds:?}");
        assert_eq!(count("OrdersSealed"), 4, "seed {seed}: {kinds:?}");
        assert_eq!(after.due().map(|due| due.turn), Some(1), "turn 1 is open");
        let letters = referee.letters();
        assert_eq!(letters.iter().filter(|row| row.status == LetterStatus::Ruled).count(), 5, "seed {seed}");
        assert_eq!(
            letters.iter().filter(|row| row.status == LetterStatus::Repeated).count(),
            4,
            "seed {seed}"
        );
        let to_ann = referee.all_to(ANN);
        assert!(to_ann.iter().any(|sent| sent.text.contains("adjudicated")), "seed {seed}");
        outcomes.push(serde_json::to_value(&after.state).expect("a state"));
        referee.check();
    }
    assert!(outcomes.windows(2).all(|two| two[0] == two[1]), "the order in the mailbox changes nothing");
    // The letters that count have the same effect in sequence.
    let referee = Referee::new();
    let game_match = referee.open(GameKind::QuadrantZ, &[]);
    referee.reply(ANN, &referee.one_to(ANN), &north);
    referee.reply(BO, &referee.one_to(BO), &south);
    assert_eq!(outcomes[0], serde_json::to_value(&referee.find(&game_match.id).state).expect("a state"));
}

#[test]
fn the_letter_received_last_counts_whatever_its_date_says() {
    let [north, south] = setups();
    let other = north.replace("SHIP 1 3/2 G1", "SHIP 1 2/2 G1");
    let mut states = Vec::new();
    for is_overtaken in [false, true] {
        let referee = Referee::new();
        let game_match = referee.open(GameKind::QuadrantZ, &[]);
        let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
        let mut letters =
            [(&other, "Thu, 7 May 2026 10:01:00 +0000"), (&north, "Thu, 7 May 2026 10:02:00 +0000")];
        if is_overtaken {
            letters.reverse();
        }
        for (orders, date) in letters {
            referee.sleep(1);
            referee.receive(&format!("Date: {date}\n{}", referee.answer(ANN, &to_ann, orders)));
        }
        referee.reply(BO, &to_bo, &south);
        let after = referee.find(&game_match.id);
        assert_eq!(after.adjudicated.len(), 1);
        states.push(serde_json::to_string(&after.state).expect("a state"));
    }
    assert!(states[0].len() > 100 && states[0] != states[1], "the later letter counts each time");
}

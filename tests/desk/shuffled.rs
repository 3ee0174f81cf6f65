//! Letters that come in any order, with copies: what counts is when each came to us, and each counts once.

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::game::any::GameKind;
use fogpost::store::LetterStatus;

use crate::desk::{ANN, BO, Desk};
use crate::positions::{kinds, setups};

/// A small generator of its own: the same numbers for the same seed, everywhere (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("it is below")
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// A letter, and how many minutes after the beginning it came.
struct Post {
    raw: String,
    minutes: i64,
}

/// Lays letters into the mailbox in the order given, each with the time at which it came.
fn lay(desk: &Desk, began: DateTime<Utc>, post: &[Post]) {
    for Post { raw, minutes } in post {
        let path = desk.put(raw);
        let came = began + TimeDelta::minutes(*minutes);
        let file = std::fs::File::options().append(true).open(path).expect("the letter");
        file.set_modified(came.into()).expect("its time");
    }
}

/// The same letter on another way: other bytes, the same Message-ID.
fn on_another_way(raw: &str, n: usize) -> String {
    format!("Received: from mx{n}.example by mx.club.example; Thu, 7 May 2026 10:0{n}:00 +0000\n{raw}")
}

#[test]
fn letters_shuffled_and_copied_bring_what_they_bring_in_order() {
    let [north, south] = setups();
    // Both first write something else; Ann's clock is wrong, and her Date tells the later letter to be the older.
    let other = north.replace("SHIP 1 3/2 G1", "SHIP 1 2/2 G1");
    let elsewhere = south.replace("SHIP 1 3/2 S1", "SHIP 1 2/2 S1");
    let mut outcomes = Vec::new();
    for seed in 1..=5 {
        let desk = Desk::new();
        let game_match = desk.open(GameKind::QuadrantZ, &[]);
        let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
        let dated = |date: &str, raw: String| format!("Date: {date}\n{raw}");
        let first = dated("Fri, 8 May 2026 23:00:00 +0000", desk.answer(ANN, &to_ann, &other));
        let second = dated("Mon, 4 May 2026 01:00:00 +0000", desk.answer(ANN, &to_ann, &north));
        let wait = desk.answer(BO, &to_bo, &format!("WAIT\n{elsewhere}"));
        let last = desk.answer(BO, &to_bo, &south);
        let late = desk.answer(ANN, &to_ann, &other);
        let mut post = vec![
            Post { raw: first.clone(), minutes: 1 },
            Post { raw: wait.clone(), minutes: 2 },
            Post { raw: second.clone(), minutes: 3 },
            Post { raw: last.clone(), minutes: 6 },
            // Copies that come later than what replaced their letters.
            Post { raw: on_another_way(&first, 1), minutes: 4 },
            Post { raw: on_another_way(&wait, 2), minutes: 5 },
            Post { raw: on_another_way(&second, 3), minutes: 7 },
            Post { raw: on_another_way(&last, 4), minutes: 8 },
            // Orders for the turn that is adjudicated by then.
            Post { raw: late, minutes: 9 },
        ];
        let mut random = Random(seed);
        random.shuffle(&mut post);
        let began = desk.now();
        desk.sleep(1);
        lay(&desk, began, &post);
        desk.work();
        // Every letter comes once more, when all is decided.
        random.shuffle(&mut post);
        lay(&desk, began, &post);
        desk.work();
        let after = desk.find(&game_match.id);
        let kinds = kinds(&desk, &game_match);
        let count = |kind: &str| kinds.iter().filter(|found| *found == kind).count();
        assert_eq!((after.adjudicated.len(), count("TurnAdjudicated")), (1, 1), "seed {seed}: {kinds:?}");
        assert_eq!(count("OrdersSealed"), 4, "seed {seed}: {kinds:?}");
        assert_eq!(after.due().map(|due| due.turn), Some(1), "the first turn is open");
        let fates = desk.letters();
        assert_eq!(fates.iter().filter(|row| row.status == LetterStatus::Ruled).count(), 5, "seed {seed}");
        assert_eq!(fates.iter().filter(|row| row.status == LetterStatus::Repeated).count(), 4, "seed {seed}");
        let refused = desk.all_to(ANN);
        assert!(refused.iter().any(|sent| sent.text.contains("adjudicated")), "seed {seed}");
        outcomes.push(serde_json::to_value(&after.state).expect("a state"));
        desk.check();
    }
    assert!(outcomes.windows(2).all(|two| two[0] == two[1]), "the order in which they lay changes nothing");
    // And it is what comes of the letters that count, one after the other.
    let desk = Desk::new();
    let game_match = desk.open(GameKind::QuadrantZ, &[]);
    desk.reply(ANN, &desk.one_to(ANN), &north);
    desk.reply(BO, &desk.one_to(BO), &south);
    assert_eq!(outcomes[0], serde_json::to_value(&desk.find(&game_match.id).state).expect("a state"));
}

#[test]
fn of_two_letters_of_a_seat_the_one_that_came_later_counts_whatever_their_dates_say() {
    let [north, south] = setups();
    let other = north.replace("SHIP 1 3/2 G1", "SHIP 1 2/2 G1");
    let mut states = Vec::new();
    for overtaken in [false, true] {
        let desk = Desk::new();
        let game_match = desk.open(GameKind::QuadrantZ, &[]);
        let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
        let mut letters =
            [(&other, "Thu, 7 May 2026 10:01:00 +0000"), (&north, "Thu, 7 May 2026 10:02:00 +0000")];
        if overtaken {
            letters.reverse();
        }
        for (orders, date) in letters {
            desk.sleep(1);
            desk.receive(&format!("Date: {date}\n{}", desk.answer(ANN, &to_ann, orders)));
        }
        desk.reply(BO, &to_bo, &south);
        let after = desk.find(&game_match.id);
        assert_eq!(after.adjudicated.len(), 1);
        states.push(serde_json::to_string(&after.state).expect("a state"));
    }
    assert!(states[0].len() > 100 && states[0] != states[1], "each time it is the later one");
}

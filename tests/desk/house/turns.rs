//! The turns of the house: their entries in the ledger, their audit, and the consequences of a fault.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use chrono::TimeDelta;
use fogpost::audit::Place;
use fogpost::daemon::house::house_all;
use fogpost::daemon::status::Status;
use fogpost::daemon::{Holder, NewMatch, instruct};
use fogpost::game::any::{AnySeen, GameKind};
use fogpost::game::{BySeat, Seat};
use fogpost::house::{self, Chosen, HouseLevel};
use fogpost::ledger::{self, Cause, EntryCause};
use fogpost::letter::Digest;
use fogpost::referee::{self, HouseFailure, HousePlay, HousePlayer, Match, Matter, digest_of};
use fogpost::store::{Changes, EntryRow, MatchRow};

use crate::audit::wording::put_template;
use crate::house::levels::{arrives, entries, house_is_due, opened, to_ann, turn};
use crate::referee::{ANN, GM, Referee};

/// A turn of the house as a cause.
fn by_house(game_match: &Match, play: &HousePlay) -> Matter<'static> {
    Matter::House { phase: game_match.phase_no, play: play.clone() }
}

/// Files this turn for the house, as somebody with access to the database could.
fn forge(referee: &Referee, game_match: &Match, play: &HousePlay) {
    let ruling = referee::rule(game_match, &by_house(game_match, play), referee.now());
    let row = referee
        .block_on(referee.office().store.matches(std::slice::from_ref(&game_match.id)))
        .expect("it answers")
        .remove(0);
    let forged = Changes {
        at: referee.now(),
        entries: ruling.entries.iter().map(EntryRow::from).collect(),
        matches: vec![MatchRow {
            wake_at: ruling.after.wake_at(),
            snapshot: serde_json::to_string(&ruling.after).expect("JSON"),
            ..row
        }],
        ..Changes::default()
    };
    referee.block_on(referee.office().store.commit(&forged)).expect("the rules allow it");
    // The letters of this ruling were never written.
    referee.untidy.set(true);
}

/// Forges this turn, and returns the findings about its entry.
fn findings(referee: &Referee, game_match: &Match, play: &HousePlay) -> Vec<String> {
    forge(referee, game_match, play);
    let at = Place::Entry(game_match.head.seq + 1);
    let found = referee.verify(&game_match.id).findings;
    found.into_iter().filter(|finding| finding.place == at).map(|finding| finding.what).collect()
}

/// The turn that the house plays in this match, after `change`.
fn changed(
    referee: &Referee,
    game_match: &Match,
    change: impl FnOnce(&mut u32, &mut Vec<String>, &mut Digest),
) -> HousePlay {
    let mut play = turn(referee, game_match).expect("the house plays");
    change(&mut play.version, &mut play.orders, &mut play.seen);
    play
}

#[test]
fn the_ledger_says_which_version_played_and_what_it_was_shown() {
    let referee = Referee::new();
    let game_match = house_is_due(&referee);
    let before = entries(&referee, &game_match.id);
    referee.work();
    let played = entries(&referee, &game_match.id);
    let EntryCause::Cause(Cause::House { play, .. }) = &played[before.len()].cause else {
        panic!("the house played")
    };
    assert_eq!((play.version, play.failed), (house::version(GameKind::Quad), None));
    let told = ledger::what_seat_saw(&before, Seat::Second).expect("a sound ledger");
    assert_eq!(play.seen, digest_of(&told));
}

#[test]
fn a_turn_that_is_found_twice_is_played_once() {
    let referee = Referee::new();
    let game_match = house_is_due(&referee);
    let play = turn(&referee, &game_match).expect("the house plays");
    referee.work();
    let played = referee.find(&game_match.id);
    assert_ne!(played.phase_no, game_match.phase_no);
    let again = referee::rule(&played, &by_house(&game_match, &play), referee.now());
    assert!(again.entries.is_empty() && again.after == played);
}

/// A cheat with access to the database makes the house play badly.
#[test]
fn a_forged_turn_of_the_house_is_found() {
    let referee = Referee::new();
    let game_match = house_is_due(&referee);
    let forged = changed(&referee, &game_match, |_, orders, _| *orders = vec!["MARBLE A2".to_owned()]);
    let found = findings(&referee, &game_match, &forged);
    assert_eq!(found, ["the house plays another turn there"]);
}

#[test]
fn a_turn_that_was_played_on_something_else_is_found_whatever_version_played_it() {
    for version in [house::version(GameKind::Quad), 77] {
        let referee = Referee::new();
        let game_match = house_is_due(&referee);
        let forged = changed(&referee, &game_match, |by, _, seen| {
            (*by, *seen) = (version, Digest::of(b"more than the seat was told"));
        });
        let found = findings(&referee, &game_match, &forged);
        assert_eq!(found, ["the house was shown something other than its seat was told"]);
    }
}

#[test]
fn of_another_versions_turn_the_audit_checks_legality_and_what_was_shown() {
    let referee = Referee::new();
    let game_match = house_is_due(&referee);
    let of_77 = changed(&referee, &game_match, |version, orders, _| {
        (*version, *orders) = (77, vec!["MARBLE A2".to_owned()]);
    });
    assert!(findings(&referee, &game_match, &of_77).is_empty());
    let verdict = referee.verify(&game_match.id);
    assert_eq!(verdict.house_turns_of_other_versions, 1);
}

#[test]
fn a_failure_of_another_version_is_listed() {
    let referee = Referee::new();
    let game_match = house_is_due(&referee);
    let played = changed(&referee, &game_match, |version, _, _| *version = 77);
    let failed = HousePlay { failed: Some(HouseFailure::Panicked), ..played };
    assert!(findings(&referee, &game_match, &failed).is_empty());
    let verdict = referee.verify(&game_match.id);
    assert_eq!(verdict.house_failures, [game_match.head.seq + 1]);
    assert_eq!(verdict.house_turns_of_other_versions, 1);
}

/// Expert fails, as planted; every other level plays.
fn expert_fails(
    seen: &AnySeen,
    level: &'static HouseLevel,
    dice: u64,
    how: HouseFailure,
) -> Option<Chosen<String>> {
    match (level.name, how) {
        ("expert", HouseFailure::Panicked) => panic!("a planted panic"),
        ("expert", HouseFailure::Refused) => {
            Some(Chosen { orders: vec!["MARBLE A1".to_owned()], positions: 0 })
        }
        _ => house::play(seen, level, dice),
    }
}

#[test]
fn where_the_house_fails_easy_plays_and_the_gm_and_the_audit_tell() {
    for (failure, says) in [
        (HouseFailure::Panicked, "failed while it looked for a turn"),
        (HouseFailure::Refused, "chose orders that the rules forbid"),
    ] {
        let mut referee = Referee::new();
        referee
            .office_mut()
            .set_house(Arc::new(move |seen: &AnySeen, level, dice| expert_fails(seen, level, dice, failure)));
        let game_match = opened(&referee, "expert", Seat::First);
        let before = game_match.head.seq;
        referee.reply(ANN, &to_ann(&referee), "MARBLE F6");
        assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2, "the match goes on");
        referee.last_to(ANN).says("The house (expert) played");
        referee.one_to(GM).says(&format!("The house (expert) {says}")).says(&game_match.id);
        let mut after = entries(&referee, &game_match.id).into_iter().filter(|entry| entry.seq > before);
        let (seq, play) = after
            .find_map(|entry| match entry.cause {
                EntryCause::Cause(Cause::House { play, .. }) => Some((entry.seq, play)),
                _ => None,
            })
            .expect("the house played");
        assert_eq!(play.failed, Some(failure));
        let verdict = referee.verify(&game_match.id);
        assert!(verdict.is_sound(), "{verdict:#?}");
        assert_eq!(verdict.house_failures, [seq]);
    }
}

/// The ledger shows whether a fault was really the program's, and not an excuse.
#[test]
fn a_failure_that_the_audit_cannot_repeat_is_found() {
    let referee = Referee::new();
    let game_match = house_is_due(&referee);
    let played = changed(&referee, &game_match, |_, _, _| ());
    let excused = HousePlay { failed: Some(HouseFailure::Panicked), ..played };
    assert_eq!(findings(&referee, &game_match, &excused), ["the house plays another turn there"]);
}

#[test]
fn the_house_plays_on_beside_a_match_whose_ruling_fails() {
    let mut referee = Referee::new();
    let [broken, sound] = [(); 2].map(|()| {
        let game_match = opened(&referee, "average", Seat::First);
        (game_match, to_ann(&referee))
    });
    for (_, invitation) in [&broken, &sound] {
        arrives(&referee, &referee.answer(ANN, invitation, "MARBLE F6"));
    }
    let faulty = format!("{{% if match.id == '{}' %}}{{{{ missing }}}}{{% endif %}}", broken.0.id);
    referee.restart_after(|folder| put_template(folder, "quad/news.txt", Some(&faulty)));
    referee.work();
    assert_eq!(referee.find(&sound.0.id).house_due(), None);
    assert_eq!(referee.find(&broken.0.id).house_due(), Some(Seat::Second));
    referee.one_to(GM).says(&format!("The house finds no turn in {}", broken.0.id));
    referee.restart_after(|folder| put_template(folder, "quad/news.txt", None));
    referee.advance(1);
    assert_eq!(referee.find(&broken.0.id).house_due(), None);
}

fn faults(referee: &Referee) -> Vec<String> {
    let config = &referee.office().config;
    let status = Status::of(
        &referee.office().store,
        &config.database,
        &config.outbox.quota,
        referee.now(),
        TimeDelta::minutes(2),
    );
    referee.block_on(status).expect("the store answers").faults
}

#[test]
fn where_every_level_fails_the_gm_is_told_once_and_no_attempt_follows_at_once() {
    let mut referee = Referee::new();
    let attempts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&attempts);
    referee.office_mut().set_house(Arc::new(move |_: &AnySeen, _, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        None
    }));
    let game_match = house_is_due(&referee);
    for _ in 0..3 {
        referee.work();
    }
    assert_eq!(attempts.load(Ordering::Relaxed), 2, "its level and the easier one");
    referee.one_to(GM).says(&game_match.id).says("at least once an hour");
    let tells = |faults: &[String]| {
        faults.iter().any(|fault| fault.contains("the house has been unable to play its turn"))
    };
    assert!(tells(&faults(&referee)), "{:?}", faults(&referee));
    referee.advance(2);
    assert_eq!(attempts.load(Ordering::Relaxed), 4);
    assert!(referee.sent_to(GM).is_empty());
    referee.office_mut().set_house(Arc::new(house::play));
    referee.advance(2);
    assert_eq!(referee.find(&game_match.id).house_due(), None);
    assert!(!tells(&faults(&referee)), "{:?}", faults(&referee));
}

#[test]
fn a_match_that_was_ended_while_the_house_was_stuck_is_no_fault() {
    let mut referee = Referee::new();
    referee.office_mut().set_house(Arc::new(|_: &AnySeen, _, _| None));
    let game_match = house_is_due(&referee);
    referee.work();
    assert!(!faults(&referee).is_empty());
    referee.reply(ANN, &to_ann(&referee), "RESIGN CONFIRM");
    assert_eq!(referee.find(&game_match.id).house_due(), None);
    assert!(faults(&referee).iter().all(|fault| !fault.contains("the house")), "{:?}", faults(&referee));
}

/// The nice value of this thread: from 0, the ordinary priority, to 19, the lowest.
fn own_nice() -> i32 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux tells of each thread");
    // The name of the thread, which may contain spaces, ends at the last parenthesis.
    let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
    fields.split_whitespace().nth(16).and_then(|nice| nice.parse().ok()).expect("the 19th field")
}

/// A house that plays normally, notes the nice value of its threads, and calls `wait` before each turn.
fn noting_nice(wait: impl Fn() + Send + Sync + 'static) -> (Arc<Mutex<Vec<i32>>>, Arc<HousePlayer>) {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&noted);
    let player = move |seen: &AnySeen, level, dice| {
        notes.lock().expect("no thread panics").push(own_nice());
        wait();
        house::play(seen, level, dice)
    };
    (noted, Arc::new(player))
}

#[test]
fn a_turn_that_a_person_waits_for_starts_at_ordinary_priority_and_all_others_at_the_lowest() {
    let mut referee = Referee::new();
    let (noted, player) = noting_nice(|| {});
    referee.office_mut().set_house(player);
    opened(&referee, "easy", Seat::Second);
    let priorities = std::mem::take(&mut *noted.lock().expect("no thread panics"));
    assert_eq!(priorities, [own_nice()], "the house begins, and Ann waits for it");

    let easy = house::level(GameKind::Quad, "easy").expect("a level");
    let new = NewMatch {
        game: GameKind::Quad,
        choices: house::choices_at(GameKind::Quad, easy, &[]).expect("options of the game"),
        players: BySeat::new(Holder::House(easy), Holder::House(easy)),
        terms: referee.office().config.terms.clone(),
    };
    referee.block_on(instruct::open(referee.office(), new)).expect("the match opens");
    referee.work();
    let priorities = noted.lock().expect("no thread panics");
    assert!(!priorities.is_empty() && priorities.iter().all(|nice| *nice == 19), "{priorities:?}");
}

#[test]
fn one_turn_at_a_time_has_ordinary_priority() {
    let mut referee = Referee::new();
    house_is_due(&referee);
    // Both threads must be at work before either continues.
    let both = Barrier::new(2);
    let (noted, player) = noting_nice(move || {
        both.wait();
    });
    referee.office_mut().set_house(player);
    let play = || house_all(referee.office());
    let (one, other) = referee.block_on(async { tokio::join!(play(), play()) });
    one.and(other).expect("the house plays");
    // Nothing is sent in this test.
    referee.untidy.set(true);
    let mut priorities = noted.lock().expect("no thread panics").clone();
    priorities.sort_unstable();
    assert_eq!(priorities, [own_nice(), 19]);
}

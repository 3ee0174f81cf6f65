//! The worked examples of the club (`tests/rules/club-examples.json`), and Glickman's own.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use fogpost::club::rating::{RatedPlayer, RatedResult, RatedSide, Rating, Score, rate, rate_result, table};
use fogpost::club::reliability::Reliability;
use fogpost::desk::frame::ratings::pair_limit;
use fogpost::game::any::{Choices, GameKind};
use fogpost::game::{BySeat, Line, Seat};
use fogpost::ledger::{self, Cause, Entry, Fact, HouseFigure, RatingBasis, SealKey};
use fogpost::letter::Digest;
use fogpost::referee::{self, Act, Correction, Match, Matter, Opening, Stage, Terms};
use serde_json::{Value, json};
use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, expected_score, glicko2, glicko2_rating_period};

use fogpost_testing::random::Random;

/// The example with this number: what is given and what is expected.
pub fn example(no: u64) -> (Value, Value) {
    let all: Value = serde_json::from_str(include_str!("club-examples.json")).expect("JSON");
    let found = all.as_array().expect("a list").iter().find(|one| one["no"] == no).expect("an example");
    (found["given"].clone(), found["expect"].clone())
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// A rating given as figure, deviation and volatility.
fn rating(value: &Value) -> Rating {
    Rating::of(number(&value[0]), number(&value[1]), number(&value[2]))
}

#[track_caller]
fn assert_rating(found: Rating, expected: &Value) {
    let wanted = Rating::of(
        number(&expected["rating"]),
        number(&expected["deviation"]),
        number(&expected["volatility"]),
    );
    assert_eq!((found, found.shown().as_str()), (wanted, expected["shown"].as_str().expect("text")));
}

fn side(rating: Rating, days: u32) -> RatedSide {
    RatedSide { rating, days }
}

fn score(value: &Value) -> Score {
    match number(value) {
        1.0 => Score::Win,
        0.0 => Score::Loss,
        _ => Score::Draw,
    }
}

#[test]
fn glickmans_worked_example() {
    let player = Glicko2Rating { rating: 1500.0, deviation: 200.0, volatility: 0.06 };
    let against =
        [(1400.0, 30.0, Outcomes::WIN), (1550.0, 100.0, Outcomes::LOSS), (1700.0, 300.0, Outcomes::LOSS)];
    let results = against
        .map(|(rating, deviation, outcome)| (Glicko2Rating { rating, deviation, volatility: 0.06 }, outcome));
    let config = Glicko2Config { tau: 0.5, ..Glicko2Config::default() };
    let after = glicko2_rating_period(&player, &results, &config);
    // The paper rounds along the way: 1464.06, 151.52, 0.05999.
    assert!((after.rating - 1464.06).abs() < 0.02, "{after:?}");
    assert!(
        (after.deviation - 151.52).abs() < 0.02 && (after.volatility - 0.05999).abs() < 0.00002,
        "{after:?}"
    );
}

/// The results of a dozen players, rated by the library alone, as the Python reading of the paper takes them.
#[test]
fn the_library_and_the_paper_agree_on_random_results() {
    let mut random = Random::new(11);
    let newcomer = Glicko2Rating { rating: 1500.0, deviation: 350.0, volatility: 0.06 };
    let mut known = vec![(newcomer, 0); 12];
    let config = Glicko2Config { tau: 0.5, ..Glicko2Config::default() };
    let hundredths = |value: f64| (value * 100.0).round() / 100.0;
    let mut lines = String::new();
    for no in 0..600_u32 {
        let first = random.below(12);
        let second = (first + 1 + random.below(11)) % 12;
        let (score, outcome) =
            *random.pick(&[(1.0, Outcomes::WIN), (0.5, Outcomes::DRAW), (0.0, Outcomes::LOSS)]);
        let own = Glicko2Rating { rating: known[first].0.rating + 80.0, ..known[first].0 };
        let (one, other) = glicko2(&own, &known[second].0, &outcome, &config);
        let one = Glicko2Rating { rating: one.rating - 80.0, ..one };
        let (first_count, second_count) = (known[first].1, known[second].1);
        let mut after = serde_json::Map::new();
        let sides = [(first, first_count, second_count, one), (second, second_count, first_count, other)];
        for (player, own, foe, rated) in sides {
            if foe < 3 && own >= 3 {
                continue;
            }
            let volatility = (rated.volatility * 1e6).round() / 1e6;
            let (rating, deviation) = (hundredths(rated.rating), hundredths(rated.deviation));
            known[player] = (Glicko2Rating { rating, deviation, volatility }, own + 1);
            after.insert(player.to_string(), json!([rating, deviation, volatility]));
        }
        let line = json!({
            "at": "2027-03-01T12:00:00Z", "match": format!("QT-{no:04}"), "first": first, "second": second,
            "score": score, "advantage": 80, "after": after,
        });
        lines += &format!("{line}\n");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("results.jsonl");
    std::fs::write(&path, lines).expect("a file");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/club.py");
    let done = std::process::Command::new("python3").args([script, "ratings"]).arg(&path).output();
    let done = done.expect("python3 runs");
    let told = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{told}");
}

#[test]
fn example_1_two_newcomers() {
    let (given, expect) = example(1);
    let (first, second) = (side(rating(&given["first"]), 0), side(rating(&given["second"]), 0));
    for (name, score) in [("first wins", Score::Win), ("draw", Score::Draw)] {
        let (one, other) = rate_result(first, second, score, 0);
        assert_rating(one, &expect[name][0]);
        assert_rating(other, &expect[name][1]);
    }
}

#[test]
fn example_2_growth_of_the_deviation() {
    let (given, expect) = example(2);
    let before = rating(&given["before"]);
    let days = given["days"].as_array().expect("a list").iter();
    for (days, deviation) in days.zip(expect["deviation"].as_array().expect("a list")) {
        let grown = before.grown(u32::try_from(days.as_u64().expect("days")).expect("days"));
        assert_eq!(grown.deviation, Rating::of(0.0, number(deviation), 0.0).deviation, "{days} days");
    }
}

#[test]
fn example_3_an_upset_after_silent_days() {
    let (given, expect) = example(3);
    let (first, second) = (rating(&given["first"]), rating(&given["second"]));
    let days = |place: usize| u32::try_from(given["days"][place].as_u64().expect("days")).expect("days");
    for (place, before) in [first, second].into_iter().enumerate() {
        let grown = Rating::of(0.0, number(&expect["grown"][place]), 0.0).deviation;
        assert_eq!(before.grown(days(place)).deviation, grown);
    }
    let (one, other) = rate_result(side(first, days(0)), side(second, days(1)), score(&given["score"]), 0);
    assert_rating(one, &expect["first"]);
    assert_rating(other, &expect["second"]);
}

#[test]
fn example_4_the_advantage_of_a_seat() {
    let (given, expect) = example(4);
    let (first, second) = (rating(&given["first"]), rating(&given["second"]));
    let advantage = i32::try_from(given["advantage"].as_i64().expect("points")).expect("points");
    for (name, score) in [("first wins", Score::Win), ("second wins", Score::Loss)] {
        let (one, other) = rate_result(side(first, 0), side(second, 0), score, advantage);
        assert_rating(one, &expect[name][0]);
        assert_rating(other, &expect[name][1]);
    }
    let favoured = |rating: f64| Glicko2Rating { rating, deviation: 80.0, volatility: 0.06 };
    let (expected, _) = expected_score(&favoured(1500.0 + f64::from(advantage)), &favoured(1500.0));
    assert!((expected - number(&expect["expected score of first"])).abs() < 0.00005, "{expected}");
}

#[test]
fn example_5_a_match_against_the_house() {
    let (given, expect) = example(5);
    let player =
        Rating::of(number(&given["player"][0]), number(&given["player"][1]), number(&given["player"][2]));
    assert!(!player.is_unsure(), "opened at 109: {}", expect["opened at 109.00"]);
    assert!(player.grown(20).is_unsure());
    let at: DateTime<Utc> = DateTime::UNIX_EPOCH + TimeDelta::days(20);
    let house = HouseFigure { figure: 1500, deviation: 50 };
    let numbers = BySeat::new(Some(1), None);
    let basis = RatingBasis { numbers, advantage: 0, house: Some(house) };
    let result = RatedResult { at, match_id: "QT-AAAA".to_owned(), score: Score::Loss, only: None, basis };
    let known = RatedPlayer { rating: player, results: 9, last: Some(DateTime::UNIX_EPOCH) };
    let changes = rate(&result, &BySeat::new(known, RatedPlayer::default()));
    assert_eq!(changes.len(), 1, "the house keeps its figure");
    assert_rating(changes[0].after, &expect["opened after 20 days at 111.28"]["lost, ends the same day"]);
}

/// The results of example 6, with the score of one of them changed.
fn three_results(changed: Option<(&str, Score)>) -> Vec<RatedResult> {
    let (given, _) = example(6);
    let numbers =
        |name: &Value| ["Ann", "Bo", "Cy"].iter().position(|known| name == known).map(|at| at as i64 + 1);
    let results = given["results"].as_array().expect("a list").iter();
    let read = results.map(|result| {
        let match_id = result[1].as_str().expect("a match").to_owned();
        let score = changed.filter(|(id, _)| *id == match_id).map_or(score(&result[4]), |(_, score)| score);
        RatedResult {
            at: result[0].as_str().expect("a time").parse().expect("a time"),
            match_id,
            score,
            only: None,
            basis: RatingBasis {
                numbers: BySeat::new(numbers(&result[2]), numbers(&result[3])),
                advantage: 0,
                house: None,
            },
        }
    });
    read.collect()
}

#[track_caller]
fn assert_table(results: Vec<RatedResult>, expect: &Value) {
    let changes = table(results, &|player| player);
    let in_order = expect["in order"].as_array().expect("a list");
    let expected = in_order.iter().flat_map(|row| [(&row[0], &row[1], &row[2]), (&row[0], &row[3], &row[4])]);
    let expected: Vec<_> = expected.collect();
    assert_eq!(changes.len(), expected.len());
    for (change, (id, name, rating)) in changes.iter().zip(expected) {
        let player = ["Ann", "Bo", "Cy"][usize::try_from(change.player - 1).expect("a player")];
        assert_eq!(
            (change.match_id.as_str(), player),
            (id.as_str().expect("text"), name.as_str().expect("text"))
        );
        assert_rating(change.after, rating);
    }
}

#[test]
fn example_6_results_in_order() {
    assert_table(three_results(None), &example(6).1);
}

#[test]
fn example_7_a_corrected_result_is_computed_anew() {
    let (_, expect) = example(7);
    let (before, after) = (three_results(None), three_results(Some(("QT-BBBB", Score::Loss))));
    assert_table(after.clone(), &expect);
    let last = |results: Vec<RatedResult>, player: i64| {
        let changes = table(results, &|player| player);
        changes.iter().rfind(|change| change.player == player).expect("a rating").after.figure
    };
    for (player, name) in [(1, "Ann"), (2, "Bo"), (3, "Cy")] {
        let change = last(after.clone(), player) - last(before.clone(), player);
        let told = &expect["told (change of a point or more)"][name];
        assert_eq!(change, Rating::of(number(told), 0.0, 0.0).figure, "{name}");
    }
}

#[test]
fn example_8_the_limit_of_a_pair() {
    let (given, expect) = example(8);
    let mut opened: Vec<DateTime<Utc>> = Vec::new();
    let days = given["opened"].as_array().expect("a list").iter();
    for (day, is_rated) in days.zip(expect["rated"].as_array().expect("a list")) {
        let at = format!("2027-{}T12:00:00Z", day.as_str().expect("a day")).parse().expect("a time");
        let why = pair_limit(&opened, at);
        assert_eq!(why.is_none(), is_rated.as_bool().expect("yes or no"), "{day}: {why:?}");
        match why {
            None => opened.push(at),
            Some(why) => assert_eq!(format!("unrated: {why}"), expect["the invitation of 20 March says"]),
        }
    }
}

#[test]
fn example_24_reliability() {
    let (_, expect) = example(24);
    // The last hundred hold three missed and two filed in grace; one match was lost within the year.
    let mut turns = vec![true; 95];
    turns.splice(10..10, [false; 5]);
    turns.extend([false; 40]);
    let bo = Reliability::of(&turns, 1);
    assert_eq!(bo.sentence("Bo"), expect["letter"]);
    assert!(!bo.meets(96) && bo.meets(95));
    let cy = Reliability::of(&[true; 4], 0);
    let text = expect["newcomer with 4 turns"].as_str().expect("text");
    assert!(text.contains(cy.sentence("Cy").trim_end_matches('.')) && cy.meets(90), "{text}");
}

#[test]
fn example_25_a_seat_that_changed_hands() {
    let (_, expect) = example(25);
    let known = RatedPlayer { rating: Rating::of(1500.0, 75.0, 0.06), results: 9, last: None };
    let basis = RatingBasis { numbers: BySeat::new(Some(1), Some(2)), advantage: 0, house: None };
    let result = RatedResult {
        at: DateTime::UNIX_EPOCH,
        match_id: "QT-AAAA".to_owned(),
        score: Score::Loss,
        only: Some(Seat::First),
        basis,
    };
    let changes = rate(&result, &BySeat::new(known, known));
    assert_eq!(changes.iter().map(|change| change.player).collect::<Vec<_>>(), [1], "{}", expect["Bo"]);
    assert_rating(changes[0].after, &expect["Ann (rated as lost at the change)"]);
}

/// A match of this game with a bank, whose terms are in Berlin's time.
fn opened(game: GameKind, at: &str, terms: Terms) -> (Match, Vec<Entry>) {
    let opening = Opening {
        terms: Terms {
            zone: fogpost::zone::Zone::named("Europe/Berlin").unwrap(),
            days: 1,
            forfeit_after: 9,
            ..terms
        },
        ..Opening::new(
            "QD-7K3M",
            game,
            BySeat::new("Ann", "Bo"),
            "referee@club.example",
            SealKey::new([7; 32]),
        )
    };
    let ruling = referee::open(opening, Cause::opening(None), time(at));
    (ruling.after, ruling.entries.into_iter().map(|chained| chained.entry).collect())
}

fn time(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).expect("a time").with_timezone(&Utc)
}

/// Rules on an act, and returns the new entries.
fn rule(game_match: &mut Match, matter: &Matter<'_>, at: DateTime<Utc>) -> Vec<Entry> {
    let ruling = referee::rule(game_match, matter, at);
    assert_eq!(ruling.rejection, None);
    *game_match = ruling.after;
    ruling.entries.into_iter().map(|chained| chained.entry).collect()
}

/// Lets the clock decide what is due until then, and returns the new entries.
fn run(game_match: &mut Match, until: DateTime<Utc>) -> Vec<Entry> {
    let mut entries = Vec::new();
    while let Some(at) = game_match.wake_at().filter(|at| *at <= until) {
        let matter = game_match.by_clock();
        entries.extend(rule(game_match, &matter, at));
    }
    entries
}

fn file(game_match: &mut Match, seat: Seat, orders: &str, at: DateTime<Utc>) -> Vec<Entry> {
    let orders = Line::numbered(&orders.lines().collect::<Vec<_>>());
    let matter = game_match.by_gm("The GM", Act::File { seat, orders });
    rule(game_match, &matter, at)
}

/// The days that a seat took: when, how many are left, and the deadline.
fn days_taken(entries: &[Entry], of: Seat) -> Vec<(DateTime<Utc>, u32, DateTime<Utc>)> {
    let taken = entries.iter().filter_map(|entry| match entry.fact {
        Fact::BankDayTaken { seat, left, deadline } if seat == of => Some((entry.at, left, deadline)),
        _ => None,
    });
    taken.collect()
}

fn days_missed(entries: &[Entry]) -> Vec<(DateTime<Utc>, Vec<Seat>)> {
    let missed = entries.iter().filter_map(|entry| match &entry.fact {
        Fact::DeadlineMissed { seats, .. } => Some((entry.at, seats.clone())),
        _ => None,
    });
    missed.collect()
}

/// Examples 9 to 11: one seat of Quad is late.
fn one_seat_is_late(no: u64) {
    let (given, expect) = example(no);
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let due = time(&text(&given["due"]));
    let terms = Terms {
        bank: u32::try_from(given["bank"].as_u64().expect("days")).expect("days"),
        weekends: given["weekends"].as_bool().expect("yes or no"),
        ..Terms::default()
    };
    // A day before, at the hour of the clock that is due.
    let before =
        due.with_timezone(&fogpost::zone::Zone::named("Europe/Berlin").unwrap()) - TimeDelta::days(1);
    let (mut game_match, _) = opened(GameKind::Quad, &before.to_rfc3339(), terms);
    assert_eq!(game_match.deadline, Some(due));
    let missed_at = expect.get("missed at").map(|at| time(&text(at)));
    let filed = given["filed"].as_str().map(time);
    let entries = run(&mut game_match, filed.or(missed_at).expect("a time"));
    let expected = expect["entries"].as_array().expect("a list").iter().map(|entry| {
        let left = u32::try_from(entry["left"].as_u64().expect("days")).expect("days");
        (time(&text(&entry["BankDayTaken at"])), left, time(&text(&entry["deadline"])))
    });
    assert_eq!(days_taken(&entries, Seat::First), expected.collect::<Vec<_>>());
    assert_eq!(days_missed(&entries).first().map(|(at, _)| *at), missed_at);
    if let Some(filed) = filed {
        file(&mut game_match, Seat::First, "MARBLE E5", filed);
        assert_eq!(game_match.adjudicated.len(), 1);
    }
    assert_eq!(u64::from(game_match.bank_left(Seat::First)), expect["left"].as_u64().expect("days"));
    assert_eq!(game_match.missed.first > 0, expect["missed"].as_bool().expect("yes or no"));
}

#[test]
fn example_9_a_bank_of_days() {
    one_seat_is_late(9);
    // Filed a minute before the grace is over: no day is taken.
    let (mut game_match, _) =
        opened(GameKind::Quad, "2026-11-28T20:00:00+01:00", Terms { bank: 10, ..Terms::default() });
    run(&mut game_match, time("2026-11-30T07:59:00+01:00"));
    file(&mut game_match, Seat::First, "MARBLE E5", time("2026-11-30T07:59:00+01:00"));
    assert_eq!(game_match.bank_left(Seat::First), 10);
}

#[test]
fn example_10_weekends_are_left_out_and_then_the_turn_is_missed() {
    one_seat_is_late(10);
}

#[test]
fn example_11_clocks_that_change() {
    one_seat_is_late(11);
}

#[test]
fn example_12_both_are_late() {
    let (_, expect) = example(12);
    let terms = Terms { bank: 2, setup_days: 9, ..Terms::default() };
    let (mut game_match, _) = opened(GameKind::QuadrantZ, "2026-11-26T20:00:00+01:00", terms);
    for seat in Seat::BOTH {
        file(&mut game_match, seat, "SETUP balanced", time("2026-11-28T20:00:00+01:00"));
    }
    assert_eq!(game_match.deadline, Some(time("2026-11-29T20:00:00+01:00")));
    game_match.bank_days.second = vec![0, 0];
    let entries = run(&mut game_match, time("2026-11-30T08:00:00+01:00"));
    let (late, deadline) = (time("2026-11-30T08:00:00+01:00"), time("2026-11-30T20:00:00+01:00"));
    assert_eq!(days_missed(&entries), [(late, vec![Seat::Second])]);
    assert_eq!(days_taken(&entries, Seat::First), [(late, 1, deadline)]);
    assert_eq!(game_match.missed.second, 1);
    let turn = game_match.adjudicated.len();
    file(&mut game_match, Seat::Second, "HOLD", time("2026-11-30T10:00:00+01:00"));
    assert_eq!((game_match.missed.second, game_match.adjudicated.len()), (1, turn));
    let entries = run(&mut game_match, time("2026-12-01T06:00:00+01:00"));
    assert!(days_taken(&entries, Seat::First).is_empty());
    let entries = file(&mut game_match, Seat::First, "HOLD", time("2026-12-01T06:00:00+01:00"));
    assert!(entries.iter().any(|entry| matches!(entry.fact, Fact::TurnAdjudicated { .. })));
    let left = Seat::BOTH.map(|seat| u64::from(game_match.bank_left(seat)));
    assert_eq!(
        left.to_vec(),
        expect["bank after"].as_array().expect("a list").iter().filter_map(Value::as_u64).collect::<Vec<_>>()
    );
    assert_eq!([game_match.missed.first, game_match.missed.second].map(u64::from).to_vec(), [0, 1]);
}

#[test]
fn who_missed_a_phase_is_assumed_to_hold_once_the_other_has_filed() {
    let terms = Terms { bank: 2, setup_days: 9, ..Terms::default() };
    let (mut game_match, _) = opened(GameKind::QuadrantZ, "2026-11-26T20:00:00+01:00", terms);
    for seat in Seat::BOTH {
        file(&mut game_match, seat, "SETUP balanced", time("2026-11-28T20:00:00+01:00"));
    }
    game_match.bank_days.second = vec![0, 0];
    run(&mut game_match, time("2026-11-30T08:00:00+01:00"));
    let entries = file(&mut game_match, Seat::First, "HOLD", time("2026-11-30T09:00:00+01:00"));
    assert!(entries.iter().any(|entry| matches!(entry.fact, Fact::TurnAdjudicated { .. })));
}

#[test]
fn example_13_a_rollback_gives_days_back() {
    let (given, expect) = example(13);
    let (mut game_match, mut entries) =
        opened(GameKind::Quad, "2026-11-02T20:00:00+01:00", Terms { bank: 10, ..Terms::default() });
    let points = ["B2", "C9", "D5", "E11", "F3", "G8", "H5", "J10"];
    let mut taken = Vec::new();
    while game_match.due().is_some_and(|due| due.turn < 8) {
        let due = game_match.due().expect("a turn");
        let days = match due.turn {
            6 => 2,
            7 => 3,
            _ => 0,
        };
        let seat = due.seats[0];
        let grace = game_match.deadline.expect("a deadline") + game_match.terms.grace();
        let at =
            if days == 0 { game_match.deadline.expect("a deadline") - TimeDelta::hours(1) } else { grace };
        let at = at + TimeDelta::days((days - 1).max(0));
        entries.extend(run(&mut game_match, at));
        taken.push((due.turn, game_match.bank_left(seat)));
        let orders = format!(
            "MARBLE {}",
            points[entries.iter().filter(|entry| matches!(entry.fact, Fact::TurnAdjudicated { .. })).count()
                % points.len()]
        );
        entries.extend(file(&mut game_match, seat, &orders, at));
    }
    let bank = |place: usize| given["bank"][place].as_u64().expect("days");
    assert!(taken.contains(&(6, u32::try_from(bank(1)).expect("days"))), "{taken:?}");
    let correction = Correction {
        turn: 6,
        reason: "A letter came in time.".to_owned(),
        choices: Choices::default(),
        decided: ledger::adjudications(&entries),
        orders: None,
        new_key: None,
    };
    let matter = game_match.by_gm("The GM", Act::Correct(correction));
    let at = entries.last().expect("an entry").at;
    rule(&mut game_match, &matter, at);
    assert_eq!(game_match.due().map(|due| due.turn), Some(6));
    for seat in Seat::BOTH {
        assert_eq!(
            u64::from(game_match.bank_left(seat)),
            expect["bank when turn 6 is open again"].as_u64().expect("days")
        );
    }
}

/// The deadline of a day that was taken lies in no absence that was announced before: so an absence takes at most the
/// day that was due before it.
fn assert_absences_take_no_day(game_match: &Match, entries: &[Entry], seed: u64) {
    let mut known: Vec<(Seat, NaiveDate, NaiveDate)> = Vec::new();
    for entry in entries {
        match &entry.fact {
            Fact::AbsenceNoted { seat, from, to } => known.push((*seat, *from, *to)),
            Fact::BankDayTaken { seat, deadline, .. } => {
                let day = deadline.with_timezone(&game_match.terms.zone).date_naive();
                let is_away = |(away, from, to): &&(Seat, NaiveDate, NaiveDate)| {
                    away == seat && (*from..=*to).contains(&day)
                };
                assert_eq!(known.iter().find(is_away), None, "seed {seed}: {deadline}");
            }
            _ => {}
        }
    }
}

#[test]
fn a_bank_never_goes_below_zero_and_pauses_outages_and_absences_take_no_day() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let bank = u32::try_from(random.below(6)).expect("days");
        let terms = Terms { bank, forfeit_after: 99, ..Terms::default() };
        let (mut game_match, mut entries) = opened(GameKind::Quad, "2026-11-02T20:00:00+01:00", terms);
        let mut at = time("2026-11-02T20:00:00+01:00");
        for _ in 0..60 {
            let before = at;
            at += TimeDelta::hours(i64::try_from(random.below(30)).expect("hours"));
            let act = match random.below(5) {
                0 if game_match.stage == Stage::Running => Act::pause("a pause".to_owned()),
                _ if game_match.stage == Stage::Paused => Act::Resume,
                1 => Act::Slide { since: before },
                2 => {
                    entries.extend(run(&mut game_match, at));
                    let from = at.with_timezone(&game_match.terms.zone).date_naive();
                    let to = from + TimeDelta::days(i64::try_from(random.below(4)).expect("days"));
                    let letter = Digest::of(at.to_string().as_bytes());
                    Act::Absent { seat: *random.pick(&Seat::BOTH), from, to, letter, confirmed_by: None }
                }
                _ => {
                    entries.extend(run(&mut game_match, at));
                    continue;
                }
            };
            let matter = game_match.by_program(act);
            let ruling = referee::rule(&game_match, &matter, at);
            let new = ruling.entries.into_iter().map(|chained| chained.entry);
            let new: Vec<Entry> = new.collect();
            assert!(Seat::BOTH.iter().all(|seat| days_taken(&new, *seat).is_empty()), "seed {seed}");
            game_match = ruling.after;
            entries.extend(new);
        }
        assert_absences_take_no_day(&game_match, &entries, seed);
        for seat in Seat::BOTH {
            let taken = days_taken(&entries, seat);
            let lefts: Vec<u32> = taken.iter().map(|(_, left, _)| *left).collect();
            let expected: Vec<u32> = (0..bank).rev().take(lefts.len()).collect();
            assert_eq!(lefts, expected, "seed {seed}: each day leaves one less");
            assert_eq!(game_match.bank_left(seat) as usize + taken.len(), bank as usize, "seed {seed}");
        }
    }
}

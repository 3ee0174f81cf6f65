//! The worked examples of the club (`tests/cases/club-examples.json`), and Glickman's own.

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::club::rated::{RatedPlayer, RatedResult, rate, table};
use fogpost::club::rating::{Rating, Score, Side, rated};
use fogpost::club::reliability::Reliability;
use fogpost::desk::frame::ratings::pair_limit;
use fogpost::game::{BySeat, Seat};
use fogpost::ledger::{HouseFigure, RatingBasis};
use serde_json::Value;
use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, expected_score, glicko2_rating_period};

/// The example with this number: what is given and what is expected.
fn example(no: u64) -> (Value, Value) {
    let all: Value = serde_json::from_str(include_str!("../cases/club-examples.json")).expect("JSON");
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

fn side(rating: Rating, days: u32) -> Side {
    Side { rating, days }
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

#[test]
fn example_1_two_newcomers() {
    let (given, expect) = example(1);
    let (first, second) = (side(rating(&given["first"]), 0), side(rating(&given["second"]), 0));
    for (name, score) in [("first wins", Score::Win), ("draw", Score::Draw)] {
        let (one, other) = rated(first, second, score, 0);
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
    let (one, other) = rated(side(first, days(0)), side(second, days(1)), score(&given["score"]), 0);
    assert_rating(one, &expect["first"]);
    assert_rating(other, &expect["second"]);
}

#[test]
fn example_4_the_advantage_of_a_seat() {
    let (given, expect) = example(4);
    let (first, second) = (rating(&given["first"]), rating(&given["second"]));
    let advantage = i32::try_from(given["advantage"].as_i64().expect("points")).expect("points");
    for (name, score) in [("first wins", Score::Win), ("second wins", Score::Loss)] {
        let (one, other) = rated(side(first, 0), side(second, 0), score, advantage);
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

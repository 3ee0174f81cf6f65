//! The worked examples of events (`tests/rules/club-examples.json`, 14 to 23), and plans that cannot stand.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use fogpost::club::events::keys::{self, Format, KEYS, Lacking};
use fogpost::club::events::own_time::{own_time, slower};
use fogpost::club::events::plan::Plan;
use fogpost::club::events::seasons::{after_ladder, after_league, barred_until, vanishings};
use fogpost::club::events::sections::{Breaks, draw, promotion_order, sizes, table};
use fogpost::game::{BySeat, OrderLines, Phase, Seat};
use fogpost::ledger::book::{BookOutcome, BookPlace};
use fogpost::ledger::{Cause, Entry, EntryCause, Fact, PauseReason};
use fogpost::letter::Digest;
use serde_json::{Value, json};

use crate::club::example;

/// The people of the examples, by number.
const NAMES: [&str; 14] =
    ["Ann", "Bo", "Cy", "Di", "Eve", "Gus", "Hal", "Ida", "Jo", "Kim", "Lu", "Zed", "P", "Q"];

fn number(name: &Value) -> i64 {
    let name = name.as_str().expect("a name");
    match name.strip_prefix("P-") {
        Some(number) => number.parse().expect("a number"),
        None if name.len() == 1 => i64::from(name.as_bytes()[0]),
        None => NAMES.iter().position(|known| *known == name.trim_end_matches('*')).expect("a name") as i64,
    }
}

fn numbers(list: &Value) -> Vec<i64> {
    list.as_array().expect("a list").iter().map(number).collect()
}

fn lists(list: &Value) -> Vec<Vec<i64>> {
    list.as_array().expect("a list").iter().map(numbers).collect()
}

fn results(list: &Value) -> Vec<(i64, i64, BookOutcome)> {
    let outcome = |score: &Value| match score.as_str() {
        Some("1") => BookOutcome::First,
        Some("0") => BookOutcome::Second,
        _ => BookOutcome::Draw,
    };
    let rows = list.as_array().expect("a list").iter();
    rows.map(|row| (number(&row[0]), number(&row[1]), outcome(&row[2]))).collect()
}

#[track_caller]
fn assert_table(found: &[BookPlace], expected: &Value) {
    let shown = found.iter().map(|row| {
        json!({
            "place": row.place,
            "name": NAMES[usize::try_from(row.player).expect("a person")],
            "points": f64::from(row.points) / 2.0,
            "direct": f64::from(row.direct) / 2.0,
            "SB": f64::from(row.berger) / 4.0,
            "wins": row.wins,
        })
    });
    assert_eq!(Value::from_iter(shown), *expected);
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse().expect("an instant")
}

fn entry(when: DateTime<Utc>, fact: Fact) -> Entry {
    Entry {
        match_id: "QZ-AAAA".to_owned(),
        seq: 1,
        at: when,
        cause: EntryCause::Cause(Cause::Clock { phase: 1 }),
        fact,
        salt: String::new(),
        prev: Digest::from([0; 32]),
        pins: Vec::new(),
        delivered: Vec::new(),
    }
}

fn set(seats: &[Seat], deadline: DateTime<Utc>) -> Fact {
    Fact::DeadlineSet { phase: Phase::Turn, turn: 1, seats: seats.to_vec(), deadline }
}

fn sealed(seat: Seat, wait: bool) -> Fact {
    let sealed = Digest::from([0; 32]);
    Fact::OrdersSealed {
        seat,
        phase: Phase::Turn,
        turn: 1,
        orders: serde_json::from_str::<OrderLines>("[]").expect("orders"),
        wait,
        firm_at: None,
        sealed,
    }
}

fn adjudicated() -> Fact {
    let filings = BySeat::default();
    Fact::TurnAdjudicated { phase: Phase::Turn, turn: 1, filings, state: Digest::from([0; 32]) }
}

fn days(days: f64) -> TimeDelta {
    TimeDelta::seconds((days * 86400.0) as i64)
}

fn score(own: &BySeat<TimeDelta>) -> &'static str {
    match slower(own) {
        Some(Seat::First) => "0-1",
        Some(Seat::Second) => "1-0",
        None => "1/2",
    }
}

#[test]
fn example_14_less_own_time_wins() {
    let (_, expect) = example(14);
    for (case, first, second) in [("a", 46.2, 43.8), ("b", 44.0, 30.5), ("c", 47.0, 52.0)] {
        assert_eq!(score(&BySeat::new(days(first), days(second))), expect[case].as_str().expect("text"));
    }
    let level = BySeat::new(days(45.0), days(45.0) + TimeDelta::minutes(40));
    assert_eq!(score(&level), expect["d"].as_str().expect("text"));
    // A protest that is not upheld by the end counts for whoever protested.
    let begun = at("2027-03-01T00:00:00Z");
    let entries = [
        entry(begun, set(&[Seat::First], begun + days(60.0))),
        entry(begun + days(40.0), sealed(Seat::First, false)),
        entry(begun + days(40.0), adjudicated()),
        entry(begun + days(40.0), set(&[Seat::Second], begun + days(90.0))),
        entry(begun + days(70.0), Fact::Protested { seat: Seat::First, passed_on: false }),
        entry(begun + days(70.0), Fact::MatchPaused { reason: PauseReason::Protest }),
    ];
    let own = own_time(&entries, begun + days(90.0));
    assert_eq!((own.first, own.second), (days(60.0), days(30.0)));
    assert_eq!(score(&own), expect["e"].as_str().expect("text"));
}

#[test]
fn own_time_leaves_out_pauses_and_what_a_correction_voids() {
    let begun = at("2027-03-01T00:00:00Z");
    let pause = |reason| Fact::MatchPaused { reason };
    let mut entries = vec![
        entry(begun, set(&[Seat::First], begun + days(9.0))),
        entry(begun + days(2.0), pause(PauseReason::Gm("illness".to_owned()))),
        entry(begun + days(5.0), Fact::MatchResumed { deadline: None }),
        entry(begun + days(6.0), sealed(Seat::First, false)),
        entry(begun + days(6.0), adjudicated()),
        entry(begun + days(6.0), set(&[Seat::Second], begun + days(9.0))),
    ];
    let own = own_time(&entries, begun + days(7.0));
    assert_eq!((own.first, own.second), (days(3.0), days(1.0)));
    let reason = "It was misread.".to_owned();
    let state = Digest::from([0; 32]);
    entries
        .push(entry(begun + days(7.0), Fact::CorrectionMade { turn: 1, keeps: 0, reason, state, key: None }));
    entries.push(entry(begun + days(7.0), set(&[Seat::First], begun + days(9.0))));
    let own = own_time(&entries, begun + days(8.0));
    assert_eq!((own.first, own.second), (days(1.0), TimeDelta::zero()));
}

#[test]
fn example_15_wait_and_absence() {
    let (_, expect) = example(15);
    // Sunday 7 March to Wednesday 10 March, then to Monday 15 March.
    let (sunday, wednesday) = (at("2027-03-07T00:00:00Z"), at("2027-03-10T20:00:00Z"));
    let monday = at("2027-03-15T20:00:00Z");
    let mut entries = vec![
        entry(sunday, set(&Seat::BOTH, wednesday)),
        entry(sunday, sealed(Seat::Second, false)),
        entry(at("2027-03-08T08:00:00Z"), sealed(Seat::First, true)),
        entry(wednesday, adjudicated()),
    ];
    let own = own_time(&entries, wednesday);
    assert!(expect["own time of first, turn 1"].as_str().expect("text").starts_with("92 h"));
    assert_eq!((own.first, own.second), (TimeDelta::hours(92), TimeDelta::zero()));
    entries.push(entry(wednesday, set(&Seat::BOTH, monday)));
    entries.push(entry(wednesday, sealed(Seat::Second, false)));
    entries.push(entry(monday - TimeDelta::hours(1), sealed(Seat::First, false)));
    entries.push(entry(monday - TimeDelta::hours(1), adjudicated()));
    let own = own_time(&entries, monday);
    assert_eq!(expect["own time of first, turn 2"], "119 h");
    assert_eq!(own.first, TimeDelta::hours(92 + 119));
    assert_eq!(expect["bank used"], 0);
}

#[test]
fn example_16_section_sizes() {
    let (given, expect) = example(16);
    let pairs = given["pairs (entrants, section_size)"].as_array().expect("a list");
    for (pair, wanted) in pairs.iter().zip(expect["sizes"].as_array().expect("a list")) {
        let count = |value: &Value| usize::try_from(value.as_u64().expect("a count")).expect("a count");
        assert_eq!(json!(sizes(count(&pair[0]), count(&pair[1]))), *wanted, "{pair}");
    }
}

#[test]
fn example_17_the_draw_of_eight() {
    let (given, expect) = example(17);
    let list = numbers(&given["list"]);
    let none = BTreeSet::new();
    for (name, format, size) in [
        ("league", Format::League, 4),
        ("cup", Format::Cup, 4),
        ("knockout", Format::Cup, 2),
        ("ladder", Format::Ladder, 2),
    ] {
        assert_eq!(draw(format, &list, size, &none), lists(&expect[name]), "{name}");
    }
}

#[test]
fn example_18_a_section_of_four() {
    let (given, expect) = example(18);
    let played = results(&given["results (first, second, score of first)"]);
    assert_table(&table(&[0, 1, 2, 3], &played), &expect["standings"]);
}

#[test]
fn example_19_direct_encounters_and_a_circle() {
    let (given, expect) = example(19);
    assert_table(&table(&[0, 1, 2, 3], &results(&given["results a"])), &expect["a"]);
    assert_table(&table(&[0, 1, 2, 3], &results(&given["results b"])), &expect["b (first shared by three)"]);
}

#[test]
fn example_20_who_let_the_other_wait_less_goes_on() {
    let (given, expect) = example(20);
    let rows = table(&[0, 1], &results(&given["results"]));
    assert_table(&rows, &expect["standings"]);
    let figures = BTreeMap::from([(0, 150_000), (1, 160_000)]);
    let goes_on = |ann_hours: i64, bo_hours: i64| {
        let own = BTreeMap::from([(0, ann_hours * 3600), (1, bo_hours * 3600 + 600)]);
        promotion_order(&rows, &Breaks { own: &own, figures: &figures, list: &[1, 0] })[0]
    };
    assert_eq!(goes_on(31 * 24 + 4, 30 * 24 + 20), 1, "{}", expect["goes on"]);
    assert_eq!(goes_on(31 * 24, 31 * 24), 0, "{}", expect["if equal to the hour"]);
}

#[test]
fn example_21_vanishing() {
    let (_, expect) = example(21);
    let losses: Vec<DateTime<Utc>> =
        ["09", "12", "15", "18", "20"].iter().map(|day| at(&format!("2027-05-{day}T20:00:00Z"))).collect();
    assert_eq!(vanishings(&losses).len(), 1, "{}", expect["counts in the year as"]);
    let until = barred_until(&losses, None).expect("a bar");
    assert_eq!(until.format("%-d %B").to_string(), "19 June");
    assert!(expect["entry closed until"].as_str().expect("text").starts_with("19 June"));
    // After a second vanishing within a year, 90 days.
    let again = [losses.clone(), vec![at("2027-11-01T20:00:00Z")]].concat();
    assert_eq!(barred_until(&again, None), Some(at("2028-01-30T20:00:00Z")));
    // Both missed: nobody has a point, and it is no draw.
    assert_eq!(expect["both missed"]["result"], "0-0");
    assert_eq!(Seat::BOTH.map(|seat| BookOutcome::Both.halves(seat)), [Some(0), Some(0)]);
    // Eight matches: one won, one lost, six lost by missed turns.
    let others: Vec<i64> = (100..108).collect();
    let played = |foe: i64| (2, foe, if foe == 100 { BookOutcome::First } else { BookOutcome::Second });
    let results: Vec<(i64, i64, BookOutcome)> = others.iter().map(|foe| played(*foe)).collect();
    let rows = table(&[vec![2], others].concat(), &results);
    let halves =
        |is_cy: bool| rows.iter().filter(|row| (row.player == 2) == is_cy).map(|row| row.points).sum::<u32>();
    assert_eq!(
        json!([halves(true) / 2, halves(false) / 2]),
        json!([expect["points of Cy"], expect["points of the others against him"]])
    );
}

#[test]
fn example_22_a_ladder_of_seven() {
    let (given, expect) = example(22);
    let list = numbers(&given["list"]);
    let sections = lists(&given["sections"]);
    let played = results(&given["results"]);
    let mut met = BTreeSet::new();
    let (own, figures) = (BTreeMap::new(), BTreeMap::new());
    let mut placed = Vec::new();
    for section in &sections {
        let inside: Vec<_> = played.iter().filter(|(first, _, _)| section.contains(first)).copied().collect();
        met.extend(inside.iter().map(|(first, second, _)| (*first.min(second), *first.max(second))));
        placed.push(promotion_order(
            &table(section, &inside),
            &Breaks { own: &own, figures: &figures, list: &list },
        ));
    }
    let new = after_ladder(&list, &placed);
    assert_eq!(new, numbers(&expect["new list"]));
    assert_eq!(draw(Format::Ladder, &new, 2, &met), lists(&expect["next sections"]));
}

#[test]
fn nobody_in_a_ladder_meets_the_same_opponent_twice_in_a_row() {
    let met = BTreeSet::from([(1, 2), (3, 4), (5, 6)]);
    let drawn = draw(Format::Ladder, &[1, 2, 3, 4, 5, 6], 2, &met);
    assert_eq!(drawn, [[1, 3], [2, 5], [4, 6]].map(|pair| pair.to_vec()).to_vec());
    let met = BTreeSet::from([(1, 2), (3, 4)]);
    assert_eq!(draw(Format::Ladder, &[1, 3, 2, 4], 2, &met), vec![vec![1, 3], vec![2, 4]]);
    // What is left at the end is exchanged upwards.
    let met = BTreeSet::from([(3, 4)]);
    assert_eq!(draw(Format::Ladder, &[1, 2, 3, 4], 2, &met), vec![vec![1, 3], vec![2, 4]]);
}

#[test]
fn example_23_a_league_between_two_seasons() {
    let (given, expect) = example(23);
    let places = lists(&given["places"]);
    let (di, gus, zed) = (number(&json!("Di")), number(&json!("Gus")), number(&json!("Zed")));
    let mut list = after_league(&places, 1, &BTreeSet::from([di]));
    assert_eq!(list, numbers(&expect["list after the exchange"]));
    list.retain(|player| ![di, gus].contains(player));
    list.push(zed);
    assert_eq!(list, numbers(&expect["new list"]));
    assert_eq!(json!(sizes(list.len(), 4)), expect["sizes"]);
    assert_eq!(draw(Format::League, &list, 4, &BTreeSet::new()), lists(&expect["divisions"]));
}

#[test]
fn a_faulty_plan_tells_line_key_and_what_would_do() {
    let faults = Plan::read(
        "id = \"SPRING\"\nname = \"Spring\"\ngame = \"chess\"\nformat = \"leage\"\nopens = \"soon\"\ndayz = 3\nbank = 99\n",
    )
    .expect_err("faults");
    let told: Vec<(usize, &str)> = faults.iter().map(|fault| (fault.line, fault.example.as_str())).collect();
    assert_eq!(
        told,
        [
            (6, "days = 3"),
            (1, "id = \"EV-SPRING\""),
            (3, "game = \"quad swap=off\""),
            (4, "format = \"league\""),
            (5, "opens = 2027-03-01"),
            (7, "bank = 3"),
        ]
    );
    let syntax = Plan::read("id = \"EV-A\"\nname = Spring\n").expect_err("a fault");
    assert_eq!(syntax[0].line, 2);
}

#[test]
fn an_example_shows_every_key_and_what_holds_without_it() {
    let opens = NaiveDate::from_ymd_opt(2027, 3, 1).expect("a day");
    for format in Format::ALL {
        let text = keys::example(*format, opens);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let plan = Plan::read(&text).expect("a plan");
        assert_eq!((plan.format, plan.opens), (*format, Some(opens)));
        for key in &KEYS {
            let line = format!("\n# {} = {}\n", key.name, key.value);
            if key.lacking == Lacking::Refused || !text.contains(&line) {
                continue;
            }
            let with = text.replace(&line, &line.replace("# ", ""));
            let with = Plan::read(&with).unwrap_or_else(|faults| panic!("{line}: {faults:?}"));
            assert_eq!(with == plan, key.lacking == Lacking::Shown, "{line}");
        }
    }
    let all: String = Format::ALL.iter().map(|format| keys::example(*format, opens)).collect();
    for key in &KEYS {
        assert!(all.contains(&format!("{} = ", key.name)), "{}", key.name);
        // Each key is read.
        let faults = Plan::read(&format!("{} = {{}}\n", key.name)).expect_err("no value");
        let told = format!("`{}` is {{", key.name);
        assert!(faults.iter().any(|fault| fault.says.starts_with(&told)), "{}: {faults:?}", key.name);
    }
}

#[test]
fn the_plan_of_the_law_is_read() {
    let plan = Plan::read(
        "id = \"EV-SPRING\"\nname = \"Spring League\"\ngame = \"quad\"\ndays = 3\nbank = 8\nabsence_days = 14\n\
         format = \"league\"\nsection_size = 4\ngames = 2\nopens = 2027-03-01\nseason_days = 90\n\
         unfinished = \"less-time\"\npromote = 1\nreliable = 80\nrating = \"..1600\"\nrated = true\n",
    )
    .expect("a plan");
    assert_eq!((plan.rating, plan.matches_each(), plan.days), ((None, Some(1600)), 6, Some(3)));
    let json = serde_json::to_value(&plan).expect("plain values");
    assert_eq!(serde_json::from_value::<Plan>(json).expect("a plan"), plan);
}

//! Events at the terminal: each command, what it refuses, and the sentence that helps.

use chrono::NaiveDate;
use fogpost::club::events::keys::{self, Format, KEYS, Lacking};
use serde_json::Value;

use super::{Folder, Ran, assert_says};

const PLAN: &str = "id = \"EV-SPRING\"\nname = \"Spring League\"\ngame = \"quad\"\nformat = \"league\"\n\
                    section_size = 3\nopens = 2099-05-10\n";

#[test]
fn an_example_of_a_plan_is_announced_as_it_is_and_the_help_names_every_key() {
    let folder = Folder::club();
    for format in ["league", "cup", "ladder"] {
        let example = folder.run(&["event", "new", "--example", format]).success();
        folder.run_with(&["event", "new", "-", "--check"], &example).success();
    }
    let help = folder.run(&["event", "new", "--help"]).success();
    for key in KEYS {
        let mark = if key.lacking == Lacking::Refused { '*' } else { ' ' };
        assert_says(&help, &[&format!("\n{mark} {} ", key.name)]);
    }
    let day = NaiveDate::from_ymd_opt(2027, 3, 1).expect("a day");
    assert_says(include_str!("../../docs/operation.md"), &[&keys::example(Format::League, day)]);
}

/// A club with the league of the plan, in which these people are.
fn announced(people: &[&str]) -> Folder {
    let folder = Folder::club();
    folder.write("plan.toml", PLAN);
    folder.run(&["event", "new", "plan.toml"]).success();
    for name in people {
        folder
            .run(&["event", "enter", "EV-SPRING", &format!("{name}@players.example"), "a friend"])
            .success();
    }
    folder
}

fn shown(folder: &Folder) -> Value {
    serde_json::from_str(&folder.run(&["event", "show", "ev-spring", "--json"]).success()).expect("JSON")
}

fn entries(folder: &Folder) -> usize {
    let verified = folder.run(&["audit", "verify", "EV-SPRING", "--json"]).success();
    let verified: Value = serde_json::from_str(&verified).expect("JSON");
    usize::try_from(verified["entries"].as_u64().expect("a number")).expect("a number")
}

#[test]
fn a_plan_is_announced_once_and_a_check_announces_nothing() {
    let folder = Folder::club();
    folder.write("plan.toml", PLAN);
    let told = folder.run(&["event", "new", "plan.toml", "--check"]).success();
    assert_says(&told, &["The event would then be:", "With 6 entrants: 12 matches at once"]);
    assert_eq!(folder.run(&["event", "list"]).success().lines().count(), 1, "nothing but the head");
    assert_says(&folder.run_with(&["event", "new", "-"], PLAN).success(), &["Done. The event now:"]);
    assert_says(
        &folder.run(&["event", "list"]).success(),
        &["EV-SPRING", "Spring League", "open to entries"],
    );
    let listed: Value =
        serde_json::from_str(&folder.run(&["event", "list", "--json"]).success()).expect("JSON");
    assert_eq!((&listed["event"], &listed["stage"]), (&"EV-SPRING".into(), &"entries".into()));
    assert_says(
        &folder.run(&["event", "new", "plan.toml"]).failure(1),
        &["There is an event EV-SPRING already; the plan needs another `id`"],
    );
}

#[test]
fn a_plan_that_cannot_stand_is_refused_with_line_key_and_example() {
    let folder = Folder::club();
    for (from, to, words) in [
        ("league", "leage", &["Line 4", "`format` is `leage`", "format = \"league\""][..]),
        ("section_size = 3", "section_size = 1", &["Line 5", "`section_size` is 1", "from 2 to 16"]),
        ("section_size = 3", "sectoin_size = 3", &["Line 5", "`sectoin_size` is no key", "section_size = 4"]),
        ("\"quad\"", "\"chess\"", &["Line 3", "`game` is `chess`", "pacific"]),
        ("\"quad\"", "\"quad swap=maybe\"", &["Line 3", "`game` has an option that does not fit"]),
        ("opens = 2099-05-10", "opens = \"full\"", &["Line 6", "needs max_entrants"]),
        ("opens = 2099-05-10", "opens = 2020-05-10", &["`opens` is in the past"]),
        ("opens = 2099-05-10", "opens = \"soon\"", &["Line 6", "it takes a day as year-month-day"]),
        ("opens = 2099-05-10", "opens = 11 January", &["Line 6", "the value of `opens`", "year-month-day"]),
        ("\"Spring League\"", "Spring", &["Line 2", "the value of `name`", "between quotation marks"]),
        ("EV-SPRING", "SPRING", &["Line 1", "`id` is `SPRING`; it takes EV- and up to 20 letters"]),
        ("name = \"Spring League\"\n", "", &["`name` is missing"]),
        ("section_size", "rating = \"many\"\nsection_size", &["Line 5", "two figures with .. between"]),
        ("section_size", "promote = 1\nrelegate = 0\nsection_size", &["Line 6", "as many fall as rise"]),
        ("section_size", "= 3\nsection_size", &["Line 5", "cannot be read"]),
    ] {
        folder.write("plan.toml", &PLAN.replace(from, to));
        assert_says(&folder.run(&["event", "new", "plan.toml"]).failure(1), words);
    }
    folder.write("plan.toml", &PLAN.replace("league", "leage").replace("quad", "chess"));
    let faults = folder.run(&["event", "new", "plan.toml"]).stderr();
    assert!(faults.contains("\nLine 3: `game`") && faults.contains("\nLine 4: `format`"), "{faults}");
    assert_says(&folder.run(&["event", "new", "missing.toml"]).failure(1), &["missing.toml"]);
    assert_eq!(folder.run(&["event", "list"]).success().lines().count(), 1, "nothing but the head");
}

#[test]
fn each_act_needs_an_event_that_is_there_and_names_the_nearest() {
    let folder = announced(&["ann"]);
    for act in [
        &["show", "EV-SPRIGN"][..],
        &["standings", "EV-SPRIGN"],
        &["open", "EV-SPRIGN"],
        &["close", "EV-SPRIGN"],
        &["cancel", "EV-SPRIGN", "why"],
        &["note", "EV-SPRIGN", "words"],
        &["enter", "EV-SPRIGN", "bo@players.example", "why"],
        &["strike", "EV-SPRIGN", "ann", "why"],
        &["replace", "EV-SPRIGN", "ann", "bo@players.example", "why"],
        &["extend", "EV-SPRIGN", "3", "why"],
        &["result", "EV-SPRIGN", "QD-7K3M", "draw", "why"],
    ] {
        assert_says(
            &folder.run(&[&["event"], act].concat()).failure(1),
            &["here is no event EV-SPRIGN", "earest: EV-SPRING"],
        );
    }
    assert_says(&folder.run(&["event", "show", "EV-XYZZY"]).failure(1), &["`fogpost event list` lists them"]);
    assert_says(
        &folder.run(&["event", "standings", "EV-SPRING"]).failure(1),
        &["EV-SPRING has not begun, so there are no standings; it begins Sun 10 May 2099"],
    );
    for act in [
        &["cancel", "EV-SPRING"][..],
        &["note", "EV-SPRING"],
        &["enter", "EV-SPRING"],
        &["extend", "EV-SPRING", "0", "why"],
        &["extend", "EV-SPRING", "3"],
        &["result", "EV-SPRING", "QD-7K3M", "both", "why"],
    ] {
        assert_eq!(folder.run(&[&["event"], act].concat()).status(), 2, "{act:?}");
    }
}

#[test]
fn people_are_let_in_struck_and_replaced_with_a_reason_and_a_check_writes_nothing() {
    let folder = announced(&["ann", "bo"]);
    let before = entries(&folder);
    for (act, words) in [
        (&["enter", "EV-SPRING", "ann", "again"][..], "ann is in already"),
        (
            &["enter", "EV-SPRING", "cy@players.example"],
            "`fogpost event enter EV-SPRING cy@players.example They asked for it.`",
        ),
        (&["enter", "EV-SPRING", "zorro", "why"], "Nobody is called zorro"),
        (&["strike", "EV-SPRING", "P-99", "why"], "P-99"),
        (&["replace", "EV-SPRING", "ann", "bo", "why"], "bo is in already"),
        (&["replace", "EV-SPRING", "cy@players.example", "ann", "why"], "cy is not in"),
        (&["open", "EV-SPRING"], "2 have entered, and 3 are needed. Entries stay open"),
        (&["result", "EV-SPRING", "QD-7K3M", "draw", "why"], "QD-7K3M is no match of the season that runs"),
    ] {
        assert_says(&folder.run(&[&["event"], act].concat()).failure(1), &[words]);
    }
    for (act, who) in [
        (&["enter", "EV-SPRING", "cy@players.example", "He asked me."][..], "cy would be in."),
        (&["strike", "EV-SPRING", "bo", "He asked me."], "bo would be out."),
        (
            &["replace", "EV-SPRING", "bo", "cy@players.example", "Ill."],
            "cy would take the place of bo, with 0 running matches",
        ),
    ] {
        assert_says(&folder.run(&[&["event"], act, &["--check"]].concat()).success(), &[who]);
    }
    assert_eq!(entries(&folder), before);
    assert_says(
        &folder.run(&["event", "strike", "EV-SPRING", "bo", "He asked me."]).success(),
        &["bo is out."],
    );
    folder.run(&["event", "replace", "EV-SPRING", "ann cy@players.example She is ill."]).success();
    folder.run(&["event", "note", "EV-SPRING", "Cy", "is", "new."]).success();
    folder.run(&["event", "extend", "EV-SPRING", "7", "Too few so far."]).success();
    assert_eq!(shown(&folder)["entrants"].as_array().map(Vec::len), Some(1));
    assert_eq!(entries(&folder), before + 4);
    assert_says(&folder.run(&["audit", "verify", "EV-SPRING"]).success(), &["EV-SPRING"]);
}

/// The last entry of the book.
fn last_entry(folder: &Folder, file: &str) -> Value {
    folder.run(&["audit", "export", "EV-SPRING", file]).success();
    let book = std::fs::read_to_string(folder.path(file)).expect("a book");
    serde_json::from_str(book.lines().last().expect("an entry")).expect("JSON")
}

#[test]
fn an_extension_counts_days_and_keeps_the_word_for_them_out_of_the_reason() {
    let folder = announced(&[]);
    let extend = |words: &[&str]| folder.run(&[&["event", "extend", "EV-SPRING"][..], words].concat());
    for words in [&["1", "week", "too", "few"][..], &["48", "hours too few"]] {
        assert_says(&extend(words).failure(1), &["An extension takes days, not hours, weeks or months."]);
    }
    assert_says(
        &extend(&["2", "days"]).failure(1),
        &["An extension needs a number of days, 1 to 366, and a"],
    );
    assert_eq!(entries(&folder), 1);
    extend(&["2", "days", "too", "few"]).success();
    assert_eq!(shown(&folder)["opens"], "2099-05-12T20:00:00Z");
    assert_eq!(last_entry(&folder, "first.jsonl")["cause"]["gm"]["reason"], "too few");
    extend(&["1", "day too few again"]).success();
    assert_eq!(last_entry(&folder, "second.jsonl")["cause"]["gm"]["reason"], "too few again");
}

#[test]
fn a_name_of_several_words_is_found_in_any_case_and_none_of_it_becomes_the_reason() {
    let folder = announced(&[]);
    folder.run(&["player", "add", "lukasz@players.example", "Łukasz Ćwik-Żółć"]).success();
    let before = entries(&folder);
    let enter = |words: &str| folder.run(&["event", "enter", "EV-SPRING", words]);
    assert_says(&enter("łukasz ćwik-żółć").failure(1), &["A reason is missing"]);
    assert_eq!(entries(&folder), before);
    enter("łukasz ćwik-żółć He asked me.").success();
    assert_eq!(last_entry(&folder, "book.jsonl")["cause"]["gm"]["reason"], "He asked me.");
}

#[test]
fn a_season_is_opened_decided_shown_as_csv_and_closed() {
    let folder = announced(&["ann", "bo", "cy"]);
    let follows = &["6 matches would open, and ", " letters would go out."];
    assert_says(&folder.run(&["event", "open", "EV-SPRING", "--check"]).success(), follows);
    folder.run(&["event", "open", "EV-SPRING"]).success();
    assert_says(&folder.run(&["event", "open", "EV-SPRING"]).failure(1), &["EV-SPRING runs already"]);
    folder.run(&["run", "--once"]).success();
    let matches: Vec<String> = serde_json::from_value(shown(&folder)["matches"].clone()).expect("names");
    assert_eq!(matches.len(), 6);
    let listed = folder.run(&["event", "show", "EV-SPRING"]).success();
    assert_says(&listed, &["season 1 ends", "6 of 6 matches without a result", "3 in; book sha256"]);
    assert_says(&listed, &["\nann (P-1)\n", "\nbo (P-2)\n", "\ncy (P-3)\n"]);
    assert!(matches.iter().all(|id| listed.contains(id.as_str())), "{listed}");
    let result = |id: &str| folder.run(&["event", "result", "EV-SPRING", id, "draw", "They agreed."]);
    assert_says(&result(&matches[0]).failure(1), &["runs. To close it", "`fogpost match abandon QD-"]);
    folder.run(&["match", "abandon", &matches[0]]).success();
    result(&matches[0]).success();
    assert_says(&result(&matches[0]).failure(1), &["It is corrected as a match"]);
    for id in &matches[1..] {
        folder.run(&["match", "forfeit", id, "second"]).success();
    }
    folder.run(&["event", "close", "EV-SPRING"]).success();
    folder.run(&["run", "--once"]).success();
    let table = folder.run(&["event", "standings", "EV-SPRING", "--csv"]).success();
    assert!(
        table.starts_with("section,place,number,player,points,direct,sonneborn-berger,wins\n"),
        "{table}"
    );
    assert_eq!(table.lines().count(), 4);
    let points = table.lines().skip(1).map(|line| line.split(',').nth(4).expect("points").parse::<f64>());
    assert_eq!(points.map(|points| points.expect("a number")).sum::<f64>(), 6.0);
    assert_says(&folder.run(&["event", "standings", "EV-SPRING", "--season", "1"]).success(), &["points"]);
    let rows = folder.run(&["event", "standings", "EV-SPRING", "--json"]).success();
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.iter().map(|row| row["points"].as_f64().expect("points")).sum::<f64>(), 6.0);
    assert_eq!(rows.len(), 3);
    assert!(rows[0]["section"] == 1 && rows[0]["place"] == 1, "{rows:?}");
    assert!(rows.iter().any(|row| row["player"] == "P-1" && row["name"] == "ann"), "{rows:?}");
    assert_says(
        &folder.run(&["event", "standings", "EV-SPRING", "--json", "--csv"]).failure(1),
        &["choose --csv or --json"],
    );
    folder.run(&["event", "standings", "EV-SPRING", "--season", "2"]).failure(1);
    assert_eq!(shown(&folder)["stage"], "over");
    assert_says(
        &folder.run(&["event", "close", "EV-SPRING"]).failure(1),
        &["EV-SPRING is over; nothing of it changes any more"],
    );
}

#[test]
fn an_event_is_cancelled_with_a_reason() {
    let folder = announced(&["ann", "bo", "cy"]);
    folder.run(&["event", "cancel", "EV-SPRING", "Too", "few.", "--check"]).success();
    assert_eq!(shown(&folder)["stage"], "entries");
    folder.run(&["event", "cancel", "EV-SPRING", "Too", "few."]).success();
    assert_eq!(shown(&folder)["stage"], "cancelled");
    assert_says(&folder.letters_to("ann@players.example"), &["has cancelled Spring League", "> Too few."]);
}

/// Imports a table of results.
fn import(folder: &Folder, table: &str) -> Ran {
    folder.write("results.csv", table);
    folder.run(&["event", "import", "EV-SPRING", "results.csv"])
}

/// The addresses of three entrants.
const ENTRANTS: [&str; 3] = ["ann@players.example", "bo@players.example", "cy@players.example"];

#[test]
fn results_that_cannot_be_taken_over_are_named_with_their_line() {
    let folder = announced(&[]);
    let [ann, bo, cy] = ENTRANTS;
    for (table, words) in [
        (
            "first,second,result\n".to_owned(),
            &["`section` is missing; the columns are section, first, second, result"][..],
        ),
        (
            format!("section,first,second,result\none,{ann},{bo},first\n"),
            &["line 2: the section `one` is not a number"],
        ),
        (
            format!("section,first,second,result\r\n1,{ann},{bo},first\r\none,{bo},{cy},draw\r\n"),
            &["line 3: the section `one` is not a number"],
        ),
        (
            format!("section,first,second,result\n1,{ann},{bo},won\n"),
            &["line 2: the result `won` must be first, second, draw or none"],
        ),
        (
            format!("section,first,second,result\n1,{ann},Zorro,first\n"),
            &["Line 2", "Nobody is called Zorro"],
        ),
        (
            format!("section,first,second,result\n1,{ann},{bo},first\n2,{ann},{cy},draw\n"),
            &["Each player is in one section"],
        ),
        (
            format!(
                "section,first,second,result\n1,{ann},{bo},first\n1,{ann},{bo},draw\n1,{bo},{ann},draw\n"
            ),
            &["Line 4", "this pair has all its results already"],
        ),
    ] {
        let ran = import(&folder, &table);
        assert_eq!(ran.status(), 1);
        assert_says(&ran.stderr(), words);
    }
    assert_eq!(shown(&folder)["stage"], "entries");
}

#[test]
fn results_are_read_as_spreadsheets_write_them() {
    let folder = announced(&[]);
    let [ann, bo, cy] = ENTRANTS;
    let plain = format!("section,first,second,result\n1,{ann},{bo},first\n1,{bo},{cy},\n");
    for table in [
        plain.replace(',', ";"),
        plain.replace(',', "\t"),
        format!("sep=;\r\n{}", plain.replace(',', ";").replace('\n', "\r\n")),
        format!(
            "\u{feff}first,second,\"Result\",section,,\n{ann},\"{bo}\",first,1.0,,\n,,,,,\n{bo},{cy},,1\n,,,\n\n"
        ),
        plain.replace(&format!("{cy},\n"), &format!("{cy}\n")),
        plain.replace(ann, "Ann Archer <ann@players.example>"),
    ] {
        folder.write("results.csv", &table);
        folder.run(&["event", "import", "EV-SPRING", "results.csv", "--check"]).success();
    }
    for (table, words) in [
        (
            format!("sep=;\n{}", plain.replace(',', ";").replace(";first\n", ";1-0\n")),
            &["line 3: the result `1-0`"][..],
        ),
        (
            plain.replace("first\n", "first,,,late\n"),
            &["line 2: it has more fields than the first line: `late`"],
        ),
        (",,,\n".to_owned(), &["line 1: the column `section` is missing"]),
    ] {
        let ran = import(&folder, &table);
        assert_eq!(ran.status(), 1);
        assert_says(&ran.stderr(), words);
    }
    std::fs::write(folder.path("results.csv"), b"section,first,second,result\n1,J\xf6rg,Bo,\n")
        .expect("written");
    let latin = folder.run(&["event", "import", "EV-SPRING", "results.csv"]).failure(1);
    assert_says(&latin, &["results.csv: line 2 is not UTF-8; please save it as UTF-8"]);
}

#[test]
fn a_league_that_was_begun_elsewhere_is_taken_over() {
    let folder = announced(&[]);
    let [ann, bo, cy] = ENTRANTS;
    import(
        &folder,
        &format!(
            "Section, First, Second, Result\n1, {ann}, {bo}, first\n1, {bo}, {cy}, draw\n1, {cy}, {ann},\n"
        ),
    )
    .success();
    folder.run(&["run", "--once"]).success();
    let after = shown(&folder);
    assert_eq!((&after["stage"], after["entrants"].as_array().map(Vec::len)), (&"running".into(), Some(3)));
    let opened = after["matches"].as_array().expect("a list").iter().filter(|id| id.is_string()).count();
    assert_eq!(opened, 4, "pairs with a result open no match");
    assert_says(&folder.run(&["event", "show", "EV-SPRING"]).success(), &["4 of 6 matches without a result"]);
    assert_says(&folder.run(&["event", "standings", "EV-SPRING", "--csv"]).success(), &["ann,1,"]);
    assert_says(
        &import(&folder, &format!("section,first,second,result\n1,{ann},{bo},first\n")).failure(1),
        &["first season"],
    );
    assert_says(&folder.run(&["audit", "verify", "EV-SPRING"]).success(), &["EV-SPRING"]);
}

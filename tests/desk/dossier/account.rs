//! The account of a match has a sentence for every fact, and for every known circumstance of a letter.

use std::collections::BTreeSet;

use fogpost::game::Seat;
use fogpost::ledger::{Cause, Fact, LetterCause};
use fogpost::letter::Digest;
use fogpost::report::Templates;
use minijinja::value::Serde;
use serde_json::{Value, json};
use strum::VariantNames as _;

/// The digest in the samples.
const DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A sample of each kind of fact, with its sentence.
const SENTENCES: &str = include_str!("facts.txt");

fn samples() -> Vec<(Value, &'static str)> {
    let lines: Vec<&str> = SENTENCES.lines().filter(|line| !line.is_empty()).collect();
    let read = |pair: &[&'static str]| {
        let fact = pair[0].replace("DIGEST", DIGEST);
        (serde_json::from_str(&fact).unwrap_or_else(|error| panic!("{fact}: {error}")), pair[1].trim())
    };
    lines.chunks(2).map(read).collect()
}

#[test]
fn every_kind_of_fact_is_worded() {
    let templates = Templates::of_program();
    let mut worded = BTreeSet::new();
    for (sample, sentence) in samples() {
        let fact: Fact =
            serde_json::from_value(sample.clone()).unwrap_or_else(|error| panic!("{sample}: {error}"));
        let context = json!({ "fact": fact, "names": { "first": "Ann", "second": "Bo" } });
        let says = templates.render("account/fact.txt", Serde(context)).expect("worded");
        assert_eq!(says.trim(), sentence, "{sample}");
        worded.insert(fact.kind());
    }
    let missing: Vec<_> = Fact::VARIANTS.iter().filter(|kind| !worded.contains(*kind)).collect();
    assert!(missing.is_empty() && worded.len() > 30, "no sample of {missing:?}");
}

/// Circumstances of letters, each with its sentences.
const CIRCUMSTANCES: &str = include_str!("circumstances.txt");

#[test]
fn every_circumstance_of_a_letter_is_worded() {
    let templates = Templates::of_program();
    let received = "2026-05-14T09:12:00Z".parse().expect("a time");
    let plain = LetterCause::new(Digest::of(b""), Seat::First, received);
    let mut worded = BTreeSet::new();
    for sample in CIRCUMSTANCES.split("\n{").filter(|sample| !sample.is_empty()) {
        let (changes, sentences) = sample.split_once('\n').expect("sentences");
        let changes = format!("{{{}", changes.trim_start_matches('{')).replace("DIGEST", DIGEST);
        let changes: serde_json::Map<String, Value> = serde_json::from_str(&changes).expect(&changes);
        let mut cause = json!(plain);
        worded.extend(changes.keys().cloned());
        cause.as_object_mut().expect("an object").extend(changes);
        let cause: LetterCause = serde_json::from_value(cause).expect("circumstances");
        let context = json!({
            "cause": Cause::<Box<LetterCause>>::Letter(Box::new(cause)),
            "names": { "first": "Ann", "second": "Bo" },
        });
        let says = templates.render("account/circumstances.txt", Serde(context)).expect("worded");
        let lines = |text: &str| -> Vec<String> {
            text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
        };
        assert_eq!(lines(&says), lines(sentences), "{sample}");
    }
    // All fields except those that every letter has.
    let source = include_str!("../../../crates/core/src/ledger/cause.rs");
    let (_, fields) = source.split_once("pub struct LetterCause {").expect("the fields");
    let fields = fields.lines().take_while(|line| *line != "}");
    let fields = fields.filter_map(|line| Some(line.trim().strip_prefix("pub ")?.split_once(':')?.0));
    let missing: Vec<&str> = fields
        .filter(|field| !["letter", "seat", "received"].contains(field) && !worded.contains(*field))
        .collect();
    assert!(missing.is_empty(), "no sample of {missing:?}");
}

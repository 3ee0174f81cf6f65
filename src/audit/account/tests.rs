use std::collections::BTreeSet;

use minijinja::value::Serde;
use serde_json::{Value, json};

use crate::ledger::Fact;
use crate::report::Templates;

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

/// The kinds of facts that the ledger knows.
fn kinds() -> BTreeSet<&'static str> {
    let source = include_str!("../../ledger/fact.rs");
    let (_, kinds) = source.split_once("pub fn kind(").expect("the kinds of facts");
    let kinds = kinds.lines().filter_map(|line| line.trim().strip_suffix("\",")?.split_once("=> \""));
    kinds.map(|(_, kind)| kind).collect()
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
    let missing: Vec<_> = kinds().into_iter().filter(|kind| !worded.contains(kind)).collect();
    assert!(missing.is_empty() && worded.len() > 30, "no sample of {missing:?}");
}

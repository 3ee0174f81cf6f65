//! Where an entry is not as it was made again, and in which of its fields.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Check;
use crate::audit::Place;
use crate::ledger::{ChainedEntry, Source};
use crate::referee::Ruling;

impl Check {
    /// Names the first entry that is not as it was made again.
    pub(super) fn name_difference(&mut self, ruling: &Ruling) {
        for ChainedEntry { entry, json: again, .. } in &ruling.entries {
            let Some(found) = self.waiting.pop_front() else {
                let what =
                    format!("it is missing: {} follows from {}", entry.fact.kind(), because(&entry.cause));
                return self.wrong(Place::Entry(entry.seq), what);
            };
            if *again != found.json {
                let (fields, cause) = (differing_json(again, &found.json), because(&found.link.cause));
                let what = format!("{fields} is not what follows from {cause}");
                return self.wrong(Place::Entry(entry.seq), what);
            }
        }
    }
}

/// What an entry's cause is, for people.
fn because(cause: &Source) -> String {
    match cause {
        Source::Letter(digest) => format!("letter {digest}"),
        Source::Clock => "the clock".to_owned(),
        Source::Gm { name, .. } => format!("what the GM {name} did"),
        Source::House { .. } => "what the referee did".to_owned(),
    }
}

/// The names of the fields in which two values differ.
pub(super) fn differing_json(one: &str, other: &str) -> String {
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let mut names = Vec::new();
    differing_fields("", &parse(one), &parse(other), &mut names);
    if names.is_empty() { "its form".to_owned() } else { names.join(", ") }
}

/// Fields are told two levels deep: `body.orders`.
fn differing_fields(prefix: &str, one: &Value, other: &Value, names: &mut Vec<String>) {
    let (Value::Object(one), Value::Object(other)) = (one, other) else { return };
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    for key in keys {
        let (ours, theirs) = (one.get(key), other.get(key));
        if ours == theirs {
            continue;
        }
        let before = names.len();
        if let (Some(ours), Some(theirs), true) = (ours, theirs, prefix.is_empty()) {
            differing_fields(&format!("{key}."), ours, theirs, names);
        }
        if names.len() == before {
            names.push(format!("{prefix}{key}"));
        }
    }
}

//! Names the first entry that differs from the repeated ruling, and the differing fields.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use super::reader::PendingEntry;
use crate::audit::verdict::{Finding, Place};
use crate::ledger::{Cause, ChainedEntry};
use crate::referee::Ruling;

/// Returns the first pending entry that differs from those of the repeated ruling, and removes the ones
/// before it.
pub(super) fn first(pending: &mut VecDeque<PendingEntry>, ruling: &Ruling) -> Option<Finding> {
    let cause = ruling.entries.first().and_then(|first| first.entry.own_cause());
    let cause = cause.map(describe).unwrap_or_default();
    for ChainedEntry { entry, json: repeated, .. } in &ruling.entries {
        let place = Place::Entry(entry.seq);
        let Some(found) = pending.pop_front() else {
            let what = format!("it is missing: {} should follow from {cause}", entry.fact.kind());
            return Some(Finding { place, what });
        };
        if *repeated != found.json {
            let fields = differing_json(repeated, &found.json);
            let what = format!("the repeated ruling on {cause} differs in {fields}");
            return Some(Finding { place, what });
        }
    }
    None
}

/// Describes a cause for people.
fn describe(cause: &Cause) -> String {
    match cause {
        Cause::Letter(cause) => format!("letter {}", cause.letter),
        Cause::Clock { .. } => "the clock".to_owned(),
        Cause::Gm { name, .. } => format!("an act of the GM {name}"),
        Cause::House { .. } => "a turn of the house".to_owned(),
        Cause::Program { .. } => "an act of the referee".to_owned(),
    }
}

/// Returns the names of the fields in which two JSON texts differ.
pub(super) fn differing_json(one: &str, other: &str) -> String {
    let one: Value = serde_json::from_str(one).unwrap_or_default();
    let other: Value = serde_json::from_str(other).unwrap_or_default();
    let mut names = Vec::new();
    differing_fields("", &one, &other, &mut names);
    if names.is_empty() { "its form".to_owned() } else { names.join(", ") }
}

/// Collects the names of differing fields, two levels deep: `body.orders`.
fn differing_fields(prefix: &str, one: &Value, other: &Value, names: &mut Vec<String>) {
    let (Value::Object(one), Value::Object(other)) = (one, other) else { return };
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    for key in keys {
        if one.get(key) == other.get(key) {
            continue;
        }
        let before = names.len();
        if let (Some(one), Some(other), true) = (one.get(key), other.get(key), prefix.is_empty()) {
            differing_fields(&format!("{key}."), one, other, names);
        }
        if names.len() == before {
            names.push(format!("{prefix}{key}"));
        }
    }
}

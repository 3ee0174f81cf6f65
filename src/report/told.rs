//! What a template is told, as it asks for it: what a seat sees is made once, and only if the template asks.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use minijinja::Value;
use minijinja::value::{Enumerator, Object, Serde};
use serde_json::Map;

use crate::game::Seat;
use crate::game::any::AnyState;

/// Fields by name; where a seat sees a state, `view` and `extra` besides.
#[derive(Clone, Debug)]
pub struct Told {
    fields: BTreeMap<String, Value>,
    seen: Option<Arc<Seen>>,
}

/// A state as a seat sees it.
#[derive(Debug)]
pub struct Seen {
    state: AnyState,
    seat: Seat,
    view: OnceLock<Value>,
    extra: OnceLock<Value>,
}

impl Seen {
    pub fn new(state: &AnyState, seat: Seat) -> Arc<Seen> {
        Arc::new(Seen { state: state.clone(), seat, view: OnceLock::new(), extra: OnceLock::new() })
    }

    pub fn is_of(&self, state: &AnyState) -> bool {
        self.state == *state
    }
}

impl Told {
    pub fn new(fields: Map<String, serde_json::Value>, seen: Option<Arc<Seen>>) -> Told {
        Told {
            fields: fields.into_iter().map(|(name, value)| (name, Value::from(Serde(value)))).collect(),
            seen,
        }
    }

    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }
}

impl From<Told> for Value {
    fn from(told: Told) -> Value {
        Value::from_object(told)
    }
}

impl Object for Told {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        match (&self.seen, key) {
            (Some(seen), "view") => {
                Some(seen.view.get_or_init(|| Value::from(Serde(seen.state.view(seen.seat)))))
            }
            (Some(seen), "extra") => {
                Some(seen.extra.get_or_init(|| Value::from(Serde(seen.state.extra(seen.seat)))))
            }
            _ => self.fields.get(key),
        }
        .cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let seen = self.seen.iter().flat_map(|_| ["view", "extra"]).map(Value::from);
        Enumerator::Values(self.fields.keys().map(Value::from).chain(seen).collect())
    }
}

//! What a template is told, as it asks for it: what a seat sees is made once, and only if the template asks.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use minijinja::Value;
use minijinja::value::{Enumerator, Object, Serde};
use serde_json::Map;

use crate::game::Seat;
use crate::game::any::AnyState;

/// Fields by name; where a seat sees a state, `view` and `extra` besides. Copies share what was made.
#[derive(Clone, Debug)]
pub struct Told {
    fields: Arc<BTreeMap<String, Field>>,
    /// Those set one by one, which count before the others.
    set: Vec<(&'static str, Value)>,
    seen: Option<Arc<Seen>>,
}

#[derive(Debug)]
struct Field {
    told: serde_json::Value,
    value: OnceLock<Value>,
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
        let field = |told| Field { told, value: OnceLock::new() };
        let fields = fields.into_iter().map(|(name, told)| (name, field(told))).collect();
        Told { fields: Arc::new(fields), set: Vec::new(), seen }
    }

    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        self.set.retain(|(known, _)| *known != name);
        self.set.push((name, value.into()));
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
            _ => match self.set.iter().find(|(name, _)| *name == key) {
                Some((_, value)) => Some(value),
                None => self
                    .fields
                    .get(key)
                    .map(|field| field.value.get_or_init(|| Value::from(Serde(&field.told)))),
            },
        }
        .cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let seen = self.seen.iter().flat_map(|_| ["view", "extra"]).map(Value::from);
        let set = self.set.iter().map(|(name, _)| Value::from(*name));
        let fields = self.fields.keys().filter(|name| self.set.iter().all(|(set, _)| set != name));
        Enumerator::Values(fields.map(Value::from).chain(set).chain(seen).collect())
    }
}

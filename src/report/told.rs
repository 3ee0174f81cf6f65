//! What a template is told, as it asks for it: what a seat sees is made once, and only if the template asks.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use minijinja::Value;
use minijinja::value::{Enumerator, Object, Serde};

use crate::game::Seat;
use crate::game::any::AnyState;

/// Fields by name, of which the last of a name counts; where a seat sees a state, `view` and `extra` besides. Copies
/// share what was made.
#[derive(Clone, Debug)]
pub struct Told {
    fields: Arc<Vec<(Cow<'static, str>, Field)>>,
    seen: Option<Arc<Seen>>,
}

#[derive(Clone, Debug)]
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
    pub fn new(seen: Option<Arc<Seen>>) -> Told {
        Told { fields: Arc::default(), seen }
    }

    pub fn with<N: Into<Cow<'static, str>>>(
        mut self,
        fields: impl IntoIterator<Item = (N, serde_json::Value)>,
    ) -> Told {
        let field = |told| Field { told, value: OnceLock::new() };
        let fields = fields.into_iter().map(|(name, told)| (name.into(), field(told)));
        Arc::make_mut(&mut self.fields).extend(fields);
        self
    }

    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        let field = Field { told: serde_json::Value::Null, value: OnceLock::from(value.into()) };
        Arc::make_mut(&mut self.fields).push((name.into(), field));
    }

    fn field(&self, name: &str) -> Option<&Value> {
        let (_, field) = self.fields.iter().rev().find(|(known, _)| known == name)?;
        Some(field.value.get_or_init(|| Value::from(Serde(&field.told))))
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
            _ => self.field(key),
        }
        .cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let seen = self.seen.iter().flat_map(|_| ["view", "extra"]);
        let names: BTreeSet<&str> = self.fields.iter().map(|(name, _)| &**name).chain(seen).collect();
        Enumerator::Values(names.into_iter().map(Value::from).collect())
    }
}

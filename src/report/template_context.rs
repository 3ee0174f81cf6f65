//! What a template is told, as it asks for it: a field is made once, and only if the template asks.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};
use minijinja::Value;
use minijinja::value::{Enumerator, Object, Serde};

use crate::game::Seat;
use crate::game::any::AnyState;
use crate::referee::Match;

/// Fields by name, of which the last of a name counts; where a seat sees a state, `view` and `extra` besides. Copies
/// share what was made.
#[derive(Clone, Debug)]
pub struct TemplateContext {
    fields: Arc<Vec<(Cow<'static, str>, Field)>>,
    seen: Option<Arc<LazyView>>,
}

#[derive(Clone, Debug)]
enum Field {
    Made(Value),
    Asked { about: Arc<FieldSource>, tell: ComputeField, made: OnceLock<Value> },
}

/// How a field of a letter about a match is made.
pub type ComputeField = fn(&FieldSource) -> Value;

/// What a letter about a match is told from.
#[derive(Debug)]
pub struct FieldSource {
    pub club_name: String,
    pub club_address: String,
    pub game_match: Arc<Match>,
    /// Whom it goes to, unless that is nobody who holds a seat.
    pub seat: Option<Seat>,
    pub token: String,
    pub at: DateTime<Utc>,
}

/// A state as a seat sees it.
#[derive(Debug)]
pub struct LazyView {
    state: AnyState,
    seat: Seat,
    view: OnceLock<Value>,
    extra: OnceLock<Value>,
}

impl LazyView {
    pub fn new(state: &AnyState, seat: Seat) -> Arc<LazyView> {
        Arc::new(LazyView { state: state.clone(), seat, view: OnceLock::new(), extra: OnceLock::new() })
    }

    pub fn is_of(&self, state: &AnyState) -> bool {
        self.state == *state
    }
}

impl TemplateContext {
    pub fn new(seen: Option<Arc<LazyView>>) -> TemplateContext {
        TemplateContext { fields: Arc::default(), seen }
    }

    pub fn with<N: Into<Cow<'static, str>>>(
        mut self,
        fields: impl IntoIterator<Item = (N, Value)>,
    ) -> TemplateContext {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), Field::Made(value)));
        Arc::make_mut(&mut self.fields).extend(fields);
        self
    }

    /// Fields that are made of `about` when they are asked for.
    pub fn about(
        mut self,
        about: FieldSource,
        fields: impl IntoIterator<Item = (&'static str, ComputeField)>,
    ) -> TemplateContext {
        let about = Arc::new(about);
        let field = |tell| Field::Asked { about: Arc::clone(&about), tell, made: OnceLock::new() };
        let fields = fields.into_iter().map(|(name, tell)| (name.into(), field(tell)));
        Arc::make_mut(&mut self.fields).extend(fields);
        self
    }

    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        Arc::make_mut(&mut self.fields).push((name.into(), Field::Made(value.into())));
    }

    fn field(&self, name: &str) -> Option<&Value> {
        let (_, field) = self.fields.iter().rev().find(|(known, _)| known == name)?;
        Some(match field {
            Field::Made(value) => value,
            Field::Asked { about, tell, made } => made.get_or_init(|| tell(about)),
        })
    }
}

impl From<TemplateContext> for Value {
    fn from(told: TemplateContext) -> Value {
        Value::from_object(told)
    }
}

impl Object for TemplateContext {
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

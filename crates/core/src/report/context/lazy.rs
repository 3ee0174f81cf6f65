//! The context of a template, which computes a field when the template first uses it.
//!
//! A receipt uses few of the fields that describe a match, and some of them, such as a view, are expensive.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};
use minijinja::Value;
use minijinja::value::{Enumerator, Object, Serde};

use crate::game::Seat;
use crate::game::any::{AnyState, Filing, Memories, OwnPart, ShownView};
use crate::referee::{Adjudication, Match};

/// Fields by name. A later field replaces an earlier one of the same name.
///
/// With a view, there are also `view` and `extra`, which cannot be replaced. Clones share computed values.
#[derive(Clone, Debug)]
pub struct TemplateContext {
    fields: Arc<Vec<(Cow<'static, str>, Field)>>,
    view: Option<Arc<LazyView>>,
}

#[derive(Clone, Debug)]
enum Field {
    Value(Value),
    Lazy { source: Arc<FieldSource>, compute: ComputeField, value: OnceLock<Value> },
}

/// Computes a field of a letter about a match.
pub type ComputeField = fn(&FieldSource) -> Value;

/// The values from which the fields of a letter about a match are computed.
#[derive(Debug)]
pub struct FieldSource {
    pub club_name: String,
    pub club_address: String,
    pub game_match: Arc<Match>,
    /// The recipient's seat; `None` for the GM and for a player who has left a seat.
    pub seat: Option<Seat>,
    pub token: String,
    pub at: DateTime<Utc>,
}

/// A seat's view of a state, and the values that the game adds for its templates.
#[derive(Debug)]
pub struct LazyView {
    state: AnyState,
    seat: Seat,
    memories: Option<Memories>,
    /// The previous state, and the seat's filing in it, if the view shows the seat's actions.
    own: Option<(AnyState, Option<Filing>)>,
    view: OnceLock<Value>,
    extra: OnceLock<Value>,
}

impl LazyView {
    /// Returns the view of a match's present state.
    pub fn of_match(game_match: &Match, seat: Seat) -> Arc<LazyView> {
        LazyView::new(game_match.state.clone(), seat, game_match.memories.clone(), None)
    }

    /// Returns the view after an adjudication.
    pub fn after(step: &Adjudication, seat: Seat, memories: Option<&Memories>) -> Arc<LazyView> {
        let own = (step.before.clone(), step.filings[seat].clone());
        LazyView::new(step.state.clone(), seat, memories.cloned(), Some(own))
    }

    /// Returns the view of a position.
    pub fn of_position(state: &AnyState, seat: Seat, memories: &Memories) -> Arc<LazyView> {
        LazyView::new(state.clone(), seat, Some(memories.clone()), None)
    }

    fn new(
        state: AnyState,
        seat: Seat,
        memories: Option<Memories>,
        own: Option<(AnyState, Option<Filing>)>,
    ) -> Arc<LazyView> {
        Arc::new(LazyView { state, seat, memories, own, view: OnceLock::new(), extra: OnceLock::new() })
    }

    pub fn is_of(&self, state: &AnyState) -> bool {
        self.state == *state
    }

    fn view(&self) -> &Value {
        self.view.get_or_init(|| {
            let own = self.own.as_ref().map(|(before, filed)| OwnPart { before, filed: filed.as_ref() });
            let memories = self.memories.as_ref();
            Value::from(Serde(ShownView { state: &self.state, viewer: self.seat, memories, own }))
        })
    }

    fn extra(&self) -> &Value {
        self.extra.get_or_init(|| Value::from(Serde(self.state.extra(self.seat))))
    }
}

impl TemplateContext {
    pub fn new(view: Option<Arc<LazyView>>) -> TemplateContext {
        TemplateContext { fields: Arc::default(), view }
    }

    /// Adds fields whose values are known.
    pub fn with<N: Into<Cow<'static, str>>>(
        mut self,
        fields: impl IntoIterator<Item = (N, Value)>,
    ) -> TemplateContext {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), Field::Value(value)));
        Arc::make_mut(&mut self.fields).extend(fields);
        self
    }

    /// Adds fields that are computed from `source` on first use.
    pub fn with_lazy(
        mut self,
        source: FieldSource,
        fields: impl IntoIterator<Item = (&'static str, ComputeField)>,
    ) -> TemplateContext {
        let source = Arc::new(source);
        let fields = fields.into_iter().map(|(name, compute)| {
            let source = Arc::clone(&source);
            (name.into(), Field::Lazy { source, compute, value: OnceLock::new() })
        });
        Arc::make_mut(&mut self.fields).extend(fields);
        self
    }

    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        Arc::make_mut(&mut self.fields).push((name.into(), Field::Value(value.into())));
    }

    fn field(&self, name: &str) -> Option<&Value> {
        let (_, field) = self.fields.iter().rev().find(|(known, _)| known == name)?;
        Some(match field {
            Field::Value(value) => value,
            Field::Lazy { source, compute, value } => value.get_or_init(|| compute(source)),
        })
    }
}

impl From<TemplateContext> for Value {
    fn from(context: TemplateContext) -> Value {
        Value::from_object(context)
    }
}

impl Object for TemplateContext {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        match (&self.view, key) {
            (Some(view), "view") => Some(view.view().clone()),
            (Some(view), "extra") => Some(view.extra().clone()),
            _ => self.field(key).cloned(),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let mut names: BTreeSet<&str> = self.fields.iter().map(|(name, _)| &**name).collect();
        if self.view.is_some() {
            names.extend(["view", "extra"]);
        }
        Enumerator::Values(names.into_iter().map(Value::from).collect())
    }
}

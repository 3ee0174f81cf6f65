//! The context of the manual's pages about games: their options, and the levels of the house.

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::templates::TOPICS;
use crate::game::any::GameKind;
use crate::game::{HouseLevel, OptionRule};
use crate::referee::Reply;

/// What the manual's pages need: every game with its options, if one of `replies` is such a page.
pub fn manual(replies: &[Reply]) -> Value {
    let has_page = replies
        .iter()
        .any(|reply| matches!(reply, Reply::Games { .. } | Reply::Help { .. } | Reply::Rules { .. }));
    let games: Vec<Value> =
        if has_page { GameKind::ALL.iter().copied().map(game).collect() } else { Vec::new() };
    context! { games => games, topics => TOPICS }
}

fn game(kind: GameKind) -> Value {
    let options: Vec<Value> = kind.option_rules().iter().map(option).collect();
    let levels: Vec<Value> = kind.levels().iter().map(level).collect();
    context! {
        key => kind.key(), name => kind.name(), sides => Serde(kind.sides()), options => options, levels => levels,
    }
}

fn option(rule: &OptionRule) -> Value {
    let values = rule.values.to_string();
    context! { name => rule.name, values => values, default => rule.default, says => rule.says }
}

fn level(level: &HouseLevel) -> Value {
    context! { name => level.name, says => level.says }
}

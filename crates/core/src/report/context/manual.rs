//! Builds the context of the manual's pages.

use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::game::OptionRule;
use crate::game::any::GameKind;
use crate::house::{self, HouseLevel};
use crate::referee::{HouseDefaults, Reply};
use crate::report::topics;

/// Returns the context of the manual's pages: every game with its options, if one of `replies` is such a
/// page. The club's defaults for matches against the house are always included, because strangers read about
/// them without asking.
pub fn manual(replies: &[Reply], house: HouseDefaults) -> Value {
    let has_page = replies
        .iter()
        .any(|reply| matches!(reply, Reply::Games { .. } | Reply::Help { .. } | Reply::Rules { .. }));
    let kinds = if has_page { GameKind::ALL } else { &[] };
    let games: Vec<Value> = kinds.iter().map(|kind| game(*kind, house)).collect();
    context! { games => games, topics => topics().collect::<Value>(), house => Serde(house) }
}

fn game(kind: GameKind, house: HouseDefaults) -> Value {
    let options: Vec<Value> = kind.option_rules().iter().map(option).collect();
    let levels: Vec<Value> = house::levels(kind).iter().map(level).collect();
    context! {
        key => kind.key(),
        name => kind.name(),
        sides => Serde(kind.sides()),
        options => options,
        levels => levels,
        default_level => house.level_in(kind).map(|level| level.name),
    }
}

fn option(rule: &OptionRule) -> Value {
    let values = rule.values.to_string();
    context! { name => rule.name, values => values, default => rule.default, says => rule.says }
}

fn level(level: &HouseLevel) -> Value {
    context! { name => level.name, says => level.says }
}

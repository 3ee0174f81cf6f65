//! The options of a game: which there are, and those chosen for one match.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One option of a game: its name, the values it takes and what it does.
#[derive(Clone, Copy, Debug)]
pub struct OptionRule {
    pub name: &'static str,
    pub values: Values,
    pub default: &'static str,
    /// What the option decides, in a few words, for `games` and GAMES.
    pub says: &'static str,
}

/// The values that an option takes.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    OneOf(&'static [&'static str]),
    /// A whole number from 1 to 999.
    Limit,
    /// Text that the game itself reads; the words say what it must look like.
    Text(&'static str),
}

/// A set of chosen options. `Default` gives the game's defaults.
pub trait Options: Clone + Debug + Default + PartialEq + Serialize + DeserializeOwned {
    const RULES: &'static [OptionRule];

    /// Sets the option `name`, one of [`Options::RULES`]; `value` fits its [`Values`] unless they are `Text`.
    ///
    /// # Errors
    /// A sentence that says what a `Text` value must look like.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String>;

    /// The value in force of the option `name`, as it would be written.
    fn get(&self, name: &str) -> String;

    /// All options with the values in force.
    fn in_force(&self) -> BTreeMap<&'static str, String> {
        Self::RULES.iter().map(|rule| (rule.name, self.get(rule.name))).collect()
    }
}

impl Values {
    /// The value as the game writes it.
    fn read(&self, value: &str) -> Result<String, String> {
        match self {
            Values::OneOf(values) => {
                let found = values.iter().find(|known| known.eq_ignore_ascii_case(value));
                found.map(|known| (*known).to_owned()).ok_or_else(|| values.join(" or "))
            }
            Values::Limit => match value.parse::<u32>() {
                Ok(limit @ 1..=999) => Ok(limit.to_string()),
                _ => Err("a whole number from 1 to 999".to_owned()),
            },
            Values::Text(_) => Ok(value.to_owned()),
        }
    }
}

impl Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Values::OneOf(values) => f.write_str(&values.join(" | ")),
            Values::Limit => f.write_str("1 to 999"),
            Values::Text(words) => f.write_str(words),
        }
    }
}

/// Options chosen for one match, by name: only those that differ from the game's defaults.
///
/// Those of [`GameKind::choose`](super::any::Kind::choose) are known and have values that the game takes; those that were
/// read from a file may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Choices(BTreeMap<String, String>);

impl Choices {
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks options of the game called `game` by name and value.
    ///
    /// # Errors
    /// A sentence that names the option and what would do.
    pub(super) fn choose<O: Options>(game: &str, wanted: &[(&str, &str)]) -> Result<Choices, String> {
        let mut chosen = O::default();
        let mut given = Vec::new();
        for (name, value) in wanted {
            let name = name.to_ascii_lowercase();
            let Some(rule) = O::RULES.iter().find(|rule| rule.name == name) else {
                let known: Vec<_> = O::RULES.iter().map(|rule| rule.name).collect();
                return Err(format!("{game} has no option `{name}`; it has {}", known.join(", ")));
            };
            let value = rule
                .values
                .read(value)
                .map_err(|would_do| format!("option `{name}` cannot be `{value}`; it takes {would_do}"))?;
            if given.contains(&name) {
                return Err(format!("option `{name}` is given twice"));
            }
            chosen.set(&name, &value)?;
            given.push(name);
        }
        let default = O::default();
        let differing = O::RULES.iter().map(|rule| rule.name);
        let differing = differing.filter(|name| chosen.get(name) != default.get(name));
        Ok(Choices(differing.map(|name| (name.to_owned(), chosen.get(name))).collect()))
    }

    /// All options of a game under these.
    pub(super) fn all<O: Options>(&self) -> O {
        let mut options = O::default();
        for (name, value) in self.iter() {
            options.set(name, value).expect("Kind::choose has tried every value");
        }
        options
    }

    /// All options that these rules name, with the values in force.
    pub(super) fn in_force(&self, rules: &[OptionRule]) -> BTreeMap<&'static str, String> {
        let value = |rule: &OptionRule| self.0.get(rule.name).cloned().unwrap_or(rule.default.to_owned());
        rules.iter().map(|rule| (rule.name, value(rule))).collect()
    }
}

impl Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

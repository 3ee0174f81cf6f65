//! The options of a game, and the choices for a match.
//!
//! Enums whose variants have names. Each name is written once, beside its variant.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// An option of a game: its name, the values it takes and what it does.
#[derive(Clone, Copy, Debug)]
pub struct OptionRule {
    pub name: &'static str,
    pub values: Values,
    pub default: &'static str,
    /// A few words about what the option decides, for `games` and GAMES.
    pub says: &'static str,
}

/// The values that an option takes.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    OneOf(&'static [&'static str]),
    /// A whole number from 1 to 999.
    Limit,
    /// Text that the game itself parses, with a description of it.
    Text(&'static str),
}

/// A set of chosen options, declared with `options!`. `Default` returns the game's defaults.
pub trait Options: Clone + Debug + Default + PartialEq + Serialize + DeserializeOwned {
    const RULES: &'static [OptionRule];

    /// Sets an option by its name in [`Options::RULES`].
    ///
    /// # Errors
    /// Returns a sentence if the name is unknown, or if the value is invalid, in which case it says what
    /// values are valid.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String>;

    /// Returns the value of an option as text; empty for an unknown name.
    fn get(&self, name: &str) -> String;

    /// Returns all options with the values in force.
    fn in_force(&self) -> BTreeMap<&'static str, String> {
        Self::RULES.iter().map(|rule| (rule.name, self.get(rule.name))).collect()
    }
}

/// A type of option values: how to parse and write them, and which ones there are.
pub(super) trait OptionValue: Sized {
    const VALUES: Values;

    /// # Errors
    /// Returns a sentence that says what the value must look like if it is invalid.
    fn parse_value(text: &str) -> Result<Self, String>;

    fn to_text(&self) -> String;
}

/// Declares the options of a game: each one's field, type, default and description, in one place.
///
/// The name of an option is the name of its field. The default is text, parsed like a chosen value.
macro_rules! options {
    (
        $(#[$meta:meta])*
        $vis:vis struct $options:ident {
            $(
                $(#[$field_meta:meta])*
                $field_vis:vis $field:ident: $type:ty = $default:expr, $says:literal;
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $vis struct $options { $($(#[$field_meta])* $field_vis $field: $type),+ }

        impl Default for $options {
            fn default() -> Self {
                use $crate::game::options::OptionValue;
                $options {
                    $($field: <$type>::parse_value($default).expect("a default is one of the values")),+
                }
            }
        }

        impl $crate::game::Options for $options {
            const RULES: &'static [$crate::game::OptionRule] = &[$($crate::game::OptionRule {
                name: stringify!($field),
                values: <$type as $crate::game::options::OptionValue>::VALUES,
                default: $default,
                says: $says,
            }),+];

            fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
                use $crate::game::options::OptionValue;
                match name {
                    $(_ if name == stringify!($field) => self.$field = <$type>::parse_value(value)?,)+
                    _ => return Err(format!("There is no option {name}.")),
                }
                Ok(())
            }

            fn get(&self, name: &str) -> String {
                use $crate::game::options::OptionValue;
                match name {
                    $(_ if name == stringify!($field) => self.$field.to_text(),)+
                    _ => String::new(),
                }
            }
        }
    };
}

/// Makes an enum of named values the type of an option.
macro_rules! named_option {
    ($type:ty) => {
        impl $crate::game::options::OptionValue for $type {
            const VALUES: $crate::game::Values = $crate::game::Values::OneOf(<$type>::NAMES);

            fn parse_value(text: &str) -> Result<Self, String> {
                <$type>::parse(text).ok_or_else(|| format!("It is {}.", <$type>::NAMES.join(" or ")))
            }

            fn to_text(&self) -> String {
                self.as_str().to_owned()
            }
        }
    };
}

pub(super) use {named_option, options};

/// A switch, written `on` or `off`. In JSON it is a boolean, as snapshots have always held it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Switch(bool);

impl Switch {
    pub fn is_on(self) -> bool {
        self.0
    }
}

impl OptionValue for Switch {
    const VALUES: Values = Values::OneOf(&["off", "on"]);

    fn parse_value(text: &str) -> Result<Self, String> {
        match text {
            "on" => Ok(Switch(true)),
            "off" => Ok(Switch(false)),
            _ => Err("It is off or on.".to_owned()),
        }
    }

    fn to_text(&self) -> String {
        if self.0 { "on" } else { "off" }.to_owned()
    }
}

impl OptionValue for bool {
    const VALUES: Values = Values::OneOf(&["true", "false"]);

    fn parse_value(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| "It is true or false.".to_owned())
    }

    fn to_text(&self) -> String {
        self.to_string()
    }
}

impl OptionValue for u32 {
    const VALUES: Values = Values::Limit;

    fn parse_value(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| "It is a whole number from 1 to 999.".to_owned())
    }

    fn to_text(&self) -> String {
        self.to_string()
    }
}

impl Values {
    /// Returns the value in the spelling of the game.
    ///
    /// # Errors
    /// Returns the valid values, in words, if `value` is not one of them.
    fn spelled(&self, value: &str) -> Result<String, String> {
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

/// Options chosen for a match, by name: only those that differ from the game's defaults.
///
/// [`GameKind::choose`](super::any::GameKind::choose) returns known options with legal values. Choices that
/// were deserialized may hold anything.
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
    /// Returns a sentence that names the option if it is unknown, given twice, or has a bad value.
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
                .spelled(value)
                .map_err(|would_do| format!("option `{name}` cannot be `{value}`; it takes {would_do}"))?;
            if given.contains(&name) {
                return Err(format!("option `{name}` is given twice"));
            }
            chosen.set(&name, &value)?;
            given.push(name);
        }
        let chosen = chosen.in_force();
        let default = O::default().in_force();
        let differing = chosen.into_iter().filter(|(name, value)| default.get(name) != Some(value));
        Ok(Choices(differing.map(|(name, value)| (name.to_owned(), value)).collect()))
    }

    /// Returns the options of a match with these choices.
    pub(super) fn options<O: Options>(&self) -> O {
        let mut options = O::default();
        for (name, value) in self.iter() {
            options.set(name, value).expect("GameKind::choose has tried every value");
        }
        options
    }

    /// Returns all options that these rules name, with the values in force.
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

/// Declares an enum of named values. The names are what JSON, records, letters and the command line use.
///
/// Generates `ALL`, `NAMES`, `as_str`, `parse` (ignoring case), `Display`, `Serialize` and `Deserialize`.
#[doc(hidden)]
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { $($(#[$variant_meta])* $variant),+ }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The names of [`Self::ALL`].
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            /// Returns the variant of this name, ignoring case.
            pub fn parse(text: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|variant| text.eq_ignore_ascii_case(variant.as_str()))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::internal::serde::Serialize for $name {
            fn serialize<S: $crate::internal::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::internal::serde::Deserialize<'de> for $name {
            /// Accepts only the exact name, because that is what the program serializes.
            fn deserialize<D: $crate::internal::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as $crate::internal::serde::Deserialize>::deserialize(deserializer)?;
                let found = Self::ALL.iter().copied().find(|variant| variant.as_str() == text);
                found.ok_or_else(|| $crate::internal::serde::de::Error::unknown_variant(&text, Self::NAMES))
            }
        }
    };
}

pub use named_enum;

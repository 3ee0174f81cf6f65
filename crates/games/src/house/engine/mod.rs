//! The computer player of any game: its levels, its input, and the parts that the games share.
//!
//! The house knows what a player in its seat knows: what the seat was told and what it filed. [`House::play`]
//! takes no state, so the house cannot look at what the rules hide.

use crate::game::{Dice, Seen, named_enum};

pub(in crate::house) mod mixture;
pub(in crate::house) mod root;
pub(in crate::house) mod table;

/// The computer player of a game.
#[derive(Clone, Copy, Debug)]
pub struct House<V, O> {
    /// Rises with every change that can alter a turn, because an audit can derive a turn again only with the
    /// version that played it.
    pub version: u32,
    /// The levels at which it plays, the weakest first.
    pub levels: &'static [HouseLevel],
    /// Chooses legal orders for a seat that owes some. The same arguments give the same orders: it reads no
    /// clock, limits its search by the number of positions, and calculates in integers. It may take a second.
    pub play: fn(&Seen<V, O>, &HouseLevel, Dice) -> Chosen<O>,
    /// Plays the highest level with another insight, to measure how much its own is worth; never used in a
    /// match. `None` for a game that hides nothing.
    pub with_insight: Option<WithInsight<V, O>>,
}

/// Chooses orders as [`House::play`] does at the highest level, but with another insight.
pub type WithInsight<V, O> = fn(&Seen<V, O>, Insight<'_, V>, Dice) -> Chosen<O>;

/// The source of the house's guesses about hidden things.
#[derive(Clone, Copy, Debug)]
pub enum Insight<'a, V> {
    /// Everything that its seat was told, as in every match.
    Told,
    /// Setups that the enemy may have filed, and no news of its ships since, except its captures (Quadrant Z)
    /// and the number of its submarines (Pacific).
    Blind,
    /// The truth: a view of the same turn that hides nothing.
    Open(&'a V),
}

/// A turn that the house chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen<O> {
    pub orders: Vec<O>,
    /// The number of positions searched, for measurements.
    pub positions: u64,
}

/// A level at which the house plays a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HouseLevel {
    /// One lower-case word.
    pub name: &'static str,
    /// Other names that players may write.
    pub aliases: &'static [&'static str],
    /// A few words about its play, for `games` and GAMES.
    pub says: &'static str,
    /// Options, by name and value, of a match at this level unless others are chosen.
    pub options: &'static [(&'static str, &'static str)],
}

impl HouseLevel {
    /// The name shown in place of a player's.
    pub fn player_name(&self) -> String {
        format!("the house ({})", self.name)
    }

    /// Whether the level goes by this name, ignoring case.
    pub fn is_called(&self, name: &str) -> bool {
        std::iter::once(&self.name).chain(self.aliases).any(|own| own.eq_ignore_ascii_case(name))
    }
}

named_enum! {
    /// The playing strength of the house. The games share these levels; each describes its own play at them.
    pub enum Level {
        Trainer = "trainer",
        Easy = "easy",
        Average = "average",
        Expert = "expert",
    }
}

impl Level {
    /// Describes the level in one game; see the fields of [`HouseLevel`].
    pub(in crate::house) const fn described(
        self,
        says: &'static str,
        options: &'static [(&'static str, &'static str)],
    ) -> HouseLevel {
        let aliases: &[&str] = match self {
            Level::Trainer | Level::Easy => &[],
            Level::Average => &["medium"],
            Level::Expert => &["hard"],
        };
        HouseLevel { name: self.as_str(), aliases, says, options }
    }

    /// Returns the level that [`Level::described`] describes.
    pub(in crate::house) fn of(level: &HouseLevel) -> Level {
        Level::parse(level.name).expect("every house describes these levels")
    }
}

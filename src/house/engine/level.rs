//! The levels that the houses of the games share. Each game describes its own play at them.

use super::HouseLevel;
use crate::game::names::named_enum;

named_enum! {
    /// The playing strength of the house.
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

//! The options of a match of War in the Pacific.

use serde::{Deserialize, Serialize};

use crate::game::Values;
use crate::game::names::named_enum;
use crate::game::options::{OptionValue, named_option, options};

options! {
    pub struct Options {
        /// The destroyers in a side's basic fleet (P-COUNT).
        pub destroyers: Destroyers = "7", "how many destroyers the basic fleet has";
        /// Whether there are submarines, their phase, and attacks on them (1.5).
        pub submarines: bool = "true", "whether each side has five hidden submarines";
        pub squadron_leap: Leap = "once", "how often the knight's leap is open to a squadron";
        pub torpedo: Torpedo = "exact", "whether torpedoes sink at exactly two squares, or at two and fewer";
        /// Surface turns of each side without a sinking before the points decide (P-QUIET).
        pub quiet_limit: u32 = "50", "after how many turns of each side without a sinking points decide";
    }
}

/// The number of destroyers in a basic fleet. A number in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Destroyers {
    Seven,
    Eight,
}

impl From<Destroyers> for u8 {
    fn from(destroyers: Destroyers) -> u8 {
        match destroyers {
            Destroyers::Seven => 7,
            Destroyers::Eight => 8,
        }
    }
}

impl TryFrom<u8> for Destroyers {
    type Error = String;

    fn try_from(count: u8) -> Result<Self, String> {
        match count {
            7 => Ok(Destroyers::Seven),
            8 => Ok(Destroyers::Eight),
            _ => Err("It is 7 or 8.".to_owned()),
        }
    }
}

impl OptionValue for Destroyers {
    const VALUES: Values = Values::OneOf(&["7", "8"]);

    fn parse_value(text: &str) -> Result<Self, String> {
        text.parse::<u8>().map_err(|_| "It is 7 or 8.".to_owned())?.try_into()
    }

    fn to_text(&self) -> String {
        u8::from(*self).to_string()
    }
}

named_enum! {
    /// The rule on a squadron's knight's leaps (P-LEAP).
    pub enum Leap {
        Once = "once",
        Always = "always",
    }
}
named_option!(Leap);

named_enum! {
    /// The distance at which a torpedo sinks a ship (P-TORPEDO).
    pub enum Torpedo {
        /// Exactly two king's steps away.
        Exact = "exact",
        /// At most two king's steps away.
        Within = "within",
    }
}
named_option!(Torpedo);

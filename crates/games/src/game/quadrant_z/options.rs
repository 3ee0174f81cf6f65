//! The options of a match of Quadrant Z.

use super::galaxy::Layout;
use crate::game::names::named_enum;
use crate::game::options::{named_option, options};

options! {
    #[derive(Copy)]
    pub struct Options {
        pub layout: Layout = "triangle", "the shape of the home sectors";
        pub(super) damage: Damage = "excess",
            "whether an offence greater than the defence does the difference or the whole";
        pub casualties: Casualties = "standing",
            "whether ships are lost by a standing list or their owner is asked";
        /// The last turn (clause 3.6).
        pub(super) turn_limit: u32 = "40", "the number of turns after which stars decide";
    }
}

named_enum! {
    /// The rule for the damage that a force does (`Z-EXCESS`).
    pub(super) enum Damage {
        Excess = "excess",
        Full = "full",
    }
}
named_option!(Damage);

named_enum! {
    /// The way in which an owner chooses the ships to lose (`Z-CASUALTIES`).
    pub enum Casualties {
        Standing = "standing",
        Ask = "ask",
    }
}
named_option!(Casualties);

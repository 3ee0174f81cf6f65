//! The options of a match of Quad.

use crate::game::options::{Switch, options};

options! {
    pub struct Options {
        /// Whether the second seat may take over the first marble (Q-FIRST).
        pub(super) swap: Switch = "off", "the first turn has no stars, and second may take its marble over";
        /// Whether reports show where a quad could be completed (clause 3).
        pub(super) trainer: Switch = "off", "reports show where each side could complete a quad";
    }
}

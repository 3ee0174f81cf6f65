//! Whether a match is being played.

use crate::game::names::named_enum;

named_enum! {
    /// Whether a match is being played.
    pub enum Stage {
        Running = "running",
        /// Deadlines are suspended. Orders are still sealed, and adjudicated when the match resumes.
        Paused = "paused",
        Over = "over",
    }
}

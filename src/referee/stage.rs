//! Whether a match is being played.

use serde::{Deserialize, Serialize};

/// Whether a match is being played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Running,
    /// Deadlines are suspended. Orders are still sealed, and adjudicated when the match resumes.
    Paused,
    Over,
}

impl Stage {
    const ALL: [Stage; 3] = [Stage::Running, Stage::Paused, Stage::Over];

    pub fn parse(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Running => "running",
            Stage::Paused => "paused",
            Stage::Over => "over",
        }
    }
}

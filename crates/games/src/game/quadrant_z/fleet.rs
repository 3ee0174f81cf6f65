//! Ships and their classes.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use super::galaxy::Square;

/// The strength of a ship, written `3/2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    pub offence: u16,
    pub defence: u16,
}

impl Class {
    /// The cost to build it, and the damage that its loss covers (clause 2.3).
    pub fn size(self) -> u16 {
        self.offence + self.defence
    }
}

impl Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.offence, self.defence)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ship {
    pub no: u16,
    #[serde(flatten)]
    pub class: Class,
    pub at: Square,
}

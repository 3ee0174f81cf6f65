//! The colours of the picture.

use super::galaxy::Sector;
use crate::game::Seat;
use crate::game::picture::Colour;

pub(super) const GROUND: Colour = Colour::hex(0xfdfcf8);
pub(super) const INK: Colour = Colour::hex(0x22262b);
pub(super) const FAINT: Colour = Colour::hex(0x626870);

/// The colours of a kind of sector: explored and unexplored ground, the question mark on the latter, the
/// heading, and its letter.
pub(super) struct Tint {
    pub explored: Colour,
    pub fog: Colour,
    pub mark: Colour,
    pub heading: Colour,
    pub letter: Colour,
}

pub(super) const OWN_TINT: Tint = Tint {
    explored: Colour::hex(0xdceaf8),
    fog: Colour::hex(0xb3cae2),
    mark: Colour::hex(0x8fafd0),
    heading: Colour::hex(0x14508c),
    letter: Colour::hex(0xffffff),
};
pub(super) const NEUTRAL_TINT: Tint = Tint {
    explored: Colour::hex(0xf7f5ef),
    fog: Colour::hex(0xd6d3ca),
    mark: Colour::hex(0xb8b4a9),
    heading: Colour::hex(0x666c73),
    letter: Colour::hex(0xffffff),
};
pub(super) const ENEMY_TINT: Tint = Tint {
    explored: Colour::hex(0xfdebdf),
    fog: Colour::hex(0xe8c6b0),
    mark: Colour::hex(0xcfa285),
    heading: Colour::hex(0xf2bd98),
    letter: Colour::hex(0x3d1a05),
};

/// The colours of a sector on a board on which this side is dark.
pub(super) fn tint(sector: Sector, dark: Seat) -> &'static Tint {
    match sector {
        Sector::Home(seat) if seat == dark => &OWN_TINT,
        Sector::Home(_) => &ENEMY_TINT,
        Sector::Neutral => &NEUTRAL_TINT,
    }
}

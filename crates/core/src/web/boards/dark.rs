//! The colours of boards on a dark page: grounds darken, pieces keep their colours.

use std::fmt::Write as _;

use super::svg::Hex;
use crate::game::any::GameKind;
use crate::game::picture::Colour;

/// A colour that changes on a dark page, in elements that match a selector, or in all if that is empty.
pub struct DarkColour {
    element: &'static str,
    pub light: Colour,
    pub dark: Colour,
}

/// A colour that changes in all elements.
pub const fn all(light: u32, dark: u32) -> DarkColour {
    only("", light, dark)
}

const fn only(element: &'static str, light: u32, dark: u32) -> DarkColour {
    DarkColour { element, light: Colour::hex(light), dark: Colour::hex(dark) }
}

const QUADRANT_Z: &[DarkColour] = &[
    all(0xfdfcf8, 0x14181a),
    all(0x626870, 0xafb8bd),
    all(0xaeb3b8, 0x4c555c),
    all(0x3a3f45, 0x07090a),
    // Text beside the board; text on a star stays dark.
    only("text[text-anchor]", 0x22262b, 0xe3e1da),
    only("text[font-size=\"15\"]", 0x22262b, 0xe3e1da),
    // The disc behind the star of a home base.
    only("circle", 0x22262b, 0xe3e1da),
    // The grounds of the sectors: explored, fog and its question mark.
    all(0xdceaf8, 0x23405c),
    all(0xb3cae2, 0x122131),
    all(0x8fafd0, 0x35587a),
    all(0xf7f5ef, 0x3a3e41),
    all(0xd6d3ca, 0x1d2022),
    all(0xb8b4a9, 0x4b5053),
    all(0xfdebdf, 0x5a3d2a),
    all(0xe8c6b0, 0x2e1d12),
    all(0xcfa285, 0x76523a),
    all(0x3a7abd, 0x86bdf2),
    all(0xb8420b, 0xef8a50),
];

const PACIFIC: &[DarkColour] = &[
    only("rect", 0xfbf7ec, 0x14181a),
    all(0x22303a, 0xc9d3d9),
    all(0xe9f3f9, 0x1d3343),
    all(0xcbe0ec, 0x274558),
    all(0xe9efe3, 0x2a3a2d),
    all(0xcddac6, 0x384c3a),
    all(0xf6dd7c, 0x83701f),
    only("rect", 0x111111, 0xf2efe6),
    all(0x0b5fa5, 0x6db7f5),
    all(0xa83c00, 0xff9a5c),
    all(0xf3b562, 0x7a5212),
    all(0x5c6b75, 0xa7b6bf),
    all(0x174a7c, 0x2f73c0),
    all(0x0a2b4c, 0xb4d4f3),
];

const QUANTUM: &[DarkColour] = &[
    all(0xfbf8f1, 0x14181a),
    // Text beside the board and in its legend; numbers on pieces stay dark.
    only("text[font-size=\"21\"]", 0x2f2b26, 0xe3e1da),
    only("text[font-size=\"19\"]", 0x2f2b26, 0xe3e1da),
    all(0xefe6d2, 0xb3a68a),
    all(0xd3c2a0, 0x918467),
];

const QUAD: &[DarkColour] = &[
    all(0xfbf8f1, 0x14181a),
    only("text", 0x2f2b26, 0xe3e1da),
    all(0xe9d8b4, 0xb3a07a),
    all(0x8f7b55, 0x6d5d3e),
    // The edge of black pieces, which are also shown below the board.
    all(0x050506, 0x9aa3a8),
];

/// Returns the colours of a game's board that change on a dark page.
pub fn dark_colours(game: GameKind) -> &'static [DarkColour] {
    match game {
        GameKind::QuadrantZ => QUADRANT_Z,
        GameKind::Pacific => PACIFIC,
        GameKind::Quantum => QUANTUM,
        GameKind::Quad => QUAD,
    }
}

/// Returns the styles of a game's board on a dark screen.
pub fn dark_style(game: GameKind) -> String {
    dark_rules(dark_colours(game))
}

/// Returns the styles that change these colours on a dark screen.
pub fn dark_rules(colours: &[DarkColour]) -> String {
    let mut style = String::from("@media screen and (prefers-color-scheme:dark){");
    for DarkColour { element, light, dark } in colours {
        let (light, dark) = (Hex(*light), Hex(*dark));
        write!(style, "{element}[fill=\"{light}\"]{{fill:{dark}}}").expect("a String");
        // Text has no stroke.
        if !element.starts_with("text") {
            write!(style, "{element}[stroke=\"{light}\"]{{stroke:{dark}}}").expect("a String");
        }
    }
    style.push('}');
    style
}

//! Colours as seen with deuteranopia or protanopia, and as printed in grey, for tests of palettes.
//!
//! A colour is its sRGB channels: the unit tests of a package cannot share its types with this one, which was compiled
//! against the package without its tests.

use std::fmt::Display;

/// Red, green and blue, each from 0 to 255.
pub type Channels = [u8; 3];

/// Somebody who looks at a picture.
#[derive(Clone, Copy, Debug)]
pub enum Eye {
    Usual,
    Deuteranope,
    Protanope,
    /// A reader of a print in black and white.
    Print,
}

impl Eye {
    pub const ALL: [Eye; 4] = [Eye::Usual, Eye::Deuteranope, Eye::Protanope, Eye::Print];

    /// The transformation of linear red, green and blue: by Machado, Oliveira and Fernandes (2009), at full
    /// severity, or the luminance of sRGB.
    fn matrix(self) -> [[f64; 3]; 3] {
        match self {
            Eye::Usual => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            Eye::Deuteranope => [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
            Eye::Protanope => [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
            Eye::Print => [[0.2126, 0.7152, 0.0722]; 3],
        }
    }

    /// The perceived difference of two colours: their distance in CIELAB. A difference of 2 or more is
    /// noticed side by side.
    pub fn contrast(self, one: impl Into<Channels>, other: impl Into<Channels>) -> f64 {
        let one = self.lab(one.into());
        let other = self.lab(other.into());
        one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
    }

    fn lab(self, colour: Channels) -> [f64; 3] {
        let linear = colour.map(|channel| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        let seen = self.matrix().map(|row| dot(row, linear).clamp(0.0, 1.0));
        // Relative to the white of sRGB (D65).
        let x = dot([0.4124, 0.3576, 0.1805], seen) / 0.9505;
        let y = dot([0.2126, 0.7152, 0.0722], seen);
        let z = dot([0.0193, 0.1192, 0.9505], seen) / 1.089;
        let [x, y, z] = [x, y, z]
            .map(|value| if value > 0.008_856 { value.cbrt() } else { 7.787 * value + 16.0 / 116.0 });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Asserts that every viewer sees a difference of at least `least` between the colours of each pair.
pub fn assert_told_apart<C: Copy + Display + Into<Channels>>(least: f64, pairs: &[(C, C)]) {
    for (one, other) in pairs {
        for eye in Eye::ALL {
            let contrast = eye.contrast(*one, *other);
            assert!(contrast >= least, "{one} and {other}: {contrast:.0} for {eye:?}");
        }
    }
}

#[test]
fn red_and_green_are_hard_to_tell_apart_for_some() {
    let red = [0xc2, 0x3b, 0x22];
    let green = [0x5a, 0x7d, 0x2a];
    assert!(Eye::Usual.contrast(red, green) > 70.0);
    assert!(Eye::Deuteranope.contrast(red, green) < 35.0);
    assert!(Eye::Print.contrast([0xff; 3], [0; 3]) > 99.0);
}

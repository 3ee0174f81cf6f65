//! The colours of a picture, and the mixtures between them.

use crate::game::picture::Colour;

/// The coverage at which a pixel takes on a colour completely. At twice the shown size, four steps between
/// two colours look as smooth as 256, and make a smaller file.
pub const FULL: u8 = 2;

/// Maximum difference in each channel at which a mixture reuses an existing colour.
const ALIKE: u8 = 4;

/// A list of up to 256 colours. Once it is full, the nearest colour stands in for a new one.
#[derive(Default)]
pub struct Palette {
    colours: Vec<Colour>,
    /// Mixtures found so far, by the colour painted, its coverage if below full, and the colour below.
    mixed: Vec<[[Option<u8>; 256]; FULL as usize - 1]>,
}

impl Palette {
    pub fn colours(&self) -> &[Colour] {
        &self.colours
    }

    /// Returns the index of a colour, and adds it if it is new.
    pub fn index(&mut self, colour: Colour) -> u8 {
        let same = self.colours.iter().position(|known| *known == colour);
        same.map_or_else(|| self.add(colour), |place| place as u8)
    }

    fn add(&mut self, colour: Colour) -> u8 {
        if self.colours.len() == 256 {
            return self.nearest(colour);
        }
        self.colours.push(colour);
        (self.colours.len() - 1) as u8
    }

    fn nearest(&self, colour: Colour) -> u8 {
        let places = 0..=255_u8;
        let nearest = places.zip(&self.colours).min_by_key(|(_, known)| distance(**known, colour));
        nearest.map_or(0, |(place, _)| place)
    }

    /// Paints pixels with a colour that covers them in part.
    pub fn paint(&mut self, pixels: &mut [u8], colour: u8, covered: u8) {
        match covered {
            0 => {}
            FULL.. => pixels.fill(colour),
            part => {
                for pixel in pixels {
                    *pixel = self.mixture(*pixel, colour, part);
                }
            }
        }
    }

    fn mixture(&mut self, below: u8, above: u8, covered: u8) -> u8 {
        if self.mixed.len() <= usize::from(above) {
            self.mixed.resize(usize::from(above) + 1, [[None; 256]; FULL as usize - 1]);
        }
        let at = usize::from(below);
        let part = usize::from(covered) - 1;
        if let Some(known) = self.mixed[usize::from(above)][part][at] {
            return known;
        }
        let under = self.colours[at];
        let over = self.colours[usize::from(above)];
        let colour = Colour {
            red: mix(under.red, over.red, covered),
            green: mix(under.green, over.green, covered),
            blue: mix(under.blue, over.blue, covered),
        };
        let alike = self.colours.iter().position(|known| is_alike(*known, colour));
        let mixed = alike.map_or_else(|| self.add(colour), |place| place as u8);
        self.mixed[usize::from(above)][part][at] = Some(mixed);
        mixed
    }
}

fn mix(under: u8, over: u8, covered: u8) -> u8 {
    let under = u16::from(under);
    let over = u16::from(over);
    let covered = u16::from(covered);
    let full = u16::from(FULL);
    ((under * (full - covered) + over * covered + full / 2) / full) as u8
}

fn is_alike(a: Colour, b: Colour) -> bool {
    [(a.red, b.red), (a.green, b.green), (a.blue, b.blue)].into_iter().all(|(a, b)| a.abs_diff(b) <= ALIKE)
}

/// The squared distance between two colours.
fn distance(a: Colour, b: Colour) -> u32 {
    let channels = [(a.red, b.red), (a.green, b.green), (a.blue, b.blue)];
    channels.into_iter().map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_covered_in_part_takes_on_a_colour_between_the_two() {
        let mut palette = Palette::default();
        let white = palette.index(Colour::hex(0xffffff));
        let black = palette.index(Colour::hex(0x000000));
        let mut pixels = [white; 3];
        palette.paint(&mut pixels[1..2], black, 1);
        palette.paint(&mut pixels[2..], black, FULL);
        let [untouched, between, covered] = pixels.map(|pixel| palette.colours()[usize::from(pixel)]);
        assert_eq!((untouched, covered), (Colour::hex(0xffffff), Colour::hex(0x000000)));
        assert!((1..255).contains(&between.red), "{between}");
        let mut again = [white];
        palette.paint(&mut again, black, 1);
        assert_eq!(again[0], pixels[1], "the same mixture");
    }

    #[test]
    fn beyond_256_colours_the_nearest_one_counts() {
        let mut palette = Palette::default();
        for green in 0..=255 {
            palette.index(Colour { red: 0, green, blue: 0 });
        }
        let place = palette.index(Colour { red: 3, green: 100, blue: 0 });
        assert_eq!(palette.colours().len(), 256);
        assert_eq!(palette.colours()[usize::from(place)], Colour { red: 0, green: 100, blue: 0 });
    }
}

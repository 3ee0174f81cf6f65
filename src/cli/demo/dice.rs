//! Reproducible random numbers for the correspondents.

/// A small pseudorandom generator (xorshift64*): the same seed gives the same match.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        // Xorshift must not start from zero, and similar seeds should not give similar matches.
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `sides`, or 0 if there are none.
    pub fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let throw = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(throw).unwrap_or_default() % sides.max(1)
    }

    /// Returns one of the items, or `None` if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { items.get(self.below(items.len())) }
    }
}

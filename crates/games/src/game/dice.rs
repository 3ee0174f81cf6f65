//! Reproducible random numbers for the rules and the house.

/// A generator of random numbers that depends only on its seed (SplitMix64; Steele, Lea, Flood 2014). The
/// audit repeats every draw, so a crate's generator, which may change with its version, is unsuitable.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Returns different dice that depend on these and on `number`.
    pub fn mixed(self, number: u64) -> Dice {
        Dice(self.0 ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns a number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Returns 64 random bits, but never all ones.
    pub fn bits(&mut self) -> u64 {
        self.next() % u64::MAX
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Puts the items into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

//! Chance that can be had again: all of it follows from one seed.

pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// From 0 to `n` - 1 (SplitMix64).
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    /// Once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// The seed that FOGPOST_SEED sets, or another each time.
pub fn seed() -> u64 {
    let set = std::env::var("FOGPOST_SEED").ok().map(|seed| seed.parse().expect("FOGPOST_SEED is a number"));
    set.unwrap_or_else(|| {
        u64::from(std::process::id()) << 20 ^ u64::from(chrono::Utc::now().timestamp_subsec_nanos())
    })
}

/// How many daemons are to be killed: FOGPOST_KILLS, or a few.
pub fn kills() -> u64 {
    std::env::var("FOGPOST_KILLS").map_or(12, |kills| kills.parse().expect("FOGPOST_KILLS is a number"))
}

//! What the environment sets for a run: its seed and the number of kills.

/// The seed in FOGPOST_SEED, or a new one for each run.
pub fn seed() -> u64 {
    let set = std::env::var("FOGPOST_SEED").ok().map(|seed| seed.parse().expect("FOGPOST_SEED is a number"));
    set.unwrap_or_else(|| {
        u64::from(std::process::id()) << 20 ^ u64::from(chrono::Utc::now().timestamp_subsec_nanos())
    })
}

/// How many daemons to kill: FOGPOST_KILLS, or a few.
pub fn kills() -> u64 {
    std::env::var("FOGPOST_KILLS").map_or(12, |kills| kills.parse().expect("FOGPOST_KILLS is a number"))
}

//! The transposition table: results of a search, by position.

use super::root::Window;

/// The relation of a stored worth to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

/// The result of a search of a position, for the side to move.
#[derive(Clone, Copy, Debug)]
pub(in crate::house) struct Found<T> {
    pub worth: i32,
    pub depth: i32,
    /// The best turn.
    pub turn: T,
}

/// The stored result of a position.
#[derive(Clone, Copy, Debug)]
pub(in crate::house) struct Entry<T> {
    key: u64,
    pub worth: i32,
    depth: i8,
    bound: Bound,
    pub turn: T,
}

impl<T> Entry<T> {
    /// Whether the worth settles a search of `depth` in this window.
    pub fn settles(&self, depth: i32, (alpha, beta): Window) -> bool {
        i32::from(self.depth) >= depth
            && match self.bound {
                Bound::Exact => true,
                Bound::AtLeast => self.worth >= beta,
                Bound::AtMost => self.worth <= alpha,
            }
    }
}

/// A table of fixed size. Newer positions replace older ones.
///
/// A decided match is worth one less for each turn from the root. The table stores the worth counted from the
/// stored position, because the same position can be reached at another ply.
pub(in crate::house) struct Table<T> {
    entries: Vec<Option<Entry<T>>>,
    decided: i32,
}

impl<T: Copy> Table<T> {
    /// Makes a table of two to the power of `bits` entries. A worth beyond `decided` means that the match is
    /// won or lost.
    pub fn new(bits: u32, decided: i32) -> Table<T> {
        Table { entries: vec![None; 1 << bits], decided }
    }

    fn index(&self, key: u64) -> usize {
        key as usize & (self.entries.len() - 1)
    }

    /// The difference between `worth` at the root and at a position `ply` turns after it.
    fn distance(&self, worth: i32, ply: usize) -> i32 {
        if worth.abs() > self.decided { worth.signum() * ply as i32 } else { 0 }
    }

    /// Returns the stored result of a position, with its worth as seen from the root, `ply` turns before.
    pub fn get(&self, key: u64, ply: usize) -> Option<Entry<T>> {
        let mut entry = self.entries[self.index(key)].filter(|entry| entry.key == key)?;
        entry.worth -= self.distance(entry.worth, ply);
        Some(entry)
    }

    /// Stores the result of a search in a window, `ply` turns from the root.
    pub fn keep(&mut self, key: u64, ply: usize, found: Found<T>, (alpha, beta): Window) {
        let bound = match found.worth {
            worth if worth >= beta => Bound::AtLeast,
            worth if worth > alpha => Bound::Exact,
            _ => Bound::AtMost,
        };
        let worth = found.worth + self.distance(found.worth, ply);
        let depth = found.depth.clamp(-1, 100) as i8;
        let index = self.index(key);
        self.entries[index] = Some(Entry { key, worth, depth, bound, turn: found.turn });
    }
}

/// Returns random numbers that distinguish positions (Zobrist hashing), the same in every build.
pub(in crate::house) const fn keys<const ROWS: usize, const COLUMNS: usize>(
    mut seed: u64,
) -> [[u64; COLUMNS]; ROWS] {
    let mut keys = [[0; COLUMNS]; ROWS];
    let mut row = 0;
    while row < ROWS {
        let mut column = 0;
        while column < COLUMNS {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            keys[row][column] = mixed ^ (mixed >> 31);
            column += 1;
        }
        row += 1;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_takes_16_bytes() {
        assert_eq!(size_of::<Option<Entry<[u8; 2]>>>(), 16);
    }

    fn found(worth: i32, depth: i32) -> Found<[u8; 2]> {
        Found { worth, depth, turn: [1, 2] }
    }

    #[test]
    fn a_position_is_found_again_until_another_takes_its_place() {
        let mut table = Table::new(4, 1_000);
        table.keep(5, 0, found(70, 3), (0, 70));
        let entry = table.get(5, 9).expect("it was kept");
        assert_eq!((entry.worth, entry.turn), (70, [1, 2]));
        assert!(entry.settles(3, (0, 70)) && !entry.settles(3, (0, 71)) && !entry.settles(4, (0, 70)));
        table.keep(5 + 16, 0, found(0, 1), (-1, 1));
        assert!(table.get(5, 0).is_none());
    }

    #[test]
    fn the_window_decides_how_a_worth_bounds_the_true_one() {
        let mut table = Table::new(4, 1_000);
        let mut settles = |window: Window, asked: Window| {
            table.keep(5, 0, found(50, 3), window);
            table.get(5, 0).is_some_and(|entry| entry.settles(3, asked))
        };
        assert!(settles((0, 100), (0, 100)), "exact");
        assert!(settles((0, 50), (0, 50)) && !settles((0, 50), (0, 51)), "at least");
        assert!(settles((50, 51), (50, 51)) && !settles((50, 51), (49, 50)), "at most");
    }

    #[test]
    fn a_decided_match_is_as_far_from_its_position_wherever_that_is_met() {
        let mut table = Table::new(4, 1_000);
        table.keep(5, 3, found(1_990, 1), (0, 2_000));
        assert_eq!(table.get(5, 1).map(|entry| entry.worth), Some(1_992));
        table.keep(5, 3, found(-1_990, 1), (-2_000, 0));
        assert_eq!(table.get(5, 4).map(|entry| entry.worth), Some(-1_989));
    }
}

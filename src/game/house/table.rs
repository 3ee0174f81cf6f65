//! What a search remembers of the positions that it has met.

/// How a remembered worth bounds the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game) enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

/// A remembered position and the best turn found in it.
#[derive(Clone, Copy, Debug)]
pub(in crate::game) struct Entry<T> {
    key: u64,
    pub worth: i32,
    pub depth: i8,
    pub bound: Bound,
    pub turn: T,
}

impl<T> Entry<T> {
    /// Returns the worth if it settles a search of `depth` between `alpha` and `beta`. `worth` is the remembered one as
    /// seen from the position.
    pub fn settles(&self, worth: i32, depth: i32, alpha: i32, beta: i32) -> bool {
        i32::from(self.depth) >= depth
            && match self.bound {
                Bound::Exact => true,
                Bound::AtLeast => worth >= beta,
                Bound::AtMost => worth <= alpha,
            }
    }
}

/// A table of fixed size. Newer positions replace older ones.
pub(in crate::game) struct Table<T> {
    entries: Vec<Option<Entry<T>>>,
}

impl<T: Copy> Table<T> {
    /// Makes a table of two to the power of `bits` entries.
    pub fn new(bits: u32) -> Table<T> {
        Table { entries: vec![None; 1 << bits] }
    }

    fn index(&self, key: u64) -> usize {
        key as usize & (self.entries.len() - 1)
    }

    pub fn get(&self, key: u64) -> Option<Entry<T>> {
        self.entries[self.index(key)].filter(|entry| entry.key == key)
    }

    pub fn keep(&mut self, key: u64, worth: i32, depth: i32, bound: Bound, turn: T) {
        let index = self.index(key);
        self.entries[index] = Some(Entry { key, worth, depth: depth.clamp(-1, 100) as i8, bound, turn });
    }
}

/// Returns random numbers to tell positions apart (Zobrist), fixed for every build.
pub(in crate::game) const fn keys<const ROWS: usize, const COLUMNS: usize>(
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

    #[test]
    fn a_position_is_found_again_until_another_takes_its_place() {
        let mut table = Table::new(4);
        table.keep(5, 70, 3, Bound::AtLeast, [1_u8, 2]);
        let found = table.get(5).expect("it was kept");
        assert_eq!((found.worth, found.turn), (70, [1, 2]));
        assert!(found.settles(70, 3, 0, 70) && !found.settles(70, 3, 0, 71) && !found.settles(70, 4, 0, 70));
        table.keep(5 + 16, 0, 1, Bound::Exact, [0, 0]);
        assert!(table.get(5).is_none());
    }
}

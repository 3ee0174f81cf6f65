//! Merges the views of a step: what several of them show alike is drawn once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::marks::Catalogue;

/// A mark of a step, and the views that show it, a bit each.
pub type Shown = (u32, u8);

/// Returns one sequence that contains that of each view, in its order.
pub fn merge(views: &[Vec<u32>]) -> Vec<Shown> {
    let mut merged: Vec<Shown> = Vec::new();
    for (no, marks) in views.iter().enumerate() {
        merged = with_view(&merged, marks, 1 << no);
    }
    merged
}

/// Adds the marks of one more view, along a longest common subsequence.
fn with_view(merged: &[Shown], marks: &[u32], bit: u8) -> Vec<Shown> {
    let width = marks.len() + 1;
    // The length of the longest common subsequence of what follows each pair of places.
    let mut length = vec![0_u16; (merged.len() + 1) * width];
    for (i, (mark, _)) in merged.iter().enumerate().rev() {
        for (j, other) in marks.iter().enumerate().rev() {
            let here = i * width + j;
            length[here] = match mark == other {
                true => length[here + width + 1] + 1,
                false => length[here + width].max(length[here + 1]),
            };
        }
    }
    let mut all = Vec::with_capacity(merged.len() + marks.len());
    let (mut i, mut j) = (0, 0);
    while i < merged.len() && j < marks.len() {
        let here = i * width + j;
        if merged[i].0 == marks[j] {
            all.push((marks[j], merged[i].1 | bit));
            (i, j) = (i + 1, j + 1);
        } else if length[here + width] >= length[here + 1] {
            all.push(merged[i]);
            i += 1;
        } else {
            all.push((marks[j], bit));
            j += 1;
        }
    }
    all.extend(&merged[i..]);
    all.extend(marks[j..].iter().map(|mark| (*mark, bit)));
    all
}

/// The number of steps in which each mark is shown by the same views.
pub type Lives = BTreeMap<Shown, u32>;

/// Counts the steps of each mark.
pub fn lives(steps: &[Vec<Shown>]) -> Lives {
    let mut lives = Lives::new();
    for shown in steps.iter().flatten() {
        *lives.entry(*shown).or_default() += 1;
    }
    lives
}

/// Brings marks together that the same views show, those of most steps first, as far as the order in which marks
/// cover one another allows: then neighbours are often the same.
pub fn gather(catalogue: &Catalogue, lives: &Lives, marks: &[Shown]) -> Vec<Shown> {
    // The marks that lie above each one, and how many lie below it. Views that never show two marks together do
    // not see in which order they are drawn.
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); marks.len()];
    let mut below = vec![0_usize; marks.len()];
    for (upper, (id, mask)) in marks.iter().enumerate() {
        let mark = catalogue.mark(*id);
        for (lower, (other, other_mask)) in marks[..upper].iter().enumerate() {
            if mask & other_mask != 0 && catalogue.mark(*other).overlaps(mark) {
                above[lower].push(upper);
                below[upper] += 1;
            }
        }
    }
    let rank = |place: usize| (Reverse(lives[&marks[place]]), marks[place].0, place);
    let mut ready: BTreeMap<u8, BTreeSet<_>> = BTreeMap::new();
    for place in (0..marks.len()).filter(|place| below[*place] == 0) {
        ready.entry(marks[place].1).or_default().insert(rank(place));
    }
    let mut gathered = Vec::with_capacity(marks.len());
    while let Some(mask) = ready.iter().max_by_key(|(_, places)| places.len()).map(|(mask, _)| *mask) {
        while let Some((_, _, place)) = ready.get_mut(&mask).and_then(BTreeSet::pop_first) {
            gathered.push(marks[place]);
            for upper in &above[place] {
                below[*upper] -= 1;
                if below[*upper] == 0 {
                    ready.entry(marks[*upper].1).or_default().insert(rank(*upper));
                }
            }
        }
        ready.remove(&mask);
    }
    gathered
}

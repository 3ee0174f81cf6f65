//! Merges the views of a step: marks that several views share are drawn once.

use std::collections::{BTreeMap, BTreeSet};

use super::marks::Overlaps;

/// A mark of a step, and the views that show it, a bit each.
pub type Shown = (u32, u8);

/// Returns one sequence that contains that of each view, in its order.
pub fn merge(views: &[Vec<u32>]) -> Vec<Shown> {
    views.iter().enumerate().fold(Vec::new(), |merged, (no, marks)| with_view(&merged, marks, 1 << no))
}

/// Adds the marks of one more view, along a longest common subsequence.
fn with_view(merged: &[Shown], marks: &[u32], bit: u8) -> Vec<Shown> {
    // Most of it is often at the beginning and the end.
    let is_same = |(shown, mark): &(&Shown, &u32)| shown.0 == **mark;
    let same = merged.iter().zip(marks).take_while(is_same).count();
    let (first, merged) = merged.split_at(same);
    let marks = &marks[same..];
    let same = merged.iter().rev().zip(marks.iter().rev()).take_while(is_same).count();
    let (merged, last) = merged.split_at(merged.len() - same);
    let marks = &marks[..marks.len() - same];
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
    let shown_too = |(mark, views): &Shown| (*mark, views | bit);
    let mut all: Vec<Shown> = first.iter().map(shown_too).collect();
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
    all.extend(last.iter().map(shown_too));
    all
}

/// The places of marks in one order of all.
pub type Order = BTreeMap<Shown, usize>;

/// Orders all marks: those in the most steps first, and those in the same steps together.
pub fn order(steps: &[Vec<Shown>]) -> Order {
    let mut lives: BTreeMap<Shown, Vec<usize>> = BTreeMap::new();
    for (no, step) in steps.iter().enumerate() {
        step.iter().for_each(|shown| lives.entry(*shown).or_default().push(no));
    }
    let mut ordered: Vec<(Shown, Vec<usize>)> = lives.into_iter().collect();
    ordered.sort_by(|(_, one), (_, other)| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    ordered.into_iter().enumerate().map(|(place, (shown, _))| (shown, place)).collect()
}

/// Brings together marks that the same views show, and keeps to one order as far as overlaps allow, so that
/// neighbours are often the same.
pub fn gather(overlaps: &Overlaps, order: &Order, marks: &[Shown]) -> Vec<Shown> {
    // The marks that lie above each one, and how many lie below it. Views that never show two marks together do
    // not see in which order they are drawn.
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); marks.len()];
    let mut below = vec![0_usize; marks.len()];
    for (upper, (id, mask)) in marks.iter().enumerate() {
        for (lower, (other, other_mask)) in marks[..upper].iter().enumerate() {
            if mask & other_mask != 0 && overlaps.has(*id, *other) {
                above[lower].push(upper);
                below[upper] += 1;
            }
        }
    }
    let rank = |place: usize| (order[&marks[place]], place);
    let mut ready: BTreeMap<u8, BTreeSet<_>> = BTreeMap::new();
    for place in (0..marks.len()).filter(|place| below[*place] == 0) {
        ready.entry(marks[place].1).or_default().insert(rank(place));
    }
    let mut gathered = Vec::with_capacity(marks.len());
    // Go round the sets of views in descending order of their masks, as in every step, so that neighbours are
    // often the same.
    let mut mask = u8::MAX;
    while !ready.is_empty() {
        mask = ready.range(..mask).next_back().or(ready.last_key_value()).map_or(0, |(mask, _)| *mask);
        while let Some((_, place)) = ready.get_mut(&mask).and_then(BTreeSet::pop_first) {
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

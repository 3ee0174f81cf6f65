//! Names pairs of marks that are neighbours in several steps, and pairs of such pairs.

use std::collections::BTreeMap;

use super::merge::Shown;

/// The pairs, each of two marks or pairs. They are numbered after the last mark.
#[derive(Debug)]
pub struct Pairs {
    pub first: u32,
    pub pairs: Vec<(u32, u32)>,
}

impl Pairs {
    /// Returns the two parts of a token, or `None` if it is a mark.
    pub fn parts(&self, token: u32) -> Option<(u32, u32)> {
        token.checked_sub(self.first).map(|place| self.pairs[place as usize])
    }
}

/// A pair has to occur this often, because its name costs about as much as two uses.
const OFTEN: u32 = 4;

/// Each round joins neighbours once, so a name stands for up to 2^8 marks.
const ROUNDS: usize = 8;

/// Pairs are named if all steps together have this many marks, so that the page is small enough to stand alone. Names
/// make a page shorter, but longer once it is compressed.
const MANY: usize = 2_500;

/// Joins neighbours of equal visibility. Returns the pairs, and the steps in which they replace their marks.
pub fn join(marks: u32, mut steps: Vec<Vec<Shown>>) -> (Pairs, Vec<Vec<Shown>>) {
    let mut pairs = Pairs { first: marks, pairs: Vec::new() };
    if steps.iter().map(Vec::len).sum::<usize>() < MANY {
        return (pairs, steps);
    }
    for _ in 0..ROUNDS {
        let mut counts: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (a, b) in steps.iter().flat_map(|step| step.iter().zip(step.iter().skip(1))) {
            if a.1 == b.1 {
                *counts.entry((a.0, b.0)).or_default() += 1;
            }
        }
        counts.retain(|_, count| *count >= OFTEN);
        if counts.is_empty() {
            break;
        }
        let mut names = BTreeMap::new();
        steps = steps.iter().map(|step| join_pairs(step, &counts, &mut names, &mut pairs)).collect();
    }
    (pairs, steps)
}

fn join_pairs(
    step: &[Shown],
    counts: &BTreeMap<(u32, u32), u32>,
    names: &mut BTreeMap<(u32, u32), u32>,
    pairs: &mut Pairs,
) -> Vec<Shown> {
    let count_at = |at: usize| match (step.get(at), step.get(at + 1)) {
        (Some(a), Some(b)) if a.1 == b.1 => counts.get(&(a.0, b.0)).copied().unwrap_or(0),
        _ => 0,
    };
    let mut joined = Vec::with_capacity(step.len());
    let mut at = 0;
    while at < step.len() {
        let count = count_at(at);
        // The right neighbour may have the better partner.
        if count == 0 || count_at(at + 1) > count {
            joined.push(step[at]);
            at += 1;
            continue;
        }
        let pair = (step[at].0, step[at + 1].0);
        let name = *names.entry(pair).or_insert_with(|| {
            pairs.pairs.push(pair);
            pairs.first + u32::try_from(pairs.pairs.len() - 1).expect("fewer pairs than marks")
        });
        joined.push((name, step[at].1));
        at += 2;
    }
    joined
}

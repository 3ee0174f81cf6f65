//! The base of the boards: the marks that every step shows, drawn below the rest.

use super::marks::{Catalogue, Mark};

/// The marks below those of the steps.
#[derive(Debug, Default)]
pub struct Base {
    /// In every view.
    pub common: Vec<u32>,
    /// In one view alone.
    pub of_views: Vec<Vec<u32>>,
}

/// Takes the marks out of the steps that never change, and under which nothing lies that does. Returns them, and
/// what is left of each step and view.
pub fn separate(catalogue: &Catalogue, steps: Vec<Vec<Vec<u32>>>) -> (Base, Vec<Vec<Vec<u32>>>) {
    let views = steps.first().map_or(0, Vec::len);
    let all: Vec<&[u32]> = steps.iter().flatten().map(Vec::as_slice).collect();
    let is_common = constant(catalogue, &all);
    let common = chosen(all.first(), &is_common);
    let mut rest: Vec<Vec<Vec<u32>>> =
        steps.iter().map(|views| views.iter().map(|marks| without(marks, &is_common)).collect()).collect();
    let mut of_views = Vec::with_capacity(views);
    for view in 0..views {
        let of_view: Vec<&[u32]> = rest.iter().map(|step| step[view].as_slice()).collect();
        let is_constant = constant(catalogue, &of_view);
        of_views.push(chosen(of_view.first(), &is_constant));
        for step in &mut rest {
            step[view] = without(&step[view], &is_constant);
        }
    }
    (Base { common, of_views }, rest)
}

fn chosen(first: Option<&&[u32]>, is_chosen: &[bool]) -> Vec<u32> {
    first
        .into_iter()
        .flat_map(|marks| marks.iter())
        .copied()
        .filter(|mark| is_chosen[*mark as usize])
        .collect()
}

fn without(marks: &[u32], is_chosen: &[bool]) -> Vec<u32> {
    marks.iter().copied().filter(|mark| !is_chosen[*mark as usize]).collect()
}

/// Finds the marks that are in each of these pictures, and that look the same if they are drawn first.
fn constant(catalogue: &Catalogue, pictures: &[&[u32]]) -> Vec<bool> {
    let mut counts = vec![0_usize; catalogue.marks.len()];
    let mut seen_in = vec![usize::MAX; catalogue.marks.len()];
    for (no, marks) in pictures.iter().enumerate() {
        for mark in *marks {
            // A mark that is drawn twice in one picture stays where it is.
            let place = *mark as usize;
            counts[place] += if seen_in[place] == no { pictures.len() } else { 1 };
            seen_in[place] = no;
        }
    }
    let mut is_constant: Vec<bool> = counts.iter().map(|count| *count == pictures.len()).collect();
    // The marks that stay above may not lie below one that moves down. One that is held back holds back others.
    loop {
        let mut held_back = false;
        for marks in pictures {
            held_back |= hold_back(catalogue, marks, &mut is_constant);
        }
        if !held_back {
            return is_constant;
        }
    }
}

fn hold_back(catalogue: &Catalogue, marks: &[u32], is_constant: &mut [bool]) -> bool {
    let mut below: Vec<&Mark> = Vec::new();
    let mut held_back = false;
    for mark in marks {
        let drawn = catalogue.mark(*mark);
        let place = *mark as usize;
        if is_constant[place] && below.iter().any(|other| drawn.overlaps(other)) {
            is_constant[place] = false;
            held_back = true;
        }
        if !is_constant[place] {
            below.push(drawn);
        }
    }
    held_back
}

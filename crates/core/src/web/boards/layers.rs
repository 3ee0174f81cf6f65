//! Separates the marks that never change into two layers: below all others, and between them.

use super::marks::{MarkSet, Overlaps};

/// The marks of each step and view.
type Sequences = Vec<Vec<Vec<u32>>>;

/// The marks of a layer.
#[derive(Debug, Default)]
pub struct Layer {
    /// In every view.
    pub common: Vec<u32>,
    /// In one view alone.
    pub of_views: Vec<Vec<u32>>,
}

/// Takes out of the steps the marks that never change and have nothing changing below them. Also takes marks that are
/// missing only where others would hide them, such as the ground of a square below its fog. Returns them, and the rest
/// of each step and view.
pub fn lowest(overlaps: &Overlaps, steps: Sequences) -> (Layer, Sequences) {
    let views = steps.first().map_or(0, Vec::len);
    let all: Vec<&[u32]> = steps.iter().flatten().map(Vec::as_slice).collect();
    let is_common = constant(overlaps, &all, &[]);
    let common = chosen_marks(&all, &is_common);
    let mut rest: Sequences =
        steps.iter().map(|views| views.iter().map(|marks| without(marks, &is_common)).collect()).collect();
    let mut of_views = Vec::with_capacity(views);
    for view in 0..views {
        let of_view: Vec<&[u32]> = rest.iter().map(|step| step[view].as_slice()).collect();
        let is_constant = constant(overlaps, &of_view, &common);
        of_views.push(chosen_marks(&of_view, &is_constant));
        for step in &mut rest {
            step[view] = without(&step[view], &is_constant);
        }
    }
    (Layer { common, of_views }, rest)
}

/// Returns the chosen marks of these pictures in the order in which they are drawn.
fn chosen_marks(pictures: &[&[u32]], is_chosen: &[bool]) -> Vec<u32> {
    let mut order: Vec<u32> = Vec::new();
    let mut is_known = vec![false; is_chosen.len()];
    for marks in pictures {
        if marks.iter().all(|mark| !is_chosen[*mark as usize] || is_known[*mark as usize]) {
            continue;
        }
        let mut next = 0;
        for mark in marks.iter().filter(|mark| is_chosen[**mark as usize]) {
            if is_known[*mark as usize] {
                next = order.iter().position(|other| other == mark).expect("a known mark") + 1;
            } else {
                is_known[*mark as usize] = true;
                order.insert(next, *mark);
                next += 1;
            }
        }
    }
    order
}

fn without(marks: &[u32], is_chosen: &[bool]) -> Vec<u32> {
    marks.iter().copied().filter(|mark| !is_chosen[*mark as usize]).collect()
}

/// Finds the marks that each of these pictures contains or would hide, and that look the same if they are drawn first,
/// above the marks `below`.
fn constant(overlaps: &Overlaps, pictures: &[&[u32]], below: &[u32]) -> Vec<bool> {
    let mut is_constant = in_all(overlaps, pictures);
    add_hidden(overlaps, pictures, below, &mut is_constant);
    // A mark that stays may not lie below one that moves down. Each mark held back may hold back others.
    loop {
        let mut held_back = false;
        for marks in pictures {
            held_back |= hold_back(overlaps, marks, &mut is_constant);
        }
        if !held_back {
            return is_constant;
        }
    }
}

/// Finds the marks that each of these pictures contains exactly once.
fn in_all(overlaps: &Overlaps, pictures: &[&[u32]]) -> Vec<bool> {
    let mut counts = vec![0_usize; overlaps.len()];
    let mut seen_in = vec![usize::MAX; overlaps.len()];
    for (no, marks) in pictures.iter().enumerate() {
        for mark in *marks {
            // A mark that is drawn twice in one picture stays where it is.
            let place = *mark as usize;
            counts[place] += if seen_in[place] == no { pictures.len() } else { 1 };
            seen_in[place] = no;
        }
    }
    counts.iter().map(|count| *count == pictures.len()).collect()
}

/// Adds the marks that most pictures contain and that other marks would hide in the rest.
fn add_hidden(overlaps: &Overlaps, pictures: &[&[u32]], below: &[u32], is_constant: &mut [bool]) {
    let set_of = |marks: &mut dyn Iterator<Item = u32>| {
        let mut set = overlaps.none();
        marks.for_each(|mark| set.insert(mark));
        set
    };
    let contents: Vec<MarkSet> = pictures.iter().map(|marks| set_of(&mut marks.iter().copied())).collect();
    let all = || 0..u32::try_from(is_constant.len()).expect("few marks");
    let mut constant = set_of(&mut all().filter(|mark| is_constant[*mark as usize]));
    let below = set_of(&mut below.iter().copied());
    // Marks that hide others have to stay in their steps.
    let mut stays = overlaps.none();
    for mark in all() {
        let count = contents.iter().filter(|set| set.has(mark)).count();
        if 2 * count <= pictures.len() || constant.has(mark) || stays.has(mark) {
            continue;
        }
        // A mark drawn below must not show beside the marks that hide it.
        let hiding = overlaps.hidden_by(mark);
        let beside = overlaps.of(mark).without(hiding);
        if beside.meets(&constant) || beside.meets(&below) {
            continue;
        }
        let hiding = hiding.without(&constant);
        if contents.iter().all(|set| set.has(mark) || set.meets(&hiding)) {
            constant.insert(mark);
            stays.add(&hiding);
        }
    }
    is_constant.iter_mut().zip(0..).for_each(|(is_constant, mark)| *is_constant = constant.has(mark));
}

fn hold_back(overlaps: &Overlaps, marks: &[u32], is_constant: &mut [bool]) -> bool {
    let mut below = overlaps.none();
    let mut held_back = false;
    for mark in marks {
        let place = *mark as usize;
        if is_constant[place] && overlaps.any(*mark, &below) {
            is_constant[place] = false;
            held_back = true;
        }
        if !is_constant[place] {
            below.insert(*mark);
        }
    }
    held_back
}

/// Takes out of the steps the other marks that never change, such as headings above arrows. Returns them, and the rest
/// of each step and view below and above them.
pub fn middle(overlaps: &Overlaps, steps: &[Vec<Vec<u32>>]) -> (Layer, Sequences, Sequences) {
    let views = steps.first().map_or(0, Vec::len);
    let of_view = |view: usize| steps.iter().map(move |step| step[view].as_slice());
    let mut in_views: Vec<Vec<bool>> =
        (0..views).map(|view| in_all(overlaps, &of_view(view).collect::<Vec<_>>())).collect();
    // Each mark that is taken out of the layer may hold back others.
    let is_common = loop {
        let is_common: Vec<bool> =
            (0..overlaps.len()).map(|mark| in_views.iter().all(|is_in| is_in[mark])).collect();
        let mut held_back = false;
        for (view, is_in) in in_views.iter_mut().enumerate() {
            for marks in of_view(view) {
                held_back |= hold_back_misplaced(overlaps, marks, is_in, &is_common);
            }
        }
        if !held_back {
            break is_common;
        }
    };
    let mut layer = Layer::default();
    for (view, is_in) in in_views.iter().enumerate() {
        let all = chosen_marks(&of_view(view).collect::<Vec<_>>(), is_in);
        let (common, own) = all.into_iter().partition(|mark| is_common[*mark as usize]);
        layer.common = common;
        layer.of_views.push(own);
    }
    let part = |is_below| {
        let of_step = |step: &Vec<Vec<u32>>| {
            step.iter().zip(&in_views).map(|(marks, is_in)| part(overlaps, marks, is_in, is_below)).collect()
        };
        steps.iter().map(of_step).collect()
    };
    let (below, above) = (part(true), part(false));
    (layer, below, above)
}

/// Takes out of the layer the marks that cover a mark above it, and the marks of this view that lie below a mark of all
/// views, because those are drawn first.
fn hold_back_misplaced(overlaps: &Overlaps, marks: &[u32], is_in: &mut [bool], is_common: &[bool]) -> bool {
    let (mut inside, mut own, mut above) = (overlaps.none(), overlaps.none(), overlaps.none());
    let mut held_back = false;
    for mark in marks {
        let place = *mark as usize;
        if is_in[place] && overlaps.any(*mark, &above) {
            is_in[place] = false;
            held_back = true;
        }
        if is_in[place] && is_common[place] && overlaps.any(*mark, &own) {
            for covered in marks.iter().filter(|other| own.has(**other) && overlaps.has(*mark, **other)) {
                held_back |= std::mem::replace(&mut is_in[*covered as usize], false);
            }
        }
        if !is_in[place] {
            if overlaps.any(*mark, &inside) || overlaps.any(*mark, &above) {
                above.insert(*mark);
            }
            continue;
        }
        inside.insert(*mark);
        if !is_common[place] {
            own.insert(*mark);
        }
    }
    held_back
}

/// Returns the marks outside the layer: those below it if `is_below`, else those above.
fn part(overlaps: &Overlaps, marks: &[u32], is_in: &[bool], is_below: bool) -> Vec<u32> {
    let mut above = overlaps.none();
    let mut found = Vec::new();
    for mark in marks.iter().rev() {
        let is_inside = is_in[*mark as usize];
        let is_covered = overlaps.any(*mark, &above);
        if is_inside || is_covered {
            above.insert(*mark);
        }
        if !is_inside && is_covered == is_below {
            found.push(*mark);
        }
    }
    found.reverse();
    found
}

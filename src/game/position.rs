//! A state of any game behind one face: orders as lines, views and positions as JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::any::{Filing, Unsound};
use super::{
    Board, BySeat, Due, Fault, Game, HouseLevel, Line, Numbered, Options, Outcome, Sealed, Seat, Syntax,
};

/// A state of the game `G`.
#[derive(Serialize, Deserialize)]
#[serde(transparent, bound = "")]
pub struct Held<G: Game>(pub(super) G::State);

impl<G: Game> Clone for Held<G> {
    fn clone(&self) -> Self {
        Held(self.0.clone())
    }
}

impl<G: Game> fmt::Debug for Held<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<G: Game> PartialEq for Held<G> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// What any state answers; see [`Game`] for each.
pub(super) trait Position {
    fn due(&self) -> Option<Due>;
    fn outcome(&self) -> Option<Outcome>;
    fn close(&mut self, outcome: Outcome);
    fn position(&self) -> Value;
    fn options(&self) -> BTreeMap<&'static str, String>;
    fn view(&self, viewer: Seat) -> Value;
    fn extra(&self, viewer: Seat) -> Value;
    fn board(&self, viewer: Seat) -> Board;
    fn seal(&self, seat: Seat, lines: &[Line]) -> Result<Filing, Vec<Fault>>;
    fn missed(&self, seat: Seat) -> Option<Filing>;
    fn adjudicate(&mut self, filed: &BySeat<Option<Filing>>) -> Result<(), Unsound>;
    fn house(&self, seat: Seat, level: &HouseLevel, dice: u64) -> Option<Vec<String>>;
    fn random_filing(&self, seat: Seat, rng: &mut dyn FnMut(u32) -> u32) -> Vec<String>;
}

impl<G: Game> Position for Held<G> {
    fn due(&self) -> Option<Due> {
        G::due(&self.0)
    }

    fn outcome(&self) -> Option<Outcome> {
        G::outcome(&self.0)
    }

    fn close(&mut self, outcome: Outcome) {
        self.0 = G::close(&self.0, outcome);
    }

    fn position(&self) -> Value {
        G::position(&self.0)
    }

    fn options(&self) -> BTreeMap<&'static str, String> {
        let options = G::options(&self.0);
        <G::Options as Options>::RULES.iter().map(|rule| (rule.name, options.get(rule.name))).collect()
    }

    fn view(&self, viewer: Seat) -> Value {
        serde_json::to_value(G::view(&self.0, viewer)).expect("a view has string keys and plain values")
    }

    fn extra(&self, viewer: Seat) -> Value {
        G::extra(&G::view(&self.0, viewer))
    }

    fn board(&self, viewer: Seat) -> Board {
        G::board(&G::view(&self.0, viewer))
    }

    fn seal(&self, seat: Seat, lines: &[Line]) -> Result<Filing, Vec<Fault>> {
        seal::<G>(&G::view(&self.0, seat), lines).map(|sealed| Filing::of(&sealed))
    }

    fn missed(&self, seat: Seat) -> Option<Filing> {
        G::missed(&G::view(&self.0, seat)).map(|sealed| Filing::of(&sealed))
    }

    fn adjudicate(&mut self, filed: &BySeat<Option<Filing>>) -> Result<(), Unsound> {
        let mut sealed = BySeat::new(None, None);
        for (seat, filing) in filed.iter() {
            let Some(filing) = filing else { continue };
            let lines: Vec<_> =
                (1..).zip(filing.lines()).map(|(no, text)| Line { no, text: text.clone() }).collect();
            let checked = seal::<G>(&G::view(&self.0, seat), &lines);
            sealed[seat] = Some(checked.map_err(|faults| Unsound { seat, faults })?);
        }
        self.0 = G::adjudicate(&self.0, &sealed);
        Ok(())
    }

    fn house(&self, seat: Seat, level: &HouseLevel, dice: u64) -> Option<Vec<String>> {
        G::HOUSE.map(|house| (house.play)(&G::view(&self.0, seat), level, dice))
    }

    fn random_filing(&self, seat: Seat, rng: &mut dyn FnMut(u32) -> u32) -> Vec<String> {
        G::random_filing(&G::view(&self.0, seat), rng)
    }
}

/// Reads and checks `lines`: syntax faults and illegal orders together, each line at most once.
fn seal<G: Game>(view: &G::View, lines: &[Line]) -> Result<Sealed<G::Order>, Vec<Fault>> {
    let (mut orders, mut faults) = (Vec::new(), Vec::new());
    for line in lines {
        match G::parse(&line.text) {
            Ok(read) => orders.extend(read.into_iter().map(|order| Numbered { line: line.no, order })),
            Err(Syntax::Unknown) => {
                faults.push(Fault::on(line.no, format!("This is no order of {}.", G::NAME)));
            }
            Err(Syntax::Malformed { reason, example }) => {
                faults.push(Fault::on(line.no, reason).with_example(example));
            }
        }
    }
    let all_read = faults.is_empty();
    match G::check(view, &orders) {
        Ok(sealed) if all_read => return Ok(sealed),
        Ok(_) => {}
        Err(illegal) => faults.extend(illegal.into_iter().filter(|fault| all_read || !fault.missing)),
    }
    faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
    faults.dedup_by(|later, earlier| later.line.is_some() && later.line == earlier.line);
    Err(faults)
}

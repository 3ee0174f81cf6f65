//! A seat's memory of the enemy: the latest news of each place from earlier turns, and the turn of the news
//! (rules page `records.md`, Memory). It follows from the views that the seat was shown, so the state does
//! not keep it.

use super::galaxy::Quadrant;
use super::view::{Memory, Past, Place, View};
use crate::game::Phase;

impl Memory {
    /// Implements [`crate::game::Game::remember`].
    pub fn add(&mut self, view: &View) {
        // While casualties are chosen, a view repeats the news of the previous turn, and shows only half of a
        // battle.
        if view.context.phase == Some(Phase::Casualties) {
            return;
        }
        let fought = |quadrant: &Quadrant| view.battles.iter().any(|battle| battle.quadrant == *quadrant);
        let calm = view.standoffs.iter().filter(|quadrant| !fought(quadrant));
        replace(&mut self.intruders, view.turn, view.intruders.iter().copied(), |one| one.at.quadrant());
        replace(&mut self.entries, view.turn, view.entries.iter().map(place), |one| one.quadrant);
        replace(&mut self.standoffs, view.turn, calm.map(place), |one| one.quadrant);
        replace(&mut self.battles, view.turn, view.battles.iter().cloned(), |one| one.quadrant);
    }
}

fn place(quadrant: &Quadrant) -> Place {
    Place { quadrant: *quadrant }
}

/// Replaces the memory of quadrants with this turn's news of them.
fn replace<News>(
    past: &mut Vec<Past<News>>,
    turn: u16,
    news: impl Iterator<Item = News>,
    quadrant: impl Fn(&News) -> Quadrant,
) {
    let news: Vec<News> = news.collect();
    past.retain(|known| news.iter().all(|new| quadrant(new) != quadrant(&known.news)));
    past.extend(news.into_iter().map(|news| Past { turn, news }));
    // The sort is stable: within a quadrant, items keep the order of the squares.
    past.sort_by_key(|known| quadrant(&known.news));
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::super::galaxy::Square;
    use super::super::view::Intruder;
    use super::*;
    use crate::game::{Game, Seat};

    fn view(turn: u16, intruders: &[(&str, u16)], entries: &str, standoffs: &str) -> View {
        let mut view = State::start(&super::super::Options::default()).view(Seat::First);
        let square = |text: &str| Square::parse(text).expect("a square");
        let quadrants = |letters: &str| -> Vec<Quadrant> {
            letters.chars().map(|letter| square(&format!("{letter}1")).quadrant()).collect()
        };
        view.turn = turn;
        view.intruders =
            intruders.iter().map(|(at, size)| Intruder { at: square(at), size: *size }).collect();
        view.entries = quadrants(entries);
        view.standoffs = quadrants(standoffs);
        view
    }

    #[test]
    fn the_latest_news_of_each_quadrant_is_remembered_with_its_turn() {
        let mut memory = Memory::default();
        memory.add(&view(1, &[("A1", 2), ("A3", 5), ("B1", 1)], "L", ""));
        memory.add(&view(2, &[("A4", 3)], "MD", "N"));
        memory.add(&view(3, &[], "", ""));
        let expected = serde_json::json!({
            "intruders": [{ "turn": 2, "at": "A4", "size": 3 }, { "turn": 1, "at": "B1", "size": 1 }],
            "entries": [
                { "turn": 2, "quadrant": "D" }, { "turn": 1, "quadrant": "L" }, { "turn": 2, "quadrant": "M" },
            ],
            "standoffs": [{ "turn": 2, "quadrant": "N" }],
            "battles": [],
        });
        let json = serde_json::to_value(&memory).expect("plain values");
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_value::<Memory>(json).expect("as written"), memory);
    }

    #[test]
    fn nothing_is_remembered_from_the_middle_of_a_turn() {
        let mut memory = Memory::default();
        let mut half = view(4, &[("A1", 2)], "L", "");
        half.context.phase = Some(Phase::Casualties);
        memory.add(&half);
        assert_eq!(memory, Memory::default());
    }
}

//! The fixed figures of the house, from the matches between its levels (docs/house.md): Average is 1500, and
//! the distance of each other level follows from its wins and losses. Where only a bound of a distance is
//! known, the bound counts.

use crate::game::any::GameKind;
use crate::ledger::HouseFigure;

/// The deviation of every level.
const DEVIATION: i32 = 50;

/// Figures by game and level.
const FIGURES: [(&str, &str, i32); 14] = [
    ("quad", "trainer", 947),
    ("quad", "easy", 1202),
    ("quad", "average", 1500),
    ("quad", "expert", 1670),
    ("quantum", "trainer", 242),
    ("quantum", "easy", 540),
    ("quantum", "average", 1500),
    ("quantum", "expert", 1962),
    ("pacific", "trainer", 813),
    ("pacific", "easy", 963),
    ("pacific", "average", 1500),
    ("quadrant-z", "trainer", -120),
    ("quadrant-z", "easy", 540),
    ("quadrant-z", "average", 1500),
];

/// Returns the figure of the house at a level; `None` for a level that was never measured.
pub fn house_figure(game: GameKind, level: &str) -> Option<HouseFigure> {
    let found = FIGURES.iter().find(|(of_game, name, _)| *of_game == game.key() && *name == level);
    found.map(|(_, _, figure)| HouseFigure { figure: *figure, deviation: DEVIATION })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house;

    #[test]
    fn every_level_of_the_house_has_a_figure_and_a_stronger_one_has_a_higher() {
        for game in GameKind::ALL {
            let figures: Vec<i32> = house::levels(*game)
                .iter()
                .map(|level| house_figure(*game, level.name).expect("a figure").figure)
                .collect();
            assert!(figures.is_sorted() && !figures.is_empty(), "{game}: {figures:?}");
        }
    }
}

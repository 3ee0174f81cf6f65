//! The player that a name or a number means.

use strsim::jaro_winkler;
use unicode_normalization::UnicodeNormalization as _;

use super::member::{number, read_number};

/// Maximum players that an answer lists.
const MAX_LISTED: usize = 10;

/// Minimum similarity of a name that is suggested.
const ALIKE: f64 = 0.75;

/// The facts about a player that others can know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPlayer {
    pub id: i64,
    pub name: String,
}

/// The meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    Player(i64),
    /// These players, each with name and number.
    Several(Vec<String>),
    /// Nobody. These names are the most similar.
    Nobody(Vec<String>),
}

impl Meant {
    /// Returns the only player who is meant.
    ///
    /// # Errors
    /// A sentence that says who else is meant, or whose names are similar to what was `written`.
    pub fn only(self, written: &str) -> Result<i64, String> {
        match self {
            Meant::Player(id) => Ok(id),
            Meant::Several(players) => Err(format!("Several players fit {written}: {}.", players.join(", "))),
            Meant::Nobody(_) if read_number(written).is_some() => {
                Err(format!("There is no player {written}."))
            }
            Meant::Nobody(nearest) if nearest.is_empty() => Err(format!("Nobody is called {written}.")),
            Meant::Nobody(nearest) => {
                Err(format!("Nobody is called {written}. Nearest: {}.", nearest.join(", ")))
            }
        }
    }
}

/// Whether a name, or a part of one, or a number may mean this player.
pub fn may_mean(written: &str, player: &NamedPlayer) -> bool {
    read_number(written.trim()) == Some(player.id) || lower_case(&player.name).contains(&lower_case(written))
}

/// Finds who is meant by a name, a part of one, or a number such as `P-12`, among `known`. An exact name takes
/// precedence over beginnings, and these over other parts.
pub fn find_player(written: &str, known: &[NamedPlayer]) -> Meant {
    if let Some(id) = read_number(written.trim()) {
        return match known.iter().any(|player| player.id == id) {
            true => Meant::Player(id),
            false => Meant::Nobody(Vec::new()),
        };
    }
    let wanted = lower_case(written);
    let fits: [fn(&str, &str) -> bool; 3] =
        [str::eq, |name, wanted| name.starts_with(wanted), |name, wanted| name.contains(wanted)];
    let fitting = |fits: fn(&str, &str) -> bool| -> Vec<&NamedPlayer> {
        known.iter().filter(|player| !wanted.is_empty() && fits(&lower_case(&player.name), &wanted)).collect()
    };
    let fits = fits.into_iter().map(fitting).find(|found| !found.is_empty()).unwrap_or_default();
    match fits[..] {
        [only] => Meant::Player(only.id),
        [] => {
            let known = known.iter().map(|player| (lower_case(&player.name), name_with_number(player)));
            Meant::Nobody(nearest(&wanted, known))
        }
        _ => Meant::Several(fits.into_iter().take(MAX_LISTED).map(name_with_number).collect()),
    }
}

/// Returns the names most similar to `wanted`, which nobody has. `known` holds each name in the form to compare,
/// and in the form to show.
pub fn nearest(wanted: &str, known: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let likeness = known.map(|(name, shown)| (jaro_winkler(&name, wanted), shown));
    let mut alike: Vec<(f64, String)> = likeness.filter(|(likeness, _)| *likeness >= ALIKE).collect();
    alike.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    alike.into_iter().take(3).map(|(_, shown)| shown).collect()
}

/// Returns the events with names most similar to `wanted`, which no event has.
pub fn nearest_events(wanted: &str, known: impl Iterator<Item = String>) -> Vec<String> {
    // All names begin alike.
    let compared = |id: &str| id.strip_prefix("EV-").unwrap_or(id).to_owned();
    nearest(&compared(wanted), known.map(|id| (compared(&id), id)))
}

/// Returns a player's name with the number.
pub fn name_with_number(player: &NamedPlayer) -> String {
    format!("{} ({})", player.name, number(player.id))
}

/// Whether a spreadsheet that opens this text as a cell would take it for a formula, and run it. A number is none.
///
/// Spreadsheets do so with full-width forms of the signs, too, and after blanks.
pub fn begins_like_formula(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'])
        && !text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Returns a name in lower case and in one form: some systems write letters with accents as two characters.
pub fn lower_case(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase().nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_with_accents_are_one_in_both_forms() {
        let known = [NamedPlayer { id: 1, name: "J\u{f6}rg Z".to_owned() }];
        for written in ["Jo\u{308}rg Z", "j\u{f6}rg", "JO\u{308}RG"] {
            assert_eq!(find_player(written, &known), Meant::Player(1), "{written}");
        }
    }

    fn club() -> Vec<NamedPlayer> {
        let named = |(id, name): (i64, &str)| NamedPlayer { id, name: name.to_owned() };
        [(1, "Bo"), (2, "Bob Baker"), (3, "Bobby Brown"), (4, "Cy Young"), (5, "Cy Young")]
            .map(named)
            .to_vec()
    }

    #[test]
    fn an_exact_name_goes_before_beginnings_and_a_number_before_both() {
        let club = club();
        let meant = |written: &str| find_player(written, &club);
        assert_eq!(meant("bo"), Meant::Player(1));
        assert_eq!(meant("bob  b"), Meant::Player(2));
        assert_eq!(meant("P-3"), Meant::Player(3));
        assert_eq!(meant("p-9"), Meant::Nobody(Vec::new()));
        assert_eq!(
            meant("Bob"),
            Meant::Several(vec!["Bob Baker (P-2)".to_owned(), "Bobby Brown (P-3)".to_owned()])
        );
        assert_eq!(
            meant("cy young"),
            Meant::Several(vec!["Cy Young (P-4)".to_owned(), "Cy Young (P-5)".to_owned()])
        );
        assert_eq!(
            meant("Bobby Braun"),
            Meant::Nobody(["Bobby Brown (P-3)", "Bob Baker (P-2)", "Bo (P-1)"].map(str::to_owned).to_vec())
        );
        assert_eq!(meant("Xerxes"), Meant::Nobody(Vec::new()));
        assert_eq!(meant("brown"), Meant::Player(3));
        assert_eq!(meant(" "), Meant::Nobody(Vec::new()));
    }

    #[test]
    fn a_formula_is_told_from_a_name_and_a_number() {
        for text in ["=1+1", "+1+1", "-A1", "@SUM(A1)", " =1", "\t=1", "\u{ff1d}1", "-inf", "+1 2"] {
            assert!(begins_like_formula(text), "{text:?}");
        }
        for text in ["", "Ann", "1=1", "-1.5", "+2", "'t Hooft", "a@b.c"] {
            assert!(!begins_like_formula(text), "{text:?}");
        }
    }
}

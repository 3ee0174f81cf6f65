//! The player that a name or a number means.
//!
//! Whether readers could take one name for another. It is decided by the skeletons of UTS 39, 4 (Confusable
//! Detection), which are equal for letters that are drawn alike in any script.

use std::collections::BTreeMap;

use strsim::jaro_winkler;
use unicode_normalization::UnicodeNormalization as _;
use unicode_security::confusable_detection::skeleton;

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
        return if known.iter().any(|player| player.id == id) {
            Meant::Player(id)
        } else {
            Meant::Nobody(Vec::new())
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
    nearest(&compared(wanted), known.map(|id| (compared(&id), id)))
}

fn compared(id: &str) -> String {
    id.strip_prefix("EV-").unwrap_or(id).to_owned()
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

/// The forms in which a name is compared. Two names look alike if they share one of the same kind.
pub struct Likeness(Vec<Form>);

/// The kind of a form, as its place in [`skeletons`], and the skeleton.
type Form = (usize, String);

impl Likeness {
    pub fn of(name: &str) -> Likeness {
        // `Bo` in superscripts reads as `Bo`, and so does `Bo` with one behind it.
        let plain: String = name.nfkd().collect();
        let bare: String = name.chars().filter(|c| !is_variant(*c)).collect();
        let forms = [plain, bare].into_iter().flat_map(|text| skeletons(&text).into_iter().enumerate());
        Likeness(forms.filter(|(_, skeleton)| !skeleton.is_empty()).collect())
    }

    /// Whether readers could take one name for the other.
    pub fn is_like(&self, other: &Likeness) -> bool {
        self.0.iter().any(|form| other.0.contains(form))
    }

    /// Whether the name begins so that readers could take it for this lower-case word.
    pub fn begins_with(&self, word: &str) -> bool {
        self.0.iter().any(|(_, skeleton)| skeleton.starts_with(word))
    }
}

/// The names of players, found by likeness.
pub struct NamesInUse<'a>(BTreeMap<Form, Vec<&'a NamedPlayer>>);

impl<'a> NamesInUse<'a> {
    pub fn new(players: impl IntoIterator<Item = &'a NamedPlayer>) -> NamesInUse<'a> {
        let mut named: BTreeMap<Form, Vec<&NamedPlayer>> = BTreeMap::new();
        for player in players {
            for form in Likeness::of(&player.name).0 {
                named.entry(form).or_default().push(player);
            }
        }
        NamesInUse(named)
    }

    /// Says which other players' names look like that of this one, if there are any.
    pub fn namesakes_of(&self, player: &NamedPlayer) -> Option<String> {
        let forms = Likeness::of(&player.name).0;
        let mut others: Vec<&NamedPlayer> =
            forms.iter().filter_map(|form| self.0.get(form)).flatten().copied().collect();
        others.retain(|other| other.id != player.id);
        others.sort_by_key(|other| other.id);
        others.dedup_by_key(|other| other.id);
        if others.is_empty() {
            return None;
        }
        let others: Vec<String> = others.into_iter().map(name_with_number).collect();
        Some(format!("The name of {} looks like that of {}.", name_with_number(player), others.join(", ")))
    }
}

/// Whether a name holds what looks like a player's number, such as `P-12`. Our letters write the number behind a name.
pub fn holds_number(name: &str) -> bool {
    let plain: String = name.nfkd().collect();
    let words: Vec<&str> =
        plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_joined = |word: &&str| {
        let digits = word.char_indices().nth(1).map_or(word.len(), |(at, _)| at);
        is_p(&word[..digits]) && reads_as_number(&word[digits..])
    };
    words.windows(2).any(|pair| is_p(pair[0]) && reads_as_number(pair[1]))
        || words.len() > 1 && words.iter().any(is_joined)
}

fn reads_as_number(text: &str) -> bool {
    let reads_as_digit = |c: char| c.is_numeric() || matches!(c, 'l' | 'I' | 'o' | 'O');
    text.chars().all(reads_as_digit) && text.contains(char::is_numeric)
}

fn is_p(text: &str) -> bool {
    skeleton(text).eq(['P']) || skeleton(text).eq(['p'])
}

/// Whether a character is a variant of ASCII letters or digits, such as a superscript.
fn is_variant(c: char) -> bool {
    !c.is_ascii() && c.nfkd().all(|plain| plain.is_ascii_alphanumeric())
}

/// Returns the skeletons of a text as it is written, in lower case and in capitals: `I` looks like `l` and `0` like `O`,
/// and readers take no notice of case.
fn skeletons(text: &str) -> [String; 3] {
    [text.to_owned(), text.to_lowercase(), text.to_uppercase()].map(|text| compared_letters(&text))
}

/// Returns the letters and digits of a skeleton in lower case. Its `L` stays, because `l` stands for `I`, too, and Lan is
/// not Ian.
fn compared_letters(text: &str) -> String {
    let lower = skeleton(text).flat_map(|c| {
        let stays = (c == 'L').then_some(c);
        stays.into_iter().chain(c.to_lowercase().filter(move |_| c != 'L'))
    });
    // Marks that belong to no letter, such as a line below, distinguish no name.
    lower.nfc().filter(|c| c.is_alphanumeric()).collect()
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

    fn alike(one: &str, other: &str) -> bool {
        Likeness::of(one).is_like(&Likeness::of(other))
    }

    #[test]
    fn names_that_a_reader_could_take_for_another_look_alike() {
        for other in [
            "bo",
            "B O",
            "B.o.",
            "B0",
            "b0",
            "\u{412}o",
            "B\u{43e}",
            "\u{432}\u{43e}",
            "\u{392}\u{3bf}",
            "Bo\u{b2}",
            "B\u{1d52}",
            "\u{1d2e}\u{1d52}",
            "Bo\u{2460}",
            "\u{ff22}\u{ff4f}",
            "\u{1d401}\u{1d428}",
            "Bo\u{200b}",
            "Bo\u{332}",
            "\u{2605} Bo",
            "B\u{585}",
            "\u{13cf}o",
        ] {
            assert!(alike("Bo", other), "{other:?}");
        }
        for (one, other) in [
            ("Bill", "BiII"),
            ("Bill", "Bi11"),
            ("Paul", "pauI"),
            ("Ian", "lan"),
            ("Barn", "Bam"),
            ("PAUL", "paul"),
            ("Zo\u{eb}", "Zoe\u{308}"),
            ("\u{18f}li", "\u{259}li"),
        ] {
            assert!(alike(one, other), "{one:?} {other:?}");
        }
        for (one, other) in [
            ("Bo", "B\u{f6}"),
            ("Bo", "Bob"),
            ("Bo", "Bo2"),
            ("Ian", "Lan"),
            ("Ilia", "Lila"),
            ("Mia", "Mla"),
            ("\u{5c71}\u{7530}", "\u{5c71}\u{672c}"),
            ("\u{418}\u{432}\u{430}\u{43d}", "\u{418}\u{432}\u{430}"),
        ] {
            assert!(!alike(one, other), "{one:?} {other:?}");
        }
        assert!(Likeness::of("H0use (easy)").begins_with("house"));
        assert!(!Likeness::of("Chouse").begins_with("house"));
    }

    #[test]
    fn a_players_number_is_found_wherever_it_stands_in_a_name() {
        for name in [
            "P-12",
            "Bo (P-2)",
            "Bo P\u{2013}2",
            "Bo [p 2]",
            "\u{420}-2 Bo",
            "Bo (P2)",
            "Bo P-l2",
            "Bo P-\u{662}",
        ] {
            assert!(holds_number(name), "{name}");
        }
        for name in ["Bo", "P. Lo", "J. P. Ott", "C-3PO", "P2", "R2D2", "Bo 2", "Pia-2"] {
            assert!(!holds_number(name), "{name}");
        }
    }

    #[test]
    fn namesakes_are_told_by_their_numbers() {
        let player = |(id, name): (i64, &str)| NamedPlayer { id, name: name.to_owned() };
        let club = [(1, "Bo"), (2, "Ann"), (3, "b0"), (4, "B\u{43e}")].map(player);
        let in_use = NamesInUse::new(&club);
        let said = in_use.namesakes_of(&club[0]).expect("there are");
        assert_eq!(said, "The name of Bo (P-1) looks like that of b0 (P-3), B\u{43e} (P-4).");
        assert_eq!(in_use.namesakes_of(&club[1]), None);
    }
}

//! Whether readers could take one name for another. It is decided by the skeletons of UTS 39, 4 (Confusable
//! Detection), which are equal for letters that are drawn alike in any script.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::confusable_detection::skeleton;

use super::names::{NamedPlayer, name_with_number};

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
    let is_p = |text: &str| skeleton(text).eq(['P']) || skeleton(text).eq(['p']);
    let is_number = |text: &str| {
        let reads_as_digit = |c: char| c.is_numeric() || matches!(c, 'l' | 'I' | 'o' | 'O');
        text.chars().all(reads_as_digit) && text.contains(char::is_numeric)
    };
    let is_joined = |word: &&str| {
        let digits = word.char_indices().nth(1).map_or(word.len(), |(at, _)| at);
        is_p(&word[..digits]) && is_number(&word[digits..])
    };
    words.windows(2).any(|pair| is_p(pair[0]) && is_number(pair[1]))
        || words.len() > 1 && words.iter().any(is_joined)
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

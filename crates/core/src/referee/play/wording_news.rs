//! The sides' knowledge that the club has replaced templates, so that their letters are worded differently.

use std::collections::BTreeMap;

use super::game_match::Match;
use super::kept::WordingNews;
use crate::game::{BySeat, Seat};
use crate::letter::Digest;

/// The folders of templates that shape letters to seats, in addition to that of the match's game.
const SEAT_FOLDERS: [&str; 4] = ["commands", "frame", "help", "match"];

impl Match {
    /// Returns the club's own templates that shape letters to the seats of this match, each with its SHA-256.
    /// The rules of other games, which RULES sends, do not count.
    pub fn own_templates(&self) -> BTreeMap<String, Digest> {
        let mut own = self.mail_identity.templates.clone();
        own.retain(|name, _| {
            let folder = name.split('/').next().unwrap_or_default();
            folder == self.game.key() || SEAT_FOLDERS.contains(&folder)
        });
        own
    }
}

/// Returns the club's own templates that each seat last knew of, before the identity changes.
pub fn known_before(game_match: &Match) -> BySeat<BTreeMap<String, Digest>> {
    BySeat::from_fn(|seat| match game_match.wording_news[seat] {
        WordingNews::Pending => game_match.templates_told[seat].clone(),
        WordingNews::Known | WordingNews::InLastLetters => game_match.own_templates(),
    })
}

/// Notes which seats the next letter must inform about the club's own templates: those that do not know the
/// ones in force.
pub fn note(game_match: &mut Match, known: &BySeat<BTreeMap<String, Digest>>) {
    let own = game_match.own_templates();
    for seat in Seat::BOTH {
        let is_known = known[seat] == own;
        game_match.wording_news[seat] = if is_known { WordingNews::Known } else { WordingNews::Pending };
        game_match.templates_told[seat] = if is_known { BTreeMap::new() } else { known[seat].clone() };
    }
}

/// Notes that a letter to the seat is written, which mentions the pending news.
pub fn tell(game_match: &mut Match, seat: Seat) {
    if game_match.wording_news[seat] == WordingNews::Pending {
        game_match.wording_news[seat] = WordingNews::InLastLetters;
        game_match.templates_told[seat].clear();
    }
}

//! Whether the sides know that the club has replaced templates, so that their letters are worded differently.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Match;
use crate::game::{BySeat, Seat};
use crate::letter::Digest;

/// A seat's knowledge of the club's own templates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WordingNews {
    /// It was told of those in force, or there never were any.
    #[default]
    Known,
    /// The next letter tells it.
    Pending,
    /// The letters of the last ruling tell it.
    Told,
}

impl WordingNews {
    /// After another ruling: if its letters told the change, the seat knows it.
    pub(super) fn after_ruling(self) -> WordingNews {
        match self {
            WordingNews::Told => WordingNews::Known,
            WordingNews::Known | WordingNews::Pending => self,
        }
    }
}

/// The folders of templates that shape letters to seats, beside the one of the match's game.
const SEAT_FOLDERS: [&str; 4] = ["commands", "frame", "help", "match"];

impl Match {
    /// Returns the club's own templates that shape letters to the seats of this match, each with its SHA-256. The rules of
    /// other games, which RULES sends, do not count.
    pub fn own_templates(&self) -> BTreeMap<String, Digest> {
        let mut own = self.desk.templates.clone();
        own.retain(|name, _| {
            let folder = name.split('/').next().unwrap_or_default();
            folder == self.game.key() || SEAT_FOLDERS.contains(&folder)
        });
        own
    }

    /// Returns the club's own templates that each seat was told of last, before the identity changes.
    pub(super) fn told_before(&self) -> BySeat<BTreeMap<String, Digest>> {
        BySeat::from_fn(|seat| match self.wording_news[seat] {
            WordingNews::Pending => self.templates_told[seat].clone(),
            WordingNews::Known | WordingNews::Told => self.own_templates(),
        })
    }

    /// Notes which seats the next letter tells of the club's own templates: those that were not told of the ones in force.
    pub(super) fn note_wording(&mut self, told: &BySeat<BTreeMap<String, Digest>>) {
        let own = self.own_templates();
        for seat in Seat::BOTH {
            let is_told = told[seat] == own;
            self.wording_news[seat] = if is_told { WordingNews::Known } else { WordingNews::Pending };
            self.templates_told[seat] = if is_told { BTreeMap::new() } else { told[seat].clone() };
        }
    }

    /// A letter to the seat is written, which tells what is pending.
    pub(super) fn tell_wording(&mut self, seat: Seat) {
        if self.wording_news[seat] == WordingNews::Pending {
            self.wording_news[seat] = WordingNews::Told;
            self.templates_told[seat].clear();
        }
    }
}

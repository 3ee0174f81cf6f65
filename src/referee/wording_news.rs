//! Whether the sides know that the club has replaced templates, so that their letters are worded differently.

use serde::{Deserialize, Serialize};

use crate::game::{BySeat, Seat};

/// What a seat knows of the last change of the club's own templates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WordingNews {
    /// There was none, or an earlier letter told it.
    #[default]
    Known,
    /// The next letter tells it.
    Pending,
    /// The letters of the last ruling tell it.
    Told,
}

/// Whether both sides know of all changes. The snapshot then omits the field.
pub(super) fn is_known(news: &BySeat<WordingNews>) -> bool {
    Seat::BOTH.into_iter().all(|seat| news[seat] == WordingNews::Known)
}

impl WordingNews {
    /// After another ruling: if its letters told the change, the seat knows it.
    pub(super) fn after_ruling(self) -> WordingNews {
        match self {
            WordingNews::Told => WordingNews::Known,
            WordingNews::Known | WordingNews::Pending => self,
        }
    }

    /// Once a letter to the seat is written.
    pub(super) fn in_letter(self) -> WordingNews {
        match self {
            WordingNews::Pending => WordingNews::Told,
            WordingNews::Known | WordingNews::Told => self,
        }
    }
}

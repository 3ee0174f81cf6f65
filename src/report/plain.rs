//! Letters that are about no running match: answers to anybody, offers to play.

use serde::Serialize;

use crate::game::Line;
use crate::referee::{OfferTold, Reply};

/// What such a letter says.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "plain", rename_all = "snake_case")]
pub enum Plain {
    /// The answer to somebody who holds no seat; `why`: what the letter lacked.
    Stranger { replies: Vec<Reply>, remarks: Vec<Line>, why: String },
    /// To who is challenged.
    Challenge { by: String, offer: OfferTold, code: String, lapses: String },
    /// To who offered: it was declined by `to`.
    Declined { to: String, offer: OfferTold },
    /// To who offered: nobody took it up.
    Lapsed { to: Option<String>, offer: OfferTold, code: String },
}

impl Plain {
    pub(super) fn template(&self) -> &'static str {
        match self {
            Plain::Stranger { .. } => "stranger.txt",
            Plain::Challenge { .. } => "challenge.txt",
            Plain::Declined { .. } | Plain::Lapsed { .. } => "offer-ended.txt",
        }
    }

    /// The replies in it, which may want pages of the manual.
    pub(super) fn replies(&self) -> &[Reply] {
        match self {
            Plain::Stranger { replies, .. } => replies,
            Plain::Challenge { .. } | Plain::Declined { .. } | Plain::Lapsed { .. } => &[],
        }
    }
}

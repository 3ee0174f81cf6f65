//! Sample offers to play, and the replies about them.

use super::{BO, DAY, MATCH_ID, changes, settings_refused};
use crate::game::Seat;
use crate::game::any::{Choices, GameKind};
use crate::ledger::{Lot, SealKey};
use crate::letter::Digest;
use crate::referee::{MatchSummary, Offer, OfferRejection, OfferSummary, OpenSeat, Reply, Terms};

pub fn offer() -> OfferSummary {
    let lot = Lot { key: SealKey::new([7; 32]), offer: Digest::from([0; 32]), seat: None };
    let offer = Offer {
        game: GameKind::Quad,
        choices: Choices::default(),
        days: Some(3),
        seat: Some(Seat::First),
        lot: Some(lot),
    };
    offer.summary(&Terms::default())
}

pub fn no_house() -> OfferRejection {
    OfferRejection::NoHouse { game_name: "chess".to_owned(), plays: vec!["quad"] }
}

pub fn no_level() -> OfferRejection {
    let level = "grandmaster".to_owned();
    OfferRejection::NoLevel { level, game: "quad", game_name: "Quad", levels: vec!["easy", "expert"] }
}

pub fn match_summary() -> MatchSummary {
    MatchSummary {
        id: "QU-0000".to_owned(),
        game_name: "Quad",
        foe: BO.to_owned(),
        phase: "turn 1".to_owned(),
        awaited: vec![BO.to_owned()],
        due: None,
        due_at: Some(DAY.to_owned()),
    }
}

/// Replies about offers.
pub fn offer_replies() -> Vec<Reply> {
    let to = BO.to_owned();
    let code = "7K3M9P".to_owned();
    let lapses = DAY.to_owned();
    let open = OpenSeat { code: code.clone(), by: to.clone(), offer: offer(), lapses: lapses.clone() };
    let rejections = [
        OfferRejection::UnknownGame { name: "chess".to_owned() },
        OfferRejection::BadOption { reason: "No.".to_owned() },
        OfferRejection::Yourself,
        OfferRejection::Standing { code: Some(code.clone()) },
        OfferRejection::Standing { code: None },
        OfferRejection::Unwilling { to: to.clone() },
        OfferRejection::Engaged { to: to.clone() },
        OfferRejection::DeclinedBefore { to: to.clone() },
        OfferRejection::NewcomerReach { most: 3 },
        OfferRejection::Crowded { to: to.clone() },
        OfferRejection::TooMany { most: 1 },
        OfferRejection::NoSuchCode { code: code.clone() },
        OfferRejection::HouseBusy { most: 1, running: vec!["QD-7K3M".to_owned()] },
        no_house(),
        no_level(),
        OfferRejection::MembersOnly,
        OfferRejection::NeedsApproval,
        OfferRejection::Unproven,
    ];
    let mut replies = rejections.map(|why| Reply::NoOffer { command: "OPEN", why }).to_vec();
    replies.extend([
        Reply::Games { seats: vec![open] },
        Reply::Matches { matches: Vec::new() },
        Reply::Matches { matches: vec![match_summary()] },
        Reply::Challenged { to, offer: offer(), lapses: lapses.clone() },
        Reply::Opened { code, offer: offer(), lapses },
        Reply::Joined { match_id: "QU-0000".to_owned() },
        Reply::Declined,
        Reply::Confirmed { replies: vec![Reply::Declined] },
        Reply::NoQuestion { code: "7K3M9P2X".to_owned() },
        Reply::Waits { command: "OPEN" },
        Reply::Challenges { on: true },
        Reply::Challenges { on: false },
        Reply::NeverWithoutCode,
        Reply::Settings { shown: vec!["format=text".to_owned()], changed: true },
        Reply::Settings { shown: vec!["format=text".to_owned()], changed: false },
        settings_refused(),
        Reply::SettingsTooOften { most: 2 },
        Reply::SettingsLackToken,
        Reply::LeftOut { count: 1 },
        Reply::LettersConfirmed { address: BO.to_owned(), letters: 1, change: None },
        Reply::LettersDenied { matches: vec![MATCH_ID.to_owned()] },
        Reply::NothingToConfirm { code: "7K3M9P2Q4R".to_owned() },
        Reply::CheckedOnly { command: "OPEN" },
    ]);
    replies.extend(changes::replies());
    replies
}

//! Sample notices.

use chrono::DateTime;

use super::{ANN, BO};
use crate::game::Seat;
use crate::game::record::Ending;
use crate::referee::{Absence, HouseFailure, Notice};

/// Every notice.
pub fn notices() -> Vec<Notice> {
    let (by, day) = (Seat::First, chrono::NaiveDate::default());
    vec![
        Notice::DrawOffered { by },
        Notice::ExtensionAsked { by, days: 1 },
        Notice::Extended { days: 1 },
        Notice::Slid,
        Notice::Undelivered { seat: by, deadline: DateTime::UNIX_EPOCH },
        Notice::Absent { seat: by, from: day, to: day, also: vec!["QD-7K3M".to_owned()] },
        Notice::Absences {
            seat: by,
            absences: vec![Absence { from: day, to: day, zone: None }; 2],
            also: vec!["QD-7K3M".to_owned()],
        },
        Notice::SubstituteAsked { by },
        Notice::Words { by, text: "Hello".to_owned() },
        Notice::Protested { by, text: Some("It was so.".to_owned()), turn: Some(2), last: Some(1) },
        Notice::Paused { reason: crate::ledger::PauseReason::Gm("a reason".to_owned()) },
        Notice::Resumed,
        Notice::Message { by, text: "Hello".to_owned() },
        Notice::Extension { deadline: DateTime::UNIX_EPOCH },
        Notice::MessageOfGm { text: "A message.".to_owned() },
        Notice::GmWrote { to: by },
        Notice::FiledByGm { seat: by },
        Notice::Replaced { seat: by, from: ANN.to_owned(), to: BO.to_owned(), agreed: false },
        Notice::Replaced { seat: by, from: ANN.to_owned(), to: BO.to_owned(), agreed: true },
        Notice::Vanished { seat: by, deadline: DateTime::UNIX_EPOCH },
        Notice::TokenRenewed { seat: by },
        Notice::Renamed { from: ANN.to_owned(), to: BO.to_owned() },
        Notice::Reopened { turn: 1, reason: "A reason.".to_owned() },
        Notice::Overdue { seats: vec![by], bouncing: vec![by] },
        Notice::Over { outcome: Ending::Draw.outcome() },
        Notice::HouseFailed { seat: by, failure: HouseFailure::Panicked },
    ]
}

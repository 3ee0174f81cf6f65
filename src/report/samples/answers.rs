//! Sample answers to letters of a seat.

use chrono::DateTime;

use super::{replies_to_seats, too_many_lines};
use crate::game::any::Filing;
use crate::game::{Fault, Line};
use crate::letter::Digest;
use crate::referee::{Answer, LeftOut, Orders, OtherPart, PartOutcome, Passing, PastReport, PastReports};

/// Returns sample answers. `filing` holds orders for their match.
pub fn answers(filing: Option<Filing>) -> Vec<Answer> {
    let fault = Fault::on(1, "A reason.").with_example("AN EXAMPLE");
    let past_report = PastReport { title: "A report".to_owned(), lines: vec!["A line".to_owned()] };
    let past_reports = PastReports { reports: vec![past_report], left_out: 2 };
    let many_faults: Vec<Fault> = (1..=50).map(|_| fault.clone()).collect();
    let orders = [
        Orders::None,
        Orders::Refused { faults: vec![fault.clone(), Fault::whole("All of it.")], check: true },
        Orders::Refused { faults: many_faults, check: false },
        conditions(None),
        conditions(Some(Digest::from([0; 32]))),
    ];
    let filed = filing.into_iter().flat_map(|filing| {
        let sealed = |again| Orders::Sealed {
            filing: filing.clone(),
            sealed: Digest::from([0; 32]),
            wait: again,
            replaced: again,
        };
        [sealed(false), sealed(true), Orders::Checked { filing: filing.clone() }]
    });
    let with_orders = orders.into_iter().chain(filed).map(|orders| Answer {
        orders,
        quoted: Line::numbered(&["A line"]),
        ..Answer::default()
    });
    let mut answers: Vec<Answer> = with_orders.collect();
    answers.push(Answer {
        to: Some(Digest::from([0; 32])),
        replies: replies_to_seats(),
        faults: vec![fault],
        remarks: too_many_lines(),
        replaced: too_many_lines(),
        unread: Some("It is encrypted.".to_owned()),
        attachments: vec!["orders.pdf".to_owned()],
        accepted_since: Some(DateTime::UNIX_EPOCH),
        passed_on: Some(Passing::InDigest),
        gm_is_opponent: true,
        cuts_text: true,
        others: vec![OtherPart { match_id: "QD-7K3M".to_owned(), outcome: PartOutcome::NotFiled }],
        reports: vec![PastReports::default(), past_reports],
        left_out: LeftOut { orders: 0, commands: 3, faults: 4 },
        ..Answer::default()
    });
    answers
}

/// Conditions that were sealed, or only checked.
fn conditions(sealed: Option<Digest>) -> Orders {
    let lines = vec!["IF E5 THEN F6".to_owned()];
    Orders::Conditions { lines, sealed, replaced: sealed.is_some(), wait: true }
}

//! A digest with something in each of its lists.

use super::{ANN, BO, DAY, MATCH_ID};
use crate::game::Reason;
use crate::referee::DispatchKind;
use crate::report::{
    FailedSend, GmDigest, GmMatchSummary, LapsedLetter, LetterSummary, MatchNote, PersonNote, RefusalCount,
    SendingSummary,
};

pub fn gm_digest() -> GmDigest {
    let letter = LetterSummary {
        digest: "0".to_owned(),
        at: "now".to_owned(),
        sender: "x".to_owned(),
        note: "y".to_owned(),
    };
    let failed = FailedSend { recipient: "x".to_owned(), kind: DispatchKind::Report, error: "no".to_owned() };
    let note = || MatchNote { who: Some(ANN.to_owned()), ..MatchNote::of(&gm_match_summary()) };
    let missed = MatchNote { turn: Some(3), ..note() };
    let made_good = MatchNote { made_good: Some(DAY.to_owned()), ..missed.clone() };
    let won = MatchNote { reason: Some(Reason::Resigned), ..note() };
    let drawn = MatchNote { who: None, ..won.clone() };
    let lapsed =
        LapsedLetter { match_id: MATCH_ID.to_owned(), sender: "x".to_owned(), noted: DAY.to_owned() };
    GmDigest {
        since: DAY.to_owned(),
        protests: vec![gm_match_summary()],
        words: vec![letter.clone()],
        overdue: vec![gm_match_summary()],
        missed: vec![missed, made_good],
        late: vec![GmMatchSummary { grace_until: Some(DAY.to_owned()), ..gm_match_summary() }],
        unread: vec![gm_match_summary()],
        more_matches: 1,
        failed: vec![failed],
        refused: vec![RefusalCount { id: MATCH_ID.to_owned(), count: 1 }],
        began: vec![MatchNote::of(&gm_match_summary())],
        ended: vec![won, drawn],
        newcomers: vec![PersonNote { name: ANN.to_owned(), address: "x".to_owned() }],
        absences: vec![MatchNote { days: Some(DAY.to_owned()), ..note() }],
        lapsed: vec![lapsed],
        from_spam: 1,
        left_out: 1,
        set_aside: vec![letter.clone()],
        ignored: vec![letter.clone()],
        automatic: vec![letter],
        written: 2,
        sending: Some(SendingSummary { sent: 12_345, per_day: Some(18_000), waiting: 1_234 }),
        ..GmDigest::default()
    }
}

pub fn gm_match_summary() -> GmMatchSummary {
    GmMatchSummary {
        id: MATCH_ID.to_owned(),
        game_name: "Quad",
        names: [ANN.to_owned(), BO.to_owned()],
        phase: "turn 1".to_owned(),
        awaited: vec![ANN.to_owned()],
        due_at: Some(DAY.to_owned()),
        grace_until: None,
        marks: vec![format!("letters to {ANN} come back")],
    }
}

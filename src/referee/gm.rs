//! What the GM decides. An act names the phase it meant; one for a phase that has passed does nothing.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::life::{Draft, Stage};
use super::{Content, Notice};
use crate::game::record::Ending;
use crate::ledger::{Desk, Fact};

/// An act of the GM upon one match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "lowercase")]
pub enum Act {
    /// Deadlines stand still.
    Pause {
        reason: String,
    },
    Resume,
    Abandon,
    /// The referee could not be reached since then: a deadline that fell into the outage moves on by as long.
    Slide {
        since: DateTime<Utc>,
    },
    /// The referee's address or wording is another from here on.
    Desk(Desk),
    /// What the rules hide is shown: the ledger keeps who asked, and for what.
    Unseal {
        what: String,
    },
}

/// An act as the ledger keeps it.
pub(super) fn value(act: &Act) -> serde_json::Value {
    serde_json::to_value(act).expect("acts are plain values")
}

pub(super) fn rule(draft: &mut Draft, phase_no: u32, act: &Act) {
    // In every phase: nothing in the match changes by it.
    if let Act::Unseal { what } = act {
        draft.note(Fact::Unsealed { what: what.clone() });
        return;
    }
    // Letters are written in every stage, and in every phase.
    if let Act::Desk(desk) = act {
        draft.m.desk = desk.clone();
        draft.note(Fact::DeskSet { desk: desk.clone() });
        return;
    }
    if draft.m.phase_no != phase_no || draft.m.stage == Stage::Over {
        return;
    }
    match act {
        Act::Pause { reason } => {
            if draft.m.stage == Stage::Running {
                draft.pause(reason);
                draft.write_both(Content::Notice(Notice::Paused { reason: reason.clone() }));
            }
        }
        Act::Resume => resume(draft),
        Act::Abandon => draft.close(Ending::Abandon),
        Act::Slide { since } => slide(draft, *since),
        Act::Desk(_) | Act::Unseal { .. } => {}
    }
}

/// The clock goes on, with as much time as there was when it stopped and the grace at least.
fn resume(draft: &mut Draft) {
    if draft.m.stage != Stage::Paused {
        return;
    }
    draft.m.stage = Stage::Running;
    let stood = draft.m.paused_at.take().map(|since| draft.at - since).unwrap_or_default();
    if let Some(deadline) = draft.m.deadline {
        let least = draft.at + draft.m.terms.grace();
        draft.move_deadline((deadline + stood).max(least));
    }
    draft.note(Fact::MatchResumed { deadline: draft.m.deadline });
    draft.write_both(Content::Notice(Notice::Resumed));
    draft.settle();
}

/// Nobody is late because the referee was away.
fn slide(draft: &mut Draft, since: DateTime<Utc>) {
    let fell_in =
        |deadline: &DateTime<Utc>| *deadline + draft.m.terms.grace() > since && *deadline <= draft.at;
    let Some(deadline) = draft.m.deadline.filter(fell_in).filter(|_| draft.m.stage == Stage::Running) else {
        return;
    };
    let least = draft.at + draft.m.terms.grace();
    let deadline = (deadline + (draft.at - since)).max(least);
    draft.move_deadline(deadline);
    draft.note(Fact::DeadlineSlid { deadline });
    draft.write_both(Content::Notice(Notice::Slid));
}

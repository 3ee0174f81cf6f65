//! Letters that did not reach their reader: bounces, absence notes, and dispatches that were given up. A bounce moves a
//! deadline once; a seat of which two letters bounce misses none until the GM has decided.

use serde::{Deserialize, Serialize};

use super::context::RulingContext;
use super::decision::{Decision, Key};
use super::gms::About;
use super::settings::Settings;
use super::undecided::{Decided, Wanted, collect_needs};
use crate::letter::{Automatic, AutomaticKind};
use crate::referee::Act;
use crate::report::ClubLetter;
use crate::store::{DispatchRow, Player, Settlement};

/// An outcome of sending a dispatch that concerns others than the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The dispatch was given up. The GM is told, and the seat is marked if the recipient is to blame, and not the letter.
    GivenUp { is_undeliverable: bool },
    /// The seat was marked, but the dispatch is queued again.
    Revived,
    /// The dispatch opened a phase, and the server took it late.
    Late,
}

/// Does what follows from an event in sending a dispatch.
pub fn follow_up(
    settings: &Settings,
    context: &RulingContext,
    row: &DispatchRow,
    event: Event,
) -> Decided<Settlement> {
    let mut decision = Decision::new(settings, context);
    match event {
        Event::GivenUp { is_undeliverable } => decision.tell_of_given_up(row, is_undeliverable)?,
        Event::Revived => decision.restore(row)?,
        Event::Late => decision.slide_for(row)?,
    }
    Ok(decision.finish()?)
}

/// Returns the unique part of the Message-ID of the letter that tells the GM of a dispatch that was given up. It can be
/// queued again, and given up again.
pub fn given_up_part(row: &DispatchRow) -> String {
    format!("f.{}.{}", row.id, row.tries)
}

/// Whether an automatic letter reports a failed delivery (`true`) or an absence (`false`). Returns `None` for neither.
pub fn failed(automatic: &Automatic) -> Option<bool> {
    match automatic.kind {
        AutomaticKind::Failed => Some(true),
        AutomaticKind::Absence => Some(false),
        AutomaticKind::Delayed | AutomaticKind::Other => None,
    }
}

impl Decision<'_> {
    /// Tells the GM of a dispatch that was given up, and marks its seat if the recipient is to blame.
    fn tell_of_given_up(&mut self, row: &DispatchRow, is_undeliverable: bool) -> Decided<()> {
        if is_undeliverable {
            self.mark(row, true)?;
        }
        // A letter to the GM about a failed letter to the GM would fail as well.
        if !self.settings.config.club.gm.addresses().any(|gm| gm.as_str() == row.recipient) {
            let plain = ClubLetter::GivenUp {
                recipient: row.recipient.clone(),
                kind: row.kind,
                match_id: row.match_id.clone(),
                error: row.error.clone(),
                is_undeliverable,
            };
            let loaded = match &row.match_id {
                Some(id) => self.game_match(id)?,
                None => None,
            };
            let about = loaded.map_or(About::Club, About::Match);
            let alarms = self.gm_alarms(&plain, &given_up_part(row), about)?;
            self.draft.settlement.dispatches.extend(alarms);
        }
        Ok(())
    }

    /// Marks the seats whose letters an automatic letter refers to.
    pub fn note_automatic(&mut self, automatic: &Automatic) -> Decided<()> {
        let Some(failed) = failed(automatic) else { return Ok(()) };
        let mut missing = Wanted::default();
        let mut about: Vec<&str> = automatic.about().iter().map(String::as_str).collect();
        for id in automatic.return_ids() {
            let found = collect_needs(self.context.returned_to(id.as_str()), &mut missing)?.flatten();
            about.extend(found.filter(|message_id| !automatic.about().iter().any(|id| id == message_id)));
        }
        for message_id in about {
            if let Some(Some(row)) = collect_needs(self.context.dispatch(message_id), &mut missing)?
                && automatic.may_be_about(&row.recipient)
            {
                collect_needs(self.mark(row, failed), &mut missing)?;
            }
        }
        missing.check()
    }

    fn slide_for(&mut self, row: &DispatchRow) -> Decided<()> {
        let (Some(id), Some(seat)) = (&row.match_id, row.seat) else { return Ok(()) };
        let Some(loaded) = self.game_match(id)?.cloned() else { return Ok(()) };
        let act = Act::SentLate { seat, written: row.created_at };
        let ruling = self.act(&loaded.game_match, act);
        if ruling.rejection.is_none() {
            tracing::info!(match_id = id, %seat, "the deadline moved, because a letter was sent late");
            self.keep_unasked(loaded, ruling, None)?;
        }
        Ok(())
    }

    /// Notes that letters to the seat of a dispatch arrive again.
    fn restore(&mut self, row: &DispatchRow) -> Decided<()> {
        let (Some(id), Some(seat)) = (&row.match_id, row.seat) else { return Ok(()) };
        let Some(loaded) = self.game_match(id)?.cloned() else { return Ok(()) };
        let player = self.latest(loaded.seats[seat].player.clone());
        if !loaded.game_match.bouncing[seat] || !player.addresses.contains(&row.recipient) {
            return Ok(());
        }
        let ruling = self.act(&loaded.game_match, Act::Restored(seat));
        if ruling.rejection.is_none() {
            self.keep_unasked(loaded, ruling, None)?;
        }
        if player.bouncing {
            self.draft.settlement.players.push(Player { bouncing: false, ..player });
        }
        Ok(())
    }

    /// Marks the seat that a dispatch went to. Two bounces of one dispatch count once; a bounce from somebody who no
    /// longer holds the seat does not count.
    fn mark(&mut self, row: &DispatchRow, failed: bool) -> Decided<()> {
        let returned = self.added(|settlement| &settlement.returned).find(|id| **id == row.message_id);
        if row.returned || returned.is_some() {
            return Ok(());
        }
        self.touch(Key::Address(row.recipient.clone()));
        if failed {
            self.draft.settlement.returned.push(row.message_id.clone());
        }
        let (Some(id), Some(seat)) = (&row.match_id, row.seat) else { return Ok(()) };
        let Some(loaded) = self.game_match(id)?.cloned() else { return Ok(()) };
        let player = &loaded.seats[seat].player;
        if !player.addresses.contains(&row.recipient) {
            return Ok(());
        }
        let player = self.latest(player.clone());
        let act = match failed {
            true => Act::Bounced { seat, sent: row.created_at },
            false => Act::Away(seat),
        };
        let ruling = self.act(&loaded.game_match, act);
        if ruling.rejection.is_none() {
            tracing::info!(match_id = id, %seat, failed, "a letter did not reach its reader");
            self.keep_unasked(loaded, ruling, None)?;
        }
        if failed && !player.bouncing {
            self.draft.settlement.players.push(Player { bouncing: true, ..player });
        }
        Ok(())
    }
}

//! Acts of the GM and of the referee itself. The cause of an act names the phase it was meant for. In any
//! other phase it is rejected, unless it is valid in all of them, such as an [`Act::Unseal`] or an
//! [`Act::SetMailIdentity`].

use chrono::TimeDelta;

use crate::game::record::Ending;
use crate::game::{Line, Seat};
use crate::ledger::{Act, Cause, Fact, MailIdentity, PlayerSettings, TermsChange};
use crate::letter::Digest;
use crate::referee::clock::{self, bounce, late, outage};
use crate::referee::letter::commands;
use crate::referee::play::dispatch::{Content, Notice, Reader};
use crate::referee::play::game_match::{Match, Stage};
use crate::referee::play::kept::{Bounces, GmMessage, Unsealing};
use crate::referee::play::ruling::Draft;
use crate::referee::play::{adjudication, deadline, firm, substitute, wording_news};
use crate::referee::rejection::Rejection;

mod correction;
pub mod grammar;
pub mod instruction;

/// Carries out an act that was meant for phase `phase_no`.
///
/// # Errors
/// [`Rejection`] if the act cannot be carried out; the match is then unchanged.
pub fn apply_act(draft: &mut Draft, phase_no: u32, act: &Act) -> Result<(), Rejection> {
    // Letters are written in every phase, and showing hidden data changes nothing in the match.
    let is_allowed_in_any_phase = matches!(
        act,
        Act::Unseal { .. }
            | Act::SetMailIdentity(_)
            | Act::PinHolder { .. }
            | Act::ListLetters
            | Act::Forget { .. }
    );
    if is_allowed_in_any_phase {
        return carry_out(draft, act);
    }
    if draft.game_match.phase_no != phase_no {
        return Err(Rejection::Passed);
    }
    let is_allowed_after_the_end = matches!(
        act,
        Act::Resume
            | Act::Correct(_)
            | Act::Annul { .. }
            | Act::Note { .. }
            | Act::Tell { .. }
            | Act::RenewToken(_)
            | Act::RenewOwnToken(_)
            | Act::Rename { .. }
            | Act::Bounced { .. }
            | Act::Away(_)
            | Act::Restored(_)
    );
    let is_allowed_after_the_end = is_allowed_after_the_end || ends_rating_alone(act);
    if draft.game_match.stage == Stage::Over && !is_allowed_after_the_end {
        return Err(Rejection::Over);
    }
    carry_out(draft, act)
}

/// Whether an act does nothing but make the match unrated.
fn ends_rating_alone(act: &Act) -> bool {
    let unrated = TermsChange { rated: Some(false), ..TermsChange::default() };
    matches!(act, Act::Terms(change) if *change == unrated)
}

fn carry_out(draft: &mut Draft, act: &Act) -> Result<(), Rejection> {
    match act {
        Act::Pause { reason } => {
            if draft.game_match.stage != Stage::Running {
                return Err(Rejection::Already);
            }
            draft.pause(reason.clone());
            draft.dispatch_to_both(Content::Notice(Notice::Paused { reason: reason.clone() }));
        }
        Act::Resume => return resume(draft),
        Act::Abandon => adjudication::close(draft, Ending::Abandon),
        Act::Annul { reason } => return annul(draft, reason),
        Act::Terms(change) => return change_terms(draft, change),
        Act::Extend { days } => return extend(draft, *days),
        Act::Adjudicate => return adjudicate(draft),
        Act::Note { text } => draft.record(Fact::GmNoted { text: text.clone() }),
        Act::Tell { to, text, .. } => tell_sides(draft, *to, text),
        Act::Forfeit(seat) => adjudication::close(draft, Ending::Forfeit(*seat)),
        Act::MoreTime(seat) => adjudication::close(draft, Ending::MoreTime(*seat)),
        Act::Replace { seat, .. } if !substitute::may_seat(draft, *seat) => {
            return Err(Rejection::Passed);
        }
        Act::Replace { seat, name, house, settings, excused } => {
            draft.game_match.offered[*seat].clear();
            draft.game_match.refused[*seat] = None;
            let before = std::mem::replace(&mut draft.game_match.settings[*seat], settings.clone());
            replace(draft, *seat, name, house.clone(), *excused);
            if before.reminders_hours != settings.reminders_hours {
                deadline::skip_past_reminders(&mut draft.game_match, draft.at);
            }
        }
        Act::RenewToken(seat) => {
            draft.record(Fact::TokenRenewed { seat: *seat });
            draft.dispatch_to_both(Content::Notice(Notice::TokenRenewed { seat: *seat }));
        }
        Act::RenewOwnToken(seat) => {
            draft.record(Fact::TokenRenewed { seat: *seat });
            // Only the seat itself is told: who writes to it is not the other side's business.
            draft.dispatch(Reader::Seat(*seat), Content::Notice(Notice::TokenRenewed { seat: *seat }));
        }
        Act::Leave(seat) => adjudication::close(draft, Ending::Resign(*seat)),
        Act::Absent { seat, from, to, .. } => return commands::note_absence(draft, *seat, *from, *to),
        Act::Rename { seat, name, told_once } => return rename(draft, *seat, name, *told_once),
        Act::Set { seat, settings } => return set(draft, *seat, settings),
        Act::File { seat, orders } => return file(draft, *seat, orders),
        Act::Correct(correction) => return correction::correct(draft, correction),
        Act::SentLate { seat, written } => late::note_sent_late(draft, *seat, *written)?,
        Act::Bounced { seat, sent } => bounce::note_bounce(draft, *seat, *sent)?,
        Act::Away(seat) => {
            set_mark(&mut draft.game_match.away[*seat], true)?;
            draft.record(Fact::AwayNoted { seat: *seat });
        }
        Act::Restored(seat) => {
            set_mark(&mut draft.game_match.bouncing[*seat], false)?;
            draft.game_match.bounces[*seat].restore();
            draft.record(Fact::MailRestored { seat: *seat });
        }
        Act::Slide { since } => outage::extend(draft, *since),
        Act::CatchUp { until } => firm::catch_up(draft, *until),
        Act::ClockSetBack => outage::set_again(draft),
        Act::ZonesChanged { deadline } => return deadline::keep_local(draft, *deadline),
        Act::Unseal { what, reason } => unseal(draft, what, reason),
        Act::SetMailIdentity(desk) => set_desk(draft, desk),
        Act::PinHolder { seat, pins, .. } => {
            draft.record(Fact::HolderPinned { seat: *seat, pins: pins.clone() })
        }
        Act::ListLetters => return list_letters(draft),
        Act::Forget { seat, name } => return forget(draft, *seat, name),
        Act::Open { .. } => return Err(Rejection::Already),
    }
    Ok(())
}

/// Changes the referee's address, the club's own templates or the procedure.
fn set_desk(draft: &mut Draft, desk: &MailIdentity) {
    let known = wording_news::known_before(&draft.game_match);
    let is_kept = draft.game_match.mail_identity.procedure != desk.procedure;
    let before = is_kept.then(|| Digest::of(draft.game_match.to_json().as_bytes()));
    draft.game_match.mail_identity = desk.clone();
    draft.record(Fact::MailIdentitySet { mail_identity: Box::new(desk.clone()), before });
    wording_news::note(&mut draft.game_match, &known);
}

/// Notes that a GM is shown what the rules hide. Both sides read about it with the result.
fn unseal(draft: &mut Draft, what: &str, reason: &str) {
    let Cause::Gm { name, .. } = &draft.cause else { return };
    let unsealing =
        Unsealing { gm: name.clone(), at: draft.at, what: what.to_owned(), reason: reason.to_owned() };
    if draft.game_match.stage != Stage::Over {
        draft.game_match.unsealed.push(unsealing);
    }
    draft.record(Fact::Unsealed { what: what.to_owned(), reason: reason.to_owned() });
}

/// Records the pins and deliveries of letters that no entry names yet, if there are any. The next ruling
/// would do so, but after the end there may be none.
fn list_letters(draft: &mut Draft) -> Result<(), Rejection> {
    let Match { stage, pins, delivered, .. } = &draft.game_match;
    if *stage != Stage::Over {
        return Err(Rejection::Passed);
    }
    if pins.is_empty() && delivered.is_empty() {
        return Err(Rejection::Already);
    }
    draft.record(Fact::LettersListed {});
    Ok(())
}

/// Renames a player who is forgotten.
fn forget(draft: &mut Draft, seat: Option<Seat>, name: &str) -> Result<(), Rejection> {
    if draft.game_match.stage != Stage::Over {
        return Err(Rejection::Passed);
    }
    if let Some(seat) = seat {
        name.clone_into(&mut draft.game_match.players[seat]);
    }
    draft.record(Fact::Forgotten { seat, player: name.to_owned() });
    Ok(())
}

/// Passes a GM's text on. The other side is told at once that a text was sent.
fn tell_sides(draft: &mut Draft, to: Option<Seat>, text: &str) {
    let message = GmMessage { to, at: draft.at, text: text.to_owned() };
    draft.record(Fact::GmTold { to, text: message.digest() });
    draft.game_match.gm_messages.push(message);
    let notice = Content::Notice(Notice::MessageOfGm { text: text.to_owned() });
    match to {
        None => draft.dispatch_to_both(notice),
        Some(seat) => {
            draft.dispatch(Reader::Seat(seat), notice);
            draft.dispatch(Reader::Seat(seat.other()), Content::Notice(Notice::GmWrote { to: seat }));
        }
    }
}

/// Voids the result. A running match is abandoned first, so that both sides are shown everything.
fn annul(draft: &mut Draft, reason: &str) -> Result<(), Rejection> {
    if draft.game_match.annulled {
        return Err(Rejection::Already);
    }
    adjudication::close(draft, Ending::Abandon);
    draft.game_match.annulled = true;
    draft.game_match.protest = None;
    draft.game_match.protest_words.clear();
    draft.record(Fact::MatchAnnulled { reason: reason.to_owned() });
    draft.dispatch_to_both(Content::Notice(Notice::Annulled { reason: reason.to_owned() }));
    Ok(())
}

/// Changes terms from the next phase on.
fn change_terms(draft: &mut Draft, change: &TermsChange) -> Result<(), Rejection> {
    let present = draft.game_match.next_terms.as_ref().unwrap_or(&draft.game_match.terms);
    let changed = present.with(change).map_err(|says| Rejection::BadTerms { says })?;
    if changed == *present {
        return Err(Rejection::Already);
    }
    // The rating ends at once, even after the end of the match.
    draft.game_match.terms.rated &= changed.rated;
    let is_over = draft.game_match.stage == Stage::Over;
    draft.game_match.next_terms =
        Some(changed).filter(|changed| !is_over && *changed != draft.game_match.terms);
    draft.record(Fact::TermsChanged { terms: change.clone() });
    draft.dispatch_to_both(Content::Notice(Notice::TermsChanged { terms: change.clone() }));
    Ok(())
}

/// Adjudicates the open phase, with the filings that the rules assume for seats that have not filed. This
/// also ends a pause or a protest.
fn adjudicate(draft: &mut Draft) -> Result<(), Rejection> {
    let seats = draft.game_match.must_move();
    if !seats.is_empty() {
        return Err(Rejection::MustMove { seats });
    }
    draft.game_match.stage = Stage::Running;
    let late = draft.game_match.awaited();
    clock::adjudicate_by_default(draft, late);
    draft.game_match.paused_at = None;
    draft.game_match.protest = None;
    draft.game_match.protest_words.clear();
    Ok(())
}

/// Changes the settings of the seat's player for their letters.
fn set(draft: &mut Draft, seat: Seat, settings: &PlayerSettings) -> Result<(), Rejection> {
    let before = std::mem::replace(&mut draft.game_match.settings[seat], settings.clone());
    if before == *settings {
        return Err(Rejection::Already);
    }
    if before.reminders_hours != settings.reminders_hours {
        deadline::skip_past_reminders(&mut draft.game_match, draft.at);
    }
    draft.record(Fact::PlayerSet { seat, settings: settings.clone() });
    Ok(())
}

fn rename(draft: &mut Draft, seat: Seat, name: &str, told_once: bool) -> Result<(), Rejection> {
    let from = std::mem::replace(&mut draft.game_match.players[seat], name.to_owned());
    if from == name {
        return Err(Rejection::Already);
    }
    draft.record(Fact::PlayerRenamed { seat, from: from.clone(), to: name.to_owned() });
    if !told_once {
        draft.dispatch_to_both(Content::Notice(Notice::Renamed { from, to: name.to_owned() }));
    }
    Ok(())
}

/// Resuming moves a deadline by the length of the pause, and then on to the next set hour. The move may be
/// shorter by up to this much: otherwise a pause of a minute would move the deadline by a day.
const ROUNDED_OFF: TimeDelta = TimeDelta::hours(1);

/// Resumes a paused match with the time that was left when it was paused, but at least the grace. In a match
/// that is over, it only settles the protest.
fn resume(draft: &mut Draft) -> Result<(), Rejection> {
    if draft.game_match.stage == Stage::Over && draft.game_match.protest.take().is_some() {
        draft.record(Fact::MatchResumed { deadline: None });
        return Ok(());
    }
    if draft.game_match.stage != Stage::Paused {
        return Err(Rejection::Already);
    }
    draft.game_match.stage = Stage::Running;
    draft.game_match.protest = None;
    draft.game_match.protest_words.clear();
    let paused_at = draft.game_match.paused_at.take().unwrap_or(draft.at);
    let paused_for = draft.at - paused_at;
    draft.game_match.delay_firm(paused_at, draft.at);
    substitute::prolong(draft, paused_for);
    if let Some(deadline) = draft.game_match.deadline.filter(|_| draft.game_match.vanished.is_none()) {
        let least = draft.at + draft.game_match.terms.grace();
        let due = draft.game_match.due();
        let absences = due.map(|due| deadline::absences_of(&draft.game_match, &due)).unwrap_or_default();
        let earliest = (deadline + paused_for - ROUNDED_OFF).max(least);
        let moved = draft.game_match.terms.deadline(earliest, 0, &absences);
        deadline::move_deadline(&mut draft.game_match, moved, draft.at);
    }
    draft.record(Fact::MatchResumed { deadline: draft.game_match.deadline });
    draft.dispatch_to_both(Content::Notice(Notice::Resumed));
    adjudication::adjudicate_if_complete(draft);
    Ok(())
}

fn extend(draft: &mut Draft, days: u32) -> Result<(), Rejection> {
    let deadline = deadline::extend(draft, days).ok_or(Rejection::NoDeadline)?;
    draft.dispatch_to_both(Content::Notice(Notice::Extension { deadline }));
    Ok(())
}

/// Gives a seat to another player. The former player's orders and requests are void.
fn replace(draft: &mut Draft, seat: Seat, name: &str, house: Option<String>, excused: bool) {
    let game_match = &mut draft.game_match;
    let from = std::mem::replace(&mut game_match.players[seat], name.to_owned());
    let house_before = std::mem::replace(&mut game_match.house[seat], house);
    game_match.filed[seat] = None;
    game_match.conditions[seat] = None;
    game_match.footers[seat].clear();
    game_match.settle_at = None;
    game_match.draw_offer = game_match.draw_offer.filter(|by| *by != seat);
    game_match.extension = game_match.extension.filter(|(by, _)| *by != seat);
    game_match.missed[seat] = 0;
    game_match.bouncing[seat] = false;
    game_match.bounces[seat] = Bounces::default();
    game_match.away[seat] = false;
    game_match.absences[seat].clear();
    game_match.vanished = None;
    game_match.release_held_letter();
    draft.record(Fact::PlayerReplaced { seat, from: from.clone(), to: name.to_owned(), excused });
    // A successor who has less than the grace left gets a full turn. If only the house owes orders now, this
    // removes the deadline.
    if draft.game_match.deadline.is_none_or(|deadline| deadline < draft.at + draft.game_match.terms.grace())
        || draft.game_match.due_from_players().is_none()
    {
        draft.game_match.asked_gm = false;
        deadline::start(draft);
    }
    let agreed = substitute::is_by_program(draft);
    let notice = Notice::Replaced { seat, from, to: name.to_owned(), agreed, excused };
    // The house reads no letters.
    if house_before.is_none() {
        draft.dispatch(Reader::Former(seat), Content::Notice(notice.clone()));
    }
    draft.dispatch(Reader::Seat(seat.other()), Content::Notice(notice));
    draft.dispatch(Reader::Seat(seat), Content::Succession);
}

/// Files orders for a seat as its player's letter would.
fn file(draft: &mut Draft, seat: Seat, orders: &[Line]) -> Result<(), Rejection> {
    draft.seal(seat, orders)?;
    draft.dispatch_to_both(Content::Notice(Notice::FiledByGm { seat }));
    adjudication::adjudicate_if_complete(draft);
    Ok(())
}

/// Sets or clears a mark of a seat.
fn set_mark(mark: &mut bool, to: bool) -> Result<(), Rejection> {
    if std::mem::replace(mark, to) == to { Err(Rejection::Already) } else { Ok(()) }
}

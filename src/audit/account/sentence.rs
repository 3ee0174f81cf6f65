//! Words what an entry of the ledger says as a sentence.

use chrono::{DateTime, Utc};

use super::{heading, title, utc};
use crate::game::Seat;
use crate::game::condition::ConditionOutcome;
use crate::ledger::{Fact, PauseReason};
use crate::referee::Match;

/// Words a fact about what a letter of this player causes.
fn of_letter(fact: &Fact, name: &str) -> String {
    match fact {
        Fact::AnswerHeldBack { .. } => {
            format!("The answer to {name} was suppressed: rate limit or duplicate.")
        }
        Fact::OpponentSpared { .. } => {
            format!("The opponent was not told of what {name} did: too many letters in a day.")
        }
        Fact::GmSpared { .. } => {
            format!("The GM was not told of what {name} did: too many letters in a day.")
        }
        Fact::ResignationHeld { .. } => {
            format!("{name} could not resign from an address added a few days before.")
        }
        Fact::LeftOutTold { .. } => format!("{name} was told that answers were left out."),
        Fact::HintGiven { .. } => format!("{name} asked what to do, and was told what the house would do."),
        Fact::WordsToOpponent { .. } => format!("Words of {name} went to the GM, the opponent."),
        Fact::TextsWithheld { .. } => {
            format!("No text of {name} was passed on, because one of them holds an order.")
        }
        Fact::ConditionsSealed { turn, .. } => {
            format!("Conditions of {name} for {} were sealed as", title(*turn))
        }
        Fact::ConditionsWithdrawn { .. } => format!("{name} took conditions back."),
        Fact::ReminderLeftToDigest { .. } => format!("{name} is reminded by a digest."),
        Fact::ConditionsFollowed { outcome, .. } => match outcome {
            ConditionOutcome::Met { .. } => format!("A condition of {name} was met."),
            ConditionOutcome::Illegal { .. } => {
                format!("A condition of {name} was met, but its order is illegal.")
            }
            ConditionOutcome::Void { .. } => format!("No condition of {name} was met."),
        },
        other => other.kind().to_owned(),
    }
}

/// Describes what a GM did that changed nothing in the play, such as a note.
fn gm_sentence(fact: &Fact, game_match: &Match) -> String {
    match fact {
        Fact::LetterAccepted { seat, by, .. } => {
            format!("{by} accepted a letter of {}.", game_match.players[*seat])
        }
        Fact::GmTold { to: Some(seat), .. } => format!("The GM wrote to {}.", game_match.players[*seat]),
        Fact::GmTold { to: None, .. } => "The GM wrote to both sides.".to_owned(),
        Fact::GmNoted { text } => format!("The GM noted: {}", text.replace('\n', " ")),
        Fact::Unsealed { what } => format!("What the rules hide was shown: {what}."),
        other => other.kind().to_owned(),
    }
}

fn sealed(name: &str, turn: u32, wait: bool) -> String {
    let wait = if wait { ", not to be adjudicated before the deadline," } else { "" };
    format!("Orders of {name} for {} were sealed{wait} as", title(turn))
}

/// Words a fact as a sentence, which is left unfinished if a digest follows.
pub(super) fn sentence(fact: &Fact, game_match: &Match) -> String {
    let name = |seat: &Seat| game_match.players[*seat].as_str();
    let names = |seats: &[Seat]| seats.iter().map(name).collect::<Vec<_>>().join(" and ");
    match fact {
        Fact::MatchOpened { .. } => "The match was opened.".to_owned(),
        Fact::DeskSet { .. } => "The referee's address, templates or procedure changed.".to_owned(),
        Fact::OrdersSealed { seat, turn, wait, .. } => sealed(name(seat), *turn, *wait),
        Fact::OrdersRefused { seat, turn, .. }
        | Fact::OrdersChecked { seat, turn, .. }
        | Fact::OrdersWithdrawn { seat, turn, .. } => not_filed(fact, name(seat), &title(*turn)),
        Fact::LetterAnswered { seat, asked } => answered(name(seat), asked),
        Fact::AnswerHeldBack { seat }
        | Fact::OpponentSpared { seat }
        | Fact::GmSpared { seat }
        | Fact::ResignationHeld { seat }
        | Fact::TextsWithheld { seat, .. }
        | Fact::HintGiven { seat, .. }
        | Fact::WordsToOpponent { seat }
        | Fact::LeftOutTold { seat }
        | Fact::ConditionsSealed { seat, .. }
        | Fact::ConditionsWithdrawn { seat, .. }
        | Fact::ConditionsFollowed { seat, .. }
        | Fact::ReminderLeftToDigest { seat, .. } => of_letter(fact, name(seat)),
        Fact::DeadlineSet { turn, seats, deadline, .. } => {
            format!("{} is due from {} by {}.", heading(*turn), names(seats), utc(*deadline))
        }
        Fact::DeadlineMissed { turn, seats, .. } => {
            format!("Nothing arrived from {} for {} in time.", names(seats), title(*turn))
        }
        Fact::DeadlineExtended { deadline, .. }
        | Fact::DeadlineSlid { deadline }
        | Fact::OpeningSentLate { deadline, .. } => moved(fact, *deadline),
        Fact::ReminderSent { seat, .. } => format!("{} was reminded.", name(seat)),
        Fact::ReminderPassed { .. } => "The time for a reminder had passed.".to_owned(),
        Fact::GmAsked { seats, .. } => format!("The GM was asked about {}.", names(seats)),
        Fact::TurnAdjudicated { turn, .. } => format!("{} was adjudicated; the state is", heading(*turn)),
        Fact::MatchClosed { ending } => format!("The match was closed: {ending}."),
        Fact::MatchEnded { outcome } => outcome.winner.as_ref().map_or("Nobody", name).to_owned() + " won.",
        Fact::MatchPaused { reason } => format!("The match was paused: {}.", why_paused(reason)),
        Fact::MatchResumed { .. } => "The match was resumed.".to_owned(),
        Fact::DrawOffered { seat } => format!("{} offered a draw.", name(seat)),
        Fact::ExtensionAsked { seat, days } => format!("{} asked for {days} more days.", name(seat)),
        Fact::AbsenceNoted { seat, from, to } => format!("{} is absent from {from} to {to}.", name(seat)),
        Fact::SubstituteAsked { seat }
        | Fact::SubstituteOffered { seat, .. }
        | Fact::SubstituteAgreed { seat } => substitute(fact, name(seat), name(&seat.other())),
        Fact::Protested { seat } | Fact::ProtestPassedOn { seat } => format!("{} protested.", name(seat)),
        Fact::MessagePassed { from } => format!("A message from {} was passed on.", name(from)),
        Fact::LetterConfirmed { seat, .. } => format!("{} confirmed an unproven letter.", name(seat)),
        Fact::LetterPartRead { seat, .. } => format!("A letter from {} is partly about this.", name(seat)),
        Fact::MailReturned { seat } | Fact::MailRestored { seat } | Fact::AwayNoted { seat } => {
            mail(fact, name(seat))
        }
        Fact::PlayerReplaced { from, to, .. } => format!("{to} took over the seat of {from}."),
        Fact::PlayerRenamed { from, to, .. } => format!("{from} is called {to} from now on."),
        Fact::SeatHeld { seat, .. } => format!("{} has another token or other addresses.", name(seat)),
        Fact::TokenRenewed { seat } => format!("The seat of {} has a new reply token.", name(seat)),
        Fact::PlayerSet { seat, .. } => format!("{} changed settings of their letters.", name(seat)),
        Fact::LetterAccepted { .. } | Fact::GmTold { .. } | Fact::GmNoted { .. } | Fact::Unsealed { .. } => {
            gm_sentence(fact, game_match)
        }
        Fact::CorrectionMade { turn, .. } => {
            format!("Everything decided from {} on is void; the state is again", title(*turn))
        }
    }
}

fn why_paused(reason: &PauseReason) -> &str {
    match reason {
        PauseReason::Protest => "a protest is before the GM",
        PauseReason::Unsound => "its ledger does not verify, and the GM was told",
        PauseReason::Gm(words) => words,
    }
}

/// Words that a letter was answered, and what it asked for.
fn answered(name: &str, asked: &[String]) -> String {
    if asked.is_empty() {
        return format!("A letter from {name} was answered.");
    }
    format!("{name} asked: {}.", asked.join(", "))
}

/// Words why orders do not stand.
fn not_filed(fact: &Fact, name: &str, turn: &str) -> String {
    match fact {
        Fact::OrdersRefused { .. } => format!("Orders of {name} for {turn} were refused."),
        Fact::OrdersChecked { .. } => format!("Orders of {name} for {turn} were checked only."),
        _ => format!("{name} took back the orders for {turn}."),
    }
}

/// Words who may take over, or takes over, the seat of a player.
fn substitute(fact: &Fact, name: &str, foe: &str) -> String {
    match fact {
        Fact::SubstituteOffered { .. } => format!("{foe} may go on against the house, or take the win."),
        Fact::SubstituteAgreed { .. } => format!("{foe} goes on against the house in the place of {name}."),
        _ => format!("{name} asked for a substitute."),
    }
}

/// Words whether letters to a player arrive, and are read.
fn mail(fact: &Fact, name: &str) -> String {
    match fact {
        Fact::MailReturned { .. } => format!("Letters to {name} came back."),
        Fact::AwayNoted { .. } => format!("An absence note came from {name}."),
        _ => format!("Letters to {name} arrive again."),
    }
}

/// Words why a deadline moved.
fn moved(fact: &Fact, deadline: DateTime<Utc>) -> String {
    let deadline = utc(deadline);
    match fact {
        Fact::DeadlineSlid { .. } => format!("An outage moved the deadline to {deadline}."),
        Fact::OpeningSentLate { .. } => format!("A letter was sent late; the deadline moved to {deadline}."),
        _ => format!("The deadline moved to {deadline}."),
    }
}

//! Rules on letters from seats, and answers them.

use anyhow::Context as _;

use crate::desk::events::in_words as events;
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedMatch, or_lacking};
use crate::desk::frame::standing;
use crate::desk::matches::{holders, rematch, substitute};
use crate::desk::outbox::budgets::{self, Origin, Slot, seat_subject};
use crate::desk::outbox::ruling_mail::{self, Readers};
use crate::desk::outbox::{answers, gms};
use crate::desk::people::commands::{self, CommandOutcome};
use crate::desk::people::player_settings;
use crate::game::{BySeat, Seat};
use crate::house;
use crate::ledger::{self, Act, Allowance, Hint, TokenOf};
use crate::letter::{Address, Letter, split_words};
use crate::referee::{
    self, AbsentElsewhere, Answer, Content, Dispatch, DispatchKind, Match, Matter, Notice, Orders, OtherPart,
    PartOutcome, PastReports, Reader, Reply, Ruling, SeatLetter, Stage, Topic, Wishes, Words, note_of_words,
    without_lines_of_play,
};
use crate::report::envelope::AnsweredLetter;
use crate::report::sent::{repeated_reports, repeats_reports};
use crate::request::{Command, NumberedCommand, Request};
use crate::store::{NewDispatch, TokenRow};

/// The ruling on a letter, or on a part of it, before its answers are written.
pub struct PartRuling {
    loaded: LoadedMatch,
    seat_letter: SeatLetter,
    ruling: Ruling,
    /// The slot of the answer.
    slot: Slot,
}

impl PartRuling {
    /// Returns the outcome of the letter, as stated in its answer.
    pub fn outcome(&mut self) -> PartOutcome {
        // Only a plain receipt is left out, for a player who wants none.
        self.ruling.answer_mut().map_or(PartOutcome::Sealed, |answer| answer.outcome())
    }

    /// Whether the letter asked for a hint and got it.
    pub fn has_hint(&self) -> bool {
        self.seat_letter.cause.hint.is_some()
    }

    /// Returns the note on the letter, with its words for the GM's digest. Words about another match go to
    /// the GM at once, because the digest lists the letter under one match, and a GM may play in the other.
    pub fn note(&self, desk: &Desk<'_>) -> Decided<String> {
        let SeatLetter { cause, request, .. } = &self.seat_letter;
        let game_match = &self.loaded.game_match;
        // YES alone answers an offer of a rematch.
        let is_answer = request.yes.is_some()
            && game_match.stage == Stage::Over
            && request.remarks.iter().all(|remark| Some(remark.no) == request.yes);
        let Some(words) = Words::to_gm(request).filter(|_| cause.token == TokenOf::Own && !is_answer) else {
            return Ok(String::new());
        };
        let player = &self.loaded.seats[cause.seat].player;
        let to_opponent = gms::impartial_gms(desk, player.id)?.is_empty();
        Ok(note_of_words(&words, game_match.game, to_opponent))
    }

    pub fn letter(&self) -> &SeatLetter {
        &self.seat_letter
    }

    /// Returns the replies to the letter's commands, in order.
    pub fn replies(&mut self) -> Vec<Reply> {
        self.ruling.answer_mut().map(|answer| answer.replies.clone()).unwrap_or_default()
    }

    pub fn opponent(&self) -> i64 {
        self.loaded.seats[self.seat_letter.cause.seat.other()].player.id
    }

    /// Names other matches in the notices of absences that the opponent in this match reads. Returns whether
    /// there are any.
    pub fn name_in_notices(&mut self, matches: &[String]) -> bool {
        let mut is_told = false;
        for dispatch in &mut self.ruling.dispatches {
            if let Content::Notice(Notice::Absent { also, .. } | Notice::Absences { also, .. }) =
                &mut dispatch.content
            {
                also.extend(matches.iter().cloned());
                is_told = true;
            }
        }
        is_told
    }
}

/// Rules on a seat's letter, or on the part of it that is about this match. `has_hint` says whether another
/// part has got a hint.
pub fn decide_part(
    desk: &mut Desk<'_>,
    letter: &Letter,
    row: &TokenRow,
    mut seat_letter: SeatLetter,
    has_hint: bool,
) -> Decided<PartRuling> {
    let mut loaded = desk.game_match(&row.match_id)?.context("the token's match is missing")?.clone();
    let hold = renew_shown_token(desk, letter, &mut loaded, row.seat, &mut seat_letter);
    let (opponent, gm) = notice_allowances(desk, &loaded, row, &seat_letter)?;
    let (answer, slot) = answers::permit_answer(desk, row, &loaded.game_match, &seat_letter)?;
    let cause = &mut seat_letter.cause;
    (cause.opponent, cause.gm, cause.answer) = (opponent, gm, answer);
    cause.holds_resignation = holds_resignation(desk, row, letter, &seat_letter.request)?;
    cause.gm_plays = is_gm_opponent(desk, &loaded.seats, row.seat);
    cause.left_out = budgets::left_out(desk, &seat_subject(&row.match_id, row.seat))?;
    if !has_hint {
        cause.hint = hint(desk, row, &seat_letter.request, &loaded.game_match)?;
    }
    let ruling = ruling_mail::request_ruling_and_pin(
        desk,
        &loaded.game_match,
        hold.as_slice(),
        &Matter::Letter(&seat_letter),
    );
    Ok(PartRuling { loaded, seat_letter, ruling, slot })
}

/// Writes the letters of a ruling on a letter, and keeps the ruling and them. The answer names the `others`,
/// which are the parts about other matches, and the matches in which the absences also count.
pub fn finish_part(
    desk: &mut Desk<'_>,
    letter: &Letter,
    row: &TokenRow,
    ruled: PartRuling,
    others: &[OtherPart],
    elsewhere: &AbsentElsewhere,
) -> Decided<()> {
    let PartRuling { loaded, seat_letter, mut ruling, slot } = ruled;
    let saved_players = desk.draft.changes.players.len();
    if let Some(answer) = ruling.answer_mut() {
        answer.others = others.to_vec();
        answer.elsewhere = elsewhere.clone();
        let mut events = elsewhere.events.clone();
        let gives_time = |reply: &Reply| {
            matches!(
                reply,
                Reply::AbsenceNoted { .. } | Reply::ExtensionAsked { .. } | Reply::ExtensionAgreed
            )
        };
        if answer.replies.iter().any(gives_time) {
            events.extend(loaded.game_match.terms.event.clone());
        }
        answer.seasons = desk.running_seasons(&events, loaded.game_match.zone_of(row.seat))?;
    }
    complete_answer(desk, &mut ruling, row, letter, &seat_letter.request)?;
    name_in_words(desk, &mut ruling, row)?;
    let answered = AnsweredLetter::new(letter);
    let gms = match ruling.dispatches.iter().any(|dispatch| dispatch.to == Reader::Gm) {
        true => Some(gms::readers_of_seat(desk, &loaded, row.player.id)?),
        false => None,
    };
    if gms.as_ref().is_some_and(|readers| readers.are_opponents) {
        ruling.dispatches.iter_mut().for_each(leave_out_play);
    }
    let gms = gms.map(|readers| readers.gms);
    let readers = Readers { answered: Some(&answered), gms: gms.as_deref(), ..Readers::seats(&loaded.seats) };
    let mut rows = ruling_mail::word_and_pin(desk, &mut ruling, &readers)?;
    // An answer with a new token does not count towards the limit: without it, the player could not write
    // again.
    if !seat_letter.cause.shows_token {
        // Reports have no limit, even if they also answer a letter.
        let is_answer = |new: &&mut NewDispatch| new.answers.is_some() && new.kind != DispatchKind::Report;
        if let Some(answer) = rows.dispatches.iter_mut().find(is_answer) {
            answers::count_seat_answer(desk, row, slot, answer)?;
        } else if ruling.unsent.is_some() {
            tracing::warn!(letter = %letter.digest, "answer suppressed by the rate limit");
            budgets::note_left_out(desk, &seat_subject(&row.match_id, row.seat))?;
        }
    }
    delay_notices(desk, &ruling, &mut rows.dispatches, row)?;
    rows.delay_copies();
    let for_house = ruling.after.seat_for_house();
    ruling_mail::keep_ruling(desk, loaded, ruling, rows);
    if let Some(seat) = for_house {
        substitute::seat_house(desk, &row.match_id, seat)?;
    }
    player_settings::carry_out_settings(desk, row.player.id, saved_players)
}

/// Names the player's other running matches in words of trouble for the GM, who reads them once for all.
fn name_in_words(desk: &Desk<'_>, ruling: &mut Ruling, row: &TokenRow) -> Decided<()> {
    for dispatch in &mut ruling.dispatches {
        if let Content::Notice(Notice::Words { in_trouble: true, also, .. }) = &mut dispatch.content {
            also.extend(desk.running_matches_of(row.player.id)?);
            also.retain(|id| *id != row.match_id);
            also.truncate(MAX_PAUSED);
        }
    }
    Ok(())
}

/// Maximum other matches that a letter to the GM offers to pause.
const MAX_PAUSED: usize = 20;

/// Removes whatever may reveal a position from a player's words for GMs who play against them.
fn leave_out_play(dispatch: &mut Dispatch) {
    if let (
        Reader::Gm,
        Content::Notice(Notice::Words { text, .. } | Notice::Protested { text: Some(text), .. }),
    ) = (dispatch.to, &mut dispatch.content)
    {
        *text = without_lines_of_play(text);
    }
}

/// Whether anybody other than the player and the referee got this letter, and can read the seat's token in
/// it.
pub fn is_shown_to_others(desk: &Desk<'_>, letter: &Letter, row: &TokenRow) -> bool {
    let has_token = letter.tokens.iter().any(|token| token.as_str() == row.token);
    let is_players = |address: &str| row.player.addresses.iter().any(|own| own == address);
    let is_ours = |address: &Address| desk.rows.loaded.own_addresses.contains(address.base().as_str());
    has_token && letter.other_recipients.iter().any(|other| !is_players(other.as_str()) && !is_ours(other))
}

/// Gives the seat a new token if the letter showed the present one to others: the answer carries the new one.
/// Returns the act that notes it.
fn renew_shown_token(
    desk: &mut Desk<'_>,
    letter: &Letter,
    loaded: &mut LoadedMatch,
    seat: Seat,
    seat_letter: &mut SeatLetter,
) -> Option<Act> {
    seat_letter.cause.shows_token = is_shown_to_others(desk, letter, &loaded.seats[seat]);
    seat_letter.cause.shows_token.then(|| {
        loaded.seats[seat].token = desk.draw_token(&loaded.seats[seat].player).to_string();
        holders::save_seat(desk, &loaded.seats[seat]);
        holders::hold(desk, loaded, seat, None)
    })
}

/// Whether all GMs hold seats in a match, and one of them holds the opponent's.
fn is_gm_opponent(desk: &Desk<'_>, seats: &BySeat<TokenRow>, seat: Seat) -> bool {
    let opponent = &seats[seat.other()].player;
    let mut gms = desk.club.config.club.gm.addresses();
    gms::all_gms_play(desk, seats) && gms.any(|gm| opponent.addresses.iter().any(|own| own == gm.as_str()))
}

/// Whether a letter resigns, but from an address that was added so recently that its owner may be somebody
/// else.
fn holds_resignation(desk: &Desk<'_>, row: &TokenRow, letter: &Letter, request: &Request) -> Decided<bool> {
    let resigns = |asked: &NumberedCommand| asked.command == Command::Resign { confirmed: true };
    if request.check || !request.commands.iter().any(resigns) {
        return Ok(false);
    }
    Ok(standing::new_until(desk, row.player.id, letter.from.as_str())?.is_some())
}

/// Asks the house for a hint on behalf of the sender, if the letter asks for one and is allowed one. The
/// house thinks for up to a tenth of a second, so there is one hint per letter, and one per phase.
fn hint(desk: &Desk<'_>, row: &TokenRow, request: &Request, game_match: &Match) -> Decided<Option<Hint>> {
    let asks = request.commands.iter().any(|asked| asked.command == Command::Hint);
    if !asks || !game_match.gives_hints(row.seat) {
        return Ok(None);
    }
    let given = game_match.past.hint_of_phase(row.seat);
    if let Some(given) = given.filter(|given| given.version == house::version(game_match.game)) {
        return Ok(Some(given.clone()));
    }
    let entries = desk.entries(&row.match_id)?;
    Ok(ledger::what_seat_saw(&entries, row.seat).and_then(|seen| game_match.hint(&seen)))
}

/// Completes the answer of a ruling with data that the referee does not have: the sent reports, and replies
/// to the commands that need no seat.
fn complete_answer(
    desk: &mut Desk<'_>,
    ruling: &mut Ruling,
    row: &TokenRow,
    letter: &Letter,
    request: &Request,
) -> Decided<()> {
    let Some(answer) = ruling.answer_mut() else { return Ok(()) };
    // Take the answer out while completing it, because the reports also depend on the ruling that contains
    // it.
    let mut answer = std::mem::take(answer);
    if answer.replies.iter().any(repeats_reports) {
        let reports = reports_of(desk, row, &answer.replies, &ruling.after);
        answer.reports = or_lacking(reports)?.unwrap_or_default();
    }
    let asker = Asker::player(&row.player, letter);
    answer_commands(desk, &mut answer, row, &asker, request)?;
    answer_words(desk, &mut answer, &ruling.after, row, (&asker, letter))?;
    answer.instructs =
        desk.club.is_gm(&letter.from) && request.remarks.iter().any(|line| begins_with_gm(&line.text));
    ruling.answer_mut().into_iter().for_each(|place| std::mem::swap(place, &mut answer));
    desk.rows.check()
}

/// Completes the answer to a letter of words alone: with the events that it speaks of, or with the line that sends its
/// words to the opponent, if it answers a message of theirs.
fn answer_words(
    desk: &Desk<'_>,
    answer: &mut Answer,
    game_match: &Match,
    row: &TokenRow,
    (asker, letter): (&Asker, &Letter),
) -> Decided<()> {
    let is_thanks = |wishes: &Wishes| wishes.care.is_none() && wishes.topic == Some(Topic::Thanks);
    if answer.is_only_words() && answer.wishes.iter().all(may_be_of_event) {
        // "Take me off the league, I travel" is about the event, and "When does the league start?", too.
        let replies = events::about_events(desk, asker, &answer.remarks, "")?;
        if !replies.is_empty() {
            answer.wishes.clear();
            answer.replies = replies;
            return Ok(());
        }
    }
    // Words beside orders that are more than courtesies.
    let beside_orders = matches!(answer.orders, Orders::Sealed { firm_at: Some(_), .. });
    if !answer.is_only_words() && !beside_orders || !answer.wishes.iter().all(is_thanks) {
        return Ok(());
    }
    let answered = desk.answered_text(letter);
    let foe = &game_match.players[row.seat.other()];
    if answered.contains(&format!("\n{foe} writes to you:")) {
        answer.wishes = referee::tell_back(game_match, row.seat, &answer.remarks).into_iter().collect();
        return Ok(());
    }
    if !beside_orders {
        answer.replies = events::about_events(desk, asker, &answer.remarks, "")?;
    }
    Ok(())
}

/// Whether a wish may be about an event that its letter names: about leaving, without days of an absence, or a question
/// that may be asked of a match as well.
fn may_be_of_event(wishes: &Wishes) -> bool {
    let is_of_event = match wishes.topic {
        Some(Topic::Absence) => wishes.lacks_days,
        Some(Topic::Leave | Topic::Resign | Topic::LessMail | Topic::Ranking) => true,
        Some(Topic::Due | Topic::Opponent | Topic::OpponentName | Topic::Rules) => true,
        _ => false,
    };
    is_of_event && wishes.care.is_none()
}

/// Whether a line begins as a GM's instructions do.
fn begins_with_gm(line: &str) -> bool {
    split_words(line).next().is_some_and(|word| word.eq_ignore_ascii_case("gm"))
}

/// Returns how many notices about this player's acts the opponent and the GM may still get.
fn notice_allowances(
    desk: &Desk<'_>,
    loaded: &LoadedMatch,
    row: &TokenRow,
    letter: &SeatLetter,
) -> Decided<(Allowance, Allowance)> {
    let (tells_opponent, tells_gm) = letter.tells();
    let readers = match tells_gm {
        true => gms::readers_of_seat(desk, loaded, row.player.id)?.gms,
        false => gms::readers_of(desk, &loaded.game_match, &loaded.seats),
    };
    // The first GM gets the original, and copies wait as long as it does, so the room of the first GM counts.
    let gm = gms::gm(desk, readers.first().copied().unwrap_or_default()).address.as_str().to_owned();
    let origin = Origin::Opponent(row.player.id);
    let room_of = |reader: &str| {
        anyhow::Ok(or_lacking(budgets::allowance_for_others(desk, reader, origin))?.unwrap_or_default())
    };
    let opponent = match loaded.seats[row.seat.other()].player.addresses.first() {
        None => Allowance::Unreachable,
        Some(address) if tells_opponent => room_of(address)?,
        Some(_) => Allowance::default(),
    };
    let gm = if tells_gm { room_of(&gm)? } else { Allowance::default() };
    desk.rows.check()?;
    Ok((opponent, gm))
}

/// Counts the notices of a ruling for their readers, and delays those beyond the day's budget.
fn delay_notices(
    desk: &mut Desk<'_>,
    ruling: &Ruling,
    dispatches: &mut [NewDispatch],
    row: &TokenRow,
) -> Decided<()> {
    let origin = Origin::Opponent(row.player.id);
    let told = ruling.dispatches.iter().zip(dispatches).filter(|(dispatch, _)| is_act_told(dispatch));
    for (_, dispatch) in told {
        budgets::take_slot_for_others(desk, dispatch, origin)?;
    }
    Ok(())
}

/// Carries out the commands of a letter that need no seat, and puts their replies into its answer.
fn answer_commands(
    desk: &mut Desk<'_>,
    answer: &mut Answer,
    row: &TokenRow,
    asker: &Asker,
    request: &Request,
) -> anyhow::Result<()> {
    for (reply, asked) in answer.replies.iter_mut().zip(&request.commands) {
        match reply {
            Reply::CheckedOnly { .. } | Reply::MatchOver | Reply::Repeated => continue,
            // Carrying out DENY would change this match, which the ruling on this letter changes, too.
            Reply::NotHere { .. } if matches!(asked.command, Command::Deny(_)) => continue,
            _ => {}
        }
        let found = match &asked.command {
            Command::Rematch { options, days } => {
                let seat = (row.match_id.as_str(), row.seat);
                let done = or_lacking(rematch::rematch(desk, asker, seat, options, *days))?;
                let command = asked.command.name();
                done.map(|done| done.unwrap_or_else(|why| Reply::NoOffer { command, why }))
            }
            command => or_lacking(commands::carry_out(desk, asker, command))?.and_then(CommandOutcome::reply),
        };
        if let Some(found) = found {
            *reply = found;
        }
    }
    // Once a match is over, YES accepts the rematch that the opponent offers.
    if request.yes.is_some() && !request.check {
        let taken = or_lacking(accept_rematch(desk, row, asker))?.flatten();
        if taken.is_some() {
            answer.remarks.retain(|remark| Some(remark.no) != request.yes);
            answer.passed_on = answer.passed_on.filter(|_| !answer.remarks.is_empty());
        }
        answer.replies.extend(taken);
    }
    Ok(())
}

fn accept_rematch(desk: &mut Desk<'_>, row: &TokenRow, asker: &Asker) -> Decided<Option<Reply>> {
    let loaded = desk.game_match(&row.match_id)?.context("the token's match is missing")?;
    let (stage, is_old) = (loaded.game_match.stage, loaded.game_match.ended_long_ago(desk.at()));
    if stage != Stage::Over || is_old {
        return Ok(None);
    }
    rematch::accept(desk, asker, &row.match_id)
}

/// Returns the reports of a seat that each reply repeats, including those that this transaction adds.
fn reports_of(
    desk: &Desk<'_>,
    row: &TokenRow,
    replies: &[Reply],
    game_match: &Match,
) -> Decided<Vec<PastReports>> {
    let stored = desk.rows.reports(&row.match_id)?;
    let stored = stored.iter().filter(|(about, _)| about.seat == Some(row.seat));
    let stored = stored.map(|(_, bytes)| bytes.as_slice());
    let unsaved = desk.added(|changes| &changes.dispatches);
    let unsaved = unsaved
        .filter(|new| new.kind == DispatchKind::Report && new.match_id.as_ref() == Some(&row.match_id))
        .filter(|new| new.seat == Some(row.seat))
        .map(|new| new.bytes.as_slice());
    Ok(repeated_reports(replies, stored.chain(unsaved), game_match))
}

/// Whether a dispatch notifies somebody of an act of the letter that is ruled on, other than a result.
fn is_act_told(dispatch: &Dispatch) -> bool {
    match &dispatch.content {
        Content::Notice(_) => true,
        Content::Invitation
        | Content::Answer(_)
        | Content::Report { .. }
        | Content::Succession
        | Content::Reminder
        | Content::Missed { .. } => false,
    }
}

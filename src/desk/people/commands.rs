//! Commands that need no seat: the manual, the games, the sender's own matches, and offers to play. None of
//! them changes a running match.

use super::proof::{self, Verdict};
use super::{addresses, confirm, finding, leaving, meeting_others, player_settings, questions};
use crate::desk::events::entering;
use crate::desk::frame::asker::{Asker, Evidence};
use crate::desk::frame::codes;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, or_lacking};
use crate::desk::frame::summary::match_line;
use crate::desk::matches::offers::{self, Opponent};
use crate::desk::matches::player_names::name_of_sender;
use crate::desk::matches::taking::Audience;
use crate::desk::matches::{applicants, challenge, membership, seats, taking};
use crate::game::Seat;
use crate::letter::Letter;
use crate::referee::{HouseMatch, MatchSummary, Offer, OfferRejection, Reply, Stage};
use crate::request::{Command, Party, Request, lines_of};
use crate::zone::Zone;

/// The outcome of a command.
pub enum CommandOutcome {
    /// It was carried out or refused.
    Replied(Box<Reply>),
    /// It waits for the answer to our question to the sender.
    Waits,
    /// It is about a match, so its letter must have a token.
    NeedsSeat,
}

impl CommandOutcome {
    /// Returns the reply to a command whose letter has a token, or answers our question: it never waits.
    pub fn reply(self) -> Option<Reply> {
        match self {
            CommandOutcome::Replied(reply) => Some(*reply),
            CommandOutcome::Waits | CommandOutcome::NeedsSeat => None,
        }
    }
}

/// Returns the sender of a letter without a seat's token.
pub fn asker(desk: &Desk<'_>, letter: &Letter, evidence: Evidence) -> Decided<Asker> {
    let from = letter.from.as_str();
    Ok(match desk.stored_player(from)? {
        Some(player) => {
            let from = from.to_owned();
            Asker { from, evidence, ..Asker::player(&player, letter) }
        }
        None => Asker {
            name: name_of_sender(&letter.from, letter.from_name.as_deref()),
            addresses: vec![from.to_owned()],
            from: from.to_owned(),
            player_id: None,
            letter: letter.digest,
            sender: letter.from.clone(),
            evidence,
            zone: None,
        },
    })
}

/// Whether a letter contains the code of one of our letters to its sender that is still open, in a CONFIRM or
/// DENY.
pub fn bears_open_code(desk: &Desk<'_>, letter: &Letter) -> Decided<bool> {
    let asker = asker(desk, letter, Evidence::Unsigned)?;
    let request = Request::read(&lines_of(letter.new_text(None)), |_: &str| false);
    for asked in &request.commands {
        if let Command::Confirm { code, .. } | Command::Deny(code) = &asked.command
            && (confirm::is_open_for(desk, &asker, code)? || questions::is_open(desk, &asker, code)?)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Carries out a command that needs no seat, if its letter proves that the sender wrote it.
pub fn carry_out(desk: &mut Desk<'_>, asker: &Asker, command: &Command) -> Decided<CommandOutcome> {
    match proof::verdict(desk, asker, command)? {
        Verdict::Proven => {}
        Verdict::NeedsToken => return Ok(CommandOutcome::NeedsSeat),
        Verdict::Unsigned => {
            let command = command.name();
            let why = OfferRejection::Unproven;
            return Ok(CommandOutcome::Replied(Box::new(Reply::NoOffer { command, why })));
        }
        Verdict::Asks => {
            let rejected = questions::rejection_at_once(desk, asker, command)?;
            return Ok(
                rejected.map_or(CommandOutcome::Waits, |reply| CommandOutcome::Replied(Box::new(reply)))
            );
        }
    }
    let reply = carry_out_proven(desk, asker, command)?;
    Ok(reply.map_or(CommandOutcome::NeedsSeat, |reply| CommandOutcome::Replied(Box::new(reply))))
}

/// Carries out a proven command that needs no seat, and returns the reply. Returns `None` if it needs a seat.
fn carry_out_proven(desk: &mut Desk<'_>, asker: &Asker, command: &Command) -> Decided<Option<Reply>> {
    if let Some(rejected) = membership::refuse_newcomer(desk, asker, command) {
        return Ok(Some(rejected));
    }
    let done: Result<Reply, OfferRejection> = match command {
        Command::Help(topic) => Ok(Reply::Help { topic: topic.clone() }),
        Command::Rules(game) => Ok(Reply::rules(game.as_deref())),
        Command::Games => Ok(Reply::Games { seats: seats::open_seats(desk, asker)? }),
        Command::Matches => Ok(Reply::Matches { matches: matches_of(desk, asker.player_id, asker.zone)? }),
        Command::Challenge { opponent: Party::Player(opponent), game, options, days } => {
            let opponent = Opponent { address: opponent.clone(), shown: None };
            offers::make_offer(desk, asker, Some(&opponent), Offer::read(game, options, *days))?
        }
        Command::ChallengeNamed { player, game, options, days } => {
            challenge_named(desk, asker, player, Offer::read(game, options, *days))?
        }
        Command::Challenge { opponent: Party::House(level), game, options, days } => {
            let wanted = HouseMatch::read(game, level.as_deref(), options, *days);
            challenge::challenge_house(desk, asker, wanted)?
        }
        Command::Open { game, options, days } => {
            offers::make_offer(desk, asker, None, Offer::read(game, options, *days))?
        }
        Command::Accept(code) => taking::take_up(desk, asker, code, Audience::Asker)?,
        Command::Join(code) => taking::take_up(desk, asker, code, Audience::Anyone)?,
        Command::Decline(code) => offers::decline(desk, asker, code)?,
        Command::Close(code) => offers::close(desk, asker, code)?,
        Command::Block { player, on } => meeting_others::block(desk, asker, player, *on)?,
        Command::Ratings(game) => meeting_others::list_ratings(desk, asker, game)?,
        Command::Profile(player) => meeting_others::profile(desk, asker, player.as_deref())?,
        Command::Events => Ok(entering::list(desk, asker)?),
        Command::Enter(event) => Ok(entering::enter(desk, asker, event)?),
        Command::LeaveEvent { event, confirmed } => Ok(entering::leave(desk, asker, event, *confirmed)?),
        Command::Standings { event, season } => {
            Ok(entering::standings(desk, asker, event.as_deref(), *season)?)
        }
        Command::Confirm { code, always } => Ok(confirm_any(desk, asker, code, *always)?),
        Command::Deny(code) => Ok(deny_any(desk, asker, code)?),
        Command::Address { address, remove: false } => {
            Ok(Reply::Change { change: addresses::ask_to_add(desk, asker, address)? })
        }
        Command::Address { address, remove: true } => {
            Ok(Reply::Change { change: addresses::ask_to_remove(desk, asker, address.as_str())? })
        }
        Command::Misaddressed { command, word } => Ok(Reply::Misaddressed { command, word: word.clone() }),
        Command::Leave { confirmed } => {
            Ok(Reply::Change { change: leaving::ask_to_leave(desk, asker, *confirmed)? })
        }
        Command::Never(code) => offers::refuse_challenges(desk, asker, code.as_deref())?,
        Command::Settings(settings) => Ok(player_settings::change_settings(desk, asker, settings)?),
        Command::Status
        | Command::Report(_)
        | Command::History
        | Command::Hint
        | Command::Tell(_)
        | Command::Resign { .. }
        | Command::Draw
        | Command::Extend { .. }
        | Command::Agree
        | Command::Claim
        | Command::Absent { .. }
        | Command::Substitute
        | Command::Protest(_)
        | Command::Withdraw
        | Command::TellGm(_)
        | Command::Rematch { .. } => return Ok(None),
    };
    Ok(Some(done.unwrap_or_else(|why| Reply::NoOffer { command: command.name(), why })))
}

/// Carries out a CONFIRM, whether its code is for letters, a change, or commands.
fn confirm_any(desk: &mut Desk<'_>, asker: &Asker, code: &str, always: bool) -> Decided<Reply> {
    let done = confirm::confirm_letters(desk, asker, code, always)?;
    // ALWAYS applies only to letters.
    if always || !matches!(done, Reply::NothingToConfirm { .. }) {
        return Ok(done);
    }
    match confirm::confirm_change(desk, asker, code)? {
        Some(change) => Ok(Reply::Change { change }),
        None => carry_out_waiting(desk, asker, code),
    }
}

/// Carries out the commands that waited for a code.
fn carry_out_waiting(desk: &mut Desk<'_>, asker: &Asker, written: &str) -> Decided<Reply> {
    let code = codes::in_code_letters(written);
    let Some(request) = questions::answered_request(desk, asker, &code)? else {
        return Ok(Reply::NoQuestion { code });
    };
    let asker = Asker { evidence: asker.evidence.max(Evidence::Answer), ..asker.clone() };
    let saved_players = desk.draft.changes.players.len();
    let mut replies = Vec::new();
    for waiting in &request.commands {
        let outcome = or_lacking(carry_out(desk, &asker, &waiting.command))?;
        let reply = outcome.and_then(CommandOutcome::reply);
        if let Some(reply) = &reply {
            let line = request.written(waiting.line).unwrap_or_default();
            or_lacking(applicants::note_if_refused(desk, &asker, reply, line))?;
        }
        replies.extend(reply);
    }
    desk.rows.check()?;
    // A letter with a token carries new settings into its matches once the ruling on it is made.
    if let Some(player_id) = asker.player_id.filter(|_| !asker.has_token()) {
        player_settings::carry_out_settings(desk, player_id, saved_players)?;
    }
    Ok(Reply::Confirmed { replies })
}

fn deny_any(desk: &mut Desk<'_>, asker: &Asker, code: &str) -> Decided<Reply> {
    let done = confirm::deny_letters(desk, asker, code)?;
    if !matches!(done, Reply::NothingToConfirm { .. }) {
        return Ok(done);
    }
    match confirm::deny_change(desk, asker, code)? {
        Some(change) => Ok(Reply::Change { change }),
        None if !confirm::is_registered(desk, asker) => {
            Ok(Reply::RegisteredOnly { command: "DENY", once: None })
        }
        None => Ok(done),
    }
}

/// Challenges a player by name or number.
fn challenge_named(
    desk: &mut Desk<'_>,
    asker: &Asker,
    player: &str,
    offer: Result<Offer, OfferRejection>,
) -> Decided<Result<Reply, OfferRejection>> {
    Ok(match finding::find_player(desk, asker, player)? {
        Ok(found) => {
            let opponent = Opponent { address: found.address, shown: Some(found.shown) };
            offers::make_offer(desk, asker, Some(&opponent), offer)?
        }
        Err(why) => Err(why),
    })
}

/// Returns a line for each of a player's matches that is not over, as they were when this transaction began; but nobody
/// is waited for who has filed, even if that is not firm yet and the other side may not know it. `None` stands for
/// somebody who is not a player.
pub fn matches_of(desk: &Desk<'_>, player_id: Option<i64>, zone: Option<Zone>) -> Decided<Vec<MatchSummary>> {
    let Some(id) = player_id else { return Ok(Vec::new()) };
    let mut lines = Vec::new();
    for (seat, overview) in
        desk.rows.matches_of(id)?.iter().filter(|(_, overview)| overview.stage != Stage::Over)
    {
        let mut line = match_line(overview, *seat, zone, desk.at());
        if overview.awaited.contains(seat)
            // Ask for all matches before giving up, so that one round loads them.
            && let Some(loaded) = or_lacking(desk.game_match(&overview.id))?.flatten()
        {
            let awaited = loaded.game_match.awaited_for(Some(*seat));
            let name =
                |who: Seat| if who == *seat { "you".to_owned() } else { overview.players[who].clone() };
            line.awaited = awaited.into_iter().map(name).collect();
        }
        lines.push(line);
    }
    desk.rows.check()?;
    Ok(lines)
}

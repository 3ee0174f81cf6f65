//! The GM's instructions. They are handled alike by letter and at the terminal, and each act on a match is a
//! ruling.

use anyhow::anyhow;
use chrono::{DateTime, Utc};

use super::rollback::{self, refuse_after_the_end};
use super::{accept, announce, digest, lists};
use crate::club::member::number;
use crate::club::names::NamedPlayer;
use crate::desk::events::acts as event_acts;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::ratings;
use crate::desk::frame::rows::{Decided, LoadedMatch, Undecided, or_lacking};
use crate::desk::frame::summary::is_on;
use crate::desk::matches::openings::{self, Holder, NamedAddress, NewMatch, opened_by_gm};
use crate::desk::matches::player_names::{self, fit_name, name_from};
use crate::desk::matches::{acts, applicants};
use crate::desk::outbox::gms::{self, is_seated};
use crate::desk::outbox::{fog, ruling_mail};
use crate::desk::people::finding::{self, NamedParty};
use crate::desk::people::registry;
use crate::game::any::GameKind;
use crate::game::{BySeat, Line, Seat};
use crate::ledger::{self, Fact, PauseReason, SealKey};
use crate::letter::{Address, ParseGivenError};
use crate::referee::{
    Act, Correction, HouseMatch, Instruction, Listing, Match, MatchAction, MatchOverview, NewKey, Offer,
    OfferRejection, PlayerAct, PlayerSettings, Reader, Ruling, Stage,
};
use crate::report::GmResult;
use crate::request::{Party, Whom};
use crate::store::Player;

/// Maximum late matches whose deadlines one instruction extends.
const MAX_EXTENDED: usize = 100;

/// An act on a match, and who takes over the seat that it is about.
pub struct Effect {
    act: Act,
    successor: Option<Player>,
}

/// Carries out one instruction; with `check`, only says what would be done.
pub fn instruct(desk: &mut Desk<'_>, instruction: &Instruction, check: bool) -> Decided<GmResult> {
    match instruction {
        Instruction::Match { id, turn, action } => act_on_match(desk, id, *turn, action, check),
        Instruction::ExtendLate { of, turn, days } => extend_late(desk, of.as_deref(), *turn, *days, check),
        Instruction::List(listing) => Ok(GmResult::List { lines: lists::listed_matches(desk, *listing)? }),
        Instruction::NewEvent { plan } => event_acts::announce(desk, plan, check),
        Instruction::Event { id, action } => event_acts::act(desk, id, action, check),
        Instruction::Announce { readers, text } => announce::announce(desk, *readers, text, check),
        Instruction::New { game, words, options, days } => {
            let parties = match finding::two_parties_for_gm(desk, words)? {
                Ok(parties) => parties,
                Err(says) => return Ok(GmResult::refused(says)),
            };
            let new = match new_match(desk, game, &parties, options, *days) {
                Ok(new) if check => return Ok(GmResult::would(would_open(desk, &new)?)),
                Ok(new) => new,
                Err(no) => return Ok(GmResult::NoOffer { no }),
            };
            let gm = opened_by_gm(gms::acting_gm(desk));
            match openings::open_match(desk, &new, gm, None) {
                Ok(game_match) => {
                    Ok(GmResult::Opened { id: game_match.id, namesakes: namesakes_among(desk, &parties)? })
                }
                // Most failures here are mistakes that the GM can correct, such as one player for both seats.
                Err(Undecided::Failed(error)) => Ok(GmResult::refused(format!("{error:#}."))),
                Err(Undecided::Lacks) => Err(Undecided::Lacks),
            }
        }
        Instruction::PlayerAdd { address, name } => add_player(desk, address, name, check),
        Instruction::PlayerDecline { address, words } => applicants::decline(desk, address, words, check),
        Instruction::Player { whom, act } => act_on_player(desk, whom, act, check),
        Instruction::AcceptLetter { digest } => accept::accept_letter(desk, digest, check),
        // Letters are only ruled on while the clock is trusted: see `daemon::doubt`.
        Instruction::ConfirmClock => Ok(GmResult::ClockConfirmed),
        Instruction::Digest => Ok(GmResult::Digest { digest: digest::of_last_day(desk)? }),
    }
}

fn act_on_player(desk: &mut Desk<'_>, whom: &Whom, act: &PlayerAct, check: bool) -> Decided<GmResult> {
    let address = match finding::address_for_gm(desk, whom)? {
        Ok(address) => address,
        Err(says) => return Ok(GmResult::refused(says)),
    };
    match act {
        PlayerAct::Show => match desk.player(address.as_str())? {
            Some(player) => registry::show_player_and_matches(desk, &player),
            None => registry::show_address(desk, &address),
        },
        PlayerAct::Rename(name) => registry::rename_player(desk, &address, name, check),
        PlayerAct::MergeInto(into) => match finding::address_for_gm(desk, into)? {
            Ok(into) => registry::merge_players(desk, &address, &into, check),
            Err(says) => Ok(GmResult::refused(says)),
        },
        PlayerAct::AddAddress(new) => registry::add_address(desk, &address, new, check),
        PlayerAct::RemoveAddress(old) => registry::remove_address(desk, &address, old, check),
        PlayerAct::BounceClear => registry::clear_bounces(desk, &address, check),
        PlayerAct::Block => registry::block_player(desk, &address, true, check),
        PlayerAct::Unblock => registry::block_player(desk, &address, false, check),
    }
}

/// Carries out an instruction long after it arrived. If it is about a match, it counts for the turn that was
/// open when it arrived.
pub fn instruct_late(
    desk: &mut Desk<'_>,
    instruction: Instruction,
    check: bool,
    came: DateTime<Utc>,
) -> Decided<GmResult> {
    let instruction = match instruction {
        Instruction::Match { id, turn: None, action } => {
            let loaded = desk.game_match(&id.to_ascii_uppercase())?;
            let turn = loaded.and_then(|loaded| loaded.game_match.turn_open_at(came));
            Instruction::Match { id, turn, action }
        }
        other => other,
    };
    instruct_unless_playing(desk, &instruction, check)
}

/// Carries out an instruction, unless it would show a GM who plays what the rules hide: a fault in orders for
/// the other seat reveals where its ships are.
pub fn instruct_unless_playing(
    desk: &mut Desk<'_>,
    instruction: &Instruction,
    check: bool,
) -> Decided<GmResult> {
    if let Some(event) = event_of(desk, instruction)?
        && desk.club.config.club.gm.all().len() > 1
        && event_acts::plays_there(desk, &event)?
    {
        return Ok(GmResult::refused(format!("You play in {event}, so another GM has to do this.")));
    }
    if let Instruction::Match { id, action, .. } = instruction
        && is_for_another_gm(action)
        && let Some(loaded) = desk.game_match(&id.to_ascii_uppercase())?
        && is_seated(gms::acting_gm(desk), &loaded.seats)
    {
        return Ok(GmResult::refused("You play in that match, so another GM has to do this."));
    }
    instruct(desk, instruction, check)
}

/// Extends the deadlines of late matches that the acting GM looks after: of all, or of a match, a game or an event.
fn extend_late(
    desk: &mut Desk<'_>,
    of: Option<&str>,
    turn: Option<u32>,
    days: u32,
    check: bool,
) -> Decided<GmResult> {
    let extend = |id: &str| Instruction::Match {
        id: id.to_owned(),
        turn,
        action: MatchAction::Act(Act::Extend { days }),
    };
    if let Some(id) = of
        && let Some(loaded) = desk.game_match(&id.to_ascii_uppercase())?
    {
        let overview = loaded.game_match.overview();
        let open = overview.due.as_ref().map(|due| due.turn);
        let is_open = turn.is_none() || turn == open;
        return match is_open && !is_on(&overview, Listing::Late, desk.at()) {
            true => Ok(GmResult::refused(format!("{} is not late.", overview.id))),
            false => instruct_unless_playing(desk, &extend(id), check),
        };
    }
    let game = of.and_then(GameKind::parse);
    let is_meant = |found: &MatchOverview| match (game, of) {
        (Some(game), _) => found.game == game,
        (None, Some(of)) => found.event.as_deref().is_some_and(|event| event.eq_ignore_ascii_case(of)),
        (None, None) => true,
    };
    let mut late: Vec<String> = Vec::new();
    for found in desk.overviews()? {
        let is_ours = gms::acting_gm(desk).looks_after(found.game, &found.id);
        if is_ours && is_on(&found, Listing::Late, desk.at()) && is_meant(&found) {
            late.push(found.id);
        }
    }
    let more = late.len().saturating_sub(MAX_EXTENDED);
    late.truncate(MAX_EXTENDED);
    let mut matches = Vec::new();
    for id in late {
        // A match of an event in which this GM plays refuses it.
        if or_lacking(instruct_unless_playing(desk, &extend(&id), check))?.is_some_and(|done| done.is_done())
        {
            matches.push(id);
        }
    }
    desk.rows.check()?;
    match (matches.is_empty(), of) {
        (false, _) => Ok(GmResult::ExtendedLate { days, matches, more, check }),
        (true, None) => Ok(GmResult::refused("No match is late.")),
        (true, Some(of)) => Ok(GmResult::refused(format!("No match of {of} is late."))),
    }
}

/// Returns the event that an instruction changes, or to which its match belongs.
fn event_of(desk: &Desk<'_>, instruction: &Instruction) -> Decided<Option<String>> {
    match instruction {
        Instruction::Event { id, .. } => Ok(Some(id.to_ascii_uppercase())),
        Instruction::Match { id, .. } => {
            let found = desk.game_match(&id.to_ascii_uppercase())?;
            Ok(found.and_then(|found| found.game_match.terms.event.clone()))
        }
        _ => Ok(None),
    }
}

/// Whether a GM who plays in the match must leave this to another.
pub fn is_for_another_gm(action: &MatchAction) -> bool {
    match action {
        MatchAction::Replace { .. } | MatchAction::Correct { .. } => true,
        MatchAction::Act(act) => {
            matches!(
                act,
                Act::File { .. }
                    | Act::RenewToken(_)
                    | Act::Tell { .. }
                    | Act::Unseal { .. }
                    | Act::Annul { .. }
                    | Act::Terms(_)
            )
        }
    }
}

/// Refuses the options with which players choose their seats: the GM names the first player first.
fn seats_follow_from_order(options: &[(String, String)]) -> Result<(), OfferRejection> {
    let chooses_seat = |name: &str| ["seat", "first"].iter().any(|own| name.eq_ignore_ascii_case(own));
    let Some((name, value)) = options.iter().find(|(name, _)| chooses_seat(name)) else { return Ok(()) };
    let reason = format!(
        "`{name}={value}` chooses a seat. Here the one you name first has the first seat, so please leave it out."
    );
    Err(OfferRejection::BadOption { reason })
}

/// Returns the match that the GM wants to open.
fn new_match(
    desk: &Desk<'_>,
    game: &str,
    parties: &[NamedParty; 2],
    options: &[(String, String)],
    days: Option<u32>,
) -> Result<NewMatch, OfferRejection> {
    let player = |address: &Address, name: &str| {
        Holder::Player(NamedAddress { name: name.to_owned(), address: address.clone() })
    };
    seats_follow_from_order(options)?;
    let club = &desk.club.config.terms;
    let house = &desk.club.config.house;
    match parties {
        [(Party::House(first), _), (Party::House(second), _)] => {
            Err(house_against_itself(desk, game, first.as_deref(), second.as_deref()))
        }
        [(Party::Player(first), _), (Party::Player(second), _)] if first == second => {
            Err(OfferRejection::Yourself)
        }
        [(Party::Player(first), name), (Party::Player(second), other)] => {
            let offer = Offer::read(game, options, days)?;
            let terms = offer.terms(club);
            let players = BySeat::new(player(first, name), player(second, other));
            Ok(NewMatch { game: offer.game, choices: offer.choices, players, terms })
        }
        [(Party::House(named), _), (Party::Player(address), name)]
        | [(Party::Player(address), name), (Party::House(named), _)] => {
            let wanted = HouseMatch::read(game, named.as_deref(), options, days)?;
            let level = wanted.level.map_or_else(|| house.level(wanted.game, None), Ok)?;
            let players = match parties {
                [(Party::House(_), _), _] => BySeat::new(Holder::House(level), player(address, name)),
                [(Party::Player(_), _), _] => BySeat::new(player(address, name), Holder::House(level)),
            };
            let (choices, terms) = (wanted.choices(level), wanted.terms(club, house.advance));
            Ok(NewMatch { game: wanted.game, choices, players, terms })
        }
    }
}

/// Returns why the GM cannot open a match of the house against itself by letter.
fn house_against_itself(
    desk: &Desk<'_>,
    game: &str,
    first: Option<&str>,
    second: Option<&str>,
) -> OfferRejection {
    let Some(kind) = GameKind::parse(game) else {
        return OfferRejection::UnknownGame { name: game.to_owned() };
    };
    let house = &desk.club.config.house;
    match (house.level(kind, first), house.level(kind, second)) {
        (Ok(first), Ok(second)) => {
            OfferRejection::HouseAgainstItself { game: kind.key(), levels: [first.name, second.name] }
        }
        (Err(why), _) | (_, Err(why)) => why,
    }
}

/// Says which names look like those of these parties, once their match is open.
fn namesakes_among(desk: &Desk<'_>, parties: &[NamedParty; 2]) -> Decided<Vec<String>> {
    let mut players = Vec::new();
    for (party, _) in parties {
        if let Party::Player(address) = party
            && let Some(Player { id, name, .. }) = desk.player(address.as_str())?
        {
            players.push(NamedPlayer { id, name });
        }
    }
    player_names::namesakes(desk, &players)
}

fn add_player(desk: &mut Desk<'_>, address: &Address, name: &str, check: bool) -> Decided<GmResult> {
    if !name.is_empty()
        && let Err(says) = fit_name(name)
    {
        return Ok(GmResult::refused(says));
    }
    if let Some(known) = desk.player(address.as_str())?
        && !name.is_empty()
        && !player_names::is_called(desk, &known, name)
    {
        let other = player_names::plus_address(address, name);
        let other = other
            .map(|other| format!(" Another person at that mailbox needs a plus address, such as {other}."));
        return Ok(GmResult::refused(format!(
            "{address} is {} ({}), so nobody was added as {name}.{}",
            known.name,
            number(known.id),
            other.unwrap_or_default()
        )));
    }
    if !address.is_reachable() {
        return Ok(GmResult::refused(format!("{address} is {}.", ParseGivenError::BeyondAscii)));
    }
    let applicant = applicants::of(desk, address)?;
    let name = applicant.as_ref().filter(|_| name.is_empty()).map_or(name, |applicant| &applicant.name);
    if check {
        let called = match name {
            "" => player_names::distinct_name(desk, &name_from(address), address)?,
            name => name.to_owned(),
        };
        return Ok(GmResult::would(match (desk.player(address.as_str())?, &applicant) {
            (Some(known), _) => format!("{address} is {} ({}) already.", known.name, number(known.id)),
            (None, Some(_)) => format!("{address} would become the player {called}, and would be told so."),
            (None, None) => format!("{address} would become the player {called}."),
        }));
    }
    let player = player_names::player_called(desk, name, address)?;
    let player = openings::register(desk, player);
    let is_applicant = applicant.is_some();
    if let Some(applicant) = applicant {
        applicants::admit(desk, &applicant, &player)?;
    }
    let mut shown = registry::show_player(desk, &player)?;
    if let GmResult::Player { admitted, .. } = &mut shown {
        *admitted = is_applicant;
    }
    Ok(shown)
}

fn act_on_match(
    desk: &mut Desk<'_>,
    id: &str,
    turn: Option<u32>,
    action: &MatchAction,
    check: bool,
) -> Decided<GmResult> {
    let id = id.to_ascii_uppercase();
    let Some(loaded) = desk.game_match(&id)?.cloned() else { return Ok(GmResult::NoMatch { id }) };
    let open = loaded.game_match.due().map(|due| due.turn);
    // An instruction about one turn must not take effect in the next, which may have opened while the letter
    // was in transit.
    if let Some(turn) = turn.filter(|turn| Some(*turn) != open) {
        return Ok(GmResult::TurnPassed { id, turn, open });
    }
    let Effect { act, successor } = match effect(desk, &loaded, action, check)? {
        Ok(effect) => effect,
        Err(refused) => return Ok(refused),
    };
    if !check {
        return acts::act_as_gm(desk, loaded, &act, successor);
    }
    would_act(desk, &loaded, act)
}

/// Says what an act on a match would do. The ruling is dropped, so that a check rejects whatever the instruction would.
fn would_act(desk: &Desk<'_>, loaded: &LoadedMatch, act: Act) -> Decided<GmResult> {
    let before = &loaded.game_match;
    let matter = before.by_gm(&gms::acting_gm(desk).name, act.clone());
    let ruling = ruling_mail::request_ruling(desk, before, &matter);
    if let Some(untaken) = ruling.rejection {
        return Ok(GmResult::Rejection { id: before.id.clone(), untaken });
    }
    let says = match &act {
        Act::Correct(correction) => {
            format!("{} {}", rollback::would_void(before, correction), quoted(&correction.reason))
        }
        Act::Pause { reason: PauseReason::Gm(text) }
        | Act::Annul { reason: text }
        | Act::Note { text }
        | Act::Tell { text, .. } => quoted(text),
        Act::Replace { seat, excused, .. } => would_rate(desk, before, &ruling, (*seat, *excused))?,
        _ => String::new(),
    };
    let after = &ruling.after;
    // How a turn ends follows from sealed orders. The end of a match that a GM ends does not.
    let is_known = match &act {
        Act::Forfeit(_) | Act::Abandon | Act::Annul { .. } => true,
        Act::Correct(correction) => correction.orders.is_none() || !before.game.hides_something(),
        _ => {
            after.phase_no == before.phase_no && (after.stage == Stage::Over) == (before.stage == Stage::Over)
        }
    };
    let line = match is_known {
        true => Some(Box::new(fog::of_acting_gm(desk)?.line(after.overview(), desk.at()))),
        false => None,
    };
    // A correction tells both sides, whatever follows from it.
    let tells = is_known || matches!(act, Act::Correct(_));
    let is_told = |seat: &Seat| {
        tells
            && after.house[*seat].is_none()
            && ruling.dispatches.iter().any(|dispatch| dispatch.to == Reader::Seat(*seat))
    };
    let told = Seat::BOTH.into_iter().filter(is_told).map(|seat| after.players[seat].clone());
    let told = acts::former_told(loaded, &ruling).into_iter().chain(told).collect();
    let terms = if let Act::Terms(change) = act { Some(change) } else { None };
    Ok(GmResult::Would { says, line, event: None, terms, told })
}

/// Repeats the words that an act would tell.
fn quoted(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("In your words: {words}") }
}

/// Says whether a player who gives up a seat by this ruling is rated.
fn would_rate(
    desk: &Desk<'_>,
    before: &Match,
    ruling: &Ruling,
    (seat, excused): (Seat, bool),
) -> Decided<String> {
    let name = &before.players[seat];
    if before.house[seat].is_some() {
        return Ok(String::new());
    }
    if excused {
        return Ok(format!("{name} would be excused: the match would not be rated for them."));
    }
    let how = if desk.without_letter { "--excused" } else { "the word EXCUSED" };
    Ok(match ratings::rates_leaver(desk, ruling, seat)? {
        true => format!("{name} would be rated as having lost; {how} spares them that."),
        false => format!("The match would not be rated for {name}."),
    })
}

/// Says which match would be opened.
fn would_open(desk: &Desk<'_>, new: &NewMatch) -> Decided<String> {
    let mut names = Vec::new();
    for (_, holder) in new.players.iter() {
        names.push(match holder {
            Holder::House(level) => level.player_name(),
            Holder::Player(NamedAddress { address, .. }) => match desk.player(address.as_str())? {
                Some(player) => format!("{} ({})", player.name, number(player.id)),
                None => format!("{address}, who is new"),
            },
        });
    }
    let days = new.terms.days;
    Ok(format!(
        "{}: {} against {}, {days} day{} for a turn.",
        new.game.name(),
        names[0],
        names[1],
        if days == 1 { "" } else { "s" }
    ))
}

/// Returns the act that carries out an action, or why there is none.
fn effect(
    desk: &mut Desk<'_>,
    loaded: &LoadedMatch,
    action: &MatchAction,
    check: bool,
) -> Decided<Result<Effect, GmResult>> {
    if let (MatchAction::Replace { .. }, Some(event)) = (action, &loaded.game_match.terms.event)
        && desk.event(event)?.is_some_and(|found| found.event.running().is_some())
    {
        let terminal = format!("`fogpost event replace {event} Bo Cy` and a reason");
        let letter = format!("GM EVENT {event} REPLACE Bo Cy and a reason");
        let how = desk.worded(&terminal, &letter);
        let says = format!("The match belongs to {event}. To give a seat away: {how}.");
        return Ok(Err(GmResult::refused(says)));
    }
    let act = match action {
        MatchAction::Act(Act::RenewToken(seat)) if loaded.game_match.house[*seat].is_some() => {
            let says = "The house holds that seat: it gets no letters, and needs no token.";
            return Ok(Err(GmResult::refused(says)));
        }
        MatchAction::Act(act) => act.clone(),
        MatchAction::Replace { seat, by, excused } => {
            let seat = (*seat, *excused);
            return match finding::party_for_gm(desk, by)? {
                Ok((Party::House(level), _)) => replace_by_house(desk, loaded, seat, level.as_deref(), check),
                Ok((Party::Player(address), name)) => {
                    replace_by_player(desk, loaded, seat, (&address, &name), check)
                }
                Err(says) => Ok(Err(GmResult::refused(says))),
            };
        }
        MatchAction::Correct { turn, reason, orders } => {
            if let Some(refused) = refuse_after_the_end(desk, &loaded.game_match) {
                return Ok(Err(refused));
            }
            let correction = correction(desk, &loaded.game_match.id, *turn, reason, orders.clone())?;
            if !check && let Some(first) = rollback::before_correction(desk, loaded, &correction)? {
                return Ok(Err(first));
            }
            Act::Correct(correction)
        }
    };
    Ok(Ok(Effect { act, successor: None }))
}

/// Returns the act that gives a seat to the house. `excused`: whether the player who loses the seat is
/// excused.
fn replace_by_house(
    desk: &mut Desk<'_>,
    loaded: &LoadedMatch,
    (seat, excused): (Seat, bool),
    level: Option<&str>,
    check: bool,
) -> Decided<Result<Effect, GmResult>> {
    if loaded.game_match.house != BySeat::default() {
        return Ok(Err(GmResult::refused("The house holds a seat of that match already.")));
    }
    let level = match desk.club.config.house.level(loaded.game_match.game, level) {
        Ok(level) => level,
        Err(no) => return Ok(Err(GmResult::NoOffer { no })),
    };
    // A check must not add a player: loading the row would add it at once.
    let successor = if check { None } else { Some(openings::house_player(desk, level)?) };
    let house = Some(level.name.to_owned());
    let (name, settings) = (level.player_name(), PlayerSettings::default());
    let act = Act::Replace { seat, name, house, settings, excused };
    Ok(Ok(Effect { act, successor }))
}

/// Returns the act that gives a seat to a player. `excused`: whether the player who loses the seat is
/// excused.
fn replace_by_player(
    desk: &mut Desk<'_>,
    loaded: &LoadedMatch,
    (seat, excused): (Seat, bool),
    (address, name): (&Address, &str),
    check: bool,
) -> Decided<Result<Effect, GmResult>> {
    let holds = |player: &Player| player.addresses.iter().any(|own| own == address.as_str());
    if let Some((held, _)) = loaded.seats.iter().find(|(_, row)| holds(&row.player)) {
        let says = format!("{} holds a seat of that match already.", loaded.game_match.players[held]);
        return Ok(Err(GmResult::refused(says)));
    }
    // A check must not add a player.
    let successor = if check { None } else { Some(player_names::player_called(desk, name, address)?) };
    let known = match &successor {
        Some(player) => Some(player.name.clone()),
        None => desk.player(address.as_str())?.map(|player| player.name),
    };
    let name = match known {
        Some(known) => known,
        None if name.is_empty() => player_names::distinct_name(desk, &name_from(address), address)?,
        None => name.to_owned(),
    };
    let settings = successor.as_ref().map(|player| player.settings.clone()).unwrap_or_default();
    let act = Act::Replace { seat, name, house: None, settings, excused };
    Ok(Ok(Effect { act, successor }))
}

/// Returns a correction of a turn, with the adjudications that the ledger holds.
fn correction(
    desk: &mut Desk<'_>,
    id: &str,
    turn: u32,
    reason: &str,
    orders: Option<(Seat, Vec<Line>)>,
) -> Decided<Correction> {
    let entries = desk.rows.entries(id)?;
    let is_over = desk.game_match(id)?.is_some_and(|loaded| loaded.game_match.stage == Stage::Over);
    // The end of the match published the secret, and later turns need one that is still unknown.
    let new_key = is_over.then(|| NewKey::new(SealKey::new(desk.random("new secret of a match").bytes())));
    let Some(Fact::MatchOpened { options, .. }) = entries.first().map(|entry| &entry.fact) else {
        return Err(anyhow!("the ledger of match {id} does not begin with its opening").into());
    };
    Ok(Correction {
        turn,
        reason: reason.to_owned(),
        choices: options.clone(),
        decided: ledger::adjudications(entries),
        orders,
        new_key,
    })
}

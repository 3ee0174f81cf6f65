//! The steps that are due in events, each in one transaction.

use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};

use super::book::{close_season, keep, record};
use super::{letters, people, results};
use crate::club::events::event::{Event, Pairing, Season};
use crate::club::events::own_time::{own_time, slower};
use crate::club::events::steps::Step;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedEvent, or_lacking};
use crate::desk::matches::openings::{self, Holder, NamedAddress, NewMatch};
use crate::desk::outbox::ruling_mail;
use crate::game::{BySeat, Seat};
use crate::ledger::book::{BookCause, BookFact, BookOutcome, BookResult};
use crate::ledger::{Act, instant_in};
use crate::letter::{Address, Digest};
use crate::referee::Stage;
use crate::report::EventLetter;
use crate::store::EventMatchRow;

/// Maximum matches that one transaction ends.
const ENDED_TOGETHER: usize = 20;

/// Maximum matches that one transaction opens, in whole sections; a larger section gets a transaction of its own.
/// Letters wait for each commit, and each transaction reads the event's whole book again.
const OPENED_TOGETHER: usize = 60;

/// The clock as a cause.
const CLOCK: BookCause = BookCause::Clock {};

/// Takes the next step that is due in an event. Returns whether there was one.
pub fn advance(desk: &mut Desk<'_>, event_id: &str) -> Decided<bool> {
    let Some(loaded) = desk.event(event_id)? else { return Ok(false) };
    match loaded.event.step(&loaded.told, desk.at()) {
        Some(step) => take(desk, loaded, step),
        None => Ok(false),
    }
}

/// Takes the next step that was due in an event at `then` if it draws or opens matches: after an older backup was
/// restored, letters that came later may be about these. Returns whether there was one.
pub fn open_again(desk: &mut Desk<'_>, event_id: &str, then: DateTime<Utc>) -> Decided<bool> {
    let Some(loaded) = desk.event(event_id)? else { return Ok(false) };
    match loaded.event.step(&loaded.told, then) {
        Some(step @ (Step::Draw | Step::Open(_))) => take(desk, loaded, step),
        Some(_) | None => Ok(false),
    }
}

/// Takes a step. Returns whether it changed anything.
fn take(desk: &mut Desk<'_>, mut loaded: LoadedEvent, step: Step) -> Decided<bool> {
    let season = loaded.event.season().cloned();
    let no = season.as_ref().map_or(0, |season| season.no);
    match (step, season) {
        (Step::Draw, _) => draw(desk, &mut loaded, &CLOCK)?,
        (Step::TooFew, _) => {
            loaded.told.too_few = no + 1;
            let letter = EventLetter::TooFew { least: loaded.event.least() };
            letters::tell_gms(desk, &loaded.event, "few", letter)?;
        }
        (Step::Open(section), Some(season)) => open_sections(desk, &mut loaded, &season, section)?,
        (Step::Resign(player), Some(season)) => {
            loaded.told.resigned.push((no, player));
            resign(desk, &season, player)?;
        }
        (Step::Warn, Some(season)) => {
            loaded.told.ending = no;
            letters::tell_ending(desk, &loaded.event, &season)?;
        }
        (Step::Decide(matches), Some(season)) => {
            if !decide(desk, &mut loaded, &season, &matches)? {
                return Ok(false);
            }
        }
        (Step::AskGm, Some(season)) => {
            loaded.told.unfinished = no;
            let running: Vec<&Pairing> = season.games.iter().filter(|game| game.result.is_none()).collect();
            note_without_result(desk, &mut loaded, &running)?;
            let matches = running.iter().filter_map(|game| game.match_id.clone()).collect();
            letters::tell_gms(desk, &loaded.event, "unfinished", EventLetter::Unfinished { matches })?;
        }
        (Step::Close, _) => close(desk, &mut loaded)?,
        (_, None) => return Ok(false),
    }
    keep(desk, loaded);
    Ok(true)
}

/// Draws the sections of the next season, after striking the entrants whom no letter reaches.
pub fn draw(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, cause: &BookCause) -> Decided<()> {
    let unreachable = people::unreachable(desk, &loaded.event.entrants)?;
    for &player in &unreachable {
        record(desk, loaded, &CLOCK, BookFact::Struck { player });
    }
    // With fewer entrants, another step may be due.
    if unreachable.is_empty() {
        let figures = people::figures(desk, &loaded.event)?;
        let fact = loaded.event.draw(&figures, desk.at());
        record(desk, loaded, cause, fact);
    }
    Ok(())
}

/// Opens the matches of a section and of some sections after it, all or none.
fn open_sections(
    desk: &mut Desk<'_>,
    loaded: &mut LoadedEvent,
    season: &Season,
    first: usize,
) -> Decided<()> {
    let last = last_opened_with(season, first);
    lose_unopened(desk, loaded, season, first..=last)?;
    let running = loaded.event.running().into_iter();
    let games: Vec<Pairing> = running.flat_map(|season| season.unopened(first..=last)).cloned().collect();
    let (mut new, mut pairings) = (Vec::new(), Vec::new());
    for (place, game) in games.iter().enumerate() {
        let addresses = BySeat::new(address(desk, game.first)?, address(desk, game.second)?);
        let is_same = |other: &&Pairing| (other.first, other.second) == (game.first, game.second);
        let opened = season.games.iter().filter(|other| other.match_id.is_some());
        let nth = opened.chain(&games[..place]).filter(is_same).count();
        pairings.push(pairing(&loaded.event.plan.id, season.no, &addresses, nth));
        new.push(NewMatch {
            game: loaded.event.plan.game,
            choices: loaded.event.plan.options.clone(),
            players: addresses.map(|address| Holder::Player(NamedAddress { name: String::new(), address })),
            terms: loaded.event.terms.clone(),
        });
    }
    let opened = openings::open_paired(desk, &new, &pairings)?;
    for (game, opened) in games.iter().zip(&opened) {
        let (first, second, match_id) = (game.first, game.second, opened.id.clone());
        let row = EventMatchRow {
            match_id: match_id.clone(),
            event_id: loaded.event.plan.id.clone(),
            season: season.no,
            first,
            second,
        };
        desk.draft.changes.event_matches.push(row);
        record(desk, loaded, &CLOCK, BookFact::MatchOpened { season: season.no, first, second, match_id });
    }
    let event = loaded.event.clone();
    if let Some(season) = event.season() {
        (first..=last).try_for_each(|section| letters::tell_started(desk, &event, season, section))?;
    }
    Ok(())
}

/// Returns the last section that is opened together with this one.
fn last_opened_with(season: &Season, first: usize) -> usize {
    let fits = |last: &usize| season.unopened(first..=*last).count() <= OPENED_TOGETHER;
    (first + 1..season.sections.len()).take_while(fits).last().unwrap_or(first)
}

/// Lets players whom letters no longer reach lose their unopened matches, and tells the GM.
fn lose_unopened(
    desk: &mut Desk<'_>,
    loaded: &mut LoadedEvent,
    season: &Season,
    sections: RangeInclusive<usize>,
) -> Decided<()> {
    let lost = people::unreachable(desk, &season.sections[sections.clone()].concat())?;
    if lost.is_empty() {
        return Ok(());
    }
    for game in season.unopened(sections) {
        let (outcome, vanished) = match [game.first, game.second].map(|player| lost.contains(&player)) {
            [false, false] => continue,
            [false, true] => (BookOutcome::First, Some(Seat::Second)),
            [true, false] => (BookOutcome::Second, Some(Seat::First)),
            [true, true] => (BookOutcome::Both, None),
        };
        let result = BookResult { match_id: None, end: None, outcome, vanished, own: BySeat::new(0, 0) };
        let (season, first, second) = (season.no, game.first, game.second);
        record(desk, loaded, &CLOCK, BookFact::ResultEntered { season, first, second, result });
    }
    let players = lost.iter().map(|player| people::name(desk, *player)).collect::<Decided<Vec<String>>>()?;
    letters::tell_gms(desk, &loaded.event, "unreachable", EventLetter::Unreachable { players })
}

fn address(desk: &Desk<'_>, player: i64) -> Decided<Address> {
    match desk.reachable(player)? {
        Some((_, address)) => Ok(address),
        None => Err(anyhow::anyhow!("player {player} of an event has no address").into()),
    }
}

/// Identifies the `nth` match between these people in a season. By their addresses, because the numbers of players may
/// differ after an older backup was restored, and nobody must get another person's reply token. It is one line, so no
/// letter with a sender has this digest.
fn pairing(event: &str, season: u32, addresses: &BySeat<Address>, nth: usize) -> Digest {
    let BySeat { first, second } = addresses;
    Digest::of(format!("pairing {event} {season} {first} {second} {nth}").as_bytes())
}

/// Resigns the running matches of a player who left or was struck.
fn resign(desk: &mut Desk<'_>, season: &Season, player: i64) -> Decided<()> {
    for (seat, game) in season.open_games_of(player) {
        or_lacking(end_match(desk, game, Act::Leave(seat)))?;
    }
    desk.rows.check()
}

/// Ends unfinished matches by own time, a limited number at a time. Returns whether it changed anything.
fn decide(
    desk: &mut Desk<'_>,
    loaded: &mut LoadedEvent,
    season: &Season,
    matches: &[String],
) -> Decided<bool> {
    let matches = &matches[..matches.len().min(ENDED_TOGETHER)];
    let is_meant = |game: &&Pairing| game.match_id.as_ref().is_some_and(|id| matches.contains(id));
    let mut games: Vec<&Pairing> = season.games.iter().filter(is_meant).collect();
    // Results of the same time are rated in the order of their match IDs.
    games.sort_unstable_by_key(|game| &game.match_id);
    let mut changed = note_without_result(desk, loaded, &games)?;
    for game in games {
        let Some(id) = &game.match_id else { continue };
        let own = own_time(desk.rows.entries(id)?, desk.at());
        // Ask for all matches before the round ends, so that they are loaded together.
        changed |= or_lacking(end_match(desk, game, Act::MoreTime(slower(&own))))?.unwrap_or_default();
    }
    desk.rows.check()?;
    Ok(changed)
}

/// Records for each of these matches that is over without a result that it has none.
fn note_without_result(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, games: &[&Pairing]) -> Decided<bool> {
    let mut ended = Vec::new();
    for game in games {
        let Some(id) = &game.match_id else { continue };
        ended.extend(or_lacking(results::end_of(desk, id))?.flatten().map(|end| (*game, end)));
    }
    desk.rows.check()?;
    ended.retain(|(_, end)| end.outcome == BookOutcome::None);
    for (game, end) in &ended {
        results::enter(desk, loaded, game, end, BookOutcome::None, &CLOCK);
    }
    Ok(!ended.is_empty())
}

/// Ends a match of an event if it is running, and tells both players. Returns whether it did.
fn end_match(desk: &mut Desk<'_>, game: &Pairing, act: Act) -> Decided<bool> {
    let Some(id) = &game.match_id else { return Ok(false) };
    let Some(found) = desk.game_match(id)?.cloned().filter(|found| found.game_match.stage != Stage::Over)
    else {
        return Ok(false);
    };
    let ruling = ruling_mail::act(desk, &found.game_match, act);
    let changed = ruling.after != found.game_match;
    if changed {
        ruling_mail::record_ruling(desk, found, ruling)?;
    }
    Ok(changed)
}

fn close(desk: &mut Desk<'_>, loaded: &mut LoadedEvent) -> Decided<()> {
    let before: Event = loaded.event.clone();
    let Some(fact) = before.closing() else { return Ok(()) };
    record(desk, loaded, &CLOCK, fact);
    close_season(desk, loaded);
    let event = loaded.event.clone();
    letters::tell_standings(desk, &before, &event)
}

/// If a season ended during an outage, moves its end by the length of the outage. Returns whether it did.
pub fn slide(desk: &mut Desk<'_>, event_id: &str, since: DateTime<Utc>) -> Decided<bool> {
    let Some(mut loaded) = desk.event(event_id)? else { return Ok(false) };
    let at = desk.at();
    let Some(ends) = loaded.event.running().map(|season| season.ends) else { return Ok(false) };
    if ends <= since || ends > at {
        return Ok(false);
    }
    let ends = Some(ends + (at - since));
    record(desk, &mut loaded, &CLOCK, BookFact::PlanChanged { opens: None, ends, closed: false });
    keep(desk, loaded);
    Ok(true)
}

/// If newer zone data move the end of the running season, sets it again at the local time that players read. Nothing moves
/// into the past. Returns whether it did.
pub fn keep_local_end(desk: &mut Desk<'_>, event_id: &str) -> Decided<bool> {
    let Some(mut loaded) = desk.event(event_id)? else { return Ok(false) };
    let Some((at, local)) = loaded.told.ends else { return Ok(false) };
    let zone = desk.club.config.terms.zone;
    // Do not convert it back for nothing: a local time that comes twice when clocks are set back is ambiguous.
    let ends = match at.with_timezone(&zone).naive_local() == local {
        true => None,
        false => instant_in(zone, local).filter(|ends| *ends > desk.at()),
    };
    if ends.is_none() || loaded.event.running().is_none() {
        return Ok(false);
    }
    record(desk, &mut loaded, &CLOCK, BookFact::PlanChanged { opens: None, ends, closed: false });
    keep(desk, loaded);
    Ok(true)
}

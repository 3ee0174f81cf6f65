//! Loads what the agenda shows, in a few queries for all matches.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::super::audit::sealed::matches_sealing;
use super::super::status::{MatchCounts, SILENT_AFTER, Status};
use super::super::{GmIndex, Office, fog};
use crate::club::events::event::EventStage;
use crate::desk::gm::without_letter::match_guard;
use crate::desk::matches::applicants::{APPLICANT, Applicant};
use crate::desk::outbox::fog::Fog;
use crate::game::{BySeat, Seat};
use crate::referee::{Match, MatchOverview, Stage};
use crate::store::LetterStatus;
use crate::web::screen::agenda::{
    AboutMatch, AgendaKind, AgendaState, DeskRows, MailTrouble, RunningMatch, Waiting,
};

/// Maximum items on the agenda; the others appear once these are settled.
const SHOWN: usize = 40;

/// Letters to the GM, and letters set aside, are shown for this long.
const RECENT: TimeDelta = TimeDelta::days(14);

/// Maximum letters of each kind, and given-up dispatches, to look at.
const MAX_LETTERS: u32 = 100;

/// Returns what the agenda of a GM shows.
pub async fn rows(office: &Office, index: GmIndex) -> anyhow::Result<DeskRows> {
    let gm = &office.config.club.gm.all()[index.0];
    let mut running: Vec<MatchOverview> = Vec::new();
    let mut paused: Vec<MatchOverview> = Vec::new();
    office.store.list_matches(Some(Stage::Running), &mut |overview| running.push(overview)).await?;
    office.store.list_matches(Some(Stage::Paused), &mut |overview| paused.push(overview)).await?;
    let overviews = || running.iter().chain(&paused);
    let status = status(office, overviews()).await?;
    let fog = fog::on_screen(office, index).await?;
    let mine: Vec<&MatchOverview> =
        overviews().filter(|overview| gm.looks_after(overview.game, &overview.id)).collect();
    let (waiting, more) = waiting(office, &mine, &fog).await?;
    let last_turns: BTreeMap<String, _> = office.store.last_turns().await?.into_iter().collect();
    let mut moving = Vec::new();
    for overview in mine.iter().filter(|overview| overview.stage == Stage::Running) {
        let Some(last_turn) = last_turns.get(&overview.id) else { continue };
        moving.push(RunningMatch {
            id: overview.id.clone(),
            names: overview.players.clone(),
            awaited: overview.awaited.clone(),
            turn: overview.due.as_ref().map_or(0, |due| due.turn),
            last_turn: *last_turn,
        });
    }
    let mut events = Vec::new();
    for row in office.store.events().await? {
        if matches!(row.stage, EventStage::Entries | EventStage::Running) {
            events.push((row.id, row.name, row.stage.as_str()));
        }
    }
    let state = AgendaState {
        last_fetch: status.last_fetch,
        letters_waiting: status.letters_waiting,
        dispatches_waiting: status.dispatches_waiting,
        sent_in_a_day: status.sent_in_a_day,
        per_day: status.per_day,
        paused: mine.len() - moving.len(),
        faults: status.faults,
    };
    Ok(DeskRows {
        waiting,
        more,
        running: moving,
        trouble: trouble(office, &mine, &fog).await?,
        events,
        state,
    })
}

async fn status<'a>(
    office: &Office,
    overviews: impl Iterator<Item = &'a MatchOverview>,
) -> anyhow::Result<Status> {
    let (config, now) = (&office.config, office.now());
    let mut counts = MatchCounts::default();
    overviews.for_each(|overview| counts.add(overview, now));
    let (database, quota) = (&config.database, &config.outbox.quota);
    let status = Status::with_matches(&office.store, database, quota, now, SILENT_AFTER, counts);
    let mut status = status.await?;
    status.note_logins(&config.oauth_logins());
    status.note_config(config);
    Ok(status)
}

/// Returns what waits for a person, oldest first.
async fn waiting(
    office: &Office,
    overviews: &[&MatchOverview],
    fog: &Fog,
) -> anyhow::Result<(Vec<Waiting>, usize)> {
    let now = office.now();
    let words = office.store.unsettled_words(now - RECENT, MAX_LETTERS).await?;
    let is_mine = |id: &String| overviews.iter().any(|overview| overview.id == *id);
    // The letters of a GM's own matches are for another GM.
    let words: Vec<_> = words
        .into_iter()
        .filter(|row| is_mine(&row.match_id) && !fog.read_by_others.contains(&row.match_id))
        .collect();
    let asks = |overview: &MatchOverview| {
        overview.protest.is_some() || overview.is_late(now) && !overview.awaits_house()
    };
    let mut asking: Vec<&MatchOverview> =
        overviews.iter().copied().filter(|overview| asks(overview)).collect();
    asking.sort_by_key(|overview| overview.deadline);
    let more = asking.len().saturating_sub(SHOWN);
    asking.truncate(SHOWN);
    let ids: BTreeSet<String> = asking
        .iter()
        .map(|overview| overview.id.clone())
        .chain(words.iter().map(|row| row.match_id.clone()))
        .collect();
    let snapshots = office.store.shown_snapshots(&Vec::from_iter(ids)).await?;
    let mut matches: BTreeMap<String, Match> = BTreeMap::new();
    for snapshot in snapshots {
        let game_match: Match = serde_json::from_str(&snapshot)?;
        matches.insert(game_match.id.clone(), game_match);
    }
    let mut found = Vec::new();
    for game_match in asking.iter().filter_map(|overview| matches.get(&overview.id)) {
        found.push(ask_of(game_match, fog, now));
    }
    for row in words {
        let Some(game_match) = matches.get(&row.match_id) else { continue };
        let about = Some(about(game_match, fog.matches.contains(&row.match_id)));
        found.push(Waiting { since: row.received_at, about, matter: AgendaKind::Words { by: row.seat } });
    }
    for Applicant { address, name, lines, since } in
        Applicant::read_all(&office.store.remembered_under(APPLICANT).await?)
    {
        found.push(Waiting { since, about: None, matter: AgendaKind::Applicant { name, address, lines } });
    }
    for letter in office.store.letters(Some(LetterStatus::SetAside), None, "", MAX_LETTERS).await? {
        if letter.received_at >= now - RECENT && !fog.hides_sender(&letter.sender) {
            let digest = letter.digest.to_string()[..12].to_owned();
            let is_sealed = !matches_sealing(office, &letter).await?.is_empty();
            let matter = AgendaKind::SetAside { sender: letter.sender, digest, is_sealed };
            found.push(Waiting { since: letter.received_at, about: None, matter });
        }
    }
    found.sort_by_key(|waiting| waiting.since);
    let more = more + found.len().saturating_sub(SHOWN);
    found.truncate(SHOWN);
    Ok((found, more))
}

/// Returns the item for a match that is late, or in which somebody protests.
fn ask_of(game_match: &Match, fog: &Fog, now: DateTime<Utc>) -> Waiting {
    let about = about(game_match, fog.matches.contains(&game_match.id));
    match game_match.protest {
        Some(by) => {
            let since = game_match.paused_at.unwrap_or(now);
            Waiting { since, about: Some(about), matter: AgendaKind::Protest { by } }
        }
        None => {
            let since = game_match.deadline.unwrap_or(now);
            Waiting { since, about: Some(about), matter: AgendaKind::Late { asked: game_match.asked_gm } }
        }
    }
}

/// Returns a match as both sides may know it.
pub fn about(game_match: &Match, plays: bool) -> AboutMatch {
    let overview = game_match.overview();
    let turn = overview.due.as_ref().map_or(0, |due| due.turn);
    let bank = game_match.terms.bank;
    let taken = |seat| game_match.bank_days[seat].iter().filter(|taken| **taken < turn).count();
    AboutMatch {
        id: game_match.id.clone(),
        names: game_match.players.clone(),
        turn,
        awaited: overview.awaited,
        missed: game_match.missed,
        bank: BySeat::from_fn(|seat| bank.saturating_sub(u32::try_from(taken(seat)).unwrap_or(bank))),
        has_bank: bank > 0,
        can_adjudicate: game_match.can_adjudicate(),
        outlook: game_match.outlook(),
        guard: match_guard(game_match),
        plays,
    }
}

/// Returns the people whose mail does not arrive, a line for each person and reason.
async fn trouble(
    office: &Office,
    overviews: &[&MatchOverview],
    fog: &Fog,
) -> anyhow::Result<Vec<MailTrouble>> {
    let mut found: Vec<MailTrouble> = Vec::new();
    let mut note = |who: &str, what: String, match_id: Option<&String>| {
        let place = found.iter().position(|trouble| trouble.who == who && trouble.what == what);
        let place = place.unwrap_or_else(|| {
            found.push(MailTrouble { who: who.to_owned(), what, matches: Vec::new() });
            found.len() - 1
        });
        let matches = &mut found[place].matches;
        matches.extend(match_id.filter(|id| !matches.contains(id)).cloned());
    };
    for overview in overviews {
        for seat in Seat::BOTH {
            let who = &overview.players[seat];
            if overview.bouncing[seat] {
                note(who, "letters come back".to_owned(), Some(&overview.id));
            }
            if overview.away[seat] && !fog.hides_absence(&overview.id, seat) {
                note(who, "may be away".to_owned(), Some(&overview.id));
            }
        }
    }
    for row in office.store.given_up_unseen(MAX_LETTERS).await? {
        note(&row.recipient, format!("a letter was given up: {}", row.error), row.match_id.as_ref());
    }
    found.truncate(SHOWN);
    Ok(found)
}

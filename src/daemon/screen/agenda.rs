//! Loads what the agenda shows, in a few queries for all matches.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::super::status::{SILENT_AFTER, Status};
use super::super::{GmIndex, Office, commit, load};
use crate::club::events::event::EventStage;
use crate::daemon::audit::withheld::matches_sealing;
use crate::desk::gm::agenda::{self, Agenda};
use crate::desk::gm::without_letter::match_guard;
use crate::desk::matches::applicants::Applicant;
use crate::desk::outbox::fog::{self, Fog};
use crate::game::{BySeat, Seat};
use crate::referee::{Ask, Match, Stage};
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
    let status = status(office).await?;
    let rows = load::new_rows(office).await?;
    let deciding = commit::decide(office, rows, move |desk| {
        desk.acting = index;
        agenda::of_acting_gm(desk, fog::of_gm(desk, index)?)
    });
    let agenda = deciding.await?.0;
    let (waiting, more) = waiting(office, &agenda).await?;
    let last_turns: BTreeMap<String, _> = office.store.last_turns().await?.into_iter().collect();
    let mut moving = Vec::new();
    for overview in agenda.matches.iter().filter(|overview| overview.stage == Stage::Running) {
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
        paused: agenda.matches.iter().filter(|overview| overview.stage == Stage::Paused).count(),
        faults: status.faults,
    };
    Ok(DeskRows { waiting, more, running: moving, trouble: trouble(office, &agenda).await?, events, state })
}

async fn status(office: &Office) -> anyhow::Result<Status> {
    let config = &office.config;
    let database = &config.database;
    let quota = &config.outbox.quota;
    let mut status = Status::of(&office.store, database, quota, office.now(), SILENT_AFTER).await?;
    status.note_logins(&config.oauth_logins());
    status.note_config(config);
    Ok(status)
}

/// Returns what waits for a person, oldest first.
async fn waiting(office: &Office, agenda: &Agenda) -> anyhow::Result<(Vec<Waiting>, usize)> {
    let now = office.now();
    let fog = &agenda.fog;
    let words = office.store.unsettled_words(now - RECENT, MAX_LETTERS).await?;
    let is_mine = |id: &String| agenda.matches.iter().any(|overview| overview.id == *id);
    // The letters of a GM's own matches are for another GM.
    let words: Vec<_> = words
        .into_iter()
        .filter(|row| is_mine(&row.match_id) && !fog.read_by_others.contains(&row.match_id))
        .collect();
    let mut asking = agenda.asking(now);
    let more = asking.len().saturating_sub(SHOWN);
    asking.truncate(SHOWN);
    let ids: BTreeSet<String> = asking
        .iter()
        .map(|(_, overview)| overview.id.clone())
        .chain(words.iter().map(|row| row.match_id.clone()))
        .collect();
    let snapshots = office.store.shown_snapshots(&Vec::from_iter(ids)).await?;
    let mut matches: BTreeMap<String, Match> = BTreeMap::new();
    for snapshot in snapshots {
        let game_match: Match = serde_json::from_str(&snapshot)?;
        matches.insert(game_match.id.clone(), game_match);
    }
    let mut found = Vec::new();
    for (ask, overview) in asking {
        found.extend(matches.get(&overview.id).map(|game_match| item(ask, game_match, fog, now)));
    }
    for row in words {
        let Some(game_match) = matches.get(&row.match_id) else { continue };
        let about = Some(about(game_match, fog.matches.contains(&row.match_id)));
        found.push(Waiting { since: row.received_at, about, matter: AgendaKind::Words { by: row.seat } });
    }
    for Applicant { address, name, lines, since } in agenda.applicants.clone() {
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

/// Returns the item for a match that asks for something.
fn item(ask: Ask, game_match: &Match, fog: &Fog, now: DateTime<Utc>) -> Waiting {
    let about = about(game_match, fog.matches.contains(&game_match.id));
    let (since, matter) = match ask {
        Ask::Protest { by } => (game_match.paused_at, AgendaKind::Protest { by }),
        Ask::Decision => (game_match.deadline, AgendaKind::Late { asked: true }),
        Ask::Late => (game_match.deadline, AgendaKind::Late { asked: false }),
    };
    Waiting { since: since.unwrap_or(now), about: Some(about), matter }
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
        protest_words: if plays { String::new() } else { game_match.protest_words.clone() },
        outlook: game_match.outlook(),
        guard: match_guard(game_match),
        plays,
    }
}

/// Returns the people whose mail does not arrive, a line for each person and reason.
async fn trouble(office: &Office, agenda: &Agenda) -> anyhow::Result<Vec<MailTrouble>> {
    let mut found: Vec<MailTrouble> = Vec::new();
    for overview in &agenda.matches {
        for seat in Seat::BOTH {
            let who = &overview.players[seat];
            if overview.bouncing[seat] {
                note(&mut found, who, "letters come back".to_owned(), Some(&overview.id));
            }
            if overview.away[seat] && !agenda.fog.hides_absence(&overview.id, seat) {
                note(&mut found, who, "may be away".to_owned(), Some(&overview.id));
            }
        }
    }
    for row in office.store.given_up_unseen(MAX_LETTERS).await? {
        note(
            &mut found,
            &row.recipient,
            format!("a letter was given up: {}", row.error),
            row.match_id.as_ref(),
        );
    }
    found.truncate(SHOWN);
    Ok(found)
}

fn note(found: &mut Vec<MailTrouble>, who: &str, what: String, match_id: Option<&String>) {
    let place = found.iter().position(|trouble| trouble.who == who && trouble.what == what);
    let place = place.unwrap_or_else(|| {
        found.push(MailTrouble { who: who.to_owned(), what, matches: Vec::new() });
        found.len() - 1
    });
    let matches = &mut found[place].matches;
    matches.extend(match_id.filter(|id| !matches.contains(id)).cloned());
}

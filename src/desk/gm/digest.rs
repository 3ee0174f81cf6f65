//! A GM's digest: what waits for a decision, and what happened since the last one.

use std::collections::BTreeSet;

use chrono::{DateTime, Datelike as _, NaiveDate, TimeDelta, Utc};

use super::lists;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::gm_index::GmIndex;
use crate::desk::frame::rows::{Decided, DigestLetter, DigestRows, or_lacking};
use crate::desk::frame::summary::Summary;
use crate::desk::outbox::gms;
use crate::game::Seat;
use crate::ledger::Fact;
use crate::referee::{DispatchKind, Stage, WORDS_NOTE};
use crate::report::{
    ClubLetter, FailedSend, GmDigest, GmMatchSummary, LapsedLetter, LetterSummary, MatchNote, PersonNote,
    RefusalCount, SendingSummary, format_local,
};
use crate::store::{NewDispatch, Urgency};

/// Maximum matches in each list of a digest.
const MAX_LISTED: usize = 50;

/// Time after which the digest tells how many letters wait to be sent: what was just written waits for
/// moments.
const UNSENT_FOR: TimeDelta = TimeDelta::minutes(15);

/// The matches and addresses that the rules hide from a GM who plays.
#[derive(Default)]
pub struct Fog {
    /// The GM's own matches that run.
    matches: BTreeSet<String>,
    /// The subset that some GM without a seat can read about. If every GM plays, somebody must read what
    /// people write; it holds no orders.
    read_by_others: BTreeSet<String>,
    /// The addresses of the other seats in matches that another GM reads about.
    addresses: BTreeSet<String>,
    /// Nobody knows who reads, so letters of players outside a match are hidden, too.
    at_terminal: bool,
}

impl Fog {
    /// Whether a letter comes from a match in which the GM plays.
    pub fn is_of_own_match(&self, letter: &DigestLetter) -> bool {
        self.hides(letter) || !letter.matches.is_disjoint(&self.matches)
    }

    fn hides(&self, letter: &DigestLetter) -> bool {
        self.at_terminal && letter.by_player
            || self.addresses.contains(&letter.row.sender)
            || !letter.matches.is_disjoint(&self.read_by_others)
    }
}

/// The memory of a GM's last digest.
pub struct LastDigest {
    /// The key under which the time of the digest is remembered.
    pub key: String,
    pub made_at: DateTime<Utc>,
    /// The beginning of the period that it covers.
    pub since: DateTime<Utc>,
}

/// Returns the key under which the beginning of a digest's period is remembered.
pub fn since_key(key: &str) -> String {
    format!("{key} since")
}

/// Words a GM's digest of the day, unless there is no news or it was made before. If the last one was not sent
/// yet, it lapses, and this one covers its period as well.
pub fn daily(desk: &mut Desk<'_>, index: GmIndex, last: &LastDigest) -> Decided<()> {
    desk.acting = index;
    let (gm, token) = (gms::gm(desk, index), gms::token_of_gm(desk, index));
    let zone = desk.club.config.terms.zone;
    let unique = |at: DateTime<Utc>| format!("d.{}", at.with_timezone(&zone).date_naive());
    let last_id = desk.club.stationery.message_id(token, &unique(last.made_at));
    let waits = desk.rows.dispatch(&last_id)?.is_some_and(|row| row.waiting);
    let since = if waits { last.since } else { last.made_at };
    if let Some(digest) = digest(desk, Some(since))? {
        let letter = ClubLetter::Digest { digest };
        let dispatch = gms::gm_dispatch(desk, index, &letter, &unique(desk.at()), None)?;
        // Another daemon may have made it.
        if desk.rows.dispatch(&dispatch.message_id)?.is_some() {
            return Ok(());
        }
        desk.draft.changes.dispatches.push(NewDispatch { urgency: Urgency::Digest, ..dispatch });
    }
    let at = desk.at();
    let changes = &mut desk.draft.changes;
    if waits {
        changes.replaced_digests.push((gm.address.as_str().to_owned(), DispatchKind::Notice));
    }
    changes.remembered.push((last.key.clone(), at.to_rfc3339()));
    changes.remembered.push((since_key(&last.key), since.to_rfc3339()));
    Ok(())
}

/// Formats a day, with the year if it is not the present one.
fn day_and_month(desk: &Desk<'_>, day: NaiveDate) -> String {
    let is_this_year = day.year() == desk.at().with_timezone(&desk.club.config.terms.zone).year();
    day.format(if is_this_year { "%a %-d %b" } else { "%a %-d %b %Y" }).to_string()
}

/// Returns the acting GM's news since `since` (by default, of the last day), or `None` if there is none.
pub fn digest(desk: &Desk<'_>, since: Option<DateTime<Utc>>) -> Decided<Option<Box<GmDigest>>> {
    let since = since.unwrap_or(desk.at() - TimeDelta::days(1));
    let rows = desk.rows.digest_rows(since)?;
    let summaries: Vec<Summary> =
        lists::summaries(desk)?.into_iter().filter(|summary| looks_after(desk, summary)).collect();
    let fog = if desk.at_terminal { fog_at_terminal(desk)? } else { fog_of_gm(desk)? };
    let mut told = GmDigest { since: desk.local_time(since), ..GmDigest::default() };
    tell_matches(desk, &summaries, &mut told)?;
    tell_events(desk, rows, &summaries, &fog, &mut told);
    // A GM who plays must not learn how often the opponent's orders were refused.
    for (id, count) in rows.refused.iter().filter(|(id, _)| !fog.matches.contains(*id)) {
        if summaries.iter().any(|summary| summary.line.id == *id) {
            told.refused.push(RefusalCount { id: id.clone(), count: *count });
        }
    }
    for row in rows.given_up.iter().cloned() {
        told.failed.push(FailedSend { recipient: row.recipient, kind: row.kind, error: row.error });
    }
    let shown = |letters: &[DigestLetter]| -> Vec<LetterSummary> {
        letters.iter().filter(|letter| !fog.hides(letter)).map(|letter| letter_told(desk, letter)).collect()
    };
    told.set_aside = shown(&rows.set_aside);
    told.ignored = shown(&rows.ignored);
    told.automatic = shown(&rows.automatic);
    for letter in rows.words.iter().filter(|letter| !fog.hides(letter)) {
        let mut summary = letter_told(desk, letter);
        summary.note = summary.note.trim_start_matches(WORDS_NOTE).to_owned();
        told.words.push(summary);
    }
    told.letters_waiting = rows.letters_waiting;
    for letter in &rows.lapsed {
        let Some(match_id) = letter.match_id.clone().filter(|id| !fog.read_by_others.contains(id)) else {
            continue;
        };
        told.lapsed.push(LapsedLetter {
            match_id,
            sender: letter.address.clone(),
            noted: desk.local_time(letter.noted_at),
        });
    }
    told.from_spam = rows.from_spam;
    told.left_out = rows.left_out;
    told.written = rows.written;
    told.sending = sending(desk, rows);
    Ok(Some(Box::new(told)).filter(|digest| digest.has_news()))
}

/// Returns what the rules hide from the acting GM, who may play.
pub fn fog_of_gm(desk: &Desk<'_>) -> Decided<Fog> {
    let gm = gms::acting_gm(desk);
    let mut fog = Fog::default();
    let own = std::iter::once(&gm.address).chain(&gm.also);
    for address in own {
        let player = or_lacking(desk.player(address.as_str()))?.flatten();
        let Some(player) = player else { continue };
        let Some(matches) = or_lacking(desk.rows.matches_of(player.id))? else {
            continue;
        };
        let running = matches.iter().filter(|(_, overview)| overview.stage != Stage::Over);
        for (seat, overview) in running {
            fog.matches.insert(overview.id.clone());
            let loaded = or_lacking(desk.game_match(&overview.id))?.flatten();
            let Some(loaded) = loaded else { continue };
            if !gms::all_gms_play(desk, &loaded.seats) {
                fog.read_by_others.insert(overview.id.clone());
                // A letter without a token names no match, so the address has to tell.
                fog.addresses.extend(loaded.seats[seat.other()].player.addresses.iter().cloned());
            }
        }
    }
    desk.rows.check()?;
    Ok(fog)
}

/// Returns what was sent and what waits, if the config limits it or if letters wait for long.
fn sending(desk: &Desk<'_>, rows: &DigestRows) -> Option<SendingSummary> {
    let quota = &desk.club.config.outbox.quota;
    let waits_long = rows.oldest_dispatch.is_some_and(|oldest| desk.at() - oldest > UNSENT_FOR);
    (waits_long || !quota.is_unlimited()).then_some(SendingSummary {
        sent: rows.sent_in_a_day,
        per_day: quota.per_day,
        waiting: rows.dispatches_waiting,
    })
}

fn looks_after(desk: &Desk<'_>, summary: &Summary) -> bool {
    gms::acting_gm(desk).looks_after(summary.game, &summary.line.id)
}

/// Sorts the matches that need a GM into their lists. A match stands in the most urgent one only.
fn tell_matches(desk: &Desk<'_>, summaries: &[Summary], told: &mut GmDigest) -> Decided<()> {
    let mut late = Vec::new();
    for summary in summaries {
        told.running += usize::from(summary.stage == Stage::Running);
        let line = summary.line.clone();
        if summary.is_protested {
            told.protests.push(line);
        } else if summary.asks_gm && summary.stage == Stage::Running {
            told.overdue.push(line);
        } else if summary.is_late {
            late.push(line);
        } else if summary.is_unread && summary.stage != Stage::Over {
            told.unread.push(line);
        }
    }
    told.late = with_grace(desk, late)?;
    for list in [&mut told.protests, &mut told.overdue, &mut told.late, &mut told.unread] {
        told.more_matches += list.len().saturating_sub(MAX_LISTED);
        list.truncate(MAX_LISTED);
    }
    Ok(())
}

/// Adds the end of the grace period to late matches.
fn with_grace(desk: &Desk<'_>, mut late: Vec<GmMatchSummary>) -> Decided<Vec<GmMatchSummary>> {
    // Loads no match that the list does not show.
    for line in late.iter_mut().take(MAX_LISTED) {
        let found = or_lacking(desk.game_match(&line.id))?.flatten();
        let game_match = found.map(|loaded| &loaded.game_match);
        line.grace_until = game_match.and_then(|game_match| {
            let until = game_match.deadline? + game_match.terms.grace();
            Some(format_local(until, game_match.terms.zone, desk.at()))
        });
    }
    desk.rows.check()?;
    Ok(late)
}

/// Tells what happened in matches, and who is new. When an opponent of the GM filed late is hidden.
fn tell_events(desk: &Desk<'_>, rows: &DigestRows, summaries: &[Summary], fog: &Fog, told: &mut GmDigest) {
    let find = |id: &str| summaries.iter().find(|summary| summary.line.id == id);
    let name = |summary: &Summary, seat: Seat| match seat {
        Seat::First => summary.line.names[0].clone(),
        Seat::Second => summary.line.names[1].clone(),
    };
    for missed in &rows.missed {
        let Some(summary) = find(&missed.match_id) else { continue };
        let made_good = missed.made_good.filter(|_| !fog.matches.contains(&missed.match_id));
        let made_good = made_good.map(|at| desk.local_time(at));
        told.missed.push(MatchNote {
            id: missed.match_id.clone(),
            turn: Some(missed.turn),
            who: Some(name(summary, missed.seat)),
            made_good,
            ..MatchNote::of(&summary.line)
        });
    }
    for entry in &rows.opened {
        told.began.extend(find(&entry.match_id).map(|summary| MatchNote::of(&summary.line)));
    }
    for entry in &rows.ended {
        let Some(summary) = find(&entry.match_id) else { continue };
        let Fact::MatchEnded { outcome } = &entry.fact else { continue };
        told.ended.push(MatchNote {
            who: outcome.winner.map(|winner| name(summary, winner)),
            reason: Some(outcome.reason),
            ..MatchNote::of(&summary.line)
        });
    }
    for entry in &rows.absences {
        let Some(summary) = find(&entry.match_id) else { continue };
        let Fact::AbsenceNoted { seat, from, to } = &entry.fact else { continue };
        let days = format!("{} to {}", day_and_month(desk, *from), day_and_month(desk, *to));
        let note =
            MatchNote { who: Some(name(summary, *seat)), days: Some(days), ..MatchNote::of(&summary.line) };
        // One announcement counts in all matches of its player.
        let same = |told: &&mut MatchNote| (&told.who, &told.days) == (&note.who, &note.days);
        match told.absences.iter_mut().find(same) {
            Some(told) => told.id = format!("{}, {}", told.id, note.id),
            None => told.absences.push(note),
        }
    }
    for player in &rows.newcomers {
        let address = player.addresses.first().cloned().unwrap_or_default();
        told.newcomers.push(PersonNote { name: player.name.clone(), address });
    }
}

/// Returns what is hidden from whoever sits at the terminal: everything of a match that runs.
fn fog_at_terminal(desk: &Desk<'_>) -> Decided<Fog> {
    let running = lists::summaries(desk)?.into_iter().filter(|summary| summary.stage != Stage::Over);
    let matches: BTreeSet<String> = running.map(|summary| summary.line.id).collect();
    Ok(Fog { read_by_others: matches.clone(), matches, addresses: BTreeSet::new(), at_terminal: true })
}

fn letter_told(desk: &Desk<'_>, letter: &DigestLetter) -> LetterSummary {
    let row = &letter.row;
    LetterSummary {
        digest: row.digest.to_string()[..12].to_owned(),
        at: desk.local_time(row.received_at),
        sender: row.sender.clone(),
        note: row.note.clone(),
    }
}

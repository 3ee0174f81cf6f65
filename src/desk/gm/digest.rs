//! A GM's digest: matters that wait for a decision, and news since the last digest. Nothing is in two
//! digests.

use std::collections::BTreeSet;

use chrono::{DateTime, Datelike as _, NaiveDate, TimeDelta, Utc};

use crate::club::events::event::EventStage;
use crate::config::GmIndex;
use crate::desk::events::{acts, people};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, DigestLetter, DigestRows, LoadedEvent, or_lacking};
use crate::desk::gm::agenda::{self, Agenda};
use crate::desk::matches::applicants::Applicant;
use crate::desk::outbox::fog;
use crate::desk::outbox::gms;
use crate::desk::outbox::returned::MATCHED_NOTE;
use crate::dialect::DOCTOR_SUBJECT;
use crate::game::Seat;
use crate::ledger::{Entry, Fact, letter_of_protest};
use crate::referee::{Ask, DispatchKind, MatchOverview, Stage, WORDS_NOTE, tells_of_trouble};
use crate::report::gm_digest::{
    AbsenceNote, ApplicantNote, Decision, EndedNote, EntriesNote, FullWords, GmDigest, LapsedLetter,
    LateMatch, LateMatches, LetterNote, MissedNote, PersonNote, RefusalCount, SendingSummary, ShortList,
    UnreadNote, WordsNote,
};
use crate::report::{self, ClubLetter, excerpt, format_local, wrap_lines};
use crate::store::{NewDispatch, Urgency};

/// Maximum items in a list that a GM has to act on.
const MAX_ACTED_ON: usize = 6;

/// Maximum items in any other list.
const MAX_TOLD: usize = 4;

/// Maximum words of a digest, not counting quotations. The frame of a letter adds some 30.
const MAX_WORDS: usize = 260;

/// The lengths of lists to try until a digest is short enough: lists that a GM has to act on, and other
/// lists.
const SHORTER: [(usize, usize); 5] = [(6, 4), (5, 3), (4, 2), (3, 1), (1, 1)];

/// Maximum bytes of players' words in full in a digest, and in the letter that brings the others. What is left is on
/// the GM's screen.
const MAX_IN_FULL: usize = 60_000;
const MAX_MORE_IN_FULL: usize = 240_000;

/// Age of a waiting letter from which the digest reports the queue: a letter that was just written always
/// waits for a moment.
const UNSENT_FOR: TimeDelta = TimeDelta::minutes(15);

/// The start of the addresses under which the house is registered.
const HOUSE: &str = "house:";

/// A digest in the making, and the names under which it remembers its items.
struct Telling<'a> {
    /// The names of the items in the last digest.
    before: &'a BTreeSet<String>,
    told: BTreeSet<String>,
    agenda: Agenda,
    digest: GmDigest,
}

impl Telling<'_> {
    /// Notes the name of an item that the digest reports, and returns whether it is news.
    fn is_new(&mut self, name: String) -> bool {
        let is_new = !self.before.contains(&name);
        self.told.insert(name);
        is_new
    }

    fn is_new_entry(&mut self, entry: &Entry) -> bool {
        self.is_new(name_of_entry(&entry.match_id, entry.seq))
    }

    fn is_new_letter(&mut self, letter: &DigestLetter) -> bool {
        !self.agenda.fog.hides(letter) && self.is_new(letter.row.digest.to_string())
    }

    fn find(&self, match_id: &str) -> Option<&MatchOverview> {
        self.agenda.matches.iter().find(|game_match| game_match.id == match_id)
    }
}

fn name_of_entry(match_id: &str, seq: u64) -> String {
    format!("{match_id} {seq}")
}

/// Maximum matches and letters that a digest lists as waiting for a lock.
pub const MAX_LOCKED: usize = 10;

/// The memory of a GM's last digest.
pub struct LastDigest {
    /// The key under which the time of the digest is remembered.
    pub key: String,
    pub made_at: DateTime<Utc>,
    /// The beginning of the period that it covers.
    pub since: DateTime<Utc>,
    /// The names of the items that it reported.
    pub told: BTreeSet<String>,
}

/// Returns the key under which the beginning of a digest's period is remembered.
pub fn since_key(key: &str) -> String {
    format!("{key} since")
}

/// Returns the key under which the names of a digest's items are remembered.
pub fn told_key(key: &str) -> String {
    format!("{key} told")
}

/// Writes a GM's digest of the day, unless there is no news or it was made before. If the last digest has not
/// been sent yet, it lapses, and this one covers its period as well. `locked` lists what waits for the database, although it
/// answers.
pub fn daily(desk: &mut Desk<'_>, index: GmIndex, last: &LastDigest, locked: &[String]) -> Decided<()> {
    desk.acting = index;
    let (gm, token) = (gms::gm(desk, index), gms::token_of_gm(desk, index));
    let last_id = desk.club.stationery.message_id(token, &unique_part(desk, last.made_at));
    let waits = desk.rows.dispatch(&last_id)?.is_some_and(|row| row.waiting);
    let since = if waits { last.since } else { last.made_at };
    // If the last digest was not sent yet, this one repeats its contents.
    let unread = BTreeSet::new();
    let (mut digest, told) = make(desk, since, if waits { &unread } else { &last.told }, locked)?;
    if digest.has_news() {
        let more = digest.in_full.split_beyond(MAX_IN_FULL);
        let letter = ClubLetter::Digest { digest };
        let unique = unique_part(desk, desk.at());
        let dispatch = gms::gm_dispatch(desk, index, &letter, &unique, None)?;
        // Another daemon may already have made this digest.
        if desk.rows.dispatch(&dispatch.message_id)?.is_some() {
            return Ok(());
        }
        desk.draft.changes.dispatches.push(NewDispatch { urgency: Urgency::Digest, ..dispatch });
        bring_more_words(desk, index, more, &unique)?;
    }
    let at = desk.at();
    let changes = &mut desk.draft.changes;
    if waits {
        // This digest repeats the older one, so the older one lapses.
        changes.replaced_digests.push((gm.address.as_str().to_owned(), DispatchKind::Notice));
    }
    changes.remembered.push((last.key.clone(), at.to_rfc3339()));
    changes.remembered.push((since_key(&last.key), since.to_rfc3339()));
    changes.remembered.push((told_key(&last.key), serde_json::to_string(&told).expect("names are JSON")));
    Ok(())
}

/// Returns the part of a digest's Message-ID that names its day, and the restore before it, if there was one: the GM
/// may have another digest of the same day from before.
fn unique_part(desk: &Desk<'_>, made_at: DateTime<Utc>) -> String {
    let day = made_at.with_timezone(&desk.club.config.terms.zone).date_naive();
    match desk.rows.loaded.restores.iter().rfind(|restore| restore.at <= made_at) {
        Some(restore) => format!("d.{day}.{}", restore.at.timestamp_millis()),
        None => format!("d.{day}"),
    }
}

/// Brings the words of players that a digest has no room for, in a letter of their own.
fn bring_more_words(
    desk: &mut Desk<'_>,
    index: GmIndex,
    mut words: ShortList<FullWords>,
    unique: &str,
) -> Decided<()> {
    if words.shown.is_empty() {
        return Ok(());
    }
    words.more = words.split_beyond(MAX_MORE_IN_FULL).shown.len();
    let letter = ClubLetter::WordsInFull { words };
    let dispatch = gms::gm_dispatch(desk, index, &letter, &format!("{unique}.words"), None)?;
    desk.draft.changes.dispatches.push(NewDispatch { urgency: Urgency::Digest, ..dispatch });
    Ok(())
}

/// Formats a day, with the year if it is not the current one.
fn day_and_month(desk: &Desk<'_>, day: NaiveDate) -> String {
    let is_this_year = day.year() == desk.at().with_timezone(&desk.club.config.terms.zone).year();
    day.format(if is_this_year { "%a %-d %b" } else { "%a %-d %b %Y" }).to_string()
}

/// Returns the acting GM's news of the last day, or `None` if there is none. At the terminal, the daemons may still have
/// some.
pub fn of_last_day(desk: &Desk<'_>) -> Decided<Option<Box<GmDigest>>> {
    let since = desk.at() - TimeDelta::days(1);
    let (mut digest, _) = make(desk, since, &BTreeSet::new(), &[])?;
    digest.in_full.more = digest.in_full.split_beyond(MAX_IN_FULL).shown.len();
    let has_any = digest.has_news() || !digest.entries.shown.is_empty();
    Ok((desk.without_letter || has_any).then_some(digest))
}

/// Returns the entrants who have not filed even once a week after the season began. Leaves out seasons in which
/// the GM plays: the list would reveal what opponents have done.
fn silent(desk: &Desk<'_>, rows: &DigestRows) -> Decided<Vec<String>> {
    let mut away: BTreeSet<String> = BTreeSet::new();
    for (event, player, _) in &rows.silent {
        if !acts::plays_there(desk, event)? {
            away.insert(format!("{} in {event}", people::name(desk, *player)?));
        }
    }
    Ok(away.into_iter().collect())
}

/// Returns the events that wait for their next season, as far as the acting GM may begin it.
fn entries(desk: &Desk<'_>) -> Decided<Vec<EntriesNote>> {
    let is_alone = desk.club.config.club.gm.all().len() == 1;
    let mut notes = Vec::new();
    for LoadedEvent { event, .. } in desk.open_events()? {
        if event.stage != EventStage::Entries || !is_alone && acts::plays_there(desk, &event.plan.id)? {
            continue;
        }
        let (entrants, least, is_next_round) = (event.next_entrants(), event.least(), event.is_begun_cup());
        notes.push(EntriesNote {
            is_due: entrants < least && event.opens.is_some_and(|opens| opens <= desk.at()),
            opens: event.opens.map(|at| desk.local_time(at)),
            id: event.plan.id,
            name: event.plan.name,
            entrants,
            least,
            is_next_round,
        });
    }
    Ok(notes)
}

fn make(
    desk: &Desk<'_>,
    since: DateTime<Utc>,
    before: &BTreeSet<String>,
    locked: &[String],
) -> Decided<(Box<GmDigest>, BTreeSet<String>)> {
    let rows = desk.rows.digest_rows(since)?;
    let fog =
        if desk.without_letter { fog::of_digest_without_letter(desk)? } else { fog::of_acting_gm(desk)? };
    let agenda = agenda::of_acting_gm(desk, fog)?;
    let running = agenda.matches.iter().filter(|game_match| game_match.stage == Stage::Running).count();
    let digest = GmDigest { since: desk.local_time(since), running, ..GmDigest::default() };
    let mut telling = Telling { before, told: BTreeSet::new(), agenda, digest };
    let decided = tell_decisions(desk, rows, &mut telling)?;
    tell_late(desk, since, &mut telling)?;
    tell_missed(desk, rows, &decided, &mut telling);
    tell_words(rows, &mut telling);
    tell_unread(desk, rows, &mut telling);
    tell_letters(rows, &mut telling);
    tell_events(desk, rows, &mut telling);
    tell_refused(rows, &mut telling);
    telling.digest.silent = ShortList::of(silent(desk, rows)?, MAX_TOLD);
    telling.digest.entries = ShortList::of(entries(desk)?, MAX_TOLD);
    let Telling { mut digest, told, agenda, .. } = telling;
    let applicants = agenda.applicants.into_iter();
    let applicants =
        applicants.map(|Applicant { address, name, lines, .. }| ApplicantNote { name, address, lines });
    digest.applicants = ShortList::of(applicants.collect(), MAX_TOLD);
    digest.letters_waiting = rows.letters_waiting;
    digest.locked = ShortList::of(locked.to_vec(), MAX_LOCKED);
    (digest.from_spam, digest.left_out) = (rows.from_spam, rows.left_out);
    digest.sending = sending(desk, rows);
    for (acted_on, told) in SHORTER {
        digest.shorten(acted_on, told);
        if report::own_words(&desk.club.templates, &digest)? <= MAX_WORDS {
            break;
        }
    }
    Ok((Box::new(digest), told))
}

/// Lists the matches that have begun to wait for a GM, and those that still do. Returns the former.
fn tell_decisions(desk: &Desk<'_>, rows: &DigestRows, telling: &mut Telling<'_>) -> Decided<Vec<String>> {
    let mut new = BTreeSet::new();
    for entry in &rows.asked {
        if telling.is_new_entry(entry) {
            new.insert(entry.match_id.clone());
        }
    }
    let (mut decisions, mut waiting) = (Vec::new(), Vec::new());
    for (ask, game_match) in telling.agenda.asking(desk.at()) {
        if ask == Ask::Late {
            continue;
        }
        let decision = decision_on(game_match, telling.agenda.fog.matches.contains(&game_match.id));
        match new.contains(&decision.id) {
            true => decisions.push(decision),
            false => waiting.push(decision),
        }
    }
    // A protest comes first: until it is decided, nobody can play on.
    decisions.sort_by_key(|decision| decision.protests.is_none());
    let decided = decisions.iter().map(|decision| decision.id.clone()).collect();
    telling.digest.decisions = looked_up(desk, ShortList::of(decisions, MAX_ACTED_ON))?;
    telling.digest.waiting = looked_up(desk, ShortList::of(waiting, MAX_ACTED_ON))?;
    Ok(decided)
}

/// Returns the decision that a match waits for, as far as its overview shows.
fn decision_on(game_match: &MatchOverview, gm_plays: bool) -> Decision {
    let named = |seat: &Seat| format!("{} ({seat})", game_match.players[*seat]);
    Decision {
        id: game_match.id.clone(),
        protests: game_match.protest.as_ref().map(named),
        words: String::new(),
        letter: None,
        awaited: game_match.awaited.iter().map(named).collect(),
        turn: turn_of(game_match),
        days: 0,
        can_adjudicate: false,
        gm_plays,
    }
}

/// Returns the turn that is due, or 0 if none is.
fn turn_of(game_match: &MatchOverview) -> u32 {
    game_match.due.as_ref().map_or(0, |due| due.turn)
}

/// Adds the number of days that each listed match has waited for a GM, and whether its turn can be
/// adjudicated. Does not load matches that are not shown.
fn looked_up(desk: &Desk<'_>, mut waiting: ShortList<Decision>) -> Decided<ShortList<Decision>> {
    for decision in &mut waiting.shown {
        let Some(loaded) = or_lacking(desk.game_match(&decision.id))?.flatten() else { continue };
        let game_match = &loaded.game_match;
        let since = match decision.protests {
            Some(_) => game_match.paused_at,
            None => game_match.deadline.map(|deadline| deadline + game_match.terms.grace()),
        };
        decision.days = since.map_or(0, |since| (desk.at() - since).num_days());
        decision.can_adjudicate = game_match.can_adjudicate();
        if !decision.gm_plays {
            decision.words = excerpt(&game_match.protest_words);
        }
        if desk.without_letter && decision.protests.is_some() {
            let entries = or_lacking(desk.rows.entries(&decision.id))?.unwrap_or_default();
            decision.letter = letter_of_protest(entries).map(|letter| letter.to_string()[..12].to_owned());
        }
    }
    desk.rows.check()?;
    Ok(waiting)
}

/// Lists the matches that have become late and are within their grace, in order of its end, and counts all that are late.
/// Without a letter, all are listed: nobody has had another digest there.
fn tell_late(desk: &Desk<'_>, since: DateTime<Utc>, telling: &mut Telling<'_>) -> Decided<()> {
    let (mut late, mut count) = (Vec::new(), 0);
    for (ask, game_match) in telling.agenda.asking(desk.at()) {
        let Some(deadline) = game_match.deadline.filter(|_| ask == Ask::Late) else { continue };
        let name = format!("{} late {deadline}", game_match.id);
        let is_new = deadline >= since && !telling.before.contains(&name);
        telling.told.insert(name);
        count += 1;
        if is_new || desk.without_letter {
            late.push((deadline, game_match));
        }
    }
    telling.digest.late_count = count;
    let local = |at| format_local(at, desk.club.config.terms.zone, desk.at());
    let mut groups: Vec<(DateTime<Utc>, LateMatches)> = Vec::new();
    for (deadline, game_match) in late.into_iter().take(4 * MAX_ACTED_ON) {
        let found = or_lacking(desk.game_match(&game_match.id))?.flatten();
        let Some(loaded) = found else { continue };
        let until = deadline + loaded.game_match.terms.grace();
        let row = LateMatch {
            id: game_match.id.clone(),
            awaited: game_match.awaited.iter().map(|seat| game_match.players[*seat].clone()).collect(),
            turn: turn_of(game_match),
        };
        // What reads alike is one group, even if the seconds differ.
        let (was_due, grace_until) = (local(deadline), local(until));
        let is_alike = |group: &LateMatches| group.was_due == was_due && group.grace_until == grace_until;
        match groups.iter_mut().find(|(_, group)| is_alike(group)) {
            Some((_, group)) => group.matches.shown.push(row),
            None => {
                let matches = ShortList { shown: vec![row], more: 0 };
                groups.push((until, LateMatches { was_due, grace_until, matches }));
            }
        }
    }
    desk.rows.check()?;
    groups.sort_by_key(|(until, _)| *until);
    let late = groups
        .into_iter()
        .map(|(_, group)| LateMatches { matches: ShortList::of(group.matches.shown, MAX_ACTED_ON), ..group });
    telling.digest.late = late.collect();
    Ok(())
}

/// Lists the turns that were missed, except those that a GM is asked about above. Hides the time at which an
/// opponent of the GM filed late.
fn tell_missed(desk: &Desk<'_>, rows: &DigestRows, decided: &[String], telling: &mut Telling<'_>) {
    let mut notes = Vec::new();
    for missed in &rows.missed {
        let is_new = !telling.before.contains(&name_of_entry(&missed.match_id, missed.seq));
        telling.told.insert(name_of_entry(&missed.match_id, missed.seq));
        let Some(game_match) = telling.find(&missed.match_id).filter(|_| is_new) else { continue };
        if decided.contains(&missed.match_id) {
            continue;
        }
        let made_good = missed.made_good.filter(|_| !telling.agenda.fog.matches.contains(&missed.match_id));
        notes.push(MissedNote {
            id: missed.match_id.clone(),
            turn: missed.turn,
            who: game_match.players[missed.seat].clone(),
            made_good: made_good.map(|at| desk.local_time(at)),
        });
    }
    telling.digest.missed = ShortList::of(notes, MAX_TOLD);
}

/// Reports what people wrote, one line for each person and match, with illness and death first.
fn tell_words(rows: &DigestRows, telling: &mut Telling<'_>) {
    let mut notes: Vec<(bool, WordsNote)> = Vec::new();
    let mut in_full = Vec::new();
    for letter in &rows.words {
        if !telling.is_new_letter(letter) {
            continue;
        }
        let text = letter.row.note.trim_start_matches(WORDS_NOTE);
        let is_grave = tells_of_trouble(text);
        let who = letter.player.clone().unwrap_or_else(|| letter.row.sender.clone());
        let about = letter.row.seat.clone();
        in_full.push(FullWords { who: who.clone(), about: about.clone(), lines: wrap_lines(text) });
        let text = excerpt(text);
        match notes.iter_mut().find(|(_, note)| (&note.who, &note.about) == (&who, &about)) {
            Some((grave, note)) => {
                note.more += 1;
                if is_grave && !*grave {
                    (*grave, note.text) = (true, text);
                }
            }
            None => notes.push((is_grave, WordsNote { who, about, text, more: 0 })),
        }
    }
    notes.sort_by_key(|(is_grave, _)| !is_grave);
    // Strangers, who may be many, leave players their room.
    in_full.sort_by_key(|words: &FullWords| words.about.is_none());
    telling.digest.words = ShortList::of(notes.into_iter().map(|(_, note)| note).collect(), MAX_ACTED_ON);
    telling.digest.in_full = ShortList { shown: in_full, more: 0 };
}

/// Lists the people whose mail bounces, who may be away, or whose letters were given up, one line for each.
fn tell_unread(desk: &Desk<'_>, rows: &DigestRows, telling: &mut Telling<'_>) {
    let mut notes: Vec<UnreadNote> = Vec::new();
    for entry in &rows.unread {
        let (Fact::MailReturned { seat } | Fact::AwayNoted { seat }) = &entry.fact else { continue };
        let bounces = matches!(entry.fact, Fact::MailReturned { .. });
        if !bounces && telling.agenda.fog.hides_absence(&entry.match_id, *seat) {
            continue;
        }
        let is_new = telling.is_new_entry(entry);
        let Some(game_match) = telling.find(&entry.match_id).filter(|_| is_new) else { continue };
        let note = note_on(&mut notes, &game_match.players[*seat]);
        note.bounces |= bounces;
        note.is_away |= !bounces;
        note.matches.push(entry.match_id.clone());
    }
    for row in &rows.given_up {
        if !telling.is_new(format!("unsent {} {}", row.id, row.tries)) {
            continue;
        }
        let seat = row.seat.zip(row.match_id.as_deref().and_then(|id| telling.find(id)));
        let who = seat.map_or(row.recipient.as_str(), |(seat, game_match)| game_match.players[seat].as_str());
        let note = note_on(&mut notes, who);
        note.given_up = Some(row.error.clone());
        note.matches.extend(row.match_id.clone());
    }
    let mut automatic = Vec::new();
    for letter in &rows.automatic {
        let is_doctors = letter.row.subject == DOCTOR_SUBJECT
            && letter.row.sender == desk.club.config.club.address.as_str();
        if is_doctors || !telling.is_new_letter(letter) {
            continue;
        }
        match &letter.player {
            Some(name) => {
                let note = note_on(&mut notes, name);
                note.is_away = true;
                if note.letter.is_none() {
                    (note.letter, note.note) = (Some(short_digest(letter)), excerpt(&letter.row.note));
                }
            }
            // Already listed on its player's line, as a bounce or an absence.
            None if letter.row.note.starts_with(MATCHED_NOTE) => {}
            None => automatic.push(letter),
        }
    }
    for note in &mut notes {
        note.matches.sort();
        note.matches.dedup();
        note.matches.truncate(MAX_TOLD);
    }
    telling.digest.unread = ShortList::of(notes, MAX_TOLD);
    telling.digest.automatic = ShortList::of(by_sender(automatic), MAX_TOLD);
}

/// Returns the note on a person, and adds one if there is none.
fn note_on<'n>(notes: &'n mut Vec<UnreadNote>, who: &str) -> &'n mut UnreadNote {
    let place = notes.iter().position(|note| note.who == who).unwrap_or_else(|| {
        notes.push(UnreadNote { who: who.to_owned(), ..UnreadNote::default() });
        notes.len() - 1
    });
    &mut notes[place]
}

fn tell_letters(rows: &DigestRows, telling: &mut Telling<'_>) {
    let mut fresh = |letters: &'_ [DigestLetter]| -> Vec<LetterNote> {
        let mut new = Vec::new();
        for letter in letters {
            if telling.is_new_letter(letter) {
                new.push(letter);
            }
        }
        by_sender(new)
    };
    let (set_aside, ignored) = (fresh(&rows.set_aside), fresh(&rows.ignored));
    telling.digest.set_aside = ShortList::of(set_aside, MAX_TOLD);
    telling.digest.ignored = ShortList::of(ignored, MAX_TOLD);
    let mut lapsed = Vec::new();
    for letter in &rows.lapsed {
        let shown = |id: &String| !telling.agenda.fog.read_by_others.contains(id);
        if let Some(match_id) = letter.match_id.clone().filter(shown) {
            lapsed.push(LapsedLetter { match_id, sender: letter.address.clone() });
        }
    }
    telling.digest.lapsed = ShortList::of(lapsed, MAX_TOLD);
}

/// Sums up letters, newest first, by their senders.
fn by_sender(letters: Vec<&DigestLetter>) -> Vec<LetterNote> {
    let mut notes: Vec<LetterNote> = Vec::new();
    for letter in letters {
        match notes.iter_mut().find(|note| note.sender == letter.row.sender) {
            Some(note) => note.count += 1,
            None => notes.push(LetterNote {
                sender: letter.row.sender.clone(),
                count: 1,
                digest: short_digest(letter),
                note: excerpt(&letter.row.note),
            }),
        }
    }
    notes
}

fn short_digest(letter: &DigestLetter) -> String {
    letter.row.digest.to_string()[..12].to_owned()
}

/// Reports the matches that began or ended, new players, and future absences.
fn tell_events(desk: &Desk<'_>, rows: &DigestRows, telling: &mut Telling<'_>) {
    let mut began = Vec::new();
    for entry in &rows.opened {
        if telling.is_new_entry(entry) && telling.find(&entry.match_id).is_some() {
            began.push(entry.match_id.clone());
        }
    }
    telling.digest.began = ShortList::of(began, MAX_TOLD);
    let mut ended: Vec<EndedNote> = Vec::new();
    for entry in &rows.ended {
        let is_new = telling.is_new_entry(entry);
        let Some(game_match) = telling.find(&entry.match_id).filter(|_| is_new) else { continue };
        // A reopened match no longer has a result, and one that was annulled may have ended twice.
        let Some(outcome) = &game_match.outcome else { continue };
        if ended.iter().any(|told| told.id == entry.match_id) {
            continue;
        }
        ended.push(EndedNote {
            id: entry.match_id.clone(),
            winner: outcome.winner.map(|winner| game_match.players[winner].clone()),
            reason: outcome.reason,
        });
    }
    telling.digest.ended = ShortList::of(ended, MAX_TOLD);
    let mut absences: Vec<AbsenceNote> = Vec::new();
    for entry in &rows.absences {
        let is_new = telling.is_new_entry(entry);
        let Some(game_match) = telling.find(&entry.match_id).filter(|_| is_new) else { continue };
        let Fact::AbsenceNoted { seat, from, to } = &entry.fact else { continue };
        let days = format!("{} to {}", day_and_month(desk, *from), day_and_month(desk, *to));
        let who = &game_match.players[*seat];
        // An absence is noted in each of the player's matches, but listed once.
        match absences.iter_mut().find(|told| (&told.who, &told.days) == (who, &days)) {
            Some(told) => told.matches.push(entry.match_id.clone()),
            None => {
                let (who, matches) = (who.clone(), vec![entry.match_id.clone()]);
                absences.push(AbsenceNote { who, days, matches });
            }
        }
    }
    absences.iter_mut().for_each(|absence| absence.matches.truncate(MAX_TOLD));
    telling.digest.absences = ShortList::of(absences, MAX_TOLD);
    let mut newcomers = Vec::new();
    for player in &rows.newcomers {
        let address = player.addresses.first().cloned().unwrap_or_default();
        // The levels of the house are registered like players, but are not newcomers.
        if !address.starts_with(HOUSE) && telling.is_new(format!("player {}", player.id)) {
            newcomers.push(PersonNote { name: player.name.clone(), address });
        }
    }
    telling.digest.newcomers = ShortList::of(newcomers, MAX_TOLD);
}

/// Counts refused orders. A GM who plays must not learn how often the opponent's were refused.
fn tell_refused(rows: &DigestRows, telling: &mut Telling<'_>) {
    let mut counts: Vec<RefusalCount> = Vec::new();
    for entry in &rows.refused {
        let id = &entry.match_id;
        let is_new = telling.is_new_entry(entry);
        if !is_new || telling.agenda.fog.matches.contains(id) || telling.find(id).is_none() {
            continue;
        }
        match counts.iter_mut().find(|count| count.id == *id) {
            Some(count) => count.count += 1,
            None => counts.push(RefusalCount { id: id.clone(), count: 1 }),
        }
    }
    telling.digest.refused = ShortList::of(counts, MAX_TOLD);
}

/// Returns the numbers of letters sent and waiting, if the config limits them or if letters have waited for
/// long.
fn sending(desk: &Desk<'_>, rows: &DigestRows) -> Option<SendingSummary> {
    let quota = &desk.club.config.outbox.quota;
    let waits_long = rows.oldest_dispatch.is_some_and(|oldest| desk.at() - oldest > UNSENT_FOR);
    (waits_long || !quota.is_unlimited()).then_some(SendingSummary {
        sent: rows.sent_in_a_day,
        per_day: quota.per_day,
        waiting: rows.dispatches_waiting,
    })
}

//! Checks rulings that are not repeated: those that followed another procedure, and those of matches with
//! permanently withheld letters. Everything that needs no procedure is still checked: that letters are
//! present, whole and from the holder of their seat, that they contain the orders, that adjudications follow
//! from the filings, and that our own letters match their pins.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::entries;
use super::play::{Play, Unrepeated};
use super::reader::PendingEntry;
use super::ruling::{self, in_letter};
use super::state::{Check, Unconfirmed, short};
use crate::audit::{Finding, Place};
use crate::ledger::{Act, Cause, Correction, Entry, Fact, Head, LetterCause};
use crate::letter::Digest;
use crate::referee::{self, Match, PROCEDURE};

/// Returns the reason why the first pending ruling is not repeated, if there is one.
pub(super) fn reason(check: &mut Check) -> Option<Unrepeated> {
    if !check.withheld.seats.is_empty() {
        return Some(Unrepeated::Withheld);
    }
    let own = check.identity.as_ref().map(|identity| identity.procedure);
    let procedure = check.pending.front().and_then(procedure_set_by).or(own)?;
    if procedure != PROCEDURE {
        return Some(Unrepeated::Procedure(procedure));
    }
    let why = check.play.as_ref()?.why;
    match known_match(check) {
        Some(game_match) => {
            (check.current, check.play) = (Some(game_match), None);
            None
        }
        None => Some(why),
    }
}

/// Returns the match before the first pending entry, if that changes the procedure and the match is kept.
fn known_match(check: &Check) -> Option<Match> {
    let first = check.pending.front().filter(|first| first.link.kind == "MailIdentitySet")?;
    let Fact::MailIdentitySet { before, .. } = serde_json::from_str::<Entry>(&first.json).ok()?.fact else {
        return None;
    };
    let json = check.kept.iter().find(|json| Some(Digest::of(json.as_bytes())) == before)?;
    let mut game_match: Match = serde_json::from_str(json).ok()?;
    let head = Head { seq: first.link.seq - 1, hash: first.link.prev };
    let is_state = check.play.as_ref().is_some_and(|play| *play.state() == game_match.state);
    game_match.delivered.clone_from(&first.link.delivered);
    (is_state && game_match.head == head).then_some(game_match)
}

/// Checks the first pending ruling, made at `at`, without repeating it.
pub(super) fn check(check: &mut Check, why: Unrepeated, at: DateTime<Utc>) {
    let count = check.count_first();
    let entries: Vec<Option<Entry>> =
        check.pending.iter().take(count).map(|entry| serde_json::from_str(&entry.json).ok()).collect();
    if let Err(finding) = follow_play(check, why, &entries) {
        return check.verdict.findings.push(finding);
    }
    let first = check.pending[0].link.seq;
    let last = check.pending.drain(..count).next_back();
    let Some(head) = last.map(|last| Head { seq: last.link.seq, hash: last.hash }) else { return };
    entries::note(check, entries.iter().flatten());
    check.facts.turns.note_unrepeated(first..=head.seq);
    check.current = None;
    check.unconfirmed = Unconfirmed::Unrepeated { head, at };
    match why {
        Unrepeated::Procedure(number) => {
            *check.verdict.rulings_by_procedure.entry(number).or_default() += 1;
        }
        Unrepeated::Withheld => check.verdict.unrepeated += 1,
    }
}

/// Follows the play through the entries of a ruling; `None` stands for an entry of an unknown kind.
fn follow_play(check: &mut Check, why: Unrepeated, entries: &[Option<Entry>]) -> Result<(), Finding> {
    let first = &check.pending[0];
    let seq = first.link.seq;
    let cause = first.cause.clone();
    if check.play.is_none() {
        check.play = match (&check.current, entries.first()) {
            (Some(current), _) => Play::of_match(current, &check.record_entries, why),
            (None, Some(Some(opening))) => {
                ruling::opening_versions(&first.json).map_err(|what| Finding::at_entry(seq, what))?;
                check_key(check, opening)?;
                Play::of_opening(opening, why)
            }
            (None, _) => None,
        };
    }
    let written = match cause {
        Some(Cause::Letter(cause)) => written_in(check, &cause)?,
        Some(Cause::House { play, .. }) => Some(play.orders),
        Some(Cause::Gm { act, .. } | Cause::Program { act, .. }) => Some(orders_of(act)),
        Some(Cause::Clock { .. }) => Some(Vec::new()),
        None => return Err(Finding::at_entry(seq, "its cause is unknown")),
    };
    let Some(key) = check.first_key() else { return Ok(()) };
    let Some(play) = &mut check.play else {
        return Err(Finding::at_entry(seq, "the ledger does not start with the opening of the match"));
    };
    play.begin();
    for entry in entries.iter().flatten() {
        play.follow(entry, written.as_deref(), &key).map_err(|what| Finding::at_entry(entry.seq, what))?;
    }
    check_salts(check, entries.iter().flatten())
}

/// Checks that the opening pins the secret of the match.
fn check_key(check: &Check, opening: &Entry) -> Result<(), Finding> {
    let Fact::MatchOpened { key, .. } = &opening.fact else { return Ok(()) };
    let is_pinned =
        check.snapshot.as_ref().is_some_and(|game_match| game_match.key_pinned_by(*key).is_some());
    let what = "its secret is not the one that entry #1 pins";
    is_pinned.then_some(()).ok_or_else(|| Finding::at(Place::Kept("the snapshot"), what))
}

/// Checks that the salts of entries follow from the secret of the match.
fn check_salts<'a>(check: &Check, entries: impl Iterator<Item = &'a Entry>) -> Result<(), Finding> {
    for entry in entries {
        let has = |game_match: &Match| game_match.keys().any(|key| key.salt(entry.seq) == entry.salt);
        if !check.snapshot.as_ref().is_some_and(has) {
            let what = "its salt is not the one that follows from the secret";
            return Err(Finding::at(Place::Entry(entry.seq), what));
        }
    }
    Ok(())
}

/// Compares the letter that caused the first pending ruling, and returns its lines; `None` if it is withheld.
fn written_in(check: &mut Check, cause: &LetterCause) -> Result<Option<Vec<String>>, Finding> {
    let seq = check.pending[0].link.seq;
    if !check.ruled_letters.insert(short(&cause.letter)) {
        return Err(Finding::at(Place::Entry(seq), "its letter was ruled on before"));
    }
    if check.withheld.seats.contains(&cause.seat) && !check.letters.contains_key(&cause.letter) {
        check.verdict.withheld_letters += 1;
        return Ok(None);
    }
    let (letter, written) =
        ruling::letter_of_cause(check, cause).map_err(|why| in_letter(cause, seq, why))?;
    let Some(snapshot) = &check.snapshot else { return Ok(None) };
    let read = referee::prepare(snapshot, cause.clone(), &letter, written);
    let read = read.map_err(|no_part| in_letter(cause, seq, no_part))?;
    Ok(Some(read.request.lines().iter().map(|line| line.text.clone()).collect()))
}

/// Returns the procedure that an entry sets, if it sets one.
fn procedure_set_by(entry: &PendingEntry) -> Option<u32> {
    if !matches!(entry.link.kind.as_str(), "MatchOpened" | "MailIdentitySet") {
        return None;
    }
    let json: Value = serde_json::from_str(&entry.json).ok()?;
    u32::try_from(json["body"]["mail_identity"]["procedure"].as_u64()?).ok()
}

/// Returns the orders that an act files.
fn orders_of(act: Act) -> Vec<String> {
    let orders = match act {
        Act::File { orders, .. } | Act::Correct(Correction { orders: Some((_, orders)), .. }) => orders,
        _ => Vec::new(),
    };
    orders.into_iter().map(|line| line.text).collect()
}

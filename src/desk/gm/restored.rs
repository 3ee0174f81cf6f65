//! Letters about what a restored backup does not know, and which no letter brings about again.

use std::collections::{BTreeMap, BTreeSet};

use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, or_lacking};
use crate::desk::outbox::budgets::{self, Origin};
use crate::desk::outbox::gms;
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::dialect::SubjectTag;
use crate::game::Seat;
use crate::letter::{Digest, Letter};
use crate::referee::DispatchKind;
use crate::report::gm_digest::ShortList;
use crate::report::{BehindMatch, ClubLetter, LostMatch};
use crate::store::{LetterStatus, Player, RestoredBackup, WaitingLetter};
use crate::zone::Zone;

/// The beginning of the note on a letter about a match that the restored backup does not know. The name of the match
/// follows, if the letter shows it.
pub const LOST: &str = "newer than the restored backup: ";

/// Maximum matches that one letter lists.
const MAX_LISTED: usize = 30;

/// The people who wrote about each match that is lost.
pub type LostMatches = BTreeMap<String, BTreeSet<String>>;

/// What is missing since a restore, and was not told yet.
pub struct Missing {
    pub lost: LostMatches,
    /// The last turn of each match from which players have letters.
    pub turns: BTreeMap<String, u32>,
    /// The matches whose deadline passed between the backup and its restore.
    pub overdue: Vec<BehindMatch>,
}

/// Sets aside a letter from before the restore that is about a match that the backup does not know, and returns
/// whether it is one. No seat and no GM has a token in it. Its sender reads once what became of all such letters, when
/// every letter has been decided.
pub fn note_lost(desk: &mut Desk<'_>, waiting: &WaitingLetter, letter: &Letter) -> Decided<bool> {
    let is_before = |restored_at| waiting.received_at <= restored_at;
    if !desk.rows.loaded.restored_at.is_some_and(is_before) {
        return Ok(false);
    }
    let named = SubjectTag::find(&letter.subject).map(|tag| tag.match_name);
    let is_lost = match &named {
        // The names of events look alike.
        Some(name) => !desk.rows.is_taken(name)? && desk.event_so_far(name)?.is_none(),
        None => !letter.tokens.is_empty(),
    };
    if is_lost {
        let note = format!("{LOST}{}", named.unwrap_or_default());
        desk.decided(letter.digest, LetterStatus::Ignored, note);
    }
    Ok(is_lost)
}

/// Returns what to tell somebody who answers a letter about a match that the club does not know since a restore.
pub fn why_unknown(desk: &Desk<'_>, letter: &Letter, zone: Option<Zone>) -> Decided<Option<String>> {
    let named = SubjectTag::find(&letter.subject).map(|tag| tag.match_name);
    let (Some(restore), Some(name)) = (desk.rows.loaded.restores.last(), named) else { return Ok(None) };
    if letter.tokens.is_empty() || desk.rows.is_taken(&name)? {
        return Ok(None);
    }
    Ok(Some(format!(
        "I do not know the match {name}. The club's database had to be replaced by a backup, which knows nothing later than \
         {}, so what you wrote about this match does not count, and I cannot go on with it. How it goes on is for the GM to \
         say: write a line TELL GM with your words. My letters about it, which you have, show how it stood.",
        desk.local_time_in(zone, restore.until)
    )))
}

/// Tells each GM what was restored and lost, each other person who wrote about lost matches which these are, and the
/// players of matches that are still behind how far these are. If a letter has only proved again what they know, tells
/// nobody. Returns the matches that are behind, with the last turns from which players have letters.
pub fn tell(desk: &mut Desk<'_>, restore: &RestoredBackup, missing: &Missing) -> Decided<Vec<(String, u32)>> {
    let at = restore.at.timestamp_millis();
    let behind = matches_behind(desk, &missing.turns)?;
    if restore.again && missing.lost.is_empty() && behind.is_empty() {
        return Ok(Vec::new());
    }
    let is_behind = |listed: &BehindMatch| behind.iter().any(|(other, _)| other.id == listed.id);
    let overdue = missing.overdue.iter().filter(|listed| !is_behind(listed)).cloned().collect();
    let lost = missing.lost.iter();
    let lost =
        lost.map(|(id, people)| LostMatch { id: id.clone(), people: people.iter().cloned().collect() });
    let letter = ClubLetter::Restored {
        until: desk.local_time(restore.until),
        letters: restore.letters,
        again: restore.again,
        lost: ShortList::of(lost.collect(), MAX_LISTED),
        behind: ShortList::of(behind.iter().map(|(listed, _)| listed.clone()).collect(), MAX_LISTED),
        overdue: ShortList::of(overdue, MAX_LISTED),
    };
    for index in gms::all_gms(desk) {
        let dispatch = gms::gm_dispatch(desk, index, &letter, &format!("restored.{at}"), None)?;
        desk.draft.changes.dispatches.push(dispatch);
    }
    tell_writers(desk, restore, &missing.lost)?;
    tell_players(desk, restore, &behind)?;
    Ok(behind.into_iter().map(|(listed, _)| (listed.id.clone(), missing.turns[&listed.id])).collect())
}

/// Returns the matches whose players have letters from later turns, with these players.
fn matches_behind(
    desk: &Desk<'_>,
    turns: &BTreeMap<String, u32>,
) -> Decided<Vec<(BehindMatch, Vec<Player>)>> {
    let mut behind = Vec::new();
    for (id, turn) in turns {
        let Some(Some(found)) = or_lacking(desk.game_match(id))? else { continue };
        if let Some(due) = found.game_match.due().filter(|due| due.turn < *turn) {
            let of_people = Seat::BOTH.into_iter().filter(|seat| found.game_match.house[*seat].is_none());
            let players = of_people.map(|seat| found.seats[seat].player.clone()).collect();
            behind.push((BehindMatch { id: id.clone(), turn: due.turn }, players));
        }
    }
    desk.rows.check()?;
    Ok(behind)
}

/// Tells people which of the matches that they wrote about are lost.
fn tell_writers(desk: &mut Desk<'_>, restore: &RestoredBackup, lost: &LostMatches) -> Decided<()> {
    let mut of_person: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    for (id, people) in lost {
        for address in people {
            of_person.entry(address).or_default().push(id.clone());
        }
    }
    for (address, mut matches) in of_person {
        let player = desk.player(address)?;
        matches.truncate(MAX_LISTED);
        let letter = ClubLetter::Lost {
            until: mail::local_time_at(desk, address, restore.until)?,
            matches,
            gm: gms::first_gm(desk).address.as_str().to_owned(),
        };
        let name = player.as_ref().map_or("", |player| player.name.as_str());
        tell_person(desk, &letter, (name, address), &format!("lost.{}", restore.at.timestamp_millis()))?;
    }
    Ok(())
}

/// Tells the players of matches that are behind what is lost.
fn tell_players(
    desk: &mut Desk<'_>,
    restore: &RestoredBackup,
    behind: &[(BehindMatch, Vec<Player>)],
) -> Decided<()> {
    let mut of_person: BTreeMap<&String, (&str, Vec<BehindMatch>)> = BTreeMap::new();
    for (listed, players) in behind {
        // Who was forgotten has no address.
        for (player, address) in players.iter().filter_map(|player| Some((player, player.addresses.first()?)))
        {
            of_person.entry(address).or_insert((&player.name, Vec::new())).1.push(listed.clone());
        }
    }
    for (address, (name, mut matches)) in of_person {
        matches.truncate(MAX_LISTED);
        let letter =
            ClubLetter::Behind { until: mail::local_time_at(desk, address, restore.until)?, matches };
        tell_person(desk, &letter, (name, address), &format!("behind.{}", restore.at.timestamp_millis()))?;
    }
    Ok(())
}

fn tell_person(
    desk: &mut Desk<'_>,
    letter: &ClubLetter,
    (name, address): (&str, &str),
    unique: &str,
) -> Decided<()> {
    let unique = format!("{unique}.{}", &Digest::of(address.as_bytes()).to_string()[..24]);
    let to = PlainEnvelope { name, address, unique: &unique, kind: DispatchKind::Notice };
    let dispatch = mail::plain_dispatch(desk, letter, &to)?;
    // The letters that name a person may be forged, so there is a limit; the GMs read of all of them.
    budgets::send_for_others(desk, dispatch, Origin::Other)?;
    Ok(())
}

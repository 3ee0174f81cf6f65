//! Changes that players ask for and that wait for an answer: of addresses, and leaving.
//!
//! Anybody who has seen a token can write in a player's name. So we send a question to an address that the
//! player has had for some time, and the change takes effect only once the answer repeats the question's
//! code. An address that was added a few days ago proves little: its owner may be somebody who read one of
//! the player's letters.

use chrono::TimeDelta;

use crate::desk::frame::asker::Asker;
use crate::desk::frame::codes::{self, LAPSE};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, or_lacking};
use crate::desk::frame::standing;
use crate::desk::matches::holders;
use crate::desk::outbox::gms::{self, GmTopic};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::letter::Digest;
use crate::referee::{ChangeReply, DispatchKind, Stage};
use crate::report::{ChangeLetter, ClubLetter};
use crate::store::{ChangeKind, ChangeStage, Player, PlayerChange};

/// Interval at which a question is asked again.
const QUESTION_INTERVAL: TimeDelta = TimeDelta::days(1);

/// Maximum changes of a player that wait for an answer.
const MAX_OPEN: usize = 5;

/// Maximum changes that a player asks for within a day, denied ones included: each leaves a row, and can make
/// us write to a stranger.
const MAX_DAILY: usize = 10;

/// Returns the player who asks for a change.
pub fn asking_player(desk: &Desk<'_>, asker: &Asker) -> Decided<Option<Player>> {
    match asker.player_id {
        Some(_) => desk.player(asker.address()),
        None => Ok(None),
    }
}

/// Asks a registered address whether its player wants a change.
pub fn propose(
    desk: &mut Desk<'_>,
    asker: &Asker,
    player: &Player,
    kind: ChangeKind,
    address: &str,
    registered: String,
) -> Decided<ChangeReply> {
    let mut row = match propose_change(desk, asker, player, kind, address, &registered)? {
        Ok(row) => row,
        Err(refused) => return Ok(refused),
    };
    if kind == ChangeKind::Leave {
        row.matches = desk.running_matches_of(player.id)?;
    }
    let lapses = desk.local_time_in(player.settings.zone, row.asked_at + LAPSE);
    let (address, code) = (row.address.clone(), row.code.clone());
    let letter = match kind {
        ChangeKind::Add => ChangeLetter::AskAdd { address, code, lapses: lapses.clone() },
        ChangeKind::Remove => ChangeLetter::AskRemove { address, code, lapses: lapses.clone() },
        ChangeKind::Leave => {
            let matches = describe_matches(desk, player.id, &row.matches)?;
            ChangeLetter::AskLeave { matches, code, lapses: lapses.clone() }
        }
    };
    let unique = format!("q.{}.{}", row.code.to_lowercase(), row.asked_at.timestamp());
    write_about_change(desk, &player.name, &registered, &unique, letter)?;
    desk.draft.changes.player_changes.push(row);
    Ok(ChangeReply::Asked { to: registered, lapses })
}

/// Describes matches of a player: name, game and opponent.
fn describe_matches(desk: &Desk<'_>, player_id: i64, ids: &[String]) -> Decided<Vec<String>> {
    let matches = desk.rows.matches_of(player_id)?;
    let of = |id: &String| {
        let found = matches.iter().find(|(_, game_match)| game_match.id == *id);
        found.map_or(id.clone(), |(seat, game_match)| {
            let foe = &game_match.players[seat.other()];
            format!("{id}, {} against {foe}", game_match.game.name())
        })
    };
    Ok(ids.iter().map(of).collect())
}

/// Returns the reply to a player who has asked for too many changes to ask for another.
pub fn refuse_another(desk: &Desk<'_>, player_id: i64) -> Decided<Option<ChangeReply>> {
    let changes = standing::changes_of(desk, player_id)?;
    if changes.iter().filter(|row| is_open(desk, row)).count() >= MAX_OPEN {
        return Ok(Some(ChangeReply::TooManyOpen));
    }
    let recent = changes.iter().filter(|row| row.asked_at + QUESTION_INTERVAL > desk.at());
    Ok((recent.count() >= MAX_DAILY).then_some(ChangeReply::TooManyToday { most: MAX_DAILY }))
}

/// Returns a change that nobody has agreed to yet.
pub fn new_change(
    desk: &mut Desk<'_>,
    asker: &Asker,
    player: &Player,
    kind: ChangeKind,
    address: &str,
    registered: &str,
) -> PlayerChange {
    let mut random = desk.random("codes of a change");
    PlayerChange {
        code: codes::draw_code(&mut random),
        // Each of the two gets a separate code, so that neither can answer for the other.
        other_code: codes::draw_code(&mut random),
        player_id: player.id,
        kind,
        address: address.to_owned(),
        matches: Vec::new(),
        registered: registered.to_owned(),
        with_token: asker.has_token(),
        stage: ChangeStage::Asked,
        asked_at: desk.at(),
        changed_at: desk.at(),
        version: 1,
    }
}

/// Moves a change to another stage.
pub fn set_stage(desk: &mut Desk<'_>, row: PlayerChange, stage: ChangeStage) {
    let (changed_at, version) = (desk.at(), row.version + 1);
    desk.draft.changes.player_changes.push(PlayerChange { stage, changed_at, version, ..row });
}

/// Returns the changes of a player that wait for an answer.
pub fn open_changes_of(desk: &Desk<'_>, player_id: i64) -> Decided<Vec<PlayerChange>> {
    let mut changes = standing::changes_of(desk, player_id)?;
    changes.retain(|row| is_open(desk, row));
    Ok(changes)
}

/// Returns the reply about an addition to which a registered address has agreed already.
pub fn new_awaited(desk: &Desk<'_>, agreed: &PlayerChange) -> ChangeReply {
    let lapses = desk.local_time(agreed.asked_at + LAPSE);
    ChangeReply::NewAwaited { address: agreed.address.clone(), lapses }
}

pub fn is_open(desk: &Desk<'_>, row: &PlayerChange) -> bool {
    let waits = match row.stage {
        ChangeStage::Asked | ChangeStage::Agreed => true,
        ChangeStage::Done | ChangeStage::Denied => false,
    };
    waits && row.asked_at + LAPSE > desk.at()
}

/// Gives a player new reply tokens in all running matches, and returns these matches.
pub fn renew_tokens_of(desk: &mut Desk<'_>, player: &Player) -> Decided<Vec<String>> {
    let mut renewed = Vec::new();
    let matches = desk.rows.matches_of(player.id)?;
    for (seat, game_match) in matches.iter().filter(|(_, game_match)| game_match.stage != Stage::Over) {
        if or_lacking(holders::renew_token(desk, &game_match.id, *seat, Some(player.id)))? == Some(true) {
            renewed.push(game_match.id.clone());
        }
    }
    desk.rows.check()?;
    Ok(renewed)
}

/// Writes to an address about a change.
pub fn write_about_change(
    desk: &mut Desk<'_>,
    name: &str,
    address: &str,
    unique: &str,
    letter: ChangeLetter,
) -> Decided<()> {
    let envelope = PlainEnvelope { name, address, unique, kind: DispatchKind::Notice };
    mail::send(desk, &ClubLetter::Change { letter }, &envelope)
}

/// Returns a part of the Message-ID of a letter about a change whose reader may know neither code.
pub fn codeless_part(row: &PlayerChange) -> String {
    let codes = format!("{}.{}", row.code, row.other_code);
    Digest::of(codes.as_bytes()).to_string()[..24].to_owned()
}

/// Tells the GM the outcome of a change.
pub fn tell_gm_of_change(desk: &mut Desk<'_>, row: &PlayerChange, letter: ChangeLetter) -> Decided<()> {
    let unique = format!("v.{}.{}", codeless_part(row), row.version);
    let alarms = gms::gm_letters(desk, &ClubLetter::Change { letter }, &unique, GmTopic::Club)?;
    desk.draft.changes.dispatches.extend(alarms);
    Ok(())
}

/// Returns the change to ask about, or the reply if nobody is asked.
fn propose_change(
    desk: &mut Desk<'_>,
    asker: &Asker,
    player: &Player,
    kind: ChangeKind,
    address: &str,
    registered: &str,
) -> Decided<Result<PlayerChange, ChangeReply>> {
    let now = desk.at();
    let changes = standing::changes_of(desk, player.id)?;
    let is_recent = |row: &&PlayerChange| row.asked_at + QUESTION_INTERVAL > now;
    let is_same = |row: &&PlayerChange| row.kind == kind && row.address == address;
    let same = changes.iter().find(|row| is_same(row) && is_open(desk, row));
    if let Some(agreed) = same.filter(|row| row.stage == ChangeStage::Agreed) {
        // A registered address has already agreed. Asking again would let anybody with a token undo that.
        return Ok(Err(new_awaited(desk, agreed)));
    }
    if same.is_some_and(|row| is_recent(&row)) {
        return Ok(Err(ChangeReply::AskedBefore { to: registered.to_owned() }));
    }
    // Without a token, anybody can ask, so all such letters of a day cause only one question.
    if !asker.has_token() && changes.iter().filter(|row| !row.with_token).any(|row| is_recent(&row)) {
        return Ok(Err(ChangeReply::AskedBefore { to: registered.to_owned() }));
    }
    if let Some(same) = same {
        return Ok(Ok(PlayerChange {
            registered: registered.to_owned(),
            with_token: same.with_token || asker.has_token(),
            stage: ChangeStage::Asked,
            asked_at: now,
            changed_at: now,
            version: same.version + 1,
            ..same.clone()
        }));
    }
    if let Some(refused) = refuse_another(desk, player.id)? {
        return Ok(Err(refused));
    }
    Ok(Ok(new_change(desk, asker, player, kind, address, registered)))
}

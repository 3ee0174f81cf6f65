//! Changes that players ask for and that wait for an answer: addresses, and leaving.
//!
//! Anybody who has seen a token can write in a player's name. So a change takes effect only when the code of a question
//! comes back, and the question goes to an address that the player has had for some time. An address that was added a few
//! days ago proves little: its owner may be somebody who read one letter of the player's.

use chrono::{DateTime, TimeDelta, Utc};

use super::addresses;
use super::asker::Asker;
use super::desk::Desk;
use super::gms;
use super::gms::About;
use super::leaving;
use super::mail;
use super::mail::PlainEnvelope;
use super::offers::in_code_letters;
use super::people;
use super::proof;
use super::proof::{LAPSE, draw_code};
use super::rows::{Decided, or_lacking};
use crate::letter::Address;
use crate::referee::{ChangeReply, DispatchKind, Stage};
use crate::report::{ChangeLetter, ClubLetter};
use crate::store::{ChangeKind, ChangeStage, Player, PlayerChange};

/// Time in which an older address can undo a change, and in which a new one has fewer rights.
pub const UNDO: TimeDelta = TimeDelta::days(7);

/// Interval at which a question is asked again.
const QUESTION_INTERVAL: TimeDelta = TimeDelta::days(1);

/// Maximum changes of a player that wait for an answer.
pub const MAX_OPEN: usize = 5;

/// Returns the player who asks for a change, if the letter is proven.
pub fn asking_player(desk: &mut Desk<'_>, asker: &Asker) -> Decided<Option<Player>> {
    if asker.player_id.is_none() || !asker.proven {
        return Ok(None);
    }
    desk.player(asker.address())
}

/// Returns when an address of a player gets its full rights, or `None` if it has them.
pub fn new_until(desk: &Desk<'_>, player_id: i64, address: &str) -> Decided<Option<DateTime<Utc>>> {
    let changes = changes_of(desk, player_id)?;
    let added = |row: &&PlayerChange| {
        row.kind == ChangeKind::Add && row.stage == ChangeStage::Done && row.address == address
    };
    let until = changes.iter().filter(added).map(|row| row.changed_at + UNDO).max();
    Ok(until.filter(|until| *until > desk.at()))
}

/// Returns the reply to an address that is too new to do this.
pub fn refuse_new_address(
    desk: &Desk<'_>,
    player: &Player,
    sender: &Address,
    command: &'static str,
) -> Decided<Option<ChangeReply>> {
    let until = new_until(desk, player.id, sender.as_str())?;
    Ok(until.map(|until| ChangeReply::TooNew {
        command,
        until: mail::local_time_in(desk, player.settings.zone, until),
    }))
}

/// Returns the addresses of a player without those that were added a few days ago. Questions go to the first.
pub fn trusted_addresses(desk: &Desk<'_>, player: &Player) -> Decided<Vec<String>> {
    let mut trusted = Vec::new();
    for address in &player.addresses {
        if new_until(desk, player.id, address)?.is_none() {
            trusted.push(address.clone());
        }
    }
    Ok(trusted)
}

/// Returns the changes of a player as this transaction leaves them so far.
fn changes_of(desk: &Desk<'_>, player_id: i64) -> Decided<Vec<PlayerChange>> {
    let mut changes = desk.rows.changes_of(player_id)?.to_vec();
    for row in desk.added(|settlement| &settlement.changes).filter(|row| row.player_id == player_id) {
        changes.retain(|other| other.code != row.code);
        changes.push(row.clone());
    }
    Ok(changes)
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
    let mut row = match proposed(desk, asker, player, kind, address, &registered)? {
        Ok(row) => row,
        Err(refused) => return Ok(refused),
    };
    if kind == ChangeKind::Leave {
        row.matches = people::running_matches_of(desk, player.id)?;
    }
    let lapses = mail::local_time_in(desk, player.settings.zone, row.asked_at + LAPSE);
    let (address, code) = (row.address.clone(), row.code.clone());
    let letter = match kind {
        ChangeKind::Add => ChangeLetter::AskAdd { address, code, lapses: lapses.clone() },
        ChangeKind::Remove => ChangeLetter::AskRemove { address, code, lapses: lapses.clone() },
        ChangeKind::Leave => {
            ChangeLetter::AskLeave { matches: row.matches.clone(), code, lapses: lapses.clone() }
        }
    };
    let unique = format!("q.{}.{}", row.code.to_lowercase(), row.asked_at.timestamp());
    write_about_change(desk, &player.name, &registered, &unique, letter)?;
    desk.draft.settlement.changes.push(row);
    Ok(ChangeReply::Asked { to: registered, lapses })
}

/// Returns the change to ask about, or why nobody is asked.
fn proposed(
    desk: &mut Desk<'_>,
    asker: &Asker,
    player: &Player,
    kind: ChangeKind,
    address: &str,
    registered: &str,
) -> Decided<Result<PlayerChange, ChangeReply>> {
    let now = desk.at();
    let changes = changes_of(desk, player.id)?;
    let is_recent = |row: &&PlayerChange| row.asked_at + QUESTION_INTERVAL > now;
    let mut open = changes.iter().filter(|row| is_open(desk, row));
    let same = open.clone().find(|row| row.kind == kind && row.address == address);
    if let Some(agreed) = same.filter(|row| row.stage == ChangeStage::Agreed) {
        // A registered address has agreed already. Asked again, whoever has a token could undo that.
        return Ok(Err(new_awaited(desk, agreed)));
    }
    if same.is_some_and(|row| is_recent(&row)) {
        return Ok(Err(ChangeReply::AskedBefore { to: registered.to_owned() }));
    }
    // Without a token anybody can ask, so all such letters of a day cause one question.
    if !asker.has_token && changes.iter().filter(|row| !row.with_token).any(|row| is_recent(&row)) {
        return Ok(Err(ChangeReply::AskedBefore { to: registered.to_owned() }));
    }
    if let Some(same) = same {
        let version = same.version + 1;
        let with_token = same.with_token || asker.has_token;
        let registered = registered.to_owned();
        let stage = ChangeStage::Asked;
        let (asked_at, changed_at) = (now, now);
        return Ok(Ok(PlayerChange {
            registered,
            with_token,
            stage,
            asked_at,
            changed_at,
            version,
            ..same.clone()
        }));
    }
    if open.nth(MAX_OPEN - 1).is_some() {
        return Ok(Err(ChangeReply::TooManyOpen));
    }
    Ok(Ok(new_change(desk, asker, player, kind, address, registered)))
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
    let mut random = desk.random();
    PlayerChange {
        code: draw_code(&mut random),
        other_code: draw_code(&mut random),
        player_id: player.id,
        kind,
        address: address.to_owned(),
        matches: Vec::new(),
        registered: registered.to_owned(),
        with_token: asker.has_token,
        stage: ChangeStage::Asked,
        asked_at: desk.at(),
        changed_at: desk.at(),
        version: 1,
    }
}

/// Moves a change to another stage.
pub fn set_stage(desk: &mut Desk<'_>, row: PlayerChange, stage: ChangeStage) {
    let (changed_at, version) = (desk.at(), row.version + 1);
    desk.draft.settlement.changes.push(PlayerChange { stage, changed_at, version, ..row });
}

/// Returns the changes of a player that wait for an answer.
pub fn open_changes_of(desk: &Desk<'_>, player_id: i64) -> Decided<Vec<PlayerChange>> {
    let mut changes = changes_of(desk, player_id)?;
    changes.retain(|row| is_open(desk, row));
    Ok(changes)
}

/// Returns the reply about an addition to which a registered address has agreed already.
pub fn new_awaited(desk: &Desk<'_>, agreed: &PlayerChange) -> ChangeReply {
    let lapses = desk.settings.local_time(agreed.asked_at + LAPSE);
    ChangeReply::NewAwaited { address: agreed.address.clone(), lapses }
}

fn is_open(desk: &Desk<'_>, row: &PlayerChange) -> bool {
    let waits = match row.stage {
        ChangeStage::Asked | ChangeStage::Agreed => true,
        ChangeStage::Done | ChangeStage::Denied => false,
    };
    waits && row.asked_at + LAPSE > desk.at()
}

/// Returns the change with this code as this transaction leaves it so far, and its player.
fn change_under(desk: &mut Desk<'_>, code: &str) -> Decided<Option<(PlayerChange, Player)>> {
    let stored = desk.rows.change_under(code)?.cloned();
    let is_named = |row: &&PlayerChange| row.code == code || row.other_code == code;
    let saved = desk.added(|settlement| &settlement.changes).rfind(is_named).cloned();
    let Some(row) = saved.or(stored) else { return Ok(None) };
    let player = desk.player(&row.registered)?.filter(|player| player.id == row.player_id);
    Ok(player.map(|player| (row, player)))
}

/// Whether a letter is from an address of this player that is not new.
fn is_trusted(desk: &Desk<'_>, asker: &Asker, player: &Player) -> Decided<bool> {
    let sender = asker.sender.as_str();
    let is_own = player.addresses.iter().any(|own| own == sender);
    Ok(is_own && new_until(desk, player.id, sender)?.is_none())
}

/// Advances the change that this code asked about. Returns `None` if the sender was not asked under this code.
pub fn confirm_change(desk: &mut Desk<'_>, asker: &Asker, written: &str) -> Decided<Option<ChangeReply>> {
    let code = in_code_letters(written);
    let Some((row, player)) = change_under(desk, &code)? else { return Ok(None) };
    // The code proves the sender, signed or not.
    if !is_open(desk, &row) {
        return Ok(None);
    }
    if row.code != code {
        let is_new_one = row.kind == ChangeKind::Add && asker.sender.as_str() == row.address;
        if is_new_one && row.stage == ChangeStage::Agreed {
            return Ok(Some(addresses::add_address(desk, asker, row, player)?));
        }
        return Ok(None);
    }
    if row.stage != ChangeStage::Asked || !player.addresses.iter().any(|own| own == asker.sender.as_str()) {
        return Ok(None);
    }
    if let Some(refused) = refuse_new_address(desk, &player, &asker.sender, "CONFIRM")? {
        return Ok(Some(refused));
    }
    Ok(Some(match row.kind {
        ChangeKind::Add => addresses::agree_to_add(desk, asker, row, &player)?,
        ChangeKind::Remove => addresses::remove_address(desk, row, player)?,
        // It changes the match that this letter is about.
        ChangeKind::Leave if asker.has_token => ChangeReply::AnswerApart,
        ChangeKind::Leave => leaving::leave(desk, asker, row, &player)?,
    }))
}

/// Discards or undoes the change under this code. Returns `None` if the sender may do neither.
pub fn deny_change(desk: &mut Desk<'_>, asker: &Asker, written: &str) -> Decided<Option<ChangeReply>> {
    let code = in_code_letters(written);
    let Some((row, player)) = change_under(desk, &code)? else { return Ok(None) };
    let is_old_one = row.code == code && is_trusted(desk, asker, &player)?;
    let is_concerned = row.other_code == code && asker.sender.as_str() == row.address;
    if !is_old_one && !is_concerned {
        return Ok(None);
    }
    if is_open(desk, &row) {
        let asked_with_token = row.with_token;
        set_stage(desk, row, ChangeStage::Denied);
        // Whoever asked has a token of the player's.
        if is_old_one && asked_with_token {
            renew_tokens_of(desk, &player)?;
        }
        return Ok(Some(ChangeReply::Denied));
    }
    let can_undo = row.stage == ChangeStage::Done && row.changed_at + UNDO > desk.at();
    match row.kind {
        ChangeKind::Add if can_undo && is_old_one => addresses::undo_addition(desk, row, player).map(Some),
        ChangeKind::Remove if can_undo && is_concerned => {
            addresses::undo_removal(desk, row, player).map(Some)
        }
        ChangeKind::Add | ChangeKind::Remove | ChangeKind::Leave => Ok(None),
    }
}

/// Gives a player new reply tokens in all running matches, and returns these matches.
pub fn renew_tokens_of(desk: &mut Desk<'_>, player: &Player) -> Decided<Vec<String>> {
    let mut renewed = Vec::new();
    let matches = desk.rows.matches_of(player.id)?;
    for (seat, game_match) in matches.iter().filter(|(_, game_match)| game_match.stage != Stage::Over) {
        if or_lacking(proof::renew_token(desk, &game_match.id, *seat, Some(player.id)))? == Some(true) {
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
    let dispatch = mail::plain_dispatch(desk, &ClubLetter::Change { letter }, &envelope)?;
    desk.draft.settlement.dispatches.push(dispatch);
    Ok(())
}

/// Tells the GM what became of a change.
pub fn tell_gm_of_change(desk: &mut Desk<'_>, row: &PlayerChange, letter: ChangeLetter) -> Decided<()> {
    let unique = format!("v.{}.{}", row.code.to_lowercase(), row.version);
    let alarms = gms::gm_alarms(desk, &ClubLetter::Change { letter }, &unique, About::Club)?;
    desk.draft.settlement.dispatches.extend(alarms);
    Ok(())
}

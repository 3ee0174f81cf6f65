//! ADDRESS: a player's addresses change when a registered one and a new one have agreed. The older ones get a
//! notice at once, and can undo the change for some days.

use super::changes;
use crate::desk::frame::asker::Asker;
use crate::desk::frame::codes::LAPSE;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::standing::{self, UNDO};
use crate::desk::matches::{holders, offers};
use crate::desk::outbox::budgets::{self, NEWCOMERS_REACH, Origin};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::letter::{Address, Digest};
use crate::referee::{ChangeReply, DispatchKind};
use crate::report::{ChangeLetter, ClubLetter};
use crate::store::{ChangeKind, ChangeStage, Player, PlayerChange};

/// Maximum addresses of a player.
pub const MAX_ADDRESSES: usize = 10;

/// Asks the registered address whether a new one is the player's.
pub fn ask_to_add(desk: &mut Desk<'_>, asker: &Asker, address: &Address) -> Decided<ChangeReply> {
    let Some(player) = changes::asking_player(desk, asker)? else { return Ok(ChangeReply::NoPlayer) };
    if let Some(refused) = refuse_addition(desk, asker, &player, address, asker.has_token())? {
        return Ok(refused);
    }
    let Some(registered) = standing::trusted_addresses(desk, &player)?.into_iter().next() else {
        return Ok(ChangeReply::NoPlayer);
    };
    changes::propose(desk, asker, &player, ChangeKind::Add, address.as_str(), registered)
}

/// Asks a new address, for which the player has vouched with CONFIRM ALWAYS, whether it is the player's.
pub fn add_confirmed(desk: &mut Desk<'_>, asker: &Asker, address: &str) -> Decided<ChangeReply> {
    // The code proves the sender, even if the letter is unsigned.
    let Some(player) = desk.player(asker.address())? else { return Ok(ChangeReply::NoPlayer) };
    let Ok(address) = Address::parse(address) else {
        return Ok(ChangeReply::Unusable { address: address.to_owned() });
    };
    if let Some(refused) = refuse_addition(desk, asker, &player, &address, true)? {
        return Ok(refused);
    }
    let registered = asker.sender.as_str().to_owned();
    let open = changes::open_changes_of(desk, player.id)?;
    let same = open.iter().find(|row| row.kind == ChangeKind::Add && row.address == address.as_str());
    let row = match same {
        Some(row) if row.stage == ChangeStage::Agreed => return Ok(changes::new_awaited(desk, row)),
        Some(row) => PlayerChange { registered, version: row.version + 1, ..row.clone() },
        None => match changes::refuse_another(desk, player.id)? {
            Some(refused) => return Ok(refused),
            None => changes::new_change(desk, asker, &player, ChangeKind::Add, address.as_str(), &registered),
        },
    };
    ask_new_address(desk, asker, row)
}

/// Asks the new address, after a registered one has agreed.
pub fn agree_to_add(
    desk: &mut Desk<'_>,
    asker: &Asker,
    row: PlayerChange,
    player: &Player,
) -> Decided<ChangeReply> {
    if let Some(owner) = desk.player(&row.address)? {
        let address = row.address.clone();
        changes::set_stage(desk, row, ChangeStage::Denied);
        if Some(owner.id) == asker.player_id {
            return Ok(ChangeReply::Own { address });
        }
        advise_owner(desk, &owner, &address)?;
        return Ok(ChangeReply::Taken { address });
    }
    if player.addresses.len() >= MAX_ADDRESSES {
        return Ok(ChangeReply::TooManyAddresses { most: MAX_ADDRESSES });
    }
    let version = row.version + 1;
    ask_new_address(desk, asker, PlayerChange { version, ..row })
}

/// Adds an address whose owner has agreed, and tells the older ones.
pub fn add_address(
    desk: &mut Desk<'_>,
    asker: &Asker,
    row: PlayerChange,
    mut player: Player,
) -> Decided<ChangeReply> {
    let address = row.address.clone();
    if desk.player(&address)?.is_some() {
        changes::set_stage(desk, row, ChangeStage::Denied);
        return Ok(ChangeReply::Taken { address });
    }
    if player.addresses.len() >= MAX_ADDRESSES {
        return Ok(ChangeReply::TooManyAddresses { most: MAX_ADDRESSES });
    }
    let undo_until = desk.local_time_in(player.settings.zone, desk.at() + UNDO);
    // Skip addresses that were added recently: they may be a thief's.
    for (index, older) in standing::trusted_addresses(desk, &player)?.iter().enumerate() {
        let letter = ChangeLetter::Added {
            address: address.clone(),
            code: row.code.clone(),
            undo_until: undo_until.clone(),
        };
        let unique = format!("k.{}.{index}", row.code.to_lowercase());
        changes::write_about_change(desk, &player.name, older, &unique, letter)?;
    }
    // Insert it first, because letters go to the first address.
    player.addresses.insert(0, address.clone());
    desk.draft.changes.players.push(player.clone());
    holders::hold_seats_of(desk, &[player.id], &player, Some(asker.letter))?;
    standing::note_known(desk, asker)?;
    changes::set_stage(desk, row, ChangeStage::Done);
    Ok(ChangeReply::Added { address, undo_until })
}

/// Asks another address of the player whether to remove one.
pub fn ask_to_remove(desk: &mut Desk<'_>, asker: &Asker, address: &str) -> Decided<ChangeReply> {
    let Some(player) = changes::asking_player(desk, asker)? else { return Ok(ChangeReply::NoPlayer) };
    let address = address.to_owned();
    if !player.addresses.contains(&address) {
        return Ok(ChangeReply::NotOwn { address });
    }
    if let Some(refused) = standing::refuse_new_address(desk, &player, &asker.sender, "ADDRESS")? {
        return Ok(refused);
    }
    let Some(registered) =
        standing::trusted_addresses(desk, &player)?.into_iter().find(|own| *own != address)
    else {
        return Ok(ChangeReply::NoneLeft { address });
    };
    changes::propose(desk, asker, &player, ChangeKind::Remove, &address, registered)
}

/// Removes an address, and tells its owner, who can undo this unless the address was new.
pub fn remove_address(desk: &mut Desk<'_>, row: PlayerChange, mut player: Player) -> Decided<ChangeReply> {
    let address = row.address.clone();
    if !player.addresses.contains(&address) {
        changes::set_stage(desk, row, ChangeStage::Denied);
        return Ok(ChangeReply::NotOwn { address });
    }
    let trusted = standing::trusted_addresses(desk, &player)?;
    if !trusted.iter().any(|own| *own != address) {
        return Ok(ChangeReply::NoneLeft { address });
    }
    let letter = ChangeLetter::Removed {
        code: trusted.contains(&address).then(|| row.other_code.clone()),
        undo_until: desk.local_time_in(player.settings.zone, desk.at() + UNDO),
    };
    let unique = format!("k.{}", changes::codeless_part(&row));
    changes::write_about_change(desk, &player.name, &address, &unique, letter)?;
    player.addresses.retain(|own| *own != address);
    desk.draft.changes.players.push(player.clone());
    holders::hold_seats_of(desk, &[player.id], &player, None)?;
    changes::set_stage(desk, row, ChangeStage::Done);
    Ok(ChangeReply::Removed { address })
}

/// Removes an address that was added a few days ago, and renews the tokens that its owner may have read.
pub fn undo_addition(desk: &mut Desk<'_>, row: PlayerChange, mut player: Player) -> Decided<ChangeReply> {
    player.addresses.retain(|own| *own != row.address);
    undo(desk, row, player)
}

/// Restores an address that was removed a few days ago, and renews the tokens.
pub fn undo_removal(desk: &mut Desk<'_>, row: PlayerChange, mut player: Player) -> Decided<ChangeReply> {
    let address = row.address.clone();
    if let Some(owner) = desk.player(&address)? {
        return Ok(match owner.id == player.id {
            true => ChangeReply::Own { address },
            false => ChangeReply::Taken { address },
        });
    }
    player.addresses.insert(0, address);
    undo(desk, row, player)
}

/// Returns why an address cannot be added to those of a player. Says that another player has it only if
/// `is_told`: somebody who writes without a token must learn nothing about other people.
fn refuse_addition(
    desk: &mut Desk<'_>,
    asker: &Asker,
    player: &Player,
    address: &Address,
    is_told: bool,
) -> Decided<Option<ChangeReply>> {
    let written = address.as_str().to_owned();
    if player.addresses.contains(&written) {
        return Ok(Some(ChangeReply::Own { address: written }));
    }
    if let Some(refused) = standing::refuse_new_address(desk, player, &asker.sender, "ADDRESS")? {
        return Ok(Some(refused));
    }
    let is_unusable = address.base() == desk.club.config.club.address || !address.is_reachable();
    if is_unusable {
        return Ok(Some(ChangeReply::Unusable { address: written }));
    }
    if player.addresses.len() >= MAX_ADDRESSES {
        return Ok(Some(ChangeReply::TooManyAddresses { most: MAX_ADDRESSES }));
    }
    match desk.player(&written)? {
        Some(owner) if is_told => {
            advise_owner(desk, &owner, &written)?;
            Ok(Some(ChangeReply::Taken { address: written }))
        }
        Some(_) | None => Ok(None),
    }
}

/// Advises a player whose address another player claims, once a day, unless the GM has blocked them.
fn advise_owner(desk: &mut Desk<'_>, owner: &Player, address: &str) -> Decided<()> {
    let Some(to) = owner.addresses.first() else { return Ok(()) };
    if is_blocked(desk, to)? {
        return Ok(());
    }
    let day = desk.at().date_naive();
    let unique = format!("w.{}.{day}", &Digest::of(address.as_bytes()).to_string()[..24]);
    let letter = ChangeLetter::Claimed { address: address.to_owned() };
    let envelope =
        PlainEnvelope { name: &owner.name, address: to, unique: &unique, kind: DispatchKind::Notice };
    let dispatch = mail::plain_dispatch(desk, &ClubLetter::Change { letter }, &envelope)?;
    budgets::send_once_for_others(desk, dispatch)
}

/// Asks the new address whether it is the player's. Nothing is sent to a blocked person, but the reply is the
/// same, so that nobody learns whom the GM has blocked.
fn ask_new_address(desk: &mut Desk<'_>, asker: &Asker, row: PlayerChange) -> Decided<ChangeReply> {
    let is_limited = offers::is_limited(desk, asker)?;
    if is_limited && budgets::reach_left(desk, asker.address())? == 0 {
        return Ok(ChangeReply::NewcomerReach { most: NEWCOMERS_REACH });
    }
    let lapses = desk.local_time(desk.at() + LAPSE);
    let letter = ChangeLetter::AskNew { code: row.other_code.clone(), lapses: lapses.clone() };
    let unique = format!("n.{}.{}", row.other_code.to_lowercase(), row.version);
    let envelope =
        PlainEnvelope { name: "", address: &row.address, unique: &unique, kind: DispatchKind::Notice };
    let dispatch = mail::plain_dispatch(desk, &ClubLetter::Change { letter }, &envelope)?;
    if !is_blocked(desk, &row.address)? && !budgets::send_for_others(desk, dispatch, Origin::Other)? {
        return Ok(ChangeReply::Crowded { address: row.address });
    }
    if is_limited {
        budgets::count_reach(desk, asker.address());
    }
    let address = row.address.clone();
    let (asked_at, changed_at) = (desk.at(), desk.at());
    let agreed = PlayerChange { stage: ChangeStage::Agreed, asked_at, changed_at, ..row };
    desk.draft.changes.player_changes.push(agreed);
    Ok(ChangeReply::AskedNew { address, lapses })
}

fn is_blocked(desk: &Desk<'_>, address: &str) -> Decided<bool> {
    Ok(standing::standing(desk, address)?.blocked_since.is_some())
}

fn undo(desk: &mut Desk<'_>, row: PlayerChange, player: Player) -> Decided<ChangeReply> {
    desk.draft.changes.players.push(player.clone());
    // Renew tokens after changing the addresses, because the new tokens must not go to an address that was
    // just removed.
    let matches = changes::renew_tokens_of(desk, &player)?;
    let address = row.address.clone();
    let letter = ChangeLetter::Undone { name: player.name, address: address.clone(), matches };
    changes::tell_gm_of_change(desk, &row, letter)?;
    changes::set_stage(desk, row, ChangeStage::Denied);
    Ok(ChangeReply::Undone { address })
}

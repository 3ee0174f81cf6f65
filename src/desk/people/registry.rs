//! The GM's instructions about players: show, rename, merge, block, and mark as reachable again.

use super::addresses::MAX_ADDRESSES;
use super::changes;
use super::player_settings::{self, Changer};
use crate::club::member::number;
use crate::club::names::NamedPlayer;
use crate::desk::events::acts as event_acts;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, or_lacking};
use crate::desk::frame::standing;
use crate::desk::matches::player_names::fit_name;
use crate::desk::matches::{acts, holders, player_names};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::desk::outbox::{fog, gms};
use crate::game::Seat;
use crate::game::any::GameKind;
use crate::letter::{Address, Digest};
use crate::referee::{Act, DispatchKind, Stage};
use crate::report::{ChangeLetter, ClubLetter, GmResult, HeldSeat, count_of};
use crate::store::{ListedPlayer, Player, Standing};

pub fn show_player(desk: &Desk<'_>, player: &Player) -> Decided<GmResult> {
    Ok(GmResult::Player {
        name: player.name.clone(),
        addresses: player.addresses.clone(),
        bouncing: player.bouncing,
        blocked: is_blocked(desk, player)?,
        matches: match_ids_of(desk, player.id)?,
        namesakes: player_names::namesakes(
            desk,
            &[NamedPlayer { id: player.id, name: player.name.clone() }],
        )?,
        admitted: false,
        number: number(player.id),
        running: Vec::new(),
        finished: 0,
    })
}

/// Shows a player with a line for each match that is not over.
pub fn show_player_and_matches(desk: &Desk<'_>, player: &Player) -> Decided<GmResult> {
    let fog = fog::of_acting_gm(desk)?;
    let mut shown = show_player(desk, player)?;
    if let GmResult::Player { running, finished, .. } = &mut shown {
        for (_, overview) in desk.rows.matches_of(player.id)? {
            match overview.stage {
                Stage::Over => *finished += 1,
                Stage::Running | Stage::Paused => running.push(fog.line(overview.clone(), desk.at())),
            }
        }
    }
    Ok(shown)
}

pub fn rename_player(desk: &mut Desk<'_>, address: &Address, name: &str, check: bool) -> Decided<GmResult> {
    let Some(mut player) = desk.player(address.as_str())? else { return Ok(no_player(address)) };
    if let Err(says) = fit_name(name) {
        return Ok(GmResult::refused(says));
    }
    if check {
        return Ok(GmResult::would(format!(
            "{} ({}) would be called {name}, also in running matches.",
            player.name,
            number(player.id)
        )));
    }
    if player.name != name {
        player.member.give_up_name(&player.name, desk.at());
        name.clone_into(&mut player.name);
    }
    let renamed = player_settings::spread_player(desk, player.id, &player, Changer::Gm)?;
    player_settings::tell_renamed(desk, &renamed, &player, Changer::Gm)?;
    save_player(desk, player)
}

/// Adds an address to those of a player. Letters go there from now on, and the older addresses are told.
pub fn add_address(desk: &mut Desk<'_>, address: &Address, new: &Address, check: bool) -> Decided<GmResult> {
    let Some(mut player) = desk.player(address.as_str())? else { return Ok(no_player(address)) };
    if let Some(says) = refuse_address(desk, &player, new)? {
        return Ok(GmResult::refused(says));
    }
    if check {
        let says = format!("Letters to {} would go to {new}. The older addresses would stay.", player.name);
        return Ok(GmResult::would(says));
    }
    let older: Vec<String> = player.addresses.iter().filter(|own| *own != new.as_str()).cloned().collect();
    player.addresses = [vec![new.as_str().to_owned()], older].concat();
    holders::hold_seats_of(desk, &[player.id], &player, None)?;
    let gm = gms::acting_gm(desk).address.as_str().to_owned();
    for to in &player.addresses {
        let letter = ChangeLetter::AddedByGm { address: new.as_str().to_owned(), gm: gm.clone() };
        write_about_address(desk, &player.name, to, letter)?;
    }
    // Nobody knows yet whether letters to the new address come back.
    restore_mail(desk, player)
}

/// Removes an address from those of a player, and tells it.
pub fn remove_address(
    desk: &mut Desk<'_>,
    address: &Address,
    old: &Address,
    check: bool,
) -> Decided<GmResult> {
    let Some(mut player) = desk.player(address.as_str())? else { return Ok(no_player(address)) };
    if let Some(says) = refuse_opponent(desk, &player)? {
        return Ok(GmResult::refused(says));
    }
    if !player.addresses.iter().any(|own| own == old.as_str()) {
        return Ok(GmResult::refused(format!("{old} is no address of {}.", player.name)));
    }
    if player.addresses.len() == 1 {
        return Ok(GmResult::refused(format!(
            "{old} is the only address of {}; add another first.",
            player.name
        )));
    }
    if check {
        return Ok(GmResult::would(format!(
            "Letters from {old} would no longer count as those of {}.",
            player.name
        )));
    }
    player.addresses.retain(|own| own != old.as_str());
    holders::hold_seats_of(desk, &[player.id], &player, None)?;
    let letter = ChangeLetter::Removed { code: None, undo_until: String::new() };
    write_about_address(desk, &player.name, old.as_str(), letter)?;
    save_player(desk, player)
}

fn write_about_address(desk: &mut Desk<'_>, name: &str, to: &str, letter: ChangeLetter) -> Decided<()> {
    let unique =
        format!("ga.{}.{}", &Digest::of(to.as_bytes()).to_string()[..24], desk.at().timestamp_millis());
    changes::write_about_change(desk, name, to, &unique, letter)
}

/// Returns why an address cannot become one of a player.
fn refuse_address(desk: &Desk<'_>, player: &Player, new: &Address) -> Decided<Option<String>> {
    if let Some(owner) = desk.player(new.as_str())?.filter(|owner| owner.id != player.id) {
        let owner = format!("{} ({})", owner.name, number(owner.id));
        let merge = desk.worded("`fogpost player merge`", "GM PLAYER MERGE");
        return Ok(Some(format!("{new} is the address of {owner}. {merge} makes two players one.")));
    }
    if new.base() == desk.club.config.club.address || !new.is_reachable() {
        return Ok(Some(format!("{new} is no address that I can write to.")));
    }
    let is_own = player.addresses.iter().any(|own| own == new.as_str());
    if !is_own && player.addresses.len() >= MAX_ADDRESSES {
        return Ok(Some(format!("{} has {MAX_ADDRESSES} addresses already; remove one first.", player.name)));
    }
    refuse_opponent(desk, player)
}

/// Returns why the acting GM may not decide where the letters of a player go: they play against each other.
fn refuse_opponent(desk: &Desk<'_>, player: &Player) -> Decided<Option<String>> {
    let plays = desk.matches_with(player.id)?.iter().any(|loaded| {
        loaded.game_match.stage != Stage::Over && gms::is_seated(gms::acting_gm(desk), &loaded.seats)
    });
    Ok(plays.then(|| format!("You play in a match with {}, so another GM has to do this.", player.name)))
}

/// Notes that letters to a player arrive again, in each match where they bounced.
pub fn clear_bounces(desk: &mut Desk<'_>, address: &Address, check: bool) -> Decided<GmResult> {
    let Some(player) = desk.player(address.as_str())? else { return Ok(no_player(address)) };
    if check {
        return Ok(GmResult::would(format!("Letters to {} would be sent again.", player.name)));
    }
    restore_mail(desk, player)
}

fn restore_mail(desk: &mut Desk<'_>, player: Player) -> Decided<GmResult> {
    for loaded in desk.matches_with(player.id)? {
        let bouncing =
            |seat: &Seat| loaded.seats[*seat].player.id == player.id && loaded.game_match.bouncing[*seat];
        if let Some(seat) = Seat::BOTH.into_iter().find(bouncing) {
            acts::act_as_gm(desk, loaded, &Act::Restored(seat), None)?;
        }
    }
    desk.draft.changes.requeued.extend(player.addresses.iter().cloned());
    save_player(desk, Player { bouncing: false, ..player })
}

/// Blocks a person, so that their letters are ignored, or unblocks them. A blocked person gets one notice.
pub fn block_player(desk: &mut Desk<'_>, address: &Address, on: bool, check: bool) -> Decided<GmResult> {
    let player = desk.player(address.as_str())?;
    let mut addresses = player.as_ref().map(|player| player.addresses.clone()).unwrap_or_default();
    if !addresses.iter().any(|own| own == address.as_str()) {
        addresses.push(address.as_str().to_owned());
    }
    let mut standings = Vec::new();
    for own in &addresses {
        standings.extend(or_lacking(standing::standing(desk, own))?);
    }
    let running = match &player {
        Some(player) => or_lacking(running_seats_of(desk, player.id))?,
        None => None,
    };
    desk.rows.check()?;
    let who = player.as_ref().map_or(address.as_str(), |player| player.name.as_str());
    match standings.iter().filter(|standing| standing.blocked_since.is_some()).count() {
        0 if !on => return Ok(GmResult::refused(format!("{who} is not blocked."))),
        blocked if on && blocked == addresses.len() => {
            return Ok(GmResult::refused(format!("{who} is blocked already.")));
        }
        _ => {}
    }
    if check {
        return Ok(would_block(who, &addresses, on, &running.unwrap_or_default()));
    }
    let is_news = standings.iter().all(|standing| standing.blocked_since.is_none());
    if on && is_news {
        tell_blocked(desk, address, player.as_ref())?;
    }
    let blocked_since = on.then(|| desk.at());
    for (own, standing) in addresses.into_iter().zip(standings) {
        let standing = Standing { blocked_since, ..standing };
        desk.draft.changes.restraints.standings.insert(own, standing);
    }
    Ok(GmResult::Blocked { address: address.as_str().to_owned(), on, matches: running.unwrap_or_default() })
}

/// Says what would follow if a person were blocked, or unblocked.
fn would_block(who: &str, addresses: &[String], on: bool, running: &[HeldSeat]) -> GmResult {
    let from = format!("Letters from {}", addresses.join(" and "));
    if !on {
        return GmResult::would(format!("{from} would be read again."));
    }
    let seats = match running {
        [] => String::new(),
        _ => {
            let ids: Vec<&str> = running.iter().map(|held| held.id.as_str()).collect();
            format!(" Deadlines would run on in {}.", ids.join(", "))
        }
    };
    let says = format!("{from} would go unread.{seats}");
    GmResult::Would { says, line: None, event: None, terms: None, told: vec![who.to_owned()] }
}

/// Merges two players: `into` takes over the seats and addresses of `gone`.
pub fn merge_players(desk: &mut Desk<'_>, gone: &Address, into: &Address, check: bool) -> Decided<GmResult> {
    let Some(old) = desk.player(gone.as_str())? else { return Ok(no_player(gone)) };
    let Some(new) = desk.player(into.as_str())? else { return Ok(no_player(into)) };
    // In a chain of mergers, seats would move to a player whom the same commit deletes.
    let is_merged =
        |id: i64| desk.added(|changes| &changes.merged).any(|(gone, into)| *gone == id || *into == id);
    let of_old = match_ids_of(desk, old.id)?;
    let of_new = match_ids_of(desk, new.id)?;
    let shared: Vec<String> = of_old.iter().filter(|id| of_new.contains(id)).cloned().collect();
    let why = if !shared.is_empty() && old.id != new.id {
        Some(format!(", because they play each other: {}", shared.join(", ")))
    } else if let Some(event) = event_of_both(desk, old.id, new.id)? {
        Some(format!(", because both are in {event}"))
    } else {
        (old.id == new.id || is_merged(old.id) || is_merged(new.id)).then(String::new)
    };
    if let Some(why) = why {
        let says = format!("{} and {} cannot become one player{why}.", old.name, new.name);
        return Ok(GmResult::refused(says));
    }
    if check {
        let seats = count_of(of_old.len(), "match", "matches");
        let says = format!(
            "{} ({}) would be removed; {} ({}) would get the addresses and {seats}.",
            old.name,
            number(old.id),
            new.name,
            number(new.id)
        );
        return Ok(GmResult::would(says));
    }
    let matches = of_new.into_iter().chain(of_old).collect();
    let renamed = player_settings::spread_player(desk, old.id, &new, Changer::Gm)?;
    player_settings::tell_renamed(desk, &renamed, &new, Changer::Gm)?;
    desk.draft.changes.merged.push((old.id, new.id));
    // Recompute all ratings, because both players' results now belong to one.
    desk.draft.changes.stale_ratings.extend(GameKind::ALL);
    let mut addresses = new.addresses.clone();
    addresses.extend(old.addresses);
    let member = new.member.clone().merged_with(&old.member);
    let merged = Player { addresses: addresses.clone(), member, ..new.clone() };
    // The merger itself moves the addresses.
    desk.draft.changes.players.push(Player { addresses: new.addresses.clone(), ..merged.clone() });
    keep_blocks(desk, (old.id, new.id), &merged.addresses)?;
    event_acts::merge(desk, old.id, new.id)?;
    holders::hold_seats_of(desk, &[new.id, old.id], &merged, None)?;
    let blocked = is_blocked(desk, &new)?;
    Ok(GmResult::Player {
        number: number(new.id),
        name: new.name,
        addresses,
        bouncing: new.bouncing,
        blocked,
        matches,
        namesakes: Vec::new(),
        admitted: false,
        running: Vec::new(),
        finished: 0,
    })
}

/// Returns the open event that both players are in.
fn event_of_both(desk: &Desk<'_>, one: i64, other: i64) -> Decided<Option<String>> {
    let mut open = desk.open_events()?.into_iter();
    let of_both = open.find(|loaded| loaded.event.has(one) && loaded.event.has(other));
    Ok(of_both.map(|loaded| loaded.event.plan.id))
}

/// Keeps the blocks against two players who are merged: those by the GM, and those by players who want no offers
/// from the one who is gone.
fn keep_blocks(desk: &mut Desk<'_>, (gone, into): (i64, i64), addresses: &[String]) -> Decided<()> {
    let mut standings = Vec::new();
    for address in addresses {
        standings.push((address.clone(), standing::standing(desk, address)?));
    }
    // All addresses belong to one person now, so a block of one covers them all.
    let blocked_since = standings.iter().filter_map(|(_, standing)| standing.blocked_since).min();
    for (address, standing) in standings.into_iter().filter(|_| blocked_since.is_some()) {
        let standing = Standing { blocked_since, ..standing };
        desk.draft.changes.restraints.standings.insert(address, standing);
    }
    let listed = desk.rows.listed_players()?.iter();
    let is_blocker =
        |listed: &&ListedPlayer| listed.member.blocks(gone) && ![gone, into].contains(&listed.id);
    let blockers: Vec<String> =
        listed.filter(is_blocker).filter_map(|listed| listed.address.clone()).collect();
    for address in blockers {
        let Some(mut player) = desk.player(&address)? else { continue };
        // Remove both numbers first: this player may have blocked both, and a number is listed once.
        player.member.blocked.retain(|id| *id != gone && *id != into);
        player.member.blocked.push(into);
        desk.draft.changes.players.push(player);
    }
    Ok(())
}

/// Says that nobody has an address, and whether it is blocked all the same.
pub fn show_address(desk: &Desk<'_>, address: &Address) -> Decided<GmResult> {
    match standing::standing(desk, address.as_str())?.blocked_since {
        None => Ok(no_player(address)),
        Some(since) => Ok(GmResult::refused(format!(
            "Nobody has the address {address}. It is blocked since {}: letters from it go unread.",
            desk.local_time(since)
        ))),
    }
}

pub fn no_player(address: &Address) -> GmResult {
    GmResult::NoPlayer { address: address.as_str().to_owned() }
}

fn tell_blocked(desk: &mut Desk<'_>, address: &Address, player: Option<&Player>) -> Decided<()> {
    let unique = format!("b.{}.{}", Digest::of(address.as_str().as_bytes()), desk.at().timestamp());
    let name = player.map_or("", |player| &player.name);
    let to = player.and_then(|player| player.addresses.first()).map_or(address.as_str(), String::as_str);
    let envelope = PlainEnvelope { name, address: to, unique: &unique, kind: DispatchKind::Notice };
    let gm = gms::acting_gm(desk).address.as_str().to_owned();
    mail::send(desk, &ClubLetter::Blocked { gm }, &envelope)
}

fn save_player(desk: &mut Desk<'_>, player: Player) -> Decided<GmResult> {
    let shown = show_player(desk, &player)?;
    desk.draft.changes.players.push(player);
    Ok(shown)
}

fn is_blocked(desk: &Desk<'_>, player: &Player) -> Decided<bool> {
    let Some(address) = player.addresses.first() else { return Ok(false) };
    Ok(standing::standing(desk, address)?.blocked_since.is_some())
}

/// Returns the seats that a player holds in running matches.
fn running_seats_of(desk: &Desk<'_>, player_id: i64) -> Decided<Vec<HeldSeat>> {
    let matches = desk.rows.matches_of(player_id)?.iter();
    let running = matches.filter(|(seat, game_match)| match desk.ruled_on(&game_match.id) {
        // An earlier line of the same letter may have ended the match or given away the seat.
        Some(now) => now.game_match.stage != Stage::Over && now.seats[*seat].player.id == player_id,
        None => game_match.stage != Stage::Over,
    });
    Ok(running.map(|(seat, game_match)| HeldSeat { id: game_match.id.clone(), seat: *seat }).collect())
}

fn match_ids_of(desk: &Desk<'_>, player_id: i64) -> Decided<Vec<String>> {
    let matches = desk.rows.matches_of(player_id)?.iter();
    Ok(matches.map(|(_, game_match)| game_match.id.clone()).collect())
}

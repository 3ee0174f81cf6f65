//! A player's own settings: SETTINGS, its effects in the player's matches, and the daily digest.

use anyhow::Context as _;
use chrono::{DateTime, Utc};

use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedMatch};
use crate::desk::frame::standing;
use crate::desk::frame::summary::match_line;
use crate::desk::matches::player_names::{fit_name, is_taken};
use crate::desk::matches::{offers, seats};
use crate::desk::outbox::budgets::{self, Origin, SETTINGS_CHANGES};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::desk::outbox::{gms, ruling_mail};
use crate::game::Seat;
use crate::letter::Digest;
use crate::referee::{
    Act, DispatchKind, LetterFormat, Receipts, Reply, SettingFault, SettingFaultKind, SettingsChange, Stage,
    as_written,
};
use crate::report::ClubLetter;
use crate::store::{NewDispatch, Player, Urgency};

/// The person who changes a player's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changer {
    Gm,
    /// The player; the program carries out the change.
    Player,
}

/// A match in which a player got a new name.
pub struct RenamedIn {
    match_id: String,
    from: String,
    opponent: Player,
    /// Whether the opponent is the house, which reads no letters.
    is_house: bool,
}

/// Changes the asker's settings, all or none, and shows them.
pub fn change_settings(desk: &mut Desk<'_>, asker: &Asker, written: &[(String, String)]) -> Decided<Reply> {
    if is_about_address(written) {
        return offers::set_willing(desk, asker, written.iter().any(|(_, value)| value == "on"));
    }
    let Some(player) = desk.player(asker.address())? else { return Ok(Reply::SettingsForPlayers) };
    let hour = desk.club.config.club.gm.first().digest_hour;
    let change = match SettingsChange::read(written, &player.settings, hour, desk.at()) {
        Ok(change) => change,
        Err(faults) => return Ok(Reply::SettingsRefused { faults }),
    };
    let name = change.name.unwrap_or_else(|| player.name.clone());
    let mut member = player.member.clone();
    member.public = change.public.unwrap_or(member.public);
    member.rated = change.rated.unwrap_or(member.rated);
    member.limit = change.limit.unwrap_or(member.limit);
    if name != player.name {
        member.give_up_name(&player.name, desk.at());
    }
    let changed = Player { name, settings: change.settings, member, ..player.clone() };
    // Count the change before comparing the name with all others, so that a refused name counts as well.
    if changed != player && !budgets::take_settings_change(desk, player.id)? {
        return Ok(Reply::SettingsTooOften { most: SETTINGS_CHANGES });
    }
    if changed.name != player.name
        && let Some(why) = name_fault(desk, &changed.name, &player)?
    {
        let written = as_written("name", &changed.name);
        let example = format!("name={}", player.name);
        return Ok(Reply::SettingsRefused { faults: vec![SettingFault { written, why, example }] });
    }
    if let Some(on) = change.challenges {
        offers::set_willing(desk, asker, on)?;
    }
    let shown = shown_settings(desk, asker, &changed)?;
    if changed != player {
        desk.draft.changes.players.push(changed);
    }
    Ok(Reply::Settings { shown, changed: !written.is_empty() })
}

/// Whether the setting is `challenges` alone, which belongs to an address. The others belong to a player.
pub fn is_about_address(written: &[(String, String)]) -> bool {
    matches!(written, [(name, value)] if name == "challenges" && matches!(value.as_str(), "on" | "off"))
}

/// Carries a player's new settings and name into their matches, if the letter just ruled on changed them.
/// `before` is the number of players saved before that letter.
pub fn carry_out_settings(desk: &mut Desk<'_>, player_id: i64, before: usize) -> Decided<()> {
    let saved = desk.draft.changes.players.iter().skip(before);
    let Some(player) = saved.rev().find(|saved| saved.id == player_id).cloned() else { return Ok(()) };
    let renamed = spread_player(desk, player_id, &player, Changer::Player)?;
    tell_renamed(desk, &renamed, &player, Changer::Player)
}

/// Gives the seats of the player `id` to `player`, with their name and settings, in all matches that are not
/// over. Returns the matches in which the name changed.
pub fn spread_player(desk: &mut Desk<'_>, id: i64, player: &Player, by: Changer) -> Decided<Vec<RenamedIn>> {
    let mut renamed = Vec::new();
    for mut loaded in desk.matches_with(id)? {
        let seat = Seat::BOTH.into_iter().find(|seat| loaded.seats[*seat].player.id == id);
        let Some(seat) = seat.filter(|_| loaded.game_match.stage != Stage::Over) else { continue };
        loaded.seats[seat].player = player.clone();
        let from = loaded.game_match.players[seat].clone();
        if from != player.name {
            renamed.push(RenamedIn {
                match_id: loaded.game_match.id.clone(),
                from,
                opponent: loaded.seats[seat.other()].player.clone(),
                is_house: loaded.game_match.house[seat.other()].is_some(),
            });
            let act = Act::Rename { seat, name: player.name.clone(), told_once: true };
            loaded = act_for(desk, by, loaded, act)?;
        }
        if loaded.game_match.settings[seat] != player.settings {
            let act = Act::Set { seat, settings: player.settings.clone() };
            act_for(desk, Changer::Player, loaded, act)?;
        }
    }
    Ok(renamed)
}

/// Tells each opponent the player's new name, in one letter for all their matches. If the GM changed it,
/// tells the player as well.
pub fn tell_renamed(desk: &mut Desk<'_>, renamed: &[RenamedIn], player: &Player, by: Changer) -> Decided<()> {
    let Some(from) = renamed.first().map(|one| one.from.clone()) else { return Ok(()) };
    let letter =
        |matches: Vec<String>| ClubLetter::Renamed { from: from.clone(), to: player.name.clone(), matches };
    if by == Changer::Gm {
        let matches = renamed.iter().map(|one| one.match_id.clone()).collect();
        let dispatch = letter_to_player(desk, &letter(matches), player, &format!("n.{}", player.id))?;
        desk.draft.changes.dispatches.extend(dispatch);
    }
    let mut told: Vec<i64> = Vec::new();
    for RenamedIn { opponent, is_house, .. } in renamed {
        if *is_house || told.contains(&opponent.id) {
            continue;
        }
        told.push(opponent.id);
        let common = renamed.iter().filter(|one| one.opponent.id == opponent.id);
        let matches = common.map(|one| one.match_id.clone()).collect();
        let unique = format!("n.{}.{}", player.id, opponent.id);
        if let Some(dispatch) = letter_to_player(desk, &letter(matches), opponent, &unique)? {
            budgets::send_for_others(desk, dispatch, Origin::Opponent(player.id))?;
        }
    }
    Ok(())
}

/// Writes a player's digest, which was due at `due`, unless nothing waits for the player or the digest was
/// made before. An earlier digest that has not been sent yet lapses.
pub fn digest_for(desk: &mut Desk<'_>, player: &Player, due: DateTime<Utc>) -> Decided<()> {
    let mut matches = Vec::new();
    for (seat, game_match) in desk.rows.matches_of(player.id)? {
        if game_match.stage == Stage::Running && game_match.awaited.contains(seat) {
            matches.push(match_line(game_match, *seat, player.settings.zone, desk.at()));
        }
    }
    let Some(address) = player.addresses.first() else { return Ok(()) };
    matches.sort_by_key(|line| line.due);
    let unique = format!("p.{}.{}", player.id, due.timestamp_millis());
    let message_id = desk.club.stationery.message_id("", &unique);
    if desk.is_dispatched(&message_id)? {
        return Ok(());
    }
    desk.draft.changes.replaced_digests.push((address.clone(), DispatchKind::Reminder));
    if matches.is_empty() {
        return Ok(());
    }
    let to = PlainEnvelope { name: &player.name, address, unique: &unique, kind: DispatchKind::Reminder };
    let seats = match Asker::of_player(player) {
        Some(reader) => seats::seats_for_digest(desk, &reader)?,
        None => Vec::new(),
    };
    let page = mail::word_club_letter(desk, &ClubLetter::PlayerDigest { matches, seats }, "")?;
    let page = mail::as_player_wants(page, player);
    let dispatch = mail::assemble(desk, page, "", &to, None)?;
    desk.draft.changes.dispatches.push(NewDispatch { urgency: Urgency::Digest, ..dispatch });
    Ok(())
}

/// Returns why a player cannot take this name.
fn name_fault(desk: &Desk<'_>, name: &str, player: &Player) -> Decided<Option<SettingFaultKind>> {
    // An invitation that shows an address in place of a name counts as that of a newcomer.
    if fit_name(name).is_err() || name.contains('@') {
        return Ok(Some(SettingFaultKind::UnfitName));
    }
    Ok(is_taken(desk, name, Some(player.id))?.then_some(SettingFaultKind::NameTaken))
}

/// Returns each setting as a player would write it.
fn shown_settings(desk: &Desk<'_>, asker: &Asker, player: &Player) -> Decided<Vec<String>> {
    let terms = &desk.club.config.terms;
    let settings = &player.settings;
    let reminders = settings.reminders_hours.as_ref().unwrap_or(&terms.reminders_hours);
    let reminders: Vec<String> = reminders.iter().map(u32::to_string).collect();
    let is_willing = standing::standing(desk, asker.address())?.unwilling_since.is_none();
    let format = match settings.format {
        LetterFormat::Html => "html",
        LetterFormat::Text => "text",
    };
    let receipts = match settings.receipts {
        Receipts::All => "all",
        Receipts::Faults => "faults",
    };
    Ok(vec![
        format!("zone={}", settings.zone.unwrap_or(terms.zone)),
        format!("format={format}"),
        format!("receipts={receipts}"),
        format!("words={}", on_or_off(!settings.firm_at_once)),
        format!("board={}", on_or_off(!settings.without_board_link)),
        format!("digest={}", if settings.digest_hour.is_some() { "daily" } else { "off" }),
        format!("reminders={}", if reminders.is_empty() { "off".to_owned() } else { reminders.join(",") }),
        format!("challenges={}", on_or_off(is_willing)),
        format!("public={}", on_or_off(player.member.public)),
        format!("rated={}", on_or_off(player.member.rated)),
        format!("limit={}", player.member.limit.map_or("off".to_owned(), |limit| limit.to_string())),
        format!("name={}", player.name),
    ])
}

fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Rules on an act, and returns the match after it.
fn act_for(desk: &mut Desk<'_>, by: Changer, loaded: LoadedMatch, act: Act) -> Decided<LoadedMatch> {
    let matter = match by {
        Changer::Gm => loaded.game_match.by_gm(&gms::acting_gm(desk).name, act),
        Changer::Player => loaded.game_match.by_program(act),
    };
    let id = loaded.game_match.id.clone();
    let ruling = ruling_mail::request_ruling(desk, &loaded.game_match, &matter);
    ruling_mail::record_ruling(desk, loaded, ruling)?;
    Ok(desk.game_match(&id)?.context("a match that was just ruled on is missing")?.clone())
}

/// Writes a letter to a player that is not about a single match. Its Message-ID depends on the time and the
/// text, because a letter may change a name twice. Returns `None` if the player has no address, or if the
/// same letter exists already.
fn letter_to_player(
    desk: &Desk<'_>,
    plain: &ClubLetter,
    player: &Player,
    unique: &str,
) -> Decided<Option<NewDispatch>> {
    let Some(address) = player.addresses.first() else { return Ok(None) };
    let page = mail::as_player_wants(mail::word_club_letter(desk, plain, "")?, player);
    let text = Digest::of(page.text.as_bytes()).to_string();
    let unique = format!("{unique}.{}.{}", desk.at().timestamp_millis(), &text[..8]);
    let kind = DispatchKind::Notice;
    let to = PlainEnvelope { name: &player.name, address, unique: &unique, kind };
    let dispatch = mail::assemble(desk, page, "", &to, None)?;
    Ok(if desk.is_dispatched(&dispatch.message_id)? { None } else { Some(dispatch) })
}

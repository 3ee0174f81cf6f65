//! Finding a player by name or number, for somebody who may know the club's players.

use crate::club::member::number;
use crate::club::names::{self, Meant, NamedPlayer};
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::matches::meeting;
use crate::desk::matches::openings::{NEW_NEEDS_ADDRESS, NamedAddress, WrittenHolder};
use crate::letter::Address;
use crate::referee::OfferRejection;
use crate::request::{Party, Whom};
use crate::store::Player;

/// A player whom the asker has named.
pub struct FoundPlayer {
    pub player: Player,
    pub address: Address,
    /// Name and number.
    pub shown: String,
}

/// Finds the player with a name or number. Players with `public=off` are found only by their opponents.
pub fn find_player(
    desk: &Desk<'_>,
    asker: &Asker,
    written: &str,
) -> Decided<Result<FoundPlayer, OfferRejection>> {
    if !meeting::reads_names(desk, asker)? {
        return Ok(Err(OfferRejection::NamesForPlayers));
    }
    let mut known = Vec::new();
    for listed in desk.rows.listed_players()? {
        let player = NamedPlayer { id: listed.id, name: listed.name.clone() };
        // Compare the name first, because looking for a common match needs more rows.
        if !listed.is_person() || !listed.member.public && !names::may_mean(written, &player) {
            continue;
        }
        let is_own = asker.player_id == Some(listed.id);
        if listed.member.public || is_own || meeting::play_each_other(desk, asker.player_id, Some(listed.id))?
        {
            known.push(player);
        }
    }
    let id = match names::find_player(written, &known) {
        Meant::Player(id) => id,
        Meant::Several(players) => {
            return Ok(Err(OfferRejection::SeveralNamed { name: written.to_owned(), players }));
        }
        Meant::Nobody(nearest) => {
            return Ok(Err(OfferRejection::NobodyNamed { name: written.to_owned(), nearest }));
        }
    };
    let shown = known.iter().find(|player| player.id == id).map(names::name_with_number);
    Ok(match (desk.reachable(id)?, shown) {
        (Some((player, address)), Some(shown)) => Ok(FoundPlayer { player, address, shown }),
        _ => Err(OfferRejection::NobodyNamed { name: written.to_owned(), nearest: Vec::new() }),
    })
}

/// Returns an address of the person whom a GM names, or a sentence that says why there is none.
pub fn address_for_gm(desk: &Desk<'_>, whom: &Whom) -> Decided<Result<Address, String>> {
    let written = match whom {
        Whom::Address(address) => return Ok(Ok(address.clone())),
        Whom::Named(written) => written,
    };
    let id = match names::find_player(written, &desk.named_people()?).only(written) {
        Ok(id) => id,
        Err(says) => return Ok(Err(says)),
    };
    Ok(desk
        .reachable(id)?
        .map(|(_, address)| address)
        .ok_or_else(|| format!("{} has no address.", number(id))))
}

/// A party to a match whom a GM names, and the name for somebody who is new; empty if none is given.
pub type NamedParty = (Party, String);

/// Returns the party to a match whom a GM names, or a sentence that says why nobody is meant.
pub fn party_for_gm(desk: &Desk<'_>, written: &str) -> Decided<Result<NamedParty, String>> {
    Ok(match WrittenHolder::read(written) {
        Ok(WrittenHolder::House(level)) => Ok((Party::House(level), String::new())),
        Ok(WrittenHolder::Player(NamedAddress { name, address })) => Ok((Party::Player(address), name)),
        Ok(WrittenHolder::Known(whom)) => match address_for_gm(desk, &whom)? {
            Ok(address) => Ok((Party::Player(address), String::new())),
            Err(says) => Err(format!("{says} {NEW_NEEDS_ADDRESS}")),
        },
        Err(says) => Err(format!("{written} cannot get a seat: {says}.")),
    })
}

/// Returns the two parties to a match whom these words name: they are split where both parts name somebody.
pub fn two_parties_for_gm(desk: &Desk<'_>, words: &[String]) -> Decided<Result<[NamedParty; 2], String>> {
    let (mut found, mut fault) = (Vec::new(), None);
    for at in 1..words.len() {
        let [first, second] = [&words[..at], &words[at..]].map(|part| party_for_gm(desk, &part.join(" ")));
        match (first?, second?) {
            (Ok(first), Ok(second)) => found.push([first, second]),
            (Ok(_), Err(says)) | (Err(says), Ok(_)) => fault = fault.or(Some(says)),
            (Err(_), Err(_)) => {}
        }
    }
    let written = words.join(" ");
    Ok(match (found.len(), found.pop()) {
        (1, Some(parties)) => Ok(parties),
        (0, _) => {
            Err(fault.unwrap_or_else(|| format!("{written} does not name two people. {NEW_NEEDS_ADDRESS}")))
        }
        _ => Err(format!("{written} can mean several pairs. Write a number, such as P-12, for one of them.")),
    })
}

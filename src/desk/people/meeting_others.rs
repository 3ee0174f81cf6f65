//! BLOCK, PROFILE and RATINGS: the people whom a player does not want to play, and the club's facts about
//! players.

use std::collections::BTreeMap;

use super::finding;
use crate::club::member::{MAX_BLOCKED, number};
use crate::club::rating::{RatedPlayer, RatingChange};
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::ratings;
use crate::desk::frame::rows::Decided;
use crate::desk::matches::meeting;
use crate::game::Seat;
use crate::game::any::GameKind;
use crate::referee::{MatchOverview, OfferRejection, Profile, ProfileGame, RatingLine, Reply, Stage};
use crate::store::Player;

/// Maximum ratings that one letter lists.
const MAX_LISTED: usize = 100;

/// Blocks or unblocks a player for the asker. The other player is not told.
pub fn block(
    desk: &mut Desk<'_>,
    asker: &Asker,
    written: &str,
    on: bool,
) -> Decided<Result<Reply, OfferRejection>> {
    let Some(own) = desk.player(asker.address())? else {
        return Ok(Err(OfferRejection::NamesForPlayers));
    };
    let not_to_block = || Ok(Err(OfferRejection::NotToBlock { name: written.to_owned() }));
    if written.to_lowercase().starts_with("house") {
        return not_to_block();
    }
    let found = match finding::find_player(desk, asker, written)? {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    if found.player.id == own.id {
        return not_to_block();
    }
    let mut member = own.member.clone();
    member.blocked.retain(|id| *id != found.player.id);
    if on {
        if member.blocked.len() >= MAX_BLOCKED {
            return Ok(Err(OfferRejection::BlocksTooMany { most: MAX_BLOCKED }));
        }
        member.blocked.push(found.player.id);
    }
    if member != own.member {
        desk.draft.changes.players.push(Player { member, ..own });
    }
    Ok(Ok(Reply::BlockSet { player: found.shown, on }))
}

/// Shows the profile of a player or, without a name, of the asker.
pub fn profile(
    desk: &Desk<'_>,
    asker: &Asker,
    written: Option<&str>,
) -> Decided<Result<Reply, OfferRejection>> {
    let player = match written {
        Some(written) => match finding::find_player(desk, asker, written)? {
            Ok(found) => found.player,
            Err(why) => return Ok(Err(why)),
        },
        None => match desk.player(asker.address())? {
            Some(player) => player,
            None => return Ok(Err(OfferRejection::NamesForPlayers)),
        },
    };
    let matches = desk.rows.matches_of(player.id)?;
    let running = matches.iter().filter(|(_, game_match)| game_match.stage != Stage::Over).count();
    let profile = Profile {
        player: format!("{} ({})", player.name, number(player.id)),
        is_own: asker.player_id == Some(player.id),
        games: with_ratings(desk, player.id, results(matches))?,
        running: u32::try_from(running).unwrap_or(u32::MAX),
        filed: meeting::describe_reliability(desk, Some(player.id), &player.name)?,
    };
    Ok(Ok(Reply::Profile { profile: Box::new(profile) }))
}

/// Counts a player's results in each game. Matches without a result do not count.
fn results(matches: &[(Seat, MatchOverview)]) -> BTreeMap<GameKind, ProfileGame> {
    let mut games: BTreeMap<GameKind, ProfileGame> = BTreeMap::new();
    for (seat, game_match) in matches {
        let Some(place) = place_of_result(*seat, game_match) else { continue };
        let name = game_match.game.name();
        let (people, house, rating, changes) = ([0; 3], [0; 3], None, Vec::new());
        let game = games.entry(game_match.game);
        let game = game.or_insert(ProfileGame { name, people, house, rating, changes });
        match game_match.house[seat.other()] {
            None => game.people[place] += 1,
            Some(_) => game.house[place] += 1,
        }
    }
    games
}

/// Adds the ratings, with their last changes.
fn with_ratings(
    desk: &Desk<'_>,
    player: i64,
    games: BTreeMap<GameKind, ProfileGame>,
) -> Decided<Vec<ProfileGame>> {
    let mut profiles = Vec::new();
    for (game, mut profile) in games {
        let standing = ratings::rated_player(desk, player, game)?;
        if standing.last.is_some() {
            profile.rating = Some(standing.at(desk.at()).shown());
        }
        for row in desk.rows.ratings(player, game)? {
            let RatingChange { match_id, at, before, after, .. } = &row.change;
            let day = at.date_naive();
            profile.changes.push(format!("{day}, {match_id}: {} to {}", before.shown(), after.shown()));
        }
        profiles.push(profile);
    }
    Ok(profiles)
}

/// Lists the ratings in a game, for somebody who may know the club's players. Players with `public=off` are
/// left out.
pub fn list_ratings(desk: &Desk<'_>, asker: &Asker, written: &str) -> Decided<Result<Reply, OfferRejection>> {
    let Some(game) = GameKind::parse(written) else {
        return Ok(Err(OfferRejection::UnknownGame { name: written.to_owned() }));
    };
    if !meeting::reads_names(desk, asker)? {
        return Ok(Err(OfferRejection::NamesForPlayers));
    }
    let mut standings: BTreeMap<i64, RatedPlayer> = BTreeMap::new();
    for row in desk.rows.rating_list(game)? {
        standings.entry(row.change.player).or_default().take(&row.change);
    }
    let mut lines = Vec::new();
    for listed in desk.rows.listed_players()? {
        let is_shown =
            listed.address.is_some() && (listed.member.public || asker.player_id == Some(listed.id));
        let Some(standing) = standings.get(&listed.id).filter(|_| is_shown) else { continue };
        let rating = standing.at(desk.at());
        let player = format!("{} ({})", listed.name, number(listed.id));
        lines.push((rating.figure, RatingLine { player, rating: rating.shown(), results: standing.results }));
    }
    lines.sort_by_key(|(figure, _)| -figure);
    let more = lines.len().saturating_sub(MAX_LISTED);
    let lines = lines.into_iter().take(MAX_LISTED).map(|(_, line)| line).collect();
    Ok(Ok(Reply::Ratings { game: game.name().to_owned(), lines, more }))
}

/// Returns 0 for a win, 1 for a draw and 2 for a loss; `None` for a match that was annulled or abandoned, or
/// that runs.
fn place_of_result(seat: Seat, game_match: &MatchOverview) -> Option<usize> {
    let outcome = game_match.outcome.as_ref()?;
    match outcome.winner {
        Some(winner) => Some(if winner == seat { 0 } else { 2 }),
        None => outcome.is_draw().then_some(1),
    }
}

//! Ratings: their changes by a ruling, and whether a match that opens is rated.

use chrono::{DateTime, TimeDelta, Utc};

use super::desk::Desk;
use super::rows::Decided;
use crate::club::rating::{RatedPlayer, RatedResult, RatingChange, house_figure, rate, results_of};
use crate::game::any::{Choices, GameKind};
use crate::game::{BySeat, Seat};
use crate::house::HouseLevel;
use crate::ledger::{Entry, Fact, RatingBasis};
use crate::referee::{Ruling, Stage, Terms};
use crate::store::{Player, RatingRow, TokenRow};

/// Maximum rated matches that two players can open within 30 days, and [`IN_A_YEAR`] within a year.
const IN_A_MONTH: usize = 4;
const IN_A_YEAR: usize = 12;

/// The changes of ratings by a ruling.
#[derive(Debug, Default)]
pub struct RatingNews {
    pub rows: Vec<RatingRow>,
    /// A result became void or came between others: the ratings of the game must be recomputed.
    pub is_stale: bool,
}

/// Whether a match that opens is rated, and the sentence that says so.
pub struct RatedTerms {
    pub basis: Option<RatingBasis>,
    pub note: String,
}

/// Returns a player's standing in a game, as this transaction leaves it so far.
pub fn rated_player(desk: &Desk<'_>, player: i64, game: GameKind) -> Decided<RatedPlayer> {
    let mut standing = RatedPlayer::default();
    if let Some(last) = last_change(desk, player, game)? {
        standing.take(last);
    }
    Ok(standing)
}

/// Returns the last change of a player's rating in a game, as this transaction leaves it so far.
fn last_change<'s>(desk: &'s Desk<'_>, player: i64, game: GameKind) -> Decided<Option<&'s RatingChange>> {
    let mut added = desk.added(|changes| &changes.ratings).rev();
    let added = added.find(|row| row.game == game && row.change.player == player);
    Ok(added.or(desk.rows.ratings(player, game)?.first()).map(|row| &row.change))
}

/// Rates the results that a ruling decided.
pub fn rated_by(desk: &Desk<'_>, ruling: &Ruling, seats: &BySeat<TokenRow>) -> Decided<RatingNews> {
    let mut news = RatingNews::default();
    if !may_rate(ruling) {
        return Ok(news);
    }
    let mut entries = desk.entries(&ruling.after.id)?;
    let before = results_of(&entries);
    entries.extend(ruling.entries.iter().map(|chained| chained.entry.clone()));
    let after = results_of(&entries);
    // If an earlier result became void or changed, the ratings after it must be recomputed.
    let Some(new) = after.strip_prefix(&before[..]) else {
        news.is_stale = true;
        return Ok(news);
    };
    let game = ruling.after.game;
    for result in new {
        // No letter of this ruling goes to former holders, so their ratings are computed separately.
        if result.only.is_some() {
            news.is_stale = true;
            continue;
        }
        // Players may have been merged since the match was opened.
        let numbers = BySeat::from_fn(|seat| result.basis.numbers[seat].map(|_| seats[seat].player.id));
        let result = RatedResult { basis: RatingBasis { numbers, ..result.basis.clone() }, ..result.clone() };
        let mut players = BySeat::<RatedPlayer>::default();
        // A rating depends on the order of results, so a result from before a player's last one cannot simply
        // be added.
        let mut is_late = false;
        for seat in Seat::BOTH {
            let Some(last) =
                numbers[seat].map(|number| last_change(desk, number, game)).transpose()?.flatten()
            else {
                continue;
            };
            players[seat].take(last);
            is_late |= (last.at, &last.match_id) > (result.at, &result.match_id);
        }
        news.is_stale |= is_late;
        if !is_late {
            news.rows.extend(rate(&result, &players).into_iter().map(|change| RatingRow { game, change }));
        }
    }
    Ok(news)
}

/// Whether a ruling rates the holder who gives up this seat, as having lost.
pub fn rates_leaver(desk: &Desk<'_>, ruling: &Ruling, seat: Seat) -> Decided<bool> {
    if !may_rate(ruling) {
        return Ok(false);
    }
    let mut entries = desk.entries(&ruling.after.id)?;
    let rated = |entries: &[Entry]| results_of(entries).iter().any(|result| result.only == Some(seat));
    let was_rated = rated(&entries);
    entries.extend(ruling.entries.iter().map(|chained| chained.entry.clone()));
    Ok(!was_rated && rated(&entries))
}

/// Whether a ruling may change the rated results of its match.
fn may_rate(ruling: &Ruling) -> bool {
    ruling.entries.iter().any(|chained| match chained.entry.fact {
        Fact::MatchEnded { .. }
        | Fact::PlayerReplaced { .. }
        | Fact::CorrectionMade { .. }
        | Fact::MatchAnnulled { .. } => ruling.after.terms.rated,
        // New terms may end the rating of the match.
        Fact::TermsChanged { .. } => true,
        _ => false,
    })
}

/// Returns the sentence about a rating change for the report of the result.
pub fn describe_change(change: &RatingChange, game: GameKind, name: &str) -> String {
    let (before, after) = (change.before.shown(), change.after.shown());
    format!("{name}'s rating in {}: {after}, before {before}.", game.name())
}

/// Decides whether a match is rated, if its terms allow that.
pub fn rated_terms(
    desk: &Desk<'_>,
    (game, choices, terms): (GameKind, &Choices, &Terms),
    players: &BySeat<Player>,
    house: &BySeat<Option<&'static HouseLevel>>,
) -> Decided<RatedTerms> {
    let unrated = |why: String| Ok(RatedTerms { basis: None, note: format!("This match is unrated{why}.") });
    let people: Vec<Seat> = Seat::BOTH.into_iter().filter(|seat| house[*seat].is_none()).collect();
    if !terms.rated {
        return unrated(String::new());
    }
    if let Some(seat) = people.iter().find(|seat| !players[**seat].member.rated) {
        return unrated(format!(": {} plays so", players[*seat].name));
    }
    let figure = match people[..] {
        [] => return unrated(String::new()),
        [seat] => {
            let level = house[seat.other()].and_then(|level| house_figure(game, level.name));
            if level.is_none() || !plays_house_rated(desk, players[seat].id, game)? {
                return unrated(String::new());
            }
            level
        }
        _ => {
            // Matches of events have no such limit: nobody chooses the opponent there.
            if terms.event.is_none()
                && let Some(why) = too_many(desk, players.first.id, players.second.id)?
            {
                return unrated(format!(": {why}"));
            }
            None
        }
    };
    let advantage = desk.club.config.ratings.advantage(game, choices);
    let numbers = BySeat::from_fn(|seat| house[seat].is_none().then_some(players[seat].id));
    let note = format!("The result is rated. For the figures, send RATINGS {}.", game.key());
    Ok(RatedTerms { basis: Some(RatingBasis { numbers, advantage, house: figure }), note })
}

/// Whether a player's match against the house is rated: only while the player's rating is uncertain, and only
/// one match at a time in a game.
fn plays_house_rated(desk: &Desk<'_>, player: i64, game: GameKind) -> Decided<bool> {
    let standing = rated_player(desk, player, game)?.at(desk.at());
    if !standing.is_unsure() {
        return Ok(false);
    }
    let running = desk.rows.matches_of(player)?.iter().any(|(seat, game_match)| {
        game_match.stage != Stage::Over
            && game_match.game == game
            && game_match.rated
            && game_match.house[seat.other()].is_some()
    });
    let opened = desk.added(|changes| &changes.matches).any(|row| {
        let is_of_house = row.overview.house != BySeat::default();
        let mut seats = desk.added(|changes| &changes.seats).filter(|seat| seat.match_id == row.id);
        row.overview.game == game
            && row.overview.rated
            && is_of_house
            && seats.any(|seat| seat.player_id == player)
    });
    Ok(!running && !opened)
}

/// Returns why two players cannot open another rated match now.
fn too_many(desk: &Desk<'_>, one: i64, other: i64) -> Decided<Option<String>> {
    let mut opened: Vec<DateTime<Utc>> = desk.rows.rated_openings(one, other)?.to_vec();
    for row in desk
        .added(|changes| &changes.matches)
        .filter(|row| row.overview.rated && row.overview.event.is_none())
    {
        let seats = desk.added(|changes| &changes.seats).filter(|seat| seat.match_id == row.id);
        let players: Vec<i64> = seats.map(|seat| seat.player_id).collect();
        // Version 0 marks a match that opens now. The others are among the stored openings.
        if row.version == 0 && players.contains(&one) && players.contains(&other) {
            opened.push(desk.at());
        }
    }
    Ok(pair_limit(&opened, desk.at()))
}

/// Returns why two players have too many rated matches to open another, given the times at which the others
/// were opened.
pub fn pair_limit(opened: &[DateTime<Utc>], at: DateTime<Utc>) -> Option<String> {
    let within = |days: i64| opened.iter().filter(|opened| **opened > at - TimeDelta::days(days)).count();
    if within(30) >= IN_A_MONTH {
        return Some(format!("your {} match within 30 days", ordinal(within(30) + 1)));
    }
    (within(365) >= IN_A_YEAR).then(|| format!("your {} match within a year", ordinal(within(365) + 1)))
}

fn ordinal(number: usize) -> String {
    match number {
        5 => "fifth".to_owned(),
        13 => "thirteenth".to_owned(),
        number => format!("{number}th"),
    }
}

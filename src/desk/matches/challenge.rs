//! Challenges to the house: the match is opened at once.

use anyhow::Context as _;

use super::openings::{self, Holder, NamedAddress, NewMatch};
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::game::any::GameKind;
use crate::game::{BySeat, Seat};
use crate::house::{self, HouseLevel};
use crate::ledger::Cause;
use crate::letter::Address;
use crate::referee::{HouseMatch, MatchOverview, OfferRejection, Reply, Stage};

/// Maximum running matches of one player against the house.
const MAX_MATCHES: usize = 10;

/// Opens a match between the asker and the house.
pub fn challenge_house(
    desk: &mut Desk<'_>,
    asker: &Asker,
    wanted: Result<HouseMatch, OfferRejection>,
) -> Decided<Result<Reply, OfferRejection>> {
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(why) => return Ok(Err(why)),
    };
    // Letters from the same address must count each other's new matches.
    let player_id = desk.stored_player(asker.address())?.map(|player| player.id);
    let before = against_the_house(desk, player_id)?;
    let running = before.iter().filter(|(_, game_match)| game_match.stage != Stage::Over);
    let mut running: Vec<String> = running.map(|(_, game_match)| game_match.id.clone()).collect();
    let opened = desk.added(|changes| &changes.seats).filter(|row| Some(row.player_id) == player_id);
    running.extend(opened.map(|row| row.match_id.clone()));
    if running.len() >= MAX_MATCHES {
        return Ok(Err(OfferRejection::HouseBusy { most: MAX_MATCHES, running }));
    }
    let house = &desk.club.config.house;
    let level = match wanted.level {
        Some(level) => level,
        None => match house.level(wanted.game, None) {
            Ok(level) if wanted.advance != Some(false) => next_level(level, wanted.game, &before),
            Ok(level) => level,
            Err(why) => return Ok(Err(why)),
        },
    };
    let address = Address::parse(asker.address()).context("the sender's address cannot be parsed")?;
    let player = Holder::Player(NamedAddress { name: asker.name.clone(), address });
    let seat = wanted.seat.unwrap_or_else(|| draw_seat(desk));
    let new = NewMatch {
        game: wanted.game,
        choices: wanted.choices(level),
        players: match seat {
            Seat::First => BySeat::new(player, Holder::House(level)),
            Seat::Second => BySeat::new(Holder::House(level), player),
        },
        terms: wanted.terms(&desk.club.config.terms, house.advance),
    };
    let game_match = openings::open_match(desk, &new, Cause::opening(Some(asker.letter)), None)?;
    Ok(Ok(Reply::Joined { match_id: game_match.id, next_key: None }))
}

fn draw_seat(desk: &mut Desk<'_>) -> Seat {
    let [byte] = desk.random("side").bytes();
    Seat::BOTH[usize::from(byte & 1)]
}

/// Returns a player's matches against the house, each with the player's seat.
fn against_the_house<'a>(desk: &Desk<'a>, player_id: Option<i64>) -> Decided<Vec<(Seat, &'a MatchOverview)>> {
    let Some(id) = player_id else { return Ok(Vec::new()) };
    let matches = desk.rows.matches_of(id)?.iter();
    let of_house = matches.filter(|(seat, game_match)| game_match.house[seat.other()].is_some());
    Ok(of_house.map(|(seat, game_match)| (*seat, game_match)).collect())
}

/// Returns the level above the highest one that the player has beaten in a match with `advance`, or `default`
/// if they have beaten none. The level may be below `default`, because the letters that offer the next level
/// do not know the club's default.
fn next_level(
    default: &'static HouseLevel,
    game: GameKind,
    before: &[(Seat, &MatchOverview)],
) -> &'static HouseLevel {
    let levels = house::levels(game);
    let place = |name: &str| levels.iter().position(|level| level.name == name);
    let won = before.iter().filter(|(seat, game_match)| {
        let outcome = game_match.outcome.as_ref();
        game_match.advance
            && game_match.game == game
            && outcome.is_some_and(|outcome| outcome.winner == Some(*seat))
    });
    // The highest level counts, whichever was beaten last.
    let beaten = won.filter_map(|(seat, game_match)| place(game_match.house[seat.other()].as_deref()?)).max();
    let Some(beaten) = beaten else { return default };
    // Whoever has beaten the highest level plays it again.
    &levels[(beaten + 1).min(levels.len() - 1)]
}

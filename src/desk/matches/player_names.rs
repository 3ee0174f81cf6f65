//! The names of players: which ones can stand, what somebody is called of whom only the address is known, and names
//! that look alike.

use crate::club::member::read_number;
use crate::club::names::{Likeness, NamedPlayer, NamesInUse, begins_like_formula, holds_number};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::game::Line;
use crate::game::any::GameKind;
use crate::house;
use crate::letter::Address;
use crate::letter::printable::is_printable;
use crate::referee::COMMAND_WORDS;
use crate::request::Request;
use crate::store::Player;

/// Maximum characters of a player's name: longer names do not fit the lines of our letters.
const MAX_NAME: usize = 40;

/// Words of those who speak for the club: no player's name holds one.
const OFFICES: [&str; 9] =
    ["gm", "gms", "referee", "umpire", "arbiter", "moderator", "admin", "postmaster", "daemon"];

/// Words by which letters and commands name seats.
const OF_SEATS: [&str; 5] = ["first", "second", "both", "all", "nobody"];

/// Checks whether this can be a player's name.
///
/// # Errors
/// Returns the requirement as a sentence if this cannot be a name.
pub fn fit_name(name: &str) -> Result<(), String> {
    let fits = (1..=MAX_NAME).contains(&name.chars().count()) && name.chars().all(is_printable);
    if !fits {
        return Err(format!("A name is one line of at most {MAX_NAME} letters."));
    }
    if !name.contains(char::is_alphanumeric) || begins_like_formula(name) {
        return Err("A name has a letter or a digit, and does not begin with =, +, - or @.".to_owned());
    }
    if holds_number(name) {
        return Err(
            "A name holds no player's number, such as P-12: my letters write it behind names.".to_owned()
        );
    }
    if names_something(name) {
        return Err("A name is no game, match, event, player's number, seat, level of the house or command."
            .to_owned());
    }
    match could_be_obeyed(name) {
        true => Err("A name must not read like an order or a command.".to_owned()),
        false => Ok(()),
    }
}

/// Returns a name for somebody of whom only the address is known.
pub fn name_from(address: &Address) -> String {
    name_of_mailbox(address.local())
}

/// Returns a name for the unknown sender of a letter: that of their mailbox, capitalized like their display name if
/// both have the same letters. Any other name could carry their words to people who never asked for them.
pub fn name_of_sender(address: &Address, written: Option<&str>) -> String {
    let local = address.local();
    let mut letters = written.unwrap_or_default().chars().filter(|c| c.is_alphanumeric());
    let with_capitals: Option<String> = local
        .chars()
        .map(|c| match c.is_alphanumeric() {
            true => letters.next().filter(|written| written.eq_ignore_ascii_case(&c)),
            false => Some(c),
        })
        .collect();
    name_of_mailbox(with_capitals.as_deref().unwrap_or(local))
}

/// Returns the player with this address. If there is none, adds one whom a GM calls so or, without a name, one named
/// after the mailbox.
pub fn player_called(desk: &mut Desk<'_>, name: &str, address: &Address) -> Decided<Player> {
    // Most people are known, and looking them up is faster than finding out whether a name could be obeyed.
    if let Some(player) = desk.player(address.as_str())? {
        return Ok(player);
    }
    let name = match name {
        "" => distinct_name(desk, &name_from(address), address)?,
        name => name.to_owned(),
    };
    desk.player_or_new(address.as_str(), &name)
}

/// Returns the name of a newcomer, which nobody has chosen for them. Anybody can name a mailbox like a player, so a name
/// that looks like another's says where the mailbox is.
pub fn distinct_name(desk: &Desk<'_>, name: &str, address: &Address) -> Decided<String> {
    if !is_taken(desk, name, None)? {
        return Ok(name.to_owned());
    }
    let half = |text: &str| text.chars().take(MAX_NAME / 2 - 2).collect::<String>();
    let longer = format!("{} at {}", half(name), half(address.domain()));
    Ok(if fit_name(&longer).is_ok() { longer } else { name.to_owned() })
}

/// Whether readers could take this name for that of the club, of a GM, of the house, or of a player other than `own`.
pub fn is_taken(desk: &Desk<'_>, name: &str, own: Option<i64>) -> Decided<bool> {
    let config = &desk.club.config;
    let likeness = Likeness::of(name);
    let is_like = |other: &str| likeness.is_like(&Likeness::of(other));
    let is_clubs = is_like(&config.club.name)
        || config.club.gm.all().iter().any(|gm| is_like(&gm.name))
        // Nobody may pass for the computer player, at any level.
        || likeness.begins_with("house")
        || names_office(name, &config.club.name);
    let mut stored = desk.rows.listed_players()?.iter().filter(|listed| Some(listed.id) != own);
    let is_others =
        stored.any(|other| is_like(&other.name) || other.member.kept_names(desk.at()).any(is_like));
    let mut saved = desk.draft.changes.players.iter().filter(|saved| Some(saved.id) != own);
    Ok(is_clubs || is_others || saved.any(|saved| is_like(&saved.name)))
}

/// Whether a name holds the word of an office or all words of the club's name: `The GM`, `Referee of the Fog Club`.
fn names_office(name: &str, club: &str) -> bool {
    let words_of = |text: &str| -> Vec<Likeness> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words.filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("the")).map(Likeness::of).collect()
    };
    let (words, of_club) = (words_of(name), words_of(club));
    let holds = |wanted: &Likeness| words.iter().any(|word| word.is_like(wanted));
    OFFICES.iter().any(|office| holds(&Likeness::of(office)))
        || words.first().is_some_and(|first| first.begins_with("house"))
        || of_club.len() > 1 && of_club.iter().all(holds)
}

/// Whether a player is called so, or was: somebody else at the same mailbox is not.
pub fn is_called(desk: &Desk<'_>, player: &Player, name: &str) -> bool {
    let likeness = Likeness::of(name);
    let mut names = player.member.kept_names(desk.at()).chain([player.name.as_str()]);
    names.any(|known| likeness.is_like(&Likeness::of(known)))
}

/// Says of each of these players whose names look like theirs.
pub fn namesakes(desk: &Desk<'_>, players: &[NamedPlayer]) -> Decided<Vec<String>> {
    let listed = desk.rows.listed_players()?.iter().filter(|listed| listed.is_person());
    let listed = listed.map(|listed| NamedPlayer { id: listed.id, name: listed.name.clone() });
    // The list holds neither players who were just added nor new names.
    let mut all: Vec<NamedPlayer> =
        listed.filter(|listed| players.iter().all(|player| player.id != listed.id)).collect();
    all.extend_from_slice(players);
    let in_use = NamesInUse::new(&all);
    Ok(players.iter().filter_map(|player| in_use.namesakes_of(player)).collect())
}

/// Returns an address of the same mailbox for another person, such as `fam+al@example.org`.
pub fn plus_address(address: &Address, name: &str) -> Option<Address> {
    let word = name.split_whitespace().next().unwrap_or("name").to_lowercase();
    let base = address.base();
    base.with_plus(&word).or_else(|_| base.with_plus("name")).ok().filter(Address::is_reachable)
}

/// Whether a name is also a game, a level of the house, or a word of a command, so that CHALLENGE would be ambiguous.
fn names_something(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let is_id = |prefix: &str| upper.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('-'));
    if is_id("EV") || GameKind::ALL.iter().any(|game| is_id(game.prefix())) || read_number(name).is_some() {
        return true;
    }
    let is_level =
        |game: &GameKind| house::levels(*game).iter().any(|level| level.name.eq_ignore_ascii_case(name));
    GameKind::parse(name).is_some()
        || OF_SEATS.iter().any(|word| word.eq_ignore_ascii_case(name))
        || GameKind::ALL.iter().any(is_level)
        || COMMAND_WORDS.iter().any(|word| word.eq_ignore_ascii_case(name))
}

/// Whether a line of a letter that begins with the name could be read as an order or a command, if the letter
/// came back unquoted.
fn could_be_obeyed(name: &str) -> bool {
    let line = [Line { no: 1, text: name.to_owned() }];
    GameKind::ALL.iter().any(|game| {
        let mut read = Request::read(&line, *game);
        // Ignore names such as `Will Hold`, which contain an order but are never wrapped, and names such as
        // `Star`, which only begin one.
        read.doubts.clear();
        read.orders.clear();
        let is_read = !read.is_empty() || read.ended || read.yes.is_some() || !read.sections.is_empty();
        is_read || game.syntax(name).is_ok() || ends_in_order(name, *game)
    })
}

/// Whether a line that is broken within the name could be an order, such as `E5`. No line is broken before a
/// word that begins an order or a command.
fn ends_in_order(name: &str, game: GameKind) -> bool {
    name.match_indices(' ').any(|(blank, _)| {
        let rest = name[blank..].trim_start();
        let first = rest.split(' ').next().unwrap_or_default();
        first.contains(|c: char| c.is_ascii_digit()) && game.syntax(rest).is_ok()
    })
}

fn name_of_mailbox(local: &str) -> String {
    let short: String = local.chars().take(MAX_NAME).collect();
    // The name of a mailbox such as `hold` could be obeyed, and that of one such as `e5` even after another
    // word.
    let longer = format!("player {}", local.chars().take(MAX_NAME / 2).collect::<String>());
    let mut names = [short, longer].into_iter();
    names.find(|name| fit_name(name).is_ok()).unwrap_or_else(|| "a player".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newcomer_keeps_the_capitals_of_their_name_and_nothing_else_of_it() {
        let name =
            |address: &str, written| name_of_sender(&Address::parse(address).expect("an address"), written);
        assert_eq!(name("carol@example.org", Some("Carol Smith")), "Carol");
        assert_eq!(name("carol.smith@example.org", Some("Carol Smith")), "Carol.Smith");
        assert_eq!(name("mcneil@example.org", Some("McNeil, Ian")), "McNeil");
        assert_eq!(name("carol@example.org", Some("Buy my pills")), "carol");
        assert_eq!(name("carol@example.org", None), "carol");
    }
}

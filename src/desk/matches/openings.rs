//! Opening a match: its name, its tokens, its secret, and the first letters to both players.

use anyhow::{Context as _, anyhow};

use super::player_names::fit_name;
use super::{holders, player_names};
use crate::config::Gm;
use crate::desk::frame::codes;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::random::RandomStream;
use crate::desk::frame::ratings;
use crate::desk::frame::rows::{Decided, Undecided, or_lacking};
use crate::desk::frame::stored::{match_row, seat_row};
use crate::desk::outbox::gms;
use crate::desk::outbox::ruling_mail::{self, Readers};
use crate::game::any::{Choices, GameKind};
use crate::game::{BySeat, Seat};
use crate::house::HouseLevel;
use crate::ledger::{Act, Cause, Lot, SealKey};
use crate::letter::{Address, Digest};
use crate::referee::{self, Match, Opening, Terms};
use crate::request::{Party, Whom};
use crate::store::{Player, TokenRow};

/// The hint for whoever names somebody whom the club does not know.
pub const NEW_NEEDS_ADDRESS: &str =
    "Somebody new needs an address: name@example.org or Name <name@example.org>.";

/// A person who gets a seat.
#[derive(Clone, Debug)]
pub struct NamedAddress {
    /// If empty, the stored name or the local part of the address is used.
    pub name: String,
    pub address: Address,
}

/// The future holder of a seat.
#[derive(Clone, Debug)]
pub enum Holder {
    Player(NamedAddress),
    House(&'static HouseLevel),
}

/// The holder of a seat as a GM names them, not yet looked up.
#[derive(Clone, Debug)]
pub enum WrittenHolder {
    Player(NamedAddress),
    /// A player of the club, by name, a part of it or number.
    Known(Whom),
    /// The house, at the club's default level if none is named.
    House(Option<String>),
}

impl WrittenHolder {
    /// Reads `name@example.org`, `Name <name@example.org>`, the name or number of a player, `house` or `house:LEVEL`.
    ///
    /// # Errors
    /// Returns why it is none of them.
    pub fn read(text: &str) -> Result<WrittenHolder, String> {
        match (Party::parse(text.trim()), Whom::read(text)) {
            (Some(Party::House(level)), _) => Ok(WrittenHolder::House(level)),
            _ if text.contains('@') => NamedAddress::read(text).map(WrittenHolder::Player),
            (_, Some(whom)) => Ok(WrittenHolder::Known(whom)),
            (_, None) => Err("name a person: Bo, P-12 or bo@example.org".to_owned()),
        }
    }
}

impl NamedAddress {
    fn read(text: &str) -> Result<NamedAddress, String> {
        let (name, address) = match text.trim().strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
            Some((name, address)) => (name.trim().trim_matches('"').to_owned(), address),
            None => (String::new(), text),
        };
        let address = Address::parse_given(address)
            .map_err(|fault| format!("it is {fault}; try name@example.org or Name <name@example.org>"))?;
        if !name.is_empty() {
            fit_name(&name)?;
        }
        Ok(NamedAddress { name, address })
    }
}

/// A match to be opened.
#[derive(Clone, Debug)]
pub struct NewMatch {
    pub game: GameKind,
    pub choices: Choices,
    pub players: BySeat<Holder>,
    pub terms: Terms,
}

/// A match whose name, holders and tokens are settled.
struct PlannedMatch {
    opening: Opening,
    seats: BySeat<TokenRow>,
    /// Additional sentences for the first letters.
    notes: Vec<String>,
}

/// Notes that a GM knows a player.
pub fn register(desk: &mut Desk<'_>, player: Player) -> Player {
    let mut player = desk.latest(player);
    if !player.member.registered {
        player.member.registered = true;
        desk.draft.changes.players.push(player.clone());
    }
    player
}

/// Returns the cause of a match that a GM opens.
pub fn opened_by_gm(gm: &Gm) -> Cause {
    Cause::Gm { name: gm.name.clone(), phase: 0, act: Act::Open { letter: None } }
}

/// Opens matches, all or none.
pub fn open_all(desk: &mut Desk<'_>, new: &[NewMatch], cause: &Cause) -> Decided<Vec<Match>> {
    open_each(desk, new, cause, &[])
}

/// Opens the matches of these pairings in an event, all or none. The name, the tokens and the secret of each follow from
/// its pairing, so that the clock opens the same match again after an older backup was restored.
pub fn open_paired(desk: &mut Desk<'_>, new: &[NewMatch], pairings: &[Digest]) -> Decided<Vec<Match>> {
    open_each(desk, new, &Cause::opening(None), pairings)
}

fn open_each(
    desk: &mut Desk<'_>,
    new: &[NewMatch],
    cause: &Cause,
    pairings: &[Digest],
) -> Decided<Vec<Match>> {
    // Draw all names before writing any letter: if many names are taken, this decision is repeated several
    // times.
    let mut planned = Vec::with_capacity(new.len());
    for (index, one) in new.iter().enumerate() {
        if let Some(pairing) = pairings.get(index) {
            desk.begin_cause(*pairing);
        }
        let plan = or_lacking(plan(desk, one, cause, None));
        planned.extend(plan.with_context(|| which_fails(index, new.len()))?);
    }
    desk.rows.check()?;
    let mut opened = Vec::with_capacity(new.len());
    for (index, plan) in planned.into_iter().enumerate() {
        let opening = or_lacking(carry_out(desk, plan, cause.clone()));
        opened.extend(opening.with_context(|| which_fails(index, new.len()))?);
    }
    desk.rows.check()?;
    Ok(opened)
}

/// Checks whether these matches can be opened. Registers nobody, which [`open_all`] does for newcomers.
pub fn check_all(desk: &mut Desk<'_>, new: &[NewMatch]) -> Decided<()> {
    for (index, one) in new.iter().enumerate() {
        or_lacking(check_players(desk, one)).with_context(|| which_fails(index, new.len()))?;
    }
    desk.rows.check()
}

fn check_players(desk: &Desk<'_>, new: &NewMatch) -> Decided<()> {
    check_addresses(desk, new)?;
    let mut seated = Vec::new();
    for (_, holder) in new.players.iter() {
        let Holder::Player(NamedAddress { name, address }) = holder else { continue };
        if !name.is_empty() {
            fit_name(name).map_err(anyhow::Error::msg)?;
        }
        let player = or_lacking(desk.player(address.as_str()))?.flatten();
        seated.push((address.clone(), player));
    }
    desk.rows.check()?;
    let [(first, one), (second, other)] = &seated[..] else { return Ok(()) };
    let is_one = one.is_some() && one.as_ref().map(|one| one.id) == other.as_ref().map(|other| other.id);
    match first == second || is_one {
        true => Err(both_sides(first.as_str(), new).into()),
        false => Ok(()),
    }
}

/// Returns the fault of a match whose two seats would go to one player. Two people may share a mailbox.
fn both_sides(player: &str, new: &NewMatch) -> anyhow::Error {
    let other = match &new.players.second {
        Holder::Player(NamedAddress { name, address }) => player_names::plus_address(address, name),
        Holder::House(_) => None,
    };
    let advice = other.map(|other| {
        format!("; if two people share the mailbox, the second needs a plus address, such as {other}")
    });
    anyhow!("{player} cannot play both sides{}", advice.unwrap_or_default())
}

/// Checks that nobody would write from the club's own address.
fn check_addresses(desk: &Desk<'_>, new: &NewMatch) -> anyhow::Result<()> {
    let own = &desk.club.config.club.address;
    let is_own = |holder: &Holder| matches!(holder, Holder::Player(player) if player.address.base() == *own);
    let has_own = new.players.iter().any(|(_, holder)| is_own(holder));
    if has_own { Err(anyhow!("{own} is the club's own address; a player needs another")) } else { Ok(()) }
}

/// Opens a match and writes its first letters. Its secret follows from the `lot` and the letter in the cause;
/// without a lot, it is drawn.
pub fn open_match(desk: &mut Desk<'_>, new: &NewMatch, cause: Cause, lot: Option<Lot>) -> Decided<Match> {
    let plan = plan(desk, new, &cause, lot)?;
    carry_out(desk, plan, cause)
}

/// Returns the house at a level as a player. Its address is not a mail address, so nobody can write from it
/// and nothing is sent to it.
pub fn house_player(desk: &mut Desk<'_>, level: &HouseLevel) -> Decided<Player> {
    desk.player_or_new(&format!("house:{}", level.name), &level.player_name())
}

fn which_fails(index: usize, matches: usize) -> String {
    match matches {
        1 => "the match cannot be opened".to_owned(),
        many => format!("no match was opened; match {} of {many} cannot be", index + 1),
    }
}

fn plan(desk: &mut Desk<'_>, new: &NewMatch, cause: &Cause, lot: Option<Lot>) -> Decided<PlannedMatch> {
    check_addresses(desk, new)?;
    // Each opening has its own stream, so that its name stays the same while another opening lacks rows.
    let (mut names, mut secrets) = (desk.random("name of a match"), desk.random("secret of a match"));
    let by_gm = matches!(cause, Cause::Gm { .. });
    let mut players = players_of(desk, new, by_gm)?;
    if by_gm {
        for seat in Seat::BOTH.into_iter().filter(|seat| matches!(new.players[*seat], Holder::Player(_))) {
            players[seat] = register(desk, players[seat].clone());
        }
    }
    let levels = new.players.as_ref().map(|holder| match holder {
        Holder::Player(_) => None,
        Holder::House(level) => Some(*level),
    });
    // The house may play itself, at two levels or at one.
    let is_of_house = levels.first.is_some() && levels.second.is_some();
    if players.first.id == players.second.id && !is_of_house {
        return Err(both_sides(&players.first.name, new).into());
    }
    let rated = ratings::rated_terms(desk, (new.game, &new.choices, &new.terms), &players, &levels)?;
    let id = free_name(desk, new.game, &mut names)?;
    let seats = BySeat::from_fn(|seat| TokenRow {
        token: desk.draw_token(&players[seat]).to_string(),
        match_id: id.clone(),
        seat,
        player: players[seat].clone(),
    });
    let key = match (&lot, cause.letters().next()) {
        (Some(lot), Some(letter)) => lot.secret(letter),
        _ => SealKey::new(secrets.bytes()),
    };
    let opening = Opening {
        id,
        game: new.game,
        choices: new.choices.clone(),
        players: BySeat::from_fn(|seat| players[seat].name.clone()),
        house: levels.map(|level| level.map(|level| level.name.to_owned())),
        terms: Terms { rated: rated.basis.is_some(), ..new.terms.clone() },
        settings: BySeat::from_fn(|seat| players[seat].settings.clone()),
        mail_identity: desk.club.identity.clone(),
        key,
        lot,
        holders: None,
        rating: rated.basis,
    };
    let notes = [Some(rated.note), event_note(desk, &new.terms)?].into_iter().flatten().collect();
    Ok(PlannedMatch { opening, seats, notes })
}

/// Returns the note about the event to which a match belongs: its end, and the person to ask.
fn event_note(desk: &Desk<'_>, terms: &Terms) -> Decided<Option<String>> {
    let Some(id) = &terms.event else { return Ok(None) };
    let Some(event) = desk.event_so_far(id)?.map(|loaded| &loaded.event) else { return Ok(None) };
    let Some(season) = event.running() else { return Ok(None) };
    let (name, unfinished) = (&event.plan.name, event.plan.unfinished.as_str());
    let (ends, gm) = (desk.local_time(season.ends), &gms::first_gm(desk).name);
    let context = minijinja::context! { id, name, ends, unfinished, missed => terms.forfeit_after, gm };
    Ok(Some(desk.club.templates.render("match/of-event.txt", context)?.trim().to_owned()))
}

fn carry_out(
    desk: &mut Desk<'_>,
    PlannedMatch { opening, seats, notes }: PlannedMatch,
    cause: Cause,
) -> Decided<Match> {
    let game = opening.game;
    let holders = Some(BySeat::from_fn(|seat| holders::pin_seat(desk, &seats[seat])));
    let mut ruling = referee::open(Opening { holders, ..opening }, cause, desk.at());
    let readers = Readers { notes: &notes, ..Readers::seats(&seats) };
    let rows = ruling_mail::word_and_pin(desk, &mut ruling, &readers)?;
    tracing::info!(match_id = ruling.after.id, %game, "match opened");
    let changes = &mut desk.draft.changes;
    // Version 0 makes the commit insert the row instead of updating one.
    changes.matches.push(match_row(&ruling.after, 0)?);
    changes.seats.extend(Seat::BOTH.map(|seat| seat_row(&seats[seat])));
    changes.entries.extend(rows.entries);
    changes.dispatches.extend(rows.dispatches);
    Ok(ruling.after)
}

/// `by_gm`: whether a GM has given the names of newcomers, rather than the newcomers themselves.
fn players_of(desk: &mut Desk<'_>, new: &NewMatch, by_gm: bool) -> Decided<BySeat<Player>> {
    let first = or_lacking(player_of(desk, &new.players.first, by_gm))?;
    let second = or_lacking(player_of(desk, &new.players.second, by_gm))?;
    match (first, second) {
        (Some(first), Some(second)) => Ok(BySeat::new(first, second)),
        _ => Err(Undecided::Lacks),
    }
}

fn player_of(desk: &mut Desk<'_>, holder: &Holder, by_gm: bool) -> Decided<Player> {
    match holder {
        Holder::Player(NamedAddress { name, address }) => {
            if !name.is_empty() {
                fit_name(name).map_err(anyhow::Error::msg)?;
            }
            let is_new = !by_gm && desk.player(address.as_str())?.is_none();
            match name.as_str() {
                name if is_new && !name.is_empty() => {
                    let name = player_names::distinct_name(desk, name, address)?;
                    desk.player_or_new(address.as_str(), &name)
                }
                name => player_names::player_called(desk, name, address),
            }
        }
        Holder::House(level) => house_player(desk, level),
    }
}

/// Draws a name that no match has.
fn free_name(desk: &mut Desk<'_>, game: GameKind, random: &mut RandomStream) -> Decided<String> {
    loop {
        let id = draw_name(game, random);
        // Reserve the name only once it is known to be free: a decision that lacks the row must not reserve
        // any.
        if !desk.rows.is_taken(&id)? && desk.take_name(&id) {
            return Ok(id);
        }
    }
}

/// Draws a name such as `QZ-7K3M`.
fn draw_name(game: GameKind, random: &mut RandomStream) -> String {
    format!("{}-{}", game.prefix(), String::from_iter(codes::letters_of(random.bytes::<4>())))
}

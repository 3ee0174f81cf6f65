//! Arguments that several commands share, and how they are parsed.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use clap::CommandFactory as _;
use clap::error::ErrorKind;

use crate::club::names::{NamedPlayer, find_player, may_mean};
use crate::config::{Config, Gms, HouseSection};
use crate::daemon::{GmIndex, Holder, NEW_NEEDS_ADDRESS, NamedAddress, Office, Unseal, WrittenHolder};
use crate::game::any::{Choices, GameKind};
use crate::game::{BySeat, Line, Seat, record};
use crate::house;
use crate::letter::Address;
use crate::post::text_file;
use crate::referee::{TERM_NAMES, Terms};
use crate::request::Whom;
use crate::store::{Player, TokenRow};

/// Parses the reason of an act, which players are told.
pub(super) fn reason(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("must say why, because both players are told".to_owned()),
        reason => Ok(reason.to_owned()),
    }
}

/// Parses a seat where no match says who holds it.
pub(super) fn side_of_match(text: &str) -> Result<Seat, String> {
    Seat::parse(text).ok_or_else(|| "must be first or second".to_owned())
}

/// A seat of a match, as written: which one, or who holds it.
#[derive(Clone, Debug)]
pub(super) enum SeatArgument {
    Seat(Seat),
    Holder(Whom),
}

impl SeatArgument {
    /// Returns the seat that is meant in a match.
    ///
    /// # Errors
    /// Returns an error if there is no such match, or if it is not clear whose seat is meant. It says who sits where.
    pub(super) async fn seat(&self, office: &Office, id: &str) -> anyhow::Result<Seat> {
        let whom = match self {
            SeatArgument::Seat(seat) => return Ok(*seat),
            SeatArgument::Holder(whom) => whom,
        };
        let id = id.to_ascii_uppercase();
        let rows = office.store.seats_of(std::slice::from_ref(&id)).await?;
        ensure!(!rows.is_empty(), "there is no match {id}; `fogpost match list` lists them all");
        let holds = |row: &&TokenRow| match whom {
            Whom::Address(address) => row.player.addresses.iter().any(|own| own == address.as_str()),
            Whom::Named(written) => {
                may_mean(written, &NamedPlayer { id: row.player.id, name: row.player.name.clone() })
            }
        };
        let meant: Vec<Seat> = rows.iter().filter(holds).map(|row| row.seat).collect();
        let sits: Vec<String> =
            rows.iter().map(|row| format!("{} ({})", row.player.name, row.seat)).collect();
        match meant[..] {
            [seat] => Ok(seat),
            [] => bail!("nobody in {id} is called so: {} play there", sits.join(" and ")),
            _ => bail!("that fits both in {id}: {}", sits.join(" and ")),
        }
    }
}

/// Parses `first`, `second`, or the person who holds a seat.
pub(super) fn seat(text: &str) -> Result<SeatArgument, String> {
    match Seat::parse(text) {
        Some(seat) => Ok(SeatArgument::Seat(seat)),
        None => match whom(text) {
            Ok(whom) => Ok(SeatArgument::Holder(whom)),
            Err(_) => Err("must be first or second, or the player who sits there".to_owned()),
        },
    }
}

pub(super) fn game(text: &str) -> Result<GameKind, String> {
    GameKind::parse(text).ok_or_else(|| {
        let known: Vec<_> = GameKind::ALL.iter().map(|kind| kind.key()).collect();
        format!("known games are {}", known.join(", "))
    })
}

pub(super) fn address(text: &str) -> Result<Address, String> {
    Address::parse(text).map_err(|_| "try name@example.org".to_owned())
}

/// Ends the program like any other faulty command line, with the usage of the command that was given.
pub(super) fn usage(fault: &str) -> ! {
    let mut command = super::Cli::command();
    command.build();
    for word in std::env::args().skip(1) {
        command = command.find_subcommand(&word).cloned().unwrap_or(command);
    }
    command.error(ErrorKind::ValueValidation, fault).exit()
}

/// Options for carrying out a GM's act and printing the result.
#[derive(Clone, Copy, clap::Args)]
pub(super) struct Output {
    /// Only show what would be done, and do nothing
    #[arg(long, global = true)]
    pub(super) check: bool,
    /// Print JSON, one object per line
    #[arg(long, global = true)]
    pub(super) json: bool,
}

/// The GM who acts.
#[derive(clap::Args)]
pub(super) struct ActingGm {
    /// Name of the GM who acts; by default the first one in the config
    #[arg(long, global = true, value_name = "NAME")]
    gm: Option<String>,
}

impl ActingGm {
    /// # Errors
    /// Returns an error if no GM has this name.
    pub(super) fn index(&self, gms: &Gms) -> anyhow::Result<GmIndex> {
        let Some(name) = &self.gm else { return Ok(GmIndex::default()) };
        Ok(GmIndex(gms.named(name).with_context(|| format!("no GM is called {name}"))?))
    }
}

/// A GM's request to see what the rules hide, with a reason.
#[derive(clap::Args)]
pub(super) struct UnsealingRequest {
    /// Show what the rules hide in a running match, for this reason; the ledger records that, and both
    /// players are told with the result
    #[arg(long, value_name = "REASON")]
    unseal: Option<String>,
    /// Name of the GM who looks, which need not be given if there is only one; a GM with a seat in the match is refused
    #[arg(long, value_name = "NAME", requires = "unseal")]
    gm: Option<String>,
}

impl UnsealingRequest {
    /// # Errors
    /// Returns an error if no GM has this name, or if the reason is not acceptable.
    pub(super) fn asked(&self, gms: &Gms) -> anyhow::Result<Option<Unseal>> {
        let Some(reason) = &self.unseal else { return Ok(None) };
        let name = match (&self.gm, gms.all()) {
            (Some(name), _) => name,
            (None, [only]) => &only.name,
            (None, _) => bail!("--unseal needs --gm NAME, because the ledger names who looks"),
        };
        Unseal::new(gms, name, reason).map(Some).map_err(anyhow::Error::msg)
    }
}

/// Parses a name, a part of one, a number such as `P-12`, an address, or `Name <address>`.
pub(super) fn whom(text: &str) -> Result<Whom, String> {
    Whom::read(text).ok_or_else(|| "name a person: Bo, P-12 or bo@example.org".to_owned())
}

/// Finds a person among these players.
///
/// # Errors
/// Returns a sentence for the GM if nobody is meant, or if several people fit.
pub(super) fn person<'a>(whom: &Whom, people: &'a [Player]) -> Result<&'a Player, String> {
    match whom {
        Whom::Address(address) => {
            let has = |player: &&Player| player.addresses.iter().any(|own| own == address.as_str());
            people.iter().find(has).ok_or_else(|| format!("Nobody has the address {address}."))
        }
        Whom::Named(written) => {
            let known = people.iter().filter(|player| !player.is_house());
            let known: Vec<NamedPlayer> =
                known.map(|player| NamedPlayer { id: player.id, name: player.name.clone() }).collect();
            let id = find_player(written, &known).only(written)?;
            let found = people.iter().find(|player| player.id == id);
            found.ok_or_else(|| format!("Nobody is called {written}."))
        }
    }
}

/// Returns an address of a person, who is among these players if no address is written.
///
/// # Errors
/// Returns a sentence for the GM if nobody is meant, or if several people fit.
pub(super) fn address_of(whom: &Whom, people: &[Player]) -> Result<Address, String> {
    if let Whom::Address(address) = whom {
        return Ok(address.clone());
    }
    let player = person(whom, people)?;
    let address = player.addresses.first().and_then(|address| Address::parse(address).ok());
    address.ok_or_else(|| format!("{} has no mail address.", player.name))
}

/// Returns the holder of a seat in this game. `house` has the club's default level.
///
/// # Errors
/// Returns an error if the house does not play the game, or has no such level in it, or if it is not clear which of
/// the `people` is meant.
pub(super) fn holder_of(
    written: WrittenHolder,
    game: GameKind,
    house: &HouseSection,
    people: &[Player],
) -> Result<Holder, String> {
    match written {
        WrittenHolder::Player(player) => Ok(Holder::Player(player)),
        WrittenHolder::Known(whom) => {
            let address = address_of(&whom, people).map_err(|says| format!("{says} {NEW_NEEDS_ADDRESS}"))?;
            Ok(Holder::Player(NamedAddress { name: String::new(), address }))
        }
        WrittenHolder::House(level) => {
            let levels: Vec<_> = house::levels(game).iter().map(|level| level.name).collect();
            house.level(game, level.as_deref()).map(Holder::House).map_err(|_| match levels[..] {
                [] => format!("the house does not play {}", game.name()),
                _ => format!("the house plays {} at the levels {}", game.name(), levels.join(", ")),
            })
        }
    }
}

/// Returns the options of a match between these two. `given` overrides the options of the house's level.
///
/// # Errors
/// Returns an error if the game has no such option, or the option does not take the value.
pub(super) fn choices(
    game: GameKind,
    players: &BySeat<Holder>,
    given: &[(&str, &str)],
) -> Result<Choices, String> {
    match [&players.first, &players.second] {
        [Holder::House(level), _] | [_, Holder::House(level)] => house::choices_at(game, level, given),
        _ => game.choose(given.iter().copied()),
    }
}

/// Returns the club's terms for a match between these two.
pub(super) fn terms(config: &Config, players: &BySeat<Holder>) -> Terms {
    let advance = match [&players.first, &players.second] {
        [Holder::Player(_), Holder::House(_)] | [Holder::House(_), Holder::Player(_)] => config.house.advance,
        [Holder::Player(_), Holder::Player(_)] | [Holder::House(_), Holder::House(_)] => false,
    };
    Terms { advance, ..config.terms.clone() }
}

/// The terms of a new match that differ from the club's.
#[derive(clap::Args)]
pub(super) struct TermsArguments {
    /// Days for each turn
    #[arg(long, value_name = "DAYS")]
    days: Option<String>,
    /// Days for the setup
    #[arg(long, value_name = "DAYS")]
    setup_days: Option<String>,
    /// Time zone of the deadlines, such as Europe/Berlin
    #[arg(long)]
    zone: Option<String>,
    /// Hour at which turns are due, 0 to 23
    #[arg(long)]
    hour: Option<String>,
    /// Whether a turn may be due on a Saturday or Sunday: on or off
    #[arg(long, value_name = "ON|OFF")]
    weekends: Option<String>,
    /// Hours after the deadline during which orders still count
    #[arg(long, value_name = "HOURS")]
    grace_hours: Option<String>,
    /// Minutes from the last filing to the adjudication
    #[arg(long, value_name = "MINUTES")]
    settle_minutes: Option<String>,
    /// Minutes until orders count whose letter also says something else
    #[arg(long, value_name = "MINUTES")]
    settle_words: Option<String>,
    /// Hours before the deadline at which players are reminded, such as 48,12
    #[arg(long, value_name = "HOURS")]
    reminders_hours: Option<String>,
    /// Consecutive missed turns after which the rule of --forfeit applies
    #[arg(long, value_name = "TURNS")]
    forfeit_after: Option<String>,
    /// Consequence of too many missed turns: ask (the GM) or lose
    #[arg(long, value_name = "ASK|LOSE")]
    forfeit: Option<String>,
    /// Successor of a player who missed too many turns: ask (the GM), house or none
    #[arg(long, value_name = "ASK|HOUSE|NONE")]
    substitute: Option<String>,
    /// Days of absence allowed to each player
    #[arg(long, value_name = "DAYS")]
    absence_days: Option<String>,
    /// Messages between the players: signed or none
    #[arg(long, value_name = "SIGNED|NONE")]
    press: Option<String>,
    /// Whether the match may be rated: on or off
    #[arg(long, value_name = "ON|OFF")]
    rated: Option<String>,
    /// Extra days that each side can use after deadlines, 0 to 60
    #[arg(long, value_name = "DAYS")]
    bank: Option<String>,
}

impl TermsArguments {
    /// Sets the terms that are given.
    ///
    /// # Errors
    /// Returns a sentence with the name and the value if a value is not valid.
    pub(super) fn apply(&self, terms: &mut Terms) -> Result<(), String> {
        for (name, value) in self.given() {
            terms.set(name, value)?;
        }
        Ok(())
    }

    /// Returns the names and values of the terms that are given.
    pub(super) fn given(&self) -> Vec<(&'static str, &str)> {
        let all = [
            &self.days,
            &self.setup_days,
            &self.zone,
            &self.hour,
            &self.weekends,
            &self.grace_hours,
            &self.settle_minutes,
            &self.settle_words,
            &self.reminders_hours,
            &self.forfeit_after,
            &self.forfeit,
            &self.substitute,
            &self.absence_days,
            &self.press,
            &self.rated,
            &self.bank,
        ];
        let named = TERM_NAMES.into_iter().zip(all);
        named.filter_map(|(name, value)| Some((name, value.as_deref()?))).collect()
    }
}

/// Maximum bytes of a file with orders, matches or a record. The longest record of a test match takes 200 kB.
pub(super) const MAX_TEXT_BYTES: u64 = 16 * 1024 * 1024;

/// Reads a file of at most `limit` bytes, or standard input for `-`. Rejects a larger file before reading it.
///
/// # Errors
/// Returns an error if the file cannot be read or is larger.
pub(super) fn read_file(file: &Path, limit: u64) -> anyhow::Result<Vec<u8>> {
    match file.to_str() {
        Some("-") => read_within(io::stdin().lock(), limit).context("failed to read standard input"),
        _ => read_whole(file, limit).with_context(|| file.display().to_string()),
    }
}

/// Reads a text of at most [`MAX_TEXT_BYTES`], as [`read_file`] does.
///
/// # Errors
/// Returns an error if the file cannot be read, is larger, or is not UTF-8.
pub(super) fn read_text(file: &Path) -> anyhow::Result<String> {
    let bytes = read_file(file, MAX_TEXT_BYTES)?;
    text_file::decode(bytes).with_context(|| file.display().to_string())
}

fn read_whole(file: &Path, limit: u64) -> anyhow::Result<Vec<u8>> {
    let file = File::open(file)?;
    ensure!(file.metadata()?.len() <= limit, too_large(limit));
    read_within(file, limit)
}

/// Reads to the end. The size of a pipe or a device is not known in advance.
fn read_within(mut input: impl Read, limit: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.by_ref().take(limit + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() as u64 <= limit, too_large(limit));
    Ok(bytes)
}

fn too_large(limit: u64) -> String {
    format!("it is larger than {} MB", limit / 1024 / 1024)
}

/// Reads the order lines of a file, or of standard input for `-`.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub(super) fn orders(file: &Path) -> anyhow::Result<Vec<Line>> {
    Ok(record::lines(&read_text(file)?))
}

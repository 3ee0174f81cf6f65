//! Opening a match: its name, its tokens, its secret; both players are written to.

use anyhow::{Context, bail};

use super::Office;
use super::write::match_row;
use crate::game::any::{Choices, GameKind};
use crate::game::{BySeat, HouseLevel, Seat};
use crate::ledger::{SealKey, Source};
use crate::letter::{Address, Token};
use crate::referee::{self, Match, Opening, Terms};
use crate::store::{Player, SeatRow, Settlement, StoreError, TokenRow};

/// Somebody who is to hold a seat.
#[derive(Clone, Debug)]
pub struct NamedAddress {
    /// Empty: the name that is known, or the beginning of the address.
    pub name: String,
    pub address: Address,
}

/// Who is to hold a seat.
#[derive(Clone, Debug)]
pub enum Holder {
    Player(NamedAddress),
    House(&'static HouseLevel),
}

/// A longer name, in characters, breaks the lines of our letters.
const NAME_AT_MOST: usize = 40;

/// Whether this can be a player's name.
///
/// # Errors
/// What would do, as a sentence.
pub fn fit_name(name: &str) -> Result<(), String> {
    let fits = (1..=NAME_AT_MOST).contains(&name.chars().count()) && !name.contains(char::is_control);
    match fits {
        true => Ok(()),
        false => Err(format!("A name is one line of at most {NAME_AT_MOST} letters.")),
    }
}

/// The name of somebody of whom only the address is known.
pub(super) fn name_from(address: &Address) -> String {
    address.local().chars().take(NAME_AT_MOST).collect()
}

/// A match to be opened.
#[derive(Clone, Debug)]
pub struct NewMatch {
    pub game: GameKind,
    pub choices: Choices,
    pub players: BySeat<Holder>,
    pub terms: Terms,
}

/// The letters of names and codes: Crockford's, so that none is taken for another.
pub(super) const CODE_LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

impl Office {
    /// Opens a match in the name of the GM and puts the first letters on the outbox.
    ///
    /// # Errors
    /// Both seats would go to one player; the database does not answer.
    pub async fn open(&self, new: NewMatch) -> anyhow::Result<Match> {
        let opened = self.open_all(&[new]).await?;
        opened.into_iter().next().context("one match was to be opened")
    }

    /// Opens several matches, all or none.
    ///
    /// # Errors
    /// As for one.
    pub async fn open_all(&self, new: &[NewMatch]) -> anyhow::Result<Vec<Match>> {
        let gm = Source::Gm { name: self.config.club.gm.name.clone(), act: None };
        // Somebody else may take a name that was free when it was drawn.
        for _ in 0..20 {
            let mut settlement = Settlement { at: self.now(), ..Settlement::default() };
            let mut opened = Vec::with_capacity(new.len());
            for (at, one) in new.iter().enumerate() {
                let opening = self.open_into(one, gm.clone(), &mut settlement).await;
                let which = || match new.len() {
                    1 => "the match cannot be opened".to_owned(),
                    many => format!("no match was opened; match {} of {many} cannot be", at + 1),
                };
                opened.push(opening.with_context(which)?);
            }
            match self.store.commit(&settlement).await {
                Ok(()) => {
                    self.committed(&settlement);
                    return Ok(opened);
                }
                Err(StoreError::Stale(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bail!("no free name for a match was found")
    }

    /// Puts a new match and its first letters on the settlement.
    ///
    /// # Errors
    /// Both seats would go to one player; the database does not answer.
    pub(super) async fn open_into(
        &self,
        new: &NewMatch,
        source: Source,
        settlement: &mut Settlement,
    ) -> anyhow::Result<Match> {
        let now = self.now();
        let mut players = Vec::new();
        for (_, holder) in new.players.iter() {
            players.push(match holder {
                Holder::Player(NamedAddress { name, address }) => {
                    let name = if name.is_empty() { name_from(address) } else { name.clone() };
                    fit_name(&name).map_err(anyhow::Error::msg)?;
                    self.store.find_or_add_player(address.as_str(), &name, now).await?
                }
                Holder::House(level) => self.house_player(level).await?,
            });
        }
        let Ok([first, second]) = <[Player; 2]>::try_from(players) else { bail!("a match has two players") };
        if first.id == second.id {
            bail!("{} cannot play both sides", first.name);
        }
        let house = new.players.as_ref().map(|holder| match holder {
            Holder::Player(_) => None,
            Holder::House(level) => Some(level.name.to_owned()),
        });
        if house.first.is_some() && house.second.is_some() {
            bail!("one of the two seats at least is a player's");
        }
        let players = BySeat::new(first, second);
        let mut id = name(new.game)?;
        while settlement.matches.iter().any(|row| row.id == id)
            || !self.store.matches(std::slice::from_ref(&id)).await?.is_empty()
        {
            id = name(new.game)?;
        }
        let seats = self.seats(&players, &id)?;
        let opening = Opening {
            id: seats.first.match_id.clone(),
            game: new.game,
            choices: new.choices.clone(),
            players: BySeat::from_fn(|seat| players[seat].name.clone()),
            house,
            terms: new.terms.clone(),
            desk: self.desk.clone(),
            key: SealKey::new(random()?),
        };
        let mut ruling = referee::open(opening, source, now);
        let (entries, dispatches) = self.rows(&mut ruling, &seats, None, None, &[], now).await?;
        tracing::info!(match_id = ruling.after.id, game = %new.game, "a match opens");
        settlement.matches.push(match_row(&ruling.after, 0)?);
        settlement.seats.extend(Seat::BOTH.map(|seat| seat_row(&seats[seat])));
        settlement.entries.extend(entries);
        settlement.dispatches.extend(dispatches);
        Ok(ruling.after)
    }

    /// The house at a level, where a seat wants a player. What stands for its address is none: nobody can write from
    /// there, and nothing is sent there.
    pub(super) async fn house_player(&self, level: &HouseLevel) -> anyhow::Result<Player> {
        let stand_in = format!("house:{}", level.name);
        Ok(self.store.find_or_add_player(&stand_in, &level.player_name(), self.now()).await?)
    }

    fn seats(&self, players: &BySeat<Player>, match_id: &str) -> anyhow::Result<BySeat<TokenRow>> {
        let row = |seat: Seat| -> anyhow::Result<TokenRow> {
            let token = Token::from_random(random()?).to_string();
            Ok(TokenRow { token, match_id: match_id.to_owned(), seat, player: players[seat].clone() })
        };
        Ok(BySeat::new(row(Seat::First)?, row(Seat::Second)?))
    }
}

pub(super) fn seat_row(row: &TokenRow) -> SeatRow {
    SeatRow {
        match_id: row.match_id.clone(),
        seat: row.seat,
        player_id: row.player.id,
        token: row.token.clone(),
    }
}

/// `QZ-7K3M`.
fn name(game: GameKind) -> anyhow::Result<String> {
    let letters: [u8; 4] = random()?;
    let letters = letters.map(|byte| char::from(CODE_LETTERS[usize::from(byte % 32)]));
    Ok(format!("{}-{}", game.prefix(), String::from_iter(letters)))
}

pub(super) fn random<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    Ok(bytes)
}

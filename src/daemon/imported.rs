//! Imports the dossier of a finished match that another club refereed.
//!
//! Whoever made the dossier chose everything in it: the names, the addresses, and letters that prove whatever they like.
//! So its players are none of ours. They get no address here: nobody can write as one of them, nothing is sent to them,
//! and the match is not listed among those of a player of this club. The addresses are kept apart, for the audit alone.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};

use super::Office;
use super::decide::openings::{CODE_LETTERS, fitting_name};
use super::decide::stored::match_row;
use super::incoming::new_letter;
use crate::audit::AuditVerdict;
use crate::audit::dossier::{DispatchRecord, Dossier, LetterRecord, SeatHolder};
use crate::config::Config;
use crate::game::{BySeat, HouseLevel, Seat};
use crate::ledger::{ChainedEntry, Entry, Fact};
use crate::letter::Address;
use crate::letter::printable::is_printable;
use crate::post::FetchedLetter;
use crate::referee::{Match, Stage};
use crate::store::{
    self, EntryRow, LetterDecision, LetterStatus, NewDispatch, NewLetter, Newcomer, SeatRow, Settlement,
    Urgency,
};

/// Maximum addresses of a player in a dossier.
const MAX_ADDRESSES: usize = 20;

/// Maximum characters of the club's name in a dossier.
const MAX_CLUB_NAME: usize = 100;

/// The name of a player whose own cannot be one here.
const NAMELESS: &str = "a player";

/// Returns the key under which the addresses of an imported match's players are remembered.
fn key_of_addresses(match_id: &str) -> String {
    format!("addresses in the dossier of {match_id}")
}

impl Office {
    /// Returns the addresses of a match's players. Those of an imported match are the ones that its dossier named.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn addresses_of_seats(&self, match_id: &str) -> anyhow::Result<BySeat<Vec<String>>> {
        let mut addresses: BySeat<Vec<String>> = BySeat::default();
        for seat in self.store.seats_of(&[match_id.to_owned()]).await? {
            addresses[seat.seat] = seat.player.addresses;
        }
        if addresses.iter().all(|(_, own)| !own.is_empty()) {
            return Ok(addresses);
        }
        let remembered = self.store.remembered(&key_of_addresses(match_id)).await?;
        // A value that was changed proves nothing: the letters then have no known sender.
        Ok(remembered.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or(addresses))
    }

    /// Imports a finished match of another club, if its dossier verifies. The letters that were sent there are stored,
    /// and never sent from here.
    ///
    /// # Errors
    /// Returns an error if the dossier does not verify, if the match is not over or already exists here, or if the
    /// database does not answer. Nothing is then stored.
    pub async fn take_dossier(&self, dossier: Dossier) -> anyhow::Result<AuditVerdict> {
        ensure_fit(&dossier)?;
        let id = dossier.game_match.id.clone();
        ensure!(
            dossier.game_match.stage == Stage::Over,
            "{id} is not over: only finished matches can be imported"
        );
        ensure!(self.store.matches(std::slice::from_ref(&id)).await?.is_empty(), "{id} already exists here");
        let verdict = self.verify_dossier(&dossier).await?;
        if let Some(finding) = verdict.findings.first() {
            bail!("{id} does not verify; {}: {}", finding.place, finding.what);
        }
        self.store_dossier(dossier).await?;
        Ok(verdict)
    }

    /// Verifies a dossier in a temporary database.
    async fn verify_dossier(&self, dossier: &Dossier) -> anyhow::Result<AuditVerdict> {
        let name = format!("fogpost-dossier-{}-{}", std::process::id(), self.now().timestamp_micros());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        let verdict = self.verify_dossier_in(&folder, dossier).await;
        if let Err(error) = std::fs::remove_dir_all(&folder) {
            tracing::warn!(folder = %folder.display(), %error, "failed to delete a temporary folder");
        }
        verdict
    }

    async fn verify_dossier_in(&self, folder: &Path, dossier: &Dossier) -> anyhow::Result<AuditVerdict> {
        let store = store::open(&store::sqlite_url(&folder.join("dossier.db"))).await?;
        let temporary = Office::new(Config::clone(&self.config), store, Arc::clone(&self.clock))?;
        temporary.store_dossier(dossier.clone()).await?;
        let verdict = temporary.verify(&dossier.game_match.id, &|_| ()).await;
        temporary.store.close().await;
        verdict
    }

    /// Stores a dossier in one transaction.
    async fn store_dossier(&self, dossier: Dossier) -> anyhow::Result<()> {
        let Dossier { club, players, game_match, entries, letters, dispatches, pins } = dossier;
        let id = game_match.id.clone();
        let (mut seats, mut newcomers) = (Vec::new(), Vec::new());
        for (seat, holder) in players.iter() {
            let token = holder.token.clone();
            let level = played_by_house(&game_match, seat);
            let address = level.map(|level| format!("house:{}", level.name));
            let known = match &address {
                Some(address) => self.store.player_by_address(address).await?,
                None => None,
            };
            match known {
                Some(player) => {
                    seats.push(SeatRow { match_id: id.clone(), seat, player_id: player.id, token });
                }
                None => newcomers.push(Newcomer {
                    name: level.map_or_else(|| name_of(holder), HouseLevel::player_name),
                    addresses: address.into_iter().collect(),
                    seats: vec![(id.clone(), seat, token)],
                }),
            }
        }
        let decided = letters.iter().map(|(record, _)| LetterDecision {
            digest: record.letter,
            status: LetterStatus::Ruled,
            note: format!("from a dossier of {club}"),
            seat: Some((id.clone(), record.seat)),
            accepted_by: None,
        });
        let addresses = BySeat::from_fn(|seat| players[seat].addresses.clone());
        let settlement = Settlement {
            at: self.now(),
            decided: decided.collect(),
            letters: letters.into_iter().map(|(record, raw)| received(&id, record, raw)).collect(),
            matches: vec![match_row(&game_match, 0)?],
            seats,
            seat_pins: pins.into_iter().map(|kept| (id.clone(), kept)).collect(),
            newcomers,
            entries: entries.into_iter().map(|entry| EntryRow::from(&ChainedEntry::from(entry))).collect(),
            posted: dispatches.into_iter().map(|(record, bytes)| posted(&id, record, bytes)).collect(),
            remembered: vec![
                (imported_key(&id), club.clone()),
                (key_of_addresses(&id), serde_json::to_string(&addresses)?),
            ],
            ..Settlement::default()
        };
        Ok(self.store.commit(&settlement).await?)
    }
}

/// The key under which the club is remembered that refereed a match.
pub fn imported_key(match_id: &str) -> String {
    format!("imported {match_id}")
}

fn received(id: &str, record: LetterRecord, raw: Vec<u8>) -> NewLetter {
    let (received_at, size) = (record.received_at, raw.len() as u64);
    let origin = format!("dossier:{id}");
    new_letter(FetchedLetter { raw, received_at, origin, cut: false, size, is_spam: false })
}

fn posted(id: &str, record: DispatchRecord, bytes: Vec<u8>) -> NewDispatch {
    NewDispatch {
        message_id: record.message_id,
        recipient: record.recipient,
        bytes,
        kind: record.kind,
        match_id: Some(id.to_owned()),
        seat: record.seat,
        answers: None,
        asked: None,
        due: None,
        urgency: Urgency::of(record.kind, true),
        pin: None,
        sent_at: record.sent_at,
    }
}

/// The level at which the house plays a seat, if it does.
fn played_by_house(game_match: &Match, seat: Seat) -> Option<&'static HouseLevel> {
    game_match.game.level(game_match.house[seat].as_deref()?)
}

/// A name for the player in our lists.
fn name_of(holder: &SeatHolder) -> String {
    let fitting = fitting_name(&holder.name, NAMELESS);
    if fitting.trim().is_empty() { NAMELESS.to_owned() } else { fitting }
}

/// Ensures that nothing in the dossier can do harm where it is listed.
fn ensure_fit(dossier: &Dossier) -> anyhow::Result<()> {
    let Dossier { club, players, game_match, entries, .. } = dossier;
    let Match { id, game, .. } = game_match;
    let code = id.strip_prefix(game.prefix()).and_then(|rest| rest.strip_prefix('-'));
    let is_name = code.is_some_and(|code| code.len() == 4 && code.bytes().all(|c| CODE_LETTERS.contains(&c)));
    ensure!(is_name, "the match has a name that no match has");
    ensure!(
        club.chars().count() <= MAX_CLUB_NAME && club.chars().all(is_printable),
        "the club's name is too long, or has characters that cannot be printed"
    );
    // The names in the ledger are hashed, so they cannot be cleaned.
    let in_ledger = game_match.players.iter().map(|(_, name)| name.as_str()).chain(names_in(entries));
    ensure!(
        in_ledger.flat_map(str::chars).all(is_printable),
        "a name in the ledger has characters that cannot be printed"
    );
    players.iter().try_for_each(|(_, holder)| ensure_addresses(holder))
}

/// The players' names in a ledger.
fn names_in(entries: &[Entry]) -> impl Iterator<Item = &str> {
    entries.iter().flat_map(|entry| match &entry.fact {
        Fact::MatchOpened { players, .. } => vec![players.first.as_str(), players.second.as_str()],
        Fact::PlayerReplaced { to, .. } | Fact::PlayerRenamed { to, .. } => vec![to.as_str()],
        _ => Vec::new(),
    })
}

fn ensure_addresses(holder: &SeatHolder) -> anyhow::Result<()> {
    ensure!(holder.addresses.len() <= MAX_ADDRESSES, "a player has more than {MAX_ADDRESSES} addresses");
    let is_address = |address: &String| Address::parse(address).is_ok() || address.starts_with("house:");
    ensure!(holder.addresses.iter().all(is_address), "a player has an address that is none");
    Ok(())
}

//! Everything stored about one match: for its account, and for dossiers, which are exported here and imported.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};

use super::Office;
use super::decide::clock::Trigger;
use super::decide::openings::fitting_name;
use super::decide::stored::{both_seats, entry_row, match_row, snapshot};
use super::incoming::new_letter;
use crate::audit::AuditVerdict;
use crate::audit::account::{ArchivedDispatch, MatchArchive};
use crate::audit::dossier::{self, About, Dossier, LetterRecord, SeatHolder};
use crate::config::Config;
use crate::game::any::GameKind;
use crate::game::{BySeat, Seat};
use crate::ledger::{Entry, Fact, Source};
use crate::letter::{Address, Digest};
use crate::post::FetchedLetter;
use crate::referee::{Act, Stage};
use crate::store::{self, LetterDecision, LetterStatus, NewDispatch, Newcomer, SeatRow, Settlement, Urgency};

/// Maximum addresses of a player in a dossier.
const MAX_ADDRESSES: usize = 20;

impl Office {
    /// Returns everything stored about a match. While the match runs, this includes what the rules hide, so it must be
    /// `unsealed`, and the ledger notes for `what`.
    ///
    /// # Errors
    /// Returns an error if there is no such match, if it runs and is not `unsealed`, or if the database does not
    /// answer.
    pub async fn material(&self, match_id: &str, unsealed: bool, what: &str) -> anyhow::Result<MatchArchive> {
        let id = match_id.to_ascii_uppercase();
        let row = self.match_row(&id).await?;
        let mut game_match = snapshot(&row.id, &row.snapshot)?;
        if game_match.stage != Stage::Over {
            ensure!(
                unsealed,
                "{id} is not over, and this shows what the rules hide; --unsealed shows it and is noted in the ledger"
            );
            let act = Act::Unseal { what: what.to_owned() };
            let name = self.config.club.gm.first().name.clone();
            match self.rule_on(row, &Trigger::Gm { name, act }, self.now()).await? {
                Some(after) => game_match = after,
                None => bail!("match {id} was just ruled on; please try again"),
            }
        }
        let mut entries: Vec<Entry> = Vec::new();
        for row in self.store.entries(&id).await? {
            // Somebody may have ruled on the match since it was loaded.
            if row.seq <= game_match.head.seq {
                entries.push(serde_json::from_str(&row.json)?);
            }
        }
        let mut named: Vec<Digest> = Vec::new();
        for entry in &entries {
            match entry.cause {
                Source::Letter(digest) => named.push(digest),
                Source::Clock | Source::Gm { .. } | Source::House { .. } => {}
            }
        }
        let mut letters = BTreeMap::new();
        let mut take = |(digest, raw)| drop(letters.insert(digest, raw));
        self.store.letters_named(&named, &mut take).await?;
        let withheld = self.withhold(&game_match, &entries, &mut letters).await?;
        let posted =
            self.store.dispatches_of(&id).await?.into_iter().map(|(about, bytes)| ArchivedDispatch {
                message_id: about.message_id,
                recipient: about.recipient,
                kind: about.kind,
                seat: about.seat,
                created_at: about.created_at,
                sent_at: about.sent_at,
                bytes,
                withheld: false,
            });
        let dispatches = posted.collect();
        let mut archive = MatchArchive { game_match, entries, letters, withheld, dispatches };
        archive.withhold_answers();
        Ok(archive)
    }

    /// Returns the files of a match's dossier, by name.
    ///
    /// # Errors
    /// Same as [`Office::material`], or if the match does not verify.
    pub async fn dossier(&self, match_id: &str, unsealed: bool) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
        let material = self.material(match_id, unsealed, "the dossier").await?;
        let id = &material.game_match.id;
        let verdict = self.verify(id, &|_| ()).await?;
        if let Some(finding) = verdict.findings.first() {
            bail!("{id} does not verify; {}: {}", finding.place, finding.what);
        }
        let seats = both_seats(&self.store.seats_of(std::slice::from_ref(id)).await?, id)?;
        let about = About {
            fogpost: 1,
            club: self.config.club.name.clone(),
            players: BySeat::from_fn(|seat| SeatHolder {
                name: seats[seat].player.name.clone(),
                addresses: seats[seat].player.addresses.clone(),
                token: seats[seat].token.clone(),
            }),
            snapshot: material.game_match.clone(),
        };
        let letters = self.letter_records(&material).await?;
        Ok(dossier::files(&self.templates, &material, &letters, &about)?)
    }

    /// Returns the letters of a match, oldest first.
    async fn letter_records(&self, material: &MatchArchive) -> anyhow::Result<Vec<LetterRecord>> {
        let mut seats: BTreeMap<Digest, Seat> = BTreeMap::new();
        let mut rows = self
            .store
            .letters(Some(LetterStatus::Ruled), Some(&material.game_match.id), "", u32::MAX)
            .await?;
        seats.extend(rows.iter().filter_map(|row| Some((row.digest, row.seat.as_ref()?.1))));
        for entry in &material.entries {
            // A letter about several matches is listed under one of them.
            if let (Source::Letter(digest), Fact::LetterPartRead { seat, .. }) = (&entry.cause, &entry.fact)
                && seats.insert(*digest, *seat).is_none()
            {
                rows.extend(self.store.letters(None, None, &digest.to_string(), 1).await?);
            }
        }
        rows.sort_by_key(|row| row.received_at);
        let records = rows.into_iter().filter_map(|row| {
            Some(LetterRecord {
                letter: row.digest,
                received_at: row.received_at,
                seat: *seats.get(&row.digest)?,
                withheld_until: material.withheld.get(&row.digest).map(|withheld| withheld.until.clone()),
            })
        });
        Ok(records.collect())
    }

    /// Imports a finished match of another club, if its dossier verifies. The letters that were sent there are stored,
    /// and never sent from here.
    ///
    /// # Errors
    /// Returns an error if the dossier does not verify, if the match is not over or already exists here, or if the
    /// database does not answer.
    pub async fn take_dossier(&self, dossier: Dossier) -> anyhow::Result<AuditVerdict> {
        let id = dossier.about.snapshot.id.clone();
        ensure!(
            dossier.about.snapshot.stage == Stage::Over,
            "{id} is not over: only finished matches can be imported"
        );
        ensure!(self.store.matches(std::slice::from_ref(&id)).await?.is_empty(), "{id} already exists here");
        let verdict = self.verify_dossier(&dossier).await?;
        if let Some(finding) = verdict.findings.first() {
            bail!("{id} does not verify; {}: {}", finding.place, finding.what);
        }
        if let Some(why) = &verdict.unable {
            bail!("{id} cannot be checked in full: {why}");
        }
        let club = dossier.about.club.clone();
        self.store_dossier(dossier).await?;
        self.store.remember(&format!("imported {id}"), &club).await?;
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
        let store = store::open(&format!("sqlite:{}", folder.join("dossier.db").display())).await?;
        let temporary = Office::new(Config::clone(&self.config), store, Arc::clone(&self.clock))?;
        temporary.store_dossier(dossier.clone()).await?;
        let verdict = temporary.verify(&dossier.about.snapshot.id, &|_| ()).await;
        temporary.store.close().await;
        verdict
    }

    async fn store_dossier(&self, dossier: Dossier) -> anyhow::Result<()> {
        let Dossier { about, entries, letters, dispatches } = dossier;
        let now = self.now();
        let id = about.snapshot.id.clone();
        let (mut seats, mut newcomers) = (Vec::new(), Vec::new());
        for (seat, holder) in about.players.iter() {
            let token = holder.token.clone();
            match self.player_of_dossier(holder).await? {
                Some(player_id) => seats.push(SeatRow { match_id: id.clone(), seat, player_id, token }),
                None => newcomers.push(newcomer(holder, vec![(id.clone(), seat, token)])?),
            }
        }
        let decided = letters.iter().map(|(record, _)| LetterDecision {
            digest: record.letter,
            status: LetterStatus::Ruled,
            note: format!("from a dossier of {}", about.club),
            seat: Some((id.clone(), record.seat)),
            accepted_by: None,
        });
        let decided = decided.collect();
        let letters = letters.into_iter().map(|(record, raw)| {
            let origin = format!("dossier:{id}");
            let size = raw.len() as u64;
            new_letter(FetchedLetter {
                raw,
                received_at: record.received_at,
                origin,
                cut: false,
                size,
                is_spam: false,
            })
        });
        let posted = dispatches.into_iter().map(|(record, bytes)| NewDispatch {
            message_id: record.message_id,
            recipient: record.recipient,
            bytes,
            kind: record.kind,
            match_id: Some(id.clone()),
            seat: record.seat,
            answers: None,
            asked: None,
            due: None,
            urgency: Urgency::of(record.kind, true),
        });
        let settlement = Settlement {
            at: now,
            letters: letters.collect(),
            decided,
            matches: vec![match_row(&about.snapshot, 0)?],
            seats,
            newcomers,
            entries: entries.iter().map(|entry| entry_row(&entry.clone().into())).collect(),
            posted: posted.collect(),
            ..Settlement::default()
        };
        Ok(self.store.commit(&settlement).await?)
    }

    /// Returns the ID of the player with the addresses of `holder`, or `None` if nobody has them. A player who is known
    /// here gets no addresses from a dossier: otherwise whoever made it could speak for them in other matches.
    async fn player_of_dossier(&self, holder: &SeatHolder) -> anyhow::Result<Option<i64>> {
        let first = holder.addresses.first().context("a player without an address")?;
        let Some(player) = self.store.player_by_address(first).await? else { return Ok(None) };
        if let Some(lacking) = holder.addresses.iter().find(|own| !player.addresses.contains(own)) {
            bail!(
                "{} is known here without the address {lacking}; add it first if it is theirs",
                player.name
            );
        }
        Ok(Some(player.id))
    }
}

/// Returns a player of a dossier who is not known here. Whoever made the dossier chose the name and the addresses.
fn newcomer(holder: &SeatHolder, seats: Vec<(String, Seat, String)>) -> anyhow::Result<Newcomer> {
    ensure!(holder.addresses.len() <= MAX_ADDRESSES, "a player has more than {MAX_ADDRESSES} addresses");
    for address in &holder.addresses {
        let is_house = GameKind::ALL
            .iter()
            .flat_map(|kind| kind.levels())
            .any(|level| address.strip_prefix("house:") == Some(level.name));
        ensure!(is_house || Address::parse(address).is_ok(), "a player has an address that is none");
    }
    let first = holder.addresses.first().context("a player without an address")?;
    let name = fitting_name(&holder.name, first);
    Ok(Newcomer { name, addresses: holder.addresses.clone(), seats })
}

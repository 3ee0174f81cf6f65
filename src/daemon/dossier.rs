//! All that is kept of one match, for its account and its dossier.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use chrono::{DateTime, Utc};

use super::settle::snapshot;
use super::write::{both_seats, entry_row, match_row};
use super::{Office, new_letter};
use crate::audit::AuditVerdict;
use crate::audit::account::{ArchivedDispatch, MatchArchive};
use crate::audit::dossier::{self, About, Dossier, LetterRecord, SeatHolder};
use crate::game::BySeat;
use crate::ledger::{Entry, Source};
use crate::letter::Digest;
use crate::post::FetchedLetter;
use crate::referee::{Act, Cause, Stage};
use crate::store::{self, LetterDecision, LetterStatus, NewDispatch, SeatRow, Settlement};

impl Office {
    /// Everything that is kept of a match. While it runs this holds what the rules hide: only `unsealed`, and noted
    /// in the ledger with `what` it was for.
    ///
    /// # Errors
    /// There is no such match, it runs and is not to be unsealed, or the database does not answer.
    pub async fn material(&self, match_id: &str, unsealed: bool, what: &str) -> anyhow::Result<MatchArchive> {
        let id = match_id.to_ascii_uppercase();
        let row = self.match_row(&id).await?;
        let mut game_match = snapshot(&row)?;
        if game_match.stage != Stage::Over {
            ensure!(
                unsealed,
                "{id} is not over, and this shows what the rules hide; --unsealed shows it and is noted in the ledger"
            );
            let act = Act::Unseal { what: what.to_owned() };
            let name = self.config.club.gm.name.clone();
            let cause = |game_match: &crate::referee::Match| Cause::Gm {
                name: &name,
                phase_no: game_match.phase_no,
                act: &act,
            };
            match self.rule_on(row, cause, self.now()).await? {
                Some(after) => game_match = after,
                None => bail!("match {id} was just ruled on; please try again"),
            }
        }
        let rows = self.store.entries(&id).await?;
        let entries = rows.iter().filter(|row| row.seq <= game_match.head.seq);
        let entries =
            entries.map(|row| serde_json::from_str(&row.json)).collect::<Result<Vec<Entry>, _>>()?;
        let named = entries.iter().filter_map(|entry| match entry.cause {
            Source::Letter(digest) => Some(digest),
            Source::Clock | Source::Gm { .. } | Source::House { .. } => None,
        });
        let named: Vec<Digest> = named.collect();
        let mut letters = BTreeMap::new();
        let mut take = |(digest, raw)| drop(letters.insert(digest, raw));
        self.store.letters_named(&named, &mut take).await?;
        let posted =
            self.store.dispatches_of(&id).await?.into_iter().map(|(about, bytes)| ArchivedDispatch {
                message_id: about.message_id,
                recipient: about.recipient,
                kind: about.kind,
                seat: about.seat,
                created_at: about.created_at,
                sent_at: about.sent_at,
                bytes,
            });
        Ok(MatchArchive { game_match, entries, letters, dispatches: posted.collect() })
    }

    /// The files of a match's dossier by name.
    ///
    /// # Errors
    /// As of [`Office::material`]; the match does not verify.
    pub async fn dossier(&self, match_id: &str, unsealed: bool) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
        let material = self.material(match_id, unsealed, "the dossier").await?;
        let id = &material.game_match.id;
        let verdict = self.verify(id, &|_| ()).await?;
        if let Some(finding) = verdict.findings.first() {
            bail!("{id} does not verify; {}: {}", finding.place, finding.what);
        }
        let seats = both_seats(self.store.seats_of(std::slice::from_ref(id)).await?, id)?;
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
        let mut came: Vec<LetterRecord> = Vec::new();
        for row in self.store.letters(Some(LetterStatus::Ruled), Some(id), "", u32::MAX).await? {
            if let Some((_, seat)) = row.seat {
                came.push(LetterRecord { letter: row.digest, received_at: row.received_at, seat });
            }
        }
        came.reverse();
        Ok(dossier::files(&self.templates, &material, &came, &about)?)
    }

    /// Takes in a match that was played to its end in another club, if its dossier verifies. What was sent there is
    /// kept, and never sent from here.
    ///
    /// # Errors
    /// The dossier does not verify; the match is not over, or known here already; the database does not answer.
    pub async fn take_dossier(&self, brought: Dossier) -> anyhow::Result<AuditVerdict> {
        let id = brought.about.snapshot.id.clone();
        ensure!(
            brought.about.snapshot.stage == Stage::Over,
            "{id} is not over: only finished matches are taken in"
        );
        ensure!(
            self.store.matches(std::slice::from_ref(&id)).await?.is_empty(),
            "{id} is known here already"
        );
        let verdict = self.try_dossier(&brought).await?;
        if let Some(finding) = verdict.findings.first() {
            bail!("{id} does not verify; {}: {}", finding.place, finding.what);
        }
        if let Some(why) = &verdict.unable {
            bail!("{id} cannot be checked in all: {why}");
        }
        let club = brought.about.club.clone();
        self.keep_dossier(brought).await?;
        self.store.remember(&format!("imported {id}"), &club).await?;
        Ok(verdict)
    }

    /// Checks a dossier in a database of its own.
    async fn try_dossier(&self, brought: &Dossier) -> anyhow::Result<AuditVerdict> {
        let name = format!("fogpost-dossier-{}-{}", std::process::id(), self.now().timestamp_micros());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        let tried = self.try_dossier_in(&folder, brought).await;
        if let Err(error) = std::fs::remove_dir_all(&folder) {
            tracing::warn!(folder = %folder.display(), %error, "a temporary folder is left");
        }
        tried
    }

    async fn try_dossier_in(&self, folder: &Path, brought: &Dossier) -> anyhow::Result<AuditVerdict> {
        let store = store::open(&format!("sqlite:{}", folder.join("dossier.db").display())).await?;
        let apart = Office::new(self.config.clone(), store, Arc::clone(&self.clock))?;
        apart.keep_dossier(brought.clone()).await?;
        let verdict = apart.verify(&brought.about.snapshot.id, &|_| ()).await;
        apart.store.close().await;
        verdict
    }

    async fn keep_dossier(&self, brought: Dossier) -> anyhow::Result<()> {
        let Dossier { about, entries, letters: came, dispatches: went } = brought;
        let now = self.now();
        let id = about.snapshot.id.clone();
        let mut seats = Vec::new();
        for (seat, holder) in about.players.iter() {
            let player_id = self.known_player(holder, now).await?;
            seats.push(SeatRow { match_id: id.clone(), seat, player_id, token: holder.token.clone() });
        }
        let decided = came.iter().map(|(came, _)| LetterDecision {
            digest: came.letter,
            status: LetterStatus::Ruled,
            note: format!("from a dossier of {}", about.club),
            seat: Some((id.clone(), came.seat)),
        });
        let decided = decided.collect();
        let letters = came.into_iter().map(|(came, raw)| {
            let (origin, size) = (format!("dossier:{id}"), raw.len() as u64);
            new_letter(FetchedLetter { raw, received_at: came.received_at, origin, cut: false, size })
        });
        let posted = went.into_iter().map(|(went, bytes)| NewDispatch {
            message_id: went.message_id,
            recipient: went.recipient,
            bytes,
            kind: went.kind,
            match_id: Some(id.clone()),
            seat: went.seat,
            answers: None,
            asked: None,
        });
        let settlement = Settlement {
            at: now,
            letters: letters.collect(),
            decided,
            matches: vec![match_row(&about.snapshot, 0)?],
            seats,
            entries: entries.iter().map(|entry| entry_row(&entry.clone().into())).collect(),
            posted: posted.collect(),
            ..Settlement::default()
        };
        Ok(self.store.commit(&settlement).await?)
    }

    /// The player with the addresses of `holder`. One who is known here gets no addresses from a dossier: whoever
    /// made it could speak for him in other matches.
    async fn known_player(&self, holder: &SeatHolder, now: DateTime<Utc>) -> anyhow::Result<i64> {
        let first = holder.addresses.first().context("a player without an address")?;
        let known = self.store.player_by_address(first).await?.is_some();
        let mut player = self.store.find_or_add_player(first, &holder.name, now).await?;
        if !known {
            player.addresses.clone_from(&holder.addresses);
            self.store.save_player(&player).await?;
        } else if let Some(lacking) = holder.addresses.iter().find(|own| !player.addresses.contains(own)) {
            bail!("{} is known here without the address {lacking}; add it first if it is his", player.name);
        }
        Ok(player.id)
    }
}

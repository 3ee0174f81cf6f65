//! Everything stored about one match, for its account and for its dossier.

use std::collections::BTreeMap;

use anyhow::{bail, ensure};

use super::Office;
use super::decide::clock::Trigger;
use super::decide::stored::{both_seats, snapshot};
use crate::audit::account::{ArchivedDispatch, MatchArchive};
use crate::audit::dossier::{self, About, LetterRecord, SeatHolder};
use crate::game::{BySeat, Seat};
use crate::ledger::{Entry, Fact, Source};
use crate::letter::Digest;
use crate::referee::{Act, Stage};
use crate::store::{LetterStatus, NamedLetter};

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
        let mut take = |row: NamedLetter| drop(letters.insert(row.digest, row.raw));
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
}

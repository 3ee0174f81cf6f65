//! All that is kept of one match, for its account and its dossier.

use std::collections::BTreeMap;

use anyhow::{bail, ensure};

use super::Office;
use super::settle::snapshot;
use super::write::both_seats;
use crate::audit::account::{Material, Posted};
use crate::audit::dossier::{self, About, Came, Holder};
use crate::game::BySeat;
use crate::ledger::{Entry, Source};
use crate::letter::Digest;
use crate::referee::{Act, Cause, Stage};
use crate::store::Fate;

impl Office {
    /// Everything that is kept of a match. While it runs this holds what the rules hide: only `unsealed`, and noted
    /// in the ledger with `what` it was for.
    ///
    /// # Errors
    /// There is no such match, it runs and is not to be unsealed, or the database does not answer.
    pub async fn material(&self, match_id: &str, unsealed: bool, what: &str) -> anyhow::Result<Material> {
        let id = match_id.to_ascii_uppercase();
        let row = self.match_row(&id).await?;
        let mut m = snapshot(&row)?;
        if m.stage != Stage::Over {
            ensure!(
                unsealed,
                "{id} is not over, and this shows what the rules hide; --unsealed shows it and is noted in the ledger"
            );
            let act = Act::Unseal { what: what.to_owned() };
            let name = self.config.club.gm.name.clone();
            let cause =
                |m: &crate::referee::Match| Cause::Gm { name: &name, phase_no: m.phase_no, act: &act };
            match self.rule_on(row, cause, self.now()).await? {
                Some(after) => m = after,
                None => bail!("match {id} was just ruled on; please try again"),
            }
        }
        let rows = self.store.entries(&id).await?;
        let entries = rows.iter().filter(|row| row.seq <= m.head.seq);
        let entries =
            entries.map(|row| serde_json::from_str(&row.json)).collect::<Result<Vec<Entry>, _>>()?;
        let named = entries.iter().filter_map(|entry| match entry.cause {
            Source::Letter(digest) => Some(digest),
            Source::Clock | Source::Gm { .. } | Source::House { .. } => None,
        });
        let named: Vec<Digest> = named.collect();
        let letters: BTreeMap<_, _> = self.store.letters_named(&named).await?.into_iter().collect();
        let posted = self.store.dispatches_of(&id).await?.into_iter().map(|(about, bytes)| Posted {
            message_id: about.message_id,
            recipient: about.recipient,
            kind: about.kind,
            seat: about.seat,
            created_at: about.created_at,
            sent_at: about.sent_at,
            bytes,
        });
        Ok(Material { m, entries, letters, posted: posted.collect() })
    }

    /// The files of a match's dossier by name.
    ///
    /// # Errors
    /// As of [`Office::material`]; the match does not verify.
    pub async fn dossier(&self, match_id: &str, unsealed: bool) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
        let material = self.material(match_id, unsealed, "the dossier").await?;
        let id = &material.m.id;
        let verdict = self.verify(id, &|_| ()).await?;
        if let Some(finding) = verdict.findings.first() {
            bail!("{id} does not verify; {}: {}", finding.place, finding.what);
        }
        let seats = both_seats(self.store.seats_of(std::slice::from_ref(id)).await?, id)?;
        let about = About {
            fogpost: 1,
            club: self.config.club.name.clone(),
            players: BySeat::from_fn(|seat| Holder {
                name: seats[seat].player.name.clone(),
                addresses: seats[seat].player.addresses.clone(),
                token: seats[seat].token.clone(),
            }),
            snapshot: material.m.clone(),
        };
        let mut came: Vec<Came> = Vec::new();
        for row in self.store.letters(Some(Fate::Ruled), Some(id), "", u32::MAX).await? {
            if let Some((_, seat)) = row.seat {
                came.push(Came { letter: row.digest, received_at: row.received_at, seat });
            }
        }
        came.reverse();
        Ok(dossier::files(&self.templates, &material, &came, &about)?)
    }
}

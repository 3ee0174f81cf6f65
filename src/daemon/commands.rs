//! What the GM does at the terminal.

use anyhow::{Context as _, bail};

use super::Office;
use super::decide::gm_index::GmIndex;
use super::decide::instructions::instruct;
use super::decide::openings::{NewMatch, open_all, opened_by_gm};
use crate::referee::{Instruction, Match};
use crate::report::{self, GmResult};
use crate::store::StoreError;

/// Maximum attempts at a change while others change the same rows.
pub(super) const MAX_TRIES: usize = 20;

impl Office {
    /// Opens a match on behalf of the first GM, and queues its first letters.
    ///
    /// # Errors
    /// Returns an error if both seats would go to one player, or if the database does not answer.
    pub async fn open(&self, new: NewMatch) -> anyhow::Result<Match> {
        let opened = self.open_all(&[new]).await?;
        opened.into_iter().next().context("one match was to be opened")
    }

    /// Opens several matches on behalf of the first GM, all or none.
    ///
    /// # Errors
    /// Same as [`Office::open`].
    pub async fn open_all(&self, new: &[NewMatch]) -> anyhow::Result<Vec<Match>> {
        self.open_all_as(GmIndex::default(), new).await
    }

    /// Opens several matches on behalf of a GM, all or none.
    ///
    /// # Errors
    /// Same as [`Office::open`].
    pub async fn open_all_as(&self, gm: GmIndex, new: &[NewMatch]) -> anyhow::Result<Vec<Match>> {
        let gm = opened_by_gm(&self.config.club.gm.all()[gm.0]);
        for _ in 0..MAX_TRIES {
            let context = self.new_context().await?;
            let (new, gm) = (new.to_vec(), gm.clone());
            let deciding =
                self.decide(context, move |settings, context, _| open_all(settings, context, &new, &gm));
            let (opened, settlement) = deciding.await?.0;
            match self.store.commit(&settlement).await {
                Ok(()) => {
                    self.wake_loops(&settlement);
                    return Ok(opened);
                }
                // Somebody else took a name that was free when it was drawn.
                Err(StoreError::Stale(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bail!("no free name for a match was found")
    }

    /// Carries out one instruction on behalf of the first GM.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn carry_out(&self, instruction: &Instruction) -> anyhow::Result<GmResult> {
        self.carry_out_as(GmIndex::default(), instruction).await
    }

    /// Carries out one instruction on behalf of a GM.
    ///
    /// # Errors
    /// Same as [`Office::carry_out`].
    pub async fn carry_out_as(&self, gm: GmIndex, instruction: &Instruction) -> anyhow::Result<GmResult> {
        for _ in 0..MAX_TRIES {
            let context = self.new_context().await?;
            let instruction = instruction.clone();
            let deciding = self
                .decide(context, move |settings, context, _| instruct(settings, context, gm, &instruction));
            let (done, settlement) = deciding.await?.0;
            match self.store.commit(&settlement).await {
                Ok(()) => {
                    self.wake_loops(&settlement);
                    return Ok(done);
                }
                Err(StoreError::Stale(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bail!("gave up after repeated conflicts; nothing was done")
    }

    /// Words the result of an instruction as letters to the GM do.
    ///
    /// # Errors
    /// Returns an error if a template is faulty.
    pub fn tell(&self, done: &GmResult) -> anyhow::Result<String> {
        Ok(report::word_gm_result(&self.templates, done)?)
    }
}

//! The GM's instructions at the terminal.

use anyhow::Context as _;

use super::Office;
use crate::desk::frame::gm_index::GmIndex;
use crate::desk::gm::instructions::instruct_at_terminal;
use crate::desk::matches::openings::{NewMatch, open_all, opened_by_gm};
use crate::referee::{Instruction, Match};
use crate::report::{self, GmResult};

impl Office {
    /// Opens a match on behalf of the first GM, and queues its first letters.
    ///
    /// # Errors
    /// Returns an error if both seats would go to one player, or if the database does not answer.
    pub async fn open(&self, new: NewMatch) -> anyhow::Result<Match> {
        let opened = self.open_all(&[new]).await?;
        opened.into_iter().next().context("no match was opened")
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
        let new = new.to_vec();
        self.decide_and_commit(move |desk| open_all(desk, &new, &gm)).await
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
        let instruction = instruction.clone();
        self.decide_and_commit(move |desk| instruct_at_terminal(desk, gm, &instruction)).await
    }

    /// Words the result of an instruction as letters to the GM do.
    ///
    /// # Errors
    /// Returns an error if a template is faulty.
    pub fn tell(&self, done: &GmResult) -> anyhow::Result<String> {
        Ok(report::word_gm_result(&self.templates, done)?)
    }
}

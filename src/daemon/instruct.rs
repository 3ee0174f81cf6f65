//! The GM's instructions at the terminal and on the screen, and what the rules hide there from a GM who may be a player,
//! too.

use std::collections::BTreeSet;

use anyhow::{Context as _, bail};

use super::{Office, clock, commit, load};
use crate::club::names::{NamedPlayer, NamesInUse};
use crate::config::GmIndex;
use crate::desk::frame::desk::Desk;
use crate::desk::gm::alarm::time_apart;
use crate::desk::gm::without_letter::instruct_without_letter;
use crate::desk::matches::openings::{self, NewMatch, opened_by_gm};
use crate::desk::outbox::fog;
pub use crate::desk::outbox::fog::Fog;
use crate::referee::{Instruction, Match};
use crate::report::{self, GmResult};
use crate::store::ListedPlayer;

/// Opens a match on behalf of the first GM, and queues its first letters.
///
/// # Errors
/// Returns an error if both seats would go to one player, or if the database does not answer.
pub async fn open(office: &Office, new: NewMatch) -> anyhow::Result<Match> {
    let opened = open_all(office, GmIndex::default(), &[new]).await?;
    opened.into_iter().next().context("no match was opened")
}

/// Opens several matches on behalf of a GM, all or none.
///
/// # Errors
/// Same as [`open`].
pub async fn open_all(office: &Office, gm: GmIndex, new: &[NewMatch]) -> anyhow::Result<Vec<Match>> {
    ensure_clock_is_trusted(office).await?;
    let gm = opened_by_gm(&office.config.club.gm.all()[gm.0]);
    let new = new.to_vec();
    commit::decide_and_commit(office, move |desk| openings::open_all(desk, &new, &gm)).await
}

/// Says of each player of these matches whose names look like theirs.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn namesakes(office: &Office, opened: &[Match]) -> anyhow::Result<Vec<String>> {
    let ids: Vec<String> = opened.iter().map(|game_match| game_match.id.clone()).collect();
    let seats = office.store.seats_of(&ids).await?.into_iter();
    let seated: BTreeSet<i64> = seats.map(|row| row.player.id).collect();
    let listed = office.store.listed_players().await?.into_iter().filter(ListedPlayer::is_person);
    let all: Vec<NamedPlayer> =
        listed.map(|player| NamedPlayer { id: player.id, name: player.name }).collect();
    let in_use = NamesInUse::new(&all);
    let seated = all.iter().filter(|player| seated.contains(&player.id));
    Ok(seated.filter_map(|player| in_use.namesakes_of(player)).collect())
}

/// Checks whether several matches can be opened, and opens none.
///
/// # Errors
/// Same as [`open`].
pub async fn check_all(office: &Office, new: &[NewMatch]) -> anyhow::Result<()> {
    let new = new.to_vec();
    let decision = move |desk: &mut Desk<'_>| openings::check_all(desk, &new);
    commit::decide(office, load::new_rows(office).await?, decision).await.map(|((), _)| ())
}

/// Carries out one instruction on behalf of the first GM.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn carry_out(office: &Office, instruction: &Instruction) -> anyhow::Result<GmResult> {
    carry_out_as(office, GmIndex::default(), instruction, None, false).await
}

/// Carries out one instruction on behalf of a GM, unless the match or the event has changed since the
/// `guard`; with `check`, only says what would be done.
///
/// # Errors
/// Same as [`carry_out`].
pub async fn carry_out_as(
    office: &Office,
    gm: GmIndex,
    instruction: &Instruction,
    guard: Option<String>,
    check: bool,
) -> anyhow::Result<GmResult> {
    if instruction.changes_something() {
        ensure_clock_is_trusted(office).await?;
    }
    let instruction = instruction.clone();
    let decision =
        move |desk: &mut Desk<'_>| instruct_without_letter(desk, gm, &instruction, guard.as_deref(), check);
    if check {
        Ok(commit::decide(office, load::new_rows(office).await?, decision).await?.0)
    } else {
        commit::decide_and_commit(office, decision).await
    }
}

/// Fails if the clock is in doubt, because deadlines would be computed from it.
async fn ensure_clock_is_trusted(office: &Office) -> anyhow::Result<()> {
    match clock::doubted_since(&office.store, office.now()).await? {
        Some(last) => bail!(
            "the clock is in doubt: it was last trusted {}; set it, or run fogpost clock confirm",
            time_apart(office.now() - last)
        ),
        None => Ok(()),
    }
}

/// Renders the result of an instruction for the terminal.
///
/// # Errors
/// Returns an error if a template is faulty.
pub fn tell(office: &Office, done: &GmResult) -> anyhow::Result<String> {
    Ok(report::word_gm_result(&office.templates, done)?)
}

/// Returns what the screen hides from a GM.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn fog_on_screen(office: &Office, gm: GmIndex) -> anyhow::Result<Fog> {
    let rows = load::new_rows(office).await?;
    Ok(commit::decide(office, rows, move |desk| fog::of_gm(desk, gm)).await?.0)
}

/// Returns what the terminal hides: whoever sits there may be any of the GMs.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn fog_at_terminal(office: &Office) -> anyhow::Result<Fog> {
    let rows = load::new_rows(office).await?;
    Ok(commit::decide(office, rows, |desk| fog::at_terminal(desk)).await?.0)
}

//! Watches the free space on the disk: while it is low, no letters are taken from the mailbox.

use super::{Office, commit};
use crate::desk::gm::alarm::low_space;

/// The key under which a daemon remembers since when space is short. It exists only while it is short.
const LOW_SPACE: &str = "low space since";

/// Whether there is room for more letters: at least `database.min_free_mb`. If there is not, tells the GM
/// once.
pub async fn has_room(office: &Office) -> bool {
    let shortage = match office.store.free_bytes() {
        Ok(free) => free.and_then(|free| office.config.database.shortage(free)),
        // If the disk is gone, storing letters fails by itself.
        Err(error) => {
            tracing::warn!(%error, "failed to find out how much space is free");
            None
        }
    };
    let noted = match shortage {
        Some(free_mb) => note_shortage(office, free_mb).await,
        None => note_room(office).await,
    };
    if let Err(error) = noted {
        tracing::warn!(error = format!("{error:#}"), "failed to note how much space is free");
    }
    shortage.is_none()
}

async fn note_shortage(office: &Office, free_mb: u64) -> anyhow::Result<()> {
    if office.store.remembered(LOW_SPACE).await?.is_some() {
        return Ok(());
    }
    tracing::error!(free_mb, "space is short; no more letters are taken from the mailbox");
    let now = office.now();
    commit::decide_and_commit(office, move |desk| low_space(desk, free_mb)).await?;
    // Remember this only once the letter is queued: telling the GM twice is better than never.
    Ok(office.store.remember(LOW_SPACE, &now.to_rfc3339()).await?)
}

async fn note_room(office: &Office) -> anyhow::Result<()> {
    if office.store.remembered(LOW_SPACE).await?.is_some() {
        tracing::warn!("there is room again; letters are taken from the mailbox");
        office.store.forget(LOW_SPACE).await?;
    }
    Ok(())
}

//! Sends each GM a digest once a day, and the digests that players have asked for.

use chrono::{DateTime, TimeDelta, Timelike, Utc};

use crate::config::Gm;
use crate::daemon::{Office, remembered};
use crate::desk::frame::gm_index::GmIndex;
use crate::desk::gm::digest::daily;
use crate::desk::people::player_settings::digest_for;
use crate::store::Player;

/// The key under which a daemon remembers its last digest for the first GM, and the prefix of the keys for the others.
const LAST_DIGEST: &str = "digest";

/// Maximum players whose digests are made at a time.
const PLAYERS: u32 = 100;

impl Office {
    /// Queues the players' digests that are due, and schedules the next ones.
    pub async fn player_digests_when_due(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        for (player, due) in self.store.digests_due(now, PLAYERS).await? {
            let next = player.settings.next_digest(now, self.config.terms.zone);
            let id = player.id;
            if let Some(due) = due
                && let Err(error) = self.digest_of_player(player, due).await
            {
                // The others, and the GMs, must not wait for it.
                tracing::error!(player = id, error = format!("{error:#}"), "failed to make a digest");
            }
            // Also after a failure, which would otherwise come back with every look at the clock.
            self.store.schedule_digest(id, next).await?;
        }
        Ok(())
    }

    async fn digest_of_player(&self, player: Player, due: DateTime<Utc>) -> anyhow::Result<()> {
        self.decide_and_commit(move |desk| digest_for(desk, &player, due)).await
    }

    /// Queues the digest of each GM whose hour has come, if there is any news.
    pub async fn digest_when_due(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        for (place, gm) in self.config.club.gm.all().iter().enumerate() {
            let key = match place {
                0 => LAST_DIGEST.to_owned(),
                _ => format!("{LAST_DIGEST} {}", gm.address),
            };
            self.digest_of(GmIndex(place), gm, &key, now).await?;
        }
        Ok(())
    }

    async fn digest_of(&self, index: GmIndex, gm: &Gm, key: &str, now: DateTime<Utc>) -> anyhow::Result<()> {
        let Some(last) = remembered::time(self, key).await? else {
            // The first period begins when the club does.
            return Ok(self.store.remember(key, &now.to_rfc3339()).await?);
        };
        let zone = self.config.terms.zone;
        let local = now.with_timezone(&zone);
        let today = local.date_naive();
        let is_made = last.with_timezone(&zone).date_naive() >= today;
        if is_made || local.hour() < gm.digest_hour {
            return Ok(());
        }
        self.decide_and_commit(move |desk| daily(desk, index, last, today)).await?;
        // Counts matter for two days at most.
        self.store.delete_past_restraints(now - TimeDelta::days(3), now).await?;
        Ok(self.store.remember(key, &now.to_rfc3339()).await?)
    }
}

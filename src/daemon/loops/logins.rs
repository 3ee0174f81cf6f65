//! Renews the logins at mail providers.

use std::sync::Arc;
use std::time::Duration;

use crate::daemon::Office;
use crate::daemon::waiting::{pause, until_shutdown};
use crate::post::ShutdownSignal;

/// Time between checks whether a login is due to be renewed.
const LOOK_INTERVAL: Duration = Duration::from_secs(3600);

impl Office {
    /// Renews this machine's logins each week until shutdown.
    pub async fn renew_logins_until(self: Arc<Self>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
        while !shutdown.is_set() {
            let renewed = async {
                self.renew_logins_when_due().await;
                Ok(())
            };
            until_shutdown(&shutdown, renewed).await?;
            pause(LOOK_INTERVAL, &shutdown).await;
        }
        Ok(())
    }
}

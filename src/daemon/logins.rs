//! The club's database as the place of logins that several daemons share.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::runtime::Handle;

use crate::config::Config;
use crate::post::Error;
use crate::post::oauth::{LoginVault, OpenVault, SealedTokens};
use crate::store::{self, Database, SealedLogin, StoreError};

/// Opens the database to the logins that are kept in it. Call it within the runtime.
pub fn share_logins(config: &mut Config, store: &Arc<Database>) {
    for login in config.oauth_logins_mut().into_iter().filter(|login| login.secret_key_file.is_some()) {
        let vault = DatabaseVault { store: Arc::clone(store), runtime: Handle::current() };
        login.vault = OpenVault::new(Arc::new(vault));
    }
}

/// Opens the database if a login is kept in it.
///
/// # Errors
/// Same as [`store::open`].
pub async fn open_for_logins(config: &mut Config) -> Result<Option<Arc<Database>>, StoreError> {
    if config.oauth_logins().iter().all(|login| login.secret_key_file.is_none()) {
        return Ok(None);
    }
    let store = store::open(&config.database.url).await?;
    share_logins(config, &store);
    Ok(Some(store))
}

struct DatabaseVault {
    store: Arc<Database>,
    /// The runtime of the database's connections. The mailbox's thread asks from another one.
    runtime: Handle,
}

impl DatabaseVault {
    /// Makes a request where the database's connections live.
    async fn ask<T, F>(&self, request: impl FnOnce(Arc<Database>) -> F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let asking = self.runtime.spawn(request(Arc::clone(&self.store)));
        let answer = asking.await.map_err(|_ended| Error::Stopped)?;
        answer.map_err(|error| Error::io("the login in the database", std::io::Error::other(error)))
    }
}

#[async_trait]
impl LoginVault for DatabaseVault {
    async fn load(&self, name: &str) -> Result<Option<SealedTokens>, Error> {
        let name = name.to_owned();
        let found = self.ask(|store| async move { store.sealed_login(&name).await }).await?;
        Ok(found.map(|SealedLogin { sealed, version, now }| SealedTokens { sealed, version, now }))
    }

    async fn store(&self, name: &str, sealed: Vec<u8>) -> Result<(), Error> {
        let name = name.to_owned();
        self.ask(|store| async move { store.store_login(&name, &sealed).await }).await
    }

    async fn replace(&self, name: &str, version: i64, sealed: Vec<u8>) -> Result<bool, Error> {
        let name = name.to_owned();
        self.ask(|store| async move { store.replace_login(&name, version, &sealed).await }).await
    }

    async fn lease(&self, name: &str, holder: &str, duration: Duration) -> Result<bool, Error> {
        let name = name.to_owned();
        let holder = holder.to_owned();
        self.ask(|store| async move { store.lease_login(&name, &holder, duration).await }).await
    }

    async fn release(&self, name: &str, holder: &str) -> Result<(), Error> {
        let name = name.to_owned();
        let holder = holder.to_owned();
        self.ask(|store| async move { store.release_login(&name, &holder).await }).await
    }

    async fn time(&self) -> Result<DateTime<Utc>, Error> {
        self.ask(|store| async move { store.database_time().await }).await
    }
}

//! `fogpost run`: starts the daemon and the monitoring pages, reloads the config, and shuts down.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, ensure};
use chrono::Utc;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::log::{self, LogFilter};
use crate::config::Config;
use crate::daemon::screen::{self, sessions::Sessions};
use crate::daemon::status::service::{self, SignalRequest, Signals};
use crate::daemon::status::this_daemon;
use crate::daemon::{Office, loops, suspects};
use crate::post::ShutdownSignal;
use crate::store::Database;
use crate::{report, zone};

/// Read letters, rule on them and answer, until stopped
///
/// SIGTERM and Ctrl-C end it within seconds. SIGHUP reloads the config and the templates; a faulty config is
/// rejected and the current one stays in force. A new database.url, database.max_connections or log.json requires a
/// restart.
#[derive(clap::Args)]
pub struct Args {
    /// Process what is pending, then exit: for cron, at least every hour
    #[arg(long)]
    once: bool,
    /// Format of the log on standard error, instead of the one that log.json sets
    #[arg(long, value_name = "FORM")]
    log: Option<Form>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Form {
    /// Lines of text for people
    Text,
    /// Lines of JSON
    Json,
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        let settings = ConfigFile { path: config.to_owned(), form: self.log };
        let config = settings.load()?;
        let log = log::start(&config.log)?;
        super::block_on(async {
            let store = config.database.open().await?;
            let office = settings.office(config, store)?;
            let _held = office.store.lock(&this_daemon()).await?;
            log_start(&office).await?;
            if self.once {
                let has_room = loops::once(&office).await?;
                office.close().await;
                let least = office.config.database.min_free_mb;
                ensure!(
                    has_room,
                    "less than {least} MB are free (database.min_free_mb), so the mailbox was not read"
                );
            } else {
                serve(&settings, office, &log).await?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// The sources of the settings, read at startup and at a reload.
struct ConfigFile {
    path: PathBuf,
    form: Option<Form>,
}

impl ConfigFile {
    fn load(&self) -> anyhow::Result<Config> {
        let mut config = Config::load_with_passwords(&self.path)?;
        if let Some(form) = self.form {
            config.log.json = matches!(form, Form::Json);
        }
        Ok(config)
    }

    /// Returns an office with the current settings, on the same database as `before`.
    async fn reload(
        &self,
        before: &Office,
        pages: &mut Pages,
        log: &LogFilter,
    ) -> anyhow::Result<Arc<Office>> {
        let mut config = self.load()?;
        let old = &before.config;
        let fixed = [
            ("database.url", config.database.url != old.database.url),
            ("database.max_connections", config.database.max_connections != old.database.max_connections),
            ("log.json", config.log.json != old.log.json),
        ];
        for (key, _) in fixed.iter().filter(|(_, changed)| *changed) {
            tracing::warn!(key, "this change requires a restart");
        }
        config.database.url.clone_from(&old.database.url);
        config.database.max_connections = old.database.max_connections;
        config.log.json = old.log.json;
        let office = self.office(config, Arc::clone(&before.store))?;
        pages.show(&office).await?;
        log.set(&office.config.log.filter)?;
        Ok(office)
    }

    /// Returns an office on this database, after checking its templates.
    fn office(&self, config: Config, store: Arc<Database>) -> anyhow::Result<Arc<Office>> {
        let mut office = Office::new(config, store, Arc::new(Utc::now))?;
        report::check_templates(&office.templates)?;
        let program = std::env::current_exe().context("failed to find the path of this program")?;
        suspects::try_letters_by(&mut office, program, self.path.clone());
        Ok(Arc::new(office))
    }
}

/// Logs the version, the database, and the work found in it.
async fn log_start(office: &Office) -> anyhow::Result<()> {
    let database = office.store.about().await?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        zone_data = zone::edition(),
        pid = std::process::id(),
        database,
        "fogpost started"
    );
    let queues = office.store.queues().await?;
    tracing::info!(
        matches_running = queues.matches_running,
        letters_waiting = queues.letters_waiting,
        dispatches_unsent = queues.dispatches_waiting,
        dispatches_given_up = queues.given_up,
        overdue_since = queues.next_wake.filter(|wake| *wake <= office.now()).map(tracing::field::display),
        "work found in the database"
    );
    Ok(())
}

async fn serve(settings: &ConfigFile, mut office: Arc<Office>, log: &LogFilter) -> anyhow::Result<()> {
    let mut signals = Signals::listen().context("failed to listen for signals")?;
    let mut pages = Pages::new(&office);
    pages.show(&office).await?;
    service::notify_ready();
    loop {
        let (stopper, stop) = ShutdownSignal::new();
        let mut running = pin!(loops::run(Arc::clone(&office), stop));
        let next = loop {
            let request = tokio::select! {
                ended = &mut running => return ended,
                request = signals.next() => request,
            };
            if request != SignalRequest::Reload {
                service::notify_stopping();
                tracing::info!("stopping");
                service::end_at_the_latest();
                break None;
            }
            service::notify_reloading();
            match settings.reload(&office, &mut pages, log).await {
                Ok(next) => break Some(next),
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::error!(error, "config rejected; the current one stays in force");
                    service::notify_ready();
                }
            }
        };
        stopper.stop();
        running.await?;
        office.close_outbox().await;
        let Some(next) = next else { break };
        office = next;
        pages.office.send_replace(Arc::clone(&office));
        tracing::info!("configuration reloaded");
        service::notify_ready();
    }
    drop(pages);
    office.close().await;
    tracing::info!("stopped");
    Ok(())
}

/// The monitoring pages and the GM's screen, at the addresses in the config.
struct Pages {
    /// The config in force, for the monitoring pages.
    config: watch::Sender<Arc<Config>>,
    status: Server,
    /// The office in force, for the screen.
    office: watch::Sender<Arc<Office>>,
    sessions: Arc<Sessions>,
    screen: Server,
}

impl Pages {
    fn new(office: &Arc<Office>) -> Pages {
        Pages {
            config: watch::Sender::new(Arc::clone(&office.config)),
            status: Server::default(),
            office: watch::Sender::new(Arc::clone(office)),
            sessions: Arc::default(),
            screen: Server::default(),
        }
    }

    /// Serves the pages at the addresses in the office's config.
    async fn show(&mut self, office: &Office) -> anyhow::Result<()> {
        let (store, config) = (Arc::clone(&office.store), self.config.subscribe());
        let serve = |listener| service::serve_status(listener, store, config, Arc::new(Utc::now));
        self.status.show(office.config.status.listen, "status.listen", serve).await?;
        self.config.send_replace(Arc::clone(&office.config));
        let (in_force, sessions) = (self.office.subscribe(), Arc::clone(&self.sessions));
        let serve = |listener| screen::serve(listener, in_force, sessions);
        self.screen.show(office.config.screen.listen, "screen.listen", serve).await
    }
}

/// A server at an address in the config, until it is dropped.
#[derive(Default)]
struct Server {
    listen: Option<SocketAddr>,
    serving: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves at the address that `key` sets. A new address is bound before the old one is released, so that
    /// a reload that fails changes nothing.
    async fn show<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        listen: Option<SocketAddr>,
        key: &str,
        serve: impl FnOnce(TcpListener) -> F,
    ) -> anyhow::Result<()> {
        if listen == self.listen {
            return Ok(());
        }
        let serving = match listen {
            None => None,
            Some(address) => {
                let bound = TcpListener::bind(address).await;
                Some(tokio::spawn(serve(bound.with_context(|| format!("{key} {address}"))?)))
            }
        };
        *self = Server { listen, serving };
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

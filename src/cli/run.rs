//! `fogpost run`: starts the daemon and the monitoring pages, reloads the config, and shuts down.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use chrono::Utc;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::log::{self, LogFilter};
use crate::config::Config;
use crate::daemon::Office;
use crate::daemon::loops::run;
use crate::daemon::screen::{self, sessions::Sessions};
use crate::daemon::status::service::{self, Request, Signals};
use crate::daemon::status::this_daemon;
use crate::daemon::suspects;
use crate::post::ShutdownSignal;
use crate::report;
use crate::store::{self, Database};

/// Read letters, rule on them and answer, until stopped
///
/// SIGTERM and Ctrl-C end it within seconds. SIGHUP reloads the config and the templates; a faulty config is
/// rejected and the current one stays in force. A new database.url or log.json requires a restart.
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
    /// A line for people
    Text,
    /// A line of JSON
    Json,
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        let settings = ConfigFile { path: config.to_owned(), form: self.log };
        let config = settings.load()?;
        let log = log::start(&config.log)?;
        super::block_on(async {
            let store = store::open(&config.database.url).await?;
            let office = settings.office(config, store)?;
            let _held = office.store.lock(&this_daemon()).await?;
            log_start(&office).await?;
            if self.once {
                run::once(&office).await?;
                office.close().await;
            } else {
                serve(&settings, office, &log).await?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// The sources of the settings, at startup and at a reload.
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
        page: &mut StatusPage,
        screen: &mut ScreenPage,
        log: &LogFilter,
    ) -> anyhow::Result<Arc<Office>> {
        let mut config = self.load()?;
        let old = &before.config;
        let fixed = [
            ("database.url", config.database.url != old.database.url),
            ("log.json", config.log.json != old.log.json),
        ];
        for (key, _) in fixed.iter().filter(|(_, changed)| *changed) {
            tracing::warn!(key, "this change requires a restart");
        }
        config.database.url.clone_from(&old.database.url);
        config.log.json = old.log.json;
        let office = self.office(config, Arc::clone(&before.store))?;
        page.show(&office).await?;
        screen.show(&office).await?;
        log.set(&office.config.log.filter)?;
        Ok(office)
    }

    /// Returns an office on this database, after checking its templates.
    fn office(&self, config: Config, store: Arc<Database>) -> anyhow::Result<Arc<Office>> {
        let mut office = Office::new(config, store, Arc::new(Utc::now))?;
        report::check_templates(&office.templates)?;
        let program = std::env::current_exe().context("the path of this program")?;
        suspects::try_letters_by(&mut office, program, self.path.clone());
        Ok(Arc::new(office))
    }
}

/// Logs the version, the database, and the work found in it.
async fn log_start(office: &Office) -> anyhow::Result<()> {
    let database = office.store.about().await?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
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
    let mut signals = Signals::listen().context("signals")?;
    let mut page = StatusPage::new(&office.config);
    page.show(&office).await?;
    let mut screen = ScreenPage::new(&office);
    screen.show(&office).await?;
    service::notify_ready();
    loop {
        let (stopper, stop) = ShutdownSignal::new();
        let mut running = pin!(run::run(Arc::clone(&office), stop));
        let next = loop {
            let request = tokio::select! {
                ended = &mut running => return ended,
                request = signals.next() => request,
            };
            if request != Request::Reload {
                service::notify_stopping();
                tracing::info!("stopping");
                service::end_at_the_latest();
                break None;
            }
            service::notify_reloading();
            match settings.reload(&office, &mut page, &mut screen, log).await {
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
        screen.office.send_replace(Arc::clone(&office));
        tracing::info!("configuration reloaded");
        service::notify_ready();
    }
    drop((page, screen));
    office.close().await;
    tracing::info!("stopped");
    Ok(())
}

/// The monitoring pages, at the address in the config.
struct StatusPage {
    /// The config in force, for the pages.
    config: watch::Sender<Arc<Config>>,
    listen: Option<SocketAddr>,
    serving: Option<JoinHandle<()>>,
}

impl StatusPage {
    fn new(config: &Arc<Config>) -> StatusPage {
        StatusPage { config: watch::Sender::new(Arc::clone(config)), listen: None, serving: None }
    }

    /// Serves the pages at the address in the office's config. A new address is bound before the old one is
    /// released, so that a reload that fails changes nothing.
    async fn show(&mut self, office: &Office) -> anyhow::Result<()> {
        let listen = office.config.status.listen;
        if listen == self.listen {
            self.config.send_replace(Arc::clone(&office.config));
            return Ok(());
        }
        let serving = match listen {
            None => None,
            Some(address) => {
                let listener =
                    TcpListener::bind(address).await.with_context(|| format!("status.listen {address}"))?;
                let (store, config) = (Arc::clone(&office.store), self.config.subscribe());
                Some(tokio::spawn(service::serve_status(listener, store, config, Arc::new(Utc::now))))
            }
        };
        self.end();
        self.config.send_replace(Arc::clone(&office.config));
        (self.listen, self.serving) = (listen, serving);
        Ok(())
    }

    fn end(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
        }
    }
}

impl Drop for StatusPage {
    fn drop(&mut self) {
        self.end();
    }
}

/// The GM's screen, at the address in the config.
struct ScreenPage {
    /// The office in force.
    office: watch::Sender<Arc<Office>>,
    sessions: Arc<Sessions>,
    listen: Option<SocketAddr>,
    serving: Option<JoinHandle<()>>,
}

impl ScreenPage {
    fn new(office: &Arc<Office>) -> ScreenPage {
        let office = watch::Sender::new(Arc::clone(office));
        ScreenPage { office, sessions: Arc::default(), listen: None, serving: None }
    }

    /// Serves the screen at the address in the office's config. Like the monitoring pages, it changes nothing if
    /// a new address cannot be bound.
    async fn show(&mut self, office: &Office) -> anyhow::Result<()> {
        let listen = office.config.screen.listen;
        if listen == self.listen {
            return Ok(());
        }
        let serving = match listen {
            None => None,
            Some(address) => {
                let listener =
                    TcpListener::bind(address).await.with_context(|| format!("screen.listen {address}"))?;
                let (office, sessions) = (self.office.subscribe(), Arc::clone(&self.sessions));
                Some(tokio::spawn(screen::serve(listener, office, sessions)))
            }
        };
        self.end();
        (self.listen, self.serving) = (listen, serving);
        Ok(())
    }

    fn end(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
        }
    }
}

impl Drop for ScreenPage {
    fn drop(&mut self) {
        self.end();
    }
}

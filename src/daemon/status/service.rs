//! The program as a service: signals, messages to systemd (sd_notify(3)), and the monitoring pages.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use sd_notify::NotifyState;
use tokio::net::TcpListener;
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{SILENT_AFTER, Status};
use crate::config::Config;
use crate::daemon::Clock;
use crate::store::Database;

/// Time limit for a shutdown. A supervisor would kill a program that does not end, and so might its user.
const MAX_SHUTDOWN: Duration = Duration::from_millis(4500);

/// Maximum connections to the monitoring pages, or to the screen, at a time.
const MAX_CONNECTIONS: usize = 64;

/// Time limit for such a connection.
const MAX_CONNECTION: Duration = Duration::from_secs(10);

/// Maximum bytes of the head of a request.
const MAX_HEAD: usize = 16 * 1024;

/// Delay after a failure to accept a connection, because its cause may last.
const ACCEPT_RETRY: Duration = Duration::from_secs(1);

/// A request by signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// SIGTERM.
    Shutdown,
    /// SIGINT, which Ctrl-C also sends to every program that has been started at the same terminal.
    Interrupt,
    /// SIGHUP: read the config again.
    Reload,
}

/// The signals that the program handles, for as long as this lives.
pub struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    hang_up: unix::Signal,
}

impl Signals {
    /// # Errors
    /// Returns an error if the system refuses to register a handler.
    pub fn listen() -> std::io::Result<Signals> {
        Ok(Signals {
            terminate: unix::signal(SignalKind::terminate())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
            hang_up: unix::signal(SignalKind::hangup())?,
        })
    }

    pub async fn next(&mut self) -> Request {
        tokio::select! {
            _ = self.terminate.recv() => Request::Shutdown,
            _ = self.interrupt.recv() => Request::Interrupt,
            _ = self.hang_up.recv() => Request::Reload,
        }
    }
}

/// The monitoring pages: `/metrics` for Prometheus, and `/health`, which is 503 when there is a fault.
#[derive(Clone)]
struct StatusPage {
    store: Arc<Database>,
    /// The current config.
    config: watch::Receiver<Arc<Config>>,
    clock: Clock,
}

impl StatusPage {
    async fn status(&self) -> Result<Status, (StatusCode, &'static str)> {
        // The config may be reloaded while the page is being made.
        let config = Arc::clone(&self.config.borrow());
        let now = (self.clock)();
        let status = Status::of(&self.store, &config.database, &config.outbox.quota, now, SILENT_AFTER).await;
        let mut status = status.map_err(|error| {
            tracing::warn!(error = format!("{error:#}"), "failed to serve a monitoring page");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n")
        })?;
        status.note_logins(&config.oauth_logins());
        status.note_config(&config);
        Ok(status)
    }
}

/// Ends the program after [`MAX_SHUTDOWN`] if it has not ended by itself: a mail server or the database may
/// not answer. Uncommitted work is done after the next start.
///
/// Runs on a thread of its own, because the runtime's threads may hang.
pub fn end_at_the_latest() {
    std::thread::spawn(|| {
        std::thread::sleep(MAX_SHUTDOWN);
        tracing::warn!("shutdown timed out; the program ends now");
        // Exit with success: a supervisor must not mistake a shutdown that it requested for a crash.
        std::process::exit(0);
    });
}

/// Tells systemd that the program is up.
pub fn notify_ready() {
    notify(&[NotifyState::Ready]);
}

/// Tells systemd that the program is reloading its config; [`notify_ready`] follows.
pub fn notify_reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify(&[NotifyState::Reloading, now]),
        Err(_) => notify(&[NotifyState::Reloading]),
    }
}

pub fn notify_stopping() {
    notify(&[NotifyState::Stopping]);
}

/// Tells systemd's watchdog that the program is alive.
pub fn notify_watchdog() {
    notify(&[NotifyState::Watchdog]);
}

/// Serves the monitoring pages at `listener` until the future is dropped.
pub async fn serve_status(
    listener: TcpListener,
    store: Arc<Database>,
    config: watch::Receiver<Arc<Config>>,
    clock: Clock,
) {
    let routes = Router::new()
        .route("/metrics", get(metrics))
        .route("/health", get(health))
        .with_state(StatusPage { store, config, clock });
    serve(listener, routes).await;
}

/// Serves pages at `listener` until the future is dropped.
///
/// Each connection is one request, which must come within [`MAX_CONNECTION`]. `axum::serve` would keep idle
/// connections forever, until the program can open no more files.
pub async fn serve(listener: TcpListener, routes: Router) {
    let mut connections = JoinSet::new();
    loop {
        // Further ones wait until one of these ends.
        while connections.len() >= MAX_CONNECTIONS {
            connections.join_next().await;
        }
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let pages = TowerToHyperService::new(routes.clone());
                let mut http = http1::Builder::new();
                http.keep_alive(false).max_buf_size(MAX_HEAD);
                let connection = http.serve_connection(TokioIo::new(stream), pages);
                // A client that leaves early, or sends nothing, needs no answer.
                connections.spawn(async { drop(timeout(MAX_CONNECTION, connection).await) });
            }
            Err(error) => {
                tracing::warn!(%error, "failed to accept a connection to the program's pages");
                sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

/// Sends states to systemd. Does nothing if systemd did not start the program.
fn notify(states: &[NotifyState]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "sd_notify failed");
    }
}

async fn metrics(State(page): State<StatusPage>) -> impl IntoResponse {
    let status = page.status().await?;
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok::<_, (StatusCode, &str)>((kind, status.metrics()))
}

async fn health(State(page): State<StatusPage>) -> impl IntoResponse {
    let faults = page.status().await?.faults;
    Ok::<_, (StatusCode, &str)>(match faults.is_empty() {
        true => (StatusCode::OK, "all is well\n".to_owned()),
        false => (StatusCode::SERVICE_UNAVAILABLE, faults.join("\n") + "\n"),
    })
}

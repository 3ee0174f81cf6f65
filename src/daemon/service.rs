//! The program as a service of its machine: the signals that it heeds, what it tells systemd (sd_notify(3)), and the
//! page for monitors.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use sd_notify::NotifyState;
use tokio::net::TcpListener;
use tokio::signal::unix::{self, SignalKind};

use super::pulse::STUCK_AFTER;
use super::status::{SILENT_AFTER, Status};
use super::{Clock, Office};
use crate::post::ShutdownSignal;
use crate::store::Store;

/// What somebody wants of the running program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// SIGTERM, SIGINT.
    ShutdownSignal,
    /// SIGHUP: read the config again.
    Reload,
}

/// The signals that the program heeds from now on.
pub struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    hang_up: unix::Signal,
}

impl Signals {
    /// # Errors
    /// The system does not let them be heeded.
    pub fn heed() -> std::io::Result<Signals> {
        Ok(Signals {
            terminate: unix::signal(SignalKind::terminate())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
            hang_up: unix::signal(SignalKind::hangup())?,
        })
    }

    pub async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.terminate.recv() => Wish::ShutdownSignal,
            _ = self.interrupt.recv() => Wish::ShutdownSignal,
            _ = self.hang_up.recv() => Wish::Reload,
        }
    }
}

/// Tells systemd that the program does its work.
pub fn tell_ready() {
    tell(&[NotifyState::Ready]);
}

/// Tells systemd that the program reads its config again; [`tell_ready`] follows.
pub fn tell_reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(_) => tell(&[NotifyState::Reloading]),
    }
}

pub fn tell_stopping() {
    tell(&[NotifyState::Stopping]);
}

/// Without systemd there is nobody to be told.
fn tell(states: &[NotifyState]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "systemd cannot be told how it goes");
    }
}

impl Office {
    /// Tells systemd's watchdog that all is well, as long as every loop comes round, until `stop`.
    pub(super) async fn reassure_until(self: Arc<Self>, stop: ShutdownSignal) -> anyhow::Result<()> {
        let Some(patience) = sd_notify::watchdog_enabled() else {
            stop.wait().await;
            return Ok(());
        };
        while !stop.is_set() {
            if self.pulse.stuck(Instant::now(), STUCK_AFTER).is_none() {
                tell(&[NotifyState::Watchdog]);
            }
            tokio::select! {
                () = tokio::time::sleep(patience / 3) => {}
                () = stop.wait() => {}
            }
        }
        Ok(())
    }
}

/// The page for monitors: `/metrics` for Prometheus, and `/health`, which is 503 when something is wrong.
#[derive(Clone)]
struct Page {
    store: Arc<dyn Store>,
    clock: Clock,
}

/// Serves the page for monitors at `listener`; it ends with the future.
///
/// # Errors
/// The listener fails for good.
pub async fn serve_status(listener: TcpListener, store: Arc<dyn Store>, clock: Clock) -> anyhow::Result<()> {
    let routes = Router::new()
        .route("/metrics", get(metrics))
        .route("/health", get(health))
        .with_state(Page { store, clock });
    axum::serve(listener, routes).await.context("the page for monitors")
}

impl Page {
    async fn status(&self) -> Result<Status, (StatusCode, &'static str)> {
        Status::of(&*self.store, (self.clock)(), SILENT_AFTER).await.map_err(|error| {
            tracing::warn!(error = format!("{error:#}"), "a monitor's question cannot be answered");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n")
        })
    }
}

async fn metrics(State(page): State<Page>) -> impl IntoResponse {
    let status = page.status().await?;
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok::<_, (StatusCode, &str)>((kind, status.metrics()))
}

async fn health(State(page): State<Page>) -> impl IntoResponse {
    let faults = page.status().await?.faults;
    Ok::<_, (StatusCode, &str)>(match faults.is_empty() {
        true => (StatusCode::OK, "all is well\n".to_owned()),
        false => (StatusCode::SERVICE_UNAVAILABLE, faults.join("\n") + "\n"),
    })
}

//! The program as a service: signals, messages to systemd (sd_notify(3)), and the monitoring pages.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use sd_notify::NotifyState;
use tokio::net::TcpListener;
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
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

/// Maximum bytes of the head of a request, and of its body. Pages may take less.
const MAX_HEAD: usize = 16 * 1024;
const MAX_BODY: usize = 64 * 1024;

/// Delay after a failure to accept a connection, because its cause may last.
const ACCEPT_RETRY: Duration = Duration::from_secs(1);

/// A request by signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalRequest {
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

    pub async fn next(&mut self) -> SignalRequest {
        tokio::select! {
            _ = self.terminate.recv() => SignalRequest::Shutdown,
            _ = self.interrupt.recv() => SignalRequest::Interrupt,
            _ = self.hang_up.recv() => SignalRequest::Reload,
        }
    }
}

/// The monitoring pages: `/metrics` for Prometheus, and `/health`, which is 503 when there is a fault.
#[derive(Clone)]
struct MonitoringPages {
    store: Arc<Database>,
    /// The current config.
    config: watch::Receiver<Arc<Config>>,
    clock: Clock,
}

impl MonitoringPages {
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
        .with_state(MonitoringPages { store, config, clock });
    serve(listener, routes).await;
}

/// Serves pages at `listener` until the future is dropped.
///
/// Each connection is one request, which must come within [`MAX_CONNECTION`]. `axum::serve` would keep idle
/// connections forever, until the program can open no more files.
pub async fn serve(listener: TcpListener, routes: Router) {
    serve_within(MAX_CONNECTION, listener, routes).await;
}

async fn serve_within(limit: Duration, listener: TcpListener, routes: Router) {
    let mut connections = Connections::default();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                connections.make_room().await;
                let awaited = Arc::new(AtomicBool::new(true));
                let pages = routes.clone();
                let request_awaited = Arc::clone(&awaited);
                let pages =
                    service_fn(move |request| answer(pages.clone(), Arc::clone(&request_awaited), request));
                let mut http = http1::Builder::new();
                http.keep_alive(false).max_buf_size(MAX_HEAD);
                let connection = http.serve_connection(TokioIo::new(stream), pages);
                // A client that leaves early, or sends nothing, needs no answer.
                let task = connections.tasks.spawn(async move { drop(timeout(limit, connection).await) });
                connections.open.push((task, awaited));
            }
            Err(error) => {
                tracing::warn!(%error, "failed to accept a connection to the program's pages");
                sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

/// The open connections, at most [`MAX_CONNECTIONS`].
#[derive(Default)]
struct Connections {
    tasks: JoinSet<()>,
    /// The oldest first, each with whether its request is still awaited. Whoever clears that flag decides: the request
    /// is answered, or the connection is closed.
    open: Vec<(AbortHandle, Arc<AtomicBool>)>,
}

impl Connections {
    /// Makes room for another connection. Closes the oldest one whose client has not sent a whole request, so that
    /// clients that send nothing keep nobody out. If each has one, waits until one is answered.
    async fn make_room(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        while self.tasks.len() >= MAX_CONNECTIONS {
            if let Some((idle, _)) =
                self.open.iter().find(|(_, awaited)| awaited.swap(false, Ordering::AcqRel))
            {
                idle.abort();
            }
            self.tasks.join_next().await;
        }
        self.open.retain(|(task, _)| !task.is_finished());
    }
}

/// Answers a request once all of it is here.
async fn answer(
    pages: Router,
    awaited: Arc<AtomicBool>,
    request: axum::http::Request<Incoming>,
) -> Result<Response, Infallible> {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(Body::new(body), MAX_BODY).await else {
        return Ok(StatusCode::PAYLOAD_TOO_LARGE.into_response());
    };
    if !awaited.swap(false, Ordering::AcqRel) {
        return Ok(StatusCode::SERVICE_UNAVAILABLE.into_response());
    }
    let request = axum::http::Request::from_parts(head, Body::from(body));
    TowerToHyperService::new(pages).call(request).await
}

/// Sends states to systemd. Does nothing if systemd did not start the program.
fn notify(states: &[NotifyState]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "sd_notify failed");
    }
}

async fn metrics(State(page): State<MonitoringPages>) -> impl IntoResponse {
    let status = page.status().await?;
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok::<_, (StatusCode, &str)>((kind, status.metrics()))
}

async fn health(State(page): State<MonitoringPages>) -> impl IntoResponse {
    let faults = page.status().await?.faults;
    Ok::<_, (StatusCode, &str)>(if faults.is_empty() {
        (StatusCode::OK, "all is well\n".to_owned())
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, faults.join("\n") + "\n")
    })
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn connections_without_a_whole_request_keep_nobody_out() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let at = listener.local_addr().expect("bound");
        let page = Router::new().route("/", get(|| async { "here" }).post(|body: String| async { body }));
        // Without a limit in time, a connection is only closed to make room.
        let server = tokio::spawn(serve_within(Duration::MAX, listener, page));
        let ask = async |text: &str| {
            let mut client = TcpStream::connect(at).await.expect("connected");
            client.write_all(text.as_bytes()).await.expect("sent");
            client
        };
        let mut idle = Vec::new();
        for beginning in ["", "GET / HTTP/1.1\r\nHost: x", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nx"] {
            for _ in 0..MAX_CONNECTIONS {
                idle.push(ask(beginning).await);
            }
        }
        for (request, says) in [
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "here"),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nthere", "there"),
        ] {
            let mut answer = String::new();
            ask(request).await.read_to_string(&mut answer).await.expect("an answer");
            assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(says), "{answer}");
        }
        server.abort();
    }
}

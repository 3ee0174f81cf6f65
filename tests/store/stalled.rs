//! A PostgreSQL server that answers late.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fogpost::store::open;
use sqlx::{Connection as _, PgConnection};
use tempfile::TempDir;

use crate::place::{PATIENCE, Place};
use crate::samples::*;

/// A time that is longer than the first attempt to begin a transaction.
const STALL: Duration = Duration::from_millis(1500);

/// A proxy before the server that holds back the next BEGIN once it is told to.
#[derive(Default)]
struct Stall {
    is_next: AtomicBool,
    is_over: AtomicBool,
}

impl Stall {
    /// Listens in a folder of its own, and returns the URL there.
    fn before(url: &str) -> (Arc<Stall>, String, TempDir) {
        let (start, place) = url.split_once("?host=").expect("a socket");
        let (stall, target) = (Arc::new(Stall::default()), format!("{place}/.s.PGSQL.5432"));
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let url = format!("{start}?host={}", folder.path().display());
        let shared = Arc::clone(&stall);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (server, shared) = (UnixStream::connect(&target).unwrap(), Arc::clone(&shared));
                let (from, to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || shared.pass_on(client, server));
                thread::spawn(move || {
                    std::io::copy(&mut &from, &mut &to).and_then(|_| to.shutdown(Shutdown::Both))
                });
            }
        });
        (stall, url, folder)
    }

    fn pass_on(&self, mut from: UnixStream, mut to: UnixStream) {
        let mut buffer = [0; 65536];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            let is_begin = buffer[..length].windows(5).any(|word| word == b"BEGIN");
            let is_held = is_begin && self.is_next.swap(false, Ordering::SeqCst);
            if is_held {
                thread::sleep(STALL);
            }
            if to.write_all(&buffer[..length]).is_err() {
                break;
            }
            if is_held {
                self.is_over.store(true, Ordering::SeqCst);
            }
        }
        // The other side may have closed it before.
        let _ = to.shutdown(Shutdown::Both);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_begins_late_does_not_stay_open() {
    let Some(place) = Place::postgres().await else { return };
    let (stall, url, _folder) = Stall::before(&place.url);
    let store = open(&url).await.unwrap();
    stall.is_next.store(true, Ordering::SeqCst);
    add_matches(&store, &["QZ-AAAA"]).await;
    let mut connection = PgConnection::connect(&place.url).await.unwrap();
    let open = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'";
    let began = Instant::now();
    let mut idle = 0;
    // The server may not have seen the late BEGIN at the first looks.
    while !stall.is_over.load(Ordering::SeqCst) || idle < 20 {
        let found: i64 = sqlx::query_scalar(open).fetch_one(&mut connection).await.unwrap();
        idle = if found == 0 { idle + 1 } else { 0 };
        assert!(began.elapsed() < PATIENCE, "a connection stays in an open transaction");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    store.close().await;
}

//! The time in which the desk of a big club comes, and the receipts beside it: `cargo bench --bench screen`. The bounds:
//! the desk of 1,000 running matches, 50 of them late, in 50 ms, and receipts within 10 % while a GM reloads it every
//! second.

use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use chrono::{DateTime, TimeDelta, Utc};
use fogpost::config::Config;
use fogpost::daemon::screen::respond;
use fogpost::daemon::screen::sessions::{Sessions, new_link};
use fogpost::daemon::{
    GmIndex, Holder, NamedAddress, NewMatch, Office, instruct, items, new_letter, sending,
};
use fogpost::game::BySeat;
use fogpost::game::any::GameKind;
use fogpost::letter::Address;
use fogpost::post::FetchedLetter;
use fogpost::store;
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tokio::runtime::Runtime;

const MATCHES: usize = 1_000;
const LATE: usize = 50;

/// Requests of the desk that are measured.
const DESKS: usize = 60;

/// Runs of letters without the desk and beside it, and letters in a run.
const PAIRS: usize = 9;
const LETTERS: usize = 300;

const CONFIG: &str = r#"
[club]
name = "The Club"
address = "referee@club.example"
[club.gm]
name = "The GM"
address = "gm@club.example"
[database]
url = "sqlite:{}/fogpost.db"
[inbox.maildir]
path = "{}/in"
[outbox.maildir]
path = "{}/out"
[match]
days = 3
setup_days = 3
grace_hours = 240
[letters]
answers_per_hour = 100000
"#;

/// Hours by which the club's clock is ahead.
static AHEAD: AtomicI64 = AtomicI64::new(0);

const HOST: &str = "127.0.0.1:9119";

fn main() {
    let runtime = Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let club = runtime.block_on(club(folder.path()));
    let mut took = Vec::new();
    for _ in 0..DESKS {
        let began = Instant::now();
        let page = runtime.block_on(club.desk());
        took.push(began.elapsed());
        assert!(page.contains("things wait") && page.contains("Moving slowly"), "{page}");
    }
    let (middle, slow) = middle_and_slow(took);
    println!("the desk of {MATCHES} matches: p50 {middle:.1} ms, p99 {slow:.1} ms (bound: 50 ms)");
    beside(&runtime, &club, folder.path());
}

#[derive(Clone)]
struct Club {
    office: Arc<Office>,
    sessions: Arc<Sessions>,
    cookie: String,
}

/// A club whose matches have just begun, except the late ones, and whose GM has logged in.
async fn club(folder: &Path) -> Club {
    let text = CONFIG.replace("{}", &folder.display().to_string());
    let config = Config::parse(&text, "config").expect("a config");
    let store = store::open(&config.database.url).await.expect("a database");
    let clock = || -> DateTime<Utc> { Utc::now() + TimeDelta::hours(AHEAD.load(Ordering::Relaxed)) };
    let office = Arc::new(Office::new(config, store, Arc::new(clock)).expect("an office"));
    open(&office, 0..LATE).await;
    AHEAD.store(24 * 5, Ordering::Relaxed);
    open(&office, LATE..MATCHES).await;
    let sessions = Arc::new(Sessions::default());
    let token = new_link(&office, office.config.club.gm.first()).await.expect("a link");
    let request =
        Request::post("/login").header(header::HOST, HOST).header(header::ORIGIN, format!("http://{HOST}"));
    let request = request.body(Body::from(format!("token={token}"))).expect("a request");
    let response = respond(Arc::clone(&office), Arc::clone(&sessions), request).await;
    let cookie = response.headers()[header::SET_COOKIE].to_str().expect("text").to_owned();
    Club { office, sessions, cookie }
}

async fn open(office: &Office, numbers: std::ops::Range<usize>) {
    let seated = |name: String| {
        let address = Address::parse(&format!("{name}@players.example")).expect("an address");
        Holder::Player(NamedAddress { name, address })
    };
    let new: Vec<NewMatch> = numbers
        .map(|n| {
            let game = GameKind::ALL[n % GameKind::ALL.len()];
            let players = BySeat::new(seated(format!("ann{n}")), seated(format!("bo{n}")));
            let choices = game.choose([]).expect("options");
            NewMatch { game, choices, players, terms: office.config.terms.clone() }
        })
        .collect();
    for some in new.chunks(100) {
        instruct::open_all(office, GmIndex::default(), some).await.expect("the matches open");
    }
    sending::send_due(office).await.expect("sent");
}

impl Club {
    async fn desk(&self) -> String {
        let request = Request::get("/").header(header::HOST, HOST).header(header::COOKIE, &self.cookie);
        let request = request.body(Body::empty()).expect("a request");
        let response = respond(Arc::clone(&self.office), Arc::clone(&self.sessions), request).await;
        let body = to_bytes(response.into_body(), usize::MAX).await.expect("a page");
        String::from_utf8(body.to_vec()).expect("text")
    }
}

/// Returns the median and the 99th percentile, in ms.
fn middle_and_slow(mut took: Vec<Duration>) -> (f64, f64) {
    took.sort();
    let at = |hundredths: usize| took[(took.len() - 1) * hundredths / 100].as_secs_f64() * 1e3;
    (at(50), at(99))
}

struct Seat {
    match_id: String,
    token: String,
    address: String,
}

/// The first seats of the matches of Quadrant Z, which amend their setups.
async fn seats(folder: &Path) -> Vec<Seat> {
    let file = format!("sqlite:{}/fogpost.db", folder.display());
    let options = SqliteConnectOptions::from_str(&file).expect("a file").read_only(true);
    let mut connection = SqliteConnection::connect_with(&options).await.expect("a database");
    let sql = "SELECT s.match_id, s.token, a.address FROM seat s JOIN address a ON a.player_id = s.player_id \
               WHERE s.seat = 'first' AND s.match_id LIKE 'QZ-%' ORDER BY s.match_id";
    let rows: Vec<(String, String, String)> =
        sqlx::query_as(sql).fetch_all(&mut connection).await.expect("seats");
    rows.into_iter().map(|(match_id, token, address)| Seat { match_id, token, address }).collect()
}

/// Measures single letters, from their arrival until their receipts are in the outbox: runs without and with the desk
/// take turns.
fn beside(runtime: &Runtime, club: &Club, folder: &Path) {
    let seats = runtime.block_on(seats(folder));
    let mut ratios = (Vec::new(), Vec::new());
    for pair in 0..=PAIRS {
        let alone = runtime.block_on(run(club, &seats, 2 * pair));
        // A task of its own, as in the daemon.
        let browser = club.clone();
        let reloading = runtime.spawn(async move {
            loop {
                browser.desk().await;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        let together = runtime.block_on(run(club, &seats, 2 * pair + 1));
        reloading.abort();
        // The first pair warms up.
        if pair > 0 {
            ratios.0.push(together.0 / alone.0);
            ratios.1.push(together.1 / alone.1);
        }
    }
    for (name, mut ratios) in [("p50", ratios.0), ("p99", ratios.1)] {
        ratios.sort_by(f64::total_cmp);
        let (least, middle, most) = (ratios[0], ratios[PAIRS / 2], ratios[PAIRS - 1]);
        println!(
            "receipts beside the desk, {name}: {middle:.2} times, from {least:.2} to {most:.2} (bound: 1.10)"
        );
    }
}

/// Rules on letters one by one. Returns the median and the 99th percentile, in ms.
async fn run(club: &Club, seats: &[Seat], run: usize) -> (f64, f64) {
    let mut took = Vec::new();
    for n in 0..LETTERS {
        let Seat { match_id, token, address } = &seats[n % seats.len()];
        let raw = format!(
            "From: <{address}>\r\nTo: <referee@club.example>\r\nSubject: Re: [{match_id}] Setup\r\n\
             Message-ID: <{run}.{n}@players.example>\r\n\r\nSETUP balanced\r\n\r\n> Reply token: {token}\r\n"
        );
        let letter = new_letter(FetchedLetter {
            size: raw.len() as u64,
            raw: raw.into_bytes(),
            received_at: club.office.now(),
            arrivals: Vec::new(),
            origin: "bench".to_owned(),
            cut: false,
            is_spam: false,
        });
        let began = Instant::now();
        club.office.store.insert_letters(&[letter]).await.expect("kept");
        items::settle_all(&club.office).await.expect("settled");
        took.push(began.elapsed());
    }
    sending::send_due(&club.office).await.expect("sent");
    middle_and_slow(took)
}

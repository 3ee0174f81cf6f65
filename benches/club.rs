//! The time in which the results of ten years are rated, and a season opens: `cargo bench --bench club`. The targets:
//! 100,000 results of 500 players in two seconds, and 200 entrants in one, while receipts take as long as without.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta};
use fogpost::club::rating::{RatedResult, Score, table};
use fogpost::config::Config;
use fogpost::daemon::{Office, events, instruct, items};
use fogpost::game::BySeat;
use fogpost::ledger::RatingBasis;
use fogpost::letter::Digest;
use fogpost::referee::{EventAction, Instruction};
use fogpost::store::{self, NewLetter};

use fogpost_testing::random::Random;

const RESULTS: i64 = 100_000;
const PLAYERS: usize = 500;

fn main() {
    let mut random = Random::new(1);
    let mut results = Vec::new();
    for no in 0..RESULTS {
        let first = random.below(PLAYERS);
        let second = (first + 1 + random.below(PLAYERS - 1)) % PLAYERS;
        let number = |player: usize| i64::try_from(player).ok();
        results.push(RatedResult {
            at: DateTime::UNIX_EPOCH + TimeDelta::minutes(no * 52),
            match_id: format!("QD-{no:05}"),
            score: *random.pick(&[Score::Win, Score::Draw, Score::Loss]),
            only: None,
            basis: RatingBasis {
                numbers: BySeat::new(number(first), number(second)),
                advantage: 220,
                house: None,
            },
        });
    }
    let begun = Instant::now();
    let changes = table(results, &|player| player);
    println!("{RESULTS} results, {} changes of ratings: {:.2?}", changes.len(), begun.elapsed());
    season();
}

/// Players of the season that is opened, in sections of five who play each other twice.
const ENTRANTS: usize = 200;

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
path = "{}/mail"
[outbox.maildir]
path = "{}/out"
[letters]
answers_per_hour = 1000000
"#;

/// Pairs of measurements: receipts alone, and receipts while a season opens.
const PAIRS: usize = 7;

/// Measures how long a season takes to open: 800 matches, with 1,600 invitations and 200 letters about opponents. Then
/// measures how long a letter takes to its receipt, alone and while a season opens.
fn season() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        std::fs::write(&path, CONFIG.replace("{}", &folder.path().display().to_string())).expect("a file");
        let config = Config::load(&path).expect("a config");
        let store = store::open(&config.database.url).await.expect("a database");
        let office = Arc::new(Office::new(config, store, Arc::new(chrono::Utc::now)).expect("an office"));
        drawn(&office, 0).await;
        println!("{ENTRANTS} entrants opened: {:.2?}", opened(&office).await);
        let (mut alone, mut beside, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let mut no = 0;
        for pair in 1..=PAIRS {
            let mut own = Vec::new();
            for _ in 0..60 {
                own.push(receipt(&office, &mut no).await);
            }
            drawn(&office, pair).await;
            let running = tokio::spawn({
                let office = Arc::clone(&office);
                async move { opened(&office).await }
            });
            let mut others = Vec::new();
            while !running.is_finished() {
                others.push(receipt(&office, &mut no).await);
            }
            running.await.expect("it opens");
            ratios.push(percentile(&mut others, 50) / percentile(&mut own, 50));
            alone.extend(own);
            beside.extend(others);
        }
        for (name, times) in [("alone", &mut alone), ("beside an opening", &mut beside)] {
            let (half, most) = (percentile(times, 50), percentile(times, 99));
            println!("receipts {name}: p50 {half:.1} ms, p99 {most:.1} ms, {} letters", times.len());
        }
        let most = percentile(&mut ratios, 100);
        println!("ratios of p50, by pair: {ratios:.2?}, at most {most:.2}");
    });
}

/// Announces an event, lets everybody enter, and draws its sections.
async fn drawn(office: &Office, no: usize) {
    let id = format!("EV-BENCH-{no}");
    let plan = format!(
        "id = \"{id}\"\nname = \"Bench\"\ngame = \"quad\"\nformat = \"league\"\nsection_size = 5\n\
         opens = 2099-01-01"
    );
    instruct::carry_out(office, &Instruction::NewEvent { plan }).await.expect("announced");
    for no in 0..ENTRANTS {
        let words = vec![format!("player{no}@players.example"), "bench".to_owned()];
        let enter = Instruction::Event { id: id.clone(), action: EventAction::Enter { words } };
        instruct::carry_out(office, &enter).await.expect("entered");
    }
    let open = Instruction::Event { id, action: EventAction::Open };
    instruct::carry_out(office, &open).await.expect("drawn");
}

async fn opened(office: &Office) -> Duration {
    let begun = Instant::now();
    events::run_when_due(office, office.now()).await.expect("opened");
    begun.elapsed()
}

/// Returns the milliseconds until the receipt of a letter is in the outbox.
async fn receipt(office: &Office, no: &mut u32) -> f64 {
    *no += 1;
    let sender = format!("reader{no}@players.example");
    let raw = format!("From: {sender}\r\nMessage-ID: <{no}@players.example>\r\n\r\nHELP\r\n").into_bytes();
    let letter = NewLetter {
        digest: Digest::of(&raw),
        raw,
        received_at: office.now(),
        origin: format!("maildir:{no}"),
        message_id: format!("{no}@players.example"),
        new_text: None,
        sender,
        subject: String::new(),
        tokens: Vec::new(),
        is_from_gm: false,
    };
    let begun = Instant::now();
    office.store.insert_letters(&[letter]).await.expect("stored");
    items::settle_all(office).await.expect("settled");
    begun.elapsed().as_secs_f64() * 1e3
}

fn percentile(times: &mut [f64], percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

//! The time in which the results of ten years are rated, and a season opens: `cargo bench --bench club`. The targets:
//! 100,000 results of 500 players in two seconds, and 200 entrants in one.

#[path = "../tests/support/random.rs"]
mod random;

use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, TimeDelta};
use fogpost::club::rated::{RatedResult, table};
use fogpost::club::rating::Score;
use fogpost::config::Config;
use fogpost::daemon::{Office, events, instruct};
use fogpost::game::BySeat;
use fogpost::ledger::RatingBasis;
use fogpost::referee::{EventAction, Instruction};
use fogpost::store;

use random::Random;

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
"#;

/// Measures how long a season takes to open: 800 matches, with 1,600 invitations and 200 letters about opponents.
fn season() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        std::fs::write(&path, CONFIG.replace("{}", &folder.path().display().to_string())).expect("a file");
        let config = Config::load(&path).expect("a config");
        let store = store::open(&config.database.url).await.expect("a database");
        let office = Office::new(config, store, Arc::new(chrono::Utc::now)).expect("an office");
        let plan = "id = \"EV-BENCH\"\nname = \"Bench\"\ngame = \"quad\"\nformat = \"league\"\nsection_size = 5\n\
                    opens = 2099-01-01";
        let new = Instruction::NewEvent { plan: plan.to_owned() };
        instruct::carry_out(&office, &new).await.expect("announced");
        for no in 0..ENTRANTS {
            let words = vec![format!("player{no}@players.example"), "bench".to_owned()];
            let action = EventAction::Enter { words };
            let enter = Instruction::Event { id: "EV-BENCH".to_owned(), action };
            instruct::carry_out(&office, &enter).await.expect("entered");
        }
        let open = Instruction::Event { id: "EV-BENCH".to_owned(), action: EventAction::Open };
        instruct::carry_out(&office, &open).await.expect("drawn");
        let begun = Instant::now();
        events::run_when_due(&office, office.now()).await.expect("opened");
        let took = begun.elapsed();
        let matches = office.store.match_ids().await.expect("matches").len();
        println!("{ENTRANTS} entrants, {matches} matches opened: {took:.2?}");
    });
}

//! What an entry costs: to be appended, and to be verified with everything that belongs to it.
//!
//! The match is played once by letter in a folder for temporary files; what is measured is the program's own time.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use divan::Bencher;
use divan::counter::ItemsCount;
use fogpost::config::Config;
use fogpost::daemon::{Holder, NewMatch, Office, Seated};
use fogpost::game::BySeat;
use fogpost::game::any::Kind;
use fogpost::ledger::{Entry, Head};
use fogpost::letter::{Address, Digest};
use fogpost::post::maildir;
use fogpost::referee::Match;
use fogpost::store;
use tempfile::TempDir;
use tokio::runtime::Runtime;

fn main() {
    divan::main();
}

const CONFIG: &str = r#"
[club]
name = "The Bench Club"
address = "referee@club.example"
[club.gm]
name = "The GM"
address = "gm@club.example"
[inbox.maildir]
path = "mail/referee"
[outbox.maildir]
path = "mail"
[letters]
answers_per_hour = 1000000
"#;

/// Letters in the match that is verified: each asks where things stand in other words than the one before, so that it
/// brings one entry and one answer.
const LETTERS: usize = 2_000;

struct Club {
    runtime: Runtime,
    office: Office,
    match_id: String,
    entries: usize,
    _folder: TempDir,
}

impl Club {
    fn new(letters: usize) -> Club {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("config.toml"), CONFIG).expect("the config");
        let inbox = folder.path().join("mail/referee");
        maildir::create(&inbox).expect("the mailbox");
        let runtime = Runtime::new().expect("a runtime");
        let (office, match_id, entries) = runtime.block_on(async {
            let config = Config::load(&folder.path().join("config.toml")).expect("a sound config");
            let store = store::open(&config.database.url).await.expect("a store");
            let now: DateTime<Utc> = "2026-05-07T10:00:00Z".parse().expect("an instant");
            let office = Office::new(config, store, Arc::new(move || now)).expect("an office");
            let m = open(&office).await;
            let sent = office.store.sent_after(&m.id, 0, 1000).await.expect("the invitations");
            for number in 0..letters {
                let letter = format!(
                    "From: ann@players.example\r\nTo: referee@club.example\r\nSubject: Re: [{}] Turn 1\r\n\
                     Message-ID: <{number}@players.example>\r\nIn-Reply-To: <{}>\r\n\r\n\
                     STATUS\r\nFor the {number}th time\r\n",
                    m.id, sent[0].0.message_id
                );
                maildir::deliver(&inbox, &[letter.as_bytes()]).expect("delivered");
            }
            office.once().await.expect("the letters are settled");
            let entries = office.store.entries(&m.id).await.expect("the entries").len();
            (office, m.id, entries)
        });
        Club { runtime, office, match_id, entries, _folder: folder }
    }
}

async fn open(office: &Office) -> Match {
    let seated = |name: &str| Seated {
        name: name.to_owned(),
        address: Address::parse(&format!("{}@players.example", name.to_lowercase())).expect("an address"),
    };
    let new = NewMatch {
        game: Kind::Quad,
        choices: Kind::Quad.choose([]).expect("the defaults"),
        players: BySeat::new(seated("Ann"), seated("Bo")).map(Holder::Player),
        terms: office.config.terms.clone(),
    };
    office.open(new).await.expect("a match")
}

/// A chained entry with its canonical JSON and its hash, as a ruling appends it.
#[divan::bench]
fn append_an_entry(bencher: Bencher) {
    let club = Club::new(1);
    let rows = club.runtime.block_on(club.office.store.entries(&club.match_id)).expect("entries");
    let mut entry: Entry = serde_json::from_str(&rows[rows.len() - 1].json).expect("an entry");
    let mut head = Head { seq: entry.seq, hash: entry.hash() };
    bencher.bench_local(|| {
        (entry.seq, entry.prev) = (head.seq + 1, head.hash);
        entry.at += TimeDelta::milliseconds(1);
        let json = entry.canonical();
        head = Head { seq: entry.seq, hash: Digest::of(json.as_bytes()) };
        json
    });
}

/// The chain alone: hashes, order, canonical form.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn walk_the_chain(bencher: Bencher) {
    let club = Club::new(LETTERS);
    let rows = club.runtime.block_on(club.office.store.entries(&club.match_id)).expect("entries");
    bencher.counter(ItemsCount::new(rows.len())).bench_local(|| {
        fogpost::ledger::walk(rows.iter().map(|row| (row.json.as_str(), row.hash))).expect("a sound chain")
    });
}

/// Everything: each letter read again, each ruling made again, each answer worded again and compared.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn verify_with_letters(bencher: Bencher) {
    let club = Club::new(LETTERS);
    bencher.counter(ItemsCount::new(club.entries)).bench_local(|| {
        let verdict = club.runtime.block_on(club.office.verify(&club.match_id, &|_| ())).expect("a verdict");
        assert!(verdict.is_sound(), "{verdict:#?}");
        verdict
    });
}

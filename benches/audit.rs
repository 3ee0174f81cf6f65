//! The cost of a ledger entry: appending it, and verifying it with everything that belongs to it.
//!
//! The matches are played by letter in a temporary folder before the measurement.

#[path = "../tests/support/club.rs"]
mod club;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use divan::Bencher;
use divan::counter::ItemsCount;
use fogpost::audit::CheckSubject;
use fogpost::daemon::audit::verify;
use fogpost::daemon::{Holder, NamedAddress, NewMatch, Office, instruct, loops};
use fogpost::game::BySeat;
use fogpost::game::any::GameKind;
use fogpost::ledger::{Entry, Head};
use fogpost::letter::{Address, Digest};
use fogpost::post::maildir;
use fogpost::referee::Match;
use tokio::runtime::Runtime;

use club::Club;

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

/// Letters in the matches that are verified. Each asks for STATUS with a different remark, which makes an entry and an
/// answer; a repeated letter would not.
const LETTERS: usize = 2_000;

/// Matches with their letters, ruled on.
struct Played {
    runtime: Runtime,
    office: Arc<Office>,
    match_ids: Vec<String>,
    entries: usize,
    /// Keeps the folder until the end.
    _club: Club,
}

impl Played {
    fn new(matches: usize, letters: usize) -> Played {
        let club = Club::with(CONFIG);
        let runtime = Runtime::new().expect("a runtime");
        let (office, match_ids, entries) = runtime.block_on(play(&club, matches, letters));
        Played { runtime, office, match_ids, entries, _club: club }
    }
}

/// Opens matches and rules on letters. Returns the matches and the number of their entries.
async fn play(club: &Club, matches: usize, letters: usize) -> (Arc<Office>, Vec<String>, usize) {
    let now: DateTime<Utc> = "2026-05-07T10:00:00Z".parse().expect("an instant");
    let office = club.office(move || now).await;
    let mut forms = Vec::new();
    for _ in 0..matches {
        let game_match = open(&office).await;
        let sent = office.store.dispatches_of(&game_match.id).await.expect("the invitations");
        forms.push((game_match.id, sent[0].0.message_id.clone()));
    }
    for (number, (id, form)) in (0..letters).zip(forms.iter().cycle()) {
        let letter = format!(
            "From: ann@players.example\r\nTo: referee@club.example\r\nSubject: Re: [{id}] Turn 1\r\n\
             Message-ID: <{number}@players.example>\r\nIn-Reply-To: <{form}>\r\n\r\n\
             STATUS\r\nFor the {number}th time\r\n"
        );
        maildir::deliver(&club.mailbox(), letter.as_bytes()).expect("delivered");
    }
    loops::once(&office).await.expect("the letters are settled");
    let match_ids: Vec<String> = forms.into_iter().map(|(id, _)| id).collect();
    let mut entries = 0;
    for id in &match_ids {
        entries += office.store.entries(id).await.expect("the entries").len();
    }
    (office, match_ids, entries)
}

async fn open(office: &Office) -> Match {
    let seated = |name: &str| NamedAddress {
        name: name.to_owned(),
        address: Address::parse(&format!("{}@players.example", name.to_lowercase())).expect("an address"),
    };
    let new = NewMatch {
        game: GameKind::Quad,
        choices: GameKind::Quad.choose([]).expect("the defaults"),
        players: BySeat::new(seated("Ann"), seated("Bo")).map(Holder::Player),
        terms: office.config.terms.clone(),
    };
    instruct::open(office, new).await.expect("a match")
}

/// Chains an entry with its canonical JSON and its hash, as a ruling does.
#[divan::bench]
fn append_an_entry(bencher: Bencher) {
    let played = Played::new(1, 1);
    let rows = played.runtime.block_on(played.office.store.entries(&played.match_ids[0])).expect("entries");
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

/// Walks the chain only, and checks its hashes and order.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn walk_the_chain(bencher: Bencher) {
    let played = Played::new(1, LETTERS);
    let rows = played.runtime.block_on(played.office.store.entries(&played.match_ids[0])).expect("entries");
    bencher.counter(ItemsCount::new(rows.len())).bench_local(|| {
        fogpost::ledger::walk(rows.iter().map(|row| (row.json.as_str(), row.hash))).expect("a sound chain")
    });
}

/// Verifies everything: reads each letter, repeats each ruling, words and compares each answer. One match stands for
/// `audit verify MATCH`, sixteen for `audit verify --all`.
#[divan::bench(sample_count = 3, sample_size = 1, args = [1, 16])]
fn verify_with_letters(bencher: Bencher, matches: usize) {
    let played = Played::new(matches, LETTERS);
    let subjects: Vec<CheckSubject> = played.match_ids.iter().cloned().map(CheckSubject::Match).collect();
    bencher.counter(ItemsCount::new(played.entries)).bench_local(|| {
        let verified = verify::verify_several(&played.office, &subjects, &|_| ());
        let verdicts = played.runtime.block_on(verified).expect("verdicts");
        assert!(verdicts.iter().all(fogpost::audit::AuditVerdict::is_sound), "{verdicts:#?}");
        verdicts
    });
}

//! How many letters per second are stored and settled, and dispatches claimed and recorded, in a database with few
//! matches and with many.
//!
//! Runs on SQLite in the folder for temporary files, or on the database that FOGPOST_BENCH_URL names, which must have
//! been created for this: the rows stay there.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use divan::Bencher;
use divan::counter::ItemsCount;
use fogpost::game::any::GameKind;
use fogpost::letter::Digest;
use fogpost::referee::{DispatchKind, Stage};
use fogpost::store::{
    Changes, Database, EntryRow, LetterDecision, LetterStatus, MatchRow, NewDispatch, NewLetter, Urgency,
    open,
};
use overview::overview;
use tokio::runtime::Runtime;

#[path = "../tests/support/overview.rs"]
mod overview;

fn main() {
    divan::main();
}

const FEW_AND_MANY: [usize; 2] = [500, 100_000];

#[divan::bench(args = FEW_AND_MANY, sample_size = 1, sample_count = 40)]
fn take_in_500_letters(bencher: Bencher, matches: usize) {
    insert_letters(bencher, matches, 500);
}

#[divan::bench(args = FEW_AND_MANY, sample_size = 1, sample_count = 200)]
fn take_in_one_letter(bencher: Bencher, matches: usize) {
    insert_letters(bencher, matches, 1);
}

#[divan::bench(args = FEW_AND_MANY, sample_size = 1, sample_count = 40)]
fn settle_500_letters(bencher: Bencher, matches: usize) {
    settle(bencher, matches, 500);
}

#[divan::bench(args = FEW_AND_MANY, sample_size = 1, sample_count = 200)]
fn settle_one_letter(bencher: Bencher, matches: usize) {
    settle(bencher, matches, 1);
}

#[divan::bench(args = FEW_AND_MANY, sample_size = 1, sample_count = 40)]
fn claim_and_note_500_dispatches(bencher: Bencher, matches: usize) {
    let club = Club::new(matches);
    let now = DateTime::<Utc>::UNIX_EPOCH;
    bencher
        .counter(ItemsCount::new(500_usize))
        .with_inputs(|| club.settle(&club.ruling(500)))
        .bench_local_values(|()| {
            club.runtime.block_on(async {
                let (claimed, claim) = club.store.claim_dispatches(now, 500).await.expect("a claim");
                let sent: Vec<_> =
                    claimed.iter().map(|one| (one.id, fogpost::store::SendOutcome::Taken)).collect();
                assert_eq!(sent.len(), 500);
                club.store.record_outcomes(claim, now, &sent).await.expect("a note");
            });
        });
}

fn insert_letters(bencher: Bencher, matches: usize, size: usize) {
    let club = Club::new(matches);
    bencher
        .counter(ItemsCount::new(size))
        .with_inputs(|| club.letters(size))
        .bench_local_values(|letters| club.insert_letters(&letters));
}

fn settle(bencher: Bencher, matches: usize, size: usize) {
    let club = Club::new(matches);
    bencher
        .counter(ItemsCount::new(size))
        .with_inputs(|| club.ruling(size))
        .bench_local_values(|ruling| club.settle(&ruling));
}

/// A store filled with matches, and the counters for further commits and letters.
struct Club {
    runtime: Runtime,
    store: Arc<Database>,
    /// How often each match was committed, which is its version.
    commits: RefCell<Vec<i64>>,
    letters: Cell<usize>,
    /// The number of matches that earlier benches left in the database.
    before: usize,
    _folder: tempfile::TempDir,
}

impl Club {
    fn new(matches: usize) -> Club {
        let runtime = Runtime::new().expect("a runtime");
        let folder = tempfile::tempdir().expect("a folder");
        let url = std::env::var("FOGPOST_BENCH_URL")
            .unwrap_or_else(|_| format!("sqlite:{}", folder.path().join("fogpost.db").display()));
        let store = runtime.block_on(open(&url)).expect("a store");
        let before = runtime.block_on(store.match_ids()).expect("its matches").len();
        let club = Club {
            runtime,
            store,
            commits: RefCell::new(vec![0; matches]),
            letters: Cell::new(before * 1000),
            before,
            _folder: folder,
        };
        let all: Vec<usize> = (0..matches).collect();
        for numbers in all.chunks(500) {
            let matches = numbers.iter().map(|number| club.commit_of(*number)).collect();
            club.settle(&Changes { matches, ..Changes::default() });
        }
        club
    }

    fn id(&self, number: usize) -> String {
        format!("QZ-{}", self.before + number)
    }

    fn commit_of(&self, number: usize) -> MatchRow {
        let version = self.commits.borrow()[number];
        self.commits.borrow_mut()[number] += 1;
        MatchRow {
            id: self.id(number),
            overview: overview(&self.id(number), GameKind::QuadrantZ, Stage::Running),
            wake_at: Some(DateTime::UNIX_EPOCH),
            snapshot: "s".repeat(4_000),
            version,
        }
    }

    fn letters(&self, size: usize) -> Vec<NewLetter> {
        (0..size).map(|_| self.letter(self.letters.replace(self.letters.get() + 1))).collect()
    }

    fn letter(&self, number: usize) -> NewLetter {
        let raw = format!("Message-ID: <{number}@player.test>\r\n{}", "x".repeat(2_100)).into_bytes();
        NewLetter {
            digest: Digest::of(&raw),
            raw,
            received_at: DateTime::UNIX_EPOCH,
            origin: format!("imap:INBOX/1/{number}"),
            message_id: format!("{number}@player.test"),
            sender: format!("player{number}@player.test"),
            subject: "Orders for turn 7".to_owned(),
            tokens: Vec::new(),
            is_from_gm: true,
            new_text: None,
        }
    }

    fn insert_letters(&self, letters: &[NewLetter]) {
        let waiting = self.runtime.block_on(self.store.insert_letters(letters)).expect("an intake");
        assert_eq!(waiting, letters.len());
    }

    /// Stores new letters, and returns a changes in which each changes a match, adds a ledger entry and is answered.
    fn ruling(&self, size: usize) -> Changes {
        let letters = self.letters(size);
        self.insert_letters(&letters);
        let mut ruling = Changes::default();
        for letter in letters {
            // Step from match to match by a prime, so that consecutive letters do not share a database page.
            let number = (self.letters.get() + ruling.matches.len()) * 7919 % self.commits.borrow().len();
            let row = self.commit_of(number);
            let json = format!("{{\"of\":\"{}\",\"body\":\"{}\"}}", letter.digest, "b".repeat(400));
            ruling.entries.push(EntryRow {
                chain: row.id.clone(),
                seq: row.version.unsigned_abs(),
                at: DateTime::UNIX_EPOCH,
                kind: "OrdersSealed".to_owned(),
                hash: Digest::of(json.as_bytes()),
                json,
                letters: vec![letter.digest],
            });
            ruling.dispatches.push(NewDispatch {
                message_id: letter.digest.to_string(),
                recipient: letter.sender,
                bytes: vec![b'd'; 4_000],
                kind: DispatchKind::Answer,
                match_id: Some(row.id.clone()),
                seat: None,
                answers: Some(letter.digest),
                reminds: None,
                return_id: None,
                due: None,
                replaces: None,
                urgency: Urgency::Receipt,
                pin: None,
            });
            let note = String::new();
            ruling.decided.push(LetterDecision {
                digest: letter.digest,
                status: LetterStatus::Ruled,
                note,
                seat: None,
                accepted_by: None,
            });
            ruling.matches.push(row);
        }
        ruling
    }

    fn settle(&self, ruling: &Changes) {
        self.runtime.block_on(self.store.commit(ruling)).expect("a commit");
    }
}

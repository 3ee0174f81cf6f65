//! Frozen ledgers: one match of each game as procedure 1 ruled on it. Rulings on the same causes must produce the same
//! entries until the number of the procedure is raised.
//!
//! If `FOGPOST_FREEZE` is set, matches are played and their ledgers frozen again for the present procedure.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use fogpost::audit::{
    AuditVerdict, Check, LedgerReader, LedgerRow, Place, StoredLetter, StoredMatch, StoredSeat,
};
use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Seat};
use fogpost::ledger::{Entry, Fact, KeptPin};
use fogpost::letter::Digest;
use fogpost::referee::{Match, PROCEDURE};
use serde::{Deserialize, Serialize};

use crate::audit::database::entries;
use crate::referee::{ANN, BO, Referee};
use fogpost_testing::random::Random;
use fogpost_testing::random_play::RandomPlay as _;

/// Everything in a match that a check needs, except the letters that we sent.
#[derive(Serialize, Deserialize)]
struct Frozen {
    snapshot: Match,
    tokens: BySeat<String>,
    addresses: BySeat<Vec<String>>,
    pins: Vec<KeptPin>,
    entries: Vec<String>,
    letters: Vec<FrozenLetter>,
}

#[derive(Serialize, Deserialize)]
struct FrozenLetter {
    received_at: chrono::DateTime<chrono::Utc>,
    raw: String,
}

fn path(game: GameKind, procedure: u32) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/desk/audit/frozen");
    folder.join(format!("{}-{procedure}.json", game.key()))
}

/// Plays a match with a bit of everything, and returns what is frozen of it.
fn play(game: GameKind) -> Frozen {
    let referee = Referee::new();
    let id = referee.open(game, &[]).id;
    let mut random = Random::new(7);
    for turn in 0..5 {
        let Some(due) = referee.find(&id).due() else { break };
        for seat in due.seats {
            let address = [ANN, BO][usize::from(seat == Seat::Second)];
            let orders = referee
                .find(&id)
                .state
                .random_filing(seat, &mut |below| random.below(below as usize) as u32)
                .join("\n");
            let form = referee.last_to(address);
            if turn == 1 {
                referee.reply(address, &form, "FROBNICATE A1\nSTATUS\nTELL Good luck\nEND");
                referee.reply(address, &form, "CHECK\nHOLD");
            }
            referee.reply(address, &form, &orders);
        }
        if turn == 3 {
            referee.reply(ANN, &referee.last_to(ANN), "TURN 99\nHOLD\nNOT AN ORDER AT ALL");
        }
        if turn == 2 {
            referee.reply(BO, &referee.last_to(BO), "EXTEND 2 days");
            referee.reply(ANN, &referee.last_to(ANN), "AGREE\nABSENT 2026-06-20 TO 2026-06-22");
            referee.advance(30);
        }
    }
    referee.reply(BO, &referee.last_to(BO), "RESIGN CONFIRM");
    referee.reply(ANN, &referee.last_to(ANN), "HELP");
    frozen(&referee, &id)
}

fn frozen(referee: &Referee, id: &str) -> Frozen {
    let store = &referee.office().store;
    let mut letters = Vec::new();
    for letter in referee.letters() {
        let raw =
            referee.block_on(store.letter(letter.digest)).expect("the store answers").expect("its bytes");
        let raw = String::from_utf8(raw).expect("a letter in ASCII");
        letters.push(FrozenLetter { received_at: letter.received_at, raw });
    }
    let rows = referee.block_on(store.seats_of(&[id.to_owned()])).expect("the store answers");
    let of = |seat: Seat| rows.iter().find(|row| row.seat == seat).expect("both seats");
    Frozen {
        snapshot: referee.find(id),
        tokens: BySeat::from_fn(|seat| of(seat).token.clone()),
        addresses: BySeat::from_fn(|seat| of(seat).player.addresses.clone()),
        pins: referee.block_on(store.seat_pins(id)).expect("the store answers"),
        entries: entries(referee, id).iter().map(Entry::canonical).collect(),
        letters,
    }
}

impl Frozen {
    fn check(&self) -> AuditVerdict {
        let game_match = &self.snapshot;
        let entries: Vec<Entry> =
            self.entries.iter().map(|json| serde_json::from_str(json).expect("an entry")).collect();
        let ended = entries.iter().find(|entry| matches!(entry.fact, Fact::MatchEnded { .. }));
        let stored = StoredMatch {
            id: game_match.id.clone(),
            overview: game_match.overview(),
            wake_at: game_match.wake_at(),
            ended_at: ended.map(|entry| entry.at),
            snapshot: game_match.to_json(),
        };
        let seats = BySeat::from_fn(|seat| StoredSeat {
            token: self.tokens[seat].clone(),
            addresses: self.addresses[seat].clone(),
            player: None,
        });
        let mut check = Check::new(stored, seats, self.pins.clone(), None);
        let mut reader = LedgerReader::new(&game_match.id, check.first_key());
        for (entry, json) in entries.iter().zip(&self.entries) {
            let (kind, hash) = (entry.fact.kind().to_owned(), Digest::of(json.as_bytes()));
            reader.push_entry(LedgerRow { seq: entry.seq, at: entry.at, kind, json: json.clone(), hash });
        }
        reader.push_dispatches(Vec::new());
        let missing = reader.missing_letters();
        let letters = self.letters.iter().map(|letter| StoredLetter {
            digest: Digest::of(letter.raw.as_bytes()),
            received_at: letter.received_at,
            is_ruled: true,
            raw: letter.raw.clone().into_bytes(),
        });
        let named = letters.filter(|letter| missing.contains(&letter.digest));
        let parsed = named.map(|letter| reader.parse_letter(&letter)).collect();
        reader.push_letters(parsed, &BTreeMap::new());
        check.push_batch(reader.take_batch());
        check.repeat_pending(true);
        let mut verdict = check.finish();
        // Our letters are not frozen, because their wording may change.
        verdict.findings.retain(|finding| !matches!(finding.place, Place::Sent(_)));
        verdict
    }
}

#[test]
fn entries_change_only_with_the_number_of_the_procedure() {
    for game in GameKind::ALL {
        let path = path(*game, PROCEDURE);
        if std::env::var_os("FOGPOST_FREEZE").is_some() {
            let frozen = serde_json::to_string_pretty(&play(*game)).expect("plain values");
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(&path, frozen + "\n").expect("written");
        }
        let Ok(frozen) = fs::read_to_string(&path) else {
            panic!(
                "no ledger of {game} is frozen for procedure {PROCEDURE}: run this test with FOGPOST_FREEZE=1"
            );
        };
        let frozen: Frozen = serde_json::from_str(&frozen).expect("a frozen ledger");
        let verdict = frozen.check();
        assert!(
            verdict.is_sound() && verdict.rulings_by_procedure.is_empty(),
            "the same causes bring other entries in a match of {game}: raise PROCEDURE in crates/core/src/referee/mod.rs, and freeze \
             the ledgers anew with FOGPOST_FREEZE=1; {verdict:#?}"
        );
    }
}

#[test]
fn a_frozen_ledger_in_which_an_order_is_changed_is_found() {
    for game in GameKind::ALL {
        let Ok(frozen) = fs::read_to_string(path(*game, PROCEDURE)) else { continue };
        let mut frozen: Frozen = serde_json::from_str(&frozen).expect("a frozen ledger");
        let last = frozen.letters.pop().expect("a letter");
        assert!(!frozen.check().is_sound(), "{game}: the letter of {} is missing", last.received_at);
    }
}

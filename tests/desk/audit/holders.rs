//! The holder of a seat, and the times at which letters came and went: the ledger pins them, and the audit compares
//! them with the stored rows.

use fogpost::audit::Place;
use fogpost::daemon::instruct;
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::ledger::{FORMAT, Fact};
use fogpost::letter::Digest;
use fogpost::referee::{Act, Instruction, MatchAction};

use crate::audit::database::{cheat, entries, found, played};
use crate::referee::{ANN, BO, Referee};

#[test]
fn an_address_that_was_changed_and_changed_back_is_found_by_the_letter_that_came_from_it() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    cheat(
        &referee,
        &["UPDATE address SET address = 'eve@elsewhere.example' WHERE address = 'ann@players.example'"],
    );
    referee.reply("eve@elsewhere.example", &to_ann, "MARBLE E5");
    cheat(
        &referee,
        &["UPDATE address SET address = 'ann@players.example' WHERE address = 'eve@elsewhere.example'"],
    );
    referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    let forged = referee.letters().last().expect("a letter").digest;
    let verdict = referee.verify(&game_match.id);
    assert_eq!(*found(&verdict), Place::Letter(forged));
    assert!(verdict.findings[0].what.contains("whose player sent it"), "{verdict:#?}");
}

#[test]
fn a_letter_that_went_to_a_stranger_is_found() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, _) = (referee.one_to(ANN), referee.one_to(BO));
    cheat(
        &referee,
        &["UPDATE address SET address = 'eve@elsewhere.example' WHERE address = 'bo@players.example'"],
    );
    referee.reply(ANN, &to_ann, "MARBLE E5");
    cheat(
        &referee,
        &["UPDATE address SET address = 'bo@players.example' WHERE address = 'eve@elsewhere.example'"],
    );
    let verdict = referee.verify(&game_match.id);
    assert!(matches!(found(&verdict), Place::Sent(_)));
    assert!(verdict.findings[0].what.contains("no entry pins"), "{verdict:#?}");
}

#[test]
fn entries_list_each_delivery_once_with_its_time() {
    let (referee, game_match) = played();
    let entries = entries(&referee, &game_match.id);
    let sent =
        referee.block_on(referee.office().store.dispatches_of(&game_match.id)).expect("the store answers");
    let told: Vec<Digest> = entries.iter().flat_map(|entry| entry.pins.clone()).collect();
    let listed: Vec<Digest> =
        entries.iter().flat_map(|entry| &entry.delivered).map(|delivery| delivery.letter).collect();
    assert_eq!(listed, told, "each letter was delivered before the next ruling");
    let times: Vec<_> =
        entries.iter().flat_map(|entry| &entry.delivered).map(|delivery| Some(delivery.at)).collect();
    assert_eq!(times, sent.iter().take(times.len()).map(|(row, _)| row.sent_at).collect::<Vec<_>>());
}

#[test]
fn addresses_and_tokens_stand_in_no_entry_in_the_clear() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    let action = MatchAction::Act(Act::RenewToken(Seat::First));
    let renew = Instruction::Match { id: game_match.id.clone(), turn: None, action };
    assert!(
        referee.block_on(instruct::carry_out(referee.office(), &renew)).expect("the store answers").is_done()
    );
    referee.work();
    let renewed = referee.last_to(ANN);
    referee.sent_to(BO);
    referee.reply(ANN, &renewed, "MARBLE E5");
    let entries = entries(&referee, &game_match.id);
    assert!(matches!(&entries[0].fact, Fact::MatchOpened { format: FORMAT, holders: Some(_), .. }));
    assert!(entries.iter().any(|entry| matches!(entry.fact, Fact::HolderPinned { .. })));
    for entry in entries {
        for secret in [ANN, BO, to_ann.token(), to_bo.token(), renewed.token()] {
            assert!(!entry.canonical().contains(secret), "{}", entry.canonical());
        }
    }
}

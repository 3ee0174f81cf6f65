//! A player is forgotten: addresses and letters go, and the chains stay whole.

use fogpost::audit::Place;
use fogpost::club::BookFact;
use fogpost::game::any::GameKind;
use fogpost::store::Player;

use crate::audit::{cheat, found};
use crate::club::book;
use crate::desk::{ANN, BO, Desk};

fn player(desk: &Desk, address: &str) -> Option<Player> {
    desk.block_on(desk.office().store.player_by_address(address)).expect("the store answers")
}

#[test]
fn a_player_whose_matches_are_over_is_forgotten_and_the_chain_stays_whole() {
    let desk = Desk::new();
    let id = desk.open(GameKind::Quad, &[]).id;
    let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    let bo = player(&desk, BO).expect("Bo");
    let number = bo.id;
    let refused = desk.block_on(desk.office().forget(number)).expect_err("the match is running");
    assert!(refused.to_string().contains("is not over"), "{refused:#}");
    assert!(player(&desk, BO).is_some());
    desk.reply(BO, &to_bo, "RESIGN CONFIRM");
    let head = desk.find(&id).head;
    let letters = desk.letters();
    let matches = desk.block_on(desk.office().forget(number)).expect("it is forgotten");
    assert_eq!(matches, std::slice::from_ref(&id));
    assert!(player(&desk, BO).is_none() && player(&desk, ANN).is_some());
    let store = &desk.office().store;
    for letter in desk.letters() {
        let raw = desk.block_on(store.letter(letter.digest)).expect("the store answers");
        assert_ne!(letter.sender, BO);
        let was = letters.iter().find(|was| was.digest == letter.digest).expect("the same letter");
        assert_eq!(raw.is_some(), was.sender != BO, "{was:?}");
    }
    let sent = desk.block_on(store.dispatches_of(&id)).expect("the store answers");
    assert!(sent.iter().all(|(row, _)| row.recipient != BO && !row.recipient.is_empty()) && !sent.is_empty());
    let after = desk.find(&id);
    assert_eq!((after.head, after.players.second.as_str()), (head, format!("P-{number}").as_str()));
    let verdict = desk.verify(&id);
    assert!(verdict.is_sound() && verdict.head == head, "{verdict:#?}");
    assert_eq!(verdict.withheld.as_deref(), Some(&*format!("the letters of P-{number}, who was forgotten")));
    let told = BookFact::Forgotten { player: number, matches: Some(vec![id.clone()]) };
    assert_eq!(book(&desk).pop().map(|entry| entry.fact), Some(told));
    let again = desk.block_on(desk.office().forget(number)).expect_err("there is nothing left");
    assert!(again.to_string().contains("nothing is left to forget"), "{again:#}");
    cheat(
        &desk,
        &["UPDATE entry SET json = replace(json, 'MARBLE E5', 'MARBLE E6') WHERE kind = 'OrdersSealed'"],
    );
    let verdict = desk.verify(&id);
    assert!(verdict.findings[0].what.contains("was changed"), "{verdict:#?}");
}

#[test]
fn a_match_whose_letters_are_withheld_for_somebody_whom_the_book_does_not_name_is_wrong() {
    let desk = Desk::new();
    let id = desk.open(GameKind::Quad, &[]).id;
    desk.reply(ANN, &desk.one_to(ANN), "RESIGN CONFIRM");
    let number = player(&desk, BO).expect("Bo").id;
    cheat(&desk, &[&format!("UPDATE match SET forgotten = 'P-{number}'")]);
    let verdict = desk.verify(&id);
    assert_eq!(*found(&verdict), Place::Kept("the match"));
    assert!(verdict.findings[0].what.contains("does not say that"), "{verdict:#?}");
}

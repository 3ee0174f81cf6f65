//! Counts with a limit, questions to senders, and delayed dispatches, on every database.

use fogpost::game::any::GameKind;
use fogpost::store::{
    BudgetKey, BudgetKind, BudgetQuestion, Changes, Invitation, InvitationStage, NewDispatch, Restraints,
    Standing, StoreError, open,
};

use crate::place::Place;
use crate::samples::*;

fn key(subject: &str, kind: BudgetKind, period: i64) -> BudgetKey {
    BudgetKey { subject: subject.to_owned(), kind, period: at(period) }
}

fn using(key: BudgetKey, added: i64, most: u32) -> Changes {
    let mut restraints = Restraints::default();
    restraints.count(key, added, most);
    Changes { restraints, ..changes() }
}

pub async fn a_count_never_exceeds_its_limit(place: Place) {
    let store = &place.store;
    let club = || key("", BudgetKind::Club, 0);
    store.commit(&using(club(), 2, 3)).await.unwrap();
    let mut beyond = using(club(), 2, 3);
    beyond.dispatches.push(dispatch(1));
    let other = open(&place.url).await.unwrap();
    // Another daemon counts by the same row, and what it wants to send must be decided again.
    assert!(matches!(other.commit(&beyond).await, Err(StoreError::Stale(_))));
    assert!(store.list_dispatches(false, 9).await.unwrap().is_empty());
    store.commit(&using(club(), 1, 3)).await.unwrap();
    store.commit(&using(club(), -3, 3)).await.unwrap();
    assert_eq!(store.budgets(&[String::new()], at(0)).await.unwrap(), [(club(), 0)]);
}

pub async fn counts_are_found_by_subject_and_past_ones_are_deleted(place: Place) {
    let store = &place.store;
    let (early, late) = (key("bo", BudgetKind::Others, 0), key("bo", BudgetKind::Others, 60));
    for key in [early.clone(), late.clone(), key("ann", BudgetKind::Others, 60)] {
        store.commit(&using(key, 1, 10)).await.unwrap();
    }
    let of_bo = async |since| store.budgets(&["bo".to_owned()], at(since)).await.unwrap();
    assert_eq!(of_bo(0).await, [(early, 1), (late.clone(), 1)]);
    assert_eq!(of_bo(1).await, [(late.clone(), 1)]);
    store.delete_past_restraints(at(60), at(60)).await.unwrap();
    assert_eq!(of_bo(0).await, [(late, 1)]);
}

pub async fn a_question_is_replaced_answered_or_lapses(place: Place) {
    let store = &place.store;
    let put = async |address: &str, question: Option<BudgetQuestion>, standing: Standing| {
        let mut restraints = Restraints::default();
        restraints.questions.insert((address.to_owned(), "K7M3".to_owned()), question);
        restraints.standings.insert(address.to_owned(), standing);
        store.commit(&Changes { restraints, ..changes() }).await.unwrap();
    };
    let question = |lines: &[&str], lapses: i64| BudgetQuestion {
        code: "K7M3".to_owned(),
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        asked_at: Some(at(0)),
        lapses_at: at(lapses),
    };
    let both = ["ann".to_owned(), "bo".to_owned()];
    put("ann", Some(question(&["OPEN quad"], 60)), Standing::default()).await;
    put("ann", Some(question(&["OPEN quad", "JOIN 7K3M9P"], 60)), Standing::default()).await;
    put("bo", Some(question(&["OPEN quad"], 90)), Standing::default()).await;
    let found = store.questions(&both[..1]).await.unwrap();
    assert_eq!(found, [("ann".to_owned(), question(&["OPEN quad", "JOIN 7K3M9P"], 60))]);
    store.delete_past_restraints(at(0), at(60)).await.unwrap();
    assert_eq!(store.questions(&both).await.unwrap().len(), 1);
    let known = Standing {
        proven_at: Some(at(1)),
        unwilling_since: Some(at(2)),
        blocked_since: Some(at(3)),
        signed: 4,
    };
    put("bo", None, known).await;
    assert_eq!(store.questions(&both).await.unwrap(), []);
    assert!(store.standings(&both).await.unwrap().contains(&("bo".to_owned(), known)));
}

pub async fn a_delayed_dispatch_waits_until_it_is_due(place: Place) {
    let store = &place.store;
    let delayed = NewDispatch { due: Some(at(90)), ..dispatch(1) };
    store.commit(&Changes { dispatches: vec![delayed, dispatch(2)], ..changes() }).await.unwrap();
    let (claimed, claim) = store.claim_dispatches(at(89), 9).await.unwrap();
    assert_eq!(claimed.iter().map(|one| one.message_id.as_str()).collect::<Vec<_>>(), ["d2@club.test"]);
    drop(claim);
    let (claimed, _claim) = store.claim_dispatches(at(90), 9).await.unwrap();
    // The other may still belong to the claim before: a server ends a dropped claim later.
    assert!(claimed.iter().any(|one| one.message_id == "d1@club.test"));
}

pub async fn a_declined_offer_is_remembered_for_each_pair(place: Place) {
    let store = &place.store;
    let offer = |code: &str, invited: &str, stage| Invitation {
        code: code.to_owned(),
        inviter: "ann@player.test".to_owned(),
        inviter_name: "Ann".to_owned(),
        invited: Some(invited.to_owned()),
        game: GameKind::Quad,
        offer: "{}".to_owned(),
        stage,
        match_id: None,
        created_at: at(0),
        lapses_at: at(100),
        invited_name: None,
        rematch_of: None,
        taken_from: None,
        taken: 0,
    };
    let invitations = vec![
        offer("A", "bo@player.test", InvitationStage::Declined),
        offer("B", "carl@player.test", InvitationStage::Lapsed),
    ];
    store.commit(&Changes { invitations, ..changes() }).await.unwrap();
    let declined = async |inviter: &str, invited: &str| store.has_declined(inviter, invited).await.unwrap();
    assert!(declined("ann@player.test", "bo@player.test").await);
    assert!(!declined("ann@player.test", "carl@player.test").await);
    assert!(!declined("bo@player.test", "bo@player.test").await);
}

//! Invitations, merged players, postponed letters and bounced dispatches, on every database.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::store::{
    ChangeKind, ChangeStage, Changes, Invitation, InvitationStage, PlayerChange, Postponed, StoreError,
};

use crate::place::Place;
use crate::samples::*;

fn invitation(code: &str, stage: InvitationStage) -> Invitation {
    Invitation {
        code: code.to_owned(),
        inviter: "ann@player.test".to_owned(),
        inviter_name: "Ann".to_owned(),
        invited: Some("bo@player.test".to_owned()),
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
    }
}

pub async fn an_invitation_is_accepted_once(place: Place) {
    let store = &place.store;
    let put = async |stage, match_id: Option<&str>| {
        let row = Invitation { match_id: match_id.map(str::to_owned), ..invitation("7K3M9P", stage) };
        store.commit(&Changes { invitations: vec![row], ..changes() }).await
    };
    put(InvitationStage::Open, None).await.unwrap();
    let found = store.invitation("7K3M9P").await.unwrap();
    assert_eq!(found, Some(invitation("7K3M9P", InvitationStage::Open)));
    assert!(matches!(put(InvitationStage::Open, None).await, Err(StoreError::Stale(_))));
    add_matches(store, &["QU-AAAA"]).await;
    put(InvitationStage::Taken, Some("QU-AAAA")).await.unwrap();
    assert!(matches!(put(InvitationStage::Declined, None).await, Err(StoreError::Stale(_))));
    let found = store.invitation("7K3M9P").await.unwrap().unwrap();
    assert_eq!((found.stage, found.match_id.as_deref()), (InvitationStage::Taken, Some("QU-AAAA")));
    assert_eq!(store.invitation("nothing").await.unwrap(), None);
}

pub async fn open_invitations_are_found_once_they_lapse(place: Place) {
    let store = &place.store;
    let late =
        Invitation { lapses_at: at(200), created_at: at(1), ..invitation("LATE", InvitationStage::Open) };
    let gone = invitation("GONE", InvitationStage::Lapsed);
    let invitations = vec![late, invitation("SOON", InvitationStage::Open), gone];
    store.commit(&Changes { invitations, ..changes() }).await.unwrap();
    let codes = async |by| -> Vec<String> {
        store.open_invitations(by).await.unwrap().into_iter().map(|row| row.code).collect()
    };
    assert_eq!(codes(None).await, ["SOON", "LATE"]);
    assert_eq!(codes(Some(at(100))).await, ["SOON"]);
    assert_eq!(codes(Some(at(99))).await, [""; 0]);
}

pub async fn two_players_become_one_with_all_seats_and_addresses(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA", "QZ-BBBB"]).await;
    let seats = add_seats(store, "QZ-AAAA").await;
    let other = store.find_or_add_player("ann@elsewhere.test", "Ann again", at(0)).await.unwrap();
    let (ann, bo) = (seats[0].player_id, seats[1].player_id);
    let merged = vec![(other.id, ann)];
    store.commit(&Changes { merged, ..changes() }).await.unwrap();
    let found = store.player_by_address("ann@elsewhere.test").await.unwrap().unwrap();
    assert_eq!((found.id, found.addresses.len()), (ann, 2));
    assert_eq!(found.addresses[1], "ann@elsewhere.test", "letters go where they went before");
    let merged = vec![(ann, bo)];
    let error = store.commit(&Changes { merged, ..changes() }).await.unwrap_err();
    assert!(matches!(error, StoreError::Unsound(_)), "one player would hold both sides");
    let of = async |id| -> Vec<String> {
        store.matches_of(id).await.unwrap().into_iter().map(|(_, row)| row.id).collect()
    };
    assert_eq!(of(ann).await, ["QZ-AAAA"]);
    assert_eq!(of(other.id).await, [""; 0]);
}

pub async fn a_deferred_letter_waits_until_its_time(place: Place) {
    let store = &place.store;
    store.insert_letters(&letters(1..3)).await.unwrap();
    postpone(store, &letter(1), Some(60), "the DNS did not answer").await;
    let waiting = async |now| waiting_letters(store, now).await.len();
    assert_eq!((waiting(59).await, waiting(60).await), (1, 2));
    assert_eq!(store.letters(None, None, "", 9).await.unwrap()[1].note, "the DNS did not answer");

    add_matches(store, &["QZ-AAAA", "QZ-BBBB"]).await;
    let (digest, note) = (letter(1).digest, String::new());
    let match_id = Some("QZ-BBBB".to_owned());
    let postponed = vec![Postponed { digest, note, until: Some(at(60)), match_id }];
    store.commit(&Changes { postponed, ..changes() }).await.unwrap();
    assert_eq!(store.matches_with_deferred_letters(at(59)).await.unwrap(), ["QZ-BBBB"]);
    assert_eq!(store.matches_with_deferred_letters(at(60)).await.unwrap(), [""; 0]);
}

pub async fn a_bounced_dispatch_is_marked(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA"]).await;
    let mut made = dispatch(1);
    (made.match_id, made.seat) = (Some("QZ-AAAA".to_owned()), Some(Seat::Second));
    store.commit(&Changes { dispatches: vec![made, dispatch(2)], ..changes() }).await.unwrap();
    let names = ["d1@club.test".to_owned(), "nobody@club.test".to_owned()];
    let found = store.dispatches_named(&names).await.unwrap();
    assert_eq!((found.len(), found[0].returned, found[0].seat), (1, false, Some(Seat::Second)));
    store.commit(&Changes { returned: names.to_vec(), ..changes() }).await.unwrap();
    assert!(store.dispatches_named(&names).await.unwrap()[0].returned);
}

pub async fn entries_are_found_by_kind_and_time(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA"]).await;
    let mut entries = vec![entry("QZ-AAAA", 1), entry("QZ-AAAA", 2), entry("QZ-AAAA", 3)];
    entries[1].at = at(10);
    (entries[2].at, entries[2].kind) = (at(10), "OrdersRefused".to_owned());
    store.commit(&Changes { entries, ..changes() }).await.unwrap();
    let seqs = async |kind, since| -> Vec<u64> {
        store.entries_since(kind, at(since)).await.unwrap().into_iter().map(|row| row.seq).collect()
    };
    assert_eq!(seqs("OrdersSealed", 0).await, [1, 2]);
    assert_eq!(seqs("OrdersSealed", 1).await, [2]);
    assert_eq!(seqs("OrdersRefused", 0).await, [3]);
}

pub async fn a_change_of_a_player_moves_from_stage_to_stage_once(place: Place) {
    let store = &place.store;
    let ann = store.find_or_add_player("ann@player.test", "Ann", at(0)).await.unwrap();
    let asked = PlayerChange {
        matches: vec!["QD-7K3M".to_owned()],
        code: "7K3M9P2Q4R".to_owned(),
        other_code: "8K3M9P2Q4R".to_owned(),
        player_id: ann.id,
        kind: ChangeKind::Remove,
        address: "ann@old.test".to_owned(),
        registered: "ann@player.test".to_owned(),
        with_token: false,
        stage: ChangeStage::Asked,
        asked_at: at(1),
        changed_at: at(1),
        version: 1,
    };
    let put = async |row: &PlayerChange| {
        store.commit(&Changes { player_changes: vec![row.clone()], ..changes() }).await
    };
    put(&asked).await.unwrap();
    assert_eq!(store.change_under("7K3M9P2Q4R").await.unwrap().as_ref(), Some(&asked));
    assert_eq!(store.change_under("8K3M9P2Q4R").await.unwrap().as_ref(), Some(&asked));
    assert_eq!(store.change_under("nothing").await.unwrap(), None);
    let done = PlayerChange { stage: ChangeStage::Done, changed_at: at(9), version: 2, ..asked.clone() };
    put(&done).await.unwrap();
    // Another daemon decided on the same answer, or on a denial.
    let denied = PlayerChange { stage: ChangeStage::Denied, ..done.clone() };
    assert!(matches!(put(&denied).await, Err(StoreError::Stale(_))));
    assert_eq!(store.changes_of(ann.id, at(9)).await.unwrap(), [done]);
    assert_eq!(store.changes_of(ann.id, at(10)).await.unwrap(), []);
    assert_eq!(store.changes_of(ann.id + 1, at(0)).await.unwrap(), []);
}

/// Two daemons that each saw no challenge to an address cannot both store one from a newcomer.
pub async fn an_address_has_one_open_challenge_from_all_newcomers(place: Place) {
    let store = &place.store;
    let of_newcomer = |code: &str, inviter: &str| Invitation {
        inviter: inviter.to_owned(),
        inviter_name: inviter.to_owned(),
        ..invitation(code, InvitationStage::Open)
    };
    let put = async |row: Invitation| store.commit(&Changes { invitations: vec![row], ..changes() }).await;
    let (one, other) = tokio::join!(
        put(of_newcomer("AAAAA1", "eve@elsewhere.test")),
        put(of_newcomer("AAAAA2", "mallory@elsewhere.test"))
    );
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    let refused = one.and(other).unwrap_err();
    assert!(matches!(refused, StoreError::Stale(_)), "{refused:?}");
    // Registered players may challenge whom they like, and a lapsed challenge stands in nobody's way.
    put(invitation("AAAAA3", InvitationStage::Open)).await.unwrap();
    let late = Changes {
        at: at(200),
        invitations: vec![Invitation { lapses_at: at(300), ..of_newcomer("AAAAA4", "eve@elsewhere.test") }],
        ..changes()
    };
    store.commit(&late).await.unwrap();
}

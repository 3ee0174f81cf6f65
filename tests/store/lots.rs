//! The keys of coming matches.

use fogpost::ledger::SealKey;
use fogpost::store::{LotChange, NextLot, Settlement, StoreError};

use crate::place::Place;
use crate::samples::{at, settlement};

const ADDRESS: &str = "ann@player.test";

fn lot(number: u8) -> NextLot {
    NextLot { key: SealKey::new([number; 32]), told_at: at(number.into()) }
}

fn told(number: u8) -> LotChange {
    LotChange::Told { address: ADDRESS.to_owned(), lot: lot(number) }
}

fn drawn(number: u8) -> LotChange {
    LotChange::Drawn { address: ADDRESS.to_owned(), key: lot(number).key }
}

pub async fn a_lot_is_told_once_and_drawn_once(place: Place) {
    let store = &place.store;
    let commit = async |lots: Vec<LotChange>| store.commit(&Settlement { lots, ..settlement() }).await;
    assert_eq!(store.next_lot(ADDRESS).await.unwrap(), None);
    commit(vec![told(1)]).await.unwrap();
    for late in [told(2), drawn(2)] {
        let error = commit(vec![late]).await.unwrap_err();
        assert!(matches!(error, StoreError::Stale(what) if what == "a lot"));
    }
    assert_eq!(store.next_lot(ADDRESS).await.unwrap(), Some(lot(1)));
    assert!(place.execute("UPDATE lot SET told_at = 0").await.is_err(), "it was told");
    commit(vec![drawn(1), told(3)]).await.unwrap();
    assert!(commit(vec![drawn(1)]).await.is_err());
    assert_eq!(store.next_lot(ADDRESS).await.unwrap(), Some(lot(3)));
}

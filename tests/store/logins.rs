//! Logins at mail providers, which the store cannot open.

use std::time::Duration;

use fogpost::store::open;

use crate::place::Place;

const NAME: &str = "https://login.test/token club";
const MINUTE: Duration = Duration::from_secs(60);

pub async fn a_login_is_replaced_only_by_whoever_knows_its_version(place: Place) {
    let store = &place.store;
    assert_eq!(store.sealed_login(NAME).await.unwrap(), None);
    assert!(!store.replace_login(NAME, 1, b"nothing there").await.unwrap());
    store.store_login(NAME, &[0, 255]).await.unwrap();
    let first = store.sealed_login(NAME).await.unwrap().unwrap();
    assert_eq!(first.sealed, [0, 255]);
    assert!(store.replace_login(NAME, first.version, b"renewed").await.unwrap());
    assert!(!store.replace_login(NAME, first.version, b"too late").await.unwrap());
    let second = store.sealed_login(NAME).await.unwrap().unwrap();
    assert_eq!(second.sealed, b"renewed");
    assert!(second.now >= first.now && store.database_time().await.unwrap() >= second.now);
    store.store_login(NAME, b"a new login").await.unwrap();
    assert!(!store.replace_login(NAME, second.version, b"too late").await.unwrap());
    assert_eq!(store.sealed_login("another").await.unwrap(), None);
}

pub async fn the_lease_of_a_login_has_one_holder_until_it_is_released_or_lapses(place: Place) {
    let store = &place.store;
    assert!(!store.lease_login(NAME, "a", MINUTE).await.unwrap(), "there is no login");
    store.store_login(NAME, b"sealed").await.unwrap();
    assert!(store.lease_login(NAME, "a", MINUTE).await.unwrap());
    assert!(!store.lease_login(NAME, "b", MINUTE).await.unwrap());
    store.release_login(NAME, "b").await.unwrap();
    assert!(!store.lease_login(NAME, "b", MINUTE).await.unwrap(), "only its holder releases it");
    store.release_login(NAME, "a").await.unwrap();
    assert!(store.lease_login(NAME, "b", MINUTE).await.unwrap());
    place.execute("UPDATE login SET leased_until = 0").await.unwrap();
    assert!(store.lease_login(NAME, "c", MINUTE).await.unwrap(), "it lapsed");
    // As after the clock of the database was set back by an hour.
    place.execute("UPDATE login SET leased_until = leased_until + 3600000").await.unwrap();
    assert!(store.lease_login(NAME, "d", MINUTE).await.unwrap());
    // A new login leaves the lease alone.
    store.store_login(NAME, b"a new login").await.unwrap();
    assert!(!store.lease_login(NAME, "e", MINUTE).await.unwrap());
}

#[tokio::test]
async fn a_backup_holds_logins_only_if_they_are_asked_for() {
    let place = Place::sqlite().await;
    let secret = b"sealed-but-secret".repeat(500);
    place.store.store_login(NAME, &secret).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (with_logins, name) in [(false, "without.db"), (true, "with.db")] {
        let file = folder.path().join(name);
        place.store.backup(&file, with_logins).await.unwrap();
        let bytes = std::fs::read(&file).unwrap();
        let holds_it = bytes.windows(17).any(|part| part == b"sealed-but-secret");
        assert_eq!(holds_it, with_logins);
        let copy = open(&format!("sqlite:{}", file.display())).await.unwrap();
        assert_eq!(copy.sealed_login(NAME).await.unwrap().is_some(), with_logins);
        copy.close().await;
    }
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(place.store.sealed_login(NAME).await.unwrap().is_some());
}

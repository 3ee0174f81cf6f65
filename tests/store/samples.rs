//! Sample letters, matches, entries and dispatches for the tests of the store.

use std::sync::Arc;

use chrono::{DateTime, Duration, Utc};
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::letter::Digest;
use fogpost::referee::{DispatchKind, Stage};
use fogpost::store::{
    Changes, Claimable, Database, EntryRow, LetterDecision, LetterStatus, MatchRow, NewDispatch, NewLetter,
    Player, Postponed, SeatRow, Urgency, WaitingLetter,
};

use crate::overview::overview;

/// The instant this many seconds after a fixed start.
pub fn at(seconds: i64) -> DateTime<Utc> {
    "2026-05-14T18:00:00Z".parse::<DateTime<Utc>>().unwrap() + Duration::seconds(seconds)
}

/// A letter of a GM, which comes before strangers'.
pub fn letter(number: u32) -> NewLetter {
    let raw = format!("Message-ID: <{number}@player.test>\r\n\r\nSHIP 1 TO B{number}\r\n").into_bytes();
    NewLetter {
        digest: Digest::of(&raw),
        raw,
        received_at: at(i64::from(number)),
        origin: format!("imap:INBOX/1/{number}"),
        message_id: format!("{number}@player.test"),
        new_text: None,
        sender: format!("player{number}@player.test"),
        subject: format!("Orders {number}"),
        tokens: Vec::new(),
        is_from_gm: true,
    }
}

pub fn letters(numbers: std::ops::Range<u32>) -> Vec<NewLetter> {
    numbers.map(letter).collect()
}

pub fn decided(letter: &NewLetter, status: LetterStatus) -> LetterDecision {
    LetterDecision { digest: letter.digest, status, note: "noted".to_owned(), seat: None, accepted_by: None }
}

pub fn match_row(id: &str, version: i64) -> MatchRow {
    MatchRow {
        id: id.to_owned(),
        overview: overview(id, GameKind::QuadrantZ, Stage::Running),
        wake_at: None,
        snapshot: format!("{{\"version\":{version}}}"),
        version,
    }
}

pub fn entry(match_id: &str, seq: u64) -> EntryRow {
    let json = format!("{{\"match\":\"{match_id}\",\"seq\":{seq}}}");
    EntryRow {
        chain: match_id.to_owned(),
        seq,
        at: at(0),
        kind: "OrdersSealed".to_owned(),
        hash: Digest::of(json.as_bytes()),
        json,
        letters: Vec::new(),
    }
}

pub fn dispatch(number: u32) -> NewDispatch {
    NewDispatch {
        message_id: format!("d{number}@club.test"),
        recipient: format!("player{number}@player.test"),
        bytes: format!("Message-ID: <d{number}@club.test>\r\n\r\nFiled.\r\n").into_bytes(),
        kind: DispatchKind::Answer,
        match_id: None,
        seat: None,
        answers: None,
        reminds: None,
        return_id: None,
        due: None,
        replaces: None,
        urgency: Urgency::Receipt,
        pin: None,
    }
}

/// A dispatch whose text is worth compressing, with a picture.
pub fn dispatch_with_picture(number: u32) -> NewDispatch {
    // Not a PNG, but the store looks only at the base64.
    let picture = "iVBORw0KGgoAAAANSUhEUgAA".repeat(19);
    let text = "What happened: nothing.\r\n".repeat(40);
    let bytes = format!(
        "Message-ID: <d{number}@club.test>\r\n\r\n--=r=\r\n\r\n{text}\r\n--=r=\r\nContent-Type: image/png\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{}\r\n{}\r\n--=r=--\r\n",
        &picture[..76],
        &picture[..60],
    );
    NewDispatch { bytes: bytes.into_bytes(), ..dispatch(number) }
}

pub fn changes() -> Changes {
    Changes { at: at(0), ..Changes::default() }
}

/// Saves this player.
pub fn with_player(player: &Player) -> Changes {
    Changes { players: vec![player.clone()], ..changes() }
}

/// Stores matches with these ids, at version 1 and without entries.
pub async fn add_matches(store: &Arc<Database>, ids: &[&str]) {
    let matches = ids.iter().map(|id| match_row(id, 0)).collect();
    store.commit(&Changes { matches, ..changes() }).await.unwrap();
}

/// Puts dispatches with these numbers into the outbox.
pub async fn add_dispatches(store: &Arc<Database>, numbers: std::ops::Range<u32>) {
    let dispatches = numbers.map(dispatch).collect();
    store.commit(&Changes { dispatches, ..changes() }).await.unwrap();
}

/// Adds both players of a match and seats them, with the tokens `ID-first` and `ID-second`.
pub async fn add_seats(store: &Arc<Database>, match_id: &str) -> Vec<SeatRow> {
    let mut seats = Vec::new();
    for seat in Seat::BOTH {
        let player =
            store.find_or_add_player(&format!("{seat}@player.test"), seat.as_str(), at(0)).await.unwrap();
        let token = format!("{match_id}-{seat}");
        seats.push(SeatRow { match_id: match_id.to_owned(), seat, player_id: player.id, token });
    }
    store.commit(&Changes { seats: seats.clone(), ..changes() }).await.unwrap();
    seats
}

pub async fn waiting(store: &Arc<Database>) -> Vec<Digest> {
    let letters = waiting_letters(store, 1000).await;
    letters.iter().map(|letter| letter.digest).collect()
}

/// The letters that a claim gets at `now`. Leaves them unclaimed.
pub async fn waiting_letters(store: &Arc<Database>, now: i64) -> Vec<WaitingLetter> {
    let Claimable { letters, claim, .. } = store.claim(at(now), &[]).await.unwrap();
    store.commit_claimed(claim, &changes()).await.unwrap();
    letters
}

/// Postpones a letter until this second, or counts a failed attempt if `until` is `None`.
pub async fn postpone(store: &Arc<Database>, letter: &NewLetter, until: Option<i64>, note: &str) {
    let postponed = vec![Postponed {
        digest: letter.digest,
        note: note.to_owned(),
        until: until.map(at),
        match_id: None,
    }];
    store.commit(&Changes { postponed, ..changes() }).await.unwrap();
}

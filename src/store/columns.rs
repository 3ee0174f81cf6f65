//! Conversions between our values and columns: instants are Unix milliseconds, digests and names text, lists
//! JSON.

use chrono::{DateTime, Utc};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Database, Encode, FromRow};

use super::{
    BudgetKind, ChangeKind, ChangeStage, InvitationStage, LeftReason, LetterStatus, Result, StoreError,
    UnprovenStage, Urgency,
};
use crate::club::events::event::EventStage;
use crate::club::events::steps::Told;
use crate::club::member::Member;
use crate::game::Seat;
use crate::game::any::GameKind;
use crate::ledger::{PinnedKind, PlayerSettings};
use crate::letter::{Digest, ReturnId};
use crate::referee::{DispatchKind, Stage};

pub fn unsound(what: &str, found: impl std::fmt::Display) -> StoreError {
    StoreError::Unsound(format!("{found} is not a valid {what}"))
}

pub fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub fn count(number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| unsound("count", number))
}

pub fn time(milliseconds: i64) -> Result<DateTime<Utc>> {
    DateTime::from_timestamp_millis(milliseconds).ok_or_else(|| unsound("instant", milliseconds))
}

pub fn maybe_time(milliseconds: Option<i64>) -> Result<Option<DateTime<Utc>>> {
    milliseconds.map(time).transpose()
}

pub fn parse_digest(hex: &str) -> Result<Digest> {
    hex.parse().map_err(|_| unsound("digest", hex))
}

/// Reads each of these types from a column of another type.
macro_rules! read_columns {
    ($($name:ty: $column:ty, $read:expr;)+) => {$(
        impl<'r, DB: sqlx::Database> sqlx::Type<DB> for $name
        where
            $column: sqlx::Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                <$column as sqlx::Type<DB>>::type_info()
            }

            fn compatible(found: &DB::TypeInfo) -> bool {
                <$column as sqlx::Type<DB>>::compatible(found)
            }
        }

        impl<'r, DB: sqlx::Database> sqlx::Decode<'r, DB> for $name
        where
            $column: sqlx::Decode<'r, DB>,
        {
            fn decode(value: DB::ValueRef<'r>) -> Result<Self, sqlx::error::BoxDynError> {
                let read: fn($column) -> $crate::store::Result<$name> = $read;
                Ok(read(<$column as sqlx::Decode<DB>>::decode(value)?)?)
            }
        }
    )+};
}

pub(super) use read_columns;

/// Stores each of these types as text. The first function reads the text, the second writes it.
macro_rules! text_columns {
    ($($name:ty: $what:literal, $read:expr, $write:expr;)+) => {$(
        read_columns! {
            $name: &'r str, |text| {
                // A function pointer: the types of a closure could not be inferred here.
                let read: fn(&str) -> Option<$name> = $read;
                read(text).ok_or_else(|| unsound($what, text))
            };
        }

        impl<'q, DB: Database> Encode<'q, DB> for $name
        where
            String: Encode<'q, DB>,
        {
            fn encode_by_ref(&self, buffer: &mut DB::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
                let write: fn(&$name) -> String = $write;
                write(self).encode(buffer)
            }
        }
    )+};
}

text_columns! {
    Digest: "digest", |hex| hex.parse().ok(), Digest::to_string;
    Seat: "seat", Seat::parse, Seat::to_string;
    GameKind: "game", GameKind::parse, |game| game.key().to_owned();
    EventStage: "stage of an event", EventStage::parse, EventStage::to_string;
    Stage: "stage", Stage::parse, |stage| stage.as_str().to_owned();
    DispatchKind: "dispatch kind", DispatchKind::parse, DispatchKind::to_string;
    PinnedKind: "kind of a pin", PinnedKind::parse, |kind| kind.as_str().to_owned();
    ReturnId: "ID in a return path", ReturnId::parse, |id| id.as_str().to_owned();
    LetterStatus: "letter status", LetterStatus::parse, LetterStatus::to_string;
    InvitationStage: "stage", InvitationStage::parse, InvitationStage::to_string;
    LeftReason: "reason", LeftReason::parse, LeftReason::to_string;
    UnprovenStage: "stage", UnprovenStage::parse, UnprovenStage::to_string;
    ChangeKind: "kind of change", ChangeKind::parse, ChangeKind::to_string;
    ChangeStage: "stage of a change", ChangeStage::parse, ChangeStage::to_string;
    BudgetKind: "kind of budget", BudgetKind::parse, BudgetKind::to_string;
    PlayerSettings: "set of settings", |json| serde_json::from_str(json).ok(),
        |settings| serde_json::to_string(settings).expect("settings are plain values");
    Member: "member of a club", |json| serde_json::from_str(json).ok(),
        |member| serde_json::to_string(member).expect("a member is plain values");
    Told: "set of facts told", |json| serde_json::from_str(json).ok(),
        |told| serde_json::to_string(told).expect("it is plain values");
    Texts: "list of texts", |json| serde_json::from_str(json).ok().map(Texts),
        |texts| serde_json::to_string(&texts.0).expect("a list of strings is JSON");
}

read_columns! {
    Millis: i64, |number| time(number).map(Millis);
    MaybeMillis: Option<i64>, |number| maybe_time(number).map(MaybeMillis);
    Count: i64, |number| count(number).map(Count);
    SmallCount: i64, |number| u32::try_from(number).map(SmallCount).map_err(|_| unsound("count", number));
    OneAddress: Option<String>, |address| Ok(OneAddress(Vec::from_iter(address)));
    Urgency: i64, |number| Urgency::from_repr(number).ok_or_else(|| unsound("urgency", number));
}

/// Declares types of columns, each for a type that is not our own. Reading the column may fail, but the
/// conversion to that type must not: sqlx discards the error of a `try_from`.
macro_rules! read_as {
    ($($(#[$meta:meta])* $name:ident => $value:ty;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub struct $name(pub $value);

        impl From<$name> for $value {
            fn from($name(value): $name) -> $value {
                value
            }
        }
    )+};
}

pub(super) use read_as;

read_as! {
    /// Unix milliseconds.
    Millis => DateTime<Utc>;
    /// Unix milliseconds, or NULL.
    MaybeMillis => Option<DateTime<Utc>>;
    /// A number that is not negative.
    Count => u64;
    /// A number that is not negative.
    SmallCount => u32;
    /// A JSON array.
    Texts => Vec<String>;
    /// One of a player's addresses, or NULL.
    OneAddress => Vec<String>;
}

/// The columns for a match and a seat in it: both are set, or neither.
#[derive(FromRow)]
pub struct Place {
    match_id: Option<String>,
    seat: Option<Seat>,
}

impl From<Place> for Option<(String, Seat)> {
    fn from(place: Place) -> Self {
        place.match_id.zip(place.seat)
    }
}

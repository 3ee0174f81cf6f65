//! Conversions between our values and columns: instants are Unix milliseconds, digests and names text, lists
//! JSON.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use sqlx::{Decode, Encode, Postgres, Sqlite, Type};

use super::{
    BudgetKind, ChangeKind, ChangeStage, InvitationStage, LeftReason, LetterStatus, Result, StoreError,
    UnprovenStage, Urgency,
};
use crate::club::events::event::EventStage;
use crate::club::events::steps::Mailed;
use crate::club::member::Member;
use crate::game::Seat;
use crate::game::any::GameKind;
use crate::ledger::{PinnedKind, PlayerSettings};
use crate::letter::{Digest, ReturnId};
use crate::referee::{DispatchKind, Stage};

/// A type of columns and parameters that both databases have.
pub trait Primitive<'v>:
    Decode<'v, Sqlite>
    + Encode<'v, Sqlite>
    + Type<Sqlite>
    + Decode<'v, Postgres>
    + Encode<'v, Postgres>
    + Type<Postgres>
    + 'v
{
}

impl Primitive<'_> for bool {}
impl Primitive<'_> for i64 {}
impl<'v> Primitive<'v> for &'v str {}
impl Primitive<'_> for String {}
impl<'v> Primitive<'v> for Cow<'v, str> {}
impl<'v> Primitive<'v> for &'v [u8] {}
impl Primitive<'_> for Vec<u8> {}
/// `None` is NULL.
impl<'v, T: Primitive<'v>> Primitive<'v> for Option<T> {}

/// A value that is read from one column.
///
/// This trait and [`Value`] are our own, because types of other packages cannot implement those of sqlx.
pub trait FromColumn: Sized + Send {
    /// The column's type.
    type Stored<'r>: Primitive<'r>;

    /// # Errors
    /// [`StoreError::Unsound`] if the program never stores this.
    fn from_column(stored: Self::Stored<'_>) -> Result<Self>;
}

/// A value for a parameter of a statement.
pub trait Value<'v> {
    /// The parameter's type.
    type Stored: Primitive<'v>;

    fn into_stored(self) -> Self::Stored;
}

impl<T: FromColumn> FromColumn for Option<T> {
    type Stored<'r> = Option<T::Stored<'r>>;

    fn from_column(stored: Self::Stored<'_>) -> Result<Self> {
        stored.map(T::from_column).transpose()
    }
}

impl<'v, T: Value<'v>> Value<'v> for Option<T> {
    type Stored = Option<T::Stored>;

    fn into_stored(self) -> Self::Stored {
        self.map(T::into_stored)
    }
}

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

pub fn parse_digest(hex: &str) -> Result<Digest> {
    hex.parse().map_err(|_| unsound("digest", hex))
}

/// Reads each of these types from a column of another.
macro_rules! read_columns {
    ($($name:ty: $stored:ty, $read:expr;)+) => {$(
        impl FromColumn for $name {
            type Stored<'r> = $stored;

            fn from_column(stored: Self::Stored<'_>) -> Result<Self> {
                // A function pointer: the types of a closure could not be inferred here.
                let read: fn(Self::Stored<'_>) -> Result<Self> = $read;
                read(stored)
            }
        }
    )+};
}

/// Binds each of these types as another.
macro_rules! bind_values {
    ($($name:ty: $stored:ty;)+) => {$(
        impl<'v> Value<'v> for $name {
            type Stored = $stored;

            fn into_stored(self) -> $stored {
                self
            }
        }
    )+};
}

/// Stores each of these types as text. The first function reads the text, the second writes it.
macro_rules! text_columns {
    ($($name:ty: $what:literal, $read:expr, $write:expr;)+) => {$(
        read_columns! {
            $name: &'r str, |text| {
                let read: fn(&str) -> Option<$name> = $read;
                read(text).ok_or_else(|| unsound($what, text))
            };
        }

        impl Value<'_> for &$name {
            type Stored = String;

            fn into_stored(self) -> String {
                let write: fn(&$name) -> String = $write;
                write(self)
            }
        }

        impl Value<'_> for $name {
            type Stored = String;

            fn into_stored(self) -> String {
                (&self).into_stored()
            }
        }
    )+};
}

read_columns! {
    bool: bool, Ok;
    i64: i64, Ok;
    u64: i64, count;
    u32: i64, |number| u32::try_from(number).map_err(|_| unsound("count", number));
    DateTime<Utc>: i64, time;
    Urgency: i64, |number| Urgency::from_repr(number).ok_or_else(|| unsound("urgency", number));
    String: String, Ok;
    Vec<u8>: Vec<u8>, Ok;
}

bind_values! {
    bool: bool;
    i64: i64;
    &'v str: &'v str;
    &'v String: &'v str;
    String: String;
    Cow<'v, str>: Cow<'v, str>;
    &'v [u8]: &'v [u8];
    &'v Vec<u8>: &'v [u8];
    Vec<u8>: Vec<u8>;
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
    Mailed: "set of facts told", |json| serde_json::from_str(json).ok(),
        |told| serde_json::to_string(told).expect("it is plain values");
    Vec<String>: "list of texts", |json| serde_json::from_str(json).ok(),
        |texts| serde_json::to_string(texts).expect("a list of strings is JSON");
}

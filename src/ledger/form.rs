//! The form of a match's ledger.

use serde::{Deserialize, Serialize};

/// What the entries of a ledger hold besides their facts. The first entry names the form, and the match keeps it to its
/// end, so that old ledgers verify as they were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub enum LedgerForm {
    /// Pins our letters by all their bytes. Written by versions that named no form.
    #[default]
    Bytes,
    /// Pins our letters by their contents, and who holds each seat; names when letters arrived and when ours were
    /// delivered.
    Contents,
}

impl LedgerForm {
    /// The form of new ledgers.
    pub const CURRENT: LedgerForm = LedgerForm::Contents;

    /// Whether it pins what our letters say, however they are encoded.
    pub fn pins_contents(self) -> bool {
        match self {
            LedgerForm::Bytes => false,
            LedgerForm::Contents => true,
        }
    }

    /// Whether it is the form of ledgers that name none. The entry then omits the field.
    pub fn is_unnamed(&self) -> bool {
        *self == LedgerForm::Bytes
    }
}

impl From<LedgerForm> for u32 {
    fn from(form: LedgerForm) -> u32 {
        match form {
            LedgerForm::Bytes => 1,
            LedgerForm::Contents => 2,
        }
    }
}

impl TryFrom<u32> for LedgerForm {
    type Error = String;

    fn try_from(number: u32) -> Result<LedgerForm, String> {
        match number {
            1 => Ok(LedgerForm::Bytes),
            2 => Ok(LedgerForm::Contents),
            other => Err(format!("{other} is not a form of a ledger that this program knows")),
        }
    }
}

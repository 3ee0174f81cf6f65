//! Orders that a letter of doubt offers to file.

use serde::{Deserialize, Serialize};

use crate::game::BySeat;

/// The legal orders of a letter that was refused for its doubtful lines. `YES` files them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedOrders {
    /// The phase that they are for.
    pub phase_no: u32,
    pub orders: Vec<String>,
    pub wait: bool,
}

/// Whether neither seat was offered anything. Snapshots then omit the field.
pub(super) fn is_empty(offered: &BySeat<Option<OfferedOrders>>) -> bool {
    offered.first.is_none() && offered.second.is_none()
}

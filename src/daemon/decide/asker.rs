//! Who gives a command that needs no seat.

use crate::letter::Digest;
use crate::store::Player;

/// Who asks.
pub struct Asker {
    pub name: String,
    /// The one that letters go to first.
    pub addresses: Vec<String>,
    pub player_id: Option<i64>,
    pub letter: Digest,
    /// Whether the letter is proven to be from there, as far as proof is demanded.
    pub proven: bool,
}

impl Asker {
    pub fn player(player: &Player, letter: Digest) -> Asker {
        Asker {
            name: player.name.clone(),
            addresses: player.addresses.clone(),
            player_id: Some(player.id),
            letter,
            proven: true,
        }
    }

    pub fn address(&self) -> &str {
        self.addresses.first().map_or("", String::as_str)
    }

    pub fn is(&self, address: &str) -> bool {
        self.addresses.iter().any(|own| own == address)
    }
}

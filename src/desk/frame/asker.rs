//! The sender of a command that needs no seat.

use crate::letter::{Address, Digest, Letter};
use crate::store::Player;
use crate::zone::Zone;

/// What shows that a letter is from its sender, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// The address in the From field, without a signature that it must have.
    Unsigned,
    /// The address in the From field. Anybody can write it.
    Address,
    /// The answer to our question, which showed these commands, or the GM's own token.
    Answer,
    /// The reply token of a seat, in a letter about that seat's match.
    Token,
}

/// A player or a stranger, and the letter that contains the command.
#[derive(Clone, Debug)]
pub struct Asker {
    pub name: String,
    /// The first one gets our letters.
    pub addresses: Vec<String>,
    /// The address that the letter came from. With a token, the first of the player's.
    pub from: String,
    pub player_id: Option<i64>,
    pub letter: Digest,
    /// The address in the From field.
    pub sender: Address,
    pub evidence: Evidence,
    /// The time zone that the player has chosen.
    pub zone: Option<Zone>,
}

impl Asker {
    /// Returns the player of a seat as the asker of a letter with the seat's token.
    pub fn player(player: &Player, letter: &Letter) -> Asker {
        Asker {
            name: player.name.clone(),
            addresses: player.addresses.clone(),
            // Questions and counts belong to one address, whichever of them the player writes from.
            from: player.addresses.first().cloned().unwrap_or_default(),
            player_id: Some(player.id),
            letter: letter.digest,
            sender: letter.from.clone(),
            evidence: Evidence::Token,
            zone: player.settings.zone,
        }
    }

    /// Returns a player as the asker, for a letter that nobody asked for.
    pub fn of_player(player: &Player) -> Option<Asker> {
        let sender = Address::parse(player.addresses.first()?).ok()?;
        Some(Asker {
            name: player.name.clone(),
            addresses: player.addresses.clone(),
            from: sender.as_str().to_owned(),
            player_id: Some(player.id),
            letter: Digest::of(b""),
            sender,
            evidence: Evidence::Unsigned,
            zone: player.settings.zone,
        })
    }

    pub fn has_token(&self) -> bool {
        self.evidence == Evidence::Token
    }

    pub fn address(&self) -> &str {
        self.addresses.first().map_or("", String::as_str)
    }

    pub fn is(&self, address: &str) -> bool {
        self.addresses.iter().any(|own| own == address)
    }
}

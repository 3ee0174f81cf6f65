//! Loads what is stored of a match for lists, for the audit to compare.

use super::Office;
use super::incoming::listed_fields;
use super::withheld::read_letter;
use crate::audit::Finding;
use crate::audit::columns::{
    LetterColumns, OfferColumns, StoredColumns, UnprovenColumns, differences, ruled_letters,
};
use crate::ledger::Entry;
use crate::letter::Digest;
use crate::store::{InvitationStage, NamedLetter, UnprovenStage};

impl Office {
    /// Returns what lists show of a match that its ledger or its letters say otherwise.
    pub(super) async fn odd_columns(&self, id: &str) -> anyhow::Result<Vec<Finding>> {
        let rows = self.store.entries(id).await?;
        // Those that cannot be read are findings of the check of the chain.
        let entries: Vec<Entry> =
            rows.iter().filter_map(|row| serde_json::from_str(&row.json).ok()).collect();
        let ruled: Vec<Digest> = ruled_letters(&entries).into_keys().collect();
        let mut letters = Vec::new();
        let mut take = |row: NamedLetter| {
            let read = read_letter(&row.raw, &self.settings.own);
            let tokens = read.iter().flat_map(|letter| &letter.tokens).map(ToString::to_string).collect();
            let (written, listed) = (listed_fields(&row.raw), (row.sender, row.subject));
            letters.push(LetterColumns { digest: row.digest, listed, written, place: row.place, tokens });
        };
        self.store.letters_named(&ruled, &mut take).await?;
        let offers = self.store.invitations_to(id).await?.into_iter().map(|offer| OfferColumns {
            is_taken: offer.stage == InvitationStage::Taken,
            inviter: offer.inviter,
            game: offer.game,
        });
        let unproven = self.store.unproven_named(&ruled).await?.into_iter().map(|row| UnprovenColumns {
            letter: row.letter,
            confirmed_by: row.confirmed_by,
            is_confirmed: row.stage == UnprovenStage::Confirmed,
            place: (row.match_id, row.seat),
        });
        let columns = StoredColumns {
            unread: self.store.unread_columns(id).await?,
            pins: self.store.seat_pins(id).await?,
            letters,
            offers: offers.collect(),
            unproven: unproven.collect(),
        };
        Ok(differences(id, &entries, &columns))
    }
}

//! The ledger of a finished match as the site publishes it, so that a page can compute the chain of its hashes.

use std::borrow::Cow;

use crate::ledger::{Cause, Entry, EntryCause, Fact};
use crate::letter::Digest;

/// Returns a script that defines the chain: for each entry its text if it is public, else its hash. `entries` holds both
/// beside each entry.
pub fn chain<'a>(entries: impl IntoIterator<Item = (&'a Entry, &'a str, Digest)>) -> String {
    let items = entries.into_iter().map(|(entry, text, hash)| match is_public(entry) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(hash.to_string()),
    });
    let items: Vec<Cow<'_, str>> = items.collect();
    let json = serde_json::to_string_pretty(&items).expect("a list of texts");
    format!("window.ledgerChain = {json};\n")
}

/// Whether an entry holds nothing but the course of play: no name, no address, no words, and nothing about another match.
fn is_public(entry: &Entry) -> bool {
    let is_of_play = matches!(
        entry.fact,
        Fact::OrdersSealed { .. }
            | Fact::OrdersFirm { .. }
            | Fact::OrdersDeferred { .. }
            | Fact::OrdersWithdrawn { .. }
            | Fact::ConditionsSealed { .. }
            | Fact::ConditionsWithdrawn { .. }
            | Fact::ConditionsFollowed { .. }
            | Fact::DeadlineSet { .. }
            | Fact::TurnAdjudicated { .. }
            | Fact::MatchEnded { .. }
    );
    let is_caused_by_play = match &entry.cause {
        EntryCause::Of(_) => true,
        EntryCause::Cause(cause) => match cause {
            Cause::Letter(letter) => {
                letter.accepted_by.is_none()
                    && letter.confirmed_by.is_none()
                    && letter.withheld_for.is_empty()
                    && letter.hint.is_none()
            }
            Cause::Clock { .. } | Cause::House { .. } => true,
            Cause::Gm { .. } | Cause::Program { .. } => false,
        },
    };
    is_of_play && is_caused_by_play
}

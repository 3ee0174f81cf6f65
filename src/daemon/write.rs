//! From a ruling to rows: its entries, its letters worded and put on the outbox.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::Office;
use crate::game::{BySeat, Seat};
use crate::ledger::{self, ChainedEntry, Entry, Fact};
use crate::letter::Digest;
use crate::referee::{self, Act, Cause, Content, Match, Reader, Ruling};
use crate::report::envelope::{self, AnsweredLetter, Envelope};
use crate::report::{self, PictureCache, WordingInput};
use crate::store::{EntryRow, MatchRow, NewDispatch, TokenRow};

impl Office {
    /// Rules on a cause; before it, where it decides anything, that the referee's address or wording has changed
    /// since the match was last written about.
    pub(super) fn rule(&self, game_match: &Match, cause: &Cause<'_>, at: DateTime<Utc>) -> Ruling {
        if game_match.desk == self.desk {
            return referee::rule(game_match, cause, at);
        }
        let act = Act::Desk(self.desk.clone());
        let moved = referee::rule(game_match, &Cause::House { phase_no: game_match.phase_no, act: &act }, at);
        let mut ruling = referee::rule(&moved.after, cause, at);
        if ruling.after == moved.after {
            return Ruling { after: game_match.clone(), ..ruling };
        }
        ruling.entries.splice(0..0, moved.entries);
        ruling
    }

    /// The rows of a ruling: what is to be committed with it; what is told is noted for the ledger. `former` held a
    /// seat until now, `unsaved` are entries that wait for the same commit.
    pub(super) async fn rows(
        &self,
        ruling: &mut Ruling,
        seats: &BySeat<TokenRow>,
        former: Option<&TokenRow>,
        answered: Option<&AnsweredLetter>,
        unsaved: &[EntryRow],
        at: DateTime<Utc>,
    ) -> anyhow::Result<(Vec<EntryRow>, Vec<NewDispatch>)> {
        let to_gm = ruling.dispatches.iter().any(|dispatch| dispatch.to == Reader::Gm);
        let gm_token = if to_gm { self.gm_token().await? } else { String::new() };
        let entries: Vec<EntryRow> = ruling.entries.iter().map(entry_row).collect();
        let record = self.record_of_ended(ruling, unsaved).await?;
        let mut dispatches = Vec::with_capacity(ruling.dispatches.len());
        let pictures = PictureCache::default();
        let game_match = &Arc::new(ruling.after.clone());
        for (index, dispatch) in ruling.dispatches.iter().enumerate() {
            let (token, name, address) = match dispatch.to {
                Reader::Seat(seat) => {
                    let TokenRow { token, player, .. } = &seats[seat];
                    (
                        token.as_str(),
                        player.name.as_str(),
                        player.addresses.first().map_or("", String::as_str),
                    )
                }
                Reader::Former(_) => {
                    let player = former.map(|row| &row.player);
                    let address = player.and_then(|player| player.addresses.first());
                    ("", player.map_or("", |p| p.name.as_str()), address.map_or("", String::as_str))
                }
                Reader::Gm => {
                    let gm = &self.config.club.gm;
                    (gm_token.as_str(), gm.name.as_str(), gm.address.as_str())
                }
            };
            let input = WordingInput { club: &self.stationery.club(), game_match, dispatch, token, at };
            let mut page = report::word(&self.templates, &input, &pictures)?;
            if let (Content::Report { .. }, Some(record)) = (&dispatch.content, &record) {
                page.attachments.push((format!("{}.toml", game_match.id), record.clone()));
            }
            let answered = answered.filter(|_| matches!(dispatch.content, Content::Answer(_)));
            let unique = envelope::unique_part(game_match, index);
            let message_id = self.stationery.message_id(token, &unique);
            let envelope = Envelope {
                token,
                to_name: name,
                to: address,
                message_id: &message_id,
                match_id: Some(&game_match.id),
                date: at,
            };
            let bytes = self.stationery.mail(page, &envelope, answered)?;
            dispatches.push(NewDispatch {
                message_id,
                recipient: address.to_owned(),
                bytes,
                kind: envelope::kind(&dispatch.content),
                match_id: Some(game_match.id.clone()),
                seat: match dispatch.to {
                    Reader::Seat(seat) => Some(seat),
                    Reader::Former(_) | Reader::Gm => None,
                },
                answers: answered.map(|letter| letter.digest),
                asked: None,
            });
        }
        ruling.after.told.extend(dispatches.iter().map(|dispatch| Digest::of(&dispatch.bytes)));
        Ok((entries, dispatches))
    }

    /// The record of a match that has ended with this ruling.
    async fn record_of_ended(&self, ruling: &Ruling, unsaved: &[EntryRow]) -> anyhow::Result<Option<String>> {
        if !ruling.entries.iter().any(|chained| matches!(chained.entry.fact, Fact::MatchEnded { .. })) {
            return Ok(None);
        }
        let match_id = &ruling.after.id;
        let saved = self.store.entries(match_id).await?;
        let before = saved.iter().chain(unsaved.iter().filter(|row| row.match_id == *match_id));
        let mut entries =
            before.map(|row| serde_json::from_str(&row.json)).collect::<Result<Vec<Entry>, _>>()?;
        entries.extend(ruling.entries.iter().map(|chained| chained.entry.clone()));
        Ok(ledger::record(&entries).map(|record| record.to_string()))
    }
}

/// The row of a ledger entry.
pub(super) fn entry_row(chained: &ChainedEntry) -> EntryRow {
    let ChainedEntry { entry, json, hash } = chained;
    EntryRow {
        match_id: entry.match_id.clone(),
        seq: entry.seq,
        at: entry.at,
        kind: entry.fact.kind().to_owned(),
        json: json.clone(),
        hash: *hash,
    }
}

/// The row of a match that was loaded at `version`.
pub(super) fn match_row(game_match: &Match, version: i64) -> anyhow::Result<MatchRow> {
    Ok(MatchRow {
        id: game_match.id.clone(),
        game: game_match.game,
        stage: game_match.stage,
        wake_at: game_match.wake_at(),
        snapshot: serde_json::to_string(game_match)?,
        version,
    })
}

/// Both seats of a match from their rows.
pub(super) fn both_seats(rows: Vec<TokenRow>, match_id: &str) -> anyhow::Result<BySeat<TokenRow>> {
    let of = |seat: Seat| rows.iter().find(|row| row.seat == seat && row.match_id == match_id).cloned();
    let (first, second) = (of(Seat::First), of(Seat::Second));
    match (first, second) {
        (Some(first), Some(second)) => Ok(BySeat::new(first, second)),
        _ => anyhow::bail!("match {match_id} lacks a seat"),
    }
}

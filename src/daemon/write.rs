//! From a ruling to rows: its entries, its letters worded and put on the outbox.

use chrono::{DateTime, Utc};

use super::Office;
use crate::game::{BySeat, Seat};
use crate::ledger::{self, Entry, Fact};
use crate::letter::{Digest, Letter};
use crate::referee::{Content, Match, Reader, Ruling};
use crate::report::mime::{self, Header};
use crate::report::{self, Page};
use crate::store::{EntryRow, MatchRow, NewDispatch, TokenRow};

/// The letter that a dispatch answers, as far as its answer's header needs it.
pub(super) struct Answered<'a> {
    pub digest: Digest,
    pub message_id: Option<&'a str>,
    pub references: Vec<String>,
    pub subject: &'a str,
}

impl<'a> Answered<'a> {
    pub fn new(letter: &'a Letter) -> Self {
        Answered {
            digest: letter.digest,
            message_id: letter.message_id.as_deref(),
            references: letter.references.clone(),
            subject: &letter.subject,
        }
    }
}

impl Office {
    /// The rows of a ruling: what is to be committed with it. `former` held a seat until now, `unsaved` are entries that wait for the same commit.
    pub(super) async fn rows(
        &self,
        ruling: &Ruling,
        seats: &BySeat<TokenRow>,
        former: Option<&TokenRow>,
        answered: Option<&Answered<'_>>,
        unsaved: &[EntryRow],
        at: DateTime<Utc>,
    ) -> anyhow::Result<(Vec<EntryRow>, Vec<NewDispatch>)> {
        let gm_token = self.gm_token().await?;
        let entries: Vec<EntryRow> = ruling.entries.iter().map(entry_row).collect();
        let record = self.record_of_ended(ruling, unsaved).await?;
        let mut dispatches = Vec::with_capacity(ruling.dispatches.len());
        for (index, dispatch) in ruling.dispatches.iter().enumerate() {
            let m = &ruling.after;
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
            let mut page = report::word(&self.templates, &self.club(), m, dispatch, token, at)?;
            if let (Content::Report { .. }, Some(record)) = (&dispatch.content, &record) {
                page.attachments.push((format!("{}.toml", m.id), record.clone()));
            }
            let answered = answered.filter(|_| matches!(dispatch.content, Content::Answer(_)));
            let unique = format!("{}.{}.{index}", m.id.to_lowercase(), m.head.seq);
            let thread = (!token.is_empty()).then(|| self.message_id(token, &m.id.to_lowercase()));
            let message_id = self.message_id(token, &unique);
            let bytes = self.mail(page, token, (name, address), &message_id, thread, answered, at)?;
            dispatches.push(NewDispatch {
                message_id,
                recipient: address.to_owned(),
                bytes,
                kind: kind(&dispatch.content).to_owned(),
                match_id: Some(m.id.clone()),
                seat: match dispatch.to {
                    Reader::Seat(seat) => Some(seat),
                    Reader::Former(_) | Reader::Gm => None,
                },
                answers: answered.map(|letter| letter.digest),
            });
        }
        Ok((entries, dispatches))
    }

    /// The record of a match that has ended with this ruling.
    async fn record_of_ended(&self, ruling: &Ruling, unsaved: &[EntryRow]) -> anyhow::Result<Option<String>> {
        if !ruling.entries.iter().any(|entry| matches!(entry.fact, Fact::MatchEnded { .. })) {
            return Ok(None);
        }
        let match_id = &ruling.after.id;
        let saved = self.store.entries(match_id).await?;
        let before = saved.iter().chain(unsaved.iter().filter(|row| row.match_id == *match_id));
        let mut entries =
            before.map(|row| serde_json::from_str(&row.json)).collect::<Result<Vec<Entry>, _>>()?;
        entries.extend(ruling.entries.iter().cloned());
        Ok(ledger::record(&entries).map(|record| record.to_string()))
    }

    /// `TOKEN.N@domain` for a letter to a seat, `N@domain` for others.
    pub(super) fn message_id(&self, token: &str, unique: &str) -> String {
        let domain = self.config.club.address.domain();
        if token.is_empty() { format!("{unique}@{domain}") } else { format!("{token}.{unique}@{domain}") }
    }

    /// The bytes of a mail of ours.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn mail(
        &self,
        mut page: Page,
        token: &str,
        (to_name, to): (&str, &str),
        message_id: &str,
        thread: Option<String>,
        answered: Option<&Answered<'_>>,
        date: DateTime<Utc>,
    ) -> anyhow::Result<Vec<u8>> {
        let club = &self.config.club;
        let mut references: Vec<String> = thread.into_iter().collect();
        if let Some(letter) = answered {
            page.subject = answering(letter.subject, &page.subject);
            let known = references.clone();
            references.extend(letter.references.iter().filter(|id| !known.contains(id)).cloned());
            references.extend(letter.message_id.map(str::to_owned));
        }
        let reply_to = if club.plus_addresses && !token.is_empty() {
            format!("{}+{token}@{}", club.address.local(), club.address.domain())
        } else {
            club.address.as_str().to_owned()
        };
        let header = Header {
            from_name: &club.name,
            from: club.address.as_str(),
            reply_to: &reply_to,
            to_name,
            to,
            message_id,
            in_reply_to: answered.and_then(|letter| letter.message_id),
            references: &references,
            date,
        };
        Ok(mime::mail(&page, &header)?)
    }
}

/// The subject is kept, so that mail programs show the letters as one thread.
fn answering(theirs: &str, ours: &str) -> String {
    let name = ours.split(']').next().unwrap_or_default();
    let kept = theirs.trim();
    if ours.starts_with('[') && !kept.contains(name) || kept.is_empty() {
        return ours.to_owned();
    }
    let bare = kept.trim_start_matches(|c: char| c.is_whitespace());
    if bare.to_ascii_lowercase().starts_with("re:") { bare.to_owned() } else { format!("Re: {bare}") }
}

/// The row of a ledger entry.
pub(super) fn entry_row(entry: &Entry) -> EntryRow {
    let json = entry.canonical();
    EntryRow {
        match_id: entry.match_id.clone(),
        seq: entry.seq,
        at: entry.at,
        kind: entry.fact.kind(),
        hash: Digest::of(json.as_bytes()),
        json,
    }
}

/// The row of a match that was loaded at `version`.
pub(super) fn match_row(m: &Match, version: i64) -> anyhow::Result<MatchRow> {
    Ok(MatchRow {
        id: m.id.clone(),
        game: m.game.key().to_owned(),
        stage: m.stage.as_str().to_owned(),
        wake_at: m.wake_at(),
        snapshot: serde_json::to_string(m)?,
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

fn kind(content: &Content) -> &'static str {
    match content {
        Content::Invitation | Content::Succession => "invitation",
        Content::Answer(_) => "answer",
        Content::Report { .. } => "report",
        Content::Reminder => "reminder",
        Content::Missed { .. } => "missed",
        Content::Notice(_) => "notice",
    }
}

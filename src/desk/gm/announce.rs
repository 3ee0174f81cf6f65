//! Announcements: one letter of a GM to many players.

use chrono::TimeDelta;

use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::outbox::gms;
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::letter::Digest;
use crate::referee::{DispatchKind, Readership, cut};
use crate::report::{ClubLetter, GmResult, wrap_lines};
use crate::store::{Player, Urgency};

/// Maximum announcements sent per hour, so that they do not hold up reports.
const PER_HOUR: usize = 200;

/// Writes to all these readers except those who do not want announcements, and returns their number as the
/// result.
pub fn announce(desk: &mut Desk<'_>, readers: Readership, text: &str, check: bool) -> Decided<GmResult> {
    let players: Vec<Player> = desk.rows.readers_of(readers)?.to_vec();
    let lines = wrap_lines(&cut(text));
    let game_name = match readers {
        Readership::All => None,
        Readership::Game(game) => Some(game.name()),
    };
    let done = GmResult::Announced { readers: players.len(), lines: lines.clone(), check };
    if check {
        return Ok(done);
    }
    let letter = ClubLetter::Announcement { gm: gms::acting_gm(desk).name.clone(), game_name, lines };
    // Word the letter once, because nothing in it depends on the reader.
    let worded = mail::word_club_letter(desk, &letter, "")?;
    let text = Digest::of(text.as_bytes()).to_string();
    for (index, player) in players.iter().enumerate() {
        let Some(address) = player.addresses.first() else { continue };
        // The text is part of the Message-ID, because one letter from a GM may announce several things.
        let unique = format!("t.{}.{}.{}", player.id, desk.at().timestamp_millis(), &text[..8]);
        let to = PlainEnvelope { name: &player.name, address, unique: &unique, kind: DispatchKind::Notice };
        let page = mail::as_player_wants(worded.clone(), player);
        let mut dispatch = mail::assemble(desk, page, "", &to, None)?;
        let same = desk.added(|added| &added.dispatches).find(|new| new.message_id == dispatch.message_id);
        if same.is_some() {
            return Ok(GmResult::refused("The same text is announced above."));
        }
        let hours = i64::try_from(index / PER_HOUR).unwrap_or_default();
        dispatch.urgency = Urgency::Announcement;
        dispatch.due = (hours > 0).then(|| desk.at() + TimeDelta::hours(hours));
        desk.draft.changes.dispatches.push(dispatch);
    }
    Ok(done)
}

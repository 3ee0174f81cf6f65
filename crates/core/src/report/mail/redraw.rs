//! Draws a dropped picture again, from its reader's view.

use crate::game::Seat;
use crate::game::any::{GameKind, OwnPart};
use crate::game::record::Replayed;
use crate::ledger::{self, Entry, PlaceInMatch};
use crate::letter::Digest;
use crate::letter::pictures::{dropped_from, put_in, take_out};
use crate::referee::Match;
use crate::render::png;

/// Returns a letter to a seat with the picture that was dropped from it, drawn again from the ledger to the
/// end of the ruling that sent it. `None` if no picture was dropped, or if this version of the program draws
/// it differently.
pub fn redraw(
    letter: &[u8],
    message_id: &str,
    seat: Seat,
    game_match: &Match,
    entries: &[Entry],
) -> Option<Vec<u8>> {
    let digest = dropped_from(letter)?;
    let place = PlaceInMatch::read(message_id, &game_match.id, game_match.first_key())?;
    let end = entries.partition_point(|entry| entry.seq <= place.seq);
    put_in(&take_out(letter)?.0, &picture(&entries[..end], seat, digest)?)
}

/// Draws the seat's board, or a figure of the rules. The board of a report marks the seat's actions in the
/// adjudication, that of another letter does not; the digest shows which board it was.
fn picture(entries: &[Entry], seat: Seat, digest: Digest) -> Option<Vec<u8>> {
    let record = ledger::record(entries)?;
    let mut boards = Vec::new();
    record.replay(|step| {
        if let Replayed::Adjudicated(done) = step {
            let own = OwnPart { before: done.before, filed: done.filings[seat].as_ref() };
            let board = |own| done.state.shown_board(seat, Some(done.memories), own);
            boards = vec![board(Some(own)), board(None)];
        }
    });
    if boards.is_empty() {
        let start = record.game.start_with(&record.options).ok()?;
        boards.push(start.shown_board(seat, None, None));
    }
    let figures = GameKind::ALL.iter().filter_map(|kind| kind.figure());
    let drawn = boards.into_iter().map(|board| board.picture).chain(figures);
    drawn.filter_map(|picture| png(&picture)).find(|png| Digest::of(png) == digest)
}
